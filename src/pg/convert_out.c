/*
 * pg/convert_out.c: column vectors into Datums; see convert_out.h.
 *
 * A conversion is one function over a run of rows, chosen once per column. By-reference results go
 * into a bump buffer that is emptied at each call; results of dictionary entries go into a second
 * one, which lives as long as the dictionary. Entries are converted when a row first names them, so
 * that a large dictionary costs only what is used of it.
 */
#include "pg/convert_out.h"

#include <float.h>

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "pg/error.h"
#include "pg/numeric_out.h"
#include "pg/typemap.h"
#include "pg/version.h"

#define UNIX_DAYS (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define UNIX_USECS ((int64) UNIX_DAYS * USECS_PER_DAY)
/* 4713-11-24 BC, PostgreSQL's first instant, and its last date, in Unix terms. */
#define UNIX_USECS_MIN (MIN_TIMESTAMP + UNIX_USECS)
#define UNIX_DAYS_MIN (-UNIX_EPOCH_JDATE)
#define UNIX_DAYS_MAX (DATE_END_JULIAN - UNIX_EPOCH_JDATE - 1)

#define CHUNK_BYTES ((size_t) 64 * 1024)
#define KEPT_BYTES_MAX ((size_t) 16 * 1024 * 1024)

/* Bump allocation out of chunks; reset keeps the largest one. */
typedef struct Bump
{
	MemoryContext cxt; /* everything is in it, palloc'd results too */
	char *at;
	size_t left;
	char *kept; /* outside cxt: survives a reset */
	size_t kept_size;
} Bump;

typedef void (*FlatFn)(BifangOut *o, const BfVector *v, int32 first, int32 n, Datum *values,
					   const bool *isnull);
typedef Datum (*ViewFn)(BifangOut *o, BfView value);

struct BifangOut
{
	MemoryContext cxt;
	BfType from;
	Oid typid; /* base type */
	Oid declared;
	int32 typmod;
	const char *column;
	const char *file;
	FlatFn flat;
	ViewFn view; /* VIEW storage: one value; `flat` is then run by it */
	Bump row_bump;
	Bump dict_bump;
	Bump *bump; /* where `view` allocates now */
	Datum *dict;
	bool *dict_done;
	int32 dict_cap;
	uint64 dict_epoch;
	const BfVector *dict_of; /* NULL: nothing remembered */
	FmgrInfo in_fn;
	Oid in_param;
	void *domain;
	bool has_domain;
};

/* ---- buffers ---- */

static void
bump_init(Bump *b, MemoryContext parent)
{
	memset(b, 0, sizeof *b);
	b->cxt = AllocSetContextCreate(parent, "bifang values", ALLOCSET_SMALL_SIZES);
}

static void
bump_reset(Bump *b)
{
	if (!MemoryContextIsEmpty(b->cxt))
		MemoryContextReset(b->cxt);
	b->at = b->kept;
	b->left = b->kept_size;
}

/* Room for `size` bytes in one piece. */
static void
bump_reserve(BifangOut *o, Bump *b, size_t size)
{
	if (b->left >= size)
		return;
	if (b->at == b->kept && b->left == b->kept_size) /* empty: a larger one to keep */
	{
		size_t cap = Max(size + size / 4, CHUNK_BYTES);

		if (cap <= KEPT_BYTES_MAX)
		{
			if (b->kept != NULL)
				pfree(b->kept);
			b->kept = NULL;
			b->kept_size = 0;
			b->kept = MemoryContextAlloc(o->cxt, cap);
			b->kept_size = cap;
			b->at = b->kept;
			b->left = cap;
			return;
		}
	}
	b->left = Max(size, CHUNK_BYTES);
	b->at = MemoryContextAllocHuge(b->cxt, b->left);
}

static inline char *
bump_alloc(BifangOut *o, Bump *b, size_t size)
{
	char *p;

	size = MAXALIGN(size);
	if (unlikely(b->left < size))
		bump_reserve(o, b, size);
	p = b->at;
	b->at += size;
	b->left -= size;
	return p;
}

/* ---- errors ---- */

static void out_of_range(const BifangOut *o, const char *value) BIFANG_NORETURN;

