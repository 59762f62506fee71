/*
 * pg/catalog/tables.c: see tables.h.
 */
#include "pg/catalog/tables.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "commands/sequence.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "pg/catalog/rows.h"
#include "pg/server/encoding.h"
#include "pg/server/files.h"
#include "pg/server/host.h"
#include "pg/server/pins.h"

enum
{
	TABLES_CATALOG = 1,
	TABLES_NAMESPACE,
	TABLES_NAME,
	TABLES_LOCATION,
	TABLES_PREVIOUS,
	TABLES_TYPE,
	TABLES_ID,
	TABLES_UUID,
	TABLES_NATTS = TABLES_UUID
};

static BifangRows
begin_table_scan(Relation rel, const char *catalog, const char *ns, const char *name, Snapshot snap)
{
	ScanKeyData keys[3];

	bifang_rows_key_text(&keys[0], TABLES_CATALOG, catalog);
	bifang_rows_key_text(&keys[1], TABLES_NAMESPACE, ns);
	bifang_rows_key_text(&keys[2], TABLES_NAME, name);
	return bifang_rows_begin(rel, "iceberg_tables_pkey", snap, 3, keys);
}

/* Of a location, which other programs read too and which is kept whole, the part in the embedded
 * warehouse counts when it is not below the data directory, but this cluster has that file. NULL:
 * it is no local file. */
char *
bifang_catalog_find_path(const char *location)
{
	char *path = bifang_find_local_path(location);
	const char *in_lake;
	BfPathInfo info;
	BfError err = {0};
	char *own;

	if (path == NULL)
		return NULL;
	path = bifang_to_utf8(path);
	Assert(path[0] == '/');
	in_lake = strstr(path, "/" BIFANG_EMBEDDED_WAREHOUSE "/");
	if (in_lake == NULL || bifang_rows_stored_path(path) != path)
		return path;
	own = psprintf("%s%s", DataDir, in_lake);
	if (bifang_host()->stat(bifang_host(), own, &info, &err) != BF_OK || info.kind != BF_PATH_FILE)
		return path;
	return own;
}

/* Of the table that was asked for: raises when it is no local file. */
static char *
lake_path(const char *location)
{
	char *path = bifang_catalog_find_path(location);

	return path != NULL ? path : bifang_local_path(location, "metadata location of a lake table");
}

bool
bifang_catalog_find_table(const char *catalog, const BifangOptions *o, Snapshot snap,
						  BifangLakeTable *out)
{
	Relation rel;
	BifangRows rows;
	HeapTuple tuple;
	bool found = false;

	out->catalog = pstrdup(catalog);
	out->ns = pstrdup(o->ns);
	out->name = pstrdup(o->table);
	out->metadata_location = NULL;
	out->id = 0;
	out->uuid = NULL;

	rel = bifang_rows_open("iceberg_tables", AccessShareLock);
	rows = begin_table_scan(rel, catalog, o->ns, o->table, snap);
	while (!found && HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		Datum values[TABLES_NATTS];
		bool nulls[TABLES_NATTS];
		char *type;

		bifang_rows_read(rel, tuple, TABLES_NATTS, values, nulls);
		type = bifang_rows_text(values, nulls, TABLES_TYPE);
		if (type != NULL && strcmp(type, "TABLE") != 0)
			continue;
		if (nulls[BIFANG_SLOT(TABLES_LOCATION)])
			ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
							errmsg("catalog row of lake table %s.%s has no metadata location",
								   o->ns, o->table)));
		out->metadata_location = lake_path(bifang_rows_text(values, nulls, TABLES_LOCATION));
		out->id = DatumGetInt64(values[BIFANG_SLOT(TABLES_ID)]);
		out->uuid = bifang_rows_text(values, nulls, TABLES_UUID);
		found = true;
	}
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return found;
}

bool
bifang_catalog_has_tables(const char *catalog, Snapshot snap)
{
	Relation rel = bifang_rows_open("iceberg_tables", AccessShareLock);
	ScanKeyData key;
	BifangRows rows;
	bool found;

	bifang_rows_key_text(&key, TABLES_CATALOG, catalog);
	rows = bifang_rows_begin(rel, "iceberg_tables_pkey", snap, 1, &key);
	found = HeapTupleIsValid(bifang_rows_next(&rows));
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
	return found;
}

