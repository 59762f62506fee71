/*
 * pg/catalog/catalog.c: see catalog.h.
 *
 * Column numbers below follow the CREATE TABLE statements of the extension script. Reads go through
 * systable scans (any heap relation may be read that way) under the snapshot given by the caller;
 * writes form a tuple, insert it and its index entries. Constraints other than unique indexes are
 * not run by these paths, so what is written here must obey them.
 */
#include "pg/catalog/catalog.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_collation.h"
#include "commands/sequence.h"
#include "executor/tuptable.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

#include "pg/catalog/remote.h"
#include "pg/server/files.h"
#include "pg/server/host.h"

void (*bifang_catalog_before_ledgers)(const char *table_uuid) = NULL;

enum
{
	TABLES_CATALOG = 1,
	TABLES_NAMESPACE,
	TABLES_NAME,
	TABLES_LOCATION,
	TABLES_PREVIOUS,
	TABLES_TYPE,
	TABLES_NATTS = TABLES_TYPE
};

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
	LEDGER_NATTS = LEDGER_OFFLOADED
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

enum
{
	GARBAGE_PATH = 1,
	GARBAGE_IS_DIR,
	GARBAGE_XID,
	GARBAGE_REASON,
	GARBAGE_QUEUED,
	GARBAGE_NATTS = GARBAGE_QUEUED
};

enum
{
	JOB_ID = 1,
	JOB_KIND,
	JOB_UUID,
	JOB_NAMESPACE,
	JOB_TABLE,
	JOB_STARTED,
	JOB_ENDED,
	JOB_ROWS,
	JOB_FILES,
	JOB_BYTES,
	JOB_SNAPSHOT,
	JOB_ERROR,
	JOB_NATTS = JOB_ERROR
};

#define SLOT(att) ((att) -1)

/* Opening ------------------------------------------------------------------------------------- */

static Oid
catalog_relid(const char *name)
{
	Oid schema = get_namespace_oid("bifang", true);
	Oid relid = OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("\"bifang.%s\" does not exist", name),
				 errhint("Run CREATE EXTENSION bifang_fdw in this database.")));
	return relid;
}

static Relation
catalog_open(const char *name, LOCKMODE mode)
{
	return table_open(catalog_relid(name), mode);
}

static void
key_text(ScanKey key, AttrNumber att, const char *value)
{
	ScanKeyEntryInitialize(key, 0, att, BTEqualStrategyNumber, InvalidOid, DEFAULT_COLLATION_OID,
						   F_TEXTEQ, CStringGetTextDatum(value));
}

static void
key_int8(ScanKey key, AttrNumber att, int64 value)
{
	ScanKeyEntryInitialize(key, 0, att, BTEqualStrategyNumber, InvalidOid, InvalidOid, F_INT8EQ,
						   Int64GetDatum(value));
}

static char *
text_at(const Datum *values, const bool *nulls, int att)
{
	return nulls[SLOT(att)] ? NULL : TextDatumGetCString(values[SLOT(att)]);
}

/* As CatalogTupleInsert, but visible to commands after `cid`, which may be older than the current
 * one: a statement's rows are visible to whatever comes after that statement began. */
static void
insert_with_cid(Relation rel, Datum *values, bool *nulls, CommandId cid)
{
	HeapTuple tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
	List *indexes = RelationGetIndexList(rel);
	ListCell *lc;

	heap_insert(rel, tuple, cid, 0, NULL);
	ExecStoreHeapTuple(tuple, slot, false);
	foreach (lc, indexes)
	{
		Relation index = index_open(lfirst_oid(lc), RowExclusiveLock);
		IndexInfo *info = BuildIndexInfo(index);
		Datum keys[INDEX_MAX_KEYS];
		bool key_nulls[INDEX_MAX_KEYS];

		if (info->ii_ReadyForInserts && info->ii_Expressions == NIL && info->ii_Predicate == NIL)
		{
			FormIndexDatum(info, slot, NULL, keys, key_nulls);
			index_insert(index, keys, key_nulls, &tuple->t_self, rel,
						 index->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false,
						 info);
		}
		index_close(index, RowExclusiveLock);
	}
	list_free(indexes);
	ExecDropSingleTupleTableSlot(slot);
	heap_freetuple(tuple);
}