static void
out_of_range(const BifangOut *o, const char *value)
{
	bool datetime = o->typid == DATEOID || o->typid == TIMEOID || o->typid == TIMESTAMPOID ||
					o->typid == TIMESTAMPTZOID || o->typid == INTERVALOID;

	ereport(ERROR, (errcode(datetime ? ERRCODE_DATETIME_FIELD_OVERFLOW
									 : ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					errmsg("value %s of column \"%s\" in \"%s\" does not fit type %s", value,
						   o->column, o->file, bifang_pg_type_text(o->typid, o->typmod))));
}

static void
int_out_of_range(const BifangOut *o, int64 value)
{
	out_of_range(o, psprintf(INT64_FORMAT, value));
}

/* ---- fixed-length conversions: SRC[i] in, PUT(i, datum) out ---- */

#define CONVERT(name, ctype, member, expr)                                                   \
	static void name(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, \
					 const bool *isnull)                                                     \
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
					 const bool *isnull)                                                     \
	{                                                                                        \
		const ctype *data = vec->data.member + first;                                        \
		for (int32 i = 0; i < n; i++)                                                        \
		{                                                                                    \
			ctype v = data[i];                                                               \
			if (unlikely(!(ok)))                                                             \
			{                                                                                \
				if (!isnull[i])                                                              \
					int_out_of_range(o, (int64) v);                                          \
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
CONVERT_CHECKED(i64_float8, int64, i64, v >= -(INT64CONST(1) << 53) && v <= (INT64CONST(1) << 53),
				Float8GetDatum((double) v))
CONVERT(f32_float4, float, f32, Float4GetDatum(v))
CONVERT(f32_float8, float, f32, Float8GetDatum((double) v))
CONVERT(f64_float8, double, f64, Float8GetDatum(v))
CONVERT_CHECKED(date_date, int32, i32, v >= UNIX_DAYS_MIN && v <= UNIX_DAYS_MAX,
				DateADTGetDatum(v - UNIX_DAYS))
CONVERT_CHECKED(time_time, int64, i64, v >= 0 && v <= USECS_PER_DAY, TimeADTGetDatum(v))
CONVERT_CHECKED(time_ns_time, int64, i64, v >= 0 && v <= USECS_PER_DAY * 1000,
				TimeADTGetDatum(v / 1000))
CONVERT_CHECKED(ts_ts, int64, i64, v >= UNIX_USECS_MIN, TimestampGetDatum(v - UNIX_USECS))
/* Floor, so that nanoseconds before 1970 don't move up. The result is always in range. */
CONVERT(ts_ns_ts, int64, i64, TimestampGetDatum(v / 1000 - (v % 1000 < 0) - UNIX_USECS))

/* Midnight of the day. PostgreSQL's last date is past its last timestamp. */
static void
date_ts(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, const bool *isnull)
{
	const int32 *data = vec->data.i32 + first;

	for (int32 i = 0; i < n; i++)
	{
		int64 us = ((int64) data[i] - UNIX_DAYS) * USECS_PER_DAY;

		if (unlikely(data[i] > (END_TIMESTAMP / USECS_PER_DAY) + UNIX_DAYS ||
					 !IS_VALID_TIMESTAMP(us)) &&
			!isnull[i])
			int_out_of_range(o, data[i]);
		values[i] = TimestampGetDatum(us);
	}
}

/* NaN and infinities pass; anything else must come back the same. */
static void
f64_float4(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values,
		   const bool *isnull)
{
	const double *data = vec->data.f64 + first;

	for (int32 i = 0; i < n; i++)
	{
		double d = data[i];
		float f = (float) d;

		if (unlikely((double) f != d) && !isnan(d) && !isnull[i])
			out_of_range(o, psprintf("%.17g", d));
		values[i] = Float4GetDatum(f);
	}
}

/* UINT64 is kept as its bits. */
static void
u64_int8(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, const bool *isnull)
{
	for (int32 i = 0; i < n; i++)
	{
		int64 v = vec->data.i64[first + i];

		if (unlikely(v < 0) && !isnull[i])
			out_of_range(o, psprintf(UINT64_FORMAT, (uint64) v));
		values[i] = Int64GetDatum(v);
	}
}

/* ---- numeric ---- */

/* To a declared precision and scale that may not hold the value: PostgreSQL's own rounding, and
 * then it must not have rounded. */
static Datum
numeric_fit(BifangOut *o, Datum num)
{
	Datum fitted = DirectFunctionCall2(numeric, num, Int32GetDatum(o->typmod));

	if (!DatumGetBool(DirectFunctionCall2(numeric_eq, num, fitted)))
		out_of_range(o, DatumGetCString(DirectFunctionCall1(numeric_out, num)));
	return fitted;
}

/* Is every value of decimal(precision, scale) one of the declared type, with the same scale? */
static bool
numeric_fits_always(const BifangOut *o, int precision, int scale)
{
	int32 typmod = o->typmod - VARHDRSZ;

	if (o->typmod < (int32) VARHDRSZ)
		return true;
	return (((typmod & 0x7ff) ^ 1024) - 1024) == scale && ((typmod >> 16) & 0xffff) >= precision;
}

#define NUMERIC_LOOP(name, make, fit)                                                        \
	static void name(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values, \
					 const bool *isnull)                                                     \
	{                                                                                        \
		int scale = o->from.scale;                                                           \
		bump_reserve(o, o->bump, (size_t) n *BIFANG_NUMERIC_BYTES);                          \
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
				values[i] = numeric_fit(o, values[i]);                                       \
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

/* Decimal into an integer type: a fraction other than zero would be lost. */
static void
decimal_int(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values,
			const bool *isnull)
{
	int64 max = o->typid == INT2OID	  ? PG_INT16_MAX
				: o->typid == INT4OID ? PG_INT32_MAX
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
			out_of_range(o,
						 DatumGetCString(DirectFunctionCall1(numeric_out, PointerGetDatum(num))));
		}
		values[i] = Int64GetDatum((int64) (v / unit));
	}
}

/* ---- values of variable length, one at a time ---- */

static void
check_datum_length(const BifangOut *o, uint32 len)
{
	if (unlikely(len > MaxAllocSize - VARHDRSZ))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("value of column \"%s\" in \"%s\" is too long: %u bytes", o->column,
							   o->file, len)));
}

