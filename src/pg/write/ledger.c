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
#include "pg/write/ledger_internal.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "io/publish.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/remove.h"
#include "pg/server/settings.h"
#include "pg/write/locks.h"
#include "pg/write/owner.h"

#define NUMBERS_TRIED_MAX 100000

#define ENCODER_BYTES_MAX ((size_t) 1 << 30)
#define ENCODER_BYTES_KEPT ((size_t) 4 << 20)

/* Memory of the list's members hangs on TopTransactionContext. */
static dlist_head writers = DLIST_STATIC_INIT(writers);
void (*bifang_writer_before_mark)(BifangWriter *w, SubTransactionId subid) = NULL;

/* Opening ------------------------------------------------------------------------------------- */

static BifangPlace
ledger_place(const BifangLedger *l)
{
	return (BifangPlace){bifang_ledger_files_end(l), l->end_entry, l->tail_bytes};
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
	w->merges = !target->partitioned;
	return w;
}

/* False: the files are damaged, says *err. */
static bool
open_log(BifangWriter *w, BfError *err)
{
	if (w->log == NULL)
		w->log = bifang_log_open(w->ledger.id, w->ledger.live_dir, w->start.files, err);
	return w->log != NULL;
}

/* False: the ledger is damaged, says *err, and nothing is changed. Whether it is nobody looks for
 * a transaction that begins in the tail. */
static bool
writer_open(BifangWriter *w, const BifangLedger *l, BfError *err)
{
	MemoryContext old;

	Assert(l->state == BIFANG_LEDGER_OPEN);
	Assert(bifang_ledger_is_locked(l->id) && find_by_ledger(l->id) == NULL);
	w->ledger = *l;
	w->ledger.live_dir = MemoryContextStrdup(w->cxt, l->live_dir);
	w->ledger.table_uuid = w->ledger.catalog = w->ledger.ns = w->ledger.table = NULL;
	w->ledger.origin = w->ledger.offload_path = NULL;
	w->start = w->end = w->recorded = ledger_place(l);
	w->tail_kept = w->end.tail_bytes;
	if (bifang_tail_kb == 0 && !open_log(w, err))
		return false;
	old = MemoryContextSwitchTo(w->cxt);
	initStringInfo(&w->batches);
	MemoryContextSwitchTo(old);
	dlist_push_tail(&writers, &w->node);
	return true;
}

static bool
ledger_full(BifangPlace end)
{
	return end.files.segment > 0 ||
		   end.files.position + end.tail_bytes >= (int64) bifang_ledger_kb_max * 1024;
}

/* Locked, still open, and not beyond what this transaction sees: then it is ours. Returns the
 * newest state of the ledger or NULL, unlocked. */
static BifangLedger *
claim_ledger(const BifangTarget *target, int64 ledger_id)
{
	BifangLedger *l;
	List *versions;
	bool good;

	if (!bifang_claim_ledger(ledger_id))
		return NULL;
	/* Somebody may be closing it, who needs its lock no more. */
	versions = bifang_catalog_ledger_versions(ledger_id, &good);
	good &= list_length(versions) == 1;
	l = good ? linitial(versions) : NULL;
	good &= l != NULL && l->state == BIFANG_LEDGER_OPEN && l->table_id == target->table_id &&
			strcmp(l->origin, bifang_catalog_origin()) == 0;
	if (good)
	{
		/* The previous holder is visible now: it left the list of running transactions before it
		 * let the lock go. */
		Snapshot snap = RegisterSnapshot(GetLatestSnapshot());

		bifang_catalog_ledger_ends(l, snap);
		UnregisterSnapshot(snap);
		good = !ledger_full(ledger_place(l));
	}
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

/* The ledger that this backend wrote last: most likely nobody else has it, and whoever looks for
 * free ones finds others. */
static struct
{
	int64 table_id;
	int64 ledger_id;
} last = {0, 0};

/* A writer on the ledger, if it is free and good. */
static BifangWriter *
write_ledger(const BifangTarget *target, int64 ledger_id)
{
	const BifangLedger *claimed;
	BifangWriter *w;
	BfError err = {0};

	if (find_by_ledger(ledger_id) != NULL)
		return NULL;
	claimed = claim_ledger(target, ledger_id);
	if (claimed == NULL)
		return NULL;
	if (claimed->schema_id == target->schema->schema_id)
	{
		w = writer_new(target);
		if (writer_open(w, claimed, &err))
			return w;
		/* Its readers are told, and check() tells. Rows go on coming meanwhile. */
		bifang_warn(LOG, &err);
		MemoryContextDelete(w->cxt);
	}
	bifang_unlock_ledger(ledger_id);
	return NULL;
}

bool
bifang_writer_exists(int64 table_id)
{
	bool found = false;
	dlist_iter it;

	dlist_foreach(it, &writers) found |=
		dlist_container(BifangWriter, node, it.cur)->table_id == table_id;
	return found;
}

BifangWriter *
bifang_writer_get(const BifangTarget *target, CommandId cid)
{
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

	w = last.table_id == target->table_id ? write_ledger(target, last.ledger_id) : NULL;
	if (w != NULL)
		return w;
	snap = RegisterSnapshot(GetLatestSnapshot());
	ledgers = bifang_catalog_open_ledgers(target->table_id, snap);
	UnregisterSnapshot(snap);
	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		w = l->schema_id == target->schema->schema_id ? write_ledger(target, l->id) : NULL;
		if (w == NULL)
			continue;
		last.table_id = target->table_id;
		last.ledger_id = l->id;
		return w;
	}
	w = writer_new(target);
	w->created = true;
	if (!writer_open(w, create_ledger(target, cid), &err))
		bifang_report(&err);
	last.table_id = target->table_id;
	last.ledger_id = w->ledger.id;
	return w;
}