static void
insert_row(Relation rel, Datum *values, bool *nulls)
{
	HeapTuple tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);

	CatalogTupleInsert(rel, tuple);
	heap_freetuple(tuple);
}

/* Locks the row version so that it can be changed or deleted without surprise. False: somebody
 * changed it since the snapshot under which it was found. */
static bool
lock_row(Relation rel, HeapTuple tuple)
{
	HeapTupleData target = *tuple;
	TM_FailureData failure;
	Buffer buffer;
	TM_Result result = heap_lock_tuple(rel, &target, GetCurrentCommandId(true), LockTupleExclusive,
									   LockWaitBlock, false, &buffer, &failure);

	ReleaseBuffer(buffer);
	return result == TM_Ok || result == TM_BeingModified;
}

static void
report_serialization(void)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("could not serialize access due to concurrent update"),
					errhint("The lake table changed after this transaction took its snapshot; "
							"run the transaction again.")));
}

Snapshot
bifang_work_snapshot(void)
{
	return IsolationUsesXactSnapshot() ? GetTransactionSnapshot() : GetLatestSnapshot();
}

/* iceberg_tables ------------------------------------------------------------------------------ */

static SysScanDesc
begin_table_scan(Relation rel, const char *catalog, const char *ns, const char *name, Snapshot snap)
{
	ScanKeyData keys[3];

	key_text(&keys[0], TABLES_CATALOG, catalog);
	key_text(&keys[1], TABLES_NAMESPACE, ns);
	key_text(&keys[2], TABLES_NAME, name);
	return systable_beginscan(rel, catalog_relid("iceberg_tables_pkey"), true, snap, 3, keys);
}

/* Paths. A copy of the cluster at another place, say a restored base backup, must find its own
 * files and leave the first one's alone. So paths below the data directory are kept without it. The
 * location of metadata is read by other programs too and is kept whole; of one that is not below
 * the data directory the part in the embedded warehouse counts, when this cluster has that file. */
static const char *
stored_path(const char *path)
{
	size_t n = strlen(DataDir);

	return strncmp(path, DataDir, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static char *
full_path(char *stored)
{
	return stored == NULL || stored[0] == '/' ? stored : psprintf("%s/%s", DataDir, stored);
}

static char *
lake_path(const char *location)
{
	char *path = bifang_local_path(location, "metadata location of a lake table");
	const char *in_lake = strstr(path, "/" BIFANG_EMBEDDED_WAREHOUSE "/");
	BfPathInfo info;
	BfError err = {0};
	char *own;

	if (in_lake == NULL || stored_path(path) != path)
		return path;
	own = psprintf("%s%s", DataDir, in_lake);
	if (bifang_host()->stat(bifang_host(), own, &info, &err) != BF_OK || info.kind != BF_PATH_FILE)
		return path;
	return own;
}

bool
bifang_catalog_lookup(const BifangOptions *o, Snapshot snap, BifangLakeTable *out)
{
	Relation rel;
	SysScanDesc scan;
	HeapTuple tuple;
	bool found = false;

	if (o->ns == NULL || o->table == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
						errmsg("foreign table has no options \"namespace\" and \"table\""),
						errhint("They say which lake table it is. ALTER FOREIGN TABLE ... OPTIONS "
								"(ADD namespace '...', ADD \"table\" '...').")));
	if (o->remote_catalog)
	{
		bifang_remote_lookup(o, snap, out);
		return true;
	}
	out->catalog = pstrdup(o->catalog_name);
	out->ns = pstrdup(o->ns);
	out->name = pstrdup(o->table);
	out->metadata_location = NULL;

	rel = catalog_open("iceberg_tables", AccessShareLock);
	scan = begin_table_scan(rel, o->catalog_name, o->ns, o->table, snap);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Datum values[TABLES_NATTS];
		bool nulls[TABLES_NATTS];
		char *type;

		heap_deform_tuple(tuple, RelationGetDescr(rel), values, nulls);
		type = text_at(values, nulls, TABLES_TYPE);
		if (type != NULL && strcmp(type, "TABLE") != 0)
			continue;
		if (nulls[SLOT(TABLES_LOCATION)])
			ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
							errmsg("catalog row of lake table %s.%s has no metadata location",
								   o->ns, o->table)));
		out->metadata_location = lake_path(text_at(values, nulls, TABLES_LOCATION));
		found = true;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

