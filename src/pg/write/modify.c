/*
 * pg/write/modify.c: see modify.h.
 *
 * A row is converted straight into column vectors when the executor hands it over, so a bad value
 * is reported in its statement. A full buffer becomes log batches, one per partition of the lake
 * table. The end of the statement makes them visible: bifang.append gets one row per ledger.
 *
 * Functions and triggers that the statement calls may read the table. They see the rows that were
 * inserted before, as with an ordinary table: reading the ledgers (catalog.c) first writes out
 * what running statements have buffered, acknowledged under the command id of *their* statement,
 * so that the statement itself still does not see its own rows.
 */
#include "pg/write/modify.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "iceberg/commit.h"
#include "pg/convert/in.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/version.h"
#include "pg/write/groups.h"
#include "pg/write/table.h"

#define BATCH_BYTES_MAX ((size_t) 1 << 20) /* of strings; a larger row makes a batch of its own */
#define MODIFY_ARENA_MAX ((size_t) 4 << 30)

/* A statement that inserts into a table. */
typedef struct BifangModify
{
	dlist_node node;
	bool linked; /* in `running` */
	MemoryContextCallback unlink_on_reset;

	/* Where the rows go. */
	Oid relid;
	BifangTable table;
	BifangTarget target;
	CommandId cid;
	SubTransactionId subid;
	BifangWriter *writer; /* NULL before the first row */
	BifangGroups *groups; /* of the rows of a batch, by partition; NULL = there is one */

	/* What of them. */
	int n_cols;
	BifangColumnIn *cols; /* in the order of the lake's schema */
	int n_meta;
	AttrNumber *meta; /* columns that are facts about rows: nothing can be stored there */

	/* The buffer. */
	MemoryContext row_cxt; /* what a conversion leaves behind; reset per batch */
	BfArena *arena;		   /* the batch */
	BfArena *bytes;		   /* strings of the batch */
	BfBatch *batch;

	/* For EXPLAIN. */
	int64 n_rows;
	int64 n_batches;
} BifangModify;

void (*bifang_modify_before_rows)(Oid relid, const BifangTable *t) = NULL;

/* Statements that are running in this backend, outermost first. */
static dlist_head running = DLIST_STATIC_INIT(running);

/* Setting up ---------------------------------------------------------------------------------- */

static void
unlink_modify(void *arg)
{
	BifangModify *m = arg;

	if (m->linked)
		dlist_delete(&m->node);
	m->linked = false;
}

/* Pairs the lake's fields with the relation's columns: by field id where the column has one, else
 * by name. */
static void
bind_columns(BifangModify *m, Relation rel)
{
	TupleDesc desc = RelationGetDescr(rel);
	const BfSchema *schema = m->target.schema;

	m->n_cols = schema->n_fields;
	m->cols = palloc0(sizeof *m->cols * (Size) Max(m->n_cols, 1));
	m->meta = palloc(sizeof *m->meta * (Size) Max(desc->natts, 1));
	for (int f = 0; f < m->n_cols; f++)
	{
		m->cols[f].field = &schema->fields[f];
		m->cols[f].name = schema->fields[f].name;
	}
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		BifangColumnOptions options;
		int32_t f;

		if (att->attisdropped)
			continue;
		bifang_column_options_get(RelationGetRelid(rel), att->attnum, &options);
		if (options.meta != BF_FACT_NONE)
		{
			m->meta[m->n_meta++] = att->attnum;
			continue;
		}
		f = options.field_id > 0
				? bf_schema_find_id(schema, options.field_id)
				: bf_schema_find_name(
					  schema, bifang_to_utf8(bifang_column_name(&options, NameStr(att->attname))));
		if (f < 0)
			ereport(ERROR, (errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
							errmsg("lake table %s.%s has no column \"%s\"", m->table.row.ns,
								   m->table.row.name, NameStr(att->attname)),
							errhint("IMPORT FOREIGN SCHEMA declares the columns as they are.")));
		if (m->cols[f].attnum != 0)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_COLUMN_NUMBER),
					 errmsg("columns \"%s\" and \"%s\" are the same column of the lake table",
							m->cols[f].name, NameStr(att->attname))));
		bifang_in_prepare(&m->cols[f], &schema->fields[f], att);
		Assert(m->cols[f].attnum == att->attnum);
	}
	for (int f = 0; f < m->n_cols; f++)
		if (m->cols[f].attnum == 0 && schema->fields[f].required)
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("required column \"%s\" of the lake table is not a column of \"%s\"",
							schema->fields[f].name, RelationGetRelationName(rel))));
}

