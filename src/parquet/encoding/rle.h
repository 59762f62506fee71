/*
 * parquet/encoding/rle.h: runs of numbers, in which levels, dictionary codes and some booleans are.
 *
 *     run = varint h; h even: h >> 1 copies of one value in ceil(width / 8) bytes;
 *                     h odd:  (h >> 1) * 8 values of `width` bits
 *
 * A run of length 0 is corrupt. The last packed run may be cut short, as long as the values that
 * are asked for are complete. `at` is the file position of the page, for messages.
 */
#ifndef BF_PARQUET_ENCODING_RLE_H
#define BF_PARQUET_ENCODING_RLE_H

#include "parquet/encoding/bits.h"

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
/* n values without any run header: BIT_PACKED levels after turning. */
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

/* Appends n > 0 numbers of at most `width` bits as runs: repeated ones from eight equal numbers on.
 * They are of `size` bytes each, 1 (levels, booleans) or 4 (codes). */
extern BfStatus bfi_rle_encode(const void *values, uint32_t size, uint32_t n, uint32_t width,
							   BfBuffer *out, BfError *err) BF_MUST_CHECK;

#endif
