/*
 * pg/push/build.c: conditions with their values as a BfPred; see pushdown.h.
 */
#include "pg/push/internal.h"

#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* Beyond this, comparisons of one array that are not equalities become UNKNOWN. */
#define ARRAY_LEAVES_MAX 100

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
build_like(Build *b, const BifangCond *c, const BifangPushColumn *column, Datum value)
{
	text *t = DatumGetTextPP(value);
	size_t n;
	bool whole;
	char *prefix;

	if (c->kind == BIFANG_COND_PREFIX)
		return bifang_push_text(b->a, column, VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t), true);
	prefix = like_prefix(t, &n, &whole);
	return bifang_push_text(b->a, column, prefix, n, !whole);
}

/* All leaves of one kind as one list. */
static BfPred *
list_of(Build *b, BfPredKind kind, BfPred **leaves, int32 n)
{
	BfPred *p = bifang_pred_new(b->a, kind);

	Assert(n > 0 && leaves[0]->field >= 0);
	p->field = leaves[0]->field;
	p->values = bf_arena_alloc_array(b->a, (size_t) n, sizeof *p->values);
	if (p->values == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	for (int32 i = 0; i < n; i++)
	{
		Assert(leaves[i]->n_values == 1 && leaves[i]->field == p->field);
		p->values[i] = leaves[i]->values[0];
	}
	p->n_values = bf_pred_sort_values(p->values, n);
	return p;
}

static int
array_size(Datum array)
{
	ArrayType *arr = DatumGetArrayTypeP(array);

	return ArrayGetNItems(ARR_NDIM(arr), ARR_DIMS(arr));
}

static BfPred *
build_array(Build *b, const BifangCond *c, const BifangPushColumn *column, Datum array)
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

	Assert(c->cmp.op != 0);
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
	Assert(n_others <= ARRAY_LEAVES_MAX + 1);
	if (n_others == 0)
		return bifang_pred_new(b->a, c->any ? BF_PRED_FALSE : BF_PRED_TRUE);
	return bifang_pred_join(b->a, c->any ? BF_PRED_OR : BF_PRED_AND, others, n_others);
}

/* Whatever the column is: compared with NULL, or with any of no values. */
static bool
never_true(const Build *b, const BifangCond *c)
{
	const BifangPushValue *v;

	if (c->kind == BIFANG_COND_NULL || c->kind == BIFANG_COND_NOT_NULL ||
		c->kind == BIFANG_COND_DISTINCT)
		return false;
	v = list_nth(b->p->values, c->value);
	if (!v->known)
		return false;
	return v->isnull || (c->kind == BIFANG_COND_ARRAY && c->any && array_size(v->datum) == 0);
}

static BfPred *build(Build *b, const BifangCond *c);

static BfPred *
build_children(Build *b, const BifangCond *c)
{
	BfPred **children = palloc((Size) (list_length(c->children) + 1) * sizeof *children);
	int32 n = 0;
	ListCell *lc;

	foreach (lc, c->children)
		children[n++] = build(b, lfirst(lc));
	return bifang_pred_join(b->a, c->kind == BIFANG_COND_AND ? BF_PRED_AND : BF_PRED_OR, children,
							n);
}

/* A column and a value. */
static BfPred *
build_comparison(Build *b, const BifangCond *c, const BifangPushColumn *column)
{
	const BifangPushValue *v = list_nth(b->p->values, c->value);
	BfPred *both[2];

	if (!v->known)
		return bifang_pred_new(b->a, BF_PRED_UNKNOWN);
	if (c->kind == BIFANG_COND_DISTINCT && v->isnull)
		return bifang_pred_null_test(b->a, column, c->cmp.op == BTEqualStrategyNumber);
	switch (c->kind)
	{
		case BIFANG_COND_LIKE:
		case BIFANG_COND_PREFIX: return build_like(b, c, column, v->datum);
		case BIFANG_COND_ARRAY: return build_array(b, c, column, v->datum);
		case BIFANG_COND_DISTINCT:
			both[0] = bifang_push_compare(b->a, column, c->cmp, v->datum);
			both[1] = bifang_pred_null_test(b->a, column, true);
			return bifang_pred_join(b->a, BF_PRED_OR, both,
									c->cmp.op == BTEqualStrategyNumber ? 1 : 2);
		default: return bifang_push_compare(b->a, column, c->cmp, v->datum);
	}
}

static BfPred *
build(Build *b, const BifangCond *c)
{
	BifangPushColumn column;
	const BifangPushValue *v;

	check_stack_depth();
	switch (c->kind)
	{
		case BIFANG_COND_UNKNOWN: return bifang_pred_new(b->a, BF_PRED_UNKNOWN);
		case BIFANG_COND_AND:
		case BIFANG_COND_OR: return build_children(b, c);
		case BIFANG_COND_VALUE:
			v = list_nth(b->p->values, c->value);
			if (!v->known)
				return bifang_pred_new(b->a, BF_PRED_UNKNOWN);
			return bifang_pred_new(b->a, !v->isnull && DatumGetBool(v->datum) != c->negate
											 ? BF_PRED_TRUE
											 : BF_PRED_FALSE);
		default: break;
	}
	if (never_true(b, c))
		return bifang_pred_new(b->a, BF_PRED_FALSE);
	Assert(c->attnum > 0);
	if (!b->column_of(b->arg, c->attnum, &column))
		return bifang_pred_new(b->a, BF_PRED_UNKNOWN);
	if (c->kind == BIFANG_COND_NULL || c->kind == BIFANG_COND_NOT_NULL)
		return bifang_pred_null_test(b->a, &column, c->kind == BIFANG_COND_NULL);
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
	Assert(p->evaluated);
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
