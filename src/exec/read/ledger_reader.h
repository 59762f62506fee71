/*
 * exec/read/ledger_reader.h: entries of a ledger as rows of a table, from its live directory or its
 * offload file.
 *
 * The ledger's schema stands in <dir>/schema.json or in the offload file; its columns are matched
 * to the table's by field id and promoted. A column that the ledger does not know has its
 * initial default or is NULL, or BF_ERR_UNSUPPORTED when the table requires it and gives none.
 * Entries outside the range set are dropped by number. Every entry of the set must be there: a hole
 * is BF_ERR_CORRUPT naming ledger and entry, never a shorter result.
 *
 * Batches are filled across log batches up to BF_BATCH_ROWS. Text and binary values point into
 * decompressed log batches; small ones are collected in one buffer, a large one ends the batch, so
 * that no value moves while its batch is valid.
 */
#ifndef BF_EXEC_READ_LEDGER_READER_H
#define BF_EXEC_READ_LEDGER_READER_H

#include "exec/read/ledger_schema.h"
#include "exec/read/offload_prune.h"
#include "exec/reader.h"
#include "log/live.h"

/* `tail`: of a live ledger, what its directory does not have; NULL = nothing. Tail, ranges and
 * projection are borrowed while the reader is used. Without fields and entries
 * (a count) whole log batches are counted by their headers. `counters` may be NULL. */
extern BfStatus
bf_exec_ledger_reader(BfArena *a, BfLedgerPlace place, const char *path, const BfLogTail *tail,
					  const BfRangeSet *ranges, const BfProjection *projection,
					  BfLogCounters *counters, BfReader **out, BfError *err) BF_MUST_CHECK;

/* The same without entries of an offload file that its index rules out, or of a live directory that
 * came too early; the predicate is over the projection's schema. Others may fail it as well. */
extern BfStatus
bf_exec_ledger_reader_where(BfArena *a, BfLedgerPlace place, const char *path,
							const BfLogTail *tail, const BfRangeSet *ranges,
							const BfProjection *projection, const BfLedgerWhere *where,
							BfLogCounters *counters, BfReader **out, BfError *err) BF_MUST_CHECK;

#endif
