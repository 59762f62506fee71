/* Nested vectors: values to vectors and back, mappings between a file's fields and a table's. */
#include "unit/lib/runner.h"
#include "vec/mapping.h"

/* An array of values as the view of a nested one. */
#define NESTED(k, ...)                                                        \
	((BfValue){                                                               \
		.type = BF_TYPE(k),                                                   \
		.v.view = {(const uint8_t *) (const BfValue[]){__VA_ARGS__},          \
				   sizeof((const BfValue[]){__VA_ARGS__}) / sizeof(BfValue)}, \
	})
#define EMPTY(k) ((BfValue){.type = BF_TYPE(k)})
#define NULL_OF(k) ((BfValue){.is_null = true, .type = BF_TYPE(k)})
#define INT(x) ((BfValue){.type = BF_TYPE(INT32), .v.i32 = (x)})
#define LONG(x) ((BfValue){.type = BF_TYPE(INT64), .v.i64 = (x)})
#define TEXT(x) \
	((BfValue){.type = BF_TYPE(STRING), .v.view = {(const uint8_t *) (x), sizeof(x) - 1}})

static void
to_text(const BfValue *v, char *buf, size_t size)
{
	size_t used = strlen(buf);

	if (v->is_null)
		snprintf(buf + used, size - used, "null");
	else if (bf_type_storage(v->type) == BF_STORE_NESTED)
	{
		snprintf(buf + used, size - used, "%c",
				 "({["[v->type.kind == BF_KIND_STRUCT ? 0
					   : v->type.kind == BF_KIND_MAP  ? 1
													  : 2]);
		for (uint32_t i = 0; i < v->v.view.len; i++)
		{
			if (i > 0)
				strncat(buf, ",", size - strlen(buf) - 1);
			to_text(&bf_value_children(v)[i], buf, size);
		}
		strncat(buf,
				v->type.kind == BF_KIND_STRUCT ? ")"
				: v->type.kind == BF_KIND_MAP  ? "}"
											   : "]",
				size - strlen(buf) - 1);
	}
	else if (v->type.kind == BF_KIND_STRING)
		snprintf(buf + used, size - used, "%.*s", (int) v->v.view.len,
				 (const char *) v->v.view.ptr);
	else if (bf_type_storage(v->type) == BF_STORE_I32)
		snprintf(buf + used, size - used, "%d", v->v.i32);
	else
		snprintf(buf + used, size - used, "%lld", (long long) v->v.i64);
}

static const char *
row_text(const BfVector *v, int32_t row)
{
	static char buf[1024];
	BfValue value;

	buf[0] = '\0';
	if (bf_vector_value(test_arena(), v, row, &value, &test_err) != BF_OK)
		return "?";
	to_text(&value, buf, sizeof buf);
	return buf;
}

static BfField int_field = {.id = 3, .name = "element", .type = {.kind = BF_KIND_INT32}};
static BfField pair_fields[] = {
	{.id = 1, .name = "key", .type = {.kind = BF_KIND_STRING}, .required = true},
	{.id = 2, .name = "value", .type = {.kind = BF_KIND_INT32}},
};
static BfField struct_fields[] = {
	{.id = 11, .name = "a", .type = {.kind = BF_KIND_INT32}},
	{.id = 12,
	 .name = "b",
	 .type = {.kind = BF_KIND_LIST},
	 .children = &int_field,
	 .n_children = 1},
	{.id = 13,
	 .name = "m",
	 .type = {.kind = BF_KIND_MAP},
	 .children = pair_fields,
	 .n_children = 2},
};
static const BfField a_struct = {.id = 10,
								 .name = "s",
								 .type = {.kind = BF_KIND_STRUCT},
								 .children = struct_fields,
								 .n_children = 3};

