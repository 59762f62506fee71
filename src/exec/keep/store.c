/*
 * exec/keep/store.c: copies of batches, and their bounds.
 *
 * A batch that is kept owns nothing that its reader would write to: vectors are copied as they are,
 * constants as one value, codes with one copy of their dictionary for all batches that share it.
 * Arrays have room for whole words of rows, as a reader's own have.
 */
#include "exec/keep/internal.h"

#define ROUND_UP(n) (((size_t) (n) + 63) / 64 * 64)

/* ---- vectors ---- */

static BfStatus
copy_bytes(BfArena *a, const void *from, size_t n, size_t room, void **out, BfError *err)
{
	uint8_t *to;

	BF_ASSERT(n <= room);
	BF_NEW_RAW(a, to, room, err);
	if (n > 0)
		memcpy(to, from, n);
	memset(to + n, 0, room - n);
	*out = to;
	return BF_OK;
}

static BfStatus
copy_validity(BfArena *a, BfVector *v, int32_t n, BfError *err)
{
	size_t words = n <= BF_BATCH_ROWS ? BF_VALIDITY_WORDS : ROUND_UP(n) / 64;
	void *copy;

	if (v->validity == NULL)
		return BF_OK;
	BF_TRY(copy_bytes(a, v->validity, words * sizeof *v->validity, words * sizeof *v->validity,
					  &copy, err));
	v->validity = copy;
	return BF_OK;
}

static bool
is_valid(const BfVector *v, int32_t i)
{
	return v->validity == NULL || (v->validity[i / 64] >> (i % 64) & 1) != 0;
}

/* The bytes of views; a NULL's view is nothing. */
static BfStatus
copy_views(BfArena *a, BfVector *v, int32_t n, BfError *err)
{
	size_t total = 0;
	uint8_t *bytes;

	for (int32_t i = 0; i < n; i++)
		total += is_valid(v, i) ? v->data.view[i].len : 0;
	BF_NEW_RAW(a, bytes, total, err);
	for (int32_t i = 0; i < n; i++)
	{
		BfView *view = &v->data.view[i];

		if (!is_valid(v, i))
			view->len = 0;
		if (view->len > 0)
			memcpy(bytes, view->ptr, view->len);
		view->ptr = bytes;
		bytes += view->len;
	}
	return BF_OK;
}

static BfStatus copy_vector(BfArena *a, const BfVector *from, BfVector *to, BfError *err);

/* Of `n` rows. */
static BfStatus
copy_nested(BfArena *a, BfVector *v, int32_t n, BfError *err)
{
	const BfVector *children = v->children;
	void *copy;

	if (v->offsets != NULL)
	{
		size_t bytes = ((size_t) n + 1) * sizeof *v->offsets;

		BF_TRY(copy_bytes(a, v->offsets, bytes, bytes, &copy, err));
		v->offsets = copy;
	}
	BF_NEW(a, v->children, v->n_children, err);
	for (int32_t i = 0; i < v->n_children; i++)
		BF_TRY(copy_vector(a, &children[i], &v->children[i], err));
	return BF_OK;
}

static BfStatus
copy_vector(BfArena *a, const BfVector *from, BfVector *to, BfError *err)
{
	int32_t n = from->form == BF_VEC_CONST ? 1 : from->n;
	size_t size = bf_storage_size(from->storage);
	void *copy;

	*to = *from;
	to->own_data = NULL;
	to->own_validity = NULL;
	to->own_offsets = NULL;
	to->own_children = NULL;
	to->own_n_children = 0;
	to->capacity = 0;
	BF_TRY(copy_validity(a, to, n, err));
	if (from->form == BF_VEC_DICT)
	{
		BF_TRY(copy_bytes(a, from->codes, (size_t) n * sizeof *from->codes,
						  ROUND_UP(n) * sizeof *from->codes, &copy, err));
		to->codes = copy;
		to->data.raw = NULL;
		return BF_OK;
	}
	if (from->storage == BF_STORE_NESTED)
		return copy_nested(a, to, n, err);
	if (size == 0 || from->data.raw == NULL)
		return BF_OK;
	BF_TRY(copy_bytes(a, from->data.raw, (size_t) n * size, ROUND_UP(n) * size, &copy, err));
	to->data.raw = copy;
	return from->storage == BF_STORE_VIEW ? copy_views(a, to, n, err) : BF_OK;
}

