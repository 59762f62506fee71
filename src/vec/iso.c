#include "vec/iso.h"

#include <stdio.h>

/* "2024-02-29", proleptic Gregorian; *bc: the year counts down from 1. */
static void
date_text(int64_t days, char *out, size_t size, bool *bc)
{
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;
	int64_t month = mp < 10 ? mp + 3 : mp - 9;
	int64_t year = yoe + era * 400 + (month <= 2);

	*bc = year <= 0;
	snprintf(out, size, "%04lld-%02d-%02d", (long long) (*bc ? 1 - year : year), (int) month,
			 (int) (doy - (153 * mp + 2) / 5 + 1));
}

static void
time_text(int64_t v, int64_t per_second, char *out, size_t size)
{
	int64_t s = v / per_second;
	int64_t part = v % per_second;
	int digits = per_second == 1000000000 ? 9 : 6;
	int n = snprintf(out, size, "%02d:%02d:%02d", (int) (s / 3600), (int) (s / 60 % 60),
					 (int) (s % 60));

	if (part == 0)
		return;
	for (; part % 10 == 0; part /= 10)
		digits--;
	snprintf(out + n, size - (size_t) n, ".%0*lld", digits, (long long) part);
}

bool
bf_iso_text(BfKind kind, int64_t v, char *out, size_t size)
{
	bool nanos =
		kind == BF_KIND_TIME_NS || kind == BF_KIND_TIMESTAMP_NS || kind == BF_KIND_TIMESTAMPTZ_NS;
	bool utc = kind == BF_KIND_TIMESTAMPTZ || kind == BF_KIND_TIMESTAMPTZ_NS;
	int64_t per_second = nanos ? 1000000000 : 1000000;
	int64_t per_day = per_second * 86400;
	int64_t days = v;
	char date[BF_ISO_BYTES] = "";
	char time[BF_ISO_BYTES] = "";
	bool bc = false;

	if (kind == BF_KIND_TIME || kind == BF_KIND_TIME_NS)
	{
		if (v < 0 || v > per_day)
			return false;
		time_text(v, per_second, out, size);
		return true;
	}
	if (kind != BF_KIND_DATE)
	{
		days = v / per_day - (v % per_day < 0);
		v = v % per_day + (v % per_day < 0 ? per_day : 0);
		time_text(v, per_second, time, sizeof time);
	}
	date_text(days, date, sizeof date, &bc);
	snprintf(out, size, "%s%s%s%s%s", date, kind == BF_KIND_DATE ? "" : "T", time,
			 utc ? "+00:00" : "", bc ? " BC" : "");
	return true;
}
