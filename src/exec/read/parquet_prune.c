/*
 * What the file says of a row group, against the predicate. The file speaks in its own types:
 * bounds are promoted to the table's, values that are looked for are brought back to the file's.
 *
 * All of it is about what can't be there. Where the file says nothing, or what it says can't be
 * compared, rows may match.
 */
#include "exec/read/parquet_internal.h"

typedef struct Prune
{
	BfiParquetReader *r;
	const BfParquetPages **pages; /* per input; NULL: not looked for, or none */
	BfParquetBloom **blooms;
	bool *looked; /* per input: for its pages or filter */
	int32_t page;
	BfStatus status; /* of callbacks, which can't fail */
	BfError *err;
} Prune;

static BfiInput *
input_of(const BfiParquetReader *r, int32_t field)
{
	if (field < 0 || field >= r->pred.n_fields || r->pred.inputs[field] < 0)
		return NULL;
	return &r->inputs[r->pred.inputs[field]];
}

/* ---- statistics ---- */

static void
promote_bound(bool *has, BfValue *bound, BfType to)
{
	BfValue from = *bound;
	BfError ignored;

	bf_error_clear(&ignored);
	if (*has && !bf_type_equal(from.type, to))
		*has = bf_value_promote(&from, to, bound, &ignored) == BF_OK;
}

static void
constant_stats(const BfVector *v, int64_t rows, BfColumnStats *s)
{
	s->known = true;
	s->row_count = rows;
	s->null_count = 0;
	if (v->storage == BF_STORE_NESTED)
		s->known = false;
	else if (!bf_valid(v->validity, 0))
		s->null_count = rows;
	else
	{
		BfVector one = *v;

		one.n = 1;
		s->has_min = s->has_max = true;
		bf_vector_get(&one, 0, &s->min);
		s->max = s->min;
		/* NaN is no bound: it is taken out again by whoever compares. */
		s->may_have_nan = (v->storage == BF_STORE_F32 && s->min.v.f32 != s->min.v.f32) ||
						  (v->storage == BF_STORE_F64 && s->min.v.f64 != s->min.v.f64);
	}
}

static bool
row_group_stats(void *arg, int32_t field, BfColumnStats *s)
{
	Prune *p = arg;
	const BfiInput *in = input_of(p->r, field);

	if (in == NULL)
		return false;
	if (in->is.mapping == NULL)
		constant_stats(&in->is.constant, bf_parquet_row_group_rows(p->r->file, p->r->group.number),
					   s);
	else if (!bf_parquet_row_group_stats(p->r->file, p->r->group.number, in->is.column, s))
		return false;
	promote_bound(&s->has_min, &s->min, in->is.want->type);
	promote_bound(&s->has_max, &s->max, in->is.want->type);
	return s->known;
}

/* ---- pages ---- */

static bool
page_stats(void *arg, int32_t field, BfColumnStats *s)
{
	Prune *p = arg;
	int32_t input = p->r->pred.inputs[field];

	BF_ASSERT(input >= 0 && input < p->r->n_inputs);
	BF_ASSERT(p->page >= 0 && p->page < p->pages[input]->n);
	*s = p->pages[input]->stats[p->page];
	promote_bound(&s->has_min, &s->min, p->r->inputs[input].is.want->type);
	promote_bound(&s->has_max, &s->max, p->r->inputs[input].is.want->type);
	return s->known;
}

static BfStatus
all_rows(Prune *p, BfRangeSet *out, BfError *err)
{
	int64_t n = bf_parquet_row_group_rows(p->r->file, p->r->group.number);
	BfRange all = {0, n - 1};

	return bf_rangeset_make(p->r->group.arena, &all, n > 0 ? 1 : 0, out, err);
}

static BfStatus
leaf_ranges(Prune *p, const BfPred *pred, BfRangeSet *out, BfError *err)
{
	BfiInput *in = input_of(p->r, pred->field);
	const BfParquetPages *pages;
	BfRange *ranges;
	int32_t n = 0;
	int32_t input;

	if (in == NULL || in->is.mapping == NULL)
		return all_rows(p, out, err);
	input = p->r->pred.inputs[pred->field];
	if (!p->looked[input])
	{
		p->looked[input] = true;
		BF_TRY(bf_parquet_pages(p->r->file, p->r->group.arena, p->r->group.number, in->is.column,
								&p->pages[input], err));
	}
	pages = p->pages[input];
	if (pages == NULL || pages->n > BF_RANGESET_RANGES_MAX)
		return all_rows(p, out, err);
	BF_NEW(p->r->group.arena, ranges, pages->n, err);
	for (p->page = 0; p->page < pages->n; p->page++)
	{
		BfRange rows = {pages->first_row[p->page], pages->first_row[p->page + 1] - 1};

		if (rows.first <= rows.last && bf_pred_may_match(pred, page_stats, p))
			ranges[n++] = rows;
	}
	return bf_rangeset_make(p->r->group.arena, ranges, n, out, err);
}

