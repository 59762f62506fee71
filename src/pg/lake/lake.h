/*
 * pg/lake/lake.h: work on the lake side of a table.
 */
#ifndef BIFANG_PG_LAKE_LAKE_H
#define BIFANG_PG_LAKE_LAKE_H

#include "postgres.h"

#include "fmgr.h"

#include "pg/write/table.h"

typedef struct BifangCommitResult
{
	int64 snapshot_id; /* -1 = nothing to commit */
	int32 files;
	int64 rows;
} BifangCommitResult;

/* Checks that the caller may maintain the foreign table's lake table and that the transaction may
 * write, and takes the locks for it, held to the end of the transaction unless bifang_unlock_table
 * is called with the table's id, which is returned. `function` is for messages. */
extern int64 bifang_table_begin_work(Oid relid, const char *function);
/* Names every acknowledged row in the lake; the table's lock is held. */
extern void bifang_commit_table(Oid relid, BifangCommitResult *result);

/* The one row of a function whose type is a row type. */
extern Datum bifang_lake_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls);

#endif
