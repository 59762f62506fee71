/*
 * What a file says of its values loses no row that matches: files made by hand that say too little,
 * too much or something wrong, each against one predicate.
 */
#include <math.h>

#include <xxhash.h>

#include "exec/read/parquet_reader.h"
#include "unit/lib/parquet_make.h"
#include "unit/lib/runner.h"
#include "vec/pred.h"

#define N 3
#define BYTES(s) ((BfView){(const uint8_t *) (s), sizeof(s) - 1})
#define DECIMAL(p, s)                                           \
	{                                                           \
		.kind = BF_KIND_DECIMAL, .precision = (p), .scale = (s) \
	}

/* What the table has of the file's one column, or beside it. */
typedef struct Question
{
	BfType type;
	int32_t id; /* 1: the file's column */
	BfPredKind kind;
	BfValue value;	/* of EQ */
	uint32_t prune; /* 0: BF_PRUNE_ROW_GROUP */
	const BfConstants *constants;
} Question;

/* How many rows come out. */
static BfStatus
ask(const MadeFile *file, const Question *q, int64_t *rows)
{
	BfArena *a = test_arena();
	BfField field = {.id = q->id, .name = "c", .type = q->type};
	BfSchema schema = {.n_fields = 1, .fields = &field};
	static const int32_t zero = 0;
	BfProjection projection = {.schema = &schema, .fields = &zero, .n_fields = 1};
	BfValue value = q->value;
	BfPred pred = {.kind = q->kind, .values = &value};
	BfRowFilter filter = {.pred = &pred, .prune = q->prune == 0 ? BF_PRUNE_ROW_GROUP : q->prune};
	BfBuffer *bytes;
	BfSource *source;
	BfParquetFile *f;
	BfReader *r;
	const BfBatch *b;

	*rows = 0;
	pred.n_values = q->kind == BF_PRED_EQ;
	BF_TRY(bf_buffer_new(a, (size_t) 1 << 20, &bytes, &test_err));
	BF_TRY(made_parquet(bytes, file, &test_err));
	BF_TRY(bf_source_memory(a, bytes->data, bytes->len, "made", &source, &test_err));
	BF_TRY(bf_parquet_open(a, source, NULL, &f, &test_err));
	BF_TRY(bf_exec_parquet_reader_filtered(a, f, &projection, q->constants, 0, -1, &filter, NULL,
										   &r, &test_err));
	for (;;)
	{
		BF_TRY(r->next(r, &b, &test_err));
		if (b == NULL)
			return BF_OK;
		*rows += bf_batch_n(b);
	}
}

static int64_t
rows_of(const MadeFile *file, const Question *q)
{
	int64_t rows = -1;

	if (ask(file, q, &rows) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "%s: %s", bf_status_name(test_err.code), test_err.text);
		return -1;
	}
	return rows;
}

/* N times the same PLAIN value, its length before it where the type has one. */
static BfView
repeated(const MadeColumn *c, BfView value)
{
	uint8_t *out = bf_arena_alloc(test_arena(), N * ((size_t) value.len + 4));
	uint8_t *p = out;

	for (int i = 0; i < N; i++)
	{
		if (c->physical == MADE_BYTE_ARRAY)
		{
			bf_store32le(p, value.len);
			p += 4;
		}
		memcpy(p, value.ptr, value.len);
		p += value.len;
	}
	return (BfView){out, (uint32_t) (p - out)};
}

/* ---- bloom filters ---- */

