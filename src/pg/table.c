/*
 * pg/table.c: see table.h.
 */
#include "pg/table.h"

#include "catalog/pg_class.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/error.h"
#include "pg/host.h"
#include "pg/version.h"

#define CACHE_ENTRIES 16

typedef struct CacheEntry
{
	dlist_node node; /* most recently used first */
	MemoryContext cxt;
	const char *path;
	const BfIceTable *ice;
	int pins;
	bool cached; /* in the list; else freed with its last pin */
} CacheEntry;

typedef struct Pin
{
	MemoryContextCallback callback;
	CacheEntry *entry;
} Pin;

static dlist_head cache = DLIST_STATIC_INIT(cache);
static int n_cached = 0;

static void
unpin(void *arg)
{
	CacheEntry *e = ((Pin *) arg)->entry;

	e->pins--;
	if (e->pins == 0 && !e->cached)
		MemoryContextDelete(e->cxt);
}

static CacheEntry *
cache_find(const char *path)
{
	dlist_iter it;

	dlist_foreach(it, &cache)
	{
		CacheEntry *e = dlist_container(CacheEntry, node, it.cur);

		if (strcmp(e->path, path) == 0)
			return e;
	}
	return NULL;
}

static void
cache_evict(void)
{
	CacheEntry *e = dlist_tail_element(CacheEntry, node, &cache);

	dlist_delete(&e->node);
	n_cached--;
	e->cached = false;
	if (e->pins == 0)
		MemoryContextDelete(e->cxt);
}

static CacheEntry *
cache_load(const char *path)
{
	/* Owned by the current context until nothing can fail any more. */
	MemoryContext cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang table metadata", ALLOCSET_SMALL_SIZES);
	CacheEntry *e = MemoryContextAllocZero(cxt, sizeof *e);
	BfArena *arena = bifang_arena(cxt, "table metadata", BIFANG_ARENA_MAX_METADATA);
	BfIceTable *ice;
	BfError err = {0};

	e->cxt = cxt;
	e->path = MemoryContextStrdup(cxt, path);
	BIFANG_CHECK(bf_ice_load(arena, e->path, NULL, &ice, &err), &err);
	e->ice = ice;
	MemoryContextSetParent(cxt, TopMemoryContext);
	if (n_cached >= CACHE_ENTRIES)
		cache_evict();
	dlist_push_head(&cache, &e->node);
	e->cached = true;
	n_cached++;
	return e;
}

const BfIceTable *
bifang_table_metadata(const char *metadata_path, MemoryContext cxt)
{
	CacheEntry *e = cache_find(metadata_path);
	Pin *pin = MemoryContextAllocZero(cxt, sizeof *pin);

	if (e == NULL)
		e = cache_load(metadata_path);
	else
		dlist_move_head(&cache, &e->node);
	pin->entry = e;
	pin->callback.func = unpin;
	pin->callback.arg = pin;
	e->pins++;
	MemoryContextRegisterResetCallback(cxt, &pin->callback);
	return e->ice;
}

void
bifang_table_check_managed(const BifangOptions *o, const char *verb)
{
	const char *name = OidIsValid(o->relid) ? get_rel_name(o->relid) : "?";

	if (o->format != BIFANG_ICEBERG)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot %s foreign table \"%s\"", verb, name),
				 errdetail("Tables of format %s are read only.", bifang_format_name(o->format))));
	if (o->location != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot %s foreign table \"%s\"", verb, name),
				 errdetail("It is found by its location; its current state is kept elsewhere."),
				 errhint("Adopt the table with bifang.register_table() and make a foreign table "
						 "with options \"namespace\" and \"table\".")));
}

void
bifang_table_open(Oid relid, Snapshot snap, MemoryContext cxt, BifangTable *out)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);

	bifang_options_get(relid, &out->options);
	bifang_table_check_managed(&out->options, "change");
	if (!bifang_catalog_lookup(&out->options, snap, &out->row))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
				 errmsg("lake table %s.%s does not exist in catalog \"%s\"", out->row.ns,
						out->row.name, out->row.catalog),
				 errhint("The view bifang.tables lists what exists; bifang.create_table() makes a "
						 "new one.")));
	out->ice = bifang_table_metadata(out->row.metadata_location, cxt);
	out->uuid = out->ice->metadata->uuid;
	if (out->uuid[0] == '\0')
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("lake table %s.%s has no uuid", out->row.ns, out->row.name),
						errhint("Let another engine upgrade it to format version 2.")));
	MemoryContextSwitchTo(old);
}

void
bifang_table_check_owner(Oid relid)
{
	if (!bifang_owns_relation(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_TABLE, get_rel_name(relid));
}

BifangTarget
bifang_table_target(const BifangTable *t)
{
	return (BifangTarget){.table_uuid = t->uuid,
						  .ns = t->row.ns,
						  .table = t->row.name,
						  .live_dir = t->options.live_dir,
						  .schema = t->ice->schema};
}
