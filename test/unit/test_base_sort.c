/* Sorting and searching: right for any input, and never slow for one. */
#include "unit/lib/runner.h"

#include "base/sort.h"

#define MANY 4000

static int64_t comparisons;

static int
compare_u32(const void *x, const void *y)
{
	uint32_t a, b;

	memcpy(&a, x, sizeof a);
	memcpy(&b, y, sizeof b);
	comparisons++;
	return (a > b) - (a < b);
}

typedef enum Pattern
{
	RANDOM,
	FEW_VALUES,
	EQUAL,
	ASCENDING,
	DESCENDING,
	SAW,
	ORGAN_PIPES,
	ONE_MISPLACED,
	PATTERNS
} Pattern;

static uint32_t
value_of(Pattern p, uint32_t i, uint32_t n)
{
	switch (p)
	{
		case RANDOM: return (uint32_t) test_random();
		case FEW_VALUES: return (uint32_t) test_random_below(3);
		case ASCENDING: return i;
		case DESCENDING: return n - i;
		case SAW: return i % 17;
		case ORGAN_PIPES: return i < n / 2 ? i : n - i;
		case ONE_MISPLACED: return i == n / 3 ? n : i;
		default: return 7;
	}
}

static int64_t
bound(uint32_t n)
{
	int64_t log = 1;

	while (n >> log != 0)
		log++;
	return 4 * (int64_t) n * log + 64;
}

/* Elements of `size` bytes: the value, and behind it bytes that belong to it. */
static void
check_sort(Pattern p, uint32_t n, size_t size)
{
	uint8_t *data = bf_arena_alloc(test_arena(), n * size);
	uint64_t sum = 0, sum_after = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t v = value_of(p, i, n);

		memset(data + i * size, (int) (v * 31 & 0xff), size);
		memcpy(data + i * size, &v, sizeof v);
		sum += v * UINT64_C(0x9e3779b97f4a7c15) >> 7;
	}
	comparisons = 0;
	bf_sort(data, n, size, compare_u32);
	EXPECT(comparisons <= bound(n));
	if (p == ASCENDING || p == EQUAL)
		EXPECT(comparisons <= (int64_t) n);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t v;

		memcpy(&v, data + i * size, sizeof v);
		sum_after += v * UINT64_C(0x9e3779b97f4a7c15) >> 7;
		if (i > 0)
			EXPECT(compare_u32(data + (i - 1) * size, data + i * size) <= 0);
		for (size_t k = sizeof v; k < size; k++)
			if (data[i * size + k] != (uint8_t) (v * 31 & 0xff))
				test_fail(__FILE__, __LINE__, "an element of %zu bytes was torn", size);
	}
	EXPECT(sum == sum_after);
}

TEST(base_sort_sorts)
{
	static const size_t sizes[] = {4, 8, 12, 16, 40, 72, BF_SORT_ELEMENT_BYTES_MAX};

	for (int p = 0; p < PATTERNS && !test_failed(); p++)
		for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
			for (uint32_t n = 0; n < 300; n = n < 20 ? n + 1 : n * 2 + 3)
				check_sort((Pattern) p, n, sizes[k]);
	for (int p = 0; p < PATTERNS && !test_failed(); p++)
		check_sort((Pattern) p, MANY, 8);
}

/* An adversary (McIlroy, "A Killer Adversary for Quicksort"): it decides what compares how while
 * the sort runs, so that each pivot is as bad as can be. */
static uint32_t killer[MANY];
static uint32_t n_solid, candidate;

static int
compare_killer(const void *x, const void *y)
{
	uint32_t a, b;
	const uint32_t gas = MANY + 1;

	memcpy(&a, x, sizeof a);
	memcpy(&b, y, sizeof b);
	comparisons++;
	if (killer[a] == gas && killer[b] == gas)
		killer[a == candidate ? a : b] = n_solid++;
	if (killer[a] == gas)
		candidate = a;
	else if (killer[b] == gas)
		candidate = b;
	return (killer[a] > killer[b]) - (killer[a] < killer[b]);
}

TEST(base_sort_has_no_bad_input)
{
	static uint32_t items[MANY];

	n_solid = candidate = 0;
	for (uint32_t i = 0; i < MANY; i++)
	{
		items[i] = i;
		killer[i] = MANY + 1;
	}
	comparisons = 0;
	bf_sort(items, MANY, sizeof *items, compare_killer);
	EXPECT(comparisons <= bound(MANY));
}

static int
compare_nonsense(const void *x, const void *y)
{
	(void) x;
	(void) y;
	return (int) test_random_below(3) - 1;
}

static int
compare_always_less(const void *x, const void *y)
{
	(void) x;
	(void) y;
	return 1;
}

/* The array is its own allocation: a step outside of it is seen. */
TEST(base_sort_survives_nonsense)
{
	for (uint32_t n = 0; n < 400; n += 13)
	{
		uint32_t *v = bf_arena_alloc_array(test_arena(), n, sizeof *v);
		uint64_t seen = 0;

		for (uint32_t i = 0; i < n; i++)
			v[i] = i;
		bf_sort(v, n, sizeof *v, compare_nonsense);
		bf_sort(v, n, sizeof *v, compare_always_less);
		for (uint32_t i = 0; i < n; i++)
			seen += v[i];
		EXPECT_EQ(seen, (uint64_t) n * (n > 0 ? n - 1 : 0) / 2);
	}
}

TEST(base_search)
{
	int32_t v[40];

	for (int32_t n = 0; n < 40; n++)
	{
		for (int32_t i = 0; i < n; i++)
			v[i] = i / 2 * 3;
		for (int32_t wanted = -2; wanted < 64; wanted++)
		{
			int32_t at, expected = 0;

			while (expected < n && v[expected] < wanted)
				expected++;
			BF_SEARCH(int32_t, at, n, i, v[i] < wanted);
			EXPECT_EQ(at, expected);
		}
	}
}
