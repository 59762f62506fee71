/*
 * Commits: what is written is read back as it was meant, main stays what other engines know, and a
 * failure leaves the table as it was.
 */
#include "iceberg/commit.h"

#include "iceberg/internal.h"
#include "unit/lib/crash.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

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
	EXPECT_EQ(t->metadata->specs.last_partition_id, 1003);
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
	EXPECT_STR(coverage_text(&p->covered), "7:0-9;8:5-5");
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
	EXPECT_STR(coverage_text(&p->covered), "7:0-19_30-39;8:5-5");
	EXPECT_EQ(bf_ice_snapshot(t2->metadata, second)->parent_id, id);
	EXPECT_EQ(t2->metadata->last_sequence_number, 3);
	EXPECT_STR(bf_ice_summary(bf_ice_snapshot(t2->metadata, second), "total-files-size"), "310");
	EXPECT_EQ(t2->metadata->snapshot_log.n, 1);
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

/* Loads, plans, commits: everything that the host is asked for. */
static BfStatus
commit_once(const BfHost *host, const char *metadata, const char **new_path)
{
	BfArena *a = bf_arena_new(host, "scenario", (size_t) 64 << 20);
	BfStatus status = BF_ERR_NOMEM;
	BfIceNewFile file;
	BfIceTable *t;
	BfIcePlan *p;
	int64_t id;

	*new_path = NULL;
	if (a == NULL)
		return status;
	file = logical("bifang://db/t/9_0-9.log", 10);
	status = bf_ice_load(a, metadata, NULL, &t, &test_err);
	if (status == BF_OK)
		status = bf_ice_plan(a, t, NULL, &p, &test_err);
	if (status == BF_OK)
		status = bf_ice_commit_logical(a, t, &file, 1, NULL, new_path, &id, &test_err);
	if (status == BF_OK)
		*new_path = bf_arena_strdup(test_arena(), *new_path);
	bf_arena_free(a);
	return status;
}

/* Whatever fails, the table that the pointer names stays what it was, no other metadata file shows
 * up, and nothing leaks. */
TEST(iceberg_commit_fault_at_every_call)
{
	static const BfStatus codes[TEST_FAULT_COUNT] = {BF_OK, BF_ERR_NOMEM, BF_ERR_IO, BF_ERR_IO,
													 BF_ERR_CANCEL};
	BfArena *a = test_arena();
	BfIceTable *t = create(a, test_dir(), NULL);
	BfIceNewFile first = logical("bifang://db/t/7_0-9.log", 10);
	const char *base, *path, *newest;
	int64_t id;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_commit_logical(a, t, &first, 1, NULL, &base, &id, &test_err));
	for (int kind = TEST_FAULT_ALLOC; kind < TEST_FAULT_COUNT; kind++)
		for (int64_t call = 1;; call += kind == TEST_FAULT_ALLOC && call > 40 ? 23 : 1)
		{
			TestHost h;
			BfStatus status;
			bool fired;

			test_host_init(&h);
			h.random_state = (uint64_t) (kind * 1000000 + call);
			test_fault_arm(&h, (TestFault) kind, call, false);
			status = commit_once(&h.host, base, &path);
			fired = test_fault_fired(&h);
			EXPECT_EQ(status, fired ? codes[kind] : BF_OK);
			EXPECT_EQ(h.live_allocs, 0);
			EXPECT_EQ(h.open_files, 0);
			EXPECT_EQ(h.bad_frees, 0);
			REQUIRE_OK(bf_ice_find_metadata(a, test_dir(), &newest, &test_err));
			EXPECT_STR(newest, path != NULL ? path : base);
			if (path != NULL)
				REQUIRE_OK(test_host()->unlink(test_host(), path, &test_err));
			if (!fired || test_failed())
				break;
			REQUIRE(call < 20000);
		}
	EXPECT_EQ(plan(a, load(a, base))->total_rows, 10);
}

/* Whoever wants it to stop is asked about at each file, at each step: where names are checked,
 * where they are added to what is covered and where they are written; and by the plan of it. */
