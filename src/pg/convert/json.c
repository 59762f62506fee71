/*
 * pg/convert/json.c: nested values as JSON.
 *
 *   boolean, integers, decimals, finite floats    as they are; jsonb keeps every digit
 *   NaN, Infinity, -Infinity                      strings
 *   text                                          strings, checked as columns of text are
 *   binary, fixed, bson, geometry                 strings, `\x` and hexadecimal digits
 *   uuid, date, time, timestamp, interval         strings, ISO 8601; nanoseconds rounded down to
 *                                                 microseconds; timestamptz in UTC with +00:00
 *   variant                                       the JSON that it is
 *   list                                          array
 *   struct                                        object of all fields in their order
 *   map                                           object, keys as text, pairs in the file's order;
 *                                                 a NULL key is an error
 *
 * Of a map's equal keys json shows all, jsonb keeps the last.
 */
#include "pg/convert/internal.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "pg/convert/numeric_out.h"
#include "pg/server/encoding.h"

static void
put_string(StringInfo s, const char *text)
{
	escape_json(s, text);
}

static void
put_text(BifangOut *o, BfView v, StringInfo s)
{
	BfView t = bifang_checked_text(o, v);
	char *copy;

	if (o->refused)
	{
		/* A NULL inside, not of the whole value. */
		o->refused = false;
		appendStringInfoString(s, "null");
		return;
	}
	copy = pnstrdup((const char *) t.ptr, t.len);
	put_string(s, copy);
	pfree(copy);
}

/* A variant's value is JSON already. */
static void
put_variant(BifangOut *o, BfView v, StringInfo s)
{
	BfView t = bifang_checked_json(o, v);

	if (o->refused)
		appendStringInfoString(s, "null");
	else
		appendBinaryStringInfo(s, (const char *) t.ptr, (int) t.len);
	o->refused = false;
}

static void
put_hex(BfView v, StringInfo s)
{
	appendStringInfoString(s, "\"\\\\x");
	enlargeStringInfo(s, (int) Min((uint64) v.len * 2 + 2, (uint64) PG_INT32_MAX));
	s->len += (int) hex_encode((const char *) v.ptr, v.len, s->data + s->len);
	appendStringInfoChar(s, '"');
}

