/*
 * base/arena.h: bump allocation with one lifetime.
 *
 * An arena is made for one lifetime (file, row group, batch) and freed or reset as a whole.
 * Foreign contexts (ZSTD, curl, file handles) are tied to it by clean-up hooks, which run in
 * reverse order of registration. With BF_ARENA_MALLOC defined every allocation is its own
 * block, so that AddressSanitizer sees every bound.
 *
 * Memory is aligned to 16 bytes and not zeroed unless said so. An arena never grows past the
 * bytes_max given at creation.
 */
#ifndef BF_BASE_ARENA_H
#define BF_BASE_ARENA_H

#include "base/host.h"

typedef struct BfArena BfArena;

typedef struct BfArenaMark
{
	void *block;
	size_t used;
	void *hook;
	size_t total;
} BfArenaMark;

/* `name` is a literal and is kept. NULL when the host has no memory. */
extern BfArena *bf_arena_new(const BfHost *host, const char *name, size_t bytes_max);
/* For what is kept for long: grows by an eighth of what it has instead of doubling, so that less of
 * it lies idle. */
extern void bf_arena_dense(BfArena *a);
/* Runs the hooks, gives all memory back. NULL is allowed. */
extern void bf_arena_free(BfArena *a);
/* Runs the hooks, keeps the largest block for reuse. */
extern void bf_arena_reset(BfArena *a);

/* NULL when bytes_max or the host's memory is exhausted; size 0 gives a valid pointer. */
extern void *bf_arena_alloc(BfArena *a, size_t size);
/* count * size with the overflow checked. */
extern void *bf_arena_alloc_array(BfArena *a, size_t count, size_t size);

extern BfArenaMark bf_arena_mark(const BfArena *a);
/* Frees what came after the mark and runs the hooks registered since. */
extern void bf_arena_rewind(BfArena *a, BfArenaMark mark);

typedef void (*BfCleanup)(void *arg);
/* false when there is no memory; then the caller must clean up itself. */
extern bool bf_arena_on_cleanup(BfArena *a, BfCleanup fn, void *arg);

extern const BfHost *bf_arena_host(const BfArena *a);
extern size_t bf_arena_bytes(const BfArena *a);

/* Copies; NUL-terminated. NULL when out of memory. */
extern char *bf_arena_strdup(BfArena *a, const char *s);
extern char *bf_arena_strndup(BfArena *a, const char *s, size_t n);
extern void *bf_arena_memdup(BfArena *a, const void *p, size_t n);
extern char *bf_arena_printf(BfArena *a, const char *fmt, ...) BF_PRINTF(2, 3);

/* Sets err to NOMEM or LIMIT, whichever made the last allocation fail. */
extern BfStatus bf_arena_fail(const BfArena *a, size_t wanted, BfError *err);

/* ptr = count zeroed elements, or return the failure. */
#define BF_NEW(a, ptr, count, err)                                   \
	do                                                               \
	{                                                                \
		size_t bf_new_n_ = (size_t) (count);                         \
		(ptr) = bf_arena_alloc_array((a), bf_new_n_, sizeof *(ptr)); \
		if (BF_UNLIKELY((ptr) == NULL))                              \
			return bf_arena_fail((a), bf_new_n_, (err));             \
		__builtin_memset((ptr), 0, bf_new_n_ * sizeof *(ptr));       \
	} while (0)

/* As BF_NEW, without zeroing: for large buffers that are filled at once. */
#define BF_NEW_RAW(a, ptr, count, err)                               \
	do                                                               \
	{                                                                \
		size_t bf_new_n_ = (size_t) (count);                         \
		(ptr) = bf_arena_alloc_array((a), bf_new_n_, sizeof *(ptr)); \
		if (BF_UNLIKELY((ptr) == NULL))                              \
			return bf_arena_fail((a), bf_new_n_, (err));             \
	} while (0)

/* For the functions above that return NULL when out of memory. */
#define BF_TRY_PTR(a, ptr, expr, err)            \
	do                                           \
	{                                            \
		(ptr) = (expr);                          \
		if (BF_UNLIKELY((ptr) == NULL))          \
			return bf_arena_fail((a), 0, (err)); \
	} while (0)

#endif
