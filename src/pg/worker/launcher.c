/*
 * pg/worker/launcher.c: who starts workers, and bifang.start_worker().
 *
 *   preloaded       one launcher, started by the server: minds all databases
 *   start_worker()  one for its database, started by that call; goes with the database, or when
 *                   there is no extension in it any more, and with the server
 *
 * A launcher is connected to no database. It starts a worker in each that it minds, and another one
 * when that has ended, at most every bifang.worker_launch_interval. A worker in a database without
 * the extension ends at once. A worker that a launcher knows nothing of, say of a launcher that was
 * terminated, keeps new ones away (BIFANG_ROLE_WORKER, pg/write/locks.h).
 */
#include "pg/worker/internal.h"

#include <signal.h>

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_database.h"
#include "fmgr.h"
#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/utility.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "pg/server/settings.h"
#include "pg/server/version.h"
#include "pg/worker/worker.h"
#include "pg/write/locks.h"

PG_FUNCTION_INFO_V1(bifang_start_worker);

#define RESTART_S 5
#define START_PAUSE_MS 200

/* Found nothing to work for so many times in a row. */
#define ABSENT_MAX 2

static bool preloaded = false;
static volatile sig_atomic_t nothing_there = false;

/* A database that is minded. */
typedef struct Minded
{
	Oid database;
	BackgroundWorkerHandle *handle; /* NULL: none was started */
	int64 started;
	bool found; /* by the look that is going on */
} Minded;

static List *minded = NIL; /* Minded *, in TopMemoryContext */

static void
describe(BackgroundWorker *w, const char *function, const char *type, Oid database)
{
	memset(w, 0, sizeof *w);
	w->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	w->bgw_start_time = BgWorkerStart_RecoveryFinished;
	w->bgw_restart_time = BGW_NEVER_RESTART;
	w->bgw_main_arg = ObjectIdGetDatum(database);
	strlcpy(w->bgw_library_name, BIFANG_LIBRARY, sizeof w->bgw_library_name);
	strlcpy(w->bgw_function_name, function, sizeof w->bgw_function_name);
	strlcpy(w->bgw_type, type, sizeof w->bgw_type);
	strlcpy(w->bgw_name, type, sizeof w->bgw_name);
	if (OidIsValid(database))
		snprintf(w->bgw_name, sizeof w->bgw_name, "%s of database %u", type, database);
}

/* Databases -------------------------------------------------------------------------------------
 */

static Minded *
mind(Oid database)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	Minded *m;
	ListCell *lc;

	Assert(OidIsValid(database));

	foreach (lc, minded)
	{
		m = lfirst(lc);
		if (m->database == database)
		{
			MemoryContextSwitchTo(old);
			return m;
		}
	}
	m = palloc0(sizeof *m);
	m->database = database;
	minded = lappend(minded, m);
	MemoryContextSwitchTo(old);
	return m;
}

static void
note_database(HeapTuple tuple, Oid only)
{
	Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);

	if (form->datallowconn && !form->datistemplate && (!OidIsValid(only) || form->oid == only))
		mind(form->oid)->found = true;
}

/* One that takes no connections any more, or became a template, loses its worker as well. */
static void
forget_missing(void)
{
	ListCell *lc;

	foreach (lc, minded)
	{
		Minded *m = lfirst(lc);

		if (m->found)
			continue;
		minded = foreach_delete_current(minded, lc);
		if (m->handle != NULL)
		{
			TerminateBackgroundWorker(m->handle);
			pfree(m->handle);
		}
		pfree(m);
	}
}

static void
read_databases(Oid only)
{
	Relation rel;
	TableScanDesc scan;
	HeapTuple tuple;
	ListCell *lc;

	Assert(!IsTransactionState());
	foreach (lc, minded)
		((Minded *) lfirst(lc))->found = false;
	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while (HeapTupleIsValid(tuple = heap_getnext(scan, ForwardScanDirection)))
		note_database(tuple, only);
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	CommitTransactionCommand();
	forget_missing();
}

/* Workers ---------------------------------------------------------------------------------------
 */

static bool
is_running(const Minded *m)
{
	pid_t pid;
	BgwHandleStatus status;

	if (m->handle == NULL)
		return false;
	status = GetBackgroundWorkerPid(m->handle, &pid);
	return status == BGWH_STARTED || status == BGWH_NOT_YET_STARTED;
}

