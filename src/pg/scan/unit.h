/*
 * pg/scan/unit.h: what kinds of tables share when they open a unit (kind.h, open_unit).
 *
 *   projection -> bifang_scan_filter -> bf_filter_projection -> a reader of the core
 *              -> bifang_scan_read_through -> s->reader
 *
 * or, of Parquet files, bifang_scan_row_filter and bifang_scan_open_row_groups.
 */
#ifndef BIFANG_PG_SCAN_UNIT_H
#define BIFANG_PG_SCAN_UNIT_H

#include "postgres.h"

#include "pg/scan/scan.h"

/* Which rows count of a unit whose reader gives whole batches; `deletes` may be NULL. The reader is
 * opened for the filter's projection, and read through it. */
extern BfFilter *bifang_scan_filter(BifangScan *s, BfArena *a, const BfProjection *projection,
									int32 n_fields, BfDeletes *deletes);
extern void bifang_scan_read_through(BifangScan *s, BfArena *a, BfFilter *f, BfReader *below);
/* The same for readers that filter themselves: facts about rows are no columns of theirs, n_fields
 * are. */
extern BfRowFilter bifang_scan_row_filter(BifangScan *s, BfArena *a, const BfPred *pred,
										  int32 n_fields, BfDeletes *deletes);
/* The reader of the unit's piece of a Parquet file. `constants` may be NULL. */
extern void bifang_scan_open_row_groups(BifangScan *s, BfArena *a, const BfScanUnit *u,
										BfParquetFile *file, const BfProjection *projection,
										const BfConstants *constants, const BfRowFilter *filter);
/* Makes all columns ready for the open unit's values: those of the table's schema, or those that
 * the unit has, one per vector. */
extern void bifang_scan_set_conversions(BifangScan *s, const BfSchema *of_unit);
/* The number of a column where all tables have the same, which `what` has; raises when it has none
 * of the name. */
extern int32 bifang_scan_fixed_column(const BfSchema *schema, const char *what, const char *name);
/* A BifangPushColumnOf over the scan. */
extern bool bifang_scan_push_column(void *arg, AttrNumber attnum, BifangPushColumn *out);

#endif
