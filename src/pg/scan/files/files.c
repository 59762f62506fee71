/*
 * pg/scan/files/files.c: plain Parquet files as a kind; see files.h.
 */
#include "pg/scan/files/files.h"

#include "utils/memutils.h"

#include "base/map.h"
#include "pg/scan/files/internal.h"
#include "pg/scan/location.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

/* A guess for files that this backend has not opened yet. */
#define PARQUET_ROW_BYTES 24

/* ---- rows of files seen before ---- */

#define SEEN_MAX 20000
#define SEEN_BYTES_MAX ((size_t) 16 << 20)

/* What tells files apart as a number -> rows. */
static BfMap seen;

/* A file that was written anew is another one. */
static int64
seen_key(const char *path, const BfPathInfo *info)
{
	uint64 h = bf_hash((uint64) info->size, path, strlen(path));

	h = bf_hash(h, &info->mtime_us, sizeof info->mtime_us);
	return (int64) bf_hash(h, &info->inode, sizeof info->inode);
}

void
bifang_files_remember(const char *path, int64 size, int64 rows)
{
	const BfHost *host = bifang_host();
	BfPathInfo info;
	int64_t *known;
	BfError err = {0};

	if (host->stat(host, path, &info, &err) != BF_OK || info.size != size)
		return;
	if (seen.arena == NULL)
		bf_map_init(&seen, bifang_arena(TopMemoryContext, "Parquet files seen", SEEN_BYTES_MAX), 0);
	if (seen.n >= SEEN_MAX)
		bf_map_clear(&seen);
	BIFANG_CHECK(bf_map_put_number(&seen, seen_key(path, &info), rows, &known, &err), &err);
	*known = rows;
}

static bool
remembered_rows(const char *path, const BfPathInfo *info, int64 *rows)
{
	const int64_t *known =
		seen.arena == NULL ? NULL : bf_map_find_number(&seen, seen_key(path, info));

	if (known != NULL)
		*rows = *known;
	return known != NULL;
}

/* ---- the work list ---- */

static void
open_files(BifangWorklist *w, const BifangOptions *o)
{
	List *paths =
		bifang_pinned_location(o->location, BIFANG_FILES_SUFFIX, o->format->name, w->snap);
	BfScanPins *pins = w->pins;
	const BfHost *host = bifang_host();
	BfError err = {0};
	ListCell *lc;

	pins->sources =
		palloc_extended((Size) list_length(paths) * sizeof *pins->sources, MCXT_ALLOC_HUGE);
	foreach (lc, paths)
	{
		BfScanSource *f = &pins->sources[pins->n_sources++];
		BfPathInfo info;

		*f = (BfScanSource){.path = lfirst(lc)};
		BIFANG_CHECK(host->stat(host, f->path, &info, &err), &err);
		f->bytes = info.size;
		f->counted = remembered_rows(f->path, &info, &f->rows);
		if (!f->counted)
			f->rows = f->bytes / PARQUET_ROW_BYTES + 1;
	}
}

static void
plan_files(BifangWorklist *w, uint32 prune)
{
	BfError err;

	(void) prune;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_scan_plan_files(&w->list, w->pins, true, &err), &err);
}

const BifangKind bifang_kind_files = {
	.format = {.name = "parquet",
			   .is = "plain Parquet files",
			   .location = "file, directory or glob",
			   .parquet = true,
			   .needs_location = true},
	.tiers = bf_scan_file_tiers,
	.open = open_files,
	.plan = plan_files,
	.open_unit = bifang_files_open_unit,
	.news = bifang_files_news,
	.known = bifang_files_known,
	.import = bifang_files_import,
};
