/*
 * pg/server/remove.c: see remove.h.
 */
#include "pg/server/remove.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"

#include "log/segment.h"
#include "pg/server/host.h"

#define DEPTH_MAX 32
#define UUID_CHARACTERS 36
#define TMP_DIGITS 16
#define MARK "table" /* pg/write/mark.h */

/* Identity ------------------------------------------------------------------------------------ */

static BifangFileId
id_of(const struct stat *st)
{
	return (BifangFileId){(uint64) st->st_dev, (uint64) st->st_ino};
}

bool
bifang_file_id(const char *path, BifangFileId *id)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return false;
	*id = id_of(&st);
	return true;
}

bool
bifang_same_file(const char *a, const char *b)
{
	BifangFileId x, y;

	if (strcmp(a, b) == 0)
		return true;
	return bifang_file_id(a, &x) && bifang_file_id(b, &y) && x.device == y.device &&
		   x.inode == y.inode;
}

/* Where the kernel doesn't number mounts (before 5.8), one of the same file system looks the same.
 */
static bool
same_mount(const char *a, const char *b)
{
	struct statx x, y;

	if (statx(AT_FDCWD, a, 0, STATX_INO | STATX_MNT_ID, &x) != 0 ||
		statx(AT_FDCWD, b, 0, STATX_INO | STATX_MNT_ID, &y) != 0)
		return false;
	if (x.stx_dev_major != y.stx_dev_major || x.stx_dev_minor != y.stx_dev_minor)
		return false;
	return (x.stx_mask & y.stx_mask & STATX_MNT_ID) == 0 || x.stx_mnt_id == y.stx_mnt_id;
}

bool
bifang_in_data_directory(const char *path)
{
	char *real = realpath(path, NULL);
	char *data = realpath(DataDir, NULL);
	size_t n = data != NULL ? strlen(data) : 0;
	bool inside = real != NULL && data != NULL && strncmp(real, data, n) == 0 && real[n] == '/' &&
				  same_mount(real, data);

	free(real);
	free(data);
	return inside;
}

/* Names --------------------------------------------------------------------------------------- */

static bool
ends_in(const char *name, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len > n && memcmp(name + len - n, suffix, n) == 0;
}

size_t
bifang_final_length(const char *name)
{
	size_t len = strlen(name);
	size_t from = len - TMP_DIGITS;

	if (len <= TMP_DIGITS + 5 || memcmp(name + from - 5, ".tmp.", 5) != 0 ||
		strspn(name + from, "0123456789abcdef") != TMP_DIGITS)
		return len;
	return from - 5;
}

bool
bifang_is_data_file(const char *name)
{
	size_t len = bifang_final_length(name);

	return len == strlen(BIFANG_DATA_FILE_PREFIX) + UUID_CHARACTERS +
					  strlen(BIFANG_DATA_FILE_SUFFIX) &&
		   strncmp(name, BIFANG_DATA_FILE_PREFIX, strlen(BIFANG_DATA_FILE_PREFIX)) == 0 &&
		   ends_in(name, len, BIFANG_DATA_FILE_SUFFIX);
}

static bool
is_ledger_name(const char *name, size_t len)
{
	static const char *const segment[] = {".log", ".index", ".timeindex"};
	const char *suffix;
	int64_t base;

	if (bf_segment_name(name, &base, &suffix))
		for (int i = 0; i < (int) lengthof(segment); i++)
			if (suffix + strlen(segment[i]) == name + len &&
				strncmp(suffix, segment[i], strlen(segment[i])) == 0)
				return true;
	return (len == 11 && memcmp(name, "schema.json", 11) == 0) ||
		   (len == strlen(MARK) && memcmp(name, MARK, len) == 0);
}

/* What Iceberg's writers and we make in a table's directories. */
static bool
is_table_name(const char *name, size_t len)
{
	static const char *const made[] = {".parquet", ".avro",			 ".orc",	 ".puffin", ".bfo",
									   ".stats",   ".metadata.json", ".json.gz", ".crc"};

	for (int i = 0; i < (int) lengthof(made); i++)
		if (ends_in(name, len, made[i]))
			return true;
	return strcmp(name, "version-hint.text") == 0 || strcmp(name, "_SUCCESS") == 0;
}

static bool
is_ours(const char *name, BifangRemoveKind kind)
{
	size_t len = bifang_final_length(name);

	switch (kind)
	{
		case BIFANG_REMOVE_LEDGER: return is_ledger_name(name, len);
		case BIFANG_REMOVE_TABLE: return is_table_name(name, len);
		case BIFANG_REMOVE_FILE:
			return ends_in(name, len, ".bfo") || ends_in(name, len, ".avro") ||
				   ends_in(name, len, ".metadata.json") || bifang_is_data_file(name);
	}
	return false;
}

/* Removing ------------------------------------------------------------------------------------ */

typedef struct Removal
{
	BifangRemoveKind kind;
	BifangIsNamed named;
	void *arg;
	BifangRemoved *out;
	BfError first; /* error */
} Removal;

