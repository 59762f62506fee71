/*
 * pg/lake/create.c: making and dropping lake tables; see create.h.
 *
 * A new table's directory is <warehouse>/<namespace>/<table>, with unusual characters replaced and
 * a few digits of a random number behind it when that name is taken; below the data directory it is
 * just such a number, since paths there must be short (options.h). Its metadata file is written
 * first, then the catalog row, in the caller's transaction; when that is rolled back the file is
 * garbage that nothing names.
 */
#include "pg/lake/create.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "commands/defrem.h"
#include "commands/sequence.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/parse_type.h"
#include "parser/parser.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/ascii.h"
#include "iceberg/commit.h"
#include "pg/catalog/cache.h"
#include "pg/catalog/tail.h"
#include "pg/catalog/walls.h"
#include "pg/convert/typemap.h"
#include "pg/lake/places.h"
#include "pg/lake/servers.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"
#include "pg/write/modify.h"
#include "pg/write/partition.h"
#include "pg/write/owner.h"
#include "pg/write/table.h"

PG_FUNCTION_INFO_V1(bifang_create_table_like);
PG_FUNCTION_INFO_V1(bifang_create_table_text);
PG_FUNCTION_INFO_V1(bifang_drop_table);

/* Columns ------------------------------------------------------------------------------------- */

static void
add_field(BfSchema *schema, const char *name, Oid typid, int32 typmod, bool required)
{
	BfField *f = &schema->fields[schema->n_fields++];
	const char *why = "";

	Assert(f->name == NULL);
	f->name = bifang_to_utf8(name);
	f->required = required;
	if (!bifang_type_for_pg(typid, typmod, &f->type, &why))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
				 errmsg("column \"%s\" of type %s cannot be stored in a lake table", name,
						bifang_pg_type_text(typid, typmod)),
				 errdetail("%s", psprintf("%c%s.", pg_toupper((unsigned char) why[0]), why + 1))));
}

static BfSchema *
new_schema(int n_fields_max)
{
	BfSchema *schema = palloc0(sizeof *schema);

	schema->fields = palloc0(sizeof *schema->fields * (Size) Max(n_fields_max, 1));
	return schema;
}

BfSchema *
bifang_schema_of_relation(Oid relid)
{
	Relation rel = relation_open(relid, AccessShareLock);
	TupleDesc desc = RelationGetDescr(rel);
	BfSchema *schema = new_schema(desc->natts);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		BifangColumnOptions options = {0};

		if (att->attisdropped)
			continue;
		if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
			bifang_column_options_get(relid, att->attnum, &options);
		if (options.meta == BF_FACT_NONE)
			add_field(schema, bifang_column_name(&options, NameStr(att->attname)), att->atttypid,
					  att->atttypmod, att->attnotnull);
	}
	relation_close(rel, AccessShareLock);
	return schema;
}

static bool
is_not_null(const ColumnDef *column)
{
	ListCell *lc;

	foreach (lc, column->constraints)
	{
		const Constraint *c = lfirst(lc);

		if (c->contype == CONSTR_NOTNULL)
			return true;
		if (c->contype != CONSTR_NULL)
			ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
							errmsg("column \"%s\" of a lake table can only be NOT NULL",
								   column->colname)));
	}
	return column->is_not_null;
}

/* "id bigint not null, ts timestamptz" as the server's own grammar reads it. */
static BfSchema *
schema_of_text(const char *columns)
{
	List *parsed = raw_parser(psprintf("CREATE TABLE columns (%s)", columns), RAW_PARSE_DEFAULT);
	CreateStmt *stmt = NULL;
	BfSchema *schema;
	ListCell *lc;

	if (list_length(parsed) == 1 && IsA(linitial_node(RawStmt, parsed)->stmt, CreateStmt))
		stmt = (CreateStmt *) linitial_node(RawStmt, parsed)->stmt;
	if (stmt == NULL || stmt->inhRelations != NIL || stmt->partspec != NULL ||
		stmt->options != NIL || stmt->tablespacename != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("not a list of columns: \"%s\"", columns),
				 errhint("Write it as in CREATE TABLE: 'id bigint not null, ts timestamptz'.")));
	schema = new_schema(list_length(stmt->tableElts));
	foreach (lc, stmt->tableElts)
	{
		const ColumnDef *column = lfirst(lc);
		int32 typmod;
		Oid typid;

		if (!IsA(column, ColumnDef))
			ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
							errmsg("lake tables have columns only, no table constraints")));
		typenameTypeIdAndMod(NULL, column->typeName, &typid, &typmod);
		add_field(schema, column->colname, typid, typmod, is_not_null(column));
	}
	return schema;
}

