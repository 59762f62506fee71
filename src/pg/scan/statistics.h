/*
 * pg/scan/statistics.h: what files say of columns, as the planner's statistics.
 *
 * A foreign table is never analyzed unless somebody asks for it. Until then the planner is given
 * rows of pg_statistic that exist nowhere, made of what is known without reading anything: share of
 * NULLs, different values, bounds as a histogram, width. Where pg_statistic has a row of its own
 * that one counts. Nothing that a query returns depends on them.
 *
 * They are kept by this backend, per table and column, and made anew when there is news; the
 * setting bifang.planner_statistics switches them off.
 */
#ifndef BIFANG_PG_SCAN_STATISTICS_H
#define BIFANG_PG_SCAN_STATISTICS_H

#include "postgres.h"

#include "utils/rel.h"

#include "pg/scan/worklist.h"

/* Sets the planner's hooks. Once, when the library is loaded. */
extern void bifang_statistics_init(void);
/* Of these attributes, for a table with so many rows; the work list is planned. */
extern void
bifang_statistics_renew(Relation rel, const BifangWorklist *w, List *attrs, double rows);

#endif
