/* Keys: equal bytes exactly where values are equal. */
#include "unit/lib/runner.h"

#include <math.h>
#include <stdlib.h>

#include "unit/lib/host_posix.h"
#include "vec/key.h"

#define DEC(p) ((BfType){.kind = BF_KIND_DECIMAL, .precision = (p)})

static BfBuffer *
buffer(void)
{
	BfBuffer *b = NULL;

	if (bf_buffer_new(test_arena(), 1 << 20, &b, &test_err) != BF_OK)
		abort();
	return b;
}

static BfView
view(const void *p, size_t n)
{
	return (BfView){p, (uint32_t) n};
}

static BfValue
number(BfType type, int64_t n)
{
	BfValue v = {.type = type};

	switch (bf_type_storage(type))
	{
		case BF_STORE_U8: v.v.u8 = (uint8_t) n; break;
		case BF_STORE_I32: v.v.i32 = (int32_t) n; break;
		case BF_STORE_I64: v.v.i64 = n; break;
		case BF_STORE_I128: v.v.i128 = n; break;
		case BF_STORE_F32: v.v.f32 = (float) n; break;
		case BF_STORE_F64: v.v.f64 = (double) n; break;
		default: abort();
	}
	return v;
}

static BfValue
text(const char *s)
{
	return (BfValue){.type = BF_TYPE(STRING), .v.view = view(s, strlen(s))};
}

/* The key as hexadecimal digits. */
static const char *
hex(const BfValue *v, BfKeyZero zero)
{
	static char out[200];
	BfBuffer *b = buffer();

	out[0] = '\0';
	if (bf_key_value(b, v, zero, &test_err) != BF_OK)
		return bf_status_name(test_err.code);
	for (size_t i = 0; i < b->len && i < 90; i++)
		snprintf(out + 2 * i, 3, "%02x", b->data[i]);
	return out;
}

