/*
 * exec/write/ledger_append.h: rows of a table into a ledger.
 */
#ifndef BF_EXEC_WRITE_LEDGER_APPEND_H
#define BF_EXEC_WRITE_LEDGER_APPEND_H

#include "log/writer.h"
#include "vec/batch.h"

/* The schema's file in a ledger's directory. */
#define BF_LEDGER_SCHEMA_FILE "schema.json"

/* Writes <dir>/schema.json (Avro schema with field ids) for a new ledger, durable. */
extern BfStatus bf_exec_ledger_create(BfArena *a, const char *dir, const BfSchema *schema,
									  BfError *err) BF_MUST_CHECK;
/* Encodes the chosen rows of the batch (all vectors of the schema, in its order) and appends them
 * as one Kafka batch (several when they are longer than 16 MiB). rows = NULL: the first n_rows. The
 * caller groups rows by partition first. When a value cannot be encoded nothing has been appended.
 * `scratch` is left as it was. */
extern BfStatus
bf_exec_ledger_append(BfLedgerWriter *w, const BfSchema *schema, const BfBatch *batch,
					  const int32_t *rows, int32_t n_rows, int64_t timestamp_ms, BfArena *scratch,
					  BfError *err) BF_MUST_CHECK;

/* Which entries of a ledger belong to which partition: calls visit once per log batch that
 * intersects `ranges`, with its first row decoded (all columns of the ledger's schema) and all the
 * entries that the batch holds, those outside `ranges` too. The row is valid during the call. */
typedef BfStatus (*BfBatchFirstRow)(void *arg, const BfSchema *schema, const BfBatch *one_row,
									BfRange entries, BfError *err);
extern BfStatus
bf_exec_ledger_first_rows(BfArena *a, const char *dir, const BfRangeSet *ranges,
						  BfBatchFirstRow visit, void *arg, BfError *err) BF_MUST_CHECK;

#endif
