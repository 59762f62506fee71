/*
 * pg/lake/garbage.c: bifang.remove_garbage() and the search for left-overs.
 *
 * A queued path was named by rows until transaction `xid` changed them. Once xid is older than what
 * any snapshot of the cluster may still need (running transactions, prepared ones, replication
 * slots and standbys that report), nobody can be shown the path any more and the files go. The
 * queue row is deleted in the same transaction, before; should that roll back, the next run finds
 * nothing to remove and deletes the row again.
 *
 * A left-over was never named by a committed row. It is told from a file of a running transaction
 * by the ledger's lock: a transaction that makes or offloads a ledger holds it from before the file
 * exists to its end.
 */
#include "pg/lake/garbage.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "tcop/utility.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "io/source.h"
#include "pg/catalog/cache.h"
#include "pg/catalog/catalog.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"
#include "pg/write/ledger.h"
#include "pg/write/locks.h"
#include "pg/write/table.h"

PG_FUNCTION_INFO_V1(bifang_remove_garbage);

/* Of a table's directory goes what we know, and itself when it is empty then. */
static bool
is_table_part(const char *name)
{
	for (int i = 0; i < (int) lengthof(bifang_table_subdirs); i++)
		if (strcmp(name, bifang_table_subdirs[i]) == 0)
			return true;
	return false;
}

static void
remove_path(const char *path, bool is_dir)
{
	const BfHost *host = bifang_host();
	const char *slash = strrchr(path, '/');
	BfError err = {0};

	Assert(path[0] == '/');
	if (!is_dir)
	{
		BIFANG_CHECK(host->unlink(host, path, &err), &err);
		return;
	}
	BIFANG_CHECK(bifang_remove_tree(path, &err), &err);
	if (slash != NULL && is_table_part(slash + 1) &&
		host->rmdir(host, pnstrdup(path, (Size) (slash - path)), &err) != BF_OK)
		bf_error_clear(&err); /* something else is in it */
}

static int64
remove_all(List *garbage)
{
	ListCell *lc;

	foreach (lc, garbage)
	{
		const BifangGarbage *g = lfirst(lc);

		remove_path(g->path, g->is_dir);
	}
	return list_length(garbage);
}

/* The queue ----------------------------------------------------------------------------------- */

static FullTransactionId
oldest_visible_horizon(void)
{
	TransactionId horizon = GetOldestNonRemovableTransactionId(NULL);
	FullTransactionId next = ReadNextFullTransactionId();
	uint32 epoch = EpochFromFullTransactionId(next);

	if (horizon > XidFromFullTransactionId(next))
		epoch--;
	return FullTransactionIdFromEpochAndXid(epoch, horizon);
}

/*
 * Takes the rows out, then removes. A transaction that queued a path may have been committed with
 * synchronous_commit off: were its files gone and its commit lost, committed rows would be missing.
 * Its record stands before that of our deletion, so WAL is written out up to there.
 */
static int64
remove_queued(void)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	FullTransactionId horizon = oldest_visible_horizon();
	List *queued = bifang_catalog_take_garbage(horizon, snap);

	UnregisterSnapshot(snap);
	Assert(queued == NIL || TransactionIdIsValid(GetTopTransactionIdIfAny()));
	if (queued != NIL)
		XLogFlush(XactLastRecEnd);
	return remove_all(queued);
}

/* Looking for left-overs ---------------------------------------------------------------------- */

typedef struct Names
{
	MemoryContext cxt;
	List *names; /* char * */
} Names;

static BfStatus
collect_name(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	Names *n = arg;

	(void) kind;
	(void) err;
	n->names = lappend(n->names, pstrdup(name));
	return BF_OK;
}

static List *
list_directory(const char *dir)
{
	const BfHost *host = bifang_host();
	Names n = {0};
	BfPathInfo info;
	BfError err = {0};

	BIFANG_CHECK(host->stat(host, dir, &info, &err), &err);
	if (info.kind == BF_PATH_DIR)
		BIFANG_CHECK(host->list(host, dir, collect_name, &n, &err), &err);
	return n.names;
}

