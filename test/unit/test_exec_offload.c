/* Bounds of an offload file's blocks: what they leave out, and that it is never a row that counts.
 */
#include "unit/lib/runner.h"

#include "exec/read/ledger_reader.h"
#include "exec/write/ledger_append.h"
#include "exec/write/offload_rows.h"
#include "log/offload_format.h"

/* Row i of the ledger follows from i: ascending, descending with NULLs, text, a float now and then
 * NaN. */
static BfField written[] = {
	{.id = 1, .name = "id", .type = {.kind = BF_KIND_INT32}},
	{.id = 2, .name = "down", .type = {.kind = BF_KIND_INT64}},
	{.id = 3, .name = "s", .type = {.kind = BF_KIND_STRING}},
	{.id = 4, .name = "f", .type = {.kind = BF_KIND_FLOAT64}},
};
#define N_WRITTEN 4
static const BfSchema ledger_schema = {.schema_id = 1, .n_fields = N_WRITTEN, .fields = written};

/* The table since: id is wider, and there is one column more. */
static BfField fields_now[] = {
	{.id = 1, .name = "id", .type = {.kind = BF_KIND_INT64}},
	{.id = 2, .name = "down", .type = {.kind = BF_KIND_INT64}},
	{.id = 3, .name = "s", .type = {.kind = BF_KIND_STRING}},
	{.id = 4, .name = "f", .type = {.kind = BF_KIND_FLOAT64}},
	{.id = 9, .name = "later", .type = {.kind = BF_KIND_INT64}},
};
#define N_NOW 5
static const BfSchema table = {.schema_id = 2, .n_fields = N_NOW, .fields = fields_now};

#define ROWS 300000
#define TIME_0 INT64_C(1700000000000)

static int64_t
time_of(int64_t i)
{
	return TIME_0 + i / 1000;
}

static void
fill_row(BfBatch *b, int32_t row, int64_t i, char *text)
{
	snprintf(text, 40, "a long enough text %07lld", (long long) i);
	b->cols[0].data.i32[row] = (int32_t) i;
	b->cols[1].data.i64[row] = -i;
	bf_validity_set(b->cols[1].validity, row, i % 7 != 0 && i >= 100000);
	b->cols[2].data.view[row] = (BfView){(const uint8_t *) text, (uint32_t) strlen(text)};
	b->cols[3].data.f64[row] = i == 150000 ? __builtin_nan("") : (double) i / 2;
}

