/*
 * pg/lake/retention.c: bifang.expire(), which ends snapshots, and bifang.set_property(), by which a
 * table says when commits do so themselves (and what else Iceberg has properties for).
 *
 * Both write a metadata file and move the catalog's pointer in the caller's transaction, under the
 * lock that commits take. Files of what has expired are garbage from then on.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "iceberg/commit.h"
#include "pg/catalog/cache.h"
#include "pg/lake/lake.h"
#include "pg/lake/partitions.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/files.h"
#include "pg/server/host.h"
#include "pg/server/progress.h"

PG_FUNCTION_INFO_V1(bifang_expire);
PG_FUNCTION_INFO_V1(bifang_set_property);

#define TRIES 10
#define DAY_MS INT64CONST(86400000)
#define MONTH_DAYS 30
#define OUR_PROPERTIES "bifang."

/* What is done to a table. */
typedef struct Change
{
	int64 max_age_ms; /* -1 = as the table says */
	int32 keep;		  /* 0 = as the table says */
	BfIceExpired gone;
	const char *key; /* NULL: snapshots expire */
	const char *value;
} Change;

static BfStatus
make_change(Change *change, BfArena *arena, const BifangTable *t, const char **metadata_path,
			BfError *err)
{
	BfIceExpiry rule;

	if (change->key != NULL)
		return bf_ice_set_property(arena, t->ice, change->key, change->value, metadata_path, err);
	(void) bf_ice_expiry(t->ice->metadata, &rule);
	if (change->max_age_ms >= 0)
		rule.max_snapshot_age_ms = change->max_age_ms;
	if (change->keep > 0)
		rule.min_snapshots = change->keep;
	return bf_ice_expire(arena, t->ice, &rule, &change->gone, metadata_path, err);
}

static void
log_job(const BifangTable *t, const Change *change, TimestampTz started_at)
{
	BifangJob job = {.kind = "expire", .started_at = started_at, .snapshot_id = -1};

	Assert(change->gone.snapshots > 0 || change->gone.refs > 0);
	bifang_table_set_job(t, &job);
	job.files = change->gone.snapshots;
	bifang_catalog_insert_job(&job);
}

/* False: the pointer moved meanwhile. *changed: the table is another one. */
static bool
change_once(Oid relid, Change *change, bool *changed)
{
	Snapshot snap = RegisterSnapshot(bifang_work_snapshot());
	BfArena *arena = bifang_arena(CurrentMemoryContext, "retention", BIFANG_ARENA_MAX_METADATA);
	TimestampTz started_at = GetCurrentTimestamp();
	const char *metadata_path;
	BfIceTable *after;
	BifangTable t;
	BfError err = {0};

	bifang_table_open(relid, snap, CurrentMemoryContext, &t);
	Assert(bifang_table_is_locked(t.row.id, BIFANG_TABLE_MAINTAIN));
	UnregisterSnapshot(snap);
	bifang_progress_phase(BIFANG_PHASE_METADATA);
	BIFANG_CHECK(make_change(change, arena, &t, &metadata_path, &err), &err);
	*changed = metadata_path != NULL;
	if (!*changed)
		return true;
	bifang_remove_on_abort(metadata_path, 0);
	/* Some properties say how a table is read: one that nobody could read is not made. */
	BIFANG_CHECK(bf_ice_load(arena, metadata_path, NULL, &after, &err), &err);
	t.row.uuid = t.uuid;
	if (!bifang_catalog_move_pointer(&t.row, metadata_path))
		return false;
	if (change->key == NULL)
		log_job(&t, change, started_at);
	CommandCounterIncrement();
	return true;
}

static void
change_table(Oid relid, const char *function, Change *change)
{
	int64 table_id = bifang_table_begin_work(relid, function);
	MemoryContext caller = CurrentMemoryContext;
	bool changed = false;
	bool done = false;

	if (change->key == NULL)
		bifang_progress_begin(BIFANG_COMMAND_EXPIRE, relid);
	for (int attempt = 0; !done && attempt < TRIES; attempt++)
	{
		MemoryContext cxt =
			AllocSetContextCreate(caller, "bifang retention", ALLOCSET_DEFAULT_SIZES);

		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(cxt);
		done = change_once(relid, change, &changed);
		MemoryContextSwitchTo(caller);
		MemoryContextDelete(cxt);
	}
	if (change->key == NULL)
		bifang_progress_end();
	if (!done)
		ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						errmsg("another engine changed the table in each of %d tries", TRIES)));
	if (!changed)
		bifang_unlock_table(table_id, BIFANG_TABLE_MAINTAIN);
}

static int64
interval_ms(const Interval *i)
{
	int64 days;
	int64 ms;

	if (__builtin_mul_overflow((int64) i->month, MONTH_DAYS, &days) ||
		__builtin_add_overflow(days, i->day, &days) || __builtin_mul_overflow(days, DAY_MS, &ms) ||
		__builtin_add_overflow(ms, i->time / 1000, &ms) || ms < 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("older_than must be an interval of zero or more")));
	return ms;
}

Datum
bifang_expire(PG_FUNCTION_ARGS)
{
	Change change = {.max_age_ms = -1};
	BfIceExpired sum = {0};
	List *tables;
	ListCell *lc;
	Datum values[2];
	bool nulls[2] = {false};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1))
		change.max_age_ms = interval_ms(PG_GETARG_INTERVAL_P(1));
	if (!PG_ARGISNULL(2))
	{
		change.keep = PG_GETARG_INT32(2);
		if (change.keep < 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("keep must be at least 1")));
	}
	tables = bifang_tables_of(PG_GETARG_OID(0));
	foreach (lc, tables)
	{
		change.gone = (BfIceExpired){0};
		change_table(lfirst_oid(lc), "bifang.expire()", &change);
		sum.snapshots += change.gone.snapshots;
		sum.refs += change.gone.refs;
	}
	values[0] = Int32GetDatum(sum.snapshots);
	values[1] = Int32GetDatum(sum.refs);
	return bifang_lake_row(fcinfo, values, nulls);
}

Datum
bifang_set_property(PG_FUNCTION_ARGS)
{
	Change change = {0};
	List *tables;
	ListCell *lc;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	change.key = bifang_to_utf8(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	if (!PG_ARGISNULL(2))
		change.value = bifang_to_utf8(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	if (change.key[0] == '\0' || strncmp(change.key, OUR_PROPERTIES, strlen(OUR_PROPERTIES)) == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("property \"%s\" can't be set", bifang_shown(change.key)),
						errdetail("Properties that begin with \"%s\" are kept by commits.",
								  OUR_PROPERTIES)));
	tables = bifang_tables_of(PG_GETARG_OID(0));
	foreach (lc, tables)
		change_table(lfirst_oid(lc), "bifang.set_property()", &change);
	PG_RETURN_VOID();
}
