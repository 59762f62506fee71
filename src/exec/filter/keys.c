/*
 * exec/filter/keys.c: see keys.h.
 *
 * A key is that of vec/key.h, its columns in ascending order of field ids.
 */
#include "exec/filter/keys.h"

#include "base/map.h"
#include "vec/key.h"

struct BfKeySet
{
	int32_t n;
	const BfField *fields;	  /* borrowed */
	BfMap map;				  /* key -> newest sequence number */
	BfBuffer *key;			  /* scratch: keys of a few rows */
	const BfVector **columns; /* scratch, by fields */
};

/* The vector that has a key column's values: that of the leaf. *valid = false: a struct around it
 * is NULL in the row, and so is the key's part. */
static const BfVector *
leaf_of(const BfVector *v, int32_t row, bool *valid)
{
	*valid = true;
	while (v->storage == BF_STORE_NESTED && *valid)
	{
		*valid = bf_valid(v->validity, v->form == BF_VEC_CONST ? 0 : row);
		if (*valid)
			v = &v->children[0]; /* a struct of one member */
	}
	return v;
}

static BfStatus
append_row(BfBuffer *key, const BfVector *v, int32_t row, BfError *err)
{
	static const BfValue null = {.is_null = true};
	bool valid;

	v = leaf_of(v, row, &valid);
	return valid ? bf_key_row(key, v, row, BF_KEY_ZERO_SIGNED, err)
				 : bf_key_value(key, &null, BF_KEY_ZERO_SIGNED, err);
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
	BF_ASSERT(g->n >= 0 && g->n <= GROUP_ROWS);
	s->key->len = 0;
	for (int32_t i = 0; i < g->n; i++)
	{
		g->starts[i] = s->key->len;
		for (int32_t k = 0; k < s->n; k++)
			BF_TRY(append_row(s->key, columns[k], g->rows[i], err));
		g->hashes[i] =
			bf_map_hash(&s->map, s->key->data + g->starts[i], s->key->len - g->starts[i]);
		bf_map_prefetch(&s->map, g->hashes[i]);
	}
	BF_ASSERT(g->n == 0 || s->key->len > 0);
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
	bf_map_init(&s->map, a, seed);
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
	return s->map.n;
}

BfStatus
bf_key_set_reserve(BfKeySet *s, uint64_t more, BfError *err)
{
	return bf_map_reserve(&s->map, more, err);
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

			BF_TRY(bf_map_put(&s->map, s->key->data + g.starts[i], g.starts[i + 1] - g.starts[i],
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
		const int64_t *newest = bf_map_find(&s->map, s->key->data + g->starts[i],
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
	BF_ASSERT(n_rows >= 0 && n_rows <= BF_BATCH_ROWS);
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
