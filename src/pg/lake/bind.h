/*
 * pg/lake/bind.h: new foreign tables, for event triggers.
 */
#ifndef BIFANG_PG_LAKE_BIND_H
#define BIFANG_PG_LAKE_BIND_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* Oids of the foreign tables of our wrapper that the current command made. */
extern List *bifang_new_tables(void);

#endif
