/*
 * Where looking for open transactions may begin: what a broker wrote down beside the log.
 *
 *   .snapshot, the producers at the offset in its name:
 *     0  2  version = 1
 *     2  4  CRC-32C over byte 6 to the end
 *     6  4  n, then n times 46 bytes: producer id 8, epoch 2, last sequence 4, last offset 8,
 *           offset delta 4, timestamp 8, coordinator epoch 4, first offset of the open
 *           transaction 8 (-1)
 *
 *   .txnindex, an aborted transaction each, in the order of their markers:
 *     0  2  version = 0
 *     2  8  producer id, then 8 each: its first offset, that of the marker, and the last stable
 *           offset there
 *
 * A snapshot says which transactions are open at its offset. An entry of a .txnindex says that none
 * is which began before its last stable offset, and has no checksum. Both are hints: they count
 * while the log has what they name, and do not contradict each other. Of the .txnindex two entries
 * must be there, and the smaller stable offset counts: each is a place to begin at, so if one of
 * them is damaged the smaller of both is not past the other one's.
 */
#include "log/internal.h"

#define SNAPSHOT_HEAD_BYTES 10
#define PRODUCER_BYTES 46
#define ABORT_BYTES 34

_Static_assert(PRODUCER_BYTES == 8 + 2 + 4 + 8 + 4 + 8 + 4 + 8, "a producer of a snapshot");
_Static_assert(ABORT_BYTES == 2 + 4 * 8, "an aborted transaction");

#define FILE_BYTES_MAX ((size_t) 256 << 20)

typedef struct Abort
{
	int64_t producer_id;
	int64_t first;
	int64_t marker;
	int64_t stable;
} Abort;

typedef struct Hints
{
	BfLogDir *dir;
	BfArena *arena;
	BfiSegment seg;
	int64_t start;
	int64_t end;
} Hints;

/* A failure that says nothing of the query is one of the hint. */
static BfStatus
forgive(BfStatus status, const BfError *failed, bool *ok, BfError *err)
{
	*ok = status == BF_OK;
	if (status != BF_ERR_NOMEM && status != BF_ERR_CANCEL && status != BF_ERR_HOST)
		return BF_OK;
	*err = *failed;
	return status;
}

/* ---- what the log has ---- */

/* The batch that ends at or past the offset, checked; *batch = NULL: there is none. */
static BfStatus
batch_at(Hints *s, int64_t offset, BfBatchHeader *h, const uint8_t **batch, BfError *err)
{
	bool end;

	*batch = NULL;
	BF_TRY(bfi_segment_open(&s->seg, bfi_dir_find(s->dir, offset), err));
	BF_TRY(bfi_segment_seek(&s->seg, offset, err));
	for (;;)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(s->dir->arena), err));
		BF_TRY(bfi_segment_header(&s->seg, h, &end, err));
		if (end)
			return BF_OK;
		if (h->last_offset >= offset)
			return bfi_segment_check(&s->seg, h, batch, err);
		bfi_segment_advance(&s->seg, h);
	}
}

/* Does a batch with a transaction's data begin there? Of which producer? */
static BfStatus
begins(Hints *s, int64_t offset, int64_t *producer_id, bool *yes, BfError *err)
{
	BfBatchHeader h;
	BfError failed;
	const uint8_t *batch;

	BF_TRY(forgive(batch_at(s, offset, &h, &batch, &failed), &failed, yes, err));
	*yes = *yes && batch != NULL && h.base_offset == offset && h.transactional && !h.control;
	if (*yes)
		*producer_id = h.producer_id;
	return BF_OK;
}

static BfStatus
control_type(Hints *s, const BfBatchHeader *h, const uint8_t *batch, BfControlType *type,
			 BfError *err)
{
	return bf_batch_control_type(s->dir->codec, h, batch, s->seg.pos, s->dir->scratch, type, err);
}

/* Does it end there, aborted? And is the last stable offset behind the marker, or the beginning of
 * another one's? */
