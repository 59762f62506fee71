/*
 * pg/push_hull.c: between which whole numbers a field must lie; see pushdown.h.
 */
#include "pg/pushdown.h"

static int64
whole_number(const BfValue *v)
{
	return bf_type_storage(v->type) == BF_STORE_I32 ? v->v.i32 : v->v.i64;
}

bool
bifang_pred_hull(const BfPred *p, int32 field, int64 *low, int64 *high)
{
	int64 first = PG_INT64_MAX;
	int64 last = PG_INT64_MIN;
	bool any = p->kind == BF_PRED_AND;

	*low = PG_INT64_MIN;
	*high = PG_INT64_MAX;
	if (p->kind == BF_PRED_FALSE)
		return false;
	for (int32 i = 0; i < p->n_children; i++)
	{
		int64 l;
		int64 h;
		bool some = bifang_pred_hull(p->children[i], field, &l, &h);

		if (p->kind == BF_PRED_AND)
		{
			if (!some)
				return false;
			*low = Max(*low, l);
			*high = Min(*high, h);
		}
		else if (some)
		{
			any = true;
			first = Min(first, l);
			last = Max(last, h);
		}
	}
	if (p->kind == BF_PRED_OR)
	{
		*low = first;
		*high = last;
		return any;
	}
	if (p->field != field)
		return *low <= *high;
	switch (p->kind)
	{
		case BF_PRED_EQ: *low = *high = whole_number(&p->values[0]); break;
		case BF_PRED_IN:
			*low = whole_number(&p->values[0]);
			*high = whole_number(&p->values[p->n_values - 1]);
			break;
		case BF_PRED_LT:
		case BF_PRED_LE: *high = whole_number(&p->values[0]); break;
		case BF_PRED_GT:
		case BF_PRED_GE: *low = whole_number(&p->values[0]); break;
		default: break;
	}
	return true;
}