static void
prepare_partitions(BifangModify *m)
{
	const BfIceMetadata *md = m->table.ice->metadata;
	const BfIceSpec *spec = bf_ice_spec(md, md->specs.default_id);

	if (spec == NULL || spec->n_fields == 0)
		return;
	for (int32_t i = 0; i < spec->n_fields; i++)
		if (spec->fields[i].transform.kind == BF_TRANSFORM_UNKNOWN ||
			bf_schema_find_id(m->target.schema, spec->fields[i].source_id) < 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("lake table %s.%s is partitioned by an unknown transform \"%s\"",
							m->table.row.ns, m->table.row.name, spec->fields[i].transform_text)));
	m->groups = bifang_groups_new(m->arena, spec, m->target.schema);
}

/* Everything lives in the executor's context and goes with it. */
static BifangModify *
modify_begin(EState *estate, Relation rel)
{
	MemoryContext cxt = estate->es_query_cxt;
	MemoryContext old = MemoryContextSwitchTo(cxt);
	BifangModify *m = palloc0(sizeof *m);
	BfError err = {0};

	m->relid = RelationGetRelid(rel);
	bifang_options_get(m->relid, &m->table.options);
	bifang_table_check_managed(&m->table.options, "insert into");
	bifang_options_check_write(&m->table.options);
	bifang_catalog_check_adopted();
	bifang_table_open_locked(&m->table, BIFANG_TABLE_WRITE, cxt);
	/* Rows that could never leave the log are refused now, not when they are to. */
	if (bf_ice_can_commit(m->table.ice, &err) != BF_OK)
	{
		bf_error_object(&err, psprintf("%s.%s", m->table.row.ns, m->table.row.name));
		bifang_report(&err);
	}
	m->target = bifang_table_target(&m->table);
	Assert(m->target.live_dir[0] == '/');
	m->row_cxt = AllocSetContextCreate(cxt, "bifang insert values", ALLOCSET_DEFAULT_SIZES);
	m->arena = bifang_arena(cxt, "insert batch", MODIFY_ARENA_MAX);
	m->bytes = bifang_arena(cxt, "insert strings", MODIFY_ARENA_MAX);
	bind_columns(m, rel);
	prepare_partitions(m);
	/* COPY has no plan and no command id in its state. */
	m->cid = estate->es_plannedstmt != NULL ? estate->es_output_cid : GetCurrentCommandId(true);
	m->subid = GetCurrentSubTransactionId();
	m->unlink_on_reset.func = unlink_modify;
	m->unlink_on_reset.arg = m;
	MemoryContextRegisterResetCallback(cxt, &m->unlink_on_reset);
	dlist_push_tail(&running, &m->node);
	m->linked = true;
	MemoryContextSwitchTo(old);
	return m;
}

/* Writing ------------------------------------------------------------------------------------- */

static void
append_rows(void *arg, const int32 *rows, int32 n)
{
	BifangModify *m = arg;

	bifang_writer_append(m->writer, m->target.schema, m->batch, rows, n, m->cid, m->subid);
	m->n_batches++;
}

static void
write_out(BifangModify *m)
{
	if (m->batch == NULL || m->batch->n_rows == 0)
		return;
	Assert(m->linked && m->writer != NULL);
	Assert(m->batch->n_rows <= BF_BATCH_ROWS);
	for (int i = 0; i < m->n_cols; i++)
		m->batch->cols[i].n = m->batch->n_rows;
	if (m->groups != NULL)
		bifang_groups_split(m->groups, m->batch, append_rows, m);
	else
		append_rows(m, NULL, m->batch->n_rows);
	m->batch->n_rows = 0;
	bf_arena_reset(m->bytes);
	MemoryContextReset(m->row_cxt);
}

static void
refuse_meta(const BifangModify *m, TupleTableSlot *slot)
{
	for (int i = 0; i < m->n_meta; i++)
		if (!slot->tts_isnull[m->meta[i] - 1])
			ereport(
				ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("cannot insert a value into column \"%s\"",
						NameStr(TupleDescAttr(slot->tts_tupleDescriptor, m->meta[i] - 1)->attname)),
				 errdetail("The column tells where a row is kept.")));
}

