/*
 * exec/read/parquet_reader.h: a Parquet file as rows of a table.
 *
 * Columns are found by field id; in a file without any ids by the mapping's aliases, or, when the
 * schema's own ids are 0 (plain Parquet tables), by name: exactly, else regardless of ASCII case if
 * that is unique. A column that the file lacks is the constant given for its id, else NULL (an
 * error when required). Types are promoted; an illegal promotion is BF_ERR_UNSUPPORTED naming
 * column and file. INT96 is read as a timestamp (nanoseconds are cut off, towards the past) where
 * the table has one.
 *
 * With a BfRowFilter, deleted rows are left out, and of those that fail the predicate as many as
 * can be had cheaply: whole row groups by statistics, bloom filters and dictionaries; pages by the
 * page index; rows by evaluating the predicate on its own columns before the others are read
 * (BF_PRUNE_LATE). So the predicate has to be checked again on what comes out, deletes have not.
 * Batches say by `selected` which rows count; the number of a row in the file, first_row + row,
 * does not depend on what was passed over. Batches without any such row are not given out.
 *
 * Of a table with ids and without a name mapping, a file without ids was there before the table:
 * its columns are numbered from 1, whatever they are called, as Java does it, and
 * BfParquetCounters.files_by_position tells. Members of structs have no number: an error.
 */
#ifndef BF_EXEC_READ_PARQUET_READER_H
#define BF_EXEC_READ_PARQUET_READER_H

#include "exec/filter/filter.h"
#include "exec/reader.h"
#include "parquet/parquet.h"

/* Row groups [rg_first, rg_end); rg_end = -1: all. Opens the file; everything lives in `a`. */
extern BfStatus
bf_exec_parquet_reader(BfArena *a, const char *path, const BfProjection *projection,
					   const BfConstants *constants, int32_t rg_first, int32_t rg_end,
					   BfIoCounters *io, BfParquetCounters *counters, BfReader **out,
					   BfError *err) BF_MUST_CHECK;

/* The same in two steps, so that one open file and its footer serve several readers. */
extern BfStatus bf_exec_parquet_open(BfArena *a, const char *path, BfIoCounters *io,
									 BfParquetFile **out, BfError *err) BF_MUST_CHECK;
/* `file` is borrowed and must outlive the reader. */
extern BfStatus
bf_exec_parquet_reader_over(BfArena *a, BfParquetFile *file, const BfProjection *projection,
							const BfConstants *constants, int32_t rg_first, int32_t rg_end,
							BfParquetCounters *counters, BfReader **out,
							BfError *err) BF_MUST_CHECK;

/* The same with a filter; NULL: none. */
extern BfStatus
bf_exec_parquet_reader_filtered(BfArena *a, BfParquetFile *file, const BfProjection *projection,
								const BfConstants *constants, int32_t rg_first, int32_t rg_end,
								const BfRowFilter *filter, BfParquetCounters *counters,
								BfReader **out, BfError *err) BF_MUST_CHECK;
/* Sends a reader made above to other row groups of its file, with all its buffers: work units of a
 * parallel scan. */
extern void bf_exec_parquet_reader_reset(BfReader *r, int32_t rg_first, int32_t rg_end);

#endif
