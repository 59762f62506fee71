/*
 * pg/scan/worklist.c: what a scan has to read; see worklist.h.
 */
#include "pg/scan/worklist_internal.h"

#include "utils/memutils.h"

#include "pg/server/host.h"

const char *
bifang_tier_name(BifangTier t)
{
	switch (t)
	{
		case BIFANG_TIER_PARQUET: return "parquet";
		case BIFANG_TIER_OFFLOAD: return "offload";
		case BIFANG_TIER_LIVE: return "live";
		case BIFANG_TIER_KAFKA: return "kafka";
		case BIFANG_TIER_COUNT: break;
	}
	return "?";
}

/* Pieces that keep a process busy for some tenths of a second; logs take longer for a byte. */
#define PIECE_BYTES (32 * 1024 * 1024)
#define PIECE_LOG_BYTES (8 * 1024 * 1024)
#define PIECES_MAX 1024

BifangUnit *
bifang_unit_add(BifangUnits *us, BifangTier tier, const char *path)
{
	BifangWorklist *w = us->w;
	BifangUnit *u;

	if (w->n_units == us->room)
	{
		us->room = Max(us->room * 2, 16);
		w->units = w->units == NULL ? palloc_extended((Size) us->room * sizeof *u, MCXT_ALLOC_HUGE)
									: repalloc_huge(w->units, (Size) us->room * sizeof *u);
	}
	u = &w->units[w->n_units++];
	memset(u, 0, sizeof *u);
	u->tier = tier;
	u->path = path;
	u->ledger_id = -1;
	u->pieces = 1;
	return u;
}

void
bifang_unit_drop(BifangUnits *us)
{
	us->w->units_pruned++;
	us->w->n_units--;
}

bool
bifang_unit_keep(BifangUnits *us)
{
	BifangWorklist *w = us->w;
	BifangUnit *u = &w->units[w->n_units - 1];

	if (us->pred != NULL && !bifang_unit_may_match(w, u, us->pred))
	{
		bifang_unit_drop(us);
		return false;
	}
	w->n_of_tier[u->tier]++;
	w->rows_of_tier[u->tier] += u->rows;
	w->rows += u->rows;
	w->bytes += u->bytes;
	return true;
}

static int64
pieces_of(const BifangUnit *u)
{
	bool log = u->tier != BIFANG_TIER_PARQUET;

	return Min(u->bytes / (log ? PIECE_LOG_BYTES : PIECE_BYTES) + 1, PIECES_MAX);
}

int64
bifang_worklist_pieces(const BifangWorklist *w)
{
	int32 counted = w->plan == NULL ? 0 : (int32) Min(w->plan->n_counted, w->n_units);
	int64 n = counted == 0 ? 0 : counted + w->plan->bytes_counted / PIECE_BYTES;

	for (int32 i = 0; i < w->n_units - counted; i++)
		n += pieces_of(&w->units[i]);
	return n;
}

void
bifang_unit_cut_file(BifangUnits *us)
{
	BifangUnit whole = us->w->units[us->w->n_units - 1];
	int64 n = us->how == BIFANG_PLAN_CUT ? pieces_of(&whole) : 1;

	us->w->units[us->w->n_units - 1].pieces = (int32) n;
	for (int32 i = 1; i < n; i++)
	{
		BifangUnit *u = bifang_unit_add(us, whole.tier, whole.path);

		*u = whole;
		u->piece = i;
		u->pieces = (int32) n;
	}
}

void
bifang_unit_cut_ranges(BifangUnits *us)
{
	BifangUnit whole = us->w->units[us->w->n_units - 1];
	int64 entries = bf_rangeset_count(&whole.ranges);
	int64 pieces = us->how == BIFANG_PLAN_CUT ? pieces_of(&whole) : 1;
	int64 most = entries / pieces + (entries % pieces != 0);
	BfRange *piece;
	int32 n = 0;
	int64 count = 0;

	if (pieces <= 1)
		return;
	us->w->n_units--;
	piece = palloc_extended((Size) whole.ranges.n * sizeof *piece, MCXT_ALLOC_HUGE);
	for (int32 i = 0; i < whole.ranges.n; i++)
	{
		int64 first = whole.ranges.ranges[i].first;
		int64 last = whole.ranges.ranges[i].last;

		while (first <= last)
		{
			int64 end = Min(last, first + (most - count) - 1);

			piece[n++] = (BfRange){first, end};
			count += end - first + 1;
			first = end + 1;
			if (count == most || (i == whole.ranges.n - 1 && first > last))
			{
				BifangUnit *u = bifang_unit_add(us, whole.tier, whole.path);

				*u = whole;
				u->ranges.n = n;
				u->ranges.ranges = palloc((Size) n * sizeof *piece);
				memcpy(u->ranges.ranges, piece, (size_t) n * sizeof *piece);
				u->rows = count;
				n = 0;
				count = 0;
			}
		}
	}
	pfree(piece);
}

BifangWorklist *
bifang_worklist_open(MemoryContext cxt, const BifangOptions *o, Snapshot snap)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);
	BifangWorklist *w = palloc0(sizeof *w);

	w->format = o->format;
	w->cxt = cxt;
	w->snap = snap;
	switch (o->format)
	{
		case BIFANG_ICEBERG: bifang_worklist_open_lake(w, o, snap); break;
		case BIFANG_PARQUET: bifang_worklist_open_parquet(w, o); break;
		case BIFANG_KAFKA_LOG: bifang_worklist_open_kafka(w, o); break;
	}
	MemoryContextSwitchTo(old);
	return w;
}

void
bifang_worklist_plan(BifangWorklist *w, const BfPred *pred, uint32 prune, BifangPlanHow how)
{
	BifangUnits us = {.w = w, .pred = pred, .how = how};
	MemoryContext old;

	if (w->plan_cxt != NULL)
		MemoryContextDelete(w->plan_cxt);
	w->plan_cxt = AllocSetContextCreate(w->cxt, "bifang plan", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(w->plan_cxt);
	us.arena = bifang_arena(w->plan_cxt, "plan", BIFANG_ARENA_MAX_METADATA);
	w->plan = NULL;
	w->units = NULL;
	w->n_units = 0;
	w->units_pruned = 0;
	w->rows = w->bytes = w->live_rows = 0;
	memset(w->n_of_tier, 0, sizeof w->n_of_tier);
	memset(w->rows_of_tier, 0, sizeof w->rows_of_tier);
	if (w->format == BIFANG_ICEBERG)
		bifang_worklist_plan_lake(&us, prune);
	else if (w->format == BIFANG_KAFKA_LOG)
		bifang_worklist_plan_kafka(&us);
	else
		bifang_worklist_plan_files(&us);
	MemoryContextSwitchTo(old);
}

BifangWorklist *
bifang_worklist(MemoryContext cxt, const BifangOptions *o, Snapshot snap)
{
	BifangWorklist *w = bifang_worklist_open(cxt, o, snap);

	bifang_worklist_plan(w, NULL, 0, BIFANG_PLAN_UNITS);
	return w;
}
