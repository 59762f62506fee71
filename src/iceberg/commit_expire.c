/*
 * Snapshots that expire, by the specification's rules
 * (https://iceberg.apache.org/spec/#snapshot-retention-policy):
 *
 *   refs       but main and bifang, whose snapshot is older than max-ref-age-ms, go
 *   branches   keep their newest min-snapshots-to-keep snapshots, and those before as long as they
 *              are younger than max-snapshot-age-ms
 *   tags       keep their snapshot
 *   the rest   what no ref leads to keeps those that are younger than the table's age
 *
 * A ref's own values come before those of the table. All is decided by ids in the new metadata's
 * tree: what it says besides of snapshots and refs stays. Files stay too; whoever removes garbage
 * finds that nothing names them.
 *
 * Whom an expired snapshot told what main covers (table.h) is told it itself: else a rollback of
 * main to it would read the table's property, which is of now, and rows would be missing.
 */
#include "base/ascii.h"
#include "base/sort.h"
#include "iceberg/commit_internal.h"

#define MAX_SNAPSHOT_AGE "history.expire.max-snapshot-age-ms"
#define MIN_SNAPSHOTS "history.expire.min-snapshots-to-keep"
#define MAX_REF_AGE "history.expire.max-ref-age-ms"
/* What Iceberg has without the property that says it. */
#define AGE_MS ((int64_t) 5 * 24 * 3600 * 1000)

typedef struct Snapshot
{
	int64_t id;
	int64_t parent_id; /* -1 = none */
	int64_t ms;
	json_t *json;
	bool kept;
	bool referenced; /* a ref that stays leads to it */
} Snapshot;

typedef struct Expiry
{
	BfiCommit *c;
	const BfIceExpiry *rule;
	Snapshot *all; /* in the order of the tree */
	int32_t n;
	int32_t *by_id;
	BfIceExpired *gone;
} Expiry;

/* ---- the rule ---- */

static int64_t
number_of(const BfIceMetadata *m, const char *key, int64_t min, int64_t fallback)
{
	const char *text = bf_ice_property(m, key);
	int64_t n;

	if (text == NULL || text[0] == '\0' ||
		bf_ascii_number(text, strlen(text), INT64_MAX, &n) != strlen(text) || n < min)
		return fallback;
	return n;
}

bool
bf_ice_expiry(const BfIceMetadata *m, BfIceExpiry *out)
{
	out->max_snapshot_age_ms = number_of(m, MAX_SNAPSHOT_AGE, 0, AGE_MS);
	out->min_snapshots = number_of(m, MIN_SNAPSHOTS, 1, 1);
	out->max_ref_age_ms = number_of(m, MAX_REF_AGE, 1, INT64_MAX);
	return number_of(m, MAX_SNAPSHOT_AGE, 0, -1) >= 0;
}

/* ---- the tree ---- */

