/*
 * Rows that move from logical files to Parquet, in one commit of both branches:
 *
 *   1. check the new files, and that the branch still names the logical files that go
 *   2. write those files' manifests again: what goes is DELETED, what stays EXISTING
 *   3. write manifests of the new files, which both branches name
 *   4. main's list and snapshot, which tells what main covers then; the branch's, which follow
 *   5. the metadata
 *
 * Rows are counted: as many as the new files have, main must cover more entries than before. So
 * neither a logical file that was moved already nor one that was left out goes unnoticed.
 */
#include "base/sort.h"
#include "iceberg/commit_internal.h"

typedef struct Moved
{
	BfiCommit c;
	const char **paths; /* that go, sorted */
	bool *found;
	int32_t n_paths;
	int64_t rows; /* of the logical files that went, and their bytes */
	int64_t bytes;
} Moved;

static int
compare_paths(const void *x, const void *y)
{
	return strcmp(*(const char *const *) x, *(const char *const *) y);
}

static BfStatus
sort_paths(Moved *m, const char *const *moved, int32_t n, BfError *err)
{
	BF_ASSERT(n > 0);
	BF_NEW(m->c.arena, m->found, n, err);
	BF_TRY_PTR(m->c.arena, m->paths, bf_arena_memdup(m->c.arena, moved, (size_t) n * sizeof *moved),
			   err);
	m->n_paths = n;
	bf_sort(m->paths, (size_t) n, sizeof *m->paths, compare_paths);
	for (int32_t i = 1; i < n; i++)
		if (strcmp(m->paths[i - 1], m->paths[i]) == 0)
			BF_FAIL(err, BF_ERR_VALUE, "%.300s is to be moved twice", m->paths[i]);
	return BF_OK;
}

/* -1: stays. */
static int32_t
index_of(const Moved *m, const char *path)
{
	const char **at =
		bsearch(&path, m->paths, (size_t) m->n_paths, sizeof *m->paths, compare_paths);

	return at != NULL ? (int32_t) (at - m->paths) : -1;
}

/* Does the file of a manifest's line go? */
static bool
goes(void *arg, const BfIceFile *file)
{
	Moved *m = arg;
	int32_t at = index_of(m, file->path);

	if (at >= 0)
		m->found[at] = true;
	return at >= 0;
}

/* `*old` becomes the manifest that takes its place, or stays when nothing of it goes. Its partition
 * summaries stay: they are of more files than are left, which only makes them wider. */
static BfStatus
write_again(Moved *m, BfArena *arena, BfIceManifest *old, BfError *err)
{
	BfiRewrite r;

	bfi_rewrite_begin(&r, &m->c, arena, goes, m);
	BF_TRY(bfi_rewrite_read(&r, old, err));
	if (r.manifest.deleted_files == 0)
		return BF_OK;
	BF_TRY(bfi_count_add(&m->bytes, r.bytes_gone, err));
	r.manifest.sequence_number = m->c.sequence_number + 1;
	r.manifest.added_snapshot_id = m->c.snapshot_id;
	BF_TRY(bfi_rewrite_write(&r, err));
	*old = r.manifest;
	return BF_OK;
}

static BfStatus
write_all_again(Moved *m, BfError *err)
{
	BfiBranch *b = &m->c.branch;

	for (int32_t i = 0; i < b->n_logical_manifests; i++)
	{
		BfArena *arena = bf_arena_new(bf_arena_host(m->c.arena), "manifest", BFI_WORK_BYTES_MAX);
		BfStatus status;

		if (arena == NULL)
			return bf_arena_fail(m->c.arena, 0, err);
		status = write_again(m, arena, &b->list[i].manifest, err);
		bf_arena_free(arena);
		BF_TRY(status);
	}
	for (int32_t i = 0; i < m->n_paths; i++)
		if (!m->found[i])
			BF_FAIL(err, BF_ERR_CONFLICT, "%.300s is not in the table any more", m->paths[i]);
	return BF_OK;
}

static BfStatus
count_entries(const BfCoverage *c, int64_t *n, BfError *err)
{
	*n = 0;
	for (int32_t i = 0; i < c->n; i++)
		BF_TRY(bfi_count_add(n, bf_rangeset_count(&c->items[i].ranges), err));
	return BF_OK;
}

/* Divides the branch's logical files into those that go, whose entries main covers then, and those
 * that stay. */
