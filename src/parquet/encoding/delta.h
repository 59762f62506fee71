/*
 * parquet/encoding/delta.h: streams of numbers as differences, DELTA_BINARY_PACKED itself and the
 * lengths of the delta encodings of bytes.
 *
 *     header = varint block size, varint miniblocks per block, varint count, zigzag first value
 *     block  = zigzag min delta, one width byte per miniblock, the miniblocks
 *
 * value[i] = value[i - 1] + min delta + packed, wrapping. In the last block the widths of
 * miniblocks that hold no value may be missing, and those miniblocks have no body. `at` is the file
 * position of the page, for messages.
 */
#ifndef BF_PARQUET_ENCODING_DELTA_H
#define BF_PARQUET_ENCODING_DELTA_H

#include "parquet/encoding/bits.h"

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
/* The same for a stream that must have n values. */
extern BfStatus bfi_delta_begin(BfiDelta *d, const void *data, size_t len, uint32_t bits, int32_t n,
								int64_t at, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_delta_i64(BfiDelta *d, int64_t *out, uint32_t n, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_delta_i32(BfiDelta *d, int32_t *out, uint32_t n, BfError *err) BF_MUST_CHECK;
/* Where the stream ends, found by walking the blocks without decoding. */
extern BfStatus bfi_delta_end(BfiDelta d, const uint8_t **end, BfError *err) BF_MUST_CHECK;

/* Appends n > 0 numbers, of 4 bytes each or of 8, as a stream; each is `stride` bytes behind the
 * one before. */
extern BfStatus bfi_delta_encode(const void *values, uint32_t size, size_t stride, uint32_t n,
								 BfBuffer *out, BfError *err) BF_MUST_CHECK;

#endif
