/* What predicates say of one field: ranges, hull, and what is left without facts. */
#include "unit/lib/runner.h"

#include "scan/pred.h"
#include "unit/lib/host_posix.h"
#include "unit/test_scan_model.h"

#define ROUNDS 4000

static uint64_t
random_below(ScanModel *m, uint64_t n)
{
	(void) m;
	return test_random_below(n);
}

/* Field 0 is the one in question, field 1 is known to be 3 in all rows, of field 2 nothing is. */
typedef struct Row
{
	int64_t number;
} Row;

static bool
row_field(const void *row, int32_t field, BfValue *out)
{
	out->v.i64 = field == 0 ? ((const Row *) row)->number : 3;
	return field < 2;
}

static bool
stats_of(void *arg, int32_t field, BfColumnStats *stats)
{
	(void) arg;
	if (field != 1)
		return false;
	stats->known = stats->has_min = stats->has_max = true;
	stats->min = stats->max = (BfValue){.type = BF_TYPE(INT64), .v.i64 = 3};
	stats->null_count = 0;
	stats->row_count = 1;
	return true;
}

static bool
only_of_field(const BfPred *p, int32_t field)
{
	bool only = p->n_children > 0 || p->field == field || p->kind <= BF_PRED_TRUE;

	for (int32_t i = 0; i < p->n_children; i++)
		only = only && only_of_field(p->children[i], field);
	return only;
}

TEST(scan_pred_ranges_and_hull_have_what_can_match)
{
	static const int32_t fields[] = {0, 0, 1, 2};
	static const int64_t far[] = {0, 1, BF_ENTRY_MAX - 1, BF_ENTRY_MAX};
	ScanModel m = {.below = random_below, .a = test_arena()};
	int exact = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		int32_t n_fields = test_random_below(3) == 0 ? 2 : 4;
		const BfPred *p = model_pred(&m, fields, n_fields, 3);
		bool only = only_of_field(p, 0);
		BfRangeSet s;
		int64_t low, high;
		bool some = bf_scan_pred_hull(p, 0, stats_of, NULL, &low, &high);

		REQUIRE_OK(bf_scan_pred_ranges(m.a, p, 0, stats_of, NULL, &s, &test_err));
		for (int32_t i = 0; i < s.n; i++)
			REQUIRE(s.ranges[i].first >= 0 && s.ranges[i].last <= BF_ENTRY_MAX &&
					s.ranges[i].first <= s.ranges[i].last &&
					(i == 0 || s.ranges[i].first > s.ranges[i - 1].last + 1));
		for (int64_t n = 0; n < 64; n++)
		{
			Row row = {n < 60 ? n : far[n - 60]};
			bool possible = model_possible(p, row_field, &row);

			REQUIRE(!possible || bf_rangeset_contains(&s, row.number));
			REQUIRE(!possible || (some && low <= row.number && row.number <= high));
			if (only)
				REQUIRE(possible == bf_rangeset_contains(&s, row.number));
		}
		exact += only;
		bf_arena_reset(m.a);
	}
	EXPECT(exact > ROUNDS / 20);
}

static BfPred
leaf(BfPredKind kind, BfValue *value)
{
	return (BfPred){.kind = kind, .field = 0, .n_values = 1, .values = value};
}

TEST(scan_pred_limits_of_numbers)
{
	static const int64_t limits[] = {INT64_MIN, -1, 0, BF_ENTRY_MAX, INT64_MAX};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		for (BfPredKind kind = BF_PRED_EQ; kind <= BF_PRED_GE; kind++)
		{
			BfValue v = {.type = BF_TYPE(INT64), .v.i64 = limits[i]};
			BfPred p = leaf(kind, &v);
			BfRangeSet s;

			REQUIRE_OK(bf_scan_pred_ranges(a, &p, 0, NULL, NULL, &s, &test_err));
			for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
			{
				BfValue other = {.type = BF_TYPE(INT64), .v.i64 = limits[k]};

				if (limits[k] >= 0 && limits[k] <= BF_ENTRY_MAX)
					EXPECT_EQ(bf_rangeset_contains(&s, limits[k]), model_leaf(&p, &other));
			}
		}
}

TEST(scan_pred_hull_of_alternatives)
{
	BfValue three = {.type = BF_TYPE(INT64), .v.i64 = 3};
	BfValue nine = {.type = BF_TYPE(INT64), .v.i64 = 9};
	BfPred ge = leaf(BF_PRED_GE, &three), le = leaf(BF_PRED_LE, &nine);
	BfPred lt = leaf(BF_PRED_LE, &three), gt = leaf(BF_PRED_GE, &nine);
	BfPred *inside[] = {&ge, &le}, *outside[] = {&lt, &gt};
	BfPred both = {.kind = BF_PRED_AND, .field = -1, .n_children = 2, .children = inside};
	BfPred none = {.kind = BF_PRED_AND, .field = -1, .n_children = 2, .children = outside};
	BfPred *two[] = {&both, &none};
	BfPred either = {.kind = BF_PRED_OR, .field = -1, .n_children = 2, .children = two};
	int64_t low, high;

	EXPECT(bf_scan_pred_hull(&either, 0, NULL, NULL, &low, &high));
	EXPECT_EQ(low, 3);
	EXPECT_EQ(high, 9);
	EXPECT(!bf_scan_pred_hull(&none, 0, NULL, NULL, &low, &high));
	either.n_children = 0;
	EXPECT(!bf_scan_pred_hull(&either, 0, NULL, NULL, &low, &high));
}