static void
visit_tables(Snapshot snap, BifangTableVisit visit, void *arg)
{
	Relation rel = bifang_rows_open("iceberg_tables", AccessShareLock);
	BifangRows rows = bifang_rows_begin(rel, NULL, snap, 0, NULL);
	HeapTuple tuple;
	bool more = true;

	while (more && HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		Datum values[TABLES_NATTS];
		bool nulls[TABLES_NATTS];
		BifangLakeTable row;
		char *location;

		CHECK_FOR_INTERRUPTS();
		bifang_rows_read(rel, tuple, TABLES_NATTS, values, nulls);
		location = bifang_rows_text(values, nulls, TABLES_LOCATION);
		/* Other engines may keep tables here that are no local files, and what one of them wrote
		 * must not be in the way of the others. */
		row.metadata_location = location == NULL ? NULL : bifang_catalog_find_path(location);
		if (row.metadata_location == NULL)
			continue;
		row.id = DatumGetInt64(values[BIFANG_SLOT(TABLES_ID)]);
		row.uuid = bifang_rows_text(values, nulls, TABLES_UUID);
		row.catalog = bifang_rows_text(values, nulls, TABLES_CATALOG);
		row.ns = bifang_rows_text(values, nulls, TABLES_NAMESPACE);
		row.name = bifang_rows_text(values, nulls, TABLES_NAME);
		more = visit(arg, &row);
	}
	bifang_rows_end(&rows);
	table_close(rel, AccessShareLock);
}

void
bifang_catalog_visit_tables(BifangTableVisit visit, void *arg)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());

	visit_tables(snap, visit, arg);
	UnregisterSnapshot(snap);
}

typedef struct LakePointer
{
	const char *metadata_path;
	BifangLakeTable *row;
	bool found;
} LakePointer;

static size_t
directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (size_t) (slash - path);
}

static bool
is_of_table(void *arg, const BifangLakeTable *row)
{
	LakePointer *p = arg;
	size_t n = directory_length(row->metadata_location);

	if (n != directory_length(p->metadata_path) ||
		memcmp(row->metadata_location, p->metadata_path, n) != 0)
		return true;
	*p->row = *row;
	p->found = true;
	/* Two tables in one directory would be odd; the one that it is the pointer of comes first. */
	return strcmp(row->metadata_location, p->metadata_path) != 0;
}

bool
bifang_catalog_table_at(const char *metadata_path, Snapshot snap, BifangLakeTable *out)
{
	LakePointer p = {metadata_path, out, false};

	visit_tables(snap, is_of_table, &p);
	return p.found;
}

void
bifang_catalog_check_uuid(const BifangLakeTable *t, const char *uuid)
{
	if (t->uuid == NULL || strcmp(t->uuid, uuid) == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("metadata of lake table %s.%s is that of another table", t->ns, t->name),
			 errdetail("It has uuid %s; the table has been %s here.", bifang_shown(uuid), t->uuid),
			 errhint("Put the table's own metadata back. If another table is meant to stand in "
					 "its place: bifang.drop_table() without purge, then "
					 "bifang.register_table().")));
}

static Datum
location_datum(const char *path)
{
	char *location = psprintf("file://%s", path);

	Assert(path[0] == '/');
	if (strlen(location) > BIFANG_LOCATION_MAX)
		ereport(ERROR, (errcode(ERRCODE_NAME_TOO_LONG),
						errmsg("metadata location of %d bytes is longer than the catalog's %d",
							   (int) strlen(location), BIFANG_LOCATION_MAX)));
	return bifang_rows_path_datum(location);
}

