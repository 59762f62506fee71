/*
 * Manifests of logical files that have become many are merged, and with them logical files of one
 * ledger and partition: a commit reads all of them and names all of them again.
 *
 *   1. per spec: as many manifests below the target size as the table wants for it, else nothing
 *   2. read their files; those of one ledger and partition become one, as long as its name and its
 *      rows are not too much
 *   3. write one manifest: the new files ADDED, those that they replace DELETED, the rest EXISTING
 *   4. a `replace` snapshot of the branch, which covers what its parent does
 *
 * A merged file says of a column what both said: counts add up, bounds are the wider ones, and
 * where one of them says nothing nothing is known. Its rows are as old as the oldest of them: its
 * data sequence number is that one's, as of files that other engines have rewritten. Main's
 * manifests are its writers' to merge.
 *
 * Properties, as Iceberg has them: commit.manifest-merge.enabled (true),
 * commit.manifest.min-count-to-merge (100), commit.manifest.target-size-bytes (8 MiB).
 */
#include "base/ascii.h"
#include "base/sort.h"
#include "iceberg/commit_internal.h"
#include "vec/key.h"

#define MIN_COUNT 100
#define TARGET_BYTES ((int64_t) 8 << 20)
/* Bounds of a file leave out all of its rows or none. */
#define FILE_BYTES_MAX ((int64_t) 16 << 20)
#define KEY_BYTES_MAX ((size_t) 64 << 20)

/* A logical file of the manifests that are merged. */
typedef struct Part
{
	BfIceFile file;
	BfLogicalFile log;
	BfView key; /* of its partition */
	bool goes;	/* into another one */
} Part;

typedef struct Merge
{
	BfiCommit *c;
	BfArena *arena; /* of one manifest */
	Part *parts;
	int32_t n;
	int32_t capacity;
	Part **sorted; /* by ledger and partition, then, once it is known who goes, by path */
	BfIceNewFile *files;
	int64_t *since; /* sequence number of the oldest file in each */
	int32_t n_files;
	int32_t n_gone;
	int64_t rows_gone;
	int64_t bytes_gone;
} Merge;

/* ---- what is merged ---- */

static int64_t
number_of(const BfIceMetadata *m, const char *key, int64_t fallback)
{
	const char *text = bf_ice_property(m, key);
	int64_t n;

	if (text == NULL || text[0] == '\0' ||
		bf_ascii_number(text, strlen(text), INT64_MAX, &n) != strlen(text) || n < 1)
		return fallback;
	return n;
}

static bool
is_candidate(const Merge *m, const BfIceManifest *manifest, int32_t spec_id)
{
	int64_t target =
		number_of(m->c->table->metadata, "commit.manifest.target-size-bytes", TARGET_BYTES);

	return manifest->spec_id == spec_id && manifest->length < target;
}

/* Are there so many of the spec, and can a manifest of it be written? The source of a field may
 * have been dropped. */
static bool
is_due(const Merge *m, const BfIceSpec *spec)
{
	const BfIceMetadata *metadata = m->c->table->metadata;
	const BfiBranch *b = &m->c->branch;
	int64_t n = 0, min = number_of(metadata, "commit.manifest.min-count-to-merge", MIN_COUNT);

	for (int32_t i = 0; i < spec->n_fields; i++)
	{
		BfType type;

		if (bfi_partition_type(metadata, &spec->fields[i], &type) != BF_OK)
			return false;
	}
	for (int32_t i = 0; i < b->n_logical_manifests; i++)
		n += is_candidate(m, &b->list[i].manifest, spec->spec_id);
	return n >= 2 && n >= min;
}

static BfStatus
partition_key(Merge *m, Part *p, BfError *err)
{
	BfBuffer key;
	BfStatus status = BF_OK;

	bf_buffer_init(&key, bf_arena_host(m->arena), KEY_BYTES_MAX);
	for (int32_t i = 0; status == BF_OK && i < p->file.n_partition; i++)
		status = bf_key_value(&key, &p->file.partition[i], BF_KEY_ZERO_SIGNED, err);
	p->key.len = (uint32_t) key.len;
	if (status == BF_OK && key.len > 0)
	{
		p->key.ptr = bf_arena_memdup(m->arena, key.data, key.len);
		if (p->key.ptr == NULL)
			status = bf_arena_fail(m->arena, key.len, err);
	}
	bf_buffer_free(&key);
	return status;
}

