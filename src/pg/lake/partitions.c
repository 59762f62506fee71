/*
 * pg/lake/partitions.c: see partitions.h.
 *
 * A partitioned table may have partitions of several kinds: recent ones that are lake tables, and
 * others that are heaps, tables of other wrappers, or foreign tables that show files or another
 * database's tables and are only read. Nothing can be committed or offloaded of those, so they are
 * passed over; a partitioned table that has no other ones was not what the caller meant.
 *
 * Partitions come in the order of find_all_inheritors, the same in all sessions, so that locks of
 * several tables are taken in one order.
 */
#include "postgres.h"

#include "pg/lake/partitions.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

#include "pg/server/version.h"
#include "pg/write/table.h"

static bool
is_maintained(Oid relid)
{
	BifangOptions o;

	if (!bifang_table_is_ours(relid))
		return false;
	bifang_options_get(relid, &o);
	return bifang_table_is_managed(&o);
}

static void
check_parent(Oid relid)
{
	if (!bifang_owns_relation(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
}

List *
bifang_tables_of(Oid relid)
{
	List *all;
	List *result = NIL;
	ListCell *lc;

	if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
		return list_make1_oid(relid);
	check_parent(relid);
	LockRelationOid(relid, AccessShareLock);
	/* Again, of what is there once it stays. */
	if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
		return list_make1_oid(relid);
	check_parent(relid);
	all = find_all_inheritors(relid, AccessShareLock, NULL);
	foreach (lc, all)
		if (is_maintained(lfirst_oid(lc)))
			result = lappend_oid(result, lfirst_oid(lc));
	if (result == NIL)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("no partition of \"%s\" is a lake table that bifang_fdw maintains",
							   get_rel_name(relid)),
						errdetail("Tables that are found by location, of other formats, of other "
								  "wrappers, and heaps are passed over.")));
	Assert(!list_member_oid(result, relid));
	return result;
}

char *
bifang_relation_text(Oid relid)
{
	return DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(relid)));
}
