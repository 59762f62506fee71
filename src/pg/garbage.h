/*
 * pg/garbage.h: files that nothing names.
 */
#ifndef BIFANG_PG_GARBAGE_H
#define BIFANG_PG_GARBAGE_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* Left-overs of lost transactions, found by looking: directories of the default live directory and
 * offload files of a table that no ledger row and no queue row names and that nobody is writing.
 * Each ledger number met is locked to the end of the transaction. */
typedef struct BifangOrphan
{
	char *path;
	bool is_dir;
} BifangOrphan;

/* Lists of BifangOrphan *, palloc'd. */
extern List *bifang_orphan_ledgers(const char *live_dir);
extern List *bifang_orphan_offloads(const char *table_dir);

#endif
