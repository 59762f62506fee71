/* Partitions of real brokers as rows. */
#include "unit/lib/runner.h"

#include <jansson.h>
#include <stdlib.h>

#include "exec/read/kafka_dir.h"
#include "exec/read/kafka_reader.h"
#include "log/writer.h"
#include "unit/lib/md5.h"

static const char *const partitions[] = {
	"stopped/big-index-0", "stopped/c-gzip-0",	"stopped/c-none-0",	  "stopped/c-snappy-0",
	"stopped/c-zstd-0",	   "stopped/compact-0", "stopped/disorder-0", "stopped/empty-0",
	"stopped/many-0",	   "stopped/many-1",	"stopped/retained-0", "stopped/tiny-0",
	"stopped/txn-0",	   "live/c-zstd-0",		"live/compact-0",	  "live/txn-0",
};

#define PARTITIONS (sizeof partitions / sizeof *partitions)

static const BfKafkaRange everything = {0, INT64_MAX, INT64_MIN, INT64_MAX, NULL, false, false};
static const BfKafkaColumn all_columns[] = {BF_KAFKA_VALUE, BF_KAFKA_OFFSET,  BF_KAFKA_PARTITION,
											BF_KAFKA_KEY,	BF_KAFKA_HEADERS, BF_KAFKA_TIMESTAMP};

typedef struct Summary
{
	int64_t rows;
	int64_t first;
	int64_t last;
	int64_t offset_sum;
	int64_t nulls;
	int64_t min_ts;
	int64_t max_ts;
	char md5[33];
} Summary;

static BfArena *
new_arena(void)
{
	return bf_arena_new(test_host(), "kafka test", (size_t) 1 << 30);
}

static void
add_row(Summary *s, TestMd5 *md5, const BfBatch *b, int32_t i)
{
	static const uint8_t zero = 0;
	BfValue value, offset, key, timestamp, partition;
	char text[32];
	bool has_value = bf_vector_get(&b->cols[0], i, &value);
	bool has_key = bf_vector_get(&b->cols[3], i, &key);

	REQUIRE(bf_vector_get(&b->cols[1], i, &offset));
	REQUIRE(bf_vector_get(&b->cols[2], i, &partition));
	EXPECT_EQ(partition.v.i32, 7);
	EXPECT_EQ(offset.v.i64, b->entry[i]);
	EXPECT(s->rows == 0 || offset.v.i64 > s->last);
	snprintf(text, sizeof text, "%lld|", (long long) offset.v.i64);
	test_md5_add(md5, text, strlen(text));
	test_md5_add(md5, has_key ? key.v.view.ptr : &zero, has_key ? key.v.view.len : 1);
	test_md5_add(md5, "|", 1);
	test_md5_add(md5, has_value ? value.v.view.ptr : &zero, has_value ? value.v.view.len : 1);
	test_md5_add(md5, "\n", 1);
	if (s->rows == 0)
		s->first = offset.v.i64;
	s->last = offset.v.i64;
	s->offset_sum += offset.v.i64;
	s->nulls += !has_value;
	REQUIRE(bf_vector_get(&b->cols[5], i, &timestamp));
	EXPECT_EQ(timestamp.v.i64, b->timestamp[i] * 1000);
	if (s->rows == 0 || b->timestamp[i] < s->min_ts)
		s->min_ts = b->timestamp[i];
	if (s->rows == 0 || b->timestamp[i] > s->max_ts)
		s->max_ts = b->timestamp[i];
	s->rows++;
}

static BfStatus
summarise(const char *dir, bool committed, const BfKafkaRange *range, BfLogCounters *counters,
		  Summary *s)
{
	BfArena *a = new_arena();
	BfReader *r;
	TestMd5 md5;
	BfStatus status =
		bf_exec_kafka_reader(a, dir, 7, committed, range, all_columns, 6, counters, &r, &test_err);

	memset(s, 0, sizeof *s);
	test_md5_init(&md5);
	while (status == BF_OK)
	{
		const BfBatch *b;

		status = r->next(r, &b, &test_err);
		if (status != BF_OK || b == NULL)
			break;
		EXPECT(b->n_rows > 0 && b->n_rows <= BF_BATCH_ROWS);
		for (int32_t i = 0; i < b->n_rows; i++)
			add_row(s, &md5, b, i);
	}
	test_md5_hex(&md5, s->md5);
	bf_arena_free(a);
	return status;
}

