/*
 * A flat column of a row group as vectors.
 *
 * A batch is put together from as many pages as it takes. Per stretch within one page: the
 * definition levels become validity bits, the values are decoded densely and, when there are
 * NULLs, spread. A page without NULLs (known since it was loaded) skips both steps.
 *
 * Two things make a batch that crosses pages special:
 *  - views into the page that is left behind are moved to the batch arena (bfi_column_room keeps
 *    that rare by ending batches at the page where many rows are left);
 *  - a VIEW column is in DICT form as long as all its pages are dictionary-encoded; at the first
 *    page that is not, the codes so far are replaced by views.
 */
#include "parquet/internal.h"

/* With fewer rows than this left in the page, copying its views costs less than a short batch. */
#define ROOM_MIN 512

/* What a window may need beyond a page and the usual read: a page's header, and slack. */
#define WINDOW_EXTRA ((size_t) 17 << 20)

static void
free_arena(void *arg)
{
	bf_arena_free(arg);
}

/* What flat columns and leaves of nested ones have in common. */
static BfStatus
init(BfArena *a, BfiColumn *c, BfiShared *shared, int32_t leaf, BfError *err)
{
	BfParquetFile *f = shared->file;
	size_t page_max = f->limits.page_bytes_max;
	BfiColumn zero = {0};

	BF_ASSERT(leaf >= 0 && leaf < f->tree.n_leaves && shared->native != NULL &&
			  shared->dense != NULL);
	*c = zero;
	c->file = f;
	c->leaf_index = leaf;
	c->leaf = &f->tree.leaves[leaf];
	c->shared = shared;
	BF_NEW_RAW(a, c->batch.codes, BF_BATCH_ROWS * 2, err);
	c->chunk.window.source = f->source;
	c->chunk.window.bytes = f->limits.window_bytes;
	BF_TRY(bf_buffer_new(a, page_max + f->limits.window_bytes + WINDOW_EXTRA,
						 &c->chunk.window.buffer, err));
	BF_TRY(bf_buffer_new(a, page_max + BFI_SLACK, &c->page_buffer, err));
	BF_TRY(bf_buffer_new(a, page_max + 4 * BFI_SLACK, &c->level_buffer, err));
	BF_TRY(bf_buffer_new(a, page_max + BFI_SLACK, &c->dict.bytes, err));
	BF_TRY(bf_buffer_new(a, page_max * 8, &c->dict.values, err));
	BF_TRY_PTR(a, c->batch.arena, bf_arena_new(bf_arena_host(a), "Parquet batch", page_max * 2),
			   err);
	if (!bf_arena_on_cleanup(a, free_arena, c->batch.arena))
	{
		bf_arena_free(c->batch.arena);
		return bf_arena_fail(a, 0, err);
	}
	return bfi_column_init_values(a, c, err);
}

BfStatus
bfi_column_init(BfArena *a, BfiColumn *c, BfiShared *shared, int32_t leaf, BfError *err)
{
	BF_TRY(init(a, c, shared, leaf, err));
	BF_TRY(bf_vector_init(a, &c->batch.vec, c->leaf->type, err));
	c->batch.flat = c->batch.vec.data.raw;
	/* Two words more: bits are loaded 64 at a time from any position. */
	BF_NEW(a, c->batch.validity, BF_VALIDITY_WORDS + 2, err);
	return BF_OK;
}

BfStatus
bfi_column_init_levels(BfArena *a, BfiColumn *c, BfiShared *shared, int32_t leaf, bool values,
					   BfError *err)
{
	const BfParquetFile *f = shared->file;
	size_t levels_max = f->limits.page_bytes_max / 4;
	BfiLevels *l;

	BF_TRY(init(a, c, shared, leaf, err));
	BF_NEW(a, l, 1, err);
	c->levels = l;
	l->values = values && c->leaf->storage != BF_STORE_NONE;
	BF_TRY(bf_buffer_new(a, levels_max + BFI_SLACK, &l->rep, err));
	BF_TRY(bf_buffer_new(a, levels_max + BFI_SLACK, &l->def, err));
	BF_TRY(bf_buffer_new(a, (levels_max + 1) * 16, &l->dense, err));
	BF_NEW(a, l->rep_def, c->leaf->max_rep + 1, err);
	for (int32_t n = c->leaf->node; n > 0; n = f->tree.nodes[n].parent)
		if (f->tree.nodes[n].repetition == BFI_REPEATED)
			l->rep_def[f->tree.nodes[n].rep] = (uint8_t) f->tree.nodes[n].def;
	return BF_OK;
}

