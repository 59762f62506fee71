/*
 * pg/push/pushdown.h: from SQL predicates to those of the core.
 *
 * The plan carries the clauses themselves (ForeignScan.fdw_exprs), so that it can be copied,
 * cached, printed and sent to workers, and parameters are replaced and tracked by the server. When
 * a scan starts, a clause is taken apart into columns, operators and values; values are evaluated
 * then and again at every rescan, and become a BfPred once the types of the lake's columns are
 * known. What an OR guards (`$1 = '' OR column = $1::integer`) is not evaluated where the executor
 * would not come to it. All clauses are tested by the executor as well, so a BfPred may match more
 * than they do, never less.
 *
 *   understood                                      becomes
 *   column = <> < <= > >= value, either way round    comparison, in the column's own type
 *   column = ANY (array), <> ALL (array), others     IN, NOT IN, OR and AND of comparisons
 *   column IS [NOT] NULL, [NOT] DISTINCT FROM        the same
 *   boolean column, IS [NOT] TRUE/FALSE/UNKNOWN      comparison
 *   column LIKE pattern, ^@, starts_with             prefix, or = without wildcards
 *   (column, ...) < (value, ...)                     comparison of the first column
 *   AND OR NOT                                       the same; NOT is pushed down to the leaves
 *   no column of the table at all                    TRUE or FALSE
 *
 * A column may stand in a cast that keeps order and value (integer to numeric, date to timestamp,
 * varchar to text ...) or in timestamp::date. Numbers are compared as numbers whatever their types:
 * int_column < 1.5 is int_column <= 1, and what the column cannot hold makes a comparison true or
 * false for all. Order on text is taken over only for the C collation, equality for every
 * deterministic one. char(n) is left alone. Between timestamp and timestamptz the session's time
 * zone decides when the scan starts, and bounds are two days wider.
 */
#ifndef BIFANG_PG_PUSH_PUSHDOWN_H
#define BIFANG_PG_PUSH_PUSHDOWN_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "vec/pred.h"

/* What a foreign table's column is in the lake. */
typedef struct BifangPushColumn
{
	int32 field; /* its number in the BfPred */
	BfType type;
	bool loses;	  /* a value that is not NULL in the lake may be NULL here */
	bool changes; /* a text of the lake may be another one here */
} BifangPushColumn;

/* false: the column has no field, nothing is known of it. */
typedef bool (*BifangPushColumnOf)(void *arg, AttrNumber attnum, BifangPushColumn *out);

typedef struct BifangPushdown BifangPushdown;

/* Is there anything in the clause that could leave out rows of this relation? For the planner. */
extern bool bifang_push_clause(PlannerInfo *root, RelOptInfo *rel, RestrictInfo *rinfo);

/* Clauses over range table entry `varno`, lives in the current context. node NULL: only constants
 * have values. */
extern BifangPushdown *bifang_pushdown_new(List *clauses, Index varno, PlanState *node);
/* Takes the values anew; false when all are as they were. `explain`: only those that are known
 * without running anything. */
extern bool bifang_pushdown_eval(BifangPushdown *p, bool explain);
/* NULL: every row may match. Values are copied into the arena. */
extern const BfPred *
bifang_pushdown_pred(const BifangPushdown *p, BfArena *a, BifangPushColumnOf column_of, void *arg);

#endif
