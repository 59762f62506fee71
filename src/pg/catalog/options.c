/*
 * pg/catalog/options.c: see options.h.
 */
#include "pg/catalog/options.h"

#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "pg/catalog/option_table.h"
#include "pg/server/roles.h"

void
bifang_import_options_get(List *options, BifangOptions *io)
{
	bifang_option_check(options, BIFANG_ON_IMPORT);
	bifang_option_take(options, BIFANG_ON_IMPORT, io);
	bifang_option_check_format(options, BIFANG_ON_IMPORT, io->format);
}

void
bifang_server_options_get(Oid serverid, BifangOptions *out)
{
	ForeignServer *server = GetForeignServer(serverid);

	memset(out, 0, sizeof *out);
	out->serverid = serverid;
	out->userid = GetUserId();
	bifang_option_defaults(BIFANG_ON_SERVER | BIFANG_ON_TABLE, out);
	bifang_option_take(server->options, BIFANG_ON_SERVER, out);
	out->remote_catalog = out->catalog_host != NULL;
	out->own_dirs = out->warehouse != NULL || out->live_dir != NULL || out->location_map != NULL;
	out->names_catalog = out->catalog_name != NULL;
	if (!out->names_catalog)
		out->catalog_name = server->servername;
	if (out->warehouse == NULL)
		out->warehouse = psprintf("%s/" BIFANG_EMBEDDED_WAREHOUSE, DataDir);
	if (out->live_dir == NULL)
		out->live_dir = psprintf("%s/bifang/live/%u", DataDir, MyDatabaseId);
	Assert(out->warehouse[0] == '/' && out->live_dir[0] == '/');
}

/* Raises when options of a foreign table contradict each other. */
static void
check_together(const BifangOptions *o)
{
	if ((o->as_of_snapshot != NULL) + (o->as_of_timestamp != NULL) + (o->ref != NULL) > 1)
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
						errmsg("foreign table \"%s\" has more than one of the options "
							   "\"as_of_snapshot\", \"as_of_timestamp\" and \"ref\"",
							   get_rel_name(o->relid))));
	if (o->location != NULL && (o->ns != NULL || o->table != NULL))
		ereport(
			ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("foreign table \"%s\" has option \"location\" and options that name a table "
					"of the catalog",
					get_rel_name(o->relid)),
			 errhint("Drop either \"location\" or \"namespace\" and \"table\".")));
	if (o->format->needs_location && o->location == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
						errmsg("foreign table \"%s\" of format \"%s\" needs option \"location\"",
							   get_rel_name(o->relid), o->format->name)));
}

void
bifang_options_get(Oid foreigntableid, BifangOptions *out)
{
	ForeignTable *table = GetForeignTable(foreigntableid);
	const char *server_map;

	bifang_server_options_get(table->serverid, out);
	out->relid = foreigntableid;
	server_map = out->location_map;
	bifang_option_take(table->options, BIFANG_ON_TABLE, out);
	out->own_map = out->location_map != server_map;
	Assert(out->format != NULL && OidIsValid(out->serverid) && OidIsValid(out->userid));
	check_together(out);
}

void
bifang_column_options_get(Oid foreigntableid, AttrNumber attnum, BifangColumnOptions *out)
{
	memset(out, 0, sizeof *out);
	bifang_option_defaults(BIFANG_ON_COLUMN, out);
	bifang_option_take(GetForeignColumnOptions(foreigntableid, attnum), BIFANG_ON_COLUMN, out);
}

void
bifang_login_options_get(Oid userid, Oid serverid, BifangLoginOptions *out)
{
	memset(out, 0, sizeof *out);
	bifang_option_defaults(BIFANG_ON_MAPPING, out);
	bifang_option_take(GetUserMapping(userid, serverid)->options, BIFANG_ON_MAPPING, out);
}

static Oid
server_owner(Oid serverid)
{
	return GetForeignServer(serverid)->owner;
}

static void
check_use(const BifangOptions *o, Oid role)
{
	if ((o->location != NULL || o->own_map) && OidIsValid(o->relid))
		bifang_check_option_role(bifang_relation_owner(o->relid), role, "location");
	if (o->own_dirs)
		bifang_check_option_role(server_owner(o->serverid), role, "warehouse");
	if (o->remote_catalog && o->location == NULL)
		bifang_check_option_role(server_owner(o->serverid), ROLE_PG_READ_SERVER_FILES,
								 "catalog_host");
}

void
bifang_options_check_read(const BifangOptions *o)
{
	check_use(o, ROLE_PG_READ_SERVER_FILES);
}

void
bifang_options_check_write(const BifangOptions *o)
{
	check_use(o, ROLE_PG_WRITE_SERVER_FILES);
}
