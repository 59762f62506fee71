/*
 * pg/scan/analyze.c: ANALYZE of a foreign table.
 *
 * Rows are sampled with Vitter's reservoir, as the server does for heaps, and come back in reading
 * order, so that correlation means something. Of a table of many files every n-th is read, in full;
 * the total then is what manifests and ledgers say, or, where nobody counts rows, in proportion
 * to the bytes read.
 */
#include "pg/scan/analyze.h"

#include "access/htup_details.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/sampling.h"
#include "utils/snapmgr.h"

#include "pg/scan/scan.h"
#include "pg/server/version.h"

/* Units that are read at least, when there are more. */
#define UNITS_WANTED 64

typedef struct Sampler
{
	BifangScan *scan;
	TupleDesc desc;
	Datum *values;
	bool *isnull;
	HeapTuple *rows;
	int64 *order; /* row number of each sampled row */
	int n;
	int target;
	double seen;
	double skip; /* rows to pass over before the next one is taken; < 0 = not known */
	ReservoirStateData state;
} Sampler;

static HeapTuple
form_row(Sampler *sm, int32 row)
{
	BifangScan *s = sm->scan;

	for (int32 i = 0; i < s->cols.n; i++)
	{
		sm->values[s->cols.list[i].attnum - 1] = s->cols.list[i].values[row];
		sm->isnull[s->cols.list[i].attnum - 1] = s->cols.list[i].isnull[row];
	}
	return heap_form_tuple(sm->desc, sm->values, sm->isnull);
}

static void
sample_row(Sampler *sm, int32 row)
{
	Assert(sm->n <= sm->target);
	if (sm->n < sm->target)
	{
		sm->order[sm->n] = (int64) sm->seen;
		sm->rows[sm->n++] = form_row(sm, row);
	}
	else
	{
		if (sm->skip < 0)
			sm->skip = reservoir_get_next_S(&sm->state, sm->seen, sm->target);
		if (sm->skip <= 0)
		{
			int k = (int) (sm->target * sampler_random_fract(&sm->state.randstate));

			Assert(k >= 0 && k < sm->n);
			heap_freetuple(sm->rows[k]);
			sm->rows[k] = form_row(sm, row);
			sm->order[k] = (int64) sm->seen;
		}
		sm->skip -= 1;
	}
	sm->seen += 1;
}

typedef struct Numbered
{
	HeapTuple row;
	int64 order;
} Numbered;

static int
compare_order(const void *a, const void *b)
{
	int64 x = ((const Numbered *) a)->order;
	int64 y = ((const Numbered *) b)->order;

	return (x > y) - (x < y);
}

static void
sort_rows(Sampler *sm)
{
	Numbered *all = palloc((Size) (sm->n + 1) * sizeof *all);

	for (int i = 0; i < sm->n; i++)
		all[i] = (Numbered){sm->rows[i], sm->order[i]};
	qsort(all, (size_t) sm->n, sizeof *all, compare_order);
	for (int i = 0; i < sm->n; i++)
		sm->rows[i] = all[i].row;
	pfree(all);
}

/* Rows of the whole table, by what was seen of it. */
static double
total_rows(const Sampler *sm)
{
	const BifangScan *s = sm->scan;
	const BfScanList *l = &s->work->list;
	double bytes = 0;

	if (s->turn.alone.step == 1)
		return sm->seen;
	if (l->totals.exact)
		return (double) l->totals.rows;
	for (int32 i = 0; i < l->n_units; i += s->turn.alone.step)
		bytes += (double) l->units[i].bytes;
	return bytes > 0 ? sm->seen * (double) l->totals.bytes / bytes : sm->seen;
}

static int
acquire_rows(Relation relation, int elevel, HeapTuple *rows, int targrows, double *totalrows,
			 double *totaldeadrows)
{
	TupleDesc desc = RelationGetDescr(relation);
	Sampler sm = {.desc = desc, .rows = rows, .target = targrows, .skip = -1};
	Snapshot snapshot = RegisterSnapshot(GetTransactionSnapshot());
	List *attrs = NIL;

	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			attrs = lappend_int(attrs, i + 1);
	sm.scan = bifang_scan_new(CurrentMemoryContext, relation, attrs, NULL, NULL);
	sm.values = palloc0((Size) desc->natts * sizeof(Datum));
	sm.isnull = palloc((Size) desc->natts * sizeof(bool));
	sm.order = palloc((Size) targrows * sizeof(int64));
	memset(sm.isnull, true, (size_t) desc->natts);
	reservoir_init_selection_state(&sm.state, targrows);
	bifang_scan_restart(sm.scan);
	bifang_scan_sample(sm.scan,
					   Max(bifang_scan_work(sm.scan, snapshot)->list.n_units / UNITS_WANTED, 1));
	while (bifang_scan_fill(sm.scan, snapshot))
	{
		bifang_vacuum_delay_point();
		for (int32 row = 0; row < sm.scan->slice.n; row++)
			sample_row(&sm, row);
	}
	sort_rows(&sm);
	*totalrows = total_rows(&sm);
	*totaldeadrows = 0;
	MemoryContextDelete(sm.scan->cxt);
	UnregisterSnapshot(snapshot);
	ereport(elevel, (errmsg("\"%s\": table contains %.0f rows; %d rows in sample",
							RelationGetRelationName(relation), *totalrows, sm.n)));
	return sm.n;
}

bool
bifangAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func, BlockNumber *totalpages)
{
	BifangOptions o;
	BifangWorklist *w;
	MemoryContext cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang analyze", ALLOCSET_SMALL_SIZES);
	Snapshot snapshot = RegisterSnapshot(GetTransactionSnapshot());

	bifang_options_get(RelationGetRelid(relation), &o);
	bifang_options_check_read(&o);
	w = bifang_worklist_open(cxt, &o, snapshot);
	bifang_worklist_plan(w, NULL, 0, BF_SCAN_UNITS);
	*totalpages = (BlockNumber) Min(w->list.totals.bytes / BLCKSZ + 1, MaxBlockNumber);
	*func = acquire_rows;
	MemoryContextDelete(cxt);
	UnregisterSnapshot(snapshot);
	return true;
}
