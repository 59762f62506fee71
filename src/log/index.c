/* Entries of `.index` and `.timeindex`, read page by page, and the warm and cold search in them. */
#include "log/index.h"

#include "base/rangeset.h"

#define PAGE BF_INDEX_PAGE_BYTES

static const size_t entry_bytes[] = {
	[BF_INDEX_OFFSETS] = BF_OFFSET_INDEX_ENTRY_BYTES,
	[BF_INDEX_TIMES] = BF_TIME_INDEX_ENTRY_BYTES,
};

_Static_assert(BF_INDEX_WARM_BYTES % BF_OFFSET_INDEX_ENTRY_BYTES == 0,
			   "the warm section is of whole entries");
_Static_assert(BF_INDEX_BYTES_MAX / BF_OFFSET_INDEX_ENTRY_BYTES < INT32_MAX, "entries are int32");

/* ---- pages ---- */

/* Pages first..last, those that are missing between them with one read for each run. */
static BfStatus
need_pages(BfIndex *ix, int64_t first, int64_t last, BfError *err)
{
	BF_ASSERT(first >= 0 && first <= last && last * PAGE < ix->size);
	while (first <= last)
	{
		int64_t end = first;
		size_t n;
		uint8_t *bytes;

		while (end <= last && ix->pages[end] == NULL)
			end++;
		if (end == first)
		{
			first++;
			continue;
		}
		n = (size_t) ((end * PAGE < ix->size ? end * PAGE : ix->size) - first * PAGE);
		BF_NEW_RAW(ix->arena, bytes, n, err);
		BF_TRY(ix->read(ix->arg, first * PAGE, bytes, n, err));
		ix->stats->pages += end - first;
		for (int64_t i = first; i < end; i++)
			ix->pages[i] = bytes + (i - first) * PAGE;
		first = end;
	}
	return BF_OK;
}

static BfStatus
need_entries(BfIndex *ix, int32_t first, int32_t last, BfError *err)
{
	int64_t size = (int64_t) entry_bytes[ix->kind];

	return need_pages(ix, first * size / PAGE, ((last + 1) * size - 1) / PAGE, err);
}

/* An entry may begin in one page and end in the next. */
static void
copy_entry(const BfIndex *ix, int32_t i, uint8_t *out)
{
	size_t size = entry_bytes[ix->kind];
	size_t pos = (size_t) i * size;
	size_t left = PAGE - pos % PAGE;
	size_t n = left < size ? left : size;

	BF_ASSERT((int64_t) (pos + size) <= ix->size && ix->pages[pos / PAGE] != NULL);
	memcpy(out, ix->pages[pos / PAGE] + pos % PAGE, n);
	if (n < size)
	{
		BF_ASSERT(ix->pages[pos / PAGE + 1] != NULL);
		memcpy(out + n, ix->pages[pos / PAGE + 1], size - n);
	}
}

/* Below the base, so that it can't be, where it passes what 63 bits hold. */
static int64_t
absolute(const BfIndex *ix, const uint8_t *relative)
{
	return (int64_t) ((uint64_t) ix->base_offset + bf_load32be(relative));
}

void
bf_index_entry(const BfIndex *ix, int32_t i, BfIndexEntry *e)
{
	uint8_t bytes[BF_TIME_INDEX_ENTRY_BYTES];

	BF_ASSERT(i >= 0 && i < ix->n);
	copy_entry(ix, i, bytes);
	if (ix->kind == BF_INDEX_OFFSETS)
		*e = (BfIndexEntry){.offset = absolute(ix, bytes), .position = bf_load32be(bytes + 4)};
	else
		*e = (BfIndexEntry){.offset = absolute(ix, bytes + 8),
							.timestamp = (int64_t) bf_load64be(bytes)};
}

/* ---- where the entries end ---- */

/*
 * Every entry after the first has a relative offset above 0, so the zero tail is found by bisecting
 * for it. The first entry is free only when all of it is zero: a segment's first batch may end at
 * relative offset 0 in the time index.
 */
static BfStatus
is_free(BfIndex *ix, int32_t i, bool *result, BfError *err)
{
	static const uint8_t zeroes[BF_TIME_INDEX_ENTRY_BYTES];
	uint8_t bytes[BF_TIME_INDEX_ENTRY_BYTES];

	BF_TRY(need_entries(ix, i, i, err));
	copy_entry(ix, i, bytes);
	if (ix->kind == BF_INDEX_OFFSETS && i > 0)
		*result = bf_load32be(bytes) == 0;
	else
		*result = memcmp(bytes, zeroes, entry_bytes[ix->kind]) == 0;
	return BF_OK;
}

