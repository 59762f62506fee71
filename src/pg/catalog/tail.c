/*
 * pg/catalog/tail.c: see tail.h.
 *
 * Core asks for batches while it holds nothing of the server's: each call opens the table, takes
 * rows until they make up a piece, and closes it again. An error of the server (a cancel, a damaged
 * page) must not jump over core frames, so it is kept and thrown again by bifang_report.
 */
#include "pg/catalog/tail.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "pg/catalog/conflicts.h"
#include "pg/catalog/rows.h"
#include "pg/server/error.h"

/* A reader takes rows until they have so many bytes. */
#define PIECE_BYTES ((size_t) 256 * 1024)

enum
{
	TAIL_LEDGER = 1,
	TAIL_FIRST,
	TAIL_END,
	TAIL_TOTAL_BYTES,
	TAIL_BATCHES,
	TAIL_WRITTEN,
	TAIL_NATTS = TAIL_WRITTEN
};

typedef struct Tail
{
	BfLogTail base;
	int64 ledger_id;
	Snapshot snap; /* borrowed */
	char name[64];
} Tail;

/* Writing ------------------------------------------------------------------------------------- */

void
bifang_catalog_insert_tail(int64 ledger_id, int64 table_id, int64 first, int64 end,
						   int64 total_bytes, BfView batches, CommandId cid)
{
	Relation rel = bifang_rows_open("tail", RowExclusiveLock);
	Datum values[TAIL_NATTS] = {0};
	bool nulls[TAIL_NATTS] = {false};
	bytea *bytes = palloc((Size) batches.len + VARHDRSZ);

	Assert(first >= 0 && first < end);
	Assert(batches.len > 0 && total_bytes >= (int64) batches.len);
	SET_VARSIZE(bytes, batches.len + VARHDRSZ);
	memcpy(VARDATA(bytes), batches.ptr, batches.len);
	values[BIFANG_SLOT(TAIL_LEDGER)] = Int64GetDatum(ledger_id);
	values[BIFANG_SLOT(TAIL_FIRST)] = Int64GetDatum(first);
	values[BIFANG_SLOT(TAIL_END)] = Int64GetDatum(end);
	values[BIFANG_SLOT(TAIL_TOTAL_BYTES)] = Int64GetDatum(total_bytes);
	values[BIFANG_SLOT(TAIL_BATCHES)] = PointerGetDatum(bytes);
	values[BIFANG_SLOT(TAIL_WRITTEN)] = TimestampTzGetDatum(GetCurrentTimestamp());
	bifang_rows_insert_at(rel, values, nulls, cid);
	pfree(bytes);
	if (IsolationIsSerializable())
	{
		Relation append = bifang_rows_open("append", RowExclusiveLock);

		bifang_conflicts_write(append, table_id);
		table_close(append, RowExclusiveLock);
	}
	table_close(rel, RowExclusiveLock);
}

int64
bifang_catalog_delete_tail(int64 ledger_id, Snapshot snap)
{
	Relation rel = bifang_rows_open("tail", RowExclusiveLock);
	ScanKeyData key;
	BifangRows rows;
	HeapTuple tuple;
	int64 deleted = 0;

	bifang_rows_key_int8(&key, TAIL_LEDGER, ledger_id);
	rows = bifang_rows_begin(rel, "tail_pkey", snap, 1, &key);
	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		CHECK_FOR_INTERRUPTS();
		CatalogTupleDelete(rel, &tuple->t_self);
		deleted++;
	}
	bifang_rows_end(&rows);
	table_close(rel, RowExclusiveLock);
	return deleted;
}

/* Ends ---------------------------------------------------------------------------------------- */

BifangTailRel
bifang_tail_open(void)
{
	return (BifangTailRel){bifang_rows_open("tail", AccessShareLock),
						   index_open(bifang_rows_relid("tail_pkey"), AccessShareLock)};
}

void
bifang_tail_close(BifangTailRel t)
{
	index_close(t.index, AccessShareLock);
	table_close(t.rel, AccessShareLock);
}

/* The index has ledger and end. */
static void
keys_behind(ScanKey keys, int64 ledger_id, int64 entry)
{
	bifang_rows_key_int8(&keys[0], TAIL_LEDGER, ledger_id);
	ScanKeyEntryInitialize(&keys[1], 0, TAIL_END, BTGreaterStrategyNumber, InvalidOid, InvalidOid,
						   F_INT8GT, Int64GetDatum(entry));
}

bool
bifang_tail_end(BifangTailRel t, int64 ledger_id, int64 files_entry, Snapshot snap, bool reader,
				BifangTailEnd *out)
{
	ScanKeyData keys[2];
	BifangRows rows;
	HeapTuple tuple;
	bool found;

	keys_behind(keys, ledger_id, files_entry);
	rows = bifang_rows_begin_on(t.rel, t.index, snap, 2, keys);
	rows.tell_conflicts = reader;
	tuple = bifang_rows_previous(&rows);
	found = HeapTupleIsValid(tuple);
	if (found)
	{
		Datum values[TAIL_NATTS];
		bool nulls[TAIL_NATTS];

		bifang_rows_read(t.rel, tuple, TAIL_NATTS, values, nulls);
		out->entry = DatumGetInt64(values[BIFANG_SLOT(TAIL_END)]);
		out->bytes = DatumGetInt64(values[BIFANG_SLOT(TAIL_TOTAL_BYTES)]);
		Assert(out->entry > files_entry && out->bytes > 0);
	}
	bifang_rows_end(&rows);
	return found;
}