void
bifang_catalog_insert_table(BifangLakeTable *t)
{
	Relation rel = bifang_rows_open("iceberg_tables", RowExclusiveLock);
	Datum values[TABLES_NATTS];
	bool nulls[TABLES_NATTS] = {false};

	bifang_catalog_check_names(t);
	if (t->id == 0)
		t->id = nextval_internal(bifang_rows_relid("iceberg_tables_table_id_seq"), false);
	values[BIFANG_SLOT(TABLES_CATALOG)] = CStringGetTextDatum(t->catalog);
	values[BIFANG_SLOT(TABLES_NAMESPACE)] = CStringGetTextDatum(t->ns);
	values[BIFANG_SLOT(TABLES_NAME)] = CStringGetTextDatum(t->name);
	values[BIFANG_SLOT(TABLES_LOCATION)] = location_datum(t->metadata_location);
	nulls[BIFANG_SLOT(TABLES_PREVIOUS)] = true;
	values[BIFANG_SLOT(TABLES_TYPE)] = CStringGetTextDatum("TABLE");
	values[BIFANG_SLOT(TABLES_ID)] = Int64GetDatum(t->id);
	values[BIFANG_SLOT(TABLES_UUID)] = CStringGetTextDatum(t->uuid);
	bifang_rows_insert(rel, values, nulls);
	table_close(rel, RowExclusiveLock);
}

/* Finds the row that still points at t->metadata_location and locks it. NULL: it does not. */
static HeapTuple
lock_table_row(Relation rel, const BifangLakeTable *t)
{
	bool old = IsolationUsesXactSnapshot();
	Snapshot snap = RegisterSnapshot(bifang_work_snapshot());
	BifangRows rows = begin_table_scan(rel, t->catalog, t->ns, t->name, snap);
	HeapTuple found = NULL;
	HeapTuple tuple;

	while (found == NULL && HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		Datum values[TABLES_NATTS];
		bool nulls[TABLES_NATTS];
		char *location;

		bifang_rows_read(rel, tuple, TABLES_NATTS, values, nulls);
		location = bifang_rows_text(values, nulls, TABLES_LOCATION);
		if (location != NULL && strcmp(lake_path(location), t->metadata_location) == 0 &&
			bifang_rows_lock(rel, tuple))
			found = heap_copytuple(tuple);
	}
	bifang_rows_end(&rows);
	UnregisterSnapshot(snap);
	if (found == NULL && old)
		bifang_rows_refuse();
	return found;
}

bool
bifang_catalog_move_pointer(const BifangLakeTable *t, const char *new_location)
{
	Relation rel = bifang_rows_open("iceberg_tables", RowExclusiveLock);
	HeapTuple old = lock_table_row(rel, t);

	if (old != NULL)
	{
		Datum values[TABLES_NATTS] = {0};
		bool nulls[TABLES_NATTS] = {false};
		bool replace[TABLES_NATTS] = {false};
		HeapTuple tuple;

		values[BIFANG_SLOT(TABLES_LOCATION)] = location_datum(new_location);
		values[BIFANG_SLOT(TABLES_PREVIOUS)] =
			CStringGetTextDatum(psprintf("file://%s", t->metadata_location));
		replace[BIFANG_SLOT(TABLES_LOCATION)] = replace[BIFANG_SLOT(TABLES_PREVIOUS)] = true;
		values[BIFANG_SLOT(TABLES_UUID)] = CStringGetTextDatum(t->uuid);
		replace[BIFANG_SLOT(TABLES_UUID)] = true;
		tuple = heap_modify_tuple(old, RelationGetDescr(rel), values, nulls, replace);
		CatalogTupleUpdate(rel, &old->t_self, tuple);
	}
	table_close(rel, RowExclusiveLock);
	return old != NULL;
}

bool
bifang_catalog_delete_table(const BifangLakeTable *t)
{
	Relation rel = bifang_rows_open("iceberg_tables", RowExclusiveLock);
	HeapTuple old = lock_table_row(rel, t);

	if (old != NULL)
		CatalogTupleDelete(rel, &old->t_self);
	table_close(rel, RowExclusiveLock);
	return old != NULL;
}

void
bifang_catalog_check_names(const BifangLakeTable *t)
{
	const char *names[] = {t->catalog, t->ns, t->name};

	for (int i = 0; i < (int) lengthof(names); i++)
		if (names[i][0] == '\0' || pg_mbstrlen(names[i]) > 255)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_NAME),
					 errmsg("catalog, namespace and table name must have 1 to 255 characters")));
}