static void
visit_tables(Snapshot snap, BifangTableVisit visit, void *arg)
{
	Relation rel = catalog_open("iceberg_tables", AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, snap, 0, NULL);
	HeapTuple tuple;
	bool more = true;

	while (more && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Datum values[TABLES_NATTS];
		bool nulls[TABLES_NATTS];
		BifangLakeTable row;
		char *location;

		CHECK_FOR_INTERRUPTS();
		heap_deform_tuple(tuple, RelationGetDescr(rel), values, nulls);
		location = text_at(values, nulls, TABLES_LOCATION);
		/* Other engines may keep tables here that are no local files. */
		if (location == NULL || (location[0] != '/' && strncmp(location, "file:", 5) != 0))
			continue;
		row.catalog = text_at(values, nulls, TABLES_CATALOG);
		row.ns = text_at(values, nulls, TABLES_NAMESPACE);
		row.name = text_at(values, nulls, TABLES_NAME);
		row.metadata_location = lake_path(location);
		more = visit(arg, &row);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

void
bifang_catalog_visit_tables(BifangTableVisit visit, void *arg)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());

	visit_tables(snap, visit, arg);
	UnregisterSnapshot(snap);
}

typedef struct LakePointer
{
	const char *metadata_path;
	bool found;
} LakePointer;

static bool
is_pointer(void *arg, const BifangLakeTable *row)
{
	LakePointer *p = arg;

	p->found = strcmp(row->metadata_location, p->metadata_path) == 0;
	return !p->found;
}

bool
bifang_catalog_points_to(const char *metadata_path, Snapshot snap)
{
	LakePointer p = {metadata_path, false};

	visit_tables(snap, is_pointer, &p);
	return p.found;
}

void
bifang_catalog_insert_table(const BifangLakeTable *t)
{
	Relation rel = catalog_open("iceberg_tables", RowExclusiveLock);
	Datum values[TABLES_NATTS];
	bool nulls[TABLES_NATTS] = {false};
	char *location = psprintf("file://%s", t->metadata_location);

	bifang_catalog_check_names(t);
	if (strlen(location) > BIFANG_LOCATION_MAX)
		ereport(ERROR, (errcode(ERRCODE_NAME_TOO_LONG),
						errmsg("metadata location of %d bytes is longer than the catalog's %d",
							   (int) strlen(location), BIFANG_LOCATION_MAX)));
	values[SLOT(TABLES_CATALOG)] = CStringGetTextDatum(t->catalog);
	values[SLOT(TABLES_NAMESPACE)] = CStringGetTextDatum(t->ns);
	values[SLOT(TABLES_NAME)] = CStringGetTextDatum(t->name);
	values[SLOT(TABLES_LOCATION)] = CStringGetTextDatum(location);
	nulls[SLOT(TABLES_PREVIOUS)] = true;
	values[SLOT(TABLES_TYPE)] = CStringGetTextDatum("TABLE");
	insert_row(rel, values, nulls);
	table_close(rel, RowExclusiveLock);
}

/* Finds the row that still points at t->metadata_location and locks it. NULL: it does not. */
static HeapTuple
lock_table_row(Relation rel, const BifangLakeTable *t)
{
	bool old = IsolationUsesXactSnapshot();
	Snapshot snap = RegisterSnapshot(bifang_work_snapshot());
	SysScanDesc scan = begin_table_scan(rel, t->catalog, t->ns, t->name, snap);
	HeapTuple found = NULL;
	HeapTuple tuple;

	while (found == NULL && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Datum values[TABLES_NATTS];
		bool nulls[TABLES_NATTS];
		char *location;

		heap_deform_tuple(tuple, RelationGetDescr(rel), values, nulls);
		location = text_at(values, nulls, TABLES_LOCATION);
		if (location != NULL && strcmp(lake_path(location), t->metadata_location) == 0 &&
			lock_row(rel, tuple))
			found = heap_copytuple(tuple);
	}
	systable_endscan(scan);
	UnregisterSnapshot(snap);
	if (found == NULL && old)
		report_serialization();
	return found;
}

