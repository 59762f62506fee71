/*
 * pg/convert/fixed.c: numbers, dates and times into Datums; see out.h.
 */
#include "pg/convert/internal.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pg/convert/numeric_out.h"
#include "vec/iso.h"

/* 4713-11-24 BC, PostgreSQL's first instant, and its last date, in Unix terms. */
#define UNIX_USECS_MIN (MIN_TIMESTAMP + BIFANG_UNIX_USECS)
#define UNIX_DAYS_MIN (-UNIX_EPOCH_JDATE)
#define UNIX_DAYS_MAX (DATE_END_JULIAN - UNIX_EPOCH_JDATE - 1)

static void
int_out_of_range(BifangOut *o, int64 value, bool *isnull)
{
	if (o->out_of_range == BIFANG_RANGE_NULL)
		o->refused = true;
	else
		bifang_out_of_range(o, psprintf(INT64_FORMAT, value));
	bifang_out_nulled(o, isnull);
}

/* ---- fixed-length conversions: SRC[i] in, PUT(i, datum) out ---- */

#define CONVERT(name, ctype, member, expr)                                                   \
	static void name(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, \
					 bool *isnull)                                                           \
	{                                                                                        \
		const ctype *data = vec->data.member + first;                                        \
		(void) o;                                                                            \
		(void) isnull;                                                                       \
		for (int32 i = 0; i < n; i++)                                                        \
		{                                                                                    \
			ctype v = data[i];                                                               \
			values[i] = (expr);                                                              \
		}                                                                                    \
	}

/* As CONVERT, where `ok` must hold for every value that is not NULL. */
#define CONVERT_CHECKED(name, ctype, member, ok, expr)                                       \
	static void name(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, \
					 bool *isnull)                                                           \
	{                                                                                        \
		const ctype *data = vec->data.member + first;                                        \
		for (int32 i = 0; i < n; i++)                                                        \
		{                                                                                    \
			ctype v = data[i];                                                               \
			if (unlikely(!(ok)))                                                             \
			{                                                                                \
				if (!isnull[i])                                                              \
					int_out_of_range(o, (int64) v, &isnull[i]);                              \
				values[i] = (Datum) 0;                                                       \
				continue;                                                                    \
			}                                                                                \
			values[i] = (expr);                                                              \
		}                                                                                    \
	}

CONVERT(bool_bool, uint8, u8, BoolGetDatum(v != 0))
CONVERT(i32_int4, int32, i32, Int32GetDatum(v))
CONVERT(i32_int8, int32, i32, Int64GetDatum((int64) v))
CONVERT(i32_float8, int32, i32, Float8GetDatum((double) v))
CONVERT_CHECKED(i32_int2, int32, i32, v >= PG_INT16_MIN && v <= PG_INT16_MAX,
				Int16GetDatum((int16) v))
CONVERT(i64_int8, int64, i64, Int64GetDatum(v))
CONVERT_CHECKED(i64_int4, int64, i64, v >= PG_INT32_MIN && v <= PG_INT32_MAX,
				Int32GetDatum((int32) v))
CONVERT_CHECKED(i64_int2, int64, i64, v >= PG_INT16_MIN && v <= PG_INT16_MAX,
				Int16GetDatum((int16) v))
CONVERT_CHECKED(i64_float8, int64, i64, (double) v < 0x1p63 && (int64) (double) v == v,
				Float8GetDatum((double) v))
CONVERT(f32_float4, float, f32, Float4GetDatum(v))
CONVERT(f32_float8, float, f32, Float8GetDatum((double) v))
CONVERT(f64_float8, double, f64, Float8GetDatum(v))
CONVERT_CHECKED(date_date, int32, i32, v >= UNIX_DAYS_MIN && v <= UNIX_DAYS_MAX,
				DateADTGetDatum(v - BIFANG_UNIX_DAYS))
CONVERT_CHECKED(time_time, int64, i64, v >= 0 && v <= USECS_PER_DAY, TimeADTGetDatum(v))
CONVERT_CHECKED(time_ns_time, int64, i64, v >= 0 && v <= USECS_PER_DAY * 1000,
				TimeADTGetDatum(v / 1000))
CONVERT_CHECKED(ts_ts, int64, i64, v >= UNIX_USECS_MIN, TimestampGetDatum(v - BIFANG_UNIX_USECS))
/* Floor, so that nanoseconds before 1970 don't move up. The result is always in range. */
CONVERT(ts_ns_ts, int64, i64, TimestampGetDatum(v / 1000 - (v % 1000 < 0) - BIFANG_UNIX_USECS))

