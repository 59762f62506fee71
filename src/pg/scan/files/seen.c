/*
 * pg/scan/files/seen.c: rows of files seen before.
 */
#include "pg/scan/files/internal.h"

#include "utils/memutils.h"

#include "base/map.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

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

bool
bifang_files_remembered(const char *path, const BfPathInfo *info, int64 *rows)
{
	const int64_t *known =
		seen.arena == NULL ? NULL : bf_map_find_number(&seen, seen_key(path, info));

	if (known != NULL)
		*rows = *known;
	return known != NULL;
}
