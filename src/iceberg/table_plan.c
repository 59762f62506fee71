/*
 * Planning: from one or two snapshots to the files to read.
 *
 * The manifests of main come first. Of the bifang branch only those are read that main does not
 * have, and of them only logical files are taken: their Parquet entries are copies of what main had
 * when the branch moved, and main is what counts. What main deletes, it deletes from its own files:
 * rows of logical files are not yet in it.
 *
 * Manifests of deletes are read last, when it is known which files are left that they could apply
 * to. Where a manifest is skipped by its summary, so are the deletes of the same partitions.
 */
#include <stdlib.h>

#include "iceberg/internal.h"
#include "iceberg/cache_internal.h"
#include "iceberg/plan_internal.h"

#define FILES_MAX 50000000
#define CAPACITY_FIRST 64
#define CAPACITY_HINT_MAX (1 << 18)
/* What planning needs besides the plan. */

/* What was found; the files end up in the plan, the rest goes with the work's arena. */
typedef struct FoundFiles
{
	BfIceDataFile *all; /* in the plan's arena */
	BfiFileFlags *flags;
	int32_t n;
	int32_t capacity;
	int64_t expected; /* entries, by the list */
	BfMap paths;	  /* of files -> their number */
} FoundFiles;

/* Of files that are only counted. */
typedef struct Totals
{
	int64_t files;
	int64_t rows;
	int64_t bytes;
	bool guessed;
} Totals;

typedef struct DeleteManifests
{
	int32_t n;
	const BfIceManifest **all;
} DeleteManifests;

/* While a plan is made. */
typedef struct PlanBuild
{
	BfArena *arena;
	BfArena *work;
	const BfIceTable *table;
	const BfIceScan *scan;
	const BfIcePruner *pruner; /* NULL = nothing is pruned */
	BfiEntries entries;
	BfIcePlanCounters counters;
	bool second_ref;	  /* reading bifang's manifests */
	bool logical_deletes; /* the first snapshot deletes rows of its logical files too */
	bool mixed;			  /* the manifest at hand, one of data, has deletes */
	FoundFiles found;
	Totals totals;
	const BfIceSpec *spec; /* of the file before: its constants are the partition values */
	int32_t *constant_ids;
	BfiDeletePlan *deletes;
	DeleteManifests delete_manifests;
} PlanBuild;

/* What the list tells is room enough, if it tells the truth; what is not used costs nothing. */
static BfStatus
files_room(PlanBuild *b, BfError *err)
{
	BfIceDataFile *more;
	BfiFileFlags *flags;
	int32_t capacity = b->found.capacity > 0 ? b->found.capacity * 2 : CAPACITY_FIRST;

	BF_ASSERT(b->found.n >= 0 && b->found.n <= b->found.capacity && b->found.expected >= 0);
	if (b->found.n < b->found.capacity)
		return BF_OK;
	if (b->found.n >= FILES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "the snapshot has more than %d data files", FILES_MAX);
	if (b->found.capacity == 0 && b->found.expected > capacity)
		capacity =
			b->found.expected < CAPACITY_HINT_MAX ? (int32_t) b->found.expected : CAPACITY_HINT_MAX;
	BF_TRY(bf_check_cancel(bf_arena_host(b->work), err));
	BF_NEW_RAW(b->arena, more, capacity, err);
	BF_NEW_RAW(b->work, flags, capacity, err);
	if (b->found.n > 0)
	{
		memcpy(more, b->found.all, (size_t) b->found.n * sizeof *more);
		memcpy(flags, b->found.flags, (size_t) b->found.n * sizeof *flags);
	}
	else if (b->pruner == NULL)
		BF_TRY(bf_map_reserve(&b->found.paths, (uint64_t) capacity, err));
	b->found.all = more;
	b->found.flags = flags;
	b->found.capacity = capacity;
	return BF_OK;
}

static BfStatus
copy_partition(BfArena *a, const BfiEntry *from, BfIceDataFile *to, BfError *err)
{
	BF_NEW_RAW(a, to->partition, from->n_partition, err);
	for (int32_t i = 0; i < from->n_partition; i++)
	{
		BfValue *v = &to->partition[i];

		*v = from->partition[i];
		if (!v->is_null && bf_type_storage(v->type) == BF_STORE_VIEW)
			BF_TRY(bfi_copy_view(a, v->v.view, &v->v.view, err));
	}
	return BF_OK;
}

