/* The ledger writer against a model, and against damage and faults. */
#include "unit/lib/runner.h"

#include <stdlib.h>

#include "unit/lib/host_posix.h"
#include "unit/test_log_model.h"

/* What a writer that died may leave after the acknowledged end. */
static void
litter(const Model *m)
{
	BfLedgerEnd end = model_end(m);
	uint8_t junk[3000];

	for (size_t i = 0; i < sizeof junk; i++)
		junk[i] = (uint8_t) test_random();
	write_at(segment_path(m, end.segment, "log"), end.position, junk,
			 1 + test_random_below(sizeof junk - 1));
	if (test_random_below(2) == 0)
		for (int64_t k = 1; k < 4; k++)
		{
			write_at(segment_path(m, end.entry + 7 * k, "log"), 0, junk, test_random_below(500));
			write_at(segment_path(m, end.entry + 7 * k, "index"), 0, junk, test_random_below(500));
		}
}

TEST(writer_random_sequences_match_a_model)
{
	for (int round = 0; round < 12; round++)
	{
		char name[20];
		Model m;
		BfArena *a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
		BfLedgerWriter *w;
		int acked = 0;

		snprintf(name, sizeof name, "r%d", round);
		model_init(&m, name, 9000 + (int64_t) test_random_below(60000));
		REQUIRE_OK(bf_ledger_writer_open(a, m.dir, model_end(&m), &m.options, &w, &test_err));
		for (int op = 0; op < 150 && !test_failed(); op++)
		{
			unsigned what = (unsigned) test_random_below(20);

			if (what < 13)
				REQUIRE_OK(model_append(&m, w, 1 + (int32_t) test_random_below(30),
										test_random_below(4) == 0 ? 1500 : 60));
			else if (what < 15 && m.n_ends - 1 > acked)
			{
				m.n_ends -= (int) test_random_below((uint64_t) (m.n_ends - acked));
				REQUIRE_OK(bf_ledger_writer_rewind(w, model_end(&m), &test_err));
			}
			else if (what < 17)
			{
				REQUIRE_OK(bf_ledger_writer_sync(w, &test_err));
				acked = m.n_ends - 1;
				model_check_indexes(&m, false);
			}
			else
			{
				bool closed = what == 19;

				if (closed)
				{
					REQUIRE_OK(bf_ledger_writer_close(w, &test_err));
					acked = m.n_ends - 1;
					model_check_indexes(&m, true);
				}
				bf_arena_free(a);
				a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
				m.n_ends = acked + 1;
				if (what == 18)
					litter(&m);
				REQUIRE_OK(
					bf_ledger_writer_open(a, m.dir, model_end(&m), &m.options, &w, &test_err));
				REQUIRE_OK(bf_ledger_writer_sync(w, &test_err));
				model_check_indexes(&m, false);
			}
			if (op % 5 == 0 && !model_check(&m, NULL))
				break;
		}
		model_check(&m, NULL);
		bf_arena_free(a);
		if (test_failed())
			return;
	}
}

typedef struct Copy
{
	const char *from;
	const char *to;
} Copy;

static BfStatus
copy_file(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	static uint8_t bytes[1 << 20];
	const Copy *c = arg;
	char path[512];
	size_t n;

	(void) kind;
	(void) err;
	snprintf(path, sizeof path, "%s/%s", c->from, name);
	n = read_file(path, bytes, sizeof bytes);
	snprintf(path, sizeof path, "%s/%s", c->to, name);
	write_at(path, 0, bytes, n);
	return BF_OK;
}

/* New files, not old ones overwritten: some file systems flush those when they are closed. */
static void
copy_tree(const char *from, const char *to)
{
	const BfHost *host = test_host();
	Copy c = {from, to};

	test_remove_tree(to);
	REQUIRE_OK(host->mkdirs(host, to, &test_err));
	REQUIRE_OK(host->list(host, from, copy_file, &c, &test_err));
}

