/*
 * pg/catalog/queue.c: see queue.h.
 */
#include "pg/catalog/queue.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

#include "pg/catalog/rows.h"
#include "pg/server/remove.h"

enum
{
	GARBAGE_PATH = 1,
	GARBAGE_IS_DIR,
	GARBAGE_XID,
	GARBAGE_REASON,
	GARBAGE_QUEUED,
	GARBAGE_NATTS = GARBAGE_QUEUED
};

void
bifang_catalog_insert_garbage(const char *path, bool is_dir, const char *reason)
{
	Relation rel = bifang_rows_open("garbage", RowExclusiveLock);
	Datum values[GARBAGE_NATTS] = {0};
	bool nulls[GARBAGE_NATTS] = {false};

	Assert(path[0] == '/');
	values[BIFANG_SLOT(GARBAGE_PATH)] = bifang_rows_path_datum(bifang_rows_stored_path(path));
	values[BIFANG_SLOT(GARBAGE_IS_DIR)] = BoolGetDatum(is_dir);
	values[BIFANG_SLOT(GARBAGE_XID)] = FullTransactionIdGetDatum(GetTopFullTransactionId());
	values[BIFANG_SLOT(GARBAGE_REASON)] = CStringGetTextDatum(reason);
	values[BIFANG_SLOT(GARBAGE_QUEUED)] = TimestampTzGetDatum(GetCurrentTimestamp());
	bifang_rows_insert(rel, values, nulls);
	table_close(rel, RowExclusiveLock);
}

List *
bifang_catalog_take_garbage(FullTransactionId horizon, Snapshot snap)
{
	Relation rel = bifang_rows_open("garbage", RowExclusiveLock);
	BifangRows rows = bifang_rows_begin(rel, NULL, snap, 0, NULL);
	HeapTuple tuple;
	List *taken = NIL;

	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		Datum values[GARBAGE_NATTS];
		bool nulls[GARBAGE_NATTS];
		BifangGarbage *g;

		CHECK_FOR_INTERRUPTS();
		bifang_rows_read(rel, tuple, GARBAGE_NATTS, values, nulls);
		if (!FullTransactionIdPrecedes(DatumGetFullTransactionId(values[BIFANG_SLOT(GARBAGE_XID)]),
									   horizon) ||
			!bifang_rows_lock(rel, tuple))
			continue;
		g = palloc(sizeof *g);
		g->path = bifang_rows_full_path(bifang_rows_text(values, nulls, GARBAGE_PATH));
		g->is_dir = DatumGetBool(values[BIFANG_SLOT(GARBAGE_IS_DIR)]);
		g->row = tuple->t_self;
		g->queued_at = DatumGetTimestampTz(values[BIFANG_SLOT(GARBAGE_QUEUED)]);
		taken = lappend(taken, g);
	}
	bifang_rows_end(&rows);
	table_close(rel, RowExclusiveLock);
	return taken;
}

void
bifang_catalog_delete_garbage(const BifangGarbage *g)
{
	Relation rel = bifang_rows_open("garbage", RowExclusiveLock);
	ItemPointerData row = g->row;

	Assert(ItemPointerIsValid(&row));
	CatalogTupleDelete(rel, &row);
	table_close(rel, RowExclusiveLock);
}

List *
bifang_catalog_queued_files(Snapshot snap)
{
	Relation rel = bifang_rows_open("garbage", AccessShareLock);
	BifangRows rows = bifang_rows_begin(rel, NULL, snap, 0, NULL);
	HeapTuple tuple;
	List *paths = NIL;

	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		Datum values[GARBAGE_NATTS];
		bool nulls[GARBAGE_NATTS];

		CHECK_FOR_INTERRUPTS();
		bifang_rows_read(rel, tuple, GARBAGE_NATTS, values, nulls);
		if (!DatumGetBool(values[BIFANG_SLOT(GARBAGE_IS_DIR)]))
			paths = lappend(paths,
							bifang_rows_full_path(bifang_rows_text(values, nulls, GARBAGE_PATH)));
	}
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return paths;
}

bool
bifang_catalog_is_queued(const char *path, Snapshot snap)
{
	Relation rel = bifang_rows_open("garbage", AccessShareLock);
	BifangRows rows = bifang_rows_begin(rel, NULL, snap, 0, NULL);
	HeapTuple tuple;
	bool found = false;

	while (!found && HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		Datum values[GARBAGE_NATTS];
		bool nulls[GARBAGE_NATTS];

		CHECK_FOR_INTERRUPTS();
		bifang_rows_read(rel, tuple, GARBAGE_NATTS, values, nulls);
		found = bifang_same_file(
			bifang_rows_full_path(bifang_rows_text(values, nulls, GARBAGE_PATH)), path);
	}
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return found;
}
