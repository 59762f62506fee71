/*
 * Rows that move from logical files to Parquet: both branches in one commit, each row once
 * whichever of them is read, and what others committed meanwhile stays.
 */
#include "iceberg/file_metrics.h"
#include "iceberg/internal.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

static BfField columns[] = {
	{.name = "id", .type = {.kind = BF_KIND_INT64}, .required = true},
	{.name = "day", .type = {.kind = BF_KIND_DATE}},
};
static const BfSchema schema = {.n_fields = 2, .fields = columns};

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

/* Of column 1: ids 4 and 9. */
static BfView
metrics(BfArena *a)
{
	static const BfIceMetricsColumn c = {0, 1, BF_ICE_METRICS_FULL, 0};
	int64_t ids[] = {4, 9};
	BfVector v = {.type = BF_TYPE(INT64),
				  .storage = BF_STORE_I64,
				  .form = BF_VEC_FLAT,
				  .n = 2,
				  .data.raw = ids};
	BfBounds bounds;
	BfView out = {NULL, 0};

	bf_ice_metrics_begin(&schema, &c, &bounds);
	if (bf_bounds_add(a, &bounds, &v, 0, 2, &test_err) != BF_OK ||
		bf_ice_metrics_write(a, &c, &bounds, 1, &out, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "metrics: %s", test_err.text);
	return out;
}

static BfIceNewFile
file_of(const char *path, int64_t rows)
{
	return (BfIceNewFile){.path = path, .record_count = rows, .file_size = rows * 10};
}

static BfIceNewFile
parquet(const char *name, int64_t rows)
{
	return file_of(bf_arena_printf(test_arena(), "%s/data/%s", test_dir(), name), rows);
}

static BfIceTable *
add(BfArena *a, const BfIceTable *t, const BfIceNewFile *files, int32_t n)
{
	const char *path = NULL;
	int64_t id;

	if (bf_ice_commit_logical(a, t, files, n, NULL, &path, &id, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "commit: %s", test_err.text);
	return load(a, path);
}

/* 7_0-9 and 7_10-11 (with metrics) in one manifest, 8_0-4 in another. */
static BfIceTable *
filled(BfArena *a)
{
	BfIceNewFile files[2];
	const char *path = NULL;

	if (bf_ice_create(a, test_dir(), NULL, &schema, NULL, NULL, NULL, 0, &path, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "create: %s", test_err.text);
	files[0] = file_of("bifang://db/t/7_0-9.log", 10);
	files[1] = file_of("bifang://db/t/7_10-11.log", 2);
	files[1].metrics = metrics(a);
	BfIceTable *t = add(a, load(a, path), files, 2);
	files[0] = file_of("bifang://db/t/8_0-4.log", 5);
	return add(a, t, files, 1);
}

static const char *const moved[] = {"bifang://db/t/8_0-4.log", "bifang://db/t/7_0-9.log"};

typedef struct Seen
{
	int32_t n[3];
	BfIceFile kept;
	int64_t lower;
} Seen;

static BfStatus
see(void *arg, const BfIceFile *f, BfError *err)
{
	Seen *s = arg;

	(void) err;
	s->n[f->status]++;
	if (f->status == BF_ICE_EXISTING)
	{
		s->kept = *f;
		if (f->metrics.n_lower == 1 && f->metrics.lower[0].bytes.len == 8)
			memcpy(&s->lower, f->metrics.lower[0].bytes.ptr, 8);
	}
	return BF_OK;
}

/* The lines of all manifests of a snapshot. */
static void
see_all(BfArena *a, const BfIceTable *t, const BfIceSnapshot *snapshot, Seen *s, int32_t *n)
{
	BfIceManifest *manifests;
	const char *path;

	*s = (Seen){.lower = 0};
	REQUIRE(snapshot != NULL);
	REQUIRE_OK(bf_location_resolve(a, &t->location, snapshot->manifest_list, &path, &test_err));
	REQUIRE_OK(bf_ice_read_manifest_list(a, path, NULL, &manifests, n, &test_err));
	for (int32_t i = 0; i < *n; i++)
	{
		Seen before = *s;

		REQUIRE_OK(bf_location_resolve(a, &t->location, manifests[i].path, &path, &test_err));
		REQUIRE_OK(
			bf_ice_read_manifest(a, path, &manifests[i], t->metadata, NULL, see, s, &test_err));
		EXPECT_EQ(manifests[i].existing_files, s->n[0] - before.n[0]);
		EXPECT_EQ(manifests[i].added_files, s->n[1] - before.n[1]);
		EXPECT_EQ(manifests[i].deleted_files, s->n[2] - before.n[2]);
	}
}

/* Both branches have every row once; what is left of a manifest keeps what it said. */
TEST(iceberg_moved_both_branches)
{
	static const int64_t splits[] = {4, 100};
	BfArena *a = test_arena();
	BfIceTable *t = filled(a), *after;
	BfIceNewFile files[2] = {parquet("a.parquet", 11), parquet("b.parquet", 4)};
	const BfIceSnapshot *main, *branch;
	const char *path;
	BfIcePlan *p;
	Seen s;
	int32_t n = 0;
	int64_t id;

	files[0].splits = splits;
	files[0].n_splits = 2;
	REQUIRE_OK(bf_ice_commit_moved(a, t, files, 2, moved, 2, &path, &id, &test_err));
	after = load(a, path);
	p = plan(a, after);
	REQUIRE(p != NULL);
	EXPECT_EQ(p->n_files, 3);
	EXPECT_EQ(p->total_rows, 17);
	EXPECT_EQ(p->total_bytes, 170);
	EXPECT_EQ(p->snapshot_id, id);
	EXPECT_STR(coverage_text(&p->covered_parquet), "7:0-9;8:0-4");
	EXPECT_STR(coverage_text(&p->covered), "7:0-11;8:0-4");
	EXPECT_STR(bf_ice_property(after->metadata, BF_ICE_COVERED), "7:0-11;8:0-4");
	EXPECT_STR(bf_ice_property(after->metadata, BF_ICE_COVERED_PARQUET), "7:0-9;8:0-4");

	main = bf_ice_ref(after->metadata, BF_ICE_BRANCH_MAIN);
	branch = bf_ice_ref(after->metadata, BF_ICE_BRANCH_BIFANG);
	REQUIRE(main != NULL && branch != NULL);
	EXPECT_EQ(main->id, id);
	EXPECT_EQ(main->parent_id, bf_ice_ref(t->metadata, BF_ICE_BRANCH_MAIN)->id);
	EXPECT_EQ(branch->parent_id, bf_ice_ref(t->metadata, BF_ICE_BRANCH_BIFANG)->id);
	EXPECT(branch->sequence_number > main->sequence_number);
	EXPECT_EQ(after->metadata->last_sequence_number, branch->sequence_number);
	EXPECT_EQ(after->metadata->snapshot_log.n, t->metadata->snapshot_log.n + 1);
	EXPECT_STR(bf_ice_summary(main, "operation"), "append");
	EXPECT_STR(bf_ice_summary(main, "total-records"), "15");
	EXPECT_STR(bf_ice_summary(main, "total-files-size"), "150");
	EXPECT_STR(bf_ice_summary(branch, "operation"), "replace");
	EXPECT_STR(bf_ice_summary(branch, "total-records"), "17");
	EXPECT_STR(bf_ice_summary(branch, "total-data-files"), "3");
	EXPECT_STR(bf_ice_summary(branch, "total-files-size"), "170");
	EXPECT_STR(bf_ice_summary(branch, "deleted-data-files"), "2");
	EXPECT_STR(bf_ice_summary(branch, "deleted-records"), "15");
	EXPECT_STR(bf_ice_summary(branch, "removed-files-size"), "150");

	see_all(a, after, main, &s, &n);
	EXPECT_EQ(n, 1);
	EXPECT_EQ(s.n[BF_ICE_ADDED], 2);
	see_all(a, after, branch, &s, &n);
	EXPECT_EQ(n, 3);
	EXPECT_EQ(s.n[BF_ICE_EXISTING], 1);
	EXPECT_EQ(s.n[BF_ICE_ADDED], 2);
	EXPECT_EQ(s.n[BF_ICE_DELETED], 2);
	EXPECT_STR(s.kept.path, "bifang://db/t/7_10-11.log");
	EXPECT_EQ(s.kept.sequence_number, 2);
	EXPECT_EQ(s.kept.snapshot_id, bf_ice_snapshot(t->metadata, branch->parent_id)->parent_id);
	EXPECT_EQ(s.lower, 4);

	/* What was there before is what it was. */
	EXPECT_EQ(plan(a, load(a, t->metadata_path))->total_rows, 17);
	/* The next commit has nothing of the files that went. */
	files[0] = file_of("bifang://db/t/9_0-0.log", 1);
	after = add(a, after, files, 1);
	EXPECT_EQ(plan(a, after)->total_rows, 18);
	see_all(a, after, bf_ice_ref(after->metadata, BF_ICE_BRANCH_BIFANG), &s, &n);
	EXPECT_EQ(n, 3);
}

/* What was committed since the files were written stays, and the rest can move later. */
TEST(iceberg_moved_after_others)
{
	BfArena *a = test_arena();
	BfIceTable *t = filled(a);
	BfIceNewFile file = parquet("a.parquet", 15), more = file_of("bifang://db/t/7_12-19.log", 8);
	static const char *const rest[] = {"bifang://db/t/7_12-19.log", "bifang://db/t/7_10-11.log"};
	const char *path;
	BfIcePlan *p;
	int64_t id;

	t = add(a, t, &more, 1);
	REQUIRE_OK(bf_ice_commit_moved(a, t, &file, 1, moved, 2, &path, &id, &test_err));
	t = load(a, path);
	EXPECT_EQ(plan(a, t)->total_rows, 25);
	file = parquet("b.parquet", 10);
	REQUIRE_OK(bf_ice_commit_moved(a, t, &file, 1, rest, 2, &path, &id, &test_err));
	t = load(a, path);
	p = plan(a, t);
	REQUIRE(p != NULL);
	EXPECT_EQ(p->n_files, 2);
	EXPECT_EQ(p->total_rows, 25);
	EXPECT_STR(coverage_text(&p->covered_parquet), "7:0-19;8:0-4");
	EXPECT_STR(coverage_text(&p->covered), "7:0-19;8:0-4");
	REQUIRE_OK(bf_ice_plan_snapshot(a, t, id, NULL, &p, &test_err));
	EXPECT_EQ(p->total_rows, 25);
}

TEST(iceberg_moved_refuses)
{
	static const char *const twice[] = {"bifang://db/t/8_0-4.log", "bifang://db/t/8_0-4.log"};
	static const char *const part[] = {"bifang://db/t/7_0-4.log"};
	BfArena *a = test_arena();
	BfIceTable *t = filled(a);
	BfIceNewFile file = parquet("a.parquet", 15);
	const char *path, *newest;
	int64_t id;

	for (int64_t rows = 14; rows <= 16; rows += 2)
	{
		file.record_count = rows;
		EXPECT_FAIL(bf_ice_commit_moved(a, t, &file, 1, moved, 2, &path, &id, &test_err),
					BF_ERR_VALUE, -1);
	}
	file.record_count = 5;
	EXPECT_FAIL(bf_ice_commit_moved(a, t, &file, 1, twice, 2, &path, &id, &test_err), BF_ERR_VALUE,
				-1);
	EXPECT_FAIL(bf_ice_commit_moved(a, t, &file, 1, part, 1, &path, &id, &test_err),
				BF_ERR_CONFLICT, -1);
	file.spec_id = 3;
	EXPECT_FAIL(bf_ice_commit_moved(a, t, &file, 1, twice, 1, &path, &id, &test_err), BF_ERR_VALUE,
				-1);
	file = file_of("bifang://db/t/9_0-4.log", 5);
	EXPECT_FAIL(bf_ice_commit_moved(a, t, &file, 1, twice, 1, &path, &id, &test_err), BF_ERR_VALUE,
				-1);
	REQUIRE_OK(bf_ice_find_metadata(a, test_dir(), &newest, &test_err));
	EXPECT_STR(newest, t->metadata_path);
	/* Once is enough, and entries that main has are not committed again. */
	file = parquet("a.parquet", 5);
	REQUIRE_OK(bf_ice_commit_moved(a, t, &file, 1, twice, 1, &path, &id, &test_err));
	t = load(a, path);
	EXPECT_FAIL(bf_ice_commit_moved(a, t, &file, 1, twice, 1, &path, &id, &test_err),
				BF_ERR_CONFLICT, -1);
	file = file_of("bifang://db/t/8_4-4.log", 1);
	EXPECT_FAIL(bf_ice_commit_logical(a, t, &file, 1, NULL, &path, &id, &test_err), BF_ERR_VALUE,
				-1);
}

static BfStatus
move_once(const BfHost *host, const char *metadata, const char **new_path)
{
	BfArena *a = bf_arena_new(host, "scenario", (size_t) 64 << 20);
	BfIceNewFile file = parquet("a.parquet", 15);
	BfStatus status;
	BfIceTable *t;
	int64_t id;

	*new_path = NULL;
	if (a == NULL)
		return BF_ERR_NOMEM;
	status = bf_ice_load(a, metadata, NULL, &t, &test_err);
	if (status == BF_OK)
		status = bf_ice_commit_moved(a, t, &file, 1, moved, 2, new_path, &id, &test_err);
	if (status == BF_OK)
		*new_path = bf_arena_strdup(test_arena(), *new_path);
	bf_arena_free(a);
	return status;
}

/* Whatever fails, the table is what it was, and nothing leaks. */
TEST(iceberg_moved_fault_at_every_call)
{
	static const BfStatus codes[TEST_FAULT_COUNT] = {BF_OK, BF_ERR_NOMEM, BF_ERR_IO, BF_ERR_IO,
													 BF_ERR_CANCEL};
	BfArena *a = test_arena();
	BfIceTable *t = filled(a);
	const char *path, *newest;

	REQUIRE(t != NULL);
	for (int kind = TEST_FAULT_ALLOC; kind < TEST_FAULT_COUNT; kind++)
		for (int64_t call = 1;; call += kind == TEST_FAULT_ALLOC && call > 40 ? 23 : 1)
		{
			TestHost h;
			BfStatus status;
			bool fired;

			test_host_init(&h);
			h.random_state = (uint64_t) (kind * 1000000 + call);
			test_fault_arm(&h, (TestFault) kind, call, false);
			status = move_once(&h.host, t->metadata_path, &path);
			fired = test_fault_fired(&h);
			EXPECT_EQ(status, fired ? codes[kind] : BF_OK);
			EXPECT_EQ(h.live_allocs, 0);
			EXPECT_EQ(h.open_files, 0);
			EXPECT_EQ(h.bad_frees, 0);
			REQUIRE_OK(bf_ice_find_metadata(a, test_dir(), &newest, &test_err));
			EXPECT_STR(newest, path != NULL ? path : t->metadata_path);
			if (path != NULL)
				REQUIRE_OK(test_host()->unlink(test_host(), path, &test_err));
			if (!fired || test_failed())
				break;
			REQUIRE(call < 20000);
		}
	EXPECT_EQ(plan(a, load(a, t->metadata_path))->total_rows, 17);
}
