/*
 * exec/read/parquet_reader.c: see parquet_reader.h.
 */
#include "exec/read/parquet_internal.h"

/* Page indexes of a row group's columns. */
#define RG_BYTES_MAX ((size_t) 256 << 20)

static BfStatus
fill_column(BfiParquetReader *r, int32_t i, const BfBatch *from, BfError *err)
{
	BfiInput *in = &r->inputs[i];
	const BfVector *v = in->scan_column >= 0 ? &from->cols[in->scan_column] : NULL;

	BF_ASSERT(v != NULL || in->is.mapping == NULL);
	BF_ASSERT(in->scan_column < from->n_cols);

	if (bfi_resolved_vector(&in->is, v, from->n_rows, &r->batch.cols[i], err) != BF_OK)
		return bf_error_object(err, r->name);
	return BF_OK;
}

static BfStatus
fill_columns(BfiParquetReader *r, bool early, const BfBatch *from, BfError *err)
{
	for (int32_t i = 0; i < r->n_columns; i++)
		if (bf_filter_decides(r->filter, i) == early)
			BF_TRY(fill_column(r, i, from, err));
	return BF_OK;
}

/* Opens the next row group, unless it can't have a row that is wanted. */
static BfStatus
next_row_group(BfiParquetReader *r, BfError *err)
{
	bool may = true;

	BF_ASSERT(!r->group.open && r->rg_next < r->rg_end);
	r->group.number = r->rg_next++;
	r->group.all_rows = true;
	r->group.range = 0;
	if (r->pred.tree != NULL)
		BF_TRY(bfi_parquet_prune(r, &may, err));
	if (!may)
		return BF_OK;
	BF_TRY(bf_parquet_scan_row_group(r->scan, r->group.number, err));
	if (r->pred.tree != NULL && (r->pred.prune & BF_PRUNE_DICTIONARY) != 0)
		BF_TRY(bfi_parquet_prune_by_dictionary(r, &may, err));
	if (!may)
		r->counters->row_groups_read--;
	r->group.open = may;
	return BF_OK;
}

/* Early columns of the next rows of the row group that may match; *out = NULL: no more. */
static BfStatus
next_in_row_group(BfiParquetReader *r, const BfBatch **out, BfError *err)
{
	if (r->group.all_rows)
		return bf_parquet_scan_next_early(r->scan, INT64_MAX, out, err);
	for (*out = NULL; r->group.range < r->group.rows.n; r->group.range++)
	{
		const BfRange *range = &r->group.rows.ranges[r->group.range];

		BF_ASSERT(range->first <= range->last);
		BF_ASSERT(r->group.range == 0 || range[-1].last < range->first);
		if (!r->group.in_range)
			bf_parquet_scan_seek(r->scan, range->first);
		r->group.in_range = true;
		BF_TRY(bf_parquet_scan_next_early(r->scan, range->last + 1, out, err));
		if (*out != NULL)
			return BF_OK;
		r->group.in_range = false;
	}
	bf_parquet_scan_seek(r->scan, INT64_MAX);
	return BF_OK;
}

/* Early columns of the next batch; *out = NULL at the end of the last row group. */
static BfStatus
next_batch(BfiParquetReader *r, const BfBatch **out, BfError *err)
{
	*out = NULL;
	for (;;)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(r->group.arena), err));
		if (r->group.open)
			BF_TRY(next_in_row_group(r, out, err));
		if (*out != NULL)
			return BF_OK;
		r->group.open = r->group.in_range = false;
		if (r->rg_next >= r->rg_end)
			return BF_OK;
		BF_TRY(next_row_group(r, err));
	}
}

/* The columns that decide, and which rows count; *in = NULL at the end. */
static BfStatus
next_narrowed(BfiParquetReader *r, const BfBatch **in, int32_t *n, BfError *err)
{
	do
	{
		BF_TRY(next_batch(r, in, err));
		if (*in == NULL)
			return BF_OK;
		BF_ASSERT((*in)->n_rows > 0 && (*in)->n_rows <= BF_BATCH_ROWS);
		r->batch.n_rows = *n = (*in)->n_rows;
		r->batch.first_row = (*in)->first_row;
		r->batch.selected = NULL;
		if (!bf_filter_any(r->filter))
			return BF_OK;
		BF_TRY(fill_columns(r, true, *in, err));
		if (bf_filter_narrow(r->filter, &r->batch, r->rows, n, err) != BF_OK)
			return bf_error_object(err, r->name);
	} while (*n == 0);
	return BF_OK;
}

