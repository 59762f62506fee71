/* Text in buffers: numbers, base64, uuids, JSON strings. */
#include "unit/lib/runner.h"

#include <stdlib.h>

#include <jansson.h>

#include "base/text.h"
#include "unit/lib/host_posix.h"

static BfBuffer *
buffer(void)
{
	BfBuffer *b = NULL;

	if (bf_buffer_new(test_arena(), 1 << 20, &b, &test_err) != BF_OK)
		abort();
	return b;
}

/* The text, and an empty buffer again. */
static const char *
taken(BfBuffer *b)
{
	static char copy[4096];
	const char *text = "(failed)";

	if (bf_text_end(b, &text, &test_err) == BF_OK)
		snprintf(copy, sizeof copy, "%s", text);
	b->len = 0;
	return copy;
}

static BfView
view(const char *s)
{
	return (BfView){(const uint8_t *) s, (uint32_t) strlen(s)};
}

TEST(base_text_numbers)
{
	BfBuffer *b = buffer();
	char expected[32];

	for (int i = 0; i < 2000; i++)
	{
		int64_t v = (int64_t) (test_random() >> test_random_below(64));

		v = i == 0 ? INT64_MIN : i == 1 ? INT64_MAX : i < 5 ? i - 3 : v;
		snprintf(expected, sizeof expected, "%lld", (long long) v);
		REQUIRE_OK(bf_text_number(b, v, &test_err));
		EXPECT_STR(taken(b), expected);
	}
	REQUIRE_OK(bf_text_put(b, "", &test_err));
	REQUIRE_OK(bf_text_put(b, "a-", &test_err));
	REQUIRE_OK(bf_text_number(b, -7, &test_err));
	EXPECT_EQ(b->len, 4);
	EXPECT_STR(taken(b), "a--7");
}

/* RFC 4648, section 10. */
TEST(base_text_base64)
{
	static const char *const cases[][2] = {{"", ""},
										   {"f", "Zg=="},
										   {"fo", "Zm8="},
										   {"foo", "Zm9v"},
										   {"foob", "Zm9vYg=="},
										   {"fooba", "Zm9vYmE="},
										   {"foobar", "Zm9vYmFy"},
										   {"\xff\xff\xfe", "///+"}};
	BfBuffer *b = buffer();

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		REQUIRE_OK(bf_text_put(b, "<", &test_err));
		REQUIRE_OK(bf_text_base64(b, view(cases[i][0]), &test_err));
		EXPECT_STR(taken(b) + 1, cases[i][1]);
	}
	REQUIRE_OK(bf_text_base64(b, (BfView){NULL, 0}, &test_err));
	EXPECT_EQ(b->len, 0);
}

TEST(base_text_uuid)
{
	uint8_t uuid[16];
	BfBuffer *b = buffer();

	for (uint8_t i = 0; i < 16; i++)
		uuid[i] = (uint8_t) (i * 17);
	REQUIRE_OK(bf_text_uuid(b, uuid, &test_err));
	EXPECT_STR(taken(b), "00112233-4455-6677-8899-aabbccddeeff");
}

TEST(base_text_json)
{
	static const struct
	{
		const char *text;
		const char *kept;
		const char *repaired; /* NULL = the same */
	} cases[] = {
		{"", "\"\"", NULL},
		{"plain", "\"plain\"", NULL},
		{"a\"b\\c", "\"a\\\"b\\\\c\"", NULL},
		{"\n\x1f\x7f", "\"\\u000a\\u001f\x7f\"", NULL},
		{"h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
		 NULL},
		{"\xc3", "\"\xc3\"", "\"\xef\xbf\xbd\""},
		{"\xc0\x80x", "\"\xc0\x80x\"", "\"\xef\xbf\xbd\xef\xbf\xbdx\""},
		{"\xed\xa0\x80", "\"\xed\xa0\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xc3\"", "\"\xc3\\\"\"", "\"\xef\xbf\xbd\\\"\""},
	};
	BfBuffer *b = buffer();

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		REQUIRE_OK(bf_text_json(b, view(cases[i].text), BF_JSON_KEEP, &test_err));
		EXPECT_STR(taken(b), cases[i].kept);
		REQUIRE_OK(bf_text_json(b, view(cases[i].text), BF_JSON_REPAIR, &test_err));
		EXPECT_STR(taken(b), cases[i].repaired != NULL ? cases[i].repaired : cases[i].kept);
	}
}