TEST(iceberg_commit_asks_often)
{
	enum
	{
		N = 1000
	};
	BfArena *a = test_arena();
	BfIceNewFile *files = bf_arena_alloc_array(a, N, sizeof *files);
	const BfIceAt now = {.kind = BF_ICE_AT_CURRENT};
	BfIceScan scan = {.coverage = true};
	const char *path;
	BfIcePlan *p;
	BfIceTable *t;
	BfArena *counted;
	TestHost h;
	int64_t id;

	REQUIRE(create(a, test_dir(), NULL) != NULL && files != NULL);
	for (int i = 0; i < N; i++)
		files[i] = logical(bf_arena_printf(a, "bifang://db/t/7_%d-%d.log", i, i), 1);
	REQUIRE_OK(bf_ice_find_metadata(a, test_dir(), &path, &test_err));
	test_host_init(&h);
	counted = bf_arena_new(&h.host, "commit", (size_t) 64 << 20);
	REQUIRE(counted != NULL);
	REQUIRE_OK(bf_ice_load(counted, path, NULL, &t, &test_err));
	h.calls[TEST_FAULT_CANCEL] = 0;
	REQUIRE_OK(bf_ice_commit_logical(counted, t, files, N, NULL, &path, &id, &test_err));
	EXPECT(h.calls[TEST_FAULT_CANCEL] >= 3 * N);
	REQUIRE_OK(bf_ice_load(counted, path, NULL, &t, &test_err));
	REQUIRE_OK(bf_ice_at_resolve(t, &now, &scan.point, &test_err));
	h.calls[TEST_FAULT_CANCEL] = 0;
	REQUIRE_OK(bf_ice_plan_scan(counted, t, &scan, &p, &test_err));
	EXPECT_EQ(p->n_files, N);
	EXPECT(h.calls[TEST_FAULT_CANCEL] >= 2 * N);
	bf_arena_free(counted);
	EXPECT_EQ(h.live_allocs, 0);
}

/* A power failure after write 1, 2, 3 ...: what a finished commit named is all there, an unfinished
 * one left the table as it was; a metadata file that is found is whole. */
TEST(iceberg_commit_power_failure)
{
	BfArena *a = test_arena();
	BfIceTable *t = create(a, test_dir(), NULL);
	BfIceNewFile first = logical("bifang://db/t/7_0-9.log", 10);
	const char *base, *path, *newest;
	int64_t id;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_commit_logical(a, t, &first, 1, NULL, &base, &id, &test_err));
	for (int mode = 0; mode < TEST_CRASH_MODES; mode++)
		for (int64_t call = 1;; call++)
		{
			TestCrash crash;
			TestHost h;
			BfStatus status;
			bool fired;

			test_host_init(&h);
			h.random_state = (uint64_t) (mode * 1000000 + call);
			test_crash_init(&crash, &h);
			test_fault_arm(&h, TEST_FAULT_WRITE, call, true);
			status = commit_once(&h.host, base, &path);
			fired = test_fault_fired(&h);
			test_crash(&crash, (TestCrashMode) mode);
			REQUIRE_OK(bf_ice_find_metadata(a, test_dir(), &newest, &test_err));
			if (status == BF_OK)
				EXPECT_STR(newest, path);
			EXPECT_EQ(plan(a, load(a, newest))->total_rows, strcmp(newest, base) == 0 ? 10 : 20);
			EXPECT_EQ(plan(a, load(a, base))->total_rows, 10);
			if (strcmp(newest, base) != 0)
				REQUIRE_OK(test_host()->unlink(test_host(), newest, &test_err));
			if (!fired || test_failed())
				break;
			REQUIRE(call < 1000);
		}
}

/* A value of the type, of any size that it may have. */
static BfValue
random_value(BfArena *a, BfType type)
{
	BfValue v = {.type = type, .is_null = test_random_below(4) == 0};
	uint32_t n = (uint32_t) test_random_below(20);
	uint8_t *bytes;

	if (type.kind == BF_KIND_UUID)
		n = 16;
	else if (type.kind == BF_KIND_FIXED)
		n = (uint32_t) type.length;
	bytes = bf_arena_alloc(a, n);
	for (uint32_t i = 0; i < n; i++)
		bytes[i] = (uint8_t) (type.kind == BF_KIND_STRING ? 'a' + test_random_below(26)
														  : test_random_below(256));
	switch (bf_type_storage(type))
	{
		case BF_STORE_U8: v.v.u8 = (uint8_t) test_random_below(2); break;
		case BF_STORE_I32: v.v.i32 = (int32_t) test_random(); break;
		case BF_STORE_I64:
			v.v.i64 = (int64_t) test_random() >> test_random_below(64);
			if (type.kind == BF_KIND_DECIMAL)
				v.v.i64 %= 1000000000;
			break;
		case BF_STORE_I128:
			v.v.i128 = (bf_i128) (int64_t) test_random() * (int64_t) test_random_below(1u << 31);
			break;
		case BF_STORE_F32: v.v.f32 = (float) (int64_t) test_random(); break;
		case BF_STORE_F64: v.v.f64 = (double) (int64_t) test_random() / 3; break;
		default: v.v.view = (BfView){bytes, n}; break;
	}
	return v;
}

