/* Plans with a predicate, at points of a table's history, and over a cache of manifests. */
#include "iceberg/internal.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

#define SCHEMAS                                                                     \
	"[{\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"n\",\"type\":\"%s\"},"      \
	"{\"id\":2,\"name\":\"s\",\"type\":\"string\"}]},{\"schema-id\":1,\"fields\":[" \
	"{\"id\":1,\"name\":\"old_name\",\"type\":\"%s\"}]}]"
/* 0 by n, 1 not at all, 2 by the first letter of s. */
#define SPECS                                                                    \
	"[{\"spec-id\":0,\"fields\":[{\"name\":\"n\",\"transform\":\"identity\","    \
	"\"source-id\":1,\"field-id\":1000}]},{\"spec-id\":1,\"fields\":[]},"        \
	"{\"spec-id\":2,\"fields\":[{\"name\":\"s1\",\"transform\":\"truncate[1]\"," \
	"\"source-id\":2,\"field-id\":1001}]}]"

static const char *
schemas(const char *type)
{
	return bf_arena_printf(test_arena(), SCHEMAS, type, type);
}

static const char *
path_of(const char *name)
{
	if (strncmp(name, "bifang:", 7) == 0)
		return name;
	return bf_arena_printf(test_arena(), "file://%s/data/%s", test_dir(), name);
}

static MakeFile
data_file(const char *name, const BfValue *partition, const MakeColumn *column)
{
	return (MakeFile){.status = BF_ICE_ADDED,
					  .path = path_of(name),
					  .sequence = 1,
					  .rows = 10,
					  .size = 100,
					  .n_partition = partition != NULL,
					  .partition = partition,
					  .n_columns = column != NULL,
					  .columns = column};
}

static MakeManifest
manifest(const char *name, int32_t spec_id, const MakeFile *files, int32_t n)
{
	return (MakeManifest){.name = name,
						  .spec_id = spec_id,
						  .sequence = 1,
						  .snapshot_id = 1,
						  .files = files,
						  .n_files = n};
}

static BfPred *
leaf(BfPredKind kind, int32_t field, const BfValue *value)
{
	BfPred *p = bf_arena_alloc(test_arena(), sizeof *p);

	*p = (BfPred){.kind = kind, .field = field};
	if (value != NULL)
	{
		p->n_values = 1;
		p->values = bf_arena_memdup(test_arena(), value, sizeof *value);
	}
	return p;
}

/* The names of a plan's files, "a,b". NULL when planning fails. */
static const char *
planned(const BfIceTable *t, BfIceScan scan, BfIcePlan **plan)
{
	const char *text = "";

	bf_error_clear(&test_err);
	if (scan.point.schema == NULL && bf_ice_at_resolve(t, &(BfIceAt){.kind = BF_ICE_AT_CURRENT},
													   &scan.point, &test_err) != BF_OK)
		return NULL;
	if (bf_ice_plan_scan(test_arena(), t, &scan, plan, &test_err) != BF_OK)
		return NULL;
	for (int32_t i = 0; i < (*plan)->n_files; i++)
		text = bf_arena_printf(test_arena(), "%s%s%s", text, i > 0 ? "," : "",
							   strrchr((*plan)->files[i].path, '/') + 1);
	return text;
}

static const char *
at(const BfIceTable *t, BfIceAt when, BfIcePlan **plan)
{
	BfIceScan scan = {.io = NULL};

	bf_error_clear(&test_err);
	if (bf_ice_at_resolve(t, &when, &scan.point, &test_err) != BF_OK)
		return bf_status_name(test_err.code);
	return planned(t, scan, plan);
}

