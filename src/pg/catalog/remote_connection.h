/*
 * pg/catalog/remote_connection.h: connections to the databases that hold other catalogs.
 *
 * One per server, user and what their options are now; it ends with the transaction, one in the
 * middle of an exchange when an error or a cancel broke in with the subtransaction, a failed one at
 * once. What invariants hold is said in remote.h.
 */
#ifndef BIFANG_PG_CATALOG_REMOTE_CONNECTION_H
#define BIFANG_PG_CATALOG_REMOTE_CONNECTION_H

#include "postgres.h"

#include "lib/ilist.h"

#include "pg/catalog/options.h"

#define BIFANG_REMOTE_PARAMS_MAX 16
#define BIFANG_REMOTE_ANSWER_MAX (64 << 20) /* bytes; some 300,000 tables of a namespace */

typedef struct BifangRemoteParams
{
	const char *server; /* name of the foreign server */
	const char *host;
	const char *port;
	const char *dbname;
	const char *schema; /* NULL = the login's search_path */
	int timeout;		/* seconds */
	BifangLoginOptions login;
	const char *keywords[BIFANG_REMOTE_PARAMS_MAX + 1]; /* for libpq, NULL at the end */
	const char *values[BIFANG_REMOTE_PARAMS_MAX + 1];
	int n;
	uint64 hash; /* of all of it */
} BifangRemoteParams;

typedef struct BifangRemote
{
	dlist_node node;
	Oid serverid;
	Oid userid;
	uint64 hash;
	struct pg_conn *conn;
	struct pg_result *result; /* the last answer; owned */
	bool busy; /* an error or a cancel broke in when this is still set at the next use */
} BifangRemote;

/* Raises when there is no user mapping, it names no user, or a password is needed and not there. */
extern void bifang_remote_params(const BifangOptions *o, BifangRemoteParams *p);

/* Asks, over the transaction's connection or a new one. The answer is r->result until the next; one
 * that is longer than the maximum raises when it is. The limit is looked at by rows, so the
 * question has to bound what it asks for in each. */
extern BifangRemote *bifang_remote_ask(const BifangOptions *o, const BifangRemoteParams *p,
									   const char *sql, int n, const char *const *args);
/* A value of the answer, palloc'd and valid in this database's encoding; NULL for NULL. */
extern char *bifang_remote_value(const BifangRemote *r, int row, int column);

#endif
