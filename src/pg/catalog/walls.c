/*
 * pg/catalog/walls.c: see walls.h.
 */
#include "pg/catalog/walls.h"

#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/indexing.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "pg/catalog/ledgers.h"
#include "pg/catalog/rows.h"
#include "pg/catalog/tables.h"

/* Both tables begin alike. */
enum
{
	CATALOG_NAME = 1,
	CATALOG_SERVER,
	CATALOG_SERVER_NAME,
	CATALOG_OWNER_NAME,
	CATALOG_ORIGIN,
	SHARE_NATTS = CATALOG_ORIGIN,
	CATALOG_BY_NAME,
	CATALOG_NATTS = CATALOG_BY_NAME
};

typedef struct Row
{
	char *catalog;
	Oid server; /* that it means; InvalidOid: none */
	Oid stored; /* as the row has it */
	char *server_name;
	char *owner_name; /* of the server */
	bool here;		  /* the stored oid means something */
	bool by_name;
} Row;

/* A restored extension has another table, though database and cluster may be the same. */
static char *
origin_here(void)
{
	return psprintf("%s/%u", bifang_catalog_origin(), bifang_rows_relid("catalog"));
}

static const char *
role_name(Oid role)
{
	const char *name = GetUserNameFromId(role, true);

	return name != NULL ? name : "";
}

/* Whoever finds a name free could make a server of that name, but not one of that owner. */
static bool
is_owners(const Row *row, const ForeignServer *s)
{
	return strcmp(role_name(s->owner), row->owner_name) == 0 || superuser_arg(s->owner);
}

static Oid
server_by_name(const Row *row)
{
	ForeignServer *s = GetForeignServerByName(row->server_name, true);

	return s != NULL && is_owners(row, s) ? s->serverid : InvalidOid;
}

static Row
read_row(Relation rel, HeapTuple tuple, int natts)
{
	Datum values[CATALOG_NATTS];
	bool nulls[CATALOG_NATTS];
	Row r;

	bifang_rows_read(rel, tuple, natts, values, nulls);
	r.catalog = bifang_rows_text(values, nulls, CATALOG_NAME);
	r.stored = DatumGetObjectId(values[BIFANG_SLOT(CATALOG_SERVER)]);
	r.server_name = bifang_rows_text(values, nulls, CATALOG_SERVER_NAME);
	r.owner_name = bifang_rows_text(values, nulls, CATALOG_OWNER_NAME);
	r.here = strcmp(bifang_rows_text(values, nulls, CATALOG_ORIGIN), origin_here()) == 0;
	r.by_name = natts == CATALOG_NATTS && DatumGetBool(values[BIFANG_SLOT(CATALOG_BY_NAME)]);
	if (!OidIsValid(r.stored))
		r.server = InvalidOid;
	else if (!r.here)
		r.server = server_by_name(&r);
	else
		r.server = SearchSysCacheExists1(FOREIGNSERVEROID, ObjectIdGetDatum(r.stored)) ? r.stored
																					   : InvalidOid;
	return r;
}

/* Visits rows of one of the two tables, of one catalog or of all, as of now; the table is locked
 * already when they are to be changed. */
typedef struct Visit
{
	Relation rel;
	BifangRows rows;
	Snapshot snap;
	int natts;
} Visit;

static Visit
visit_begin(const char *table, LOCKMODE mode)
{
	Visit v = {.natts = strcmp(table, "catalog") == 0 ? CATALOG_NATTS : SHARE_NATTS};

	v.rel = bifang_rows_open(table, mode);
	v.snap = RegisterSnapshot(GetCatalogSnapshot(RelationGetRelid(v.rel)));
	v.rows = bifang_rows_begin(v.rel, NULL, v.snap, 0, NULL);
	return v;
}

static HeapTuple
visit_next(Visit *v, Row *row)
{
	HeapTuple tuple = bifang_rows_next(&v->rows);

	if (HeapTupleIsValid(tuple))
		*row = read_row(v->rel, tuple, v->natts);
	return tuple;
}

static void
visit_end(Visit *v)
{
	bifang_rows_end(&v->rows);
	UnregisterSnapshot(v->snap);
	table_close(v->rel, NoLock);
}

