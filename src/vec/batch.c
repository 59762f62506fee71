#include "vec/batch.h"

_Static_assert(BF_BATCH_ROWS % 64 == 0, "validity is whole words");

/* Bytes that decimals of more than 38 digits need when they are made here; see promote.c. */
#define BIG_DECIMAL_BYTES 16

/* The value at position i of a flat vector's data. */
static void
load_value(const BfVector *v, size_t i, BfValue *out)
{
	switch (v->storage)
	{
		case BF_STORE_U8: out->v.u8 = v->data.u8[i]; break;
		case BF_STORE_I32: out->v.i32 = v->data.i32[i]; break;
		case BF_STORE_I64: out->v.i64 = v->data.i64[i]; break;
		case BF_STORE_F32: out->v.f32 = v->data.f32[i]; break;
		case BF_STORE_F64: out->v.f64 = v->data.f64[i]; break;
		case BF_STORE_I128: out->v.i128 = v->data.i128[i]; break;
		case BF_STORE_VIEW: out->v.view = v->data.view[i]; break;
		case BF_STORE_NONE:
		case BF_STORE_NESTED:
		case BF_STORE_COUNT: out->is_null = true; break;
	}
}

bool
bf_vector_get(const BfVector *v, int32_t row, BfValue *out)
{
	int32_t i = v->form == BF_VEC_CONST ? 0 : row;

	BF_ASSERT(row >= 0 && row < v->n);
	memset(&out->v, 0, sizeof out->v);
	out->type = v->type;
	out->is_null = !bf_valid(v->validity, i);
	if (out->is_null)
		return false;
	if (v->form == BF_VEC_DICT)
	{
		BF_ASSERT(v->codes[row] < (uint32_t) v->dict->n && v->dict->form == BF_VEC_FLAT);
		BF_ASSERT(v->dict->storage == v->storage);
		load_value(v->dict, v->codes[row], out);
	}
	else
		load_value(v, (size_t) i, out);
	return !out->is_null;
}

BfStatus
bf_vector_init(BfArena *a, BfVector *v, BfType type, BfError *err)
{
	size_t size = bf_storage_size(bf_type_storage(type));

	memset(v, 0, sizeof *v);
	v->type = type;
	v->storage = bf_type_storage(type);
	v->form = BF_VEC_FLAT;
	if (type.kind == BF_KIND_DECIMAL && v->storage == BF_STORE_VIEW)
		size += BIG_DECIMAL_BYTES;
	if (size > 0)
	{
		uint8_t *bytes;

		BF_NEW(a, bytes, size * BF_BATCH_ROWS, err);
		v->own_data = bytes;
	}
	BF_NEW_RAW(a, v->own_validity, BF_VALIDITY_WORDS, err);
	bf_vector_restore(v);
	return BF_OK;
}

void
bf_vector_restore(BfVector *v)
{
	v->form = BF_VEC_FLAT;
	v->n = 0;
	v->data.raw = v->own_data;
	v->validity = v->own_validity;
	v->codes = NULL;
	v->dict = NULL;
	memset(v->validity, v->type.kind == BF_KIND_NULL ? 0 : 0xff,
		   BF_VALIDITY_WORDS * sizeof *v->validity);
}

BfStatus
bf_batch_new(BfArena *a, const BfField *fields, int32_t n, BfBatch **out, BfError *err)
{
	BfBatch *b;

	BF_ASSERT(n >= 0);
	BF_NEW(a, b, 1, err);
	BF_NEW(a, b->cols, n, err);
	b->n_cols = n;
	b->first_row = -1;
	for (int32_t i = 0; i < n; i++)
		BF_TRY(bf_vector_init(a, &b->cols[i], fields[i].type, err));
	*out = b;
	return BF_OK;
}

void
bf_vector_set_const(BfVector *v, const BfValue *value, int32_t n)
{
	BF_ASSERT(v->own_validity != NULL);
	BF_ASSERT(n >= 0 && n <= BF_BATCH_ROWS);
	BF_ASSERT(value->is_null || bf_type_storage(value->type) == v->storage);
	bf_vector_restore(v);
	v->form = BF_VEC_CONST;
	v->n = n;
	if (value->is_null || v->own_data == NULL)
	{
		bf_validity_set(v->validity, 0, false);
		return;
	}
	switch (v->storage)
	{
		case BF_STORE_U8: v->data.u8[0] = value->v.u8; break;
		case BF_STORE_I32: v->data.i32[0] = value->v.i32; break;
		case BF_STORE_I64: v->data.i64[0] = value->v.i64; break;
		case BF_STORE_F32: v->data.f32[0] = value->v.f32; break;
		case BF_STORE_F64: v->data.f64[0] = value->v.f64; break;
		case BF_STORE_I128: v->data.i128[0] = value->v.i128; break;
		case BF_STORE_VIEW: v->data.view[0] = value->v.view; break;
		case BF_STORE_NONE:
		case BF_STORE_NESTED:
		case BF_STORE_COUNT: break;
	}
}
