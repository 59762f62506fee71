/*
 * pg/push_internal.h: what pushdown.c, which takes clauses apart, and push_value.c, which makes
 * leaves of columns and values, share.
 */
#ifndef BIFANG_PG_PUSH_INTERNAL_H
#define BIFANG_PG_PUSH_INTERNAL_H

#include "pg/pushdown.h"

#include "access/stratnum.h"

/* Operators are btree strategy numbers, and this one. */
#define BIFANG_PUSH_NE (BTMaxStrategyNumber + 1)

/* One comparison: `domain` is the type in which it is made, the column's or what it was cast to. */
typedef struct BifangComparison
{
	Oid domain;
	int op;
	bool as_date; /* the column is a timestamp, cast to the domain date */
	Oid value_type;
} BifangComparison;

/* Can values of that type be compared in that domain? */
extern bool bifang_push_comparable(Oid domain, Oid value_type);

extern BfPred *bifang_pred_new(BfArena *a, BfPredKind kind);
extern BfPred *bifang_pred_null_test(BfArena *a, const BifangPushColumn *c, bool is_null);
/* `left` or `right` NULL: the other one alone. */
extern BfPred *bifang_pred_join(BfArena *a, BfPredKind kind, BfPred **children, int32 n);

/* A value that is not NULL. */
extern BfPred *
bifang_push_compare(BfArena *a, const BifangPushColumn *c, BifangComparison cmp, Datum value);
/* Texts that begin with the bytes (prefix), or are them. */
extern BfPred *
bifang_push_text(BfArena *a, const BifangPushColumn *c, const char *text, size_t n, bool prefix);

#endif
