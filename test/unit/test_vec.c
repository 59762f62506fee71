/* Column batches: types, values, vectors, promotions. */
#include "unit/lib/runner.h"

#include <math.h>

#include "unit/lib/host_posix.h"
#include "vec/batch.h"

#define DECIMAL(p, s) ((BfType){.kind = BF_KIND_DECIMAL, .precision = (p), .scale = (s)})
#define FIXED(n) ((BfType){.kind = BF_KIND_FIXED, .length = (n)})

static BfValue
view_value(BfType type, const void *p, uint32_t n)
{
	return (BfValue){.type = type, .v.view = {p, n}};
}

static int
compare_f64(double a, double b)
{
	BfValue x = {.type = BF_TYPE(FLOAT64), .v.f64 = a}, y = {.type = BF_TYPE(FLOAT64), .v.f64 = b};

	return bf_value_compare(&x, &y);
}

TEST(vec_type_table_is_complete)
{
	char name[64];

	for (int k = 0; k < BF_KIND_COUNT; k++)
	{
		BfType t = {.kind = (BfKind) k};

		bf_type_name(t, name, sizeof name);
		EXPECT(strlen(name) > 2);
		EXPECT(bf_type_storage(t) < BF_STORE_COUNT);
		EXPECT(bf_type_equal(t, t));
	}
	bf_type_name(DECIMAL(12, 2), name, sizeof name);
	EXPECT_STR(name, "decimal(12,2)");
	bf_type_name(FIXED(16), name, sizeof name);
	EXPECT_STR(name, "fixed[16]");
	bf_type_name(BF_TYPE(TIMESTAMPTZ), name, 5);
	EXPECT_STR(name, "time");
	EXPECT_EQ(bf_type_storage(DECIMAL(18, 2)), BF_STORE_I64);
	EXPECT_EQ(bf_type_storage(DECIMAL(19, 2)), BF_STORE_I128);
	EXPECT_EQ(bf_type_storage(DECIMAL(39, 2)), BF_STORE_VIEW);
	EXPECT(!bf_type_equal(DECIMAL(10, 2), DECIMAL(10, 3)));
	EXPECT(!bf_type_equal(FIXED(4), FIXED(5)));
	EXPECT(bf_type_equal(BF_TYPE(UUID), (BfType){.kind = BF_KIND_UUID, .length = 16}));
}

TEST(vec_schema_find)
{
	BfField fields[] = {{.id = 3, .name = "a"}, {.id = 1, .name = "b"}};
	BfSchema s = {.n_fields = 2, .fields = fields};

	EXPECT_EQ(bf_schema_find_id(&s, 1), 1);
	EXPECT_EQ(bf_schema_find_id(&s, 2), -1);
	EXPECT_EQ(bf_schema_find_name(&s, "a"), 0);
	EXPECT_EQ(bf_schema_find_name(&s, "A"), -1);
}

/* Exactly, else by case where only one is meant; letters beyond ASCII have none. */
TEST(vec_fields_find)
{
	BfField fields[] = {{.name = "Id"}, {.name = "id"}, {.name = "KIND"}, {.name = "Ã"}};

	EXPECT_EQ(bf_fields_find(fields, 4, "id"), 1);
	EXPECT_EQ(bf_fields_find(fields, 4, "Id"), 0);
	EXPECT_EQ(bf_fields_find(fields, 4, "ID"), -1);
	EXPECT_EQ(bf_fields_find(fields, 1, "ID"), 0);
	EXPECT_EQ(bf_fields_find(fields, 4, "kind"), 2);
	EXPECT_EQ(bf_fields_find(fields, 4, "kin"), -1);
	EXPECT_EQ(bf_fields_find(fields, 4, "Ã"), 3);
	EXPECT_EQ(bf_fields_find(fields, 4, "ã"), -1);
	EXPECT_EQ(bf_fields_find(fields, 0, ""), -1);
}

TEST(vec_compare_floats_as_postgres)
{
	EXPECT_EQ(compare_f64(1, 2), -1);
	EXPECT_EQ(compare_f64(-0.0, 0.0), 0);
	EXPECT_EQ(compare_f64((double) NAN, (double) INFINITY), 1);
	EXPECT_EQ(compare_f64((double) NAN, (double) NAN), 0);
	EXPECT_EQ(compare_f64((double) -INFINITY, (double) NAN), -1);
}

