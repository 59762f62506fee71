/*
 * Predicates: random trees over random columns against what each row says on its own
 * (test_vec_pred_model.h), with and without statistics; rules that chance seldom meets;
 * dictionaries that change; faults.
 */
#include "unit/lib/runner.h"
#include "unit/lib/host_posix.h"
#include "unit/test_vec_pred_model.h"

static uint64_t
random_below(PredModel *m, uint64_t n)
{
	(void) m;
	return test_random_below(n);
}

static int32_t
random_rows(void)
{
	static const int32_t sizes[] = {0, 1, 63, 64, 65, 127, 200, BF_BATCH_ROWS - 1, BF_BATCH_ROWS};
	uint64_t k = test_random_below(40);

	return k < sizeof sizes / sizeof *sizes ? sizes[k] : (int32_t) test_random_below(150);
}

static void
random_candidates(uint64_t *rows)
{
	uint64_t density = test_random_below(4);

	for (int i = 0; i < BF_VALIDITY_WORDS; i++)
		rows[i] = density == 0	 ? UINT64_MAX
				  : density == 1 ? test_random()
				  : density == 2 ? test_random() & test_random() & test_random()
								 : 0;
}

/* What filter leaves must be what the model says of every row. */
static void
check_filter(PredModel *m, const BfPred *p, const uint64_t *candidates, const uint64_t *got)
{
	for (int32_t i = 0; i < BF_BATCH_ROWS; i++)
	{
		bool want = i < m->n_rows && bf_valid(candidates, i) && pred_matches(m, p, i, true);

		if (bf_valid(got, i) != want)
		{
			test_fail(__FILE__, __LINE__, "row %d of %d: got %d", i, m->n_rows, !want);
			return;
		}
	}
}

TEST(pred_filter_random)
{
	for (int round = 0; round < 3000 && !test_failed(); round++)
	{
		PredModel m = {.below = random_below};
		uint64_t candidates[BF_VALIDITY_WORDS];
		uint64_t rows[BF_VALIDITY_WORDS];
		BfArena *scratch = bf_arena_new(test_host(), "scratch", 1 << 26);
		BfPredState *state;
		BfPred *p;

		m.a = bf_arena_new(test_host(), "model", 1 << 26);
		pred_batch(&m, random_rows());
		p = pred_tree(&m, 3);
		random_candidates(candidates);
		memcpy(rows, candidates, sizeof rows);
		REQUIRE_OK(bf_pred_filter(p, m.n_rows, pred_column_of, &m, scratch, rows, &test_err));
		check_filter(&m, p, candidates, rows);
		EXPECT_EQ(bf_arena_bytes(scratch), 0);

		/* The same with memory of earlier batches. */
		REQUIRE_OK(bf_pred_state_new(scratch, p, &state, &test_err));
		for (int again = 0; again < 3; again++)
		{
			random_candidates(candidates);
			memcpy(rows, candidates, sizeof rows);
			REQUIRE_OK(bf_pred_state_filter(state, m.n_rows, pred_column_of, &m, rows, &test_err));
			check_filter(&m, p, candidates, rows);
			if (again == 1)
				bf_pred_state_reset(state);
		}
		bf_arena_free(scratch);
		bf_arena_free(m.a);
	}
}

typedef struct StatsAndValues
{
	PredStats *stats;
	PredModel *values;
} StatsAndValues;

static bool
model_stats_of(void *arg, int32_t field, BfColumnStats *s)
{
	return pred_stats_of(((StatsAndValues *) arg)->stats, field, s);
}

static bool
model_has(void *arg, int32_t field, const BfValue *value)
{
	return pred_has(((StatsAndValues *) arg)->values, field, value);
}