static void
check_duplicates(const BfSchema *schema)
{
	if (schema->n_fields == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_TABLE_DEFINITION),
						errmsg("a lake table needs at least one column")));
	for (int i = 0; i < schema->n_fields; i++)
		if (bf_schema_find_name(schema, schema->fields[i].name) != i)
			ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
							errmsg("column \"%s\" specified more than once",
								   bifang_shown(schema->fields[i].name))));
}

/* Making -------------------------------------------------------------------------------------- */

/* A part of a path that any file system and URI takes as it is. */
static char *
path_part(const char *name, bool *changed)
{
	char *part = pstrdup(name);

	for (char *p = part; *p != '\0'; p++)
		if (!(bf_ascii_letter(*p) || bf_ascii_digit(*p) || *p == '_' || *p == '-' ||
			  (*p == '.' && p != part)))
		{
			*p = '_';
			*changed = true;
		}
	if (strlen(part) > 100)
	{
		part[100] = '\0';
		*changed = true;
	}
	Assert(part[0] != '.' && strchr(part, '/') == NULL);
	return part;
}

static char *
new_directory(const BifangOptions *o)
{
	const BfHost *host = bifang_host();
	bool changed = false;
	char *ns = path_part(o->ns, &changed);
	char *dir = psprintf("%s/%s/%s", o->warehouse, ns, path_part(o->table, &changed));
	size_t n = strlen(DataDir);
	bool embedded = strncmp(o->warehouse, DataDir, n) == 0 && o->warehouse[n] == '/';

	for (int attempt = 0; attempt < 100; attempt++)
	{
		BfPathInfo info;
		uint32 random;
		BfError err = {0};
		char *candidate = dir;

		if (attempt > 0 || changed || embedded)
		{
			BIFANG_CHECK(host->random(host, &random, sizeof random, &err), &err);
			candidate = embedded ? psprintf("%s/%08x", o->warehouse, random)
								 : psprintf("%s-%08x", dir, random);
		}
		BIFANG_CHECK(host->stat(host, candidate, &info, &err), &err);
		if (info.kind == BF_PATH_MISSING)
			return candidate;
	}
	ereport(ERROR, (errcode(ERRCODE_DUPLICATE_FILE), errmsg("no free directory \"%s\"", dir)));
}

const char *
bifang_make_table(const BifangOptions *o, BfSchema *schema, List *partition_by)
{
	BifangLakeTable row = {.catalog = o->catalog_name, .ns = o->ns, .name = o->table};
	BfArena *arena = bifang_arena(CurrentMemoryContext, "new table", BIFANG_ARENA_MAX_METADATA);
	/* Each commit writes a metadata file, so tables that are ours from the start don't keep all. */
	const char *const keys[] = {BIFANG_ORIGIN_PROPERTY, BF_ICE_DELETE_OLD_METADATA};
	const char *const values[] = {bifang_catalog_origin(), "true"};
	const char *metadata_path;
	const BfIceTable *t;
	BifangMark ours;
	BfIceSpec *spec;
	BfError err = {0};

	bifang_options_check_write(o);
	bifang_catalog_check_adopted();
	bifang_catalog_check_names(&row);
	check_duplicates(schema);
	for (int i = 0; i < schema->n_fields; i++)
		schema->fields[i].id = i + 1;
	spec = bifang_partition_spec(schema, partition_by);
	row.catalog = bifang_catalog_claim(o);
	BIFANG_CHECK(bf_ice_create(arena, new_directory(o), NULL, schema, spec, keys, values,
							   lengthof(keys), &metadata_path, &err),
				 &err);
	bifang_remove_on_abort(metadata_path, 2);
	Assert(metadata_path[0] == '/');
	t = bifang_lake_table(CurrentMemoryContext, metadata_path);
	row.metadata_location = metadata_path;
	row.uuid = t->metadata->uuid;
	bifang_catalog_insert_table(&row);
	CommandCounterIncrement();
	ours = bifang_mark_ours(t->metadata->uuid, row.ns, row.name);
	bifang_owner_claim(t->location.found, &ours);
	/* Removed before the directory that it is in. */
	bifang_remove_on_abort(psprintf("%s/" BIFANG_OWNER_FILE, t->location.found), 0);
	return t->metadata->uuid;
}

bool
bifang_lookup_now(const BifangOptions *o, BifangLakeTable *row)
{
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	bool found = bifang_catalog_lookup(o, snap, row);

	UnregisterSnapshot(snap);
	return found;
}

void
bifang_refuse_existing(const BifangOptions *o, BifangLakeTable *row)
{
	if (bifang_lookup_now(o, row))
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
						errmsg("lake table %s.%s already exists in catalog \"%s\"", row->ns,
							   row->name, row->catalog)));
	Assert(row->metadata_location == NULL);
}