TEST(vec_compare_each_storage)
{
	BfValue a = {.type = BF_TYPE(UINT64), .v.i64 = -1}, b = {.type = BF_TYPE(UINT64), .v.i64 = 1};
	static const uint8_t minus[] = {0xff, 0x7f}, zero[] = {0x00}, big[] = {0x01, 0x00, 0x00};
	BfType huge = DECIMAL(60, 0);
	BfValue m = view_value(huge, minus, 2), z = view_value(huge, zero, 1),
			g = view_value(huge, big, 3);
	BfValue e = view_value(huge, NULL, 0);

	EXPECT_EQ(bf_value_compare(&a, &b), 1);
	a.type = b.type = BF_TYPE(INT64);
	EXPECT_EQ(bf_value_compare(&a, &b), -1);
	a = (BfValue){.type = BF_TYPE(BOOL), .v.u8 = 1};
	b = (BfValue){.type = BF_TYPE(BOOL), .v.u8 = 0};
	EXPECT_EQ(bf_value_compare(&a, &b), 1);
	a = (BfValue){.type = BF_TYPE(DATE), .v.i32 = -5};
	b = (BfValue){.type = BF_TYPE(DATE), .v.i32 = 5};
	EXPECT_EQ(bf_value_compare(&a, &b), -1);
	a = (BfValue){.type = BF_TYPE(FLOAT32), .v.f32 = 1};
	b = (BfValue){.type = BF_TYPE(FLOAT32), .v.f32 = 1};
	EXPECT_EQ(bf_value_compare(&a, &b), 0);
	a = (BfValue){.type = DECIMAL(30, 0), .v.i128 = (bf_i128) 1 << 100};
	b = (BfValue){.type = DECIMAL(30, 0), .v.i128 = -((bf_i128) 1 << 100)};
	EXPECT_EQ(bf_value_compare(&a, &b), 1);
	EXPECT_EQ(bf_value_compare(&m, &z), -1);
	EXPECT_EQ(bf_value_compare(&g, &z), 1);
	EXPECT_EQ(bf_value_compare(&g, &m), 1);
	EXPECT_EQ(bf_value_compare(&e, &z), 0);
	a = (BfValue){.type = BF_TYPE(NULL)};
	EXPECT_EQ(bf_value_compare(&a, &a), 0);
}

TEST(vec_compare_views)
{
	static const struct
	{
		const char *a, *b;
		int want;
	} cases[] = {{"", "", 0},	   {"", "a", -1},  {"a", "", 1},	   {"abc", "abd", -1},
				 {"\xff", "a", 1}, {"ab", "a", 1}, {"same", "same", 0}};
	/* 1 month; 30 days; 31 days less a millisecond more than nothing */
	static const uint8_t month[12] = {1}, days[12] = {0, 0, 0, 0, 30},
						 more[12] = {0, 0, 0, 0, 30, 0, 0, 0, 1};
	/* day 1, 1 ns before and after; a negative day */
	static const uint8_t d1[12] = {1, 0, 0, 0, 0, 0, 0, 0, 1}, d0[12] = {9, 9, 9},
						 neg[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfValue a = view_value(BF_TYPE(STRING), cases[i].a, (uint32_t) strlen(cases[i].a));
		BfValue b = view_value(BF_TYPE(STRING), cases[i].b, (uint32_t) strlen(cases[i].b));

		EXPECT_EQ(bf_value_compare(&a, &b), cases[i].want);
	}
	{
		BfType iv = BF_TYPE(INTERVAL), i96 = BF_TYPE(INT96);
		BfValue m = view_value(iv, month, 12), d = view_value(iv, days, 12),
				o = view_value(iv, more, 12);
		BfValue x = view_value(i96, d1, 12), y = view_value(i96, d0, 12),
				z = view_value(i96, neg, 12);

		EXPECT_EQ(bf_value_compare(&m, &d), 0);
		EXPECT_EQ(bf_value_compare(&o, &m), 1);
		EXPECT_EQ(bf_value_compare(&x, &y), 1);
		EXPECT_EQ(bf_value_compare(&z, &y), -1);
	}
}

