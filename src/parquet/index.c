/*
 * The page index: where the pages of a column chunk are, which rows they have, and bounds of their
 * values (https://parquet.apache.org/docs/file-format/pageindex/).
 *
 *     OffsetIndex = 1: list of { 1: i64 offset, 2: i32 bytes with header, 3: i64 first row }
 *     ColumnIndex = 1: list of bool (all NULL?), 2, 3: lists of binary (min, max), 4: order,
 *                   5: list of i64 (NULLs), 8: list of i64 (NaN)
 *
 * An index is believed as a whole or not at all: lists of one length, rows that ascend, pages that
 * follow one upon the other up to the chunk's end (some writers leave the headers out of the
 * sizes), no page that is all NULL without NULLs, or the other way round, or with bounds.
 */
#include "parquet/internal.h"

/* Least bytes of a PageLocation: three fields, each a header and a byte, and the end. */
#define LOCATION_BYTES_MIN 7

/* Reads a structure near the footer; *out empty when it is not where it can be. */
static BfStatus
read_bytes(const BfParquetFile *f, int64_t at, int32_t len, const uint8_t **out, BfError *err)
{
	*out = NULL;
	if (at < 4 || len <= 0 || at > f->footer.pos || len > f->footer.pos - at ||
		(size_t) len > f->limits.footer_bytes_max)
		return BF_OK;
	return bf_source_window(f->source, at, (size_t) len, out, err);
}

/* ---- offset index ---- */

static BfStatus
decode_location(BfCursor *c, BfiPageLocation *out, int64_t *first_row, BfError *err)
{
	int64_t bytes = -1;

	out->offset = *first_row = -1;
	for (int16_t id = 0;;)
	{
		int type;

		BF_TRY(bfi_thrift_field(c, &id, &type, err));
		if (type == BFI_T_STOP)
			break;
		if (id == 1 && type == BFI_T_I64)
			BF_TRY(bf_cursor_varint(c, &out->offset, err));
		else if (id == 2 && type == BFI_T_I32)
			BF_TRY(bf_cursor_varint(c, &bytes, err));
		else if (id == 3 && type == BFI_T_I64)
			BF_TRY(bf_cursor_varint(c, first_row, err));
		else
			BF_TRY(bfi_thrift_skip(c, type, 2, err));
	}
	out->bytes = bytes > 0 && bytes <= INT32_MAX ? (int32_t) bytes : -1;
	return BF_OK;
}

/* BF_ERR_CORRUPT in whatever way: not to be believed. */
static BfStatus
decode_locations(BfCursor *c, BfArena *a, int64_t n_rows, BfiOffsetIndex *out, BfError *err)
{
	BfiThriftList list;
	int64_t *first_row;

	BF_ASSERT(n_rows >= 0);
	BF_TRY(bfi_thrift_list(c, LOCATION_BYTES_MIN, &list, err));
	BF_DATA(err, list.n > 0 && list.type == BFI_T_STRUCT, 0, "no pages");
	out->n = (int32_t) list.n;
	BF_NEW(a, out->pages, list.n, err);
	BF_NEW(a, first_row, (size_t) list.n + 1, err);
	out->first_row = first_row;
	for (int32_t i = 0; i < out->n; i++)
	{
		BfiPageLocation *p = &out->pages[i];
		const BfiPageLocation *last = i > 0 ? p - 1 : NULL;

		BF_TRY(decode_location(&list.c, p, &first_row[i], err));
		BF_DATA(err, p->bytes > 0 && p->offset >= 4, 0, "no page");
		BF_DATA(err, last == NULL ? first_row[i] == 0 : first_row[i] > first_row[i - 1], 0, "rows");
		BF_DATA(err, first_row[i] < n_rows, 0, "rows");
		BF_DATA(err, last == NULL || p->offset == last->offset + last->bytes, 0, "offsets");
	}
	first_row[out->n] = n_rows;
	return BF_OK;
}

static BfStatus
decode_offset_index(const uint8_t *p, size_t len, BfArena *a, int64_t n_rows, BfiOffsetIndex *out,
					BfError *err)
{
	BfCursor c = bf_cursor(p, len, 0);

	for (int16_t id = 0;;)
	{
		int type;

		BF_TRY(bfi_thrift_field(&c, &id, &type, err));
		if (id == 1 && type == BFI_T_LIST)
			return decode_locations(&c, a, n_rows, out, err);
		BF_DATA(err, type != BFI_T_STOP, 0, "no pages");
		BF_TRY(bfi_thrift_skip(&c, type, 1, err));
	}
}

