/*
 * pg/write/owner.h: whose directory is it?
 *
 * The mark in a directory (pg/write/mark.h) says so. A copy of the cluster has the same names,
 * numbers and system identifier, but its data directory was made by somebody else at another time:
 * where both reach one directory, it belongs to the one that is written in it. A directory inside
 * of the data directory was copied along with it, so that this doesn't matter there. A catalog that
 * was made anew in the same database has another id: what the dropped one had is not its own.
 *
 * What is not ours and should be is taken over by bifang.adopt() (pg/lake/adopt.c), on purpose.
 */
#ifndef BIFANG_PG_WRITE_OWNER_H
#define BIFANG_PG_WRITE_OWNER_H

#include "postgres.h"

#include "pg/write/mark.h"

typedef enum BifangOwner
{
	BIFANG_OWNER_NONE,	 /* no such file, or none that can be understood */
	BIFANG_OWNER_OURS,	 /* of this database */
	BIFANG_OWNER_OTHER,	 /* of another database, or another table */
	BIFANG_OWNER_FORMER, /* of this database and a catalog that it had before */
	BIFANG_OWNER_COPY	 /* of this database in another copy of the cluster */
} BifangOwner;

/* table_uuid NULL: whatever the table. */
extern BifangOwner bifang_owner_of(const char *dir, const char *table_uuid);
/* By a mark that was read. */
extern BifangOwner bifang_owner_by(const BifangMark *m, const char *dir, const char *table_uuid);
/* The oid that is the name of a database's directory, InvalidOid for any other name. */
extern Oid bifang_database_of_name(const char *name);
extern bool bifang_database_exists(Oid database);
/* Does another database of this cluster, as it is now, have it? */
extern bool bifang_owner_lives(const BifangMark *m);
/* Before bytes in a known directory are changed: raises when it belongs to somebody else, with a
 * hint how to take it over. One that nobody has marked is marked as ours. */
extern void bifang_owner_claim(const char *dir, const BifangMark *ours);

#endif
