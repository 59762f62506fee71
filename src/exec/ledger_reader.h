/*
 * exec/ledger_reader.h: entries of a ledger as rows of a table, from its live directory or its offload file.
 *
 * The ledger's schema stands in <dir>/schema.json or in the offload file; its columns are matched to the table's by field id and
 * promoted. Entries outside the range set are dropped by number. Every entry of the set must be there:
 * a hole is BF_ERR_CORRUPT naming ledger and entry, never a shorter result.
 */
#ifndef BF_EXEC_LEDGER_READER_H
#define BF_EXEC_LEDGER_READER_H

#include "exec/reader.h"
#include "log/offload.h"

typedef enum BfLedgerPlace
{
	BF_LEDGER_LIVE,   /* path is the ledger's directory */
	BF_LEDGER_OFFLOAD /* path is the .bfo file */
} BfLedgerPlace;

extern BfStatus bf_exec_ledger_reader(BfArena *a, BfLedgerPlace place, const char *path,
									  const BfRangeSet *ranges, const BfProjection *projection,
									  BfLogCounters *counters, BfReader **out, BfError *err)
	BF_MUST_CHECK;

#endif
