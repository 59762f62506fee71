/*
 * Power failures under the ledger writer and offload, on a disk that forgets what was not synced:
 * acknowledged entries are there, whatever was going on and whatever luck had written back.
 */
#include "unit/lib/runner.h"

#include <stdlib.h>

#include "log/offload.h"
#include "unit/lib/crash.h"
#include "unit/test_log_model.h"

/* What is under way when power fails; *acknowledged counts the ends that the caller was told of. */
typedef BfStatus (*Step)(Model *m, BfLedgerWriter *w, int *acknowledged);

/* Rows over several segments; a sync now and then acknowledges them, and one follows a rewind, as
 * in a transaction with a savepoint. */
static BfStatus
insert_rows(Model *m, BfLedgerWriter *w, int *acknowledged)
{
	for (int transaction = 0; transaction < 4; transaction++)
	{
		for (int i = 0; i < 4; i++)
			BF_TRY(model_append(m, w, 5, 300));
		if (transaction == 2)
		{
			m->n_ends -= 2;
			BF_TRY(bf_ledger_writer_rewind(w, model_end(m), &test_err));
			BF_TRY(model_append(m, w, 3, 200));
		}
		BF_TRY(bf_ledger_writer_sync(w, &test_err));
		*acknowledged = m->n_ends;
	}
	return BF_OK;
}

static BfStatus
insert_and_close(Model *m, BfLedgerWriter *w, int *acknowledged)
{
	for (int i = 0; i < 9; i++)
		BF_TRY(model_append(m, w, 5, 300));
	BF_TRY(bf_ledger_writer_close(w, &test_err));
	*acknowledged = m->n_ends;
	return BF_OK;
}

/* After the failure: all segments but the last are complete with their indexes (a roll syncs
 * them), and a writer takes the ledger up again where it was acknowledged. */
static void
check_recovered(Model *m)
{
	BfArena *a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
	BfLedgerWriter *w;

	if (model_check(m, NULL))
	{
		REQUIRE_OK(bf_ledger_writer_open(a, m->dir, model_end(m), &m->options, &w, &test_err));
		REQUIRE_OK(bf_ledger_writer_close(w, &test_err));
		model_check_indexes(m, true);
		model_check(m, NULL);
	}
	bf_arena_free(a);
}

/* Power fails at the n-th write, for every n; true when the step got to its end without. */
static bool
fail_at(Step step, int64_t n, TestCrashMode mode)
{
	Model m;
	TestHost h;
	TestCrash c;
	BfArena *a;
	BfLedgerWriter *w;
	bool fired;
	int acknowledged = 1;

	model_init(&m, "ledger", 7000);
	test_host_init(&h);
	test_crash_init(&c, &h);
	c.random_state = (uint64_t) n;
	test_fault_arm(&h, TEST_FAULT_WRITE, n, true);
	a = bf_arena_new(&h.host, "writer", (size_t) 1 << 30);
	if (bf_ledger_writer_open(a, m.dir, model_end(&m), &m.options, &w, &test_err) == BF_OK)
		(void) step(&m, w, &acknowledged);
	fired = test_fault_fired(&h);
	bf_arena_free(a);
	test_crash(&c, mode);
	m.n_ends = acknowledged;
	if (acknowledged > 1)
		check_recovered(&m);
	EXPECT(fired || acknowledged > 1);
	test_remove_tree(m.dir);
	return !fired;
}

static void
fail_everywhere(Step step)
{
	for (int mode = 0; mode < TEST_CRASH_MODES; mode++)
	{
		int64_t n = 1;

		while (!fail_at(step, n, (TestCrashMode) mode) && !test_failed())
			REQUIRE(n++ < 1000);
	}
}

TEST(log_crash_keeps_acknowledged_entries)
{
	fail_everywhere(insert_rows);
}

TEST(log_crash_keeps_a_closed_ledger)
{
	fail_everywhere(insert_and_close);
}

/* A writer takes over where the one before left entries of an aborted transaction, in segments of
 * their own, and power fails while it cuts them off and goes on. The ledger that it found is
 * durable; true when it got to its end without a failure. */
static bool
fail_while_cutting(int64_t n, TestCrashMode mode)
{
	Model m;
	TestHost h;
	TestCrash c;
	BfArena *a;
	BfLedgerWriter *w;
	bool fired, synced = false;
	int acknowledged;

	make_ledger_in(&m, "ledger", 12, 300, 5000);
	acknowledged = m.n_ends / 2;
	EXPECT(m.ends[acknowledged - 1].segment < model_end(&m).segment);
	m.n_ends = acknowledged;
	test_host_init(&h);
	test_crash_init(&c, &h);
	c.random_state = (uint64_t) n;
	test_fault_arm(&h, TEST_FAULT_WRITE, n, true);
	a = bf_arena_new(&h.host, "writer", (size_t) 1 << 30);
	if (bf_ledger_writer_open(a, m.dir, model_end(&m), &m.options, &w, &test_err) == BF_OK &&
		model_append(&m, w, 2, 100) == BF_OK)
		synced = bf_ledger_writer_sync(w, &test_err) == BF_OK;
	fired = test_fault_fired(&h);
	bf_arena_free(a);
	test_crash(&c, mode);
	EXPECT(synced || fired);
	if (!synced)
		m.n_ends = acknowledged;
	check_recovered(&m);
	test_remove_tree(m.dir);
	return !fired;
}

TEST(log_crash_while_cutting)
{
	for (int mode = 0; mode < TEST_CRASH_MODES; mode++)
	{
		int64_t n = 1;

		while (!fail_while_cutting(n, (TestCrashMode) mode) && !test_failed())
			REQUIRE(n++ < 1000);
	}
}

