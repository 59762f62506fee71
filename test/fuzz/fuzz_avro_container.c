/*
 * Avro container files. What was read is written again with our writer and read back: the records
 * are the same. Reading into one arena and into one that is reset gives the same.
 */
#include "fuzz/fuzz.h"

#include <math.h>

#include "avro/container.h"

static void
add(uint64_t *sum, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*sum = (*sum ^ ((const uint8_t *) p)[i]) * UINT64_C(0x100000001b3);
}

static void
add_value(uint64_t *sum, const BfAvroValue *v)
{
	double d;

	add(sum, &v->schema->type, sizeof v->schema->type);
	switch (v->schema->type)
	{
		case BF_AVRO_NULL: break;
		case BF_AVRO_BOOLEAN: add(sum, &v->u.b, sizeof v->u.b); break;
		case BF_AVRO_INT:
		case BF_AVRO_LONG: add(sum, &v->u.i, sizeof v->u.i); break;
		case BF_AVRO_ENUM:
			FUZZ_CHECK(v->u.i >= 0 && v->u.i < v->schema->n_symbols);
			add(sum, &v->u.i, sizeof v->u.i);
			break;
		case BF_AVRO_FLOAT:
		case BF_AVRO_DOUBLE:
			d = isnan(v->u.d) ? 0 : v->u.d;
			add(sum, &d, sizeof d);
			break;
		case BF_AVRO_BYTES:
		case BF_AVRO_STRING:
		case BF_AVRO_FIXED:
			FUZZ_CHECK(v->u.bytes.ptr[v->u.bytes.len] == '\0');
			add(sum, &v->u.bytes.len, sizeof v->u.bytes.len);
			add(sum, v->u.bytes.ptr, v->u.bytes.len);
			break;
		case BF_AVRO_RECORD:
		case BF_AVRO_ARRAY:
		case BF_AVRO_MAP:
			add(sum, &v->u.list.n, sizeof v->u.list.n);
			for (int32_t i = 0; i < v->u.list.n; i++)
			{
				if (v->schema->type == BF_AVRO_MAP)
					add(sum, v->u.list.keys[i].ptr, v->u.list.keys[i].len);
				add_value(sum, &v->u.list.items[i]);
			}
			break;
		case BF_AVRO_UNION: FUZZ_CHECK(false); break;
	}
}

static BfStatus encode(BfBuffer *b, const BfAvroSchema *s, const BfAvroValue *v, BfError *err);

static BfStatus
encode_list(BfBuffer *b, const BfAvroSchema *s, const BfAvroValue *v, BfError *err)
{
	if (v->u.list.n > 0)
		BF_TRY(bf_buffer_varint(b, v->u.list.n, err));
	for (int32_t i = 0; i < v->u.list.n; i++)
	{
		if (s->type == BF_AVRO_MAP)
		{
			BF_TRY(bf_buffer_varint(b, v->u.list.keys[i].len, err));
			BF_TRY(bf_buffer_append(b, v->u.list.keys[i].ptr, v->u.list.keys[i].len, err));
		}
		BF_TRY(encode(b, s->children[0], &v->u.list.items[i], err));
	}
	return bf_buffer_varint(b, 0, err);
}

static BfStatus
encode(BfBuffer *b, const BfAvroSchema *s, const BfAvroValue *v, BfError *err)
{
	float f;

	if (s->type == BF_AVRO_UNION)
	{
		int32_t branch = 0;

		while (s->children[branch] != v->schema)
			FUZZ_CHECK(++branch < s->n_children);
		BF_TRY(bf_buffer_varint(b, branch, err));
		s = v->schema;
	}
	FUZZ_CHECK(s == v->schema);
	switch (s->type)
	{
		case BF_AVRO_NULL: return BF_OK;
		case BF_AVRO_BOOLEAN: return bf_buffer_u8(b, v->u.b, err);
		case BF_AVRO_INT:
		case BF_AVRO_LONG:
		case BF_AVRO_ENUM: return bf_buffer_varint(b, v->u.i, err);
		case BF_AVRO_FLOAT: f = (float) v->u.d; return bf_buffer_append(b, &f, sizeof f, err);
		case BF_AVRO_DOUBLE: return bf_buffer_append(b, &v->u.d, sizeof v->u.d, err);
		case BF_AVRO_BYTES:
		case BF_AVRO_STRING: BF_TRY(bf_buffer_varint(b, v->u.bytes.len, err)); break;
		case BF_AVRO_FIXED: break;
		case BF_AVRO_RECORD:
			for (int32_t i = 0; i < v->u.list.n; i++)
				BF_TRY(encode(b, s->children[i], &v->u.list.items[i], err));
			return BF_OK;
		case BF_AVRO_ARRAY:
		case BF_AVRO_MAP: return encode_list(b, s, v, err);
		case BF_AVRO_UNION: FUZZ_CHECK(false); break;
	}
	return bf_buffer_append(b, v->u.bytes.ptr, v->u.bytes.len, err);
}

