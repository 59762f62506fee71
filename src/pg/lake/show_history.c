/*
 * pg/lake/show_history.c: SQL functions that show what a lake table was.
 *
 *   bifang.snapshots(regclass)   snapshots of its Iceberg metadata
 *   bifang.refs(regclass)        branches and tags
 *   bifang.history(regclass)     which snapshot was the current one since when
 */
#include "pg/lake/show.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/snapmgr.h"

#include "pg/catalog/cache.h"
#include "pg/catalog/point.h"

static const BfIceMetadata *
lake_metadata(FunctionCallInfo fcinfo)
{
	BifangOptions o;
	const char *path;

	bifang_show_lake_argument(fcinfo, &o);
	path = bifang_metadata_path(&o, GetActiveSnapshot());
	if (path == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_TABLE_NOT_FOUND), errmsg("the lake table does not exist")));
	return bifang_lake_table_mapped(CurrentMemoryContext, path, o.location_map)->metadata;
}

/* Names of the refs that point at the snapshot, comma-separated. */
static void
put_refs(BifangShow *r, const BfIceMetadata *m, int64 snapshot_id)
{
	StringInfoData s;

	initStringInfo(&s);
	for (int32 i = 0; i < m->refs.n; i++)
		if (m->refs.all[i].snapshot_id == snapshot_id)
			appendStringInfo(&s, "%s%s", s.len == 0 ? "" : ", ", m->refs.all[i].name);
	if (s.len == 0)
		bifang_show_null(r);
	else
		bifang_show_text(r, s.data);
}

static void
put_summary(BifangShow *r, const BfIceSnapshot *snapshot)
{
	StringInfoData s;

	initStringInfo(&s);
	appendStringInfoChar(&s, '{');
	for (int32 i = 0; i < snapshot->n_summary; i++)
	{
		if (i > 0)
			appendStringInfoString(&s, ", ");
		escape_json(&s, snapshot->summary_keys[i]);
		appendStringInfoString(&s, ": ");
		escape_json(&s, snapshot->summary_values[i]);
	}
	appendStringInfoChar(&s, '}');
	if (pg_verifymbstr(s.data, s.len, true))
		bifang_show(r, DirectFunctionCall1(jsonb_in, CStringGetDatum(s.data)));
	else
		bifang_show_null(r);
}

PG_FUNCTION_INFO_V1(bifang_snapshots);

Datum
bifang_snapshots(PG_FUNCTION_ARGS)
{
	const BfIceMetadata *m = lake_metadata(fcinfo);
	BifangShow r = bifang_show_begin(fcinfo);

	for (int32 i = 0; i < m->snapshots.n; i++)
	{
		const BfIceSnapshot *s = &m->snapshots.all[i];

		bifang_show(&r, Int64GetDatum(s->id));
		bifang_show_count(&r, s->parent_id);
		bifang_show_count(&r, s->sequence_number);
		bifang_show_time_ms(&r, s->timestamp_ms);
		bifang_show_text(&r, s->operation);
		put_refs(&r, m, s->id);
		put_summary(&r, s);
		bifang_show_end_row(&r);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(bifang_refs);

Datum
bifang_refs(PG_FUNCTION_ARGS)
{
	const BfIceMetadata *m = lake_metadata(fcinfo);
	BifangShow r = bifang_show_begin(fcinfo);

	for (int32 i = 0; i < m->refs.n; i++)
	{
		const BfIceSnapshot *s = bf_ice_snapshot(m, m->refs.all[i].snapshot_id);

		bifang_show_text(&r, m->refs.all[i].name);
		bifang_show_text(&r, m->refs.all[i].is_branch ? "branch" : "tag");
		bifang_show(&r, Int64GetDatum(m->refs.all[i].snapshot_id));
		if (s == NULL)
			bifang_show_null(&r);
		else
			bifang_show_time_ms(&r, s->timestamp_ms);
		bifang_show_end_row(&r);
	}
	return (Datum) 0;
}

/* Is it main's head or before that? */
static bool
is_ancestor(const BfIceMetadata *m, int64 id)
{
	const BfIceSnapshot *s = bf_ice_snapshot(m, m->snapshots.current_id);

	for (int32 i = 0; s != NULL && i <= m->snapshots.n; i++)
	{
		if (s->id == id)
			return true;
		s = s->parent_id == -1 ? NULL : bf_ice_snapshot(m, s->parent_id);
	}
	return false;
}

PG_FUNCTION_INFO_V1(bifang_history);

Datum
bifang_history(PG_FUNCTION_ARGS)
{
	const BfIceMetadata *m = lake_metadata(fcinfo);
	BifangShow r = bifang_show_begin(fcinfo);

	for (int32 i = 0; i < m->snapshot_log.n; i++)
	{
		const BfIceSnapshot *s = bf_ice_snapshot(m, m->snapshot_log.ids[i]);

		CHECK_FOR_INTERRUPTS();
		bifang_show_time_ms(&r, m->snapshot_log.ms[i]);
		bifang_show(&r, Int64GetDatum(m->snapshot_log.ids[i]));
		bifang_show_count(&r, s == NULL ? -1 : s->parent_id);
		bifang_show(&r, BoolGetDatum(is_ancestor(m, m->snapshot_log.ids[i])));
		bifang_show_end_row(&r);
	}
	return (Datum) 0;
}
