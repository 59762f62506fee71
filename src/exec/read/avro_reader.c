/*
 * exec/read/avro_reader.c: an Avro data file as rows of a table; see avro_reader.h.
 */
#include "exec/read/avro_reader.h"

#include <stdio.h>

#include "exec/read/avro_internal.h"
#include "exec/read/constants.h"
#include "vec/mapping.h"

/* Records of a batch; fewer when they are large. */
#define ROWS_MAX 1024
#define ROWS_BYTES ((size_t) 8 << 20)
#define BATCH_BYTES_MAX ((size_t) 1 << 30)

typedef struct Output
{
	const BfField *want;
	int32_t column;		/* of the file; -1: constant */
	BfField field;		/* of the file, as it is read */
	BfMapping *mapping; /* NULL: constant */
	BfVector constant;
} Output;

typedef struct AvroReader
{
	BfReader base;
	const char *name;
	BfAvroReader *records;
	BfSchema *file;
	bool has_ids;
	BfArena *rows; /* of the batch */
	const BfAvroValue **values;
	const BfAvroValue **column;
	Output *outputs;
	int64_t next_row;
	BfBatch batch;
} AvroReader;

static BfStatus
bad_column(const AvroReader *r, const BfField *want, BfError *err)
{
	bf_error_column(err, want->name);
	return bf_error_object(err, r->name);
}

static BfStatus
constant_column(BfArena *a, AvroReader *r, const BfField *want, const BfValue *from, BfVector *out,
				BfError *err)
{
	if (bf_mapping_constant(a, want, from, out, err) != BF_OK)
		return bad_column(r, want, err);
	return BF_OK;
}

static BfStatus
missing_column(BfArena *a, AvroReader *r, const BfField *want, const BfConstants *constants,
			   BfVector *out, BfError *err)
{
	const BfValue *constant = bfi_constant_of(constants, want->id);

	if (constant != NULL)
		return constant_column(a, r, want, constant, out, err);
	if (want->id != 0 && !r->has_ids && !want->mapped)
		bf_error(err, BF_ERR_UNSUPPORTED,
				 "the file has no field ids and the table has no name mapping");
	else if (want->has_default)
		return bf_vector_init_const(a, out, want, &want->initial_default, 0, err);
	else if (want->required)
		bf_error(err, BF_ERR_CORRUPT, "the file lacks the required column \"%.100s\"", want->name);
	else
	{
		bf_vector_set_null(out, want->type, 0);
		return BF_OK;
	}
	return bad_column(r, want, err);
}

/* Avro's timestamps say no zone unless an attribute does. */
static void
take_zone(BfField *f, BfKind want)
{
	if (f->type.kind == BF_KIND_TIMESTAMP && want == BF_KIND_TIMESTAMPTZ)
		f->type.kind = BF_KIND_TIMESTAMPTZ;
	if (f->type.kind == BF_KIND_TIMESTAMP_NS && want == BF_KIND_TIMESTAMPTZ_NS)
		f->type.kind = BF_KIND_TIMESTAMPTZ_NS;
}

static BfStatus
resolve(BfArena *a, AvroReader *r, const BfProjection *p, const BfConstants *constants,
		BfError *err)
{
	BF_NEW(a, r->outputs, p->n_fields, err);
	BF_NEW(a, r->batch.cols, p->n_fields, err);
	r->batch.n_cols = p->n_fields;
	for (int32_t i = 0; i < p->n_fields; i++)
	{
		const BfField *want = &p->schema->fields[p->fields[i]];
		Output *o = &r->outputs[i];

		o->want = want;
		if (bfi_field_with_constants(a, want, constants, &want, err) != BF_OK)
			return bad_column(r, want, err);
		if (bf_field_find(r->file->fields, r->file->n_fields, r->has_ids, want, &o->column, err) !=
			BF_OK)
			return bf_error_object(err, r->name);
		if (o->column < 0)
		{
			BF_TRY(missing_column(a, r, want, constants, &o->constant, err));
			continue;
		}
		o->field = r->file->fields[o->column];
		take_zone(&o->field, want->type.kind);
		if (bf_mapping_new(a, &o->field, want, r->has_ids, &o->mapping, err) != BF_OK)
			return bad_column(r, want, err);
	}
	return BF_OK;
}

