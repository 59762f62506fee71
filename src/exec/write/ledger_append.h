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

/* Rows as a ledger has them. */
typedef struct BfEncodedRows
{
	int32_t n;
	BfView *values;
	size_t bytes; /* of all values */
} BfEncodedRows;

/* The chosen rows of the batch (all vectors of the schema, in its order), in `a`. rows = NULL: the
 * first n_rows. The caller groups rows by partition first. */
extern BfStatus
bf_exec_ledger_encode(BfArena *a, const BfSchema *schema, const BfBatch *batch, const int32_t *rows,
					  int32_t n_rows, BfEncodedRows *out, BfError *err) BF_MUST_CHECK;
/* Appends them as one Kafka batch, or several when they are longer than 16 MiB. */
extern BfStatus bf_exec_ledger_append(BfLedgerWriter *w, const BfEncodedRows *rows,
									  int64_t timestamp_ms, BfError *err) BF_MUST_CHECK;

/* Makes such batches for somebody who keeps them elsewhere. */
typedef struct BfBatchMaker
{
	BfCodecContext *codec;
	BfBuffer *raw;
	BfBuffer *out; /* batches are appended */
} BfBatchMaker;

extern BfStatus bf_exec_batch_maker_new(BfArena *a, BfBatchMaker *out, BfError *err) BF_MUST_CHECK;
/* Entries are numbered from `first`. What one record batch could not hold is BF_ERR_LIMIT. */
extern BfStatus bf_exec_batch_make(BfBatchMaker *m, const BfEncodedRows *rows, int64_t first,
								   int64_t timestamp_ms, BfError *err) BF_MUST_CHECK;

#endif
