/*
 * pg/pushdown.c: clauses taken apart; see pushdown.h.
 *
 * A clause becomes a tree of Cond nodes once, in negation normal form: the planner asks whether
 * there is anything useful in it, the executor evaluates the values and builds a BfPred of it. What
 * is not understood is C_UNKNOWN, which may always be true.
 */
#include "pg/push_internal.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/error.h"
#include "pg/version.h"

/* Beyond this, comparisons of one array that are not equalities become UNKNOWN. */
#define ARRAY_LEAVES_MAX 100

typedef enum CondKind
{
	C_UNKNOWN,
	C_AND,
	C_OR,
	C_VALUE, /* a condition without columns */
	C_NULL,	 /* column IS NULL */
	C_NOT_NULL,
	C_COMPARE,	/* column op value */
	C_DISTINCT, /* NULL is a value like others; op is = or <> */
	C_ARRAY,	/* column op ANY/ALL (array) */
	C_LIKE,
	C_PREFIX
} CondKind;

typedef struct Cond
{
	CondKind kind;
	bool negate; /* VALUE */
	bool any;	 /* ARRAY: ANY, not ALL */
	AttrNumber attnum;
	BifangComparison cmp;
	int value; /* number of the value */
	List *children;
} Cond;

typedef struct Value
{
	Expr *expr;
	ExprState *state;
	int16 len;
	bool by_value;
	bool needs_run; /* known only when the query runs */
	bool known;
	bool isnull;
	Datum datum;
} Value;

struct BifangPushdown
{
	MemoryContext cxt;
	MemoryContext value_cxt; /* of the values */
	PlanState *node;
	Index varno;
	List *conds;
	List *values; /* of Value * */
	bool evaluated;
};

/* ---- clauses to conditions ---- */

typedef struct Parse
{
	Index varno;
	List *values;
} Parse;

static Cond *
cond_new(CondKind kind)
{
	Cond *c = palloc0(sizeof *c);

	c->kind = kind;
	c->value = -1;
	return c;
}

static Cond *
unknown(void)
{
	return cond_new(C_UNKNOWN);
}

/* Can it be evaluated before the first row? */
static bool
is_value(const Parse *p, Node *node)
{
	return !bms_is_member((int) p->varno, pull_varnos(NULL, node)) &&
		   !contain_volatile_functions(node) && !contain_subplans(node);
}

static int
add_value(Parse *p, Expr *expr)
{
	Value *v = palloc0(sizeof *v);

	v->expr = expr;
	p->values = lappend(p->values, v);
	return list_length(p->values) - 1;
}

/* Casts that keep value and order. */
static bool
is_exact_cast(Oid fn)
{
	switch (fn)
	{
		case F_INT4_INT2:
		case F_INT8_INT2:
		case F_INT8_INT4:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
		case F_FLOAT8_INT2:
		case F_FLOAT8_INT4:
		case F_FLOAT4_INT2:
		case F_FLOAT8_FLOAT4:
		case F_TIMESTAMP_DATE: return true;
		default: return false;
	}
}

/* A column of the relation, perhaps in a cast: its number and the type that is compared. */
static bool
match_column(const Parse *p, Node *node, AttrNumber *attnum, Oid *domain, bool *as_date)
{
	bool cast = false;

	*as_date = false;
	*domain = getBaseType(exprType(node));
	if (*domain == VARCHAROID)
		*domain = TEXTOID;
	for (;;)
	{
		if (IsA(node, RelabelType))
		{
			Node *arg = (Node *) ((RelabelType *) node)->arg;
			Oid from = getBaseType(exprType(arg));
			Oid to = getBaseType(exprType(node));

			if (from != to && !(from == VARCHAROID && to == TEXTOID))
				return false;
			node = arg;
		}
		else if (IsA(node, FuncExpr) && !*as_date && is_exact_cast(((FuncExpr *) node)->funcid))
		{
			cast = true;
			node = linitial(((FuncExpr *) node)->args);
		}
		else if (IsA(node, FuncExpr) && !cast && ((FuncExpr *) node)->funcid == F_DATE_TIMESTAMP)
		{
			cast = *as_date = true;
			node = linitial(((FuncExpr *) node)->args);
		}
		else
			break;
	}
	if (!IsA(node, Var) || ((Var *) node)->varno != (int) p->varno ||
		((Var *) node)->varlevelsup != 0 || ((Var *) node)->varattno <= 0)
		return false;
	*attnum = ((Var *) node)->varattno;
	return true;
}

