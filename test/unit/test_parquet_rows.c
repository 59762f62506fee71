/* Random rows; see test_parquet_rows.h. */
#include "unit/test_parquet_rows.h"

#include <math.h>

static uint64_t
below(const MadeRows *m, uint64_t n)
{
	return m->random(m->arg) % n;
}

/* One number of 64 bits by the kind of values; `last` goes on. */
static uint64_t
number(const MadeRows *m, uint64_t *last)
{
	switch (m->values)
	{
		case MADE_FEW: *last = below(m, 5) * UINT64_C(0x0102030405060709); break;
		case MADE_RISING: *last += below(m, 7); break;
		case MADE_REPEATED:
			if (below(m, 20) == 0)
				*last = m->random(m->arg) >> below(m, 64);
			break;
		default:
			*last = below(m, 16) == 0 ? (below(m, 2) ? INT64_MAX : (uint64_t) INT64_MIN)
									  : m->random(m->arg) >> below(m, 64);
			break;
	}
	return *last;
}

static bf_i128
decimal(const MadeRows *m, BfType t, uint64_t *last)
{
	bf_u128 v = number(m, last);
	bool negative = m->values != MADE_RISING && below(m, 2) != 0;

	if (t.precision > 19 && m->values == MADE_ANY)
		v = v * UINT64_C(0xffffffffffffffc5) + m->random(m->arg);
	v %= (bf_u128) bf_power_of_ten(t.precision);
	return negative ? -(bf_i128) v : (bf_i128) v;
}

static int64_t
integer(const MadeRows *m, BfType t, uint64_t *last)
{
	uint64_t v = number(m, last);

	switch (t.kind)
	{
		case BF_KIND_BOOL: return v & 1;
		case BF_KIND_INT8: return (int8_t) v;
		case BF_KIND_INT16: return (int16_t) v;
		case BF_KIND_UINT8: return (uint8_t) v;
		case BF_KIND_UINT16: return (uint16_t) v;
		case BF_KIND_UINT32: return (uint32_t) v;
		case BF_KIND_DECIMAL: return (int64_t) decimal(m, t, last);
		default: return (int64_t) v;
	}
}

static double
floating(const MadeRows *m, BfType t, uint64_t *last)
{
	static const double odd[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1.5, -65504, 0x1p-24};
	uint64_t v = number(m, last);

	if (m->values == MADE_ANY && v % 4 == 0)
		return odd[v / 4 % 8];
	if (t.kind == BF_KIND_FLOAT16)
		return (double) (v % 2048) / 4;
	return (double) (int64_t) (v % 1000003) / 16;
}

/* Bytes of a value of a type that has them. */
static uint32_t
length(const MadeRows *m, BfType t, uint64_t v)
{
	switch (t.kind)
	{
		case BF_KIND_UUID: return 16;
		case BF_KIND_INT96:
		case BF_KIND_INTERVAL: return 12;
		case BF_KIND_FIXED: return (uint32_t) t.length;
		default: return (uint32_t) (v % (m->bytes_max + 1));
	}
}

