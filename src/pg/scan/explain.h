/*
 * pg/scan/explain.h: what EXPLAIN says of a scan.
 *
 * Always: the format, the lake snapshot, and per tier how many files or ledgers there are and how
 * many rows. With ANALYZE: what was read of them. No data file is opened for it.
 */
#ifndef BIFANG_PG_SCAN_EXPLAIN_H
#define BIFANG_PG_SCAN_EXPLAIN_H

#include "pg/server/version.h"

#include "nodes/execnodes.h"

extern void bifangExplainForeignScan(ForeignScanState *node, ExplainState *es);

#endif
