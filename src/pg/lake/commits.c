/*
 * pg/lake/commits.c: files of commits that don't count; see commits.h.
 *
 * A commit writes manifests, a manifest list and a metadata file, and counts when the catalog's
 * pointer moves. One that is rolled back, lost in a crash, or comes second leaves them behind:
 *
 *   00007-<uuid>.metadata.json   when the catalog or the metadata's log names another file of its
 *                                number, or none that is as high. Older ones than the log goes back
 *                                may have counted once: they stay unless the table's property
 *                                write.metadata.delete-after-commit.enabled says that they go
 *   snap-<id>-1-<uuid>.avro      when no snapshot names it
 *   <uuid>-m0.avro               when no manifest list of any snapshot names it
 *   any of these, unfinished     with the ".tmp.<digits>" of io/publish.h
 *
 * The same goes for lists and manifests of snapshots that have expired.
 *
 * Only names as we make them are looked at. A manifest list is read only if there is a manifest
 * whose own commit is not among the snapshots: where nothing failed, none is.
 */
#include "pg/lake/commits.h"

#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "iceberg/commit.h"
#include "iceberg/manifest.h"
#include "io/source.h"
#include "pg/lake/places.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/remove.h"
#include "pg/server/settings.h"
#include "pg/write/table.h"

#define METADATA_BYTES_MAX ((size_t) 512 << 20)
#define NAME_BYTES 256 /* longer ones are not ours */

typedef enum Kind
{
	OTHER,
	METADATA,
	MANIFEST_LIST,
	MANIFEST
} Kind;

/* A file of one of these kinds, by its name: all are in one directory. */
typedef struct Candidate
{
	char name[NAME_BYTES];
	Kind kind;
	bool named;
} Candidate;

/* Names --------------------------------------------------------------------------------------- */

static bool
ends_in(const char *name, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len > n && memcmp(name + len - n, suffix, n) == 0;
}