TEST(vec_get_in_every_form)
{
	BfArena *a = test_arena();
	BfVector flat, dict, use;
	uint32_t codes[4] = {2, 0, 1, 0};
	BfValue v;

	REQUIRE_OK(bf_vector_init(a, &flat, BF_TYPE(INT32), &test_err));
	flat.n = 3;
	for (int i = 0; i < 3; i++)
		flat.data.i32[i] = 10 * i;
	bf_validity_set(flat.validity, 1, false);
	EXPECT(bf_vector_get(&flat, 2, &v) && v.v.i32 == 20);
	EXPECT(!bf_vector_get(&flat, 1, &v) && v.is_null);

	REQUIRE_OK(bf_vector_init(a, &dict, BF_TYPE(INT32), &test_err));
	dict.n = 3;
	for (int i = 0; i < 3; i++)
		dict.data.i32[i] = 7 + i;
	REQUIRE_OK(bf_vector_init(a, &use, BF_TYPE(INT32), &test_err));
	use.form = BF_VEC_DICT;
	use.codes = codes;
	use.dict = &dict;
	use.n = 4;
	bf_validity_set(use.validity, 3, false);
	EXPECT(bf_vector_get(&use, 0, &v) && v.v.i32 == 9);
	EXPECT(!bf_vector_get(&use, 3, &v));

	bf_vector_set_const(&use, &(BfValue){.type = BF_TYPE(INT32), .v.i32 = 5}, 1000);
	EXPECT(bf_vector_get(&use, 999, &v) && v.v.i32 == 5);
	bf_vector_set_const(&use, &(BfValue){.is_null = true}, 1000);
	EXPECT(!bf_vector_get(&use, 999, &v));
	bf_vector_restore(&use);
	EXPECT_EQ(use.form, BF_VEC_FLAT);
	EXPECT(bf_valid(use.validity, 0));
}

TEST(vec_set_const_each_storage)
{
	BfArena *a = test_arena();
	static const BfKind kinds[] = {BF_KIND_BOOL,	BF_KIND_INT32,	BF_KIND_INT64, BF_KIND_FLOAT32,
								   BF_KIND_FLOAT64, BF_KIND_STRING, BF_KIND_NULL,  BF_KIND_STRUCT};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
	{
		BfVector v;
		BfValue in = {.type = {.kind = kinds[i]}}, out;

		if (kinds[i] == BF_KIND_STRING)
			in.v.view = (BfView){(const uint8_t *) "x", 1};
		REQUIRE_OK(bf_vector_init(a, &v, in.type, &test_err));
		bf_vector_set_const(&v, &in, 3);
		if (bf_vector_get(&v, 2, &out))
			EXPECT_EQ(bf_value_compare(&in, &out), 0);
		else
			EXPECT(bf_storage_size(v.storage) == 0);
	}
}

TEST(vec_batch_new)
{
	BfArena *a = test_arena();
	BfField f[] = {{.type = BF_TYPE(INT64)}, {.type = BF_TYPE(STRING)}, {.type = BF_TYPE(NULL)}};
	BfBatch *b;

	REQUIRE_OK(bf_batch_new(a, f, 3, &b, &test_err));
	EXPECT_EQ(b->n_cols, 3);
	EXPECT_EQ(b->first_row, -1);
	b->cols[0].data.i64[BF_BATCH_ROWS - 1] = 1;
	EXPECT(b->cols[1].data.view[BF_BATCH_ROWS - 1].ptr == NULL);
	REQUIRE_OK(bf_batch_new(a, f, 0, &b, &test_err));
	EXPECT_EQ(b->n_cols, 0);
}

/* An integer in any of the integer storages, as a 128-bit number. */
static bf_i128
as_i128(const BfValue *v)
{
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_I32: return v->v.i32;
		case BF_STORE_I64:
			return v->type.kind == BF_KIND_UINT64 ? (bf_i128) (uint64_t) v->v.i64 : v->v.i64;
		case BF_STORE_I128: return v->v.i128;
		case BF_STORE_F32: return (bf_i128) v->v.f32;
		case BF_STORE_F64: return (bf_i128) v->v.f64;
		default:
		{
			bf_u128 u = 0;

			for (uint32_t i = 0; i < v->v.view.len; i++)
				u = u << 8 | v->v.view.ptr[i];
			return (bf_i128) u;
		}
	}
}

