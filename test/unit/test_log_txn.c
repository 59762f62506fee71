/*
 * Looking for open transactions by headers: what it reads, and that no wrong bit of a header
 * changes what it finds. The batches are larger than a page, so that their headers alone are read;
 * producers have ids that differ in one bit, and sequence numbers as a broker demands them.
 */
#include "unit/lib/runner.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "log/segment.h"
#include "unit/test_log_build.h"

#define PRODUCERS 6
#define BATCHES_MAX 4000
#define SEGMENTS_MAX 8

static const int64_t ids[PRODUCERS] = {1000, 1001, 1002, 1000 ^ 64, 1000 ^ INT64_C(1) << 40, 1003};

typedef struct Place
{
	int segment;
	size_t at;
	size_t n;
} Place;

typedef struct Log
{
	const char *dir;
	BfBuffer *bytes; /* of the segment being written */
	BfBuffer *txn_index;
	BfBuffer *index;
	int64_t base;
	int64_t next;
	int segment;
	int64_t bases[SEGMENTS_MAX];
	int n_batches;
	Place batches[BATCHES_MAX];
	int64_t size;
	int64_t open[PRODUCERS]; /* first offset, -1 = none */
	int32_t sequence[PRODUCERS];
	int16_t epoch[PRODUCERS];
	bool plain[PRODUCERS]; /* idempotent without transactions */
} Log;

static BfBuffer *
new_buffer(size_t bytes_max)
{
	BfBuffer *b = NULL;

	EXPECT_EQ(bf_buffer_new(test_arena(), bytes_max, &b, &test_err), BF_OK);
	return b;
}

static Log *
new_log(const char *name)
{
	static Log l;

	memset(&l, 0, sizeof l);
	memset(l.open, 0xff, sizeof l.open);
	l.dir = bf_arena_printf(test_arena(), "%s/%s", test_dir(), name);
	EXPECT_EQ(test_host()->mkdirs(test_host(), l.dir, &test_err), BF_OK);
	l.bytes = new_buffer(1 << 28);
	l.txn_index = new_buffer(1 << 24);
	l.index = new_buffer(1 << 24);
	l.plain[PRODUCERS - 1] = true;
	return &l;
}

static void
close_segment(Log *l)
{
	REQUIRE(l->segment < SEGMENTS_MAX);
	build_file(l->dir, l->base, "log", l->bytes->data, l->bytes->len);
	build_file(l->dir, l->base, "index", l->index->data, l->index->len);
	if (l->txn_index->len > 0)
		build_file(l->dir, l->base, "txnindex", l->txn_index->data, l->txn_index->len);
	l->bases[l->segment++] = l->base;
	l->size += (int64_t) l->bytes->len;
	l->bytes->len = l->txn_index->len = l->index->len = 0;
	l->base = l->next;
}

/* The batch that begins at `at` is as its producer numbers it; -1 = of nobody. */
static void
finish_batch(Log *l, size_t at, int producer, bool control)
{
	uint8_t *p = l->bytes->data + at;
	size_t n = l->bytes->len - at;
	int32_t records = (int32_t) bf_load32be(p + 57);

	if (producer >= 0)
	{
		bf_store16be(p + 51, (uint16_t) l->epoch[producer]);
		if (!control)
		{
			bf_store32be(p + 53, (uint32_t) l->sequence[producer]);
			l->sequence[producer] += records;
		}
	}
	bf_store32be(p + 17, bf_crc32c(p + 21, n - 21));
	REQUIRE(l->n_batches < BATCHES_MAX);
	l->batches[l->n_batches++] = (Place){l->segment, at, n};
	build_be(l->index, (uint64_t) (l->next - 1 - l->base), 4);
	build_be(l->index, at, 4);
}

static void
add_data(Log *l, int producer, int records, size_t bytes)
{
	static uint8_t section[40000];
	size_t at = l->bytes->len;
	TestBatch b = {.base_offset = l->next,
				   .last_delta = records > 0 ? records - 1 : 0,
				   .attributes = producer >= 0 && !l->plain[producer] ? 0x10 : 0,
				   .producer_id = producer >= 0 ? ids[producer] : -1,
				   .n = records};

	memset(section, (int) (l->next & 63), sizeof section);
	build_raw_batch(l->bytes, &b, section, bytes);
	if (producer >= 0 && !l->plain[producer] && l->open[producer] < 0)
		l->open[producer] = l->next;
	l->next += records;
	finish_batch(l, at, producer, false);
}

