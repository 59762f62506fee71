/*
 * parquet/levels.h: loops over levels, sixteen at once, in whatever registers the compiler has for
 * that. All of them may read up to 16 bytes behind the end of their input.
 */
#ifndef BF_PARQUET_LEVELS_H
#define BF_PARQUET_LEVELS_H

#include "base/bytes.h"

typedef uint8_t BfiBytes16 __attribute__((vector_size(16)));

static inline BfiBytes16
bfi_load16(const uint8_t *p)
{
	BfiBytes16 v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline BfiBytes16
bfi_all16(uint8_t x)
{
	return (BfiBytes16){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}

/* How many of n bytes are x. */
static inline uint32_t
bfi_count_byte(const uint8_t *p, uint32_t n, uint8_t x)
{
	const BfiBytes16 wanted = bfi_all16(x);
	uint32_t count = 0;
	uint32_t i = 0;

	while (i + 16 <= n)
	{
		BfiBytes16 sums = bfi_all16(0);
		uint64_t halves[2];

		/* A byte can count to 255. */
		for (uint32_t k = 0; k < 255 && i + 16 <= n; k++, i += 16)
			sums -= (BfiBytes16) (bfi_load16(p + i) == wanted);
		memcpy(halves, &sums, sizeof halves);
		for (int h = 0; h < 2; h++)
		{
			uint64_t pairs = (halves[h] & UINT64_C(0x00ff00ff00ff00ff)) +
							 (halves[h] >> 8 & UINT64_C(0x00ff00ff00ff00ff));

			count += (uint32_t) ((pairs * UINT64_C(0x0001000100010001)) >> 48);
		}
	}
	for (; i < n; i++)
		count += p[i] == x;
	return count;
}

/* n bytes of 0 or 1 as bits; returns how many are 1. Whole words are written. */
static inline uint32_t
bfi_pack_bits(const uint8_t *p, uint32_t n, uint64_t *bits)
{
	uint32_t ones = 0;

	for (uint32_t i = 0; i < n; i += 64)
	{
		uint64_t word = 0;

		for (uint32_t k = 0; k < 64 && i + k < n; k += 8)
		{
			uint64_t eight = bf_load64le(p + i + k);

			if (n - i - k < 8)
				eight &= ((uint64_t) 1 << 8 * (n - i - k)) - 1;
			/* Byte j's bit to bit 56 + j. */
			word |= (eight * UINT64_C(0x0102040810204080) >> 56) << k;
		}
		bits[i >> 6] = word;
		ones += (uint32_t) __builtin_popcountll(word);
	}
	return ones;
}

/* n levels as 0 or 1: at least `min`? */
static inline void
bfi_at_least(const uint8_t *p, uint32_t n, uint8_t min, uint8_t *out)
{
	const BfiBytes16 low = bfi_all16(min);

	for (uint32_t i = 0; i < n; i += 16)
	{
		BfiBytes16 v = (BfiBytes16) (bfi_load16(p + i) >= low) & 1;

		memcpy(out + i, &v, sizeof v);
	}
}

/* The index of the n-th byte that is 0, counting from 0; `len` when there are not so many. *seen:
 * how many there are before it. */
static inline uint32_t
bfi_find_zero(const uint8_t *p, uint32_t len, uint32_t n, uint32_t *seen)
{
	uint32_t found = 0;
	uint32_t i = 0;

	/* Whole stretches, as long as they can't have it. */
	while (i < len)
	{
		uint32_t k = len - i < 256 ? len - i : 256;
		uint32_t zeros = bfi_count_byte(p + i, k, 0);

		if (found + zeros > n)
			break;
		found += zeros;
		i += k;
	}
	for (; i < len && (p[i] != 0 || found < n); i++)
		found += p[i] == 0;
	*seen = found;
	return i;
}

#endif
