/* Packed metrics, and bounds of the types that columns had before. */
#include "iceberg/metrics.h"

#include "unit/lib/runner.h"

static BfView
view(const void *p, uint32_t n)
{
	return (BfView){p, n};
}

TEST(iceberg_metrics_pack)
{
	BfArena *a = test_arena();
	uint8_t longest[200];
	BfIceBound lower[] = {
		{1, {(const uint8_t *) "ab", 2}}, {9, {NULL, 0}}, {INT32_MAX, {longest, 200}}};
	BfIceBound upper[] = {{-5, {longest, 1}}, {9, {longest, 64}}, {INT32_MAX, {longest, 65}}};
	BfIceCount values[] = {{1, 5}, {2, 0}, {300, INT64_MAX}};
	BfIceCount nulls[] = {{1, -1}, {2, 3}, {4, 1}, {4, 2}};
	BfIceCount nans[] = {{2, 1}};
	BfIceFile f = {.metrics.n_lower = 3,
				   .metrics.lower = lower,
				   .metrics.n_upper = 3,
				   .metrics.upper = upper,
				   .metrics.n_value_counts = 3,
				   .metrics.value_counts = values,
				   .metrics.n_null_counts = 4,
				   .metrics.null_counts = nulls,
				   .metrics.n_nan_counts = 1,
				   .metrics.nan_counts = nans};
	BfIceMetric m;
	BfView packed;

	memset(longest, 'x', sizeof longest);
	REQUIRE_OK(bf_ice_metrics_pack(a, a, &f, &packed, &test_err));
	REQUIRE(bf_ice_metrics_find(packed, 1, 0, &m));
	EXPECT(m.has_lower && !m.has_upper && m.lower.len == 2 && memcmp(m.lower.ptr, "ab", 2) == 0);
	EXPECT_EQ(m.values, 5);
	EXPECT_EQ(m.nulls, -1); /* a negative count is none */
	EXPECT_EQ(m.nans, -1);
	REQUIRE(bf_ice_metrics_find(packed, 2, 0, &m));
	EXPECT(m.values == 0 && m.nulls == 3 && m.nans == 1 && !m.has_lower);
	REQUIRE(bf_ice_metrics_find(packed, 4, 0, &m));
	EXPECT_EQ(m.nulls, -1); /* told twice */
	REQUIRE(bf_ice_metrics_find(packed, 9, 0, &m));
	EXPECT(m.has_lower && m.lower.len == 0 && m.upper.len == 64 && !m.upper_cut);
	REQUIRE(bf_ice_metrics_find(packed, 300, 0, &m));
	EXPECT_EQ(m.values, INT64_MAX);
	REQUIRE(bf_ice_metrics_find(packed, INT32_MAX, 0, &m));
	EXPECT(m.lower.len == 64 && m.upper.len == 64 && m.upper_cut);
	EXPECT(!bf_ice_metrics_find(packed, 3, 0, &m));
	EXPECT(!bf_ice_metrics_find(packed, 8, 0, &m));
	EXPECT(!bf_ice_metrics_find(packed, -5, 0, &m));
	EXPECT(!bf_ice_metrics_find(view(NULL, 0), 1, 0, &m));
}

/* What is there is found again, whatever is there. */
TEST(iceberg_metrics_random)
{
	BfArena *a = test_arena();

	for (int round = 0; round < 200; round++)
	{
		static const char *const texts[] = {"0123456789", "0123056789", "01", "9", "x1234y6789"};
		BfIceBound lower[20], upper[20];
		BfIceCount nulls[20], values[20];
		BfIceFile f = {.record_count = (int64_t) test_random_below(3),
					   .metrics.lower = lower,
					   .metrics.upper = upper,
					   .metrics.value_counts = values,
					   .metrics.null_counts = nulls};
		int32_t id = 0, n = (int32_t) test_random_below(20);
		BfView packed;
		BfIceMetric m;

		for (int32_t i = 0; i < n; i++)
		{
			id += 1 + (int32_t) test_random_below(1000);
			if (test_random_below(2) == 0)
				lower[f.metrics.n_lower++] =
					(BfIceBound){id, view("0123456789", (uint32_t) test_random_below(10))};
			if (test_random_below(2) == 0)
				nulls[f.metrics.n_null_counts++] =
					(BfIceCount){id, (int64_t) (test_random() >> (1 + test_random_below(63)))};
			if (test_random_below(2) == 0)
				values[f.metrics.n_value_counts++] =
					(BfIceCount){id, (int64_t) test_random_below(3)};
			if (test_random_below(2) == 0)
			{
				const char *text = texts[test_random_below(5)];

				upper[f.metrics.n_upper++] =
					(BfIceBound){id, view(text, (uint32_t) test_random_below(strlen(text) + 1))};
			}
		}
		REQUIRE_OK(bf_ice_metrics_pack(a, a, &f, &packed, &test_err));
		for (int32_t i = 0; i < f.metrics.n_lower; i++)
			EXPECT(bf_ice_metrics_find(packed, lower[i].field_id, f.record_count, &m) &&
				   m.has_lower && m.lower.len == lower[i].bytes.len &&
				   memcmp(m.lower.ptr, lower[i].bytes.ptr, m.lower.len) == 0);
		for (int32_t i = 0; i < f.metrics.n_upper; i++)
			EXPECT(bf_ice_metrics_find(packed, upper[i].field_id, f.record_count, &m) &&
				   m.has_upper && m.upper.len == upper[i].bytes.len &&
				   memcmp(m.upper.ptr, upper[i].bytes.ptr, m.upper.len) == 0);
		for (int32_t i = 0; i < f.metrics.n_null_counts; i++)
			EXPECT(bf_ice_metrics_find(packed, nulls[i].field_id, f.record_count, &m) &&
				   m.nulls == nulls[i].count);
		for (int32_t i = 0; i < f.metrics.n_value_counts; i++)
			EXPECT(bf_ice_metrics_find(packed, values[i].field_id, f.record_count, &m) &&
				   m.values == values[i].count);
	}
}

