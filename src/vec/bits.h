/*
 * vec/bits.h: sets of rows, a bit each, little-endian in words of 64.
 *
 * What is not NULL in a vector, and which rows of a batch count.
 */
#ifndef BF_VEC_BITS_H
#define BF_VEC_BITS_H

#include "base/status.h"

/* NULL = all of them. */
static inline bool
bf_valid(const uint64_t *validity, int32_t i)
{
	return validity == NULL || ((validity[i >> 6] >> (i & 63)) & 1) != 0;
}

static inline void
bf_validity_set(uint64_t *validity, int32_t i, bool valid)
{
	uint64_t bit = (uint64_t) 1 << (i & 63);

	if (valid)
		validity[i >> 6] |= bit;
	else
		validity[i >> 6] &= ~bit;
}

/* How many of the first n bits are set; what follows them may be anything. */
static inline int32_t
bf_validity_count(const uint64_t *validity, int32_t n)
{
	int32_t count = 0;

	for (int32_t i = 0; i < n / 64; i++)
		count += __builtin_popcountll(validity[i]);
	if (n % 64 != 0)
		count += __builtin_popcountll(validity[n / 64] & (((uint64_t) 1 << (n % 64)) - 1));
	BF_ASSERT(count <= n);
	return count;
}

/* Sets the first n bits and clears the rest of so many words. */
extern void bf_bits_first(uint64_t *bits, int32_t n, int32_t n_words);
/* The first set bit at i or above, -1 = none below n. */
extern int32_t bf_bits_next(const uint64_t *bits, int32_t n, int32_t i);
/* Which of the first n <= 65536 bits are set, ascending, and how many; `out` has room for them. */
extern int32_t bf_bits_list(const uint64_t *bits, int32_t n, uint16_t *out);

#endif