/* Writing ------------------------------------------------------------------------------------- */

/* Before the first change that an abort of the current subtransaction has to take back. */
static void
set_mark(BifangWriter *w)
{
	SubTransactionId current = GetCurrentSubTransactionId();
	BifangWriterMark *mark;

	Assert(w->marks == NULL || w->marks->subid <= current);
	if (w->subid == current || (w->marks != NULL && w->marks->subid == current))
		return;
	if (bifang_writer_before_mark != NULL)
		bifang_writer_before_mark(w, current);
	mark = MemoryContextAlloc(w->cxt, sizeof *mark);
	mark->subid = current;
	mark->end = w->end;
	mark->recorded = w->recorded;
	mark->in_files = w->in_files;
	mark->cid = w->cid;
	mark->outer = w->marks;
	Assert(mark->end.entry >= mark->recorded.entry && mark->recorded.entry >= w->start.entry);
	w->marks = mark;
}

/* Of the backend, reset after each use; one that grew large is not kept. */
static BfArena *
encoder_arena(void)
{
	static BfArena *arena = NULL;

	if (arena != NULL && bf_arena_bytes(arena) > ENCODER_BYTES_KEPT)
	{
		BfArena *large = arena;

		arena = NULL;
		bifang_arena_free(large);
	}
	if (arena == NULL)
		arena = bifang_arena(TopMemoryContext, "ledger rows", ENCODER_BYTES_MAX);
	bf_arena_reset(arena);
	return arena;
}

/* A transaction that has become too large for the tail goes on in the files. Rows of a statement of
 * an outer subtransaction stay where they are: what an abort of the inner one would take back in
 * the catalog had to be taken back in the files, too. */
static void
leave_tail(BifangWriter *w, size_t bytes, CommandId cid)
{
	BfError err = {0};

	if (w->in_files || w->retired || bifang_tail_takes(w, bytes) ||
		(open_log(w, &err) && bifang_tail_settle(w, cid, &err)))
		return;
	/* Its readers are told, and check() tells. The tail takes rows of any size. */
	bifang_warn(LOG, &err);
	w->retired = true;
}

void
bifang_writer_append(BifangWriter *w, const BfSchema *schema, const BfBatch *batch,
					 const int32_t *rows, int32_t n_rows, CommandId cid, SubTransactionId subid)
{
	const BfHost *host = bifang_host();
	bool own = subid == GetCurrentSubTransactionId();
	BfEncodedRows encoded;
	BfError err = {0};

	Assert(n_rows > 0);
	Assert(bifang_ledger_is_locked(w->ledger.id));
	if (w->broken)
		ereport(ERROR, (errcode(ERRCODE_IO_ERROR),
						errmsg("ledger " INT64_FORMAT " could not be restored after an error",
							   w->ledger.id),
						errhint("End the transaction; the next one repairs the ledger.")));
	/* Which may write out others' rows: before these are in the arena. */
	if (own)
		set_mark(w);
	BIFANG_CHECK(
		bf_exec_ledger_encode(encoder_arena(), schema, batch, rows, n_rows, &encoded, &err), &err);
	if (own)
		leave_tail(w, encoded.bytes, cid);
	else /* should this fail, an abort of the inner subtransaction would not take it back */
		w->broken = true;
	if (w->in_files)
	{
		BIFANG_CHECK(
			bf_exec_ledger_append(w->log->writer, &encoded, host->now_us(host) / 1000, &err), &err);
		w->end.files = bf_ledger_writer_end(w->log->writer);
		w->end.entry = w->end.files.entry;
	}
	else
		bifang_tail_append(w, &encoded, host->now_us(host) / 1000);
	w->broken = false;
	w->cid = Max(w->cid, cid);
}

