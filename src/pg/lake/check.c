/*
 * pg/lake/check.c: bifang.check(): is every acknowledged row of a table there exactly once?
 *
 * Under one snapshot, for every ledger:
 *
 *   P = entries that Parquet files of `main` hold     (bifang.covered of main's snapshot)
 *   L = entries that logical files name, file by file
 *   C = entries that the lake says it covers          E = [0, end)
 *
 *   files of L don't overlap, nor do L and P          else "overlap": rows would be read twice
 *   L + P = C                                         else "gap": C hides rows that nothing holds
 *   C within E                                        else "beyond": the lake names what was lost
 *   each entry of E that is not in P can be read      else "lost": bytes missing or damaged; but
 *                                                     for those that repair() has told of before
 *
 * And beyond single ledgers: logical files and coverage name known ledgers only ("dangling"), data
 * files of the lake exist, and nothing lies about that nothing names ("orphan", severity notice: it
 * costs space and harms nobody; bifang.remove_garbage() takes it away). That is what transactions
 * leave as a matter of course, so it is told of only when it got old (bifang.garbage_grace).
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "exec/read/ledger_reader.h"
#include "pg/catalog/cache.h"
#include "pg/lake/garbage.h"
#include "pg/lake/lake.h"
#include "pg/lake/leftovers.h"
#include "pg/lake/partitions.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/settings.h"

PG_FUNCTION_INFO_V1(bifang_check);

typedef struct Check
{
	ReturnSetInfo *rsinfo;
	const char *partition; /* of the table that was asked for; NULL: it is that table */
	MemoryContext cxt;
	BfArena *arena;
	BifangTable t;
	const BfIcePlan *plan;
	List *ledgers;
} Check;

BF_PRINTF(4, 5)
static void
found(Check *c, const char *severity, const char *subject, const char *fmt, ...)
{
	char text[1024];
	Datum values[3];
	bool nulls[3] = {false};
	va_list args;

	Assert(c->rsinfo->setDesc->natts == (int) lengthof(values));
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	values[0] = CStringGetTextDatum(severity);
	subject = bifang_shown(subject);
	if (c->partition != NULL)
		subject = psprintf("%s: %s", c->partition, subject);
	values[1] = CStringGetTextDatum(subject);
	values[2] = CStringGetTextDatum(bifang_shown(text));
	tuplestore_putvalues(c->rsinfo->setResult, c->rsinfo->setDesc, values, nulls);
}

static char *
ledger_name(int64 id)
{
	return psprintf("ledger " INT64_FORMAT, id);
}

static char *
ranges_text(const BfRangeSet *s)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int32_t i = 0; i < s->n && text.len < 200; i++)
		appendStringInfo(&text, "%s" INT64_FORMAT "-" INT64_FORMAT, i == 0 ? "" : ", ",
						 s->ranges[i].first, s->ranges[i].last);
	if (text.len >= 200)
		appendStringInfoString(&text, ", ...");
	return text.data;
}

static const BifangLedger *
find_ledger(const Check *c, int64 id)
{
	ListCell *lc;

	foreach (lc, c->ledgers)
		if (((BifangLedger *) lfirst(lc))->id == id)
			return lfirst(lc);
	return NULL;
}

/* Coverage ------------------------------------------------------------------------------------ */

typedef BfStatus (*Combine)(BfArena *a, const BfRangeSet *x, const BfRangeSet *y, BfRangeSet *out,
							BfError *err);

static BfRangeSet
combined(Check *c, Combine combine, const BfRangeSet *x, const BfRangeSet *y)
{
	BfRangeSet out;
	BfError err = {0};

	BIFANG_CHECK(combine(c->arena, x, y, &out, &err), &err);
	return out;
}

static void
check_coverage(Check *c, int64 id, int64 end)
{
	const BfRangeSet *parquet = bf_coverage_of(&c->plan->covered_parquet, id);
	const BfRangeSet *covered = bf_coverage_of(&c->plan->covered, id);
	BfRange all = {0, end - 1};
	BfRangeSet have = {end > 0 ? 1 : 0, &all};
	BfRangeSet logical = {0};
	BfRangeSet wrong;

	Assert(end >= 0);
	for (int32_t i = 0; i < c->plan->n_files; i++)
	{
		const BfIceDataFile *f = &c->plan->files[i];

		if (!f->logical || f->log.ledger_id != id)
			continue;
		wrong = combined(c, bf_rangeset_intersect, &logical, &f->log.ranges);
		if (wrong.n > 0)
			found(c, "error", ledger_name(id), "overlap: entries %s are named by two logical files",
				  ranges_text(&wrong));
		logical = combined(c, bf_rangeset_union, &logical, &f->log.ranges);
	}
	/* What a logical file names too is read from Parquet alone until the branch's next commit. */
	logical = combined(c, bf_rangeset_union, &logical, parquet);
	wrong = combined(c, bf_rangeset_subtract, covered, &logical);
	if (wrong.n > 0)
		found(c, "error", ledger_name(id),
			  "gap: entries %s count as covered but nothing holds them", ranges_text(&wrong));
	wrong = combined(c, bf_rangeset_subtract, &logical, covered);
	if (wrong.n > 0)
		found(c, "error", ledger_name(id),
			  "overlap: entries %s are in the lake but do not count as covered",
			  ranges_text(&wrong));
	wrong = combined(c, bf_rangeset_subtract, covered, &have);
	if (wrong.n > 0)
		found(c, "error", ledger_name(id),
			  "beyond: entries %s are covered but the end is " INT64_FORMAT, ranges_text(&wrong),
			  end);
}

