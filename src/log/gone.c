/* What of a ledger can't be read: the search that gone.h describes, over both forms of a ledger. */
#include "log/gone.h"

#include "base/sort.h"
#include "log/internal.h"
#include "log/offload_format.h"

#define WORK_BYTES_MAX ((size_t) 1 << 30)
#define GONE_MAX (BF_RANGESET_RANGES_MAX / 2)

typedef struct Search Search;

struct Search
{
	BfArena *arena;
	BfArena *work; /* owned; of one try */
	const char *path;
	/* Reads entries from..last; *next is the first one that was not read. */
	BfStatus (*read)(Search *s, int64_t from, int64_t last, int64_t *next, BfError *err);
	/* The first entry after `after` that reading can begin with; -1 = none. */
	BfStatus (*resume)(Search *s, int64_t after, int64_t *entry, BfError *err);
	const BfLedgerEnd *ends; /* of a directory: what was acknowledged */
	int32_t n_ends;
	int64_t trusted; /* entries before it are those that were acknowledged; -1 = all are */
	int64_t loose;	 /* batches that were read behind the last place that agrees */
	BfGoneList *out;
	int32_t room;
};

/* ---- the search ---- */

/* Not so: what could be otherwise after a look at permissions, memory or the device. */
static bool
is_damage(BfStatus status)
{
	return status == BF_ERR_CORRUPT || status == BF_ERR_UNSUPPORTED || status == BF_ERR_LIMIT ||
		   status == BF_ERR_NOTFOUND || status == BF_ERR_VALUE;
}

static BfStatus
add(Search *s, int64_t first, int64_t last, const BfError *why, BfError *err)
{
	BfGone *g;

	BF_ASSERT(first <= last);
	BF_ASSERT(s->out->n == 0 || s->out->items[s->out->n - 1].entries.last < first);
	if (s->out->n == GONE_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "\"%s\" is damaged at more than %d places", s->path, GONE_MAX);
	if (s->out->n == s->room)
	{
		int32_t room = s->room == 0 ? 16 : s->room * 2;

		BF_NEW_RAW(s->arena, g, room, err);
		if (s->out->n > 0)
			memcpy(g, s->out->items, (size_t) s->out->n * sizeof *g);
		s->out->items = g;
		s->room = room;
	}
	g = &s->out->items[s->out->n++];
	g->entries = (BfRange){first, last};
	BF_TRY_PTR(s->arena, g->why, bf_arena_strdup(s->arena, why->text), err);
	return BF_OK;
}

static BfStatus
try(Search *s, int64_t from, int64_t last, int64_t *next, BfError *why)
{
	BfStatus status;

	*next = from;
	bf_error_clear(why);
	bf_arena_reset(s->work);
	status = s->read(s, from, last, next, why);
	BF_ASSERT(*next >= from && (status != BF_OK || *next > last));
	return status;
}

/* From the damage at `at` to the next entry that can be read; last + 1 = there is none. */
static BfStatus
find_resume(Search *s, int64_t at, int64_t last, int64_t *found, BfError *err)
{
	BfError why;
	int64_t next;

	for (*found = at;;)
	{
		BfStatus status;

		BF_TRY(bf_check_cancel(bf_arena_host(s->arena), err));
		bf_arena_reset(s->work);
		status = s->resume(s, *found, found, &why);
		if (status == BF_OK && *found >= 0 && *found <= last)
			status = try(s, *found, *found, &next, &why);
		else if (status == BF_OK || is_damage(status))
		{
			*found = last + 1;
			return BF_OK;
		}
		if (status == BF_OK)
			return BF_OK;
		if (!is_damage(status))
		{
			*err = why;
			return status;
		}
	}
}

/* What was read is not what was acknowledged: from there on nothing counts. */
static BfStatus
distrust(Search *s, int64_t last, const BfError *why, BfError *err)
{
	int64_t from = s->trusted;

	while (s->out->n > 0 && s->out->items[s->out->n - 1].entries.last >= from)
	{
		s->out->n--;
		if (s->out->items[s->out->n].entries.first < from)
			from = s->out->items[s->out->n].entries.first;
	}
	return add(s, from, last, why, err);
}

