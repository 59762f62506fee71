/*
 * pg/scan/learned.h: what a backend has seen of the Parquet files of tables, for estimates.
 *
 * Planning opens none but a few plain ones, so how files are cut into row groups is known only once
 * one of them was read. Nothing here decides a result.
 */
#ifndef BIFANG_PG_SCAN_LEARNED_H
#define BIFANG_PG_SCAN_LEARNED_H

#include "postgres.h"

#include "parquet/parquet.h"

/* A file of the table is open. */
extern void bifang_learned_file(Oid relid, const BfParquetFile *file);
/* Rows of what is read or left out as a whole: pages with an index, else row groups; a guess where
 * nothing is known of the table. */
extern double bifang_learned_unit_rows(Oid relid);

#endif
