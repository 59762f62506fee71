#include "exec/read/avro_reader.h"
#include "exec/delete/internal.h"
#include "exec/read/parquet_reader.h"

/* A key table and where its columns are among the fields of the whole. */
typedef struct TableUse
{
	BfiKeyTable *table;
	int32_t *columns;
} TableUse;

struct BfDeletes
{
	BfDeleteCache *cache;
	int64_t sequence; /* of the data file */
	int32_t n_sets;
	BfRows **sets; /* the cache's, or of this data file */
	int32_t n_tables;
	TableUse *tables;
	int32_t n_fields;
	BfField *fields;
	const BfVector **columns;  /* of the batch, by fields */
	const BfVector **selected; /* of one table */
};

static void
free_arena(void *arg)
{
	bf_arena_free(arg);
}

BfStatus
bf_delete_cache_new(BfArena *a, const BfDeleteOptions *options, BfDeleteCache **out, BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	BfDeleteCache *c;

	BF_NEW(a, c, 1, err);
	c->options = *options;
	c->arena = bf_arena_new(host, "deletes", options->bytes_max);
	if (c->arena == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory for deletes");
	if (!bf_arena_on_cleanup(a, free_arena, c->arena))
	{
		bf_arena_free(c->arena);
		return bf_arena_fail(a, 0, err);
	}
	BF_TRY(host->random(host, &c->seed, sizeof c->seed, err));
	BF_TRY(bfi_map_init(c->arena, c->seed, &c->positions, err));
	BF_TRY(bfi_map_init(c->arena, c->seed, &c->tables, err));
	BF_TRY(bfi_map_init(c->arena, c->seed, &c->key_files, err));
	*out = c;
	return BF_OK;
}

const BfDeleteCounters *
bf_delete_counters(const BfDeleteCache *c)
{
	return &c->counters;
}

BfStatus
bfi_delete_open(BfDeleteCache *c, const BfDeleteSource *s, const BfField *fields, int32_t n,
				BfArena **scratch, BfReader **out, uint64_t *n_rows, BfError *err)
{
	BfArena *a = bf_arena_new(bf_arena_host(c->arena), "delete file", c->options.bytes_max);
	BfProjection *projection;
	BfSchema *schema;
	BfParquetFile *file;
	BfSource *source;
	int32_t *indexes;

	*scratch = a;
	if (a == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory for a delete file");
	BF_NEW(a, schema, 1, err);
	BF_NEW(a, projection, 1, err);
	BF_NEW(a, indexes, n, err);
	BF_TRY_PTR(a, schema->fields, bf_arena_memdup(a, fields, (size_t) n * sizeof *fields), err);
	schema->n_fields = n;
	for (int32_t i = 0; i < n; i++)
		indexes[i] = i;
	projection->schema = schema;
	projection->fields = indexes;
	projection->n_fields = n;
	BF_TRY(bf_source_open(a, s->path, c->options.io, &source, err));
	if (n_rows != NULL)
		*n_rows = 0;
	if (s->avro)
		return bf_exec_avro_reader_over(a, source, projection, NULL, out, err);
	BF_TRY(bf_parquet_open(a, source, NULL, &file, err));
	bf_parquet_verify_checksums(file, !c->options.no_checksums);
	if (n_rows != NULL)
	{
		/* A footer can claim any number. Few rows take less than a bit. */
		int64_t most = 8 * bf_source_size(source);

		*n_rows = (uint64_t) (bf_parquet_n_rows(file) < most ? bf_parquet_n_rows(file) : most);
	}
	return bf_exec_parquet_reader_over(a, file, projection, NULL, 0, -1, NULL, out, err);
}

/* By the id of the leaf: members of one struct are columns of their own. */
static int32_t
field_index(const BfDeletes *d, int32_t id)
{
	for (int32_t i = 0; i < d->n_fields; i++)
		if (bfi_key_leaf(&d->fields[i])->id == id)
			return i;
	return -1;
}

/* Adds a table once, and its fields to those that must be read. */
static BfStatus
use_table(BfArena *a, BfDeletes *d, BfiKeyTable *t, BfError *err)
{
	BfField *fields;
	TableUse *use = &d->tables[d->n_tables];

	for (int32_t i = 0; i < d->n_tables; i++)
		if (d->tables[i].table == t)
			return BF_OK;
	BF_NEW(a, fields, d->n_fields + t->n, err);
	if (d->n_fields > 0)
		memcpy(fields, d->fields, (size_t) d->n_fields * sizeof *fields);
	d->fields = fields;
	use->table = t;
	BF_NEW(a, use->columns, t->n, err);
	for (int32_t k = 0; k < t->n; k++)
	{
		int32_t at = field_index(d, bfi_key_leaf(&t->fields[k])->id);

		if (at < 0)
		{
			at = d->n_fields++;
			d->fields[at] = t->fields[k];
		}
		use->columns[k] = at;
	}
	d->n_tables++;
	return BF_OK;
}

static BfStatus
use_source(BfArena *a, BfDeletes *d, const char *data_path, const BfDeleteSource *s, BfError *err)
{
	BfiKeyTable *table;
	BfRows *set = NULL;

	switch (s->kind)
	{
		case BF_DELETE_POSITION: BF_TRY(bfi_positions(d->cache, s, data_path, &set, err)); break;
		case BF_DELETE_VECTOR:
			BF_NEW(a, set, 1, err);
			BF_TRY(bfi_vector_read(a, d->cache, s, set, err));
			break;
		case BF_DELETE_EQUALITY:
			/* The planner gives only those that are newer. */
			BF_NEVER(err, s->sequence <= d->sequence);
			BF_TRY(bfi_key_table(d->cache, s, &table, err));
			return table->map.n > 0 ? use_table(a, d, table, err) : BF_OK;
	}
	if (set != NULL && set->n > 0)
		d->sets[d->n_sets++] = set;
	return BF_OK;
}

BfStatus
bf_deletes_new(BfArena *a, BfDeleteCache *c, const char *data_path, int64_t data_sequence,
			   const BfDeleteSource *sources, int32_t n, BfDeletes **out, BfError *err)
{
	BfDeletes *d;

	*out = NULL;
	if (n == 0)
		return BF_OK;
	BF_NEW(a, d, 1, err);
	BF_NEW(a, d->sets, n, err);
	BF_NEW(a, d->tables, n, err);
	d->cache = c;
	d->sequence = data_sequence;
	for (int32_t i = 0; i < n; i++)
		BF_TRY(use_source(a, d, data_path, &sources[i], err));
	BF_NEW(a, d->columns, d->n_fields, err);
	BF_NEW(a, d->selected, d->n_fields, err);
	if (d->n_sets > 0 || d->n_tables > 0)
		*out = d;
	return BF_OK;
}

void
bf_deletes_count_dangling(BfDeletes *d, int64_t n_rows)
{
	for (int32_t i = 0; i < d->n_sets && n_rows >= 0; i++)
		d->cache->counters.dangling += (int64_t) bf_rows_from(d->sets[i], (uint64_t) n_rows);
}

const BfField *
bf_deletes_fields(const BfDeletes *d, int32_t *n)
{
	*n = d->n_fields;
	return d->fields;
}

static BfStatus
apply_tables(BfDeletes *d, int32_t n_rows, BfColumnOf column_of, void *arg, uint64_t *rows,
			 BfError *err)
{
	for (int32_t i = 0; i < d->n_fields; i++)
	{
		d->columns[i] = column_of(arg, i);
		BF_NEVER(err, d->columns[i] == NULL || d->columns[i]->n < n_rows ||
						  d->columns[i]->storage != bf_type_storage(d->fields[i].type));
	}
	for (int32_t i = 0; i < d->n_tables; i++)
	{
		const TableUse *use = &d->tables[i];

		for (int32_t k = 0; k < use->table->n; k++)
			d->selected[k] = d->columns[use->columns[k]];
		BF_TRY(bfi_key_table_apply(use->table, d->sequence, n_rows, d->selected, rows, err));
	}
	return BF_OK;
}

BfStatus
bf_deletes_apply(BfDeletes *d, int64_t first_row, int32_t n_rows, BfColumnOf column_of, void *arg,
				 uint64_t *rows, BfError *err)
{
	int64_t before = bf_validity_count(rows, n_rows);

	BF_NEVER(err, first_row < 0 || n_rows < 0 || n_rows > BF_BATCH_ROWS);
	BF_TRY(bf_check_cancel(bf_arena_host(d->cache->arena), err));
	for (int32_t i = 0; i < d->n_sets; i++)
		bf_rows_clear(d->sets[i], (uint64_t) first_row, n_rows, rows);
	if (d->n_tables > 0)
		BF_TRY(apply_tables(d, n_rows, column_of, arg, rows, err));
	d->cache->counters.rows_deleted += before - bf_validity_count(rows, n_rows);
	return BF_OK;
}
