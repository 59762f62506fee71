/*
 * pg/write/ledger_internal.h: a writer's state, for ledger.c (which ledger, marks, the
 * transaction's end) and ledger_tail.c (rows that go to the tail, and out of it).
 */
#ifndef BIFANG_PG_WRITE_LEDGER_INTERNAL_H
#define BIFANG_PG_WRITE_LEDGER_INTERNAL_H

#include "pg/write/ledger.h"

#include "lib/ilist.h"
#include "lib/stringinfo.h"

#include "pg/write/log_cache.h"

/* Where the next row goes. */
typedef struct BifangPlace
{
	BfLedgerEnd files; /* the end of the ledger's files */
	int64 entry;	   /* the next entry: beyond files.entry are those of the tail */
	int64 tail_bytes;  /* of batches in the tail */
} BifangPlace;

typedef struct BifangWriterMark
{
	SubTransactionId subid;
	BifangPlace end;
	BifangPlace recorded;
	bool in_files;
	CommandId cid;
	struct BifangWriterMark *outer;
} BifangWriterMark;

struct BifangWriter
{
	dlist_node node;
	MemoryContext cxt;
	BifangLog *log;		 /* owned; NULL = its files were not needed yet */
	BifangLedger ledger; /* strings in cxt */
	int64 table_id;
	SubTransactionId subid; /* in which it was opened; gone when that aborts */
	bool in_files;			/* rows go to the files: the tail has none any more */
	BifangPlace start;		/* when it was opened */
	BifangPlace end;
	BifangPlace recorded; /* what rows of the catalog say */
	/* Batches of the tail, bytes tail_kept .. end.tail_bytes of it: those that are not recorded, or
	 * would not be any more if a subtransaction aborted. */
	StringInfoData batches;
	int64 tail_kept;
	CommandId cid; /* of the youngest statement whose rows are in here */
	BifangWriterMark *marks;
	bool created; /* by this transaction: its directory goes with it */
	bool merges;  /* rows of its batches may be in one: the table has no partitions */
	bool retired;
	bool broken; /* an error left it in an unknown state: no more rows */
};

static inline bool
bifang_place_same(BifangPlace a, BifangPlace b)
{
	return a.entry == b.entry && a.files.entry == b.files.entry &&
		   a.files.segment == b.files.segment && a.files.position == b.files.position &&
		   a.tail_bytes == b.tail_bytes;
}

/* ledger_tail.c */

/* Does a transaction that has written so much go on in the tail with `bytes` more? */
extern bool bifang_tail_takes(const BifangWriter *w, size_t bytes);
extern void bifang_tail_append(BifangWriter *w, const BfEncodedRows *rows, int64 timestamp_ms);
/* Batches that are not recorded become a row. */
extern void bifang_tail_record(BifangWriter *w);
/* The end went back to w->end. */
extern void bifang_tail_rewind(BifangWriter *w);
/* What the tail has goes to the files, which are open, and so do rows from now on. Changes are the
 * current subtransaction's: w is marked for it. False: what is in the tail is damaged, says *err,
 * and nothing has changed. */
extern bool bifang_tail_settle(BifangWriter *w, CommandId cid, BfError *err);

#endif