TEST(kafka_rows_are_those_of_a_consumer)
{
	BfArena *a = test_arena();
	json_t *expected;

	if (test_corpus() == NULL)
	{
		test_skip("no corpus");
		return;
	}
	expected = json_load_file(bf_arena_printf(a, "%s/logs/kafka-4.1/expected.json", test_corpus()),
							  0, NULL);
	REQUIRE(expected != NULL);
	for (size_t i = 0; i < PARTITIONS; i++)
		for (int committed = 0; committed < 2; committed++)
		{
			const char *dir =
				bf_arena_printf(a, "%s/logs/kafka-4.1/%s", test_corpus(), partitions[i]);
			json_t *e = json_object_get(expected, strchr(partitions[i], '/') + 1);
			Summary s;

			e = json_object_get(e, committed != 0 ? "read_committed" : "read_uncommitted");
			REQUIRE(e != NULL);
			REQUIRE_OK(summarise(dir, committed != 0, &everything, NULL, &s));
			EXPECT_EQ(s.rows, json_integer_value(json_object_get(e, "records")));
			EXPECT_EQ(s.offset_sum, json_integer_value(json_object_get(e, "offset_sum")));
			EXPECT_EQ(s.nulls, json_integer_value(json_object_get(e, "null_values")));
			EXPECT_EQ(s.first, json_integer_value(json_object_get(e, "first")));
			EXPECT_EQ(s.last, json_integer_value(json_object_get(e, "last")));
			EXPECT_EQ(s.min_ts, json_integer_value(json_object_get(e, "min_ts")));
			EXPECT_EQ(s.max_ts, json_integer_value(json_object_get(e, "max_ts")));
			EXPECT_STR(s.md5, json_string_value(json_object_get(e, "md5_offset_key_value")));
		}
	json_decref(expected);
}

