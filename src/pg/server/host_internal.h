/*
 * pg/server/host_internal.h: the callbacks of the host, which host.c makes one of; each does what
 * base/host.h says of its member and raises nothing. And what their files share.
 */
#ifndef BIFANG_PG_SERVER_HOST_INTERNAL_H
#define BIFANG_PG_SERVER_HOST_INTERNAL_H

#include "postgres.h"

#include "storage/fd.h"

#include "base/host.h"

/* --- host_dirty.c -------------------------------------------------------------------------------
 */

/* -1, errno says why. Valid until another file is opened. */
extern int bifang_raw_descriptor(File file);
/* Before a file is written or cut. */
extern BfStatus bifang_dirty_hold(File file, BfError *err) BF_MUST_CHECK;
/* All that was written is durable, or false with errno; once false, always so. */
extern bool bifang_dirty_sync(File file);
/* Before a file is closed. */
extern void bifang_dirty_forget(File file);

/* --- the callbacks ------------------------------------------------------------------------------
 */

extern void *bifang_host_alloc(const BfHost *h, size_t size);
extern void bifang_host_free(const BfHost *h, void *ptr, size_t size);
extern BfStatus
bifang_host_open(const BfHost *h, const char *path, BfOpenMode mode, int *file, BfError *err);
extern void bifang_host_close(const BfHost *h, int file);
extern BfStatus bifang_host_file_size(const BfHost *h, int file, int64_t *size, BfError *err);
extern int64_t bifang_host_data_end(const BfHost *h, int file, int64_t size);
extern BfStatus
bifang_host_read_at(const BfHost *h, int file, int64_t pos, void *buf, size_t len, BfError *err);
extern BfStatus bifang_host_write_at(const BfHost *h, int file, int64_t pos, const void *buf,
									 size_t len, BfError *err);
extern BfStatus bifang_host_truncate(const BfHost *h, int file, int64_t size, BfError *err);
extern BfStatus bifang_host_sync(const BfHost *h, int file, BfError *err);
extern BfStatus bifang_host_copy_range(const BfHost *h, int from, int64_t from_pos, int to,
									   int64_t to_pos, int64_t len, BfError *err);
extern BfStatus bifang_host_stat(const BfHost *h, const char *path, BfPathInfo *info, BfError *err);
extern BfStatus
bifang_host_list(const BfHost *h, const char *dir, BfListEntry each, void *arg, BfError *err);
extern BfStatus bifang_host_sync_dir(const BfHost *h, const char *dir, BfError *err);
extern BfStatus bifang_host_mkdirs(const BfHost *h, const char *dir, BfError *err);
extern BfStatus bifang_host_rename(const BfHost *h, const char *from, const char *to, BfError *err);
extern BfStatus
bifang_host_rename_new(const BfHost *h, const char *from, const char *to, BfError *err);
extern BfStatus bifang_host_unlink(const BfHost *h, const char *path, BfError *err);
extern BfStatus bifang_host_rmdir(const BfHost *h, const char *dir, BfError *err);

#endif
