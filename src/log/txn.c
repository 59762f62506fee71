#include "log/internal.h"

/*
 * Transactions.
 *
 *   .txnindex, 34 bytes per aborted transaction, appended when its marker was written:
 *     0  2  version = 0
 *     2  8  producer id
 *     10 8  first offset
 *     18 8  last offset: of the abort marker
 *     26 8  last stable offset after it
 *
 *   .snapshot, the producers at the offset in its name:
 *     0  2  version = 1
 *     2  4  CRC-32C over byte 6 to the end
 *     6  4  n, then n times 46 bytes: producer id 8, epoch 2, last sequence 4, last offset 8,
 * offset delta 4, timestamp 8, coordinator epoch 4, first offset of the open transaction 8 (-1)
 *
 * The last stable offset is the first offset of the earliest open transaction, else the log's end.
 * Open transactions are those of the newest good snapshot, brought up to date by the headers after
 * it. A broker appends a marker to the log before the transaction to the .txnindex, so aborts seen
 * on that way are taken from the markers as well.
 *
 * A producer's transactions in one partition don't overlap. So a batch is aborted exactly if it
 * lies between an aborted transaction's first offset and its marker, and no state has to be
 * carried from batch to batch.
 */

#define TXN_ENTRY_BYTES 34
#define SNAPSHOT_HEAD_BYTES 10
#define PRODUCER_BYTES 46
#define FILE_BYTES_MAX ((size_t) 256 << 20)
#define OPEN_MAX 65536

typedef struct OpenTxn
{
	int64_t producer_id;
	int64_t first_offset;
} OpenTxn;

typedef struct TxnState
{
	BfLogDir *dir;
	BfArena *arena;	   /* for file contents; reset after each file */
	BfBuffer *open;	   /* OpenTxn, ascending producer_id */
	BfBuffer *aborted; /* BfAbortedTxn */
} TxnState;

static OpenTxn *
open_txns(const TxnState *s, size_t *n)
{
	*n = s->open->len / sizeof(OpenTxn);
	return (OpenTxn *) (void *) s->open->data;
}