BfStatus
bfi_parquet_prune_join(BfArena *a, bool both, const BfRangeSet *x, const BfRangeSet *y,
					   int64_t n_rows, BfRangeSet *out, BfError *err)
{
	BfStatus status = (both ? bf_rangeset_intersect : bf_rangeset_union)(a, x, y, out, err);
	BfRange all = {0, n_rows - 1};

	if (status != BF_ERR_LIMIT)
		return status;
	return bf_rangeset_make(a, &all, n_rows > 0 ? 1 : 0, out, err);
}

static BfStatus
ranges_of(Prune *p, const BfPred *pred, int depth, BfRangeSet *out, BfError *err)
{
	int64_t n_rows = bf_parquet_row_group_rows(p->r->file, p->r->group.number);

	out->n = 0;
	out->ranges = NULL;
	if (depth > BF_PRED_DEPTH_MAX || pred->kind == BF_PRED_TRUE || pred->kind == BF_PRED_UNKNOWN)
		return all_rows(p, out, err);
	if (pred->kind == BF_PRED_FALSE)
		return BF_OK;
	if (pred->kind != BF_PRED_AND && pred->kind != BF_PRED_OR)
		return leaf_ranges(p, pred, out, err);
	if (pred->kind == BF_PRED_AND)
		BF_TRY(all_rows(p, out, err));
	for (int32_t i = 0; i < pred->n_children; i++)
	{
		BfRangeSet before = *out;
		BfRangeSet child;

		BF_TRY(ranges_of(p, pred->children[i], depth + 1, &child, err));
		BF_TRY(bfi_parquet_prune_join(p->r->group.arena, pred->kind == BF_PRED_AND, &before, &child,
									  n_rows, out, err));
	}
	return BF_OK;
}

static BfStatus
prune_by_index(Prune *p, bool *may, BfError *err)
{
	BfiParquetReader *r = p->r;
	int64_t n = bf_parquet_row_group_rows(r->file, r->group.number);
	BfRangeSet rows;
	int64_t left_out;

	BF_TRY(ranges_of(p, r->pred.tree, 0, &rows, err));
	left_out = n - bf_rangeset_count(&rows);
	BF_ASSERT(left_out >= 0 && left_out <= n);
	r->counters->rows_by_index += left_out;
	*may = rows.n > 0 || n == 0;
	r->group.all_rows = left_out == 0;
	r->group.rows = rows;
	return BF_OK;
}

/* ---- bloom filters ---- */

static bool
bloom_may_have(void *arg, int32_t field, const BfValue *value)
{
	Prune *p = arg;
	BfiInput *in = input_of(p->r, field);
	int32_t input;
	BfValue mine;
	bool may = true;

	if (p->status != BF_OK || in == NULL || in->is.mapping == NULL || value->is_null)
		return true;
	input = p->r->pred.inputs[field];
	if (!p->looked[input])
	{
		p->looked[input] = true;
		p->status = bf_parquet_bloom(p->r->file, p->r->group.arena, p->r->group.number,
									 in->is.column, &p->blooms[input], p->err);
	}
	if (p->status != BF_OK || p->blooms[input] == NULL)
		return true;
	switch (
		bf_value_demote(value, bf_parquet_schema(p->r->file)->fields[in->is.column].type, &mine))
	{
		case BF_DEMOTED_NONE: return false;
		case BF_DEMOTED_UNKNOWN: return true;
		case BF_DEMOTED_ONE: break;
	}
	p->status = bf_parquet_bloom_may_have(p->blooms[input], &mine, &may, p->err);
	return p->status != BF_OK || may;
}

/* ---- a row group ---- */

static BfStatus
begin(BfiParquetReader *r, Prune *p, BfError *err)
{
	BF_ASSERT(r->pred.tree != NULL);
	memset(p, 0, sizeof *p);
	p->r = r;
	p->err = err;
	BF_NEW(r->group.arena, p->pages, r->n_inputs, err);
	BF_NEW(r->group.arena, p->blooms, r->n_inputs, err);
	BF_NEW(r->group.arena, p->looked, r->n_inputs, err);
	return BF_OK;
}

