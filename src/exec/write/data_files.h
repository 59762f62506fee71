/*
 * exec/write/data_files.h: rows as Parquet files of about a wanted size, for whoever adds them to a
 * table.
 *
 *     bf_data_files_new(a, &what, &d, err)
 *     bf_data_files_write(d, batch, err)    any number of times
 *     bf_data_files_end(d, err)             what comes next goes into another file
 *     bf_data_files_all(d, &n)
 *
 * A file is begun with the first row for it, is there as a whole once it is ended, synced, and lies
 * where `name` said: nothing is ever replaced. Freeing the arena before removes what is unfinished;
 * finished files stay, and are the caller's. Memory is that of one Parquet writer, and a few
 * hundred bytes for each column of each file.
 */
#ifndef BF_EXEC_WRITE_DATA_FILES_H
#define BF_EXEC_WRITE_DATA_FILES_H

#include "parquet/write/writer.h"

typedef struct BfDataFiles BfDataFiles;

typedef struct BfDataFilesWhat
{
	const BfSchema *schema;				  /* of the batches, with the field ids of the table */
	const BfParquetWriteOptions *parquet; /* NULL = its defaults */
	int64_t target_bytes;				  /* a file ends when it has about as many */
	/* The next file's path; what it points to stays. */
	BfStatus (*name)(void *arg, const char **path, BfError *err);
	void *arg;
} BfDataFilesWhat;

typedef struct BfDataFile
{
	const char *path;
	BfParquetWritten is; /* rows, bytes, columns */
} BfDataFile;

/* `what` and what it points to are borrowed. */
extern BfStatus bf_data_files_new(BfArena *a, const BfDataFilesWhat *what, BfDataFiles **out,
								  BfError *err) BF_MUST_CHECK;
extern BfStatus
bf_data_files_write(BfDataFiles *d, const BfBatch *batch, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_data_files_end(BfDataFiles *d, BfError *err) BF_MUST_CHECK;
/* Those that are ended; valid until the next call of another function. */
extern const BfDataFile *bf_data_files_all(const BfDataFiles *d, int32_t *n);

#endif