/* Who stands how ------------------------------------------------------------------------------ */

/* Tables, or ledgers of tables that were dropped without them. */
static bool
has_content(const char *name)
{
	Snapshot snap;
	List *ledgers;
	ListCell *lc;
	bool found = false;

	snap = RegisterSnapshot(GetCatalogSnapshot(bifang_rows_relid("iceberg_tables")));
	found = bifang_catalog_has_tables(name, snap);
	UnregisterSnapshot(snap);
	if (found)
		return true;
	snap = RegisterSnapshot(GetCatalogSnapshot(bifang_rows_relid("ledger")));
	ledgers = bifang_catalog_all_ledgers(snap);
	UnregisterSnapshot(snap);
	foreach (lc, ledgers)
		found |= strcmp(((BifangLedger *) lfirst(lc))->catalog, name) == 0;
	return found;
}

static bool
is_shared(const char *name, Oid serverid)
{
	Visit v = visit_begin("catalog_share", AccessShareLock);
	bool found = false;
	Row row;

	while (!found && HeapTupleIsValid(visit_next(&v, &row)))
		found = row.server == serverid && strcmp(row.catalog, name) == 0;
	visit_end(&v);
	return found;
}

/* Tables that nobody ever owned here were made by another engine, with rights on the tables of the
 * catalog that a superuser gave it: they are his to give on. */
BifangCatalog
bifang_catalog_named(const BifangOptions *o, const char *name)
{
	BifangCatalog c = {.name = pstrdup(name), .standing = BIFANG_CATALOG_FREE};
	Visit v = visit_begin("catalog", AccessShareLock);
	bool known = false;
	Row row;

	while (!known && HeapTupleIsValid(visit_next(&v, &row)))
		if (strcmp(row.catalog, name) == 0)
		{
			known = true;
			c.owner = row.server;
		}
	visit_end(&v);
	if (OidIsValid(c.owner))
		c.standing = c.owner == o->serverid			? BIFANG_CATALOG_OWN
					 : is_shared(name, o->serverid) ? BIFANG_CATALOG_SHARED
													: BIFANG_CATALOG_OTHERS;
	else if ((known || !superuser_arg(GetForeignServer(o->serverid)->owner)) && has_content(name))
		c.standing = BIFANG_CATALOG_LEFT;
	return c;
}

/* The one that it made by the name that it had. */
static char *
own_by_name(Oid serverid)
{
	Visit v = visit_begin("catalog", AccessShareLock);
	char *name = NULL;
	Row row;

	while (name == NULL && HeapTupleIsValid(visit_next(&v, &row)))
		if (row.server == serverid && row.by_name)
			name = row.catalog;
	visit_end(&v);
	return name;
}

BifangCatalog
bifang_catalog_of(const BifangOptions *o)
{
	char *own = o->names_catalog ? NULL : own_by_name(o->serverid);

	Assert(OidIsValid(o->serverid) && !o->remote_catalog);
	return bifang_catalog_named(o, own != NULL ? own : o->catalog_name);
}

static void
refuse(const BifangOptions *o, const BifangCatalog *c)
{
	const char *server = GetForeignServer(o->serverid)->servername;

	if (c->standing == BIFANG_CATALOG_OTHERS)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("catalog \"%s\" belongs to server \"%s\"", c->name,
						GetForeignServer(c->owner)->servername),
				 errhint("Option \"catalog_name\" gives server \"%s\" a catalog of its own; to use "
						 "this one, let the owner call bifang.share_catalog().",
						 server)));
	if (c->standing == BIFANG_CATALOG_LEFT)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("tables of catalog \"%s\" belong to no server", c->name),
				 errdetail("The server that had them was dropped, or another engine made them."),
				 errhint("A superuser gives them to this one: SELECT bifang.adopt_catalog(%s, %s). "
						 "Option \"catalog_name\" makes another catalog.",
						 quote_literal_cstr(c->name), quote_literal_cstr(server))));
}

char *
bifang_catalog_name(const BifangOptions *o)
{
	BifangCatalog c = bifang_catalog_of(o);

	refuse(o, &c);
	return c.name;
}

/* Changing ------------------------------------------------------------------------------------ */

