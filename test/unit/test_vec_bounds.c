/* Bounds of columns: cut ones against a table, all of them against what was put in. */
#include "unit/lib/runner.h"

#include <math.h>

#include "base/text.h"
#include "vec/bounds.h"

static BfView
view(const char *s)
{
	return (BfView){(const uint8_t *) s, (uint32_t) strlen(s)};
}

/* A vector over an array. */
static BfVector
flat(BfType type, const void *data, uint64_t *validity, int32_t n)
{
	return (BfVector){.type = type,
					  .storage = bf_type_storage(type),
					  .form = BF_VEC_FLAT,
					  .n = n,
					  .validity = validity,
					  .data.raw = (void *) (uintptr_t) data};
}

static void
add(BfBounds *b, const BfVector *v)
{
	if (bf_bounds_add(test_arena(), b, v, 0, v->n, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
}

typedef struct Cut
{
	BfKind kind;
	const char *value;
	int32_t length;
	const char *lower;
	const char *upper; /* NULL = none */
} Cut;

static const Cut cuts[] = {
	{BF_KIND_STRING, "abc", 16, "abc", "abc"},
	{BF_KIND_STRING, "abc", 3, "abc", "abc"},
	{BF_KIND_STRING, "abcd", 3, "abc", "abd"},
	{BF_KIND_STRING, "", 1, "", ""},
	{BF_KIND_STRING, "ab\x7f!", 3, "ab\x7f", "ab\xc2\x80"},
	{BF_KIND_STRING, "\xc3\xa9\xc3\xa9\xc3\xa9", 2, "\xc3\xa9\xc3\xa9", "\xc3\xa9\xc3\xaa"},
	/* What follows the last character that is no surrogate. */
	{BF_KIND_STRING, "a\xed\x9f\xbf!", 2, "a\xed\x9f\xbf", "a\xee\x80\x80"},
	{BF_KIND_STRING, "a\xf4\x8f\xbf\xbf!", 2, "a\xf4\x8f\xbf\xbf", "b"},
	{BF_KIND_STRING, "\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf!", 2, "\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf",
	 NULL},
	/* Bytes that are no text are left out above. */
	{BF_KIND_STRING, "a\xff!", 2, "a\xff", "b"},
	{BF_KIND_STRING, "a\xff!!", 3, "a\xff!", "a\xff\""},
	{BF_KIND_STRING, "a\xff\xff\xff", 2, "a\xff", "b"},
	{BF_KIND_STRING, "\xff\xff\xff", 2, "\xff\xff", NULL},
	{BF_KIND_BINARY, "abcd", 3, "abc", "abd"},
	{BF_KIND_BINARY, "ab\xff!", 3, "ab\xff", "ac"},
	{BF_KIND_BINARY, "\xff\xff\xff", 2, "\xff\xff", NULL},
	{BF_KIND_BINARY, "\xff\xff", 2, "\xff\xff", "\xff\xff"},
};

static bool
is_text(BfView v, const char *s)
{
	return v.len == strlen(s) && (v.len == 0 || memcmp(v.ptr, s, v.len) == 0);
}

static void
check_cut(const Cut *c, uint32_t bytes)
{
	BfType type = {.kind = c->kind};
	BfView v = view(c->value);
	BfVector vector = flat(type, &v, NULL, 1);
	BfBounds b;
	BfValue out;
	bool has;

	bf_bounds_init(&b, type, bytes);
	add(&b, &vector);
	bf_bounds_lower(&b, c->length, &out, &has);
	EXPECT(has && is_text(out.v.view, c->lower));
	REQUIRE_OK(bf_bounds_upper(test_arena(), &b, c->length, &out, &has, &test_err));
	EXPECT_EQ(has, c->upper != NULL);
	if (has && c->upper != NULL)
		EXPECT(is_text(out.v.view, c->upper));
}

TEST(vec_bounds_cut)
{
	for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++)
	{
		check_cut(&cuts[i], 1000);
		if (strcmp(cuts[i].value, "") != 0 && (uint8_t) cuts[i].value[1] != 0xff)
			check_cut(&cuts[i], BF_BOUNDS_TEXT_BYTES((uint32_t) cuts[i].length));
	}
}

/* Texts of few different bytes, so that many begin alike. */
static BfView
random_text(BfArena *a, bool text)
{
	static const char *const pieces[] = {"a",	"b", "\xc3\xa9", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf",
										 "\xff"};
	uint32_t n = 0;
	uint8_t *bytes = bf_arena_alloc(a, 40);

	for (uint64_t k = test_random_below(9); k > 0; k--)
	{
		const char *piece = pieces[test_random_below(text ? 5 : 6)];

		memcpy(bytes + n, piece, strlen(piece));
		n += (uint32_t) strlen(piece);
	}
	return (BfView){bytes, n};
}

static void
check_texts(BfType type, int32_t length, uint32_t kept)
{
	BfArena *a = test_arena();
	BfView values[30];
	uint64_t validity[BF_VALIDITY_WORDS];
	BfVector v = flat(type, values, validity, 30);
	BfBounds b;
	BfValue low, high;
	bool has_low, has_high;
	int32_t n_nulls = 0;

	memset(validity, 0xff, sizeof validity);
	for (int32_t i = 0; i < v.n; i++)
	{
		values[i] = random_text(a, type.kind == BF_KIND_STRING);
		if (test_random_below(4) != 0)
			continue;
		bf_validity_set(validity, i, false);
		n_nulls++;
	}
	bf_bounds_init(&b, type, kept);
	add(&b, &v);
	EXPECT_EQ(b.values, 30);
	EXPECT_EQ(b.nulls, n_nulls);
	bf_bounds_lower(&b, length, &low, &has_low);
	REQUIRE_OK(bf_bounds_upper(a, &b, length, &high, &has_high, &test_err));
	EXPECT_EQ(has_low, n_nulls < 30);
	for (int32_t i = 0; i < v.n; i++)
	{
		BfValue value = {.type = type, .v.view = values[i]};

		if (!bf_valid(validity, i))
			continue;
		EXPECT(bf_value_compare(&low, &value) <= 0);
		EXPECT(!has_high || bf_value_compare(&high, &value) >= 0);
	}
	if (has_high && type.kind == BF_KIND_STRING)
	{
		EXPECT(bf_bounds_prefix(high.v.view, true, length) == high.v.view.len);
		for (uint32_t i = 0; i < high.v.view.len;)
		{
			uint32_t size = bf_utf8_length(high.v.view.ptr + i, high.v.view.len - i);

			REQUIRE(size > 0);
			i += size;
		}
	}
}

TEST(vec_bounds_texts)
{
	for (int i = 0; i < 2000; i++)
	{
		int32_t length = 1 + (int32_t) test_random_below(6);

		check_texts(BF_TYPE(STRING), length, BF_BOUNDS_TEXT_BYTES((uint32_t) length));
		check_texts(BF_TYPE(BINARY), length, BF_BOUNDS_TEXT_BYTES((uint32_t) length));
	}
}

/* Several batches, some of them constant or codes. */
TEST(vec_bounds_forms)
{
	BfArena *a = test_arena();
	int64_t numbers[] = {5, -3, 9, 100};
	uint64_t some[BF_VALIDITY_WORDS] = {7}; /* not the last one */
	uint32_t codes[] = {1, 0, 1};
	int64_t words[] = {20, 30, 1000};
	BfVector v = flat(BF_TYPE(INT64), numbers, some, 4);
	BfVector dict = flat(BF_TYPE(INT64), words, NULL, 3);
	BfVector coded = {.type = BF_TYPE(INT64),
					  .storage = BF_STORE_I64,
					  .form = BF_VEC_DICT,
					  .n = 3,
					  .codes = codes,
					  .dict = &dict};
	BfVector null;
	BfBounds b;
	BfValue out;
	bool has;

	bf_bounds_init(&b, BF_TYPE(INT64), 0);
	bf_bounds_lower(&b, 0, &out, &has);
	EXPECT(!has);
	add(&b, &v);
	add(&b, &coded);
	bf_vector_set_null(&null, BF_TYPE(INT64), 8);
	add(&b, &null);
	EXPECT_EQ(b.values, 15);
	EXPECT_EQ(b.nulls, 9);
	bf_bounds_lower(&b, 16, &out, &has);
	EXPECT(has && out.v.i64 == -3);
	REQUIRE_OK(bf_bounds_upper(a, &b, 16, &out, &has, &test_err));
	EXPECT(has && out.v.i64 == 30);
}

TEST(vec_bounds_floats)
{
	double numbers[] = {NAN, 0.0, NAN, -0.0};
	double zeroes[] = {-0.0, 0.0};
	BfVector v = flat(BF_TYPE(FLOAT64), numbers, NULL, 1);
	BfBounds b;
	BfValue out;
	bool has;

	bf_bounds_init(&b, BF_TYPE(FLOAT64), 0);
	add(&b, &v);
	bf_bounds_lower(&b, 0, &out, &has);
	EXPECT(!has && b.nans == 1);
	for (int i = 0; i < 2; i++)
	{
		v = flat(BF_TYPE(FLOAT64), i == 0 ? numbers : zeroes, NULL, i == 0 ? 4 : 2);
		bf_bounds_init(&b, BF_TYPE(FLOAT64), 0);
		add(&b, &v);
		EXPECT_EQ(b.nans, i == 0 ? 2 : 0);
		bf_bounds_lower(&b, 0, &out, &has);
		EXPECT(has && out.v.f64 == 0 && signbit(out.v.f64));
		REQUIRE_OK(bf_bounds_upper(test_arena(), &b, 0, &out, &has, &test_err));
		EXPECT(has && out.v.f64 == 0 && !signbit(out.v.f64));
	}
}

/* What has no order is counted alone. */
TEST(vec_bounds_without_order)
{
	static const BfKind kinds[] = {BF_KIND_INTERVAL, BF_KIND_INT96, BF_KIND_GEOMETRY};
	BfView bytes[] = {view("abcdefghijkl"), view("bbcdefghijkl")};
	BfValue out;
	bool has;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
	{
		BfType type = {.kind = kinds[i]};
		BfVector v = flat(type, bytes, NULL, 2);
		BfBounds b;

		bf_bounds_init(&b, type, 100);
		add(&b, &v);
		bf_bounds_lower(&b, 0, &out, &has);
		EXPECT(!has && b.values == 2 && b.nulls == 0);
	}
}
