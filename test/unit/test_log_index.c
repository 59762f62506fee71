/* The warm/cold search against a linear scan. */
#include "unit/lib/runner.h"

#include <stdlib.h>

#include "base/rangeset.h"
#include "log/index.h"

#define BASE 1000

static BfStatus
read_bytes(void *arg, int64_t pos, uint8_t *buf, size_t n, BfError *err)
{
	const BfView *v = arg;

	BF_DATA(err, pos >= 0 && (uint64_t) pos + n <= v->len, pos, "past the end");
	memcpy(buf, v->ptr + pos, n);
	return BF_OK;
}

/* Of the segment; 0 = not told. */
static int64_t log_bytes;

static void
open_index(BfArena *a, BfView *bytes, bool times, BfIndexStats *stats, BfIndex *ix)
{
	REQUIRE_OK(bf_index_open(a, times ? BF_INDEX_TIMES : BF_INDEX_OFFSETS, BASE, bytes->len,
							 log_bytes, read_bytes, bytes, stats, ix, &test_err));
}

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

/* Of what is looked up, relative to the base. */
static bool
floor_of(BfIndex *ix, int64_t target, BfIndexEntry *e)
{
	bool found = false;

	EXPECT_EQ(bf_index_floor(ix, ix->kind == BF_INDEX_OFFSETS ? BASE + target : target, e, &found,
							 &test_err),
			  BF_OK);
	return found;
}

static int64_t
key_of(const BfIndex *ix, const BfIndexEntry *e)
{
	return ix->kind == BF_INDEX_OFFSETS ? e->offset - BASE : e->timestamp;
}

static void
check_size(int32_t n, size_t tail, bool times)
{
	BfArena *a = test_arena();
	BfArenaMark mark = bf_arena_mark(a);
	int64_t *keys = bf_arena_alloc_array(a, (size_t) n + 1, sizeof *keys);
	BfIndexStats stats = {0};
	BfIndex ix, all;
	BfView bytes;
	int64_t first, last;

	make_index(a, n, times, tail, keys, &bytes);
	open_index(a, &bytes, times, &stats, &all);
	REQUIRE_OK(bf_index_load(&all, &test_err));
	EXPECT_EQ(all.n, n);
	open_index(a, &bytes, times, &stats, &ix);
	EXPECT_EQ(ix.n, n);
	first = n > 0 ? keys[0] - 2 : 0;
	last = n > 0 ? keys[n - 1] + 2 : 0;
	for (int64_t t = first; t <= last; t += n > 3000 ? 7 : 1)
	{
		int32_t want = linear_floor(keys, n, t);
		BfIndexEntry e, w;

		EXPECT_EQ(floor_of(&ix, t, &e), want >= 0);
		if (want < 0)
			continue;
		bf_index_entry(&all, want, &w);
		EXPECT_EQ(key_of(&ix, &e), keys[want]);
		EXPECT_EQ(e.offset, w.offset);
		EXPECT_EQ(e.position, w.position);
		EXPECT_EQ(e.timestamp, w.timestamp);
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
		for (int times = 0; times < 2; times++)
		{
			check_size(sizes[i], 0, times);
			check_size(sizes[i], times ? 8 : 4, times); /* torn entry */
			check_size(sizes[i], 65536, times);			/* preallocated */
			check_size(sizes[i], 24 + 5, times);
		}
		if (test_failed())
			return;
	}
}

/* What one search, from opening on, reads of an index of 10 MB. */
static void
count_pages(int32_t n, size_t tail, bool times, int32_t i, BfIndexStats *stats)
{
	static BfView bytes;
	static int64_t *keys;
	static int32_t made_n;
	static size_t made_tail;
	static bool made_times;
	static BfArena *made;
	BfArena *a = test_arena();
	BfArenaMark mark;
	BfIndex ix;
	BfIndexEntry e;

	if (made != a || made_n != n || made_tail != tail || made_times != times)
	{
		keys = bf_arena_alloc_array(a, (size_t) n, sizeof *keys);
		make_index(a, n, times, tail, keys, &bytes);
		made = a;
		made_n = n;
		made_tail = tail;
		made_times = times;
	}
	mark = bf_arena_mark(a);
	*stats = (BfIndexStats){0};
	open_index(a, &bytes, times, stats, &ix);
	EXPECT_EQ(ix.n, n);
	EXPECT(floor_of(&ix, keys[i], &e));
	EXPECT_EQ(key_of(&ix, &e), keys[i]);
	EXPECT_EQ(stats->warm_hits + stats->cold_hits, 1);
	bf_arena_rewind(a, mark);
}