static void
drop(const char *path)
{
	if (test_host()->unlink(test_host(), path, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
}

/* --- Pruning ---------------------------------------------------------------------------------- */

/* Three specs; deletes of one partition. */
TEST(iceberg_plan_pruned)
{
	MakeColumn low = {2, make_text("a"), make_text("f"), 10, 0, -1},
			   high = {2, make_text("p"), make_text("z"), 10, 0, -1};
	MakeFile ones[] = {data_file("n1", make_i64(1), NULL), data_file("n2", make_i64(2), NULL)};
	MakeFile nines[] = {data_file("n9", make_i64(9), NULL),
						data_file("null", make_null(BF_KIND_INT64), NULL)};
	MakeFile plain[] = {data_file("low", NULL, &low), data_file("high", NULL, &high)};
	MakeFile letters[] = {data_file("b", make_text("b"), NULL),
						  data_file("q", make_text("q"), NULL)};
	MakeFile deletes[] = {data_file("d9", make_i64(9), NULL)};
	MakeManifest m[] = {manifest("ones", 0, ones, 2), manifest("nines", 0, nines, 2),
						manifest("plain", 1, plain, 2), manifest("letters", 2, letters, 2),
						manifest("deletes", 0, deletes, 1)};
	MakeManifest *list[] = {&m[0], &m[1], &m[2], &m[3], &m[4]};
	MakeSnapshot snapshot = {1, 0, 1, 5, 0, NULL, 5, list};
	MakeTable table = {.version = 2,
					   .schemas = schemas("long"),
					   .specs = SPECS,
					   .current = 1,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};
	BfIceScan scan = {.prune = BF_PRUNE_ALL};
	BfIceTable *t;
	BfIcePlan *p;

	deletes[0].content = BF_ICE_POSITION_DELETES;
	m[4].deletes = true;
	t = make_table(&table);
	REQUIRE(t != NULL);
	EXPECT_STR(planned(t, scan, &p), "n1,n2,n9,null,low,high,b,q");
	EXPECT_EQ(p->counters.manifests, 5);
	EXPECT_EQ(p->counters.manifests_read, 5);
	EXPECT(p->has_deletes);

	scan.pred = leaf(BF_PRED_EQ, 0, make_i64(1));
	EXPECT_STR(planned(t, scan, &p), "n1,low,high,b,q");
	EXPECT_EQ(p->counters.manifests_skipped, 2); /* nines and their deletes */
	EXPECT_EQ(p->counters.manifests_read, 3);
	EXPECT_EQ(p->counters.files, 6);
	EXPECT_EQ(p->counters.files_by_partition, 1);
	EXPECT_EQ(p->total_rows, 50);
	EXPECT(!p->has_deletes);

	scan.prune = BF_PRUNE_MANIFEST; /* summaries and bounds, not the tuples */
	EXPECT_STR(planned(t, scan, &p), "n1,n2,low,high,b,q");
	scan.prune = BF_PRUNE_PARTITION; /* only the tuples */
	EXPECT_STR(planned(t, scan, &p), "n1,low,high,b,q");
	EXPECT_EQ(p->counters.manifests_skipped, 0);
	EXPECT_EQ(p->counters.delete_files_unused, 1);
	EXPECT_EQ(p->counters.files_by_partition, 3);
	scan.prune = 0;
	EXPECT_STR(planned(t, scan, &p), "n1,n2,n9,null,low,high,b,q");
	EXPECT_EQ(p->counters.files_by_partition, 0);

	scan.prune = BF_PRUNE_ALL;
	scan.pred = leaf(BF_PRED_GT, 1, make_text("m"));
	EXPECT_STR(planned(t, scan, &p), "n1,n2,n9,null,high,q");
	EXPECT_EQ(p->counters.files_by_partition, 1);
	EXPECT_EQ(p->counters.files_by_bounds, 1);
	scan.pred = leaf(BF_PRED_IS_NULL, 0, NULL);
	EXPECT_STR(planned(t, scan, &p), "null,low,high,b,q");
	/* What is skipped is not read: it need not even be there. */
	drop(m[1].path);
	drop(m[4].path);
	scan.pred = leaf(BF_PRED_LE, 0, make_i64(2));
	EXPECT_STR(planned(t, scan, &p), "n1,n2,low,high,b,q");
	scan.pred = leaf(BF_PRED_LE, 0, make_i64(9));
	EXPECT(planned(t, scan, &p) == NULL);
	EXPECT_EQ(test_err.code, BF_ERR_NOTFOUND);
}

/* An equality delete whose keys can't be among the rows that are wanted. */
TEST(iceberg_plan_pruned_equality_deletes)
{
	static const int32_t by_n[] = {1}, by_s[] = {2}, by_both[] = {1, 2};
	MakeColumn keys[] = {{1, make_i64(10), make_i64(20), 10, 0, -1},
						 {2, make_text("x"), make_text("y"), 10, 1, -1}};
	MakeFile data[] = {data_file("a", NULL, NULL)};
	MakeFile deletes[] = {data_file("dn", NULL, NULL), data_file("ds", NULL, NULL),
						  data_file("dns", NULL, NULL), data_file("unknown", NULL, NULL)};
	MakeManifest m[] = {manifest("data", 1, data, 1), manifest("deletes", 1, deletes, 4)};
	MakeManifest *list[] = {&m[0], &m[1]};
	MakeSnapshot snapshot = {1, 0, 2, 5, 0, NULL, 2, list};
	MakeTable table = {.version = 2,
					   .schemas = schemas("long"),
					   .specs = SPECS,
					   .current = 1,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};
	BfIceScan scan = {.prune = BF_PRUNE_ALL};
	BfIceTable *t;
	BfIcePlan *p;

	for (int i = 0; i < 4; i++)
	{
		deletes[i].content = BF_ICE_EQUALITY_DELETES;
		deletes[i].sequence = 2;
		deletes[i].n_columns = i < 3 ? 2 : 0;
		deletes[i].columns = keys;
		deletes[i].equality_ids = i == 1 ? by_s : i == 2 ? by_both : by_n;
		deletes[i].n_equality_ids = i == 2 ? 2 : 1;
	}
	m[1].deletes = true;
	m[1].sequence = 2;
	t = make_table(&table);
	REQUIRE(t != NULL);
	/* Of the file by s the bounds of n say nothing: its rows are deleted whatever n is. */
	scan.pred = leaf(BF_PRED_EQ, 0, make_i64(5));
	EXPECT_STR(planned(t, scan, &p), "a");
	REQUIRE(p->files[0].equality.n == 2);
	EXPECT_STR(strrchr(p->files[0].equality.files[0]->path, '/') + 1, "ds");
	EXPECT_STR(strrchr(p->files[0].equality.files[1]->path, '/') + 1, "unknown");
	scan.pred = leaf(BF_PRED_EQ, 0, make_i64(15));
	EXPECT_STR(planned(t, scan, &p), "a");
	EXPECT_EQ(p->files[0].equality.n, 4);
	scan.pred = leaf(BF_PRED_IS_NULL, 0, NULL);
	EXPECT_STR(planned(t, scan, &p), "a");
	EXPECT_EQ(p->files[0].equality.n, 2);
	scan.pred = leaf(BF_PRED_IS_NULL, 1, NULL);
	EXPECT_STR(planned(t, scan, &p), "a");
	EXPECT_EQ(p->files[0].equality.n, 4);
	scan.prune = BF_PRUNE_PARTITION;
	scan.pred = leaf(BF_PRED_EQ, 0, make_i64(5));
	EXPECT_STR(planned(t, scan, &p), "a");
	EXPECT_EQ(p->files[0].equality.n, 4);
}

/* Logical files that main itself names, in a partition that nobody asks for. */
TEST(iceberg_plan_pruned_coverage)
{
	MakeFile ones[] = {data_file("n1", make_i64(1), NULL)};
	MakeFile nines[] = {data_file("bifang://d/t/7_0-9.log", make_i64(9), NULL)};
	MakeManifest m[] = {manifest("ones", 0, ones, 1), manifest("nines", 0, nines, 1)};
	MakeManifest *list[] = {&m[0], &m[1]};
	MakeSnapshot snapshot = {1, 0, 1, 5, 0, NULL, 2, list};
	MakeTable table = {.version = 2,
					   .schemas = schemas("long"),
					   .specs = SPECS,
					   .current = 1,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};
	BfIceScan scan = {.prune = BF_PRUNE_ALL, .coverage = true};
	BfIceTable *t = make_table(&table);
	BfIcePlan *p;

	REQUIRE(t != NULL);
	scan.pred = leaf(BF_PRED_EQ, 0, make_i64(1));
	EXPECT_STR(planned(t, scan, &p), "n1");
	EXPECT_STR(coverage_text(&p->covered), "7:0-9");
	EXPECT_EQ(p->counters.manifests_skipped, 0);
	EXPECT_EQ(p->counters.files_by_partition, 1);
	scan.pred = leaf(BF_PRED_EQ, 0, make_i64(9));
	EXPECT_STR(planned(t, scan, &p), "7_0-9.log");
	/* Known to have none, it is skipped. */
	REQUIRE_OK(bf_ice_cache_new(test_host(), (size_t) 1 << 20, &scan.cache, &test_err));
	EXPECT_STR(planned(t, scan, &p), "7_0-9.log");
	EXPECT_EQ(p->counters.manifests_skipped, 0);
	EXPECT_STR(planned(t, scan, &p), "7_0-9.log");
	EXPECT_EQ(p->counters.manifests_skipped, 1);
	scan.pred = leaf(BF_PRED_EQ, 0, make_i64(1));
	EXPECT_STR(planned(t, scan, &p), "n1");
	EXPECT_EQ(p->counters.manifests_skipped, 0);
	EXPECT_STR(coverage_text(&p->covered), "7:0-9");
	bf_ice_cache_free(scan.cache);
}

/* --- History ---------------------------------------------------------------------------------- */

/* Main: 1, 2 (rolled back), 3. The bifang branch: 11 after 1, 12 after 11. A branch "audit" and a
 * tag "first". */
static BfIceTable *
history(void)
{
	static MakeFile files[5];
	static MakeManifest m[5];
	static MakeManifest *main1[] = {&m[0]}, *main2[] = {&m[0], &m[1]}, *main3[] = {&m[0], &m[2]},
						*branch1[] = {&m[0], &m[3]}, *branch2[] = {&m[0], &m[3], &m[4]};
	static const char *const names[] = {"one", "two", "three", "bifang://d/t/7_0-9.log",
										"bifang://d/t/7_10-19.log"};
	MakeSnapshot snapshots[] = {
		{1, 0, 1, 100, 1, NULL, 1, main1},
		{2, 1, 2, 200, 1, NULL, 2, main2},
		{3, 1, 3, 300, 0, ",\"" BF_ICE_COVERED_PARQUET "\":\"7:0-4\"", 2, main3},
		{11, 1, 4, 150, 0, ",\"" BF_ICE_COVERED "\":\"7:0-9\"", 2, branch1},
		{12, 11, 5, 350, -1, ",\"" BF_ICE_COVERED "\":\"7:0-19\"", 3, branch2}};
	MakeTable table = {
		.version = 2,
		.schemas = schemas("long"),
		.specs = SPECS,
		.current = 3,
		.refs = "{\"main\":{\"snapshot-id\":3,\"type\":\"branch\"},\"bifang\":{\"snapshot-id\":12,"
				"\"type\":\"branch\"},\"audit\":{\"snapshot-id\":2,\"type\":\"branch\"},\"first\":{"
				"\"snapshot-id\":1,\"type\":\"tag\"}}",
		.log = "[{\"timestamp-ms\":100,\"snapshot-id\":1},{\"timestamp-ms\":200,\"snapshot-id\":2},"
			   "{\"timestamp-ms\":250,\"snapshot-id\":1},{\"timestamp-ms\":300,\"snapshot-id\":3},"
			   "{\"timestamp-ms\":50,\"snapshot-id\":99}]",
		.n_snapshots = 5,
		.snapshots = snapshots};

	for (int i = 0; i < 5; i++)
	{
		files[i] = data_file(names[i], NULL, NULL);
		m[i] = manifest(bf_arena_printf(test_arena(), "m%d", i), 1, &files[i], 1);
	}
	return make_table(&table);
}

TEST(iceberg_plan_at_snapshot)
{
	BfIceTable *t = history();
	BfIceAt when = {.kind = BF_ICE_AT_CURRENT};
	BfIcePoint point;
	BfIcePlan *p;

	REQUIRE(t != NULL);
	EXPECT_STR(at(t, when, &p), "one,three,7_0-9.log,7_10-19.log");
	EXPECT_EQ(p->total_rows, 35); /* 0-4 are in main */
	EXPECT_EQ(p->snapshot_id, 3);
	EXPECT_EQ(p->bifang_snapshot_id, 12);
	/* A snapshot of main is main alone, whatever its branch has. */
	when = (BfIceAt){.kind = BF_ICE_AT_SNAPSHOT, .snapshot_id = 2};
	EXPECT_STR(at(t, when, &p), "one,two");
	EXPECT_EQ(p->bifang_snapshot_id, -1);
	REQUIRE_OK(bf_ice_at_resolve(t, &when, &point, &test_err));
	EXPECT_STR(point.schema->fields[0].name, "old_name");
	/* One of the branch is what it names: nothing of it was in Parquet then. */
	when.snapshot_id = 11;
	EXPECT_STR(at(t, when, &p), "one,7_0-9.log");
	EXPECT_EQ(p->total_rows, 20);
	when.snapshot_id = 12;
	EXPECT_STR(at(t, when, &p), "one,7_0-9.log,7_10-19.log");
	REQUIRE_OK(bf_ice_at_resolve(t, &when, &point, &test_err));
	EXPECT_STR(point.schema->fields[0].name, "n"); /* it records none: the current one */
	when.snapshot_id = 77;
	EXPECT_STR(at(t, when, &p), "NOTFOUND");
}

TEST(iceberg_plan_at_ref)
{
	BfIceTable *t = history();
	BfIceAt when = {.kind = BF_ICE_AT_REF, .ref = "main"};
	BfIcePoint point;
	BfIcePlan *p;

	REQUIRE(t != NULL);
	EXPECT_STR(at(t, when, &p), "one,three");
	when.ref = "bifang";
	EXPECT_STR(at(t, when, &p), "one,7_0-9.log,7_10-19.log");
	when.ref = "audit";
	EXPECT_STR(at(t, when, &p), "one,two");
	REQUIRE_OK(bf_ice_at_resolve(t, &when, &point, &test_err));
	EXPECT_STR(point.schema->fields[0].name, "n"); /* of a branch: the current schema */
	when.ref = "first";
	EXPECT_STR(at(t, when, &p), "one");
	REQUIRE_OK(bf_ice_at_resolve(t, &when, &point, &test_err));
	EXPECT_STR(point.schema->fields[0].name, "old_name"); /* of a tag: the snapshot's */
	when.ref = "nobody";
	EXPECT_STR(at(t, when, &p), "NOTFOUND");
	EXPECT(strstr(test_err.text, "nobody") != NULL);
}

TEST(iceberg_plan_at_time)
{
	BfIceTable *t = history();
	static const struct
	{
		int64_t ms;
		const char *files;
	} cases[] = {
		{49, "NOTFOUND"}, /* before everything */
		{50, "NOTFOUND"}, /* of a snapshot that has expired */
		{99, "NOTFOUND"},
		{100, "one"},
		{149, "one"},
		{150, "one,7_0-9.log"},
		{200, "one,two,7_0-9.log"},
		{249, "one,two,7_0-9.log"},
		{250, "one,7_0-9.log"}, /* rolled back */
		{300, "one,three,7_0-9.log"},
		{349, "one,three,7_0-9.log"},
		{350, "one,three,7_0-9.log,7_10-19.log"},
		{INT64_MAX, "one,three,7_0-9.log,7_10-19.log"},
	};
	/* Of main's snapshot and the branch's the later one says what the columns were. */
	static const struct
	{
		int64_t ms;
		const char *column;
	} columns[] = {{100, "old_name"}, {150, "n"}, {200, "old_name"}, {250, "n"}, {300, "n"}};
	BfIcePoint point;
	BfIcePlan *p;

	REQUIRE(t != NULL);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfIceAt when = {.kind = BF_ICE_AT_TIME, .time_ms = cases[i].ms};

		EXPECT_STR(at(t, when, &p), cases[i].files);
		if (cases[i].ms == 50)
			EXPECT(strstr(test_err.text, "99") != NULL && strstr(test_err.text, "expired") != NULL);
		/* What main had in Parquet then. */
		if (cases[i].ms == 250)
			EXPECT_EQ(p->total_rows, 20);
		/* The branch began at a snapshot of main. */
		if (cases[i].ms == 149)
			EXPECT_EQ(p->bifang_snapshot_id, -1);
		if (cases[i].ms == 300)
			EXPECT_EQ(p->total_rows, 25);
	}
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
	{
		BfIceAt when = {.kind = BF_ICE_AT_TIME, .time_ms = columns[i].ms};

		REQUIRE_OK(bf_ice_at_resolve(t, &when, &point, &test_err));
		EXPECT_STR(point.schema->fields[0].name, columns[i].column);
	}
}

/* Two commits in one millisecond, a rollback among them: the last one in the log is what main named
 * from then on, whatever the order of their ids. */
TEST(iceberg_plan_at_time_of_two_commits)
{
	MakeFile files[] = {data_file("one", NULL, NULL), data_file("two", NULL, NULL)};
	MakeManifest m[] = {manifest("m1", 1, &files[0], 1), manifest("m2", 1, &files[1], 1)};
	MakeManifest *first[] = {&m[0]}, *second[] = {&m[0], &m[1]};
	MakeSnapshot snapshots[] = {{9, 0, 1, 100, 0, NULL, 1, first},
								{4, 9, 2, 100, 0, NULL, 2, second}};
	MakeTable table = {.version = 2,
					   .schemas = schemas("long"),
					   .specs = SPECS,
					   .current = 4,
					   .log = "[{\"timestamp-ms\":100,\"snapshot-id\":9},"
							  "{\"timestamp-ms\":100,\"snapshot-id\":4},"
							  "{\"timestamp-ms\":200,\"snapshot-id\":4},"
							  "{\"timestamp-ms\":200,\"snapshot-id\":9},"
							  "{\"timestamp-ms\":300,\"snapshot-id\":4}]",
					   .n_snapshots = 2,
					   .snapshots = snapshots};
	BfIceTable *t = make_table(&table);
	BfIceAt when = {.kind = BF_ICE_AT_TIME, .time_ms = 100};
	BfIcePlan *p;

	REQUIRE(t != NULL);
	EXPECT_STR(at(t, when, &p), "one,two");
	when.time_ms = 200;
	EXPECT_STR(at(t, when, &p), "one");
	when.time_ms = 300;
	EXPECT_STR(at(t, when, &p), "one,two");
}

/* Without a log the ancestors of main tell. */
TEST(iceberg_plan_at_time_without_log)
{
	MakeFile files[] = {data_file("one", NULL, NULL), data_file("two", NULL, NULL)};
	MakeManifest m[] = {manifest("m1", 1, &files[0], 1), manifest("m2", 1, &files[1], 1)};
	MakeManifest *first[] = {&m[0]}, *second[] = {&m[0], &m[1]};
	MakeSnapshot snapshots[] = {{1, 0, 1, 100, 0, NULL, 1, first},
								{2, 1, 2, 200, 0, NULL, 2, second}};
	MakeTable table = {.version = 2,
					   .schemas = schemas("long"),
					   .specs = SPECS,
					   .current = 2,
					   .n_snapshots = 2,
					   .snapshots = snapshots};
	BfIceTable *t = make_table(&table);
	BfIceAt when = {.kind = BF_ICE_AT_TIME, .time_ms = 199};
	BfIcePlan *p;

	REQUIRE(t != NULL);
	EXPECT_STR(at(t, when, &p), "one");
	when.time_ms = 200;
	EXPECT_STR(at(t, when, &p), "one,two");
	when.time_ms = 99;
	EXPECT_STR(at(t, when, &p), "NOTFOUND");
}

/* The branch had logical files then that nobody can tell of any more: an error, not main alone. */
TEST(iceberg_plan_at_time_of_expired_branch)
{
	MakeFile files[] = {data_file("one", NULL, NULL),
						data_file("bifang://d/t/7_0-9.log", NULL, NULL)};
	MakeManifest m[] = {manifest("m1", 1, &files[0], 1), manifest("m2", 1, &files[1], 1)};
	MakeManifest *lake[] = {&m[0]}, *branch[] = {&m[0], &m[1]};
	MakeSnapshot snapshots[] = {
		{3, 1, 1, 300, 0, NULL, 1, lake},
		{12, 11, 2, 350, 0, ",\"" BF_ICE_COVERED "\":\"7:0-9\"", 2, branch}};
	MakeTable table = {
		.version = 2,
		.schemas = schemas("long"),
		.specs = SPECS,
		.current = 3,
		.refs = "{\"main\":{\"snapshot-id\":3,\"type\":\"branch\"},\"bifang\":{\"snapshot-id\":12,"
				"\"type\":\"branch\"}}",
		.log =
			"[{\"timestamp-ms\":100,\"snapshot-id\":1},{\"timestamp-ms\":300,\"snapshot-id\":3}]",
		.n_snapshots = 2,
		.snapshots = snapshots};
	BfIceAt when = {.kind = BF_ICE_AT_TIME, .time_ms = 349};
	BfIceTable *t = make_table(&table);
	BfIcePlan *p;

	REQUIRE(t != NULL);
	EXPECT_STR(at(t, when, &p), "NOTFOUND");
	EXPECT(strstr(test_err.text, "snapshot 11,") != NULL);
	when.time_ms = 350;
	EXPECT_STR(at(t, when, &p), "one,7_0-9.log");
	/* It began at a snapshot of main, since expired: there was no branch before. */
	snapshots[1].parent_id = 1;
	t = make_table(&table);
	REQUIRE(t != NULL);
	when.time_ms = 349;
	EXPECT_STR(at(t, when, &p), "one");
}

/* --- The cache ---------------------------------------------------------------------------------
 */

#define CACHED_MANIFESTS 20

static BfIceTable *
table_of_many(const char *type, bool wide)
{
	BfArena *a = test_arena();
	MakeManifest *m = bf_arena_alloc(a, CACHED_MANIFESTS * sizeof *m);
	MakeManifest **list = bf_arena_alloc(a, CACHED_MANIFESTS * sizeof *list);
	MakeSnapshot snapshot = {1, 0, 1, 5, 0, NULL, CACHED_MANIFESTS, list};
	MakeTable table = {.version = 2,
					   .schemas = schemas(type),
					   .specs = SPECS,
					   .current = 1,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};

	for (int32_t i = 0; i < CACHED_MANIFESTS; i++)
	{
		MakeFile *f = bf_arena_alloc(a, sizeof *f);

		*f = data_file(bf_arena_printf(a, "f%02d", i), wide ? make_i64(i) : make_i32(i), NULL);
		m[i] = manifest(bf_arena_printf(a, "m%02d", i), 0, f, 1);
		list[i] = &m[i];
	}
	return make_table(&table);
}

TEST(iceberg_cache_hits)
{
	BfIoCounters io = {0};
	BfIceScan scan = {.io = &io, .prune = BF_PRUNE_ALL};
	BfIceTable *t = table_of_many("long", true);
	BfIceCacheStats stats;
	const char *first;
	BfIcePlan *p;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_cache_new(test_host(), (size_t) 8 << 20, &scan.cache, &test_err));
	first = planned(t, scan, &p);
	REQUIRE(first != NULL);
	EXPECT_EQ(p->counters.manifests_read, CACHED_MANIFESTS);
	EXPECT_EQ(io.files_opened, CACHED_MANIFESTS + 1);
	EXPECT_STR(planned(t, scan, &p), first);
	EXPECT_EQ(p->counters.manifests_read, 0);
	EXPECT_EQ(p->counters.manifests_cached, CACHED_MANIFESTS);
	EXPECT_EQ(io.files_opened, CACHED_MANIFESTS + 1); /* not even the list */
	scan.pred = leaf(BF_PRED_GE, 0, make_i64(18));
	EXPECT_STR(planned(t, scan, &p), "f18,f19");
	EXPECT_EQ(p->counters.manifests_cached, 2);
	bf_ice_cache_stats(scan.cache, &stats);
	EXPECT_EQ(stats.items, CACHED_MANIFESTS + 1);
	EXPECT_EQ(stats.misses, CACHED_MANIFESTS + 1);
	bf_ice_cache_clear(scan.cache);
	scan.pred = NULL;
	EXPECT_STR(planned(t, scan, &p), first);
	EXPECT_EQ(p->counters.manifests_read, CACHED_MANIFESTS);
	bf_ice_cache_free(scan.cache);
	bf_ice_cache_free(NULL);
}

