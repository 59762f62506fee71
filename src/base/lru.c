/*
 * A list of items by use, newest first, and a hash of their paths. Items that somebody holds
 * outlive their eviction; their bytes count until they are let go.
 */
#include "base/lru.h"

#include <string.h>
#include <xxhash.h>

static uint64_t
hash_of(const char *path)
{
	return XXH3_64bits(path, strlen(path));
}

void
bf_lru_init(BfLru *l, const BfHost *host, size_t bytes_max, void (*release)(BfLruItem *item))
{
	memset(l, 0, sizeof *l);
	l->host = host;
	l->bytes_max = bytes_max;
	l->release = release;
}

BfStatus
bf_lru_item_new(const BfLru *l, const char *what, const char *path, size_t size, size_t arena_max,
				BfLruItem **out, BfError *err)
{
	BfArena *arena = bf_arena_new(l->host, what, arena_max);
	BfLruItem *item;

	BF_ASSERT(size >= sizeof *item);
	*out = NULL;
	if (arena == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	bf_arena_dense(arena);
	item = bf_arena_alloc(arena, size);
	if (item != NULL)
	{
		memset(item, 0, size);
		item->arena = arena;
		item->path = bf_arena_strdup(arena, path);
	}
	if (item == NULL || item->path == NULL)
	{
		BfStatus status = bf_arena_fail(arena, size, err);

		bf_arena_free(arena);
		return status;
	}
	item->hash = hash_of(path);
	*out = item;
	return BF_OK;
}

void
bf_lru_item_drop(BfLruItem *item)
{
	BF_ASSERT(!item->kept && item->holds == 0);
	bf_arena_free(item->arena);
}

static void
link_newest(BfLru *l, BfLruItem *item)
{
	item->newer = NULL;
	item->older = l->newest;
	*(l->newest != NULL ? &l->newest->newer : &l->oldest) = item;
	l->newest = item;
}

static void
unlink_use(BfLru *l, BfLruItem *item)
{
	BF_ASSERT(item->newer != NULL || l->newest == item);
	BF_ASSERT(item->older != NULL || l->oldest == item);
	*(item->newer != NULL ? &item->newer->older : &l->newest) = item->older;
	*(item->older != NULL ? &item->older->newer : &l->oldest) = item->newer;
}

void
bf_lru_insert(BfLru *l, BfLruItem *item)
{
	BfLruItem **bucket = &l->buckets[item->hash % BF_LRU_BUCKETS];

	BF_ASSERT(!item->kept);
	item->bytes = bf_arena_bytes(item->arena);
	item->kept = true;
	item->release = l->release;
	item->next = *bucket;
	*bucket = item;
	link_newest(l, item);
	l->bytes += item->bytes;
	l->n++;
}

/* An item that nobody knows any more. */
static void
free_item(BfLruItem *item)
{
	if (item->release != NULL)
		item->release(item);
	bf_arena_free(item->arena);
}

void
bf_lru_evict(BfLru *l, BfLruItem *item)
{
	BfLruItem **link = &l->buckets[item->hash % BF_LRU_BUCKETS];

	BF_ASSERT(item->kept);
	BF_ASSERT(l->n > 0 && l->bytes >= item->bytes);
	while (*link != item)
		link = &(*link)->next;
	*link = item->next;
	unlink_use(l, item);
	l->bytes -= item->bytes;
	l->n--;
	item->kept = false;
	if (item->holds == 0)
		free_item(item);
}

void
bf_lru_clear(BfLru *l)
{
	while (l->oldest != NULL)
		bf_lru_evict(l, l->oldest);
	BF_ASSERT(l->bytes == 0 && l->n == 0);
}

void
bf_lru_touch(BfLru *l, BfLruItem *item)
{
	BF_ASSERT(item->kept);
	unlink_use(l, item);
	link_newest(l, item);
}

BfLruItem *
bf_lru_find(const BfLru *l, const char *path, const BfLruItem *after)
{
	uint64_t hash = after != NULL ? after->hash : hash_of(path);
	BfLruItem *item = after != NULL ? after->next : l->buckets[hash % BF_LRU_BUCKETS];

	/* Of one that was taken out the next is not known any more. */
	BF_ASSERT(after == NULL || after->kept);
	while (item != NULL && (item->hash != hash || strcmp(item->path, path) != 0))
		item = item->next;
	return item;
}

void
bf_lru_grow(BfLru *l, BfLruItem *item, size_t bytes)
{
	BF_ASSERT(item->kept);
	item->bytes += bytes;
	l->bytes += bytes;
}

void
bf_lru_trim(BfLru *l, int64_t n_max)
{
	BfLruItem *newer;

	BF_ASSERT(n_max >= 1);
	for (BfLruItem *item = l->oldest;
		 item != l->newest && (l->n > n_max || l->bytes > l->bytes_max); item = newer)
	{
		newer = item->newer;
		if (item->holds == 0)
			bf_lru_evict(l, item);
	}
}

void
bf_lru_pin(BfLruItem *item)
{
	BF_ASSERT(item->holds >= 0);
	item->holds++;
}

void
bf_lru_unpin(BfLruItem *item)
{
	BF_ASSERT(item->holds > 0);
	if (--item->holds == 0 && !item->kept)
		free_item(item);
}

static void
unhold(void *arg)
{
	bf_lru_unpin(arg);
}

BfStatus
bf_lru_hold(BfLruItem *item, BfArena *a, BfError *err)
{
	if (!bf_arena_on_cleanup(a, unhold, item))
		return bf_arena_fail(a, 0, err);
	bf_lru_pin(item);
	return BF_OK;
}
