/* Commits into tables of format version 1: the metadata becomes version 2, what it said stays. */
#include "iceberg/commit.h"

#include "iceberg/internal.h"
#include "unit/lib/runner.h"

static const char oldest[] =
	"{\"format-version\":1,\"location\":\"/t\",\"last-updated-ms\":1,\"last-column-id\":2,"
	"\"schema\":{\"type\":\"struct\",\"fields\":["
	"{\"id\":1,\"name\":\"a\",\"type\":\"long\",\"required\":true,\"doc\":\"kept\"},"
	"{\"id\":2,\"name\":\"d\",\"type\":\"date\",\"required\":false}]},"
	"\"partition-spec\":[{\"source-id\":2,\"name\":\"d\",\"transform\":\"identity\"}],"
	"\"properties\":{\"owner\":\"me\"},\"current-snapshot-id\":-1,\"of-another-program\":[1]}";

static BfIceTable *
table_at(const char *path, const char *text)
{
	BfArena *a = test_arena();
	BfIceTable *t = NULL;

	if (bf_publish_bytes(a, path, text, strlen(text), &test_err) != BF_OK ||
		bf_ice_load(a, path, NULL, &t, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return t;
}

static BfIceTable *
table_of(const char *text)
{
	return table_at(test_path("metadata/00007-x.metadata.json"), text);
}

static BfStatus
commit(const BfIceTable *t, const char **path)
{
	BfValue day = {.type = BF_TYPE(DATE), .v.i32 = 19000};
	BfIceNewFile file = {.path = "bifang://db/t/7_0-9.log",
						 .n_partition = 1,
						 .partition = &day,
						 .record_count = 10,
						 .file_size = 100};
	int64_t id;

	return bf_ice_commit_logical(test_arena(), t, &file, 1, NULL, path, &id, &test_err);
}

TEST(iceberg_commit_upgrades)
{
	BfArena *a = test_arena();
	BfIceTable *t = table_of(oldest), *t2 = NULL;
	const json_t *json;
	const BfIceSpec *spec;
	const char *path;
	BfIcePlan *plan;

	REQUIRE(t != NULL);
	EXPECT_EQ(t->metadata->format_version, 1);
	EXPECT_STR(t->metadata->uuid, "");
	REQUIRE_OK(commit(t, &path));
	EXPECT(strstr(path, "/00008-") != NULL);
	REQUIRE_OK(bf_ice_load(a, path, NULL, &t2, &test_err));
	EXPECT_EQ(t2->metadata->format_version, 2);
	EXPECT_EQ(strlen(t2->metadata->uuid), 36);
	EXPECT_STR(t2->schema->fields[0].doc, "kept");
	EXPECT(t2->schema->fields[0].required);
	spec = bf_ice_spec(t2->metadata, 0);
	REQUIRE(spec != NULL && spec->n_fields == 1);
	EXPECT_EQ(spec->fields[0].field_id, 1000);
	EXPECT_EQ(t2->metadata->specs.last_partition_id, 1000);
	EXPECT_STR(bf_ice_property(t2->metadata, "owner"), "me");
	json = t2->metadata->json;
	EXPECT(json_object_get(json, "schema") == NULL);
	EXPECT(json_object_get(json, "partition-spec") == NULL);
	EXPECT_EQ(json_array_size(json_object_get(json, "schemas")), 1);
	EXPECT_EQ(json_array_size(json_object_get(json, "sort-orders")), 1);
	EXPECT_EQ(json_array_size(json_object_get(json, "of-another-program")), 1);
	REQUIRE_OK(bf_ice_plan(a, t2, NULL, &plan, &test_err));
	EXPECT_EQ(plan->total_rows, 10);
	REQUIRE(plan->n_files == 1 && plan->files[0].n_partition == 1);
	EXPECT_EQ(plan->files[0].partition[0].v.i32, 19000);
}

/* A later writer of version 1 wrote both forms; the lists are what counts. */
TEST(iceberg_commit_upgrades_both_forms)
{
	BfArena *a = test_arena();
	BfIceTable *t = table_of(
		"{\"format-version\":1,\"table-uuid\":\"9c12d441-03fe-4693-9a96-a0705ddf69c1\","
		"\"location\":\"/t\",\"last-updated-ms\":1,\"last-column-id\":2,"
		"\"schema\":{\"type\":\"struct\",\"schema-id\":1,\"fields\":[]},\"current-schema-id\":1,"
		"\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[]},{\"type\":\"struct\","
		"\"schema-id\":1,\"fields\":[{\"id\":2,\"name\":\"d\",\"type\":\"date\","
		"\"required\":false}]}],\"partition-spec\":[],\"default-spec-id\":3,\"partition-specs\":["
		"{\"spec-id\":3,\"fields\":[{\"source-id\":2,\"field-id\":1004,\"name\":\"d\","
		"\"transform\":\"identity\"}]}],\"last-partition-id\":1004,\"default-sort-order-id\":5,"
		"\"sort-orders\":[{\"order-id\":5,\"fields\":[]}],\"current-snapshot-id\":-1}");
	BfValue day = {.type = BF_TYPE(DATE), .v.i32 = 19000};
	BfIceNewFile file = {.path = "bifang://db/t/7_0-0.log",
						 .spec_id = 3,
						 .n_partition = 1,
						 .partition = &day,
						 .record_count = 1,
						 .file_size = 1};
	BfIceTable *t2 = NULL;
	const char *path;
	int64_t id;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_commit_logical(a, t, &file, 1, NULL, &path, &id, &test_err));
	REQUIRE_OK(bf_ice_load(a, path, NULL, &t2, &test_err));
	EXPECT_STR(t2->metadata->uuid, "9c12d441-03fe-4693-9a96-a0705ddf69c1");
	EXPECT_EQ(t2->schema->schema_id, 1);
	EXPECT_EQ(t2->metadata->specs.default_id, 3);
	EXPECT_EQ(t2->metadata->specs.last_partition_id, 1004);
	EXPECT_EQ(json_array_size(json_object_get(t2->metadata->json, "schemas")), 2);
	EXPECT_EQ(json_integer_value(json_object_get(t2->metadata->json, "default-sort-order-id")), 5);
	/* Nothing of version 1 is left to contradict. */
	EXPECT(json_object_get(t2->metadata->json, "schema") == NULL);
	EXPECT(json_object_get(t2->metadata->json, "partition-spec") == NULL);
}

TEST(iceberg_commit_odd_trees)
{
	static const char bad[] =
		"{\"format-version\":2,\"table-uuid\":\"u\",\"location\":\"/t\",\"last-updated-ms\":1,"
		"\"last-sequence-number\":0,\"last-column-id\":2,\"current-schema-id\":0,\"schemas\":[{"
		"\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":2,\"name\":\"d\",\"type\":"
		"\"date\",\"required\":false}]}],\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,"
		"\"fields\":[{\"source-id\":2,\"field-id\":1000,\"name\":\"d\",\"transform\":"
		"\"identity\"}]}],\"last-partition-id\":1000,\"default-sort-order-id\":0,"
		"\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"metadata-log\":%s,"
		"\"current-snapshot-id\":-1}";
	BfArena *a = test_arena();
	BfIceTable *t = table_of(bf_arena_printf(a, bad, "null"));
	json_t *root = json_pack("{s:[], s:n, s:i}", "list", "null", "number", 1);
	json_t *child = NULL;
	const char *path;

	REQUIRE(t != NULL);
	REQUIRE_OK(bfi_json_own(a, root, &test_err));
	REQUIRE_OK(commit(t, &path)); /* null is not there */
	REQUIRE_OK(bfi_json_child(root, "list", true, &child, &test_err));
	EXPECT(child == json_object_get(root, "list"));
	EXPECT_FAIL(bfi_json_child(root, "list", false, &child, &test_err), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "metadata key \"list\" has the wrong type");
	REQUIRE_OK(bfi_json_child(root, "null", true, &child, &test_err));
	EXPECT(json_is_array(json_object_get(root, "null")));
	REQUIRE_OK(bfi_json_child(root, "new", false, &child, &test_err));
	EXPECT(json_is_object(json_object_get(root, "new")));
	EXPECT_FAIL(bfi_json_child(root, "number", true, &child, &test_err), BF_ERR_CORRUPT, -1);
	/* What has no value can't be put anywhere: that is how jansson says that memory is gone. */
	EXPECT_FAIL(bfi_json_set(root, "x", NULL, &test_err), BF_ERR_NOMEM, -1);
	EXPECT_FAIL(bfi_json_append(child, NULL, &test_err), BF_ERR_NOMEM, -1);
}

/* Manifests that a version 1 snapshot names itself say nothing of their spec: what the branch names
 * so can't be taken over any more than what main names. */
TEST(iceberg_commit_without_manifest_list)
{
	static const char text[] =
		"{\"format-version\":1,\"location\":\"/t\",\"last-updated-ms\":1,\"last-column-id\":1,"
		"\"schema\":{\"type\":\"struct\",\"fields\":["
		"{\"id\":1,\"name\":\"d\",\"type\":\"date\",\"required\":false}]},"
		"\"partition-spec\":[{\"source-id\":1,\"name\":\"d\",\"transform\":\"identity\"}],"
		"\"snapshots\":[{\"snapshot-id\":5,\"timestamp-ms\":1,\"%s\":%s},"
		"{\"snapshot-id\":6,\"timestamp-ms\":1,\"%s\":%s}],\"current-snapshot-id\":5,"
		"\"refs\":{\"main\":{\"snapshot-id\":5,\"type\":\"branch\"},"
		"\"bifang\":{\"snapshot-id\":6,\"type\":\"branch\"}}}";
	static const char *const forms[][2] = {{"manifest-list", "\"/t/metadata/l.avro\""},
										   {"manifests", "[\"/t/metadata/m.avro\"]"}};
	BfArena *a = test_arena();

	for (int i = 0; i < 4; i++)
	{
		const char *const *main = forms[i & 1], *const *branch = forms[i >> 1];
		BfIceTable *t =
			table_at(test_path(bf_arena_printf(a, "metadata/0000%d-x.metadata.json", i)),
					 bf_arena_printf(a, text, main[0], main[1], branch[0], branch[1]));

		REQUIRE(t != NULL);
		if (i == 0)
			REQUIRE_OK(bf_ice_can_commit(t, &test_err));
		else
		{
			EXPECT_FAIL(bf_ice_can_commit(t, &test_err), BF_ERR_UNSUPPORTED, -1);
			EXPECT(strstr(test_err.text, i == 2 ? "\"bifang\"" : "\"main\"") != NULL);
		}
	}
}

/* A total size that nothing can be added to is not written: nobody needs it. */
TEST(iceberg_commit_total_size)
{
	static const struct
	{
		const char *main, *total;
	} cases[] = {
		{"0", "200"},
		{"17", "217"},
		{"9223372036854775607", "9223372036854775807"},
		{"9223372036854775608", NULL},
		{"9223372036854775807", NULL},
		{"9223372036854775808", NULL},
		{"-1", NULL},
		{"", NULL},
		{"12 MB", NULL},
	};
	BfArena *a = test_arena();
	BfIceTable *t = table_of(oldest);
	const char *path;

	REQUIRE(t != NULL);
	REQUIRE_OK(commit(t, &path));
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfValue day = {.type = BF_TYPE(DATE), .v.i32 = 19000};
		BfIceNewFile file = {.path = "bifang://db/t/7_10-19.log",
							 .n_partition = 1,
							 .partition = &day,
							 .record_count = 10,
							 .file_size = 100};
		const char *changed, *total;
		json_t *main;
		int64_t id;

		REQUIRE_OK(bf_ice_load(a, path, NULL, &t, &test_err));
		main = json_array_get(json_object_get(t->metadata->json, "snapshots"), 0);
		json_object_set_new(json_object_get(main, "summary"), "total-files-size",
							json_string(cases[i].main));
		REQUIRE_OK(bfi_metadata_publish(a, test_path("metadata"), 100 + (int64_t) i,
										t->metadata->json, &changed, &test_err));
		REQUIRE_OK(bf_ice_load(a, changed, NULL, &t, &test_err));
		EXPECT_STR(bf_ice_summary(bf_ice_ref(t->metadata, "main"), "total-files-size"),
				   cases[i].main);
		REQUIRE_OK(bf_ice_commit_logical(a, t, &file, 1, NULL, &changed, &id, &test_err));
		REQUIRE_OK(bf_ice_load(a, changed, NULL, &t, &test_err));
		total = bf_ice_summary(bf_ice_snapshot(t->metadata, id), "total-files-size");
		if (cases[i].total == NULL)
			EXPECT(total == NULL);
		else
			EXPECT_STR(total, cases[i].total);
	}
}
