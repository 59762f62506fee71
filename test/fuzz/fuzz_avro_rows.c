/*
 * Rows of a ledger under a schema that the input chooses. Rows that decode, encode to bytes that
 * decode to the same; encoding is a fixed point; a decoder of some columns sees what one of all
 * columns sees.
 */
#include "fuzz/fuzz.h"

#include "avro/rowcodec.h"

#define FIELDS_MAX 8
#define ROWS_MAX 16

static const BfType types[] = {
	{.kind = BF_KIND_BOOL},
	{.kind = BF_KIND_INT32},
	{.kind = BF_KIND_INT64},
	{.kind = BF_KIND_FLOAT32},
	{.kind = BF_KIND_FLOAT64},
	{.kind = BF_KIND_DATE},
	{.kind = BF_KIND_TIMESTAMPTZ},
	{.kind = BF_KIND_STRING},
	{.kind = BF_KIND_BINARY},
	{.kind = BF_KIND_UUID, .length = 16},
	{.kind = BF_KIND_FIXED, .length = 3},
	{.kind = BF_KIND_DECIMAL, .precision = 2},
	{.kind = BF_KIND_DECIMAL, .precision = 18, .scale = 2},
	{.kind = BF_KIND_DECIMAL, .precision = 20, .scale = 20},
	{.kind = BF_KIND_DECIMAL, .precision = 38},
	{.kind = BF_KIND_NULL},
};

static void
check_column(const BfVector *x, const BfVector *y, int32_t n)
{
	FUZZ_CHECK(x->n == n && y->n == n);
	for (int32_t i = 0; i < n; i++)
	{
		size_t size = bf_storage_size(x->storage);

		FUZZ_CHECK(bf_valid(x->validity, i) == bf_valid(y->validity, i));
		if (!bf_valid(x->validity, i) || size == 0)
			continue;
		if (x->storage == BF_STORE_VIEW)
			FUZZ_CHECK(x->data.view[i].len == y->data.view[i].len &&
					   memcmp(x->data.view[i].ptr, y->data.view[i].ptr, x->data.view[i].len) == 0);
		else
			FUZZ_CHECK(
				memcmp(x->data.u8 + (size_t) i * size, y->data.u8 + (size_t) i * size, size) == 0);
	}
}

static BfBatch *
new_batch(BfArena *a, const BfField *fields, int32_t n)
{
	BfBatch *b;
	BfError err;

	FUZZ_CHECK(bf_batch_new(a, fields, n, &b, &err) == BF_OK);
	return b;
}

static void
check_rows(BfArena *a, const BfSchema *schema, const BfBatch *first, BfAvroDecoder *d, BfError *err)
{
	BfBatch *second = new_batch(a, schema->fields, schema->n_fields);
	BfView values[ROWS_MAX];
	BfBuffer *once;
	BfBuffer *twice;

	FUZZ_CHECK(bf_buffer_new(a, 1 << 20, &once, err) == BF_OK);
	FUZZ_CHECK(bf_buffer_new(a, 1 << 20, &twice, err) == BF_OK);
	/* Rows without bytes have a place too. */
	FUZZ_CHECK(bf_buffer_reserve(once, 1, err) == BF_OK);
	for (int32_t i = 0; i < first->n_rows; i++)
	{
		once->len = 0;
		FUZZ_CHECK(bf_avro_encode_row(schema, first, i, once, err) == BF_OK);
		values[i] = (BfView){bf_arena_memdup(a, once->data, once->len), (uint32_t) once->len};
	}
	FUZZ_CHECK(bf_avro_decode_rows(d, values, first->n_rows, second, err) == BF_OK);
	for (int32_t c = 0; c < schema->n_fields; c++)
		check_column(&first->cols[c], &second->cols[c], first->n_rows);
	for (int32_t i = 0; i < first->n_rows; i++)
	{
		twice->len = 0;
		FUZZ_CHECK(bf_avro_encode_row(schema, second, i, twice, err) == BF_OK);
		FUZZ_CHECK(twice->len == values[i].len);
		FUZZ_CHECK(twice->len == 0 || memcmp(twice->data, values[i].ptr, twice->len) == 0);
	}
}

int
bf_fuzz_avro_rows(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	BfField fields[FIELDS_MAX];
	BfField some_fields[FIELDS_MAX];
	BfSchema schema = {.n_fields = (int32_t) fuzz_take_below(&in, FIELDS_MAX + 1),
					   .fields = fields};
	int32_t all[FIELDS_MAX];
	int32_t some[FIELDS_MAX];
	BfView values[ROWS_MAX];
	int32_t n_rows = (int32_t) fuzz_take_below(&in, ROWS_MAX + 1);
	int32_t n_some = 0;
	BfAvroDecoder *d;
	BfBatch *b;
	BfBatch *part;
	BfStatus status;
	BfError err;

	bf_error_clear(&err);
	memset(fields, 0, sizeof fields);
	for (int32_t i = 0; i < schema.n_fields; i++)
	{
		uint64_t choice = fuzz_take(&in, 1);

		fields[i].id = i + 1;
		fields[i].name = "f";
		fields[i].type = types[choice % (sizeof types / sizeof *types)];
		fields[i].required = fields[i].type.kind != BF_KIND_NULL && (choice & 0x40) != 0;
		all[i] = i;
		if ((choice & 0x80) != 0)
		{
			some_fields[n_some] = fields[i];
			some[n_some++] = i;
		}
	}
	for (int32_t i = 0; i < n_rows; i++)
	{
		size_t n = fuzz_take_below(&in, 64);

		if (n > in.size || i == n_rows - 1)
			n = in.size;
		values[i] = (BfView){in.data, (uint32_t) n};
		in.data += n;
		in.size -= n;
	}
	b = new_batch(a, fields, schema.n_fields);
	part = new_batch(a, some_fields, n_some);
	FUZZ_CHECK(bf_avro_decoder_new(a, &schema, all, schema.n_fields, &d, &err) == BF_OK);
	status = bf_avro_decode_rows(d, values, n_rows, b, &err);
	FUZZ_CHECK(status == BF_OK ? b->n_rows == n_rows : b->n_rows < n_rows && err.offset >= 0);
	check_rows(a, &schema, b, d, &err);

	/* The rows that are good for all columns are good for some. */
	FUZZ_CHECK(bf_avro_decoder_new(a, &schema, some, n_some, &d, &err) == BF_OK);
	FUZZ_CHECK(bf_avro_decode_rows(d, values, b->n_rows, part, &err) == BF_OK);
	for (int32_t c = 0; c < n_some; c++)
		check_column(&part->cols[c], &b->cols[some[c]], b->n_rows);
	bf_arena_free(a);
	return status == BF_OK ? 0 : -1;
}
