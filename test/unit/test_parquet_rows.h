/*
 * Batches of random rows of any type, and comparing what was read of them: for what takes batches
 * and gives them back.
 */
#ifndef TEST_UNIT_TEST_PARQUET_ROWS_H
#define TEST_UNIT_TEST_PARQUET_ROWS_H

#include "vec/batch.h"

typedef enum MadeNulls
{
	MADE_NO_NULLS,
	MADE_SOME_NULLS,
	MADE_NULL_RUNS,
	MADE_NULLS_FIRST, /* 1500 of a vector */
	MADE_ALL_NULL,
	MADE_NULLS_COUNT
} MadeNulls;

typedef enum MadeValues
{
	MADE_ANY,	   /* of the whole range, edges and odd ones among them */
	MADE_FEW,	   /* a handful of different ones */
	MADE_RISING,   /* each a little above the one before */
	MADE_REPEATED, /* runs of the same */
	MADE_VALUES_COUNT
} MadeValues;

typedef struct MadeRows
{
	MadeNulls nulls; /* of fields that are not required */
	MadeValues values;
	uint32_t bytes_max; /* of a text or binary */
	/* Where random numbers come from. */
	uint64_t (*random)(void *arg);
	void *arg;
} MadeRows;

/* A vector of n rows in `a`; values of a field with an equal `made` go on where they ended. */
extern BfStatus made_vector(BfArena *a, const MadeRows *made, const BfField *field, int32_t n,
							BfVector *out, BfError *err) BF_MUST_CHECK;
extern BfStatus
made_batch(BfArena *a, const MadeRows *made, const BfField *fields, int32_t n_fields,
		   int32_t n_rows, BfBatch **out, BfError *err) BF_MUST_CHECK;
/* Is row i of x what row j of y is, to the bit? */
extern bool made_same(const BfVector *x, int32_t i, const BfVector *y, int32_t j);

#endif