static int64_t
stable_offset(const Log *l, int64_t end)
{
	for (int p = 0; p < PRODUCERS; p++)
		if (l->open[p] >= 0 && l->open[p] < end)
			end = l->open[p];
	return end;
}

static void
end_txn(Log *l, int producer, bool commit)
{
	size_t at = l->bytes->len;
	int64_t first = l->open[producer];
	int64_t marker = l->next++;

	build_marker(l->bytes, marker, ids[producer], commit, 0);
	l->open[producer] = -1;
	finish_batch(l, at, producer, true);
	if (first < 0 || commit)
		return;
	build_be(l->txn_index, 0, 2);
	build_be(l->txn_index, (uint64_t) ids[producer], 8);
	build_be(l->txn_index, (uint64_t) first, 8);
	build_be(l->txn_index, (uint64_t) marker, 8);
	build_be(l->txn_index, (uint64_t) stable_offset(l, marker + 1), 8);
}

static void
write_snapshot(Log *l)
{
	BfBuffer *b = new_buffer(1 << 16);

	build_be(b, 1, 2);
	build_be(b, 0, 4);
	build_be(b, PRODUCERS, 4);
	for (int p = 0; p < PRODUCERS; p++)
	{
		build_be(b, (uint64_t) ids[p], 8);
		build_be(b, (uint64_t) l->epoch[p], 2);
		build_be(b, (uint64_t) (uint32_t) (l->sequence[p] - 1), 4);
		build_be(b, (uint64_t) (l->next - 1), 8);
		build_be(b, 0, 4);
		build_be(b, 1000, 8);
		build_be(b, 0, 4);
		build_be(b, (uint64_t) l->open[p], 8);
	}
	bf_store32be(b->data + 2, bf_crc32c(b->data + 6, b->len - 6));
	build_file(l->dir, l->next, "snapshot", b->data, b->len);
}

static BfStatus
find_stable(const Log *l, bool check_all, BfLogCounters *counters, int64_t *offset)
{
	BfArena *a = bf_arena_new(test_host(), "txn", (size_t) 1 << 30);
	BfLogDir *d;
	BfStatus status = bf_log_dir_open(a, l->dir, counters, &d, &test_err);

	if (status == BF_OK && check_all)
		bf_log_dir_check_all(d);
	if (status == BF_OK)
		status = bf_log_dir_stable_offset(d, offset, &test_err);
	bf_arena_free(a);
	return status;
}

static void
check_stable(const Log *l)
{
	int64_t offset;

	for (int all = 0; all < 2; all++)
	{
		REQUIRE_OK(find_stable(l, all == 1, NULL, &offset));
		EXPECT_EQ(offset, stable_offset(l, l->next));
	}
}

/* ---- what is read ---- */

/* A large log of all kinds of batches, of `n` data batches; ends with no transaction open. */
static Log *
large_log(const char *name, int n, bool snapshots)
{
	Log *l = new_log(name);

	for (int i = 0; i < n; i++)
	{
		int producer = (int) test_random_below(PRODUCERS + 2) - 2;

		add_data(l, producer, 10, 16000);
		if (producer >= 0 && !l->plain[producer] && test_random_below(8) == 0)
			end_txn(l, producer, test_random_below(2) == 0);
		if (i % (n / 4) == n / 8)
		{
			close_segment(l);
			if (snapshots)
				write_snapshot(l);
		}
	}
	for (int p = 0; p < PRODUCERS; p++)
		if (l->open[p] >= 0)
			end_txn(l, p, true);
	add_data(l, -1, 10, 16000);
	close_segment(l);
	return l;
}

static void
remove_suffix(const Log *l, const char *suffix)
{
	for (int i = 0; i < l->segment; i++)
	{
		char path[512];

		snprintf(path, sizeof path, "%s/%020lld.%s", l->dir, (long long) l->bases[i], suffix);
		(void) unlink(path);
	}
}

