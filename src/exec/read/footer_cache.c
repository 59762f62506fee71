/*
 * exec/read/footer_cache.c: see footer_cache.h.
 */
#include "exec/read/footer_cache.h"

#include "base/lru.h"

/* A file system may tell times no finer than this. */
#define SETTLED_US 3000000
#define FOOTER_BYTES_MAX ((size_t) 1 << 30)

typedef struct Footer
{
	BfLruItem item;
	BfPathInfo info;
	const BfParquetFile *file;
} Footer;

struct BfFooterCache
{
	BfLru lru;
	BfPageCache *pages; /* borrowed; NULL: none */
};

BfStatus
bf_footer_cache_new(const BfHost *host, size_t bytes_max, BfFooterCache **out, BfError *err)
{
	BfFooterCache *c = host->mem_alloc(host, sizeof *c);

	if (c == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	bf_lru_init(&c->lru, host, bytes_max, NULL);
	c->pages = NULL;
	*out = c;
	return BF_OK;
}

void
bf_footer_cache_free(BfFooterCache *c)
{
	const BfHost *host;

	if (c == NULL)
		return;
	bf_lru_clear(&c->lru);
	host = c->lru.host;
	host->mem_free(host, c, sizeof *c);
}

size_t
bf_footer_cache_bytes(const BfFooterCache *c)
{
	return c->lru.bytes;
}

void
bf_footer_cache_keep_pages(BfFooterCache *c, BfPageCache *pages)
{
	c->pages = pages;
}

/* The footer over the caller's source, kept as long as the caller's arena. */
static BfStatus
hand_out(const BfFooterCache *c, Footer *f, BfArena *a, BfSource *source, BfParquetFile **out,
		 BfError *err)
{
	BF_ASSERT(f->file != NULL);
	BF_TRY(bf_lru_hold(&f->item, a, err));
	BF_TRY(bf_parquet_open_known(a, f->file, source, out, err));
	if (c->pages == NULL || !f->item.kept)
		return BF_OK;
	return bf_page_cache_attach(c->pages, a, f->item.path, &f->info, *out, err);
}

static void
insert(BfLru *l, Footer *f)
{
	size_t bytes = bf_arena_bytes(f->item.arena);

	if (bytes > l->bytes_max / 2)
		return;
	BF_ASSERT(!f->item.kept);
	while (l->bytes + bytes > l->bytes_max)
		bf_lru_evict(l, l->oldest);
	bf_lru_insert(l, &f->item);
	BF_ASSERT(l->bytes <= l->bytes_max);
}

/* Decodes into an arena of its own; the caller's part is done when *out is set. */
static BfStatus
decode(const BfLru *l, const char *path, BfSource *source, Footer **out, BfError *err)
{
	BfLruItem *item;
	BfParquetFile *file;
	BfStatus status;

	BF_TRY(bf_lru_item_new(l, "footer", path, sizeof(Footer), FOOTER_BYTES_MAX, &item, err));
	status = bf_parquet_open(item->arena, source, NULL, &file, err);
	if (status != BF_OK)
	{
		bf_lru_item_drop(item);
		return status;
	}
	*out = (Footer *) item;
	(*out)->file = file;
	return BF_OK;
}

static BfStatus
open_new(BfFooterCache *c, BfArena *a, const char *path, const BfPathInfo *info, BfSource *source,
		 BfParquetFile **out, BfError *err)
{
	BfLru *l = &c->lru;
	const BfHost *host = l->host;
	BfPathInfo after;
	BfError ignored;
	BfStatus status;
	Footer *f;

	BF_ASSERT(info->size == bf_source_size(source));
	BF_TRY(decode(l, path, source, &f, err));
	f->info = *info;
	if (info->mtime_us < host->now_us(host) - SETTLED_US &&
		host->stat(host, path, &after, &ignored) == BF_OK && bf_same_file(info, &after))
		insert(l, f);
	status = hand_out(c, f, a, source, out, err);
	if (!f->item.kept && f->item.holds == 0)
		bf_lru_item_drop(&f->item);
	return status;
}

BfStatus
bf_footer_open(BfFooterCache *c, BfArena *a, const char *path, BfIoCounters *io,
			   BfParquetFile **out, BfError *err)
{
	BfPathInfo before, after;
	BfSource *source;
	BfLru *l;
	BfLruItem *item;

	if (c == NULL)
	{
		BF_TRY(bf_source_open(a, path, io, &source, err));
		return bf_parquet_open(a, source, NULL, out, err);
	}
	l = &c->lru;
	BF_TRY(l->host->stat(l->host, path, &before, err));
	BF_TRY(bf_source_open(a, path, io, &source, err));
	BF_TRY(l->host->stat(l->host, path, &after, err));
	if (!bf_same_file(&before, &after) || before.size != bf_source_size(source))
		return bf_parquet_open(a, source, NULL, out, err);
	item = bf_lru_find(l, path, NULL);
	if (item != NULL && bf_same_file(&((Footer *) item)->info, &before))
	{
		bf_lru_touch(l, item);
		if (io != NULL)
			io->footers_cached++;
		return hand_out(c, (Footer *) item, a, source, out, err);
	}
	if (item != NULL)
		bf_lru_evict(l, item);
	return open_new(c, a, path, &before, source, out, err);
}

const BfParquetFile *
bf_footer_peek(const BfFooterCache *c, const char *path, int64_t size)
{
	const BfLruItem *item = c == NULL ? NULL : bf_lru_find(&c->lru, path, NULL);
	const Footer *f = (const Footer *) item;

	BF_ASSERT(f == NULL || f->file != NULL);
	return f == NULL || f->info.size != size ? NULL : f->file;
}