void
bifang_writer_record(BifangWriter *w)
{
	if (bifang_place_same(w->end, w->recorded))
		return;
	set_mark(w);
	Assert(w->end.entry > w->recorded.entry);
	if (w->in_files)
		bifang_catalog_insert_append(&w->ledger, w->end.files, w->cid);
	else
		bifang_tail_record(w);
	w->recorded = w->end;
	w->retired |= ledger_full(w->end);
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
	if (w->log != NULL)
		BIFANG_CHECK(bf_ledger_writer_sync(w->log->writer, &err), &err);
	return true;
}

bool
bifang_writer_settle(const BifangTarget *target, const BifangLedger *seen)
{
	BifangWriter *w = find_by_ledger(seen->id);
	const BifangLedger *l;
	BfError err = {0};

	if (bifang_catalog_before_ledgers != NULL)
		bifang_catalog_before_ledgers(target->table_id);
	if (w == NULL)
	{
		/* What was copied from another database stays as that has it. */
		if (bifang_owner_of(seen->live_dir, seen->table_uuid) != BIFANG_OWNER_OURS)
			return false;
		l = claim_ledger(target, seen->id);
		if (l == NULL)
			return false;
		w = writer_new(target);
		if (!writer_open(w, l, &err))
		{
			bifang_warn(LOG, &err);
			MemoryContextDelete(w->cxt);
			bifang_unlock_ledger(seen->id);
			return false;
		}
	}
	if (w->in_files || w->broken)
		return w->in_files;
	set_mark(w);
	if (open_log(w, &err) && bifang_tail_settle(w, GetCurrentCommandId(true), &err))
		return true;
	bifang_warn(LOG, &err);
	return false;
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
		if (w->in_files && !bifang_place_same(w->recorded, w->start))
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
	Assert(fate == BIFANG_FATE_CUT || w->broken || bifang_place_same(w->end, w->recorded));

	dlist_delete(&w->node);
	strlcpy(dir, w->ledger.live_dir, sizeof dir);
	if (w->log != NULL && fate == BIFANG_FATE_CUT && !remove &&
		bf_ledger_writer_rewind(w->log->writer, w->start.files, &err) != BF_OK)
		bifang_warn(LOG, &err);
	if (w->log != NULL && fate == BIFANG_FATE_KEEP && !w->retired && !w->broken)
		bifang_log_keep(w->log);
	else if (w->log != NULL)
		bifang_log_close(w->log);
	MemoryContextDelete(w->cxt);
	if (remove && bifang_remove(dir, BIFANG_REMOVE_LEDGER, NULL, NULL, &removed, &err) != BF_OK)
		bifang_warn(LOG, &err);
}

void
bifang_writer_leave(int64 ledger_id)
{
	BifangWriter *w = find_by_ledger(ledger_id);
	BfError err = {0};

	if (w == NULL)
		return;
	Assert(w->start.entry == w->end.entry && w->subid == GetCurrentSubTransactionId());
	Assert(bifang_place_same(w->end, w->recorded));
	if (w->log != NULL)
		BIFANG_CHECK(bf_ledger_writer_sync(w->log->writer, &err), &err);
	forget_writer(w, BIFANG_FATE_CLOSE);
	bifang_unlock_ledger(ledger_id);
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
	BifangWriterMark *mark = w->marks;
	BfError err = {0};

	if (mark == NULL || mark->subid != subid)
		return;
	Assert(mark->recorded.entry <= w->recorded.entry);
	if (w->log != NULL && bf_ledger_writer_rewind(w->log->writer, mark->end.files, &err) != BF_OK)
	{
		w->broken = true;
		bifang_warn(LOG, &err);
	}
	w->end = mark->end;
	w->recorded = mark->recorded;
	w->in_files = mark->in_files;
	if (!w->in_files)
		bifang_tail_rewind(w);
	w->cid = mark->cid;
	w->marks = mark->outer;
	pfree(mark);
}

static void
writer_commit_sub(BifangWriter *w, SubTransactionId subid, SubTransactionId parent)
{
	BifangWriterMark *mark = w->marks;

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
