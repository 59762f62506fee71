/*
 * pg/lake/check_bytes.c: the part of bifang.check() that reads ledgers.
 *
 * Each batch is walked and its checksum verified; entries must follow each other without a gap, up
 * to what was acknowledged. The schema must be there too: rows can be read only under it.
 */
#include "pg/lake/check.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/read/ledger_reader.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

typedef struct Walk
{
	BfLiveWalk *live; /* one of the two */
	BfOffloadWalk *offloaded;
	int64 next;			  /* entry that must come next */
	int64 files_position; /* where the last batch of the live files ends */
	const char *trouble;
} Walk;

static bool
step(Walk *w, const BfBatchHeader *h)
{
	CHECK_FOR_INTERRUPTS();
	if (h->base_offset != w->next || h->last_offset < h->base_offset ||
		h->n_records != h->last_offset - h->base_offset + 1)
	{
		w->trouble = psprintf("batch of entries " INT64_FORMAT " to " INT64_FORMAT
							  " with %d records where entry " INT64_FORMAT " was expected",
							  h->base_offset, h->last_offset, h->n_records, w->next);
		return false;
	}
	Assert(h->last_offset >= w->next);
	w->next = h->last_offset + 1;
	return true;
}

static BfStatus
open_walk(BfArena *arena, const BifangLedger *l, const BfLogTail *tail, const BfRangeSet *all,
		  Walk *w, BfError *err)
{
	BfOffloadFile *file;

	if (l->state == BIFANG_LEDGER_OFFLOADED)
	{
		BF_TRY(bf_offload_open(arena, l->offload_path, NULL, &file, err));
		return bf_offload_walk_new(arena, file, all, &w->offloaded, err);
	}
	return bf_live_walk_new(arena, l->live_dir, tail, all, NULL, &w->live, err);
}

/* From batch to batch until the end, or until one is not what must come next. */
static BfStatus
walk_batches(Walk *w, BfError *err)
{
	const uint8_t *batch;
	const char *path;
	BfBatchHeader h;
	int64_t position;

	for (;;)
	{
		if (w->live != NULL)
			BF_TRY(bf_live_walk_next(w->live, &h, &batch, &position, &path, err));
		else
			BF_TRY(bf_offload_walk_next(w->offloaded, &h, &batch, &position, &path, err));
		if (batch == NULL || !step(w, &h))
			return BF_OK;
		if (w->live != NULL && !bf_live_walk_in_tail(w->live))
			w->files_position = position + h.total_bytes;
	}
}

static BfStatus
walk(BfArena *arena, const BifangLedger *l, const BfLogTail *tail, const BfRangeSet *all, Walk *w,
	 BfError *err)
{
	BF_TRY(open_walk(arena, l, tail, all, w, err));
	Assert((w->live != NULL) != (w->offloaded != NULL));
	BF_TRY(walk_batches(w, err));
	if (w->live != NULL && w->trouble == NULL && all->ranges[0].first < l->files_entry &&
		w->next >= l->files_entry && w->files_position != l->end_position)
		w->trouble =
			psprintf("ends at byte " INT64_FORMAT " where " INT64_FORMAT " was acknowledged",
					 w->files_position, l->end_position);
	return BF_OK;
}

/* Rows can be read only under the schema that the ledger has with it. */
static BfStatus
check_schema(BfArena *arena, const BifangLedger *l, BfError *err)
{
	BfSchema *schema;

	if (l->state == BIFANG_LEDGER_OFFLOADED)
		return bf_exec_ledger_schema(arena, BF_LEDGER_OFFLOAD, l->offload_path, &schema, err);
	return bf_exec_ledger_schema(arena, BF_LEDGER_LIVE, l->live_dir, &schema, err);
}

/* Nothing is left of it but what Parquet has. */
static void
check_trimmed(BifangCheck *c, BfArena *arena, const BifangLedger *l, const BfRangeSet *have)
{
	BfRangeSet trimmed;
	BfError err = {0};

	BIFANG_CHECK(
		bf_rangeset_subtract(arena, have, bf_coverage_of(&c->lake.parquet, l->id), &trimmed, &err),
		&err);
	if (trimmed.n > 0)
		bifang_check_found(c, "error", bifang_check_ledger_name(l->id),
						   "lost: entries %s were trimmed", bifang_check_ranges_text(&trimmed));
}

static void
check_kept(BifangCheck *c, BfArena *arena, const BifangLedger *l, const BfRangeSet *have)
{
	const BfLogTail *tail = bifang_ledger_tail(l, c->snap);
	Walk w = {0};
	BfError err = {0};
	BfStatus status = BF_OK;

	for (int32_t i = 0; i < have->n && status == BF_OK && w.trouble == NULL; i++)
	{
		const BfRangeSet part = {1, &have->ranges[i]};

		w.next = have->ranges[i].first;
		status = walk(arena, l, tail, &part, &w, &err);
		if (status == BF_OK && w.trouble == NULL && w.next <= have->ranges[i].last)
			w.trouble = psprintf("ends at entry " INT64_FORMAT ", acknowledged were " INT64_FORMAT,
								 w.next, have->ranges[i].last + 1);
	}
	if (status == BF_OK && w.trouble == NULL && have->n > 0)
		status = check_schema(arena, l, &err);
	if (status == BF_ERR_CANCEL || status == BF_ERR_NOMEM || status == BF_ERR_HOST)
		bifang_report(&err);
	if (status != BF_OK)
		bifang_check_found(c, "error", bifang_check_ledger_name(l->id), "lost: \"%s\": %s",
						   err.object, err.text);
	else if (w.trouble != NULL)
		bifang_check_found(c, "error", bifang_check_ledger_name(l->id), "lost: %s", w.trouble);
}

void
bifang_check_bytes(BifangCheck *c, const BifangLedger *l)
{
	MemoryContext cxt = AllocSetContextCreate(c->cxt, "bifang check", ALLOCSET_DEFAULT_SIZES);
	BfArena *arena = bifang_arena(cxt, "check", BIFANG_ARENA_MAX_SCAN);
	BfRangeSet lost = bifang_ledger_lost(arena, l);
	BfRange all = {0, l->end_entry - 1};
	BfRangeSet have = {1, &all};
	BfError err = {0};

	Assert(l->end_entry > 0);
	BIFANG_CHECK(bf_rangeset_subtract(arena, &have, &lost, &have, &err), &err);
	if (l->state == BIFANG_LEDGER_TRIMMED)
		check_trimmed(c, arena, l, &have);
	else
		check_kept(c, arena, l, &have);
	MemoryContextDelete(cxt);
}
