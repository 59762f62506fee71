/*
 * pg/lake/named.h: what rows of the catalog name, of any table and server, by identity.
 */
#ifndef BIFANG_PG_LAKE_NAMED_H
#define BIFANG_PG_LAKE_NAMED_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/hsearch.h"

#include "pg/server/remove.h"

/* BifangLedger *, of all tables, as they are now. */
extern List *bifang_ledgers_now(void);
/* Offload files and directories of the ledgers, metadata and directories of tables. The live files
 * of an offloaded ledger are in its row but are not needed for it: they count only if `all`. */
extern HTAB *bifang_named(List *ledgers, bool all);
/* A BifangIsNamed; `named` is what bifang_named gave. */
extern bool bifang_is_named(void *named, BifangFileId id);

#endif
