/*
 * pg/scan/lake/lake.c: lake tables as a kind; see lake.h.
 */
#include "pg/scan/lake/lake.h"

#include "base/ascii.h"
#include "pg/catalog/cache.h"
#include "pg/catalog/catalog.h"
#include "pg/scan/explain.h"
#include "pg/scan/lake/internal.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "scan/pred.h"

/* A guess, where nothing tells. */
#define ENTRY_BYTES 64

/* ---- pins ---- */

/* What an entry of the ledger takes: as those of the segment that holds its end do, and of the
 * tail. */
static int64
entry_bytes(const BifangLedger *l)
{
	int64 entries = l->end_entry - l->end_segment;

	return entries > 0 ? Max((l->end_position + l->tail_bytes) / entries, 1) : ENTRY_BYTES;
}

static BfScanLedger
pinned_ledger(const BifangLedger *l)
{
	BfScanLedger pin = {.id = l->id,
						.place = BF_SCAN_IN_DIRECTORY,
						.path = l->live_dir,
						.end = l->end_entry,
						.tail = l->end_entry - l->files_entry,
						.entry_bytes = entry_bytes(l)};

	if (l->state == BIFANG_LEDGER_OFFLOADED)
	{
		pin.place = BF_SCAN_IN_FILE;
		Assert(pin.tail == 0);
		pin.path = l->offload_path;
	}
	else if (l->state == BIFANG_LEDGER_TRIMMED)
	{
		pin.place = BF_SCAN_GONE;
		pin.path = NULL;
	}
	return pin;
}

static void
pin_ledgers(BifangWorklist *w, int64 table_id)
{
	BfScanPins *pins = w->pins;
	BfArena *lost = NULL;
	List *ledgers = bifang_catalog_read_ledgers(table_id, w->snap);
	ListCell *lc;

	pins->ledgers =
		palloc_extended((Size) (list_length(ledgers) + 1) * sizeof *pins->ledgers, MCXT_ALLOC_HUGE);
	foreach (lc, ledgers)
	{
		Assert(pins->n_ledgers == 0 ||
			   ((BifangLedger *) lfirst(lc))->id > pins->ledgers[pins->n_ledgers - 1].id);
		pins->ledgers[pins->n_ledgers] = pinned_ledger(lfirst(lc));
		if (((BifangLedger *) lfirst(lc))->lost != NULL)
		{
			if (lost == NULL)
				lost = bifang_arena(CurrentMemoryContext, "lost", BIFANG_ARENA_MAX_METADATA);
			pins->ledgers[pins->n_ledgers].lost = bifang_ledger_lost(lost, lfirst(lc));
		}
		pins->n_ledgers++;
	}
}

static int64
snapshot_of(const BifangPoint *p)
{
	return p->at.main == NULL ? -1 : p->at.main->id;
}

static void
open_lake(BifangWorklist *w, const BifangOptions *o)
{
	BifangLakeWork *lake = palloc0(sizeof *lake);

	w->own = lake;
	bifang_point_open(w->cxt, o, w->snap, &lake->point);
	w->schema = bifang_lake_columns(w);
	w->pins->metadata_path = lake->point.metadata_path;
	w->pins->snapshot_id = snapshot_of(&lake->point);
	w->pins->current = lake->point.current;
	if (lake->point.table_id != 0)
		pin_ledgers(w, lake->point.table_id);
}

static void
join_lake(BifangWorklist *w, const BifangOptions *o)
{
	BifangLakeWork *lake = palloc0(sizeof *lake);

	w->own = lake;
	Assert(w->pins->metadata_path != NULL && w->pins->n_sources == 0);
	bifang_point_of(w->cxt, o, w->pins->metadata_path, w->pins->current, &lake->point);
	w->schema = bifang_lake_columns(w);
	if (snapshot_of(&lake->point) != w->pins->snapshot_id)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("processes of a parallel scan see different snapshots")));
}

/* ---- plan ---- */

/* The files of the lake: another process's word, else manifests. */
static BfIcePlan *
lake_plan(BifangWorklist *w, uint32 prune)
{
	BifangLakeWork *lake = bifang_lake_work(w);
	BfScanList *l = &w->list;
	BfIceScan scan = {.point = lake->point.at,
					  .prune = prune,
					  .cache = bifang_manifest_cache(),
					  .coverage = w->pins->current && w->pins->n_ledgers > 0};
	bool facts;
	BfIcePlan *plan;
	BfError err;

	bf_error_clear(&err);
	if (w->given.ptr != NULL)
	{
		BIFANG_CHECK(bf_ice_plan_unpack(l->arena, lake->point.table, w->given, &plan, &err), &err);
		w->given.ptr = NULL;
		return plan;
	}
	/* An estimate's files are only counted, and facts are about each. */
	BIFANG_CHECK(bf_scan_asks_for_facts(l, &facts, &err), &err);
	scan.totals_only = l->how == BF_SCAN_ESTIMATE && !facts;
	BIFANG_CHECK(
		bf_scan_pred_below(l->arena, l->pred, lake->point.at.schema->n_fields, &scan.pred, &err),
		&err);
	BIFANG_CHECK(bf_ice_plan_scan(l->arena, lake->point.table, &scan, &plan, &err), &err);
	return plan;
}

