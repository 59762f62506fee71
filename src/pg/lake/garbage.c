/*
 * pg/lake/garbage.c: bifang.remove_garbage() and the search for left-overs.
 *
 * A queued path was named by rows until transaction `xid` changed them. Once xid is older than what
 * any snapshot of the cluster may still need (running transactions, prepared ones, replication
 * slots and standbys that report), nobody can be shown the path any more and the files go. The
 * queue row is deleted in the same transaction; should that roll back, the next run finds nothing
 * to remove and deletes the row again.
 *
 * A left-over was never named by a committed row. It is told from a file of a running transaction
 * by the ledger's lock, which one that makes or offloads a ledger holds from before the file exists
 * until there is a row that names it, seen here although it is not committed.
 *
 * Files of commits that never came about, and of snapshots that have expired, are found by
 * pg/lake/commits.c, Parquet files by unnamed.c. They wait in the queue, since a running scan may
 * stand at metadata that named them, and for bifang.garbage_grace: other engines and standbys read
 * too, and hold back no horizon. Their age, for which commits.c looks because of commits that still
 * go on, says nothing of this: what a snapshot named for years is garbage only since it expired.
 * Whether something names them is looked at again whenever garbage is removed; what was named
 * meanwhile begins anew.
 *
 * What a row of any table names stays, by whatever path it is reached, and so does what lies in
 * directories that are not marked as this database's own (pg/write/owner.h).
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

#include "pg/catalog/cache.h"
#include "pg/catalog/catalog.h"
#include "pg/catalog/walls.h"
#include "pg/lake/commits.h"
#include "pg/lake/named.h"
#include "pg/lake/places.h"
#include "pg/lake/unnamed.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/remove.h"
#include "pg/server/settings.h"
#include "pg/write/ledger.h"
#include "pg/write/locks.h"
#include "pg/write/owner.h"
#include "pg/write/table.h"

PG_FUNCTION_INFO_V1(bifang_remove_garbage);

/* Removing ------------------------------------------------------------------------------------ */

BF_PRINTF(2, 3)
static void
notice(const char *path, const char *fmt, ...)
{
	char why[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof why, fmt, args);
	va_end(args);
	ereport(NOTICE, (errmsg("\"%s\" is not removed", bifang_shown(path)), errdetail("%s", why)));
}

/* Does the directory say that it is ours? One in the data directory that says nothing is, too. */
static bool
is_our_directory(const char *dir)
{
	BifangOwner owner = bifang_owner_of(dir, NULL);

	return owner == BIFANG_OWNER_OURS ||
		   (owner == BIFANG_OWNER_NONE && bifang_in_data_directory(dir));
}

static BfStatus
only_owner(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	bool *only = arg;

	(void) kind;
	(void) err;
	*only &= strcmp(name, BIFANG_OWNER_FILE) == 0;
	return BF_OK;
}

/* A table's directory goes when nothing but our mark is left in it. */
static void
remove_table_directory(const char *dir)
{
	const BfHost *host = bifang_host();
	bool only = true;
	BfError err = {0};

	Assert(dir[0] == '/' && dir[1] != '\0');
	if (host->list(host, dir, only_owner, &only, &err) == BF_OK && only &&
		host->unlink(host, psprintf("%s/" BIFANG_OWNER_FILE, dir), &err) == BF_OK &&
		host->rmdir(host, dir, &err) == BF_OK)
		return;
	bf_error_clear(&err); /* something else is in it */
}

/* True: nothing of ours is there any more. */
static bool
remove_path(const BifangGarbage *g, HTAB *named)
{
	const char *name = strrchr(g->path, '/') + 1;
	bool part = g->is_dir && bifang_is_table_part(name);
	char *parent = bifang_parent_of(g->path);
	const char *marked = part ? parent : g->path;
	BifangRemoveKind kind = !g->is_dir ? BIFANG_REMOVE_FILE
							: part	   ? BIFANG_REMOVE_TABLE
									   : BIFANG_REMOVE_LEDGER;
	BifangRemoved removed;
	BifangFileId id;
	BfError err = {0};

	Assert(g->path[0] == '/');
	if (!bifang_file_id(g->path, &id))
	{
		if (part)
			remove_table_directory(parent);
		return true;
	}
	if (bifang_is_named(named, id) ||
		(part && bifang_file_id(parent, &id) && bifang_is_named(named, id)))
	{
		notice(g->path, "The catalog still names it, or what it belongs to.");
		return false;
	}
	if (g->is_dir && !is_our_directory(marked))
	{
		notice(g->path, "It is not marked as a directory of this database.");
		return false;
	}
	if (bifang_remove(g->path, kind, bifang_is_named, named, &removed, &err) != BF_OK)
	{
		if (err.code == BF_ERR_CANCEL)
			bifang_report(&err);
		bifang_warn(WARNING, &err);
		return false;
	}
	if (removed.kept > 0)
		notice(removed.first, INT64_FORMAT " such entries are none that this database makes.",
			   removed.kept);
	else if (part)
		remove_table_directory(parent);
	return true;
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
 * A transaction that queued a path may have been committed with synchronous_commit off: were its
 * files gone and its commit lost, committed rows would be missing. Its record stands before those
 * of our row locks, so WAL is written out up to there. What can't be removed stays in the queue.
 * Files wait for their table to be looked at.
 */
static int64
remove_queued(HTAB *named, List **files)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	FullTransactionId horizon = oldest_visible_horizon();
	List *queued = bifang_catalog_take_garbage(horizon, snap);
	int64 removed = 0;
	ListCell *lc;

	*files = NIL;
	UnregisterSnapshot(snap);
	Assert(queued == NIL || TransactionIdIsValid(GetTopTransactionIdIfAny()));
	if (queued != NIL)
		XLogFlush(XactLastRecEnd);
	foreach (lc, queued)
	{
		BifangGarbage *g = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (!g->is_dir)
			*files = lappend(*files, g);
		if (!g->is_dir || !remove_path(g, named))
			continue;
		bifang_catalog_delete_garbage(g);
		removed++;
	}
	return removed;
}

