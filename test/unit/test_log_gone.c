/*
 * What of a damaged ledger is gone: all that is left can be read and is what was written, and what
 * is called gone can't be.
 */
#include "unit/test_log_model.h"

#include "log/gone.h"
#include "log/offload.h"
#include "unit/lib/host_posix.h"

#define LEDGER_ROWS 3000
#define OFFLOAD_PATH test_path("1.bfo")

static void
fill(Model *m, const char *name, int64_t segment_bytes)
{
	BfLedgerWriter *w;

	model_init(m, name, segment_bytes);
	REQUIRE_OK(
		bf_ledger_writer_open(test_arena(), m->dir, model_end(m), &m->options, &w, &test_err));
	while (model_end(m).entry < LEDGER_ROWS)
		REQUIRE_OK(model_append(m, w, 1 + (int32_t) test_random_below(12), 60));
	REQUIRE_OK(bf_ledger_writer_close(w, &test_err));
}

/* Entries of the ledger that can be read one by one, in bits; their bytes are those of the model.
 */
static bool
readable(const Model *m, bool offload, int64_t first, int64_t last)
{
	BfArena *a = bf_arena_new(test_host(), "readable", (size_t) 1 << 30);
	BfRange range = {first, last};
	BfRangeSet set = {1, &range};
	BfOffloadFile *f;
	BfOffloadWalk *ow;
	BfLogDir *d;
	BfLogWalk *w;
	const uint8_t *batch = NULL;
	BfBatchHeader h;
	const char *path;
	int64_t position;
	int64_t next = -1;
	BfStatus status;

	if (offload)
	{
		status = bf_offload_open(a, OFFLOAD_PATH, NULL, &f, &test_err);
		if (status == BF_OK)
			status = bf_offload_walk_new(a, f, &set, &ow, &test_err);
	}
	else
	{
		status = bf_log_dir_open(a, m->dir, NULL, &d, &test_err);
		if (status == BF_OK)
			status = bf_log_walk_new(a, d, &set, true, &w, &test_err);
	}
	while (status == BF_OK)
	{
		status = offload ? bf_offload_walk_next(ow, &h, &batch, &position, &path, &test_err)
						 : bf_log_walk_next(w, &h, &batch, &position, &path, &test_err);
		if (status != BF_OK || batch == NULL)
			break;
		EXPECT(next < 0 ? h.base_offset <= first : h.base_offset == next);
		next = h.last_offset + 1;
	}
	bf_arena_free(a);
	return status == BF_OK && next > last;
}

/* The list is right for the files as they are. */
static void
check_list(const Model *m, bool offload, const BfGoneList *gone)
{
	int64_t next = 0;

	for (int32_t i = 0; i <= gone->n && !test_failed(); i++)
	{
		int64_t first = i < gone->n ? gone->items[i].entries.first : model_end(m).entry;

		EXPECT(first >= next);
		if (first > next)
			EXPECT(readable(m, offload, next, first - 1));
		if (i == gone->n)
			break;
		EXPECT(gone->items[i].why[0] != '\0');
		EXPECT(!readable(m, offload, first, gone->items[i].entries.last));
		EXPECT(!readable(m, offload, first, first));
		next = gone->items[i].entries.last + 1;
	}
}

static void
damage(const char *path)
{
	uint8_t junk[300];
	size_t n = 1 + test_random_below(sizeof junk);
	int64_t size;
	int fd = open(path, O_RDWR);

	REQUIRE(fd >= 0);
	size = lseek(fd, 0, SEEK_END);
	for (size_t i = 0; i < n; i++)
		junk[i] = test_random_below(2) == 0 ? 0 : (uint8_t) test_random();
	switch (size > 0 ? test_random_below(4) : 3)
	{
		case 0: REQUIRE(ftruncate(fd, (int64_t) test_random_below((uint64_t) size)) == 0); break;
		case 1: REQUIRE(unlink(path) == 0); break;
		default:
			if (size > 0)
				REQUIRE(pwrite(fd, junk, n, (int64_t) test_random_below((uint64_t) size)) > 0);
	}
	close(fd);
}

