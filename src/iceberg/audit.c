/*
 * Files one by one, and what they name of ledgers; see audit.h.
 *
 * Ranges are sorted by ledger and first entry; where one begins before what came before it has
 * ended, entries are named twice. Paths are compared by their hashes.
 */
#include "iceberg/audit.h"

#include "base/sort.h"
#include "iceberg/entry.h"
#include "iceberg/internal.h"

typedef struct Audit
{
	BfArena *work;	  /* as long as the audit */
	BfArena *scratch; /* one file's */
	BfiEntries entries;
	bool second_ref; /* reading bifang's manifests */
	BfBuffer *named; /* BfiNamedRange; file = hash of the path, the lowest bit: second_ref */
	BfBuffer *paths; /* uint64_t, hashes of main's data files that are not logical */
	BfIceAuditVisit visit;
	void *arg;
	/* When the path of a hash is looked for. */
	uint64_t wanted;
	const char **path;
	BfArena *keep;
} Audit;

/* Files --------------------------------------------------------------------------------------- */

static BfStatus
note_ranges(Audit *a, const BfiEntry *e, const BfLogicalFile *log, BfError *err)
{
	for (int32_t i = 0; i < log->ranges.n; i++)
	{
		BfiNamedRange named = {log->ledger_id, log->ranges.ranges[i],
							   (e->path_hash & ~UINT64_C(1)) | a->second_ref};

		BF_TRY(bf_buffer_append(a->named, &named, sizeof named, err));
	}
	return BF_OK;
}

static BfStatus
visit_entry(void *arg, const BfiEntry *e, BfError *err)
{
	Audit *a = arg;
	BfIceAuditFile file = {.content = e->content, .path = e->path, .file_size = e->file_size};
	BfLogicalFile log;

	if (a->second_ref && !e->logical)
		return BF_OK;
	BF_ASSERT(!a->second_ref || e->logical);
	if (e->logical)
	{
		bf_arena_reset(a->scratch);
		BF_TRY(bf_logical_parse(a->scratch, e->path, &log, err));
		BF_DATA(err, bf_rangeset_count(&log.ranges) == e->record_count, -1,
				"%.300s names %lld entries, but its record_count is %lld", e->path,
				(long long) bf_rangeset_count(&log.ranges), (long long) e->record_count);
		file.log = &log;
		BF_TRY(note_ranges(a, e, &log, err));
	}
	else if (e->content == BF_ICE_DATA)
		BF_TRY(bf_buffer_append(a->paths, &e->path_hash, sizeof e->path_hash, err));
	return a->visit(a->arg, &file, err);
}

static BfStatus
read_main(Audit *a, const BfIceManifest *manifests, int32_t n, BfiEntryVisit visit, BfError *err)
{
	BF_ASSERT(!a->second_ref);
	for (int32_t i = 0; i < n; i++)
		BF_TRY(bfi_entries_read(&a->entries, &manifests[i], visit, a, err));
	return BF_OK;
}

static BfStatus
read_bifang(Audit *a, const BfIceSnapshot *head, const BfIceManifest *known, int32_t n_known,
			BfError *err)
{
	const BfIceManifest *others;
	int32_t n_others, n_new;
	int32_t *new_ones;

	BF_TRY(bfi_entries_manifests(&a->entries, a->work, head, &others, &n_others, err));
	BF_TRY(
		bfi_manifests_missing(a->work, others, n_others, known, n_known, &new_ones, &n_new, err));
	a->second_ref = true;
	for (int32_t i = 0; i < n_new; i++)
	{
		const BfIceManifest *m = &others[new_ones[i]];

		if (m->deletes)
			BF_TRY(bfi_entries_check(&a->entries, m, err));
		else
			BF_TRY(bfi_entries_read(&a->entries, m, visit_entry, a, err));
	}
	a->second_ref = false;
	return BF_OK;
}

/* What is told of them ------------------------------------------------------------------------ */

/* One file by way of both refs? They are neighbours, main's first. */
static bool
same_file(const BfiNamedRange *a, const BfiNamedRange *b)
{
	return a->ledger_id == b->ledger_id && a->range.first == b->range.first &&
		   a->range.last == b->range.last && (a->file ^ b->file) == 1;
}

/* Appends what begins before its ledger's ranges so far have ended. */
static BfStatus
find_twice(const BfiNamedRange *named, int64_t n, BfBuffer *twice, BfError *err)
{
	int64_t last = -1;

	for (int64_t i = 0; i < n; i++)
	{
		BfiNamedRange shared = named[i];

		if (i == 0 || named[i].ledger_id != named[i - 1].ledger_id)
			last = -1;
		else if (same_file(&named[i - 1], &named[i]))
			continue;
		if (shared.range.first <= last)
		{
			if (shared.range.last > last)
				shared.range.last = last;
			BF_ASSERT(shared.range.first <= shared.range.last);
			BF_TRY(bf_buffer_append(twice, &shared, sizeof shared, err));
		}
		if (named[i].range.last > last)
			last = named[i].range.last;
	}
	return BF_OK;
}