/* A varlena of len bytes; the short header where it can be. */
static inline char *
varlena_begin(BifangOut *o, uint32 len, Datum *out)
{
	char *p;

	if (likely(len <= VARATT_SHORT_MAX - VARHDRSZ_SHORT))
	{
		p = bump_alloc(o, o->bump, len + VARHDRSZ_SHORT);
		SET_VARSIZE_SHORT(p, len + VARHDRSZ_SHORT);
		*out = PointerGetDatum(p);
		return p + VARHDRSZ_SHORT;
	}
	check_datum_length(o, len);
	p = bump_alloc(o, o->bump, (size_t) len + VARHDRSZ);
	SET_VARSIZE(p, len + VARHDRSZ);
	*out = PointerGetDatum(p);
	return p + VARHDRSZ;
}

/* Bytes that are neither NUL nor above 0x7f, the common case, are text in every encoding. These
 * helpers gather a bit per byte that is something else; they may do so for a 0x01 too. */
#define ASCII_HIGH UINT64CONST(0x8080808080808080)
#define ASCII_ONES UINT64CONST(0x0101010101010101)

static inline uint64
not_ascii(uint64 w)
{
	return w | (w - ASCII_ONES);
}

static inline bool
plain_ascii(const uint8 *p, uint32 len)
{
	uint64 bad = 0;

	if (len >= 8)
	{
		const uint8 *last = p + len - 8;

		for (; p < last; p += 8)
			bad |= not_ascii(bf_load64le(p));
		bad |= not_ascii(bf_load64le(last));
	}
	else
		for (; len > 0; len--, p++)
			bad |= (uint64) *p | ((uint64) *p - 1);
	return (bad & ASCII_HIGH) == 0;
}

/* memcpy of a short run in pieces that overlap, and plain_ascii of it at once: a call, or the
 * string instruction that the compiler likes, costs more than most values do. */
static inline bool
copy_ascii(char *to, const uint8 *from, uint32 len)
{
	uint64 bad = 0;
	uint64 w;

	if (len >= 8)
	{
		uint32 i = 0;

		for (; i + 8 < len; i += 8)
		{
			w = bf_load64le(from + i);
			bf_store64le(to + i, w);
			bad |= not_ascii(w);
		}
		w = bf_load64le(from + len - 8);
		bf_store64le(to + len - 8, w);
		bad |= not_ascii(w);
	}
	else if (len >= 4)
	{
		uint32 a = bf_load32le(from);
		uint32 b = bf_load32le(from + len - 4);

		bf_store32le(to, a);
		bf_store32le(to + len - 4, b);
		bad = not_ascii((uint64) a << 32 | b);
	}
	else
		for (uint32 i = 0; i < len; i++)
		{
			to[i] = (char) from[i];
			bad |= (uint64) from[i] | ((uint64) from[i] - 1);
		}
	return (bad & ASCII_HIGH) == 0;
}

static void bad_text(const BifangOut *o, BfView v) BIFANG_NORETURN;

