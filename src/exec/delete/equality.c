/*
 * Equality delete files: their keys, in one set per scope and list of columns.
 */
#include "exec/delete/internal.h"

#define KEY_COLUMNS_MAX 1000

static BfStatus
add_rows(BfDeleteCache *c, BfKeySet *keys, BfReader *reader, int64_t sequence, BfError *err)
{
	for (;;)
	{
		const BfBatch *b;

		BF_TRY(bf_check_cancel(bf_arena_host(c->arena), err));
		BF_TRY(reader->next(reader, &b, err));
		if (b == NULL)
			break;
		BF_ASSERT(b->n_rows > 0);
		BF_TRY(bf_key_set_add(keys, b, sequence, err));
		c->counters.keys += b->n_rows;
	}
	c->counters.files_read++;
	return BF_OK;
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
add_file(BfDeleteCache *c, BfKeySet *keys, const BfDeleteSource *s, BfError *err)
{
	BfArena *scratch = NULL;
	BfReader *reader;
	const BfField *optional;
	BfField *fields;
	BfStatus status;
	int32_t n_fields;
	uint64_t n;

	optional = bf_key_set_fields(keys, &n_fields);
	BF_ASSERT(n_fields > 0);
	BF_NEW(c->arena, fields, n_fields, err);
	for (int32_t i = 0; i < n_fields; i++)
		BF_TRY(copy_column(c->arena, &optional[i], true, &fields[i], err));
	status = bfi_delete_open(c, s, fields, n_fields, &scratch, &reader, &n, err);
	if (status == BF_OK)
		status = bf_key_set_reserve(keys, n, err);
	if (status == BF_OK)
		status = add_rows(c, keys, reader, s->sequence, err);
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
		BF_ASSERT(k == 0 || ids[k - 1] < s->ids[i]);
		memmove(ids + k + 1, ids + k, (size_t) (*n - k) * sizeof *ids);
		ids[k] = s->ids[i];
		++*n;
	}
	return BF_OK;
}

static BfStatus
new_keys(BfDeleteCache *c, const int32_t *ids, int32_t n, BfKeySet **out, BfError *err)
{
	BfField *fields;

	BF_NEW(c->arena, fields, n, err);
	for (int32_t i = 0; i < n; i++)
	{
		const BfField *f, *leaf;

		BF_TRY(c->options.column_of(c->options.arg, c->arena, ids[i], &f, err));
		BF_DATA(err, f != NULL, -1,
				"equality delete file has field %d in its key, which no schema of the table has",
				ids[i]);
		leaf = bf_key_leaf(f);
		if (leaf->id != ids[i] || bf_type_storage(leaf->type) == BF_STORE_NESTED)
		{
			bf_error(err, BF_ERR_UNSUPPORTED,
					 "equality deletes by lists, maps and whole structs are not read");
			return bf_error_column(err, leaf->name);
		}
		BF_TRY(copy_column(c->arena, f, false, &fields[i], err));
	}
	return bf_key_set_new(c->arena, fields, n, c->seed, c->options.bytes_max, out, err);
}

/* The set of the source's scope and ids; `name` is scratch. */
static BfStatus
find_keys(BfDeleteCache *c, const BfDeleteSource *s, BfBuffer *name, BfKeySet **out, BfError *err)
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
	hash = bf_map_hash(&c->key_sets, name->data, name->len);
	known = bf_map_find(&c->key_sets, name->data, name->len, hash);
	if (known != NULL)
	{
		*out = (BfKeySet *) (intptr_t) *known;
		return BF_OK;
	}
	BF_TRY(new_keys(c, ids, n, out, err));
	return bf_map_put(&c->key_sets, name->data, name->len, hash, (int64_t) (intptr_t) *out,
					  &ignored, err);
}

static BfStatus
load_keys(BfDeleteCache *c, const BfDeleteSource *s, BfBuffer *name, BfKeySet **out, BfError *err)
{
	uint64_t hash;
	int64_t *read;

	BF_TRY(find_keys(c, s, name, out, err));
	name->len = 0;
	BF_TRY(bf_buffer_append(name, out, sizeof *out, err));
	BF_TRY(bf_buffer_append(name, s->path, strlen(s->path), err));
	hash = bf_map_hash(&c->key_files, name->data, name->len);
	if (bf_map_find(&c->key_files, name->data, name->len, hash) != NULL)
		return BF_OK;
	/* After a failure halfway the scan has failed; read again, the same keys come out. */
	BF_TRY(add_file(c, *out, s, err));
	return bf_map_put(&c->key_files, name->data, name->len, hash, 1, &read, err);
}

BfStatus
bfi_equality(BfDeleteCache *c, const BfDeleteSource *s, BfKeySet **out, BfError *err)
{
	BfBuffer name;
	BfStatus status;

	BF_ASSERT(s->kind == BF_DELETE_EQUALITY);
	bf_buffer_init(&name, bf_arena_host(c->arena), c->options.bytes_max);
	status = load_keys(c, s, &name, out, err);
	bf_buffer_free(&name);
	if (status != BF_OK)
		return bf_error_object(err, s->path);
	return BF_OK;
}
