/*
 * Keys, see vec/key.h. Numbers are the common case: eight bytes are stored whatever the number
 * needs, and the buffer's end says how many of them count.
 */
#include "vec/key.h"

#include <math.h>

#include "vec/type_internal.h"

enum
{
	KEY_NULL = 0,
	KEY_INTEGER_MAX = 16,
	KEY_BIG = 17,
	KEY_FLOAT = 18,
	KEY_BYTES = 19,
	KEY_STRUCT = 20,
	KEY_LIST = 21,
	KEY_SHORT = 32
};

#define SHORT_MAX (255 - KEY_SHORT)
/* The first byte and the longest integer, or a length, with room to store whole words. */
#define FIXED_BYTES 32

_Static_assert(1 + KEY_INTEGER_MAX <= FIXED_BYTES, "an integer fits");

/* How many bytes hold the number. */
static inline unsigned
bytes_of(int64_t v)
{
	return (64 - (unsigned) __builtin_clrsbll(v) + 7) / 8;
}

/* There is room for FIXED_BYTES. */
static inline void
put_integer(BfBuffer *key, int64_t v)
{
	uint8_t *p = key->data + key->len;
	unsigned n = bytes_of(v);

	BF_ASSERT(n >= 1 && n <= 8 && key->cap - key->len >= 9);
	p[0] = (uint8_t) n;
	bf_store64le(p + 1, (uint64_t) v);
	key->len += 1 + n;
}

static void
put_wide(BfBuffer *key, bf_i128 v)
{
	int64_t high = (int64_t) (v >> 64);
	uint8_t *p = key->data + key->len;
	unsigned n = 8 + bytes_of(high);

	if (v == (int64_t) v)
	{
		put_integer(key, (int64_t) v);
		return;
	}
	BF_ASSERT(n > 8 && n <= KEY_INTEGER_MAX && key->cap - key->len >= 17);
	p[0] = (uint8_t) n;
	bf_store64le(p + 1, (uint64_t) v);
	bf_store64le(p + 9, (uint64_t) high);
	key->len += 1 + n;
}

static void
put_float(BfBuffer *key, double v, BfKeyZero zero)
{
	uint8_t *p = key->data + key->len;

	if (v != v)
		v = (double) NAN;
	else if (v == 0 && zero == BF_KEY_ZERO_ONE)
		v = 0;
	BF_ASSERT(key->cap - key->len >= 9);
	p[0] = KEY_FLOAT;
	memcpy(p + 1, &v, 8);
	key->len += 9;
}

static void
put_head(BfBuffer *key, uint8_t first, uint32_t n)
{
	BF_ASSERT(key->cap - key->len >= 5);
	key->data[key->len] = first;
	bf_store32le(key->data + key->len + 1, n);
	key->len += 5;
}

static inline BfStatus
put_bytes(BfBuffer *key, BfView v, BfError *err)
{
	BF_TRY(bf_buffer_reserve(key, FIXED_BYTES + (size_t) v.len, err));
	if (BF_LIKELY(v.len <= SHORT_MAX))
		key->data[key->len++] = (uint8_t) (KEY_SHORT + v.len);
	else
		put_head(key, KEY_BYTES, v.len);
	if (v.len > 0)
		memcpy(key->data + key->len, v.ptr, v.len);
	key->len += v.len;
	BF_ASSERT(key->len <= key->cap);
	return BF_OK;
}

/* Big-endian two's complement, however many bytes repeat the sign. */
static BfStatus
put_decimal(BfBuffer *key, BfView v, BfError *err)
{
	bf_i128 x = 0; /* of no bytes at all */

	if (v.len == 0 || bf_view_i128(v, &x))
	{
		put_wide(key, x);
		return BF_OK;
	}
	while (v.len > 1 &&
		   ((v.ptr[0] == 0 && v.ptr[1] < 0x80) || (v.ptr[0] == 0xff && v.ptr[1] >= 0x80)))
	{
		v.ptr++;
		v.len--;
	}
	BF_ASSERT(v.len > KEY_INTEGER_MAX);
	BF_TRY(bf_buffer_reserve(key, FIXED_BYTES + (size_t) v.len, err));
	put_head(key, KEY_BIG, v.len);
	memcpy(key->data + key->len, v.ptr, v.len);
	key->len += v.len;
	return BF_OK;
}

static BfStatus
put_view(BfBuffer *key, BfKind kind, BfView v, BfError *err)
{
	bf_i128 number;

	if (kind == BF_KIND_DECIMAL)
		return put_decimal(key, v, err);
	if (!bfi_view_number(kind, v, &number))
		return put_bytes(key, v, err);
	put_wide(key, number);
	return BF_OK;
}

/* Half of the 64-bit numbers of this kind are above what an int64_t holds. */
static void
put_i64(BfBuffer *key, BfKind kind, int64_t v)
{
	if (BF_UNLIKELY(kind == BF_KIND_UINT64 && v < 0))
		put_wide(key, (bf_i128) (uint64_t) v);
	else
		put_integer(key, v);
}

