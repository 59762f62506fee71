/*
 * The host of host_posix.h. Each callback first asks whether it is the one to fail. Under
 * AddressSanitizer a block's exact size is known, so one that is given back with another is
 * counted; of open files the path is kept, since errors by handle must name one.
 */
#include "unit/lib/host_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FD_MAX 1024
#define COPY_CHUNK ((size_t) 1 << 16)

#if defined(__SANITIZE_ADDRESS__)
#define EXACT_USABLE_SIZE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXACT_USABLE_SIZE 1
#endif
#endif

/* Paths of open files, for messages. Handles are process-wide, so this is too. */
static char *fd_path[FD_MAX];

static TestHost *
self(const BfHost *h)
{
	return h->ctx;
}

static bool
fault(const BfHost *host, TestFault kind)
{
	TestHost *h = self(host);
	int64_t n = __atomic_add_fetch(&h->calls[kind], 1, __ATOMIC_RELAXED);

	if (h->fault != kind || (h->sticky ? n < h->fail_at : n != h->fail_at))
		return false;
	h->fired = true;
	return true;
}

static BfStatus
io_fault(const char *object, const char *what, BfError *err)
{
	return bf_error_errno(err, EIO, object, what);
}

static const char *
path_of(int file)
{
	return file >= 0 && file < FD_MAX && fd_path[file] != NULL ? fd_path[file] : "(closed file)";
}

static void *
host_alloc(const BfHost *host, size_t size)
{
	TestHost *h = self(host);
	int64_t live;
	void *p;

	if (fault(host, TEST_FAULT_ALLOC))
		return NULL;
	p = malloc(size > 0 ? size : 1);
	if (p == NULL)
		return NULL;
	__atomic_add_fetch(&h->live_allocs, 1, __ATOMIC_RELAXED);
	live = __atomic_add_fetch(&h->live_bytes, (int64_t) size, __ATOMIC_RELAXED);
	if (live > h->peak_bytes)
		h->peak_bytes = live;
	return p;
}

static void
host_free(const BfHost *host, void *ptr, size_t size)
{
	TestHost *h = self(host);

	if (ptr == NULL)
		return;
#ifdef EXACT_USABLE_SIZE
	if (malloc_usable_size(ptr) != (size > 0 ? size : 1))
		h->bad_frees++;
#endif
	__atomic_add_fetch(&h->live_allocs, -1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&h->live_bytes, -(int64_t) size, __ATOMIC_RELAXED);
	free(ptr);
}

