/* Partition directories in all states that a broker may leave, built by hand. */
#include "unit/lib/runner.h"

#include <stdlib.h>
#include <unistd.h>

#include "exec/read/kafka_reader.h"
#include "exec/read/kafka_start.h"
#include "unit/lib/host_posix.h"
#include "unit/test_log_build.h"

#define ROWS_MAX 20000

static const BfKafkaRange everything = {0, INT64_MAX, INT64_MIN, INT64_MAX, NULL, false, false};

typedef struct Rows
{
	int n;
	int64_t offsets[ROWS_MAX];
} Rows;

static Rows rows;

/* All offsets of the directory into `rows`. */
static BfStatus
read_with(const BfHost *host, const char *dir, bool committed, const BfKafkaRange *range)
{
	static const BfKafkaColumn columns[] = {BF_KAFKA_OFFSET, BF_KAFKA_HEADERS, BF_KAFKA_VALUE};
	BfArena *a = bf_arena_new(host, "kafka dir", (size_t) 1 << 30);
	BfReader *r;
	BfStatus status;

	if (a == NULL)
		return bf_error(&test_err, BF_ERR_NOMEM, "no arena");
	rows.n = 0;
	status = bf_exec_kafka_reader(a, dir, 0, committed, range, columns, 3, NULL, &r, &test_err);
	while (status == BF_OK)
	{
		const BfBatch *b;

		status = r->next(r, &b, &test_err);
		if (status != BF_OK || b == NULL)
			break;
		for (int32_t i = 0; i < b->n_rows && rows.n < ROWS_MAX; i++)
			rows.offsets[rows.n++] = b->cols[0].data.i64[i];
	}
	bf_arena_free(a);
	return status;
}

static BfStatus
read_dir(const char *dir, bool committed, const BfKafkaRange *range)
{
	return read_with(test_host(), dir, committed, range);
}

