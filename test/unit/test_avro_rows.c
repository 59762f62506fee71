/* Rows of a ledger: schema text, decode(encode(x)) = x over every type and form, damage. */
#include "unit/lib/runner.h"

#include "avro/container.h"
#include "avro/rowcodec.h"

static const BfType all_types[] = {
	{.kind = BF_KIND_BOOL},
	{.kind = BF_KIND_INT32},
	{.kind = BF_KIND_INT64},
	{.kind = BF_KIND_FLOAT32},
	{.kind = BF_KIND_FLOAT64},
	{.kind = BF_KIND_DATE},
	{.kind = BF_KIND_TIME},
	{.kind = BF_KIND_TIMESTAMP},
	{.kind = BF_KIND_TIMESTAMPTZ},
	{.kind = BF_KIND_TIMESTAMP_NS},
	{.kind = BF_KIND_TIMESTAMPTZ_NS},
	{.kind = BF_KIND_STRING},
	{.kind = BF_KIND_BINARY},
	{.kind = BF_KIND_UUID, .length = 16},
	{.kind = BF_KIND_FIXED, .length = 5},
	{.kind = BF_KIND_FIXED, .length = 0},
	{.kind = BF_KIND_DECIMAL, .precision = 1, .scale = 0},
	{.kind = BF_KIND_DECIMAL, .precision = 9, .scale = 2},
	{.kind = BF_KIND_DECIMAL, .precision = 18, .scale = 18},
	{.kind = BF_KIND_DECIMAL, .precision = 19, .scale = 0},
	{.kind = BF_KIND_DECIMAL, .precision = 38, .scale = 10},
	{.kind = BF_KIND_NULL},
};
#define ALL_TYPES ((int32_t) (sizeof all_types / sizeof *all_types))

static BfSchema *
random_schema(BfArena *a, int32_t n)
{
	BfSchema *s = bf_arena_alloc(a, sizeof *s);

	s->schema_id = (int32_t) test_random_below(100);
	s->n_fields = n;
	s->fields = bf_arena_alloc_array(a, (size_t) n, sizeof *s->fields);
	memset(s->fields, 0, (size_t) n * sizeof *s->fields);
	for (int32_t i = 0; i < n; i++)
	{
		BfField *f = &s->fields[i];

		f->id = i * 3 + 1;
		f->name = bf_arena_printf(a, i % 5 == 4 ? "%d.col \"%d\"" : "c%d", i, i);
		f->type = all_types[test_random_below((uint64_t) ALL_TYPES)];
		f->required = f->type.kind != BF_KIND_NULL && test_random_below(2) == 0;
	}
	return s;
}

static bf_i128
random_decimal(int32_t precision)
{
	bf_i128 limit = 1;
	bf_u128 r = ((bf_u128) test_random() << 64) | test_random();

	for (int32_t i = 0; i < precision; i++)
		limit *= 10;
	switch (test_random_below(5))
	{
		case 0: return limit - 1;
		case 1: return -(limit - 1);
		case 2: return 0;
		default: return (bf_i128) (r % (bf_u128) limit) * (test_random_below(2) == 0 ? 1 : -1);
	}
}

/* Numbers of every length, both signs. */
static int64_t
random_i64(void)
{
	return (int64_t) test_random() >> test_random_below(64);
}

static BfView
random_view(BfArena *a, size_t n)
{
	uint8_t *p = bf_arena_alloc(a, n);

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t) test_random();
	return (BfView){p, (uint32_t) n};
}

static void
set_random(BfArena *a, BfVector *v, int32_t i)
{
	double d = (double) random_i64() / 3;

	switch (v->storage)
	{
		case BF_STORE_U8: v->data.u8[i] = (uint8_t) test_random_below(2); break;
		case BF_STORE_I32: v->data.i32[i] = (int32_t) random_i64(); break;
		case BF_STORE_I64:
			v->data.i64[i] = v->type.kind == BF_KIND_DECIMAL
								 ? (int64_t) random_decimal(v->type.precision)
								 : random_i64();
			break;
		case BF_STORE_F32: v->data.f32[i] = (float) d; break;
		case BF_STORE_F64: v->data.f64[i] = d; break;
		case BF_STORE_I128: v->data.i128[i] = random_decimal(v->type.precision); break;
		case BF_STORE_VIEW:
			v->data.view[i] =
				random_view(a, v->type.kind == BF_KIND_UUID	   ? 16
							   : v->type.kind == BF_KIND_FIXED ? (size_t) v->type.length
							   : test_random_below(10) == 0	   ? 300
															   : test_random_below(9));
			break;
		default: break;
	}
}