static BfStatus
prune(BfiParquetReader *r, bool *may, BfError *err)
{
	Prune p;

	*may = true;
	bf_arena_reset(r->group.arena);
	BF_TRY(begin(r, &p, err));
	if ((r->pred.prune & BF_PRUNE_ROW_GROUP) != 0 &&
		!bf_pred_may_match(r->pred.tree, row_group_stats, &p))
	{
		r->counters->row_groups_by_statistics++;
		*may = false;
		return BF_OK;
	}
	if ((r->pred.prune & BF_PRUNE_BLOOM) != 0)
	{
		/* What the statistics exclude needs no filter. */
		*may =
			(r->pred.prune & BF_PRUNE_ROW_GROUP) != 0
				? bf_pred_may_match_and_contain(r->pred.tree, row_group_stats, bloom_may_have, &p)
				: bf_pred_may_contain(r->pred.tree, bloom_may_have, &p);
		BF_TRY(p.status);
		r->counters->row_groups_by_bloom += !*may;
	}
	if (!*may || (r->pred.prune & BF_PRUNE_PAGE) == 0)
		return BF_OK;
	memset(p.looked, 0, (size_t) r->n_inputs * sizeof *p.looked);
	return prune_by_index(&p, may, err);
}

BfStatus
bfi_parquet_prune(BfiParquetReader *r, bool *may, BfError *err)
{
	BfStatus status = prune(r, may, err);

	return status == BF_OK ? BF_OK : bf_error_object(err, r->name);
}

/* ---- dictionaries ---- */

static const BfVector *
the_vector(void *arg, int32_t field)
{
	(void) field;
	return arg;
}

/* Does any entry match? */
static BfStatus
any_entry(BfiParquetReader *r, const BfPred *leaf, BfiInput *in, const BfVector *dict, bool *may,
		  BfError *err)
{
	size_t size = bf_storage_size(dict->storage);

	BF_ASSERT(in->is.mapping != NULL && dict->form == BF_VEC_FLAT);

	*may = false;
	for (int32_t first = 0; first < dict->n && !*may; first += BF_BATCH_ROWS)
	{
		BfVector part = *dict;
		BfVector promoted;

		part.n = dict->n - first < BF_BATCH_ROWS ? dict->n - first : BF_BATCH_ROWS;
		part.data.raw = (uint8_t *) dict->data.raw + (size_t) first * size;
		BF_TRY(bf_mapping_apply(in->is.mapping, &part, &promoted, err));
		memset(r->rows, 0xff, BF_VALIDITY_WORDS * sizeof *r->rows);
		BF_TRY(bf_pred_filter(leaf, part.n, the_vector, &promoted, r->group.arena, r->rows, err));
		for (int32_t w = 0; w < BF_VALIDITY_WORDS; w++)
			*may |= r->rows[w] != 0;
	}
	return BF_OK;
}

static BfStatus
dictionary_leaf(BfiParquetReader *r, const BfPred *leaf, bool *may, BfError *err)
{
	BfiInput *in = input_of(r, leaf->field);
	const BfVector *dict;
	BfStatus status;

	*may = true;
	if (in == NULL || in->scan_column < 0 || leaf->kind == BF_PRED_IS_NULL)
		return BF_OK;
	BF_TRY(bf_parquet_scan_dictionary(r->scan, in->scan_column, &dict, err));
	if (dict == NULL)
		return BF_OK;
	status = any_entry(r, leaf, in, dict, may, err);
	if (status != BF_ERR_VALUE)
		return status;
	/* An entry that perhaps no row uses can't be converted: the rows will tell. */
	*may = true;
	bf_error_clear(err);
	return BF_OK;
}

static BfStatus
dictionaries(BfiParquetReader *r, const BfPred *pred, int depth, bool *may, BfError *err)
{
	bool is_or = pred->kind == BF_PRED_OR;

	*may = pred->kind != BF_PRED_FALSE;
	if (depth > BF_PRED_DEPTH_MAX || pred->kind <= BF_PRED_UNKNOWN)
		return BF_OK;
	if (pred->kind != BF_PRED_AND && !is_or)
		return dictionary_leaf(r, pred, may, err);
	*may = !is_or;
	for (int32_t i = 0; i < pred->n_children && *may != is_or; i++)
		BF_TRY(dictionaries(r, pred->children[i], depth + 1, may, err));
	return BF_OK;
}

BfStatus
bfi_parquet_prune_by_dictionary(BfiParquetReader *r, bool *may, BfError *err)
{
	BF_ASSERT(r->pred.tree != NULL && !r->group.open);
	BF_TRY(dictionaries(r, r->pred.tree, 0, may, err));
	r->counters->row_groups_by_dictionary += !*may;
	return BF_OK;
}
