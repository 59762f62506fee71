/*
 * A scan: some columns of a file, row group by row group, batch by batch.
 */
#include "parquet/internal.h"

/* Offset indexes of the columns of one row group. */
#define INDEX_BYTES_MAX ((size_t) 64 << 20)

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
	int32_t n_early;   /* columns that bf_parquet_scan_next_early reads */
	int64_t row;	   /* of the row group: the next */
	int64_t n_rows;	   /* of the row group */
	int64_t first_row; /* of the row group in the file */
	bool begun;		   /* a batch has been read */
	BfBatch batch;
};

/* Rows of the first batch of a scan: whoever wants one row has not decoded two thousand. */
#define FIRST_ROWS 256

/* Names the file and the column in an error that has come up from one of its parts. */
static BfStatus
in_leaf(const BfParquetFile *f, int32_t leaf, BfError *err)
{
	char path[BF_ERROR_COLUMN_MAX];

	bfi_node_path(f, f->tree.leaves[leaf].node, path, sizeof path);
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
		bf_error_column(err, f->tree.schema.fields[field].name);
	return bf_error_object(err, bf_source_name(f->source));
}

static BfStatus
init_column(BfArena *a, BfParquetScan *s, ScanColumn *c, int32_t field, const BfMapping *mapping,
			BfError *err)
{
	const BfParquetFile *f = s->file;

	BF_ASSERT(field >= 0 && field < f->tree.schema.n_fields);
	c->leaf = f->tree.shapes[field].leaf;
	if (c->leaf < 0)
		return bfi_nested_init(a, &s->shared, field, mapping, &c->nested, err);
	if (f->tree.leaves[c->leaf].problem != NULL)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "column \"%.100s\" has %s",
				f->tree.schema.fields[field].name, f->tree.leaves[c->leaf].problem);
	return bfi_column_init(a, &c->flat, &s->shared, c->leaf, err);
}

/* Whoever reads on to the end of the row group needs nothing of it again. */
static void
leave_pages(void *arg)
{
	const BfParquetScan *s = arg;

	for (int32_t i = 0; i < s->n_columns && s->row < s->n_rows; i++)
		if (s->columns[i].nested == NULL)
			bfi_kept_leave(&s->columns[i].flat);
}

static void
free_arena(void *arg)
{
	bf_arena_free(arg);
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
	s->n_columns = s->n_early = n_columns;
	s->shared.arena = a;
	s->shared.file = f;
	s->shared.counters = counters != NULL ? counters : &s->no_counters;
	BF_TRY_PTR(a, s->shared.index_arena,
			   bf_arena_new(bf_arena_host(a), "Parquet page index", INDEX_BYTES_MAX), err);
	if (!bf_arena_on_cleanup(a, free_arena, s->shared.index_arena))
	{
		bf_arena_free(s->shared.index_arena);
		return bf_arena_fail(a, 0, err);
	}
	BF_NEW(a, s->columns, n_columns, err);
	BF_NEW(a, s->batch.cols, n_columns, err);
	s->batch.n_cols = n_columns;
	if (n_columns > 0)
	{
		BF_TRY(bf_codec_context_new(a, &s->shared.codecs, err));
		BF_NEW_RAW(a, s->shared.native, BF_BATCH_ROWS * 16, err);
		BF_NEW_RAW(a, s->shared.dense, (BF_BATCH_ROWS + 1) * 16, err);
	}
	for (int32_t i = 0; i < n_columns; i++)
		if (init_column(a, s, &s->columns[i], columns[i], mappings != NULL ? mappings[i] : NULL,
						err) != BF_OK)
			return in_column(f, &s->columns[i], columns[i], err);
	/* The last hook is the first to run: the columns' memory is there still. */
	if (f->pages != NULL && !bf_arena_on_cleanup(a, leave_pages, s))
		return bf_arena_fail(a, 0, err);
	*out = s;
	return BF_OK;
}

BfStatus
bf_parquet_scan_new(BfArena *a, BfParquetFile *f, const int32_t *columns, int32_t n_columns,
					BfParquetCounters *counters, BfParquetScan **out, BfError *err)
{
	return bf_parquet_scan_new_mapped(a, f, columns, NULL, n_columns, counters, out, err);
}