bool
bifang_catalog_move_pointer(const BifangLakeTable *t, const char *new_location)
{
	Relation rel = catalog_open("iceberg_tables", RowExclusiveLock);
	HeapTuple old = lock_table_row(rel, t);

	if (old != NULL)
	{
		Datum values[TABLES_NATTS] = {0};
		bool nulls[TABLES_NATTS] = {false};
		bool replace[TABLES_NATTS] = {false};
		char *location = psprintf("file://%s", new_location);
		HeapTuple tuple;

		if (strlen(location) > BIFANG_LOCATION_MAX)
			ereport(ERROR, (errcode(ERRCODE_NAME_TOO_LONG),
							errmsg("metadata location of %d bytes is longer than the catalog's %d",
								   (int) strlen(location), BIFANG_LOCATION_MAX)));
		values[SLOT(TABLES_LOCATION)] = CStringGetTextDatum(location);
		values[SLOT(TABLES_PREVIOUS)] =
			CStringGetTextDatum(psprintf("file://%s", t->metadata_location));
		replace[SLOT(TABLES_LOCATION)] = replace[SLOT(TABLES_PREVIOUS)] = true;
		tuple = heap_modify_tuple(old, RelationGetDescr(rel), values, nulls, replace);
		CatalogTupleUpdate(rel, &old->t_self, tuple);
	}
	table_close(rel, RowExclusiveLock);
	return old != NULL;
}

bool
bifang_catalog_delete_table(const BifangLakeTable *t)
{
	Relation rel = catalog_open("iceberg_tables", RowExclusiveLock);
	HeapTuple old = lock_table_row(rel, t);

	if (old != NULL)
		CatalogTupleDelete(rel, &old->t_self);
	table_close(rel, RowExclusiveLock);
	return old != NULL;
}

void
bifang_catalog_check_names(const BifangLakeTable *t)
{
	const char *names[] = {t->catalog, t->ns, t->name};

	for (int i = 0; i < (int) lengthof(names); i++)
		if (names[i][0] == '\0' || pg_mbstrlen(names[i]) > 255)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_NAME),
					 errmsg("catalog, namespace and table name must have 1 to 255 characters")));
}

/* ledger -------------------------------------------------------------------------------------- */

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

	heap_deform_tuple(tuple, RelationGetDescr(rel), values, nulls);
	l->id = DatumGetInt64(values[SLOT(LEDGER_ID)]);
	l->ns = text_at(values, nulls, LEDGER_NAMESPACE);
	l->table = text_at(values, nulls, LEDGER_TABLE);
	l->state = DatumGetChar(values[SLOT(LEDGER_STATE)]);
	l->schema_id = DatumGetInt32(values[SLOT(LEDGER_SCHEMA_ID)]);
	l->origin = text_at(values, nulls, LEDGER_ORIGIN);
	l->live_dir = full_path(text_at(values, nulls, LEDGER_DIRECTORY));
	l->offload_path = full_path(text_at(values, nulls, LEDGER_OFFLOAD_PATH));
	return l;
}

static void
ledger_set_end(Relation append, Relation index, BifangLedger *l, Snapshot snap)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	key_int8(&key, APPEND_LEDGER, l->id);
	scan = systable_beginscan_ordered(append, index, snap, 1, &key);
	tuple = systable_getnext_ordered(scan, BackwardScanDirection);
	if (HeapTupleIsValid(tuple))
	{
		Datum values[APPEND_NATTS];
		bool nulls[APPEND_NATTS];

		heap_deform_tuple(tuple, RelationGetDescr(append), values, nulls);
		l->end_entry = DatumGetInt64(values[SLOT(APPEND_END)]);
		l->end_segment = DatumGetInt64(values[SLOT(APPEND_SEGMENT)]);
		l->end_position = DatumGetInt64(values[SLOT(APPEND_POSITION)]);
	}
	systable_endscan_ordered(scan);
}

