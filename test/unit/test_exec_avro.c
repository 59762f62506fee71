/*
 * exec/read/avro_reader: Avro data files as rows of a table. Types and nesting, evolution,
 * projections, damage, faults.
 */
#include "exec/read/avro_reader.h"

#include "avro/container.h"
#include "io/publish.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"

#define COLUMNS_MAX 16
#define LEAF(id_, name_, kind_)                                          \
	{                                                                    \
		.id = (id_), .name = (name_), .type = {.kind = BF_KIND_##kind_ } \
	}
#define NESTED(id_, name_, kind_, children_)                                                      \
	{                                                                                             \
		.id = (id_), .name = (name_), .type = {.kind = BF_KIND_##kind_}, .children = (children_), \
		.n_children = (int32_t) (sizeof(children_) / sizeof(BfField))                             \
	}
#define COUNT(a) ((int32_t) (sizeof(a) / sizeof(a)[0]))
#define RECORD(fields) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"
#define COLUMN(id, name, type) "{\"name\":\"" name "\",\"field-id\":" #id ",\"type\":" type "}"
#define OPTION(type) "[\"null\"," type "]"
#define IN_UTC(name) "{\"type\":\"long\",\"logicalType\":\"" name "\",\"adjust-to-utc\":true}"
#define LOGICAL(base, name) "{\"type\":\"" base "\",\"logicalType\":\"" name "\"}"

/* ---- files ---- */

static BfBuffer *row; /* of the file being made */

static void
ok(BfStatus status)
{
	if (status != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
}

static void
put(int64_t v)
{
	ok(bf_buffer_varint(row, v, &test_err));
}

static void
put_raw(const void *p, size_t n)
{
	ok(bf_buffer_append(row, p, n, &test_err));
}

static void
put_bytes(const void *p, size_t n)
{
	put((int64_t) n);
	put_raw(p, n);
}

static void
put_text(const char *text)
{
	put_bytes(text, strlen(text));
}

static void
put_f32(float v)
{
	put_raw(&v, sizeof v);
}

static void
put_f64(double v)
{
	put_raw(&v, sizeof v);
}

static BfAvroWriter *
begin_file(const char *schema, BfCodec codec)
{
	BfAvroWriter *w = NULL;

	ok(bf_avro_writer_new(test_arena(), schema, &w, &test_err));
	ok(bf_avro_writer_codec(w, codec, &test_err));
	row = bf_avro_writer_buffer(w);
	return w;
}

static void
end_row(BfAvroWriter *w)
{
	ok(bf_avro_writer_end_record(w, &test_err));
}

static BfView
end_file(BfAvroWriter *w, const char *name)
{
	BfView bytes = {NULL, 0};

	ok(bf_avro_writer_finish(w, &bytes, &test_err));
	ok(bf_publish_bytes(test_arena(), test_path(name), bytes.ptr, bytes.len, &test_err));
	return bytes;
}

/* A file of one row that is `n` bytes. */
static void
one_row(const char *name, const char *schema, const void *bytes, size_t n)
{
	BfAvroWriter *w = begin_file(schema, BF_CODEC_NONE);

	put_raw(bytes, n);
	end_row(w);
	end_file(w, name);
}

/* ---- rows as text ---- */

static void
add_view(const BfValue *v, char *out, size_t size)
{
	size_t n = strlen(out);

	if (v->type.kind == BF_KIND_STRING)
	{
		snprintf(out + n, size - n, "%.*s", (int) v->v.view.len, (const char *) v->v.view.ptr);
		return;
	}
	snprintf(out + n, size - n, "x");
	for (uint32_t i = 0; i < v->v.view.len; i++)
	{
		n = strlen(out);
		snprintf(out + n, size - n, "%02x", v->v.view.ptr[i]);
	}
}

static void
add_text(const BfValue *v, char *out, size_t size)
{
	size_t n = strlen(out);

	if (v->is_null)
	{
		snprintf(out + n, size - n, "null");
		return;
	}
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_U8: snprintf(out + n, size - n, "%s", v->v.u8 != 0 ? "true" : "false"); break;
		case BF_STORE_I32: snprintf(out + n, size - n, "%d", v->v.i32); break;
		case BF_STORE_I64: snprintf(out + n, size - n, "%lld", (long long) v->v.i64); break;
		case BF_STORE_F32: snprintf(out + n, size - n, "%g", (double) v->v.f32); break;
		case BF_STORE_F64: snprintf(out + n, size - n, "%g", v->v.f64); break;
		case BF_STORE_I128:
			snprintf(out + n, size - n, "%lld:%llx", (long long) (v->v.i128 >> 64),
					 (unsigned long long) v->v.i128);
			break;
		case BF_STORE_VIEW: add_view(v, out, size); break;
		default:
			snprintf(out + n, size - n, "%c", v->type.kind == BF_KIND_STRUCT ? '(' : '[');
			for (uint32_t i = 0; i < v->v.view.len; i++)
			{
				n = strlen(out);
				snprintf(out + n, size - n, "%s", i > 0 ? "," : "");
				add_text(&bf_value_children(v)[i], out, size);
			}
			n = strlen(out);
			snprintf(out + n, size - n, "%c", v->type.kind == BF_KIND_STRUCT ? ')' : ']');
			break;
	}
}

static BfStatus
add_rows(BfArena *a, BfReader *r, const BfField *fields, int32_t n, char *text, size_t size)
{
	int64_t rows = 0;

	for (;;)
	{
		const BfBatch *b;

		BF_TRY(r->next(r, &b, &test_err));
		if (b == NULL)
			return BF_OK;
		EXPECT_EQ(b->first_row, rows);
		EXPECT(b->n_rows > 0 && b->n_rows <= BF_BATCH_ROWS && b->selected == NULL);
		EXPECT_EQ(b->n_cols, n);
		rows += b->n_rows;
		for (int32_t i = 0; i < b->n_rows; i++)
			for (int32_t c = 0; c < n; c++)
			{
				BfValue v;

				EXPECT_EQ(b->cols[c].n, b->n_rows);
				EXPECT(bf_type_equal(b->cols[c].type, fields[c].type));
				BF_TRY(bf_vector_value(a, &b->cols[c], i, &v, &test_err));
				add_text(&v, text, size);
				strncat(text, c < n - 1 ? "|" : ";", size - strlen(text) - 1);
			}
	}
}

/* All rows, columns with '|' between them, rows with ';'. */
static BfStatus
read_with(BfArena *a, const char *path, const BfField *fields, int32_t n,
		  const BfConstants *constants, char *text, size_t size)
{
	static const int32_t numbers[COLUMNS_MAX] = {0, 1, 2,  3,  4,  5,  6,  7,
												 8, 9, 10, 11, 12, 13, 14, 15};
	BfSchema schema = {.n_fields = n, .fields = (BfField *) (uintptr_t) fields};
	BfProjection p = {.schema = &schema, .fields = numbers, .n_fields = n};
	BfReader *r;

	text[0] = '\0';
	bf_error_clear(&test_err);
	BF_TRY(bf_exec_avro_reader(a, path, &p, constants, NULL, &r, &test_err));
	EXPECT_STR(r->name(r), path);
	return add_rows(a, r, fields, n, text, size);
}

static BfStatus
read_status(const char *name, const BfField *fields, int32_t n)
{
	char text[4096];

	return read_with(test_arena(), test_path(name), fields, n, NULL, text, sizeof text);
}

static const char *
rows_with(const char *name, const BfField *fields, int32_t n, const BfConstants *constants)
{
	static char text[4096];

	if (read_with(test_arena(), test_path(name), fields, n, constants, text, sizeof text) != BF_OK)
		return test_err.text;
	return text;
}

static const char *
rows_of(const char *name, const BfField *fields, int32_t n)
{
	return rows_with(name, fields, n, NULL);
}

/* ---- types ---- */

TEST(exec_avro_primitive_types)
{
	static const BfField fields[] = {
		LEAF(1, "b", BOOL),	   LEAF(2, "i", INT32),	  LEAF(3, "l", INT64),
		LEAF(4, "f", FLOAT32), LEAF(5, "d", FLOAT64), LEAF(6, "s", STRING),
		LEAF(7, "y", BINARY),  LEAF(8, "e", STRING),  LEAF(9, "n", NULL)};
	/* clang-format off */
	BfAvroWriter *w = begin_file(RECORD(
		COLUMN(1, "b", OPTION("\"boolean\"")) ","
		COLUMN(2, "i", "\"int\"") ","
		COLUMN(3, "l", "[\"long\",\"null\"]") ","
		COLUMN(4, "f", OPTION("\"float\"")) ","
		COLUMN(5, "d", "\"double\"") ","
		COLUMN(6, "s", OPTION("\"string\"")) ","
		COLUMN(7, "y", OPTION("\"bytes\"")) ","
		COLUMN(8, "e", "{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\",\"BC\"]}") ","
		COLUMN(9, "n", "\"null\"")), BF_CODEC_DEFLATE);
	/* clang-format on */

	put(1), put_raw("\1", 1);
	put(-7);
	put(0), put(INT64_MIN);
	put(1), put_f32(-1.5f);
	put_f64(1e300);
	put(1), put_text("h\303\251");
	put(1), put_bytes("\0\xff", 2);
	put(1);
	end_row(w);
	put(0), put(INT32_MIN), put(1), put(0), put_f64(0), put(0), put(0), put(0);
	end_row(w);
	put(1), put_raw("\0", 1), put(5), put(0), put(0), put(1), put_f32(2), put_f64(-0.25);
	put(1), put_text(""), put(1), put_text(""), put(0);
	end_row(w);
	end_file(w, "a.avro");
	EXPECT_STR(rows_of("a.avro", fields, COUNT(fields)),
			   "true|-7|-9223372036854775808|-1.5|1e+300|h\303\251|x00ff|BC|null;"
			   "null|-2147483648|null|null|0|null|null|A|null;"
			   "false|5|0|2|-0.25||x|A|null;");
}

TEST(exec_avro_logical_types)
{
	static const BfField fields[] = {
		LEAF(1, "date", DATE),
		LEAF(2, "tm", TIME),
		LEAF(3, "tu", TIME),
		LEAF(4, "ms", TIMESTAMP),
		LEAF(5, "us", TIMESTAMPTZ),
		LEAF(6, "ns", TIMESTAMP_NS),
		LEAF(7, "nz", TIMESTAMPTZ_NS),
		LEAF(8, "lm", TIMESTAMP),
		LEAF(9, "lu", TIMESTAMP),
		LEAF(10, "ln", TIMESTAMP_NS),
		{.id = 11, .name = "u", .type = {.kind = BF_KIND_UUID, .length = 16}},
		{.id = 12, .name = "x", .type = {.kind = BF_KIND_FIXED, .length = 3}},
	};
	/* clang-format off */
	BfAvroWriter *w = begin_file(RECORD(
		COLUMN(1, "date", LOGICAL("int", "date")) ","
		COLUMN(2, "tm", LOGICAL("int", "time-millis")) ","
		COLUMN(3, "tu", LOGICAL("long", "time-micros")) ","
		COLUMN(4, "ms", LOGICAL("long", "timestamp-millis")) ","
		COLUMN(5, "us", IN_UTC("timestamp-micros")) ","
		COLUMN(6, "ns", LOGICAL("long", "timestamp-nanos")) ","
		COLUMN(7, "nz", IN_UTC("timestamp-nanos")) ","
		COLUMN(8, "lm", LOGICAL("long", "local-timestamp-millis")) ","
		COLUMN(9, "lu", LOGICAL("long", "local-timestamp-micros")) ","
		COLUMN(10, "ln", LOGICAL("long", "local-timestamp-nanos")) ","
		COLUMN(11, "u", "{\"type\":\"fixed\",\"name\":\"u\",\"size\":16,"
						"\"logicalType\":\"uuid\"}") ","
		COLUMN(12, "x", "{\"type\":\"fixed\",\"name\":\"x\",\"size\":3}")), BF_CODEC_NONE);
	/* clang-format on */

	put(-1), put(86399999), put(86399999999), put(-1), put(-2), put(-3), put(-4), put(5), put(6);
	put(7);
	put_raw("0123456789abcdef", 16);
	put_raw("\1\2\3", 3);
	end_row(w);
	end_file(w, "a.avro");
	EXPECT_STR(rows_of("a.avro", fields, COUNT(fields)),
			   "-1|86399999000|86399999999|-1000|-2|-3|-4|5000|6|7|"
			   "x30313233343536373839616263646566|x010203;");
}

/* Whatever the table says they are: not all writers tell the zone. */
TEST(exec_avro_zones)
{
	static const BfField with[] = {LEAF(1, "a", TIMESTAMPTZ), LEAF(2, "b", TIMESTAMPTZ_NS)};
	static const BfField without[] = {LEAF(1, "a", TIMESTAMP), LEAF(2, "b", TIMESTAMP_NS)};
	BfAvroWriter *w =
		begin_file(RECORD(COLUMN(1, "a", LOGICAL("long", "timestamp-micros")) "," COLUMN(
					   2, "b", OPTION(LOGICAL("long", "timestamp-nanos")))),
				   BF_CODEC_NONE);

	put(1), put(1), put(2);
	end_row(w);
	end_file(w, "a.avro");
	EXPECT_STR(rows_of("a.avro", with, 2), "1|2;");
	EXPECT_STR(rows_of("a.avro", without, 2), "1|2;");
}

#define DECIMAL(p, s) \
	"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":" #p ",\"scale\":" #s "}"

TEST(exec_avro_decimals)
{
	static const BfField fields[] = {
		{.id = 1, .name = "a", .type = {BF_KIND_DECIMAL, .precision = 9, .scale = 2}},
		{.id = 2, .name = "b", .type = {BF_KIND_DECIMAL, .precision = 38, .scale = 0}},
		{.id = 3, .name = "c", .type = {BF_KIND_DECIMAL, .precision = 50, .scale = 1}},
		{.id = 4, .name = "f", .type = {BF_KIND_DECIMAL, .precision = 4, .scale = 4}},
	};
	/* clang-format off */
	BfAvroWriter *w = begin_file(RECORD(
		COLUMN(1, "a", DECIMAL(9, 2)) ","
		COLUMN(2, "b", OPTION(DECIMAL(38, 0))) ","
		COLUMN(3, "c", DECIMAL(50, 1)) ","
		COLUMN(4, "f", "{\"type\":\"fixed\",\"size\":12,\"name\":\"f\","
					   "\"logicalType\":\"decimal\",\"precision\":4,\"scale\":4}")), BF_CODEC_NONE);
	/* clang-format on */

	put_bytes("\x04\xd2", 2);
	put(1), put_bytes("\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	put_bytes("\1\2\3\4\5\6\7\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12", 18);
	put_raw("\0\0\0\0\0\0\0\0\0\0\x10\1", 12);
	end_row(w);
	/* Negative, with sign bytes that say nothing. */
	put_bytes("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe", 10);
	put(1),
		put_bytes("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfd", 18);
	put_bytes("\xff", 1);
	put_raw("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
	end_row(w);
	put_bytes("\0", 1), put(0), put_bytes("", 0), put_raw("\0\0\0\0\0\0\0\0\0\0\0\0", 12);
	end_row(w);
	end_file(w, "a.avro");
	EXPECT_STR(rows_of("a.avro", fields, COUNT(fields)),
			   "1234|-9223372036854775808:0|x0102030405060708090a0b0c0d0e0f101112|4097;"
			   "-2|-1:fffffffffffffffd|xff|-1;0|null|x|0;");
}

/* ---- nesting ---- */

static BfField int_item[] = {LEAF(11, "element", INT32)};
static BfField list_item[] = {NESTED(12, "element", LIST, int_item)};
static BfField text_pairs[] = {LEAF(13, "key", STRING), LEAF(14, "value", INT64)};
static BfField int_pairs[] = {LEAF(15, "key", INT32), LEAF(16, "value", STRING)};
static BfField inner_members[] = {LEAF(20, "p", INT32), LEAF(21, "q", STRING)};
static BfField outer_members[] = {NESTED(22, "in", STRUCT, inner_members), LEAF(23, "r", INT64)};
static BfField struct_item[] = {NESTED(24, "element", STRUCT, inner_members)};

#define INNER                                                      \
	"{\"type\":\"record\",\"name\":\"inner\",\"fields\":[" COLUMN( \
		20, "p", OPTION("\"int\"")) "," COLUMN(21, "q", OPTION("\"string\"")) "]}"
#define ARRAY(id, items) "{\"type\":\"array\",\"element-id\":" #id ",\"items\":" items "}"
/* clang-format off */
#define NESTED_SCHEMA RECORD( \
	COLUMN(1, "ll", OPTION(ARRAY(12, OPTION(ARRAY(11, OPTION("\"int\"")))))) "," \
	COLUMN(2, "m", OPTION("{\"type\":\"map\",\"key-id\":13,\"value-id\":14," \
						  "\"values\":[\"null\",\"long\"]}")) "," \
	COLUMN(3, "pm", OPTION("{\"type\":\"array\",\"logicalType\":\"map\",\"items\":" \
						   "{\"type\":\"record\",\"name\":\"kv\",\"fields\":[" \
						   COLUMN(15, "key", "\"int\"") "," \
						   COLUMN(16, "value", OPTION("\"string\"")) "]}}")) "," \
	COLUMN(4, "s", OPTION("{\"type\":\"record\",\"name\":\"outer\",\"fields\":[" \
						  COLUMN(22, "in", OPTION(INNER)) "," \
						  COLUMN(23, "r", "\"long\"") "]}")) "," \
	COLUMN(5, "ls", ARRAY(24, OPTION("\"inner\""))))
/* clang-format on */

static const BfField nested_fields[] = {
	NESTED(1, "ll", LIST, list_item),	NESTED(2, "m", MAP, text_pairs),
	NESTED(3, "pm", MAP, int_pairs),	NESTED(4, "s", STRUCT, outer_members),
	NESTED(5, "ls", LIST, struct_item),
};

static void
make_nested(const char *name, BfCodec codec)
{
	BfAvroWriter *w = begin_file(NESTED_SCHEMA, codec);

	/* [[1,null],null,[]] in two blocks, {a:1,b:null}, {7:x}, ((8,y),9), [(1,z),null] */
	put(1), put(1), put(1), put(2), put(1), put(1), put(0), put(0), put(2), put(0), put(1), put(0);
	put(0);
	put(1), put(2), put_text("a"), put(1), put(1), put_text("b"), put(0), put(0);
	put(1), put(1), put(7), put(1), put_text("x"), put(0);
	put(1), put(1), put(1), put(8), put(1), put_text("y"), put(9);
	put(2), put(1), put(1), put(1), put(1), put_text("z"), put(0), put(0);
	end_row(w);
	put(0), put(0), put(0), put(0), put(0);
	end_row(w);
	/* [], {}, {}, (null,-1), [(null,null)] */
	put(1), put(0), put(1), put(0), put(1), put(0), put(1), put(0), put(-1);
	put(1), put(1), put(0), put(0), put(0);
	end_row(w);
	end_file(w, name);
}

TEST(exec_avro_nested)
{
	make_nested("a.avro", BF_CODEC_SNAPPY);
	EXPECT_STR(rows_of("a.avro", nested_fields, COUNT(nested_fields)),
			   "[[1,null],null,[]]|[a,1,b,null]|[7,x]|((8,y),9)|[(1,z),null];"
			   "null|null|null|null|[];[]|[]|[]|(null,-1)|[(null,null)];");
}

/* Every subset of the columns gives what all of them give. */
TEST(exec_avro_projections)
{
	make_nested("a.avro", BF_CODEC_ZSTD);
	for (unsigned mask = 0; mask < 32; mask++)
	{
		BfField some[5];
		char want[512] = "";
		static const char *const texts[3][5] = {
			{"[[1,null],null,[]]", "[a,1,b,null]", "[7,x]", "((8,y),9)", "[(1,z),null]"},
			{"null", "null", "null", "null", "[]"},
			{"[]", "[]", "[]", "(null,-1)", "[(null,null)]"},
		};
		int32_t n = 0;

		for (int i = 4; i >= 0; i--)
			if ((mask >> i & 1) != 0)
				some[n++] = nested_fields[i];
		for (int k = 0; k < 3 && n > 0; k++)
			for (int i = 4, c = 0; i >= 0; i--)
				if ((mask >> i & 1) != 0)
				{
					strcat(want, texts[k][i]);
					strcat(want, ++c < n ? "|" : ";");
				}
		EXPECT_STR(rows_of("a.avro", some, n), want);
	}
}

/* Without any column there are still rows. */
TEST(exec_avro_counts)
{
	BfProjection p = {.schema = &(BfSchema){.n_fields = 0}};
	BfReader *r;
	const BfBatch *b;

	make_nested("a.avro", BF_CODEC_NONE);
	REQUIRE_OK(
		bf_exec_avro_reader(test_arena(), test_path("a.avro"), &p, NULL, NULL, &r, &test_err));
	REQUIRE_OK(r->next(r, &b, &test_err));
	REQUIRE(b != NULL);
	EXPECT_EQ(b->n_rows, 3);
	EXPECT_EQ(b->n_cols, 0);
	REQUIRE_OK(r->next(r, &b, &test_err));
	EXPECT(b == NULL);
}

TEST(exec_avro_nested_evolution)
{
	static BfField members[] = {LEAF(31, "new", INT32), LEAF(21, "renamed", STRING),
								LEAF(20, "wider", INT64)};
	static BfField items[] = {NESTED(24, "element", STRUCT, members)};
	static BfField inner_only[] = {NESTED(22, "i", STRUCT, members)};
	static BfField wide_item[] = {LEAF(11, "element", INT64)};
	static BfField wide_list[] = {NESTED(12, "element", LIST, wide_item)};
	static const BfField fields[] = {NESTED(5, "x", LIST, items),
									 NESTED(4, "y", STRUCT, inner_only),
									 NESTED(1, "z", LIST, wide_list)};
	static BfField other_item[] = {LEAF(99, "element", INT32)};
	static BfField other_list[] = {NESTED(12, "element", LIST, other_item)};
	static const BfField other[] = {NESTED(1, "z", LIST, other_list)};

	make_nested("a.avro", BF_CODEC_NONE);
	EXPECT_STR(rows_of("a.avro", fields, COUNT(fields)),
			   "[(null,z,1),null]|((null,y,8))|[[1,null],null,[]];"
			   "[]|null|null;[(null,null,null)]|(null)|[];");
	EXPECT_FAIL(read_status("a.avro", other, 1), BF_ERR_UNSUPPORTED, -1);
	EXPECT_STR(test_err.column, "z");
}

/* ---- evolution ---- */

#define TWO RECORD(COLUMN(1, "a", "\"int\"") "," COLUMN(2, "b", OPTION("\"float\"")))

static void
make_two(const char *name)
{
	BfAvroWriter *w = begin_file(TWO, BF_CODEC_NONE);

	put(3), put(1), put_f32(0.5f);
	end_row(w);
	put(-4), put(0);
	end_row(w);
	end_file(w, name);
}

TEST(exec_avro_by_id)
{
	static const BfField fields[] = {
		LEAF(2, "a", FLOAT64),
		{.id = 1, .name = "b", .type = {.kind = BF_KIND_INT64}, .required = true},
		{.id = 1, .name = "n", .type = {.kind = BF_KIND_DECIMAL, .precision = 30, .scale = 1}},
		LEAF(7, "absent", STRING),
		{.id = 8,
		 .name = "later",
		 .type = {.kind = BF_KIND_INT32},
		 .required = true,
		 .has_default = true,
		 .initial_default = {.type = {.kind = BF_KIND_INT32}, .v.i32 = 42}},
	};

	make_two("a.avro");
	EXPECT_STR(rows_of("a.avro", fields, COUNT(fields)),
			   "0.5|3|0:1e|null|42;null|-4|-1:ffffffffffffffd8|null|42;");
}

TEST(exec_avro_constants)
{
	static const BfField fields[] = {
		LEAF(9, "p", INT64),
		LEAF(1, "a", INT32),
		{.id = 10,
		 .name = "d",
		 .type = {.kind = BF_KIND_INT32},
		 .has_default = true,
		 .initial_default = {.type = {.kind = BF_KIND_INT32}, .v.i32 = 6}}};
	static const BfField narrow[] = {LEAF(9, "p", BOOL)};
	static const int32_t ids[] = {1, 9, 10};
	/* Written before the column became a long. */
	const BfValue values[] = {{.type = BF_TYPE(INT32), .v.i32 = 77},
							  {.type = BF_TYPE(INT32), .v.i32 = -5},
							  {.type = BF_TYPE(NULL), .is_null = true}};
	BfConstants constants = {.n = 3, .ids = ids, .values = values};

	make_two("a.avro");
	EXPECT_STR(rows_with("a.avro", fields, 3, &constants), "-5|3|6;-5|-4|6;");
	rows_with("a.avro", narrow, 1, &constants);
	EXPECT_EQ(test_err.code, BF_ERR_UNSUPPORTED);
	EXPECT_STR(test_err.column, "p");
	EXPECT_STR(test_err.object, test_path("a.avro"));
}

TEST(exec_avro_columns_that_do_not_fit)
{
	static const BfField required = {
		.id = 7, .name = "q", .type = {.kind = BF_KIND_INT32}, .required = true};
	static const BfField text[] = {LEAF(1, "t", STRING)};
	static const BfField list[] = {NESTED(1, "l", LIST, int_item)};

	make_two("a.avro");
	EXPECT_FAIL(read_status("a.avro", &required, 1), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.column, "q");
	EXPECT_STR(test_err.object, test_path("a.avro"));
	EXPECT_FAIL(read_status("a.avro", text, 1), BF_ERR_UNSUPPORTED, -1);
	EXPECT_STR(test_err.column, "t");
	EXPECT_STR(test_err.text,
			   "column \"t\" is of type int in the file, which can't be read as string");
	EXPECT_FAIL(read_status("a.avro", list, 1), BF_ERR_UNSUPPORTED, -1);
	EXPECT_STR(test_err.column, "l");
	EXPECT_FAIL(read_status("absent.avro", text, 1), BF_ERR_NOTFOUND, -1);
}

TEST(exec_avro_without_ids)
{
	static const char *const names[] = {"old", "a"};
	static const BfField by_name[] = {{.name = "A", .type = {.kind = BF_KIND_INT32}},
									  {.name = "b", .type = {.kind = BF_KIND_INT32}}};
	BfField field = {.id = 4, .name = "q", .type = {.kind = BF_KIND_INT32}};
	static const BfField twice = {.name = "AB", .type = {.kind = BF_KIND_INT32}};

	one_row("a.avro",
			RECORD("{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"Ab\",\"type\":\"int\"},"
				   "{\"name\":\"aB\",\"type\":\"int\"}"),
			"\2\4\6", 3);
	EXPECT_STR(rows_of("a.avro", by_name, 2), "1|null;");
	EXPECT_FAIL(read_status("a.avro", &field, 1), BF_ERR_UNSUPPORTED, -1);
	EXPECT_STR(test_err.column, "q");
	field.mapped = true;
	EXPECT_STR(rows_of("a.avro", &field, 1), "null;");
	field.aliases = names;
	field.n_aliases = 2;
	EXPECT_STR(rows_of("a.avro", &field, 1), "1;");
	EXPECT_FAIL(read_status("a.avro", &twice, 1), BF_ERR_UNSUPPORTED, -1);
	EXPECT_STR(test_err.object, test_path("a.avro"));
	/* Ids anywhere are ids. */
	one_row("b.avro",
			RECORD("{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"s\",\"type\":{\"type\":"
				   "\"record\",\"name\":\"q\",\"fields\":[" COLUMN(5, "x", "\"int\"") "]}}"),
			"\2\4", 2);
	EXPECT_STR(rows_of("b.avro", &field, 1), "null;");
}

/* Columns without ids around parts that have some: an id is never given twice. */
TEST(exec_avro_ids_of_parts)
{
	static BfField inner[] = {LEAF(7, "w", INT32)};
	static BfField members[] = {LEAF(5, "y", INT32), NESTED(6, "in", STRUCT, inner)};
	static BfField item[] = {LEAF(9, "element", INT32)};
	static BfField entry[] = {LEAF(11, "key", STRING), LEAF(12, "value", INT32)};
	static const BfField fields[] = {NESTED(4, "s", STRUCT, members), NESTED(8, "l", LIST, item),
									 NESTED(10, "m", MAP, entry)};
	static BfField others[] = {LEAF(55, "x", INT32), LEAF(56, "z", INT32)};
	static const BfField other[] = {NESTED(54, "t", STRUCT, others), LEAF(5, "t", INT32)};

	one_row(
		"a.avro",
		RECORD("{\"name\":\"u\",\"type\":{\"type\":\"array\",\"element-id\":9,\"items\":\"int\"}},"
			   "{\"name\":\"n\",\"type\":{\"type\":\"map\",\"key-id\":11,\"value-id\":12,"
			   "\"values\":\"int\"}},"
			   "{\"name\":\"t\",\"type\":{\"type\":\"record\",\"name\":\"q\",\"fields\":["
			   "{\"name\":\"x\",\"type\":{\"type\":\"record\",\"name\":\"p\",\"fields\":["
			   "" COLUMN(7, "v", "\"int\"") "]}}," COLUMN(5, "x", "\"int\"") "]}}"),
		"\2\6\0\2\2k\10\0\12\14", 10);
	EXPECT_STR(rows_of("a.avro", fields, 3), "(6,(5))|[3]|[k,4];");
	/* Parts of other ids, and the id of a part, are none of these columns. */
	EXPECT_STR(rows_of("a.avro", other, 2), "null|null;");
}

/* ---- schemas that are not tables ---- */

TEST(exec_avro_unusual_schemas)
{
	static const BfField a[] = {LEAF(1, "a", INT32)};

	one_row("top.avro", "\"int\"", "\2", 1);
	EXPECT_FAIL(read_status("top.avro", a, 1), BF_ERR_UNSUPPORTED, -1);
	EXPECT_STR(test_err.object, test_path("top.avro"));
	one_row("union.avro", RECORD(COLUMN(1, "a", "[\"null\",\"int\",\"string\"]")), "\2\4", 2);
	EXPECT_FAIL(read_status("union.avro", a, 1), BF_ERR_UNSUPPORTED, -1);
	EXPECT_STR(test_err.text, "column \"a\" is a union of several types");
	one_row("two.avro", RECORD(COLUMN(1, "a", "[\"int\",\"string\"]")), "\0\4", 2);
	EXPECT_FAIL(read_status("two.avro", a, 1), BF_ERR_UNSUPPORTED, -1);
	one_row("self.avro", RECORD(COLUMN(1, "a", OPTION("\"r\""))), "\0", 1);
	EXPECT_FAIL(read_status("self.avro", a, 1), BF_ERR_LIMIT, -1);
	one_row("one.avro", RECORD(COLUMN(1, "a", "[\"int\"]")), "\0\4", 2);
	EXPECT_STR(rows_of("one.avro", a, 1), "2;");
	one_row("null.avro", RECORD(COLUMN(1, "a", "[\"null\"]")), "\0", 1);
	EXPECT_STR(rows_of("null.avro", a, 1), "null;");
}

/* ---- batches ---- */

TEST(exec_avro_batches)
{
	static const BfField fields[] = {LEAF(1, "a", INT32), LEAF(2, "t", STRING)};
	static const int32_t numbers[] = {0, 1};
	BfSchema schema = {.n_fields = 2, .fields = (BfField *) (uintptr_t) fields};
	BfProjection p = {.schema = &schema, .fields = numbers, .n_fields = 2};
	static char big[1 << 16];
	BfAvroWriter *w = begin_file(RECORD(COLUMN(1, "a", "\"int\"") "," COLUMN(2, "t", "\"string\"")),
								 BF_CODEC_ZSTD);
	BfReader *r;
	const BfBatch *b;
	int64_t rows = 0;
	int32_t small = 0;

	memset(big, 'x', sizeof big - 1);
	for (int i = 0; i < 5000; i++)
	{
		put(i), put_text(i >= 3000 && i < 3400 ? big : "s");
		end_row(w);
	}
	end_file(w, "a.avro");
	REQUIRE_OK(
		bf_exec_avro_reader(test_arena(), test_path("a.avro"), &p, NULL, NULL, &r, &test_err));
	for (;;)
	{
		REQUIRE_OK(r->next(r, &b, &test_err));
		if (b == NULL)
			break;
		EXPECT_EQ(b->first_row, rows);
		EXPECT(b->n_rows <= BF_BATCH_ROWS);
		/* Large records make smaller batches. */
		if (b->n_rows < 200)
			small++;
		for (int32_t i = 0; i < b->n_rows; i++, rows++)
		{
			EXPECT_EQ(b->cols[0].data.i32[i], rows);
			EXPECT_EQ(b->cols[1].data.view[i].len,
					  rows >= 3000 && rows < 3400 ? sizeof big - 1 : 1);
		}
	}
	EXPECT_EQ(rows, 5000);
	EXPECT(small >= 2);
	REQUIRE_OK(r->next(r, &b, &test_err));
	EXPECT(b == NULL);
}

TEST(exec_avro_empty)
{
	static const BfField fields[] = {LEAF(1, "a", INT32)};
	BfAvroWriter *w = begin_file(RECORD(COLUMN(1, "a", "\"int\"")), BF_CODEC_NONE);

	end_file(w, "a.avro");
	EXPECT_STR(rows_of("a.avro", fields, 1), "");
}

/* ---- damage ---- */

/* A value that its type does not hold, in row 1 of the file. */
static BfStatus
second_bad(const char *type, const void *good, size_t n_good, const void *bad, size_t n_bad,
		   const BfField *field)
{
	BfAvroWriter *w = begin_file(bf_arena_printf(test_arena(), RECORD(COLUMN(1, "a", "%s")), type),
								 BF_CODEC_NONE);

	put_raw(good, n_good);
	end_row(w);
	put_raw(bad, n_bad);
	end_row(w);
	remove(test_path("bad.avro"));
	end_file(w, "bad.avro");
	return read_status("bad.avro", field, 1);
}

TEST(exec_avro_bad_values)
{
	static const BfField decimal = {
		.id = 1, .name = "a", .type = {BF_KIND_DECIMAL, .precision = 9, .scale = 2}};
	static const BfField wide = {
		.id = 1, .name = "a", .type = {BF_KIND_DECIMAL, .precision = 38, .scale = 2}};
	static const BfField time[] = {LEAF(1, "a", TIMESTAMP)};
	static const BfField list[] = {NESTED(1, "a", LIST, int_item)};
	static BfField decimals[] = {
		{.id = 5, .name = "element", .type = {BF_KIND_DECIMAL, .precision = 9, .scale = 2}}};
	static const BfField inside[] = {NESTED(1, "a", LIST, decimals)};

	EXPECT_FAIL(second_bad(DECIMAL(9, 2), "\2\1", 2, "\0", 1, &decimal), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "row 1: column \"a\": a decimal has no bytes");
	EXPECT_STR(test_err.column, "a");
	EXPECT_STR(test_err.object, test_path("bad.avro"));
	EXPECT_FAIL(second_bad(DECIMAL(9, 2), "\2\1", 2, "\x12\1\0\0\0\0\0\0\0\0", 10, &decimal),
				BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "row 1: column \"a\": a decimal has too many digits");
	/* Nine bytes of which one repeats the sign are no more than eight; but this one is no sign. */
	EXPECT_FAIL(second_bad(DECIMAL(9, 2), "\x12\0\x7f\xff\xff\xff\xff\xff\xff\xff", 10,
						   "\x12\0\x80\0\0\0\0\0\0\0", 10, &decimal),
				BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(
		second_bad(DECIMAL(38, 2), "\2\1", 2, "\x22\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18, &wide),
		BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(second_bad(DECIMAL(38, 2), "\2\1", 2, "\x22\0\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
						   18, &wide),
				BF_ERR_CORRUPT, -1);
	/* Milliseconds whose microseconds are no longs. */
	EXPECT_FAIL(second_bad(LOGICAL("long", "timestamp-millis"), "\2", 1,
						   "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1", 10, time),
				BF_ERR_VALUE, -1);
	EXPECT_STR(test_err.text, "row 1: column \"a\": 9223372036854775807 milliseconds are out of "
							  "range");
	EXPECT_FAIL(second_bad(ARRAY(5, DECIMAL(9, 2)), "\4\2\1\2\2\0", 6, "\4\2\1\0\0", 5, inside),
				BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "row 1: column \"element\": a decimal has no bytes");
	EXPECT_STR(test_err.column, "a");
	/* What the container finds has a position in the file, and the field's name. */
	EXPECT_FAIL(second_bad(ARRAY(11, "\"int\""), "\2\2\0", 3, "\x7f", 1, list), BF_ERR_CORRUPT, -1);
	EXPECT(test_err.offset > 0);
	EXPECT_STR(test_err.column, "a");
}

/* Each byte of a file changed, and each beginning of it: an error or rows, and the file's name. */
TEST(exec_avro_damaged)
{
	BfAvroWriter *w;
	BfView bytes;
	uint8_t *copy;
	int64_t failed = 0;
	int64_t positions = 0;

	make_nested("a.avro", BF_CODEC_NONE);
	w = begin_file(TWO, BF_CODEC_DEFLATE);
	for (int i = 0; i < 20; i++)
	{
		put(i), put(i % 2);
		if (i % 2 == 1)
			put_f32(1);
		end_row(w);
	}
	bytes = end_file(w, "b.avro");
	REQUIRE((copy = bf_arena_memdup(test_arena(), bytes.ptr, bytes.len)) != NULL);
	for (uint32_t i = 0; i < bytes.len; i++)
	{
		static const BfField fields[] = {LEAF(1, "a", INT32), LEAF(2, "b", FLOAT32)};
		FILE *f = fopen(test_path("c.avro"), "wb");
		BfStatus status;

		REQUIRE(f != NULL);
		copy[i] ^= 0x41;
		fwrite(copy, 1, i % 2 == 0 ? bytes.len : i, f);
		fclose(f);
		copy[i] ^= 0x41;
		status = read_status("c.avro", fields, 2);
		if (status == BF_OK)
			continue;
		failed++;
		positions += test_err.offset >= 0;
		EXPECT(test_err.text[0] != '\0');
		EXPECT_STR(test_err.object, test_path("c.avro"));
	}
	/* A name of the schema or a field id may change without anyone noticing. */
	EXPECT(failed > bytes.len / 2);
	EXPECT(positions > failed / 2);
}

TEST(exec_avro_truncated)
{
	static const BfField fields[] = {LEAF(1, "a", INT32)};
	BfAvroWriter *w = begin_file(TWO, BF_CODEC_NONE);
	BfView bytes;
	FILE *f;

	put(1), put(0);
	end_row(w);
	bytes = end_file(w, "a.avro");
	/* Without the last byte: the block, 3 bytes and 16 of the marker, is where the error is. */
	REQUIRE((f = fopen(test_path("b.avro"), "wb")) != NULL);
	fwrite(bytes.ptr, 1, bytes.len - 1, f);
	fclose(f);
	EXPECT_FAIL(read_status("b.avro", fields, 1), BF_ERR_CORRUPT, (int64_t) bytes.len - 20);
	EXPECT_STR(test_err.object, test_path("b.avro"));
	/* Another marker. */
	REQUIRE((f = fopen(test_path("b.avro"), "wb")) != NULL);
	fwrite(bytes.ptr, 1, bytes.len - 1, f);
	fputc(~bytes.ptr[bytes.len - 1], f);
	fclose(f);
	EXPECT_FAIL(read_status("b.avro", fields, 1), BF_ERR_CORRUPT, (int64_t) bytes.len - 16);
	REQUIRE((f = fopen(test_path("b.avro"), "wb")) != NULL);
	fputs("PAR1", f);
	fclose(f);
	EXPECT_FAIL(read_status("b.avro", fields, 1), BF_ERR_CORRUPT, 0);
}

/* ---- faults ---- */

TEST(exec_avro_faults)
{
	static const BfStatus codes[] = {[TEST_FAULT_ALLOC] = BF_ERR_NOMEM,
									 [TEST_FAULT_READ] = BF_ERR_IO,
									 [TEST_FAULT_CANCEL] = BF_ERR_CANCEL};
	static const TestFault kinds[] = {TEST_FAULT_ALLOC, TEST_FAULT_READ, TEST_FAULT_CANCEL};
	static BfField members[] = {LEAF(31, "new", INT32), LEAF(20, "wider", INT64)};
	static BfField items[] = {NESTED(24, "element", STRUCT, members)};
	static const BfField fields[] = {
		NESTED(1, "ll", LIST, list_item), NESTED(2, "m", MAP, text_pairs),
		NESTED(3, "pm", MAP, int_pairs),  NESTED(4, "s", STRUCT, outer_members),
		NESTED(5, "ls", LIST, items),	  LEAF(6, "none", INT64)};
	char path[1024];
	TestHost h;

	make_nested("a.avro", BF_CODEC_DEFLATE);
	snprintf(path, sizeof path, "%s", test_path("a.avro"));
	for (size_t k = 0; k < 3; k++)
	{
		int64_t n = 1;

		for (bool fired = true; fired; n++)
		{
			char text[1024];
			BfArena *a;
			BfStatus status;

			test_host_init(&h);
			test_fault_arm(&h, kinds[k], n, false);
			a = bf_arena_new(&h.host, "test", (size_t) 1 << 26);
			status = a == NULL ? BF_ERR_NOMEM
							   : read_with(a, path, fields, COUNT(fields), NULL, text, sizeof text);
			bf_arena_free(a);
			fired = test_fault_fired(&h);
			EXPECT_EQ(status, fired ? codes[kinds[k]] : BF_OK);
			if (!fired)
				EXPECT_STR(text, "[[1,null],null,[]]|[a,1,b,null]|[7,x]|((8,y),9)|"
								 "[(null,1),null]|null;null|null|null|null|[]|null;"
								 "[]|[]|[]|(null,-1)|[(null,null)]|null;");
			EXPECT_EQ(h.live_allocs, 0);
			EXPECT_EQ(h.open_files, 0);
			EXPECT_EQ(h.bad_frees, 0);
		}
		/* Fewer where arenas take blocks instead of every allocation. */
		EXPECT(n > 2);
	}
}
