/*
 * base/lru.h: what one process has decoded, kept for the next time by path.
 *
 * The base of a cache. An item is made with an arena of its own, filled by the caller, and then
 * put in or dropped; what was not used for the longest time goes first. Who uses an item beyond
 * the next call holds it: it stays until the holder's arena is freed, also when the cache has let
 * go of it. Not for several threads at once.
 *
 * Several items may have one path; the caller knows which it means.
 */
#ifndef BF_BASE_LRU_H
#define BF_BASE_LRU_H

#include "base/arena.h"

#define BF_LRU_BUCKETS 4096

/* Begins the caller's struct. */
typedef struct BfLruItem
{
	BfArena *arena; /* owned; the item itself is in it */
	const char *path;
	uint64_t hash;
	size_t bytes; /* what it counts for */
	int32_t holds;
	bool kept;								 /* else only those that hold it know it */
	void (*release)(struct BfLruItem *item); /* of the cache, which may be gone by then */
	struct BfLruItem *next;					 /* in the bucket */
	struct BfLruItem *newer, *older;		 /* in the order of use */
} BfLruItem;

typedef struct BfLru
{
	const BfHost *host; /* borrowed */
	size_t bytes_max;
	size_t bytes;
	int64_t n;
	BfLruItem *newest, *oldest;
	/* Frees what an item has beside its arena; NULL = nothing. */
	void (*release)(BfLruItem *item);
	BfLruItem *buckets[BF_LRU_BUCKETS];
} BfLru;

extern void
bf_lru_init(BfLru *l, const BfHost *host, size_t bytes_max, void (*release)(BfLruItem *item));
/* Lets go of all. */
extern void bf_lru_clear(BfLru *l);

/* A new item of `size` zero bytes, with its path; its arena takes at most arena_max. `what` is the
 * arena's name. */
extern BfStatus bf_lru_item_new(const BfLru *l, const char *what, const char *path, size_t size,
								size_t arena_max, BfLruItem **out, BfError *err) BF_MUST_CHECK;
/* Frees one that was not put in. */
extern void bf_lru_item_drop(BfLruItem *item);

/* Puts it in; makes no room. item->bytes is set to what its arena has taken. */
extern void bf_lru_insert(BfLru *l, BfLruItem *item);
/* Takes it out; it is freed now or with its last holder. */
extern void bf_lru_evict(BfLru *l, BfLruItem *item);
/* It is the newest now. */
extern void bf_lru_touch(BfLru *l, BfLruItem *item);
/* The next one of that path behind `after` (NULL: the first); NULL = none. */
extern BfLruItem *bf_lru_find(const BfLru *l, const char *path, const BfLruItem *after);
/* It counts for that many bytes more. */
extern void bf_lru_grow(BfLru *l, BfLruItem *item, size_t bytes);
/* Takes out what nobody holds, from the oldest on, until at most n_max are left and their bytes
 * fit; never the newest. */
extern void bf_lru_trim(BfLru *l, int64_t n_max);
/* It stays until the arena is freed. */
extern BfStatus bf_lru_hold(BfLruItem *item, BfArena *a, BfError *err) BF_MUST_CHECK;
/* The same for holders without an arena, who let go by themselves. */
extern void bf_lru_pin(BfLruItem *item);
extern void bf_lru_unpin(BfLruItem *item);

#endif