/* The column's dictionary, which the batches before may have had too. */
static BfStatus
copy_dictionary(BfKept *u, BfiKeptRows *rows, int32_t column, BfVector *v, BfError *err)
{
	if (rows->dict_of[column] != v->dict || rows->dict_epoch[column] != v->dict_epoch)
	{
		BfVector *dict;

		BF_NEW(rows->arena, dict, 1, err);
		BF_TRY(copy_vector(rows->arena, v->dict, dict, err));
		dict->dict_epoch = ++u->keep->dicts;
		rows->dicts[column] = dict;
		rows->dict_of[column] = v->dict;
		rows->dict_epoch[column] = v->dict_epoch;
	}
	v->dict = rows->dicts[column];
	v->dict_epoch = v->dict->dict_epoch;
	return BF_OK;
}

/* ---- bounds ---- */

static bool
has_bounds(const BfVector *v)
{
	return v->form == BF_VEC_FLAT && v->type.kind != BF_KIND_UINT64 &&
		   (v->storage == BF_STORE_I32 || v->storage == BF_STORE_I64);
}

static int64_t
number_at(const BfVector *v, int32_t i)
{
	return v->storage == BF_STORE_I32 ? v->data.i32[i] : v->data.i64[i];
}

static BfValue
number(const BfVector *v, int64_t x)
{
	BfValue value = {.type = v->type};

	if (v->storage == BF_STORE_I32)
		value.v.i32 = (int32_t) x;
	else
		value.v.i64 = x;
	return value;
}

static void
find_bounds(const BfVector *v, BfColumnStats *s)
{
	int64_t min = INT64_MAX;
	int64_t max = INT64_MIN;
	int32_t nulls = 0;

	BF_ASSERT(has_bounds(v) && v->n > 0);
	for (int32_t i = 0; i < v->n; i++)
	{
		int64_t x;

		if (!is_valid(v, i))
		{
			nulls++;
			continue;
		}
		x = number_at(v, i);
		min = x < min ? x : min;
		max = x > max ? x : max;
	}
	s->known = true;
	s->null_count = nulls;
	s->row_count = v->n;
	s->may_have_nan = false;
	s->has_min = s->has_max = nulls < v->n;
	if (!s->has_min)
		return;
	s->min = number(v, min);
	s->max = number(v, max);
}

/* ---- batches ---- */

static BfStatus
copy_rows(BfArena *a, const int64_t *from, int32_t n, const int64_t **out, BfError *err)
{
	void *copy;

	if (from == NULL)
		return BF_OK;
	BF_TRY(copy_bytes(a, from, (size_t) n * sizeof *from, ROUND_UP(n) * sizeof *from, &copy, err));
	*out = copy;
	return BF_OK;
}

static BfStatus
copy_batch(BfKept *u, BfiKeptRows *rows, const BfBatch *b, BfiKeptBatch *out, BfError *err)
{
	BfArena *a = rows->arena;
	void *copy;

	out->batch = *b;
	BF_NEW(a, out->batch.cols, b->n_cols, err);
	BF_NEW(a, out->bounds, b->n_cols, err);
	for (int32_t i = 0; i < b->n_cols; i++)
	{
		BfVector *v = &out->batch.cols[i];

		BF_TRY(copy_vector(a, &b->cols[i], v, err));
		if (v->form == BF_VEC_DICT)
			BF_TRY(copy_dictionary(u, rows, i, v, err));
		else if (has_bounds(v) && v->n > 0)
			find_bounds(v, &out->bounds[i]);
	}
	BF_TRY(copy_rows(a, b->entry, b->n_rows, &out->batch.entry, err));
	BF_TRY(copy_rows(a, b->timestamp, b->n_rows, &out->batch.timestamp, err));
	if (b->selected == NULL)
		return BF_OK;
	BF_TRY(copy_bytes(a, b->selected, BF_VALIDITY_WORDS * sizeof *b->selected,
					  BF_VALIDITY_WORDS * sizeof *b->selected, &copy, err));
	out->batch.selected = copy;
	return BF_OK;
}

static BfStatus
begin_rows(BfKept *u, BfiKeptRows *rows, BfError *err)
{
	BfKeepBudget *budget = u->keep->budget;

	rows->arena =
		bf_arena_new(bf_arena_host(u->keep->arena), "rows kept", budget->bytes_max - budget->bytes);
	if (rows->arena == NULL)
		return bf_arena_fail(u->keep->arena, 0, err);
	bf_arena_dense(rows->arena);
	BF_NEW(rows->arena, rows->dicts, u->n_fields, err);
	BF_NEW(rows->arena, rows->dict_of, u->n_fields, err);
	BF_NEW(rows->arena, rows->dict_epoch, u->n_fields, err);
	return BF_OK;
}

