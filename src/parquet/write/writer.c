/* The writer of a file: options, batches in pieces, row groups, what it says of itself at the end.
 */
#include "parquet/write/writer.h"

#include "parquet/write/internal.h"

#define SCRATCH_BYTES_MAX ((size_t) 1 << 30)
#define SCRATCH_ARENA_BYTES_MAX ((size_t) 1 << 32)

const BfParquetWriteOptions bf_parquet_write_defaults = {
	.codec = BF_CODEC_ZSTD,
	.level = 6,
	.page_bytes = (size_t) 1 << 20,
	.page_rows = 20000,
	.row_group_bytes = (size_t) 32 << 20,
	.row_group_rows = 1 << 20,
	.dictionary_bytes = (size_t) 1 << 20,
	.page_version = 1,
	.page_index = true,
	.checksums = true,
	.bound_bytes = BFI_BOUND_BYTES,
	.bloom_false = 0.01,
	.created_by = "bifang_fdw version 0.2",
};

static void
free_arena(void *arg)
{
	bf_arena_free(arg);
}

static bool
is_flat_column(const BfSchema *schema, int32_t column)
{
	return column >= 0 && column < schema->n_fields &&
		   bf_type_storage(schema->fields[column].type) != BF_STORE_NESTED;
}

static BfStatus
check_options(const BfSchema *schema, const BfParquetWriteOptions *o, BfError *err)
{
	if (bfi_page_codec_number(o->codec) < 0 || o->codec == BF_CODEC_LZ4_HADOOP ||
		o->codec == BF_CODEC_BROTLI)
		return bf_error(err, BF_ERR_UNSUPPORTED, "writing Parquet files compressed with %s",
						bf_codec_name(o->codec));
	if (o->level < 0 || o->level > (o->codec == BF_CODEC_GZIP ? 9 : 22))
		return bf_error(err, BF_ERR_VALUE, "compression level %d for %s", o->level,
						bf_codec_name(o->codec));
	if (o->page_bytes < 1 || o->page_rows < 1 || o->row_group_bytes < 1 || o->row_group_rows < 1 ||
		o->page_bytes > SCRATCH_BYTES_MAX / 4 || o->dictionary_bytes > SCRATCH_BYTES_MAX / 4 ||
		o->page_rows > 1 << 24)
		return bf_error(err, BF_ERR_VALUE, "sizes of pages or row groups are out of range");
	if (o->page_version != 1 && o->page_version != 2)
		return bf_error(err, BF_ERR_VALUE, "data pages of version %d", o->page_version);
	if (o->bound_bytes < 8 || o->bound_bytes > BFI_BOUND_BYTES)
		return bf_error(err, BF_ERR_VALUE, "bounds of %u bytes, not 8 to %d", o->bound_bytes,
						BFI_BOUND_BYTES);
	if (!(o->bloom_false > 0 && o->bloom_false < 1))
		return bf_error(err, BF_ERR_VALUE, "a Bloom filter that is wrong with a probability of %g",
						o->bloom_false);
	for (int32_t i = 0; i < o->n_bloom; i++)
		if (!is_flat_column(schema, o->bloom[i]))
			return bf_error(err, BF_ERR_VALUE, "a Bloom filter of column number %d", o->bloom[i]);
	for (int32_t i = 0; i < o->n_sort; i++)
		if (!is_flat_column(schema, o->sort[i].column))
			return bf_error(err, BF_ERR_VALUE, "sorted by column number %d", o->sort[i].column);
	return BF_OK;
}

static BfStatus
new_scratch(BfArena *a, BfiScratch *s, BfError *err)
{
	BF_TRY_PTR(a, s->arena,
			   bf_arena_new(bf_arena_host(a), "Parquet writer", SCRATCH_ARENA_BYTES_MAX), err);
	if (!bf_arena_on_cleanup(a, free_arena, s->arena))
	{
		bf_arena_free(s->arena);
		return bf_arena_fail(a, 0, err);
	}
	BF_TRY(bf_codec_context_new(a, &s->codecs, err));
	BF_TRY(bf_buffer_new(a, SCRATCH_BYTES_MAX, &s->encoded, err));
	BF_TRY(bf_buffer_new(a, SCRATCH_BYTES_MAX * 2, &s->compressed, err));
	BF_TRY(bf_buffer_new(a, SCRATCH_BYTES_MAX * 16, &s->views, err));
	BF_TRY_PTR(a, s->native, bf_arena_alloc(a, (size_t) BFI_PIECE_ROWS * 16), err);
	BF_TRY_PTR(a, s->bytes, bf_arena_alloc(a, (size_t) BFI_PIECE_ROWS * 16), err);
	return BF_OK;
}