/* What does not fit is read each time, and part of it stays; nothing is ever beyond the bound. */
TEST(iceberg_cache_bound)
{
	BfIceTable *t = table_of_many("long", true);
	BfIceScan scan = {.prune = BF_PRUNE_ALL};
	const char *expected;
	BfIcePlan *p;

	REQUIRE(t != NULL);
	expected = planned(t, scan, &p);
	REQUIRE(expected != NULL);
	for (size_t bytes = 0; bytes < 60000; bytes += 1500)
	{
		BfIceCacheStats stats;

		REQUIRE_OK(bf_ice_cache_new(test_host(), bytes, &scan.cache, &test_err));
		for (int i = 0; i < 3; i++)
		{
			EXPECT_STR(planned(t, scan, &p), expected);
			bf_ice_cache_stats(scan.cache, &stats);
			EXPECT(stats.bytes <= bytes);
			EXPECT_EQ(p->counters.manifests_read + p->counters.manifests_cached, CACHED_MANIFESTS);
		}
		if (bytes > 40000)
			EXPECT(p->counters.manifests_cached > 0);
		bf_ice_cache_free(scan.cache);
	}
}

/* Other tables push out what is older; a column that was promoted makes manifests new. */
TEST(iceberg_cache_changes)
{
	BfIceScan scan = {.prune = BF_PRUNE_ALL};
	BfIceTable *t = table_of_many("int", false), *promoted;
	json_t *schemas_json;
	BfIceCacheStats stats;
	const char *path;
	BfIcePlan *p;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_cache_new(test_host(), (size_t) 8 << 20, &scan.cache, &test_err));
	scan.pred = leaf(BF_PRED_GE, 0, make_i32(18));
	EXPECT_STR(planned(t, scan, &p), "f18,f19");
	EXPECT_EQ(p->files[0].partition[0].type.kind, BF_KIND_INT32);
	/* The same manifests, named by metadata where the column is a long. */
	schemas_json = json_object_get(t->metadata->json, "schemas");
	json_object_set_new(
		json_array_get(json_object_get(json_array_get(schemas_json, 0), "fields"), 0), "type",
		json_string("long"));
	REQUIRE_OK(bfi_metadata_publish(test_arena(),
									bf_arena_printf(test_arena(), "%s/metadata", test_dir()), 500,
									t->metadata->json, &path, &test_err));
	REQUIRE_OK(bf_ice_load(test_arena(), path, NULL, &promoted, &test_err));
	scan.pred = leaf(BF_PRED_GE, 0, make_i64(18));
	EXPECT_STR(planned(promoted, scan, &p), "f18,f19");
	EXPECT_EQ(p->counters.manifests_read, 2);
	EXPECT_EQ(p->files[0].partition[0].type.kind, BF_KIND_INT64);
	bf_ice_cache_stats(scan.cache, &stats);
	EXPECT_EQ(stats.items, 3);
	bf_ice_cache_free(scan.cache);

	/* Room for one of two tables: the one that was planned last. */
	REQUIRE_OK(bf_ice_cache_new(test_host(), (size_t) 8 << 20, &scan.cache, &test_err));
	scan.pred = NULL;
	REQUIRE(planned(t, scan, &p) != NULL);
	bf_ice_cache_stats(scan.cache, &stats);
	bf_ice_cache_free(scan.cache);
	REQUIRE_OK(
		bf_ice_cache_new(test_host(), stats.bytes + stats.bytes / 4, &scan.cache, &test_err));
	REQUIRE(planned(t, scan, &p) != NULL);
	t = table_of_many("long", true);
	REQUIRE(t != NULL);
	REQUIRE(planned(t, scan, &p) != NULL);
	REQUIRE(planned(t, scan, &p) != NULL);
	EXPECT_EQ(p->counters.manifests_read, 0);
	bf_ice_cache_stats(scan.cache, &stats);
	EXPECT(stats.evicted > 0);
	bf_ice_cache_free(scan.cache);
}

