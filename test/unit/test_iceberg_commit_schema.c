/* Changes of columns: what becomes the current schema, what is kept, what is refused. */
#include "iceberg/commit.h"

#include "iceberg/internal.h"
#include "unit/lib/runner.h"

/* Keys of other programs, a name mapping, metrics by name, a schema of before, a sort order. */
static const char table[] =
	"{\"format-version\":2,\"table-uuid\":\"9c12d441-03fe-4693-9a96-a0705ddf69c1\",\"location\":"
	"\"/t\",\"last-sequence-number\":5,\"last-updated-ms\":1,\"last-column-id\":9,"
	"\"schemas\":["
	"{\"type\":\"struct\",\"schema-id\":3,\"fields\":["
	"{\"id\":1,\"name\":\"a\",\"type\":\"int\",\"required\":true}]},"
	"{\"type\":\"struct\",\"schema-id\":1,\"identifier-field-ids\":[1],\"fields\":["
	"{\"id\":1,\"name\":\"a\",\"type\":\"int\",\"required\":true,\"doc\":\"kept\",\"x\":7},"
	"{\"id\":2,\"name\":\"d\",\"type\":\"date\",\"required\":false},"
	"{\"id\":4,\"name\":\"s\",\"type\":\"string\",\"required\":false},"
	"{\"id\":5,\"name\":\"f\",\"type\":\"float\",\"required\":false},"
	"{\"id\":6,\"name\":\"n\",\"type\":\"decimal(6,2)\",\"required\":false}]}],"
	"\"current-schema-id\":1,\"partition-specs\":[{\"spec-id\":0,\"fields\":[{\"source-id\":2,"
	"\"name\":\"d\",\"transform\":\"identity\",\"field-id\":1000}]}],\"default-spec-id\":0,"
	"\"last-partition-id\":1000,\"default-sort-order-id\":2,\"sort-orders\":[{\"order-id\":0,"
	"\"fields\":[]},{\"order-id\":2,\"fields\":[{\"transform\":\"identity\",\"source-id\":4,"
	"\"direction\":\"asc\",\"null-order\":\"nulls-last\"}]}],"
	"\"properties\":{\"schema.name-mapping.default\":\"[{\\\"field-id\\\":1,\\\"names\\\":["
	"\\\"a\\\"]},"
	"{\\\"field-id\\\":5,\\\"names\\\":[\\\"f\\\",\\\"g\\\"]}]\","
	"\"write.metadata.metrics.column.f\":\"none\"},\"current-snapshot-id\":-1,\"theirs\":[1]}";