static BfStatus
open_chunk(BfiColumn *c, int32_t rg, BfError *err)
{
	const BfParquetFile *f = c->file;
	BfiColumnChunk chunk;
	const BfiColumnMetaData *m = &chunk.meta;
	int64_t start;
	int64_t end;

	BF_TRY(bfi_chunk_meta(f, rg, c->leaf_index, &chunk, err));
	if (!bfi_codec_find(m->codec, &c->chunk.codec, &c->chunk.codec_ratio))
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "the column is compressed with %s (%d)",
				bfi_codec_name(m->codec), m->codec);
	BF_DATA(err, c->leaf->max_rep > 0 || m->n_values == f->row_groups[rg].n_rows, f->footer.pos,
			"the column chunk has %lld values, its row group %lld rows", (long long) m->n_values,
			(long long) f->row_groups[rg].n_rows);
	c->chunk.levels_left = c->chunk.n_values = m->n_values;
	c->chunk.all_dictionary = bfi_chunk_is_dictionary(m);
	if (m->n_values == 0)
		return BF_OK; /* such a chunk may have no pages, and any offsets */
	BF_DATA(err, bfi_chunk_bytes(f, &chunk, &start, &end), f->footer.pos,
			"the column chunk has %lld bytes at %lld, the footer begins at %lld",
			(long long) m->compressed_bytes, (long long) start, (long long) f->footer.pos);
	c->chunk.next_page = c->chunk.start = start;
	c->chunk.window.pos = start;
	c->chunk.window.len = 0;
	c->chunk.window.end = end;
	c->chunk.window.end_max = end + 100 < f->footer.pos ? end + 100 : f->footer.pos;
	return BF_OK;
}

BfStatus
bfi_column_open(BfiColumn *c, int32_t rg, BfError *err)
{
	const BfiWriter *w = &c->file->writer;

	BF_ASSERT(rg >= 0 && rg < c->file->n_row_groups);
	c->chunk.rg = rg;
	c->chunk.row = 0;
	c->page_left = 0;
	c->left_page.there = c->left_dict.there = false;
	c->chunk.all_dictionary = false;
	c->chunk.index = NULL;
	c->chunk.index_tried = c->chunk.jumped = false;
	bfi_values_reset(&c->values, bfi_writer_before(w, BFI_APP_PARQUET_MR, 1, 8, 0));
	if (c->levels != NULL)
		c->levels->n = c->levels->used = c->levels->n_dense = 0;
	else if (c->leaf->storage == BF_STORE_NONE)
		return BF_OK; /* all NULL: no page is read */
	return open_chunk(c, rg, err);
}

int32_t
bfi_column_room(const BfiColumn *c)
{
	if (c->page_left >= ROOM_MIN && bfi_column_has_views(c))
		return c->page_left;
	return BF_BATCH_ROWS;
}

BfStatus
bfi_column_keep_views(BfiColumn *c, BfView *views, int32_t first, int32_t n, BfError *err)
{
	size_t total = 0;
	uint8_t *to;

	BF_ASSERT(first >= 0 && first <= n && c->leaf->storage == BF_STORE_VIEW);
	for (int32_t i = first; i < n; i++)
		total += views[i].len;
	to = bf_arena_alloc(c->batch.arena, total);
	if (to == NULL)
		return bf_arena_fail(c->batch.arena, total, err);
	for (int32_t i = first; i < n; i++)
	{
		if (views[i].len == 0)
			continue;
		memcpy(to, views[i].ptr, views[i].len);
		views[i].ptr = to;
		to += views[i].len;
	}
	return BF_OK;
}

BfStatus
bfi_column_begin_batch(BfiColumn *c, BfError *err)
{
	BF_TRY(bfi_values_keep(&c->values, err));
	bf_arena_reset(c->batch.arena);
	return BF_OK;
}

/* The batch so far has codes in c->codes: replace them by the values. */
static void
codes_to_views(BfiColumn *c, int32_t n)
{
	BfView *views = c->batch.flat;
	const BfView *dict = c->dict.vec.data.view;

	BF_ASSERT(c->batch.vec.form == BF_VEC_DICT && n <= BF_BATCH_ROWS);
	for (int32_t i = 0; i < n; i++)
	{
		bool valid = c->batch.vec.validity == NULL || bf_valid(c->batch.vec.validity, i);

		views[i] = valid ? dict[c->batch.codes[i]] : (BfView){NULL, 0};
	}
	c->batch.vec.form = BF_VEC_FLAT;
}

/* The validity bits of rows [start, start + k); *ones = how many are set. Bits exist from the first
 * NULL of a batch on. */
static BfStatus
read_validity(BfiColumn *c, int32_t start, int32_t k, uint32_t *ones, BfError *err)
{
	BF_ASSERT(start >= 0 && k > 0 && start + k <= BF_BATCH_ROWS);
	*ones = (uint32_t) k;
	if (c->page.n_values == c->page.n_levels)
	{
		if (c->batch.vec.validity != NULL)
			bfi_set_bits(c->batch.validity, (uint32_t) start, (uint32_t) k);
		return BF_OK;
	}
	if (c->batch.vec.validity == NULL)
	{
		bfi_set_bits(c->batch.validity, 0, (uint32_t) start);
		c->batch.vec.validity = c->batch.validity;
	}
	return bfi_rle_bits(&c->page.def, c->batch.validity, (uint32_t) start, (uint32_t) k, ones, err);
}

