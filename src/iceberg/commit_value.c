/*
 * Partition values on their way out: Avro types and values for manifests, and the single-value
 * bytes of the specification's appendix D for partition summaries.
 */
#include <math.h>

#include "iceberg/internal.h"

/* Bytes that hold every decimal of the precision: the n with 2^(8n-1) > 10^p. */
static uint32_t
decimal_bytes(int32_t precision)
{
	bf_i128 max = 1;
	uint32_t n = 1;

	BF_ASSERT(precision >= 1 && precision <= 38);
	for (int32_t i = 0; i < precision; i++)
		max *= 10;
	while (n < 16 && ((bf_i128) 1 << (8 * n - 1)) <= max)
		n++;
	return n;
}

static bf_i128
decimal_of(const BfValue *v)
{
	BF_ASSERT(v->type.kind == BF_KIND_DECIMAL && !v->is_null);
	return bf_type_storage(v->type) == BF_STORE_I64 ? (bf_i128) v->v.i64 : v->v.i128;
}

/* Big-endian two's complement in n bytes. */
static void
store_decimal(uint8_t *p, uint32_t n, bf_i128 v)
{
	for (uint32_t i = n; i > 0; i--, v >>= 8)
		p[i - 1] = (uint8_t) v;
	BF_ASSERT(v == 0 || v == -1);
}

static uint32_t
minimal_decimal_bytes(bf_i128 v)
{
	uint32_t n = 1;

	while (n < 16 && (v >> (8 * n - 1)) != 0 && (v >> (8 * n - 1)) != -1)
		n++;
	return n;
}

json_t *
bfi_avro_type_json(BfType t, int32_t field_id)
{
	char name[48];

	switch (t.kind)
	{
		case BF_KIND_BOOL: return json_string("boolean");
		case BF_KIND_INT32: return json_string("int");
		case BF_KIND_INT64: return json_string("long");
		case BF_KIND_FLOAT32: return json_string("float");
		case BF_KIND_FLOAT64: return json_string("double");
		case BF_KIND_STRING: return json_string("string");
		case BF_KIND_BINARY: return json_string("bytes");
		case BF_KIND_DATE: return json_pack("{s:s, s:s}", "type", "int", "logicalType", "date");
		case BF_KIND_TIME:
			return json_pack("{s:s, s:s}", "type", "long", "logicalType", "time-micros");
		case BF_KIND_TIMESTAMP:
		case BF_KIND_TIMESTAMPTZ:
			return json_pack("{s:s, s:s, s:b}", "type", "long", "logicalType", "timestamp-micros",
							 "adjust-to-utc", (int) (t.kind == BF_KIND_TIMESTAMPTZ));
		case BF_KIND_UUID:
			snprintf(name, sizeof name, "uuid_%d", field_id);
			return json_pack("{s:s, s:s, s:i, s:s}", "type", "fixed", "name", name, "size", 16,
							 "logicalType", "uuid");
		case BF_KIND_FIXED:
			snprintf(name, sizeof name, "fixed_%d", field_id);
			return json_pack("{s:s, s:s, s:i}", "type", "fixed", "name", name, "size", t.length);
		case BF_KIND_DECIMAL:
			snprintf(name, sizeof name, "decimal_%d", field_id);
			return json_pack("{s:s, s:s, s:i, s:s, s:i, s:i}", "type", "fixed", "name", name,
							 "size", (int) decimal_bytes(t.precision), "logicalType", "decimal",
							 "precision", t.precision, "scale", t.scale);
		default: return NULL;
	}
}

static BfStatus
put_decimal(BfBuffer *out, const BfValue *v, BfError *err)
{
	uint8_t bytes[16];
	uint32_t n = decimal_bytes(v->type.precision);
	bf_i128 x = decimal_of(v);

	if (minimal_decimal_bytes(x) > n)
		BF_FAIL(err, BF_ERR_VALUE, "a partition value exceeds decimal(%d,%d)", v->type.precision,
				v->type.scale);
	store_decimal(bytes, n, x);
	return bf_buffer_append(out, bytes, n, err);
}

static BfStatus
put_floating(BfBuffer *out, const BfValue *v, BfError *err)
{
	uint8_t bytes[8];
	uint64_t bits = 0;
	size_t n = bf_storage_size(bf_type_storage(v->type));

	BF_ASSERT(n == 4 || n == 8);
	memcpy(&bits, &v->v, n);
	bf_store64le(bytes, bits);
	return bf_buffer_append(out, bytes, n, err);
}

/* A value of the union [null, type]. */
BfStatus
bfi_avro_put_value(BfBuffer *out, const BfValue *v, BfError *err)
{
	bool sized = v->type.kind == BF_KIND_UUID || v->type.kind == BF_KIND_FIXED;

	BF_TRY(bf_buffer_varint(out, v->is_null ? 0 : 1, err));
	if (v->is_null)
		return BF_OK;
	if (v->type.kind == BF_KIND_DECIMAL)
		return put_decimal(out, v, err);
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_U8: return bf_buffer_u8(out, v->v.u8 != 0, err);
		case BF_STORE_I32: return bf_buffer_varint(out, v->v.i32, err);
		case BF_STORE_I64: return bf_buffer_varint(out, v->v.i64, err);
		case BF_STORE_F32:
		case BF_STORE_F64: return put_floating(out, v, err);
		case BF_STORE_VIEW:
			if (!sized)
				BF_TRY(bf_buffer_varint(out, v->v.view.len, err));
			else if (v->v.view.len !=
					 (v->type.kind == BF_KIND_UUID ? 16U : (uint32_t) v->type.length))
				BF_FAIL(err, BF_ERR_VALUE, "a partition value has %u bytes, which is not its type",
						v->v.view.len);
			return bf_buffer_append(out, v->v.view.ptr, v->v.view.len, err);
		default: BF_NEVER(err, true); return BF_OK;
	}
}

BfStatus
bfi_single_value(BfArena *a, const BfValue *v, BfView *out, BfError *err)
{
	uint8_t *p;
	uint32_t n = (uint32_t) bf_storage_size(bf_type_storage(v->type));

	BF_ASSERT(!v->is_null);
	if (bf_type_storage(v->type) == BF_STORE_VIEW)
	{
		*out = v->v.view;
		return BF_OK;
	}
	BF_NEW(a, p, 16, err);
	if (v->type.kind == BF_KIND_DECIMAL)
	{
		n = minimal_decimal_bytes(decimal_of(v));
		store_decimal(p, n, decimal_of(v));
	}
	else
		memcpy(p, &v->v, n); /* little endian, as the values are in memory */
	*out = (BfView){p, n};
	return BF_OK;
}

bool
bfi_value_is_nan(const BfValue *v)
{
	if (v->type.kind == BF_KIND_FLOAT32)
		return isnan(v->v.f32);
	return v->type.kind == BF_KIND_FLOAT64 && isnan(v->v.f64);
}
