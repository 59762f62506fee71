/*
 * pg/catalog/rows.c: see rows.h.
 */
#include "pg/catalog/rows.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "commands/extension.h"
#include "executor/tuptable.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "pg/server/encoding.h"
#include "pg/server/roles.h"

/* Ids of what the extension's tables are called, as long as nothing is said of changes. */
#define RELIDS_MAX 32

typedef struct NamedRelid
{
	const char *name; /* a literal */
	Oid relid;
} NamedRelid;

static NamedRelid relids[RELIDS_MAX];
static int n_relids = 0;
static uint64 n_forgotten = 0;

static void
forget_relids(Datum arg, int cache, uint32 hash)
{
	(void) arg;
	(void) cache;
	(void) hash;
	n_relids = 0;
	n_forgotten++;
}

/* Indexes are members by their table. */
Oid
bifang_rows_find(const char *name)
{
	Oid schema = get_namespace_oid("bifang", true);
	Oid relid = OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;
	Oid member = relid;

	if (!OidIsValid(relid))
		return InvalidOid;
	if (get_rel_relkind(relid) == RELKIND_INDEX)
		member = IndexGetRelation(relid, false);
	return bifang_is_member(RelationRelationId, member) ? relid : InvalidOid;
}

static Oid
look_up_relid(const char *name)
{
	Oid relid = bifang_rows_find(name);

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("\"bifang.%s\" does not exist", name),
				 errhint(OidIsValid(get_extension_oid("bifang_fdw", true))
							 ? "The extension is older than the library: ALTER EXTENSION "
							   "bifang_fdw UPDATE."
							 : "Run CREATE EXTENSION bifang_fdw in this database.")));
	return relid;
}

Oid
bifang_rows_relid(const char *name)
{
	static bool told = false;
	uint64 before;
	Oid relid;

	for (int i = 0; i < n_relids; i++)
		if (strcmp(relids[i].name, name) == 0)
			return relids[i].relid;
	if (!told)
	{
		CacheRegisterSyscacheCallback(RELOID, forget_relids, (Datum) 0);
		CacheRegisterSyscacheCallback(NAMESPACEOID, forget_relids, (Datum) 0);
		told = true;
	}
	before = n_forgotten;
	relid = look_up_relid(name);
	Assert(OidIsValid(relid));
	/* Looking up opens catalogs, which may tell of changes to what was found by then. */
	if (n_relids < RELIDS_MAX && before == n_forgotten)
		relids[n_relids++] = (NamedRelid){name, relid};
	return relid;
}

Relation
bifang_rows_open(const char *name, LOCKMODE mode)
{
	return table_open(bifang_rows_relid(name), mode);
}

void
bifang_rows_key_text(ScanKey key, AttrNumber att, const char *value)
{
	ScanKeyEntryInitialize(key, 0, att, BTEqualStrategyNumber, InvalidOid, DEFAULT_COLLATION_OID,
						   F_TEXTEQ, CStringGetTextDatum(value));
}

void
bifang_rows_key_int8(ScanKey key, AttrNumber att, int64 value)
{
	ScanKeyEntryInitialize(key, 0, att, BTEqualStrategyNumber, InvalidOid, InvalidOid, F_INT8EQ,
						   Int64GetDatum(value));
}

void
bifang_rows_read(Relation rel, HeapTuple tuple, int natts, Datum *values, bool *nulls)
{
	if (RelationGetDescr(rel)->natts != natts)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"bifang.%s\" has %d columns, not %d", RelationGetRelationName(rel),
						RelationGetDescr(rel)->natts, natts),
				 errhint("The library and the extension's objects are of different versions: "
						 "ALTER EXTENSION bifang_fdw UPDATE.")));
	heap_deform_tuple(tuple, RelationGetDescr(rel), values, nulls);
}

char *
bifang_rows_text(const Datum *values, const bool *nulls, int att)
{
	return nulls[BIFANG_SLOT(att)] ? NULL : TextDatumGetCString(values[BIFANG_SLOT(att)]);
}

