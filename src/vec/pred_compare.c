/*
 * Comparing the values of flat vectors.
 *
 * Numbers are compared in loops without branches over 64 rows at a time, which the compiler turns
 * into vector instructions; words without candidates are passed over. Text, and numbers that are
 * looked for among many, are taken one by one, candidates only.
 */
#include "vec/pred_internal.h"

/* Bit i is byte i of m, which is 0 or 1. */
static inline uint64_t
pack_bits(const uint8_t m[64])
{
	uint64_t bits = 0;

	for (int k = 0; k < 8; k++)
		bits |= ((bf_load64le(m + 8 * k) * UINT64_C(0x0102040810204080)) >> 56) << (8 * k);
	return bits;
}

/* Clears the rows for which `expr`, over the row's value `x`, is false. */
#define FILTER_LOOP(T, data, n, rows, expr)               \
	do                                                    \
	{                                                     \
		for (size_t w_ = 0; w_ < bfi_pred_words(n); w_++) \
		{                                                 \
			const T *p_ = (data) + w_ * 64;               \
			int32_t left_ = (n) - (int32_t) (w_ * 64);    \
			uint8_t m_[64];                               \
                                                          \
			if ((rows)[w_] == 0)                          \
				continue;                                 \
			if (left_ >= 64)                              \
			{                                             \
				for (int i_ = 0; i_ < 64; i_++)           \
				{                                         \
					T x = p_[i_];                         \
                                                          \
					m_[i_] = (uint8_t) (expr);            \
				}                                         \
			}                                             \
			else                                          \
			{                                             \
				memset(m_, 0, sizeof m_);                 \
				for (int i_ = 0; i_ < left_; i_++)        \
				{                                         \
					T x = p_[i_];                         \
                                                          \
					m_[i_] = (uint8_t) (expr);            \
				}                                         \
			}                                             \
			(rows)[w_] &= pack_bits(m_);                  \
		}                                                 \
	} while (0)

/* `!(x <= v)` for > and so on: of integers it is the same, and of floats it puts NaN above every
 * number as PostgreSQL does. */
#define DEFINE_COMPARE(name, T)                                                              \
	static void compare_##name(BfPredKind op, const T *data, T v, int32_t n, uint64_t *rows) \
	{                                                                                        \
		switch (op)                                                                          \
		{                                                                                    \
			case BF_PRED_EQ: FILTER_LOOP(T, data, n, rows, x == v); break;                   \
			case BF_PRED_NE: FILTER_LOOP(T, data, n, rows, !(x == v)); break;                \
			case BF_PRED_LT: FILTER_LOOP(T, data, n, rows, x < v); break;                    \
			case BF_PRED_LE: FILTER_LOOP(T, data, n, rows, x <= v); break;                   \
			case BF_PRED_GT: FILTER_LOOP(T, data, n, rows, !(x <= v)); break;                \
			default:                                                                         \
				BF_ASSERT(op == BF_PRED_GE);                                                 \
				FILTER_LOOP(T, data, n, rows, !(x < v));                                     \
				break;                                                                       \
		}                                                                                    \
	}

DEFINE_COMPARE(u8, uint8_t)
DEFINE_COMPARE(i32, int32_t)
DEFINE_COMPARE(i64, int64_t)
DEFINE_COMPARE(u64, uint64_t)
DEFINE_COMPARE(f32, float)
DEFINE_COMPARE(f64, double)
DEFINE_COMPARE(i128, bf_i128)

/* Comparison with NaN: a row is NaN, or it is below. */
#define DEFINE_COMPARE_NAN(name, T)                                                         \
	static void compare_nan_##name(BfPredKind op, const T *data, int32_t n, uint64_t *rows) \
	{                                                                                       \
		switch (op)                                                                         \
		{                                                                                   \
			case BF_PRED_EQ:                                                                \
			case BF_PRED_GE: FILTER_LOOP(T, data, n, rows, x != x); break;                  \
			case BF_PRED_NE:                                                                \
			case BF_PRED_LT: FILTER_LOOP(T, data, n, rows, x == x); break;                  \
			case BF_PRED_LE: break;                                                         \
			default:                                                                        \
				BF_ASSERT(op == BF_PRED_GT);                                                \
				memset(rows, 0, bfi_pred_words(n) * sizeof *rows);                          \
				break;                                                                      \
		}                                                                                   \
	}

DEFINE_COMPARE_NAN(f32, float)
DEFINE_COMPARE_NAN(f64, double)

