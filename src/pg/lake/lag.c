/*
 * pg/lake/lag.c: bifang.table_lag(), and what INSERT does where the lake is too far behind.
 *
 * Before a transaction writes its first row into a table whose lag is limited, the table is looked
 * at as of now, whatever the transaction's snapshot: rows of other transactions that are
 * acknowledged and that the lake does not name. Beyond a limit the statement
 *
 *   warn    says so, once for each time that it begins
 *   wait    waits until the lake has caught up. No ledger of the table is held meanwhile, and what
 *           the lake lacks are others' rows: nothing that it waits for waits for it. A transaction
 *           that has the table for itself, by an ALTER or bifang.roll() before, is warned instead,
 *           and so is one that somebody waits for who wants it for himself: nobody else gets it
 *           meanwhile
 *   error   fails, and nothing is written
 *
 * A backend that has found a table within its limits asks again after a fifth of a second.
 */
#include "pg/lake/lag.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "pg/catalog/catalog.h"
#include "pg/lake/backlog.h"
#include "pg/lake/show.h"
#include "pg/server/settings.h"
#include "pg/server/version.h"
#include "pg/write/locks.h"
#include "pg/write/modify.h"

PG_FUNCTION_INFO_V1(bifang_table_lag);

#define LOOK_MS 200
#define TELL_MS 5000

void
bifang_lag_limits(const BifangOptions *o, BfLagLimits *out)
{
	int64 rows = o == NULL ? 0 : o->lag_rows_max;
	int64 mb = o == NULL ? 0 : o->lag_size_max;
	int64 seconds = o == NULL ? 0 : o->lag_age_max;

	Assert(rows >= 0 && mb >= 0 && seconds >= 0);
	out->rows = rows > 0 ? rows : bifang_lag_rows_max;
	out->bytes = mb > 0 ? mb * 1024 * 1024 : (int64) bifang_lag_kb_max * 1024;
	out->age = (seconds > 0 ? seconds : bifang_lag_age_max_s) * USECS_PER_SEC;
}

static BifangLagAction
action_of(const BifangOptions *o)
{
	if (o->lag_action != BIFANG_LAG_AS_SET)
		return o->lag_action;
	return strcmp(bifang_lag_action, "wait") == 0	 ? BIFANG_LAG_WAIT
		   : strcmp(bifang_lag_action, "error") == 0 ? BIFANG_LAG_ERROR
													 : BIFANG_LAG_WARN;
}

char *
bifang_lag_text(const BfBacklogPart *p, BfLagOver over)
{
	switch (over)
	{
		case BF_LAG_ROWS: return psprintf(INT64_FORMAT " rows are not in it", p->rows);
		case BF_LAG_BYTES:
			return psprintf(INT64_FORMAT " kB are not in it", (p->bytes + 1023) / 1024);
		case BF_LAG_AGE: return psprintf("rows of %s are not in it", timestamptz_to_str(p->since));
		case BF_LAG_WITHIN: break;
	}
	return pstrdup("it is not");
}

/* INSERT ----------------------------------------------------------------------------------------
 */

static BfLagOver
look(const BifangTable *t, const BfLagLimits *limits, BfBacklog *b)
{
	MemoryContext cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang lag", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	Snapshot snap = RegisterSnapshot(GetLatestSnapshot());
	BifangLakeTable row;
	BfLagOver over = BF_LAG_WITHIN;

	if (bifang_catalog_lookup(&t->options, snap, &row))
	{
		bifang_backlog_of(&row, snap, b);
		over = bf_lag_over(&b->uncommitted, limits, GetCurrentTimestamp());
	}
	UnregisterSnapshot(snap);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return over;
}

static void
refuse(const BifangTable *t, const BfBacklog *b, BfLagOver over, int elevel)
{
	ereport(elevel,
			(errcode(elevel == ERROR ? ERRCODE_CONFIGURATION_LIMIT_EXCEEDED : ERRCODE_WARNING),
			 errmsg("the lake is too far behind table %s.%s: %s", t->row.ns, t->row.name,
					bifang_lag_text(&b->uncommitted, over)),
			 errhint("bifang.commit() or a background worker puts them there; the view bifang.lag "
					 "tells what keeps it from that.")));
}

/* Has the transaction a lock that bifang.commit() waits for, and a worker goes away from? */
static bool
is_in_its_own_way(Oid relid, int64 table_id)
{
	LOCKTAG tag;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
	for (LOCKMODE mode = ExclusiveLock; mode <= AccessExclusiveLock; mode++)
		if (bifang_lock_held(&tag, mode))
			return true;
	return bifang_table_is_locked(table_id, BIFANG_TABLE_MAINTAIN) ||
		   bifang_table_is_locked(table_id, BIFANG_TABLE_DROP);
}

/* Does somebody wait for its end to alter or drop the table? Then no work is done on that before.
 * A lock that the transaction has already says nothing, so two are tried. */
static bool
is_in_others_way(Oid relid, int64 table_id)
{
	static const LOCKMODE modes[] = {BIFANG_WORK_LOCK, AccessShareLock};

	for (int i = 0; i < (int) lengthof(modes); i++)
	{
		if (!ConditionalLockRelationOid(relid, modes[i]))
			return true;
		UnlockRelationOid(relid, modes[i]);
	}
	return bifang_table_is_unwanted(table_id);
}

