/*
 * Planning: from one or two snapshots to the files to read.
 *
 * The manifests of main come first. Of the bifang branch only those are read that main does not
 * have, and of them only logical files are taken: their Parquet entries are copies of what main had
 * when the branch moved, and main is what counts.
 */
#include <stdlib.h>

#include "iceberg/internal.h"

#define FILES_MAX 50000000

typedef struct PlannedFile
{
	BfIceDataFile file;
	bool second_ref; /* found by way of bifang */
	bool dropped;
} PlannedFile;

typedef struct PlanBuild
{
	BfArena *arena;
	BfArena *scratch; /* one manifest entry */
	const BfIceTable *table;
	BfIoCounters *io;
	bool second_ref; /* reading bifang's manifests */
	bool deletes;	 /* the manifest at hand is one of deletes */
	PlannedFile *files;
	int32_t n_files;
	int32_t capacity;
	int32_t n_manifests;
} PlanBuild;

BfStatus
bfi_snapshot_manifests(BfArena *a, const BfIceTable *t, const BfIceSnapshot *s, BfIoCounters *io,
					   BfIceManifest **out, int32_t *n, BfError *err)
{
	const char *path;

	if (s->encrypted)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "snapshot %lld is encrypted", (long long) s->id);
	if (s->manifest_list != NULL)
	{
		BF_TRY(bf_location_resolve(a, &t->location, s->manifest_list, &path, err));
		return bf_ice_read_manifest_list(a, path, io, out, n, err);
	}
	BF_NEW(a, *out, s->n_manifests, err);
	for (int32_t i = 0; i < s->n_manifests; i++)
		(*out)[i] = (BfIceManifest){.path = s->manifests[i],
									.length = -1,
									.spec_id = -1,
									.added_snapshot_id = s->id,
									.added_files = -1,
									.existing_files = -1,
									.deleted_files = -1,
									.added_rows = -1,
									.existing_rows = -1,
									.deleted_rows = -1};
	*n = s->n_manifests;
	return BF_OK;
}

static BfStatus
files_room(PlanBuild *b, BfError *err)
{
	PlannedFile *more;
	int32_t capacity = b->capacity > 0 ? b->capacity * 2 : 64;

	if (b->n_files < b->capacity)
		return BF_OK;
	if (b->n_files >= FILES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "the snapshot has more than %d data files", FILES_MAX);
	BF_NEW_RAW(b->arena, more, capacity, err);
	if (b->n_files > 0)
		memcpy(more, b->files, (size_t) b->n_files * sizeof *more);
	b->files = more;
	b->capacity = capacity;
	return BF_OK;
}

static BfStatus
copy_partition(BfArena *a, const BfIceFile *from, BfIceDataFile *to, BfError *err)
{
	to->n_partition = from->n_partition;
	BF_NEW(a, to->partition, from->n_partition, err);
	for (int32_t i = 0; i < from->n_partition; i++)
	{
		BfValue *v = &to->partition[i];

		*v = from->partition[i];
		if (!v->is_null && bf_type_storage(v->type) == BF_STORE_VIEW)
			BF_TRY_PTR(a, v->v.view.ptr, bf_arena_memdup(a, v->v.view.ptr, v->v.view.len), err);
	}
	return BF_OK;
}

/* The identity fields of the spec that the partition tuple really has. */
static BfStatus
set_constants(BfArena *a, const BfIceSpec *spec, BfIceDataFile *f, BfError *err)
{
	BF_ASSERT(spec->n_fields == f->n_partition);
	BF_NEW(a, f->constant_ids, spec->n_fields, err);
	BF_NEW(a, f->constants, spec->n_fields, err);
	for (int32_t i = 0; i < spec->n_fields; i++)
	{
		if (spec->fields[i].transform.kind != BF_TRANSFORM_IDENTITY ||
			f->partition[i].type.kind == BF_KIND_NULL)
			continue;
		f->constant_ids[f->n_constants] = spec->fields[i].source_id;
		f->constants[f->n_constants++] = f->partition[i];
	}
	return BF_OK;
}

static BfStatus
refuse_deletes(const BfIceFile *file, BfError *err)
{
	const char *what = "position delete files";

	if (strcmp(file->format, "PUFFIN") == 0)
		what = "deletion vectors";
	else if (file->content == BF_ICE_EQUALITY_DELETES)
		what = "equality delete files";
	return bf_error(err, BF_ERR_UNSUPPORTED, "the table has %s, which are not read yet: %.300s",
					what, file->path);
}