/* Clears candidates one by one: `expr` over the row number `i`. */
#define FILTER_EACH(n, rows, expr)                                            \
	do                                                                        \
	{                                                                         \
		for (size_t w_ = 0; w_ < bfi_pred_words(n); w_++)                     \
			for (uint64_t left_ = (rows)[w_]; left_ != 0; left_ &= left_ - 1) \
			{                                                                 \
				size_t i = w_ * 64 + (size_t) __builtin_ctzll(left_);         \
                                                                              \
				if (!(expr))                                                  \
					(rows)[w_] &= ~(left_ & -left_);                          \
			}                                                                 \
	} while (0)

/* Is x one of the sorted values? NaN is the last of them and less than nothing. */
#define DEFINE_FIND(name, T, member)                         \
	static bool find_##name(const BfPred *p, T x)            \
	{                                                        \
		const BfValue *base = p->values;                     \
		int32_t n = p->n_values;                             \
                                                             \
		if (x != x)                                          \
			return base[n - 1].member != base[n - 1].member; \
		while (n > 1)                                        \
		{                                                    \
			int32_t half = n / 2;                            \
                                                             \
			base += (T) base[half].member <= x ? half : 0;   \
			n -= half;                                       \
		}                                                    \
		return x == (T) base->member;                        \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtautological-compare"
DEFINE_FIND(u8, uint8_t, v.u8)
DEFINE_FIND(i32, int32_t, v.i32)
DEFINE_FIND(i64, int64_t, v.i64)
DEFINE_FIND(u64, uint64_t, v.i64)
DEFINE_FIND(f32, float, v.f32)
DEFINE_FIND(f64, double, v.f64)
DEFINE_FIND(i128, bf_i128, v.i128)
#pragma GCC diagnostic pop

static int
compare_bytes(BfView a, BfView b)
{
	uint32_t n = a.len < b.len ? a.len : b.len;
	int c = n > 0 ? memcmp(a.ptr, b.ptr, n) : 0;

	return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}

static bool
equal_bytes(BfView a, BfView b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static bool
starts_with(BfView x, BfView prefix)
{
	return x.len >= prefix.len && (prefix.len == 0 || memcmp(x.ptr, prefix.ptr, prefix.len) == 0);
}

static bool
holds(BfPredKind op, int c)
{
	switch (op)
	{
		case BF_PRED_EQ: return c == 0;
		case BF_PRED_NE: return c != 0;
		case BF_PRED_LT: return c < 0;
		case BF_PRED_LE: return c <= 0;
		case BF_PRED_GT: return c > 0;
		default: return c >= 0;
	}
}

static int
compare_views(BfType type, BfView a, const BfValue *b)
{
	BfValue x;

	if (bfi_pred_is_bytes(type))
		return compare_bytes(a, b->v.view);
	x.is_null = false;
	x.type = type;
	x.v.view = a;
	return bf_value_compare(&x, b);
}

static bool
find_view(const BfPred *p, BfType type, BfView x)
{
	int32_t low = 0;
	int32_t high = p->n_values;

	while (low < high)
	{
		int32_t mid = low + (high - low) / 2;
		int c = compare_views(type, x, &p->values[mid]);

		if (c == 0)
			return true;
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return false;
}

static void
filter_views(const BfPred *p, BfPredKind op, const BfVector *v, uint64_t *rows)
{
	const BfView *x = v->data.view;
	BfType type = v->type;
	const BfValue *to = p->values;

	BF_ASSERT(op != BF_PRED_PREFIX || bfi_pred_is_bytes(type));
	switch (op)
	{
		case BF_PRED_IN: FILTER_EACH(v->n, rows, find_view(p, type, x[i])); return;
		case BF_PRED_NOT_IN: FILTER_EACH(v->n, rows, !find_view(p, type, x[i])); return;
		case BF_PRED_PREFIX: FILTER_EACH(v->n, rows, starts_with(x[i], to->v.view)); return;
		default: break;
	}
	if (op == BF_PRED_EQ && bfi_pred_is_bytes(type))
		FILTER_EACH(v->n, rows, equal_bytes(x[i], to->v.view));
	else if (op == BF_PRED_NE && bfi_pred_is_bytes(type))
		FILTER_EACH(v->n, rows, !equal_bytes(x[i], to->v.view));
	else
		FILTER_EACH(v->n, rows, holds(op, compare_views(type, x[i], to)));
}

static void
compare_value(const BfVector *v, BfPredKind op, const BfValue *to, uint64_t *rows)
{
	switch (v->storage)
	{
		case BF_STORE_U8: compare_u8(op, v->data.u8, to->v.u8, v->n, rows); break;
		case BF_STORE_I32: compare_i32(op, v->data.i32, to->v.i32, v->n, rows); break;
		case BF_STORE_I64:
			if (v->type.kind == BF_KIND_UINT64)
				compare_u64(op, (const uint64_t *) v->data.i64, (uint64_t) to->v.i64, v->n, rows);
			else
				compare_i64(op, v->data.i64, to->v.i64, v->n, rows);
			break;
		case BF_STORE_F32:
			if (bfi_pred_is_nan(to))
				compare_nan_f32(op, v->data.f32, v->n, rows);
			else
				compare_f32(op, v->data.f32, to->v.f32, v->n, rows);
			break;
		case BF_STORE_F64:
			if (bfi_pred_is_nan(to))
				compare_nan_f64(op, v->data.f64, v->n, rows);
			else
				compare_f64(op, v->data.f64, to->v.f64, v->n, rows);
			break;
		default:
			BF_ASSERT(v->storage == BF_STORE_I128);
			compare_i128(op, v->data.i128, to->v.i128, v->n, rows);
			break;
	}
}

/* Rows that equal one of many values. */
static void
filter_found(const BfPred *p, bool want, const BfVector *v, uint64_t *rows)
{
	switch (v->storage)
	{
		case BF_STORE_U8: FILTER_EACH(v->n, rows, find_u8(p, v->data.u8[i]) == want); break;
		case BF_STORE_I32: FILTER_EACH(v->n, rows, find_i32(p, v->data.i32[i]) == want); break;
		case BF_STORE_I64:
			if (v->type.kind == BF_KIND_UINT64)
				FILTER_EACH(v->n, rows, find_u64(p, (uint64_t) v->data.i64[i]) == want);
			else
				FILTER_EACH(v->n, rows, find_i64(p, v->data.i64[i]) == want);
			break;
		case BF_STORE_F32: FILTER_EACH(v->n, rows, find_f32(p, v->data.f32[i]) == want); break;
		case BF_STORE_F64: FILTER_EACH(v->n, rows, find_f64(p, v->data.f64[i]) == want); break;
		default:
			BF_ASSERT(v->storage == BF_STORE_I128);
			FILTER_EACH(v->n, rows, find_i128(p, v->data.i128[i]) == want);
			break;
	}
}

/* Up to this many values a loop per value is faster than a search per row. */
#define IN_LOOPS_MAX 4

static void
filter_in_loops(const BfPred *p, const BfVector *v, uint64_t *rows)
{
	uint64_t found[BF_VALIDITY_WORDS] = {0};
	uint64_t left[BF_VALIDITY_WORDS];
	size_t words = bfi_pred_words(v->n);

	BF_ASSERT(words <= BF_VALIDITY_WORDS);
	for (int32_t k = 0; k < p->n_values; k++)
	{
		memcpy(left, rows, words * sizeof *rows);
		compare_value(v, BF_PRED_EQ, &p->values[k], left);
		for (size_t w = 0; w < words; w++)
			found[w] |= left[w];
	}
	memcpy(rows, found, words * sizeof *rows);
}

void
bfi_pred_filter_flat(const BfPred *p, BfPredKind op, const BfVector *v, uint64_t *rows)
{
	BF_ASSERT(v->form != BF_VEC_DICT && v->n >= 0);
	BF_ASSERT(bfi_pred_has_values(op) && p->n_values > 0);
	BF_ASSERT(bf_pred_comparable(p->values[0].type, v->type));
	if (v->storage == BF_STORE_VIEW)
		filter_views(p, op, v, rows);
	else if (op == BF_PRED_NOT_IN && p->n_values <= IN_LOOPS_MAX)
		for (int32_t k = 0; k < p->n_values; k++)
			compare_value(v, BF_PRED_NE, &p->values[k], rows);
	else if (op == BF_PRED_IN && p->n_values <= IN_LOOPS_MAX && v->n <= BF_BATCH_ROWS)
		filter_in_loops(p, v, rows);
	else if (op == BF_PRED_IN || op == BF_PRED_NOT_IN)
		filter_found(p, op == BF_PRED_IN, v, rows);
	else
		compare_value(v, op, &p->values[0], rows);
}
