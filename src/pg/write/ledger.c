/*
 * pg/write/ledger.c: see ledger.h.
 *
 * Savepoints. A writer keeps a stack of marks, innermost first: (subtransaction, end when it first
 * wrote, end recorded by then). Rows that a statement of an outer subtransaction still buffers are
 * written out before a mark is set, so they lie below it and an inner abort leaves them alone.
 *
 *   statement of level 1 buffers rows a b | trigger opens level 2, inserts x | level 2 aborts
 *   ledger:  a b | mark(level 2) | x        -> rewind to the mark: a b
 *
 * Isolation. The visible end of a ledger is the largest end under the reader's snapshot. A
 * transaction with one snapshot for all its statements must therefore not append behind entries
 * that its snapshot does not see, or its own append row would make them visible: it takes only a
 * ledger whose newest end is the one that it sees.
 */
#include "pg/write/ledger.h"

#include "access/xact.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "io/publish.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/remove.h"
#include "pg/server/settings.h"
#include "pg/write/locks.h"
#include "pg/write/log_cache.h"
#include "pg/write/owner.h"

#define NUMBERS_TRIED_MAX 100000

typedef struct Mark
{
	SubTransactionId subid;
	BfLedgerEnd end;
	BfLedgerEnd recorded;
	CommandId cid;
	struct Mark *outer;
} Mark;

struct BifangWriter
{
	dlist_node node;
	MemoryContext cxt;
	BifangLog *log;		 /* owned */
	BifangLedger ledger; /* strings in cxt */
	int64 table_id;
	SubTransactionId subid; /* in which it was opened; gone when that aborts */
	BfLedgerEnd start;
	BfLedgerEnd recorded; /* what the transaction's append rows say */
	CommandId cid;		  /* of the youngest statement whose rows are in here */
	Mark *marks;
	bool created; /* by this transaction: its directory goes with it */
	bool retired;
	bool broken; /* an error left it in an unknown state: no more rows */
};

/* Memory of the list's members hangs on TopTransactionContext. */
static dlist_head writers = DLIST_STATIC_INIT(writers);
void (*bifang_writer_before_mark)(BifangWriter *w, SubTransactionId subid) = NULL;

/* Opening ------------------------------------------------------------------------------------- */

static bool
same_end(BfLedgerEnd a, BfLedgerEnd b)
{
	return a.entry == b.entry && a.segment == b.segment && a.position == b.position;
}

static BfLedgerEnd
ledger_end(const BifangLedger *l)
{
	return (BfLedgerEnd){l->end_entry, l->end_segment, l->end_position};
}

static BifangWriter *
find_by_ledger(int64 ledger_id)
{
	dlist_iter it;

	dlist_foreach(it, &writers)
	{
		BifangWriter *w = dlist_container(BifangWriter, node, it.cur);

		if (w->ledger.id == ledger_id)
			return w;
	}
	return NULL;
}

/* A writer without its log, linked when nothing can fail any more. */
static BifangWriter *
writer_new(const BifangTarget *target)
{
	MemoryContext cxt =
		AllocSetContextCreate(TopTransactionContext, "bifang ledger writer", ALLOCSET_SMALL_SIZES);
	BifangWriter *w = MemoryContextAllocZero(cxt, sizeof *w);

	w->cxt = cxt;
	w->table_id = target->table_id;
	w->subid = GetCurrentSubTransactionId();
	return w;
}

/* False: the ledger is damaged, says *err, and nothing is changed. */
static bool
writer_open(BifangWriter *w, const BifangLedger *l, BfError *err)
{
	Assert(l->state == BIFANG_LEDGER_OPEN);
	Assert(bifang_ledger_is_locked(l->id) && find_by_ledger(l->id) == NULL);
	w->ledger = *l;
	w->ledger.live_dir = MemoryContextStrdup(w->cxt, l->live_dir);
	w->ledger.table_uuid = w->ledger.catalog = w->ledger.ns = w->ledger.table = NULL;
	w->ledger.origin = w->ledger.offload_path = NULL;
	w->start = w->recorded = ledger_end(l);
	w->log = bifang_log_open(l->id, w->ledger.live_dir, w->start, err);
	if (w->log == NULL)
		return false;
	dlist_push_tail(&writers, &w->node);
	return true;
}