/* By table or by id, whichever key is given. */
static List *
read_ledgers(const char *index_name, ScanKey key, Snapshot snap)
{
	Relation rel = catalog_open("ledger", AccessShareLock);
	Relation append = catalog_open("append", AccessShareLock);
	Relation append_index = index_open(catalog_relid("append_pkey"), AccessShareLock);
	Relation index = index_open(catalog_relid(index_name), AccessShareLock);
	SysScanDesc scan = systable_beginscan_ordered(rel, index, snap, 1, key);
	List *result = NIL;
	HeapTuple tuple;

	while (HeapTupleIsValid(tuple = systable_getnext_ordered(scan, ForwardScanDirection)))
	{
		BifangLedger *l = ledger_from_tuple(rel, tuple);

		ledger_set_end(append, append_index, l, snap);
		result = lappend(result, l);
	}
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	index_close(append_index, AccessShareLock);
	table_close(append, AccessShareLock);
	table_close(rel, AccessShareLock);
	return result;
}

List *
bifang_catalog_ledgers(const char *table_uuid, Snapshot snap)
{
	ScanKeyData key;

	if (bifang_catalog_before_ledgers != NULL)
		bifang_catalog_before_ledgers(table_uuid);
	key_text(&key, LEDGER_UUID, table_uuid);
	return read_ledgers("ledger_table_idx", &key, snap);
}