/* What is known of where they end: entries before `lo` are used, those from `hi` on are free. */
typedef struct Count
{
	BfIndex *ix;
	int32_t lo;
	int32_t hi;
	int32_t gap; /* to the next guess, once one was too high */
	int64_t log_bytes;
} Count;

static int32_t
entries_in_page(const BfIndex *ix)
{
	return PAGE / (int32_t) entry_bytes[ix->kind];
}

/* If entries go on being as far apart in the log as they are up to the last one that is known. */
static int32_t
guess_end(const Count *c)
{
	BfIndexEntry e;
	int64_t more;

	BF_ASSERT(c->lo > 1 && c->lo < c->hi);
	bf_index_entry(c->ix, c->lo - 1, &e);
	if (e.position <= 0 || e.position >= c->log_bytes)
		return c->lo;
	more = (c->log_bytes - e.position) / (e.position / (c->lo - 1) + 1);
	/* A page more tells it better, if it is not past the end. */
	if (more / 8 > c->lo)
		more -= more / 8;
	return more < c->hi - c->lo ? c->lo + (int32_t) more : c->hi - 1;
}

/* Looks at the whole page of entry i. */
static BfStatus
count_in_page(Count *c, int32_t i, BfError *err)
{
	int32_t in_page = entries_in_page(c->ix);
	int32_t first = i / in_page * in_page;
	int32_t end = first + in_page;
	bool none;

	first = first > c->lo ? first : c->lo;
	end = end < c->hi ? end : c->hi;
	BF_ASSERT(first <= i && i < end);
	/* Mostly all of it is used, or none. */
	BF_TRY(is_free(c->ix, end - 1, &none, err));
	if (none)
		c->hi = --end;
	else
		first = c->lo = end;
	if (first < end)
	{
		BF_TRY(is_free(c->ix, first, &none, err));
		if (none)
			end = c->hi = first;
		else
			c->lo = ++first;
	}
	while (first < end)
	{
		int32_t mid = first + (end - first) / 2;

		BF_TRY(is_free(c->ix, mid, &none, err));
		if (none)
			end = c->hi = mid;
		else
			first = c->lo = mid + 1;
	}
	return BF_OK;
}

#define GUESSES 6

/* Positions say where to look; whatever they say, what was looked at narrows it down. */
static BfStatus
count_entries(BfIndex *ix, int64_t log_bytes, int32_t *n, BfError *err)
{
	Count c = {ix, 0, *n, 0, log_bytes};
	bool guess = ix->kind == BF_INDEX_OFFSETS && log_bytes > 0;

	/* The common case costs one look. */
	BF_TRY(count_in_page(&c, *n - 1, err));
	for (int k = 0; c.lo < c.hi; k++)
	{
		int32_t hi = c.hi;
		int32_t i = c.lo + (c.hi - c.lo) / 2;

		if (guess && k < GUESSES)
		{
			i = c.lo > 1 ? guess_end(&c) : c.lo;
			if (i >= c.hi - c.gap)
				i = c.hi - c.gap > c.lo ? c.hi - c.gap : c.lo;
			if (i >= c.hi)
				i = c.hi - 1;
		}
		BF_TRY(count_in_page(&c, i, err));
		if (c.hi < hi)
			c.gap = c.gap == 0 ? 1 : c.gap == 1 ? entries_in_page(ix) : 2 * c.gap;
	}
	BF_ASSERT(c.lo == c.hi && c.lo <= *n);
	*n = c.lo;
	return BF_OK;
}

/* The first entry of the warm section. */
static int32_t
hot_entry(const BfIndex *ix, int32_t n)
{
	int32_t warm = (int32_t) (BF_INDEX_WARM_BYTES / entry_bytes[ix->kind]);

	BF_ASSERT(n > 0);
	return n - 1 - warm > 0 ? n - 1 - warm : 0;
}

BfStatus
bf_index_open(BfArena *a, BfIndexKind kind, int64_t base_offset, int64_t size, int64_t log_bytes,
			  BfIndexRead read, void *arg, BfIndexStats *stats, BfIndex *ix, BfError *err)
{
	int32_t n;

	BF_ASSERT(base_offset >= 0 && size >= 0 && stats != NULL);
	*ix = (BfIndex){kind, base_offset, 0, size, a, read, arg, stats, NULL};
	if (size > BF_INDEX_BYTES_MAX || size < (int64_t) entry_bytes[kind])
		return BF_OK;
	n = (int32_t) (size / (int64_t) entry_bytes[kind]);
	BF_NEW(a, ix->pages, (size_t) ((size + PAGE - 1) / PAGE), err);
	ix->n = n;
	BF_TRY(count_entries(ix, log_bytes, &n, err));
	if (n > 0)
		BF_TRY(need_entries(ix, hot_entry(ix, n), n - 1, err));
	ix->n = n;
	return BF_OK;
}

