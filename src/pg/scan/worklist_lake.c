/*
 * pg/scan/worklist_lake.c: units of a lake table: Parquet files, and what ledgers have besides.
 */
#include "pg/scan/worklist_internal.h"

#include "datatype/timestamp.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "pg/catalog/cache.h"
#include "pg/catalog/catalog.h"
#include "pg/push/pushdown.h"
#include "pg/scan/columns.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/pins.h"
#include "pg/server/settings.h"

/* A guess, where nothing tells. */
#define ENTRY_BYTES 64

static const char *
find_metadata(const BifangOptions *o, Snapshot snap)
{
	BifangLakeTable lake;
	BfArena *a;
	const char *found;
	BfError err;
	BfStatus status;

	if (o->location == NULL)
		return bifang_catalog_lookup(o, snap, &lake) ? lake.metadata_location : NULL;
	a = bifang_arena(CurrentMemoryContext, "metadata path", BIFANG_ARENA_MAX_METADATA);
	bf_error_clear(&err);
	status = bf_ice_find_metadata(a, o->location, &found, &err);
	if (status == BF_ERR_NOTFOUND)
		found = NULL;
	else
		BIFANG_CHECK(status, &err);
	found = found == NULL ? NULL : pstrdup(found);
	bifang_arena_free(a);
	return found;
}

const char *
bifang_metadata_path(const BifangOptions *o, Snapshot snap)
{
	const char *found;
	char *key;
	Size n;

	/* The catalog of this database is read under the snapshot itself. */
	if (o->location == NULL && !o->remote_catalog)
		return find_metadata(o, snap);
	key = o->location != NULL
			  ? psprintf("lake %s", o->location)
			  : psprintf("lake %u %u %s.%s", o->serverid, o->userid, o->ns == NULL ? "" : o->ns,
						 o->table == NULL ? "" : o->table);
	found = bifang_pin_get(snap, key, &n);
	if (found != NULL)
		return pnstrdup(found, n);
	found = find_metadata(o, snap);
	if (found != NULL)
		bifang_pin_put(snap, key, found, strlen(found));
	return found;
}

/* What the logical files of the plan name of this ledger, minus what Parquet covers. */
static void
lake_ranges(BfArena *a, const BfIcePlan *plan, int64 ledger_id, BfRangeSet *out, BfError *err)
{
	int32 n = 0;
	BfRange *ranges;
	BfRangeSet named;

	memset(out, 0, sizeof *out);
	for (int32 i = 0; i < plan->n_files; i++)
		if (plan->files[i].logical && plan->files[i].log.ledger_id == ledger_id)
			n += plan->files[i].log.ranges.n;
	if (n == 0)
		return;
	ranges = palloc_extended((Size) n * sizeof *ranges, MCXT_ALLOC_HUGE);
	n = 0;
	for (int32 i = 0; i < plan->n_files; i++)
	{
		const BfIceDataFile *f = &plan->files[i];

		if (!f->logical || f->log.ledger_id != ledger_id)
			continue;
		if (f->log.ranges.n > 0)
			memcpy(ranges + n, f->log.ranges.ranges, (size_t) f->log.ranges.n * sizeof *ranges);
		n += f->log.ranges.n;
	}
	BIFANG_CHECK(bf_rangeset_make(a, ranges, n, &named, err), err);
	BIFANG_CHECK(bf_rangeset_subtract(a, &named, bf_coverage_of(&plan->covered_parquet, ledger_id),
									  out, err),
				 err);
	pfree(ranges);
}

/* What an entry of the ledger takes: as those of the segment that holds its end do. */
static int64
entry_bytes(const BifangLedger *l)
{
	int64 entries = l->end_entry - l->end_segment;

	return entries > 0 ? Max(l->end_position / entries, 1) : ENTRY_BYTES;
}

/* Entries of the last unit that the predicate lets through; false when it has none. */
static bool
cut_entries(BifangUnits *us, BifangUnit *u)
{
	BfRangeSet wanted;
	BfError err;

	if (us->pred == NULL)
		return true;
	bifang_unit_ranges(us->w, u, us->arena, us->pred,
					   BIFANG_META_FIELD(bifang_worklist_fields(us->w), BIFANG_META_ENTRY),
					   &wanted);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_rangeset_intersect(us->arena, &u->ranges, &wanted, &u->ranges, &err), &err);
	return u->ranges.n > 0;
}