static BfStatus
add(BfKept *u, BfiKeptRows *rows, const BfBatch *b, BfError *err)
{
	if (rows->arena == NULL)
		BF_TRY(begin_rows(u, rows, err));
	BF_ASSERT(b->n_cols == u->n_fields);
	if (rows->n == rows->room)
	{
		BfiKeptBatch **more;
		int32_t room = rows->room * 2 + 8;

		BF_NEW(rows->arena, more, room, err);
		if (rows->n > 0)
			memcpy(more, rows->batches, (size_t) rows->n * sizeof *more);
		rows->batches = more;
		rows->room = room;
	}
	BF_NEW(rows->arena, rows->batches[rows->n], 1, err);
	BF_TRY(copy_batch(u, rows, b, rows->batches[rows->n], err));
	if (rows->n > 0)
		rows->batches[rows->n]->first =
			rows->batches[rows->n - 1]->first + rows->batches[rows->n - 1]->batch.n_rows;
	rows->n++;
	return BF_OK;
}

static void
charge(BfKept *u, BfiKeptRows *rows)
{
	size_t bytes = rows->arena == NULL ? 0 : bf_arena_bytes(rows->arena);

	BF_ASSERT(bytes >= rows->charged);
	u->keep->budget->bytes += bytes - rows->charged;
	rows->charged = bytes;
}

/* That memory ends, the budget's or the host's, is no error: then it is not kept. */
BfStatus
bfi_kept_add(BfKept *u, BfiKeptGroup *g, const BfBatch *b, bool *fits, BfError *err)
{
	BfKeepBudget *budget = u->keep->budget;
	BfStatus status = BF_ERR_LIMIT;

	*fits = false;
	if (budget->bytes < budget->bytes_max)
		status = add(u, &g->rows, b, err);
	if (status != BF_OK && status != BF_ERR_LIMIT && status != BF_ERR_NOMEM)
		return status;
	charge(u, &g->rows);
	*fits = status == BF_OK;
	if (!*fits)
	{
		bf_error_clear(err);
		return BF_OK;
	}
	g->n_rows += b->n_rows;
	u->keep->counters->rows_kept += b->n_rows;
	return BF_OK;
}

/* Bounds of both. */
static void
widen(BfColumnStats *s, const BfColumnStats *by)
{
	if (by->has_min && (!s->has_min || bf_value_compare(&by->min, &s->min) < 0))
		s->min = by->min;
	if (by->has_max && (!s->has_max || bf_value_compare(&by->max, &s->max) > 0))
		s->max = by->max;
	s->has_min |= by->has_min;
	s->has_max |= by->has_max;
	s->null_count += by->null_count;
	s->row_count += by->row_count;
}

/* Of the batches [first, end), by column. */
static void
bounds_of(const BfiKeptRows *rows, int32_t first, int32_t end, int32_t n_fields, BfColumnStats *out)
{
	BF_ASSERT(first >= 0 && first < end && end <= rows->n);
	for (int32_t i = 0; i < n_fields; i++)
	{
		out[i] = rows->batches[first]->bounds[i];
		for (int32_t k = first + 1; k < end && out[i].known; k++)
			if (rows->batches[k]->bounds[i].known)
				widen(&out[i], &rows->batches[k]->bounds[i]);
			else
				out[i].known = false;
	}
}

void
bfi_kept_end(BfKept *u, BfiKeptGroup *g)
{
	int32_t n = (g->rows.n + BFI_SPAN - 1) / BFI_SPAN;
	size_t fields = (size_t) u->n_fields;

	g->kept = true;
	if (g->rows.n == 0)
		return;
	g->bounds = bf_arena_alloc_array(g->rows.arena, fields, sizeof *g->bounds);
	g->spans = bf_arena_alloc_array(g->rows.arena, (size_t) n * fields, sizeof *g->spans);
	charge(u, &g->rows);
	if (g->bounds != NULL)
		bounds_of(&g->rows, 0, g->rows.n, u->n_fields, g->bounds);
	for (int32_t i = 0; i < n && g->spans != NULL; i++)
	{
		int32_t end = (i + 1) * BFI_SPAN < g->rows.n ? (i + 1) * BFI_SPAN : g->rows.n;

		bounds_of(&g->rows, i * BFI_SPAN, end, u->n_fields, g->spans + (size_t) i * fields);
	}
}

void
bfi_kept_drop(BfKept *u, BfiKeptGroup *g)
{
	BF_ASSERT(u->keep->budget->bytes >= g->rows.charged);
	u->keep->budget->bytes -= g->rows.charged;
	bfi_kept_forget_index(u, g);
	bf_arena_free(g->rows.arena);
	memset(&g->rows, 0, sizeof g->rows);
	g->n_rows = 0;
	g->bounds = NULL;
	g->spans = NULL;
	g->kept = false;
}
