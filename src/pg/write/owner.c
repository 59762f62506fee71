/*
 * pg/write/owner.c: see owner.h.
 */
#include "pg/write/owner.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "io/publish.h"
#include "io/source.h"
#include "pg/catalog/ledgers.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/remove.h"

#define OWNER_BYTES_MAX 1024

/* A file that initdb makes and nobody writes again: whoever copies the data directory makes another
 * one. The time of its birth besides, where the file system tells it: inodes of two file systems
 * that were filled alike may be the same. */
static const char *
data_directory_identity(void)
{
	static char text[64];
	char path[MAXPGPATH];
	struct statx st;

	if (text[0] != '\0')
		return text;
	snprintf(path, sizeof path, "%s/PG_VERSION", DataDir);
	if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &st) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not stat file \"%s\": %m", path)));
	if ((st.stx_mask & STATX_BTIME) == 0)
		st.stx_btime = (struct statx_timestamp){0};
	snprintf(text, sizeof text, "%llu-%lld.%09u", (unsigned long long) st.stx_ino,
			 (long long) st.stx_btime.tv_sec, st.stx_btime.tv_nsec);
	return text;
}

char *
bifang_owner_text(const char *table_uuid)
{
	return psprintf("%s\n%s\n%s\n", table_uuid, bifang_catalog_origin(), data_directory_identity());
}

/* Cuts a line off the text; NULL at its end. */
static char *
next_line(char **text)
{
	char *line = *text;
	char *end = line != NULL ? strchr(line, '\n') : NULL;

	if (end == NULL)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return line;
}

BifangOwner
bifang_owner_of(const char *dir, const char *table_uuid)
{
	BfArena *arena = bifang_arena(CurrentMemoryContext, "owner", BIFANG_ARENA_MAX_METADATA);
	char *text = NULL;
	char *uuid;
	char *origin;
	char *identity;
	BfError err = {0};
	BfView bytes;
	BfStatus status = bf_source_read_all(arena, psprintf("%s/" BIFANG_OWNER_FILE, dir),
										 OWNER_BYTES_MAX, NULL, &bytes, &err);

	if (status == BF_OK)
		text = pnstrdup((const char *) bytes.ptr, bytes.len);
	bifang_arena_free(arena);
	if (status == BF_ERR_CANCEL)
		bifang_report(&err);
	if (status != BF_OK && status != BF_ERR_NOTFOUND)
		return BIFANG_OWNER_OTHER;
	uuid = next_line(&text);
	origin = next_line(&text);
	identity = next_line(&text);
	if (identity == NULL)
		return BIFANG_OWNER_NONE;
	if ((table_uuid != NULL && strcmp(uuid, table_uuid) != 0) ||
		strcmp(origin, bifang_catalog_origin()) != 0)
		return BIFANG_OWNER_OTHER;
	if (strcmp(identity, data_directory_identity()) != 0 && !bifang_in_data_directory(dir))
		return BIFANG_OWNER_COPY;
	return BIFANG_OWNER_OURS;
}

static void
mark(const char *dir, const char *table_uuid)
{
	const BfHost *host = bifang_host();
	BfArena *arena = bifang_arena(CurrentMemoryContext, "owner", BIFANG_ARENA_MAX_METADATA);
	char *path = psprintf("%s/" BIFANG_OWNER_FILE, dir);
	char *text = bifang_owner_text(table_uuid);
	BfPathInfo info;
	BfError err = {0};

	BIFANG_CHECK(host->stat(host, dir, &info, &err), &err);
	if (info.kind == BF_PATH_DIR)
	{
		BIFANG_CHECK(host->unlink(host, path, &err), &err);
		BIFANG_CHECK(bf_publish_bytes(arena, path, text, strlen(text), &err), &err);
	}
	bifang_arena_free(arena);
}

void
bifang_owner_claim(const char *dir, const char *table_uuid)
{
	Assert(dir[0] == '/');
	switch (bifang_owner_of(dir, NULL))
	{
		case BIFANG_OWNER_OURS: break;
		case BIFANG_OWNER_NONE: mark(dir, table_uuid); break;
		case BIFANG_OWNER_OTHER:
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
							errmsg("directory \"%s\" does not belong to this database", dir),
							errdetail("File \"" BIFANG_OWNER_FILE "\" in it says so.")));
			break;
		case BIFANG_OWNER_COPY:
			ereport(
				ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("directory \"%s\" belongs to another copy of this cluster", dir),
				 errdetail("What that one has acknowledged there must not be changed from here."),
				 errhint("If it is gone for good, or this is the cluster itself in another "
						 "place, take the directory over: remove \"%s/" BIFANG_OWNER_FILE "\".",
						 dir)));
	}
}
