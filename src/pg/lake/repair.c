/*
 * pg/lake/repair.c: bifang.repair(): a way on when bytes of a ledger are gone.
 *
 *   ledger damaged --repair--> closed (or offloaded, as it was), the entries that are gone told and
 *                              written down in its row
 *
 * A ledger that lacks acknowledged entries is an error for whoever reads them, never a shorter
 * result, until somebody who may decide that says: these are gone. From then on scans, commits,
 * check() and offload() leave them out, everything else of the ledger is read as before, and nobody
 * appends to it any more. Entries keep their numbers, so that what the lake names stays right. What
 * Parquet has is not gone, whatever became of the ledger's bytes. No file is changed: what bytes
 * there are can still be looked at.
 *
 * Ledgers are looked at without their locks first, since writers and readers go on meanwhile; one
 * that is damaged is looked at again under its lock.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "exec/read/ledger_reader.h"
#include "log/gone.h"
#include "log/live.h"
#include "pg/catalog/cache.h"
#include "pg/catalog/tail.h"
#include "pg/lake/garbage.h"
#include "pg/lake/lake.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

PG_FUNCTION_INFO_V1(bifang_repair);

typedef struct Repair
{
	ReturnSetInfo *rsinfo;
	MemoryContext cxt;
	BfArena *arena; /* of one ledger */
	BifangTable t;
	const BfIcePlan *plan;
	BifangJob job;
} Repair;

/* Looking ------------------------------------------------------------------------------------- */

/* Without its schema no entry can be read. */
static bool
schema_is_gone(Repair *r, const BifangLedger *l, BfGoneList *gone)
{
	bool offloaded = l->state == BIFANG_LEDGER_OFFLOADED;
	BfSchema *schema;
	BfError err = {0};
	BfStatus status =
		bf_exec_ledger_schema(r->arena, offloaded ? BF_LEDGER_OFFLOAD : BF_LEDGER_LIVE,
							  offloaded ? l->offload_path : l->live_dir, &schema, &err);

	if (status == BF_OK)
		return false;
	if (status != BF_ERR_CORRUPT && status != BF_ERR_NOTFOUND && status != BF_ERR_UNSUPPORTED)
		bifang_report(&err);
	gone->n = 1;
	gone->items = palloc(sizeof *gone->items);
	gone->items[0] = (BfGone){{0, l->end_entry - 1}, psprintf("\"%s\": %s", err.object, err.text)};
	return true;
}

/* Reads the tail from `entry` on: as far as it is good, *good; err says why no further. */
static BfStatus
read_tail(Repair *r, const BifangLedger *l, const BfLogTail *tail, int64 entry, int64 *good,
		  BfError *err)
{
	BfRange range = {entry, l->end_entry - 1};
	const BfRangeSet rest = {1, &range};
	BfLiveWalk *walk;

	*good = entry;
	BF_TRY(bf_live_walk_new(r->arena, l->live_dir, tail, &rest, NULL, &walk, err));
	for (;;)
	{
		BfBatchHeader h;
		const uint8_t *batch;
		const char *path;
		int64_t position;

		BF_TRY(bf_live_walk_next(walk, &h, &batch, &position, &path, err));
		if (batch == NULL)
			return BF_OK;
		*good = h.last_offset + 1;
	}
}

/* Of a row of bifang.tail what is behind a damaged place is gone. */
static void
find_gone_in_tail(Repair *r, const BifangLedger *l, Snapshot snap, BfGoneList *gone)
{
	const BfLogTail *tail = bifang_ledger_tail(l, snap);
	List *found = NIL;
	int64 entry = l->files_entry;
	ListCell *lc;
	BfGone *all;

	while (entry < l->end_entry)
	{
		BfGone *one = palloc(sizeof *one);
		int64 good;
		BfError err = {0};
		BfStatus status = read_tail(r, l, tail, entry, &good, &err);

		if (status == BF_OK)
			break;
		if (status != BF_ERR_CORRUPT)
			bifang_report(&err);
		entry = bifang_catalog_next_tail_row(l->id, good, snap);
		if (entry < 0)
			entry = l->end_entry;
		Assert(entry > good);
		one->entries = (BfRange){good, entry - 1};
		one->why = psprintf("\"%s\": %s", err.object, err.text);
		found = lappend(found, one);
	}
	all = palloc(sizeof *all * (Size) (gone->n + list_length(found)));
	if (gone->n > 0)
		memcpy(all, gone->items, sizeof *all * (Size) gone->n);
	foreach (lc, found)
		all[gone->n++] = *(BfGone *) lfirst(lc);
	gone->items = all;
}

static void
find_gone(Repair *r, const BifangLedger *l, Snapshot snap, BfGoneList *gone)
{
	BfError err = {0};

	if (schema_is_gone(r, l, gone))
		return;
	if (l->state == BIFANG_LEDGER_OFFLOADED)
		BIFANG_CHECK(bf_offload_gone(r->arena, l->offload_path, l->end_entry, gone, &err), &err);
	else
	{
		if (l->files_entry > 0)
		{
			int32 n;
			BfLedgerEnd *ends = bifang_catalog_appends(l->id, snap, &n);

			Assert(n > 0 && ends[n - 1].entry == l->files_entry);
			BIFANG_CHECK(bf_log_gone(r->arena, l->live_dir, ends, n, gone, &err), &err);
		}
		if (l->files_entry < l->end_entry)
			find_gone_in_tail(r, l, snap, gone);
	}
}

