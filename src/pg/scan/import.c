/*
 * pg/scan/import.c: IMPORT FOREIGN SCHEMA; see import.h.
 */
#include "pg/scan/import.h"

#include "access/htup_details.h"
#include "catalog/heap.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "pg/convert/typemap.h"
#include "pg/scan/kind.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"

bool
bifang_import_wants(const BifangImport *im, const char *name)
{
	ListCell *lc;

	if (im->stmt->list_type == FDW_IMPORT_SCHEMA_ALL)
		return true;
	foreach (lc, im->stmt->table_list)
		if (strcmp(((RangeVar *) lfirst(lc))->relname, name) == 0)
			return im->stmt->list_type == FDW_IMPORT_SCHEMA_LIMIT_TO;
	return im->stmt->list_type == FDW_IMPORT_SCHEMA_EXCEPT;
}

bool
bifang_import_has_name(List *names, const char *name)
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

char *
bifang_import_name(const char *utf8)
{
	const char *name = bifang_shown(utf8);
	int n = (int) strlen(name);

	if (n >= NAMEDATALEN)
	{
		n = pg_mbcliplen(name, n, NAMEDATALEN - 1);
		ereport(NOTICE, (errcode(ERRCODE_NAME_TOO_LONG),
						 errmsg("the name of table \"%.*s\" is cut to %d bytes", n, name, n)));
	}
	return pnstrdup(name, (Size) n);
}

void
bifang_import_left_out(const char *table, const char *fmt, ...)
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

void
bifang_import_unread(const char *table, const char *place, const char *why, BfError *err)
{
	bf_error_object(err, place);
	if (err->code != BF_ERR_CORRUPT && err->code != BF_ERR_UNSUPPORTED &&
		err->code != BF_ERR_NOTFOUND && err->code != BF_ERR_LIMIT && err->code != BF_ERR_IO &&
		err->code != BF_ERR_AUTH)
		bifang_report(err);
	bifang_warn(WARNING, err);
	bifang_import_left_out(table, "%s", why);
}

/* Field ids count in lake tables only. */
static bool
has_id(const BifangImport *im, const BfField *f)
{
	return f->id > 0 && im->options.format->lake;
}

/* Nobody's yet, and no other column's by right. */
static bool
is_free(const char *name, const BfSchema *schema, int32 i, List *taken)
{
	const char *utf8 = bifang_to_utf8(name);

	for (int32 k = 0; k < schema->n_fields; k++)
		if (k != i && strcmp(schema->fields[k].name, utf8) == 0 &&
			strcmp(schema->fields[i].name, utf8) != 0)
			return false;
	return SystemAttributeByName(name) == NULL && !bifang_import_has_name(taken, name);
}

/* Column i's name as SQL can have it: like `name`, and free. `number` is the first to be put behind
 * it. */
static const char *
make_up_name(const char *like, int32 number, const BfSchema *schema, int32 i, List *taken)
{
	for (int k = 1;; k++)
	{
		char suffix[16] = "";
		int room;
		char *name;

		if (k > 1)
			snprintf(suffix, sizeof suffix, "_%d", k == 2 ? number : k);
		room = NAMEDATALEN - 1 - (int) strlen(suffix);
		name = psprintf("%.*s%s", pg_mbcliplen(like, (int) strlen(like), room), like, suffix);
		if (SystemAttributeByName(name) != NULL)
			name = psprintf("%s_", name);
		if (is_free(name, schema, i, taken))
			return name;
	}
}

/* The name that column i gets: its own, or, where SQL cannot have that, one that is like it. NULL
 * (with a WARNING) when nothing could say which column is meant. */
static const char *
column_name(const BifangImport *im, const char *table, const BfSchema *schema, int32 i, List *taken)
{
	const BfField *f = &schema->fields[i];
	const char *own = bifang_from_utf8(f->name);
	const char *name;

	if (own == NULL && !has_id(im, f))
	{
		bifang_import_left_out(table, "column %d has a name that PostgreSQL cannot hold", i + 1);
		return NULL;
	}
	if (own == NULL)
		own = bifang_shown(f->name);
	name = make_up_name(own[0] != '\0' ? own : psprintf("column_%d", i + 1),
						has_id(im, f) ? f->id : 2, schema, i, taken);
	if (strcmp(name, own) != 0)
		ereport(NOTICE,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("column \"%s\" of table \"%s\" is imported as \"%s\"", own, table, name)));
	return name;
}

