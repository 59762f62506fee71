/*
 * pg/scan/analyze.h: ANALYZE of a foreign table.
 */
#ifndef BIFANG_PG_SCAN_ANALYZE_H
#define BIFANG_PG_SCAN_ANALYZE_H

#include "postgres.h"

#include "foreign/fdwapi.h"

extern bool
bifangAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func, BlockNumber *totalpages);

#endif
