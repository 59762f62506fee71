/*
 * Ledgers whose last entries are kept elsewhere: walks over segments and tail, tails that are not
 * what they should be, and settling.
 */
#include "log/live.h"
#include "unit/lib/runner.h"

#define N_ENTRIES 600
#define TIME_0 INT64_C(1700000000000)

/* Rows of somebody's table: each has a few batches. */
typedef struct KeptRow
{
	int64_t first;
	int64_t end;
	BfBuffer *bytes;
} KeptRow;

typedef struct Kept
{
	KeptRow rows[N_ENTRIES];
	int n;
	int rows_at_once;
	int calls;
} Kept;

static char value_text[N_ENTRIES][32];

static BfView
value_of(int64_t entry)
{
	snprintf(value_text[entry], sizeof value_text[entry], "value %lld", (long long) entry);
	return (BfView){(const uint8_t *) value_text[entry], (uint32_t) strlen(value_text[entry])};
}

/* Times that stand still, step back, and leap. */
static int64_t
time_of(int64_t entry)
{
	return TIME_0 + entry / 7 * 1000 - entry % 5 * 100;
}

static BfStatus
read_kept(void *arg, int64_t first, int64_t last, BfBuffer *out, BfError *err)
{
	Kept *k = arg;
	int taken = 0;

	k->calls++;
	for (int i = 0; i < k->n && taken < k->rows_at_once && k->rows[i].first <= last; i++)
		if (k->rows[i].end > first)
		{
			BF_DATA(err, (int64_t) bf_load64be(k->rows[i].bytes->data) == k->rows[i].first, 0,
					"a row begins with another entry");
			BF_TRY(bf_buffer_append(out, k->rows[i].bytes->data, k->rows[i].bytes->len, err));
			taken++;
		}
	return BF_OK;
}

static BfStatus
put_batch(BfBuffer *out, BfCodecContext *codec, BfBuffer *raw, int64_t first, int32_t n)
{
	BfView values[N_ENTRIES];
	int64_t times[N_ENTRIES];

	for (int32_t i = 0; i < n; i++)
	{
		values[i] = value_of(first + i);
		times[i] = time_of(first + i);
	}
	return bf_batch_build_timed(codec, n > 20 ? BF_CODEC_ZSTD : BF_CODEC_NONE, 0, first, values,
								times, n, raw, out, &test_err);
}

/* Entries from `first` on in rows of random batches. */
static BfStatus
keep(Kept *k, int64_t first)
{
	BfArena *a = test_arena();
	BfCodecContext *codec;
	BfBuffer *raw;

	k->n = k->calls = 0;
	k->rows_at_once = 1 + (int) test_random_below(4);
	BF_TRY(bf_codec_context_new(a, &codec, &test_err));
	BF_TRY(bf_buffer_new(a, 1 << 24, &raw, &test_err));
	while (first < N_ENTRIES)
	{
		KeptRow *row = &k->rows[k->n++];

		row->first = first;
		BF_TRY(bf_buffer_new(a, 1 << 24, &row->bytes, &test_err));
		for (int batches = 1 + (int) test_random_below(3); batches > 0 && first < N_ENTRIES;
			 batches--)
		{
			int32_t n = 1 + (int32_t) test_random_below(40);

			if (n > N_ENTRIES - first)
				n = (int32_t) (N_ENTRIES - first);
			BF_TRY(put_batch(row->bytes, codec, raw, first, n));
			first += n;
		}
		row->end = first;
	}
	return BF_OK;
}

static BfStatus
open_writer(const char *dir, BfLedgerEnd end, BfLedgerWriter **w)
{
	const BfLedgerOptions options = {.codec = BF_CODEC_ZSTD};

	return bf_ledger_writer_open(test_arena(), dir, end, &options, w, &test_err);
}

/* A ledger whose first entries are in segments. */
static BfStatus
write_segments(const char *dir, int64_t n, BfLedgerWriter **w)
{
	BF_TRY(open_writer(dir, (BfLedgerEnd){0, 0, 0}, w));
	for (int64_t i = 0; i < n;)
	{
		BfView values[16];
		int64_t times[16];
		int32_t k = n - i < 16 ? (int32_t) (n - i) : 16;

		for (int32_t j = 0; j < k; j++)
		{
			values[j] = value_of(i + j);
			times[j] = time_of(i + j);
		}
		BF_TRY(bf_ledger_append_timed(*w, values, times, k, &test_err));
		i += k;
	}
	return bf_ledger_writer_sync(*w, &test_err);
}

typedef struct Seen
{
	bool entry[N_ENTRIES];
	int64_t n_batches;
	int64_t n;
} Seen;