TEST(iceberg_bound_values)
{
	static const uint8_t minus_two[] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t decimal[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
									  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x80};
	static const struct
	{
		BfKind kind;
		uint32_t n;
		bool ok;
		int64_t expected;
	} cases[] = {
		{BF_KIND_INT32, 4, true, -2},
		{BF_KIND_INT32, 8, false, 0}, /* wider than the column */
		{BF_KIND_INT32, 2, false, 0},
		{BF_KIND_INT32, 0, false, 0},
		{BF_KIND_INT64, 8, true, -2},
		{BF_KIND_INT64, 4, true, -2}, /* an int of before */
		{BF_KIND_INT64, 7, false, 0},
		{BF_KIND_DATE, 4, true, -2},
		{BF_KIND_TIME, 8, true, -2},
		{BF_KIND_TIME, 4, false, 0},
		{BF_KIND_TIMESTAMP, 8, true, -2},
		{BF_KIND_TIMESTAMP, 4, true, -INT64_C(172800000000)}, /* a date of before */
		{BF_KIND_TIMESTAMPTZ, 4, false, 0},					  /* no promotion leads here */
		{BF_KIND_TIMESTAMP_NS, 4, true, -INT64_C(172800000000000)},
		{BF_KIND_TIMESTAMPTZ_NS, 8, true, -2},
		{BF_KIND_BOOL, 1, true, 1},
		{BF_KIND_BOOL, 2, false, 0},
		{BF_KIND_UUID, 8, false, 0},
		{BF_KIND_NULL, 4, false, 0},
		{BF_KIND_STRUCT, 4, false, 0},
	};
	BfValue v;
	float f = 1.5F;
	double d = -1.5;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfType type = {.kind = cases[i].kind};
		int64_t got = 0;

		if (bf_ice_bound_value(view(minus_two, cases[i].n), type, &v) != cases[i].ok)
			test_fail(__FILE__, __LINE__, "case %zu", i);
		else if (cases[i].ok)
		{
			got = bf_type_storage(type) == BF_STORE_U8	  ? v.v.u8
				  : bf_type_storage(type) == BF_STORE_I32 ? v.v.i32
														  : v.v.i64;
			EXPECT_EQ(got, cases[i].expected);
		}
	}
	EXPECT(bf_ice_bound_value(view(&f, 4), BF_TYPE(FLOAT64), &v) && v.v.f64 == 1.5);
	EXPECT(bf_ice_bound_value(view(&d, 8), BF_TYPE(FLOAT64), &v) && v.v.f64 == -1.5);
	EXPECT(!bf_ice_bound_value(view(&d, 8), BF_TYPE(FLOAT32), &v));
	EXPECT(bf_ice_bound_value(view("", 0), BF_TYPE(STRING), &v) && v.v.view.len == 0);
	/* Decimals of any width, as long as the number fits. */
	for (uint32_t n = 1; n <= sizeof decimal; n++)
	{
		BfType narrow = {.kind = BF_KIND_DECIMAL, .precision = 9, .scale = 2};
		BfType wide = {.kind = BF_KIND_DECIMAL, .precision = 38, .scale = 2};
		const uint8_t *p = decimal + sizeof decimal - n;

		EXPECT(bf_ice_bound_value(view(p, n), narrow, &v) && v.v.i64 == -128);
		EXPECT(bf_ice_bound_value(view(p, n), wide, &v) && v.v.i128 == -128);
	}
	EXPECT(!bf_ice_bound_value(view("\x00\x80\x00\x00\x00\x00\x00\x00\x00", 9),
							   (BfType){.kind = BF_KIND_DECIMAL, .precision = 9}, &v));
	EXPECT(!bf_ice_bound_value(view("\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
									"\xff\xff",
									17),
							   (BfType){.kind = BF_KIND_DECIMAL, .precision = 38}, &v));
}
