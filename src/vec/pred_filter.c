/*
 * Which rows of a batch match?
 *
 * Rows are bits. A leaf clears the bits of rows that don't match; AND runs its children one after
 * the other over what is left, OR runs each over the rows that no earlier child has taken. NULL
 * rows are cleared before values are compared.
 *
 * Of a dictionary it is known which entries have been evaluated and which of them match. The
 * entries that the candidates need and that are not known are evaluated like rows of a flat vector.
 */
#include "vec/pred_internal.h"

/* Dictionary entries by code, in words of 64. */
typedef struct DictCache
{
	const BfVector *dict;
	uint64_t epoch;
	size_t words; /* in use */
	size_t capacity;
	uint64_t *known; /* owned by the state's arena */
	uint64_t *match;
	uint64_t *need;
} DictCache;

struct BfPredState
{
	const BfPred *pred; /* borrowed */
	BfArena *arena;
	DictCache cache;
	BfPredState *children;
};

typedef struct Filter
{
	int32_t n_rows;
	size_t words; /* of n_rows */
	BfColumnOf column_of;
	void *arg;
	BfArena *scratch;
	int64_t rows_done; /* since cancel was looked at last */
} Filter;

static bool
any_bit(const uint64_t *words, size_t n)
{
	uint64_t any = 0;

	for (size_t w = 0; w < n; w++)
		any |= words[w];
	return any != 0;
}

/* Makes the cache one of this dictionary; what was known stays when it is the same one. */
static BfStatus
prepare_cache(DictCache *c, BfArena *a, const BfVector *v, bool keep, BfError *err)
{
	size_t words = bfi_pred_words(v->dict->n);

	if (keep && c->dict == v->dict && c->epoch == v->dict_epoch && c->words == words)
		return BF_OK;
	if (words > c->capacity)
	{
		size_t capacity = words > 2 * c->capacity ? words : 2 * c->capacity;

		c->dict = NULL;
		BF_NEW(a, c->known, capacity, err);
		BF_NEW(a, c->match, capacity, err);
		BF_NEW(a, c->need, capacity, err);
		c->capacity = capacity;
	}
	else
	{
		memset(c->known, 0, words * sizeof *c->known);
		memset(c->match, 0, words * sizeof *c->match);
	}
	c->dict = v->dict;
	c->epoch = v->dict_epoch;
	c->words = words;
	BF_ASSERT(c->words <= c->capacity);
	return BF_OK;
}

static void
filter_dict(const BfPred *p, BfPredKind op, const BfVector *v, DictCache *c, uint64_t *rows)
{
	const uint32_t *codes = v->codes;

	BF_ASSERT(c->dict == v->dict && c->words == bfi_pred_words(v->dict->n));
	/* Of the entries that are needed those that match, then back to the rows. */
	memset(c->need, 0, c->words * sizeof *c->need);
	for (size_t w = 0; w < bfi_pred_words(v->n); w++)
		for (uint64_t left = rows[w]; left != 0; left &= left - 1)
		{
			uint32_t code = codes[w * 64 + (size_t) __builtin_ctzll(left)];

			c->need[code >> 6] |= (uint64_t) 1 << (code & 63);
		}
	for (size_t w = 0; w < c->words; w++)
	{
		c->need[w] &= ~c->known[w];
		c->known[w] |= c->need[w];
	}
	if (any_bit(c->need, c->words))
	{
		bfi_pred_filter_flat(p, op, v->dict, c->need);
		for (size_t w = 0; w < c->words; w++)
			c->match[w] |= c->need[w];
	}
	for (size_t w = 0; w < bfi_pred_words(v->n); w++)
	{
		uint64_t matching = 0;

		for (uint64_t left = rows[w]; left != 0; left &= left - 1)
		{
			uint32_t code = codes[w * 64 + (size_t) __builtin_ctzll(left)];

			matching |= (left & -left) & -((c->match[code >> 6] >> (code & 63)) & 1);
		}
		rows[w] = matching;
	}
}

/* The vector as if it had only the batch's rows, of which one stands for all in a constant. */
static BfStatus
filter_values(Filter *f, const BfPred *p, BfPredKind op, BfVector *v, BfPredState *state,
			  uint64_t *rows, BfError *err)
{
	if (v->form == BF_VEC_CONST)
	{
		uint64_t one = 1;

		v->n = 1;
		bfi_pred_filter_flat(p, op, v, &one);
		if (one == 0)
			memset(rows, 0, f->words * sizeof *rows);
	}
	else if (v->form == BF_VEC_DICT)
	{
		BfArenaMark mark = bf_arena_mark(f->scratch);
		DictCache once = {0};
		DictCache *c = state != NULL ? &state->cache : &once;

		BF_NEVER(err, v->dict->form != BF_VEC_FLAT || v->dict->storage != v->storage);
		BF_TRY(prepare_cache(c, state != NULL ? state->arena : f->scratch, v, state != NULL, err));
		filter_dict(p, op, v, c, rows);
		if (state == NULL)
			bf_arena_rewind(f->scratch, mark);
	}
	else
		bfi_pred_filter_flat(p, op, v, rows);
	return BF_OK;
}

/* Leaves the rows that are (not) NULL. */
static void
keep_nulls(const BfVector *v, size_t words, bool nulls, uint64_t *rows)
{
	if (v->validity == NULL)
	{
		if (nulls)
			memset(rows, 0, words * sizeof *rows);
		return;
	}
	if (v->form == BF_VEC_CONST)
	{
		if (bf_valid(v->validity, 0) == nulls)
			memset(rows, 0, words * sizeof *rows);
		return;
	}
	for (size_t w = 0; w < words; w++)
		rows[w] &= nulls ? ~v->validity[w] : v->validity[w];
}