static BfStatus
fill_file(PlanBuild *b, const BfIceFile *from, BfIceDataFile *f, BfError *err)
{
	const BfIceSpec *spec = bf_ice_spec(b->table->metadata, from->spec_id);

	BF_NEVER(err, spec == NULL);
	f->record_count = from->record_count;
	f->file_size = from->file_size;
	f->spec_id = from->spec_id;
	f->sequence_number = from->sequence_number;
	f->logical = bf_is_logical_path(from->path);
	if (f->logical)
	{
		BF_TRY_PTR(b->arena, f->path, bf_arena_strdup(b->arena, from->path), err);
		BF_TRY(bf_logical_parse(b->arena, f->path, &f->log, err));
		BF_DATA(err, bf_rangeset_count(&f->log.ranges) == f->record_count, -1,
				"%.300s names %lld entries, but its record_count is %lld", f->path,
				(long long) bf_rangeset_count(&f->log.ranges), (long long) f->record_count);
	}
	else
		BF_TRY(bf_location_resolve(b->arena, &b->table->location, from->path, &f->path, err));
	BF_TRY(copy_partition(b->arena, from, f, err));
	return set_constants(b->arena, spec, f, err);
}

static BfStatus
visit_file(void *arg, const BfIceFile *file, BfError *err)
{
	PlanBuild *b = arg;
	PlannedFile *p;

	if (file->status != BF_ICE_DELETED && (!b->second_ref || bf_is_logical_path(file->path)))
	{
		if (b->deletes || file->content != BF_ICE_DATA)
			return refuse_deletes(file, err);
		if (!bf_is_logical_path(file->path) && strcmp(file->format, "PARQUET") != 0)
			BF_FAIL(err, BF_ERR_UNSUPPORTED, "data files of format %.40s are not read: %.300s",
					file->format, file->path);
		BF_TRY(files_room(b, err));
		p = &b->files[b->n_files];
		memset(p, 0, sizeof *p);
		p->second_ref = b->second_ref;
		BF_TRY(fill_file(b, file, &p->file, err));
		b->n_files++;
	}
	bf_arena_reset(b->scratch);
	return BF_OK;
}

static int
compare_texts(const void *x, const void *y)
{
	return strcmp(*(const char *const *) x, *(const char *const *) y);
}

/* The canonical paths of manifests, sorted; a searched array instead of a hash table. */
static BfStatus
manifest_paths(BfArena *a, const BfIceManifest *manifests, int32_t n, const char ***out,
			   BfError *err)
{
	BF_NEW(a, *out, n, err);
	for (int32_t i = 0; i < n; i++)
		BF_TRY(bf_location_canonical(a, manifests[i].path, &(*out)[i], err));
	qsort(*out, (size_t) n, sizeof **out, compare_texts);
	return BF_OK;
}

BfStatus
bfi_manifests_missing(BfArena *a, const BfIceManifest *from, int32_t n_from,
					  const BfIceManifest *in, int32_t n_in, int32_t **out, int32_t *n,
					  BfError *err)
{
	const char **known;

	*n = 0;
	BF_TRY(manifest_paths(a, in, n_in, &known, err));
	BF_NEW(a, *out, n_from, err);
	for (int32_t i = 0; i < n_from; i++)
	{
		const char *path;

		BF_TRY(bf_location_canonical(a, from[i].path, &path, err));
		if (bsearch(&path, known, (size_t) n_in, sizeof *known, compare_texts) == NULL)
			(*out)[(*n)++] = i;
	}
	return BF_OK;
}

bool
bfi_manifest_is_empty(const BfIceManifest *m)
{
	return m->added_files == 0 && m->existing_files == 0;
}

static BfStatus
read_one(PlanBuild *b, const BfIceManifest *m, BfError *err)
{
	const char *path;

	if (bfi_manifest_is_empty(m))
		return BF_OK;
	BF_TRY(bf_location_resolve(b->arena, &b->table->location, m->path, &path, err));
	b->deletes = m->deletes;
	b->n_manifests++;
	return bf_ice_read_manifest(b->scratch, path, m, b->table->metadata, b->io, visit_file, b, err);
}

static BfStatus
read_refs(PlanBuild *b, const BfIceSnapshot *first, const BfIceSnapshot *second, BfError *err)
{
	BfIceManifest *manifests = NULL, *others;
	int32_t n = 0, n_others, n_new;
	int32_t *new_ones;

	if (first != NULL)
		BF_TRY(bfi_snapshot_manifests(b->arena, b->table, first, b->io, &manifests, &n, err));
	for (int32_t i = 0; i < n; i++)
		BF_TRY(read_one(b, &manifests[i], err));
	if (second == NULL || second == first)
		return BF_OK;
	BF_TRY(bfi_snapshot_manifests(b->arena, b->table, second, b->io, &others, &n_others, err));
	BF_TRY(bfi_manifests_missing(b->arena, others, n_others, manifests, n, &new_ones, &n_new, err));
	b->second_ref = true;
	for (int32_t i = 0; i < n_new; i++)
		if (!others[new_ones[i]].deletes)
			BF_TRY(read_one(b, &others[new_ones[i]], err));
	return BF_OK;
}

static int
compare_files(const void *x, const void *y)
{
	const PlannedFile *a = *(PlannedFile *const *) x, *b = *(PlannedFile *const *) y;
	int c = strcmp(a->file.path, b->file.path);

	return c != 0 ? c : (int) a->second_ref - (int) b->second_ref;
}

