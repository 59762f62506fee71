/*
 * log/live.c: see live.h.
 */
#include "log/live.h"

#define PIECE_BYTES_MAX ((size_t) 1 << 30)

struct BfLiveWalk
{
	const BfHost *host;
	BfLogCounters *counters; /* borrowed, or own_counters */
	BfLogCounters own_counters;
	BfLogWalk *files; /* NULL = nothing is wanted of the directory, or all of that has come */
	/* The tail. */
	const BfLogTail *tail; /* borrowed */
	BfRangeSet ranges;	   /* what is wanted of it */
	int32_t range;		   /* the one that `need` is in; ranges.n = all has come */
	int64_t need;
	BfBuffer *piece;
	size_t at;			/* in the piece, of the next batch */
	int64_t next_entry; /* with which that must begin; -1 = it is the piece's first */
	bool in_it;			/* the last batch was the tail's */
};

/* Entries before `first` and those from there on. */
static BfStatus
split_ranges(BfArena *a, const BfRangeSet *ranges, int64_t first, BfRangeSet *below,
			 BfRangeSet *above, BfError *err)
{
	BfRange part = {0, first - 1};
	BfRangeSet files = {first > 0, &part};

	BF_TRY(bf_rangeset_intersect(a, ranges, &files, below, err));
	return bf_rangeset_subtract(a, ranges, &files, above, err);
}

BfStatus
bf_live_walk_new(BfArena *a, const char *dir, const BfLogTail *tail, const BfRangeSet *ranges,
				 BfLogCounters *counters, BfLiveWalk **out, BfError *err)
{
	BfRangeSet in_files = *ranges;
	BfLiveWalk *w;
	BfLogDir *d;

	BF_ASSERT(tail == NULL || (tail->first >= 0 && tail->name != NULL));
	BF_NEW(a, w, 1, err);
	w->host = bf_arena_host(a);
	w->counters = counters != NULL ? counters : &w->own_counters;
	w->tail = tail;
	if (tail != NULL)
		BF_TRY(split_ranges(a, ranges, tail->first, &in_files, &w->ranges, err));
	if (in_files.n > 0)
	{
		BF_TRY(bf_log_dir_open(a, dir, w->counters, &d, err));
		BF_TRY(bf_log_walk_new(a, d, &in_files, true, &w->files, err));
	}
	if (w->ranges.n > 0)
	{
		w->need = w->ranges.ranges[0].first;
		BF_TRY(bf_buffer_new(a, PIECE_BYTES_MAX, &w->piece, err));
	}
	*out = w;
	return BF_OK;
}

BfStatus
bf_live_leave_before(BfArena *a, const char *dir, const BfLogTail *tail, int64_t t_ms,
					 BfLogCounters *counters, BfRangeSet *ranges, BfError *err)
{
	BfRangeSet left = *ranges, above = {0, NULL};
	BfLogDir *d;

	if (tail != NULL)
		BF_TRY(split_ranges(a, ranges, tail->first, &left, &above, err));
	if (left.n == 0)
		return BF_OK;
	BF_TRY(bf_log_dir_open(a, dir, counters, &d, err));
	BF_TRY(bf_log_dir_leave_before(a, d, t_ms, &left, err));
	return bf_rangeset_union(a, &left, &above, ranges, err);
}

static BfStatus
missing(const BfLiveWalk *w, BfError *err)
{
	return bf_error(err, BF_ERR_CORRUPT, "entry %lld is missing", (long long) w->need);
}

/* The next piece, which begins at or before the entry that is needed. */
static BfStatus
refill(BfLiveWalk *w, BfError *err)
{
	BF_ASSERT(w->at == w->piece->len && w->range < w->ranges.n);
	w->piece->len = w->at = 0;
	w->next_entry = -1;
	BF_TRY(w->tail->read(w->tail->arg, w->need, w->ranges.ranges[w->range].last, w->piece, err));
	w->counters->io.reads++;
	w->counters->io.bytes_read += (int64_t) w->piece->len;
	return w->piece->len > 0 ? BF_OK : missing(w, err);
}

/* The batch at the place in the piece, whole and with the right checksum, which does not cover its
 * first entry. */
static BfStatus
read_batch(BfLiveWalk *w, BfBatchHeader *h, BfError *err)
{
	const uint8_t *p = w->piece->data + w->at;
	size_t left = w->piece->len - w->at;
	int64_t position = (int64_t) w->at;

	BF_TRY(bf_batch_header(p, left, position, h, err));
	BF_DATA(err, (size_t) h->total_bytes <= left, position,
			"a batch of %d bytes has only %zu in the tail", h->total_bytes, left);
	BF_DATA(err, w->next_entry < 0 || h->base_offset == w->next_entry, position,
			"a batch begins with entry %lld instead of %lld", (long long) h->base_offset,
			(long long) w->next_entry);
	w->next_entry = h->last_offset + 1;
	return bf_batch_check_crc(h, p, position, err);
}

/* After a batch up to `last` was given out. What lies between ranges is not read: it may be what is
 * known to be damaged. */
static void
move_on(BfLiveWalk *w, int64_t last)
{
	BF_ASSERT(last >= w->need);
	w->range = bf_rangeset_seek(&w->ranges, last + 1);
	if (w->range >= w->ranges.n)
		return;
	w->need = w->ranges.ranges[w->range].first;
	if (w->need <= last + 1)
		w->need = last + 1;
	else
		w->at = w->piece->len;
	BF_ASSERT(w->need <= w->ranges.ranges[w->range].last);
}

static BfStatus
next_of_tail(BfLiveWalk *w, BfBatchHeader *h, const uint8_t **batch, int64_t *position,
			 BfError *err)
{
	bool fresh = false;

	while (w->range < w->ranges.n)
	{
		BF_TRY(bf_check_cancel(w->host, err));
		if (w->at == w->piece->len)
		{
			/* A whole piece without the entry that it was asked for. */
			if (fresh)
				return missing(w, err);
			BF_TRY(refill(w, err));
			fresh = true;
		}
		BF_TRY(read_batch(w, h, err));
		*position = (int64_t) w->at;
		w->at += (size_t) h->total_bytes;
		BF_ASSERT(w->at <= w->piece->len);
		if (h->last_offset < w->need)
		{
			w->counters->batches_skipped++;
			continue;
		}
		if (h->base_offset > w->need)
			return missing(w, err);
		*batch = w->piece->data + *position;
		w->counters->batches_read++;
		move_on(w, h->last_offset);
		return BF_OK;
	}
	return BF_OK;
}

BfStatus
bf_live_walk_next(BfLiveWalk *w, BfBatchHeader *h, const uint8_t **batch, int64_t *position,
				  const char **path, BfError *err)
{
	*batch = NULL;
	w->in_it = false;
	if (w->files != NULL)
	{
		BF_TRY(bf_log_walk_next(w->files, h, batch, position, path, err));
		if (*batch != NULL)
			return BF_OK;
		w->files = NULL;
	}
	if (w->range >= w->ranges.n)
		return BF_OK;
	w->in_it = true;
	*path = w->tail->name;
	if (next_of_tail(w, h, batch, position, err) != BF_OK)
		return bf_error_object(err, w->tail->name);
	return BF_OK;
}

bool
bf_live_walk_in_tail(const BfLiveWalk *w)
{
	return w->in_it;
}