TEST(writer_opens_over_any_truncation)
{
	static const char *const suffixes[] = {"log", "index", "timeindex"};
	Model m, copy;
	BfLedgerEnd end;

	make_ledger(&m, "whole", 60, 300);
	end = model_end(&m);
	EXPECT(end.segment > 0);
	copy = m;
	copy.dir = bf_arena_printf(test_arena(), "%s/cut", test_dir());
	for (int k = 0; k < 3; k++)
	{
		uint8_t bytes[1 << 16];
		size_t size = read_file(segment_path(&m, end.segment, suffixes[k]), bytes, sizeof bytes);

		for (size_t n = 0; n <= size; n += k == 0 ? 97 : 1)
		{
			BfArena *a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
			BfLedgerWriter *w;
			BfStatus status;

			copy_tree(m.dir, copy.dir);
			REQUIRE(truncate(segment_path(&copy, end.segment, suffixes[k]), (off_t) n) == 0);
			/* Readers do without what is lost. */
			if (k > 0)
				model_check(&copy, NULL);
			status = bf_ledger_writer_open(a, copy.dir, end, &m.options, &w, &test_err);
			if (k == 0 && (int64_t) n < end.position)
				EXPECT_EQ(status, BF_ERR_CORRUPT);
			else
			{
				EXPECT_EQ(status, BF_OK);
				if (status == BF_OK)
					REQUIRE_OK(bf_ledger_writer_close(w, &test_err));
				model_check_indexes(&copy, true);
			}
			bf_arena_free(a);
			if (test_failed())
				return;
		}
	}
}

TEST(writer_and_readers_survive_damaged_indexes)
{
	static const char *const suffixes[] = {"index", "timeindex"};
	Model m, copy;

	make_ledger(&m, "whole", 80, 300);
	copy = m;
	copy.dir = bf_arena_printf(test_arena(), "%s/bad", test_dir());
	for (int round = 0; round < 60; round++)
	{
		BfArena *a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
		const char *path = segment_path(&copy, model_end(&m).segment, suffixes[round % 2]);
		BfLedgerWriter *w;
		uint8_t bytes[1 << 16];
		size_t size;

		copy_tree(m.dir, copy.dir);
		size = read_file(path, bytes, sizeof bytes);
		if (size > 0)
		{
			uint8_t byte = (uint8_t) test_random();

			write_at(path, (int64_t) test_random_below(size), &byte, 1);
		}
		model_check(&copy, NULL);
		REQUIRE_OK(bf_ledger_writer_open(a, copy.dir, model_end(&m), &m.options, &w, &test_err));
		REQUIRE_OK(bf_ledger_writer_close(w, &test_err));
		model_check(&copy, NULL);
		bf_arena_free(a);
		if (test_failed())
			return;
	}
}

/* Appends over a roll, then sync. The file system fails at its n-th call; whatever happened, the
 * ledger can be opened at the acknowledged end, and at the new one if sync said that it counts. */
static void
fault_round(const Model *base, TestFault kind, bool sticky, bool *fired)
{
	for (int64_t n = 1;; n++)
	{
		Model m = *base;
		TestHost h;
		BfArena *a;
		BfLedgerWriter *w = NULL;
		BfStatus status;
		bool retried = false;

		m.dir = bf_arena_printf(test_arena(), "%s/faulty", test_dir());
		m.ends = bf_arena_memdup(test_arena(), base->ends, sizeof *m.ends * ROWS_MAX);
		copy_tree(base->dir, m.dir);
		litter(&m);
		test_host_init(&h);
		test_fault_arm(&h, kind, n, sticky);
		a = bf_arena_new(&h.host, "writer", (size_t) 1 << 30);
		if (a == NULL)
			continue;
		status = bf_ledger_writer_open(a, m.dir, model_end(&m), &m.options, &w, &test_err);
		for (int i = 0; i < 7 && status == BF_OK; i++)
		{
			status = model_append(&m, w, 5, 400);
			/* The writer goes on after a fault that passes, unless it was a sync. */
			if (status != BF_OK && !sticky)
			{
				EXPECT_EQ(bf_ledger_writer_end(w).entry, model_end(&m).entry);
				retried = true;
				status = model_append(&m, w, 5, 400);
				EXPECT(status == BF_OK || (kind == TEST_FAULT_WRITE &&
										   strstr(test_err.text, "make bytes durable") != NULL));
			}
		}
		if (status == BF_OK)
			status = bf_ledger_writer_sync(w, &test_err);
		*fired = test_fault_fired(&h);
		/* An index that can't be read is rebuilt. */
		if (*fired && !retried && kind != TEST_FAULT_READ)
			EXPECT(status != BF_OK);
		bf_arena_free(a);
		EXPECT_EQ(h.live_allocs, 0);
		EXPECT_EQ(h.open_files, 0);
		EXPECT_EQ(h.bad_frees, 0);
		if (status != BF_OK)
			m.n_ends = base->n_ends;
		model_check(&m, NULL);
		a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
		REQUIRE_OK(bf_ledger_writer_open(a, m.dir, model_end(&m), &m.options, &w, &test_err));
		REQUIRE_OK(bf_ledger_writer_close(w, &test_err));
		bf_arena_free(a);
		model_check_indexes(&m, true);
		model_check(&m, NULL);
		if (!*fired || test_failed())
			return;
	}
}