/* Are all the spec's fields identities, and in the tuple? */
static bool
all_identity(const BfIceSpec *spec, const BfIceDataFile *f)
{
	for (int32_t i = 0; i < spec->n_fields; i++)
		if (spec->fields[i].transform.kind != BF_TRANSFORM_IDENTITY ||
			f->partition[i].type.kind == BF_KIND_NULL)
			return false;
	return true;
}

/* The identity fields of the spec that the partition tuple really has. */
static BfStatus
set_constants(PlanBuild *b, const BfIceSpec *spec, BfIceDataFile *f, BfError *err)
{
	BfArena *a = b->arena;

	BF_ASSERT(spec->n_fields == f->n_partition);
	if (spec->n_fields == 0)
		return BF_OK;
	if (all_identity(spec, f))
	{
		if (b->spec != spec)
		{
			BF_NEW_RAW(a, b->constant_ids, spec->n_fields, err);
			for (int32_t i = 0; i < spec->n_fields; i++)
				b->constant_ids[i] = spec->fields[i].source_id;
			b->spec = spec;
		}
		f->n_constants = spec->n_fields;
		f->constant_ids = b->constant_ids;
		f->constants = f->partition;
		return BF_OK;
	}
	BF_NEW(a, f->constant_ids, spec->n_fields, err);
	BF_NEW(a, f->constants, spec->n_fields, err);
	for (int32_t i = 0; i < spec->n_fields; i++)
	{
		if (spec->fields[i].transform.kind != BF_TRANSFORM_IDENTITY ||
			f->partition[i].type.kind == BF_KIND_NULL)
			continue;
		BF_ASSERT(f->n_constants < spec->n_fields);
		f->constant_ids[f->n_constants] = spec->fields[i].source_id;
		f->constants[f->n_constants++] = f->partition[i];
	}
	return BF_OK;
}

static BfIceFormat
format_of(const BfiEntry *e)
{
	if (e->logical)
		return BF_ICE_FORMAT_LOG;
	if (strcmp(e->format, "PARQUET") == 0)
		return BF_ICE_FORMAT_PARQUET;
	if (strcmp(e->format, "AVRO") == 0)
		return BF_ICE_FORMAT_AVRO;
	return strcmp(e->format, "ORC") == 0 ? BF_ICE_FORMAT_ORC : BF_ICE_FORMAT_OTHER;
}

static BfStatus
fill_file(PlanBuild *b, const BfiEntry *from, BfIceDataFile *f, BfError *err)
{
	const BfIceSpec *spec = bf_ice_spec(b->table->metadata, from->spec_id);

	BF_NEVER(err, spec == NULL);
	f->record_count = from->record_count;
	f->file_size = from->file_size;
	f->spec_id = from->spec_id;
	f->sequence_number = from->sequence_number;
	f->first_row_id = from->first_row_id;
	f->snapshot_id = from->snapshot_id;
	f->logical = from->logical;
	f->format = format_of(from);
	BF_ASSERT(f->format < BF_ICE_FORMAT_ORC || b->scan->listing);
	f->path = from->path;
	f->n_partition = from->n_partition;
	f->partition = from->partition;
	if (!b->entries.lasting)
	{
		BF_TRY_PTR(b->arena, f->path, bf_arena_strdup(b->arena, from->path), err);
		BF_TRY(copy_partition(b->arena, from, f, err));
	}
	if (f->logical)
	{
		BF_TRY(bf_logical_parse(b->arena, f->path, &f->log, err));
		BF_DATA(err, bf_rangeset_count(&f->log.ranges) == f->record_count, -1,
				"%.300s names %lld entries, but its record_count is %lld", f->path,
				(long long) bf_rangeset_count(&f->log.ranges), (long long) f->record_count);
	}
	return set_constants(b, spec, f, err);
}

/* Can the file be left out? Of a logical one the coverage counts all the same. */
static bool
prune(PlanBuild *b, const BfiEntry *e)
{
	BfIcePrunedBy by = BF_ICE_NOT_PRUNED;

	b->counters.files++;
	if (b->pruner != NULL)
		by = bf_ice_prune_file(b->pruner, e->spec_id, e->partition, e->record_count, e->metrics);
	b->counters.files_by_partition += by == BF_ICE_PRUNED_BY_PARTITION;
	b->counters.files_by_bounds += by == BF_ICE_PRUNED_BY_BOUNDS;
	return by != BF_ICE_NOT_PRUNED;
}

