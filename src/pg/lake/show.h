/*
 * pg/lake/show.h: result rows of the functions that show files and tables as they are.
 *
 *   show_files.c     by path: parquet_metadata, log_segment, offload_file
 *   show_table.c     what a table is made of: manifest, files, partitions, manifests
 *   show_history.c   what it was: snapshots, refs, history
 *
 * Those that take a path need the role pg_read_server_files, those that take a table the right to
 * read it.
 */
#ifndef BIFANG_PG_LAKE_SHOW_H
#define BIFANG_PG_LAKE_SHOW_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/execnodes.h"

#include "log/rangeset.h"
#include "pg/catalog/options.h"

#define BIFANG_SHOW_COLUMNS_MAX 16

/* A row in the making. */
typedef struct BifangShow
{
	ReturnSetInfo *rsinfo;
	int n; /* columns that it has so far */
	Datum values[BIFANG_SHOW_COLUMNS_MAX];
	bool nulls[BIFANG_SHOW_COLUMNS_MAX];
} BifangShow;

extern BifangShow bifang_show_begin(FunctionCallInfo fcinfo);
/* The next column. */
extern void bifang_show(BifangShow *r, Datum value);
extern void bifang_show_null(BifangShow *r);
/* UTF-8 out of a file, shown as far as this database can; NULL for NULL. */
extern void bifang_show_text(BifangShow *r, const char *text);
/* Negative means unknown. */
extern void bifang_show_count(BifangShow *r, int64 n);
/* Milliseconds since 1970; negative means unknown. */
extern void bifang_show_time_ms(BifangShow *r, int64 ms);
/* 1-5_20-24 */
extern void bifang_show_ranges(BifangShow *r, const BfRangeSet *ranges);
extern void bifang_show_end_row(BifangShow *r);

/* The options of the first argument, a foreign table: the caller must be allowed to read it, and it
 * must be one of a lake table. */
extern void bifang_show_lake_argument(FunctionCallInfo fcinfo, BifangOptions *o);

#endif