/* Looking for left-overs ---------------------------------------------------------------------- */

/* Nobody writes the ledger, and its row, if there is one, names another path. *known: there is. */
static bool
is_orphan(int64 ledger_id, const char *path, bool is_dir, bool *known)
{
	Snapshot snap;
	List *versions;
	ListCell *lc;
	bool settled;
	bool orphan = true;

	if (!bifang_lock_ledger(ledger_id, false))
		return false;
	versions = bifang_catalog_ledger_versions(ledger_id, &settled);
	*known = versions != NIL;
	foreach (lc, versions)
	{
		const BifangLedger *l = lfirst(lc);
		const char *named = is_dir ? l->live_dir : l->offload_path;

		orphan = orphan && (named == NULL || !bifang_same_file(named, path));
	}
	snap = RegisterSnapshot(GetLatestSnapshot());
	orphan = orphan && !bifang_catalog_is_queued(path, snap);
	UnregisterSnapshot(snap);
	if (!orphan)
		bifang_unlock_ledger(ledger_id);
	return orphan;
}

static BfStatus
no_log(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	bool *none = arg;
	size_t n = strlen(name);

	(void) kind;
	(void) err;
	*none &= n < 4 || strcmp(name + n - 4, ".log") != 0;
	return BF_OK;
}

/* Whoever makes a ledger's directory says first whose it is: one that says nothing, and has no
 * bytes yet, is left from a crash just then. */
static bool
is_our_ledger(const char *dir, const char *table_uuid)
{
	const BfHost *host = bifang_host();
	BifangMark mark;
	BifangMarkState state = bifang_mark_read(dir, &mark);
	bool none = true;
	BfError err = {0};

	/* What does not say which catalog had it may be of one that was dropped. */
	if (state == BIFANG_MARK_READ)
		return mark.catalog_id[0] != '\0' &&
			   bifang_owner_by(&mark, dir, table_uuid) == BIFANG_OWNER_OURS;
	if (state != BIFANG_MARK_NONE || table_uuid != NULL)
		return false;
	return bifang_in_data_directory(dir) && host->list(host, dir, no_log, &none, &err) == BF_OK &&
		   none;
}

typedef struct Search
{
	const char *suffix;
	bool is_dir;
	const char *table_uuid; /* NULL = of any */
	BifangOrphanVisit visit;
	BifangOrphanVisit unknown; /* garbage.h */
	void *arg;
} Search;

static void
search(const Search *s, const char *dir)
{
	List *names = bifang_names_if_readable(dir);
	ListCell *lc;

	foreach (lc, names)
	{
		const char *name = lfirst(lc);
		int64 id = bifang_ledger_of_name(name, s->suffix);
		BifangGarbage g = {.is_dir = s->is_dir};
		bool known;
		bool ours;

		CHECK_FOR_INTERRUPTS();
		if (id < 0)
			continue;
		g.path = psprintf("%s/%s", dir, name);
		ours = !s->is_dir || is_our_ledger(g.path, s->table_uuid);
		if (!ours && (s->table_uuid != NULL || bifang_owner_of(g.path, NULL) != BIFANG_OWNER_NONE))
			continue;
		if (!is_orphan(id, g.path, s->is_dir, &known))
			continue;
		Assert(bifang_ledger_is_locked(id));
		if (!s->is_dir && !known && name[bifang_final_length(name)] == '\0')
			s->unknown(s->arg, &g);
		else if (ours)
			s->visit(s->arg, &g);
		else
			notice(g.path, "Nothing names it, but it does not say that it is of this database.");
		bifang_unlock_ledger(id);
	}
}

void
bifang_orphan_ledgers(const char *live_dir, const char *table_uuid, BifangOrphanVisit visit,
					  void *arg)
{
	Search s = {"", true, table_uuid, visit, NULL, arg};

	search(&s, live_dir);
}

void
bifang_orphan_offloads(const BifangLakeTable *row, const BfIceTable *t, BifangOrphanVisit visit,
					   BifangOrphanVisit unknown, void *arg)
{
	Search s = {".bfo", false, NULL, visit, unknown, arg};

	if (bifang_table_is_own(t) && bifang_table_may_remove(t, row->metadata_location))
		search(&s, bifang_table_offload_dir(t));
}

