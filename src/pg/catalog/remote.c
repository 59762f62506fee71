/*
 * pg/catalog/remote.c: see remote.h.
 *
 * A pointer that was read is kept in a list until nobody of the statement can ask for it again. A
 * statement is known by its snapshot: same address and same content. Each asker's memory context
 * holds the entry; while an asker of the statement runs, the address can't be another's. Where a
 * context lives on after its snapshot (the planner's), another snapshot may come to that address,
 * but then one of the same content, for which the pointer was read late enough just as well.
 */
#include "pg/catalog/remote.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "lib/ilist.h"
#include "lib/stringinfo.h"
#include "libpq-fe.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "iceberg/location.h"
#include "pg/catalog/remote_connection.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"

#define CATALOGS_NAMED 5 /* in a hint */

typedef struct KnownPointer
{
	dlist_node node;
	bool listed; /* can be found */
	int uses;	 /* memory contexts that hold it, and the transaction when it is its */
	bool of_xact;
	const void *snapshot; /* address and content, unless of_xact */
	uint64 snapshot_hash;
	Oid serverid;
	Oid userid;
	uint64 hash; /* of the parameters and the catalog's name */
	char *ns;
	char *table;
	char *location;
} KnownPointer;

static dlist_head pointers = DLIST_STATIC_INIT(pointers);

/* Questions ----------------------------------------------------------------------------------- */

/* "name" whatever the other server's keywords are. */
static void
append_quoted(StringInfo s, const char *name)
{
	appendStringInfoChar(s, '"');
	for (const char *c = name; *c != '\0'; c++)
	{
		if (*c == '"')
			appendStringInfoChar(s, '"');
		appendStringInfoChar(s, *c);
	}
	appendStringInfoChar(s, '"');
}

/* The table's name in the other database. */
static const char *
tables_name(const BifangRemoteParams *p)
{
	StringInfoData s;

	if (p->schema == NULL)
		return "iceberg_tables";
	initStringInfo(&s);
	append_quoted(&s, p->schema);
	appendStringInfoString(&s, ".iceberg_tables");
	return s.data;
}

/* In layout V0 everything is a table, in V1 views have rows too. */
static bool
is_table(const BifangRemote *r, int row, int column)
{
	return PQgetisnull(r->result, row, column) ||
		   strcmp(PQgetvalue(r->result, row, column), "TABLE") == 0;
}

/* The column that V0 lacks is asked for by way of the whole row. Operators and types are named in
 * full: other schemas of that database are not trusted. */
#define IS(column, arg) "t." column "::pg_catalog.text OPERATOR(pg_catalog.=) " arg
/* No name and no path of a local file is as long; what is cut off can't be used. */
#define SHORT(value) "pg_catalog.left((" value ")::pg_catalog.text, 4096)"
#define TYPE_OF_T \
	SHORT("pg_catalog.to_jsonb(t) OPERATOR(pg_catalog.->>) 'iceberg_type'::pg_catalog.text")

/* What catalogs there are instead: their name is what is wrong most of the time. */
static char *
other_catalogs(const BifangOptions *o, const BifangRemoteParams *p)
{
	const char *sql =
		psprintf("SELECT DISTINCT " SHORT("t.catalog_name") " FROM %s t ORDER BY 1 LIMIT %d",
				 tables_name(p), CATALOGS_NAMED + 1);
	BifangRemote *r = bifang_remote_ask(o, p, sql, 0, NULL);
	int n = PQntuples(r->result);
	StringInfoData s;

	initStringInfo(&s);
	for (int i = 0; i < n && i < CATALOGS_NAMED; i++)
	{
		char *name = bifang_remote_value(r, i, 0);

		if (strcmp(name, o->catalog_name) == 0)
			return NULL;
		appendStringInfo(&s, "%s\"%s\"", i == 0 ? "" : ", ", name);
	}
	return n == 0
			   ? NULL
			   : psprintf("Catalogs there: %s%s. Option \"catalog_name\" of server \"%s\" chooses "
						  "one.",
						  s.data, n > CATALOGS_NAMED ? ", ..." : "", p->server);
}

static bool
is_file(const char *path)
{
	BfPathInfo info;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bifang_host()->stat(bifang_host(), path, &info, &err), &err);
	return info.kind == BF_PATH_FILE;
}

/* A recorded location as a local path: as it stands when that is a file here, else by the server's
 * location_map. NULL: elsewhere. */
