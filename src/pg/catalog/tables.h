/*
 * pg/catalog/tables.h: rows of bifang.iceberg_tables, an Iceberg SQL catalog (V1): where the lake
 * pointers of this database's tables stand.
 *
 * A table is its row, known by the row's number: ledgers and jobs are the number's. The uuid that
 * stands in the metadata file proves nothing, since whoever writes the table writes that file; when
 * it is not the one that the row remembers, the file is another table's.
 */
#ifndef BIFANG_PG_CATALOG_TABLES_H
#define BIFANG_PG_CATALOG_TABLES_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "pg/catalog/options.h"

typedef struct BifangLakeTable
{
	int64 id;		  /* 0: no table of this database's catalog */
	const char *uuid; /* NULL: another engine made the row */
	const char *catalog;
	const char *ns;
	const char *name;
	const char *metadata_location; /* local path of the current metadata file */
} BifangLakeTable;

/* The table that namespace and table of the options name, both given; false = there is none (*out
 * is then filled but for metadata_location, which is NULL). Results are palloc'd. */
extern bool bifang_catalog_find_table(const char *catalog, const BifangOptions *o, Snapshot snap,
									  BifangLakeTable *out);

/* Visits every table of every catalog as of now, until `visit` returns false. */
typedef bool (*BifangTableVisit)(void *arg, const BifangLakeTable *row);
extern void bifang_catalog_visit_tables(BifangTableVisit visit, void *arg);

/* The local file that a recorded location means; NULL: it is none. */
extern char *bifang_catalog_find_path(const char *location);
/* Has the catalog any table or view? */
extern bool bifang_catalog_has_tables(const char *catalog, Snapshot snap);
/* The table of this database that the metadata file, current or older, is of. A copy of a table's
 * directory has the same uuid, but not its log. */
extern bool bifang_catalog_table_at(const char *metadata_path, Snapshot snap, BifangLakeTable *out);
/* Raises when metadata with that uuid is not the table's. */
extern void bifang_catalog_check_uuid(const BifangLakeTable *t, const char *uuid);
/* A new row, with a new number when t->id is 0; a unique violation says "already exists". */
extern void bifang_catalog_insert_table(BifangLakeTable *t);

/* Moves the pointer from t->metadata_location to new_location, and remembers t->uuid. False when it
 * stands elsewhere by now; an error with SQLSTATE 40001 when that is so and the isolation level
 * forbids to look again.
 */
extern bool bifang_catalog_move_pointer(const BifangLakeTable *t, const char *new_location);
/* False when the pointer stands elsewhere by now. */
extern bool bifang_catalog_delete_table(const BifangLakeTable *t);
/* Raises when a name does not fit the catalog's columns. */
extern void bifang_catalog_check_names(const BifangLakeTable *t);
#define BIFANG_LOCATION_MAX 1000 /* bytes of iceberg_tables.metadata_location */

#endif
