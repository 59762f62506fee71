/* The first entry with a time that is not before another. */
#include "log/internal.h"

/*
 * From time to offset.
 *
 * A time index entry (T, offset) says that no record up to that offset is younger than T, so a
 * search for t starts at the batch of the largest entry with T <= t. From there batches are walked,
 * checksums included, until one has maxTimestamp >= t, and that batch is decoded. Where the index
 * ends, the batches go on: a live, damaged or cut index costs time but loses nothing.
 *
 * Whole segments are passed over when neither their index nor the batches after its last entry
 * reach t. Timestamps may be out of order, so there is no bisecting over segments; and those behind
 * the first that reaches t may be older all the same (bf_log_dir_leave_older).
 */

typedef struct TimeSearch
{
	BfLogDir *dir;
	int64_t t;
	BfiSegment seg;
	bool found;
	int64_t offset;
} TimeSearch;

/* First record of the batch at the position with timestamp >= t; none is possible, since
 * maxTimestamp may belong to a record that compaction removed. */
static BfStatus
search_batch(TimeSearch *s, const BfBatchHeader *h, const uint8_t *batch, BfError *err)
{
	BfRecordIter it;
	BfRecord r;
	bool more;

	BF_ASSERT(!s->found && h->max_timestamp >= s->t);
	BF_TRY(bfi_dir_codec(s->dir, err));
	s->dir->counters->batches_read++;
	BF_TRY(bf_records_begin(s->dir->codec, h, batch, s->seg.pos, s->dir->scratch, &it, err));
	for (;;)
	{
		BF_TRY(bf_records_next(&it, &r, &more, err));
		if (!more)
			return BF_OK;
		s->dir->counters->entries_decoded++;
		if (r.timestamp >= s->t)
		{
			BF_ASSERT(r.offset >= h->base_offset && r.offset <= h->last_offset);
			s->found = true;
			s->offset = r.offset;
			return BF_OK;
		}
	}
}

/*
 * Walks from the segment's position. With check_offset >= 0 the batch that holds this offset must
 * have the largest timestamp check_time and none before it may reach t: this is what the index
 * said. *lied = true when not.
 */
static BfStatus
search_from(TimeSearch *s, int64_t check_offset, int64_t check_time, bool *lied, BfError *err)
{
	BfBatchHeader h;
	const uint8_t *batch;
	bool end;

	BF_ASSERT(check_offset < 0 || check_time <= s->t);
	*lied = false;
	while (!s->found)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(s->dir->arena), err));
		BF_TRY(bfi_segment_header(&s->seg, &h, &end, err));
		/* The offset found must be right, not only the record. */
		if (!end && h.max_timestamp >= s->t)
			BF_TRY(bfi_segment_check_next(&s->seg, &h, err));
		if (!end)
			BF_TRY(bfi_segment_check(&s->seg, &h, &batch, err));
		if (check_offset >= 0 && (end || h.last_offset >= check_offset))
		{
			*lied = end || h.base_offset > check_offset || h.max_timestamp != check_time;
			check_offset = -1;
		}
		else if (check_offset >= 0)
			*lied = h.max_timestamp >= check_time;
		if (*lied || end)
			return BF_OK;
		if (h.max_timestamp >= s->t)
			BF_TRY(search_batch(s, &h, batch, err));
		else
			s->dir->counters->batches_skipped++;
		bfi_segment_advance(&s->seg, &h);
	}
	return BF_OK;
}

static BfStatus
search_segment(TimeSearch *s, int32_t i, BfError *err)
{
	BfIndexEntry e;
	bool found, lied;

	BF_TRY(bfi_segment_open(&s->seg, i, err));
	BF_TRY(bfi_segment_index_floor(&s->seg, BF_INDEX_TIMES, s->t, &e, &found, err));
	if (found)
	{
		BF_TRY(bfi_segment_seek(&s->seg, e.offset, err));
		BF_TRY(search_from(s, e.offset, e.timestamp, &lied, err));
		if (!lied)
			return BF_OK;
		BF_TRY(bfi_segment_open(&s->seg, i, err));
	}
	return search_from(s, -1, 0, &lied, err);
}

/* Fails with the segment's name. */
static BfStatus
search(TimeSearch *s, int32_t i, BfError *err)
{
	BfStatus status = search_segment(s, i, err);

	if (status != BF_OK && s->seg.info != NULL)
		bf_error_object(err, s->seg.info->path);
	return status;
}

BfStatus
bf_log_dir_offset_for_time(BfLogDir *d, int64_t t_ms, int64_t *offset, BfError *err)
{
	TimeSearch s = {.dir = d, .t = t_ms};
	BfStatus status = BF_OK;
	int64_t start;

	BF_TRY(bf_log_dir_bounds(d, &start, offset, err));
	if (d->n_segments == 0)
		return BF_OK;
	BF_TRY(bfi_segment_init(d->arena, d, true, &s.seg, err));
	for (int32_t i = 0; i < d->n_segments && !s.found && status == BF_OK; i++)
		status = search(&s, i, err);
	bfi_segment_close(&s.seg);
	BF_ASSERT(!s.found || s.offset >= start);
	if (s.found)
		*offset = s.offset;
	return status;
}

