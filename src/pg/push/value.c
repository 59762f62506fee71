/*
 * pg/push/value.c: a column, an operator and a value as a leaf of a BfPred; see pushdown.h.
 *
 * Whatever has an order of whole numbers (integers, decimals, dates, times) is compared in it: the
 * value becomes a position between two whole numbers or at one, the operator a span of them,
 * cut to what the column's storage can hold. So a value of any scale and size, rounding to
 * microseconds and casts to date are one calculation.
 */
#include "pg/push/internal.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "pg/server/error.h"
#include "pg/server/version.h"

#define UNIX_DAYS ((bf_i128) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE))
#define DAY_NS ((bf_i128) USECS_PER_DAY * 1000)
/* Farther than any clock of the session's time zone may be from UTC. */
#define ZONE_NS (2 * DAY_NS)

/* Beyond every value of every type, with room for calculations behind it. */
#define NUMBER_INFINITY (((bf_i128) 3) << 125)
#define TIME_INFINITY (((bf_i128) 1) << 100)
/* Ends of intervals that are open on one side. */
#define NO_LOW (-(((bf_i128) 7) << 124))
#define NO_HIGH (((bf_i128) 7) << 124)

/* ---- nodes ---- */

static void *
need(BfArena *a, size_t n)
{
	void *p = bf_arena_alloc(a, n);

	if (p == NULL)
	{
		BfError err;

		bf_error_clear(&err);
		(void) bf_arena_fail(a, n, &err);
		bifang_report(&err);
	}
	memset(p, 0, n);
	return p;
}

BfPred *
bifang_pred_new(BfArena *a, BfPredKind kind)
{
	BfPred *p = need(a, sizeof *p);

	p->kind = kind;
	p->field = -1;
	return p;
}

BfPred *
bifang_pred_join(BfArena *a, BfPredKind kind, BfPred **children, int32 n)
{
	BfPred *p;

	Assert(kind == BF_PRED_AND || kind == BF_PRED_OR);
	if (n == 1)
		return children[0];
	p = bifang_pred_new(a, kind);
	p->n_children = n;
	p->children = need(a, (size_t) Max(n, 1) * sizeof *p->children);
	memcpy(p->children, children, (size_t) n * sizeof *children);
	return p;
}

static BfPred *
join2(BfArena *a, BfPredKind kind, BfPred *left, BfPred *right)
{
	BfPred *both[2] = {left, right};

	return bifang_pred_join(a, kind, both, 2);
}

BfPred *
bifang_pred_null_test(BfArena *a, const BifangPushColumn *c, bool is_null)
{
	BfPred *p;

	if (is_null && c->loses)
		return bifang_pred_new(a, BF_PRED_UNKNOWN);
	p = bifang_pred_new(a, is_null ? BF_PRED_IS_NULL : BF_PRED_NOT_NULL);
	p->field = c->field;
	return p;
}

static BfPred *
not_null(BfArena *a, const BifangPushColumn *c)
{
	return bifang_pred_null_test(a, c, false);
}

static BfPred *
leaf(BfArena *a, const BifangPushColumn *c, BfPredKind kind, BfValue value)
{
	BfPred *p = bifang_pred_new(a, kind);

	Assert(c->field >= 0);
	p->field = c->field;
	p->n_values = 1;
	p->values = need(a, sizeof *p->values);
	p->values[0] = value;
	p->values[0].is_null = false;
	p->values[0].type = c->type;
	return p;
}

static BfPredKind
kind_of(int op)
{
	switch (op)
	{
		case BTLessStrategyNumber: return BF_PRED_LT;
		case BTLessEqualStrategyNumber: return BF_PRED_LE;
		case BTEqualStrategyNumber: return BF_PRED_EQ;
		case BTGreaterEqualStrategyNumber: return BF_PRED_GE;
		case BTGreaterStrategyNumber: return BF_PRED_GT;
		default: return BF_PRED_NE;
	}
}

/* ---- spans of whole numbers ---- */

typedef struct Span
{
	bf_i128 low; /* inclusive */
	bf_i128 high;
	bool outside; /* what is not in it is meant */
} Span;

/* Whole numbers x for which `x op value`, the value standing at `floor`, or above it and below the
 * next one when not exact. */
