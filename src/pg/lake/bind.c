/*
 * pg/lake/bind.c: what CREATE FOREIGN TABLE does beyond PostgreSQL's own part.
 *
 * At the end of the command an event trigger looks at each new foreign table of the wrapper. Its
 * options must be of use for its format, which the server may have said. Then, when it is a table
 * of the catalog (format iceberg, no location):
 *
 *   1. options namespace and table, where left out, become the schema's and the relation's name
 *   2. the catalog has no such table: it is made from the columns (option partition_by)
 *      it has one: every column must be there with a type that can be read as declared
 *   3. each column's field id becomes its option field_id
 *
 * Step 2 and 3 are left out with bifang.create_on_ddl off and in a session that restores a dump:
 * there the catalog rows come after the table definitions.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "pg/catalog/cache.h"
#include "pg/catalog/option_table.h"
#include "pg/convert/out.h"
#include "pg/convert/typemap.h"
#include "pg/lake/create.h"
#include "pg/server/encoding.h"
#include "pg/server/settings.h"
#include "pg/write/partition.h"
#include "pg/write/table.h"

PG_FUNCTION_INFO_V1(bifang_on_create_foreign_table);

/* Options ------------------------------------------------------------------------------------- */

static DefElem *
option_to_add(const char *name, const char *value)
{
	return makeDefElemExtended(NULL, pstrdup(name), (Node *) makeString(pstrdup(value)),
							   DEFELEM_ADD, -1);
}

static Oid
wrapper_validator(Oid relid)
{
	ForeignServer *server = GetForeignServer(GetForeignServerIdByRelId(relid));

	return GetForeignDataWrapper(server->fdwid)->fdwvalidator;
}

/* Into the options of a catalog's row: `old` are those that it has, `n` its columns, `at` the one
 * of the options. */
static void
add_options(Oid catalog, Oid relid, HeapTuple tuple, Datum old, int n, AttrNumber at, List *options)
{
	Relation rel = table_open(catalog, RowExclusiveLock);
	Datum *values = palloc0(sizeof *values * (Size) n);
	bool *nulls = palloc0(sizeof *nulls * (Size) n);
	bool *replace = palloc0(sizeof *replace * (Size) n);

	Assert(RelationGetDescr(rel)->natts == n && at > 0 && at <= n);
	values[at - 1] = transformGenericOptions(catalog, old, options, wrapper_validator(relid));
	replace[at - 1] = true;
	tuple = heap_modify_tuple(tuple, RelationGetDescr(rel), values, nulls, replace);
	CatalogTupleUpdate(rel, &tuple->t_self, tuple);
	CacheInvalidateRelcacheByRelid(relid);
	table_close(rel, RowExclusiveLock);
}

static void
add_table_options(Oid relid, List *options)
{
	HeapTuple tuple = SearchSysCacheCopy1(FOREIGNTABLEREL, ObjectIdGetDatum(relid));
	bool is_null;
	Datum old;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for foreign table %u", relid);
	old = SysCacheGetAttr(FOREIGNTABLEREL, tuple, Anum_pg_foreign_table_ftoptions, &is_null);
	add_options(ForeignTableRelationId, relid, tuple, is_null ? PointerGetDatum(NULL) : old,
				Natts_pg_foreign_table, Anum_pg_foreign_table_ftoptions, options);
}

static void
add_column_option(Oid relid, AttrNumber attnum, const char *name, const char *value)
{
	HeapTuple tuple = SearchSysCacheCopyAttNum(relid, attnum);
	bool is_null;
	Datum old;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for attribute %d of relation %u", attnum, relid);
	old = SysCacheGetAttr(ATTNUM, tuple, Anum_pg_attribute_attfdwoptions, &is_null);
	add_options(AttributeRelationId, relid, tuple, is_null ? PointerGetDatum(NULL) : old,
				Natts_pg_attribute, Anum_pg_attribute_attfdwoptions,
				list_make1(option_to_add(name, value)));
}

/* Columns ------------------------------------------------------------------------------------- */

