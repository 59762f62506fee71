/*
 * pg/push/internal.h: what the files of pushdown.h share.
 *
 *   clause --parse.c--> BifangCond --build.c--> BfPred
 *                          |                |
 *                     pushdown.c         value.c
 *                     (values)           (leaves of columns and values)
 */
#ifndef BIFANG_PG_PUSH_INTERNAL_H
#define BIFANG_PG_PUSH_INTERNAL_H

#include "pg/push/pushdown.h"

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

typedef enum BifangCondKind
{
	BIFANG_COND_UNKNOWN,
	BIFANG_COND_AND,
	BIFANG_COND_OR,
	BIFANG_COND_VALUE, /* a condition without columns */
	BIFANG_COND_NULL,  /* column IS NULL */
	BIFANG_COND_NOT_NULL,
	BIFANG_COND_COMPARE,  /* column op value */
	BIFANG_COND_DISTINCT, /* NULL is a value like others; op is = or <> */
	BIFANG_COND_ARRAY,	  /* column op ANY/ALL (array) */
	BIFANG_COND_LIKE,
	BIFANG_COND_PREFIX
} BifangCondKind;

typedef struct BifangCond
{
	BifangCondKind kind;
	bool negate; /* VALUE */
	bool any;	 /* ARRAY: ANY, not ALL */
	AttrNumber attnum;
	BifangComparison cmp;
	int value; /* number of the value */
	List *children;
} BifangCond;

typedef struct BifangPushValue
{
	Expr *expr;
	ExprState *state;
	int16 len;
	bool by_value;
	bool needs_run; /* known only when the query runs */
	bool may_fail;
	bool seen; /* in this evaluation */
	bool known;
	bool isnull;
	Datum datum;
} BifangPushValue;

struct BifangPushdown
{
	MemoryContext cxt;
	MemoryContext value_cxt; /* of the values */
	PlanState *node;
	Index varno;
	List *conds;
	List *values; /* of BifangPushValue * */
	bool evaluated;
};

typedef struct BifangPushParse
{
	Index varno;
	List *values;
} BifangPushParse;

/* parse.c: negate = NOT of the node. */
extern BifangCond *bifang_push_parse(BifangPushParse *p, Node *node, bool negate);

/* value.c */
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
