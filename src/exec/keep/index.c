/*
 * exec/keep/index.c: rows of a kept group by values of some columns.
 *
 * A hash table of row numbers in the group, ascending along each chain. Which columns it is of says
 * the first predicate that has asked often enough; other ones go without.
 *
 *     heads[hash & mask] = 1 + row -> next[row] = 1 + row -> ... -> 0
 *
 * Numbers, dates and times are equal where their bits are, text and bytes where their bytes are; of
 * other kinds there is no index. NULL equals nothing and is not in it.
 */
#include "base/sort.h"
#include "exec/keep/internal.h"

/* How often all of a group's rows are looked at before an index is made: it takes about as long. */
#define LOOKS 4
/* Of one index; more rows than that are no row group that anybody writes. */
#define ROWS_MAX (UINT32_C(1) << 30)

static bool
has_key(BfType t)
{
	switch (t.kind)
	{
		case BF_KIND_STRING:
		case BF_KIND_BINARY:
		case BF_KIND_UUID:
		case BF_KIND_FIXED: return bf_type_storage(t) == BF_STORE_VIEW;
		default: return bf_type_storage(t) == BF_STORE_I32 || bf_type_storage(t) == BF_STORE_I64;
	}
}

static void
add_equal(const BfPred *p, const BfProjection *projection, BfiEqual *out)
{
	int32_t i = 0;

	while (i < projection->n_fields && projection->fields[i] != p->field)
		i++;
	if (i == projection->n_fields || out->n == BFI_EQUAL_MAX || p->n_values != 1 ||
		p->values[0].is_null || !has_key(projection->schema->fields[p->field].type) ||
		!bf_pred_comparable(projection->schema->fields[p->field].type, p->values[0].type))
		return;
	out->columns[out->n] = i;
	out->values[out->n++] = &p->values[0];
}

static void
find_equal(const BfPred *p, const BfProjection *projection, int depth, BfiEqual *out)
{
	if (p->kind == BF_PRED_EQ)
		add_equal(p, projection, out);
	else if (p->kind == BF_PRED_AND && depth < BF_PRED_DEPTH_MAX)
		for (int32_t i = 0; i < p->n_children; i++)
			find_equal(p->children[i], projection, depth + 1, out);
}

void
bfi_kept_equal(const BfFilter *f, BfiEqual *out)
{
	const BfPred *p = bf_filter_bounds(f);

	out->n = 0;
	if (p != NULL)
		find_equal(p, bf_filter_projection(f), 0, out);
	BF_ASSERT(out->n >= 0 && out->n <= BFI_EQUAL_MAX);
}

/* ---- hashing ---- */

