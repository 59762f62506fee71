/* Initial defaults of version 3: every type from JSON, and what is no value of its type. */
#include <math.h>

#include "iceberg/internal.h"
#include "unit/lib/runner.h"

static BfStatus
parse_default(const char *type, const char *value, const BfField **out)
{
	BfArena *a = test_arena();
	BfIceMetadata *m = NULL;
	const char *text = bf_arena_printf(
		a,
		"{\"format-version\":3,\"table-uuid\":\"u\",\"location\":\"/t\",\"last-sequence-number\":"
		"0,\"last-updated-ms\":1,\"last-column-id\":9,\"partition-specs\":[{\"spec-id\":0,"
		"\"fields\":[]}],\"default-spec-id\":0,\"schemas\":[{\"schema-id\":0,\"fields\":[{\"id\":1,"
		"\"name\":\"c\",\"type\":%s,\"initial-default\":%s}]}],\"current-schema-id\":0}",
		type, value);

	bf_error_clear(&test_err);
	BF_TRY(bf_ice_metadata_parse(a, text, strlen(text), &m, &test_err));
	*out = bf_ice_field(bf_ice_current_schema(m), 1);
	return BF_OK;
}

static int64_t
integer_of(const BfValue *v)
{
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_U8: return v->v.u8;
		case BF_STORE_I32: return v->v.i32;
		case BF_STORE_I64: return v->v.i64;
		case BF_STORE_I128: return (int64_t) v->v.i128;
		default: return INT64_MIN;
	}
}

