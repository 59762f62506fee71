/*
 * pg/worker/run.c: one job of one table.
 *
 *   transaction 1   bifang.work: begun, counted as failed
 *   transaction 2   locks; as the table's owner, the SQL function; bifang.work: succeeded
 *   or, after an error,
 *   transaction 3   bifang.work: the error; bifang.job: a row that shows it
 *
 * A server that the job takes down finds the first row, and leaves the job alone for as long as
 * after any other failure.
 *
 * Locks are not waited for: somebody who has the table for maintenance does the job, or another
 * one, by hand; it is looked at again after the pause.
 */
#include "pg/worker/internal.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "pg/catalog/jobs.h"
#include "pg/catalog/work.h"
#include "pg/server/roles.h"
#include "pg/server/settings.h"
#include "pg/write/locks.h"
#include "pg/write/table.h"

/* What does a job: a function of schema bifang, of the table or of nothing. */
typedef struct JobFunction
{
	const char *name;
	Oid more[2]; /* types of further arguments; InvalidOid = there are none */
	bool given;	 /* these are false or 0, else NULL */
} JobFunction;

static const JobFunction jobs[BF_JOB_COUNT] = {
	[BF_JOB_SETTLE] = {"settle", {InvalidOid}, false},
	[BF_JOB_ROLL] = {"roll", {BOOLOID}, true}, /* does not wait for writers */
	[BF_JOB_COMMIT] = {"commit", {InvalidOid}, false},
	[BF_JOB_OFFLOAD] = {"offload", {InvalidOid}, false},
	[BF_JOB_OPTIMIZE] = {"optimize", {INT8OID}, false}, /* files as large as the table says */
	[BF_JOB_EXPIRE] = {"expire", {INTERVALOID, INT4OID}, false}, /* what the table says */
	[BF_JOB_GARBAGE] = {"remove_garbage", {InvalidOid}, false},
};

/* The run ---------------------------------------------------------------------------------------
 */

typedef struct Run
{
	const BifangSubject *subject;
	BfJobKind job;
	BifangWork work; /* as it is while it runs */
	bool busy;		 /* somebody else is at the table */
} Run;

static void
write_begin(void *arg)
{
	bifang_catalog_set_work(&((Run *) arg)->work);
}

/* A role that was a superuser when it made the extension could replace its functions. */
static bool
is_trusted(Oid function)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((const FormData_pg_proc *) GETSTRUCT(tuple))->proowner;
		ReleaseSysCache(tuple);
	}
	return superuser_arg(owner) && bifang_is_member(ProcedureRelationId, function);
}

static void
call(const Run *r)
{
	const JobFunction *f = &jobs[r->job];
	Oid types[3] = {REGCLASSOID, f->more[0], f->more[1]};
	int n = bf_job_is_database(r->job) ? 0 : 1 + OidIsValid(f->more[0]) + OidIsValid(f->more[1]);
	LOCAL_FCINFO(arguments, 3);
	FmgrInfo info;
	List *name = list_make2(makeString("bifang"), makeString(pstrdup(f->name)));
	Oid function = LookupFuncName(name, n, types, false);

	if (!is_trusted(function))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("function bifang.%s is not one of extension bifang_fdw that a "
							   "superuser owns",
							   f->name)));
	fmgr_info(function, &info);
	InitFunctionCallInfoData(*arguments, &info, (short) n, InvalidOid, NULL, NULL);
	arguments->args[0] = (NullableDatum){ObjectIdGetDatum(r->subject->relid), false};
	arguments->args[1] = arguments->args[2] = (NullableDatum){(Datum) 0, !f->given};
	(void) FunctionCallInvoke(arguments);
}

/* False: somebody else has it, or it is gone. */
static bool
lock_subject(const BifangSubject *b)
{
	if (b->table_id == 0)
		return true;
	if (!ConditionalLockRelationOid(b->relid, BIFANG_WORK_LOCK))
		return false;
	return get_rel_name(b->relid) != NULL && bifang_table_is_ours(b->relid) &&
		   bifang_try_lock_table(b->table_id, BIFANG_TABLE_MAINTAIN);
}

static void
do_job(void *arg)
{
	Run *r = arg;
	BifangWork done = r->work;

	r->busy = !lock_subject(r->subject);
	if (r->busy)
		return;
	if (r->subject->table_id == 0)
	{
		call(r);
		bifang_catalog_forget_jobs(GetCurrentTimestamp() -
								   (int64) bifang_worker_history_s * USECS_PER_SEC);
		bifang_catalog_forget_work();
	}
	else
	{
		BifangIdentitySwitch before = bifang_become_owner(r->subject->relid);

		call(r);
		bifang_become_again(before);
	}
	done.ended_at = GetCurrentTimestamp();
	done.failures = 0;
	done.retry_at = 0;
	done.error = NULL;
	bifang_catalog_set_work(&done);
}

void
bifang_run_job(BifangSurvey *s, int32 i, BfJobKind job)
{
	const BifangSubject *b = &s->subjects[i];
	BfPolicyTable *t = &s->tables[i];
	BfJobPast *past = &t->past[job];
	BfBacklog before = t->backlog;
	int64 now = GetCurrentTimestamp();
	char *activity = psprintf("bifang: %s %s", bf_job_name(job), b->name);
	char *error;
	Run r = {.subject = b, .job = job};

	r.work = (BifangWork){.table_id = b->table_id,
						  .kind = bf_job_name(job),
						  .started_at = now,
						  .failures = past->failures + 1,
						  .error = "it did not end"};
	r.work.retry_at = now + bf_policy_wait(t->limits.pause, r.work.failures);
	Assert(job < BF_JOB_COUNT && bf_job_is_database(job) == (b->table_id == 0));
	past->started = now;
	error = bifang_in_transaction(write_begin, &r, activity);
	if (error != NULL)
	{
		past->failures++;
		return;
	}
	error = bifang_in_transaction(do_job, &r, activity);
	if (error != NULL)
	{
		past->failures++;
		bifang_tell_failure(b, bf_job_name(job), error, past->failures, now, r.work.retry_at);
		return;
	}
	if (r.busy)
	{
		r.work.failures = past->failures;
		r.work.error = past->failures == 0 ? NULL : r.work.error;
		r.work.retry_at = now + bf_policy_wait(t->limits.pause, past->failures);
		(void) bifang_in_transaction(write_begin, &r, activity);
		return;
	}
	past->failures = 0;
	if (b->table_id != 0)
		bifang_survey_again(s, i);
	bf_policy_ran(t, job, &before, now);
}