/* Where the producer's transaction is or would be. */
static size_t
open_at(const TxnState *s, int64_t producer_id)
{
	size_t lo = 0;
	size_t hi;
	const OpenTxn *txns = open_txns(s, &hi);

	while (lo < hi)
	{
		size_t mid = lo + (hi - lo) / 2;

		if (txns[mid].producer_id < producer_id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static BfStatus
begin_txn(TxnState *s, int64_t producer_id, int64_t first_offset, BfError *err)
{
	size_t at = open_at(s, producer_id);
	OpenTxn txn = {producer_id, first_offset};
	size_t n;
	OpenTxn *txns = open_txns(s, &n);

	if (at < n && txns[at].producer_id == producer_id)
		return BF_OK;
	if (n >= OPEN_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "more than %d transactions are open", OPEN_MAX);
	BF_TRY(bf_buffer_append(s->open, &txn, sizeof txn, err));
	txns = open_txns(s, &n);
	memmove(txns + at + 1, txns + at, (n - 1 - at) * sizeof *txns);
	txns[at] = txn;
	return BF_OK;
}

static BfStatus
end_txn(TxnState *s, int64_t producer_id, int64_t marker_offset, bool abort, BfError *err)
{
	size_t at = open_at(s, producer_id);
	size_t n;
	OpenTxn *txns = open_txns(s, &n);

	if (at == n || txns[at].producer_id != producer_id)
		return BF_OK;
	if (abort)
	{
		BfAbortedTxn a = {producer_id, txns[at].first_offset, marker_offset};

		BF_TRY(bf_buffer_append(s->aborted, &a, sizeof a, err));
	}
	memmove(txns + at, txns + at + 1, (n - 1 - at) * sizeof *txns);
	s->open->len -= sizeof *txns;
	return BF_OK;
}

/* ---- .txnindex ---- */

static BfStatus
parse_txn_index(TxnState *s, BfView bytes, const BfSegmentInfo *seg, bool last, BfError *err)
{
	size_t n = bytes.len / TXN_ENTRY_BYTES;

	BF_DATA(err, last || bytes.len % TXN_ENTRY_BYTES == 0, (int64_t) (n * TXN_ENTRY_BYTES),
			"the last entry of the transaction index is cut off");
	for (size_t i = 0; i < n; i++)
	{
		const uint8_t *p = bytes.ptr + i * TXN_ENTRY_BYTES;
		int64_t position = (int64_t) (i * TXN_ENTRY_BYTES);
		BfAbortedTxn a;

		BF_DATA(err, bf_load16be(p) == 0, position,
				"version %u of the transaction index is not known", bf_load16be(p));
		a.producer_id = (int64_t) bf_load64be(p + 2);
		a.first_offset = (int64_t) bf_load64be(p + 10);
		a.last_offset = (int64_t) bf_load64be(p + 18);
		BF_DATA(err,
				a.first_offset >= 0 && a.first_offset <= a.last_offset &&
					a.last_offset >= seg->base_offset && a.last_offset <= BF_ENTRY_MAX,
				position, "an aborted transaction from offset %lld to %lld is not possible",
				(long long) a.first_offset, (long long) a.last_offset);
		BF_TRY(bf_buffer_append(s->aborted, &a, sizeof a, err));
	}
	return BF_OK;
}

static BfStatus
read_txn_indexes(TxnState *s, BfError *err)
{
	BfLogDir *d = s->dir;

	for (int32_t i = 0; i < d->n_segments; i++)
	{
		const BfSegmentInfo *seg = &d->segments[i];
		BfStatus status = BF_OK;
		const char *path;
		BfView bytes;

		if (!seg->has_txn_index)
			continue;
		BF_TRY(bf_check_cancel(bf_arena_host(d->arena), err));
		bf_arena_reset(s->arena);
		BF_TRY(bfi_dir_path(d, s->arena, seg->base_offset, "txnindex", &path, err));
		status = bf_source_read_all(s->arena, path, FILE_BYTES_MAX, &d->counters->io, &bytes, err);
		if (status == BF_OK)
			status = parse_txn_index(s, bytes, seg, i == d->n_segments - 1, err);
		if (status != BF_OK)
			return bf_error_object(err, path);
	}
	return BF_OK;
}

/* ---- .snapshot ---- */

static BfStatus
parse_snapshot(TxnState *s, BfView bytes, BfError *err)
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
	for (size_t i = 0; i < n; i++, p += PRODUCER_BYTES)
	{
		int64_t first = (int64_t) bf_load64be(p + 38);

		if (first >= 0)
			BF_TRY(begin_txn(s, (int64_t) bf_load64be(p), first, err));
	}
	return BF_OK;
}

/* *from = where to go on with headers: the newest good snapshot in [start, end], else start. */
static BfStatus
read_snapshot(TxnState *s, int64_t start, int64_t end, int64_t *from, BfError *err)
{
	BfLogDir *d = s->dir;

	*from = start;
	for (int32_t i = d->n_snapshots; i-- > 0 && d->snapshots[i] >= start;)
	{
		BfError ignored;
		BfStatus status;
		const char *path;
		BfView bytes;

		if (d->snapshots[i] > end)
			continue;
		bf_arena_reset(s->arena);
		s->open->len = 0;
		BF_TRY(bfi_dir_path(d, s->arena, d->snapshots[i], "snapshot", &path, err));
		status =
			bf_source_read_all(s->arena, path, FILE_BYTES_MAX, &d->counters->io, &bytes, &ignored);
		if (status == BF_OK)
			status = parse_snapshot(s, bytes, &ignored);
		if (status == BF_OK)
		{
			*from = d->snapshots[i];
			return BF_OK;
		}
		/* Deleted meanwhile or damaged: an older one does too, with more headers to read. */
		if (status != BF_ERR_CORRUPT && status != BF_ERR_NOTFOUND)
		{
			*err = ignored;
			return status;
		}
	}
	s->open->len = 0;
	return BF_OK;
}

/* ---- headers ---- */

static BfStatus
follow_batch(TxnState *s, BfiSegment *seg, const BfBatchHeader *h, BfError *err)
{
	const uint8_t *batch;
	BfControlType type;

	if (h->producer_id < 0 || !h->transactional)
		return BF_OK;
	if (!h->control)
		return begin_txn(s, h->producer_id, h->base_offset, err);
	BF_TRY(bfi_segment_fetch(seg, h, &batch, err));
	BF_TRY(bf_batch_control_type(s->dir->codec, h, batch, seg->pos, s->dir->scratch, &type, err));
	if (type == BF_CONTROL_OTHER)
		return BF_OK;
	return end_txn(s, h->producer_id, h->last_offset, type == BF_CONTROL_ABORT, err);
}

static BfStatus
follow(TxnState *s, BfiSegment *seg, int64_t from, BfError *err)
{
	for (int32_t i = bfi_dir_find(s->dir, from); i < s->dir->n_segments; i++)
	{
		bool end = false;

		BF_TRY(bfi_segment_open(seg, i, err));
		BF_TRY(bfi_segment_seek(seg, from, err));
		while (!end)
		{
			BfBatchHeader h;

			BF_TRY(bf_check_cancel(bf_arena_host(s->dir->arena), err));
			BF_TRY(bfi_segment_header(seg, &h, &end, err));
			if (end)
				break;
			if (h.base_offset >= from)
			{
				BfStatus status = follow_batch(s, seg, &h, err);

				if (status != BF_OK)
					return bf_error_object(err, seg->info->path);
			}
			bfi_segment_advance(seg, &h);
		}
	}
	bfi_segment_close(seg);
	return BF_OK;
}

/* ---- the result ---- */

static int
compare_aborted(const void *x, const void *y)
{
	const BfAbortedTxn *p = x;
	const BfAbortedTxn *q = y;

	if (p->producer_id != q->producer_id)
		return p->producer_id < q->producer_id ? -1 : 1;
	return p->first_offset < q->first_offset ? -1 : p->first_offset > q->first_offset;
}

/* Sorts, and drops what both the index and a marker gave. */
static BfStatus
give_aborted(TxnState *s, BfArena *a, BfAbortedTxn **out, int32_t *n_out, BfError *err)
{
	BfAbortedTxn *all = (BfAbortedTxn *) (void *) s->aborted->data;
	size_t n = s->aborted->len / sizeof *all;
	size_t kept = 0;

	bfi_sort(all, n, sizeof *all, compare_aborted);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || compare_aborted(&all[kept - 1], &all[i]) != 0)
			all[kept++] = all[i];
	BF_NEW_RAW(a, *out, kept, err);
	if (kept > 0)
		memcpy(*out, all, kept * sizeof *all);
	*n_out = (int32_t) kept;
	return BF_OK;
}

static BfStatus
find_transactions(TxnState *s, BfArena *a, int64_t *last_stable_offset, BfAbortedTxn **aborted,
				  int32_t *n_aborted, BfError *err)
{
	BfiSegment seg;
	int64_t start, end, from;
	const OpenTxn *txns;
	size_t n;

	BF_TRY(bf_log_dir_bounds(s->dir, &start, &end, err));
	BF_TRY(bfi_dir_codec(s->dir, err));
	BF_TRY(read_snapshot(s, start, end, &from, err));
	BF_TRY(bfi_segment_init(s->dir->arena, s->dir, true, &seg, err));
	if (from < end)
		BF_TRY(follow(s, &seg, from, err));
	/* Last, so that it has what was appended to it while the headers were read. */
	BF_TRY(read_txn_indexes(s, err));
	*last_stable_offset = end;
	txns = open_txns(s, &n);
	for (size_t i = 0; i < n; i++)
		if (txns[i].first_offset < *last_stable_offset)
			*last_stable_offset = txns[i].first_offset;
	return give_aborted(s, a, aborted, n_aborted, err);
}

BfStatus
bf_log_dir_transactions(BfLogDir *d, BfArena *a, int64_t *last_stable_offset,
						BfAbortedTxn **aborted, int32_t *n_aborted, BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	BfBuffer open;
	BfBuffer found;
	TxnState s = {.dir = d, .open = &open, .aborted = &found};
	BfStatus status;

	s.arena = bf_arena_new(host, "transactions", FILE_BYTES_MAX * 2);
	if (s.arena == NULL)
		return bf_arena_fail(a, 0, err);
	bf_buffer_init(&open, host, OPEN_MAX * sizeof(OpenTxn));
	bf_buffer_init(&found, host, FILE_BYTES_MAX);
	status = find_transactions(&s, a, last_stable_offset, aborted, n_aborted, err);
	bf_buffer_free(&found);
	bf_buffer_free(&open);
	bf_arena_free(s.arena);
	return status;
}

bool
bf_aborted_contains(const BfAbortedTxn *aborted, int32_t n, const BfBatchHeader *h)
{
	int32_t lo = 0;
	int32_t hi = n;

	if (!h->transactional || h->control || h->producer_id < 0)
		return false;
	/* The last one of this producer that begins at or before the batch. */
	while (lo < hi)
	{
		int32_t mid = lo + (hi - lo) / 2;
		const BfAbortedTxn *t = &aborted[mid];

		if (t->producer_id < h->producer_id ||
			(t->producer_id == h->producer_id && t->first_offset <= h->base_offset))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 && aborted[lo - 1].producer_id == h->producer_id &&
		   h->base_offset < aborted[lo - 1].last_offset;
}