/* All that the walk gives; every value and time must be the entry's. */
static BfStatus
walk(const char *dir, const BfLogTail *tail, const BfRangeSet *ranges, BfLogCounters *counters,
	 Seen *seen)
{
	BfArena *a = test_arena();
	BfCodecContext *codec;
	BfLiveWalk *w;
	BfBuffer *scratch;

	memset(seen, 0, sizeof *seen);
	BF_TRY(bf_codec_context_new(a, &codec, &test_err));
	BF_TRY(bf_buffer_new(a, 1 << 24, &scratch, &test_err));
	BF_TRY(bf_live_walk_new(a, dir, tail, ranges, counters, &w, &test_err));
	for (;;)
	{
		BfBatchHeader h;
		BfRecordIter it;
		const uint8_t *batch;
		const char *path;
		int64_t position;
		bool more = true;

		BF_TRY(bf_live_walk_next(w, &h, &batch, &position, &path, &test_err));
		if (batch == NULL)
			return BF_OK;
		EXPECT_EQ(bf_live_walk_in_tail(w), tail != NULL && h.base_offset >= tail->first);
		seen->n_batches++;
		BF_TRY(bf_records_begin(codec, &h, batch, position, scratch, &it, &test_err));
		for (BfRecord r; more;)
		{
			BF_TRY(bf_records_next(&it, &r, &more, &test_err));
			if (!more)
				break;
			EXPECT(r.value.len == value_of(r.offset).len &&
				   memcmp(r.value.ptr, value_of(r.offset).ptr, r.value.len) == 0);
			EXPECT_EQ(r.timestamp, time_of(r.offset));
			EXPECT(!seen->entry[r.offset]);
			seen->entry[r.offset] = true;
			seen->n++;
		}
	}
}

static bool
saw_all_of(const Seen *seen, const BfRangeSet *ranges)
{
	for (int64_t i = 0; i < N_ENTRIES; i++)
		if (bf_rangeset_contains(ranges, i) && !seen->entry[i])
			return false;
	return true;
}

static BfRangeSet
random_ranges(void)
{
	BfRange *r = bf_arena_alloc_array(test_arena(), 8, sizeof *r);
	int32_t n = 1 + (int32_t) test_random_below(8);
	BfRangeSet out = {0, NULL};

	for (int32_t i = 0; i < n; i++)
	{
		r[i].first = (int64_t) test_random_below(N_ENTRIES);
		r[i].last = r[i].first + (int64_t) test_random_below(60);
		if (r[i].last >= N_ENTRIES)
			r[i].last = N_ENTRIES - 1;
	}
	if (bf_rangeset_make(test_arena(), r, n, &out, &test_err) != BF_OK)
		out.n = 0;
	return out;
}

TEST(log_live_walk_over_files_and_tail)
{
	for (int round = 0; round < 40; round++)
	{
		const char *dir = bf_arena_printf(test_arena(), "%s/walk%d", test_dir(), round);
		int64_t in_files = (int64_t) test_random_below(N_ENTRIES + 1);
		Kept kept;
		const BfLogTail tail = {in_files, "the tail", read_kept, &kept};
		BfRangeSet ranges = random_ranges();
		BfLedgerWriter *w;
		Seen seen;

		REQUIRE_OK(write_segments(dir, in_files, &w));
		REQUIRE_OK(keep(&kept, in_files));
		REQUIRE_OK(walk(dir, &tail, &ranges, NULL, &seen));
		EXPECT(saw_all_of(&seen, &ranges));
	}
}

/* What is not wanted is not looked at. */
TEST(log_live_walk_reads_one_of_both)
{
	const char *dir = bf_arena_printf(test_arena(), "%s/one", test_dir());
	Kept kept;
	const BfLogTail tail = {300, "the tail", read_kept, &kept};
	BfRange low = {10, 299};
	BfRange high = {300, 599};
	BfRange last = {599, 599};
	BfLogCounters counters = {0};
	BfLedgerWriter *w;
	Seen seen;

	REQUIRE_OK(write_segments(dir, 300, &w));
	REQUIRE_OK(keep(&kept, 300));
	REQUIRE_OK(walk(dir, &tail, &(BfRangeSet){1, &low}, &counters, &seen));
	EXPECT_EQ(kept.calls, 0);
	EXPECT(counters.segments_read == 1 && saw_all_of(&seen, &(BfRangeSet){1, &low}));
	REQUIRE_OK(walk("/nonexistent", &tail, &(BfRangeSet){1, &high}, NULL, &seen));
	EXPECT(saw_all_of(&seen, &(BfRangeSet){1, &high}) && seen.n == 300);
	kept.calls = 0;
	REQUIRE_OK(walk("/nonexistent", &tail, &(BfRangeSet){1, &last}, NULL, &seen));
	EXPECT_EQ(kept.calls, 1);
	REQUIRE_OK(walk(dir, NULL, &(BfRangeSet){1, &low}, NULL, &seen));
	EXPECT_FAIL(walk(dir, NULL, &(BfRangeSet){1, &high}, NULL, &seen), BF_ERR_CORRUPT, -1);
}