static BfStatus
reader_next(BfReader *base, const BfBatch **out, BfError *err)
{
	BfiParquetReader *r = (BfiParquetReader *) base;
	const BfBatch *in;
	int32_t n = 0;

	*out = NULL;
	BF_TRY(next_narrowed(r, &in, &n, err));
	if (in == NULL)
		return BF_OK;
	if (n < in->n_rows)
		r->batch.selected = r->rows;
	r->batch.n_selected = n;
	BF_ASSERT(n > 0 && n <= in->n_rows && r->batch.first_row >= 0);
	BF_TRY(bf_parquet_scan_rest(r->scan, r->batch.selected, err));
	BF_TRY(fill_columns(r, false, in, err));
	*out = &r->batch;
	return BF_OK;
}

static const char *
reader_name(const BfReader *base)
{
	return ((const BfiParquetReader *) base)->name;
}

void
bf_exec_parquet_reader_reset(BfReader *base, int32_t rg_first, int32_t rg_end)
{
	BfiParquetReader *r = (BfiParquetReader *) base;
	int32_t n = bf_parquet_n_row_groups(r->file);

	BF_ASSERT(rg_first >= 0);
	r->rg_next = rg_first;
	r->rg_end = rg_end < 0 || rg_end > n ? n : rg_end;
	BF_ASSERT(r->group.arena != NULL && r->filter != NULL);
	r->group.open = r->group.in_range = false;
}

static void
free_arena(void *arg)
{
	bf_arena_free(arg);
}

BfStatus
bf_exec_parquet_reader_filtered(BfArena *a, BfParquetFile *file, const BfProjection *projection,
								const BfConstants *constants, int32_t rg_first, int32_t rg_end,
								const BfRowFilter *filter, BfParquetCounters *counters,
								BfReader **out, BfError *err)
{
	BfiParquetReader *r;

	BF_NEW(a, r, 1, err);
	r->base.next = reader_next;
	r->base.name = reader_name;
	r->file = file;
	r->name = bf_parquet_name(file);
	r->counters = counters != NULL ? counters : &r->no_counters;
	if (filter != NULL)
	{
		r->pred.tree = filter->pred;
		r->pred.prune = filter->prune;
	}
	BF_TRY(bf_filter_new(a, projection, filter, &r->filter, err));
	r->n_outputs = projection->n_fields;
	BF_TRY_PTR(a, r->group.arena, bf_arena_new(bf_arena_host(a), "Parquet row group", RG_BYTES_MAX),
			   err);
	if (!bf_arena_on_cleanup(a, free_arena, r->group.arena))
	{
		bf_arena_free(r->group.arena);
		return bf_arena_fail(a, 0, err);
	}
	BF_TRY(bfi_parquet_resolve(a, r, constants, err));
	BF_NEW(a, r->rows, BF_VALIDITY_WORDS, err);
	bf_exec_parquet_reader_reset(&r->base, rg_first, rg_end);
	*out = &r->base;
	return BF_OK;
}

BfStatus
bf_exec_parquet_reader_over(BfArena *a, BfParquetFile *file, const BfProjection *projection,
							const BfConstants *constants, int32_t rg_first, int32_t rg_end,
							BfParquetCounters *counters, BfReader **out, BfError *err)
{
	return bf_exec_parquet_reader_filtered(a, file, projection, constants, rg_first, rg_end, NULL,
										   counters, out, err);
}

BfStatus
bf_exec_parquet_open(BfArena *a, const char *path, BfIoCounters *io, BfParquetFile **out,
					 BfError *err)
{
	BfSource *source;

	BF_TRY(bf_source_open(a, path, io, &source, err));
	return bf_parquet_open(a, source, NULL, out, err);
}

BfStatus
bf_exec_parquet_reader(BfArena *a, const char *path, const BfProjection *projection,
					   const BfConstants *constants, int32_t rg_first, int32_t rg_end,
					   BfIoCounters *io, BfParquetCounters *counters, BfReader **out, BfError *err)
{
	BfParquetFile *file;

	BF_TRY(bf_exec_parquet_open(a, path, io, &file, err));
	return bf_exec_parquet_reader_over(a, file, projection, constants, rg_first, rg_end, counters,
									   out, err);
}
