/*
 * pg/lake/metrics.h: what logical files say of their columns, gathered from their rows.
 */
#ifndef BIFANG_PG_LAKE_METRICS_H
#define BIFANG_PG_LAKE_METRICS_H

#include "postgres.h"

#include "iceberg/commit.h"
#include "iceberg/file_metrics.h"
#include "pg/catalog/ledgers.h"

typedef struct BifangMetrics
{
	BfArena *arena; /* of the commit */
	Snapshot snap;	/* likewise */
	const BfSchema *schema;
	BfIceMetricsColumn *columns; /* that the table's properties ask for */
	int32_t n_columns;
	int64 bytes_left; /* for the metrics of all files */
} BifangMetrics;

extern void
bifang_metrics_begin(BifangMetrics *m, BfArena *arena, Snapshot snap, const BfIceTable *ice);
/* Fills `metrics` of n files whose entries are `ranges` of the ledger. Files of a ledger that can't
 * be read have none: a commit doesn't need them. True: all these entries were read and are good. */
extern bool bifang_metrics_of_ledger(BifangMetrics *m, const BifangLedger *l, BfIceNewFile *files,
									 const BfRangeSet *ranges, int n);

#endif
