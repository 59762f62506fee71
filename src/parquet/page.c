/*
 * From a chunk's bytes to a page that is ready to decode.
 *
 *     chunk = [dictionary page] { data page }        headers in between, no lengths up front
 *     page  = PageHeader (Thrift), compressed_page_size bytes
 *     V1    = compress(repetition levels, definition levels, values)
 *     V2    = repetition levels, definition levels, compress(values)
 *
 * What a page says of itself is checked here, once: sizes, checksum, levels (counted, not kept),
 * so that the decoders of values know how many there must be.
 */
#include "parquet/internal.h"

/* PARQUET-816: parquet-mr up to 1.2.8 left the dictionary page's header out of the chunk's size. */
#define CHUNK_END_SLACK 100
#define HEADER_BYTES_MAX ((size_t) 16 << 20)

static size_t
window_left(const BfiWindow *w, int64_t pos)
{
	BF_ASSERT(pos >= w->pos && pos <= w->pos + (int64_t) w->len);
	return (size_t) (w->pos + (int64_t) w->len - pos);
}

/* At least `want` bytes from pos on, or what the chunk has; *got says how many there are. Bytes
 * that are in the window already are moved, not read again. */
static BfStatus
window_fill(BfiWindow *w, int64_t pos, size_t want, const uint8_t **p, size_t *got, BfError *err)
{
	size_t keep = 0;
	int64_t end;
	size_t len;

	BF_ASSERT(pos >= 0 && want > 0);
	if (pos >= w->pos && pos <= w->pos + (int64_t) w->len)
	{
		keep = window_left(w, pos);
		if (keep >= want)
		{
			*p = w->buffer->data + (pos - w->pos);
			*got = keep;
			return BF_OK;
		}
	}
	end = pos + (int64_t) want;
	if (end < pos + (int64_t) w->bytes)
		end = pos + (int64_t) w->bytes;
	/* The bytes behind the chunk's end are for those who ask for them. */
	if (end > w->end)
		end = pos + (int64_t) want > w->end ? pos + (int64_t) want : w->end;
	if (end > w->end_max)
		end = w->end_max;
	len = end > pos ? (size_t) (end - pos) : 0;
	if (len < keep)
		len = keep;
	if (keep > 0)
		memmove(w->buffer->data, w->buffer->data + (pos - w->pos), keep);
	w->pos = pos;
	w->len = 0; /* nothing, should the read fail */
	w->buffer->len = keep;
	BF_TRY(bf_buffer_reserve(w->buffer, len - keep + BFI_SLACK, err));
	if (len > keep)
		BF_TRY(bf_source_read(w->source, pos + (int64_t) keep, w->buffer->data + keep, len - keep,
							  err));
	memset(w->buffer->data + len, 0, BFI_SLACK);
	w->len = len;
	BF_ASSERT(w->len + BFI_SLACK <= w->buffer->cap);
	*p = w->buffer->data;
	*got = len;
	return BF_OK;
}

/* Headers have no length: decode from what is there, ask for more while that fails. */
static BfStatus
read_header(BfiColumn *c, BfiPageHeader *h, size_t *header_bytes, BfError *err)
{
	size_t want = 64;

	for (;;)
	{
		const uint8_t *p;
		size_t got;
		BfCursor cur;
		BfStatus status;

		BF_TRY(window_fill(&c->chunk.window, c->chunk.next_page, want, &p, &got, err));
		BF_DATA(err, got > 0, c->chunk.next_page,
				"the column chunk ends %lld values before it is complete",
				(long long) c->chunk.levels_left);
		cur = bf_cursor(p, got < HEADER_BYTES_MAX ? got : HEADER_BYTES_MAX, c->chunk.next_page);
		status = bfi_thrift_struct(&cur, &bfi_page_header_table, h, sizeof *h, err);
		if (status == BF_OK)
		{
			*header_bytes = (size_t) (cur.pos - cur.start);
			return BF_OK;
		}
		if (got < want || got >= HEADER_BYTES_MAX)
			return status;
		want = got * 8 < HEADER_BYTES_MAX ? got * 8 : HEADER_BYTES_MAX;
	}
}

