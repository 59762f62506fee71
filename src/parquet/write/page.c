/*
 * Pages as they stand in the file: header, levels, values; compressed, with a checksum.
 *
 *     V1   compressed { u32 length, repetition levels; u32 length, definition levels; values }
 *     V2   repetition levels, definition levels, compressed { values }
 *
 * Levels of a column that can't be repeated, or absent, are not there.
 */
#include "parquet/write/internal.h"

int32_t
bfi_page_codec_number(BfCodec codec)
{
	BfCodec found;
	uint32_t ratio;

	for (int32_t i = 0; i < 8; i++)
		if (bfi_codec_find(i, &found, &ratio) && found == codec)
			return i;
	return -1;
}

/* A block of its own costs some bytes: not for less than this on both sides. */
#define SEAM_BYTES_MIN 1024

/* Those that are worth it, counted from `at`. */
static BfSeams
seams_behind(const BfSeams *all, size_t at, size_t len)
{
	BfSeams s = {.n = 0};
	size_t last = 0;

	for (uint32_t i = 0; i < all->n; i++)
		if (all->at[i] >= at + last + SEAM_BYTES_MIN && all->at[i] + SEAM_BYTES_MIN <= at + len)
			s.at[s.n++] = last = all->at[i] - at;
	return s;
}

BfStatus
bfi_page_compress(BfParquetWriter *w, BfCodec codec, int level, BfView src, size_t at, BfView *out,
				  BfError *err)
{
	BfBuffer *to = w->scratch.compressed;
	BfSeams seams = seams_behind(&w->scratch.seams, at, src.len);

	BF_ASSERT(src.ptr != w->scratch.compressed->data || src.len == 0);
	*out = src;
	if (codec == BF_CODEC_NONE || src.len == 0)
		return BF_OK;
	to->len = 0;
	BF_TRY(bf_compress_seamed(w->scratch.codecs, codec, level, src.ptr, src.len, &seams, to, err));
	*out = (BfView){to->data, (uint32_t) to->len};
	return BF_OK;
}

/* Levels as runs; with their length in front in V1. */
static BfStatus
put_levels(const BfBuffer *levels, bool below, const BfiFill *f, uint8_t max, bool length,
		   BfBuffer *out, BfError *err)
{
	static const uint8_t none[4];
	size_t before;

	if (length)
		BF_TRY(bf_buffer_append(out, none, sizeof none, err));
	before = out->len;
	BF_ASSERT(!below || levels->len == (size_t) f->n_levels);
	if (below)
		BF_TRY(bfi_encode_levels(levels->data, f->n_levels, max, out, err));
	else
		BF_TRY(bfi_encode_level(max, f->n_levels, out, err));
	if (length)
		bf_store32le(out->data + before - 4, (uint32_t) (out->len - before));
	return BF_OK;
}

/* The levels and the values; *levels bytes of the former in front, of which *reps. */
static BfStatus
put_body(BfParquetWriter *w, const BfiColumnOut *c, int32_t encoding, const BfiNative *native,
		 size_t *reps, size_t *levels, BfError *err)
{
	BfBuffer *out = w->scratch.encoded;
	const BfiFill *f = &c->fill;
	bool v1 = w->options.page_version == 1;

	out->len = 0;
	if (c->leaf->max_rep > 0)
		BF_TRY(put_levels(f->rep, true, f, c->leaf->max_rep, v1, out, err));
	*reps = out->len;
	if (c->leaf->max_def > 0)
		BF_TRY(put_levels(f->def, f->below, f, c->leaf->max_def, v1, out, err));
	*levels = out->len;
	return bfi_encode_values(encoding, native, out, &w->scratch.seams, err);
}

static void
put_header_v1(BfiThriftOut *t, const BfiFill *f, int32_t encoding)
{
	bfi_put_struct(t, 5);
	bfi_put_i32(t, 1, f->n_levels);
	bfi_put_i32(t, 2, encoding);
	bfi_put_i32(t, 3, BFI_RLE);
	bfi_put_i32(t, 4, BFI_RLE);
	bfi_put_struct_end(t);
}

static void
put_header_v2(BfiThriftOut *t, const BfiFill *f, int32_t encoding, size_t reps, size_t defs,
			  bool compressed)
{
	bfi_put_struct(t, 8);
	bfi_put_i32(t, 1, f->n_levels);
	bfi_put_i32(t, 2, f->n_levels - f->n_values);
	bfi_put_i32(t, 3, f->n_rows);
	bfi_put_i32(t, 4, encoding);
	bfi_put_i32(t, 5, (int32_t) defs);
	bfi_put_i32(t, 6, (int32_t) reps);
	bfi_put_bool(t, 7, compressed);
	bfi_put_struct_end(t);
}

