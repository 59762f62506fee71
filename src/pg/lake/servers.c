/*
 * pg/lake/servers.c: whose catalog a server uses: the word that opens a wall, and servers that
 * change.
 *
 *   bifang.share_catalog(server, with_server)     the owner's word, or a superuser's
 *   bifang.unshare_catalog(server, with_server)
 *   bifang.adopt_catalog(catalog, server)         of a server whose owner the caller is, too; of no
 *                                                 server: a superuser's word
 *   bifang.catalog_of(oid)                        what a server uses; NULL when it may use none
 *
 * Event triggers follow servers that get another name or owner, or go.
 */
#include "pg/lake/servers.h"

#include "access/xact.h"
#include "catalog/pg_foreign_server.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "pg/catalog/identity.h"
#include "pg/catalog/rows.h"
#include "pg/catalog/walls.h"
#include "pg/lake/alter.h"

PG_FUNCTION_INFO_V1(bifang_share_catalog);
PG_FUNCTION_INFO_V1(bifang_unshare_catalog);
PG_FUNCTION_INFO_V1(bifang_adopt_catalog);
PG_FUNCTION_INFO_V1(bifang_catalog_of_server);
PG_FUNCTION_INFO_V1(bifang_on_alter_server);
PG_FUNCTION_INFO_V1(bifang_on_drop_server);

void
bifang_server_argument(const char *function, const char *server, BifangOptions *o)
{
	ForeignServer *s;

	PreventCommandIfReadOnly(function);
	s = GetForeignServerByName(server, false);
	if (!DatumGetBool(DirectFunctionCall2(has_server_privilege_id, ObjectIdGetDatum(s->serverid),
										  CStringGetTextDatum("USAGE"))))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER, s->servername);
	if (s->fdwid != get_foreign_data_wrapper_oid("bifang_fdw", false))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("server \"%s\" is not one of bifang_fdw", s->servername)));
	bifang_server_options_get(s->serverid, o);
	if (o->remote_catalog)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("catalog of server \"%s\" is in another database, which is only read",
						s->servername)));
}

void
bifang_name_arguments(const char *function, const char *server, const char *ns, const char *table,
					  BifangOptions *o)
{
	bifang_catalog_check_adopted();
	bifang_server_argument(function, server, o);
	o->ns = ns;
	o->table = table;
}

void
bifang_check_server_owner(Oid serverid)
{
	if (superuser())
		return;
	if (!OidIsValid(serverid))
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("permission denied for a catalog that belongs to no server"),
						errdetail("Only superusers may give it to one or change it.")));
	if (!has_privs_of_role(GetUserId(), GetForeignServer(serverid)->owner))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_SERVER,
					   GetForeignServer(serverid)->servername);
}

/* The word ------------------------------------------------------------------------------------ */

/* Two servers: the first owns its catalog, and the caller owns the server. */
static BifangCatalog
shared_catalog(FunctionCallInfo fcinfo, const char *function, BifangOptions *with)
{
	BifangOptions o;
	BifangCatalog c;

	bifang_server_argument(function, NameStr(*PG_GETARG_NAME(0)), &o);
	bifang_check_server_owner(o.serverid);
	c = bifang_catalog_of(&o);
	if (c.standing != BIFANG_CATALOG_OWN)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("server \"%s\" does not own catalog \"%s\"", NameStr(*PG_GETARG_NAME(0)),
						c.name),
				 c.standing == BIFANG_CATALOG_FREE ? errhint("It does once it has a table.") : 0));
	Assert(c.owner == o.serverid);
	bifang_server_options_get(get_foreign_server_oid(NameStr(*PG_GETARG_NAME(1)), false), with);
	if (with->serverid == o.serverid)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("server \"%s\" owns the catalog", NameStr(*PG_GETARG_NAME(1)))));
	return c;
}

Datum
bifang_share_catalog(PG_FUNCTION_ARGS)
{
	BifangOptions with;
	BifangCatalog c = shared_catalog(fcinfo, "bifang.share_catalog()", &with);

	bifang_catalog_share(c.name, with.serverid);
	if (strcmp(bifang_catalog_of(&with).name, c.name) != 0)
		ereport(NOTICE, (errmsg("server \"%s\" uses another catalog", NameStr(*PG_GETARG_NAME(1))),
						 errhint("ALTER SERVER %s OPTIONS (ADD catalog_name %s) makes it use this "
								 "one.",
								 quote_identifier(NameStr(*PG_GETARG_NAME(1))),
								 quote_literal_cstr(c.name))));
	PG_RETURN_VOID();
}

Datum
bifang_unshare_catalog(PG_FUNCTION_ARGS)
{
	BifangOptions with;
	BifangCatalog c = shared_catalog(fcinfo, "bifang.unshare_catalog()", &with);

	if (!bifang_catalog_unshare(c.name, with.serverid))
		ereport(NOTICE, (errmsg("catalog \"%s\" is not shared with server \"%s\"", c.name,
								NameStr(*PG_GETARG_NAME(1)))));
	PG_RETURN_VOID();
}