static BfStatus
new_columns(BfParquetWriter *w, BfError *err)
{
	BF_TRY(bfi_write_leaves(w->arena, w->schema, &w->leaves, &w->n_leaves, err));
	BF_NEW(w->arena, w->columns, w->n_leaves, err);
	for (int32_t i = 0; i < w->n_leaves; i++)
	{
		BF_TRY(bfi_column_new(w, &w->columns[i], &w->leaves[i], err));
		bfi_column_begin(w, &w->columns[i]);
	}
	return BF_OK;
}

BfStatus
bf_parquet_writer_new(BfArena *a, BfOutput output, const BfSchema *schema,
					  const BfParquetWriteOptions *options, BfParquetWriter **out, BfError *err)
{
	BfParquetWriter *w;

	BF_ASSERT(output.write != NULL && schema->n_fields >= 0);
	BF_NEW(a, w, 1, err);
	w->arena = a;
	w->output = output;
	w->schema = schema;
	w->options = options != NULL ? *options : bf_parquet_write_defaults;
	BF_TRY(check_options(schema, &w->options, err));
	BF_TRY(new_scratch(a, &w->scratch, err));
	BF_TRY(new_columns(w, err));
	BF_TRY(bfi_shred_new(a, &w->shred, err));
	BF_TRY(bfi_footer_new(a, &w->footer, err));
	BF_TRY(output.write(output.arg, "PAR1", 4, err));
	w->at = 4;
	*out = w;
	return BF_OK;
}

static size_t
held_bytes(const BfParquetWriter *w)
{
	size_t n = 0;

	for (int32_t i = 0; i < w->n_leaves; i++)
		n += bfi_chunk_held(&w->columns[i]);
	return n;
}

static BfStatus
end_row_group(BfParquetWriter *w, BfError *err)
{
	BF_ASSERT(w->group_rows > 0);
	for (int32_t i = 0; i < w->n_leaves; i++)
		if (bfi_column_finish(w, &w->columns[i], err) != BF_OK)
			return bf_error_column(err, w->leaves[i].path[0]);
	BF_TRY(bfi_footer_row_group(w, err));
	for (int32_t i = 0; i < w->n_leaves; i++)
		bfi_column_begin(w, &w->columns[i]);
	w->expected_rows = w->group_rows;
	w->group_rows = 0;
	return BF_OK;
}

/* The rows of a piece, and the end of the row group where they fill it. */
static BfStatus
write_piece(BfParquetWriter *w, const BfBatch *batch, const BfiRows *rows, BfError *err)
{
	int32_t leaf = 0;

	w->group_rows += rows->n;
	w->rows += rows->n;
	for (int32_t i = 0; i < w->schema->n_fields; i++)
	{
		const BfField *field = &w->schema->fields[i];

		BF_ASSERT(leaf < w->n_leaves && w->leaves[leaf].top == i);
		if (bfi_shred_column(w, field, &batch->cols[i], rows, &w->columns[leaf], err) != BF_OK)
			return bf_error_column(err, field->name);
		while (leaf < w->n_leaves && w->leaves[leaf].top == i)
			leaf++;
	}
	if (w->group_rows == w->options.row_group_rows ||
		(w->group_rows % BFI_PIECE_ROWS == 0 && held_bytes(w) >= w->options.row_group_bytes))
		return end_row_group(w, err);
	return BF_OK;
}

