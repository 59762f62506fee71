/*
 * base/host.h: the whole outside world, as the core sees it.
 *
 * Core code allocates, opens, reads, writes, waits, and tells the time only through a BfHost
 * (codec libraries aside). Two implementations exist: the server's (pg/server/host.c) and plain
 * POSIX (test/unit/lib/host_posix.c). Callbacks return codes and never longjmp.
 *
 * Paths are absolute local paths without a scheme. Files are small integer handles of the host.
 */
#ifndef BF_BASE_HOST_H
#define BF_BASE_HOST_H

#include "base/status.h"

typedef struct BfHost BfHost;

typedef enum BfOpenMode
{
	BF_OPEN_READ,	   /* must exist and be a regular file */
	BF_OPEN_WRITE,	   /* read and write, created if missing, content kept */
	BF_OPEN_CREATE_NEW /* read and write; BF_ERR_CONFLICT if it exists */
} BfOpenMode;

typedef enum BfPathKind
{
	BF_PATH_MISSING,
	BF_PATH_FILE,
	BF_PATH_DIR,
	BF_PATH_OTHER
} BfPathKind;

typedef struct BfPathInfo
{
	BfPathKind kind;
	int64_t size;
	int64_t mtime_us; /* Unix time */
	uint64_t inode;	  /* with size and mtime the identity of the content for caches */
} BfPathInfo;

/* Is it still the file that it was, for what is kept of its content? */
static inline bool
bf_same_file(const BfPathInfo *a, const BfPathInfo *b)
{
	return a->kind == b->kind && a->size == b->size && a->mtime_us == b->mtime_us &&
		   a->inode == b->inode;
}

/* Called once per directory entry ("." and ".." left out); a status other than BF_OK ends the
 * listing and is returned. The order is that of strcmp on the names. */
typedef BfStatus (*BfListEntry)(void *arg, const char *name, BfPathKind kind, BfError *err);

struct BfHost
{
	void *ctx; /* the implementation's own */

	/* Memory: NULL when there is none. Sizes are given back on free. */
	void *(*mem_alloc)(const BfHost *h, size_t size);
	void (*mem_free)(const BfHost *h, void *ptr, size_t size);

	/* Files. read_at reads exactly `len` bytes or fails (a short file is BF_ERR_CORRUPT with the
	 * offset where it ends); write_at writes all or fails. close never fails: what must be
	 * durable was synced before. */
	BfStatus (*open)(const BfHost *h, const char *path, BfOpenMode mode, int *file, BfError *err);
	void (*close)(const BfHost *h, int file);
	BfStatus (*file_size)(const BfHost *h, int file, int64_t *size, BfError *err);
	/* Where the first hole of a file of that size begins; the size: it has none, or who knows. */
	int64_t (*data_end)(const BfHost *h, int file, int64_t size);
	BfStatus (*read_at)(const BfHost *h, int file, int64_t pos, void *buf, size_t len,
						BfError *err);
	BfStatus (*write_at)(const BfHost *h, int file, int64_t pos, const void *buf, size_t len,
						 BfError *err);
	BfStatus (*truncate)(const BfHost *h, int file, int64_t size, BfError *err);
	BfStatus (*sync)(const BfHost *h, int file, BfError *err); /* fdatasync or better */
	/* Copies bytes between files inside the kernel where it can. */
	BfStatus (*copy_range)(const BfHost *h, int from, int64_t from_pos, int to, int64_t to_pos,
						   int64_t len, BfError *err);

	/* Names. mkdirs makes parents too and is content with an existing directory; every
	 * name on the way that this user may have made is durable on return, whoever made it. rename
	 * replaces; rename_new fails with BF_ERR_CONFLICT if `to` exists. */
	BfStatus (*stat)(const BfHost *h, const char *path, BfPathInfo *info, BfError *err);
	BfStatus (*list)(const BfHost *h, const char *dir, BfListEntry each, void *arg, BfError *err);
	BfStatus (*mkdirs)(const BfHost *h, const char *dir, BfError *err);
	BfStatus (*rename)(const BfHost *h, const char *from, const char *to, BfError *err);
	BfStatus (*rename_new)(const BfHost *h, const char *from, const char *to, BfError *err);
	BfStatus (*unlink)(const BfHost *h, const char *path, BfError *err); /* missing: BF_OK */
	BfStatus (*rmdir)(const BfHost *h, const char *dir, BfError *err);	 /* missing: BF_OK */
	BfStatus (*sync_dir)(const BfHost *h, const char *dir, BfError *err);

	int64_t (*now_us)(const BfHost *h); /* Unix time in microseconds */
	BfStatus (*random)(const BfHost *h, void *buf, size_t len, BfError *err);
	/* Polled in every loop that can run for more than a millisecond. */
	bool (*cancelled)(const BfHost *h);
	/* A line for the operator's log. */
	void (*log)(const BfHost *h, const char *text);
};

/* BF_ERR_CANCEL when the host wants us to stop. */
static inline BfStatus
bf_check_cancel(const BfHost *h, BfError *err)
{
	if (BF_UNLIKELY(h->cancelled(h)))
		return bf_error(err, BF_ERR_CANCEL, "cancelled on request");
	return BF_OK;
}

#endif
