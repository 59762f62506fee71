/*
 * Preloaded into a server by 016_durable.pl: it keeps what a power failure would leave of the files
 * under one directory, and writes down in which order files are synced, named and removed.
 *
 *   FORGET_ROOT     the directory that is watched; links resolved
 *   FORGET_SHADOW   where durable state is kept: <inode> is a file's bytes or a directory's names
 *                   as of its last sync (a name per line: "f" or "d", inode, name)
 *   FORGET_LOG      a line per call: "<pid> sync|syncdir|rename|unlink|rmdir <path>"; syncs of WAL
 *                   are "<pid> wal <path>"; a file that a process closes for the last time with
 *                   bytes that it wrote and did not sync is "<pid> untold <path>"
 *
 *   FORGET_FAIL     a file that holds the end of a path: syncs of files and directories whose
 * path ends so fail with EIO while it is there
 *
 * A call that fails leaves no trace.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int
lies_under(const char *path, const char *root)
{
	size_t n = root != NULL ? strlen(root) : 0;

	return n > 0 && strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static void
note(const char *what, const char *path)
{
	const char *log = getenv("FORGET_LOG");
	char line[PATH_MAX + 64];
	int n = snprintf(line, sizeof line, "%d %s %s\n", (int) getpid(), what, path);
	int fd = log != NULL ? open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
	{
		if (write(fd, line, (size_t) n) != n)
			abort();
		close(fd);
	}
}

/* Replaces the shadow of an inode by what `fill` writes. */
static void
keep(ino_t inode, void (*fill)(FILE *out, int fd, const char *path), int fd, const char *path)
{
	char to[PATH_MAX], tmp[PATH_MAX];
	FILE *out;

	snprintf(to, sizeof to, "%s/%lu", getenv("FORGET_SHADOW"), (unsigned long) inode);
	snprintf(tmp, sizeof tmp, "%s/tmp.%d", getenv("FORGET_SHADOW"), (int) getpid());
	out = fopen(tmp, "we");
	if (out == NULL)
		abort();
	fill(out, fd, path);
	if (fclose(out) != 0 || syscall(SYS_renameat2, AT_FDCWD, tmp, AT_FDCWD, to, 0) != 0)
		abort();
}

static void
fill_bytes(FILE *out, int fd, const char *path)
{
	static char buf[1 << 16];
	off_t pos = 0;
	ssize_t n;

	(void) path;
	while ((n = pread(fd, buf, sizeof buf, pos)) > 0)
	{
		if (fwrite(buf, 1, (size_t) n, out) != (size_t) n)
			abort();
		pos += n;
	}
}

static void
fill_names(FILE *out, int fd, const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	struct stat st;

	(void) fd;
	if (d == NULL)
		abort();
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
			fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			fprintf(out, "%c %lu %s\n", S_ISDIR(st.st_mode) ? 'd' : 'f', (unsigned long) st.st_ino,
					e->d_name);
	closedir(d);
}

static void
synced(int fd)
{
	int saved = errno;
	char link[64], path[PATH_MAX];
	ssize_t n;
	struct stat st;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	if (n > 0 && fstat(fd, &st) == 0)
	{
		path[n] = '\0';
		if (lies_under(path, getenv("FORGET_ROOT")))
		{
			keep(st.st_ino, S_ISDIR(st.st_mode) ? fill_names : fill_bytes, fd, path);
			note(S_ISDIR(st.st_mode) ? "syncdir" : "sync", path);
		}
		else if (strstr(path, "/pg_wal/") != NULL)
			note("wal", path);
	}
	errno = saved;
}

static void
named(const char *what, const char *path)
{
	int saved = errno;

	if (lies_under(path, getenv("FORGET_ROOT")))
		note(what, path);
	errno = saved;
}

