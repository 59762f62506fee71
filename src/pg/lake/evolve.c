/*
 * pg/lake/evolve.c: ALTER of a foreign table's columns changes the lake table's.
 *
 * What a column was bound to is gone from the catalog once it is dropped, and an ALTER of a parent
 * reaches tables that its text does not name. So the columns of all tables that a command may
 * change are noted when it starts, under the lock that it takes itself, and compared when it ends:
 * a column that is new, gone, or has another name, type or NOT NULL changes the lake table, in the
 * same transaction. What Iceberg can't do fails there. Options of columns bind them anew and change
 * nothing.
 *
 * Tables that are only read (a location, another server's catalog, a point in time) are left alone,
 * as are all with bifang.create_on_ddl off and while a dump is restored.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/event_trigger.h"
#include "commands/tablecmds.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "iceberg/commit.h"
#include "pg/catalog/cache.h"
#include "pg/convert/out.h"
#include "pg/convert/typemap.h"
#include "pg/lake/alter.h"
#include "pg/lake/lake.h"
#include "pg/lake/table_options.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/files.h"
#include "pg/server/settings.h"
#include "pg/write/modify.h"

PG_FUNCTION_INFO_V1(bifang_on_alter_columns);

#define TRIES 10

/* A column of a foreign table, by its number; one that is dropped or a fact about rows has no name.
 */
typedef struct Column
{
	const char *name; /* by which it is looked for in the lake, in UTF-8 */
	bool named;		  /* by an option */
	int32 field_id;	  /* its option, 0 = none */
	Oid typid;
	int32 typmod;
	bool not_null;
} Column;

typedef struct Columns
{
	Oid relid;
	int n;
	Column *all;
} Columns;

/* The columns that tables had before a command that is still running. */
typedef struct Before
{
	const Node *command;
	List *tables; /* Columns * */
	struct Before *outer;
} Before;

static MemoryContext before_cxt; /* of the transaction; NULL = nothing runs */
static Before *running;

/* Before the command --------------------------------------------------------------------------- */

static void
forget_all(void *arg)
{
	before_cxt = NULL;
	running = NULL;
}

static MemoryContext
transaction_context(void)
{
	static MemoryContextCallback callback;

	if (before_cxt == NULL)
	{
		before_cxt =
			AllocSetContextCreate(TopTransactionContext, "bifang columns", ALLOCSET_SMALL_SIZES);
		callback = (MemoryContextCallback){.func = forget_all};
		MemoryContextRegisterResetCallback(before_cxt, &callback);
	}
	return before_cxt;
}

static Columns *
columns_of(Oid relid)
{
	Relation rel = relation_open(relid, NoLock);
	TupleDesc desc = RelationGetDescr(rel);
	Columns *c = palloc0(sizeof *c);

	Assert(rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE);
	c->relid = relid;
	c->n = desc->natts;
	c->all = palloc0(sizeof *c->all * (Size) Max(c->n, 1));
	for (int i = 0; i < c->n; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		Column *column = &c->all[i];
		BifangColumnOptions options = {0};

		if (att->attisdropped)
			continue;
		bifang_column_options_get(relid, att->attnum, &options);
		if (options.meta != BF_FACT_NONE)
			continue;
		column->name = pstrdup(bifang_to_utf8(bifang_column_name(&options, NameStr(att->attname))));
		column->named = options.column_name != NULL;
		column->field_id = options.field_id;
		column->typid = att->atttypid;
		column->typmod = att->atttypmod;
		column->not_null = att->attnotnull;
	}
	relation_close(rel, NoLock);
	return c;
}

/* Is it the foreign table of a lake table that statements here can change? */
static bool
is_managed(Oid relid)
{
	BifangOptions o;

	if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE || !bifang_table_is_ours(relid))
		return false;
	bifang_options_get(relid, &o);
	return bifang_table_is_managed(&o) && o.ns != NULL && o.table != NULL;
}

