/*
 * exec/read/ledger_first_rows.h: the first row of each batch of a live ledger.
 */
#ifndef BF_EXEC_READ_LEDGER_FIRST_ROWS_H
#define BF_EXEC_READ_LEDGER_FIRST_ROWS_H

#include "log/live.h"
#include "log/rangeset.h"
#include "vec/batch.h"

/* Which entries of a ledger belong to which partition: calls visit once per log batch that
 * intersects `ranges`, with its first row decoded (all columns of the ledger's schema) and all the
 * entries that the batch holds, those outside `ranges` too. The row is valid during the call.
 * `tail` as for a reader (ledger_reader.h). */
typedef BfStatus (*BfBatchFirstRow)(void *arg, const BfSchema *schema, const BfBatch *one_row,
									BfRange entries, BfError *err);
extern BfStatus bf_exec_ledger_first_rows(BfArena *a, const char *dir, const BfLogTail *tail,
										  const BfRangeSet *ranges, BfBatchFirstRow visit,
										  void *arg, BfError *err) BF_MUST_CHECK;

#endif
