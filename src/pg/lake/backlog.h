/*
 * pg/lake/backlog.h: what of a table is still on its way into the lake.
 */
#ifndef BIFANG_PG_LAKE_BACKLOG_H
#define BIFANG_PG_LAKE_BACKLOG_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "pg/catalog/tables.h"
#include "policy/policy.h"

/* As the snapshot shows it; times are TimestampTz. A time that the catalog has not kept is told as
 * the earliest or latest that it can have been, so never as younger than the ledger. Raises when
 * the table's metadata can't be read. */
extern void bifang_backlog_of(const BifangLakeTable *row, Snapshot snap, BfBacklog *out);

#endif