static BfStatus
aborts(Hints *s, const Abort *a, bool *yes, BfError *err)
{
	BfBatchHeader h;
	BfError failed;
	const uint8_t *batch;
	BfControlType type;
	int64_t other;

	BF_TRY(forgive(batch_at(s, a->marker, &h, &batch, &failed), &failed, yes, err));
	*yes = *yes && batch != NULL && h.last_offset == a->marker && h.transactional && h.control &&
		   h.producer_id == a->producer_id;
	if (!*yes)
		return BF_OK;
	BF_TRY(forgive(control_type(s, &h, batch, &type, &failed), &failed, yes, err));
	*yes = *yes && type == BF_CONTROL_ABORT;
	return *yes && a->stable <= a->marker ? begins(s, a->stable, &other, yes, err) : BF_OK;
}

/* ---- .snapshot ---- */

static BfStatus
parse_snapshot(Hints *s, BfView bytes, BfiTxnHint *out, BfError *err)
{
	const uint8_t *p = bytes.ptr;
	size_t n;

	BF_DATA(err, bytes.len >= SNAPSHOT_HEAD_BYTES && bf_load16be(p) == 1, 0,
			"not a producer snapshot of version 1");
	BF_DATA(err, bf_crc32c(p + 6, bytes.len - 6) == bf_load32be(p + 2), 2,
			"the checksum of a producer snapshot is wrong");
	n = bf_load32be(p + 6);
	BF_DATA(err,
			n == (bytes.len - SNAPSHOT_HEAD_BYTES) / PRODUCER_BYTES &&
				n * PRODUCER_BYTES + SNAPSHOT_HEAD_BYTES == bytes.len,
			6, "%zu producers do not fit the size of a snapshot", n);
	p += SNAPSHOT_HEAD_BYTES;
	BF_NEW_RAW(s->arena, out->open, n, err);
	for (size_t i = 0; i < n; i++, p += PRODUCER_BYTES)
	{
		int64_t first = (int64_t) bf_load64be(p + 38);

		if (first >= 0)
			out->open[out->n++] = (BfiTxn){(int64_t) bf_load64be(p), first};
	}
	BF_ASSERT(p == bytes.ptr + bytes.len && out->n <= n);
	return BF_OK;
}

static BfStatus
read_snapshot(Hints *s, int64_t offset, BfiTxnHint *out, BfError *err)
{
	const char *path;
	BfView bytes;

	*out = (BfiTxnHint){.from = offset};
	BF_TRY(bfi_dir_path(s->dir, s->arena, offset, "snapshot", &path, err));
	BF_TRY(bf_source_read_all(s->arena, path, FILE_BYTES_MAX, &s->dir->counters->io, &bytes, err));
	return parse_snapshot(s, bytes, out, err);
}

/* Is what it calls open in the log? What retention has removed can't be looked at. */
static BfStatus
snapshot_agrees(Hints *s, const BfiTxnHint *hint, bool *yes, BfError *err)
{
	*yes = true;
	for (size_t i = 0; i < hint->n && *yes; i++)
	{
		int64_t producer_id = hint->open[i].producer_id;

		if (hint->open[i].first_offset >= hint->from)
			*yes = false;
		else if (hint->open[i].first_offset >= s->start)
			BF_TRY(begins(s, hint->open[i].first_offset, &producer_id, yes, err));
		*yes = *yes && producer_id == hint->open[i].producer_id;
	}
	return BF_OK;
}

/* The newest good one in [start, end]. One that was deleted meanwhile or is damaged is as good as
 * none: an older one does too, with more of the log to pass. */
static BfStatus
newest_snapshot(Hints *s, BfiTxnHint *out, BfError *err)
{
	const BfLogDir *d = s->dir;

	for (int32_t i = d->n_snapshots; i-- > 0 && d->snapshots[i] >= s->start;)
	{
		BfError failed;
		bool ok;

		if (d->snapshots[i] > s->end)
			continue;
		bf_arena_reset(s->arena);
		BF_TRY(forgive(read_snapshot(s, d->snapshots[i], out, &failed), &failed, &ok, err));
		if (ok)
			BF_TRY(snapshot_agrees(s, out, &ok, err));
		if (ok)
			return BF_OK;
	}
	*out = (BfiTxnHint){.from = s->start};
	return BF_OK;
}