static BfStatus
check_crc(const BfiColumn *c, const BfiPageHeader *h, const uint8_t *p, BfError *err)
{
	uint32_t crc;

	if (!c->file->limits.verify_crc || (h->seen & BFI_PH_CRC) == 0)
		return BF_OK;
	crc = bf_crc32(p, (size_t) h->compressed_bytes);
	if (BF_LIKELY(crc == (uint32_t) h->crc))
		return BF_OK;
	bf_error_at(err, BF_ERR_CORRUPT, c->page.at,
				"the page's checksum is %08x, its header says %08x", crc, (uint32_t) h->crc);
	err->unverified = "page";
	return err->code;
}

/* Expands src into out, with slack; *body is there, or where an earlier scan has left it. */
static BfStatus
expand(BfiColumn *c, const uint8_t *src, size_t src_len, BfBuffer *out, size_t len, BfView *body,
	   BfError *err)
{
	BfStatus status;

	BF_ASSERT(c->chunk.codec != BF_CODEC_NONE && c->chunk.codec_ratio > 0);
	if (c->kept != NULL)
	{
		*body = (BfView){bfi_kept_bytes(c->kept) + c->kept->level_bytes, (uint32_t) len};
		c->shared->counters->pages_kept++;
		return BF_OK;
	}
	if (len > c->file->limits.page_bytes_max)
		BF_FAIL_AT(err, BF_ERR_LIMIT, c->page.at, "a page of %zu bytes, more than the limit of %zu",
				   len, c->file->limits.page_bytes_max);
	BF_DATA(err, len / c->chunk.codec_ratio <= src_len, c->page.at,
			"%zu bytes can't expand to the %zu that the page claims", src_len, len);
	out->len = 0;
	BF_TRY(bf_buffer_reserve(out, len + BFI_SLACK, err));
	if (len > 0)
	{
		BF_DATA(err, src_len > 0, c->page.at, "a page of no bytes that claims %zu", len);
		status = bf_decompress_exact(c->shared->codecs, c->chunk.codec, src, src_len, out->data,
									 len, err);
		if (status != BF_OK)
		{
			if (err->offset < 0)
				err->offset = c->page.at;
			return status;
		}
	}
	out->len = len;
	memset(out->data + out->len, 0, BFI_SLACK);
	*body = (BfView){out->data, (uint32_t) len};
	c->shared->counters->pages_decompressed++;
	return BF_OK;
}

static BfStatus
load_dictionary(BfiColumn *c, const BfiPageHeader *h, size_t header_bytes, const uint8_t *p,
				BfError *err)
{
	size_t len = (size_t) h->uncompressed_bytes;

	BF_ASSERT(h->uncompressed_bytes >= 0 && h->compressed_bytes >= 0);
	BF_DATA(err, (h->seen & BFI_PH_DICTIONARY) != 0, c->page.at,
			"a dictionary page without its header");
	BF_DATA(err, c->values.dict.n < 0, c->page.at, "a second dictionary page in a column chunk");
	BF_DATA(err, h->dictionary.n_values >= 0, c->page.at, "a dictionary of %d values",
			h->dictionary.n_values);
	if (h->dictionary.encoding != BFI_PLAIN && h->dictionary.encoding != BFI_PLAIN_DICTIONARY)
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, c->page.at, "a dictionary encoded as %s",
				   bfi_encoding_name(h->dictionary.encoding));
	if (c->chunk.codec == BF_CODEC_NONE)
	{
		/* The dictionary outlives the window. */
		BF_DATA(err, h->compressed_bytes == h->uncompressed_bytes, c->page.at,
				"an uncompressed page of %d bytes that claims %d", h->compressed_bytes,
				h->uncompressed_bytes);
		c->dict.bytes->len = 0;
		BF_TRY(bf_buffer_reserve(c->dict.bytes, len + BFI_SLACK, err));
		memcpy(c->dict.bytes->data, p, len);
		memset(c->dict.bytes->data + len, 0, BFI_SLACK);
		c->dict.bytes->len = len;
		c->dict.page = (BfView){c->dict.bytes->data, (uint32_t) len};
	}
	else
		BF_TRY(expand(c, p, (size_t) h->compressed_bytes, c->dict.bytes, len, &c->dict.page, err));
	BF_TRY(bfi_dictionary_load(c, h->dictionary.n_values, c->page.at, err));
	bfi_kept_note(c, &c->left_dict, h, header_bytes, (BfView){NULL, 0}, c->dict.page);
	if (c->chunk.all_dictionary)
		bfi_dictionary_note(c->file, c->chunk.rg, c->leaf_index, h->dictionary.n_values);
	return BF_OK;
}

/* A level section's decoder. Sections that can't be told from the header's numbers (V1) find their
 * end themselves; the cursor moves behind it. */
