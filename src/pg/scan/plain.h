/*
 * pg/scan/plain.h: a Parquet file that belongs to no lake table, as rows.
 *
 * Columns are found by name: exactly, else without regard to case when only one matches. They come
 * in the file's own types, which may differ from file to file; the scan converts from those.
 */
#ifndef BIFANG_PG_SCAN_PLAIN_H
#define BIFANG_PG_SCAN_PLAIN_H

#include "exec/read/parquet_reader.h"

/* *schema has one field per name, as the file describes it. A column that the file lacks is
 * BF_ERR_NOTFOUND. Rows are read with bf_exec_parquet_reader_filtered over that schema. */
extern BfStatus bifang_plain_open(BfArena *a, const char *path, const char *const *names, int32_t n,
								  BfIoCounters *io, BfParquetFile **file, BfSchema **schema,
								  BfError *err) BF_MUST_CHECK;

#endif