static BfStatus
host_open(const BfHost *host, const char *path, BfOpenMode mode, int *file, BfError *err)
{
	static const int flags[] = {
		[BF_OPEN_READ] = O_RDONLY | O_NONBLOCK,
		[BF_OPEN_WRITE] = O_RDWR | O_CREAT,
		[BF_OPEN_CREATE_NEW] = O_RDWR | O_CREAT | O_EXCL,
	};
	struct stat st;
	int fd;

	if (fault(host, mode == BF_OPEN_READ ? TEST_FAULT_READ : TEST_FAULT_WRITE))
		return io_fault(path, "open file", err);
	fd = open(path, flags[mode] | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST && mode == BF_OPEN_CREATE_NEW)
	{
		bf_error(err, BF_ERR_CONFLICT, "the file exists already");
		return bf_error_object(err, path);
	}
	if (fd < 0)
		return bf_error_errno(err, errno, path, "open file");
	if (fd >= FD_MAX || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
	{
		close(fd);
		bf_error(err, BF_ERR_IO, "not a regular file");
		return bf_error_object(err, path);
	}
	fd_path[fd] = strdup(path);
	__atomic_add_fetch(&self(host)->open_files, 1, __ATOMIC_RELAXED);
	*file = fd;
	return BF_OK;
}

static void
host_close(const BfHost *host, int file)
{
	TestHost *h = self(host);

	if (file < 0 || file >= FD_MAX || fd_path[file] == NULL)
	{
		h->bad_frees++;
		return;
	}
	free(fd_path[file]);
	fd_path[file] = NULL;
	close(file);
	__atomic_add_fetch(&h->open_files, -1, __ATOMIC_RELAXED);
}

static BfStatus
host_file_size(const BfHost *host, int file, int64_t *size, BfError *err)
{
	struct stat st;

	if (fault(host, TEST_FAULT_READ))
		return io_fault(path_of(file), "stat file", err);
	if (fstat(file, &st) != 0)
		return bf_error_errno(err, errno, path_of(file), "stat file");
	*size = st.st_size;
	return BF_OK;
}

static int64_t
host_data_end(const BfHost *host, int file, int64_t size)
{
	off_t n = lseek(file, 0, SEEK_HOLE);

	(void) host;
	return n < 0 || n > size ? size : n;
}

static BfStatus
host_read_at(const BfHost *host, int file, int64_t pos, void *buf, size_t len, BfError *err)
{
	uint8_t *p = buf;

	if (fault(host, TEST_FAULT_READ))
		return io_fault(path_of(file), "read file", err);
	while (len > 0)
	{
		ssize_t n = pread(file, p, len, pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return bf_error_errno(err, errno, path_of(file), "read file");
		if (n == 0)
		{
			bf_error_at(err, BF_ERR_CORRUPT, pos, "the file ends here, %zu more bytes expected",
						len);
			return bf_error_object(err, path_of(file));
		}
		p += n;
		pos += n;
		len -= (size_t) n;
	}
	return BF_OK;
}

static BfStatus
write_all(int file, int64_t pos, const uint8_t *p, size_t len, BfError *err)
{
	while (len > 0)
	{
		ssize_t n = pwrite(file, p, len, pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return bf_error_errno(err, errno, path_of(file), "write file");
		p += n;
		pos += n;
		len -= (size_t) n;
	}
	return BF_OK;
}

static BfStatus
host_write_at(const BfHost *host, int file, int64_t pos, const void *buf, size_t len, BfError *err)
{
	if (fault(host, TEST_FAULT_WRITE))
	{
		/* A failing disk takes a part: what a torn write leaves. */
		BF_TRY(write_all(file, pos, buf, len / 2, err));
		return io_fault(path_of(file), "write file", err);
	}
	return write_all(file, pos, buf, len, err);
}

static BfStatus
host_truncate(const BfHost *host, int file, int64_t size, BfError *err)
{
	if (fault(host, TEST_FAULT_WRITE))
		return io_fault(path_of(file), "truncate file", err);
	if (ftruncate(file, size) != 0)
		return bf_error_errno(err, errno, path_of(file), "truncate file");
	return BF_OK;
}

static BfStatus
host_sync(const BfHost *host, int file, BfError *err)
{
	if (fault(host, TEST_FAULT_WRITE))
		return io_fault(path_of(file), "sync file", err);
	if (fdatasync(file) != 0)
		return bf_error_errno(err, errno, path_of(file), "sync file");
	return BF_OK;
}

static BfStatus
host_copy_range(const BfHost *host, int from, int64_t from_pos, int to, int64_t to_pos, int64_t len,
				BfError *err)
{
	uint8_t buf[COPY_CHUNK];

	if (fault(host, TEST_FAULT_WRITE))
		return io_fault(path_of(to), "copy into file", err);
	while (len > 0)
	{
		size_t n = len < (int64_t) sizeof buf ? (size_t) len : sizeof buf;

		BF_TRY(host_read_at(host, from, from_pos, buf, n, err));
		BF_TRY(write_all(to, to_pos, buf, n, err));
		from_pos += (int64_t) n;
		to_pos += (int64_t) n;
		len -= (int64_t) n;
	}
	return BF_OK;
}

static BfPathKind
kind_of(mode_t mode)
{
	return S_ISREG(mode) ? BF_PATH_FILE : S_ISDIR(mode) ? BF_PATH_DIR : BF_PATH_OTHER;
}

static BfStatus
host_stat(const BfHost *host, const char *path, BfPathInfo *info, BfError *err)
{
	struct stat st;

	memset(info, 0, sizeof *info);
	if (fault(host, TEST_FAULT_READ))
		return io_fault(path, "stat", err);
	if (stat(path, &st) != 0)
	{
		if (errno == ENOENT || errno == ENOTDIR)
			return BF_OK; /* kind is MISSING */
		return bf_error_errno(err, errno, path, "stat");
	}
	info->kind = kind_of(st.st_mode);
	info->size = st.st_size;
	info->mtime_us = (int64_t) st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000;
	info->inode = st.st_ino;
	return BF_OK;
}

static int
no_dots(const struct dirent *e)
{
	return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static int
by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static BfStatus
host_list(const BfHost *host, const char *dir, BfListEntry each, void *arg, BfError *err)
{
	struct dirent **names;
	BfStatus s = BF_OK;
	int n;

	if (fault(host, TEST_FAULT_READ))
		return io_fault(dir, "list directory", err);
	n = scandir(dir, &names, no_dots, by_bytes);
	if (n < 0)
		return bf_error_errno(err, errno, dir, "list directory");
	for (int i = 0; i < n; i++)
	{
		char path[4096];
		struct stat st;
		BfPathKind kind = BF_PATH_OTHER;

		snprintf(path, sizeof path, "%s/%s", dir, names[i]->d_name);
		if (stat(path, &st) == 0)
			kind = kind_of(st.st_mode);
		if (s == BF_OK)
			s = each(arg, names[i]->d_name, kind, err);
		free(names[i]);
	}
	free(names);
	return s;
}

static BfStatus
sync_directory(const char *dir, BfError *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return bf_error_errno(err, errno, dir, "open directory");
	rc = fsync(fd);
	close(fd);
	return rc == 0 ? BF_OK : bf_error_errno(err, errno, dir, "sync directory");
}

static BfStatus
host_mkdirs(const BfHost *host, const char *dir, BfError *err)
{
	char path[4096];
	size_t len = strlen(dir);

	if (fault(host, TEST_FAULT_WRITE))
		return io_fault(dir, "create directory", err);
	if (len == 0 || len >= sizeof path || dir[0] != '/')
	{
		bf_error(err, BF_ERR_VALUE, "not an absolute path of less than %zu bytes", sizeof path);
		return bf_error_object(err, dir);
	}
	for (size_t i = 1; i <= len; i++)
	{
		struct stat st;
		char *slash;

		if (i < len && dir[i] != '/')
			continue;
		memcpy(path, dir, i);
		path[i] = '\0';
		if (mkdir(path, 0700) != 0)
		{
			if (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
				continue;
			return bf_error_errno(err, errno, path, "create directory");
		}
		slash = strrchr(path, '/');
		slash[slash == path] = '\0';
		BF_TRY(sync_directory(path, err));
	}
	return BF_OK;
}

static BfStatus
host_rename(const BfHost *host, const char *from, const char *to, BfError *err)
{
	if (fault(host, TEST_FAULT_WRITE))
		return io_fault(to, "rename file", err);
	if (rename(from, to) != 0)
		return bf_error_errno(err, errno, from, "rename file");
	return BF_OK;
}

static BfStatus
host_rename_new(const BfHost *host, const char *from, const char *to, BfError *err)
{
	if (fault(host, TEST_FAULT_WRITE))
		return io_fault(to, "rename file", err);
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return BF_OK;
	if (errno == EEXIST)
	{
		bf_error(err, BF_ERR_CONFLICT, "the file exists already");
		return bf_error_object(err, to);
	}
	return bf_error_errno(err, errno, from, "rename file");
}

static BfStatus
host_unlink(const BfHost *host, const char *path, BfError *err)
{
	if (fault(host, TEST_FAULT_WRITE))
		return io_fault(path, "remove file", err);
	if (unlink(path) != 0 && errno != ENOENT)
		return bf_error_errno(err, errno, path, "remove file");
	return BF_OK;
}

static BfStatus
host_rmdir(const BfHost *host, const char *dir, BfError *err)
{
	if (fault(host, TEST_FAULT_WRITE))
		return io_fault(dir, "remove directory", err);
	if (rmdir(dir) != 0 && errno != ENOENT)
		return bf_error_errno(err, errno, dir, "remove directory");
	return BF_OK;
}

static BfStatus
host_sync_dir(const BfHost *host, const char *dir, BfError *err)
{
	if (fault(host, TEST_FAULT_WRITE))
		return io_fault(dir, "sync directory", err);
	return sync_directory(dir, err);
}

static int64_t
host_now_us(const BfHost *host)
{
	struct timespec ts;

	if (self(host)->clock_us != 0)
		return self(host)->clock_us;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static BfStatus
host_random(const BfHost *host, void *buf, size_t len, BfError *err)
{
	uint64_t *s = &self(host)->random_state;
	uint8_t *p = buf;

	(void) err;
	for (size_t i = 0; i < len; i++)
	{
		*s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		p[i] = (uint8_t) (*s >> 56);
	}
	return BF_OK;
}

static bool
host_cancelled(const BfHost *host)
{
	return fault(host, TEST_FAULT_CANCEL);
}

static void
host_log(const BfHost *host, const char *text)
{
	self(host)->log_lines++;
	if (self(host)->log_print)
		fprintf(stderr, "log: %s\n", text);
}

void
test_host_init(TestHost *h)
{
	memset(h, 0, sizeof *h);
	h->random_state = 1;
	h->host = (BfHost){
		.ctx = h,
		.mem_alloc = host_alloc,
		.mem_free = host_free,
		.open = host_open,
		.close = host_close,
		.file_size = host_file_size,
		.data_end = host_data_end,
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
}

void
test_fault_arm(TestHost *h, TestFault kind, int64_t n, bool sticky)
{
	memset(h->calls, 0, sizeof h->calls);
	h->fault = kind;
	h->fail_at = n;
	h->sticky = sticky;
	h->fired = false;
}

bool
test_fault_fired(TestHost *h)
{
	h->fault = TEST_FAULT_NONE;
	return h->fired;
}

void
test_remove_tree(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL)
	{
		char path[4096];
		struct stat st;

		if (!no_dots(e))
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
			test_remove_tree(path);
		else
			unlink(path);
	}
	if (d != NULL)
		closedir(d);
	rmdir(dir);
}