/* --- What contradicts itself ------------------------------------------------------------------ */

/* A list that calls data deletes, whoever reads it or does not. */
TEST(iceberg_plan_data_called_deletes)
{
	static const char *const headers[] = {"data", "deletes", NULL};
	MakeFile old[] = {data_file("a", make_i64(1), NULL)};
	MakeFile more[] = {data_file("b", make_i64(1), NULL)};

	old[0].sequence = 9;
	for (int i = 0; i < 12; i++)
	{
		bool alone = i >= 6;
		MakeManifest m[] = {manifest("a", 0, old, 1), manifest("b", 0, more, 1)};
		MakeManifest *list[] = {&m[1], &m[0]};
		MakeSnapshot snapshot = {1, 0, 9, 5, 0, NULL, alone ? 1 : 2, list};
		MakeTable table = {.version = 2,
						   .schemas = schemas("long"),
						   .specs = SPECS,
						   .current = 1,
						   .n_snapshots = 1,
						   .snapshots = &snapshot};
		BfIceScan scan = {.prune = BF_PRUNE_ALL, .totals_only = i % 2 == 1};
		BfIceTable *t;
		BfIcePlan *p;

		m[0].sequence = 9;
		m[1].deletes = true;
		m[1].header_content = headers[i / 2 % 3];
		if (m[1].header_content != NULL && strcmp(m[1].header_content, "deletes") == 0)
			more[0].content = BF_ICE_POSITION_DELETES;
		else
			more[0].content = BF_ICE_DATA;
		t = make_table(&table);
		REQUIRE(t != NULL);
		REQUIRE_OK(bf_ice_cache_new(test_host(), (size_t) 1 << 22, &scan.cache, &test_err));
		for (int round = 0; round < 2; round++)
		{
			const char *names = planned(t, scan, &p);

			if (more[0].content == BF_ICE_POSITION_DELETES)
				EXPECT(names != NULL && strcmp(names, alone || scan.totals_only ? "" : "a") == 0);
			else
			{
				EXPECT(names == NULL);
				EXPECT_EQ(test_err.code, BF_ERR_CORRUPT);
			}
		}
		bf_ice_cache_free(scan.cache);
	}
}

