/*
 * pg/server/host.c: the server as the core's outside world; see host.h.
 *
 * A file handle of the core is a plain descriptor from BasicOpenFile, counted as an external one,
 * so that it is never closed behind the core's back as a virtual descriptor would be.
 */
#include "pg/server/host.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/file_perm.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

/* Blocks of at least this size are mapped, so that they go back to the system when freed, and some
 * are kept for reuse: the page faults of a fresh mapping cost more than decoding into it. Sizes are
 * rounded up, so that scans of one table find theirs again. */
#define MAP_BYTES_MIN ((size_t) 128 * 1024)
#define KEEP_BYTES_MAX ((size_t) 16 * 1024 * 1024)
#define KEEP_SLOTS 24

static struct
{
	void *ptr;
	size_t size;
} kept[KEEP_SLOTS];
static int n_kept = 0;
static size_t kept_bytes = 0;

/* To a quarter of the power of two below. */
static size_t
map_size(size_t size)
{
	size_t step = (size_t) 1 << (61 - __builtin_clzll(size));

	return (size + step - 1) & ~(step - 1);
}

static void *
host_alloc(const BfHost *h, size_t size)
{
	void *ptr;

	(void) h;
	if (size < MAP_BYTES_MIN)
		return malloc(size);
	if (size > SIZE_MAX / 4)
		return NULL;
	size = map_size(size);
	for (int i = n_kept - 1; i >= 0; i--)
		if (kept[i].size == size)
		{
			ptr = kept[i].ptr;
			kept[i] = kept[--n_kept];
			kept_bytes -= size;
			return ptr;
		}
	ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return ptr == MAP_FAILED ? NULL : ptr;
}

static void
host_free(const BfHost *h, void *ptr, size_t size)
{
	(void) h;
	if (ptr == NULL)
		return;
	if (size < MAP_BYTES_MIN)
	{
		free(ptr);
		return;
	}
	size = map_size(size);
	if (n_kept < KEEP_SLOTS && kept_bytes + size <= KEEP_BYTES_MAX)
	{
		kept[n_kept].ptr = ptr;
		kept[n_kept++].size = size;
		kept_bytes += size;
		return;
	}
	munmap(ptr, size);
}

/*
 * Non-blocking, so that a FIFO put where a data file should be fails the test for a regular file
 * instead of hanging the backend.
 */