static void
store_int(BfVector *v, int32_t i, int64_t x)
{
	if (v->storage == BF_STORE_I32)
		v->data.i32[i] = (int32_t) x;
	else if (v->storage == BF_STORE_I64)
		v->data.i64[i] = x;
	else
		v->data.i128[i] = x;
}

/* In each form, each source value times `factor` must come out. */
static void
check_integers(BfType from, BfType to, int64_t lowest, int64_t highest, bf_i128 factor)
{
	BfArena *a = test_arena();
	int64_t values[] = {lowest, 0, 1, highest};
	uint32_t codes[] = {3, 0, 0, 2, 1};
	BfVector src, dst, use;
	BfValue v;

	REQUIRE_OK(bf_vector_init(a, &src, from, &test_err));
	REQUIRE_OK(bf_vector_init(a, &dst, to, &test_err));
	src.n = 4;
	for (int i = 0; i < 4; i++)
		store_int(&src, i, values[i]);
	bf_validity_set(src.validity, 1, false);
	for (int round = 0; round < 2; round++) /* the second after the vector was shared or constant */
	{
		REQUIRE_OK(bf_vector_promote(&src, &dst, &test_err));
		EXPECT(!bf_vector_get(&dst, 1, &v));
		for (int i = 0; i < 4; i += i == 0 ? 2 : 1)
		{
			bf_i128 want = from.kind == BF_KIND_UINT64 ? (bf_i128) (uint64_t) values[i] : values[i];

			REQUIRE(bf_vector_get(&dst, i, &v));
			if (as_i128(&v) != want * factor)
				test_fail(__FILE__, __LINE__, "kind %d to %d: value %d differs", from.kind, to.kind,
						  i);
		}
		use = src;
		use.form = BF_VEC_CONST;
		use.n = 100;
		REQUIRE_OK(bf_vector_promote(&use, &dst, &test_err));
		REQUIRE(bf_vector_get(&dst, 99, &v));
		EXPECT_EQ(dst.form, BF_VEC_CONST);
	}
	use = src;
	use.form = BF_VEC_DICT;
	src.validity = NULL;
	use.dict = &src;
	use.codes = codes;
	use.n = 5;
	REQUIRE_OK(bf_vector_promote(&use, &dst, &test_err));
	REQUIRE(bf_vector_get(&dst, 4, &v));
	EXPECT(as_i128(&v) == 0);
	REQUIRE(bf_vector_get(&dst, 3, &v));
	EXPECT(as_i128(&v) == factor);
	EXPECT(!bf_vector_get(&dst, 1, &v));
}

TEST(vec_promote_integers)
{
	check_integers(BF_TYPE(INT32), BF_TYPE(INT64), INT32_MIN, INT32_MAX, 1);
	check_integers(BF_TYPE(INT16), BF_TYPE(INT32), INT16_MIN, INT16_MAX, 1);
	check_integers(BF_TYPE(UINT8), BF_TYPE(INT64), 0, 255, 1);
	check_integers(BF_TYPE(UINT32), BF_TYPE(UINT64), 0, UINT32_MAX, 1);
	check_integers(BF_TYPE(INT64), BF_TYPE(INT64), INT64_MIN, INT64_MAX, 1);
	check_integers(BF_TYPE(INT32), BF_TYPE(FLOAT64), INT32_MIN, INT32_MAX, 1);
	check_integers(BF_TYPE(UINT32), BF_TYPE(FLOAT64), 0, UINT32_MAX, 1);
	check_integers(BF_TYPE(INT16), BF_TYPE(FLOAT32), INT16_MIN, INT16_MAX, 1);
	check_integers(BF_TYPE(UINT64), DECIMAL(20, 0), -1, INT64_MIN, 1);
	check_integers(BF_TYPE(INT64), DECIMAL(38, 10), INT64_MIN, INT64_MAX, INT64_C(10000000000));
	check_integers(BF_TYPE(INT32), DECIMAL(12, 2), INT32_MIN, INT32_MAX, 100);
	check_integers(BF_TYPE(UINT32), DECIMAL(12, 2), 0, UINT32_MAX, 100);
}

