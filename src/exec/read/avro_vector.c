/*
 * Trees of Avro values as vectors: column by column, children after their parents.
 */
#include "exec/read/avro_internal.h"

/* Validity of n values; words that readers may look at are there. */
static BfStatus
set_validity(BfArena *a, const BfAvroValue *const *values, int32_t n, BfVector *v, BfError *err)
{
	int32_t words = (n + 63) / 64;

	BF_ASSERT(n >= 0);
	if (words < BF_VALIDITY_WORDS)
		words = BF_VALIDITY_WORDS;
	BF_NEW(a, v->validity, words, err);
	for (int32_t i = 0; i < n; i++)
		bf_validity_set(v->validity, i, values[i] != NULL);
	return BF_OK;
}

/* Milliseconds are kept as microseconds. */
static BfStatus
scaled(const BfField *field, const BfAvroValue *x, int64_t *out, BfError *err)
{
	const char *logical = x->schema->logical_type;
	bool millis = logical != NULL && (strcmp(logical, "time-millis") == 0 ||
									  strcmp(logical, "timestamp-millis") == 0 ||
									  strcmp(logical, "local-timestamp-millis") == 0);

	if (__builtin_mul_overflow(x->u.i, millis ? 1000 : 1, out))
		BF_FAIL(err, BF_ERR_VALUE, "column \"%.100s\": %lld milliseconds are out of range",
				field->name, (long long) x->u.i);
	return BF_OK;
}

static BfStatus
decimal_value(const BfField *field, BfView bytes, bf_i128 *out, BfError *err)
{
	bool wide = bf_type_storage(field->type) == BF_STORE_I128;

	BF_ASSERT(field->type.kind == BF_KIND_DECIMAL);
	BF_DATA(err, bytes.len > 0, -1, "column \"%.100s\": a decimal has no bytes", field->name);
	BF_DATA(err, bf_view_i128(bytes, out) && (wide || (*out >= INT64_MIN && *out <= INT64_MAX)), -1,
			"column \"%.100s\": a decimal has too many digits", field->name);
	return BF_OK;
}

static BfView
view_of(const BfAvroValue *x)
{
	const char *symbol;

	if (x->schema->type != BF_AVRO_ENUM)
		return x->u.bytes;
	BF_ASSERT(x->u.i >= 0 && x->u.i < x->schema->n_symbols);
	symbol = x->schema->symbols[x->u.i];
	return (BfView){(const uint8_t *) symbol, (uint32_t) strlen(symbol)};
}

static BfStatus
set_leaf(const BfField *field, const BfAvroValue *x, BfVector *v, int32_t i, BfError *err)
{
	bf_i128 n;

	switch (v->storage)
	{
		case BF_STORE_U8: v->data.u8[i] = x->u.b; break;
		case BF_STORE_I32: v->data.i32[i] = (int32_t) x->u.i; break;
		case BF_STORE_F32: v->data.f32[i] = (float) x->u.d; break;
		case BF_STORE_F64: v->data.f64[i] = x->u.d; break;
		case BF_STORE_VIEW: v->data.view[i] = view_of(x); break;
		case BF_STORE_I64:
			if (field->type.kind != BF_KIND_DECIMAL)
				return scaled(field, x, &v->data.i64[i], err);
			BF_TRY(decimal_value(field, x->u.bytes, &n, err));
			v->data.i64[i] = (int64_t) n;
			break;
		case BF_STORE_I128:
			BF_TRY(decimal_value(field, x->u.bytes, &n, err));
			v->data.i128[i] = n;
			break;
		case BF_STORE_NONE:
		case BF_STORE_NESTED:
		case BF_STORE_COUNT: break;
	}
	return BF_OK;
}

static BfStatus
leaf_vector(BfArena *a, const BfField *field, const BfAvroValue *const *values, int32_t n,
			BfVector *v, BfError *err)
{
	size_t size = bf_storage_size(v->storage);
	uint8_t *data;

	BF_ASSERT(v->storage != BF_STORE_NESTED);

	BF_NEW(a, data, (size_t) (n > 0 ? n : 1) * (size > 0 ? size : 1), err);
	v->data.raw = data;
	for (int32_t i = 0; i < n; i++)
		if (values[i] != NULL)
			BF_TRY(set_leaf(field, values[i], v, i, err));
	return BF_OK;
}

