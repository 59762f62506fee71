/*
 * pg/catalog/jobs.c: see jobs.h.
 */
#include "pg/catalog/jobs.h"

#include "access/table.h"
#include "catalog/indexing.h"
#include "commands/sequence.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "pg/catalog/rows.h"

enum
{
	JOB_ID = 1,
	JOB_KIND,
	JOB_UUID,
	JOB_NAMESPACE,
	JOB_TABLE,
	JOB_STARTED,
	JOB_ENDED,
	JOB_ROWS,
	JOB_FILES,
	JOB_BYTES,
	JOB_SNAPSHOT,
	JOB_ERROR,
	JOB_TABLE_ID,
	JOB_CATALOG,
	JOB_FAILURES,
	JOB_RETRY,
	JOB_NATTS = JOB_RETRY
};

void
bifang_catalog_insert_job(const BifangJob *job)
{
	Relation rel = bifang_rows_open("job", RowExclusiveLock);
	Datum values[JOB_NATTS] = {0};
	bool nulls[JOB_NATTS] = {false};

	Assert(job->table_uuid != NULL && job->rows >= 0 && job->files >= 0 && job->bytes >= 0);
	values[BIFANG_SLOT(JOB_ID)] =
		Int64GetDatum(nextval_internal(bifang_rows_relid("job_id_seq"), false));
	values[BIFANG_SLOT(JOB_KIND)] = CStringGetTextDatum(job->kind);
	values[BIFANG_SLOT(JOB_UUID)] = CStringGetTextDatum(job->table_uuid);
	values[BIFANG_SLOT(JOB_NAMESPACE)] = CStringGetTextDatum(job->ns);
	values[BIFANG_SLOT(JOB_TABLE)] = CStringGetTextDatum(job->table);
	values[BIFANG_SLOT(JOB_STARTED)] = TimestampTzGetDatum(job->started_at);
	values[BIFANG_SLOT(JOB_ENDED)] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[BIFANG_SLOT(JOB_ROWS)] = Int64GetDatum(job->rows);
	values[BIFANG_SLOT(JOB_FILES)] = Int64GetDatum(job->files);
	values[BIFANG_SLOT(JOB_BYTES)] = Int64GetDatum(job->bytes);
	values[BIFANG_SLOT(JOB_SNAPSHOT)] = Int64GetDatum(job->snapshot_id);
	nulls[BIFANG_SLOT(JOB_SNAPSHOT)] = job->snapshot_id < 0;
	nulls[BIFANG_SLOT(JOB_ERROR)] = job->error == NULL;
	if (job->error != NULL)
		values[BIFANG_SLOT(JOB_ERROR)] = CStringGetTextDatum(job->error);
	nulls[BIFANG_SLOT(JOB_FAILURES)] = job->error == NULL;
	values[BIFANG_SLOT(JOB_FAILURES)] = Int32GetDatum(job->failures);
	nulls[BIFANG_SLOT(JOB_RETRY)] = job->retry_at == 0;
	values[BIFANG_SLOT(JOB_RETRY)] = TimestampTzGetDatum(job->retry_at);
	values[BIFANG_SLOT(JOB_TABLE_ID)] = Int64GetDatum(job->table_id);
	values[BIFANG_SLOT(JOB_CATALOG)] = CStringGetTextDatum(job->catalog);
	bifang_rows_insert(rel, values, nulls);
	table_close(rel, RowExclusiveLock);
}

void
bifang_catalog_forget_jobs(int64 before)
{
	Relation rel = bifang_rows_open("job", RowExclusiveLock);
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	BifangRows rows = bifang_rows_begin(rel, NULL, snap, 0, NULL);
	HeapTuple tuple;

	while (HeapTupleIsValid(tuple = bifang_rows_next(&rows)))
	{
		Datum values[JOB_NATTS];
		bool nulls[JOB_NATTS];

		bifang_rows_read(rel, tuple, JOB_NATTS, values, nulls);
		if (DatumGetTimestampTz(values[BIFANG_SLOT(JOB_ENDED)]) < before &&
			bifang_rows_lock(rel, tuple))
			CatalogTupleDelete(rel, &tuple->t_self);
	}
	bifang_rows_end(&rows);
	UnregisterSnapshot(snap);
	table_close(rel, RowExclusiveLock);
}
