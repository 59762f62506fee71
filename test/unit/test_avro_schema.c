/* Avro schema JSON: names, namespaces, ids, bounds. */
#include "unit/lib/runner.h"

#include "avro/container.h"

static BfAvroSchema *
parse(BfArena *a, const char *json)
{
	BfAvroSchema *s = NULL;

	bf_error_clear(&test_err);
	if (bf_avro_schema_parse(a, json, strlen(json), &s, &test_err) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "%s: %s", json, test_err.text);
		return NULL;
	}
	return s;
}

TEST(avro_schema_primitives)
{
	static const struct
	{
		const char *json;
		BfAvroType type;
		int32_t min_bytes;
	} cases[] = {
		{"\"null\"", BF_AVRO_NULL, 0},
		{"\"boolean\"", BF_AVRO_BOOLEAN, 1},
		{"\"int\"", BF_AVRO_INT, 1},
		{"\"long\"", BF_AVRO_LONG, 1},
		{"\"float\"", BF_AVRO_FLOAT, 4},
		{"\"double\"", BF_AVRO_DOUBLE, 8},
		{"\"bytes\"", BF_AVRO_BYTES, 1},
		{"\"string\"", BF_AVRO_STRING, 1},
		{"{\"type\":\"long\"}", BF_AVRO_LONG, 1},
		{"{\"type\":{\"type\":\"long\"}}", BF_AVRO_LONG, 1},
		{"{\"type\":[\"null\",\"int\"]}", BF_AVRO_UNION, 1},
		{"[\"string\",\"int\"]", BF_AVRO_UNION, 2},
		{"{\"type\":\"fixed\",\"name\":\"f\",\"size\":7}", BF_AVRO_FIXED, 7},
		{"{\"type\":\"fixed\",\"name\":\"f\",\"size\":0}", BF_AVRO_FIXED, 0},
		{"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\"]}", BF_AVRO_ENUM, 1},
		{"{\"type\":\"array\",\"items\":\"null\"}", BF_AVRO_ARRAY, 1},
		{"{\"type\":\"map\",\"values\":\"double\"}", BF_AVRO_MAP, 1},
		{"{\"type\":\"record\",\"name\":\"r\",\"fields\":[]}", BF_AVRO_RECORD, 0},
		{"{\"type\":\"error\",\"name\":\"r\",\"fields\":[{\"name\":\"x\",\"type\":\"float\"}]}",
		 BF_AVRO_RECORD, 4},
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfAvroSchema *s = parse(a, cases[i].json);

		REQUIRE(s != NULL);
		EXPECT_EQ(s->type, cases[i].type);
		EXPECT_EQ(s->min_bytes, cases[i].min_bytes);
	}
}

TEST(avro_schema_record_ids)
{
	BfArena *a = test_arena();
	BfAvroSchema *s = parse(
		a, "{\"type\":\"record\",\"name\":\"t\",\"doc\":\"x\",\"fields\":["
		   "{\"name\":\"a\",\"type\":\"int\",\"field-id\":7},"
		   "{\"name\":\"_x41\",\"iceberg-field-name\":\"A b\",\"field-id\":\"8\",\"default\":null,"
		   "\"type\":[\"null\",{\"type\":\"array\",\"element-id\":9,\"items\":\"long\"}]},"
		   "{\"name\":\"m.with.dots\",\"type\":{\"type\":\"map\",\"key-id\":10,\"value-id\":11,"
		   "\"values\":\"bytes\"}},"
		   "{\"name\":\"p\",\"field-id\":-3,\"type\":{\"type\":\"array\",\"logicalType\":\"map\","
		   "\"items\":{\"type\":\"record\",\"name\":\"k1_v2\",\"fields\":["
		   "{\"name\":\"key\",\"type\":\"int\",\"field-id\":1},"
		   "{\"name\":\"value\",\"type\":\"string\",\"field-id\":2}]}}},"
		   "{\"name\":\"ts\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-micros\","
		   "\"adjust-to-utc\":true}},"
		   "{\"name\":\"d\",\"type\":{\"type\":\"fixed\",\"name\":\"d4\",\"size\":4,"
		   "\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}},"
		   "{\"name\":\"bad\",\"type\":{\"type\":\"bytes\",\"logicalType\":\"decimal\","
		   "\"precision\":2,\"scale\":9}}]}");

	REQUIRE(s != NULL);
	REQUIRE(s->n_children == 7);
	EXPECT_STR(s->name, "t");
	EXPECT_EQ(s->field_ids[0], 7);
	EXPECT_STR(s->field_names[1], "A b");
	EXPECT_EQ(s->field_ids[1], 8);
	EXPECT_EQ(s->children[1]->children[1]->element_id, 9);
	EXPECT_STR(s->field_names[2], "m.with.dots");
	EXPECT_EQ(s->children[2]->key_id, 10);
	EXPECT_EQ(s->children[2]->value_id, 11);
	EXPECT_EQ(s->field_ids[2], 0);
	EXPECT_EQ(s->field_ids[3], 0);
	EXPECT_STR(s->children[3]->logical_type, "map");
	EXPECT(s->children[4]->adjust_to_utc);
	EXPECT_STR(s->children[4]->logical_type, "timestamp-micros");
	EXPECT_EQ(s->children[5]->precision, 9);
	EXPECT_EQ(s->children[5]->scale, 2);
	EXPECT_EQ(s->children[5]->fixed_size, 4);
	EXPECT(s->children[6]->logical_type == NULL);
	EXPECT_EQ(s->min_bytes, 1 + 1 + 1 + 1 + 1 + 4 + 1);
}

