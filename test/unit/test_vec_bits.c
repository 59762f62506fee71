/* vec/bits: sets of rows against a plain array of booleans. */
#include "unit/lib/runner.h"

#include "vec/batch.h"

#define N_MAX 4096

/* Words of every kind: none, all, single bits, halves, random ones. */
static uint64_t
some_word(void)
{
	switch (test_random_below(6))
	{
		case 0: return 0;
		case 1: return UINT64_MAX;
		case 2: return UINT64_C(1) << test_random_below(64);
		case 3: return ~(UINT64_C(1) << test_random_below(64));
		case 4: return UINT64_MAX << test_random_below(64);
		default: return test_random();
	}
}

static void
check_set(const uint64_t *bits, int32_t n)
{
	static uint16_t list[N_MAX];
	int32_t count = 0;
	int32_t k = 0;
	int32_t next = -1;

	for (int32_t i = n - 1; i >= 0; i--)
	{
		if ((bits[i / 64] >> (i % 64)) & 1)
		{
			count++;
			next = i;
		}
		EXPECT_EQ(bf_bits_next(bits, n, i), next);
	}
	EXPECT_EQ(bf_bits_next(bits, n, n), -1);
	EXPECT_EQ(bf_validity_count(bits, n), count);
	EXPECT_EQ(bf_bits_list(bits, n, list), count);
	for (int32_t i = bf_bits_next(bits, n, 0); i >= 0; i = bf_bits_next(bits, n, i + 1))
		EXPECT_EQ(list[k++], i);
	EXPECT_EQ(k, count);
}

TEST(vec_bits_are_counted_and_listed)
{
	uint64_t bits[N_MAX / 64];

	for (int32_t n = 0; n <= 200 && !test_failed(); n++)
		for (int round = 0; round < 8; round++)
		{
			for (size_t w = 0; w < N_MAX / 64; w++)
				bits[w] = some_word(); /* behind the n bits, too */
			check_set(bits, n);
		}
	for (int round = 0; round < 50 && !test_failed(); round++)
	{
		for (size_t w = 0; w < N_MAX / 64; w++)
			bits[w] = some_word();
		check_set(bits, round == 0 ? N_MAX : (int32_t) test_random_below(N_MAX + 1));
	}
}

TEST(vec_bits_first)
{
	uint64_t bits[4];

	for (int32_t n_words = 0; n_words <= 3; n_words++)
		for (int32_t n = 0; n <= n_words * 64; n++)
		{
			memset(bits, 0x5a, sizeof bits);
			bf_bits_first(bits, n, n_words);
			EXPECT_EQ(bf_validity_count(bits, n), n);
			EXPECT_EQ(bf_validity_count(bits, n_words * 64), n);
			for (int32_t w = n_words; w < 4; w++)
				EXPECT(bits[w] == UINT64_C(0x5a5a5a5a5a5a5a5a));
		}
}

/* 64 bits and more at a time: what list numbers 16 bits can hold. */
TEST(vec_bits_list_of_all_that_16_bits_hold)
{
	static uint64_t bits[65536 / 64];
	static uint16_t list[65536];

	bf_bits_first(bits, 65536, 65536 / 64);
	EXPECT_EQ(bf_bits_list(bits, 65536, list), 65536);
	EXPECT(list[0] == 0 && list[65535] == 65535);
}

TEST(vec_batch_rows_that_count)
{
	uint64_t selected[BF_VALIDITY_WORDS] = {UINT64_C(1) << 63, 1};
	BfBatch b = {.n_rows = 70};

	EXPECT_EQ(bf_batch_n(&b), 70);
	EXPECT_EQ(bf_batch_next(&b, 0), 0);
	EXPECT_EQ(bf_batch_next(&b, 69), 69);
	EXPECT_EQ(bf_batch_next(&b, 70), -1);
	b.selected = selected;
	b.n_selected = 2;
	EXPECT_EQ(bf_batch_n(&b), 2);
	EXPECT_EQ(bf_batch_next(&b, 0), 63);
	EXPECT_EQ(bf_batch_next(&b, 64), 64);
	EXPECT_EQ(bf_batch_next(&b, 65), -1);
}