/* A header that has another spec than the list, or says something else of the same one. */
TEST(iceberg_plan_header_contradicts)
{
	static const struct
	{
		const char *id, *spec;
		bool good;
	} cases[] = {
		{"0", NULL, true},
		{"1", NULL, false},
		{"x", NULL, true},
		{NULL,
		 "[{\"name\":\"other\",\"transform\":\"identity\",\"source-id\":1,\"field-id\":1000}]",
		 true},
		{NULL, "{\"fields\":[{\"transform\":\"IDENTITY\",\"source-id\":1}]}", true},
		{NULL, "[{\"transform\":\"bucket[4]\",\"source-id\":1,\"field-id\":1000}]", false},
		{NULL, "[{\"transform\":\"identity\",\"source-id\":2,\"field-id\":1000}]", false},
		{NULL, "{\"fields\":[{\"transform\":\"day\",\"source-id\":1}]}", false},
		{NULL, "[{\"transform\":\"bucket[4]\",\"source-id\":1,\"field-id\":1009}]", true},
		{NULL, "[{", true},
	};
	MakeFile files[] = {data_file("a", make_i64(1), NULL)};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		MakeManifest m = manifest("a", 0, files, 1);
		MakeManifest *list[] = {&m};
		MakeSnapshot snapshot = {1, 0, 1, 5, 0, NULL, 1, list};
		MakeTable table = {.version = 2,
						   .schemas = schemas("long"),
						   .specs = SPECS,
						   .current = 1,
						   .n_snapshots = 1,
						   .snapshots = &snapshot};
		BfIceTable *t;
		BfIcePlan *p;
		const char *names;

		m.header_spec_id = cases[i].id;
		m.header_spec = cases[i].spec;
		t = make_table(&table);
		REQUIRE(t != NULL);
		names = planned(t, (BfIceScan){.prune = BF_PRUNE_ALL}, &p);
		if ((names != NULL) != cases[i].good)
			test_fail(__FILE__, __LINE__, "case %zu: %s", i, names != NULL ? names : test_err.text);
		if (!cases[i].good)
			EXPECT_EQ(test_err.code, BF_ERR_CORRUPT);
	}
}

