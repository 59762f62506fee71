/* What a table names, told file by file: also of tables that no plan is made of. */
#include "iceberg/audit.h"

#include "iceberg/internal.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

typedef struct Seen
{
	int32_t n_data, n_deletes, n_logical;
} Seen;

static BfStatus
count(void *arg, const BfIceAuditFile *f, BfError *err)
{
	Seen *s = arg;

	(void) err;
	EXPECT(f->path != NULL);
	*(f->log != NULL ? &s->n_logical : f->content == BF_ICE_DATA ? &s->n_data : &s->n_deletes) += 1;
	return BF_OK;
}

/* The files in one manifest of each ref. */
static BfIceTable *
table(int32_t n_main, MakeFile *of_main, int32_t n_branch, MakeFile *of_branch, const char *summary)
{
	static MakeManifest m[2];
	static MakeManifest *list[] = {&m[0], &m[1]};
	MakeSnapshot snapshots[] = {{1, 0, 5, 5, 0, summary, 1, list}, {2, 1, 6, 6, 0, NULL, 2, list}};
	MakeTable t = {
		.version = 2,
		.schemas = "[{\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"n\",\"type\":\"long\"}]}]",
		.specs = "[{\"spec-id\":0,\"fields\":[]}]",
		.refs = "{\"main\":{\"snapshot-id\":1,\"type\":\"branch\"},"
				"\"bifang\":{\"snapshot-id\":2,\"type\":\"branch\"}}",
		.current = 1,
		.n_snapshots = 2,
		.snapshots = snapshots};

	m[0] = (MakeManifest){
		.name = "main", .sequence = 5, .snapshot_id = 1, .n_files = n_main, .files = of_main};
	m[1] = (MakeManifest){
		.name = "branch", .sequence = 6, .snapshot_id = 2, .n_files = n_branch, .files = of_branch};
	return make_table(&t);
}

static MakeFile
file(const char *name, int64_t rows)
{
	bool logical = bf_is_logical_path(name);
	const char *path = logical ? name : bf_arena_printf(test_arena(), "%s/%s", test_dir(), name);

	return (MakeFile){.status = BF_ICE_ADDED,
					  .path = path,
					  .format = logical ? "LOG" : NULL,
					  .sequence = 5,
					  .rows = rows,
					  .size = 7};
}

TEST(iceberg_audit_tells_all)
{
	MakeFile of_main[] = {file("a", 10), file("b", 10), file("bifang://d/t/7_0-4.log", 5),
						  file("a", 10), file("p", 1)};
	/* One that main has too, one that overlaps two others, one of another ledger. */
	MakeFile of_branch[] = {
		file("bifang://d/t/7_0-4.log", 5),	 file("bifang://d/t/7_5-9_20-29.log", 15),
		file("bifang://d/t/7_8-22.log", 15), file("bifang://d/t/9_3-3.log", 1),
		file("bifang://d/t/7_29-30.log", 2), file("other", 1)};
	BfIceTable *t;
	BfIceAudit audit;
	Seen seen = {0};
	BfIcePlan *p;

	of_main[4].content = BF_ICE_POSITION_DELETES;
	t = table(5, of_main, 6, of_branch, ",\"" BF_ICE_COVERED_PARQUET "\":\"9:0-1\"");
	REQUIRE(t != NULL);
	EXPECT_FAIL(bf_ice_plan(test_arena(), t, NULL, &p, &test_err), BF_ERR_CORRUPT, -1);
	REQUIRE_OK(bf_ice_audit(test_arena(), t, count, &seen, &audit, &test_err));
	EXPECT_EQ(seen.n_data, 3); /* "other" is main's to name */
	EXPECT_EQ(seen.n_deletes, 1);
	EXPECT_EQ(seen.n_logical, 6);
	EXPECT_STR(coverage_text(&audit.parquet), "9:0-1");
	EXPECT_STR(coverage_text(&audit.covered), "7:0-30;9:0-1_3-3");
	EXPECT_STR(coverage_text(&audit.twice), "7:8-9_20-22_29-29");
	EXPECT_EQ(audit.n_doubled, 1);
	EXPECT_STR(audit.doubled, of_main[0].path);
}

