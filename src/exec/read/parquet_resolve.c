/*
 * Which column of the file, or which constant, each column that is asked for is.
 */
#include "exec/read/constants.h"
#include "exec/read/parquet_internal.h"

BfStatus
bfi_parquet_bad_column(const BfiParquetReader *r, const BfField *want, BfError *err)
{
	bf_error_column(err, want->name);
	return bf_error_object(err, r->name);
}

/* A constant may be of the type that the column had when its file was written. */
static BfStatus
promote_constant(BfArena *a, BfiParquetReader *r, const BfField *want, const BfValue *from,
				 BfVector *out, BfError *err)
{
	if (bf_mapping_constant(a, want, from, out, err) != BF_OK)
		return bfi_parquet_bad_column(r, want, err);
	return BF_OK;
}

/* A column that the file does not have. */
static BfStatus
resolve_missing(BfArena *a, BfiParquetReader *r, const BfField *want, const BfValue *constant,
				BfVector *out, BfError *err)
{
	if (constant != NULL)
		return promote_constant(a, r, want, constant, out, err);
	if (want->id != 0 && !bf_parquet_has_field_ids(r->file) && !want->mapped)
	{
		bf_error(err, BF_ERR_UNSUPPORTED,
				 "the file has no field ids and the table has no name mapping");
		return bfi_parquet_bad_column(r, want, err);
	}
	if (want->has_default)
		return bf_vector_init_const(a, out, want, &want->initial_default, 0, err);
	if (want->required)
	{
		bf_error(err, BF_ERR_CORRUPT, "the file lacks the required column \"%.100s\"", want->name);
		return bfi_parquet_bad_column(r, want, err);
	}
	bf_vector_set_null(out, want->type, 0);
	return BF_OK;
}

static BfStatus
resolve_input(BfArena *a, BfiParquetReader *r, const BfField *want, const BfConstants *constants,
			  BfiInput *in, BfError *err)
{
	const BfSchema *file = bf_parquet_schema(r->file);
	const BfValue *constant = bfi_constant_of(constants, want->id);
	bool has_ids = bf_parquet_has_field_ids(r->file);

	in->want = want;
	in->column = -1;
	if (bfi_field_with_constants(a, want, constants, &want, err) != BF_OK)
		return bfi_parquet_bad_column(r, want, err);
	if (bf_field_find(file->fields, file->n_fields, has_ids, want, &in->file_field, err) != BF_OK)
		return bf_error_object(err, r->name);
	if (in->file_field < 0)
		return resolve_missing(a, r, want, constant, &in->constant, err);
	if (bf_mapping_new(a, &file->fields[in->file_field], want, has_ids, &in->mapping, err) != BF_OK)
		return bfi_parquet_bad_column(r, want, err);
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
		r->pred_inputs[pred_fields[k]] = i;
	}
	return BF_OK;
}

static BfStatus
add_inputs(BfArena *a, BfiParquetReader *r, const BfConstants *constants, BfError *err)
{
	const BfProjection *p = bf_filter_projection(r->filter);
	int32_t *pred_fields = NULL;
	int32_t n_pred = 0;

	if (r->pred != NULL)
		BF_TRY(bf_pred_fields(r->pred, a, &pred_fields, &n_pred, err));
	BF_NEW(a, r->inputs, p->n_fields + n_pred, err);
	BF_NEW(a, r->pred_inputs, p->schema->n_fields, err);
	r->n_pred_fields = p->schema->n_fields;
	for (int32_t i = 0; i < p->schema->n_fields; i++)
		r->pred_inputs[i] = -1;
	for (int32_t i = 0; i < p->n_fields; i++)
		BF_TRY(
			resolve_input(a, r, &p->schema->fields[p->fields[i]], constants, &r->inputs[i], err));
	r->n_columns = r->n_inputs = p->n_fields;
	return add_unread(a, r, p, pred_fields, n_pred, constants, err);
}

/* The scan's columns, early ones first. */
static BfStatus
make_scan(BfArena *a, BfiParquetReader *r, BfError *err)
{
	const BfMapping **mappings;
	bool use_index = (r->prune & BF_PRUNE_PAGE) != 0;
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

			if (in->mapping == NULL || early != (pass == 0))
				continue;
			in->column = n;
			columns[n] = in->file_field;
			mappings[n++] = in->mapping;
			n_early += early;
		}
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
