/*
 * Planning over many files: 100,000 when BIFANG_BENCH is set (use the release build, whose times
 * mean something), else 2,000. The first plan of a process reads every manifest, later ones find
 * them in the cache.
 */
#include <stdlib.h>
#include <time.h>

#include "iceberg/internal.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

#define PER_MANIFEST 1000
#define COLUMNS 12

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* Numbers that grow with the file, texts, and NULL counts. */
static void
fill_columns(BfArena *a, MakeColumn *columns, int32_t file)
{
	for (int32_t i = 0; i < COLUMNS; i++)
	{
		BfValue *v = bf_arena_alloc_array(a, 2, sizeof *v);

		memset(v, 0, 2 * sizeof *v);
		for (int k = 0; k < 2; k++)
			if (i % 3 == 2)
			{
				v[k].type = BF_TYPE(STRING);
				v[k].v.view.ptr =
					(const uint8_t *) bf_arena_printf(a, "value %06d of %d", file + k, i);
				v[k].v.view.len = (uint32_t) strlen((const char *) v[k].v.view.ptr);
			}
			else
			{
				v[k].type = BF_TYPE(INT64);
				v[k].v.i64 = (int64_t) file * 1000 + k * 999;
			}
		columns[i] = (MakeColumn){i + 1, &v[0], &v[1], 1000, i, -1};
	}
}

static MakeManifest *
fill_manifest(BfArena *a, int32_t number)
{
	MakeManifest *m = bf_arena_alloc(a, sizeof *m);
	MakeFile *files = bf_arena_alloc_array(a, PER_MANIFEST, sizeof *files);

	memset(files, 0, PER_MANIFEST * sizeof *files);
	for (int32_t i = 0; i < PER_MANIFEST; i++)
	{
		int32_t file = number * PER_MANIFEST + i;
		MakeColumn *columns = bf_arena_alloc_array(a, COLUMNS, sizeof *columns);
		BfValue *day = bf_arena_alloc(a, sizeof *day);

		fill_columns(a, columns, file);
		*day = (BfValue){.type = BF_TYPE(INT64)};
		day->v.i64 = number / 2;
		files[i] = (MakeFile){
			.status = BF_ICE_ADDED,
			.path = bf_arena_printf(a,
									"file://%s/data/day=%d/00000-%d-8b1f6f5e-6a0c-4f6b-9d57-"
									"2f5d6b8a9c01-00001.parquet",
									test_dir(), number / 2, file),
			.sequence = -1,
			.rows = 1000,
			.size = 1 << 20,
			.n_partition = 1,
			.partition = day,
			.n_columns = COLUMNS,
			.columns = columns};
	}
	*m = (MakeManifest){.name = bf_arena_printf(a, "m%05d.avro", number),
						.sequence = number + 1,
						.snapshot_id = 1,
						.n_files = PER_MANIFEST,
						.files = files};
	return m;
}

static BfIceTable *
large_table(BfArena *a, int32_t n_manifests)
{
	MakeManifest **list = bf_arena_alloc_array(a, (size_t) n_manifests, sizeof *list);
	MakeSnapshot snapshot = {1, 0, 1, 5, 0, NULL, n_manifests, list};
	MakeTable table = {.version = 2,
					   .specs = "[{\"spec-id\":0,\"fields\":[{\"name\":\"day\",\"transform\":"
								"\"identity\",\"source-id\":20,\"field-id\":1000}]}]",
					   .current = 1,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};
	const char *fields = "{\"id\":20,\"name\":\"day\",\"type\":\"long\"}";

	for (int32_t i = 0; i < COLUMNS; i++)
		fields = bf_arena_printf(a, "%s,{\"id\":%d,\"name\":\"c%d\",\"type\":\"%s\"}", fields,
								 i + 1, i, i % 3 == 2 ? "string" : "long");
	table.schemas = bf_arena_printf(a, "[{\"schema-id\":0,\"fields\":[%s]}]", fields);
	for (int32_t i = 0; i < n_manifests; i++)
		list[i] = fill_manifest(a, i);
	return make_table(&table);
}

static double
time_plan(const BfIceTable *t, BfIceScan *scan, BfIcePlan *out, size_t *bytes)
{
	BfArena *a = bf_arena_new(test_host(), "plan", (size_t) 1 << 30);
	double start = now();
	BfIcePlan *p = NULL;

	if (bf_ice_plan_scan(a, t, scan, &p, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", test_err.object, test_err.text);
	else
		*out = *p;
	start = now() - start;
	*bytes = bf_arena_bytes(a);
	bf_arena_free(a);
	return start;
}

TEST(iceberg_large)
{
	bool bench = getenv("BIFANG_BENCH") != NULL;
	BfArena *a = test_arena();
	int32_t n_manifests = bench ? 100 : 2;
	BfIceTable *t = large_table(a, n_manifests);
	BfIceScan scan = {.prune = BF_PRUNE_ALL};
	BfValue value = {.type = BF_TYPE(INT64)};
	BfPred pred = {.kind = BF_PRED_EQ, .field = 1, .n_values = 1, .values = &value};
	BfIceCacheStats stats;
	BfIcePlan p = {.n_files = 0};
	double first, again, pruned, streamed;
	size_t bytes;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_at_resolve(t, &(BfIceAt){.kind = BF_ICE_AT_CURRENT}, &scan.point, &test_err));
	streamed = time_plan(t, &scan, &p, &bytes);
	EXPECT_EQ(p.n_files, n_manifests * PER_MANIFEST);
	REQUIRE_OK(bf_ice_cache_new(test_host(), (size_t) 256 << 20, &scan.cache, &test_err));
	first = time_plan(t, &scan, &p, &bytes);
	EXPECT_EQ(p.n_files, n_manifests * PER_MANIFEST);
	EXPECT_EQ(p.total_rows, (int64_t) n_manifests * PER_MANIFEST * 1000);
	again = time_plan(t, &scan, &p, &bytes);
	EXPECT_EQ(p.counters.manifests_read, 0);
	bf_ice_cache_stats(scan.cache, &stats);
	/* One file by its bounds. */
	value.v.i64 = (int64_t) (n_manifests * PER_MANIFEST - 7) * 1000 + 5;
	scan.pred = &pred;
	pruned = time_plan(t, &scan, &p, &bytes);
	EXPECT_EQ(p.n_files, 1);
	EXPECT_EQ(p.counters.files_by_bounds, n_manifests * PER_MANIFEST - 1);
	/* One day by its partition: its manifests alone. */
	pred.field = 0;
	value.v.i64 = 0;
	time_plan(t, &scan, &p, &bytes);
	EXPECT_EQ(p.n_files, 2 * PER_MANIFEST);
	EXPECT_EQ(p.counters.manifests_skipped, n_manifests - 2);
	bf_ice_cache_free(scan.cache);
	if (!bench)
		return;
	printf(
		"  100000 files: %.2f s without a cache, %.2f s first, %.3f s again, %.3f s for one file "
		"of them; %zu MB cached\n",
		streamed, first, again, pruned, stats.bytes >> 20);
	EXPECT(first < 3.0 && again < 0.2 && pruned < 0.2);
}
