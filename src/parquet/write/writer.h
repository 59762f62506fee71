/*
 * parquet/write/writer.h: writing Apache Parquet files.
 *
 *     bf_parquet_writer_new(a, output, schema, &options, &w, err)
 *     bf_parquet_writer_write(w, batch, err)       any number of times
 *     bf_parquet_writer_close(w, &file, err)       the rest, the footer, and what the file has
 *
 * Batches have a vector for each field of the schema, of its type, in any form; their selected rows
 * count. Nothing of a batch is kept. A row group ends when what is held of it (encoded pages, pages
 * that are being filled, dictionaries) comes to row_group_bytes, or with row_group_rows; no more
 * than that is ever held, but for what one batch adds and for buffers that grow by doubling.
 *
 * How a column chunk is encoded is found out at its first page: the encodings that fit its type
 * race, in compressed bytes; a dictionary is reckoned with the entries that it is likely to have at
 * the end. One that outgrows dictionary_bytes, or what it saves, is left for the best of the
 * others.
 *
 * The same batches with the same options give the same bytes, however they are cut into batches.
 *
 * After a failure the writer can't be used, and what went to the output is no file. BF_ERR_VALUE: a
 * value does not fit its type (a NULL in a required field, a decimal with too many digits);
 * BF_ERR_UNSUPPORTED: a type that we don't write (VARIANT, structs without fields);
 * BF_ERR_LIMIT: a page beyond 1 GiB, or more pages or row groups than the format can count.
 */
#ifndef BF_PARQUET_WRITE_WRITER_H
#define BF_PARQUET_WRITE_WRITER_H

#include "codec/codec.h"
#include "io/output.h"
#include "vec/batch.h"

typedef struct BfParquetWriter BfParquetWriter;

typedef struct BfParquetSort
{
	int32_t column; /* of the schema; not nested */
	bool descending;
	bool nulls_first;
} BfParquetSort;

typedef struct BfParquetWriteOptions
{
	BfCodec codec; /* ZSTD; NONE, SNAPPY, GZIP and LZ4_RAW are written, too */
	int level;	   /* of the codec, 1 to 22, GZIP's to 9; 0 = its default; 6 */

	size_t page_bytes;		 /* a page ends when its values come to that; 1 MiB */
	int32_t page_rows;		 /* or with so many rows; 20000 */
	size_t row_group_bytes;	 /* 32 MiB */
	int64_t row_group_rows;	 /* 1048576 */
	size_t dictionary_bytes; /* PLAIN, of a chunk; 0: no dictionaries; 1 MiB */

	/* For readers that know nothing else: PLAIN and dictionaries. */
	bool basic_encodings;
	/* DELTA_LENGTH_BYTE_ARRAY, too, the shortest for most texts. Spark 3.5 fails on it, or finds
	 * other rows, whoever wrote it. */
	bool delta_lengths;
	int32_t page_version; /* 1 or 2; 1 */
	bool page_index;
	bool checksums;

	uint32_t bound_bytes; /* that statistics have of a value of bytes, at most; 8 to 64; 64 */
	/* Columns with a Bloom filter, by index into the schema; not nested. */
	const int32_t *bloom;
	int32_t n_bloom;
	double bloom_false; /* how often a filter may say "perhaps" of what is not there; 0.01 */

	/* What the rows are sorted by, if they are: only said in the file. */
	const BfParquetSort *sort;
	int32_t n_sort;
	const char *created_by;
	/* Key-value metadata. */
	const char *const *keys;
	const char *const *key_values;
	int32_t n_keys;
} BfParquetWriteOptions;

extern const BfParquetWriteOptions bf_parquet_write_defaults;

/* Memory is from `a`, and lives as long. `schema`, what it points to, and the options' arrays are
 * borrowed as long as the writer is used. options NULL: the defaults. */
extern BfStatus bf_parquet_writer_new(BfArena *a, BfOutput output, const BfSchema *schema,
									  const BfParquetWriteOptions *options, BfParquetWriter **out,
									  BfError *err) BF_MUST_CHECK;
extern BfStatus
bf_parquet_writer_write(BfParquetWriter *w, const BfBatch *batch, BfError *err) BF_MUST_CHECK;

extern int64_t bf_parquet_writer_rows(const BfParquetWriter *w);
/* How long the file would be if it were closed now, about: for whoever begins another one at some
 * size. */
extern int64_t bf_parquet_writer_bytes(const BfParquetWriter *w);

/* Of a leaf column in the whole file: what Iceberg's manifests have. */
typedef struct BfParquetColumnMetrics
{
	int32_t field_id; /* 0 = none */
	BfType type;
	bool repeated;	/* below a list or map: bounds are of items, counts of items and empty lists */
	int64_t bytes;	/* in the file */
	int64_t values; /* NULLs included */
	int64_t nulls;
	int64_t nans; /* 0 for types that have none */
	/* Never NaN; of zeroes -0 below and +0 above. Bytes are cut to bound_bytes, texts between
	 * characters; a cut upper bound is above all values. */
	bool has_lower;
	bool has_upper;
	bool lower_exact; /* a value of the column */
	bool upper_exact;
	BfValue lower;
	BfValue upper;
} BfParquetColumnMetrics;

typedef struct BfParquetWritten
{
	int64_t bytes;
	int64_t rows;
	int32_t n_row_groups;
	const int64_t *splits; /* where each row group begins: Iceberg's split_offsets */
	int32_t n_columns;
	const BfParquetColumnMetrics *columns; /* leaves, in the schema's depth-first order */
} BfParquetWritten;

/* The output is complete then, and still the caller's to finish. `out` lives as long as the
 * writer. */
extern BfStatus
bf_parquet_writer_close(BfParquetWriter *w, BfParquetWritten *out, BfError *err) BF_MUST_CHECK;

#endif