static BfStatus
visit_part(void *arg, const BfIceFile *file, BfError *err)
{
	Merge *m = arg;
	Part *p;

	if (file->status == BF_ICE_DELETED)
		return BF_OK;
	BF_TRY(bf_check_cancel(bf_arena_host(m->arena), err));
	if (m->n == m->capacity)
	{
		int32_t capacity = m->capacity > 0 ? m->capacity * 2 : 64;
		Part *more;

		BF_NEW_RAW(m->arena, more, capacity, err);
		if (m->n > 0)
			memcpy(more, m->parts, (size_t) m->n * sizeof *more);
		m->parts = more;
		m->capacity = capacity;
	}
	p = &m->parts[m->n++];
	*p = (Part){.file = *file};
	BF_TRY(bf_logical_parse(m->arena, file->path, &p->log, err));
	BF_DATA(err, file->file_size >= 0 && bf_rangeset_count(&p->log.ranges) == file->record_count,
			-1, "%.300s has another number of rows than entries, or no size", file->path);
	return partition_key(m, p, err);
}

static BfStatus
read_parts(Merge *m, int32_t spec_id, BfError *err)
{
	const BfiBranch *b = &m->c->branch;

	for (int32_t i = 0; i < b->n_logical_manifests; i++)
	{
		const BfIceManifest *manifest = &b->list[i].manifest;
		const char *path;

		if (!is_candidate(m, manifest, spec_id))
			continue;
		BF_TRY(bf_location_resolve(m->arena, &m->c->table->location, manifest->path, &path, err));
		BF_TRY(bf_ice_read_manifest(m->arena, path, manifest, m->c->table->metadata, NULL,
									visit_part, m, err));
	}
	return BF_OK;
}

/* ---- files that become one ---- */

static int
compare_groups(const Part *a, const Part *b)
{
	uint32_t common = a->key.len < b->key.len ? a->key.len : b->key.len;
	int order;

	if (a->log.ledger_id != b->log.ledger_id)
		return a->log.ledger_id < b->log.ledger_id ? -1 : 1;
	order = strcmp(a->log.db, b->log.db);
	if (order == 0)
		order = strcmp(a->log.table, b->log.table);
	if (order == 0 && common > 0)
		order = memcmp(a->key.ptr, b->key.ptr, common);
	return order != 0 ? order : (a->key.len > b->key.len) - (a->key.len < b->key.len);
}

static int
compare_parts(const void *x, const void *y)
{
	const Part *a = *(const Part *const *) x, *b = *(const Part *const *) y;
	int order = compare_groups(a, b);
	int64_t first_a = a->log.ranges.n > 0 ? a->log.ranges.ranges[0].first : -1;
	int64_t first_b = b->log.ranges.n > 0 ? b->log.ranges.ranges[0].first : -1;

	return order != 0 ? order : (first_a > first_b) - (first_a < first_b);
}

static int
compare_paths(const void *x, const void *y)
{
	const Part *const *a = x, *const *b = y;

	return strcmp((*a)->file.path, (*b)->file.path);
}

static BfStatus
ranges_bytes(Merge *m, const BfRangeSet *ranges, size_t *n, BfError *err)
{
	BfBuffer text;
	BfStatus status;

	bf_buffer_init(&text, bf_arena_host(m->arena), KEY_BYTES_MAX);
	status = bf_rangeset_format(ranges, &text, err);
	*n = text.len;
	bf_buffer_free(&text);
	return status;
}

/* How many of the sorted parts from `first` on become one file, and what they name together. */
static BfStatus
measure(Merge *m, int32_t first, int32_t *n, BfRangeSet *ranges, BfError *err)
{
	Part *const *p = &m->sorted[first];
	int64_t bytes = p[0]->file.file_size;

	*ranges = p[0]->log.ranges;
	for (*n = 1; first + *n < m->n && compare_groups(p[0], p[*n]) == 0; ++*n)
	{
		const Part *next = p[*n];
		BfRangeSet more;
		size_t text;

		if (bytes > FILE_BYTES_MAX - next->file.file_size)
			return BF_OK;
		BF_DATA(err, !bf_rangeset_overlaps(ranges, &next->log.ranges), -1,
				"an entry of ledger %lld is in two logical files", (long long) next->log.ledger_id);
		BF_TRY(bf_rangeset_union(m->arena, ranges, &next->log.ranges, &more, err));
		BF_TRY(ranges_bytes(m, &more, &text, err));
		if (text > BF_ICE_RANGES_TEXT_MAX)
			return BF_OK;
		*ranges = more;
		bytes += next->file.file_size;
	}
	return BF_OK;
}

