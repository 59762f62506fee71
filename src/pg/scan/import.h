/*
 * pg/scan/import.h: IMPORT FOREIGN SCHEMA.
 *
 *   IMPORT FOREIGN SCHEMA sales FROM SERVER s INTO x
 *       every table of namespace `sales` of the server's catalog, and of <warehouse>/sales/; of
 *       another database's catalog (option catalog_host) alone, where the server has one
 *   ... OPTIONS (format 'parquet', location '<dir>/<glob>')
 *       a table per file, named after it; the remote schema's name does not matter
 *   ... OPTIONS (format 'kafka_log', location '<dir>/<glob>')
 *       a table per topic, with all its partitions
 *   ... OPTIONS (location '<dir>/<glob>')
 *       a table per directory of an Iceberg table
 *
 * Which tables there are says the kind (kind.h, import); what a command looks like is here, and is
 * made so:
 *
 *   if (bifang_import_begin(im, name, schema) && bifang_import_location(im, path))
 *       bifang_import_end(im);
 *
 * A table with a column that has no PostgreSQL type is left out with a WARNING that names both.
 * Nothing is declared NOT NULL: the planner would believe it.
 */
#ifndef BIFANG_PG_SCAN_IMPORT_H
#define BIFANG_PG_SCAN_IMPORT_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"

#include "pg/catalog/options.h"
#include "vec/type.h"

typedef struct BifangImport
{
	ImportForeignSchemaStmt *stmt;
	BifangOptions options;
	const BifangFormat *server_format; /* what the server's tables are without an option */
	const char *server_map;			   /* its location map */
	List *commands;
	List *names;	 /* of tables that have a command */
	bool valid_json; /* what the schema calls JSON is, so that jsonb can hold it */
	/* The command that is being made. */
	StringInfoData command;
	const char *table;
	bool has_options;
} BifangImport;

/* Do LIMIT TO and EXCEPT let the name through? */
extern bool bifang_import_wants(const BifangImport *im, const char *table);
/* Is the name among char * ones? */
extern bool bifang_import_has_name(List *names, const char *name);
/* The name of a file, directory or topic as PostgreSQL can hold it: too long ones are cut at a
 * character, as the server does with identifiers; what the database's encoding lacks becomes '?'.
 * Palloc'd. */
extern char *bifang_import_name(const char *utf8);
/* Says that a table is left out, and why. Names from files may be anything. */
extern void
bifang_import_left_out(const char *table, const char *fmt, ...) pg_attribute_printf(2, 3);
/* The same where reading failed: a WARNING with the error too, for one broken table must not keep
 * the others from being imported. Raises what is not the table's fault. */
extern void
bifang_import_unread(const char *table, const char *place, const char *why, BfError *err);
/* A command for the table, up to its options; false when it is not wanted or, with a WARNING, when
 * it cannot be declared. */
extern bool bifang_import_begin(BifangImport *im, const char *table, const BfSchema *schema);
extern void bifang_import_option(BifangImport *im, const char *name, const char *value);
/* Option location; false, with a WARNING, when the database has no text for the path. */
extern bool bifang_import_location(BifangImport *im, const char *path);
extern void bifang_import_end(BifangImport *im);

extern List *bifangImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid serverOid);

#endif
