/*
 * What the background worker does when: jobs become due at the right time and in the right order,
 * nothing runs in a loop, and a day of a trickle leaves little behind. The clock is a number.
 */
#include "policy/policy.h"

#include "unit/lib/runner.h"

#define SECOND ((int64_t) 1000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define START (1000 * HOUR)

static BfPolicyTable
table_of(void)
{
	BfPolicyTable t = {.limits = {.settle_age = MINUTE,
								  .settle_bytes = 16 << 20,
								  .roll_age = 10 * MINUTE,
								  .roll_bytes = 128 << 20,
								  .roll_rows = 10000000,
								  .commit_age = 5 * MINUTE,
								  .commit_bytes = 64 << 20,
								  .optimize_age = HOUR,
								  .optimize_bytes = 128 << 20,
								  .expire_age = 2 * HOUR,
								  .garbage_interval = 10 * MINUTE,
								  .pause = 10 * SECOND}};

	bf_backlog_clear(&t.backlog);
	for (int i = 0; i < BF_JOB_COUNT; i++)
		t.past[i].started = BF_TIME_NEVER;
	return t;
}

static BfPolicyTable
database_of(void)
{
	BfPolicyTable t = table_of();

	t.database = true;
	return t;
}

TEST(policy_names)
{
	for (BfJobKind job = 0; job < BF_JOB_COUNT; job++)
		EXPECT_EQ(bf_job_find(bf_job_name(job)), job);
	EXPECT_EQ(bf_job_find("nothing"), BF_JOB_NONE);
	EXPECT(bf_job_is_database(BF_JOB_GARBAGE) && !bf_job_is_database(BF_JOB_COMMIT));
}

TEST(policy_nothing_is_due)
{
	BfPolicyTable t = table_of();
	BfChoice c = bf_policy_next(&t, START);

	EXPECT_EQ(c.job, BF_JOB_NONE);
	EXPECT_EQ(c.due, BF_TIME_NEVER);
	EXPECT_EQ(bf_policy_pick(&t, 1, START, &c), -1);
	EXPECT_EQ(bf_policy_pick(NULL, 0, START, &c), -1);
	EXPECT_EQ(c.due, BF_TIME_NEVER);
}

/* What is there, how old it may get, what is done then. */
TEST(policy_ages)
{
	static const struct
	{
		BfJobKind job;
		size_t part;
		int64_t age;
	} cases[] = {
		{BF_JOB_SETTLE, offsetof(BfBacklog, tail), MINUTE},
		{BF_JOB_ROLL, offsetof(BfBacklog, open), 10 * MINUTE},
		{BF_JOB_COMMIT, offsetof(BfBacklog, uncommitted), 5 * MINUTE},
		{BF_JOB_OFFLOAD, offsetof(BfBacklog, closed), 0},
		{BF_JOB_OPTIMIZE, offsetof(BfBacklog, log), HOUR},
		{BF_JOB_EXPIRE, offsetof(BfBacklog, history), 2 * HOUR},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		BfPolicyTable t = table_of();
		BfChoice c;

		bf_backlog_add((BfBacklogPart *) (void *) ((char *) &t.backlog + cases[i].part), 1, 100,
					   START);
		if (cases[i].age > 0)
		{
			c = bf_policy_next(&t, START + cases[i].age - 1);
			EXPECT_EQ(c.job, BF_JOB_NONE);
			EXPECT_EQ(c.due, START + cases[i].age);
		}
		c = bf_policy_next(&t, START + cases[i].age);
		EXPECT_EQ(c.job, cases[i].job);
		EXPECT_EQ(c.due, START + cases[i].age);
	}
}

TEST(policy_sizes)
{
	BfPolicyTable t = table_of();

	bf_backlog_add(&t.backlog.tail, 10, (16 << 20) - 1, START);
	bf_backlog_add(&t.backlog.open, 10, 1, START);
	t.backlog.fullest_bytes = (128 << 20) - 1;
	t.backlog.fullest_rows = 10000000 - 1;
	bf_backlog_add(&t.backlog.uncommitted, 10, (64 << 20) - 1, START);
	bf_backlog_add(&t.backlog.log, 10, (128 << 20) - 1, START);
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_NONE);

	t.backlog.log.bytes++;
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_OPTIMIZE);
	t.backlog.uncommitted.bytes++;
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_COMMIT);
	t.backlog.fullest_rows++;
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_ROLL);
	t.backlog.fullest_rows--;
	t.backlog.fullest_bytes++;
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_ROLL);
	t.backlog.tail.bytes++;
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_SETTLE);
}

