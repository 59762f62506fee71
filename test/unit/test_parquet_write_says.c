/*
 * What a file says of its rows is so: metrics, statistics, the page index, Bloom filters,
 * encodings; and where a writer stops: options out of range, values that don't fit, the n-th call
 * that fails.
 */
#include <math.h>

#include "unit/test_parquet_write.h"

/* One column, of numbers or texts. */
static BfSchema
one_column(BfArena *a, BfType type, bool required)
{
	BfSchema s = {.n_fields = 1};

	s.fields = bf_arena_alloc_array(a, 1, sizeof *s.fields);
	memset(s.fields, 0, sizeof *s.fields);
	s.fields[0] = (BfField){.id = 3, .name = "c", .type = type, .required = required};
	return s;
}

static BfParquetFile *
open_file(BfArena *a, const BfBuffer *file)
{
	BfSource *source;
	BfParquetFile *f;

	if (bf_source_memory(a, file->data, file->len, "made", &source, &test_err) != BF_OK ||
		bf_parquet_open(a, source, NULL, &f, &test_err) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
		return NULL;
	}
	return f;
}

/* Is the value within the bounds, as far as there are any? NaN is nowhere. */
static bool
is_within(const BfColumnStats *s, const BfValue *v)
{
	bool f32 = bf_type_storage(v->type) == BF_STORE_F32, f64 = v->type.kind == BF_KIND_FLOAT64;

	if ((f32 && isnan(v->v.f32)) || (f64 && isnan(v->v.f64)))
		return s->may_have_nan;
	return (!s->has_min || bf_value_compare(&s->min, v) <= 0) &&
		   (!s->has_max || bf_value_compare(v, &s->max) <= 0);
}

/* Rows [first, end) of a column, counted over the batches, against what is said of them. */
static void
check_stats(BfBatch *const *batches, int32_t n, int32_t column, int64_t first, int64_t end,
			const BfColumnStats *s)
{
	int64_t row = 0, nulls = 0;
	BfValue v;

	for (int32_t k = 0; k < n; k++)
		for (int32_t i = 0; i < batches[k]->n_rows; i++, row++)
		{
			if (row < first || row >= end)
				continue;
			if (!bf_vector_get(&batches[k]->cols[column], i, &v))
				nulls++;
			else if (!is_within(s, &v))
			{
				test_fail(__FILE__, __LINE__, "column %d row %lld", column, (long long) row);
				return;
			}
		}
	EXPECT(s->null_count < 0 || s->null_count == nulls);
	EXPECT_EQ(s->row_count, end - first);
}

static void
check_all_stats(BfArena *a, BfParquetFile *f, BfBatch *const *batches, int32_t n)
{
	for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f); rg++)
		for (int32_t c = 0; c < N_TYPES; c++)
		{
			int64_t first = bf_parquet_row_group_first_row(f, rg);
			int64_t rows = bf_parquet_row_group_rows(f, rg);
			const BfParquetPages *pages;
			BfColumnStats s;

			EXPECT(bf_parquet_row_group_stats(f, rg, c, &s) && s.null_count >= 0);
			check_stats(batches, n, c, first, first + rows, &s);
			REQUIRE_OK(bf_parquet_pages(f, a, rg, c, &pages, &test_err));
			if (pages == NULL)
			{
				/* NaN alone in some page, or no order. */
				EXPECT(!s.has_min || s.may_have_nan);
				continue;
			}
			EXPECT(pages->n > 1 && pages->first_row[pages->n] == rows);
			for (int32_t p = 0; p < pages->n; p++)
				check_stats(batches, n, c, first + pages->first_row[p],
							first + pages->first_row[p + 1], &pages->stats[p]);
		}
}

