/*
 * Predicates without values at hand: what they may find in a set of values, which fields they name,
 * which kinds can be compared.
 */
#include "vec/pred_internal.h"

#include "base/sort.h"

/* Kinds whose values mean the same when their storage is the same. 0: only the kind itself. */
typedef enum KindClass
{
	CLASS_NONE,
	CLASS_INTEGER,
	CLASS_FLOAT,
	CLASS_BYTES
} KindClass;

static KindClass
class_of(BfKind k)
{
	switch (k)
	{
		case BF_KIND_INT8:
		case BF_KIND_INT16:
		case BF_KIND_INT32:
		case BF_KIND_INT64:
		case BF_KIND_UINT8:
		case BF_KIND_UINT16:
		case BF_KIND_UINT32: return CLASS_INTEGER;
		case BF_KIND_FLOAT16:
		case BF_KIND_FLOAT32: return CLASS_FLOAT;
		case BF_KIND_STRING:
		case BF_KIND_JSON:
		case BF_KIND_ENUM:
		case BF_KIND_BINARY:
		case BF_KIND_BSON:
		case BF_KIND_UUID:
		case BF_KIND_FIXED: return CLASS_BYTES;
		default: return CLASS_NONE;
	}
}

bool
bfi_pred_is_bytes(BfType t)
{
	return class_of(t.kind) == CLASS_BYTES;
}

bool
bf_pred_comparable(BfType a, BfType b)
{
	BfStorage storage = bf_type_storage(a);

	if (storage != bf_type_storage(b) || storage == BF_STORE_NONE || storage == BF_STORE_NESTED)
		return false;
	if (a.kind == b.kind)
		return a.kind != BF_KIND_DECIMAL || a.scale == b.scale;
	return class_of(a.kind) != CLASS_NONE && class_of(a.kind) == class_of(b.kind);
}

BfPredKind
bfi_pred_effective_kind(const BfPred *p, BfType type)
{
	if (!bfi_pred_has_values(p->kind))
		return p->kind;
	if (p->n_values <= 0)
		return p->kind == BF_PRED_IN ? BF_PRED_FALSE : BF_PRED_NOT_NULL;
	if (p->values[0].is_null)
		return BF_PRED_FALSE;
	if (!bf_pred_comparable(p->values[0].type, type) ||
		(p->kind == BF_PRED_PREFIX && !bfi_pred_is_bytes(type)))
		return BF_PRED_NOT_NULL;
	/* What comes behind the first value is the builder's word. */
	for (int32_t i = 1; i < p->n_values; i++)
		BF_ASSERT(!p->values[i].is_null && bf_type_equal(p->values[i].type, p->values[0].type) &&
				  bf_value_compare(&p->values[i - 1], &p->values[i]) < 0);
	return p->kind;
}

int32_t
bfi_pred_lower_bound(const BfPred *p, const BfValue *v)
{
	int32_t at;

	BF_SEARCH(int32_t, at, p->n_values, i, bf_value_compare(&p->values[i], v) < 0);
	return at;
}

/* One value: what equals it under PostgreSQL's rules may have other bits. */
bool
bfi_pred_may_have(const BfPred *p, const BfValue *v, BfMayHave has, void *arg)
{
	BfValue other = *v;

	if (v->is_null)
		return p->kind == BF_PRED_IN;
	if (v->type.kind == BF_KIND_INTERVAL || v->type.kind == BF_KIND_INT96 || bfi_pred_is_nan(v))
		return true;
	if (has(arg, p->field, v))
		return true;
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_F32:
			other.v.f32 = -v->v.f32;
			return v->v.f32 == 0 && has(arg, p->field, &other);
		case BF_STORE_F64:
			other.v.f64 = -v->v.f64;
			return v->v.f64 == 0 && has(arg, p->field, &other);
		default: return false;
	}
}

static bool
may_contain(const BfPred *p, BfMayHave has, void *arg, int depth)
{
	if (depth > BF_PRED_DEPTH_MAX)
		return true;
	switch (p->kind)
	{
		case BF_PRED_FALSE: return false;
		case BF_PRED_EQ: return p->n_values < 1 || bfi_pred_may_have(p, p->values, has, arg);
		case BF_PRED_IN:
			for (int32_t i = 0; i < p->n_values; i++)
				if (bfi_pred_may_have(p, &p->values[i], has, arg))
					return true;
			return false;
		case BF_PRED_AND:
			for (int32_t i = 0; i < p->n_children; i++)
				if (!may_contain(p->children[i], has, arg, depth + 1))
					return false;
			return true;
		case BF_PRED_OR:
			for (int32_t i = 0; i < p->n_children; i++)
				if (may_contain(p->children[i], has, arg, depth + 1))
					return true;
			return false;
		default: return true;
	}
}

bool
bf_pred_may_contain(const BfPred *p, BfMayHave has, void *arg)
{
	return may_contain(p, has, arg, 0);
}

/* How many leaves name a field; nothing deeper than what is evaluated. */
static int32_t
collect_fields(const BfPred *p, int32_t *out, int32_t n, int depth)
{
	if (depth > BF_PRED_DEPTH_MAX)
		return n;
	if (p->kind == BF_PRED_AND || p->kind == BF_PRED_OR)
	{
		for (int32_t i = 0; i < p->n_children; i++)
			n = collect_fields(p->children[i], out, n, depth + 1);
		return n;
	}
	if (p->field >= 0 && p->kind >= BF_PRED_EQ)
	{
		if (out != NULL)
			out[n] = p->field;
		n++;
	}
	return n;
}

static int
compare_fields(const void *x, const void *y)
{
	int32_t a = *(const int32_t *) x, b = *(const int32_t *) y;

	return (a > b) - (a < b);
}

static int
compare_values(const void *x, const void *y)
{
	return bf_value_compare(x, y);
}

BfStatus
bf_pred_fields(const BfPred *p, BfArena *a, int32_t **fields, int32_t *n, BfError *err)
{
	int32_t all = collect_fields(p, NULL, 0, 0);

	*n = 0;
	BF_NEW(a, *fields, all, err);
	collect_fields(p, *fields, 0, 0);
	bf_sort(*fields, (size_t) all, sizeof **fields, compare_fields);
	for (int32_t i = 0; i < all; i++)
		if (*n == 0 || (*fields)[*n - 1] != (*fields)[i])
		{
			BF_ASSERT(*n == 0 || (*fields)[*n - 1] < (*fields)[i]);
			(*fields)[(*n)++] = (*fields)[i];
		}
	return BF_OK;
}

int32_t
bf_pred_sort_values(BfValue *values, int32_t n)
{
	int32_t m = 0;
	int32_t unique = 0;

	for (int32_t i = 0; i < n; i++)
		if (!values[i].is_null)
			values[m++] = values[i];
	bf_sort(values, (size_t) m, sizeof *values, compare_values);
	for (int32_t i = 0; i < m; i++)
	{
		BF_ASSERT(bf_type_equal(values[i].type, values[0].type));
		if (unique == 0 || bf_value_compare(&values[unique - 1], &values[i]) != 0)
			values[unique++] = values[i];
	}
	return unique;
}
