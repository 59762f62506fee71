/*
 * What files say of a column, taken together: NULLs, different values, points of equal shares.
 */
#include "scan/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/lib/runner.h"

static BfColumnPart
numbers(int64_t low, int64_t high, int64_t rows, int64_t nulls, int64_t distinct)
{
	return (BfColumnPart){.stats = {.known = true,
									.has_min = true,
									.has_max = true,
									.min = {.type = BF_TYPE(INT64), .v.i64 = low},
									.max = {.type = BF_TYPE(INT64), .v.i64 = high},
									.row_count = rows,
									.null_count = nulls},
						  .distinct = distinct,
						  .bytes = -1};
}

static BfValue
text(const char *s)
{
	return (BfValue){.type = BF_TYPE(STRING),
					 .v.view = {(const uint8_t *) s, (uint32_t) strlen(s)}};
}

static BfColumnPart
texts(const char *low, const char *high, int64_t rows, int64_t distinct)
{
	return (BfColumnPart){.stats = {.known = true,
									.has_min = low != NULL,
									.has_max = high != NULL,
									.min = low == NULL ? (BfValue){0} : text(low),
									.max = high == NULL ? (BfValue){0} : text(high),
									.row_count = rows,
									.null_count = 0},
						  .distinct = distinct,
						  .bytes = -1};
}

static void
estimate(BfKind kind, const BfColumnPart *parts, int n, double rows, BfColumnEstimate *out)
{
	BfColumnSummary *s;
	BfType type = {.kind = kind};

	s = bf_arena_alloc(test_arena(), sizeof *s);
	REQUIRE(s != NULL);
	bf_summary_begin(s, test_arena(), type);
	for (int i = 0; i < n; i++)
		REQUIRE_OK(bf_summary_add(s, &parts[i], &test_err));
	bf_summary_estimate(s, rows, out);
}

/* One part that counts its values is right, whatever else there is to guess from. */
TEST(scan_summary_one_part)
{
	BfColumnPart part = numbers(1, 1000, 1000, 250, 42);
	BfColumnEstimate e;

	estimate(BF_KIND_INT64, &part, 1, 1000, &e);
	EXPECT(e.null_fraction == 0.25);
	EXPECT(e.distinct == 42 && !e.unique);
	EXPECT(e.n_points > 50 && e.points[0].v.i64 == 1 && e.points[e.n_points - 1].v.i64 == 1000);
	for (int32_t i = 1; i < e.n_points; i++)
		EXPECT(e.points[i].v.i64 > e.points[i - 1].v.i64);
}

/* What nobody can have counted is not believed. */
TEST(scan_summary_hostile)
{
	BfColumnPart more = numbers(1, 10, 100, 0, INT64_MAX);
	BfColumnPart inverted = numbers(10, 1, 100, 0, -1);
	BfColumnPart nulls = numbers(1, 10, 100, 101, -1);
	BfColumnPart none = numbers(1, 10, 0, 0, 5);
	BfColumnPart wide = numbers(INT64_MIN, INT64_MAX, INT64_MAX, 0, -1);
	BfColumnPart other = numbers(1, 10, 100, 0, -1);
	BfColumnEstimate e;

	estimate(BF_KIND_INT64, &more, 1, 100, &e);
	EXPECT(e.distinct == 10);
	estimate(BF_KIND_INT64, &inverted, 1, 100, &e);
	EXPECT(e.n_points == 0 && e.distinct <= 100);
	estimate(BF_KIND_INT64, &nulls, 1, 100, &e);
	EXPECT(e.null_fraction == -1 && e.distinct == 10);
	estimate(BF_KIND_INT64, &none, 1, 100, &e);
	EXPECT(e.null_fraction == -1 && e.distinct == 0 && e.n_points == 0);
	estimate(BF_KIND_INT64, &wide, 1, 1e18, &e);
	EXPECT(isfinite(e.distinct) && e.distinct <= 1e18 && e.n_points >= 2);
	estimate(BF_KIND_INT32, &other, 1, 100, &e);
	EXPECT(e.n_points == 0);
}

#define PARTS 20

static double
distinct_of(int64_t step, int64_t width, int64_t rows, int64_t distinct, bool *unique)
{
	BfColumnPart parts[PARTS];
	BfColumnEstimate e;

	for (int i = 0; i < PARTS; i++)
		parts[i] = numbers(i * step, i * step + width - 1, rows, 0, distinct);
	estimate(BF_KIND_INT64, parts, PARTS, (double) rows * PARTS, &e);
	*unique = e.unique;
	return e.distinct;
}

