/*
 * pg/fdw.c: the wrapper's callbacks, and the scan as a plan node.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "foreign/fdwapi.h"
#include "nodes/makefuncs.h"

#include "pg/scan/analyze.h"
#include "pg/scan/explain.h"
#include "pg/scan/import.h"
#include "pg/scan/node.h"
#include "pg/scan/parallel.h"
#include "pg/scan/plan.h"
#include "pg/server/pins.h"
#include "pg/server/version.h"
#include "pg/write/modify.h"

PG_FUNCTION_INFO_V1(bifang_fdw_handler);

static void
begin_scan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	BifangScanNode *n = palloc0(sizeof *n);
	BifangPushdown *push = NULL;
	MemoryContext old;

	old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);
	if (plan->fdw_exprs != NIL)
		push = bifang_pushdown_new(plan->fdw_exprs, plan->scan.scanrelid, &node->ss.ps);
	n->scan = bifang_scan_new(node->ss.ps.state->es_query_cxt, node->ss.ss_currentRelation,
							  list_nth(plan->fdw_private, BIFANG_PLAN_ATTRS), push, NULL);
	if (OidIsValid(bifang_scan_user(node)))
		n->scan->options.userid = bifang_scan_user(node);
	n->scan->explain = (eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0;
	n->scan->again = !bms_is_empty(plan->scan.plan.extParam);
	bifang_pins_begin(node->ss.ps.state->es_snapshot, node->ss.ps.state->es_query_cxt);
	MemoryContextSwitchTo(old);
	node->fdw_state = n;
	/* Columns that nobody needs stay NULL in the slot for the whole scan. */
	memset(slot->tts_isnull, true, (size_t) slot->tts_tupleDescriptor->natts);
	memset(slot->tts_values, 0, (size_t) slot->tts_tupleDescriptor->natts * sizeof(Datum));
	/* Rows that a running statement has buffered can be written out now, in parallel mode not any
	 * more; a worker could not see them otherwise. */
	if (node->ss.ps.state->es_plannedstmt->parallelModeNeeded && !IsParallelWorker() &&
		!n->scan->explain)
		bifang_modify_flush(0);
}

/* A new slice. Its columns without NULLs are marked so in the slot once, not for every row. */
static pg_noinline bool
fill_scan(ForeignScanState *node, BifangScanNode *n)
{
	BifangScan *s = n->scan;

	if (!n->started)
	{
		/* The first row, or the first after a rescan: parameters have their values now. */
		bifang_scan_restart(s);
		n->started = true;
	}
	if (!bifang_scan_fill(s, node->ss.ps.state->es_snapshot))
		return false;
	for (int32 i = 0; i < s->cols.n; i++)
		if (!s->cols.list[i].has_nulls)
			node->ss.ss_ScanTupleSlot->tts_isnull[s->cols.list[i].attnum - 1] = false;
	return true;
}

static TupleTableSlot *
iterate_scan(ForeignScanState *node)
{
	BifangScanNode *n = node->fdw_state;
	BifangScan *s = n->scan;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	const BifangColumn *c = s->cols.list;
	const BifangColumn *end = c + s->cols.n;
	int32 row;

	ExecClearTuple(slot);
	if (unlikely(s->slice.row >= s->slice.n) && !fill_scan(node, n))
		return slot;
	row = s->slice.row++;
	for (; c < end; c++)
	{
		slot->tts_values[c->attnum - 1] = c->values[row];
		if (c->has_nulls)
			slot->tts_isnull[c->attnum - 1] = c->isnull[row];
	}
	return ExecStoreVirtualTuple(slot);
}

static void
rescan(ForeignScanState *node)
{
	BifangScanNode *n = node->fdw_state;

	/* Whatever was read so far is forgotten; the worklist stays, for the statement's snapshot does.
	 * Values of searches are taken anew at the next row. */
	n->started = false;
	n->scan->slice.row = 0;
	n->scan->slice.n = 0;
}

static void
end_scan(ForeignScanState *node)
{
	BifangScanNode *n = node->fdw_state;

	if (n != NULL)
	{
		MemoryContextDelete(n->scan->cxt);
		if (n->shared_plan != NULL)
			dsm_detach(n->shared_plan);
	}
	node->fdw_state = NULL;
}

Datum
bifang_fdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *r = makeNode(FdwRoutine);

	(void) fcinfo;
	r->GetForeignRelSize = bifangGetForeignRelSize;
	r->GetForeignPaths = bifangGetForeignPaths;
	r->GetForeignPlan = bifangGetForeignPlan;
	r->BeginForeignScan = begin_scan;
	r->IterateForeignScan = iterate_scan;
	r->ReScanForeignScan = rescan;
	r->EndForeignScan = end_scan;
	r->ExplainForeignScan = bifangExplainForeignScan;
	r->IsForeignScanParallelSafe = bifangIsForeignScanParallelSafe;
	r->EstimateDSMForeignScan = bifangEstimateDSMForeignScan;
	r->InitializeDSMForeignScan = bifangInitializeDSMForeignScan;
	r->ReInitializeDSMForeignScan = bifangReInitializeDSMForeignScan;
	r->InitializeWorkerForeignScan = bifangInitializeWorkerForeignScan;
	r->ShutdownForeignScan = bifangShutdownForeignScan;
	r->AnalyzeForeignTable = bifangAnalyzeForeignTable;
	r->ImportForeignSchema = bifangImportForeignSchema;

	r->IsForeignRelUpdatable = bifangIsForeignRelUpdatable;
	r->AddForeignUpdateTargets = bifangAddForeignUpdateTargets;
	r->PlanForeignModify = bifangPlanForeignModify;
	r->BeginForeignModify = bifangBeginForeignModify;
	r->ExecForeignInsert = bifangExecForeignInsert;
	r->EndForeignModify = bifangEndForeignModify;
	r->BeginForeignInsert = bifangBeginForeignInsert;
	r->EndForeignInsert = bifangEndForeignInsert;
	r->ExplainForeignModify = bifangExplainForeignModify;
	r->ExecForeignTruncate = bifangExecForeignTruncate;
	PG_RETURN_POINTER(r);
}
