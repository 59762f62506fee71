/*
 * exec/write/ledger_append.h: rows of a table into a ledger.
 */
#ifndef BF_EXEC_WRITE_LEDGER_APPEND_H
#define BF_EXEC_WRITE_LEDGER_APPEND_H

#include "log/writer.h"
#include "vec/batch.h"

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

#endif
