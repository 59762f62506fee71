/*
 * pg/lake/garbage.h: files that nothing names.
 */
#ifndef BIFANG_PG_LAKE_GARBAGE_H
#define BIFANG_PG_LAKE_GARBAGE_H

#include "postgres.h"

#include "iceberg/table.h"
#include "pg/catalog/queue.h"
#include "pg/catalog/tables.h"

/* What a table's directory is made of. Removing the last of them removes the directory, too, unless
 * something else is in it. */
static const char *const bifang_table_subdirs[] = {"data", "offload", "metadata"};

/* Left-overs of lost transactions, found by looking: ledgers' directories that are marked as ours,
 * and offload files of a table, that no ledger row and no queue row names and that nobody is
 * writing. The ledger's number is locked while `visit` is called. table_uuid NULL: of any table. */
typedef void (*BifangOrphanVisit)(void *arg, const BifangGarbage *g);
extern void bifang_orphan_ledgers(const char *live_dir, const char *table_uuid,
								  BifangOrphanVisit visit, void *arg);
extern void bifang_orphan_offloads(const BifangLakeTable *row, const BfIceTable *t,
								   BifangOrphanVisit visit, void *arg);

/* The directories that ledgers of this database are in, or may be: the default one, those of
 * servers, and wherever `ledgers` are. */
extern List *bifang_live_directories(List *ledgers);
/* Of what is in a directory, char *, palloc'd; none when it isn't there. */
extern List *bifang_names_in(const char *dir);
/* "12", "12-1" with the given end, perhaps not finished: 12; anything else: -1. */
extern int64 bifang_ledger_of_name(const char *name, const char *suffix);
extern char *bifang_parent_of(const char *path);
/* Is it the name of a part of a lake table's directory? */
extern bool bifang_is_table_part(const char *name);

#endif
