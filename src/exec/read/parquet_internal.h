/*
 * exec/read/parquet_internal.h: what the files of the Parquet reader share.
 *
 * A reader has *inputs*, each resolved once: a column of the file with its mapping, or a constant.
 * The first are the columns of its filter's projection, one by one; those that decide which rows
 * count are early: they are read first. Behind them come columns of the predicate of which only
 * what the file says of them is asked.
 */
#ifndef BF_EXEC_READ_PARQUET_INTERNAL_H
#define BF_EXEC_READ_PARQUET_INTERNAL_H

#include "base/rangeset.h"
#include "exec/read/parquet_reader.h"
#include "exec/read/resolve.h"
#include "parquet/prune.h"
#include "vec/mapping.h"

typedef struct BfiInput
{
	BfiResolved is;
	int32_t scan_column; /* -1: constant, or not read */
} BfiInput;

/* What the file is asked before its rows are. */
typedef struct BfiParquetPred
{
	const BfPred *tree; /* NULL: nothing is pruned */
	uint32_t prune;		/* of BF_PRUNE_ */
	int32_t n_fields;	/* of the table's schema */
	int32_t *inputs;	/* per field of the table's schema, -1: not in the predicate */
} BfiParquetPred;

/* The current row group. */
typedef struct BfiParquetGroup
{
	BfArena *arena; /* its indexes and filters */
	int32_t number;
	bool open;
	bool all_rows;	 /* all rows of the row group may match */
	BfRangeSet rows; /* else these */
	int32_t range;	 /* of them, where the scan is */
	bool in_range;	 /* it has been sent there */
} BfiParquetGroup;

typedef struct BfiParquetReader
{
	BfReader base;
	const char *name;
	BfParquetFile *file; /* borrowed */
	BfParquetScan *scan;
	BfParquetCounters *counters; /* never NULL */
	BfParquetCounters no_counters;
	bool by_position; /* columns are found by their place in the file */
	int32_t rg_next;
	int32_t rg_end;
	BfiParquetGroup group;
	BfFilter *filter;
	BfiParquetPred pred;
	int32_t n_columns; /* inputs whose vectors are wanted */
	int32_t n_inputs;
	BfiInput *inputs;
	int32_t n_outputs;
	BfBatch batch;	/* of n_columns vectors, the outputs first */
	uint64_t *rows; /* BF_VALIDITY_WORDS: which of the batch count */
} BfiParquetReader;

/* Inputs and the scan. */
extern BfStatus bfi_parquet_resolve(BfArena *a, BfiParquetReader *r, const BfConstants *constants,
									BfError *err) BF_MUST_CHECK;
/* Can row group r->group.number have a row that matches? Fills the ranges. Nothing of it has been
 * opened. */
/* Rows of a group that both may have, or either. Too many ranges are no error: then all may. */
extern BfStatus
bfi_parquet_prune_join(BfArena *a, bool both, const BfRangeSet *x, const BfRangeSet *y,
					   int64_t n_rows, BfRangeSet *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_parquet_prune(BfiParquetReader *r, bool *may, BfError *err) BF_MUST_CHECK;
/* The same by dictionaries, once the row group has been opened. */
extern BfStatus
bfi_parquet_prune_by_dictionary(BfiParquetReader *r, bool *may, BfError *err) BF_MUST_CHECK;
#endif
