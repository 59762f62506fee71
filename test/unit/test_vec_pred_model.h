/*
 * Random predicates over random columns, and what they mean row by row: for the tests of vec/pred
 * and its fuzz target. Numbers come from a function, so that both can bring their own.
 */
#ifndef TEST_UNIT_TEST_VEC_PRED_MODEL_H
#define TEST_UNIT_TEST_VEC_PRED_MODEL_H

#include <math.h>
#include <stdlib.h>

#include "vec/pred.h"

#define PRED_COLUMNS 4
#define PRED_DICT_MAX 300

typedef struct PredModel
{
	uint64_t (*below)(struct PredModel *m, uint64_t n); /* a number in [0, n) */
	void *arg;
	BfArena *a;
	int32_t n_rows;
	BfVector columns[PRED_COLUMNS];
	bool absent[PRED_COLUMNS]; /* not in the batch */
} PredModel;

static inline void *
pred_alloc(PredModel *m, size_t n)
{
	void *p = bf_arena_alloc(m->a, n);

	if (p == NULL)
		abort();
	memset(p, 0, n);
	return p;
}

static inline BfType
pred_type(PredModel *m)
{
	static const BfType types[] = {
		{.kind = BF_KIND_BOOL},
		{.kind = BF_KIND_INT8},
		{.kind = BF_KIND_INT32},
		{.kind = BF_KIND_INT64},
		{.kind = BF_KIND_UINT32},
		{.kind = BF_KIND_UINT64},
		{.kind = BF_KIND_FLOAT32},
		{.kind = BF_KIND_FLOAT64},
		{.kind = BF_KIND_DECIMAL, .precision = 9, .scale = 2},
		{.kind = BF_KIND_DECIMAL, .precision = 30, .scale = 2},
		{.kind = BF_KIND_DECIMAL, .precision = 60, .scale = 2},
		{.kind = BF_KIND_DATE},
		{.kind = BF_KIND_TIMESTAMPTZ},
		{.kind = BF_KIND_STRING},
		{.kind = BF_KIND_BINARY},
		{.kind = BF_KIND_UUID, .length = 16},
		{.kind = BF_KIND_FIXED, .length = 3},
		{.kind = BF_KIND_INTERVAL},
		{.kind = BF_KIND_INT96},
		{.kind = BF_KIND_NULL},
	};

	return types[m->below(m, sizeof types / sizeof *types)];
}

static inline BfView
pred_bytes(PredModel *m, uint32_t len, unsigned letters)
{
	uint8_t *p = pred_alloc(m, len + 1);

	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t) (m->below(m, 8) == 0 ? 0xff : 'a' + m->below(m, letters));
	return (BfView){len == 0 ? NULL : p, len};
}

static inline BfView
pred_words(PredModel *m, unsigned n)
{
	uint8_t *p = pred_alloc(m, 4 * (size_t) n);

	for (unsigned i = 0; i < n; i++)
		p[4 * i] = (uint8_t) m->below(m, 3);
	return (BfView){p, 4 * n};
}

static inline double
pred_double(PredModel *m)
{
	static const double odd[] = {0.0, -0.0, 1.5, -1.5, INFINITY, -INFINITY, NAN, -NAN, 1e300};
	uint64_t k = m->below(m, 24);

	return k < sizeof odd / sizeof *odd ? odd[k] : (double) m->below(m, 8) - 4;
}

/* Few different values, so that comparisons meet; the extremes among them. */
static inline BfValue
pred_value(PredModel *m, BfType type)
{
	BfValue v = {.type = type};
	int64_t small = (int64_t) m->below(m, 12) - 6;
	uint64_t odd = m->below(m, 16);

	switch (bf_type_storage(type))
	{
		case BF_STORE_U8: v.v.u8 = (uint8_t) m->below(m, 2); break;
		case BF_STORE_I32:
			v.v.i32 = odd == 0 ? INT32_MAX : odd == 1 ? INT32_MIN : (int32_t) small;
			break;
		case BF_STORE_I64: v.v.i64 = odd == 0 ? INT64_MAX : odd == 1 ? INT64_MIN : small; break;
		case BF_STORE_F32: v.v.f32 = (float) pred_double(m); break;
		case BF_STORE_F64: v.v.f64 = pred_double(m); break;
		case BF_STORE_I128:
			v.v.i128 = odd < 2 ? (bf_i128) small * ((bf_i128) 1 << 90) : small;
			break;
		case BF_STORE_VIEW:
			if (type.kind == BF_KIND_INTERVAL || type.kind == BF_KIND_INT96)
				v.v.view = pred_words(m, 3);
			else if (type.kind == BF_KIND_UUID || type.kind == BF_KIND_FIXED)
				v.v.view = pred_bytes(m, (uint32_t) type.length, 2);
			else
				v.v.view = pred_bytes(m, (uint32_t) m->below(m, 5), 3);
			break;
		default: v.is_null = true; break;
	}
	return v;
}