static const char *
make_ledger(BfArena *a)
{
	static char texts[1000][40];
	const char *dir = test_path("ledger");
	BfLedgerOptions options = {.codec = BF_CODEC_NONE};
	BfArena *scratch = bf_arena_new(test_host(), "scratch", (size_t) 1 << 28);
	BfLedgerWriter *w = NULL;
	BfEncodedRows encoded;
	BfBatch *b = NULL;
	BfStatus s = bf_ledger_writer_open(a, dir, (BfLedgerEnd){0, 0, 0}, &options, &w, &test_err);

	if (s == BF_OK)
		s = bf_exec_ledger_create(a, dir, &ledger_schema, &test_err);
	if (s == BF_OK)
		s = bf_batch_new(a, written, N_WRITTEN, &b, &test_err);
	for (int64_t i = 0; i < ROWS && s == BF_OK; i += 1000)
	{
		b->n_rows = 1000;
		for (int32_t c = 0; c < N_WRITTEN; c++)
			b->cols[c].n = 1000;
		for (int32_t row = 0; row < 1000; row++)
			fill_row(b, row, i + row, texts[row]);
		bf_arena_reset(scratch);
		s = bf_exec_ledger_encode(scratch, &ledger_schema, b, NULL, 1000, &encoded, &test_err);
		if (s == BF_OK)
			s = bf_exec_ledger_append(w, &encoded, time_of(i), &test_err);
	}
	if (s == BF_OK)
		s = bf_ledger_writer_close(w, &test_err);
	if (s != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	bf_arena_free(scratch);
	return dir;
}

static const char *
schema_text(BfArena *a, const char *dir)
{
	BfView bytes = {NULL, 0};

	if (bf_source_read_all(a, bf_arena_printf(a, "%s/schema.json", dir), 1 << 20, NULL, &bytes,
						   &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return bf_arena_strndup(a, (const char *) bytes.ptr, bytes.len);
}

/* How many entries come, and of them those that the test says match. All that match must come. */
static int64_t
count_read(const char *path, const BfLedgerWhere *where, const BfRangeSet *ranges,
		   bool (*matches)(int64_t i), int64_t *n_matching)
{
	BfArena *a = bf_arena_new(test_host(), "read", (size_t) 1 << 30);
	const int32_t fields[] = {0};
	BfProjection p = {&table, fields, 1, true};
	BfReader *r = NULL;
	const BfBatch *b = NULL;
	int64_t n = 0;
	BfStatus s = bf_exec_ledger_reader_where(a, BF_LEDGER_OFFLOAD, path, NULL, ranges, &p, where,
											 NULL, &r, &test_err);

	*n_matching = 0;
	while (s == BF_OK)
	{
		s = r->next(r, &b, &test_err);
		if (s != BF_OK || b == NULL)
			break;
		for (int32_t row = 0; row < b->n_rows; row++)
		{
			EXPECT_EQ(b->cols[0].data.i64[row], b->entry[row]);
			*n_matching += matches(b->entry[row]);
		}
		n += b->n_rows;
	}
	if (s != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", test_err.object, test_err.text);
	bf_arena_free(a);
	return n;
}

/* ---- predicates ---- */

static bool
is_55(int64_t i)
{
	return i == 55;
}

static bool
down_is_null(int64_t i)
{
	return i % 7 == 0 || i < 100000;
}

static bool
down_is_not_null(int64_t i)
{
	return !down_is_null(i);
}

static bool
is_nan(int64_t i)
{
	return i == 150000;
}

static bool
late_text(int64_t i)
{
	return i >= 299999;
}

static bool
is_any(int64_t i)
{
	return i >= 0;
}

static bool
in_the_middle(int64_t i)
{
	return i >= 150000 && i < 151000;
}

static BfValue nan_value = {.type = {.kind = BF_KIND_FLOAT64}};
static BfValue id_55 = {.type = {.kind = BF_KIND_INT64}, .v.i64 = 55};
static BfValue text_299999 = {.type = {.kind = BF_KIND_STRING}};

static const struct
{
	BfPred pred;
	bool (*matches)(int64_t i);
	int64_t most; /* entries that may come */
} cases[] = {
	{{.kind = BF_PRED_EQ, .field = 0, .n_values = 1, .values = &id_55}, is_55, 70000},
	{{.kind = BF_PRED_IS_NULL, .field = 1}, down_is_null, ROWS},
	{{.kind = BF_PRED_NOT_NULL, .field = 1}, down_is_not_null, ROWS - 65536},
	{{.kind = BF_PRED_EQ, .field = 3, .n_values = 1, .values = &nan_value}, is_nan, 70000},
	/* All texts begin alike. */
	{{.kind = BF_PRED_GE, .field = 2, .n_values = 1, .values = &text_299999}, late_text, ROWS},
	/* Of a column that the ledger does not have nothing is known. */
	{{.kind = BF_PRED_EQ, .field = 4, .n_values = 1, .values = &id_55}, is_any, ROWS},
};

static int64_t
count_matching(bool (*matches)(int64_t i), const BfRangeSet *ranges)
{
	int64_t n = 0;

	for (int32_t k = 0; k < ranges->n; k++)
		for (int64_t i = ranges->ranges[k].first; i <= ranges->ranges[k].last; i++)
			n += matches(i);
	return n;
}

static void
check_cases(const char *path, const BfRangeSet *ranges, bool bounds)
{
	nan_value.v.f64 = __builtin_nan("");
	text_299999.v.view = (BfView){(const uint8_t *) "a long enough text 0299999", 26};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfLedgerWhere where = {&cases[i].pred, INT64_MIN, INT64_MAX};
		int64_t matching;
		int64_t n = count_read(path, &where, ranges, cases[i].matches, &matching);

		EXPECT_EQ(matching, count_matching(cases[i].matches, ranges));
		EXPECT(n <= cases[i].most || !bounds);
		EXPECT(bounds || n == bf_rangeset_count(ranges));
	}
}

static void
check_times(const char *path, const BfRangeSet *ranges)
{
	BfLedgerWhere where = {NULL, time_of(150000), time_of(150000)};
	int64_t matching;

	EXPECT_EQ(count_read(path, &where, ranges, in_the_middle, &matching), 1000);
	EXPECT_EQ(matching, 1000);
	where = (BfLedgerWhere){NULL, time_of(ROWS), INT64_MAX};
	EXPECT_EQ(count_read(path, &where, ranges, is_any, &matching), 0);
	where = (BfLedgerWhere){NULL, INT64_MIN, 5};
	EXPECT_EQ(count_read(path, &where, ranges, is_any, &matching), 0);
	where = (BfLedgerWhere){NULL, -5, INT64_MAX};
	EXPECT_EQ(count_read(path, &where, ranges, is_any, &matching), ROWS);
}

/* ---- rows that say something else ---- */

static BfStatus
see_nothing(void *arg, const BfView *rows, int32_t n, BfError *err)
{
	(void) arg;
	(void) rows;
	(void) n;
	(void) err;
	return BF_OK;
}

static BfStatus
put_junk(void *arg, BfBuffer *out, BfError *err)
{
	const BfView *junk = arg;

	return bf_buffer_append(out, junk->ptr, junk->len, err);
}

static const BfView junk[] = {
	{(const uint8_t *) "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11},
	{(const uint8_t *) "\x01\x01\x03", 3},
	{(const uint8_t *) "\x7f\x01\x00", 3},
	/* Bounds that leave out everything, of five rows. */
	{(const uint8_t *) "\x01\x01\x03\x05\x00\x00\x04\x00\x00\x00\x7f\x04\x00\x00\x00\x7f", 16},
	/* More NULLs than values; one byte too many; a bound of three bytes. */
	{(const uint8_t *) "\x01\x01\x00\x05\x06\x00", 6},
	{(const uint8_t *) "\x01\x01\x00\x05\x05\x00\x00", 7},
	{(const uint8_t *) "\x01\x01\x01\x80\x80\x04\x00\x00\x03\x00\x00\x7f", 12},
};

TEST(exec_offload_bounds)
{
	BfArena *a = test_arena();
	const char *dir = make_ledger(a);
	const char *json = schema_text(a, dir);
	const char *path = test_path("with.bfo");
	BfRange all[] = {{0, ROWS - 1}},
			some[] = {{3, 70}, {100, 66000}, {149999, 150001}, {299998, 299999}};
	BfRangeSet whole = {1, all}, ranges = {4, some};
	BfOffloadRows rows;
	BfOffloadFile *f;

	REQUIRE_OK(bf_exec_offload_rows(a, json, &rows, &test_err));
	REQUIRE_OK(bf_offload_write_shown(a, dir, NULL, ROWS, json, &rows, path, NULL, &test_err));
	REQUIRE_OK(bf_offload_open(a, path, NULL, &f, &test_err));
	EXPECT_EQ(bf_offload_info(f)->n_index_blocks, 5);
	check_cases(path, &whole, true);
	check_cases(path, &ranges, true);
	check_times(path, &whole);
	/* Without bounds, and with what is none, everything is read. */
	path = test_path("without.bfo");
	REQUIRE_OK(bf_offload_write(a, dir, NULL, ROWS, json, path, NULL, &test_err));
	check_cases(path, &whole, false);
	check_times(path, &whole);
	for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++)
	{
		rows = (BfOffloadRows){(void *) (uintptr_t) &junk[i], see_nothing, put_junk};
		path = test_path(bf_arena_printf(a, "junk%zu.bfo", i));
		REQUIRE_OK(bf_offload_write_shown(a, dir, NULL, ROWS, json, &rows, path, NULL, &test_err));
		check_cases(path, &ranges, false);
		EXPECT_EQ(remove(path), 0);
	}
}

/* Rows that are not what the schema says are copied, and nothing is said of them. */
TEST(exec_offload_rows_of_another_schema)
{
	BfArena *a = test_arena();
	BfOffloadRows rows;
	BfBuffer *out;
	BfView odd = {(const uint8_t *) "\x02", 1};

	REQUIRE_OK(bf_exec_offload_rows(a,
									"{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":"
									"\"x\",\"field-id\":1,\"type\":\"double\"}]}",
									&rows, &test_err));
	REQUIRE_OK(bf_buffer_new(a, 1 << 20, &out, &test_err));
	REQUIRE_OK(rows.see(rows.arg, &odd, 1, &test_err));
	REQUIRE_OK(rows.finish_block(rows.arg, out, &test_err));
	EXPECT_EQ(out->len, 0);
	odd = (BfView){(const uint8_t *) "\0\0\0\0\0\0\0\0", 8};
	REQUIRE_OK(rows.see(rows.arg, &odd, 1, &test_err));
	REQUIRE_OK(rows.finish_block(rows.arg, out, &test_err));
	EXPECT(out->len > 0);
	EXPECT_FAIL(bf_exec_offload_rows(a, "\"string\"", &rows, &test_err), BF_ERR_CORRUPT, -1);
}
