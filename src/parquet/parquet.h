/*
 * parquet/parquet.h: reading Apache Parquet files
 * (https://parquet.apache.org/docs/file-format/).
 *
 * A file is opened by its footer; a scan decodes chosen top-level columns, one row group at a time,
 * into column batches: every physical type, encoding and codec, flat or nested. Dictionary-encoded
 * VIEW columns come out as codes with their dictionary, unless a batch also holds values of pages
 * without one; other columns, and all that is nested, are flat. Variants come out as JSON text. A
 * batch with nested columns can have few rows, so that their items stay within some ten thousand;
 * only a single row is as long as it is, up to page_bytes_max / 4 items. Buffers are allocated when
 * the scan is made and reused; those that depend on the size of pages grow when a larger one comes.
 *
 * Errors carry the file's name, the byte offset of the page or footer part, and the column.
 */
#ifndef BF_PARQUET_PARQUET_H
#define BF_PARQUET_PARQUET_H

#include "codec/codec.h"
#include "io/source.h"
#include "vec/mapping.h"

typedef struct BfParquetFile BfParquetFile;
typedef struct BfParquetScan BfParquetScan;

typedef struct BfParquetLimits
{
	size_t footer_bytes_max; /* default 64 MiB */
	size_t page_bytes_max;	 /* uncompressed page or dictionary; default 1 GiB */
	size_t window_bytes; /* read at once per column, where a chunk has that much; default 256 KiB */
	bool verify_crc;	 /* default true: checked where the writer stored it */
} BfParquetLimits;

extern const BfParquetLimits bf_parquet_default_limits;

/* All metadata lives in `a`. `source` is borrowed and must outlive the file. limits NULL: the
 * default ones. */
extern BfStatus bf_parquet_open(BfArena *a, BfSource *source, const BfParquetLimits *limits,
								BfParquetFile **out, BfError *err) BF_MUST_CHECK;

/* The same file again, by another source, with the footer of one that is open; `known` is borrowed
 * and must outlive the new one. */
extern BfStatus bf_parquet_open_known(BfArena *a, const BfParquetFile *known, BfSource *source,
									  BfParquetFile **out, BfError *err) BF_MUST_CHECK;

/*
 * Pages that scans have decompressed and then hardly used, for the next scan of the same file:
 * whoever stops early (a LIMIT, a join that wants to know whether there is a row at all) has paid
 * for a whole page per column. What was read to the end is not kept: it would be in nobody's way of
 * finding it, but for one that reads all of it again, and then the reading costs more.
 */
typedef struct BfParquetKeeper BfParquetKeeper;
struct BfParquetKeeper
{
	/* What was kept of the page whose header is at that place of the file, until `a` is freed;
	 * NULL: nothing. */
	const uint8_t *(*find)(BfParquetKeeper *p, BfArena *a, int64_t at);
	/* A copy of the parts, one behind the other, where there is room, instead of what was kept. */
	void (*keep)(BfParquetKeeper *p, int64_t at, const BfView *parts, int32_t n_parts);
};

/* Scans that begin from now on look for pages there, and leave theirs; borrowed. */
extern void bf_parquet_keep_pages(BfParquetFile *f, BfParquetKeeper *pages);

/* Are checksums of pages looked at from now on? */
extern void bf_parquet_verify_checksums(BfParquetFile *f, bool verify);

/* Top-level columns as a schema: field ids (0 = none), names, types, required; nested ones with
 * children (kind STRUCT, LIST, MAP or VARIANT). */
extern const BfSchema *bf_parquet_schema(const BfParquetFile *f);
/* The source's name. */
extern const char *bf_parquet_name(const BfParquetFile *f);
/* Does any column, nested ones included, have a field id? */
extern bool bf_parquet_has_field_ids(const BfParquetFile *f);
extern int64_t bf_parquet_n_rows(const BfParquetFile *f);
extern int32_t bf_parquet_n_row_groups(const BfParquetFile *f);
extern int64_t bf_parquet_row_group_rows(const BfParquetFile *f, int32_t rg);
/* Number in the file of the row group's first row. */
extern int64_t bf_parquet_row_group_first_row(const BfParquetFile *f, int32_t rg);
extern const char *bf_parquet_created_by(const BfParquetFile *f); /* "" = unknown */
/* Key-value metadata; NULL when absent. */
extern const char *bf_parquet_key_value(const BfParquetFile *f, const char *key);