/* "12", "12-1" with the given end: 12; anything else: -1. */
static int64
ledger_of_name(const char *name, const char *suffix)
{
	char *end;
	int64 id;

	if (name[0] < '1' || name[0] > '9')
		return -1;
	errno = 0;
	id = strtoi64(name, &end, 10);
	if (errno != 0)
		return -1;
	if (*end == '-')
		end += 1 + strspn(end + 1, "0123456789");
	return strcmp(end, suffix) == 0 ? id : -1;
}

/* Nobody writes the ledger, and its row, if there is one, names another path. */
static bool
is_orphan(int64 ledger_id, const char *path, bool is_dir)
{
	Snapshot snap;
	BifangLedger *l;
	bool orphan;

	if (!bifang_lock_ledger(ledger_id, false))
		return false;
	snap = RegisterSnapshot(GetLatestSnapshot());
	l = bifang_catalog_ledger(ledger_id, snap);
	if (is_dir)
		orphan = l == NULL || strcmp(l->live_dir, path) != 0;
	else /* no row: the whole table was dropped, and its directory with it */
		orphan = l != NULL && (l->offload_path == NULL || strcmp(l->offload_path, path) != 0);
	orphan = orphan && !bifang_catalog_is_queued(path, snap);
	UnregisterSnapshot(snap);
	if (!orphan)
		bifang_unlock_ledger(ledger_id);
	return orphan;
}

/* Is it of that table? Whoever made the directory wrote the table's uuid into it. */
static bool
belongs_to(const char *dir, const char *table_uuid)
{
	BfArena *arena = bifang_arena(CurrentMemoryContext, "ledger owner", BIFANG_ARENA_MAX_METADATA);
	BfError err = {0};
	BfView text;
	bool same;

	same = bf_source_read_all(arena, psprintf("%s/" BIFANG_LEDGER_OWNER_FILE, dir), 1024, NULL,
							  &text, &err) == BF_OK &&
		   text.len == strlen(table_uuid) && memcmp(text.ptr, table_uuid, text.len) == 0;
	bifang_arena_free(arena);
	return same;
}

static List *
orphans_in(const char *dir, const char *suffix, bool is_dir, const char *table_uuid)
{
	List *result = NIL;
	ListCell *lc;
	List *names = list_directory(dir);

	foreach (lc, names)
	{
		int64 id = ledger_of_name(lfirst(lc), suffix);
		char *path;

		CHECK_FOR_INTERRUPTS();
		if (id < 0)
			continue;
		path = psprintf("%s/%s", dir, (char *) lfirst(lc));
		if (table_uuid != NULL && !belongs_to(path, table_uuid))
			continue;
		if (is_orphan(id, path, is_dir))
		{
			BifangGarbage *o = palloc(sizeof *o);

			Assert(bifang_ledger_is_locked(id));
			o->path = path;
			o->is_dir = is_dir;
			result = lappend(result, o);
		}
	}
	return result;
}

List *
bifang_orphan_ledgers(const char *live_dir, const char *table_uuid)
{
	/* Only the default directory is this database's alone. */
	char *own = psprintf("%s/bifang/live/%u", DataDir, MyDatabaseId);

	return strcmp(live_dir, own) == 0 ? orphans_in(live_dir, "", true, table_uuid) : NIL;
}

List *
bifang_orphan_offloads(const BfIceTable *t)
{
	return orphans_in(bifang_table_offload_dir(t), ".bfo", false, NULL);
}

static bool
sweep_table(void *arg, const BifangLakeTable *row)
{
	int64 *removed = arg;
	BfArena *arena =
		bifang_arena(CurrentMemoryContext, "table metadata", BIFANG_ARENA_MAX_METADATA);
	BfIceTable *t;
	BfError err = {0};

	/* What can't be read is check()'s to report. */
	if (bf_ice_load(arena, row->metadata_location, NULL, &t, &err) == BF_OK)
		*removed += remove_all(bifang_orphan_offloads(t));
	bifang_arena_free(arena);
	return true;
}

Datum
bifang_remove_garbage(PG_FUNCTION_ARGS)
{
	int64 removed;

	PreventCommandIfReadOnly("bifang.remove_garbage()");
	removed = remove_queued();
	removed += remove_all(
		bifang_orphan_ledgers(psprintf("%s/bifang/live/%u", DataDir, MyDatabaseId), NULL));
	bifang_catalog_visit_tables(sweep_table, &removed);
	CommandCounterIncrement();
	PG_RETURN_INT32((int32) removed);
}