/* Midnight of the day. PostgreSQL's last date is past its last timestamp. */
static void
date_ts(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	const int32 *data = vec->data.i32 + first;

	for (int32 i = 0; i < n; i++)
	{
		int64 us = ((int64) data[i] - BIFANG_UNIX_DAYS) * USECS_PER_DAY;

		if (unlikely(data[i] > (END_TIMESTAMP / USECS_PER_DAY) + BIFANG_UNIX_DAYS ||
					 !IS_VALID_TIMESTAMP(us)) &&
			!isnull[i])
			int_out_of_range(o, data[i], &isnull[i]);
		values[i] = TimestampGetDatum(us);
	}
}

/* NaN and infinities pass; anything else must come back the same. */
static void
f64_float4(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	const double *data = vec->data.f64 + first;

	for (int32 i = 0; i < n; i++)
	{
		double d = data[i];
		float f = (float) d;

		if (unlikely((double) f != d) && !isnan(d) && !isnull[i])
		{
			bifang_out_of_range(o, psprintf("%.17g", d));
			bifang_out_nulled(o, &isnull[i]);
		}
		values[i] = Float4GetDatum(f);
	}
}

/* Dates and times as text keep all their digits, and have no range but that of the file. */
static void
datetime_text(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	bool i32 = vec->storage == BF_STORE_I32;
	MemoryContext old = MemoryContextSwitchTo(o->bump->cxt);

	for (int32 i = 0; i < n; i++)
	{
		char text[BF_ISO_BYTES];
		int64 v;

		values[i] = (Datum) 0;
		if (isnull[i])
			continue;
		v = i32 ? vec->data.i32[first + i] : vec->data.i64[first + i];
		if (bf_iso_text(o->from.kind, v, text, sizeof text))
			values[i] = CStringGetTextDatum(text);
		else
			int_out_of_range(o, v, &isnull[i]);
	}
	MemoryContextSwitchTo(old);
}

/* UINT64 is kept as its bits. */
static void
u64_int8(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	for (int32 i = 0; i < n; i++)
	{
		int64 v = vec->data.i64[first + i];

		if (unlikely(v < 0) && !isnull[i])
		{
			bifang_out_of_range(o, psprintf(UINT64_FORMAT, (uint64) v));
			bifang_out_nulled(o, &isnull[i]);
		}
		values[i] = Int64GetDatum(v);
	}
}
/* ---- numeric ---- */