/* A closed ledger's rows are committed before it is offloaded, however young they are. */
TEST(policy_closed_ledgers_are_committed_first)
{
	BfPolicyTable t = table_of();

	bf_backlog_add(&t.backlog.closed, 10, 1000, START);
	bf_backlog_add(&t.backlog.uncommitted, 10, 1000, START);
	t.backlog.closed_uncommitted = 1;
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_COMMIT);
	/* One that can't be committed is offloaded all the same. */
	t.past[BF_JOB_COMMIT] = (BfJobPast){.started = START, .failures = 1};
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_OFFLOAD);
}

TEST(policy_wait)
{
	EXPECT_EQ(bf_policy_wait(10 * SECOND, 0), 10 * SECOND);
	EXPECT_EQ(bf_policy_wait(10 * SECOND, 1), 20 * SECOND);
	EXPECT_EQ(bf_policy_wait(10 * SECOND, 3), 80 * SECOND);
	EXPECT_EQ(bf_policy_wait(10 * SECOND, 9), HOUR);
	EXPECT_EQ(bf_policy_wait(10 * SECOND, INT32_MAX), HOUR);
	EXPECT_EQ(bf_policy_wait(2 * HOUR, 5), 2 * HOUR);
	EXPECT_EQ(bf_policy_wait(BF_TIME_NEVER, 5), BF_TIME_NEVER);
	EXPECT_EQ(bf_policy_wait(0, INT32_MAX), 0);
}

/* Failures, and runs that change nothing, are further and further apart; one that works ends it. */
TEST(policy_backs_off)
{
	BfPolicyTable t = table_of();
	BfBacklog before;
	int64_t now = START;

	bf_backlog_add(&t.backlog.closed, 10, 1000, START);
	before = t.backlog;
	for (int32_t i = 0; i < 20; i++)
	{
		int64_t wait = bf_policy_wait(10 * SECOND, i);

		EXPECT_EQ(bf_policy_next(&t, now).job, BF_JOB_OFFLOAD);
		t.past[BF_JOB_OFFLOAD].started = now;
		t.past[BF_JOB_OFFLOAD].failures = i;
		EXPECT_EQ(bf_policy_next(&t, now + wait - 1).job, BF_JOB_NONE);
		EXPECT_EQ(bf_policy_next(&t, now).due, now + wait);
		now += wait;
	}
	t.past[BF_JOB_OFFLOAD].failures = 0;
	for (int32_t i = 1; i < 20; i++)
	{
		bf_policy_ran(&t, BF_JOB_OFFLOAD, &before, now);
		EXPECT_EQ(t.past[BF_JOB_OFFLOAD].idle, i);
		EXPECT_EQ(bf_policy_next(&t, now).due, now + bf_policy_wait(10 * SECOND, i));
		now += bf_policy_wait(10 * SECOND, i);
	}
	bf_backlog_clear(&t.backlog);
	bf_policy_ran(&t, BF_JOB_OFFLOAD, &before, now);
	EXPECT_EQ(t.past[BF_JOB_OFFLOAD].idle, 0);
}

TEST(policy_database_jobs)
{
	BfPolicyTable t = database_of();
	BfPolicyTable other = table_of();
	BfChoice c;

	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_GARBAGE);
	t.past[BF_JOB_GARBAGE].started = START;
	EXPECT_EQ(bf_policy_next(&t, START).due, START + 10 * MINUTE);
	t.past[BF_JOB_GARBAGE].failures = 8;
	EXPECT_EQ(bf_policy_next(&t, START).due, START + 256 * 10 * SECOND);
	bf_backlog_add(&t.backlog.closed, 10, 1000, START);
	EXPECT_EQ(bf_policy_due(&t, BF_JOB_OFFLOAD, START), BF_TIME_NEVER);
	c = bf_policy_next(&other, START);
	EXPECT_EQ(c.job, BF_JOB_NONE);
}

