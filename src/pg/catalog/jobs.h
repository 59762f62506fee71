/*
 * pg/catalog/jobs.h: rows of bifang.job: what commit, roll and offload did, and what the background
 * worker could not do.
 */
#ifndef BIFANG_PG_CATALOG_JOBS_H
#define BIFANG_PG_CATALOG_JOBS_H

#include "postgres.h"

typedef struct BifangJob
{
	const char *kind; /* "commit", "roll", "offload", ... */
	int64 table_id;
	const char *table_uuid;
	const char *catalog;
	const char *ns;
	const char *table;
	int64 started_at; /* TimestampTz */
	int64 rows;
	int64 files;
	int64 bytes;
	int64 snapshot_id; /* -1 = none */
	const char *error; /* NULL: it succeeded */
	int32 failures;	   /* in a row, this one included */
	int64 retry_at;	   /* TimestampTz; 0 = it is not tried again by itself */
} BifangJob;

extern void bifang_catalog_insert_job(const BifangJob *job);
/* Those that ended before that time go. */
extern void bifang_catalog_forget_jobs(int64 before);

#endif