static BfStatus
refuse(BfType type, BfError *err)
{
	char name[64];

	bf_type_name(type, name, sizeof name);
	return bf_error(err, BF_ERR_UNSUPPORTED, "values of type %s are no keys", name);
}

static BfStatus
nested_value(BfBuffer *key, const BfValue *v, BfKeyZero zero, BfError *err)
{
	const BfValue *parts = bf_value_children(v);

	if (v->type.kind != BF_KIND_STRUCT && v->type.kind != BF_KIND_LIST)
		return refuse(v->type, err);
	put_head(key, v->type.kind == BF_KIND_STRUCT ? KEY_STRUCT : KEY_LIST, v->v.view.len);
	for (uint32_t i = 0; i < v->v.view.len; i++)
		BF_TRY(bf_key_value(key, &parts[i], zero, err));
	return BF_OK;
}

BfStatus
bf_key_value(BfBuffer *key, const BfValue *v, BfKeyZero zero, BfError *err)
{
	BF_TRY(bf_buffer_reserve(key, FIXED_BYTES, err));
	if (v->is_null)
	{
		key->data[key->len++] = KEY_NULL;
		return BF_OK;
	}
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_U8: put_integer(key, v->v.u8); break;
		case BF_STORE_I32: put_integer(key, v->v.i32); break;
		case BF_STORE_I64: put_i64(key, v->type.kind, v->v.i64); break;
		case BF_STORE_F32: put_float(key, (double) v->v.f32, zero); break;
		case BF_STORE_F64: put_float(key, v->v.f64, zero); break;
		case BF_STORE_I128: put_wide(key, v->v.i128); break;
		case BF_STORE_VIEW: return put_view(key, v->type.kind, v->v.view, err);
		case BF_STORE_NESTED: return nested_value(key, v, zero, err);
		case BF_STORE_NONE:
		case BF_STORE_COUNT: key->data[key->len++] = KEY_NULL; break;
	}
	return BF_OK;
}

/* Row i of a vector that has no codes and is not NULL there. */
static BfStatus
nested_row(BfBuffer *key, const BfVector *v, int32_t i, BfKeyZero zero, BfError *err)
{
	int32_t first, end;

	if (v->type.kind == BF_KIND_STRUCT)
	{
		put_head(key, KEY_STRUCT, (uint32_t) v->n_children);
		for (int32_t k = 0; k < v->n_children; k++)
			BF_TRY(bf_key_row(key, &v->children[k], i, zero, err));
		return BF_OK;
	}
	if (v->type.kind != BF_KIND_LIST)
		return refuse(v->type, err);
	BF_ASSERT(v->n_children == 1);
	bf_vector_items(v, i, &first, &end);
	BF_ASSERT(first <= end && end <= v->children[0].n);
	put_head(key, KEY_LIST, (uint32_t) (end - first));
	for (int32_t k = first; k < end; k++)
		BF_TRY(bf_key_row(key, &v->children[0], k, zero, err));
	return BF_OK;
}

BfStatus
bf_key_row(BfBuffer *key, const BfVector *v, int32_t row, BfKeyZero zero, BfError *err)
{
	size_t i = v->form == BF_VEC_CONST ? 0 : (size_t) row;

	BF_ASSERT(row >= 0 && row < v->n);
	BF_TRY(bf_buffer_reserve(key, FIXED_BYTES, err));
	if (!bf_valid(v->validity, (int32_t) i))
	{
		key->data[key->len++] = KEY_NULL;
		return BF_OK;
	}
	if (v->form == BF_VEC_DICT)
	{
		i = v->codes[row];
		v = v->dict;
		BF_ASSERT(v->form == BF_VEC_FLAT && i < (size_t) v->n);
	}
	switch (v->storage)
	{
		case BF_STORE_U8: put_integer(key, v->data.u8[i]); break;
		case BF_STORE_I32: put_integer(key, v->data.i32[i]); break;
		case BF_STORE_I64: put_i64(key, v->type.kind, v->data.i64[i]); break;
		case BF_STORE_F32: put_float(key, (double) v->data.f32[i], zero); break;
		case BF_STORE_F64: put_float(key, v->data.f64[i], zero); break;
		case BF_STORE_I128: put_wide(key, v->data.i128[i]); break;
		case BF_STORE_VIEW: return put_view(key, v->type.kind, v->data.view[i], err);
		case BF_STORE_NESTED: return nested_row(key, v, (int32_t) i, zero, err);
		case BF_STORE_NONE:
		case BF_STORE_COUNT: key->data[key->len++] = KEY_NULL; break;
	}
	return BF_OK;
}

BfStatus
bf_key_rows(BfBuffer *key, const BfVector *const *columns, int32_t n_columns, const int32_t *rows,
			int32_t n, BfKeyZero zero, size_t *starts, BfError *err)
{
	for (int32_t i = 0; i < n; i++)
	{
		starts[i] = key->len;
		for (int32_t k = 0; k < n_columns; k++)
			BF_TRY(bf_key_row(key, columns[k], rows[i], zero, err));
	}
	starts[n] = key->len;
	return BF_OK;
}