#define REAL(type, name, ...)         \
	static type (*real)(__VA_ARGS__); \
	if (real == NULL)                 \
	real = (type(*)(__VA_ARGS__)) dlsym(RTLD_NEXT, #name)

/* Does the path end in what the file says? */
static bool
must_fail(int fd)
{
	const char *name = getenv("FORGET_FAIL");
	char link[64], path[PATH_MAX], part[256];
	int file = name != NULL ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n, m;

	if (file < 0)
		return false;
	m = read(file, part, sizeof part - 1);
	close(file);
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	if (m <= 0 || n < m)
		return false;
	part[m] = path[n] = '\0';
	if (!lies_under(path, getenv("FORGET_ROOT")) || strcmp(path + n - m, part) != 0)
		return false;
	errno = EIO;
	return true;
}

/* ---- files with bytes that this process has written and not synced ---- */

#define DIRTY_MAX 4096

static ino_t dirty[DIRTY_MAX];
static int n_dirty;

static bool
watched(int fd, char *path, struct stat *st)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	if (n <= 0 || fstat(fd, st) != 0 || !S_ISREG(st->st_mode))
		return false;
	path[n] = '\0';
	return lies_under(path, getenv("FORGET_ROOT"));
}

static int
find_dirty(ino_t inode)
{
	int i = 0;

	while (i < n_dirty && dirty[i] != inode)
		i++;
	return i;
}

static void
written(int fd)
{
	char path[PATH_MAX];
	struct stat st;
	int saved = errno;

	if (watched(fd, path, &st) && find_dirty(st.st_ino) == n_dirty)
	{
		if (n_dirty == DIRTY_MAX)
			abort();
		dirty[n_dirty++] = st.st_ino;
	}
	errno = saved;
}

static void
clean(int fd)
{
	struct stat st;
	int i = fstat(fd, &st) == 0 ? find_dirty(st.st_ino) : n_dirty;

	if (i < n_dirty)
		dirty[i] = dirty[--n_dirty];
}

/* Is the file open by another descriptor of this process? */
static bool
open_elsewhere(int fd, const struct stat *st)
{
	struct stat other;

	for (int i = 0; i < 1024; i++)
		if (i != fd && fstat(i, &other) == 0 && other.st_ino == st->st_ino &&
			other.st_dev == st->st_dev)
			return true;
	return false;
}

ssize_t
pwrite(int fd, const void *buf, size_t n, off_t pos)
{
	REAL(ssize_t, pwrite, int, const void *, size_t, off_t);

	written(fd);
	return real(fd, buf, n, pos);
}

ssize_t
pwrite64(int fd, const void *buf, size_t n, off64_t pos)
{
	REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);

	written(fd);
	return real(fd, buf, n, pos);
}

int
close(int fd)
{
	REAL(int, close, int);
	int saved = errno;
	char path[PATH_MAX];
	struct stat st;

	if (n_dirty > 0 && watched(fd, path, &st) && find_dirty(st.st_ino) < n_dirty &&
		!open_elsewhere(fd, &st))
	{
		clean(fd);
		note("untold", path);
	}
	errno = saved;
	return real(fd);
}

int
fsync(int fd)
{
	REAL(int, fsync, int);
	int rc = must_fail(fd) ? -1 : real(fd);

	if (rc == 0)
	{
		synced(fd);
		clean(fd);
	}
	return rc;
}

int
fdatasync(int fd)
{
	REAL(int, fdatasync, int);
	int rc = must_fail(fd) ? -1 : real(fd);

	if (rc == 0)
	{
		synced(fd);
		clean(fd);
	}
	return rc;
}

int
rename(const char *from, const char *to)
{
	REAL(int, rename, const char *, const char *);
	int rc = real(from, to);

	if (rc == 0)
		named("rename", to);
	return rc;
}

int
renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	REAL(int, renameat2, int, const char *, int, const char *, unsigned int);
	int rc = real(from_dir, from, to_dir, to, flags);

	if (rc == 0)
		named("rename", to);
	return rc;
}

int
unlink(const char *path)
{
	REAL(int, unlink, const char *);
	int rc = real(path);

	if (rc == 0)
		named("unlink", path);
	return rc;
}

int
unlinkat(int dir, const char *name, int flags)
{
	REAL(int, unlinkat, int, const char *, int);
	char link[64], path[PATH_MAX + NAME_MAX + 2];
	int rc = real(dir, name, flags);
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
	n = rc == 0 ? readlink(link, path, PATH_MAX - 1) : -1;
	if (n > 0)
	{
		snprintf(path + n, sizeof path - (size_t) n, "/%s", name);
		named((flags & AT_REMOVEDIR) != 0 ? "rmdir" : "unlink", path);
	}
	return rc;
}

int
rmdir(const char *path)
{
	REAL(int, rmdir, const char *);
	int rc = real(path);

	if (rc == 0)
		named("rmdir", path);
	return rc;
}
