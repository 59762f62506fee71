/*
 * pg/lake/garbage.h: files that nothing names.
 */
#ifndef BIFANG_PG_LAKE_GARBAGE_H
#define BIFANG_PG_LAKE_GARBAGE_H

#include "postgres.h"

#include "iceberg/table.h"
#include "pg/catalog/queue.h"
#include "pg/catalog/tables.h"

/* Left-overs of lost transactions, found by looking: ledgers' directories that are marked as ours,
 * and offload files of a table, that no ledger row and no queue row names and that nobody is
 * writing. The ledger's number is locked while `visit` is called. table_uuid NULL: of any table.
 *
 * `unknown` gets finished offload files of ledgers that the catalog does not have: a lost
 * transaction made both, or a catalog that was dropped had them, and they are all that there is of
 * its rows. Nobody can tell, so they are not removed. */
typedef void (*BifangOrphanVisit)(void *arg, const BifangGarbage *g);
extern void bifang_orphan_ledgers(const char *live_dir, const char *table_uuid,
								  BifangOrphanVisit visit, void *arg);
extern void bifang_orphan_offloads(const BifangLakeTable *row, const BfIceTable *t,
								   BifangOrphanVisit visit, BifangOrphanVisit unknown, void *arg);

#endif