static void
add_ledger(BifangUnits *us, const BifangLedger *ledger)
{
	BifangWorklist *w = us->w;
	const BfRangeSet *covered = bf_coverage_of(&w->plan->covered, ledger->id);
	BfRange whole = {0, ledger->end_entry - 1};
	BfRangeSet entries = {0, NULL};
	BfRangeSet lake;
	BfRangeSet live = {0, NULL};
	BfRangeSet all;
	BifangUnit *u;
	BfError err;

	bf_error_clear(&err);
	lake_ranges(us->arena, w->plan, ledger->id, &lake, &err);
	if (ledger->end_entry > 0 && w->current)
	{
		BIFANG_CHECK(bf_rangeset_make(us->arena, &whole, 1, &entries, &err), &err);
		BIFANG_CHECK(bf_rangeset_subtract(us->arena, &entries, covered, &live, &err), &err);
	}
	BIFANG_CHECK(bf_rangeset_union(us->arena, &lake, &live, &all, &err), &err);
	if (all.n == 0)
		return;
	if (ledger->state == BIFANG_LEDGER_TRIMMED)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("ledger " INT64_FORMAT " is trimmed but Parquet files do not cover it",
						ledger->id)));
	w->live_rows += bf_rangeset_count(&live);
	if (ledger->state == BIFANG_LEDGER_OFFLOADED)
		u = bifang_unit_add(us, BIFANG_TIER_OFFLOAD, ledger->offload_path);
	else
		u = bifang_unit_add(us, BIFANG_TIER_LIVE, ledger->live_dir);
	u->ledger_id = ledger->id;
	u->ranges = all;
	if (!cut_entries(us, u))
	{
		bifang_unit_drop(us);
		return;
	}
	u->rows = bf_rangeset_count(&u->ranges);
	u->bytes = u->rows * entry_bytes(ledger);
	if (bifang_unit_keep(us))
		bifang_unit_cut_ranges(us);
}

static bool
has_ledger(List *ledgers, int64 id)
{
	ListCell *lc;

	foreach (lc, ledgers)
		if (((BifangLedger *) lfirst(lc))->id == id)
			return true;
	return false;
}

/* A logical file of a ledger that this database doesn't know would be a hole in the result. */
static void
check_logical_files(const BifangWorklist *w)
{
	int64 last = -1;

	for (int32 i = 0; i < w->plan->n_files; i++)
	{
		const BfIceDataFile *f = &w->plan->files[i];

		if (!f->logical || f->log.ledger_id == last)
			continue;
		last = f->log.ledger_id;
		if (!has_ledger(w->ledgers, last))
			ereport(ERROR, (errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
							errmsg("\"%s\" names rows of ledger " INT64_FORMAT
								   ", which this database does not have",
								   w->metadata_path, last),
							errhint("The table is written through another database.")));
	}
}

static const char *
set_or_null(const char *setting)
{
	return setting[0] == '\0' ? NULL : setting;
}

/* The point in the table's history that options or settings name. */
static BfIceAt
wanted_point(const BifangOptions *o)
{
	const char *snapshot = o->as_of_snapshot;
	const char *timestamp = o->as_of_timestamp;
	const char *ref = o->ref;
	BfIceAt at = {.kind = BF_ICE_AT_CURRENT};

	if (snapshot == NULL && timestamp == NULL && ref == NULL)
	{
		snapshot = set_or_null(bifang_as_of_snapshot);
		timestamp = set_or_null(bifang_as_of_timestamp);
		ref = set_or_null(bifang_ref);
		if ((snapshot != NULL) + (timestamp != NULL) + (ref != NULL) > 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("more than one of bifang.as_of_snapshot, bifang.as_of_timestamp and "
							"bifang.ref is set"),
					 errhint("RESET those that are not wanted.")));
	}
	if (ref != NULL)
	{
		at.kind = BF_ICE_AT_REF;
		at.ref = ref;
	}
	else if (snapshot != NULL)
	{
		at.kind = BF_ICE_AT_SNAPSHOT;
		at.snapshot_id = DatumGetInt64(DirectFunctionCall1(int8in, CStringGetDatum(snapshot)));
	}
	else if (timestamp != NULL)
	{
		TimestampTz t = DatumGetTimestampTz(
			DirectFunctionCall3(timestamptz_in, CStringGetDatum(timestamp),
								ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));

		if (TIMESTAMP_IS_NOEND(t))
			return at;
		at.kind = BF_ICE_AT_TIME;
		at.time_ms =
			TIMESTAMP_IS_NOBEGIN(t)
				? PG_INT64_MIN
				: t / 1000 - (t % 1000 < 0) +
					  (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000;
	}
	return at;
}