/* ---- .txnindex ---- */

/* The last entries of a segment's, newest first, behind the n that are there; at most two. */
static BfStatus
read_aborts(Hints *s, const BfSegmentInfo *info, Abort *aborts_out, int *n, BfError *err)
{
	BfSource *source;
	const char *path;
	int64_t left;

	BF_TRY(bfi_dir_path(s->dir, s->arena, info->base_offset, "txnindex", &path, err));
	BF_TRY(bf_source_open(s->arena, path, &s->dir->counters->io, &source, err));
	left = bf_source_size(source) / ABORT_BYTES;
	for (; *n < 2 && left > 0; left--, ++*n)
	{
		const uint8_t *p;

		BF_TRY(bf_source_peek(source, (left - 1) * ABORT_BYTES, ABORT_BYTES, &p, err));
		BF_DATA(err, bf_load16be(p) == 0, (left - 1) * ABORT_BYTES,
				"not an aborted transaction of version 0");
		aborts_out[*n] = (Abort){(int64_t) bf_load64be(p + 2), (int64_t) bf_load64be(p + 10),
								 (int64_t) bf_load64be(p + 18), (int64_t) bf_load64be(p + 26)};
	}
	bf_source_close(source);
	return BF_OK;
}

static bool
can_be(const Hints *s, const Abort *a)
{
	return a->producer_id >= 0 && a->first >= 0 && a->first <= a->marker && a->stable >= 0 &&
		   a->stable <= a->marker + 1 && a->marker >= s->start && a->marker < s->end;
}

/* Of the segments from `from` on; *found = false: not two that are right. */
static BfStatus
newest_aborts(Hints *s, int64_t from, Abort *a, bool *found, BfError *err)
{
	int n = 0;

	*found = false;
	for (int32_t i = s->dir->n_segments; i-- > 0 && n < 2;)
	{
		const BfSegmentInfo *info = &s->dir->segments[i];
		BfError failed;
		bool ok = true;

		if (info->base_offset < from)
			return BF_OK;
		if (info->has_txn_index && !info->swap)
			BF_TRY(forgive(read_aborts(s, info, a, &n, &failed), &failed, &ok, err));
		if (!ok)
			return BF_OK;
	}
	*found = n == 2 && can_be(s, &a[0]) && can_be(s, &a[1]) && a[1].marker < a[0].marker &&
			 a[1].stable <= a[0].stable;
	for (int i = 0; i < 2 && *found; i++)
		BF_TRY(aborts(s, &a[i], found, err));
	return BF_OK;
}

/* ---- both ---- */

static BfStatus
find_hint(Hints *s, BfiTxnHint *out, BfError *err)
{
	Abort a[2];
	bool found;

	BF_TRY(newest_snapshot(s, out, err));
	BF_TRY(newest_aborts(s, out->from, a, &found, err));
	/* Whether those that the snapshot calls open ended before the markers is known by following. */
	if (found && out->n == 0 && a[1].stable > out->from)
		*out = (BfiTxnHint){.from = a[1].stable};
	BF_ASSERT(out->from >= s->start && out->from <= s->end);
	bfi_segment_close(&s->seg);
	return BF_OK;
}

BfStatus
bfi_txn_hint(BfArena *a, BfLogDir *d, BfiTxnHint *out, BfError *err)
{
	Hints s = {.dir = d, .arena = a};

	BF_TRY(bf_log_dir_bounds(d, &s.start, &s.end, err));
	*out = (BfiTxnHint){.from = s.start};
	if (d->n_segments == 0)
		return BF_OK;
	BF_TRY(bfi_dir_codec(d, err));
	BF_TRY(bfi_segment_init(d->arena, d, true, &s.seg, err));
	s.seg.sparse = true;
	return find_hint(&s, out, err);
}
