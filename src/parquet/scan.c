/*
 * A scan: some columns of a file, row group by row group, batch by batch.
 */
#include "parquet/internal.h"

typedef struct ScanColumn
{
	int32_t leaf; /* -1: nested */
	BfiColumn flat;
	BfiNested *nested;
} ScanColumn;

struct BfParquetScan
{
	BfParquetFile *file; /* borrowed */
	BfiShared shared;
	BfParquetCounters no_counters; /* counts for a caller that does not */
	int32_t n_columns;
	ScanColumn *columns;
	int64_t rows_left; /* of the row group */
	BfBatch batch;
};

/* Names the file and the column in an error that has come up from one of its parts. */
static BfStatus
in_leaf(const BfParquetFile *f, int32_t leaf, BfError *err)
{
	char path[BF_ERROR_COLUMN_MAX];

	bfi_node_path(f, f->leaves[leaf].node, path, sizeof path);
	bf_error_column(err, path);
	return bf_error_object(err, bf_source_name(f->source));
}

static BfStatus
in_column(const BfParquetFile *f, const ScanColumn *c, int32_t field, BfError *err)
{
	int32_t leaf = c->leaf;

	if (leaf < 0 && c->nested != NULL)
		leaf = bfi_nested_failed_leaf(c->nested);
	if (leaf >= 0)
		return in_leaf(f, leaf, err);
	if (field >= 0)
		bf_error_column(err, f->schema.fields[field].name);
	return bf_error_object(err, bf_source_name(f->source));
}

static BfStatus
init_column(BfArena *a, BfParquetScan *s, ScanColumn *c, int32_t field, const BfMapping *mapping,
			BfError *err)
{
	const BfParquetFile *f = s->file;

	BF_ASSERT(field >= 0 && field < f->schema.n_fields);
	c->leaf = f->shapes[field].leaf;
	if (c->leaf < 0)
		return bfi_nested_init(a, &s->shared, field, mapping, &c->nested, err);
	if (f->leaves[c->leaf].problem != NULL)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "column \"%.100s\" has %s", f->schema.fields[field].name,
				f->leaves[c->leaf].problem);
	return bfi_column_init(a, &c->flat, &s->shared, c->leaf, err);
}

BfStatus
bf_parquet_scan_new_mapped(BfArena *a, BfParquetFile *f, const int32_t *columns,
						   const BfMapping *const *mappings, int32_t n_columns,
						   BfParquetCounters *counters, BfParquetScan **out, BfError *err)
{
	BfParquetScan *s;

	BF_ASSERT(n_columns >= 0);
	BF_NEW(a, s, 1, err);
	s->file = f;
	s->n_columns = n_columns;
	s->shared.file = f;
	s->shared.counters = counters != NULL ? counters : &s->no_counters;
	BF_NEW(a, s->columns, n_columns, err);
	BF_NEW(a, s->batch.cols, n_columns, err);
	s->batch.n_cols = n_columns;
	if (n_columns > 0)
	{
		BF_TRY(bf_codec_context_new(a, &s->shared.codecs, err));
		BF_NEW(a, s->shared.native, BF_BATCH_ROWS * 16, err);
		BF_NEW(a, s->shared.dense, (BF_BATCH_ROWS + 1) * 16, err);
	}
	for (int32_t i = 0; i < n_columns; i++)
		if (init_column(a, s, &s->columns[i], columns[i], mappings != NULL ? mappings[i] : NULL,
						err) != BF_OK)
			return in_column(f, &s->columns[i], columns[i], err);
	*out = s;
	return BF_OK;
}

BfStatus
bf_parquet_scan_new(BfArena *a, BfParquetFile *f, const int32_t *columns, int32_t n_columns,
					BfParquetCounters *counters, BfParquetScan **out, BfError *err)
{
	return bf_parquet_scan_new_mapped(a, f, columns, NULL, n_columns, counters, out, err);
}