static bool
changes_columns(const AlterTableStmt *stmt)
{
	ListCell *lc;

	foreach (lc, stmt->cmds)
		switch (lfirst_node(AlterTableCmd, lc)->subtype)
		{
			case AT_AddColumn:
			case AT_DropColumn:
			case AT_AlterColumnType:
			case AT_SetNotNull:
			case AT_DropNotNull:
			case AT_AddConstraint: /* NOT NULL may be one */
			case AT_DropConstraint:
			case AT_AlterConstraint: return true;
			default: break;
		}
	return false;
}

/* The relation whose columns the command changes and the lock that it takes; NULL: it is another
 * command. */
static const RangeVar *
changed_relation(const Node *command, LOCKMODE *lock)
{
	*lock = AccessExclusiveLock;
	if (IsA(command, RenameStmt) && ((const RenameStmt *) command)->renameType == OBJECT_COLUMN)
		return ((const RenameStmt *) command)->relation;
	if (!IsA(command, AlterTableStmt) || !changes_columns((const AlterTableStmt *) command))
		return NULL;
	*lock = AlterTableGetLockLevel(((const AlterTableStmt *) command)->cmds);
	return ((const AlterTableStmt *) command)->relation;
}

/* Of a command that failed, whose memory this one has by chance. */
static void
forget(const Node *command)
{
	for (Before **at = &running; *at != NULL;)
		if ((*at)->command == command)
			*at = (*at)->outer;
		else
			at = &(*at)->outer;
}

/* Ordinary tables that nothing inherits from are not even locked. */
static void
note_columns(const Node *command)
{
	LOCKMODE lock;
	const RangeVar *relation = changed_relation(command, &lock);
	Oid relid = relation == NULL ? InvalidOid : RangeVarGetRelid(relation, NoLock, true);
	MemoryContext old;
	List *relids;
	Before *b;
	ListCell *lc;

	forget(command);
	if (!OidIsValid(relid) ||
		(get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE && !has_subclass(relid)))
		return;
	relid = RangeVarGetRelidExtended(relation, lock, RVR_MISSING_OK, RangeVarCallbackOwnsRelation,
									 NULL);
	if (!OidIsValid(relid))
		return;
	relids = relation->inh ? find_all_inheritors(relid, lock, NULL) : list_make1_oid(relid);
	old = MemoryContextSwitchTo(transaction_context());
	b = palloc0(sizeof *b);
	b->command = command;
	b->outer = running;
	foreach (lc, relids)
		if (is_managed(lfirst_oid(lc)))
			b->tables = lappend(b->tables, columns_of(lfirst_oid(lc)));
	MemoryContextSwitchTo(old);
	Assert(running == b->outer);
	if (b->tables != NIL)
		running = b;
}

/* Changes -------------------------------------------------------------------------------------- */

/* What a command did to one table. */
typedef struct Alteration
{
	const Columns *before;
	const Columns *now;
	BifangTable t;
	BfIceColumnChange *changes;
	int n;
	/* By column: the change that adds it, and the field that a new one is bound to; NULL = none. */
	const BfIceColumnChange **adds;
	const BfField **binds;
} Alteration;

static bool
same_column(const Column *a, const Column *b)
{
	if (a->name == NULL || b->name == NULL)
		return a->name == b->name;
	return strcmp(a->name, b->name) == 0 && a->typid == b->typid && a->typmod == b->typmod &&
		   a->not_null == b->not_null;
}

static bool
same_columns(const Columns *a, const Columns *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (!same_column(&a->all[i], &b->all[i]))
			return false;
	return true;
}

/* The lake's column; NULL = it has none. */
static const BfField *
find_field(const Alteration *a, const Column *c)
{
	const BfSchema *schema = a->t.ice->schema;
	int32_t at = c->field_id > 0 ? bf_schema_find_id(schema, c->field_id)
								 : bf_schema_find_name(schema, c->name);

	return at < 0 ? NULL : &schema->fields[at];
}

/* Is another column of the foreign table bound to it, that was there before? */
static bool
is_shared(const Alteration *a, const BfField *field, int except)
{
	for (int i = 0; i < a->before->n; i++)
		if (i != except && a->now->all[i].name != NULL && find_field(a, &a->now->all[i]) == field)
			return true;
	return false;
}

static BfIceColumnChange *
add_change(Alteration *a, BfIceColumnChangeKind kind, int32 id)
{
	BfIceColumnChange *change = &a->changes[a->n++];

	Assert(a->n <= 3 * a->now->n && id >= 0);
	*change = (BfIceColumnChange){.kind = kind, .id = id};
	return change;
}