TEST(scan_pred_too_deep_is_unknown)
{
	BfArena *a = test_arena();
	BfValue v = {.type = BF_TYPE(INT64), .v.i64 = 3};
	BfPred inner = leaf(BF_PRED_EQ, &v);
	BfPred levels[500];
	BfPred *children[500];
	const BfPred *below;
	BfRangeSet s;
	int64_t low, high;

	for (int i = 0; i < 500; i++)
	{
		children[i] = i == 0 ? &inner : &levels[i - 1];
		levels[i] =
			(BfPred){.kind = BF_PRED_AND, .field = -1, .n_children = 1, .children = &children[i]};
	}
	REQUIRE_OK(bf_scan_pred_ranges(a, &levels[499], 0, NULL, NULL, &s, &test_err));
	EXPECT(bf_rangeset_contains(&s, 7));
	EXPECT(bf_scan_pred_hull(&levels[499], 0, NULL, NULL, &low, &high));
	EXPECT(low < 0 && high > 7);
	REQUIRE_OK(bf_scan_pred_below(a, &levels[499], 1, &below, &test_err));
	EXPECT(bf_pred_may_match(below, NULL, NULL));
	REQUIRE_OK(bf_scan_pred_ranges(a, &levels[10], 0, NULL, NULL, &s, &test_err));
	EXPECT_EQ(bf_rangeset_count(&s), 1);
}

/* More ranges than a set may have become one: a LIMIT error would forbid the query. */
TEST(scan_pred_very_many_ranges)
{
	BfArena *a = test_arena();
	int32_t n = BF_RANGESET_RANGES_MAX + 2;
	BfPred p = {.kind = BF_PRED_IN, .field = 0, .n_values = n};
	BfRangeSet s;

	p.values = bf_arena_alloc_array(a, (size_t) n, sizeof *p.values);
	REQUIRE(p.values != NULL);
	for (int32_t i = 0; i < n; i++)
		p.values[i] = (BfValue){.type = BF_TYPE(INT64), .v.i64 = 5 + 2 * (int64_t) i};
	REQUIRE_OK(bf_scan_pred_ranges(a, &p, 0, NULL, NULL, &s, &test_err));
	EXPECT_EQ(s.n, 1);
	EXPECT_EQ(s.ranges[0].first, 5);
	EXPECT_EQ(s.ranges[0].last, 5 + 2 * ((int64_t) n - 1));
}

static bool
mentions(const BfPred *p, int32_t n_fields)
{
	bool found = p->field >= n_fields;

	for (int32_t i = 0; i < p->n_children; i++)
		found = found || mentions(p->children[i], n_fields);
	return found;
}

TEST(scan_pred_below_asks_less)
{
	static const int32_t fields[] = {0, 1, 2, 3};
	ScanModel m = {.below = random_below, .a = test_arena()};

	for (int round = 0; round < ROUNDS; round++)
	{
		const BfPred *p = model_pred(&m, fields, 4, 4);
		const BfPred *below;
		Row row = {(int64_t) test_random_below(8)};

		REQUIRE_OK(bf_scan_pred_below(m.a, p, 2, &below, &test_err));
		REQUIRE(!mentions(below, 2));
		REQUIRE(mentions(p, 2) || below == p);
		REQUIRE(!model_possible(p, row_field, &row) || model_possible(below, row_field, &row));
		/* Fields 0 and 1 are known, so both say the same of them. */
		REQUIRE(model_possible(p, row_field, &row) == model_possible(below, row_field, &row));
		bf_arena_reset(m.a);
	}
}

TEST(scan_pred_faults)
{
	static const int32_t fields[] = {0, 1, 2};
	ScanModel m = {.below = random_below, .a = test_arena()};
	BfPred *children[] = {model_pred(&m, fields, 3, 3), model_pred(&m, fields, 3, 3)};
	BfPred p = {.kind = BF_PRED_OR, .field = -1, .n_children = 2, .children = children};
	TestHost h;

	for (TestFault fault = TEST_FAULT_ALLOC; fault < TEST_FAULT_COUNT; fault++)
		for (int64_t n = 1;; n++)
		{
			const BfPred *below;
			BfRangeSet s;
			BfStatus status = BF_ERR_NOMEM;
			BfArena *a;

			test_host_init(&h);
			test_fault_arm(&h, fault, n, false);
			a = bf_arena_new(&h.host, "fault", (size_t) 1 << 30);
			if (a != NULL)
				status = bf_scan_pred_ranges(a, &p, 0, stats_of, NULL, &s, &test_err);
			if (status == BF_OK)
				status = bf_scan_pred_below(a, &p, 1, &below, &test_err);
			bf_arena_free(a);
			EXPECT_EQ(h.live_allocs, 0);
			if (!test_fault_fired(&h))
			{
				EXPECT_EQ(status, BF_OK);
				break;
			}
			EXPECT_EQ(status, fault == TEST_FAULT_CANCEL ? BF_ERR_CANCEL : BF_ERR_NOMEM);
		}
}