static int
compare_ids(const void *x, const void *y)
{
	const Snapshot *const *a = x, *const *b = y;

	return ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

static BfStatus
read_snapshot(const json_t *json, Snapshot *s, BfError *err)
{
	s->parent_id = -1;
	BF_TRY(bfi_json_get_i64(json, "snapshots", "snapshot-id", true, &s->id, err));
	BF_TRY(bfi_json_get_i64(json, "snapshots", "parent-snapshot-id", false, &s->parent_id, err));
	return bfi_json_get_i64(json, "snapshots", "timestamp-ms", true, &s->ms, err);
}

static BfStatus
read_snapshots(Expiry *e, json_t *list, BfError *err)
{
	BfArena *a = e->c->arena;
	Snapshot **sorted;

	e->n = (int32_t) json_array_size(list);
	BF_NEW(a, e->all, e->n, err);
	BF_NEW(a, sorted, e->n, err);
	BF_NEW(a, e->by_id, e->n, err);
	for (int32_t i = 0; i < e->n; i++)
	{
		sorted[i] = &e->all[i];
		e->all[i].json = json_array_get(list, (size_t) i);
		BF_TRY(read_snapshot(e->all[i].json, &e->all[i], err));
	}
	if (e->n > 1)
		bf_sort(sorted, (size_t) e->n, sizeof *sorted, compare_ids);
	for (int32_t i = 0; i < e->n; i++)
		BF_ASSERT(i == 0 || sorted[i - 1]->id < sorted[i]->id); /* as it was loaded */
	for (int32_t i = 0; i < e->n; i++)
		e->by_id[i] = (int32_t) (sorted[i] - e->all);
	return BF_OK;
}

/* NULL: it is not there, or it is no snapshot's id. */
static Snapshot *
find(const Expiry *e, int64_t id)
{
	int32_t at;

	BF_SEARCH(int32_t, at, e->n, i, e->all[e->by_id[i]].id < id);
	BF_ASSERT(at <= e->n);
	return at < e->n && e->all[e->by_id[at]].id == id ? &e->all[e->by_id[at]] : NULL;
}

/* ---- what stays ---- */

/* Is `ms` longer ago than `age`? */
static bool
is_older(const Expiry *e, int64_t ms, int64_t age)
{
	return ms < e->c->now_ms && e->c->now_ms - ms > age;
}

static BfStatus
keep_branch(Expiry *e, Snapshot *head, int64_t min_snapshots, int64_t max_age, BfError *err)
{
	bool enough = false;
	int64_t n = 0;

	BF_ASSERT(head != NULL && min_snapshots >= 1);
	for (Snapshot *s = head; s != NULL; s = find(e, s->parent_id))
	{
		BF_DATA(err, n++ <= e->n, -1, "snapshots: the parents of %lld go round in a circle",
				(long long) head->id);
		s->referenced = true;
		enough = enough || (n > min_snapshots && is_older(e, s->ms, max_age));
		s->kept = s->kept || !enough;
	}
	return BF_OK;
}

/* False: the ref goes. */
static BfStatus
keep_ref(Expiry *e, const char *name, const json_t *ref, bool *stays, BfError *err)
{
	int64_t id, min_snapshots = e->rule->min_snapshots, max_age = e->rule->max_snapshot_age_ms,
				max_ref_age = e->rule->max_ref_age_ms;
	bool is_ours = strcmp(name, BF_ICE_BRANCH_MAIN) == 0 || strcmp(name, BF_ICE_BRANCH_BIFANG) == 0;
	const char *type = NULL;
	Snapshot *head;

	BF_TRY(bfi_json_get_i64(ref, "refs", "snapshot-id", true, &id, err));
	BF_TRY(bfi_json_get_text(ref, "refs", "type", true, &type, err));
	BF_TRY(bfi_json_get_i64(ref, "refs", "min-snapshots-to-keep", false, &min_snapshots, err));
	BF_TRY(bfi_json_get_i64(ref, "refs", "max-snapshot-age-ms", false, &max_age, err));
	BF_TRY(bfi_json_get_i64(ref, "refs", "max-ref-age-ms", false, &max_ref_age, err));
	head = find(e, id);
	BF_NEVER(err, head == NULL); /* it was looked at when the table was loaded */
	*stays = is_ours || !is_older(e, head->ms, max_ref_age);
	if (!*stays)
		return BF_OK;
	if (strcmp(type, "branch") == 0)
		return keep_branch(e, head, min_snapshots > 1 ? min_snapshots : 1, max_age, err);
	head->kept = head->referenced = true;
	return BF_OK;
}

static BfStatus
keep_refs(Expiry *e, json_t *refs, BfError *err)
{
	Snapshot *main = find(e, e->c->table->metadata->snapshots.current_id);
	const char *name;
	json_t *ref;
	void *next;

	json_object_foreach_safe(refs, next, name, ref)
	{
		bool stays;

		BF_TRY(keep_ref(e, name, ref, &stays, err));
		if (stays)
			continue;
		json_object_del(refs, name);
		e->gone->refs++;
	}
	/* Of a table that names it by its id alone. */
	if (json_object_get(refs, BF_ICE_BRANCH_MAIN) == NULL && main != NULL)
		BF_TRY(keep_branch(e, main, e->rule->min_snapshots, e->rule->max_snapshot_age_ms, err));
	for (int32_t i = 0; i < e->n; i++)
	{
		Snapshot *s = &e->all[i];

		if (!s->referenced && !is_older(e, s->ms, e->rule->max_snapshot_age_ms))
			s->kept = true;
		e->gone->snapshots += !s->kept;
	}
	BF_ASSERT(main == NULL || main->kept);
	return BF_OK;
}

/* ---- what goes ---- */

static const char *
covered_by(const Snapshot *s)
{
	return json_string_value(
		json_object_get(json_object_get(s->json, "summary"), BF_ICE_COVERED_PARQUET));
}

/* What main covers where `s` is its head. */
static const char *
inherited(const Expiry *e, const Snapshot *s)
{
	const char *property = bf_ice_property(e->c->table->metadata, BF_ICE_COVERED_PARQUET);

	for (; s != NULL; s = find(e, s->parent_id))
	{
		if (covered_by(s) != NULL)
			return covered_by(s);
		if (s->parent_id == -1)
			return "";
	}
	return property != NULL ? property : "";
}

static BfStatus
tell_coverage(Expiry *e, BfError *err)
{
	for (int32_t i = 0; i < e->n; i++)
	{
		const Snapshot *s = &e->all[i];
		const Snapshot *parent = find(e, s->parent_id);
		json_t *summary;

		if (!s->kept || parent == NULL || parent->kept || covered_by(s) != NULL)
			continue;
		BF_TRY(bfi_json_child(s->json, "summary", false, &summary, err));
		/* Readers ask for one. */
		if (json_object_get(summary, "operation") == NULL)
			BF_TRY(bfi_json_set(summary, "operation", json_string("overwrite"), err));
		BF_TRY(bfi_json_set(summary, BF_ICE_COVERED_PARQUET, json_string(inherited(e, s)), err));
	}
	return BF_OK;
}

static BfStatus
is_gone(const Expiry *e, const json_t *item, const char *where, bool *gone, BfError *err)
{
	const Snapshot *s;
	int64_t id = -1;

	BF_TRY(bfi_json_get_i64(item, where, "snapshot-id", false, &id, err));
	s = find(e, id);
	*gone = s != NULL && !s->kept;
	return BF_OK;
}

/* Takes the items out of a list of the tree that name a snapshot which goes. */
static BfStatus
filter(Expiry *e, const char *key, BfError *err)
{
	json_t *old = json_object_get(e->c->root, key);
	json_t *left = json_array();

	BF_ASSERT(e->gone->snapshots > 0);
	BF_TRY(bfi_json_own(e->c->arena, left, err));
	for (size_t i = 0; i < json_array_size(old); i++)
	{
		bool gone;

		BF_TRY(is_gone(e, json_array_get(old, i), key, &gone, err));
		if (!gone && json_array_append(left, json_array_get(old, i)) != 0)
			BF_FAIL(err, BF_ERR_NOMEM, "out of memory for a metadata list");
	}
	return json_is_array(old) ? bfi_json_set(e->c->root, key, json_incref(left), err) : BF_OK;
}

/* The log goes on behind the last one that is gone: who looks for an earlier time must not find an
 * even earlier snapshot. */
static BfStatus
cut_log(Expiry *e, BfError *err)
{
	json_t *log = json_object_get(e->c->root, "snapshot-log");
	size_t first = 0;

	for (size_t i = 0; i < json_array_size(log); i++)
	{
		int64_t id = -1;
		const Snapshot *s;

		BF_TRY(bfi_json_get_i64(json_array_get(log, i), "snapshot-log", "snapshot-id", true, &id,
								err));
		s = find(e, id);
		if (s == NULL || !s->kept)
			first = i + 1;
	}
	while (first-- > 0)
		json_array_remove(log, 0);
	return BF_OK;
}

static BfStatus
expire(Expiry *e, BfError *err)
{
	json_t *list, *refs;

	BF_TRY(bfi_json_child(e->c->root, "snapshots", true, &list, err));
	BF_TRY(bfi_json_child(e->c->root, "refs", false, &refs, err));
	BF_TRY(read_snapshots(e, list, err));
	BF_TRY(keep_refs(e, refs, err));
	if (e->gone->snapshots == 0)
		return BF_OK;
	BF_TRY(tell_coverage(e, err));
	BF_TRY(cut_log(e, err));
	BF_TRY(filter(e, "statistics", err));
	BF_TRY(filter(e, "partition-statistics", err));
	return filter(e, "snapshots", err);
}

BfStatus
bfi_commit_expire(BfiCommit *c, const BfIceExpiry *rule, BfIceExpired *gone, BfError *err)
{
	Expiry e = {.c = c, .rule = rule, .gone = gone};

	BF_ASSERT(rule->min_snapshots >= 1 && rule->max_snapshot_age_ms >= 0);
	*gone = (BfIceExpired){.snapshots = 0};
	return expire(&e, err);
}
