/*
 * Row groups as they go out, and what the footer says of them.
 *
 *     chunk = [dictionary page] data pages; behind the chunks of a row group its Bloom filters,
 *     behind all row groups column indexes, offset indexes, footer
 *
 * Of a chunk that was written only bytes are kept: its ColumnMetaData and its indexes as they will
 * stand in the file.
 */
#include "parquet/write/internal.h"

#define ROW_GROUPS_MAX INT16_MAX
#define KEPT_BYTES_MAX ((size_t) 1 << 30)

/* Where in the buffers the parts of a chunk are; no bytes: it has none. */
typedef struct ChunkParts
{
	int64_t start; /* in the file */
	size_t meta;
	size_t column_index;
	size_t offset_index;
	uint32_t meta_bytes;
	uint32_t column_index_bytes;
	uint32_t offset_index_bytes;
} ChunkParts;

typedef struct RowGroup
{
	int64_t at;
	int64_t rows;
	int64_t raw;
	int64_t stored;
} RowGroup;

struct BfiFooterOut
{
	BfBuffer *metas;
	BfBuffer *column_indexes;
	BfBuffer *offset_indexes;
	BfBuffer *chunks; /* ChunkParts, leaf by leaf */
	BfBuffer *groups; /* RowGroup */
};

BfStatus
bfi_footer_new(BfArena *a, BfiFooterOut **out, BfError *err)
{
	BfiFooterOut *f;

	BF_NEW(a, f, 1, err);
	BF_TRY(bf_buffer_new(a, KEPT_BYTES_MAX, &f->metas, err));
	BF_TRY(bf_buffer_new(a, KEPT_BYTES_MAX, &f->column_indexes, err));
	BF_TRY(bf_buffer_new(a, KEPT_BYTES_MAX, &f->offset_indexes, err));
	BF_TRY(bf_buffer_new(a, KEPT_BYTES_MAX, &f->chunks, err));
	BF_TRY(bf_buffer_new(a, KEPT_BYTES_MAX, &f->groups, err));
	*out = f;
	return BF_OK;
}

static const RowGroup *
groups_of(const BfiFooterOut *f)
{
	return (const RowGroup *) (const void *) f->groups->data;
}

int32_t
bfi_footer_row_groups(const BfiFooterOut *f)
{
	return (int32_t) (f->groups->len / sizeof(RowGroup));
}

BfStatus
bfi_footer_splits(BfArena *a, const BfiFooterOut *f, const int64_t **out, BfError *err)
{
	int32_t n = bfi_footer_row_groups(f);
	int64_t *splits;

	BF_NEW(a, splits, n, err);
	for (int32_t i = 0; i < n; i++)
		splits[i] = groups_of(f)[i].at;
	*out = splits;
	return BF_OK;
}

size_t
bfi_footer_bytes(const BfiFooterOut *f)
{
	return f->metas->len + f->column_indexes->len + f->offset_indexes->len + 256;
}

static BfStatus
put_bytes(BfParquetWriter *w, const void *bytes, size_t n, BfError *err)
{
	if (n == 0)
		return BF_OK;
	BF_TRY(w->output.write(w->output.arg, bytes, n, err));
	w->at += (int64_t) n;
	return BF_OK;
}

/* ---- indexes ---- */

static const BfiPageOut *
pages_of(const BfiColumnOut *c, int32_t *n)
{
	*n = (int32_t) (c->chunk.index->len / sizeof(BfiPageOut));
	return (const BfiPageOut *) (const void *) c->chunk.index->data;
}

/* Below, at or above 0: x's bound before, with or after y's. */
static int
compare_pages(const BfiLeafOut *leaf, const BfiPageOut *x, const BfiPageOut *y, bool max)
{
	const BfiBoundOut *a = max ? &x->max : &x->min, *b = max ? &y->max : &y->min;
	BfiNumber i = max ? x->high : x->low, j = max ? y->high : y->low;
	uint32_t n = a->len < b->len ? a->len : b->len;
	int c;

	if (leaf->order != BFI_BOUNDS_BYTES)
		return bfi_number_less(leaf, i, j) ? -1 : bfi_number_less(leaf, j, i);
	c = memcmp(a->bytes, b->bytes, n);
	return c != 0 ? c : (a->len > b->len) - (a->len < b->len);
}