static BfStatus
keep_file(PlanBuild *b, const BfiEntry *e, bool pruned, BfError *err)
{
	BfIceDataFile *f;
	int64_t *found;

	BF_ASSERT(e->path_len == strlen(e->path) && (e->logical || !b->second_ref));
	BF_TRY(files_room(b, err));
	f = &b->found.all[b->found.n];
	memset(f, 0, sizeof *f);
	BF_TRY(fill_file(b, e, f, err));
	/* A path that both refs have is one file; one that a snapshot has twice has no meaning. */
	BF_TRY(bf_map_put_borrowed(&b->found.paths, f->path, e->path_len, e->path_hash, b->found.n,
							   &found, err));
	BF_ASSERT(*found >= 0 && *found <= b->found.n);
	if (*found < b->found.n && b->found.flags[*found].second_ref == b->second_ref)
		BF_FAIL(err, BF_ERR_CORRUPT, "the snapshot has a data file twice: %.300s", e->path);
	if (*found < b->found.n)
		return BF_OK;
	b->found.flags[b->found.n++] = (BfiFileFlags){
		.second_ref = b->second_ref,
		.pruned = pruned,
		.takes_deletes = !pruned && !b->second_ref && (!e->logical || b->logical_deletes)};
	return BF_OK;
}

static BfStatus
add_file(PlanBuild *b, const BfiEntry *e, BfError *err)
{
	bool pruned;

	if (e->sequence_number < 0)
		BF_FAIL(err, BF_ERR_CORRUPT, "sequence number %lld of %.300s is negative",
				(long long) e->sequence_number, e->path);
	pruned = prune(b, e);
	if (pruned && !e->logical)
		return BF_OK;
	if (!b->scan->totals_only || e->logical)
		return keep_file(b, e, pruned, err);
	BF_DATA(err,
			!__builtin_add_overflow(b->totals.rows, bf_ice_rows(e->record_count, e->file_size),
									&b->totals.rows) &&
				!__builtin_add_overflow(b->totals.bytes, e->file_size, &b->totals.bytes),
			-1, "record counts or file sizes add up to more than 2^63");
	b->totals.files++;
	b->totals.guessed |= e->record_count < 0;
	return BF_OK;
}

static BfStatus
visit_data(void *arg, const BfiEntry *e, BfError *err)
{
	PlanBuild *b = arg;

	if (e->content != BF_ICE_DATA)
	{
		b->mixed = true;
		return BF_OK;
	}
	if (b->second_ref && !e->logical)
		return BF_OK;
	if (!e->logical && strcmp(e->format, "PARQUET") != 0 && strcmp(e->format, "AVRO") != 0 &&
		!b->scan->listing)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "data files of format %.40s are not read: %.300s",
				e->format, e->path);
	return add_file(b, e, err);
}

/* In a manifest of deletes, or one of data that has deletes too. */
static BfStatus
visit_delete(void *arg, const BfiEntry *e, BfError *err)
{
	PlanBuild *b = arg;

	BF_ASSERT(b->deletes != NULL && !b->scan->totals_only);
	if (e->content == BF_ICE_DATA)
		return BF_OK;
	if (!b->scan->listing && strcmp(e->format, "PARQUET") != 0 && strcmp(e->format, "AVRO") != 0 &&
		!bfi_is_vector(e))
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "delete files of format %.40s are not read: %.300s",
				e->format, e->path);
	return bfi_delete_plan_add(b->deletes, e, err);
}

/* The canonical paths of manifests. */
static BfStatus
manifest_paths(BfArena *a, const BfIceManifest *manifests, int32_t n, BfMap *out, BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	uint64_t seed;

	BF_TRY(host->random(host, &seed, sizeof seed, err));
	bf_map_init(out, a, seed);
	for (int32_t i = 0; i < n; i++)
	{
		const char *path;
		int64_t *ignored;
		size_t len;

		BF_TRY(bf_location_canonical(a, manifests[i].path, &path, err));
		len = strlen(path);
		BF_TRY(bf_map_put_borrowed(out, path, len, bf_map_hash(out, path, len), i, &ignored, err));
	}
	return BF_OK;
}

BfStatus
bfi_manifests_missing(BfArena *a, const BfIceManifest *from, int32_t n_from,
					  const BfIceManifest *in, int32_t n_in, int32_t **out, int32_t *n,
					  BfError *err)
{
	BfMap known;

	*n = 0;
	BF_TRY(manifest_paths(a, in, n_in, &known, err));
	BF_NEW(a, *out, n_from, err);
	for (int32_t i = 0; i < n_from; i++)
	{
		const char *path;
		size_t len;

		BF_TRY(bf_location_canonical(a, from[i].path, &path, err));
		len = strlen(path);
		if (bf_map_find(&known, path, len, bf_map_hash(&known, path, len)) == NULL)
			(*out)[(*n)++] = i;
	}
	return BF_OK;
}

