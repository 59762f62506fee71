/*
 * policy/policy.c: see policy.h.
 */
#include "policy/policy.h"

#include <string.h>

#define HOUR ((int64_t) 3600 * 1000000)

typedef struct Rule
{
	const char *name;
	bool database;
	/* When there is reason for the job, whatever its past. */
	int64_t (*wanted)(const BfPolicyTable *t, int64_t now);
	size_t part; /* of the backlog, what makes it due; NO_PART: the time alone */
} Rule;

static int64_t
later(int64_t time, int64_t by)
{
	BF_ASSERT(by >= 0);
	return time > BF_TIME_NEVER - by ? BF_TIME_NEVER : time + by;
}

/* Too old at since + age, or too much since `since`. A time to come is none to wait for: the clock
 * was set back. */
static int64_t
when(const BfBacklogPart *p, int64_t age, bool too_much, int64_t now)
{
	BF_ASSERT((p->rows > 0) == (p->since != BF_TIME_NEVER));
	if (p->rows > 0 && p->since > now)
		return now;
	return too_much && p->rows > 0 ? p->since : later(p->since, age);
}

static int64_t
want_settle(const BfPolicyTable *t, int64_t now)
{
	const BfBacklogPart *tail = &t->backlog.tail;

	return when(tail, t->limits.settle_age, tail->bytes >= t->limits.settle_bytes, now);
}

static int64_t
want_roll(const BfPolicyTable *t, int64_t now)
{
	const BfBacklog *b = &t->backlog;

	return when(&b->open, t->limits.roll_age,
				b->fullest_bytes >= t->limits.roll_bytes || b->fullest_rows >= t->limits.roll_rows,
				now);
}

/* A ledger that is closed is offloaded next, and is committed at less cost before that. */
static int64_t
want_commit(const BfPolicyTable *t, int64_t now)
{
	const BfBacklogPart *p = &t->backlog.uncommitted;
	const BfLagLimits *lag = &t->limits.lag;
	int64_t age = t->limits.commit_age;

	if (lag->age > 0 && lag->age / 2 < age)
		age = lag->age / 2;
	return when(p, age,
				(lag->rows > 0 && p->rows >= (lag->rows + 1) / 2) ||
					(lag->bytes > 0 && p->bytes >= lag->bytes / 2) ||
					p->bytes >= t->limits.commit_bytes || t->backlog.closed_uncommitted > 0,
				now);
}

static int64_t
want_offload(const BfPolicyTable *t, int64_t now)
{
	return when(&t->backlog.closed, 0, true, now);
}

static int64_t
want_optimize(const BfPolicyTable *t, int64_t now)
{
	const BfBacklogPart *log = &t->backlog.log;

	return when(log, t->limits.optimize_age, log->bytes >= t->limits.optimize_bytes, now);
}

static int64_t
want_expire(const BfPolicyTable *t, int64_t now)
{
	return when(&t->backlog.history, t->limits.expire_age, false, now);
}

static int64_t
want_garbage(const BfPolicyTable *t, int64_t now)
{
	const BfJobPast *past = &t->past[BF_JOB_GARBAGE];

	(void) now;
	return past->started == BF_TIME_NEVER ? 0 : later(past->started, t->limits.garbage_interval);
}

#define PART(name) offsetof(BfBacklog, name)
#define NO_PART SIZE_MAX

static const Rule rules[] = {
	[BF_JOB_SETTLE] = {"settle", false, want_settle, PART(tail)},
	[BF_JOB_ROLL] = {"roll", false, want_roll, PART(open)},
	[BF_JOB_COMMIT] = {"commit", false, want_commit, PART(uncommitted)},
	[BF_JOB_OFFLOAD] = {"offload", false, want_offload, PART(closed)},
	[BF_JOB_OPTIMIZE] = {"optimize", false, want_optimize, PART(log)},
	[BF_JOB_EXPIRE] = {"expire", false, want_expire, PART(history)},
	[BF_JOB_GARBAGE] = {"garbage", true, want_garbage, NO_PART},
};
_Static_assert(sizeof rules / sizeof rules[0] == BF_JOB_COUNT, "a rule for each job");

static const BfBacklogPart *
part_of(const BfBacklog *b, BfJobKind job)
{
	BF_ASSERT(rules[job].part < sizeof *b);
	return (const BfBacklogPart *) (const void *) ((const char *) b + rules[job].part);
}

const char *
bf_job_name(BfJobKind job)
{
	BF_ASSERT(job >= 0 && job < BF_JOB_COUNT);
	return rules[job].name;
}

