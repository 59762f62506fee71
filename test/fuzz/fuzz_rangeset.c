/* Range sets and coverage from any text, and the laws of their operations. The text before the
 * first '|' is one set, what follows another; the whole is tried as coverage. */
#include "fuzz/fuzz.h"

#include "log/rangeset.h"

static BfView
formatted(BfArena *a, const BfRangeSet *s)
{
	BfBuffer *b;
	BfError err;

	FUZZ_CHECK(bf_buffer_new(a, (size_t) 1 << 26, &b, &err) == BF_OK);
	FUZZ_CHECK(bf_rangeset_format(s, b, &err) == BF_OK);
	return (BfView){b->data, (uint32_t) b->len};
}

static void
check_canonical(const BfRangeSet *s)
{
	for (int32_t i = 0; i < s->n; i++)
	{
		FUZZ_CHECK(s->ranges[i].first >= 0 && s->ranges[i].first <= s->ranges[i].last);
		FUZZ_CHECK(s->ranges[i].last <= BF_ENTRY_MAX);
		FUZZ_CHECK(i == 0 || s->ranges[i].first > s->ranges[i - 1].last + 1);
	}
}

static bool
parsed(BfArena *a, const char *text, size_t n, BfRangeSet *out)
{
	BfRangeSet strict, again;
	BfError err;
	BfStatus strictly = bf_rangeset_parse(a, text, n, false, &strict, &err);
	BfStatus s = bf_rangeset_parse(a, text, n, true, out, &err);
	BfView v;

	FUZZ_CHECK(s == BF_OK || (err.offset >= 0 && err.offset <= (int64_t) n));
	FUZZ_CHECK(strictly != BF_OK || s == BF_OK);
	if (s != BF_OK)
		return false;
	check_canonical(out);
	v = formatted(a, out);
	FUZZ_CHECK(bf_rangeset_parse(a, (const char *) v.ptr, v.len, false, &again, &err) == BF_OK);
	FUZZ_CHECK(bf_rangeset_equal(out, &again));
	if (strictly == BF_OK)
		FUZZ_CHECK(v.len == n && (n == 0 || memcmp(v.ptr, text, n) == 0));
	return true;
}

static void
check_laws(BfArena *a, const BfRangeSet *x, const BfRangeSet *y)
{
	BfRangeSet both, shared, only_x, only_y, t;
	BfError err;

	FUZZ_CHECK(bf_rangeset_union(a, x, y, &both, &err) == BF_OK);
	FUZZ_CHECK(bf_rangeset_intersect(a, x, y, &shared, &err) == BF_OK);
	FUZZ_CHECK(bf_rangeset_subtract(a, x, y, &only_x, &err) == BF_OK);
	FUZZ_CHECK(bf_rangeset_subtract(a, y, x, &only_y, &err) == BF_OK);
	check_canonical(&both);
	check_canonical(&shared);
	check_canonical(&only_x);
	FUZZ_CHECK((uint64_t) bf_rangeset_count(&both) + (uint64_t) bf_rangeset_count(&shared) ==
			   (uint64_t) bf_rangeset_count(x) + (uint64_t) bf_rangeset_count(y));
	FUZZ_CHECK(bf_rangeset_overlaps(x, y) == (shared.n > 0));
	FUZZ_CHECK(!bf_rangeset_overlaps(&only_x, y));
	FUZZ_CHECK(bf_rangeset_union(a, &only_x, &shared, &t, &err) == BF_OK);
	FUZZ_CHECK(bf_rangeset_equal(&t, x));
	FUZZ_CHECK(bf_rangeset_union(a, &t, &only_y, &t, &err) == BF_OK);
	FUZZ_CHECK(bf_rangeset_equal(&t, &both));
	FUZZ_CHECK(bf_rangeset_make(a, x->ranges, x->n, &t, &err) == BF_OK);
	FUZZ_CHECK(bf_rangeset_equal(&t, x));
	for (int32_t i = 0; i < x->n; i++)
	{
		FUZZ_CHECK(bf_rangeset_contains(x, x->ranges[i].first));
		FUZZ_CHECK(bf_rangeset_contains(x, x->ranges[i].last));
		FUZZ_CHECK(!bf_rangeset_contains(x, x->ranges[i].last + 1));
		FUZZ_CHECK(bf_rangeset_seek(x, x->ranges[i].last) == i);
	}
}

static void
check_coverage(BfArena *a, const char *text, size_t n)
{
	BfCoverage c, again;
	BfBuffer *b;
	BfError err;

	if (bf_coverage_parse(a, text, n, &c, &err) != BF_OK)
	{
		FUZZ_CHECK(err.code == BF_ERR_LIMIT || (err.offset >= 0 && err.offset <= (int64_t) n));
		return;
	}
	FUZZ_CHECK(bf_buffer_new(a, (size_t) 1 << 26, &b, &err) == BF_OK);
	FUZZ_CHECK(bf_coverage_format(&c, b, &err) == BF_OK);
	FUZZ_CHECK(bf_coverage_parse(a, (const char *) b->data, b->len, &again, &err) == BF_OK);
	FUZZ_CHECK(again.n == c.n);
	for (int32_t i = 0; i < c.n; i++)
		FUZZ_CHECK(
			bf_rangeset_equal(bf_coverage_of(&again, c.items[i].ledger_id), &c.items[i].ranges));
}

int
bf_fuzz_rangeset(const uint8_t *data, size_t size)
{
	const char *text = (const char *) data;
	const char *bar = size > 0 ? memchr(text, '|', size) : NULL;
	size_t first = bar != NULL ? (size_t) (bar - text) : size;
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	BfRangeSet x, y = {0, NULL};

	check_coverage(a, text, size);
	if (parsed(a, text, first, &x) && (bar == NULL || parsed(a, bar + 1, size - first - 1, &y)))
		check_laws(a, &x, &y);
	bf_arena_free(a);
	return 0;
}
