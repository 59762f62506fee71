/* The ground layer: status, arena, bounded bytes. */
#include "unit/lib/runner.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/lru.h"
#include "unit/lib/host_posix.h"

TEST(base_error_fills_once)
{
	EXPECT_EQ(bf_error_at(&test_err, BF_ERR_CORRUPT, 17, "%d things", 3), BF_ERR_CORRUPT);
	EXPECT_STR(test_err.text, "3 things");
	EXPECT_EQ(test_err.offset, 17);
	EXPECT_EQ(bf_error_object(&test_err, NULL), BF_ERR_CORRUPT);
	bf_error_object(&test_err, "inner");
	bf_error_object(&test_err, "outer");
	EXPECT_STR(test_err.object, "inner");
	bf_error_column(&test_err, NULL);
	bf_error_column(&test_err, "c");
	bf_error_column(&test_err, "d");
	EXPECT_STR(test_err.column, "c");
	bf_error_clear(&test_err);
	EXPECT(test_err.code == BF_OK && test_err.offset == -1 && test_err.text[0] == '\0');
}

TEST(base_error_from_errno)
{
	static const struct
	{
		int sys_errno;
		BfStatus code;
	} cases[] = {{ENOENT, BF_ERR_NOTFOUND}, {ENOTDIR, BF_ERR_NOTFOUND}, {EACCES, BF_ERR_AUTH},
				 {EPERM, BF_ERR_AUTH},		{ENOMEM, BF_ERR_NOMEM},		{EIO, BF_ERR_IO}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		EXPECT_EQ(bf_error_errno(&test_err, cases[i].sys_errno, "f", "open"), cases[i].code);
		EXPECT_EQ(test_err.sys_errno, cases[i].sys_errno);
		EXPECT_STR(test_err.object, "f");
		EXPECT(strstr(test_err.text, "could not open: ") == test_err.text);
	}
}

TEST(base_error_long_names_are_cut)
{
	char name[3000];

	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	bf_error(&test_err, BF_ERR_IO, "%s", name);
	bf_error_object(&test_err, name);
	bf_error_column(&test_err, name);
	EXPECT_EQ(strlen(test_err.text), BF_ERROR_TEXT_MAX - 1);
	EXPECT_EQ(strlen(test_err.object), BF_ERROR_OBJECT_MAX - 1);
	EXPECT_EQ(strlen(test_err.column), BF_ERROR_COLUMN_MAX - 1);
}

TEST(base_status_names)
{
	for (int i = 0; i < BF_STATUS_COUNT; i++)
		EXPECT(strlen(bf_status_name((BfStatus) i)) >= 2);
	EXPECT_STR(bf_status_name(BF_ERR_CORRUPT), "CORRUPT");
	EXPECT_STR(bf_status_name(BF_STATUS_COUNT), "?");
}

static BfStatus
never(int *evaluated)
{
	(*evaluated)++;
	return BF_OK;
}

static BfStatus
use_checks(int which, int *evaluated, BfError *err)
{
	BF_NEVER(err, never(evaluated) != BF_OK);
	if (which == 1)
		BF_FAIL(err, BF_ERR_LIMIT, "limit %d", which);
	if (which == 2)
		BF_FAIL_AT(err, BF_ERR_VALUE, 9, "value");
	BF_DATA(err, which != 3, 33, "data");
	return BF_OK;
}

TEST(base_check_macros)
{
	int evaluated = 0;

	EXPECT_EQ(use_checks(0, &evaluated, &test_err), BF_OK);
	EXPECT_EQ(evaluated, 1);
	EXPECT_FAIL(use_checks(1, &evaluated, &test_err), BF_ERR_LIMIT, -1);
	EXPECT_FAIL(use_checks(2, &evaluated, &test_err), BF_ERR_VALUE, 9);
	EXPECT_FAIL(use_checks(3, &evaluated, &test_err), BF_ERR_CORRUPT, 33);
}

