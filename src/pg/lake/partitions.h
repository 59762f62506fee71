/*
 * pg/lake/partitions.h: the lake tables that a function on a table works on.
 */
#ifndef BIFANG_PG_LAKE_PARTITIONS_H
#define BIFANG_PG_LAKE_PARTITIONS_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* Foreign tables, by oid: the partitions of a partitioned table at any depth that are lake tables
 * and can be changed, at least one; else the relation itself, which the caller checks. The
 * partitioned table must be the caller's, the partitions are checked one by one. All stay until the
 * end of the transaction. */
extern List *bifang_tables_of(Oid relid);
/* The name that regclass shows. */
extern char *bifang_relation_text(Oid relid);

#endif
