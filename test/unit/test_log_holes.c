/*
 * Ledgers that lack something in the middle or at the end: a walk that must not miss an entry says
 * so, one over a broker's directory goes on. And ledgers that are damaged where checksums don't
 * look.
 */
#include "unit/lib/runner.h"

#include "log/offload.h"
#include "unit/test_log_build.h"
#include "unit/test_log_model.h"

/* Entries first to last of one row each. */
static void
add_batch(BfBuffer *log, int64_t first, int64_t last)
{
	TestRecord records[16];
	TestBatch b = {.base_offset = first,
				   .last_delta = (int32_t) (last - first),
				   .base_timestamp = 1000,
				   .max_timestamp = 1000,
				   .producer_id = -1,
				   .records = records,
				   .n = (int) (last - first + 1)};

	for (int i = 0; i < b.n; i++)
		records[i] = (TestRecord){i, 0, NULL, "v", 0};
	build_batch(log, &b);
}

static void
put_segment(const char *dir, int64_t base, const BfBuffer *log)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%020lld.log", dir, (long long) base);
	write_at(path, 0, log->data, log->len);
}

/* How many entries a walk over 0 to `last` gives out, or the status that ended it. */
static int64_t
walked(const char *dir, int64_t last, bool strict)
{
	BfArena *a = bf_arena_new(test_host(), "walk", (size_t) 1 << 30);
	BfRange range = {0, last};
	BfRangeSet set = {1, &range};
	BfLogDir *d;
	BfLogWalk *w;
	const uint8_t *batch = (const uint8_t *) "";
	int64_t n = 0;
	BfStatus status = bf_log_dir_open(a, dir, NULL, &d, &test_err);

	if (status == BF_OK)
		status = bf_log_walk_new(a, d, &set, strict, &w, &test_err);
	while (status == BF_OK && batch != NULL)
	{
		BfBatchHeader h;
		const char *path;
		int64_t position;

		status = bf_log_walk_next(w, &h, &batch, &position, &path, &test_err);
		if (status == BF_OK && batch != NULL)
			n += h.n_records;
	}
	bf_arena_free(a);
	return status == BF_OK ? n : -(int64_t) status;
}

