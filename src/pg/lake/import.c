/*
 * pg/lake/import.c: IMPORT FOREIGN SCHEMA; see import.h.
 */
#include "pg/lake/import.h"

#include "catalog/heap.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "iceberg/table.h"
#include "parquet/parquet.h"
#include "pg/catalog/catalog.h"
#include "pg/catalog/options.h"
#include "pg/catalog/remote.h"
#include "pg/convert/typemap.h"
#include "pg/scan/worklist.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

typedef struct Import
{
	ImportForeignSchemaStmt *stmt;
	BifangOptions options;
	BifangFormat server_format; /* what the server's tables are without an option */
	const char *server_map;		/* its location map */
	List *commands;
	List *names;	   /* of tables that have a command */
	List *directories; /* of tables that the catalog has, whatever their namespace */
	bool found;		   /* the catalog has a table of the namespace */
} Import;

/* Does LIMIT TO or EXCEPT let the name through? */
static bool
wanted(const Import *im, const char *name)
{
	ListCell *lc;

	if (im->stmt->list_type == FDW_IMPORT_SCHEMA_ALL)
		return true;
	foreach (lc, im->stmt->table_list)
		if (strcmp(((RangeVar *) lfirst(lc))->relname, name) == 0)
			return im->stmt->list_type == FDW_IMPORT_SCHEMA_LIMIT_TO;
	return im->stmt->list_type == FDW_IMPORT_SCHEMA_EXCEPT;
}

static bool
has_name(List *names, const char *name)
{
	ListCell *lc;

	foreach (lc, names)
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	return false;
}

static bool
name_fits(const char *name)
{
	return name[0] != '\0' && strlen(name) < NAMEDATALEN &&
		   pg_verifymbstr(name, (int) strlen(name), true);
}

/* The name of a file, directory or topic as PostgreSQL can hold it: too long ones are cut at a
 * character, as the server does with identifiers. */
static char *
fitting_name(const char *name)
{
	int n = (int) strlen(name);

	if (n >= NAMEDATALEN)
	{
		n = pg_mbcliplen(name, n, NAMEDATALEN - 1);
		ereport(NOTICE, (errcode(ERRCODE_NAME_TOO_LONG),
						 errmsg("the name of table \"%.*s\" is cut to %d bytes", n, name, n)));
	}
	return pnstrdup(name, (Size) n);
}

/* Says that a table is left out, and why. Names from files may be anything, hence the care. */
static void left_out(const char *table, const char *fmt, ...) pg_attribute_printf(2, 3);

static void
left_out(const char *table, const char *fmt, ...)
{
	StringInfoData why;
	va_list args;
	int more;

	initStringInfo(&why);
	do
	{
		va_start(args, fmt);
		more = appendStringInfoVA(&why, fmt, args);
		va_end(args);
		if (more > 0)
			enlargeStringInfo(&why, more);
	} while (more > 0);
	ereport(WARNING,
			(errmsg("table \"%s\" is left out: %s",
					pg_verifymbstr(table, (int) strlen(table), true) ? table : "?", why.data)));
}

static void
append_option(StringInfo s, bool *first, const char *name, const char *value)
{
	appendStringInfo(s, "%s%s %s", *first ? "" : ", ", quote_identifier(name),
					 quote_literal_cstr(value));
	*first = false;
}

/* The name that column i gets: its own, or, where PostgreSQL cannot hold that and a field id says
 * which column is meant, one that is like it. NULL (with a WARNING) when there is none. */