static bool
same_key(const BfValue *x, const BfValue *y, BfKeyZero zero)
{
	BfBuffer *a = buffer(), *b = buffer();

	if (bf_key_value(a, x, zero, &test_err) != BF_OK ||
		bf_key_value(b, y, zero, &test_err) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
		return false;
	}
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

TEST(vec_key_layout)
{
	BfValue one = number(BF_TYPE(INT32), 1), null = {.is_null = true, .type = BF_TYPE(INT32)};
	BfValue pair[2], list = {.type = BF_TYPE(LIST)};
	BfValue v = number(BF_TYPE(DATE), 7);
	BfValue point = {.type = BF_TYPE(FLOAT64), .v.f64 = 1.5};

	EXPECT_STR(hex(&v, BF_KEY_ZERO_ONE), "0107");
	EXPECT_STR(hex(&null, BF_KEY_ZERO_ONE), "00");
	v = number(BF_TYPE(INT64), -129);
	EXPECT_STR(hex(&v, BF_KEY_ZERO_ONE), "027fff");
	EXPECT_STR(hex(&point, BF_KEY_ZERO_ONE), "12000000000000f83f");
	v = text("abc");
	EXPECT_STR(hex(&v, BF_KEY_ZERO_ONE), "23616263");
	v = text("");
	EXPECT_STR(hex(&v, BF_KEY_ZERO_ONE), "20");
	pair[0] = one;
	pair[1] = null;
	list.v.view = (BfView){(const uint8_t *) (const void *) pair, 2};
	EXPECT_STR(hex(&list, BF_KEY_ZERO_ONE), "1502000000010100");
	list.type = BF_TYPE(STRUCT);
	EXPECT_STR(hex(&list, BF_KEY_ZERO_ONE), "1402000000010100");
	list.type = BF_TYPE(MAP);
	EXPECT_STR(hex(&list, BF_KEY_ZERO_ONE), "UNSUPPORTED");
	v = number(BF_TYPE(INT64), INT64_MIN);
	EXPECT_STR(hex(&v, BF_KEY_ZERO_ONE), "080000000000000080");
	v = number(BF_TYPE(UINT64), -1);
	EXPECT_STR(hex(&v, BF_KEY_ZERO_ONE), "09ffffffffffffffff00");
}

TEST(vec_key_floats)
{
	static const BfType types[] = {{.kind = BF_KIND_FLOAT32}, {.kind = BF_KIND_FLOAT64}};
	BfValue zero[2], minus[2], nan[2], other[2];

	for (int i = 0; i < 2; i++)
	{
		zero[i] = minus[i] = nan[i] = other[i] = (BfValue){.type = types[i]};
		if (i == 0)
		{
			minus[i].v.f32 = -0.0f;
			nan[i].v.f32 = (float) NAN;
			memcpy(&other[i].v.f32, &(uint32_t){0xffc12345}, 4);
		}
		else
		{
			minus[i].v.f64 = -0.0;
			nan[i].v.f64 = (double) NAN;
			memcpy(&other[i].v.f64, &(uint64_t){UINT64_C(0xfff8123456789abc)}, 8);
		}
		EXPECT(same_key(&zero[i], &minus[i], BF_KEY_ZERO_ONE));
		EXPECT(!same_key(&zero[i], &minus[i], BF_KEY_ZERO_SIGNED));
		EXPECT(same_key(&nan[i], &other[i], BF_KEY_ZERO_ONE));
		EXPECT(same_key(&nan[i], &other[i], BF_KEY_ZERO_SIGNED));
		EXPECT(!same_key(&nan[i], &zero[i], BF_KEY_ZERO_ONE));
		EXPECT(same_key(&nan[0], &nan[i], BF_KEY_ZERO_ONE));
	}
}

/* What is promoted keeps its key. */
TEST(vec_key_of_other_widths)
{
	static const BfType numbers[] = {{.kind = BF_KIND_INT8},
									 {.kind = BF_KIND_INT32},
									 {.kind = BF_KIND_INT64},
									 {.kind = BF_KIND_UINT32},
									 {.kind = BF_KIND_UINT64},
									 {.kind = BF_KIND_DECIMAL, .precision = 9},
									 {.kind = BF_KIND_DECIMAL, .precision = 38}};
	const size_t n = sizeof numbers / sizeof numbers[0];

	for (int64_t k = -128; k < 128; k++)
		for (size_t i = 0; i < n; i++)
		{
			BfValue x = number(numbers[i], k), y = number(BF_TYPE(INT64), k);
			uint8_t big[24];
			BfValue wide = {.type = DEC(60), .v.view = view(big, sizeof big)};

			if (k < 0 && (numbers[i].kind == BF_KIND_UINT32 || numbers[i].kind == BF_KIND_UINT64))
				continue;
			EXPECT(same_key(&x, &y, BF_KEY_ZERO_ONE));
			memset(big, k < 0 ? 0xff : 0, sizeof big);
			big[sizeof big - 1] = (uint8_t) k;
			EXPECT(same_key(&x, &wide, BF_KEY_ZERO_ONE));
			wide.v.view = view(big + sizeof big - 2, 2);
			EXPECT(same_key(&x, &wide, BF_KEY_ZERO_ONE));
			wide.v.view = view(NULL, 0);
			EXPECT(same_key(&x, &wide, BF_KEY_ZERO_ONE) == (k == 0));
		}
}

/* Any value of a type; few different ones, so that many are equal. */
static void
random_value(BfType type, BfValue *v, uint8_t *room)
{
	static const double doubles[] = {0,		-0.0,		  1.5,			 -1.5,
									 1e300, (double) NAN, -(double) NAN, 1e-320};
	int64_t few = (int64_t) ((test_random_below(5) << test_random_below(64)) - 2);
	uint32_t len;

	*v = (BfValue){.type = type};
	switch (bf_type_storage(type))
	{
		case BF_STORE_F32: v->v.f32 = (float) doubles[test_random_below(8)]; break;
		case BF_STORE_F64: v->v.f64 = doubles[test_random_below(8)]; break;
		case BF_STORE_I128: v->v.i128 = (bf_i128) ((bf_u128) few << test_random_below(65)); break;
		case BF_STORE_U8: v->v.u8 = few & 1; break;
		case BF_STORE_VIEW:
			len = type.kind == BF_KIND_INTERVAL || type.kind == BF_KIND_INT96
					  ? 12
					  : (uint32_t) (test_random_below(3) * test_random_below(150));
			memset(room, test_random_below(2) == 0 ? 0 : 0xff, len);
			for (int i = 0; len > 0 && i < 2; i++)
				room[test_random_below(len)] = (uint8_t) (test_random_below(3) + 0x7f);
			if (type.kind == BF_KIND_INTERVAL)
			{
				/* Two ways to say the same. */
				bf_store32le(room, (uint32_t) test_random_below(3));
				bf_store32le(room + 4, (uint32_t) test_random_below(3) * 30);
				bf_store32le(room + 8, (uint32_t) test_random_below(2) * 86400000);
			}
			if (type.kind == BF_KIND_INT96)
			{
				bf_store64le(room, test_random_below(3) * UINT64_C(86400000000000));
				bf_store32le(room + 8, (uint32_t) test_random_below(3));
			}
			v->v.view = view(room, len);
			break;
		default: *v = number(type, few); break;
	}
	v->is_null = test_random_below(8) == 0;
}

static bool
equal_values(const BfValue *x, const BfValue *y, BfKeyZero zero)
{
	double a, b;

	if (x->is_null || y->is_null)
		return x->is_null && y->is_null;
	if (bf_value_compare(x, y) != 0)
		return false;
	if (zero == BF_KEY_ZERO_ONE ||
		(x->type.kind != BF_KIND_FLOAT32 && x->type.kind != BF_KIND_FLOAT64))
		return true;
	a = x->type.kind == BF_KIND_FLOAT32 ? (double) x->v.f32 : x->v.f64;
	b = x->type.kind == BF_KIND_FLOAT32 ? (double) y->v.f32 : y->v.f64;
	return a != a || signbit(a) == signbit(b);
}

static const BfType types[] = {
	{.kind = BF_KIND_BOOL},
	{.kind = BF_KIND_INT32},
	{.kind = BF_KIND_INT64},
	{.kind = BF_KIND_UINT64},
	{.kind = BF_KIND_FLOAT32},
	{.kind = BF_KIND_FLOAT64},
	{.kind = BF_KIND_DECIMAL, .precision = 12, .scale = 2},
	{.kind = BF_KIND_DECIMAL, .precision = 38, .scale = 2},
	{.kind = BF_KIND_DECIMAL, .precision = 76, .scale = 2},
	{.kind = BF_KIND_TIMESTAMPTZ},
	{.kind = BF_KIND_STRING},
	{.kind = BF_KIND_BINARY},
	{.kind = BF_KIND_INTERVAL},
	{.kind = BF_KIND_INT96},
	{.kind = BF_KIND_GEOMETRY},
};

#define N_TYPES (sizeof types / sizeof types[0])

TEST(vec_key_is_equality)
{
	int64_t equal = 0;

	for (size_t t = 0; t < N_TYPES; t++)
		for (int i = 0; i < 400; i++)
		{
			uint8_t room[2][400];
			BfValue x, y;
			BfKeyZero zero = (BfKeyZero) (i & 1);
			bool want;

			random_value(types[t], &x, room[0]);
			random_value(types[t], &y, room[1]);
			want = equal_values(&x, &y, zero);
			equal += want;
			if (same_key(&x, &y, zero) != want)
				test_fail(__FILE__, __LINE__, "type %zu, round %d: equal is %d", t, i, want);
		}
	EXPECT(equal > 500);
}

/* A row's key is its columns' keys: equal where all columns are, whatever the neighbours are. */
TEST(vec_key_of_rows)
{
	int64_t equal = 0;

	for (int round = 0; round < 4000; round++)
	{
		uint8_t room[2][3][400];
		BfValue v[2][3];
		BfBuffer *b[2] = {buffer(), buffer()};
		bool want = true;

		for (int k = 0; k < 3; k++)
		{
			BfType type = types[test_random_below(N_TYPES)];

			for (int r = 0; r < 2; r++)
			{
				if (r == 1 && test_random_below(3) > 0)
					v[1][k] = v[0][k];
				else
					random_value(type, &v[r][k], room[r][k]);
				REQUIRE_OK(bf_key_value(b[r], &v[r][k], BF_KEY_ZERO_ONE, &test_err));
			}
			want &= equal_values(&v[0][k], &v[1][k], BF_KEY_ZERO_ONE);
		}
		equal += want;
		EXPECT((b[0]->len == b[1]->len && memcmp(b[0]->data, b[1]->data, b[0]->len) == 0) == want);
	}
	EXPECT(equal > 20);
}

static void
set_row(BfVector *v, int32_t row, const BfValue *value)
{
	bf_validity_set(v->validity, row, !value->is_null);
	switch (v->storage)
	{
		case BF_STORE_U8: v->data.u8[row] = value->v.u8; break;
		case BF_STORE_I32: v->data.i32[row] = value->v.i32; break;
		case BF_STORE_I64: v->data.i64[row] = value->v.i64; break;
		case BF_STORE_F32: v->data.f32[row] = value->v.f32; break;
		case BF_STORE_F64: v->data.f64[row] = value->v.f64; break;
		case BF_STORE_I128: v->data.i128[row] = value->v.i128; break;
		default: v->data.view[row] = value->v.view; break;
	}
}

/* Rows of flat, constant and dictionary vectors have the keys of their values. */
TEST(vec_key_of_vectors)
{
	enum
	{
		ROWS = 40
	};
	static uint8_t room[ROWS][400];

	for (size_t t = 0; t < N_TYPES; t++)
	{
		BfArena *a = test_arena();
		BfVector flat = {0}, constant = {0}, dict = {0};
		const BfVector *columns[3] = {&flat, &constant, &dict};
		BfField field = {.name = "c", .type = types[t]};
		int32_t rows[ROWS];
		size_t starts[ROWS + 1];
		uint32_t codes[ROWS];
		BfBuffer *got = buffer(), *want = buffer();
		BfValue v;

		REQUIRE_OK(bf_vector_init(a, &flat, types[t], &test_err));
		flat.n = ROWS;
		for (int32_t i = 0; i < ROWS; i++)
		{
			random_value(types[t], &v, room[i]);
			set_row(&flat, i, &v);
			rows[i] = (int32_t) test_random_below(ROWS);
			codes[i] = (uint32_t) test_random_below(ROWS);
		}
		random_value(types[t], &v, room[0]);
		set_row(&flat, 0, &v);
		REQUIRE_OK(bf_vector_init_const(a, &constant, &field, &v, ROWS, &test_err));
		/* Dictionaries have no NULLs; the vector over one has. */
		dict = flat;
		dict.form = BF_VEC_DICT;
		dict.codes = codes;
		dict.dict = &flat;
		dict.validity = bf_arena_memdup(a, flat.validity, sizeof(uint64_t) * BF_VALIDITY_WORDS);
		memset(flat.validity, 0xff, sizeof(uint64_t) * BF_VALIDITY_WORDS);
		REQUIRE_OK(bf_key_rows(got, columns, 3, rows, ROWS, BF_KEY_ZERO_SIGNED, starts, &test_err));
		for (int32_t i = 0; i < ROWS; i++)
		{
			want->len = 0;
			for (int k = 0; k < 3; k++)
			{
				bf_vector_get(columns[k], rows[i], &v);
				REQUIRE_OK(bf_key_value(want, &v, BF_KEY_ZERO_SIGNED, &test_err));
			}
			EXPECT(starts[i + 1] - starts[i] == want->len &&
				   memcmp(got->data + starts[i], want->data, want->len) == 0);
		}
		EXPECT(starts[0] == 0 && starts[ROWS] == got->len);
	}
}

/* Structs and lists as vectors and as values; a list is not its parts in a row. */
TEST(vec_key_nested)
{
	BfArena *a = test_arena();
	BfField element = {.name = "e", .type = BF_TYPE(INT32)};
	BfField list_field = {
		.name = "l", .type = BF_TYPE(LIST), .children = &element, .n_children = 1};
	BfField struct_field = {
		.name = "s", .type = BF_TYPE(STRUCT), .children = &list_field, .n_children = 1};
	BfVector v = {0};
	BfVector *list;
	BfBuffer *b = buffer();
	size_t starts[5];
	static const int32_t offsets[] = {0, 2, 2, 2, 3};
	static const int32_t rows[] = {0, 1, 2, 3};
	const BfVector *columns[] = {&v};

	/* {[1,2]}, {NULL}, NULL, {[1]} */
	REQUIRE_OK(bf_vector_init_field(a, &v, &struct_field, 8, &test_err));
	list = &v.children[0];
	v.n = list->n = 4;
	list->children[0].n = 3;
	memcpy(list->offsets, offsets, sizeof offsets);
	list->children[0].data.i32[0] = list->children[0].data.i32[2] = 1;
	list->children[0].data.i32[1] = 2;
	bf_validity_set(list->validity, 1, false);
	bf_validity_set(v.validity, 2, false);
	REQUIRE_OK(bf_key_rows(b, columns, 1, rows, 4, BF_KEY_ZERO_ONE, starts, &test_err));
	for (int32_t i = 0; i < 4; i++)
	{
		BfValue value;
		BfBuffer *alone = buffer();

		REQUIRE_OK(bf_vector_value(a, &v, i, &value, &test_err));
		REQUIRE_OK(bf_key_value(alone, &value, BF_KEY_ZERO_ONE, &test_err));
		EXPECT(alone->len == starts[i + 1] - starts[i] &&
			   memcmp(alone->data, b->data + starts[i], alone->len) == 0);
		for (int32_t k = 0; k < i; k++)
			EXPECT(starts[k + 1] - starts[k] != alone->len ||
				   memcmp(alone->data, b->data + starts[k], alone->len) != 0);
	}
	v.type = BF_TYPE(MAP);
	EXPECT_FAIL(bf_key_row(b, &v, 0, BF_KEY_ZERO_ONE, &test_err), BF_ERR_UNSUPPORTED, -1);
}

TEST(vec_key_bounds_and_faults)
{
	BfValue v = text("some text that is longer than the fixed part of a key, if only by a little");
	BfBuffer b;

	for (size_t max = 0; max < 300; max++)
	{
		BfStatus status = BF_OK;

		bf_buffer_init(&b, test_host(), max);
		while (status == BF_OK)
			status = bf_key_value(&b, &v, BF_KEY_ZERO_ONE, &test_err);
		EXPECT(status == BF_ERR_LIMIT && b.len <= max);
		bf_buffer_free(&b);
	}
	for (int64_t call = 1;; call++)
	{
		TestHost h;
		BfStatus status = BF_OK;

		test_host_init(&h);
		test_fault_arm(&h, TEST_FAULT_ALLOC, call, false);
		bf_buffer_init(&b, &h.host, 1 << 20);
		for (int i = 0; i < 20 && status == BF_OK; i++)
			status = bf_key_value(&b, &v, BF_KEY_ZERO_ONE, &test_err);
		bf_buffer_free(&b);
		EXPECT_EQ(h.live_allocs, 0);
		if (!test_fault_fired(&h))
			break;
		EXPECT_EQ(status, BF_ERR_NOMEM);
	}
}
