/*
 * pg/worker/survey.c: which tables a worker looks after, and what they have.
 *
 * A lake table is looked after through one foreign table, the oldest that may be written; others
 * that show it change nothing. Each is looked at in a transaction of its own and as its owner: what
 * is wrong with one is told and in nobody's way.
 */
#include "pg/worker/internal.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_foreign_table.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "pg/catalog/catalog.h"
#include "pg/catalog/rows.h"
#include "pg/catalog/work.h"
#include "pg/lake/backlog.h"
#include "pg/lake/lag.h"
#include "pg/server/settings.h"
#include "pg/write/table.h"

#define SETTLE_BYTES ((int64) 16 << 20)
/* What one Parquet file is to have. */
#define OPTIMIZE_BYTES ((int64) 128 << 20)
#define ROLL_ROWS ((int64) 100000000)

static int64
seconds(int64 option, int64 setting)
{
	return (option > 0 ? option : setting) * USECS_PER_SEC;
}

static void
set_limits(const BifangOptions *o, BfPolicyLimits *l)
{
	l->settle_age = seconds(o == NULL ? 0 : o->settle_age, bifang_worker_settle_age_s);
	l->settle_bytes = SETTLE_BYTES;
	l->roll_age = seconds(o == NULL ? 0 : o->roll_age, bifang_worker_roll_age_s);
	l->roll_bytes = (int64) bifang_ledger_kb_max * 1024;
	l->roll_rows = ROLL_ROWS;
	l->commit_age = seconds(o == NULL ? 0 : o->commit_age, bifang_worker_commit_age_s);
	l->commit_bytes = (int64) bifang_worker_commit_kb * 1024;
	l->optimize_age = seconds(o == NULL ? 0 : o->optimize_age, bifang_worker_optimize_age_s);
	l->optimize_bytes = OPTIMIZE_BYTES;
	l->expire_age = seconds(0, bifang_worker_expire_age_s);
	l->garbage_interval = seconds(0, bifang_worker_garbage_interval_s);
	bifang_lag_limits(o, &l->lag);
	l->pause = seconds(0, bifang_worker_naptime_s);
}

static int32
add_subject(BifangSurvey *s, Oid relid)
{
	BfPolicyTable *t;
	BifangSubject *b;

	if (s->n == s->n_max)
	{
		s->n_max *= 2;
		s->subjects = repalloc_huge(s->subjects, sizeof *b * (Size) s->n_max);
		s->tables = repalloc_huge(s->tables, sizeof *t * (Size) s->n_max);
	}
	b = &s->subjects[s->n];
	t = &s->tables[s->n];
	memset(b, 0, sizeof *b);
	memset(t, 0, sizeof *t);
	b->relid = relid;
	b->uuid = b->catalog = b->ns = b->table = "";
	bf_backlog_clear(&t->backlog);
	for (int job = 0; job < BF_JOB_COUNT; job++)
		t->past[job].started = BF_TIME_NEVER;
	set_limits(NULL, &t->limits);
	return s->n++;
}

/* One look
 * ---------------------------------------------------------------------------------------*/

typedef struct Look
{
	BifangSurvey *survey;
	int32 i;
	bool served; /* the worker is to look after it */
} Look;

/* Once, when it begins. */
static void
warn_of_lag(BifangSubject *b, const BfPolicyTable *t)
{
	BfLagOver over = bf_lag_over(&t->backlog.uncommitted, &t->limits.lag, GetCurrentTimestamp());

	if (over != BF_LAG_WITHIN && !b->lags)
		ereport(WARNING, (errmsg("the lake is behind table %s: %s", b->name,
								 bifang_lag_text(&t->backlog.uncommitted, over))));
	b->lags = over != BF_LAG_WITHIN;
}

/* Somebody who has the relation for himself may be dropping it: it is seen next time. */
static void
look(void *arg)
{
	Look *l = arg;
	BifangSubject *b = &l->survey->subjects[l->i];
	BfPolicyTable *t = &l->survey->tables[l->i];
	BifangIdentitySwitch before;
	BifangLakeTable row;
	BifangOptions o;
	MemoryContext old;
	Snapshot snap;

	l->served = false;
	if (!ConditionalLockRelationOid(b->relid, AccessShareLock))
		return;
	if (get_rel_name(b->relid) == NULL || !bifang_table_is_ours(b->relid))
		return;
	snprintf(b->name, sizeof b->name, "%s.%s", get_namespace_name(get_rel_namespace(b->relid)),
			 get_rel_name(b->relid));
	before = bifang_become_owner(b->relid);
	bifang_options_get(b->relid, &o);
	snap = GetActiveSnapshot();
	if (o.worker && bifang_table_is_managed(&o) && o.ns != NULL && o.table != NULL &&
		bifang_catalog_lookup(&o, snap, &row))
	{
		Assert(row.id > 0);
		old = MemoryContextSwitchTo(l->survey->cxt);
		b->table_id = row.id;
		b->uuid = row.uuid == NULL ? "" : pstrdup(row.uuid);
		b->catalog = pstrdup(row.catalog);
		b->ns = pstrdup(row.ns);
		b->table = pstrdup(row.name);
		MemoryContextSwitchTo(old);
		set_limits(&o, &t->limits);
		l->served = true;
		bifang_backlog_of(&row, snap, &t->backlog);
		warn_of_lag(b, t);
	}
	bifang_become_again(before);
}