TEST(pred_may_match_random)
{
	int64_t pruned = 0;
	int64_t absent = 0;
	int64_t both = 0;
	int64_t none = 0;

	for (int round = 0; round < 20000 && !test_failed(); round++)
	{
		PredModel m = {.below = random_below};
		bool any = false;
		bool out = false;
		PredStats stats;
		StatsAndValues asked = {&stats, &m};
		BfPred *p;

		m.a = bf_arena_new(test_host(), "model", 1 << 26);
		pred_batch(&m, (int32_t) test_random_below(8));
		p = pred_tree(&m, (int) test_random_below(3));
		pred_stats(&m, &stats);
		for (int32_t i = 0; i < m.n_rows; i++)
			any = any || pred_matches(&m, p, i, false);
		if (!bf_pred_may_match(p, pred_stats_of, &stats))
		{
			pruned++;
			EXPECT(!any);
			out = true;
		}
		if (!bf_pred_may_contain(p, pred_has, &m))
		{
			absent++;
			EXPECT(!any);
			out = true;
		}
		if (!bf_pred_may_match_and_contain(p, model_stats_of, model_has, &asked))
		{
			both++;
			EXPECT(!any);
		}
		else
			EXPECT(!out);
		none += !any;
		bf_arena_free(m.a);
	}
	/* The answers must also be good for something. */
	EXPECT(pruned > none / 2);
	EXPECT(absent > none / 8);
	EXPECT(both > pruned && both > absent);
}

/* --- The rules, one by one ----------------------------------------------------------------------
 */

static BfValue
f64(double x)
{
	return (BfValue){.type = BF_TYPE(FLOAT64), .v.f64 = x};
}

static BfValue
i32(int32_t x)
{
	return (BfValue){.type = BF_TYPE(INT32), .v.i32 = x};
}

static BfValue
text(const char *s)
{
	return (BfValue){.type = BF_TYPE(STRING),
					 .v.view = {(const uint8_t *) s, (uint32_t) strlen(s)}};
}

static bool
one_stats(void *arg, int32_t field, BfColumnStats *stats)
{
	EXPECT_EQ(field, 0);
	EXPECT_EQ(stats->null_count, -1);
	EXPECT_EQ(stats->row_count, -1);
	EXPECT(stats->may_have_nan);
	*stats = *(BfColumnStats *) arg;
	return true;
}

static bool
may(BfPredKind kind, BfValue value, BfColumnStats stats)
{
	BfPred p = {.kind = kind, .n_values = 1, .values = &value};

	return bf_pred_may_match(&p, one_stats, &stats);
}

TEST(pred_stats_rules)
{
	BfColumnStats s = {.known = true,
					   .has_min = true,
					   .has_max = true,
					   .min = i32(10),
					   .max = i32(20),
					   .null_count = 1,
					   .row_count = 5};
	BfColumnStats same = s;
	BfColumnStats inverted = s;
	BfColumnStats broken = s;
	BfColumnStats nulls = {.known = true, .null_count = 5, .row_count = 5};

	EXPECT(!may(BF_PRED_EQ, i32(9), s) && may(BF_PRED_EQ, i32(10), s));
	EXPECT(!may(BF_PRED_EQ, i32(21), s) && may(BF_PRED_EQ, i32(20), s));
	EXPECT(!may(BF_PRED_LT, i32(10), s) && may(BF_PRED_LT, i32(11), s));
	EXPECT(!may(BF_PRED_LE, i32(9), s) && may(BF_PRED_LE, i32(10), s));
	EXPECT(!may(BF_PRED_GT, i32(20), s) && may(BF_PRED_GT, i32(19), s));
	EXPECT(!may(BF_PRED_GE, i32(21), s) && may(BF_PRED_GE, i32(20), s));
	EXPECT(may(BF_PRED_NE, i32(10), s));
	same.max = i32(10);
	EXPECT(!may(BF_PRED_NE, i32(10), same) && may(BF_PRED_NE, i32(11), same));
	EXPECT(!may(BF_PRED_NOT_IN, i32(10), same) && may(BF_PRED_NOT_IN, i32(11), same));
	/* Bounds of writers that compared in another order. */
	inverted.min = i32(30);
	EXPECT(may(BF_PRED_EQ, i32(9), inverted) && may(BF_PRED_EQ, i32(25), inverted));
	/* More NULLs than rows. */
	broken.null_count = 7;
	EXPECT(may(BF_PRED_IS_NULL, i32(0), broken) && may(BF_PRED_NOT_NULL, i32(0), broken));
	/* NULLs alone, and bounds. */
	broken.null_count = 5;
	EXPECT(may(BF_PRED_NOT_NULL, i32(0), broken) && may(BF_PRED_EQ, i32(15), broken));
	EXPECT(may(BF_PRED_EQ, i32(9), broken) && may(BF_PRED_IS_NULL, i32(0), broken));
	broken.has_max = false;
	EXPECT(may(BF_PRED_EQ, i32(9), broken));
	EXPECT(may(BF_PRED_IS_NULL, i32(0), s));
	s.null_count = 0;
	EXPECT(!may(BF_PRED_IS_NULL, i32(0), s));
	EXPECT(!may(BF_PRED_NOT_NULL, i32(0), nulls) && !may(BF_PRED_EQ, i32(1), nulls));
	EXPECT(may(BF_PRED_IS_NULL, i32(0), nulls));
	/* Values of another type say nothing. */
	EXPECT(may(BF_PRED_EQ, text("x"), s) && may(BF_PRED_GT, f64(1e9), s));
	/* A comparison with NULL is never true. */
	EXPECT(!may(BF_PRED_EQ, (BfValue){.is_null = true, .type = BF_TYPE(INT32)}, s));
	s.row_count = s.null_count = 0;
	EXPECT(!may(BF_PRED_NOT_NULL, i32(0), s));
}