/* Every flipped bit, every lost row and every piece that is cut off is an error. */
TEST(log_live_tail_is_checked)
{
	BfRange all = {0, N_ENTRIES - 1};
	const BfRangeSet ranges = {1, &all};
	Kept kept;
	const BfLogTail tail = {0, "the tail", read_kept, &kept};
	Seen seen;

	REQUIRE_OK(keep(&kept, 0));
	for (int round = 0; round < 300; round++)
	{
		KeptRow *row = &kept.rows[test_random_below((uint64_t) kept.n)];
		size_t at = test_random_below(row->bytes->len);
		uint8_t bit = (uint8_t) (1 << test_random_below(8));
		bool epoch;

		/* The leader epoch means nothing and is outside of the checksum. */
		row->bytes->data[at] ^= bit;
		epoch = walk("/nonexistent", &tail, &ranges, NULL, &seen) == BF_OK;
		EXPECT(!epoch || (seen.n == N_ENTRIES && saw_all_of(&seen, &ranges)));
		if (!epoch)
			EXPECT(test_err.code == BF_ERR_CORRUPT || test_err.code == BF_ERR_UNSUPPORTED);
		if (round % 2 == 0)
		{
			const BfRangeSet some = random_ranges();

			if (walk("/nonexistent", &tail, &some, NULL, &seen) == BF_OK)
				EXPECT(saw_all_of(&seen, &some));
		}
		row->bytes->data[at] ^= bit;
	}
	for (int round = 0; round < 50; round++)
	{
		KeptRow *row = &kept.rows[test_random_below((uint64_t) kept.n)];
		size_t len = row->bytes->len;

		row->bytes->len = test_random_below(len);
		EXPECT_FAIL(walk("/nonexistent", &tail, &ranges, NULL, &seen), BF_ERR_CORRUPT, -2);
		EXPECT_STR(test_err.object, "the tail");
		row->bytes->len = len;
	}
	kept.n--;
	EXPECT_FAIL(walk("/nonexistent", &tail, &ranges, NULL, &seen), BF_ERR_CORRUPT, -1);
	kept.n = 0;
	EXPECT_FAIL(walk("/nonexistent", &tail, &ranges, NULL, &seen), BF_ERR_CORRUPT, -1);
}

/* A row that nobody wants is not looked at, as one that is known to be damaged. */
TEST(log_live_tail_passes_over)
{
	BfRange parts[2];
	const BfRangeSet ranges = {2, parts};
	Kept kept;
	const BfLogTail tail = {0, "the tail", read_kept, &kept};
	Seen seen;

	REQUIRE_OK(keep(&kept, 0));
	REQUIRE(kept.n > 4);
	for (int i = 1; i < kept.n - 1; i++)
	{
		KeptRow *row = &kept.rows[i];

		/* With its first batch, where it has more. */
		int64_t n = bf_load32be(row->bytes->data + 23) + 1;
		int64_t wanted = row->first + n < row->end ? row->first + n : row->first;

		parts[0] = (BfRange){0, wanted - 1};
		parts[1] = (BfRange){row->end, N_ENTRIES - 1};
		row->bytes->data[row->bytes->len - 1] ^= 1;
		kept.rows_at_once = 1 + i % 3;
		REQUIRE_OK(walk("/nonexistent", &tail, &ranges, NULL, &seen));
		EXPECT(saw_all_of(&seen, &ranges));
		EXPECT_EQ(seen.n, N_ENTRIES - (row->end - wanted));
		row->bytes->data[row->bytes->len - 1] ^= 1;
	}
}

