/*
 * pg/scan/worklist_files.c: units of plain Parquet files, tables without metadata.
 */
#include "pg/scan/worklist_internal.h"

#include <sys/stat.h>

#include "common/hashfn.h"
#include "utils/hsearch.h"

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
bifang_remember_rows(const char *path, int64 size, int64 rows)
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

/* ---- units ---- */

void
bifang_worklist_open_parquet(BifangWorklist *w, const BifangOptions *o)
{
	List *paths = bifang_pinned_location(o->location, BIFANG_PARQUET, w->snap);
	ListCell *lc;

	w->files = palloc_extended((Size) list_length(paths) * sizeof *w->files,
							   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	foreach (lc, paths)
	{
		BifangFile *f = &w->files[w->n_files++];
		struct stat st;

		f->path = lfirst(lc);
		if (stat(f->path, &st) != 0)
			ereport(ERROR,
					(errcode_for_file_access(), errmsg("could not stat \"%s\": %m", f->path)));
		f->bytes = st.st_size;
		if (!remembered_rows(f->path, f->bytes, &f->rows))
			f->rows = f->bytes / PARQUET_ROW_BYTES + 1;
	}
}

void
bifang_worklist_plan_files(BifangUnits *us)
{
	BifangWorklist *w = us->w;

	for (int32 i = 0; i < w->n_files; i++)
	{
		BifangFile *f = &w->files[i];
		BifangUnit *u = bifang_unit_add(us, BIFANG_TIER_PARQUET, f->path);

		u->plain = f;
		u->rows = f->rows;
		u->bytes = f->bytes;
		/* Of files nothing is known before they are opened, so this is true or false of all. */
		if (bifang_unit_keep(us))
			bifang_unit_cut_file(us);
	}
}
