/*
 * What the bifang branch names after a commit: main's manifests as they are now, the branch's own
 * with logical files, and the new logical files. No entry may get into it twice.
 */
#include "iceberg/internal.h"

static BfStatus
add_logical(BfiBranch *b, const char *path, int64_t record_count, int64_t file_size, BfError *err)
{
	BfIceDataFile *f;

	if (b->n_logical == b->logical_capacity)
	{
		int32_t capacity = b->logical_capacity > 0 ? b->logical_capacity * 2 : 64;
		BfIceDataFile *more;

		BF_NEW_RAW(b->arena, more, capacity, err);
		if (b->n_logical > 0)
			memcpy(more, b->logical, (size_t) b->n_logical * sizeof *more);
		b->logical = more;
		b->logical_capacity = capacity;
	}
	BF_ASSERT(b->n_logical < b->logical_capacity);
	f = &b->logical[b->n_logical];
	memset(f, 0, sizeof *f);
	f->logical = true;
	f->record_count = record_count;
	f->file_size = file_size;
	BF_TRY_PTR(b->arena, f->path, bf_arena_strdup(b->arena, path), err);
	BF_TRY(bf_logical_parse(b->arena, f->path, &f->log, err));
	b->n_logical++;
	return BF_OK;
}

/* Counts of a manifest by reading it: for lists that do not tell them, and to know which of the
 * branch's manifests are ours. */
typedef struct Survey
{
	BfiBranch *branch;
	BfArena *scratch;
	int32_t files[3]; /* by status */
	int64_t rows[3];
	int32_t n_logical;
	int32_t n_other;
	bool collect; /* keep the logical files */
} Survey;

static BfStatus
visit_survey(void *arg, const BfIceFile *file, BfError *err)
{
	Survey *s = arg;
	bool live = file->status != BF_ICE_DELETED;
	int64_t rows = file->record_count > 0 ? file->record_count : 0;

	BF_ASSERT((unsigned) file->status < sizeof s->files / sizeof *s->files);
	s->files[file->status]++;
	BF_DATA(err, !__builtin_add_overflow(s->rows[file->status], rows, &s->rows[file->status]), -1,
			"record counts add up to more than 2^63");
	if (live && bf_is_logical_path(file->path))
	{
		s->n_logical++;
		if (s->collect)
			BF_TRY(add_logical(s->branch, file->path, file->record_count, file->file_size, err));
	}
	else if (live)
		s->n_other++;
	bf_arena_reset(s->scratch);
	return BF_OK;
}