static void
bad_text(const BifangOut *o, BfView v)
{
	const uint8 *nul = v.len == 0 ? NULL : memchr(v.ptr, 0, v.len);

	if (nul != NULL)
		ereport(ERROR, (errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
						errmsg("text of column \"%s\" in \"%s\" has a zero byte at position %d",
							   o->column, o->file, (int) (nul - v.ptr)),
						errhint("Declare the column as bytea to read it.")));
	ereport(ERROR,
			(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
			 errmsg("text of column \"%s\" in \"%s\" is not valid UTF-8", o->column, o->file),
			 errhint("Declare the column as bytea to read it.")));
}

/* Names the column where a conversion function of the server raises the error. */
static void
value_context(void *arg)
{
	const BifangOut *o = arg;

	errcontext("column \"%s\" of \"%s\"", o->column, o->file);
}

/* The bytes as text of the database: themselves where that is its encoding, else converted. */
static inline BfView
checked_text(BifangOut *o, BfView v)
{
	if (likely(plain_ascii(v.ptr, v.len)))
		return v;
	check_datum_length(o, v.len);
	if (!pg_verify_mbstr(PG_UTF8, (const char *) v.ptr, (int) v.len, true))
		bad_text(o, v);
	if (GetDatabaseEncoding() != PG_UTF8 && GetDatabaseEncoding() != PG_SQL_ASCII)
	{
		ErrorContextCallback callback = {error_context_stack, value_context, o};
		MemoryContext old = MemoryContextSwitchTo(o->bump->cxt);
		char *converted;

		error_context_stack = &callback;
		converted = pg_any_to_server((const char *) v.ptr, (int) v.len, PG_UTF8);
		error_context_stack = callback.previous;
		MemoryContextSwitchTo(old);
		if (converted != (const char *) v.ptr)
			return (BfView){(const uint8 *) converted, (uint32) strlen(converted)};
	}
	return v;
}

static Datum
view_text(BifangOut *o, BfView v)
{
	Datum result;
	BfView t = checked_text(o, v);

	memcpy(varlena_begin(o, t.len, &result), t.ptr, t.len);
	return result;
}

static Datum
view_bytea(BifangOut *o, BfView v)
{
	Datum result;

	memcpy(varlena_begin(o, v.len, &result), v.ptr, v.len);
	return result;
}

/* varchar(n) and char(n): nothing is cut off but the blanks that char(n) ignores anyway. */
static Datum
view_text_typmod(BifangOut *o, BfView v)
{
	int max = o->typmod - VARHDRSZ;
	BfView t = checked_text(o, v);
	int chars = pg_mbstrlen_with_len((const char *) t.ptr, (int) t.len);
	Datum result;
	char *to;

	while (chars > max && o->typid == BPCHAROID && t.ptr[t.len - 1] == ' ')
	{
		t.len--;
		chars--;
	}
	if (chars > max)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("value of column \"%s\" in \"%s\" is too long for type %s: %d characters",
						o->column, o->file, bifang_pg_type_text(o->typid, o->typmod), chars)));
	if (o->typid != BPCHAROID)
		max = chars;
	to = varlena_begin(o, t.len + (uint32) (max - chars), &result);
	memcpy(to, t.ptr, t.len);
	memset(to + t.len, ' ', (size_t) (max - chars));
	return result;
}

static Datum
view_name(BifangOut *o, BfView v)
{
	BfView t = checked_text(o, v);
	char *to;

	if (t.len >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("value of column \"%s\" in \"%s\" is too long for type name: %u bytes",
						o->column, o->file, t.len)));
	to = bump_alloc(o, o->bump, NAMEDATALEN);
	memset(to, 0, NAMEDATALEN);
	memcpy(to, t.ptr, t.len);
	return PointerGetDatum(to);
}

/* json, jsonb, enum types: through the type's own input function. */
static Datum
view_input(BifangOut *o, BfView v)
{
	ErrorContextCallback callback = {error_context_stack, value_context, o};
	MemoryContext old;
	BfView t = checked_text(o, v);
	char *text;
	Datum result;

	old = MemoryContextSwitchTo(o->bump->cxt);
	text = pnstrdup((const char *) t.ptr, t.len);
	error_context_stack = &callback;
	result = InputFunctionCall(&o->in_fn, text, o->in_param, o->typmod);
	error_context_stack = callback.previous;
	MemoryContextSwitchTo(old);
	return result;
}