TEST(iceberg_audit_twice_in_one_ref)
{
	MakeFile of_main[] = {file("a", 10)};
	MakeFile of_branch[] = {file("bifang://d/t/7_0-4.log", 5), file("bifang://d/t/7_0-4.log", 5),
							file("bifang://d/t/7_0-9.log", 10)};
	BfIceTable *t = table(1, of_main, 3, of_branch, NULL);
	BfIceAudit audit;
	Seen seen = {0};

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_audit(test_arena(), t, count, &seen, &audit, &test_err));
	EXPECT_STR(coverage_text(&audit.covered), "7:0-9");
	EXPECT_STR(coverage_text(&audit.twice), "7:0-4");
	EXPECT_EQ(audit.n_doubled, 0);
	EXPECT(audit.doubled == NULL);
}

/* What a file names must be what it counts. */
TEST(iceberg_audit_miscounted)
{
	MakeFile of_main[] = {file("a", 10)};
	MakeFile of_branch[] = {file("bifang://d/t/7_0-4.log", 6)};
	BfIceTable *t = table(1, of_main, 1, of_branch, NULL);
	BfIceAudit audit;
	Seen seen = {0};

	REQUIRE(t != NULL);
	EXPECT_FAIL(bf_ice_audit(test_arena(), t, count, &seen, &audit, &test_err), BF_ERR_CORRUPT, -1);
}

/* Many files with long names and few ranges: what is kept does not grow with the names. */
TEST(iceberg_audit_memory)
{
	enum
	{
		N = 20000
	};
	MakeFile of_main[] = {file("a", 10)};
	MakeFile *of_branch = bf_arena_alloc_array(test_arena(), N, sizeof *of_branch);
	char table_name[201];
	BfIceTable *t;
	BfIceAudit audit;
	Seen seen = {0};
	TestHost h;
	BfArena *a;

	memset(table_name, 't', sizeof table_name - 1);
	table_name[sizeof table_name - 1] = '\0';
	REQUIRE(of_branch != NULL);
	/* From behind, so that they are not in order. */
	for (int i = 0; i < N; i++)
		of_branch[i] = file(bf_arena_printf(test_arena(), "bifang://d/%s/7_%d-%d.log", table_name,
											(N - i) * 2, (N - i) * 2),
							1);
	t = table(1, of_main, N, of_branch, NULL);
	REQUIRE(t != NULL);
	test_host_init(&h);
	a = bf_arena_new(&h.host, "audit", (size_t) 64 << 20);
	REQUIRE(a != NULL);
	REQUIRE_OK(bf_ice_audit(a, t, count, &seen, &audit, &test_err));
	EXPECT_EQ(seen.n_logical, N);
	EXPECT_EQ(audit.covered.n, 1);
	EXPECT_EQ(audit.covered.items[0].ranges.n, N);
	EXPECT_EQ(audit.twice.n, 0);
	EXPECT(h.peak_bytes < 4 * 1024 * 1024);
	bf_arena_free(a);
	EXPECT_EQ(h.live_allocs, 0);
}

TEST(iceberg_audit_fault_at_every_call)
{
	static const TestFault kinds[] = {TEST_FAULT_ALLOC, TEST_FAULT_READ, TEST_FAULT_CANCEL};
	static const BfStatus expected[] = {[TEST_FAULT_ALLOC] = BF_ERR_NOMEM,
										[TEST_FAULT_READ] = BF_ERR_IO,
										[TEST_FAULT_CANCEL] = BF_ERR_CANCEL};
	MakeFile of_main[] = {file("a", 10), file("a", 10)};
	MakeFile of_branch[] = {file("bifang://d/t/7_0-4.log", 5), file("bifang://d/t/7_3-4.log", 2)};
	BfIceTable *t = table(2, of_main, 2, of_branch, NULL);
	TestHost h;

	REQUIRE(t != NULL);
	test_host_init(&h);
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		for (int64_t call = 1;; call++)
		{
			BfArena *a = bf_arena_new(&h.host, "audit", (size_t) 1 << 20);
			BfIceAudit audit;
			BfStatus status;
			Seen seen = {0};
			bool fired;

			REQUIRE(a != NULL);
			test_fault_arm(&h, kinds[k], call, false);
			bf_error_clear(&test_err);
			status = bf_ice_audit(a, t, count, &seen, &audit, &test_err);
			fired = test_fault_fired(&h);
			if (status != BF_OK && status != expected[kinds[k]])
				test_fail(__FILE__, __LINE__, "call %lld: %s", (long long) call, test_err.text);
			if (fired)
				EXPECT_EQ(status, expected[kinds[k]]);
			bf_arena_free(a);
			EXPECT_EQ(h.live_allocs, 0);
			EXPECT_EQ(h.open_files, 0);
			if (!fired || test_failed())
				break;
		}
}
