/* Transactions that are open at an entry: from the newest good `.snapshot` on, through headers. */
#include "base/sort.h"
#include "log/internal.h"

/*
 * Open transactions and the last stable offset.
 *
 *   .snapshot, the producers at the offset in its name:
 *     0  2  version = 1
 *     2  4  CRC-32C over byte 6 to the end
 *     6  4  n, then n times 46 bytes: producer id 8, epoch 2, last sequence 4, last offset 8,
 *           offset delta 4, timestamp 8, coordinator epoch 4, first offset of the open
 *           transaction 8 (-1)
 *
 * The last stable offset is the first offset of the earliest open transaction, else the log's end.
 * Open transactions are those of the newest good snapshot, brought up to date by the batches after
 * it. The .txnindex has no checksum and tells nothing that the markers don't: it is not read.
 *
 * A log without transactions shall not pay for them, so the end's check goes over the headers
 * alone, and again over all bytes once a transaction comes up. What a damaged header hides there,
 * the reader of the rows finds: it has the checksum of each batch that it passes.
 */

#define SNAPSHOT_HEAD_BYTES 10
#define PRODUCER_BYTES 46

_Static_assert(PRODUCER_BYTES == 8 + 2 + 4 + 8 + 4 + 8 + 4 + 8, "a producer of a snapshot");

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
	BfArena *arena; /* for file contents; reset after each file */
	BfBuffer *open; /* OpenTxn, ascending producer_id */
	bool check;		/* the checksum of every batch */
	bool met;		/* something of a transaction, unchecked */
} TxnState;

static OpenTxn *
open_txns(const TxnState *s, size_t *n)
{
	BF_ASSERT(s->open->len % sizeof(OpenTxn) == 0);
	*n = s->open->len / sizeof(OpenTxn);
	return (OpenTxn *) (void *) s->open->data;
}

/* Where the producer's transaction is or would be. */
static size_t
open_at(const TxnState *s, int64_t producer_id)
{
	size_t at;
	size_t hi;
	const OpenTxn *txns = open_txns(s, &hi);

	BF_SEARCH(size_t, at, hi, i, txns[i].producer_id < producer_id);
	return at;
}

static BfStatus
begin_txn(TxnState *s, int64_t producer_id, int64_t first_offset, BfError *err)
{
	size_t at = open_at(s, producer_id);
	OpenTxn txn = {producer_id, first_offset};
	size_t n;
	OpenTxn *txns = open_txns(s, &n);

	BF_ASSERT(first_offset >= 0);
	if (at < n && txns[at].producer_id == producer_id)
		return BF_OK;
	if (n >= OPEN_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "more than %d transactions are open", OPEN_MAX);
	BF_TRY(bf_buffer_append(s->open, &txn, sizeof txn, err));
	txns = open_txns(s, &n);
	memmove(txns + at + 1, txns + at, (n - 1 - at) * sizeof *txns);
	txns[at] = txn;
	BF_ASSERT(at == 0 || txns[at - 1].producer_id < producer_id);
	BF_ASSERT(at + 1 == n || txns[at + 1].producer_id > producer_id);
	return BF_OK;
}

static void
end_txn(TxnState *s, int64_t producer_id)
{
	size_t at = open_at(s, producer_id);
	size_t n;
	OpenTxn *txns = open_txns(s, &n);

	if (at == n || txns[at].producer_id != producer_id)
		return;
	memmove(txns + at, txns + at + 1, (n - 1 - at) * sizeof *txns);
	s->open->len -= sizeof *txns;
}

