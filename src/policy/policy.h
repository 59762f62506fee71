/*
 * policy/policy.h: what is to be done next for tables, and when.
 *
 * Pure functions of what tables have, what is asked of them and the time: who calls them reads
 * clock and catalog, does the job, looks again. Times are microseconds of whatever clock the caller
 * has, BF_TIME_NEVER is beyond all of them.
 *
 *   settle    rows of small transactions, kept apart, go to their ledger's files
 *   roll      open ledgers are closed
 *   commit    rows get names in the lake
 *   offload   closed ledgers are copied to the lake
 *   optimize  rows that the lake names in the log become Parquet
 *   expire    snapshots that are older than the table keeps them go
 *   garbage   what nothing names any more is removed; of the whole database
 *
 * A job is due at a time:
 *
 *   at once         what there is of it has reached a size: since then
 *   since + age     the oldest of it gets too old, whether more comes or not
 *   never           there is nothing
 *
 * but not before its last run is a pause ago, which doubles with each run that failed or changed
 * nothing. What is dated later than now was written before the clock was set back, and is due now.
 * A table's jobs are tried in the order above, so that what one makes the next one finds;
 * of several tables the one that waits longest comes first.
 */
#ifndef BF_POLICY_POLICY_H
#define BF_POLICY_POLICY_H

#include "base/status.h"

#define BF_TIME_NEVER INT64_MAX

typedef enum BfJobKind
{
	BF_JOB_SETTLE,
	BF_JOB_ROLL,
	BF_JOB_COMMIT,
	BF_JOB_OFFLOAD,
	BF_JOB_OPTIMIZE,
	BF_JOB_EXPIRE,
	BF_JOB_GARBAGE,
	BF_JOB_COUNT,
	BF_JOB_NONE = BF_JOB_COUNT
} BfJobKind;

/* "settle" and so on. */
extern const char *bf_job_name(BfJobKind job);
/* BF_JOB_NONE: no job is called so. */
extern BfJobKind bf_job_find(const char *name);
/* Is it one of the database rather than of a table? */
extern bool bf_job_is_database(BfJobKind job);

/* Rows that wait for the same thing. */
typedef struct BfBacklogPart
{
	int64_t rows;
	int64_t bytes;
	int64_t since; /* when the oldest came; BF_TIME_NEVER when there are none */
} BfBacklogPart;

/* What a table has, as of one moment. */
typedef struct BfBacklog
{
	BfBacklogPart tail;		   /* acknowledged, not in files yet */
	BfBacklogPart open;		   /* in open ledgers; since: the oldest of these began */
	BfBacklogPart closed;	   /* in closed ledgers; since: the first of these was closed */
	BfBacklogPart uncommitted; /* acknowledged, not named by the lake */
	BfBacklogPart log;		   /* named by the lake, no Parquet yet; since: their commit */
	BfBacklogPart history;	   /* snapshots, as rows; since: the first might expire */
	int64_t fullest_bytes;	   /* of one open ledger */
	int64_t fullest_rows;
	int64_t open_ledgers;
	int64_t closed_ledgers;
	int64_t closed_uncommitted; /* of these, with rows that are not named by the lake */
} BfBacklog;

/* A job's past. */
typedef struct BfJobPast
{
	int64_t started;  /* its last run; BF_TIME_NEVER: there was none */
	int32_t failures; /* runs that failed, since one that did not */
	int32_t idle;	  /* runs that changed nothing of what makes it due */
} BfJobPast;

/* How far the lake may be behind; 0 = as far as it likes. */
typedef struct BfLagLimits
{
	int64_t rows;
	int64_t bytes;
	int64_t age;
} BfLagLimits;

typedef enum BfLagOver
{
	BF_LAG_WITHIN,
	BF_LAG_ROWS,
	BF_LAG_BYTES,
	BF_LAG_AGE
} BfLagOver;

/* What is asked of a table; ages in microseconds. */
typedef struct BfPolicyLimits
{
	int64_t settle_age;
	int64_t settle_bytes;
	int64_t roll_age;
	int64_t roll_bytes;
	int64_t roll_rows;
	int64_t commit_age;
	int64_t commit_bytes;
	int64_t optimize_age;
	int64_t optimize_bytes;
	int64_t expire_age;
	int64_t garbage_interval;
	BfLagLimits lag; /* rows are committed when half of it is reached */
	int64_t pause;	 /* between runs of one job */
} BfPolicyLimits;

typedef struct BfPolicyTable
{
	bool database; /* stands for jobs of the database */
	BfBacklog backlog;
	BfPolicyLimits limits;
	BfJobPast past[BF_JOB_COUNT];
} BfPolicyTable;

typedef struct BfChoice
{
	BfJobKind job; /* BF_JOB_NONE: nothing is due yet */
	int64_t due;   /* since when the job is; without one, when the first will be */
} BfChoice;

extern void bf_backlog_clear(BfBacklog *b);
/* Adds rows that came at `since` or later. */
extern void bf_backlog_add(BfBacklogPart *p, int64_t rows, int64_t bytes, int64_t since);

/* How long a job waits after a run: `pause`, doubled for each of `runs` that were in vain, an hour
 * at most, or the pause if that is longer. */
extern int64_t bf_policy_wait(int64_t pause, int32_t runs);
/* When the job may run, BF_TIME_NEVER if it need not. */
extern int64_t bf_policy_due(const BfPolicyTable *t, BfJobKind job, int64_t now);
/* What is to be done for the table. */
extern BfChoice bf_policy_next(const BfPolicyTable *t, int64_t now);
/* For which of n tables; -1 when nothing is due: choice->due says when it will be. */
extern int32_t
bf_policy_pick(const BfPolicyTable *tables, int32_t n, int64_t now, BfChoice *choice);

/* Which limit the rows that the lake lacks are beyond. */
extern BfLagOver bf_lag_over(const BfBacklogPart *uncommitted, const BfLagLimits *l, int64_t now);

/* A job has run since `before`, and the table now is `t`: counts runs that changed nothing. */
extern void
bf_policy_ran(BfPolicyTable *t, BfJobKind job, const BfBacklog *before, int64_t started);

#endif