static const char *
any_file(const Model *m)
{
	static const char *const suffixes[] = {"log", "log", "log", "index", "timeindex"};
	BfLogDir *d;

	if (bf_log_dir_open(test_arena(), m->dir, NULL, &d, &test_err) != BF_OK ||
		bf_log_dir_n_segments(d) == 0)
		return NULL;
	return segment_path(
		m,
		bf_log_dir_segment(d, (int32_t) test_random_below((uint64_t) bf_log_dir_n_segments(d)))
			->base_offset,
		suffixes[test_random_below(5)]);
}

TEST(log_gone_of_a_directory)
{
	for (int round = 0; round < 60 && !test_failed(); round++)
	{
		char name[32];
		BfGoneList gone;
		Model m;

		snprintf(name, sizeof name, "ledger%d", round);
		fill(&m, name, round % 2 == 0 ? 20000 : 1 << 20);
		for (uint64_t n = test_random_below(4); n > 0; n--)
		{
			const char *path = any_file(&m);

			if (path != NULL && access(path, F_OK) == 0)
				damage(path);
		}
		REQUIRE_OK(bf_log_gone(test_arena(), m.dir, m.ends + 1, m.n_ends - 1, &gone, &test_err));
		check_list(&m, false, &gone);
	}
}

/* One damaged batch costs what stands before the next entry of the index, not all that follows. */
TEST(log_gone_is_little)
{
	uint8_t byte = 0xff;
	BfGoneList gone;
	Model m;

	fill(&m, "little", 1 << 20);
	write_at(segment_path(&m, 0, "log"), 20000, &byte, 1);
	REQUIRE_OK(bf_log_gone(test_arena(), m.dir, m.ends + 1, m.n_ends - 1, &gone, &test_err));
	EXPECT_EQ(gone.n, 1);
	EXPECT(gone.items[0].entries.last - gone.items[0].entries.first < 400);
	check_list(&m, false, &gone);
}

TEST(log_gone_of_all)
{
	BfLedgerEnd end = {1000, 0, 5000};
	BfGoneList gone;

	REQUIRE_OK(bf_log_gone(test_arena(), test_path("nowhere"), &end, 1, &gone, &test_err));
	REQUIRE(gone.n == 1);
	EXPECT_EQ(gone.items[0].entries.first, 0);
	EXPECT_EQ(gone.items[0].entries.last, 999);
	REQUIRE_OK(bf_offload_gone(test_arena(), test_path("nowhere"), 1000, &gone, &test_err));
	REQUIRE(gone.n == 1);
	EXPECT_EQ(gone.items[0].entries.last, 999);
}

TEST(log_gone_at_the_end_of_an_offload_file)
{
	BfGoneList gone;
	Model m;
	int64_t n;

	fill(&m, "short", 1 << 20);
	n = m.ends[m.n_ends / 2].entry;
	REQUIRE_OK(bf_offload_write(test_arena(), m.dir, NULL, n, "\"string\"", OFFLOAD_PATH, NULL,
								&test_err));
	REQUIRE_OK(bf_offload_gone(test_arena(), OFFLOAD_PATH, n + 50, &gone, &test_err));
	REQUIRE(gone.n == 1);
	EXPECT_EQ(gone.items[0].entries.first, n);
	EXPECT_EQ(gone.items[0].entries.last, n + 49);
}

/* A copy that has the rows of a transaction that was rolled back where others were acknowledged. */
TEST(log_gone_where_ends_disagree)
{
	BfGoneList gone;
	Model m;
	int at;

	fill(&m, "others", 20000);
	at = m.n_ends / 2;
	m.ends[at].position++;
	REQUIRE_OK(bf_log_gone(test_arena(), m.dir, m.ends + 1, m.n_ends - 1, &gone, &test_err));
	REQUIRE(gone.n == 1);
	EXPECT_EQ(gone.items[0].entries.first, m.ends[at - 1].entry);
	EXPECT_EQ(gone.items[0].entries.last, model_end(&m).entry - 1);
	/* An end inside of a batch, and only a few ends known. */
	m.ends[at].position--;
	m.ends[1] = m.ends[at];
	m.ends[2] = m.ends[at + 5];
	m.ends[2].entry = m.ends[at + 5].entry + 1;
	while (m.ends[at + 5].entry + 1 >= m.ends[at + 6].entry)
		m.ends[2].entry = m.ends[++at + 5].entry + 1;
	REQUIRE_OK(bf_log_gone(test_arena(), m.dir, m.ends + 1, 2, &gone, &test_err));
	REQUIRE(gone.n == 1);
	EXPECT_EQ(gone.items[0].entries.first, m.ends[1].entry);
	EXPECT_EQ(gone.items[0].entries.last, m.ends[2].entry - 1);
}

