/* exec/read/kafka_json: headers of records as JSON text. */
#include "exec/read/kafka_json.h"
#include "unit/lib/runner.h"

/* A header: varint lengths, -1 = null. */
static void
put_part(BfBuffer *b, const char *bytes, int64_t n)
{
	if (bf_buffer_varint(b, n, &test_err) != BF_OK ||
		(n > 0 && bf_buffer_append(b, bytes, (size_t) n, &test_err) != BF_OK))
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
}

typedef struct Header
{
	const char *key;
	int32_t n_key;
	const char *value;
	int32_t n_value; /* -1 = null */
} Header;

static BfStatus
headers_json(const Header *headers, int32_t n, int32_t claimed, const char **out)
{
	BfArena *a = test_arena();
	BfRecord r = {.offset = 9, .n_headers = claimed};
	BfBuffer *in, *text;

	bf_error_clear(&test_err);
	BF_TRY(bf_buffer_new(a, 1 << 16, &in, &test_err));
	BF_TRY(bf_buffer_new(a, 1 << 16, &text, &test_err));
	for (int32_t i = 0; i < n; i++)
	{
		put_part(in, headers[i].key, headers[i].n_key);
		put_part(in, headers[i].value, headers[i].n_value);
	}
	r.headers = (BfView){in->data, (uint32_t) in->len};
	BF_TRY(bfi_kafka_headers_json(&r, text, &test_err));
	*out = bf_arena_strndup(a, (const char *) text->data, text->len);
	return BF_OK;
}

static const char *
one_key(const char *key, int32_t n)
{
	Header h = {key, n, NULL, -1};
	const char *out;

	if (headers_json(&h, 1, 1, &out) != BF_OK)
		return test_err.text;
	return out;
}

TEST(exec_kafka_json_values)
{
	static const Header headers[] = {
		{"a", 1, "", 0},	   {"b", 1, "\xff", 1},	 {"c", 1, "\1\2", 2},
		{"d", 1, "\1\2\3", 3}, {"e", 1, "fooba", 5}, {"f", 1, "\xfb\xef\xff\xfe", 4},
		{"a", 1, "second", 6}, {"", 0, NULL, -1},
	};
	const char *out;

	REQUIRE_OK(headers_json(headers, 8, 8, &out));
	EXPECT_STR(out, "[{\"key\":\"a\",\"value\":\"\"},{\"key\":\"b\",\"value\":\"/w==\"},"
					"{\"key\":\"c\",\"value\":\"AQI=\"},{\"key\":\"d\",\"value\":\"AQID\"},"
					"{\"key\":\"e\",\"value\":\"Zm9vYmE=\"},{\"key\":\"f\",\"value\":\"++///g==\"},"
					"{\"key\":\"a\",\"value\":\"c2Vjb25k\"},{\"key\":\"\",\"value\":null}]");
	REQUIRE_OK(headers_json(headers, 0, 0, &out));
	EXPECT_STR(out, "[]");
}

#define KEY(text) "[{\"key\":\"" text "\",\"value\":null}]"
#define BAD "\xef\xbf\xbd"

TEST(exec_kafka_json_keys)
{
	EXPECT_STR(one_key("q\"b\\s/", 6), KEY("q\\\"b\\\\s/"));
	EXPECT_STR(one_key("\0\n\x1f\x7f", 4), KEY("\\u0000\\u000a\\u001f\x7f"));
	/* The ends of each length of UTF-8. */
	EXPECT_STR(one_key("\xc2\x80\xdf\xbf", 4), KEY("\xc2\x80\xdf\xbf"));
	EXPECT_STR(one_key("\xe0\xa0\x80\xef\xbf\xbf", 6), KEY("\xe0\xa0\x80\xef\xbf\xbf"));
	EXPECT_STR(one_key("\xed\x9f\xbf\xee\x80\x80", 6), KEY("\xed\x9f\xbf\xee\x80\x80"));
	EXPECT_STR(one_key("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8),
			   KEY("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"));
}

/* Each byte that is no character becomes U+FFFD; what follows is read on. */
TEST(exec_kafka_json_bad_keys)
{
	EXPECT_STR(one_key("a\x80z", 3), KEY("a" BAD "z"));
	EXPECT_STR(one_key("\xc1\xbf", 2), KEY(BAD BAD));
	EXPECT_STR(one_key("\xe0\x9f\xbf", 3), KEY(BAD BAD BAD));
	EXPECT_STR(one_key("\xed\xa0\x80", 3), KEY(BAD BAD BAD));
	EXPECT_STR(one_key("\xf0\x8f\xbf\xbf", 4), KEY(BAD BAD BAD BAD));
	EXPECT_STR(one_key("\xf4\x90\x80\x80", 4), KEY(BAD BAD BAD BAD));
	EXPECT_STR(one_key("\xf5\x80", 2), KEY(BAD BAD));
	EXPECT_STR(one_key("\xff", 1), KEY(BAD));
	EXPECT_STR(one_key("\xe2\x82z", 3), KEY(BAD BAD "z"));
	EXPECT_STR(one_key("\xe2\x82", 2), KEY(BAD BAD));
	EXPECT_STR(one_key("\xf0\x90\x80z", 4), KEY(BAD BAD BAD "z"));
	EXPECT_STR(one_key("\xc3", 1), KEY(BAD));
}

TEST(exec_kafka_json_damaged)
{
	static const Header headers[] = {{"a", 1, "b", 1}, {"a", 1, "b", 1}};
	static const Header short_one = {"", -1, NULL, -1};
	const char *out;

	EXPECT_FAIL(headers_json(headers, 2, 1, &out), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "there are bytes after the headers of the record at offset 9");
	EXPECT_FAIL(headers_json(headers, 2, 3, &out), BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(headers_json(&short_one, 1, 1, &out), BF_ERR_CORRUPT, -1);
}
