/* The hash table, against a model that looks through all keys. */
#include "unit/lib/runner.h"

#include "base/map.h"
#include "unit/lib/host_posix.h"

#define MODEL_MAX 3000

typedef struct Model
{
	int32_t n;
	struct
	{
		bool is_number;
		int64_t number;
		size_t len;
		uint8_t bytes[24];
		int64_t value;
	} keys[MODEL_MAX];
} Model;

static int32_t
model_find(const Model *m, bool is_number, int64_t number, const uint8_t *bytes, size_t len)
{
	for (int32_t i = 0; i < m->n; i++)
		if (m->keys[i].is_number == is_number &&
			(is_number ? m->keys[i].number == number
					   : m->keys[i].len == len && memcmp(m->keys[i].bytes, bytes, len) == 0))
			return i;
	return -1;
}

static BfStatus
put_one(BfMap *m, bool is_number, int64_t number, const uint8_t *bytes, size_t len, int64_t fresh,
		int64_t **value)
{
	if (is_number)
		return bf_map_put_number(m, number, fresh, value, &test_err);
	return bf_map_put(m, bytes, len, bf_map_hash(m, bytes, len), fresh, value, &test_err);
}

/* Few different keys, so that many come again; some numbers have the bytes of other keys. */
static void
run_against_model(uint64_t seed, int rounds)
{
	static Model model;
	BfMap m;

	model.n = 0;
	bf_map_init(&m, test_arena(), seed);
	for (int r = 0; r < rounds; r++)
	{
		bool is_number = test_random_below(3) == 0;
		int64_t number = (int64_t) test_random_below(500) << (test_random_below(2) * 40);
		uint8_t bytes[24];
		size_t len = test_random_below(2) == 0 ? sizeof number : test_random_below(sizeof bytes);
		int64_t *value;
		int64_t *found;
		int32_t at;

		memset(bytes, (int) test_random_below(40), sizeof bytes);
		if (len == sizeof number)
			memcpy(bytes, &number, sizeof number);
		at = model_find(&model, is_number, number, bytes, len);
		found = is_number ? bf_map_find_number(&m, number)
						  : bf_map_find(&m, bytes, len, bf_map_hash(&m, bytes, len));
		REQUIRE((at >= 0) == (found != NULL));
		if (found != NULL)
			EXPECT_EQ(*found, model.keys[at].value);
		REQUIRE_OK(put_one(&m, is_number, number, bytes, len, r, &value));
		if (at < 0)
		{
			REQUIRE(model.n < MODEL_MAX);
			at = model.n++;
			model.keys[at].is_number = is_number;
			model.keys[at].number = number;
			model.keys[at].len = len;
			memcpy(model.keys[at].bytes, bytes, sizeof bytes);
			model.keys[at].value = r;
		}
		EXPECT_EQ(*value, model.keys[at].value);
		*value = model.keys[at].value = r * 2;
		EXPECT_EQ(m.n, model.n);
	}
}

TEST(base_map_is_the_model)
{
	for (uint64_t seed = 0; seed < 3; seed++)
		run_against_model(seed * UINT64_C(0x123456789abcdef), 4000);
}

/* Keys of every length, the empty one too, and many. */
TEST(base_map_many_keys)
{
	BfArena *a = bf_arena_new(test_host(), "map", (size_t) 1 << 28);
	BfMap m;

	bf_map_init(&m, a, 1);
	for (int round = 0; round < 2; round++)
		for (int64_t i = 0; i < 20000; i++)
		{
			uint8_t key[40];
			size_t n = (size_t) (i % 33);
			int64_t *value;

			memset(key, 7, sizeof key);
			if (n >= 8)
				memcpy(key, &i, sizeof i);
			REQUIRE_OK(bf_map_put(&m, key, n, bf_map_hash(&m, key, n), i, &value, &test_err));
			EXPECT_EQ(*value, n >= 8 ? i : (int64_t) n);
			EXPECT(bf_map_find(&m, key, n, bf_map_hash(&m, key, n)) == value);
			key[39] = 1;
			EXPECT(bf_map_find(&m, key, 40, bf_map_hash(&m, key, 40)) == NULL);
		}
	bf_arena_free(a);
}