static Span
span_of(int op, bf_i128 floor, bool exact)
{
	Span i = {NO_LOW, NO_HIGH, false};

	switch (op)
	{
		case BTLessStrategyNumber: i.high = exact ? floor - 1 : floor; break;
		case BTLessEqualStrategyNumber: i.high = floor; break;
		case BTGreaterEqualStrategyNumber: i.low = exact ? floor : floor + 1; break;
		case BTGreaterStrategyNumber: i.low = floor + 1; break;
		default:
			i.low = exact ? floor : floor + 1;
			i.high = floor;
			i.outside = op == BIFANG_PUSH_NE;
			break;
	}
	return i;
}

static BfPred *
number_leaf(BfArena *a, const BifangPushColumn *c, BfPredKind kind, bf_i128 n)
{
	BfValue v = {0};

	switch (bf_type_storage(c->type))
	{
		case BF_STORE_I32:
			Assert(n >= PG_INT32_MIN && n <= PG_INT32_MAX);
			v.v.i32 = (int32) n;
			break;
		case BF_STORE_I64: v.v.i64 = (int64) (uint64) n; break;
		default: v.v.i128 = n; break;
	}
	return leaf(a, c, kind, v);
}

static void
storage_range(BfType t, bf_i128 *min, bf_i128 *max)
{
	switch (bf_type_storage(t))
	{
		case BF_STORE_I32:
			*min = PG_INT32_MIN;
			*max = PG_INT32_MAX;
			break;
		case BF_STORE_I64:
			*min = t.kind == BF_KIND_UINT64 ? 0 : PG_INT64_MIN;
			*max = t.kind == BF_KIND_UINT64 ? PG_UINT64_MAX : PG_INT64_MAX;
			break;
		default:
			*min = -NUMBER_INFINITY + 1;
			*max = NUMBER_INFINITY - 1;
			break;
	}
}

static BfPred *
span_pred(BfArena *a, const BifangPushColumn *c, Span i)
{
	bf_i128 min;
	bf_i128 max;
	bool has_low;
	bool has_high;

	storage_range(c->type, &min, &max);
	Assert(min < max && min > NO_LOW && max < NO_HIGH);
	has_low = i.low > min;
	has_high = i.high < max;
	if (i.low > i.high || i.low > max || i.high < min)
		return i.outside ? not_null(a, c) : bifang_pred_new(a, BF_PRED_FALSE);
	if (!has_low && !has_high)
		return i.outside ? bifang_pred_new(a, BF_PRED_FALSE) : not_null(a, c);
	if (i.low == i.high)
		return number_leaf(a, c, i.outside ? BF_PRED_NE : BF_PRED_EQ, i.low);
	if (!has_high)
		return number_leaf(a, c, i.outside ? BF_PRED_LT : BF_PRED_GE, i.low);
	if (!has_low)
		return number_leaf(a, c, i.outside ? BF_PRED_GT : BF_PRED_LE, i.high);
	if (i.outside)
		return join2(a, BF_PRED_OR, number_leaf(a, c, BF_PRED_LT, i.low),
					 number_leaf(a, c, BF_PRED_GT, i.high));
	return join2(a, BF_PRED_AND, number_leaf(a, c, BF_PRED_GE, i.low),
				 number_leaf(a, c, BF_PRED_LE, i.high));
}

/* ---- numbers ---- */

static bf_i128
saturated(bf_i128 n, bool overflow, bool negative)
{
	if (overflow || n >= NUMBER_INFINITY || n <= -NUMBER_INFINITY)
		return negative ? -NUMBER_INFINITY : NUMBER_INFINITY;
	return n;
}

