/*
 * pg/lake/check.c: bifang.check(): is every acknowledged row of a table there exactly once?
 *
 * Under one snapshot, for every ledger:
 *
 *   P = entries that Parquet files of `main` hold     (bifang.covered-parquet of main's snapshot)
 *   L = entries that logical files name, file by file
 *                                                     E = [0, end)
 *
 *   files of L don't overlap                          else "overlap": rows would be read twice.
 *                                                     What is in P too is read from P alone
 *   L + P within E                                    else "beyond": the lake names what was lost
 *   each entry of E that is not in P can be read      else "lost": bytes missing or damaged; but
 *                                                     for those that repair() has told of before
 *
 * What is in neither L nor P is live, so there can be no gap between them.
 *
 * And beyond single ledgers: logical files and coverage name known ledgers only ("dangling"), files
 * of the lake exist, and nothing lies about that nothing names ("orphan", severity notice: it
 * costs space and harms nobody; bifang.remove_garbage() takes it away). That is what transactions
 * leave as a matter of course, so it is told of only when it got old (bifang.garbage_grace). An
 * offload file of a ledger that is not in the catalog stays ("unknown", a notice, too).
 *
 * Memory is bounded by the number of ledgers and of ranges of entries, not by that of files.
 */
#include "pg/lake/check.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "base/sort.h"
#include "pg/lake/garbage.h"
#include "pg/lake/leftovers.h"
#include "pg/lake/partitions.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/progress.h"
#include "pg/server/settings.h"

PG_FUNCTION_INFO_V1(bifang_check);

static int
compare_ledgers(const void *x, const void *y)
{
	const BifangLedger *const *a = x;
	const BifangLedger *const *b = y;

	return ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

static void
read_ledgers(BifangCheck *c, Snapshot snap)
{
	List *ledgers = bifang_catalog_ledgers(c->t.row.id, snap);
	ListCell *lc;

	c->ledgers = palloc(sizeof *c->ledgers * (Size) Max(1, list_length(ledgers)));
	foreach (lc, ledgers)
		c->ledgers[c->n_ledgers++] = lfirst(lc);
	bf_sort(c->ledgers, (size_t) c->n_ledgers, sizeof *c->ledgers, compare_ledgers);
}

/* What nothing names -------------------------------------------------------------------------- */

/* What is younger may still go by itself. */
static bool
is_old(const char *path)
{
	const BfHost *host = bifang_host();
	BfPathInfo info;
	BfError err = {0};

	return host->stat(host, path, &info, &err) == BF_OK && info.kind != BF_PATH_MISSING &&
		   host->now_us(host) - info.mtime_us >= (int64) bifang_garbage_grace_s * 1000000;
}

static void
found_orphan(void *arg, const BifangGarbage *g)
{
	if (is_old(g->path))
		bifang_check_found(arg, "notice", g->path, "orphan: nothing names it");
}

static void
found_unknown(void *arg, const BifangGarbage *g)
{
	if (is_old(g->path))
		bifang_check_found(arg, "notice", g->path, "unknown: the catalog does not have its ledger");
}

static void
found_left(void *arg, const char *path, const char *what)
{
	bifang_check_found(arg, "notice", path, "left over: %s", what);
}

static void
check_orphans(BifangCheck *c)
{
	bifang_unmarked_ledgers(c->t.options.live_dir, found_left, c);
	bifang_orphan_ledgers(c->t.options.live_dir, c->t.uuid, found_orphan, c);
	bifang_orphan_offloads(&c->t.row, c->t.ice, found_orphan, found_unknown, c);
}

static void
check_table(Oid relid, ReturnSetInfo *rsinfo, const char *partition)
{
	BifangCheck c = {.rsinfo = rsinfo, .partition = partition, .cxt = CurrentMemoryContext};
	Snapshot snap;

	bifang_table_check_owner(relid);
	bifang_progress_begin(BIFANG_COMMAND_CHECK, relid);
	c.snap = snap = RegisterSnapshot(bifang_work_snapshot());
	bifang_table_open(relid, snap, c.cxt, &c.t);
	if (!bifang_catalog_is_adopted())
		bifang_check_found(&c, "error", "catalog", "not adopted: %s %s",
						   bifang_catalog_not_adopted_text(), bifang_catalog_adoption_hint());
	c.arena = bifang_arena(c.cxt, "check", BIFANG_ARENA_MAX_METADATA);
	c.scratch = bifang_arena(c.cxt, "check, a file", BIFANG_ARENA_MAX_METADATA);
	read_ledgers(&c, snap);
	bifang_progress_phase(BIFANG_PHASE_FILES);
	bifang_check_lake(&c);
	bifang_progress_phase(BIFANG_PHASE_LEDGERS);
	bifang_progress_total(c.n_ledgers, 0);
	for (int32 i = 0; i < c.n_ledgers; i++)
	{
		CHECK_FOR_INTERRUPTS();
		bifang_progress_add(1, 0);
		if (c.ledgers[i]->end_entry > 0)
			bifang_check_bytes(&c, c.ledgers[i]);
	}
	UnregisterSnapshot(snap);
	bifang_progress_phase(BIFANG_PHASE_LEFTOVERS);
	check_orphans(&c);
	bifang_progress_end();
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