/* The same on the partitions that are always there. */
TEST(kafka_rows_of_the_small_set)
{
	static const struct
	{
		const char *name;
		bool committed;
		int rows;
		const char *md5;
	} cases[] = {
		{"many-0", true, 1000, "ebeb996c58bf1152d4d710574f990e84"},
		{"many-1", false, 1500, "294bbef59797d8462f7286f327116062"},
		{"tiny-0", true, 1, "4478cced56d0c0b53dbc37c4a0f7bfab"},
		{"disorder-0", true, 3000, "cde3dd2ee829e39ed48cc85dd64cf8d0"},
		{"txn-0", false, 4550, "337a91eacc419e3a6b1b94653e982f1b"},
		{"txn-0", true, 3200, "f74cb9493090efc90718704e547d82ae"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		Summary s;

		REQUIRE_OK(summarise(bf_arena_printf(test_arena(), "test/data/kafka/%s", cases[i].name),
							 cases[i].committed, &everything, NULL, &s));
		EXPECT_EQ(s.rows, cases[i].rows);
		EXPECT_STR(s.md5, cases[i].md5);
	}
}

/* Every row as offset and timestamp, for filtering by hand. */
typedef struct Rows
{
	int64_t n;
	int64_t *offsets;
	int64_t *timestamps;
} Rows;

static BfStatus
list_rows(BfArena *a, const char *dir, bool committed, const BfKafkaRange *range,
		  BfLogCounters *counters, Rows *out)
{
	static const BfKafkaColumn columns[] = {BF_KAFKA_VALUE};
	int64_t cap = 0;
	BfReader *r;

	out->n = 0;
	BF_TRY(bf_exec_kafka_reader(a, dir, 0, committed, range, columns, 1, counters, &r, &test_err));
	for (;;)
	{
		const BfBatch *b;

		BF_TRY(r->next(r, &b, &test_err));
		if (b == NULL)
			return BF_OK;
		if (out->n + b->n_rows > cap)
		{
			int64_t *more = bf_arena_alloc_array(a, (size_t) (cap = cap * 2 + 5000) * 2, 8);

			if (out->n > 0)
			{
				memcpy(more, out->offsets, (size_t) out->n * 8);
				memcpy(more + cap, out->timestamps, (size_t) out->n * 8);
			}
			out->offsets = more;
			out->timestamps = more + cap;
		}
		memcpy(out->offsets + out->n, b->entry, (size_t) b->n_rows * 8);
		memcpy(out->timestamps + out->n, b->timestamp, (size_t) b->n_rows * 8);
		out->n += b->n_rows;
	}
}

TEST(kafka_ranges_match_a_filtered_full_scan)
{
	BfArena *a = test_arena();

	if (test_corpus() == NULL)
	{
		test_skip("no corpus");
		return;
	}
	for (size_t i = 0; i < PARTITIONS; i++)
		for (int round = 0; round < 40 && !test_failed(); round++)
		{
			const char *dir =
				bf_arena_printf(a, "%s/logs/kafka-4.1/%s", test_corpus(), partitions[i]);
			bool committed = round % 2 == 0;
			BfArena *b = new_arena();
			BfKafkaRange range = everything;
			Rows all, some;
			int64_t at = 0;

			REQUIRE_OK(list_rows(b, dir, committed, &everything, NULL, &all));
			if (all.n == 0)
			{
				bf_arena_free(b);
				break;
			}
			if (round % 4 < 2)
			{
				range.offset_first = all.offsets[test_random_below((uint64_t) all.n)] - 1;
				range.offset_end = range.offset_first + (int64_t) test_random_below(300);
			}
			if (round % 4 > 0)
			{
				range.time_first_ms = all.timestamps[test_random_below((uint64_t) all.n)];
				range.time_last_ms = range.time_first_ms + (int64_t) test_random_below(60);
			}
			if (round % 8 == 3)
				range.time_first_ms = INT64_MIN;
			if (round % 8 == 6)
				range.time_last_ms = INT64_MAX;
			REQUIRE_OK(list_rows(b, dir, committed, &range, NULL, &some));
			for (int64_t k = 0; k < all.n; k++)
				if (all.offsets[k] >= range.offset_first && all.offsets[k] < range.offset_end &&
					all.timestamps[k] >= range.time_first_ms &&
					all.timestamps[k] <= range.time_last_ms)
				{
					if (at >= some.n || some.offsets[at] != all.offsets[k])
					{
						test_fail(__FILE__, __LINE__, "%s: row at offset %lld is missing",
								  partitions[i], (long long) all.offsets[k]);
						break;
					}
					at++;
				}
			EXPECT_EQ(some.n, at);
			bf_arena_free(b);
		}
}

TEST(kafka_point_lookup_decodes_one_batch)
{
	BfArena *a = test_arena();

	if (test_corpus() == NULL)
	{
		test_skip("no corpus");
		return;
	}
	for (int64_t offset = 1; offset < 24000; offset += 2371)
	{
		BfKafkaRange range = everything;
		BfLogCounters c;
		BfArena *b = new_arena();
		Rows rows;

		memset(&c, 0, sizeof c);
		range.offset_first = offset;
		range.offset_end = offset + 1;
		REQUIRE_OK(
			list_rows(b, bf_arena_printf(a, "%s/logs/kafka-4.1/stopped/big-index-0", test_corpus()),
					  false, &range, &c, &rows));
		EXPECT_EQ(rows.n, 1);
		EXPECT_EQ(c.batches_read, 1);
		EXPECT_EQ(c.entries_decoded, 2);
		EXPECT_EQ(c.index.warm_hits + c.index.cold_hits, 1);
		bf_arena_free(b);
	}
}

TEST(kafka_time_range_skips_segments_and_batches)
{
	BfArena *a = test_arena();
	BfKafkaRange range = everything;
	BfLogCounters c;
	Rows all, some;
	const char *dir;

	if (test_corpus() == NULL)
	{
		test_skip("no corpus");
		return;
	}
	dir = bf_arena_printf(a, "%s/logs/kafka-4.1/stopped/retained-0", test_corpus());
	REQUIRE_OK(list_rows(a, dir, false, &everything, NULL, &all));
	range.time_first_ms = all.timestamps[all.n - 1];
	memset(&c, 0, sizeof c);
	REQUIRE_OK(list_rows(a, dir, false, &range, &c, &some));
	EXPECT(some.n > 0);
	EXPECT(c.segments_skipped >= 1);
	EXPECT(c.batches_read <= 4);
}

/* ---- young and old segments in turns ---- */

#define OLD 1000000
#define YOUNG 2000000
#define BLOCK_BATCHES 30

/* Blocks of batches of ten records, a few segments each: every other one is old. Returns the number
 * of records. */
static int64_t
make_turns(BfArena *a, const char *dir, int n_blocks)
{
	static const char text[400];
	BfLedgerOptions options = {.codec = BF_CODEC_NONE, .segment_bytes_max = 40000};
	BfView values[10];
	BfLedgerWriter *w;

	for (int i = 0; i < 10; i++)
		values[i] = (BfView){(const uint8_t *) text, sizeof text};
	if (bf_ledger_writer_open(a, dir, (BfLedgerEnd){0, 0, 0}, &options, &w, &test_err) != BF_OK)
		return -1;
	for (int i = 0; i < n_blocks * BLOCK_BATCHES; i++)
		if (bf_ledger_append(w, values, 10, (i / BLOCK_BATCHES % 2 == 0 ? YOUNG : OLD) + i,
							 &test_err) != BF_OK)
			return -1;
	return bf_ledger_writer_close(w, &test_err) == BF_OK ? n_blocks * BLOCK_BATCHES * 10 : -1;
}

/* That no transaction is open at an offset. */
static void
put_snapshot(BfArena *a, const char *dir, int64_t offset)
{
	uint8_t bytes[10] = {0, 1};
	FILE *f = fopen(bf_arena_printf(a, "%s/%020lld.snapshot", dir, (long long) offset), "wb");

	REQUIRE(f != NULL);
	bf_store32be(bytes + 2, bf_crc32c(bytes + 6, 4));
	EXPECT_EQ(fwrite(bytes, 1, sizeof bytes, f), sizeof bytes);
	fclose(f);
}

/* The rows that are young enough, and that many segments and no more were not read. */
static void
check_turns(const char *dir, int64_t n, bool committed, int64_t least, int64_t most)
{
	BfArena *a = test_arena();
	BfKafkaRange range = everything;
	BfLogCounters c = {.segments_read = 0};
	Rows rows;

	range.time_first_ms = YOUNG;
	REQUIRE_OK(list_rows(a, dir, committed, &range, &c, &rows));
	EXPECT_EQ(rows.n, n / 2);
	for (int64_t i = 0; i < rows.n; i++)
		EXPECT_EQ(rows.offsets[i] / (BLOCK_BATCHES * 10) % 2, 0);
	if (c.segments_skipped < least || c.segments_skipped > most)
		test_fail(__FILE__, __LINE__, "%lld segments are skipped", (long long) c.segments_skipped);
}

TEST(kafka_time_range_skips_old_segments_behind_young_ones)
{
	BfArena *a = test_arena();
	const char *dir = test_path("topic-0");
	int64_t n = make_turns(a, dir, 6);
	BfLogDir *d;

	REQUIRE(n > 0);
	REQUIRE_OK(bf_log_dir_open(a, dir, NULL, &d, &test_err));
	EXPECT(bf_log_dir_n_segments(d) >= 15);
	check_turns(dir, n, false, 4, 9);
	/* Where a transaction may be open nothing is left out. */
	check_turns(dir, n, true, 0, 0);
	put_snapshot(a, dir, n / 2);
	check_turns(dir, n, true, 1, 4);
	/* Without indexes there is more to read and nothing else to see. */
	for (int32_t i = 0; i < bf_log_dir_n_segments(d); i++)
	{
		char *index = bf_arena_strdup(a, bf_log_dir_segment(d, i)->path);

		index = bf_arena_printf(a, "%.*s.timeindex", (int) strlen(index) - 4, index);
		EXPECT_EQ(remove(index), 0);
	}
	check_turns(dir, n, false, 4, 9);
}

TEST(kafka_headers_are_json)
{
	static const BfKafkaColumn columns[] = {BF_KAFKA_HEADERS, BF_KAFKA_HEADERS};
	BfArena *a = test_arena();
	BfReader *r;
	int64_t rows = 0, pairs = 0, nulls = 0, empty = 0;

	if (test_corpus() == NULL)
	{
		test_skip("no corpus");
		return;
	}
	REQUIRE_OK(bf_exec_kafka_reader(
		a, bf_arena_printf(a, "%s/logs/kafka-4.1/stopped/c-zstd-0", test_corpus()), 0, true,
		&everything, columns, 2, NULL, &r, &test_err));
	for (;;)
	{
		const BfBatch *b;

		REQUIRE_OK(r->next(r, &b, &test_err));
		if (b == NULL)
			break;
		for (int32_t i = 0; i < b->n_rows; i++)
		{
			BfView v = b->cols[1].data.view[i];
			json_t *j = json_loadb((const char *) v.ptr, v.len, JSON_ALLOW_NUL, NULL);
			size_t n = json_array_size(j);

			REQUIRE(json_is_array(j));
			for (size_t k = 0; k < n; k++)
			{
				json_t *value = json_object_get(json_array_get(j, k), "value");

				EXPECT(json_is_string(json_object_get(json_array_get(j, k), "key")));
				EXPECT(json_is_string(value) || json_is_null(value));
				nulls += json_is_null(value);
				empty += json_is_string(value) && json_string_length(value) == 0;
				pairs++;
			}
			json_decref(j);
			rows++;
		}
	}
	EXPECT_EQ(rows, 6000);
	EXPECT(pairs > rows);
	EXPECT(nulls > 0 && empty > 0);
}

TEST(kafka_old_formats_are_refused_by_name)
{
	Summary s;

	if (test_corpus() == NULL)
	{
		test_skip("no corpus");
		return;
	}
	for (int i = 0; i < 2; i++)
		EXPECT_FAIL(summarise(bf_arena_printf(test_arena(), "%s/logs/kafka-2.8/stopped/%s",
											  test_corpus(), i == 0 ? "v1-none-0" : "mixed-0"),
							  i == 0, &everything, NULL, &s),
					BF_ERR_UNSUPPORTED, 0);
	EXPECT(strstr(test_err.object, "mixed-0/00000000000000000000.log") != NULL);
	EXPECT(strstr(test_err.text, "v0") != NULL);
}

TEST(kafka_directory_names)
{
	static const struct
	{
		const char *dir;
		int topic_end; /* -1 = none */
		int partition;
	} cases[] = {
		{"orders-0", 6, 0},
		{"/var/lib/kafka/my-topic.v_2-17", 27, 17},
		{"/var/lib/kafka/my-topic-17///", 23, 17},
		{"a--3", 2, 3},
		{"t-2147483647", 1, 2147483647},
		{"t-2147483648", -1, 0},
		{"t-99999999999", -1, 0},
		{"-0", -1, 0},
		{"x/-0", -1, 0},
		{"t-", -1, 0},
		{"t", -1, 0},
		{"", -1, 0},
		{"t-01", -1, 0},
		{"t-0.9dc5dc6dcc4c4bd4b13aa4bd6c8d3c0b-delete", -1, 0},
		{"t-0.9dc5dc6dcc4c4bd4b13aa4bd6c8d3c0b-future", -1, 0},
		{"t-0.9dc5dc6dcc4c4bd4b13aa4bd6c8d3c0b-stray", -1, 0},
		{"some-dir/t", -1, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		const char *end = NULL;
		int32_t partition = -1;
		bool good = bf_kafka_dir_name(cases[i].dir, &end, &partition);

		EXPECT_EQ(good, cases[i].topic_end >= 0);
		if (good)
		{
			EXPECT_EQ(end - cases[i].dir, cases[i].topic_end);
			EXPECT_EQ(partition, cases[i].partition);
		}
	}
}