bool
bfi_manifest_is_empty(const BfIceManifest *m)
{
	return m->added_files == 0 && m->existing_files == 0;
}

/* Whether the manifest's summary tells that nothing in it is wanted. Logical files in it would be
 * missed as coverage: a table with a bifang branch has them there, others may have them anywhere.
 */
static bool
skip_by_summary(PlanBuild *b, const BfIceManifest *m)
{
	if (b->pruner == NULL || !bf_ice_prune_manifest(b->pruner, m))
		return false;
	return m->deletes || !b->scan->coverage || b->scan->point.bifang != NULL ||
		   bfi_entries_known_plain(&b->entries, m);
}

/* A manifest of data, whose entries the plan may then point to. */
static BfStatus
read_data(PlanBuild *b, const BfIceManifest *m, BfError *err)
{
	int32_t n = b->found.n;

	BF_ASSERT(!m->deletes && b->deletes == NULL);
	BF_TRY(bfi_entries_read(&b->entries, m, visit_data, b, err));
	return b->found.n > n && b->entries.lasting ? bfi_entries_hold(&b->entries, b->arena, err)
												: BF_OK;
}

static void
expect(PlanBuild *b, const BfIceManifest *manifests, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		if (!manifests[i].deletes && manifests[i].added_files >= 0 &&
			manifests[i].existing_files >= 0)
			b->found.expected += (int64_t) manifests[i].added_files + manifests[i].existing_files;
}

static BfStatus
read_first(PlanBuild *b, const BfIceManifest *manifests, int32_t n, BfError *err)
{
	BF_ASSERT(!b->second_ref && b->found.n == 0);
	expect(b, manifests, n);
	BF_NEW(b->work, b->delete_manifests.all, n, err);
	for (int32_t i = 0; i < n; i++)
	{
		const BfIceManifest *m = &manifests[i];

		b->counters.manifests++;
		b->mixed = false;
		if (skip_by_summary(b, m))
		{
			b->counters.manifests_skipped++;
			continue;
		}
		if (!m->deletes)
			BF_TRY(read_data(b, m, err));
		if (m->deletes || b->mixed)
			b->delete_manifests.all[b->delete_manifests.n++] = m;
	}
	return BF_OK;
}

static BfStatus
read_second(PlanBuild *b, const BfIceManifest *known, int32_t n_known, BfError *err)
{
	const BfIceManifest *others;
	int32_t n_others, n_new;
	int32_t *new_ones;

	BF_TRY(bfi_entries_manifests(&b->entries, b->work, b->scan->point.bifang, &others, &n_others,
								 err));
	BF_TRY(
		bfi_manifests_missing(b->work, others, n_others, known, n_known, &new_ones, &n_new, err));
	BF_ASSERT(!b->second_ref && n_new <= n_others);
	b->second_ref = true;
	b->entries.pruner = NULL; /* Parquet that it would leave out, and count, is none of ours */
	for (int32_t i = 0; i < n_new; i++)
	{
		const BfIceManifest *m = &others[new_ones[i]];

		if (m->deletes)
		{
			BF_TRY(bfi_entries_check(&b->entries, m, err));
			continue;
		}
		b->counters.manifests++;
		BF_TRY(read_data(b, m, err));
	}
	return BF_OK;
}

/* What nobody reads must not be data that the list calls deletes. */
static BfStatus
check_deletes(PlanBuild *b, BfError *err)
{
	for (int32_t i = 0; i < b->delete_manifests.n; i++)
		if (b->delete_manifests.all[i]->deletes)
			BF_TRY(bfi_entries_check(&b->entries, b->delete_manifests.all[i], err));
	return BF_OK;
}

static BfStatus
read_deletes(PlanBuild *b, BfError *err)
{
	if (b->delete_manifests.n == 0)
		return BF_OK;
	if (b->scan->totals_only)
		return check_deletes(b, err);
	b->entries.pruner = NULL;
	BF_TRY(bfi_delete_plan_new(b->arena, b->work, b->table, b->found.all, b->found.flags,
							   b->found.n, &b->found.paths, b->pruner, &b->counters, &b->deletes,
							   err));
	for (int32_t i = 0; i < b->delete_manifests.n; i++)
	{
		const BfIceManifest *m = b->delete_manifests.all[i];

		if (!bfi_delete_plan_wants(b->deletes, m))
		{
			b->counters.manifests_skipped += m->deletes;
			if (m->deletes)
				BF_TRY(bfi_entries_check(&b->entries, m, err));
			continue;
		}
		BF_TRY(bfi_entries_read(&b->entries, m, visit_delete, b, err));
	}
	return bfi_delete_plan_assign(b->deletes, err);
}

