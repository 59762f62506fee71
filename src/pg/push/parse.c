/*
 * pg/push/parse.c: clauses taken apart into conditions; see pushdown.h.
 *
 * A clause becomes a tree of conditions once, in negation normal form: the planner asks whether
 * there is anything useful in it, the executor evaluates the values and builds a BfPred of it. What
 * is not understood is BIFANG_COND_UNKNOWN, which may always be true.
 */
#include "pg/push/internal.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "pg/server/version.h"

static BifangCond *
cond_new(BifangCondKind kind)
{
	BifangCond *c = palloc0(sizeof *c);

	c->kind = kind;
	c->value = -1;
	return c;
}

static BifangCond *
unknown(void)
{
	return cond_new(BIFANG_COND_UNKNOWN);
}

/* Can it be evaluated before the first row? */
static bool
is_value(const BifangPushParse *p, Node *node)
{
	return !bms_is_member((int) p->varno, pull_varnos(NULL, node)) &&
		   !contain_volatile_functions(node) && !contain_subplans(node);
}

static int
add_value(BifangPushParse *p, Expr *expr)
{
	BifangPushValue *v = palloc0(sizeof *v);

	Assert(is_value(p, (Node *) expr));
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
match_column(const BifangPushParse *p, Node *node, AttrNumber *attnum, Oid *domain, bool *as_date)
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
is_column(const BifangPushParse *p, Node *node, AttrNumber *attnum)
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

/* column op value in a BifangCond without kind; NULL when it is something else. */
static BifangCond *
parse_comparison(BifangPushParse *p, Oid op, Oid collation, Node *left, Node *right, bool negate,
				 bool is_array)
{
	BifangCond *c = cond_new(BIFANG_COND_COMPARE);
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
	Assert(c->cmp.op > 0 && c->cmp.op <= BIFANG_PUSH_NE);
	c->value = add_value(p, (Expr *) right);
	return c;
}

static BifangCond *
parse_like(BifangPushParse *p, Node *left, Node *right, Oid collation, BifangCondKind kind)
{
	BifangCond *c = cond_new(kind);

	if (!match_column(p, left, &c->attnum, &c->cmp.domain, &c->cmp.as_date) ||
		c->cmp.domain != TEXTOID || exprType(right) != TEXTOID || !is_value(p, right) ||
		!bytewise_equality(collation))
		return unknown();
	c->value = add_value(p, (Expr *) right);
	return c;
}

static BifangCond *
parse_operator(BifangPushParse *p, OpExpr *e, bool negate)
{
	BifangCond *c;

	if (list_length(e->args) != 2)
		return unknown();
	if (e->opno == OID_TEXT_LIKE_OP && !negate)
		return parse_like(p, linitial(e->args), lsecond(e->args), e->inputcollid, BIFANG_COND_LIKE);
	if (e->opfuncid == F_STARTS_WITH && !negate)
		return parse_like(p, linitial(e->args), lsecond(e->args), e->inputcollid,
						  BIFANG_COND_PREFIX);
	c = parse_comparison(p, e->opno, e->inputcollid, linitial(e->args), lsecond(e->args), negate,
						 false);
	return c == NULL ? unknown() : c;
}

static BifangCond *
parse_distinct(BifangPushParse *p, OpExpr *e, bool negate)
{
	/* The operator is the equality; without NOT its negation is meant. */
	BifangCond *c = parse_comparison(p, e->opno, e->inputcollid, linitial(e->args),
									 lsecond(e->args), !negate, false);

	if (c == NULL || (c->cmp.op != BTEqualStrategyNumber && c->cmp.op != BIFANG_PUSH_NE))
		return unknown();
	c->kind = BIFANG_COND_DISTINCT;
	return c;
}

static BifangCond *
parse_array(BifangPushParse *p, ScalarArrayOpExpr *e, bool negate)
{
	BifangCond *c = parse_comparison(p, e->opno, e->inputcollid, linitial(e->args),
									 lsecond(e->args), negate, true);

	if (c == NULL)
		return unknown();
	c->kind = BIFANG_COND_ARRAY;
	c->any = e->useOr != negate;
	return c;
}

/* (a, b) < (1, 2) needs a <= 1 at least. */
static BifangCond *
parse_row_compare(BifangPushParse *p, RowCompareExpr *e, bool negate)
{
	BifangCond *c = parse_comparison(p, linitial_oid(e->opnos), linitial_oid(e->inputcollids),
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

static BifangCond *
parse_connective(BifangPushParse *p, BoolExpr *e, bool negate)
{
	BifangCond *c;
	ListCell *lc;

	if (e->boolop == NOT_EXPR)
		return bifang_push_parse(p, linitial(e->args), !negate);
	c = cond_new((e->boolop == AND_EXPR) != negate ? BIFANG_COND_AND : BIFANG_COND_OR);
	foreach (lc, e->args)
		c->children = lappend(c->children, bifang_push_parse(p, lfirst(lc), negate));
	return c;
}

/* A boolean column as a condition of its own. */
static BifangCond *
column_is(BifangPushParse *p, AttrNumber attnum, bool value)
{
	BifangCond *c = cond_new(BIFANG_COND_COMPARE);

	c->attnum = attnum;
	c->cmp = (BifangComparison){BOOLOID, BTEqualStrategyNumber, false, BOOLOID};
	c->value = add_value(p, (Expr *) makeBoolConst(value, false));
	return c;
}

static BifangCond *
null_test(AttrNumber attnum, bool is_null)
{
	BifangCond *c = cond_new(is_null ? BIFANG_COND_NULL : BIFANG_COND_NOT_NULL);

	c->attnum = attnum;
	return c;
}

static BifangCond *
parse_bool_test(BifangPushParse *p, BooleanTest *e, bool negate)
{
	AttrNumber attnum;
	bool column = is_column(p, (Node *) e->arg, &attnum);
	BoolTestType type = e->booltesttype;
	BifangCond *c;

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
		return bifang_push_parse(p, (Node *) e->arg, type == IS_FALSE);
	if (!column)
		return unknown();
	if (type == IS_UNKNOWN || type == IS_NOT_UNKNOWN)
		return null_test(attnum, type == IS_UNKNOWN);
	c = cond_new(BIFANG_COND_OR);
	c->children = list_make2(null_test(attnum, true), column_is(p, attnum, type == IS_NOT_FALSE));
	return c;
}

BifangCond *
bifang_push_parse(BifangPushParse *p, Node *node, bool negate)
{
	AttrNumber attnum;

	check_stack_depth();
	if (!IsA(node, BoolExpr) && exprType(node) == BOOLOID && is_value(p, node))
	{
		BifangCond *c = cond_new(BIFANG_COND_VALUE);

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
				return parse_like(p, linitial(e->args), lsecond(e->args), e->inputcollid,
								  BIFANG_COND_PREFIX);
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
is_useful(const BifangCond *c)
{
	ListCell *lc;

	switch (c->kind)
	{
		case BIFANG_COND_UNKNOWN: return false;
		case BIFANG_COND_AND:
			foreach (lc, c->children)
				if (is_useful(lfirst(lc)))
					return true;
			return false;
		case BIFANG_COND_OR:
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
	BifangPushParse p = {.varno = rel->relid};

	(void) root;
	if (rinfo->pseudoconstant || !restriction_is_securely_promotable(rinfo, rel))
		return false;
	return is_useful(bifang_push_parse(&p, (Node *) rinfo->clause, false));
}