/* Counts that can't be: nothing is left out because of them. */
TEST(iceberg_plan_impossible_counts)
{
	MakeColumn columns[] = {{2, make_text("a"), make_text("f"), 10, 10, -1},
							{2, make_text("a"), make_text("f"), -1, 0, -1},
							{2, make_text("a"), NULL, 10, 10, -1},
							{2, NULL, NULL, 10, 10, -1},
							{2, NULL, NULL, -1, -1, 0}};
	MakeFile files[] = {data_file("contradict", NULL, &columns[0]),
						data_file("empty", NULL, &columns[1]), data_file("half", NULL, &columns[2]),
						data_file("nulls", NULL, &columns[3]),
						data_file("no_rows", NULL, &columns[4])};
	MakeFile one[] = {data_file("in_partition", make_i64(7), NULL)};
	MakeManifest m[] = {manifest("files", 1, files, 5), manifest("one", 0, one, 1)};
	MakeManifest *list[] = {&m[0], &m[1]};
	MakeSnapshot snapshot = {1, 0, 1, 5, 0, NULL, 2, list};
	MakeTable table = {.version = 2,
					   .schemas = schemas("long"),
					   .specs = SPECS,
					   .current = 1,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};
	BfIceScan scan = {.prune = BF_PRUNE_ALL};
	BfIceTable *t;
	BfIcePlan *p;

	files[1].rows = files[4].rows = one[0].rows = 0;
	m[0].claimed = -5; /* the list says that there is none */
	t = make_table(&table);
	REQUIRE(t != NULL);
	EXPECT_STR(planned(t, scan, &p), "contradict,empty,half,nulls,no_rows,in_partition");
	scan.pred = leaf(BF_PRED_EQ, 1, make_text("c"));
	EXPECT_STR(planned(t, scan, &p), "contradict,empty,half,no_rows,in_partition");
	scan.pred = leaf(BF_PRED_NOT_NULL, 1, NULL);
	EXPECT_STR(planned(t, scan, &p), "contradict,empty,half,no_rows,in_partition");
	scan.pred = leaf(BF_PRED_EQ, 0, make_i64(7));
	EXPECT_STR(planned(t, scan, &p), "contradict,empty,half,nulls,no_rows,in_partition");
	scan.pred = leaf(BF_PRED_EQ, 0, make_i64(8));
	EXPECT_STR(planned(t, scan, &p), "contradict,empty,half,nulls,no_rows");
}