TEST(base_map_empty)
{
	BfMap m;
	int64_t *value;

	bf_map_init(&m, test_arena(), 7);
	bf_map_prefetch(&m, 12345);
	EXPECT(bf_map_find(&m, "x", 1, bf_map_hash(&m, "x", 1)) == NULL);
	EXPECT(bf_map_find_number(&m, 0) == NULL);
	bf_map_clear(&m);
	REQUIRE_OK(bf_map_reserve(&m, 0, &test_err));
	EXPECT_EQ(m.n_slots, 1);
	/* No bytes at all are a key too, and not the number 0. */
	REQUIRE_OK(bf_map_put(&m, NULL, 0, bf_map_hash(&m, NULL, 0), 5, &value, &test_err));
	EXPECT(bf_map_find_number(&m, 0) == NULL);
	REQUIRE_OK(bf_map_put(&m, "", 0, bf_map_hash(&m, "", 0), 6, &value, &test_err));
	EXPECT(*value == 5 && m.n == 1);
}

TEST(base_map_numbers_keys_in_their_order)
{
	BfMap m;
	int64_t *value;

	bf_map_init(&m, test_arena(), 0);
	for (int64_t i = 0; i < 1000; i++)
	{
		REQUIRE_OK(bf_map_put_number(&m, i * i % 1009, m.n, &value, &test_err));
		EXPECT(*value <= i && *value < m.n);
	}
	for (int64_t i = 0, n = 0; i < 1000; i++)
	{
		value = bf_map_find_number(&m, i * i % 1009);
		REQUIRE(value != NULL && *value <= n);
		n += *value == n;
	}
}

/* All hashes are the same: slow, and still right. */
TEST(base_map_keys_of_one_hash)
{
	BfMap m;
	int64_t *value;

	bf_map_init(&m, test_arena(), 0);
	for (uint32_t i = 0; i < 300; i++)
		REQUIRE_OK(bf_map_put(&m, &i, sizeof i, 42, i, &value, &test_err));
	for (uint32_t i = 0; i < 600; i++)
	{
		value = bf_map_find(&m, &i, sizeof i, 42);
		EXPECT((value != NULL) == (i < 300));
		EXPECT(value == NULL || *value == i);
	}
}

/* Numbers that differ in a few bits alone, and low ones, don't crowd: the longest run of taken
 * slots stays short. */
TEST(base_map_numbers_spread)
{
	for (int shift = 0; shift < 64; shift += 8)
	{
		BfMap m;
		int64_t *value;
		uint32_t run = 0, longest = 0;

		bf_map_init(&m, test_arena(), 99);
		for (uint64_t i = 0; i < 256; i++)
			REQUIRE_OK(bf_map_put_number(&m, (int64_t) (i << shift), 0, &value, &test_err));
		for (uint32_t i = 0; i < m.n_slots; i++)
		{
			run = m.slots[i].tag != 0 ? run + 1 : 0;
			longest = run > longest ? run : longest;
		}
		EXPECT(longest < 64);
	}
}

TEST(base_map_seeds_differ)
{
	EXPECT(bf_hash(1, "path", 4) != bf_hash(2, "path", 4));
	EXPECT(bf_hash(1, "path", 4) == bf_hash(1, "path", 4));
	EXPECT(bf_hash(1, "path", 4) != bf_hash(1, "path", 3));
}

TEST(base_map_borrows_or_copies)
{
	BfMap m;
	char text[] = "abc";
	int64_t *value;
	uint64_t hash;

	bf_map_init(&m, test_arena(), 3);
	hash = bf_map_hash(&m, text, 3);
	REQUIRE_OK(bf_map_put(&m, text, 3, hash, 1, &value, &test_err));
	text[0] = 'x';
	EXPECT(bf_map_find(&m, "abc", 3, hash) != NULL);
	hash = bf_map_hash(&m, text, 3);
	REQUIRE_OK(bf_map_put_borrowed(&m, text, 3, hash, 2, &value, &test_err));
	EXPECT(bf_map_find(&m, "xbc", 3, hash) != NULL);
	text[0] = 'y';
	EXPECT(bf_map_find(&m, "xbc", 3, hash) == NULL);
	text[0] = 'x';
	bf_map_clear(&m);
	EXPECT(m.n == 0 && bf_map_find(&m, "abc", 3, bf_map_hash(&m, "abc", 3)) == NULL);
	REQUIRE_OK(bf_map_put(&m, "abc", 3, bf_map_hash(&m, "abc", 3), 9, &value, &test_err));
	EXPECT_EQ(*value, 9);
}

