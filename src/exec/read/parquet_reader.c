#include "exec/read/parquet_internal.h"

/* Page indexes of a row group's columns. */
#define RG_BYTES_MAX ((size_t) 256 << 20)

static BfStatus
fill_input(BfiParquetReader *r, BfiInput *in, const BfBatch *from, BfError *err)
{
	if (in->mapping == NULL)
	{
		in->vector = in->constant;
		in->vector.n = from->n_rows;
		return BF_OK;
	}
	if (bf_mapping_apply(in->mapping, &from->cols[in->column], &in->vector, err) != BF_OK)
		return bfi_parquet_bad_column(r, in->want, err);
	return BF_OK;
}

static const BfVector *
pred_column(void *arg, int32_t field)
{
	BfiParquetReader *r = arg;

	if (field < 0 || field >= r->n_pred_fields || r->pred_inputs[field] < 0)
		return NULL;
	return &r->inputs[r->pred_inputs[field]].vector;
}

static const BfVector *
delete_column(void *arg, int32_t k)
{
	BfiParquetReader *r = arg;

	return &r->inputs[r->delete_inputs[k]].vector;
}

/* Sets r->rows to those of the batch that count; *n: how many. */
static BfStatus
filter_rows(BfiParquetReader *r, const BfBatch *b, int32_t *n, BfError *err)
{
	memset(r->rows, 0, BF_VALIDITY_WORDS * sizeof *r->rows);
	for (int32_t i = 0; i < b->n_rows; i += 64)
		r->rows[i >> 6] = b->n_rows - i >= 64 ? UINT64_MAX : ((uint64_t) 1 << (b->n_rows - i)) - 1;
	if (r->pred_state != NULL)
	{
		BF_TRY(bf_pred_state_filter(r->pred_state, b->n_rows, pred_column, r, r->rows, err));
		*n = 0;
		for (int32_t w = 0; w < BF_VALIDITY_WORDS; w++)
			*n += __builtin_popcountll(r->rows[w]);
		r->counters->rows_by_filter += b->n_rows - *n;
	}
	if (r->filter.deletes != NULL)
		BF_TRY(bf_deletes_apply(r->filter.deletes, b->first_row, b->n_rows, delete_column, r,
								r->rows, err));
	*n = 0;
	for (int32_t w = 0; w < BF_VALIDITY_WORDS; w++)
		*n += __builtin_popcountll(r->rows[w]);
	return BF_OK;
}

static void
set_selection(BfiParquetReader *r, int32_t n)
{
	int32_t k = 0;

	r->batch.sel = NULL;
	r->batch.n_sel = 0;
	if (n == r->batch.n_rows)
		return;
	for (int32_t w = 0; w < BF_VALIDITY_WORDS; w++)
		for (uint64_t left = r->rows[w]; left != 0; left &= left - 1)
			r->sel[k++] = (uint16_t) (w * 64 + __builtin_ctzll(left));
	BF_ASSERT(k == n);
	r->batch.sel = r->sel;
	r->batch.n_sel = n;
}

/* Opens the next row group, unless it can't have a row that is wanted. */
static BfStatus
next_row_group(BfiParquetReader *r, BfError *err)
{
	bool may = true;

	r->rg = r->rg_next++;
	r->n_ranges = -1;
	r->range = 0;
	if (r->filter.pred != NULL)
		BF_TRY(bfi_parquet_prune(r, &may, err));
	if (!may)
		return BF_OK;
	BF_TRY(bf_parquet_scan_row_group(r->scan, r->rg, err));
	if (r->filter.pred != NULL && (r->filter.prune & BF_PRUNE_DICTIONARY) != 0)
		BF_TRY(bfi_parquet_prune_by_dictionary(r, &may, err));
	if (!may)
		r->counters->row_groups_read--;
	r->in_row_group = may;
	return BF_OK;
}

/* Early columns of the next rows of the row group that may match; *out = NULL: no more. */
static BfStatus
next_in_row_group(BfiParquetReader *r, const BfBatch **out, BfError *err)
{
	if (r->n_ranges < 0)
		return bf_parquet_scan_next_early(r->scan, INT64_MAX, out, err);
	for (*out = NULL; r->range < r->n_ranges; r->range++)
	{
		const BfRowRange *range = &r->ranges[r->range];

		if (!r->in_range)
			bf_parquet_scan_seek(r->scan, range->first);
		r->in_range = true;
		BF_TRY(bf_parquet_scan_next_early(r->scan, range->end, out, err));
		if (*out != NULL)
			return BF_OK;
		r->in_range = false;
	}
	return BF_OK;
}

/* Early columns of the next batch; *out = NULL at the end of the last row group. */
static BfStatus
next_batch(BfiParquetReader *r, const BfBatch **out, BfError *err)
{
	*out = NULL;
	for (;;)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(r->rg_arena), err));
		if (r->in_row_group)
			BF_TRY(next_in_row_group(r, out, err));
		if (*out != NULL)
			return BF_OK;
		r->in_row_group = r->in_range = false;
		if (r->rg_next >= r->rg_end)
			return BF_OK;
		BF_TRY(next_row_group(r, err));
	}
}

static BfStatus
fill_inputs(BfiParquetReader *r, bool early, const BfBatch *from, BfError *err)
{
	for (int32_t i = 0; i < r->n_inputs; i++)
		if (r->inputs[i].read && r->inputs[i].early == early)
			BF_TRY(fill_input(r, &r->inputs[i], from, err));
	return BF_OK;
}

static BfStatus
reader_next(BfReader *base, const BfBatch **out, BfError *err)
{
	BfiParquetReader *r = (BfiParquetReader *) base;
	bool filtered = r->pred_state != NULL || r->filter.deletes != NULL;
	const BfBatch *in;
	int32_t n = 0;

	*out = NULL;
	do
	{
		BF_TRY(next_batch(r, &in, err));
		if (in == NULL)
			return BF_OK;
		BF_TRY(fill_inputs(r, true, in, err));
		n = in->n_rows;
		if (filtered)
			BF_TRY(filter_rows(r, in, &n, err));
	} while (n == 0);
	BF_TRY(bf_parquet_scan_rest(r->scan, n < in->n_rows ? r->rows : NULL, err));
	BF_TRY(fill_inputs(r, false, in, err));
	for (int32_t i = 0; i < r->n_outputs; i++)
		r->batch.cols[i] = r->inputs[r->outputs[i]].vector;
	r->batch.n_rows = in->n_rows;
	r->batch.first_row = in->first_row;
	set_selection(r, n);
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
	r->in_row_group = r->in_range = false;
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
		r->filter = *filter;
	BF_TRY_PTR(a, r->rg_arena, bf_arena_new(bf_arena_host(a), "Parquet row group", RG_BYTES_MAX),
			   err);
	if (!bf_arena_on_cleanup(a, free_arena, r->rg_arena))
	{
		bf_arena_free(r->rg_arena);
		return bf_arena_fail(a, 0, err);
	}
	BF_TRY(bfi_parquet_resolve(a, r, projection, constants, err));
	BF_NEW(a, r->rows, BF_VALIDITY_WORDS, err);
	BF_NEW(a, r->sel, BF_BATCH_ROWS, err);
	if (r->filter.pred != NULL && (r->filter.prune & BF_PRUNE_LATE) != 0)
		BF_TRY(bf_pred_state_new(a, r->filter.pred, &r->pred_state, err));
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
