/*
 * vec/pred.h: predicates as data.
 *
 * One tree serves every level: partition values, manifest bounds, row-group statistics, page
 * index, bloom filters, dictionaries (may any row match?) and vectors (which rows match?). It is in
 * negation normal form: there is no NOT node, so "may match" needs no second answer. Values have the
 * column's own type; whoever builds the tree has turned `int_column < 1.5` into `int_column <= 1`.
 * An expression that can't be said here is BF_PRED_UNKNOWN, which may always match.
 *
 * Comparison rules are PostgreSQL's: three-valued logic, NaN = NaN and above all numbers, -0 = 0,
 * text and bytes by memcmp (so order on text is only pushed for the C collation), UINT64 unsigned.
 *
 *   kind          matches a row when
 *   FALSE, TRUE   never, always
 *   UNKNOWN       nobody knows: always a candidate
 *   EQ..GE        the column is not NULL and compares so with values[0]
 *   IN            it equals one of values[0..n_values) (sorted ascending, no NULLs)
 *   NOT_IN        it is not NULL and equals none of them
 *   PREFIX        it starts with the bytes of values[0]
 *   IS_NULL, NOT_NULL
 *   AND, OR       of children[0..n_children)
 */
#ifndef BF_VEC_PRED_H
#define BF_VEC_PRED_H

#include "vec/batch.h"

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

/* What is known of a set of rows in one column. */
typedef struct BfColumnStats
{
	bool known; /* false: nothing at all, everything may match */
	bool has_min;
	bool has_max;
	BfValue min; /* a lower bound of the non-NULL values, not necessarily one of them */
	BfValue max; /* an upper bound */
	int64_t null_count; /* -1 = unknown */
	int64_t row_count;	/* -1 = unknown; = null_count means all NULL */
	bool may_have_nan;	/* floats: bounds say nothing about NaN unless this is false */
} BfColumnStats;

/* Fills *stats for a field; false = nothing known. */
typedef bool (*BfStatsOf)(void *arg, int32_t field, BfColumnStats *stats);

/* Can a row match? False only when certainly none can. */
extern bool bf_pred_may_match(const BfPred *p, BfStatsOf stats_of, void *arg);

/* Exact membership tests (bloom filter, complete dictionary): may any row have one of the values
 * that the predicate needs? `has` returns false only when the value is certainly absent. Only EQ and IN ask. */
typedef bool (*BfMayHave)(void *arg, int32_t field, const BfValue *value);
extern bool bf_pred_may_contain(const BfPred *p, BfMayHave has, void *arg);

/* Which rows match: clears the bits of rows for which the predicate is FALSE or NULL. `column_of`
 * maps a field index to the batch's vector, NULL = not in the batch (its leaves count as UNKNOWN). `rows`
 * has BF_VALIDITY_WORDS words, bits of candidate rows set. Dictionary vectors are evaluated once
 * per dictionary entry. Scratch memory comes from `scratch`. */
typedef const BfVector *(*BfColumnOf)(void *arg, int32_t field);
extern BfStatus bf_pred_filter(const BfPred *p, int32_t n_rows, BfColumnOf column_of, void *arg,
							   BfArena *scratch, uint64_t *rows, BfError *err) BF_MUST_CHECK;

/* Fields that the tree mentions, ascending, without repeats. */
extern BfStatus bf_pred_fields(const BfPred *p, BfArena *a, int32_t **fields, int32_t *n,
							   BfError *err) BF_MUST_CHECK;

#endif
