/*
 * pg/server/host_dirs.c: names of files for the core: what is there, directories, renames.
 */
#include "pg/server/host_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_perm.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/fd.h"

static BfPathKind
mode_kind(mode_t mode)
{
	return S_ISREG(mode) ? BF_PATH_FILE : S_ISDIR(mode) ? BF_PATH_DIR : BF_PATH_OTHER;
}

BfStatus
bifang_host_stat(const BfHost *h, const char *path, BfPathInfo *info, BfError *err)
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
	Assert(l->n <= l->cap);
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
list_visit(const BfHost *h, const char *dir, const Names *l, BfListEntry each, void *arg,
		   BfError *err)
{
	char path[MAXPGPATH * 2];

	for (size_t i = 0; i < l->n; i++)
	{
		struct stat st;

		Assert(i == 0 || strcmp(l->name[i - 1], l->name[i]) < 0);
		BF_TRY(bf_check_cancel(h, err));
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

BfStatus
bifang_host_list(const BfHost *h, const char *dir, BfListEntry each, void *arg, BfError *err)
{
	Names l = {0};
	BfStatus st = BF_OK;
	DIR *d;
	struct dirent *de;

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
	{
		if (h->cancelled(h))
			st = bf_check_cancel(h, err);
		else if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0 &&
				 !names_add(&l, de->d_name))
			st = bf_error(err, BF_ERR_NOMEM, "out of memory");
	}
	if (st == BF_OK && errno != 0)
		st = bf_error_errno(err, errno, dir, "read directory");
	closedir(d);
	ReleaseExternalFD();
	if (st == BF_OK)
	{
		if (l.n > 1)
			qsort(l.name, l.n, sizeof *l.name, compare_names);
		st = list_visit(h, dir, &l, each, arg, err);
	}
	for (size_t i = 0; i < l.n; i++)
		free(l.name[i]);
	free(l.name);
	return st;
}

BfStatus
bifang_host_sync_dir(const BfHost *h, const char *dir, BfError *err)
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

/*
 * Directories whose name this process knows to be durable. That a directory is there says nothing:
 * whoever made it may have failed to sync its parent, or be about to. Rather too few than too many:
 * one more sync does no harm.
 */
#define DURABLE_MAX 256

typedef struct DurableDir
{
	dev_t device;
	ino_t inode;
	uint32 path_hash; /* inodes are used again */
} DurableDir;

static DurableDir durable[DURABLE_MAX];
static int next_durable = 0;

static DurableDir
durable_key(const char *path, const struct stat *st)
{
	return (DurableDir){st->st_dev, st->st_ino, string_hash(path, MAXPGPATH)};
}

static bool
is_durable(const char *path, const struct stat *st)
{
	DurableDir key = durable_key(path, st);

	for (int i = 0; i < DURABLE_MAX; i++)
		if (durable[i].inode == key.inode && durable[i].device == key.device &&
			durable[i].path_hash == key.path_hash)
			return true;
	return false;
}

static BfStatus make_dirs(const BfHost *h, char *path, BfError *err);

/* Its name lasts, and those of the directories above. `path` is modified while it works and is
 * whole again on return. */
static BfStatus
name_dir(const BfHost *h, char *path, BfError *err)
{
	char *slash = strrchr(path, '/');
	struct stat st;
	BfStatus status;

	Assert(slash != NULL);
	if (slash != path)
	{
		*slash = '\0';
		status = bifang_host_sync_dir(h, path, err);
		*slash = '/';
		BF_TRY(status);
	}
	if (stat(path, &st) == 0)
		durable[next_durable++ % DURABLE_MAX] = durable_key(path, &st);
	return BF_OK;
}

static BfStatus
make_parents(const BfHost *h, char *path, BfError *err)
{
	char *slash = strrchr(path, '/');
	BfStatus status;

	if (slash == NULL || slash == path)
		return BF_OK;
	*slash = '\0';
	status = make_dirs(h, path, err);
	*slash = '/';
	return status;
}

/* An existing directory: unless another user made it, it may have been one of us just now. */
static BfStatus
rely_on_dir(const BfHost *h, char *path, const struct stat *st, BfError *err)
{
	if (!enableFsync || st->st_uid != geteuid() || strcmp(path, DataDir) == 0 ||
		is_durable(path, st))
		return BF_OK;
	BF_TRY(make_parents(h, path, err));
	return name_dir(h, path, err);
}

/* `path` is modified while it works and is whole again on return. */
static BfStatus
make_dirs(const BfHost *h, char *path, BfError *err)
{
	struct stat st;

	if (stat(path, &st) == 0)
	{
		if (S_ISDIR(st.st_mode))
			return rely_on_dir(h, path, &st, err);
		bf_error(err, BF_ERR_IO, "exists and is not a directory");
		return bf_error_object(err, path);
	}
	BF_TRY(make_parents(h, path, err));
	if (mkdir(path, pg_dir_create_mode) != 0 && errno != EEXIST)
		return bf_error_errno(err, errno, path, "create directory");
	return name_dir(h, path, err);
}

BfStatus
bifang_host_mkdirs(const BfHost *h, const char *dir, BfError *err)
{
	char path[MAXPGPATH];

	if (strlcpy(path, dir, sizeof path) >= sizeof path)
		return bf_error(err, BF_ERR_LIMIT, "path is too long: \"%.100s...\"", dir);
	return make_dirs(h, path, err);
}

BfStatus
bifang_host_rename(const BfHost *h, const char *from, const char *to, BfError *err)
{
	(void) h;
	if (rename(from, to) != 0)
		return bf_error_errno(err, errno, from, "rename");
	return BF_OK;
}

/* link and unlink where the filesystem has no renameat2(RENAME_NOREPLACE). */
BfStatus
bifang_host_rename_new(const BfHost *h, const char *from, const char *to, BfError *err)
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

BfStatus
bifang_host_unlink(const BfHost *h, const char *path, BfError *err)
{
	(void) h;
	if (unlink(path) != 0 && errno != ENOENT)
		return bf_error_errno(err, errno, path, "remove file");
	return BF_OK;
}

BfStatus
bifang_host_rmdir(const BfHost *h, const char *dir, BfError *err)
{
	(void) h;
	if (rmdir(dir) != 0 && errno != ENOENT)
		return bf_error_errno(err, errno, dir, "remove directory");
	return BF_OK;
}
