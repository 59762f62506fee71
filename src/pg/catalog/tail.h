/*
 * pg/catalog/tail.h: rows of bifang.tail, batches of ledgers that are not in their files.
 *
 *   ledger   0 ............ in_files .................... end
 *            segments, up to  | rows of bifang.tail: [first_entry, end_entry), whole batches
 *            the last append row
 *
 * A row is written once and deleted by whoever moves its entries into the ledger's files or its
 * offload file, in the transaction that acknowledges them there. Both show under one snapshot: a
 * reader finds each entry in one place. Rows up to the files' end do not count.
 */
#ifndef BIFANG_PG_CATALOG_TAIL_H
#define BIFANG_PG_CATALOG_TAIL_H

#include "postgres.h"

#include "utils/rel.h"
#include "utils/snapshot.h"

#include "log/live.h"

/* Acknowledges entries [first, end) of a ledger of the table, which `batches` has, visible to
 * commands after `cid`. total_bytes: of all batches since the tail began, these included. */
extern void bifang_catalog_insert_tail(int64 ledger_id, int64 table_id, int64 first, int64 end,
									   int64 total_bytes, BfView batches, CommandId cid);
/* All rows that the snapshot shows. */
extern int64 bifang_catalog_delete_tail(int64 ledger_id, Snapshot snap);
/* First entry of the row behind the one that has `entry`; -1 = there is none. */
extern int64 bifang_catalog_next_tail_row(int64 ledger_id, int64 entry, Snapshot snap);

/* When the first row that ends behind `entry` was written; PG_INT64_MAX = there is none. */
extern int64 bifang_catalog_tail_written_at(int64 ledger_id, int64 entry, Snapshot snap);

/* The ledger's tail as the snapshot shows it, for readers of the core; palloc'd. The snapshot must
 * live as long. Errors of the server in reading are raised by bifang_report as they came. */
extern const BfLogTail *bifang_tail_of(int64 ledger_id, int64 first, Snapshot snap);

/* Where it ends, for who reads the ends of ledgers. */
typedef struct BifangTailEnd
{
	int64 entry;
	int64 bytes;
} BifangTailEnd;

/* bifang.tail, open for several ledgers. */
typedef struct BifangTailRel
{
	Relation rel;
	Relation index;
} BifangTailRel;

extern BifangTailRel bifang_tail_open(void);
extern void bifang_tail_close(BifangTailRel t);
/* Of the rows that end behind `files_entry`: what was settled is not gone over again, however long
 * old snapshots keep it. False: the snapshot shows none. `reader`: whoever wrote a later one
 * conflicts (conflicts.h). */
extern bool bifang_tail_end(BifangTailRel t, int64 ledger_id, int64 files_entry, Snapshot snap,
							bool reader, BifangTailEnd *out);

#endif