TEST(vec_nested_constants)
{
	BfArena *a = test_arena();
	BfValue value = NESTED(STRUCT, INT(7), NESTED(LIST, INT(1), NULL_OF(INT32), INT(3)),
						   NESTED(MAP, TEXT("x"), INT(5), TEXT("y"), NULL_OF(INT32)));
	BfValue partly = NESTED(STRUCT, INT(7), EMPTY(LIST), NULL_OF(MAP));
	BfValue null = NULL_OF(STRUCT);
	BfVector v;

	REQUIRE_OK(bf_vector_init_const(a, &v, &a_struct, &value, 5000, &test_err));
	EXPECT_STR(row_text(&v, 0), "(7,[1,null,3],{x,5,y,null})");
	EXPECT_STR(row_text(&v, 4999), "(7,[1,null,3],{x,5,y,null})");
	REQUIRE_OK(bf_vector_init_const(a, &v, &a_struct, &partly, 2, &test_err));
	EXPECT_STR(row_text(&v, 1), "(7,[],null)");
	REQUIRE_OK(bf_vector_init_const(a, &v, &a_struct, &null, 2, &test_err));
	EXPECT_STR(row_text(&v, 1), "null");
	bf_vector_set_null(&v, BF_TYPE(LIST), 100000);
	EXPECT_STR(row_text(&v, 99999), "null");
}

TEST(vec_nested_buffers_grow)
{
	BfArena *a = test_arena();
	BfVector v;

	REQUIRE_OK(bf_vector_init_field(a, &v, &a_struct, 10, &test_err));
	EXPECT_EQ(v.n_children, 3);
	EXPECT_EQ(v.children[1].children[0].capacity, 10);
	REQUIRE_OK(bf_vector_reserve(a, &v.children[1].children[0], 11, &test_err));
	EXPECT_EQ(v.children[1].children[0].capacity, 20);
	REQUIRE_OK(bf_vector_reserve(a, &v.children[1].children[0], 10000, &test_err));
	v.children[1].children[0].data.i32[9999] = 1;
	EXPECT(bf_valid(v.children[1].children[0].validity, 9999));
	REQUIRE_OK(bf_vector_reserve(a, &v.children[1], 10000, &test_err));
	v.children[1].offsets[10000] = 1;
}

/* Three structs; the second is NULL. */
static BfStatus
three_structs(BfArena *a, BfVector *v, BfError *err)
{
	BF_TRY(bf_vector_init_field(a, v, &a_struct, BF_BATCH_ROWS, err));
	v->n = 3;
	bf_validity_set(v->validity, 1, false);
	for (int i = 0; i < 3; i++)
	{
		v->children[i].n = 3;
		v->children[0].data.i32[i] = 10 * i;
	}
	memcpy(v->children[1].offsets, (int32_t[]){0, 2, 2, 3}, 16);
	v->children[1].children[0].n = 3;
	for (int i = 0; i < 3; i++)
		v->children[1].children[0].data.i32[i] = i + 1;
	bf_validity_set(v->children[1].children[0].validity, 1, false);
	memcpy(v->children[2].offsets, (int32_t[]){0, 0, 0, 1}, 16);
	bf_validity_set(v->children[2].validity, 0, false);
	v->children[2].children[0].n = v->children[2].children[1].n = 1;
	v->children[2].children[0].data.view[0] = (BfView){(const uint8_t *) "k", 1};
	v->children[2].children[1].data.i32[0] = 9;
	return BF_OK;
}

