/*
 * pg/catalog/ledgers.c: see ledgers.h.
 */
#include "pg/catalog/ledgers.h"

#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/indexing.h"
#include "catalog/pg_authid.h"
#include "commands/sequence.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "log/rangeset.h"
#include "pg/catalog/conflicts.h"
#include "pg/catalog/rows.h"
#include "pg/catalog/tail.h"
#include "pg/server/pins.h"

void (*bifang_catalog_before_ledgers)(int64 table_id) = NULL;

enum
{
	LEDGER_ID = 1,
	LEDGER_UUID,
	LEDGER_NAMESPACE,
	LEDGER_TABLE,
	LEDGER_STATE,
	LEDGER_SCHEMA_ID,
	LEDGER_ORIGIN,
	LEDGER_DIRECTORY,
	LEDGER_OFFLOAD_PATH,
	LEDGER_CREATED,
	LEDGER_CLOSED,
	LEDGER_OFFLOADED,
	LEDGER_LOST,
	LEDGER_TABLE_ID,
	LEDGER_CATALOG,
	LEDGER_NATTS = LEDGER_CATALOG
};

enum
{
	APPEND_LEDGER = 1,
	APPEND_END,
	APPEND_SEGMENT,
	APPEND_POSITION,
	APPEND_WRITTEN,
	APPEND_NATTS = APPEND_WRITTEN
};

const char *
bifang_catalog_origin(void)
{
	return psprintf(UINT64_FORMAT "/%u", GetSystemIdentifier(), MyDatabaseId);
}

static BifangLedger *
ledger_from_tuple(Relation rel, HeapTuple tuple)
{
	Datum values[LEDGER_NATTS];
	bool nulls[LEDGER_NATTS];
	BifangLedger *l = palloc0(sizeof *l);

	bifang_rows_read(rel, tuple, LEDGER_NATTS, values, nulls);
	l->id = DatumGetInt64(values[BIFANG_SLOT(LEDGER_ID)]);
	l->table_id = DatumGetInt64(values[BIFANG_SLOT(LEDGER_TABLE_ID)]);
	l->table_uuid = bifang_rows_text(values, nulls, LEDGER_UUID);
	l->catalog = bifang_rows_text(values, nulls, LEDGER_CATALOG);
	l->ns = bifang_rows_text(values, nulls, LEDGER_NAMESPACE);
	l->table = bifang_rows_text(values, nulls, LEDGER_TABLE);
	l->state = DatumGetChar(values[BIFANG_SLOT(LEDGER_STATE)]);
	l->schema_id = DatumGetInt32(values[BIFANG_SLOT(LEDGER_SCHEMA_ID)]);
	l->origin = bifang_rows_text(values, nulls, LEDGER_ORIGIN);
	l->live_dir = bifang_rows_full_path(bifang_rows_text(values, nulls, LEDGER_DIRECTORY));
	l->offload_path = bifang_rows_full_path(bifang_rows_text(values, nulls, LEDGER_OFFLOAD_PATH));
	l->lost = bifang_rows_text(values, nulls, LEDGER_LOST);
	l->created_at = DatumGetTimestampTz(values[BIFANG_SLOT(LEDGER_CREATED)]);
	l->closed_at = nulls[BIFANG_SLOT(LEDGER_CLOSED)]
					   ? 0
					   : DatumGetTimestampTz(values[BIFANG_SLOT(LEDGER_CLOSED)]);
	return l;
}

BfRangeSet
bifang_ledger_lost(BfArena *a, const BifangLedger *l)
{
	BfRangeSet lost = {0, NULL};
	BfError err = {0};

	if (l->lost != NULL)
		BIFANG_CHECK(bf_rangeset_parse(a, l->lost, strlen(l->lost), false, &lost, &err), &err);
	return lost;
}

static void
end_from_tuple(Relation append, HeapTuple tuple, BfLedgerEnd *end)
{
	Datum values[APPEND_NATTS];
	bool nulls[APPEND_NATTS];

	bifang_rows_read(append, tuple, APPEND_NATTS, values, nulls);
	end->entry = DatumGetInt64(values[BIFANG_SLOT(APPEND_END)]);
	end->segment = DatumGetInt64(values[BIFANG_SLOT(APPEND_SEGMENT)]);
	end->position = DatumGetInt64(values[BIFANG_SLOT(APPEND_POSITION)]);
}