/* Files that nobody can read are told of all the same. */
TEST(iceberg_plan_listing)
{
	MakeFile files[] = {data_file("a", NULL, NULL), data_file("b", NULL, NULL),
						data_file("c", NULL, NULL)};
	MakeFile deletes[] = {data_file("d", NULL, NULL)};
	MakeManifest m[] = {manifest("files", 1, files, 3), manifest("deletes", 1, deletes, 1)};
	MakeManifest *list[] = {&m[0], &m[1]};
	MakeSnapshot snapshot = {1, 0, 1, 5, 0, NULL, 2, list};
	MakeTable table = {.version = 2,
					   .schemas = schemas("long"),
					   .specs = SPECS,
					   .current = 1,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};
	BfIceScan scan = {.listing = true};
	BfIceTable *t;
	BfIcePlan *p;

	files[1].format = "ORC";
	files[2].path = "s3://elsewhere/c";
	deletes[0].content = BF_ICE_POSITION_DELETES;
	deletes[0].format = "ORC";
	deletes[0].path = "gs://elsewhere/d";
	deletes[0].referenced = "s3://elsewhere/c";
	m[1].deletes = true;
	t = make_table(&table);
	REQUIRE(t != NULL);
	EXPECT(planned(t, (BfIceScan){.pred = NULL}, &p) == NULL);
	EXPECT_EQ(test_err.code, BF_ERR_UNSUPPORTED);
	EXPECT_STR(planned(t, scan, &p), "a,b,c");
	EXPECT_EQ(p->files[0].format, BF_ICE_FORMAT_PARQUET);
	EXPECT_EQ(p->files[1].format, BF_ICE_FORMAT_ORC);
	EXPECT_STR(p->files[2].path, "s3://elsewhere/c");
	EXPECT_EQ(bf_ice_n_deletes(&p->files[2]), 1);
}