static void
put_double(double d, bool single, StringInfo s)
{
	char buf[DOUBLE_SHORTEST_DECIMAL_LEN];

	if (isnan(d))
		appendStringInfoString(s, "\"NaN\"");
	else if (isinf(d))
		appendStringInfoString(s, d < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else
	{
		if (single)
			float_to_shortest_decimal_buf((float) d, buf);
		else
			double_to_shortest_decimal_buf(d, buf);
		appendStringInfoString(s, buf);
	}
}

static void
put_decimal(bf_i128 n, int scale, StringInfo s)
{
	char num[BIFANG_NUMERIC_BYTES];
	char *text;

	bifang_numeric_i128(num, n, scale);
	text = DatumGetCString(DirectFunctionCall1(numeric_out, PointerGetDatum(num)));
	appendStringInfoString(s, text);
	pfree(text);
}

/* What is out of PostgreSQL's range is as in a column of the type: an error, or NULL. */
static void
put_date_time(BifangOut *o, Oid typid, bf_i128 n, bf_i128 min, bf_i128 max, StringInfo s)
{
	static const int utc = 0;
	char buf[MAXDATELEN + 1];
	Datum value;

	if (n < min || n > max)
	{
		bifang_out_of_range(o, psprintf("%lld", (long long) n));
		o->refused = false;
		appendStringInfoString(s, "null");
		return;
	}
	if (typid == DATEOID)
		value = DateADTGetDatum((int32) n - BIFANG_UNIX_DAYS);
	else
		value = Int64GetDatum((int64) n - (typid == TIMEOID ? 0 : BIFANG_UNIX_USECS));
	JsonEncodeDateTime(buf, value, typid, typid == TIMESTAMPTZOID ? &utc : NULL);
	appendStringInfo(s, "\"%s\"", buf);
}

static void
put_timestamp(BifangOut *o, BfKind kind, int64 n, StringInfo s)
{
	bool ns = kind == BF_KIND_TIMESTAMP_NS || kind == BF_KIND_TIMESTAMPTZ_NS;
	bool zone = kind == BF_KIND_TIMESTAMPTZ || kind == BF_KIND_TIMESTAMPTZ_NS;

	if (ns)
		n = n / 1000 - (n % 1000 < 0);
	put_date_time(o, zone ? TIMESTAMPTZOID : TIMESTAMPOID, n, MIN_TIMESTAMP + BIFANG_UNIX_USECS,
				  (bf_i128) END_TIMESTAMP + BIFANG_UNIX_USECS - 1, s);
}

/* Kinds that have no form of their own: through the type that a column would have. */
static void
put_other(BifangOut *o, const BfField *f, BfView v, StringInfo s)
{
	uint32 part[3];
	char *text;

	switch (f->type.kind)
	{
		case BF_KIND_UUID:
			if (v.len != UUID_LEN)
				break;
			text = DatumGetCString(DirectFunctionCall1(uuid_out, PointerGetDatum(v.ptr)));
			put_string(s, text);
			return;
		case BF_KIND_INTERVAL:
			if (v.len != 12)
				break;
			memcpy(part, v.ptr, sizeof part);
			appendStringInfo(s, "\"P%uM%uDT%u.%03uS\"", part[0], part[1], part[2] / 1000,
							 part[2] % 1000);
			return;
		case BF_KIND_INT96:
			if (v.len != 12)
				break;
			{
				bf_i128 ns = (int64) bf_load64le(v.ptr);
				bf_i128 days = (int32) bf_load32le(v.ptr + 8) - (bf_i128) UNIX_EPOCH_JDATE;

				ns += days * USECS_PER_DAY * 1000;
				put_date_time(o, TIMESTAMPOID, ns / 1000 - (ns % 1000 < 0),
							  MIN_TIMESTAMP + BIFANG_UNIX_USECS,
							  (bf_i128) END_TIMESTAMP + BIFANG_UNIX_USECS - 1, s);
			}
			return;
		case BF_KIND_DECIMAL:
			text = DatumGetCString(DirectFunctionCall1(
				numeric_out, bifang_numeric_bytes(v.ptr, v.len, f->type.scale)));
			appendStringInfoString(s, text);
			return;
		default: break;
	}
	put_hex(v, s);
}

static void
put_view(BifangOut *o, const BfField *f, BfView v, StringInfo s)
{
	switch (f->type.kind)
	{
		case BF_KIND_VARIANT: put_variant(o, v, s); break;
		case BF_KIND_STRING:
		case BF_KIND_ENUM:
		case BF_KIND_JSON: put_text(o, v, s); break;
		default: put_other(o, f, v, s); break;
	}
}

static void
put_leaf(BifangOut *o, const BfField *f, const BfVector *v, const BfValue *x, StringInfo s)
{
	switch (v->storage)
	{
		case BF_STORE_NONE: appendStringInfoString(s, "null"); break;
		case BF_STORE_U8: appendStringInfoString(s, x->v.u8 != 0 ? "true" : "false"); break;
		case BF_STORE_F32: put_double((double) x->v.f32, true, s); break;
		case BF_STORE_F64: put_double(x->v.f64, false, s); break;
		case BF_STORE_I128: put_decimal(x->v.i128, f->type.scale, s); break;
		case BF_STORE_VIEW: put_view(o, f, x->v.view, s); break;
		case BF_STORE_I32:
			if (f->type.kind == BF_KIND_DATE)
				put_date_time(o, DATEOID, x->v.i32, -UNIX_EPOCH_JDATE,
							  DATE_END_JULIAN - UNIX_EPOCH_JDATE - 1, s);
			else
				appendStringInfo(s, "%d", x->v.i32);
			break;
		case BF_STORE_I64:
			switch (f->type.kind)
			{
				case BF_KIND_DECIMAL: put_decimal(x->v.i64, f->type.scale, s); break;
				case BF_KIND_UINT64: appendStringInfo(s, UINT64_FORMAT, (uint64) x->v.i64); break;
				case BF_KIND_TIME: put_date_time(o, TIMEOID, x->v.i64, 0, USECS_PER_DAY, s); break;
				case BF_KIND_TIME_NS:
					put_date_time(o, TIMEOID, x->v.i64 / 1000 - (x->v.i64 % 1000 < 0), 0,
								  USECS_PER_DAY, s);
					break;
				case BF_KIND_TIMESTAMP:
				case BF_KIND_TIMESTAMPTZ:
				case BF_KIND_TIMESTAMP_NS:
				case BF_KIND_TIMESTAMPTZ_NS: put_timestamp(o, f->type.kind, x->v.i64, s); break;
				default: appendStringInfo(s, INT64_FORMAT, x->v.i64); break;
			}
			break;
		case BF_STORE_NESTED:
		case BF_STORE_COUNT: break;
	}
}

static void
put_key(BifangOut *o, const BfField *f, const BfVector *v, int32 row, StringInfo s)
{
	BifangTextPolicy policy = o->invalid_text;
	int start = s->len;
	char *text;

	/* A key can't become NULL. */
	if (policy == BIFANG_TEXT_NULL)
		o->invalid_text = BIFANG_TEXT_REPLACE;
	bifang_json_value(o, f, v, row, s);
	o->invalid_text = policy;
	if (strcmp(s->data + start, "null") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a map in column \"%s\" of \"%s\" has a NULL key", o->column, o->file)));
	if (s->data[start] == '"')
		return;
	text = pstrdup(s->data + start);
	s->len = start;
	s->data[start] = '\0';
	put_string(s, text);
	pfree(text);
}

void
bifang_json_value(BifangOut *o, const BfField *f, const BfVector *v, int32 row, StringInfo s)
{
	BfValue x;
	int32 first;
	int32 end;

	check_stack_depth();
	if (!bf_vector_get(v, row, &x))
	{
		appendStringInfoString(s, "null");
		return;
	}
	if (v->storage != BF_STORE_NESTED)
	{
		put_leaf(o, f, v, &x, s);
		return;
	}
	if (f->type.kind == BF_KIND_STRUCT)
	{
		appendStringInfoChar(s, '{');
		for (int32 i = 0; i < f->n_children; i++)
		{
			if (i > 0)
				appendStringInfoChar(s, ',');
			put_string(s, bifang_shown(f->children[i].name));
			appendStringInfoChar(s, ':');
			bifang_json_value(o, &f->children[i], &v->children[i],
							  v->form == BF_VEC_CONST ? 0 : row, s);
		}
		appendStringInfoChar(s, '}');
		return;
	}
	bf_vector_items(v, row, &first, &end);
	appendStringInfoChar(s, f->type.kind == BF_KIND_MAP ? '{' : '[');
	for (int32 i = first; i < end; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i > first)
			appendStringInfoChar(s, ',');
		if (f->type.kind == BF_KIND_MAP)
		{
			put_key(o, &f->children[0], &v->children[0], i, s);
			appendStringInfoChar(s, ':');
		}
		bifang_json_value(o, &f->children[f->n_children - 1], &v->children[f->n_children - 1], i,
						  s);
	}
	appendStringInfoChar(s, f->type.kind == BF_KIND_MAP ? '}' : ']');
}
