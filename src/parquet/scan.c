/*
 * A scan: some columns of a file, row group by row group, batch by batch.
 */
#include "parquet/internal.h"

struct BfParquetScan
{
	BfParquetFile *file; /* borrowed */
	BfiShared shared;
	BfParquetCounters no_counters; /* counts for a caller that does not */
	int32_t n_columns;
	BfiColumn *columns;
	int64_t rows_left; /* of the row group */
	BfBatch batch;
};

/* Names the file and the column in an error that has come up from one of its parts. */
static BfStatus
in_column(const BfParquetFile *f, int32_t leaf, BfError *err)
{
	char path[BF_ERROR_COLUMN_MAX];

	bfi_node_path(f, f->leaves[leaf].node, path, sizeof path);
	bf_error_column(err, path);
	return bf_error_object(err, bf_source_name(f->source));
}

static BfStatus
check_column(const BfParquetFile *f, int32_t field, BfError *err)
{
	const BfiNode *node = &f->nodes[f->field_node[field]];
	const BfField *column = &f->schema.fields[field];
	char type[64];

	if (bf_type_storage(column->type) == BF_STORE_NESTED)
	{
		bf_type_name(column->type, type, sizeof type);
		bf_error(err, BF_ERR_UNSUPPORTED,
				 "column \"%.100s\" is of type %s: nested columns can't be "
				 "read yet",
				 column->name, type);
		bf_error_column(err, column->name);
		return bf_error_object(err, bf_source_name(f->source));
	}
	if (f->leaves[node->leaf].problem != NULL)
	{
		bf_error(err, BF_ERR_UNSUPPORTED, "column \"%.100s\" has %s", column->name,
				 f->leaves[node->leaf].problem);
		bf_error_column(err, column->name);
		return bf_error_object(err, bf_source_name(f->source));
	}
	return BF_OK;
}

BfStatus
bf_parquet_scan_new(BfArena *a, BfParquetFile *f, const int32_t *columns, int32_t n_columns,
					BfParquetCounters *counters, BfParquetScan **out, BfError *err)
{
	BfParquetScan *s;

	BF_ASSERT(n_columns >= 0);
	for (int32_t i = 0; i < n_columns; i++)
	{
		BF_ASSERT(columns[i] >= 0 && columns[i] < f->schema.n_fields);
		BF_TRY(check_column(f, columns[i], err));
	}
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
		BF_TRY(bfi_column_init(a, &s->columns[i], &s->shared,
							   f->nodes[f->field_node[columns[i]]].leaf, err));
	*out = s;
	return BF_OK;
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
		return in_column(f, leaf, err);
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
		if (bfi_column_open(&s->columns[i], rg, err) != BF_OK)
			return in_column(s->file, s->columns[i].leaf_index, err);
	s->rows_left = s->file->row_groups[rg].n_rows;
	s->batch.first_row = s->file->row_groups[rg].first_row;
	s->batch.n_rows = 0;
	s->shared.counters->row_groups_read++;
	return BF_OK;
}

BfStatus
bf_parquet_scan_next(BfParquetScan *s, const BfBatch **out, BfError *err)
{
	int32_t n = s->rows_left < BF_BATCH_ROWS ? (int32_t) s->rows_left : BF_BATCH_ROWS;

	*out = NULL;
	if (n == 0)
		return BF_OK;
	BF_TRY(bf_check_cancel(bf_arena_host(s->file->arena), err));
	for (int32_t i = 0; i < s->n_columns; i++)
	{
		int32_t room = bfi_column_room(&s->columns[i]);

		n = room < n ? room : n;
	}
	for (int32_t i = 0; i < s->n_columns; i++)
	{
		if (bfi_column_read(&s->columns[i], n, err) != BF_OK)
		{
			s->rows_left = 0;
			return in_column(s->file, s->columns[i].leaf_index, err);
		}
		s->batch.cols[i] = s->columns[i].vec;
	}
	s->batch.first_row += s->batch.n_rows;
	s->batch.n_rows = n;
	s->rows_left -= n;
	s->shared.counters->rows_decoded += n;
	*out = &s->batch;
	return BF_OK;
}