TEST(vec_mapping_nested)
{
	BfArena *a = test_arena();
	BfField wide = {.id = 3, .name = "item", .type = {.kind = BF_KIND_INT64}};
	BfField pairs[] = {
		{.id = 1, .name = "k", .type = {.kind = BF_KIND_STRING}},
		{.id = 2, .name = "v", .type = {.kind = BF_KIND_DECIMAL, .precision = 12, .scale = 0}},
	};
	/* Other order and names, one dropped and two added. */
	BfField want[] = {
		{.id = 13, .name = "mm", .type = {.kind = BF_KIND_MAP}, .children = pairs, .n_children = 2},
		{.id = 20, .name = "added", .type = {.kind = BF_KIND_STRING}},
		{.id = 12, .name = "a", .type = {.kind = BF_KIND_LIST}, .children = &wide, .n_children = 1},
		{.id = 21,
		 .name = "with default",
		 .type = {.kind = BF_KIND_INT64},
		 .required = true,
		 .has_default = true,
		 .initial_default = LONG(42)},
	};
	BfField to = {
		.id = 10, .name = "t", .type = {.kind = BF_KIND_STRUCT}, .children = want, .n_children = 4};
	BfMapping *m;
	const BfMapping *child;
	BfVector src, dst;

	REQUIRE_OK(three_structs(a, &src, &test_err));
	EXPECT_STR(row_text(&src, 0), "(0,[1,null],null)");
	REQUIRE_OK(bf_mapping_new(a, &a_struct, &a_struct, true, &m, &test_err));
	EXPECT(bf_mapping_is_identity(m));
	REQUIRE_OK(bf_mapping_new(a, &a_struct, &to, true, &m, &test_err));
	EXPECT(!bf_mapping_is_identity(m));
	EXPECT_EQ(bf_mapping_child(m, 0, &child), 2);
	EXPECT_EQ(bf_mapping_child(m, 1, &child), -1);
	for (int twice = 0; twice < 2; twice++)
	{
		REQUIRE_OK(bf_mapping_apply(m, &src, &dst, &test_err));
		EXPECT_STR(row_text(&dst, 0), "(null,null,[1,null],42)");
		EXPECT_STR(row_text(&dst, 1), "null");
		EXPECT_STR(row_text(&dst, 2), "({k,9},null,[3],42)");
	}
	bf_vector_set_null(&src, BF_TYPE(STRUCT), 7);
	REQUIRE_OK(bf_mapping_apply(m, &src, &dst, &test_err));
	EXPECT_EQ(dst.n, 7);
	EXPECT_STR(row_text(&dst, 6), "null");
}

/* Ids elsewhere in the file don't say that it lacks the members of a struct that has none. */
TEST(vec_mapping_members_without_ids)
{
	BfArena *a = test_arena();
	BfField members[] = {{.name = "x", .type = {.kind = BF_KIND_INT64}},
						 {.name = "y", .type = {.kind = BF_KIND_INT64}}};
	BfField wanted[] = {{.id = 21, .name = "x", .type = {.kind = BF_KIND_INT64}},
						{.id = 22, .name = "z", .type = {.kind = BF_KIND_INT64}}};
	BfField from = {.id = 10,
					.name = "s",
					.type = {.kind = BF_KIND_STRUCT},
					.children = members,
					.n_children = 2};
	BfField to = from;
	const BfMapping *child;
	BfMapping *m;

	to.children = wanted;
	EXPECT_FAIL(bf_mapping_new(a, &from, &to, true, &m, &test_err), BF_ERR_UNSUPPORTED, -1);
	wanted[0].mapped = wanted[1].mapped = true;
	EXPECT_FAIL(bf_mapping_new(a, &from, &to, true, &m, &test_err), BF_ERR_UNSUPPORTED, -1);
	members[1].id = 21;
	REQUIRE_OK(bf_mapping_new(a, &from, &to, true, &m, &test_err));
	EXPECT_EQ(bf_mapping_child(m, 0, &child), 1);
	EXPECT_EQ(bf_mapping_child(m, 1, &child), -1);
}

/* A field without an id, by the ids of its parts. */
TEST(vec_mapping_ids_of_parts)
{
	BfField key[] = {{.id = 3, .name = "k", .type = {.kind = BF_KIND_INT32}},
					 {.id = 4, .name = "v", .type = {.kind = BF_KIND_INT32}}};
	BfField fields[] = {
		{.id = 9, .name = "x", .type = {.kind = BF_KIND_MAP}, .children = key, .n_children = 2},
		{.name = "x", .type = {.kind = BF_KIND_STRUCT}, .children = key, .n_children = 2},
		{.name = "x", .type = {.kind = BF_KIND_MAP}, .children = key, .n_children = 2},
		{.id = 2, .name = "x", .type = {.kind = BF_KIND_MAP}, .children = key, .n_children = 2}};
	BfField parts[] = {key[0], key[1]};
	BfField want = {
		.id = 2, .name = "m", .type = {.kind = BF_KIND_MAP}, .children = parts, .n_children = 2};
	int32_t at;

	/* Its own id comes first. */
	REQUIRE_OK(bf_field_find(fields, 4, true, &want, &at, &test_err));
	EXPECT_EQ(at, 3);
	REQUIRE_OK(bf_field_find(fields, 3, true, &want, &at, &test_err));
	EXPECT_EQ(at, 2);
	REQUIRE_OK(bf_field_find(fields, 2, true, &want, &at, &test_err));
	EXPECT_EQ(at, -1);
	/* A key's id is no value's. */
	parts[0].id = 4;
	parts[1].id = 3;
	REQUIRE_OK(bf_field_find(fields, 3, true, &want, &at, &test_err));
	EXPECT_EQ(at, -1);
	want.type.kind = BF_KIND_STRUCT;
	REQUIRE_OK(bf_field_find(fields, 3, true, &want, &at, &test_err));
	EXPECT_EQ(at, 1);
	/* One part will do, others may have come since. */
	parts[0].id = 33;
	REQUIRE_OK(bf_field_find(fields, 3, true, &want, &at, &test_err));
	EXPECT_EQ(at, 1);
	parts[1].id = 44;
	REQUIRE_OK(bf_field_find(fields, 3, true, &want, &at, &test_err));
	EXPECT_EQ(at, -1);
}

