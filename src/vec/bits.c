/*
 * vec/bits.c: see bits.h.
 */
#include "vec/bits.h"

/* The bits of a word of the set that are below n. */
static inline uint64_t
word_below(const uint64_t *bits, int32_t n, int32_t w)
{
	int32_t left = n - w * 64;

	BF_ASSERT(left > 0);
	return left >= 64 ? bits[w] : bits[w] & (((uint64_t) 1 << left) - 1);
}

void
bf_bits_first(uint64_t *bits, int32_t n, int32_t n_words)
{
	BF_ASSERT(n >= 0 && n <= n_words * 64);
	for (int32_t w = 0; w < n_words; w++)
	{
		int32_t left = n - w * 64;

		bits[w] = left >= 64 ? UINT64_MAX : left > 0 ? ((uint64_t) 1 << left) - 1 : 0;
	}
}

int32_t
bf_bits_next(const uint64_t *bits, int32_t n, int32_t i)
{
	BF_ASSERT(i >= 0);
	if (i >= n)
		return -1;
	for (int32_t w = i >> 6; w * 64 < n; w++)
	{
		uint64_t word = word_below(bits, n, w);

		if (w == i >> 6)
			word &= UINT64_MAX << (i & 63);
		if (word != 0)
			return w * 64 + __builtin_ctzll(word);
	}
	return -1;
}

int32_t
bf_bits_list(const uint64_t *bits, int32_t n, uint16_t *out)
{
	int32_t k = 0;

	BF_ASSERT(n >= 0 && n <= UINT16_MAX + 1);
	for (int32_t w = 0; w * 64 < n; w++)
	{
		uint64_t word = word_below(bits, n, w);

		/* Whole words are common, and this loop is one that compilers make vectors of. */
		if (word == UINT64_MAX)
			for (int32_t i = 0; i < 64; i++)
				out[k++] = (uint16_t) (w * 64 + i);
		else
			for (; word != 0; word &= word - 1)
				out[k++] = (uint16_t) (w * 64 + __builtin_ctzll(word));
	}
	return k;
}