List *
bifang_catalog_open_ledgers(const char *table_uuid, Snapshot snap)
{
	Relation rel = catalog_open("ledger", AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	List *result = NIL;
	HeapTuple tuple;

	key_text(&keys[0], LEDGER_UUID, table_uuid);
	ScanKeyEntryInitialize(&keys[1], 0, LEDGER_STATE, BTEqualStrategyNumber, InvalidOid, InvalidOid,
						   F_CHAREQ, CharGetDatum(BIFANG_LEDGER_OPEN));
	scan = systable_beginscan(rel, catalog_relid("ledger_state_idx"), true, snap, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = lappend(result, ledger_from_tuple(rel, tuple));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

BifangLedger *
bifang_catalog_ledger(int64 ledger_id, Snapshot snap)
{
	ScanKeyData key;
	List *found;

	key_int8(&key, LEDGER_ID, ledger_id);
	found = read_ledgers("ledger_pkey", &key, snap);
	return found == NIL ? NULL : linitial(found);
}

int64
bifang_catalog_new_ledger_id(void)
{
	return nextval_internal(catalog_relid("ledger_id_seq"), false);
}

void
bifang_catalog_reserve_ledger_ids(int64 id)
{
	Oid sequence = catalog_relid("ledger_id_seq");
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
bifang_catalog_insert_ledger(const char *table_uuid, const BifangLedger *l, CommandId cid)
{
	Relation rel = catalog_open("ledger", RowExclusiveLock);
	Datum values[LEDGER_NATTS] = {0};
	bool nulls[LEDGER_NATTS] = {false};

	values[SLOT(LEDGER_ID)] = Int64GetDatum(l->id);
	values[SLOT(LEDGER_UUID)] = CStringGetTextDatum(table_uuid);
	values[SLOT(LEDGER_NAMESPACE)] = CStringGetTextDatum(l->ns);
	values[SLOT(LEDGER_TABLE)] = CStringGetTextDatum(l->table);
	values[SLOT(LEDGER_STATE)] = CharGetDatum(l->state);
	values[SLOT(LEDGER_SCHEMA_ID)] = Int32GetDatum(l->schema_id);
	values[SLOT(LEDGER_ORIGIN)] = CStringGetTextDatum(l->origin);
	values[SLOT(LEDGER_DIRECTORY)] = CStringGetTextDatum(stored_path(l->live_dir));
	nulls[SLOT(LEDGER_OFFLOAD_PATH)] = true;
	values[SLOT(LEDGER_CREATED)] = TimestampTzGetDatum(GetCurrentTimestamp());
	nulls[SLOT(LEDGER_CLOSED)] = nulls[SLOT(LEDGER_OFFLOADED)] = true;
	insert_with_cid(rel, values, nulls, cid);
	table_close(rel, RowExclusiveLock);
}

/* The row that the transaction sees, locked, provided that it is the newest. Whoever changes a
 * ledger holds its lock, so nobody else is at it; but with one snapshot for the whole transaction
 * somebody may have changed it since. A new version of ours would then be visible beside the old
 * one. */
static HeapTuple
lock_ledger_row(Relation rel, int64 ledger_id)
{
	Snapshot snap = RegisterSnapshot(bifang_work_snapshot());
	HeapTuple found = NULL;
	HeapTuple tuple;
	ScanKeyData key;
	SysScanDesc scan;

	key_int8(&key, LEDGER_ID, ledger_id);
	scan = systable_beginscan(rel, catalog_relid("ledger_pkey"), true, snap, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple) && lock_row(rel, tuple))
		found = heap_copytuple(tuple);
	systable_endscan(scan);
	UnregisterSnapshot(snap);
	if (found == NULL)
		report_serialization();
	return found;
}

void
bifang_catalog_update_ledger(const BifangLedger *l)
{
	Relation rel = catalog_open("ledger", RowExclusiveLock);
	HeapTuple old = lock_ledger_row(rel, l->id);
	Datum values[LEDGER_NATTS] = {0};
	bool nulls[LEDGER_NATTS] = {false};
	bool replace[LEDGER_NATTS] = {false};
	AttrNumber stamp = l->state == BIFANG_LEDGER_OFFLOADED ? LEDGER_OFFLOADED : LEDGER_CLOSED;

	values[SLOT(LEDGER_STATE)] = CharGetDatum(l->state);
	replace[SLOT(LEDGER_STATE)] = true;
	values[SLOT(stamp)] = TimestampTzGetDatum(GetCurrentTimestamp());
	replace[SLOT(stamp)] = true;
	if (l->offload_path != NULL)
	{
		values[SLOT(LEDGER_OFFLOAD_PATH)] = CStringGetTextDatum(stored_path(l->offload_path));
		replace[SLOT(LEDGER_OFFLOAD_PATH)] = true;
	}
	CatalogTupleUpdate(rel, &old->t_self,
					   heap_modify_tuple(old, RelationGetDescr(rel), values, nulls, replace));
	table_close(rel, RowExclusiveLock);
}

void
bifang_catalog_delete_ledger(int64 ledger_id)
{
	Relation rel = catalog_open("ledger", RowExclusiveLock);
	HeapTuple old = lock_ledger_row(rel, ledger_id);

	CatalogTupleDelete(rel, &old->t_self);
	table_close(rel, RowExclusiveLock);
}

/* append -------------------------------------------------------------------------------------- */

void
bifang_catalog_insert_append(int64 ledger_id, BfLedgerEnd end, CommandId cid)
{
	Relation rel = catalog_open("append", RowExclusiveLock);
	Datum values[APPEND_NATTS] = {0};
	bool nulls[APPEND_NATTS] = {false};

	values[SLOT(APPEND_LEDGER)] = Int64GetDatum(ledger_id);
	values[SLOT(APPEND_END)] = Int64GetDatum(end.entry);
	values[SLOT(APPEND_SEGMENT)] = Int64GetDatum(end.segment);
	values[SLOT(APPEND_POSITION)] = Int64GetDatum(end.position);
	values[SLOT(APPEND_WRITTEN)] = TimestampTzGetDatum(GetCurrentTimestamp());
	insert_with_cid(rel, values, nulls, cid);
	table_close(rel, RowExclusiveLock);
}

int64
bifang_catalog_prune_appends(int64 ledger_id, int64 keep_end, Snapshot snap)
{
	Relation rel = catalog_open("append", RowExclusiveLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple tuple;
	int64 deleted = 0;

	key_int8(&keys[0], APPEND_LEDGER, ledger_id);
	ScanKeyEntryInitialize(&keys[1], 0, APPEND_END, BTLessStrategyNumber, InvalidOid, InvalidOid,
						   F_INT8LT, Int64GetDatum(keep_end));
	scan = systable_beginscan(rel, catalog_relid("append_pkey"), true, snap, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		if (lock_row(rel, tuple))
		{
			CatalogTupleDelete(rel, &tuple->t_self);
			deleted++;
		}
	systable_endscan(scan);
	table_close(rel, RowExclusiveLock);
	return deleted;
}

/* garbage and job ----------------------------------------------------------------------------- */

void
bifang_catalog_insert_garbage(const char *path, bool is_dir, const char *reason)
{
	Relation rel = catalog_open("garbage", RowExclusiveLock);
	Datum values[GARBAGE_NATTS] = {0};
	bool nulls[GARBAGE_NATTS] = {false};

	values[SLOT(GARBAGE_PATH)] = CStringGetTextDatum(stored_path(path));
	values[SLOT(GARBAGE_IS_DIR)] = BoolGetDatum(is_dir);
	values[SLOT(GARBAGE_XID)] = FullTransactionIdGetDatum(GetTopFullTransactionId());
	values[SLOT(GARBAGE_REASON)] = CStringGetTextDatum(reason);
	values[SLOT(GARBAGE_QUEUED)] = TimestampTzGetDatum(GetCurrentTimestamp());
	insert_row(rel, values, nulls);
	table_close(rel, RowExclusiveLock);
}

List *
bifang_catalog_take_garbage(FullTransactionId horizon, Snapshot snap)
{
	Relation rel = catalog_open("garbage", RowExclusiveLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, snap, 0, NULL);
	HeapTuple tuple;
	List *taken = NIL;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Datum values[GARBAGE_NATTS];
		bool nulls[GARBAGE_NATTS];
		BifangGarbage *g;

		CHECK_FOR_INTERRUPTS();
		heap_deform_tuple(tuple, RelationGetDescr(rel), values, nulls);
		if (!FullTransactionIdPrecedes(DatumGetFullTransactionId(values[SLOT(GARBAGE_XID)]),
									   horizon) ||
			!lock_row(rel, tuple))
			continue;
		g = palloc(sizeof *g);
		g->path = full_path(text_at(values, nulls, GARBAGE_PATH));
		g->is_dir = DatumGetBool(values[SLOT(GARBAGE_IS_DIR)]);
		CatalogTupleDelete(rel, &tuple->t_self);
		taken = lappend(taken, g);
	}
	systable_endscan(scan);
	table_close(rel, RowExclusiveLock);
	return taken;
}

bool
bifang_catalog_is_queued(const char *path, Snapshot snap)
{
	Relation rel = catalog_open("garbage", AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, snap, 0, NULL);
	HeapTuple tuple;
	bool found = false;

	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Datum values[GARBAGE_NATTS];
		bool nulls[GARBAGE_NATTS];

		CHECK_FOR_INTERRUPTS();
		heap_deform_tuple(tuple, RelationGetDescr(rel), values, nulls);
		found = strcmp(full_path(text_at(values, nulls, GARBAGE_PATH)), path) == 0;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

void
bifang_catalog_insert_job(const BifangJob *job)
{
	Relation rel = catalog_open("job", RowExclusiveLock);
	Datum values[JOB_NATTS] = {0};
	bool nulls[JOB_NATTS] = {false};

	values[SLOT(JOB_ID)] = Int64GetDatum(nextval_internal(catalog_relid("job_id_seq"), false));
	values[SLOT(JOB_KIND)] = CStringGetTextDatum(job->kind);
	values[SLOT(JOB_UUID)] = CStringGetTextDatum(job->table_uuid);
	values[SLOT(JOB_NAMESPACE)] = CStringGetTextDatum(job->ns);
	values[SLOT(JOB_TABLE)] = CStringGetTextDatum(job->table);
	values[SLOT(JOB_STARTED)] = TimestampTzGetDatum(job->started_at);
	values[SLOT(JOB_ENDED)] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[SLOT(JOB_ROWS)] = Int64GetDatum(job->rows);
	values[SLOT(JOB_FILES)] = Int64GetDatum(job->files);
	values[SLOT(JOB_BYTES)] = Int64GetDatum(job->bytes);
	values[SLOT(JOB_SNAPSHOT)] = Int64GetDatum(job->snapshot_id);
	nulls[SLOT(JOB_SNAPSHOT)] = job->snapshot_id < 0;
	nulls[SLOT(JOB_ERROR)] = true;
	insert_row(rel, values, nulls);
	table_close(rel, RowExclusiveLock);
}
