/*
 * pg/scan/worklist_internal.h: what the files of worklist.h share.
 */
#ifndef BIFANG_PG_SCAN_WORKLIST_INTERNAL_H
#define BIFANG_PG_SCAN_WORKLIST_INTERNAL_H

#include "pg/scan/worklist.h"

#include "base/host.h"

/* A plan that is being made. */
typedef struct BifangUnits
{
	BifangWorklist *w;
	BfArena *arena;
	const BfPred *pred;
	BifangPlanHow how;
	int32 room;
} BifangUnits;

/* worklist.c */
extern BifangUnit *bifang_unit_add(BifangUnits *us, BifangTier tier, const char *path);
/* The last unit, once it is complete: counted and kept, or taken back. */
extern bool bifang_unit_keep(BifangUnits *us);
/* Copies of the last unit for all pieces of its file. */
extern void bifang_unit_cut_file(BifangUnits *us);
/* The last unit's ranges, for processes to share: by its bytes. */
extern void bifang_unit_cut_ranges(BifangUnits *us);
/* The last unit has no rows that count. */
extern void bifang_unit_drop(BifangUnits *us);

/* worklist_facts.c */
/* Fields of a predicate before the facts. */
extern int32 bifang_worklist_fields(const BifangWorklist *w);
/* By what is known of the unit's rows before it is opened. */
extern bool bifang_unit_may_match(const BifangWorklist *w, const BifangUnit *u, const BfPred *pred);

/* worklist_lake.c */
extern void bifang_worklist_open_lake(BifangWorklist *w, const BifangOptions *o, Snapshot snap);
extern void bifang_worklist_plan_lake(BifangUnits *us, uint32 prune);

/* worklist_files.c */
extern void bifang_worklist_open_parquet(BifangWorklist *w, const BifangOptions *o);
extern void bifang_worklist_plan_files(BifangUnits *us);

/* worklist_kafka.c */
extern void bifang_worklist_open_kafka(BifangWorklist *w, const BifangOptions *o);
extern void bifang_worklist_plan_kafka(BifangUnits *us);

/* location.c */
extern BfPathKind bifang_path_kind(const char *path);

#endif
