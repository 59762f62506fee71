/*
 * pg/convert/in.c: see in.h.
 */
#include "pg/convert/in.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "pg/convert/typemap.h"
#include "pg/server/error.h"
#include "pg/server/version.h"

#define DAYS_TO_UNIX (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define USECS_TO_UNIX ((int64) DAYS_TO_UNIX * USECS_PER_DAY)

/* numeric -------------------------------------------------------------------------------------
 * The stored form, as numeric_out.h describes it; fixed since 9.1 by pg_upgrade. */

#define NUM_SPECIAL 0xC000
#define NUM_SHORT 0x8000
#define NUM_NEGATIVE 0x4000
#define NUM_SHORT_NEGATIVE 0x2000
#define NUM_SHORT_WEIGHT_SIGN 0x0040
#define NUM_SHORT_WEIGHT_MASK 0x003F
#define NUM_BASE_DIGITS 4
#define DECIMAL_DIGITS_MAX 38

typedef struct NumericParts
{
	bool negative;
	int weight; /* of the first digit, in powers of 10000 */
	int n_digits;
	const char *digits; /* int16 each, not aligned */
} NumericParts;

/* False for NaN and the infinities. */
static bool
numeric_parts(const char *data, int size, NumericParts *out)
{
	uint16 header;
	int skip = sizeof header;

	memcpy(&header, data, sizeof header);
	if ((header & NUM_SPECIAL) == NUM_SPECIAL)
		return false;
	if ((header & NUM_SHORT) != 0)
	{
		out->negative = (header & NUM_SHORT_NEGATIVE) != 0;
		out->weight = header & NUM_SHORT_WEIGHT_MASK;
		if ((header & NUM_SHORT_WEIGHT_SIGN) != 0)
			out->weight |= ~NUM_SHORT_WEIGHT_MASK;
	}
	else
	{
		int16 weight;

		memcpy(&weight, data + skip, sizeof weight);
		skip += sizeof weight;
		out->negative = (header & NUM_NEGATIVE) != 0;
		out->weight = weight;
	}
	out->digits = data + skip;
	out->n_digits = (size - skip) / (int) sizeof(int16);
	return true;
}

/* The unscaled value of a numeric at `scale`. False: it is not exact there, not finite, or needs
 * more than `precision` (at most 38) digits; *why says which. */
static bool
numeric_unscaled(Datum numeric, int precision, int scale, bf_i128 *out, const char **why)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(numeric);
	const bf_i128 limit = bf_power_of_ten(precision);
	NumericParts parts;
	bf_i128 sum = 0;
	int exponent = 0; /* of ten, of the last digit taken, at the wanted scale */

	*why = "has no NaN and no infinity";
	if (!numeric_parts(VARDATA_ANY(v), (int) VARSIZE_ANY_EXHDR(v), &parts))
		return false;
	for (int i = 0; i < parts.n_digits; i++)
	{
		static const int16 powers[] = {1, 10, 100, 1000, 10000};
		int16 digit;
		int16 upto;
		int below;

		memcpy(&digit, parts.digits + (size_t) i * sizeof digit, sizeof digit);
		Assert(digit >= 0 && digit < 10000);
		exponent = (parts.weight - i) * NUM_BASE_DIGITS + scale;
		/* How many of the four decimals lie below the scale: those must be zero. */
		below = exponent >= 0 ? 0 : Min(-exponent, NUM_BASE_DIGITS);
		*why = "has fewer digits after the point";
		if (digit % powers[below] != 0)
			return false;
		*why = "has fewer digits";
		upto = powers[NUM_BASE_DIGITS - below];
		if (sum > (limit - 1) / upto)
			return false;
		sum = sum * upto + digit / powers[below];
		exponent += below;
	}
	/* A first digit of 1 with so many zeroes behind is too large whatever follows. */
	if (sum != 0 && exponent > DECIMAL_DIGITS_MAX)
		return false;
	for (; sum != 0 && exponent > 0; exponent--)
	{
		if (sum >= limit)
			return false;
		sum *= 10;
	}
	if (sum >= limit)
		return false;
	Assert(sum >= 0 && sum < limit);
	*out = parts.negative ? -sum : sum;
	if ((Pointer) v != DatumGetPointer(numeric))
		pfree(v);
	return true;
}

/* Errors -------------------------------------------------------------------------------------- */

