/*
 * Bringing a ledger's files to an end (entry, segment, position) that was acknowledged.
 *
 *   1. Segments with a greater base are removed, the greatest first.
 *   2. In the segment of the end, index entries of batches before the end are kept, and the time
 *      entries that were made along with them: those with an offset up to the last kept entry's.
 *      Later ones come from a roll or a close that does not count any more.
 *   3. The log is walked from the last kept entry's batch, checksums included. It must reach
 *      exactly the end; the entries that the rule asks for are added on the way. If it does not,
 *      the indexes are given up and the walk starts at 0; if that fails too, acknowledged bytes
 *      are damaged, and that is the caller's problem: nothing is changed then.
 *   4. The files are truncated.
 */
#include "log/writer_internal.h"

#include <stdio.h>

void
bfi_writer_close_files(BfLedgerWriter *w)
{
	int *files[] = {&w->log, &w->index.file, &w->times.file};

	for (int i = 0; i < 3; i++)
	{
		if (*files[i] >= 0)
			w->host->close(w->host, *files[i]);
		*files[i] = -1;
	}
}

static BfStatus
open_file(BfLedgerWriter *w, int64_t base, const char *suffix, bool fresh, int *file, int64_t *size,
		  BfError *err)
{
	char name[32];
	const char *path;
	BfStatus status;

	snprintf(name, sizeof name, "%020lld.%s", (long long) base, suffix);
	BF_TRY_PTR(w->work, path, bf_arena_printf(w->work, "%s/%s", w->dir, name), err);
	status = w->host->open(w->host, path, BF_OPEN_WRITE, file, err);
	if (status != BF_OK)
		*file = -1;
	else
		status = w->host->file_size(w->host, *file, size, err);
	if (status == BF_OK && fresh && *size > 0)
	{
		status = w->host->truncate(w->host, *file, 0, err);
		*size = 0;
	}
	return status == BF_OK ? BF_OK : bf_error_object(err, path);
}

BfStatus
bfi_writer_open_files(BfLedgerWriter *w, int64_t base, bool fresh, BfError *err)
{
	int64_t log_size;

	BF_ASSERT(w->log < 0 && w->index.file < 0 && w->times.file < 0);
	w->dir_dirty = true;
	w->dirty = true;
	BF_TRY(open_file(w, base, "log", fresh, &w->log, &log_size, err));
	BF_TRY(open_file(w, base, "index", fresh, &w->index.file, &w->index.size, err));
	BF_TRY(open_file(w, base, "timeindex", fresh, &w->times.file, &w->times.size, err));
	w->base = base;
	if (fresh)
	{
		w->index.added->len = w->times.added->len = 0;
		w->indexed_position = 0;
		w->max_timestamp = w->max_timestamp_offset = w->time_entry = -1;
	}
	return BF_OK;
}

static BfStatus
remove_segments_after(BfLedgerWriter *w, const BfLogDir *d, BfError *err)
{
	static const char *const suffixes[] = {"log", "index", "timeindex"};

	BF_ASSERT(!w->settled);
	for (int32_t i = d->n_segments; i-- > 0 && d->segments[i].base_offset > w->end.segment;)
	{
		w->dir_dirty = true;
		for (int k = 0; k < 3; k++)
		{
			const char *path;

			BF_TRY(bfi_dir_path(d, w->work, d->segments[i].base_offset, suffixes[k], &path, err));
			BF_TRY(w->host->unlink(w->host, path, err));
		}
	}
	return BF_OK;
}

/* How many entries of the indexes stay. */
typedef struct Kept
{
	const BfIndex *offsets;
	const BfIndex *times;
	int32_t n_offsets;
	int32_t n_times;
} Kept;

/* Step 2. Lowers the numbers to those that are kept, and sets the writer's state to that of the
 * moment when the last kept entry was made. */
static void
keep_entries(BfLedgerWriter *w, Kept *k)
{
	BfIndexEntry e = {-1, 0, 0};
	BfIndexEntry t = {-1, 0, -1};

	w->index.added->len = w->times.added->len = 0;
	w->indexed_position = 0;
	w->max_timestamp = w->max_timestamp_offset = w->time_entry = -1;
	for (; k->n_offsets > 0; k->n_offsets--)
	{
		bf_index_entry(k->offsets, k->n_offsets - 1, &e);
		if (e.offset < w->end.entry && e.position < w->end.position)
			break;
	}
	for (; k->n_times > 0; k->n_times--)
	{
		bf_index_entry(k->times, k->n_times - 1, &t);
		if (k->n_offsets > 0 && t.offset <= e.offset)
			break;
	}
	if (k->n_offsets > 0 && k->n_times > 0)
	{
		w->indexed_position = e.position;
		w->max_timestamp = w->time_entry = t.timestamp;
		w->max_timestamp_offset = t.offset;
	}
	else
		/* Every index entry comes with a time: without one they don't belong together. */
		k->n_offsets = k->n_times = 0;
	BF_ASSERT((k->n_offsets > 0) == (k->n_times > 0));
	BF_ASSERT(w->indexed_position < w->end.position);
}

