/*
 * pg/write/log_cache.h: open ledgers, kept by a backend between transactions.
 *
 * Opening a ledger for writing reads and verifies its tail and takes more time than appending a
 * row. So a writer whose transaction committed stays open for the backend's next one. The lock does
 * not: others may write in between. Whoever takes a kept one holds the ledger's lock again, knows
 * its acknowledged end, and it counts only when that end and the sizes of the files are what they
 * were: then nothing but aborted work, cut off again, can have happened.
 */
#ifndef BIFANG_PG_WRITE_LOG_CACHE_H
#define BIFANG_PG_WRITE_LOG_CACHE_H

#include "postgres.h"

#include "log/writer.h"

typedef struct BifangLog
{
	int64 ledger_id;
	BfLedgerWriter *writer;
	MemoryContext cxt;
	const char *dir;
	int64 sizes[3]; /* of .log, .index, .timeindex when it was kept */
} BifangLog;

/* The caller holds the ledger's lock. Belongs to the current transaction: it is closed with it
 * unless kept. NULL: what was acknowledged is not there, says *err. */
extern BifangLog *bifang_log_open(int64 ledger_id, const char *dir, BfLedgerEnd end, BfError *err);
/* When the transaction has committed: nothing here raises. */
extern void bifang_log_keep(BifangLog *log);
extern void bifang_log_close(BifangLog *log);

#endif
