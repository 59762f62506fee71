/*
 * The smallest Parquet files that are ones: required columns of longs and texts, plain pages, one
 * row group. For tables with very many of them.
 */
#ifndef TEST_BENCH_TINY_PARQUET_H
#define TEST_BENCH_TINY_PARQUET_H

#include "base/bytes.h"

typedef struct TinyColumn
{
	const char *name;
	int32_t id;
	const int64_t *longs;	  /* one of the two */
	const char *const *texts; /* of at most 2^30 bytes together */
} TinyColumn;

extern BfStatus tiny_parquet(BfBuffer *out, const TinyColumn *columns, int32_t n_columns,
							 int32_t n_rows, BfError *err) BF_MUST_CHECK;

#endif