static BfStatus
survey_manifest(BfiBranch *b, const BfIceManifest *m, bool collect, Survey *s, BfError *err)
{
	const char *path;
	BfStatus status;

	*s = (Survey){.branch = b, .collect = collect};
	BF_TRY(bf_location_resolve(b->arena, &b->table->location, m->path, &path, err));
	s->scratch = bf_arena_new(bf_arena_host(b->arena), "manifest entry", BF_ICE_RECORD_BYTES_MAX);
	if (s->scratch == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status =
		bf_ice_read_manifest(s->scratch, path, m, b->table->metadata, NULL, visit_survey, s, err);
	bf_arena_free(s->scratch);
	return status;
}

/* Version 2 wants every count and sequence number: what version 1 left out is read or 0. */
static BfStatus
complete_manifest(BfiBranch *b, BfIceManifest *m, BfError *err)
{
	Survey s;

	if (m->sequence_number < 0)
		m->sequence_number = 0;
	if (m->added_files >= 0 && m->existing_files >= 0 && m->deleted_files >= 0 &&
		m->added_rows >= 0 && m->existing_rows >= 0 && m->deleted_rows >= 0)
		return BF_OK;
	BF_TRY(survey_manifest(b, m, false, &s, err));
	m->added_files = s.files[BF_ICE_ADDED];
	m->existing_files = s.files[BF_ICE_EXISTING];
	m->deleted_files = s.files[BF_ICE_DELETED];
	m->added_rows = s.rows[BF_ICE_ADDED];
	m->existing_rows = s.rows[BF_ICE_EXISTING];
	m->deleted_rows = s.rows[BF_ICE_DELETED];
	BF_ASSERT(m->added_rows >= 0 && m->existing_rows >= 0 && m->deleted_rows >= 0);
	return BF_OK;
}

/* Main's manifests as they are now, then those of the branch that name logical files. */
BfStatus
bfi_branch_collect(BfiBranch *b, int32_t room, BfError *err)
{
	BfIceManifest *mains = NULL, *others = NULL;
	int32_t n_mains = 0, n_others = 0, n_new = 0;
	int32_t *new_ones;

	BF_ASSERT(room >= 0 && b->n_list == 0 && b->n_logical == 0);
	if (b->main != NULL)
		BF_TRY(bfi_snapshot_manifests(b->arena, b->table, b->main, NULL, &mains, &n_mains, err));
	if (b->branch_head != NULL)
		BF_TRY(bfi_snapshot_manifests(b->arena, b->table, b->branch_head, NULL, &others, &n_others,
									  err));
	BF_TRY(
		bfi_manifests_missing(b->arena, others, n_others, mains, n_mains, &new_ones, &n_new, err));
	b->list_capacity = room + n_mains + n_new;
	BF_NEW(b->arena, b->list, b->list_capacity, err);
	for (int32_t i = 0; i < n_new; i++)
	{
		BfIceManifest *m = &others[new_ones[i]];
		Survey s;

		if (m->deletes || bfi_manifest_is_empty(m))
			continue;
		BF_TRY(survey_manifest(b, m, true, &s, err));
		if (s.n_logical > 0 && s.n_other > 0)
			BF_FAIL(err, BF_ERR_UNSUPPORTED,
					"manifest %.300s of branch \"" BF_ICE_BRANCH_BIFANG
					"\" has logical files and others",
					m->path);
		if (s.n_logical > 0)
			b->list[b->n_list++].manifest = *m;
	}
	b->n_logical_manifests = b->n_list;
	for (int32_t i = 0; i < n_mains; i++)
		b->list[b->n_list++].manifest = mains[i];
	BF_ASSERT(b->n_list <= b->list_capacity - room);
	for (int32_t i = 0; i < b->n_list; i++)
		BF_TRY(complete_manifest(b, &b->list[i].manifest, err));
	return BF_OK;
}

static BfStatus
check_new_entries(const BfCoverage *covered, const BfIceDataFile *f, BfError *err)
{
	if (bf_rangeset_count(&f->log.ranges) != f->record_count)
		BF_FAIL(err, BF_ERR_VALUE, "%.300s names %lld entries, but its record count is %lld",
				f->path, (long long) bf_rangeset_count(&f->log.ranges),
				(long long) f->record_count);
	if (bf_rangeset_overlaps(&f->log.ranges, bf_coverage_of(covered, f->log.ledger_id)))
		BF_FAIL(err, BF_ERR_VALUE, "%.300s names entries that the table has already", f->path);
	return BF_OK;
}

/* No entry may get into the lake twice. */
BfStatus
bfi_branch_add(BfiBranch *b, const BfIceNewFile *files, int32_t n_files, const BfCoverage *given,
			   BfError *err)
{
	BfCoverage old_logical, old, fresh;
	int32_t n_old = b->n_logical;
	BfStatus status;

	BF_ASSERT(b->list != NULL);
	BF_TRY(bfi_coverage_of_files(b->arena, b->logical, n_old, &old_logical, err));
	BF_TRY(bfi_covered_parquet(b->arena, b->table, b->main, &b->parquet, err));
	BF_TRY(bfi_coverage_union(b->arena, &old_logical, &b->parquet, &old, err));
	for (int32_t i = 0; i < n_files; i++)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(b->arena), err));
		BF_TRY(add_logical(b, files[i].path, files[i].record_count, files[i].file_size, err));
		BF_TRY(check_new_entries(&old, &b->logical[n_old + i], err));
	}
	BF_ASSERT(b->n_logical == n_old + n_files);
	status = bfi_coverage_of_files(b->arena, b->logical + n_old, n_files, &fresh, err);
	if (status == BF_ERR_CORRUPT)
		status = err->code = BF_ERR_VALUE;
	BF_TRY(status);
	if (given != NULL)
	{
		b->covered = *given;
		return BF_OK;
	}
	return bfi_coverage_union(b->arena, &old, &fresh, &b->covered, err);
}
