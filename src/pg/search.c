/*
 * pg/search.c: predicates on a log's index; see search.h.
 */
#include "pg/search.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "pg/plan.h"

#define UNIX_USECS ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

struct BifangSearchSet
{
	int n;
	BifangSearch *searches;
	ExprState **values;
	Oid *types; /* of the values; arrays: of their elements */
};

const BifangLogRange bifang_log_everything = {
	.empty = false,
	.partition_first = PG_INT64_MIN,
	.partition_last = PG_INT64_MAX,
	.range = {.offset_first = 0,
			  .offset_end = INT64_MAX,
			  .time_first_ms = INT64_MIN,
			  .time_last_ms = INT64_MAX},
};

BifangSearchSet *
bifang_search_new(ForeignScanState *node)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List *numbers = list_nth(plan->fdw_private, BIFANG_PLAN_SEARCHES);
	BifangSearchSet *set;
	ListCell *lc;
	int i = 0;

	if (plan->fdw_exprs == NIL)
		return NULL;
	set = palloc0(sizeof *set);
	set->n = list_length(plan->fdw_exprs);
	set->searches = palloc0((Size) set->n * sizeof *set->searches);
	set->values = palloc0((Size) set->n * sizeof *set->values);
	set->types = palloc0((Size) set->n * sizeof *set->types);
	foreach (lc, plan->fdw_exprs)
	{
		BifangSearch *s = &set->searches[i];

		s->column = (BfKafkaColumn) list_nth_int(numbers, i * BIFANG_SEARCH_INTS);
		s->strategy = list_nth_int(numbers, i * BIFANG_SEARCH_INTS + 1);
		s->is_array = list_nth_int(numbers, i * BIFANG_SEARCH_INTS + 2) != 0;
		set->values[i] = ExecInitExpr(lfirst(lc), &node->ss.ps);
		set->types[i] = exprType(lfirst(lc));
		if (s->is_array)
			set->types[i] = get_element_type(set->types[i]);
		i++;
	}
	return set;
}

static int64
add_saturated(int64 a, int64 b)
{
	int64 r;

	return pg_add_s64_overflow(a, b, &r) ? (b > 0 ? PG_INT64_MAX : PG_INT64_MIN) : r;
}

/* Whole numbers first..last (inclusive) that satisfy `x strategy value`, into the range. */
static void
narrow(int64 *first, int64 *last, int strategy, int64 value)
{
	int64 low = PG_INT64_MIN;
	int64 high = PG_INT64_MAX;

	switch (strategy)
	{
		case BTLessStrategyNumber: high = add_saturated(value, -1); break;
		case BTLessEqualStrategyNumber: high = value; break;
		case BTEqualStrategyNumber: low = high = value; break;
		case BTGreaterEqualStrategyNumber: low = value; break;
		case BTGreaterStrategyNumber: low = add_saturated(value, 1); break;
		default: break;
	}
	*first = Max(*first, low);
	*last = Min(*last, high);
}

/* Records carry milliseconds, so a bound between two of them goes to the nearer one inside. */
static void
narrow_time(BfKafkaRange *r, int strategy, TimestampTz t)
{
	int64 us;
	int64 floor_ms;
	bool between;

	if (TIMESTAMP_NOT_FINITE(t))
		return;
	us = add_saturated(t, UNIX_USECS);
	floor_ms = us / 1000 - (us % 1000 < 0);
	between = us % 1000 != 0;
	if (between && strategy == BTLessStrategyNumber)
		strategy = BTLessEqualStrategyNumber;
	else if (between && strategy == BTGreaterEqualStrategyNumber)
		strategy = BTGreaterStrategyNumber;
	narrow(&r->time_first_ms, &r->time_last_ms, strategy, floor_ms);
}

static int64
integer_value(Datum value, Oid type)
{
	switch (type)
	{
		case INT2OID: return DatumGetInt16(value);
		case INT4OID: return DatumGetInt32(value);
		default: return DatumGetInt64(value);
	}
}

static TimestampTz
time_value(Datum value, Oid type)
{
	switch (type)
	{
		case DATEOID: return DatumGetTimestampTz(DirectFunctionCall1(date_timestamptz, value));
		case TIMESTAMPOID:
			return DatumGetTimestampTz(DirectFunctionCall1(timestamp_timestamptz, value));
		default: return DatumGetTimestampTz(value);
	}
}

static void
apply(BifangLogRange *r, const BifangSearch *s, Oid type, Datum value)
{
	int64 last;

	switch (s->column)
	{
		case BF_KAFKA_PARTITION:
			narrow(&r->partition_first, &r->partition_last, s->strategy,
				   integer_value(value, type));
			break;
		case BF_KAFKA_OFFSET:
			last = r->range.offset_end == PG_INT64_MAX ? PG_INT64_MAX : r->range.offset_end - 1;
			narrow(&r->range.offset_first, &last, s->strategy, integer_value(value, type));
			r->range.offset_end = add_saturated(last, 1);
			break;
		case BF_KAFKA_TIMESTAMP:
			narrow_time(&r->range, s->strategy, time_value(value, type));
			break;
		default: break;
	}
}

static int64
ordinal(const BifangSearch *s, Datum value, Oid type)
{
	return s->column == BF_KAFKA_TIMESTAMP ? time_value(value, type) : integer_value(value, type);
}

/* column = ANY (array): from the least to the greatest element. */
static void
apply_array(BifangLogRange *r, BifangSearch s, Oid type, Datum array)
{
	ArrayType *a = DatumGetArrayTypeP(array);
	int16 len;
	bool by_value;
	char align;
	Datum *elements;
	bool *nulls;
	int n;
	int low = -1;
	int high = -1;

	get_typlenbyvalalign(type, &len, &by_value, &align);
	deconstruct_array(a, type, len, by_value, align, &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			continue;
		if (low < 0 || ordinal(&s, elements[i], type) < ordinal(&s, elements[low], type))
			low = i;
		if (high < 0 || ordinal(&s, elements[i], type) > ordinal(&s, elements[high], type))
			high = i;
	}
	if (low < 0)
	{
		r->empty = true;
		return;
	}
	s.strategy = BTGreaterEqualStrategyNumber;
	apply(r, &s, type, elements[low]);
	s.strategy = BTLessEqualStrategyNumber;
	apply(r, &s, type, elements[high]);
}

BifangLogRange
bifang_search_eval(BifangSearchSet *set, ForeignScanState *node)
{
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	BifangLogRange r = bifang_log_everything;
	MemoryContext old;

	if (set == NULL)
		return r;
	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (int i = 0; i < set->n && !r.empty; i++)
	{
		bool isnull;
		Datum value = ExecEvalExpr(set->values[i], econtext, &isnull);

		if (isnull)
			r.empty = true;
		else if (set->searches[i].is_array)
			apply_array(&r, set->searches[i], set->types[i], value);
		else
			apply(&r, &set->searches[i], set->types[i], value);
	}
	MemoryContextSwitchTo(old);
	if (r.partition_first > r.partition_last || r.range.offset_first >= r.range.offset_end ||
		r.range.time_first_ms > r.range.time_last_ms)
		r.empty = true;
	return r;
}
