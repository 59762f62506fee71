/*
 * Points in a table's history.
 */
#include "iceberg/internal.h"

/* Commits to the bifang branch say what it covers; snapshots of main don't. */
static bool
is_bifang(const BfIceSnapshot *s)
{
	return bf_ice_summary(s, BF_ICE_COVERED) != NULL;
}

BfStatus
bf_ice_snapshot_schema(const BfIceTable *t, int64_t snapshot_id, const BfSchema **out, BfError *err)
{
	const BfIceSnapshot *s = bf_ice_snapshot(t->metadata, snapshot_id);

	if (s == NULL)
		BF_FAIL(err, BF_ERR_NOTFOUND, "the table has no snapshot %lld", (long long) snapshot_id);
	*out = t->schema;
	if (s->schema_id >= 0)
		*out = bf_ice_schema(t->metadata, s->schema_id);
	if (*out == NULL)
		BF_FAIL(err, BF_ERR_CORRUPT, "snapshot %lld: no schema has the id %d",
				(long long) snapshot_id, s->schema_id);
	return bf_ice_schema_check(t->metadata, *out, err);
}

static BfStatus
at_ref(const BfIceTable *t, const char *name, BfIcePoint *out, BfError *err)
{
	const BfIceMetadata *m = t->metadata;

	for (int32_t i = 0; i < m->refs.n; i++)
	{
		if (strcmp(m->refs.all[i].name, name) != 0)
			continue;
		out->main = bf_ice_snapshot(m, m->refs.all[i].snapshot_id);
		BF_ASSERT(out->main != NULL);
		out->past = !m->refs.all[i].is_branch;
		if (out->past)
			return bf_ice_snapshot_schema(t, out->main->id, &out->schema, err);
		out->schema = t->schema;
		return BF_OK;
	}
	BF_FAIL(err, BF_ERR_NOTFOUND, "the table has no branch or tag \"%.200s\"", name);
}

static bool
was_main(const BfIceMetadata *m, int64_t id)
{
	for (int32_t i = 0; i < m->snapshot_log.n; i++)
		if (m->snapshot_log.ids[i] == id)
			return true;
	return false;
}

/* The newest one not later than `ms`, of s and its ancestors; NULL = there was none then. Where the
 * ancestors that are left are all later, nobody knows what the branch had; but one that main named
 * is where the branch began, which the caller knows better. */
static BfStatus
ancestor_at(const BfIceMetadata *m, const BfIceSnapshot *s, int64_t ms, const BfIceSnapshot **out,
			BfError *err)
{
	for (int32_t steps = 0; s != NULL && s->timestamp_ms > ms; steps++)
	{
		int64_t parent = steps < m->snapshots.n ? s->parent_id : -1;

		s = parent == -1 ? NULL : bf_ice_snapshot(m, parent);
		if (s == NULL && parent != -1 && !was_main(m, parent))
			BF_FAIL(err, BF_ERR_NOTFOUND,
					"snapshot %lld, perhaps current at that time, has expired", (long long) parent);
	}
	*out = s;
	return BF_OK;
}

/* The log begins later: with main's first snapshot, or where what was before has expired. Then the
 * snapshot that it begins with has a parent, or is older itself, which a rollback went back to. */
static BfStatus
before_log(const BfIceMetadata *m, BfError *err)
{
	const BfIceSnapshot *first;
	int32_t at = 0;

	for (int32_t i = 1; i < m->snapshot_log.n; i++)
		if (m->snapshot_log.ms[i] < m->snapshot_log.ms[at])
			at = i;
	first = bf_ice_snapshot(m, m->snapshot_log.ids[at]);
	if (first == NULL || first->parent_id != -1 || first->timestamp_ms < m->snapshot_log.ms[at])
		BF_FAIL(err, BF_ERR_NOTFOUND,
				"what the table had then, before snapshot %lld became current, has expired",
				(long long) m->snapshot_log.ids[at]);
	return BF_OK;
}

/* What main named then. The log also knows of snapshots that a rollback has undone since. */
static BfStatus
main_at(const BfIceMetadata *m, int64_t ms, const BfIceSnapshot **out, BfError *err)
{
	int32_t latest = -1;

	*out = NULL;
	if (m->snapshot_log.n == 0)
		return ancestor_at(m, bf_ice_ref(m, BF_ICE_BRANCH_MAIN), ms, out, err);
	for (int32_t i = 0; i < m->snapshot_log.n; i++)
		if (m->snapshot_log.ms[i] <= ms &&
			(latest < 0 || m->snapshot_log.ms[i] >= m->snapshot_log.ms[latest]))
			latest = i;
	if (latest < 0)
		return before_log(m, err);
	*out = bf_ice_snapshot(m, m->snapshot_log.ids[latest]);
	if (*out == NULL)
		BF_FAIL(err, BF_ERR_NOTFOUND, "snapshot %lld, current at that time, has expired",
				(long long) m->snapshot_log.ids[latest]);
	return BF_OK;
}

static BfStatus
at_time(const BfIceTable *t, int64_t ms, BfIcePoint *out, BfError *err)
{
	const BfIceMetadata *m = t->metadata;
	const BfIceSnapshot *later;

	out->past = true;
	BF_TRY(main_at(m, ms, &out->main, err));
	BF_TRY(ancestor_at(m, bf_ice_ref(m, BF_ICE_BRANCH_BIFANG), ms, &out->bifang, err));
	/* The branch began at a snapshot of main, which is no news. */
	if (out->bifang != NULL && !is_bifang(out->bifang))
		out->bifang = NULL;
	if (out->main == NULL && out->bifang == NULL)
		BF_FAIL(err, BF_ERR_NOTFOUND, "the table had no snapshot at that time");
	later = out->main;
	BF_ASSERT(out->bifang == NULL || out->bifang->timestamp_ms <= ms);
	if (later == NULL || (out->bifang != NULL && out->bifang->timestamp_ms > later->timestamp_ms))
		later = out->bifang;
	return bf_ice_snapshot_schema(t, later->id, &out->schema, err);
}

BfStatus
bf_ice_at_resolve(const BfIceTable *t, const BfIceAt *at, BfIcePoint *out, BfError *err)
{
	*out = (BfIcePoint){.schema = t->schema};
	switch (at->kind)
	{
		case BF_ICE_AT_CURRENT:
			out->main = bf_ice_ref(t->metadata, BF_ICE_BRANCH_MAIN);
			out->bifang = bf_ice_ref(t->metadata, BF_ICE_BRANCH_BIFANG);
			return BF_OK;
		case BF_ICE_AT_SNAPSHOT:
			out->past = true;
			out->main = bf_ice_snapshot(t->metadata, at->snapshot_id);
			return bf_ice_snapshot_schema(t, at->snapshot_id, &out->schema, err);
		case BF_ICE_AT_REF: return at_ref(t, at->ref, out, err);
		case BF_ICE_AT_TIME: return at_time(t, at->time_ms, out, err);
	}
	BF_FAIL(err, BF_ERR_VALUE, "no such kind of point in time");
}