static BfIceTable *
load(const char *path)
{
	BfIceTable *t = NULL;

	if (bf_ice_load(test_arena(), path, NULL, &t, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return t;
}

static BfIceTable *
make(void)
{
	const char *path = test_path("metadata/00007-x.metadata.json");

	if (bf_publish_bytes(test_arena(), path, table, strlen(table), &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return load(path);
}

static BfStatus
change(const BfIceTable *t, BfIceColumnChange *c, int32_t n, BfIceTable **out)
{
	const char *path;
	BfStatus status = bf_ice_change_columns(test_arena(), t, c, n, &path, &test_err);

	if (status == BF_OK)
		*out = load(path);
	return status;
}

static const json_t *
current_json(const BfIceTable *t, size_t i)
{
	return json_array_get(json_object_get(t->metadata->json, "schemas"), i);
}

TEST(iceberg_columns_change)
{
	BfIceTable *t = make(), *now = NULL;
	BfIceColumnChange c[] = {
		{.kind = BF_ICE_COLUMN_RENAME, .id = 5, .field = {.name = "g"}},
		{.kind = BF_ICE_COLUMN_PROMOTE, .id = 1, .field = {.type = BF_TYPE(INT64)}},
		{.kind = BF_ICE_COLUMN_PROMOTE, .id = 5, .field = {.type = BF_TYPE(FLOAT64)}},
		{.kind = BF_ICE_COLUMN_PROMOTE,
		 .id = 6,
		 .field = {.type = {.kind = BF_KIND_DECIMAL, .precision = 38, .scale = 2}}},
		{.kind = BF_ICE_COLUMN_REQUIRE, .id = 6},
		{.kind = BF_ICE_COLUMN_ADD, .field = {.name = "f", .type = BF_TYPE(UUID), .doc = "new"}},
	};
	const json_t *schema;

	c[5].field.type.length = 16;
	REQUIRE(t != NULL);
	REQUIRE_OK(change(t, c, 6, &now));
	REQUIRE(now != NULL);
	EXPECT(strstr(now->metadata_path, "/00008-") != NULL);
	EXPECT_EQ(now->metadata->last_sequence_number, 5);
	EXPECT_EQ(now->metadata->snapshots.n, 0);
	EXPECT_EQ(now->metadata->last_column_id, 10);
	EXPECT_EQ(now->schema->schema_id, 4);
	REQUIRE(now->schema->n_fields == 6);
	EXPECT_EQ(now->schema->fields[0].type.kind, BF_KIND_INT64);
	EXPECT_STR(now->schema->fields[3].name, "g");
	EXPECT_EQ(now->schema->fields[3].type.kind, BF_KIND_FLOAT64);
	EXPECT_EQ(now->schema->fields[4].type.precision, 38);
	EXPECT(now->schema->fields[4].required);
	EXPECT_STR(now->schema->fields[5].name, "f");
	EXPECT_EQ(now->schema->fields[5].id, 10);
	EXPECT_EQ(c[5].id, 10);
	/* The first keeps its files' names, and "f" in files without ids is the new column's. */
	EXPECT_EQ(now->schema->fields[3].n_aliases, 1);
	EXPECT_STR(now->schema->fields[3].aliases[0], "g");
	EXPECT_EQ(now->schema->fields[5].n_aliases, 1);
	EXPECT_STR(now->schema->fields[5].aliases[0], "f");
	EXPECT_STR(bf_ice_property(now->metadata, "write.metadata.metrics.column.g"), "none");
	EXPECT(bf_ice_property(now->metadata, "write.metadata.metrics.column.f") == NULL);
	/* What we don't know stays. */
	schema = current_json(now, 2);
	EXPECT_EQ(json_integer_value(
				  json_object_get(json_array_get(json_object_get(schema, "fields"), 0), "x")),
			  7);
	EXPECT_EQ(json_array_size(json_object_get(schema, "identifier-field-ids")), 1);
	EXPECT(json_object_get(now->metadata->json, "theirs") != NULL);
	EXPECT_EQ(current_json(now, 1) != NULL && json_equal(current_json(now, 1), current_json(t, 1)),
			  true);
}

TEST(iceberg_columns_again)
{
	BfIceTable *t = make(), *one = NULL, *two = NULL;
	BfIceColumnChange add = {.kind = BF_ICE_COLUMN_ADD,
							 .field = {.name = "v", .type = BF_TYPE(INT32)}};
	BfIceColumnChange drop = {.kind = BF_ICE_COLUMN_DROP};

	REQUIRE(t != NULL);
	REQUIRE_OK(change(t, &add, 1, &one));
	REQUIRE(one != NULL);
	drop.id = add.id;
	REQUIRE_OK(change(one, &drop, 1, &two));
	REQUIRE(two != NULL);
	EXPECT_EQ(two->metadata->schemas.n, 3);
	EXPECT_EQ(two->metadata->schemas.current_id, 1);
	EXPECT_EQ(two->metadata->last_column_id, 10);
	/* And one of the same name is another column. */
	add.id = 0;
	REQUIRE_OK(change(two, &add, 1, &one));
	EXPECT_EQ(add.id, 11);
	EXPECT_EQ(one->metadata->schemas.n, 4);
}

TEST(iceberg_columns_refused)
{
	BfIceTable *t = make(), *now = NULL;
	static const struct
	{
		BfIceColumnChangeKind kind;
		int32_t id;
		BfField field;
		BfStatus status;
	} cases[] = {
		{BF_ICE_COLUMN_DROP, 2, {.id = 0}, BF_ERR_UNSUPPORTED},	 /* partitions */
		{BF_ICE_COLUMN_DROP, 4, {.id = 0}, BF_ERR_UNSUPPORTED},	 /* sorts */
		{BF_ICE_COLUMN_DROP, 1, {.id = 0}, BF_ERR_UNSUPPORTED},	 /* identifies */
		{BF_ICE_COLUMN_RELAX, 1, {.id = 0}, BF_ERR_UNSUPPORTED}, /* the same */
		{BF_ICE_COLUMN_DROP, 3, {.id = 0}, BF_ERR_NOTFOUND},
		{BF_ICE_COLUMN_RENAME, 5, {.name = "a"}, BF_ERR_VALUE},
		{BF_ICE_COLUMN_ADD, 0, {.name = "s", .type = BF_TYPE(DATE)}, BF_ERR_VALUE},
		{BF_ICE_COLUMN_ADD, 0, {.name = "x", .type = BF_TYPE(INT16)}, BF_ERR_UNSUPPORTED},
		{BF_ICE_COLUMN_PROMOTE, 1, {.type = BF_TYPE(INT32)}, BF_ERR_UNSUPPORTED},
		{BF_ICE_COLUMN_PROMOTE, 1, {.type = BF_TYPE(FLOAT64)}, BF_ERR_UNSUPPORTED},
		{BF_ICE_COLUMN_PROMOTE, 2, {.type = BF_TYPE(TIMESTAMP)}, BF_ERR_UNSUPPORTED},
		{BF_ICE_COLUMN_PROMOTE,
		 6,
		 {.type = {.kind = BF_KIND_DECIMAL, .precision = 5, .scale = 2}},
		 BF_ERR_UNSUPPORTED},
		{BF_ICE_COLUMN_PROMOTE,
		 6,
		 {.type = {.kind = BF_KIND_DECIMAL, .precision = 9, .scale = 3}},
		 BF_ERR_UNSUPPORTED},
		{BF_ICE_COLUMN_PROMOTE,
		 6,
		 {.type = {.kind = BF_KIND_DECIMAL, .precision = 39, .scale = 2}},
		 BF_ERR_UNSUPPORTED},
	};
	REQUIRE(t != NULL);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfIceColumnChange c = {.kind = cases[i].kind, .id = cases[i].id, .field = cases[i].field};

		bf_error_clear(&test_err);
		if (change(t, &c, 1, &now) != cases[i].status)
			test_fail(__FILE__, __LINE__, "case %zu: %s", i, test_err.text);
		EXPECT(test_err.object[0] != '\0');
	}
}

TEST(iceberg_columns_last)
{
	BfArena *a = test_arena();
	BfField one = {.name = "a", .type = BF_TYPE(INT32)};
	BfSchema schema = {.n_fields = 1, .fields = &one};
	BfIceColumnChange drop = {.kind = BF_ICE_COLUMN_DROP, .id = 1};
	BfIceTable *t, *now = NULL;
	const char *path;

	REQUIRE_OK(bf_ice_create(a, test_dir(), NULL, &schema, NULL, NULL, NULL, 0, &path, &test_err));
	t = load(path);
	REQUIRE(t != NULL);
	EXPECT_FAIL(change(t, &drop, 1, &now), BF_ERR_UNSUPPORTED, -1);
}