/* Without columns nothing else would notice a row group that lies about its rows. */
static BfStatus
check_rows(const BfParquetFile *f, int32_t rg, BfError *err)
{
	for (int32_t leaf = 0; leaf < f->n_leaves; leaf++)
	{
		BfiColumnChunk chunk;
		BfError ignored;

		if (f->leaves[leaf].max_rep > 0)
			continue;
		/* An unreadable chunk says nothing of the rows. */
		if (bfi_chunk_meta(f, rg, leaf, &chunk, &ignored) != BF_OK)
			return BF_OK;
		if (chunk.meta.n_values == f->row_groups[rg].n_rows)
			return BF_OK;
		bf_error_at(err, BF_ERR_CORRUPT, f->footer_pos,
					"row group %d has %lld rows, but %lld values in a column", rg,
					(long long) f->row_groups[rg].n_rows, (long long) chunk.meta.n_values);
		return in_leaf(f, leaf, err);
	}
	return BF_OK;
}

BfStatus
bf_parquet_scan_row_group(BfParquetScan *s, int32_t rg, BfError *err)
{
	BF_ASSERT(rg >= 0 && rg < s->file->n_row_groups);
	s->rows_left = 0;
	if (s->n_columns == 0)
		BF_TRY(check_rows(s->file, rg, err));
	for (int32_t i = 0; i < s->n_columns; i++)
	{
		ScanColumn *c = &s->columns[i];
		BfStatus status = c->nested != NULL ? bfi_nested_open(c->nested, rg, err)
											: bfi_column_open(&c->flat, rg, err);

		if (status != BF_OK)
			return in_column(s->file, c, -1, err);
	}
	s->rows_left = s->file->row_groups[rg].n_rows;
	s->batch.first_row = s->file->row_groups[rg].first_row;
	s->batch.n_rows = 0;
	s->shared.counters->row_groups_read++;
	return BF_OK;
}

/* How many rows the next batch should have. */
static BfStatus
choose_rows(BfParquetScan *s, int32_t *n, BfError *err)
{
	*n = s->rows_left < BF_BATCH_ROWS ? (int32_t) s->rows_left : BF_BATCH_ROWS;
	for (int32_t i = 0; i < s->n_columns; i++)
	{
		ScanColumn *c = &s->columns[i];
		int32_t room;

		if (c->nested == NULL)
			room = bfi_column_room(&c->flat);
		else if (bfi_nested_begin(c->nested, *n, &room, err) != BF_OK)
			return in_column(s->file, c, -1, err);
		*n = room < *n ? room : *n;
	}
	return BF_OK;
}

static BfStatus
read_column(ScanColumn *c, int32_t n, bool last, BfVector *out, BfError *err)
{
	if (c->nested == NULL)
	{
		BF_TRY(bfi_column_read(&c->flat, n, err));
		*out = c->flat.vec;
		return BF_OK;
	}
	BF_TRY(bfi_nested_read(c->nested, n, last, err));
	*out = *bfi_nested_vector(c->nested);
	return BF_OK;
}

static BfStatus
next(BfParquetScan *s, int32_t *n, BfError *err)
{
	BF_TRY(bf_check_cancel(bf_arena_host(s->file->arena), err));
	BF_TRY(choose_rows(s, n, err));
	for (int32_t i = 0; i < s->n_columns; i++)
		if (read_column(&s->columns[i], *n, *n == s->rows_left, &s->batch.cols[i], err) != BF_OK)
			return in_column(s->file, &s->columns[i], -1, err);
	return BF_OK;
}

BfStatus
bf_parquet_scan_next(BfParquetScan *s, const BfBatch **out, BfError *err)
{
	BfStatus status;
	int32_t n;

	*out = NULL;
	if (s->rows_left == 0)
		return BF_OK;
	status = next(s, &n, err);
	if (status != BF_OK)
	{
		s->rows_left = 0;
		return status;
	}
	s->batch.first_row += s->batch.n_rows;
	s->batch.n_rows = n;
	s->rows_left -= n;
	s->shared.counters->rows_decoded += n;
	*out = &s->batch;
	return BF_OK;
}