TEST(avro_schema_namespaces)
{
	BfArena *a = test_arena();
	BfAvroSchema *s =
		parse(a, "{\"type\":\"record\",\"name\":\"t\",\"namespace\":\"n.s\",\"fields\":["
				 "{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":\"f\",\"size\":1}},"
				 "{\"name\":\"b\",\"type\":\"f\"},"
				 "{\"name\":\"c\",\"type\":\"n.s.f\"},"
				 "{\"name\":\"d\",\"type\":{\"type\":\"fixed\",\"name\":\"o.f\",\"size\":2}},"
				 "{\"name\":\"e\",\"type\":{\"type\":\"f\",\"logicalType\":\"ignored\"}},"
				 "{\"name\":\"g\",\"type\":{\"type\":\"record\",\"name\":\"i\",\"namespace\":\"o\","
				 "\"fields\":[{\"name\":\"a\",\"type\":\"f\"}]}},"
				 "{\"name\":\"h\",\"type\":[\"null\",\"t\"]},"
				 "{\"name\":\"i\",\"type\":{\"type\":\"enum\",\"name\":\"z\",\"namespace\":\"\","
				 "\"symbols\":[\"A\"]}},"
				 "{\"name\":\"j\",\"type\":\"z\"}]}");

	REQUIRE(s != NULL);
	EXPECT_STR(s->name, "n.s.t");
	EXPECT_STR(s->children[0]->name, "n.s.f");
	EXPECT(s->children[1] == s->children[0]);
	EXPECT(s->children[2] == s->children[0]);
	EXPECT(s->children[4] == s->children[0]);
	EXPECT(s->children[0]->logical_type == NULL);
	EXPECT_STR(s->children[3]->name, "o.f");
	EXPECT(s->children[5]->children[0] == s->children[3]);
	EXPECT(s->children[6]->children[1] == s);
	EXPECT_STR(s->children[7]->name, "z");
	EXPECT(s->children[8] == s->children[7]);
}

