/*
 * Readers of delete files, for those of rows and those of keys.
 */
#include "exec/delete/internal.h"
#include "exec/read/avro_reader.h"
#include "exec/read/counted.h"
#include "exec/read/parquet_reader.h"
BfStatus
bfi_delete_open(BfDeleteCache *c, const BfDeleteSource *s, const BfField *fields, int32_t n,
				BfArena **scratch, BfReader **out, uint64_t *n_rows, BfError *err)
{
	BfArena *a = bf_arena_new(bf_arena_host(c->arena), "delete file", c->options.bytes_max);
	BfProjection *projection;
	BfSchema *schema;
	const BfRowClaim says = {.n = c->options.unverified ? -1 : s->record_count, .more = true};
	BfParquetFile *file;
	BfReader *reader;
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
	{
		BF_TRY(bf_exec_avro_reader_over(a, source, projection, NULL, &reader, err));
		return bf_counted_reader(a, reader, says, out, err);
	}
	BF_TRY(bf_parquet_open(a, source, NULL, &file, err));
	BF_TRY(bf_counted_check("file", s->path, bf_parquet_n_rows(file), says, err));
	bf_parquet_verify_checksums(file, !c->options.unverified);
	if (n_rows != NULL)
	{
		/* A footer can claim any number. Few rows take less than a bit. */
		int64_t most = 8 * bf_source_size(source);

		*n_rows = (uint64_t) (bf_parquet_n_rows(file) < most ? bf_parquet_n_rows(file) : most);
	}
	return bf_exec_parquet_reader_over(a, file, projection, NULL, 0, -1, NULL, out, err);
}