static BfStatus
filter_leaf(Filter *f, const BfPred *p, BfPredState *state, uint64_t *rows, BfError *err)
{
	const BfVector *column = f->column_of(f->arg, p->field);
	BfPredKind op;
	BfVector v;

	f->rows_done += f->n_rows;
	if (f->rows_done >= 64 * BF_BATCH_ROWS)
	{
		f->rows_done = 0;
		BF_TRY(bf_check_cancel(bf_arena_host(f->scratch), err));
	}
	if (column == NULL)
		return BF_OK;
	v = *column;
	BF_ASSERT(v.n >= f->n_rows);
	BF_ASSERT(v.storage == bf_type_storage(v.type));
	v.n = f->n_rows;
	if (v.storage == BF_STORE_NONE)
	{
		if (p->kind != BF_PRED_IS_NULL)
			memset(rows, 0, f->words * sizeof *rows);
		return BF_OK;
	}
	op = bfi_pred_effective_kind(p, v.type);
	if (op == BF_PRED_FALSE)
	{
		memset(rows, 0, f->words * sizeof *rows);
		return BF_OK;
	}
	keep_nulls(&v, f->words, op == BF_PRED_IS_NULL, rows);
	if (!bfi_pred_has_values(op) || !any_bit(rows, f->words))
		return BF_OK;
	return filter_values(f, p, op, &v, state, rows, err);
}

static BfStatus
filter(Filter *f, const BfPred *p, BfPredState *state, int depth, uint64_t *rows, BfError *err);

static BfStatus
filter_or(Filter *f, const BfPred *p, BfPredState *state, int depth, uint64_t *rows, BfError *err)
{
	uint64_t left[BF_VALIDITY_WORDS];
	uint64_t found[BF_VALIDITY_WORDS];

	/* rows: candidates that no child has taken yet. */
	memset(found, 0, f->words * sizeof *found);
	for (int32_t i = 0; i < p->n_children && any_bit(rows, f->words); i++)
	{
		memcpy(left, rows, f->words * sizeof *left);
		BF_TRY(filter(f, p->children[i], state != NULL ? &state->children[i] : NULL, depth + 1,
					  left, err));
		for (size_t w = 0; w < f->words; w++)
		{
			found[w] |= left[w];
			rows[w] &= ~left[w];
		}
	}
	memcpy(rows, found, f->words * sizeof *rows);
	return BF_OK;
}

/* `rows` has bits below n_rows only. */
static BfStatus
filter(Filter *f, const BfPred *p, BfPredState *state, int depth, uint64_t *rows, BfError *err)
{
	if (depth > BF_PRED_DEPTH_MAX)
		return BF_OK;
	/* The state is a tree of the predicate's own shape. */
	BF_ASSERT(state == NULL || state->pred == p);
	switch (p->kind)
	{
		case BF_PRED_FALSE: memset(rows, 0, f->words * sizeof *rows); return BF_OK;
		case BF_PRED_TRUE:
		case BF_PRED_UNKNOWN: return BF_OK;
		case BF_PRED_AND:
			for (int32_t i = 0; i < p->n_children && any_bit(rows, f->words); i++)
				BF_TRY(filter(f, p->children[i], state != NULL ? &state->children[i] : NULL,
							  depth + 1, rows, err));
			return BF_OK;
		case BF_PRED_OR: return filter_or(f, p, state, depth, rows, err);
		default: return filter_leaf(f, p, state, rows, err);
	}
}

static BfStatus
filter_batch(const BfPred *p, BfPredState *state, int32_t n_rows, BfColumnOf column_of, void *arg,
			 BfArena *scratch, uint64_t *rows, BfError *err)
{
	Filter f = {n_rows, bfi_pred_words(n_rows), column_of, arg, scratch, 0};

	BF_ASSERT(n_rows >= 0 && n_rows <= BF_BATCH_ROWS);
	if (n_rows % 64 != 0)
		rows[f.words - 1] &= ((uint64_t) 1 << (n_rows % 64)) - 1;
	memset(rows + f.words, 0, (BF_VALIDITY_WORDS - f.words) * sizeof *rows);
	return filter(&f, p, state, 0, rows, err);
}

BfStatus
bf_pred_filter(const BfPred *p, int32_t n_rows, BfColumnOf column_of, void *arg, BfArena *scratch,
			   uint64_t *rows, BfError *err)
{
	return filter_batch(p, NULL, n_rows, column_of, arg, scratch, rows, err);
}

static BfStatus
init_state(BfArena *a, const BfPred *p, int depth, BfPredState *s, BfError *err)
{
	s->pred = p;
	s->arena = a;
	if (depth > BF_PRED_DEPTH_MAX || (p->kind != BF_PRED_AND && p->kind != BF_PRED_OR))
		return BF_OK;
	BF_NEW(a, s->children, p->n_children, err);
	for (int32_t i = 0; i < p->n_children; i++)
		BF_TRY(init_state(a, p->children[i], depth + 1, &s->children[i], err));
	return BF_OK;
}

BfStatus
bf_pred_state_new(BfArena *a, const BfPred *p, BfPredState **out, BfError *err)
{
	BF_NEW(a, *out, 1, err);
	return init_state(a, p, 0, *out, err);
}

void
bf_pred_state_reset(BfPredState *s)
{
	s->cache.dict = NULL;
	if (s->children != NULL)
		for (int32_t i = 0; i < s->pred->n_children; i++)
			bf_pred_state_reset(&s->children[i]);
}

BfStatus
bf_pred_state_filter(BfPredState *s, int32_t n_rows, BfColumnOf column_of, void *arg,
					 uint64_t *rows, BfError *err)
{
	return filter_batch(s->pred, s, n_rows, column_of, arg, s->arena, rows, err);
}