/* A vector of any form. */
static void
fill_random(BfArena *a, BfVector *v, const BfField *f, int32_t n)
{
	uint64_t form = test_random_below(4);
	int32_t n_data = form == 0 ? 1 : n;

	v->n = n;
	for (int32_t i = 0; i < n_data; i++)
	{
		set_random(a, v, i);
		if (!f->required && test_random_below(3) == 0)
			bf_validity_set(v->validity, i, false);
	}
	if (form == 0)
		v->form = BF_VEC_CONST;
	else if (form == 1 && v->storage != BF_STORE_NONE)
	{
		BfVector *dict = bf_arena_alloc(a, sizeof *dict);

		*dict = *v;
		dict->validity = NULL;
		v->form = BF_VEC_DICT;
		v->dict = dict;
		v->codes = bf_arena_alloc_array(a, (size_t) n, sizeof *v->codes);
		for (int32_t i = 0; i < n; i++)
			v->codes[i] = (uint32_t) test_random_below((uint64_t) n);
	}
	if (f->required)
		v->validity = NULL;
}

static bool
same_value(const BfVector *x, int32_t i, const BfVector *y, int32_t j)
{
	BfValue u;
	BfValue v;
	bool x_valid = bf_vector_get(x, i, &u);
	bool y_valid = bf_vector_get(y, j, &v);

	if (!x_valid || !y_valid)
		return x_valid == y_valid;
	if (x->storage == BF_STORE_VIEW)
		return u.v.view.len == v.v.view.len &&
			   memcmp(u.v.view.ptr, v.v.view.ptr, u.v.view.len) == 0;
	return bf_value_compare(&u, &v) == 0;
}

TEST(avro_rows_round_trip)
{
	for (int round = 0; round < 150; round++)
	{
		BfArena *a = test_arena();
		int32_t n_fields = (int32_t) test_random_below(12);
		int32_t n_rows = 1 + (int32_t) test_random_below(60);
		BfSchema *schema = random_schema(a, n_fields);
		int32_t *columns = bf_arena_alloc_array(a, (size_t) n_fields, sizeof *columns);
		BfField *fields = bf_arena_alloc_array(a, (size_t) n_fields, sizeof *fields);
		BfView *values = bf_arena_alloc_array(a, (size_t) n_rows, sizeof *values);
		int32_t n_columns = 0;
		int32_t done = 0;
		BfBatch *in;
		BfBatch *out;
		BfAvroDecoder *d;

		REQUIRE_OK(bf_batch_new(a, schema->fields, n_fields, &in, &test_err));
		in->n_rows = n_rows;
		for (int32_t i = 0; i < n_fields; i++)
			fill_random(a, &in->cols[i], &schema->fields[i], n_rows);
		for (int32_t i = 0; i < n_rows; i++)
		{
			BfBuffer *b;

			REQUIRE_OK(bf_buffer_new(a, 1 << 20, &b, &test_err));
			REQUIRE_OK(bf_avro_encode_row(schema, in, i, b, &test_err));
			values[i] = (BfView){bf_arena_memdup(a, b->data, b->len), (uint32_t) b->len};
		}
		/* Any subset, in any order. */
		for (int32_t i = 0; i < n_fields; i++)
			if (test_random_below(3) > 0)
			{
				int32_t at = (int32_t) test_random_below((uint64_t) n_columns + 1);

				memmove(columns + at + 1, columns + at,
						(size_t) (n_columns - at) * sizeof *columns);
				columns[at] = i;
				n_columns++;
			}
		for (int32_t i = 0; i < n_columns; i++)
			fields[i] = schema->fields[columns[i]];
		REQUIRE_OK(bf_batch_new(a, fields, n_columns, &out, &test_err));
		REQUIRE_OK(bf_avro_decoder_new(a, schema, columns, n_columns, &d, &test_err));
		for (int pass = 0; pass < 2; pass++)
		{
			/* A second time: nothing of the first may show through. */
			out->n_rows = 0;
			for (done = 0; done < n_rows;)
			{
				int32_t n = 1 + (int32_t) test_random_below((uint64_t) (n_rows - done));

				REQUIRE_OK(bf_avro_decode_rows(d, values + done, n, out, &test_err));
				done += n;
				EXPECT_EQ(out->n_rows, done);
			}
			for (int32_t i = 0; i < n_columns; i++)
				for (int32_t r = 0; r < n_rows; r++)
					if (!same_value(&in->cols[columns[i]], r, &out->cols[i], r))
						test_fail(__FILE__, __LINE__, "round %d: column %d, row %d", round, i, r);
		}
	}
}

