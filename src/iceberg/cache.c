/*
 * Decoded manifests and lists by path, the least used go first. What a plan uses is held by its
 * arena; what another table of the same files would read differently is decoded again.
 */
#include <stddef.h>

#include "base/lru.h"
#include "iceberg/cache_internal.h"
#include "iceberg/internal.h"

typedef enum ItemKind
{
	ITEM_MANIFEST,
	ITEM_LIST,
	ITEM_MARK
} ItemKind;

struct BfiCacheItem
{
	BfLruItem item;
	int64_t plan; /* the last that used it */
	ItemKind kind;
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

/* An item of the list is what an entry of the cache begins with. */
_Static_assert(offsetof(BfiCacheItem, item) == 0, "a BfLruItem is cast to its BfiCacheItem");

struct BfIceCache
{
	BfLru lru;
	uint64_t seed;
	size_t bytes_of_plan; /* of items that the current plan used */
	int64_t plan;
	int64_t hits, misses, evicted;
};

/* Indexes have arenas of their own. */
static void
release(BfLruItem *item)
{
	BfiManifestData *data = &((BfiCacheItem *) item)->data;

	for (int32_t i = 0; i < data->n_indexes; i++)
		bf_arena_free(data->indexes[i].arena);
	data->n_indexes = 0;
}

BfStatus
bf_ice_cache_new(const BfHost *host, size_t bytes_max, BfIceCache **out, BfError *err)
{
	BfIceCache *c;
	uint64_t seed;

	BF_TRY(host->random(host, &seed, sizeof seed, err));
	c = host->mem_alloc(host, sizeof *c);
	if (c == NULL)
		BF_FAIL(err, BF_ERR_NOMEM, "out of memory");
	memset(c, 0, sizeof *c);
	c->seed = seed;
	bf_lru_init(&c->lru, host, bytes_max, release);
	*out = c;
	return BF_OK;
}

static void
evict(BfIceCache *c, BfiCacheItem *item)
{
	BF_ASSERT(item->item.kept);
	if (item->plan == c->plan)
	{
		BF_ASSERT(c->bytes_of_plan >= item->item.bytes);
		c->bytes_of_plan -= item->item.bytes;
	}
	bf_lru_evict(&c->lru, &item->item);
}

static BfiCacheItem *
item_of(const BfiManifestData *data)
{
	return (BfiCacheItem *) (uintptr_t) ((const uint8_t *) data - offsetof(BfiCacheItem, data));
}

BfStatus
bfi_cache_hold(const BfiManifestData *data, BfArena *a, BfError *err)
{
	return bf_lru_hold(&item_of(data)->item, a, err);
}

void
bf_ice_cache_clear(BfIceCache *c)
{
	bf_lru_clear(&c->lru);
	c->bytes_of_plan = 0;
}

void
bf_ice_cache_free(BfIceCache *c)
{
	const BfHost *host;

	if (c == NULL)
		return;
	bf_ice_cache_clear(c);
	host = c->lru.host;
	host->mem_free(host, c, sizeof *c);
}

void
bf_ice_cache_stats(const BfIceCache *c, BfIceCacheStats *out)
{
	*out = (BfIceCacheStats){.bytes = c->lru.bytes,
							 .items = c->lru.n,
							 .hits = c->hits,
							 .misses = c->misses,
							 .evicted = c->evicted};
}

uint64_t
bfi_cache_seed(const BfIceCache *c)
{
	return c->seed;
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
		c->bytes_of_plan += item->item.bytes;
		BF_ASSERT(c->bytes_of_plan <= c->lru.bytes);
	}
	bf_lru_touch(&c->lru, &item->item);
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
find(BfIceCache *c, const char *path, ItemKind kind)
{
	BfLruItem *item = bf_lru_find(&c->lru, path, NULL);

	while (item != NULL && ((BfiCacheItem *) item)->kind != kind)
		item = bf_lru_find(&c->lru, path, item);
	return (BfiCacheItem *) item;
}

BfiManifestData *
bfi_cache_find_manifest(BfIceCache *c, const BfIceTable *t, const BfIceManifest *m,
						const char *path)
{
	BfiCacheItem *item = find(c, path, ITEM_MANIFEST);

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
	BfiCacheItem *item = find(c, path, ITEM_LIST);

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

bool
bfi_cache_find_mark(BfIceCache *c, const char *path)
{
	BfiCacheItem *item = find(c, path, ITEM_MARK);

	if (item != NULL)
		touch(c, item);
	return item != NULL;
}

BfStatus
bfi_cache_begin(BfIceCache *c, const char *path, BfiCacheItem **out, BfError *err)
{
	BfLru *l = &c->lru;
	BfLruItem *item;
	BfStatus status;

	*out = NULL;
	if (c->bytes_of_plan >= l->bytes_max)
		return BF_OK;
	status = bf_lru_item_new(l, "cached manifest", path, sizeof(BfiCacheItem),
							 l->bytes_max - c->bytes_of_plan, &item, err);
	if (status == BF_OK)
		*out = (BfiCacheItem *) item;
	return status == BF_ERR_LIMIT ? BF_OK : status;
}

BfArena *
bfi_cache_arena(BfiCacheItem *item)
{
	return item->item.arena;
}

BfiManifestData *
bfi_cache_data(BfiCacheItem *item)
{
	return &item->data;
}

void
bfi_cache_drop(BfiCacheItem *item)
{
	bf_lru_item_drop(&item->item);
}

/* Among what the plan does not use. */
static void
make_room(BfIceCache *c, size_t bytes)
{
	BfLru *l = &c->lru;

	BF_ASSERT(c->bytes_of_plan <= l->bytes && l->bytes <= l->bytes_max);
	while (l->bytes + bytes > l->bytes_max && l->oldest != NULL &&
		   ((BfiCacheItem *) l->oldest)->plan != c->plan)
	{
		bf_lru_evict(l, l->oldest);
		c->evicted++;
	}
}

bool
bfi_cache_room(BfIceCache *c, size_t bytes)
{
	if (bytes > c->lru.bytes_max - c->bytes_of_plan)
		return false;
	make_room(c, bytes);
	return true;
}

void
bfi_cache_grown(BfIceCache *c, BfiManifestData *data, size_t bytes)
{
	BF_ASSERT(item_of(data)->plan == c->plan);
	bf_lru_grow(&c->lru, &item_of(data)->item, bytes);
	c->bytes_of_plan += bytes;
	BF_ASSERT(c->lru.bytes <= c->lru.bytes_max);
}

/* There is room enough to be made, or the arena would have failed. */
static void
insert(BfIceCache *c, BfiCacheItem *item)
{
	BF_ASSERT(!item->item.kept);
	make_room(c, bf_arena_bytes(item->item.arena));
	item->plan = c->plan;
	bf_lru_insert(&c->lru, &item->item);
	c->bytes_of_plan += item->item.bytes;
	BF_ASSERT(c->lru.bytes <= c->lru.bytes_max);
}

static BfStatus
fill_key(BfiCacheItem *item, const BfIceTable *t, const BfIceManifest *m, BfError *err)
{
	const BfLocation *l = &t->location;
	const BfIceSpec *spec;

	item->manifest = *m;
	item->manifest.path = item->item.path;
	item->manifest.partitions = NULL;
	item->manifest.key_metadata = (BfView){NULL, 0};
	BF_TRY_PTR(item->item.arena, item->location,
			   bf_arena_printf(item->item.arena, "%s\n%s\n%s\n", l->recorded, l->found,
							   l->map != NULL ? l->map->text : ""),
			   err);
	if (item->data.n == 0)
		return BF_OK;
	item->spec_id = item->data.entries[0].spec_id;
	spec = bf_ice_spec(t->metadata, item->spec_id);
	BF_NEVER(err, spec == NULL);
	BF_ASSERT(spec->n_fields == item->data.entries[0].n_partition);
	item->n_types = spec->n_fields;
	BF_NEW(item->item.arena, item->types, spec->n_fields, err);
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
	item->kind = ITEM_LIST;
	item->manifests = manifests;
	item->n_manifests = n;
	insert(c, item);
}

void
bfi_cache_keep_mark(BfIceCache *c, BfiCacheItem *item)
{
	item->kind = ITEM_MARK;
	insert(c, item);
}
