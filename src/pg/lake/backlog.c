/*
 * pg/lake/backlog.c: see backlog.h.
 *
 *   ledger      0 ......... covered ......... end
 *               named by the lake | uncommitted
 *               Parquet | log
 *
 * When rows were acknowledged stands in bifang.append and bifang.tail, of which commit and roll
 * prune what is older than the last end. Of a ledger of which the lake has nothing the oldest row
 * is as old as the ledger.
 */
#include "iceberg/commit.h"
#include "pg/lake/backlog.h"

#include "miscadmin.h"
#include "datatype/timestamp.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pg/catalog/cache.h"
#include "pg/catalog/ledgers.h"
#include "pg/catalog/tail.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/write/table.h"

/* Bytes of so many of its rows, on average. */
static int64
bytes_of(const BifangLedger *l, int64 rows)
{
	int64 known = l->end_entry - l->end_segment;

	Assert(rows >= 0 && rows <= l->end_entry);
	return known <= 0 ? 0
					  : (int64) ((double) (l->end_position + l->tail_bytes) / (double) known *
								 (double) rows);
}

static void
add_uncommitted(BfBacklog *b, BfArena *a, const BifangLedger *l, const BfCoverage *covered,
				Snapshot snap)
{
	BfRange all = {0, l->end_entry - 1};
	BfRangeSet have = {1, &all};
	BfRangeSet lost = bifang_ledger_lost(a, l);
	BfRangeSet left;
	BfError err = {0};
	int64 since;

	BIFANG_CHECK(bf_rangeset_subtract(a, &have, &lost, &have, &err), &err);
	BIFANG_CHECK(bf_rangeset_subtract(a, &have, bf_coverage_of(covered, l->id), &left, &err), &err);
	if (left.n == 0)
		return;
	since = left.ranges[0].first == 0
				? l->created_at
				: bifang_catalog_written_at(l->id, left.ranges[0].first, snap);
	if (since == PG_INT64_MAX)
		since = l->created_at;
	bf_backlog_add(&b->uncommitted, bf_rangeset_count(&left), bytes_of(l, bf_rangeset_count(&left)),
				   since);
	b->closed_uncommitted += l->state == BIFANG_LEDGER_CLOSED;
}

static void
add_ledger(BfBacklog *b, BfArena *a, const BifangLedger *l, const BfCoverage *covered,
		   Snapshot snap)
{
	int64 bytes = bytes_of(l, l->end_entry);

	add_uncommitted(b, a, l, covered, snap);
	if (l->state == BIFANG_LEDGER_OPEN)
	{
		bf_backlog_add(&b->open, l->end_entry, bytes, l->created_at);
		b->open_ledgers++;
		b->fullest_bytes = Max(b->fullest_bytes, bytes);
		b->fullest_rows = Max(b->fullest_rows, l->end_entry);
	}
	if (l->state == BIFANG_LEDGER_CLOSED)
	{
		bf_backlog_add(&b->closed, l->end_entry, bytes, l->closed_at);
		b->closed_ledgers++;
	}
	if (l->state == BIFANG_LEDGER_OPEN && l->files_entry < l->end_entry)
		bf_backlog_add(&b->tail, l->end_entry - l->files_entry, l->tail_bytes,
					   bifang_catalog_tail_written_at(l->id, l->files_entry, snap));
}

/* Of metadata, in its clamped range. */
static int64
time_of(int64 ms)
{
	const int64 most = PG_INT64_MAX / 4000;

	return Max(Min(ms, most), -most) * 1000 -
		   (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
}

/* When the commit was that named the oldest of it: files that were merged keep the sequence number.
 * One whose snapshot has expired counts as old. */
static int64
committed_at(const BfIceMetadata *m, const BfIceDataFile *f)
{
	for (int32_t i = 0; i < m->snapshots.n; i++)
		if (m->snapshots.all[i].sequence_number == f->sequence_number)
			return time_of(m->snapshots.all[i].timestamp_ms);
	return 0;
}

static void
add_logical(BfBacklog *b, const BifangLake *lake)
{
	for (int32_t i = 0; i < lake->plan->n_files; i++)
	{
		const BfIceDataFile *f = &lake->plan->files[i];

		if (f->logical && f->record_count > 0)
			bf_backlog_add(&b->log, f->record_count, f->file_size,
						   committed_at(lake->table->metadata, f));
	}
}

static bool
is_head(const BfIceMetadata *m, int64 snapshot_id)
{
	for (int32_t i = 0; i < m->refs.n; i++)
		if (m->refs.all[i].snapshot_id == snapshot_id)
			return true;
	return false;
}

/* Snapshots that might expire. Which of them do, what refs say of themselves, is known when they
 * are to: where it is none the job is not tried again soon. */
static void
add_history(BfBacklog *b, const BfIceTable *t)
{
	const BfIceMetadata *m = t->metadata;
	int64 now = GetCurrentTimestamp();
	BfIceExpiry rule;
	BfError err = {0};

	/* History that another engine made goes only where its table says so. */
	if (!bf_ice_expiry(m, &rule) && bf_ice_property(m, BIFANG_ORIGIN_PROPERTY) == NULL)
		return;
	if (m->snapshots.n <= rule.min_snapshots || bf_ice_can_commit(t, &err) != BF_OK)
		return;
	for (int32_t i = 0; i < m->snapshots.n; i++)
	{
		int64 made = time_of(m->snapshots.all[i].timestamp_ms);

		if (!is_head(m, m->snapshots.all[i].id) && made < now &&
			(now - made) / 1000 > rule.max_snapshot_age_ms)
			bf_backlog_add(&b->history, 1, 0, made + rule.max_snapshot_age_ms * 1000);
	}
}

void
bifang_backlog_of(const BifangLakeTable *row, Snapshot snap, BfBacklog *out)
{
	MemoryContext cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang backlog", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	BfArena *arena = bifang_arena(cxt, "backlog", BIFANG_ARENA_MAX_METADATA);
	List *ledgers = bifang_catalog_ledgers(row->id, snap);
	const BifangLake *lake = NULL;
	ListCell *lc;

	bf_backlog_clear(out);
	foreach (lc, ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (l->end_entry == 0 || l->state == BIFANG_LEDGER_TRIMMED)
			continue;
		if (lake == NULL)
			lake = bifang_lake_open(cxt, row->metadata_location);
		add_ledger(out, arena, l, &lake->plan->covered, snap);
	}
	if (lake != NULL)
	{
		add_logical(out, lake);
		add_history(out, lake->table);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}