/* What tells ends, open for several ledgers. */
typedef struct Ends
{
	Relation append;
	Relation append_index;
	BifangTailRel tail;
} Ends;

static Ends
open_ends(void)
{
	return (Ends){bifang_rows_open("append", AccessShareLock),
				  index_open(bifang_rows_relid("append_pkey"), AccessShareLock),
				  bifang_tail_open()};
}

static void
close_ends(Ends *e)
{
	bifang_tail_close(e->tail);
	index_close(e->append_index, AccessShareLock);
	table_close(e->append, AccessShareLock);
}

/* `reader`: whoever acknowledged a later end conflicts. */
static void
ledger_set_end(const Ends *e, BifangLedger *l, Snapshot snap, bool reader)
{
	BifangTailEnd tail;
	ScanKeyData key;
	BifangRows rows;
	HeapTuple tuple;

	bifang_rows_key_int8(&key, APPEND_LEDGER, l->id);
	rows = bifang_rows_begin_on(e->append, e->append_index, snap, 1, &key);
	rows.tell_conflicts = reader;
	tuple = bifang_rows_previous(&rows);
	if (HeapTupleIsValid(tuple))
	{
		BfLedgerEnd end;

		end_from_tuple(e->append, tuple, &end);
		l->end_entry = l->files_entry = end.entry;
		l->end_segment = end.segment;
		l->end_position = end.position;
	}
	bifang_rows_end(&rows);
	if (bifang_tail_end(e->tail, l->id, l->files_entry, snap, reader, &tail))
	{
		l->end_entry = tail.entry;
		l->tail_bytes = tail.bytes;
	}
	/* Whoever offloads with a snapshot from before somebody settled the tail still sees it, beside
	 * the file that has it all. */
	if (l->state == BIFANG_LEDGER_OFFLOADED || l->state == BIFANG_LEDGER_TRIMMED)
	{
		l->files_entry = l->end_entry;
		l->tail_bytes = 0;
	}
}

void
bifang_catalog_ledger_ends(BifangLedger *l, Snapshot snap)
{
	Ends ends = open_ends();

	ledger_set_end(&ends, l, snap, false);
	close_ends(&ends);
}

/* By table or by id, whichever key is given. */
static List *
read_ledgers(const char *index_name, ScanKey key, Snapshot snap)
{
	Relation rel = bifang_rows_open("ledger", AccessShareLock);
	Ends ends = open_ends();
	BifangRows rows = bifang_rows_begin(rel, index_name, snap, 1, key);
	List *result = NIL;
	HeapTuple tuple;

	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		BifangLedger *l = ledger_from_tuple(rel, tuple);

		ledger_set_end(&ends, l, snap, false);
		result = lappend(result, l);
	}
	bifang_rows_end(&rows);
	close_ends(&ends);
	table_close(rel, AccessShareLock);
	return result;
}

List *
bifang_catalog_ledgers(int64 table_id, Snapshot snap)
{
	ScanKeyData key;

	if (bifang_catalog_before_ledgers != NULL)
		bifang_catalog_before_ledgers(table_id);
	bifang_rows_key_int8(&key, LEDGER_TABLE_ID, table_id);
	return read_ledgers("ledger_table_idx", &key, snap);
}

/* Ledgers that the snapshot doesn't show have writers, too. */
static void
tell_unseen(int64 table_id, Snapshot snap)
{
	Relation rel = bifang_rows_open("ledger", AccessShareLock);
	Ends ends = open_ends();
	SnapshotData dirty;
	ScanKeyData key;
	BifangRows rows;
	HeapTuple tuple;

	InitDirtySnapshot(dirty);
	bifang_rows_key_int8(&key, LEDGER_TABLE_ID, table_id);
	rows = bifang_rows_begin(rel, "ledger_table_idx", &dirty, 1, &key);
	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
		ledger_set_end(&ends, ledger_from_tuple(rel, tuple), snap, true);
	bifang_rows_end(&rows);
	close_ends(&ends);
	table_close(rel, AccessShareLock);
}

