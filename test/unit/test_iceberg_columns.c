/* Columns of other times: which column of a snapshot a reader's column is. */
#include "iceberg/columns.h"

#include "io/publish.h"
#include "unit/lib/runner.h"

#define FIELD(id, name, type) \
	"{\"id\":" #id ",\"name\":\"" name "\",\"type\":\"" type "\",\"required\":false}"

/* a became x and a long; b was dropped, a new b came; c came and went; d has a default. */
static const char text[] =
	"{\"format-version\":3,\"table-uuid\":\"u\",\"location\":\"/t\",\"last-updated-ms\":9,"
	"\"last-sequence-number\":3,\"last-column-id\":7,\"next-row-id\":0,\"current-schema-id\":2,"
	"\"schemas\":["
	"{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"a\",\"type\":\"int\","
	"\"required\":true}," FIELD(
		2, "b",
		"string") "]},"
				  "{\"type\":\"struct\",\"schema-id\":1,\"fields\":[" FIELD(
					  1, "x",
					  "long") "," FIELD(4, "c",
										"date") "]},"
												"{\"type\":\"struct\",\"schema-id\":2,"
												"\"fields\":[{\"id\":7,\"name\":\"d\","
												"\"type\":\"int\","
												"\"required\":true,\"initial-default\":5}"
												"," FIELD(6, "b", "double") "," FIELD(
													1, "x",
													"long") "]}],"
															"\"default-spec-id\":0,"
															"\"partition-specs\":[{\"spec-"
															"id\":0,\"fields\":[]}],"
															"\"last-partition-id\":999,"
															"\"default-sort-order-id\":0,"
															"\"sort-orders\":[{\"order-id\":0,"
															"\"fields\":[]}],\"properties\":{}"
															",\"current-snapshot-id\":12,"
															"\"snapshots\":["
															"{\"snapshot-id\":10,\"sequence-"
															"number\":1,\"timestamp-ms\":1,"
															"\"schema-id\":0,"
															"\"manifest-list\":\"/t/metadata/"
															"l\",\"summary\":{\"operation\":"
															"\"append\"}},"
															"{\"snapshot-id\":11,\"parent-"
															"snapshot-id\":10,\"sequence-"
															"number\":2,\"timestamp-ms\":2,"
															"\"schema-id\":1,\"manifest-"
															"list\":\"/t/metadata/"
															"l\",\"summary\":{\"operation\":"
															"\"append\"}},"
															"{\"snapshot-id\":12,\"parent-"
															"snapshot-id\":11,\"sequence-"
															"number\":3,\"timestamp-ms\":3,"
															"\"schema-id\":2,\"manifest-"
															"list\":\"/t/metadata/"
															"l\",\"summary\":{\"operation\":"
															"\"append\"}}],"
															"\"refs\":{\"main\":{\"snapshot-"
															"id\":12,\"type\":\"branch\"},"
															"\"old\":{\"snapshot-id\":10,"
															"\"type\":\"branch\"},"
															"\"tag\":{\"snapshot-id\":10,"
															"\"type\":\"tag\"}}}";