static char *
local_location(const BifangOptions *o, const char *location)
{
	BfLocation nowhere = {.recorded = "none://none/", .found = "/", .written = "none://none/"};
	bool local = location[0] == '/' || strncmp(location, "file:", 5) == 0;
	char *result =
		local ? bifang_to_utf8(bifang_local_path(location, "metadata location of a lake table"))
			  : NULL;
	BfLocationMap *map;
	const char *path;
	BfArena *a;
	BfError err;

	if (o->location_map == NULL || (local && is_file(result)))
		return result;
	a = bifang_arena(CurrentMemoryContext, "location map", BIFANG_ARENA_MAX_METADATA);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_location_map_parse(a, o->location_map, &map, &err), &err);
	nowhere.map = map;
	if (bf_location_resolve(a, &nowhere, bifang_to_utf8(location), &path, &err) == BF_OK &&
		path[0] == '/')
		result = pstrdup(path);
	bifang_arena_free(a);
	return result;
}

static char *
ask_pointer(const BifangOptions *o, const BifangRemoteParams *p)
{
	const char *args[3] = {o->catalog_name, o->ns, o->table};
	BifangRemote *r = bifang_remote_ask(
		o, p,
		psprintf("SELECT " SHORT("t.metadata_location") ", " TYPE_OF_T " FROM %s t WHERE " IS(
					 "catalog_name", "$1") " AND " IS("table_namespace",
													  "$2") " AND " IS("table_name", "$3"),
				 tables_name(p)),
		3, args);
	bool found = PQntuples(r->result) > 0;
	char *location;
	char *local;
	char *hint;

	if (found && !is_table(r, 0, 1))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s.%s\" in catalog \"%s\" of server \"%s\" is not a table", o->ns,
							   o->table, o->catalog_name, p->server)));
	if (!found)
	{
		hint = other_catalogs(o, p);
		ereport(ERROR, (errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
						errmsg("lake table \"%s.%s\" does not exist in catalog \"%s\" of server "
							   "\"%s\"",
							   o->ns, o->table, o->catalog_name, p->server),
						hint == NULL ? 0 : errhint("%s", hint)));
	}
	location = bifang_remote_value(r, 0, 0);
	if (location == NULL)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("catalog row of lake table \"%s.%s\" has no metadata location",
							   o->ns, o->table)));
	local = local_location(o, location);
	if (local == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("metadata of lake table \"%s.%s\" is not a local file: \"%s\"", o->ns,
						o->table, location),
				 errhint("Option \"location_map\" says which directories stand for others.")));
	return local;
}

/* Answers ------------------------------------------------------------------------------------- */

static void
release_pointer(void *arg)
{
	KnownPointer *c = arg;

	Assert(c->uses > 0);
	if (--c->uses > 0)
		return;
	if (c->listed)
		dlist_delete(&c->node);
	pfree(c->ns);
	pfree(c->table);
	pfree(c->location);
	pfree(c);
}

static void
forget_pointers(XactEvent event, void *arg)
{
	dlist_mutable_iter it;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	dlist_foreach_modify(it, &pointers)
	{
		KnownPointer *c = dlist_container(KnownPointer, node, it.cur);

		Assert(c->listed && c->uses > 0);
		dlist_delete(&c->node);
		c->listed = false;
		if (c->of_xact)
			release_pointer(c);
	}
}

static uint64
snapshot_hash(Snapshot snap)
{
	uint64 h = hash_bytes_extended((const unsigned char *) snap->xip,
								   (int) (snap->xcnt * sizeof(TransactionId)), snap->xmin);

	h = hash_combine64(h, snap->xmax);
	h = hash_combine64(h, (uint64) snap->suboverflowed);
	return hash_combine64(
		h, hash_bytes_extended((const unsigned char *) snap->subxip,
							   (int) ((uint32) snap->subxcnt * sizeof(TransactionId)),
							   (uint64) snap->subxcnt));
}

static KnownPointer *
find_pointer(const KnownPointer *key)
{
	dlist_iter it;

	dlist_foreach(it, &pointers)
	{
		KnownPointer *c = dlist_container(KnownPointer, node, it.cur);

		if (c->serverid == key->serverid && c->userid == key->userid && c->hash == key->hash &&
			strcmp(c->ns, key->ns) == 0 && strcmp(c->table, key->table) == 0 &&
			(c->of_xact ||
			 (c->snapshot == key->snapshot && c->snapshot_hash == key->snapshot_hash)))
			return c;
	}
	return NULL;
}

