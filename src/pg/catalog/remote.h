/*
 * pg/catalog/remote.h: lake pointers that another PostgreSQL database holds.
 *
 * Spark's JdbcCatalog, PyIceberg's SqlCatalog and this extension itself keep the pointer of each
 * table in a row of `iceberg_tables` (with column iceberg_type: layout V1, without: V0). A server
 * with option catalog_host reads it there, over libpq; its tables are read-only here.
 *
 *   option of the server                             of the user mapping
 *   catalog_host, catalog_port, catalog_dbname       user, password
 *   catalog_schema    default: the login's own path  password_required
 *   catalog_sslmode, catalog_sslrootcert             sslcert, sslkey
 *   catalog_timeout   seconds
 *
 * Invariants
 * 1. The pointer is read after the statement's snapshot was taken (ends of ledgers first, lake
 *    second), and once: per transaction where the isolation level promises one state, else per
 *    statement, so that all scans of a statement see the same.
 * 2. Waiting can be cancelled at any time and ends after catalog_timeout. (Looking up a host's name
 *    is the C library's and can't be; an address or a socket's directory avoids it.)
 * 3. A connection ends with the transaction, a failed one at once. Nothing is ever written there.
 * 4. A password leaves a user mapping for libpq only: no message has it. Who is not a superuser
 *    connects with a password or not at all, as in postgres_fdw: else the server's own identity
 *    (socket, files, tickets) would be lent out.
 * 5. Whoever may write the catalog names files that this server reads; hence setting catalog_host
 *    takes pg_read_server_files, and the server's owner must still have it at use.
 * 6. Parallel workers never ask: the leader has the answer.
 */
#ifndef BIFANG_PG_CATALOG_REMOTE_H
#define BIFANG_PG_CATALOG_REMOTE_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "pg/catalog/options.h"
#include "pg/catalog/tables.h"

/* As bifang_catalog_lookup, for a server with catalog_host; o->ns and o->table are given. Raises
 * when there is no such table, naming the catalogs that do exist when none has this one's name. */
extern void bifang_remote_lookup(const BifangOptions *o, Snapshot snap, BifangLakeTable *out);

/* Every table of the namespace, by name, until `visit` returns false. Those whose metadata is not
 * among the local files are left out with a WARNING. Raises when the namespace has none. */
extern void bifang_remote_visit_tables(const BifangOptions *o, const char *ns,
									   BifangTableVisit visit, void *arg);

#endif