/* A server with the option catalog_name uses that one; one without has room for one. */
static void
check_adopter(const BifangOptions *to, const char *server, const char *name)
{
	BifangCatalog has = bifang_catalog_of(to);

	if (strcmp(has.name, name) == 0 || (!to->names_catalog && has.standing != BIFANG_CATALOG_OWN))
		return;
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("server \"%s\" uses catalog \"%s\"", server, has.name),
					errhint("ALTER SERVER %s OPTIONS (%s catalog_name %s) makes it use this one.",
							quote_identifier(server), to->names_catalog ? "SET" : "ADD",
							quote_literal_cstr(name))));
}

Datum
bifang_adopt_catalog(PG_FUNCTION_ARGS)
{
	const char *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	const char *server = NameStr(*PG_GETARG_NAME(1));
	BifangOptions to;
	BifangCatalog c;

	bifang_server_argument("bifang.adopt_catalog()", server, &to);
	bifang_check_server_owner(to.serverid);
	c = bifang_catalog_named(&to, name);
	if (c.standing == BIFANG_CATALOG_OWN)
		PG_RETURN_VOID();
	bifang_check_server_owner(c.owner);
	check_adopter(&to, server, name);
	bifang_catalog_give(name, &to);
	PG_RETURN_VOID();
}

Datum
bifang_catalog_of_server(PG_FUNCTION_ARGS)
{
	Oid serverid = PG_GETARG_OID(0);
	ForeignServer *s = GetForeignServerExtended(serverid, FSV_MISSING_OK);
	BifangOptions o;
	BifangCatalog c;

	if (s == NULL || s->fdwid != get_foreign_data_wrapper_oid("bifang_fdw", false))
		PG_RETURN_NULL();
	bifang_server_options_get(serverid, &o);
	if (o.remote_catalog)
		PG_RETURN_NULL();
	c = bifang_catalog_of(&o);
	if (c.standing == BIFANG_CATALOG_LEFT || c.standing == BIFANG_CATALOG_OTHERS)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(c.name));
}

/* Servers that change ------------------------------------------------------------------------- */

/* While the extension itself goes, its tables may be gone already. */
static bool
has_catalog(void)
{
	return OidIsValid(bifang_rows_find("catalog")) && OidIsValid(bifang_rows_find("catalog_share"));
}

static void
server_altered(const char *name, const char *old_name)
{
	ForeignServer *s = GetForeignServerByName(name, true);

	if (s != NULL && s->fdwid == get_foreign_data_wrapper_oid("bifang_fdw", true))
		bifang_catalog_server_changed(s->serverid, old_name);
}

static void
options_altered(const char *name)
{
	ForeignServer *s = GetForeignServerByName(name, true);

	if (s != NULL && s->fdwid == get_foreign_data_wrapper_oid("bifang_fdw", true))
		bifang_check_tables_of_server(s->serverid);
}

Datum
bifang_on_alter_server(PG_FUNCTION_ARGS)
{
	const Node *command;

	bifang_check_event(fcinfo, "bifang.on_alter_server()");
	command = ((EventTriggerData *) fcinfo->context)->parsetree;
	if (IsBinaryUpgrade || !has_catalog())
		PG_RETURN_NULL();
	if (IsA(command, RenameStmt))
		server_altered(((const RenameStmt *) command)->newname,
					   strVal(((const RenameStmt *) command)->object));
	else if (IsA(command, AlterOwnerStmt))
		server_altered(strVal(((const AlterOwnerStmt *) command)->object), NULL);
	else if (IsA(command, AlterForeignServerStmt))
		options_altered(((const AlterForeignServerStmt *) command)->servername);
	PG_RETURN_NULL();
}

static void
tell_left(const char *server, List *catalogs)
{
	ListCell *lc;

	foreach (lc, catalogs)
		ereport(NOTICE, (errmsg("tables of catalog \"%s\" stay, without server \"%s\"",
								(char *) lfirst(lc), server),
						 errhint("bifang.adopt_catalog() gives them to another one.")));
}

/* The query has no operator, as that of on_create_foreign_table has none. */
Datum
bifang_on_drop_server(PG_FUNCTION_ARGS)
{
	bifang_check_event(fcinfo, "bifang.on_drop_server()");
	if (IsBinaryUpgrade || !has_catalog())
		PG_RETURN_NULL();
	SPI_connect();
	if (SPI_execute("SELECT classid, objid, object_name "
					"FROM pg_catalog.pg_event_trigger_dropped_objects()",
					true, 0) != SPI_OK_SELECT)
		elog(ERROR, "cannot read what was dropped");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple tuple = SPI_tuptable->vals[i];
		TupleDesc desc = SPI_tuptable->tupdesc;
		bool is_null;
		char *name;

		if (DatumGetObjectId(SPI_getbinval(tuple, desc, 1, &is_null)) != ForeignServerRelationId)
			continue;
		name = SPI_getvalue(tuple, desc, 3);
		if (name != NULL)
			tell_left(name, bifang_catalog_server_dropped(
								DatumGetObjectId(SPI_getbinval(tuple, desc, 2, &is_null)), name));
	}
	SPI_finish();
	PG_RETURN_NULL();
}