/* 1: both bounds ascend, 2: descend, 0: neither. Pages of NULLs don't count. */
static int32_t
boundary_order(const BfiLeafOut *leaf, const BfiPageOut *pages, int32_t n)
{
	const BfiPageOut *last = NULL;
	bool up = true, down = true;

	for (int32_t i = 0; i < n; i++)
	{
		if (pages[i].only_nulls)
			continue;
		for (int max = 0; last != NULL && max < 2; max++)
		{
			int c = compare_pages(leaf, last, &pages[i], max);

			up &= c <= 0;
			down &= c >= 0;
		}
		last = &pages[i];
	}
	return up ? 1 : down ? 2 : 0;
}

/* A page with values that have no bounds (NaN alone, no order, bytes that nothing is above) leaves
 * the chunk without. */
static bool
has_bounds(const BfiPageOut *pages, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		if (!pages[i].only_nulls && (!pages[i].min.has || !pages[i].max.has))
			return false;
	return true;
}

static void
put_bounds(BfiThriftOut *t, int16_t id, const BfiPageOut *pages, int32_t n, bool max)
{
	bfi_put_list(t, id, BFI_T_BINARY, (size_t) n);
	for (int32_t i = 0; i < n; i++)
	{
		const BfiBoundOut *b = max ? &pages[i].max : &pages[i].min;

		bfi_put_element_binary(t, b->bytes, pages[i].only_nulls ? 0 : b->len);
	}
}

static BfStatus
keep_column_index(BfiFooterOut *f, const BfiColumnOut *c, ChunkParts *parts, BfError *err)
{
	int32_t n;
	const BfiPageOut *pages = pages_of(c, &n);
	BfiThriftOut t;

	BF_ASSERT(n > 0);
	parts->column_index = f->column_indexes->len;
	if (c->leaf->order == BFI_BOUNDS_NONE || !has_bounds(pages, n))
		return BF_OK;
	bfi_thrift_begin(&t, f->column_indexes, err);
	bfi_put_list(&t, 1, BFI_T_TRUE, (size_t) n);
	for (int32_t i = 0; i < n; i++)
		bfi_put_element_bool(&t, pages[i].only_nulls);
	put_bounds(&t, 2, pages, n, false);
	put_bounds(&t, 3, pages, n, true);
	bfi_put_i32(&t, 4, boundary_order(c->leaf, pages, n));
	bfi_put_list(&t, 5, BFI_T_I64, (size_t) n);
	for (int32_t i = 0; i < n; i++)
		bfi_put_element_i64(&t, pages[i].n_nulls);
	if (c->leaf->order == BFI_BOUNDS_FLOAT)
	{
		bfi_put_list(&t, 8, BFI_T_I64, (size_t) n);
		for (int32_t i = 0; i < n; i++)
			bfi_put_element_i64(&t, pages[i].n_nans);
	}
	BF_TRY(bfi_thrift_end(&t));
	parts->column_index_bytes = (uint32_t) (f->column_indexes->len - parts->column_index);
	return BF_OK;
}

/* `at`: where the data pages begin in the file. */
static BfStatus
keep_offset_index(BfiFooterOut *f, const BfiColumnOut *c, int64_t at, ChunkParts *parts,
				  BfError *err)
{
	int32_t n;
	const BfiPageOut *pages = pages_of(c, &n);
	BfiThriftOut t;

	parts->offset_index = f->offset_indexes->len;
	bfi_thrift_begin(&t, f->offset_indexes, err);
	bfi_put_list(&t, 1, BFI_T_STRUCT, (size_t) n);
	for (int32_t i = 0; i < n; i++)
	{
		bfi_put_element_struct(&t);
		bfi_put_i64(&t, 1, at + pages[i].offset);
		bfi_put_i32(&t, 2, pages[i].bytes);
		bfi_put_i64(&t, 3, pages[i].first_row);
		bfi_put_struct_end(&t);
	}
	BF_TRY(bfi_thrift_end(&t));
	parts->offset_index_bytes = (uint32_t) (f->offset_indexes->len - parts->offset_index);
	return BF_OK;
}

/* ---- chunks ---- */

/* What was written of a chunk. */
typedef struct ChunkWritten
{
	int64_t start;
	int64_t data; /* the first data page */
	int64_t raw;
	int64_t stored;
	int64_t bloom; /* 0: none */
	int32_t bloom_bytes;
} ChunkWritten;