static BfStatus
merge_files(Merge *m, int32_t first, int32_t n, const BfRangeSet *ranges, BfError *err)
{
	Part **p = &m->sorted[first];
	BfLogicalFile name = p[0]->log;
	BfIceFileMetrics metrics = p[0]->file.metrics;
	BfIceNewFile *f = &m->files[m->n_files];
	int64_t *since = &m->since[m->n_files++];

	BF_ASSERT(n > 1 && first + n <= m->n);
	*f = (BfIceNewFile){.format = p[0]->file.format,
						.spec_id = p[0]->file.spec_id,
						.n_partition = p[0]->file.n_partition,
						.partition = p[0]->file.partition};
	*since = p[0]->file.sequence_number;
	for (int32_t i = 0; i < n; i++)
	{
		p[i]->goes = true;
		if (p[i]->file.sequence_number < *since)
			*since = p[i]->file.sequence_number;
		BF_TRY(bfi_count_add(&f->record_count, p[i]->file.record_count, err));
		BF_TRY(bfi_count_add(&f->file_size, p[i]->file.file_size, err));
		if (i > 0)
			BF_TRY(bfi_metrics_union(m->arena, m->c->table->metadata, &metrics, &p[i]->file.metrics,
									 &metrics, err));
	}
	BF_ASSERT(bf_rangeset_count(ranges) == f->record_count); /* as that of each was */
	name.ranges = *ranges;
	BF_TRY(bf_logical_format(m->c->arena, &name, &f->path, err));
	m->n_gone += n;
	BF_TRY(bfi_count_add(&m->rows_gone, f->record_count, err));
	BF_TRY(bfi_count_add(&m->bytes_gone, f->file_size, err));
	return bfi_metrics_again(m->arena, &metrics, &f->metrics, err);
}

static BfStatus
merge_parts(Merge *m, BfError *err)
{
	int32_t n;

	BF_NEW(m->arena, m->sorted, m->n, err);
	for (int32_t i = 0; i < m->n; i++)
		m->sorted[i] = &m->parts[i];
	if (m->n > 1)
		bf_sort(m->sorted, (size_t) m->n, sizeof *m->sorted, compare_parts);
	for (int32_t i = 0; i < m->n; i += n)
	{
		BfRangeSet ranges;

		BF_TRY(bf_check_cancel(bf_arena_host(m->arena), err));
		BF_TRY(measure(m, i, &n, &ranges, err));
		if (n > 1)
			BF_TRY(merge_files(m, i, n, &ranges, err));
	}
	if (m->n > 1)
		bf_sort(m->sorted, (size_t) m->n, sizeof *m->sorted, compare_paths);
	return BF_OK;
}

/* ---- the manifest ---- */

static bool
goes(void *arg, const BfIceFile *file)
{
	const Merge *m = arg;
	int32_t at;

	BF_SEARCH(int32_t, at, m->n, i, strcmp(m->sorted[i]->file.path, file->path) < 0);
	return at < m->n && m->sorted[at]->goes && strcmp(m->sorted[at]->file.path, file->path) == 0;
}

/* The merged manifest takes the place of the first one, of the others none is left. */
static void
replace_manifests(Merge *m, int32_t spec_id, const BfiListEntry *merged)
{
	BfiBranch *b = &m->c->branch;
	int32_t n = 0, n_logical = 0;
	bool placed = false;

	for (int32_t i = 0; i < b->n_list; i++)
	{
		bool logical = i < b->n_logical_manifests;
		bool gone = logical && is_candidate(m, &b->list[i].manifest, spec_id);

		if (gone && placed)
			continue;
		b->list[n++] = gone ? *merged : b->list[i];
		n_logical += logical;
		placed = placed || gone;
	}
	BF_ASSERT(placed && n < b->n_list);
	/* Entries that are to be filled are empty. */
	memset(&b->list[n], 0, (size_t) (b->n_list - n) * sizeof *b->list);
	b->n_list = n;
	b->n_logical_manifests = n_logical;
}

