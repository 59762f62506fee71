/*
 * Manifests of logical files that become one, and files of one ledger and partition with them:
 * every entry is there once, and what is known of columns and partitions is true of all.
 */
#include "iceberg/file_metrics.h"
#include "iceberg/internal.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

static BfField columns[] = {
	{.name = "id", .type = {.kind = BF_KIND_INT64}},
	{.name = "kind", .type = {.kind = BF_KIND_INT32}},
};
static const BfSchema schema = {.n_fields = 2, .fields = columns};
static BfIcePartitionField by_kind[] = {
	{.source_id = 2, .transform = {.kind = BF_TRANSFORM_IDENTITY}},
};
static const BfIceSpec partitioned = {.n_fields = 1, .fields = by_kind};

static BfIceTable *
load(const char *path)
{
	BfIceTable *t = NULL;

	if (bf_ice_load(test_arena(), path, NULL, &t, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", path, test_err.text);
	return t;
}

/* Merges as soon as there are `min` manifests. */
static BfIceTable *
create(const BfIceSpec *spec, const char *min)
{
	static const char *const keys[] = {"commit.manifest.min-count-to-merge"};
	const char *path = NULL;

	if (bf_ice_create(test_arena(), test_dir(), NULL, &schema, spec, keys, &min, 1, &path,
					  &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "create: %s", test_err.text);
	return load(path);
}

/* Of column 1; n = 0: n NULLs. */
static BfView
metrics(const int64_t *ids, int32_t n)
{
	static const BfIceMetricsColumn c = {0, 1, BF_ICE_METRICS_FULL, 0};
	static uint64_t none[1] = {0};
	int64_t zero = 0;
	BfVector v = {.type = BF_TYPE(INT64),
				  .storage = BF_STORE_I64,
				  .form = BF_VEC_FLAT,
				  .n = n > 0 ? n : 1,
				  .validity = n > 0 ? NULL : none,
				  .data.raw = n > 0 ? (void *) (uintptr_t) ids : &zero};
	BfBounds bounds;
	BfView out = {NULL, 0};

	bf_ice_metrics_begin(&schema, &c, &bounds);
	if (bf_bounds_add(test_arena(), &bounds, &v, 0, v.n, &test_err) != BF_OK ||
		bf_ice_metrics_write(test_arena(), &c, &bounds, 1, &out, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "metrics: %s", test_err.text);
	return out;
}

static BfIceNewFile
file_of(const char *path, int64_t rows)
{
	return (BfIceNewFile){.path = path, .record_count = rows, .file_size = rows * 10};
}

static BfIceTable *
add(const BfIceTable *t, const BfIceNewFile *files, int32_t n)
{
	const char *path = NULL;
	int64_t id;

	if (t == NULL ||
		bf_ice_commit_logical(test_arena(), t, files, n, NULL, &path, &id, &test_err) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "commit: %s", test_err.text);
		return NULL;
	}
	return load(path);
}

/* What a snapshot's manifests have: lines as "path status" in the order of manifests. */
typedef struct Seen
{
	int32_t n_manifests;
	int32_t n[3];
	char live[2000];
	BfIceFile last; /* live */
	const BfIceManifest *manifests;
} Seen;

static BfStatus
see(void *arg, const BfIceFile *f, BfError *err)
{
	Seen *s = arg;

	(void) err;
	s->n[f->status]++;
	if (f->status == BF_ICE_DELETED)
		return BF_OK;
	s->last = *f;
	snprintf(s->live + strlen(s->live), sizeof s->live - strlen(s->live), "%s%s",
			 s->live[0] != '\0' ? " " : "", strrchr(f->path, '/') + 1);
	return BF_OK;
}

static Seen
seen(const BfIceTable *t, const BfIceSnapshot *snapshot)
{
	BfArena *a = test_arena();
	BfIceManifest *m = NULL;
	const char *path;
	Seen s = {.n_manifests = -1};

	if (snapshot == NULL ||
		bf_location_resolve(a, &t->location, snapshot->manifest_list, &path, &test_err) != BF_OK ||
		bf_ice_read_manifest_list(a, path, NULL, &m, &s.n_manifests, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	s.manifests = m;
	for (int32_t i = 0; i < s.n_manifests; i++)
	{
		Seen before = s;

		if (bf_location_resolve(a, &t->location, m[i].path, &path, &test_err) != BF_OK ||
			bf_ice_read_manifest(a, path, &m[i], t->metadata, NULL, see, &s, &test_err) != BF_OK)
			test_fail(__FILE__, __LINE__, "%s", test_err.text);
		EXPECT_EQ(m[i].existing_files, s.n[0] - before.n[0]);
		EXPECT_EQ(m[i].added_files, s.n[1] - before.n[1]);
		EXPECT_EQ(m[i].deleted_files, s.n[2] - before.n[2]);
	}
	return s;
}

static const BfIceSnapshot *
head(const BfIceTable *t)
{
	return bf_ice_ref(t->metadata, BF_ICE_BRANCH_BIFANG);
}

static void
expect_plan(const BfIceTable *t, int32_t files, int64_t rows, const char *covered)
{
	BfIcePlan *p;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_plan(test_arena(), t, NULL, &p, &test_err));
	EXPECT_EQ(p->n_files, files);
	EXPECT_EQ(p->total_rows, rows);
	EXPECT_STR(coverage_text(&p->covered), covered);
}

TEST(iceberg_merge_files_of_a_ledger)
{
	BfIceTable *t = create(NULL, "3"), *before;
	const BfIceSnapshot *replace;
	BfIceNewFile f;
	Seen s;

	f = file_of("bifang://db/t/7_0-9.log", 10);
	t = add(t, &f, 1);
	f = file_of("bifang://db/t/8_0-4.log", 5);
	t = add(t, &f, 1);
	f = file_of("bifang://db/t/7_12-19.log", 8);
	before = t = add(t, &f, 1);
	REQUIRE(t != NULL);
	EXPECT_EQ(seen(t, head(t)).n_manifests, 3);
	f = file_of("bifang://db/t/7_20-20.log", 1);
	t = add(t, &f, 1);
	REQUIRE(t != NULL);
	expect_plan(t, 3, 24, "7:0-9_12-20;8:0-4");
	expect_plan(before, 3, 23, "7:0-9_12-19;8:0-4");

	/* The merge is a snapshot of its own, which changes no row. */
	replace = bf_ice_snapshot(t->metadata, head(t)->parent_id);
	REQUIRE(replace != NULL);
	EXPECT_EQ(replace->parent_id, head(before)->id);
	EXPECT(head(before)->sequence_number < replace->sequence_number);
	EXPECT(replace->sequence_number < head(t)->sequence_number);
	EXPECT_EQ(t->metadata->last_sequence_number, head(t)->sequence_number);
	s = seen(t, replace);
	EXPECT_EQ(s.n_manifests, 1);
	EXPECT_STR(s.live, "8_0-4.log 7_0-9_12-19.log");
	EXPECT_EQ(s.n[BF_ICE_ADDED], 1);
	EXPECT_EQ(s.n[BF_ICE_DELETED], 2);
	/* The rows are as old as they were. */
	EXPECT_EQ(s.manifests[0].min_sequence_number, head(before)->sequence_number - 2);
	EXPECT_EQ(s.last.sequence_number, head(before)->sequence_number - 2);
	EXPECT_EQ(s.last.file_sequence_number, replace->sequence_number);
	EXPECT_EQ(s.last.record_count, 18);
	EXPECT_EQ(s.last.file_size, 180);
	EXPECT_STR(bf_ice_summary(replace, "operation"), "replace");
	EXPECT_STR(bf_ice_summary(replace, "added-data-files"), "1");
	EXPECT_STR(bf_ice_summary(replace, "deleted-data-files"), "2");
	EXPECT_STR(bf_ice_summary(replace, "added-records"), "18");
	EXPECT_STR(bf_ice_summary(replace, "total-records"), "23");
	EXPECT_STR(bf_ice_summary(replace, "total-data-files"), "2");
	EXPECT_STR(bf_ice_summary(replace, "total-files-size"), "230");
	EXPECT_STR(bf_ice_summary(replace, BF_ICE_COVERED), "7:0-9_12-19;8:0-4");
	EXPECT_STR(bf_ice_summary(head(t), "operation"), "append");
	EXPECT_STR(bf_ice_summary(head(t), "added-records"), "1");
	EXPECT_STR(bf_ice_summary(head(t), "total-files-size"), "240");
	s = seen(t, head(t));
	EXPECT_EQ(s.n_manifests, 2);
	EXPECT_STR(s.live, "8_0-4.log 7_0-9_12-19.log 7_20-20.log");
	/* Main has none of it. */
	EXPECT_EQ(seen(t, bf_ice_ref(t->metadata, BF_ICE_BRANCH_MAIN)).n_manifests, 0);
}

/* Hundreds of commits: as many manifests as one merge takes, and one file per ledger. */
TEST(iceberg_merge_again_and_again)
{
	BfIceTable *t = create(NULL, "5");
	const char *covered = NULL;

	for (int i = 0; i < 60 && t != NULL; i++)
	{
		BfIceNewFile f = file_of(bf_arena_printf(test_arena(), "bifang://db/t/%d_%d-%d.log", i / 30,
												 i % 30 * 10, i % 30 * 10 + 9),
								 10);

		t = add(t, &f, 1);
		REQUIRE(t != NULL);
		EXPECT(seen(t, head(t)).n_manifests <= 5);
		EXPECT(seen(t, head(t)).n[BF_ICE_DELETED] <= 7);
		covered = i < 30 ? bf_arena_printf(test_arena(), "0:0-%d", i * 10 + 9)
						 : bf_arena_printf(test_arena(), "0:0-299;1:0-%d", (i - 30) * 10 + 9);
		EXPECT_STR(bf_ice_property(t->metadata, BF_ICE_COVERED), covered);
	}
	REQUIRE(t != NULL);
	EXPECT(seen(t, head(t)).n[BF_ICE_ADDED] + seen(t, head(t)).n[BF_ICE_EXISTING] <= 7);
}

/* Bounds and counts hold for the rows of all; where one file says nothing, nothing is known. */
TEST(iceberg_merge_metrics)
{
	static const int64_t low[] = {-5, 3}, high[] = {100, 70};
	static const struct
	{
		int first, second; /* 0 low, 1 high, 2 NULLs, 3 nothing */
		int64_t lower, upper, values, nulls;
	} cases[] = {
		{0, 1, -5, 100, 4, 0}, {1, 0, -5, 100, 4, 0}, {0, 2, -5, 3, 3, 1}, {2, 1, 70, 100, 3, 1},
		{0, 3, 0, 0, -1, -1},  {3, 0, 0, 0, -1, -1},  {2, 2, 0, 0, 2, 2},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfIceTable *t = create(NULL, "2");
		BfIceNewFile f[2] = {file_of("bifang://db/t/7_0-9.log", 10),
							 file_of("bifang://db/t/7_10-19.log", 10)};
		const BfIceFileMetrics *m;
		Seen s;

		for (int k = 0; k < 2; k++)
		{
			int which = k == 0 ? cases[i].first : cases[i].second;

			if (which < 3)
				f[k].metrics = metrics(which == 0 ? low : high, which < 2 ? 2 : 0);
			t = add(t, &f[k], 1);
		}
		f[0] = file_of("bifang://db/t/9_0-9.log", 10);
		t = add(t, &f[0], 1);
		REQUIRE(t != NULL);
		s = seen(t, bf_ice_snapshot(t->metadata, head(t)->parent_id));
		EXPECT_STR(s.live, "7_0-19.log");
		m = &s.last.metrics;
		EXPECT_EQ(m->n_value_counts > 0 ? m->value_counts[0].count : -1, cases[i].values);
		EXPECT_EQ(m->n_null_counts > 0 ? m->null_counts[0].count : -1, cases[i].nulls);
		EXPECT_EQ(m->n_lower, cases[i].lower != cases[i].upper);
		EXPECT_EQ(m->n_upper, m->n_lower);
		if (m->n_lower == 1 && m->n_upper == 1)
		{
			int64_t bound;

			memcpy(&bound, m->lower[0].bytes.ptr, 8);
			EXPECT_EQ(bound, cases[i].lower);
			memcpy(&bound, m->upper[0].bytes.ptr, 8);
			EXPECT_EQ(bound, cases[i].upper);
		}
	}
}

/* Files of other partitions, NULL among them, stay apart; the list tells what lies between. */
TEST(iceberg_merge_partitions)
{
	BfIceTable *t = create(&partitioned, "4");
	const BfValue *kinds[] = {make_i32(3), make_null(BF_KIND_INT32), make_i32(3), make_i32(-7),
							  make_null(BF_KIND_INT32)};
	static const char *const paths[] = {"bifang://db/t/7_0-1.log", "bifang://db/t/7_2-3.log",
										"bifang://db/t/7_4-5.log", "bifang://db/t/7_6-7.log",
										"bifang://db/t/7_8-9.log"};
	const BfAvroValue *summary;
	int32_t bound;
	Seen s;

	for (int i = 0; i < 5; i++)
	{
		BfIceNewFile f = file_of(paths[i], 2);

		f.spec_id = t == NULL ? 0 : t->metadata->specs.default_id;
		f.partition = kinds[i];
		f.n_partition = 1;
		t = add(t, &f, 1);
	}
	REQUIRE(t != NULL);
	s = seen(t, bf_ice_snapshot(t->metadata, head(t)->parent_id));
	EXPECT_EQ(s.n_manifests, 1);
	EXPECT_STR(s.live, "7_2-3.log 7_6-7.log 7_0-1_4-5.log");
	EXPECT_EQ(s.last.partition[0].v.i32, 3);
	summary = s.manifests[0].partitions;
	REQUIRE(summary != NULL && summary->u.list.n == 1);
	EXPECT(bf_avro_field(&summary->u.list.items[0], 509, "contains_null")->u.b);
	memcpy(&bound, bf_avro_field(&summary->u.list.items[0], 510, "lower_bound")->u.bytes.ptr, 4);
	EXPECT_EQ(bound, -7);
	memcpy(&bound, bf_avro_field(&summary->u.list.items[0], 511, "upper_bound")->u.bytes.ptr, 4);
	EXPECT_EQ(bound, 3);
	expect_plan(t, 4, 10, "7:0-9");
}

/* What is not to be merged is not, and names and files don't become too long. */
TEST(iceberg_merge_limits)
{
	static const char *const off[] = {"commit.manifest-merge.enabled", "false"};
	static const char *const small[] = {"commit.manifest.target-size-bytes", "100"};
	BfIceTable *t;
	Seen s;

	for (int k = 0; k < 2; k++)
	{
		const char *const *property = k == 0 ? off : small;

		t = create(NULL, "2");
		for (int i = 0; i < 6 && t != NULL; i++)
		{
			BfIceNewFile f = file_of(
				bf_arena_printf(test_arena(), "bifang://db/t/7_%d-%d.log", i * 2, i * 2), 1);
			const char *path;

			REQUIRE_OK(
				bf_ice_set_property(test_arena(), t, property[0], property[1], &path, &test_err));
			if (path != NULL)
				t = load(path);
			t = add(t, &f, 1);
		}
		REQUIRE(t != NULL);
		EXPECT_EQ(seen(t, head(t)).n_manifests, 6);
	}
	/* Every other entry: a name has so many ranges. */
	t = create(NULL, "50");
	for (int i = 0; i < 120 && t != NULL; i++)
	{
		BfIceNewFile f = file_of(bf_arena_printf(test_arena(), "bifang://db/t/7_%d-%d.log",
												 100000 + i * 2, 100000 + i * 2),
								 1);

		if (i == 0)
			f.file_size = (int64_t) 17 << 20;
		t = add(t, &f, 1);
	}
	REQUIRE(t != NULL);
	s = seen(t, head(t));
	EXPECT(s.n_manifests <= 50);
	EXPECT(strncmp(s.live, "7_100000-100000.log 7_100002-100002_100004-", 43) == 0);
	for (const char *at = s.live; at != NULL; at = strchr(at + 1, ' '))
		EXPECT(strcspn(at + 1, " ") <= 620);
	EXPECT(s.n[0] + s.n[1] > 3);
}

static BfStatus
merge_once(const BfHost *host, const char *metadata, const char **new_path)
{
	BfArena *a = bf_arena_new(host, "scenario", (size_t) 64 << 20);
	BfIceNewFile file = file_of("bifang://db/t/7_30-39.log", 10);
	BfStatus status;
	BfIceTable *t;
	int64_t id;

	*new_path = NULL;
	if (a == NULL)
		return BF_ERR_NOMEM;
	status = bf_ice_load(a, metadata, NULL, &t, &test_err);
	if (status == BF_OK)
		status = bf_ice_commit_logical(a, t, &file, 1, NULL, new_path, &id, &test_err);
	if (status == BF_OK)
		*new_path = bf_arena_strdup(test_arena(), *new_path);
	bf_arena_free(a);
	return status;
}

/* Whatever fails, the table is what it was, and nothing leaks. */
TEST(iceberg_merge_fault_at_every_call)
{
	static const BfStatus codes[TEST_FAULT_COUNT] = {BF_OK, BF_ERR_NOMEM, BF_ERR_IO, BF_ERR_IO,
													 BF_ERR_CANCEL};
	BfIceTable *t = create(NULL, "3");
	const char *path, *newest;

	for (int i = 0; i < 3; i++)
	{
		static const char *const paths[] = {"bifang://db/t/7_0-9.log", "bifang://db/t/7_10-19.log",
											"bifang://db/t/7_20-29.log"};
		BfIceNewFile f = file_of(paths[i], 10);

		t = add(t, &f, 1);
	}
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
			status = merge_once(&h.host, t->metadata_path, &path);
			fired = test_fault_fired(&h);
			EXPECT_EQ(status, fired ? codes[kind] : BF_OK);
			EXPECT_EQ(h.live_allocs, 0);
			EXPECT_EQ(h.open_files, 0);
			EXPECT_EQ(h.bad_frees, 0);
			REQUIRE_OK(bf_ice_find_metadata(test_arena(), test_dir(), &newest, &test_err));
			EXPECT_STR(newest, path != NULL ? path : t->metadata_path);
			if (path != NULL)
			{
				expect_plan(load(path), 2, 40, "7:0-39");
				REQUIRE_OK(test_host()->unlink(test_host(), path, &test_err));
			}
			if (!fired || test_failed())
				break;
			REQUIRE(call < 20000);
		}
}