/* What may be mended is no loss: a call that fails is an error, or what it reads is not needed. */
/* The last batch before the file ends may be of a transaction that was rolled back; where the file
 * goes on as it did it is not. */
TEST(log_gone_where_the_file_ends_early)
{
	BfLedgerEnd ends[2];
	BfGoneList gone;
	uint8_t byte = 0xff;
	Model m;
	int last, k;

	fill(&m, "cut", 1 << 20);
	last = m.n_ends - 1;
	k = m.n_ends / 2;
	ends[0] = m.ends[k];
	ends[1] = m.ends[last];
	write_at(segment_path(&m, 0, "log"), m.ends[last].position - 1, &byte, 1);
	REQUIRE_OK(bf_log_gone(test_arena(), m.dir, ends, 2, &gone, &test_err));
	REQUIRE(gone.n == 1);
	EXPECT_EQ(gone.items[0].entries.first, m.ends[last - 1].entry);
	REQUIRE(truncate(segment_path(&m, 0, "log"), m.ends[k + 3].position) == 0);
	REQUIRE_OK(bf_log_gone(test_arena(), m.dir, ends, 2, &gone, &test_err));
	REQUIRE(gone.n == 1);
	EXPECT_EQ(gone.items[0].entries.first, m.ends[k + 3].entry);
	REQUIRE(truncate(segment_path(&m, 0, "log"), m.ends[k + 1].position) == 0);
	REQUIRE_OK(bf_log_gone(test_arena(), m.dir, ends, 2, &gone, &test_err));
	REQUIRE(gone.n == 1);
	EXPECT_EQ(gone.items[0].entries.first, m.ends[k].entry);
	EXPECT_EQ(gone.items[0].entries.last, m.ends[last].entry - 1);
	/* Where it ends at a place that was acknowledged nothing more is gone. */
	ends[0] = m.ends[k + 1];
	REQUIRE_OK(bf_log_gone(test_arena(), m.dir, ends, 2, &gone, &test_err));
	REQUIRE(gone.n == 1);
	EXPECT_EQ(gone.items[0].entries.first, m.ends[k + 1].entry);
}

TEST(log_gone_is_not_what_cannot_be_looked_at)
{
	static const TestFault kinds[] = {TEST_FAULT_READ, TEST_FAULT_ALLOC, TEST_FAULT_CANCEL};
	TestHost h;
	Model m;

	fill(&m, "closed", 20000);
	for (int k = 0; k < 3; k++)
	{
		int64_t n = 0;

		test_host_init(&h);
		do
		{
			BfArena *a = bf_arena_new(&h.host, "gone", (size_t) 1 << 30);
			BfGoneList gone;
			BfStatus status;

			test_fault_arm(&h, kinds[k], ++n, false);
			status = bf_log_gone(a, m.dir, m.ends + 1, m.n_ends - 1, &gone, &test_err);
			EXPECT(status != BF_OK || gone.n == 0);
			bf_arena_free(a);
		} while (test_fault_fired(&h) && !test_failed());
		EXPECT(n > 5);
		EXPECT_EQ(h.live_allocs, 0);
	}
}

TEST(log_gone_of_an_offload_file)
{
	for (int round = 0; round < 40 && !test_failed(); round++)
	{
		char name[32];
		BfGoneList gone;
		Model m;

		snprintf(name, sizeof name, "ledger%d", round);
		fill(&m, name, 1 << 20);
		(void) unlink(OFFLOAD_PATH);
		REQUIRE_OK(bf_offload_write(test_arena(), m.dir, NULL, model_end(&m).entry, "\"string\"",
									OFFLOAD_PATH, NULL, &test_err));
		for (uint64_t n = test_random_below(3); n > 0 && access(OFFLOAD_PATH, F_OK) == 0; n--)
			damage(OFFLOAD_PATH);
		REQUIRE_OK(
			bf_offload_gone(test_arena(), OFFLOAD_PATH, model_end(&m).entry, &gone, &test_err));
		check_list(&m, true, &gone);
	}
}
