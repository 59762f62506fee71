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