/* The headers, the first and the last batch of each producer in each segment, and the tail. */
TEST(txn_without_hints_reads_headers)
{
	Log *l = large_log("many-0", 2000, false);
	BfLogCounters c = {0};
	BfLogCounters all = {0};
	int64_t offset;
	int64_t ends = (int64_t) l->segment * (PRODUCERS * 2 + 1);

	remove_suffix(l, "txnindex");
	REQUIRE_OK(find_stable(l, false, &c, &offset));
	EXPECT_EQ(offset, l->next);
	EXPECT(l->size > 30000000);
	/* With a marker what is read ahead of the next header. */
	EXPECT(c.io.bytes_read <= (int64_t) l->n_batches * 200 + ends * 16400 + (1 << 19));
	EXPECT(c.io.bytes_read < l->size / 10);
	REQUIRE_OK(find_stable(l, true, &all, &offset));
	EXPECT_EQ(offset, l->next);
	EXPECT(all.io.bytes_read >= l->size);
}

/* The end, where the newest entries are, and how their transactions ended. */
TEST(txn_without_an_index_reads_headers)
{
	Log *l = large_log("bare-0", 2000, false);
	BfRange newest = {l->next - 400, l->next - 1};
	const BfRangeSet wanted = {1, &newest};
	const int64_t headers = (int64_t) l->n_batches * 200 + 20000;
	BfLogCounters c = {0};
	BfBatchHeader h = {0};
	BfOutcome outcome;
	BfOutcomes *o;
	BfLogDir *d;
	BfLogWalk *w;
	const uint8_t *batch;
	const char *path;
	int64_t start, end, position;

	remove_suffix(l, "index");
	REQUIRE_OK(bf_log_dir_open(test_arena(), l->dir, &c, &d, &test_err));
	REQUIRE_OK(bf_log_dir_bounds(d, &start, &end, &test_err));
	EXPECT_EQ(end, l->next);
	EXPECT(c.io.bytes_read <= headers);
	REQUIRE_OK(bf_log_walk_new(test_arena(), d, &wanted, false, &w, &test_err));
	while (!h.transactional || h.control)
	{
		REQUIRE_OK(bf_log_walk_next(w, &h, &batch, &position, &path, &test_err));
		REQUIRE(batch != NULL && h.last_offset >= newest.first);
	}
	EXPECT(c.batches_skipped > 100);
	EXPECT(c.io.bytes_read <= 2 * headers + (1 << 19));
	REQUIRE_OK(bf_outcomes_new(test_arena(), d, &o, &test_err));
	REQUIRE_OK(bf_outcomes_of(o, &h, &outcome, &test_err));
	EXPECT(outcome != BF_OUTCOME_OPEN);
	EXPECT(c.io.bytes_read <= 3 * headers + (3 << 19));
	EXPECT(c.io.bytes_read < l->size / 10);
	REQUIRE_OK(find_stable(l, true, &c, &end));
	EXPECT_EQ(end, l->next);
}

TEST(txn_with_hints_reads_the_tail)
{
	static const char *const hints[] = {"snapshot", "txnindex"};

	for (int i = 0; i < 2; i++)
	{
		Log *l = large_log(i == 0 ? "snap-0" : "abort-0", 2000, i == 0);
		BfLogCounters c = {0};
		BfLogCounters none = {0};
		int64_t offset;

		if (i == 0)
			remove_suffix(l, "txnindex");
		REQUIRE_OK(find_stable(l, false, &c, &offset));
		EXPECT_EQ(offset, l->next);
		remove_suffix(l, hints[i]);
		REQUIRE_OK(find_stable(l, false, &none, &offset));
		EXPECT_EQ(offset, l->next);
		EXPECT(c.batches_skipped < none.batches_skipped / 4);
		EXPECT(c.io.bytes_read < none.io.bytes_read);
	}
}

/* ---- what is found ---- */

/* Batches larger than a page and smaller ones, markers of transactions that have no data here,
 * restarts, and transactions that stay open. */
static Log *
random_log(const char *name, int steps)
{
	Log *l = new_log(name);

	for (int i = 0; i < steps; i++)
	{
		int producer = (int) test_random_below(PRODUCERS);
		unsigned what = (unsigned) test_random_below(20);

		if (what < 11)
			add_data(l, producer, 10, test_random_below(6) > 0 ? 4200 : 300);
		else if (what < 13)
			add_data(l, -1, 10, 4200);
		else if (what < 18 && !l->plain[producer])
			end_txn(l, producer, what % 2 == 0);
		else if (what == 18 && l->open[producer] < 0)
		{
			l->epoch[producer]++;
			l->sequence[producer] = 0;
		}
		else if (what == 19 && l->next > l->base && l->segment < SEGMENTS_MAX - 1)
		{
			close_segment(l);
			if (test_random_below(2) == 0)
				write_snapshot(l);
		}
	}
	add_data(l, -1, 10, 4200);
	close_segment(l);
	return l;
}