List *
bifang_catalog_read_ledgers(int64 table_id, Snapshot snap)
{
	Relation append;
	List *ledgers;

	if (!IsolationIsSerializable())
		return bifang_catalog_ledgers(table_id, snap);
	append = bifang_rows_open("append", AccessShareLock);
	bifang_conflicts_read(append, table_id, snap);
	ledgers = bifang_catalog_ledgers(table_id, snap);
	tell_unseen(table_id, snap);
	table_close(append, AccessShareLock);
	return ledgers;
}

List *
bifang_catalog_all_ledgers(Snapshot snap)
{
	Relation rel = bifang_rows_open("ledger", AccessShareLock);
	BifangRows rows = bifang_rows_begin(rel, NULL, snap, 0, NULL);
	List *result = NIL;
	HeapTuple tuple;

	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		CHECK_FOR_INTERRUPTS();
		result = lappend(result, ledger_from_tuple(rel, tuple));
	}
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return result;
}

List *
bifang_catalog_ledger_versions(int64 ledger_id, bool *settled)
{
	Relation rel = bifang_rows_open("ledger", AccessShareLock);
	List *result = NIL;
	SnapshotData dirty;
	ScanKeyData key;
	BifangRows rows;
	HeapTuple tuple;

	InitDirtySnapshot(dirty);
	*settled = true;
	bifang_rows_key_int8(&key, LEDGER_ID, ledger_id);
	rows = bifang_rows_begin(rel, "ledger_pkey", &dirty, 1, &key);
	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		*settled &= !TransactionIdIsValid(dirty.xmin) && !TransactionIdIsValid(dirty.xmax);
		result = lappend(result, ledger_from_tuple(rel, tuple));
	}
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return result;
}

List *
bifang_catalog_open_or_coming(int64 table_id)
{
	SnapshotData dirty;

	InitDirtySnapshot(dirty);
	return bifang_catalog_open_ledgers(table_id, &dirty);
}

List *
bifang_catalog_open_ledgers(int64 table_id, Snapshot snap)
{
	Relation rel = bifang_rows_open("ledger", AccessShareLock);
	ScanKeyData keys[2];
	BifangRows rows;
	List *result = NIL;
	HeapTuple tuple;

	bifang_rows_key_int8(&keys[0], LEDGER_TABLE_ID, table_id);
	ScanKeyEntryInitialize(&keys[1], 0, LEDGER_STATE, BTEqualStrategyNumber, InvalidOid, InvalidOid,
						   F_CHAREQ, CharGetDatum(BIFANG_LEDGER_OPEN));
	rows = bifang_rows_begin(rel, "ledger_state_idx", snap, 2, keys);
	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
		result = lappend(result, ledger_from_tuple(rel, tuple));
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return result;
}

BifangLedger *
bifang_catalog_ledger(int64 ledger_id, Snapshot snap)
{
	ScanKeyData key;
	List *found;

	bifang_rows_key_int8(&key, LEDGER_ID, ledger_id);
	found = read_ledgers("ledger_pkey", &key, snap);
	Assert(list_length(found) <= 1);
	return found == NIL ? NULL : linitial(found);
}

int64
bifang_catalog_new_ledger_id(void)
{
	return nextval_internal(bifang_rows_relid("ledger_id_seq"), false);
}

void
bifang_catalog_reserve_ledger_ids(int64 id)
{
	Oid sequence = bifang_rows_relid("ledger_id_seq");
	Oid user;
	int context;

	if (bifang_catalog_new_ledger_id() > id)
		return;
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, context | SECURITY_LOCAL_USERID_CHANGE);
	(void) DirectFunctionCall2(setval_oid, ObjectIdGetDatum(sequence), Int64GetDatum(id));
	SetUserIdAndSecContext(user, context);
}