TEST(pred_stats_nan)
{
	BfColumnStats s = {.known = true,
					   .has_min = true,
					   .has_max = true,
					   .min = f64(-0.0),
					   .max = f64(2),
					   .null_count = 0,
					   .row_count = 5,
					   .may_have_nan = true};
	BfColumnStats sure = s;
	BfColumnStats bad = s;

	sure.may_have_nan = false;
	/* NaN is above all: only what is greater can be it. */
	EXPECT(may(BF_PRED_GT, f64(5), s) && !may(BF_PRED_GT, f64(5), sure));
	EXPECT(may(BF_PRED_GE, f64(5), s) && !may(BF_PRED_GE, f64(5), sure));
	EXPECT(!may(BF_PRED_LT, f64(-1), s) && !may(BF_PRED_EQ, f64(5), s));
	EXPECT(may(BF_PRED_EQ, f64(NAN), s) && !may(BF_PRED_EQ, f64(NAN), sure));
	EXPECT(may(BF_PRED_GE, f64(NAN), s) && !may(BF_PRED_GE, f64(NAN), sure));
	EXPECT(!may(BF_PRED_GT, f64(NAN), s));
	EXPECT(may(BF_PRED_LT, f64(NAN), s) && may(BF_PRED_NE, f64(NAN), s));
	/* -0 = 0. */
	EXPECT(may(BF_PRED_EQ, f64(0.0), s) && !may(BF_PRED_LT, f64(0.0), sure));
	EXPECT(may(BF_PRED_LE, f64(0.0), s));
	/* A NaN as a bound is none. */
	bad.min = f64(NAN);
	bad.max = f64(NAN);
	bad.may_have_nan = false;
	EXPECT(may(BF_PRED_EQ, f64(7), bad) && may(BF_PRED_LT, f64(-7), bad));
	s.max = f64(-0.0);
	s.min = f64(0.0);
	s.may_have_nan = false;
	EXPECT(!may(BF_PRED_NE, f64(0.0), s));
	s.may_have_nan = true;
	EXPECT(may(BF_PRED_NE, f64(0.0), s));
}

