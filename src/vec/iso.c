/* Dates and times as ISO 8601 writes them. */
#include "vec/iso.h"

#include <stdio.h>

#include "base/civil.h"

/* "2024-02-29", proleptic Gregorian; *bc: the year counts down from 1. */
static void
date_text(int64_t days, char *out, size_t size, bool *bc)
{
	BfCivil c = bf_civil_from_days(days);

	*bc = c.year <= 0;
	snprintf(out, size, "%04lld-%02d-%02d", (long long) (*bc ? 1 - c.year : c.year), c.month,
			 c.day);
}

static void
time_text(int64_t v, int64_t per_second, char *out, size_t size)
{
	int64_t s = v / per_second;
	int64_t part = v % per_second;
	int digits = per_second == 1000000000 ? 9 : 6;
	int n = snprintf(out, size, "%02d:%02d:%02d", (int) (s / 3600), (int) (s / 60 % 60),
					 (int) (s % 60));

	BF_ASSERT(v >= 0 && s <= BF_SECONDS_PER_DAY);
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
	int64_t per_day = per_second * BF_SECONDS_PER_DAY;
	int64_t days = v;
	char date[BF_ISO_BYTES] = "";
	char time[BF_ISO_BYTES] = "";
	bool bc = false;

	BF_ASSERT(kind >= BF_KIND_DATE && kind <= BF_KIND_TIMESTAMPTZ_NS);
	BF_ASSERT(size >= BF_ISO_BYTES);
	if (kind == BF_KIND_TIME || kind == BF_KIND_TIME_NS)
	{
		if (v < 0 || v > per_day)
			return false;
		time_text(v, per_second, out, size);
		return true;
	}
	if (kind != BF_KIND_DATE)
	{
		days = bf_floor_div(v, per_day);
		v = bf_floor_mod(v, per_day);
		time_text(v, per_second, time, sizeof time);
	}
	date_text(days, date, sizeof date, &bc);
	snprintf(out, size, "%s%s%s%s%s", date, kind == BF_KIND_DATE ? "" : "T", time,
			 utc ? "+00:00" : "", bc ? " BC" : "");
	return true;
}
