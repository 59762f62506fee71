/* Finding metadata, and what a plan says about coverage as main moves under other engines. */
#include "iceberg/table.h"

#include "iceberg/internal.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

static void
put_file(const char *name, const void *bytes, size_t n)
{
	BfArena *a = test_arena();
	const char *path = bf_arena_printf(a, "%s/%s", test_dir(), name);

	if (bf_publish_bytes(a, path, bytes, n, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
}

static void
put_text(const char *name, const char *text)
{
	put_file(name, text, strlen(text));
}

static void
drop(const char *name)
{
	const char *path = bf_arena_printf(test_arena(), "%s/%s", test_dir(), name);

	if (test_host()->unlink(test_host(), path, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
}

/* The file's name that is found, or the status' name. */
static const char *
found(void)
{
	const char *path;
	BfStatus status = bf_ice_find_metadata(test_arena(), test_dir(), &path, &test_err);

	return status == BF_OK ? strrchr(path, '/') + 1 : bf_status_name(status);
}

TEST(iceberg_find_by_version)
{
	EXPECT_STR(found(), "NOTFOUND");
	put_text("metadata/.v1.metadata.json.crc", "x");
	put_text("metadata/snap-5.avro", "x");
	EXPECT_STR(found(), "NOTFOUND");
	put_text("metadata/vfinal.metadata.json", "x");
	EXPECT_STR(found(), "vfinal.metadata.json");
	put_text("metadata/v9.metadata.json", "x");
	put_text("metadata/v10.gz.metadata.json", "x");
	EXPECT_STR(found(), "v10.gz.metadata.json");
	put_text("metadata/v11.metadata.json.gz", "x");
	EXPECT_STR(found(), "v11.metadata.json.gz");
	put_text("metadata/00012-8f1a.metadata.json", "x");
	EXPECT_STR(found(), "00012-8f1a.metadata.json");
	put_text("metadata/00012-9f1a.metadata.json", "x");
	EXPECT_STR(found(), "UNSUPPORTED");
	EXPECT(strstr(test_err.text, "00012-8f1a") != NULL);
	put_text("metadata/00013-1f1a.gz.metadata.json", "x");
	EXPECT_STR(found(), "00013-1f1a.gz.metadata.json");
	put_text("metadata/00014-1f1a.metadata.json/is-a-directory", "x");
	EXPECT_STR(found(), "00013-1f1a.gz.metadata.json");
}

TEST(iceberg_find_by_hint)
{
	BfArena *a = test_arena();
	const char *path, *file;

	put_text("metadata/v2.metadata.json", "x");
	put_text("metadata/v3.gz.metadata.json", "x");
	put_text("metadata/v4.metadata.json", "x");
	put_text("metadata/v7.metadata.json", "x");
	put_text("metadata/00001-a.metadata.json", "x");
	put_text("metadata/version-hint.text", " 2\n");
	EXPECT_STR(found(), "v4.metadata.json"); /* what follows it, up to a gap */
	drop("metadata/version-hint.text");
	put_text("metadata/version-hint.text", "6"); /* names nothing */
	EXPECT_STR(found(), "v7.metadata.json");
	drop("metadata/version-hint.text");
	put_text("metadata/version-hint.text", "00001-a\n");
	EXPECT_STR(found(), "00001-a.metadata.json");
	drop("metadata/version-hint.text");
	put_text("metadata/version-hint.text", "../../x");
	EXPECT_STR(found(), "v7.metadata.json");
	drop("metadata/version-hint.text");
	put_text("metadata/version-hint.text", "");
	EXPECT_STR(found(), "v7.metadata.json");
	/* A path to a file is taken as it is; slashes at the end of a directory are nothing. */
	file = bf_arena_printf(a, "%s/metadata/v2.metadata.json", test_dir());
	REQUIRE_OK(bf_ice_find_metadata(a, file, &path, &test_err));
	EXPECT_STR(path, file);
	REQUIRE_OK(bf_ice_find_metadata(a, bf_arena_printf(a, "%s//", test_dir()), &path, &test_err));
	EXPECT_STR(strrchr(path, '/') + 1, "v7.metadata.json");
}

/* --- Coverage ------------------------------------------------------------------------------- */

static BfField column = {.name = "id", .type = {.kind = BF_KIND_INT64}};
static const BfSchema schema = {.n_fields = 1, .fields = &column};

static BfIceTable *
load(const char *path)
{
	BfIceTable *t = NULL;

	if (bf_ice_load(test_arena(), path, NULL, &t, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return t;
}

/* A table whose bifang branch has the files 7_0-9 and 7_10-19 in two commits. */
static BfIceTable *
two_commits(void)
{
	BfArena *a = test_arena();
	BfIceNewFile f = {.path = "bifang://d/t/7_0-9.log", .record_count = 10, .file_size = 100};
	const char *path;
	int64_t id;

	if (bf_ice_create(a, test_dir(), NULL, &schema, NULL, NULL, NULL, 0, &path, &test_err) !=
			BF_OK ||
		bf_ice_commit_logical(a, load(path), &f, 1, NULL, &path, &id, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	f.path = "bifang://d/t/7_10-19.log";
	if (bf_ice_commit_logical(a, load(path), &f, 1, NULL, &path, &id, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return load(path);
}

/* Writes the tree, which a test has changed, as the next version. */
static BfIceTable *
rewrite(const BfIceTable *t)
{
	static int64_t version = 100;
	const char *path;

	if (bfi_metadata_publish(test_arena(), bf_arena_printf(test_arena(), "%s/metadata", test_dir()),
							 version++, t->metadata->json, &path, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return load(path);
}

static json_t *
json_snapshot(const BfIceTable *t, int64_t id)
{
	json_t *list = json_object_get(t->metadata->json, "snapshots");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_integer_value(json_object_get(json_array_get(list, i), "snapshot-id")) == id)
			return json_array_get(list, i);
	test_fail(__FILE__, __LINE__, "no snapshot %lld", (long long) id);
	return NULL;
}

static void
summary_set(const BfIceTable *t, int64_t id, const char *key, const char *value)
{
	json_object_set_new(json_object_get(json_snapshot(t, id), "summary"), key, json_string(value));
}

static void
property_set(const BfIceTable *t, const char *key, const char *value)
{
	json_object_set_new(json_object_get(t->metadata->json, "properties"), key, json_string(value));
}

/* A snapshot of another engine on main: no key of ours. */
static int64_t
foreign_snapshot(const BfIceTable *t, int64_t id)
{
	json_t *root = t->metadata->json, *main_ref, *copy;
	int64_t parent = json_integer_value(json_object_get(root, "current-snapshot-id"));

	copy = json_deep_copy(json_snapshot(t, parent));
	json_object_set_new(copy, "snapshot-id", json_integer(id));
	json_object_set_new(copy, "parent-snapshot-id", json_integer(parent));
	json_object_del(json_object_get(copy, "summary"), BF_ICE_COVERED_PARQUET);
	json_array_append_new(json_object_get(root, "snapshots"), copy);
	json_object_set_new(root, "current-snapshot-id", json_integer(id));
	main_ref = json_object_get(json_object_get(root, "refs"), "main");
	json_object_set_new(main_ref, "snapshot-id", json_integer(id));
	return parent;
}

static void
drop_snapshot(const BfIceTable *t, int64_t id)
{
	json_t *list = json_object_get(t->metadata->json, "snapshots");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_array_get(list, i) == json_snapshot(t, id))
		{
			json_array_remove(list, i);
			return;
		}
}

static void
expect_plan(int line, const BfIceTable *t, int32_t n_files, int64_t rows, const char *covered,
			const char *parquet)
{
	BfIcePlan *p;

	if (bf_ice_plan(test_arena(), t, NULL, &p, &test_err) != BF_OK)
	{
		test_fail(__FILE__, line, "%s", test_err.text);
		return;
	}
	if (p->n_files != n_files || p->total_rows != rows ||
		strcmp(coverage_text(&p->covered), covered) != 0 ||
		strcmp(coverage_text(&p->covered_parquet), parquet) != 0)
		test_fail(__FILE__, line, "%d files, %lld rows, covered \"%s\", parquet \"%s\"", p->n_files,
				  (long long) p->total_rows, coverage_text(&p->covered),
				  coverage_text(&p->covered_parquet));
}

TEST(iceberg_coverage_of_main)
{
	BfIceTable *t = two_commits();
	int64_t empty = t->metadata->snapshots.current_id;

	expect_plan(__LINE__, t, 2, 20, "7:0-19", "");
	/* A snapshot of ours moved 0-12 to Parquet: the first file is gone, of the second 7 are left.
	 */
	foreign_snapshot(t, 1001);
	summary_set(t, 1001, BF_ICE_COVERED_PARQUET, "7:0-12;9:0-1");
	property_set(t, BF_ICE_COVERED_PARQUET, "7:0-12;9:0-1");
	t = rewrite(t);
	expect_plan(__LINE__, t, 1, 7, "7:0-19;9:0-1", "7:0-12;9:0-1");
	/* Other engines go on: inherited. */
	foreign_snapshot(t, 1002);
	foreign_snapshot(t, 1003);
	t = rewrite(t);
	expect_plan(__LINE__, t, 1, 7, "7:0-19;9:0-1", "7:0-12;9:0-1");
	/* Our snapshot expires: the property tells. */
	drop_snapshot(t, 1001);
	t = rewrite(t);
	expect_plan(__LINE__, t, 1, 7, "7:0-19;9:0-1", "7:0-12;9:0-1");
	/* Main is rolled back to where it was empty: nothing is Parquet, whatever the property says. */
	json_object_set_new(t->metadata->json, "current-snapshot-id", json_integer(empty));
	json_object_set_new(json_object_get(json_object_get(t->metadata->json, "refs"), "main"),
						"snapshot-id", json_integer(empty));
	t = rewrite(t);
	expect_plan(__LINE__, t, 2, 20, "7:0-19", "");
}

TEST(iceberg_coverage_damaged)
{
	BfArena *a = test_arena();
	BfIceTable *t = two_commits();
	int64_t empty = t->metadata->snapshots.current_id;
	BfIcePlan *p;

	summary_set(t, empty, BF_ICE_COVERED_PARQUET, "7:9-0");
	EXPECT_FAIL(bf_ice_plan(a, rewrite(t), NULL, &p, &test_err), BF_ERR_CORRUPT, -1);
	EXPECT(strstr(test_err.text, BF_ICE_COVERED_PARQUET) != NULL);
	json_object_del(json_object_get(json_snapshot(t, empty), "summary"), BF_ICE_COVERED_PARQUET);
	foreign_snapshot(t, 1001);
	json_object_set_new(json_snapshot(t, empty), "parent-snapshot-id", json_integer(1001));
	EXPECT_FAIL(bf_ice_plan(a, rewrite(t), NULL, &p, &test_err), BF_ERR_CORRUPT, -1);
	EXPECT(strstr(test_err.text, "circle") != NULL);
}

/* Two branches of history that took the same entries, merged by hand. */
TEST(iceberg_overlapping_logical_files)
{
	BfArena *a = test_arena();
	BfIceNewFile one = {.path = "bifang://d/t/7_0-9.log", .record_count = 10};
	BfIceNewFile two = {.path = "bifang://d/t/7_5-5_20-20.log", .record_count = 2};
	BfiListEntry entries[2];
	BfIceManifest *m;
	const BfIceSnapshot *s;
	const char *base, *path[2], *list;
	int64_t id[2];
	BfIceTable *t = NULL;
	BfIcePlan *p;
	BfView bytes;

	REQUIRE_OK(bf_ice_create(a, test_dir(), NULL, &schema, NULL, NULL, NULL, 0, &base, &test_err));
	REQUIRE_OK(bf_ice_commit_logical(a, load(base), &one, 1, NULL, &path[0], &id[0], &test_err));
	REQUIRE_OK(bf_ice_commit_logical(a, load(base), &two, 1, NULL, &path[1], &id[1], &test_err));
	for (int i = 0; i < 2; i++)
	{
		int32_t n;

		t = load(path[i]);
		s = bf_ice_snapshot(t->metadata, id[i]);
		REQUIRE_OK(bf_location_resolve(a, &t->location, s->manifest_list, &list, &test_err));
		REQUIRE_OK(bf_ice_read_manifest_list(a, list, NULL, &m, &n, &test_err));
		REQUIRE(n == 1);
		entries[i] = (BfiListEntry){.manifest = m[0]};
	}
	REQUIRE_OK(bfi_manifest_list_bytes(a, entries, 2, id[1], -1, 2, &bytes, &test_err));
	put_file("metadata/both.avro", bytes.ptr, bytes.len);
	json_object_set_new(json_snapshot(t, id[1]), "manifest-list",
						json_string(bf_arena_printf(a, "%s/metadata/both.avro", test_dir())));
	EXPECT_FAIL(bf_ice_plan(a, rewrite(t), NULL, &p, &test_err), BF_ERR_CORRUPT, -1);
	EXPECT(strstr(test_err.text, "entry 5 of ledger 7") != NULL);
	/* Twice the same manifest: the same file twice in one snapshot. */
	REQUIRE_OK(bfi_manifest_list_bytes(a, (BfiListEntry[]){entries[0], entries[0]}, 2, id[1], -1, 2,
									   &bytes, &test_err));
	put_file("metadata/twice.avro", bytes.ptr, bytes.len);
	json_object_set_new(json_snapshot(t, id[1]), "manifest-list",
						json_string(bf_arena_printf(a, "%s/metadata/twice.avro", test_dir())));
	EXPECT_FAIL(bf_ice_plan(a, rewrite(t), NULL, &p, &test_err), BF_ERR_CORRUPT, -1);
	EXPECT(strstr(test_err.text, "twice") != NULL);
}

/* Main that names logical files itself (another implementation), the branch the same ones. */
TEST(iceberg_logical_files_in_main)
{
	BfIceTable *t = two_commits();
	int64_t branch = bf_ice_ref(t->metadata, BF_ICE_BRANCH_BIFANG)->id;
	BfIcePlan *p;

	json_object_set_new(t->metadata->json, "current-snapshot-id", json_integer(branch));
	json_object_set_new(json_object_get(json_object_get(t->metadata->json, "refs"), "main"),
						"snapshot-id", json_integer(branch));
	/* Main's own summary says what is Parquet: nothing. */
	t = rewrite(t);
	expect_plan(__LINE__, t, 2, 20, "7:0-19", "");
	REQUIRE_OK(bf_ice_plan_snapshot(test_arena(), t, branch, NULL, &p, &test_err));
	EXPECT_EQ(p->n_files, 2);
	EXPECT_FAIL(bf_ice_plan_snapshot(test_arena(), t, 12345, NULL, &p, &test_err), BF_ERR_NOTFOUND,
				-1);
}

TEST(iceberg_load_gzipped)
{
	BfArena *a = test_arena();
	BfIceTable *t = two_commits();
	BfCodecContext *ctx;
	BfBuffer *b;
	const char *plain;

	REQUIRE_OK(bfi_json_text(a, t->metadata->json, &plain, &test_err));
	REQUIRE_OK(bf_codec_context_new(a, &ctx, &test_err));
	REQUIRE_OK(bf_buffer_new(a, 1 << 24, &b, &test_err));
	REQUIRE_OK(bf_compress_append(ctx, BF_CODEC_GZIP, 0, plain, strlen(plain), b, &test_err));
	put_file("metadata/v200.gz.metadata.json", b->data, b->len);
	b->len = 0;
	REQUIRE_OK(bf_compress_append(ctx, BF_CODEC_ZSTD, 0, plain, strlen(plain), b, &test_err));
	put_file("metadata/v201.metadata.json", b->data, b->len);
	expect_plan(__LINE__, load(bf_arena_printf(a, "%s/metadata/v200.gz.metadata.json", test_dir())),
				2, 20, "7:0-19", "");
	expect_plan(__LINE__, load(bf_arena_printf(a, "%s/metadata/v201.metadata.json", test_dir())), 2,
				20, "7:0-19", "");
}