/* What is known of a batch so far. */
typedef struct Reading
{
	bool first; /* nothing has been read */
	bool any_null;
} Reading;

static BfStatus
read_stretch(BfiColumn *c, int32_t start, int32_t k, Reading *r, BfError *err)
{
	size_t size = bf_storage_size(c->leaf->storage);
	uint32_t ones;
	bool codes =
		bfi_column_has_codes(c) && c->leaf->storage == BF_STORE_VIEW && c->values.dict.n > 0;
	void *to;

	BF_TRY(read_validity(c, start, k, &ones, err));
	r->any_null |= ones < (uint32_t) k;
	BF_NEVER(err, (int32_t) ones > c->values.left);
	if (codes && r->first)
		c->batch.vec.form = BF_VEC_DICT;
	else if (!codes && c->batch.vec.form == BF_VEC_DICT)
		codes_to_views(c, start);
	r->first = false;
	if (c->batch.vec.form == BF_VEC_DICT)
	{
		to = c->batch.codes + start;
		size = sizeof *c->batch.codes;
		if (ones == (uint32_t) k)
			return bfi_dictionary_codes(&c->values, k, to, err);
		BF_TRY(bfi_dictionary_codes(&c->values, (int32_t) ones,
									(uint32_t *) (void *) c->shared->dense, err));
	}
	else
	{
		to = (uint8_t *) c->batch.flat + (size_t) start * size;
		if (ones == (uint32_t) k)
			return bfi_column_decode(c, k, to, err);
		BF_TRY(bfi_column_decode(c, (int32_t) ones, c->shared->dense, err));
	}
	bfi_spread(c->batch.validity, start, k, c->shared->dense, to, size);
	return BF_OK;
}

static void
all_null(BfiColumn *c, int32_t n)
{
	memset(c->batch.validity, 0, BF_VALIDITY_WORDS * sizeof *c->batch.validity);
	c->batch.vec.validity = c->batch.validity;
	c->batch.vec.n = n;
}

/* ---- passing over rows ---- */

BfStatus
bfi_column_jump(BfiColumn *c, int64_t row, BfError *err)
{
	int32_t current;
	int32_t p;

	BF_ASSERT(row >= c->chunk.row);
	if (!c->shared->use_index || c->values.carry_previous)
		return BF_OK;
	if (!c->chunk.index_tried)
	{
		BfiColumnChunk chunk;

		c->chunk.index_tried = true;
		BF_TRY(bfi_chunk_meta(c->file, c->chunk.rg, c->leaf_index, &chunk, err));
		BF_TRY(bfi_offset_index(c->file, c->shared->index_arena, c->chunk.rg, &chunk,
								&c->chunk.index, err));
	}
	if (c->chunk.index == NULL)
		return BF_OK;
	p = bfi_offset_index_find(c->chunk.index, row);
	if (c->chunk.index->first_row[p] <= c->chunk.row)
		return BF_OK;
	/* The page at c->row counts as passed over only if it has not been loaded. */
	current = bfi_offset_index_find(c->chunk.index, c->chunk.row);
	c->shared->counters->pages_skipped += p - current - (c->page_left > 0);
	return bfi_page_jump(c, p, err);
}

/* Rows of the current page. */
static BfStatus
skip_in_page(BfiColumn *c, int32_t k, BfError *err)
{
	uint32_t ones = (uint32_t) k;

	BF_ASSERT(k <= c->page_left);
	c->chunk.row += k;
	c->page_left -= k;
	/* What is left behind for good need not be looked at. */
	if (c->page_left == 0 && !c->values.carry_previous)
		return BF_OK;
	if (c->page.n_values < c->page.n_levels)
		BF_TRY(bfi_rle_count_and_skip(&c->page.def, (uint32_t) k, (uint32_t) c->leaf->max_def,
									  &ones, err));
	BF_NEVER(err, (int32_t) ones > c->values.left);
	return bfi_values_skip(&c->values, (int32_t) ones, err);
}

BfStatus
bfi_column_seek(BfiColumn *c, int64_t row, BfError *err)
{
	BF_ASSERT(row >= c->chunk.row);
	if (c->leaf->storage == BF_STORE_NONE)
		c->chunk.row = row;
	if (c->chunk.row == row)
		return BF_OK;
	BF_TRY(bfi_column_begin_batch(c, err));
	if (row < c->file->row_groups[c->chunk.rg].n_rows && row - c->chunk.row >= c->page_left)
		BF_TRY(bfi_column_jump(c, row, err));
	while (c->chunk.row < row)
	{
		int64_t n = row - c->chunk.row;

		if (c->page_left > 0)
			BF_TRY(skip_in_page(c, n < c->page_left ? (int32_t) n : c->page_left, err));
		else
			BF_TRY(bfi_page_next_after(c, &n, err));
	}
	return BF_OK;
}

