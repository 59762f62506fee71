/*
 * pg/write/xact.h: what becomes of what a transaction wrote when it ends.
 *
 * Edges of the transaction's events:
 *   PRE_COMMIT, PRE_PREPARE   close full ledgers, sync every writer; an error here aborts
 *   COMMIT, PREPARE           forget the writers; after COMMIT files may stay open (log_cache.h)
 *   ABORT                     cut what was written (best effort: the next writer cuts too), forget
 *   COMMIT_SUB                marks and writers pass to the parent
 *   ABORT_SUB                 writers opened inside are dropped with their locks; others go back to
 *                             their end at the start of the subtransaction
 */
#ifndef BIFANG_PG_WRITE_XACT_H
#define BIFANG_PG_WRITE_XACT_H

#include "postgres.h"

/* Once, when the library is loaded: callbacks of transactions, and hooks for rows that are still
 * buffered. */
extern void bifang_write_init(void);

#endif
