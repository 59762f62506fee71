/*
 * base/civil.h: days since 1970-01-01 and dates of the proleptic Gregorian calendar.
 *
 * Years count through 0, which is 1 BC. Whatever fits: days of more than 2^61 are not asked for.
 *
 *     bf_days_from_civil(2024, 2, 29)     19782
 *     bf_civil_from_days(-719528)         {0, 1, 1}
 */
#ifndef BF_BASE_CIVIL_H
#define BF_BASE_CIVIL_H

#include "base/status.h"

#define BF_SECONDS_PER_DAY INT64_C(86400)

typedef struct BfCivil
{
	int64_t year; /* 0 = 1 BC */
	int month;	  /* 1..12 */
	int day;
} BfCivil;

static inline int64_t
bf_floor_div(int64_t v, int64_t by)
{
	BF_ASSERT(by > 0);
	return v / by - (v % by < 0 ? 1 : 0);
}

/* What is left over: 0 .. by - 1, also of numbers whose bf_floor_div times `by` has no room. */
static inline int64_t
bf_floor_mod(int64_t v, int64_t by)
{
	int64_t rest = v % by;

	BF_ASSERT(by > 0);
	return rest < 0 ? rest + by : rest;
}

/* Counts in eras of 400 years that begin on the first of March. */
static inline BfCivil
bf_civil_from_days(int64_t days)
{
	int64_t z = days + 719468;
	int64_t era = bf_floor_div(z, 146097);
	int64_t day_of_era = z - era * 146097;
	int64_t year_of_era =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t month_from_march = (5 * day_of_year + 2) / 153;
	BfCivil c;

	BF_ASSERT(day_of_era >= 0 && day_of_era < 146097 && day_of_year >= 0 && day_of_year < 366);
	c.day = (int) (day_of_year - (153 * month_from_march + 2) / 5 + 1);
	c.month = (int) (month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
	c.year = year_of_era + era * 400 + (c.month <= 2 ? 1 : 0);
	BF_ASSERT(c.month >= 1 && c.month <= 12 && c.day >= 1 && c.day <= 31);
	return c;
}

/* Month is 1..12; the day may be any. */
static inline int64_t
bf_days_from_civil(int64_t year, int month, int64_t day)
{
	int64_t y = year - (month <= 2 ? 1 : 0);
	int64_t era = bf_floor_div(y, 400);
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	BF_ASSERT(month >= 1 && month <= 12);
	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
		   719468;
}

#endif
