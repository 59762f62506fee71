/*
 * pg/lake/alter.c: see alter.h. What ALTER FOREIGN TABLE and ALTER SERVER do beyond PostgreSQL's
 * own part: options that mean nothing for what a table is then are refused, as at its creation.
 *
 * A validator sees the options of one object; what a table is may stand on its server, and what a
 * column's option means on its table. So event triggers look at the end of the command, of ALTER
 * TABLE too, which takes foreign tables. Options of columns that were there before are let be.
 */
#include "pg/lake/alter.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "pg/catalog/option_table.h"
#include "pg/catalog/options.h"

PG_FUNCTION_INFO_V1(bifang_on_alter_foreign_table);

void
bifang_check_event(FunctionCallInfo fcinfo, const char *function)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						errmsg("%s must be called as event trigger", function)));
}

static void
name_table(void *arg)
{
	errcontext("options of foreign table \"%s\"", get_rel_name(*(Oid *) arg));
}

/* The format that it has, checked with its own options; server: options of its server. */
static const BifangFormat *
check_table(Oid relid, const BifangOptions *server)
{
	BifangOptions o = *server;
	List *options = GetForeignTable(relid)->options;
	ErrorContextCallback context = {
		.callback = name_table, .arg = &relid, .previous = error_context_stack};

	bifang_option_take(options, BIFANG_ON_TABLE, &o);
	error_context_stack = &context;
	bifang_option_check_format(options, BIFANG_ON_TABLE, o.format);
	error_context_stack = context.previous;
	return o.format;
}

void
bifang_check_tables_of_server(Oid serverid)
{
	Relation rel = table_open(ForeignTableRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	BifangOptions server;
	HeapTuple tuple;

	bifang_server_options_get(serverid, &server);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_foreign_table f = (Form_pg_foreign_table) GETSTRUCT(tuple);

		if (f->ftserver == serverid)
			(void) check_table(f->ftrelid, &server);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* Options of columns that the command gives. */
static void
check_commands(const AlterTableStmt *stmt, const BifangFormat *format)
{
	ListCell *lc;

	foreach (lc, stmt->cmds)
	{
		const AlterTableCmd *cmd = lfirst(lc);
		List *options = NIL;
		List *kept = NIL;
		ListCell *option;

		if (cmd->subtype == AT_AlterColumnGenericOptions)
			options = (List *) cmd->def;
		else if (cmd->subtype == AT_AddColumn)
			options = ((ColumnDef *) cmd->def)->fdwoptions;
		foreach (option, options)
			if (((DefElem *) lfirst(option))->defaction != DEFELEM_DROP)
				kept = lappend(kept, lfirst(option));
		bifang_option_check_format(kept, BIFANG_ON_COLUMN, format);
	}
}

Datum
bifang_on_alter_foreign_table(PG_FUNCTION_ARGS)
{
	const Node *command;
	const AlterTableStmt *stmt;
	ForeignServer *server;
	BifangOptions o;
	Oid relid;

	bifang_check_event(fcinfo, "bifang.on_alter_foreign_table()");
	command = ((EventTriggerData *) fcinfo->context)->parsetree;
	if (IsBinaryUpgrade || !IsA(command, AlterTableStmt))
		PG_RETURN_NULL();
	stmt = (const AlterTableStmt *) command;
	relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	if (!OidIsValid(relid) || get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE)
		PG_RETURN_NULL();
	server = GetForeignServer(GetForeignTable(relid)->serverid);
	if (server->fdwid != get_foreign_data_wrapper_oid("bifang_fdw", true))
		PG_RETURN_NULL();
	bifang_server_options_get(server->serverid, &o);
	check_commands(stmt, check_table(relid, &o));
	PG_RETURN_NULL();
}
