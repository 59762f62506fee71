/*
 * pg/push/pushdown.c: the values of pushed conditions; see pushdown.h.
 */
#include "pg/push/internal.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/server/version.h"

/* Parameters that only a running query has. */
static bool
needs_run(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
	{
		EState *estate = ((PlanState *) arg)->state;

		return ((Param *) node)->paramkind != PARAM_EXTERN || estate->es_param_list_info == NULL;
	}
	return expression_tree_walker(node, needs_run, arg);
}

/* Functions that take every value, or all but the most absurd ones. */
static bool
is_safe_function(Oid fn, void *arg)
{
	(void) arg;
	switch (fn)
	{
		case F_NOW:
		case F_TRANSACTION_TIMESTAMP:
		case F_STATEMENT_TIMESTAMP:
		case F_CLOCK_TIMESTAMP:
		case F_TIMESTAMPTZ_PL_INTERVAL:
		case F_TIMESTAMPTZ_MI_INTERVAL:
		case F_TIMESTAMP_PL_INTERVAL:
		case F_TIMESTAMP_MI_INTERVAL:
		case F_DATE_PLI:
		case F_DATE_MII:
		case F_DATE_PL_INTERVAL:
		case F_DATE_MI_INTERVAL:
		case F_INT8_INT4:
		case F_INT8_INT2:
		case F_INT4_INT2:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
		case F_FLOAT8_INT4:
		case F_FLOAT8_FLOAT4:
		case F_TIMESTAMP_DATE:
		case F_TIMESTAMPTZ_DATE:
		case F_TIMESTAMPTZ_TIMESTAMP:
		case F_DATE_TIMESTAMP:
		case F_DATE_TIMESTAMPTZ:
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
		case F_INT4PL:
		case F_INT4MI:
		case F_INT8PL:
		case F_INT8MI:
		case F_NUMERIC_ADD:
		case F_NUMERIC_SUB:
		case F_LOWER_TEXT:
		case F_UPPER_TEXT:
		case F_TEXTCAT:
		case F_BTRIM_TEXT:
		case F_LTRIM_TEXT:
		case F_RTRIM_TEXT:
		case F_BTRIM_TEXT_TEXT:
		case F_LTRIM_TEXT_TEXT:
		case F_RTRIM_TEXT_TEXT:
		case F_REPLACE:
		case F_LEFT:
		case F_RIGHT:
		case F_INITCAP:
		case BIFANG_F_REVERSE_TEXT:
		case F_MD5_TEXT:
		case F_INT4UM:
		case F_INT8UM:
		case F_NUMERIC_UMINUS:
		case F_TEXT_NAME:
		case F_TEXT_BPCHAR: return true;
		default: return get_func_leakproof(fn);
	}
}

static bool
is_unsafe_function(Oid fn, void *arg)
{
	return !is_safe_function(fn, arg);
}

/* Could evaluating it raise an error? */
static bool
may_fail(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Const:
		case T_Param:
		case T_SQLValueFunction: return false;
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_ScalarArrayOpExpr:
			if (check_functions_in_node(node, is_unsafe_function, NULL))
				return true;
			break;
		case T_List:
		case T_RelabelType:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_ArrayExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CoalesceExpr: break;
		default: return true;
	}
	return expression_tree_walker(node, may_fail, arg);
}

BifangPushdown *
bifang_pushdown_new(List *clauses, Index varno, PlanState *node)
{
	BifangPushdown *p = palloc0(sizeof *p);
	BifangPushParse parser = {.varno = varno};
	ListCell *lc;

	p->cxt = CurrentMemoryContext;
	p->value_cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang values", ALLOCSET_SMALL_SIZES);
	p->node = node;
	p->varno = varno;
	foreach (lc, clauses)
		p->conds = lappend(p->conds, bifang_push_parse(&parser, lfirst(lc), false));
	p->values = parser.values;
	foreach (lc, p->values)
	{
		BifangPushValue *v = lfirst(lc);

		get_typlenbyval(exprType((Node *) v->expr), &v->len, &v->by_value);
		if (node != NULL)
		{
			v->needs_run = needs_run((Node *) v->expr, node);
			v->may_fail = may_fail((Node *) v->expr, NULL);
			v->state = ExecInitExpr(v->expr, node);
		}
	}
	return p;
}