static inline void
pred_store(BfVector *v, int32_t i, const BfValue *value)
{
	switch (v->storage)
	{
		case BF_STORE_U8: v->data.u8[i] = value->v.u8; break;
		case BF_STORE_I32: v->data.i32[i] = value->v.i32; break;
		case BF_STORE_I64: v->data.i64[i] = value->v.i64; break;
		case BF_STORE_F32: v->data.f32[i] = value->v.f32; break;
		case BF_STORE_F64: v->data.f64[i] = value->v.f64; break;
		case BF_STORE_I128: v->data.i128[i] = value->v.i128; break;
		case BF_STORE_VIEW: v->data.view[i] = value->v.view; break;
		default: break;
	}
}

static inline void
pred_flat(PredModel *m, BfVector *v, BfType type, int32_t n)
{
	memset(v, 0, sizeof *v);
	v->type = type;
	v->storage = bf_type_storage(type);
	v->n = n;
	/* Exactly n values, so that reading on is seen. */
	v->data.raw = pred_alloc(m, (size_t) n * bf_storage_size(v->storage));
	for (int32_t i = 0; i < n; i++)
	{
		BfValue value = pred_value(m, type);

		pred_store(v, i, &value);
	}
}

static inline void
pred_column(PredModel *m, BfVector *v)
{
	BfType type = pred_type(m);
	uint64_t nulls = m->below(m, 4); /* none, some, all, none and no bits */
	BfStorage storage = bf_type_storage(type);

	switch (m->below(m, 4))
	{
		case 0:
			pred_flat(m, v, type, 1);
			v->form = BF_VEC_CONST;
			v->n = m->n_rows;
			break;
		case 1:
			if (storage != BF_STORE_NONE && m->n_rows > 0)
			{
				BfVector *dict = pred_alloc(m, sizeof *dict);

				pred_flat(m, dict, type, (int32_t) m->below(m, PRED_DICT_MAX) + 1);
				memset(v, 0, sizeof *v);
				v->form = BF_VEC_DICT;
				v->type = type;
				v->storage = storage;
				v->n = m->n_rows;
				v->dict = dict;
				v->dict_epoch = 1;
				v->codes = pred_alloc(m, (size_t) m->n_rows * sizeof *v->codes);
				for (int32_t i = 0; i < m->n_rows; i++)
					v->codes[i] = (uint32_t) m->below(m, (uint64_t) dict->n);
				break;
			}
			/* fall through */
		default: pred_flat(m, v, type, m->n_rows); break;
	}
	if (storage == BF_STORE_NONE || nulls < 3)
	{
		v->validity = pred_alloc(m, BF_VALIDITY_WORDS * sizeof *v->validity);
		for (int32_t i = 0; i < BF_BATCH_ROWS; i++)
			bf_validity_set(v->validity, i,
							storage != BF_STORE_NONE &&
								(nulls == 0 || (nulls == 1 && m->below(m, 3) != 0)));
	}
}

static inline void
pred_batch(PredModel *m, int32_t n_rows)
{
	m->n_rows = n_rows;
	for (int32_t i = 0; i < PRED_COLUMNS; i++)
	{
		m->absent[i] = m->below(m, 8) == 0;
		pred_column(m, &m->columns[i]);
	}
}

