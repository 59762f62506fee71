/*
 * Equality deletes: keys as bytes.
 *
 * A key is, per column in ascending order of field ids, 0 for NULL or 1 and the value: numbers in
 * the bytes of their storage, bytes and text behind their length. Values that are equal have the
 * same bytes: every NaN is written as the same one, decimals of more than 38 digits without sign
 * bytes that say nothing. -0 and 0 are two keys, as in the reference implementation.
 */
#include <math.h>

#include "exec/delete/internal.h"

#define KEY_COLUMNS_MAX 1000

/* Longest fixed part of a column: the NULL byte and 16 of a number, or a length. */
#define COLUMN_BYTES 17

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
	size_t starts[GROUP_ROWS + 1]; /* in t->key */
	uint64_t hashes[GROUP_ROWS];
} Group;

/* The keys of g->rows. */
static BfStatus
write_keys(BfiKeyTable *t, const BfVector *const *columns, Group *g, BfError *err)
{
	t->key->len = 0;
	for (int32_t i = 0; i < g->n; i++)
	{
		g->starts[i] = t->key->len;
		for (int32_t k = 0; k < t->n; k++)
			BF_TRY(append_row(t->key, columns[k], g->rows[i], err));
		g->hashes[i] =
			bfi_map_hash(&t->map, t->key->data + g->starts[i], t->key->len - g->starts[i]);
		bfi_map_prefetch(&t->map, g->hashes[i]);
	}
	g->starts[g->n] = t->key->len;
	return BF_OK;
}

static BfStatus
add_batch(BfiKeyTable *t, const BfBatch *b, int64_t sequence, BfError *err)
{
	Group g;

	for (int32_t k = 0; k < t->n; k++)
		t->columns[k] = &b->cols[k];
	for (int32_t base = 0; base < b->n_rows; base += GROUP_ROWS)
	{
		g.n = b->n_rows - base < GROUP_ROWS ? b->n_rows - base : GROUP_ROWS;
		for (int32_t i = 0; i < g.n; i++)
			g.rows[i] = base + i;
		BF_TRY(write_keys(t, t->columns, &g, err));
		for (int32_t i = 0; i < g.n; i++)
		{
			int64_t *newest;

			BF_TRY(bfi_map_put(&t->map, t->key->data + g.starts[i], g.starts[i + 1] - g.starts[i],
							   g.hashes[i], sequence, &newest, err));
			if (*newest < sequence)
				*newest = sequence;
		}
	}
	return BF_OK;
}

static BfStatus
add_rows(BfDeleteCache *c, BfiKeyTable *t, BfReader *reader, int64_t sequence, BfError *err)
{
	for (;;)
	{
		const BfBatch *b;

		BF_TRY(bf_check_cancel(bf_arena_host(c->arena), err));
		BF_TRY(reader->next(reader, &b, err));
		if (b == NULL)
			break;
		BF_TRY(add_batch(t, b, sequence, err));
		c->counters.keys += b->n_rows;
	}
	c->counters.files_read++;
	return BF_OK;
}

const BfField *
bfi_key_leaf(const BfField *f)
{
	while (f->type.kind == BF_KIND_STRUCT && f->n_children == 1)
		f = &f->children[0];
	return f;
}

/* A copy of a key column, whose parts must all be there or need not be. */
static BfStatus
copy_column(BfArena *a, const BfField *f, bool required, BfField *out, BfError *err)
{
	*out = *f;
	out->required = required;
	if (required)
		out->has_default = false;
	if (f->type.kind != BF_KIND_STRUCT || f->n_children != 1)
		return BF_OK;
	BF_NEW(a, out->children, 1, err);
	return copy_column(a, &f->children[0], required, &out->children[0], err);
}

/* Adds a file's keys. A key column that the file lacks is damage: as NULL it would delete rows that
 * nobody meant. */
static BfStatus
add_file(BfDeleteCache *c, BfiKeyTable *t, const BfDeleteSource *s, BfError *err)
{
	BfArena *scratch = NULL;
	BfReader *reader;
	BfField *fields;
	BfStatus status;
	uint64_t n;

	BF_NEW(c->arena, fields, t->n, err);
	for (int32_t i = 0; i < t->n; i++)
		BF_TRY(copy_column(c->arena, &t->fields[i], true, &fields[i], err));
	status = bfi_delete_open(c, s, fields, t->n, &scratch, &reader, &n, err);
	if (status == BF_OK)
		status = bfi_map_reserve(&t->map, n, err);
	if (status == BF_OK)
		status = add_rows(c, t, reader, s->sequence, err);
	bf_arena_free(scratch);
	return status;
}

/* Ascending, each once. */
static BfStatus
sort_ids(const BfDeleteSource *s, int32_t *ids, int32_t *n, BfError *err)
{
	*n = 0;
	BF_DATA(err, s->n_ids > 0 && s->n_ids <= KEY_COLUMNS_MAX, -1,
			"equality delete file has a key of %d columns", s->n_ids);
	for (int32_t i = 0; i < s->n_ids; i++)
	{
		int32_t k = *n;

		while (k > 0 && ids[k - 1] > s->ids[i])
			k--;
		if (k > 0 && ids[k - 1] == s->ids[i])
			continue;
		memmove(ids + k + 1, ids + k, (size_t) (*n - k) * sizeof *ids);
		ids[k] = s->ids[i];
		++*n;
	}
	return BF_OK;
}