void
bifang_worklist_open_lake(BifangWorklist *w, const BifangOptions *o, Snapshot snap)
{
	w->metadata_path = bifang_metadata_path(o, snap);
	if (w->metadata_path == NULL && o->location != NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
						errmsg("there is no Iceberg table at \"%s\"", o->location)));
	if (w->metadata_path == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
						errmsg("lake table \"%s.%s\" does not exist in catalog \"%s\"",
							   o->ns == NULL ? "" : o->ns, o->table == NULL ? "" : o->table,
							   o->catalog_name)));
	w->exact = true;
	w->current = o->location == NULL || bifang_catalog_points_to(w->metadata_path, snap);
	bifang_worklist_set_table(w, o);
	if (w->table->metadata->uuid[0] != '\0')
		w->ledgers = bifang_catalog_ledgers(w->table->metadata->uuid, snap);
}

void
bifang_worklist_set_table(BifangWorklist *w, const BifangOptions *o)
{
	BfIceAt at = wanted_point(o);
	BfError err;

	w->current = w->current && at.kind == BF_ICE_AT_CURRENT;
	w->table = bifang_lake_table_mapped(w->cxt, w->metadata_path, o->location_map);
	bf_error_clear(&err);
	if (bf_ice_at_resolve(w->table, &at, &w->point, &err) != BF_OK)
	{
		bf_error_object(&err, w->metadata_path);
		bifang_report(&err);
	}
	w->schema = bifang_lake_columns(w);
}

/* Does the predicate say anything of facts about units, which an estimate does not look at? */
static bool
asks_for_facts(const BifangUnits *us)
{
	int32 *fields;
	int32 n;
	BfError err;

	if (us->pred == NULL)
		return false;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_pred_fields(us->pred, us->arena, &fields, &n, &err), &err);
	return n > 0 && fields[n - 1] >= bifang_worklist_fields(us->w);
}

/* Of an estimate: units that are not in the list. */
static void
count_files(BifangWorklist *w)
{
	const BfIcePlan *plan = w->plan;

	w->n_units += (int32) Min(plan->n_counted, PG_INT32_MAX - w->n_units);
	w->n_of_tier[BIFANG_TIER_PARQUET] += (int32) Min(plan->n_counted, PG_INT32_MAX);
	w->rows_of_tier[BIFANG_TIER_PARQUET] += plan->rows_counted;
	w->rows += plan->rows_counted;
	w->bytes += plan->bytes_counted;
}

void
bifang_worklist_plan_lake(BifangUnits *us, uint32 prune)
{
	BifangWorklist *w = us->w;
	BfIceScan scan = {.point = w->point,
					  .prune = prune,
					  .cache = bifang_manifest_cache(),
					  .coverage = w->current && w->ledgers != NIL};
	BfIcePlan *plan;
	BfError err;
	ListCell *lc;

	scan.totals_only = us->how == BIFANG_PLAN_ESTIMATE && !asks_for_facts(us);
	scan.pred = bifang_pred_of_fields(us->arena, us->pred, w->point.schema->n_fields);
	bf_error_clear(&err);
	if (w->given.ptr != NULL)
	{
		BIFANG_CHECK(bf_ice_plan_unpack(us->arena, w->table, w->given, &plan, &err), &err);
		w->given.ptr = NULL;
	}
	else
		BIFANG_CHECK(bf_ice_plan_scan(us->arena, w->table, &scan, &plan, &err), &err);
	w->plan = plan;
	w->exact = !plan->has_deletes;
	for (int32 i = 0; i < plan->n_files; i++)
	{
		const BfIceDataFile *f = &plan->files[i];
		BifangUnit *u;

		if (f->logical)
			continue;
		u = bifang_unit_add(us, BIFANG_TIER_PARQUET, f->path);
		u->file = f;
		u->rows = f->record_count;
		u->bytes = f->file_size;
		if (bifang_unit_keep(us) && f->format == BF_ICE_FORMAT_PARQUET)
			bifang_unit_cut_file(us);
	}
	check_logical_files(w);
	foreach (lc, w->ledgers)
		add_ledger(us, lfirst(lc));
	count_files(w);
}