static bool
is_column(const Parse *p, Node *node, AttrNumber *attnum)
{
	Oid domain;
	bool as_date;

	return match_column(p, node, attnum, &domain, &as_date);
}

static bool
bytewise_order(Oid collation)
{
	return OidIsValid(collation) && bifang_collation_is_c(collation);
}

static bool
bytewise_equality(Oid collation)
{
	return OidIsValid(collation) && get_collation_isdeterministic(collation);
}

/* The operator as one of the column's order, the column at its left; 0: something else. */
static int
operator_number(Oid op, Oid domain, Oid collation)
{
	Oid family = lookup_type_cache(domain, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	int strategy;

	if (!OidIsValid(op) || !OidIsValid(family))
		return 0;
	strategy = get_op_opfamily_strategy(op, family);
	if (strategy == 0)
	{
		Oid negator = get_negator(op);

		if (OidIsValid(negator) &&
			get_op_opfamily_strategy(negator, family) == BTEqualStrategyNumber)
			strategy = BIFANG_PUSH_NE;
	}
	if (domain == TEXTOID && strategy != 0)
	{
		bool equality = strategy == BTEqualStrategyNumber || strategy == BIFANG_PUSH_NE;

		if (equality ? !bytewise_equality(collation) : !bytewise_order(collation))
			return 0;
	}
	return strategy;
}

static int
negated(int op)
{
	switch (op)
	{
		case BTLessStrategyNumber: return BTGreaterEqualStrategyNumber;
		case BTLessEqualStrategyNumber: return BTGreaterStrategyNumber;
		case BTEqualStrategyNumber: return BIFANG_PUSH_NE;
		case BTGreaterEqualStrategyNumber: return BTLessStrategyNumber;
		case BTGreaterStrategyNumber: return BTLessEqualStrategyNumber;
		default: return BTEqualStrategyNumber;
	}
}

/* column op value in a Cond without kind; NULL when it is something else. */
static Cond *
parse_comparison(Parse *p, Oid op, Oid collation, Node *left, Node *right, bool negate,
				 bool is_array)
{
	Cond *c = cond_new(C_COMPARE);
	Oid type;

	if (!match_column(p, left, &c->attnum, &c->cmp.domain, &c->cmp.as_date))
	{
		Node *swap = left;

		if (is_array)
			return NULL;
		left = right;
		right = swap;
		op = get_commutator(op);
		if (!match_column(p, left, &c->attnum, &c->cmp.domain, &c->cmp.as_date))
			return NULL;
	}
	if (!is_value(p, right))
		return NULL;
	type = getBaseType(exprType(right));
	if (is_array)
		type = getBaseType(get_element_type(type));
	if (type == VARCHAROID)
		type = TEXTOID;
	c->cmp.value_type = type;
	if (!bifang_push_comparable(c->cmp.domain, type))
		return NULL;
	c->cmp.op = operator_number(op, c->cmp.domain, collation);
	if (c->cmp.op == 0)
		return NULL;
	if (negate)
		c->cmp.op = negated(c->cmp.op);
	c->value = add_value(p, (Expr *) right);
	return c;
}

static Cond *
parse_like(Parse *p, Node *left, Node *right, Oid collation, CondKind kind)
{
	Cond *c = cond_new(kind);

	if (!match_column(p, left, &c->attnum, &c->cmp.domain, &c->cmp.as_date) ||
		c->cmp.domain != TEXTOID || exprType(right) != TEXTOID || !is_value(p, right) ||
		!bytewise_equality(collation))
		return unknown();
	c->value = add_value(p, (Expr *) right);
	return c;
}

static Cond *
parse_operator(Parse *p, OpExpr *e, bool negate)
{
	Cond *c;

	if (list_length(e->args) != 2)
		return unknown();
	if (e->opno == OID_TEXT_LIKE_OP && !negate)
		return parse_like(p, linitial(e->args), lsecond(e->args), e->inputcollid, C_LIKE);
	if (e->opfuncid == F_STARTS_WITH && !negate)
		return parse_like(p, linitial(e->args), lsecond(e->args), e->inputcollid, C_PREFIX);
	c = parse_comparison(p, e->opno, e->inputcollid, linitial(e->args), lsecond(e->args), negate,
						 false);
	return c == NULL ? unknown() : c;
}

static Cond *
parse_distinct(Parse *p, OpExpr *e, bool negate)
{
	/* The operator is the equality; without NOT its negation is meant. */
	Cond *c = parse_comparison(p, e->opno, e->inputcollid, linitial(e->args), lsecond(e->args),
							   !negate, false);

	if (c == NULL || (c->cmp.op != BTEqualStrategyNumber && c->cmp.op != BIFANG_PUSH_NE))
		return unknown();
	c->kind = C_DISTINCT;
	return c;
}

static Cond *
parse_array(Parse *p, ScalarArrayOpExpr *e, bool negate)
{
	Cond *c = parse_comparison(p, e->opno, e->inputcollid, linitial(e->args), lsecond(e->args),
							   negate, true);

	if (c == NULL)
		return unknown();
	c->kind = C_ARRAY;
	c->any = e->useOr != negate;
	return c;
}

/* (a, b) < (1, 2) needs a <= 1 at least. */
static Cond *
parse_row_compare(Parse *p, RowCompareExpr *e, bool negate)
{
	Cond *c = parse_comparison(p, linitial_oid(e->opnos), linitial_oid(e->inputcollids),
							   linitial(e->largs), linitial(e->rargs), negate, false);

	if (c == NULL)
		return unknown();
	switch (c->cmp.op)
	{
		case BTLessStrategyNumber: c->cmp.op = BTLessEqualStrategyNumber; break;
		case BTGreaterStrategyNumber: c->cmp.op = BTGreaterEqualStrategyNumber; break;
		case BTLessEqualStrategyNumber:
		case BTGreaterEqualStrategyNumber: break;
		default: return unknown();
	}
	return c;
}

static Cond *parse(Parse *p, Node *node, bool negate);

static Cond *
parse_connective(Parse *p, BoolExpr *e, bool negate)
{
	Cond *c;
	ListCell *lc;

	if (e->boolop == NOT_EXPR)
		return parse(p, linitial(e->args), !negate);
	c = cond_new((e->boolop == AND_EXPR) != negate ? C_AND : C_OR);
	foreach (lc, e->args)
		c->children = lappend(c->children, parse(p, lfirst(lc), negate));
	return c;
}

/* A boolean column as a condition of its own. */
static Cond *
column_is(Parse *p, AttrNumber attnum, bool value)
{
	Cond *c = cond_new(C_COMPARE);

	c->attnum = attnum;
	c->cmp = (BifangComparison){BOOLOID, BTEqualStrategyNumber, false, BOOLOID};
	c->value = add_value(p, (Expr *) makeBoolConst(value, false));
	return c;
}

static Cond *
null_test(AttrNumber attnum, bool is_null)
{
	Cond *c = cond_new(is_null ? C_NULL : C_NOT_NULL);

	c->attnum = attnum;
	return c;
}

static Cond *
parse_bool_test(Parse *p, BooleanTest *e, bool negate)
{
	AttrNumber attnum;
	bool column = is_column(p, (Node *) e->arg, &attnum);
	BoolTestType type = e->booltesttype;
	Cond *c;

	if (negate) /* these are never NULL: each has its opposite */
		switch (type)
		{
			case IS_TRUE: type = IS_NOT_TRUE; break;
			case IS_NOT_TRUE: type = IS_TRUE; break;
			case IS_FALSE: type = IS_NOT_FALSE; break;
			case IS_NOT_FALSE: type = IS_FALSE; break;
			case IS_UNKNOWN: type = IS_NOT_UNKNOWN; break;
			case IS_NOT_UNKNOWN: type = IS_UNKNOWN; break;
		}
	if (type == IS_TRUE || type == IS_FALSE)
		return parse(p, (Node *) e->arg, type == IS_FALSE);
	if (!column)
		return unknown();
	if (type == IS_UNKNOWN || type == IS_NOT_UNKNOWN)
		return null_test(attnum, type == IS_UNKNOWN);
	c = cond_new(C_OR);
	c->children = list_make2(null_test(attnum, true), column_is(p, attnum, type == IS_NOT_FALSE));
	return c;
}

static Cond *
parse(Parse *p, Node *node, bool negate)
{
	AttrNumber attnum;

	check_stack_depth();
	if (!IsA(node, BoolExpr) && exprType(node) == BOOLOID && is_value(p, node))
	{
		Cond *c = cond_new(C_VALUE);

		c->negate = negate;
		c->value = add_value(p, (Expr *) node);
		return c;
	}
	switch (nodeTag(node))
	{
		case T_BoolExpr: return parse_connective(p, (BoolExpr *) node, negate);
		case T_OpExpr: return parse_operator(p, (OpExpr *) node, negate);
		case T_DistinctExpr: return parse_distinct(p, (OpExpr *) node, negate);
		case T_ScalarArrayOpExpr: return parse_array(p, (ScalarArrayOpExpr *) node, negate);
		case T_RowCompareExpr: return parse_row_compare(p, (RowCompareExpr *) node, negate);
		case T_BooleanTest: return parse_bool_test(p, (BooleanTest *) node, negate);
		case T_NullTest:
		{
			NullTest *e = (NullTest *) node;

			if (e->argisrow || !is_column(p, (Node *) e->arg, &attnum))
				return unknown();
			return null_test(attnum, (e->nulltesttype == IS_NULL) != negate);
		}
		case T_FuncExpr:
		{
			FuncExpr *e = (FuncExpr *) node;

			if (e->funcid == F_STARTS_WITH && !negate)
				return parse_like(p, linitial(e->args), lsecond(e->args), e->inputcollid, C_PREFIX);
			return unknown();
		}
		default:
			if (exprType(node) == BOOLOID && is_column(p, node, &attnum))
				return column_is(p, attnum, !negate);
			return unknown();
	}
}

/* Could it ever leave out a row? */
static bool
is_useful(const Cond *c)
{
	ListCell *lc;

	switch (c->kind)
	{
		case C_UNKNOWN: return false;
		case C_AND:
			foreach (lc, c->children)
				if (is_useful(lfirst(lc)))
					return true;
			return false;
		case C_OR:
			foreach (lc, c->children)
				if (!is_useful(lfirst(lc)))
					return false;
			return true;
		default: return true;
	}
}

bool
bifang_push_clause(PlannerInfo *root, RelOptInfo *rel, RestrictInfo *rinfo)
{
	Parse p = {.varno = rel->relid};

	(void) root;
	if (rinfo->pseudoconstant || !restriction_is_securely_promotable(rinfo, rel))
		return false;
	return is_useful(parse(&p, (Node *) rinfo->clause, false));
}

/* ---- values ---- */

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
	Parse parser = {.varno = varno};
	ListCell *lc;

	p->cxt = CurrentMemoryContext;
	p->value_cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang values", ALLOCSET_SMALL_SIZES);
	p->node = node;
	p->varno = varno;
	foreach (lc, clauses)
		p->conds = lappend(p->conds, parse(&parser, lfirst(lc), false));
	p->values = parser.values;
	foreach (lc, p->values)
	{
		Value *v = lfirst(lc);

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
same_value(const Value *v, bool known, bool isnull, Datum datum)
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
		Value *v = lfirst(lc);
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

/* ---- conditions to predicates ---- */

typedef struct Build
{
	const BifangPushdown *p;
	BfArena *a;
	BifangPushColumnOf column_of;
	void *arg;
} Build;

/* The bytes that all matches begin with; *whole: there is nothing else in the pattern. */
static char *
like_prefix(text *pattern, size_t *n, bool *whole)
{
	const char *from = VARDATA_ANY(pattern);
	size_t left = VARSIZE_ANY_EXHDR(pattern);
	char *to = palloc(left + 1);

	*n = 0;
	*whole = false;
	for (; left > 0; from++, left--)
	{
		if (*from == '%' || *from == '_')
			return to;
		if (*from == '\\')
		{
			if (left == 1)
				return to; /* LIKE itself will say that the pattern is wrong */
			from++;
			left--;
		}
		to[(*n)++] = *from;
	}
	*whole = true;
	return to;
}

static BfPred *
build_like(Build *b, const Cond *c, const BifangPushColumn *column, Datum value)
{
	text *t = DatumGetTextPP(value);
	size_t n;
	bool whole;
	char *prefix;

	if (c->kind == C_PREFIX)
		return bifang_push_text(b->a, column, VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t), true);
	prefix = like_prefix(t, &n, &whole);
	return bifang_push_text(b->a, column, prefix, n, !whole);
}

/* All leaves of one kind as one list. */
static BfPred *
list_of(Build *b, BfPredKind kind, BfPred **leaves, int32 n)
{
	BfPred *p = bifang_pred_new(b->a, kind);

	p->field = leaves[0]->field;
	p->values = bf_arena_alloc_array(b->a, (size_t) n, sizeof *p->values);
	if (p->values == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	for (int32 i = 0; i < n; i++)
		p->values[i] = leaves[i]->values[0];
	p->n_values = bf_pred_sort_values(p->values, n);
	return p;
}

static BfPred *
build_array(Build *b, const Cond *c, const BifangPushColumn *column, Datum array)
{
	ArrayType *arr = DatumGetArrayTypeP(array);
	BfPredKind equal = c->any ? BF_PRED_EQ : BF_PRED_NE;
	int16 len;
	bool by_value;
	char align;
	Datum *elements;
	bool *nulls;
	int n;
	BfPred **equals;
	BfPred **others;
	int32 n_equals = 0;
	int32 n_others = 0;

	get_typlenbyvalalign(ARR_ELEMTYPE(arr), &len, &by_value, &align);
	deconstruct_array(arr, ARR_ELEMTYPE(arr), len, by_value, align, &elements, &nulls, &n);
	equals = palloc_extended((Size) (n + 1) * sizeof *equals, MCXT_ALLOC_HUGE);
	others = palloc((ARRAY_LEAVES_MAX + 2) * sizeof *others);
	for (int i = 0; i < n; i++)
	{
		BfPred *leaf;

		CHECK_FOR_INTERRUPTS();
		if (nulls[i] && c->any)
			continue; /* NULL matches nothing, and decides nothing */
		if (nulls[i])
			return bifang_pred_new(b->a, BF_PRED_FALSE);
		leaf = bifang_push_compare(b->a, column, c->cmp, elements[i]);
		if (leaf->kind == equal)
			equals[n_equals++] = leaf;
		else if (leaf->kind == BF_PRED_FALSE && c->any)
			continue;
		else if (n_others < ARRAY_LEAVES_MAX)
			others[n_others++] = leaf;
		else if (c->any)
			return bifang_pred_null_test(b->a, column, false);
	}
	if (n_equals == 1)
		others[n_others++] = equals[0];
	else if (n_equals > 1)
		others[n_others++] = list_of(b, c->any ? BF_PRED_IN : BF_PRED_NOT_IN, equals, n_equals);
	if (n_others == 0)
		return bifang_pred_new(b->a, c->any ? BF_PRED_FALSE : BF_PRED_TRUE);
	return bifang_pred_join(b->a, c->any ? BF_PRED_OR : BF_PRED_AND, others, n_others);
}

static BfPred *build(Build *b, const Cond *c);

static BfPred *
build_children(Build *b, const Cond *c)
{
	BfPred **children = palloc((Size) (list_length(c->children) + 1) * sizeof *children);
	int32 n = 0;
	ListCell *lc;

	foreach (lc, c->children)
		children[n++] = build(b, lfirst(lc));
	return bifang_pred_join(b->a, c->kind == C_AND ? BF_PRED_AND : BF_PRED_OR, children, n);
}

/* A column and a value. */
static BfPred *
build_comparison(Build *b, const Cond *c, const BifangPushColumn *column)
{
	const Value *v = list_nth(b->p->values, c->value);
	BfPred *both[2];

	if (!v->known)
		return bifang_pred_new(b->a, BF_PRED_UNKNOWN);
	if (c->kind == C_DISTINCT && v->isnull)
		return bifang_pred_null_test(b->a, column, c->cmp.op == BTEqualStrategyNumber);
	if (v->isnull)
		return bifang_pred_new(b->a, BF_PRED_FALSE);
	switch (c->kind)
	{
		case C_LIKE:
		case C_PREFIX: return build_like(b, c, column, v->datum);
		case C_ARRAY: return build_array(b, c, column, v->datum);
		case C_DISTINCT:
			both[0] = bifang_push_compare(b->a, column, c->cmp, v->datum);
			both[1] = bifang_pred_null_test(b->a, column, true);
			return bifang_pred_join(b->a, BF_PRED_OR, both,
									c->cmp.op == BTEqualStrategyNumber ? 1 : 2);
		default: return bifang_push_compare(b->a, column, c->cmp, v->datum);
	}
}

static BfPred *
build(Build *b, const Cond *c)
{
	BifangPushColumn column;
	const Value *v;

	check_stack_depth();
	switch (c->kind)
	{
		case C_UNKNOWN: return bifang_pred_new(b->a, BF_PRED_UNKNOWN);
		case C_AND:
		case C_OR: return build_children(b, c);
		case C_VALUE:
			v = list_nth(b->p->values, c->value);
			if (!v->known)
				return bifang_pred_new(b->a, BF_PRED_UNKNOWN);
			return bifang_pred_new(b->a, !v->isnull && DatumGetBool(v->datum) != c->negate
											 ? BF_PRED_TRUE
											 : BF_PRED_FALSE);
		default: break;
	}
	if (!b->column_of(b->arg, c->attnum, &column))
		return bifang_pred_new(b->a, BF_PRED_UNKNOWN);
	if (c->kind == C_NULL || c->kind == C_NOT_NULL)
		return bifang_pred_null_test(b->a, &column, c->kind == C_NULL);
	return build_comparison(b, c, &column);
}

const BfPred *
bifang_pushdown_pred(const BifangPushdown *p, BfArena *a, BifangPushColumnOf column_of, void *arg)
{
	Build b = {p, a, column_of, arg};
	MemoryContext cxt;
	MemoryContext old;
	BfPred **all;
	BfPred *result;
	int32 n = 0;
	ListCell *lc;

	if (p == NULL || p->conds == NIL)
		return NULL;
	cxt = AllocSetContextCreate(CurrentMemoryContext, "bifang predicate", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(cxt);
	all = palloc((Size) list_length(p->conds) * sizeof *all);
	foreach (lc, p->conds)
		all[n++] = build(&b, lfirst(lc));
	result = bifang_pred_join(a, BF_PRED_AND, all, n);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return result;
}

/* ---- hulls ---- */

static int64
whole_number(const BfValue *v)
{
	return bf_type_storage(v->type) == BF_STORE_I32 ? v->v.i32 : v->v.i64;
}

bool
bifang_pred_hull(const BfPred *p, int32 field, int64 *low, int64 *high)
{
	int64 first = PG_INT64_MAX;
	int64 last = PG_INT64_MIN;
	bool any = p->kind == BF_PRED_AND;

	*low = PG_INT64_MIN;
	*high = PG_INT64_MAX;
	if (p->kind == BF_PRED_FALSE)
		return false;
	for (int32 i = 0; i < p->n_children; i++)
	{
		int64 l;
		int64 h;
		bool some = bifang_pred_hull(p->children[i], field, &l, &h);

		if (p->kind == BF_PRED_AND)
		{
			if (!some)
				return false;
			*low = Max(*low, l);
			*high = Min(*high, h);
		}
		else if (some)
		{
			any = true;
			first = Min(first, l);
			last = Max(last, h);
		}
	}
	if (p->kind == BF_PRED_OR)
	{
		*low = first;
		*high = last;
		return any;
	}
	if (p->field != field)
		return *low <= *high;
	switch (p->kind)
	{
		case BF_PRED_EQ: *low = *high = whole_number(&p->values[0]); break;
		case BF_PRED_IN:
			*low = whole_number(&p->values[0]);
			*high = whole_number(&p->values[p->n_values - 1]);
			break;
		case BF_PRED_LT:
		case BF_PRED_LE: *high = whole_number(&p->values[0]); break;
		case BF_PRED_GT:
		case BF_PRED_GE: *low = whole_number(&p->values[0]); break;
		default: break;
	}
	return true;
}
