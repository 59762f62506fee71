/*
 * pg/scan/worklist.h: what a scan has to read, decided once per statement.
 *
 * The list itself is the core's (scan/work.h). Here is what it takes to make one of a foreign
 * table: its kind (kind.h) pins what the scan's snapshot decides, in the catalog, in directories
 * and in metadata, and plans that into units that may have rows for a predicate, again whenever the
 * predicate changes. Both read metadata and directories only, never a data file; planner, ANALYZE
 * and EXPLAIN use them too.
 *
 * For parallel scans units are cut into pieces: every process plans the same list out of what the
 * leader pinned, and takes the next piece from a shared counter.
 */
#ifndef BIFANG_PG_SCAN_WORKLIST_H
#define BIFANG_PG_SCAN_WORKLIST_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "pg/catalog/options.h"
#include "scan/work.h"

struct BifangKind;

typedef struct BifangWorklist
{
	const struct BifangKind *kind;
	MemoryContext cxt;
	Snapshot snap; /* under which it was pinned, while its query runs */
	/* Pinned. */
	BfScanPins *pins;
	const BfSchema *schema; /* columns; NULL: each unit has its own, found by name */
	void *own;				/* the kind's */
	BfView given; /* the plan that another process made for the first planning; ptr NULL = none */
	/* Planned; in a context of its own. */
	MemoryContext plan_cxt;
	BfScanList list;
} BifangWorklist;

/* Pins; lives in cxt. Raises when table or files cannot be found. */
extern BifangWorklist *
bifang_worklist_open(MemoryContext cxt, const BifangOptions *o, Snapshot snap);
/* From what another process pinned and packed; nothing is looked up again. */
extern BifangWorklist *
bifang_worklist_join(MemoryContext cxt, const BifangOptions *o, Snapshot snap, BfView pins);
/* What bifang_worklist_join wants, of a scan in which nothing is open any more: all that a first
 * pass would find out is fixed. In `a`. */
extern BfView bifang_worklist_pack(BifangWorklist *w, const BifangOptions *o, BfArena *a);

/* Plans: units that may have rows for `pred` (over the schema's fields and facts; NULL = all rows).
 * `prune`: BF_PRUNE_*. Units of an earlier plan are gone. */
extern void
bifang_worklist_plan(BifangWorklist *w, const BfPred *pred, uint32 prune, BfScanHow how);

/* Fields of a predicate before the facts. */
static inline int32
bifang_worklist_fields(const BifangWorklist *w)
{
	return w->schema == NULL ? 0 : w->schema->n_fields;
}

static inline const char *
bifang_unit_tier(const BifangWorklist *w, const BfScanUnit *u)
{
	return w->list.tiers[u->tier].name;
}

#endif