TEST(base_arena_copies)
{
	BfArena *a = test_arena();

	EXPECT_STR(bf_arena_strdup(a, "abc"), "abc");
	EXPECT_STR(bf_arena_strndup(a, "abcdef", 2), "ab");
	EXPECT_STR(bf_arena_strndup(a, NULL, 0), "");
	EXPECT_STR(bf_arena_printf(a, "%d-%s", 7, "x"), "7-x");
	EXPECT(memcmp(bf_arena_memdup(a, "\1\2", 2), "\1\2", 2) == 0);
	EXPECT(bf_arena_memdup(a, NULL, 0) != NULL);
	EXPECT(bf_arena_host(a) == test_host());
	bf_arena_free(NULL);
}

TEST(base_arena_alignment_and_growth)
{
	BfArena *a = test_arena();
	size_t before = bf_arena_bytes(a);

	for (size_t n = 0; n < 3000; n++)
	{
		uint8_t *p = bf_arena_alloc(a, n);

		REQUIRE(p != NULL);
		EXPECT_EQ((uintptr_t) p % 16, 0);
		memset(p, 0xaa, n);
	}
	EXPECT(bf_arena_bytes(a) >= before + 3000 * 2999 / 2);
	EXPECT(bf_arena_alloc(a, (size_t) 3 << 20) != NULL);
}

TEST(base_arena_limit)
{
	BfArena *a = bf_arena_new(test_host(), "small", 10000);

	EXPECT(bf_arena_alloc(a, 5000) != NULL);
	EXPECT(bf_arena_alloc(a, 20000) == NULL);
	EXPECT_FAIL(bf_arena_fail(a, 20000, &test_err), BF_ERR_LIMIT, -1);
	EXPECT(strstr(test_err.text, "small") != NULL);
	EXPECT(bf_arena_alloc(a, SIZE_MAX) == NULL);
	EXPECT_FAIL(bf_arena_fail(a, SIZE_MAX, &test_err), BF_ERR_LIMIT, -1);
	EXPECT(bf_arena_alloc_array(a, SIZE_MAX / 2, 3) == NULL);
	EXPECT(bf_arena_alloc_array(a, 10, 10) != NULL);
	EXPECT(bf_arena_strdup(a, "still works") != NULL);
	bf_arena_free(a);
}

static char order[16];

static void
note(void *arg)
{
	strncat(order, arg, sizeof order - strlen(order) - 1);
}

TEST(base_arena_hooks_and_rewind)
{
	BfArena *a = test_arena();
	BfArenaMark start, mark;
	char *kept;

	order[0] = '\0';
	start = bf_arena_mark(a);
	EXPECT(bf_arena_on_cleanup(a, note, "a"));
	kept = bf_arena_strdup(a, "kept");
	mark = bf_arena_mark(a);
	EXPECT(bf_arena_on_cleanup(a, note, "b"));
	EXPECT(bf_arena_on_cleanup(a, note, "c"));
	EXPECT(bf_arena_alloc(a, 100000) != NULL);
	bf_arena_rewind(a, mark);
	EXPECT_STR(order, "cb");
	EXPECT_STR(kept, "kept");
	EXPECT(bf_arena_on_cleanup(a, note, "d"));
	bf_arena_reset(a);
	EXPECT_STR(order, "cbda");
	EXPECT(bf_arena_alloc(a, 10) != NULL);
	bf_arena_reset(a);
	(void) start;
	start = bf_arena_mark(a);
	EXPECT(bf_arena_alloc(a, 10) != NULL);
	bf_arena_rewind(a, start);
}

static BfStatus
arena_scenario(const BfHost *h, BfError *err)
{
	BfArena *a = bf_arena_new(h, "scenario", 1 << 20);
	BfStatus s = BF_OK;
	char *text;
	int *numbers;
	BfBuffer *b;

	if (a == NULL)
		return bf_error(err, BF_ERR_NOMEM, "no arena");
	text = bf_arena_printf(a, "%d", 1);
	numbers = bf_arena_alloc_array(a, 1000, sizeof *numbers);
	if (text == NULL || numbers == NULL || bf_arena_strdup(a, "x") == NULL)
		s = bf_arena_fail(a, 0, err);
	if (s == BF_OK)
		s = bf_buffer_new(a, 1 << 20, &b, err);
	if (s == BF_OK)
		s = bf_buffer_append(b, "0123456789", 10, err);
	if (s == BF_OK)
		s = bf_buffer_reserve(b, 5000, err);
	bf_arena_free(a);
	return s;
}

