/*
 * pg/scan/parents.h: statistics of a partitioned table, out of those of its partitions.
 *
 * A parent has no files. What is known of a column in each partition that a query is left with is
 * put together: shares of NULLs and widths by rows; numbers of different values are added up where
 * no value can be in two partitions (the column divides the table, or bounds do not overlap) or
 * where values are different in each, else the largest counts. Conditions are estimated partition
 * by partition, so joins and groups are what this is for, and bounds are not needed.
 */
#ifndef BIFANG_PG_SCAN_PARENTS_H
#define BIFANG_PG_SCAN_PARENTS_H

#include "postgres.h"

#include "access/htup.h"
#include "nodes/pathnodes.h"

/* What files tell of a table's column, as a row of pg_statistic, palloc'd; NULL = nothing. */
typedef HeapTuple (*BifangColumnStatsFn)(Oid relid, AttrNumber attnum);

/* The same of a partitioned table that nobody has analyzed; NULL also where `known` has nothing to
 * do with any of its partitions. */
extern HeapTuple bifang_statistics_of_parent(PlannerInfo *root, Index varno, AttrNumber attnum,
											 BifangColumnStatsFn known);

#endif
