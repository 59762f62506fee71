/*
 * exec/filter/filter.c: see filter.h.
 */
#include "exec/filter/filter.h"

struct BfFilter
{
	BfProjection projection; /* what is read */
	int32_t n_outputs;		 /* the first columns of it are what was asked for */
	bool *decides;			 /* by column */
	BfPredState *pred;		 /* NULL: rows are not asked */
	const BfPred *bounds;	 /* borrowed; NULL: bounds don't count */
	int32_t *pred_columns;	 /* by field of the schema, -1: not in the predicate */
	BfDeletes *deletes;		 /* NULL: none */
	int32_t *delete_columns; /* by field of the deletes */
	BfFilterCounters *counters;
	BfFilterCounters no_counters;
	const BfBatch *batch; /* that is being narrowed */
};

/* ---- columns ---- */

/* What is being put together: a filter whose arrays have room for all columns. */
typedef struct Columns
{
	BfFilter *f;
	BfSchema *schema; /* NULL: the projection's own will do */
	int32_t *fields;
} Columns;

static int32_t
add_column(Columns *c, int32_t field)
{
	int32_t n = c->f->projection.n_fields++;

	BF_ASSERT(field >= 0);

	c->fields[n] = field;
	return n;
}

/* The column of a field of the schema, which decides. */
static int32_t
column_of_field(Columns *c, int32_t field)
{
	int32_t i = 0;

	while (i < c->f->projection.n_fields && c->fields[i] != field)
		i++;
	if (i == c->f->projection.n_fields)
		i = add_column(c, field);
	c->f->decides[i] = true;
	return i;
}

/* The column of a key. One of the same id and type will do; nested ones differ in more than that.
 */
static int32_t
column_of_key(Columns *c, const BfField *key)
{
	const BfProjection *p = &c->f->projection;
	int32_t i;

	for (i = 0; i < p->n_fields; i++)
	{
		const BfField *f = &c->schema->fields[c->fields[i]];

		if (f->id != 0 && f->id == key->id && bf_type_equal(f->type, key->type) &&
			bf_type_storage(key->type) != BF_STORE_NESTED)
			break;
	}
	if (i == p->n_fields)
	{
		c->schema->fields[c->schema->n_fields] = *key;
		i = add_column(c, c->schema->n_fields++);
	}
	c->f->decides[i] = true;
	return i;
}

/* A schema with room for n fields more. */
static BfStatus
copy_schema(BfArena *a, const BfSchema *from, int32_t n, BfSchema **out, BfError *err)
{
	BF_NEW(a, *out, 1, err);
	**out = *from;
	BF_NEW(a, (*out)->fields, from->n_fields + n, err);
	if (from->n_fields > 0)
		memcpy((*out)->fields, from->fields, (size_t) from->n_fields * sizeof *from->fields);
	return BF_OK;
}

static BfStatus
choose_columns(BfArena *a, BfFilter *f, const BfProjection *p, const BfPred *pred, BfError *err)
{
	Columns c = {.f = f};
	const BfField *keys = NULL;
	int32_t *pred_fields = NULL;
	int32_t n_pred = 0;
	int32_t n_keys = 0;

	if (pred != NULL)
		BF_TRY(bf_pred_fields(pred, a, &pred_fields, &n_pred, err));
	if (f->deletes != NULL)
		keys = bf_deletes_fields(f->deletes, &n_keys);
	BF_NEW(a, c.fields, p->n_fields + n_pred + n_keys, err);
	BF_NEW(a, f->decides, p->n_fields + n_pred + n_keys, err);
	BF_NEW(a, f->pred_columns, p->schema->n_fields, err);
	BF_NEW(a, f->delete_columns, n_keys, err);
	if (p->n_fields > 0)
		memcpy(c.fields, p->fields, (size_t) p->n_fields * sizeof *c.fields);
	for (int32_t i = 0; i < p->schema->n_fields; i++)
		f->pred_columns[i] = -1;
	for (int32_t i = 0; i < n_pred; i++)
	{
		BF_ASSERT(pred_fields[i] >= 0 && pred_fields[i] < p->schema->n_fields);
		f->pred_columns[pred_fields[i]] = column_of_field(&c, pred_fields[i]);
	}
	if (n_keys > 0)
	{
		BF_TRY(copy_schema(a, p->schema, n_keys, &c.schema, err));
		f->projection.schema = c.schema;
	}
	for (int32_t i = 0; i < n_keys; i++)
		f->delete_columns[i] = column_of_key(&c, &keys[i]);
	f->projection.fields = c.fields;
	return BF_OK;
}

