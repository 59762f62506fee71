/*
 * pg/lake/check.h: what the parts of bifang.check() share.
 */
#ifndef BIFANG_PG_LAKE_CHECK_H
#define BIFANG_PG_LAKE_CHECK_H

#include "postgres.h"

#include "funcapi.h"

#include "iceberg/audit.h"
#include "pg/write/table.h"

typedef struct BifangCheck
{
	ReturnSetInfo *rsinfo;
	const char *partition; /* of the table that was asked for; NULL: it is that table */
	MemoryContext cxt;
	BfArena *arena;	  /* of the table */
	BfArena *scratch; /* whoever needs it resets it first */
	Snapshot snap;
	BifangTable t;
	BfIceAudit lake;
	int32 n_ledgers;
	BifangLedger **ledgers; /* ascending ids */
} BifangCheck;

/* check_found.c. One row of the result. */
extern void bifang_check_found(BifangCheck *c, const char *severity, const char *subject,
							   const char *fmt, ...) BF_PRINTF(4, 5);
/* NULL: the table has none of that id. */
extern const BifangLedger *bifang_check_ledger(const BifangCheck *c, int64 id);
extern char *bifang_check_ledger_name(int64 id);
/* As many as a person reads. */
extern char *bifang_check_ranges_text(const BfRangeSet *s);

/* check_lake.c: the files that the lake names, and the entries that those name. */
extern void bifang_check_lake(BifangCheck *c);
/* check_bytes.c: what was acknowledged of a ledger that has entries. */
extern void bifang_check_bytes(BifangCheck *c, const BifangLedger *l);

#endif
