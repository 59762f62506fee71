/*
 * pg/write/ledger_tail.c: rows of small transactions, in bifang.tail and on their way out of it.
 *
 * A transaction begins in the tail. Its batches are made in memory; a row of bifang.tail has those
 * of a statement, so COMMIT costs what it costs an ordinary table. When it has written more than
 * bifang.tail_limit, or the tail has become long, it settles the ledger and goes on in its files:
 *
 *   what is in memory becomes a row
 *   all rows, own and others', are read, merged into large batches, appended to the files
 *   the rows are deleted, a row of bifang.append tells the files' new end
 *   --PRE_COMMIT--> the files are synced
 *
 * all of it under the ledger's lock and in the transaction. Where that fails nothing of it shows:
 * the rows are there, and what was appended lies behind the acknowledged end, to be cut off like
 * bytes of any other lost transaction. Readers with older snapshots find the rows.
 *
 *   snapshot before   files 0..39, rows 40..59 60..99
 *   snapshot after    files 0..39 40..99
 *
 * Rows are deleted under the current command's id, which no snapshot of this transaction is beyond;
 * the files' end is told under one that is not younger. So a snapshot that lacks the rows has the
 * end, and one that has both reads from the files.
 */
#include "pg/write/ledger_internal.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pg/catalog/tail.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/settings.h"
#include "pg/write/locks.h"

/* A tail as long is settled by whoever comes next. */
#define TAIL_BYTES_MAX ((int64) 64 << 20)
#define MAKER_BYTES_MAX ((size_t) 2 << 30)
#define MAKER_BYTES_KEPT ((size_t) 1 << 20)

/* Makes the batches of all of the backend's writers; codec NULL = there is none. */
static BfBatchMaker maker = {0};

bool
bifang_tail_takes(const BifangWriter *w, size_t bytes)
{
	int64 own = w->end.tail_bytes - w->start.tail_bytes;

	Assert(!w->in_files && own >= 0);
	return own + (int64) bytes <= (int64) bifang_tail_kb * 1024 && bifang_tail_kb > 0 &&
		   w->start.tail_bytes < TAIL_BYTES_MAX;
}

/* Batches of one large row leave buffers that are not worth keeping. */
static void
renew_maker(void)
{
	static BfArena *arena = NULL;
	BfError err = {0};

	if (maker.codec != NULL && maker.raw->cap + maker.out->cap <= MAKER_BYTES_KEPT)
		return;
	maker.codec = NULL;
	if (arena != NULL)
		bifang_arena_free(arena);
	arena = NULL;
	arena = bifang_arena(TopMemoryContext, "tail batches", MAKER_BYTES_MAX);
	BIFANG_CHECK(bf_exec_batch_maker_new(arena, &maker, &err), &err);
}

void
bifang_tail_append(BifangWriter *w, const BfEncodedRows *rows, int64 timestamp_ms)
{
	BfError err = {0};

	Assert(!w->in_files && w->end.tail_bytes == w->tail_kept + w->batches.len);
	renew_maker();
	maker.out->len = 0;
	BIFANG_CHECK(bf_exec_batch_make(&maker, rows, w->end.entry, timestamp_ms, &err), &err);
	appendBinaryStringInfo(&w->batches, (const char *) maker.out->data, (int) maker.out->len);
	w->end.entry += rows->n;
	w->end.tail_bytes += (int64) maker.out->len;
}

/* An abort back to a mark may take a row along that has batches from before the mark. */
static bool
may_be_needed_again(const BifangWriter *w)
{
	for (const BifangWriterMark *m = w->marks; m != NULL; m = m->outer)
		if (!m->in_files && m->end.tail_bytes != m->recorded.tail_bytes)
			return true;
	return false;
}

void
bifang_tail_record(BifangWriter *w)
{
	int64 from = w->recorded.tail_bytes - w->tail_kept;
	BfView batches = {(const uint8_t *) w->batches.data + from,
					  (uint32_t) (w->end.tail_bytes - w->recorded.tail_bytes)};

	Assert(!w->in_files && from >= 0 && from + batches.len == w->batches.len);
	Assert(w->recorded.entry < w->end.entry);
	bifang_catalog_insert_tail(w->ledger.id, w->table_id, w->recorded.entry, w->end.entry,
							   w->end.tail_bytes, batches, w->cid);
	w->recorded = w->end;
	if (may_be_needed_again(w))
		return;
	resetStringInfo(&w->batches);
	w->tail_kept = w->end.tail_bytes;
}

void
bifang_tail_rewind(BifangWriter *w)
{
	Assert(!w->in_files && w->recorded.tail_bytes <= w->end.tail_bytes);
	if (w->end.tail_bytes < w->tail_kept)
	{
		Assert(w->recorded.tail_bytes == w->end.tail_bytes);
		w->tail_kept = w->end.tail_bytes;
		resetStringInfo(&w->batches);
		return;
	}
	w->batches.len = (int) (w->end.tail_bytes - w->tail_kept);
	w->batches.data[w->batches.len] = '\0';
}

/* The rows' entries behind those of the files. False: rows or files are damaged. */
static bool
move_entries(BifangWriter *w, BfError *err)
{
	MemoryContext cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang settle", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	BfArena *arena = bifang_arena(cxt, "settle", BIFANG_ARENA_MAX_SCAN);
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	const BfLogTail *tail = bifang_tail_of(w->ledger.id, w->end.files.entry, snap);
	BfStatus status = bf_ledger_settle(arena, w->log->writer, tail, w->end.entry, w->merges, err);

	if (status == BF_OK)
		(void) bifang_catalog_delete_tail(w->ledger.id, snap);
	UnregisterSnapshot(snap);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	if (status == BF_OK)
		return true;
	if (status != BF_ERR_CORRUPT)
		bifang_report(err);
	return false;
}

bool
bifang_tail_settle(BifangWriter *w, CommandId cid, BfError *err)
{
	Assert(!w->in_files && w->log != NULL && bifang_ledger_is_locked(w->ledger.id));
	if (w->end.entry == w->end.files.entry)
	{
		w->in_files = true;
		return true;
	}
	if (!bifang_place_same(w->end, w->recorded))
		bifang_tail_record(w);
	CommandCounterIncrement();
	if (!move_entries(w, err))
	{
		BfError rewind = {0};

		BIFANG_CHECK(bf_ledger_writer_rewind(w->log->writer, w->end.files, &rewind), &rewind);
		return false;
	}
	w->in_files = true;
	w->end.files = bf_ledger_writer_end(w->log->writer);
	w->end.tail_bytes = 0;
	Assert(w->end.files.entry == w->end.entry);
	w->cid = Max(w->cid, cid);
	bifang_catalog_insert_append(&w->ledger, w->end.files, w->cid);
	w->recorded = w->end;
	return true;
}