/* The text of a numeric times 10^scale, rounded down. */
static bf_i128
scaled_text(const char *text, int scale, bool *exact)
{
	bool negative = text[0] == '-';
	bf_i128 n = 0;
	bool overflow = false;
	int fraction = -1; /* digits behind the point so far; -1: before it */

	*exact = true;
	text += negative;
	if (text[0] == 'I' || text[0] == 'N') /* Infinity; NaN is above all numbers too */
		return negative ? -NUMBER_INFINITY : NUMBER_INFINITY;
	for (; *text != '\0'; text++)
	{
		if (*text == '.')
			fraction = 0;
		else if (fraction >= scale)
			*exact &= *text == '0';
		else
		{
			overflow |= __builtin_mul_overflow(n, (bf_i128) 10, &n);
			overflow |= __builtin_add_overflow(n, (bf_i128) (*text - '0'), &n);
			fraction += fraction >= 0;
		}
	}
	for (fraction = Max(fraction, 0); fraction < scale; fraction++)
		overflow |= __builtin_mul_overflow(n, (bf_i128) 10, &n);
	if (overflow)
		*exact = true;
	n = saturated(n, overflow, false);
	if (negative)
		n = *exact ? -n : -n - 1;
	return n;
}

static bf_i128
scaled_double(double d, bool *exact)
{
	double floor_d;

	*exact = true;
	if (isnan(d) || d >= 1e38)
		return NUMBER_INFINITY;
	if (d <= -1e38)
		return -NUMBER_INFINITY;
	floor_d = floor(d);
	*exact = floor_d == d;
	return (bf_i128) floor_d;
}

static bf_i128
scaled_int(int64 n, int scale)
{
	bf_i128 r = n;
	bool overflow = false;

	for (int i = 0; i < scale; i++)
		overflow |= __builtin_mul_overflow(r, (bf_i128) 10, &r);
	return saturated(r, overflow, n < 0);
}

/* Columns of whole numbers and decimals. */
static BfPred *
compare_number(BfArena *a, const BifangPushColumn *c, const BifangComparison *cmp, Datum value)
{
	int scale = c->type.kind == BF_KIND_DECIMAL ? c->type.scale : 0;
	bool exact = true;
	bf_i128 n;

	switch (cmp->value_type)
	{
		case INT2OID: n = scaled_int(DatumGetInt16(value), scale); break;
		case INT4OID: n = scaled_int(DatumGetInt32(value), scale); break;
		case INT8OID: n = scaled_int(DatumGetInt64(value), scale); break;
		case NUMERICOID:
			n = scaled_text(DatumGetCString(DirectFunctionCall1(numeric_out, value)), scale,
							&exact);
			break;
		case FLOAT4OID:
		case FLOAT8OID:
			if (scale != 0)
				return not_null(a, c);
			n = scaled_double(cmp->value_type == FLOAT4OID ? (double) DatumGetFloat4(value)
														   : DatumGetFloat8(value),
							  &exact);
			break;
		default: return not_null(a, c);
	}
	return span_pred(a, c, span_of(cmp->op, n, exact));
}

/* A value that the column's 32 bits cannot hold stands between two that they can. */
static BfPred *
compare_float4(BfArena *a, const BifangPushColumn *c, int op, double d)
{
	BfValue v = {0};
	float f = (float) d;

	if ((double) f != d && !isnan(d))
	{
		if (op == BTEqualStrategyNumber)
			return bifang_pred_new(a, BF_PRED_FALSE);
		if (op == BIFANG_PUSH_NE)
			return not_null(a, c);
		if ((double) f > d)
			f = nextafterf(f, -INFINITY);
		op = op == BTLessStrategyNumber || op == BTLessEqualStrategyNumber
				 ? BTLessEqualStrategyNumber
				 : BTGreaterStrategyNumber;
	}
	v.v.f32 = f;
	return leaf(a, c, kind_of(op), v);
}

static BfPred *
compare_float(BfArena *a, const BifangPushColumn *c, const BifangComparison *cmp, Datum value)
{
	BfValue v = {0};
	double d;

	if (cmp->value_type == FLOAT4OID)
		d = (double) DatumGetFloat4(value);
	else if (cmp->value_type == FLOAT8OID)
		d = DatumGetFloat8(value);
	else
		return not_null(a, c);
	/* Nothing is above NaN, and nothing is unknown when it is the limit. */
	if (isnan(d) && cmp->op == BTGreaterStrategyNumber)
		return bifang_pred_new(a, BF_PRED_FALSE);
	if (isnan(d) && cmp->op == BTLessEqualStrategyNumber)
		return not_null(a, c);
	if (bf_type_storage(c->type) == BF_STORE_F32)
		return compare_float4(a, c, cmp->op, d);
	v.v.f64 = d;
	return leaf(a, c, kind_of(cmp->op), v);
}