static void
add_row(BifangModify *m, TupleTableSlot *slot)
{
	BfError err = {0};
	int32 row;
	MemoryContext old;

	if (m->batch == NULL)
		BIFANG_CHECK(bf_batch_new(m->arena, m->target.schema->fields, m->n_cols, &m->batch, &err),
					 &err);
	if (m->writer == NULL && bifang_modify_before_rows != NULL &&
		!bifang_writer_exists(m->target.table_id))
		bifang_modify_before_rows(m->relid, &m->table);
	/* At the statement's own level: an inner subtransaction that reads the table writes this
	 * buffer out, and the ledger must not go when that aborts. */
	if (m->writer == NULL || bifang_writer_retired(m->writer))
		m->writer = bifang_writer_get(&m->target, m->cid);

	old = MemoryContextSwitchTo(m->row_cxt);
	row = m->batch->n_rows;
	Assert(row < BF_BATCH_ROWS);
	for (int i = 0; i < m->n_cols; i++)
	{
		const BifangColumnIn *c = &m->cols[i];
		bool is_null = c->attnum == 0 || slot->tts_isnull[c->attnum - 1];

		if (is_null && c->field->required)
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("null value in column \"%s\" of lake table %s.%s, which requires one",
							c->name, m->table.row.ns, m->table.row.name)));
		bifang_in_store(c, &m->batch->cols[i], row,
						is_null ? (Datum) 0 : slot->tts_values[c->attnum - 1], is_null, m->bytes);
	}
	MemoryContextSwitchTo(old);
	m->batch->n_rows++;
	m->n_rows++;
	if (m->batch->n_rows == BF_BATCH_ROWS || bf_arena_bytes(m->bytes) >= BATCH_BYTES_MAX)
		write_out(m);
}

/* A statement's end, also of one that inserted nothing. */
static void
modify_end(BifangModify *m)
{
	if (!m->linked)
		return;
	write_out(m);
	if (m->writer != NULL)
		bifang_writer_record(m->writer);
	unlink_modify(m);
}

bool
bifang_modify_is_running(int64 table_id)
{
	bool found = false;
	dlist_iter it;

	dlist_foreach(it, &running)
	{
		const BifangModify *m = dlist_container(BifangModify, node, it.cur);

		found |= m->target.table_id == table_id;
	}
	return found;
}

void
bifang_modify_flush(int64 table_id)
{
	dlist_iter it;

	dlist_foreach(it, &running)
	{
		BifangModify *m = dlist_container(BifangModify, node, it.cur);

		if (m->writer == NULL || (table_id != 0 && m->target.table_id != table_id))
			continue;
		/* Recorded one by one: each under the command id of its statement. */
		write_out(m);
		bifang_writer_record(m->writer);
	}
}

void
bifang_modify_spill(BifangWriter *w, SubTransactionId subid)
{
	dlist_iter it;

	dlist_foreach(it, &running)
	{
		BifangModify *m = dlist_container(BifangModify, node, it.cur);

		if (m->writer == w && m->subid != subid)
			write_out(m);
	}
}

void
bifang_modify_end_sub(SubTransactionId subid, SubTransactionId parent, bool abort)
{
	dlist_mutable_iter it;

	dlist_foreach_modify(it, &running)
	{
		BifangModify *m = dlist_container(BifangModify, node, it.cur);

		if (m->subid != subid)
			continue;
		if (abort)
			unlink_modify(m);
		else
		{
			Assert(parent < subid);
			m->subid = parent;
		}
	}
}

void
bifang_modify_forget(void)
{
	dlist_mutable_iter it;

	dlist_foreach_modify(it, &running) unlink_modify(dlist_container(BifangModify, node, it.cur));
	Assert(dlist_is_empty(&running));
}

/* Callbacks ----------------------------------------------------------------------------------- */

int
bifangIsForeignRelUpdatable(Relation rel)
{
	BifangOptions o;

	bifang_options_get(RelationGetRelid(rel), &o);
	return bifang_options_own(&o) ? 1 << CMD_INSERT : 0;
}

BIFANG_NORETURN static void
refuse_command(const char *command, const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot %s foreign table \"%s\"", command, name),
			 errdetail("Tables of bifang_fdw are append-only."),
			 errhint("INSERT and COPY add rows; bifang.drop_table() removes a lake table.")));
}