TEST(avro_schema_refused)
{
	static const struct
	{
		const char *json;
		BfStatus code;
		int64_t offset;
	} cases[] = {
		{"", BF_ERR_CORRUPT, 0},
		{"{\"type\":", BF_ERR_CORRUPT, 8},
		{"{} x", BF_ERR_CORRUPT, 4},
		{"7", BF_ERR_CORRUPT, -1},
		{"null", BF_ERR_CORRUPT, -1},
		{"{}", BF_ERR_CORRUPT, -1},
		{"[]", BF_ERR_CORRUPT, -1},
		{"[[\"int\"]]", BF_ERR_CORRUPT, -1},
		{"[{\"type\":[\"int\"]}]", BF_ERR_CORRUPT, -1},
		{"\"unheard\"", BF_ERR_CORRUPT, -1},
		{"\"record\"", BF_ERR_CORRUPT, -1},
		{"{\"type\":\"record\",\"name\":\"r\"}", BF_ERR_CORRUPT, -1},
		{"{\"type\":\"record\",\"fields\":[]}", BF_ERR_CORRUPT, -1},
		{"{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"type\":\"int\"}]}", BF_ERR_CORRUPT,
		 -1},
		{"{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"x\"}]}", BF_ERR_CORRUPT, -1},
		{"{\"type\":\"record\",\"name\":\"r\",\"fields\":[7]}", BF_ERR_CORRUPT, -1},
		{"{\"type\":\"array\"}", BF_ERR_CORRUPT, -1},
		{"{\"type\":\"map\"}", BF_ERR_CORRUPT, -1},
		{"{\"type\":\"enum\",\"name\":\"e\"}", BF_ERR_CORRUPT, -1},
		{"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[1]}", BF_ERR_CORRUPT, -1},
		{"{\"type\":\"fixed\",\"name\":\"f\"}", BF_ERR_CORRUPT, -1},
		{"{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}", BF_ERR_CORRUPT, -1},
		{"{\"type\":\"fixed\",\"name\":\"f\",\"size\":2147483648}", BF_ERR_CORRUPT, -1},
		{"[{\"type\":\"fixed\",\"name\":\"f\",\"size\":1},{\"type\":\"fixed\",\"name\":\"f\","
		 "\"size\":1}]",
		 BF_ERR_CORRUPT, -1},
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfAvroSchema *s;

		bf_error_clear(&test_err);
		EXPECT_FAIL(bf_avro_schema_parse(a, cases[i].json, strlen(cases[i].json), &s, &test_err),
					cases[i].code, cases[i].offset);
	}
}

/* What is no JSON may be of any file: no word of it is said. */
TEST(avro_schema_quotes_nothing)
{
	static const char *const texts[] = {"sEcReT", "{\"type\": sEcReT}", "\"int\" sEcReT",
										"{\"sEcReT", "[\"sEcReT\\q\"]"};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
	{
		BfAvroSchema *s;

		bf_error_clear(&test_err);
		EXPECT(bf_avro_schema_parse(test_arena(), texts[i], strlen(texts[i]), &s, &test_err) ==
			   BF_ERR_CORRUPT);
		EXPECT(strstr(test_err.text, "sEcReT") == NULL);
	}
}

/* `depth` arrays around "int". */
static const char *
nested_arrays(BfArena *a, int depth)
{
	BfBuffer *b;

	if (bf_buffer_new(a, 1 << 20, &b, &test_err) != BF_OK)
		return "";
	for (int i = 0; i < depth; i++)
		if (bf_buffer_printf(b, &test_err, "{\"type\":\"array\",\"items\":") != BF_OK)
			return "";
	if (bf_buffer_printf(b, &test_err, "\"int\"") != BF_OK)
		return "";
	for (int i = 0; i < depth; i++)
		if (bf_buffer_printf(b, &test_err, "}") != BF_OK)
			return "";
	if (bf_buffer_u8(b, 0, &test_err) != BF_OK)
		return "";
	return (const char *) b->data;
}

TEST(avro_schema_bounds)
{
	BfArena *a = test_arena();
	BfAvroSchema *s;
	const char *deep = nested_arrays(a, BF_AVRO_DEPTH_MAX);
	const char *too_deep = nested_arrays(a, BF_AVRO_DEPTH_MAX + 1);
	BfBuffer *b;

	EXPECT(parse(a, deep) != NULL);
	EXPECT_FAIL(bf_avro_schema_parse(a, too_deep, strlen(too_deep), &s, &test_err), BF_ERR_LIMIT,
				-1);

	REQUIRE_OK(bf_buffer_new(a, 1 << 24, &b, &test_err));
	REQUIRE_OK(bf_buffer_printf(b, &test_err, "[\"null\""));
	for (int i = 0; i < BF_AVRO_NODES_MAX; i++)
		REQUIRE_OK(bf_buffer_append(b, ",\"null\"", 7, &test_err));
	REQUIRE_OK(bf_buffer_printf(b, &test_err, "]"));
	EXPECT(bf_avro_schema_parse(a, (char *) b->data, b->len, &s, &test_err) != BF_OK);
}