/* A path that both refs have is one file; one that a snapshot has twice has no meaning. */
static BfStatus
drop_duplicates(PlanBuild *b, BfError *err)
{
	PlannedFile **sorted;

	BF_NEW(b->arena, sorted, b->n_files, err);
	for (int32_t i = 0; i < b->n_files; i++)
		sorted[i] = &b->files[i];
	qsort(sorted, (size_t) b->n_files, sizeof *sorted, compare_files);
	for (int32_t i = 1; i < b->n_files; i++)
	{
		if (strcmp(sorted[i]->file.path, sorted[i - 1]->file.path) != 0)
			continue;
		if (sorted[i]->second_ref == sorted[i - 1]->second_ref)
			BF_FAIL(err, BF_ERR_CORRUPT, "the snapshot has a data file twice: %.300s",
					sorted[i]->file.path);
		sorted[i]->dropped = true;
	}
	return BF_OK;
}

static BfStatus
collect_files(PlanBuild *b, BfIcePlan *plan, BfError *err)
{
	BF_NEW(b->arena, plan->files, b->n_files, err);
	for (int32_t i = 0; i < b->n_files; i++)
		if (!b->files[i].dropped)
			plan->files[plan->n_files++] = b->files[i].file;
	plan->n_manifests = b->n_manifests;
	return BF_OK;
}

/* Leaves out logical files that main covers wholly and adds up what is left. */
static BfStatus
subtract_and_total(BfArena *scratch, BfIcePlan *plan, BfError *err)
{
	int32_t n = 0;

	for (int32_t i = 0; i < plan->n_files; i++)
	{
		BfIceDataFile *f = &plan->files[i];
		int64_t rows = f->record_count;

		if (f->logical)
		{
			BfRangeSet left;

			bf_arena_reset(scratch);
			BF_TRY(bf_rangeset_subtract(scratch, &f->log.ranges,
										bf_coverage_of(&plan->covered_parquet, f->log.ledger_id),
										&left, err));
			if (left.n == 0)
				continue;
			rows = bf_rangeset_count(&left);
		}
		BF_DATA(err,
				!__builtin_add_overflow(plan->total_rows, rows, &plan->total_rows) &&
					!__builtin_add_overflow(plan->total_bytes, f->file_size, &plan->total_bytes),
				-1, "record counts or file sizes add up to more than 2^63");
		plan->files[n++] = *f;
	}
	plan->n_files = n;
	return BF_OK;
}

/* `first` tells by its ancestors what is Parquet; `subtract` that from logical files. */
static BfStatus
build_plan(PlanBuild *b, const BfIceSnapshot *first, const BfIceSnapshot *second, bool subtract,
		   BfIcePlan *plan, BfError *err)
{
	BfCoverage logical, parquet;

	BF_TRY(read_refs(b, first, second, err));
	BF_TRY(drop_duplicates(b, err));
	BF_TRY(collect_files(b, plan, err));
	BF_TRY(bfi_coverage_of_files(b->arena, plan->files, plan->n_files, &logical, err));
	BF_TRY(bfi_covered_parquet(b->arena, b->table, first, &parquet, err));
	BF_TRY(bfi_coverage_union(b->arena, &logical, &parquet, &plan->covered, err));
	if (subtract)
		plan->covered_parquet = parquet;
	return subtract_and_total(b->scratch, plan, err);
}

static BfStatus
plan_snapshots(BfArena *a, const BfIceTable *t, const BfIceSnapshot *first,
			   const BfIceSnapshot *second, bool subtract, BfIoCounters *io, BfIcePlan **out,
			   BfError *err)
{
	PlanBuild b = {.arena = a, .table = t, .io = io};
	BfIcePlan *plan;
	BfStatus status;

	BF_NEW(a, plan, 1, err);
	plan->snapshot_id = first != NULL ? first->id : -1;
	plan->bifang_snapshot_id = second != NULL ? second->id : -1;
	b.scratch = bf_arena_new(bf_arena_host(a), "manifest entry", BF_ICE_RECORD_BYTES_MAX);
	if (b.scratch == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	status = build_plan(&b, first, second, subtract, plan, err);
	bf_arena_free(b.scratch);
	if (status != BF_OK)
		return bf_error_object(err, t->metadata_path);
	*out = plan;
	return BF_OK;
}

BfStatus
bf_ice_plan(BfArena *a, const BfIceTable *t, BfIoCounters *io, BfIcePlan **out, BfError *err)
{
	const BfIceMetadata *m = t->metadata;

	BF_TRY(bf_ice_schema_check(m, t->schema, err));
	return plan_snapshots(a, t, bf_ice_ref(m, BF_ICE_BRANCH_MAIN),
						  bf_ice_ref(m, BF_ICE_BRANCH_BIFANG), true, io, out, err);
}

BfStatus
bf_ice_plan_snapshot(BfArena *a, const BfIceTable *t, int64_t snapshot_id, BfIoCounters *io,
					 BfIcePlan **out, BfError *err)
{
	const BfSchema *schema;

	BF_TRY(bf_ice_snapshot_schema(t, snapshot_id, &schema, err));
	return plan_snapshots(a, t, bf_ice_snapshot(t->metadata, snapshot_id), NULL, false, io, out,
						  err);
}