/* ---- dates and times ---- */

static bf_i128
timestamp_ns(Timestamp t)
{
	if (TIMESTAMP_IS_NOBEGIN(t))
		return -TIME_INFINITY;
	if (TIMESTAMP_IS_NOEND(t))
		return TIME_INFINITY;
	return (bf_i128) t * 1000 + UNIX_DAYS * DAY_NS;
}

static bf_i128
date_ns(DateADT d)
{
	if (DATE_IS_NOBEGIN(d))
		return -TIME_INFINITY;
	if (DATE_IS_NOEND(d))
		return TIME_INFINITY;
	return ((bf_i128) d + UNIX_DAYS) * DAY_NS;
}

/* Where the value stands, in ns since 1970; *zoned: give or take the session's time zone. */
static bf_i128
time_position(const BifangComparison *cmp, Datum value, bool *zoned)
{
	int overflow;

	*zoned = false;
	switch (cmp->value_type)
	{
		case TIMEOID: return (bf_i128) DatumGetTimeADT(value) * 1000;
		case DATEOID:
			if (cmp->domain == TIMESTAMPTZOID && !DATE_NOT_FINITE(DatumGetDateADT(value)))
				return timestamp_ns(
					date2timestamptz_opt_overflow(DatumGetDateADT(value), &overflow));
			return date_ns(DatumGetDateADT(value));
		case TIMESTAMPOID:
			if (cmp->domain == TIMESTAMPTZOID && !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)))
				return timestamp_ns(
					timestamp2timestamptz_opt_overflow(DatumGetTimestamp(value), &overflow));
			return timestamp_ns(DatumGetTimestamp(value));
		default:
			*zoned = cmp->domain != TIMESTAMPTZOID;
			return timestamp_ns(DatumGetTimestampTz(value));
	}
}

static bf_i128
divide_down(bf_i128 a, bf_i128 b)
{
	return a / b - (a % b < 0);
}

/* The same as for numbers, between two resolutions: PostgreSQL sees a value of the lake rounded
 * down to `unit`, the lake counts in `tick`. */
static Span
time_span(int op, bf_i128 ns, bf_i128 unit, bf_i128 tick)
{
	bf_i128 floor = divide_down(ns, unit);
	Span i = span_of(op, floor, floor * unit == ns);

	if (i.low > i.high)
		return i;
	if (i.low != NO_LOW)
		i.low = -divide_down(-(i.low * unit), tick);
	if (i.high != NO_HIGH)
		i.high = -divide_down(-((i.high + 1) * unit), tick) - 1;
	return i;
}

static BfPred *
compare_time(BfArena *a, const BifangPushColumn *c, const BifangComparison *cmp, Datum value)
{
	bf_i128 unit = cmp->domain == DATEOID ? DAY_NS : 1000;
	bf_i128 tick;
	bf_i128 ns;
	bool zoned;
	Span i;

	switch (c->type.kind)
	{
		case BF_KIND_DATE: tick = DAY_NS; break;
		case BF_KIND_TIME:
		case BF_KIND_TIMESTAMP:
		case BF_KIND_TIMESTAMPTZ: tick = 1000; break;
		case BF_KIND_TIME_NS:
		case BF_KIND_TIMESTAMP_NS:
		case BF_KIND_TIMESTAMPTZ_NS: tick = 1; break;
		default: return not_null(a, c);
	}
	ns = time_position(cmp, value, &zoned);
	if (!zoned)
		return span_pred(a, c, time_span(cmp->op, ns, unit, tick));
	if (cmp->op == BIFANG_PUSH_NE)
		return not_null(a, c);
	i = time_span(BTGreaterEqualStrategyNumber, ns - ZONE_NS, unit, tick);
	i.high = time_span(BTLessEqualStrategyNumber, ns + ZONE_NS, unit, tick).high;
	if (cmp->op == BTLessStrategyNumber || cmp->op == BTLessEqualStrategyNumber)
		i.low = NO_LOW;
	else if (cmp->op != BTEqualStrategyNumber)
		i.high = NO_HIGH;
	return span_pred(a, c, i);
}

