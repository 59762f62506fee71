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

typedef struct BifangExplainCounter
{
	const char *label;
	int64 value;
} BifangExplainCounter;

/* Text: one line `Parquet Read: row groups=5 pages=10`; other formats: one property each. */
extern void bifang_explain_counters(const char *group, const BifangExplainCounter *counters, int n,
									ExplainState *es);
extern void bifangExplainForeignScan(ForeignScanState *node, ExplainState *es);

#endif