BIFANG_NORETURN static void
refuse(const BifangColumnIn *c, int sqlstate, const char *value, const char *why)
{
	ereport(ERROR, (errcode(sqlstate), errmsg("column \"%s\" cannot store %s: %s %s", c->name,
											  value, bifang_type_text(c->field->type), why)));
}

/* Stores -------------------------------------------------------------------------------------- */

static void
put_integer(const BifangColumnIn *c, BfVector *v, int32 row, int64 value)
{
	if (v->storage == BF_STORE_I64)
		v->data.i64[row] = value;
	else if (value == (int32) value)
		v->data.i32[row] = (int32) value;
	else
		refuse(c, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, psprintf(INT64_FORMAT, value),
			   "is smaller than that");
}

static void
store_int2(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	put_integer(c, v, row, DatumGetInt16(d));
}

static void
store_int4(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	put_integer(c, v, row, DatumGetInt32(d));
}

static void
store_int8(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	put_integer(c, v, row, DatumGetInt64(d));
}

static void
store_bool(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	Assert(v->storage == BF_STORE_U8);
	v->data.u8[row] = DatumGetBool(d) ? 1 : 0;
}

static void
store_float4(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	if (v->storage == BF_STORE_F64)
		v->data.f64[row] = DatumGetFloat4(d);
	else
		v->data.f32[row] = DatumGetFloat4(d);
}

static void
store_float8(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	Assert(v->storage == BF_STORE_F64);
	v->data.f64[row] = DatumGetFloat8(d);
}

static void
store_numeric(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	const BfType t = c->field->type;
	const char *why;
	bf_i128 unscaled;

	Assert(t.precision > 0 && t.precision <= DECIMAL_DIGITS_MAX);
	if (!numeric_unscaled(d, t.precision, t.scale, &unscaled, &why))
		refuse(c, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
			   DatumGetCString(DirectFunctionCall1(numeric_out, d)), why);
	if (v->storage == BF_STORE_I64)
		v->data.i64[row] = (int64) unscaled;
	else
		v->data.i128[row] = unscaled;
}

static void
store_date(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	DateADT date = DatumGetDateADT(d);

	if (DATE_NOT_FINITE(date))
		refuse(c, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
			   DATE_IS_NOBEGIN(date) ? "-infinity" : "infinity", "is always finite");
	if (v->storage == BF_STORE_I64)
		v->data.i64[row] = ((int64) date + DAYS_TO_UNIX) * USECS_PER_DAY;
	else
		v->data.i32[row] = date + DAYS_TO_UNIX;
}

static void
store_time(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	TimeADT t = DatumGetTimeADT(d);

	if (t >= USECS_PER_DAY)
		refuse(c, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, "24:00:00", "ends before it");
	v->data.i64[row] = c->field->type.kind == BF_KIND_TIME_NS ? t * 1000 : t;
}

static void
store_timestamp(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	const BfKind kind = c->field->type.kind;
	Timestamp t = DatumGetTimestamp(d);
	int64 unix_time;

	if (TIMESTAMP_NOT_FINITE(t))
		refuse(c, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
			   TIMESTAMP_IS_NOBEGIN(t) ? "-infinity" : "infinity", "is always finite");
	if (__builtin_add_overflow(t, USECS_TO_UNIX, &unix_time) ||
		((kind == BF_KIND_TIMESTAMP_NS || kind == BF_KIND_TIMESTAMPTZ_NS) &&
		 __builtin_mul_overflow(unix_time, (int64) 1000, &unix_time)))
		refuse(c, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
			   DatumGetCString(DirectFunctionCall1(timestamp_out, d)), "ends before it");
	Assert(v->storage == BF_STORE_I64);
	v->data.i64[row] = unix_time;
}

static void
put_bytes(BfVector *v, int32 row, const void *p, size_t n, BfArena *bytes)
{
	BfError err = {0};
	uint8_t *copy = bf_arena_alloc(bytes, n);

	if (copy == NULL)
	{
		(void) bf_arena_fail(bytes, n, &err);
		bifang_report(&err);
	}
	memcpy(copy, p, n);
	v->data.view[row] = (BfView){copy, (uint32_t) n};
}

/* Text is UTF-8 in the lake. */
static void
put_text(BfVector *v, int32 row, const char *p, int n, BfArena *bytes)
{
	char *utf8 = GetDatabaseEncoding() == PG_UTF8 ? (char *) p : pg_server_to_any(p, n, PG_UTF8);

	put_bytes(v, row, utf8, utf8 == p ? (size_t) n : strlen(utf8), bytes);
}

