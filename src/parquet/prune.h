/*
 * parquet/prune.h: what a file says of the values of a column, without reading them: for whoever
 * decides which row groups and pages can't have a row that is wanted.
 *
 * All of it is about flat top-level columns; nested ones have nothing. Values are of the file's
 * type. What can't be trusted (known writer bugs, contradictions, damaged structures) is left out:
 * a column without statistics, an index or a filter is the normal case, not an error.
 */
#ifndef BF_PARQUET_PRUNE_H
#define BF_PARQUET_PRUNE_H

#include "parquet/parquet.h"
#include "vec/pred.h"

/* Of a column chunk; bytes of the bounds lie in the footer. false: nothing is known. */
extern bool
bf_parquet_row_group_stats(const BfParquetFile *f, int32_t rg, int32_t field, BfColumnStats *out);

/* How many values a column chunk has, and in how many bytes. For estimates: a file can say anything
 * that its number of rows allows. */
typedef struct BfParquetValues
{
	int64_t distinct; /* different values that are not NULL; -1 = unknown */
	int64_t bytes;	  /* encoded, before compression */
	bool has_dictionary;
} BfParquetValues;

/* `distinct`: of a dictionary that somebody has read, when it certainly is for all of the chunk,
 * else as the writer counted. Nothing is read. false: nothing is known. */
extern bool bf_parquet_row_group_values(const BfParquetFile *f, int32_t rg, int32_t field,
										BfParquetValues *out);
/* Of how many chunks the dictionary's size is known: tells whether there is news. */
extern int64_t bf_parquet_n_dictionaries_known(const BfParquetFile *f);

/* Does the footer name a page index of the row group, for some column at least? */
extern bool bf_parquet_row_group_indexed(const BfParquetFile *f, int32_t rg);

/* The pages of a column chunk. */
typedef struct BfParquetPages
{
	int32_t n;
	const int64_t *first_row; /* n + 1 ascending row numbers, 0 .. the row group's number of rows */
	const BfColumnStats *stats;
} BfParquetPages;

/* From the column index and the offset index, in `a`. *out = NULL: none. */
extern BfStatus bf_parquet_pages(BfParquetFile *f, BfArena *a, int32_t rg, int32_t field,
								 const BfParquetPages **out, BfError *err) BF_MUST_CHECK;

typedef struct BfParquetBloom BfParquetBloom;

/* The bloom filter of a column chunk; its blocks are read when asked for. *out = NULL: none. */
extern BfStatus bf_parquet_bloom(BfParquetFile *f, BfArena *a, int32_t rg, int32_t field,
								 BfParquetBloom **out, BfError *err) BF_MUST_CHECK;
/* *may = false: certainly no row has this value, which is of the column's type in the file. */
extern BfStatus bf_parquet_bloom_may_have(const BfParquetBloom *b, const BfValue *value, bool *may,
										  BfError *err) BF_MUST_CHECK;

#endif
