#include "exec/parquet_reader.h"
#include "vec/mapping.h"

typedef struct Output
{
	const char *name;
	int32_t column;		/* of the scan; -1: constant */
	BfMapping *mapping; /* NULL: constant */
	BfVector constant;
} Output;

typedef struct ParquetReader
{
	BfReader base;
	const char *name;
	BfParquetFile *file; /* borrowed */
	BfParquetScan *scan;
	int32_t rg_next;
	int32_t rg_end;
	bool in_row_group;
	int32_t n_cols;
	Output *outputs;
	BfBatch batch;
} ParquetReader;

/* A value of kind NULL says that there is none. */
static const BfValue *
find_constant(const BfConstants *constants, int32_t id)
{
	if (constants != NULL && id != 0)
		for (int32_t i = 0; i < constants->n; i++)
			if (constants->ids[i] == id && constants->values[i].type.kind != BF_KIND_NULL)
				return &constants->values[i];
	return NULL;
}

static BfStatus
bad_column(ParquetReader *r, const BfField *want, BfError *err)
{
	bf_error_column(err, want->name);
	return bf_error_object(err, r->name);
}

/* A constant may be of the type that the column had when its file was written. */
static BfStatus
promote_constant(BfArena *a, ParquetReader *r, const BfField *want, const BfValue *from,
				 BfVector *out, BfError *err)
{
	BfField field = {.name = want->name, .type = from->type};
	BfMapping *mapping;
	BfVector v;

	if (from->is_null || bf_type_equal(from->type, want->type))
		return bf_vector_init_const(a, out, want, from, 0, err);
	if (bf_vector_init_const(a, &v, &field, from, 1, err) != BF_OK ||
		bf_mapping_new(a, &field, want, true, &mapping, err) != BF_OK ||
		bf_mapping_apply(mapping, &v, out, err) != BF_OK)
		return bad_column(r, want, err);
	return BF_OK;
}

/* A column that the file does not have. */
static BfStatus
resolve_missing(BfArena *a, ParquetReader *r, const BfField *want, const BfValue *constant,
				BfVector *out, BfError *err)
{
	if (constant != NULL)
		return promote_constant(a, r, want, constant, out, err);
	if (want->id != 0 && !bf_parquet_has_field_ids(r->file) && !want->mapped)
	{
		bf_error(err, BF_ERR_UNSUPPORTED,
				 "the file has no field ids and the table has no name mapping");
		return bad_column(r, want, err);
	}
	if (want->has_default)
		return bf_vector_init_const(a, out, want, &want->initial_default, 0, err);
	if (want->required)
	{
		bf_error(err, BF_ERR_CORRUPT, "the file lacks the required column \"%.100s\"", want->name);
		return bad_column(r, want, err);
	}
	bf_vector_set_null(out, want->type, 0);
	return BF_OK;
}

static BfStatus
resolve(BfArena *a, ParquetReader *r, const BfProjection *p, const BfConstants *constants,
		BfParquetCounters *counters, BfError *err)
{
	const BfSchema *file = bf_parquet_schema(r->file);
	bool has_ids = bf_parquet_has_field_ids(r->file);
	const BfMapping **mappings;
	int32_t *columns;
	int32_t n_columns = 0;

	BF_NEW(a, columns, p->n_fields, err);
	BF_NEW(a, mappings, p->n_fields, err);
	BF_NEW(a, r->outputs, p->n_fields, err);
	BF_NEW(a, r->batch.cols, p->n_fields, err);
	r->n_cols = r->batch.n_cols = p->n_fields;
	for (int32_t i = 0; i < p->n_fields; i++)
	{
		const BfField *want = &p->schema->fields[p->fields[i]];
		Output *o = &r->outputs[i];
		int32_t column;

		o->name = want->name;
		o->column = -1;
		if (bf_field_find(file->fields, file->n_fields, has_ids, want, &column, err) != BF_OK)
			return bf_error_object(err, r->name);
		if (column < 0)
		{
			BF_TRY(
				resolve_missing(a, r, want, find_constant(constants, want->id), &o->constant, err));
			continue;
		}
		if (bf_mapping_new(a, &file->fields[column], want, has_ids, &o->mapping, err) != BF_OK)
			return bad_column(r, want, err);
		o->column = n_columns;
		mappings[n_columns] = o->mapping;
		columns[n_columns++] = column;
	}
	return bf_parquet_scan_new_mapped(a, r->file, columns, mappings, n_columns, counters, &r->scan,
									  err);
}

