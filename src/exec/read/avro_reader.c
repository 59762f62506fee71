/*
 * exec/read/avro_reader.c: an Avro data file as rows of a table; see avro_reader.h.
 */
#include "exec/read/avro_reader.h"

#include <stdio.h>

#include "exec/read/avro_internal.h"
#include "exec/read/resolve.h"

/* Records of a batch; fewer when they are large. */
#define ROWS_MAX 1024
#define ROWS_BYTES ((size_t) 8 << 20)
#define BATCH_BYTES_MAX ((size_t) 1 << 30)

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
	BfiResolved *outputs;
	int64_t next_row;
	BfBatch batch;
} AvroReader;

static BfStatus
resolve(BfArena *a, AvroReader *r, const BfProjection *p, const BfConstants *constants,
		BfError *err)
{
	/* Avro's timestamps say no zone unless an attribute does. */
	const BfiColumns columns = {
		.schema = r->file, .has_ids = r->has_ids, .no_zones = true, .what = "file"};

	BF_NEW(a, r->outputs, p->n_fields, err);
	BF_NEW(a, r->batch.cols, p->n_fields, err);
	r->batch.n_cols = p->n_fields;
	for (int32_t i = 0; i < p->n_fields; i++)
		if (bfi_resolve(a, &columns, &p->schema->fields[p->fields[i]], constants, &r->outputs[i],
						err) != BF_OK)
			return bf_error_object(err, r->name);
	return BF_OK;
}

static BfStatus
fill_column(AvroReader *r, BfiResolved *o, BfVector *out, BfError *err)
{
	int32_t n = r->batch.n_rows;
	BfVector *v;

	BF_ASSERT(n > 0 && n <= ROWS_MAX);
	if (o->mapping == NULL)
		return bfi_resolved_vector(o, NULL, n, out, err);
	for (int32_t i = 0; i < n; i++)
	{
		const BfAvroValue *x = &r->values[i]->u.list.items[o->column];

		r->column[i] = x->schema->type == BF_AVRO_NULL ? NULL : x;
	}
	BF_NEW(r->rows, v, 1, err);
	BF_TRY(bfi_avro_vector(r->rows, o->from, r->column, n, v, err));
	return bfi_resolved_vector(o, v, n, out, err);
}

/* A column failed: its rows one by one, to tell the first that does. */
static BfStatus
bad_rows(AvroReader *r, BfiResolved *o, BfError *err)
{
	BfStatus code = err->code;

	if (o->mapping == NULL || (code != BF_ERR_CORRUPT && code != BF_ERR_VALUE))
		return bf_error_column(err, o->want->name);
	for (int32_t i = 0; i < r->batch.n_rows; i++)
	{
		BfVector v, ignored;
		char text[BF_ERROR_TEXT_MAX];

		if (bfi_avro_vector(r->rows, o->from, &r->column[i], 1, &v, err) == BF_OK &&
			bfi_resolved_vector(o, &v, 1, &ignored, err) == BF_OK)
			continue;
		memcpy(text, err->text, sizeof text);
		snprintf(err->text, sizeof err->text, "row %lld: %.*s",
				 (long long) (r->batch.first_row + i), (int) sizeof text - 40, text);
		break;
	}
	return bf_error_column(err, o->want->name);
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
	BF_ASSERT(n <= ROWS_MAX && r->next_row >= 0);
	r->batch.n_rows = n;
	r->batch.first_row = r->next_row;
	r->next_row += n;
	for (int32_t i = 0; i < r->batch.n_cols; i++)
		if (fill_column(r, &r->outputs[i], &r->batch.cols[i], err) != BF_OK)
		{
			(void) bad_rows(r, &r->outputs[i], err);
			return bf_error_object(err, r->name);
		}
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