/* Cut off or with a byte more, a row is refused; the rows before it stay. */
TEST(avro_rows_truncated)
{
	for (int round = 0; round < 40; round++)
	{
		BfArena *a = test_arena();
		BfSchema *schema = random_schema(a, 6);
		static const int32_t columns[] = {0, 1, 2, 3, 4, 5};
		BfAvroDecoder *d;
		BfBatch *in;
		BfBatch *out;
		BfBuffer *b;
		BfView values[2];

		REQUIRE_OK(bf_batch_new(a, schema->fields, 6, &in, &test_err));
		REQUIRE_OK(bf_batch_new(a, schema->fields, 6, &out, &test_err));
		REQUIRE_OK(bf_buffer_new(a, 1 << 20, &b, &test_err));
		in->n_rows = 1;
		for (int32_t i = 0; i < 6; i++)
			fill_random(a, &in->cols[i], &schema->fields[i], 1);
		REQUIRE_OK(bf_avro_encode_row(schema, in, 0, b, &test_err));
		REQUIRE_OK(bf_avro_decoder_new(a, schema, columns, round % 7, &d, &test_err));
		out->n_cols = round % 7;
		values[0] = (BfView){b->data, (uint32_t) b->len};
		for (size_t n = 0; n <= b->len + 1; n++)
		{
			uint8_t *copy = bf_arena_alloc(a, n);

			if (n == b->len)
				continue;
			memcpy(copy, b->data, n < b->len ? n : b->len);
			if (n > b->len)
				copy[n - 1] = 7;
			values[1] = (BfView){copy, (uint32_t) n};
			out->n_rows = 0;
			EXPECT_FAIL(bf_avro_decode_rows(d, values, 2, out, &test_err), BF_ERR_CORRUPT, -1);
			EXPECT_EQ(out->n_rows, 1);
			EXPECT(test_err.offset >= 0 && test_err.offset <= (int64_t) n);
		}
	}
}