static BfStatus
tell_entries(Audit *a, BfArena *keep, BfIceAudit *out, BfError *err)
{
	BfiNamedRange *named = (void *) a->named->data;
	int64_t n = (int64_t) (a->named->len / sizeof *named);
	BfCoverage logical;
	BfBuffer *twice;

	BF_ASSERT(a->named->len % sizeof *named == 0);
	BF_TRY(bf_buffer_new(a->work, BFI_WORK_BYTES_MAX, &twice, err));
	bfi_named_sort(named, n);
	BF_TRY(find_twice(named, n, twice, err));
	BF_TRY(bfi_named_coverage(keep, named, n, &logical, err));
	BF_TRY(bfi_coverage_union(keep, &logical, &out->parquet, &out->covered, err));
	named = (void *) twice->data;
	n = (int64_t) (twice->len / sizeof *named);
	bfi_named_sort(named, n);
	return bfi_named_coverage(keep, named, n, &out->twice, err);
}

static int
compare_hashes(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *) x, b = *(const uint64_t *) y;

	return (a > b) - (a < b);
}

static BfStatus
visit_wanted(void *arg, const BfiEntry *e, BfError *err)
{
	Audit *a = arg;

	if (*a->path == NULL && e->path_hash == a->wanted && e->content == BF_ICE_DATA && !e->logical)
		BF_TRY_PTR(a->keep, *a->path, bf_arena_strdup(a->keep, e->path), err);
	return BF_OK;
}

static BfStatus
tell_paths(Audit *a, const BfIceManifest *manifests, int32_t n_manifests, BfIceAudit *out,
		   BfError *err)
{
	uint64_t *hashes = (void *) a->paths->data;
	size_t n = a->paths->len / sizeof *hashes;

	BF_ASSERT(out->n_doubled == 0 && out->doubled == NULL);
	bf_sort(hashes, n, sizeof *hashes, compare_hashes);
	for (size_t i = 1; i < n; i++)
		if (hashes[i] == hashes[i - 1])
		{
			a->wanted = hashes[i];
			out->n_doubled++;
		}
	if (out->n_doubled == 0)
		return BF_OK;
	a->path = &out->doubled;
	return read_main(a, manifests, n_manifests, visit_wanted, err);
}

static BfStatus
audit(Audit *a, const BfIceTable *t, BfIceAudit *out, BfError *err)
{
	const BfIceAt now = {.kind = BF_ICE_AT_CURRENT};
	const BfIceManifest *manifests = NULL;
	BfIcePoint point;
	int32_t n = 0;

	BF_TRY(bf_ice_at_resolve(t, &now, &point, err));
	BF_TRY(bfi_covered_parquet(a->keep, t, point.main, &out->parquet, err));
	BF_TRY(bf_buffer_new(a->work, BFI_WORK_BYTES_MAX, &a->named, err));
	BF_TRY(bf_buffer_new(a->work, BFI_WORK_BYTES_MAX, &a->paths, err));
	if (point.main != NULL)
		BF_TRY(bfi_entries_manifests(&a->entries, a->work, point.main, &manifests, &n, err));
	BF_TRY(read_main(a, manifests, n, visit_entry, err));
	if (point.bifang != NULL && point.bifang != point.main)
		BF_TRY(read_bifang(a, point.bifang, manifests, n, err));
	BF_TRY(tell_paths(a, manifests, n, out, err));
	return tell_entries(a, a->keep, out, err);
}

BfStatus
bf_ice_audit(BfArena *arena, const BfIceTable *t, BfIceAuditVisit visit, void *arg, BfIceAudit *out,
			 BfError *err)
{
	const BfHost *host = bf_arena_host(arena);
	Audit a = {.entries = {.host = host, .table = t}, .visit = visit, .arg = arg, .keep = arena};
	BfStatus status = BF_ERR_NOMEM;

	*out = (BfIceAudit){.n_doubled = 0};
	BF_TRY(host->random(host, &a.entries.seed, sizeof a.entries.seed, err));
	a.work = bf_arena_new(host, "audit", BFI_WORK_BYTES_MAX);
	a.scratch = bf_arena_new(host, "logical file", BF_ICE_RECORD_BYTES_MAX);
	if (a.work != NULL && a.scratch != NULL)
		status = audit(&a, t, out, err);
	else
		bf_error(err, BF_ERR_NOMEM, "out of memory");
	bf_arena_free(a.scratch);
	bf_arena_free(a.work);
	return status == BF_OK ? BF_OK : bf_error_object(err, t->metadata_path);
}