/* Another reader of JSON reads back what any bytes became. */
TEST(base_text_json_reads_back)
{
	BfBuffer *b = buffer();

	for (int i = 0; i < 2000; i++)
	{
		uint8_t bytes[12];
		BfView text = {bytes, (uint32_t) test_random_below(sizeof bytes + 1)};
		json_t *json;
		json_error_t error;

		for (uint32_t k = 0; k < text.len; k++)
			bytes[k] = (uint8_t) (test_random_below(3) == 0 ? test_random() : 0x20 + k);
		b->len = 0;
		REQUIRE_OK(bf_text_json(b, text, BF_JSON_REPAIR, &test_err));
		json = json_loadb((const char *) b->data, b->len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
		REQUIRE(json_is_string(json));
		if (memmem(json_string_value(json), json_string_length(json), "\xef\xbf\xbd", 3) == NULL)
			EXPECT(json_string_length(json) == text.len &&
				   memcmp(json_string_value(json), bytes, text.len) == 0);
		json_decref(json);
	}
}

/* All characters there are, each as the first of more and alone, and all pairs of bytes. */
TEST(base_utf8_length)
{
	for (uint32_t c = 0; c < 0x110000; c++)
	{
		uint8_t p[5] = {0};
		uint32_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
		uint32_t rest = c;
		bool surrogate = c >= 0xd800 && c < 0xe000;

		for (uint32_t k = n - 1; k > 0; k--, rest >>= 6)
			p[k] = (uint8_t) (0x80 | (rest & 0x3f));
		p[0] = (uint8_t) (first[n] | rest);
		if (bf_utf8_length(p, 5) != (surrogate ? 0 : n) ||
			bf_utf8_length(p, n) != (surrogate ? 0 : n) || (n > 1 && bf_utf8_length(p, n - 1) != 0))
			test_fail(__FILE__, __LINE__, "U+%04X", c);
	}
	for (uint32_t c = 0x80; c < 0x100; c++)
		EXPECT(bf_utf8_length(&(uint8_t){(uint8_t) c}, 1) == 0);
	EXPECT_EQ(bf_utf8_length((const uint8_t *) "\xc1\xbf", 2), 0);
	EXPECT_EQ(bf_utf8_length((const uint8_t *) "\xe0\x9f\xbf", 3), 0);
	EXPECT_EQ(bf_utf8_length((const uint8_t *) "\xf0\x8f\xbf\xbf", 4), 0);
	EXPECT_EQ(bf_utf8_length((const uint8_t *) "\xf4\x90\x80\x80", 4), 0);
	EXPECT_EQ(bf_utf8_length((const uint8_t *) "\xf5\x80\x80\x80", 4), 0);
}

TEST(base_text_decimal)
{
	static const struct
	{
		int64_t v;
		int32_t scale;
		const char *text;
	} cases[] = {{0, 0, "0"},		  {0, 3, "0.000"},	  {5, 2, "0.05"},
				 {-5, 2, "-0.05"},	  {1234, 2, "12.34"}, {-1234, 4, "-0.1234"},
				 {-1234, 0, "-1234"}, {1000, 3, "1.000"}};
	char text[BF_DECIMAL_TEXT_BYTES];
	BfBuffer *b = buffer();

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		EXPECT_EQ(bf_decimal_text(text, cases[i].v, cases[i].scale), strlen(cases[i].text));
		EXPECT_STR(text, cases[i].text);
		REQUIRE_OK(bf_text_decimal(b, cases[i].v, cases[i].scale, &test_err));
		EXPECT_STR(taken(b), cases[i].text);
	}
	bf_decimal_text(text, (bf_i128) ((bf_u128) 1 << 127), 38);
	EXPECT_STR(text, "-1.70141183460469231731687303715884105728");
	bf_decimal_text(text, -1, BF_DECIMAL_SCALE_MAX);
	EXPECT_STR(text, "-0.0000000000000000000000000000000000000001");
	bf_decimal_text(text, (bf_i128) (((bf_u128) 1 << 127) - 1), 0);
	EXPECT_STR(text, "170141183460469231731687303715884105727");
}

/* The digits are the number: read back without the point they give it again. */
TEST(base_text_decimal_reads_back)
{
	for (int i = 0; i < 5000; i++)
	{
		bf_u128 bits = ((bf_u128) test_random() << 64 | test_random()) >> test_random_below(128);
		bf_i128 v = (bf_i128) bits, back = 0;
		int32_t scale = (int32_t) test_random_below(BF_DECIMAL_SCALE_MAX + 1);
		char text[BF_DECIMAL_TEXT_BYTES];
		size_t n = bf_decimal_text(text, v, scale);
		const char *point = strchr(text, '.');

		EXPECT_EQ(point != NULL ? text + n - point - 1 : 0, scale);
		EXPECT(point != text && (point == NULL || point[-1] != '-'));
		for (const char *s = text; *s != '\0'; s++)
			if (*s >= '0' && *s <= '9')
				back = (bf_i128) ((bf_u128) back * 10 + (bf_u128) (*s - '0'));
		EXPECT((text[0] == '-' ? -(bf_u128) back : (bf_u128) back) == (bf_u128) v);
	}
}

static BfStatus
write_all(BfBuffer *b, BfError *err)
{
	static const uint8_t uuid[16] = {1};
	const char *text;

	BF_TRY(bf_text_put(b, "begin", err));
	BF_TRY(bf_text_number(b, INT64_MIN, err));
	BF_TRY(bf_text_decimal(b, INT64_MIN, 3, err));
	BF_TRY(bf_text_uuid(b, uuid, err));
	for (int i = 0; i < 40; i++)
	{
		BF_TRY(bf_text_json(b, view("\n\"\xff text"), BF_JSON_REPAIR, err));
		BF_TRY(bf_text_base64(b, view("bytes"), err));
	}
	return bf_text_end(b, &text, err);
}

TEST(base_text_bounds_and_faults)
{
	size_t whole;
	BfBuffer b;

	bf_buffer_init(&b, test_host(), 1 << 20);
	REQUIRE_OK(write_all(&b, &test_err));
	whole = b.len + 1;
	bf_buffer_free(&b);
	for (size_t max = 0; max <= whole; max++)
	{
		BfStatus status;

		bf_buffer_init(&b, test_host(), max);
		status = write_all(&b, &test_err);
		EXPECT_EQ(status, max < whole ? BF_ERR_LIMIT : BF_OK);
		EXPECT(b.len <= max);
		bf_buffer_free(&b);
	}
	for (int64_t call = 1;; call++)
	{
		TestHost h;
		BfStatus status;

		test_host_init(&h);
		test_fault_arm(&h, TEST_FAULT_ALLOC, call, false);
		bf_buffer_init(&b, &h.host, 1 << 20);
		status = write_all(&b, &test_err);
		bf_buffer_free(&b);
		EXPECT_EQ(h.live_allocs, 0);
		if (!test_fault_fired(&h))
			break;
		EXPECT_EQ(status, BF_ERR_NOMEM);
	}
}
