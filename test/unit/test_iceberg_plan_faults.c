/* Every allocation, read and poll of planning fails once, with a cache and without: nothing leaks,
 * and the cache is as good afterwards as before. */
#include "iceberg/internal.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

static const int32_t key[] = {1};

/* Data in two partitions, a delete file of each kind. */
static BfIceTable *
faulty_table(void)
{
	static MakeFile data[2], deletes[3];
	static MakeManifest m[2];
	static MakeManifest *list[] = {&m[0], &m[1]};
	MakeSnapshot snapshot = {1, 0, 5, 5, 0, NULL, 2, list};
	MakeTable table = {
		.version = 3,
		.schemas = "[{\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"n\",\"type\":\"long\"}]}]",
		.specs = "[{\"spec-id\":0,\"fields\":[{\"name\":\"n\",\"transform\":\"truncate[10]\","
				 "\"source-id\":1,\"field-id\":1000}]}]",
		.current = 1,
		.n_snapshots = 1,
		.snapshots = &snapshot};
	static const char *const names[] = {"a", "b", "v", "p", "e"};

	for (int i = 0; i < 5; i++)
	{
		MakeFile *f = i < 2 ? &data[i] : &deletes[i - 2];

		*f = (MakeFile){.status = BF_ICE_ADDED,
						.path = bf_arena_printf(test_arena(), "%s/%s", test_dir(), names[i]),
						.sequence = i < 2 ? 1 : 5,
						.rows = 10,
						.n_partition = 1,
						.partition = make_i64(i == 1 ? 20 : 10)};
	}
	deletes[0].content = deletes[1].content = BF_ICE_POSITION_DELETES;
	deletes[0].format = "PUFFIN";
	deletes[0].referenced = data[0].path;
	deletes[0].length = 40;
	deletes[2].content = BF_ICE_EQUALITY_DELETES;
	deletes[2].n_equality_ids = 1;
	deletes[2].equality_ids = key;
	m[0] = (MakeManifest){
		.name = "data", .sequence = 1, .snapshot_id = 1, .n_files = 2, .files = data};
	m[1] = (MakeManifest){.name = "deletes",
						  .deletes = true,
						  .sequence = 5,
						  .snapshot_id = 1,
						  .n_files = 3,
						  .files = deletes};
	return make_table(&table);
}

static BfStatus
scan_once(BfArena *a, const BfIceTable *t, BfIceCache *cache, int32_t *n_deletes)
{
	BfValue value = {.type = BF_TYPE(INT64), .v = {.i64 = 12}};
	BfPred pred = {.kind = BF_PRED_EQ, .n_values = 1, .values = &value};
	BfIceScan scan = {.pred = &pred, .prune = BF_PRUNE_ALL, .cache = cache};
	BfIcePlan *p;

	BF_TRY(bf_ice_at_resolve(t, &(BfIceAt){.kind = BF_ICE_AT_CURRENT}, &scan.point, &test_err));
	BF_TRY(bf_ice_plan_scan(a, t, &scan, &p, &test_err));
	*n_deletes = p->n_files == 1 ? bf_ice_n_deletes(&p->files[0]) : -1;
	return BF_OK;
}

static void
check_faults(const BfIceTable *t, TestFault kind, bool cached)
{
	static const BfStatus expected[] = {[TEST_FAULT_ALLOC] = BF_ERR_NOMEM,
										[TEST_FAULT_READ] = BF_ERR_IO,
										[TEST_FAULT_CANCEL] = BF_ERR_CANCEL};
	int32_t n_deletes = 0;
	TestHost h;

	test_host_init(&h);
	for (int64_t call = 1;; call++)
	{
		BfIceCache *cache = NULL;
		BfArena *a;
		BfStatus status;
		bool fired;

		if (cached)
			REQUIRE_OK(bf_ice_cache_new(&h.host, (size_t) 1 << 20, &cache, &test_err));
		a = bf_arena_new(&h.host, "plan", (size_t) 1 << 20);
		REQUIRE(a != NULL);
		test_fault_arm(&h, kind, call, false);
		bf_error_clear(&test_err);
		status = scan_once(a, t, cache, &n_deletes);
		fired = test_fault_fired(&h);
		if (fired && status != BF_OK && status != expected[kind])
			test_fail(__FILE__, __LINE__, "call %lld: %s", (long long) call, test_err.text);
		/* Again, over whatever the cache has by now. */
		if (status != BF_OK)
			EXPECT_EQ(scan_once(a, t, cache, &n_deletes), BF_OK);
		EXPECT_EQ(n_deletes, 2);
		bf_arena_free(a);
		bf_ice_cache_free(cache);
		EXPECT_EQ(h.live_allocs, 0);
		EXPECT_EQ(h.open_files, 0);
		EXPECT_EQ(h.bad_frees, 0);
		if (!fired || test_failed())
			return;
	}
}

TEST(iceberg_plan_fault_at_every_call)
{
	static const TestFault kinds[] = {TEST_FAULT_ALLOC, TEST_FAULT_READ, TEST_FAULT_CANCEL};
	BfIceTable *t = faulty_table();

	REQUIRE(t != NULL);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
	{
		check_faults(t, kinds[i], false);
		check_faults(t, kinds[i], true);
	}
}
