/*
 * pg/catalog/cache.c: Iceberg metadata kept between queries; see cache.h.
 */
#include "pg/catalog/cache.h"

#include "utils/memutils.h"

#include "base/lru.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/settings.h"

#define ENTRIES_MAX 16
#define BYTES_MAX ((size_t) 64 * 1024 * 1024)
/* What the JSON tree takes, which no arena counts, in terms of the file's size. */
#define TREE_FACTOR 8

typedef struct Entry
{
	BfLruItem item;
	BifangLake lake;
	const char *map; /* location map; "" = none */
	BfPathInfo identity;
} Entry;

static BfLru *
lakes(void)
{
	static BfLru lru;

	if (lru.host == NULL)
		bf_lru_init(&lru, bifang_host(), BYTES_MAX, NULL);
	return &lru;
}

static Entry *
entry_of(BfLruItem *item)
{
	return (Entry *) item;
}

/* Older metadata of the same directory: its table has moved on. */
static void
drop_older(const BfLruItem *newest)
{
	const char *slash = strrchr(newest->path, '/');
	size_t n = slash == NULL ? 0 : (size_t) (slash - newest->path) + 1;
	BfLruItem *older;

	Assert(newest->kept);
	for (BfLruItem *item = lakes()->newest; item != NULL; item = older)
	{
		older = item->older;
		if (item != newest && item->holds == 0 && strncmp(item->path, newest->path, n) == 0 &&
			strchr(item->path + n, '/') == NULL)
			bf_lru_evict(lakes(), item);
	}
}

static Entry *
find(const char *path, const char *map, const BfPathInfo *identity)
{
	BfLruItem *next;

	for (BfLruItem *item = bf_lru_find(lakes(), path, NULL); item != NULL; item = next)
	{
		next = bf_lru_find(lakes(), path, item);
		if (strcmp(entry_of(item)->map, map) != 0)
			continue;
		if (bf_same_file(&entry_of(item)->identity, identity))
		{
			bf_lru_touch(lakes(), item);
			return entry_of(item);
		}
		if (item->holds == 0) /* replaced by another file of that name */
			bf_lru_evict(lakes(), item);
	}
	return NULL;
}

static BfStatus
fill(Entry *e, const char *map, BfError *err)
{
	BfArena *a = e->item.arena;
	BfLocationMap *pairs = NULL;
	BfIceTable *table;

	BF_TRY_PTR(a, e->map, bf_arena_strdup(a, map), err);
	if (map[0] != '\0')
		BF_TRY(bf_location_map_parse(a, e->map, &pairs, err));
	BF_TRY(bf_ice_load_mapped(a, e->item.path, pairs, NULL, &table, err));
	e->lake.table = table;
	return BF_OK;
}

static Entry *
load(const char *path, const char *map, const BfPathInfo *identity)
{
	BfLruItem *item;
	BfStatus status;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bf_lru_item_new(lakes(), "lake table", path, sizeof(Entry),
								 BIFANG_ARENA_MAX_METADATA, &item, &err),
				 &err);
	entry_of(item)->identity = *identity;
	status = fill(entry_of(item), map, &err);
	if (status != BF_OK)
	{
		bf_lru_item_drop(item);
		bifang_report(&err);
	}
	bf_lru_insert(lakes(), item);
	bf_lru_grow(lakes(), item, (size_t) identity->size * TREE_FACTOR);
	drop_older(item);
	return entry_of(item);
}

static void
unpin(void *arg)
{
	Assert(((BfLruItem *) arg)->holds > 0);
	bf_lru_unpin(arg);
	bf_lru_trim(lakes(), ENTRIES_MAX);
}

static void
pin(MemoryContext cxt, BfLruItem *item)
{
	MemoryContextCallback *callback = MemoryContextAlloc(cxt, sizeof *callback);

	callback->func = unpin;
	callback->arg = item;
	MemoryContextRegisterResetCallback(cxt, callback);
	bf_lru_pin(item);
}

static Entry *
open_entry(MemoryContext cxt, const char *metadata_path, const char *map)
{
	BfPathInfo identity;
	BfError err;
	Entry *e;

	bf_error_clear(&err);
	BIFANG_CHECK(bifang_host()->stat(bifang_host(), metadata_path, &identity, &err), &err);
	if (identity.kind != BF_PATH_FILE)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FILE),
						errmsg("\"%s\": the table's metadata file is missing", metadata_path)));
	e = find(metadata_path, map, &identity);
	if (e == NULL)
		e = load(metadata_path, map, &identity);
	Assert(e->lake.table != NULL && e->item.kept);
	pin(cxt, &e->item);
	return e;
}