static void
start_one(Minded *m, int64 now)
{
	static bool complained = false;
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	BackgroundWorker w;
	bool started;

	Assert(!is_running(m));
	describe(&w, "bifang_worker_main", "bifang worker", m->database);
	w.bgw_notify_pid = MyProcPid;
	if (m->handle != NULL)
		pfree(m->handle);
	m->handle = NULL;
	m->started = now;
	started = RegisterDynamicBackgroundWorker(&w, &m->handle);
	MemoryContextSwitchTo(old);
	if (!started && !complained)
		ereport(WARNING, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
						  errmsg("no background worker is left for database %u", m->database),
						  errhint("Increase max_worker_processes.")));
	complained = !started;
}

/* One at a time: most databases of a cluster may have no use for a worker, and each needs a place
 * among background workers for the moment that it takes to see that. When there is something to do
 * again. */
static int64
start_missing(void)
{
	bool started = false;
	int64 interval = (int64) bifang_worker_launch_interval_s * USECS_PER_SEC;
	int64 now = GetCurrentTimestamp();
	int64 next = now + interval;
	ListCell *lc;

	if (!bifang_worker)
		return next;
	foreach (lc, minded)
	{
		Minded *m = lfirst(lc);

		if (is_running(m))
			continue;
		if (m->started != 0 && m->started <= now && m->started + interval > now)
			next = Min(next, m->started + interval);
		else if (bifang_database_is_wanted(m->database))
			next = Min(next, now + USECS_PER_SEC);
		else if (started)
			next = Min(next, now + START_PAUSE_MS * 1000);
		else
		{
			start_one(m, now);
			started = true;
		}
	}
	return next;
}

static void
stop_all(void)
{
	ListCell *lc;

	foreach (lc, minded)
		if (((Minded *) lfirst(lc))->handle != NULL)
			TerminateBackgroundWorker(((Minded *) lfirst(lc))->handle);
}

/* The launcher ----------------------------------------------------------------------------------
 */

static void
on_nothing_there(SIGNAL_ARGS)
{
	int saved = errno;

	nothing_there = true;
	SetLatch(MyLatch);
	errno = saved;
}

/* One of a single database that is not started again has code 0. */
static void
leave(Oid only)
{
	stop_all();
	proc_exit(OidIsValid(only) ? 0 : 1);
}

static void
look_up(Oid only)
{
	static int absent = 0;

	CHECK_FOR_INTERRUPTS();
	if (ShutdownRequestPending)
		leave(only);
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
	if (nothing_there)
	{
		nothing_there = false;
		if (OidIsValid(only) && ++absent >= ABSENT_MAX)
			leave(only);
	}
}

void
bifang_launcher_main(Datum arg)
{
	Oid only = DatumGetObjectId(arg);
	static uint32 event = 0;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGUSR2, on_nothing_there);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	if (OidIsValid(only) && !bifang_claim_worker(only, BIFANG_ROLE_LAUNCHER))
		proc_exit(0);
	for (;;)
	{
		int64 next;
		int64 left;

		look_up(only);
		read_databases(only);
		if (OidIsValid(only) && minded == NIL)
			proc_exit(0);
		next = start_missing();
		pgstat_report_activity(STATE_IDLE, NULL);
		left = (next - GetCurrentTimestamp()) / 1000 + 1;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 (long) Max(left, 100), bifang_wait_event(&event, "BifangLauncherMain"));
		ResetLatch(MyLatch);
	}
}

void
bifang_worker_init(void)
{
	BackgroundWorker w;

	if (!process_shared_preload_libraries_in_progress)
		return;
	preloaded = true;
	if (IsBinaryUpgrade)
		return;
	describe(&w, "bifang_launcher_main", "bifang launcher", InvalidOid);
	w.bgw_restart_time = RESTART_S;
	RegisterBackgroundWorker(&w);
}

Datum
bifang_start_worker(PG_FUNCTION_ARGS)
{
	BackgroundWorker w;
	BackgroundWorkerHandle *handle;
	pid_t pid;

	PreventCommandDuringRecovery("bifang.start_worker()");
	if (preloaded || bifang_has_worker(MyDatabaseId, BIFANG_ROLE_LAUNCHER))
	{
		ereport(NOTICE, (errmsg("a background worker of this database is kept running already")));
		PG_RETURN_NULL();
	}
	describe(&w, "bifang_launcher_main", "bifang launcher", MyDatabaseId);
	w.bgw_restart_time = RESTART_S;
	w.bgw_notify_pid = MyProcPid;
	if (!RegisterDynamicBackgroundWorker(&w, &handle))
		ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
						errmsg("no background worker is left"),
						errhint("Increase max_worker_processes: two are needed here.")));
	if (WaitForBackgroundWorkerStartup(handle, &pid) != BGWH_STARTED)
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
						errmsg("the background worker could not be started"),
						errhint("The server's log may say why.")));
	PG_RETURN_INT32(pid);
}
