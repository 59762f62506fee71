/*
 * pg/write/locks.h: locks of ledgers and tables, held to the end of the transaction, visible in
 * pg_locks as advisory locks with objsubid 0xBF01 (ledger) and 0xBF02 (table). That is a smallint
 * there: -16639 and -16638.
 */
#ifndef BIFANG_PG_WRITE_LOCKS_H
#define BIFANG_PG_WRITE_LOCKS_H

#include "postgres.h"

extern bool bifang_lock_ledger(int64 ledger_id, bool wait);
extern void bifang_unlock_ledger(int64 ledger_id);
extern void bifang_lock_table(int64 table_id);
extern void bifang_unlock_table(int64 table_id); /* when nothing was changed under it */
/* Against two that register one table at once. */
extern void bifang_lock_uuid(const char *uuid);

/* For assertions: does this backend hold it? */
extern bool bifang_ledger_is_locked(int64 ledger_id);
extern bool bifang_table_is_locked(int64 table_id);

#endif
