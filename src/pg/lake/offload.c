/*
 * pg/lake/offload.c: bifang.roll() and bifang.offload(): ledgers on their way into the lake.
 *
 *   open --roll (or a full ledger's last writer)--> closed --offload--> offloaded
 *   open, empty: stays open
 *
 * A ledger that is rolled settles its tail (pg/write/ledger_tail.c) first.
 *
 * Both functions work in the caller's transaction: when it rolls back the ledger is what it was,
 * and a copy that was made is garbage. They hold the table's lock to its end, but a ledger's only
 * while they are at it (pg/write/locks.h). A transaction with one snapshot for all statements works
 * on the ledgers that it sees and fails (40001) when one of them changed since. A closed ledger
 * that it sees has all its entries in sight. Readers find the bytes through the state that their
 * snapshot shows; the live files go only when no snapshot shows the old state (garbage.c). A ledger
 * that lost entries in its midst (repair.c) stays where it is.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "exec/write/offload_rows.h"
#include "pg/catalog/tail.h"
#include "pg/lake/damage.h"
#include "pg/lake/garbage.h"
#include "pg/lake/lake.h"
#include "pg/lake/partitions.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"
#include "pg/server/progress.h"

PG_FUNCTION_INFO_V1(bifang_roll);
PG_FUNCTION_INFO_V1(bifang_offload);

#define SCHEMA_BYTES_MAX ((size_t) 16 << 20)

static List *
current_ledgers(Oid relid, BifangTable *t)
{
	Snapshot snap = RegisterSnapshot(bifang_work_snapshot());
	List *ledgers;

	bifang_table_open(relid, snap, CurrentMemoryContext, t);
	ledgers = bifang_catalog_ledgers(t->row.id, snap);
	UnregisterSnapshot(snap);
	return ledgers;
}

/* The ledger as the transaction sees it, with its end as of now: whoever holds the lock knows that
 * there is no later one, and what is done to the ledger is done to all its entries. *sees: the
 * transaction sees it, too. NULL, and not locked, when somebody else has it. */
static BifangLedger *
lock_and_read(int64 ledger_id, bool wait, bool *sees)
{
	BifangLedger *seen;
	BifangLedger *latest;
	Snapshot snap;

	if (!bifang_lock_ledger(ledger_id, wait))
		return NULL;
	snap = RegisterSnapshot(bifang_work_snapshot());
	seen = bifang_catalog_ledger(ledger_id, snap);
	UnregisterSnapshot(snap);
	snap = RegisterSnapshot(GetLatestSnapshot());
	latest = bifang_catalog_ledger(ledger_id, snap);
	UnregisterSnapshot(snap);
	if (seen == NULL || latest == NULL)
	{
		bifang_unlock_ledger(ledger_id);
		return NULL;
	}
	Assert(latest->end_entry >= seen->end_entry);
	*sees = latest->end_entry == seen->end_entry;
	seen->end_entry = latest->end_entry;
	seen->files_entry = latest->files_entry;
	seen->end_segment = latest->end_segment;
	seen->end_position = latest->end_position;
	seen->tail_bytes = latest->tail_bytes;
	return seen;
}

static bool
roll_ledger(const BifangTarget *target, int64 ledger_id)
{
	bool own = bifang_writer_retire(ledger_id);
	BifangLedger *l;
	bool good;
	bool sees;

	CommandCounterIncrement();
	l = lock_and_read(ledger_id, false, &sees);
	if (l == NULL)
		return false;
	good = l->state == BIFANG_LEDGER_OPEN && l->end_entry > 0;
	/* Where that can't be, the offload file gets the tail as it is. */
	if (good && l->files_entry < l->end_entry && bifang_writer_settle(target, l))
		CommandCounterIncrement();
	if (good)
	{
		l->state = BIFANG_LEDGER_CLOSED;
		bifang_catalog_update_ledger(l);
		if (!own)
			bifang_writer_leave(ledger_id);
	}
	bifang_unlock_ledger(ledger_id);
	return good;
}

/* Until nobody writes a ledger that is open now, those among them that are not to be seen yet; none
 * of them gets a new writer. Nothing else is held meanwhile, and whatever the writers want they
 * get. The ids, to be released. */
static List *
wait_for_writers(Oid relid)
{
	Snapshot snap = RegisterSnapshot(bifang_work_snapshot());
	BifangTable t;
	List *ledgers;
	ListCell *lc;

	bifang_table_check_owner(relid);
	bifang_table_open(relid, snap, CurrentMemoryContext, &t);
	UnregisterSnapshot(snap);
	ledgers = bifang_catalog_open_or_coming(t.row.id);
	foreach (lc, ledgers)
		bifang_reserve_ledger(((BifangLedger *) lfirst(lc))->id);
	foreach (lc, ledgers)
	{
		int64 id = ((BifangLedger *) lfirst(lc))->id;

		(void) bifang_lock_ledger(id, true);
		bifang_unlock_ledger(id);
	}
	return ledgers;
}

