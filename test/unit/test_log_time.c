/* Time look-ups when the time index is wrong. */
#include "unit/lib/runner.h"

#include "unit/test_log_model.h"

static int64_t
look_up(const Model *m, int64_t t)
{
	BfArena *a = bf_arena_new(test_host(), "time", (size_t) 1 << 30);
	BfLogDir *d;
	int64_t offset = -1;

	if (bf_log_dir_open(a, m->dir, NULL, &d, &test_err) != BF_OK ||
		bf_log_dir_offset_for_time(d, t, &offset, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	bf_arena_free(a);
	return offset;
}

static void
write_entry(const Model *m, int64_t base, int64_t timestamp, int64_t relative)
{
	uint8_t entry[12];

	bf_store64be(entry, (uint64_t) timestamp);
	bf_store32be(entry + 8, (uint32_t) relative);
	write_at(segment_path(m, base, "timeindex"), 0, entry, sizeof entry);
}

TEST(time_index_that_lies_is_not_believed)
{
	Model m;
	int64_t right[200];
	int64_t first = 1700000000000 - 500;
	int64_t last_base, last;

	make_ledger(&m, "ledger", 120, 300);
	last_base = model_end(&m).segment;
	last = model_end(&m).entry - 1;
	for (int i = 0; i < 200; i++)
		right[i] = look_up(&m, first + 5 * i);
	EXPECT_EQ(right[0], 0);
	EXPECT_EQ(right[199], last + 1);
	/* No time index; one that claims that nothing up to the end is younger than its first entry;
	 * one that points past the end; one that points into the middle of a batch. */
	for (int k = 0; k < 4; k++)
	{
		REQUIRE(truncate(segment_path(&m, last_base, "timeindex"), 0) == 0);
		REQUIRE(truncate(segment_path(&m, 0, "timeindex"), 0) == 0);
		if (k == 1)
			write_entry(&m, last_base, 1700000000001, last - last_base);
		if (k == 2)
			write_entry(&m, last_base, 1700000000001, last - last_base + 500);
		if (k == 3)
			write_entry(&m, 0, 1700000000001, 100);
		for (int i = 0; i < 200; i++)
			EXPECT_EQ(look_up(&m, first + 5 * i), right[i]);
		if (test_failed())
			return;
	}
}

/* ---- what came before ---- */

#define ENTRIES_MAX 20000

static int64_t times[ENTRIES_MAX];

static void
read_times(const Model *m)
{
	BfArena *a = bf_arena_new(test_host(), "times", (size_t) 1 << 30);
	BfRange range = {0, model_end(m).entry - 1};
	const BfRangeSet all = {1, &range};
	BfBatchHeader h;
	BfLogDir *d;
	BfLogWalk *w;
	const uint8_t *batch;
	const char *path;
	int64_t position;

	REQUIRE(range.last < ENTRIES_MAX);
	REQUIRE_OK(bf_log_dir_open(a, m->dir, NULL, &d, &test_err));
	REQUIRE_OK(bf_log_walk_new(a, d, &all, true, &w, &test_err));
	for (;;)
	{
		REQUIRE_OK(bf_log_walk_next(w, &h, &batch, &position, &path, &test_err));
		if (batch == NULL)
			break;
		for (int64_t e = h.base_offset; e <= h.last_offset; e++)
			times[e] = h.max_timestamp;
	}
	bf_arena_free(a);
}

/* None that is young enough is missing; returns how many were left out. */
static int64_t
leave_before(const Model *m, const BfRangeSet *wanted, int64_t t, BfLogCounters *counters)
{
	BfArena *a = bf_arena_new(test_host(), "time", (size_t) 1 << 30);
	BfRangeSet left = *wanted;
	int64_t n = bf_rangeset_count(wanted);
	BfLogDir *d;

	if (bf_log_dir_open(a, m->dir, counters, &d, &test_err) != BF_OK ||
		bf_log_dir_leave_before(a, d, t, &left, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	for (int32_t i = 0; i < wanted->n; i++)
		for (int64_t e = wanted->ranges[i].first; e <= wanted->ranges[i].last; e++)
		{
			int32_t at = bf_rangeset_seek(&left, e);

			if ((at == left.n || left.ranges[at].first > e) && times[e] >= t)
				test_fail(__FILE__, __LINE__, "entry %lld is lost at %lld", (long long) e,
						  (long long) t);
		}
	n -= bf_rangeset_count(&left);
	EXPECT(n >= 0);
	bf_arena_free(a);
	return n;
}

static int64_t
leave_before_all(const Model *m, int64_t t)
{
	BfRange range = {0, model_end(m).entry - 1};
	const BfRangeSet all = {1, &range};

	return leave_before(m, &all, t, NULL);
}

TEST(time_leaves_out_what_came_before)
{
	BfRange whole;
	const BfRangeSet all = {1, &whole};
	BfLogCounters c = {0};
	int64_t least = INT64_MAX, last;
	Model m;

	make_ledger(&m, "before", 120, 300);
	read_times(&m);
	last = model_end(&m).entry - 1;
	whole = (BfRange){0, last};
	for (int64_t t = m.clock - 600; t < m.clock + 600; t += 3)
	{
		int64_t n = leave_before_all(&m, t);
		BfRange some[2] = {{(int64_t) test_random_below((uint64_t) last), 0}, {0, 0}};
		BfRangeSet wanted = {2, some};

		/* All but what the time index does not name yet. */
		if (t > m.clock)
			least = n < least ? n : least;
		some[0].last = some[0].first + (int64_t) test_random_below(20);
		some[1].first = some[0].last + 2 + (int64_t) test_random_below(100);
		some[1].last = some[1].first + (int64_t) test_random_below(200);
		if (some[1].last <= last)
			(void) leave_before(&m, &wanted, t, NULL);
	}
	EXPECT(least > last * 8 / 10);
	EXPECT_EQ(leave_before_all(&m, 0), 0);
	EXPECT_EQ(leave_before_all(&m, INT64_MIN), 0);
	(void) leave_before(&m, &all, m.clock + 600, &c);
	EXPECT(c.batches_skipped > 0);
}

/* A time index of other batches, as one may be after a crash that lost what was not synced. */
TEST(time_index_of_another_log_leaves_out_nothing)
{
	Model m;
	int64_t last_base, last;

	make_ledger(&m, "stale", 120, 300);
	read_times(&m);
	last_base = model_end(&m).segment;
	last = model_end(&m).entry - 1;
	REQUIRE(truncate(segment_path(&m, 0, "timeindex"), 0) == 0);
	for (int i = 0; i < 2000 && !test_failed(); i++)
	{
		int64_t e = last_base + (int64_t) test_random_below((uint64_t) (last + 1 - last_base));
		int64_t t = times[e];

		/* Each entry with its own time: that there are no younger ones before is what is wrong. */
		REQUIRE(truncate(segment_path(&m, last_base, "timeindex"), 0) == 0);
		write_entry(&m, last_base, t, e - last_base);
		(void) leave_before_all(&m, t + 1);
		(void) leave_before_all(&m, t + 200);
		write_entry(&m, last_base, t + (int64_t) test_random_below(3), last - last_base);
		(void) leave_before_all(&m, t + 1);
	}
}

/* A header whose time is wrong is not enough. */
TEST(time_of_one_flipped_bit_leaves_out_nothing)
{
	Model m;
	static uint8_t bytes[1 << 22];
	const char *files[4];
	size_t sizes[4];

	make_ledger(&m, "flipped", 120, 300);
	read_times(&m);
	for (int i = 0; i < 4; i++)
	{
		files[i] =
			segment_path(&m, i < 2 ? 0 : model_end(&m).segment, i % 2 == 0 ? "log" : "timeindex");
		sizes[i] = read_file(files[i], bytes, sizeof bytes);
		REQUIRE(sizes[i] > 0 && sizes[i] < sizeof bytes);
	}
	for (int i = 0; i < 4000 && !test_failed(); i++)
	{
		int f = (int) test_random_below(4);
		int64_t at = (int64_t) test_random_below(sizes[f]);
		int64_t t = m.clock - 400 + (int64_t) test_random_below(500);
		uint8_t byte;

		if (f % 2 == 0 && i % 2 == 0)
		{
			/* The largest time of some batch. */
			int b = (int) test_random_below((uint64_t) m.n_ends - 1);
			f = m.ends[b].segment == 0 ? 0 : 2;
			at = m.ends[b].position + 35 + (int64_t) test_random_below(8);
			if (m.ends[b].segment != 0 && f == 2 && m.ends[b].segment != model_end(&m).segment)
				continue;
			t = times[m.ends[b].entry];
		}
		read_file(files[f], bytes, sizeof bytes);
		if ((size_t) at >= sizes[f])
			continue;
		byte = (uint8_t) (bytes[at] ^ 1 << test_random_below(8));
		write_at(files[f], at, &byte, 1);
		(void) leave_before_all(&m, t);
		write_at(files[f], at, bytes + at, 1);
	}
}
