/*
 * exec/filter/deletes.c: see deletes.h.
 */
#include "exec/filter/deletes.h"

/* A set of keys and where its columns are among the fields of the whole. */
typedef struct KeysUse
{
	BfKeySet *keys;
	int32_t *columns;
} KeysUse;

struct BfDeletes
{
	const BfHost *host;
	int64_t sequence; /* of the data file */
	int32_t n_sets;
	int32_t sets_room;
	BfRows **sets;
	int32_t n_keys;
	int32_t keys_room;
	KeysUse *keys;
	int32_t n_fields;
	BfField *fields;
	const BfVector **columns;  /* of the batch, by fields */
	const BfVector **selected; /* of one set of keys */
};

BfStatus
bf_deletes_new(BfArena *a, int64_t sequence, BfDeletes **out, BfError *err)
{
	BF_NEW(a, *out, 1, err);
	(*out)->host = bf_arena_host(a);
	(*out)->sequence = sequence;
	return BF_OK;
}

/* Makes room for one more of n things. */
static BfStatus
grow(BfArena *a, size_t size, int32_t n, int32_t *room, void **things, BfError *err)
{
	int32_t more = n == 0 ? 4 : 2 * n;
	void *old = *things;

	BF_ASSERT(n >= 0 && n <= *room);
	if (n < *room)
		return BF_OK;
	if (n > INT32_MAX / 2)
		BF_FAIL(err, BF_ERR_LIMIT, "too many deletes of one file");
	BF_TRY_PTR(a, *things, bf_arena_alloc_array(a, (size_t) more, size), err);
	if (n > 0)
		memcpy(*things, old, (size_t) n * size);
	*room = more;
	return BF_OK;
}

BfStatus
bf_deletes_add_rows(BfArena *a, BfDeletes *d, BfRows *rows, BfError *err)
{
	void *sets = d->sets;

	if (rows->n == 0)
		return BF_OK;
	BF_TRY(grow(a, sizeof *d->sets, d->n_sets, &d->sets_room, &sets, err));
	d->sets = sets;
	BF_ASSERT(d->n_sets < d->sets_room);
	d->sets[d->n_sets++] = rows;
	return BF_OK;
}

/* By the id of the leaf: members of one struct are columns of their own. */
static int32_t
field_index(const BfDeletes *d, int32_t id)
{
	for (int32_t i = 0; i < d->n_fields; i++)
		if (bf_key_leaf(&d->fields[i])->id == id)
			return i;
	return -1;
}

/* Where the set's columns are; new ones are added. */
static BfStatus
add_fields(BfArena *a, BfDeletes *d, KeysUse *use, BfError *err)
{
	BfField *fields;
	const BfField *of_keys;
	int32_t n;

	of_keys = bf_key_set_fields(use->keys, &n);
	BF_NEW(a, fields, d->n_fields + n, err);
	BF_NEW(a, d->columns, d->n_fields + n, err);
	BF_NEW(a, d->selected, d->n_fields + n, err);
	BF_NEW(a, use->columns, n, err);
	if (d->n_fields > 0)
		memcpy(fields, d->fields, (size_t) d->n_fields * sizeof *fields);
	d->fields = fields;
	for (int32_t k = 0; k < n; k++)
	{
		int32_t at = field_index(d, bf_key_leaf(&of_keys[k])->id);

		if (at < 0)
		{
			at = d->n_fields++;
			d->fields[at] = of_keys[k];
		}
		BF_ASSERT(at < d->n_fields && bf_type_equal(d->fields[at].type, of_keys[k].type));
		use->columns[k] = at;
	}
	return BF_OK;
}

BfStatus
bf_deletes_add_keys(BfArena *a, BfDeletes *d, BfKeySet *keys, BfError *err)
{
	void *uses = d->keys;

	if (bf_key_set_n(keys) == 0)
		return BF_OK;
	for (int32_t i = 0; i < d->n_keys; i++)
		if (d->keys[i].keys == keys)
			return BF_OK;
	BF_TRY(grow(a, sizeof *d->keys, d->n_keys, &d->keys_room, &uses, err));
	d->keys = uses;
	BF_ASSERT(d->n_keys < d->keys_room);
	d->keys[d->n_keys].keys = keys;
	BF_TRY(add_fields(a, d, &d->keys[d->n_keys], err));
	d->n_keys++;
	return BF_OK;
}

bool
bf_deletes_any(const BfDeletes *d)
{
	return d->n_sets > 0 || d->n_keys > 0;
}

int64_t
bf_deletes_behind(const BfDeletes *d, int64_t n_rows)
{
	int64_t n = 0;

	for (int32_t i = 0; i < d->n_sets && n_rows >= 0; i++)
		n += (int64_t) bf_rows_from(d->sets[i], (uint64_t) n_rows);
	return n;
}

const BfField *
bf_deletes_fields(const BfDeletes *d, int32_t *n)
{
	*n = d->n_fields;
	return d->fields;
}

static BfStatus
clear_keys(BfDeletes *d, int32_t n_rows, BfColumnOf column_of, void *arg, uint64_t *rows,
		   BfError *err)
{
	for (int32_t i = 0; i < d->n_fields; i++)
	{
		d->columns[i] = column_of(arg, i);
		BF_NEVER(err, d->columns[i] == NULL || d->columns[i]->n < n_rows ||
						  d->columns[i]->storage != bf_type_storage(d->fields[i].type));
	}
	for (int32_t i = 0; i < d->n_keys; i++)
	{
		const KeysUse *use = &d->keys[i];
		int32_t n;

		(void) bf_key_set_fields(use->keys, &n);
		for (int32_t k = 0; k < n; k++)
			d->selected[k] = d->columns[use->columns[k]];
		BF_TRY(bf_key_set_clear(use->keys, d->sequence, n_rows, d->selected, rows, err));
	}
	return BF_OK;
}

BfStatus
bf_deletes_apply(BfDeletes *d, int64_t first_row, int32_t n_rows, BfColumnOf column_of, void *arg,
				 uint64_t *rows, BfError *err)
{
	BF_NEVER(err, first_row < 0 || n_rows < 0 || n_rows > BF_BATCH_ROWS);
	BF_TRY(bf_check_cancel(d->host, err));
	BF_ASSERT(bf_deletes_any(d));
	for (int32_t i = 0; i < d->n_sets; i++)
		bf_rows_clear(d->sets[i], (uint64_t) first_row, n_rows, rows);
	return d->n_keys > 0 ? clear_keys(d, n_rows, column_of, arg, rows, err) : BF_OK;
}