/* Rows and runs of a time to come: nobody waits a year for it, and once is enough. */
TEST(policy_clock_set_back)
{
	BfPolicyTable t = table_of();
	BfPolicyTable d = database_of();
	BfBacklog before;

	bf_backlog_add(&t.backlog.open, 10, 1000, START + 9000 * HOUR);
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_ROLL);
	before = t.backlog;
	bf_policy_ran(&t, BF_JOB_ROLL, &before, START);
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_NONE);
	t = table_of();
	bf_backlog_add(&t.backlog.open, 10, 1000, START - HOUR);
	t.past[BF_JOB_ROLL] = (BfJobPast){.started = START + 9000 * HOUR, .failures = 3};
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_ROLL);
	d.past[BF_JOB_GARBAGE].started = START + 9000 * HOUR;
	EXPECT_EQ(bf_policy_next(&d, START).job, BF_JOB_GARBAGE);
}

/* Whoever waits longest comes first; those that wait for a back-off hold up nobody. */
TEST(policy_picks_the_most_overdue)
{
	BfPolicyTable t[4] = {table_of(), table_of(), table_of(), table_of()};
	BfChoice c;

	bf_backlog_add(&t[0].backlog.closed, 1, 1, START - SECOND);
	t[0].past[BF_JOB_OFFLOAD] = (BfJobPast){.started = START, .failures = 5};
	bf_backlog_add(&t[1].backlog.open, 1, 1, START + 5);
	bf_backlog_add(&t[2].backlog.open, 1, 1, START + 3);
	EXPECT_EQ(bf_policy_pick(t, 4, START + 10 * MINUTE + 10, &c), 0);
	t[0].past[BF_JOB_OFFLOAD].started = START + 10 * MINUTE;
	EXPECT_EQ(bf_policy_pick(t, 4, START + 10 * MINUTE + 10, &c), 2);
	EXPECT_EQ(c.job, BF_JOB_ROLL);
	EXPECT_EQ(c.due, START + 10 * MINUTE + 3);
	EXPECT_EQ(bf_policy_pick(t, 4, START + 10 * MINUTE + 2, &c), -1);
	EXPECT_EQ(c.due, START + 10 * MINUTE + 3);
	t[0].past[BF_JOB_OFFLOAD].started = START;
	t[1] = t[2] = t[3];
	EXPECT_EQ(bf_policy_pick(t, 4, START + 10, &c), -1);
	EXPECT_EQ(c.due, START + bf_policy_wait(10 * SECOND, 5));
}

/* Which limit is passed; what is on its way there is committed before. */
TEST(policy_lag)
{
	BfPolicyTable t = table_of();
	const BfBacklogPart *p = &t.backlog.uncommitted;
	BfLagLimits l = {.rows = 100};

	EXPECT_EQ(bf_lag_over(p, &l, START), BF_LAG_WITHIN);
	bf_backlog_add(&t.backlog.uncommitted, 100, 1000, START);
	EXPECT_EQ(bf_lag_over(p, &l, START), BF_LAG_WITHIN);
	l.rows = 99;
	EXPECT_EQ(bf_lag_over(p, &l, START), BF_LAG_ROWS);
	l = (BfLagLimits){.bytes = 999};
	EXPECT_EQ(bf_lag_over(p, &l, START), BF_LAG_BYTES);
	l.bytes = 1000;
	EXPECT_EQ(bf_lag_over(p, &l, START), BF_LAG_WITHIN);
	l = (BfLagLimits){.age = MINUTE};
	EXPECT_EQ(bf_lag_over(p, &l, START + MINUTE), BF_LAG_WITHIN);
	EXPECT_EQ(bf_lag_over(p, &l, START + MINUTE + 1), BF_LAG_AGE);
	l = (BfLagLimits){0};
	EXPECT_EQ(bf_lag_over(p, &l, START + 1000 * HOUR), BF_LAG_WITHIN);

	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_NONE);
	t.limits.lag.rows = 200;
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_COMMIT);
	t.limits.lag.rows = 201;
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_NONE);
	t.limits.lag.bytes = 2000;
	EXPECT_EQ(bf_policy_next(&t, START).job, BF_JOB_COMMIT);
	t.limits.lag.bytes = 2002;
	t.limits.lag.age = 2 * MINUTE;
	EXPECT_EQ(bf_policy_next(&t, START).due, START + MINUTE);
	t.limits.lag.age = HOUR;
	EXPECT_EQ(bf_policy_next(&t, START).due, START + 5 * MINUTE);
}

