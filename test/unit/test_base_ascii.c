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
