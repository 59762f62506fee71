/*
 * pg/lake/table_options.h: changing options of foreign tables and their columns, as ALTER does.
 */
#ifndef BIFANG_PG_LAKE_TABLE_OPTIONS_H
#define BIFANG_PG_LAKE_TABLE_OPTIONS_H

#include "postgres.h"

#include "access/attnum.h"
#include "nodes/parsenodes.h"

/* To be added; value NULL: to be dropped. */
extern DefElem *bifang_option_change(const char *name, const char *value);
extern void bifang_alter_table_options(Oid relid, List *changes);
extern void
bifang_add_column_option(Oid relid, AttrNumber attnum, const char *name, const char *value);

#endif