static BfIceTable *
table(void)
{
	const char *path = test_path("metadata/v1.metadata.json");
	BfIceTable *t = NULL;

	if (bf_publish_bytes(test_arena(), path, text, strlen(text), &test_err) != BF_OK ||
		bf_ice_load(test_arena(), path, NULL, &t, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return t;
}

/* The column that id or name are at a point, as "name:id". */
static const char *
found(const BfIceTable *t, BfIceAt at, int32_t id, const char *name)
{
	BfArena *a = test_arena();
	const BfSchema *columns;
	BfIcePoint p;
	int32_t i;

	if (bf_ice_at_resolve(t, &at, &p, &test_err) != BF_OK ||
		bf_ice_point_columns(a, t, &p, &columns, &test_err) != BF_OK)
		return test_err.text;
	i = bf_ice_column_find(t, &p, columns, id, name);
	return i < 0 ? "none"
				 : bf_arena_printf(a, "%s:%d", columns->fields[i].name, columns->fields[i].id);
}

#define SNAPSHOT(id) ((BfIceAt){.kind = BF_ICE_AT_SNAPSHOT, .snapshot_id = (id)})
#define REF(name) ((BfIceAt){.kind = BF_ICE_AT_REF, .ref = (name)})
#define NOW ((BfIceAt){.kind = BF_ICE_AT_CURRENT})

TEST(iceberg_columns_by_id)
{
	BfIceTable *t = table();

	REQUIRE(t != NULL);
	EXPECT_STR(found(t, SNAPSHOT(10), 1, "x"), "a:1");
	EXPECT_STR(found(t, SNAPSHOT(11), 1, "a"), "x:1");
	EXPECT_STR(found(t, SNAPSHOT(10), 2, "b"), "b:2");
	EXPECT_STR(found(t, SNAPSHOT(10), 6, "b"), "b:-6");
	EXPECT_STR(found(t, SNAPSHOT(10), 4, "b"), "c:-4");
	EXPECT_STR(found(t, SNAPSHOT(12), 2, "b"), "b:-2");
	EXPECT_STR(found(t, SNAPSHOT(10), 3, "a"), "none");
	EXPECT_STR(found(t, SNAPSHOT(10), 7, "a"), "d:-7");
}

TEST(iceberg_columns_by_name)
{
	BfIceTable *t = table();

	REQUIRE(t != NULL);
	EXPECT_STR(found(t, SNAPSHOT(10), 0, "a"), "a:1");
	EXPECT_STR(found(t, SNAPSHOT(10), 0, "x"), "a:1");
	EXPECT_STR(found(t, SNAPSHOT(10), 0, "b"), "b:2");	/* of then */
	EXPECT_STR(found(t, SNAPSHOT(11), 0, "b"), "b:-6"); /* of now, before an older one */
	EXPECT_STR(found(t, SNAPSHOT(11), 0, "a"), "x:1");
	EXPECT_STR(found(t, SNAPSHOT(11), 0, "C"), "c:4");
	EXPECT_STR(found(t, SNAPSHOT(12), 0, "C"), "c:-4");
	EXPECT_STR(found(t, SNAPSHOT(12), 0, "e"), "none");
	EXPECT_STR(found(t, REF("tag"), 0, "d"), "d:-7");
	EXPECT_STR(found(t, (BfIceAt){.kind = BF_ICE_AT_TIME, .time_ms = 1}, 0, "d"), "d:-7");
}

/* Branches have the schema of now, and nothing else is known of it. */
TEST(iceberg_columns_of_now)
{
	BfIceTable *t = table();

	REQUIRE(t != NULL);
	EXPECT_STR(found(t, NOW, 0, "d"), "d:7");
	EXPECT_STR(found(t, NOW, 0, "B"), "b:6");
	EXPECT_STR(found(t, NOW, 0, "c"), "none");
	EXPECT_STR(found(t, NOW, 2, "b"), "none");
	EXPECT_STR(found(t, REF("old"), 0, "x"), "x:1");
	EXPECT_STR(found(t, REF("old"), 0, "a"), "none");
	EXPECT_STR(found(t, REF("old"), 4, "c"), "none");
}

TEST(iceberg_columns_that_are_absent)
{
	BfIceTable *t = table();
	const BfSchema *columns;
	BfIcePoint p;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_at_resolve(t, &SNAPSHOT(10), &p, &test_err));
	EXPECT(p.past && p.schema->schema_id == 0);
	REQUIRE_OK(bf_ice_point_columns(test_arena(), t, &p, &columns, &test_err));
	/* a b | d b x of now: d and b; c */
	EXPECT_EQ(columns->n_fields, 5);
	EXPECT_STR(columns->fields[2].name, "d");
	EXPECT(!columns->fields[2].required && !columns->fields[2].has_default);
	EXPECT(columns->fields[2].mapped);
	EXPECT_EQ(columns->fields[3].type.kind, BF_KIND_FLOAT64);
	EXPECT_EQ(columns->fields[4].type.kind, BF_KIND_DATE);
	EXPECT(columns->fields[0].required);
	REQUIRE_OK(bf_ice_at_resolve(t, &NOW, &p, &test_err));
	REQUIRE_OK(bf_ice_point_columns(test_arena(), t, &p, &columns, &test_err));
	EXPECT(columns == p.schema);
}

/* Thousands of schemas of many columns: a schema costs what its columns do. */
TEST(iceberg_columns_of_many_schemas)
{
	BfArena *a = test_arena();
	BfIceTable *t = table();
	BfIceMetadata metadata;
	BfIceTable many;
	const BfSchema *columns;
	BfIcePoint p;
	int32_t n = 3000;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_at_resolve(t, &SNAPSHOT(10), &p, &test_err));
	metadata = *t->metadata;
	many = *t;
	many.metadata = &metadata;
	metadata.schemas.n = n;
	metadata.schemas.all = bf_arena_alloc_array(a, (size_t) n, sizeof *metadata.schemas.all);
	REQUIRE(metadata.schemas.all != NULL);
	for (int32_t i = 0; i < n; i++)
	{
		BfSchema *s = &metadata.schemas.all[i];

		s->schema_id = i;
		s->n_fields = 200;
		s->fields = bf_arena_alloc_array(a, 200, sizeof *s->fields);
		REQUIRE(s->fields != NULL);
		for (int32_t k = 0; k < 200; k++)
			s->fields[k] = (BfField){.id = 100 + i + k, .name = "c", .type = BF_TYPE(INT32)};
	}
	REQUIRE_OK(bf_ice_point_columns(a, &many, &p, &columns, &test_err));
	EXPECT_EQ(columns->n_fields, 4 + n + 199);
	EXPECT_EQ(columns->fields[4].id, -(100 + n - 1));
	EXPECT_EQ(bf_ice_column_find(&many, &p, columns, 100, "x"), 4 + n + 198);
}
