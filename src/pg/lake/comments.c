/*
 * pg/lake/comments.c: what a lake table says of itself and its columns becomes comments in SQL.
 *
 * IMPORT FOREIGN SCHEMA can only return CREATE FOREIGN TABLE, which has no place for comments. So
 * an event trigger looks at the end of that command at the tables that it made:
 *
 *   property `comment` of the table      COMMENT ON FOREIGN TABLE
 *   `doc` of a column's field            COMMENT ON COLUMN
 *
 * A comment is a convenience: a text that the database's encoding can't hold is left out, and so
 * are all of a table whose metadata can't be read any more. A comment that is there already
 * (another event trigger may have made it) stays.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "commands/comment.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "pg/catalog/options.h"
#include "pg/catalog/point.h"
#include "pg/lake/alter.h"
#include "pg/lake/bind.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

PG_FUNCTION_INFO_V1(bifang_on_import_foreign_schema);

/* text: UTF-8, or NULL. */
static void
put_comment(Oid relid, int32 column, const char *text)
{
	char *comment;

	Assert(column >= 0 && column <= MaxAttrNumber);
	if (text == NULL || text[0] == '\0' || GetComment(relid, RelationRelationId, column) != NULL)
		return;
	comment = bifang_from_utf8(text);
	if (comment != NULL)
		CreateComments(relid, RelationRelationId, column, comment);
}

static void
comment_columns(Oid relid, const BfSchema *schema)
{
	Relation rel = relation_open(relid, NoLock);
	TupleDesc desc = CreateTupleDescCopy(RelationGetDescr(rel));

	relation_close(rel, NoLock);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		BifangColumnOptions options;
		int32_t f;

		if (att->attisdropped)
			continue;
		bifang_column_options_get(relid, att->attnum, &options);
		if (options.meta != BF_FACT_NONE)
			continue;
		f = options.field_id > 0
				? bf_schema_find_id(schema, options.field_id)
				: bf_schema_find_name(
					  schema, bifang_to_utf8(bifang_column_name(&options, NameStr(att->attname))));
		Assert(f < schema->n_fields);
		if (f >= 0)
			put_comment(relid, att->attnum, schema->fields[f].doc);
	}
}

static void
comment_table(Oid relid)
{
	BifangOptions o;
	BfArena *arena;
	BfIceTable *t;
	Snapshot snap;
	const char *metadata;
	BfError err = {0};

	bifang_options_get(relid, &o);
	if (!o.format->lake)
		return;
	snap = RegisterSnapshot(GetTransactionSnapshot());
	metadata = bifang_metadata_path(&o, snap);
	UnregisterSnapshot(snap);
	if (metadata == NULL)
		return;
	arena = bifang_arena(CurrentMemoryContext, "comments", BIFANG_ARENA_MAX_METADATA);
	if (bf_ice_load(arena, metadata, NULL, &t, &err) == BF_OK)
	{
		put_comment(relid, 0, bf_ice_property(t->metadata, "comment"));
		comment_columns(relid, t->schema);
	}
	else if (err.code == BF_ERR_CANCEL || err.code == BF_ERR_NOMEM)
		bifang_report(&err);
	bifang_arena_free(arena);
}

Datum
bifang_on_import_foreign_schema(PG_FUNCTION_ARGS)
{
	ListCell *lc;
	List *tables;

	bifang_check_event(fcinfo, "bifang.on_import_foreign_schema()");
	if (IsBinaryUpgrade)
		PG_RETURN_NULL();
	tables = bifang_new_tables();
	foreach (lc, tables)
	{
		CHECK_FOR_INTERRUPTS();
		comment_table(lfirst_oid(lc));
	}
	PG_RETURN_NULL();
}