static void
fill_server(Datum *values, Oid serverid)
{
	ForeignServer *s = GetForeignServer(serverid);

	values[BIFANG_SLOT(CATALOG_SERVER)] = ObjectIdGetDatum(serverid);
	values[BIFANG_SLOT(CATALOG_SERVER_NAME)] = CStringGetTextDatum(s->servername);
	values[BIFANG_SLOT(CATALOG_OWNER_NAME)] = CStringGetTextDatum(role_name(s->owner));
	values[BIFANG_SLOT(CATALOG_ORIGIN)] = CStringGetTextDatum(origin_here());
}

static void
insert_row(const char *table, const char *name, Oid serverid, bool by_name)
{
	Relation rel = bifang_rows_open(table, RowExclusiveLock);
	Datum values[CATALOG_NATTS] = {0};
	bool nulls[CATALOG_NATTS] = {false};

	values[BIFANG_SLOT(CATALOG_NAME)] = CStringGetTextDatum(name);
	fill_server(values, serverid);
	values[BIFANG_SLOT(CATALOG_BY_NAME)] = BoolGetDatum(by_name);
	bifang_rows_insert(rel, values, nulls);
	table_close(rel, RowExclusiveLock);
	CommandCounterIncrement();
}

/* serverid InvalidOid: of no server any more. */
static void
update_server(Visit *v, HeapTuple tuple, Oid serverid)
{
	Datum values[CATALOG_NATTS] = {0};
	bool nulls[CATALOG_NATTS] = {false};
	bool replace[CATALOG_NATTS] = {false};

	replace[BIFANG_SLOT(CATALOG_SERVER)] = replace[BIFANG_SLOT(CATALOG_ORIGIN)] = true;
	if (OidIsValid(serverid))
	{
		fill_server(values, serverid);
		replace[BIFANG_SLOT(CATALOG_SERVER_NAME)] = replace[BIFANG_SLOT(CATALOG_OWNER_NAME)] = true;
	}
	else
		values[BIFANG_SLOT(CATALOG_ORIGIN)] = CStringGetTextDatum(origin_here());
	tuple = heap_modify_tuple(tuple, RelationGetDescr(v->rel), values, nulls, replace);
	CatalogTupleUpdate(v->rel, &tuple->t_self, tuple);
}

/* Changes of whose catalogs are come one after the other; who reads them need not wait. */
static void
lock_catalogs(void)
{
	LockRelationOid(bifang_rows_relid("catalog"), ShareRowExclusiveLock);
	LockRelationOid(bifang_rows_relid("catalog_share"), ShareRowExclusiveLock);
}

/* Rows of the catalog: those of one server, or all. */
static bool
delete_rows(const char *table, const char *name, Oid serverid)
{
	Visit v = visit_begin(table, RowExclusiveLock);
	HeapTuple tuple;
	bool found = false;
	Row row;

	while (HeapTupleIsValid(tuple = visit_next(&v, &row)))
		if (strcmp(row.catalog, name) == 0 && (!OidIsValid(serverid) || row.server == serverid))
		{
			CatalogTupleDelete(v.rel, &tuple->t_self);
			found = true;
		}
	visit_end(&v);
	CommandCounterIncrement();
	return found;
}

char *
bifang_catalog_claim(const BifangOptions *o)
{
	BifangCatalog c = bifang_catalog_of(o);

	if (c.standing == BIFANG_CATALOG_FREE)
	{
		lock_catalogs();
		c = bifang_catalog_of(o);
	}
	refuse(o, &c);
	if (c.standing == BIFANG_CATALOG_FREE)
		bifang_catalog_give(c.name, o);
	return c.name;
}

void
bifang_catalog_give(const char *name, const BifangOptions *to)
{
	lock_catalogs();
	(void) delete_rows("catalog", name, InvalidOid);
	(void) delete_rows("catalog_share", name, InvalidOid);
	insert_row("catalog", name, to->serverid, !to->names_catalog);
}

void
bifang_catalog_share(const char *name, Oid serverid)
{
	lock_catalogs();
	if (!is_shared(name, serverid))
		insert_row("catalog_share", name, serverid, false);
}