TEST(writer_faults_leave_before_or_after)
{
	static const TestFault kinds[] = {TEST_FAULT_WRITE, TEST_FAULT_READ, TEST_FAULT_ALLOC,
									  TEST_FAULT_CANCEL};
	Model m;
	bool fired;

	make_ledger(&m, "whole", 30, 200);
	for (int k = 0; k < 4; k++)
		for (int sticky = 0; sticky < 2; sticky++)
		{
			fault_round(&m, kinds[k], sticky != 0, &fired);
			EXPECT(!fired);
			if (test_failed())
				return;
		}
}

TEST(writer_refuses_ends_that_are_none)
{
	Model m;
	BfLedgerEnd good, bad[5];

	make_ledger(&m, "whole", 30, 300);
	good = model_end(&m);
	for (int i = 0; i < 5; i++)
		bad[i] = good;
	bad[0].entry--;
	bad[1].position--;
	bad[2].position++;
	bad[3].segment++;
	bad[4] = (BfLedgerEnd){good.entry, good.segment, 0};
	for (int i = 0; i < 5; i++)
	{
		BfLedgerWriter *w;

		EXPECT_FAIL(bf_ledger_writer_open(test_arena(), m.dir, bad[i], &m.options, &w, &test_err),
					BF_ERR_CORRUPT, -1);
		model_check(&m, NULL);
	}
}

TEST(writer_codecs_and_large_rows)
{
	static const BfCodec codecs[] = {BF_CODEC_NONE, BF_CODEC_GZIP, BF_CODEC_SNAPPY,
									 BF_CODEC_LZ4_FRAME, BF_CODEC_ZSTD};

	for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
	{
		char name[20];
		Model m;
		BfLedgerWriter *w;

		snprintf(name, sizeof name, "c%zu", i);
		model_init(&m, name, 0);
		m.options.codec = codecs[i];
		REQUIRE_OK(
			bf_ledger_writer_open(test_arena(), m.dir, model_end(&m), &m.options, &w, &test_err));
		for (int k = 0; k < 20; k++)
			REQUIRE_OK(
				model_append(&m, w, 1 + (int32_t) test_random_below(60), k % 3 == 0 ? 1000 : 20));
		REQUIRE_OK(bf_ledger_writer_sync(w, &test_err));
		model_check(&m, NULL);
	}
}

/* Entries that name a batch further on, by a wrong position or a wrong offset. */
TEST(writer_index_that_points_too_far_is_not_believed)
{
	Model m;
	const char *path;
	uint8_t bytes[1 << 12];
	size_t size;

	make_ledger_in(&m, "ledger", 25, 900, 1 << 20);
	path = segment_path(&m, 0, "index");
	size = read_file(path, bytes, sizeof bytes);
	REQUIRE(size >= 16 && size < sizeof bytes);
	for (size_t i = 0; i + 8 < size; i += 8)
		for (int k = 0; k < 2; k++)
		{
			uint8_t entry[8];

			memcpy(entry, bytes + i, 8);
			if (k == 0)
				memcpy(entry + 4, bytes + i + 12, 4);
			else
				bf_store32be(entry, bf_load32be(entry) - 1);
			write_at(path, (int64_t) i, entry, 8);
			if (k == 0)
				REQUIRE(truncate(path, (off_t) i + 8) == 0);
			for (int64_t e = 0; e < model_end(&m).entry; e++)
			{
				BfArena *a = bf_arena_new(test_host(), "look-up", (size_t) 1 << 30);
				BfRange range = {e, e};
				BfRangeSet set = {1, &range};
				BfLogDir *d;
				BfLogWalk *w;
				BfBatchHeader h;
				const uint8_t *batch;
				const char *file;
				int64_t position;

				REQUIRE_OK(bf_log_dir_open(a, m.dir, NULL, &d, &test_err));
				REQUIRE_OK(bf_log_walk_new(a, d, &set, true, &w, &test_err));
				REQUIRE_OK(bf_log_walk_next(w, &h, &batch, &position, &file, &test_err));
				EXPECT(batch != NULL && h.base_offset <= e && h.last_offset >= e);
				bf_arena_free(a);
			}
			write_at(path, 0, bytes, size);
		}
}
