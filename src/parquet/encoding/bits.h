/*
 * parquet/encoding/bits.h: numbers of some bits, packed LSB first.
 *
 * All functions may read, but don't use, up to BFI_SLACK bytes behind the end of their input; who
 * provides the input guarantees that those bytes are readable. They never write more than was asked
 * for.
 */
#ifndef BF_PARQUET_ENCODING_BITS_H
#define BF_PARQUET_ENCODING_BITS_H

#include "base/bytes.h"

#define BFI_SLACK 64

/* n numbers of `width` bits (0..32 / 0..64), the first at bit `bit` of `in`, packed LSB first. */
extern void
bfi_unpack32(const uint8_t *in, uint64_t bit, uint32_t width, uint32_t *out, uint32_t n);

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
/* The reverse: a number of n bits, without others, over zeroes; up to 8 bytes behind are written.
 */
static inline void
bfi_pack_bits_at(uint8_t *p, uint64_t bit, uint32_t n, uint64_t v)
{
	uint32_t shift = (uint32_t) (bit & 7);

	BF_ASSERT(n <= 64 && (n == 64 || v >> n == 0));
	p += bit >> 3;
	bf_store64le(p, bf_load64le(p) | v << shift);
	if (shift + n > 64)
		p[8] = (uint8_t) (v >> (64 - shift));
}
/* n numbers of `width` bits, the first at a byte: the reverse of bfi_unpack32 for 8 numbers, or a
 * multiple of that. Writes n * width / 8 bytes and at most BFI_PACK_SLACK behind them. */
#define BFI_PACK_SLACK 4
extern void bfi_pack32(const uint32_t *in, uint32_t n, uint32_t width, uint8_t *out);
/* n bits as n bytes of 0 or 1. */
extern void bfi_bits_to_bytes(const uint8_t *in, uint64_t bit, uint8_t *out, uint32_t n);
/* bits[start, start + n) = the low n bits of v; n <= 64. */
extern void bfi_put_bits(uint64_t *bits, uint32_t start, uint64_t v, uint32_t n);
/* bits[start, start + n) = 1 */
extern void bfi_set_bits(uint64_t *bits, uint32_t start, uint32_t n);

#endif