/* A search in the warm section reads the last 8 KiB, one in the cold part a page for each probe,
 * whatever the size. */
TEST(index_searches_read_few_pages)
{
	for (int times = 0; times < 2; times++)
	{
		int32_t size = times ? BF_TIME_INDEX_ENTRY_BYTES : BF_OFFSET_INDEX_ENTRY_BYTES;
		int32_t n = 10000000 / size;
		int32_t warm = BF_INDEX_WARM_BYTES / size;
		BfIndexStats stats;

		for (int32_t i = n - warm; i < n; i += 13)
		{
			count_pages(n, 0, times, i, &stats);
			EXPECT_EQ(stats.warm_hits, 1);
			EXPECT(stats.pages <= 3);
			EXPECT(stats.probes <= 2 + 11);
		}
		for (int32_t i = 0; i < n - 1 - warm; i += 4999)
		{
			count_pages(n, 0, times, i, &stats);
			EXPECT_EQ(stats.cold_hits, 1);
			EXPECT(stats.pages <= 3 + 14);
			EXPECT(stats.probes <= 2 + 22);
		}
	}
}

/* The end of the entries is found by bisection. */
TEST(index_preallocated_tail_costs_few_pages)
{
	static const int32_t sizes[] = {1, 500, 1024, 1500, 3000, 100000, 1000000};

	log_bytes = 0;

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
	{
		int32_t n = sizes[i];
		BfIndexStats stats;

		count_pages(n, (size_t) (10 << 20) - (size_t) n * 8, false, n - 1, &stats);
		EXPECT(stats.pages <= 3 + 13 + 3);
	}
}

/* Or soon, where the log's size tells about where it is: positions of these indexes are 2500 apart
 * on average. Whatever is told, it is found. */
TEST(index_preallocated_tail_by_the_size_of_the_log)
{
	static const int32_t sizes[] = {1, 500, 1024, 1500, 3000, 100000, 1000000};
	static const int64_t wrong[] = {1, 5000, 1 << 20, INT64_MAX};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
	{
		int32_t n = sizes[i];
		size_t tail = (size_t) (10 << 20) - (size_t) n * 8;
		BfIndexStats stats;

		log_bytes = (int64_t) n * 2501;
		count_pages(n, tail, false, n - 1, &stats);
		/* The last page, the first, some that come near, the warm section. */
		EXPECT(stats.pages <= 1 + 1 + 3 + 3);
		for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
		{
			log_bytes = wrong[k];
			count_pages(n, tail, false, n - 1, &stats);
			EXPECT(stats.pages <= 3 + 13 + 3 + 6);
		}
	}
	log_bytes = 0;
}

TEST(index_zero_first_entry_of_a_time_index_counts)
{
	/* One batch of one record: the final entry has relative offset 0. */
	BfArena *a = test_arena();
	uint8_t bytes[24] = {0};
	BfView v = {bytes, 24};
	BfView none = {NULL, 0};
	BfIndexStats stats = {0};
	BfIndex ix;

	bf_store64be(bytes, 1796004679781);
	open_index(a, &v, true, &stats, &ix);
	EXPECT_EQ(ix.n, 1);
	memset(bytes, 0, sizeof bytes);
	open_index(a, &v, true, &stats, &ix);
	EXPECT_EQ(ix.n, 0);
	open_index(a, &v, false, &stats, &ix);
	EXPECT_EQ(ix.n, 0);
	open_index(a, &none, false, &stats, &ix);
	EXPECT_EQ(ix.n, 0);
}

/* With one entry changed a search finds one that is there and not past the target, or the changed
 * one, or none. Read as a whole the index is of no use. */