TEST(vec_promote_decimals)
{
	check_integers(DECIMAL(10, 2), DECIMAL(18, 2), -9999999999, 9999999999, 1);
	check_integers(DECIMAL(10, 2), DECIMAL(38, 2), -9999999999, 9999999999, 1);
	check_integers(DECIMAL(20, 2), DECIMAL(30, 2), INT64_MIN, INT64_MAX, 1);
	check_integers(DECIMAL(10, 2), DECIMAL(50, 2), -9999999999, 9999999999, 1);
	check_integers(DECIMAL(20, 2), DECIMAL(50, 2), INT64_MIN, INT64_MAX, 1);
	EXPECT(!bf_type_promotable(DECIMAL(10, 2), DECIMAL(12, 3)));
	EXPECT(!bf_type_promotable(DECIMAL(10, 2), DECIMAL(9, 2)));
	EXPECT(bf_type_promotable(DECIMAL(50, 2), DECIMAL(60, 2)));
}

TEST(vec_promote_dates)
{
	BfArena *a = test_arena();
	BfVector src, dst;

	check_integers(BF_TYPE(DATE), BF_TYPE(TIMESTAMP), -719162, 2932896, INT64_C(86400000000));
	check_integers(BF_TYPE(DATE), BF_TYPE(TIMESTAMP_NS), -100000, 100000, INT64_C(86400000000000));
	REQUIRE_OK(bf_vector_init(a, &src, BF_TYPE(DATE), &test_err));
	REQUIRE_OK(bf_vector_init(a, &dst, BF_TYPE(TIMESTAMP), &test_err));
	src.n = 1;
	src.data.i32[0] = INT32_MAX;
	EXPECT_FAIL(bf_vector_promote(&src, &dst, &test_err), BF_ERR_VALUE, -1);
	/* The value of a NULL row is no date. */
	bf_validity_set(src.validity, 0, false);
	EXPECT_EQ(bf_vector_promote(&src, &dst, &test_err), BF_OK);
	EXPECT(!bf_type_promotable(BF_TYPE(DATE), BF_TYPE(TIMESTAMPTZ)));
}

TEST(vec_promote_floats)
{
	BfArena *a = test_arena();
	BfVector src, dst;
	BfValue v;

	REQUIRE_OK(bf_vector_init(a, &src, BF_TYPE(FLOAT32), &test_err));
	REQUIRE_OK(bf_vector_init(a, &dst, BF_TYPE(FLOAT64), &test_err));
	src.n = 3;
	src.data.f32[0] = 1.5f;
	src.data.f32[1] = NAN;
	src.data.f32[2] = -0.0f;
	REQUIRE_OK(bf_vector_promote(&src, &dst, &test_err));
	EXPECT(bf_vector_get(&dst, 0, &v) && v.v.f64 == 1.5);
	EXPECT(bf_vector_get(&dst, 1, &v) && isnan(v.v.f64));
	EXPECT(bf_vector_get(&dst, 2, &v) && signbit(v.v.f64));
}

/* 12 bytes: nanoseconds of the day, and the Julian day. */
static void
check_int96(int64_t nanos, int32_t days, BfKind kind, BfStatus status, int64_t want)
{
	BfArena *a = test_arena();
	uint8_t bytes[12];
	BfVector src, dst;

	bf_store64le(bytes, (uint64_t) nanos);
	bf_store32le(bytes + 8, (uint32_t) (days + 2440588));
	REQUIRE_OK(bf_vector_init(a, &src, BF_TYPE(INT96), &test_err));
	REQUIRE_OK(bf_vector_init(a, &dst, (BfType){.kind = kind}, &test_err));
	src.n = 1;
	src.data.view[0] = (BfView){bytes, 12};
	EXPECT_EQ(bf_vector_promote(&src, &dst, &test_err), status);
	if (status == BF_OK)
		EXPECT_EQ(dst.data.i64[0], want);
}