static const char *
column_name(const char *table, const BfSchema *schema, int32 i, List *taken)
{
	const BfField *f = &schema->fields[i];
	char *name = pstrdup(f->name);
	Size length = strlen(name);
	char suffix[16] = "";

	if (length == 0 || !pg_verifymbstr(name, (int) length, true) ||
		(length >= NAMEDATALEN && f->id <= 0))
	{
		left_out(table, "column %d has a name that PostgreSQL cannot hold", i + 1);
		return NULL;
	}
	name[pg_mbcliplen(name, (int) length, NAMEDATALEN - 1)] = '\0';
	if (SystemAttributeByName(name) != NULL)
	{
		if (f->id <= 0)
		{
			left_out(table, "column \"%s\" has the name of a system column", name);
			return NULL;
		}
		name = psprintf("%s_", name);
	}
	if (has_name(taken, name))
	{
		if (f->id <= 0)
		{
			left_out(table, "it has two columns \"%s\"", name);
			return NULL;
		}
		snprintf(suffix, sizeof suffix, "_%d", f->id);
		length = strlen(name);
		name[pg_mbcliplen(name, (int) length, NAMEDATALEN - 1 - (int) strlen(suffix))] = '\0';
		name = psprintf("%s%s", name, suffix);
		if (has_name(taken, name))
		{
			left_out(table, "it has two columns \"%s\"", name);
			return NULL;
		}
	}
	if (strcmp(name, f->name) != 0)
		ereport(NOTICE, (errcode(ERRCODE_INVALID_NAME),
						 errmsg("column \"%s\" of table \"%s\" is imported as \"%s\"", f->name,
								table, name)));
	return name;
}

/* Column definitions; false (with a WARNING) when one of them cannot be declared. */
static bool
append_columns(StringInfo s, const char *table, const BfSchema *schema)
{
	List *taken = NIL;

	for (int32 i = 0; i < schema->n_fields; i++)
	{
		const BfField *f = &schema->fields[i];
		const char *name = column_name(table, schema, i, taken);
		Oid typid;
		int32 typmod;

		if (name == NULL)
			return false;
		taken = lappend(taken, (void *) name);
		if (!bifang_type_default(f, &typid, &typmod))
		{
			left_out(table, "column \"%s\" is of type %s, which is not supported", name,
					 bifang_type_text(f->type));
			return false;
		}
		appendStringInfo(s, "%s\n\t%s %s", i == 0 ? "" : ",", quote_identifier(name),
						 bifang_pg_type_text(typid, typmod));
		if (f->id > 0)
			appendStringInfo(s, " OPTIONS (field_id '%d')", f->id);
	}
	return true;
}

/* CREATE FOREIGN TABLE up to the parenthesis of its options. */
static bool
begin_table(Import *im, StringInfo s, const char *table, const BfSchema *schema,
			const char *columns)
{
	if (!wanted(im, table))
		return false;
	if (!name_fits(table))
	{
		left_out(table, "its name cannot be one in PostgreSQL");
		return false;
	}
	if (has_name(im->names, table))
	{
		left_out(table, "another one has the same name");
		return false;
	}
	initStringInfo(s);
	appendStringInfo(s, "CREATE FOREIGN TABLE %s (", quote_identifier(table));
	if (columns != NULL)
		appendStringInfoString(s, columns);
	else if (!append_columns(s, table, schema))
		return false;
	appendStringInfo(s, "\n) SERVER %s OPTIONS (", quote_identifier(im->stmt->server_name));
	return true;
}

static void
end_table(Import *im, StringInfo s, const char *table)
{
	bool first = false;

	if (im->options.format != im->server_format)
		append_option(s, &first, "format", bifang_format_name(im->options.format));
	if (im->options.location_map != im->server_map)
		append_option(s, &first, "location_map", im->options.location_map);
	appendStringInfoChar(s, ')');
	im->commands = lappend(im->commands, s->data);
	im->names = lappend(im->names, pstrdup(table));
}

/* ---- lake tables ---- */

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static bool
is_metadata_file(const char *path)
{
	return strstr(base_name(path), ".metadata.json") != NULL;
}

/* The directory of a metadata file's table, palloc'd. */
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

/* The current schema of the table at a directory or metadata file, in the current context. NULL
 * when there is no table, or, with a WARNING, when it can't be read: one broken table must not keep
 * the others from being imported. */
