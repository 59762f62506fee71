/*
 * Rows of a Parquet file written as an Avro container: each flat column as a union of null and its
 * type, with the field id that it has in the Parquet file.
 */
#include "unit/test_exec_deletes_avro.h"

#include "avro/container.h"
#include "exec/read/parquet_reader.h"
#include "io/publish.h"
#include "unit/lib/runner.h"

/* The type without the union around it. */
static BfStatus
put_type(BfBuffer *b, const BfField *f, BfError *err)
{
	static const char *const logical[BF_KIND_COUNT] = {
		[BF_KIND_DATE] = "\"int\",\"logicalType\":\"date\"",
		[BF_KIND_TIME] = "\"long\",\"logicalType\":\"time-micros\"",
		[BF_KIND_TIMESTAMP] =
			"\"long\",\"logicalType\":\"timestamp-micros\",\"adjust-to-utc\":false",
		[BF_KIND_TIMESTAMPTZ] =
			"\"long\",\"logicalType\":\"timestamp-micros\",\"adjust-to-utc\":true",
		[BF_KIND_BOOL] = "\"boolean\"",
		[BF_KIND_INT32] = "\"int\"",
		[BF_KIND_INT64] = "\"long\"",
		[BF_KIND_FLOAT32] = "\"float\"",
		[BF_KIND_FLOAT64] = "\"double\"",
		[BF_KIND_STRING] = "\"string\"",
		[BF_KIND_BINARY] = "\"bytes\"",
	};
	BfType t = f->type;

	if (t.kind == BF_KIND_DECIMAL)
		return bf_buffer_printf(b, err,
								"{\"type\":\"fixed\",\"name\":\"x%d_%d\",\"size\":16,"
								"\"logicalType\":\"decimal\",\"precision\":%d,\"scale\":%d}",
								f->id, t.precision, t.precision, t.scale);
	if (t.kind == BF_KIND_FIXED || t.kind == BF_KIND_UUID)
		return bf_buffer_printf(b, err, "{\"type\":\"fixed\",\"name\":\"x%d\",\"size\":%d%s}",
								f->id, t.length,
								t.kind == BF_KIND_UUID ? ",\"logicalType\":\"uuid\"" : "");
	if (logical[t.kind] == NULL)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "type %d", (int) t.kind);
	return bf_buffer_printf(b, err, "{\"type\":%s}", logical[t.kind]);
}

static BfStatus
put_schema(BfBuffer *b, const BfProjection *p, BfError *err)
{
	BF_TRY(bf_buffer_printf(b, err, "{\"type\":\"record\",\"name\":\"table\",\"fields\":["));
	for (int32_t i = 0; i < p->n_fields; i++)
	{
		const BfField *f = &p->schema->fields[p->fields[i]];

		BF_TRY(bf_buffer_printf(b, err, "%s{\"name\":\"%s\",", i > 0 ? "," : "", f->name));
		if (f->id != 0)
			BF_TRY(bf_buffer_printf(b, err, "\"field-id\":%d,", f->id));
		BF_TRY(bf_buffer_printf(b, err, "\"type\":[\"null\","));
		BF_TRY(put_type(b, f, err));
		BF_TRY(bf_buffer_printf(b, err, "]}"));
	}
	BF_TRY(bf_buffer_printf(b, err, "]}"));
	return bf_buffer_u8(b, 0, err);
}

static BfStatus
put_value(BfBuffer *b, const BfVector *v, int32_t row, BfError *err)
{
	BfValue x;
	uint8_t wide[16];
	bf_i128 n;

	if (!bf_vector_get(v, row, &x))
		return bf_buffer_varint(b, 0, err);
	BF_TRY(bf_buffer_varint(b, 1, err));
	if (x.type.kind == BF_KIND_DECIMAL)
	{
		n = bf_type_storage(x.type) == BF_STORE_I64 ? x.v.i64 : x.v.i128;
		for (int i = 15; i >= 0; i--, n >>= 8)
			wide[i] = (uint8_t) n;
		return bf_buffer_append(b, wide, sizeof wide, err);
	}
	switch (bf_type_storage(x.type))
	{
		case BF_STORE_U8: return bf_buffer_u8(b, x.v.u8, err);
		case BF_STORE_I32: return bf_buffer_varint(b, x.v.i32, err);
		case BF_STORE_I64: return bf_buffer_varint(b, x.v.i64, err);
		case BF_STORE_F32: return bf_buffer_append(b, &x.v.f32, sizeof x.v.f32, err);
		case BF_STORE_F64: return bf_buffer_append(b, &x.v.f64, sizeof x.v.f64, err);
		default: break;
	}
	if (x.type.kind != BF_KIND_FIXED && x.type.kind != BF_KIND_UUID)
		BF_TRY(bf_buffer_varint(b, x.v.view.len, err));
	return bf_buffer_append(b, x.v.view.ptr, x.v.view.len, err);
}

static BfStatus
put_rows(BfAvroWriter *w, BfReader *r, BfError *err)
{
	for (;;)
	{
		const BfBatch *b;

		BF_TRY(r->next(r, &b, err));
		if (b == NULL)
			return BF_OK;
		for (int32_t i = 0; i < b->n_rows; i++)
		{
			for (int32_t c = 0; c < b->n_cols; c++)
				BF_TRY(put_value(bf_avro_writer_buffer(w), &b->cols[c], i, err));
			BF_TRY(bf_avro_writer_end_record(w, err));
		}
	}
}

static BfStatus
copy(BfArena *a, const char *parquet, const char *path, BfError *err)
{
	int32_t flat[16];
	BfProjection p = {.fields = flat};
	BfParquetFile *file;
	BfReader *r;
	BfAvroWriter *w;
	BfBuffer *schema;
	BfView bytes;

	BF_TRY(bf_exec_parquet_open(a, parquet, NULL, &file, err));
	p.schema = bf_parquet_schema(file);
	for (int32_t i = 0; i < p.schema->n_fields && i < 16; i++)
		if (p.schema->fields[i].n_children == 0)
			flat[p.n_fields++] = i;
	BF_TRY(bf_exec_parquet_reader_over(a, file, &p, NULL, 0, -1, NULL, &r, err));
	BF_TRY(bf_buffer_new(a, 1 << 16, &schema, err));
	BF_TRY(put_schema(schema, &p, err));
	BF_TRY(bf_avro_writer_new(a, (const char *) schema->data, &w, err));
	BF_TRY(put_rows(w, r, err));
	BF_TRY(bf_avro_writer_finish(w, &bytes, err));
	return bf_publish_bytes(a, path, bytes.ptr, bytes.len, err);
}

const char *
test_avro_copy(BfArena *a, const char *parquet)
{
	static int number;
	const char *path =
		bf_arena_printf(test_arena(), "%s", test_path(bf_arena_printf(a, "%d.avro", number++)));

	if (copy(a, parquet, path, &test_err) == BF_OK)
		return path;
	test_fail(__FILE__, __LINE__, "%s: %s", parquet, test_err.text);
	return NULL;
}
