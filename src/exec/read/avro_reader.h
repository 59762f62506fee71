/*
 * exec/read/avro_reader.h: an Avro data file as rows of a table.
 *
 * Columns are found, promoted and filled in as in a Parquet file (exec/read/parquet_reader.h): by
 * field id, in a file without any ids by the mapping's aliases; a column that the file lacks is the
 * constant given for its id, else its initial default, else NULL. Types are Avro's and its logical
 * ones, with Iceberg's attributes; a union is null and one other type. Timestamps without
 * adjust-to-utc are what the table says they are.
 *
 * Records are decoded one by one into trees, so this is for the few tables that have such files,
 * not for speed. Rows are numbered from 0 in the order of the file.
 */
#ifndef BF_EXEC_READ_AVRO_READER_H
#define BF_EXEC_READ_AVRO_READER_H

#include "exec/reader.h"
#include "io/source.h"

/* Everything lives in `a`; projection and constants are borrowed while the reader is used. */
extern BfStatus bf_exec_avro_reader(BfArena *a, const char *path, const BfProjection *projection,
									const BfConstants *constants, BfIoCounters *io, BfReader **out,
									BfError *err) BF_MUST_CHECK;
/* The same over a source, which is the reader's alone from now on. */
extern BfStatus
bf_exec_avro_reader_over(BfArena *a, BfSource *source, const BfProjection *projection,
						 const BfConstants *constants, BfReader **out, BfError *err) BF_MUST_CHECK;

#endif