TEST(txn_open_ones_match_a_model)
{
	for (int round = 0; round < 200 && !test_failed(); round++)
	{
		char name[16];
		Log *l;

		snprintf(name, sizeof name, "r%d-0", round);
		l = random_log(name, 10 + (int) test_random_below(100));
		check_stable(l);
		if (round % 2 == 0)
			remove_suffix(l, "txnindex");
		check_stable(l);
	}
}

static void
flip(const char *path, int64_t at, int bit)
{
	int fd = open(path, O_RDWR);
	uint8_t byte;

	REQUIRE(fd >= 0 && pread(fd, &byte, 1, (off_t) at) == 1);
	byte = (uint8_t) (byte ^ 1 << bit);
	EXPECT_EQ(pwrite(fd, &byte, 1, (off_t) at), 1);
	close(fd);
}

/* With one bit of a file changed it is the same or an error. */
static void
try_flip(const Log *l, const char *path, int64_t at, int bit)
{
	flip(path, at, bit);
	for (int all = 0; all < 2; all++)
	{
		int64_t offset;

		if (find_stable(l, all == 1, NULL, &offset) == BF_OK && offset != stable_offset(l, l->next))
			test_fail(__FILE__, __LINE__, "%s byte %lld bit %d: stable offset %lld, expected %lld",
					  path, (long long) at, bit, (long long) offset,
					  (long long) stable_offset(l, l->next));
	}
	flip(path, at, bit);
}

static void
segment_path(const Log *l, int segment, const char *suffix, char *path, size_t n)
{
	snprintf(path, n, "%s/%020lld.%s", l->dir, (long long) l->bases[segment], suffix);
}

/* What decides whose a batch is, and others. Offsets of the last batch are confirmed by nothing. */
static void
flip_headers(const Log *l)
{
	static const int bytes[] = {22, 48, 49, 50, 45, 52, 56};

	for (int b = 0; b < l->n_batches && !test_failed(); b++)
	{
		const Place *p = &l->batches[b];
		char path[512];

		segment_path(l, p->segment, "log", path, sizeof path);
		for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
			for (int bit = 0; bit < 8; bit++)
				try_flip(l, path, (int64_t) p->at + bytes[i], bit);
		for (int i = 0; i < 20; i++)
		{
			int at = (int) test_random_below(61);

			if (at >= 8 || b + 1 < l->n_batches)
				try_flip(l, path, (int64_t) p->at + at, (int) test_random_below(8));
		}
	}
}

TEST(txn_one_flipped_bit_of_a_header_hides_nothing)
{
	for (int round = 0; round < 6 && !test_failed(); round++)
	{
		char name[16];
		Log *l;

		snprintf(name, sizeof name, "f%d-0", round);
		l = random_log(name, 25);
		remove_suffix(l, "snapshot");
		remove_suffix(l, "txnindex");
		if (round % 2 == 0)
			remove_suffix(l, "index");
		flip_headers(l);
	}
}

/* The batch of an open transaction becomes one of a producer whose sequence it continues, and whose
 * marker is behind it; or of nobody's transaction. */
TEST(txn_flipped_bits_that_would_hide_an_open_one)
{
	Log *l = new_log("hide-0");

	add_data(l, 0, 10, 9000);
	end_txn(l, 0, true);
	add_data(l, 1, 10, 9000);
	add_data(l, -1, 10, 9000);
	add_data(l, 0, 10, 9000);
	end_txn(l, 1, true);
	end_txn(l, 2, true);
	add_data(l, -1, 10, 9000);
	close_segment(l);
	check_stable(l);
	EXPECT_EQ(stable_offset(l, l->next), 31);
	flip_headers(l);
}