static const BfSchema *
lake_schema(const char *place, const char *table)
{
	BfArena *a = bifang_arena(CurrentMemoryContext, "import", BIFANG_ARENA_MAX_METADATA);
	BfIceTable *t;
	const char *metadata;
	BfError err;
	BfStatus status;

	bf_error_clear(&err);
	status = bf_ice_find_metadata(a, place, &metadata, &err);
	if (status == BF_ERR_NOTFOUND && !is_metadata_file(place))
		return NULL;
	if (status == BF_OK)
		status = bf_ice_load(a, metadata, NULL, &t, &err);
	if (status == BF_OK)
		return t->schema;
	bf_error_object(&err, place);
	if (status != BF_ERR_CORRUPT && status != BF_ERR_UNSUPPORTED && status != BF_ERR_NOTFOUND &&
		status != BF_ERR_LIMIT)
		bifang_report(&err);
	bifang_warn(WARNING, &err);
	left_out(table, "its metadata cannot be read");
	return NULL;
}

static bool
import_row(void *arg, const BifangLakeTable *row)
{
	Import *im = arg;
	const BfSchema *schema;
	StringInfoData s;
	bool first = true;

	im->directories = lappend(im->directories, table_directory(row->metadata_location));
	if (strcmp(row->catalog, im->options.catalog_name) != 0 ||
		strcmp(row->ns, im->stmt->remote_schema) != 0)
		return true;
	im->found = true;
	if (!wanted(im, row->name))
		return true;
	schema = lake_schema(row->metadata_location, row->name);
	if (schema == NULL || !begin_table(im, &s, row->name, schema, NULL))
		return true;
	append_option(&s, &first, "namespace", row->ns);
	append_option(&s, &first, "table", row->name);
	end_table(im, &s, row->name);
	return true;
}

typedef struct Names
{
	List *names;
} Names;

static BfStatus
add_directory(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	Names *n = arg;

	(void) err;
	if (kind == BF_PATH_DIR && name[0] != '.')
		n->names = lappend(n->names, pstrdup(name));
	return BF_OK;
}

/* A table that only the directory tells of is read by its location. */
static void
import_directory(Import *im, const char *dir, const char *name)
{
	const char *table = fitting_name(name);
	const BfSchema *schema;
	StringInfoData s;
	bool first = true;

	if (has_name(im->directories, dir) || !wanted(im, table))
		return;
	schema = lake_schema(dir, table);
	if (schema == NULL || !begin_table(im, &s, table, schema, NULL))
		return;
	append_option(&s, &first, "location", dir);
	end_table(im, &s, table);
}

static void
import_lake(Import *im)
{
	const char *dir;
	Names n = {NIL};
	BfPathInfo info;
	BfError err;
	ListCell *lc;

	bifang_options_check_read(&im->options);
	if (im->options.remote_catalog)
	{
		bifang_remote_visit_tables(&im->options, im->stmt->remote_schema, import_row, im);
		return;
	}
	bifang_catalog_visit_tables(import_row, im);
	dir = psprintf("%s/%s", im->options.warehouse, im->stmt->remote_schema);
	bf_error_clear(&err);
	BIFANG_CHECK(bifang_host()->stat(bifang_host(), dir, &info, &err), &err);
	if (info.kind != BF_PATH_DIR || strchr(im->stmt->remote_schema, '/') != NULL ||
		im->stmt->remote_schema[0] == '.')
	{
		if (!im->found)
			ereport(
				ERROR,
				(errcode(ERRCODE_FDW_SCHEMA_NOT_FOUND),
				 errmsg("namespace \"%s\" exists neither in catalog \"%s\" nor in warehouse "
						"\"%s\"",
						im->stmt->remote_schema, im->options.catalog_name, im->options.warehouse)));
		return;
	}
	if (!im->options.own_dirs) /* the embedded warehouse has nothing that the catalog has not */
		return;
	BIFANG_CHECK(bifang_host()->list(bifang_host(), dir, add_directory, &n, &err), &err);
	foreach (lc, n.names)
	{
		CHECK_FOR_INTERRUPTS();
		import_directory(im, psprintf("%s/%s", dir, (char *) lfirst(lc)), lfirst(lc));
	}
}