/* Does the directory end before the place where its last entry was acknowledged? */
static BfStatus
ends_early(const Search *s, bool *early, BfError *err)
{
	const BfLedgerEnd *end = &s->ends[s->n_ends - 1];
	BfLogDir *d;

	bf_arena_reset(s->work);
	BF_TRY(bf_log_dir_open(s->work, s->path, NULL, &d, err));
	*early = true;
	for (int32_t i = 0; i < d->n_segments; i++)
		if (d->segments[i].base_offset == end->segment)
			*early = d->segments[i].size < end->position;
	return BF_OK;
}

/* Nothing can be read from `next` on. A single batch behind the last place that agrees, with
 * nothing after it, may be that of a transaction that was rolled back; several are more likely the
 * beginning of a large one that was acknowledged. */
static BfStatus
add_rest(Search *s, int64_t next, int64_t last, const BfError *why, BfError *err)
{
	bool early = false;
	int32_t at;

	if (s->n_ends > 0 && s->loose == 1)
		BF_TRY(ends_early(s, &early, err));
	if (!early)
		return add(s, next, last, why, err);
	BF_SEARCH(int32_t, at, s->n_ends, i, s->ends[i].entry <= next);
	s->trusted = at == 0 ? 0 : s->ends[at - 1].entry;
	BF_ASSERT(s->trusted <= next);
	return distrust(s, last, why, err);
}

static BfStatus
search(Search *s, int64_t end, BfError *err)
{
	int64_t at = 0;

	while (at < end)
	{
		BfError why;
		int64_t next;
		BfStatus status = try(s, at, end - 1, &next, &why);

		if (status == BF_OK)
			return BF_OK;
		if (s->trusted >= 0)
			return distrust(s, end - 1, &why, err);
		if (!is_damage(status))
		{
			*err = why;
			return status;
		}
		BF_TRY(find_resume(s, next, end - 1, &at, err));
		if (at == end)
			return add_rest(s, next, end - 1, &why, err);
		BF_TRY(add(s, next, at - 1, &why, err));
	}
	return BF_OK;
}

static BfStatus
run(Search *s, int64_t end, BfError *err)
{
	BfStatus status;

	*s->out = (BfGoneList){0, NULL};
	s->trusted = -1;
	s->loose = 0;
	s->work = bf_arena_new(bf_arena_host(s->arena), "damaged ledger", WORK_BYTES_MAX);
	if (s->work == NULL)
		return bf_arena_fail(s->arena, 0, err);
	status = search(s, end, err);
	bf_arena_free(s->work);
	return status;
}

/* ---- a directory ---- */

/* Places that were acknowledged within the batch. */
static BfStatus
check_ends(Search *s, const BfLogDir *d, const BfBatchHeader *h, int64_t position, BfError *err)
{
	int64_t base = d->segments[bfi_dir_find(d, h->base_offset)].base_offset;
	int32_t at;

	BF_SEARCH(int32_t, at, s->n_ends, i, s->ends[i].entry <= h->base_offset);
	for (; at < s->n_ends && s->ends[at].entry <= h->last_offset + 1; at++)
	{
		const BfLedgerEnd *e = &s->ends[at];

		if (e->entry == h->last_offset + 1 && e->segment == base &&
			e->position == position + h->total_bytes)
			continue;
		s->trusted = at == 0 ? 0 : s->ends[at - 1].entry;
		BF_FAIL_AT(err, BF_ERR_CORRUPT, position,
				   "the bytes before entry %lld are not those that were acknowledged",
				   (long long) e->entry);
	}
	return BF_OK;
}

static bool
is_end(const Search *s, int64_t entry)
{
	int32_t at;

	BF_SEARCH(int32_t, at, s->n_ends, i, s->ends[i].entry < entry);
	return at < s->n_ends && s->ends[at].entry == entry;
}

