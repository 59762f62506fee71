/*
 * May a row of a set match, given what is known of the set?
 *
 * Every rule below is of the form "no value x with min <= x <= max satisfies the leaf". NaN is
 * outside of all bounds, above every number, and there whenever nobody says that it is not.
 */
#include "vec/pred_internal.h"

/* One column's facts, checked. A bound that can't be used is NULL. */
typedef struct Facts
{
	const BfValue *min;
	const BfValue *max;
	bool no_nulls;
	bool all_null;
	bool nan; /* there may be NaN; false for columns that are not floats */
} Facts;

static const BfValue *
usable_bound(bool has, const BfValue *bound, BfType type)
{
	if (!has || bound->is_null || !bf_pred_comparable(bound->type, type) || bfi_pred_is_nan(bound))
		return NULL;
	return bound;
}

static void
take_facts(const BfColumnStats *s, const BfPred *p, Facts *f)
{
	bool counted = s->row_count >= 0 && s->null_count >= 0 && s->null_count <= s->row_count;
	bool contradiction;

	memset(f, 0, sizeof *f);
	/* More NULLs than rows is a broken count: it says nothing, not even "none". */
	f->no_nulls = s->null_count == 0 && (s->row_count < 0 || counted);
	/* NULLs alone have no bounds: one of the two is wrong, and nobody knows which. */
	contradiction = counted && s->null_count == s->row_count && (s->has_min || s->has_max);
	f->all_null = counted && s->null_count == s->row_count && !contradiction;
	if (!bfi_pred_has_values(p->kind) || p->n_values < 1 || p->values[0].is_null || contradiction)
		return;
	f->min = usable_bound(s->has_min, &s->min, p->values[0].type);
	f->max = usable_bound(s->has_max, &s->max, p->values[0].type);
	if (f->min != NULL && f->max != NULL && bf_value_compare(f->min, f->max) > 0)
		f->min = f->max = NULL;
	f->nan = bfi_pred_is_float(p->values) && s->may_have_nan;
}

static bool
may_equal(const Facts *f, const BfValue *v)
{
	if (bfi_pred_is_nan(v))
		return f->nan;
	return (f->min == NULL || bf_value_compare(f->min, v) <= 0) &&
		   (f->max == NULL || bf_value_compare(v, f->max) <= 0);
}

/* The only value that a row can have; NULL when there may be several. */
static const BfValue *
only_value(const Facts *f)
{
	if (f->nan || f->min == NULL || f->max == NULL || bf_value_compare(f->min, f->max) != 0)
		return NULL;
	BF_ASSERT(!f->all_null && !bfi_pred_is_nan(f->min));
	return f->min;
}

static bool
may_be_in(const Facts *f, const BfPred *p)
{
	int32_t n = p->n_values;
	int32_t i;

	BF_ASSERT(n > 0);
	/* NaN is the last of the values, and no bound speaks of it. */
	if (bfi_pred_is_nan(&p->values[n - 1]))
	{
		if (f->nan)
			return true;
		n--;
	}
	i = f->min != NULL ? bfi_pred_lower_bound(p, f->min) : 0;
	return i < n && (f->max == NULL || bf_value_compare(&p->values[i], f->max) <= 0);
}

static bool
may_not_be_in(const Facts *f, const BfPred *p)
{
	const BfValue *only = only_value(f);
	int32_t i;

	if (only == NULL)
		return true;
	i = bfi_pred_lower_bound(p, only);
	return i == p->n_values || bf_value_compare(&p->values[i], only) != 0;
}

/* Everything that starts with the prefix lies between it and what its last byte counted up gives.
 */
static bool
may_start_with(const Facts *f, BfView prefix)
{
	if (f->max != NULL)
	{
		BfView max = f->max->v.view;
		uint32_t n = max.len < prefix.len ? max.len : prefix.len;
		int c = n > 0 ? memcmp(max.ptr, prefix.ptr, n) : 0;

		if (c < 0 || (c == 0 && max.len < prefix.len))
			return false;
	}
	if (f->min != NULL)
	{
		BfView min = f->min->v.view;
		uint32_t n = min.len < prefix.len ? min.len : prefix.len;

		if (n > 0 && memcmp(min.ptr, prefix.ptr, n) > 0)
			return false;
	}
	return true;
}