/* What bifang.parquet_metadata shows: one per row group and leaf column. */
typedef struct BfParquetChunkInfo
{
	const char *path; /* dotted */
	const char *physical_type;
	const char *codec;
	const char *encodings; /* comma-separated */
	int64_t n_values;
	int64_t compressed_bytes;
	int64_t uncompressed_bytes;
	int64_t null_count; /* -1 = not recorded */
	bool has_min;
	bool has_max;
	BfValue min; /* only where the writer's statistics can be trusted; bounds, never NaN */
	BfValue max;
	bool min_exact; /* a value of the column, not just a bound */
	bool max_exact;
} BfParquetChunkInfo;

/* Leaf columns in the schema's depth-first order. */
extern int32_t bf_parquet_n_leaves(const BfParquetFile *f);
/* Everything in *out lives in `a`. */
extern BfStatus bf_parquet_chunk_info(const BfParquetFile *f, BfArena *a, int32_t rg, int32_t leaf,
									  BfParquetChunkInfo *out, BfError *err) BF_MUST_CHECK;

/* Counters for EXPLAIN; the scan adds to them. */
typedef struct BfParquetCounters
{
	int64_t row_groups_read;
	int64_t pages_read;
	int64_t pages_decompressed;
	int64_t pages_kept; /* that an earlier scan has left */
	int64_t rows_decoded;
	/* What a predicate has left out, each thing counted where it was found out first. */
	int64_t row_groups_by_statistics;
	int64_t row_groups_by_bloom;
	int64_t row_groups_by_dictionary;
	int64_t files_by_position; /* of tables, without field ids or name mapping; once per reader */
	int64_t rows_by_index; /* of row groups that are read: outside of what the page index leaves */
	int64_t pages_skipped; /* data pages of any column that were not decompressed */
} BfParquetCounters;

/* columns[i] is an index into bf_parquet_schema's fields; batches have n_columns vectors in this
 * order. 0 columns are fine: batches then only count rows. `counters` may be NULL. */
extern BfStatus
bf_parquet_scan_new(BfArena *a, BfParquetFile *f, const int32_t *columns, int32_t n_columns,
					BfParquetCounters *counters, BfParquetScan **out, BfError *err) BF_MUST_CHECK;
/* The same, leaving out what the columns' mappings don't ask for inside of nested ones: such
 * members are NULL constants. mappings[i], and mappings itself, may be NULL. */
extern BfStatus bf_parquet_scan_new_mapped(BfArena *a, BfParquetFile *f, const int32_t *columns,
										   const BfMapping *const *mappings, int32_t n_columns,
										   BfParquetCounters *counters, BfParquetScan **out,
										   BfError *err) BF_MUST_CHECK;
/* Positions the scan at the start of a row group; any order, also again. */
extern BfStatus bf_parquet_scan_row_group(BfParquetScan *s, int32_t rg, BfError *err) BF_MUST_CHECK;
/* The next at most BF_BATCH_ROWS rows of the row group; *out = NULL at its end. Valid until the
 * next call on the scan. */
extern BfStatus
bf_parquet_scan_next(BfParquetScan *s, const BfBatch **out, BfError *err) BF_MUST_CHECK;

/*
 * In two steps, for whoever finds out which rows are wanted from some of the columns:
 *
 *     bf_parquet_scan_set_early(s, k)     once: the first k columns are enough to tell
 *     bf_parquet_scan_row_group(s, rg)
 *     bf_parquet_scan_seek(s, row)        where rows before are not wanted
 *     bf_parquet_scan_next_early(s, end)  a batch of rows before `end`, its first k vectors filled
 *     bf_parquet_scan_rest(s, rows)       the other vectors, or the next batch
 *
 * Rows that are passed over cost little, pages of which no row is wanted next to nothing.
 */
/* use_index: pages may be found by the offset index, which is then believed. */
extern void bf_parquet_scan_set_early(BfParquetScan *s, int32_t n_early, bool use_index);
/* To a row of the row group, not before the next one. */
extern void bf_parquet_scan_seek(BfParquetScan *s, int64_t row);
/* *out = NULL at `end` or at the end of the row group. */
extern BfStatus bf_parquet_scan_next_early(BfParquetScan *s, int64_t end, const BfBatch **out,
										   BfError *err) BF_MUST_CHECK;
/* For the rows of the batch whose bits are set, NULL: all. What other rows have in these vectors is
 * unspecified. */
extern BfStatus
bf_parquet_scan_rest(BfParquetScan *s, const uint64_t *rows, BfError *err) BF_MUST_CHECK;
/* The dictionary of a flat column of the row group, where all of the column's values are certainly
 * in it; *out = NULL: there is none, or not only. Valid while the row group is being read. */
extern BfStatus bf_parquet_scan_dictionary(BfParquetScan *s, int32_t column, const BfVector **out,
										   BfError *err) BF_MUST_CHECK;

#endif
