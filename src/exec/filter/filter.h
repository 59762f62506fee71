/*
 * exec/filter/filter.h: which rows of a unit count.
 *
 * A row counts when the predicate does not say no and nothing has deleted it. A filter knows which
 * columns tell that and puts them behind those that are asked for; it clears the bits of rows that
 * don't count, and counts them: this is the only place that does either.
 *
 *     readers of whole batches       filter -> projection -> reader -> bf_filter_reader -> batches
 *     readers that can do with less  filter -> the columns that decide -> bf_filter_narrow
 *                                           -> the other columns, for the rows that are left
 *
 * What comes out is the one stream of rows that all consumers read: batches carry bits of the rows
 * that count, and none of them is without such a row. The predicate is evaluated first: what it
 * says of a row costs less than looking for a key. It errs on one side (vec/pred.h), so whoever
 * made it from an expression asks that again; deletes are exact.
 */
#ifndef BF_EXEC_FILTER_FILTER_H
#define BF_EXEC_FILTER_FILTER_H

#include "exec/filter/deletes.h"
#include "exec/reader.h"

/* Added to by whoever filters; for EXPLAIN. */
typedef struct BfFilterCounters
{
	int64_t rows_filtered; /* failed the predicate */
	int64_t rows_deleted;  /* did not, but are deleted */
} BfFilterCounters;

/* What makes the rows of a unit count. */
typedef struct BfRowFilter
{
	const BfPred *pred; /* borrowed; NULL: all rows. Its fields are those of the projection's schema
						 * and need not be projected */
	uint32_t prune; /* of BF_PRUNE_: ROW_GROUP, PAGE, BLOOM, DICTIONARY are for readers that can;
					 * without LATE rows are not asked, others are not for readers */
	BfDeletes *deletes;			/* borrowed; of this file; NULL: none */
	BfFilterCounters *counters; /* borrowed; NULL: nobody wants to know */
} BfRowFilter;

typedef struct BfFilter BfFilter;

/* `projection` is what is asked for, and is borrowed; what `what` points to is, too. NULL: all rows
 * count. */
extern BfStatus bf_filter_new(BfArena *a, const BfProjection *projection, const BfRowFilter *what,
							  BfFilter **out, BfError *err) BF_MUST_CHECK;
/* What must be read: the columns that are asked for, then those that decide besides. Lives as long
 * as the filter. */
extern const BfProjection *bf_filter_projection(const BfFilter *f);
/* How many of them are asked for. */
extern int32_t bf_filter_n_outputs(const BfFilter *f);
/* Is the i-th column of that one of those that decide? */
extern bool bf_filter_decides(const BfFilter *f, int32_t i);
/* What rows must be like, for whoever knows bounds of some of them; NULL: bounds don't count. */
extern const BfPred *bf_filter_bounds(const BfFilter *f);
/* Can a row fail at all? If not, nothing has to be narrowed. */
extern bool bf_filter_any(const BfFilter *f);
/* Which rows of a batch count: sets their bits, of BF_VALIDITY_WORDS words, and clears all others;
 * *n = how many. The batch has the vectors of the projection, of which only those that decide are
 * looked at; rows that it does not select itself don't count. */
extern BfStatus bf_filter_narrow(BfFilter *f, const BfBatch *b, uint64_t *rows, int32_t *n,
								 BfError *err) BF_MUST_CHECK;

/* The rows of `below` that count, with the columns that were asked for. `below` gives the columns
 * of the filter's projection and is borrowed; where no row can fail it is itself what comes out, or
 * might as well be. */
extern BfStatus bf_filter_reader(BfArena *a, BfFilter *f, BfReader *below, BfReader **out,
								 BfError *err) BF_MUST_CHECK;

#endif