static BfStatus
check_chunk(const BfParquetFile *f, int32_t rg, const BfiColumnChunk *chunk, BfError *err)
{
	int64_t start, end;

	BF_DATA(err, chunk->meta.n_values == f->row_groups[rg].n_rows, f->footer.pos,
			"row group %d has %lld rows, but %lld values in a column", rg,
			(long long) f->row_groups[rg].n_rows, (long long) chunk->meta.n_values);
	BF_DATA(err, chunk->meta.n_values == 0 || bfi_chunk_bytes(f, chunk, &start, &end),
			f->footer.pos, "row group %d has %lld rows, but their bytes reach into the footer", rg,
			(long long) f->row_groups[rg].n_rows);
	return BF_OK;
}

/* Without columns nothing else would notice a row group that lies about its rows. */
static BfStatus
check_rows(const BfParquetFile *f, int32_t rg, BfError *err)
{
	for (int32_t leaf = 0; leaf < f->tree.n_leaves; leaf++)
	{
		BfiColumnChunk chunk;
		BfError ignored;

		if (f->tree.leaves[leaf].max_rep > 0)
			continue;
		/* An unreadable chunk says nothing of the rows. */
		if (bfi_chunk_meta(f, rg, leaf, &chunk, &ignored) != BF_OK ||
			check_chunk(f, rg, &chunk, err) == BF_OK)
			return BF_OK;
		return in_leaf(f, leaf, err);
	}
	return BF_OK;
}

BfStatus
bf_parquet_scan_row_group(BfParquetScan *s, int32_t rg, BfError *err)
{
	BF_ASSERT(rg >= 0 && rg < s->file->n_row_groups);
	s->row = s->n_rows = 0;
	if (s->shared.index_arena != NULL)
		bf_arena_reset(s->shared.index_arena);
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
	s->n_rows = s->file->row_groups[rg].n_rows;
	s->first_row = s->file->row_groups[rg].first_row;
	s->batch.n_rows = 0;
	s->shared.counters->row_groups_read++;
	return BF_OK;
}

/* ---- batches ---- */

/* Items that the nested columns of a batch should have, where only their average is known. */
#define LATE_ITEMS 65536

static BfStatus
seek_column(const BfParquetScan *s, ScanColumn *c, int64_t row, BfError *err)
{
	BfStatus status = c->nested != NULL ? bfi_nested_seek(c->nested, row, err)
										: bfi_column_seek(&c->flat, row, err);

	return status == BF_OK ? BF_OK : in_column(s->file, c, -1, err);
}

/* How many rows the next batch should have, at most *n. Early columns are brought to its first row.
 */
static BfStatus
choose_rows(BfParquetScan *s, int32_t *n, BfError *err)
{
	for (int32_t i = 0; i < s->n_columns; i++)
	{
		ScanColumn *c = &s->columns[i];
		int32_t room = *n;

		if (i < s->n_early)
			BF_TRY(seek_column(s, c, s->row, err));
		if (c->nested == NULL)
		{
			if (c->flat.chunk.row == s->row)
				room = bfi_column_room(&c->flat);
		}
		else if (i >= s->n_early)
		{
			int64_t rows = LATE_ITEMS / bfi_nested_items_per_row(c->nested);

			room = rows < 1 ? 1 : rows < room ? (int32_t) rows : room;
		}
		else if (bfi_nested_begin(c->nested, *n, &room, err) != BF_OK)
			return in_column(s->file, c, -1, err);
		*n = room < *n ? room : *n;
	}
	return BF_OK;
}

/* The batch's rows of one column, which is at its first row. */
static BfStatus
read_column(BfParquetScan *s, int32_t i, const uint64_t *rows, BfError *err)
{
	ScanColumn *c = &s->columns[i];
	bool last = s->row == s->n_rows; /* s->row is behind the batch */
	BfStatus status;

	if (c->nested == NULL)
	{
		status = bfi_column_read(&c->flat, s->batch.n_rows, rows, err);
		s->batch.cols[i] = c->flat.batch.vec;
	}
	else
	{
		status = bfi_nested_read(c->nested, s->batch.n_rows, last, err);
		s->batch.cols[i] = *bfi_nested_vector(c->nested);
	}
	BF_ASSERT(status != BF_OK || s->batch.cols[i].n == s->batch.n_rows);
	return status == BF_OK ? BF_OK : in_column(s->file, c, -1, err);
}