/* Kept as long as CurrentMemoryContext lives. */
static KnownPointer *
keep_pointer(const KnownPointer *key, const char *location)
{
	static bool registered = false;
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	KnownPointer *c = palloc(sizeof *c);

	if (!registered)
		RegisterXactCallback(forget_pointers, NULL);
	registered = true;

	*c = *key;
	c->ns = pstrdup(key->ns);
	c->table = pstrdup(key->table);
	c->location = pstrdup(location);
	c->uses = c->of_xact ? 1 : 0;
	c->listed = true;
	dlist_push_head(&pointers, &c->node);
	MemoryContextSwitchTo(old);
	return c;
}

void
bifang_remote_lookup(const BifangOptions *o, Snapshot snap, BifangLakeTable *out)
{
	MemoryContextCallback *hold;
	KnownPointer *c;
	KnownPointer key = {0};
	BifangRemoteParams p;

	bifang_remote_params(o, &p);
	key.of_xact = IsolationUsesXactSnapshot();
	if (!key.of_xact)
	{
		key.snapshot = snap;
		key.snapshot_hash = snapshot_hash(snap);
	}
	key.serverid = o->serverid;
	key.userid = o->userid;
	key.hash = hash_bytes_extended((const unsigned char *) o->catalog_name,
								   (int) strlen(o->catalog_name), p.hash);
	key.ns = unconstify(char *, o->ns);
	key.table = unconstify(char *, o->table);
	hold = palloc(sizeof *hold);
	c = find_pointer(&key);
	if (c == NULL)
		c = keep_pointer(&key, ask_pointer(o, &p));
	hold->func = release_pointer;
	hold->arg = c;
	c->uses++;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, hold);
	memset(out, 0, sizeof *out);
	out->catalog = pstrdup(o->catalog_name);
	out->ns = pstrdup(o->ns);
	out->name = pstrdup(o->table);
	out->metadata_location = pstrdup(c->location);
}

/* The local metadata file of a row; NULL, with a WARNING, when there is none. */
static char *
importable(const BifangOptions *o, const BifangLakeTable *row)
{
	char *path = row->metadata_location == NULL ? NULL : local_location(o, row->metadata_location);

	if (path != NULL && is_file(path))
		return path;
	ereport(WARNING,
			(errmsg("table \"%s\" is left out: its metadata is not a local file: \"%s\"", row->name,
					row->metadata_location == NULL ? "" : row->metadata_location)));
	return NULL;
}

void
bifang_remote_visit_tables(const BifangOptions *o, const char *ns, BifangTableVisit visit,
						   void *arg)
{
	const char *args[2] = {o->catalog_name, ns};
	BifangLakeTable *rows;
	int n = 0;
	BifangRemote *r;
	BifangRemoteParams p;

	bifang_remote_params(o, &p);
	r = bifang_remote_ask(
		o, &p,
		psprintf("SELECT " SHORT("t.table_name") ", " SHORT(
					 "t.metadata_location") ", " TYPE_OF_T
											" FROM %s t WHERE " IS("catalog_name", "$1") " AND " IS(
												"table_namespace", "$2") " ORDER BY 1",
				 tables_name(&p)),
		2, args);
	rows = palloc_extended((Size) PQntuples(r->result) * sizeof *rows + 1, MCXT_ALLOC_HUGE);
	for (int i = 0; i < PQntuples(r->result); i++)
		if (is_table(r, i, 2))
			rows[n++] = (BifangLakeTable){.catalog = o->catalog_name,
										  .ns = ns,
										  .name = bifang_remote_value(r, i, 0),
										  .metadata_location = bifang_remote_value(r, i, 1)};
	if (n == 0)
	{
		char *hint = other_catalogs(o, &p);

		ereport(ERROR, (errcode(ERRCODE_FDW_SCHEMA_NOT_FOUND),
						errmsg("namespace \"%s\" has no tables in catalog \"%s\" of server \"%s\"",
							   ns, o->catalog_name, p.server),
						hint == NULL ? 0 : errhint("%s", hint)));
	}
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		rows[i].metadata_location = importable(o, &rows[i]);
		if (rows[i].metadata_location == NULL)
			continue;
		if (!visit(arg, &rows[i]))
			break;
	}
}