/* Segments in the middle of `wanted`, that end before `before`, and how many of them are older. */
static BfStatus
find_older(TimeSearch *s, const BfRangeSet *wanted, int64_t before, BfRange *older, int32_t *n,
		   BfError *err)
{
	const BfSegmentInfo *all = s->dir->segments;

	*n = 0;
	for (int32_t i = bfi_dir_find(s->dir, wanted->ranges[0].first) + 1;
		 i + 1 < s->dir->n_segments && all[i + 1].base_offset <= before; i++)
	{
		BfRange here = {all[i].base_offset, all[i + 1].base_offset - 1};
		BfRangeSet one = {1, &here};

		if (!bf_rangeset_overlaps(wanted, &one))
			continue;
		s->found = false;
		BF_TRY(search(s, i, err));
		if (!s->found)
			older[(*n)++] = here;
	}
	BF_ASSERT(*n < s->dir->n_segments);
	return BF_OK;
}

BfStatus
bf_log_dir_leave_older(BfArena *a, BfLogDir *d, int64_t t_ms, int64_t before, BfRangeSet *wanted,
					   BfError *err)
{
	TimeSearch s = {.dir = d, .t = t_ms};
	BfRangeSet older = {0, NULL};
	BfStatus status;

	if (wanted->n == 0 || d->n_segments < 3)
		return BF_OK;
	BF_NEW_RAW(a, older.ranges, d->n_segments, err);
	BF_TRY(bfi_segment_init(d->arena, d, true, &s.seg, err));
	status = find_older(&s, wanted, before, older.ranges, &older.n, err);
	bfi_segment_close(&s.seg);
	if (status != BF_OK || older.n == 0)
		return status;
	return bf_rangeset_subtract(a, wanted, &older, wanted, err);
}

/* ---- ledgers ---- */

typedef struct Older
{
	BfiSegment seg;
	int64_t t;
	int64_t first; /* of what is left out, through `last` */
	int64_t last;  /* < first: nothing */
	int64_t n;	   /* batches */
} Older;

/*
 * From the segment's entry `from` on to the one that an entry of the time index names. That says
 * that all of them are older, and so must each header, and the last batch, checked, have the very
 * time: an index that fell behind its log in a crash is of other batches.
 */
static BfStatus
confirm_older(Older *o, int64_t from, const BfIndexEntry *e, BfError *err)
{
	int64_t next = -1, passed;
	const uint8_t *batch;
	BfBatchHeader h;
	bool end;

	BF_TRY(bfi_segment_seek(&o->seg, from, err));
	BF_TRY(bfi_segment_pass(&o->seg, from, &passed, err));
	o->seg.sparse = true;
	for (o->n = 1;; o->n++)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(o->seg.dir->arena), err));
		BF_TRY(bfi_segment_header(&o->seg, &h, &end, err));
		if (end || h.max_timestamp >= o->t || h.last_offset > e->offset ||
			(next >= 0 ? h.base_offset != next : h.base_offset > from))
			return BF_OK;
		if (h.last_offset == e->offset)
			break;
		next = h.last_offset + 1;
		bfi_segment_advance(&o->seg, &h);
	}
	if (h.max_timestamp != e->timestamp)
		return BF_OK;
	BF_TRY(bfi_segment_check(&o->seg, &h, &batch, err));
	o->first = from;
	o->last = e->offset;
	return BF_OK;
}

static BfStatus
older_of_segment(Older *o, int32_t i, int64_t from, BfError *err)
{
	BfIndexEntry e;
	bool found;

	BF_TRY(bfi_segment_open(&o->seg, i, err));
	o->seg.sparse = false;
	BF_TRY(bfi_segment_index_floor(&o->seg, BF_INDEX_TIMES, o->t - 1, &e, &found, err));
	return found && e.offset >= from ? confirm_older(o, from, &e, err) : BF_OK;
}

/* What can't be confirmed stays. */
static BfStatus
find_older_entries(Older *o, const BfRangeSet *wanted, BfRange *older, int32_t *n, BfError *err)
{
	const BfLogDir *d = o->seg.dir;
	int64_t last = wanted->ranges[wanted->n - 1].last;

	*n = 0;
	for (int32_t i = bfi_dir_find(d, wanted->ranges[0].first);
		 i < d->n_segments && d->segments[i].base_offset <= last; i++)
	{
		int32_t range = bf_rangeset_seek(wanted, d->segments[i].base_offset);
		int64_t from = wanted->ranges[range].first;
		BfError failed;
		BfStatus status;

		if (from < d->segments[i].base_offset)
			from = d->segments[i].base_offset;
		if (i + 1 < d->n_segments && from >= d->segments[i + 1].base_offset)
			continue;
		o->first = 0;
		o->last = -1;
		status = older_of_segment(o, i, from, &failed);
		if (status == BF_ERR_NOMEM || status == BF_ERR_CANCEL || status == BF_ERR_HOST)
		{
			*err = failed;
			return status;
		}
		if (status != BF_OK || o->last < o->first)
			continue;
		older[(*n)++] = (BfRange){o->first, o->last};
		d->counters->batches_skipped += o->n;
	}
	return BF_OK;
}

BfStatus
bf_log_dir_leave_before(BfArena *a, BfLogDir *d, int64_t t_ms, BfRangeSet *wanted, BfError *err)
{
	Older o = {.t = t_ms};
	BfRangeSet older = {0, NULL};
	BfStatus status;

	if (wanted->n == 0 || d->n_segments == 0 || t_ms <= 0)
		return BF_OK;
	BF_NEW_RAW(a, older.ranges, d->n_segments, err);
	BF_TRY(bfi_segment_init(a, d, false, &o.seg, err));
	status = find_older_entries(&o, wanted, older.ranges, &older.n, err);
	bfi_segment_close(&o.seg);
	if (status != BF_OK || older.n == 0)
		return status;
	return bf_rangeset_subtract(a, wanted, &older, wanted, err);
}