const BfIceTable *
bifang_lake_table(MemoryContext cxt, const char *metadata_path)
{
	return open_entry(cxt, metadata_path, "")->lake.table;
}

const BfIceTable *
bifang_lake_table_mapped(MemoryContext cxt, const char *metadata_path, const char *map)
{
	return open_entry(cxt, metadata_path, map == NULL ? "" : map)->lake.table;
}

BfIceCache *
bifang_manifest_cache(void)
{
	static BfIceCache *cache = NULL;
	static int cache_kb = 0;
	BfError err;

	if (cache != NULL && cache_kb != bifang_metadata_cache_kb)
	{
		bf_ice_cache_free(cache);
		cache = NULL;
	}
	if (cache == NULL && bifang_metadata_cache_kb > 0)
	{
		bf_error_clear(&err);
		BIFANG_CHECK(
			bf_ice_cache_new(bifang_host(), (size_t) bifang_metadata_cache_kb * 1024, &cache, &err),
			&err);
		cache_kb = bifang_metadata_cache_kb;
	}
	return cache;
}

/* NULL: none is wanted. It is never freed: scans that are open may still leave their pages. */
static BfPageCache *
page_cache(void)
{
	static BfPageCache *cache = NULL;
	static int cache_kb = 0;
	BfError err;

	if (cache == NULL && bifang_page_cache_kb > 0)
	{
		bf_error_clear(&err);
		BIFANG_CHECK(bf_page_cache_new(bifang_host(), 0, &cache, &err), &err);
	}
	if (cache != NULL && cache_kb != bifang_page_cache_kb)
		bf_page_cache_limit(cache, (size_t) bifang_page_cache_kb * 1024);
	cache_kb = bifang_page_cache_kb;
	return bifang_page_cache_kb > 0 ? cache : NULL;
}

BfFooterCache *
bifang_footer_cache(void)
{
	static BfFooterCache *cache = NULL;
	static int cache_kb = 0;
	BfPageCache *pages = page_cache();
	BfError err;

	if (cache != NULL && cache_kb != bifang_footer_cache_kb)
	{
		bf_footer_cache_free(cache);
		cache = NULL;
	}
	if (cache == NULL && bifang_footer_cache_kb > 0)
	{
		bf_error_clear(&err);
		BIFANG_CHECK(bf_footer_cache_new(bifang_host(), (size_t) bifang_footer_cache_kb * 1024,
										 &cache, &err),
					 &err);
		cache_kb = bifang_footer_cache_kb;
	}
	if (cache != NULL)
		bf_footer_cache_keep_pages(cache, pages);
	return cache;
}

static BfStatus
plan_all(Entry *e, BfIcePlan **plan, BfError *err)
{
	const BfIceAt now = {.kind = BF_ICE_AT_CURRENT};
	BfIceScan scan = {.cache = bifang_manifest_cache(), .coverage = true};

	BF_TRY(bf_ice_at_resolve(e->lake.table, &now, &scan.point, err));
	return bf_ice_plan_scan(e->item.arena, e->lake.table, &scan, plan, err);
}

const BifangLake *
bifang_lake_open(MemoryContext cxt, const char *metadata_path)
{
	Entry *e = open_entry(cxt, metadata_path, "");

	Assert(e->item.holds > 0);
	if (e->lake.plan == NULL)
	{
		BfArenaMark mark = bf_arena_mark(e->item.arena);
		size_t before = bf_arena_bytes(e->item.arena);
		BfIcePlan *plan;
		BfError err;
		BfStatus status;

		bf_error_clear(&err);
		status = plan_all(e, &plan, &err);
		if (status != BF_OK)
		{
			bf_arena_rewind(e->item.arena, mark);
			bifang_report(&err);
		}
		e->lake.plan = plan;
		bf_lru_grow(lakes(), &e->item, bf_arena_bytes(e->item.arena) - before);
		bf_lru_trim(lakes(), ENTRIES_MAX);
	}
	return &e->lake;
}