/* ---- texts and bytes ---- */

static bool
is_bytes(BfKind k)
{
	switch (k)
	{
		case BF_KIND_STRING:
		case BF_KIND_JSON:
		case BF_KIND_ENUM:
		case BF_KIND_BINARY:
		case BF_KIND_BSON:
		case BF_KIND_UUID:
		case BF_KIND_FIXED: return true;
		default: return false;
	}
}

static BfPred *
bytes_leaf(BfArena *a, const BifangPushColumn *c, BfPredKind kind, const void *bytes, size_t n)
{
	BfValue v = {0};
	uint8 *copy;

	if (!is_bytes(c->type.kind))
		return not_null(a, c);
	copy = need(a, Max(n, 1));
	memcpy(copy, bytes, n);
	v.v.view = (BfView){copy, (uint32) n};
	return leaf(a, c, kind, v);
}

/* Texts of the lake are UTF-8; where the server has them otherwise nothing is said about them. */
static bool
same_text(const BifangPushColumn *c)
{
	return !c->changes &&
		   (GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII);
}

BfPred *
bifang_push_text(BfArena *a, const BifangPushColumn *c, const char *text, size_t n, bool prefix)
{
	if (!same_text(c) || c->type.kind == BF_KIND_UUID)
		return not_null(a, c);
	return bytes_leaf(a, c, prefix ? BF_PRED_PREFIX : BF_PRED_EQ, text, n);
}

static BfPred *
compare_bytes(BfArena *a, const BifangPushColumn *c, const BifangComparison *cmp, Datum value)
{
	struct varlena *v;

	if (cmp->domain == TEXTOID && (!same_text(c) || c->type.kind == BF_KIND_UUID))
		return not_null(a, c);
	if (cmp->value_type == UUIDOID)
		return bytes_leaf(a, c, kind_of(cmp->op), DatumGetUUIDP(value)->data, UUID_LEN);
	v = PG_DETOAST_DATUM_PACKED(value);
	return bytes_leaf(a, c, kind_of(cmp->op), VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v));
}

/* ---- all ---- */

static bool
is_number(Oid t)
{
	return t == INT2OID || t == INT4OID || t == INT8OID || t == NUMERICOID || t == FLOAT4OID ||
		   t == FLOAT8OID;
}

static bool
is_date_time(Oid t)
{
	return t == DATEOID || t == TIMESTAMPOID || t == TIMESTAMPTZOID;
}

bool
bifang_push_comparable(Oid domain, Oid value_type)
{
	if (is_number(domain))
		return is_number(value_type);
	if (is_date_time(domain))
		return is_date_time(value_type);
	switch (domain)
	{
		case BOOLOID:
		case TIMEOID:
		case TEXTOID:
		case BYTEAOID:
		case UUIDOID: return domain == value_type;
		default: return false;
	}
}

BfPred *
bifang_push_compare(BfArena *a, const BifangPushColumn *c, BifangComparison cmp, Datum value)
{
	BfValue v = {0};

	Assert(bifang_push_comparable(cmp.domain, cmp.value_type));
	if (is_number(cmp.domain))
		switch (c->type.kind)
		{
			case BF_KIND_FLOAT16:
			case BF_KIND_FLOAT32:
			case BF_KIND_FLOAT64: return compare_float(a, c, &cmp, value);
			case BF_KIND_DECIMAL:
				if (bf_type_storage(c->type) == BF_STORE_VIEW)
					return not_null(a, c);
				return compare_number(a, c, &cmp, value);
			default:
				if (bf_type_storage(c->type) != BF_STORE_I32 &&
					bf_type_storage(c->type) != BF_STORE_I64)
					return not_null(a, c);
				return compare_number(a, c, &cmp, value);
		}
	if (is_date_time(cmp.domain) || cmp.domain == TIMEOID)
		return compare_time(a, c, &cmp, value);
	if (cmp.domain == BOOLOID)
	{
		if (c->type.kind != BF_KIND_BOOL)
			return not_null(a, c);
		v.v.u8 = DatumGetBool(value);
		return leaf(a, c, kind_of(cmp.op), v);
	}
	return compare_bytes(a, c, &cmp, value);
}
