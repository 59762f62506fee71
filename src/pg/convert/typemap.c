/*
 * pg/convert/typemap.c: column types; see typemap.h.
 */
#include "pg/convert/typemap.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "vec/batch.h"

#define DECIMAL_PRECISION_MAX 38   /* Iceberg */
#define NUMERIC_PRECISION_MAX 1000 /* PostgreSQL's typmod */

/* What IMPORT declares. DECIMAL and UINT64 get a typmod. */
static const struct
{
	BfKind kind;
	Oid typid;
} default_types[] = {
	{BF_KIND_NULL, TEXTOID},
	{BF_KIND_BOOL, BOOLOID},
	{BF_KIND_INT8, INT2OID},
	{BF_KIND_INT16, INT2OID},
	{BF_KIND_UINT8, INT2OID},
	{BF_KIND_INT32, INT4OID},
	{BF_KIND_UINT16, INT4OID},
	{BF_KIND_INT64, INT8OID},
	{BF_KIND_UINT32, INT8OID},
	{BF_KIND_UINT64, NUMERICOID},
	{BF_KIND_FLOAT16, FLOAT4OID},
	{BF_KIND_FLOAT32, FLOAT4OID},
	{BF_KIND_FLOAT64, FLOAT8OID},
	{BF_KIND_DECIMAL, NUMERICOID},
	{BF_KIND_DATE, DATEOID},
	{BF_KIND_TIME, TIMEOID},
	{BF_KIND_TIME_NS, TIMEOID},
	{BF_KIND_TIMESTAMP, TIMESTAMPOID},
	{BF_KIND_TIMESTAMP_NS, TIMESTAMPOID},
	{BF_KIND_TIMESTAMPTZ, TIMESTAMPTZOID},
	{BF_KIND_TIMESTAMPTZ_NS, TIMESTAMPTZOID},
	{BF_KIND_INT96, TIMESTAMPOID},
	{BF_KIND_STRING, TEXTOID},
	{BF_KIND_ENUM, TEXTOID},
	{BF_KIND_JSON, TEXTOID},
	{BF_KIND_BINARY, BYTEAOID},
	{BF_KIND_BSON, BYTEAOID},
	{BF_KIND_FIXED, BYTEAOID},
	{BF_KIND_UUID, UUIDOID},
	{BF_KIND_INTERVAL, INTERVALOID},
	{BF_KIND_GEOMETRY, BYTEAOID},
	{BF_KIND_STRUCT, JSONBOID},
	{BF_KIND_MAP, JSONBOID},
	{BF_KIND_LIST, JSONBOID},
	{BF_KIND_VARIANT, JSONBOID},
};

/* What a declared column is stored as. NUMERIC needs its typmod. */
static const struct
{
	Oid typid;
	BfKind kind;
} stored_types[] = {
	{BOOLOID, BF_KIND_BOOL},
	{INT2OID, BF_KIND_INT32},
	{INT4OID, BF_KIND_INT32},
	{INT8OID, BF_KIND_INT64},
	{FLOAT4OID, BF_KIND_FLOAT32},
	{FLOAT8OID, BF_KIND_FLOAT64},
	{NUMERICOID, BF_KIND_DECIMAL},
	{DATEOID, BF_KIND_DATE},
	{TIMEOID, BF_KIND_TIME},
	{TIMESTAMPOID, BF_KIND_TIMESTAMP},
	{TIMESTAMPTZOID, BF_KIND_TIMESTAMPTZ},
	{TEXTOID, BF_KIND_STRING},
	{VARCHAROID, BF_KIND_STRING},
	{BPCHAROID, BF_KIND_STRING},
	{NAMEOID, BF_KIND_STRING},
	{JSONOID, BF_KIND_STRING},
	{JSONBOID, BF_KIND_STRING},
	{BYTEAOID, BF_KIND_BINARY},
	{UUIDOID, BF_KIND_UUID},
};

static int32
numeric_typmod(int32 precision, int32 scale)
{
	return ((precision << 16) | (scale & 0x7ff)) + VARHDRSZ;
}

bool
bifang_type_default(const BfField *field, Oid *typid, int32 *typmod)
{
	const BfType t = field->type;

	*typmod = -1;
	if (t.kind == BF_KIND_LIST && field->n_children == 1 &&
		bf_type_storage(field->children[0].type) != BF_STORE_NESTED &&
		bifang_type_default(&field->children[0], typid, typmod))
	{
		*typid = get_array_type(*typid);
		return OidIsValid(*typid);
	}
	for (int i = 0; i < (int) lengthof(default_types); i++)
	{
		if (default_types[i].kind != t.kind)
			continue;
		*typid = default_types[i].typid;
		if (t.kind == BF_KIND_UINT64)
			*typmod = numeric_typmod(20, 0);
		else if (t.kind == BF_KIND_DECIMAL && t.precision >= 1 &&
				 t.precision <= NUMERIC_PRECISION_MAX && t.scale >= 0 && t.scale <= t.precision)
			*typmod = numeric_typmod(t.precision, t.scale);
		return true;
	}
	return false;
}

bool
bifang_type_for_pg(Oid typid, int32 typmod, BfType *out, const char **why)
{
	const char *dummy;

	if (why == NULL)
		why = &dummy;
	memset(out, 0, sizeof *out);
	typid = getBaseTypeAndTypmod(typid, &typmod);
	if (typid == NUMERICOID)
	{
		int32 precision = ((typmod - VARHDRSZ) >> 16) & 0xffff;
		int32 scale = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;

		*why = "numeric needs a precision of at most 38 and a scale between 0 and the precision, "
			   "as in "
			   "numeric(12,2)";
		if (typmod < VARHDRSZ || precision > DECIMAL_PRECISION_MAX || scale < 0 ||
			scale > precision)
			return false;
		*out = (BfType){.kind = BF_KIND_DECIMAL, .precision = precision, .scale = scale};
		return true;
	}
	for (int i = 0; i < (int) lengthof(stored_types); i++)
		if (stored_types[i].typid == typid)
		{
			out->kind = stored_types[i].kind;
			if (typid == UUIDOID)
				out->length = 16;
			return true;
		}
	if (get_typtype(typid) == TYPTYPE_ENUM)
	{
		out->kind = BF_KIND_STRING;
		return true;
	}
	*why = "the type has no counterpart in the lake";
	return false;
}

static bool
is_integer(BfKind k)
{
	return k == BF_KIND_INT32 || k == BF_KIND_INT64;
}

/* Values are checked one by one where the declared type is wider than the stored one. */
bool
bifang_type_can_write(BfType t, Oid typid, int32 typmod)
{
	BfType from;

	if (getBaseTypeAndTypmod(typid, &typmod) == NUMERICOID && t.kind == BF_KIND_DECIMAL)
		return true;
	if (!bifang_type_for_pg(typid, typmod, &from, NULL))
		return false;
	return (is_integer(from.kind) && is_integer(t.kind)) || bf_type_promotable(from, t);
}

char *
bifang_type_text(BfType t)
{
	char buf[64];

	bf_type_name(t, buf, sizeof buf);
	return pstrdup(buf);
}

char *
bifang_pg_type_text(Oid typid, int32 typmod)
{
	return format_type_extended(typid, typmod, FORMAT_TYPE_TYPEMOD_GIVEN);
}
