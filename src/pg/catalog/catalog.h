/*
 * pg/catalog/catalog.h: the extension's own tables, read and written without SPI; which lake table
 * is meant.
 *
 * Every read takes the snapshot that decides what is visible, so that pointer, ledgers and ends of
 * one statement belong together. Writes go through heap and index code directly: the caller's right
 * to do what it does was checked on the foreign table, nobody needs rights on the catalog tables.
 */
#ifndef BIFANG_PG_CATALOG_CATALOG_H
#define BIFANG_PG_CATALOG_CATALOG_H

#include "postgres.h"

#include "pg/catalog/identity.h"
#include "pg/catalog/jobs.h"
#include "pg/catalog/ledgers.h"
#include "pg/catalog/options.h"
#include "pg/catalog/queue.h"
#include "pg/catalog/tables.h"
#include "pg/server/pins.h"

/* The table that namespace and table of the options name; false = the catalog has none (*out is
 * then filled but for metadata_location, which is NULL). Results are palloc'd. A catalog of another
 * database raises instead of false; one of this database that is another server's always. */
extern bool bifang_catalog_lookup(const BifangOptions *o, Snapshot snap, BifangLakeTable *out);

#endif