/* Any table, any files: what was committed is what is planned. */
TEST(iceberg_commit_round_trip)
{
	static const BfType types[] = {
		{.kind = BF_KIND_BOOL},
		{.kind = BF_KIND_INT32},
		{.kind = BF_KIND_INT64},
		{.kind = BF_KIND_FLOAT32},
		{.kind = BF_KIND_FLOAT64},
		{.kind = BF_KIND_DECIMAL, .precision = 9, .scale = 3},
		{.kind = BF_KIND_DECIMAL, .precision = 38, .scale = 38},
		{.kind = BF_KIND_DATE},
		{.kind = BF_KIND_TIME},
		{.kind = BF_KIND_TIMESTAMP},
		{.kind = BF_KIND_TIMESTAMPTZ},
		{.kind = BF_KIND_STRING},
		{.kind = BF_KIND_BINARY},
		{.kind = BF_KIND_UUID, .length = 16},
		{.kind = BF_KIND_FIXED, .length = 5},
	};
	enum
	{
		N_TYPES = sizeof types / sizeof types[0],
		N_FILES = 40
	};
	BfArena *a = test_arena();
	BfField fields[N_TYPES];
	BfIcePartitionField partition[N_TYPES];
	BfIceNewFile files[N_FILES];
	BfSchema s = {.n_fields = N_TYPES, .fields = fields};
	BfIceSpec spec = {.fields = partition};
	const char *path;
	BfIceTable *t;
	BfIcePlan *p;
	int64_t id;

	memset(fields, 0, sizeof fields);
	memset(partition, 0, sizeof partition);
	for (int i = 0; i < N_TYPES; i++)
	{
		fields[i].name = bf_arena_printf(a, "c %d.\xc3\xa9", i);
		fields[i].type = types[i];
		if (test_random_below(2) == 0)
			partition[spec.n_fields++].source_id = i + 1;
	}
	REQUIRE_OK(bf_ice_create(a, test_dir(), NULL, &s, &spec, NULL, NULL, 0, &path, &test_err));
	t = load(a, path);
	for (int i = 0; i < N_FILES; i++)
	{
		BfValue *values = bf_arena_alloc(a, sizeof *values * (size_t) spec.n_fields);

		for (int32_t k = 0; k < spec.n_fields; k++)
			values[k] = random_value(a, types[partition[k].source_id - 1]);
		files[i] =
			logical(bf_arena_printf(a, "bifang://d/t/%d_%d-%d.log", i % 3, i * 10, i * 10 + i % 9),
					i % 9 + 1);
		files[i].n_partition = spec.n_fields;
		files[i].partition = values;
	}
	for (int done = 0; done < N_FILES; done += 10)
	{
		REQUIRE_OK(bf_ice_commit_logical(a, t, files + done, 10, NULL, &path, &id, &test_err));
		t = load(a, path);
	}
	p = plan(a, t);
	REQUIRE(p != NULL && p->n_files == N_FILES);
	for (int i = 0; i < N_FILES; i++)
	{
		const BfIceNewFile *f = NULL;
		const BfIceDataFile *got = &p->files[i];

		for (int k = 0; k < N_FILES; k++)
			if (strcmp(files[k].path, got->path) == 0)
				f = &files[k];
		REQUIRE(f != NULL);
		EXPECT_EQ(got->record_count, f->record_count);
		EXPECT_EQ(got->file_size, f->file_size);
		for (int32_t k = 0; k < spec.n_fields; k++)
		{
			EXPECT(bf_type_equal(got->partition[k].type, f->partition[k].type));
			EXPECT_EQ(got->partition[k].is_null, f->partition[k].is_null);
			if (!f->partition[k].is_null && !got->partition[k].is_null)
				EXPECT_EQ(bf_value_compare(&got->partition[k], &f->partition[k]), 0);
		}
	}
	EXPECT_STR(bf_ice_property(t->metadata, BF_ICE_COVERED), coverage_text(&p->covered));
}