/* Reads all; *sum over the values. With a writer the records are encoded too; `reset` empties `row`
 * after each. */
static BfStatus
read_all(BfArena *a, BfArena *row, bool reset, const void *bytes, size_t n, BfAvroWriter **writer,
		 int64_t *n_records, uint64_t *sum, BfError *err)
{
	BfAvroReader *r;
	BfSource *source;
	BfView schema;

	*n_records = 0;
	*sum = 0;
	BF_TRY(bf_source_memory(a, bytes, n, "f", &source, err));
	BF_TRY(bf_avro_open(a, source, &r, err));
	if (writer != NULL)
	{
		const char *text;

		FUZZ_CHECK(bf_avro_metadata(r, "avro.schema", &schema));
		/* The JSON library skips a zero byte behind a number; to the writer it is the end. */
		if (memchr(schema.ptr, '\0', schema.len) != NULL)
			BF_FAIL(err, BF_ERR_LIMIT, "a schema that cannot be written again");
		text = bf_arena_strndup(a, (const char *) schema.ptr, schema.len);
		BF_TRY(bf_avro_writer_new(a, text, writer, err));
	}
	for (;;)
	{
		const BfAvroValue *v;

		if (reset)
			bf_arena_reset(row);
		BF_TRY(bf_avro_next(r, row, &v, err));
		if (v == NULL)
			return BF_OK;
		(*n_records)++;
		add_value(sum, v);
		if (writer == NULL)
			continue;
		BF_TRY(encode(bf_avro_writer_buffer(*writer), bf_avro_reader_schema(r), v, err));
		BF_TRY(bf_avro_writer_end_record(*writer, err));
	}
}

int
bf_fuzz_avro_container(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 128 << 20), *row = fuzz_arena((size_t) 64 << 20);
	int64_t n[2] = {0, 0};
	uint64_t sum[2] = {0, 0};
	BfAvroWriter *w;
	BfStatus status[2];
	BfView file;
	BfError err;

	bf_error_clear(&err);
	status[0] = read_all(a, row, true, data, size, &w, &n[0], &sum[0], &err);
	FUZZ_CHECK(status[0] == BF_OK || err.text[0] != '\0');
	status[1] = read_all(a, row, false, data, size, NULL, &n[1], &sum[1], &err);
	if (status[0] != BF_ERR_LIMIT && status[1] != BF_ERR_LIMIT)
		FUZZ_CHECK(status[0] == status[1] && n[0] == n[1] && sum[0] == sum[1]);
	if (status[0] == BF_OK && bf_avro_writer_finish(w, &file, &err) == BF_OK)
	{
		status[1] = read_all(a, row, true, file.ptr, file.len, NULL, &n[1], &sum[1], &err);
		/* Other blocks, so other bounds for values that take no bytes. */
		if (status[1] == BF_OK)
			FUZZ_CHECK(n[0] == n[1] && sum[0] == sum[1]);
		else
			FUZZ_CHECK(status[1] == BF_ERR_LIMIT || strstr(err.text, "no bytes") != NULL ||
					   strstr(err.text, "records in 0 bytes") != NULL);
	}
	bf_arena_free(row);
	bf_arena_free(a);
	return status[0] == BF_OK ? 0 : -1;
}
