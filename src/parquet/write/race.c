/*
 * How a chunk is encoded: its first page with values is encoded in every way that fits its type,
 * and compressed; what took the fewest bytes wins.
 *
 * A dictionary can't be judged by one page, since its entries serve the whole chunk. Its size at
 * the end is reckoned from how many values were new in the first half of the page and in the second
 * one. Of N values that are equally likely, n draws bring N * (1 - e^(-n/N)) different ones, so
 * that
 *
 *     different(n) / different(n / 2) - 1 = e^(-n/(2N))
 *
 * gives N. Where hardly fewer are new in the second half, they are taken to go on coming at that
 * rate. What is reckoned wrongly is put right later: a dictionary that becomes much larger is left
 * (column.c).
 */
#include "parquet/write/internal.h"

#include <math.h>

/* Who may race, and what its bytes count: in hundredths, more for what costs its readers more. */
typedef struct Racer
{
	int32_t encoding;
	uint32_t fits;
	int percent;
} Racer;

static const Racer racers[] = {
	{BFI_PLAIN, BFI_FITS_ALL, 100},
	{BFI_RLE, BFI_FITS(BOOLEAN), 100},
	{BFI_DELTA_BINARY_PACKED, BFI_FITS_INTEGERS, 100},
	{BFI_DELTA_LENGTH_BYTE_ARRAY, BFI_FITS(BYTE_ARRAY), 100},
	{BFI_DELTA_BYTE_ARRAY, BFI_FITS(BYTE_ARRAY), 103},
	{BFI_BYTE_STREAM_SPLIT, BFI_FITS_FLOATS, 100},
};
#define N_RACERS ((int32_t) (sizeof racers / sizeof racers[0]))
/* A dictionary has to be a bit better, but its readers like it. */
#define DICT_PERCENT 98
/* Without compression pages may be larger by a hundredth. */
#define NO_CODEC_PERCENT 101

/* Bytes of something, as they are and compressed. */
typedef struct Bytes
{
	double raw;
	double packed;
} Bytes;

static BfStatus
measure(BfParquetWriter *w, int level, Bytes *out, BfError *err)
{
	BfView src = {w->scratch.encoded->data, (uint32_t) w->scratch.encoded->len};
	BfView packed;

	BF_TRY(bfi_page_compress(w, w->options.codec, level, src, 0, &packed, err));
	BF_ASSERT(src.len > 0 && packed.len > 0);
	out->raw = (double) src.len;
	out->packed = (double) packed.len;
	return BF_OK;
}

static double
least(const Bytes *b)
{
	return b->raw * 100 <= b->packed * NO_CODEC_PERCENT ? b->raw : b->packed;
}

/* The best of the encodings without a dictionary. */
static BfStatus
race_values(BfParquetWriter *w, const BfiNative *native, int32_t *encoding, Bytes *best,
			BfError *err)
{
	double fewest = INFINITY;

	for (int32_t i = 0; i < N_RACERS; i++)
	{
		const Racer *r = &racers[i];
		Bytes b;

		if ((r->fits >> native->physical & 1) == 0 ||
			(w->options.basic_encodings && r->encoding != BFI_PLAIN) ||
			(!w->options.delta_lengths && r->encoding == BFI_DELTA_LENGTH_BYTE_ARRAY))
			continue;
		w->scratch.encoded->len = 0;
		BF_TRY(bfi_encode_values(r->encoding, native, w->scratch.encoded, &w->scratch.seams, err));
		BF_TRY(measure(w, w->options.level, &b, err));
		if (least(&b) * r->percent < fewest)
		{
			fewest = least(&b) * r->percent;
			*encoding = r->encoding;
			*best = b;
		}
	}
	BF_ASSERT(fewest < INFINITY);
	return BF_OK;
}

/* Different values among `rows`, of which the first n had d2, their first half d1. */
static double
different(double n, double d1, double d2, double rows)
{
	double again;
	double all;

	BF_ASSERT(d1 <= d2 && d2 <= n);
	if (rows <= n || d1 >= d2)
		return d2;
	again = (d2 - d1) / d1;
	if (again >= 0.97)
		return d2 * rows / n;
	all = n / 2 / -log(again);
	return all * (1 - exp(-rows / all)) < d2 ? d2 : all * (1 - exp(-rows / all));
}

static double
code_bits(double n)
{
	return n <= 2 ? 1 : ceil(log2(n));
}

/* Codes of the page, in two halves to see how many values are new in each. */
static BfStatus
number_values(BfiColumnOut *c, const BfiNative *native, uint32_t *half, BfError *err)
{
	BfBuffer *codes = c->fill.codes;
	size_t view = native->physical == BFI_INT32 || native->physical == BFI_FLOAT ? 4
				  : native->physical == BFI_INT64 || native->physical == BFI_DOUBLE
					  ? 8
					  : sizeof(BfView);
	int32_t n = native->n / 2;
	uint32_t *to;

	BF_ASSERT(c->dict.n == 0 && native->n > 0);
	codes->len = 0;
	BF_TRY(bf_buffer_reserve(codes, (size_t) native->n * 4, err));
	to = (uint32_t *) (void *) codes->data;
	BF_TRY(bfi_dict_codes(&c->dict, native->values, n, to, err));
	*half = c->dict.n;
	BF_TRY(bfi_dict_codes(&c->dict, (const uint8_t *) native->values + (size_t) n * view,
						  native->n - n, to + n, err));
	codes->len = (size_t) native->n * 4;
	return BF_OK;
}

