/* Single values from one type to another and back. */
#include "unit/lib/runner.h"
#include "vec/batch.h"

#define DECIMAL(p, s) ((BfType){.kind = BF_KIND_DECIMAL, .precision = (p), .scale = (s)})

static const BfType types[] = {
	{.kind = BF_KIND_BOOL},
	{.kind = BF_KIND_INT8},
	{.kind = BF_KIND_INT16},
	{.kind = BF_KIND_INT32},
	{.kind = BF_KIND_INT64},
	{.kind = BF_KIND_UINT8},
	{.kind = BF_KIND_UINT32},
	{.kind = BF_KIND_UINT64},
	{.kind = BF_KIND_FLOAT32},
	{.kind = BF_KIND_FLOAT64},
	{.kind = BF_KIND_DECIMAL, .precision = 9, .scale = 2},
	{.kind = BF_KIND_DECIMAL, .precision = 25, .scale = 2},
	{.kind = BF_KIND_DECIMAL, .precision = 30, .scale = 5},
	{.kind = BF_KIND_DATE},
	{.kind = BF_KIND_TIMESTAMP},
	{.kind = BF_KIND_TIMESTAMP_NS},
	{.kind = BF_KIND_STRING},
	{.kind = BF_KIND_BINARY},
};
#define N_TYPES (sizeof types / sizeof types[0])

static BfValue
number_of(BfType type, int64_t x)
{
	BfValue v = {.type = type};

	switch (bf_type_storage(type))
	{
		case BF_STORE_U8: v.v.u8 = x & 1; break;
		case BF_STORE_I32: v.v.i32 = (int32_t) x; break;
		case BF_STORE_I64: v.v.i64 = x; break;
		case BF_STORE_F32: v.v.f32 = (float) x; break;
		case BF_STORE_F64: v.v.f64 = (double) x; break;
		case BF_STORE_I128: v.v.i128 = x; break;
		default: v.v.view = (BfView){(const uint8_t *) "text", (uint32_t) (x & 3)}; break;
	}
	return v;
}

/* What has been promoted comes back, for every pair of types. */
TEST(vec_value_promote_and_back)
{
	static const int64_t numbers[] = {0, 1, -1, 5, 100, 127, -128, 18000};

	for (size_t i = 0; i < N_TYPES; i++)
		for (size_t k = 0; k < N_TYPES; k++)
			for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
			{
				BfType from = types[i];
				BfType to = types[k];
				BfValue x, y, back;

				if (!bf_type_promotable(from, to) ||
					(numbers[n] < 0 && (from.kind >= BF_KIND_UINT8 && from.kind <= BF_KIND_UINT64)))
					continue;
				x = number_of(from, from.kind == BF_KIND_INT8 || from.kind == BF_KIND_UINT8
										? (int8_t) numbers[n] & 0x7f
										: numbers[n]);
				REQUIRE_OK(bf_value_promote(&x, to, &y, &test_err));
				EXPECT(bf_type_equal(y.type, to));
				EXPECT_EQ(bf_value_demote(&y, from, &back), BF_DEMOTED_ONE);
				EXPECT(bf_type_equal(back.type, from));
				EXPECT_EQ(bf_value_compare(&x, &back), 0);
			}
}

TEST(vec_value_demote_none)
{
	const struct
	{
		BfValue value;
		BfType to;
		BfDemoted want;
	} table[] = {
		{{.type = BF_TYPE(INT64), .v.i64 = INT64_C(1) << 40}, BF_TYPE(INT32), BF_DEMOTED_NONE},
		{{.type = BF_TYPE(INT64), .v.i64 = -5}, BF_TYPE(INT32), BF_DEMOTED_ONE},
		{{.type = BF_TYPE(FLOAT64), .v.f64 = 0.1}, BF_TYPE(FLOAT32), BF_DEMOTED_NONE},
		{{.type = BF_TYPE(FLOAT64), .v.f64 = 0.5}, BF_TYPE(FLOAT32), BF_DEMOTED_ONE},
		{{.type = BF_TYPE(FLOAT64), .v.f64 = 0.5}, BF_TYPE(INT32), BF_DEMOTED_NONE},
		{{.type = BF_TYPE(FLOAT64), .v.f64 = 1e300}, BF_TYPE(INT32), BF_DEMOTED_NONE},
		{{.type = BF_TYPE(FLOAT64), .v.f64 = 0x1p31}, BF_TYPE(INT32), BF_DEMOTED_NONE},
		{{.type = BF_TYPE(FLOAT64), .v.f64 = -0x1p31}, BF_TYPE(INT32), BF_DEMOTED_ONE},
		{{.type = BF_TYPE(FLOAT64), .v.f64 = 0x1p32 - 1}, BF_TYPE(UINT32), BF_DEMOTED_ONE},
		{{.type = BF_TYPE(FLOAT64), .v.f64 = (double) __builtin_nanf("")},
		 BF_TYPE(FLOAT32),
		 BF_DEMOTED_ONE},
		{{.type = DECIMAL(20, 0), .v.i128 = (bf_i128) UINT64_MAX}, BF_TYPE(UINT64), BF_DEMOTED_ONE},
		{{.type = DECIMAL(20, 0), .v.i128 = -1}, BF_TYPE(UINT64), BF_DEMOTED_NONE},
		{{.type = DECIMAL(20, 0), .v.i128 = (bf_i128) INT64_MAX + 1},
		 BF_TYPE(INT64),
		 BF_DEMOTED_NONE},
		{{.type = DECIMAL(20, 0), .v.i128 = INT64_MIN}, BF_TYPE(INT64), BF_DEMOTED_ONE},
		{{.type = BF_TYPE(FLOAT64), .v.f64 = (double) __builtin_inf()},
		 BF_TYPE(UINT32),
		 BF_DEMOTED_NONE},
		{{.type = DECIMAL(25, 3), .v.i128 = 5001}, BF_TYPE(INT64), BF_DEMOTED_NONE},
		{{.type = DECIMAL(25, 3), .v.i128 = 5000}, BF_TYPE(INT64), BF_DEMOTED_ONE},
		{{.type = BF_TYPE(TIMESTAMP), .v.i64 = 86400000001}, BF_TYPE(DATE), BF_DEMOTED_NONE},
		{{.type = BF_TYPE(TIMESTAMP), .v.i64 = -86400000000}, BF_TYPE(DATE), BF_DEMOTED_ONE},
		{{.type = BF_TYPE(DATE), .v.i32 = 18300}, BF_TYPE(DATE), BF_DEMOTED_ONE},
		{{.type = BF_TYPE(TIMESTAMP), .v.i64 = 0}, BF_TYPE(INT96), BF_DEMOTED_UNKNOWN},
		{{.type = BF_TYPE(INT32), .v.i32 = 1}, BF_TYPE(STRING), BF_DEMOTED_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
	{
		BfValue out;

		EXPECT_EQ(bf_value_demote(&table[i].value, table[i].to, &out), table[i].want);
	}
}
