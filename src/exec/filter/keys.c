/*
 * exec/filter/keys.c: see keys.h.
 *
 * A key is, per column in ascending order of field ids, 0 for NULL or 1 and the value: numbers in
 * the bytes of their storage, bytes and text behind their length. Values that are equal have the
 * same bytes: every NaN is written as the same one, decimals of more than 38 digits without sign
 * bytes that say nothing. -0 and 0 are two keys, as in the reference implementation.
 */
#include <math.h>

#include "exec/filter/keys.h"

#include "exec/filter/map.h"

/* Longest fixed part of a column: the NULL byte and 16 of a number, or a length. */
#define COLUMN_BYTES 17

struct BfKeySet
{
	int32_t n;
	const BfField *fields;	  /* borrowed */
	BfiMap map;				  /* key -> newest sequence number */
	BfBuffer *key;			  /* scratch: keys of a few rows */
	const BfVector **columns; /* scratch, by fields */
};

static size_t
put_bytes(uint8_t *p, const void *value, size_t n)
{
	memcpy(p, value, n);
	return n;
}

/* Without leading bytes that repeat the sign. */
static BfView
trim_decimal(BfView v)
{
	while (v.len > 1 &&
		   ((v.ptr[0] == 0 && v.ptr[1] < 0x80) || (v.ptr[0] == 0xff && v.ptr[1] >= 0x80)))
	{
		v.ptr++;
		v.len--;
	}
	/* Nothing at all is 0 too. */
	if (v.len == 1 && v.ptr[0] == 0)
		v.len = 0;
	return v;
}

static BfStatus
append_view(BfBuffer *key, BfType type, BfView v, BfError *err)
{
	if (type.kind == BF_KIND_DECIMAL)
		v = trim_decimal(v);
	BF_TRY(bf_buffer_append(key, &v.len, sizeof v.len, err));
	return bf_buffer_append(key, v.ptr, v.len, err);
}

/* Value i of a flat vector. */
static BfStatus
append_value(BfBuffer *key, const BfVector *v, size_t i, BfError *err)
{
	uint8_t *p;
	float f;
	double d;

	BF_TRY(bf_buffer_reserve(key, COLUMN_BYTES, err));
	p = key->data + key->len;
	*p = 1;
	key->len++;
	p++;
	switch (v->storage)
	{
		case BF_STORE_U8: key->len += put_bytes(p, &v->data.u8[i], 1); break;
		case BF_STORE_I32: key->len += put_bytes(p, &v->data.i32[i], 4); break;
		case BF_STORE_I64: key->len += put_bytes(p, &v->data.i64[i], 8); break;
		case BF_STORE_F32:
			f = v->data.f32[i];
			f = f != f ? (float) NAN : f;
			key->len += put_bytes(p, &f, sizeof f);
			break;
		case BF_STORE_F64:
			d = v->data.f64[i];
			d = d != d ? (double) NAN : d;
			key->len += put_bytes(p, &d, sizeof d);
			break;
		case BF_STORE_I128: key->len += put_bytes(p, &v->data.i128[i], 16); break;
		case BF_STORE_VIEW: return append_view(key, v->type, v->data.view[i], err);
		default: key->data[key->len - 1] = 0; break;
	}
	return BF_OK;
}

/* A key column's value in a row. */
static BfStatus
append_row(BfBuffer *key, const BfVector *v, int32_t row, BfError *err)
{
	size_t i = v->form == BF_VEC_CONST ? 0 : (size_t) row;

	if (!bf_valid(v->validity, (int32_t) i))
		return bf_buffer_u8(key, 0, err);
	if (v->storage == BF_STORE_NESTED) /* a struct of one member */
		return append_row(key, &v->children[0], (int32_t) i, err);
	if (v->form == BF_VEC_DICT)
		return append_value(key, v->dict, v->codes[row], err);
	return append_value(key, v, i, err);
}

/* Keys of some rows at a time, so that the memory which they will be looked for in is on its way
 * while the next ones are written. */
#define GROUP_ROWS 32

typedef struct Group
{
	int32_t n;
	int32_t rows[GROUP_ROWS];
	size_t starts[GROUP_ROWS + 1]; /* in s->key */
	uint64_t hashes[GROUP_ROWS];
} Group;