void
bifangAddForeignUpdateTargets(PlannerInfo *root, Index rtindex, RangeTblEntry *target_rte,
							  Relation target_relation)
{
	refuse_command(root->parse->commandType == CMD_DELETE ? "delete from" : "update",
				   RelationGetRelationName(target_relation));
}

void
bifangExecForeignTruncate(List *rels, DropBehavior behavior, bool restart_seqs)
{
	refuse_command("truncate", RelationGetRelationName((Relation) linitial(rels)));
}

List *
bifangPlanForeignModify(PlannerInfo *root, ModifyTable *plan, Index result_relation,
						int subplan_index)
{
	RangeTblEntry *rte = planner_rt_fetch(result_relation, root);
	BifangOptions o;

	if (plan->operation != CMD_INSERT)
		refuse_command(plan->operation == CMD_DELETE ? "delete from" : "update",
					   get_rel_name(rte->relid));
	bifang_options_get(rte->relid, &o);
	bifang_table_check_managed(&o, "insert into");
	if (plan->onConflictAction != ONCONFLICT_NONE)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("ON CONFLICT is not supported on foreign table \"%s\"",
							   get_rel_name(rte->relid)),
						errdetail("Lake tables have no unique constraints.")));
	return NIL;
}

void
bifangBeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rri, List *fdw_private,
						 int subplan_index, int eflags)
{
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0)
		return;
	rri->ri_FdwState = modify_begin(mtstate->ps.state, rri->ri_RelationDesc);
}

void
bifangBeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rri)
{
	/* Routed to by INSERT or UPDATE of a partitioned parent, or COPY. ON CONFLICT reaches a
	 * partition only this way. */
	ModifyTable *plan = (ModifyTable *) mtstate->ps.plan;

	if (plan != NULL && plan->onConflictAction != ONCONFLICT_NONE)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("ON CONFLICT is not supported on foreign table \"%s\"",
							   RelationGetRelationName(rri->ri_RelationDesc)),
						errdetail("Lake tables have no unique constraints.")));
	rri->ri_FdwState = modify_begin(mtstate->ps.state, rri->ri_RelationDesc);
}

TupleTableSlot *
bifangExecForeignInsert(EState *estate, ResultRelInfo *rri, TupleTableSlot *slot,
						TupleTableSlot *plan_slot)
{
	BifangModify *m = rri->ri_FdwState;
	Relation rel = rri->ri_RelationDesc;

	/* The executor leaves the constraints of a foreign table to the wrapper; the planner believes
	 * in them. */
	if (RelationGetDescr(rel)->constr != NULL)
		ExecConstraints(rri, slot, estate);
	if (rel->rd_rel->relispartition &&
		(rri->ri_RootResultRelInfo == NULL ||
		 (rri->ri_TrigDesc != NULL && rri->ri_TrigDesc->trig_insert_before_row)))
		(void) ExecPartitionCheck(rri, slot, estate, true);
	slot_getallattrs(slot);
	if (m->n_meta > 0)
		refuse_meta(m, slot);
	add_row(m, slot);
	return slot;
}

void
bifangEndForeignModify(EState *estate, ResultRelInfo *rri)
{
	if (rri->ri_FdwState != NULL)
		modify_end(rri->ri_FdwState);
}

void
bifangEndForeignInsert(EState *estate, ResultRelInfo *rri)
{
	if (rri->ri_FdwState != NULL)
		modify_end(rri->ri_FdwState);
}

void
bifangExplainForeignModify(ModifyTableState *mtstate, ResultRelInfo *rri, List *fdw_private,
						   int subplan_index, ExplainState *es)
{
	BifangModify *m = rri->ri_FdwState;
	BifangOptions o;

	bifang_options_get(RelationGetRelid(rri->ri_RelationDesc), &o);
	if (o.ns != NULL && o.table != NULL)
		ExplainPropertyText("Lake Table", psprintf("%s.%s", o.ns, o.table), es);
	if (m == NULL || !es->analyze)
		return;
	/* What is buffered still would be counted by nobody. */
	write_out(m);
	ExplainPropertyInteger("Rows Appended", NULL, m->n_rows, es);
	ExplainPropertyInteger("Log Batches", NULL, m->n_batches, es);
	if (es->verbose && m->writer != NULL)
		ExplainPropertyInteger("Ledger", NULL, bifang_writer_ledger_id(m->writer), es);
}