TEST(base_allocation_faults)
{
	for (int64_t call = 1;; call++)
	{
		TestHost h;
		BfStatus s;

		test_host_init(&h);
		test_fault_arm(&h, TEST_FAULT_ALLOC, call, false);
		s = arena_scenario(&h.host, &test_err);
		EXPECT_EQ(h.live_allocs, 0);
		if (!test_fault_fired(&h))
		{
			EXPECT_EQ(s, BF_OK);
			EXPECT(call > 3);
			break;
		}
		EXPECT_EQ(s, BF_ERR_NOMEM);
	}
}

static BfStatus
new_zeroed(BfArena *a, size_t n, uint64_t **out, BfError *err)
{
	uint64_t *p, *raw;
	char *s;

	BF_NEW(a, p, n, err);
	BF_NEW_RAW(a, raw, n, err);
	BF_TRY_PTR(a, s, bf_arena_strdup(a, "x"), err);
	*out = p;
	return BF_OK;
}

TEST(base_new_macros)
{
	BfArena *a = test_arena(), *small = bf_arena_new(test_host(), "small", 4000);
	uint64_t *p;

	REQUIRE_OK(new_zeroed(a, 100, &p, &test_err));
	EXPECT(p[0] == 0 && p[99] == 0);
	EXPECT_EQ(new_zeroed(small, 1000, &p, &test_err), BF_ERR_LIMIT); /* at the first */
	EXPECT_EQ(new_zeroed(small, 300, &p, &test_err), BF_ERR_LIMIT);	 /* at the second */
	bf_arena_reset(small);
	EXPECT_EQ(new_zeroed(small, 250, &p, &test_err), BF_ERR_LIMIT); /* at the third */
	EXPECT_EQ(new_zeroed(small, SIZE_MAX / 4, &p, &test_err), BF_ERR_LIMIT);
	bf_arena_free(small);
}

TEST(base_cursor_fixed_sizes)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	BfCursor c;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	const uint8_t *p;

	c = bf_cursor(bytes, 9, 100);
	REQUIRE_OK(bf_cursor_u8(&c, &u8, &test_err));
	REQUIRE_OK(bf_cursor_u16be(&c, &u16, &test_err));
	EXPECT_EQ(u8, 1);
	EXPECT_EQ(u16, 0x0203);
	REQUIRE_OK(bf_cursor_u32le(&c, &u32, &test_err));
	EXPECT_EQ(u32, 0x07060504);
	EXPECT_EQ(bf_cursor_offset(&c), 107);
	EXPECT_EQ(bf_cursor_left(&c), 2);
	EXPECT_FAIL(bf_cursor_u32be(&c, &u32, &test_err), BF_ERR_CORRUPT, 107);
	EXPECT_FAIL(bf_cursor_u64le(&c, &u64, &test_err), BF_ERR_CORRUPT, 107);
	EXPECT_FAIL(bf_cursor_take(&c, 3, &p, &test_err), BF_ERR_CORRUPT, 107);
	EXPECT_FAIL(bf_cursor_skip(&c, SIZE_MAX, &test_err), BF_ERR_CORRUPT, 107);
	REQUIRE_OK(bf_cursor_take(&c, 2, &p, &test_err));
	EXPECT(p == bytes + 7);
	REQUIRE_OK(bf_cursor_skip(&c, 0, &test_err));
	EXPECT_FAIL(bf_cursor_u8(&c, &u8, &test_err), BF_ERR_CORRUPT, 109);
	EXPECT_FAIL(bf_cursor_u16be(&c, &u16, &test_err), BF_ERR_CORRUPT, 109);
	EXPECT_FAIL(bf_cursor_u32le(&c, &u32, &test_err), BF_ERR_CORRUPT, 109);

	c = bf_cursor(bytes, 8, 0);
	REQUIRE_OK(bf_cursor_u64be(&c, &u64, &test_err));
	EXPECT_EQ(u64, INT64_C(0x0102030405060708));
	EXPECT_FAIL(bf_cursor_u64be(&c, &u64, &test_err), BF_ERR_CORRUPT, 8);
	c = bf_cursor(bytes, 8, 0);
	REQUIRE_OK(bf_cursor_u64le(&c, &u64, &test_err));
	EXPECT_EQ(u64, INT64_C(0x0807060504030201));
	c = bf_cursor(bytes, 4, 0);
	REQUIRE_OK(bf_cursor_u32be(&c, &u32, &test_err));
	EXPECT_EQ(u32, 0x01020304);
	c = bf_cursor(NULL, 0, 5);
	EXPECT_FAIL(bf_cursor_u8(&c, &u8, &test_err), BF_ERR_CORRUPT, 5);
}

