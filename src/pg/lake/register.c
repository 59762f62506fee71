/*
 * pg/lake/register.c: bifang.register_table(): a table that exists becomes one of the catalog.
 *
 * One that was in a catalog here before is that table again, with its ledgers. Foreign tables of
 * the server that find it by its location are bound to it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_foreign_table.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "pg/catalog/cache.h"
#include "pg/catalog/option_table.h"
#include "pg/catalog/walls.h"
#include "pg/lake/create.h"
#include "pg/lake/servers.h"
#include "pg/lake/table_options.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"
#include "pg/server/remove.h"
#include "pg/server/version.h"
#include "pg/write/locks.h"

PG_FUNCTION_INFO_V1(bifang_register_table);

/* What is the same table? -----------------------------------------------------------------------
 */

/* Of rows that other engines made only the metadata knows it. */
static bool
has_uuid(const BifangLakeTable *row, const char *uuid)
{
	BfArena *arena;
	BfIceTable *t;
	BfError err = {0};
	bool same;

	if (row->uuid != NULL)
		return strcmp(row->uuid, uuid) == 0;
	arena = bifang_arena(CurrentMemoryContext, "table metadata", BIFANG_ARENA_MAX_METADATA);
	same = bf_ice_load(arena, row->metadata_location, NULL, &t, &err) == BF_OK &&
		   strcmp(t->metadata->uuid, uuid) == 0;
	bifang_arena_free(arena);
	return same;
}

/* Two catalog rows over one table would each miss what the other commits. */
static bool
same_uuid(void *arg, const BifangLakeTable *row)
{
	const char *uuid = arg;

	if (has_uuid(row, uuid))
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
						errmsg("lake table %s.%s of catalog \"%s\" is the same table", row->ns,
							   row->name, row->catalog),
						errdetail("Both have uuid %s.", uuid)));
	return true;
}

typedef struct Attached
{
	List *ledgers; /* BifangLedger * */
} Attached;

static bool
drop_attached(void *arg, const BifangLakeTable *row)
{
	Attached *a = arg;
	ListCell *lc;

	foreach (lc, a->ledgers)
		if (((BifangLedger *) lfirst(lc))->table_id == row->id)
			a->ledgers = foreach_delete_current(a->ledgers, lc);
	return true;
}

/* Ledgers of a table with that uuid that was dropped from this catalog and left them behind: the
 * table that comes back is that one, with its old number. Out of other catalogs they come back at
 * the word of a superuser alone, since a uuid can be written by anybody. */
static List *
ledgers_left(const BifangLakeTable *row)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	Attached a = {NIL};
	List *all = bifang_catalog_all_ledgers(snap);
	ListCell *lc;

	UnregisterSnapshot(snap);
	foreach (lc, all)
		if (strcmp(((BifangLedger *) lfirst(lc))->table_uuid, row->uuid) == 0)
			a.ledgers = lappend(a.ledgers, lfirst(lc));
	if (a.ledgers != NIL)
		bifang_catalog_visit_tables(drop_attached, &a);
	foreach (lc, a.ledgers)
	{
		const BifangLedger *l = lfirst(lc);

		if (strcmp(l->catalog, row->catalog) != 0 && !superuser())
			ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
							errmsg("rows of table %s.%s are in ledgers of another catalog", row->ns,
								   row->name),
							errhint("A superuser can register the table with all its rows.")));
		if (l->table_id != ((BifangLedger *) linitial(a.ledgers))->table_id)
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
							errmsg("rows of two tables have uuid %s", row->uuid),
							errdetail("Ledger " INT64_FORMAT
									  " is of another one than ledger " INT64_FORMAT ".",
									  l->id, ((BifangLedger *) linitial(a.ledgers))->id)));
	}
	return a.ledgers;
}

/* The table comes with coverage of ledgers. Those that this database does not know must not be
 * read from here, nor may their numbers be given out again. */
static void
check_foreign_coverage(const BifangLake *lake, List *known)
{
	int64 id_max = 0;

	for (int32_t i = 0; i < lake->plan->covered.n; i++)
	{
		int64 id = lake->plan->covered.items[i].ledger_id;
		bool found = false;
		ListCell *lc;

		foreach (lc, known)
			found |= ((BifangLedger *) lfirst(lc))->id == id;
		if (!found)
			id_max = Max(id_max, id);
	}
	for (int32_t i = 0; i < lake->plan->n_files; i++)
	{
		const BfIceDataFile *f = &lake->plan->files[i];
		bool found = !f->logical;
		ListCell *lc;

		foreach (lc, known)
			found |= ((BifangLedger *) lfirst(lc))->id == f->log.ledger_id;
		if (!found)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the table names rows in ledger " INT64_FORMAT
							", which this database does not have",
							f->log.ledger_id),
					 errhint("Let the database that wrote them turn them into Parquet first.")));
	}
	bifang_catalog_reserve_ledger_ids(id_max);
}