static void
bind_column(Oid relid, Form_pg_attribute att, const BfSchema *schema, const BifangLakeTable *row)
{
	BifangColumnOptions options;
	int32_t f;

	Assert(att->attnum > 0 && !att->attisdropped);
	bifang_column_options_get(relid, att->attnum, &options);
	if (options.meta != BF_FACT_NONE)
		return;
	f = options.field_id > 0 ? bf_schema_find_id(schema, options.field_id)
							 : bf_schema_find_name(schema, bifang_to_utf8(NameStr(att->attname)));
	if (f < 0)
		ereport(ERROR, (errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
						errmsg("lake table %s.%s exists already and has no column \"%s\"", row->ns,
							   row->name, NameStr(att->attname)),
						errhint("IMPORT FOREIGN SCHEMA declares the columns as they are.")));
	if (!bifang_out_can_read(&schema->fields[f], att->atttypid, att->atttypmod))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
				 errmsg("lake table %s.%s exists already and its column \"%s\" is of type %s, "
						"which cannot be read as %s",
						row->ns, row->name, bifang_shown(schema->fields[f].name),
						bifang_type_text(schema->fields[f].type),
						bifang_pg_type_text(att->atttypid, att->atttypmod)),
				 errhint("IMPORT FOREIGN SCHEMA declares the columns as they are.")));
	if (options.field_id == 0 && schema->fields[f].id > 0)
		add_column_option(relid, att->attnum, "field_id", psprintf("%d", schema->fields[f].id));
}

static void
bind_columns(Oid relid, const BifangLakeTable *row)
{
	const BfSchema *schema =
		bifang_lake_table(CurrentMemoryContext, row->metadata_location)->schema;
	Relation rel = relation_open(relid, NoLock);
	TupleDesc desc = CreateTupleDescCopy(RelationGetDescr(rel));

	relation_close(rel, NoLock);
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			bind_column(relid, TupleDescAttr(desc, i), schema, row);
}

/* The command --------------------------------------------------------------------------------- */

static void
bind_table(Oid relid)
{
	BifangOptions o;
	BifangLakeTable row;
	List *added = NIL;

	bifang_options_get(relid, &o);
	bifang_option_check_format(GetForeignTable(relid)->options, BIFANG_ON_TABLE, o.format);
	if (!o.format->lake || o.location != NULL)
		return;
	if (o.ns == NULL)
	{
		o.ns = get_namespace_name(get_rel_namespace(relid));
		added = lappend(added, option_to_add("namespace", o.ns));
	}
	if (o.table == NULL)
	{
		o.table = get_rel_name(relid);
		added = lappend(added, option_to_add("table", o.table));
	}
	if (added != NIL)
	{
		add_table_options(relid, added);
		CommandCounterIncrement();
	}
	if (!bifang_create_on_ddl || bifang_session_restores_dump())
		return;
	if (!bifang_lookup_now(&o, &row))
	{
		(void) bifang_make_table(&o, bifang_schema_of_relation(relid),
								 o.partition_by == NULL ? NIL
														: bifang_partition_split(o.partition_by));
		if (!bifang_lookup_now(&o, &row))
			elog(ERROR, "lake table %s.%s vanished", o.ns, o.table);
	}
	bifang_table_lock(&o, BIFANG_TABLE_WRITE, &row);
	Assert(row.metadata_location != NULL);
	bind_columns(relid, &row);
	CommandCounterIncrement();
}

/* Foreign tables of our wrapper that the current command made. The query has no operator: one of a
 * schema that the caller's search_path puts in front would run with the rights of the caller. */
static List *
new_tables(void)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid wrapper = get_foreign_data_wrapper_oid("bifang_fdw", true);
	List *result = NIL;

	if (!OidIsValid(wrapper))
		return NIL;
	SPI_connect();
	if (SPI_execute("SELECT objid, command_tag FROM pg_catalog.pg_event_trigger_ddl_commands()",
					true, 0) != SPI_OK_SELECT)
		elog(ERROR, "cannot read the commands of the event");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple tuple = SPI_tuptable->vals[i];
		bool is_null;
		Oid relid = DatumGetObjectId(SPI_getbinval(tuple, SPI_tuptable->tupdesc, 1, &is_null));
		const char *tag = SPI_getvalue(tuple, SPI_tuptable->tupdesc, 2);
		MemoryContext old;

		if (tag == NULL || strcmp(tag, "CREATE FOREIGN TABLE") != 0)
			continue;
		if (GetForeignServer(GetForeignServerIdByRelId(relid))->fdwid != wrapper)
			continue;
		old = MemoryContextSwitchTo(caller);
		result = list_append_unique_oid(result, relid);
		MemoryContextSwitchTo(old);
	}
	SPI_finish();
	return result;
}

Datum
bifang_on_create_foreign_table(PG_FUNCTION_ARGS)
{
	List *tables;
	ListCell *lc;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("bifang.on_create_foreign_table() must be called as event trigger")));
	if (!IsBinaryUpgrade)
	{
		tables = new_tables();
		foreach (lc, tables)
			bind_table(lfirst_oid(lc));
	}
	PG_RETURN_NULL();
}
