/*
 * pg/lake/unnamed.h: Parquet files of an optimize that never came about.
 */
#ifndef BIFANG_PG_LAKE_UNNAMED_H
#define BIFANG_PG_LAKE_UNNAMED_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "iceberg/table.h"
#include "pg/catalog/tables.h"

/* In a table's directory that is ours, older than bifang.garbage_grace, named by no manifest of any
 * of its snapshots; char *, palloc'd. A transaction that still runs may be about to name them. */
extern List *bifang_unnamed_data_files(const BifangLakeTable *row, const BfIceTable *t);

#endif
