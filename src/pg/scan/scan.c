/*
 * pg/scan/scan.c: rows of a foreign table, many at a time; see scan.h.
 */
#include "pg/scan/internal.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/scan/parallel.h"
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
	s->unit_step = 1;
	s->push = push;
	if (push != NULL)
		s->pred_arena = bifang_arena(scan_cxt, "predicates", BIFANG_ARENA_MAX_METADATA);
	MemoryContextSwitchTo(old);
	return s;
}

/* ---- predicates ---- */

/* Of the open unit; facts about rows have no vectors. */
static const BfVector *
vector_of(void *arg, int32 field)
{
	const BifangScan *s = arg;

	if (s->types != NULL)
		return &s->batch->cols[field];
	for (int32 v = 0; v < s->n_vectors; v++)
		if (s->vector_numbers[v] == field)
			return &s->batch->cols[v];
	return NULL;
}

static const BfVector *
delete_vector_of(void *arg, int32 k)
{
	const BifangScan *s = arg;

	return &s->batch->cols[s->delete_vector + k];
}

/* Which rows of the new batch count: not deleted, and no predicate says no. */
static void
select_rows(BifangScan *s)
{
	const BfBatch *b = s->batch;
	uint64 rows[BF_VALIDITY_WORDS];
	int32 deleted = 0;
	int32 n = 0;
	BfError err;

	s->at = 0;
	s->sel = b->sel;
	s->n_sel = bf_batch_n(b);
	if (s->deletes == NULL && s->filter == NULL)
		return;
	memset(rows, b->sel == NULL ? 0xff : 0, sizeof rows);
	if (b->sel != NULL)
		for (int32 i = 0; i < b->n_sel; i++)
			bf_validity_set(rows, b->sel[i], true);
	bf_error_clear(&err);
	if (s->deletes != NULL && bf_deletes_apply(s->deletes, b->first_row, b->n_rows,
											   delete_vector_of, s, rows, &err) != BF_OK)
	{
		bf_error_object(&err, s->unit->path);
		bifang_report(&err);
	}
	if (s->deletes != NULL)
		deleted = s->n_sel - bf_validity_count(rows, b->n_rows);
	if (s->filter != NULL)
		BIFANG_CHECK(bf_pred_state_filter(s->filter, b->n_rows, vector_of, s, rows, &err), &err);
	for (int32 w = 0; w * 64 < b->n_rows; w++)
	{
		uint64 word = rows[w];

		if (b->n_rows - w * 64 < 64)
			word &= (UINT64CONST(1) << (b->n_rows - w * 64)) - 1;
		for (; word != 0; word &= word - 1)
			s->sel_room[n++] = (uint16) (w * 64 + __builtin_ctzll(word));
	}
	s->count.rows_filtered += s->n_sel - n - deleted;
	if (n == b->n_rows)
		s->sel = NULL;
	else
		s->sel = s->sel_room;
	s->n_sel = n;
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
						 s->estimate		 ? BIFANG_PLAN_ESTIMATE
						 : s->shared != NULL ? BIFANG_PLAN_CUT
											 : BIFANG_PLAN_UNITS);
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
	s->filter = NULL;
	s->deletes = NULL;
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
static BifangUnit *
next_unit(BifangScan *s)
{
	int32 n;

	if (s->shared != NULL)
		n = bifang_shared_next(s->shared);
	else
	{
		n = s->next_unit;
		s->next_unit += s->unit_step;
	}
	return n < s->work->n_units ? &s->work->units[n] : NULL;
}

void
bifang_scan_restart(BifangScan *s)
{
	close_unit(s);
	if (s->push != NULL && s->planned && bifang_pushdown_eval(s->push, s->explain))
		s->planned = false;
	s->next_unit = 0;
	s->row = 0;
	s->n_rows = 0;
}

bool
bifang_scan_fill(BifangScan *s, Snapshot snapshot)
{
	BfError err;

	if (!s->planned)
		bifang_scan_work(s, snapshot);
	if (s->sel_room == NULL)
		bifang_scan_make_room(s);
	s->row = 0;
	s->n_rows = 0;
	bf_error_clear(&err);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (s->batch != NULL && s->at < s->n_sel)
		{
			bifang_scan_fill_slice(s);
			return true;
		}
		if (s->reader == NULL)
		{
			BifangUnit *u = next_unit(s);

			if (u == NULL)
				return false;
			bifang_scan_open_unit(s, u);
		}
		BIFANG_CHECK(s->reader->next(s->reader, &s->batch, &err), &err);
		if (s->batch == NULL)
			close_unit(s);
		else
			select_rows(s);
	}
}