static void
put_statistics(BfiThriftOut *t, const BfParquetWriter *w, const BfiColumnOut *c)
{
	const BfiChunkOut *k = &c->chunk;
	BfiBoundOut min, max;

	bfi_range_bounds(c->leaf, &k->range, w->options.bound_bytes, &min, &max);
	bfi_put_struct(t, 12);
	bfi_put_i64(t, 3, k->n_nulls);
	if (max.has)
		bfi_put_binary(t, 5, max.bytes, max.len);
	if (min.has)
		bfi_put_binary(t, 6, min.bytes, min.len);
	if (max.has)
		bfi_put_bool(t, 7, max.exact);
	if (min.has)
		bfi_put_bool(t, 8, min.exact);
	if (c->leaf->order == BFI_BOUNDS_FLOAT)
		bfi_put_i64(t, 9, k->range.nans);
	bfi_put_struct_end(t);
}

static bool
has_dictionary(const BfiColumnOut *c)
{
	return c->leaf->physical != BFI_BOOLEAN && c->dict.n > 0;
}

/* Each encoding once. */
static void
put_encodings(BfiThriftOut *t, const BfParquetWriter *w, const BfiColumnOut *c)
{
	const BfiChunkOut *k = &c->chunk;
	uint32_t set = 0;

	BF_ASSERT(k->n_encoded > 0);

	if (c->leaf->max_def > 0 || c->leaf->max_rep > 0)
		set |= 1U << BFI_RLE;
	if (has_dictionary(c))
		set |= 1U << (w->options.basic_encodings ? BFI_PLAIN_DICTIONARY : BFI_PLAIN);
	for (int32_t i = 0; i < k->n_encoded; i++)
		set |= 1U << k->encoded[i].encoding;
	bfi_put_list(t, 2, BFI_T_I32, (size_t) __builtin_popcount(set));
	for (; set != 0; set &= set - 1)
		bfi_put_element_i64(t, __builtin_ctz(set));
}

static void
put_encoding_stat(BfiThriftOut *t, int32_t page, int32_t encoding, int32_t n)
{
	bfi_put_element_struct(t);
	bfi_put_i32(t, 1, page);
	bfi_put_i32(t, 2, encoding);
	bfi_put_i32(t, 3, n);
	bfi_put_struct_end(t);
}

static void
put_encoding_stats(BfiThriftOut *t, const BfParquetWriter *w, const BfiColumnOut *c)
{
	const BfiChunkOut *k = &c->chunk;
	int32_t page = w->options.page_version == 1 ? BFI_PAGE_DATA : BFI_PAGE_DATA_V2;

	bfi_put_list(t, 13, BFI_T_STRUCT, (size_t) k->n_encoded + has_dictionary(c));
	if (has_dictionary(c))
		put_encoding_stat(t, BFI_PAGE_DICTIONARY,
						  w->options.basic_encodings ? BFI_PLAIN_DICTIONARY : BFI_PLAIN, 1);
	for (int32_t i = 0; i < k->n_encoded; i++)
		put_encoding_stat(t, page, k->encoded[i].encoding, k->encoded[i].n);
}

static BfStatus
keep_meta(BfParquetWriter *w, const BfiColumnOut *c, const ChunkWritten *at, ChunkParts *parts,
		  BfError *err)
{
	BfiThriftOut t;

	parts->meta = w->footer->metas->len;
	bfi_thrift_begin(&t, w->footer->metas, err);
	bfi_put_i32(&t, 1, (int32_t) c->leaf->physical);
	put_encodings(&t, w, c);
	bfi_put_list(&t, 3, BFI_T_BINARY, (size_t) c->leaf->n_path);
	for (int32_t i = 0; i < c->leaf->n_path; i++)
		bfi_put_element_binary(&t, c->leaf->path[i], strlen(c->leaf->path[i]));
	bfi_put_i32(&t, 4, bfi_page_codec_number(c->chunk.codec));
	bfi_put_i64(&t, 5, c->chunk.n_values);
	bfi_put_i64(&t, 6, at->raw);
	bfi_put_i64(&t, 7, at->stored);
	bfi_put_i64(&t, 9, at->data);
	if (has_dictionary(c))
		bfi_put_i64(&t, 11, at->start);
	put_statistics(&t, w, c);
	put_encoding_stats(&t, w, c);
	if (at->bloom > 0)
	{
		bfi_put_i64(&t, 14, at->bloom);
		bfi_put_i32(&t, 15, at->bloom_bytes);
	}
	BF_TRY(bfi_thrift_end(&t));
	parts->meta_bytes = (uint32_t) (w->footer->metas->len - parts->meta);
	return BF_OK;
}