/* The keys of g->rows. */
static BfStatus
write_keys(BfKeySet *s, const BfVector *const *columns, Group *g, BfError *err)
{
	s->key->len = 0;
	for (int32_t i = 0; i < g->n; i++)
	{
		g->starts[i] = s->key->len;
		for (int32_t k = 0; k < s->n; k++)
			BF_TRY(append_row(s->key, columns[k], g->rows[i], err));
		g->hashes[i] =
			bfi_map_hash(&s->map, s->key->data + g->starts[i], s->key->len - g->starts[i]);
		bfi_map_prefetch(&s->map, g->hashes[i]);
	}
	g->starts[g->n] = s->key->len;
	return BF_OK;
}

const BfField *
bf_key_leaf(const BfField *f)
{
	while (f->type.kind == BF_KIND_STRUCT && f->n_children == 1)
		f = &f->children[0];
	return f;
}

BfStatus
bf_key_set_new(BfArena *a, const BfField *fields, int32_t n, uint64_t seed, size_t key_bytes_max,
			   BfKeySet **out, BfError *err)
{
	BfKeySet *s;

	BF_ASSERT(n > 0);
	BF_NEW(a, s, 1, err);
	BF_NEW(a, s->columns, n, err);
	s->n = n;
	s->fields = fields;
	for (int32_t i = 0; i < n; i++)
		BF_ASSERT(i == 0 || bf_key_leaf(&fields[i - 1])->id < bf_key_leaf(&fields[i])->id);
	BF_TRY(bf_buffer_new(a, key_bytes_max, &s->key, err));
	BF_TRY(bfi_map_init(a, seed, &s->map, err));
	*out = s;
	return BF_OK;
}

const BfField *
bf_key_set_fields(const BfKeySet *s, int32_t *n)
{
	*n = s->n;
	return s->fields;
}

int64_t
bf_key_set_n(const BfKeySet *s)
{
	return (int64_t) s->map.n;
}

BfStatus
bf_key_set_reserve(BfKeySet *s, uint64_t more, BfError *err)
{
	return bfi_map_reserve(&s->map, more, err);
}

BfStatus
bf_key_set_add(BfKeySet *s, const BfBatch *b, int64_t sequence, BfError *err)
{
	Group g;

	BF_ASSERT(b->n_cols == s->n && b->selected == NULL);
	for (int32_t k = 0; k < s->n; k++)
		s->columns[k] = &b->cols[k];
	for (int32_t base = 0; base < b->n_rows; base += GROUP_ROWS)
	{
		g.n = b->n_rows - base < GROUP_ROWS ? b->n_rows - base : GROUP_ROWS;
		for (int32_t i = 0; i < g.n; i++)
			g.rows[i] = base + i;
		BF_TRY(write_keys(s, s->columns, &g, err));
		for (int32_t i = 0; i < g.n; i++)
		{
			int64_t *newest;

			BF_TRY(bfi_map_put(&s->map, s->key->data + g.starts[i], g.starts[i + 1] - g.starts[i],
							   g.hashes[i], sequence, &newest, err));
			if (*newest < sequence)
				*newest = sequence;
		}
	}
	return BF_OK;
}

/* Clears the bits of the group's rows that were deleted after `sequence`. */
static void
clear_group(const BfKeySet *s, int64_t sequence, const Group *g, uint64_t *rows)
{
	for (int32_t i = 0; i < g->n; i++)
	{
		const int64_t *newest = bfi_map_find(&s->map, s->key->data + g->starts[i],
											 g->starts[i + 1] - g->starts[i], g->hashes[i]);

		if (newest != NULL && *newest > sequence)
			bf_validity_set(rows, g->rows[i], false);
	}
}

BfStatus
bf_key_set_clear(BfKeySet *s, int64_t sequence, int32_t n_rows, const BfVector *const *columns,
				 uint64_t *rows, BfError *err)
{
	Group g;

	g.n = 0;
	for (int32_t base = 0; base < n_rows; base += 64)
		for (uint64_t left = rows[base >> 6]; left != 0; left &= left - 1)
		{
			int32_t row = base + __builtin_ctzll(left);

			if (row >= n_rows)
				break;
			g.rows[g.n++] = row;
			if (g.n < GROUP_ROWS)
				continue;
			BF_TRY(write_keys(s, columns, &g, err));
			clear_group(s, sequence, &g, rows);
			g.n = 0;
		}
	BF_TRY(write_keys(s, columns, &g, err));
	clear_group(s, sequence, &g, rows);
	return BF_OK;
}
