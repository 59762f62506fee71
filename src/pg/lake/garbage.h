/*
 * pg/lake/garbage.h: files that nothing names.
 */
#ifndef BIFANG_PG_LAKE_GARBAGE_H
#define BIFANG_PG_LAKE_GARBAGE_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "iceberg/table.h"
#include "pg/catalog/tables.h"

/* What a table's directory is made of. Removing the last of them removes the directory, too, unless
 * something else is in it. */
static const char *const bifang_table_subdirs[] = {"data", "offload", "metadata"};

/* Left-overs of lost transactions, found by looking: ledgers' directories that are marked as ours,
 * and offload files of a table, that no ledger row and no queue row names and that nobody is
 * writing. Each ledger number met is locked to the end of the transaction. Lists of BifangGarbage
 * *, palloc'd. table_uuid NULL: of any table. */
extern List *bifang_orphan_ledgers(const char *live_dir, const char *table_uuid);
extern List *bifang_orphan_offloads(const BifangLakeTable *row, const BfIceTable *t);

#endif
