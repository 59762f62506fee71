/*
 * vec/pred.h: predicates as data.
 *
 * One tree serves every level: partition values, manifest bounds, row-group statistics, page index,
 * bloom filters, dictionaries (may any row match?) and vectors (which rows match?). It is in
 * negation normal form: there is no NOT node, so "may match" needs no second answer, and of the
 * three truth values FALSE and NULL need not be told apart. Values have the column's own type;
 * whoever builds the tree has turned `int_column < 1.5` into `int_column <= 1`. An expression that
 * can't be said here is BF_PRED_UNKNOWN, which may always match.
 *
 * Comparison rules are PostgreSQL's: three-valued logic, NaN = NaN and above all numbers, -0 = 0,
 * text and bytes by memcmp (so order on text is only pushed for the C collation), UINT64 unsigned.
 *
 *   kind          matches a row when
 *   FALSE, TRUE   never, always
 *   UNKNOWN       nobody knows: always a candidate
 *   EQ..GE        the column is not NULL and compares so with values[0]
 *   IN            it equals one of values[0..n_values): of one type, ascending, without NULLs and
 *                 repeats (bf_pred_sort_values)
 *   NOT_IN        it is not NULL and equals none of them
 *   PREFIX        it starts with the bytes of values[0]
 *   IS_NULL, NOT_NULL
 *   AND, OR       of children[0..n_children); without children TRUE and FALSE
 *
 * Answers err on one side only. A comparison with values that cannot be compared with the column
 * (another scale, another unit, a nested column) counts as NOT_NULL, and what lies deeper than
 * BF_PRED_DEPTH_MAX as UNKNOWN. A comparison with a NULL value matches nothing.
 */
#ifndef BF_VEC_PRED_H
#define BF_VEC_PRED_H

#include "vec/batch.h"

#define BF_PRED_DEPTH_MAX 64

/* Which levels may leave out what cannot match: settings of the user, handed down to whoever
 * prunes. Results don't depend on them. */
#define BF_PRUNE_PARTITION 0x01	 /* partition values of files */
#define BF_PRUNE_MANIFEST 0x02	 /* summaries of manifests, bounds of files */
#define BF_PRUNE_ROW_GROUP 0x04	 /* statistics of row groups */
#define BF_PRUNE_PAGE 0x08		 /* column and offset index */
#define BF_PRUNE_BLOOM 0x10		 /* bloom filters */
#define BF_PRUNE_DICTIONARY 0x20 /* dictionaries of chunks that have no other pages */
#define BF_PRUNE_LATE 0x40 /* late materialisation: columns are read for rows that match so far */
#define BF_PRUNE_ALL 0x7f

typedef enum BfPredKind
{
	BF_PRED_FALSE,
	BF_PRED_TRUE,
	BF_PRED_UNKNOWN,
	BF_PRED_EQ,
	BF_PRED_NE,
	BF_PRED_LT,
	BF_PRED_LE,
	BF_PRED_GT,
	BF_PRED_GE,
	BF_PRED_IN,
	BF_PRED_NOT_IN,
	BF_PRED_PREFIX,
	BF_PRED_IS_NULL,
	BF_PRED_NOT_NULL,
	BF_PRED_AND,
	BF_PRED_OR
} BfPredKind;

typedef struct BfPred
{
	BfPredKind kind;
	int32_t field; /* index into the table schema's fields; -1 for AND, OR and constants */
	int32_t n_values;
	BfValue *values;
	int32_t n_children;
	struct BfPred **children;
} BfPred;

/* What is known of a set of rows in one column. Bounds that are inverted, NaN or of another type
 * count as absent. */
typedef struct BfColumnStats
{
	bool known; /* false: nothing at all, everything may match */
	bool has_min;
	bool has_max;
	BfValue min;		/* a lower bound of the non-NULL values, not necessarily one of them */
	BfValue max;		/* an upper bound */
	int64_t null_count; /* -1 = unknown */
	int64_t row_count;	/* -1 = unknown; = null_count means all NULL */
	bool may_have_nan;	/* floats: bounds say nothing about NaN unless this is false */
} BfColumnStats;

/* Fills *stats, which comes with nothing known (counts -1, may_have_nan true), for a field; false =
 * nothing known. */
typedef bool (*BfStatsOf)(void *arg, int32_t field, BfColumnStats *stats);

/* Can a row match? False only when certainly none can. */
extern bool bf_pred_may_match(const BfPred *p, BfStatsOf stats_of, void *arg);

/* Exact membership tests (bloom filter, complete dictionary): may any row have one of the values
 * that the predicate needs? `has` returns false only when exactly this value is certainly absent.
 * Only EQ and IN ask; of floats NaN is never asked for, and 0 is asked for with both signs. */
typedef bool (*BfMayHave)(void *arg, int32_t field, const BfValue *value);
extern bool bf_pred_may_contain(const BfPred *p, BfMayHave has, void *arg);
/* Both at every leaf, for every single value: `a = 1 OR b < 5` can't match when 1 is absent from a
 * and all of b are above, which neither of them finds out alone. */
extern bool
bf_pred_may_match_and_contain(const BfPred *p, BfStatsOf stats_of, BfMayHave has, void *arg);

/* The batch's vector for a field index; NULL = not in the batch (its leaves count as UNKNOWN). */
typedef const BfVector *(*BfColumnOf)(void *arg, int32_t field);

/* Which rows match: clears the bits of rows for which the predicate is FALSE or NULL, and those at
 * n_rows and above. `rows` has BF_VALIDITY_WORDS words, bits of candidate rows set; rows that are
 * no candidates are not looked at. Of a dictionary only entries that candidates use are evaluated,
 * each once. Scratch memory is given back before the return. */
extern BfStatus bf_pred_filter(const BfPred *p, int32_t n_rows, BfColumnOf column_of, void *arg,
							   BfArena *scratch, uint64_t *rows, BfError *err) BF_MUST_CHECK;

/* The same for many batches of one scan: what was found out about the entries of a dictionary is
 * kept as long as the vector's dict_epoch says that it is the same one. */
typedef struct BfPredState BfPredState;

/* The predicate is borrowed. */
extern BfStatus
bf_pred_state_new(BfArena *a, const BfPred *p, BfPredState **out, BfError *err) BF_MUST_CHECK;
/* Must be called before batches of another scan come: epochs are a scan's own. */
extern void bf_pred_state_reset(BfPredState *s);
extern BfStatus bf_pred_state_filter(BfPredState *s, int32_t n_rows, BfColumnOf column_of,
									 void *arg, uint64_t *rows, BfError *err) BF_MUST_CHECK;

/* Fields that the tree mentions, ascending, without repeats. */
extern BfStatus bf_pred_fields(const BfPred *p, BfArena *a, int32_t **fields, int32_t *n,
							   BfError *err) BF_MUST_CHECK;

/* Can values of these types be compared by bf_value_compare with a meaning? */
extern bool bf_pred_comparable(BfType a, BfType b);
/* Brings values of one type into the form that IN wants: sorted, without NULLs and repeats. Returns
 * how many are left. */
extern int32_t bf_pred_sort_values(BfValue *values, int32_t n);

#endif
