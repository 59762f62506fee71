/*
 * pg/write/locks.h: locks of lake tables and of ledgers, visible in pg_locks as advisory locks with
 * objsubid 0xBF01 (ledger), 0xBF02 (table), 0xBF03 (uuid), 0xBF04 (background workers); a smallint
 * there: -16639 and so on.
 *
 * A table is locked as an ordinary one would be, to the end of the transaction:
 *
 *   BIFANG_TABLE_WRITE     by writers, all at the same time
 *   BIFANG_TABLE_MAINTAIN  by commit, roll and offload: one at a time, beside writers
 *   BIFANG_TABLE_DROP      by who drops it: alone
 *
 * A ledger is locked by its writer to the end of the transaction. Whoever else changes its row
 * locks it until that is done: from then on the row itself shows that a transaction is at it
 * (bifang_catalog_ledger_versions), so that work on a thousand ledgers does not hold as many locks.
 *
 * Order: the foreign table, the lake table for writing, its ledgers, the lake table for the rest.
 * A writer does not wait for a ledger but takes another one. Who waits for writers (roll) has
 * nothing but reservations of ledgers meanwhile, which keep new writers from them and nobody else
 * from anything. Under MAINTAIN or DROP nobody waits for a writer's ledger.
 */
#ifndef BIFANG_PG_WRITE_LOCKS_H
#define BIFANG_PG_WRITE_LOCKS_H

#include "postgres.h"

/* What commit, roll and offload have of the foreign table: neither writers nor triggers that are
 * made are in their way, but who alters or drops it is, and who waits for that. */
#define BIFANG_WORK_LOCK RowShareLock

typedef enum BifangTableLock
{
	BIFANG_TABLE_WRITE,
	BIFANG_TABLE_MAINTAIN,
	BIFANG_TABLE_DROP
} BifangTableLock;

/* Waits. False: the transaction had it already. */
extern bool bifang_lock_table(int64 table_id, BifangTableLock mode);
/* Does not wait; false: somebody has it. */
extern bool bifang_try_lock_table(int64 table_id, BifangTableLock mode);
/* When nothing was changed under it. */
extern void bifang_unlock_table(int64 table_id, BifangTableLock mode);

/* Does somebody want to drop it, or does it? The caller may write it meanwhile. */
extern bool bifang_table_is_unwanted(int64 table_id);

/* Against two that register one table at once. */
extern void bifang_lock_uuid(const char *uuid);

/* To write it: false when somebody has it, or keeps new writers away. */
extern bool bifang_claim_ledger(int64 ledger_id);
/* To change its row or to look at its files. */
extern bool bifang_lock_ledger(int64 ledger_id, bool wait);
extern void bifang_unlock_ledger(int64 ledger_id);
/* It gets no new writer. */
extern void bifang_reserve_ledger(int64 ledger_id);
extern void bifang_release_ledger(int64 ledger_id);

/* A database has one background worker and at most one launcher of its own: whoever is it holds
 * this while the process lives. False: there is one. */
typedef enum BifangWorkerRole
{
	BIFANG_ROLE_WORKER,
	BIFANG_ROLE_LAUNCHER
} BifangWorkerRole;
extern bool bifang_claim_worker(Oid database, BifangWorkerRole role);
extern bool bifang_has_worker(Oid database, BifangWorkerRole role);

/* Does this backend hold it? */
extern bool bifang_ledger_is_locked(int64 ledger_id);
extern bool bifang_table_is_locked(int64 table_id, BifangTableLock mode);

#endif