/* ---- searching ---- */

typedef int64_t (*KeyOf)(const BfIndexEntry *e);

static int64_t
offset_of(const BfIndexEntry *e)
{
	return e->offset;
}

static int64_t
position_of(const BfIndexEntry *e)
{
	return e->position;
}

static int64_t
timestamp_of(const BfIndexEntry *e)
{
	return e->timestamp;
}

/* A search: `lo` is at most what is looked for (-1 = no entry), `hi` is past it (n = none). */
typedef struct Search
{
	BfIndex *ix;
	KeyOf key;
	int64_t target;
	int32_t lo;
	int32_t hi;
	BfIndexEntry at_lo;
	BfIndexEntry at_hi;
	bool wrong; /* what was looked at does not ascend */
} Search;

static bool
ascends(const BfIndex *ix, const BfIndexEntry *x, const BfIndexEntry *y)
{
	if (ix->kind == BF_INDEX_OFFSETS)
		return x->offset < y->offset && x->position < y->position;
	return x->timestamp < y->timestamp && x->offset <= y->offset;
}

static bool
can_be(const BfIndex *ix, const BfIndexEntry *e)
{
	return e->offset <= BF_ENTRY_MAX && e->offset >= ix->base_offset;
}

/* Looks at entry i, between the two, and makes it one of them. */
static BfStatus
probe(Search *s, int32_t i, BfError *err)
{
	BfIndex *ix = s->ix;
	BfIndexEntry e;

	BF_ASSERT(s->lo < i && i < s->hi && s->hi <= ix->n);
	BF_TRY(need_entries(ix, i, i, err));
	bf_index_entry(ix, i, &e);
	ix->stats->probes++;
	if (!can_be(ix, &e) || (s->lo >= 0 && !ascends(ix, &s->at_lo, &e)) ||
		(s->hi < ix->n && !ascends(ix, &e, &s->at_hi)))
		s->wrong = true;
	else if (s->key(&e) <= s->target)
	{
		s->lo = i;
		s->at_lo = e;
	}
	else
	{
		s->hi = i;
		s->at_hi = e;
	}
	return BF_OK;
}

/* To the end: then the entry and the one after it were looked at. */
static BfStatus
bisect(Search *s, BfIndexEntry *e, bool *found, BfError *err)
{
	while (s->hi - s->lo > 1 && !s->wrong)
		BF_TRY(probe(s, s->lo + (s->hi - s->lo) / 2, err));
	if (s->wrong)
		s->ix->n = 0;
	*found = !s->wrong && s->lo >= 0;
	*e = s->at_lo;
	return BF_OK;
}

BfStatus
bf_index_floor(BfIndex *ix, int64_t target, BfIndexEntry *e, bool *found, BfError *err)
{
	Search s = {.ix = ix, .target = target, .lo = -1, .hi = ix->n};

	*found = false;
	if (ix->n == 0)
		return BF_OK;
	s.key = ix->kind == BF_INDEX_OFFSETS ? offset_of : timestamp_of;
	BF_TRY(probe(&s, hot_entry(ix, ix->n), err));
	if (s.lo >= 0)
		ix->stats->warm_hits++;
	else
		ix->stats->cold_hits++;
	if (s.lo < 0 && s.hi > 0 && !s.wrong)
		BF_TRY(probe(&s, 0, err));
	return bisect(&s, e, found, err);
}

BfStatus
bf_index_last_inside(BfIndex *ix, int64_t size, BfIndexEntry *e, bool *found, BfError *err)
{
	Search s = {.ix = ix, .key = position_of, .target = size - 1, .lo = -1, .hi = ix->n};

	BF_ASSERT(ix->kind == BF_INDEX_OFFSETS && size >= 0);
	*found = false;
	if (ix->n == 0)
		return BF_OK;
	/* The common case: a broker appended little since the file's size was taken. */
	BF_TRY(probe(&s, ix->n - 1, err));
	return bisect(&s, e, found, err);
}

BfStatus
bf_index_load(BfIndex *ix, BfError *err)
{
	BfIndexEntry before = {0, 0, 0};
	BfIndexEntry e;

	if (ix->n == 0)
		return BF_OK;
	BF_TRY(need_entries(ix, 0, ix->n - 1, err));
	for (int32_t i = 0; i < ix->n; i++, before = e)
	{
		bf_index_entry(ix, i, &e);
		if (!can_be(ix, &e) || (i > 0 && !ascends(ix, &before, &e)))
			ix->n = 0;
	}
	return BF_OK;
}