static bool
ledger_full(BfLedgerEnd end)
{
	return end.segment > 0 || end.position >= (int64) bifang_ledger_kb_max * 1024;
}

/* Locked, still open, and not beyond what this transaction sees: then it is ours. Returns the
 * newest state of the ledger or NULL, unlocked. */
static BifangLedger *
claim_ledger(const BifangTarget *target, int64 ledger_id)
{
	BifangLedger *l;
	Snapshot snap;
	bool good;

	if (!bifang_claim_ledger(ledger_id))
		return NULL;
	/* Somebody may be closing it, who needs its lock no more. */
	(void) bifang_catalog_ledger_versions(ledger_id, &good);
	/* The previous holder is visible now: it left the list of running transactions before it let
	 * the lock go. */
	snap = RegisterSnapshot(GetLatestSnapshot());
	l = bifang_catalog_ledger(ledger_id, snap);
	UnregisterSnapshot(snap);
	good &= l != NULL && l->state == BIFANG_LEDGER_OPEN && !ledger_full(ledger_end(l));
	if (good && IsolationUsesXactSnapshot())
	{
		const BifangLedger *seen = bifang_catalog_ledger(ledger_id, GetTransactionSnapshot());

		good = seen != NULL && seen->end_entry == l->end_entry;
	}
	if (good)
	{
		BifangMark ours = bifang_mark_ours(target->table_uuid, target->ns, target->table);

		bifang_owner_claim(l->live_dir, &ours);
		return l;
	}
	bifang_unlock_ledger(ledger_id);
	return NULL;
}

/* False: somebody has the directory, a lost transaction, another database or a catalog that was
 * dropped, and with it the number: it may come back. */
static bool
make_directory(const BifangTarget *target, const char *dir)
{
	BfArena *arena = bifang_arena(CurrentMemoryContext, "new ledger", BIFANG_ARENA_MAX_METADATA);
	const BifangMark mark = bifang_mark_ours(target->table_uuid, target->ns, target->table);
	const char *owner = bifang_mark_text(&mark);
	BfError err = {0};
	BfStatus status =
		bf_publish_bytes(arena, psprintf("%s/" BIFANG_OWNER_FILE, dir), owner, strlen(owner), &err);

	/* Whose it is comes first: a directory that doesn't say so holds no rows. */
	if (status == BF_OK)
		status = bf_exec_ledger_create(arena, dir, target->schema, &err);
	if (status != BF_OK && status != BF_ERR_CONFLICT)
		bifang_report(&err);
	bifang_arena_free(arena);
	return status == BF_OK;
}

/* A catalog's first ledger begins behind those of one that was dropped. */
static int64
new_number(void)
{
	int64 id = bifang_catalog_new_ledger_id();
	int64 last = id == 1 ? bifang_mark_last_ledger() : 0;

	if (last == 0)
		return id;
	bifang_catalog_reserve_ledger_ids(last);
	return bifang_catalog_new_ledger_id();
}

static BifangLedger *
create_ledger(const BifangTarget *target, CommandId cid)
{
	BifangLedger *l = palloc0(sizeof *l);

	l->state = BIFANG_LEDGER_OPEN;
	l->schema_id = target->schema->schema_id;
	l->table_id = target->table_id;
	l->table_uuid = target->table_uuid;
	l->catalog = target->catalog;
	l->ns = target->ns;
	l->table = target->table;
	l->origin = bifang_catalog_origin();
	for (int attempt = 0;; attempt++)
	{
		CHECK_FOR_INTERRUPTS();
		if (attempt > NUMBERS_TRIED_MAX)
			ereport(ERROR, (errcode(ERRCODE_DUPLICATE_FILE),
							errmsg("no free number for a ledger in \"%s\"", target->live_dir)));
		/* Locked before there is anything to find: whoever meets an unlocked directory without a
		 * row knows that its transaction is gone. */
		l->id = new_number();
		(void) bifang_lock_ledger(l->id, true);
		l->live_dir = psprintf("%s/" INT64_FORMAT, target->live_dir, l->id);
		if (make_directory(target, l->live_dir))
			break;
		bifang_unlock_ledger(l->id);
	}
	bifang_catalog_insert_ledger(l, cid);
	return l;
}