static Datum
view_uuid(BifangOut *o, BfView v)
{
	char *to;

	if (v.len != UUID_LEN)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("value of column \"%s\" in \"%s\" is no uuid: %u bytes", o->column,
							   o->file, v.len)));
	to = bump_alloc(o, o->bump, UUID_LEN);
	memcpy(to, v.ptr, UUID_LEN);
	return PointerGetDatum(to);
}

static Datum
view_interval(BifangOut *o, BfView v)
{
	uint32 part[3];
	Interval *to;

	if (v.len != 12)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("value of column \"%s\" in \"%s\" is no interval: %u bytes",
							   o->column, o->file, v.len)));
	memcpy(part, v.ptr, sizeof part);
	if (part[0] > PG_INT32_MAX || part[1] > PG_INT32_MAX)
		out_of_range(o, psprintf("%u months %u days", part[0], part[1]));
	to = (Interval *) bump_alloc(o, o->bump, sizeof *to);
	to->month = (int32) part[0];
	to->day = (int32) part[1];
	to->time = (int64) part[2] * 1000;
	return PointerGetDatum(to);
}

/* INT96: nanoseconds of the day, then the Julian day. */
static Datum
view_int96(BifangOut *o, BfView v)
{
	int64 nanos;
	int32 day;
	bf_i128 us;

	if (v.len != 12)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("value of column \"%s\" in \"%s\" is no INT96: %u bytes", o->column,
							   o->file, v.len)));
	nanos = (int64) bf_load64le(v.ptr);
	day = (int32) bf_load32le(v.ptr + 8);
	us = ((bf_i128) day - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY + nanos / 1000 - (nanos % 1000 < 0);
	if (us < MIN_TIMESTAMP || us >= END_TIMESTAMP)
		out_of_range(o, psprintf("day %d, " INT64_FORMAT " ns", day, nanos));
	return TimestampGetDatum((int64) us);
}

static Datum
view_numeric(BifangOut *o, BfView v)
{
	MemoryContext old = MemoryContextSwitchTo(o->bump->cxt);
	Datum result = bifang_numeric_bytes(v.ptr, v.len, o->from.scale);

	if (!numeric_fits_always(o, o->from.precision, o->from.scale))
		result = numeric_fit(o, result);
	MemoryContextSwitchTo(old);
	return result;
}

/* ---- runs of views ---- */

static void
views_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values,
		   const bool *isnull)
{
	const BfView *data = vec->data.view + first;
	ViewFn fn = o->view;

	for (int32 i = 0; i < n; i++)
		values[i] = isnull[i] ? (Datum) 0 : fn(o, data[i]);
}

/* The hot one: plain text and bytes into one block whose size is known beforehand. */
static inline __attribute__((always_inline)) void
copy_views(BifangOut *o, const BfView *data, int32 n, Datum *values, const bool *isnull, bool text)
{
	char *to;
	size_t total = 0;

	for (int32 i = 0; i < n; i++)
		total += data[i].len;
	bump_reserve(o, &o->row_bump, total + (size_t) n * (VARHDRSZ + MAXIMUM_ALIGNOF));
	to = o->row_bump.at;
	o->row_bump.left = 0; /* the block is spoken for; what `view` makes goes elsewhere */
	for (int32 i = 0; i < n; i++)
	{
		BfView v = data[i];

		if (isnull[i])
			continue;
		if (likely(v.len <= VARATT_SHORT_MAX - VARHDRSZ_SHORT) &&
			likely(copy_ascii(to + VARHDRSZ_SHORT, v.ptr, v.len) || !text))
		{
			SET_VARSIZE_SHORT(to, v.len + VARHDRSZ_SHORT);
			values[i] = PointerGetDatum(to);
			to += v.len + VARHDRSZ_SHORT;
			continue;
		}
		if (text && !plain_ascii(v.ptr, v.len) && GetDatabaseEncoding() != PG_UTF8)
		{
			values[i] = o->view(o, v); /* may be of another length: not in this block */
			continue;
		}
		if (text && !plain_ascii(v.ptr, v.len) &&
			!pg_verify_mbstr(PG_UTF8, (const char *) v.ptr, (int) v.len, true))
			bad_text(o, v);
		check_datum_length(o, v.len);
		to = (char *) TYPEALIGN(sizeof(int32), to);
		SET_VARSIZE(to, v.len + VARHDRSZ);
		memcpy(VARDATA(to), v.ptr, v.len);
		values[i] = PointerGetDatum(to);
		to += v.len + VARHDRSZ;
	}
}

