/*
 * pg/lake/table_options.c: see table_options.h.
 */
#include "pg/lake/table_options.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/syscache.h"

DefElem *
bifang_option_change(const char *name, const char *value)
{
	return makeDefElemExtended(NULL, pstrdup(name),
							   value == NULL ? NULL : (Node *) makeString(pstrdup(value)),
							   value == NULL ? DEFELEM_DROP : DEFELEM_ADD, -1);
}

static Oid
wrapper_validator(Oid relid)
{
	ForeignServer *server = GetForeignServer(GetForeignServerIdByRelId(relid));

	return GetForeignDataWrapper(server->fdwid)->fdwvalidator;
}

/* Into the options of a catalog's row: `old` are those that it has, `n` its columns, `at` the one
 * of the options. */
static void
add_options(Oid catalog, Oid relid, HeapTuple tuple, Datum old, int n, AttrNumber at, List *options)
{
	Relation rel = table_open(catalog, RowExclusiveLock);
	Datum *values = palloc0(sizeof *values * (Size) n);
	bool *nulls = palloc0(sizeof *nulls * (Size) n);
	bool *replace = palloc0(sizeof *replace * (Size) n);

	Assert(RelationGetDescr(rel)->natts == n && at > 0 && at <= n);
	values[at - 1] = transformGenericOptions(catalog, old, options, wrapper_validator(relid));
	replace[at - 1] = true;
	tuple = heap_modify_tuple(tuple, RelationGetDescr(rel), values, nulls, replace);
	CatalogTupleUpdate(rel, &tuple->t_self, tuple);
	CacheInvalidateRelcacheByRelid(relid);
	table_close(rel, RowExclusiveLock);
}

void
bifang_alter_table_options(Oid relid, List *options)
{
	HeapTuple tuple = SearchSysCacheCopy1(FOREIGNTABLEREL, ObjectIdGetDatum(relid));
	bool is_null;
	Datum old;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for foreign table %u", relid);
	old = SysCacheGetAttr(FOREIGNTABLEREL, tuple, Anum_pg_foreign_table_ftoptions, &is_null);
	add_options(ForeignTableRelationId, relid, tuple, is_null ? PointerGetDatum(NULL) : old,
				Natts_pg_foreign_table, Anum_pg_foreign_table_ftoptions, options);
}

void
bifang_add_column_option(Oid relid, AttrNumber attnum, const char *name, const char *value)
{
	HeapTuple tuple = SearchSysCacheCopyAttNum(relid, attnum);
	bool is_null;
	Datum old;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for attribute %d of relation %u", attnum, relid);
	old = SysCacheGetAttr(ATTNUM, tuple, Anum_pg_attribute_attfdwoptions, &is_null);
	add_options(AttributeRelationId, relid, tuple, is_null ? PointerGetDatum(NULL) : old,
				Natts_pg_attribute, Anum_pg_attribute_attfdwoptions,
				list_make1(bifang_option_change(name, value)));
}