static BfStatus
host_open(const BfHost *h, const char *path, BfOpenMode mode, int *file, BfError *err)
{
	int flags = PG_BINARY | O_CLOEXEC | O_NONBLOCK;
	int fd;
	struct stat st;

	(void) h;
	switch (mode)
	{
		case BF_OPEN_READ: flags |= O_RDONLY; break;
		case BF_OPEN_WRITE: flags |= O_RDWR | O_CREAT; break;
		case BF_OPEN_CREATE_NEW: flags |= O_RDWR | O_CREAT | O_EXCL; break;
	}
	if (!AcquireExternalFD())
	{
		bf_error(err, BF_ERR_LIMIT, "too many open files: max_files_per_process is %d",
				 max_files_per_process);
		return bf_error_object(err, path);
	}
	fd = BasicOpenFile(path, flags);
	if (fd < 0)
	{
		int e = errno;

		ReleaseExternalFD();
		if (e == EEXIST && mode == BF_OPEN_CREATE_NEW)
		{
			bf_error(err, BF_ERR_CONFLICT, "file exists already");
			return bf_error_object(err, path);
		}
		return bf_error_errno(err, e, path, "open file");
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
	{
		close(fd);
		ReleaseExternalFD();
		bf_error(err, BF_ERR_IO, "not a regular file");
		return bf_error_object(err, path);
	}
	*file = fd;
	return BF_OK;
}

static void
host_close(const BfHost *h, int file)
{
	(void) h;
	close(file);
	ReleaseExternalFD();
}

static BfStatus
host_file_size(const BfHost *h, int file, int64_t *size, BfError *err)
{
	struct stat st;

	(void) h;
	if (fstat(file, &st) != 0)
		return bf_error_errno(err, errno, "", "stat file");
	*size = st.st_size;
	return BF_OK;
}

static BfStatus
host_read_at(const BfHost *h, int file, int64_t pos, void *buf, size_t len, BfError *err)
{
	char *p = buf;

	(void) h;
	while (len > 0)
	{
		ssize_t n = pread(file, p, Min(len, (size_t) 1 << 30), pos);

		if (n < 0)
		{
			if (errno == EINTR)
				continue;
			return bf_error_errno(err, errno, "", "read file");
		}
		if (n == 0)
			return bf_error_at(err, BF_ERR_CORRUPT, pos, "file ends %zu bytes too early", len);
		p += n;
		pos += n;
		len -= n;
	}
	return BF_OK;
}

static BfStatus
host_write_at(const BfHost *h, int file, int64_t pos, const void *buf, size_t len, BfError *err)
{
	const char *p = buf;

	(void) h;
	while (len > 0)
	{
		ssize_t n = pwrite(file, p, Min(len, (size_t) 1 << 30), pos);

		if (n < 0)
		{
			if (errno == EINTR)
				continue;
			return bf_error_errno(err, errno, "", "write file");
		}
		p += n;
		pos += n;
		len -= n;
	}
	return BF_OK;
}

static BfStatus
host_truncate(const BfHost *h, int file, int64_t size, BfError *err)
{
	(void) h;
	while (ftruncate(file, size) != 0)
		if (errno != EINTR)
			return bf_error_errno(err, errno, "", "truncate file");
	return BF_OK;
}

static BfStatus
host_sync(const BfHost *h, int file, BfError *err)
{
	(void) h;
	if (pg_fdatasync(file) != 0)
		return bf_error_errno(err, errno, "", "fsync file");
	return BF_OK;
}

static BfStatus
copy_by_hand(const BfHost *h, int from, int64_t from_pos, int to, int64_t to_pos, int64_t len,
			 BfError *err)
{
	size_t room = (size_t) Min(len, 1024 * 1024);
	char *buf = malloc(room + 1);
	BfStatus st = BF_OK;

	if (buf == NULL)
		return bf_error(err, BF_ERR_NOMEM, "out of memory");
	while (len > 0 && st == BF_OK)
	{
		size_t n = (size_t) Min(len, (int64_t) room);

		st = bf_check_cancel(h, err);
		if (st == BF_OK)
			st = host_read_at(h, from, from_pos, buf, n, err);
		if (st == BF_OK)
			st = host_write_at(h, to, to_pos, buf, n, err);
		from_pos += n;
		to_pos += n;
		len -= n;
	}
	free(buf);
	return st;
}

static BfStatus
host_copy_range(const BfHost *h, int from, int64_t from_pos, int to, int64_t to_pos, int64_t len,
				BfError *err)
{
	while (len > 0)
	{
		loff_t in = from_pos;
		loff_t out = to_pos;
		ssize_t n;

		BF_TRY(bf_check_cancel(h, err));
		n = copy_file_range(from, &in, to, &out, (size_t) Min(len, (int64_t) 64 << 20), 0);
		if (n < 0 && errno == EINTR)
			continue;
		/* Filesystems that cannot, and 0 at an end that read() will report properly. */
		if (n <= 0)
			return copy_by_hand(h, from, from_pos, to, to_pos, len, err);
		from_pos += n;
		to_pos += n;
		len -= n;
	}
	return BF_OK;
}

static BfPathKind
mode_kind(mode_t mode)
{
	return S_ISREG(mode) ? BF_PATH_FILE : S_ISDIR(mode) ? BF_PATH_DIR : BF_PATH_OTHER;
}

static BfStatus
host_stat(const BfHost *h, const char *path, BfPathInfo *info, BfError *err)
{
	struct stat st;

	(void) h;
	memset(info, 0, sizeof *info);
	if (stat(path, &st) != 0)
	{
		if (errno != ENOENT && errno != ENOTDIR)
			return bf_error_errno(err, errno, path, "stat");
		info->kind = BF_PATH_MISSING;
		return BF_OK;
	}
	info->kind = mode_kind(st.st_mode);
	info->size = st.st_size;
	info->mtime_us = (int64_t) st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000;
	info->inode = st.st_ino;
	return BF_OK;
}

typedef struct Names
{
	char **name;
	BfPathKind *kind;
	size_t n;
	size_t cap;
} Names;

static bool
names_add(Names *l, const char *name)
{
	if (l->n == l->cap)
	{
		size_t cap = l->cap == 0 ? 64 : l->cap * 2;
		char **p = realloc(l->name, cap * sizeof *p);

		if (p == NULL)
			return false;
		l->name = p;
		l->cap = cap;
	}
	l->name[l->n] = strdup(name);
	return l->name[l->n] != NULL && ++l->n > 0;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

static BfStatus
list_visit(const char *dir, const Names *l, BfListEntry each, void *arg, BfError *err)
{
	char path[MAXPGPATH * 2];

	for (size_t i = 0; i < l->n; i++)
	{
		struct stat st;

		if ((size_t) snprintf(path, sizeof path, "%s/%s", dir, l->name[i]) >= sizeof path)
			return bf_error(err, BF_ERR_LIMIT, "path in directory \"%s\" is too long", dir);
		if (stat(path, &st) != 0)
		{
			if (errno == ENOENT) /* removed since it was listed, or a dangling link */
				continue;
			return bf_error_errno(err, errno, path, "stat");
		}
		BF_TRY(each(arg, l->name[i], mode_kind(st.st_mode), err));
	}
	return BF_OK;
}

static BfStatus
host_list(const BfHost *h, const char *dir, BfListEntry each, void *arg, BfError *err)
{
	Names l = {0};
	BfStatus st = BF_OK;
	DIR *d;
	struct dirent *de;

	(void) h;
	if (!AcquireExternalFD())
		return bf_error(err, BF_ERR_LIMIT, "too many open files: max_files_per_process is %d",
						max_files_per_process);
	d = opendir(dir);
	if (d == NULL)
	{
		int e = errno;

		ReleaseExternalFD();
		return bf_error_errno(err, e, dir, "open directory");
	}
	while (st == BF_OK && (errno = 0, de = readdir(d)) != NULL)
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0 &&
			!names_add(&l, de->d_name))
			st = bf_error(err, BF_ERR_NOMEM, "out of memory");
	if (st == BF_OK && errno != 0)
		st = bf_error_errno(err, errno, dir, "read directory");
	closedir(d);
	ReleaseExternalFD();
	if (st == BF_OK)
	{
		if (l.n > 1)
			qsort(l.name, l.n, sizeof *l.name, compare_names);
		st = list_visit(dir, &l, each, arg, err);
	}
	for (size_t i = 0; i < l.n; i++)
		free(l.name[i]);
	free(l.name);
	return st;
}

static BfStatus
host_sync_dir(const BfHost *h, const char *dir, BfError *err)
{
	int fd;
	int rc;
	int e;

	(void) h;
	if (!enableFsync)
		return BF_OK;
	if (!AcquireExternalFD())
		return bf_error(err, BF_ERR_LIMIT, "too many open files: max_files_per_process is %d",
						max_files_per_process);
	fd = BasicOpenFile(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	e = errno;
	if (fd < 0)
	{
		ReleaseExternalFD();
		return bf_error_errno(err, e, dir, "open directory");
	}
	rc = fsync(fd);
	e = errno;
	close(fd);
	ReleaseExternalFD();
	if (rc != 0 && e != EINVAL && e != EBADF) /* some filesystems cannot sync directories */
		return bf_error_errno(err, e, dir, "fsync directory");
	return BF_OK;
}

/* `path` is modified while it works and is whole again on return. */
static BfStatus
make_dirs(const BfHost *h, char *path, BfError *err)
{
	struct stat st;
	char *slash;

	if (stat(path, &st) == 0)
	{
		if (S_ISDIR(st.st_mode))
			return BF_OK;
		bf_error(err, BF_ERR_IO, "exists and is not a directory");
		return bf_error_object(err, path);
	}
	slash = strrchr(path, '/');
	if (slash != NULL && slash != path)
	{
		BfStatus status;

		*slash = '\0';
		status = make_dirs(h, path, err);
		*slash = '/';
		BF_TRY(status);
	}
	if (mkdir(path, pg_dir_create_mode) != 0 && errno != EEXIST)
		return bf_error_errno(err, errno, path, "create directory");
	if (slash != NULL && slash != path)
	{
		BfStatus status;

		*slash = '\0';
		status = host_sync_dir(h, path, err);
		*slash = '/';
		BF_TRY(status);
	}
	return BF_OK;
}

static BfStatus
host_mkdirs(const BfHost *h, const char *dir, BfError *err)
{
	char path[MAXPGPATH];

	if (strlcpy(path, dir, sizeof path) >= sizeof path)
		return bf_error(err, BF_ERR_LIMIT, "path is too long: \"%.100s...\"", dir);
	return make_dirs(h, path, err);
}

static BfStatus
host_rename(const BfHost *h, const char *from, const char *to, BfError *err)
{
	(void) h;
	if (rename(from, to) != 0)
		return bf_error_errno(err, errno, from, "rename");
	return BF_OK;
}

/* link and unlink where the filesystem has no renameat2(RENAME_NOREPLACE). */
static BfStatus
host_rename_new(const BfHost *h, const char *from, const char *to, BfError *err)
{
	int rc = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);

	(void) h;
	if (rc != 0 && (errno == EINVAL || errno == ENOSYS))
	{
		rc = link(from, to);
		if (rc == 0)
			rc = unlink(from);
	}
	if (rc == 0)
		return BF_OK;
	if (errno == EEXIST)
	{
		bf_error(err, BF_ERR_CONFLICT, "file exists already");
		return bf_error_object(err, to);
	}
	return bf_error_errno(err, errno, from, "rename");
}

static BfStatus
host_unlink(const BfHost *h, const char *path, BfError *err)
{
	(void) h;
	if (unlink(path) != 0 && errno != ENOENT)
		return bf_error_errno(err, errno, path, "remove file");
	return BF_OK;
}

static BfStatus
host_rmdir(const BfHost *h, const char *dir, BfError *err)
{
	(void) h;
	if (rmdir(dir) != 0 && errno != ENOENT)
		return bf_error_errno(err, errno, dir, "remove directory");
	return BF_OK;
}

static int64_t
host_now_us(const BfHost *h)
{
	struct timespec ts;

	(void) h;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static BfStatus
host_random(const BfHost *h, void *buf, size_t len, BfError *err)
{
	(void) h;
	if (!pg_strong_random(buf, len))
		return bf_error(err, BF_ERR_HOST, "could not generate random bytes");
	return BF_OK;
}

/* Where interrupts are held off, CHECK_FOR_INTERRUPTS would not raise, so we don't stop either. */
static bool
host_cancelled(const BfHost *h)
{
	(void) h;
	return unlikely(InterruptPending) && (QueryCancelPending || ProcDiePending) &&
		   InterruptHoldoffCount == 0 && CritSectionCount == 0;
}

static void
host_log(const BfHost *h, const char *text)
{
	(void) h;
	ereport(LOG, (errmsg_internal("bifang_fdw: %s", text)));
}

static const BfHost host = {
	.mem_alloc = host_alloc,
	.mem_free = host_free,
	.open = host_open,
	.close = host_close,
	.file_size = host_file_size,
	.read_at = host_read_at,
	.write_at = host_write_at,
	.truncate = host_truncate,
	.sync = host_sync,
	.copy_range = host_copy_range,
	.stat = host_stat,
	.list = host_list,
	.mkdirs = host_mkdirs,
	.rename = host_rename,
	.rename_new = host_rename_new,
	.unlink = host_unlink,
	.rmdir = host_rmdir,
	.sync_dir = host_sync_dir,
	.now_us = host_now_us,
	.random = host_random,
	.cancelled = host_cancelled,
	.log = host_log,
};

const BfHost *
bifang_host(void)
{
	return &host;
}

/* The callback that a memory context holds for an arena. It lives in the context; all are listed,
 * so that an arena freed by hand finds its own. */
typedef struct ArenaHolder
{
	MemoryContextCallback callback;
	dlist_node node;
	BfArena *arena; /* NULL: freed before */
} ArenaHolder;

static dlist_head holders = DLIST_STATIC_INIT(holders);

static void
holder_free(void *arg)
{
	ArenaHolder *holder = arg;
	BfArena *a = holder->arena;

	if (a == NULL)
		return;
	holder->arena = NULL;
	dlist_delete(&holder->node);
	bf_arena_free(a);
}

BfArena *
bifang_arena(MemoryContext cxt, const char *name, size_t bytes_max)
{
	ArenaHolder *holder = MemoryContextAllocZero(cxt, sizeof *holder);

	holder->arena = bf_arena_new(&host, name, bytes_max);
	if (holder->arena == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	dlist_push_head(&holders, &holder->node);
	holder->callback.func = holder_free;
	holder->callback.arg = holder;
	MemoryContextRegisterResetCallback(cxt, &holder->callback);
	return holder->arena;
}

void
bifang_arena_free(BfArena *a)
{
	dlist_iter iter;

	if (a == NULL)
		return;
	dlist_foreach(iter, &holders)
	{
		ArenaHolder *holder = dlist_container(ArenaHolder, node, iter.cur);

		if (holder->arena == a)
		{
			holder_free(holder);
			return;
		}
	}
	Assert(false); /* not made by bifang_arena, or freed before */
}
