/*
 * exec/read/page_cache.c: see page_cache.h.
 *
 * Pages are found by a hash of all that tells them apart, as a text of 16 digits; what they are is
 * looked at once they are found.
 */
#include "exec/read/page_cache.h"

#include "base/lru.h"
#include "base/map.h"

/* The largest part of the cache that a page may take. */
#define PART_MAX 4
/* What an item takes beside the page and its file's path. */
#define EXTRA 4096

typedef struct Page
{
	BfLruItem item;
	const char *path;
	BfPathInfo info;
	int64_t at;
	const uint8_t *bytes;
} Page;

struct BfPageCache
{
	BfLru lru;
};

/* Of one file that is open. */
typedef struct OfFile
{
	BfParquetKeeper base;
	BfLru *lru;		  /* borrowed */
	const char *path; /* as is all here, of the arena that has the file */
	BfPathInfo info;
	uint64_t hash;
} OfFile;

BfStatus
bf_page_cache_new(const BfHost *host, size_t bytes_max, BfPageCache **out, BfError *err)
{
	BfPageCache *c = host->mem_alloc(host, sizeof *c);

	if (c == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	bf_lru_init(&c->lru, host, bytes_max, NULL);
	*out = c;
	return BF_OK;
}

void
bf_page_cache_free(BfPageCache *c)
{
	const BfHost *host;

	if (c == NULL)
		return;
	bf_lru_clear(&c->lru);
	host = c->lru.host;
	host->mem_free(host, c, sizeof *c);
}

static void
make_room(BfLru *l, size_t bytes)
{
	while (l->bytes + bytes > l->bytes_max && l->oldest != NULL)
		bf_lru_evict(l, l->oldest);
}

void
bf_page_cache_limit(BfPageCache *c, size_t bytes_max)
{
	c->lru.bytes_max = bytes_max;
	make_room(&c->lru, 0);
	BF_ASSERT(c->lru.bytes <= bytes_max);
}

size_t
bf_page_cache_bytes(const BfPageCache *c)
{
	return c->lru.bytes;
}

/* ---- pages of a file ---- */

static void
key_of(const OfFile *f, int64_t at, char key[17])
{
	uint64_t h = bf_hash(f->hash, &at, sizeof at);

	for (int i = 0; i < 16; i++, h >>= 4)
		key[i] = "0123456789abcdef"[h & 15];
	key[16] = '\0';
}

static Page *
look(const OfFile *f, int64_t at, const char *key)
{
	BfLruItem *item = bf_lru_find(f->lru, key, NULL);

	for (; item != NULL; item = bf_lru_find(f->lru, key, item))
	{
		Page *p = (Page *) item;

		BF_ASSERT(p->bytes != NULL);
		if (p->at == at && bf_same_file(&p->info, &f->info) && strcmp(p->path, f->path) == 0)
			return p;
	}
	return NULL;
}

static const uint8_t *
find(BfParquetKeeper *base, BfArena *a, int64_t at)
{
	const OfFile *f = (const OfFile *) base;
	char key[17];
	BfError ignored;
	Page *p;

	if (f->lru->n == 0)
		return NULL;
	key_of(f, at, key);
	p = look(f, at, key);
	if (p == NULL || bf_lru_hold(&p->item, a, &ignored) != BF_OK)
		return NULL;
	bf_lru_touch(f->lru, &p->item);
	return p->bytes;
}

/* All of it in the page's own arena. */
static BfStatus
fill(Page *p, const OfFile *f, int64_t at, const BfView *parts, int32_t n_parts, BfError *err)
{
	BfArena *a = p->item.arena;
	size_t n = 0;
	uint8_t *to;

	for (int32_t i = 0; i < n_parts; i++)
		n += parts[i].len;
	BF_TRY_PTR(a, to, bf_arena_alloc(a, n), err);
	BF_TRY_PTR(a, p->path, bf_arena_strdup(a, f->path), err);
	p->info = f->info;
	p->at = at;
	p->bytes = to;
	for (int32_t i = 0; i < n_parts; i++)
	{
		if (parts[i].len > 0)
			memcpy(to, parts[i].ptr, parts[i].len);
		to += parts[i].len;
	}
	return BF_OK;
}

static void
keep(BfParquetKeeper *base, int64_t at, const BfView *parts, int32_t n_parts)
{
	const OfFile *f = (const OfFile *) base;
	size_t bytes_max = f->lru->bytes_max / PART_MAX;
	BfLruItem *item;
	BfError ignored;
	char key[17];
	Page *before;

	key_of(f, at, key);
	before = look(f, at, key);
	if (before != NULL)
		bf_lru_evict(f->lru, &before->item);
	if (bf_lru_item_new(f->lru, "Parquet page", key, sizeof(Page), bytes_max + EXTRA, &item,
						&ignored) != BF_OK)
		return;
	if (fill((Page *) item, f, at, parts, n_parts, &ignored) != BF_OK ||
		bf_arena_bytes(item->arena) > f->lru->bytes_max)
	{
		bf_lru_item_drop(item);
		return;
	}
	make_room(f->lru, bf_arena_bytes(item->arena));
	bf_lru_insert(f->lru, item);
	BF_ASSERT(f->lru->bytes <= f->lru->bytes_max);
}

BfStatus
bf_page_cache_attach(BfPageCache *c, BfArena *a, const char *path, const BfPathInfo *info,
					 BfParquetFile *file, BfError *err)
{
	OfFile *f;

	BF_NEW(a, f, 1, err);
	BF_TRY_PTR(a, f->path, bf_arena_strdup(a, path), err);
	f->base.find = find;
	f->base.keep = keep;
	f->lru = &c->lru;
	f->info = *info;
	f->hash = bf_hash((uint64_t) info->size, path, strlen(path));
	f->hash = bf_hash(f->hash, &info->mtime_us, sizeof info->mtime_us);
	f->hash = bf_hash(f->hash, &info->inode, sizeof info->inode);
	bf_parquet_keep_pages(file, &f->base);
	return BF_OK;
}