static uint64_t
hash_number(uint64_t h, int64_t x)
{
	h = (h ^ (uint64_t) x) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static uint64_t
hash_bytes(uint64_t h, BfView v)
{
	return bf_hash(h, v.ptr, v.len);
}

static bool
same_bytes(BfView a, BfView b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Where the row's value stands; false: it is NULL. */
static bool
find_value(const BfVector *v, int32_t row, const BfVector **flat, int32_t *at)
{
	int32_t i = v->form == BF_VEC_CONST ? 0 : row;

	*flat = v->form == BF_VEC_DICT ? v->dict : v;
	*at = v->form == BF_VEC_DICT ? (int32_t) v->codes[row] : i;
	return bf_valid(v->validity, i);
}

static uint64_t
hash_equal(uint64_t seed, const BfiEqual *q)
{
	uint64_t h = seed;

	for (int32_t i = 0; i < q->n; i++)
	{
		const BfValue *v = q->values[i];

		switch (bf_type_storage(v->type))
		{
			case BF_STORE_I32: h = hash_number(h, v->v.i32); break;
			case BF_STORE_I64: h = hash_number(h, v->v.i64); break;
			default: h = hash_bytes(h, v->v.view); break;
		}
	}
	return h;
}

static bool
hash_row(uint64_t seed, const BfiKeptIndex *x, const BfBatch *b, int32_t row, uint64_t *out)
{
	uint64_t h = seed;

	for (int32_t i = 0; i < x->n; i++)
	{
		const BfVector *v;
		int32_t at;

		if (!find_value(&b->cols[x->columns[i]], row, &v, &at))
			return false;
		switch (v->storage)
		{
			case BF_STORE_I32: h = hash_number(h, v->data.i32[at]); break;
			case BF_STORE_I64: h = hash_number(h, v->data.i64[at]); break;
			default: h = hash_bytes(h, v->data.view[at]); break;
		}
	}
	*out = h;
	return true;
}

static bool
is_equal(const BfiEqual *q, const BfBatch *b, int32_t row)
{
	for (int32_t i = 0; i < q->n; i++)
	{
		const BfValue *want = q->values[i];
		const BfVector *v;
		int32_t at;
		bool same;

		if (!find_value(&b->cols[q->columns[i]], row, &v, &at))
			return false;
		switch (v->storage)
		{
			case BF_STORE_I32: same = v->data.i32[at] == want->v.i32; break;
			case BF_STORE_I64: same = v->data.i64[at] == want->v.i64; break;
			default: same = same_bytes(v->data.view[at], want->v.view); break;
		}
		if (!same)
			return false;
	}
	return true;
}

/* ---- making one ---- */

/* Are all batches as the schema has them? */
static bool
fits(const BfiKeptRows *rows, const BfiEqual *q)
{
	for (int32_t k = 0; k < rows->n; k++)
		for (int32_t i = 0; i < q->n; i++)
		{
			const BfVector *v = &rows->batches[k]->batch.cols[q->columns[i]];

			if (v->storage != bf_type_storage(q->values[i]->type) ||
				!bf_pred_comparable(v->type, q->values[i]->type))
				return false;
		}
	return true;
}

static void
fill(const BfiKeptRows *rows, uint64_t seed, BfiKeptIndex *x)
{
	for (int32_t k = rows->n - 1; k >= 0; k--)
	{
		const BfiKeptBatch *b = rows->batches[k];

		for (int32_t row = b->batch.n_rows - 1; row >= 0; row--)
		{
			uint32_t number = (uint32_t) (b->first + row);
			uint64_t hash;

			if (!hash_row(seed, x, &b->batch, row, &hash))
				continue;
			x->next[number] = x->heads[hash & x->mask];
			x->heads[hash & x->mask] = number + 1;
		}
	}
}

/* NULL: there is no room. */
static BfiKeptIndex *
make(const BfKept *u, const BfiKeptGroup *g, const BfiEqual *q, BfArena *a)
{
	uint32_t slots = 16;
	BfiKeptIndex *x = bf_arena_alloc(a, sizeof *x);

	BF_ASSERT(g->n_rows <= (int64_t) ROWS_MAX);
	while (slots < g->n_rows)
		slots *= 2;
	if (x == NULL)
		return NULL;
	memset(x, 0, sizeof *x);
	x->arena = a;
	x->mask = slots - 1;
	x->n = q->n;
	memcpy(x->columns, q->columns, sizeof x->columns);
	x->heads = bf_arena_alloc_array(a, slots, sizeof *x->heads);
	x->next = bf_arena_alloc_array(a, (size_t) g->n_rows, sizeof *x->next);
	if (x->heads == NULL || x->next == NULL)
		return NULL;
	memset(x->heads, 0, slots * sizeof *x->heads);
	fill(&g->rows, u->keep->units.seed, x);
	x->charged = bf_arena_bytes(a);
	return x;
}

/* Once: that memory ends is no error. */
static void
make_index(BfKept *u, BfiKeptGroup *g, const BfiEqual *q)
{
	BfKeepBudget *budget = u->keep->budget;
	BfArena *a;

	BF_ASSERT(g->kept && g->index == NULL);
	g->no_index = true;
	if (g->n_rows <= 0 || g->n_rows > (int64_t) ROWS_MAX || !fits(&g->rows, q) ||
		budget->bytes >= budget->bytes_max)
		return;
	a = bf_arena_new(bf_arena_host(u->keep->arena), "index of rows kept",
					 budget->bytes_max - budget->bytes);
	if (a == NULL)
		return;
	bf_arena_dense(a);
	g->index = make(u, g, q, a);
	if (g->index == NULL)
		bf_arena_free(a);
	else
		budget->bytes += g->index->charged;
	BF_ASSERT(budget->bytes <= budget->bytes_max);
}

void
bfi_kept_forget_index(BfKept *u, BfiKeptGroup *g)
{
	BfiKeptIndex *x = g->index;

	g->index = NULL;
	g->no_index = false;
	g->looked = 0;
	if (x == NULL)
		return;
	BF_ASSERT(u->keep->budget->bytes >= x->charged);
	u->keep->budget->bytes -= x->charged;
	bf_arena_free(x->arena);
}

const BfiKeptIndex *
bfi_kept_index(BfKept *u, BfiKeptGroup *g, const BfiEqual *q)
{
	if (q->n == 0 || !g->kept)
		return NULL;
	if (g->index == NULL && !g->no_index && g->looked >= LOOKS * g->n_rows)
		make_index(u, g, q);
	if (g->index == NULL || g->index->n != q->n ||
		memcmp(g->index->columns, q->columns, (size_t) q->n * sizeof *q->columns) != 0)
		return NULL;
	return g->index;
}

/* ---- looking ---- */

uint32_t
bfi_kept_look(const BfKept *u, const BfiKeptIndex *x, const BfiEqual *q)
{
	return x->heads[hash_equal(u->keep->units.seed, q) & x->mask];
}

/* The batch of a row: the last one that begins at it or before. */
static const BfiKeptBatch *
batch_of(const BfiKeptRows *rows, int64_t row)
{
	int32_t at;

	BF_SEARCH(int32_t, at, rows->n, i, rows->batches[i]->first <= row);
	BF_ASSERT(at > 0 && row < rows->batches[at - 1]->first + rows->batches[at - 1]->batch.n_rows);
	return rows->batches[at - 1];
}

const BfBatch *
bfi_kept_found(const BfiKeptGroup *g, const BfiEqual *q, uint32_t *at, uint64_t *bits, int32_t *n)
{
	const BfiKeptBatch *b;
	int64_t end;

	*n = 0;
	if (*at == 0)
		return NULL;
	b = batch_of(&g->rows, *at - 1);
	end = b->first + b->batch.n_rows;
	memset(bits, 0, BF_VALIDITY_WORDS * sizeof *bits);
	for (; *at != 0 && (int64_t) *at - 1 < end; *at = g->index->next[*at - 1])
	{
		int32_t row = (int32_t) (*at - 1 - b->first);

		BF_ASSERT(row >= 0 && row < b->batch.n_rows);
		if (!is_equal(q, &b->batch, row) ||
			(b->batch.selected != NULL && !bf_valid(b->batch.selected, row)))
			continue;
		bits[row / 64] |= UINT64_C(1) << (row % 64);
		(*n)++;
	}
	return &b->batch;
}
