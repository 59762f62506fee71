/*
 * pg/scan/files/files.c: plain Parquet files as a kind; see files.h.
 */
#include "pg/scan/files/files.h"

#include "pg/scan/files/internal.h"
#include "pg/scan/location.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

/* A guess for files that this backend has not opened yet. */
#define PARQUET_ROW_BYTES 24

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
		f->counted = bifang_files_remembered(f->path, &info, &f->rows);
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
	.look = bifang_files_look,
	.plan = plan_files,
	.open_unit = bifang_files_open_unit,
	.news = bifang_files_news,
	.known = bifang_files_known,
	.import = bifang_files_import,
};