static void
text_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values,
		  const bool *isnull)
{
	copy_views(o, vec->data.view + first, n, values, isnull, true);
}

static void
bytea_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values,
		   const bool *isnull)
{
	copy_views(o, vec->data.view + first, n, values, isnull, false);
}

static void
nothing_flat(BifangOut *o, const BfVector *vec, int32 first, int32 n, Datum *values,
			 const bool *isnull)
{
	(void) o;
	(void) vec;
	(void) first;
	(void) isnull;
	memset(values, 0, (size_t) n * sizeof *values);
}

/* ---- which conversion ---- */

typedef struct Choice
{
	FlatFn flat;
	ViewFn view;
} Choice;

static Choice
choose_number(BfStorage storage, BfKind kind, Oid typid, bool fits)
{
	bool i32 = storage == BF_STORE_I32;

	switch (typid)
	{
		case INT2OID: return (Choice){i32 ? i32_int2 : i64_int2, NULL};
		case INT4OID: return (Choice){i32 ? i32_int4 : i64_int4, NULL};
		case INT8OID:
			return (Choice){i32 ? i32_int8 : kind == BF_KIND_UINT64 ? u64_int8 : i64_int8, NULL};
		case FLOAT8OID:
			return (Choice){i32 ? i32_float8 : kind == BF_KIND_UINT64 ? NULL : i64_float8, NULL};
		case NUMERICOID:
			if (kind == BF_KIND_UINT64)
				return (Choice){fits ? u64_numeric : u64_numeric_fit, NULL};
			if (i32)
				return (Choice){fits ? i32_numeric : i32_numeric_fit, NULL};
			return (Choice){fits ? i64_numeric : i64_numeric_fit, NULL};
		default: return (Choice){NULL, NULL};
	}
}

static Choice
choose_decimal(BfStorage storage, Oid typid, bool fits)
{
	if (typid == NUMERICOID && storage == BF_STORE_VIEW)
		return (Choice){views_flat, view_numeric};
	if (typid == NUMERICOID && storage == BF_STORE_I64)
		return (Choice){fits ? d64_numeric : d64_numeric_fit, NULL};
	if (typid == NUMERICOID)
		return (Choice){fits ? d128_numeric : d128_numeric_fit, NULL};
	if (storage != BF_STORE_VIEW && (typid == INT2OID || typid == INT4OID || typid == INT8OID))
		return (Choice){decimal_int, NULL};
	return (Choice){NULL, NULL};
}

static Choice
choose_text(Oid typid, bool typmod)
{
	switch (typid)
	{
		case TEXTOID: return (Choice){text_flat, view_text};
		case VARCHAROID:
			return typmod ? (Choice){views_flat, view_text_typmod} : (Choice){text_flat, view_text};
		case BPCHAROID:
			return typmod ? (Choice){views_flat, view_text_typmod} : (Choice){text_flat, view_text};
		case NAMEOID: return (Choice){views_flat, view_name};
		case JSONOID:
		case JSONBOID: return (Choice){views_flat, view_input};
		case BYTEAOID: return (Choice){bytea_flat, view_bytea};
		default:
			if (get_typtype(typid) == TYPTYPE_ENUM)
				return (Choice){views_flat, view_input};
			return (Choice){NULL, NULL};
	}
}

static Choice
choose_datetime(BfKind kind, Oid typid)
{
	bool ns = kind == BF_KIND_TIMESTAMP_NS || kind == BF_KIND_TIMESTAMPTZ_NS;

	switch (kind)
	{
		case BF_KIND_DATE:
			return (Choice){typid == DATEOID		? date_date
							: typid == TIMESTAMPOID ? date_ts
													: NULL,
							NULL};
		case BF_KIND_TIME: return (Choice){typid == TIMEOID ? time_time : NULL, NULL};
		case BF_KIND_TIME_NS: return (Choice){typid == TIMEOID ? time_ns_time : NULL, NULL};
		case BF_KIND_TIMESTAMP:
		case BF_KIND_TIMESTAMP_NS:
		case BF_KIND_TIMESTAMPTZ:
		case BF_KIND_TIMESTAMPTZ_NS:
			if (ns && typid == INT8OID)
				return (Choice){i64_int8, NULL};
			if (typid == TIMESTAMPOID ||
				(typid == TIMESTAMPTZOID &&
				 (kind == BF_KIND_TIMESTAMPTZ || kind == BF_KIND_TIMESTAMPTZ_NS)))
				return (Choice){ns ? ts_ns_ts : ts_ts, NULL};
			return (Choice){NULL, NULL};
		default: return (Choice){NULL, NULL};
	}
}

