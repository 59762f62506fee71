/* Reading partition directories of a real broker. */
#include "unit/lib/runner.h"

#include <stdlib.h>

#include "io/publish.h"
#include "log/segment.h"

static const char *const partitions[] = {
	"stopped/big-index-0", "stopped/c-gzip-0",	"stopped/c-none-0",	  "stopped/c-snappy-0",
	"stopped/c-zstd-0",	   "stopped/compact-0", "stopped/disorder-0", "stopped/empty-0",
	"stopped/many-0",	   "stopped/many-1",	"stopped/retained-0", "stopped/tiny-0",
	"stopped/txn-0",	   "live/c-zstd-0",		"live/compact-0",	  "live/txn-0",
};

#define PARTITIONS (sizeof partitions / sizeof *partitions)

static const char *
kafka_path(BfArena *a, const char *name)
{
	return test_corpus() != NULL ? bf_arena_printf(a, "%s/logs/%s", test_corpus(), name) : NULL;
}

typedef struct Seen
{
	BfBatchHeader h;
	int64_t position;
	char path[256];
} Seen;

/* All batches that intersect [first, last]. */
static Seen *
walk_all(BfArena *a, const char *dir, int64_t first, int64_t last, BfLogCounters *counters,
		 int32_t *n)
{
	BfRange range = {first, last};
	BfRangeSet set = {1, &range};
	BfLogDir *d;
	BfLogWalk *w;
	Seen *seen = NULL;
	int32_t cap = 0;

	*n = 0;
	if (bf_log_dir_open(a, dir, counters, &d, &test_err) != BF_OK ||
		bf_log_walk_new(a, d, &set, false, &w, &test_err) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "%s: %s", dir, test_err.text);
		return NULL;
	}
	for (;;)
	{
		const uint8_t *batch;
		const char *path;
		Seen s;

		if (bf_log_walk_next(w, &s.h, &batch, &s.position, &path, &test_err) != BF_OK)
		{
			test_fail(__FILE__, __LINE__, "%s at %lld: %s", test_err.object,
					  (long long) test_err.offset, test_err.text);
			return seen;
		}
		if (batch == NULL)
			return seen;
		snprintf(s.path, sizeof s.path, "%s", strrchr(path, '/') + 1);
		if (*n == cap)
		{
			Seen *more = bf_arena_alloc_array(a, (size_t) cap * 2 + 16, sizeof *more);

			if (cap > 0)
				memcpy(more, seen, (size_t) cap * sizeof *more);
			seen = more;
			cap = cap * 2 + 16;
		}
		seen[(*n)++] = s;
	}
}

static long long
dump_field(const char *line, const char *name)
{
	const char *p = strstr(line, name);

	return p != NULL ? strtoll(p + strlen(name), NULL, 10) : -99;
}

/* Files of a directory are told by their names, and only files. */
TEST(segment_names)
{
	static const char *const others[] = {
		"0000000000000000007.log",			/* 19 digits */
		"000000000000000000008.log",		/* 21 */
		"99999999999999999999.log",			/* more than an offset is */
		"9223372036854775807.log",			/* as text, not as 20 digits */
		"0000000000000000000a.log",			/* a letter */
		"00000000000000000009.log.deleted", /* on its way out */
		"00000000000000000009.LOG",			"00000000000000000009.log/is-a-directory",
		"leader-epoch-checkpoint",
	};
	BfArena *a = test_arena();
	const char *path;
	BfLogDir *d;

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
	{
		path = bf_arena_printf(a, "%s/log/%s", test_dir(), others[i]);
		REQUIRE_OK(bf_publish_bytes(a, path, "", 0, &test_err));
	}
	path = bf_arena_printf(a, "%s/log/00000000000000000005.log", test_dir());
	REQUIRE_OK(bf_publish_bytes(a, path, "", 0, &test_err));
	REQUIRE_OK(bf_log_dir_open(a, bf_arena_printf(a, "%s/log", test_dir()), NULL, &d, &test_err));
	EXPECT_EQ(bf_log_dir_n_segments(d), 1);
	EXPECT_EQ(bf_log_dir_segment(d, 0)->base_offset, 5);
}

