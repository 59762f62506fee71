/*
 * exec/keep/keep.h: what a scan has decoded, kept for the next time it reads the same.
 *
 * A nested loop or a correlated subquery reads the same units again and again, with other values in
 * its predicate. What lies below the filter does not depend on those values: whole batches, with
 * the columns that are asked for and those that decide which rows count. They are kept, and the
 * next time only filtered.
 *
 *     unit -> groups (row groups of a file; a log is one)
 *               nothing yet  --read as always, and counted-->  paid for
 *               paid for     --decoded whole, at once------->  kept
 *               kept         --filtered, batch by batch----->  rows
 *
 * A group is decoded whole once that is no more than what reading parts of it has cost before, so
 * whoever looks for one row in many row groups does not pay for all of them, and a scan that runs
 * once keeps nothing. Each batch has the bounds of its columns of whole numbers and times; batches
 * that can't match are passed over, so rows in some order are found at once. For a predicate that
 * asks for values of columns the group gets an index of them once its rows have been looked at so
 * often that making one costs no more: a nested loop over rows in no order is a hash join then.
 *
 * All scans of a process share one budget. What does not fit is read as always. Nothing is given up
 * for something else: a scan that goes round would find of a cache that does so nothing at all.
 */
#ifndef BF_EXEC_KEEP_KEEP_H
#define BF_EXEC_KEEP_KEEP_H

#include "exec/filter/filter.h"
#include "exec/reader.h"
#include "parquet/parquet.h"

/* Of a process. */
typedef struct BfKeepBudget
{
	size_t bytes_max;
	size_t bytes; /* that are kept now */
} BfKeepBudget;

/* For EXPLAIN; added to. */
typedef struct BfKeepCounters
{
	int64_t rows_kept;	  /* into memory */
	int64_t rows_read;	  /* out of it, before they are filtered */
	int64_t rows_skipped; /* in batches whose bounds say that none matches */
} BfKeepCounters;

typedef struct BfKeep BfKeep;
typedef struct BfKept BfKept;

/* All that a scan keeps, until the arena is freed or reset. Budget and counters are borrowed. */
extern BfStatus bf_keep_new(BfArena *a, BfKeepBudget *budget, BfKeepCounters *counters,
							BfKeep **out, BfError *err) BF_MUST_CHECK;
/* What is kept of the unit that the bytes name; the same bytes must mean the same rows. */
extern BfStatus
bf_keep_unit(BfKeep *k, const void *key, size_t n, BfKept **out, BfError *err) BF_MUST_CHECK;
/* What the one who opens the unit wants to find again next time; borrowed, NULL at first. */
extern void bf_kept_set_note(BfKept *u, const void *note);
extern const void *bf_kept_note(const BfKept *u);

/* Is all of it kept, with the columns that the filter reads? Then nothing has to be opened. */
extern bool bf_kept_whole(const BfKept *u, const BfFilter *f);
/* The rows that count of a unit that is. `name` is borrowed. */
extern BfStatus bf_keep_again(BfArena *a, BfKept *u, BfFilter *f, const char *name, BfReader **out,
							  BfError *err) BF_MUST_CHECK;
/* As bf_filter_reader, keeping. `below` has about n_rows rows in whole batches. */
extern BfStatus bf_keep_reader(BfArena *a, BfKept *u, BfFilter *f, int64_t n_rows, BfReader *below,
							   BfReader **out, BfError *err) BF_MUST_CHECK;
/* As bf_exec_parquet_reader_filtered, keeping; the unit is these row groups. */
extern BfStatus
bf_keep_row_groups(BfArena *a, BfKept *u, BfParquetFile *file, const BfProjection *projection,
				   const BfConstants *constants, int32_t rg_first, int32_t rg_end,
				   const BfRowFilter *what, BfParquetCounters *counters, BfReader **out,
				   BfError *err) BF_MUST_CHECK;

#endif
