/*
 * pg/scan/files/files.c: plain Parquet files as a kind; see files.h.
 */
#include "pg/scan/files/files.h"

#include <sys/stat.h>

#include "common/hashfn.h"
#include "utils/hsearch.h"

#include "pg/scan/files/internal.h"
#include "pg/scan/location.h"
#include "pg/server/error.h"

/* A guess for files that this backend has not opened yet. */
#define PARQUET_ROW_BYTES 24

/* ---- rows of files seen before ---- */

typedef struct SeenFile
{
	uint64 key;
	int64 rows;
} SeenFile;

#define SEEN_MAX 20000

static HTAB *seen = NULL;

static uint64
seen_key(const char *path, int64 size)
{
	return hash_bytes_extended((const unsigned char *) path, (int) strlen(path), (uint64) size);
}

void
bifang_files_remember(const char *path, int64 size, int64 rows)
{
	SeenFile *entry;
	uint64 key = seen_key(path, size);
	bool found;

	if (seen != NULL && hash_get_num_entries(seen) >= SEEN_MAX)
	{
		hash_destroy(seen);
		seen = NULL;
	}
	if (seen == NULL)
	{
		HASHCTL ctl = {.keysize = sizeof(uint64), .entrysize = sizeof(SeenFile)};

		seen = hash_create("bifang Parquet files", 64, &ctl, HASH_ELEM | HASH_BLOBS);
	}
	entry = hash_search(seen, &key, HASH_ENTER, &found);
	entry->rows = rows;
}

static bool
remembered_rows(const char *path, int64 size, int64 *rows)
{
	SeenFile *entry;
	uint64 key = seen_key(path, size);

	entry = seen == NULL ? NULL : hash_search(seen, &key, HASH_FIND, NULL);
	if (entry != NULL)
		*rows = entry->rows;
	return entry != NULL;
}

/* ---- the work list ---- */

static void
open_files(BifangWorklist *w, const BifangOptions *o)
{
	List *paths =
		bifang_pinned_location(o->location, BIFANG_FILES_SUFFIX, o->format->name, w->snap);
	BfScanPins *pins = w->pins;
	ListCell *lc;

	pins->sources =
		palloc_extended((Size) list_length(paths) * sizeof *pins->sources, MCXT_ALLOC_HUGE);
	foreach (lc, paths)
	{
		BfScanSource *f = &pins->sources[pins->n_sources++];
		struct stat st;

		*f = (BfScanSource){.path = lfirst(lc)};
		if (stat(f->path, &st) != 0)
			ereport(ERROR,
					(errcode_for_file_access(), errmsg("could not stat \"%s\": %m", f->path)));
		f->bytes = st.st_size;
		if (!remembered_rows(f->path, f->bytes, &f->rows))
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
			   .needs_location = true},
	.tiers = bf_scan_file_tiers,
	.open = open_files,
	.plan = plan_files,
	.open_unit = bifang_files_open_unit,
	.import = bifang_files_import,
};
