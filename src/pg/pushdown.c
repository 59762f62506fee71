/*
 * pg/pushdown.c: the values of pushed conditions; see pushdown.h.
 */
#include "pg/push_internal.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

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

bool
bifang_pushdown_eval(BifangPushdown *p, bool explain)
{
	MemoryContext fresh = AllocSetContextCreate(p->cxt, "bifang values", ALLOCSET_SMALL_SIZES);
	ExprContext *econtext = p->node == NULL ? NULL : p->node->ps_ExprContext;
	bool changed = !p->evaluated;
	MemoryContext old;
	ListCell *lc;

	if (econtext != NULL)
		ResetExprContext(econtext);
	foreach (lc, p->values)
	{
		BifangPushValue *v = lfirst(lc);
		bool known = true;
		bool isnull = false;
		Datum datum = (Datum) 0;

		if (IsA(v->expr, Const))
		{
			datum = ((Const *) v->expr)->constvalue;
			isnull = ((Const *) v->expr)->constisnull;
		}
		else if (econtext == NULL || (explain && v->needs_run))
			known = false;
		else
			datum = ExecEvalExprSwitchContext(v->state, econtext, &isnull);
		changed |= !same_value(v, known, isnull, datum);
		old = MemoryContextSwitchTo(fresh);
		if (known && !isnull)
			datum = datumCopy(datum, v->by_value, v->len);
		MemoryContextSwitchTo(old);
		v->known = known;
		v->isnull = isnull;
		v->datum = datum;
	}
	MemoryContextDelete(p->value_cxt);
	p->value_cxt = fresh;
	p->evaluated = true;
	return changed;
}
