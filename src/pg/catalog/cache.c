/*
 * pg/catalog/cache.c: Iceberg metadata kept between queries; see cache.h.
 */
#include "pg/catalog/cache.h"

#include "lib/ilist.h"
#include "utils/memutils.h"

#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/settings.h"

#define ENTRIES_MAX 16
#define BYTES_MAX ((size_t) 64 * 1024 * 1024)
/* What the JSON tree takes, which no arena counts, in terms of the file's size. */
#define TREE_FACTOR 8

typedef struct Entry
{
	BifangLake lake; /* first: callers get a pointer to it */
	dlist_node node;
	MemoryContext cxt;
	BfArena *arena;
	char *path;
	char *map; /* location map; "" = none */
	BfPathInfo identity;
	int pins;
} Entry;

/* Most recently used first. */
static dlist_head entries = DLIST_STATIC_INIT(entries);

static void
drop(Entry *e)
{
	Assert(e->pins == 0);
	dlist_delete(&e->node);
	MemoryContextDelete(e->cxt);
}

static size_t
entry_bytes(const Entry *e)
{
	return bf_arena_bytes(e->arena) + (size_t) e->identity.size * TREE_FACTOR;
}

/* Drops what is not in use, oldest first, until the bounds hold again. */
static void
trim(void)
{
	dlist_mutable_iter iter;
	size_t bytes = 0;
	int n = 0;

	dlist_foreach_modify(iter, &entries)
	{
		Entry *e = dlist_container(Entry, node, iter.cur);

		bytes += entry_bytes(e);
		n++;
		if (e->pins == 0 && n > 1 && (n > ENTRIES_MAX || bytes > BYTES_MAX))
		{
			bytes -= entry_bytes(e);
			n--;
			drop(e);
		}
	}
}

/* Older metadata of the same directory: its table has moved on. */
static void
drop_older(const Entry *newest)
{
	const char *slash = strrchr(newest->path, '/');
	size_t n = slash == NULL ? 0 : (size_t) (slash - newest->path) + 1;
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &entries)
	{
		Entry *e = dlist_container(Entry, node, iter.cur);

		if (e != newest && e->pins == 0 && strncmp(e->path, newest->path, n) == 0 &&
			strchr(e->path + n, '/') == NULL)
			drop(e);
	}
}

static Entry *
find(const char *path, const char *map, const BfPathInfo *identity)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &entries)
	{
		Entry *e = dlist_container(Entry, node, iter.cur);

		if (strcmp(e->path, path) != 0 || strcmp(e->map, map) != 0)
			continue;
		if (bf_same_file(&e->identity, identity))
		{
			dlist_move_head(&entries, &e->node);
			return e;
		}
		if (e->pins == 0) /* replaced by another file of that name */
			drop(e);
	}
	return NULL;
}

/* Not in the list yet when it fails: its context then goes with the caller's error. */
static Entry *
load(const char *path, const char *map, const BfPathInfo *identity)
{
	MemoryContext cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang lake table", ALLOCSET_SMALL_SIZES);
	Entry *e = MemoryContextAllocZero(cxt, sizeof *e);
	BfLocationMap *pairs = NULL;
	BfIceTable *table;
	BfError err;

	e->cxt = cxt;
	e->path = MemoryContextStrdup(cxt, path);
	e->map = MemoryContextStrdup(cxt, map);
	e->identity = *identity;
	e->arena = bifang_arena(cxt, "lake table", BIFANG_ARENA_MAX_METADATA);
	bf_error_clear(&err);
	if (map[0] != '\0')
		BIFANG_CHECK(bf_location_map_parse(e->arena, e->map, &pairs, &err), &err);
	BIFANG_CHECK(bf_ice_load_mapped(e->arena, path, pairs, NULL, &table, &err), &err);
	e->lake.table = table;
	MemoryContextSetParent(cxt, CacheMemoryContext);
	dlist_push_head(&entries, &e->node);
	drop_older(e);
	return e;
}

static void
unpin(void *arg)
{
	Entry *e = arg;

	Assert(e->pins > 0);
	if (--e->pins == 0)
		trim();
}

static void
pin(MemoryContext cxt, Entry *e)
{
	MemoryContextCallback *callback = MemoryContextAlloc(cxt, sizeof *callback);

	Assert(e->pins >= 0);
	callback->func = unpin;
	callback->arg = e;
	MemoryContextRegisterResetCallback(cxt, callback);
	e->pins++;
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
	pin(cxt, e);
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

BfFooterCache *
bifang_footer_cache(void)
{
	static BfFooterCache *cache = NULL;
	static int cache_kb = 0;
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
	return cache;
}

static BfStatus
plan_all(Entry *e, BfIcePlan **plan, BfError *err)
{
	const BfIceAt now = {.kind = BF_ICE_AT_CURRENT};
	BfIceScan scan = {.cache = bifang_manifest_cache(), .coverage = true};

	BF_TRY(bf_ice_at_resolve(e->lake.table, &now, &scan.point, err));
	return bf_ice_plan_scan(e->arena, e->lake.table, &scan, plan, err);
}

const BifangLake *
bifang_lake_open(MemoryContext cxt, const char *metadata_path)
{
	Entry *e = open_entry(cxt, metadata_path, "");

	/* It is pinned: trim() must not take it. */
	Assert(e->pins > 0);
	if (e->lake.plan == NULL)
	{
		BfArenaMark mark = bf_arena_mark(e->arena);
		BfIcePlan *plan;
		BfError err;
		BfStatus status;

		bf_error_clear(&err);
		status = plan_all(e, &plan, &err);
		if (status != BF_OK)
		{
			bf_arena_rewind(e->arena, mark);
			bifang_report(&err);
		}
		e->lake.plan = plan;
		trim();
	}
	return &e->lake;
}