/* Of what is gone what nobody knew yet and Parquet does not have; *all with what was known. */
static void
news(Repair *r, const BifangLedger *l, BfRange range, BfRangeSet *fresh, BfRangeSet *all)
{
	BfRangeSet one = {1, &range};
	BfError err = {0};

	Assert(range.first >= 0 && range.first <= range.last && range.last < l->end_entry);
	BIFANG_CHECK(bf_rangeset_subtract(
					 r->arena, &one, bf_coverage_of(&r->plan->covered_parquet, l->id), fresh, &err),
				 &err);
	BIFANG_CHECK(bf_rangeset_subtract(r->arena, fresh, all, fresh, &err), &err);
	BIFANG_CHECK(bf_rangeset_union(r->arena, all, fresh, all, &err), &err);
}

/* Deciding ------------------------------------------------------------------------------------ */

static void
put_row(Repair *r, int64 ledger_id, BfRange range, const char *why)
{
	Datum values[4] = {Int64GetDatum(ledger_id), Int64GetDatum(range.first),
					   Int64GetDatum(range.last), CStringGetTextDatum(bifang_shown(why))};
	bool nulls[4] = {false};

	Assert(r->rsinfo->setDesc->natts == (int) lengthof(values));
	Assert(range.first >= 0 && range.first <= range.last);
	tuplestore_putvalues(r->rsinfo->setResult, r->rsinfo->setDesc, values, nulls);
	r->job.rows += range.last - range.first + 1;
}

/* True: something is gone that was not known to be. With `tell` that is told and written down. */
static bool
look_at(Repair *r, const BifangLedger *l, Snapshot snap, bool tell)
{
	BfRangeSet all = bifang_ledger_lost(r->arena, l);
	bool any = false;
	BfBuffer *text;
	BfGoneList gone;
	BfError err = {0};

	Assert(!tell || bifang_ledger_is_locked(l->id));
	find_gone(r, l, snap, &gone);
	for (int32_t i = 0; i < gone.n; i++)
	{
		BfRangeSet fresh;

		news(r, l, gone.items[i].entries, &fresh, &all);
		any |= fresh.n > 0;
		for (int32_t k = 0; tell && k < fresh.n; k++)
			put_row(r, l->id, fresh.ranges[k], gone.items[i].why);
	}
	if (!any || !tell)
		return any;
	BIFANG_CHECK(bf_buffer_new(r->arena, MaxAllocSize / 4, &text, &err), &err);
	BIFANG_CHECK(bf_rangeset_format(&all, text, &err), &err);
	bifang_catalog_set_lost(l, pnstrdup((const char *) text->data, text->len));
	r->job.files++;
	return true;
}

/* Nobody waits for a writer who may be waiting for this table (pg/write/locks.h). */
static void
repair_locked(Repair *r, int64 ledger_id)
{
	Snapshot snap;
	BifangLedger *l;

	if (!bifang_lock_ledger(ledger_id, false))
	{
		ereport(WARNING,
				(errmsg("ledger " INT64_FORMAT " is damaged and is being written", ledger_id),
				 errhint("Repair it when that transaction has ended.")));
		return;
	}
	snap = RegisterSnapshot(GetLatestSnapshot());
	l = bifang_catalog_ledger(ledger_id, snap);
	if (l != NULL && l->end_entry > 0 && l->state != BIFANG_LEDGER_TRIMMED)
		(void) look_at(r, l, snap, true);
	UnregisterSnapshot(snap);
	bifang_unlock_ledger(ledger_id);
}

static void
repair_ledger(Repair *r, const BifangLedger *seen)
{
	MemoryContext old;
	Snapshot snap;

	r->cxt = AllocSetContextCreate(old = CurrentMemoryContext, "repair", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(r->cxt);
	r->arena = bifang_arena(r->cxt, "repair", BIFANG_ARENA_MAX_SCAN);
	snap = RegisterSnapshot(bifang_work_snapshot());
	if (look_at(r, seen, snap, false))
	{
		/* Rows of this very transaction are not what was acknowledged to anybody yet. */
		if (bifang_writer_retire(seen->id))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("ledger " INT64_FORMAT " has rows of this transaction", seen->id)));
		repair_locked(r, seen->id);
	}
	UnregisterSnapshot(snap);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(r->cxt);
}

Datum
bifang_repair(PG_FUNCTION_ARGS)
{
	Oid relid = PG_GETARG_OID(0);
	Repair r = {.job = {.kind = "repair", .started_at = GetCurrentTimestamp(), .snapshot_id = -1}};
	Snapshot snap;
	List *ledgers;
	ListCell *lc;

	InitMaterializedSRF(fcinfo, 0);
	r.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	(void) bifang_table_begin_work(relid, "bifang.repair()");
	snap = RegisterSnapshot(bifang_work_snapshot());
	bifang_table_open(relid, snap, CurrentMemoryContext, &r.t);
	r.plan = bifang_lake_open(CurrentMemoryContext, r.t.row.metadata_location)->plan;
	ledgers = bifang_catalog_ledgers(r.t.row.id, snap);
	UnregisterSnapshot(snap);
	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (l->end_entry > 0 && l->state != BIFANG_LEDGER_TRIMMED)
			repair_ledger(&r, l);
	}
	if (r.job.files > 0)
	{
		bifang_table_set_job(&r.t, &r.job);
		bifang_catalog_insert_job(&r.job);
		CommandCounterIncrement();
	}
	return (Datum) 0;
}