BifangWriter *
bifang_writer_get(const BifangTarget *target, CommandId cid)
{
	const char *origin = bifang_catalog_origin();
	BfError err = {0};
	BifangWriter *w;
	Snapshot snap;
	List *ledgers;
	ListCell *lc;
	dlist_iter it;

	dlist_foreach(it, &writers)
	{
		w = dlist_container(BifangWriter, node, it.cur);
		if (!w->retired && !w->broken && w->ledger.schema_id == target->schema->schema_id &&
			w->table_id == target->table_id)
			return w;
	}

	snap = RegisterSnapshot(GetLatestSnapshot());
	ledgers = bifang_catalog_open_ledgers(target->table_id, snap);
	UnregisterSnapshot(snap);
	w = writer_new(target);
	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);
		const BifangLedger *claimed;

		if (l->schema_id != target->schema->schema_id || strcmp(l->origin, origin) != 0 ||
			find_by_ledger(l->id) != NULL)
			continue;
		claimed = claim_ledger(target, l->id);
		if (claimed == NULL)
			continue;
		if (writer_open(w, claimed, &err))
			return w;
		/* Its readers are told, and check() tells. Rows go on coming meanwhile. */
		bifang_warn(LOG, &err);
		bifang_unlock_ledger(l->id);
	}
	w->created = true;
	if (!writer_open(w, create_ledger(target, cid), &err))
		bifang_report(&err);
	return w;
}

/* Writing ------------------------------------------------------------------------------------- */

/* Before the first change that an abort of the current subtransaction has to take back. */
static void
set_mark(BifangWriter *w)
{
	SubTransactionId current = GetCurrentSubTransactionId();
	Mark *mark;

	Assert(w->marks == NULL || w->marks->subid <= current);
	if (w->subid == current || (w->marks != NULL && w->marks->subid == current))
		return;
	if (bifang_writer_before_mark != NULL)
		bifang_writer_before_mark(w, current);
	mark = MemoryContextAlloc(w->cxt, sizeof *mark);
	mark->subid = current;
	mark->end = bf_ledger_writer_end(w->log->writer);
	mark->recorded = w->recorded;
	mark->cid = w->cid;
	mark->outer = w->marks;
	Assert(mark->end.entry >= mark->recorded.entry && mark->recorded.entry >= w->start.entry);
	w->marks = mark;
}

void
bifang_writer_append(BifangWriter *w, const BfSchema *schema, const BfBatch *batch,
					 const int32_t *rows, int32_t n_rows, CommandId cid, SubTransactionId subid)
{
	const BfHost *host = bifang_host();
	BfError err = {0};

	Assert(n_rows > 0);
	Assert(bifang_ledger_is_locked(w->ledger.id));
	if (w->broken)
		ereport(ERROR, (errcode(ERRCODE_IO_ERROR),
						errmsg("ledger " INT64_FORMAT " could not be restored after an error",
							   w->ledger.id),
						errhint("End the transaction; the next one repairs the ledger.")));
	if (subid == GetCurrentSubTransactionId())
		set_mark(w);
	else /* should this fail, an abort of the inner subtransaction would not take it back */
		w->broken = true;
	BIFANG_CHECK(bf_exec_ledger_append(w->log->writer, schema, batch, rows, n_rows,
									   host->now_us(host) / 1000, w->log->scratch, &err),
				 &err);
	w->broken = false;
	bf_arena_reset(w->log->scratch);
	w->cid = Max(w->cid, cid);
}

void
bifang_writer_record(BifangWriter *w)
{
	BfLedgerEnd end = bf_ledger_writer_end(w->log->writer);

	if (same_end(end, w->recorded))
		return;
	set_mark(w);
	end = bf_ledger_writer_end(w->log->writer);
	Assert(end.entry > w->recorded.entry);
	bifang_catalog_insert_append(&w->ledger, end, w->cid);
	w->recorded = end;
	w->retired |= ledger_full(end);
}

bool
bifang_writer_retired(const BifangWriter *w)
{
	return w->retired;
}

int64
bifang_writer_ledger_id(const BifangWriter *w)
{
	return w->ledger.id;
}

bool
bifang_writer_retire(int64 ledger_id)
{
	BifangWriter *w = find_by_ledger(ledger_id);
	BfError err = {0};

	if (w == NULL)
		return false;
	if (bifang_catalog_before_ledgers != NULL)
		bifang_catalog_before_ledgers(w->table_id);
	w->retired = true;
	BIFANG_CHECK(bf_ledger_writer_sync(w->log->writer, &err), &err);
	return true;
}