static BfStatus
read_log(Search *s, int64_t from, int64_t last, int64_t *next, BfError *err)
{
	BfRange range = {from, last};
	const BfRangeSet set = {1, &range};
	const uint8_t *batch;
	BfBatchHeader h;
	const char *path;
	int64_t position;
	BfLogWalk *walk;
	BfLogDir *d;

	BF_TRY(bf_log_dir_open(s->work, s->path, NULL, &d, err));
	BF_TRY(bf_log_walk_new(s->work, d, &set, true, &walk, err));
	for (;;)
	{
		BF_TRY(bf_log_walk_next(walk, &h, &batch, &position, &path, err));
		if (batch == NULL)
			break;
		BF_DATA(err, h.n_records == h.last_offset - h.base_offset + 1, position,
				"a record batch of entries %lld-%lld has %d", (long long) h.base_offset,
				(long long) h.last_offset, h.n_records);
		BF_TRY(check_ends(s, d, &h, position, err));
		*next = h.last_offset + 1;
		s->loose = is_end(s, *next) ? 0 : s->loose + 1;
	}
	return BF_OK;
}

/* Indexes have the last entry of a batch, and so the next batch's first one. */
static BfStatus
resume_log(Search *s, int64_t after, int64_t *entry, BfError *err)
{
	const BfIndex *offsets;
	BfiSegment seg;
	BfLogDir *d;
	int32_t number;

	*entry = -1;
	BF_TRY(bf_log_dir_open(s->work, s->path, NULL, &d, err));
	if (d->n_segments == 0)
		return BF_OK;
	number = bfi_dir_find(d, after);
	if (d->segments[number].base_offset > after)
	{
		*entry = d->segments[number].base_offset;
		return BF_OK;
	}
	BF_TRY(bfi_segment_init(s->work, d, false, &seg, err));
	BF_TRY(bfi_segment_open(&seg, number, err));
	BF_TRY(bfi_segment_index_load(&seg, BF_INDEX_OFFSETS, &offsets, err));
	for (int32_t i = 0; i < offsets->n && *entry < 0; i++)
	{
		BfIndexEntry e;

		bf_index_entry(offsets, i, &e);
		if (e.offset >= after && e.position < seg.size)
			*entry = e.offset + 1;
	}
	bfi_segment_close(&seg);
	if (*entry < 0 && number + 1 < d->n_segments)
		*entry = d->segments[number + 1].base_offset;
	return BF_OK;
}

BfStatus
bf_log_gone(BfArena *a, const char *dir, const BfLedgerEnd *ends, int32_t n_ends, BfGoneList *out,
			BfError *err)
{
	Search s = {.arena = a,
				.path = dir,
				.read = read_log,
				.resume = resume_log,
				.ends = ends,
				.n_ends = n_ends,
				.out = out};

	BF_ASSERT(n_ends > 0 && ends[0].entry > 0);
	return run(&s, ends[n_ends - 1].entry, err);
}

/* ---- an offload file ---- */

static BfStatus
walk_offload(Search *s, BfOffloadFile *f, BfRange range, int64_t *next, BfError *err)
{
	const BfRangeSet set = {1, &range};
	BfOffloadWalk *walk;
	const uint8_t *batch;
	BfBatchHeader h;
	const char *path;
	int64_t position;

	BF_TRY(bf_offload_walk_new(s->work, f, &set, &walk, err));
	for (;;)
	{
		BF_TRY(bf_offload_walk_next(walk, &h, &batch, &position, &path, err));
		if (batch == NULL)
			return BF_OK;
		*next = h.last_offset + 1;
	}
}

static BfStatus
read_offload(Search *s, int64_t from, int64_t last, int64_t *next, BfError *err)
{
	BfOffloadFile *f;
	int64_t n;

	BF_TRY(bf_offload_open(s->work, s->path, NULL, &f, err));
	n = bf_offload_info(f)->n_entries;
	if (from < n)
		BF_TRY(walk_offload(s, f, (BfRange){from, last < n ? last : n - 1}, next, err));
	BF_DATA(err, last < n, -1, "the file has %lld entries only", (long long) n);
	return BF_OK;
}

static BfStatus
resume_offload(Search *s, int64_t after, int64_t *entry, BfError *err)
{
	BfOffloadFile *f;

	BF_TRY(bf_offload_open(s->work, s->path, NULL, &f, err));
	return bfi_offload_next_batch(s->work, f, after, entry, err);
}

BfStatus
bf_offload_gone(BfArena *a, const char *path, int64_t end, BfGoneList *out, BfError *err)
{
	Search s = {
		.arena = a, .path = path, .read = read_offload, .resume = resume_offload, .out = out};

	BF_ASSERT(end > 0);
	return run(&s, end, err);
}