/* The leaf has comparable values, and the set has rows that are not NULL. */
static bool
may_compare(const Facts *f, const BfPred *p)
{
	const BfValue *v = &p->values[0];
	const BfValue *only;

	BF_ASSERT(bfi_pred_has_values(p->kind) && p->n_values > 0 && !f->all_null);
	BF_ASSERT(p->kind != BF_PRED_PREFIX || bfi_pred_is_bytes(v->type));
	switch (p->kind)
	{
		case BF_PRED_EQ: return may_equal(f, v);
		case BF_PRED_NE:
			only = only_value(f);
			return only == NULL || bf_value_compare(only, v) != 0;
		case BF_PRED_LT: return f->min == NULL || bf_value_compare(f->min, v) < 0;
		case BF_PRED_LE: return f->min == NULL || bf_value_compare(f->min, v) <= 0;
		case BF_PRED_GT:
			if (bfi_pred_is_nan(v))
				return false;
			return f->nan || f->max == NULL || bf_value_compare(f->max, v) > 0;
		case BF_PRED_GE: return f->nan || f->max == NULL || bf_value_compare(f->max, v) >= 0;
		case BF_PRED_IN: return may_be_in(f, p);
		case BF_PRED_NOT_IN: return may_not_be_in(f, p);
		default: return may_start_with(f, v->v.view);
	}
}

/* Whom to ask about a set. */
typedef struct Ask
{
	BfStatsOf stats_of;
	BfMayHave has; /* NULL = nobody */
	void *arg;
} Ask;

/* The same for one of the values after the other: is it within the bounds, and there? */
static bool
may_have_any(const Ask *ask, const Facts *f, const BfPred *p)
{
	int32_t n = p->kind == BF_PRED_IN ? p->n_values : 1;

	BF_ASSERT(p->kind == BF_PRED_IN || p->kind == BF_PRED_EQ);
	for (int32_t i = 0; i < n; i++)
		if (may_equal(f, &p->values[i]) && bfi_pred_may_have(p, &p->values[i], ask->has, ask->arg))
			return true;
	return false;
}

static void
nothing_known(BfColumnStats *s)
{
	memset(s, 0, sizeof *s);
	s->null_count = s->row_count = -1;
	s->may_have_nan = true;
}

static bool
may_match_leaf(const BfPred *p, const Ask *ask)
{
	BfPredKind kind = p->kind;
	bool ask_values = ask->has != NULL && (kind == BF_PRED_EQ || kind == BF_PRED_IN);
	BfColumnStats s;
	Facts f;

	BF_ASSERT(kind >= BF_PRED_EQ && kind <= BF_PRED_NOT_NULL);
	nothing_known(&s);
	if (!ask->stats_of(ask->arg, p->field, &s) || !s.known)
	{
		if (!ask_values || p->n_values < 1)
			return kind != BF_PRED_IN || p->n_values > 0;
		nothing_known(&s);
	}
	take_facts(&s, p, &f);
	if (s.row_count == 0)
		return false;
	if (kind == BF_PRED_IS_NULL)
		return !f.no_nulls;
	if (f.all_null)
		return false;
	/* Bounds that can't be compared were left out by take_facts: only the values count here. */
	kind = bfi_pred_effective_kind(p, p->n_values > 0 ? p->values[0].type : BF_TYPE(NULL));
	if (kind == BF_PRED_FALSE)
		return false;
	if (ask_values && (kind == BF_PRED_EQ || kind == BF_PRED_IN))
		return may_have_any(ask, &f, p);
	return !bfi_pred_has_values(kind) || may_compare(&f, p);
}

static bool
may_match(const BfPred *p, const Ask *ask, int depth)
{
	if (depth > BF_PRED_DEPTH_MAX)
		return true;
	switch (p->kind)
	{
		case BF_PRED_FALSE: return false;
		case BF_PRED_TRUE:
		case BF_PRED_UNKNOWN: return true;
		case BF_PRED_AND:
			for (int32_t i = 0; i < p->n_children; i++)
				if (!may_match(p->children[i], ask, depth + 1))
					return false;
			return true;
		case BF_PRED_OR:
			for (int32_t i = 0; i < p->n_children; i++)
				if (may_match(p->children[i], ask, depth + 1))
					return true;
			return false;
		default: return may_match_leaf(p, ask);
	}
}

bool
bf_pred_may_match(const BfPred *p, BfStatsOf stats_of, void *arg)
{
	Ask ask = {.stats_of = stats_of, .arg = arg};

	return may_match(p, &ask, 0);
}

bool
bf_pred_may_match_and_contain(const BfPred *p, BfStatsOf stats_of, BfMayHave has, void *arg)
{
	Ask ask = {.stats_of = stats_of, .has = has, .arg = arg};

	return may_match(p, &ask, 0);
}