bool
bifang_catalog_unshare(const char *name, Oid serverid)
{
	lock_catalogs();
	return delete_rows("catalog_share", name, serverid);
}

/* Servers that change ------------------------------------------------------------------------- */

static bool
means_server(const Row *row, Oid serverid, const char *name)
{
	return OidIsValid(row->stored) &&
		   (row->here ? row->stored == serverid : strcmp(row->server_name, name) == 0);
}

void
bifang_catalog_server_changed(Oid serverid, const char *old_name)
{
	const char *tables[] = {"catalog", "catalog_share"};
	const ForeignServer *s = GetForeignServer(serverid);
	const char *name = old_name != NULL ? old_name : s->servername;

	lock_catalogs();
	for (int i = 0; i < (int) lengthof(tables); i++)
	{
		Visit v = visit_begin(tables[i], RowExclusiveLock);
		HeapTuple tuple;
		Row row;

		while (HeapTupleIsValid(tuple = visit_next(&v, &row)))
			if (means_server(&row, serverid, name) && (row.here || is_owners(&row, s)))
				update_server(&v, tuple, serverid);
		visit_end(&v);
	}
	CommandCounterIncrement();
}

static bool
is_stale(const Row *row)
{
	ForeignServer *s;

	if (!row->here || !OidIsValid(row->server))
		return false;
	s = GetForeignServer(row->server);
	return strcmp(s->servername, row->server_name) != 0 ||
		   strcmp(role_name(s->owner), row->owner_name) != 0;
}

/* False: some are not what they should be, or were not before `change` put them right. */
static bool
visit_names(const char *table, bool change)
{
	Visit v = visit_begin(table, change ? RowExclusiveLock : AccessShareLock);
	bool fresh = true;
	HeapTuple tuple;
	Row row;

	while (HeapTupleIsValid(tuple = visit_next(&v, &row)))
		if (is_stale(&row))
		{
			fresh = false;
			if (change)
				update_server(&v, tuple, row.server);
		}
	visit_end(&v);
	return fresh;
}

void
bifang_catalog_refresh_names(void)
{
	if (visit_names("catalog", false) && visit_names("catalog_share", false))
		return;
	/* As lock_catalogs() does, but nobody waits for it. */
	if (!ConditionalLockRelationOid(bifang_rows_relid("catalog"), ShareRowExclusiveLock) ||
		!ConditionalLockRelationOid(bifang_rows_relid("catalog_share"), ShareRowExclusiveLock))
		return;
	(void) visit_names("catalog", true);
	(void) visit_names("catalog_share", true);
	CommandCounterIncrement();
}

/* Most servers that are dropped are other wrappers'. */
static bool
has_catalog_or_share(Oid serverid, const char *name)
{
	const char *tables[] = {"catalog", "catalog_share"};
	bool found = false;

	for (int i = 0; i < (int) lengthof(tables); i++)
	{
		Visit v = visit_begin(tables[i], AccessShareLock);
		Row row;

		while (!found && HeapTupleIsValid(visit_next(&v, &row)))
			found = means_server(&row, serverid, name);
		visit_end(&v);
	}
	return found;
}

List *
bifang_catalog_server_dropped(Oid serverid, const char *name)
{
	List *left = NIL;
	HeapTuple tuple;
	Visit v;
	Row row;

	if (!has_catalog_or_share(serverid, name))
		return NIL;
	lock_catalogs();
	v = visit_begin("catalog", RowExclusiveLock);
	while (HeapTupleIsValid(tuple = visit_next(&v, &row)))
	{
		if (!means_server(&row, serverid, name))
			continue;
		if (has_content(row.catalog))
		{
			update_server(&v, tuple, InvalidOid);
			left = lappend(left, row.catalog);
		}
		else
			CatalogTupleDelete(v.rel, &tuple->t_self);
	}
	visit_end(&v);
	v = visit_begin("catalog_share", RowExclusiveLock);
	while (HeapTupleIsValid(tuple = visit_next(&v, &row)))
		if (means_server(&row, serverid, name))
			CatalogTupleDelete(v.rel, &tuple->t_self);
	visit_end(&v);
	CommandCounterIncrement();
	return left;
}
