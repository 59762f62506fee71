/*
 * pg/scan/columns.h: columns of a foreign table and those of the lake at the point that is read.
 */
#ifndef BIFANG_PG_SCAN_COLUMNS_H
#define BIFANG_PG_SCAN_COLUMNS_H

#include "postgres.h"

#include "pg/scan/worklist.h"

/* The schema of w->point with, behind it, what it lacks of the table's other schemas
 * (iceberg/columns.h). Lives in w->cxt. */
extern const BfSchema *bifang_lake_columns(BifangWorklist *w);
/* The number in w->schema of a column with that field id (0 = none) or name. Raises when the lake
 * table has none, and then tells which it has. */
extern int32
bifang_lake_column(const BifangWorklist *w, const char *relname, int32 field_id, const char *name);

#endif
