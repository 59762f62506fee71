/*
 * pg/scan/parallel.h: one scan by several processes.
 *
 * The leader pins the worklist and writes what it pinned into shared memory (scan/pins.h). It also
 * plans, and where the kind of the table has a word for it, writes the plan into a segment of its
 * own, anew at each rescan. Every process makes the same list of units from that and takes the next
 * one from a counter there (scan/next.h), the leader too. What each counted is added up in shared
 * memory when it is done.
 */
#ifndef BIFANG_PG_SCAN_PARALLEL_H
#define BIFANG_PG_SCAN_PARALLEL_H

#include "postgres.h"

#include "access/parallel.h"
#include "foreign/fdwapi.h"

#include "pg/scan/scan.h"

extern bool bifangIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);
extern Size bifangEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt);
extern void
bifangInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate);
extern void
bifangReInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate);
extern void
bifangInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc, void *coordinate);
extern void bifangShutdownForeignScan(ForeignScanState *node);

#endif
