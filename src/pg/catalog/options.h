/*
 * pg/catalog/options.h: the options of one object, as option_list.h describes them: read, completed
 * from the server's, and whether they may be used.
 */
#ifndef BIFANG_PG_CATALOG_OPTIONS_H
#define BIFANG_PG_CATALOG_OPTIONS_H

#include "postgres.h"

#include "access/attnum.h"
#include "utils/rel.h"

#include "pg/catalog/option_list.h"
#include "pg/server/roles.h"

/* Palloc'd in the current context. Raises when options contradict each other. */
extern void bifang_options_get(Oid foreigntableid, BifangOptions *out);
extern void bifang_server_options_get(Oid serverid, BifangOptions *out);
extern void
bifang_column_options_get(Oid foreigntableid, AttrNumber attnum, BifangColumnOptions *out);
/* The name by which the column is looked for, in the database's encoding. */
static inline const char *
bifang_column_name(const BifangColumnOptions *o, const char *sql_name)
{
	return o->column_name != NULL ? o->column_name : sql_name;
}

/* Of the user mapping that counts for this user on the server; raises when there is none. */
extern void bifang_login_options_get(Oid userid, Oid serverid, BifangLoginOptions *out);
/* Options of IMPORT FOREIGN SCHEMA, checked, over those of the server in *io. */
extern void bifang_import_options_get(List *options, BifangOptions *io);

/* Is it a lake table of this database's catalog? Only such are written, and all of what they are is
 * decided by a snapshot. */
static inline bool
bifang_options_own(const BifangOptions *o)
{
	return o->format->lake && o->location == NULL && !o->remote_catalog;
}

/* The owner of the foreign table (of the server for server options) must still have the role that
 * reading (writing) the files of its explicit location, warehouse or live_dir needs; a table under
 * the default warehouse needs none. Raises 42501. */
extern void bifang_options_check_read(const BifangOptions *o);
extern void bifang_options_check_write(const BifangOptions *o);

#endif