static void
store_text(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	struct varlena *p = PG_DETOAST_DATUM_PACKED(d);

	put_text(v, row, VARDATA_ANY(p), (int) VARSIZE_ANY_EXHDR(p), bytes);
	if ((Pointer) p != DatumGetPointer(d))
		pfree(p);
}

static void
store_bytea(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	struct varlena *p = PG_DETOAST_DATUM_PACKED(d);
	const BfType t = c->field->type;
	int n = (int) VARSIZE_ANY_EXHDR(p);

	if ((t.kind == BF_KIND_FIXED || t.kind == BF_KIND_UUID) && n != t.length)
		refuse(c, ERRCODE_STRING_DATA_LENGTH_MISMATCH, psprintf("%d bytes", n),
			   "has another length");
	put_bytes(v, row, VARDATA_ANY(p), (size_t) n, bytes);
	if ((Pointer) p != DatumGetPointer(d))
		pfree(p);
}

static void
store_uuid(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	put_bytes(v, row, DatumGetUUIDP(d)->data, UUID_LEN, bytes);
}

static void
store_name(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	const char *name = NameStr(*DatumGetName(d));

	put_text(v, row, name, (int) strlen(name), bytes);
}

static void
store_output(const BifangColumnIn *c, BfVector *v, int32 row, Datum d, BfArena *bytes)
{
	char *text = OutputFunctionCall((FmgrInfo *) &c->out, d);

	put_text(v, row, text, (int) strlen(text), bytes);
	pfree(text);
}

/* Choice -------------------------------------------------------------------------------------- */

static const struct
{
	Oid typid;
	BifangStore store;
} stores[] = {
	{BOOLOID, store_bool},
	{INT2OID, store_int2},
	{INT4OID, store_int4},
	{INT8OID, store_int8},
	{FLOAT4OID, store_float4},
	{FLOAT8OID, store_float8},
	{NUMERICOID, store_numeric},
	{DATEOID, store_date},
	{TIMEOID, store_time},
	{TIMESTAMPOID, store_timestamp},
	{TIMESTAMPTZOID, store_timestamp},
	{TEXTOID, store_text},
	{VARCHAROID, store_text},
	{BPCHAROID, store_text},
	{JSONOID, store_text},
	{BYTEAOID, store_bytea},
	{UUIDOID, store_uuid},
	{NAMEOID, store_name},
};

/* Integers and decimals, whose values are checked one by one, and what shares its storage. */
static bool
storage_fits(BfStorage have, BifangStore store)
{
	if (store == store_bool)
		return have == BF_STORE_U8;
	if (store == store_int2 || store == store_int4 || store == store_int8 || store == store_date)
		return have == BF_STORE_I32 || have == BF_STORE_I64;
	if (store == store_float4)
		return have == BF_STORE_F32 || have == BF_STORE_F64;
	if (store == store_float8)
		return have == BF_STORE_F64;
	if (store == store_numeric)
		return have == BF_STORE_I64 || have == BF_STORE_I128;
	if (store == store_time || store == store_timestamp)
		return have == BF_STORE_I64;
	return have == BF_STORE_VIEW;
}

void
bifang_in_prepare(BifangColumnIn *c, const BfField *field, Form_pg_attribute att)
{
	int32 typmod = att->atttypmod;
	Oid typid = getBaseTypeAndTypmod(att->atttypid, &typmod);

	c->attnum = att->attnum;
	c->field = field;
	c->name = pstrdup(NameStr(att->attname));
	c->store = NULL;
	for (int i = 0; i < (int) lengthof(stores); i++)
		if (stores[i].typid == typid)
			c->store = stores[i].store;
	if (c->store == NULL && bifang_type_can_write(field->type, att->atttypid, att->atttypmod))
	{
		Oid out;
		bool varlena;

		getTypeOutputInfo(typid, &out, &varlena);
		fmgr_info(out, &c->out);
		c->store = store_output;
	}
	if (c->store == NULL || !bifang_type_can_write(field->type, att->atttypid, att->atttypmod) ||
		!storage_fits(bf_type_storage(field->type), c->store))
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
						errmsg("column \"%s\" of type %s cannot be written to the lake's type %s",
							   c->name, bifang_pg_type_text(att->atttypid, att->atttypmod),
							   bifang_type_text(field->type))));
}
