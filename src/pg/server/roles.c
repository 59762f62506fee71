/*
 * pg/server/roles.c: see roles.h.
 */
#include "pg/server/roles.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/syscache.h"

Oid
bifang_relation_owner(Oid relid)
{
	HeapTuple tup = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid owner;

	if (!HeapTupleIsValid(tup))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	owner = ((Form_pg_class) GETSTRUCT(tup))->relowner;
	ReleaseSysCache(tup);
	return owner;
}

bool
bifang_is_member(Oid class, Oid object)
{
	Oid extension = get_extension_oid("bifang_fdw", true);

	return OidIsValid(extension) && getExtensionOfObject(class, object) == extension;
}

void
bifang_check_option_role(Oid user, Oid role, const char *option)
{
	if (has_privs_of_role(user, role))
		return;
	if (role == BIFANG_SUPERUSER)
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("permission denied for option \"%s\"", option),
						errdetail("Only superusers may set it.")));
	ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					errmsg("permission denied for option \"%s\"", option),
					errdetail("Role \"%s\" does not have the privileges of role \"%s\".",
							  GetUserNameFromId(user, false), GetUserNameFromId(role, false))));
}

void
bifang_check_path_role(const char *function)
{
	if (has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
		return;
	ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					errmsg("permission denied for function %s", function),
					errdetail("It needs the privileges of role \"pg_read_server_files\".")));
}
