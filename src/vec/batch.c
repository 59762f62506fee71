/*
 * Vectors and batches: their buffers, single values in and out of them, constants and nested
 * values.
 */
#include "vec/batch.h"

_Static_assert(BF_BATCH_ROWS % 64 == 0, "validity is whole words");

/* Bytes that decimals of more than 38 digits need when they are made here; see promote.c. */
#define BIG_DECIMAL_BYTES 16

static size_t
validity_words(int32_t n)
{
	return n <= BF_BATCH_ROWS ? BF_VALIDITY_WORDS : ((size_t) n + 63) / 64;
}

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
		case BF_STORE_NESTED: break;
		case BF_STORE_NONE:
		case BF_STORE_COUNT: out->is_null = true; break;
	}
}

static void
store_value(BfVector *v, int32_t i, const BfValue *value)
{
	switch (v->storage)
	{
		case BF_STORE_U8: v->data.u8[i] = value->v.u8; break;
		case BF_STORE_I32: v->data.i32[i] = value->v.i32; break;
		case BF_STORE_I64: v->data.i64[i] = value->v.i64; break;
		case BF_STORE_F32: v->data.f32[i] = value->v.f32; break;
		case BF_STORE_F64: v->data.f64[i] = value->v.f64; break;
		case BF_STORE_I128: v->data.i128[i] = value->v.i128; break;
		case BF_STORE_VIEW: v->data.view[i] = value->v.view; break;
		case BF_STORE_NONE:
		case BF_STORE_NESTED:
		case BF_STORE_COUNT: break;
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
bf_vector_value(BfArena *a, const BfVector *v, int32_t row, BfValue *out, BfError *err)
{
	int32_t i = v->form == BF_VEC_CONST ? 0 : row;
	int32_t first = i;
	int32_t end = i + 1;
	BfValue *values;
	uint32_t n = 0;

	if (!bf_vector_get(v, row, out) || v->storage != BF_STORE_NESTED)
		return BF_OK;
	if (v->type.kind != BF_KIND_STRUCT)
		bf_vector_items(v, row, &first, &end);
	BF_ASSERT(first <= end);
	BF_NEW(a, values, (size_t) (end - first) * (size_t) v->n_children, err);
	for (int32_t k = first; k < end; k++)
		for (int32_t c = 0; c < v->n_children; c++)
			BF_TRY(bf_vector_value(a, &v->children[c], k, &values[n++], err));
	out->v.view = (BfView){(const uint8_t *) values, n};
	return BF_OK;
}

/* Buffers for `capacity` values; children are left alone. */
static BfStatus
give_buffers(BfArena *a, BfVector *v, int32_t capacity, BfError *err)
{
	size_t size = bf_storage_size(v->storage);

	BF_ASSERT(capacity >= 0);
	if (v->type.kind == BF_KIND_DECIMAL && v->storage == BF_STORE_VIEW)
		size += BIG_DECIMAL_BYTES;
	if (size > 0)
	{
		uint8_t *bytes;

		BF_NEW(a, bytes, size * (size_t) capacity, err);
		v->own_data = bytes;
	}
	if (v->type.kind == BF_KIND_LIST || v->type.kind == BF_KIND_MAP)
		BF_NEW(a, v->own_offsets, (size_t) capacity + 1, err);
	BF_NEW_RAW(a, v->own_validity, validity_words(capacity), err);
	v->capacity = capacity;
	bf_vector_restore(v);
	return BF_OK;
}

/* Variants travel as text. */
static BfType
vector_type(BfType type)
{
	return type.kind == BF_KIND_VARIANT ? BF_TYPE(JSON) : type;
}

static void
begin(BfVector *v, BfType type)
{
	memset(v, 0, sizeof *v);
	v->type = vector_type(type);
	v->storage = bf_type_storage(v->type);
}

BfStatus
bf_vector_init(BfArena *a, BfVector *v, BfType type, BfError *err)
{
	begin(v, type);
	return give_buffers(a, v, BF_BATCH_ROWS, err);
}

BfStatus
bf_vector_init_field(BfArena *a, BfVector *v, const BfField *field, int32_t capacity, BfError *err)
{
	begin(v, field->type);
	if (v->storage == BF_STORE_NESTED)
	{
		BF_NEW(a, v->own_children, field->n_children, err);
		v->own_n_children = field->n_children;
		for (int32_t i = 0; i < field->n_children; i++)
			BF_TRY(
				bf_vector_init_field(a, &v->own_children[i], &field->children[i], capacity, err));
	}
	return give_buffers(a, v, capacity, err);
}

BfStatus
bf_vector_reserve(BfArena *a, BfVector *v, int32_t n, BfError *err)
{
	int32_t capacity = v->capacity <= INT32_MAX / 2 ? v->capacity * 2 : INT32_MAX;

	BF_ASSERT(v->own_validity != NULL);
	if (n <= v->capacity)
		return BF_OK;
	return give_buffers(a, v, n > capacity ? n : capacity, err);
}

void
bf_vector_restore(BfVector *v)
{
	/* What has no buffers can't be filled again. */
	BF_ASSERT(v->own_validity != NULL);
	v->form = BF_VEC_FLAT;
	v->n = 0;
	v->data.raw = v->own_data;
	v->validity = v->own_validity;
	v->codes = NULL;
	v->dict = NULL;
	v->offsets = v->own_offsets;
	v->children = v->own_children;
	v->n_children = v->own_n_children;
	memset(v->validity, v->type.kind == BF_KIND_NULL ? 0 : 0xff,
		   validity_words(v->capacity) * sizeof *v->validity);
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
		BF_TRY(bf_vector_init_field(a, &b->cols[i], &fields[i], BF_BATCH_ROWS, err));
	*out = b;
	return BF_OK;
}

void
bf_vector_set_const(BfVector *v, const BfValue *value, int32_t n)
{
	BF_ASSERT(v->own_validity != NULL && v->capacity > 0);
	BF_ASSERT(n >= 0);
	BF_ASSERT(value->is_null || bf_type_storage(vector_type(value->type)) == v->storage);
	bf_vector_restore(v);
	v->form = BF_VEC_CONST;
	v->n = n;
	if (value->is_null || v->own_data == NULL)
	{
		bf_validity_set(v->validity, 0, false);
		v->children = NULL;
		v->n_children = 0;
		return;
	}
	store_value(v, 0, value);
}

void
bf_vector_set_null(BfVector *v, BfType type, int32_t n)
{
	static const bf_u128 zero;
	static const uint64_t all_null[BF_VALIDITY_WORDS];
	static const int32_t no_items[2];

	BF_ASSERT(n >= 0);
	begin(v, type);
	v->form = BF_VEC_CONST;
	v->n = n;
	/* Nobody writes through the pointers of a vector that has no buffers. */
	v->data.raw = (void *) (uintptr_t) &zero;
	v->validity = (uint64_t *) (uintptr_t) all_null;
	v->offsets = (int32_t *) (uintptr_t) no_items;
}

/* ---- nested values to vectors ---- */

static BfStatus fill(BfArena *a, BfVector *v, const BfField *field, const BfValue *const *values,
					 int32_t n, BfError *err);

/* Child c of a STRUCT, for each of its n values. */
static BfStatus
fill_member(BfArena *a, BfVector *v, const BfField *field, const BfValue *const *values, int32_t n,
			int32_t c, BfError *err)
{
	static const BfValue null = {.is_null = true};
	const BfValue **members;

	BF_NEW(a, members, n, err);
	for (int32_t i = 0; i < n; i++)
	{
		bool has = !values[i]->is_null && (uint32_t) c < values[i]->v.view.len;

		members[i] = has ? &bf_value_children(values[i])[c] : &null;
	}
	return fill(a, &v->own_children[c], &field->children[c], members, n, err);
}

/* Child c of a LIST or MAP; a MAP's values alternate. */
static BfStatus
fill_items(BfArena *a, BfVector *v, const BfField *field, const BfValue *const *values, int32_t n,
		   int32_t c, BfError *err)
{
	int32_t per_item = field->type.kind == BF_KIND_MAP ? 2 : 1;
	const BfValue **items;
	int64_t total = 0;

	for (int32_t i = 0; i < n; i++)
		total += values[i]->is_null ? 0 : values[i]->v.view.len / (uint32_t) per_item;
	BF_NEVER(err, total > INT32_MAX);
	BF_NEW(a, items, total, err);
	total = 0;
	for (int32_t i = 0; i < n; i++)
	{
		int32_t k =
			values[i]->is_null ? 0 : (int32_t) (values[i]->v.view.len / (uint32_t) per_item);

		v->offsets[i] = (int32_t) total;
		for (int32_t j = 0; j < k; j++)
			items[total++] = &bf_value_children(values[i])[j * per_item + c];
	}
	v->offsets[n] = (int32_t) total;
	return fill(a, &v->own_children[c], &field->children[c], items, (int32_t) total, err);
}

/* A flat vector of n values. */
static BfStatus
fill(BfArena *a, BfVector *v, const BfField *field, const BfValue *const *values, int32_t n,
	 BfError *err)
{
	begin(v, field->type);
	if (v->storage == BF_STORE_NESTED)
		BF_NEW(a, v->own_children, field->n_children, err);
	v->own_n_children = v->storage == BF_STORE_NESTED ? field->n_children : 0;
	BF_TRY(give_buffers(a, v, n > 0 ? n : 1, err));
	BF_ASSERT(n >= 0 && n <= v->capacity);
	v->n = n;
	for (int32_t i = 0; i < n; i++)
	{
		bf_validity_set(v->validity, i, !values[i]->is_null && v->storage != BF_STORE_NONE);
		if (!values[i]->is_null)
			store_value(v, i, values[i]);
	}
	for (int32_t c = 0; c < v->own_n_children; c++)
		if (v->type.kind == BF_KIND_STRUCT)
			BF_TRY(fill_member(a, v, field, values, n, c, err));
		else
			BF_TRY(fill_items(a, v, field, values, n, c, err));
	return BF_OK;
}

BfStatus
bf_vector_init_const(BfArena *a, BfVector *v, const BfField *field, const BfValue *value, int32_t n,
					 BfError *err)
{
	BF_ASSERT(value->is_null || bf_type_storage(value->type) == bf_type_storage(field->type));
	BF_TRY(fill(a, v, field, &value, 1, err));
	v->form = BF_VEC_CONST;
	v->n = n;
	if (value->is_null)
		v->n_children = 0;
	return BF_OK;
}