/* One column of the given type and bytes that cannot be one. */
TEST(avro_rows_bad_values)
{
	static const struct
	{
		BfType type;
		bool required;
		const char *bytes;
		size_t n;
		int64_t offset;
	} cases[] = {
		{{.kind = BF_KIND_BOOL}, true, "\x02", 1, 0},
		{{.kind = BF_KIND_BOOL}, false, "\x02\x02", 2, 1},
		{{.kind = BF_KIND_BOOL}, false, "\x01", 1, 0},
		{{.kind = BF_KIND_BOOL}, false, "\x04\x01", 2, 0},
		{{.kind = BF_KIND_BOOL}, false, "\x80\x00", 2, 0},
		{{.kind = BF_KIND_INT32}, true, "\x80\x80\x80\x80\x10", 5, 0},
		{{.kind = BF_KIND_INT64}, true, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, 0},
		{{.kind = BF_KIND_STRING}, true, "\x01", 1, 0},
		{{.kind = BF_KIND_STRING}, true, "\xfe\xff\xff\xff\x0f", 5, 5},
		{{.kind = BF_KIND_STRING}, true, "\xfe\xff\xff\xff\xff\xff\xff\x7f", 8, 0},
		{{.kind = BF_KIND_DECIMAL, .precision = 1}, true, "\x0a", 1, 0},
		{{.kind = BF_KIND_DECIMAL, .precision = 1}, true, "\xf6", 1, 0},
		{{.kind = BF_KIND_DECIMAL, .precision = 38},
		 true,
		 "\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
		 16,
		 0},
		{{.kind = BF_KIND_NULL}, false, "\x00", 1, 0},
	};
	static const int32_t columns[] = {0};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfField f = {.id = 1, .name = "col", .type = cases[i].type, .required = cases[i].required};
		BfSchema schema = {.n_fields = 1, .fields = &f};
		BfView v = {(const uint8_t *) cases[i].bytes, (uint32_t) cases[i].n};
		BfAvroDecoder *d;
		BfBatch *out;

		REQUIRE_OK(bf_batch_new(a, &f, 1, &out, &test_err));
		REQUIRE_OK(bf_avro_decoder_new(a, &schema, columns, 1, &d, &test_err));
		EXPECT_FAIL(bf_avro_decode_rows(d, &v, 1, out, &test_err), BF_ERR_CORRUPT, cases[i].offset);
		if (cases[i].type.kind != BF_KIND_NULL)
			EXPECT_STR(test_err.column, "col");
	}
}

TEST(avro_rows_unencodable)
{
	BfArena *a = test_arena();
	BfField fields[] = {
		{.id = 1, .name = "a", .type = BF_TYPE(INT32), .required = true},
		{.id = 2, .name = "b", .type = {.kind = BF_KIND_DECIMAL, .precision = 3}},
		{.id = 3, .name = "c", .type = {.kind = BF_KIND_FIXED, .length = 2}},
	};
	BfSchema schema = {.n_fields = 3, .fields = fields};
	BfBatch *in;
	BfBuffer *b;

	REQUIRE_OK(bf_batch_new(a, fields, 3, &in, &test_err));
	REQUIRE_OK(bf_buffer_new(a, 1 << 20, &b, &test_err));
	in->n_rows = in->cols[0].n = in->cols[1].n = in->cols[2].n = 1;
	in->cols[0].data.i32[0] = 1;
	in->cols[1].data.i64[0] = 999;
	in->cols[2].data.view[0] = (BfView){(const uint8_t *) "xy", 2};
	REQUIRE_OK(bf_avro_encode_row(&schema, in, 0, b, &test_err));
	EXPECT_EQ(b->len, 1 + 3 + 3);
	in->cols[1].data.i64[0] = 1000;
	EXPECT_FAIL(bf_avro_encode_row(&schema, in, 0, b, &test_err), BF_ERR_VALUE, -1);
	EXPECT_STR(test_err.column, "b");
	EXPECT_EQ(b->len, 7);
	in->cols[1].data.i64[0] = -1000;
	EXPECT_FAIL(bf_avro_encode_row(&schema, in, 0, b, &test_err), BF_ERR_VALUE, -1);
	in->cols[1].data.i64[0] = -999;
	in->cols[2].data.view[0].len = 1;
	EXPECT_FAIL(bf_avro_encode_row(&schema, in, 0, b, &test_err), BF_ERR_VALUE, -1);
	EXPECT_STR(test_err.column, "c");
	in->cols[2].data.view[0].len = 2;
	bf_validity_set(in->cols[0].validity, 0, false);
	EXPECT_FAIL(bf_avro_encode_row(&schema, in, 0, b, &test_err), BF_ERR_VALUE, -1);
	EXPECT_STR(test_err.column, "a");
	EXPECT_EQ(b->len, 7);
}

