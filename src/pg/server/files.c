/*
 * pg/server/files.c: see files.h.
 */
#include "pg/server/files.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "pg/server/error.h"
#include "pg/server/host.h"

/* Names --------------------------------------------------------------------------------------- */

/* What follows file:, or the path itself; NULL: that is no absolute path of this machine. */
static const char *
absolute_part(const char *path)
{
	if (strncmp(path, "file:", 5) == 0)
	{
		path += 5;
		if (strncmp(path, "//", 2) == 0 && path[2] != '/')
			return NULL; /* file://host/... is someone else's file */
	}
	return path[0] == '/' ? path : NULL;
}

#define PATH_BYTES_MAX (MAXPGPATH - 100)

char *
bifang_find_local_path(const char *path)
{
	const char *from = absolute_part(path);
	char *copy;
	char *to;

	if (from == NULL || strlen(from) >= PATH_BYTES_MAX)
		return NULL;
	to = copy = pstrdup(from);
	for (const char *p = from; *p != '\0'; p++)
		if (*p != '/' || to == copy || to[-1] != '/')
			*to++ = *p;
	while (to > copy + 1 && to[-1] == '/')
		to--;
	*to = '\0';
	Assert(copy[0] == '/' && copy[1] != '/');
	return copy;
}

char *
bifang_local_path(const char *path, const char *what)
{
	char *found = bifang_find_local_path(path);

	if (found != NULL)
		return found;
	if (absolute_part(path) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE), errmsg("%s is too long", what)));
	ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
					errmsg("%s must be an absolute local path: \"%s\"", what, path),
					errhint("Write it as /dir/name or file:///dir/name.")));
}

/* On abort ------------------------------------------------------------------------------------ */

typedef struct OnAbort
{
	struct OnAbort *next;
	SubTransactionId subid;
	int parents;
	char path[FLEXIBLE_ARRAY_MEMBER];
} OnAbort;

/* In TopTransactionContext, youngest first. */
static OnAbort *on_abort = NULL;

void
bifang_remove_on_abort(const char *path, int parents)
{
	OnAbort *o =
		MemoryContextAlloc(TopTransactionContext, offsetof(OnAbort, path) + strlen(path) + 1);

	o->subid = GetCurrentSubTransactionId();
	/* So what a subtransaction has are always the first ones. */
	Assert(on_abort == NULL || on_abort->subid <= o->subid);
	o->parents = parents;
	strcpy(o->path, path);
	o->next = on_abort;
	on_abort = o;
}

static void
remove_aborted(OnAbort *o)
{
	const BfHost *host = bifang_host();
	BfError err = {0};

	if (host->unlink(host, o->path, &err) != BF_OK)
	{
		bifang_warn(LOG, &err);
		return;
	}
	for (; o->parents > 0; o->parents--)
	{
		char *slash = strrchr(o->path, '/');

		if (slash == NULL)
			return;
		*slash = '\0';
		if (host->rmdir(host, o->path, &err) != BF_OK) /* something else is in it */
			return;
	}
}

void
bifang_on_abort_end(bool abort)
{
	for (; abort && on_abort != NULL; on_abort = on_abort->next)
		remove_aborted(on_abort);
	on_abort = NULL;
}

void
bifang_on_abort_end_sub(SubTransactionId subid, SubTransactionId parent, bool abort)
{
	/* What belongs to inner levels has passed to this one or is gone. */
	for (OnAbort *o = on_abort; !abort && o != NULL && o->subid == subid; o = o->next)
		o->subid = parent;
	for (; abort && on_abort != NULL && on_abort->subid == subid; on_abort = on_abort->next)
		remove_aborted(on_abort);
	Assert(on_abort == NULL || on_abort->subid <= parent);
}