/* A first entry is under no checksum: a batch that says a wrong one is not taken for others. */
TEST(log_live_tail_batches_follow_each_other)
{
	BfRange some = {13, 15};
	Kept kept = {.n = 1, .rows_at_once = 1};
	const BfLogTail tail = {0, "the tail", read_kept, &kept};
	BfCodecContext *codec;
	BfBuffer *raw;
	size_t second;
	Seen seen;

	REQUIRE_OK(bf_codec_context_new(test_arena(), &codec, &test_err));
	REQUIRE_OK(bf_buffer_new(test_arena(), 1 << 24, &raw, &test_err));
	REQUIRE_OK(bf_buffer_new(test_arena(), 1 << 24, &kept.rows[0].bytes, &test_err));
	REQUIRE_OK(put_batch(kept.rows[0].bytes, codec, raw, 0, 10));
	second = kept.rows[0].bytes->len;
	REQUIRE_OK(put_batch(kept.rows[0].bytes, codec, raw, 10, 10));
	kept.rows[0].end = 20;
	REQUIRE_OK(walk("/nonexistent", &tail, &(BfRangeSet){1, &some}, NULL, &seen));
	bf_store64be(kept.rows[0].bytes->data + second, 12);
	EXPECT_FAIL(walk("/nonexistent", &tail, &(BfRangeSet){1, &some}, NULL, &seen), BF_ERR_CORRUPT,
				(int64_t) second);
}

static BfStatus
fail_to_read(void *arg, int64_t first, int64_t last, BfBuffer *out, BfError *err)
{
	(void) arg;
	(void) first;
	(void) last;
	(void) out;
	return bf_error(err, BF_ERR_HOST, "no");
}

TEST(log_live_tail_may_fail)
{
	BfRange all = {0, N_ENTRIES - 1};
	const BfLogTail tail = {0, "the tail", fail_to_read, NULL};
	Seen seen;

	EXPECT_FAIL(walk("/nonexistent", &tail, &(BfRangeSet){1, &all}, NULL, &seen), BF_ERR_HOST, -1);
}

/* Settled entries have their numbers, values and times, in fewer batches. */
TEST(log_settle_keeps_rows)
{
	BfRange all = {0, N_ENTRIES - 1};
	const BfRangeSet ranges = {1, &all};

	for (int round = 0; round < 20; round++)
	{
		const char *dir = bf_arena_printf(test_arena(), "%s/settle%d", test_dir(), round);
		bool merge = round % 2 == 0;
		int64_t in_files = (int64_t) test_random_below(N_ENTRIES);
		Kept kept;
		const BfLogTail tail = {in_files, "the tail", read_kept, &kept};
		BfLedgerEnd before;
		BfLedgerWriter *w;
		Seen both;
		Seen seen;

		REQUIRE_OK(write_segments(dir, in_files, &w));
		REQUIRE_OK(keep(&kept, in_files));
		before = bf_ledger_writer_end(w);
		REQUIRE_OK(walk(dir, &tail, &ranges, NULL, &both));
		REQUIRE_OK(bf_ledger_settle(test_arena(), w, &tail, N_ENTRIES, merge, &test_err));
		EXPECT_EQ(bf_ledger_writer_end(w).entry, N_ENTRIES);
		REQUIRE_OK(bf_ledger_writer_sync(w, &test_err));
		REQUIRE_OK(walk(dir, NULL, &ranges, NULL, &seen));
		EXPECT(seen.n == N_ENTRIES && saw_all_of(&seen, &ranges));
		if (merge)
			EXPECT_EQ(seen.n_batches, (in_files + 15) / 16 + 1);
		else
			EXPECT_EQ(seen.n_batches, both.n_batches);
		/* Taken back, the tail has them as before. */
		REQUIRE_OK(bf_ledger_writer_rewind(w, before, &test_err));
		REQUIRE_OK(walk(dir, &tail, &ranges, NULL, &seen));
		EXPECT_EQ(seen.n, N_ENTRIES);
		EXPECT_EQ(seen.n_batches, both.n_batches);
	}
}

/* Nothing is settled of a tail that lacks rows; the ledger can be taken back. */
TEST(log_settle_of_a_damaged_tail)
{
	const char *dir = bf_arena_printf(test_arena(), "%s/damaged", test_dir());
	BfRange low = {0, 99};
	Kept kept;
	const BfLogTail tail = {100, "the tail", read_kept, &kept};
	BfLedgerEnd before;
	BfLedgerWriter *w;
	Seen seen;

	REQUIRE_OK(write_segments(dir, 100, &w));
	REQUIRE_OK(keep(&kept, 100));
	before = bf_ledger_writer_end(w);
	kept.n--;
	EXPECT_FAIL(bf_ledger_settle(test_arena(), w, &tail, N_ENTRIES, true, &test_err),
				BF_ERR_CORRUPT, -1);
	REQUIRE_OK(bf_ledger_writer_rewind(w, before, &test_err));
	REQUIRE_OK(walk(dir, NULL, &(BfRangeSet){1, &low}, NULL, &seen));
	EXPECT(saw_all_of(&seen, &(BfRangeSet){1, &low}));
}