BfJobKind
bf_job_find(const char *name)
{
	BfJobKind job = 0;

	while (job < BF_JOB_COUNT && strcmp(rules[job].name, name) != 0)
		job++;
	return job;
}

bool
bf_job_is_database(BfJobKind job)
{
	BF_ASSERT(job >= 0 && job < BF_JOB_COUNT);
	return rules[job].database;
}

void
bf_backlog_clear(BfBacklog *b)
{
	memset(b, 0, sizeof *b);
	b->tail.since = b->open.since = b->closed.since = BF_TIME_NEVER;
	b->uncommitted.since = b->log.since = b->history.since = BF_TIME_NEVER;
}

void
bf_backlog_add(BfBacklogPart *p, int64_t rows, int64_t bytes, int64_t since)
{
	BF_ASSERT(rows > 0 && bytes >= 0 && since != BF_TIME_NEVER);
	p->rows += rows;
	p->bytes += bytes;
	if (since < p->since)
		p->since = since;
}

int64_t
bf_policy_wait(int64_t pause, int32_t runs)
{
	int64_t most = pause > HOUR ? pause : HOUR;

	BF_ASSERT(pause >= 0 && runs >= 0);
	for (int32_t i = 0; i < runs && pause < most; i++)
		pause = pause > most / 2 ? most : pause * 2;
	return pause;
}

int64_t
bf_policy_due(const BfPolicyTable *t, BfJobKind job, int64_t now)
{
	const BfJobPast *past = &t->past[job];
	int64_t wanted;
	int64_t allowed;

	if (rules[job].database != t->database)
		return BF_TIME_NEVER;
	wanted = rules[job].wanted(t, now);
	if (wanted == BF_TIME_NEVER || past->started == BF_TIME_NEVER)
		return wanted;
	if (past->started > now)
		return now;
	BF_ASSERT(past->failures >= 0 && past->idle >= 0);
	allowed = later(past->started, bf_policy_wait(t->limits.pause, past->failures + past->idle));
	return wanted > allowed ? wanted : allowed;
}

BfChoice
bf_policy_next(const BfPolicyTable *t, int64_t now)
{
	BfChoice choice = {BF_JOB_NONE, BF_TIME_NEVER};

	for (BfJobKind job = 0; job < BF_JOB_COUNT; job++)
	{
		int64_t due = bf_policy_due(t, job, now);

		if (due <= now)
			return (BfChoice){job, due};
		if (due < choice.due)
			choice.due = due;
	}
	BF_ASSERT(choice.due > now);
	return choice;
}

int32_t
bf_policy_pick(const BfPolicyTable *tables, int32_t n, int64_t now, BfChoice *choice)
{
	int32_t picked = -1;

	BF_ASSERT(n >= 0);
	*choice = (BfChoice){BF_JOB_NONE, BF_TIME_NEVER};
	for (int32_t i = 0; i < n; i++)
	{
		BfChoice c = bf_policy_next(&tables[i], now);
		bool is_first = c.due < choice->due || (choice->job == BF_JOB_NONE && c.job != BF_JOB_NONE);

		if (!is_first || (c.job == BF_JOB_NONE && choice->job != BF_JOB_NONE))
			continue;
		*choice = c;
		picked = c.job == BF_JOB_NONE ? -1 : i;
	}
	BF_ASSERT((picked >= 0) == (choice->job != BF_JOB_NONE));
	return picked;
}

BfLagOver
bf_lag_over(const BfBacklogPart *uncommitted, const BfLagLimits *l, int64_t now)
{
	BF_ASSERT(l->rows >= 0 && l->bytes >= 0 && l->age >= 0);
	if (uncommitted->rows == 0)
		return BF_LAG_WITHIN;
	if (l->rows > 0 && uncommitted->rows > l->rows)
		return BF_LAG_ROWS;
	if (l->bytes > 0 && uncommitted->bytes > l->bytes)
		return BF_LAG_BYTES;
	return l->age > 0 && later(uncommitted->since, l->age) < now ? BF_LAG_AGE : BF_LAG_WITHIN;
}

void
bf_policy_ran(BfPolicyTable *t, BfJobKind job, const BfBacklog *before, int64_t started)
{
	BfJobPast *past = &t->past[job];

	BF_ASSERT(job >= 0 && job < BF_JOB_COUNT);
	past->started = started;
	if (rules[job].part != NO_PART && part_of(&t->backlog, job)->rows > 0 &&
		part_of(&t->backlog, job)->since == part_of(before, job)->since)
		past->idle++;
	else
		past->idle = 0;
}