static BfStatus
move_coverage(Moved *m, BfError *err)
{
	BfiBranch *b = &m->c.branch;
	BfCoverage old, fresh, left;
	BfIceDataFile *going;
	int32_t n_going = 0, n_left = 0;
	int64_t added = 0, before, after;

	BF_NEW_RAW(b->arena, going, b->n_logical, err);
	for (int32_t i = 0; i < b->n_logical; i++)
		if (index_of(m, b->logical[i].path) >= 0)
			going[n_going++] = b->logical[i];
		else
			b->logical[n_left++] = b->logical[i];
	b->n_logical = n_left;
	for (int32_t i = 0; i < n_going; i++)
		BF_TRY(bfi_count_add(&m->rows, going[i].record_count, err));
	BF_TRY(bfi_coverage_of_files(b->arena, going, n_going, &fresh, err));
	BF_TRY(bfi_coverage_of_files(b->arena, b->logical, n_left, &left, err));
	BF_TRY(bfi_covered_parquet(b->arena, b->table, b->main, &old, err));
	BF_TRY(bfi_coverage_union(b->arena, &old, &fresh, &b->parquet, err));
	BF_TRY(bfi_coverage_union(b->arena, &left, &b->parquet, &b->covered, err));
	BF_TRY(count_entries(&old, &before, err));
	BF_TRY(count_entries(&b->parquet, &after, err));
	BF_ASSERT(before <= after);
	for (int32_t i = 0; i < m->c.n_files; i++)
		BF_TRY(bfi_count_add(&added, m->c.files[i].record_count, err));
	if (added != after - before)
		BF_FAIL(err, BF_ERR_VALUE, "%lld rows were written of %lld entries that are to be moved",
				(long long) added, (long long) (after - before));
	return BF_OK;
}

/* The files as metadata names them. */
static BfStatus
take_files(Moved *m, BfError *err)
{
	BfiCommit *c = &m->c;
	BfIceNewFile *files;

	BF_NEW(c->arena, files, c->n_files, err);
	for (int32_t i = 0; i < c->n_files; i++)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(c->arena), err));
		files[i] = c->files[i];
		files[i].format = "PARQUET";
		if (bf_is_logical_path(files[i].path))
			BF_FAIL(err, BF_ERR_VALUE, "%.300s is the name of a logical file", files[i].path);
		BF_TRY(bfi_commit_check_file(c, &files[i], err));
		BF_TRY(bf_location_record(c->arena, &c->table->location, c->files[i].path, &files[i].path,
								  err));
	}
	c->files = files;
	return BF_OK;
}

static BfStatus
end_main(Moved *m, BfError *err)
{
	BfiCommit *c = &m->c;
	const BfiListEntry *list = c->branch.list + c->branch.n_logical_manifests;
	int32_t n = c->branch.n_list - c->branch.n_logical_manifests;
	int64_t parent = c->branch.main != NULL ? c->branch.main->id : -1;
	const char *recorded;
	json_t *summary;

	BF_TRY(
		bfi_commit_write_list(c, list, n, c->main_id, parent, c->sequence_number, &recorded, err));
	BF_TRY(bfi_commit_add_snapshot(c, BF_ICE_BRANCH_MAIN, c->main_id, parent, c->sequence_number,
								   recorded, &summary, err));
	BF_TRY(bfi_commit_put_added(c, "append", summary, err));
	BF_TRY(bfi_commit_put_totals(c, list, n, NULL, 0, summary, err));
	BF_TRY(bfi_commit_set_coverage(c, summary, BF_ICE_COVERED_PARQUET, &c->branch.parquet, err));
	return bfi_commit_log_main(c, err);
}

static BfStatus
end_branch(Moved *m, BfError *err)
{
	json_t *summary;

	m->c.parent_id = m->c.branch.branch_head->id;
	BF_TRY(bfi_commit_end_branch(&m->c, "replace", &summary, err));
	BF_TRY(bfi_commit_set_count(summary, "deleted-data-files", m->n_paths, err));
	BF_TRY(bfi_commit_set_count(summary, "deleted-records", m->rows, err));
	return bfi_commit_set_count(summary, "removed-files-size", m->bytes, err);
}

static BfStatus
commit_moved(Moved *m, const char *const *moved, int32_t n_moved, const char **metadata_path,
			 BfError *err)
{
	BfiCommit *c = &m->c;

	BF_TRY(take_files(m, err));
	BF_TRY(sort_paths(m, moved, n_moved, err));
	BF_TRY(bfi_commit_begin(c, err));
	BF_TRY(bfi_branch_collect(&c->branch, c->table->metadata->specs.n, err));
	BF_TRY(write_all_again(m, err));
	BF_ASSERT(c->branch.branch_head != NULL);
	BF_TRY(move_coverage(m, err));
	BF_TRY(bfi_commit_add_manifests(c, c->main_id, err));
	BF_TRY(end_main(m, err));
	c->sequence_number++;
	BF_TRY(end_branch(m, err));
	return bfi_commit_finish(c, metadata_path, err);
}

BfStatus
bf_ice_commit_moved(BfArena *a, const BfIceTable *t, const BfIceNewFile *files, int32_t n_files,
					const char *const *moved, int32_t n_moved, const char **metadata_path,
					int64_t *snapshot_id, BfError *err)
{
	Moved *m;

	BF_NEW(a, m, 1, err);
	bfi_commit_init(&m->c, a, t, files, n_files);
	if (commit_moved(m, moved, n_moved, metadata_path, err) != BF_OK)
		return bf_error_object(err, t->metadata_path);
	*snapshot_id = m->c.main_id;
	return BF_OK;
}
