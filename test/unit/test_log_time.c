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