static bool
same_value(const BifangPushValue *v, bool known, bool isnull, Datum datum)
{
	if (v->known != known || v->isnull != isnull)
		return false;
	return !known || isnull || datumIsEqual(v->datum, datum, v->by_value, v->len);
}

/* ---- evaluation ---- */

typedef struct Eval
{
	BifangPushdown *p;
	ExprContext *econtext;
	MemoryContext fresh;
	bool explain;
	bool changed;
} Eval;

typedef enum Verdict
{
	ALWAYS,
	NEVER, /* or NULL */
	OPEN
} Verdict;

static void
set_value(Eval *e, BifangPushValue *v, bool known, bool isnull, Datum datum)
{
	MemoryContext old;

	Assert(known || datum == (Datum) 0);
	e->changed |= !same_value(v, known, isnull, datum);
	old = MemoryContextSwitchTo(e->fresh);
	if (known && !isnull)
		datum = datumCopy(datum, v->by_value, v->len);
	MemoryContextSwitchTo(old);
	v->known = known;
	v->isnull = isnull;
	v->datum = datum;
	v->seen = true;
}

static void
eval_value(Eval *e, BifangPushValue *v)
{
	bool isnull = false;
	Datum datum;

	if (IsA(v->expr, Const))
		set_value(e, v, true, ((Const *) v->expr)->constisnull, ((Const *) v->expr)->constvalue);
	else if (e->econtext == NULL || (e->explain && v->needs_run))
		set_value(e, v, false, false, (Datum) 0);
	else
	{
		datum = ExecEvalExprSwitchContext(v->state, e->econtext, &isnull);
		set_value(e, v, true, isnull, datum);
	}
}

/* In the order in which the executor would, as far as that: what it would not come to for any row
 * may be an error, as in `$1 = '' OR column = $1::integer`. Behind a condition on a column
 * (`behind`), in an OR, nobody knows whether it would, so only what can't fail is evaluated. */
static Verdict
eval_cond(Eval *e, const BifangCond *c, bool in_or, bool behind)
{
	Verdict stop = c->kind == BIFANG_COND_OR ? ALWAYS : NEVER;
	Verdict all = c->kind == BIFANG_COND_OR ? NEVER : ALWAYS;
	BifangPushValue *v;
	ListCell *lc;

	if (c->kind != BIFANG_COND_AND && c->kind != BIFANG_COND_OR)
	{
		if (c->value < 0)
			return OPEN;
		v = list_nth(e->p->values, c->value);
		Assert(!v->seen); /* each value stands in one condition */
		if (!behind || !v->may_fail)
			eval_value(e, v);
		if (c->kind != BIFANG_COND_VALUE || !v->seen || !v->known)
			return OPEN;
		return !v->isnull && DatumGetBool(v->datum) != c->negate ? ALWAYS : NEVER;
	}
	in_or |= c->kind == BIFANG_COND_OR;
	foreach (lc, c->children)
	{
		Verdict one = eval_cond(e, lfirst(lc), in_or, behind);

		if (one == stop)
			return stop;
		if (one == OPEN)
		{
			all = OPEN;
			behind |= in_or;
		}
	}
	return all;
}

bool
bifang_pushdown_eval(BifangPushdown *p, bool explain)
{
	Eval e = {.p = p,
			  .econtext = p->node == NULL ? NULL : p->node->ps_ExprContext,
			  .explain = explain,
			  .changed = !p->evaluated};
	ListCell *lc;

	Assert(p->node == NULL || p->node->ps_ExprContext != NULL);
	e.fresh = AllocSetContextCreate(p->cxt, "bifang values", ALLOCSET_SMALL_SIZES);
	if (e.econtext != NULL)
		ResetExprContext(e.econtext);
	foreach (lc, p->values)
		((BifangPushValue *) lfirst(lc))->seen = false;
	foreach (lc, p->conds)
		if (eval_cond(&e, lfirst(lc), false, false) == NEVER)
			break;
	foreach (lc, p->values)
	{
		BifangPushValue *v = lfirst(lc);

		if (!v->seen)
			set_value(&e, v, false, false, (Datum) 0);
	}
	MemoryContextDelete(p->value_cxt);
	p->value_cxt = e.fresh;
	p->evaluated = true;
	return e.changed;
}
