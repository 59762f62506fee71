/*
 * pg/scan/scan.c: rows of a foreign table, many at a time; see scan.h.
 */
#include "pg/scan/internal.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/scan/kind.h"
#include "pg/scan/unit.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/settings.h"

/* ---- making one ---- */

BifangScan *
bifang_scan_new(MemoryContext cxt, Relation rel, List *attrs, BifangPushdown *push,
				const BifangOptions *options)
{
	MemoryContext scan_cxt = AllocSetContextCreate(cxt, "bifang scan", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scan_cxt);
	BifangScan *s = palloc0(sizeof *s);
	ListCell *lc;
	int i = 0;

	s->cxt = scan_cxt;
	s->open.cxt = AllocSetContextCreate(scan_cxt, "bifang unit", ALLOCSET_SMALL_SIZES);
	s->relid = RelationGetRelid(rel);
	s->relname = pstrdup(RelationGetRelationName(rel));
	if (rel->rd_rel->reltuples > 0)
	{
		s->analyzed_rows = rel->rd_rel->reltuples;
		s->analyzed_bytes = (double) rel->rd_rel->relpages * BLCKSZ;
	}
	if (options != NULL)
		s->options = *options;
	else
		bifang_options_get(s->relid, &s->options);
	s->cols.n = list_length(attrs);
	s->cols.list = palloc0((Size) s->cols.n * sizeof *s->cols.list);
	foreach (lc, attrs)
		bifang_scan_init_column(s, &s->cols.list[i++],
								TupleDescAttr(RelationGetDescr(rel), lfirst_int(lc) - 1));
	bf_scan_next_alone(&s->turn.alone, 1);
	s->turn.next = &s->turn.alone.next;
	s->pred.push = push;
	if (push != NULL)
		s->pred.arena = bifang_arena(scan_cxt, "predicates", BIFANG_ARENA_MAX_METADATA);
	MemoryContextSwitchTo(old);
	return s;
}

/* ---- units ---- */

/* Where nobody has counted rows, ANALYZE knew better than a guess by size. It told of whole pages,
 * so bytes are rounded as it did: of the files that it saw there are as many rows as it found. */
static void
take_analyzed(const BifangScan *s, BfScanPins *pins)
{
	int64 bytes = 0;
	double rows;

	for (int64 i = 0; i < pins->n_sources; i++)
		bytes += pins->sources[i].bytes;
	if (s->analyzed_bytes == 0 || bytes <= 0)
		return;
	rows = s->analyzed_rows * (double) (bytes / BLCKSZ + 1) * BLCKSZ / s->analyzed_bytes;
	for (int64 i = 0; i < pins->n_sources; i++)
		if (!pins->sources[i].counted)
			pins->sources[i].rows = (int64) rint(Min(
				rows * (double) pins->sources[i].bytes / (double) bytes, (double) INT64_MAX / 2));
}

BifangWorklist *
bifang_scan_pin(BifangScan *s, Snapshot snapshot)
{
	if (s->work == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(s->cxt);

		bifang_options_check_read(&s->options);
		s->work = bifang_worklist_open(s->cxt, &s->options, snapshot);
		if (s->estimate && s->work->kind->look != NULL)
			s->work->kind->look(s->work, s->relid);
		take_analyzed(s, s->work->pins);
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
	Assert(s->open.unit == NULL); /* it would be gone with the earlier plan */
	old = MemoryContextSwitchTo(s->cxt);
	if (!s->cols.bound)
		bifang_scan_bind_columns(s);
	s->open.types = NULL;
	s->pred.prune = bifang_prune_flags();
	if (s->pred.push != NULL)
	{
		bifang_pushdown_eval(s->pred.push, s->explain);
		bf_arena_reset(s->pred.arena);
		s->pred.tree =
			bifang_pushdown_pred(s->pred.push, s->pred.arena, bifang_scan_push_column, s);
	}
	bifang_worklist_plan(s->work, s->pred.tree, s->pred.prune,
						 s->estimate			  ? BF_SCAN_ESTIMATE
						 : s->turn.shared != NULL ? BF_SCAN_CUT
												  : BF_SCAN_UNITS);
	if (s->turn.shared != NULL)
		s->turn.planned(s->turn.shared, s->work);
	s->planned = true;
	MemoryContextSwitchTo(old);
	return s->work;
}

static void
close_unit(BifangScan *s)
{
	s->open.unit = NULL;
	s->open.kept = NULL;
	s->open.reader = NULL;
	s->open.batch = NULL;
	s->open.types = NULL;
	MemoryContextReset(s->open.cxt);
}

/* The next unit for this process. */
static BfScanUnit *
next_unit(BifangScan *s)
{
	int32 n = s->turn.next->take(s->turn.next, s->work->list.n_units);

	Assert(n < s->work->list.n_units);
	return n < 0 ? NULL : &s->work->list.units[n];
}

void
bifang_scan_sample(BifangScan *s, int32 n)
{
	Assert(s->turn.shared == NULL && s->open.unit == NULL);
	bf_scan_next_alone(&s->turn.alone, n);
}

void
bifang_scan_share(BifangScan *s, BifangShared *shared, BfScanCounter *next, BifangPlannedFn planned)
{
	Assert(shared == NULL || (next != NULL && s->open.unit == NULL));
	s->turn.shared = shared;
	s->turn.planned = planned;
	s->turn.next = &s->turn.alone.next;
	if (shared == NULL)
		return;
	bf_scan_next_shared(&s->turn.with_others, next);
	s->turn.next = &s->turn.with_others.next;
	s->planned = false;
}

void
bifang_scan_restart(BifangScan *s)
{
	close_unit(s);
	s->again |= s->count.units_read > 0;
	if (s->pred.push != NULL && s->planned && bifang_pushdown_eval(s->pred.push, s->explain))
		s->planned = false;
	bf_scan_next_alone(&s->turn.alone, s->turn.alone.step);
	s->slice.row = 0;
	s->slice.n = 0;
	s->slice.rows_max = 0;
}

bool
bifang_scan_fill(BifangScan *s, Snapshot snapshot)
{
	BfError err;

	if (!s->planned)
		bifang_scan_work(s, snapshot);
	if (s->slice.rows == NULL)
		bifang_scan_make_room(s);
	s->slice.row = 0;
	s->slice.n = 0;
	bf_error_clear(&err);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (s->open.batch != NULL && s->slice.at < bf_batch_n(s->open.batch))
		{
			bifang_scan_fill_slice(s);
			return true;
		}
		if (s->open.reader == NULL)
		{
			BfScanUnit *u = next_unit(s);

			if (u == NULL)
				return false;
			bifang_scan_open_unit(s, u);
		}
		Assert(s->open.unit != NULL && s->open.reader != NULL);
		BIFANG_CHECK(s->open.reader->next(s->open.reader, &s->open.batch, &err), &err);
		if (s->open.batch == NULL)
			close_unit(s);
		else
			bifang_scan_begin_batch(s);
	}
}