void
bifang_catalog_insert_ledger(const BifangLedger *l, CommandId cid)
{
	Relation rel = bifang_rows_open("ledger", RowExclusiveLock);
	Datum values[LEDGER_NATTS] = {0};
	bool nulls[LEDGER_NATTS] = {false};

	Assert(l->id > 0 && l->table_id > 0 && l->live_dir[0] == '/');
	Assert((l->state == BIFANG_LEDGER_OFFLOADED) == (l->offload_path != NULL));
	values[BIFANG_SLOT(LEDGER_ID)] = Int64GetDatum(l->id);
	values[BIFANG_SLOT(LEDGER_UUID)] = CStringGetTextDatum(l->table_uuid);
	values[BIFANG_SLOT(LEDGER_NAMESPACE)] = CStringGetTextDatum(l->ns);
	values[BIFANG_SLOT(LEDGER_TABLE)] = CStringGetTextDatum(l->table);
	values[BIFANG_SLOT(LEDGER_STATE)] = CharGetDatum(l->state);
	values[BIFANG_SLOT(LEDGER_SCHEMA_ID)] = Int32GetDatum(l->schema_id);
	values[BIFANG_SLOT(LEDGER_ORIGIN)] = CStringGetTextDatum(l->origin);
	values[BIFANG_SLOT(LEDGER_DIRECTORY)] =
		bifang_rows_path_datum(bifang_rows_stored_path(l->live_dir));
	nulls[BIFANG_SLOT(LEDGER_OFFLOAD_PATH)] = l->offload_path == NULL;
	if (l->offload_path != NULL)
		values[BIFANG_SLOT(LEDGER_OFFLOAD_PATH)] =
			bifang_rows_path_datum(bifang_rows_stored_path(l->offload_path));
	values[BIFANG_SLOT(LEDGER_CREATED)] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[BIFANG_SLOT(LEDGER_CLOSED)] = values[BIFANG_SLOT(LEDGER_OFFLOADED)] =
		values[BIFANG_SLOT(LEDGER_CREATED)];
	nulls[BIFANG_SLOT(LEDGER_CLOSED)] = l->state == BIFANG_LEDGER_OPEN;
	nulls[BIFANG_SLOT(LEDGER_OFFLOADED)] = l->state != BIFANG_LEDGER_OFFLOADED;
	nulls[BIFANG_SLOT(LEDGER_LOST)] = l->lost == NULL;
	if (l->lost != NULL)
		values[BIFANG_SLOT(LEDGER_LOST)] = CStringGetTextDatum(l->lost);
	values[BIFANG_SLOT(LEDGER_TABLE_ID)] = Int64GetDatum(l->table_id);
	values[BIFANG_SLOT(LEDGER_CATALOG)] = CStringGetTextDatum(l->catalog);
	bifang_rows_insert_at(rel, values, nulls, cid);
	table_close(rel, RowExclusiveLock);
}

/* The row that the transaction sees, locked, provided that it is the newest. Whoever changes
 * ledgers holds a lock of the table, so nobody else is at it; but with one snapshot for the whole
 * transaction somebody may have changed it since. A new version of ours would then be visible
 * beside the old one. */
static HeapTuple
lock_ledger_row(Relation rel, int64 ledger_id)
{
	Snapshot snap = RegisterSnapshot(bifang_work_snapshot());
	HeapTuple found = NULL;
	HeapTuple tuple;
	ScanKeyData key;
	BifangRows rows;

	bifang_rows_key_int8(&key, LEDGER_ID, ledger_id);
	rows = bifang_rows_begin(rel, "ledger_pkey", snap, 1, &key);
	tuple = bifang_rows_next(&rows);
	if (HeapTupleIsValid(tuple) && bifang_rows_lock(rel, tuple))
		found = heap_copytuple(tuple);
	bifang_rows_end(&rows);
	UnregisterSnapshot(snap);
	if (found == NULL)
		bifang_rows_refuse();
	return found;
}

/* The edges of a ledger's states; nothing leads back. */
static bool
may_become(char from, char to)
{
	return (from == BIFANG_LEDGER_OPEN && to == BIFANG_LEDGER_CLOSED) ||
		   (from == BIFANG_LEDGER_CLOSED &&
			(to == BIFANG_LEDGER_OFFLOADED || to == BIFANG_LEDGER_TRIMMED));
}