static bool
look_at(BifangSurvey *s, int32 i)
{
	BifangSubject *b = &s->subjects[i];
	BfPolicyTable *t = &s->tables[i];
	Look l = {s, i, false};
	int64 now = GetCurrentTimestamp();
	char *error = bifang_in_transaction(look, &l, "bifang: look at tables");

	if (error == NULL)
	{
		b->look_failures = 0;
		return l.served;
	}
	bf_backlog_clear(&t->backlog);
	b->look_failures++;
	b->next_look = now + bf_policy_wait(t->limits.pause, b->look_failures);
	if (l.served)
		bifang_tell_failure(b, "look", error, b->look_failures, now, b->next_look);
	return true;
}

void
bifang_survey_again(BifangSurvey *s, int32 i)
{
	Assert(i > 0 && i < s->n);
	if (!look_at(s, i))
		bf_backlog_clear(&s->tables[i].backlog);
}

/* All of them -----------------------------------------------------------------------------------
 */

static int
compare_oids(const ListCell *a, const ListCell *b)
{
	return (lfirst_oid(a) > lfirst_oid(b)) - (lfirst_oid(a) < lfirst_oid(b));
}

typedef struct Start
{
	MemoryContext cxt;
	bool there; /* the extension, of this library's version */
	bool first; /* what is remembered is asked for */
	List *relids;
	List *work; /* BifangWork * */
} Start;

static void
list_tables(void *arg)
{
	Start *st = arg;
	MemoryContext old;
	Relation rel;
	SysScanDesc scan;
	HeapTuple tuple;

	st->there = OidIsValid(bifang_rows_find("work"));
	if (!st->there)
		return;
	old = MemoryContextSwitchTo(st->cxt);
	rel = table_open(ForeignTableRelationId, AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		st->relids = lappend_oid(st->relids, ((Form_pg_foreign_table) GETSTRUCT(tuple))->ftrelid);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	list_sort(st->relids, compare_oids);
	if (st->first)
		st->work = bifang_catalog_work(GetActiveSnapshot());
	MemoryContextSwitchTo(old);
}

static int32
find_subject(const BifangSurvey *s, int64 table_id)
{
	for (int32 i = 0; i < s->n; i++)
		if (s->subjects[i].table_id == table_id)
			return i;
	return -1;
}

static void
remember_work(BifangSurvey *s, List *work)
{
	ListCell *lc;

	foreach (lc, work)
	{
		const BifangWork *w = lfirst(lc);
		BfJobKind job = bf_job_find(w->kind);
		int32 i = find_subject(s, w->table_id);

		if (job == BF_JOB_NONE || i < 0)
			continue;
		s->tables[i].past[job].started = w->started_at;
		s->tables[i].past[job].failures = w->failures;
	}
}

static void
remember_old(BifangSurvey *s, const BifangSurvey *old)
{
	int32 at = 0;

	/* Mostly they come in the same order. */
	for (int32 i = 0; i < s->n; i++)
	{
		int64 id = s->subjects[i].table_id;

		if (at >= old->n || old->subjects[at].table_id != id)
			at = find_subject(old, id);
		if (at < 0)
		{
			at = 0;
			continue;
		}
		Assert(at < old->n);
		memcpy(s->tables[i].past, old->tables[at].past, sizeof s->tables[i].past);
		at++;
	}
}

static const BifangSubject *
old_subject(const BifangSurvey *old, Oid relid)
{
	for (int32 i = 0; old != NULL && i < old->n; i++)
		if (old->subjects[i].relid == relid)
			return &old->subjects[i];
	return NULL;
}

/* One that can't be looked at is left alone for a while. */
static void
take_table(BifangSurvey *s, const BifangSurvey *old, Oid relid)
{
	const BifangSubject *before = old_subject(old, relid);
	int32 i = add_subject(s, relid);
	bool good;

	if (before != NULL)
	{
		s->subjects[i].lags = before->lags;
		s->subjects[i].look_failures = before->look_failures;
		s->subjects[i].next_look = before->next_look;
	}
	if (before != NULL && before->look_failures > 0 && before->next_look > GetCurrentTimestamp())
	{
		s->subjects[i].table_id = before->table_id;
		return;
	}
	good = look_at(s, i);
	/* Shown by an older one already. */
	if (!good || (s->subjects[i].table_id != 0 && find_subject(s, s->subjects[i].table_id) < i))
		s->n--;
}

bool
bifang_survey(MemoryContext cxt, const BifangSurvey *old, BifangSurvey *out, void (*between)(void))
{
	MemoryContext caller = MemoryContextSwitchTo(cxt);
	Start st = {.cxt = cxt, .first = old == NULL};
	char *error = bifang_in_transaction(list_tables, &st, "bifang: look for tables");
	ListCell *lc;

	*out = (BifangSurvey){.cxt = cxt, .n_max = 16};
	out->subjects = palloc(sizeof *out->subjects * (Size) out->n_max);
	out->tables = palloc(sizeof *out->tables * (Size) out->n_max);
	(void) add_subject(out, InvalidOid);
	out->tables[0].database = true;
	strlcpy(out->subjects[0].name, "database", sizeof out->subjects[0].name);
	foreach (lc, st.relids)
	{
		between();
		take_table(out, old, lfirst_oid(lc));
	}
	if (old == NULL)
		remember_work(out, st.work);
	else
		remember_old(out, old);
	MemoryContextSwitchTo(caller);
	return st.there || error != NULL;
}
