/* Appending to a ledger: segments, their indexes, and when what is durable. */
#include "log/writer_internal.h"

#define SEGMENT_BYTES_DEFAULT ((int64_t) 128 << 20)
#define SEGMENT_BYTES_LIMIT INT32_MAX
/* Index entries are collected and written together: at a sync, or when there are so many. A reader
 * that doesn't find the last ones walks a little further. */
#define ADDED_BYTES 4096
#define ADDED_BYTES_MAX ((size_t) 64 << 20)
#define WORK_BYTES_MAX ((size_t) 1 << 30)

static void
release(void *arg)
{
	BfLedgerWriter *w = arg;

	bfi_writer_close_files(w);
	bf_arena_free(w->work);
}

static BfStatus
named(const BfLedgerWriter *w, BfStatus status, BfError *err)
{
	return status == BF_OK ? BF_OK : bf_error_object(err, w->dir);
}

BfStatus
bf_ledger_writer_open(BfArena *a, const char *dir, BfLedgerEnd end, const BfLedgerOptions *options,
					  BfLedgerWriter **out, BfError *err)
{
	BfLedgerWriter *w;

	BF_NEW(a, w, 1, err);
	w->arena = a;
	w->host = bf_arena_host(a);
	w->options = options != NULL ? *options : (BfLedgerOptions){.codec = BF_CODEC_ZSTD};
	if (w->options.segment_bytes_max <= 0)
		w->options.segment_bytes_max = SEGMENT_BYTES_DEFAULT;
	if (w->options.segment_bytes_max > SEGMENT_BYTES_LIMIT)
		w->options.segment_bytes_max = SEGMENT_BYTES_LIMIT;
	w->log = w->index.file = w->times.file = -1;
	w->end = end;
	BF_TRY_PTR(a, w->dir, bf_arena_strdup(a, dir), err);
	BF_TRY(bf_codec_context_new(a, &w->codec, err));
	BF_TRY(bf_buffer_new(a, BF_BATCH_BYTES_MAX, &w->raw, err));
	BF_TRY(bf_buffer_new(a, (size_t) BF_BATCH_BYTES_MAX * 2, &w->batch, err));
	BF_TRY(bf_buffer_new(a, ADDED_BYTES_MAX, &w->index.added, err));
	BF_TRY(bf_buffer_new(a, ADDED_BYTES_MAX, &w->times.added, err));
	w->work = bf_arena_new(w->host, "ledger writer", WORK_BYTES_MAX);
	if (w->work == NULL)
		return bf_arena_fail(a, 0, err);
	if (!bf_arena_on_cleanup(a, release, w))
	{
		bf_arena_free(w->work);
		return bf_arena_fail(a, 0, err);
	}
	/* Acknowledged bytes lie in a directory that was made durable before they were. */
	if (end.position == 0)
		BF_TRY(named(w, w->host->mkdirs(w->host, dir, err), err));
	BF_TRY(bfi_writer_settle(w, err));
	*out = w;
	return BF_OK;
}

/* ---- index entries ---- */

BfStatus
bfi_writer_reserve_entries(BfLedgerWriter *w, BfError *err)
{
	BF_TRY(bf_buffer_reserve(w->index.added, BF_OFFSET_INDEX_ENTRY_BYTES, err));
	return bf_buffer_reserve(w->times.added, BF_TIME_INDEX_ENTRY_BYTES, err);
}

static void
add_time_entry(BfLedgerWriter *w)
{
	uint8_t *p = w->times.added->data + w->times.added->len;

	if (w->max_timestamp <= w->time_entry)
		return;
	BF_ASSERT(w->times.added->cap - w->times.added->len >= BF_TIME_INDEX_ENTRY_BYTES);
	BF_ASSERT(w->max_timestamp_offset >= w->base && w->max_timestamp_offset - w->base <= INT32_MAX);
	bf_store64be(p, (uint64_t) w->max_timestamp);
	bf_store32be(p + 8, (uint32_t) (w->max_timestamp_offset - w->base));
	w->times.added->len += BF_TIME_INDEX_ENTRY_BYTES;
	w->time_entry = w->max_timestamp;
}

