#include "exec/footer_cache.h"

#include <xxhash.h>

#define N_BUCKETS 1024
/* A file system may tell times no finer than this. */
#define SETTLED_US 3000000

typedef struct Footer
{
	BfArena *arena; /* owned; the footer itself is in it */
	const char *path;
	uint64_t hash;
	BfPathInfo info;
	size_t bytes;
	int32_t holds;
	bool cached; /* else only those that hold it know it */
	const BfParquetFile *file;
	struct Footer *next;		  /* in the bucket */
	struct Footer *newer, *older; /* in the order of use */
} Footer;

struct BfFooterCache
{
	const BfHost *host; /* borrowed */
	size_t bytes_max;
	size_t bytes;
	Footer *newest, *oldest;
	Footer *buckets[N_BUCKETS];
};

BfStatus
bf_footer_cache_new(const BfHost *host, size_t bytes_max, BfFooterCache **out, BfError *err)
{
	BfFooterCache *c = host->mem_alloc(host, sizeof *c);

	if (c == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	memset(c, 0, sizeof *c);
	c->host = host;
	c->bytes_max = bytes_max;
	*out = c;
	return BF_OK;
}

static void
unlink_use(BfFooterCache *c, Footer *f)
{
	*(f->newer != NULL ? &f->newer->older : &c->newest) = f->older;
	*(f->older != NULL ? &f->older->newer : &c->oldest) = f->newer;
}

static void
link_newest(BfFooterCache *c, Footer *f)
{
	f->newer = NULL;
	f->older = c->newest;
	*(c->newest != NULL ? &c->newest->newer : &c->oldest) = f;
	c->newest = f;
}

static void
evict(BfFooterCache *c, Footer *f)
{
	Footer **link = &c->buckets[f->hash % N_BUCKETS];

	while (*link != f)
		link = &(*link)->next;
	*link = f->next;
	unlink_use(c, f);
	c->bytes -= f->bytes;
	f->cached = false;
	if (f->holds == 0)
		bf_arena_free(f->arena);
}

void
bf_footer_cache_free(BfFooterCache *c)
{
	if (c == NULL)
		return;
	while (c->oldest != NULL)
		evict(c, c->oldest);
	BF_ASSERT(c->bytes == 0);
	c->host->mem_free(c->host, c, sizeof *c);
}

size_t
bf_footer_cache_bytes(const BfFooterCache *c)
{
	return c->bytes;
}

static bool
same_file(const BfPathInfo *a, const BfPathInfo *b)
{
	return a->kind == b->kind && a->size == b->size && a->mtime_us == b->mtime_us &&
		   a->inode == b->inode;
}

static Footer *
find(BfFooterCache *c, const char *path, uint64_t hash)
{
	Footer *f = c->buckets[hash % N_BUCKETS];

	while (f != NULL && (f->hash != hash || strcmp(f->path, path) != 0))
		f = f->next;
	return f;
}

static void
unhold(void *arg)
{
	Footer *f = arg;

	if (--f->holds == 0 && !f->cached)
		bf_arena_free(f->arena);
}

/* The footer over the caller's source, kept as long as the caller's arena. */
static BfStatus
hand_out(Footer *f, BfArena *a, BfSource *source, BfParquetFile **out, BfError *err)
{
	f->holds++;
	if (!bf_arena_on_cleanup(a, unhold, f))
	{
		unhold(f);
		return bf_arena_fail(a, 0, err);
	}
	return bf_parquet_open_known(a, f->file, source, out, err);
}

static void
insert(BfFooterCache *c, Footer *f)
{
	Footer **bucket = &c->buckets[f->hash % N_BUCKETS];

	f->bytes = bf_arena_bytes(f->arena);
	if (f->bytes > c->bytes_max / 2)
		return;
	while (c->bytes + f->bytes > c->bytes_max)
		evict(c, c->oldest);
	f->cached = true;
	f->next = *bucket;
	*bucket = f;
	link_newest(c, f);
	c->bytes += f->bytes;
}

/* Decodes into an arena of its own; the caller's part is done when *out is set. */
static BfStatus
decode(BfFooterCache *c, const char *path, BfSource *source, Footer **out, BfError *err)
{
	BfArena *arena = bf_arena_new(c->host, "footer", (size_t) 1 << 30);
	BfParquetFile *file;
	Footer *f = NULL;
	BfStatus status;

	*out = NULL;
	if (arena == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	bf_arena_dense(arena);
	f = bf_arena_alloc(arena, sizeof *f);
	if (f != NULL)
		memset(f, 0, sizeof *f);
	if (f == NULL || (f->path = bf_arena_strdup(arena, path)) == NULL)
		status = bf_arena_fail(arena, 0, err);
	else
		status = bf_parquet_open(arena, source, NULL, &file, err);
	if (status != BF_OK)
	{
		bf_arena_free(arena);
		return status;
	}
	f->arena = arena;
	f->file = file;
	*out = f;
	return BF_OK;
}

static BfStatus
open_new(BfFooterCache *c, BfArena *a, const char *path, uint64_t hash, const BfPathInfo *info,
		 BfSource *source, BfParquetFile **out, BfError *err)
{
	const BfHost *host = c->host;
	BfPathInfo after;
	BfError ignored;
	Footer *f;

	BF_TRY(decode(c, path, source, &f, err));
	f->hash = hash;
	f->info = *info;
	if (info->mtime_us < host->now_us(host) - SETTLED_US &&
		host->stat(host, path, &after, &ignored) == BF_OK && same_file(info, &after))
		insert(c, f);
	return hand_out(f, a, source, out, err);
}

BfStatus
bf_footer_open(BfFooterCache *c, BfArena *a, const char *path, BfIoCounters *io,
			   BfParquetFile **out, BfError *err)
{
	BfPathInfo before, after;
	BfSource *source;
	uint64_t hash;
	Footer *f;

	if (c == NULL)
	{
		BF_TRY(bf_source_open(a, path, io, &source, err));
		return bf_parquet_open(a, source, NULL, out, err);
	}
	BF_TRY(c->host->stat(c->host, path, &before, err));
	BF_TRY(bf_source_open(a, path, io, &source, err));
	BF_TRY(c->host->stat(c->host, path, &after, err));
	if (!same_file(&before, &after) || before.size != bf_source_size(source))
		return bf_parquet_open(a, source, NULL, out, err);
	hash = XXH3_64bits(path, strlen(path));
	f = find(c, path, hash);
	if (f != NULL && same_file(&f->info, &before))
	{
		unlink_use(c, f);
		link_newest(c, f);
		if (io != NULL)
			io->footers_cached++;
		return hand_out(f, a, source, out, err);
	}
	if (f != NULL)
		evict(c, f);
	return open_new(c, a, path, hash, &before, source, out, err);
}
