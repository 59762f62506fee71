/* Partition transforms: the specification's published values, floors, edges, human form. */
#include "unit/lib/runner.h"

#include <math.h>

#include "iceberg/transform.h"

#define TS_2017_11_16_22_31_08 INT64_C(1510871468000000)
#define DATE_2017_11_16 17486

static BfValue
i32(BfType type, int32_t v)
{
	return (BfValue){.type = type, .v.i32 = v};
}

static BfValue
i64(BfType type, int64_t v)
{
	return (BfValue){.type = type, .v.i64 = v};
}

static BfValue
view(BfType type, const char *bytes, size_t n)
{
	return (BfValue){.type = type, .v.view = {(const uint8_t *) bytes, (uint32_t) n}};
}

static BfValue
text(const char *s)
{
	return view(BF_TYPE(STRING), s, strlen(s));
}

static BfType
decimal(int32_t precision, int32_t scale)
{
	return (BfType){.kind = BF_KIND_DECIMAL, .precision = precision, .scale = scale};
}

static BfType
fixed(BfKind kind, int32_t length)
{
	return (BfType){.kind = kind, .length = length};
}

static BfTransform
transform(const char *s)
{
	BfTransform t = {BF_TRANSFORM_UNKNOWN, 0};

	if (bf_transform_parse(s, &t, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", s, test_err.text);
	return t;
}

static BfValue
apply(const char *s, BfValue v)
{
	BfValue out = {.is_null = true};

	if (bf_transform_apply(transform(s), &v, &out, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", s, test_err.text);
	return out;
}

TEST(transform_parse)
{
	static const struct
	{
		const char *text;
		BfTransformKind kind;
		int32_t param;
	} cases[] = {
		{"identity", BF_TRANSFORM_IDENTITY, 0},
		{"bucket[16]", BF_TRANSFORM_BUCKET, 16},
		{"bucket[1]", BF_TRANSFORM_BUCKET, 1},
		{"bucket[2147483647]", BF_TRANSFORM_BUCKET, INT32_MAX},
		{"truncate[10]", BF_TRANSFORM_TRUNCATE, 10},
		{"year", BF_TRANSFORM_YEAR, 0},
		{"MONTH", BF_TRANSFORM_MONTH, 0},
		{"Day", BF_TRANSFORM_DAY, 0},
		{"hour", BF_TRANSFORM_HOUR, 0},
		{"void", BF_TRANSFORM_VOID, 0},
		{"", BF_TRANSFORM_UNKNOWN, 0},
		{"zorder", BF_TRANSFORM_UNKNOWN, 0},
		{"bucket", BF_TRANSFORM_UNKNOWN, 0},
		{"bucket[]", BF_TRANSFORM_UNKNOWN, 0},
		{"bucket[-3]", BF_TRANSFORM_UNKNOWN, 0},
		{"bucket[3", BF_TRANSFORM_UNKNOWN, 0},
		{"bucket[3]x", BF_TRANSFORM_UNKNOWN, 0},
		{"bucket[3,4]", BF_TRANSFORM_UNKNOWN, 0},
		{"identity[3]", BF_TRANSFORM_UNKNOWN, 0},
		{"years", BF_TRANSFORM_UNKNOWN, 0},
	};
	static const char *const refused[] = {"bucket[0]", "truncate[0]", "bucket[2147483648]",
										  "truncate[99999999999999999999999999]"};
	BfTransform t;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		t = transform(cases[i].text);
		EXPECT_EQ(t.kind, cases[i].kind);
		EXPECT_EQ(t.param, cases[i].param);
	}
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		EXPECT_FAIL(bf_transform_parse(refused[i], &t, &test_err), BF_ERR_CORRUPT, -1);
}

/* Appendix B of the specification, and the edges of the decimal's minimal bytes. */
TEST(transform_published_hashes)
{
	const struct
	{
		BfValue v;
		int32_t hash;
	} cases[] = {
		{i32(BF_TYPE(INT32), 34), 2017239379},
		{i32(BF_TYPE(INT8), 34), 2017239379},
		{i32(BF_TYPE(INT16), 34), 2017239379},
		{i64(BF_TYPE(INT64), 34), 2017239379},
		{i32(BF_TYPE(DATE), DATE_2017_11_16), -653330422},
		{i64(BF_TYPE(TIME), INT64_C(81068000000)), -662762989},
		{i64(BF_TYPE(TIMESTAMP), TS_2017_11_16_22_31_08), -2047944441},
		{i64(BF_TYPE(TIMESTAMPTZ), TS_2017_11_16_22_31_08), -2047944441},
		{i64(BF_TYPE(TIMESTAMP), TS_2017_11_16_22_31_08 + 1), -1207196810},
		{i64(BF_TYPE(TIMESTAMP_NS), TS_2017_11_16_22_31_08 * 1000 + 999), -2047944441},
		{i64(BF_TYPE(TIMESTAMP_NS), TS_2017_11_16_22_31_08 * 1000 + 1001), -1207196810},
		{i64(BF_TYPE(TIMESTAMPTZ_NS), TS_2017_11_16_22_31_08 * 1000 + 1001), -1207196810},
		{i64(decimal(9, 2), 1420), -500754589},
		{(BfValue){.type = decimal(38, 2), .v.i128 = 1420}, -500754589},
		{text("iceberg"), 1210000089},
		{view(fixed(BF_KIND_UUID, 16),
			  "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7", 16),
		 1488055340},
		{view(BF_TYPE(BINARY), "\x00\x01\x02\x03", 4), -188683207},
		{view(fixed(BF_KIND_FIXED, 4), "\x00\x01\x02\x03", 4), -188683207},
	};
	static const struct
	{
		int64_t unscaled;
		const char *bytes;
		size_t n;
	} decimals[] = {
		{0, "\x00", 1},			 {5, "\x05", 1},
		{127, "\x7f", 1},		 {128, "\x00\x80", 2},
		{-1, "\xff", 1},		 {-128, "\x80", 1},
		{-129, "\xff\x7f", 2},	 {32767, "\x7f\xff", 2},
		{-32768, "\x80\x00", 2}, {32768, "\x00\x80\x00", 3},
	};
	int32_t hash;
	int32_t want;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfValue big = apply("bucket[2147483647]", cases[i].v);

		REQUIRE_OK(bf_transform_hash(&cases[i].v, &hash, &test_err));
		EXPECT_EQ(hash, cases[i].hash);
		EXPECT_EQ(big.v.i32, (cases[i].hash & INT32_MAX) % INT32_MAX);
		EXPECT_EQ(big.type.kind, BF_KIND_INT32);
	}
	for (size_t i = 0; i < sizeof decimals / sizeof *decimals; i++)
	{
		BfValue v = i64(decimal(18, 3), decimals[i].unscaled);
		BfValue wide = {.type = decimal(38, 3), .v.i128 = decimals[i].unscaled};
		BfValue bytes = view(BF_TYPE(BINARY), decimals[i].bytes, decimals[i].n);

		REQUIRE_OK(bf_transform_hash(&bytes, &want, &test_err));
		REQUIRE_OK(bf_transform_hash(&v, &hash, &test_err));
		EXPECT_EQ(hash, want);
		REQUIRE_OK(bf_transform_hash(&wide, &hash, &test_err));
		EXPECT_EQ(hash, want);
	}
}

TEST(transform_bucket)
{
	BfValue v = apply("bucket[16]", i64(BF_TYPE(INT64), 34));

	EXPECT_EQ(v.v.i32, 2017239379 % 16);
	/* Zero is a value like any other. */
	v = apply("bucket[10]", i32(BF_TYPE(INT32), 0));
	EXPECT(!v.is_null);
	v = apply("bucket[10]", text(""));
	EXPECT_EQ(v.v.i32, 0);
	v = apply("bucket[10]", (BfValue){.is_null = true, .type = BF_TYPE(INT32)});
	EXPECT(v.is_null);
	EXPECT_EQ(v.type.kind, BF_KIND_INT32);
}

TEST(transform_truncate_numbers)
{
	static const struct
	{
		int32_t w;
		int64_t v;
		int64_t want;
	} cases[] = {
		{10, 1, 0},
		{10, 9, 0},
		{10, 10, 10},
		{10, 0, 0},
		{10, -1, -10},
		{10, -10, -10},
		{10, -11, -20},
		{50, 1065, 1050},
		{1, 17, 17},
		{1, -17, -17},
		{7, 2147483647, 2147483646},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfTransform t = {BF_TRANSFORM_TRUNCATE, cases[i].w};
		BfValue in[] = {i32(BF_TYPE(INT32), (int32_t) cases[i].v),
						i64(BF_TYPE(INT64), cases[i].v),
						i64(decimal(12, 2), cases[i].v),
						{.type = decimal(38, 2), .v.i128 = cases[i].v}};
		BfValue out;

		REQUIRE_OK(bf_transform_apply(t, &in[0], &out, &test_err));
		EXPECT_EQ(out.v.i32, cases[i].want);
		REQUIRE_OK(bf_transform_apply(t, &in[1], &out, &test_err));
		EXPECT_EQ(out.v.i64, cases[i].want);
		REQUIRE_OK(bf_transform_apply(t, &in[2], &out, &test_err));
		EXPECT_EQ(out.v.i64, cases[i].want);
		EXPECT(bf_type_equal(out.type, decimal(12, 2)));
		REQUIRE_OK(bf_transform_apply(t, &in[3], &out, &test_err));
		EXPECT_EQ((int64_t) out.v.i128, cases[i].want);
	}
	/* The published decimal example: 10.65 by 50 is 10.50. Near the end numbers wrap as in Java. */
	EXPECT_EQ(apply("truncate[10]", i32(BF_TYPE(INT32), INT32_MIN)).v.i32, 2147483646);
	EXPECT_EQ(apply("truncate[10]", i64(BF_TYPE(INT64), INT64_MIN)).v.i64,
			  INT64_C(9223372036854775806));
	EXPECT_EQ(apply("truncate[2147483647]", i32(BF_TYPE(INT32), 5)).v.i32, -2147483647);
	EXPECT_EQ(apply("truncate[2147483647]", i64(BF_TYPE(INT64), 5)).v.i64, 0);
}

TEST(transform_truncate_text)
{
	static const struct
	{
		const char *in;
		int32_t w;
		const char *want;
	} cases[] = {
		{"iceberg", 3, "ice"},
		{"ice", 3, "ice"},
		{"ic", 3, "ic"},
		{"", 3, ""},
		{"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", 1, "a"},
		{"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", 2, "a\xc3\xa4"},
		{"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", 3, "a\xc3\xa4\xe2\x82\xac"},
		{"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", 4, "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", 9, "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfTransform t = {BF_TRANSFORM_TRUNCATE, cases[i].w};
		BfValue in = text(cases[i].in);
		BfValue out;

		REQUIRE_OK(bf_transform_apply(t, &in, &out, &test_err));
		EXPECT_EQ(out.v.view.len, strlen(cases[i].want));
		EXPECT(memcmp(out.v.view.ptr, cases[i].want, out.v.view.len) == 0);
	}
	EXPECT_EQ(apply("truncate[2]", view(BF_TYPE(BINARY), "\xc3\xa4\xa4", 3)).v.view.len, 2);
	EXPECT_EQ(apply("truncate[9]", view(BF_TYPE(BINARY), "\xc3\xa4\xa4", 3)).v.view.len, 3);
}

TEST(transform_times)
{
	static const struct
	{
		int64_t micros;
		int32_t year, month, day, hour;
	} cases[] = {
		{0, 0, 0, 0, 0},
		{-1, -1, -1, -1, -1},
		{1, 0, 0, 0, 0},
		{INT64_C(3599999999), 0, 0, 0, 0},
		{INT64_C(3600000000), 0, 0, 0, 1},
		{INT64_C(-3600000000), -1, -1, -1, -1},
		{INT64_C(-3600000001), -1, -1, -1, -2},
		{INT64_C(-86400000000), -1, -1, -1, -24},
		{INT64_C(-86400000001), -1, -1, -2, -25},
		{TS_2017_11_16_22_31_08, 47, 574, DATE_2017_11_16, DATE_2017_11_16 * 24 + 22},
		{INT64_C(951782400000000), 30, 361, 11016, 264384},				  /* 2000-02-29 */
		{INT64_C(951868800000000), 30, 362, 11017, 264408},				  /* 2000-03-01 */
		{INT64_C(-62135596800000000), -1969, -23628, -719162, -17259888}, /* 0001-01-01 */
		{INT64_C(-62135596800000001), -1970, -23629, -719163, -17259889},
		{INT64_C(253402300799999999), 8029, 96359, 2932896, 70389527}, /* 9999-12-31 */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfValue micros = i64(BF_TYPE(TIMESTAMPTZ), cases[i].micros);
		BfValue date = i32(BF_TYPE(DATE), cases[i].day);

		EXPECT_EQ(apply("year", micros).v.i32, cases[i].year);
		EXPECT_EQ(apply("month", micros).v.i32, cases[i].month);
		EXPECT_EQ(apply("day", micros).v.i32, cases[i].day);
		EXPECT_EQ(apply("day", micros).type.kind, BF_KIND_DATE);
		EXPECT_EQ(apply("hour", micros).v.i32, cases[i].hour);
		EXPECT_EQ(apply("year", date).v.i32, cases[i].year);
		EXPECT_EQ(apply("month", date).v.i32, cases[i].month);
		EXPECT_EQ(apply("day", date).v.i32, cases[i].day);
		if (cases[i].micros > INT64_MAX / 1000 || cases[i].micros < INT64_MIN / 1000)
			continue;
		for (int ns = 0; ns < 1000; ns += 999)
		{
			BfValue nanos = i64(BF_TYPE(TIMESTAMP_NS), cases[i].micros * 1000 + ns);

			EXPECT_EQ(apply("hour", nanos).v.i32, cases[i].hour);
			EXPECT_EQ(apply("month", nanos).v.i32, cases[i].month);
		}
	}
}

TEST(transform_out_of_range_hours)
{
	BfValue late = i64(BF_TYPE(TIMESTAMP), INT64_MAX);
	BfValue early = i64(BF_TYPE(TIMESTAMP), INT64_MIN);
	BfValue out;

	EXPECT_FAIL(bf_transform_apply(transform("hour"), &late, &out, &test_err), BF_ERR_VALUE, -1);
	EXPECT_FAIL(bf_transform_apply(transform("hour"), &early, &out, &test_err), BF_ERR_VALUE, -1);
	EXPECT_EQ(apply("year", late).v.i32, 294247 - 1970);
	EXPECT_EQ(apply("year", i32(BF_TYPE(DATE), INT32_MAX)).v.i32, 5881580 - 1970);
	EXPECT_EQ(apply("year", i32(BF_TYPE(DATE), INT32_MIN)).v.i32, -5877641 - 1970);
}

TEST(transform_types)
{
	static const struct
	{
		const char *transform;
		BfKind source;
		bool ok;
	} cases[] = {
		{"bucket[4]", BF_KIND_FLOAT64, false}, {"bucket[4]", BF_KIND_BOOL, false},
		{"bucket[4]", BF_KIND_LIST, false},	   {"truncate[4]", BF_KIND_DATE, false},
		{"truncate[4]", BF_KIND_UUID, false},  {"truncate[4]", BF_KIND_FIXED, false},
		{"year", BF_KIND_TIME, false},		   {"hour", BF_KIND_DATE, false},
		{"day", BF_KIND_INT32, false},		   {"identity", BF_KIND_FLOAT32, true},
		{"identity", BF_KIND_STRUCT, false},   {"identity", BF_KIND_VARIANT, false},
		{"void", BF_KIND_STRUCT, true},		   {"zorder", BF_KIND_INT32, false},
	};
	BfType out;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfStatus s = bf_transform_result_type(transform(cases[i].transform),
											  (BfType){.kind = cases[i].source}, &out, &test_err);

		EXPECT_EQ(s, cases[i].ok ? BF_OK : BF_ERR_UNSUPPORTED);
	}
	EXPECT(apply("void", i32(BF_TYPE(INT32), 3)).is_null);
	EXPECT_EQ(apply("void", i32(BF_TYPE(INT32), 3)).type.kind, BF_KIND_INT32);
}

TEST(transform_human)
{
	const struct
	{
		const char *transform;
		BfValue v;
		const char *want;
	} cases[] = {
		{"year", i32(BF_TYPE(INT32), 47), "2017"},
		{"year", i32(BF_TYPE(INT32), -1970), "0000"},
		{"month", i32(BF_TYPE(INT32), 574), "2017-11"},
		{"month", i32(BF_TYPE(INT32), -1), "1969-12"},
		{"day", i32(BF_TYPE(DATE), DATE_2017_11_16), "2017-11-16"},
		{"day", i32(BF_TYPE(DATE), -1), "1969-12-31"},
		{"hour", i32(BF_TYPE(INT32), DATE_2017_11_16 * 24 + 22), "2017-11-16-22"},
		{"hour", i32(BF_TYPE(INT32), -1), "1969-12-31-23"},
		{"bucket[16]", i32(BF_TYPE(INT32), 7), "7"},
		{"void", {.is_null = true, .type = BF_TYPE(INT32)}, "null"},
		{"identity", {.is_null = true, .type = BF_TYPE(STRING)}, "null"},
		{"identity", {.type = BF_TYPE(BOOL), .v.u8 = 1}, "true"},
		{"identity", i64(BF_TYPE(INT64), INT64_MIN), "-9223372036854775808"},
		{"identity", i32(BF_TYPE(DATE), DATE_2017_11_16), "2017-11-16"},
		{"identity", i64(BF_TYPE(TIME), INT64_C(36775038194)), "10:12:55.038194"},
		{"identity", i64(BF_TYPE(TIME), INT64_C(36720000000)), "10:12"},
		{"identity", i64(BF_TYPE(TIMESTAMP), TS_2017_11_16_22_31_08), "2017-11-16T22:31:08"},
		{"identity", i64(BF_TYPE(TIMESTAMPTZ), INT64_C(1512123175038194)),
		 "2017-12-01T10:12:55.038194Z"},
		{"identity", i64(BF_TYPE(TIMESTAMP), INT64_C(1512123175038000)), "2017-12-01T10:12:55.038"},
		{"identity", i64(BF_TYPE(TIMESTAMP_NS), INT64_C(1512123175038194007)),
		 "2017-12-01T10:12:55.038194007"},
		{"identity", i64(BF_TYPE(TIMESTAMP), -1), "1969-12-31T23:59:59.999999"},
		{"identity", text("a/b"), "a/b"},
		{"truncate[2]", text("ab"), "ab"},
		{"identity", view(BF_TYPE(BINARY), "\x01\x02\x03", 3), "AQID"},
		{"identity", view(BF_TYPE(BINARY), "\x01\x02", 2), "AQI="},
		{"identity", view(BF_TYPE(BINARY), "\x01", 1), "AQ=="},
		{"identity", view(BF_TYPE(BINARY), "", 0), ""},
		{"identity",
		 view(fixed(BF_KIND_UUID, 16),
			  "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7", 16),
		 "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
		{"identity", i64(decimal(9, 2), 1420), "14.20"},
		{"identity", i64(decimal(9, 2), -5), "-0.05"},
		{"identity", i64(decimal(9, 0), -5), "-5"},
		{"identity", i64(decimal(9, 2), 0), "0.00"},
		{"identity", i64(decimal(9, 9), 1), "1E-9"},
		{"identity", i64(decimal(9, 9), 123), "1.23E-7"},
		{"identity", i64(decimal(9, 6), 1), "0.000001"},
		{"truncate[50]", (BfValue){.type = decimal(38, 10), .v.i128 = (bf_i128) INT64_MAX * 100},
		 "92233720368.5477580700"},
		{"identity", {.type = BF_TYPE(FLOAT32), .v.f32 = 1.5f}, "1.5"},
		{"identity", {.type = BF_TYPE(FLOAT32), .v.f32 = 0.1f}, "0.1"},
		{"identity", {.type = BF_TYPE(FLOAT64), .v.f64 = 1}, "1.0"},
		{"identity", {.type = BF_TYPE(FLOAT64), .v.f64 = -123456.789}, "-123456.789"},
		{"identity", {.type = BF_TYPE(FLOAT64), .v.f64 = 1e7}, "1.0E7"},
		{"identity", {.type = BF_TYPE(FLOAT64), .v.f64 = 9999999}, "9999999.0"},
		{"identity", {.type = BF_TYPE(FLOAT64), .v.f64 = 1.25e-7}, "1.25E-7"},
		{"identity", {.type = BF_TYPE(FLOAT64), .v.f64 = 0.001}, "0.001"},
		{"identity", {.type = BF_TYPE(FLOAT64), .v.f64 = -0.0}, "-0.0"},
		{"identity", {.type = BF_TYPE(FLOAT64), .v.f64 = NAN}, "NaN"},
		{"identity", {.type = BF_TYPE(FLOAT64), .v.f64 = -INFINITY}, "-Infinity"},
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfBuffer *b;

		REQUIRE_OK(bf_buffer_new(a, 1 << 16, &b, &test_err));
		REQUIRE_OK(bf_transform_human(transform(cases[i].transform), &cases[i].v, b, &test_err));
		REQUIRE_OK(bf_buffer_u8(b, 0, &test_err));
		EXPECT_STR((const char *) b->data, cases[i].want);
	}
}