static const char *
new_dir(const char *name)
{
	const char *dir = bf_arena_printf(test_arena(), "%s/%s", test_dir(), name);

	if (test_host()->mkdirs(test_host(), dir, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return dir;
}

static BfBuffer *
new_buffer(void)
{
	BfBuffer *b = NULL;

	if (bf_buffer_new(test_arena(), 1 << 26, &b, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return b;
}

/* n records from the offset, timestamps ascending with it. */
static void
add_batch(BfBuffer *log, int64_t base, int n)
{
	TestRecord records[100];
	TestBatch t = {.base_offset = base,
				   .last_delta = n > 0 ? n - 1 : 9,
				   .kafka_codec = (int) (base % 5),
				   .base_timestamp = 1000000 + base,
				   .max_timestamp = 1000000 + base + (n > 0 ? n - 1 : 9),
				   .producer_id = -1,
				   .records = records,
				   .n = n};

	for (int i = 0; i < n; i++)
		records[i] = (TestRecord){i, i, "key", "a value of some length", i % 3};
	build_batch(log, &t);
}

static bool
rows_are(int64_t first, int64_t last)
{
	if (rows.n != last - first + 1)
		return false;
	for (int i = 0; i < rows.n; i++)
		if (rows.offsets[i] != first + i)
			return false;
	return true;
}

TEST(kafka_dir_leftovers_are_ignored)
{
	const char *dir = new_dir("t-0");
	BfBuffer *log = new_buffer();
	static const char *const ignored[] = {"log.deleted",   "log.cleaned",		"log.swap",
										  "index.deleted", "timeindex.cleaned", "checkpoint"};

	add_batch(log, 0, 10);
	build_file(dir, 0, "log", log->data, log->len);
	for (int i = 0; i < 6; i++)
		build_file(dir, 0, ignored[i], "junk", 4);
	build_file(dir, 10, "log.deleted", "junk", 4);
	build_file(dir, 10, "log.cleaned", "junk", 4);
	REQUIRE_OK(read_dir(dir, true, &everything));
	EXPECT(rows_are(0, 9));
	/* The swap file alone counts. */
	log->len = 0;
	add_batch(log, 10, 20);
	build_file(dir, 10, "log.swap", log->data, log->len);
	REQUIRE_OK(read_dir(dir, true, &everything));
	EXPECT(rows_are(0, 29));
}

/* What the merged segment dropped stays dropped, wherever a reader starts. */
TEST(kafka_dir_overlapping_segments_show_no_dropped_rows)
{
	const char *dir = new_dir("t-0");
	BfBuffer *merged = new_buffer();
	BfBuffer *log = new_buffer();

	add_batch(merged, 0, 10);
	add_batch(merged, 30, 10);
	build_file(dir, 0, "log.swap", merged->data, merged->len);
	for (int k = 1; k < 5; k++)
	{
		log->len = 0;
		add_batch(log, 10 * k, 10);
		build_file(dir, 10 * k, "log", log->data, log->len);
	}
	for (int64_t o = 0; o < 50; o++)
	{
		BfKafkaRange r = {o, o + 3, INT64_MIN, INT64_MAX, NULL, false, false};
		int64_t n = 0;

		REQUIRE_OK(read_dir(dir, false, &r));
		for (int64_t x = o; x < o + 3 && x < 50; x++)
			n += x < 10 || x >= 30;
		EXPECT_EQ(rows.n, n);
	}
}

/* After a crash in the middle of a compaction that merged segments. */
TEST(kafka_dir_overlapping_segments_give_rows_once)
{
	const char *dir = new_dir("t-0");
	BfBuffer *merged = new_buffer();
	BfBuffer *log = new_buffer();

	for (int k = 0; k < 4; k++)
		add_batch(merged, 10 * k, 10);
	build_file(dir, 0, "log.swap", merged->data, merged->len);
	for (int k = 1; k < 4; k++)
	{
		log->len = 0;
		add_batch(log, 10 * k, 10);
		build_file(dir, 10 * k, "log", log->data, log->len);
	}
	REQUIRE_OK(read_dir(dir, false, &everything));
	EXPECT(rows_are(0, 39));
	for (int64_t o = 0; o < 40; o += 3)
	{
		BfKafkaRange r = {o, o + 5, INT64_MIN, INT64_MAX, NULL, false, false};

		REQUIRE_OK(read_dir(dir, false, &r));
		EXPECT(rows_are(o, o + 4 < 40 ? o + 4 : 39));
	}
	/* A batch that begins before what was seen and ends after it. */
	log->len = 0;
	add_batch(log, 35, 20);
	build_file(dir, 35, "log", log->data, log->len);
	REQUIRE_OK(read_dir(dir, false, &everything));
	EXPECT(rows_are(0, 54));
	/* But not where nothing was merged. */
	log->len = 0;
	add_batch(log, 35, 30);
	build_file(dir, 35, "log", log->data, log->len);
	log->len = 0;
	add_batch(log, 55, 10);
	build_file(dir, 55, "log", log->data, log->len);
	EXPECT_FAIL(read_dir(dir, false, &everything), BF_ERR_CORRUPT, 0);
}

TEST(kafka_dir_torn_tail_is_the_end)
{
	const char *dir = new_dir("t-0");
	BfBuffer *log = new_buffer();
	size_t ends[4] = {0};

	for (int k = 0; k < 3; k++)
	{
		add_batch(log, 10 * k, 10);
		ends[k + 1] = log->len;
	}
	for (size_t len = 0; len <= log->len; len++)
	{
		int whole = len >= ends[3] ? 3 : len >= ends[2] ? 2 : len >= ends[1] ? 1 : 0;

		build_file(dir, 0, "log", log->data, len);
		REQUIRE_OK(read_dir(dir, true, &everything));
		EXPECT(rows_are(0, 10 * whole - 1));
	}
	/* But not when the log is known to have been longer. */
	build_file(dir, 30, "snapshot", "", 0);
	REQUIRE_OK(read_dir(dir, false, &everything));
	build_file(dir, 0, "log", log->data, log->len - 1);
	EXPECT_FAIL(read_dir(dir, false, &everything), BF_ERR_CORRUPT, (int64_t) ends[2]);
	EXPECT(strstr(test_err.text, "30") != NULL);
}

TEST(kafka_dir_zero_tail_is_the_end)
{
	const char *dir = new_dir("t-0");
	BfBuffer *log = new_buffer();
	size_t end;

	add_batch(log, 0, 10);
	end = log->len;
	build_be(log, 0, 8);
	for (int i = 0; i < 5000; i++)
		build_u8(log, 0);
	build_file(dir, 0, "log", log->data, log->len);
	REQUIRE_OK(read_dir(dir, true, &everything));
	EXPECT(rows_are(0, 9));
	log->data[end + 30] = 1;
	build_file(dir, 0, "log", log->data, log->len);
	EXPECT_FAIL(read_dir(dir, true, &everything), BF_ERR_CORRUPT, (int64_t) end);
}

TEST(kafka_dir_damage_is_an_error_with_its_place)
{
	const char *dir = new_dir("t-0");
	BfBuffer *log = new_buffer();
	uint8_t index[16];
	size_t second;

	add_batch(log, 0, 10);
	second = log->len;
	add_batch(log, 10, 10);
	/* A flipped bit in the last batch is no torn tail. */
	log->data[log->len - 3] ^= 4;
	build_file(dir, 0, "log", log->data, log->len);
	EXPECT_FAIL(read_dir(dir, false, &everything), BF_ERR_CORRUPT, (int64_t) second);
	EXPECT(strstr(test_err.object, "00000000000000000000.log") != NULL);
	EXPECT(strstr(test_err.text, "10-19") != NULL);
	log->data[log->len - 3] ^= 4;
	/* Nor is a length that passes the end, where the checksum knows better. */
	log->data[8] = 0x40;
	build_file(dir, 0, "log", log->data, log->len);
	EXPECT_FAIL(read_dir(dir, false, &everything), BF_ERR_CORRUPT, 8);
	/* Or the index does. */
	log->data[17] ^= 1;
	build_file(dir, 0, "log", log->data, log->len);
	REQUIRE_OK(read_dir(dir, false, &everything));
	EXPECT_EQ(rows.n, 0);
	bf_store32be(index, 19);
	bf_store32be(index + 4, (uint32_t) second);
	build_file(dir, 0, "index", index, 8);
	EXPECT_FAIL(read_dir(dir, false, &everything), BF_ERR_CORRUPT, 0);
	log->data[17] ^= 1;
	log->data[8] = 0;
	/* A segment that is not the last one must be whole. */
	build_file(dir, 0, "log", log->data, log->len - 5);
	log->len = 0;
	add_batch(log, 20, 10);
	build_file(dir, 20, "log", log->data, log->len);
	EXPECT_FAIL(read_dir(dir, false, &everything), BF_ERR_CORRUPT, (int64_t) second);
}

TEST(kafka_dir_empty_and_compacted_batches)
{
	const char *dir = new_dir("t-0");
	BfBuffer *log = new_buffer();
	BfKafkaRange r = {100, INT64_MAX, INT64_MIN, INT64_MAX, NULL, false, false};
	BfLogDir *d;
	int64_t start, end;

	REQUIRE_OK(read_dir(dir, true, &everything));
	EXPECT_EQ(rows.n, 0);
	add_batch(log, 0, 0);
	add_batch(log, 10, 0);
	add_batch(log, 500, 10);
	build_file(dir, 0, "log", log->data, log->len);
	log->len = 0;
	add_batch(log, 1000, 0);
	build_file(dir, 1000, "log", log->data, log->len);
	build_file(dir, 2000, "log", "", 0);
	REQUIRE_OK(read_dir(dir, true, &everything));
	EXPECT(rows_are(500, 509));
	REQUIRE_OK(read_dir(dir, true, &r));
	EXPECT(rows_are(500, 509));
	r.offset_first = 505;
	REQUIRE_OK(read_dir(dir, true, &r));
	EXPECT(rows_are(505, 509));
	r.offset_first = 510;
	REQUIRE_OK(read_dir(dir, true, &r));
	EXPECT_EQ(rows.n, 0);
	REQUIRE_OK(bf_log_dir_open(test_arena(), dir, NULL, &d, &test_err));
	REQUIRE_OK(bf_log_dir_bounds(d, &start, &end, &test_err));
	EXPECT_EQ(start, 0);
	EXPECT_EQ(end, 2000);
}

/* Between the listing and the reading. */
TEST(kafka_dir_changes_after_the_listing)
{
	static const BfKafkaColumn columns[] = {BF_KAFKA_OFFSET};
	const char *dir = new_dir("t-0");
	BfArena *a = test_arena();
	char from[512], to[512];

	for (int k = 0; k < 4; k++)
	{
		BfBuffer *log = new_buffer();
		BfReader *r;
		const BfBatch *b;

		for (int s = 0; s < 3; s++)
		{
			log->len = 0;
			add_batch(log, 10 * s, 10);
			build_file(dir, 10 * s, "log", log->data, log->len);
		}
		REQUIRE_OK(
			bf_exec_kafka_reader(a, dir, 0, false, &everything, columns, 1, NULL, &r, &test_err));
		snprintf(from, sizeof from, "%s/%020d.log", dir, 10);
		snprintf(to, sizeof to, "%s/%020d.log.deleted", dir, 10);
		if (k == 0)
			EXPECT_EQ(rename(from, to), 0);
		else if (k == 1)
			EXPECT_EQ(unlink(from) + unlink(to), 0);
		else if (k == 2)
			EXPECT_EQ(truncate(from, 70), 0);
		else
		{
			/* Appended: not seen. */
			log->len = 0;
			add_batch(log, 20, 10);
			add_batch(log, 30, 10);
			build_file(dir, 20, "log", log->data, log->len);
		}
		if (k == 1)
			EXPECT_FAIL(r->next(r, &b, &test_err), BF_ERR_NOTFOUND, -1);
		else if (k == 2)
			EXPECT_FAIL(r->next(r, &b, &test_err), BF_ERR_CONFLICT, 70);
		else
		{
			REQUIRE_OK(r->next(r, &b, &test_err));
			REQUIRE(b != NULL);
			EXPECT_EQ(b->n_rows, 30);
			REQUIRE_OK(r->next(r, &b, &test_err));
			EXPECT(b == NULL);
		}
	}
}

static BfStatus
parse_start(const char *text, int64_t *start)
{
	return bfi_kafka_start_parse((BfView){(const uint8_t *) text, (uint32_t) strlen(text)}, "t", 1,
								 0, start, &test_err);
}

TEST(kafka_dir_deleted_records)
{
	static const struct
	{
		const char *text;
		int offset; /* of the error; -1 = good */
		int64_t start;
	} cases[] = {
		{"", -1, 0},
		{"0\n0\n", -1, 0},
		{"0\n1\nt 0 15\n", -1, 15},
		{"0\n3\nt-0 0 7\nt 1 8\nt 0 9\n", -1, 9},
		{"0\n1\nother 0 15\n", -1, 0},
		{"1\n0\n", 0, 0},
		{"0", 0, 0},
		{"0\n2\nt 0 15\n", 11, 0},
		{"0\n0\nt 0 15\n", 4, 0},
		{"0\n1\nt 0 -1\n", 8, 0},
		{"0\n1\nt 0 15", 8, 0},
		{"0\n1\nt x 15\n", 6, 0},
		{"0\n1\nt 0 99999999999999999999\n", 8, 0},
	};
	const char *dir = new_dir("t-0");
	BfBuffer *log = new_buffer();
	char path[512];
	FILE *f;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		int64_t start = -1;

		if (cases[i].offset < 0)
		{
			REQUIRE_OK(parse_start(cases[i].text, &start));
			EXPECT_EQ(start, cases[i].start);
		}
		else
			EXPECT_FAIL(parse_start(cases[i].text, &start),
						cases[i].text[0] == '1' ? BF_ERR_UNSUPPORTED : BF_ERR_CORRUPT,
						cases[i].offset);
	}
	add_batch(log, 0, 10);
	add_batch(log, 10, 10);
	build_file(dir, 0, "log", log->data, log->len);
	snprintf(path, sizeof path, "%s/log-start-offset-checkpoint", test_dir());
	f = fopen(path, "w");
	REQUIRE(f != NULL && fputs(cases[2].text, f) >= 0 && fclose(f) == 0);
	REQUIRE_OK(read_dir(dir, true, &everything));
	EXPECT(rows_are(15, 19));
	REQUIRE_OK(read_dir(bf_arena_printf(test_arena(), "%s//", dir), false, &everything));
	EXPECT(rows_are(15, 19));
	f = fopen(path, "w");
	REQUIRE(f != NULL && fputs("junk", f) >= 0 && fclose(f) == 0);
	EXPECT_FAIL(read_dir(dir, true, &everything), BF_ERR_CORRUPT, 0);
	EXPECT_STR(test_err.object, path);
}

TEST(kafka_dir_missing)
{
	EXPECT_FAIL(read_dir(bf_arena_printf(test_arena(), "%s/none-0", test_dir()), true, &everything),
				BF_ERR_NOTFOUND, -1);
}

/* ---- transactions against a model ---- */

#define PRODUCERS 5
#define OFFSETS_MAX 6000
#define TIME_ZERO 1000

typedef struct Txns
{
	const char *dir;
	BfBuffer *log;
	BfBuffer *txn_index;
	int64_t base; /* of the segment being filled */
	int64_t next;
	int64_t open[PRODUCERS];	/* first offset, -1 = none */
	uint8_t owner[OFFSETS_MAX]; /* producer + 1 of a transactional record; 0 = plain; 255 = none */
	bool aborted[OFFSETS_MAX];
	int64_t time[OFFSETS_MAX]; /* ascends in a batch, but not from batch to batch */
	int64_t lost_after;		   /* .txnindex entries at or past this offset were not written yet */
} Txns;

static void
add_data(Txns *t, int producer, int n)
{
	TestRecord records[8];
	int64_t time = TIME_ZERO + t->next + (int64_t) test_random_below(100);
	TestBatch b = {.base_offset = t->next,
				   .last_delta = n - 1,
				   .attributes = producer >= 0 ? 0x10 : 0,
				   .base_timestamp = time,
				   .max_timestamp = time + n - 1,
				   .producer_id = producer >= 0 ? 1000 + producer : -1,
				   .records = records,
				   .n = n};

	for (int i = 0; i < n; i++)
	{
		records[i] = (TestRecord){i, i, NULL, "v", 0};
		t->owner[t->next + i] = (uint8_t) (producer + 1);
		t->time[t->next + i] = time + i;
	}
	if (producer >= 0 && t->open[producer] < 0)
		t->open[producer] = t->next;
	build_batch(t->log, &b);
	t->next += n;
}

/* Of a log that ends at `end`. */
static int64_t
stable_offset(const Txns *t, int64_t end)
{
	for (int p = 0; p < PRODUCERS; p++)
		if (t->open[p] >= 0 && t->open[p] < end)
			end = t->open[p];
	return end;
}

static void
end_txn(Txns *t, int producer, bool commit)
{
	int64_t first = t->open[producer];

	build_marker(t->log, t->next, 1000 + producer, commit, TIME_ZERO + t->next);
	t->owner[t->next] = 255;
	if (first >= 0 && !commit)
	{
		for (int64_t o = first; o < t->next; o++)
			if (t->owner[o] == producer + 1)
				t->aborted[o] = true;
		if (t->next < t->lost_after)
		{
			build_be(t->txn_index, 0, 2);
			build_be(t->txn_index, (uint64_t) (1000 + producer), 8);
			build_be(t->txn_index, (uint64_t) first, 8);
			build_be(t->txn_index, (uint64_t) t->next, 8);
			t->open[producer] = -1;
			build_be(t->txn_index, (uint64_t) stable_offset(t, t->next + 1), 8);
		}
	}
	t->open[producer] = -1;
	t->next++;
}

static void
write_snapshot(Txns *t)
{
	BfBuffer *b = new_buffer();
	int n = 0;

	build_be(b, 1, 2);
	build_be(b, 0, 4);
	build_be(b, 0, 4);
	for (int p = 0; p < PRODUCERS; p++)
	{
		build_be(b, (uint64_t) (1000 + p), 8);
		build_be(b, 0, 2);
		build_be(b, 5, 4);
		build_be(b, 5, 8);
		build_be(b, 0, 4);
		build_be(b, 1000, 8);
		build_be(b, 0, 4);
		build_be(b, (uint64_t) t->open[p], 8);
		n++;
	}
	bf_store32be(b->data + 6, (uint32_t) n);
	bf_store32be(b->data + 2, bf_crc32c(b->data + 6, b->len - 6));
	build_file(t->dir, t->next, "snapshot", b->data, b->len);
}

static void
close_segment(Txns *t)
{
	build_file(t->dir, t->base, "log", t->log->data, t->log->len);
	if (t->txn_index->len > 0)
		build_file(t->dir, t->base, "txnindex", t->txn_index->data, t->txn_index->len);
	t->log->len = t->txn_index->len = 0;
	t->base = t->next;
}

static bool
in_bounds(const Txns *t, const BfKafkaRange *r, int64_t o)
{
	return o >= r->offset_first && o < r->offset_end && t->time[o] >= r->time_first_ms &&
		   t->time[o] <= r->time_last_ms &&
		   (r->offsets == NULL || bf_rangeset_contains(r->offsets, o));
}

static void
check_visible(const Txns *t, const BfKafkaRange *r)
{
	int64_t stable = stable_offset(t, t->next);
	int at = 0;

	REQUIRE_OK(read_dir(t->dir, true, r));
	for (int64_t o = 0; o < stable; o++)
		if (in_bounds(t, r, o) && t->owner[o] != 255 && !t->aborted[o])
		{
			if (at >= rows.n || rows.offsets[at] != o)
			{
				test_fail(__FILE__, __LINE__, "%s: offset %lld is missing", t->dir, (long long) o);
				return;
			}
			at++;
		}
	EXPECT_EQ(rows.n, at);
	REQUIRE_OK(read_dir(t->dir, false, r));
	at = 0;
	for (int64_t o = 0; o < t->next; o++)
		at += in_bounds(t, r, o) && t->owner[o] != 255;
	EXPECT_EQ(rows.n, at);
}

/* Some ranges, and then the same in pieces, none of which looks for open transactions: with an end
 * that is the last stable offset they give the same rows. */
static void
check_sets(const Txns *t)
{
	BfRange ranges[6];
	BfRangeSet set;
	BfKafkaRange r = everything;
	int32_t n = 1 + (int32_t) test_random_below(6);
	int64_t in_all, in_pieces = 0;

	for (int32_t i = 0; i < n; i++)
	{
		ranges[i].first = (int64_t) test_random_below((uint64_t) t->next);
		ranges[i].last = ranges[i].first + (int64_t) test_random_below(i % 2 == 0 ? 2 : 60);
	}
	REQUIRE_OK(bf_rangeset_make(test_arena(), ranges, n, &set, &test_err));
	r.offsets = &set;
	check_visible(t, &r);
	r.offset_end = stable_offset(t, t->next);
	check_visible(t, &r);
	REQUIRE_OK(read_dir(t->dir, true, &r));
	in_all = rows.n;
	for (int64_t first = 0; first < t->next; first += 17)
	{
		BfRange one = {first, first + 16};
		BfRangeSet all = {1, &one};
		BfRangeSet piece;
		BfKafkaRange part = r;

		REQUIRE_OK(bf_rangeset_intersect(test_arena(), &set, &all, &piece, &test_err));
		part.offsets = &piece;
		part.none_open = true;
		REQUIRE_OK(read_dir(t->dir, true, &part));
		in_pieces += rows.n;
	}
	EXPECT_EQ(in_pieces, in_all);
}

TEST(kafka_dir_transactions_match_a_model)
{
	for (int round = 0; round < 60 && !test_failed(); round++)
	{
		char name[16];
		static Txns t;
		int64_t newest_snapshot = 0;
		int steps = 20 + (int) test_random_below(200);
		bool live = round % 3 == 0;

		memset(&t, 0, sizeof t);
		memset(t.open, 0xff, sizeof t.open);
		snprintf(name, sizeof name, "t%d-0", round);
		t.dir = new_dir(name);
		t.log = new_buffer();
		t.txn_index = new_buffer();
		t.lost_after = INT64_MAX;
		for (int i = 0; i < steps; i++)
		{
			int producer = (int) test_random_below(PRODUCERS);
			unsigned what = (unsigned) test_random_below(20);

			if (what < 9)
				add_data(&t, producer, 1 + (int) test_random_below(8));
			else if (what < 12)
				add_data(&t, -1, 1 + (int) test_random_below(8));
			else if (what < 18)
				end_txn(&t, producer, what % 2 == 0);
			else if (t.next > t.base && t.lost_after == INT64_MAX)
			{
				close_segment(&t);
				/* Compaction and others may have left none. */
				if (test_random_below(3) > 0)
				{
					write_snapshot(&t);
					newest_snapshot = t.next;
				}
			}
			/* A broker that is running: the newest aborts are in the log, not yet in the index. */
			if (live && i == steps - 20)
				t.lost_after = t.next;
		}
		close_segment(&t);
		if (!live && round % 3 == 1)
			write_snapshot(&t);
		(void) newest_snapshot;
		check_visible(&t, &everything);
		for (int k = 0; k < 10 && t.next > 0; k++)
		{
			BfKafkaRange r = everything;

			r.offset_first = (int64_t) test_random_below((uint64_t) t.next);
			r.offset_end = r.offset_first + (int64_t) test_random_below(100);
			check_visible(&t, &r);
			check_sets(&t);
			/* Old records are passed over, and yet an open transaction among them ends it all. */
			r = everything;
			r.time_first_ms = TIME_ZERO + (int64_t) test_random_below((uint64_t) t.next);
			check_visible(&t, &r);
			r.time_last_ms = r.time_first_ms + (int64_t) test_random_below(50);
			check_visible(&t, &r);
		}
	}
}

TEST(kafka_dir_damaged_transaction_files)
{
	static Txns t;
	char path[512];

	memset(&t, 0, sizeof t);
	memset(t.open, 0xff, sizeof t.open);
	t.dir = new_dir("t-0");
	t.log = new_buffer();
	t.txn_index = new_buffer();
	t.lost_after = INT64_MAX;
	add_data(&t, 0, 5);
	end_txn(&t, 0, false);
	add_data(&t, 1, 5);
	close_segment(&t);
	check_visible(&t, &everything);
	/* The index has nothing to say. */
	build_file(t.dir, 0, "txnindex", "junk", 4);
	check_visible(&t, &everything);
	snprintf(path, sizeof path, "%s/%020d.txnindex", t.dir, 0);
	REQUIRE(unlink(path) == 0);
	check_visible(&t, &everything);
	/* A damaged snapshot is passed over for the headers. */
	write_snapshot(&t);
	check_visible(&t, &everything);
	snprintf(path, sizeof path, "%s/%020lld.snapshot", t.dir, (long long) t.next);
	REQUIRE(truncate(path, 30) == 0);
	check_visible(&t, &everything);
}

/* Control batches of a kind that is not known yet: the producer's transaction stays open. */
TEST(kafka_dir_unknown_control_ends_nothing)
{
	static const TestRecord records[] = {{0, 0, "key", "value", 0}, {1, 1, "key", "value", 0}};
	const char *dir = new_dir("t-0");
	BfBuffer *log = new_buffer();
	TestBatch t = {.base_offset = 5,
				   .last_delta = 1,
				   .attributes = 0x10,
				   .base_timestamp = 1000005,
				   .max_timestamp = 1000006,
				   .producer_id = 7,
				   .records = records,
				   .n = 2};
	BfKafkaRange behind = everything;

	behind.offset_first = 8;
	add_batch(log, 0, 5);
	build_batch(log, &t);
	build_marker(log, 7, 7, 99, 1000007);
	add_batch(log, 8, 5);
	build_file(dir, 0, "log", log->data, log->len);
	REQUIRE_OK(read_dir(dir, true, &everything));
	EXPECT(rows_are(0, 4));
	/* A scan from behind it has to look back. */
	REQUIRE_OK(read_dir(dir, true, &behind));
	EXPECT_EQ(rows.n, 0);
	build_marker(log, 13, 7, 1, 1000013);
	build_file(dir, 0, "log", log->data, log->len);
	REQUIRE_OK(read_dir(dir, true, &everything));
	EXPECT_EQ(rows.n, 12);
	REQUIRE_OK(read_dir(dir, true, &behind));
	EXPECT(rows_are(8, 12));
}

TEST(kafka_dir_faults_give_an_error_or_all_rows)
{
	static const TestFault kinds[] = {TEST_FAULT_READ, TEST_FAULT_ALLOC, TEST_FAULT_CANCEL};
	const char *dir = new_dir("t-0");
	BfBuffer *log = new_buffer();

	for (int k = 0; k < 6; k++)
	{
		log->len = 0;
		for (int b = 0; b < 10; b++)
			add_batch(log, k * 300 + b * 30, 30);
		build_file(dir, k * 300, "log", log->data, log->len);
		build_file(dir, k * 300, "snapshot", "junk", 4);
	}
	for (int k = 0; k < 3; k++)
		for (int64_t call = 1;; call++)
		{
			TestHost h;
			BfStatus status;

			test_host_init(&h);
			test_fault_arm(&h, kinds[k], call, false);
			status = read_with(&h.host, dir, true, &everything);
			EXPECT_EQ(h.live_allocs, 0);
			EXPECT_EQ(h.open_files, 0);
			if (status == BF_OK)
				EXPECT(rows_are(0, 1799));
			if (!test_fault_fired(&h) || test_failed())
				break;
		}
}
