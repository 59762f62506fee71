/*
 * pg/garbage.h: files that nothing names.
 */
#ifndef BIFANG_PG_GARBAGE_H
#define BIFANG_PG_GARBAGE_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "iceberg/table.h"

/* What a table's directory is made of. Removing the last of them removes the directory, too, unless
 * something else is in it. */
static const char *const bifang_table_subdirs[] = {"data", "offload", "metadata"};

/* Removes a directory and what is in it; missing is fine. Raises nothing. */
extern BfStatus bifang_remove_tree(const char *dir, BfError *err) BF_MUST_CHECK;

/* A file that only the current (sub)transaction's rows name: removed when that aborts, and with it
 * its directory and the next `parents` ones above if nothing else is in them. Best effort: after a
 * crash it stays, as a file that nothing names. */
extern void bifang_remove_on_abort(const char *path, int parents);
/* Called by the transaction callbacks of ledger.c; raise nothing. */
extern void bifang_garbage_end(bool abort);
extern void bifang_garbage_end_sub(SubTransactionId subid, SubTransactionId parent, bool abort);

/* Left-overs of lost transactions, found by looking: directories of the default live directory and
 * offload files of a table that no ledger row and no queue row names and that nobody is writing.
 * Each ledger number met is locked to the end of the transaction. */
typedef struct BifangOrphan
{
	char *path;
	bool is_dir;
} BifangOrphan;

/* Lists of BifangOrphan *, palloc'd. table_uuid NULL: of any table. */
extern List *bifang_orphan_ledgers(const char *live_dir, const char *table_uuid);
extern List *bifang_orphan_offloads(const BfIceTable *t);

#endif