/* Bytes --------------------------------------------------------------------------------------- */

typedef struct Walk
{
	BfLogWalk *live; /* one of the two */
	BfOffloadWalk *offloaded;
	int64 next; /* entry that must come next */
	int64 last_position;
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
open_walk(BfArena *arena, const BifangLedger *l, const BfRangeSet *all, Walk *w, BfError *err)
{
	BfLogDir *dir;
	BfOffloadFile *file;

	if (l->state == BIFANG_LEDGER_OFFLOADED)
	{
		BF_TRY(bf_offload_open(arena, l->offload_path, NULL, &file, err));
		return bf_offload_walk_new(arena, file, all, &w->offloaded, err);
	}
	BF_TRY(bf_log_dir_open(arena, l->live_dir, NULL, &dir, err));
	return bf_log_walk_new(arena, dir, all, true, &w->live, err);
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
			BF_TRY(bf_log_walk_next(w->live, &h, &batch, &position, &path, err));
		else
			BF_TRY(bf_offload_walk_next(w->offloaded, &h, &batch, &position, &path, err));
		if (batch == NULL || !step(w, &h))
			return BF_OK;
		w->last_position = position + h.total_bytes;
	}
}

static BfStatus
walk(BfArena *arena, const BifangLedger *l, const BfRangeSet *all, Walk *w, BfError *err)
{
	BF_TRY(open_walk(arena, l, all, w, err));
	Assert((w->live != NULL) != (w->offloaded != NULL));
	BF_TRY(walk_batches(w, err));
	if (w->live != NULL && w->trouble == NULL && w->next == l->end_entry &&
		w->last_position != l->end_position)
		w->trouble =
			psprintf("ends at byte " INT64_FORMAT " where " INT64_FORMAT " was acknowledged",
					 w->last_position, l->end_position);
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

static void
check_bytes(Check *c, const BifangLedger *l)
{
	MemoryContext cxt = AllocSetContextCreate(c->cxt, "bifang check", ALLOCSET_DEFAULT_SIZES);
	BfArena *arena = bifang_arena(cxt, "check", BIFANG_ARENA_MAX_SCAN);
	BfRange all = {0, l->end_entry - 1};
	BfRangeSet have = {1, &all};
	BfRangeSet lost = bifang_ledger_lost(arena, l);
	Walk w = {0};
	BfError err = {0};
	BfStatus status = BF_OK;

	Assert(l->end_entry > 0);
	have = combined(c, bf_rangeset_subtract, &have, &lost);
	if (l->state == BIFANG_LEDGER_TRIMMED)
	{
		const BfRangeSet *parquet = bf_coverage_of(&c->plan->covered_parquet, l->id);
		BfRangeSet trimmed = combined(c, bf_rangeset_subtract, &have, parquet);

		if (trimmed.n > 0)
			found(c, "error", ledger_name(l->id), "lost: entries %s were trimmed",
				  ranges_text(&trimmed));
		return;
	}
	for (int32_t i = 0; i < have.n && status == BF_OK && w.trouble == NULL; i++)
	{
		const BfRangeSet part = {1, &have.ranges[i]};

		w.next = have.ranges[i].first;
		status = walk(arena, l, &part, &w, &err);
		if (status == BF_OK && w.trouble == NULL && w.next <= have.ranges[i].last)
			w.trouble = psprintf("ends at entry " INT64_FORMAT ", acknowledged were " INT64_FORMAT,
								 w.next, have.ranges[i].last + 1);
	}
	if (status == BF_OK && w.trouble == NULL && have.n > 0)
		status = check_schema(arena, l, &err);
	if (status == BF_ERR_CANCEL || status == BF_ERR_NOMEM)
		bifang_report(&err);
	if (status != BF_OK)
		found(c, "error", ledger_name(l->id), "lost: \"%s\": %s", err.object, err.text);
	else if (w.trouble != NULL)
		found(c, "error", ledger_name(l->id), "lost: %s", w.trouble);
	MemoryContextDelete(cxt);
}

/* Names --------------------------------------------------------------------------------------- */

static void
check_names(Check *c)
{
	const BfHost *host = bifang_host();

	for (int32_t i = 0; i < c->plan->n_files; i++)
	{
		const BfIceDataFile *f = &c->plan->files[i];
		BfPathInfo info;
		BfError err = {0};

		CHECK_FOR_INTERRUPTS();
		if (f->logical)
		{
			if (find_ledger(c, f->log.ledger_id) == NULL)
				found(c, "error", ledger_name(f->log.ledger_id),
					  "dangling: named by \"%s\" but not a ledger of this database", f->path);
			continue;
		}
		BIFANG_CHECK(host->stat(host, f->path, &info, &err), &err);
		if (info.kind != BF_PATH_FILE)
			found(c, "error", "data file", "lost: \"%s\" does not exist", f->path);
		else if (f->file_size > 0 && info.size != f->file_size)
			found(c, "error", "data file",
				  "lost: \"%s\" has " INT64_FORMAT " bytes, the manifest says " INT64_FORMAT,
				  f->path, (int64) info.size, (int64) f->file_size);
	}
	for (int32_t i = 0; i < c->plan->covered.n; i++)
	{
		int64 id = c->plan->covered.items[i].ledger_id;
		const BfRangeSet *parquet = bf_coverage_of(&c->plan->covered_parquet, id);
		BfRangeSet rest =
			combined(c, bf_rangeset_subtract, &c->plan->covered.items[i].ranges, parquet);

		/* What is in Parquet needs its ledger no more. */
		if (find_ledger(c, id) == NULL && rest.n > 0)
			found(c, "error", ledger_name(id),
				  "dangling: entries %s are covered but it is not a ledger of this database",
				  ranges_text(&rest));
	}
}

static void
found_orphan(void *arg, const BifangGarbage *g)
{
	const BfHost *host = bifang_host();
	BfPathInfo info;
	BfError err = {0};

	BIFANG_CHECK(host->stat(host, g->path, &info, &err), &err);
	if (info.kind != BF_PATH_MISSING &&
		host->now_us(host) - info.mtime_us >= (int64) bifang_garbage_grace_s * 1000000)
		found(arg, "notice", g->path, "orphan: nothing names it");
}

static void
found_left(void *arg, const char *path, const char *what)
{
	found(arg, "notice", path, "left over: %s", what);
}

static void
check_orphans(Check *c)
{
	bifang_unmarked_ledgers(c->t.options.live_dir, found_left, c);
	bifang_orphan_ledgers(c->t.options.live_dir, c->t.uuid, found_orphan, c);
	bifang_orphan_offloads(&c->t.row, c->t.ice, found_orphan, c);
}

static void
check_table(Oid relid, ReturnSetInfo *rsinfo, const char *partition)
{
	Check c = {.rsinfo = rsinfo, .partition = partition, .cxt = CurrentMemoryContext};
	Snapshot snap;
	ListCell *lc;

	bifang_table_check_owner(relid);
	snap = RegisterSnapshot(bifang_work_snapshot());
	bifang_table_open(relid, snap, c.cxt, &c.t);
	if (!bifang_catalog_is_adopted())
		found(&c, "error", "catalog", "not adopted: %s %s", bifang_catalog_not_adopted_text(),
			  bifang_catalog_adoption_hint());
	c.arena = bifang_arena(c.cxt, "check", BIFANG_ARENA_MAX_METADATA);
	c.plan = bifang_lake_open(c.cxt, c.t.row.metadata_location)->plan;
	c.ledgers = bifang_catalog_ledgers(c.t.row.id, snap);
	check_names(&c);
	foreach (lc, c.ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		check_coverage(&c, l->id, l->end_entry);
		if (l->end_entry > 0)
			check_bytes(&c, l);
	}
	UnregisterSnapshot(snap);
	check_orphans(&c);
}

Datum
bifang_check(PG_FUNCTION_ARGS)
{
	Oid relid = PG_GETARG_OID(0);
	List *tables;
	ListCell *lc;

	InitMaterializedSRF(fcinfo, 0);
	tables = bifang_tables_of(relid);
	foreach (lc, tables)
	{
		Oid one = lfirst_oid(lc);
		MemoryContext cxt =
			AllocSetContextCreate(CurrentMemoryContext, "bifang check", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(cxt);

		check_table(one, (ReturnSetInfo *) fcinfo->resultinfo,
					one == relid ? NULL : bifang_relation_text(one));
		MemoryContextSwitchTo(old);
		MemoryContextDelete(cxt);
	}
	return (Datum) 0;
}
