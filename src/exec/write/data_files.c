/*
 * exec/write/data_files.c: see data_files.h.
 */
#include "exec/write/data_files.h"

#include "io/publish.h"

/* Beside what row groups hold: dictionaries, compression, buffers that grow by doubling. */
#define WRITER_BYTES_MAX ((size_t) 1 << 30)

struct BfDataFiles
{
	BfArena *arena;
	BfDataFilesWhat what;
	BfDataFile *files;
	int32_t n_files;
	int32_t n_files_max;

	/* Of the file that is open. */
	BfArena *file_arena; /* NULL = none is */
	BfPublish *file;
	BfParquetWriter *writer;
	const char *path;
};

static void
drop_file(void *arg)
{
	BfDataFiles *d = arg;

	if (d->file_arena != NULL)
		bf_arena_free(d->file_arena);
	d->file_arena = NULL;
}

BfStatus
bf_data_files_new(BfArena *a, const BfDataFilesWhat *what, BfDataFiles **out, BfError *err)
{
	BfDataFiles *d;

	BF_ASSERT(what->target_bytes > 0 && what->name != NULL && what->schema->n_fields > 0);
	BF_NEW(a, d, 1, err);
	d->arena = a;
	d->what = *what;
	if (!bf_arena_on_cleanup(a, drop_file, d))
		return bf_arena_fail(a, 0, err);
	*out = d;
	return BF_OK;
}

static BfStatus
begin_file(BfDataFiles *d, BfError *err)
{
	BF_ASSERT(d->file_arena == NULL);
	d->file_arena = bf_arena_new(bf_arena_host(d->arena), "data file", WRITER_BYTES_MAX);
	if (d->file_arena == NULL)
		return bf_arena_fail(d->arena, 0, err);
	BF_TRY(d->what.name(d->what.arg, &d->path, err));
	BF_TRY(bf_publish_begin(d->file_arena, d->path, &d->file, err));
	return bf_parquet_writer_new(d->file_arena, bf_output_publish(d->file), d->what.schema,
								 d->what.parquet, &d->writer, err);
}

/* Bytes of a bound are the writer's. */
static BfStatus
keep_value(BfArena *a, BfValue *v, BfError *err)
{
	if (!v->is_null && bf_type_storage(v->type) == BF_STORE_VIEW && v->v.view.len > 0)
		BF_TRY_PTR(a, v->v.view.ptr, bf_arena_memdup(a, v->v.view.ptr, v->v.view.len), err);
	return BF_OK;
}

static BfStatus
keep_written(BfArena *a, const BfParquetWritten *w, BfParquetWritten *out, BfError *err)
{
	BfParquetColumnMetrics *columns;

	*out = *w;
	BF_NEW_RAW(a, columns, w->n_columns, err);
	for (int32_t i = 0; i < w->n_columns; i++)
	{
		columns[i] = w->columns[i];
		if (columns[i].has_lower)
			BF_TRY(keep_value(a, &columns[i].lower, err));
		if (columns[i].has_upper)
			BF_TRY(keep_value(a, &columns[i].upper, err));
	}
	out->columns = columns;
	BF_ASSERT(w->n_row_groups > 0);
	BF_TRY_PTR(a, out->splits,
			   bf_arena_memdup(a, w->splits, (size_t) w->n_row_groups * sizeof *w->splits), err);
	return BF_OK;
}

static BfStatus
grow(BfDataFiles *d, BfError *err)
{
	int32_t n = d->n_files_max > 0 ? 2 * d->n_files_max : 16;
	BfDataFile *more;

	if (d->n_files < d->n_files_max)
		return BF_OK;
	BF_NEW_RAW(d->arena, more, n, err);
	if (d->n_files > 0)
		memcpy(more, d->files, (size_t) d->n_files * sizeof *more);
	d->files = more;
	d->n_files_max = n;
	return BF_OK;
}

BfStatus
bf_data_files_end(BfDataFiles *d, BfError *err)
{
	BfParquetWritten written;
	BfDataFile *f;

	if (d->file_arena == NULL)
		return BF_OK;
	BF_TRY(grow(d, err));
	BF_TRY(bf_parquet_writer_close(d->writer, &written, err));
	BF_TRY(bf_publish_finish(d->file, err));
	BF_ASSERT(written.rows > 0 && written.bytes == bf_publish_position(d->file));
	f = &d->files[d->n_files];
	f->path = d->path;
	BF_TRY(keep_written(d->arena, &written, &f->is, err));
	d->n_files++;
	drop_file(d);
	return BF_OK;
}

BfStatus
bf_data_files_write(BfDataFiles *d, const BfBatch *batch, BfError *err)
{
	if (batch->n_rows == 0)
		return BF_OK;
	if (d->file_arena == NULL)
		BF_TRY(begin_file(d, err));
	BF_TRY(bf_parquet_writer_write(d->writer, batch, err));
	if (bf_parquet_writer_bytes(d->writer) >= d->what.target_bytes)
		return bf_data_files_end(d, err);
	return BF_OK;
}

const BfDataFile *
bf_data_files_all(const BfDataFiles *d, int32_t *n)
{
	*n = d->n_files;
	return d->files;
}
