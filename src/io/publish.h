/*
 * io/publish.h: writing files that appear whole or not at all.
 *
 * Bytes go to `<path>.tmp.<random>`; publish syncs, renames into place without replacing and syncs
 * the directory. Freeing the arena before that removes the temporary file.
 */
#ifndef BF_IO_PUBLISH_H
#define BF_IO_PUBLISH_H

#include "base/bytes.h"

typedef struct BfPublish BfPublish;

/* Makes missing parent directories. */
extern BfStatus
bf_publish_begin(BfArena *a, const char *path, BfPublish **out, BfError *err) BF_MUST_CHECK;
/* Appends through a 256 KiB buffer. */
extern BfStatus
bf_publish_write(BfPublish *p, const void *bytes, size_t n, BfError *err) BF_MUST_CHECK;
/* Appends a range of another open file inside the kernel where possible. */
extern BfStatus bf_publish_copy(BfPublish *p, int from_file, int64_t from_pos, int64_t len,
								BfError *err) BF_MUST_CHECK;
extern int64_t bf_publish_position(const BfPublish *p);
/* BF_ERR_CONFLICT when `path` exists already. */
extern BfStatus bf_publish_finish(BfPublish *p, BfError *err) BF_MUST_CHECK;
/* The common case in one call. */
extern BfStatus bf_publish_bytes(BfArena *a, const char *path, const void *bytes, size_t n,
								 BfError *err) BF_MUST_CHECK;

#endif