static BfStatus
level_section(BfiColumn *c, BfCursor *cur, int32_t encoding, int16_t max, BfiRle *out, BfError *err)
{
	const BfiEncoding *e = bfi_encoding_find(encoding);
	uint32_t width = 32 - (uint32_t) __builtin_clz((uint32_t) max);

	BF_ASSERT(max > 0);
	if (e == NULL || e->methods->levels == NULL)
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, c->page.at, "levels encoded as %s",
				   bfi_encoding_name(encoding));
	return e->methods->levels(cur, (uint32_t) c->page.n_levels, width, c->level_buffer, out, err);
}

/* Fills page.n_values by counting the definition levels. */
static BfStatus
count_values(BfiColumn *c, BfError *err)
{
	uint32_t n = (uint32_t) c->page.n_levels;

	BF_ASSERT(c->page.n_levels >= 0);
	if (c->kept != NULL)
		n = (uint32_t) c->kept->n_values;
	else if (c->leaf->max_def > 0)
		BF_TRY(bfi_rle_count(c->page.def, n, (uint32_t) c->leaf->max_def, &n, err));
	BF_ASSERT(n <= (uint32_t) c->page.n_levels);
	c->page.n_values = (int32_t) n;
	return BF_OK;
}

static BfStatus
load_v1(BfiColumn *c, const BfiPageHeader *h, size_t header_bytes, const uint8_t *p, BfError *err)
{
	size_t len = (size_t) h->uncompressed_bytes;
	BfView page = {p, (uint32_t) len};
	BfCursor cur;

	BF_DATA(err, (h->seen & BFI_PH_DATA) != 0, c->page.at, "a data page without its header");
	if (c->chunk.codec == BF_CODEC_NONE)
		BF_DATA(err, h->compressed_bytes == h->uncompressed_bytes, c->page.at,
				"an uncompressed page of %d bytes that claims %d", h->compressed_bytes,
				h->uncompressed_bytes);
	else
		BF_TRY(expand(c, p, (size_t) h->compressed_bytes, c->page_buffer, len, &page, err));
	c->page.n_levels = h->data.n_values;
	c->page.encoding = h->data.encoding;
	cur = bf_cursor(page.ptr, len, c->page.at);
	c->level_buffer->len = 0;
	if (c->leaf->max_rep > 0)
		BF_TRY(level_section(c, &cur, h->data.rep_encoding, c->leaf->max_rep, &c->page.rep, err));
	if (c->leaf->max_def > 0)
		BF_TRY(level_section(c, &cur, h->data.def_encoding, c->leaf->max_def, &c->page.def, err));
	c->page.body = (BfView){cur.pos, (uint32_t) bf_cursor_left(&cur)};
	BF_TRY(count_values(c, err));
	bfi_kept_note(c, &c->left_page, h, header_bytes, (BfView){NULL, 0}, page);
	return BF_OK;
}

static BfStatus
load_v2(BfiColumn *c, const BfiPageHeader *h, size_t header_bytes, const uint8_t *p, BfError *err)
{
	const BfiDataPageHeaderV2 *v2 = &h->v2;
	bool compressed = (v2->seen & BFI_V2_IS_COMPRESSED) == 0 || v2->is_compressed;
	int64_t levels;
	int64_t body;
	int64_t expanded;

	BF_DATA(err, (h->seen & BFI_PH_V2) != 0, c->page.at, "a data page without its header");
	levels = (int64_t) v2->def_bytes + v2->rep_bytes;
	body = h->compressed_bytes - levels;
	expanded = h->uncompressed_bytes - levels;
	BF_DATA(err, v2->def_bytes >= 0 && v2->rep_bytes >= 0 && body >= 0 && expanded >= 0, c->page.at,
			"levels of %d and %d bytes in a page of %d", v2->rep_bytes, v2->def_bytes,
			h->compressed_bytes);
	c->page.n_levels = v2->n_values;
	c->page.encoding = v2->encoding;
	if (c->leaf->max_rep > 0)
		bfi_rle_init(&c->page.rep, p, (size_t) v2->rep_bytes,
					 32 - (uint32_t) __builtin_clz((uint32_t) c->leaf->max_rep), c->page.at);
	if (c->leaf->max_def > 0)
		bfi_rle_init(&c->page.def, p + v2->rep_bytes, (size_t) v2->def_bytes,
					 32 - (uint32_t) __builtin_clz((uint32_t) c->leaf->max_def), c->page.at);
	BF_TRY(count_values(c, err));
	p += levels;
	c->page.body = (BfView){p, (uint32_t) body};
	if (c->chunk.codec != BF_CODEC_NONE && compressed)
	{
		BF_TRY(expand(c, p, (size_t) body, c->page_buffer, (size_t) expanded, &c->page.body, err));
		bfi_kept_note(c, &c->left_page, h, header_bytes, (BfView){p - levels, (uint32_t) levels},
					  c->page.body);
	}
	else
		BF_DATA(err, body == expanded, c->page.at,
				"an uncompressed page of %lld bytes that claims %lld", (long long) body,
				(long long) expanded);
	return BF_OK;
}