static void
put_sizes(BfiThriftOut *t, BfiPageType type, size_t raw, size_t stored, bool checksum, uint32_t crc)
{
	bfi_put_i32(t, 1, (int32_t) type);
	bfi_put_i32(t, 2, (int32_t) raw);
	bfi_put_i32(t, 3, (int32_t) stored);
	if (checksum)
		bfi_put_i32(t, 4, (int32_t) crc);
}

static void
count_encoding(BfiChunkOut *k, int32_t encoding)
{
	for (int32_t i = 0; i < k->n_encoded; i++)
		if (k->encoded[i].encoding == encoding)
		{
			k->encoded[i].n++;
			return;
		}
	BF_ASSERT(k->n_encoded < (int32_t) (sizeof k->encoded / sizeof k->encoded[0]));
	k->encoded[k->n_encoded++] = (BfiEncoded){encoding, 1};
}

static BfStatus
index_page(const BfParquetWriter *w, BfiColumnOut *c, size_t offset, BfError *err)
{
	const BfiFill *f = &c->fill;
	BfiPageOut page = {.offset = (int64_t) offset,
					   .first_row = c->chunk.n_rows,
					   .n_nulls = f->n_levels - f->n_values,
					   .n_nans = f->range.nans,
					   .bytes = (int32_t) (c->chunk.pages->len - offset),
					   .only_nulls = f->n_values == 0,
					   .low = f->range.min,
					   .high = f->range.max};

	bfi_range_bounds(c->leaf, &f->range, w->options.bound_bytes, &page.min, &page.max);
	return bf_buffer_append(c->chunk.index, &page, sizeof page, err);
}

BfStatus
bfi_page_put(BfParquetWriter *w, BfiColumnOut *c, int32_t encoding, const BfiNative *native,
			 BfError *err)
{
	BfiChunkOut *k = &c->chunk;
	bool v1 = w->options.page_version == 1;
	size_t start = k->pages->len;
	const uint8_t *body;
	BfView levels = {NULL, 0}, values, packed;
	size_t n_reps, n_levels, n, header;
	BfiThriftOut t;
	uint32_t crc = 0;

	BF_TRY(put_body(w, c, encoding, native, &n_reps, &n_levels, err));
	BF_ASSERT(n_reps <= n_levels && n_levels <= w->scratch.encoded->len);
	body = w->scratch.encoded->data;
	n = w->scratch.encoded->len;
	if (n == 0)
		body = (const uint8_t *) "";
	if (!v1)
		levels = (BfView){body, (uint32_t) n_levels};
	values = (BfView){body + levels.len, (uint32_t) (n - levels.len)};
	BF_TRY(bfi_page_compress(w, k->codec, k->level, values, levels.len, &packed, err));
	if (!v1 && packed.len >= values.len)
		packed = values;
	if (w->options.checksums)
	{
		crc = bf_crc32(levels.ptr, levels.len);
		crc = bf_crc32_extend(crc, packed.ptr, packed.len);
	}
	bfi_thrift_begin(&t, k->pages, err);
	put_sizes(&t, v1 ? BFI_PAGE_DATA : BFI_PAGE_DATA_V2, n, levels.len + packed.len,
			  w->options.checksums, crc);
	if (v1)
		put_header_v1(&t, &c->fill, encoding);
	else
		put_header_v2(&t, &c->fill, encoding, n_reps, n_levels - n_reps, packed.ptr != values.ptr);
	BF_TRY(bfi_thrift_end(&t));
	header = k->pages->len - start;
	BF_TRY(bf_buffer_append(k->pages, levels.ptr, levels.len, err));
	BF_TRY(bf_buffer_append(k->pages, packed.ptr, packed.len, err));
	k->uncompressed += (int64_t) (header + n);
	count_encoding(k, encoding);
	return index_page(w, c, start, err);
}

BfStatus
bfi_page_dictionary_put(BfParquetWriter *w, BfiColumnOut *c, BfView *header, BfView *body,
						int64_t *raw, BfError *err)
{
	BfView plain = {c->dict.plain->data, (uint32_t) c->dict.plain->len};
	BfBuffer *out = w->scratch.encoded;
	BfiThriftOut t;

	BF_ASSERT(c->dict.n > 0);
	w->scratch.seams.n = 0;
	BF_TRY(bfi_page_compress(w, c->chunk.codec, w->options.level, plain, 0, body, err));
	out->len = 0;
	bfi_thrift_begin(&t, out, err);
	put_sizes(&t, BFI_PAGE_DICTIONARY, plain.len, body->len, w->options.checksums,
			  bf_crc32(body->ptr, body->len));
	bfi_put_struct(&t, 7);
	bfi_put_i32(&t, 1, (int32_t) c->dict.n);
	bfi_put_i32(&t, 2, w->options.basic_encodings ? BFI_PLAIN_DICTIONARY : BFI_PLAIN);
	bfi_put_struct_end(&t);
	BF_TRY(bfi_thrift_end(&t));
	*header = (BfView){out->data, (uint32_t) out->len};
	*raw = (int64_t) (out->len + plain.len);
	return BF_OK;
}