static BfStatus
new_table(BfDeleteCache *c, const int32_t *ids, int32_t n, BfiKeyTable **out, BfError *err)
{
	BfiKeyTable *t;

	BF_NEW(c->arena, t, 1, err);
	BF_NEW(c->arena, t->fields, n, err);
	BF_NEW(c->arena, t->columns, n, err);
	t->n = n;
	for (int32_t i = 0; i < n; i++)
	{
		const BfField *f, *leaf;

		BF_TRY(c->options.column_of(c->options.arg, c->arena, ids[i], &f, err));
		BF_DATA(err, f != NULL, -1,
				"equality delete file has field %d in its key, which no schema of the table has",
				ids[i]);
		leaf = bfi_key_leaf(f);
		if (leaf->id != ids[i] || bf_type_storage(leaf->type) == BF_STORE_NESTED)
		{
			bf_error(err, BF_ERR_UNSUPPORTED,
					 "equality deletes by lists, maps and whole structs are not read");
			return bf_error_column(err, leaf->name);
		}
		BF_TRY(copy_column(c->arena, f, false, &t->fields[i], err));
	}
	BF_TRY(bf_buffer_new(c->arena, c->options.bytes_max, &t->key, err));
	*out = t;
	return bfi_map_init(c->arena, c->seed, &t->map, err);
}

/* The table of the source's scope and ids; `name` is scratch. */
static BfStatus
find_table(BfDeleteCache *c, const BfDeleteSource *s, BfBuffer *name, BfiKeyTable **out,
		   BfError *err)
{
	int32_t ids[KEY_COLUMNS_MAX];
	const int64_t *known;
	int64_t *ignored;
	uint64_t hash;
	int32_t n;

	BF_TRY(sort_ids(s, ids, &n, err));
	BF_TRY(bf_buffer_append(name, &s->scope, sizeof s->scope, err));
	BF_TRY(bf_buffer_append(name, &n, sizeof n, err));
	BF_TRY(bf_buffer_append(name, ids, (size_t) n * sizeof *ids, err));
	if (s->scope == BF_DELETE_SCOPE_OWN)
		BF_TRY(bf_buffer_append(name, s->path, strlen(s->path), err));
	hash = bfi_map_hash(&c->tables, name->data, name->len);
	known = bfi_map_find(&c->tables, name->data, name->len, hash);
	if (known != NULL)
	{
		*out = (BfiKeyTable *) (intptr_t) *known;
		return BF_OK;
	}
	BF_TRY(new_table(c, ids, n, out, err));
	return bfi_map_put(&c->tables, name->data, name->len, hash, (int64_t) (intptr_t) *out, &ignored,
					   err);
}

static BfStatus
load_table(BfDeleteCache *c, const BfDeleteSource *s, BfBuffer *name, BfiKeyTable **out,
		   BfError *err)
{
	uint64_t hash;
	int64_t *read;

	BF_TRY(find_table(c, s, name, out, err));
	name->len = 0;
	BF_TRY(bf_buffer_append(name, out, sizeof *out, err));
	BF_TRY(bf_buffer_append(name, s->path, strlen(s->path), err));
	hash = bfi_map_hash(&c->key_files, name->data, name->len);
	if (bfi_map_find(&c->key_files, name->data, name->len, hash) != NULL)
		return BF_OK;
	/* After a failure halfway the scan has failed; read again, the same keys come out. */
	BF_TRY(add_file(c, *out, s, err));
	return bfi_map_put(&c->key_files, name->data, name->len, hash, 1, &read, err);
}

BfStatus
bfi_key_table(BfDeleteCache *c, const BfDeleteSource *s, BfiKeyTable **out, BfError *err)
{
	BfBuffer name;
	BfStatus status;

	bf_buffer_init(&name, bf_arena_host(c->arena), c->options.bytes_max);
	status = load_table(c, s, &name, out, err);
	bf_buffer_free(&name);
	if (status != BF_OK)
		return bf_error_object(err, s->path);
	return BF_OK;
}

/* Clears the bits of the group's rows that were deleted after `sequence`. */
static void
clear_group(const BfiKeyTable *t, int64_t sequence, const Group *g, uint64_t *rows)
{
	for (int32_t i = 0; i < g->n; i++)
	{
		const int64_t *newest = bfi_map_find(&t->map, t->key->data + g->starts[i],
											 g->starts[i + 1] - g->starts[i], g->hashes[i]);

		if (newest != NULL && *newest > sequence)
			bf_validity_set(rows, g->rows[i], false);
	}
}

BfStatus
bfi_key_table_apply(BfiKeyTable *t, int64_t sequence, int32_t n_rows,
					const BfVector *const *columns, uint64_t *rows, BfError *err)
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
			BF_TRY(write_keys(t, columns, &g, err));
			clear_group(t, sequence, &g, rows);
			g.n = 0;
		}
	BF_TRY(write_keys(t, columns, &g, err));
	clear_group(t, sequence, &g, rows);
	return BF_OK;
}