/* One block that has the value, or nothing. */
static BfView
filter_of(BfView value)
{
	static const uint32_t salt[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
									 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
	uint8_t *block = bf_arena_alloc(test_arena(), 32);
	uint32_t key = (uint32_t) XXH64(value.ptr, value.len, 0);

	for (int i = 0; i < 8; i++)
		bf_store32le(block + 4 * i,
					 value.ptr == NULL ? 0 : (uint32_t) 1 << ((key * salt[i]) >> 27));
	return (BfView){block, 32};
}

typedef struct BloomCase
{
	const char *what;
	MadeColumn column;
	BfView stored; /* of the physical type */
	BfType type;   /* of the table */
	BfValue asked;
} BloomCase;

static int64_t
rows_by_filter(const BloomCase *b, BfView filter)
{
	MadeColumn c = b->column;
	MadeFile file = {.columns = &c, .n_columns = 1, .n_rows = N};
	Question q = {.type = b->type, .id = 1, .kind = BF_PRED_EQ, .prune = BF_PRUNE_BLOOM};

	q.value = b->asked;
	q.value.type = b->type;
	c.name = "c";
	c.id = 1;
	c.values = repeated(&c, b->stored);
	c.bloom = filter;
	return rows_of(&file, &q);
}

#define DECIMAL_OF(p, s) .has_converted = true, .converted = 5, .precision = (p), .scale = (s)

/* Writers don't agree on the bytes of these: a filter that has nothing says nothing. */
TEST(exec_parquet_bloom_unsure)
{
	static const BloomCase cases[] = {
		{"a small decimal in a byte array",
		 {.physical = MADE_BYTE_ARRAY, DECIMAL_OF(9, 2)},
		 BYTES("\x05"),
		 DECIMAL(9, 2),
		 {.v.i64 = 5}},
		{"a wide decimal in a byte array",
		 {.physical = MADE_BYTE_ARRAY, DECIMAL_OF(30, 2)},
		 BYTES("\x00\x05"),
		 DECIMAL(30, 2),
		 {.v.i128 = 5}},
		{"a half",
		 {.physical = MADE_FLBA, .length = 2, .logical = 15},
		 BYTES("\x00\x3e"),
		 BF_TYPE(FLOAT32),
		 {.v.f32 = 1.5F}},
		{"a NaN",
		 {.physical = MADE_DOUBLE},
		 BYTES("\x01\0\0\0\0\0\xf8\xff"),
		 BF_TYPE(FLOAT64),
		 {.v.f64 = (double) NAN}},
		{"an old timestamp",
		 {.physical = MADE_INT96},
		 BYTES("\0\0\0\0\0\0\0\0\x8c\x3d\x25\0"),
		 BF_TYPE(TIMESTAMP),
		 {.v.i64 = 0}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (rows_by_filter(&cases[i], filter_of((BfView){NULL, 0})) != N)
			test_fail(__FILE__, __LINE__, "%s: rows are lost", cases[i].what);
}

/* The file's form of what the table asks for is found; and where the filter lacks it, it counts. */
TEST(exec_parquet_bloom_sure)
{
	static const BloomCase cases[] = {
		{"a negative decimal",
		 {.physical = MADE_FLBA, .length = 4, DECIMAL_OF(9, 2)},
		 BYTES("\xff\xff\xff\xfb"),
		 DECIMAL(9, 2),
		 {.v.i64 = -5}},
		{"a decimal in an int",
		 {.physical = MADE_INT32, DECIMAL_OF(9, 2)},
		 BYTES("\xfb\xff\xff\xff"),
		 DECIMAL(25, 2),
		 {.v.i128 = -5}},
		{"a long",
		 {.physical = MADE_INT64},
		 BYTES("\xff\xff\xff\xff\xff\xff\xff\x7f"),
		 DECIMAL(25, 3),
		 {.v.i128 = (bf_i128) INT64_MAX * 1000}},
		{"an unsigned number",
		 {.physical = MADE_INT32, .has_converted = true, .converted = 13},
		 BYTES("\xff\xff\xff\xff"),
		 BF_TYPE(INT64),
		 {.v.i64 = UINT32_MAX}},
		{"milliseconds before 1970",
		 {.physical = MADE_INT64, .has_converted = true, .converted = 9},
		 BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"),
		 BF_TYPE(TIMESTAMPTZ),
		 {.v.i64 = -1000}},
		{"a date",
		 {.physical = MADE_INT32, .has_converted = true, .converted = 6},
		 BYTES("\xff\xff\xff\xff"),
		 BF_TYPE(TIMESTAMP),
		 {.v.i64 = INT64_C(-86400000000)}},
		{"minus zero",
		 {.physical = MADE_DOUBLE},
		 BYTES("\0\0\0\0\0\0\0\x80"),
		 BF_TYPE(FLOAT64),
		 {.v.f64 = 0.0}},
		{"a float",
		 {.physical = MADE_FLOAT},
		 BYTES("\0\0\0\x3f"),
		 BF_TYPE(FLOAT64),
		 {.v.f64 = 0.5}},
		{"an int in a double",
		 {.physical = MADE_INT32},
		 BYTES("\0\0\0\x80"),
		 BF_TYPE(FLOAT64),
		 {.v.f64 = -2147483648.0}},
		{"a text",
		 {.physical = MADE_BYTE_ARRAY},
		 BYTES("word"),
		 BF_TYPE(STRING),
		 {.v.view = BYTES("word")}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		if (rows_by_filter(&cases[i], filter_of(cases[i].stored)) != N)
			test_fail(__FILE__, __LINE__, "%s: rows are lost", cases[i].what);
		if (rows_by_filter(&cases[i], filter_of((BfView){NULL, 0})) != 0)
			test_fail(__FILE__, __LINE__, "%s: the filter is not asked", cases[i].what);
	}
}

/* No value of the file's type is what is asked for: the filter need not be asked, and must not be
 * asked for another value. */
TEST(exec_parquet_bloom_inexpressible)
{
	static const BloomCase cases[] = {
		{"2^32 + 7 in an int",
		 {.physical = MADE_INT32},
		 BYTES("\x07\0\0\0"),
		 BF_TYPE(INT64),
		 {.v.i64 = (INT64_C(1) << 32) + 7}},
		{"7.001 in a long",
		 {.physical = MADE_INT64},
		 BYTES("\x07\0\0\0\0\0\0\0"),
		 DECIMAL(25, 3),
		 {.v.i128 = 7001}},
		{"7.5 in an int",
		 {.physical = MADE_INT32},
		 BYTES("\x07\0\0\0"),
		 BF_TYPE(FLOAT64),
		 {.v.f64 = 7.5}},
		{"microseconds in milliseconds",
		 {.physical = MADE_INT64, .has_converted = true, .converted = 9},
		 BYTES("\x07\0\0\0\0\0\0\0"),
		 BF_TYPE(TIMESTAMPTZ),
		 {.v.i64 = 7001}},
		{"-1 in an unsigned int",
		 {.physical = MADE_INT32, .has_converted = true, .converted = 13},
		 BYTES("\xff\xff\xff\xff"),
		 BF_TYPE(INT64),
		 {.v.i64 = -1}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (rows_by_filter(&cases[i], filter_of(cases[i].stored)) != 0)
			test_fail(__FILE__, __LINE__, "%s", cases[i].what);
}

/* ---- dictionaries ---- */

/* The last day that a file can name is no timestamp. No row has it, and those that are there count.
 */
TEST(exec_parquet_dictionary_entry_without_value)
{
	static const uint8_t codes[] = {1, N << 1, 1}; /* a run of code 1 */
	MadeColumn c = {.name = "c",
					.id = 1,
					.physical = MADE_INT32,
					.has_converted = true,
					.converted = 6, /* DATE */
					.dictionary = BYTES("\xff\xff\xff\x7f\x02\0\0\0"),
					.n_dictionary = 2,
					.encoding = 8,
					.values = {codes, sizeof codes}};
	MadeFile file = {.columns = &c, .n_columns = 1, .n_rows = N};
	Question q = {.type = BF_TYPE(TIMESTAMP),
				  .id = 1,
				  .kind = BF_PRED_EQ,
				  .prune = BF_PRUNE_DICTIONARY,
				  .value = {.type = BF_TYPE(TIMESTAMP), .v.i64 = INT64_C(2 * 86400000000)}};

	EXPECT_EQ(rows_of(&file, &q), N);
	/* As a date it is a value, and the dictionary has the last word. */
	q.type = q.value.type = BF_TYPE(DATE);
	q.value.v.i32 = 2;
	EXPECT_EQ(rows_of(&file, &q), N);
	q.value.v.i32 = 3;
	EXPECT_EQ(rows_of(&file, &q), 0);
}

/* A code behind the last entry is damage wherever it is met. */
TEST(exec_parquet_dictionary_code_behind_the_end)
{
	static uint8_t codes[] = {2, N << 1, 2};
	MadeColumn c = {.name = "c",
					.id = 1,
					.physical = MADE_INT32,
					.dictionary = BYTES("\x01\0\0\0\x02\0\0\0"),
					.n_dictionary = 2,
					.encoding = 8,
					.values = {codes, sizeof codes}};
	MadeFile file = {.columns = &c, .n_columns = 1, .n_rows = N};
	Question q = {.type = BF_TYPE(INT32), .id = 1, .kind = BF_PRED_NOT_NULL};
	int64_t rows;

	/* The page is behind the magic and the dictionary: a header of 13 bytes, and 8. */
	EXPECT_FAIL(ask(&file, &q, &rows), BF_ERR_CORRUPT, 4 + 13 + 8);
	codes[2] = 1;
	EXPECT_EQ(rows_of(&file, &q), N);
}

/* ---- statistics ---- */

static const char *const words[N] = {"b", "b", "b"};
static const Question is_b = {.type = {.kind = BF_KIND_STRING},
							  .id = 1,
							  .kind = BF_PRED_EQ,
							  .value = {.type = {.kind = BF_KIND_STRING}, .v.view = BYTES("b")}};

/* Bounds of bytes that are wrong, as parquet-mr wrote them before 1.8.0. */
TEST(exec_parquet_old_bounds_of_bytes)
{
	static const struct
	{
		const char *created_by;
		bool believed;
	} table[] = {
		{NULL, false},
		{"parquet-mr", false},
		{"parquet-mr version unknown", false},
		{"parquet-mr version 1.2.8 (build a)", false},
		{"parquet-mr version 1.7.0 (build a)", false},
		{"parquet-mr version 1.7.9 (build a)", false},
		{"parquet-mr version 1.5.0-cdh5.4.9 (build a)", false},
		{"parquet-mr version 1.5.1-cdh5.5.0 (build a)", false},
		{"parquet-mr version 1.5.0-cdh5.5.0 (build a)", true},
		{"parquet-mr version 1.5.0-cdh6.0.0 (build a)", true},
		{"parquet-mr version 1.8.0 (build a)", true},
		{"parquet-mr version 1.10.1 (build a)", true},
		{"impala version 1.1.0 (build a)", true},
	};
	MadeStatistics s = {.min = BYTES("a"), .max = BYTES("a"), .null_count = 0};
	MadeColumn c = {.name = "c", .id = 1, .texts = words, .statistics = &s};
	MadeFile file = {.columns = &c, .n_columns = 1, .n_rows = N};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
	{
		file.created_by = table[i].created_by;
		if (rows_of(&file, &is_b) != (table[i].believed ? 0 : N))
			test_fail(__FILE__, __LINE__, "%s is%s believed", file.created_by,
					  table[i].believed ? " not" : "");
	}
	/* Two different ones were compared as signed bytes. */
	s.max = BYTES("aa");
	EXPECT_EQ(rows_of(&file, &is_b), N);
}

/* The order of the newer pair is that of the type only where the file says so. */
TEST(exec_parquet_bounds_without_order)
{
	MadeStatistics s = {.min_value = BYTES("c"), .max_value = BYTES("d"), .null_count = 0};
	MadeColumn c = {.name = "c", .id = 1, .texts = words, .statistics = &s};
	MadeFile file = {.columns = &c, .n_columns = 1, .n_rows = N};

	EXPECT_EQ(rows_of(&file, &is_b), N);
	file.typed_order = true;
	EXPECT_EQ(rows_of(&file, &is_b), 0);
	s.min_value = BYTES("d");
	s.max_value = BYTES("c");
	EXPECT_EQ(rows_of(&file, &is_b), N);
}

/* Old bounds are in the order of signed numbers: to them 2^31 + 1 is below 5. A pair of them would
 * be upside down and give itself away, one alone doesn't. */
TEST(exec_parquet_old_bounds_of_unsigned)
{
	MadeStatistics s = {.max = BYTES("\x05\0\0\0"), .null_count = 0};
	MadeColumn c = {.name = "c",
					.id = 1,
					.physical = MADE_INT32,
					.has_converted = true,
					.converted = 13,
					.statistics = &s};
	MadeFile file = {.columns = &c, .n_columns = 1, .n_rows = N};
	Question q = {.type = BF_TYPE(INT64),
				  .id = 1,
				  .kind = BF_PRED_EQ,
				  .value = {.type = BF_TYPE(INT64), .v.i64 = INT64_C(2147483649)}};

	c.values = repeated(&c, BYTES("\x01\0\0\x80"));
	EXPECT_EQ(rows_of(&file, &q), N);
	s.max_value = s.max;
	s.max = (BfView){NULL, 0};
	EXPECT_EQ(rows_of(&file, &q), N);
	file.typed_order = true;
	EXPECT_EQ(rows_of(&file, &q), 0);
}

TEST(exec_parquet_bounds_not_a_number)
{
	MadeStatistics s = {.min_value = BYTES("\0\0\0\0\0\0\xf8\x7f"),
						.max_value = BYTES("\0\0\0\0\0\0\xf0\x3f"),
						.null_count = 0};
	MadeColumn c = {.name = "c", .id = 1, .physical = MADE_DOUBLE, .statistics = &s};
	MadeFile file = {.columns = &c, .n_columns = 1, .n_rows = N, .typed_order = true};
	Question q = {.type = BF_TYPE(FLOAT64),
				  .id = 1,
				  .kind = BF_PRED_EQ,
				  .value = {.type = BF_TYPE(FLOAT64), .v.f64 = -1}};

	/* -1 is below a bound that is NaN, as PostgreSQL orders them. */
	c.values = repeated(&c, BYTES("\0\0\0\0\0\0\xf0\xbf"));
	EXPECT_EQ(rows_of(&file, &q), N);
	s.max_value = (BfView){NULL, 0};
	EXPECT_EQ(rows_of(&file, &q), N);
	s.min_value = BYTES("\0\0\0\0\0\0\0\0");
	EXPECT_EQ(rows_of(&file, &q), 0);
}

/* A bound that the table's type can't express is none: 120 million days, which in microseconds
 * would come round to before 1970. */
TEST(exec_parquet_bound_without_value)
{
	MadeStatistics s = {.max_value = BYTES("\0\x0e\x27\x07"), .null_count = 0};
	MadeColumn c = {.name = "c",
					.id = 1,
					.physical = MADE_INT32,
					.has_converted = true,
					.converted = 6,
					.statistics = &s};
	MadeFile file = {.columns = &c, .n_columns = 1, .n_rows = N, .typed_order = true};
	Question q = {.type = BF_TYPE(TIMESTAMP),
				  .id = 1,
				  .kind = BF_PRED_EQ,
				  .value = {.type = BF_TYPE(TIMESTAMP), .v.i64 = INT64_C(2 * 86400000000)}};

	c.values = repeated(&c, BYTES("\x02\0\0\0"));
	EXPECT_EQ(rows_of(&file, &q), N);
	s.max_value = BYTES("\x01\0\0\0");
	EXPECT_EQ(rows_of(&file, &q), 0);
}

/* ---- counts ---- */

TEST(exec_parquet_null_counts)
{
	static const int64_t longs[N] = {1, 2, 3};
	MadeStatistics s = {.null_count = -1};
	MadeColumn c = {.name = "c", .id = 1, .longs = longs, .optional = true, .statistics = &s};
	MadeFile file = {.columns = &c, .n_columns = 1, .n_rows = N};
	Question null = {.type = BF_TYPE(INT64), .id = 1, .kind = BF_PRED_IS_NULL};
	Question not_null = {.type = BF_TYPE(INT64), .id = 1, .kind = BF_PRED_NOT_NULL};

	/* Unknown is not none. */
	EXPECT_EQ(rows_of(&file, &null), N);
	EXPECT_EQ(rows_of(&file, &not_null), N);
	s.null_count = 0;
	EXPECT_EQ(rows_of(&file, &null), 0);
	EXPECT_EQ(rows_of(&file, &not_null), N);
	s.null_count = N;
	EXPECT_EQ(rows_of(&file, &not_null), 0);
	/* More than there are values. */
	s.null_count = N + 1;
	EXPECT_EQ(rows_of(&file, &not_null), N);
	EXPECT_EQ(rows_of(&file, &null), N);
}

/* A column that the file lacks is one value in every row, or NULL in every row. */
TEST(exec_parquet_null_counts_of_a_default)
{
	static const int64_t longs[N] = {1, 2, 3};
	static const int32_t id = 9;
	BfValue value = {.type = BF_TYPE(INT64), .v.i64 = 42};
	BfConstants constants = {.n = 1, .ids = &id, .values = &value};
	MadeColumn c = {.name = "c", .id = 1, .longs = longs};
	MadeFile file = {.columns = &c, .n_columns = 1, .n_rows = N};
	Question null = {
		.type = BF_TYPE(INT64), .id = id, .kind = BF_PRED_IS_NULL, .constants = &constants};
	Question not_null = null;
	Question equal = null;

	not_null.kind = BF_PRED_NOT_NULL;
	equal.kind = BF_PRED_EQ;
	equal.value = value;
	EXPECT_EQ(rows_of(&file, &null), 0);
	EXPECT_EQ(rows_of(&file, &not_null), N);
	EXPECT_EQ(rows_of(&file, &equal), N);
	equal.value.v.i64 = 43;
	EXPECT_EQ(rows_of(&file, &equal), 0);
	value.is_null = true;
	EXPECT_EQ(rows_of(&file, &null), N);
	EXPECT_EQ(rows_of(&file, &not_null), 0);
	null.constants = not_null.constants = NULL;
	EXPECT_EQ(rows_of(&file, &null), N);
	EXPECT_EQ(rows_of(&file, &not_null), 0);
}

/* A column of more or fewer values than the row group has rows is damaged; its statistics don't
 * decide that nobody looks. */
TEST(exec_parquet_value_counts)
{
	static const int64_t longs[N] = {1, 2, 3};
	MadeStatistics s = {
		.min = BYTES("\x07\0\0\0\0\0\0\0"), .max = BYTES("\x07\0\0\0\0\0\0\0"), .null_count = 0};
	MadeColumn c = {.name = "c", .id = 1, .longs = longs, .statistics = &s};
	MadeFile file = {.columns = &c, .n_columns = 1, .n_rows = N};
	Question q = {.type = BF_TYPE(INT64),
				  .id = 1,
				  .kind = BF_PRED_EQ,
				  .value = {.type = BF_TYPE(INT64), .v.i64 = 2}};
	int64_t rows;

	EXPECT_EQ(rows_of(&file, &q), 0);
	c.more_count = -1;
	EXPECT_FAIL(ask(&file, &q, &rows), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.column, "c");
	c.more_count = 1;
	EXPECT_FAIL(ask(&file, &q, &rows), BF_ERR_CORRUPT, -1);
}
