/*
 * pg/catalog/point.c: see point.h.
 */
#include "pg/catalog/point.h"

#include "datatype/timestamp.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "pg/catalog/cache.h"
#include "pg/catalog/catalog.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/pins.h"
#include "pg/server/settings.h"

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

	if (o->time_travel && snapshot == NULL && timestamp == NULL && ref == NULL)
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
		at.ref = bifang_to_utf8(ref);
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
bifang_point_of(MemoryContext cxt, const BifangOptions *o, const char *metadata_path, bool current,
				BifangPoint *out)
{
	BfIceAt at = wanted_point(o);
	BfError err;

	Assert(metadata_path != NULL);
	out->metadata_path = metadata_path;
	out->table_id = 0;
	out->current = current && at.kind == BF_ICE_AT_CURRENT;
	out->table = bifang_lake_table_mapped(cxt, metadata_path, o->location_map);
	bf_error_clear(&err);
	if (bf_ice_at_resolve(out->table, &at, &out->at, &err) != BF_OK)
	{
		bf_error_object(&err, metadata_path);
		bifang_report(&err);
	}
}

/* The metadata file, NULL = there is none, and the row of this database's catalog. A table that is
 * found by its location, or in another catalog, may stand in this one all the same. */
static const char *
find_table(const BifangOptions *o, Snapshot snap, bool *known, BifangLakeTable *row)
{
	const char *path;

	if (bifang_options_own(o))
	{
		*known = bifang_catalog_lookup(o, snap, row);
		return *known ? row->metadata_location : NULL;
	}
	path = bifang_metadata_path(o, snap);
	*known = path != NULL && bifang_catalog_table_at(path, snap, row);
	return path;
}

void
bifang_point_open(MemoryContext cxt, const BifangOptions *o, Snapshot snap, BifangPoint *out)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);
	BifangLakeTable row;
	bool known;
	bool current;
	const char *path = find_table(o, snap, &known, &row);

	if (path == NULL && o->location != NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
						errmsg("there is no Iceberg table at \"%s\"", o->location)));
	if (path == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
						errmsg("lake table \"%s.%s\" does not exist in catalog \"%s\"",
							   o->ns == NULL ? "" : o->ns, o->table == NULL ? "" : o->table,
							   bifang_options_own(o) ? row.catalog : o->catalog_name)));
	current = known ? strcmp(path, row.metadata_location) == 0 : o->location == NULL;
	bifang_point_of(cxt, o, path, current, out);
	if (known)
	{
		bifang_catalog_check_uuid(&row, out->table->metadata->uuid);
		out->table_id = row.id;
	}
	MemoryContextSwitchTo(old);
}