/* What says which column it is, when its name in SQL does not. */
static void
append_column_options(BifangImport *im, const BfSchema *schema, int32 i, const char *name)
{
	const BfField *f = &schema->fields[i];
	int32 occurrence = 1;

	if (has_id(im, f))
	{
		appendStringInfo(&im->command, " OPTIONS (field_id '%d')", f->id);
		return;
	}
	for (int32 k = 0; k < i; k++)
		occurrence += strcmp(schema->fields[k].name, f->name) == 0;
	if (strcmp(name, bifang_from_utf8(f->name)) == 0 && occurrence == 1)
		return;
	appendStringInfo(&im->command, " OPTIONS (column_name %s",
					 quote_literal_cstr(bifang_from_utf8(f->name)));
	if (occurrence > 1)
		appendStringInfo(&im->command, ", occurrence '%d'", occurrence);
	appendStringInfoChar(&im->command, ')');
}

/* Column definitions; false (with a WARNING) when one of them cannot be declared. */
static bool
append_columns(BifangImport *im, const char *table, const BfSchema *schema)
{
	StringInfo s = &im->command;
	List *taken = NIL;

	if (schema->n_fields > MaxHeapAttributeNumber)
	{
		bifang_import_left_out(table, "it has %d columns, PostgreSQL's tables at most %d",
							   schema->n_fields, MaxHeapAttributeNumber);
		return false;
	}
	for (int32 i = 0; i < schema->n_fields; i++)
	{
		const BfField *f = &schema->fields[i];
		const char *name = column_name(im, table, schema, i, taken);
		Oid typid;
		int32 typmod;

		if (name == NULL)
			return false;
		taken = lappend(taken, (void *) name);
		if (!bifang_type_default(f, &typid, &typmod))
		{
			bifang_import_left_out(table, "column \"%s\" is of type %s, which is not supported",
								   name, bifang_type_text(f->type));
			return false;
		}
		if (im->valid_json && f->type.kind == BF_KIND_JSON)
			typid = JSONBOID;
		appendStringInfo(s, "%s\n\t%s %s", i == 0 ? "" : ",", quote_identifier(name),
						 bifang_pg_type_text(typid, typmod));
		append_column_options(im, schema, i, name);
	}
	return true;
}

bool
bifang_import_begin(BifangImport *im, const char *table, const BfSchema *schema)
{
	if (!bifang_import_wants(im, table))
		return false;
	if (!name_fits(table))
	{
		bifang_import_left_out(table, "its name cannot be one in PostgreSQL");
		return false;
	}
	if (bifang_import_has_name(im->names, table))
	{
		bifang_import_left_out(table, "another one has the same name");
		return false;
	}
	initStringInfo(&im->command);
	im->table = table;
	im->has_options = false;
	appendStringInfo(&im->command, "CREATE FOREIGN TABLE %s (", quote_identifier(table));
	if (!append_columns(im, table, schema))
		return false;
	appendStringInfo(&im->command, "\n) SERVER %s OPTIONS (",
					 quote_identifier(im->stmt->server_name));
	return true;
}

void
bifang_import_option(BifangImport *im, const char *name, const char *value)
{
	appendStringInfo(&im->command, "%s%s %s", im->has_options ? ", " : "", quote_identifier(name),
					 quote_literal_cstr(value));
	im->has_options = true;
}

bool
bifang_import_location(BifangImport *im, const char *path)
{
	const char *text = bifang_from_utf8(path);

	if (text == NULL)
		bifang_import_left_out(im->table, "its path cannot be text of this database");
	else
		bifang_import_option(im, "location", text);
	return text != NULL;
}

void
bifang_import_end(BifangImport *im)
{
	Assert(im->table != NULL && im->has_options);
	if (im->options.format != im->server_format)
		bifang_import_option(im, "format", im->options.format->name);
	if (im->options.location_map != im->server_map)
		bifang_import_option(im, "location_map", im->options.location_map);
	appendStringInfoChar(&im->command, ')');
	im->commands = lappend(im->commands, im->command.data);
	im->names = lappend(im->names, pstrdup(im->table));
	im->table = NULL;
}

List *
bifangImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid serverOid)
{
	BifangImport im = {.stmt = stmt};

	bifang_server_options_get(serverOid, &im.options);
	im.server_format = im.options.format;
	im.server_map = im.options.location_map;
	bifang_import_options_get(stmt->options, &im.options);
	if (im.options.format->needs_location && im.options.location == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
						errmsg("import of format \"%s\" needs option \"location\"",
							   im.options.format->name)));
	bifang_kind_of(&im.options)->import(&im);
	return im.commands;
}