static void
plan_lake(BifangWorklist *w, uint32 prune)
{
	BifangLakeWork *lake = bifang_lake_work(w);
	BfIcePlan *plan;
	int64 unknown;
	BfError err;

	if (lake->deletes != NULL)
		bifang_delete_set_replan(lake->deletes);
	lake->plan = plan = lake_plan(w, prune);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_scan_plan_lake(&w->list, w->pins, plan, &unknown, &err), &err);
	if (unknown >= 0)
		ereport(ERROR, (errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
						errmsg("\"%s\" names rows of ledger " INT64_FORMAT
							   ", which this database does not have",
							   w->pins->metadata_path, unknown),
						errhint("The table is written through another database.")));
}

static BfView
pack_plan(const BifangWorklist *w, BfArena *a)
{
	BfView bytes;
	BfError err;

	Assert(bifang_lake_work(w)->plan != NULL);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_ice_plan_pack(a, bifang_lake_work(w)->plan, &bytes, &err), &err);
	return bytes;
}

/* Where the plan left files out: what the snapshot's summary says. */
static double
table_rows(const BifangWorklist *w)
{
	const BifangLakeWork *lake = bifang_lake_work(w);
	const BfScanTotals *t = &w->list.totals;
	const BfIcePlanCounters *c = &lake->plan->counters;
	const BfIceSnapshot *main = lake->point.at.main;
	const char *total;
	int64_t rows = -1;
	double left;

	if (c->files_by_partition + c->files_by_bounds + c->manifests_skipped == 0)
		return (double) t->rows;
	total = main == NULL ? NULL : bf_ice_summary(main, "total-records");
	if (total != NULL && bf_ascii_number(total, strlen(total), PG_INT64_MAX, &rows) > 0 && rows > 0)
		return Max((double) t->rows, (double) rows + (double) t->live_rows);
	left = (double) (c->files - c->files_by_partition - c->files_by_bounds);
	Assert(left >= 0);
	return (double) t->rows * (double) c->files / Max(left, 1.0);
}

/* ---- people ---- */

static void
explain_point(const BifangWorklist *w, ExplainState *es)
{
	const BfIcePoint *at = &bifang_lake_work(w)->point.at;

	if (at->main != NULL)
		ExplainPropertyInteger("Lake Snapshot", NULL, at->main->id, es);
	if (at->bifang != NULL && at->bifang != at->main)
		ExplainPropertyInteger("Bifang Snapshot", NULL, at->bifang->id, es);
	if (w->list.n_units == 0 && at->main == NULL && w->list.totals.live_rows == 0)
		ExplainPropertyText("Tiers", "none: the table is empty", es);
}

static void
explain_lake(const BifangWorklist *w, BifangExplainPart part, ExplainState *es)
{
	const BfIcePlanCounters *c = &bifang_lake_work(w)->plan->counters;
	const BifangExplainCounter pruned[] = {
		{"manifests", c->manifests_skipped},
		{"by partition", c->files_by_partition},
		{"by bounds", c->files_by_bounds},
	};

	switch (part)
	{
		case BIFANG_EXPLAIN_TABLE: explain_point(w, es); break;
		case BIFANG_EXPLAIN_PRUNED:
			if (c->files_by_partition + c->files_by_bounds + c->manifests_skipped > 0)
				bifang_explain_counters("Files Pruned", pruned, lengthof(pruned), es);
			break;
		case BIFANG_EXPLAIN_REST:
			if (c->delete_files > 0)
				ExplainPropertyInteger("Delete Files", NULL, c->delete_files, es);
			if (c->delete_files_unused > 0)
				ExplainPropertyInteger("Delete Files Unused", NULL, c->delete_files_unused, es);
			break;
	}
}

const BifangKind bifang_kind_lake = {
	.format = {.name = "iceberg",
			   .is = "a lake table",
			   .location = "directory or metadata file of a table",
			   .lake = true,
			   .parquet = true},
	.tiers = bf_scan_lake_tiers,
	.open = open_lake,
	.join = join_lake,
	.plan = plan_lake,
	.pack_plan = pack_plan,
	.column = bifang_lake_column,
	.open_unit = bifang_lake_open_unit,
	.table_rows = table_rows,
	.news = bifang_lake_news,
	.known = bifang_lake_known,
	.explain = explain_lake,
	.import = bifang_lake_import,
};