static BfStatus
read_refs(PlanBuild *b, BfError *err)
{
	const BfIcePoint *point = &b->scan->point;
	const BfIceManifest *manifests = NULL;
	int32_t n = 0;

	if (point->main != NULL)
		BF_TRY(bfi_entries_manifests(&b->entries, b->work, point->main, &manifests, &n, err));
	BF_TRY(read_first(b, manifests, n, err));
	if (point->bifang != NULL && point->bifang != point->main)
		BF_TRY(read_second(b, manifests, n, err));
	return read_deletes(b, err);
}

/* All files first, since pruned logical ones cover entries too; then those to read. */
static BfStatus
collect_files(PlanBuild *b, BfIcePlan *plan, BfCoverage *logical, BfError *err)
{
	int32_t n = 0;

	plan->files = b->found.all;
	BF_TRY(bfi_coverage_of_files(b->arena, b->found.all, b->found.n, logical, err));
	for (int32_t i = 0; i < b->found.n; i++)
		if (!b->found.flags[i].pruned)
		{
			if (n != i)
				plan->files[n] = b->found.all[i];
			plan->has_deletes |= bf_ice_n_deletes(&plan->files[n++]) > 0;
		}
	BF_ASSERT(n <= b->found.n && (b->totals.files == 0 || b->scan->totals_only));
	plan->n_files = n;
	plan->n_counted = b->totals.files;
	plan->total_rows = plan->rows_counted = b->totals.rows;
	plan->total_bytes = plan->bytes_counted = b->totals.bytes;
	plan->rows_guessed = b->totals.guessed;
	plan->has_deletes |= b->scan->totals_only && b->delete_manifests.n > 0;
	b->counters.files += b->entries.n_by_partition + b->entries.n_by_bounds;
	b->counters.files_by_partition += b->entries.n_by_partition;
	b->counters.files_by_bounds += b->entries.n_by_bounds;
	b->counters.manifests_read = b->entries.n_read;
	b->counters.manifests_cached = b->entries.n_cached;
	BF_ASSERT(b->counters.files_by_partition + b->counters.files_by_bounds <= b->counters.files);
	BF_ASSERT(b->counters.manifests_skipped <= b->counters.manifests);
	plan->counters = b->counters;
	plan->n_manifests = (int32_t) (b->entries.n_read + b->entries.n_cached);
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
		int64_t rows = bf_ice_rows(f->record_count, f->file_size);

		BF_TRY(bf_check_cancel(bf_arena_host(scratch), err));
		plan->rows_guessed |= f->record_count < 0;
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
			BF_ASSERT(rows > 0 && rows <= f->record_count);
		}
		BF_DATA(err,
				!__builtin_add_overflow(plan->total_rows, rows, &plan->total_rows) &&
					!__builtin_add_overflow(plan->total_bytes, f->file_size, &plan->total_bytes),
				-1, "record counts or file sizes add up to more than 2^63");
		if (n != i)
			plan->files[n] = *f;
		n++;
	}
	plan->n_files = n;
	return BF_OK;
}

static BfStatus
build_plan(PlanBuild *b, bool subtract, BfIcePlan *plan, BfError *err)
{
	const BfIceScan *scan = b->scan;
	BfCoverage logical, parquet;
	BfIcePruner *pruner;

	if (scan->pred != NULL && (scan->prune & (BF_PRUNE_PARTITION | BF_PRUNE_MANIFEST)) != 0)
	{
		BF_TRY(bf_ice_pruner_new(b->work, b->table->metadata, scan->point.schema, scan->pred,
								 scan->prune, &pruner, err));
		b->pruner = b->entries.pruner = pruner;
		b->entries.metrics = true;
	}
	BF_TRY(read_refs(b, err));
	BF_ASSERT(b->deletes == NULL || b->delete_manifests.n > 0);
	BF_TRY(collect_files(b, plan, &logical, err));
	BF_TRY(bfi_covered_parquet(b->arena, b->table, scan->point.main, &parquet, err));
	BF_TRY(bfi_coverage_union(b->arena, &logical, &parquet, &plan->covered, err));
	if (subtract)
		plan->covered_parquet = parquet;
	bf_arena_reset(b->work);
	return subtract_and_total(b->work, plan, err);
}

