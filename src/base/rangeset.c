/*
 * Every operation that makes a set is one function that emits ranges in ascending order into a
 * Sink. It runs twice: with no storage, to count, and again to fill exactly that much memory.
 * The sink merges what touches, so the result is canonical whatever the operation emits.
 */
#include "base/rangeset.h"

#include "base/sort.h"

typedef struct Sink
{
	BfRange *ranges; /* NULL while counting */
	size_t n;
	int64_t last; /* of the newest range */
} Sink;

static void
sink_add(Sink *s, int64_t first, int64_t last)
{
	BF_ASSERT(first >= 0 && first <= last && last <= BF_ENTRY_MAX);
	if (s->n > 0 && first <= s->last + 1)
	{
		if (last > s->last)
		{
			s->last = last;
			if (s->ranges != NULL)
				s->ranges[s->n - 1].last = last;
		}
		return;
	}
	if (s->ranges != NULL)
		s->ranges[s->n] = (BfRange){first, last};
	s->n++;
	s->last = last;
}

static void
emit_union(const BfRangeSet *x, const BfRangeSet *y, Sink *s)
{
	int32_t i = 0;
	int32_t j = 0;

	while (i < x->n || j < y->n)
	{
		const BfRange *r;

		if (j == y->n || (i < x->n && x->ranges[i].first <= y->ranges[j].first))
			r = &x->ranges[i++];
		else
			r = &y->ranges[j++];
		sink_add(s, r->first, r->last);
	}
}

static void
emit_intersect(const BfRangeSet *x, const BfRangeSet *y, Sink *s)
{
	int32_t i = 0;
	int32_t j = 0;

	while (i < x->n && j < y->n)
	{
		const BfRange *p = &x->ranges[i];
		const BfRange *q = &y->ranges[j];
		int64_t first = p->first > q->first ? p->first : q->first;
		int64_t last = p->last < q->last ? p->last : q->last;

		if (first <= last)
			sink_add(s, first, last);
		if (p->last < q->last)
			i++;
		else
			j++;
	}
}

static void
emit_subtract(const BfRangeSet *x, const BfRangeSet *y, Sink *s)
{
	int32_t j = 0;

	for (int32_t i = 0; i < x->n; i++)
	{
		int64_t first = x->ranges[i].first;
		int64_t last = x->ranges[i].last;

		while (j < y->n && y->ranges[j].last < first)
			j++;
		/* A range of y may reach into the next range of x, so it is passed only when it ends here.
		 */
		while (j < y->n && y->ranges[j].first <= last)
		{
			if (y->ranges[j].first > first)
				sink_add(s, first, y->ranges[j].first - 1);
			first = y->ranges[j].last + 1;
			if (first > last)
				break;
			j++;
		}
		if (first <= last)
			sink_add(s, first, last);
	}
}

typedef void (*Emit)(const BfRangeSet *x, const BfRangeSet *y, Sink *s);

static BfStatus
check_size(size_t n, BfError *err)
{
	if (BF_UNLIKELY(n > BF_RANGESET_RANGES_MAX))
		BF_FAIL(err, BF_ERR_LIMIT, "a range set would have more than %d ranges",
				BF_RANGESET_RANGES_MAX);
	return BF_OK;
}

static BfStatus
combine(BfArena *a, Emit emit, const BfRangeSet *x, const BfRangeSet *y, BfRangeSet *out,
		BfError *err)
{
	Sink counted = {NULL, 0, 0};
	Sink filled = {NULL, 0, 0};

	emit(x, y, &counted);
	BF_TRY(check_size(counted.n, err));
	BF_NEW_RAW(a, filled.ranges, counted.n, err);
	emit(x, y, &filled);
	BF_ASSERT(filled.n == counted.n);
	out->n = (int32_t) filled.n;
	out->ranges = filled.ranges;
	return BF_OK;
}

BfStatus
bf_rangeset_union(BfArena *a, const BfRangeSet *x, const BfRangeSet *y, BfRangeSet *out,
				  BfError *err)
{
	return combine(a, emit_union, x, y, out, err);
}

BfStatus
bf_rangeset_intersect(BfArena *a, const BfRangeSet *x, const BfRangeSet *y, BfRangeSet *out,
					  BfError *err)
{
	return combine(a, emit_intersect, x, y, out, err);
}

BfStatus
bf_rangeset_subtract(BfArena *a, const BfRangeSet *x, const BfRangeSet *y, BfRangeSet *out,
					 BfError *err)
{
	return combine(a, emit_subtract, x, y, out, err);
}

static int
compare_ranges(const void *x, const void *y)
{
	const BfRange *p = x;
	const BfRange *q = y;

	return p->first < q->first ? -1 : p->first > q->first;
}

BfStatus
bf_rangeset_make(BfArena *a, const BfRange *ranges, int32_t n, BfRangeSet *out, BfError *err)
{
	BfRange *copy;
	Sink s = {NULL, 0, 0};

	BF_ASSERT(n >= 0);
	BF_TRY(check_size((size_t) n, err));
	BF_NEW_RAW(a, copy, n, err);
	for (int32_t i = 0; i < n; i++)
	{
		BF_DATA(err,
				ranges[i].first >= 0 && ranges[i].first <= ranges[i].last &&
					ranges[i].last <= BF_ENTRY_MAX,
				-1, "%lld-%lld is not a range of entries", (long long) ranges[i].first,
				(long long) ranges[i].last);
		copy[i] = ranges[i];
	}
	bf_sort(copy, (size_t) n, sizeof *copy, compare_ranges);
	/* In place: the sink never writes past the range that is read next. */
	s.ranges = copy;
	for (int32_t i = 0; i < n; i++)
	{
		BF_ASSERT(s.n <= (size_t) i);
		sink_add(&s, copy[i].first, copy[i].last);
	}
	out->n = (int32_t) s.n;
	out->ranges = copy;
	return BF_OK;
}

int64_t
bf_rangeset_count(const BfRangeSet *s)
{
	int64_t count = 0;

	for (int32_t i = 0; i < s->n; i++)
	{
		BF_ASSERT(i == 0 || s->ranges[i].first > s->ranges[i - 1].last + 1);
		count += s->ranges[i].last - s->ranges[i].first + 1;
	}
	return count;
}

int32_t
bf_rangeset_seek(const BfRangeSet *s, int64_t entry)
{
	int32_t at;

	BF_SEARCH(int32_t, at, s->n, i, s->ranges[i].last < entry);
	return at;
}

bool
bf_rangeset_contains(const BfRangeSet *s, int64_t entry)
{
	int32_t i = bf_rangeset_seek(s, entry);

	return i < s->n && s->ranges[i].first <= entry;
}

bool
bf_rangeset_equal(const BfRangeSet *x, const BfRangeSet *y)
{
	if (x->n != y->n)
		return false;
	for (int32_t i = 0; i < x->n; i++)
		if (x->ranges[i].first != y->ranges[i].first || x->ranges[i].last != y->ranges[i].last)
			return false;
	return true;
}

bool
bf_rangeset_overlaps(const BfRangeSet *x, const BfRangeSet *y)
{
	int32_t i = 0;
	int32_t j = 0;

	while (i < x->n && j < y->n)
	{
		if (x->ranges[i].last < y->ranges[j].first)
			i++;
		else if (y->ranges[j].last < x->ranges[i].first)
			j++;
		else
			return true;
	}
	return false;
}