/* Nanoseconds are cut off towards the past, on either side of midnight and of 1970. */
TEST(vec_promote_int96)
{
	const int64_t day = INT64_C(86400000000);

	for (int i = 0; i < 2; i++)
	{
		BfKind kind = i == 0 ? BF_KIND_TIMESTAMP : BF_KIND_TIMESTAMPTZ;

		check_int96(0, 0, kind, BF_OK, 0);
		check_int96(1999, 0, kind, BF_OK, 1);
		check_int96(-1, 0, kind, BF_OK, -1);
		check_int96(-999, 0, kind, BF_OK, -1);
		check_int96(-1000, 0, kind, BF_OK, -1);
		check_int96(-1001, 0, kind, BF_OK, -2);
		check_int96(-1, 1, kind, BF_OK, day - 1);
		check_int96(1, -1, kind, BF_OK, -day);
		check_int96(999, -1, kind, BF_OK, -day);
		check_int96(day * 1000 - 1, -1, kind, BF_OK, -1);
		check_int96(0, INT32_MIN, kind, BF_ERR_VALUE, 0);
	}
	check_int96(-1, 0, BF_KIND_TIMESTAMP_NS, BF_OK, -1);
	check_int96(-1, 1, BF_KIND_TIMESTAMPTZ_NS, BF_OK, day * 1000 - 1);
	check_int96(0, 200000, BF_KIND_TIMESTAMP_NS, BF_ERR_VALUE, 0);
	check_int96(0, -200000, BF_KIND_TIMESTAMP_NS, BF_ERR_VALUE, 0);
}