/* A file of the queue that no snapshot of this cluster can lead to any more. */
typedef struct Waiting
{
	BifangGarbage *garbage;
	bool is_left; /* and that nothing names */
} Waiting;

typedef struct Sweep
{
	HTAB *named;
	Waiting *waiting; /* by path */
	int n_waiting;
	char **queued; /* paths of all files of the queue, sorted */
	int n_queued;
	int64 removed;
} Sweep;

static void
sweep_orphan(void *arg, const BifangGarbage *g)
{
	Sweep *s = arg;

	s->removed += remove_path(g, s->named);
}

static void
keep_unknown(void *arg, const BifangGarbage *g)
{
	(void) arg;
	notice(g->path, "The catalog does not have its ledger: nobody can tell whether rows are lost "
					"with it.");
}

static int
compare_waiting(const void *a, const void *b)
{
	const Waiting *x = a;
	const Waiting *y = b;

	return strcmp(x->garbage->path, y->garbage->path);
}

static int
compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static void
sort_queue(Sweep *s, const List *files)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	List *queued = bifang_catalog_queued_files(snap);
	ListCell *lc;

	UnregisterSnapshot(snap);
	s->waiting = palloc0(sizeof *s->waiting * (Size) Max(1, list_length(files)));
	foreach (lc, files)
		s->waiting[s->n_waiting++].garbage = lfirst(lc);
	qsort(s->waiting, (size_t) s->n_waiting, sizeof *s->waiting, compare_waiting);
	s->queued = palloc(sizeof *s->queued * (Size) Max(1, list_length(queued)));
	Assert(s->n_waiting == list_length(files));
	foreach (lc, queued)
		s->queued[s->n_queued++] = lfirst(lc);
	qsort(s->queued, (size_t) s->n_queued, sizeof *s->queued, compare_paths);
}

/* Has it been queued for the time that readers elsewhere have? */
static bool
has_waited(const BifangGarbage *g)
{
	return GetCurrentTimestamp() - g->queued_at >=
		   (TimestampTz) bifang_garbage_grace_s * USECS_PER_SEC;
}

static void
sweep_commits(Sweep *s, const BifangLakeTable *row, const BfIceTable *t)
{
	List *left =
		list_concat(bifang_files_of_failed_commits(row, t), bifang_unnamed_data_files(row, t));
	ListCell *lc;

	foreach (lc, left)
	{
		char *path = lfirst(lc);
		BifangGarbage g = {.path = path};
		Waiting key = {.garbage = &g};
		Waiting *waiting =
			bsearch(&key, s->waiting, (size_t) s->n_waiting, sizeof key, compare_waiting);

		CHECK_FOR_INTERRUPTS();
		if (waiting == NULL)
		{
			if (bsearch(&path, s->queued, (size_t) s->n_queued, sizeof path, compare_paths) == NULL)
				bifang_catalog_insert_garbage(path, false, "not named");
			continue;
		}
		Assert(!waiting->garbage->is_dir);
		waiting->is_left = true;
		if (!has_waited(waiting->garbage) || !remove_path(waiting->garbage, s->named))
			continue;
		bifang_catalog_delete_garbage(waiting->garbage);
		s->removed++;
	}
}

/* There may be very many tables: nothing stays of one. */
static bool
sweep_table(void *arg, const BifangLakeTable *row)
{
	MemoryContext cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang swept table", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	BfArena *arena = bifang_arena(cxt, "table metadata", BIFANG_ARENA_MAX_METADATA);
	BfIceTable *t;
	BfError err = {0};

	/* What can't be read is check()'s to report. */
	if (bf_ice_load(arena, row->metadata_location, NULL, &t, &err) == BF_OK)
	{
		bifang_orphan_offloads(row, t, sweep_orphan, keep_unknown, arg);
		sweep_commits(arg, row, t);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return true;
}

/* What was waiting and is not left over after all, or whose table is gone. */
static void
forget_files(const Sweep *s)
{
	for (int i = 0; i < s->n_waiting; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!s->waiting[i].is_left)
			bifang_catalog_delete_garbage(s->waiting[i].garbage);
	}
}

static void
sweep_live(Sweep *s, List *ledgers)
{
	List *dirs = bifang_live_directories(ledgers);
	ListCell *lc;

	foreach (lc, dirs)
		bifang_orphan_ledgers(lfirst(lc), NULL, sweep_orphan, s);
}

Datum
bifang_remove_garbage(PG_FUNCTION_ARGS)
{
	List *ledgers;
	List *files;
	Sweep s = {0};

	PreventCommandIfReadOnly("bifang.remove_garbage()");
	bifang_catalog_check_adopted();
	bifang_catalog_refresh_names();
	ledgers = bifang_ledgers_now();
	s.named = bifang_named(ledgers, false);
	s.removed = remove_queued(s.named, &files);
	sort_queue(&s, files);
	sweep_live(&s, ledgers);
	bifang_catalog_visit_tables(sweep_table, &s);
	forget_files(&s);
	CommandCounterIncrement();
	PG_RETURN_INT32((int32) s.removed);
}
