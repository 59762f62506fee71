/*
 * pg/catalog/work.c: see work.h.
 */
#include "pg/catalog/work.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "pg/catalog/rows.h"
#include "pg/catalog/tables.h"

enum
{
	WORK_TABLE_ID = 1,
	WORK_KIND,
	WORK_STARTED,
	WORK_ENDED,
	WORK_FAILURES,
	WORK_RETRY,
	WORK_ERROR,
	WORK_NATTS = WORK_ERROR
};

static void
set_time(Datum *values, bool *nulls, int att, int64 time)
{
	nulls[BIFANG_SLOT(att)] = time == 0;
	values[BIFANG_SLOT(att)] = TimestampTzGetDatum(time);
}

static int64
get_time(const Datum *values, const bool *nulls, int att)
{
	return nulls[BIFANG_SLOT(att)] ? 0 : DatumGetTimestampTz(values[BIFANG_SLOT(att)]);
}

static BifangWork *
work_from_tuple(Relation rel, HeapTuple tuple)
{
	BifangWork *w = palloc(sizeof *w);
	Datum values[WORK_NATTS];
	bool nulls[WORK_NATTS];

	bifang_rows_read(rel, tuple, WORK_NATTS, values, nulls);
	w->table_id = DatumGetInt64(values[BIFANG_SLOT(WORK_TABLE_ID)]);
	w->kind = bifang_rows_text(values, nulls, WORK_KIND);
	w->started_at = get_time(values, nulls, WORK_STARTED);
	w->ended_at = get_time(values, nulls, WORK_ENDED);
	w->failures = DatumGetInt32(values[BIFANG_SLOT(WORK_FAILURES)]);
	w->retry_at = get_time(values, nulls, WORK_RETRY);
	w->error = bifang_rows_text(values, nulls, WORK_ERROR);
	return w;
}

List *
bifang_catalog_work(Snapshot snap)
{
	Relation rel = bifang_rows_open("work", AccessShareLock);
	BifangRows rows = bifang_rows_begin(rel, NULL, snap, 0, NULL);
	List *result = NIL;
	HeapTuple tuple;

	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
		result = lappend(result, work_from_tuple(rel, tuple));
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return result;
}

void
bifang_catalog_set_work(const BifangWork *w)
{
	Relation rel = bifang_rows_open("work", RowExclusiveLock);
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	Datum values[WORK_NATTS] = {0};
	bool nulls[WORK_NATTS] = {false};
	ScanKeyData keys[2];
	HeapTuple old;
	BifangRows rows;

	Assert(w->kind != NULL && w->started_at != 0 && w->failures >= 0);
	values[BIFANG_SLOT(WORK_TABLE_ID)] = Int64GetDatum(w->table_id);
	values[BIFANG_SLOT(WORK_KIND)] = CStringGetTextDatum(w->kind);
	set_time(values, nulls, WORK_STARTED, w->started_at);
	set_time(values, nulls, WORK_ENDED, w->ended_at);
	values[BIFANG_SLOT(WORK_FAILURES)] = Int32GetDatum(w->failures);
	set_time(values, nulls, WORK_RETRY, w->retry_at);
	nulls[BIFANG_SLOT(WORK_ERROR)] = w->error == NULL;
	if (w->error != NULL)
		values[BIFANG_SLOT(WORK_ERROR)] = CStringGetTextDatum(w->error);

	bifang_rows_key_int8(&keys[0], WORK_TABLE_ID, w->table_id);
	bifang_rows_key_text(&keys[1], WORK_KIND, w->kind);
	rows = bifang_rows_begin(rel, "work_pkey", snap, 2, keys);
	old = bifang_rows_next(&rows);
	if (!HeapTupleIsValid(old))
		bifang_rows_insert(rel, values, nulls);
	else if (bifang_rows_lock(rel, old))
	{
		HeapTuple tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);

		tuple->t_self = old->t_self;
		CatalogTupleUpdate(rel, &old->t_self, tuple);
	}
	bifang_rows_end(&rows);
	UnregisterSnapshot(snap);
	table_close(rel, RowExclusiveLock);
	CommandCounterIncrement();
}

typedef struct TableIds
{
	int64 *ids;
	int n;
	int n_max;
} TableIds;

static bool
note_id(void *arg, const BifangLakeTable *row)
{
	TableIds *t = arg;

	if (t->n == t->n_max)
		t->ids = repalloc(t->ids, sizeof *t->ids * (Size) (t->n_max *= 2));
	t->ids[t->n++] = row->id;
	return true;
}

static bool
has_id(const TableIds *t, int64 id)
{
	for (int i = 0; i < t->n; i++)
		if (t->ids[i] == id)
			return true;
	return false;
}

void
bifang_catalog_forget_work(void)
{
	Relation rel = bifang_rows_open("work", RowExclusiveLock);
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	TableIds tables = {.ids = palloc(sizeof(int64) * 64), .n_max = 64};
	BifangRows rows;
	HeapTuple tuple;

	bifang_catalog_visit_tables(note_id, &tables);
	rows = bifang_rows_begin(rel, NULL, snap, 0, NULL);
	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		int64 id = work_from_tuple(rel, tuple)->table_id;

		if (id != 0 && !has_id(&tables, id) && bifang_rows_lock(rel, tuple))
			CatalogTupleDelete(rel, &tuple->t_self);
	}
	bifang_rows_end(&rows);
	UnregisterSnapshot(snap);
	table_close(rel, RowExclusiveLock);
}
