/*
 * pg/worker/worker.h: background workers.
 *
 *   postmaster ── launcher ── worker of a database ── jobs of its tables, one at a time
 *
 *   launcher.c   keeps a worker running in each database (preloaded), or in one (start_worker())
 *   database.c   a worker: looks, asks policy/ what is next, has it done, sleeps
 *   survey.c     which tables there are, and what they have
 *   run.c        one job
 *   step.c       a transaction, with whose rights, and what is remembered of failures
 *
 * What workers know is in the database: a new one goes on where the last one ended, however it did.
 */
#ifndef BIFANG_PG_WORKER_WORKER_H
#define BIFANG_PG_WORKER_WORKER_H

#include "postgres.h"

/* Registers the launcher when the library is preloaded. */
extern void bifang_worker_init(void);

/* What the processes run; the argument is the oid of a database, none for the launcher of all. */
extern PGDLLEXPORT void bifang_launcher_main(Datum arg);
extern PGDLLEXPORT void bifang_worker_main(Datum arg);

#endif
