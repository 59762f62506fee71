/*
 * pg/lake/commits.h: files of commits that don't count, or not any more.
 */
#ifndef BIFANG_PG_LAKE_COMMITS_H
#define BIFANG_PG_LAKE_COMMITS_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "iceberg/table.h"
#include "pg/catalog/tables.h"

/* Metadata files, manifest lists and manifests in a table's directory that is ours, older than
 * bifang.garbage_grace, which nothing in its metadata names; char *, palloc'd. It may be that
 * something did until just now. */
extern List *bifang_files_of_failed_commits(const BifangLakeTable *row, const BfIceTable *t);

/* Is it a file, and has nobody changed it for bifang.garbage_grace? */
extern bool bifang_is_past_grace(const char *path);

#endif
