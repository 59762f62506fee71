/*
 * pg/write/owner.h: whose directory is it?
 *
 * Whoever makes a ledger's directory, or a lake table's, writes a file into it:
 *
 *   <uuid of the table>
 *   <system identifier>/<oid of the database>
 *   <the data directory's own identity>
 *
 * A copy of the cluster has the same names, numbers and system identifier, but its data directory
 * was made by somebody else at another time. Where both reach one directory, it belongs to the one
 * that is written in it. A directory inside of the data directory was copied along with it, so that
 * the last line doesn't matter there.
 */
#ifndef BIFANG_PG_WRITE_OWNER_H
#define BIFANG_PG_WRITE_OWNER_H

#include "postgres.h"

#define BIFANG_OWNER_FILE "table"

typedef enum BifangOwner
{
	BIFANG_OWNER_NONE,	/* no such file, or none that can be understood */
	BIFANG_OWNER_OURS,	/* of this database */
	BIFANG_OWNER_OTHER, /* of another database, or another table */
	BIFANG_OWNER_COPY	/* of this database in another copy of the cluster */
} BifangOwner;

/* table_uuid NULL: whatever the table. */
extern BifangOwner bifang_owner_of(const char *dir, const char *table_uuid);
/* What the file says when it is ours; palloc'd. */
extern char *bifang_owner_text(const char *table_uuid);
/* Before bytes in a known directory are changed: raises when it belongs to another copy of the
 * cluster, with a hint how to take it over. One that nobody has marked is marked as ours. */
extern void bifang_owner_claim(const char *dir, const char *table_uuid);

#endif
