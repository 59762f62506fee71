/*
 * exec/read/offload_prune.h: which entries of an offload file can match, by what its index says of
 * blocks and batches.
 */
#ifndef BF_EXEC_READ_OFFLOAD_PRUNE_H
#define BF_EXEC_READ_OFFLOAD_PRUNE_H

#include "log/offload.h"
#include "vec/pred.h"

/* What rows must be like. */
typedef struct BfLedgerWhere
{
	const BfPred *pred;	   /* over the table's schema; NULL = anything */
	int64_t time_first_ms; /* they came between these two, both included; INT64_MIN, INT64_MAX: */
	int64_t time_last_ms;  /* whenever */
} BfLedgerWhere;

/* What is left of the ranges. `ledger` is the file's schema, `table` that of the predicate. */
extern BfStatus
bfi_offload_prune(BfArena *a, BfOffloadFile *f, const BfSchema *ledger, const BfSchema *table,
				  const BfLedgerWhere *where, BfRangeSet *ranges, BfLogCounters *counters,
				  BfError *err) BF_MUST_CHECK;

#endif