TEST(base_varint_cases)
{
	static const struct
	{
		const char *bytes;
		size_t n;
		bool ok;
		uint64_t value;
	} cases[] = {
		{"\x00", 1, true, 0},
		{"\x7f", 1, true, 127},
		{"\x80\x01", 2, true, 128},
		{"\x80\x00", 2, true, 0}, /* not the shortest form, but readable */
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, true, UINT64_MAX},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, false, 0},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, false, 0},
		{"", 0, false, 0},
		{"\x80", 1, false, 0},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9, false, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfCursor c = bf_cursor(cases[i].bytes, cases[i].n, 50);
		uint64_t v = 0;

		if (cases[i].ok)
		{
			REQUIRE_OK(bf_cursor_uvarint(&c, &v, &test_err));
			EXPECT_EQ(v, cases[i].value);
			EXPECT_EQ(bf_cursor_left(&c), 0);
		}
		else
		{
			EXPECT_FAIL(bf_cursor_uvarint(&c, &v, &test_err), BF_ERR_CORRUPT, 50);
			EXPECT_EQ(bf_cursor_left(&c), cases[i].n);
		}
	}
}

TEST(base_varint_round_trip)
{
	for (int i = 0; i < 2000; i++)
	{
		int64_t v = (int64_t) (test_random() >> test_random_below(64)), got;
		int32_t got32;
		uint8_t bytes[10];
		size_t n;
		BfCursor c;

		if (i % 2 == 0)
			v = -v;
		n = bf_put_uvarint(bytes, bf_zigzag(v));
		c = bf_cursor(bytes, n, 0);
		REQUIRE_OK(bf_cursor_varint(&c, &got, &test_err));
		EXPECT_EQ(got, v);
		c = bf_cursor(bytes, n, 0);
		if (v >= INT32_MIN && v <= INT32_MAX)
		{
			REQUIRE_OK(bf_cursor_varint32(&c, &got32, &test_err));
			EXPECT_EQ(got32, v);
		}
		else
			EXPECT_FAIL(bf_cursor_varint32(&c, &got32, &test_err), BF_ERR_CORRUPT, 0);
		c = bf_cursor(bytes, n - 1, 0);
		EXPECT_FAIL(bf_cursor_varint32(&c, &got32, &test_err), BF_ERR_CORRUPT, 0);
		EXPECT_FAIL(bf_cursor_varint(&c, &got, &test_err), BF_ERR_CORRUPT, 0);
	}
	EXPECT_EQ(bf_unzigzag(bf_zigzag(INT64_MIN)), INT64_MIN);
	EXPECT_EQ(bf_zigzag(-1), 1);
}

TEST(base_buffer_writes)
{
	BfBuffer b;
	BfCursor c;
	uint8_t u8;
	uint32_t u32;
	uint64_t u64;
	int64_t i64;

	bf_buffer_init(&b, test_host(), 1000);
	EXPECT_EQ(bf_buffer_append(&b, NULL, 0, &test_err), BF_OK);
	EXPECT_EQ(bf_buffer_u8(&b, 0xab, &test_err), BF_OK);
	EXPECT_EQ(bf_buffer_u32be(&b, 0x01020304, &test_err), BF_OK);
	EXPECT_EQ(bf_buffer_u64be(&b, UINT64_MAX - 1, &test_err), BF_OK);
	EXPECT_EQ(bf_buffer_uvarint(&b, 300, &test_err), BF_OK);
	EXPECT_EQ(bf_buffer_varint(&b, -300, &test_err), BF_OK);
	EXPECT_EQ(bf_buffer_printf(&b, &test_err, "%s", "tail"), BF_OK);
	c = bf_cursor(b.data, b.len, 0);
	EXPECT(bf_cursor_u8(&c, &u8, &test_err) == BF_OK && u8 == 0xab);
	EXPECT(bf_cursor_u32be(&c, &u32, &test_err) == BF_OK && u32 == 0x01020304);
	EXPECT(bf_cursor_u64be(&c, &u64, &test_err) == BF_OK && u64 == UINT64_MAX - 1);
	EXPECT(bf_cursor_uvarint(&c, &u64, &test_err) == BF_OK && u64 == 300);
	EXPECT(bf_cursor_varint(&c, &i64, &test_err) == BF_OK && i64 == -300);
	EXPECT(bf_cursor_left(&c) == 4 && memcmp(c.pos, "tail", 4) == 0);
	bf_buffer_free(&b);
	bf_buffer_free(&b);
}