static BfType
lake_type(const char *column, Oid typid, int32 typmod)
{
	const char *why = "";
	BfType type;

	if (!bifang_type_for_pg(typid, typmod, &type, &why))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
				 errmsg("column \"%s\" of type %s cannot be stored in a lake table",
						bifang_shown(column), bifang_pg_type_text(typid, typmod)),
				 errdetail("%s", psprintf("%c%s.", pg_toupper((unsigned char) why[0]), why + 1))));
	return type;
}

static void
change_type(Alteration *a, const BfField *field, const Column *now)
{
	BfType type = lake_type(now->name, now->typid, now->typmod);

	if (bf_type_equal(type, field->type))
		return;
	if (!bf_ice_type_promotable(field->type, type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of lake table %s.%s is of type %s, which cannot become %s",
						bifang_shown(field->name), a->t.row.ns, a->t.row.name,
						bifang_type_text(field->type), bifang_type_text(type)),
				 errhint("Iceberg tables change int to long, float to double and decimals to more "
						 "digits before the point. For anything else add a column and drop the "
						 "old one.")));
	add_change(a, BF_ICE_COLUMN_PROMOTE, field->id)->field.type = type;
}

static void
compare_column(Alteration *a, int i)
{
	const Column *before = &a->before->all[i];
	const Column *now = &a->now->all[i];
	const BfField *field = before->name == NULL ? NULL : find_field(a, before);

	if (field == NULL || same_column(before, now))
		return;
	if (now->name == NULL)
	{
		if (!is_shared(a, field, i))
			(void) add_change(a, BF_ICE_COLUMN_DROP, field->id);
		return;
	}
	if (!now->named && !before->named && strcmp(before->name, now->name) != 0 &&
		strcmp(field->name, now->name) != 0)
		add_change(a, BF_ICE_COLUMN_RENAME, field->id)->field.name = now->name;
	if (before->typid != now->typid || before->typmod != now->typmod)
		change_type(a, field, now);
	if (before->not_null != now->not_null && field->required != now->not_null)
		(void) add_change(a, now->not_null ? BF_ICE_COLUMN_REQUIRE : BF_ICE_COLUMN_RELAX,
						  field->id);
}

/* A new column that the lake has already is bound to that. */
static void
bind_column(Alteration *a, int i, const BfField *field)
{
	const Column *now = &a->now->all[i];

	if (!bifang_out_can_read(field, now->typid, now->typmod))
		ereport(
			ERROR,
			(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
			 errmsg("column \"%s\" of lake table %s.%s is of type %s, which cannot be read as "
					"%s",
					bifang_shown(field->name), a->t.row.ns, a->t.row.name,
					bifang_type_text(field->type), bifang_pg_type_text(now->typid, now->typmod))));
	Assert(i >= a->before->n && a->adds[i] == NULL);
	if (now->not_null && !field->required)
		(void) add_change(a, BF_ICE_COLUMN_REQUIRE, field->id);
	a->binds[i] = field;
}

/* Does it leave its name to another one? */
static bool
goes_away(const Alteration *a, const BfField *field)
{
	for (int i = 0; i < a->n; i++)
		if (a->changes[i].id == field->id && (a->changes[i].kind == BF_ICE_COLUMN_DROP ||
											  a->changes[i].kind == BF_ICE_COLUMN_RENAME))
			return true;
	return false;
}

static void
add_column(Alteration *a, int i)
{
	const Column *now = &a->now->all[i];
	const BfField *field = now->name == NULL ? NULL : find_field(a, now);
	BfIceColumnChange *change;

	if (now->name == NULL)
		return;
	if (field != NULL && !goes_away(a, field))
	{
		bind_column(a, i, field);
		return;
	}
	if (now->field_id > 0)
		ereport(ERROR, (errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
						errmsg("lake table %s.%s has no column with field id %d", a->t.row.ns,
							   a->t.row.name, now->field_id)));
	change = add_change(a, BF_ICE_COLUMN_ADD, 0);
	change->field.name = now->name;
	change->field.type = lake_type(now->name, now->typid, now->typmod);
	change->field.required = now->not_null;
	a->adds[i] = change;
}