static int32
roll_table(Oid relid)
{
	BifangJob job = {.kind = "roll", .started_at = GetCurrentTimestamp(), .snapshot_id = -1};
	int64 table_id = bifang_table_begin_work(relid, "bifang.roll()");
	BifangTable t;
	List *ledgers = current_ledgers(relid, &t);
	const BifangTarget target = bifang_table_target(&t);
	ListCell *lc;
	int32 closed = 0;

	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (l->state == BIFANG_LEDGER_OPEN && l->end_entry > 0 && roll_ledger(&target, l->id))
		{
			closed++;
			job.rows += l->end_entry;
		}
	}
	if (closed > 0)
	{
		bifang_table_set_job(&t, &job);
		job.files = closed;
		bifang_catalog_insert_job(&job);
		CommandCounterIncrement();
	}
	else
		bifang_unlock_table(table_id, BIFANG_TABLE_MAINTAIN);
	return closed;
}

Datum
bifang_roll(PG_FUNCTION_ARGS)
{
	bool wait = PG_GETARG_BOOL(1);
	List *tables;
	List *reserved = NIL;
	ListCell *lc;
	int32 closed = 0;

	PreventCommandIfReadOnly("bifang.roll()");
	tables = bifang_tables_of(PG_GETARG_OID(0));
	/* Of all tables first: work on one holds what the writers of another may want. */
	if (wait)
		foreach (lc, tables)
			reserved = list_concat(reserved, wait_for_writers(lfirst_oid(lc)));
	foreach (lc, tables)
		closed += roll_table(lfirst_oid(lc));
	foreach (lc, reserved)
		bifang_release_ledger(((BifangLedger *) lfirst(lc))->id);
	PG_RETURN_INT32(closed);
}

/* Offload ------------------------------------------------------------------------------------- */

/* <offload directory>/<ledger>.bfo; a copy that a lost transaction left there keeps its name. */
static char *
offload_path(const BifangTable *t, int64 ledger_id)
{
	const BfHost *host = bifang_host();
	const char *dir = bifang_table_offload_dir(t->ice);

	for (int attempt = 0;; attempt++)
	{
		char *path = attempt == 0 ? psprintf("%s/" INT64_FORMAT ".bfo", dir, ledger_id)
								  : psprintf("%s/" INT64_FORMAT "-%d.bfo", dir, ledger_id, attempt);
		BfPathInfo info;
		BfError err = {0};

		BIFANG_CHECK(host->stat(host, path, &info, &err), &err);
		if (info.kind == BF_PATH_MISSING)
			return path;
		CHECK_FOR_INTERRUPTS();
	}
}

/* How many entries there are to copy: all, or those before what was lost. -1: some were lost before
 * others that are there, and an offload file has no holes. */
static int64
entries_to_copy(const BifangLedger *l)
{
	BfArena *arena = bifang_arena(CurrentMemoryContext, "lost", BIFANG_ARENA_MAX_METADATA);
	BfRangeSet lost = bifang_ledger_lost(arena, l);
	int64 n = l->end_entry;

	if (lost.n == 1 && lost.ranges[0].last == n - 1)
		n = lost.ranges[0].first;
	else if (lost.n > 0)
		n = -1;
	bifang_arena_free(arena);
	return n;
}

/* NULL: nothing can be said of its rows. */
static const BfOffloadRows *
rows_of(BfArena *arena, const char *schema_json)
{
	BfOffloadRows *rows = palloc(sizeof *rows);
	BfError err = {0};
	BfStatus status = bf_exec_offload_rows(arena, schema_json, rows, &err);

	if (status == BF_ERR_NOMEM || status == BF_ERR_CANCEL || status == BF_ERR_HOST)
		bifang_report(&err);
	return status == BF_OK ? rows : NULL;
}

/* -1: the ledger is damaged, which keeps no others from being offloaded. */
static int64
copy_ledger(const BifangLedger *l, int64 n_entries, const char *path)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	MemoryContext cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang offload", ALLOCSET_DEFAULT_SIZES);
	BfArena *arena = bifang_arena(cxt, "offload", BIFANG_ARENA_MAX_SCAN);
	BfView schema;
	const char *schema_json;
	int64_t bytes = 0;
	BfError err = {0};
	BfStatus status = bf_source_read_all(arena, psprintf("%s/schema.json", l->live_dir),
										 SCHEMA_BYTES_MAX, NULL, &schema, &err);

	if (status == BF_OK)
	{
		schema_json = pnstrdup((const char *) schema.ptr, schema.len);
		status =
			bf_offload_write_shown(arena, l->live_dir, bifang_ledger_tail(l, snap), n_entries,
								   schema_json, rows_of(arena, schema_json), path, &bytes, &err);
	}
	if (status != BF_OK && bifang_ledger_is_damaged(l, &err))
	{
		bifang_ledger_passed_over(l, &err, "is not offloaded");
		bytes = -1;
	}
	else
		BIFANG_CHECK(status, &err);
	MemoryContextDelete(cxt);
	UnregisterSnapshot(snap);
	return bytes;
}