TEST(pred_stats_prefix)
{
	static const struct
	{
		const char *min, *max, *prefix;
		bool may;
	} cases[] = {
		{"abc", "abf", "ab", true},
		{"abc", "abf", "abe", true},
		{"abc", "abf", "abg", false},
		{"abc", "abf", "abb", false},
		{"abc", "abf", "abcd", true},
		{"abc", "abf", "abff", false},
		{"abc", "abf", "", true},
		{"a", "b", "abc", true},
		{"", "", "a", false},
		{"", "", "", true},
		{"b", "b\xff", "b\xff\xff", false},
		{"b", "c", "b\xff\xff", true},
		{"abd", "abd", "abc", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfColumnStats s = {.known = true,
						   .has_min = true,
						   .has_max = true,
						   .min = text(cases[i].min),
						   .max = text(cases[i].max),
						   .null_count = -1,
						   .row_count = -1};

		if (may(BF_PRED_PREFIX, text(cases[i].prefix), s) != cases[i].may)
			test_fail(__FILE__, __LINE__, "case %zu", i);
	}
}

static bool
never_has(void *arg, int32_t field, const BfValue *value)
{
	(void) field;
	(void) value;
	++*(int *) arg;
	return false;
}

TEST(pred_contain_rules)
{
	BfValue values[] = {f64(-0.0), f64(3), f64(NAN)};
	BfValue interval = {.type = BF_TYPE(INTERVAL),
						.v.view = {(const uint8_t *) "\1\0\0\0\0\0\0\0\0\0\0", 12}};
	BfPred p = {.kind = BF_PRED_EQ, .n_values = 1, .values = values};
	int asked = 0;

	EXPECT(!bf_pred_may_contain(&p, never_has, &asked));
	EXPECT_EQ(asked, 2); /* both zeros */
	p.kind = BF_PRED_IN;
	p.n_values = 2;
	EXPECT(!bf_pred_may_contain(&p, never_has, &asked));
	p.n_values = 3;
	EXPECT(bf_pred_may_contain(&p, never_has, &asked));
	p.kind = BF_PRED_LT;
	EXPECT(bf_pred_may_contain(&p, never_has, &asked));
	/* A month equals 30 days. */
	p = (BfPred){.kind = BF_PRED_EQ, .n_values = 1, .values = &interval};
	EXPECT(bf_pred_may_contain(&p, never_has, &asked));
}

TEST(pred_depth)
{
	BfArena *a = test_arena();
	BfPred leaf = {.kind = BF_PRED_FALSE};
	BfPred *p = &leaf;
	uint64_t rows[BF_VALIDITY_WORDS];
	BfPredState *state;
	int32_t *fields;
	int32_t n;

	/* Deeper than the bound a tree is not looked at. */
	for (int depth = 1; depth <= 1000; depth++)
	{
		BfPred *up = bf_arena_alloc(a, sizeof *up);
		BfPred **children = bf_arena_alloc(a, sizeof *children);

		REQUIRE(up != NULL && children != NULL);
		*children = p;
		*up = (BfPred){.kind = depth % 2 == 0 ? BF_PRED_AND : BF_PRED_OR,
					   .n_children = 1,
					   .children = children};
		p = up;
		if (depth != BF_PRED_DEPTH_MAX && depth != BF_PRED_DEPTH_MAX + 1 && depth != 1000)
			continue;
		memset(rows, 0xff, sizeof rows);
		REQUIRE_OK(bf_pred_filter(p, 1, NULL, NULL, a, rows, &test_err));
		EXPECT_EQ(rows[0], depth > BF_PRED_DEPTH_MAX);
		memset(rows, 0xff, sizeof rows);
		REQUIRE_OK(bf_pred_state_new(a, p, &state, &test_err));
		REQUIRE_OK(bf_pred_state_filter(state, 1, NULL, NULL, rows, &test_err));
		EXPECT_EQ(rows[0], depth > BF_PRED_DEPTH_MAX);
		EXPECT_EQ(bf_pred_may_match(p, NULL, NULL), depth > BF_PRED_DEPTH_MAX);
		EXPECT_EQ(bf_pred_may_contain(p, NULL, NULL), depth > BF_PRED_DEPTH_MAX);
		REQUIRE_OK(bf_pred_fields(p, a, &fields, &n, &test_err));
		EXPECT_EQ(n, 0);
	}
}

TEST(pred_fields)
{
	BfArena *a = test_arena();
	BfPred leaves[] = {{.kind = BF_PRED_EQ, .field = 7}, {.kind = BF_PRED_IS_NULL, .field = 2},
					   {.kind = BF_PRED_IN, .field = 7}, {.kind = BF_PRED_TRUE, .field = -1},
					   {.kind = BF_PRED_LT, .field = 0}, {.kind = BF_PRED_UNKNOWN, .field = 5}};
	BfPred *children[] = {&leaves[0], &leaves[1], &leaves[2], &leaves[3], &leaves[4], &leaves[5]};
	BfPred p = {.kind = BF_PRED_OR, .field = -1, .n_children = 6, .children = children};
	int32_t *fields;
	int32_t n;

	REQUIRE_OK(bf_pred_fields(&p, a, &fields, &n, &test_err));
	REQUIRE(n == 3);
	EXPECT_EQ(fields[0], 0);
	EXPECT_EQ(fields[1], 2);
	EXPECT_EQ(fields[2], 7);
	REQUIRE_OK(bf_pred_fields(&leaves[3], a, &fields, &n, &test_err));
	EXPECT_EQ(n, 0);
}

/* An entry of a dictionary is looked at once while the dictionary is the same. */
TEST(pred_dictionary_epoch)
{
	BfArena *a = test_arena();
	BfView entries[2] = {{(const uint8_t *) "a", 1}, {(const uint8_t *) "b", 1}};
	uint32_t codes[4] = {0, 1, 1, 0};
	BfVector dict = {.type = BF_TYPE(STRING), .storage = BF_STORE_VIEW, .n = 2};
	PredModel m = {.n_rows = 4};
	BfValue b = text("b");
	BfPred p = {.kind = BF_PRED_EQ, .n_values = 1, .values = &b};
	uint64_t rows[BF_VALIDITY_WORDS] = {0xf};
	BfPredState *state;

	dict.data.view = entries;
	m.columns[0] = (BfVector){.type = BF_TYPE(STRING),
							  .storage = BF_STORE_VIEW,
							  .form = BF_VEC_DICT,
							  .n = 4,
							  .codes = codes,
							  .dict = &dict,
							  .dict_epoch = 1};
	REQUIRE_OK(bf_pred_state_new(a, &p, &state, &test_err));
	REQUIRE_OK(bf_pred_state_filter(state, 4, pred_column_of, &m, rows, &test_err));
	EXPECT_EQ(rows[0], 6);
	/* The content changes without a word: nobody looks again. */
	entries[0] = (BfView){(const uint8_t *) "b", 1};
	rows[0] = 0xf;
	REQUIRE_OK(bf_pred_state_filter(state, 4, pred_column_of, &m, rows, &test_err));
	EXPECT_EQ(rows[0], 6);
	m.columns[0].dict_epoch = 2;
	rows[0] = 0xf;
	REQUIRE_OK(bf_pred_state_filter(state, 4, pred_column_of, &m, rows, &test_err));
	EXPECT_EQ(rows[0], 0xf);
}

TEST(pred_faults)
{
	PredModel m = {.below = random_below, .a = test_arena()};
	TestHost h;
	BfPred *p;

	test_host_init(&h);
	do
	{
		pred_batch(&m, 200);
		memset(m.absent, 0, sizeof m.absent);
		for (int i = 0; i < PRED_COLUMNS; i++)
			while (m.columns[i].form != BF_VEC_DICT)
				pred_column(&m, &m.columns[i]);
		p = pred_tree(&m, 3);
	} while (p->n_children < 3);
	for (int state = 0; state < 2; state++)
		for (int64_t n = 1;; n++)
		{
			BfArena *a = bf_arena_new(&h.host, "scratch", 1 << 26);
			uint64_t rows[BF_VALIDITY_WORDS];
			BfPredState *s = NULL;
			BfStatus status = BF_OK;

			REQUIRE(a != NULL);
			memset(rows, 0xff, sizeof rows);
			test_fault_arm(&h, TEST_FAULT_ALLOC, n, false);
			if (state == 1)
				status = bf_pred_state_new(a, p, &s, &test_err);
			if (status == BF_OK && state == 1)
				status = bf_pred_state_filter(s, m.n_rows, pred_column_of, &m, rows, &test_err);
			else if (status == BF_OK)
				status = bf_pred_filter(p, m.n_rows, pred_column_of, &m, a, rows, &test_err);
			bf_arena_free(a);
			if (!test_fault_fired(&h))
			{
				EXPECT_EQ(status, BF_OK);
				break;
			}
			EXPECT_EQ(status, BF_ERR_NOMEM);
			EXPECT_EQ(h.live_allocs, 0);
		}
}
