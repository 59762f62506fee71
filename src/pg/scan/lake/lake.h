/*
 * pg/scan/lake/lake.h: Iceberg tables with their logs, by the catalog or by location.
 *
 * Pinned are the metadata file, the point in the table's history, and the ledgers with their ends
 * as the snapshot shows them. Planning reads manifests; the leader of a parallel scan packs its
 * plan, so that workers need not.
 */
#ifndef BIFANG_PG_SCAN_LAKE_LAKE_H
#define BIFANG_PG_SCAN_LAKE_LAKE_H

#include "pg/scan/kind.h"

extern const BifangKind bifang_kind_lake;

#endif
