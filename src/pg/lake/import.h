/*
 * pg/lake/import.h: IMPORT FOREIGN SCHEMA.
 *
 *   IMPORT FOREIGN SCHEMA sales FROM SERVER s INTO x
 *       every table of namespace `sales` of the server's catalog, and of <warehouse>/sales/; of
 *       another database's catalog (option catalog_host) alone, where the server has one
 *   ... OPTIONS (format 'parquet', location '<dir>/<glob>')
 *       a table per file, named after it; the remote schema's name does not matter
 *   ... OPTIONS (format 'kafka_log', location '<dir>/<glob>')
 *       a table per topic, with all its partitions
 *
 *   ... OPTIONS (location '<dir>/<glob>')
 *       a table per directory of an Iceberg table
 *
 * A table with a column that has no PostgreSQL type is left out with a WARNING that names both.
 * Nothing is declared NOT NULL: the planner would believe it.
 */
#ifndef BIFANG_PG_LAKE_IMPORT_H
#define BIFANG_PG_LAKE_IMPORT_H

#include "postgres.h"

#include "nodes/parsenodes.h"

extern List *bifangImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid serverOid);

#endif
