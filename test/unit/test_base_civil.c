/* Days and dates: against a calendar that counts day by day. */
#include "unit/lib/runner.h"

#include <time.h>

#include "base/civil.h"

static int
days_of_month(int64_t year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (leap && month == 2 ? 1 : 0);
}

TEST(base_civil_counts_on)
{
	int64_t days = bf_days_from_civil(-801, 1, 1);
	BfCivil c = {-801, 1, 1};

	for (; c.year < 2801; days++)
	{
		BfCivil got = bf_civil_from_days(days);

		if (got.year != c.year || got.month != c.month || got.day != c.day ||
			bf_days_from_civil(c.year, c.month, c.day) != days)
		{
			test_fail(__FILE__, __LINE__, "%lld-%02d-%02d", (long long) c.year, c.month, c.day);
			return;
		}
		if (++c.day <= days_of_month(c.year, c.month))
			continue;
		c.day = 1;
		c.year += c.month == 12;
		c.month = c.month == 12 ? 1 : c.month + 1;
	}
	EXPECT_EQ(bf_days_from_civil(1970, 1, 1), 0);
	EXPECT_EQ(bf_days_from_civil(2024, 2, 29), 19782);
	EXPECT_EQ(bf_days_from_civil(0, 1, 1), -719528);
}

/* Far away there and back, and as the C library has it. */
TEST(base_civil_far_away)
{
	for (int i = 0; i < 20000; i++)
	{
		int64_t days = (int64_t) (test_random() >> (3 + test_random_below(50)));
		BfCivil c;
		struct tm tm;
		time_t t;

		days = test_random_below(2) == 0 ? -days : days;
		c = bf_civil_from_days(days);
		EXPECT_EQ(bf_days_from_civil(c.year, c.month, c.day), days);
		if (days > INT32_MAX || days < INT32_MIN)
			continue;
		t = (time_t) days * BF_SECONDS_PER_DAY;
		if (gmtime_r(&t, &tm) == NULL)
			continue;
		EXPECT(tm.tm_year + INT64_C(1900) == c.year && tm.tm_mon + 1 == c.month &&
			   tm.tm_mday == c.day);
	}
}

TEST(base_civil_days_of_any_number)
{
	EXPECT_EQ(bf_days_from_civil(2000, 1, 0), bf_days_from_civil(1999, 12, 31));
	EXPECT_EQ(bf_days_from_civil(2000, 2, 30), bf_days_from_civil(2000, 3, 1));
	EXPECT_EQ(bf_civil_from_days(bf_days_from_civil(1900, 2, 29)).day, 1);
}

TEST(base_floor_div)
{
	for (int64_t v = -20; v <= 20; v++)
		for (int64_t by = 1; by <= 7; by++)
		{
			int64_t q = bf_floor_div(v, by);

			EXPECT(q * by <= v && v < (q + 1) * by);
			EXPECT_EQ(bf_floor_mod(v, by), v - q * by);
		}
	EXPECT_EQ(bf_floor_div(INT64_MIN, 1), INT64_MIN);
	EXPECT_EQ(bf_floor_div(INT64_MIN, 86400), -106751991167301);
	EXPECT_EQ(bf_floor_mod(INT64_MIN, 86400), 30592);
}
