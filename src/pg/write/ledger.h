/*
 * pg/write/ledger.h: who writes which ledger.
 *
 * A transaction has at most one writer per table and schema. The writer holds the ledger's lock
 * until the transaction ends (a prepared transaction keeps holding it), so a ledger has one writer
 * at a time and its acknowledged entries are a contiguous prefix.
 *
 *   rows --bifang_writer_append--> bytes in the ledger (end moves in memory)
 *        --bifang_writer_record--> a row in bifang.append (visible to later commands)
 *        --PRE_COMMIT-----------> bytes durable, then PostgreSQL commits the append row
 *
 * or, for a transaction that writes little (ledger_tail.c), batches in memory, and a row in
 * bifang.tail that has them.
 */
#ifndef BIFANG_PG_WRITE_LEDGER_H
#define BIFANG_PG_WRITE_LEDGER_H

#include "postgres.h"

#include "exec/write/ledger_append.h"
#include "pg/catalog/catalog.h"

typedef struct BifangWriter BifangWriter;

/* What a writer writes: identity and names of the table, and where its new ledgers are made. */
typedef struct BifangTarget
{
	int64 table_id;
	const char *table_uuid;
	const char *catalog;
	const char *ns;
	const char *table;
	const char *live_dir;
	bool partitioned;		/* rows of a batch are of one partition */
	const BfSchema *schema; /* borrowed: the caller's statement */
} BifangTarget;

/* Called before a subtransaction's first change to a writer: what statements of other ones have
 * buffered for it is written out, so that it lies below the mark. Set by those who buffer rows. */
extern void (*bifang_writer_before_mark)(BifangWriter *w, SubTransactionId subid);

/* The transaction's writer for this table and schema: the one it has, else on a free ledger, else
 * on a new one, which commands after `cid` see. */
extern BifangWriter *bifang_writer_get(const BifangTarget *target, CommandId cid);
/* Has the transaction one for the table? */
extern bool bifang_writer_exists(int64 table_id);
/* Rows of one partition as one log batch. rows = NULL: the first n_rows. cid and subid are those of
 * the statement that the rows belong to; a statement of an outer subtransaction may be written out
 * while an inner one runs, which must not cut it when it aborts. */
extern void
bifang_writer_append(BifangWriter *w, const BfSchema *schema, const BfBatch *batch,
					 const int32_t *rows, int32_t n_rows, CommandId cid, SubTransactionId subid);
/* Makes what was appended visible to later commands; nothing to do when nothing was. A ledger that
 * is full takes no more rows and is closed when the transaction commits. */
extern void bifang_writer_record(BifangWriter *w);
/* Takes no more rows: ask for another writer. */
extern bool bifang_writer_retired(const BifangWriter *w);
extern int64 bifang_writer_ledger_id(const BifangWriter *w);

/* The current transaction's own writer on this ledger, if any, takes no more rows (roll, offload)
 * and everything it appended is on disk, readable by path. False: it has none. */
extern bool bifang_writer_retire(int64 ledger_id);

/* What the ledger has in bifang.tail goes to its files, in this transaction, which writes the
 * ledger from now on. False: somebody else has it, this transaction doesn't see its end, or it is
 * damaged; then it stays as it is. */
extern bool bifang_writer_settle(const BifangTarget *target, const BifangLedger *seen);
/* Who did nothing but settle the ledger, in this very call, and has changed its row, needs its lock
 * no more. */
extern void bifang_writer_leave(int64 ledger_id);

/* What follows is for the transaction's events (xact.h). */

/* Full ledgers are closed, all that was recorded is synced. Raises. */
extern void bifang_writers_sync(void);

typedef enum BifangFate
{
	BIFANG_FATE_KEEP,  /* committed: the log may stay open for the next transaction */
	BIFANG_FATE_CLOSE, /* the files stay as they are */
	BIFANG_FATE_CUT	   /* aborted: what was written goes */
} BifangFate;

/* There are no writers any more. Raises nothing. */
extern void bifang_writers_end(BifangFate fate);
/* Marks and writers of the subtransaction pass to its parent; or writers that it opened go, others
 * go back to their marks. Raises nothing. */
extern void bifang_writers_end_sub(SubTransactionId subid, SubTransactionId parent, bool abort);

#endif