BfStatus
bfi_offset_index(const BfParquetFile *f, BfArena *a, int32_t rg, const BfiColumnChunk *chunk,
				 BfiOffsetIndex **out, BfError *err)
{
	BfiOffsetIndex *index;
	const BfiPageLocation *last;
	const uint8_t *p;
	BfError ignored;
	BfStatus status;
	int64_t first;
	int64_t end;

	BF_ASSERT(rg >= 0 && rg < f->n_row_groups);
	*out = NULL;
	if ((chunk->seen & BFI_CC_OFFSET_INDEX) == 0 || !bfi_chunk_bytes(f, chunk, &first, &end))
		return BF_OK;
	BF_TRY(read_bytes(f, chunk->offset_index_offset, chunk->offset_index_bytes, &p, err));
	if (p == NULL)
		return BF_OK;
	BF_NEW(a, index, 1, err);
	bf_error_clear(&ignored);
	status = decode_offset_index(p, (size_t) chunk->offset_index_bytes, a, f->row_groups[rg].n_rows,
								 index, &ignored);
	if (status == BF_ERR_NOMEM)
		return bf_error(err, status, "%s", ignored.text);
	if (status != BF_OK)
		return BF_OK;
	BF_ASSERT(index->n > 0 && index->first_row[0] == 0);
	last = &index->pages[index->n - 1];
	if (index->pages[0].offset >= first && last->offset <= end && last->bytes == end - last->offset)
		*out = index;
	return BF_OK;
}

int32_t
bfi_offset_index_find(const BfiOffsetIndex *index, int64_t row)
{
	int32_t lo = 0;
	int32_t hi = index->n;

	BF_ASSERT(row >= 0 && row < index->first_row[index->n]);
	while (hi - lo > 1)
	{
		int32_t mid = lo + (hi - lo) / 2;

		if (index->first_row[mid] <= row)
			lo = mid;
		else
			hi = mid;
	}
	BF_ASSERT(index->first_row[lo] <= row && row < index->first_row[lo + 1]);
	return lo;
}

/* ---- column index ---- */

/* The lists, positioned; n = 0: absent. */
typedef struct ColumnIndex
{
	BfiThriftList null_pages;
	BfiThriftList min;
	BfiThriftList max;
	BfiThriftList nulls;
	BfiThriftList nans;
} ColumnIndex;

static BfStatus
decode_column_index(BfCursor *c, ColumnIndex *out, BfError *err)
{
	memset(out, 0, sizeof *out);
	for (int16_t id = 0;;)
	{
		BfiThriftList *list;
		BfCursor before;
		int type;

		BF_TRY(bfi_thrift_field(c, &id, &type, err));
		if (type == BFI_T_STOP)
			return BF_OK;
		list = id == 1	 ? &out->null_pages
			   : id == 2 ? &out->min
			   : id == 3 ? &out->max
			   : id == 5 ? &out->nulls
			   : id == 8 ? &out->nans
						 : NULL;
		before = *c;
		if (list != NULL && type == BFI_T_LIST)
		{
			BF_TRY(bfi_thrift_list(c, 1, list, err));
			*c = before;
		}
		BF_TRY(bfi_thrift_skip(c, type, 1, err));
	}
}

static bool
has_list(const BfiThriftList *l, int32_t n, int type)
{
	return l->n == (uint32_t) n &&
		   (l->type == type || (type == BFI_T_TRUE && l->type == BFI_T_FALSE));
}

/* The facts of one page, the lists moving on. */
static BfStatus
decode_page(const BfParquetFile *f, int32_t leaf, ColumnIndex *x, int64_t n_rows, bool has_nulls,
			bool has_nans, BfColumnStats *out, BfError *err)
{
	uint8_t all_null;
	int64_t nans = -1;
	BfiPageBounds b;

	BF_ASSERT(n_rows > 0);
	memset(out, 0, sizeof *out);
	BF_TRY(bf_cursor_u8(&x->null_pages.c, &all_null, err));
	BF_TRY(bfi_thrift_binary(&x->min.c, &b.min, err));
	BF_TRY(bfi_thrift_binary(&x->max.c, &b.max, err));
	out->known = true;
	out->row_count = n_rows;
	out->null_count = -1;
	if (has_nulls)
		BF_TRY(bf_cursor_varint(&x->nulls.c, &out->null_count, err));
	if (has_nans)
		BF_TRY(bf_cursor_varint(&x->nans.c, &nans, err));
	BF_DATA(err, out->null_count >= (has_nulls ? 0 : -1) && out->null_count <= n_rows, 0, "NULLs");
	out->may_have_nan = nans != 0;
	BF_DATA(err, !has_nulls || (all_null == 1) == (out->null_count == n_rows), 0, "NULLs");
	if (all_null == 1)
	{
		BF_DATA(err, b.min.len == 0 && b.max.len == 0, 0, "bounds of NULLs");
		out->null_count = n_rows;
		return BF_OK;
	}
	bfi_page_bounds(f, leaf, &b, out);
	return BF_OK;
}

