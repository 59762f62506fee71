/*
 * pg/lake/create.h: making lake tables.
 */
#ifndef BIFANG_PG_LAKE_CREATE_H
#define BIFANG_PG_LAKE_CREATE_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "pg/catalog/catalog.h"
#include "vec/type.h"

/* The columns of a relation, without those of a foreign table that are facts about rows. Raises
 * for a type that cannot be stored. */
extern BfSchema *bifang_schema_of_relation(Oid relid);
/* Writes the metadata of a new table and its catalog row; field ids are given by position.
 * `partition_by` as in pg/write/partition.h. Returns the uuid. */
extern const char *bifang_make_table(const BifangOptions *o, BfSchema *schema, List *partition_by);
/* Raises when the catalog has such a table; *row is then as bifang_catalog_lookup leaves it. */
extern void bifang_refuse_existing(const BifangOptions *o, BifangLakeTable *row);
/* The catalog's row as of now. */
extern bool bifang_lookup_now(const BifangOptions *o, BifangLakeTable *row);

#endif