/* A day ---------------------------------------------------------------------------------------- */

/* One table with one open ledger, and what became of it. */
typedef struct Day
{
	BfPolicyTable t[2];
	int64_t now;
	int64_t open_since;
	int64_t tail_most;
	int64_t live_most; /* bytes that are not offloaded */
	int64_t age_most;  /* of rows that the lake does not have */
	int64_t closed_most;
	int64_t wakes;
	int64_t ran[BF_JOB_COUNT];
	int64_t failing_until; /* offload fails */
} Day;

static void
trickle(Day *d, int64_t rows, int64_t bytes)
{
	BfBacklog *b = &d->t[0].backlog;

	if (b->open.rows == 0)
		d->open_since = d->now;
	bf_backlog_add(&b->tail, rows, bytes, d->now);
	bf_backlog_add(&b->open, rows, bytes, d->open_since);
	bf_backlog_add(&b->uncommitted, rows, bytes, d->now);
	b->open_ledgers = 1;
	b->fullest_bytes = b->open.bytes;
	b->fullest_rows = b->open.rows;
}

static void
work(Day *d, int32_t i, BfJobKind job)
{
	BfBacklog before = d->t[i].backlog;
	BfBacklog *b = &d->t[i].backlog;
	BfBacklogPart none = {0, 0, BF_TIME_NEVER};

	d->ran[job]++;
	if (job == BF_JOB_OFFLOAD && d->now < d->failing_until)
	{
		d->t[i].past[job].started = d->now;
		d->t[i].past[job].failures++;
		return;
	}
	d->t[i].past[job].failures = 0;
	if (job == BF_JOB_SETTLE || job == BF_JOB_ROLL || job == BF_JOB_COMMIT)
		b->tail = none;
	if (job == BF_JOB_ROLL)
	{
		bf_backlog_add(&b->closed, b->open.rows, b->open.bytes, d->now);
		b->closed_ledgers++;
		b->closed_uncommitted += b->uncommitted.rows > 0;
		b->open = none;
		b->open_ledgers = b->fullest_bytes = b->fullest_rows = 0;
	}
	if (job == BF_JOB_COMMIT)
	{
		b->uncommitted = none;
		b->closed_uncommitted = 0;
	}
	if (job == BF_JOB_OFFLOAD)
	{
		b->closed = none;
		b->closed_ledgers = 0;
	}
	bf_policy_ran(&d->t[i], job, &before, d->now);
}

static void
watch(Day *d)
{
	const BfBacklog *b = &d->t[0].backlog;
	int64_t live = b->open.bytes + b->closed.bytes;
	int64_t age = b->uncommitted.rows > 0 ? d->now - b->uncommitted.since : 0;

	d->tail_most = b->tail.rows > d->tail_most ? b->tail.rows : d->tail_most;
	d->live_most = live > d->live_most ? live : d->live_most;
	d->age_most = age > d->age_most ? age : d->age_most;
	d->closed_most = b->closed_ledgers > d->closed_most ? b->closed_ledgers : d->closed_most;
}

/* The worker's loop: at least every ten seconds it looks what there is. */
static void
run_day(Day *d, int64_t until, int64_t every, int64_t rows, int64_t bytes)
{
	int64_t next = d->now;

	while (d->now < until)
	{
		BfChoice c;
		int32_t i = bf_policy_pick(d->t, 2, d->now, &c);
		int64_t wake = c.due < d->now + 10 * SECOND ? c.due : d->now + 10 * SECOND;

		if (i >= 0)
		{
			work(d, i, c.job);
			d->now += SECOND / 10;
			continue;
		}
		REQUIRE(wake > d->now);
		d->wakes++;
		for (; every > 0 && next <= wake; next += every)
		{
			d->now = next > d->now ? next : d->now;
			trickle(d, rows, bytes);
		}
		d->now = wake;
		watch(d);
	}
}