static Datum
create_named(FunctionCallInfo fcinfo, BfSchema *schema)
{
	BifangOptions o;
	BifangLakeTable row;

	bifang_name_arguments("bifang.create_table()", NameStr(*PG_GETARG_NAME(0)),
						  text_to_cstring(PG_GETARG_TEXT_PP(1)),
						  text_to_cstring(PG_GETARG_TEXT_PP(2)), &o);
	bifang_refuse_existing(&o, &row);
	return CStringGetTextDatum(bifang_make_table(
		&o, schema, PG_ARGISNULL(4) ? NIL : bifang_partition_list(PG_GETARG_ARRAYTYPE_P(4))));
}

static void
refuse_null_arguments(FunctionCallInfo fcinfo)
{
	for (int i = 0; i < 4; i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
							errmsg("server, namespace, table_name and columns must not be null")));
}

Datum
bifang_create_table_like(PG_FUNCTION_ARGS)
{
	refuse_null_arguments(fcinfo);
	return create_named(fcinfo, bifang_schema_of_relation(PG_GETARG_OID(3)));
}

Datum
bifang_create_table_text(PG_FUNCTION_ARGS)
{
	refuse_null_arguments(fcinfo);
	return create_named(fcinfo, schema_of_text(text_to_cstring(PG_GETARG_TEXT_PP(3))));
}

/* Dropping ------------------------------------------------------------------------------------ */

/* Files of a table that another database made are not ours to remove, nor those of a directory that
 * the metadata calls its own but that we did not make. Files that the server's own directories
 * don't hold need the role that can write there. */
static void
check_purge(const BifangOptions *o, const BifangLakeTable *row, const BfIceTable *t)
{
	const char *origin = bf_ice_property(t->metadata, BIFANG_ORIGIN_PROPERTY);

	bifang_options_check_write(o);
	if (origin != NULL && !bifang_table_is_own(t))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("files of the table belong to another database"),
				 errdetail("They were made by database %s (system identifier/oid), this is %s.",
						   origin, bifang_catalog_origin()),
				 errhint("Drop the table without purge.")));
	if (!bifang_table_may_remove(t, row->metadata_location))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("directory \"%s\" is not known to belong to this table", t->location.found),
				 errhint("Drop the table without purge, and remove what is to go by hand.")));
	bifang_table_check_write(o, t, GetUserId(), "remove");
}

static void
purge_table(const BifangOptions *o, const BifangLakeTable *row, const BfIceTable *t)
{
	Snapshot snap;
	List *ledgers;
	ListCell *lc;

	bifang_catalog_check_uuid(row, t->metadata->uuid);
	check_purge(o, row, t);
	Assert(bifang_table_is_locked(row->id, BIFANG_TABLE_DROP));
	snap = RegisterSnapshot(GetLatestSnapshot());
	ledgers = bifang_catalog_ledgers(row->id, snap);
	foreach (lc, ledgers)
	{
		BifangLedger *l = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		(void) bifang_writer_retire(l->id);
		bifang_catalog_delete_ledger(l->id);
		(void) bifang_catalog_prune_appends(l->id, PG_INT64_MAX, snap);
		(void) bifang_catalog_delete_tail(l->id, snap);
		if (l->state != BIFANG_LEDGER_OFFLOADED && strcmp(l->origin, bifang_catalog_origin()) == 0)
			bifang_catalog_insert_garbage(l->live_dir, true, "table dropped");
	}
	UnregisterSnapshot(snap);
	/* Not the directory as a whole: what else somebody keeps there is not ours. */
	for (int i = 0; i < (int) lengthof(bifang_table_subdirs); i++)
		bifang_catalog_insert_garbage(psprintf("%s/%s", t->location.found, bifang_table_subdirs[i]),
									  true, "table dropped");
}

Datum
bifang_drop_table(PG_FUNCTION_ARGS)
{
	BifangOptions o;
	BifangLakeTable row;

	bifang_name_arguments("bifang.drop_table()", NameStr(*PG_GETARG_NAME(0)),
						  text_to_cstring(PG_GETARG_TEXT_PP(1)),
						  text_to_cstring(PG_GETARG_TEXT_PP(2)), &o);
	bifang_check_server_owner(o.serverid);
	bifang_table_lock(&o, BIFANG_TABLE_DROP, &row);
	/* Who was let use the tables may not take them from their owner. */
	bifang_check_server_owner(bifang_catalog_named(&o, row.catalog).owner);
	if (bifang_modify_is_running(row.id))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
						errmsg("a statement of this session inserts into lake table %s.%s", row.ns,
							   row.name)));
	if (!bifang_catalog_delete_table(&row))
		ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						errmsg("lake table %s.%s changed meanwhile", row.ns, row.name)));
	if (PG_GETARG_BOOL(3))
		purge_table(&o, &row, bifang_lake_table(CurrentMemoryContext, row.metadata_location));
	CommandCounterIncrement();
	PG_RETURN_VOID();
}
