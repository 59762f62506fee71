/*
 * Which column of the file, or which constant, each column that is asked for is.
 */
#include "exec/read/parquet_internal.h"

static BfStatus
resolve_input(BfArena *a, BfiParquetReader *r, const BfField *want, const BfConstants *constants,
			  BfiInput *in, BfError *err)
{
	const BfiColumns columns = {.schema = bf_parquet_schema(r->file),
								.has_ids = bf_parquet_has_field_ids(r->file),
								.numbered = true,
								.what = "file"};

	in->scan_column = -1;
	if (bfi_resolve(a, &columns, want, constants, &in->is, err) != BF_OK)
		return bf_error_object(err, r->name);
	r->by_position |= bfi_unknown_by_id(&columns, want);
	return BF_OK;
}

/* Columns of the predicate that nobody reads, for what the file says of them. */
static BfStatus
add_unread(BfArena *a, BfiParquetReader *r, const BfProjection *p, const int32_t *pred_fields,
		   int32_t n_pred, const BfConstants *constants, BfError *err)
{
	for (int32_t k = 0; k < n_pred; k++)
	{
		const BfField *want = &p->schema->fields[pred_fields[k]];
		int32_t i = 0;

		BF_ASSERT(pred_fields[k] >= 0 && pred_fields[k] < p->schema->n_fields);
		while (i < r->n_columns && p->fields[i] != pred_fields[k])
			i++;
		if (i == r->n_columns)
		{
			i = r->n_inputs++;
			BF_TRY(resolve_input(a, r, want, constants, &r->inputs[i], err));
		}
		r->pred.inputs[pred_fields[k]] = i;
	}
	return BF_OK;
}

static BfStatus
add_inputs(BfArena *a, BfiParquetReader *r, const BfConstants *constants, BfError *err)
{
	const BfProjection *p = bf_filter_projection(r->filter);
	int32_t *pred_fields = NULL;
	int32_t n_pred = 0;

	if (r->pred.tree != NULL)
		BF_TRY(bf_pred_fields(r->pred.tree, a, &pred_fields, &n_pred, err));
	BF_NEW(a, r->inputs, p->n_fields + n_pred, err);
	BF_NEW(a, r->pred.inputs, p->schema->n_fields, err);
	r->pred.n_fields = p->schema->n_fields;
	for (int32_t i = 0; i < p->schema->n_fields; i++)
		r->pred.inputs[i] = -1;
	for (int32_t i = 0; i < p->n_fields; i++)
		BF_TRY(
			resolve_input(a, r, &p->schema->fields[p->fields[i]], constants, &r->inputs[i], err));
	r->n_columns = r->n_inputs = p->n_fields;
	BF_TRY(add_unread(a, r, p, pred_fields, n_pred, constants, err));
	r->counters->files_by_position += r->by_position;
	return BF_OK;
}

/* The scan's columns, early ones first. */
static BfStatus
make_scan(BfArena *a, BfiParquetReader *r, BfError *err)
{
	const BfMapping **mappings;
	bool use_index = (r->pred.prune & BF_PRUNE_PAGE) != 0;
	int32_t *columns;
	int32_t n = 0;
	int32_t n_early = 0;

	BF_NEW(a, columns, r->n_columns, err);
	BF_NEW(a, mappings, r->n_columns, err);
	for (int pass = 0; pass < 2; pass++)
		for (int32_t i = 0; i < r->n_columns; i++)
		{
			BfiInput *in = &r->inputs[i];
			bool early = bf_filter_decides(r->filter, i);

			if (in->is.mapping == NULL || early != (pass == 0))
				continue;
			BF_ASSERT(pass == 1 || n_early == n);
			in->scan_column = n;
			columns[n] = in->is.column;
			mappings[n++] = in->is.mapping;
			n_early += early;
		}
	BF_ASSERT(n_early <= n && n <= r->n_columns);
	if (!bf_filter_any(r->filter))
		n_early = n;
	BF_TRY(
		bf_parquet_scan_new_mapped(a, r->file, columns, mappings, n, r->counters, &r->scan, err));
	if (n_early < n || use_index)
		bf_parquet_scan_set_early(r->scan, n_early, use_index);
	return BF_OK;
}

BfStatus
bfi_parquet_resolve(BfArena *a, BfiParquetReader *r, const BfConstants *constants, BfError *err)
{
	BF_TRY(add_inputs(a, r, constants, err));
	BF_NEW(a, r->batch.cols, r->n_columns, err);
	BF_ASSERT(r->n_outputs <= r->n_columns && r->n_columns <= r->n_inputs);
	r->batch.n_cols = r->n_outputs;
	return make_scan(a, r, err);
}
