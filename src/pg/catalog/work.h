/*
 * pg/catalog/work.h: rows of bifang.work: how the background worker's last run of each job of each
 * table went.
 *
 * A run is written down before it begins, as one that failed, and in its own transaction as one
 * that did not. So one that takes the server down with it counts, too.
 */
#ifndef BIFANG_PG_CATALOG_WORK_H
#define BIFANG_PG_CATALOG_WORK_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/snapshot.h"

typedef struct BifangWork
{
	int64 table_id;	   /* 0: a job of the database */
	const char *kind;  /* "commit" and so on */
	int64 started_at;  /* TimestampTz */
	int64 ended_at;	   /* 0 = it did not, or not yet */
	int32 failures;	   /* since the last run that succeeded */
	int64 retry_at;	   /* 0 = when there is something to do */
	const char *error; /* NULL = none */
} BifangWork;

/* Palloc'd, of all tables. */
extern List *bifang_catalog_work(Snapshot snap);
/* In place of what there is for the table and kind. */
extern void bifang_catalog_set_work(const BifangWork *w);
/* Rows of tables that are not there any more go. */
extern void bifang_catalog_forget_work(void);

#endif