TEST(base_buffer_limit)
{
	BfBuffer b;
	uint8_t block[100] = {7};

	bf_buffer_init(&b, test_host(), 1000);
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(bf_buffer_append(&b, block, 100, &test_err), BF_OK);
	EXPECT_FAIL(bf_buffer_u8(&b, 1, &test_err), BF_ERR_LIMIT, -1);
	EXPECT_FAIL(bf_buffer_uvarint(&b, 1, &test_err), BF_ERR_LIMIT, -1);
	EXPECT_FAIL(bf_buffer_printf(&b, &test_err, "x"), BF_ERR_LIMIT, -1);
	EXPECT_FAIL(bf_buffer_reserve(&b, SIZE_MAX, &test_err), BF_ERR_LIMIT, -1);
	EXPECT(b.len == 1000 && b.cap == 1000 && b.data[900] == 7);
	bf_buffer_free(&b);
}

/* Also where the limit is less than what a buffer begins with. */
TEST(base_buffer_small_limits)
{
	for (size_t max = 0; max < 600; max += 7)
	{
		BfBuffer b;

		bf_buffer_init(&b, test_host(), max);
		for (size_t i = 0; i < max; i++)
			REQUIRE_OK(bf_buffer_u8(&b, 1, &test_err));
		EXPECT_FAIL(bf_buffer_u8(&b, 1, &test_err), BF_ERR_LIMIT, -1);
		EXPECT(b.len == max && b.cap <= max);
		bf_buffer_free(&b);
	}
}

TEST(base_store_and_load)
{
	uint8_t p[8];

	bf_store16be(p, 0x0102);
	EXPECT(p[0] == 1 && bf_load16be(p) == 0x0102 && bf_load16le(p) == 0x0201);
	bf_store32le(p, 0x01020304);
	EXPECT(p[0] == 4 && bf_load32le(p) == 0x01020304);
	bf_store32be(p, 0x01020304);
	EXPECT(p[0] == 1 && bf_load32be(p) == 0x01020304);
	bf_store64le(p, UINT64_C(0x0102030405060708));
	EXPECT(p[0] == 8 && bf_load64le(p) == UINT64_C(0x0102030405060708));
	bf_store64be(p, UINT64_C(0x0102030405060708));
	EXPECT(p[0] == 1 && bf_load64be(p) == UINT64_C(0x0102030405060708));
}

static int released;

static void
count_release(BfLruItem *item)
{
	(void) item;
	released++;
}

static BfLruItem *
kept(BfLru *l, const char *path)
{
	BfLruItem *item = NULL;

	if (bf_lru_item_new(l, "test", path, sizeof *item, 1 << 20, &item, &test_err) == BF_OK)
		bf_lru_insert(l, item);
	return item;
}