static Day
day_of(void)
{
	return (Day){.t = {table_of(), database_of()}, .now = START};
}

static int64_t
all_runs(const Day *d)
{
	int64_t n = 0;

	for (int job = 0; job < BF_JOB_COUNT; job++)
		n += d->ran[job];
	return n;
}

TEST(policy_day_of_trickle)
{
	Day d = day_of();

	run_day(&d, START + 24 * HOUR, SECOND, 10, 1000);
	EXPECT(d.tail_most <= 75 * 10);
	EXPECT(d.live_most <= 3 * 600 * 1000);
	EXPECT(d.age_most <= 5 * MINUTE + 20 * SECOND);
	EXPECT(d.closed_most <= 1);
	EXPECT(d.ran[BF_JOB_ROLL] >= 24 * 5 && d.ran[BF_JOB_ROLL] <= 24 * 6);
	EXPECT_EQ(d.ran[BF_JOB_OFFLOAD], d.ran[BF_JOB_ROLL]);
	EXPECT(d.ran[BF_JOB_COMMIT] <= 24 * 60 / 5 + d.ran[BF_JOB_ROLL]);
	EXPECT(d.ran[BF_JOB_SETTLE] <= 24 * 60);
	EXPECT(d.ran[BF_JOB_GARBAGE] <= 24 * 6 + 1);
	EXPECT(d.wakes <= 24 * 360 + 2 * all_runs(&d));
}

/* What came last goes its way, too, when nobody writes any more. */
TEST(policy_day_idle_at_the_end)
{
	Day d = day_of();
	int64_t runs;

	run_day(&d, START + HOUR, SECOND, 10, 1000);
	run_day(&d, START + 2 * HOUR, 0, 0, 0);
	EXPECT_EQ(d.t[0].backlog.open.rows, 0);
	EXPECT_EQ(d.t[0].backlog.closed.rows, 0);
	EXPECT_EQ(d.t[0].backlog.tail.rows, 0);
	EXPECT_EQ(d.t[0].backlog.uncommitted.rows, 0);
	runs = all_runs(&d) - d.ran[BF_JOB_GARBAGE];
	run_day(&d, START + 24 * HOUR, 0, 0, 0);
	EXPECT_EQ(all_runs(&d) - d.ran[BF_JOB_GARBAGE], runs);
}

/* Six hours in which nothing can be offloaded: the rest goes on, attempts are few, and after that
 * all of it is gone soon. */
TEST(policy_day_of_failures)
{
	Day d = day_of();
	int64_t commits;

	d.failing_until = START + 6 * HOUR;
	run_day(&d, START + 6 * HOUR, SECOND, 10, 1000);
	EXPECT(d.ran[BF_JOB_OFFLOAD] <= 16);
	EXPECT(d.ran[BF_JOB_OFFLOAD] >= 10);
	EXPECT(d.age_most <= 5 * MINUTE + 20 * SECOND);
	EXPECT_EQ(d.t[0].backlog.closed_ledgers, d.ran[BF_JOB_ROLL]);
	commits = d.ran[BF_JOB_COMMIT];
	run_day(&d, START + 7 * HOUR + 2 * MINUTE, SECOND, 10, 1000);
	EXPECT(d.ran[BF_JOB_COMMIT] > commits);
	EXPECT(d.t[0].backlog.closed_ledgers <= 1);
}

/* Much more than a ledger holds between two looks: closed at once, no more often than the pause. */
TEST(policy_day_of_floods)
{
	Day d = day_of();

	run_day(&d, START + HOUR, SECOND, 1000000, 100 << 20);
	EXPECT(d.live_most <= (int64_t) 30 * (100 << 20));
	EXPECT(d.ran[BF_JOB_ROLL] <= 360);
	EXPECT(d.ran[BF_JOB_ROLL] >= 300);
}
