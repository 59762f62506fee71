/*
 * Readers of acknowledged entries while another process appends, aborts, cuts and rolls. What a
 * reader asks for was acknowledged, so it must always be there, whatever stands behind it.
 */
#include "unit/lib/runner.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/writer.h"

#define TRANSACTIONS 120

typedef struct Shared
{
	_Atomic int64_t end; /* acknowledged entries */
	_Atomic bool done;
} Shared;

/* A row's bytes follow from its entry number, so that any process can check them. */
static uint32_t
row_of(int64_t entry, uint8_t *out)
{
	uint32_t len = (uint32_t) ((uint64_t) entry * 2654435761u % 700);

	memset(out, (int) (entry * 31 & 0xff), len);
	return len;
}

static void
write_transactions(const char *dir, Shared *shared)
{
	static uint8_t bytes[64][700];
	BfLedgerOptions options = {.codec = BF_CODEC_NONE, .segment_bytes_max = 40000};
	BfLedgerEnd end = {0, 0, 0};
	BfError err;

	for (int t = 0; t < TRANSACTIONS; t++)
	{
		BfArena *a = bf_arena_new(test_host(), "writer", (size_t) 1 << 30);
		int batches = 1 + (int) test_random_below(8);
		BfLedgerWriter *w;

		if (bf_ledger_writer_open(a, dir, end, &options, &w, &err) != BF_OK)
			_exit(1);
		for (int b = 0; b < batches; b++)
		{
			BfView values[64];
			int32_t n = 1 + (int32_t) test_random_below(40);
			/* What is rolled back later has other bytes. */
			int64_t lie = t % 2 == 0 ? 0 : 1;

			for (int32_t i = 0; i < n; i++)
			{
				int64_t entry = bf_ledger_writer_end(w).entry + i;

				values[i] = (BfView){bytes[i], row_of(entry + lie, bytes[i])};
			}
			if (bf_ledger_append(w, values, n, 1700000000000 + t, &err) != BF_OK)
				_exit(2);
		}
		if (t % 2 == 0)
		{
			/* No sync: this test is about what is seen, not about what survives. */
			end = bf_ledger_writer_end(w);
			atomic_store(&shared->end, end.entry);
		}
		else if (t % 4 == 1 && bf_ledger_writer_rewind(w, end, &err) != BF_OK)
			_exit(3);
		bf_arena_free(a);
	}
	atomic_store(&shared->done, true);
	_exit(0);
}

static void
read_range(const char *dir, BfRange range)
{
	BfArena *a = bf_arena_new(test_host(), "reader", (size_t) 1 << 30);
	BfRangeSet set = {1, &range};
	BfLogDir *d;
	BfLogWalk *w;
	BfCodecContext *ctx;
	BfBuffer *scratch;
	int64_t next = range.first;
	uint8_t want[700];

	REQUIRE_OK(bf_codec_context_new(a, &ctx, &test_err));
	REQUIRE_OK(bf_buffer_new(a, 1 << 24, &scratch, &test_err));
	REQUIRE_OK(bf_log_dir_open(a, dir, NULL, &d, &test_err));
	REQUIRE_OK(bf_log_walk_new(a, d, &set, true, &w, &test_err));
	for (;;)
	{
		BfBatchHeader h;
		const uint8_t *batch;
		const char *path;
		int64_t position;
		BfRecordIter it;
		BfRecord r;
		bool more;

		REQUIRE_OK(bf_log_walk_next(w, &h, &batch, &position, &path, &test_err));
		if (batch == NULL)
			break;
		REQUIRE_OK(bf_records_begin(ctx, &h, batch, position, scratch, &it, &test_err));
		for (;;)
		{
			REQUIRE_OK(bf_records_next(&it, &r, &more, &test_err));
			if (!more)
				break;
			if (r.offset < range.first || r.offset > range.last)
				continue;
			REQUIRE(r.offset == next++);
			REQUIRE(r.value.len == row_of(r.offset, want));
			REQUIRE(memcmp(r.value.ptr, want, r.value.len) == 0);
		}
	}
	EXPECT_EQ(next, range.last + 1);
	bf_arena_free(a);
}

TEST(race_readers_see_what_was_acknowledged)
{
	const char *dir = bf_arena_printf(test_arena(), "%s/ledger", test_dir());
	Shared *shared =
		mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int status;

	REQUIRE(shared != MAP_FAILED);
	child = fork();
	REQUIRE(child >= 0);
	if (child == 0)
		write_transactions(dir, shared);
	while (!atomic_load(&shared->done) && !test_failed())
	{
		int64_t end = atomic_load(&shared->end);
		BfRange range;

		if (end == 0)
		{
			if (waitpid(child, &status, WNOHANG) == child)
				break;
			continue;
		}
		/* Mostly the newest entries, where everything moves. */
		range.first = (int64_t) test_random_below((uint64_t) end);
		if (test_random_below(4) > 0)
			range.first = end - 1 - (int64_t) test_random_below((uint64_t) (end < 50 ? end : 50));
		range.last = test_random_below(2) == 0 ? end - 1 : range.first;
		read_range(dir, range);
	}
	waitpid(child, &status, 0);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	if (!test_failed())
		read_range(dir, (BfRange){0, atomic_load(&shared->end) - 1});
	munmap(shared, sizeof *shared);
}