/* Rows ----------------------------------------------------------------------------------------- */

static void
refuse_nulls(const Alteration *a, const char *column)
{
	ereport(ERROR, (errcode(ERRCODE_NOT_NULL_VIOLATION),
					errmsg("column \"%s\" of lake table %s.%s contains null values", column,
						   a->t.row.ns, a->t.row.name)));
}

/* Does the query have a row, of all that is there now? Whatever point of time the session reads at.
 */
static bool
has_row(const char *query)
{
	static const char *const points[] = {"bifang.as_of_snapshot", "bifang.as_of_timestamp",
										 "bifang.ref"};
	int level = NewGUCNestLevel();
	bool found;

	for (int i = 0; i < (int) lengthof(points); i++)
		(void) set_config_option(points[i], "", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true,
								 0, false);
	PushActiveSnapshot(GetLatestSnapshot());
	SPI_connect();
	if (SPI_execute(query, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "cannot look for rows");
	found = SPI_processed > 0;
	SPI_finish();
	PopActiveSnapshot();
	AtEOXact_GUC(true, level);
	return found;
}

/* The planner takes the table's word for NOT NULL by now, so IS NULL would find nothing. */
static void
check_rows(const Alteration *a)
{
	Oid relid = a->now->relid;
	const char *table = quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
												   get_rel_name(relid));

	for (int i = 0; i < a->now->n; i++)
	{
		const char *column = get_attname(relid, (AttrNumber) (i + 1), true);

		if (a->now->all[i].name == NULL || !a->now->all[i].not_null)
			continue;
		if (i >= a->before->n)
		{
			if (a->adds[i] != NULL && has_row(psprintf("SELECT FROM ONLY %s", table)))
				refuse_nulls(a, column);
		}
		else if (!a->before->all[i].not_null &&
				 has_row(psprintf("SELECT FROM ONLY %s WHERE pg_catalog.num_nulls(%s) "
								  "OPERATOR(pg_catalog.=) 1",
								  table, quote_identifier(column))))
			refuse_nulls(a, column);
	}
}

/* The lake table ------------------------------------------------------------------------------- */

static bool
requires_more(const Columns *before, const Columns *now)
{
	for (int i = 0; i < now->n; i++)
		if (now->all[i].not_null && (i >= before->n || !before->all[i].not_null))
			return true;
	return false;
}

/* A partition option is how a dump makes the table again. */
static void
check_partition_option(const Alteration *a)
{
	if (a->t.options.partition_by == NULL)
		return;
	for (int i = 0; i < a->n; i++)
		if (a->changes[i].kind == BF_ICE_COLUMN_RENAME)
		{
			const BfIceMetadata *m = a->t.ice->metadata;
			const BfIceSpec *spec = bf_ice_spec(m, m->specs.default_id);

			for (int32 f = 0; spec != NULL && f < spec->n_fields; f++)
				if (spec->fields[f].source_id == a->changes[i].id)
					ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
									errmsg("option \"partition_by\" of foreign table \"%s\" names "
										   "the column that is renamed",
										   get_rel_name(a->now->relid)),
									errhint("Drop the option first: it was used when the lake "
											"table was created.")));
		}
}

/* What the command did is told, and new columns keep the ids that they are bound to. */
static void
finish(const Alteration *a)
{
	for (int i = a->before->n; i < a->now->n; i++)
	{
		int32 id = a->adds[i] != NULL ? a->adds[i]->id : a->binds[i] != NULL ? a->binds[i]->id : 0;

		if (id > 0 && a->now->all[i].field_id == 0)
			bifang_add_column_option(a->now->relid, (AttrNumber) (i + 1), "field_id",
									 psprintf("%d", id));
		if (a->binds[i] != NULL)
			ereport(NOTICE, (errmsg("column \"%s\" is bound to that of lake table %s.%s, which "
									"has one already",
									bifang_shown(a->binds[i]->name), a->t.row.ns, a->t.row.name)));
	}
	if (a->n > 0)
		ereport(NOTICE,
				(errmsg("columns of lake table %s.%s are changed", a->t.row.ns, a->t.row.name)));
	CommandCounterIncrement();
}

