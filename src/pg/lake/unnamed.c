/*
 * pg/lake/unnamed.c: see unnamed.h.
 *
 * Only names as optimize.c makes them are looked at, bifang-<uuid>.parquet, finished or not.
 * Manifests are read, the newest snapshot's first, until every one of them was found in one: where
 * nothing failed these are the present ones.
 */
#include "pg/lake/unnamed.h"

#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "iceberg/manifest.h"
#include "pg/lake/commits.h"
#include "pg/lake/places.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/remove.h"
#include "pg/write/table.h"

#define NAME_BYTES 128 /* longer ones are not ours */

typedef struct Search
{
	const BfIceTable *t;
	HTAB *left;		 /* by name: candidates that nothing was found to name */
	HTAB *manifests; /* by path as recorded: those that were read */
} Search;

static void
find_candidates(Search *s, const char *dir)
{
	List *names = bifang_names_if_readable(dir);
	ListCell *lc;

	foreach (lc, names)
	{
		const char *name = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (strlen(name) < NAME_BYTES && bifang_is_data_file(name) &&
			bifang_is_past_grace(psprintf("%s/%s", dir, name)))
			(void) hash_search(s->left, name, HASH_ENTER, NULL);
	}
}

/* An entry of any status: what was deleted may be an older snapshot's. */
static BfStatus
visit_file(void *arg, const BfIceFile *file, BfError *err)
{
	Search *s = arg;
	const char *slash = strrchr(file->path, '/');
	const char *name = slash == NULL ? file->path : slash + 1;

	(void) err;
	if (strlen(name) < NAME_BYTES)
		(void) hash_search(s->left, name, HASH_REMOVE, NULL);
	return BF_OK;
}

static BfStatus
read_manifests(Search *s, BfArena *a, const BfIceSnapshot *snapshot, BfError *err)
{
	BfIceManifest *list;
	const char *path;
	int32_t n;

	if (snapshot->manifest_list == NULL)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "a snapshot has no manifest list");
	BF_TRY(bf_location_resolve(a, &s->t->location, snapshot->manifest_list, &path, err));
	BF_TRY(bf_ice_read_manifest_list(a, path, NULL, &list, &n, err));
	for (int32_t i = 0; i < n && hash_get_num_entries(s->left) > 0; i++)
	{
		bool known = false;
		BfArena *keep;
		BfStatus status;

		if (strlen(list[i].path) < MAXPGPATH)
			(void) hash_search(s->manifests, list[i].path, HASH_ENTER, &known);
		if (known || list[i].deletes)
			continue;
		keep = bf_arena_new(bf_arena_host(a), "manifest", BIFANG_ARENA_MAX_METADATA);
		if (keep == NULL)
			return bf_arena_fail(a, 0, err);
		status = bf_location_resolve(keep, &s->t->location, list[i].path, &path, err);
		if (status == BF_OK)
			status = bf_ice_read_manifest(keep, path, &list[i], s->t->metadata, NULL, visit_file, s,
										  err);
		bf_arena_free(keep);
		BF_TRY(status);
	}
	return BF_OK;
}

/* False: not all manifests could be read, so nothing is known to be left over. */
static bool
leave_what_is_named(Search *s)
{
	const BfIceSnapshots *snapshots = &s->t->metadata->snapshots;
	BfStatus status = BF_OK;
	BfError err = {0};

	for (int32_t i = snapshots->n; status == BF_OK && i-- > 0 && hash_get_num_entries(s->left) > 0;)
	{
		BfArena *a = bifang_arena(CurrentMemoryContext, "manifests", BIFANG_ARENA_MAX_METADATA);

		CHECK_FOR_INTERRUPTS();
		status = read_manifests(s, a, &snapshots->all[i], &err);
		bifang_arena_free(a);
	}
	if (status == BF_ERR_CANCEL || status == BF_ERR_NOMEM)
		bifang_report(&err);
	return status == BF_OK;
}

List *
bifang_unnamed_data_files(const BifangLakeTable *row, const BfIceTable *t)
{
	HASHCTL names = {.keysize = NAME_BYTES, .entrysize = NAME_BYTES, .hcxt = CurrentMemoryContext};
	HASHCTL paths = {.keysize = MAXPGPATH, .entrysize = MAXPGPATH, .hcxt = CurrentMemoryContext};
	const char *dir = psprintf("%s/data", t->location.found);
	Search s = {.t = t};
	List *result = NIL;
	HASH_SEQ_STATUS seq;
	const char *name;

	if (!bifang_table_may_remove(t, row->metadata_location))
		return NIL;
	Assert(dir[0] == '/');
	s.left = hash_create("data files", 256, &names, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	s.manifests = hash_create("manifests", 64, &paths, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	find_candidates(&s, dir);
	if (hash_get_num_entries(s.left) > 0 && leave_what_is_named(&s))
	{
		hash_seq_init(&seq, s.left);
		while ((name = hash_seq_search(&seq)) != NULL)
			result = lappend(result, psprintf("%s/%s", dir, name));
	}
	hash_destroy(s.left);
	hash_destroy(s.manifests);
	return result;
}
