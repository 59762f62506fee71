/*
 * pg/lakecache.c: Iceberg metadata kept between queries; see lakecache.h.
 */
#include "pg/lakecache.h"

#include "lib/ilist.h"
#include "utils/memutils.h"

#include "pg/error.h"
#include "pg/host.h"

#define ENTRIES_MAX 16
#define BYTES_MAX ((size_t) 64 * 1024 * 1024)

typedef struct Entry
{
	BifangLake lake; /* first: callers get a pointer to it */
	dlist_node node;
	MemoryContext cxt;
	BfArena *arena;
	char *path;
	BfPathInfo identity;
	int pins;
} Entry;

/* Most recently used first. */
static dlist_head entries = DLIST_STATIC_INIT(entries);

static bool
same_file(const BfPathInfo *a, const BfPathInfo *b)
{
	return a->size == b->size && a->mtime_us == b->mtime_us && a->inode == b->inode;
}

static void
drop(Entry *e)
{
	dlist_delete(&e->node);
	MemoryContextDelete(e->cxt);
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

		bytes += bf_arena_bytes(e->arena);
		n++;
		if (e->pins == 0 && n > 1 && (n > ENTRIES_MAX || bytes > BYTES_MAX))
		{
			bytes -= bf_arena_bytes(e->arena);
			n--;
			drop(e);
		}
	}
}

static Entry *
find(const char *path, const BfPathInfo *identity)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &entries)
	{
		Entry *e = dlist_container(Entry, node, iter.cur);

		if (strcmp(e->path, path) != 0)
			continue;
		if (same_file(&e->identity, identity))
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
load(const char *path, const BfPathInfo *identity)
{
	MemoryContext cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang lake table", ALLOCSET_SMALL_SIZES);
	Entry *e = MemoryContextAllocZero(cxt, sizeof *e);
	BfIceTable *table;
	BfError err;

	e->cxt = cxt;
	e->path = MemoryContextStrdup(cxt, path);
	e->identity = *identity;
	e->arena = bifang_arena(cxt, "lake table", BIFANG_ARENA_MAX_METADATA);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_ice_load(e->arena, path, NULL, &table, &err), &err);
	e->lake.table = table;
	MemoryContextSetParent(cxt, CacheMemoryContext);
	dlist_push_head(&entries, &e->node);
	return e;
}

static void
unpin(void *arg)
{
	Entry *e = arg;

	if (--e->pins == 0)
		trim();
}

static void
pin(MemoryContext cxt, Entry *e)
{
	MemoryContextCallback *callback = MemoryContextAlloc(cxt, sizeof *callback);

	callback->func = unpin;
	callback->arg = e;
	MemoryContextRegisterResetCallback(cxt, callback);
	e->pins++;
}

static Entry *
open_entry(MemoryContext cxt, const char *metadata_path)
{
	BfPathInfo identity;
	BfError err;
	Entry *e;

	bf_error_clear(&err);
	BIFANG_CHECK(bifang_host()->stat(bifang_host(), metadata_path, &identity, &err), &err);
	if (identity.kind != BF_PATH_FILE)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FILE),
						errmsg("\"%s\": the table's metadata file is missing", metadata_path)));
	e = find(metadata_path, &identity);
	if (e == NULL)
		e = load(metadata_path, &identity);
	pin(cxt, e);
	return e;
}

const BfIceTable *
bifang_lake_table(MemoryContext cxt, const char *metadata_path)
{
	return open_entry(cxt, metadata_path)->lake.table;
}

const BifangLake *
bifang_lake_open(MemoryContext cxt, const char *metadata_path)
{
	Entry *e = open_entry(cxt, metadata_path);

	if (e->lake.plan == NULL)
	{
		BfArenaMark mark = bf_arena_mark(e->arena);
		BfIcePlan *plan;
		BfError err;
		BfStatus status;

		bf_error_clear(&err);
		status = bf_ice_plan(e->arena, e->lake.table, NULL, &plan, &err);
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
