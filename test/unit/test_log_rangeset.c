/* Range sets, logical file names, coverage. */
#include "unit/lib/runner.h"

#include "log/rangeset.h"

#define MODEL 300

static BfStatus
parse(BfArena *a, const char *text, bool lenient, BfRangeSet *s)
{
	return bf_rangeset_parse(a, text, strlen(text), lenient, s, &test_err);
}

static const char *
format(BfArena *a, const BfRangeSet *s)
{
	BfBuffer *b;

	if (bf_buffer_new(a, 1 << 26, &b, &test_err) != BF_OK ||
		bf_rangeset_format(s, b, &test_err) != BF_OK || bf_buffer_u8(b, 0, &test_err) != BF_OK)
		return NULL;
	return (const char *) b->data;
}

TEST(rangeset_canonical_texts)
{
	static const char *const texts[] = {
		"",
		"0-0",
		"0-5_7-7_9-20",
		"9223372036854775806-9223372036854775806",
		"0-9223372036854775806",
		"10-11_13-14_16-17_100000-9223372036854775806",
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (int lenient = 0; lenient < 2; lenient++)
		{
			BfRangeSet s;

			REQUIRE_OK(parse(a, texts[i], lenient != 0, &s));
			EXPECT_STR(format(a, &s), texts[i]);
		}
}

TEST(rangeset_lenient_texts)
{
	static const struct
	{
		const char *text;
		int strict_offset;
		const char *canonical;
	} cases[] = {
		{"7", 1, "7-7"},	   {"1-5_6-9", 4, "1-9"},	{"1_2_3_5", 1, "1-3_5-5"},
		{"0-0_1-1", 4, "0-1"}, {"3-4_6", 5, "3-4_6-6"},
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfRangeSet s;

		EXPECT_FAIL(parse(a, cases[i].text, false, &s), BF_ERR_CORRUPT, cases[i].strict_offset);
		REQUIRE_OK(parse(a, cases[i].text, true, &s));
		EXPECT_STR(format(a, &s), cases[i].canonical);
	}
}

TEST(rangeset_hostile_texts)
{
	static const struct
	{
		const char *text;
		int offset;
	} cases[] = {
		{"_", 0},
		{"-", 0},
		{"a", 0},
		{"1-", 2},
		{"1-2_", 4},
		{"_1-2", 0},
		{"1-2__4-5", 4},
		{"1-2-3", 3},
		{"5-1", 0},
		{"1-5_3-9", 4},
		{"1-5_5-9", 4},
		{"7-9_1-2", 4},
		{"1-5_1-5", 4},
		{"01-5", 0},
		{"1-05", 2},
		{"00-5", 0},
		{"+1-5", 0},
		{" 1-5", 0},
		{"1-5 ", 3},
		{"1 -5", 1},
		{"-1-5", 0},
		{"0-9223372036854775807", 2},
		{"9223372036854775808-9223372036854775809", 0},
		{"18446744073709551616-18446744073709551617", 0},
		{"99999999999999999999999999999999999-1", 0},
		{"1-2\n", 3},
		{"1-2,4-5", 3},
		{"0x1-2", 1},
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int lenient = 0; lenient < 2; lenient++)
		{
			BfRangeSet s;

			EXPECT_FAIL(parse(a, cases[i].text, lenient != 0, &s), BF_ERR_CORRUPT, cases[i].offset);
		}
}

TEST(rangeset_number_with_nul_inside)
{
	BfRangeSet s;

	EXPECT_FAIL(bf_rangeset_parse(test_arena(), "1-2\0_4-5", 8, true, &s, &test_err),
				BF_ERR_CORRUPT, 3);
}

/* Bit i of the model = entry i is in the set. */
static void
to_model(const BfRangeSet *s, bool *m)
{
	memset(m, 0, MODEL);
	for (int32_t i = 0; i < s->n; i++)
	{
		EXPECT(s->ranges[i].first <= s->ranges[i].last && s->ranges[i].last < MODEL);
		EXPECT(i == 0 || s->ranges[i].first > s->ranges[i - 1].last + 1);
		for (int64_t e = s->ranges[i].first; e <= s->ranges[i].last; e++)
			m[e] = true;
	}
}

static void
random_set(BfArena *a, BfRangeSet *s, bool *m)
{
	BfRange ranges[40];
	int32_t n = (int32_t) test_random_below(40);
	int64_t len_max = 1 + (int64_t) test_random_below(20);
	bool again[MODEL];

	memset(m, 0, MODEL);
	for (int32_t i = 0; i < n; i++)
	{
		ranges[i].first = (int64_t) test_random_below(MODEL);
		ranges[i].last = ranges[i].first + (int64_t) test_random_below((uint64_t) len_max);
		if (ranges[i].last >= MODEL)
			ranges[i].last = MODEL - 1;
		for (int64_t e = ranges[i].first; e <= ranges[i].last; e++)
			m[e] = true;
	}
	REQUIRE_OK(bf_rangeset_make(a, ranges, n, s, &test_err));
	to_model(s, again);
	EXPECT(memcmp(m, again, MODEL) == 0);
}

TEST(rangeset_operations_match_a_bitmap)
{
	for (int round = 0; round < 2000; round++)
	{
		BfArena *a = test_arena();
		BfArenaMark mark = bf_arena_mark(a);
		BfRangeSet x, y, u, i, d, back;
		bool mx[MODEL], my[MODEL], mu[MODEL], mi[MODEL], md[MODEL];
		bool overlaps = false;
		bool equal = true;
		int64_t count = 0;
		const char *text;

		random_set(a, &x, mx);
		random_set(a, &y, my);
		REQUIRE_OK(bf_rangeset_union(a, &x, &y, &u, &test_err));
		REQUIRE_OK(bf_rangeset_intersect(a, &x, &y, &i, &test_err));
		REQUIRE_OK(bf_rangeset_subtract(a, &x, &y, &d, &test_err));
		to_model(&u, mu);
		to_model(&i, mi);
		to_model(&d, md);
		for (int e = 0; e < MODEL; e++)
		{
			int32_t at = bf_rangeset_seek(&x, e);

			EXPECT(mu[e] == (mx[e] || my[e]));
			EXPECT(mi[e] == (mx[e] && my[e]));
			EXPECT(md[e] == (mx[e] && !my[e]));
			EXPECT(bf_rangeset_contains(&x, e) == mx[e]);
			EXPECT(at == x.n || x.ranges[at].last >= e);
			EXPECT(at == 0 || x.ranges[at - 1].last < e);
			overlaps = overlaps || (mx[e] && my[e]);
			equal = equal && mx[e] == my[e];
			count += mx[e];
		}
		EXPECT_EQ(bf_rangeset_count(&x), count);
		EXPECT(bf_rangeset_overlaps(&x, &y) == overlaps);
		EXPECT(bf_rangeset_equal(&x, &y) == equal);
		text = format(a, &x);
		REQUIRE_OK(parse(a, text, false, &back));
		EXPECT(bf_rangeset_equal(&x, &back));
		if (test_failed())
			return;
		bf_arena_rewind(a, mark);
	}
}

TEST(rangeset_extremes)
{
	BfArena *a = test_arena();
	BfRange whole = {0, BF_ENTRY_MAX};
	BfRange ends[2] = {{BF_ENTRY_MAX, BF_ENTRY_MAX}, {0, 0}};
	BfRange bad[] = {{-1, 5}, {5, 4}, {0, INT64_MAX}, {INT64_MIN, INT64_MAX}};
	BfRangeSet w, e, r;

	REQUIRE_OK(bf_rangeset_make(a, &whole, 1, &w, &test_err));
	REQUIRE_OK(bf_rangeset_make(a, ends, 2, &e, &test_err));
	EXPECT_EQ(bf_rangeset_count(&w), INT64_MAX);
	REQUIRE_OK(bf_rangeset_subtract(a, &w, &e, &r, &test_err));
	EXPECT_STR(format(a, &r), "1-9223372036854775805");
	REQUIRE_OK(bf_rangeset_union(a, &r, &e, &r, &test_err));
	EXPECT(bf_rangeset_equal(&r, &w));
	REQUIRE_OK(bf_rangeset_subtract(a, &w, &w, &r, &test_err));
	EXPECT_EQ(r.n, 0);
	EXPECT(!bf_rangeset_contains(&r, 0) && !bf_rangeset_contains(&w, INT64_MAX));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		EXPECT_FAIL(bf_rangeset_make(a, &bad[i], 1, &r, &test_err), BF_ERR_CORRUPT, -1);
}

TEST(rangeset_a_million_ranges)
{
	BfArena *a = test_arena();
	BfBuffer *b;
	BfRangeSet s, again, u;
	size_t before;
	BfRange *reversed;

	REQUIRE_OK(bf_buffer_new(a, 1 << 26, &b, &test_err));
	REQUIRE((reversed = bf_arena_alloc_array(a, BF_RANGESET_RANGES_MAX, sizeof *reversed)) != NULL);
	for (int32_t i = 0; i < BF_RANGESET_RANGES_MAX; i++)
		reversed[BF_RANGESET_RANGES_MAX - 1 - i] = (BfRange){3 * (int64_t) i, 3 * (int64_t) i + 1};
	REQUIRE_OK(bf_rangeset_make(a, reversed, BF_RANGESET_RANGES_MAX, &s, &test_err));
	EXPECT_EQ(s.n, BF_RANGESET_RANGES_MAX);
	REQUIRE_OK(bf_rangeset_format(&s, b, &test_err));
	before = bf_arena_bytes(a);
	REQUIRE_OK(bf_rangeset_parse(a, (char *) b->data, b->len, false, &again, &test_err));
	EXPECT(bf_rangeset_equal(&s, &again));
	EXPECT(bf_arena_bytes(a) - before <= BF_RANGESET_RANGES_MAX * sizeof(BfRange) + (1 << 20));
	REQUIRE_OK(bf_rangeset_union(a, &s, &again, &u, &test_err));
	EXPECT_EQ(u.n, s.n);
	REQUIRE_OK(bf_buffer_append(b, "_5000000-5000000", 16, &test_err));
	EXPECT_FAIL(bf_rangeset_parse(a, (char *) b->data, b->len, true, &again, &test_err),
				BF_ERR_LIMIT, -1);
}

TEST(logical_names)
{
	static const struct
	{
		const char *path;
		const char *db;
		const char *table;
		int64_t ledger;
		const char *ranges;
		const char *again; /* NULL = the same */
	} cases[] = {
		{"bifang://shop/orders/12_0-5_7-9.log", "shop", "orders", 12, "0-5_7-9", NULL},
		{"bifang://a/b/7_.log", "a", "b", 7, "", NULL},
		{"bifang://a/b/0_3.log", "a", "b", 0, "3-3", "bifang://a/b/0_3-3.log"},
		{"bifang://a/b/9223372036854775807_0-9223372036854775806.log", "a", "b", INT64_MAX,
		 "0-9223372036854775806", NULL},
		{"bifang://x%2Fy/t%20%25.log/1_0-0.log", "x/y", "t %.log", 1, "0-0", NULL},
		{"bifang://x%2fy/\xc3\xa4/1_1-5_6-9.log", "x/y", "\xc3\xa4", 1, "1-9",
		 "bifang://x%2Fy/%C3%A4/1_1-9.log"},
		{"bifang://-._~/AZaz09/1_0-0.log", "-._~", "AZaz09", 1, "0-0", NULL},
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfLogicalFile f;
		const char *again;

		EXPECT(bf_is_logical_path(cases[i].path));
		REQUIRE_OK(bf_logical_parse(a, cases[i].path, &f, &test_err));
		EXPECT_STR(f.db, cases[i].db);
		EXPECT_STR(f.table, cases[i].table);
		EXPECT_EQ(f.ledger_id, cases[i].ledger);
		EXPECT_STR(format(a, &f.ranges), cases[i].ranges);
		REQUIRE_OK(bf_logical_format(a, &f, &again, &test_err));
		EXPECT_STR(again, cases[i].again != NULL ? cases[i].again : cases[i].path);
	}
	EXPECT(!bf_is_logical_path("s3://a/b/1_0-0.log"));
	EXPECT(!bf_is_logical_path("bifang:/a"));
}

TEST(logical_hostile_names)
{
	static const struct
	{
		const char *path;
		int offset;
	} cases[] = {
		{"", 0},
		{"bifang://", 9},
		{"s3://a/b/1_0-0.log", 0},
		{"bifang://a/1_0-0.log", 9},
		{"bifang://a/b/c/1_0-0.log", 9},
		{"bifang:///b/1_0-0.log", 9},
		{"bifang://a//1_0-0.log", 11},
		{"bifang://a/b/", 13},
		{"bifang://a/b/.log", 13},
		{"bifang://a/b/1.log", 14},
		{"bifang://a/b/_0-1.log", 13},
		{"bifang://a/b/01_0-1.log", 13},
		{"bifang://a/b/-1_0-1.log", 13},
		{"bifang://a/b/9223372036854775808_0-1.log", 13},
		{"bifang://a/b/1_0-1", 18},
		{"bifang://a/b/1_0-1.LOG", 22},
		{"bifang://a/b/1_0-1.log.log", 18},
		{"bifang://a/b/1_0-1_.log", 19},
		{"bifang://a/b/1_0-1_0-1.log", 19},
		{"bifang://a/b/1_5-1.log", 15},
		{"bifang://a/b/1__0-1.log", 15},
		{"bifang://%/b/1_0-1.log", 9},
		{"bifang://a%2/b/1_0-1.log", 10},
		{"bifang://a%zz/b/1_0-1.log", 10},
		{"bifang://a%00/b/1_0-1.log", 10},
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfLogicalFile f;

		EXPECT_FAIL(bf_logical_parse(a, cases[i].path, &f, &test_err), BF_ERR_CORRUPT,
					cases[i].offset);
		EXPECT_STR(test_err.object, cases[i].path);
	}
}

static const char *
format_coverage(BfArena *a, const BfCoverage *c)
{
	BfBuffer *b;

	if (bf_buffer_new(a, 1 << 20, &b, &test_err) != BF_OK ||
		bf_coverage_format(c, b, &test_err) != BF_OK || bf_buffer_u8(b, 0, &test_err) != BF_OK)
		return NULL;
	return (const char *) b->data;
}

TEST(coverage_texts)
{
	static const char *const good[] = {
		"",
		"12:0-99_150-199;13:0-5",
		"0:0-0",
		"9223372036854775807:0-9223372036854775806",
	};
	static const struct
	{
		const char *text;
		int offset;
	} bad[] = {
		{";", 0},
		{"1", 1},
		{"1:", 2},
		{"1:0-5;", 6},
		{"1:0-5;;2:0-1", 6},
		{"1:5-0", 2},
		{":0-5", 0},
		{"2:0-1;1:0-1", 6},
		{"1:0-1;1:3-4", 6},
		{"1:0-5 ", 5},
		{"01:0-1", 0},
		{"1:0-1;2:0-1_1-2", 12},
	};
	BfArena *a = test_arena();
	BfCoverage c;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
	{
		REQUIRE_OK(bf_coverage_parse(a, good[i], strlen(good[i]), &c, &test_err));
		EXPECT_STR(format_coverage(a, &c), good[i]);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		EXPECT_FAIL(bf_coverage_parse(a, bad[i].text, strlen(bad[i].text), &c, &test_err),
					BF_ERR_CORRUPT, bad[i].offset);
}

TEST(coverage_add_matches_one_set_per_ledger)
{
	BfArena *a = test_arena();
	BfRangeSet model[20];
	BfCoverage c = {0, NULL};
	BfCoverage back;
	const char *text;

	memset(model, 0, sizeof model);
	for (int round = 0; round < 300; round++)
	{
		int64_t id = (int64_t) test_random_below(20);
		BfRange r;
		BfRangeSet s;

		r.first = (int64_t) test_random_below(1000);
		r.last = r.first + (int64_t) test_random_below(30);
		REQUIRE_OK(bf_rangeset_make(a, &r, 1, &s, &test_err));
		REQUIRE_OK(bf_rangeset_union(a, &model[id], &s, &model[id], &test_err));
		REQUIRE_OK(bf_coverage_add(a, &c, id, &s, &c, &test_err));
		for (int64_t i = 0; i < 20; i++)
			EXPECT(bf_rangeset_equal(bf_coverage_of(&c, i), &model[i]));
	}
	text = format_coverage(a, &c);
	REQUIRE_OK(bf_coverage_parse(a, text, strlen(text), &back, &test_err));
	EXPECT_EQ(back.n, c.n);
	EXPECT_EQ(bf_coverage_of(&back, 99)->n, 0);
	EXPECT_STR(format_coverage(a, &back), text);
}
