/* Transactions that are open at an entry: from a hint on, through headers. */
#include "base/sort.h"
#include "log/internal.h"

/*
 * Open transactions and the last stable offset.
 *
 * The last stable offset is the first offset of the earliest open transaction, else the log's end.
 * Open transactions are those that a hint names (log/hints.c), brought up to date by the batches
 * after it. Of these only the headers are read, and as many batches as are needed to be sure of
 * them (log/trail.c): what a wrong header would hide here nobody else finds, since the rows that
 * are read may be far behind it.
 */

#define HINT_BYTES_MAX ((size_t) 512 << 20)
#define TRAIL_BYTES_MAX ((size_t) 64 << 20)
#define OPEN_MAX 65536

typedef struct TxnState
{
	BfLogDir *dir;
	BfArena *arena; /* of the hint's files */
	BfArena *trail_arena;
	BfiTrail *trail;
	BfBuffer *open; /* BfiTxn, ascending producer_id */
} TxnState;

static BfiTxn *
open_txns(const TxnState *s, size_t *n)
{
	BF_ASSERT(s->open->len % sizeof(BfiTxn) == 0);
	*n = s->open->len / sizeof(BfiTxn);
	return (BfiTxn *) (void *) s->open->data;
}

/* Where the producer's transaction is or would be. */
static size_t
open_at(const TxnState *s, int64_t producer_id)
{
	size_t at;
	size_t hi;
	const BfiTxn *txns = open_txns(s, &hi);

	BF_SEARCH(size_t, at, hi, i, txns[i].producer_id < producer_id);
	return at;
}

static BfStatus
begin_txn(TxnState *s, int64_t producer_id, int64_t first_offset, BfError *err)
{
	size_t at = open_at(s, producer_id);
	BfiTxn txn = {producer_id, first_offset};
	size_t n;
	BfiTxn *txns = open_txns(s, &n);

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
	BfiTxn *txns = open_txns(s, &n);

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
	const BfiTxn *txns = open_txns(s, &n);
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (txns[i].first_offset < entry && txns[i].first_offset < first)
			first = txns[i].first_offset;
	return first;
}

/* ---- batches ---- */

/* Transactions that begin at or past `before` are of no interest. What a compaction left without
 * records is no beginning: it cleans nothing of an open transaction, and may have dropped the
 * marker of one that ended. */
static BfStatus
follow_batch(TxnState *s, BfiSegment *seg, const BfBatchHeader *h, const uint8_t *batch,
			 int64_t before, BfError *err)
{
	BfControlType type;

	if (h->producer_id < 0 || !h->transactional)
		return BF_OK;
	if (!h->control)
		return h->base_offset < before && h->n_records > 0
				   ? begin_txn(s, h->producer_id, h->base_offset, err)
				   : BF_OK;
	BF_ASSERT(batch != NULL && s->dir->codec != NULL);
	BF_TRY(bf_batch_control_type(s->dir->codec, h, batch, seg->pos, s->dir->scratch, &type, err));
	if (type != BF_CONTROL_OTHER)
		end_txn(s, h->producer_id);
	return BF_OK;
}

/* The batch at the position. *done: no transaction that began before `before` can be open. */
static BfStatus
step(TxnState *s, BfiSegment *seg, int64_t from, int64_t before, bool *end, bool *done,
	 BfError *err)
{
	const uint8_t *batch;
	BfBatchHeader h;

	BF_TRY(bf_check_cancel(bf_arena_host(s->dir->arena), err));
	BF_TRY(bfi_segment_header(seg, &h, end, err));
	if (*end)
		return BF_OK;
	BF_TRY(bfi_trail_see(s->trail, &h, &batch, err));
	if (h.base_offset >= from)
	{
		BfStatus status = follow_batch(s, seg, &h, batch, before, err);

		if (status != BF_OK)
			return bf_error_object(err, seg->info->path);
	}
	*done = h.last_offset >= before - 1 && earliest(s, before) == INT64_MAX;
	if (*done)
		BF_TRY(bfi_segment_check_next(seg, &h, err));
	bfi_segment_advance(seg, &h);
	return BF_OK;
}

/* From `from` on until no transaction that began before `before` can be open, or to the end. */
static BfStatus
follow(TxnState *s, BfiSegment *seg, int64_t from, int64_t before, BfError *err)
{
	BfLogDir *d = s->dir;
	bool done = false;

	for (int32_t i = bfi_dir_find(d, from); i < d->n_segments && !done; i++)
	{
		bool last = i + 1 == d->n_segments;
		bool end = false;
		int64_t passed;

		BF_TRY(bfi_segment_open(seg, i, err));
		BF_TRY(bfi_segment_seek(seg, from, err));
		BF_TRY(bfi_segment_pass(seg, from, &passed, err));
		while (!end && !done)
			BF_TRY(step(s, seg, from, before, &end, &done, err));
		BF_TRY(bfi_trail_end(s->trail, done || last ? -1 : d->segments[i + 1].base_offset, err));
	}
	bfi_segment_close(seg);
	return BF_OK;
}

/* ---- the result ---- */

static BfStatus
find_open(TxnState *s, int64_t before, int64_t *first, BfError *err)
{
	BfiTxnHint hint;
	BfiSegment seg;
	int64_t start, end;

	BF_TRY(bf_log_dir_bounds(s->dir, &start, &end, err));
	BF_TRY(bfi_txn_hint(s->arena, s->dir, &hint, err));
	BF_ASSERT(start <= hint.from && hint.from <= end);
	for (size_t i = 0; i < hint.n; i++)
		BF_TRY(begin_txn(s, hint.open[i].producer_id, hint.open[i].first_offset, err));
	if (before < start)
		before = start;
	*first = earliest(s, before);
	if (hint.from >= end || (hint.from >= before && *first == INT64_MAX))
		return BF_OK;
	BF_TRY(bfi_dir_codec(s->dir, err));
	BF_TRY(bfi_segment_init(s->dir->arena, s->dir, true, &seg, err));
	seg.sparse = !s->dir->check_all;
	BF_TRY(bfi_trail_new(s->trail_arena, &seg, s->dir->check_all, &s->trail, err));
	BF_TRY(follow(s, &seg, hint.from, before, err));
	*first = earliest(s, before);
	return BF_OK;
}

BfStatus
bf_log_dir_open_before(BfLogDir *d, int64_t entry, int64_t *first, BfError *err)
{
	const BfHost *host = bf_arena_host(d->arena);
	BfBuffer open;
	TxnState s = {.dir = d, .open = &open};
	BfStatus status;

	s.arena = bf_arena_new(host, "transactions", HINT_BYTES_MAX);
	s.trail_arena = bf_arena_new(host, "producers", TRAIL_BYTES_MAX);
	bf_buffer_init(&open, host, OPEN_MAX * sizeof(BfiTxn));
	status = s.arena != NULL && s.trail_arena != NULL ? find_open(&s, entry, first, err)
													  : bf_arena_fail(d->arena, 0, err);
	bf_buffer_free(&open);
	bf_arena_free(s.trail_arena);
	bf_arena_free(s.arena);
	return status;
}

BfStatus
bf_log_dir_stable_offset(BfLogDir *d, int64_t *offset, BfError *err)
{
	int64_t start, end, first;

	BF_TRY(bf_log_dir_bounds(d, &start, &end, err));
	BF_TRY(bf_log_dir_open_before(d, INT64_MAX, &first, err));
	*offset = first < end ? first : end;
	return BF_OK;
}
