/* Rows into a ledger and out again: ranges, projections, evolution, holes, counting. */
#include "unit/lib/runner.h"

#include "exec/read/ledger_bounds.h"
#include "exec/write/ledger_append.h"
#include "exec/read/ledger_reader.h"
#include "io/publish.h"

/* Row i of the test table; every column follows from i alone. */
static BfField table_fields[] = {
	{.id = 1, .name = "id", .type = {.kind = BF_KIND_INT64}, .required = true},
	{.id = 2, .name = "n", .type = {.kind = BF_KIND_INT32}},
	{.id = 3, .name = "s", .type = {.kind = BF_KIND_STRING}},
	{.id = 4, .name = "amount", .type = {.kind = BF_KIND_DECIMAL, .precision = 12, .scale = 2}},
	{.id = 5, .name = "at", .type = {.kind = BF_KIND_TIMESTAMPTZ}, .required = true},
	{.id = 6, .name = "f", .type = {.kind = BF_KIND_FLOAT32}},
};
#define N_FIELDS 6
static const BfSchema table = {.schema_id = 3, .n_fields = N_FIELDS, .fields = table_fields};

#define TIME_0 INT64_C(1700000000000)

static uint32_t
text_length(int64_t i, uint32_t long_text)
{
	return i % 97 == 5 ? long_text : (uint32_t) (i % 23);
}

static void
fill_row(BfArena *a, BfBatch *b, int32_t row, int64_t i, uint32_t long_text)
{
	uint32_t len = text_length(i, long_text);
	uint8_t *text = bf_arena_alloc(a, len);

	memset(text, (int) ('a' + i % 26), len);
	b->cols[0].data.i64[row] = i;
	b->cols[1].data.i32[row] = (int32_t) (i * 7);
	bf_validity_set(b->cols[1].validity, row, i % 5 != 0);
	b->cols[2].data.view[row] = (BfView){text, len};
	bf_validity_set(b->cols[2].validity, row, i % 11 != 3);
	b->cols[3].data.i64[row] = i * 101 - 5000;
	b->cols[4].data.i64[row] = TIME_0 * 1000 + i;
	b->cols[5].data.f32[row] = (float) i / 2;
}

/* Is row `row` of the batch row i of the table? `fields` are the table's, in output order. */
static bool
check_row(const BfBatch *b, int32_t row, int64_t i, const int32_t *fields, uint32_t long_text)
{
	for (int32_t c = 0; c < b->n_cols; c++)
	{
		BfValue v;
		bool valid = bf_vector_get(&b->cols[c], row, &v);

		switch (fields[c])
		{
			case 0:
				if (!valid || v.v.i64 != i)
					return false;
				break;
			case 1:
				if (valid != (i % 5 != 0) || (valid && v.v.i32 != (int32_t) (i * 7)))
					return false;
				break;
			case 2:
				if (valid != (i % 11 != 3) || (valid && v.v.view.len != text_length(i, long_text)))
					return false;
				for (uint32_t k = 0; valid && k < v.v.view.len; k++)
					if (v.v.view.ptr[k] != 'a' + i % 26)
						return false;
				break;
			case 3:
				if (!valid || v.v.i64 != i * 101 - 5000)
					return false;
				break;
			case 4:
				if (!valid || v.v.i64 != TIME_0 * 1000 + i)
					return false;
				break;
			default:
				if (!valid || v.v.f32 != (float) i / 2)
					return false;
				break;
		}
	}
	return true;
}

/* Encodes rows of the batch and appends them; `scratch` is left as it was. */
static BfStatus
append_rows(BfLedgerWriter *w, const BfSchema *schema, const BfBatch *b, const int32_t *rows,
			int32_t n, int64_t timestamp_ms, BfArena *scratch, BfError *err)
{
	BfArenaMark mark = bf_arena_mark(scratch);
	BfEncodedRows encoded;
	BfStatus s = bf_exec_ledger_encode(scratch, schema, b, rows, n, &encoded, err);

	if (s == BF_OK)
		s = bf_exec_ledger_append(w, &encoded, timestamp_ms, err);
	bf_arena_rewind(scratch, mark);
	return s;
}