/* An offload file is whole once the call said so; before that it is whole or absent. Large batches
 * are copied inside the kernel, small ones written. */
TEST(log_crash_offload_is_whole_or_absent)
{
	Model m;
	const char *path = test_path("out/1.bfo");

	make_ledger_in(&m, "ledger", 20, 30000, 1 << 20);
	for (int mode = 0; mode < TEST_CRASH_MODES; mode++)
		for (int64_t n = 1; n < 1000; n++)
		{
			TestHost h;
			TestCrash c;
			BfArena *a;
			BfOffloadFile *f;
			BfStatus written, opened;
			bool fired;

			test_host_init(&h);
			test_crash_init(&c, &h);
			c.random_state = (uint64_t) n;
			test_fault_arm(&h, TEST_FAULT_WRITE, n, true);
			a = bf_arena_new(&h.host, "offload", (size_t) 1 << 30);
			written = bf_offload_write(a, m.dir, NULL, model_end(&m).entry, "{\"type\":\"string\"}",
									   path, NULL, &test_err);
			bf_arena_free(a);
			fired = test_fault_fired(&h);
			test_crash(&c, (TestCrashMode) mode);
			a = bf_arena_new(test_host(), "look", (size_t) 1 << 30);
			opened = bf_offload_open(a, path, NULL, &f, &test_err);
			EXPECT(opened == BF_OK || (written != BF_OK && opened == BF_ERR_NOTFOUND));
			if (opened == BF_OK)
				EXPECT_EQ(bf_offload_info(f)->n_entries, model_end(&m).entry);
			bf_arena_free(a);
			test_remove_tree(test_path("out"));
			EXPECT_EQ(written, fired ? BF_ERR_IO : BF_OK);
			if (!fired || test_failed())
				break;
		}
}

static BfStatus
broken_sync(const BfHost *h, int file, BfError *err)
{
	(void) h;
	(void) file;
	return bf_error(err, BF_ERR_IO, "the disk is gone");
}

/* The pages of a failed sync may be lost and marked clean, so a later sync proves nothing. */
TEST(log_crash_failed_sync_is_final)
{
	Model m;
	TestHost h;
	BfArena *a;
	BfLedgerWriter *w;
	BfLedgerEnd before;

	model_init(&m, "ledger", 7000);
	test_host_init(&h);
	a = bf_arena_new(&h.host, "writer", (size_t) 1 << 30);
	REQUIRE_OK(bf_ledger_writer_open(a, m.dir, model_end(&m), &m.options, &w, &test_err));
	before = bf_ledger_writer_end(w);
	REQUIRE_OK(model_append(&m, w, 5, 300));
	h.host.sync = broken_sync;
	EXPECT_EQ(bf_ledger_writer_sync(w, &test_err), BF_ERR_IO);
	h.host.sync = test_host()->sync;
	EXPECT_EQ(model_append(&m, w, 5, 300), BF_ERR_IO);
	EXPECT_EQ(bf_ledger_writer_sync(w, &test_err), BF_ERR_IO);
	EXPECT_EQ(bf_ledger_writer_rewind(w, before, &test_err), BF_ERR_IO);
	EXPECT_EQ(bf_ledger_writer_close(w, &test_err), BF_ERR_IO);
	bf_arena_free(a);
}

/* ... and where it failed at the end of a segment, going back to before that does not help: earlier
 * rows of the transaction are in that segment. */
TEST(log_crash_failed_sync_of_a_segment_is_final)
{
	Model m;
	TestHost h;
	BfArena *a;
	BfLedgerWriter *w;
	BfLedgerEnd before;
	BfStatus status = BF_OK;

	model_init(&m, "ledger", 7000);
	test_host_init(&h);
	a = bf_arena_new(&h.host, "writer", (size_t) 1 << 30);
	REQUIRE_OK(bf_ledger_writer_open(a, m.dir, model_end(&m), &m.options, &w, &test_err));
	REQUIRE_OK(model_append(&m, w, 5, 300));
	before = bf_ledger_writer_end(w);
	h.host.sync = broken_sync;
	for (int i = 0; i < 20 && status == BF_OK; i++)
		status = model_append(&m, w, 5, 300);
	EXPECT_EQ(status, BF_ERR_IO);
	h.host.sync = test_host()->sync;
	EXPECT_EQ(bf_ledger_writer_rewind(w, before, &test_err), BF_ERR_IO);
	EXPECT_EQ(bf_ledger_writer_sync(w, &test_err), BF_ERR_IO);
	bf_arena_free(a);
}

/* Pages of the index files were written back, or not: the writer that takes the ledger up has both
 * indexes as they should be, though each entry that is left is right. */
TEST(log_crash_loses_index_pages)
{
	static const char *const suffixes[] = {"index", "timeindex"};
	static uint8_t bytes[1 << 16];
	Model m;

	make_ledger_in(&m, "ledger", 120, 2000, 1 << 30);
	for (int k = 0; k < 2 && !test_failed(); k++)
	{
		const char *path = segment_path(&m, 0, suffixes[k]);
		size_t entry = k == 0 ? 8 : 12;
		size_t size = read_file(path, bytes, sizeof bytes);

		REQUIRE(size / entry > 20);
		for (size_t n = 0; n < size; n += entry)
		{
			static const uint8_t zeros[1 << 16];

			/* The file's end is lost; or its length was written back, but not its pages. */
			REQUIRE(truncate(path, (off_t) n) == 0);
			check_recovered(&m);
			write_at(path, (int64_t) n, zeros, size - n);
			check_recovered(&m);
			if (test_failed())
				return;
		}
	}
}
