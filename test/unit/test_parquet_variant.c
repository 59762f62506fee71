/*
 * Variants: the binary encoding against the values that its authors publish, and shredded columns
 * against the same variants in one piece.
 */
#include <jansson.h>

#include "parquet/parquet.h"
#include "parquet/variant.h"
#include "unit/lib/runner.h"

static BfBuffer text;

/* The text of a value under a dictionary; valid until the next call. */
static BfStatus
value_text(BfView metadata, BfView value, const char **out)
{
	BfiVariantNames names;
	size_t used;

	if (text.host == NULL)
		bf_buffer_init(&text, test_host(), 1 << 20);
	text.len = 0;
	*out = "";
	BF_TRY(bfi_variant_names(metadata, &names, &test_err));
	BF_TRY(bfi_variant_value(&names, value, 1, &text, &used, &test_err));
	BF_TRY(bf_buffer_u8(&text, 0, &test_err));
	*out = (const char *) text.data;
	return BF_OK;
}

#define BYTES(...) \
	((BfView){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})

static const BfView no_names = {(const uint8_t *) "\1\0\0", 3};

TEST(parquet_variant_values)
{
	static const struct
	{
		const char *bytes;
		uint32_t len;
		const char *text;
	} table[] = {
		{"\x00", 1, "null"},
		{"\x04", 1, "true"},
		{"\x08", 1, "false"},
		{"\x0c\xff", 2, "-1"},
		{"\x10\x00\x80", 3, "-32768"},
		{"\x14\x01\x00\x00\x00", 5, "1"},
		{"\x18\xff\xff\xff\xff\xff\xff\xff\x7f", 9, "9223372036854775807"},
		{"\x1c\x00\x00\x00\x00\x00\x00\xf8\x7f", 9, "\"NaN\""},
		{"\x1c\x00\x00\x00\x00\x00\x00\xf0\xff", 9, "\"-Infinity\""},
		{"\x1c\x9a\x99\x99\x99\x99\x99\xb9\x3f", 9, "0.1"},
		{"\x38\xcd\xcc\xcc\x3d", 5, "0.1"},
		{"\x20\x02\xd2\x04\x00\x00", 6, "12.34"},
		{"\x20\x03\xff\xff\xff\xff", 6, "-0.001"},
		{"\x2c\x00\x00\x00\x00", 5, "\"1970-01-01\""},
		{"\x2c\xff\xff\xff\xff", 5, "\"1969-12-31\""},
		{"\x30\xff\xff\xff\xff\xff\xff\xff\xff", 9, "\"1969-12-31T23:59:59.999999+00:00\""},
		{"\x34\x00\x00\x00\x00\x00\x00\x00\x00", 9, "\"1970-01-01T00:00:00\""},
		{"\x4c\x01\x00\x00\x00\x00\x00\x00\x00", 9, "\"1970-01-01T00:00:00.000000001\""},
		{"\x44\x40\x42\x0f\x00\x00\x00\x00\x00", 9, "\"00:00:01\""},
		{"\x3c\x04\x00\x00\x00\x01\x02\x03\x04", 9, "\"AQIDBA==\""},
		{"\x40\x01\x00\x00\x00\x22", 6, "\"\\\"\""},
		{"\x09\x0a\x5c", 3, "\"\\u000a\\\\\""},
		{"\x01", 1, "\"\""},
		{"\x03\x02\x00\x01\x02\x00\x04", 7, "[null,true]"},
		{"\x03\x00\x00", 3, "[]"},
		{"\x02\x00\x00", 3, "{}"},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
	{
		const char *got;

		EXPECT_EQ(
			value_text(no_names, (BfView){(const uint8_t *) table[i].bytes, table[i].len}, &got),
			BF_OK);
		EXPECT_STR(got, table[i].text);
	}
	bf_buffer_free(&text);
	memset(&text, 0, sizeof text);
}

TEST(parquet_variant_damaged)
{
	const BfView names = BYTES(0x01, 1, 0, 1, 'a');
	const char *got;
	const struct
	{
		BfView metadata;
		BfView value;
		BfStatus status;
	} table[] = {
		{{NULL, 0}, BYTES(0), BF_ERR_CORRUPT},
		{BYTES(0x02, 0, 0), BYTES(0), BF_ERR_UNSUPPORTED},
		{BYTES(0xc1, 0xff, 0xff, 0xff, 0xff), BYTES(0), BF_ERR_CORRUPT},
		{no_names, {(const uint8_t *) "", 0}, BF_ERR_CORRUPT},
		{no_names, BYTES(0x14, 1, 2, 3), BF_ERR_CORRUPT},			  /* int32 of 3 bytes */
		{no_names, BYTES(0x40, 9, 0, 0, 0, 'a'), BF_ERR_CORRUPT},	  /* string of 9 */
		{no_names, BYTES(0x54, 0), BF_ERR_UNSUPPORTED},				  /* type 21 */
		{no_names, BYTES(0x20, 39, 0, 0, 0, 0), BF_ERR_CORRUPT},	  /* scale */
		{no_names, BYTES(0x03, 200, 0), BF_ERR_CORRUPT},			  /* array of 200 */
		{no_names, BYTES(0x03, 1, 0, 9, 0), BF_ERR_CORRUPT},		  /* 9 bytes of values */
		{no_names, BYTES(0x03, 1, 5, 1, 0), BF_ERR_CORRUPT},		  /* at 5 of 1 */
		{no_names, BYTES(0x02, 1, 0, 0, 1, 0), BF_ERR_CORRUPT},		  /* no such name */
		{no_names, BYTES(0x03, 2, 0, 0, 2, 0x0c, 1), BF_ERR_CORRUPT}, /* both at 0 */
		{names, BYTES(0x02, 2, 0, 0, 0, 1, 2, 0, 0), BF_ERR_CORRUPT}, /* "a" twice */
		{names, BYTES(0x02, 1, 0, 0, 1, 0), BF_OK},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		EXPECT_EQ(value_text(table[i].metadata, table[i].value, &got), table[i].status);
	EXPECT_STR(got, "{\"a\":null}");
	bf_buffer_free(&text);
	memset(&text, 0, sizeof text);
}

/* Containers within containers, the innermost empty. */
TEST(parquet_variant_deep)
{
	uint8_t bytes[1024];
	size_t n = sizeof bytes;
	const char *got;

	bytes[--n] = 0;
	bytes[--n] = 0;
	bytes[--n] = 0x03;
	for (int depth = 0; depth < 120 && n > 6; depth++)
	{
		uint32_t len = (uint32_t) (sizeof bytes - n);

		if (len > 240)
			break;
		bytes[--n] = (uint8_t) len;
		bytes[--n] = 0;
		bytes[--n] = 1;
		bytes[--n] = 0x03;
	}
	EXPECT_EQ(value_text(no_names, (BfView){bytes + n, (uint32_t) (sizeof bytes - n)}, &got),
			  BF_OK);
	bf_buffer_free(&text);
	memset(&text, 0, sizeof text);
}

/* ---- the corpus ---- */

static BfStatus
read_all(BfArena *a, const char *folder, const char *name, BfView *out)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/parquet-testing/%s/%s", test_corpus(), folder, name);
	return bf_source_read_all(a, path, 1 << 24, NULL, out, &test_err);
}

static void
expect_member(const char *name, const char *want)
{
	BfArena *a = test_arena();
	BfView metadata = no_names;
	BfView value;
	BfView found;
	char file[256];
	const char *got;

	snprintf(file, sizeof file, "%s.metadata", name);
	if (read_all(a, "variant", file, &found) == BF_OK)
		metadata = found;
	snprintf(file, sizeof file, "%s.value", name);
	REQUIRE_OK(read_all(a, "variant", file, &value));
	REQUIRE_OK(value_text(metadata, value, &got));
	EXPECT_STR(got, want);
}

TEST(parquet_variant_dictionary)
{
	static const char *const table[][2] = {
		{"array_empty", "[]"},
		{"array_nested", "[{\"id\":1,\"thing\":{\"names\":[\"Contrarian\",\"Spider\"]}},null,"
						 "{\"id\":2,\"names\":[\"Apple\",\"Ray\",null],\"type\":\"if\"}]"},
		{"array_primitive", "[2,1,5,9]"},
		{"object_empty", "{}"},
		{"object_nested",
		 "{\"id\":1,\"observation\":{\"location\":\"In the Volcano\",\"time\":\"12:34:56\","
		 "\"value\":{\"humidity\":456,\"temperature\":123}},"
		 "\"species\":{\"name\":\"lava monster\",\"population\":6789}}"},
		{"object_primitive",
		 "{\"boolean_false_field\":false,\"boolean_true_field\":true,\"double_field\":1.23456789,"
		 "\"int_field\":1,\"null_field\":null,\"string_field\":\"Apache Parquet\","
		 "\"timestamp_field\":\"2025-04-16T12:34:56.78\"}"},
		{"primitive_binary", "\"AxM33q2+78r+\""},
		{"primitive_date", "\"2025-04-16\""},
		{"primitive_decimal16", "12345678912345678.90"},
		{"primitive_decimal4", "12.34"},
		{"primitive_decimal8", "12345678.90"},
		{"primitive_double", "1234567890.1234"},
		{"primitive_float", "1.234568e+09"},
		{"primitive_int16", "1234"},
		{"primitive_int64", "1234567890123456789"},
		{"primitive_int8", "42"},
		{"primitive_time", "\"12:33:54.123456\""},
		{"primitive_timestamp", "\"2025-04-16T16:34:56.78+00:00\""},
		{"primitive_timestamp_nanos", "\"2024-11-07T12:33:54.123456789+00:00\""},
		{"primitive_timestampntz", "\"2025-04-16T12:34:56.78\""},
		{"primitive_timestampntz_nanos", "\"2024-11-07T12:33:54.123456789\""},
		{"primitive_uuid", "\"f24f9b64-81fa-49d1-b74e-8c09a6e31c56\""},
		{"short_string", "\"Less than 64 bytes (❤️ with utf8)\""},
	};

	if (test_corpus() == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		expect_member(table[i][0], table[i][1]);
	bf_buffer_free(&text);
	memset(&text, 0, sizeof text);
}

/* Metadata and value, one behind the other. */
static BfStatus
whole_text(BfView file, const char **out)
{
	BfiVariantNames names;
	uint32_t len = 0;
	uint32_t head;

	BF_TRY(bfi_variant_names(file, &names, &test_err));
	head = 1 + names.offset_size * (names.n + 2);
	if (names.n > 0)
		memcpy(&len, names.offsets + (size_t) names.n * names.offset_size, names.offset_size);
	BF_DATA(&test_err, head + len <= file.len, 0, "cut");
	return value_text((BfView){file.ptr, head + len},
					  (BfView){file.ptr + head + len, file.len - head - len}, out);
}

/* The rows of column "var" against one file each (NULL: a NULL). */
static BfStatus
check_rows(BfArena *a, const char *parquet, json_t *files, int *n_rows)
{
	char path[1024];
	BfSource *source;
	BfParquetFile *f;
	BfParquetScan *s;
	const BfBatch *b;
	int32_t column;

	snprintf(path, sizeof path, "%s/parquet-testing/shredded_variant/%s", test_corpus(), parquet);
	BF_TRY(bf_source_open(a, path, NULL, &source, &test_err));
	BF_TRY(bf_parquet_open(a, source, NULL, &f, &test_err));
	column = bf_schema_find_name(bf_parquet_schema(f), "var");
	BF_TRY(bf_parquet_scan_new(a, f, &column, 1, NULL, &s, &test_err));
	BF_TRY(bf_parquet_scan_row_group(s, 0, &test_err));
	BF_TRY(bf_parquet_scan_next(s, &b, &test_err));
	BF_DATA(&test_err, b != NULL, 0, "no rows");
	if (files == NULL)
		return BF_OK;
	EXPECT_EQ(b->n_rows, (int) json_array_size(files));
	for (int32_t i = 0; i < b->n_rows; i++)
	{
		const char *name = json_string_value(json_array_get(files, (size_t) i));
		BfView whole;
		BfValue v;
		const char *want = NULL;

		EXPECT_EQ(bf_vector_get(&b->cols[0], i, &v), name != NULL);
		if (name == NULL)
			continue;
		EXPECT_EQ(v.type.kind, BF_KIND_JSON);
		/* The corpus has files of the same content once. */
		if (read_all(a, "shredded_variant", name, &whole) != BF_OK)
			continue;
		BF_TRY(whole_text(whole, &want));
		if (strlen(want) != v.v.view.len || memcmp(want, v.v.view.ptr, v.v.view.len) != 0)
		{
			fprintf(stderr, "%s, row %d: %.*s, expected %s\n", parquet, i, (int) v.v.view.len,
					(const char *) v.v.view.ptr, want);
			EXPECT(false);
		}
		++*n_rows;
	}
	return BF_OK;
}

TEST(parquet_variant_shredded)
{
	char path[1024];
	json_t *cases;
	int n_rows = 0;

	if (test_corpus() == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	snprintf(path, sizeof path, "%s/parquet-testing/shredded_variant/cases.json", test_corpus());
	cases = json_load_file(path, 0, NULL);
	REQUIRE(cases != NULL);
	for (size_t i = 0; i < json_array_size(cases); i++)
	{
		json_t *c = json_array_get(cases, i);
		const char *file = json_string_value(json_object_get(c, "parquet_file"));
		json_t *one = json_object_get(c, "variant_file");
		json_t *files = json_object_get(c, "variant_files");
		json_t *list = files != NULL ? json_incref(files)
					   : one != NULL ? json_pack("[O]", one)
									 : NULL;
		BfStatus status;

		if (file == NULL)
			continue;
		status = check_rows(test_arena(), file, list, &n_rows);
		if ((status == BF_OK) != (list != NULL))
		{
			fprintf(stderr, "%s: %s %s\n", file, bf_status_name(status), test_err.text);
			EXPECT(false);
		}
		json_decref(list);
	}
	json_decref(cases);
	EXPECT(n_rows > 50);
	bf_buffer_free(&text);
	memset(&text, 0, sizeof text);
}