TEST(index_that_does_not_ascend_costs_time_only)
{
	BfArena *a = test_arena();
	int64_t *keys = bf_arena_alloc_array(a, 3000, sizeof *keys);

	for (int round = 0; round < 400; round++)
	{
		bool times = round % 2 == 1;
		size_t size = times ? BF_TIME_INDEX_ENTRY_BYTES : BF_OFFSET_INDEX_ENTRY_BYTES;
		BfArenaMark mark = bf_arena_mark(a);
		int32_t n = 2 + (int32_t) test_random_below(2900);
		size_t i = 1 + test_random_below((uint64_t) n - 1);
		BfIndexStats stats = {0};
		int64_t changed;
		BfIndexEntry e;
		BfIndex ix;
		BfView v;
		uint8_t *bytes = make_index(a, n, times, 0, keys, &v);

		memset(bytes + i * size, round % 4 < 2 ? 0x7f : 0, times ? 8 : 4);
		bf_store32be(bytes + (i + 1) * size - 4, 0);
		changed = times ? (int64_t) bf_load64be(bytes + i * size) : bf_load32be(bytes + i * size);
		for (int k = 0; k < 20; k++)
		{
			int32_t at = (int32_t) test_random_below((uint64_t) n);

			open_index(a, &v, times, &stats, &ix);
			if (ix.n < n)
				continue;
			if (floor_of(&ix, keys[at], &e) && key_of(&ix, &e) != changed)
				EXPECT(key_of(&ix, &e) <= keys[at]);
		}
		open_index(a, &v, times, &stats, &ix);
		REQUIRE_OK(bf_index_load(&ix, &test_err));
		EXPECT(ix.n < n);
		bf_arena_rewind(a, mark);
	}
}

/* Probes that contradict each other end the use of an index at once. */
TEST(index_probes_that_do_not_ascend_find_nothing)
{
	BfArena *a = test_arena();
	int64_t *keys = bf_arena_alloc_array(a, 100000, sizeof *keys);
	BfIndexStats stats = {0};
	BfIndexEntry e;
	BfIndex ix;
	BfView v;
	uint8_t *bytes = make_index(a, 100000, false, 0, keys, &v);

	open_index(a, &v, false, &stats, &ix);
	memset(bytes + 8, 0xff, 8 * 90000);
	EXPECT(!floor_of(&ix, keys[50000], &e));
	EXPECT_EQ(ix.n, 0);
	EXPECT(!floor_of(&ix, keys[99999], &e));
}

/* No entry names an offset that 63 bits don't hold. */
TEST(index_at_the_end_of_63_bits)
{
	BfArena *a = test_arena();
	uint8_t bytes[24] = {0};
	BfView v = {bytes, 24};
	BfIndexStats stats = {0};
	BfIndexEntry e;
	BfIndex ix;
	bool found;

	bf_store64be(bytes, 5);
	bf_store32be(bytes + 8, 100);
	bf_store64be(bytes + 12, 6);
	bf_store32be(bytes + 20, 100);
	for (int64_t base = BF_ENTRY_MAX - 101; base <= BF_ENTRY_MAX - 99; base++)
	{
		REQUIRE_OK(
			bf_index_open(a, BF_INDEX_TIMES, base, 24, 0, read_bytes, &v, &stats, &ix, &test_err));
		REQUIRE_OK(bf_index_floor(&ix, 7, &e, &found, &test_err));
		EXPECT_EQ(found, base <= BF_ENTRY_MAX - 100);
	}
}

/* Of an index that grew since the log's size was taken, the last entry inside. */
TEST(index_last_entry_inside_the_log)
{
	BfArena *a = test_arena();
	int64_t *keys = bf_arena_alloc_array(a, 5000, sizeof *keys);
	BfIndexStats stats = {0};
	BfIndexEntry all[5000], e;
	BfIndex ix;
	BfView v;
	bool found;

	make_index(a, 5000, false, 0, keys, &v);
	open_index(a, &v, false, &stats, &ix);
	REQUIRE_OK(bf_index_load(&ix, &test_err));
	for (int32_t i = 0; i < 5000; i++)
		bf_index_entry(&ix, i, &all[i]);
	for (int32_t i = 0; i < 5000; i += 17)
	{
		REQUIRE_OK(bf_index_last_inside(&ix, all[i].position, &e, &found, &test_err));
		EXPECT_EQ(found, i > 0);
		EXPECT(i == 0 || e.position == all[i - 1].position);
		REQUIRE_OK(bf_index_last_inside(&ix, all[i].position + 1, &e, &found, &test_err));
		EXPECT(found && e.position == all[i].position);
	}
}
