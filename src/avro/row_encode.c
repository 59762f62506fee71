/* Rows of batches to Avro binary, the reverse of row_decode.c: what a ledger's entries hold. */
#include "avro/rows.h"

/* Branch byte, and the longest value of fixed size. */
#define SMALL_BYTES_MAX 24

_Static_assert(SMALL_BYTES_MAX >= 1 + sizeof(bf_i128) && SMALL_BYTES_MAX >= 1 + 10,
			   "a branch and the largest decimal or long");

/* Big-endian two's complement of `size` bytes. */
static void
put_unscaled(uint8_t *p, bf_i128 v, int32_t size)
{
	for (int32_t i = size - 1; i >= 0; i--)
	{
		p[i] = (uint8_t) v;
		v >>= 8;
	}
}

static BfStatus
encode_decimal(const BfVector *v, size_t i, int32_t size, BfBuffer *out, BfError *err)
{
	bf_i128 value = v->storage == BF_STORE_I64 ? v->data.i64[i] : v->data.i128[i];
	bf_i128 limit = bf_power_of_ten(v->type.precision);

	BF_ASSERT(size == bfi_decimal_bytes(v->type.precision));
	if (value >= limit || value <= -limit)
		BF_FAIL(err, BF_ERR_VALUE, "value has more than %d digits", v->type.precision);
	put_unscaled(out->data + out->len, value, size);
	out->len += (size_t) size;
	return BF_OK;
}

static BfStatus
encode_view(const BfView *view, const BfiRowType *row, BfBuffer *out, BfError *err)
{
	if (row->code == BFI_ROW_BYTES)
		BF_TRY(bf_buffer_varint(out, view->len, err));
	else if (view->len != (uint32_t) row->size)
		BF_FAIL(err, BF_ERR_VALUE, "value has %u bytes, the column's type has %d", view->len,
				row->size);
	return bf_buffer_append(out, view->ptr, view->len, err);
}

/* Element i of a flat vector; SMALL_BYTES_MAX bytes are reserved. */
static BfStatus
encode_value(const BfVector *v, size_t i, const BfiRowType *row, BfBuffer *out, BfError *err)
{
	uint8_t *p = out->data + out->len;

	BF_ASSERT(out->cap - out->len >= SMALL_BYTES_MAX - 1);
	switch (row->code)
	{
		case BFI_ROW_NULL: return BF_OK;
		case BFI_ROW_BOOL:
			*p = v->data.u8[i] != 0;
			out->len += 1;
			return BF_OK;
		case BFI_ROW_INT: out->len += bf_put_uvarint(p, bf_zigzag(v->data.i32[i])); return BF_OK;
		case BFI_ROW_LONG: out->len += bf_put_uvarint(p, bf_zigzag(v->data.i64[i])); return BF_OK;
		case BFI_ROW_FLOAT:
			memcpy(p, &v->data.f32[i], 4);
			out->len += 4;
			return BF_OK;
		case BFI_ROW_DOUBLE:
			memcpy(p, &v->data.f64[i], 8);
			out->len += 8;
			return BF_OK;
		case BFI_ROW_BYTES:
		case BFI_ROW_FIXED: return encode_view(&v->data.view[i], row, out, err);
		case BFI_ROW_DECIMAL64:
		case BFI_ROW_DECIMAL128: return encode_decimal(v, i, row->size, out, err);
	}
	BF_NEVER(err, true);
	return BF_OK;
}

static BfStatus
encode_field(const BfField *f, const BfVector *v, int32_t row, BfBuffer *out, BfError *err)
{
	int32_t at = v->form == BF_VEC_CONST ? 0 : row;
	bool null = v->storage == BF_STORE_NONE || !bf_valid(v->validity, at);
	const BfVector *flat = v->form == BF_VEC_DICT ? v->dict : v;
	size_t i = v->form == BF_VEC_DICT ? v->codes[row] : (size_t) at;
	BfiRowType type;

	BF_ASSERT(v->form != BF_VEC_DICT || v->codes[row] < (uint32_t) v->dict->n);
	BF_TRY(bfi_row_type(f->type, &type, err));
	if (type.code == BFI_ROW_NULL)
		return BF_OK;
	BF_TRY(bf_buffer_reserve(out, SMALL_BYTES_MAX, err));
	if (!f->required)
		out->data[out->len++] = null ? 0 : 2;
	else if (null)
		BF_FAIL(err, BF_ERR_VALUE, "NULL in a required column");
	if (null)
		return BF_OK;
	BF_NEVER(err, v->storage != bf_type_storage(f->type));
	return encode_value(flat, i, &type, out, err);
}

BfStatus
bf_avro_encode_row(const BfSchema *schema, const BfBatch *batch, int32_t row, BfBuffer *out,
				   BfError *err)
{
	size_t start = out->len;

	BF_NEVER(err, batch->n_cols != schema->n_fields);
	BF_ASSERT(row >= 0 && row < batch->n_rows && batch->n_rows <= BF_BATCH_ROWS);
	for (int32_t i = 0; i < schema->n_fields; i++)
		if (encode_field(&schema->fields[i], &batch->cols[i], row, out, err) != BF_OK)
		{
			out->len = start;
			return bf_error_column(err, schema->fields[i].name);
		}
	return BF_OK;
}