static BfStatus
write_chunk(BfParquetWriter *w, BfiColumnOut *c, ChunkWritten *at, BfError *err)
{
	BfView header, body;

	*at = (ChunkWritten){.start = w->at, .raw = c->chunk.uncompressed};
	if (has_dictionary(c))
	{
		int64_t raw;

		BF_TRY(bfi_page_dictionary_put(w, c, &header, &body, &raw, err));
		at->raw += raw;
		BF_TRY(put_bytes(w, header.ptr, header.len, err));
		BF_TRY(put_bytes(w, body.ptr, body.len, err));
	}
	BF_ASSERT(c->fill.n_levels == 0);
	at->data = w->at;
	BF_TRY(put_bytes(w, c->chunk.pages->data, c->chunk.pages->len, err));
	at->stored = w->at - at->start;
	return BF_OK;
}

static BfStatus
write_bloom(BfParquetWriter *w, BfiColumnOut *c, ChunkWritten *at, BfError *err)
{
	BfBuffer *out = w->scratch.encoded;

	if (c->bloom == NULL || c->chunk.n_values == c->chunk.n_nulls)
		return BF_OK;
	out->len = 0;
	BF_TRY(bfi_bloom_bytes(w, c->bloom, out, err));
	at->bloom = w->at;
	at->bloom_bytes = (int32_t) out->len;
	return put_bytes(w, out->data, out->len, err);
}

static BfStatus
keep_chunk(BfParquetWriter *w, BfiColumnOut *c, const ChunkWritten *at, BfError *err)
{
	ChunkParts parts = {.start = at->start};

	BF_TRY(keep_meta(w, c, at, &parts, err));
	if (w->options.page_index)
	{
		BF_TRY(keep_column_index(w->footer, c, &parts, err));
		BF_TRY(keep_offset_index(w->footer, c, at->data, &parts, err));
	}
	c->bytes += at->stored;
	c->n_values += c->chunk.n_values;
	c->n_nulls += c->chunk.n_nulls;
	bfi_range_merge(c->leaf, &c->range, &c->chunk.range);
	return bf_buffer_append(w->footer->chunks, &parts, sizeof parts, err);
}

BfStatus
bfi_footer_row_group(BfParquetWriter *w, BfError *err)
{
	RowGroup g = {.at = w->at, .rows = w->group_rows};
	ChunkWritten *at;
	BfArenaMark mark = bf_arena_mark(w->scratch.arena);

	if (bfi_footer_row_groups(w->footer) == ROW_GROUPS_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "more than %d row groups", ROW_GROUPS_MAX);
	BF_NEW(w->scratch.arena, at, w->n_leaves, err);
	for (int32_t i = 0; i < w->n_leaves; i++)
	{
		BF_TRY(write_chunk(w, &w->columns[i], &at[i], err));
		g.raw += at[i].raw;
		g.stored += at[i].stored;
	}
	for (int32_t i = 0; i < w->n_leaves; i++)
		BF_TRY(write_bloom(w, &w->columns[i], &at[i], err));
	for (int32_t i = 0; i < w->n_leaves; i++)
		BF_TRY(keep_chunk(w, &w->columns[i], &at[i], err));
	bf_arena_rewind(w->scratch.arena, mark);
	return bf_buffer_append(w->footer->groups, &g, sizeof g, err);
}

/* ---- the footer ---- */

static void
put_chunk(BfiThriftOut *t, const BfiFooterOut *f, const ChunkParts *p, int64_t column_indexes,
		  int64_t offset_indexes)
{
	bfi_put_element_struct(t);
	bfi_put_i64(t, 2, p->start);
	bfi_put_embedded(t, 3, f->metas->data + p->meta, p->meta_bytes);
	if (p->offset_index_bytes > 0)
	{
		bfi_put_i64(t, 4, offset_indexes + (int64_t) p->offset_index);
		bfi_put_i32(t, 5, (int32_t) p->offset_index_bytes);
	}
	if (p->column_index_bytes > 0)
	{
		bfi_put_i64(t, 6, column_indexes + (int64_t) p->column_index);
		bfi_put_i32(t, 7, (int32_t) p->column_index_bytes);
	}
	bfi_put_struct_end(t);
}

