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

/* Raises 42501, naming the option, unless the user has the role's privileges. */
extern void bifang_check_option_role(Oid user, Oid role, const char *option);
/* For SQL functions that take a path: the current user needs pg_read_server_files. */
extern void bifang_check_path_role(const char *function);

#endif