static Choice
choose(BfType from, Oid typid, bool typmod, bool fits)
{
	const Choice none = {NULL, NULL};

	switch (from.kind)
	{
		case BF_KIND_NULL: return (Choice){nothing_flat, NULL};
		case BF_KIND_BOOL: return (Choice){typid == BOOLOID ? bool_bool : NULL, NULL};
		case BF_KIND_INT8:
		case BF_KIND_INT16:
		case BF_KIND_INT32:
		case BF_KIND_INT64:
		case BF_KIND_UINT8:
		case BF_KIND_UINT16:
		case BF_KIND_UINT32:
		case BF_KIND_UINT64: return choose_number(bf_type_storage(from), from.kind, typid, fits);
		case BF_KIND_FLOAT16:
		case BF_KIND_FLOAT32:
			return (Choice){typid == FLOAT4OID	 ? f32_float4
							: typid == FLOAT8OID ? f32_float8
												 : NULL,
							NULL};
		case BF_KIND_FLOAT64:
			return (Choice){typid == FLOAT8OID	 ? f64_float8
							: typid == FLOAT4OID ? f64_float4
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
		case BF_KIND_INT96:
			if (typid == TIMESTAMPOID || typid == TIMESTAMPTZOID)
				return (Choice){views_flat, view_int96};
			return typid == BYTEAOID ? (Choice){bytea_flat, view_bytea} : none;
		case BF_KIND_FIXED:
			if (typid == UUIDOID && from.length == UUID_LEN)
				return (Choice){views_flat, view_uuid};
			return choose_text(typid, typmod);
		case BF_KIND_STRING:
		case BF_KIND_ENUM:
		case BF_KIND_JSON:
		case BF_KIND_BINARY:
		case BF_KIND_BSON: return choose_text(typid, typmod);
		case BF_KIND_UUID:
			if (typid == UUIDOID)
				return (Choice){views_flat, view_uuid};
			return typid == BYTEAOID ? (Choice){bytea_flat, view_bytea} : none;
		case BF_KIND_INTERVAL:
			return typid == INTERVALOID ? (Choice){views_flat, view_interval} : none;
		case BF_KIND_STRUCT:
		case BF_KIND_LIST:
		case BF_KIND_MAP:
		case BF_KIND_VARIANT:
		case BF_KIND_COUNT: break;
	}
	return none;
}

bool
bifang_out_possible(BfType from, Oid typid)
{
	return choose(from, typid, false, true).flat != NULL;
}

/* Integer kinds by the decimal digits that their values may have. */
static int
integer_digits(BfType t)
{
	switch (t.kind)
	{
		case BF_KIND_INT8:
		case BF_KIND_UINT8: return 3;
		case BF_KIND_INT16:
		case BF_KIND_UINT16: return 5;
		case BF_KIND_INT32:
		case BF_KIND_UINT32: return 10;
		case BF_KIND_INT64: return 19;
		default: return 20;
	}
}

BifangOut *
bifang_out_new(MemoryContext cxt, BfType from, Oid typid, int32 typmod, const char *column,
			   const char *file)
{
	BifangOut *o;
	Choice c;
	bool fits;

	cxt = AllocSetContextCreate(cxt, "bifang column", ALLOCSET_SMALL_SIZES);
	o = MemoryContextAllocZero(cxt, sizeof *o);
	o->cxt = cxt;
	o->from = from;
	o->declared = typid;
	o->typmod = typmod;
	o->typid = getBaseTypeAndTypmod(typid, &o->typmod);
	o->column = MemoryContextStrdup(cxt, column);
	o->file = "";
	if (from.kind == BF_KIND_DECIMAL)
		fits = numeric_fits_always(o, from.precision, from.scale);
	else
		fits = numeric_fits_always(o, integer_digits(from), 0);
	c = choose(from, o->typid, o->typmod >= 0, fits);
	if (c.flat == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
						errmsg("column \"%s\" of type %s cannot be read as %s", column,
							   bifang_type_text(from), bifang_pg_type_text(typid, typmod))));
	o->flat = c.flat;
	o->view = c.view;
	bump_init(&o->row_bump, cxt);
	bump_init(&o->dict_bump, cxt);
	o->bump = &o->row_bump;
	if (c.view == view_input)
	{
		Oid fn;

		getTypeInputInfo(o->typid, &fn, &o->in_param);
		fmgr_info_cxt(fn, &o->in_fn, cxt);
	}
	o->has_domain = o->declared != o->typid && DomainHasConstraints(o->declared);
	return o;
}

