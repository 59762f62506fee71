/*
 * Dates and times as text, at the ends of their ranges.
 */
#include "unit/lib/runner.h"
#include "vec/iso.h"

TEST(vec_iso_text)
{
	static const struct
	{
		BfKind kind;
		int64_t v;
		const char *text;
	} table[] = {
		{BF_KIND_DATE, 0, "1970-01-01"},
		{BF_KIND_DATE, -719162, "0001-01-01"},
		{BF_KIND_DATE, -719163, "0001-12-31 BC"},
		{BF_KIND_DATE, 19782, "2024-02-29"},
		{BF_KIND_DATE, INT32_MAX, "5881580-07-11"},
		{BF_KIND_DATE, INT32_MIN, "5877642-06-23 BC"},
		{BF_KIND_TIME, 0, "00:00:00"},
		{BF_KIND_TIME, 86400000000, "24:00:00"},
		{BF_KIND_TIME_NS, 86399999999990, "23:59:59.99999999"},
		{BF_KIND_TIMESTAMP, -1, "1969-12-31T23:59:59.999999"},
		{BF_KIND_TIMESTAMP, INT64_MAX, "294247-01-10T04:00:54.775807"},
		{BF_KIND_TIMESTAMP, INT64_MIN, "290309-12-21T19:59:05.224192 BC"},
		{BF_KIND_TIMESTAMPTZ, 1500000, "1970-01-01T00:00:01.5+00:00"},
		{BF_KIND_TIMESTAMP_NS, INT64_MIN, "1677-09-21T00:12:43.145224192"},
		{BF_KIND_TIMESTAMPTZ_NS, INT64_MAX, "2262-04-11T23:47:16.854775807+00:00"},
	};
	char text[BF_ISO_BYTES];

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
	{
		EXPECT(bf_iso_text(table[i].kind, table[i].v, text, sizeof text));
		EXPECT_STR(text, table[i].text);
	}
	EXPECT(!bf_iso_text(BF_KIND_TIME, -1, text, sizeof text));
	EXPECT(!bf_iso_text(BF_KIND_TIME, 86400000001, text, sizeof text));
	EXPECT(!bf_iso_text(BF_KIND_TIME_NS, 86400000000001, text, sizeof text));
}