TEST(iceberg_default_numbers)
{
	static const struct
	{
		const char *type, *value;
		int64_t expected;
	} cases[] = {
		{"\"boolean\"", "true", 1},
		{"\"boolean\"", "false", 0},
		{"\"int\"", "-2147483648", INT32_MIN},
		{"\"long\"", "9223372036854775807", INT64_MAX},
		{"\"decimal(9,2)\"", "\"14.20\"", 1420},
		{"\"decimal(9,2)\"", "\"-0.05\"", -5},
		{"\"decimal(9, 2)\"", "\"14.2\"", 1420},
		{"\"decimal(9,2)\"", "\"14.2000\"", 1420},
		{"\"decimal(9,2)\"", "\"12E+2\"", 120000},
		{"\"decimal(9,2)\"", "\"1200E-3\"", 120},
		{"\"decimal(38,3)\"", "\"1.5\"", 1500},
		{"\"decimal(9,2)\"", "\"0E+500\"", 0},
		{"\"date\"", "\"2017-11-16\"", 17486},
		{"\"date\"", "\"1969-12-31\"", -1},
		{"\"date\"", "\"-0001-01-01\"", -719893},
		{"\"date\"", "\"+10000-01-01\"", 2932897},
		{"\"time\"", "\"22:31:08.123456\"", INT64_C(81068123456)},
		{"\"time\"", "\"22:31\"", INT64_C(81060000000)},
		{"\"time\"", "\"00:00:00.1\"", 100000},
		{"\"timestamp\"", "\"2017-11-16T22:31:08.123456\"", INT64_C(1510871468123456)},
		{"\"timestamp\"", "\"1969-12-31T23:59:59.999999\"", -1},
		{"\"timestamp\"", "\"2017-11-16\"", INT64_C(1510790400000000)},
		{"\"timestamptz\"", "\"2024-01-15T10:30:45.123456+00:00\"", INT64_C(1705314645123456)},
		{"\"timestamptz\"", "\"2024-01-15T10:30:45Z\"", INT64_C(1705314645000000)},
		{"\"timestamp_ns\"", "\"1969-12-31T23:59:59.999999999\"", -1},
		{"\"timestamptz_ns\"", "\"1970-01-01T00:00:00.000000001+00:00\"", 1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		const BfField *f = NULL;

		if (parse_default(cases[i].type, cases[i].value, &f) != BF_OK || !f->has_default ||
			f->initial_default.is_null || integer_of(&f->initial_default) != cases[i].expected)
			test_fail(__FILE__, __LINE__, "%s %s: %s, %lld", cases[i].type, cases[i].value,
					  test_err.text, f != NULL ? (long long) integer_of(&f->initial_default) : 0);
	}
}

TEST(iceberg_default_others)
{
	const BfField *f;
	BfValue v;

	REQUIRE_OK(parse_default("\"float\"", "1.5", &f));
	EXPECT(f->initial_default.v.f32 == 1.5F);
	REQUIRE_OK(parse_default("\"double\"", "3", &f));
	EXPECT(f->initial_default.v.f64 == 3.0);
	REQUIRE_OK(parse_default("\"double\"", "\"NaN\"", &f));
	EXPECT(isnan(f->initial_default.v.f64));
	REQUIRE_OK(parse_default("\"float\"", "\"-Infinity\"", &f));
	EXPECT(isinf(f->initial_default.v.f32) && f->initial_default.v.f32 < 0);
	REQUIRE_OK(parse_default("\"string\"", "\"ab\\u00e9\"", &f));
	EXPECT_EQ(f->initial_default.v.view.len, 4);
	REQUIRE_OK(parse_default("\"string\"", "\"\"", &f));
	EXPECT(f->has_default && f->initial_default.v.view.len == 0);
	REQUIRE_OK(parse_default("\"uuid\"", "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"", &f));
	EXPECT_EQ(f->initial_default.v.view.len, 16);
	EXPECT_EQ(f->initial_default.v.view.ptr[15], 0xe7);
	REQUIRE_OK(parse_default("\"fixed[3]\"", "\"00fF10\"", &f));
	EXPECT(memcmp(f->initial_default.v.view.ptr, "\x00\xff\x10", 3) == 0);
	REQUIRE_OK(parse_default("\"binary\"", "\"\"", &f));
	EXPECT_EQ(f->initial_default.v.view.len, 0);
	/* Null is no default. */
	REQUIRE_OK(parse_default("\"variant\"", "null", &f));
	EXPECT(!f->has_default);
	/* What is wide needs all its bits. */
	REQUIRE_OK(
		parse_default("\"decimal(38,0)\"", "\"-99999999999999999999999999999999999999\"", &f));
	v = (BfValue){.type = f->type};
	v.v.i128 = 1;
	for (int i = 0; i < 38; i++)
		v.v.i128 *= 10;
	v.v.i128 = 1 - v.v.i128;
	EXPECT(f->initial_default.v.i128 == v.v.i128);
}

#define STRUCT_TYPE                                                     \
	"{\"type\":\"struct\",\"fields\":["                                 \
	"{\"id\":2,\"name\":\"x\",\"type\":\"int\",\"initial-default\":7}," \
	"{\"id\":3,\"name\":\"y\",\"type\":\"string\"}]}"

TEST(iceberg_default_nested)
{
	const BfField *f;
	const BfValue *v;

	/* An empty struct is there, and its members have their own defaults. */
	REQUIRE_OK(parse_default(STRUCT_TYPE, "{}", &f));
	REQUIRE(f->has_default && f->initial_default.v.view.len == 2);
	v = bf_value_children(&f->initial_default);
	EXPECT(!v[0].is_null && v[0].v.i32 == 7 && v[1].is_null);
	REQUIRE_OK(parse_default(STRUCT_TYPE, "{\"3\":\"z\",\"2\":null}", &f));
	v = bf_value_children(&f->initial_default);
	EXPECT(v[0].is_null && v[1].v.view.len == 1);
	REQUIRE_OK(parse_default(STRUCT_TYPE, "null", &f));
	EXPECT(!f->has_default);
	EXPECT(f->children[0].has_default && f->children[0].initial_default.v.i32 == 7);

	REQUIRE_OK(parse_default("{\"type\":\"list\",\"element-id\":2,\"element\":\"long\"}",
							 "[1,null,3]", &f));
	REQUIRE(f->initial_default.v.view.len == 3);
	v = bf_value_children(&f->initial_default);
	EXPECT(v[0].v.i64 == 1 && v[1].is_null && v[2].v.i64 == 3);
	REQUIRE_OK(
		parse_default("{\"type\":\"list\",\"element-id\":2,\"element\":\"long\"}", "[]", &f));
	EXPECT(f->has_default && f->initial_default.v.view.len == 0);

	REQUIRE_OK(parse_default("{\"type\":\"map\",\"key-id\":2,\"key\":\"string\",\"value-id\":3,"
							 "\"value\":\"date\"}",
							 "{\"keys\":[\"a\",\"b\"],\"values\":[\"1970-01-02\",null]}", &f));
	REQUIRE(f->initial_default.v.view.len == 4);
	v = bf_value_children(&f->initial_default);
	EXPECT(v[1].v.i32 == 1 && v[2].v.view.ptr[0] == 'b' && v[3].is_null);
}

TEST(iceberg_default_damaged)
{
	static const struct
	{
		const char *type, *value;
	} cases[] = {
		{"\"boolean\"", "1"},
		{"\"int\"", "2147483648"},
		{"\"int\"", "\"5\""},
		{"\"int\"", "1.5"},
		{"\"long\"", "true"},
		{"\"float\"", "\"nan\""},
		{"\"decimal(9,2)\"", "14.2"},
		{"\"decimal(9,2)\"", "\"14.205\""},
		{"\"decimal(9,2)\"", "\"10000000\""},
		{"\"decimal(9,2)\"", "\"1E+99999\""},
		{"\"decimal(9,2)\"", "\"1E 2\""},
		{"\"decimal(9,2)\"", "\"1E+-2\""},
		{"\"decimal(9,2)\"", "\"1E\""},
		{"\"decimal(9,2)\"", "\"\""},
		{"\"decimal(9,2)\"", "\"1.2.3\""},
		{"\"decimal(38,0)\"", "\"100000000000000000000000000000000000000\""},
		/* Of 39 digits, and of what its scale makes 39: 128 bits would come round. */
		{"\"decimal(38,0)\"", "\"999999999999999999999999999999999999999\""},
		{"\"decimal(38,2)\"", "\"99999999999999999999999999999999999999\""},
		{"\"decimal(38,0)\"", "\"99999999999999999999999999999999999999E1\""},
		{"\"date\"", "\"2017-02-29\""},
		{"\"date\"", "\"2017-13-01\""},
		{"\"date\"", "\"2017-1-1\""},
		{"\"date\"", "17486"},
		{"\"date\"", "\"+99999999-01-01\""},
		{"\"time\"", "\"24:00:00\""},
		{"\"time\"", "\"22:31:08.1234567\""},
		{"\"timestamp\"", "\"2017-11-16T22:31:08+00:00\""},
		{"\"timestamptz\"", "\"2017-11-16T22:31:08+01:00\""},
		{"\"timestamp_ns\"", "\"2500-01-01T00:00:00\""},
		{"\"string\"", "5"},
		{"\"uuid\"", "\"f79c3e09-677c-4bbd-a479-3f349cb785e\""},
		{"\"fixed[3]\"", "\"00ff\""},
		{"\"binary\"", "\"0\""},
		{"\"binary\"", "\"0g\""},
		{"\"unknown\"", "1"},
		{"\"variant\"", "{}"},
		{STRUCT_TYPE, "[]"},
		{STRUCT_TYPE, "{\"3\":5}"},
		{"{\"type\":\"list\",\"element-id\":2,\"element\":\"long\"}", "[\"a\"]"},
		{"{\"type\":\"map\",\"key-id\":2,\"key\":\"int\",\"value-id\":3,\"value\":\"int\"}",
		 "{\"keys\":[1],\"values\":[]}"},
		{"{\"type\":\"map\",\"key-id\":2,\"key\":\"int\",\"value-id\":3,\"value\":\"int\"}",
		 "{\"keys\":[null],\"values\":[1]}"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		const BfField *f;

		if (parse_default(cases[i].type, cases[i].value, &f) != BF_ERR_CORRUPT ||
			strstr(test_err.text, "default") == NULL)
			test_fail(__FILE__, __LINE__, "%s %s: %s", cases[i].type, cases[i].value,
					  test_err.text);
	}
}