static BfStatus
fill_column(AvroReader *r, Output *o, BfVector *out, BfError *err)
{
	int32_t n = r->batch.n_rows;
	BfVector *v;

	if (o->mapping == NULL)
	{
		*out = o->constant;
		out->n = n;
		return BF_OK;
	}
	for (int32_t i = 0; i < n; i++)
	{
		const BfAvroValue *x = &r->values[i]->u.list.items[o->column];

		r->column[i] = x->schema->type == BF_AVRO_NULL ? NULL : x;
	}
	BF_NEW(r->rows, v, 1, err);
	BF_TRY(bfi_avro_vector(r->rows, &o->field, r->column, n, v, err));
	return bf_mapping_apply(o->mapping, v, out, err);
}

/* A column failed: its rows one by one, to tell the first that does. */
static BfStatus
bad_rows(AvroReader *r, Output *o, BfError *err)
{
	BfStatus code = err->code;

	if (o->mapping == NULL || (code != BF_ERR_CORRUPT && code != BF_ERR_VALUE))
		return bad_column(r, o->want, err);
	for (int32_t i = 0; i < r->batch.n_rows; i++)
	{
		BfVector v, ignored;
		char text[BF_ERROR_TEXT_MAX];

		if (bfi_avro_vector(r->rows, &o->field, &r->column[i], 1, &v, err) == BF_OK &&
			bf_mapping_apply(o->mapping, &v, &ignored, err) == BF_OK)
			continue;
		memcpy(text, err->text, sizeof text);
		snprintf(err->text, sizeof err->text, "row %lld: %.*s",
				 (long long) (r->batch.first_row + i), (int) sizeof text - 40, text);
		break;
	}
	return bad_column(r, o->want, err);
}

static BfStatus
next(BfReader *reader, const BfBatch **out, BfError *err)
{
	AvroReader *r = (AvroReader *) reader;
	size_t kept;
	int32_t n = 0;

	*out = NULL;
	bf_arena_reset(r->rows);
	kept = bf_arena_bytes(r->rows);
	while (n < ROWS_MAX && bf_arena_bytes(r->rows) - kept < ROWS_BYTES)
	{
		if (bf_avro_next(r->records, r->rows, &r->values[n], err) != BF_OK)
			return bf_error_object(err, r->name);
		if (r->values[n] == NULL)
			break;
		n++;
	}
	if (n == 0)
		return BF_OK;
	r->batch.n_rows = n;
	r->batch.first_row = r->next_row;
	r->next_row += n;
	for (int32_t i = 0; i < r->batch.n_cols; i++)
		if (fill_column(r, &r->outputs[i], &r->batch.cols[i], err) != BF_OK)
			return bad_rows(r, &r->outputs[i], err);
	*out = &r->batch;
	return BF_OK;
}

static const char *
name(const BfReader *reader)
{
	return ((const AvroReader *) reader)->name;
}

static void
free_rows(void *arg)
{
	bf_arena_free(arg);
}

BfStatus
bf_exec_avro_reader(BfArena *a, const char *path, const BfProjection *projection,
					const BfConstants *constants, BfIoCounters *io, BfReader **out, BfError *err)
{
	BfSource *source;

	BF_TRY(bf_source_open(a, path, io, &source, err));
	return bf_exec_avro_reader_over(a, source, projection, constants, out, err);
}

BfStatus
bf_exec_avro_reader_over(BfArena *a, BfSource *source, const BfProjection *projection,
						 const BfConstants *constants, BfReader **out, BfError *err)
{
	AvroReader *r;

	BF_NEW(a, r, 1, err);
	r->base.next = next;
	r->base.name = name;
	BF_TRY_PTR(a, r->name, bf_arena_strdup(a, bf_source_name(source)), err);
	r->rows = bf_arena_new(bf_arena_host(a), "avro rows", BATCH_BYTES_MAX);
	if (r->rows == NULL || !bf_arena_on_cleanup(a, free_rows, r->rows))
	{
		bf_arena_free(r->rows);
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory for rows");
	}
	BF_NEW(a, r->values, ROWS_MAX, err);
	BF_NEW(a, r->column, ROWS_MAX, err);
	if (bf_avro_open(a, source, &r->records, err) != BF_OK ||
		bfi_avro_schema(a, bf_avro_reader_schema(r->records), &r->file, err) != BF_OK)
		return bf_error_object(err, r->name);
	r->has_ids = bfi_avro_has_ids(r->file);
	BF_TRY(resolve(a, r, projection, constants, err));
	*out = &r->base;
	return BF_OK;
}