void
bfi_writer_index_batch(BfLedgerWriter *w, int64_t position, int64_t last_offset,
					   int64_t max_timestamp)
{
	uint8_t *p = w->index.added->data + w->index.added->len;

	BF_ASSERT(last_offset >= w->base && last_offset - w->base <= INT32_MAX);
	BF_ASSERT(position >= w->indexed_position);
	if (max_timestamp > w->max_timestamp)
	{
		w->max_timestamp = max_timestamp;
		w->max_timestamp_offset = last_offset;
	}
	if (position - w->indexed_position <= BF_INDEX_INTERVAL_BYTES)
		return;
	BF_ASSERT(w->index.added->cap - w->index.added->len >= BF_OFFSET_INDEX_ENTRY_BYTES);
	bf_store32be(p, (uint32_t) (last_offset - w->base));
	bf_store32be(p + 4, (uint32_t) position);
	w->index.added->len += BF_OFFSET_INDEX_ENTRY_BYTES;
	w->indexed_position = position;
	add_time_entry(w);
}

static BfStatus
flush_index(BfLedgerWriter *w, BfiIndexFile *f, BfError *err)
{
	BF_ASSERT(f->file >= 0);
	if (f->added->len == 0)
		return BF_OK;
	BF_TRY(w->host->write_at(w->host, f->file, f->size, f->added->data, f->added->len, err));
	f->size += (int64_t) f->added->len;
	f->added->len = 0;
	return BF_OK;
}

static BfStatus
flush_indexes(BfLedgerWriter *w, BfError *err)
{
	BF_TRY(flush_index(w, &w->index, err));
	return flush_index(w, &w->times, err);
}

/* ---- the end of a segment ---- */

/* A sync that fails is the writer's end, also when the bytes are taken back afterwards: the kernel
 * tells of it once, and may have dropped pages that earlier rows of the transaction are in. */
static BfStatus
sync_segment(BfLedgerWriter *w, BfError *err)
{
	bool dead = w->dead;

	w->dead = true;
	BF_TRY(w->host->sync(w->host, w->log, err));
	BF_TRY(w->host->sync(w->host, w->index.file, err));
	BF_TRY(w->host->sync(w->host, w->times.file, err));
	w->dead = dead;
	return BF_OK;
}

static BfStatus
finish_segment(BfLedgerWriter *w, BfError *err)
{
	BF_TRY(bfi_writer_reserve_entries(w, err));
	add_time_entry(w);
	BF_TRY(flush_indexes(w, err));
	return sync_segment(w, err);
}

static BfStatus
roll(BfLedgerWriter *w, BfError *err)
{
	BF_ASSERT(w->end.entry > w->base && w->end.position > 0);
	w->settled = false;
	BF_TRY(finish_segment(w, err));
	bfi_writer_close_files(w);
	BF_TRY(bfi_writer_open_files(w, w->end.entry, true, err));
	bf_arena_reset(w->work);
	return BF_OK;
}

/* ---- the interface ---- */

static BfStatus
ready(BfLedgerWriter *w, BfError *err)
{
	if (w->dead)
		BF_FAIL(err, BF_ERR_IO, "the ledger's writer is closed, or failed to make bytes durable");
	return w->settled ? BF_OK : bfi_writer_settle(w, err);
}

/* timestamps_ms = NULL: all have timestamp_ms. */
static BfStatus
build(BfLedgerWriter *w, const BfView *values, const int64_t *timestamps_ms, int32_t n,
	  int64_t timestamp_ms, BfError *err)
{
	if (timestamps_ms == NULL)
		return bf_batch_build(w->codec, w->options.codec, w->options.level, w->end.entry, values, n,
							  timestamp_ms, w->raw, w->batch, err);
	return bf_batch_build_timed(w->codec, w->options.codec, w->options.level, w->end.entry, values,
								timestamps_ms, n, w->raw, w->batch, err);
}

