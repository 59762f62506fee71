/*
 * pg/lake/leave.c: before DROP EXTENSION: what stays, and what the directories must know to come
 * back.
 *
 * The catalog goes, ledgers and tables stay where they are. Ledgers don't say themselves which of
 * their bytes were acknowledged: behind the end may be rows of a transaction that a crash ended.
 * Nor do tables say which of their metadata files counts. So the marks are told (pg/write/mark.h),
 * under a lock that keeps writers out until the command has ended. Should it roll back, whoever
 * goes on with a directory takes the word back (bifang_owner_claim).
 */
#include "postgres.h"

#include "commands/event_trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/value.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pg/catalog/catalog.h"
#include "pg/catalog/rows.h"
#include "pg/lake/places.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/write/owner.h"

PG_FUNCTION_INFO_V1(bifang_on_drop_extension);

/* Is this extension one of those that the command drops? */
static bool
is_meant(const Node *parsetree)
{
	const DropStmt *stmt = (const DropStmt *) parsetree;
	ListCell *lc;

	if (!IsA(parsetree, DropStmt) || stmt->removeType != OBJECT_EXTENSION)
		return false;
	foreach (lc, stmt->objects)
		if (strcmp(strVal(lfirst(lc)), "bifang_fdw") == 0)
			return true;
	return false;
}

/* What is in bifang.tail goes with the catalog, so it is put into the ledger's files, behind their
 * acknowledged end: should the command roll back, the next writer cuts it off again. */
static BfLedgerEnd
settled_end(const BifangLedger *l, Snapshot snap)
{
	MemoryContext cxt;
	MemoryContext old;
	BfLedgerEnd end = bifang_ledger_files_end(l);
	BfLedgerWriter *w;
	BfArena *arena;
	BfStatus status;
	BfError err = {0};

	if (l->files_entry == l->end_entry)
		return end;
	cxt = AllocSetContextCreate(CurrentMemoryContext, "bifang settle", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cxt);
	arena = bifang_arena(cxt, "settle", BIFANG_ARENA_MAX_SCAN);
	status = bf_ledger_writer_open(arena, l->live_dir, end, NULL, &w, &err);
	if (status == BF_OK)
		status = bf_ledger_settle(arena, w, bifang_ledger_tail(l, snap), l->end_entry, false, &err);
	if (status == BF_OK)
		status = bf_ledger_writer_sync(w, &err);
	if (status == BF_OK)
		end = bf_ledger_writer_end(w);
	else if (status == BF_ERR_CORRUPT || status == BF_ERR_NOTFOUND)
		bifang_warn(WARNING, &err); /* what is damaged keeps nobody from dropping it */
	else
		bifang_report(&err);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return end;
}

static void
tell_ledger(const BifangLedger *l, Snapshot snap)
{
	BifangMark m;

	Assert(l->state == BIFANG_LEDGER_OPEN || l->state == BIFANG_LEDGER_CLOSED);
	if (bifang_mark_read(l->live_dir, &m) != BIFANG_MARK_READ ||
		bifang_owner_by(&m, l->live_dir, l->table_uuid) != BIFANG_OWNER_OURS)
		return;
	m = bifang_mark_ours(l->table_uuid, l->ns, l->table);
	m.end = settled_end(l, snap);
	m.lost = l->lost != NULL ? l->lost : "";
	bifang_mark_write(l->live_dir, &m);
}

static void
tell_ledgers(void)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	List *ledgers = bifang_catalog_all_ledgers(snap);
	ListCell *lc;

	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (l->state == BIFANG_LEDGER_OPEN || l->state == BIFANG_LEDGER_CLOSED)
			l = bifang_catalog_ledger(l->id, snap);
		if (l != NULL && (l->state == BIFANG_LEDGER_OPEN || l->state == BIFANG_LEDGER_CLOSED))
			tell_ledger(l, snap);
	}
	UnregisterSnapshot(snap);
}

typedef struct Staying
{
	int64 n;
	char *dir; /* of one of them */
} Staying;

static bool
tell_table(void *arg, const BifangLakeTable *row)
{
	Staying *s = arg;
	char *dir = bifang_parent_of(bifang_parent_of(row->metadata_location));
	BifangMark m;

	CHECK_FOR_INTERRUPTS();
	if (s->n++ == 0)
		s->dir = dir;
	if (bifang_mark_read(dir, &m) != BIFANG_MARK_READ ||
		bifang_owner_by(&m, dir, row->uuid) != BIFANG_OWNER_OURS)
		return true;
	m = bifang_mark_ours(m.uuid, row->ns, row->name);
	m.metadata = strrchr(row->metadata_location, '/') + 1;
	bifang_mark_write(dir, &m);
	return true;
}

Datum
bifang_on_drop_extension(PG_FUNCTION_ARGS)
{
	Staying s = {0};

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						errmsg("bifang.on_drop_extension() must be called as event trigger")));
	if (!is_meant(((EventTriggerData *) fcinfo->context)->parsetree) || !superuser() ||
		IsBinaryUpgrade)
		PG_RETURN_NULL();
	/* In the order that writers take them. The command itself wants these locks a little later. */
	LockRelationOid(bifang_rows_relid("iceberg_tables"), AccessExclusiveLock);
	LockRelationOid(bifang_rows_relid("ledger"), AccessExclusiveLock);
	LockRelationOid(bifang_rows_relid("append"), AccessExclusiveLock);
	LockRelationOid(bifang_rows_relid("tail"), AccessExclusiveLock);
	if (bifang_catalog_is_adopted())
		tell_ledgers();
	bifang_catalog_visit_tables(tell_table, &s);
	if (s.n > 0 && bifang_catalog_is_adopted())
		bifang_mark_set_last_ledger(bifang_catalog_new_ledger_id());
	if (s.n > 0)
		ereport(NOTICE,
				(errmsg(INT64_FORMAT " lake tables stay in their directories, with all rows", s.n),
				 errdetail("\"%s\" is one of them.", bifang_shown(s.dir)),
				 errhint("bifang.recover() makes tables of them again after CREATE EXTENSION. "
						 "To be rid of them, drop them with bifang.drop_table(..., purge => true) "
						 "and call bifang.remove_garbage() before.")));
	PG_RETURN_NULL();
}