/* Foreign tables ---------------------------------------------------------------------------------
 */

static char *
table_directory(const char *metadata_path)
{
	char *dir = pstrdup(metadata_path);

	for (int i = 0; i < 2; i++)
	{
		char *slash = strrchr(dir, '/');

		if (slash != NULL)
			*slash = '\0';
	}
	return dir;
}

static bool
is_found_there(Oid relid, BifangOptions o, const BifangLakeTable *row)
{
	bifang_option_take(GetForeignTable(relid)->options, BIFANG_ON_TABLE, &o);
	return o.format->lake && o.location != NULL &&
		   (bifang_same_file(o.location, row->metadata_location) ||
			bifang_same_file(o.location, table_directory(row->metadata_location)));
}

static void
bind_foreign_table(Oid relid, const BifangLakeTable *row)
{
	const char *name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
												  get_rel_name(relid));

	if (!bifang_owns_relation(relid, GetUserId()))
	{
		ereport(NOTICE, (errmsg("foreign table %s finds the table by its location still", name),
						 errdetail("You do not own it.")));
		return;
	}
	bifang_alter_table_options(relid, list_make3(bifang_option_change("location", NULL),
												 bifang_option_change("namespace", row->ns),
												 bifang_option_change("table", row->name)));
	ereport(NOTICE, (errmsg("foreign table %s is bound to the registered table %s.%s", name,
							row->ns, row->name)));
}

/* Those of the server that were imported from the directory are the registered table from now on.
 */
static void
bind_foreign_tables(const BifangOptions *o, const BifangLakeTable *row)
{
	Relation rel = table_open(ForeignTableRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	BifangOptions server;
	List *found = NIL;
	HeapTuple tuple;
	ListCell *lc;

	bifang_server_options_get(o->serverid, &server);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_foreign_table f = (Form_pg_foreign_table) GETSTRUCT(tuple);

		if (f->ftserver == o->serverid)
			found = lappend_oid(found, f->ftrelid);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	foreach (lc, found)
		if (is_found_there(lfirst_oid(lc), server, row))
			bind_foreign_table(lfirst_oid(lc), row);
	CommandCounterIncrement();
}

/* The function --------------------------------------------------------------------------------- */

Datum
bifang_register_table(PG_FUNCTION_ARGS)
{
	char *location = bifang_to_utf8(
		bifang_local_path(text_to_cstring(PG_GETARG_TEXT_PP(3)), "location of a lake table"));
	BfArena *arena =
		bifang_arena(CurrentMemoryContext, "table metadata", BIFANG_ARENA_MAX_METADATA);
	const char *metadata_path;
	const BifangLake *lake;
	BifangLakeTable row;
	BifangOptions o;
	BfError err = {0};
	const char *uuid;
	List *left;

	bifang_check_path_role("bifang.register_table");
	bifang_name_arguments("bifang.register_table()", NameStr(*PG_GETARG_NAME(0)),
						  text_to_cstring(PG_GETARG_TEXT_PP(1)),
						  text_to_cstring(PG_GETARG_TEXT_PP(2)), &o);
	bifang_refuse_existing(&o, &row);
	BIFANG_CHECK(bf_ice_find_metadata(arena, location, &metadata_path, &err), &err);
	lake = bifang_lake_open(CurrentMemoryContext, metadata_path);
	uuid = lake->table->metadata->uuid;
	if (uuid[0] == '\0')
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("table \"%s\" has no uuid", metadata_path),
						errhint("Let another engine upgrade it to format version 2.")));
	bifang_lock_uuid(uuid);
	bifang_catalog_visit_tables(same_uuid, (void *) uuid);
	row.catalog = bifang_catalog_claim(&o);
	row.metadata_location = metadata_path;
	row.uuid = uuid;
	left = ledgers_left(&row);
	if (left != NIL)
		row.id = ((BifangLedger *) linitial(left))->table_id;
	check_foreign_coverage(lake, left);
	bifang_catalog_check_names(&row);
	bifang_catalog_insert_table(&row);
	CommandCounterIncrement();
	bind_foreign_tables(&o, &row);
	return CStringGetTextDatum(uuid);
}
