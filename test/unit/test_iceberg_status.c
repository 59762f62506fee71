/*
 * Statuses of manifest entries: EXISTING files are as old as they are, not as the manifest that
 * names them again; what was deleted takes no row ids and is no reason to read a manifest.
 */
#include "iceberg/commit.h"

#include "iceberg/internal.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

static const char schema[] =
	"[{\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"n\",\"type\":\"long\"}]}]";
static const char spec[] = "[{\"spec-id\":0,\"fields\":[]}]";

static MakeFile
file_of(BfIceStatus status, const char *name, int64_t sequence, int64_t rows)
{
	return (MakeFile){.status = status,
					  .path = bf_arena_printf(test_arena(), "%s/data/%s", test_dir(), name),
					  .sequence = sequence,
					  .rows = rows,
					  .size = 100};
}

static BfIcePlan *
plan_of(MakeTable *table)
{
	BfIceScan scan = {.io = NULL};
	BfIcePlan *p = NULL;
	BfIceTable *t = make_table(table);

	if (t == NULL ||
		bf_ice_at_resolve(t, &(BfIceAt){.kind = BF_ICE_AT_CURRENT}, &scan.point, &test_err) !=
			BF_OK ||
		bf_ice_plan_scan(test_arena(), t, &scan, &p, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", test_err.object, test_err.text);
	return p;
}

/* A table of one snapshot. */
static BfIcePlan *
plan_manifests(int32_t version, MakeManifest *const *manifests, int32_t n)
{
	MakeSnapshot snapshot = {1, 0, 9, 5, 0, NULL, n, manifests};
	MakeTable table = {.version = version,
					   .schemas = schema,
					   .specs = spec,
					   .current = 1,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};

	return plan_of(&table);
}

TEST(iceberg_status_sequence_numbers)
{
	static const int32_t ids[] = {1};
	MakeFile files[] = {
		file_of(BF_ICE_EXISTING, "old", -1, 10), file_of(BF_ICE_EXISTING, "kept", 4, 10),
		file_of(BF_ICE_ADDED, "new", -1, 10), file_of(BF_ICE_DELETED, "gone", -1, 10)};
	MakeFile deletes[] = {file_of(BF_ICE_ADDED, "eq", 3, 1),
						  file_of(BF_ICE_EXISTING, "eq0", -1, 1)};
	MakeManifest data = {
		.name = "data", .sequence = 7, .snapshot_id = 1, .n_files = 4, .files = files};
	MakeManifest eq = {.name = "eq",
					   .deletes = true,
					   .sequence = 8,
					   .snapshot_id = 1,
					   .n_files = 2,
					   .files = deletes};
	MakeManifest *both[] = {&data, &eq};
	BfIcePlan *p;

	for (int i = 0; i < 2; i++)
	{
		deletes[i].content = BF_ICE_EQUALITY_DELETES;
		deletes[i].n_equality_ids = 1;
		deletes[i].equality_ids = ids;
	}
	p = plan_manifests(2, both, 2);
	REQUIRE(p != NULL && p->n_files == 3);
	EXPECT_EQ(p->files[0].sequence_number, 0);
	EXPECT_EQ(p->files[1].sequence_number, 4);
	EXPECT_EQ(p->files[2].sequence_number, 7);
	/* The delete of sequence 3 reaches what is older, that of sequence 0 nothing. */
	EXPECT_EQ(bf_ice_n_deletes(&p->files[0]), 1);
	EXPECT_EQ(bf_ice_n_deletes(&p->files[1]), 0);
	EXPECT_EQ(bf_ice_n_deletes(&p->files[2]), 0);
}

TEST(iceberg_status_nothing_added)
{
	MakeFile kept[] = {file_of(BF_ICE_EXISTING, "kept", 1, 10)};
	MakeFile gone[] = {file_of(BF_ICE_DELETED, "gone", 1, 10)};
	MakeManifest m[] = {
		{.name = "kept", .sequence = 2, .snapshot_id = 1, .n_files = 1, .files = kept},
		{.name = "gone", .sequence = 2, .snapshot_id = 1, .n_files = 1, .files = gone}};
	MakeManifest *both[] = {&m[0], &m[1]};
	BfIcePlan *p = plan_manifests(2, both, 2);

	REQUIRE(p != NULL && p->n_files == 1);
	EXPECT_EQ(p->total_rows, 10);
}

TEST(iceberg_status_row_ids)
{
	MakeFile files[] = {
		file_of(BF_ICE_DELETED, "gone", 1, 5), file_of(BF_ICE_EXISTING, "kept", 1, 3),
		file_of(BF_ICE_EXISTING, "known", 1, 4), file_of(BF_ICE_ADDED, "new", -1, 2)};
	MakeManifest m = {.name = "m",
					  .sequence = 2,
					  .snapshot_id = 1,
					  .first_row_id = 101,
					  .n_files = 4,
					  .files = files};
	MakeManifest *one[] = {&m};
	BfIcePlan *p;

	files[2].first_row_id = 51;
	p = plan_manifests(3, one, 1);
	REQUIRE(p != NULL && p->n_files == 3);
	EXPECT_EQ(p->files[0].first_row_id, 100);
	EXPECT_EQ(p->files[1].first_row_id, 50);
	EXPECT_EQ(p->files[2].first_row_id, 103);
	/* Behind rows that nobody counted. */
	files[1].rows = -1;
	m = (MakeManifest){.name = "m2",
					   .sequence = 2,
					   .snapshot_id = 1,
					   .first_row_id = 101,
					   .n_files = 4,
					   .files = files};
	p = plan_manifests(3, one, 1);
	REQUIRE(p != NULL && p->n_files == 3);
	EXPECT_EQ(p->files[0].record_count, -1);
	EXPECT_EQ(p->files[0].first_row_id, 100);
	EXPECT_EQ(p->files[1].first_row_id, 50);
	EXPECT_EQ(p->files[2].first_row_id, -1);
	EXPECT(p->rows_guessed);
}

/* A list that doesn't tell how many rows its manifests have is completed by a commit, by status. */
TEST(iceberg_status_counts_are_completed)
{
	BfArena *a = test_arena();
	MakeFile files[] = {file_of(BF_ICE_ADDED, "a", 1, 1),
						file_of(BF_ICE_EXISTING, "b", 1, 10),
						file_of(BF_ICE_EXISTING, "c", 1, 20),
						file_of(BF_ICE_DELETED, "d", 1, 100),
						file_of(BF_ICE_DELETED, "e", 1, 200),
						file_of(BF_ICE_DELETED, "f", 1, 300),
						file_of(BF_ICE_EXISTING, "uncounted", 1, -1)};
	MakeManifest m = {.name = "m", .sequence = 2, .snapshot_id = 1, .n_files = 7, .files = files};
	MakeManifest *one[] = {&m};
	MakeSnapshot snapshot = {1, 0, 9, 5, 0, NULL, 1, one};
	MakeTable table = {.version = 2,
					   .schemas = schema,
					   .specs = spec,
					   .current = 1,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};
	BfIceNewFile file = {.path = "bifang://db/t/7_0-9.log", .record_count = 10, .file_size = 100};
	BfIceTable *t = make_table(&table);
	BfIceManifest *manifests;
	const char *path;
	int32_t n, found = 0;
	int64_t id;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_commit_logical(a, t, &file, 1, NULL, &path, &id, &test_err));
	REQUIRE_OK(bf_ice_load(a, path, NULL, &t, &test_err));
	REQUIRE_OK(bfi_snapshot_manifests(a, t, bf_ice_ref(t->metadata, BF_ICE_BRANCH_BIFANG), NULL,
									  &manifests, &n, &test_err));
	for (int32_t i = 0; i < n; i++)
	{
		if (strstr(manifests[i].path, m.path) == NULL)
			continue;
		found++;
		EXPECT_EQ(manifests[i].added_files, 1);
		EXPECT_EQ(manifests[i].existing_files, 3);
		EXPECT_EQ(manifests[i].deleted_files, 3);
		EXPECT_EQ(manifests[i].added_rows, 1);
		EXPECT_EQ(manifests[i].existing_rows, 30);
		EXPECT_EQ(manifests[i].deleted_rows, 600);
	}
	EXPECT_EQ(found, 1);
}

/* A branch whose logical files are all EXISTING, as after its manifests were rewritten, keeps them
 * when more are committed. */
TEST(iceberg_status_branch_keeps_existing)
{
	BfArena *a = test_arena();
	MakeFile files[] = {{.status = BF_ICE_EXISTING,
						 .path = "bifang://db/t/7_0-9.log",
						 .sequence = 1,
						 .rows = 10,
						 .size = 100}};
	MakeManifest m = {.name = "m", .sequence = 2, .snapshot_id = 1, .n_files = 1, .files = files};
	MakeManifest *one[] = {&m};
	MakeSnapshot snapshot = {1, 0, 9, 5, 0, ",\"" BF_ICE_COVERED "\":\"7:0-9\"", 1, one};
	MakeTable table = {.version = 2,
					   .schemas = schema,
					   .specs = spec,
					   .refs = "{\"bifang\":{\"snapshot-id\":1,\"type\":\"branch\"}}",
					   .n_snapshots = 1,
					   .snapshots = &snapshot};
	BfIceNewFile file = {.path = "bifang://db/t/7_10-19.log", .record_count = 10, .file_size = 9};
	BfIceTable *t = make_table(&table);
	const char *path;
	BfIcePlan *p;
	int64_t id;

	REQUIRE(t != NULL);
	REQUIRE_OK(bf_ice_commit_logical(a, t, &file, 1, NULL, &path, &id, &test_err));
	REQUIRE_OK(bf_ice_load(a, path, NULL, &t, &test_err));
	REQUIRE_OK(bf_ice_plan(a, t, NULL, &p, &test_err));
	EXPECT_EQ(p->n_files, 2);
	EXPECT_EQ(p->total_rows, 20);
}
