/* The warm/cold search against a linear scan. */
#include "unit/lib/runner.h"

#include <stdlib.h>

#include "log/index.h"

#define BASE 1000

/* A random index of n entries, `tail` zero bytes after it; relative offsets in *keys. */
static uint8_t *
make_index(BfArena *a, int32_t n, bool times, size_t tail, int64_t *keys, BfView *out)
{
	size_t entry = times ? BF_TIME_INDEX_ENTRY_BYTES : BF_OFFSET_INDEX_ENTRY_BYTES;
	uint8_t *bytes = bf_arena_alloc(a, (size_t) n * entry + tail);
	int64_t key = times ? (int64_t) test_random_below(1000) : 0;
	uint32_t other = 0;

	memset(bytes, 0, (size_t) n * entry + tail);
	for (int32_t i = 0; i < n; i++)
	{
		uint8_t *p = bytes + (size_t) i * entry;

		key += 1 + (int64_t) test_random_below(3);
		other += 1 + (uint32_t) test_random_below(5000);
		keys[i] = key;
		if (times)
		{
			bf_store64be(p, (uint64_t) key);
			bf_store32be(p + 8, other);
		}
		else
		{
			bf_store32be(p, (uint32_t) key);
			bf_store32be(p + 4, other);
		}
	}
	*out = (BfView){bytes, (uint32_t) ((size_t) n * entry + tail)};
	return bytes;
}

static int32_t
linear_floor(const int64_t *keys, int32_t n, int64_t target)
{
	int32_t found = -1;

	for (int32_t i = 0; i < n && keys[i] <= target; i++)
		found = i;
	return found;
}

static void
check_size(int32_t n, size_t tail)
{
	BfArena *a = test_arena();
	BfArenaMark mark = bf_arena_mark(a);
	int64_t *keys = bf_arena_alloc_array(a, (size_t) n + 1, sizeof *keys);
	BfIndexStats stats = {0, 0, 0};
	BfOffsetIndex ix;
	BfTimeIndex tx;
	BfView bytes;
	int64_t step;

	make_index(a, n, false, tail, keys, &bytes);
	bf_offset_index_init(&ix, bytes, BASE);
	EXPECT_EQ(ix.n, n);
	EXPECT(bf_offset_index_sane(&ix));
	step = n > 3000 ? 7 : 1;
	for (int64_t t = -2; t <= (n > 0 ? keys[n - 1] : 0) + 2; t += step)
	{
		int32_t want = linear_floor(keys, n, t);
		int64_t offset = -1, position = -1, want_offset, want_position;

		EXPECT_EQ(bf_offset_index_floor(&ix, BASE + t, &offset, &position, &stats), want >= 0);
		if (want < 0)
			continue;
		bf_offset_index_entry(&ix, want, &want_offset, &want_position);
		EXPECT_EQ(offset, want_offset);
		EXPECT_EQ(offset, BASE + keys[want]);
		EXPECT_EQ(position, want_position);
	}
	make_index(a, n, true, tail, keys, &bytes);
	bf_time_index_init(&tx, bytes, BASE);
	EXPECT_EQ(tx.n, n);
	EXPECT(bf_time_index_sane(&tx));
	for (int64_t t = n > 0 ? keys[0] - 2 : 0; t <= (n > 0 ? keys[n - 1] : 0) + 2; t += step)
	{
		int32_t want = linear_floor(keys, n, t);
		int64_t timestamp = -1, offset = -1, want_timestamp, want_offset;

		EXPECT_EQ(bf_time_index_floor(&tx, t, &timestamp, &offset, NULL), want >= 0);
		if (want < 0)
			continue;
		bf_time_index_entry(&tx, want, &want_timestamp, &want_offset);
		EXPECT_EQ(timestamp, want_timestamp);
		EXPECT_EQ(offset, want_offset);
	}
	bf_arena_rewind(a, mark);
}

TEST(index_floor_matches_a_linear_scan)
{
	static const int32_t sizes[] = {0,	  1,	2,	  3,	4,	  5,	681,  682,
									683,  684,	685,  1023, 1024, 1025, 1026, 1027,
									1364, 1365, 2047, 2048, 2049, 2050, 5000, 20000};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
	{
		check_size(sizes[i], 0);
		check_size(sizes[i], 4);	 /* torn entry */
		check_size(sizes[i], 65536); /* preallocated */
		check_size(sizes[i], 24 + 5);
		if (test_failed())
			return;
	}
}

/* A search in the warm section looks at few entries, all of them in the last 8 KiB. */
TEST(index_warm_searches_stay_warm)
{
	enum
	{
		N = 100000,
		WARM = 1024
	};
	BfArena *a = test_arena();
	int64_t *keys = bf_arena_alloc_array(a, N, sizeof *keys);
	BfOffsetIndex ix;
	BfView bytes;
	int64_t offset, position;

	make_index(a, N, false, 0, keys, &bytes);
	bf_offset_index_init(&ix, bytes, BASE);
	for (int i = N - WARM; i < N; i++)
	{
		BfIndexStats stats = {0, 0, 0};

		EXPECT(bf_offset_index_floor(&ix, BASE + keys[i], &offset, &position, &stats));
		EXPECT_EQ(stats.warm_hits, 1);
		EXPECT_EQ(stats.cold_hits, 0);
		EXPECT(stats.probes <= 1 + 11);
	}
	for (int i = 0; i < N - 1 - WARM; i += 97)
	{
		BfIndexStats stats = {0, 0, 0};

		EXPECT(bf_offset_index_floor(&ix, BASE + keys[i], &offset, &position, &stats));
		EXPECT_EQ(stats.cold_hits, 1);
		EXPECT(stats.probes <= 2 + 17);
	}
}

TEST(index_zero_first_entry_of_a_time_index_counts)
{
	/* One batch of one record: the final entry has relative offset 0. */
	uint8_t bytes[24] = {0};
	BfTimeIndex tx;
	BfOffsetIndex ix;

	bf_store64be(bytes, 1796004679781);
	bf_time_index_init(&tx, (BfView){bytes, 24}, 0);
	EXPECT_EQ(tx.n, 1);
	memset(bytes, 0, sizeof bytes);
	bf_time_index_init(&tx, (BfView){bytes, 24}, 0);
	EXPECT_EQ(tx.n, 0);
	bf_offset_index_init(&ix, (BfView){bytes, 24}, 0);
	EXPECT_EQ(ix.n, 0);
	bf_offset_index_init(&ix, (BfView){NULL, 0}, 0);
	EXPECT_EQ(ix.n, 0);
}

TEST(index_that_does_not_ascend_is_not_sane)
{
	BfArena *a = test_arena();

	for (int round = 0; round < 200; round++)
	{
		int32_t n = 2 + (int32_t) test_random_below(50);
		int64_t keys[60];
		BfOffsetIndex ix;
		BfTimeIndex tx;
		BfView v;
		uint8_t *bytes;
		size_t i;

		bytes = make_index(a, n, false, 0, keys, &v);
		i = 1 + test_random_below((uint64_t) n - 1);
		memcpy(bytes + i * 8 + 4 * test_random_below(2), "\0\0\0\1", 4);
		bf_offset_index_init(&ix, v, BASE);
		EXPECT(i == (size_t) n - 1 || !bf_offset_index_sane(&ix) || ix.n < n);
		bytes = make_index(a, n, true, 0, keys, &v);
		memset(bytes + i * 12, 0, 8);
		bf_time_index_init(&tx, v, BASE);
		EXPECT(!bf_time_index_sane(&tx));
	}
}