TEST(segment_batches_are_those_of_the_dump_tool)
{
	static const char *const names[] = {"c-gzip-0",	  "c-none-0", "c-snappy-0", "c-zstd-0",
										"compact-0",  "empty-0",  "disorder-0", "many-0",
										"retained-0", "tiny-0",	  "txn-0",		"many-1"};
	BfArena *a = test_arena();

	if (test_corpus() == NULL)
	{
		test_skip("no corpus");
		return;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
	{
		FILE *f = fopen(
			bf_arena_printf(a, "%s/logs/kafka-4.1/dump/%s.txt", test_corpus(), names[i]), "r");
		char line[1024];
		char file[256] = "";
		int32_t n, at = 0;
		Seen *seen =
			walk_all(a, bf_arena_printf(a, "%s/logs/kafka-4.1/stopped/%s", test_corpus(), names[i]),
					 0, BF_ENTRY_MAX, NULL, &n);

		REQUIRE(f != NULL);
		while (fgets(line, sizeof line, f) != NULL)
		{
			if (sscanf(line, "Dumping %255s", file) == 1 || strncmp(line, "baseOffset", 10) != 0)
				continue;
			if (at >= n)
			{
				at++;
				continue;
			}
			EXPECT_STR(seen[at].path, file);
			EXPECT_EQ(seen[at].h.base_offset, dump_field(line, "baseOffset: "));
			EXPECT_EQ(seen[at].h.last_offset, dump_field(line, "lastOffset: "));
			EXPECT_EQ(seen[at].h.n_records, dump_field(line, " count: "));
			EXPECT_EQ(seen[at].h.total_bytes, dump_field(line, " size: "));
			EXPECT_EQ(seen[at].h.crc, dump_field(line, " crc: "));
			EXPECT_EQ(seen[at].position, dump_field(line, " position: "));
			EXPECT_EQ(seen[at].h.producer_id, dump_field(line, " producerId: "));
			EXPECT_EQ(seen[at].h.transactional, strstr(line, "isTransactional: true") != NULL);
			EXPECT_EQ(seen[at].h.control, strstr(line, "isControl: true") != NULL);
			at++;
		}
		fclose(f);
		EXPECT_EQ(at, n);
	}
}

TEST(segment_point_lookups_find_the_batch_of_a_full_walk)
{
	BfArena *a = test_arena();

	if (test_corpus() == NULL)
	{
		test_skip("no corpus");
		return;
	}
	for (size_t i = 0; i < PARTITIONS; i++)
	{
		const char *dir = kafka_path(a, bf_arena_printf(a, "kafka-4.1/%s", partitions[i]));
		int32_t n_all, n;
		Seen *all = walk_all(a, dir, 0, BF_ENTRY_MAX, NULL, &n_all);
		int32_t step = n_all > 400 ? n_all / 97 : 1;

		for (int32_t b = 0; b < n_all; b += step)
		{
			BfArenaMark mark = bf_arena_mark(a);
			int64_t offsets[2] = {all[b].h.base_offset, all[b].h.last_offset};

			for (int k = 0; k < 2; k++)
			{
				BfLogCounters c;
				Seen *one;

				memset(&c, 0, sizeof c);
				one = walk_all(a, dir, offsets[k], offsets[k], &c, &n);
				REQUIRE(n == 1);
				EXPECT_EQ(one->h.base_offset, all[b].h.base_offset);
				EXPECT_EQ(one->position, all[b].position);
				EXPECT_STR(one->path, all[b].path);
				EXPECT_EQ(c.batches_read, 1);
				EXPECT(c.segments_read == 1);
				/* big-index has an entry per 128 bytes, the others about one per 4096 or batch. */
				EXPECT(c.batches_skipped <= 40);
			}
			bf_arena_rewind(a, mark);
		}
		walk_all(a, dir, n_all > 0 ? all[n_all - 1].h.last_offset + 1 : 0, BF_ENTRY_MAX, NULL, &n);
		EXPECT_EQ(n, 0);
	}
}

/* Earliest offset with timestamp >= t, by reading everything. */
static int64_t
linear_offset_for_time(BfLogDir *d, BfArena *a, int64_t t, int64_t end)
{
	BfRange range = {0, BF_ENTRY_MAX};
	BfRangeSet set = {1, &range};
	BfLogWalk *w;
	BfCodecContext *ctx;
	BfBuffer *scratch;

	if (bf_log_walk_new(a, d, &set, false, &w, &test_err) != BF_OK ||
		bf_codec_context_new(a, &ctx, &test_err) != BF_OK ||
		bf_buffer_new(a, BF_BATCH_BYTES_MAX, &scratch, &test_err) != BF_OK)
		return -1;
	for (;;)
	{
		BfBatchHeader h;
		const uint8_t *batch;
		const char *path;
		int64_t position;
		BfRecordIter it;
		BfRecord r;
		bool more = true;

		if (bf_log_walk_next(w, &h, &batch, &position, &path, &test_err) != BF_OK)
			return -1;
		if (batch == NULL)
			return end;
		if (bf_records_begin(ctx, &h, batch, position, scratch, &it, &test_err) != BF_OK)
			return -1;
		while (more)
		{
			if (bf_records_next(&it, &r, &more, &test_err) != BF_OK)
				return -1;
			if (more && r.timestamp >= t)
				return r.offset;
		}
	}
}

TEST(segment_time_lookups_match_a_full_scan)
{
	BfArena *a = test_arena();

	if (test_corpus() == NULL)
	{
		test_skip("no corpus");
		return;
	}
	for (size_t i = 0; i < PARTITIONS; i++)
	{
		const char *dir = kafka_path(a, bf_arena_printf(a, "kafka-4.1/%s", partitions[i]));
		int32_t n_all;
		Seen *all = walk_all(a, dir, 0, BF_ENTRY_MAX, NULL, &n_all);
		BfLogDir *d;
		int64_t start, end, offset;
		int32_t step = n_all > 40 ? n_all / 13 : 1;

		REQUIRE_OK(bf_log_dir_open(a, dir, NULL, &d, &test_err));
		REQUIRE_OK(bf_log_dir_bounds(d, &start, &end, &test_err));
		EXPECT_EQ(end, n_all > 0 ? all[n_all - 1].h.last_offset + 1 : start);
		for (int32_t b = 0; b < n_all; b += step)
			for (int64_t delta = -1; delta <= 1; delta++)
			{
				BfArenaMark mark = bf_arena_mark(a);
				int64_t t = all[b].h.max_timestamp + delta;

				REQUIRE_OK(bf_log_dir_offset_for_time(d, t, &offset, &test_err));
				EXPECT_EQ(offset, linear_offset_for_time(d, a, t, end));
				(void) mark;
			}
		REQUIRE_OK(bf_log_dir_offset_for_time(d, INT64_MIN, &offset, &test_err));
		EXPECT_EQ(offset, n_all > 0 ? linear_offset_for_time(d, a, INT64_MIN, end) : end);
		REQUIRE_OK(bf_log_dir_offset_for_time(d, INT64_MAX, &offset, &test_err));
		EXPECT_EQ(offset, end);
		if (test_failed())
			return;
	}
}

TEST(segment_transactions_of_a_broker)
{
	static const char *const dirs[] = {"kafka-4.1/stopped/txn-0", "kafka-4.1/live/txn-0"};
	BfArena *a = test_arena();

	if (test_corpus() == NULL)
	{
		test_skip("no corpus");
		return;
	}
	for (int i = 0; i < 2; i++)
	{
		BfLogDir *d;
		int64_t lso;
		int64_t first;
		BfOutcomes *o;
		int32_t n_all;
		Seen *all = walk_all(a, kafka_path(a, dirs[i]), 0, BF_ENTRY_MAX, NULL, &n_all);
		int64_t n[3] = {0, 0, 0};

		REQUIRE_OK(bf_log_dir_open(a, kafka_path(a, dirs[i]), NULL, &d, &test_err));
		REQUIRE_OK(bf_log_dir_stable_offset(d, &lso, &test_err));
		EXPECT_EQ(lso, 4540);
		REQUIRE_OK(bf_log_dir_open_before(d, 4540, &first, &test_err));
		EXPECT_EQ(first, INT64_MAX);
		REQUIRE_OK(bf_log_dir_open_before(d, 4541, &first, &test_err));
		EXPECT_EQ(first, 4540);
		REQUIRE_OK(bf_outcomes_new(a, d, &o, &test_err));
		for (int32_t k = 0; k < n_all; k++)
		{
			const BfBatchHeader *h = &all[k].h;
			BfOutcome outcome;

			if (!h->transactional || h->control)
				continue;
			REQUIRE_OK(bf_outcomes_of(o, h, &outcome, &test_err));
			n[outcome] += h->n_records;
		}
		EXPECT_EQ(n[BF_OUTCOME_ABORTED], 1300);
		EXPECT_EQ(n[BF_OUTCOME_COMMITTED], 2700);
		EXPECT_EQ(n[BF_OUTCOME_OPEN], 50);
	}
}

TEST(segment_old_formats_are_refused_by_name)
{
	static const char *const names[] = {"mixed-0",		"v0-gzip-0", "v0-none-0", "v0-snappy-0",
										"v1-compact-0", "v1-gzip-0", "v1-lz4-0",  "v1-none-0"};
	BfArena *a = test_arena();

	if (test_corpus() == NULL)
	{
		test_skip("no corpus");
		return;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
	{
		BfRange range = {0, BF_ENTRY_MAX};
		BfRangeSet set = {1, &range};
		BfLogDir *d;
		BfLogWalk *w;
		BfBatchHeader h;
		const uint8_t *batch;
		const char *path;
		int64_t position;
		const char *dir =
			bf_arena_printf(a, "%s/logs/kafka-2.8/stopped/%s", test_corpus(), names[i]);

		REQUIRE_OK(bf_log_dir_open(a, dir, NULL, &d, &test_err));
		REQUIRE_OK(bf_log_walk_new(a, d, &set, false, &w, &test_err));
		EXPECT_FAIL(bf_log_walk_next(w, &h, &batch, &position, &path, &test_err),
					BF_ERR_UNSUPPORTED, 0);
		EXPECT(strstr(test_err.text, names[i][0] == 'm' || names[i][1] == '0' ? "v0" : "v1") !=
			   NULL);
		EXPECT(strstr(test_err.object, names[i]) != NULL);
	}
}