/* Ends ---------------------------------------------------------------------------------------- */

/* Full ledgers are closed here: the command that made one does not see its row. */
static void
close_if_full(BifangWriter *w)
{
	BifangLedger *l;
	Snapshot snap;

	if (!ledger_full(w->recorded))
		return;
	CommandCounterIncrement();
	snap = RegisterSnapshot(GetLatestSnapshot());
	l = bifang_catalog_ledger(w->ledger.id, snap);
	UnregisterSnapshot(snap);
	/* This transaction may have closed or even offloaded it already. */
	if (l == NULL || l->state != BIFANG_LEDGER_OPEN)
		return;
	Assert(l->end_entry == w->recorded.entry);
	l->state = BIFANG_LEDGER_CLOSED;
	bifang_catalog_update_ledger(l);
}

void
bifang_writers_sync(void)
{
	dlist_iter it;
	BfError err = {0};

	dlist_foreach(it, &writers)
	{
		BifangWriter *w = dlist_container(BifangWriter, node, it.cur);

		close_if_full(w);
		if (!same_end(w->recorded, w->start))
			BIFANG_CHECK(bf_ledger_writer_sync(w->log->writer, &err), &err);
	}
}

/* Runs in commit and abort: nothing here may raise. */
static void
forget_writer(BifangWriter *w, BifangFate fate)
{
	char dir[MAXPGPATH];
	bool remove = fate == BIFANG_FATE_CUT && w->created;
	BifangRemoved removed;
	BfError err = {0};

	/* Whoever leaves bytes behind that count nowhere has synced those that do. */
	Assert(fate == BIFANG_FATE_CUT || w->broken ||
		   same_end(bf_ledger_writer_end(w->log->writer), w->recorded));

	dlist_delete(&w->node);
	strlcpy(dir, w->ledger.live_dir, sizeof dir);
	if (fate == BIFANG_FATE_CUT && !remove &&
		bf_ledger_writer_rewind(w->log->writer, w->start, &err) != BF_OK)
		bifang_warn(LOG, &err);
	if (fate == BIFANG_FATE_KEEP && !w->retired && !w->broken)
		bifang_log_keep(w->log);
	else
		bifang_log_close(w->log);
	MemoryContextDelete(w->cxt);
	if (remove && bifang_remove(dir, BIFANG_REMOVE_LEDGER, NULL, NULL, &removed, &err) != BF_OK)
		bifang_warn(LOG, &err);
}

void
bifang_writers_end(BifangFate fate)
{
	dlist_mutable_iter it;

	dlist_foreach_modify(it, &writers)
		forget_writer(dlist_container(BifangWriter, node, it.cur), fate);
	Assert(dlist_is_empty(&writers));
}

static void
writer_abort_sub(BifangWriter *w, SubTransactionId subid)
{
	Mark *mark = w->marks;
	BfError err = {0};

	if (mark == NULL || mark->subid != subid)
		return;
	Assert(mark->recorded.entry <= w->recorded.entry);
	if (bf_ledger_writer_rewind(w->log->writer, mark->end, &err) != BF_OK)
	{
		w->broken = true;
		bifang_warn(LOG, &err);
	}
	bf_arena_reset(w->log->scratch);
	w->recorded = mark->recorded;
	w->cid = mark->cid;
	w->marks = mark->outer;
	pfree(mark);
}

static void
writer_commit_sub(BifangWriter *w, SubTransactionId subid, SubTransactionId parent)
{
	Mark *mark = w->marks;

	if (w->subid == subid)
		w->subid = parent;
	if (mark == NULL || mark->subid != subid)
		return;
	if (w->subid == parent || (mark->outer != NULL && mark->outer->subid == parent))
	{
		w->marks = mark->outer;
		pfree(mark);
	}
	else
		mark->subid = parent;
}

void
bifang_writers_end_sub(SubTransactionId subid, SubTransactionId parent, bool abort)
{
	dlist_mutable_iter it;

	dlist_foreach_modify(it, &writers)
	{
		BifangWriter *w = dlist_container(BifangWriter, node, it.cur);

		if (!abort)
			writer_commit_sub(w, subid, parent);
		else if (w->subid == subid)
			forget_writer(w, BIFANG_FATE_CUT);
		else
			writer_abort_sub(w, subid);
	}
}
