/*
 * pg/catalog/walls.h: rows of bifang.catalog and bifang.catalog_share: whose are the tables of a
 * catalog, and which server uses which.
 *
 * A catalog is a name in bifang.iceberg_tables. It belongs to one server, the first that makes or
 * registers a table in it; others use it when its owner shares it. A server without the option
 * catalog_name makes the one that is called as the server is then, and keeps it when it is renamed.
 *
 *      no row --claim--> owned by a server --server dropped--> nobody's, when it has tables
 *         ^                 |       ^                              |
 *         '-server dropped--'       '----------- adopted ----------'
 *           no tables
 *
 * A server is known by its oid while the row's origin is this database. After a restore, a copy of
 * the database or an upgrade the oid means nothing; then it is the server of that name whose owner
 * has the name, too, that the row has, or is a superuser. Event triggers keep the names up to date;
 * of REASSIGN OWNED and of roles that are renamed there are none, so remove_garbage() looks.
 *
 * Whose a catalog is, is looked up as of now, not under a query's snapshot: it is a right, and
 * rights that were taken away are gone.
 */
#ifndef BIFANG_PG_CATALOG_WALLS_H
#define BIFANG_PG_CATALOG_WALLS_H

#include "postgres.h"

#include "pg/catalog/options.h"

typedef enum BifangStanding
{
	BIFANG_CATALOG_OWN,
	BIFANG_CATALOG_SHARED,
	BIFANG_CATALOG_FREE,   /* nobody's, and nothing is in it that a stranger must not have */
	BIFANG_CATALOG_LEFT,   /* nobody's any more, or never was, with tables in it */
	BIFANG_CATALOG_OTHERS, /* another server's */
} BifangStanding;

typedef struct BifangCatalog
{
	char *name;
	Oid owner; /* the server; InvalidOid when there is none */
	BifangStanding standing;
} BifangCatalog;

/* The catalog that the server's options mean, and how the server stands to it. Palloc'd. */
extern BifangCatalog bifang_catalog_of(const BifangOptions *o);
/* How it stands to the catalog of that name. */
extern BifangCatalog bifang_catalog_named(const BifangOptions *o, const char *name);
/* The name of one that the server may use; raises 42501 when it may not. */
extern char *bifang_catalog_name(const BifangOptions *o);
/* The same before a table is put into it: makes it the server's when it is nobody's. */
extern char *bifang_catalog_claim(const BifangOptions *o);

/* Makes the catalog the server's, whoever had it; all shares of others go. */
extern void bifang_catalog_give(const char *name, const BifangOptions *to);
extern void bifang_catalog_share(const char *name, Oid serverid);
/* False: it was not shared with that one. */
extern bool bifang_catalog_unshare(const char *name, Oid serverid);

/* The server's name or owner changed; old_name NULL: not its name. */
extern void bifang_catalog_server_changed(Oid serverid, const char *old_name);
/* Writes down what servers and their owners are called now; who is changing that goes first. */
extern void bifang_catalog_refresh_names(void);
/* The server is gone: what it owned becomes nobody's, or goes when nothing is in it. Names of those
 * with tables, char *. */
extern List *bifang_catalog_server_dropped(Oid serverid, const char *name);

#endif