/* ---- reading ---- */

/* How many rows from `at` on, before `end`, have the same bit as row `at`. */
static int32_t
run_of(const uint64_t *rows, int32_t at, int32_t end)
{
	uint64_t same = (rows[at >> 6] >> (at & 63) & 1) != 0 ? UINT64_MAX : 0;
	uint64_t others = (rows[at >> 6] ^ same) >> (at & 63);
	int32_t pos = at;

	BF_ASSERT(at >= 0 && at < end);
	while (others == 0)
	{
		pos = (pos | 63) + 1;
		if (pos >= end)
			return end - at;
		others = rows[pos >> 6] ^ same;
	}
	pos += __builtin_ctzll(others);
	return (pos < end ? pos : end) - at;
}

/* Rows [start, start + k) of the batch, all of the current page. */
static BfStatus
read_in_page(BfiColumn *c, int32_t start, int32_t k, const uint64_t *rows, Reading *r, BfError *err)
{
	BF_ASSERT(k >= 0 && k <= c->page_left);
	if (rows == NULL)
	{
		BF_TRY(read_stretch(c, start, k, r, err));
		c->chunk.row += k;
		c->page_left -= k;
		return BF_OK;
	}
	for (int32_t at = start; at < start + k;)
	{
		int32_t n = run_of(rows, at, start + k);

		if ((rows[at >> 6] >> (at & 63) & 1) == 0)
			BF_TRY(skip_in_page(c, n, err));
		else
		{
			BF_TRY(read_stretch(c, at, n, r, err));
			c->chunk.row += n;
			c->page_left -= n;
		}
		at += n;
	}
	return BF_OK;
}

/* All rows NULL until they are read. */
static void
clear_batch(BfiColumn *c, int32_t n)
{
	size_t words = BF_VALIDITY_WORDS * sizeof *c->batch.validity;

	memset(c->batch.validity, 0, words);
	memset(c->batch.flat, 0, (size_t) n * bf_storage_size(c->leaf->storage));
	memset(c->batch.codes, 0, (size_t) n * sizeof *c->batch.codes);
	c->batch.vec.validity = c->batch.validity;
}

/* The page that has row `done` of the batch, passing over those that have no row that is wanted. */
static BfStatus
next_page_of(BfiColumn *c, int32_t *done, int32_t n, const uint64_t *rows, BfError *err)
{
	int64_t gap = 0;
	int64_t left;

	if (rows != NULL && (rows[*done >> 6] >> (*done & 63) & 1) == 0)
		gap = run_of(rows, *done, n);
	left = gap;
	BF_TRY(bfi_page_next_after(c, &left, err));
	*done += (int32_t) (gap - left);
	return BF_OK;
}

BfStatus
bfi_column_read(BfiColumn *c, int32_t n, const uint64_t *rows, BfError *err)
{
	Reading r = {.first = true, .any_null = rows != NULL};
	int32_t page_first = 0; /* first row whose views point into the current page */
	int32_t done = 0;

	BF_ASSERT(n > 0 && n <= BF_BATCH_ROWS);
	if (c->leaf->storage == BF_STORE_NONE)
	{
		all_null(c, n);
		c->chunk.row += n;
		return BF_OK;
	}
	BF_TRY(bfi_column_begin_batch(c, err));
	c->batch.vec.form = BF_VEC_FLAT;
	c->batch.vec.data.raw = c->batch.flat;
	c->batch.vec.validity = NULL;
	c->batch.vec.n = n;
	if (rows != NULL)
		clear_batch(c, n);
	while (done < n)
	{
		int32_t k;

		if (c->page_left == 0)
		{
			if (done > page_first && bfi_column_has_views(c) && c->batch.vec.form != BF_VEC_DICT)
				BF_TRY(bfi_column_keep_views(c, c->batch.flat, page_first, done, err));
			BF_TRY(next_page_of(c, &done, n, rows, err));
			page_first = done;
		}
		k = c->page_left < n - done ? c->page_left : n - done;
		BF_TRY(read_in_page(c, done, k, rows, &r, err));
		done += k;
	}
	BF_ASSERT(done == n);
	if (!r.any_null)
		c->batch.vec.validity = NULL;
	if (c->batch.vec.form == BF_VEC_DICT)
	{
		c->batch.vec.codes = c->batch.codes;
		c->batch.vec.dict = &c->dict.vec;
		c->batch.vec.dict_epoch = c->dict.vec.dict_epoch;
	}
	return BF_OK;
}