TEST(parquet_write_statistics)
{
	static const int32_t sizes[] = {4000, 4096};

	for (int values = 0; values < MADE_VALUES_COUNT; values++)
		for (int nulls = 0; nulls < MADE_ALL_NULL; nulls++)
		{
			BfArena *a = bf_arena_new(test_host(), "statistics", (size_t) 1 << 28);
			BfSchema s = all_types(a, false);
			BfParquetWriteOptions o = small_pages();
			MadeRows made = {.nulls = (MadeNulls) nulls,
							 .values = (MadeValues) values,
							 .bytes_max = 150,
							 .random = from_test};
			BfBatch **b = made_batches(a, &s, &made, sizes, 2);
			BfParquetWritten file;
			BfBuffer out;
			BfParquetFile *f;

			o.bound_bytes = 8 + (uint32_t) test_random_below(57);
			bf_buffer_init(&out, test_host(), (size_t) 1 << 28);
			if (write_file(a, &s, b, 2, &o, &out, &file) != BF_OK)
				test_fail(__FILE__, __LINE__, "%s", test_err.text);
			else if ((f = open_file(a, &out)) != NULL)
				check_all_stats(a, f, b, 2);
			bf_buffer_free(&out);
			bf_arena_free(a);
		}
}

/* A column of doubles, written; what is said of it. */
static void
said_of(const double *values, int32_t n, BfParquetColumnMetrics *out, BfColumnStats *stats)
{
	BfArena *a = test_arena();
	BfSchema s = one_column(a, BF_TYPE(FLOAT64), true);
	BfVector v;
	BfBatch batch = {.n_rows = n, .n_cols = 1, .cols = &v};
	BfBatch *b = &batch;
	BfParquetWritten file;
	BfParquetFile *f;
	BfBuffer bytes;

	REQUIRE_OK(bf_vector_init(a, &v, BF_TYPE(FLOAT64), &test_err));
	v.n = n;
	memcpy(v.data.f64, values, (size_t) n * sizeof *values);
	bf_buffer_init(&bytes, test_host(), (size_t) 1 << 20);
	REQUIRE_OK(write_file(a, &s, &b, 1, NULL, &bytes, &file));
	*out = file.columns[0];
	f = open_file(a, &bytes);
	REQUIRE(f != NULL && bf_parquet_row_group_stats(f, 0, 0, stats));
	bf_buffer_free(&bytes);
}

TEST(parquet_write_nan_and_zero)
{
	static const double zeroes[] = {0.0, -0.0, 0.0}, mixed[] = {NAN, 2, NAN, -3},
						nans[] = {NAN, NAN};
	BfParquetColumnMetrics m;
	BfColumnStats s;

	said_of(zeroes, 3, &m, &s);
	EXPECT(m.has_lower && m.lower.v.f64 == 0 && signbit(m.lower.v.f64));
	EXPECT(m.has_upper && m.upper.v.f64 == 0 && !signbit(m.upper.v.f64));
	EXPECT(s.has_min && signbit(s.min.v.f64) && s.has_max && !signbit(s.max.v.f64));
	EXPECT(m.nans == 0 && !s.may_have_nan);
	said_of(mixed, 4, &m, &s);
	EXPECT(m.lower.v.f64 == -3 && m.upper.v.f64 == 2 && m.nans == 2);
	EXPECT(s.min.v.f64 == -3 && s.max.v.f64 == 2 && s.may_have_nan);
	said_of(nans, 2, &m, &s);
	EXPECT(!m.has_lower && !m.has_upper && m.nans == 2 && !s.has_min && !s.has_max);
}

/* Texts, written with bounds of so many bytes. */
static void
text_bounds(BfType type, uint32_t bound, const char *const *values, int32_t n,
			BfParquetColumnMetrics *out)
{
	BfArena *a = test_arena();
	BfSchema s = one_column(a, type, true);
	BfParquetWriteOptions o = bf_parquet_write_defaults;
	BfVector v;
	BfBatch batch = {.n_rows = n, .n_cols = 1, .cols = &v};
	BfBatch *b = &batch;
	BfParquetWritten file;
	BfBuffer bytes;

	o.bound_bytes = bound;
	REQUIRE_OK(bf_vector_init(a, &v, type, &test_err));
	v.n = n;
	for (int32_t i = 0; i < n; i++)
		v.data.view[i] = (BfView){(const uint8_t *) values[i], (uint32_t) strlen(values[i])};
	bf_buffer_init(&bytes, test_host(), (size_t) 1 << 20);
	REQUIRE_OK(write_file(a, &s, &b, 1, &o, &bytes, &file));
	*out = file.columns[0];
	bf_buffer_free(&bytes);
}

static bool
is_text(const BfValue *v, const char *text)
{
	return v->v.view.len == strlen(text) && memcmp(v->v.view.ptr, text, strlen(text)) == 0;
}

