/*
 * scan/pred.c: what a predicate says of one field that holds whole numbers; see pred.h.
 */
#include "scan/pred.h"

typedef struct Ranges
{
	BfArena *a;
	int32_t field;
	BfStatsOf stats_of;
	void *arg;
} Ranges;

static inline int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t
most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
whole_number(const BfValue *v)
{
	BfStorage storage = bf_type_storage(v->type);

	BF_ASSERT(storage == BF_STORE_I32 || storage == BF_STORE_I64);
	return storage == BF_STORE_I32 ? v->v.i32 : v->v.i64;
}

/* ---- ranges ---- */

/* Room for it is the caller's to have made. */
static void
add(BfRangeSet *set, int64_t first, int64_t last)
{
	first = most(first, 0);
	last = least(last, BF_ENTRY_MAX);
	if (first <= last)
		set->ranges[set->n++] = (BfRange){first, last};
}

/* What lies before, between and behind ascending values. */
static void
add_holes(BfRangeSet *set, const BfPred *p)
{
	int64_t first = 0;

	for (int32_t i = 0; i < p->n_values; i++)
	{
		int64_t v = whole_number(&p->values[i]);

		BF_ASSERT(i == 0 || v > whole_number(&p->values[i - 1]));
		if (v > INT64_MIN)
			add(set, first, v - 1);
		if (v == INT64_MAX)
			return;
		first = most(first, v + 1);
	}
	add(set, first, BF_ENTRY_MAX);
}

static BfStatus
leaf_ranges(const Ranges *r, const BfPred *p, BfRangeSet *set, BfError *err)
{
	int64_t v = p->n_values > 0 ? whole_number(&p->values[0]) : 0;

	set->n = 0;
	BF_NEW_RAW(r->a, set->ranges, (int64_t) p->n_values + 1, err);
	switch (p->kind)
	{
		case BF_PRED_EQ: add(set, v, v); break;
		case BF_PRED_IN:
			for (int32_t i = 0; i < p->n_values; i++)
				add(set, whole_number(&p->values[i]), whole_number(&p->values[i]));
			break;
		case BF_PRED_NE:
		case BF_PRED_NOT_IN: add_holes(set, p); break;
		case BF_PRED_LT: add(set, 0, v == INT64_MIN ? -1 : v - 1); break;
		case BF_PRED_LE: add(set, 0, v); break;
		case BF_PRED_GT: add(set, v == INT64_MAX ? v : v + 1, BF_ENTRY_MAX); break;
		case BF_PRED_GE: add(set, v, BF_ENTRY_MAX); break;
		case BF_PRED_IS_NULL: break;
		default: add(set, 0, BF_ENTRY_MAX); break;
	}
	BF_ASSERT(set->n <= p->n_values + 1);
	return BF_OK;
}

static BfStatus
ranges_of(const Ranges *r, const BfPred *p, int depth, BfRangeSet *set, BfError *err);

/* Of all children at once, since each union would copy what was there before. */
static BfStatus
united(const Ranges *r, const BfPred *p, int depth, BfRangeSet *all, BfError *err)
{
	BfRangeSet *sets;
	int64_t n = 0;

	BF_NEW_RAW(r->a, sets, p->n_children, err);
	for (int32_t i = 0; i < p->n_children; i++)
	{
		BF_TRY(ranges_of(r, p->children[i], depth + 1, &sets[i], err));
		n += sets[i].n;
	}
	if (n > INT32_MAX)
		return bf_error(err, BF_ERR_LIMIT, "a predicate has %lld ranges", (long long) n);
	all->n = 0;
	BF_NEW_RAW(r->a, all->ranges, n, err);
	for (int32_t i = 0; i < p->n_children; i++)
	{
		if (sets[i].n > 0)
			memcpy(all->ranges + all->n, sets[i].ranges, (size_t) sets[i].n * sizeof(BfRange));
		all->n += sets[i].n;
	}
	BF_ASSERT(all->n == n);
	return BF_OK;
}

/* Sorted and merged. More than a set may have are one range, from the first to the last. */
static BfStatus
made(const Ranges *r, BfRangeSet *set, BfError *err)
{
	BfRange hull = {BF_ENTRY_MAX, 0};

	if (set->n > BF_RANGESET_RANGES_MAX)
	{
		for (int32_t i = 0; i < set->n; i++)
			hull = (BfRange){least(hull.first, set->ranges[i].first),
							 most(hull.last, set->ranges[i].last)};
		set->n = 1;
		set->ranges[0] = hull;
	}
	return bf_rangeset_make(r->a, set->ranges, set->n, set, err);
}