static BfStatus
write_rows(BfParquetWriter *w, const BfBatch *batch, BfError *err)
{
	uint16_t list[BF_BATCH_ROWS];
	int32_t n = batch->n_rows;

	if (batch->selected != NULL)
		n = bf_bits_list(batch->selected, batch->n_rows, list);
	for (int32_t done = 0; done < n;)
	{
		int64_t room = BFI_PIECE_ROWS - w->group_rows % BFI_PIECE_ROWS;
		BfiRows rows = {.first = done};

		if (room > w->options.row_group_rows - w->group_rows)
			room = w->options.row_group_rows - w->group_rows;
		rows.n = n - done < room ? n - done : (int32_t) room;
		if (batch->selected != NULL)
			rows.list = list + done;
		BF_TRY(bf_check_cancel(bf_arena_host(w->arena), err));
		BF_TRY(write_piece(w, batch, &rows, err));
		done += rows.n;
	}
	return BF_OK;
}

BfStatus
bf_parquet_writer_write(BfParquetWriter *w, const BfBatch *batch, BfError *err)
{
	BfStatus status;

	BF_NEVER(err,
			 w->failed || batch->n_cols != w->schema->n_fields || batch->n_rows > BF_BATCH_ROWS);
	for (int32_t i = 0; i < batch->n_cols; i++)
		BF_NEVER(err, !bf_type_equal(batch->cols[i].type, w->schema->fields[i].type));
	status = write_rows(w, batch, err);
	w->failed = status != BF_OK;
	return status;
}

int64_t
bf_parquet_writer_rows(const BfParquetWriter *w)
{
	return w->rows;
}

int64_t
bf_parquet_writer_bytes(const BfParquetWriter *w)
{
	size_t n = bfi_footer_bytes(w->footer);

	for (int32_t i = 0; i < w->n_leaves; i++)
		n += w->columns[i].chunk.pages->len;
	return w->at + (int64_t) n;
}

/* ---- what the file has ---- */

static BfStatus
bound_view(BfArena *a, const BfiBoundOut *b, BfType type, BfValue *out, BfError *err)
{
	*out = (BfValue){.type = type};
	if (!b->has)
		return BF_OK;
	out->v.view.len = b->len;
	BF_TRY_PTR(a, out->v.view.ptr, bf_arena_memdup(a, b->bytes, b->len), err);
	return BF_OK;
}

static BfStatus
column_metrics(BfParquetWriter *w, const BfiColumnOut *c, BfParquetColumnMetrics *out, BfError *err)
{
	BfiBoundOut min, max;

	bfi_range_bounds(c->leaf, &c->range, w->options.bound_bytes, &min, &max);
	*out = (BfParquetColumnMetrics){.field_id = c->leaf->field->id,
									.type = c->leaf->field->type,
									.repeated = c->leaf->max_rep > 0,
									.bytes = c->bytes,
									.values = c->n_values,
									.nulls = c->n_nulls,
									.nans = c->range.nans,
									.has_lower = min.has,
									.has_upper = max.has,
									.lower_exact = min.exact,
									.upper_exact = max.exact};
	if (c->leaf->order == BFI_BOUNDS_BYTES)
	{
		BF_TRY(bound_view(w->arena, &min, out->type, &out->lower, err));
		return bound_view(w->arena, &max, out->type, &out->upper, err);
	}
	if (min.has)
		bfi_range_values(c->leaf, &c->range, &out->lower, &out->upper);
	return BF_OK;
}

BfStatus
bf_parquet_writer_close(BfParquetWriter *w, BfParquetWritten *out, BfError *err)
{
	BfParquetColumnMetrics *columns;

	BF_NEVER(err, w->failed);
	w->failed = true;
	if (w->group_rows > 0)
		BF_TRY(end_row_group(w, err));
	BF_TRY(bfi_footer_write(w, err));
	*out = (BfParquetWritten){.bytes = w->at,
							  .rows = w->rows,
							  .n_row_groups = bfi_footer_row_groups(w->footer),
							  .n_columns = w->n_leaves};
	BF_TRY(bfi_footer_splits(w->arena, w->footer, &out->splits, err));
	BF_NEW(w->arena, columns, w->n_leaves, err);
	for (int32_t i = 0; i < w->n_leaves; i++)
		BF_TRY(column_metrics(w, &w->columns[i], &columns[i], err));
	out->columns = columns;
	return BF_OK;
}