static Kind
kind_of(const char *name)
{
	size_t len = bifang_final_length(name);
	size_t digits;

	if (ends_in(name, len, ".metadata.json") && strspn(name, "0123456789") > 0)
		return METADATA;
	if (!ends_in(name, len, ".avro"))
		return OTHER;
	if (strncmp(name, "snap-", 5) == 0)
		return MANIFEST_LIST;
	len -= 5;
	for (digits = 0;
		 digits < len && name[len - digits - 1] >= '0' && name[len - digits - 1] <= '9';)
		digits++;
	return digits > 0 && len > digits + 2 && memcmp(name + len - digits - 2, "-m", 2) == 0
			   ? MANIFEST
			   : OTHER;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

bool
bifang_is_past_grace(const char *path)
{
	const BfHost *host = bifang_host();
	BfPathInfo info;
	BfError err = {0};

	return host->stat(host, path, &info, &err) == BF_OK && info.kind == BF_PATH_FILE &&
		   host->now_us(host) - info.mtime_us >= (int64) bifang_garbage_grace_s * 1000000;
}

/* What names them ----------------------------------------------------------------------------- */

static bool
name_one(HTAB *candidates, const char *name, size_t len)
{
	char key[NAME_BYTES];
	Candidate *c;

	if (len == 0 || len >= sizeof key)
		return false;
	memcpy(key, name, len);
	key[len] = '\0';
	c = hash_search(candidates, key, HASH_FIND, NULL);
	if (c != NULL)
		c->named = true;
	return c != NULL;
}

/* Whatever in the text could be the last part of a path: what looks like being named stays. */
static void
name_by_text(HTAB *candidates, const char *text, size_t len)
{
	size_t start = 0;

	for (size_t i = 0; i < len; i++)
		if (text[i] == '"' || text[i] == '/')
		{
			(void) name_one(candidates, text + start, i - start);
			start = i + 1;
		}
	(void) name_one(candidates, text + start, len - start);
}

/* Of two files with one number one can have counted: the one that is named. */
static void
keep_old_metadata(HTAB *candidates, const char *current)
{
	int64 newest = strtoi64(current, NULL, 10);
	HASHCTL ctl = {
		.keysize = sizeof(int64), .entrysize = sizeof(int64), .hcxt = CurrentMemoryContext};
	HTAB *numbers =
		hash_create("metadata that is named", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	HASH_SEQ_STATUS seq;
	Candidate *c;

	for (int pass = 0; pass < 2; pass++)
	{
		hash_seq_init(&seq, candidates);
		while ((c = hash_seq_search(&seq)) != NULL)
		{
			int64 number = strtoi64(c->name, NULL, 10);

			if (c->kind != METADATA)
				continue;
			if (pass == 0 && c->named)
				(void) hash_search(numbers, &number, HASH_ENTER, NULL);
			else if (pass == 1 && !c->named)
				c->named =
					number < newest && hash_search(numbers, &number, HASH_FIND, NULL) == NULL;
		}
	}
	hash_destroy(numbers);
}

/* Manifests of a commit whose list, "snap-<id>-1-<uuid>.avro", is one of the table's:
 * "<uuid>-m0.avro" and so on. */
static void
name_by_commit(HTAB *candidates, const char *list)
{
	const char *uuid = base_name(list);
	size_t len;
	bool more = strncmp(uuid, "snap-", 5) == 0;

	for (int dashes = 0; more && dashes < 2; dashes++)
	{
		uuid = strchr(uuid + (dashes == 0 ? 5 : 1), '-');
		more = uuid != NULL;
	}
	if (!more || !ends_in(uuid, strlen(uuid), ".avro"))
		return;
	len = strlen(++uuid) - strlen(".avro");
	for (int k = 0; more; k++)
	{
		char *name = psprintf("%.*s-m%d.avro", (int) len, uuid, k);

		more = name_one(candidates, name, strlen(name));
		pfree(name);
	}
}

static bool
any_manifest(HTAB *candidates)
{
	bool any = false;
	HASH_SEQ_STATUS seq;
	Candidate *c;

	hash_seq_init(&seq, candidates);
	while ((c = hash_seq_search(&seq)) != NULL)
		any |= c->kind == MANIFEST && !c->named;
	return any;
}

/* False: a list can't be read, so nothing is known to be left over. */
static bool
name_by_list(HTAB *candidates, const BfIceTable *t, const BfIceSnapshot *s)
{
	BfArena *a = bifang_arena(CurrentMemoryContext, "manifests", BIFANG_ARENA_MAX_METADATA);
	BfIceManifest *list = NULL;
	const char *path;
	int32 n = 0;
	BfError err = {0};
	BfStatus status = BF_OK;

	for (int32_t i = 0; i < s->n_manifests; i++)
		name_by_text(candidates, s->manifests[i], strlen(s->manifests[i]));
	if (s->manifest_list != NULL)
	{
		status = bf_location_resolve(a, &t->location, s->manifest_list, &path, &err);
		if (status == BF_OK)
			status = bf_ice_read_manifest_list(a, path, NULL, &list, &n, &err);
	}
	if (status == BF_ERR_CANCEL || status == BF_ERR_NOMEM)
		bifang_report(&err);
	for (int32 i = 0; i < n; i++)
		(void) name_one(candidates, base_name(list[i].path), strlen(base_name(list[i].path)));
	bifang_arena_free(a);
	return status == BF_OK;
}

/* False: not all of it could be read. */
static bool
find_named(HTAB *candidates, const char *metadata_path, const BfIceTable *t)
{
	const BfIceSnapshots *snapshots = &t->metadata->snapshots;
	BfArena *a = bifang_arena(CurrentMemoryContext, "metadata", BIFANG_ARENA_MAX_METADATA);
	BfError err = {0};
	BfView bytes;
	BfStatus status = bf_source_read_all(a, metadata_path, METADATA_BYTES_MAX, NULL, &bytes, &err);
	bool all = status == BF_OK;

	/* The file itself, its log, lists of snapshots, statistics. */
	if (all)
		name_by_text(candidates, (const char *) bytes.ptr, bytes.len);
	bifang_arena_free(a);
	name_by_text(candidates, metadata_path, strlen(metadata_path));
	if (!bf_ice_property_bool(t->metadata, BF_ICE_DELETE_OLD_METADATA, false))
		keep_old_metadata(candidates, base_name(metadata_path));
	for (int32_t i = 0; i < snapshots->n; i++)
		if (snapshots->all[i].manifest_list != NULL)
			name_by_commit(candidates, snapshots->all[i].manifest_list);
	for (int32_t i = 0; all && i < snapshots->n && any_manifest(candidates); i++)
	{
		CHECK_FOR_INTERRUPTS();
		all = name_by_list(candidates, t, &snapshots->all[i]);
	}
	return all;
}

List *
bifang_files_of_failed_commits(const BifangLakeTable *row, const BfIceTable *t)
{
	HASHCTL ctl = {
		.keysize = NAME_BYTES, .entrysize = sizeof(Candidate), .hcxt = CurrentMemoryContext};
	char *dir = bifang_parent_of(row->metadata_location);
	HTAB *candidates;
	List *result = NIL;
	HASH_SEQ_STATUS seq;
	Candidate *c;
	List *names;
	ListCell *lc;

	if (!bifang_table_may_remove(t, row->metadata_location) ||
		kind_of(base_name(row->metadata_location)) != METADATA)
		return NIL;
	candidates =
		hash_create("files of commits", 256, &ctl, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	names = bifang_names_if_readable(dir);
	foreach (lc, names)
	{
		const char *name = lfirst(lc);
		Kind kind = strlen(name) < NAME_BYTES ? kind_of(name) : OTHER;

		if (kind == OTHER)
			continue;
		c = hash_search(candidates, name, HASH_ENTER, NULL);
		c->kind = kind;
		c->named = false;
	}
	if (find_named(candidates, row->metadata_location, t))
	{
		hash_seq_init(&seq, candidates);
		while ((c = hash_seq_search(&seq)) != NULL)
		{
			char *path = psprintf("%s/%s", dir, c->name);

			Assert(c->kind != OTHER);
			if (!c->named && bifang_is_past_grace(path))
				result = lappend(result, path);
		}
	}
	hash_destroy(candidates);
	return result;
}