void
bifang_catalog_update_ledger(const BifangLedger *l)
{
	Relation rel = bifang_rows_open("ledger", RowExclusiveLock);
	HeapTuple old = lock_ledger_row(rel, l->id);
	Datum values[LEDGER_NATTS] = {0};
	bool nulls[LEDGER_NATTS] = {false};
	bool replace[LEDGER_NATTS] = {false};
	AttrNumber stamp = l->state == BIFANG_LEDGER_OFFLOADED ? LEDGER_OFFLOADED : LEDGER_CLOSED;
	char state = ledger_from_tuple(rel, old)->state;

	if (!may_become(state, l->state))
		elog(ERROR, "ledger " INT64_FORMAT " cannot go from state \"%c\" to \"%c\"", l->id, state,
			 l->state);
	Assert((l->state == BIFANG_LEDGER_OFFLOADED) == (l->offload_path != NULL));
	values[BIFANG_SLOT(LEDGER_STATE)] = CharGetDatum(l->state);
	replace[BIFANG_SLOT(LEDGER_STATE)] = true;
	values[BIFANG_SLOT(stamp)] = TimestampTzGetDatum(GetCurrentTimestamp());
	replace[BIFANG_SLOT(stamp)] = true;
	if (l->offload_path != NULL)
	{
		values[BIFANG_SLOT(LEDGER_OFFLOAD_PATH)] =
			bifang_rows_path_datum(bifang_rows_stored_path(l->offload_path));
		replace[BIFANG_SLOT(LEDGER_OFFLOAD_PATH)] = true;
	}
	CatalogTupleUpdate(rel, &old->t_self,
					   heap_modify_tuple(old, RelationGetDescr(rel), values, nulls, replace));
	table_close(rel, RowExclusiveLock);
}

/* Replaces one column; an open ledger is closed along with it. */
static void
set_and_close(int64 ledger_id, int column, const char *value)
{
	Relation rel = bifang_rows_open("ledger", RowExclusiveLock);
	HeapTuple old = lock_ledger_row(rel, ledger_id);
	Datum values[LEDGER_NATTS] = {0};
	bool nulls[LEDGER_NATTS] = {false};
	bool replace[LEDGER_NATTS] = {false};

	Assert(value[0] != '\0');
	values[BIFANG_SLOT(column)] = CStringGetTextDatum(value);
	replace[BIFANG_SLOT(column)] = true;
	if (ledger_from_tuple(rel, old)->state == BIFANG_LEDGER_OPEN)
	{
		values[BIFANG_SLOT(LEDGER_STATE)] = CharGetDatum(BIFANG_LEDGER_CLOSED);
		values[BIFANG_SLOT(LEDGER_CLOSED)] = TimestampTzGetDatum(GetCurrentTimestamp());
		replace[BIFANG_SLOT(LEDGER_STATE)] = replace[BIFANG_SLOT(LEDGER_CLOSED)] = true;
	}
	CatalogTupleUpdate(rel, &old->t_self,
					   heap_modify_tuple(old, RelationGetDescr(rel), values, nulls, replace));
	table_close(rel, RowExclusiveLock);
}

void
bifang_catalog_set_lost(const BifangLedger *l, const char *lost)
{
	set_and_close(l->id, LEDGER_LOST, lost);
}

void
bifang_catalog_adopt_ledger(const BifangLedger *l)
{
	set_and_close(l->id, LEDGER_ORIGIN, bifang_catalog_origin());
}

void
bifang_catalog_delete_ledger(int64 ledger_id)
{
	Relation rel = bifang_rows_open("ledger", RowExclusiveLock);
	HeapTuple old = lock_ledger_row(rel, ledger_id);

	CatalogTupleDelete(rel, &old->t_self);
	table_close(rel, RowExclusiveLock);
}

/* Ends ---------------------------------------------------------------------------------------- */

const BfLogTail *
bifang_ledger_tail(const BifangLedger *l, Snapshot snap)
{
	Assert(l->files_entry <= l->end_entry);
	return l->files_entry < l->end_entry ? bifang_tail_of(l->id, l->files_entry, snap) : NULL;
}

