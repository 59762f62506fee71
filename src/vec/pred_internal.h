/*
 * What the files of vec/pred share.
 */
#ifndef BF_VEC_PRED_INTERNAL_H
#define BF_VEC_PRED_INTERNAL_H

#include "vec/pred.h"

static inline bool
bfi_pred_is_float(const BfValue *v)
{
	BfStorage s = bf_type_storage(v->type);

	return s == BF_STORE_F32 || s == BF_STORE_F64;
}

static inline bool
bfi_pred_is_nan(const BfValue *v)
{
	BfStorage s = bf_type_storage(v->type);

	return (s == BF_STORE_F32 && v->v.f32 != v->v.f32) ||
		   (s == BF_STORE_F64 && v->v.f64 != v->v.f64);
}

/* Are values of the type compared byte by byte? */
extern bool bfi_pred_is_bytes(BfType t);

_Static_assert(BF_PRED_EQ == BF_PRED_UNKNOWN + 1 && BF_PRED_IS_NULL == BF_PRED_PREFIX + 1,
			   "the kinds that compare with values stand together");

/* Does the leaf compare with values? Then it has at least one, and none of them is NULL. */
static inline bool
bfi_pred_has_values(BfPredKind k)
{
	return k >= BF_PRED_EQ && k <= BF_PRED_PREFIX;
}

/* Index of the first of the values that is not less than v. */
extern int32_t bfi_pred_lower_bound(const BfPred *p, const BfValue *v);

/* May one of the leaf's values be there? What equals it may have other bits. */
extern bool bfi_pred_may_have(const BfPred *p, const BfValue *v, BfMayHave has, void *arg);

/* The leaf's kind over a column of that type: FALSE or NOT_NULL where its values say no more. */
extern BfPredKind bfi_pred_effective_kind(const BfPred *p, BfType type);

/* Words of a bit set of n rows. */
static inline size_t
bfi_pred_words(int32_t n)
{
	return ((size_t) n + 63) / 64;
}

/* Clears the bits of rows of a flat vector for which the leaf, of this effective kind, is false.
 * NULLs are no candidates. v->n counts, which of a dictionary may be more than a batch has. */
extern void bfi_pred_filter_flat(const BfPred *p, BfPredKind op, const BfVector *v, uint64_t *rows);

#endif