TEST(base_map_limits)
{
	BfArena *small = bf_arena_new(test_host(), "small", 4096);
	BfMap m;
	int64_t *value;
	uint32_t n;

	REQUIRE(small != NULL);
	bf_map_init(&m, small, 0);
	EXPECT_FAIL(bf_map_reserve(&m, UINT64_MAX, &test_err), BF_ERR_LIMIT, -1);
	EXPECT_FAIL(bf_map_reserve(&m, (uint64_t) BF_MAP_KEYS_MAX + 1, &test_err), BF_ERR_LIMIT, -1);
	EXPECT_FAIL(bf_map_reserve(&m, 1000, &test_err), BF_ERR_LIMIT, -1);
	EXPECT_FAIL(bf_map_put(&m, "", UINT32_MAX, 1, 0, &value, &test_err), BF_ERR_LIMIT, -1);
	EXPECT(bf_map_find(&m, "", UINT32_MAX, 1) == NULL);
	for (n = 0; bf_map_put_number(&m, n, n, &value, &test_err) == BF_OK;)
		n++;
	/* What was put before the failure is there, what failed is not. */
	EXPECT(test_err.code == BF_ERR_LIMIT && n >= 12 && m.n == n);
	for (uint32_t i = 0; i < n; i++)
		EXPECT(bf_map_find_number(&m, i) != NULL);
	EXPECT(bf_map_find_number(&m, n) == NULL);
	bf_arena_free(small);
}

TEST(base_map_reserve_is_enough)
{
	BfMap m;
	int64_t *value;

	for (uint64_t n = 1; n < 200; n += 7)
	{
		uint32_t n_slots;

		bf_map_init(&m, test_arena(), 0);
		REQUIRE_OK(bf_map_reserve(&m, n, &test_err));
		n_slots = m.n_slots;
		EXPECT(4 * n <= 3 * n_slots && (n_slots == 16 || 4 * n > 3 * n_slots / 2));
		for (uint64_t i = 0; i < n; i++)
			REQUIRE_OK(bf_map_put_number(&m, (int64_t) i, 0, &value, &test_err));
		EXPECT_EQ(m.n_slots, n_slots);
	}
}

static BfStatus
fill(const BfHost *host, BfMap *m, BfArena **arena, BfError *err)
{
	int64_t *value;

	*arena = bf_arena_new(host, "map", SIZE_MAX / 4);
	if (*arena == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "arena");
	bf_map_init(m, *arena, 5);
	BF_TRY(bf_map_reserve(m, 20, err));
	for (uint32_t i = 0; i < 200; i++)
	{
		uint8_t key[40] = {(uint8_t) i};
		size_t n = 1 + i % 40;

		BF_TRY(bf_map_put(m, key, n, bf_map_hash(m, key, n), i, &value, err));
	}
	return BF_OK;
}

TEST(base_map_faults)
{
	static const TestFault faults[] = {TEST_FAULT_ALLOC, TEST_FAULT_CANCEL};

	for (size_t f = 0; f < 2; f++)
		for (int64_t call = 1;; call++)
		{
			TestHost h;
			BfArena *arena;
			BfMap m;
			BfStatus s;

			test_host_init(&h);
			test_fault_arm(&h, faults[f], call, false);
			s = fill(&h.host, &m, &arena, &test_err);
			for (uint32_t i = 0; arena != NULL && i < m.n; i++)
			{
				uint8_t key[40] = {(uint8_t) i};
				size_t n = 1 + i % 40;

				EXPECT(bf_map_find(&m, key, n, bf_map_hash(&m, key, n)) != NULL);
			}
			bf_arena_free(arena);
			EXPECT_EQ(h.live_allocs, 0);
			if (!test_fault_fired(&h))
			{
				EXPECT(s == BF_OK && m.n == 200 && call > 2);
				break;
			}
			EXPECT_EQ(s, faults[f] == TEST_FAULT_ALLOC ? BF_ERR_NOMEM : BF_ERR_CANCEL);
		}
}