static BfStatus
load_data_page(BfiColumn *c, const BfiPageHeader *h, size_t header_bytes, const uint8_t *p,
			   BfError *err)
{
	c->left_page.there = false;
	if (h->type == BFI_PAGE_DATA)
		BF_TRY(load_v1(c, h, header_bytes, p, err));
	else
		BF_TRY(load_v2(c, h, header_bytes, p, err));
	BF_ASSERT(c->page.n_values >= 0 && c->page.n_values <= c->page.n_levels);
	c->page_left = c->page.n_levels;
	c->shared->counters->pages_read++;
	return bfi_column_begin_values(c, err);
}

static BfStatus
check_page_size(const BfiColumn *c, const BfiPageHeader *h, size_t total, BfError *err)
{
	BF_DATA(err, h->compressed_bytes >= 0 && h->uncompressed_bytes >= 0, c->page.at,
			"a page of %d bytes, %d uncompressed", h->compressed_bytes, h->uncompressed_bytes);
	BF_DATA(err, (int64_t) total <= c->chunk.window.end_max - c->chunk.next_page, c->page.at,
			"a page of %d bytes reaches behind the end of its column chunk", h->compressed_bytes);
	if ((size_t) h->compressed_bytes > c->file->limits.page_bytes_max)
		BF_FAIL_AT(err, BF_ERR_LIMIT, c->page.at, "a page of %d bytes, more than the limit of %zu",
				   h->compressed_bytes, c->file->limits.page_bytes_max);
	return BF_OK;
}

