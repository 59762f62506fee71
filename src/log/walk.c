/* Batches of a range set in ascending order, over all segments of a directory. */
#include "log/internal.h"

struct BfLogWalk
{
	BfLogDir *dir;
	BfRangeSet ranges; /* owned copy */
	bool strict;
	int64_t min_timestamp;
	BfiSegment seg;
	int32_t range;		  /* the range that `need` is in; ranges.n = done */
	int64_t need;		  /* the next entry that is wanted */
	bool jump;			  /* `need` may be far ahead: look for its place first */
	int32_t next_segment; /* those before it are finished with */
};

BfStatus
bf_log_walk_new(BfArena *a, BfLogDir *d, const BfRangeSet *ranges, bool strict, BfLogWalk **out,
				BfError *err)
{
	BfLogWalk *w;

	BF_NEW(a, w, 1, err);
	w->dir = d;
	w->strict = strict;
	w->min_timestamp = INT64_MIN;
	BF_TRY(bf_rangeset_make(a, ranges->ranges, ranges->n, &w->ranges, err));
	BF_TRY(bfi_segment_init(a, d, !strict, &w->seg, err));
	w->need = ranges->n > 0 ? ranges->ranges[0].first : 0;
	w->jump = true;
	*out = w;
	return BF_OK;
}

void
bf_log_walk_min_timestamp(BfLogWalk *w, int64_t t_ms)
{
	w->min_timestamp = t_ms;
}

static BfStatus
missing(const BfLogWalk *w, BfError *err)
{
	bf_error(err, BF_ERR_CORRUPT, "entry %lld is missing", (long long) w->need);
	return bf_error_object(err, w->dir->dir);
}

/* Entries before `entry` are done. In strict mode none of them may have been wanted. */
static BfStatus
pass_to(BfLogWalk *w, int64_t entry, BfError *err)
{
	if (entry <= w->need)
		return BF_OK;
	if (w->strict)
		return missing(w, err);
	w->range = bf_rangeset_seek(&w->ranges, entry);
	if (w->range < w->ranges.n)
	{
		int64_t first = w->ranges.ranges[w->range].first;

		w->jump = first > entry;
		w->need = first > entry ? first : entry;
		BF_ASSERT(w->need >= first && w->need <= w->ranges.ranges[w->range].last);
	}
	return BF_OK;
}

/* The same after a batch was given out: its entries are not missing. */
static BfStatus
give_out(BfLogWalk *w, const BfBatchHeader *h, BfError *err)
{
	bool strict = w->strict;
	BfStatus status;

	BF_ASSERT(h->last_offset >= w->need);
	w->strict = false;
	status = pass_to(w, h->last_offset + 1, err);
	w->strict = strict;
	return status;
}

static void
finish(BfLogWalk *w)
{
	BF_ASSERT(w->next_segment <= w->dir->n_segments);
	w->dir->counters->segments_skipped += w->dir->n_segments - w->next_segment;
	w->next_segment = w->dir->n_segments;
	w->range = w->ranges.n;
	bfi_segment_close(&w->seg);
}

/* Makes the segment with `need`, at the place that the index gives, the open one. *done when no
 * segment is left. */
static BfStatus
settle(BfLogWalk *w, bool *done, BfError *err)
{
	int32_t i = bfi_dir_find(w->dir, w->need);
	int64_t passed;

	BF_ASSERT(w->range < w->ranges.n);
	if (w->seg.number >= 0 && i > w->seg.number)
		bfi_segment_close(&w->seg);
	if (w->seg.number < 0)
	{
		if (i < w->next_segment)
			i = w->next_segment;
		*done = i >= w->dir->n_segments;
		if (*done)
			return BF_OK;
		/* What is before this segment is nowhere. The next range may be further on. */
		BF_TRY(pass_to(w, w->dir->segments[i].base_offset, err));
		if (w->range >= w->ranges.n || bfi_dir_find(w->dir, w->need) > i)
			return BF_OK;
		w->dir->counters->segments_skipped += i - w->next_segment;
		w->dir->counters->segments_read++;
		w->next_segment = i + 1;
		BF_TRY(bfi_segment_open(&w->seg, i, err));
	}
	BF_ASSERT(w->seg.number == w->next_segment - 1);
	w->jump = false;
	BF_TRY(bfi_segment_seek(&w->seg, w->need, err));
	BF_TRY(bfi_segment_pass(&w->seg, w->need, &passed, err));
	w->dir->counters->batches_skipped += passed;
	return BF_OK;
}

/* Data of a transaction is given out all the same: an open one ends what is committed. */
static bool
too_old(const BfLogWalk *w, const BfBatchHeader *h)
{
	return h->max_timestamp < w->min_timestamp && !(h->transactional && !h->control);
}

/* One step: *batch is set when there is one to give out, *done at the end. */
static BfStatus
step(BfLogWalk *w, BfBatchHeader *h, const uint8_t **batch, bool *done, BfError *err)
{
	bool end;

	if (w->jump || w->seg.number < 0)
	{
		BF_TRY(settle(w, done, err));
		if (w->seg.number < 0)
			return BF_OK;
	}
	BF_TRY(bfi_segment_header(&w->seg, h, &end, err));
	if (end)
	{
		bfi_segment_close(&w->seg);
		return BF_OK;
	}
	/* A ledger's entries are counted; in a broker's directory the next batch must confirm. */
	if (!w->strict && h->last_offset >= w->ranges.ranges[w->range].last)
		BF_TRY(bfi_segment_check_next(&w->seg, h, err));
	if (h->last_offset >= w->need && h->base_offset > w->need)
	{
		BF_TRY(pass_to(w, h->base_offset, err));
		if (w->range >= w->ranges.n || w->jump)
			return BF_OK;
	}
	BF_ASSERT(h->last_offset >= w->need);
	if (too_old(w, h))
	{
		const uint8_t *checked;

		BF_TRY(bfi_segment_check(&w->seg, h, &checked, err));
		w->dir->counters->batches_skipped++;
		bfi_segment_advance(&w->seg, h);
		return give_out(w, h, err);
	}
	BF_ASSERT(h->base_offset <= w->need);
	return bfi_segment_fetch(&w->seg, h, batch, err);
}

BfStatus
bf_log_walk_next(BfLogWalk *w, BfBatchHeader *h, const uint8_t **batch, int64_t *position,
				 const char **path, BfError *err)
{
	bool done = false;

	*batch = NULL;
	while (w->range < w->ranges.n && !done)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(w->dir->arena), err));
		BF_TRY(step(w, h, batch, &done, err));
		if (*batch != NULL)
		{
			*position = w->seg.pos;
			*path = w->seg.info->path;
			bfi_segment_advance(&w->seg, h);
			return give_out(w, h, err);
		}
	}
	if (done && w->strict)
		return missing(w, err);
	finish(w);
	return BF_OK;
}
