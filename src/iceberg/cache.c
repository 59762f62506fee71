#include <stddef.h>

#include "iceberg/cache_internal.h"
#include "iceberg/internal.h"

#define N_BUCKETS 4096

struct BfiCacheItem
{
	BfArena *arena; /* owned; the item itself is in it */
	const char *path;
	uint64_t hash;
	size_t bytes;
	int64_t plan;				 /* the last that used it */
	BfiCacheItem *next;			 /* in the bucket */
	BfiCacheItem *newer, *older; /* in the order of use */
	bool is_list;
	bool evicted; /* only plans hold it */
	int32_t holds;
	BfiManifestData data;
	/* What the data was made with. */
	BfIceManifest manifest; /* numbers only */
	const char *location;
	int32_t spec_id;
	int32_t n_types;
	BfType *types;
	/* Of a list. */
	BfIceManifest *manifests;
	int32_t n_manifests;
};

struct BfIceCache
{
	const BfHost *host; /* borrowed */
	size_t bytes_max;
	size_t bytes;
	size_t bytes_of_plan; /* of items that the current plan used */
	int64_t plan;
	int64_t n;
	int64_t hits, misses, evicted;
	BfiCacheItem *newest, *oldest;
	BfiCacheItem *buckets[N_BUCKETS];
};

