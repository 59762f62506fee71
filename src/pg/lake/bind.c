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
#include "utils/varlena.h"

#include "pg/catalog/cache.h"
#include "pg/catalog/option_table.h"
#include "pg/convert/out.h"
#include "pg/convert/typemap.h"
#include "pg/lake/bind.h"
#include "pg/lake/create.h"
#include "pg/lake/table_options.h"
#include "pg/server/encoding.h"
#include "pg/server/settings.h"
#include "pg/write/partition.h"
#include "pg/write/table.h"

PG_FUNCTION_INFO_V1(bifang_on_create_foreign_table);

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
	f = options.field_id > 0
			? bf_schema_find_id(schema, options.field_id)
			: bf_schema_find_name(
				  schema, bifang_to_utf8(bifang_column_name(&options, NameStr(att->attname))));
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
		bifang_add_column_option(relid, att->attnum, "field_id",
								 psprintf("%d", schema->fields[f].id));
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

/* Accidents ----------------------------------------------------------------------------------- */

#define TYPO_MAX 2 /* letters that differ in a name that was meant */

typedef struct Nearest
{
	const BifangLakeTable *wanted;
	const char *name;
	int distance;
} Nearest;

static bool
is_nearer(void *arg, const BifangLakeTable *row)
{
	Nearest *n = arg;
	int len = (int) strlen(n->wanted->name);
	int other = (int) strlen(row->name);
	int distance;

	if (strcmp(row->catalog, n->wanted->catalog) != 0 || strcmp(row->ns, n->wanted->ns) != 0 ||
		len > NAMEDATALEN || other > NAMEDATALEN)
		return true;
	distance = varstr_levenshtein_less_equal(n->wanted->name, len, row->name, other, 1, 1, 1,
											 n->distance, true);
	if (distance < n->distance && distance < len)
	{
		n->distance = distance;
		n->name = pstrdup(row->name);
	}
	return true;
}

/* The table of the namespace that may be the one that a misspelt option means; NULL: none. */
static const char *
nearest_table(const BifangLakeTable *wanted)
{
	Nearest n = {wanted, NULL, TYPO_MAX + 1};

	bifang_catalog_visit_tables(is_nearer, &n);
	return n.name;
}

static bool
same_spec(const BfIceSpec *a, const BfIceSpec *b)
{
	if (a->n_fields != (b == NULL ? 0 : b->n_fields))
		return false;
	for (int32 i = 0; i < a->n_fields; i++)
		if (a->fields[i].source_id != b->fields[i].source_id ||
			a->fields[i].transform.kind != b->fields[i].transform.kind ||
			a->fields[i].transform.param != b->fields[i].transform.param)
			return false;
	return true;
}

/* The option says how a table is made. Of one that is there it may say what is the case. */
static void
check_partition(const BifangOptions *o, const BifangLakeTable *row)
{
	const BfIceTable *t = bifang_lake_table(CurrentMemoryContext, row->metadata_location);

	if (o->partition_by == NULL ||
		same_spec(bifang_partition_spec(t->schema, bifang_partition_split(o->partition_by)),
				  bf_ice_spec(t->metadata, t->metadata->specs.default_id)))
		return;
	ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
					errmsg("lake table %s.%s exists already and is not partitioned by %s", row->ns,
						   row->name, o->partition_by),
					errhint("Drop option \"partition_by\": it is used when a table is created.")));
}

/* The command --------------------------------------------------------------------------------- */

static void
check_column_options(Oid relid, const BifangFormat *format)
{
	Relation rel = relation_open(relid, NoLock);
	TupleDesc desc = RelationGetDescr(rel);

	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			bifang_option_check_format(GetForeignColumnOptions(relid, (AttrNumber) (i + 1)),
									   BIFANG_ON_COLUMN, format);
	relation_close(rel, NoLock);
}

static void
bind_table(Oid relid)
{
	BifangOptions o;
	BifangLakeTable row;
	List *added = NIL;
	bool given;

	bifang_options_get(relid, &o);
	given = o.table != NULL;
	bifang_option_check_format(GetForeignTable(relid)->options, BIFANG_ON_TABLE, o.format);
	check_column_options(relid, o.format);
	if (!o.format->lake || o.location != NULL)
		return;
	if (o.ns == NULL)
	{
		o.ns = get_namespace_name(get_rel_namespace(relid));
		added = lappend(added, bifang_option_change("namespace", o.ns));
	}
	if (o.table == NULL)
	{
		o.table = get_rel_name(relid);
		added = lappend(added, bifang_option_change("table", o.table));
	}
	if (added != NIL)
	{
		bifang_alter_table_options(relid, added);
		CommandCounterIncrement();
	}
	if (!bifang_create_on_ddl || bifang_session_restores_dump())
		return;
	if (!bifang_lookup_now(&o, &row))
	{
		const char *near = given ? nearest_table(&row) : NULL;

		(void) bifang_make_table(&o, bifang_schema_of_relation(relid),
								 o.partition_by == NULL ? NIL
														: bifang_partition_split(o.partition_by));
		if (!bifang_lookup_now(&o, &row))
			elog(ERROR, "lake table %s.%s vanished", o.ns, o.table);
		ereport(
			NOTICE,
			(errmsg("lake table %s.%s is created in catalog \"%s\"", row.ns, row.name, row.catalog),
			 near != NULL ? errhint("The catalog has a table %s.%s; drop the new one with "
									"bifang.drop_table() if that was meant.",
									row.ns, near)
						  : 0));
	}
	else
	{
		check_partition(&o, &row);
		ereport(NOTICE, (errmsg("foreign table \"%s\" is bound to lake table %s.%s of catalog "
								"\"%s\", which exists already",
								get_rel_name(relid), row.ns, row.name, row.catalog)));
	}
	if (!o.remote_catalog) /* nobody here drops what is another server's */
		bifang_table_lock(&o, BIFANG_TABLE_WRITE, &row);
	Assert(row.metadata_location != NULL);
	bind_columns(relid, &row);
	CommandCounterIncrement();
}

/* The query has no operator: one of a schema that the caller's search_path puts in front would run
 * with the rights of the caller. */
List *
bifang_new_tables(void)
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
		tables = bifang_new_tables();
		foreach (lc, tables)
			bind_table(lfirst_oid(lc));
	}
	PG_RETURN_NULL();
}
