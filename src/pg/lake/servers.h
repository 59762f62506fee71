/*
 * pg/lake/servers.h: servers as arguments of SQL functions.
 */
#ifndef BIFANG_PG_LAKE_SERVERS_H
#define BIFANG_PG_LAKE_SERVERS_H

#include "postgres.h"

#include "pg/catalog/options.h"

/* The options of a server of ours with a catalog here, on which the caller has USAGE; that the
 * transaction may write. `function` is for messages. */
extern void bifang_server_argument(const char *function, const char *server, BifangOptions *o);
/* The same as a foreign table of that server, namespace and name would have them. */
extern void bifang_name_arguments(const char *function, const char *server, const char *ns,
								  const char *table, BifangOptions *o);
/* Raises 42501 unless the current user has the rights of its owner. InvalidOid: superusers only. */
extern void bifang_check_server_owner(Oid serverid);

#endif
