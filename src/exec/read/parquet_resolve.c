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

/* The input for a field, shared by all who want the same. */
static BfStatus
add_input(BfArena *a, BfiParquetReader *r, const BfField *want, const BfConstants *constants,
		  bool read, bool early, int32_t *out, BfError *err)
{
	BfiInput *in;

	for (*out = 0; *out < r->n_inputs; ++*out)
	{
		in = &r->inputs[*out];
		if (in->want == want || (want->id != 0 && in->want->id == want->id &&
								 bf_type_equal(in->want->type, want->type) &&
								 bf_type_storage(want->type) != BF_STORE_NESTED))
		{
			in->read |= read;
			in->early |= early;
			return BF_OK;
		}
	}
	in = &r->inputs[r->n_inputs++];
	in->read = read;
	in->early = early;
	return resolve_input(a, r, want, constants, in, err);
}

static BfStatus
add_inputs(BfArena *a, BfiParquetReader *r, const BfProjection *p, const BfConstants *constants,
		   BfError *err)
{
	bool late = (r->filter.prune & BF_PRUNE_LATE) != 0;
	const BfField *delete_fields = NULL;
	int32_t *pred_fields = NULL;
	int32_t n_pred = 0;
	int32_t n_delete = 0;

	if (r->filter.pred != NULL)
		BF_TRY(bf_pred_fields(r->filter.pred, a, &pred_fields, &n_pred, err));
	if (r->filter.deletes != NULL)
		delete_fields = bf_deletes_fields(r->filter.deletes, &n_delete);
	BF_NEW(a, r->inputs, p->n_fields + n_pred + n_delete, err);
	BF_NEW(a, r->outputs, p->n_fields, err);
	BF_NEW(a, r->delete_inputs, n_delete, err);
	BF_NEW(a, r->pred_inputs, p->schema->n_fields, err);
	r->n_pred_fields = p->schema->n_fields;
	memset(r->pred_inputs, 0xff, (size_t) p->schema->n_fields * sizeof *r->pred_inputs);
	for (int32_t i = 0; i < n_pred; i++)
	{
		BF_ASSERT(pred_fields[i] >= 0 && pred_fields[i] < p->schema->n_fields);
		BF_TRY(add_input(a, r, &p->schema->fields[pred_fields[i]], constants, late, late,
						 &r->pred_inputs[pred_fields[i]], err));
	}
	for (int32_t i = 0; i < n_delete; i++)
		BF_TRY(
			add_input(a, r, &delete_fields[i], constants, true, true, &r->delete_inputs[i], err));
	for (int32_t i = 0; i < p->n_fields; i++)
		BF_TRY(add_input(a, r, &p->schema->fields[p->fields[i]], constants, true, false,
						 &r->outputs[i], err));
	r->n_outputs = p->n_fields;
	return BF_OK;
}

/* The scan's columns, early ones first. */
static BfStatus
make_scan(BfArena *a, BfiParquetReader *r, BfError *err)
{
	const BfMapping **mappings;
	bool filtered = r->filter.deletes != NULL ||
					(r->filter.pred != NULL && (r->filter.prune & BF_PRUNE_LATE) != 0);
	int32_t *columns;
	int32_t n = 0;
	int32_t n_early = 0;

	BF_NEW(a, columns, r->n_inputs, err);
	BF_NEW(a, mappings, r->n_inputs, err);
	for (int pass = 0; pass < 2; pass++)
		for (int32_t i = 0; i < r->n_inputs; i++)
		{
			BfiInput *in = &r->inputs[i];

			if (in->mapping == NULL || !in->read || in->early != (pass == 0))
				continue;
			in->column = n;
			columns[n] = in->file_field;
			mappings[n++] = in->mapping;
			n_early += in->early;
		}
	if (!filtered)
		n_early = n;
	BF_TRY(
		bf_parquet_scan_new_mapped(a, r->file, columns, mappings, n, r->counters, &r->scan, err));
	if (n_early < n || (r->filter.prune & BF_PRUNE_PAGE) != 0)
		bf_parquet_scan_set_early(r->scan, n_early, (r->filter.prune & BF_PRUNE_PAGE) != 0);
	return BF_OK;
}

BfStatus
bfi_parquet_resolve(BfArena *a, BfiParquetReader *r, const BfProjection *p,
					const BfConstants *constants, BfError *err)
{
	BF_TRY(add_inputs(a, r, p, constants, err));
	BF_NEW(a, r->batch.cols, r->n_outputs, err);
	r->batch.n_cols = r->n_outputs;
	return make_scan(a, r, err);
}