/* The first leaf of each sort column; those below a nested one were refused. */
static int32_t
leaf_of(const BfParquetWriter *w, int32_t column)
{
	for (int32_t i = 0; i < w->n_leaves; i++)
		if (w->leaves[i].top == column)
			return i;
	BF_ASSERT(false);
	return 0;
}

static void
put_sorting(BfiThriftOut *t, const BfParquetWriter *w)
{
	if (w->options.n_sort == 0)
		return;
	bfi_put_list(t, 4, BFI_T_STRUCT, (size_t) w->options.n_sort);
	for (int32_t i = 0; i < w->options.n_sort; i++)
	{
		const BfParquetSort *s = &w->options.sort[i];

		bfi_put_element_struct(t);
		bfi_put_i32(t, 1, leaf_of(w, s->column));
		bfi_put_bool(t, 2, s->descending);
		bfi_put_bool(t, 3, s->nulls_first);
		bfi_put_struct_end(t);
	}
}

static void
put_row_groups(BfiThriftOut *t, const BfParquetWriter *w, int64_t column_indexes,
			   int64_t offset_indexes)
{
	const BfiFooterOut *f = w->footer;
	const ChunkParts *parts = (const ChunkParts *) (const void *) f->chunks->data;
	int32_t n = bfi_footer_row_groups(f);

	bfi_put_list(t, 4, BFI_T_STRUCT, (size_t) n);
	for (int32_t g = 0; g < n; g++)
	{
		const RowGroup *group = &groups_of(f)[g];

		bfi_put_element_struct(t);
		bfi_put_list(t, 1, BFI_T_STRUCT, (size_t) w->n_leaves);
		for (int32_t i = 0; i < w->n_leaves; i++)
			put_chunk(t, f, parts++, column_indexes, offset_indexes);
		bfi_put_i64(t, 2, group->raw);
		bfi_put_i64(t, 3, group->rows);
		put_sorting(t, w);
		bfi_put_i64(t, 5, group->at);
		bfi_put_i64(t, 6, group->stored);
		bfi_put_i16(t, 7, (int16_t) g);
		bfi_put_struct_end(t);
	}
}

static void
put_key_values(BfiThriftOut *t, const BfParquetWriteOptions *o)
{
	if (o->n_keys == 0)
		return;
	bfi_put_list(t, 5, BFI_T_STRUCT, (size_t) o->n_keys);
	for (int32_t i = 0; i < o->n_keys; i++)
	{
		bfi_put_element_struct(t);
		bfi_put_text(t, 1, o->keys[i]);
		bfi_put_text(t, 2, o->key_values[i]);
		bfi_put_struct_end(t);
	}
}

static BfStatus
put_file_meta(const BfParquetWriter *w, int64_t column_indexes, int64_t offset_indexes,
			  BfBuffer *out, BfError *err)
{
	BfiThriftOut t;

	bfi_thrift_begin(&t, out, err);
	bfi_put_i32(&t, 1, w->options.page_version);
	bfi_write_schema(&t, 2, w->schema);
	bfi_put_i64(&t, 3, w->rows);
	put_row_groups(&t, w, column_indexes, offset_indexes);
	put_key_values(&t, &w->options);
	bfi_put_text(&t, 6, w->options.created_by);
	/* Each in the order of its type. */
	bfi_put_list(&t, 7, BFI_T_STRUCT, (size_t) w->n_leaves);
	for (int32_t i = 0; i < w->n_leaves; i++)
	{
		bfi_put_element_struct(&t);
		bfi_put_empty(&t, 1);
		bfi_put_struct_end(&t);
	}
	return bfi_thrift_end(&t);
}

BfStatus
bfi_footer_write(BfParquetWriter *w, BfError *err)
{
	const BfiFooterOut *f = w->footer;
	BfBuffer *out = w->scratch.encoded;
	int64_t column_indexes = w->at;
	int64_t offset_indexes;
	uint32_t len;

	BF_TRY(put_bytes(w, f->column_indexes->data, f->column_indexes->len, err));
	offset_indexes = w->at;
	BF_TRY(put_bytes(w, f->offset_indexes->data, f->offset_indexes->len, err));
	BF_ASSERT(w->group_rows == 0 || w->failed);
	out->len = 0;
	BF_TRY(put_file_meta(w, column_indexes, offset_indexes, out, err));
	len = (uint32_t) out->len;
	BF_TRY(bf_buffer_append(out, &len, sizeof len, err));
	BF_TRY(bf_buffer_append(out, "PAR1", 4, err));
	return put_bytes(w, out->data, out->len, err);
}
