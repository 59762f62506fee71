/*
 * Bits: single ones, and bit-packed numbers to 32-bit ones and back.
 *
 * Eight numbers of w bits fill w bytes, so a group of eight always begins at a byte, and all shifts
 * are constants once w is one: one copy of the loop is made per width. (A shift by a variable costs
 * three times as much on the CPUs that we may assume.)
 */
#include "parquet/encoding/bits.h"

static inline uint32_t
unpack1(const uint8_t *in, uint64_t bit, uint32_t mask)
{
	return (uint32_t) (bf_load64le(in + (bit >> 3)) >> (bit & 7)) & mask;
}

static inline __attribute__((always_inline)) void
unpack8(const uint8_t *in, uint32_t *out, const uint32_t w)
{
	const uint32_t mask = w == 32 ? UINT32_MAX : ((uint32_t) 1 << w) - 1;

	if (w <= 8)
	{
		uint64_t v = bf_load64le(in);

#pragma GCC unroll 8
		for (uint32_t k = 0; k < 8; k++)
			out[k] = (uint32_t) (v >> (k * w)) & mask;
	}
	else if (w <= 16)
	{
		/* The second half begins at a byte or in the middle of one; 4 * w + 4 <= 64 then. */
		uint64_t lo = bf_load64le(in);
		uint64_t hi = bf_load64le(in + (4 * w >> 3)) >> (4 * w & 7);

#pragma GCC unroll 4
		for (uint32_t k = 0; k < 4; k++)
		{
			out[k] = (uint32_t) (lo >> (k * w)) & mask;
			out[k + 4] = (uint32_t) (hi >> (k * w)) & mask;
		}
	}
	else
	{
#pragma GCC unroll 8
		for (uint32_t k = 0; k < 8; k++)
			out[k] = unpack1(in, (uint64_t) k * w, mask);
	}
}

#define WIDTH(w)                                    \
	case w:                                         \
		for (; n >= 8; n -= 8, in += (w), out += 8) \
			unpack8(in, out, (w));                  \
		break
#define WIDTHS(w) \
	WIDTH(w);     \
	WIDTH(w + 1); \
	WIDTH(w + 2); \
	WIDTH(w + 3)

void
bfi_unpack32(const uint8_t *in, uint64_t bit, uint32_t width, uint32_t *out, uint32_t n)
{
	uint32_t mask = width >= 32 ? UINT32_MAX : ((uint32_t) 1 << width) - 1;

	BF_ASSERT(width <= 32);
	if (width == 0)
	{
		memset(out, 0, (size_t) n * sizeof *out);
		return;
	}
	for (; n > 0 && (bit & 7) != 0; n--, bit += width)
		*out++ = unpack1(in, bit, mask);
	in += bit >> 3;
	switch (width)
	{
		WIDTHS(1);
		WIDTHS(5);
		WIDTHS(9);
		WIDTHS(13);
		WIDTHS(17);
		WIDTHS(21);
		WIDTHS(25);
		WIDTHS(29);
		default: break;
	}
	for (bit = 0; n > 0; n--, bit += width)
		*out++ = unpack1(in, bit, mask);
}

/* Numbers are put together from the low end; after eight of them a byte ends. */
static inline __attribute__((always_inline)) void
pack8(const uint32_t *in, uint8_t *out, const uint32_t w)
{
	uint64_t v = 0;
	uint32_t bits = 0;

#pragma GCC unroll 8
	for (uint32_t k = 0; k < 8; k++)
	{
		v |= (uint64_t) in[k] << bits;
		bits += w;
		if (bits >= 32)
		{
			bf_store32le(out, (uint32_t) v);
			out += 4;
			v >>= 32;
			bits -= 32;
		}
	}
	if (bits > 0)
		bf_store32le(out, (uint32_t) v);
}

#define PACK_WIDTH(w)                              \
	case w:                                        \
		for (; n > 0; n -= 8, in += 8, out += (w)) \
			pack8(in, out, (w));                   \
		break
#define PACK_WIDTHS(w) \
	PACK_WIDTH(w);     \
	PACK_WIDTH(w + 1); \
	PACK_WIDTH(w + 2); \
	PACK_WIDTH(w + 3)

void
bfi_pack32(const uint32_t *in, uint32_t n, uint32_t width, uint8_t *out)
{
	BF_ASSERT(width <= 32 && n % 8 == 0);
	switch (width)
	{
		PACK_WIDTHS(1);
		PACK_WIDTHS(5);
		PACK_WIDTHS(9);
		PACK_WIDTHS(13);
		PACK_WIDTHS(17);
		PACK_WIDTHS(21);
		PACK_WIDTHS(25);
		PACK_WIDTHS(29);
		default: break;
	}
}

void
bfi_bits_to_bytes(const uint8_t *in, uint64_t bit, uint8_t *out, uint32_t n)
{
	uint32_t i = 0;

	for (; i + 8 <= n; i += 8)
	{
		/* Bit k of the byte to byte k: copies of the byte, one bit kept in each, then to 0 or 1. */
		uint64_t v = bfi_load_bits(in, bit + i, 8) * UINT64_C(0x0101010101010101);

		v &= UINT64_C(0x8040201008040201);
		v = ((v + UINT64_C(0x7f7f7f7f7f7f7f7f)) | v) >> 7 & UINT64_C(0x0101010101010101);
		bf_store64le(out + i, v);
	}
	for (; i < n; i++)
		out[i] = (uint8_t) bfi_load_bits(in, bit + i, 1);
}

void
bfi_put_bits(uint64_t *bits, uint32_t start, uint64_t v, uint32_t n)
{
	uint64_t mask = n >= 64 ? UINT64_MAX : ((uint64_t) 1 << n) - 1;
	uint32_t word = start >> 6;
	uint32_t shift = start & 63;

	BF_ASSERT(n <= 64);
	v &= mask;
	bits[word] = (bits[word] & ~(mask << shift)) | v << shift;
	if (shift + n > 64)
		bits[word + 1] = (bits[word + 1] & ~(mask >> (64 - shift))) | v >> (64 - shift);
}

void
bfi_set_bits(uint64_t *bits, uint32_t start, uint32_t n)
{
	while (n > 0)
	{
		uint32_t k = 64 - (start & 63);

		k = k < n ? k : n;
		bfi_put_bits(bits, start, UINT64_MAX, k);
		start += k;
		n -= k;
	}
}
