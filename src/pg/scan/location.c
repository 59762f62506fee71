/*
 * pg/scan/location.c: which local files a location names; see location.h.
 */
#include "pg/scan/location.h"

#include <glob.h>

#include "lib/stringinfo.h"

#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/pins.h"

typedef struct DirFiles
{
	const char *dir;
	const char *suffix;
	List *paths;
} DirFiles;

static BfStatus
add_file(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	DirFiles *d = arg;
	size_t n = strlen(name);
	size_t k = strlen(d->suffix);

	(void) err;
	if (kind == BF_PATH_FILE && n > k && name[0] != '.' && name[0] != '_' &&
		strcmp(name + n - k, d->suffix) == 0)
		d->paths = lappend(d->paths, psprintf("%s/%s", d->dir, name));
	return BF_OK;
}

static int
compare_paths(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* The first directory that is there and could not be read: glob() itself would say that it has no
 * files. */
static char unreadable[MAXPGPATH];
static int unreadable_errno;

static int
note_unreadable(const char *path, int error)
{
	if (unreadable_errno == 0 && error != ENOENT && error != ENOTDIR)
	{
		unreadable_errno = error;
		strlcpy(unreadable, path, sizeof unreadable);
	}
	return 0;
}

/* glob() allocates by malloc, hence the care about errors in between. */
static List *
expand_glob(const char *pattern, int elevel)
{
	glob_t g;
	int rc = (unreadable_errno = 0, glob(pattern, GLOB_NOSORT, note_unreadable, &g));
	char **copy = NULL;
	size_t n = rc == 0 ? g.gl_pathc : 0;
	List *paths = NIL;

	if (rc != 0 && rc != GLOB_NOMATCH)
		ereport(ERROR, (errcode(rc == GLOB_NOSPACE ? ERRCODE_OUT_OF_MEMORY : ERRCODE_IO_ERROR),
						errmsg("could not list files of location \"%s\"", bifang_shown(pattern))));
	if (n > 0)
		copy = palloc_extended(n * sizeof *copy, MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE);
	for (size_t i = 0; copy != NULL && i < n; i++)
	{
		size_t len = strlen(g.gl_pathv[i]) + 1;

		copy[i] = palloc_extended(len, MCXT_ALLOC_NO_OOM);
		if (copy[i] == NULL)
			copy = NULL;
		else
			memcpy(copy[i], g.gl_pathv[i], len);
	}
	if (rc == 0)
		globfree(&g);
	if (n > 0 && copy == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	if (unreadable_errno != 0)
	{
		errno = unreadable_errno;
		ereport(elevel, (errcode_for_file_access(),
						 errmsg("could not open directory \"%s\": %m", bifang_shown(unreadable))));
	}
	for (size_t i = 0; i < n; i++)
		paths = lappend(paths, copy[i]);
	list_sort(paths, compare_paths);
	return paths;
}

const char *
bifang_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

BfPathKind
bifang_path_kind(const char *path)
{
	BfPathInfo info;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bifang_host()->stat(bifang_host(), path, &info, &err), &err);
	return info.kind;
}

/* A name that exists as it stands is no pattern, whatever characters it has. */
List *
bifang_expand_location(const char *location, const char *suffix, int elevel)
{
	BfPathKind kind = bifang_path_kind(location);
	List *paths;

	if (kind == BF_PATH_DIR && suffix != NULL)
	{
		DirFiles d = {location, suffix, NIL};
		BfError err;

		bf_error_clear(&err);
		BIFANG_CHECK(bifang_host()->list(bifang_host(), location, add_file, &d, &err), &err);
		paths = d.paths;
	}
	else if (kind != BF_PATH_MISSING)
		paths = list_make1(pstrdup(location));
	else
		paths = expand_glob(location, elevel);
	if (paths == NIL && kind == BF_PATH_DIR)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FILE), errmsg("directory \"%s\" has no *%s files",
																bifang_shown(location), suffix)));
	if (paths == NIL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FILE),
						errmsg("no file matches location \"%s\"", bifang_shown(location))));
	return paths;
}

List *
bifang_pinned_location(const char *location, const char *suffix, const char *what, Snapshot snap)
{
	char *key = psprintf("%s %s", what, location);
	List *paths = NIL;
	StringInfoData s;
	ListCell *lc;
	Size n;
	const char *pin = bifang_pin_get(snap, key, &n);

	if (pin != NULL)
	{
		for (const char *p = pin; p < pin + n; p += strlen(p) + 1)
			paths = lappend(paths, pstrdup(p));
		return paths;
	}
	paths = bifang_expand_location(location, suffix, ERROR);
	initStringInfo(&s);
	foreach (lc, paths)
		appendBinaryStringInfo(&s, lfirst(lc), (int) strlen(lfirst(lc)) + 1);
	bifang_pin_put(snap, key, s.data, (Size) s.len);
	pfree(s.data);
	return paths;
}
