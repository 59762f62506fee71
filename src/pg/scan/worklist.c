/*
 * pg/scan/worklist.c: what a scan has to read; see worklist.h.
 */
#include "pg/scan/worklist.h"

#include "utils/memutils.h"

#include "pg/scan/kind.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

static BifangWorklist *
new_worklist(MemoryContext cxt, const BifangOptions *o)
{
	BifangWorklist *w = palloc0(sizeof *w);

	w->kind = bifang_kind_of(o);
	w->cxt = cxt;
	w->schema = w->kind->schema;
	return w;
}

BifangWorklist *
bifang_worklist_open(MemoryContext cxt, const BifangOptions *o, Snapshot snap)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);
	BifangWorklist *w = new_worklist(cxt, o);

	w->snap = snap;
	w->pins = palloc0(sizeof *w->pins);
	w->pins->snapshot_id = -1;
	w->kind->open(w, o);
	Assert((w->schema == NULL) == (w->kind->column == NULL));
	MemoryContextSwitchTo(old);
	return w;
}

BifangWorklist *
bifang_worklist_join(MemoryContext cxt, const BifangOptions *o, Snapshot snap, BfView pins)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);
	BifangWorklist *w = new_worklist(cxt, o);
	BfArena *a = bifang_arena(cxt, "pins", BIFANG_ARENA_MAX_METADATA);
	BfError err;

	w->snap = snap;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_scan_pins_unpack(a, pins, &w->pins, &err), &err);
	if (w->kind->join != NULL)
		w->kind->join(w, o);
	Assert((w->schema == NULL) == (w->kind->column == NULL));
	MemoryContextSwitchTo(old);
	return w;
}

BfView
bifang_worklist_pack(BifangWorklist *w, const BifangOptions *o, BfArena *a)
{
	BfView bytes;
	BfError err;

	if (w->kind->fix != NULL)
		w->kind->fix(w, o);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_scan_pins_pack(a, w->pins, &bytes, &err), &err);
	return bytes;
}

#ifdef USE_ASSERT_CHECKING
/* Units are those of the tiers, but for pieces and for what an estimate only counts. */
static bool
adds_up(const BfScanList *l)
{
	int64 n = 0;

	for (int i = 0; i < BF_SCAN_TIERS_MAX && l->tiers[i].name != NULL; i++)
		n += l->totals.n_of_tier[i];
	return l->how == BF_SCAN_CUT ? l->n_units >= n : l->n_units + l->totals.counted == n;
}
#endif

void
bifang_worklist_plan(BifangWorklist *w, const BfPred *pred, uint32 prune, BfScanHow how)
{
	MemoryContext old;

	if (w->plan_cxt != NULL)
		MemoryContextDelete(w->plan_cxt);
	w->plan_cxt = AllocSetContextCreate(w->cxt, "bifang plan", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(w->plan_cxt);
	w->list = (BfScanList){.tiers = w->kind->tiers,
						   .n_fields = bifang_worklist_fields(w),
						   .field_stats = w->kind->field_stats,
						   .pred = pred,
						   .how = how,
						   .arena = bifang_arena(w->plan_cxt, "plan", BIFANG_ARENA_MAX_METADATA)};
	w->kind->plan(w, prune);
	Assert(adds_up(&w->list));
	MemoryContextSwitchTo(old);
}
