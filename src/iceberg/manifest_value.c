/*
 * Partition values: from the Avro type that a manifest has to the type that spec and schema ask
 * for.
 *
 * A manifest keeps the type of the day it was written: the column may have been promoted since (int
 * to long, float to double, more decimal digits, date to timestamp), and writers differ on day
 * (int or date), uuid (fixed or text) and decimal (fixed or bytes).
 */
#include "iceberg/internal.h"

#define DAY_US INT64_C(86400000000)

static bool
logical_is(const BfAvroSchema *s, const char *name)
{
	return s->logical_type != NULL && strcmp(s->logical_type, name) == 0;
}

/* The type that the Avro schema itself tells, for a column that no schema has any more. */
static BfType
avro_type(const BfAvroSchema *s)
{
	switch (s->type)
	{
		case BF_AVRO_BOOLEAN: return BF_TYPE(BOOL);
		case BF_AVRO_INT: return logical_is(s, "date") ? BF_TYPE(DATE) : BF_TYPE(INT32);
		case BF_AVRO_LONG:
			if (logical_is(s, "time-micros"))
				return BF_TYPE(TIME);
			if (logical_is(s, "timestamp-micros"))
				return s->adjust_to_utc ? BF_TYPE(TIMESTAMPTZ) : BF_TYPE(TIMESTAMP);
			return BF_TYPE(INT64);
		case BF_AVRO_FLOAT: return BF_TYPE(FLOAT32);
		case BF_AVRO_DOUBLE: return BF_TYPE(FLOAT64);
		case BF_AVRO_STRING: return BF_TYPE(STRING);
		case BF_AVRO_BYTES:
		case BF_AVRO_FIXED:
			if (logical_is(s, "decimal") && s->precision >= 1 && s->precision <= 38)
				return (BfType){
					.kind = BF_KIND_DECIMAL, .precision = s->precision, .scale = s->scale};
			return BF_TYPE(BINARY);
		default: return BF_TYPE(NULL);
	}
}

static BfStatus
mismatch(const BfAvroValue *v, BfType want, const char *name, BfError *err)
{
	char text[64];

	bf_type_name(want, text, sizeof text);
	bf_error(err, BF_ERR_CORRUPT, "partition value of \"%s\" has Avro type %d, expected %s", name,
			 (int) v->schema->type, text);
	return err->code;
}

static BfStatus
integer_value(const BfAvroValue *v, BfType want, const char *name, int64_t *out, BfError *err)
{
	if (v->schema->type != BF_AVRO_INT && v->schema->type != BF_AVRO_LONG)
		return mismatch(v, want, name, err);
	*out = v->u.i;
	return BF_OK;
}

/* Big-endian two's complement of any length, as long as the value fits. */
static BfStatus
decimal_value(const BfAvroValue *v, BfType want, const char *name, bf_i128 *out, BfError *err)
{
	if (v->schema->type != BF_AVRO_BYTES && v->schema->type != BF_AVRO_FIXED)
		return mismatch(v, want, name, err);
	if (logical_is(v->schema, "decimal") && v->schema->scale != want.scale)
		return mismatch(v, want, name, err);
	BF_DATA(err, v->u.bytes.len > 0, -1, "partition value of \"%s\" is a decimal of no bytes",
			name);
	BF_DATA(err, bf_view_i128(v->u.bytes, out), -1, "partition value of \"%s\" exceeds 128 bits",
			name);
	return BF_OK;
}

/* Times and timestamps: what the file counts in, and what the column does. */
static BfStatus
time_value(const BfAvroValue *v, BfType want, const char *name, int64_t *out, BfError *err)
{
	const BfAvroSchema *s = v->schema;
	bool nanos = want.kind == BF_KIND_TIMESTAMP_NS || want.kind == BF_KIND_TIMESTAMPTZ_NS;
	int64_t x = 0, factor = 1;

	BF_ASSERT(bf_type_storage(want) == BF_STORE_I64);
	BF_TRY(integer_value(v, want, name, &x, err));
	if (s->type == BF_AVRO_INT && want.kind != BF_KIND_TIME)
		factor = nanos ? DAY_US * 1000 : DAY_US; /* a date before its promotion */
	else if (logical_is(s, "timestamp-millis") || logical_is(s, "time-millis") ||
			 logical_is(s, "local-timestamp-millis"))
		factor = nanos ? 1000000 : 1000;
	else if (nanos && !logical_is(s, "timestamp-nanos") && !logical_is(s, "local-timestamp-nanos"))
		factor = 1000;
	BF_DATA(err, !__builtin_mul_overflow(x, factor, out), -1,
			"partition value of \"%s\" is out of range", name);
	return BF_OK;
}