/* The first offset of the earliest one before `entry`; INT64_MAX = none. */
static int64_t
earliest(const TxnState *s, int64_t entry)
{
	size_t n;
	const OpenTxn *txns = open_txns(s, &n);
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (txns[i].first_offset < entry && txns[i].first_offset < first)
			first = txns[i].first_offset;
	return first;
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
	BF_ASSERT(p == bytes.ptr + bytes.len);
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

/* ---- batches ---- */

/* Transactions that begin at or past `before` are of no interest. */
static BfStatus
follow_batch(TxnState *s, BfiSegment *seg, const BfBatchHeader *h, int64_t before, BfError *err)
{
	const uint8_t *batch;
	BfControlType type;

	if (!s->check)
	{
		s->met = s->met || h->transactional || h->control;
		return BF_OK;
	}
	BF_ASSERT(s->dir->codec != NULL);
	BF_TRY(bfi_segment_check(seg, h, &batch, err));
	if (h->producer_id < 0 || !h->transactional)
		return BF_OK;
	if (!h->control)
		return h->base_offset < before ? begin_txn(s, h->producer_id, h->base_offset, err) : BF_OK;
	BF_TRY(bf_batch_control_type(s->dir->codec, h, batch, seg->pos, s->dir->scratch, &type, err));
	if (type != BF_CONTROL_OTHER)
		end_txn(s, h->producer_id);
	return BF_OK;
}

/* From `from` on until no transaction that began before `before` can be open, or to the end. */
static BfStatus
follow(TxnState *s, BfiSegment *seg, int64_t from, int64_t before, BfError *err)
{
	bool done = false;

	for (int32_t i = bfi_dir_find(s->dir, from); i < s->dir->n_segments && !done; i++)
	{
		bool end = false;

		BF_TRY(bfi_segment_open(seg, i, err));
		BF_TRY(bfi_segment_seek(seg, from, err));
		while (!end && !done)
		{
			BfBatchHeader h;
			BfStatus status = BF_OK;

			BF_TRY(bf_check_cancel(bf_arena_host(s->dir->arena), err));
			BF_TRY(bfi_segment_header(seg, &h, &end, err));
			if (end)
				break;
			if (s->check && h.last_offset >= before - 1)
				BF_TRY(bfi_segment_check_next(seg, &h, err));
			if (h.base_offset >= from)
				status = follow_batch(s, seg, &h, before, err);
			if (status != BF_OK)
				return bf_error_object(err, seg->info->path);
			bfi_segment_advance(seg, &h);
			done = s->met || (h.last_offset >= before - 1 && earliest(s, before) == INT64_MAX);
		}
	}
	bfi_segment_close(seg);
	return BF_OK;
}

/* ---- the result ---- */

static BfStatus
find_open(TxnState *s, int64_t before, int64_t *first, BfError *err)
{
	BfiSegment seg;
	int64_t start, end, from;

	BF_TRY(bf_log_dir_bounds(s->dir, &start, &end, err));
	BF_TRY(bfi_dir_codec(s->dir, err));
	BF_TRY(read_snapshot(s, start, end, &from, err));
	BF_ASSERT(start <= from && from <= end);
	if (before < start)
		before = start;
	*first = earliest(s, before);
	if (from >= end || (from >= before && *first == INT64_MAX))
		return BF_OK;
	BF_TRY(bfi_segment_init(s->dir->arena, s->dir, true, &seg, err));
	if (!s->check && *first == INT64_MAX)
	{
		BF_TRY(follow(s, &seg, from, before, err));
		if (!s->met)
			return BF_OK;
		s->met = false;
	}
	s->check = true;
	BF_TRY(follow(s, &seg, from, before, err));
	*first = earliest(s, before);
	return BF_OK;
}

static BfStatus
open_before(BfLogDir *d, int64_t before, bool check, int64_t *first, BfError *err)
{
	const BfHost *host = bf_arena_host(d->arena);
	BfBuffer open;
	TxnState s = {.dir = d, .open = &open, .check = check};
	BfStatus status;

	s.arena = bf_arena_new(host, "transactions", FILE_BYTES_MAX * 2);
	if (s.arena == NULL)
		return bf_arena_fail(d->arena, 0, err);
	bf_buffer_init(&open, host, OPEN_MAX * sizeof(OpenTxn));
	status = find_open(&s, before, first, err);
	bf_buffer_free(&open);
	bf_arena_free(s.arena);
	return status;
}

BfStatus
bf_log_dir_open_before(BfLogDir *d, int64_t entry, int64_t *first, BfError *err)
{
	return open_before(d, entry, true, first, err);
}

BfStatus
bf_log_dir_stable_offset(BfLogDir *d, int64_t *offset, BfError *err)
{
	int64_t start, end, first;

	BF_TRY(bf_log_dir_bounds(d, &start, &end, err));
	BF_TRY(open_before(d, INT64_MAX, false, &first, err));
	*offset = first < end ? first : end;
	return BF_OK;
}