/* Step 3, from the place that keep_entries left. */
static BfStatus
walk(BfLedgerWriter *w, BfiSegment *s, const Kept *k, BfError *err)
{
	int64_t next = w->base;
	int64_t indexed_offset = -1;
	BfIndexEntry e;

	BF_ASSERT(w->base == s->info->base_offset && w->end.position <= s->size);
	if (k->n_offsets > 0)
	{
		bf_index_entry(k->offsets, k->n_offsets - 1, &e);
		indexed_offset = e.offset;
	}
	s->pos = w->indexed_position;
	s->last_offset = -1;
	while (s->pos < w->end.position)
	{
		bool first = s->pos == w->indexed_position;
		const uint8_t *batch;
		BfBatchHeader h;
		bool end;

		BF_TRY(bf_check_cancel(w->host, err));
		BF_TRY(bfi_segment_header(s, &h, &end, err));
		BF_DATA(err, !end, s->pos, "the ledger's bytes end before their acknowledged end");
		BF_DATA(err,
				(first && indexed_offset >= 0) ? h.last_offset == indexed_offset
											   : h.base_offset == next,
				s->pos, "a record batch with entries %lld-%lld is not the one expected here",
				(long long) h.base_offset, (long long) h.last_offset);
		/* The time made along with this entry covers its batch, unless a crash took its page. */
		BF_DATA(err, !first || indexed_offset < 0 || h.max_timestamp <= w->time_entry, s->pos,
				"the time index lacks entries");
		BF_TRY(bfi_segment_fetch(s, &h, &batch, err));
		if (!first || indexed_offset < 0)
		{
			BF_TRY(bfi_writer_reserve_entries(w, err));
			bfi_writer_index_batch(w, s->pos, h.last_offset, h.max_timestamp);
		}
		bfi_segment_advance(s, &h);
		next = h.last_offset + 1;
	}
	BF_DATA(err, s->pos == w->end.position && next == w->end.entry, w->end.position,
			"the acknowledged end, entry %lld, is not the end of a record batch",
			(long long) w->end.entry);
	return BF_OK;
}

static BfStatus
restore_state(BfLedgerWriter *w, BfLogDir *d, int32_t number, BfError *err)
{
	BfiSegment s;
	Kept k;
	BfError first;
	BfStatus status;

	BF_ASSERT(w->end.position > 0);
	BF_TRY(bfi_segment_init(w->work, d, false, &s, err));
	BF_TRY(bfi_segment_open(&s, number, err));
	BF_DATA(err, s.size >= w->end.position, s.size,
			"the ledger's bytes end before their acknowledged end at %lld",
			(long long) w->end.position);
	BF_TRY(bfi_segment_index_load(&s, BF_INDEX_OFFSETS, &k.offsets, err));
	BF_TRY(bfi_segment_index_load(&s, BF_INDEX_TIMES, &k.times, err));
	k.n_offsets = k.offsets->n;
	k.n_times = k.times->n;
	keep_entries(w, &k);
	status = walk(w, &s, &k, &first);
	if (k.n_offsets > 0 &&
		(status == BF_ERR_CORRUPT || status == BF_ERR_UNSUPPORTED || status == BF_ERR_LIMIT))
	{
		k.n_offsets = k.n_times = 0;
		keep_entries(w, &k);
		status = walk(w, &s, &k, &first);
	}
	if (status != BF_OK)
	{
		*err = first;
		return bf_error_object(err, s.info->path);
	}
	w->index.size = (int64_t) k.n_offsets * BF_OFFSET_INDEX_ENTRY_BYTES;
	w->times.size = (int64_t) k.n_times * BF_TIME_INDEX_ENTRY_BYTES;
	bfi_segment_close(&s);
	return BF_OK;
}

static BfStatus
truncate_to(BfLedgerWriter *w, int file, int64_t size, BfError *err)
{
	int64_t now;

	BF_ASSERT(file >= 0 && size >= 0);
	BF_TRY(w->host->file_size(w->host, file, &now, err));
	return now == size ? BF_OK : w->host->truncate(w->host, file, size, err);
}

static BfStatus
settle(BfLedgerWriter *w, BfError *err)
{
	BfLogDir *d;
	int32_t i;
	int64_t index_size, times_size;

	BF_DATA(err,
			w->end.position > 0 ? w->end.entry > w->end.segment : w->end.entry == w->end.segment,
			-1, "entry %lld at position %lld of segment %lld is not an end of a ledger",
			(long long) w->end.entry, (long long) w->end.position, (long long) w->end.segment);
	BF_TRY(bf_log_dir_open(w->work, w->dir, NULL, &d, err));
	i = bfi_dir_find(d, w->end.segment);
	w->base = w->end.segment;
	if (w->end.position == 0)
	{
		BF_TRY(remove_segments_after(w, d, err));
		return bfi_writer_open_files(w, w->base, true, err);
	}
	if (i >= d->n_segments || d->segments[i].base_offset != w->base)
		BF_FAIL(err, BF_ERR_CORRUPT, "segment %020lld of the ledger is missing",
				(long long) w->base);
	BF_TRY(restore_state(w, d, i, err));
	index_size = w->index.size;
	times_size = w->times.size;
	BF_TRY(remove_segments_after(w, d, err));
	BF_TRY(bfi_writer_open_files(w, w->base, false, err));
	BF_TRY(truncate_to(w, w->log, w->end.position, err));
	BF_TRY(truncate_to(w, w->index.file, index_size, err));
	BF_TRY(truncate_to(w, w->times.file, times_size, err));
	w->index.size = index_size;
	w->times.size = times_size;
	return BF_OK;
}

BfStatus
bfi_writer_settle(BfLedgerWriter *w, BfError *err)
{
	BfStatus status;

	BF_ASSERT(!w->dead);
	w->settled = false;
	bfi_writer_close_files(w);
	status = settle(w, err);
	bf_arena_reset(w->work);
	if (status != BF_OK)
		return bf_error_object(err, w->dir);
	BF_ASSERT(w->log >= 0 && w->index.file >= 0 && w->times.file >= 0);
	BF_ASSERT(w->base == w->end.segment);
	w->settled = true;
	return BF_OK;
}