static void
keep(Removal *r, const char *dir, const char *name)
{
	if (r->out->kept++ == 0)
		snprintf(r->out->first, sizeof r->out->first, "%.500s/%.400s", dir, name);
}

static void
fail(Removal *r, const char *dir, const char *name, const char *what)
{
	char path[MAXPGPATH];
	int e = errno;

	if (r->first.code != BF_OK)
		return;
	snprintf(path, sizeof path, "%.500s/%.400s", dir, name);
	(void) bf_error_errno(&r->first, e, path, what);
}

static void remove_entry(Removal *r, int at, const char *dir, const char *name, int depth);

/* All that is in an open directory. A directory that shrinks while it is listed may hide entries
 * from one pass. What says whose a ledger is goes last: should we not get that far, the rest is
 * still known to be ours. */
static void
remove_entries(Removal *r, DIR *d, const char *path, int depth)
{
	int64 kept = r->out->kept;
	bool marked = false;
	bool again = true;

	for (int pass = 0; again && pass < 8; pass++)
	{
		struct dirent *e;

		again = false;
		r->out->kept = kept;
		rewinddir(d);
		while ((e = readdir(d)) != NULL)
		{
			if (r->first.code == BF_OK && bf_check_cancel(bifang_host(), &r->first) != BF_OK)
				return;
			if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
				continue;
			if (r->kind == BIFANG_REMOVE_LEDGER && strcmp(e->d_name, MARK) == 0)
			{
				marked = true;
				continue;
			}
			remove_entry(r, dirfd(d), path, e->d_name, depth);
			again = true;
		}
		again = again && r->first.code == BF_OK && r->out->kept == kept;
	}
	if (marked && r->first.code == BF_OK && r->out->kept == kept)
		remove_entry(r, dirfd(d), path, MARK, depth);
}

static void
remove_dir(Removal *r, int at, const char *dir, const char *name, int depth)
{
	int64 kept = r->out->kept;
	char path[MAXPGPATH];
	DIR *d = NULL;
	int fd;

	Assert(r->kind != BIFANG_REMOVE_FILE);
	if (depth > DEPTH_MAX || !AcquireExternalFD())
	{
		errno = depth > DEPTH_MAX ? ELOOP : EMFILE;
		fail(r, dir, name, "open directory");
		return;
	}
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		d = fdopendir(fd);
	if (d == NULL)
	{
		fail(r, dir, name, "open directory");
		if (fd >= 0)
			close(fd);
		ReleaseExternalFD();
		return;
	}
	snprintf(path, sizeof path, "%.500s/%.400s", dir, name);
	remove_entries(r, d, path, depth + 1);
	closedir(d);
	ReleaseExternalFD();
	if (r->out->kept == kept && unlinkat(at, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
		fail(r, dir, name, "remove directory");
}

static void
remove_entry(Removal *r, int at, const char *dir, const char *name, int depth)
{
	bool root = depth == 0;
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
	{
		if (errno != ENOENT)
			fail(r, dir, name, "stat");
		return;
	}
	if (r->named != NULL && r->named(r->arg, id_of(&st)))
		keep(r, dir, name);
	else if (S_ISDIR(st.st_mode) &&
			 (root ? r->kind != BIFANG_REMOVE_FILE : r->kind == BIFANG_REMOVE_TABLE))
		remove_dir(r, at, dir, name, depth);
	else if (!S_ISREG(st.st_mode) || (root && r->kind != BIFANG_REMOVE_FILE) ||
			 !is_ours(name, r->kind))
		keep(r, dir, name);
	else if (unlinkat(at, name, 0) != 0 && errno != ENOENT)
		fail(r, dir, name, "remove file");
}

BfStatus
bifang_remove(const char *path, BifangRemoveKind kind, BifangIsNamed named, void *arg,
			  BifangRemoved *out, BfError *err)
{
	Removal r = {.kind = kind, .named = named, .arg = arg, .out = out};
	const char *slash = strrchr(path, '/');
	char dir[MAXPGPATH];
	int fd;

	Assert(path[0] == '/' && slash[1] != '\0');
	memset(out, 0, sizeof *out);
	strlcpy(dir, path, Min(sizeof dir, (size_t) (slash - path) + 1));
	if (!AcquireExternalFD())
		return bf_error(err, BF_ERR_LIMIT, "too many open files: max_files_per_process is %d",
						max_files_per_process);
	fd = open(dir[0] != '\0' ? dir : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
	{
		int e = errno;

		ReleaseExternalFD();
		if (e == ENOENT || e == ENOTDIR)
			return BF_OK;
		return bf_error_errno(err, e, dir, "open directory");
	}
	remove_entry(&r, fd, dir, slash + 1, 0);
	close(fd);
	ReleaseExternalFD();
	if (r.first.code == BF_OK)
		return BF_OK;
	*err = r.first;
	return err->code;
}