TEST(avro_rows_schema_text)
{
	BfArena *a = test_arena();
	BfField fields[] = {
		{.id = 1, .name = "id", .type = BF_TYPE(INT64), .required = true},
		{.id = 2, .name = "ts", .type = BF_TYPE(TIMESTAMPTZ)},
		{.id = 3, .name = "amount", .type = {.kind = BF_KIND_DECIMAL, .precision = 12, .scale = 2}},
		{.id = 4, .name = "tax", .type = {.kind = BF_KIND_DECIMAL, .precision = 12, .scale = 2}},
		{.id = 5, .name = "1st \"caf\xc3\xa9\"\xf0\x9f\x98\x80", .type = BF_TYPE(STRING)},
		{.id = 6, .name = "u", .type = {.kind = BF_KIND_UUID, .length = 16}, .required = true},
	};
	BfSchema schema = {.schema_id = 7, .n_fields = 6, .fields = fields};
	const char *json = NULL;
	BfAvroSchema *avro;

	REQUIRE_OK(bf_avro_schema_text(a, &schema, "t", &json, &test_err));
	EXPECT_STR(
		json,
		"{\"type\":\"record\",\"name\":\"t\",\"schema-id\":7,\"fields\":["
		"{\"name\":\"id\",\"type\":\"long\",\"field-id\":1},"
		"{\"name\":\"ts\",\"type\":[\"null\",{\"type\":\"long\",\"logicalType\":\"timestamp-"
		"micros\","
		"\"adjust-to-utc\":true}],\"default\":null,\"field-id\":2},"
		"{\"name\":\"amount\",\"type\":[\"null\",{\"type\":\"fixed\",\"name\":\"decimal_12_2\","
		"\"size\":6,\"logicalType\":\"decimal\",\"precision\":12,\"scale\":2}],\"default\":null,"
		"\"field-id\":3},"
		"{\"name\":\"tax\",\"type\":[\"null\",\"decimal_12_2\"],\"default\":null,\"field-id\":4},"
		"{\"name\":\"_1st_x20_x22caf_xE9_x22_xD83D_xDE00\",\"type\":[\"null\",\"string\"],"
		"\"default\":null,\"iceberg-field-name\":\"1st \\\"caf\xc3\xa9\\\"\xf0\x9f\x98\x80\","
		"\"field-id\":5},"
		"{\"name\":\"u\",\"type\":{\"type\":\"fixed\",\"name\":\"uuid_fixed\",\"size\":16,"
		"\"logicalType\":\"uuid\"},\"field-id\":6}]}");
	REQUIRE_OK(bf_avro_schema_parse(a, json, strlen(json), &avro, &test_err));
	EXPECT_EQ(avro->n_children, 6);
}

static void
expect_same_schema(const BfSchema *x, const BfSchema *y)
{
	REQUIRE(x->n_fields == y->n_fields);
	EXPECT_EQ(x->schema_id, y->schema_id);
	for (int32_t i = 0; i < x->n_fields; i++)
	{
		EXPECT_STR(y->fields[i].name, x->fields[i].name);
		EXPECT_EQ(y->fields[i].id, x->fields[i].id);
		EXPECT_EQ(y->fields[i].required, x->fields[i].required);
		EXPECT(bf_type_equal(y->fields[i].type, x->fields[i].type));
	}
}

TEST(avro_rows_schema_round_trip)
{
	for (int round = 0; round < 200; round++)
	{
		BfArena *a = test_arena();
		BfSchema *x = random_schema(a, (int32_t) test_random_below(20));
		BfSchema *y;
		const char *json;
		const char *again = NULL;

		REQUIRE_OK(bf_avro_schema_text(a, x, "ns.table 1", &json, &test_err));
		REQUIRE_OK(bf_avro_schema_to_table(a, json, strlen(json), &y, &test_err));
		expect_same_schema(x, y);
		REQUIRE_OK(bf_avro_schema_text(a, y, "ns.table 1", &again, &test_err));
		EXPECT_STR(again, json);
	}
}

