/*
 * pg/lake/upgrade.c: what scripts of CREATE EXTENSION and ALTER EXTENSION ... UPDATE can't say in
 * SQL.
 *
 * Whoever may put functions or operators into the extension's schema can have others call them: a
 * bifang.commit(text) is what bifang.commit('t') means from then on. So the schema is superusers'.
 * One that belongs to somebody else, or has something of others in it, is refused. Others may not
 * create in it from then on; that the schema's creator let them, say by default privileges, is no
 * reason to refuse it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "iceberg/table.h"
#include "pg/catalog/tables.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

PG_FUNCTION_INFO_V1(bifang_uuid_of_metadata);
PG_FUNCTION_INFO_V1(bifang_secure_schema);

/* NULL when the file can't be read, with a WARNING when it is one of this machine: the row stays
 * without what version 0.1 did not keep. */
Datum
bifang_uuid_of_metadata(PG_FUNCTION_ARGS)
{
	char *path = bifang_catalog_find_path(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	BfArena *arena;
	BfIceTable *t;
	BfError err = {0};
	char *uuid = NULL;

	if (path == NULL)
		PG_RETURN_NULL();
	arena = bifang_arena(CurrentMemoryContext, "table metadata", BIFANG_ARENA_MAX_METADATA);
	if (bf_ice_load(arena, path, NULL, &t, &err) != BF_OK)
		bifang_warn(WARNING, &err);
	else if (t->metadata->uuid[0] != '\0')
		uuid = pstrdup(t->metadata->uuid);
	bifang_arena_free(arena);
	if (uuid == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(uuid));
}

/* The schema ------------------------------------------------------------------------------------
 */

/* What a catalog of the server says of objects in schemas. */
typedef struct Named
{
	const char *what;
	Oid catalog;
	AttrNumber name;
	AttrNumber schema;
	AttrNumber owner;
} Named;

static const Named callable[] = {
	{"function", ProcedureRelationId, Anum_pg_proc_proname, Anum_pg_proc_pronamespace,
	 Anum_pg_proc_proowner},
	{"operator", OperatorRelationId, Anum_pg_operator_oprname, Anum_pg_operator_oprnamespace,
	 Anum_pg_operator_oprowner},
};

static void
refuse_of_others(const Named *n, HeapTuple tuple, TupleDesc desc)
{
	bool is_null;
	Oid owner = DatumGetObjectId(heap_getattr(tuple, n->owner, desc, &is_null));

	if (superuser_arg(owner))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("schema \"bifang\" has %s %s of role \"%s\", who is no superuser", n->what,
					NameStr(*DatumGetName(heap_getattr(tuple, n->name, desc, &is_null))),
					GetUserNameFromId(owner, true)),
			 errdetail("It could be called instead of one of the extension's."),
			 errhint("Drop it, or have a superuser own it who knows what it does.")));
}

/* What transactions have made that are still open counts, too: they could wait for this one. */
static void
refuse_callable(const Named *n, Oid schema)
{
	Relation rel = table_open(n->catalog, AccessShareLock);
	SnapshotData dirty;
	SysScanDesc scan;
	HeapTuple tuple;
	ScanKeyData key;

	InitDirtySnapshot(dirty);
	ScanKeyInit(&key, n->schema, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(schema));
	scan = systable_beginscan(rel, InvalidOid, false, &dirty, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		refuse_of_others(n, tuple, RelationGetDescr(rel));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* Roles other than superusers that may create in it, as SQL has them; empty: none. */
static char *
creators(const Acl *acl)
{
	const AclItem *items = ACL_DAT(acl);
	StringInfoData s;

	initStringInfo(&s);
	for (int i = 0; i < ACL_NUM(acl); i++)
	{
		Oid role = items[i].ai_grantee;

		if ((ACLITEM_GET_PRIVS(items[i]) & ACL_CREATE) == 0 ||
			(role != ACL_ID_PUBLIC && superuser_arg(role)))
			continue;
		appendStringInfo(&s, "%s%s", s.len == 0 ? "" : ", ",
						 role == ACL_ID_PUBLIC ? "PUBLIC"
											   : quote_identifier(GetUserNameFromId(role, false)));
	}
	return s.data;
}

static void
revoke_create(HeapTuple schema)
{
	bool is_null;
	Datum acl = SysCacheGetAttr(NAMESPACEOID, schema, Anum_pg_namespace_nspacl, &is_null);
	char *roles = is_null ? "" : creators(DatumGetAclP(acl));

	if (roles[0] == '\0')
		return;
	SPI_connect();
	if (SPI_execute(psprintf("REVOKE CREATE ON SCHEMA bifang FROM %s CASCADE", roles), false, 0) !=
		SPI_OK_UTILITY)
		elog(ERROR, "cannot revoke CREATE on schema bifang");
	SPI_finish();
	ereport(WARNING, (errmsg("%s may no longer create in schema \"bifang\"", roles)));
}

Datum
bifang_secure_schema(PG_FUNCTION_ARGS)
{
	Oid schema = get_namespace_oid("bifang", false);
	HeapTuple tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
	Oid owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for schema %u", schema);
	owner = ((const FormData_pg_namespace *) GETSTRUCT(tuple))->nspowner;
	if (!superuser_arg(owner))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("schema \"bifang\" belongs to role \"%s\", who is no superuser",
						GetUserNameFromId(owner, true)),
				 errdetail("Who owns it could put functions into it that are called instead of "
						   "the extension's."),
				 errhint("ALTER SCHEMA bifang OWNER TO CURRENT_USER, or drop it.")));
	revoke_create(tuple);
	ReleaseSysCache(tuple);
	for (int i = 0; i < (int) lengthof(callable); i++)
		refuse_callable(&callable[i], schema);
	PG_RETURN_VOID();
}