TEST(lru_lets_go_of_what_was_not_used_but_not_of_what_is_held)
{
	BfLru l;
	BfArena *holder = bf_arena_new(test_host(), "holder", 1 << 20);
	BfLruItem *a, *b, *again;

	released = 0;
	bf_lru_init(&l, test_host(), 1 << 20, count_release);
	a = kept(&l, "a");
	b = kept(&l, "b");
	again = kept(&l, "a");
	REQUIRE(a != NULL && b != NULL && again != NULL);
	EXPECT_EQ(l.n, 3);
	EXPECT_EQ(l.bytes, a->bytes + b->bytes + again->bytes);
	EXPECT(l.oldest == a && l.newest == again);
	bf_lru_touch(&l, a);
	EXPECT(l.oldest == b && l.newest == a);
	EXPECT(bf_lru_find(&l, "a", NULL) == again);
	EXPECT(bf_lru_find(&l, "a", again) == a);
	EXPECT(bf_lru_find(&l, "a", a) == NULL);
	EXPECT(bf_lru_find(&l, "c", NULL) == NULL);

	EXPECT_EQ(bf_lru_hold(b, holder, &test_err), BF_OK);
	EXPECT_EQ(bf_lru_hold(b, holder, &test_err), BF_OK);
	bf_lru_evict(&l, b);
	EXPECT_EQ(released, 0);
	EXPECT_STR(b->path, "b");
	EXPECT(bf_lru_find(&l, "b", NULL) == NULL);
	bf_lru_clear(&l);
	EXPECT_EQ(released, 2);
	EXPECT_EQ(l.n, 0);
	bf_arena_free(holder);
	EXPECT_EQ(released, 3);
}

TEST(lru_trims_what_nobody_holds_and_never_the_newest)
{
	BfArena *holder = bf_arena_new(test_host(), "holder", 1 << 20);
	BfLruItem *a, *b, *c;
	BfLru l;

	bf_lru_init(&l, test_host(), 1 << 20, NULL);
	a = kept(&l, "a");
	b = kept(&l, "b");
	c = kept(&l, "c");
	bf_lru_pin(a);
	EXPECT_EQ(bf_lru_hold(b, holder, &test_err), BF_OK);
	bf_lru_trim(&l, 1);
	/* Held are the oldest two; the newest is never taken. */
	EXPECT_EQ(l.n, 3);
	bf_lru_unpin(a);
	bf_lru_trim(&l, 2);
	EXPECT(bf_lru_find(&l, "a", NULL) == NULL);
	EXPECT(bf_lru_find(&l, "b", NULL) == b);
	bf_lru_touch(&l, b);
	bf_lru_grow(&l, c, 1 << 20);
	EXPECT_EQ(l.bytes, b->bytes + c->bytes);
	bf_lru_trim(&l, 2);
	EXPECT(bf_lru_find(&l, "c", NULL) == NULL);
	EXPECT_EQ(l.bytes, b->bytes);
	bf_lru_clear(&l);
	bf_arena_free(holder);
}

TEST(lru_items_respect_the_bound_of_their_arena)
{
	BfLru l;
	BfLruItem *item;

	bf_lru_init(&l, test_host(), 1 << 20, NULL);
	EXPECT_EQ(bf_lru_item_new(&l, "test", "a", 4096, 100, &item, &test_err), BF_ERR_LIMIT);
	EXPECT(item == NULL);
	bf_error_clear(&test_err);
	EXPECT_EQ(bf_lru_item_new(&l, "test", "a", 64 + sizeof *item, 1 << 20, &item, &test_err),
			  BF_OK);
	bf_lru_item_drop(item);
	bf_lru_clear(&l);
}

/* Every number that both forms hold comes back, whatever repeats of the sign stand before it. */
TEST(base_view_i128)
{
	static const struct
	{
		const char *bytes;
		uint32_t n;
		bool fits;
		int64_t high;
		uint64_t low;
	} cases[] = {
		{"", 0, false, 0, 0},
		{"\x00", 1, true, 0, 0},
		{"\x7f", 1, true, 0, 127},
		{"\x80", 1, true, -1, UINT64_MAX - 127},
		{"\xff\xff\xfe", 3, true, -1, UINT64_MAX - 1},
		{"\x00\x80", 2, true, 0, 128},
		{"\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16, true, INT64_MAX,
		 UINT64_MAX},
		{"\x00\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 17, true,
		 INT64_MAX, UINT64_MAX},
		{"\x00\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17, false, 0, 0},
		{"\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17, true, INT64_MIN, 0},
		{"\xff\x7f\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17, false, 0, 0},
		{"\x01\x00\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17, false, 0, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfView v = {(const uint8_t *) cases[i].bytes, cases[i].n};
		bf_i128 n = 42;

		EXPECT(bf_view_i128(v, &n) == cases[i].fits);
		if (!cases[i].fits)
			EXPECT(n == 42);
		else
			EXPECT(n == (bf_i128) ((bf_u128) (uint64_t) cases[i].high << 64 | cases[i].low));
	}
}
