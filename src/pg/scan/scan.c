/*
 * pg/scan/scan.c: rows of a foreign table, many at a time; see scan.h.
 */
#include "pg/scan/internal.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/scan/kind.h"
#include "pg/scan/parallel.h"
#include "pg/scan/unit.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/settings.h"

/* ---- making one ---- */

BifangScan *
bifang_scan_new(MemoryContext cxt, Relation rel, List *attrs, BifangPushdown *push)
{
	MemoryContext scan_cxt = AllocSetContextCreate(cxt, "bifang scan", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scan_cxt);
	BifangScan *s = palloc0(sizeof *s);
	ListCell *lc;
	int i = 0;

	s->cxt = scan_cxt;
	s->unit_cxt = AllocSetContextCreate(scan_cxt, "bifang unit", ALLOCSET_SMALL_SIZES);
	s->relid = RelationGetRelid(rel);
	s->relname = pstrdup(RelationGetRelationName(rel));
	bifang_options_get(s->relid, &s->options);
	s->n_columns = list_length(attrs);
	s->columns = palloc0((Size) s->n_columns * sizeof *s->columns);
	foreach (lc, attrs)
		bifang_scan_init_column(s, &s->columns[i++],
								TupleDescAttr(RelationGetDescr(rel), lfirst_int(lc) - 1));
	bf_scan_next_alone(&s->alone, 1);
	s->next = &s->alone.next;
	s->push = push;
	if (push != NULL)
		s->pred_arena = bifang_arena(scan_cxt, "predicates", BIFANG_ARENA_MAX_METADATA);
	MemoryContextSwitchTo(old);
	return s;
}

/* ---- units ---- */

BifangWorklist *
bifang_scan_pin(BifangScan *s, Snapshot snapshot)
{
	if (s->work == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(s->cxt);

		bifang_options_check_read(&s->options);
		s->work = bifang_worklist_open(s->cxt, &s->options, snapshot);
		MemoryContextSwitchTo(old);
	}
	return s->work;
}

BifangWorklist *
bifang_scan_work(BifangScan *s, Snapshot snapshot)
{
	MemoryContext old;

	bifang_scan_pin(s, snapshot);
	if (s->planned)
		return s->work;
	old = MemoryContextSwitchTo(s->cxt);
	if (!s->bound)
		bifang_scan_bind_columns(s);
	s->types = NULL;
	s->prune = bifang_prune_flags();
	if (s->push != NULL)
	{
		bifang_pushdown_eval(s->push, s->explain);
		bf_arena_reset(s->pred_arena);
		s->pred = bifang_pushdown_pred(s->push, s->pred_arena, bifang_scan_push_column, s);
	}
	if (s->delete_set != NULL)
		bifang_delete_set_replan(s->delete_set);
	bifang_worklist_plan(s->work, s->pred, s->prune,
						 s->estimate		 ? BF_SCAN_ESTIMATE
						 : s->shared != NULL ? BF_SCAN_CUT
											 : BF_SCAN_UNITS);
	if (s->shared != NULL)
		bifang_shared_check(s->shared, s->work);
	s->planned = true;
	MemoryContextSwitchTo(old);
	return s->work;
}

static void
close_unit(BifangScan *s)
{
	s->unit = NULL;
	s->reader = NULL;
	s->batch = NULL;
	s->types = NULL;
	MemoryContextReset(s->unit_cxt);
}

void
bifang_scan_count_deletes(BifangScan *s)
{
	if (s->delete_set != NULL)
		s->count.deletes = *bifang_delete_set_counters(s->delete_set);
}

/* The next unit for this process. */
static BfScanUnit *
next_unit(BifangScan *s)
{
	int32 n = s->next->take(s->next, s->work->list.n_units);

	return n < 0 ? NULL : &s->work->list.units[n];
}

void
bifang_scan_sample(BifangScan *s, int32 n)
{
	Assert(s->shared == NULL && s->unit == NULL);
	bf_scan_next_alone(&s->alone, n);
}

void
bifang_scan_share(BifangScan *s, struct BifangShared *shared, BfScanCounter *next)
{
	s->shared = shared;
	s->next = &s->alone.next;
	if (shared == NULL)
		return;
	bf_scan_next_shared(&s->with_others, next);
	s->next = &s->with_others.next;
	s->planned = false;
}

void
bifang_scan_restart(BifangScan *s)
{
	close_unit(s);
	if (s->push != NULL && s->planned && bifang_pushdown_eval(s->push, s->explain))
		s->planned = false;
	bf_scan_next_alone(&s->alone, s->alone.step);
	s->row = 0;
	s->n_rows = 0;
}

bool
bifang_scan_fill(BifangScan *s, Snapshot snapshot)
{
	BfError err;

	if (!s->planned)
		bifang_scan_work(s, snapshot);
	if (s->rows == NULL)
		bifang_scan_make_room(s);
	s->row = 0;
	s->n_rows = 0;
	bf_error_clear(&err);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (s->batch != NULL && s->at < bf_batch_n(s->batch))
		{
			bifang_scan_fill_slice(s);
			return true;
		}
		if (s->reader == NULL)
		{
			BfScanUnit *u = next_unit(s);

			if (u == NULL)
				return false;
			bifang_scan_open_unit(s, u);
		}
		BIFANG_CHECK(s->reader->next(s->reader, &s->batch, &err), &err);
		if (s->batch == NULL)
			close_unit(s);
		else
			bifang_scan_begin_batch(s);
	}
}