/* A ledger of n rows in log batches of random sizes up to batch_max. */
static const char *
make_ledger(BfArena *a, int64_t n, int32_t batch_max, BfCodec codec, int64_t segment_bytes,
			uint32_t long_text)
{
	static int serial;
	const char *dir = bf_arena_printf(a, "%s/%d", test_dir(), serial++);
	BfLedgerOptions options = {.codec = codec, .segment_bytes_max = segment_bytes};
	BfArena *scratch = bf_arena_new(test_host(), "scratch", (size_t) 1 << 28);
	BfLedgerWriter *w = NULL;
	BfBatch *b = NULL;
	BfStatus s = bf_ledger_writer_open(a, dir, (BfLedgerEnd){0, 0, 0}, &options, &w, &test_err);

	if (s == BF_OK)
		s = bf_exec_ledger_create(a, dir, &table, &test_err);
	if (s == BF_OK)
		s = bf_batch_new(a, table_fields, N_FIELDS, &b, &test_err);
	for (int64_t i = 0; i < n && s == BF_OK;)
	{
		int32_t k = 1 + (int32_t) test_random_below((uint64_t) batch_max);

		if (k > n - i)
			k = (int32_t) (n - i);
		bf_arena_reset(scratch);
		b->n_rows = k;
		for (int32_t c = 0; c < N_FIELDS; c++)
			b->cols[c].n = k;
		for (int32_t row = 0; row < k; row++)
			fill_row(scratch, b, row, i + row, long_text);
		s = append_rows(w, &table, b, NULL, k, TIME_0 + i, scratch, &test_err);
		i += k;
	}
	if (s == BF_OK)
		s = bf_ledger_writer_sync(w, &test_err);
	if (s == BF_OK)
		s = bf_ledger_writer_close(w, &test_err);
	if (s != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", dir, test_err.text);
	bf_arena_free(scratch);
	return dir;
}

static BfRangeSet
ranges_of(BfArena *a, const char *text)
{
	BfRangeSet s = {0, NULL};

	if (bf_rangeset_parse(a, text, strlen(text), false, &s, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", text, test_err.text);
	return s;
}

/* Random ranges within [0, n). */
static BfRangeSet
random_ranges(BfArena *a, int64_t n)
{
	BfRange r[20];
	int32_t n_ranges = 1 + (int32_t) test_random_below(20);
	BfRangeSet s = {0, NULL};

	for (int32_t i = 0; i < n_ranges; i++)
	{
		r[i].first = (int64_t) test_random_below((uint64_t) n);
		r[i].last = r[i].first + (int64_t) test_random_below((uint64_t) (n - r[i].first));
		if (test_random_below(2) == 0 && r[i].last > r[i].first + 9)
			r[i].last = r[i].first + 9;
	}
	if (bf_rangeset_make(a, r, n_ranges, &s, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return s;
}

/* Reads the ranges and compares every row; false after a failure. */
static bool
check_read(BfLedgerPlace place, const char *path, const BfRangeSet *ranges, const int32_t *fields,
		   int32_t n_fields, bool want_entry, uint32_t long_text)
{
	BfArena *a = bf_arena_new(test_host(), "read", (size_t) 1 << 30);
	BfProjection p = {&table, fields, n_fields, want_entry};
	int32_t range = 0;
	int64_t want = ranges->n > 0 ? ranges->ranges[0].first : -1;
	int64_t n = 0;
	BfReader *r = NULL;
	const BfBatch *b = NULL;
	BfStatus s = bf_exec_ledger_reader(a, place, path, NULL, ranges, &p, NULL, &r, &test_err);
	bool ok = true;

	while (s == BF_OK && ok)
	{
		s = r->next(r, &b, &test_err);
		if (s != BF_OK || b == NULL)
			break;
		ok = b->n_rows > 0 && b->n_rows <= BF_BATCH_ROWS && b->n_cols == n_fields;
		ok = ok && (b->entry != NULL) == want_entry;
		for (int32_t row = 0; row < b->n_rows && ok; row++)
		{
			ok = want >= 0 && check_row(b, row, want, fields, long_text);
			if (want_entry)
				ok = ok && b->entry[row] == want && b->timestamp[row] <= TIME_0 + want;
			if (!ok)
				test_fail(__FILE__, __LINE__, "%s: row of entry %lld differs", path,
						  (long long) want);
			if (range < ranges->n && want < ranges->ranges[range].last)
				want++;
			else
				want = ++range < ranges->n ? ranges->ranges[range].first : -1;
			n++;
		}
	}
	if (s != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s %s at %lld: %s", path, bf_status_name(s),
				  test_err.object, (long long) test_err.offset, test_err.text);
	if (s == BF_OK && n != bf_rangeset_count(ranges))
	{
		test_fail(__FILE__, __LINE__, "%s: %lld rows instead of %lld", path, (long long) n,
				  (long long) bf_rangeset_count(ranges));
		ok = false;
	}
	bf_arena_free(a);
	return ok && s == BF_OK;
}

static const int32_t all_fields[] = {0, 1, 2, 3, 4, 5};
static const int32_t numbers[] = {4, 0, 3};
static const int32_t texts[] = {2};

/* Every projection over random ranges, from one place. */
static bool
check_place(BfArena *a, BfLedgerPlace place, const char *path, int64_t n, uint32_t long_text)
{
	for (int round = 0; round < 6; round++)
	{
		BfRangeSet ranges = random_ranges(a, n);
		bool entry = round % 2 == 0;

		if (round == 0)
			ranges = ranges_of(a, bf_arena_printf(a, "0-%lld", (long long) n - 1));
		if (!check_read(place, path, &ranges, all_fields, N_FIELDS, entry, long_text) ||
			!check_read(place, path, &ranges, numbers, 3, entry, long_text) ||
			!check_read(place, path, &ranges, texts, 1, entry, long_text) ||
			!check_read(place, path, &ranges, NULL, 0, entry, long_text) ||
			!check_read(place, path, &ranges, NULL, 0, !entry, long_text))
			return false;
	}
	return true;
}

TEST(exec_ledger_round_trip)
{
	static const struct
	{
		int64_t n;
		int32_t batch_max;
		BfCodec codec;
		int64_t segment_bytes;
		uint32_t long_text;
	} cases[] = {
		{1, 1, BF_CODEC_ZSTD, 0, 10},
		{3000, 1, BF_CODEC_NONE, 0, 10}, /* one row a batch */
		{9000, 10, BF_CODEC_ZSTD, 0, 10},
		{9000, 300, BF_CODEC_NONE, 0, 10},
		{20000, 4096, BF_CODEC_ZSTD, 0, 10},
		{20000, 4096, BF_CODEC_NONE, 0, 3000},	  /* batches too large to hold */
		{12000, 700, BF_CODEC_ZSTD, 0, 5000},	  /* some are, some aren't */
		{9000, 50, BF_CODEC_ZSTD, 100000, 1000},  /* many segments */
		{9000, 60, BF_CODEC_LZ4_FRAME, 0, 60000}, /* the held bytes run full */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfArena *a = test_arena();
		const char *dir = make_ledger(a, cases[i].n, cases[i].batch_max, cases[i].codec,
									  cases[i].segment_bytes, cases[i].long_text);

		if (test_failed() || !check_place(a, BF_LEDGER_LIVE, dir, cases[i].n, cases[i].long_text))
		{
			test_fail(__FILE__, __LINE__, "case %zu", i);
			return;
		}
	}
}

TEST(exec_ledger_offloaded)
{
	for (int i = 0; i < 3; i++)
	{
		BfArena *a = test_arena();
		int64_t n = i == 0 ? 5 : 9000;
		uint32_t long_text = i == 2 ? 20000 : 10;
		const char *dir = make_ledger(a, n, 100, BF_CODEC_ZSTD, 0, long_text);
		const char *path = bf_arena_printf(a, "%s.bfo", dir);
		BfSchema *schema;
		const char *json;
		BfView bytes;
		int64_t size;

		REQUIRE_OK(bf_source_read_all(a, bf_arena_printf(a, "%s/schema.json", dir), 1 << 20, NULL,
									  &bytes, &test_err));
		json = bf_arena_strndup(a, (const char *) bytes.ptr, bytes.len);
		REQUIRE_OK(bf_offload_write(a, dir, NULL, n, json, path, &size, &test_err));
		REQUIRE_OK(bf_exec_ledger_schema(a, BF_LEDGER_OFFLOAD, path, &schema, &test_err));
		EXPECT_EQ(schema->schema_id, 3);
		REQUIRE(check_place(a, BF_LEDGER_OFFLOAD, path, n, long_text));
	}
}

TEST(exec_ledger_empty_ranges)
{
	BfArena *a = test_arena();
	const char *dir = make_ledger(a, 10, 3, BF_CODEC_NONE, 0, 10);
	BfRangeSet none = {0, NULL};

	EXPECT(check_read(BF_LEDGER_LIVE, dir, &none, all_fields, N_FIELDS, true, 10));
	EXPECT(check_read(BF_LEDGER_LIVE, dir, &none, NULL, 0, false, 10));
}

/* Reads until the end or the failure; *n = rows before it. */
static BfStatus
drain(BfArena *a, const char *dir, const BfRangeSet *ranges, const BfProjection *p, int64_t *n)
{
	BfReader *r;
	const BfBatch *b;

	*n = 0;
	bf_error_clear(&test_err);
	BF_TRY(bf_exec_ledger_reader(a, BF_LEDGER_LIVE, dir, NULL, ranges, p, NULL, &r, &test_err));
	for (;;)
	{
		BF_TRY(r->next(r, &b, &test_err));
		if (b == NULL)
			return BF_OK;
		*n += b->n_rows;
	}
}

/* A ledger whose batches hold exactly the given entries. */
static const char *
ledger_with_entries(BfArena *a, const BfRange *batches, int32_t n)
{
	static int serial;
	const char *dir = bf_arena_printf(a, "%s/e%d", test_dir(), serial++);
	BfField f = {.id = 1, .name = "id", .type = {.kind = BF_KIND_INT64}, .required = true};
	BfSchema schema = {.n_fields = 1, .fields = &f};
	BfCodecContext *ctx = NULL;
	BfBuffer *scratch = NULL;
	BfBuffer *out = NULL;
	BfStatus s = bf_codec_context_new(a, &ctx, &test_err);

	if (s == BF_OK)
		s = bf_buffer_new(a, 1 << 20, &scratch, &test_err);
	if (s == BF_OK)
		s = bf_buffer_new(a, 1 << 20, &out, &test_err);
	for (int32_t i = 0; i < n && s == BF_OK; i++)
	{
		BfView values[100];
		uint8_t bytes[100][10];
		int32_t k = 0;

		for (int64_t e = batches[i].first; e <= batches[i].last; e++, k++)
			values[k] = (BfView){bytes[k], (uint32_t) bf_put_uvarint(bytes[k], bf_zigzag(e))};
		s = bf_batch_build(ctx, BF_CODEC_NONE, 0, batches[i].first, values, k, TIME_0, scratch, out,
						   &test_err);
	}
	if (s == BF_OK)
		s = test_host()->mkdirs(test_host(), dir, &test_err);
	if (s == BF_OK)
		s = bf_exec_ledger_create(a, dir, &schema, &test_err);
	if (s == BF_OK)
		s = bf_publish_bytes(a, bf_arena_printf(a, "%s/00000000000000000000.log", dir), out->data,
							 out->len, &test_err);
	if (s != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return dir;
}

TEST(exec_ledger_holes)
{
	static const BfRange batches[] = {{0, 4}, {7, 9}, {10, 10}, {15, 19}};
	static const struct
	{
		const char *ranges;
		int64_t missing; /* -1 = all there */
	} cases[] = {
		{"0-4", -1},   {"2-3", -1},	  {"0-4_7-10", -1},		{"8-8_10-10_16-19", -1}, {"0-5", 5},
		{"4-7", 5},	   {"6-7", 6},	  {"0-19", 5},			{"10-11", 11},			 {"14-15", 14},
		{"19-20", 20}, {"20-20", 20}, {"7-9_500-501", 500}, {"0-3_5-9", 5},
	};
	static const int32_t id[] = {0};
	BfArena *a = test_arena();
	const char *dir = ledger_with_entries(a, batches, 4);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int columns = 0; columns < 2; columns++)
		{
			BfProjection p = {&table, id, columns, false};
			BfRangeSet ranges = ranges_of(a, cases[i].ranges);
			char text[40];
			int64_t n;
			BfStatus s = drain(a, dir, &ranges, &p, &n);

			snprintf(text, sizeof text, "entry %lld", (long long) cases[i].missing);
			if (cases[i].missing < 0)
			{
				EXPECT_EQ(s, BF_OK);
				EXPECT_EQ(n, bf_rangeset_count(&ranges));
			}
			else if (s != BF_ERR_CORRUPT || strstr(test_err.text, text) == NULL ||
					 strstr(test_err.object, dir) == NULL)
				test_fail(__FILE__, __LINE__, "%s: %s %s: %s", cases[i].ranges, bf_status_name(s),
						  test_err.object, test_err.text);
		}
}

/* A batch whose header promises entries that its records lack. */
TEST(exec_ledger_holes_in_batches)
{
	static const BfRange batches[] = {{0, 4}, {8, 9}};
	static const struct
	{
		const char *ranges;
		int64_t missing;
	} cases[] = {{"0-4", -1}, {"0-5", 5}, {"0-9", 5}, {"7-8", 7}, {"2-3_7-7", 7}, {"8-9", -1}};
	static const int32_t id[] = {0};
	BfArena *a = test_arena();
	const char *dir = ledger_with_entries(a, batches, 2);
	const char *path = bf_arena_printf(a, "%s/00000000000000000000.log", dir);
	const BfHost *h = test_host();
	BfView old;
	uint8_t *log;
	size_t batch_bytes;
	int file;

	REQUIRE_OK(bf_source_read_all(a, path, 1 << 20, NULL, &old, &test_err));
	log = bf_arena_memdup(a, old.ptr, old.len);
	batch_bytes = 12 + bf_load32be(log + 8);
	bf_store32be(log + 23, 7); /* the last offset's delta, was 4 */
	bf_store32be(log + 17, bf_crc32c(log + 21, batch_bytes - 21));
	REQUIRE_OK(h->open(h, path, BF_OPEN_WRITE, &file, &test_err));
	REQUIRE_OK(h->write_at(h, file, 0, log, old.len, &test_err));
	h->close(h, file);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int columns = 0; columns < 2; columns++)
		{
			BfProjection p = {&table, id, columns, false};
			BfRangeSet ranges = ranges_of(a, cases[i].ranges);
			char text[40];
			int64_t n;
			BfStatus s = drain(a, dir, &ranges, &p, &n);

			snprintf(text, sizeof text, "entry %lld", (long long) cases[i].missing);
			if (cases[i].missing < 0)
				EXPECT_EQ(s, BF_OK);
			else if (s != BF_ERR_CORRUPT || strstr(test_err.text, text) == NULL)
				test_fail(__FILE__, __LINE__, "%s: %s: %s", cases[i].ranges, bf_status_name(s),
						  test_err.text);
		}
}

/* Small log batches are put together, large ones end a batch. */
TEST(exec_ledger_batch_sizes)
{
	BfArena *a = test_arena();
	const char *dir = make_ledger(a, 9000, 10, BF_CODEC_ZSTD, 0, 10);
	BfRangeSet ranges = ranges_of(a, "0-8999");
	BfProjection p = {&table, all_fields, N_FIELDS, false};
	BfReader *r;
	const BfBatch *b;
	int n = 0;

	REQUIRE_OK(
		bf_exec_ledger_reader(a, BF_LEDGER_LIVE, dir, NULL, &ranges, &p, NULL, &r, &test_err));
	for (;;)
	{
		REQUIRE_OK(r->next(r, &b, &test_err));
		if (b == NULL)
			break;
		n++;
	}
	EXPECT_EQ(n, (9000 + BF_BATCH_ROWS - 1) / BF_BATCH_ROWS);
}

/* The table's columns have moved on since the ledger was written. */
TEST(exec_ledger_evolution)
{
	BfField now[] = {
		{.id = 3, .name = "renamed", .type = {.kind = BF_KIND_STRING}},
		{.id = 9, .name = "added", .type = {.kind = BF_KIND_STRING}},
		{.id = 2, .name = "n", .type = {.kind = BF_KIND_INT64}},
		{.id = 6, .name = "f", .type = {.kind = BF_KIND_FLOAT64}},
		{.id = 4, .name = "amount", .type = {.kind = BF_KIND_DECIMAL, .precision = 30, .scale = 2}},
		{.id = 10, .name = "id", .type = {.kind = BF_KIND_INT64}}, /* another one of that name */
		{.id = 2, .name = "n_again", .type = {.kind = BF_KIND_INT32}},
		/* What rows had that are older than the column. */
		{.id = 11,
		 .name = "defaulted",
		 .type = {.kind = BF_KIND_INT32},
		 .required = true,
		 .has_default = true,
		 .initial_default = {.type = {.kind = BF_KIND_INT32}, .v.i32 = 42}},
	};
	static const int32_t fields[] = {0, 1, 2, 3, 4, 5, 6, 7};
	BfSchema schema = {.n_fields = 8, .fields = now};
	BfProjection p = {&schema, fields, 8, false};
	BfArena *a = test_arena();
	const char *dir = make_ledger(a, 9000, 1000, BF_CODEC_ZSTD, 0, 10);
	BfRangeSet ranges = ranges_of(a, "100-8999");
	int64_t i = 100;
	BfReader *r;
	const BfBatch *b;

	REQUIRE_OK(
		bf_exec_ledger_reader(a, BF_LEDGER_LIVE, dir, NULL, &ranges, &p, NULL, &r, &test_err));
	EXPECT_STR(r->name(r), dir);
	for (;;)
	{
		REQUIRE_OK(r->next(r, &b, &test_err));
		if (b == NULL)
			break;
		for (int32_t row = 0; row < b->n_rows; row++, i++)
		{
			BfValue v[8];

			for (int32_t c = 0; c < 8; c++)
				(void) bf_vector_get(&b->cols[c], row, &v[c]);
			EXPECT_EQ(v[0].is_null, i % 11 == 3);
			EXPECT(v[1].is_null && v[5].is_null);
			EXPECT_EQ(v[2].is_null, i % 5 == 0);
			EXPECT_EQ(v[6].is_null, i % 5 == 0);
			EXPECT(v[2].is_null || (v[2].v.i64 == i * 7 && v[6].v.i32 == i * 7));
			EXPECT(v[3].v.f64 == (double) i / 2);
			EXPECT(v[4].v.i128 == i * 101 - 5000);
			EXPECT(!v[7].is_null && v[7].v.i32 == 42);
		}
	}
	EXPECT_EQ(i, 9000);
}

TEST(exec_ledger_incompatible)
{
	BfArena *a = test_arena();
	const char *dir = make_ledger(a, 10, 10, BF_CODEC_NONE, 0, 10);
	BfField bad[] = {
		{.id = 1, .name = "id", .type = {.kind = BF_KIND_INT32}},
		{.id = 3, .name = "s", .type = {.kind = BF_KIND_DATE}},
		{.id = 44, .name = "gone", .type = {.kind = BF_KIND_DATE}, .required = true},
	};
	BfSchema schema = {.n_fields = 3, .fields = bad};
	BfRangeSet ranges = ranges_of(a, "0-9");
	int64_t n;

	for (int32_t i = 0; i < 3; i++)
	{
		BfProjection p = {&schema, &i, 1, false};

		EXPECT_EQ(drain(a, dir, &ranges, &p, &n), i < 2 ? BF_ERR_UNSUPPORTED : BF_ERR_CORRUPT);
		EXPECT_STR(test_err.column, bad[i].name);
		EXPECT_STR(test_err.object, dir);
	}
}

/* Rows that are not what the schema says. */
TEST(exec_ledger_damaged_rows)
{
	static const int32_t id[] = {0};
	static const BfRange batches[] = {{0, 9}};
	BfArena *a = test_arena();
	const char *dir = ledger_with_entries(a, batches, 1);
	BfField f = {.id = 1, .name = "id", .type = {.kind = BF_KIND_BOOL}};
	BfSchema other = {.n_fields = 1, .fields = &f};
	BfProjection p = {&other, id, 1, false};
	BfRangeSet ranges = ranges_of(a, "0-9");
	int64_t n;

	REQUIRE_OK(
		test_host()->unlink(test_host(), bf_arena_printf(a, "%s/schema.json", dir), &test_err));
	EXPECT_EQ(drain(a, dir, &ranges, &p, &n), BF_ERR_NOTFOUND);
	REQUIRE_OK(bf_exec_ledger_create(a, dir, &other, &test_err));
	EXPECT_FAIL(bf_exec_ledger_create(a, dir, &other, &test_err), BF_ERR_CONFLICT, -1);
	/* Row 0 is a NULL boolean by its one byte, row 1 (byte 2) lacks its value. */
	EXPECT_EQ(drain(a, dir, &ranges, &p, &n), BF_ERR_CORRUPT);
	EXPECT_EQ(test_err.offset, 0);
	EXPECT(strstr(test_err.text, "entry 1,") != NULL);
	EXPECT(strstr(test_err.object, ".log") != NULL);
	EXPECT_STR(test_err.column, "id");
}

TEST(exec_ledger_append_chosen_rows)
{
	static const int32_t rows[] = {5, 1, 3};
	BfArena *a = test_arena();
	BfArena *scratch = test_arena();
	const char *dir = bf_arena_printf(a, "%s/chosen", test_dir());
	BfLedgerOptions options = {.codec = BF_CODEC_NONE};
	BfProjection p = {&table, all_fields, N_FIELDS, true};
	BfRangeSet ranges = ranges_of(a, "0-2");
	BfLedgerWriter *w;
	BfReader *r;
	const BfBatch *got;
	BfBatch *b;
	size_t before;

	REQUIRE_OK(bf_ledger_writer_open(a, dir, (BfLedgerEnd){0, 0, 0}, &options, &w, &test_err));
	REQUIRE_OK(bf_exec_ledger_create(a, dir, &table, &test_err));
	REQUIRE_OK(bf_batch_new(a, table_fields, N_FIELDS, &b, &test_err));
	b->n_rows = 6;
	for (int32_t i = 0; i < 6; i++)
		fill_row(a, b, i, i, 10);
	for (int32_t c = 0; c < N_FIELDS; c++)
		b->cols[c].n = 6;
	before = bf_arena_bytes(scratch);
	REQUIRE_OK(append_rows(w, &table, b, rows, 0, TIME_0, scratch, &test_err));
	EXPECT_EQ(bf_ledger_writer_end(w).entry, 0);
	/* A row that cannot be written leaves the ledger as it was. */
	bf_validity_set(b->cols[0].validity, 3, false);
	EXPECT_FAIL(append_rows(w, &table, b, rows, 3, TIME_0, scratch, &test_err), BF_ERR_VALUE, -1);
	EXPECT_EQ(bf_ledger_writer_end(w).entry, 0);
	bf_validity_set(b->cols[0].validity, 3, true);
	REQUIRE_OK(append_rows(w, &table, b, rows, 3, TIME_0, scratch, &test_err));
	EXPECT_EQ(bf_ledger_writer_end(w).entry, 3);
	EXPECT_EQ(bf_arena_bytes(scratch), before);
	REQUIRE_OK(bf_ledger_writer_sync(w, &test_err));

	REQUIRE_OK(
		bf_exec_ledger_reader(a, BF_LEDGER_LIVE, dir, NULL, &ranges, &p, NULL, &r, &test_err));
	REQUIRE_OK(r->next(r, &got, &test_err));
	REQUIRE(got != NULL && got->n_rows == 3);
	for (int32_t i = 0; i < 3; i++)
	{
		EXPECT(check_row(got, i, rows[i], all_fields, 10));
		EXPECT_EQ(got->entry[i], i);
		EXPECT_EQ(got->timestamp[i], TIME_0);
	}
	REQUIRE_OK(r->next(r, &got, &test_err));
	EXPECT(got == NULL);
}

/* ---- bounds ---- */

/* Random shares of entries 0 .. n - 1, some of them left out. */
static int32_t
random_shares(BfLedgerShare *shares, int64_t n, int32_t n_owners)
{
	int32_t n_shares = 0;

	for (int64_t i = 0; i < n;)
	{
		int64_t last = i + (int64_t) test_random_below(900);

		last = last < n ? last : n - 1;
		if (test_random_below(5) != 0)
			shares[n_shares++] =
				(BfLedgerShare){{i, last}, (int32_t) test_random_below((uint64_t) n_owners)};
		i = last + 1;
	}
	return n_shares;
}

/* What the columns id and n of the shares of one owner lie between. */
static void
check_owner(const BfLedgerShare *shares, int32_t n_shares, int32_t owner, const BfBounds *found)
{
	int64_t values = 0, nulls = 0, low = INT64_MAX, high = INT64_MIN;

	for (int32_t i = 0; i < n_shares; i++)
		for (int64_t e = shares[i].range.first; e <= shares[i].range.last; e++)
		{
			if (shares[i].owner != owner)
				continue;
			values++;
			nulls += e % 5 == 0;
			low = e < low ? e : low;
			high = e > high ? e : high;
		}
	EXPECT_EQ(found[0].values, values);
	EXPECT_EQ(found[0].nulls, 0);
	EXPECT_EQ(found[1].values, values);
	EXPECT_EQ(found[1].nulls, nulls);
	EXPECT_EQ(found[2].values, 0); /* the ledger has no such column */
	EXPECT_EQ(found[0].has, values > 0);
	if (values > 0)
	{
		EXPECT_EQ(found[0].min.v.i64, low);
		EXPECT_EQ(found[0].max.v.i64, high);
	}
}

TEST(exec_ledger_bounds)
{
	BfArena *a = test_arena();
	BfField fields[] = {
		{.id = 1, .name = "id", .type = {.kind = BF_KIND_INT64}},
		{.id = 2, .name = "n", .type = {.kind = BF_KIND_INT64}}, /* was INT32 */
		{.id = 9, .name = "more", .type = {.kind = BF_KIND_STRING}},
		{.id = 3, .name = "s", .type = {.kind = BF_KIND_STRING}},
	};
	BfSchema now = {.schema_id = 4, .n_fields = 4, .fields = fields};
	const int32_t chosen[] = {0, 1, 2, 3};
	BfLedgerColumns columns = {&now, chosen, 4};
	const char *dir = make_ledger(a, 20000, 700, BF_CODEC_ZSTD, 1 << 17, 3000);
	BfLedgerShare *shares = bf_arena_alloc_array(a, 20000, sizeof *shares);
	int32_t n_shares = random_shares(shares, 20000, 6);
	BfBounds bounds[6 * 4];

	for (int32_t i = 0; i < 24; i++)
		bf_bounds_init(&bounds[i], fields[i % 4].type, 64);
	REQUIRE_OK(bf_exec_ledger_bounds(a, BF_LEDGER_LIVE, dir, NULL, &columns, shares, n_shares,
									 bounds, &test_err));
	for (int32_t owner = 0; owner < 6; owner++)
	{
		check_owner(shares, n_shares, owner, &bounds[owner * 4]);
		EXPECT(!bounds[owner * 4 + 3].has || bounds[owner * 4 + 3].max.v.view.len <= 64);
	}
	/* An entry that is not there is an error and no shorter answer. */
	shares[0] = (BfLedgerShare){{19999, 20000}, 0};
	EXPECT_FAIL(
		bf_exec_ledger_bounds(a, BF_LEDGER_LIVE, dir, NULL, &columns, shares, 1, bounds, &test_err),
		BF_ERR_CORRUPT, -1);
}
