/*
 * pg/server/roles.h: who may do what beyond the rights on an object.
 */
#ifndef BIFANG_PG_SERVER_ROLES_H
#define BIFANG_PG_SERVER_ROLES_H

#include "postgres.h"

#include "catalog/pg_authid.h"

/* What only superusers may do; others have its privileges by being one. */
#define BIFANG_SUPERUSER BOOTSTRAP_SUPERUSERID

extern Oid bifang_relation_owner(Oid relid);

/* Is the object of that class a member of the extension? What only has a name in schema bifang may
 * be anybody's: who owns a schema can rename it and make another one. */
extern bool bifang_is_member(Oid class, Oid object);

/* Raises 42501, naming the option, unless the user has the role's privileges. */
extern void bifang_check_option_role(Oid user, Oid role, const char *option);
/* For SQL functions that take a path: the current user needs pg_read_server_files. */
extern void bifang_check_path_role(const char *function);

#endif
