/*
 * The side of ours in test/interop/iceberg_check.py, which runs these one at a time with
 * BIFANG_INTEROP set: create a table, plan it, commit to it, between commits of another engine.
 *
 *   iceberg_interop_create   BIFANG_INTEROP = directory       prints `metadata PATH`
 *   iceberg_interop_commit   BIFANG_INTEROP = metadata file   prints `metadata PATH`
 *                            BIFANG_INTEROP_FILES = NAME:ROWS ...
 *                            (spec 0; partition values all NULL)
 *   iceberg_interop_moved    the same, the files being Parquet;
 *                            BIFANG_INTEROP_MOVED = NAME ...
 *   iceberg_interop_plan     BIFANG_INTEROP = metadata file   prints `plan PARQUET LOGICAL ROWS`
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "iceberg/commit.h"
#include "unit/lib/runner.h"

static BfField columns[] = {
	{.name = "id", .type = {.kind = BF_KIND_INT64}, .required = true, .doc = "the key"},
	{.name = "b", .type = {.kind = BF_KIND_BOOL}},
	{.name = "i", .type = {.kind = BF_KIND_INT32}},
	{.name = "f", .type = {.kind = BF_KIND_FLOAT32}},
	{.name = "d", .type = {.kind = BF_KIND_FLOAT64}},
	{.name = "dec", .type = {.kind = BF_KIND_DECIMAL, .precision = 12, .scale = 2}},
	{.name = "day", .type = {.kind = BF_KIND_DATE}},
	{.name = "t", .type = {.kind = BF_KIND_TIME}},
	{.name = "ts", .type = {.kind = BF_KIND_TIMESTAMP}},
	{.name = "tz", .type = {.kind = BF_KIND_TIMESTAMPTZ}},
	{.name = "s", .type = {.kind = BF_KIND_STRING}},
	{.name = "bin", .type = {.kind = BF_KIND_BINARY}},
	{.name = "u", .type = {.kind = BF_KIND_UUID, .length = 16}},
	{.name = "fix", .type = {.kind = BF_KIND_FIXED, .length = 3}},
};
static BfIcePartitionField fields[] = {
	{.source_id = 7, .transform = {.kind = BF_TRANSFORM_IDENTITY}},
	{.source_id = 1, .transform = {.kind = BF_TRANSFORM_BUCKET, .param = 4}},
	{.source_id = 9, .transform = {.kind = BF_TRANSFORM_DAY}},
	{.source_id = 6, .transform = {.kind = BF_TRANSFORM_TRUNCATE, .param = 100}},
};

/* The host's random numbers begin anew in every process; with another seed, other file names. */
static void
skip_random(void)
{
	uint64_t n = test_random_below(100000), ignored;

	for (uint64_t i = 0; i < n; i++)
		REQUIRE_OK(test_host()->random(test_host(), &ignored, sizeof ignored, &test_err));
}

TEST(iceberg_interop_create)
{
	const char *dir = getenv("BIFANG_INTEROP");
	BfSchema schema = {.n_fields = 14, .fields = columns};
	BfIceSpec spec = {.n_fields = 4, .fields = fields};
	const char *path;

	if (dir == NULL)
	{
		test_skip("BIFANG_INTEROP is not set");
		return;
	}
	skip_random();
	REQUIRE_OK(
		bf_ice_create(test_arena(), dir, NULL, &schema, &spec, NULL, NULL, 0, &path, &test_err));
	printf("metadata %s\n", path);
}

TEST(iceberg_interop_plan)
{
	const char *metadata = getenv("BIFANG_INTEROP");
	BfArena *a = test_arena();
	int32_t logical = 0;
	BfIceTable *t;
	BfIcePlan *plan;

	if (metadata == NULL)
	{
		test_skip("BIFANG_INTEROP is not set");
		return;
	}
	REQUIRE_OK(bf_ice_load(a, metadata, NULL, &t, &test_err));
	REQUIRE_OK(bf_ice_plan(a, t, NULL, &plan, &test_err));
	for (int32_t i = 0; i < plan->n_files; i++)
		logical += plan->files[i].logical;
	printf("plan %d %d %lld\n", plan->n_files - logical, logical, (long long) plan->total_rows);
}

enum
{
	FILES_MAX = 16
};

/* The files that BIFANG_INTEROP_FILES lists, of the table's spec. */
static int32_t
listed_files(const BfIceTable *t, BfIceNewFile *files)
{
	BfArena *a = test_arena();
	const BfIceSpec *spec = bf_ice_spec(t->metadata, t->metadata->specs.default_id);
	char *text = bf_arena_strdup(a, getenv("BIFANG_INTEROP_FILES"));
	BfValue *nulls = bf_arena_alloc(a, sizeof *nulls * (size_t) spec->n_fields);
	int32_t n = 0;

	for (int32_t i = 0; i < spec->n_fields; i++)
		nulls[i] = (BfValue){.is_null = true, .type = BF_TYPE(INT32)};
	for (char *name = strtok(text, " "); name != NULL && n < FILES_MAX; name = strtok(NULL, " "))
	{
		char *colon = strrchr(name, ':');

		if (colon == NULL)
			break;
		*colon = '\0';
		files[n++] = (BfIceNewFile){.path = name,
									.spec_id = spec->spec_id,
									.n_partition = spec->n_fields,
									.partition = nulls,
									.record_count = atoll(colon + 1),
									.file_size = 1000};
	}
	return n;
}

TEST(iceberg_interop_commit)
{
	const char *metadata = getenv("BIFANG_INTEROP");
	BfIceNewFile files[FILES_MAX];
	BfArena *a = test_arena();
	BfIceTable *t;
	const char *path;
	int64_t id;

	if (metadata == NULL || getenv("BIFANG_INTEROP_FILES") == NULL)
	{
		test_skip("BIFANG_INTEROP is not set");
		return;
	}
	skip_random();
	REQUIRE_OK(bf_ice_load(a, metadata, NULL, &t, &test_err));
	REQUIRE_OK(
		bf_ice_commit_logical(a, t, files, listed_files(t, files), NULL, &path, &id, &test_err));
	printf("metadata %s\n", path);
}

TEST(iceberg_interop_moved)
{
	const char *metadata = getenv("BIFANG_INTEROP"), *list = getenv("BIFANG_INTEROP_MOVED");
	const char *path, *moved[FILES_MAX];
	BfIceNewFile files[FILES_MAX];
	BfArena *a = test_arena();
	int32_t n_files, n = 0;
	BfIceTable *t;
	char *text;
	int64_t id;

	if (metadata == NULL || getenv("BIFANG_INTEROP_FILES") == NULL || list == NULL)
	{
		test_skip("BIFANG_INTEROP is not set");
		return;
	}
	skip_random();
	REQUIRE_OK(bf_ice_load(a, metadata, NULL, &t, &test_err));
	n_files = listed_files(t, files);
	text = bf_arena_strdup(a, list);
	for (char *name = strtok(text, " "); name != NULL && n < FILES_MAX; name = strtok(NULL, " "))
		moved[n++] = name;
	for (int32_t i = 0; i < n_files; i++)
	{
		struct stat st;

		REQUIRE(stat(files[i].path, &st) == 0);
		files[i].file_size = st.st_size;
	}
	REQUIRE_OK(bf_ice_commit_moved(a, t, files, n_files, moved, n, &path, &id, &test_err));
	printf("metadata %s\n", path);
}
