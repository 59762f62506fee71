/*
 * pg/push/ranges.c: which whole numbers a field must have for a row to match; see pushdown.h.
 *
 * Conditions on other fields count only where they are known to fail for all rows in question.
 */
#include "pg/push/pushdown.h"

#include "miscadmin.h"

#include "pg/server/error.h"

/* Conditions are nested no deeper than other readers of predicates look. */
#define DEPTH_MAX BF_PRED_DEPTH_MAX

typedef struct Ranges
{
	BfArena *a;
	int32 field;
	BfStatsOf stats_of;
	void *arg;
} Ranges;

static int64
whole_number(const BfValue *v)
{
	return bf_type_storage(v->type) == BF_STORE_I32 ? v->v.i32 : v->v.i64;
}

static BfRange *
new_ranges(const Ranges *r, int64 n)
{
	BfRange *ranges = bf_arena_alloc_array(r->a, (size_t) Max(n, 1), sizeof *ranges);
	BfError err;

	if (ranges == NULL)
	{
		bf_error_clear(&err);
		(void) bf_arena_fail(r->a, 0, &err);
		bifang_report(&err);
	}
	return ranges;
}

static void
add(BfRangeSet *set, int64 first, int64 last)
{
	first = Max(first, 0);
	last = Min(last, BF_ENTRY_MAX);
	if (first <= last)
		set->ranges[set->n++] = (BfRange){first, last};
}

/* What lies before, between and behind ascending values. */
static void
add_holes(BfRangeSet *set, const BfPred *p)
{
	int64 first = 0;

	for (int32 i = 0; i < p->n_values; i++)
	{
		int64 v = whole_number(&p->values[i]);

		if (v > PG_INT64_MIN)
			add(set, first, v - 1);
		if (v == PG_INT64_MAX)
			return;
		first = Max(first, v + 1);
	}
	add(set, first, BF_ENTRY_MAX);
}

static BfRangeSet
leaf_ranges(const Ranges *r, const BfPred *p)
{
	BfRangeSet set = {0, new_ranges(r, (int64) p->n_values + 1)};
	int64 v = p->n_values > 0 ? whole_number(&p->values[0]) : 0;

	switch (p->kind)
	{
		case BF_PRED_EQ: add(&set, v, v); break;
		case BF_PRED_IN:
			for (int32 i = 0; i < p->n_values; i++)
				add(&set, whole_number(&p->values[i]), whole_number(&p->values[i]));
			break;
		case BF_PRED_NE:
		case BF_PRED_NOT_IN: add_holes(&set, p); break;
		case BF_PRED_LT: add(&set, 0, v == PG_INT64_MIN ? -1 : v - 1); break;
		case BF_PRED_LE: add(&set, 0, v); break;
		case BF_PRED_GT: add(&set, v == PG_INT64_MAX ? v : v + 1, BF_ENTRY_MAX); break;
		case BF_PRED_GE: add(&set, v, BF_ENTRY_MAX); break;
		case BF_PRED_IS_NULL: break;
		default: add(&set, 0, BF_ENTRY_MAX); break;
	}
	return set;
}

static BfRangeSet ranges_of(const Ranges *r, const BfPred *p, int depth);

/* Of all children at once, since each union would copy what was there before. */
static BfRangeSet
united(const Ranges *r, const BfPred *p, int depth)
{
	BfRangeSet *sets = palloc_extended((Size) p->n_children * sizeof *sets, MCXT_ALLOC_HUGE);
	BfRangeSet all = {0, NULL};
	int64 n = 0;

	for (int32 i = 0; i < p->n_children; i++)
	{
		sets[i] = ranges_of(r, p->children[i], depth + 1);
		n += sets[i].n;
	}
	all.ranges = new_ranges(r, n);
	for (int32 i = 0; i < p->n_children; i++)
	{
		memcpy(all.ranges + all.n, sets[i].ranges, (size_t) sets[i].n * sizeof(BfRange));
		all.n += sets[i].n;
	}
	pfree(sets);
	return all;
}

/* Sorted and merged. More than a set may have are one range, from the first to the last. */
static BfRangeSet
made(const Ranges *r, BfRangeSet set)
{
	BfRange hull = {BF_ENTRY_MAX, 0};
	BfError err;

	if (set.n > BF_RANGESET_RANGES_MAX)
	{
		for (int32 i = 0; i < set.n; i++)
			hull =
				(BfRange){Min(hull.first, set.ranges[i].first), Max(hull.last, set.ranges[i].last)};
		set = (BfRangeSet){1, new_ranges(r, 1)};
		set.ranges[0] = hull;
	}
	bf_error_clear(&err);
	BIFANG_CHECK(bf_rangeset_make(r->a, set.ranges, set.n, &set, &err), &err);
	return set;
}

static BfRangeSet
ranges_of(const Ranges *r, const BfPred *p, int depth)
{
	BfRangeSet set = {0, new_ranges(r, 1)};
	BfError err;

	CHECK_FOR_INTERRUPTS();
	add(&set, 0, BF_ENTRY_MAX);
	if (depth > DEPTH_MAX)
		return set;
	switch (p->kind)
	{
		case BF_PRED_FALSE: set.n = 0; return set;
		case BF_PRED_TRUE:
		case BF_PRED_UNKNOWN: return set;
		case BF_PRED_OR: return made(r, united(r, p, depth));
		case BF_PRED_AND:
			bf_error_clear(&err);
			for (int32 i = 0; i < p->n_children; i++)
			{
				BfRangeSet child = ranges_of(r, p->children[i], depth + 1);

				BIFANG_CHECK(bf_rangeset_intersect(r->a, &set, &child, &set, &err), &err);
			}
			return set;
		default: break;
	}
	if (p->field == r->field)
		return made(r, leaf_ranges(r, p));
	if (r->stats_of != NULL && !bf_pred_may_match(p, r->stats_of, r->arg))
		set.n = 0;
	return set;
}

void
bifang_pred_ranges(BfArena *a, const BfPred *p, int32 field, BfStatsOf stats_of, void *arg,
				   BfRangeSet *out)
{
	Ranges r = {a, field, stats_of, arg};

	*out = ranges_of(&r, p, 0);
}

static bool
hull_of_leaf(const BfPred *p, int64 *low, int64 *high)
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

bool
bifang_pred_hull(const BfPred *p, int32 field, BfStatsOf stats_of, void *arg, int64 *low,
				 int64 *high)
{
	int64 first = PG_INT64_MAX;
	int64 last = PG_INT64_MIN;
	bool any = false;

	check_stack_depth();
	*low = PG_INT64_MIN;
	*high = PG_INT64_MAX;
	if (p->kind == BF_PRED_FALSE)
		return false;
	if (p->kind != BF_PRED_AND && p->kind != BF_PRED_OR)
	{
		if (p->field == field)
			return hull_of_leaf(p, low, high);
		return p->kind < BF_PRED_EQ || stats_of == NULL || bf_pred_may_match(p, stats_of, arg);
	}
	for (int32 i = 0; i < p->n_children; i++)
	{
		int64 l;
		int64 h;
		bool some = bifang_pred_hull(p->children[i], field, stats_of, arg, &l, &h);

		if (p->kind == BF_PRED_AND && !some)
			return false;
		if (p->kind == BF_PRED_AND)
		{
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
	if (p->kind == BF_PRED_AND)
		return *low <= *high;
	*low = first;
	*high = last;
	return any;
}