TEST(parquet_write_cut_bounds)
{
	static const char *const fit[] = {"bcdefghi", "", "bcdefgh"};
	static const char *const cut[] = {"abcdefghij", "abcdefg\xc3\xa9", "zzzzzzzzz"};
	static const char *const last[] = {"\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf"};
	static const char *const full[] = {"\xff\xff\xff\xff\xff\xff\xff\xff\xff"};
#define A16 "aaaaaaaaaaaaaaaa"
	static const char *const alike[] = {A16 A16 A16 A16, A16 A16 A16 A16 "!", A16};
	static const char *const carried[] = {"aa\xff\xff\xff\xff\xff\xff\xff"};
	BfParquetColumnMetrics m;

	text_bounds(BF_TYPE(STRING), 8, fit, 3, &m);
	EXPECT(m.has_lower && m.lower_exact && is_text(&m.lower, ""));
	EXPECT(m.has_upper && m.upper_exact && is_text(&m.upper, "bcdefghi"));
	text_bounds(BF_TYPE(STRING), 8, cut, 3, &m);
	EXPECT(m.has_lower && !m.lower_exact && is_text(&m.lower, "abcdefgh"));
	EXPECT(m.has_upper && !m.upper_exact && is_text(&m.upper, "zzzzzzz{"));
	text_bounds(BF_TYPE(STRING), 8, cut + 1, 1, &m);
	EXPECT(!m.lower_exact && is_text(&m.lower, "abcdefg"));
	EXPECT(!m.upper_exact && is_text(&m.upper, "abcdefh"));
	text_bounds(BF_TYPE(STRING), 8, last, 1, &m);
	EXPECT(m.has_lower && !m.has_upper);
	text_bounds(BF_TYPE(BINARY), 8, full, 1, &m);
	EXPECT(m.has_lower && !m.has_upper);
	text_bounds(BF_TYPE(BINARY), 8, carried, 1, &m);
	EXPECT(m.has_upper && is_text(&m.upper, "ab"));
	/* What is kept of a value is 64 bytes. */
	text_bounds(BF_TYPE(STRING), 64, alike, 1, &m);
	EXPECT(m.upper_exact && m.upper.v.view.len == 64);
	for (int32_t i = 0; i < 2; i++)
	{
		text_bounds(BF_TYPE(STRING), 64, alike + i, 3 - i, &m);
		EXPECT(!m.upper_exact && m.upper.v.view.len == 64 && m.upper.v.view.ptr[63] == 'b');
	}
}

TEST(parquet_write_bloom)
{
	static const int32_t columns[] = {0, 1}, sizes[] = {4000};
	BfArena *a = test_arena();
	BfField fields[] = {{.id = 1, .name = "n", .type = {.kind = BF_KIND_INT64}},
						{.id = 2, .name = "t", .type = {.kind = BF_KIND_STRING}}};
	BfSchema s = {.n_fields = 2, .fields = fields};
	BfParquetWriteOptions o = bf_parquet_write_defaults;
	MadeRows made = {.nulls = MADE_SOME_NULLS, .bytes_max = 30, .random = from_test};
	BfBatch **b = made_batches(a, &s, &made, sizes, 1);
	BfParquetWritten file;
	BfBuffer out;
	BfParquetFile *f;
	int64_t wrong = 0;

	o.bloom = columns;
	o.n_bloom = 2;
	bf_buffer_init(&out, test_host(), (size_t) 1 << 26);
	REQUIRE_OK(write_file(a, &s, b, 1, &o, &out, &file));
	/* Room for a million values was given back. */
	EXPECT(out.len < 200000);
	f = open_file(a, &out);
	REQUIRE(f != NULL);
	for (int32_t c = 0; c < 2; c++)
	{
		BfParquetBloom *bloom;
		BfValue v;
		bool may;

		REQUIRE_OK(bf_parquet_bloom(f, a, 0, c, &bloom, &test_err));
		REQUIRE(bloom != NULL);
		for (int32_t i = 0; i < sizes[0]; i++)
			if (bf_vector_get(&b[0]->cols[c], i, &v))
			{
				REQUIRE_OK(bf_parquet_bloom_may_have(bloom, &v, &may, &test_err));
				EXPECT(may);
			}
		for (int32_t i = 0; c == 0 && i < 10000; i++)
		{
			v = (BfValue){.type = BF_TYPE(INT64), .v.i64 = (int64_t) test_random()};
			REQUIRE_OK(bf_parquet_bloom_may_have(bloom, &v, &may, &test_err));
			wrong += may;
		}
	}
	EXPECT(wrong < 10000 * o.bloom_false * 2);
	bf_buffer_free(&out);
}

