/*
 * pg/catalog/jobs.c: see jobs.h.
 */
#include "pg/catalog/jobs.h"

#include "access/table.h"
#include "commands/sequence.h"
#include "utils/builtins.h"
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
	JOB_NATTS = JOB_CATALOG
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
	nulls[BIFANG_SLOT(JOB_ERROR)] = true;
	values[BIFANG_SLOT(JOB_TABLE_ID)] = Int64GetDatum(job->table_id);
	values[BIFANG_SLOT(JOB_CATALOG)] = CStringGetTextDatum(job->catalog);
	bifang_rows_insert(rel, values, nulls);
	table_close(rel, RowExclusiveLock);
}
