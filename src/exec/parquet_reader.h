/*
 * exec/parquet_reader.h: a Parquet file as rows of a table.
 *
 * Columns are found by field id; in a file without any ids by the mapping's aliases, or, when the
 * schema's own ids are 0 (plain Parquet tables), by name. A column that the file lacks is the constant given for its id, else NULL (an
 * error when required). Types are promoted; an illegal promotion is BF_ERR_UNSUPPORTED naming column and file.
 */
#ifndef BF_EXEC_PARQUET_READER_H
#define BF_EXEC_PARQUET_READER_H

#include "exec/reader.h"
#include "parquet/parquet.h"

/* Row groups [rg_first, rg_end); rg_end = -1: all. Opens the file; everything lives in `a`. */
extern BfStatus bf_exec_parquet_reader(BfArena *a, const char *path, const BfProjection *projection,
									   const BfConstants *constants, int32_t rg_first,
									   int32_t rg_end, BfIoCounters *io,
									   BfParquetCounters *counters, BfReader **out, BfError *err)
	BF_MUST_CHECK;

#endif