/* Between the most of one part and the sum of all. */
TEST(scan_summary_together)
{
	bool unique;

	/* Side by side they add up, over each other they are the same ones when each comes often. */
	EXPECT_EQ(distinct_of(100, 100, 10000, 50, &unique), 1000);
	EXPECT(!unique);
	EXPECT(fabs(distinct_of(0, 1000000, 10000, 50, &unique) - 50) < 0.01);
	/* Half over each other: two of them have each value. */
	EXPECT(fabs(distinct_of(50, 100, 10000, 50, &unique) - 525) < 30);
	/* A key: as many as there are values. */
	EXPECT_EQ(distinct_of(1000, 1000, 1000, -1, &unique), 1000 * PARTS);
	EXPECT(unique);
	EXPECT(fabs(distinct_of(0, 10000000, 1000, 1000, &unique) - 1000 * PARTS) < 1);
	EXPECT(unique);
	/* 1000 draws from 1000 have 632; 20 times as many have them all. */
	EXPECT(fabs(distinct_of(0, 1000000, 1000, 632, &unique) - 1000) < 20);
	/* No more than lie between the bounds. */
	EXPECT_EQ(distinct_of(0, 7, 1000, -1, &unique), 7);
}

/* Files of one value each, as partitions are. */
TEST(scan_summary_constants)
{
	static const char *const names[] = {"a common beginning, 1", "a common beginning, 2",
										"a common beginning, 3"};
	BfColumnPart parts[PARTS];
	BfColumnEstimate e;

	for (int i = 0; i < PARTS; i++)
		parts[i] = texts(names[i % 3], names[i % 3], 10, -1);
	estimate(BF_KIND_STRING, parts, PARTS, PARTS * 10, &e);
	EXPECT(fabs(e.distinct - 3) < 0.1);
	EXPECT_EQ(e.n_points, 2);
	estimate(BF_KIND_STRING, parts, 1, 10, &e);
	EXPECT_EQ(e.n_points, 1);
	EXPECT(e.distinct == 1);
	EXPECT_EQ(e.points[0].v.view.len, strlen(names[0]));
}

/* Of a dictionary nobody has counted: as many entries as there is room for. */
TEST(scan_summary_room)
{
	static const struct
	{
		int64_t rows, bytes;
		BfPartCoding coding;
		double least, most;
	} cases[] = {
		/* 7 entries of 8 bytes and 3 bits for each of 100000 values */
		{100000, 37560, BF_PART_DICTIONARY, 6, 9},
		/* 2000 entries of 8 bytes and 11 bits */
		{100000, 153500, BF_PART_DICTIONARY, 1900, 2100},
		/* so many that they are hardly a dictionary */
		{1000, 9000, BF_PART_DICTIONARY, 900, 1000},
		{1000, 8000, BF_PART_PLAIN, 1000, 1000},
		{1000, 0, BF_PART_DICTIONARY, 1, 1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfColumnPart part = numbers(0, 1000000000, cases[i].rows, 0, -1);
		BfColumnEstimate e;

		part.bytes = cases[i].bytes;
		part.coding = cases[i].coding;
		estimate(BF_KIND_INT64, &part, 1, (double) cases[i].rows, &e);
		if (e.distinct < cases[i].least || e.distinct > cases[i].most)
			test_fail(__FILE__, __LINE__, "case %d: %f", (int) i, e.distinct);
	}
}

/* Of texts nobody guesses without a dictionary or its lack; how long they are tells only who knows
 * all of them. */
TEST(scan_summary_texts)
{
	BfColumnPart parts[2] = {texts("a", "bcd", 100, -1), texts("bc", NULL, 100, -1)};
	BfColumnEstimate e;

	estimate(BF_KIND_STRING, parts, 1, 100, &e);
	EXPECT(e.distinct == 0 && e.width == 0 && e.n_points == 2);
	parts[0].coding = BF_PART_PLAIN;
	parts[0].bytes = 1400;
	estimate(BF_KIND_STRING, parts, 1, 100, &e);
	EXPECT(e.unique && e.width == 10);
	/* A bound that is missing makes the others worthless. */
	estimate(BF_KIND_STRING, parts, 2, 200, &e);
	EXPECT_EQ(e.n_points, 0);
}

/* Points lie where the rows are: nine tenths of them in the second part. */
TEST(scan_summary_shares)
{
	BfColumnPart parts[2] = {numbers(0, 999, 100, 0, -1), numbers(1000, 1999, 900, 0, -1)};
	BfColumnEstimate e;
	int below = 0;

	estimate(BF_KIND_INT64, parts, 2, 1000, &e);
	for (int32_t i = 0; i < e.n_points; i++)
		below += e.points[i].v.i64 < 1000;
	EXPECT_EQ(e.n_points, BF_SUMMARY_POINTS);
	EXPECT(below >= 9 && below <= 12);
}

/* Of more parts than are remembered some stand for all. */
TEST(scan_summary_many)
{
	enum
	{
		MANY = 5000
	};
	BfColumnPart *parts;
	BfColumnEstimate e;

	parts = bf_arena_alloc(test_arena(), MANY * sizeof *parts);
	REQUIRE(parts != NULL);
	for (int i = 0; i < MANY; i++)
		parts[i] = numbers(i * 10, i * 10 + 9, 10, 0, -1);
	estimate(BF_KIND_INT64, parts, MANY, MANY * 10, &e);
	EXPECT(e.unique);
	EXPECT(e.n_points > 90);
	EXPECT(llabs(e.points[e.n_points / 2].v.i64 - MANY * 5) < MANY / 2);
	/* A tenth of the table was looked at. */
	estimate(BF_KIND_INT64, parts, MANY / 10, MANY * 10, &e);
	EXPECT(e.unique);
}
