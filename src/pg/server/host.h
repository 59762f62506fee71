/*
 * pg/server/host.h: the server as the core's outside world.
 *
 * One BfHost per backend. Its callbacks never raise an error and never longjmp; memory comes from
 * malloc, large blocks are kept for reuse (a fresh large mapping costs more in page faults than
 * a small scan takes). Files count against max_files_per_process. An arena hangs on a memory
 * context: when that is reset or deleted, by an error too, the arena runs its hooks and is gone,
 * so files and codec contexts never leak.
 */
#ifndef BIFANG_PG_SERVER_HOST_H
#define BIFANG_PG_SERVER_HOST_H

#include "postgres.h"

#include "base/arena.h"

/* Bounds for arenas whose content is sized by data from outside. */
#define BIFANG_ARENA_MAX_METADATA ((size_t) 1 << 30) /* manifests, footers, schemas */
#define BIFANG_ARENA_MAX_SCAN ((size_t) 2 << 30)	 /* decode buffers of one scan */

extern const BfHost *bifang_host(void);

/* An arena that lives as long as `cxt`'s content. Raises out of memory. `name` is a literal. */
extern BfArena *bifang_arena(MemoryContext cxt, const char *name, size_t bytes_max);
/* Frees such an arena before its context goes; the context's callback then does nothing. */
extern void bifang_arena_free(BfArena *a);

#endif