static BfStatus
plan_scan(BfArena *a, const BfIceTable *t, const BfIceScan *scan, bool subtract, BfIcePlan **out,
		  BfError *err)
{
	const BfIceSnapshot *first = scan->point.main, *second = scan->point.bifang;
	PlanBuild b = {.arena = a, .table = t, .scan = scan};
	const BfHost *host = bf_arena_host(a);
	BfIcePlan *plan;
	BfStatus status;

	BF_NEW(a, plan, 1, err);
	plan->snapshot_id = first != NULL ? first->id : -1;
	plan->bifang_snapshot_id = second != NULL ? second->id : -1;
	BF_ASSERT(!scan->listing || scan->cache == NULL);
	b.entries = (BfiEntries){
		.host = host, .table = t, .cache = scan->cache, .io = scan->io, .listing = scan->listing};
	if (scan->cache != NULL)
		b.entries.seed = bfi_cache_seed(scan->cache);
	else
		BF_TRY(host->random(host, &b.entries.seed, sizeof b.entries.seed, err));
	b.logical_deletes = first != NULL && bf_ice_summary(first, BF_ICE_COVERED) == NULL;
	if (scan->cache != NULL)
		bfi_cache_plan(scan->cache);
	b.work = bf_arena_new(host, "planning", BFI_WORK_BYTES_MAX);
	if (b.work == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	bf_map_init(&b.found.paths, b.work, b.entries.seed);
	status = build_plan(&b, subtract, plan, err);
	bf_arena_free(b.work);
	if (status != BF_OK)
		return bf_error_object(err, t->metadata_path);
	*out = plan;
	return BF_OK;
}

BfStatus
bf_ice_plan_scan(BfArena *a, const BfIceTable *t, const BfIceScan *scan, BfIcePlan **out,
				 BfError *err)
{
	BF_ASSERT(scan->point.schema != NULL);
	if (!scan->listing)
		BF_TRY(bf_ice_schema_check(t->metadata, scan->point.schema, err));
	return plan_scan(a, t, scan, true, out, err);
}

/* For callers that know nothing of deletes and of files that are not Parquet. */
static BfStatus
refuse_new(const BfIceTable *t, const BfIcePlan *plan, BfError *err)
{
	static const char *const kinds[] = {[BF_ICE_DELETE_POSITION] = "position delete files",
										[BF_ICE_DELETE_EQUALITY] = "equality delete files",
										[BF_ICE_DELETE_VECTOR] = "deletion vectors"};

	for (int32_t i = 0; i < plan->n_files; i++)
	{
		const BfIceDataFile *f = &plan->files[i];

		if (bf_ice_n_deletes(f) > 0)
			bf_error(err, BF_ERR_UNSUPPORTED, "the table has %s, which are not read yet: %.300s",
					 kinds[bf_ice_delete(f, 0)->kind], bf_ice_delete(f, 0)->path);
		else if (f->format == BF_ICE_FORMAT_AVRO)
			bf_error(err, BF_ERR_UNSUPPORTED, "data files of format AVRO are not read: %.300s",
					 f->path);
		else
			continue;
		return bf_error_object(err, t->metadata_path);
	}
	return BF_OK;
}

BfStatus
bf_ice_plan(BfArena *a, const BfIceTable *t, BfIoCounters *io, BfIcePlan **out, BfError *err)
{
	BfIceAt now = {.kind = BF_ICE_AT_CURRENT};
	BfIceScan scan = {.io = io};

	BF_TRY(bf_ice_at_resolve(t, &now, &scan.point, err));
	BF_TRY(bf_ice_plan_scan(a, t, &scan, out, err));
	return refuse_new(t, *out, err);
}

BfStatus
bf_ice_plan_snapshot(BfArena *a, const BfIceTable *t, int64_t snapshot_id, BfIoCounters *io,
					 BfIcePlan **out, BfError *err)
{
	BfIceAt at = {.kind = BF_ICE_AT_SNAPSHOT, .snapshot_id = snapshot_id};
	BfIceScan scan = {.io = io};

	BF_TRY(bf_ice_at_resolve(t, &at, &scan.point, err));
	BF_TRY(bf_ice_schema_check(t->metadata, scan.point.schema, err));
	BF_TRY(plan_scan(a, t, &scan, false, out, err));
	return refuse_new(t, *out, err);
}