BfStatus
bf_ice_cache_new(const BfHost *host, size_t bytes_max, BfIceCache **out, BfError *err)
{
	BfIceCache *c = host->mem_alloc(host, sizeof *c);

	if (c == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	memset(c, 0, sizeof *c);
	c->host = host;
	c->bytes_max = bytes_max;
	*out = c;
	return BF_OK;
}

static BfiCacheItem **
bucket_of(BfIceCache *c, uint64_t hash)
{
	return &c->buckets[hash % N_BUCKETS];
}

static void
unlink_use(BfIceCache *c, BfiCacheItem *item)
{
	*(item->newer != NULL ? &item->newer->older : &c->newest) = item->older;
	*(item->older != NULL ? &item->older->newer : &c->oldest) = item->newer;
}

static void
link_newest(BfIceCache *c, BfiCacheItem *item)
{
	item->newer = NULL;
	item->older = c->newest;
	*(c->newest != NULL ? &c->newest->newer : &c->oldest) = item;
	c->newest = item;
}

static void
free_item(BfiCacheItem *item)
{
	bfi_index_free(&item->data);
	bf_arena_free(item->arena);
}

static void
evict(BfIceCache *c, BfiCacheItem *item)
{
	BfiCacheItem **link = bucket_of(c, item->hash);

	while (*link != item)
		link = &(*link)->next;
	*link = item->next;
	unlink_use(c, item);
	c->bytes -= item->bytes;
	if (item->plan == c->plan)
		c->bytes_of_plan -= item->bytes;
	c->n--;
	item->evicted = true;
	if (item->holds == 0)
		free_item(item);
}

static BfiCacheItem *
item_of(const BfiManifestData *data)
{
	return (BfiCacheItem *) (uintptr_t) ((const uint8_t *) data - offsetof(BfiCacheItem, data));
}

static void
unhold(void *arg)
{
	BfiCacheItem *item = arg;

	if (--item->holds == 0 && item->evicted)
		free_item(item);
}

BfStatus
bfi_cache_hold(const BfiManifestData *data, BfArena *a, BfError *err)
{
	BfiCacheItem *item = item_of(data);

	if (!bf_arena_on_cleanup(a, unhold, item))
		return bf_arena_fail(a, 0, err);
	item->holds++;
	return BF_OK;
}

void
bf_ice_cache_clear(BfIceCache *c)
{
	while (c->oldest != NULL)
		evict(c, c->oldest);
	BF_ASSERT(c->bytes == 0 && c->n == 0);
}

void
bf_ice_cache_free(BfIceCache *c)
{
	if (c == NULL)
		return;
	bf_ice_cache_clear(c);
	c->host->mem_free(c->host, c, sizeof *c);
}

void
bf_ice_cache_stats(const BfIceCache *c, BfIceCacheStats *out)
{
	*out = (BfIceCacheStats){.bytes = c->bytes,
							 .items = c->n,
							 .hits = c->hits,
							 .misses = c->misses,
							 .evicted = c->evicted};
}

void
bfi_cache_plan(BfIceCache *c)
{
	c->plan++;
	c->bytes_of_plan = 0;
}

static void
touch(BfIceCache *c, BfiCacheItem *item)
{
	if (item->plan != c->plan)
	{
		item->plan = c->plan;
		c->bytes_of_plan += item->bytes;
	}
	unlink_use(c, item);
	link_newest(c, item);
}

static bool
same_location(const BfIceTable *t, const char *text)
{
	const BfLocation *l = &t->location;
	const char *parts[] = {l->recorded, l->found, l->map != NULL ? l->map->text : ""};

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
	{
		size_t n = strlen(parts[i]);

		if (strncmp(text, parts[i], n) != 0 || text[n] != '\n')
			return false;
		text += n + 1;
	}
	return *text == '\0';
}

/* Would the manifest be decoded to the same data for this table? */
static bool
same_reading(const BfiCacheItem *item, const BfIceTable *t, const BfIceManifest *m)
{
	const BfIceManifest *k = &item->manifest;
	const BfIceSpec *spec;

	if (k->length != m->length || k->spec_id != m->spec_id || k->deletes != m->deletes ||
		k->sequence_number != m->sequence_number || k->added_snapshot_id != m->added_snapshot_id ||
		k->first_row_id != m->first_row_id || !same_location(t, item->location))
		return false;
	if (item->data.n == 0)
		return true;
	spec = bf_ice_spec(t->metadata, item->spec_id);
	if (spec == NULL || spec->n_fields != item->n_types)
		return false;
	for (int32_t i = 0; i < spec->n_fields; i++)
	{
		BfType type;

		if (bfi_partition_type(t->metadata, &spec->fields[i], &type) != BF_OK)
			type = BF_TYPE(NULL);
		if (!bf_type_equal(type, item->types[i]))
			return false;
	}
	return true;
}

static BfiCacheItem *
find(BfIceCache *c, const char *path, bool is_list)
{
	uint64_t hash = bfi_hash(path, strlen(path));
	BfiCacheItem *item = *bucket_of(c, hash);

	while (item != NULL &&
		   (item->hash != hash || item->is_list != is_list || strcmp(item->path, path) != 0))
		item = item->next;
	return item;
}

BfiManifestData *
bfi_cache_find_manifest(BfIceCache *c, const BfIceTable *t, const BfIceManifest *m,
						const char *path)
{
	BfiCacheItem *item = find(c, path, false);

	if (item != NULL && !same_reading(item, t, m))
	{
		/* The same path twice in one plan with other numbers: the first may be in use. */
		if (item->plan != c->plan)
			evict(c, item);
		item = NULL;
	}
	if (item == NULL)
	{
		c->misses++;
		return NULL;
	}
	c->hits++;
	touch(c, item);
	return &item->data;
}

bool
bfi_cache_find_list(BfIceCache *c, const char *path, const BfIceManifest **out, int32_t *n)
{
	BfiCacheItem *item = find(c, path, true);

	if (item == NULL)
	{
		c->misses++;
		return false;
	}
	c->hits++;
	touch(c, item);
	*out = item->manifests;
	*n = item->n_manifests;
	return true;
}

BfStatus
bfi_cache_begin(BfIceCache *c, const char *path, BfiCacheItem **out, BfError *err)
{
	BfArena *arena;
	BfiCacheItem *item;

	*out = NULL;
	if (c->bytes_of_plan >= c->bytes_max)
		return BF_OK;
	arena = bf_arena_new(c->host, "cached manifest", c->bytes_max - c->bytes_of_plan);
	if (arena == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	bf_arena_dense(arena);
	item = bf_arena_alloc(arena, sizeof *item);
	if (item != NULL)
	{
		memset(item, 0, sizeof *item);
		item->arena = arena;
		item->path = bf_arena_strdup(arena, path);
	}
	if (item == NULL || item->path == NULL)
	{
		BfStatus status = bf_arena_fail(arena, sizeof *item, err);

		bf_arena_free(arena);
		return status == BF_ERR_LIMIT ? BF_OK : status;
	}
	item->hash = bfi_hash(path, strlen(path));
	*out = item;
	return BF_OK;
}

BfArena *
bfi_cache_arena(BfiCacheItem *item)
{
	return item->arena;
}

BfiManifestData *
bfi_cache_data(BfiCacheItem *item)
{
	return &item->data;
}

void
bfi_cache_drop(BfiCacheItem *item)
{
	bf_arena_free(item->arena);
}

/* Among what the plan does not use. */
static void
make_room(BfIceCache *c, size_t bytes)
{
	while (c->oldest != NULL && c->oldest->plan != c->plan && c->bytes + bytes > c->bytes_max)
	{
		evict(c, c->oldest);
		c->evicted++;
	}
}

bool
bfi_cache_room(BfIceCache *c, size_t bytes)
{
	if (bytes > c->bytes_max - c->bytes_of_plan)
		return false;
	make_room(c, bytes);
	return true;
}

void
bfi_cache_grown(BfIceCache *c, BfiManifestData *data, size_t bytes)
{
	item_of(data)->bytes += bytes;
	c->bytes += bytes;
	c->bytes_of_plan += bytes;
	BF_ASSERT(c->bytes <= c->bytes_max);
}

/* There is room enough to be made, or the arena would have failed. */
static void
insert(BfIceCache *c, BfiCacheItem *item)
{
	BfiCacheItem **bucket = bucket_of(c, item->hash);

	item->bytes = bf_arena_bytes(item->arena);
	make_room(c, item->bytes);
	item->plan = c->plan;
	item->next = *bucket;
	*bucket = item;
	link_newest(c, item);
	c->bytes += item->bytes;
	c->bytes_of_plan += item->bytes;
	c->n++;
	BF_ASSERT(c->bytes <= c->bytes_max);
}

static BfStatus
fill_key(BfiCacheItem *item, const BfIceTable *t, const BfIceManifest *m, BfError *err)
{
	const BfLocation *l = &t->location;
	const BfIceSpec *spec;

	item->manifest = *m;
	item->manifest.path = item->path;
	item->manifest.partitions = NULL;
	item->manifest.key_metadata = (BfView){NULL, 0};
	BF_TRY_PTR(item->arena, item->location,
			   bf_arena_printf(item->arena, "%s\n%s\n%s\n", l->recorded, l->found,
							   l->map != NULL ? l->map->text : ""),
			   err);
	if (item->data.n == 0)
		return BF_OK;
	item->spec_id = item->data.entries[0].spec_id;
	spec = bf_ice_spec(t->metadata, item->spec_id);
	BF_NEVER(err, spec == NULL);
	item->n_types = spec->n_fields;
	BF_NEW(item->arena, item->types, spec->n_fields, err);
	for (int32_t i = 0; i < spec->n_fields; i++)
		if (bfi_partition_type(t->metadata, &spec->fields[i], &item->types[i]) != BF_OK)
			item->types[i] = BF_TYPE(NULL);
	return BF_OK;
}

BfStatus
bfi_cache_keep_manifest(BfIceCache *c, BfiCacheItem *item, const BfIceTable *t,
						const BfIceManifest *m, BfiManifestData **out, BfError *err)
{
	BfStatus status = fill_key(item, t, m, err);

	*out = NULL;
	if (status != BF_OK)
	{
		bfi_cache_drop(item);
		return status == BF_ERR_LIMIT ? BF_OK : status;
	}
	insert(c, item);
	*out = &item->data;
	return BF_OK;
}

void
bfi_cache_keep_list(BfIceCache *c, BfiCacheItem *item, BfIceManifest *manifests, int32_t n)
{
	item->is_list = true;
	item->manifests = manifests;
	item->n_manifests = n;
	insert(c, item);
}
