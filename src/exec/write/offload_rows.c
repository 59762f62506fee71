/*
 * exec/write/offload_rows.c: see offload_rows.h.
 */
#include "exec/write/offload_rows.h"

#include "avro/rowcodec.h"
#include "vec/bounds.h"

#define BOUND_LENGTH 16
#define KEPT_BYTES_MAX ((size_t) 256 << 20)

typedef struct OffloadRows
{
	const BfSchema *schema;
	int32_t *fields; /* that have bounds */
	int32_t n;
	BfAvroDecoder *decoder;
	BfBatch *batch;
	BfBounds *bounds; /* of the block at hand */
	BfArena *kept;	  /* bytes of bounds; owned through a hook */
	bool unknown;	  /* a row of the block could not be decoded */
} OffloadRows;

static void
begin_block(OffloadRows *r)
{
	bf_arena_reset(r->kept);
	r->unknown = false;
	for (int32_t i = 0; i < r->n; i++)
		bf_bounds_init(&r->bounds[i], r->schema->fields[r->fields[i]].type,
					   BF_BOUNDS_TEXT_BYTES(BOUND_LENGTH));
}

static bool
is_of_the_rows(BfStatus status)
{
	return status == BF_ERR_CORRUPT || status == BF_ERR_VALUE || status == BF_ERR_UNSUPPORTED ||
		   status == BF_ERR_LIMIT;
}

static BfStatus
add_rows(OffloadRows *r, const BfView *rows, int32_t n, BfError *err)
{
	r->batch->n_rows = 0;
	BF_TRY(bf_avro_decode_rows(r->decoder, rows, n, r->batch, err));
	BF_ASSERT(r->batch->n_rows == n && r->batch->n_cols == r->n);
	for (int32_t i = 0; i < r->n; i++)
	{
		r->batch->cols[i].n = n;
		BF_TRY(bf_bounds_add(r->kept, &r->bounds[i], &r->batch->cols[i], 0, n, err));
	}
	return BF_OK;
}

static BfStatus
see(void *arg, const BfView *rows, int32_t n, BfError *err)
{
	OffloadRows *r = arg;
	BfStatus status;

	BF_ASSERT(n > 0 && n <= BF_BATCH_ROWS);
	if (r->unknown || r->n == 0)
		return BF_OK;
	status = add_rows(r, rows, n, err);
	if (!is_of_the_rows(status))
		return status;
	r->unknown = true;
	bf_error_clear(err);
	return BF_OK;
}

/* ---- bytes ---- */

static BfView
bound_bytes(const BfValue *v)
{
	if (bf_type_storage(v->type) == BF_STORE_VIEW)
		return v->v.view;
	return (BfView){(const uint8_t *) &v->v, (uint32_t) bf_storage_size(bf_type_storage(v->type))};
}

static BfStatus
put_bound(BfBuffer *out, const BfValue *v, BfError *err)
{
	BfView bytes = bound_bytes(v);

	BF_TRY(bf_buffer_uvarint(out, bytes.len, err));
	return bf_buffer_append(out, bytes.ptr, bytes.len, err);
}

static BfStatus
put_column(OffloadRows *r, int32_t i, BfBuffer *out, BfError *err)
{
	const BfBounds *b = &r->bounds[i];
	bool has_lower, has_upper;
	BfValue lower, upper;

	bf_bounds_lower(b, BOUND_LENGTH, &lower, &has_lower);
	BF_TRY(bf_bounds_upper(r->kept, b, BOUND_LENGTH, &upper, &has_upper, err));
	BF_ASSERT(b->nulls + b->nans <= b->values);
	BF_TRY(bf_buffer_uvarint(out, (uint64_t) r->schema->fields[r->fields[i]].id, err));
	BF_TRY(bf_buffer_u8(out, (uint8_t) (has_lower | has_upper << 1), err));
	BF_TRY(bf_buffer_uvarint(out, (uint64_t) b->values, err));
	BF_TRY(bf_buffer_uvarint(out, (uint64_t) b->nulls, err));
	BF_TRY(bf_buffer_uvarint(out, (uint64_t) b->nans, err));
	if (has_lower)
		BF_TRY(put_bound(out, &lower, err));
	return has_upper ? put_bound(out, &upper, err) : BF_OK;
}

static BfStatus
finish_block(void *arg, BfBuffer *out, BfError *err)
{
	OffloadRows *r = arg;

	if (!r->unknown && r->n > 0)
	{
		BF_TRY(bf_buffer_uvarint(out, (uint64_t) r->n, err));
		for (int32_t i = 0; i < r->n; i++)
			BF_TRY(put_column(r, i, out, err));
	}
	begin_block(r);
	return BF_OK;
}

static void
free_kept(void *arg)
{
	bf_arena_free(arg);
}

BfStatus
bf_exec_offload_rows(BfArena *a, const char *schema_json, BfOffloadRows *out, BfError *err)
{
	OffloadRows *r;
	BfSchema *schema;
	BfField *fields;

	BF_NEW(a, r, 1, err);
	BF_TRY(bf_avro_schema_to_table(a, schema_json, strlen(schema_json), &schema, err));
	BF_NEW(a, r->fields, schema->n_fields, err);
	BF_NEW(a, r->bounds, schema->n_fields, err);
	BF_NEW(a, fields, schema->n_fields, err);
	r->schema = schema;
	for (int32_t i = 0; i < schema->n_fields; i++)
	{
		BfStorage storage = bf_type_storage(schema->fields[i].type);

		if (storage == BF_STORE_NESTED || storage == BF_STORE_NONE || schema->fields[i].id <= 0)
			continue;
		fields[r->n] = schema->fields[i];
		r->fields[r->n++] = i;
	}
	BF_TRY(bf_avro_decoder_new(a, schema, r->fields, r->n, &r->decoder, err));
	BF_TRY(bf_batch_new(a, fields, r->n, &r->batch, err));
	r->kept = bf_arena_new(bf_arena_host(a), "bounds", KEPT_BYTES_MAX);
	if (r->kept == NULL)
		return bf_arena_fail(a, 0, err);
	if (!bf_arena_on_cleanup(a, free_kept, r->kept))
	{
		bf_arena_free(r->kept);
		return bf_arena_fail(a, 0, err);
	}
	begin_block(r);
	*out = (BfOffloadRows){r, see, finish_block};
	return BF_OK;
}
