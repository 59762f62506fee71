/*
 * exec/delete/load.c: see load.h.
 */
#include "exec/delete/load.h"

#include "exec/delete/internal.h"
#include "exec/read/avro_reader.h"
#include "exec/read/parquet_reader.h"

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
	bf_map_init(&c->positions, c->arena, c->seed);
	bf_map_init(&c->key_sets, c->arena, c->seed);
	bf_map_init(&c->key_files, c->arena, c->seed);
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

	BF_ASSERT(n > 0 && s->kind != BF_DELETE_VECTOR);
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

/* Adds what the source deletes of the data file. */
static BfStatus
load_source(BfArena *a, BfDeleteCache *c, const char *data_path, int64_t data_sequence,
			const BfDeleteSource *s, BfDeletes *d, BfError *err)
{
	BfKeySet *keys;
	BfRows *set = NULL;

	switch (s->kind)
	{
		case BF_DELETE_POSITION: BF_TRY(bfi_positions(c, s, data_path, &set, err)); break;
		case BF_DELETE_VECTOR:
			BF_NEW(a, set, 1, err);
			BF_TRY(bfi_vector_read(a, c, s, set, err));
			break;
		case BF_DELETE_EQUALITY:
			/* The planner gives only those that are newer. */
			BF_NEVER(err, s->sequence <= data_sequence);
			BF_TRY(bfi_equality(c, s, &keys, err));
			return bf_deletes_add_keys(a, d, keys, err);
	}
	return set != NULL ? bf_deletes_add_rows(a, d, set, err) : BF_OK;
}

BfStatus
bf_deletes_load(BfArena *a, BfDeleteCache *c, const char *data_path, int64_t data_sequence,
				const BfDeleteSource *sources, int32_t n, BfDeletes **out, BfError *err)
{
	BfDeletes *d;

	BF_ASSERT(n >= 0);
	*out = NULL;
	if (n == 0)
		return BF_OK;
	BF_TRY(bf_deletes_new(a, data_sequence, &d, err));
	for (int32_t i = 0; i < n; i++)
		BF_TRY(load_source(a, c, data_path, data_sequence, &sources[i], d, err));
	if (bf_deletes_any(d))
		*out = d;
	return BF_OK;
}

void
bf_delete_count_dangling(BfDeleteCache *c, const BfDeletes *d, int64_t n_rows)
{
	BF_ASSERT(d != NULL);
	c->counters.dangling += bf_deletes_behind(d, n_rows);
}