static BfStatus
bytes_value(BfArena *keep, const BfAvroValue *v, BfType want, const char *name, BfView *out,
			BfError *err)
{
	BfView b = v->u.bytes;
	uint8_t *copy;

	BF_ASSERT(bf_type_storage(want) == BF_STORE_VIEW);
	if (v->schema->type != BF_AVRO_STRING && v->schema->type != BF_AVRO_BYTES &&
		v->schema->type != BF_AVRO_FIXED)
		return mismatch(v, want, name, err);
	if (want.kind == BF_KIND_UUID && b.len != 16)
	{
		BF_NEW_RAW(keep, copy, 16, err);
		BF_DATA(err, bfi_uuid_from_text(b, copy), -1, "partition value of \"%s\" is not a uuid",
				name);
		*out = (BfView){copy, 16};
		return BF_OK;
	}
	BF_DATA(err, want.kind != BF_KIND_FIXED || b.len == (uint32_t) want.length, -1,
			"partition value of \"%s\" has %u bytes, expected %d", name, b.len, want.length);
	BF_TRY_PTR(keep, copy, bf_arena_memdup(keep, b.ptr, b.len), err);
	*out = (BfView){copy, b.len};
	return BF_OK;
}

static BfStatus
convert(BfArena *keep, const BfAvroValue *v, const char *name, BfValue *out, BfError *err)
{
	BfType want = out->type;
	bf_i128 wide = 0;
	int64_t x = 0;

	BF_ASSERT(!out->is_null);
	switch (bf_type_storage(want))
	{
		case BF_STORE_U8:
			if (v->schema->type != BF_AVRO_BOOLEAN)
				return mismatch(v, want, name, err);
			out->v.u8 = v->u.b;
			return BF_OK;
		case BF_STORE_I32:
			BF_TRY(integer_value(v, want, name, &x, err));
			BF_DATA(err, x >= INT32_MIN && x <= INT32_MAX, -1,
					"partition value of \"%s\" is out of range", name);
			out->v.i32 = (int32_t) x;
			return BF_OK;
		case BF_STORE_I64:
			if (want.kind == BF_KIND_DECIMAL)
			{
				BF_TRY(decimal_value(v, want, name, &wide, err));
				BF_DATA(err, wide >= INT64_MIN && wide <= INT64_MAX, -1,
						"partition value of \"%s\" is out of range", name);
				out->v.i64 = (int64_t) wide;
				return BF_OK;
			}
			if (want.kind == BF_KIND_INT64)
				return integer_value(v, want, name, &out->v.i64, err);
			return time_value(v, want, name, &out->v.i64, err);
		case BF_STORE_I128: return decimal_value(v, want, name, &out->v.i128, err);
		case BF_STORE_F32:
			if (v->schema->type != BF_AVRO_FLOAT)
				return mismatch(v, want, name, err);
			out->v.f32 = (float) v->u.d;
			return BF_OK;
		case BF_STORE_F64:
			if (v->schema->type != BF_AVRO_FLOAT && v->schema->type != BF_AVRO_DOUBLE)
				return mismatch(v, want, name, err);
			out->v.f64 = v->u.d;
			return BF_OK;
		case BF_STORE_VIEW: return bytes_value(keep, v, want, name, &out->v.view, err);
		default: return mismatch(v, want, name, err);
	}
}

BfStatus
bfi_partition_type(const BfIceMetadata *m, const BfIcePartitionField *f, BfType *out)
{
	const BfField *source = bf_ice_field_anywhere(m, f->source_id);
	BfError ignored;

	*out = BF_TYPE(NULL);
	if (source == NULL || f->transform.kind == BF_TRANSFORM_UNKNOWN)
		return BF_ERR_NOTFOUND;
	return bf_transform_result_type(f->transform, source->type, out, &ignored);
}

BfStatus
bfi_partition_value(BfArena *keep, const BfAvroValue *v, BfType type, const char *name,
					BfValue *out, BfError *err)
{
	*out = (BfValue){.is_null = true, .type = type};
	if (v == NULL)
	{
		out->type = BF_TYPE(NULL);
		return BF_OK;
	}
	if (v->schema->type == BF_AVRO_NULL)
	{
		/* A NULL of a column that is gone: any type but NULL, which would mean "not there". */
		if (type.kind == BF_KIND_NULL)
			out->type = BF_TYPE(BINARY);
		return BF_OK;
	}
	if (type.kind == BF_KIND_NULL)
		out->type = avro_type(v->schema);
	BF_ASSERT(v->schema->type != BF_AVRO_UNION);
	out->is_null = false;
	return convert(keep, v, name, out, err);
}
