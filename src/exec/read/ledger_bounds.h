/*
 * exec/read/ledger_bounds.h: what the columns of entries of a ledger lie between, told apart by
 * what the entries are shared out to.
 *
 * Columns that the ledger itself does not have are not looked at, whatever rows of it read as.
 */
#ifndef BF_EXEC_READ_LEDGER_BOUNDS_H
#define BF_EXEC_READ_LEDGER_BOUNDS_H

#include "exec/read/ledger_schema.h"
#include "log/live.h"
#include "log/rangeset.h"
#include "vec/bounds.h"

/* Entries that belong to one of several. */
typedef struct BfLedgerShare
{
	BfRange range;
	int32_t owner;
} BfLedgerShare;

typedef struct BfLedgerColumns
{
	const BfSchema *schema; /* the table's; values are of its types */
	const int32_t *fields;	/* by index, of no nested type */
	int32_t n_fields;
} BfLedgerColumns;

/* `shares` ascend and are disjoint. bounds[owner * n_fields + i] were initialised and are added to;
 * bytes that they keep are in `a`. After a failure they mean nothing. */
extern BfStatus
bf_exec_ledger_bounds(BfArena *a, BfLedgerPlace place, const char *path, const BfLogTail *tail,
					  const BfLedgerColumns *columns, const BfLedgerShare *shares, int32_t n_shares,
					  BfBounds *bounds, BfError *err) BF_MUST_CHECK;

#endif