/* An integer type is read as another only if that takes every value of it, exactly. */
TEST(vec_promotable_integers)
{
	static const struct
	{
		BfKind kind;
		int digits; /* of its longest value */
		int bits;	/* that a float must keep */
	} table[] = {
		{BF_KIND_INT8, 3, 7},	 {BF_KIND_UINT8, 3, 8},	   {BF_KIND_INT16, 5, 15},
		{BF_KIND_UINT16, 5, 16}, {BF_KIND_INT32, 10, 31},  {BF_KIND_UINT32, 10, 32},
		{BF_KIND_INT64, 19, 63}, {BF_KIND_UINT64, 20, 64},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
	{
		BfType from = {.kind = table[i].kind};

		for (int scale = 0; scale <= 18; scale++)
		{
			EXPECT(bf_type_promotable(from, DECIMAL(table[i].digits + scale, scale)));
			EXPECT(!bf_type_promotable(from, DECIMAL(table[i].digits + scale - 1, scale)));
		}
		EXPECT(bf_type_promotable(from, BF_TYPE(FLOAT32)) == (table[i].bits <= 24));
		EXPECT(bf_type_promotable(from, BF_TYPE(FLOAT64)) == (table[i].bits <= 53));
	}
}

TEST(vec_promote_shares_views)
{
	BfArena *a = test_arena();
	BfVector src, dst, null;
	BfValue v;

	REQUIRE_OK(bf_vector_init(a, &src, BF_TYPE(ENUM), &test_err));
	REQUIRE_OK(bf_vector_init(a, &dst, BF_TYPE(STRING), &test_err));
	src.n = 1;
	src.data.view[0] = (BfView){(const uint8_t *) "red", 3};
	REQUIRE_OK(bf_vector_promote(&src, &dst, &test_err));
	EXPECT(dst.data.raw == src.data.raw && dst.own_data != src.data.raw);
	EXPECT(bf_vector_get(&dst, 0, &v) && v.v.view.len == 3 && v.type.kind == BF_KIND_STRING);

	/* A column that is NULL everywhere, and an all-NULL column with an empty dictionary. */
	REQUIRE_OK(bf_vector_init(a, &null, BF_TYPE(NULL), &test_err));
	null.n = 9;
	REQUIRE_OK(bf_vector_promote(&null, &dst, &test_err));
	EXPECT(dst.n == 9 && !bf_vector_get(&dst, 8, &v));
}

TEST(vec_promote_empty_dictionary)
{
	BfArena *a = test_arena();
	uint32_t codes[2] = {0, 0};
	BfVector dict, src, dst;
	BfValue v;

	REQUIRE_OK(bf_vector_init(a, &dict, BF_TYPE(INT32), &test_err));
	REQUIRE_OK(bf_vector_init(a, &src, BF_TYPE(INT32), &test_err));
	REQUIRE_OK(bf_vector_init(a, &dst, BF_TYPE(INT64), &test_err));
	dict.data.raw = NULL;
	src.form = BF_VEC_DICT;
	src.dict = &dict;
	src.codes = codes;
	src.n = 2;
	memset(src.validity, 0, 8 * BF_VALIDITY_WORDS);
	REQUIRE_OK(bf_vector_promote(&src, &dst, &test_err));
	EXPECT(!bf_vector_get(&dst, 1, &v));
}

TEST(vec_promotable_table)
{
	EXPECT(bf_type_promotable(BF_TYPE(FLOAT16), BF_TYPE(FLOAT32)));
	EXPECT(!bf_type_promotable(BF_TYPE(FLOAT64), BF_TYPE(FLOAT32)));
	EXPECT(!bf_type_promotable(BF_TYPE(INT64), BF_TYPE(INT32)));
	EXPECT(!bf_type_promotable(BF_TYPE(INT64), BF_TYPE(FLOAT64)));
	EXPECT(!bf_type_promotable(BF_TYPE(INT64), DECIMAL(18, 0)));
	EXPECT(!bf_type_promotable(BF_TYPE(INT8), BF_TYPE(UINT64)));
	EXPECT(!bf_type_promotable(BF_TYPE(UINT64), BF_TYPE(INT64)));
	EXPECT(!bf_type_promotable(BF_TYPE(INT32), BF_TYPE(STRING)));
	EXPECT(bf_type_promotable(BF_TYPE(UUID), FIXED(16)));
	EXPECT(!bf_type_promotable(BF_TYPE(UUID), FIXED(15)));
	EXPECT(bf_type_promotable(FIXED(16), BF_TYPE(UUID)));
	EXPECT(!bf_type_promotable(FIXED(8), BF_TYPE(UUID)));
	EXPECT(bf_type_promotable(FIXED(8), BF_TYPE(BINARY)));
	EXPECT(bf_type_promotable(BF_TYPE(BINARY), BF_TYPE(STRING)));
	EXPECT(bf_type_promotable(BF_TYPE(BSON), BF_TYPE(BINARY)));
	EXPECT(!bf_type_promotable(BF_TYPE(BSON), BF_TYPE(STRING)));
	EXPECT(!bf_type_promotable(BF_TYPE(BOOL), BF_TYPE(INT32)));
	EXPECT(bf_type_promotable(BF_TYPE(STRUCT), BF_TYPE(STRUCT)));
	EXPECT_FAIL(({
					BfVector s, d;
					BfArena *a = test_arena();
					BfStatus r = bf_vector_init(a, &s, BF_TYPE(STRING), &test_err);

					if (r == BF_OK)
						r = bf_vector_init(a, &d, BF_TYPE(INT32), &test_err);
					r == BF_OK ? bf_vector_promote(&s, &d, &test_err) : r;
				}),
				BF_ERR_UNSUPPORTED, -1);
}

TEST(vec_allocation_faults)
{
	BfField f[] = {{.type = BF_TYPE(INT64)}, {.type = BF_TYPE(STRING)}, {.type = BF_TYPE(NULL)}};

	for (int64_t call = 1;; call++)
	{
		TestHost h;
		BfArena *a;
		BfBatch *b;
		BfStatus s = BF_ERR_NOMEM;

		test_host_init(&h);
		test_fault_arm(&h, TEST_FAULT_ALLOC, call, false);
		a = bf_arena_new(&h.host, "vec", 1 << 24);
		if (a != NULL)
			s = bf_batch_new(a, f, 3, &b, &test_err);
		bf_arena_free(a);
		EXPECT_EQ(h.live_allocs, 0);
		EXPECT_EQ(s, test_fault_fired(&h) ? BF_ERR_NOMEM : BF_OK);
		if (!h.fired)
			break;
	}
}

TEST(vec_validity_count_looks_at_no_more_than_the_first_bits)
{
	uint64_t bits[3] = {UINT64_C(0x8000000000000001), UINT64_MAX, 5};
	int32_t want = 0;

	for (int32_t n = 0; n <= 192; n++)
	{
		EXPECT_EQ(bf_validity_count(bits, n), want);
		want += n < 192 && bf_valid(bits, n);
	}
}
