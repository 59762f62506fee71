/*
 * parquet/decode.h: the bit-level decoders, over a page's bytes.
 *
 * All of them may read, but don't use, up to BFI_SLACK bytes behind the end of their input; who
 * provides the input guarantees that those bytes are readable. Decoders never write more than was
 * asked for. `at` is the file position of the page, for messages.
 */
#ifndef BF_PARQUET_DECODE_H
#define BF_PARQUET_DECODE_H

#include "base/bytes.h"

#define BFI_SLACK 64

/* n numbers of `width` bits (0..32 / 0..64), the first at bit `bit` of `in`, packed LSB first. */
extern void
bfi_unpack32(const uint8_t *in, uint64_t bit, uint32_t width, uint32_t *out, uint32_t n);

/* BYTE_STREAM_SPLIT: n values of `width` bytes; byte k of value i is at in[k * stride + i]. */
extern void
bfi_merge_streams(const uint8_t *in, size_t stride, size_t width, uint8_t *out, size_t n);

/*
 * RLE / bit-packed hybrid.
 *
 *     run = varint h; h even: h >> 1 copies of one value in ceil(width / 8) bytes;
 *                     h odd:  (h >> 1) * 8 values of `width` bits
 *
 * A run of length 0 is corrupt. The last packed run may be cut short, as long as the values that
 * are asked for are complete.
 */
typedef struct BfiRle
{
	const uint8_t *pos;
	const uint8_t *end;
	const uint8_t *packed; /* of the current packed run */
	uint64_t bit;		   /* in packed: the next value */
	uint32_t run_left;
	uint32_t value; /* of the current repeated run */
	uint32_t width;
	bool is_packed;
	int64_t at;
} BfiRle;

extern void bfi_rle_init(BfiRle *r, const void *data, size_t len, uint32_t width, int64_t at);
/* n values without any run header: legacy BIT_PACKED levels after turning. */
extern void
bfi_rle_init_packed(BfiRle *r, const void *data, uint32_t n, uint32_t width, int64_t at);
extern BfStatus bfi_rle_u32(BfiRle *r, uint32_t *out, uint32_t n, BfError *err) BF_MUST_CHECK;
/* Width 1: n values into the bits [start, start + n) of `bits`; *ones = how many are 1. */
extern BfStatus bfi_rle_bits(BfiRle *r, uint64_t *bits, uint32_t start, uint32_t n, uint32_t *ones,
							 BfError *err) BF_MUST_CHECK;
/* Counts, among the next n values, those that are `max`; greater ones are corrupt. Of the first the
 * decoder is passed by value: nothing is consumed. */
extern BfStatus
bfi_rle_count(BfiRle r, uint32_t n, uint32_t max, uint32_t *count, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_rle_count_and_skip(BfiRle *r, uint32_t n, uint32_t max, uint32_t *count,
									   BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_rle_skip(BfiRle *r, uint32_t n, BfError *err) BF_MUST_CHECK;
/* Width 1: n bytes of 0 or 1. */
extern BfStatus bfi_rle_bytes(BfiRle *r, uint8_t *out, uint32_t n, BfError *err) BF_MUST_CHECK;
/* BIT_PACKED levels are packed MSB first: the same n values LSB first; out has the same size. */
extern void bfi_turn_bit_packed(const uint8_t *in, uint8_t *out, uint32_t n, uint32_t width);

/* Bits [bit, bit + n) of LSB-first bits; n <= 64. */
static inline uint64_t
bfi_load_bits(const uint8_t *p, uint64_t bit, uint32_t n)
{
	uint32_t shift = (uint32_t) (bit & 7);
	uint64_t v;

	p += bit >> 3;
	v = bf_load64le(p) >> shift;
	if (shift + n > 64)
		v |= (uint64_t) p[8] << (64 - shift);
	return n >= 64 ? v : v & (((uint64_t) 1 << n) - 1);
}
/* n bits as n bytes of 0 or 1. */
extern void bfi_bits_to_bytes(const uint8_t *in, uint64_t bit, uint8_t *out, uint32_t n);
/* bits[start, start + n) = the low n bits of v; n <= 64. */
extern void bfi_put_bits(uint64_t *bits, uint32_t start, uint64_t v, uint32_t n);
/* bits[start, start + n) = 1 */
extern void bfi_set_bits(uint64_t *bits, uint32_t start, uint32_t n);

/*
 * DELTA_BINARY_PACKED.
 *
 *     header = varint block size, varint miniblocks per block, varint count, zigzag first value
 *     block  = zigzag min delta, one width byte per miniblock, the miniblocks
 *
 * value[i] = value[i - 1] + min delta + packed, wrapping. In the last block the widths of
 * miniblocks that hold no value may be missing, and those miniblocks have no body.
 */
typedef struct BfiDelta
{
	const uint8_t *pos;
	const uint8_t *end;
	const uint8_t *widths; /* of the current block */
	const uint8_t *packed; /* the current miniblock */
	uint64_t min_delta;
	uint64_t last;
	uint32_t block_values;
	uint32_t n_mini;
	uint32_t mini_values;
	uint32_t mini;		/* current, == n_mini: a new block follows */
	uint32_t mini_left; /* values left in it */
	uint32_t width;
	uint32_t width_max;
	uint64_t bit; /* in packed */
	uint64_t count;
	uint64_t left;	 /* values not yet decoded */
	bool first_done; /* the header's value was handed out */
	int64_t at;
} BfiDelta;

/* bits: 32 or 64, the width of the column. */
extern BfStatus bfi_delta_init(BfiDelta *d, const void *data, size_t len, uint32_t bits, int64_t at,
							   BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_delta_i64(BfiDelta *d, int64_t *out, uint32_t n, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_delta_i32(BfiDelta *d, int32_t *out, uint32_t n, BfError *err) BF_MUST_CHECK;
/* Where the stream ends, found by walking the blocks without decoding. */
extern BfStatus bfi_delta_end(BfiDelta d, const uint8_t **end, BfError *err) BF_MUST_CHECK;

/*
 * ALP, see alp.c. Any values of the page can be asked for, in any order.
 */
typedef struct BfiAlp
{
	const uint8_t *offsets;
	size_t len; /* from the offsets on */
	uint32_t width;
	uint32_t size_log;
	uint32_t count;
	uint32_t n_vectors;
	int64_t at;
} BfiAlp;

/* width: 4 (float) or 8 (double). */
extern BfStatus bfi_alp_init(BfiAlp *d, const void *data, size_t len, uint32_t width, int64_t at,
							 BfError *err) BF_MUST_CHECK;
/* Values [first, first + n); they are no more than d->count. */
extern BfStatus
bfi_alp_decode(const BfiAlp *d, uint32_t first, uint32_t n, void *out, BfError *err) BF_MUST_CHECK;

#endif