static BfStatus
decode_pages(const BfParquetFile *f, int32_t leaf, BfCursor c, const BfiOffsetIndex *index,
			 BfColumnStats *out, BfError *err)
{
	ColumnIndex x;
	bool has_nulls;
	bool has_nans;

	BF_TRY(decode_column_index(&c, &x, err));
	BF_DATA(err,
			has_list(&x.null_pages, index->n, BFI_T_TRUE) &&
				has_list(&x.min, index->n, BFI_T_BINARY) &&
				has_list(&x.max, index->n, BFI_T_BINARY),
			0, "lists");
	has_nulls = has_list(&x.nulls, index->n, BFI_T_I64);
	has_nans = has_list(&x.nans, index->n, BFI_T_I64);
	BF_DATA(err, (x.nulls.n == 0 || has_nulls) && (x.nans.n == 0 || has_nans), 0, "lists");
	for (int32_t i = 0; i < index->n; i++)
		BF_TRY(decode_page(f, leaf, &x, index->first_row[i + 1] - index->first_row[i], has_nulls,
						   has_nans, &out[i], err));
	return BF_OK;
}

bool
bf_parquet_row_group_indexed(const BfParquetFile *f, int32_t rg)
{
	BfiColumnChunk chunk;
	BfError ignored;

	BF_ASSERT(rg >= 0 && rg < f->n_row_groups);
	bf_error_clear(&ignored);
	for (int32_t leaf = 0; leaf < f->tree.n_leaves; leaf++)
		if (f->tree.leaves[leaf].problem == NULL &&
			bfi_chunk_meta(f, rg, leaf, &chunk, &ignored) == BF_OK &&
			(chunk.seen & (BFI_CC_COLUMN_INDEX | BFI_CC_OFFSET_INDEX)) ==
				(BFI_CC_COLUMN_INDEX | BFI_CC_OFFSET_INDEX))
			return true;
	return false;
}

BfStatus
bf_parquet_pages(BfParquetFile *f, BfArena *a, int32_t rg, int32_t field,
				 const BfParquetPages **out, BfError *err)
{
	int32_t leaf = f->tree.shapes[field].leaf;
	BfiColumnChunk chunk;
	BfiOffsetIndex *index;
	BfParquetPages *pages;
	BfColumnStats *stats;
	const uint8_t *p;
	uint8_t *copy;
	BfError ignored;

	BF_ASSERT(rg >= 0 && rg < f->n_row_groups && field >= 0 && field < f->tree.schema.n_fields);
	*out = NULL;
	bf_error_clear(&ignored);
	if (leaf < 0 || f->tree.leaves[leaf].problem != NULL ||
		bfi_chunk_meta(f, rg, leaf, &chunk, &ignored) != BF_OK ||
		(chunk.seen & BFI_CC_COLUMN_INDEX) == 0)
		return BF_OK;
	BF_TRY(bfi_offset_index(f, a, rg, &chunk, &index, err));
	if (index == NULL)
		return BF_OK;
	BF_TRY(read_bytes(f, chunk.column_index_offset, chunk.column_index_bytes, &p, err));
	if (p == NULL)
		return BF_OK;
	/* Bounds point into it. */
	BF_TRY_PTR(a, copy, bf_arena_memdup(a, p, (size_t) chunk.column_index_bytes), err);
	BF_NEW(a, pages, 1, err);
	BF_NEW(a, stats, index->n, err);
	if (decode_pages(f, leaf, bf_cursor(copy, (size_t) chunk.column_index_bytes, 0), index, stats,
					 &ignored) != BF_OK)
		return BF_OK;
	pages->n = index->n;
	pages->first_row = index->first_row;
	pages->stats = stats;
	*out = pages;
	return BF_OK;
}