/* The end, and batches that are walked to, are the same or an error. */
static void
check_walks(const Log *l)
{
	BfArena *a = bf_arena_new(test_host(), "walks", (size_t) 1 << 30);
	int64_t start, end;
	BfLogDir *d;

	REQUIRE_OK(bf_log_dir_open(a, l->dir, NULL, &d, &test_err));
	if (bf_log_dir_bounds(d, &start, &end, &test_err) == BF_OK)
		EXPECT_EQ(end, l->next);
	for (int64_t entry = 5; entry < l->next; entry += 10)
	{
		BfRange range = {entry, entry};
		const BfRangeSet one = {1, &range};
		BfBatchHeader h;
		BfLogWalk *w;
		const uint8_t *batch;
		const char *path;
		int64_t position;

		REQUIRE_OK(bf_log_walk_new(a, d, &one, false, &w, &test_err));
		if (bf_log_walk_next(w, &h, &batch, &position, &path, &test_err) == BF_OK)
			EXPECT(batch != NULL && h.base_offset == entry - 5 && h.last_offset == entry + 4);
	}
	bf_arena_free(a);
}

/* A length that passes over the next batch of the same size, and offsets that are not the last
 * batch's first, which nothing confirms. */
TEST(txn_flipped_length_passes_over_a_batch)
{
	Log *l = new_log("length-0");

	for (int i = 0; i < 12; i++)
		add_data(l, i == 5 ? 0 : -1, 10, 8192 - 61);
	close_segment(l);
	check_stable(l);
	check_walks(l);
	for (int b = 0; b < 2 * l->n_batches && !test_failed(); b++)
	{
		const Place *p = &l->batches[b % l->n_batches];
		char path[512];

		if (b == l->n_batches)
			remove_suffix(l, "index");
		segment_path(l, 0, "log", path, sizeof path);
		for (int at = 0; at < 27; at++)
			for (int bit = 0; bit < 8 && (at >= 8 || b % l->n_batches + 1 < l->n_batches); bit++)
			{
				try_flip(l, path, (int64_t) p->at + at, bit);
				flip(path, (int64_t) p->at + at, bit);
				check_walks(l);
				flip(path, (int64_t) p->at + at, bit);
			}
	}
}

/* One that is open begins at 32, and at 48, which is one bit away, another batch of a transaction.
 */
TEST(txn_flipped_bits_of_a_txnindex)
{
	Log *l = new_log("index-0");
	char path[512];

	add_data(l, 2, 10, 9000);
	end_txn(l, 2, false);
	add_data(l, -1, 21, 9000);
	add_data(l, 3, 10, 9000);
	add_data(l, -1, 6, 9000);
	add_data(l, 1, 10, 9000);
	end_txn(l, 1, false);
	add_data(l, 1, 10, 9000);
	end_txn(l, 1, false);
	add_data(l, -1, 10, 9000);
	close_segment(l);
	EXPECT_EQ(stable_offset(l, l->next), 32);
	check_stable(l);
	segment_path(l, 0, "txnindex", path, sizeof path);
	for (int at = 0; at < 3 * 34; at++)
		for (int bit = 0; bit < 8; bit++)
			try_flip(l, path, at, bit);
}

/* Compaction keeps a producer's last batch without its records, and not the marker for ever. */
TEST(txn_empty_batches_begin_nothing)
{
	Log *l = new_log("empty-0");

	add_data(l, 0, 0, 0);
	l->next = 10;
	l->open[0] = -1;
	add_data(l, -1, 10, 9000);
	close_segment(l);
	EXPECT_EQ(stable_offset(l, l->next), 20);
	check_stable(l);
}

/* One that contradicts the log counts for nothing. */
TEST(txn_hints_of_another_log)
{
	Log *l = new_log("other-0");
	static const uint64_t wrong[][4] = {
		{1000, 0, 10, 40}, {1000, 0, 10, 11}, {1001, 0, 22, 23}, {1000, 0, 11, 12}};

	add_data(l, 1, 10, 9000);
	end_txn(l, 0, false);
	add_data(l, 0, 10, 9000);
	end_txn(l, 2, true);
	add_data(l, -1, 30, 9000);
	close_segment(l);
	EXPECT_EQ(stable_offset(l, l->next), 0);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
	{
		BfBuffer *b = new_buffer(1 << 16);

		for (int k = 0; k < 2; k++)
		{
			build_be(b, 0, 2);
			for (int f = 0; f < 4; f++)
				build_be(b, wrong[i][f] - (k == 0 && f >= 2), 8);
		}
		build_file(l->dir, 0, "txnindex", b->data, b->len);
		check_stable(l);
	}
	remove_suffix(l, "txnindex");
	/* A snapshot that names what is not there. */
	l->open[0] = 5;
	l->open[1] = -1;
	write_snapshot(l);
	l->open[0] = 11;
	l->open[1] = 0;
	check_stable(l);
}