static inline BfPred *
pred_tree(PredModel *m, int depth)
{
	BfPred *p = pred_alloc(m, sizeof *p);
	BfType type;

	p->kind = (BfPredKind) m->below(m, depth > 0 ? BF_PRED_OR + 1 : BF_PRED_AND);
	p->field = -1;
	if (depth > 0 && m->below(m, 2) == 0)
		p->kind = BF_PRED_AND + (BfPredKind) m->below(m, 2);
	if (p->kind == BF_PRED_AND || p->kind == BF_PRED_OR)
	{
		p->n_children = (int32_t) m->below(m, 4);
		p->children = pred_alloc(m, 4 * sizeof *p->children);
		for (int32_t i = 0; i < p->n_children; i++)
			p->children[i] = pred_tree(m, depth - 1);
		return p;
	}
	if (p->kind < BF_PRED_EQ)
		return p;
	p->field = (int32_t) m->below(m, PRED_COLUMNS);
	if (p->kind > BF_PRED_PREFIX)
		return p;
	type = m->below(m, 16) == 0 ? pred_type(m) : m->columns[p->field].type;
	p->n_values = 1;
	if (p->kind == BF_PRED_IN || p->kind == BF_PRED_NOT_IN)
		p->n_values = (int32_t) (m->below(m, 4) == 0 ? m->below(m, 40) : m->below(m, 6));
	p->values = pred_alloc(m, 40 * sizeof *p->values);
	for (int32_t i = 0; i < p->n_values; i++)
		p->values[i] = pred_value(m, type);
	if (p->kind == BF_PRED_IN || p->kind == BF_PRED_NOT_IN)
		p->n_values = bf_pred_sort_values(p->values, p->n_values);
	return p;
}

/* Does the value start with the prefix? */
static inline bool
pred_starts(BfView x, BfView prefix)
{
	return x.len >= prefix.len && (prefix.len == 0 || memcmp(x.ptr, prefix.ptr, prefix.len) == 0);
}

/* Can't the leaf be told from its column's type on? */
static inline bool
pred_unknown(const BfPred *p, BfType type)
{
	if (p->n_values == 0 || p->values[0].is_null)
		return false;
	if (!bf_pred_comparable(p->values[0].type, type))
		return true;
	return p->kind == BF_PRED_PREFIX && type.kind != BF_KIND_STRING &&
		   type.kind != BF_KIND_BINARY && type.kind != BF_KIND_UUID && type.kind != BF_KIND_FIXED;
}

static inline bool
pred_matches_value(const BfPred *p, const BfValue *x)
{
	bool in = false;
	int c;

	if (p->n_values == 0)
		return p->kind == BF_PRED_NOT_IN;
	if (p->values[0].is_null)
		return false;
	if (p->kind == BF_PRED_PREFIX)
		return pred_starts(x->v.view, p->values[0].v.view);
	for (int32_t i = 0; i < p->n_values; i++)
		in = in || bf_value_compare(x, &p->values[i]) == 0;
	c = bf_value_compare(x, &p->values[0]);
	switch (p->kind)
	{
		case BF_PRED_EQ: return c == 0;
		case BF_PRED_NE: return c != 0;
		case BF_PRED_LT: return c < 0;
		case BF_PRED_LE: return c <= 0;
		case BF_PRED_GT: return c > 0;
		case BF_PRED_GE: return c >= 0;
		case BF_PRED_IN: return in;
		default: return !in;
	}
}

static inline bool
pred_matches_leaf(const PredModel *m, const BfPred *p, int32_t row)
{
	const BfVector *column = &m->columns[p->field];
	BfValue x;

	if (!bf_vector_get(column, row, &x))
		return p->kind == BF_PRED_IS_NULL;
	if (p->kind < BF_PRED_EQ || p->kind > BF_PRED_PREFIX)
		return p->kind == BF_PRED_NOT_NULL;
	return pred_unknown(p, column->type) || pred_matches_value(p, &x);
}

/* One row, as the header says it. With `use_absent` columns that are not in the batch are unknown.
 */
static inline bool
pred_matches(const PredModel *m, const BfPred *p, int32_t row, bool use_absent)
{
	bool result = p->kind == BF_PRED_AND;

	switch (p->kind)
	{
		case BF_PRED_FALSE: return false;
		case BF_PRED_TRUE:
		case BF_PRED_UNKNOWN: return true;
		case BF_PRED_AND:
		case BF_PRED_OR:
			for (int32_t i = 0; i < p->n_children; i++)
			{
				bool child = pred_matches(m, p->children[i], row, use_absent);

				result = p->kind == BF_PRED_AND ? result && child : result || child;
			}
			return result;
		default: return (use_absent && m->absent[p->field]) || pred_matches_leaf(m, p, row);
	}
}

static inline const BfVector *
pred_column_of(void *arg, int32_t field)
{
	PredModel *m = arg;

	return m->absent[field] ? NULL : &m->columns[field];
}

/* --- What is known of the batch's rows ----------------------------------------------------------
 */

