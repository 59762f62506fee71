/*
 * Commits: what is written is read back as it was meant, main stays what other engines know, and a
 * failure leaves the table as it was.
 */
#include "iceberg/commit.h"

#include <jansson.h>

#include "unit/lib/runner.h"

/* (id bigint required, day date, note string, amount decimal(12,2)), partitioned by day and
 * bucket[4](id). */
static BfField columns[] = {
	{.name = "id", .type = {.kind = BF_KIND_INT64}, .required = true, .doc = "the key"},
	{.name = "day", .type = {.kind = BF_KIND_DATE}},
	{.name = "note \xc3\xa9", .type = {.kind = BF_KIND_STRING}},
	{.name = "amount", .type = {.kind = BF_KIND_DECIMAL, .precision = 12, .scale = 2}},
};
static const BfSchema schema = {.n_fields = 4, .fields = columns};
static BfIcePartitionField partition_fields[] = {
	{.source_id = 2, .transform = {.kind = BF_TRANSFORM_IDENTITY}},
	{.source_id = 1, .transform = {.kind = BF_TRANSFORM_BUCKET, .param = 4}},
	{.source_id = 4, .transform = {.kind = BF_TRANSFORM_IDENTITY}},
	{.source_id = 3, .transform = {.kind = BF_TRANSFORM_TRUNCATE, .param = 3}},
};
static const BfIceSpec partitioned = {.n_fields = 4, .fields = partition_fields};