/* What was in the tail has another place, or is gone for good; the end stays. */
static void
drop_tail(const BifangLedger *l)
{
	Snapshot snap;

	if (l->files_entry == l->end_entry)
		return;
	snap = RegisterSnapshot(GetLatestSnapshot());
	(void) bifang_catalog_delete_tail(l->id, snap);
	UnregisterSnapshot(snap);
	bifang_catalog_insert_append(l, (BfLedgerEnd){l->end_entry, l->end_segment, l->end_position},
								 GetCurrentCommandId(true));
}

/* Of a ledger that was copied one row of its ends is enough: the last that this transaction's
 * snapshot shows, for its own next statements too. Until then nobody knows that its bytes are good,
 * and should they not be, bifang.repair() asks its ends for what was acknowledged. */
static void
prune_appends(int64 ledger_id)
{
	Snapshot snap = RegisterSnapshot(bifang_work_snapshot());
	const BifangLedger *l = bifang_catalog_ledger(ledger_id, snap);

	if (l != NULL && l->files_entry > 0)
		(void) bifang_catalog_prune_appends(ledger_id, l->files_entry, snap);
	UnregisterSnapshot(snap);
}

/* -1: it stays as it is. */
static int64
offload_ledger(const BifangTable *t, BifangLedger *l, int64 n_entries)
{
	int64 bytes = 0;

	Assert(l->state == BIFANG_LEDGER_CLOSED && l->offload_path == NULL);
	Assert(bifang_ledger_is_locked(l->id));
	Assert(n_entries >= 0 && n_entries <= l->end_entry);
	if (n_entries == 0)
		l->state = BIFANG_LEDGER_TRIMMED;
	else
	{
		l->offload_path = offload_path(t, l->id);
		bytes = copy_ledger(l, n_entries, l->offload_path);
		if (bytes < 0)
			return bytes;
		bifang_remove_on_abort(l->offload_path, 0);
		l->state = BIFANG_LEDGER_OFFLOADED;
	}
	bifang_catalog_update_ledger(l);
	prune_appends(l->id);
	drop_tail(l);
	/* A copied database must not take the files of the one it was copied from. */
	if (strcmp(l->origin, bifang_catalog_origin()) == 0)
		bifang_catalog_insert_garbage(l->live_dir, true, "ledger offloaded");
	return bytes;
}

/* Of ledgers that are to be offloaded. */
static void
begin_progress(Oid relid, List *ledgers)
{
	int64 n = 0;
	int64 bytes = 0;
	ListCell *lc;

	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		if (l->state != BIFANG_LEDGER_CLOSED)
			continue;
		n++;
		bytes += l->end_position + l->tail_bytes;
	}
	bifang_progress_begin(BIFANG_COMMAND_OFFLOAD, relid);
	bifang_progress_phase(BIFANG_PHASE_LEDGERS);
	bifang_progress_total(n, bytes);
}

/* Adds to the sums of several tables. */
static void
offload_table(Oid relid, BifangJob *sum)
{
	BifangJob job = {.kind = "offload", .started_at = GetCurrentTimestamp(), .snapshot_id = -1};
	int64 table_id = bifang_table_begin_work(relid, "bifang.offload()");
	BifangTable t;
	List *ledgers = current_ledgers(relid, &t);
	ListCell *lc;

	begin_progress(relid, ledgers);
	foreach (lc, ledgers)
	{
		const BifangLedger *seen = lfirst(lc);
		BifangLedger *l;
		int64 bytes;
		int64 n;
		bool sees;

		CHECK_FOR_INTERRUPTS();
		if (seen->state != BIFANG_LEDGER_CLOSED)
			continue;
		l = lock_and_read(seen->id, true, &sees);
		if (l == NULL)
			continue;
		n = l->state == BIFANG_LEDGER_CLOSED ? entries_to_copy(l) : -1;
		/* The end that goes into bifang.append for the tail's would be news to this transaction. */
		if (l->files_entry < l->end_entry && !sees)
			n = -1;
		bytes = n >= 0 ? offload_ledger(&t, l, n) : -1;
		if (bytes >= 0)
		{
			job.bytes += bytes;
			job.rows += n;
			job.files++;
		}
		bifang_unlock_ledger(seen->id);
		bifang_progress_add(1, seen->end_position + seen->tail_bytes);
	}
	if (job.files > 0)
	{
		bifang_table_set_job(&t, &job);
		bifang_catalog_insert_job(&job);
		CommandCounterIncrement();
	}
	else
		bifang_unlock_table(table_id, BIFANG_TABLE_MAINTAIN);
	bifang_progress_end();
	sum->files += job.files;
	sum->rows += job.rows;
	sum->bytes += job.bytes;
}

Datum
bifang_offload(PG_FUNCTION_ARGS)
{
	BifangJob sum = {0};
	List *tables;
	ListCell *lc;
	Datum values[3];
	bool nulls[3] = {false};

	tables = bifang_tables_of(PG_GETARG_OID(0));
	foreach (lc, tables)
		offload_table(lfirst_oid(lc), &sum);
	values[0] = Int32GetDatum((int32) sum.files);
	values[1] = Int64GetDatum(sum.rows);
	values[2] = Int64GetDatum(sum.bytes);
	return bifang_lake_row(fcinfo, values, nulls);
}
