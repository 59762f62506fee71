/*
 * pg/worker/step.c: a transaction of a worker, whose rights it has, and what is told when it fails.
 *
 * The worker is a superuser. What belongs to a table's owner, its options, files, the names of
 * roles in them, is touched with the owner's rights only, in a restricted operation, with a search
 * path that nobody else can put something into.
 */
#include "pg/worker/internal.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "pg/catalog/jobs.h"
#include "pg/catalog/work.h"
#include "pg/server/roles.h"

char *
bifang_in_transaction(BifangWorkFn work, void *arg, const char *activity)
{
	MemoryContext cxt = CurrentMemoryContext;
	char *error = NULL;

	Assert(!IsTransactionState());
	SetCurrentStatementStartTimestamp();
	pgstat_report_activity(STATE_RUNNING, activity);
	PG_TRY();
	{
		StartTransactionCommand();
		PushActiveSnapshot(GetTransactionSnapshot());
		work(arg);
		PopActiveSnapshot();
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		ErrorData *e;

		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(cxt);
		e = CopyErrorData();
		EmitErrorReport();
		FlushErrorState();
		AbortOutOfAnyTransaction();
		MemoryContextSwitchTo(cxt);
		error = pstrdup(e->message != NULL ? e->message : "unknown error");
		FreeErrorData(e);
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(cxt);
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
	return error;
}

BifangIdentitySwitch
bifang_become_owner(Oid relid)
{
	Oid owner = bifang_relation_owner(relid);
	BifangIdentitySwitch before;

	GetUserIdAndSecContext(&before.user, &before.context);
	SetUserIdAndSecContext(owner, before.context | SECURITY_RESTRICTED_OPERATION);
	Assert(InSecurityRestrictedOperation());
	return before;
}

void
bifang_become_again(BifangIdentitySwitch before)
{
	SetUserIdAndSecContext(before.user, before.context);
}

/* What is remembered ----------------------------------------------------------------------------
 */

typedef struct Failure
{
	const BifangSubject *subject;
	const char *kind;
	const char *error;
	int32 failures;
	int64 started;
	int64 retry_at;
	bool is_job; /* bifang.work remembers it, too */
} Failure;

static void
write_failure(void *arg)
{
	const Failure *f = arg;
	const BifangSubject *b = f->subject;
	BifangJob job = {.kind = f->kind,
					 .table_id = b->table_id,
					 .table_uuid = b->uuid,
					 .catalog = b->catalog,
					 .ns = b->ns,
					 .table = b->table,
					 .started_at = f->started,
					 .snapshot_id = -1,
					 .error = f->error,
					 .failures = f->failures,
					 .retry_at = f->retry_at};

	bifang_catalog_insert_job(&job);
	if (f->is_job)
		bifang_catalog_set_work(&(BifangWork){.table_id = b->table_id,
											  .kind = f->kind,
											  .started_at = f->started,
											  .ended_at = GetCurrentTimestamp(),
											  .failures = f->failures,
											  .retry_at = f->retry_at,
											  .error = f->error});
}

void
bifang_tell_failure(const BifangSubject *b, const char *kind, const char *error, int32 failures,
					int64 started, int64 retry_at)
{
	Failure f = {b, kind, error, failures, started, retry_at, bf_job_find(kind) != BF_JOB_NONE};

	(void) bifang_in_transaction(write_failure, &f, "bifang: note an error");
}