/* Rows of one column; which encodings its chunk has. */
static void
encodings_of(BfType type, MadeValues values, const BfParquetWriteOptions *o, const char *wanted)
{
	static const int32_t sizes[] = {4096, 4096, 4096, 4096, 4096};
	BfArena *a = bf_arena_new(test_host(), "encodings", (size_t) 1 << 28);
	BfSchema s = one_column(a, type, false);
	MadeRows made = {.values = values, .bytes_max = 60, .random = from_test};
	BfBatch **b = made_batches(a, &s, &made, sizes, 5);
	BfParquetWritten file;
	BfParquetChunkInfo info;
	BfBuffer out;
	BfParquetFile *f;

	bf_buffer_init(&out, test_host(), (size_t) 1 << 28);
	if (write_file(a, &s, b, 5, o, &out, &file) != BF_OK || (f = open_file(a, &out)) == NULL ||
		bf_parquet_chunk_info(f, a, 0, 0, &info, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	else if (strstr(info.encodings, wanted) == NULL)
		test_fail(__FILE__, __LINE__, "%s, not %s", info.encodings, wanted);
	bf_buffer_free(&out);
	bf_arena_free(a);
}

TEST(parquet_write_race)
{
	BfParquetWriteOptions basic = bf_parquet_write_defaults, none = basic, lengths = basic;

	basic.basic_encodings = true;
	none.dictionary_bytes = 0;
	lengths.delta_lengths = true;
	encodings_of(BF_TYPE(INT64), MADE_FEW, NULL, "RLE_DICTIONARY");
	encodings_of(BF_TYPE(INT64), MADE_FEW, &basic, "PLAIN_DICTIONARY");
	encodings_of(BF_TYPE(INT64), MADE_RISING, NULL, "DELTA_BINARY_PACKED");
	encodings_of(BF_TYPE(INT64), MADE_RISING, &basic, "PLAIN");
	encodings_of(BF_TYPE(TIMESTAMPTZ), MADE_RISING, NULL, "DELTA_BINARY_PACKED");
	encodings_of(BF_TYPE(STRING), MADE_FEW, NULL, "RLE_DICTIONARY");
	encodings_of(BF_TYPE(STRING), MADE_FEW, &none, "PLAIN");
	encodings_of(BF_TYPE(STRING), MADE_ANY, &lengths, "DELTA_LENGTH_BYTE_ARRAY");
	encodings_of(BF_TYPE(STRING), MADE_ANY, NULL, "DELTA_BYTE_ARRAY");
	encodings_of(BF_TYPE(FLOAT64), MADE_ANY, NULL, "BYTE_STREAM_SPLIT");
	encodings_of(BF_TYPE(BOOL), MADE_REPEATED, NULL, "RLE");
}

/* Is every page of the first row group one of codes? */
static bool
all_codes(BfArena *a, const BfBuffer *file)
{
	static const int32_t column = 0;
	BfParquetFile *f = open_file(a, file);
	BfParquetScan *scan;
	const BfVector *dict = NULL;

	if (f == NULL || bf_parquet_scan_new(a, f, &column, 1, NULL, &scan, &test_err) != BF_OK ||
		bf_parquet_scan_row_group(scan, 0, &test_err) != BF_OK ||
		bf_parquet_scan_dictionary(scan, 0, &dict, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return dict != NULL;
}

/* A dictionary that turns out too large is left in the middle of the chunk, and what comes then
 * races again. */
TEST(parquet_write_dictionary_is_left)
{
	BfArena *a = test_arena();
	BfSchema s = one_column(a, BF_TYPE(STRING), true);
	BfParquetWriteOptions o = bf_parquet_write_defaults;
	BfBatch *b[12];
	BfParquetWritten file;
	BfParquetChunkInfo info;
	BfParquetFile *f;
	BfBuffer out;

	o.page_rows = 4096;
	o.delta_lengths = true;
	for (int32_t i = 0; i < 12; i++)
	{
		MadeRows made = {
			.values = i < 3 ? MADE_FEW : MADE_ANY, .bytes_max = 90, .random = from_test};

		REQUIRE_OK(made_batch(a, &made, s.fields, 1, 4096, &b[i], &test_err));
	}
	bf_buffer_init(&out, test_host(), (size_t) 1 << 28);
	REQUIRE_OK(write_file(a, &s, b, 3, &o, &out, &file));
	EXPECT(all_codes(a, &out));
	out.len = 0;
	REQUIRE_OK(write_file(a, &s, b, 12, &o, &out, &file));
	check_rows(a, &s, b, 12, &out);
	EXPECT(!all_codes(a, &out));
	f = open_file(a, &out);
	REQUIRE(f != NULL);
	REQUIRE_OK(bf_parquet_chunk_info(f, a, 0, 0, &info, &test_err));
	EXPECT_STR(info.encodings, "PLAIN,DELTA_LENGTH_BYTE_ARRAY,RLE_DICTIONARY");
	bf_buffer_free(&out);
}

/* ---- where it stops ---- */

static BfStatus
try_options(const BfParquetWriteOptions *o)
{
	BfSchema s = one_column(test_arena(), BF_TYPE(INT32), false);
	BfParquetWriter *w;
	BfBuffer out;
	BfStatus status;

	bf_buffer_init(&out, test_host(), (size_t) 1 << 20);
	status = bf_parquet_writer_new(test_arena(), bf_output_buffer(&out), &s, o, &w, &test_err);
	bf_buffer_free(&out);
	return status;
}

#define TRY_OPTION(status_, member, value)                     \
	do                                                         \
	{                                                          \
		BfParquetWriteOptions to_ = bf_parquet_write_defaults; \
                                                               \
		to_.member = (value);                                  \
		EXPECT_FAIL(try_options(&to_), (status_), -1);         \
	} while (0)

TEST(parquet_write_options)
{
	static const int32_t second = 1;
	static const BfParquetSort sort = {.column = -1};
	BfParquetWriteOptions o = bf_parquet_write_defaults;

	TRY_OPTION(BF_ERR_UNSUPPORTED, codec, BF_CODEC_BROTLI);
	TRY_OPTION(BF_ERR_UNSUPPORTED, codec, BF_CODEC_LZ4_HADOOP);
	TRY_OPTION(BF_ERR_UNSUPPORTED, codec, BF_CODEC_DEFLATE);
	TRY_OPTION(BF_ERR_VALUE, level, -1);
	TRY_OPTION(BF_ERR_VALUE, level, 23);
	TRY_OPTION(BF_ERR_VALUE, page_bytes, 0);
	TRY_OPTION(BF_ERR_VALUE, page_bytes, SIZE_MAX);
	TRY_OPTION(BF_ERR_VALUE, page_rows, 0);
	TRY_OPTION(BF_ERR_VALUE, page_rows, -1);
	TRY_OPTION(BF_ERR_VALUE, row_group_bytes, 0);
	TRY_OPTION(BF_ERR_VALUE, row_group_rows, 0);
	TRY_OPTION(BF_ERR_VALUE, dictionary_bytes, SIZE_MAX);
	TRY_OPTION(BF_ERR_VALUE, page_version, 3);
	TRY_OPTION(BF_ERR_VALUE, bound_bytes, 7);
	TRY_OPTION(BF_ERR_VALUE, bound_bytes, 65);
	TRY_OPTION(BF_ERR_VALUE, bloom_false, 0);
	TRY_OPTION(BF_ERR_VALUE, bloom_false, NAN);
	o.bloom = &second;
	o.n_bloom = 1;
	EXPECT_FAIL(try_options(&o), BF_ERR_VALUE, -1);
	o.n_bloom = 0;
	o.sort = &sort;
	o.n_sort = 1;
	EXPECT_FAIL(try_options(&o), BF_ERR_VALUE, -1);
}

static BfStatus
try_type(BfType type)
{
	BfSchema s = one_column(test_arena(), type, false);
	BfParquetWriter *w;
	BfBuffer out;
	BfStatus status;

	bf_buffer_init(&out, test_host(), (size_t) 1 << 20);
	status = bf_parquet_writer_new(test_arena(), bf_output_buffer(&out), &s, NULL, &w, &test_err);
	bf_buffer_free(&out);
	return status;
}

TEST(parquet_write_types_refused)
{
	EXPECT_FAIL(try_type(BF_TYPE(VARIANT)), BF_ERR_UNSUPPORTED, -1);
	EXPECT_STR(test_err.column, "c");
	EXPECT_FAIL(try_type(BF_TYPE(STRUCT)), BF_ERR_UNSUPPORTED, -1);
	EXPECT_FAIL(try_type(BF_TYPE(FIXED)), BF_ERR_UNSUPPORTED, -1);
	EXPECT_FAIL(try_type(BF_TYPE(DECIMAL)), BF_ERR_UNSUPPORTED, -1);
}

/* A value of 8 bytes at most in a required column of a type. */
static BfStatus
try_value(BfType type, const void *value, size_t size, bool null)
{
	BfArena *a = test_arena();
	BfSchema s = one_column(a, type, true);
	BfVector v;
	BfBatch batch = {.n_rows = 1, .n_cols = 1, .cols = &v};
	BfBatch *b = &batch;
	BfParquetWritten file;
	BfBuffer out;
	BfStatus status;

	BF_TRY(bf_vector_init(a, &v, type, &test_err));
	v.n = 1;
	memcpy(v.data.raw, value, size);
	bf_validity_set(v.validity, 0, !null);
	bf_buffer_init(&out, test_host(), (size_t) 1 << 20);
	status = write_file(a, &s, &b, 1, NULL, &out, &file);
	bf_buffer_free(&out);
	return status;
}

TEST(parquet_write_values_refused)
{
	static const int32_t i32 = 128, negative = -1;
	static const int64_t i64 = INT64_C(1) << 32;
	static const float f32 = 0.1F, large = 65536;
	static const BfView view = {(const uint8_t *) "abc", 3};
	bf_i128 wide = bf_power_of_ten(38);

	EXPECT_FAIL(try_value(BF_TYPE(INT32), &i32, 4, true), BF_ERR_VALUE, -1);
	EXPECT_STR(test_err.column, "c");
	EXPECT_FAIL(try_value(BF_TYPE(INT8), &i32, 4, false), BF_ERR_VALUE, -1);
	EXPECT_FAIL(try_value(BF_TYPE(UINT16), &negative, 4, false), BF_ERR_VALUE, -1);
	EXPECT_FAIL(try_value(BF_TYPE(UINT32), &i64, 8, false), BF_ERR_VALUE, -1);
	EXPECT_FAIL(try_value((BfType){.kind = BF_KIND_DECIMAL, .precision = 9}, &i64, 8, false),
				BF_ERR_VALUE, -1);
	EXPECT_FAIL(try_value((BfType){.kind = BF_KIND_DECIMAL, .precision = 20}, &wide, 16, false),
				BF_ERR_VALUE, -1);
	EXPECT_FAIL(try_value(BF_TYPE(FLOAT16), &f32, 4, false), BF_ERR_VALUE, -1);
	EXPECT_FAIL(try_value(BF_TYPE(FLOAT16), &large, 4, false), BF_ERR_VALUE, -1);
	EXPECT_FAIL(try_value((BfType){.kind = BF_KIND_UUID, .length = 16}, &view, sizeof view, false),
				BF_ERR_VALUE, -1);
	REQUIRE_OK(try_value((BfType){.kind = BF_KIND_FIXED, .length = 3}, &view, sizeof view, false));
}

/* What is held does not grow with the rows of a file. */
TEST(parquet_write_memory)
{
	static const int32_t sizes[] = {4096};
	BfSchema s = all_types(test_arena(), false);
	MadeRows made = {.nulls = MADE_SOME_NULLS, .bytes_max = 40, .random = from_test};
	BfBatch **b = made_batches(test_arena(), &s, &made, sizes, 1);
	BfParquetWriteOptions o = bf_parquet_write_defaults;
	int64_t after[2];

	o.row_group_bytes = (size_t) 1 << 20;
	for (int k = 0; k < 2; k++)
	{
		TestHost h;
		BfArena *a;
		BfParquetWriter *w;
		BfParquetWritten file;
		BfBuffer out;

		test_host_init(&h);
		a = bf_arena_new(&h.host, "writer", (size_t) 1 << 30);
		bf_buffer_init(&out, test_host(), (size_t) 1 << 28);
		REQUIRE_OK(bf_parquet_writer_new(a, bf_output_buffer(&out), &s, &o, &w, &test_err));
		for (int i = 0; i < (k == 0 ? 40 : 120); i++)
			REQUIRE_OK(bf_parquet_writer_write(w, b[0], &test_err));
		EXPECT_EQ(bf_parquet_writer_rows(w), 4096 * (k == 0 ? 40 : 120));
		REQUIRE_OK(bf_parquet_writer_close(w, &file, &test_err));
		EXPECT(file.n_row_groups >= (k == 0 ? 1 : 10));
		after[k] = h.peak_bytes;
		bf_arena_free(a);
		bf_buffer_free(&out);
	}
	/* But for page indexes and metadata of some 3000 chunks more, in buffers that double. */
	EXPECT(after[1] < after[0] + ((int64_t) 4 << 20));
}

/* Allocation, writing, or the caller's patience ends at call 1, 2, 3 ...: the same code comes out,
 * and nothing stays behind. */
static BfStatus
write_on(const BfHost *host, const BfSchema *s, BfBatch *const *batches, const char *path,
		 BfError *err)
{
	BfArena *a = bf_arena_new(host, "writer", (size_t) 1 << 28);
	BfParquetWriteOptions o = small_pages();
	static const int32_t bloom = 3;
	BfParquetWriter *w;
	BfParquetWritten file;
	BfPublish *p;
	BfStatus status = BF_ERR_NOMEM;

	o.bloom = &bloom;
	o.n_bloom = 1;
	o.page_rows = 300;
	if (a == NULL)
		return bf_error(err, BF_ERR_NOMEM, "no arena");
	status = bf_publish_begin(a, path, &p, err);
	if (status == BF_OK)
		status = bf_parquet_writer_new(a, bf_output_publish(p), s, &o, &w, err);
	for (int i = 0; i < 2 && status == BF_OK; i++)
		status = bf_parquet_writer_write(w, batches[i], err);
	if (status == BF_OK)
		status = bf_parquet_writer_close(w, &file, err);
	if (status == BF_OK)
		status = bf_publish_finish(p, err);
	bf_arena_free(a);
	return status;
}

TEST(parquet_write_faults)
{
	static const BfStatus codes[TEST_FAULT_COUNT] = {[TEST_FAULT_ALLOC] = BF_ERR_NOMEM,
													 [TEST_FAULT_WRITE] = BF_ERR_IO,
													 [TEST_FAULT_CANCEL] = BF_ERR_CANCEL};
	static const int32_t sizes[] = {500, 400};
	BfSchema s = all_types(test_arena(), false);
	MadeRows made = {
		.nulls = MADE_SOME_NULLS, .values = MADE_FEW, .bytes_max = 20, .random = from_test};
	BfBatch **b = made_batches(test_arena(), &s, &made, sizes, 2);
	char path[512];

	for (int fault = TEST_FAULT_ALLOC; fault <= TEST_FAULT_CANCEL; fault++)
		for (int64_t n = 1; codes[fault] != BF_OK; n += n < 100 ? 1 : 1 + n / 50)
		{
			TestHost h;
			BfError err;
			BfStatus status;

			test_host_init(&h);
			bf_error_clear(&err);
			snprintf(path, sizeof path, "%s", test_path("f.parquet"));
			test_fault_arm(&h, (TestFault) fault, n, false);
			status = write_on(&h.host, &s, b, path, &err);
			EXPECT_EQ(h.live_allocs, 0);
			EXPECT_EQ(h.open_files, 0);
			EXPECT_EQ(h.bad_frees, 0);
			if (!test_fault_fired(&h))
			{
				EXPECT_EQ(status, BF_OK);
				EXPECT_EQ(h.host.unlink(&h.host, path, &err), BF_OK);
				break;
			}
			if (status == BF_OK)
				EXPECT_EQ(h.host.unlink(&h.host, path, &err), BF_OK);
			else
				EXPECT_EQ(status, codes[fault]);
		}
}