typedef struct PredStats
{
	bool has[PRED_COLUMNS];
	BfColumnStats stats[PRED_COLUMNS];
} PredStats;

/* A bound that is as good or worse: truncated text, a smaller or greater number. */
static inline void
pred_widen(PredModel *m, BfValue *v, bool down)
{
	int64_t by = (int64_t) m->below(m, 3);

	switch (bf_type_storage(v->type))
	{
		case BF_STORE_I32:
			if (down ? v->v.i32 > INT32_MIN + 2 : v->v.i32 < INT32_MAX - 2)
				v->v.i32 += (int32_t) (down ? -by : by);
			break;
		case BF_STORE_I64:
			if (v->type.kind != BF_KIND_UINT64 &&
				(down ? v->v.i64 > INT64_MIN + 2 : v->v.i64 < INT64_MAX - 2))
				v->v.i64 += down ? -by : by;
			break;
		case BF_STORE_F64: v->v.f64 += (double) (down ? -by : by); break;
		case BF_STORE_F32: v->v.f32 += (float) (down ? -by : by); break;
		case BF_STORE_VIEW:
			if (v->type.kind != BF_KIND_STRING && v->type.kind != BF_KIND_BINARY)
				break;
			if (down && v->v.view.len > 0)
				v->v.view.len -= (uint32_t) m->below(m, v->v.view.len + 1);
			else if (!down)
			{
				uint8_t *p = pred_alloc(m, v->v.view.len + 1);

				if (v->v.view.len > 0)
					memcpy(p, v->v.view.ptr, v->v.view.len);
				p[v->v.view.len] = 'm';
				v->v.view = (BfView){p, v->v.view.len + 1};
			}
			break;
		default: break;
	}
}

static inline void
pred_stats_column(PredModel *m, const BfVector *column, BfColumnStats *s)
{
	bool nan = false;
	bool any = false;

	memset(s, 0, sizeof *s);
	s->row_count = m->n_rows;
	for (int32_t i = 0; i < m->n_rows; i++)
	{
		BfValue x;

		if (!bf_vector_get(column, i, &x))
			s->null_count++;
		else if ((x.type.kind == BF_KIND_FLOAT32 && isnan(x.v.f32)) ||
				 (x.type.kind == BF_KIND_FLOAT64 && isnan(x.v.f64)))
			nan = true;
		else
		{
			if (!any || bf_value_compare(&x, &s->min) < 0)
				s->min = x;
			if (!any || bf_value_compare(&x, &s->max) > 0)
				s->max = x;
			any = true;
		}
	}
	s->known = m->below(m, 16) != 0;
	s->has_min = any && m->below(m, 6) != 0;
	s->has_max = any && m->below(m, 6) != 0;
	s->may_have_nan = nan || m->below(m, 2) == 0;
	if (any && m->below(m, 2) == 0)
		pred_widen(m, &s->min, true);
	if (any && m->below(m, 2) == 0)
		pred_widen(m, &s->max, false);
	if (m->below(m, 6) == 0)
		s->null_count = -1;
	if (m->below(m, 6) == 0)
		s->row_count = -1;
}

static inline void
pred_stats(PredModel *m, PredStats *out)
{
	for (int32_t i = 0; i < PRED_COLUMNS; i++)
	{
		out->has[i] = m->below(m, 8) != 0;
		pred_stats_column(m, &m->columns[i], &out->stats[i]);
	}
}

static inline bool
pred_stats_of(void *arg, int32_t field, BfColumnStats *stats)
{
	const PredStats *s = arg;

	*stats = s->stats[field];
	return s->has[field];
}

/* Exact membership by the bits of the value, as a bloom filter has it. */
static inline bool
pred_has(void *arg, int32_t field, const BfValue *value)
{
	const PredModel *m = arg;

	for (int32_t i = 0; i < m->n_rows; i++)
	{
		BfValue x;

		if (!bf_vector_get(&m->columns[field], i, &x))
			continue;
		if (!bf_pred_comparable(x.type, value->type))
			return true;
		if (bf_type_storage(x.type) == BF_STORE_VIEW
				? x.v.view.len == value->v.view.len &&
					  (x.v.view.len == 0 ||
					   memcmp(x.v.view.ptr, value->v.view.ptr, x.v.view.len) == 0)
				: memcmp(&x.v, &value->v, bf_storage_size(bf_type_storage(x.type))) == 0)
			return true;
	}
	return false;
}

#endif