/* Reading ------------------------------------------------------------------------------------- */

/* Rows that end behind `entry`, ascending. */
static BifangRows
rows_from(Relation rel, int64 ledger_id, int64 entry, Snapshot snap)
{
	ScanKeyData keys[2];

	keys_behind(keys, ledger_id, entry);
	return bifang_rows_begin(rel, "tail_pkey", snap, 2, keys);
}

int64
bifang_catalog_tail_written_at(int64 ledger_id, int64 entry, Snapshot snap)
{
	Relation rel = bifang_rows_open("tail", AccessShareLock);
	BifangRows rows = rows_from(rel, ledger_id, entry, snap);
	HeapTuple tuple = bifang_rows_next(&rows);
	int64 at = PG_INT64_MAX;

	if (HeapTupleIsValid(tuple))
	{
		Datum values[TAIL_NATTS];
		bool nulls[TAIL_NATTS];

		bifang_rows_read(rel, tuple, TAIL_NATTS, values, nulls);
		at = DatumGetTimestampTz(values[BIFANG_SLOT(TAIL_WRITTEN)]);
	}
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return at;
}

int64
bifang_catalog_next_tail_row(int64 ledger_id, int64 entry, Snapshot snap)
{
	Relation rel = bifang_rows_open("tail", AccessShareLock);
	BifangRows rows = rows_from(rel, ledger_id, entry, snap);
	HeapTuple tuple = bifang_rows_next(&rows);
	int64 first = -1;

	if (HeapTupleIsValid(tuple) && HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		Datum values[TAIL_NATTS];
		bool nulls[TAIL_NATTS];

		bifang_rows_read(rel, tuple, TAIL_NATTS, values, nulls);
		first = DatumGetInt64(values[BIFANG_SLOT(TAIL_FIRST)]);
	}
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return first;
}

/* *done: it has `last`. */
static BfStatus
take_batches(Relation rel, HeapTuple tuple, int64 last, BfBuffer *out, bool *done, BfError *err)
{
	Datum values[TAIL_NATTS];
	bool nulls[TAIL_NATTS];
	int64 first;
	bytea *bytes;
	BfStatus status;

	bifang_rows_read(rel, tuple, TAIL_NATTS, values, nulls);
	first = DatumGetInt64(values[BIFANG_SLOT(TAIL_FIRST)]);
	*done = DatumGetInt64(values[BIFANG_SLOT(TAIL_END)]) > last;
	if (first > last)
		return BF_OK;
	bytes = DatumGetByteaPP(values[BIFANG_SLOT(TAIL_BATCHES)]);
	/* The checksums don't cover it. */
	if (VARSIZE_ANY_EXHDR(bytes) < BF_BATCH_HEADER_BYTES ||
		(int64) bf_load64be(VARDATA_ANY(bytes)) != first)
		status =
			bf_error(err, BF_ERR_CORRUPT, "a row does not begin with entry " INT64_FORMAT, first);
	else
		status = bf_buffer_append(out, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), err);
	if (PointerGetDatum(bytes) != values[BIFANG_SLOT(TAIL_BATCHES)])
		pfree(bytes);
	return status;
}

static BfStatus
read_rows(const Tail *t, int64 first, int64 last, BfBuffer *out, BfError *err)
{
	Relation rel = bifang_rows_open("tail", AccessShareLock);
	BifangRows rows = rows_from(rel, t->ledger_id, first, t->snap);
	BfStatus status = BF_OK;
	bool done = false;
	HeapTuple tuple;

	while (status == BF_OK && !done && out->len < PIECE_BYTES &&
		   HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
		status = take_batches(rel, tuple, last, out, &done, err);
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return status;
}

static BfStatus
read_tail(void *arg, int64_t first, int64_t last, BfBuffer *out, BfError *err)
{
	MemoryContext cxt = CurrentMemoryContext;
	BfStatus status;

	PG_TRY();
	{
		status = read_rows(arg, first, last, out, err);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		status = bifang_keep_error(err);
	}
	PG_END_TRY();
	return status;
}

const BfLogTail *
bifang_tail_of(int64 ledger_id, int64 first, Snapshot snap)
{
	Tail *t = palloc(sizeof *t);

	Assert(first >= 0 && snap != NULL);
	t->ledger_id = ledger_id;
	t->snap = snap;
	snprintf(t->name, sizeof t->name, "tail of ledger " INT64_FORMAT, ledger_id);
	t->base = (BfLogTail){.first = first, .name = t->name, .read = read_tail, .arg = t};
	return &t->base;
}