static BfStatus
ranges_of(const Ranges *r, const BfPred *p, int depth, BfRangeSet *set, BfError *err)
{
	BF_TRY(bf_check_cancel(bf_arena_host(r->a), err));
	set->n = 0;
	BF_NEW_RAW(r->a, set->ranges, 1, err);
	add(set, 0, BF_ENTRY_MAX);
	if (depth > BF_PRED_DEPTH_MAX)
		return BF_OK;
	switch (p->kind)
	{
		case BF_PRED_FALSE: set->n = 0; return BF_OK;
		case BF_PRED_TRUE:
		case BF_PRED_UNKNOWN: return BF_OK;
		case BF_PRED_OR: BF_TRY(united(r, p, depth, set, err)); return made(r, set, err);
		case BF_PRED_AND:
			for (int32_t i = 0; i < p->n_children; i++)
			{
				BfRangeSet child;

				BF_TRY(ranges_of(r, p->children[i], depth + 1, &child, err));
				BF_TRY(bf_rangeset_intersect(r->a, set, &child, set, err));
			}
			return BF_OK;
		default: break;
	}
	if (p->field == r->field)
	{
		BF_TRY(leaf_ranges(r, p, set, err));
		return made(r, set, err);
	}
	if (r->stats_of != NULL && !bf_pred_may_match(p, r->stats_of, r->arg))
		set->n = 0;
	return BF_OK;
}

BfStatus
bf_scan_pred_ranges(BfArena *a, const BfPred *p, int32_t field, BfStatsOf stats_of, void *arg,
					BfRangeSet *out, BfError *err)
{
	Ranges r = {a, field, stats_of, arg};

	BF_ASSERT(p != NULL && field >= 0);
	return ranges_of(&r, p, 0, out, err);
}

/* ---- hull ---- */

static bool
hull_of_leaf(const BfPred *p, int64_t *low, int64_t *high)
{
	switch (p->kind)
	{
		case BF_PRED_EQ: *low = *high = whole_number(&p->values[0]); break;
		case BF_PRED_IN:
			if (p->n_values < 1)
				return false;
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

static bool
hull_of(const Ranges *r, const BfPred *p, int depth, int64_t *low, int64_t *high)
{
	int64_t first = INT64_MAX;
	int64_t last = INT64_MIN;
	bool any = false;

	*low = INT64_MIN;
	*high = INT64_MAX;
	if (p->kind == BF_PRED_FALSE)
		return false;
	if (depth > BF_PRED_DEPTH_MAX)
		return true;
	if (p->kind != BF_PRED_AND && p->kind != BF_PRED_OR)
	{
		if (p->field == r->field)
			return hull_of_leaf(p, low, high);
		return p->kind < BF_PRED_EQ || r->stats_of == NULL ||
			   bf_pred_may_match(p, r->stats_of, r->arg);
	}
	for (int32_t i = 0; i < p->n_children; i++)
	{
		int64_t l;
		int64_t h;
		bool some = hull_of(r, p->children[i], depth + 1, &l, &h);

		if (p->kind == BF_PRED_AND && !some)
			return false;
		if (p->kind == BF_PRED_AND)
		{
			*low = most(*low, l);
			*high = least(*high, h);
		}
		else if (some)
		{
			any = true;
			first = least(first, l);
			last = most(last, h);
		}
	}
	if (p->kind == BF_PRED_AND)
		return *low <= *high;
	*low = first;
	*high = last;
	return any;
}

bool
bf_scan_pred_hull(const BfPred *p, int32_t field, BfStatsOf stats_of, void *arg, int64_t *low,
				  int64_t *high)
{
	Ranges r = {NULL, field, stats_of, arg};

	BF_ASSERT(p != NULL && field >= 0);
	return hull_of(&r, p, 0, low, high);
}

/* ---- without facts ---- */

static BfStatus
below(BfArena *a, const BfPred *p, int32_t n_fields, int depth, const BfPred **out, BfError *err)
{
	BfPred *copy;
	bool same = true;

	*out = p;
	if (p->n_children == 0 && p->field < n_fields)
		return BF_OK;
	BF_NEW(a, copy, 1, err);
	if (p->field >= n_fields || depth > BF_PRED_DEPTH_MAX)
	{
		*copy = (BfPred){.kind = BF_PRED_UNKNOWN, .field = -1};
		*out = copy;
		return BF_OK;
	}
	*copy = *p;
	BF_NEW_RAW(a, copy->children, p->n_children, err);
	for (int32_t i = 0; i < p->n_children; i++)
	{
		const BfPred *child;

		BF_TRY(below(a, p->children[i], n_fields, depth + 1, &child, err));
		same = same && child == p->children[i];
		/* A tree is read only once it is made; its pointers are not const for those who make it. */
		memcpy(&copy->children[i], &child, sizeof child);
	}
	if (!same)
		*out = copy;
	return BF_OK;
}

BfStatus
bf_scan_pred_below(BfArena *a, const BfPred *p, int32_t n_fields, const BfPred **out, BfError *err)
{
	BF_ASSERT(n_fields >= 0);
	*out = NULL;
	return p == NULL ? BF_OK : below(a, p, n_fields, 0, out, err);
}
