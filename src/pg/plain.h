/*
 * pg/plain.h: a Parquet file that belongs to no lake table, as rows.
 *
 * Columns are found by name: exactly, else without regard to case when only one matches. They come
 * in the file's own types, which may differ from file to file; the scan converts from those.
 */
#ifndef BIFANG_PG_PLAIN_H
#define BIFANG_PG_PLAIN_H

#include "exec/reader.h"
#include "parquet/parquet.h"

/* types[i] gets the type of column i. A column that the file lacks is BF_ERR_NOTFOUND. */
extern BfStatus bifang_plain_open(BfArena *a, const char *path, const char *const *names, int32_t n,
								  BfIoCounters *io, BfParquetCounters *counters, BfReader **out,
								  BfType *types, int64_t *file_rows, BfError *err) BF_MUST_CHECK;

#endif