static BfStatus
struct_vector(BfArena *a, const BfField *field, const BfAvroValue *const *values, int32_t n,
			  BfVector *v, BfError *err)
{
	const BfAvroValue **child;

	BF_NEW(a, child, n, err);
	for (int32_t k = 0; k < field->n_children; k++)
	{
		for (int32_t i = 0; i < n; i++)
		{
			const BfAvroValue *x = values[i] == NULL ? NULL : &values[i]->u.list.items[k];

			child[i] = x == NULL || x->schema->type == BF_AVRO_NULL ? NULL : x;
		}
		BF_TRY(bfi_avro_vector(a, &field->children[k], child, n, &v->children[k], err));
	}
	return BF_OK;
}

/* Items of lists and maps, one after the other. part: 0 and 1 of a pair; -1: the item itself. */
static BfStatus
items_vector(BfArena *a, const BfField *field, const BfAvroValue *const *values, int32_t n,
			 int32_t total, int part, BfVector *out, BfError *err)
{
	static const BfAvroSchema text = {.type = BF_AVRO_STRING};
	const BfAvroValue **all;
	BfAvroValue *keys;
	int32_t at = 0;

	BF_NEW(a, all, total, err);
	BF_NEW(a, keys, part == 0 ? total : 0, err);
	for (int32_t i = 0; i < n; i++)
		for (int32_t k = 0; values[i] != NULL && k < values[i]->u.list.n; k++, at++)
		{
			const BfAvroValue *x = &values[i]->u.list.items[k];

			if (part >= 0 && values[i]->schema->type == BF_AVRO_MAP)
			{
				if (part == 0)
				{
					keys[at] = (BfAvroValue){.schema = &text, .u.bytes = values[i]->u.list.keys[k]};
					x = &keys[at];
				}
			}
			else if (part >= 0)
				x = x->schema->type == BF_AVRO_RECORD ? &x->u.list.items[part] : NULL;
			all[at] = x == NULL || x->schema->type == BF_AVRO_NULL ? NULL : x;
		}
	BF_ASSERT(at == total);
	return bfi_avro_vector(a, field, all, total, out, err);
}

static BfStatus
list_vector(BfArena *a, const BfField *field, const BfAvroValue *const *values, int32_t n,
			BfVector *v, BfError *err)
{
	int64_t total = 0;

	BF_NEW(a, v->offsets, n + 1, err);
	for (int32_t i = 0; i < n; i++)
	{
		total += values[i] == NULL ? 0 : values[i]->u.list.n;
		if (total > INT32_MAX / 64)
			BF_FAIL(err, BF_ERR_LIMIT, "column \"%.100s\": too many items", field->name);
		v->offsets[i + 1] = (int32_t) total;
	}
	if (field->type.kind == BF_KIND_LIST)
		return items_vector(a, &field->children[0], values, n, (int32_t) total, -1, &v->children[0],
							err);
	BF_ASSERT(field->n_children == 2);
	for (int part = 0; part < 2; part++)
		BF_TRY(items_vector(a, &field->children[part], values, n, (int32_t) total, part,
							&v->children[part], err));
	return BF_OK;
}

BfStatus
bfi_avro_vector(BfArena *a, const BfField *field, const BfAvroValue *const *values, int32_t n,
				BfVector *out, BfError *err)
{
	memset(out, 0, sizeof *out);
	out->type = field->type;
	out->storage = bf_type_storage(field->type);
	out->form = BF_VEC_FLAT;
	out->n = n;
	out->capacity = n;
	BF_TRY(set_validity(a, values, n, out, err));
	if (out->storage != BF_STORE_NESTED)
		return leaf_vector(a, field, values, n, out, err);
	BF_ASSERT(field->type.kind == BF_KIND_STRUCT || field->type.kind == BF_KIND_LIST ||
			  field->type.kind == BF_KIND_MAP);
	out->n_children = field->n_children;
	BF_NEW(a, out->children, field->n_children, err);
	if (field->type.kind == BF_KIND_STRUCT)
		return struct_vector(a, field, values, n, out, err);
	return list_vector(a, field, values, n, out, err);
}