static BfStatus
fill_column(Output *o, const BfBatch *in, BfVector *out, BfError *err)
{
	if (o->mapping != NULL)
		return bf_mapping_apply(o->mapping, &in->cols[o->column], out, err);
	*out = o->constant;
	out->n = in->n_rows;
	return BF_OK;
}

static BfStatus
fill(ParquetReader *r, const BfBatch *in, BfError *err)
{
	for (int32_t i = 0; i < r->n_cols; i++)
		if (fill_column(&r->outputs[i], in, &r->batch.cols[i], err) != BF_OK)
		{
			bf_error_column(err, r->outputs[i].name);
			return bf_error_object(err, r->name);
		}
	r->batch.n_rows = in->n_rows;
	r->batch.first_row = in->first_row;
	return BF_OK;
}

static BfStatus
reader_next(BfReader *base, const BfBatch **out, BfError *err)
{
	ParquetReader *r = (ParquetReader *) base;
	const BfBatch *in = NULL;

	*out = NULL;
	for (;;)
	{
		if (r->in_row_group)
			BF_TRY(bf_parquet_scan_next(r->scan, &in, err));
		if (in != NULL)
			break;
		r->in_row_group = false;
		if (r->rg_next >= r->rg_end)
			return BF_OK;
		BF_TRY(bf_parquet_scan_row_group(r->scan, r->rg_next++, err));
		r->in_row_group = true;
	}
	BF_TRY(fill(r, in, err));
	*out = &r->batch;
	return BF_OK;
}

static const char *
reader_name(const BfReader *base)
{
	return ((const ParquetReader *) base)->name;
}

void
bf_exec_parquet_reader_reset(BfReader *base, int32_t rg_first, int32_t rg_end)
{
	ParquetReader *r = (ParquetReader *) base;
	int32_t n = bf_parquet_n_row_groups(r->file);

	BF_ASSERT(rg_first >= 0);
	r->rg_next = rg_first;
	r->rg_end = rg_end < 0 || rg_end > n ? n : rg_end;
	r->in_row_group = false;
}

BfStatus
bf_exec_parquet_reader_over(BfArena *a, BfParquetFile *file, const BfProjection *projection,
							const BfConstants *constants, int32_t rg_first, int32_t rg_end,
							BfParquetCounters *counters, BfReader **out, BfError *err)
{
	ParquetReader *r;

	BF_NEW(a, r, 1, err);
	r->base.next = reader_next;
	r->base.name = reader_name;
	r->file = file;
	r->name = bf_parquet_name(file);
	BF_TRY(resolve(a, r, projection, constants, counters, err));
	bf_exec_parquet_reader_reset(&r->base, rg_first, rg_end);
	*out = &r->base;
	return BF_OK;
}

BfStatus
bf_exec_parquet_open(BfArena *a, const char *path, BfIoCounters *io, BfParquetFile **out,
					 BfError *err)
{
	BfSource *source;

	BF_TRY(bf_source_open(a, path, io, &source, err));
	return bf_parquet_open(a, source, NULL, out, err);
}

BfStatus
bf_exec_parquet_reader(BfArena *a, const char *path, const BfProjection *projection,
					   const BfConstants *constants, int32_t rg_first, int32_t rg_end,
					   BfIoCounters *io, BfParquetCounters *counters, BfReader **out, BfError *err)
{
	BfParquetFile *file;

	BF_TRY(bf_exec_parquet_open(a, path, io, &file, err));
	return bf_exec_parquet_reader_over(a, file, projection, constants, rg_first, rg_end, counters,
									   out, err);
}