static BfStatus
write_merged(Merge *m, const BfIceSpec *spec, BfError *err)
{
	const BfiBranch *b = &m->c->branch;
	BfiListEntry merged = {.n_summaries = spec->n_fields};
	BfiRewrite r;

	bfi_rewrite_begin(&r, m->c, m->arena, goes, m);
	for (int32_t i = 0; i < b->n_logical_manifests; i++)
		if (is_candidate(m, &b->list[i].manifest, spec->spec_id))
			BF_TRY(bfi_rewrite_read(&r, &b->list[i].manifest, err));
	for (int32_t i = 0; i < m->n_files; i++)
		BF_TRY(bfi_rewrite_add(&r, &m->files[i], m->since[i], err));
	r.manifest.sequence_number = m->c->sequence_number;
	r.manifest.added_snapshot_id = m->c->snapshot_id;
	BF_TRY(bfi_rewrite_write(&r, err));
	r.manifest.partitions = NULL; /* of one of those that were read */
	r.manifest.key_metadata = (BfView){NULL, 0};
	merged.manifest = r.manifest;
	BF_TRY(bfi_commit_summaries(m->c, spec, r.entries, r.n, &merged.summaries, err));
	replace_manifests(m, spec->spec_id, &merged);
	return BF_OK;
}

static BfStatus
merge_spec(Merge *m, const BfIceSpec *spec, BfError *err)
{
	BF_TRY(read_parts(m, spec->spec_id, err));
	BF_NEW(m->arena, m->files, m->n / 2 + 1, err);
	BF_NEW(m->arena, m->since, m->n / 2 + 1, err);
	BF_TRY(merge_parts(m, err));
	return m->n > 0 ? write_merged(m, spec, err) : BF_OK;
}

static BfStatus
merge_in_arena(Merge *m, const BfIceSpec *spec, BfError *err)
{
	Merge one = {.c = m->c};
	BfStatus status;

	one.arena = bf_arena_new(bf_arena_host(m->c->arena), "manifests", BFI_WORK_BYTES_MAX);
	if (one.arena == NULL)
		return bf_arena_fail(m->c->arena, 0, err);
	status = merge_spec(&one, spec, err);
	bf_arena_free(one.arena);
	BF_TRY(status);
	m->n_files += one.n_files;
	m->n_gone += one.n_gone;
	BF_TRY(bfi_count_add(&m->rows_gone, one.rows_gone, err));
	return bfi_count_add(&m->bytes_gone, one.bytes_gone, err);
}

/* The snapshot that has what its parent has, in fewer manifests and files. */
static BfStatus
end_merge(Merge *m, BfError *err)
{
	BfiCommit *c = m->c;
	json_t *summary;

	BF_ASSERT(m->n_gone >= 2 * m->n_files && c->snapshot_id != c->parent_id);
	BF_TRY(bfi_branch_add(&c->branch, NULL, 0, NULL, err));
	BF_TRY(bfi_commit_end_branch(c, "replace", &summary, err));
	BF_TRY(bfi_commit_set_count(summary, "added-data-files", m->n_files, err));
	BF_TRY(bfi_commit_set_count(summary, "added-records", m->rows_gone, err));
	BF_TRY(bfi_commit_set_count(summary, "added-files-size", m->bytes_gone, err));
	BF_TRY(bfi_commit_set_count(summary, "deleted-data-files", m->n_gone, err));
	BF_TRY(bfi_commit_set_count(summary, "deleted-records", m->rows_gone, err));
	return bfi_commit_set_count(summary, "removed-files-size", m->bytes_gone, err);
}

BfStatus
bfi_commit_merge(BfiCommit *c, BfError *err)
{
	const BfIceMetadata *metadata = c->table->metadata;
	const int32_t n_new = c->n_files;
	const int64_t snapshot_id = c->snapshot_id;
	Merge m = {.c = c};
	bool due = false;

	if (c->branch.branch_head == NULL ||
		!bf_ice_property_bool(metadata, "commit.manifest-merge.enabled", true))
		return BF_OK;
	for (int32_t i = 0; i < metadata->specs.n; i++)
		due = due || is_due(&m, &metadata->specs.all[i]);
	if (!due)
		return BF_OK;
	BF_ASSERT(c->branch.list != NULL && c->branch.n_logical_manifests >= 2);
	BF_TRY(bfi_commit_new_id(c, &c->snapshot_id, err));
	c->n_files = 0; /* the new ones are the next snapshot's */
	c->parent_id = c->branch.branch_head->id;
	for (int32_t i = 0; i < metadata->specs.n; i++)
		if (is_due(&m, &metadata->specs.all[i]))
			BF_TRY(merge_in_arena(&m, &metadata->specs.all[i], err));
	BF_TRY(end_merge(&m, err));
	c->parent_id = c->snapshot_id;
	c->snapshot_id = snapshot_id;
	c->n_files = n_new;
	c->sequence_number++;
	return BF_OK;
}
