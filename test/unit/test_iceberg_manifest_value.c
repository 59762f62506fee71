/* Partition values out of manifests: what writers put there, and what the table's types are. */
#include "iceberg/internal.h"
#include "unit/lib/runner.h"

#define LOGICAL(base, name) (&(const BfAvroSchema){.type = BF_AVRO_##base, .logical_type = (name)})
#define PLAIN(base) (&(const BfAvroSchema){.type = BF_AVRO_##base})
#define INTEGER(schema_, x) (&(const BfAvroValue){.schema = (schema_), .u.i = (x)})
#define NUMBER(schema_, x) (&(const BfAvroValue){.schema = (schema_), .u.d = (x)})
#define BYTES(schema_, text)                   \
	(&(const BfAvroValue){.schema = (schema_), \
						  .u.bytes = {(const uint8_t *) (text), sizeof(text) - 1}})
#define DECIMAL_OF(base, p, s) \
	(&(const BfAvroSchema){    \
		.type = BF_AVRO_##base, .logical_type = "decimal", .precision = (p), .scale = (s)})
#define DECIMAL(p, s) ((BfType){.kind = BF_KIND_DECIMAL, .precision = (p), .scale = (s)})
#define FIXED(n) ((BfType){.kind = BF_KIND_FIXED, .length = (n)})

static BfValue got;

static BfStatus
convert(const BfAvroValue *v, BfType want)
{
	bf_error_clear(&test_err);
	return bfi_partition_value(test_arena(), v, want, "p", &got, &test_err);
}

static bool
is_bytes(const char *text)
{
	return got.v.view.len == strlen(text) && memcmp(got.v.view.ptr, text, got.v.view.len) == 0;
}

TEST(iceberg_manifest_value_nulls)
{
	REQUIRE_OK(convert(NULL, BF_TYPE(INT32)));
	EXPECT(got.is_null && got.type.kind == BF_KIND_NULL);
	REQUIRE_OK(convert(INTEGER(PLAIN(NULL), 0), BF_TYPE(INT32)));
	EXPECT(got.is_null && got.type.kind == BF_KIND_INT32);
	/* There, though of a column that is gone. */
	REQUIRE_OK(convert(INTEGER(PLAIN(NULL), 0), BF_TYPE(NULL)));
	EXPECT(got.is_null && got.type.kind == BF_KIND_BINARY);
}

TEST(iceberg_manifest_value_integers)
{
	REQUIRE_OK(convert(&(const BfAvroValue){.schema = PLAIN(BOOLEAN), .u.b = true}, BF_TYPE(BOOL)));
	EXPECT_EQ(got.v.u8, 1);
	EXPECT_FAIL(convert(INTEGER(PLAIN(INT), 1), BF_TYPE(BOOL)), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "partition value of \"p\" has Avro type 2, expected boolean");
	REQUIRE_OK(convert(INTEGER(PLAIN(INT), -5), BF_TYPE(INT64)));
	EXPECT_EQ(got.v.i64, -5);
	REQUIRE_OK(convert(INTEGER(PLAIN(LONG), INT32_MAX), BF_TYPE(INT32)));
	EXPECT_EQ(got.v.i32, INT32_MAX);
	EXPECT_FAIL(convert(INTEGER(PLAIN(LONG), INT64_C(1) << 31), BF_TYPE(INT32)), BF_ERR_CORRUPT,
				-1);
	EXPECT_FAIL(convert(BYTES(PLAIN(STRING), "7"), BF_TYPE(INT32)), BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(convert(BYTES(PLAIN(STRING), "7"), BF_TYPE(INT64)), BF_ERR_CORRUPT, -1);
	REQUIRE_OK(convert(INTEGER(LOGICAL(INT, "date"), 3), BF_TYPE(DATE)));
	EXPECT_EQ(got.v.i32, 3);
}

TEST(iceberg_manifest_value_floats)
{
	REQUIRE_OK(convert(NUMBER(PLAIN(FLOAT), 0.5), BF_TYPE(FLOAT32)));
	EXPECT(got.v.f32 == 0.5f);
	REQUIRE_OK(convert(NUMBER(PLAIN(FLOAT), 0.5), BF_TYPE(FLOAT64)));
	EXPECT(got.v.f64 == 0.5);
	REQUIRE_OK(convert(NUMBER(PLAIN(DOUBLE), -2), BF_TYPE(FLOAT64)));
	EXPECT(got.v.f64 == -2);
	EXPECT_FAIL(convert(NUMBER(PLAIN(DOUBLE), 1), BF_TYPE(FLOAT32)), BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(convert(INTEGER(PLAIN(INT), 1), BF_TYPE(FLOAT64)), BF_ERR_CORRUPT, -1);
}

TEST(iceberg_manifest_value_times)
{
	static const struct
	{
		BfAvroSchema schema;
		BfKind want;
		int64_t in;
		int64_t out;
	} cases[] = {
		{{.type = BF_AVRO_LONG, .logical_type = "time-micros"}, BF_KIND_TIME, 7, 7},
		{{.type = BF_AVRO_INT, .logical_type = "time-millis"}, BF_KIND_TIME, 7, 7000},
		{{.type = BF_AVRO_LONG, .logical_type = "timestamp-micros"}, BF_KIND_TIMESTAMP, -7, -7},
		{{.type = BF_AVRO_LONG, .logical_type = "timestamp-millis"}, BF_KIND_TIMESTAMPTZ, 7, 7000},
		{{.type = BF_AVRO_LONG, .logical_type = "local-timestamp-millis"},
		 BF_KIND_TIMESTAMP_NS,
		 -7,
		 -7000000},
		{{.type = BF_AVRO_LONG, .logical_type = "timestamp-micros"}, BF_KIND_TIMESTAMP_NS, 7, 7000},
		{{.type = BF_AVRO_LONG, .logical_type = "timestamp-nanos"}, BF_KIND_TIMESTAMPTZ_NS, 7, 7},
		{{.type = BF_AVRO_LONG, .logical_type = "local-timestamp-nanos"},
		 BF_KIND_TIMESTAMP_NS,
		 7,
		 7},
		/* A date of the days before the column became a timestamp. */
		{{.type = BF_AVRO_INT, .logical_type = "date"}, BF_KIND_TIMESTAMP, 2, 172800000000},
		{{.type = BF_AVRO_INT}, BF_KIND_TIMESTAMP_NS, 1, 86400000000000},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		REQUIRE_OK(
			convert(INTEGER(&cases[i].schema, cases[i].in), (BfType){.kind = cases[i].want}));
		EXPECT_EQ(got.v.i64, cases[i].out);
	}
	EXPECT_FAIL(
		convert(INTEGER(LOGICAL(LONG, "timestamp-millis"), INT64_MAX / 999), BF_TYPE(TIMESTAMP)),
		BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "partition value of \"p\" is out of range");
	EXPECT_FAIL(convert(BYTES(PLAIN(STRING), "x"), BF_TYPE(TIMESTAMP)), BF_ERR_CORRUPT, -1);
}

TEST(iceberg_manifest_value_decimals)
{
	REQUIRE_OK(convert(BYTES(DECIMAL_OF(BYTES, 9, 2), "\xff"), DECIMAL(9, 2)));
	EXPECT_EQ(got.v.i64, -1);
	REQUIRE_OK(convert(BYTES(DECIMAL_OF(FIXED, 9, 2), "\1\0"), DECIMAL(38, 2)));
	EXPECT(got.v.i128 == 256);
	/* Sign bytes that say nothing, with the sign of the rest and with another. */
	REQUIRE_OK(convert(BYTES(PLAIN(BYTES), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
										   "\xff\xff\xff\xff\xfe"),
					   DECIMAL(38, 0)));
	EXPECT(got.v.i128 == -2);
	EXPECT_FAIL(
		convert(BYTES(PLAIN(BYTES), "\0\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), DECIMAL(38, 0)),
		BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(convert(BYTES(PLAIN(BYTES), "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), DECIMAL(38, 0)),
				BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "partition value of \"p\" exceeds 128 bits");
	EXPECT_FAIL(convert(BYTES(PLAIN(BYTES), "\1\0\0\0\0\0\0\0\0"), DECIMAL(9, 0)), BF_ERR_CORRUPT,
				-1);
	EXPECT_FAIL(convert(BYTES(PLAIN(BYTES), ""), DECIMAL(9, 0)), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "partition value of \"p\" is a decimal of no bytes");
	EXPECT_FAIL(convert(BYTES(DECIMAL_OF(BYTES, 9, 3), "\1"), DECIMAL(9, 2)), BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(convert(INTEGER(PLAIN(LONG), 1), DECIMAL(9, 2)), BF_ERR_CORRUPT, -1);
}

TEST(iceberg_manifest_value_bytes)
{
	REQUIRE_OK(convert(BYTES(PLAIN(STRING), "ab"), BF_TYPE(STRING)));
	EXPECT(is_bytes("ab"));
	REQUIRE_OK(convert(BYTES(PLAIN(BYTES), "ab"), BF_TYPE(BINARY)));
	EXPECT(is_bytes("ab"));
	REQUIRE_OK(convert(BYTES(PLAIN(FIXED), "ab"), FIXED(2)));
	EXPECT(is_bytes("ab"));
	EXPECT_FAIL(convert(BYTES(PLAIN(FIXED), "abc"), FIXED(2)), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "partition value of \"p\" has 3 bytes, expected 2");
	EXPECT_FAIL(convert(INTEGER(PLAIN(LONG), 1), BF_TYPE(STRING)), BF_ERR_CORRUPT, -1);
	REQUIRE_OK(convert(BYTES(PLAIN(FIXED), "0123456789abcdef"), BF_TYPE(UUID)));
	EXPECT(is_bytes("0123456789abcdef"));
	REQUIRE_OK(
		convert(BYTES(PLAIN(STRING), "30313233-3435-3637-3839-616263646566"), BF_TYPE(UUID)));
	EXPECT(is_bytes("0123456789abcdef"));
	EXPECT_FAIL(convert(BYTES(PLAIN(STRING), "30313233"), BF_TYPE(UUID)), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "partition value of \"p\" is not a uuid");
}

/* A column that no schema has: what the manifest says it is. */
TEST(iceberg_manifest_value_of_gone_columns)
{
	static const struct
	{
		BfAvroSchema schema;
		BfKind kind;
	} cases[] = {
		{{.type = BF_AVRO_BOOLEAN}, BF_KIND_BOOL},
		{{.type = BF_AVRO_INT}, BF_KIND_INT32},
		{{.type = BF_AVRO_INT, .logical_type = "date"}, BF_KIND_DATE},
		{{.type = BF_AVRO_LONG}, BF_KIND_INT64},
		{{.type = BF_AVRO_LONG, .logical_type = "time-micros"}, BF_KIND_TIME},
		{{.type = BF_AVRO_LONG, .logical_type = "timestamp-micros"}, BF_KIND_TIMESTAMP},
		{{.type = BF_AVRO_LONG, .logical_type = "timestamp-micros", .adjust_to_utc = true},
		 BF_KIND_TIMESTAMPTZ},
		{{.type = BF_AVRO_FLOAT}, BF_KIND_FLOAT32},
		{{.type = BF_AVRO_DOUBLE}, BF_KIND_FLOAT64},
		{{.type = BF_AVRO_STRING}, BF_KIND_STRING},
		{{.type = BF_AVRO_BYTES}, BF_KIND_BINARY},
		{{.type = BF_AVRO_FIXED, .logical_type = "decimal", .precision = 9, .scale = 1},
		 BF_KIND_DECIMAL},
		{{.type = BF_AVRO_BYTES, .logical_type = "decimal", .precision = 39}, BF_KIND_BINARY},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfAvroValue v = {.schema = &cases[i].schema};

		if (cases[i].schema.type == BF_AVRO_STRING || cases[i].schema.type == BF_AVRO_BYTES ||
			cases[i].schema.type == BF_AVRO_FIXED)
			v.u.bytes = (BfView){(const uint8_t *) "\1", 1};
		else if (cases[i].schema.type == BF_AVRO_FLOAT || cases[i].schema.type == BF_AVRO_DOUBLE)
			v.u.d = 1;
		else
			v.u.i = 1;
		REQUIRE_OK(convert(&v, BF_TYPE(NULL)));
		EXPECT(!got.is_null);
		EXPECT_EQ(got.type.kind, cases[i].kind);
	}
	EXPECT_FAIL(convert(&(const BfAvroValue){.schema = PLAIN(RECORD)}, BF_TYPE(NULL)),
				BF_ERR_CORRUPT, -1);
}