/* What a table can't be asked for says the table's name, not its file's. */
static void
report_change(const Alteration *a, BfError *err)
{
	if (err->code == BF_ERR_UNSUPPORTED || err->code == BF_ERR_VALUE)
	{
		err->object[0] = '\0';
		(void) bf_error_object(err, bifang_to_utf8(psprintf("%s.%s", a->t.row.ns, a->t.row.name)));
	}
	bifang_report(err);
}

/* False: the pointer moved meanwhile. */
static bool
change_once(const Columns *before, const Columns *now)
{
	Snapshot snap = RegisterSnapshot(bifang_work_snapshot());
	Alteration a = {.before = before, .now = now};
	BfArena *arena = bifang_arena(CurrentMemoryContext, "columns", BIFANG_ARENA_MAX_METADATA);
	Size n = (Size) Max(now->n, 1);
	const char *metadata_path;
	BfError err = {0};

	bifang_table_open(now->relid, snap, CurrentMemoryContext, &a.t);
	UnregisterSnapshot(snap);
	/* A column gets another name, another type, and another NOT NULL. */
	a.changes = bf_arena_alloc_array(arena, 3 * n, sizeof *a.changes);
	if (a.changes == NULL)
	{
		(void) bf_arena_fail(arena, 0, &err);
		bifang_report(&err);
	}
	a.adds = palloc0(sizeof(void *) * n);
	a.binds = palloc0(sizeof(void *) * n);
	Assert(before->n <= now->n);
	for (int i = 0; i < before->n; i++)
		compare_column(&a, i);
	for (int i = before->n; i < now->n; i++)
		add_column(&a, i);
	check_partition_option(&a);
	check_rows(&a);
	if (a.n > 0)
	{
		if (bf_ice_change_columns(arena, a.t.ice, a.changes, a.n, &metadata_path, &err) != BF_OK)
			report_change(&a, &err);
		bifang_remove_on_abort(metadata_path, 0);
		a.t.row.uuid = a.t.uuid;
		if (!bifang_catalog_move_pointer(&a.t.row, metadata_path))
			return false;
	}
	finish(&a);
	return true;
}

static void
change_table(const Columns *before)
{
	const Columns *now = columns_of(before->relid);
	bool done = false;
	int64 table_id;

	if (same_columns(before, now) || !is_managed(before->relid))
		return;
	/* Nobody may be writing NULLs to what is to have none. */
	if (requires_more(before, now))
	{
		BifangLakeTable row;
		BifangOptions o;

		bifang_options_get(before->relid, &o);
		bifang_table_lock(&o, BIFANG_TABLE_DROP, &row);
	}
	table_id = bifang_table_begin_work(before->relid, "ALTER FOREIGN TABLE");
	if (bifang_modify_is_running(table_id))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
						errmsg("a statement of this session inserts into the lake table of \"%s\"",
							   get_rel_name(before->relid))));
	for (int attempt = 0; !done && attempt < TRIES; attempt++)
		done = change_once(before, now);
	if (!done)
		ereport(
			ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("another engine changed the table in each of %d tries to change its columns",
					TRIES)));
}

/* What the command did to columns of foreign tables is done to their lake tables. */
static void
change_tables(const Node *command)
{
	Before **at = &running;
	Before *b;
	ListCell *lc;

	while (*at != NULL && (*at)->command != command)
		at = &(*at)->outer;
	b = *at;
	if (b == NULL)
		return;
	*at = b->outer;
	foreach (lc, b->tables)
		change_table(lfirst(lc));
}

Datum
bifang_on_alter_columns(PG_FUNCTION_ARGS)
{
	const EventTriggerData *trigger;

	bifang_check_event(fcinfo, "bifang.on_alter_columns()");
	trigger = (const EventTriggerData *) fcinfo->context;
	if (IsBinaryUpgrade || !bifang_create_on_ddl || bifang_session_restores_dump())
		PG_RETURN_NULL();
	if (strcmp(trigger->event, "ddl_command_start") == 0)
		note_columns(trigger->parsetree);
	else
		change_tables(trigger->parsetree);
	PG_RETURN_NULL();
}
