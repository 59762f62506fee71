/*
 * pg/lake/places.h: directories that ledgers and lake tables are in, and names in them.
 */
#ifndef BIFANG_PG_LAKE_PLACES_H
#define BIFANG_PG_LAKE_PLACES_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* What a table's directory is made of. Removing the last of them removes the directory, too, unless
 * something else is in it. */
static const char *const bifang_table_subdirs[] = {"data", "offload", "metadata"};

/* The directories that ledgers of this database are in, or may be: the default one, those of
 * servers, and wherever `ledgers` are. */
extern List *bifang_live_directories(List *ledgers);
/* The embedded one and those of servers. */
extern List *bifang_warehouses(void);
/* Of what is in a directory, char *, palloc'd; none when it isn't there. */
extern List *bifang_names_in(const char *dir);
/* The same for work on many directories: one that can't be read is told of, WARNING, and has none.
 */
extern List *bifang_names_if_readable(const char *dir);
/* "12", "12-1" with the given end, perhaps not finished: 12; anything else: -1. */
extern int64 bifang_ledger_of_name(const char *name, const char *suffix);
extern char *bifang_parent_of(const char *path);
/* Is it the name of a part of a lake table's directory? */
extern bool bifang_is_table_part(const char *name);

#endif
