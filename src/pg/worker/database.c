/*
 * pg/worker/database.c: the worker of a database.
 *
 *   look at all tables --> is something due? --yes--> do it, look at that table again --.
 *        ^                      |   ^                                                   |
 *        |                      no  '----------- until it is time for a look -----------'
 *        '------- sleep --------'
 *
 * It sleeps until a job is due or bifang.worker_naptime is over, but wakes for a moment every two
 * seconds to see whether the database is being dropped, renamed, moved or copied: who does that
 * waits five seconds for others to leave. Then, and when there is no extension to work for, the
 * process ends; the launcher starts another one when it is time.
 */
#include "pg/worker/internal.h"

#include <signal.h>
#include <unistd.h>

#include "access/xact.h"
#include "catalog/pg_database.h"
#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "storage/procarray.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pg/server/settings.h"
#include "pg/server/version.h"
#include "pg/worker/worker.h"
#include "pg/write/locks.h"

#define SLEEP_MS_MAX 2000
#define CLAIM_TRIES 20

/* Has somebody the lock that keeps those out who connect to it? */
bool
bifang_database_is_wanted(Oid database)
{
	LOCKTAG tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, database, 0);
	if (LockAcquire(&tag, RowExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, RowExclusiveLock, true);
	return false;
}

/* Between two steps, outside of transactions. */
static void
look_up(void)
{
	Assert(!IsTransactionState());
	QueryCancelPending = false; /* there is nothing that could be cancelled */
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
	if (!bifang_worker || bifang_database_is_wanted(MyDatabaseId))
		proc_exit(0);
}

static void
doze(long ms)
{
	static uint32 event = 0;

	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms,
					 bifang_wait_event(&event, "BifangWorkerMain"));
	ResetLatch(MyLatch);
}

static void
sleep_until(int64 wake)
{
	for (;;)
	{
		int64 left = (wake - GetCurrentTimestamp()) / 1000 + 1;

		look_up();
		/* More than asked for: the clock was set back. */
		if (left <= 1 || left > (int64) bifang_worker_naptime_s * 1000 + 1)
			return;
		doze((long) Min(left, SLEEP_MS_MAX));
	}
}

/* Settings of roles and of the database that are meant for sessions. */
static void
set_session(void)
{
	static const char *const fixed[][2] = {{"role", "none"},
										   {"search_path", "pg_catalog, pg_temp"},
										   {"default_transaction_isolation", "read committed"},
										   {"default_transaction_read_only", "off"},
										   {"default_transaction_deferrable", "off"},
										   {"lock_timeout", "1min"},
										   {"statement_timeout", "0"},
										   {"transaction_timeout", "0"},
										   {"idle_in_transaction_session_timeout", "0"},
										   {"bifang.as_of_snapshot", ""},
										   {"bifang.as_of_timestamp", ""},
										   {"bifang.ref", ""}};

	/* Not every version has all of them. */
	for (int i = 0; i < (int) lengthof(fixed); i++)
		if (GetConfigOption(fixed[i][0], true, false) != NULL)
			SetConfigOption(fixed[i][0], fixed[i][1], PGC_SUSET, PGC_S_OVERRIDE);
}

/* The launcher looks at databases without a worker for a moment, as one that holds it. */
static bool
claim(void)
{
	for (int i = 0; i < CLAIM_TRIES; i++)
	{
		if (bifang_claim_worker(MyDatabaseId, BIFANG_ROLE_WORKER))
			return true;
		look_up();
		doze(50);
	}
	return false;
}

static void
tell_launcher_that_there_is_nothing(void)
{
	int pid = MyBgworkerEntry->bgw_notify_pid;

	if (pid > 0 && BackendPidGetProc(pid) != NULL)
		kill(pid, SIGUSR2);
}

/* Returns when it is time to look at all tables again; *wake: when something is due. */
static void
work(BifangSurvey *s, int64 look_again)
{
	int64 begun = GetCurrentTimestamp();

	for (;;)
	{
		BfChoice c;
		int64 now = GetCurrentTimestamp();
		int32 i = bf_policy_pick(s->tables, s->n, now, &c);
		MemoryContext cxt;
		MemoryContext old;

		look_up();
		if (now >= look_again || now < begun)
			return;
		if (i < 0)
		{
			sleep_until(Min(c.due, look_again));
			continue;
		}
		cxt = AllocSetContextCreate(CurrentMemoryContext, "bifang job", ALLOCSET_DEFAULT_SIZES);
		old = MemoryContextSwitchTo(cxt);
		bifang_run_job(s, i, c.job);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(cxt);
	}
}

static void
connect_to(Oid database)
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	pqsignal(SIGINT, StatementCancelHandler);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	Assert(MyDatabaseId == database);
	set_session();
}

void
bifang_worker_main(Datum arg)
{
	MemoryContext cxt[2];
	BifangSurvey survey[2];
	bool first = true;
	int which = 0;

	connect_to(DatumGetObjectId(arg));
	if (!claim())
		proc_exit(0);
	for (int i = 0; i < 2; i++)
		cxt[i] = AllocSetContextCreate(TopMemoryContext, "bifang survey", ALLOCSET_DEFAULT_SIZES);
	for (;;)
	{
		int64 look_again;

		look_up();
		MemoryContextReset(cxt[which]);
		if (!bifang_survey(cxt[which], first ? NULL : &survey[1 - which], &survey[which], look_up))
		{
			tell_launcher_that_there_is_nothing();
			proc_exit(0);
		}
		first = false;
		look_again = GetCurrentTimestamp() + (int64) bifang_worker_naptime_s * USECS_PER_SEC;
		MemoryContextSwitchTo(cxt[which]);
		work(&survey[which], look_again);
		which = 1 - which;
	}
}