/* The page of the index that begins here; rows of a leaf below a nested column are not counted. */
static int32_t
index_page(const BfiColumn *c)
{
	int32_t lo = 0;
	int32_t hi = c->chunk.index->n;

	BF_ASSERT(c->chunk.index != NULL && c->chunk.index->n > 0);
	if (c->levels == NULL)
		return bfi_offset_index_find(c->chunk.index, c->chunk.row);
	while (hi - lo > 1)
	{
		int32_t mid = lo + (hi - lo) / 2;

		if (c->chunk.index->pages[mid].offset <= c->page.at)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Does the page have the rows that the index tells of? It can be believed only so far as it was
 * found to be right. */
static BfStatus
check_against_index(const BfiColumn *c, int32_t n, size_t total, BfError *err)
{
	int32_t p = index_page(c);
	const BfiPageLocation *at = &c->chunk.index->pages[p];
	int64_t rows = c->chunk.index->first_row[p + 1] - c->chunk.index->first_row[p];

	BF_DATA(err, at->offset == c->page.at && (size_t) at->bytes == total, c->page.at,
			"the offset index is damaged: it has a page of %d bytes at %lld here", at->bytes,
			(long long) at->offset);
	BF_DATA(err, c->leaf->max_rep > 0 || n == rows, c->page.at,
			"the offset index is damaged: a page of %d rows has %lld there", n, (long long) rows);
	return BF_OK;
}

static BfStatus
check_levels(const BfiColumn *c, int32_t n, BfError *err)
{
	BF_DATA(err, n >= 0, c->page.at, "a page of %d values", n);
	BF_DATA(err, n <= c->chunk.levels_left, c->page.at,
			"a page of %d values, but only %lld are left of the column chunk", n,
			(long long) c->chunk.levels_left);
	return BF_OK;
}

/* After a jump only the last page knows how many levels the chunk has left. */
static void
count_levels(BfiColumn *c, int32_t n)
{
	BF_ASSERT(n >= 0 && n <= c->chunk.levels_left);
	c->chunk.levels_left -= n;
	if (c->chunk.jumped && c->page.at == c->chunk.index->pages[c->chunk.index->n - 1].offset)
		c->chunk.levels_left = 0;
}

static BfStatus
load_page(BfiColumn *c, const BfiPageHeader *h, size_t header_bytes, BfError *err)
{
	size_t total = header_bytes + (size_t) h->compressed_bytes;
	const uint8_t *p;
	size_t got;

	BF_ASSERT(h->compressed_bytes >= 0 && header_bytes > 0);
	if (c->kept != NULL)
		p = bfi_kept_bytes(c->kept);
	else
	{
		BF_TRY(window_fill(&c->chunk.window, c->chunk.next_page, total, &p, &got, err));
		BF_NEVER(err, got < total);
		p += header_bytes;
		BF_TRY(check_crc(c, h, p, err));
	}
	c->chunk.next_page += (int64_t) total;
	if (h->type == BFI_PAGE_DICTIONARY)
		return load_dictionary(c, h, header_bytes, p, err);
	return load_data_page(c, h, header_bytes, p, err);
}

/* Reads the next page's header, then loads the page, or passes over it. */
static BfStatus
next_page(BfiColumn *c, int64_t *skip, bool dictionary_only, bool *done, BfError *err)
{
	BfiPageHeader h;
	size_t header_bytes = 0;
	size_t total;
	bool is_data;
	int32_t n;

	BF_TRY(bf_check_cancel(bf_arena_host(c->batch.arena), err));
	c->page.at = c->chunk.next_page;
	c->kept = bfi_kept_find(c);
	if (c->kept != NULL)
	{
		h = c->kept->header;
		header_bytes = c->kept->header_bytes;
	}
	else
		BF_TRY(read_header(c, &h, &header_bytes, err));
	total = header_bytes + (size_t) (h.compressed_bytes > 0 ? h.compressed_bytes : 0);
	BF_TRY(check_page_size(c, &h, total, err));
	is_data = h.type == BFI_PAGE_DATA || h.type == BFI_PAGE_DATA_V2;
	*done = dictionary_only;
	if (dictionary_only && h.type != BFI_PAGE_DICTIONARY)
		return BF_OK;
	if (!is_data && h.type != BFI_PAGE_DICTIONARY)
	{
		c->chunk.next_page += (int64_t) total; /* index pages and what may come */
		return BF_OK;
	}
	if (!is_data)
		return load_page(c, &h, header_bytes, err);
	n = h.type == BFI_PAGE_DATA ? h.data.n_values : h.v2.n_values;
	BF_TRY(check_levels(c, n, err));
	if (c->chunk.jumped && n > 0)
		BF_TRY(check_against_index(c, n, total, err));
	if (n > 0 && n <= *skip && !c->values.carry_previous)
	{
		c->chunk.next_page += (int64_t) total;
		count_levels(c, n);
		c->chunk.row += n;
		*skip -= n;
		c->shared->counters->pages_skipped++;
		*done = *skip == 0;
		return BF_OK;
	}
	BF_TRY(load_page(c, &h, header_bytes, err));
	count_levels(c, n);
	*done = c->page_left > 0;
	return BF_OK;
}

BfStatus
bfi_page_next_after(BfiColumn *c, int64_t *skip, BfError *err)
{
	bool done = false;

	BF_ASSERT(c->page_left == 0);
	while (!done)
		BF_TRY(next_page(c, skip, false, &done, err));
	return BF_OK;
}

BfStatus
bfi_page_next(BfiColumn *c, BfError *err)
{
	int64_t none = 0;

	return bfi_page_next_after(c, &none, err);
}

BfStatus
bfi_page_dictionary(BfiColumn *c, BfError *err)
{
	int64_t none = 0;
	bool done;

	if (c->values.dict.n >= 0 || c->chunk.next_page != c->chunk.start || c->chunk.levels_left == 0)
		return BF_OK;
	return next_page(c, &none, true, &done, err);
}

BfStatus
bfi_page_jump(BfiColumn *c, int32_t p, BfError *err)
{
	BF_ASSERT(c->chunk.index != NULL && p >= 0 && p < c->chunk.index->n);
	BF_TRY(bfi_page_dictionary(c, err));
	c->chunk.next_page = c->chunk.index->pages[p].offset;
	c->page_left = 0;
	c->chunk.jumped = true;
	c->chunk.row = c->chunk.index->first_row[p];
	if (c->leaf->max_rep == 0)
		c->chunk.levels_left = c->file->row_groups[c->chunk.rg].n_rows - c->chunk.row;
	return BF_OK;
}