BifangRows
bifang_rows_begin_on(Relation rel, Relation index, Snapshot snap, int n_keys, ScanKey keys)
{
	BifangRows r = {.index = index};

	Assert(snap != NULL);
	if (IsolationIsSerializable() && IsMVCCSnapshot(snap))
	{
		r.shown_by = snap;
		snap = SnapshotAny;
	}
	r.scan = index == NULL ? systable_beginscan(rel, InvalidOid, false, snap, n_keys, keys)
						   : systable_beginscan_ordered(rel, index, snap, n_keys, keys);
	return r;
}

BifangRows
bifang_rows_begin(Relation rel, const char *index, Snapshot snap, int n_keys, ScanKey keys)
{
	Relation opened = index == NULL ? NULL : index_open(bifang_rows_relid(index), AccessShareLock);
	BifangRows r = bifang_rows_begin_on(rel, opened, snap, n_keys, keys);

	r.close_index = opened != NULL;
	return r;
}

static bool
is_shown(const BifangRows *r, HeapTuple tuple)
{
	Buffer buffer = ((BufferHeapTupleTableSlot *) r->scan->slot)->buffer;
	bool shown;

	Assert(TTS_IS_BUFFERTUPLE(r->scan->slot) && BufferIsValid(buffer));
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	shown = HeapTupleSatisfiesVisibility(tuple, r->shown_by, buffer);
	if (!shown && r->tell_conflicts)
		HeapCheckForSerializableConflictOut(shown, r->scan->heap_rel, tuple, buffer, r->shown_by);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return shown;
}

static HeapTuple
step(BifangRows *r, ScanDirection direction)
{
	HeapTuple tuple;

	do
	{
		CHECK_FOR_INTERRUPTS();
		tuple = r->index == NULL ? systable_getnext(r->scan)
								 : systable_getnext_ordered(r->scan, direction);
	} while (HeapTupleIsValid(tuple) && r->shown_by != NULL && !is_shown(r, tuple));
	return tuple;
}

HeapTuple
bifang_rows_next(BifangRows *r)
{
	return step(r, ForwardScanDirection);
}

HeapTuple
bifang_rows_previous(BifangRows *r)
{
	Assert(r->index != NULL);
	return step(r, BackwardScanDirection);
}

void
bifang_rows_end(BifangRows *r)
{
	if (r->index == NULL)
		systable_endscan(r->scan);
	else
		systable_endscan_ordered(r->scan);
	if (r->close_index)
		index_close(r->index, AccessShareLock);
}

/* As CatalogTupleInsert, but for the command. */
void
bifang_rows_insert_at(Relation rel, Datum *values, bool *nulls, CommandId cid)
{
	HeapTuple tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
	List *indexes = RelationGetIndexList(rel);
	ListCell *lc;

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	Assert(cid <= GetCurrentCommandId(false));
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

void
bifang_rows_insert(Relation rel, Datum *values, bool *nulls)
{
	HeapTuple tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);

	CatalogTupleInsert(rel, tuple);
	heap_freetuple(tuple);
}

bool
bifang_rows_lock(Relation rel, HeapTuple tuple)
{
	HeapTupleData target = *tuple;
	TM_FailureData failure;
	Buffer buffer;
	TM_Result result = heap_lock_tuple(rel, &target, GetCurrentCommandId(true), LockTupleExclusive,
									   LockWaitBlock, false, &buffer, &failure);

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	Assert(result != TM_Invisible);
	ReleaseBuffer(buffer);
	return result == TM_Ok || result == TM_BeingModified;
}

void
bifang_rows_refuse(void)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("could not serialize access due to concurrent update"),
					errhint("The lake table changed after this transaction took its snapshot; "
							"run the transaction again.")));
}

const char *
bifang_rows_stored_path(const char *path)
{
	size_t n = strlen(DataDir);

	Assert(path[0] == '/');
	return strncmp(path, DataDir, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

char *
bifang_rows_full_path(char *stored)
{
	if (stored == NULL)
		return NULL;
	stored = bifang_to_utf8(stored);
	return stored[0] == '/' ? stored : psprintf("%s/%s", DataDir, stored);
}

Datum
bifang_rows_path_datum(const char *path)
{
	const char *text = bifang_from_utf8(path);

	if (text == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
						errmsg("path \"%s\" has a character that encoding \"%s\" lacks",
							   bifang_shown(path), GetDatabaseEncodingName())));
	return CStringGetTextDatum(text);
}