BfStatus
bf_filter_new(BfArena *a, const BfProjection *projection, const BfRowFilter *what, BfFilter **out,
			  BfError *err)
{
	const BfPred *pred = NULL;
	BfFilter *f;

	BF_ASSERT(projection->n_fields >= 0);
	BF_NEW(a, f, 1, err);
	f->projection = *projection;
	f->n_outputs = projection->n_fields;
	f->counters = &f->no_counters;
	if (what != NULL)
	{
		if ((what->prune & BF_PRUNE_LATE) != 0)
			pred = what->pred;
		if ((what->prune & BF_PRUNE_PAGE) != 0)
			f->bounds = what->pred;
		f->deletes = what->deletes;
		if (what->counters != NULL)
			f->counters = what->counters;
	}
	if (pred != NULL)
		BF_TRY(bf_pred_state_new(a, pred, &f->pred, err));
	BF_TRY(choose_columns(a, f, projection, pred, err));
	BF_ASSERT(f->projection.n_fields >= f->n_outputs);
	*out = f;
	return BF_OK;
}

const BfProjection *
bf_filter_projection(const BfFilter *f)
{
	return &f->projection;
}

int32_t
bf_filter_n_outputs(const BfFilter *f)
{
	return f->n_outputs;
}

bool
bf_filter_decides(const BfFilter *f, int32_t i)
{
	BF_ASSERT(i >= 0 && i < f->projection.n_fields);
	return f->decides[i];
}

const BfPred *
bf_filter_bounds(const BfFilter *f)
{
	return f->bounds;
}

bool
bf_filter_any(const BfFilter *f)
{
	return f->pred != NULL || f->deletes != NULL;
}

/* ---- rows ---- */

static const BfVector *
pred_column(void *arg, int32_t field)
{
	const BfFilter *f = arg;

	BF_ASSERT(f->pred_columns[field] >= 0);
	return &f->batch->cols[f->pred_columns[field]];
}

static const BfVector *
delete_column(void *arg, int32_t k)
{
	const BfFilter *f = arg;

	return &f->batch->cols[f->delete_columns[k]];
}

BfStatus
bf_filter_narrow(BfFilter *f, const BfBatch *b, uint64_t *rows, int32_t *n, BfError *err)
{
	int32_t before = bf_batch_n(b);

	BF_ASSERT(b->n_rows >= 0 && b->n_rows <= BF_BATCH_ROWS);
	f->batch = b;
	*n = before;
	if (b->selected != NULL)
		memcpy(rows, b->selected, BF_VALIDITY_WORDS * sizeof *rows);
	else
		bf_bits_first(rows, b->n_rows, BF_VALIDITY_WORDS);
	if (f->pred != NULL)
	{
		BF_TRY(bf_pred_state_filter(f->pred, b->n_rows, pred_column, f, rows, err));
		*n = bf_validity_count(rows, b->n_rows);
		f->counters->rows_filtered += before - *n;
		before = *n;
	}
	if (f->deletes != NULL && before > 0)
	{
		BF_TRY(bf_deletes_apply(f->deletes, b->first_row, b->n_rows, delete_column, f, rows, err));
		*n = bf_validity_count(rows, b->n_rows);
		f->counters->rows_deleted += before - *n;
	}
	BF_ASSERT(*n >= 0 && *n <= before);
	return BF_OK;
}

/* ---- a reader over a reader ---- */

typedef struct FilterReader
{
	BfReader base;
	BfReader *below;
	BfFilter *filter;
	BfBatch batch;
	uint64_t *rows;
} FilterReader;

static BfStatus
filter_next(BfReader *base, const BfBatch **out, BfError *err)
{
	FilterReader *r = (FilterReader *) base;
	const BfBatch *b;
	int32_t n;

	*out = NULL;
	do
	{
		BF_TRY(r->below->next(r->below, &b, err));
		if (b == NULL)
			return BF_OK;
		BF_ASSERT(b->n_cols == r->filter->projection.n_fields);
		if (bf_filter_narrow(r->filter, b, r->rows, &n, err) != BF_OK)
			return bf_error_object(err, r->below->name(r->below));
	} while (n == 0);
	BF_ASSERT(r->filter->n_outputs <= b->n_cols);
	r->batch = *b;
	r->batch.n_cols = r->filter->n_outputs;
	r->batch.selected = n < b->n_rows ? r->rows : NULL;
	r->batch.n_selected = n;
	*out = &r->batch;
	return BF_OK;
}

static const char *
filter_name(const BfReader *base)
{
	const FilterReader *r = (const FilterReader *) base;

	return r->below->name(r->below);
}

BfStatus
bf_filter_reader(BfArena *a, BfFilter *f, BfReader *below, BfReader **out, BfError *err)
{
	FilterReader *r;

	if (!bf_filter_any(f))
	{
		*out = below;
		return BF_OK;
	}
	BF_NEW(a, r, 1, err);
	r->base.next = filter_next;
	r->base.name = filter_name;
	r->below = below;
	r->filter = f;
	BF_NEW(a, r->rows, BF_VALIDITY_WORDS, err);
	*out = &r->base;
	return BF_OK;
}
