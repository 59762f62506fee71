/* Characters of ASCII: every byte against the C locale's answer, names without case. */
#include "unit/lib/runner.h"

#include <ctype.h>
#include <strings.h>

#include "base/ascii.h"

/* The tests run in the C locale, where <ctype.h> means ASCII. */
TEST(base_ascii_kinds)
{
	for (int c = 0; c < 256; c++)
	{
		EXPECT(bf_ascii_digit(c) == (isdigit(c) != 0));
		EXPECT(bf_ascii_letter(c) == (isalpha(c) != 0));
		EXPECT(bf_ascii_space(c) == (isspace(c) != 0));
		EXPECT_EQ(bf_ascii_lower(c), tolower(c));
		EXPECT_EQ(bf_ascii_upper(c), toupper(c));
		EXPECT((bf_ascii_hex(c) >= 0) == (isxdigit(c) != 0));
	}
	for (int i = 0; i < 16; i++)
	{
		EXPECT_EQ(bf_ascii_hex("0123456789abcdef"[i]), i);
		EXPECT_EQ(bf_ascii_hex("0123456789ABCDEF"[i]), i);
	}
}

/* Plain characters may be negative. */
TEST(base_ascii_above)
{
	for (int c = -128; c < 0; c++)
	{
		EXPECT(!bf_ascii_digit(c) && !bf_ascii_letter(c) && !bf_ascii_space(c));
		EXPECT_EQ(bf_ascii_lower(c), c);
		EXPECT_EQ(bf_ascii_upper(c), c);
		EXPECT_EQ(bf_ascii_hex(c), -1);
	}
}

TEST(base_ascii_same)
{
	static const char *const words[] = {"",	  "i",	 "I",	 "id",	 "ID",
										"iD", "idx", "\xc4", "\xe4", "i_d"};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		for (size_t j = 0; j < sizeof words / sizeof words[0]; j++)
			EXPECT(bf_ascii_same(words[i], words[j]) == (strcasecmp(words[i], words[j]) == 0));
	EXPECT(bf_ascii_same_bytes("DAYS", "dawn", 2));
	EXPECT(!bf_ascii_same_bytes("DAYS", "dawn", 3));
}

TEST(base_ascii_number)
{
	static const struct
	{
		const char *text;
		int64_t max;
		size_t digits;
		int64_t value;
	} cases[] = {
		{"", 9, 0, 0},
		{"a1", 9, 0, 0},
		{"-1", 9, 0, 0},
		{"0", 9, 1, 0},
		{"007_8", 9, 3, 7},
		{"10", 9, 2, -1},
		{"1000000", 9, 7, -1},
		{"9223372036854775807", INT64_MAX, 19, INT64_MAX},
		{"9223372036854775808", INT64_MAX, 19, -1},
		{"9223372036854775806", INT64_MAX - 1, 19, INT64_MAX - 1},
		{"9223372036854775807", INT64_MAX - 1, 19, -1},
		{"99999999999999999999999999", INT64_MAX, 26, -1},
		{"2147483647,", INT32_MAX, 10, INT32_MAX},
		{"2147483648,", INT32_MAX, 10, -1},
	};
	int64_t v;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		EXPECT_EQ(bf_ascii_number(cases[i].text, strlen(cases[i].text), cases[i].max, &v),
				  cases[i].digits);
		EXPECT_EQ(v, cases[i].value);
	}
	EXPECT_EQ(bf_ascii_number("1234", 2, INT64_MAX, &v), 2);
	EXPECT_EQ(v, 12);
}

TEST(base_ascii_integers)
{
	static const struct
	{
		const char *text;
		size_t bytes, digits; /* as an integer, as an unsigned number */
		int64_t value;
		uint64_t number;
	} cases[] = {
		{"", 0, 0, 0, 0},
		{"-", 0, 0, 0, 0},
		{"+1", 0, 0, 0, 0},
		{" 1", 0, 0, 0, 0},
		{"--1", 0, 0, 0, 0},
		{"0x7", 1, 1, 0, 0},
		{"-0", 2, 0, 0, 0},
		{"-12a", 3, 0, -12, 0},
		{"0012.5", 4, 4, 12, 12},
		{"9223372036854775807", 19, 19, INT64_MAX, INT64_MAX},
		{"9223372036854775808", 0, 19, 0, UINT64_C(9223372036854775808)},
		{"-9223372036854775808", 20, 0, INT64_MIN, 0},
		{"-9223372036854775809", 0, 0, 0, 0},
		{"18446744073709551615", 0, 20, 0, UINT64_MAX},
		{"18446744073709551616", 0, 0, 0, 0},
		{"99999999999999999999999", 0, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		size_t n = strlen(cases[i].text);
		uint64_t number;
		int64_t value;

		EXPECT_EQ(bf_ascii_integer(cases[i].text, n, &value), cases[i].bytes);
		EXPECT_EQ(value, cases[i].value);
		EXPECT_EQ(bf_ascii_unsigned(cases[i].text, n, &number), cases[i].digits);
		if (cases[i].digits > 0)
			EXPECT_EQ(number, cases[i].number);
	}
}