static const char *
new_ledger(const char *name)
{
	const char *dir = bf_arena_printf(test_arena(), "%s/%s", test_dir(), name);

	if (test_host()->mkdirs(test_host(), dir, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return dir;
}

TEST(log_holes_are_errors_in_a_ledger)
{
	BfBuffer log;
	const char *dir;

	bf_buffer_init(&log, test_host(), 1 << 20);
	/* Inside of a segment. */
	dir = new_ledger("inside");
	add_batch(&log, 0, 4);
	add_batch(&log, 7, 9);
	put_segment(dir, 0, &log);
	EXPECT_EQ(walked(dir, 9, false), 8);
	EXPECT_EQ(walked(dir, 9, true), -BF_ERR_CORRUPT);
	EXPECT_STR(test_err.text, "entry 5 is missing");
	EXPECT_EQ(walked(dir, 4, true), 5);
	/* Between two segments. */
	dir = new_ledger("between");
	log.len = 0;
	add_batch(&log, 0, 4);
	put_segment(dir, 0, &log);
	log.len = 0;
	add_batch(&log, 7, 9);
	put_segment(dir, 7, &log);
	EXPECT_EQ(walked(dir, 9, false), 8);
	EXPECT_EQ(walked(dir, 9, true), -BF_ERR_CORRUPT);
	/* Before the first one, and at the end. */
	dir = new_ledger("ends");
	put_segment(dir, 7, &log);
	EXPECT_EQ(walked(dir, 9, false), 3);
	EXPECT_EQ(walked(dir, 9, true), -BF_ERR_CORRUPT);
	dir = new_ledger("short");
	log.len = 0;
	add_batch(&log, 0, 4);
	put_segment(dir, 0, &log);
	EXPECT_EQ(walked(dir, 9, false), 5);
	EXPECT_EQ(walked(dir, 9, true), -BF_ERR_CORRUPT);
	EXPECT_STR(test_err.text, "entry 5 is missing");
	bf_buffer_free(&log);
}

/* A batch whose checksum is right and whose records are not: offload would copy it and let the
 * original go. */
TEST(log_holes_offload_decodes)
{
	const char *dir = new_ledger("bad"), *out = test_path("out.bfo");
	TestBatch b = {.base_offset = 5,
				   .last_delta = 0,
				   .base_timestamp = 1000,
				   .max_timestamp = 1000,
				   .producer_id = -1,
				   .n = 1};
	BfPathInfo info;
	BfBuffer log;

	bf_buffer_init(&log, test_host(), 1 << 20);
	add_batch(&log, 0, 4);
	put_segment(dir, 0, &log);
	REQUIRE_OK(bf_offload_write(test_arena(), dir, NULL, 5, "{\"type\":\"string\"}",
								test_path("good.bfo"), NULL, &test_err));
	build_raw_batch(&log, &b, "\xff\xff\xff", 3);
	put_segment(dir, 0, &log);
	EXPECT_FAIL(
		bf_offload_write(test_arena(), dir, NULL, 6, "{\"type\":\"string\"}", out, NULL, &test_err),
		BF_ERR_CORRUPT, -1);
	REQUIRE_OK(test_host()->stat(test_host(), out, &info, &test_err));
	EXPECT_EQ(info.kind, BF_PATH_MISSING);
	bf_buffer_free(&log);
}

/* A writer that takes over believes the last index entry only when it points to its batch. */
TEST(log_holes_index_of_another_batch)
{
	Model m;

	make_ledger_in(&m, "ledger", 63, 200, 1 << 30);
	for (int delta = -1; delta <= 1; delta += 2)
	{
		static uint8_t bytes[1 << 16];
		const char *path = segment_path(&m, 0, "index");
		size_t size = read_file(path, bytes, sizeof bytes);
		BfArena *a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
		BfLedgerWriter *w;

		REQUIRE(size >= 40 && bf_load32be(bytes + size - 8) + 2 < model_end(&m).entry);
		bf_store32be(bytes + size - 8, bf_load32be(bytes + size - 8) + (uint32_t) delta);
		write_at(path, 0, bytes, size);
		REQUIRE_OK(bf_ledger_writer_open(a, m.dir, model_end(&m), &m.options, &w, &test_err));
		REQUIRE_OK(bf_ledger_writer_close(w, &test_err));
		bf_arena_free(a);
		model_check_indexes(&m, true);
	}
}

/* What a torn tail's index names behind it makes it damage, unless that index is wrong itself: then
 * it costs no rows. */
TEST(log_holes_torn_tail_and_a_wrong_index)
{
	for (int wrong = 0; wrong < 2; wrong++)
	{
		BfBuffer log;
		const char *dir = new_ledger(wrong ? "wrong" : "right");
		uint8_t entries[3 * BF_OFFSET_INDEX_ENTRY_BYTES];
		const uint32_t offsets[2][3] = {{3, 9, 30}, {9, 3, 30}};
		uint32_t end;
		char path[512];

		bf_buffer_init(&log, test_host(), 1 << 20);
		for (int64_t i = 0; i < 20; i += 2)
			add_batch(&log, i, i + 1);
		end = (uint32_t) log.len;
		add_batch(&log, 20, 31);
		log.len -= 10;
		put_segment(dir, 0, &log);
		for (uint32_t i = 0; i < 3; i++)
		{
			bf_store32be(entries + 8 * i, offsets[wrong][i]);
			bf_store32be(entries + 8 * i + 4, i < 2 ? i + 1 : end + 1);
		}
		snprintf(path, sizeof path, "%s/%020d.index", dir, 0);
		write_at(path, 0, entries, sizeof entries);
		EXPECT_EQ(walked(dir, 100, false), wrong ? 20 : -(int64_t) BF_ERR_CORRUPT);
		bf_buffer_free(&log);
	}
}

/* Acknowledged bytes that are zeros now: the file is as long as it should be, but they are gone. */
TEST(log_holes_zeros_before_the_end)
{
	static const uint8_t zeros[1 << 16];
	Model m;
	BfLedgerEnd end, before;
	BfArena *a;
	BfLedgerWriter *w;

	make_ledger_in(&m, "ledger", 30, 300, 1 << 30);
	end = model_end(&m);
	before = m.ends[m.n_ends - 2];
	write_at(segment_path(&m, 0, "log"), before.position, zeros,
			 (size_t) (end.position - before.position));
	a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
	EXPECT(bf_ledger_writer_open(a, m.dir, end, &m.options, &w, &test_err) != BF_OK);
	EXPECT_EQ(test_err.offset, before.position);
	bf_arena_free(a);
}

TEST(log_holes_segments_keep_their_size)
{
	Model m;
	BfLogDir *d;

	make_ledger_in(&m, "ledger", 200, 500, 12000);
	REQUIRE_OK(bf_log_dir_open(test_arena(), m.dir, NULL, &d, &test_err));
	REQUIRE(bf_log_dir_n_segments(d) > 10);
	for (int32_t i = 0; i < bf_log_dir_n_segments(d); i++)
	{
		BfPathInfo info;

		REQUIRE_OK(
			test_host()->stat(test_host(), bf_log_dir_segment(d, i)->path, &info, &test_err));
		EXPECT(info.size > 0 && info.size <= 12000);
	}
}

/* Names of files and entries of indexes come from outside: their sum may be no offset. */
TEST(log_holes_offsets_end_at_63_bits)
{
	static const uint8_t index[] = {0, 0, 0, 2, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 1};
	static const uint8_t times[] = {0, 0, 0, 0, 0, 0, 3,	0xe8, 0,	0,	  0,	2,
									0, 0, 0, 0, 0, 0, 0x07, 0xd0, 0xff, 0xff, 0xff, 0xf0};
	const char *dir = new_ledger("ends");
	int64_t base = BF_ENTRY_MAX - 2;
	BfBuffer log;
	BfLogDir *d;
	int64_t start, end, offset;

	bf_buffer_init(&log, test_host(), 1 << 20);
	add_batch(&log, base, BF_ENTRY_MAX);
	put_segment(dir, base, &log);
	build_file(dir, base, "index", index, sizeof index);
	build_file(dir, base, "timeindex", times, sizeof times);
	EXPECT_EQ(walked(dir, BF_ENTRY_MAX, false), 3);
	REQUIRE_OK(bf_log_dir_open(test_arena(), dir, NULL, &d, &test_err));
	REQUIRE_OK(bf_log_dir_bounds(d, &start, &end, &test_err));
	EXPECT_EQ(start, base);
	EXPECT_EQ(end, INT64_MAX);
	REQUIRE_OK(bf_log_dir_offset_for_time(d, 3000, &offset, &test_err));
	EXPECT_EQ(offset, INT64_MAX);
	REQUIRE_OK(bf_log_dir_offset_for_time(d, 900, &offset, &test_err));
	EXPECT_EQ(offset, base);
	bf_buffer_free(&log);
}
