/*
 * What two files say of their columns, as what one with the rows of both would say.
 *
 * Counts add up where both are told. Bounds are the wider ones; where one file has none the other's
 * hold only if the first has no value that they could leave out, nothing but NULLs and NaNs.
 */
#include "base/sort.h"
#include "iceberg/internal.h"
#include "iceberg/metrics.h"

/* Arrays are ascending by id. NULL = the column is not in it. */
static const BfIceCount *
find_count(const BfIceCount *counts, int32_t n, int32_t id)
{
	int32_t at;

	BF_SEARCH(int32_t, at, n, i, counts[i].field_id < id);
	return at < n && counts[at].field_id == id ? &counts[at] : NULL;
}

static BfStatus
add_counts(BfArena *a, const BfIceCount *x, int32_t n_x, const BfIceCount *y, int32_t n_y,
		   BfIceCount **out, int32_t *n, BfError *err)
{
	BfIceCount *sums;
	int32_t left = 0;

	BF_NEW(a, sums, n_x, err);
	for (int32_t i = 0; i < n_x; i++)
	{
		const BfIceCount *other = find_count(y, n_y, x[i].field_id);

		sums[left] = x[i];
		if (other != NULL && x[i].count >= 0 && other->count >= 0 &&
			!__builtin_add_overflow(x[i].count, other->count, &sums[left].count))
			left++;
	}
	BF_ASSERT(left <= n_x);
	*out = sums;
	*n = left;
	return BF_OK;
}

/* Has the file no value of the column that a bound is about? */
static bool
has_none(const BfIceFileMetrics *m, int32_t id)
{
	const BfIceCount *values = find_count(m->value_counts, m->n_value_counts, id);
	const BfIceCount *nulls = find_count(m->null_counts, m->n_null_counts, id);
	const BfIceCount *nans = find_count(m->nan_counts, m->n_nan_counts, id);

	return values != NULL && nulls != NULL && nulls->count >= 0 &&
		   values->count - nulls->count == (nans != NULL ? nans->count : 0);
}

/* Of two bounds of one column the one that holds for both; NULL = nobody can tell. */
static const BfIceBound *
wider(const BfIceMetadata *m, const BfIceBound *x, const BfIceBound *y, bool upper)
{
	const BfField *f = bf_ice_field_anywhere(m, x->field_id);
	BfValue a, b;
	int order;

	BF_ASSERT(x->field_id == y->field_id);
	if (f == NULL || !bf_ice_bound_value(x->bytes, f->type, &a) ||
		!bf_ice_bound_value(y->bytes, f->type, &b) || bfi_value_is_nan(&a) || bfi_value_is_nan(&b))
		return NULL;
	order = bf_value_compare(&a, &b);
	return (upper ? order >= 0 : order <= 0) ? x : y;
}

typedef struct Side
{
	const BfIceFileMetrics *file;
	const BfIceBound *bounds;
	int32_t n;
} Side;

static BfStatus
widen(BfArena *a, const BfIceMetadata *m, const Side *x, const Side *y, bool upper,
	  BfIceBound **out, int32_t *n, BfError *err)
{
	BfIceBound *bounds;
	int32_t i = 0, k = 0, left = 0;

	BF_NEW(a, bounds, (size_t) x->n + (size_t) y->n, err);
	while (i < x->n || k < y->n)
	{
		const BfIceBound *one = i < x->n ? &x->bounds[i] : NULL;
		const BfIceBound *other = k < y->n ? &y->bounds[k] : NULL;
		const BfIceBound *both;

		if (other == NULL || (one != NULL && one->field_id < other->field_id))
		{
			both = has_none(y->file, one->field_id) ? one : NULL;
			i++;
		}
		else if (one == NULL || other->field_id < one->field_id)
		{
			both = has_none(x->file, other->field_id) ? other : NULL;
			k++;
		}
		else
		{
			both = wider(m, one, other, upper);
			i++;
			k++;
		}
		if (both != NULL)
			bounds[left++] = *both;
	}
	BF_ASSERT(left <= x->n + y->n);
	*out = bounds;
	*n = left;
	return BF_OK;
}

BfStatus
bfi_metrics_union(BfArena *a, const BfIceMetadata *m, const BfIceFileMetrics *x,
				  const BfIceFileMetrics *y, BfIceFileMetrics *out, BfError *err)
{
	BfIceFileMetrics u = {.n_lower = 0};

	BF_ASSERT(x->n_lower >= 0 && y->n_lower >= 0);
	BF_TRY(add_counts(a, x->value_counts, x->n_value_counts, y->value_counts, y->n_value_counts,
					  &u.value_counts, &u.n_value_counts, err));
	BF_TRY(add_counts(a, x->null_counts, x->n_null_counts, y->null_counts, y->n_null_counts,
					  &u.null_counts, &u.n_null_counts, err));
	BF_TRY(add_counts(a, x->nan_counts, x->n_nan_counts, y->nan_counts, y->n_nan_counts,
					  &u.nan_counts, &u.n_nan_counts, err));
	BF_TRY(widen(a, m, &(Side){x, x->lower, x->n_lower}, &(Side){y, y->lower, y->n_lower}, false,
				 &u.lower, &u.n_lower, err));
	BF_TRY(widen(a, m, &(Side){x, x->upper, x->n_upper}, &(Side){y, y->upper, y->n_upper}, true,
				 &u.upper, &u.n_upper, err));
	*out = u;
	return BF_OK;
}