static BfStatus
next_early(BfParquetScan *s, int32_t n, BfError *err)
{
	BF_TRY(bf_check_cancel(bf_arena_host(s->file->arena), err));
	BF_TRY(choose_rows(s, &n, err));
	/* A column may want fewer rows, but some. */
	BF_ASSERT(n > 0 && n <= s->n_rows - s->row);
	s->batch.first_row = s->first_row + s->row;
	s->batch.n_rows = n;
	s->row += n;
	for (int32_t i = 0; i < s->n_early; i++)
		BF_TRY(read_column(s, i, NULL, err));
	s->shared.counters->rows_decoded += n;
	return BF_OK;
}

BfStatus
bf_parquet_scan_next_early(BfParquetScan *s, int64_t end, const BfBatch **out, BfError *err)
{
	int64_t left = (end < s->n_rows ? end : s->n_rows) - s->row;
	int32_t most = s->begun ? BF_BATCH_ROWS : FIRST_ROWS;
	BfStatus status;

	*out = NULL;
	if (left <= 0)
		return BF_OK;
	s->begun = true;
	status = next_early(s, left < most ? (int32_t) left : most, err);
	if (status != BF_OK)
	{
		s->row = s->n_rows = 0;
		return status;
	}
	*out = &s->batch;
	return BF_OK;
}

BfStatus
bf_parquet_scan_next(BfParquetScan *s, const BfBatch **out, BfError *err)
{
	BF_TRY(bf_parquet_scan_next_early(s, INT64_MAX, out, err));
	return *out != NULL ? bf_parquet_scan_rest(s, NULL, err) : BF_OK;
}

/* Reading by runs of wanted rows costs something per run, as much as some ten values: is it worth
 * it?
 */
static bool
is_sparse(const uint64_t *rows, int32_t n)
{
	int32_t wanted = 0;
	int32_t runs = 0;
	uint64_t last = 0;

	for (int32_t w = 0; w < (n + 63) / 64; w++)
	{
		wanted += __builtin_popcountll(rows[w]);
		/* A run begins where a bit is set and the one before is not. */
		runs += __builtin_popcountll(rows[w] & ~(rows[w] << 1 | last));
		last = rows[w] >> 63;
	}
	return wanted + 64 * runs < n / 2;
}

BfStatus
bf_parquet_scan_rest(BfParquetScan *s, const uint64_t *rows, BfError *err)
{
	BF_ASSERT(s->batch.n_rows > 0 && s->row >= s->batch.n_rows);
	if (rows != NULL && !is_sparse(rows, s->batch.n_rows))
		rows = NULL;
	for (int32_t i = s->n_early; i < s->n_columns; i++)
	{
		ScanColumn *c = &s->columns[i];
		BfStatus status = seek_column(s, c, s->row - s->batch.n_rows, err);
		int32_t room; /* more or less: the batch has its rows already */

		if (status == BF_OK && c->nested != NULL &&
			bfi_nested_begin(c->nested, s->batch.n_rows, &room, err) != BF_OK)
			status = in_column(s->file, c, -1, err);
		if (status == BF_OK)
			status = read_column(s, i, rows, err);
		if (status != BF_OK)
		{
			s->row = s->n_rows = 0;
			return status;
		}
	}
	return BF_OK;
}

void
bf_parquet_scan_set_early(BfParquetScan *s, int32_t n_early, bool use_index)
{
	BF_ASSERT(n_early >= 0 && n_early <= s->n_columns);
	s->n_early = n_early;
	s->shared.use_index = use_index && s->shared.index_arena != NULL;
}

void
bf_parquet_scan_seek(BfParquetScan *s, int64_t row)
{
	BF_ASSERT(row >= s->row);
	s->row = row < s->n_rows ? row : s->n_rows;
}

BfStatus
bf_parquet_scan_dictionary(BfParquetScan *s, int32_t column, const BfVector **out, BfError *err)
{
	ScanColumn *c = &s->columns[column];

	BF_ASSERT(column >= 0 && column < s->n_columns);
	*out = NULL;
	if (c->nested != NULL || !c->flat.chunk.all_dictionary)
		return BF_OK;
	if (bfi_page_dictionary(&c->flat, err) != BF_OK)
		return in_column(s->file, c, -1, err);
	if (c->flat.values.dict.n >= 0)
		*out = &c->flat.dict.vec;
	return BF_OK;
}