/* timestamp_ms is the largest. */
static BfStatus
append(BfLedgerWriter *w, const BfView *values, const int64_t *timestamps_ms, int32_t n,
	   int64_t timestamp_ms, BfError *err)
{
	int64_t position = w->end.position;
	int64_t len;

	BF_ASSERT(w->settled && !w->dead);
	if (w->end.entry > BF_ENTRY_MAX - n)
		BF_FAIL(err, BF_ERR_LIMIT, "the ledger is full: it has %lld entries",
				(long long) w->end.entry);
	w->batch->len = 0;
	BF_TRY(build(w, values, timestamps_ms, n, timestamp_ms, err));
	len = (int64_t) w->batch->len;
	if (position > 0 &&
		(position + len > w->options.segment_bytes_max || w->end.entry + n - w->base > INT32_MAX))
	{
		BF_TRY(roll(w, err));
		position = 0;
	}
	BF_ASSERT(position > 0 || w->base == w->end.entry);
	/* Until the bytes are there the files are not at `end`: after a roll not even the right ones.
	 */
	w->settled = false;
	BF_TRY(bfi_writer_reserve_entries(w, err));
	if (w->index.added->len + w->times.added->len > ADDED_BYTES)
		BF_TRY(flush_indexes(w, err));
	BF_TRY(w->host->write_at(w->host, w->log, position, w->batch->data, w->batch->len, err));
	w->settled = true;
	w->dirty = true;
	bfi_writer_index_batch(w, position, w->end.entry + n - 1, timestamp_ms);
	w->end = (BfLedgerEnd){w->end.entry + n, w->base, position + len};
	return BF_OK;
}

BfStatus
bf_ledger_append(BfLedgerWriter *w, const BfView *values, int32_t n, int64_t timestamp_ms,
				 BfError *err)
{
	BF_TRY(ready(w, err));
	return named(w, append(w, values, NULL, n, timestamp_ms, err), err);
}

BfStatus
bf_ledger_append_timed(BfLedgerWriter *w, const BfView *values, const int64_t *timestamps_ms,
					   int32_t n, BfError *err)
{
	int64_t largest = timestamps_ms[0];

	BF_ASSERT(n > 0);
	for (int32_t i = 1; i < n; i++)
		if (timestamps_ms[i] > largest)
			largest = timestamps_ms[i];
	BF_TRY(ready(w, err));
	return named(w, append(w, values, timestamps_ms, n, largest, err), err);
}

BfLedgerEnd
bf_ledger_writer_end(const BfLedgerWriter *w)
{
	return w->end;
}

size_t
bf_ledger_writer_memory(const BfLedgerWriter *w)
{
	return w->raw->cap + w->batch->cap;
}

BfStatus
bf_ledger_writer_rewind(BfLedgerWriter *w, BfLedgerEnd end, BfError *err)
{
	BF_ASSERT(end.entry <= w->end.entry && end.segment <= w->end.segment);
	if (w->settled && end.entry == w->end.entry)
		return BF_OK;
	w->end = end;
	w->settled = false;
	return ready(w, err);
}

static BfStatus
make_durable(BfLedgerWriter *w, bool indexes, BfError *err)
{
	BF_ASSERT(w->settled && w->log >= 0);
	if (indexes)
		BF_TRY(finish_segment(w, err));
	else
	{
		BF_TRY(flush_indexes(w, err));
		if (w->dirty)
			BF_TRY(w->host->sync(w->host, w->log, err));
	}
	w->dirty = false;
	if (w->dir_dirty)
		BF_TRY(w->host->sync_dir(w->host, w->dir, err));
	w->dir_dirty = false;
	return BF_OK;
}

BfStatus
bf_ledger_writer_sync(BfLedgerWriter *w, BfError *err)
{
	BF_TRY(ready(w, err));
	w->dead = true;
	BF_TRY(named(w, make_durable(w, false, err), err));
	w->dead = false;
	return BF_OK;
}

BfStatus
bf_ledger_writer_close(BfLedgerWriter *w, BfError *err)
{
	BF_TRY(ready(w, err));
	w->dead = true;
	BF_TRY(named(w, make_durable(w, true, err), err));
	bfi_writer_close_files(w);
	return BF_OK;
}