static BifangLagAction
action_now(Oid relid, const BifangTable *t)
{
	BifangLagAction action = action_of(&t->options);

	return action == BIFANG_LAG_WAIT && is_in_its_own_way(relid, t->row.id) ? BIFANG_LAG_WARN
																			: action;
}

static void
wait_for_lake(Oid relid, const BifangTable *t, const BfLagLimits *limits, BfBacklog *b,
			  BfLagOver over)
{
	static uint32 event = 0;
	int64 waited_ms = 0;

	while (over != BF_LAG_WITHIN)
	{
		if (is_in_others_way(relid, t->row.id))
		{
			refuse(t, b, over, WARNING);
			break;
		}
		if (waited_ms == TELL_MS)
			refuse(t, b, over, WARNING);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, LOOK_MS,
						 bifang_wait_event(&event, "BifangLag"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		waited_ms += LOOK_MS;
		over = look(t, limits, b);
	}
}

static void
before_rows(Oid relid, const BifangTable *t)
{
	static struct
	{
		int64 table_id;
		int64 looked_at;
		bool warned;
	} last = {0, 0, false};
	BfLagLimits limits;
	BfLagOver over;
	BfBacklog b;
	int64 now;

	bifang_lag_limits(&t->options, &limits);
	if (limits.rows == 0 && limits.bytes == 0 && limits.age == 0)
		return;
	now = GetCurrentTimestamp();
	if (last.table_id == t->row.id && now - last.looked_at < LOOK_MS * 1000 &&
		now >= last.looked_at)
		return;
	if (last.table_id != t->row.id)
		last.warned = false;
	last.table_id = 0;
	over = look(t, &limits, &b);
	if (over != BF_LAG_WITHIN)
		switch (action_now(relid, t))
		{
			case BIFANG_LAG_ERROR: refuse(t, &b, over, ERROR); break;
			case BIFANG_LAG_WAIT: wait_for_lake(relid, t, &limits, &b, over); break;
			default:
				if (!last.warned)
					refuse(t, &b, over, WARNING);
		}
	last.warned = over != BF_LAG_WITHIN;
	last.table_id = t->row.id;
	last.looked_at = GetCurrentTimestamp();
}

void
bifang_lag_init(void)
{
	bifang_modify_before_rows = before_rows;
}

/* The function ----------------------------------------------------------------------------------
 */

typedef struct Seen
{
	BfBacklog backlog;
	BfLagOver over;
	char *problem; /* NULL = none; then there is nothing else */
} Seen;

static void
see(const BifangOptions *o, Seen *s)
{
	Snapshot snap = GetActiveSnapshot();
	BfLagLimits limits;
	BifangLakeTable row;

	bf_backlog_clear(&s->backlog);
	if (o->ns == NULL || o->table == NULL || o->remote_catalog ||
		!bifang_catalog_lookup(o, snap, &row))
		return;
	bifang_lag_limits(o, &limits);
	bifang_backlog_of(&row, snap, &s->backlog);
	s->over = bf_lag_over(&s->backlog.uncommitted, &limits, GetCurrentTimestamp());
}

/* A table that can't be looked at is a row that says why, not the end of the view. */
static void
see_safely(const BifangOptions *o, Seen *s)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	memset(s, 0, sizeof *s);
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		see(o, s);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData *e;

		MemoryContextSwitchTo(cxt);
		e = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
		if (e->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(e);
		s->problem = e->message;
	}
	PG_END_TRY();
}

static const char *
limit_name(BfLagOver over)
{
	switch (over)
	{
		case BF_LAG_ROWS: return "rows";
		case BF_LAG_BYTES: return "size";
		case BF_LAG_AGE: return "age";
		case BF_LAG_WITHIN: break;
	}
	return NULL;
}

static void
show_numbers(BifangShow *r, const Seen *s)
{
	const BfBacklog *b = &s->backlog;

	bifang_show(r, Int64GetDatum(b->open.rows + b->closed.rows));
	bifang_show(r, Int64GetDatum(b->open.bytes + b->closed.bytes));
	bifang_show(r, Int64GetDatum(b->tail.rows));
	bifang_show(r, Int64GetDatum(b->tail.bytes));
	bifang_show(r, Int64GetDatum(b->open_ledgers));
	bifang_show(r, Int64GetDatum(b->closed_ledgers));
	bifang_show(r, Int64GetDatum(b->closed.bytes));
	bifang_show(r, Int64GetDatum(b->uncommitted.rows));
	bifang_show(r, Int64GetDatum(b->uncommitted.bytes));
	if (b->uncommitted.rows == 0)
		bifang_show_null(r);
	else
		bifang_show(r, TimestampTzGetDatum(b->uncommitted.since));
	if (s->over == BF_LAG_WITHIN)
		bifang_show_null(r);
	else
		bifang_show(r, CStringGetTextDatum(limit_name(s->over)));
}

Datum
bifang_table_lag(PG_FUNCTION_ARGS)
{
	BifangShow r = bifang_show_begin(fcinfo);
	BifangOptions o;
	Seen s;

	bifang_show_lake_argument(fcinfo, &o);
	see_safely(&o, &s);
	if (s.problem == NULL)
		show_numbers(&r, &s);
	else
		while (r.n < r.rsinfo->setDesc->natts - 1)
			bifang_show_null(&r);
	if (s.problem == NULL)
		bifang_show_null(&r);
	else
		bifang_show(&r, CStringGetTextDatum(s.problem));
	bifang_show_end_row(&r);
	return (Datum) 0;
}