static BfStatus
bytes(BfArena *a, const MadeRows *m, BfType t, uint64_t *last, BfView *out, BfError *err)
{
	static const char *const letters[] = {"a", "z", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
	bool text = t.kind == BF_KIND_STRING || t.kind == BF_KIND_JSON || t.kind == BF_KIND_ENUM;
	uint64_t v = number(m, last);
	uint32_t n = length(m, t, v);
	uint8_t *to;

	BF_NEW(a, to, (size_t) n + 8, err);
	*out = (BfView){to, n};
	if (text && v % 3 == 0)
		for (uint32_t i = 0; i < n;)
		{
			const char *c = letters[(v >> (i & 31)) % 5];

			memcpy(to + i, c, strlen(c));
			i += (uint32_t) strlen(c);
			out->len = i < n + 4 ? i : n;
		}
	else
		for (uint32_t i = 0; i < n; i++)
		{
			uint64_t byte = text ? 'a' + (v >> (i & 31)) % 26 : v >> (i % 8 * 8) ^ (i / 8);

			to[i] = (uint8_t) byte;
		}
	return BF_OK;
}

/* Big-endian, of more than 38 digits, with as few bytes as there can be. */
static BfStatus
big_decimal(BfArena *a, const MadeRows *m, uint64_t *last, BfView *out, BfError *err)
{
	uint64_t v = number(m, last);
	uint32_t n = 1 + (uint32_t) (v % 17);
	uint8_t *to;

	BF_NEW(a, to, n, err);
	for (uint32_t i = 0; i < n; i++)
		to[i] = (uint8_t) (v >> (i % 8 * 8));
	while (n > 1 && (to[0] == 0 || to[0] == 0xff) && ((to[0] ^ to[1]) & 0x80) == 0)
		to++, n--;
	*out = (BfView){to, n};
	return BF_OK;
}

static BfStatus
leaf_value(BfArena *a, const MadeRows *m, BfVector *v, int32_t i, uint64_t *last, BfError *err)
{
	switch (v->storage)
	{
		case BF_STORE_U8: v->data.u8[i] = (uint8_t) integer(m, v->type, last); break;
		case BF_STORE_I32: v->data.i32[i] = (int32_t) integer(m, v->type, last); break;
		case BF_STORE_I64: v->data.i64[i] = integer(m, v->type, last); break;
		case BF_STORE_F32: v->data.f32[i] = (float) floating(m, v->type, last); break;
		case BF_STORE_F64: v->data.f64[i] = floating(m, v->type, last); break;
		case BF_STORE_I128: v->data.i128[i] = decimal(m, v->type, last); break;
		case BF_STORE_VIEW:
			if (v->type.kind == BF_KIND_DECIMAL)
				return big_decimal(a, m, last, &v->data.view[i], err);
			return bytes(a, m, v->type, last, &v->data.view[i], err);
		default: break;
	}
	return BF_OK;
}

static bool
is_null(const MadeRows *m, const BfField *f, int32_t i)
{
	if (f->type.kind == BF_KIND_NULL)
		return true;
	if (f->required)
		return false;
	switch (m->nulls)
	{
		case MADE_SOME_NULLS: return below(m, 4) == 0;
		case MADE_NULL_RUNS: return (i / 50) % 3 == 1;
		case MADE_NULLS_FIRST: return i < 1500;
		case MADE_ALL_NULL: return true;
		default: return false;
	}
}

BfStatus
made_vector(BfArena *a, const MadeRows *m, const BfField *f, int32_t n, BfVector *out, BfError *err)
{
	uint64_t last = 11;
	int32_t items = 0;

	BF_TRY(bf_vector_init_field(a, out, f, n, err));
	out->n = n;
	for (int32_t i = 0; i < n; i++)
	{
		bool null = is_null(m, f, i);

		bf_validity_set(out->validity, i, !null);
		if (out->storage != BF_STORE_NESTED && !null)
			BF_TRY(leaf_value(a, m, out, i, &last, err));
		if (out->own_offsets != NULL)
		{
			out->offsets[i] = items;
			items += null ? 0 : (int32_t) (below(m, 3) == 0 ? 0 : below(m, 6));
			out->offsets[i + 1] = items;
		}
	}
	for (int32_t c = 0; c < f->n_children; c++)
		BF_TRY(made_vector(a, m, &f->children[c], f->type.kind == BF_KIND_STRUCT ? n : items,
						   &out->children[c], err));
	return BF_OK;
}

BfStatus
made_batch(BfArena *a, const MadeRows *m, const BfField *fields, int32_t n_fields, int32_t n_rows,
		   BfBatch **out, BfError *err)
{
	BfBatch *b;

	BF_NEW(a, b, 1, err);
	BF_NEW(a, b->cols, n_fields, err);
	b->n_rows = n_rows;
	b->n_cols = n_fields;
	b->first_row = -1;
	for (int32_t i = 0; i < n_fields; i++)
		BF_TRY(made_vector(a, m, &fields[i], n_rows, &b->cols[i], err));
	*out = b;
	return BF_OK;
}

static bool
same_leaf(const BfValue *x, const BfValue *y, size_t size)
{
	if (bf_type_storage(x->type) == BF_STORE_VIEW)
		return x->v.view.len == y->v.view.len &&
			   (x->v.view.len == 0 || memcmp(x->v.view.ptr, y->v.view.ptr, x->v.view.len) == 0);
	return memcmp(&x->v, &y->v, size) == 0;
}

/* Big decimals may have come back with the sign repeated in front. */
static BfView
shortest(BfView v)
{
	while (v.len > 1 && (v.ptr[0] == 0 || v.ptr[0] == 0xff) && ((v.ptr[0] ^ v.ptr[1]) & 0x80) == 0)
		v = (BfView){v.ptr + 1, v.len - 1};
	return v;
}

bool
made_same(const BfVector *x, int32_t i, const BfVector *y, int32_t j)
{
	BfValue a, b;
	bool has = bf_vector_get(x, i, &a);
	int32_t xi = i, x_end = i + 1, yj = j, y_end = j + 1;

	if (has != bf_vector_get(y, j, &b))
		return false;
	if (!has)
		return true;
	if (x->storage != BF_STORE_NESTED)
	{
		if (x->type.kind == BF_KIND_DECIMAL && x->storage == BF_STORE_VIEW)
		{
			a.v.view = shortest(a.v.view);
			b.v.view = shortest(b.v.view);
		}
		return same_leaf(&a, &b, bf_storage_size(x->storage));
	}
	if (x->type.kind != BF_KIND_STRUCT)
	{
		bf_vector_items(x, i, &xi, &x_end);
		bf_vector_items(y, j, &yj, &y_end);
	}
	if (x_end - xi != y_end - yj)
		return false;
	for (; xi < x_end; xi++, yj++)
		for (int32_t c = 0; c < x->n_children; c++)
			if (!made_same(&x->children[c], xi, &y->children[c], yj))
				return false;
	return true;
}