/* What a value takes in codes, entries included. INFINITY: there can be no dictionary. */
static BfStatus
race_dictionary(BfParquetWriter *w, BfiColumnOut *c, const BfiNative *native, double rows,
				Bytes *out, BfError *err)
{
	BfiNative codes = {.n = native->n};
	double n = native->n, entries, each, bits;
	Bytes plain;
	uint32_t half;

	*out = (Bytes){INFINITY, INFINITY};
	if (w->options.dictionary_bytes == 0 || native->physical == BFI_BOOLEAN)
		return BF_OK;
	BF_TRY(number_values(c, native, &half, err));
	entries = different(n, half, c->dict.n, rows);
	BF_ASSERT(c->dict.n > 0 && entries >= c->dict.n);
	each = (double) c->dict.plain->len / c->dict.n;
	if (entries * each > (double) w->options.dictionary_bytes)
		return BF_OK;
	codes.values = c->fill.codes->data;
	w->scratch.encoded->len = 0;
	w->scratch.seams.n = 0;
	BF_TRY(bf_buffer_append(w->scratch.encoded, c->dict.plain->data, c->dict.plain->len, err));
	BF_TRY(measure(w, w->options.level, &plain, err));
	w->scratch.encoded->len = 0;
	BF_TRY(
		bfi_encode_values(BFI_RLE_DICTIONARY, &codes, w->scratch.encoded, &w->scratch.seams, err));
	BF_TRY(measure(w, w->options.level, out, err));
	/* Codes of more bits when there are more entries. */
	bits = code_bits(entries) / code_bits(c->dict.n);
	each = entries / c->dict.n * n / (rows > n ? rows : n);
	out->raw = out->raw * bits + plain.raw * each;
	out->packed = out->packed * bits + plain.packed * each;
	c->chunk.dict_expected = (uint32_t) entries;
	return BF_OK;
}

/* Values that the chunk is likely to have. */
static double
chunk_values(const BfParquetWriter *w, const BfiColumnOut *c)
{
	double rows = (double) (w->expected_rows > 0 ? w->expected_rows : w->options.row_group_rows);
	double bytes = 0;

	if (w->expected_rows == 0 && w->group_rows > 0)
	{
		for (int32_t i = 0; i < w->n_leaves; i++)
			bytes += (double) bfi_chunk_held(&w->columns[i]);
		/* What is held as it came will be about half of that. */
		bytes = bytes / (double) w->group_rows / 2;
		if (bytes * rows > (double) w->options.row_group_bytes)
			rows = (double) w->options.row_group_bytes / bytes;
	}
	return rows * c->fill.n_values / c->fill.n_rows;
}

/* What has won is compressed by the quickest level, too: where a higher one gains less than a two
 * hundredth, as on packed codes, it isn't worth its time. */
static BfStatus
choose_level(BfParquetWriter *w, BfiColumnOut *c, const BfiNative *values, BfError *err)
{
	bool dict = c->chunk.mode == BFI_MODE_DICT;
	BfiNative codes = {.n = values->n, .values = c->fill.codes->data};
	Bytes slow, quick;

	c->chunk.level = w->options.level;
	if (c->chunk.codec != BF_CODEC_ZSTD)
		return BF_OK;
	w->scratch.encoded->len = 0;
	BF_TRY(bfi_encode_values(dict ? BFI_RLE_DICTIONARY : c->chunk.encoding, dict ? &codes : values,
							 w->scratch.encoded, &w->scratch.seams, err));
	BF_TRY(measure(w, w->options.level, &slow, err));
	BF_TRY(measure(w, 1, &quick, err));
	if (quick.packed * 200 <= slow.packed * 201)
		c->chunk.level = 1;
	return BF_OK;
}

BfStatus
bfi_race(BfParquetWriter *w, BfiColumnOut *c, bool last, BfError *err)
{
	BfiChunkOut *k = &c->chunk;
	BfiNative native;
	Bytes values, dict, *won = &values;

	BF_ASSERT(c->fill.n_values > 0 && k->mode == BFI_MODE_RACE);
	BF_TRY(bfi_fill_native(&w->scratch, c, &native, err));
	BF_TRY(race_values(w, &native, &k->encoding, &values, err));
	if (c->dict.n > 0)
	{
		k->mode = BFI_MODE_VALUES;
		return choose_level(w, c, &native, err);
	}
	BF_TRY(race_dictionary(w, c, &native, last ? native.n : chunk_values(w, c), &dict, err));
	k->mode = BFI_MODE_VALUES;
	if (least(&dict) * DICT_PERCENT < least(&values) * 100)
	{
		k->mode = BFI_MODE_DICT;
		won = &dict;
	}
	else if (c->leaf->physical != BFI_BOOLEAN)
	{
		bfi_dict_clear(&c->dict);
		c->fill.codes->len = 0;
	}
	/* Pages without values may have been written. */
	if (k->n_encoded == 0 && won->raw * 100 <= won->packed * NO_CODEC_PERCENT)
		k->codec = BF_CODEC_NONE;
	return choose_level(w, c, &native, err);
}
