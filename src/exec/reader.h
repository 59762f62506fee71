/*
 * exec/reader.h: one interface over everything that yields rows.
 *
 * A BfReader turns one work unit (a Parquet file, ranges of a ledger, a Kafka partition) into
 * column batches whose vectors are the projected columns of the table's schema, in its types:
 * evolution, constants and missing columns are already resolved. Readers are pull-based and restart
 * only by being made again.
 */
#ifndef BF_EXEC_READER_H
#define BF_EXEC_READER_H

#include "vec/batch.h"

typedef struct BfReader BfReader;

struct BfReader
{
	/* *out = NULL at the end; valid until the next call. */
	BfStatus (*next)(BfReader *r, const BfBatch **out, BfError *err);
	/* What is being read, for messages and the `file` column. */
	const char *(*name)(const BfReader *r);
};

/* What a scan wants: fields of the table's schema by index, in output order. */
typedef struct BfProjection
{
	const BfSchema *schema; /* borrowed */
	const int32_t *fields;
	int32_t n_fields;
	bool want_entry; /* fill batch->entry and batch->timestamp where the tier has them */
} BfProjection;

/* Values for columns that a file lacks, by field id (identity partition values). */
typedef struct BfConstants
{
	int32_t n;
	const int32_t *ids;
	const BfValue *values;
} BfConstants;

#endif