/* Iceberg tables by directory or metadata file, wherever they are; named after the directory. */
static void
import_directories(Import *im)
{
	ListCell *lc;

	foreach (lc, bifang_expand_location(im->options.location, BIFANG_ICEBERG))
	{
		const char *place = lfirst(lc);
		const char *dir = is_metadata_file(place) ? table_directory(place) : place;

		CHECK_FOR_INTERRUPTS();
		import_directory(im, place, base_name(dir));
	}
}

/* ---- plain Parquet files ---- */

static void
import_file(Import *im, const char *path)
{
	const char *base = base_name(path);
	size_t n = strlen(base);
	const char *name;
	BfArena *a;
	BfSource *source;
	BfParquetFile *file;
	StringInfoData s;
	BfError err;
	BfStatus status;
	bool first = true;

	if (n > 8 && strcmp(base + n - 8, ".parquet") == 0)
		n -= 8;
	name = fitting_name(pnstrdup(base, n));
	if (!wanted(im, name))
		return;
	a = bifang_arena(CurrentMemoryContext, "import", BIFANG_ARENA_MAX_METADATA);
	bf_error_clear(&err);
	status = bf_source_open(a, path, NULL, &source, &err);
	if (status == BF_OK)
		status = bf_parquet_open(a, source, &bf_parquet_default_limits, &file, &err);
	if (status == BF_ERR_CORRUPT || status == BF_ERR_UNSUPPORTED)
	{
		bf_error_object(&err, path);
		bifang_warn(WARNING, &err);
		left_out(name, "its file cannot be read");
	}
	else
	{
		BIFANG_CHECK(status, &err);
		if (begin_table(im, &s, name, bf_parquet_schema(file), NULL))
		{
			append_option(&s, &first, "location", path);
			end_table(im, &s, name);
		}
	}
	bifang_arena_free(a);
}

/* ---- Kafka logs ---- */

static void
import_topic(Import *im, const char *topic)
{
	static const char columns[] = "\n\tpartition integer,\n\t\"offset\" bigint,\n\t\"timestamp\" "
								  "timestamptz,\n\tkey bytea,\n\tvalue bytea,\n\theaders jsonb";
	const char *table = fitting_name(topic);
	StringInfoData s;
	bool first = true;

	if (!begin_table(im, &s, table, NULL, columns))
		return;
	append_option(&s, &first, "location", im->options.location);
	append_option(&s, &first, "topic", topic);
	if (im->options.isolation != BIFANG_READ_COMMITTED)
		append_option(&s, &first, "isolation", "read_uncommitted");
	end_table(im, &s, table);
}

static void
import_topics(Import *im)
{
	List *topics = NIL;
	ListCell *lc;

	foreach (lc, bifang_expand_location(im->options.location, BIFANG_KAFKA_LOG))
	{
		char *topic;
		int32 partition;

		if (bifang_kafka_partition(lfirst(lc), &topic, &partition) && !has_name(topics, topic))
			topics = lappend(topics, topic);
	}
	if (topics == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg("location \"%s\" names no partition directory", im->options.location),
				 errhint("Directories of a Kafka broker are called <topic>-<partition>.")));
	foreach (lc, topics)
		import_topic(im, lfirst(lc));
}

List *
bifangImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid serverOid)
{
	Import im = {.stmt = stmt};
	ListCell *lc;

	bifang_server_options_get(serverOid, &im.options);
	im.server_format = im.options.format;
	im.server_map = im.options.location_map;
	bifang_import_options_get(stmt->options, &im.options);
	if (im.options.format == BIFANG_ICEBERG)
	{
		if (im.options.location != NULL)
			import_directories(&im);
		else
			import_lake(&im);
		return im.commands;
	}
	if (im.options.location == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
						errmsg("import of format \"%s\" needs option \"location\"",
							   bifang_format_name(im.options.format))));
	if (im.options.format == BIFANG_KAFKA_LOG)
		import_topics(&im);
	else
		foreach (lc, bifang_expand_location(im.options.location, BIFANG_PARQUET))
		{
			CHECK_FOR_INTERRUPTS();
			import_file(&im, lfirst(lc));
		}
	return im.commands;
}
