/*
 * pg/scan/unit.h: what kinds of tables share when they open a unit (kind.h, open_unit).
 *
 *   projection -> bifang_scan_filter -> bf_filter_projection -> a reader of the core
 *              -> bifang_scan_read_through -> s->reader
 *
 * or, of Parquet files, bifang_scan_row_filter and bifang_scan_open_row_groups. Where a scan runs
 * again, what it decoded before may be there still (exec/keep/keep.h): bifang_scan_keep says what
 * the rows of the unit depend on, bifang_scan_read_again may have them all.
 */
#ifndef BIFANG_PG_SCAN_UNIT_H
#define BIFANG_PG_SCAN_UNIT_H

#include "postgres.h"

#include "pg/scan/scan.h"

/* Which rows count of a unit whose reader gives whole batches; `deletes` may be NULL. The reader is
 * opened for the filter's projection, and read through it. */
extern BfFilter *bifang_scan_filter(BifangScan *s, BfArena *a, const BfProjection *projection,
									int32 n_fields, BfDeletes *deletes);
/* The unit's rows are those of its path, its ranges and these bytes: what was kept of them counts,
 * and what is read from now on will be. Before anything of the unit is opened. */
extern void bifang_scan_keep(BifangScan *s, const BfScanUnit *u, const void *more, size_t n);
/* Makes s->reader of what is kept, unless something is missing. */
extern bool bifang_scan_read_again(BifangScan *s, BfArena *a, BfFilter *f);
/* The same for readers that filter themselves. */
extern bool
bifang_scan_read_row_groups_again(BifangScan *s, BfArena *a, const BfProjection *projection,
								  const BfRowFilter *what);
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