TEST(vec_mapping_refuses)
{
	BfArena *a = test_arena();
	BfField text = {.id = 3, .name = "element", .type = {.kind = BF_KIND_STRING}};
	BfField other = {.id = 4, .name = "element", .type = {.kind = BF_KIND_INT32}};
	BfField list = {
		.id = 12, .name = "b", .type = {.kind = BF_KIND_LIST}, .children = &text, .n_children = 1};
	BfField more = {.id = 99, .name = "z", .type = {.kind = BF_KIND_INT32}, .required = true};
	BfField whole = {.id = 10,
					 .name = "s",
					 .type = {.kind = BF_KIND_STRUCT},
					 .children = &more,
					 .n_children = 1};
	BfMapping *m;

	EXPECT_FAIL(bf_mapping_new(a, &struct_fields[1], &list, true, &m, &test_err),
				BF_ERR_UNSUPPORTED, -1);
	list.children = &other;
	EXPECT_FAIL(bf_mapping_new(a, &struct_fields[1], &list, true, &m, &test_err),
				BF_ERR_UNSUPPORTED, -1);
	EXPECT_FAIL(bf_mapping_new(a, &struct_fields[0], &list, true, &m, &test_err),
				BF_ERR_UNSUPPORTED, -1);
	EXPECT_FAIL(bf_mapping_new(a, &a_struct, &whole, true, &m, &test_err), BF_ERR_CORRUPT, -1);
	more.required = false;
	EXPECT_EQ(bf_mapping_new(a, &a_struct, &whole, true, &m, &test_err), BF_OK);
	/* Without ids only names count, and these are none of the file's. */
	more = (BfField){.name = "A", .type = {.kind = BF_KIND_INT64}};
	EXPECT_EQ(bf_mapping_new(a, &a_struct, &whole, true, &m, &test_err), BF_OK);
	EXPECT_EQ(bf_mapping_child(m, 0, &(const BfMapping *){NULL}), 0);
}

TEST(vec_map_without_values)
{
	BfArena *a = test_arena();
	BfField from = {.id = 1,
					.name = "m",
					.type = {.kind = BF_KIND_MAP},
					.children = pair_fields,
					.n_children = 1};
	BfField to = {.id = 1,
				  .name = "m",
				  .type = {.kind = BF_KIND_MAP},
				  .children = pair_fields,
				  .n_children = 2};
	BfMapping *m;
	BfVector src, dst;

	REQUIRE_OK(bf_vector_init_field(a, &src, &from, 10, &test_err));
	src.n = 2;
	memcpy(src.offsets, (int32_t[]){0, 1, 2}, 12);
	src.children[0].n = 2;
	src.children[0].data.view[0] = (BfView){(const uint8_t *) "a", 1};
	src.children[0].data.view[1] = (BfView){(const uint8_t *) "b", 1};
	REQUIRE_OK(bf_mapping_new(a, &from, &to, false, &m, &test_err));
	REQUIRE_OK(bf_mapping_apply(m, &src, &dst, &test_err));
	EXPECT_STR(row_text(&dst, 0), "{a,null}");
	EXPECT_STR(row_text(&dst, 1), "{b,null}");
}
