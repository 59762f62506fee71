/*
 * pg/catalog/tables.h: rows of bifang.iceberg_tables, an Iceberg SQL catalog (V1): where the lake
 * pointers of this database's tables stand.
 */
#ifndef BIFANG_PG_CATALOG_TABLES_H
#define BIFANG_PG_CATALOG_TABLES_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "pg/catalog/options.h"

typedef struct BifangLakeTable
{
	const char *catalog;
	const char *ns;
	const char *name;
	const char *metadata_location; /* local path of the current metadata file */
} BifangLakeTable;

/* The table that namespace and table of the options name, both given; false = there is none (*out
 * is then filled but for metadata_location, which is NULL). Results are palloc'd. */
extern bool bifang_catalog_find_table(const BifangOptions *o, Snapshot snap, BifangLakeTable *out);

/* Visits every table of every catalog as of now, until `visit` returns false. */
typedef bool (*BifangTableVisit)(void *arg, const BifangLakeTable *row);
extern void bifang_catalog_visit_tables(BifangTableVisit visit, void *arg);

/* Is this metadata file the current one of a table of this database? A copy of a table's directory
 * and its older metadata files have the same uuid, but not its log. */
extern bool bifang_catalog_points_to(const char *metadata_path, Snapshot snap);
/* A new row; a unique violation says "already exists". */
extern void bifang_catalog_insert_table(const BifangLakeTable *t);

/* Moves the pointer from t->metadata_location to new_location. False when it stands elsewhere by
 * now; an error with SQLSTATE 40001 when that is so and the isolation level forbids to look again.
 */
extern bool bifang_catalog_move_pointer(const BifangLakeTable *t, const char *new_location);
/* False when the pointer stands elsewhere by now. */
extern bool bifang_catalog_delete_table(const BifangLakeTable *t);
/* Raises when a name does not fit the catalog's columns. */
extern void bifang_catalog_check_names(const BifangLakeTable *t);
#define BIFANG_LOCATION_MAX 1000 /* bytes of iceberg_tables.metadata_location */

#endif
