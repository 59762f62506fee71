/*
 * Commits of logical files to their branch, in order:
 *
 *   1. check the new files against the table's specs and against what is covered already
 *   2. collect main's manifests and the branch's logical ones
 *   3. if those are many, make them fewer, in a snapshot of its own (commit_merge.c)
 *   4. write one manifest per spec, the branch's manifest list (and main's, if it has no snapshot)
 *   5. change a copy of the metadata tree and write it as the next version
 *
 * Nothing names the files of 3 and 4 until the caller's pointer names the file of 5.
 */
#include "iceberg/commit_internal.h"

static BfStatus
add_empty_main(BfiCommit *c, BfError *err)
{
	static const char *const zeros[] = {"total-data-files",		  "total-delete-files",
										"total-records",		  "total-files-size",
										"total-position-deletes", "total-equality-deletes"};
	const char *recorded;
	json_t *summary;

	BF_ASSERT(c->branch.main == NULL && c->table->metadata->snapshots.current_id == -1);
	BF_TRY(bfi_commit_write_list(c, NULL, 0, c->main_id, -1, c->sequence_number, &recorded, err));
	BF_TRY(bfi_commit_add_snapshot(c, BF_ICE_BRANCH_MAIN, c->main_id, -1, c->sequence_number,
								   recorded, &summary, err));
	BF_TRY(bfi_json_set(summary, "operation", json_string("append"), err));
	for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++)
		BF_TRY(bfi_commit_set_count(summary, zeros[i], 0, err));
	return bfi_commit_log_main(c, err);
}

static BfStatus
commit(BfiCommit *c, const BfCoverage *covered, const char **metadata_path, BfError *err)
{
	json_t *summary;

	for (int32_t i = 0; i < c->n_files; i++)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(c->arena), err));
		if (!bf_is_logical_path(c->files[i].path))
			BF_FAIL(err, BF_ERR_VALUE, "%.300s is not the name of a logical file",
					c->files[i].path);
		BF_TRY(bfi_commit_check_file(c, &c->files[i], err));
	}
	BF_TRY(bfi_commit_begin(c, err));
	BF_TRY(bfi_branch_collect(&c->branch, c->table->metadata->specs.n, err));
	c->parent_id = c->branch.branch_head != NULL ? c->branch.branch_head->id
				   : c->branch.main != NULL		 ? c->branch.main->id
												 : c->main_id;
	BF_TRY(bfi_commit_merge(c, err));
	BF_TRY(bfi_branch_add(&c->branch, c->files, c->n_files, covered, err));
	if (c->branch.main == NULL)
	{
		BF_TRY(add_empty_main(c, err));
		c->sequence_number++;
	}
	BF_TRY(bfi_commit_add_manifests(c, c->snapshot_id, err));
	BF_ASSERT(c->branch.n_list > 0 || c->n_files == 0);
	BF_TRY(bfi_commit_end_branch(c, "append", &summary, err));
	return bfi_commit_finish(c, metadata_path, err);
}

BfStatus
bf_ice_commit_logical(BfArena *a, const BfIceTable *t, const BfIceNewFile *files, int32_t n_files,
					  const BfCoverage *covered, const char **metadata_path, int64_t *snapshot_id,
					  BfError *err)
{
	BfiCommit *c;

	BF_NEW(a, c, 1, err);
	bfi_commit_init(c, a, t, files, n_files);
	if (commit(c, covered, metadata_path, err) != BF_OK)
		return bf_error_object(err, t->metadata_path);
	*snapshot_id = c->snapshot_id;
	return BF_OK;
}