/* Does numeric(p,s) take it unchanged? */
static bool
numeric_fits(BifangOut *o, Datum num)
{
	int32 typmod = o->to.typmod - VARHDRSZ;
	int32 scale = ((typmod & 0x7ff) ^ 1024) - 1024;
	int32 digits = ((typmod >> 16) & 0xffff) - scale;
	Datum rounded = DirectFunctionCall2(numeric_round, num, Int32GetDatum(scale));

	if (o->to.numeric_limit == (Datum) 0)
	{
		MemoryContext old = MemoryContextSwitchTo(o->cxt);

		o->to.numeric_limit =
			DirectFunctionCall3(numeric_in, CStringGetDatum(psprintf("1e%d", digits)),
								ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
		MemoryContextSwitchTo(old);
	}
	return DatumGetBool(DirectFunctionCall2(numeric_eq, num, rounded)) &&
		   DatumGetBool(DirectFunctionCall2(numeric_lt, DirectFunctionCall1(numeric_abs, num),
											o->to.numeric_limit));
}

/* The result belongs to the slice (or the dictionary), not to the row that is being fetched. */
Datum
bifang_numeric_fit(BifangOut *o, Datum num)
{
	MemoryContext old = MemoryContextSwitchTo(o->bump->cxt);
	Datum fitted = num;

	if (numeric_fits(o, num))
		fitted = DirectFunctionCall2(numeric, num, Int32GetDatum(o->to.typmod));
	else
		bifang_out_of_range(o, DatumGetCString(DirectFunctionCall1(numeric_out, num)));
	MemoryContextSwitchTo(old);
	return fitted;
}

bool
bifang_numeric_fits_always(const BifangOut *o, int precision, int scale)
{
	int32 typmod = o->to.typmod - VARHDRSZ;

	if (o->to.typmod < (int32) VARHDRSZ)
		return true;
	return (((typmod & 0x7ff) ^ 1024) - 1024) == scale && ((typmod >> 16) & 0xffff) >= precision;
}

#define NUMERIC_LOOP(name, make, fit)                                                        \
	static void name(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, \
					 bool *isnull)                                                           \
	{                                                                                        \
		int scale = o->from.scale;                                                           \
		bifang_bump_reserve(o, o->bump, (size_t) n *BIFANG_NUMERIC_BYTES);                   \
		(void) scale;                                                                        \
		for (int32 i = 0; i < n; i++)                                                        \
		{                                                                                    \
			char *to = o->bump->at;                                                          \
			size_t used;                                                                     \
			if (isnull[i])                                                                   \
				continue;                                                                    \
			used = MAXALIGN(make);                                                           \
			o->bump->at += used;                                                             \
			o->bump->left -= used;                                                           \
			values[i] = PointerGetDatum(to);                                                 \
			if (fit)                                                                         \
			{                                                                                \
				values[i] = bifang_numeric_fit(o, values[i]);                                \
				bifang_out_nulled(o, &isnull[i]);                                            \
			}                                                                                \
		}                                                                                    \
	}

NUMERIC_LOOP(i32_numeric, bifang_numeric_i64(to, vec->data.i32[first + i], 0), false)
NUMERIC_LOOP(i32_numeric_fit, bifang_numeric_i64(to, vec->data.i32[first + i], 0), true)
NUMERIC_LOOP(i64_numeric, bifang_numeric_i64(to, vec->data.i64[first + i], 0), false)
NUMERIC_LOOP(i64_numeric_fit, bifang_numeric_i64(to, vec->data.i64[first + i], 0), true)
NUMERIC_LOOP(u64_numeric, bifang_numeric_i128(to, (uint64) vec->data.i64[first + i], 0), false)
NUMERIC_LOOP(u64_numeric_fit, bifang_numeric_i128(to, (uint64) vec->data.i64[first + i], 0), true)
NUMERIC_LOOP(d64_numeric, bifang_numeric_i64(to, vec->data.i64[first + i], scale), false)
NUMERIC_LOOP(d64_numeric_fit, bifang_numeric_i64(to, vec->data.i64[first + i], scale), true)
NUMERIC_LOOP(d128_numeric, bifang_numeric_i128(to, vec->data.i128[first + i], scale), false)
NUMERIC_LOOP(d128_numeric_fit, bifang_numeric_i128(to, vec->data.i128[first + i], scale), true)

/* The fewest digits that mean this double. */
static void
f64_numeric(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(o->bump->cxt);

	for (int32 i = 0; i < n; i++)
	{
		double d = vec->data.f64[first + i];
		char text[DOUBLE_SHORTEST_DECIMAL_LEN];

		values[i] = (Datum) 0;
		if (isnull[i])
			continue;
		double_to_shortest_decimal_buf(d, text);
		values[i] = DirectFunctionCall3(numeric_in, CStringGetDatum(text),
										ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
		if (o->to.typmod >= (int32) VARHDRSZ && !isnan(d))
			values[i] = bifang_numeric_fit(o, values[i]);
		bifang_out_nulled(o, &isnull[i]);
	}
	MemoryContextSwitchTo(old);
}

/* Decimal into an integer type: a fraction other than zero would be lost. */
static void
decimal_int(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, bool *isnull)
{
	int64 max = o->to.typid == INT2OID	 ? PG_INT16_MAX
				: o->to.typid == INT4OID ? PG_INT32_MAX
										 : PG_INT64_MAX;

	for (int32 i = 0; i < n; i++)
	{
		bf_i128 v =
			vec->storage == BF_STORE_I64 ? vec->data.i64[first + i] : vec->data.i128[first + i];
		bf_i128 unit = 1;

		values[i] = (Datum) 0;
		if (isnull[i])
			continue;
		for (int s = 0; s < o->from.scale; s++)
			unit *= 10;
		if (v % unit != 0 || v / unit > max || v / unit < -(bf_i128) max - 1)
		{
			char num[BIFANG_NUMERIC_BYTES];

			bifang_numeric_i128(num, v, o->from.scale);
			bifang_out_of_range(
				o, DatumGetCString(DirectFunctionCall1(numeric_out, PointerGetDatum(num))));
			bifang_out_nulled(o, &isnull[i]);
			continue;
		}
		values[i] = Int64GetDatum((int64) (v / unit));
	}
}
/* ---- which conversion ---- */

static BifangChoice
choose_number(BfStorage storage, BfKind kind, Oid typid, bool fits)
{
	bool i32 = storage == BF_STORE_I32;

	switch (typid)
	{
		case INT2OID: return (BifangChoice){i32 ? i32_int2 : i64_int2, NULL};
		case INT4OID: return (BifangChoice){i32 ? i32_int4 : i64_int4, NULL};
		case INT8OID:
			return (BifangChoice){i32					   ? i32_int8
								  : kind == BF_KIND_UINT64 ? u64_int8
														   : i64_int8,
								  NULL};
		case FLOAT8OID:
			return (BifangChoice){i32					   ? i32_float8
								  : kind == BF_KIND_UINT64 ? NULL
														   : i64_float8,
								  NULL};
		case NUMERICOID:
			if (kind == BF_KIND_UINT64)
				return (BifangChoice){fits ? u64_numeric : u64_numeric_fit, NULL};
			if (i32)
				return (BifangChoice){fits ? i32_numeric : i32_numeric_fit, NULL};
			return (BifangChoice){fits ? i64_numeric : i64_numeric_fit, NULL};
		default: return (BifangChoice){NULL, NULL};
	}
}

static BifangChoice
choose_decimal(BfStorage storage, Oid typid, bool fits)
{
	if (typid == NUMERICOID && storage == BF_STORE_I64)
		return (BifangChoice){fits ? d64_numeric : d64_numeric_fit, NULL};
	if (typid == NUMERICOID)
		return (BifangChoice){fits ? d128_numeric : d128_numeric_fit, NULL};
	if ((typid == INT2OID || typid == INT4OID || typid == INT8OID))
		return (BifangChoice){decimal_int, NULL};
	return (BifangChoice){NULL, NULL};
}

static BifangChoice
choose_datetime(BfKind kind, Oid typid)
{
	bool ns = kind == BF_KIND_TIMESTAMP_NS || kind == BF_KIND_TIMESTAMPTZ_NS;

	if (typid == TEXTOID)
		return (BifangChoice){datetime_text, NULL};
	switch (kind)
	{
		case BF_KIND_DATE:
			return (BifangChoice){typid == DATEOID		  ? date_date
								  : typid == TIMESTAMPOID ? date_ts
														  : NULL,
								  NULL};
		case BF_KIND_TIME: return (BifangChoice){typid == TIMEOID ? time_time : NULL, NULL};
		case BF_KIND_TIME_NS: return (BifangChoice){typid == TIMEOID ? time_ns_time : NULL, NULL};
		case BF_KIND_TIMESTAMP:
		case BF_KIND_TIMESTAMP_NS:
		case BF_KIND_TIMESTAMPTZ:
		case BF_KIND_TIMESTAMPTZ_NS:
			if (ns && typid == INT8OID)
				return (BifangChoice){i64_int8, NULL};
			if (typid == TIMESTAMPOID ||
				(typid == TIMESTAMPTZOID &&
				 (kind == BF_KIND_TIMESTAMPTZ || kind == BF_KIND_TIMESTAMPTZ_NS)))
				return (BifangChoice){ns ? ts_ns_ts : ts_ts, NULL};
			return (BifangChoice){NULL, NULL};
		default: return (BifangChoice){NULL, NULL};
	}
}

BifangChoice
bifang_choose_fixed(BfType from, Oid typid, bool fits)
{
	switch (from.kind)
	{
		case BF_KIND_BOOL: return (BifangChoice){typid == BOOLOID ? bool_bool : NULL, NULL};
		case BF_KIND_FLOAT16:
		case BF_KIND_FLOAT32:
			return (BifangChoice){typid == FLOAT4OID   ? f32_float4
								  : typid == FLOAT8OID ? f32_float8
													   : NULL,
								  NULL};
		case BF_KIND_FLOAT64:
			return (BifangChoice){typid == FLOAT8OID	? f64_float8
								  : typid == FLOAT4OID	? f64_float4
								  : typid == NUMERICOID ? f64_numeric
														: NULL,
								  NULL};
		case BF_KIND_DECIMAL: return choose_decimal(bf_type_storage(from), typid, fits);
		case BF_KIND_DATE:
		case BF_KIND_TIME:
		case BF_KIND_TIME_NS:
		case BF_KIND_TIMESTAMP:
		case BF_KIND_TIMESTAMPTZ:
		case BF_KIND_TIMESTAMP_NS:
		case BF_KIND_TIMESTAMPTZ_NS: return choose_datetime(from.kind, typid);
		default: return choose_number(bf_type_storage(from), from.kind, typid, fits);
	}
}