void
bifang_out_free(BifangOut *o)
{
	if (o != NULL)
		MemoryContextDelete(o->cxt);
}

void
bifang_out_begin(BifangOut *o, const char *file)
{
	o->file = file;
	o->dict_of = NULL;
}

int32
bifang_out_fit(const BifangOut *o, const BfVector *v, int32 first, int32 n, int64 bytes)
{
	int64 total = 0;

	if (o->view == NULL || v->form != BF_VEC_FLAT || n <= 1)
		return n;
	for (int32 i = 0; i < n; i++)
		total += v->data.view[first + i].len;
	if (likely(total <= bytes))
		return n;
	total = v->data.view[first].len;
	for (int32 i = 1; i < n; i++)
	{
		total += v->data.view[first + i].len;
		if (total > bytes)
			return i;
	}
	return n;
}

/* Says whether any of the rows is NULL. */
static bool
fill_isnull(const BfVector *v, int32 first, int32 n, bool *isnull)
{
	bool any = false;

	if (v->validity == NULL)
	{
		memset(isnull, false, (size_t) n);
		return false;
	}
	for (int32 i = 0; i < n; i++)
	{
		int32 r = first + i;

		isnull[i] = ((v->validity[r >> 6] >> (r & 63)) & 1) == 0;
		any |= isnull[i];
	}
	return any;
}

/* Space for the dictionary's Datums, all unknown. */
static void
dict_begin(BifangOut *o, const BfVector *v)
{
	int32 n = v->dict->n;

	if (n > o->dict_cap)
	{
		o->dict_of = NULL;
		if (o->dict != NULL)
		{
			pfree(o->dict);
			pfree(o->dict_done);
			o->dict = NULL;
		}
		o->dict = MemoryContextAllocHuge(o->cxt, (size_t) n * sizeof *o->dict);
		o->dict_done = MemoryContextAllocHuge(o->cxt, (size_t) n);
		o->dict_cap = n;
	}
	memset(o->dict_done, false, (size_t) n);
	bump_reset(&o->dict_bump);
	o->dict_epoch = v->dict_epoch;
	o->dict_of = v->dict;
}

static void
convert_dict(BifangOut *o, const BfVector *v, int32 first, int32 n, Datum *values,
			 const bool *isnull)
{
	const uint32 *codes = v->codes + first;
	static const bool not_null[1] = {false};

	if (o->dict_of != v->dict || o->dict_epoch != v->dict_epoch)
		dict_begin(o, v);
	o->bump = &o->dict_bump;
	for (int32 i = 0; i < n; i++)
	{
		uint32 code = codes[i];

		if (unlikely(!o->dict_done[code]))
		{
			if (isnull[i])
				continue;
			if (o->view != NULL)
				o->dict[code] = o->view(o, v->dict->data.view[code]);
			else
				o->flat(o, v->dict, (int32) code, 1, &o->dict[code], not_null);
			o->dict_done[code] = true;
		}
		values[i] = o->dict[code];
	}
	o->bump = &o->row_bump;
}

static void
check_domain(BifangOut *o, int32 n, Datum *values, const bool *isnull)
{
	ErrorContextCallback callback = {error_context_stack, value_context, o};

	error_context_stack = &callback;
	for (int32 i = 0; i < n; i++)
		domain_check(values[i], isnull[i], o->declared, &o->domain, o->cxt);
	error_context_stack = callback.previous;
}

bool
bifang_out_convert(BifangOut *o, const BfVector *v, int32 first, int32 n, Datum *values,
				   bool *isnull)
{
	bool any_null = false;

	bump_reset(&o->row_bump);
	switch (v->form)
	{
		case BF_VEC_FLAT:
			any_null = fill_isnull(v, first, n, isnull);
			o->flat(o, v, first, n, values, isnull);
			break;
		case BF_VEC_DICT:
			any_null = fill_isnull(v, first, n, isnull);
			convert_dict(o, v, first, n, values, isnull);
			break;
		case BF_VEC_CONST:
			any_null = fill_isnull(v, 0, 1, isnull);
			memset(isnull, any_null, (size_t) n);
			if (!any_null)
				o->flat(o, v, 0, 1, values, isnull);
			for (int32 i = 1; i < n; i++)
				values[i] = values[0];
			break;
	}
	if (unlikely(o->has_domain))
		check_domain(o, n, values, isnull);
	return any_null;
}