/* Every precision takes the fewest bytes. */
TEST(avro_rows_decimal_sizes)
{
	BfArena *a = test_arena();
	bf_u128 most = 0;

	for (int32_t p = 1; p <= 38; p++)
	{
		BfField f = {.id = 1,
					 .name = "d",
					 .type = {.kind = BF_KIND_DECIMAL, .precision = p},
					 .required = true};
		BfSchema schema = {.n_fields = 1, .fields = &f};
		BfAvroSchema *avro;
		const char *json;
		int32_t size = 1;

		most = most * 10 + 9;
		while ((most >> (8 * size - 1)) != 0)
			size++;
		REQUIRE_OK(bf_avro_schema_text(a, &schema, "t", &json, &test_err));
		REQUIRE_OK(bf_avro_schema_parse(a, json, strlen(json), &avro, &test_err));
		EXPECT_EQ(avro->children[0]->fixed_size, size);
	}
}

TEST(avro_rows_schema_refused)
{
	static const struct
	{
		const char *type;
		BfStatus code;
	} cases[] = {
		{"[\"long\",\"null\"]", BF_ERR_UNSUPPORTED},
		{"[\"null\"]", BF_ERR_UNSUPPORTED},
		{"[\"null\",\"null\"]", BF_ERR_UNSUPPORTED},
		{"[\"null\",\"long\",\"int\"]", BF_ERR_UNSUPPORTED},
		{"{\"type\":\"array\",\"items\":\"int\"}", BF_ERR_UNSUPPORTED},
		{"{\"type\":\"map\",\"values\":\"int\"}", BF_ERR_UNSUPPORTED},
		{"{\"type\":\"record\",\"name\":\"i\",\"fields\":[]}", BF_ERR_UNSUPPORTED},
		{"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[]}", BF_ERR_UNSUPPORTED},
		{"{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}", BF_ERR_UNSUPPORTED},
		{"{\"type\":\"string\",\"logicalType\":\"uuid\"}", BF_ERR_UNSUPPORTED},
		{"{\"type\":\"fixed\",\"name\":\"f\",\"size\":15,\"logicalType\":\"uuid\"}",
		 BF_ERR_UNSUPPORTED},
		{"{\"type\":\"fixed\",\"name\":\"f\",\"size\":5,\"logicalType\":\"decimal\","
		 "\"precision\":9}",
		 BF_ERR_UNSUPPORTED},
		{"{\"type\":\"fixed\",\"name\":\"f\",\"size\":17,\"logicalType\":\"decimal\","
		 "\"precision\":39}",
		 BF_ERR_UNSUPPORTED},
		{"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9}", BF_ERR_UNSUPPORTED},
	};
	BfArena *a = test_arena();
	BfSchema *out;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		const char *json = bf_arena_printf(a,
										   "{\"type\":\"record\",\"name\":\"t\",\"fields\":[{"
										   "\"name\":\"x\",\"field-id\":1,\"type\":%s}]}",
										   cases[i].type);

		EXPECT_FAIL(bf_avro_schema_to_table(a, json, strlen(json), &out, &test_err), cases[i].code,
					-1);
		EXPECT_STR(test_err.column, "x");
	}
	EXPECT_FAIL(bf_avro_schema_to_table(a, "\"int\"", 5, &out, &test_err), BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(bf_avro_schema_to_table(a,
										"{\"type\":\"record\",\"name\":\"t\",\"fields\":[{\"name\":"
										"\"x\",\"type\":\"int\"}]}",
										63, &out, &test_err),
				BF_ERR_CORRUPT, -1);
}

TEST(avro_rows_unsupported_types)
{
	static const BfKind kinds[] = {BF_KIND_INT8,   BF_KIND_INT16,  BF_KIND_UINT32, BF_KIND_UINT64,
								   BF_KIND_STRUCT, BF_KIND_LIST,   BF_KIND_MAP,	   BF_KIND_INTERVAL,
								   BF_KIND_INT96,  BF_KIND_VARIANT};
	BfArena *a = test_arena();
	const char *json;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
	{
		BfField f = {.id = 1, .name = "x", .type = {.kind = kinds[i]}};
		BfSchema schema = {.n_fields = 1, .fields = &f};

		EXPECT_FAIL(bf_avro_schema_text(a, &schema, "t", &json, &test_err), BF_ERR_UNSUPPORTED, -1);
		EXPECT_STR(test_err.column, "x");
	}
}