void
bifang_catalog_insert_append(const BifangLedger *l, BfLedgerEnd end, CommandId cid)
{
	Relation rel = bifang_rows_open("append", RowExclusiveLock);
	Datum values[APPEND_NATTS] = {0};
	bool nulls[APPEND_NATTS] = {false};

	/* Of an offloaded ledger all entries may have come from the tail. */
	Assert(end.entry > end.segment && end.segment >= 0 && end.position >= 0);
	Assert(end.position > 0 || l->state == BIFANG_LEDGER_OFFLOADED);
	values[BIFANG_SLOT(APPEND_LEDGER)] = Int64GetDatum(l->id);
	values[BIFANG_SLOT(APPEND_END)] = Int64GetDatum(end.entry);
	values[BIFANG_SLOT(APPEND_SEGMENT)] = Int64GetDatum(end.segment);
	values[BIFANG_SLOT(APPEND_POSITION)] = Int64GetDatum(end.position);
	values[BIFANG_SLOT(APPEND_WRITTEN)] = TimestampTzGetDatum(GetCurrentTimestamp());
	bifang_rows_insert_at(rel, values, nulls, cid);
	bifang_conflicts_write(rel, l->table_id);
	table_close(rel, RowExclusiveLock);
}

int64
bifang_catalog_written_at(int64 ledger_id, int64 entry, Snapshot snap)
{
	Relation rel = bifang_rows_open("append", AccessShareLock);
	int64 in_tail = bifang_catalog_tail_written_at(ledger_id, entry, snap);
	int64 in_files = PG_INT64_MAX;
	ScanKeyData keys[2];
	BifangRows rows;
	HeapTuple tuple;

	bifang_rows_key_int8(&keys[0], APPEND_LEDGER, ledger_id);
	ScanKeyEntryInitialize(&keys[1], 0, APPEND_END, BTGreaterStrategyNumber, InvalidOid, InvalidOid,
						   F_INT8GT, Int64GetDatum(entry));
	rows = bifang_rows_begin(rel, "append_pkey", snap, 2, keys);
	tuple = bifang_rows_next(&rows);
	if (HeapTupleIsValid(tuple))
	{
		Datum values[APPEND_NATTS];
		bool nulls[APPEND_NATTS];

		bifang_rows_read(rel, tuple, APPEND_NATTS, values, nulls);
		in_files = DatumGetTimestampTz(values[BIFANG_SLOT(APPEND_WRITTEN)]);
	}
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return Min(in_tail, in_files);
}

BfLedgerEnd *
bifang_catalog_appends(int64 ledger_id, Snapshot snap, int32 *n)
{
	Relation rel = bifang_rows_open("append", AccessShareLock);
	int32 room = 64;
	BfLedgerEnd *ends = palloc(sizeof *ends * (Size) room);
	ScanKeyData key;
	BifangRows rows;
	HeapTuple tuple;

	*n = 0;
	bifang_rows_key_int8(&key, APPEND_LEDGER, ledger_id);
	rows = bifang_rows_begin(rel, "append_pkey", snap, 1, &key);
	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		CHECK_FOR_INTERRUPTS();
		if (*n == room)
			ends = repalloc_huge(ends, sizeof *ends * (Size) (room *= 2));
		end_from_tuple(rel, tuple, &ends[(*n)++]);
		Assert(*n == 1 || ends[*n - 1].entry > ends[*n - 2].entry);
	}
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return ends;
}

int64
bifang_catalog_prune_appends(int64 ledger_id, int64 keep_end, Snapshot snap)
{
	Relation rel = bifang_rows_open("append", RowExclusiveLock);
	ScanKeyData keys[2];
	BifangRows rows;
	HeapTuple tuple;
	int64 deleted = 0;

	/* The row of the end itself stays. */
	Assert(keep_end > 0);
	bifang_rows_key_int8(&keys[0], APPEND_LEDGER, ledger_id);
	ScanKeyEntryInitialize(&keys[1], 0, APPEND_END, BTLessStrategyNumber, InvalidOid, InvalidOid,
						   F_INT8LT, Int64GetDatum(keep_end));
	rows = bifang_rows_begin(rel, "append_pkey", snap, 2, keys);
	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
		if (bifang_rows_lock(rel, tuple))
		{
			CatalogTupleDelete(rel, &tuple->t_self);
			deleted++;
		}
	bifang_rows_end(&rows);
	table_close(rel, RowExclusiveLock);
	return deleted;
}