static BfIceTable *
load(BfArena *a, const char *path)
{
	BfIceTable *t = NULL;

	if (bf_ice_load(a, path, NULL, &t, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", path, test_err.text);
	return t;
}

static BfIcePlan *
plan(BfArena *a, const BfIceTable *t)
{
	BfIcePlan *p = NULL;

	if (t == NULL || bf_ice_plan(a, t, NULL, &p, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "plan: %s: %s", test_err.object, test_err.text);
	return p;
}

static const char *
coverage_text(BfArena *a, const BfCoverage *c)
{
	BfBuffer *b;

	if (bf_buffer_new(a, 1 << 20, &b, &test_err) != BF_OK ||
		bf_coverage_format(c, b, &test_err) != BF_OK)
		return NULL;
	return bf_arena_strndup(a, (const char *) b->data, b->len);
}

static BfIceTable *
create(BfArena *a, const char *dir, const BfIceSpec *spec)
{
	static const char *const keys[] = {"owner"}, *const values[] = {"me"};
	const char *path;

	if (bf_ice_create(a, dir, NULL, &schema, spec, keys, values, 1, &path, &test_err) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "create: %s", test_err.text);
		return NULL;
	}
	return load(a, path);
}

static BfIceNewFile
logical(const char *path, int64_t rows)
{
	return (BfIceNewFile){.path = path, .record_count = rows, .file_size = rows * 10};
}

TEST(iceberg_create_table)
{
	BfArena *a = test_arena();
	BfIceTable *t = create(a, test_dir(), &partitioned);
	const char *found;
	const BfIceSpec *spec;

	REQUIRE(t != NULL);
	EXPECT_EQ(t->metadata->format_version, 2);
	EXPECT_EQ(t->metadata->last_column_id, 4);
	EXPECT_EQ(t->metadata->last_partition_id, 1003);
	EXPECT_EQ(t->schema->fields[3].id, 4);
	EXPECT(t->schema->fields[0].required);
	EXPECT_STR(t->schema->fields[0].doc, "the key");
	EXPECT_STR(bf_ice_property(t->metadata, "owner"), "me");
	spec = bf_ice_spec(t->metadata, 0);
	REQUIRE(spec != NULL && spec->n_fields == 4);
	EXPECT_STR(spec->fields[0].name, "day");
	EXPECT_STR(spec->fields[1].name, "id_bucket");
	EXPECT_STR(spec->fields[1].transform_text, "bucket[4]");
	EXPECT_EQ(spec->fields[1].field_id, 1001);
	REQUIRE_OK(bf_ice_find_metadata(a, test_dir(), &found, &test_err));
	EXPECT_STR(found, t->metadata_path);
	EXPECT_EQ(plan(a, t)->n_files, 0);
}

TEST(iceberg_create_refuses)
{
	BfArena *a = test_arena();
	BfField one = {.name = "x", .type = {.kind = BF_KIND_INT16}};
	BfField two[] = {{.name = "x", .type = {.kind = BF_KIND_INT32}},
					 {.name = "x", .type = {.kind = BF_KIND_INT32}}};
	BfField given[] = {{.id = 7, .name = "x", .type = {.kind = BF_KIND_INT32}},
					   {.name = "y", .type = {.kind = BF_KIND_INT32}}};
	BfSchema s = {.n_fields = 1, .fields = &one};
	BfIcePartitionField missing = {.source_id = 9, .transform = {.kind = BF_TRANSFORM_IDENTITY}};
	BfIceSpec spec = {.n_fields = 1, .fields = &missing};
	const char *path;

	EXPECT_FAIL(bf_ice_create(a, test_dir(), NULL, &s, NULL, NULL, NULL, 0, &path, &test_err),
				BF_ERR_UNSUPPORTED, -1);
	EXPECT_STR(test_err.column, "x");
	s = (BfSchema){.n_fields = 2, .fields = two};
	EXPECT_FAIL(bf_ice_create(a, test_dir(), NULL, &s, NULL, NULL, NULL, 0, &path, &test_err),
				BF_ERR_VALUE, -1);
	s.fields = given;
	EXPECT_FAIL(bf_ice_create(a, test_dir(), NULL, &s, NULL, NULL, NULL, 0, &path, &test_err),
				BF_ERR_VALUE, -1);
	EXPECT_FAIL(bf_ice_create(a, test_dir(), NULL, &schema, &spec, NULL, NULL, 0, &path, &test_err),
				BF_ERR_VALUE, -1);
}

/* Several commits on a table without partitions; every state is a table of its own. */
TEST(iceberg_commit_unpartitioned)
{
	BfArena *a = test_arena();
	BfIceTable *t = create(a, test_dir(), NULL), *t1, *t2;
	BfIceNewFile files[2];
	BfIcePlan *p;
	const char *path;
	int64_t id, second;

	REQUIRE(t != NULL);
	files[0] = logical("bifang://db/t/7_0-9.log", 10);
	files[1] = logical("bifang://db/t/8_5-5.log", 1);
	REQUIRE_OK(bf_ice_commit_logical(a, t, files, 2, NULL, &path, &id, &test_err));
	t1 = load(a, path);
	p = plan(a, t1);
	REQUIRE(p != NULL);
	EXPECT_EQ(p->n_files, 2);
	EXPECT_EQ(p->total_rows, 11);
	EXPECT_EQ(p->total_bytes, 110);
	EXPECT_EQ(p->bifang_snapshot_id, id);
	EXPECT(p->files[0].logical);
	EXPECT_EQ(p->files[0].log.ledger_id, 7);
	EXPECT_EQ(p->files[0].sequence_number, 2);
	EXPECT_STR(coverage_text(a, &p->covered), "7:0-9;8:5-5");
	EXPECT_EQ(p->covered_parquet.n, 0);
	EXPECT_STR(bf_ice_property(t1->metadata, BF_ICE_COVERED), "7:0-9;8:5-5");
	EXPECT_STR(bf_ice_summary(bf_ice_snapshot(t1->metadata, id), BF_ICE_COVERED), "7:0-9;8:5-5");
	EXPECT_STR(bf_ice_summary(bf_ice_snapshot(t1->metadata, id), "total-records"), "11");
	/* main exists and is empty. */
	REQUIRE(bf_ice_ref(t1->metadata, "main") != NULL);
	REQUIRE_OK(bf_ice_plan_snapshot(a, t1, p->snapshot_id, NULL, &p, &test_err));
	EXPECT_EQ(p->n_files, 0);
	EXPECT_EQ(bf_ice_snapshot(t1->metadata, id)->parent_id, p->snapshot_id);

	files[0] = logical("bifang://db/t/7_10-19_30-39.log", 20);
	REQUIRE_OK(bf_ice_commit_logical(a, t1, files, 1, NULL, &path, &second, &test_err));
	t2 = load(a, path);
	p = plan(a, t2);
	REQUIRE(p != NULL);
	EXPECT_EQ(p->n_files, 3);
	EXPECT_EQ(p->total_rows, 31);
	EXPECT_STR(coverage_text(a, &p->covered), "7:0-19_30-39;8:5-5");
	EXPECT_EQ(bf_ice_snapshot(t2->metadata, second)->parent_id, id);
	EXPECT_EQ(t2->metadata->last_sequence_number, 3);
	EXPECT_STR(bf_ice_summary(bf_ice_snapshot(t2->metadata, second), "total-files-size"), "310");
	EXPECT_EQ(t2->metadata->n_snapshot_log, 1);
	EXPECT_EQ(json_array_size(json_object_get(t2->metadata->json, "metadata-log")), 2);
	/* The older state is still what it was. */
	EXPECT_EQ(plan(a, load(a, t1->metadata_path))->total_rows, 11);
	REQUIRE_OK(bf_ice_find_metadata(a, test_dir(), &path, &test_err));
	EXPECT_STR(path, t2->metadata_path);
}

static BfValue
text_value(const char *s)
{
	return (BfValue){.type = BF_TYPE(STRING),
					 .v.view = {(const uint8_t *) s, (uint32_t) strlen(s)}};
}

/* Partition values of several types, a NULL among them, come back as they were. */
TEST(iceberg_commit_partitioned)
{
	BfArena *a = test_arena();
	BfIceTable *t = create(a, test_dir(), &partitioned);
	BfType decimal = {.kind = BF_KIND_DECIMAL, .precision = 12, .scale = 2};
	BfValue first[4] = {{.type = BF_TYPE(DATE), .v.i32 = 20000},
						{.type = BF_TYPE(INT32), .v.i32 = 3},
						{.type = decimal, .v.i64 = INT64_C(-123456789012)},
						text_value("abc")};
	BfValue second[4] = {{.type = BF_TYPE(DATE), .v.i32 = -1},
						 {.type = BF_TYPE(INT32), .v.i32 = 0},
						 {.is_null = true, .type = decimal},
						 text_value("")};
	BfIceNewFile files[2];
	const BfIceDataFile *f;
	BfIceManifest *manifests;
	BfIcePlan *p;
	const char *path;
	int32_t n;
	int64_t id;

	REQUIRE(t != NULL);
	files[0] = logical("bifang://db/t/7_0-9.log", 10);
	files[0].n_partition = 4;
	files[0].partition = first;
	files[1] = logical("bifang://db/t/7_10-10.log", 1);
	files[1].n_partition = 4;
	files[1].partition = second;
	REQUIRE_OK(bf_ice_commit_logical(a, t, files, 2, NULL, &path, &id, &test_err));
	t = load(a, path);
	p = plan(a, t);
	REQUIRE(p != NULL && p->n_files == 2);
	for (int32_t i = 0; i < 2; i++)
	{
		const BfValue *expected = i == 0 ? first : second;

		f = &p->files[i];
		REQUIRE(f->n_partition == 4);
		for (int32_t k = 0; k < 4; k++)
		{
			EXPECT(bf_type_equal(f->partition[k].type, expected[k].type));
			EXPECT_EQ(f->partition[k].is_null, expected[k].is_null);
			if (!expected[k].is_null)
				EXPECT_EQ(bf_value_compare(&f->partition[k], &expected[k]), 0);
		}
		EXPECT_EQ(f->n_constants, 2);
		EXPECT_EQ(f->constant_ids[0], 2);
		EXPECT_EQ(f->constant_ids[1], 4);
	}
	/* The list has the bounds of both. */
	REQUIRE_OK(bf_location_resolve(a, &t->location, bf_ice_snapshot(t->metadata, id)->manifest_list,
								   &path, &test_err));
	REQUIRE_OK(bf_ice_read_manifest_list(a, path, NULL, &manifests, &n, &test_err));
	REQUIRE(n == 1);
	EXPECT_EQ(manifests[0].added_files, 2);
	EXPECT_EQ(manifests[0].added_rows, 11);
	EXPECT_EQ(manifests[0].sequence_number, 2);
	EXPECT_EQ(manifests[0].added_snapshot_id, id);
	EXPECT(manifests[0].partitions != NULL);
}

/* What would put an entry into the lake twice, or into the wrong partition, is refused. */
TEST(iceberg_commit_refuses)
{
	BfArena *a = test_arena();
	BfIceTable *t = create(a, test_dir(), NULL);
	static const struct
	{
		const char *path;
		int64_t rows;
		int32_t spec_id;
		BfStatus code;
	} cases[] = {
		{"bifang://db/t/7_9-12.log", 4, 0, BF_ERR_VALUE}, /* entry 9 is there */
		{"bifang://db/t/9_0-3.log", 5, 0, BF_ERR_VALUE},
		{"bifang://db/t/9_0-3.log", 4, 1, BF_ERR_VALUE},
		{"file:///x/9_0-3.log", 4, 0, BF_ERR_VALUE},
		{"bifang://db/t/9_3-0.log", 4, 0, BF_ERR_CORRUPT},
	};
	BfIceNewFile files[2];
	const char *path, *newest;
	int64_t id;

	REQUIRE(t != NULL);
	files[0] = logical("bifang://db/t/7_0-9.log", 10);
	REQUIRE_OK(bf_ice_commit_logical(a, t, files, 1, NULL, &path, &id, &test_err));
	t = load(a, path);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		files[0] = logical(cases[i].path, cases[i].rows);
		files[0].spec_id = cases[i].spec_id;
		EXPECT_FAIL(bf_ice_commit_logical(a, t, files, 1, NULL, &path, &id, &test_err),
					cases[i].code, -1);
	}
	/* Twice in one commit. */
	files[0] = logical("bifang://db/t/9_0-3.log", 4);
	files[1] = logical("bifang://db/t/9_3-6.log", 4);
	EXPECT_FAIL(bf_ice_commit_logical(a, t, files, 2, NULL, &path, &id, &test_err), BF_ERR_VALUE,
				-1);
	REQUIRE_OK(bf_ice_find_metadata(a, test_dir(), &newest, &test_err));
	EXPECT_STR(newest, t->metadata_path);
}
