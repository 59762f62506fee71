/*
 * pg/worklist.c: what a scan has to read; see worklist.h.
 */
#include "pg/worklist.h"

#include <glob.h>
#include <sys/stat.h>

#include "common/hashfn.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "exec/kafka_reader.h"
#include "pg/catalog.h"
#include "pg/error.h"
#include "pg/host.h"
#include "pg/lakecache.h"

/* Guesses for files that this backend has not opened yet. */
#define PARQUET_ROW_BYTES 24
#define KAFKA_RECORD_BYTES 100

const char *
bifang_tier_name(BifangTier t)
{
	switch (t)
	{
		case BIFANG_TIER_PARQUET: return "parquet";
		case BIFANG_TIER_OFFLOAD: return "offload";
		case BIFANG_TIER_LIVE: return "live";
		case BIFANG_TIER_KAFKA: return "kafka";
		case BIFANG_TIER_COUNT: break;
	}
	return "?";
}

/* ---- rows of Parquet files seen before ---- */

typedef struct SeenFile
{
	uint64 key;
	int64 rows;
} SeenFile;

#define SEEN_MAX 20000

static HTAB *seen = NULL;

static uint64
seen_key(const char *path, int64 size)
{
	return hash_bytes_extended((const unsigned char *) path, (int) strlen(path), (uint64) size);
}

void
bifang_remember_rows(const char *path, int64 size, int64 rows)
{
	SeenFile *entry;
	uint64 key = seen_key(path, size);
	bool found;

	if (seen != NULL && hash_get_num_entries(seen) >= SEEN_MAX)
	{
		hash_destroy(seen);
		seen = NULL;
	}
	if (seen == NULL)
	{
		HASHCTL ctl = {.keysize = sizeof(uint64), .entrysize = sizeof(SeenFile)};

		seen = hash_create("bifang Parquet files", 64, &ctl, HASH_ELEM | HASH_BLOBS);
	}
	entry = hash_search(seen, &key, HASH_ENTER, &found);
	entry->rows = rows;
}

static bool
remembered_rows(const char *path, int64 size, int64 *rows)
{
	SeenFile *entry;
	uint64 key = seen_key(path, size);

	entry = seen == NULL ? NULL : hash_search(seen, &key, HASH_FIND, NULL);
	if (entry != NULL)
		*rows = entry->rows;
	return entry != NULL;
}

/* ---- locations ---- */

typedef struct DirFiles
{
	const char *dir;
	List *paths;
} DirFiles;

static BfStatus
add_parquet(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	DirFiles *d = arg;
	size_t n = strlen(name);

	(void) err;
	if (kind == BF_PATH_FILE && n > 8 && name[0] != '.' && name[0] != '_' &&
		strcmp(name + n - 8, ".parquet") == 0)
		d->paths = lappend(d->paths, psprintf("%s/%s", d->dir, name));
	return BF_OK;
}

static int
compare_paths(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* glob() allocates by malloc, hence the care about errors in between. */
static List *
expand_glob(const char *pattern)
{
	glob_t g;
	int rc = glob(pattern, GLOB_NOSORT, NULL, &g);
	char **copy = NULL;
	size_t n = rc == 0 ? g.gl_pathc : 0;
	List *paths = NIL;

	if (rc != 0 && rc != GLOB_NOMATCH)
		ereport(ERROR, (errcode(rc == GLOB_NOSPACE ? ERRCODE_OUT_OF_MEMORY : ERRCODE_IO_ERROR),
						errmsg("could not list files of location \"%s\"", pattern)));
	if (n > 0)
		copy = palloc_extended(n * sizeof *copy, MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE);
	for (size_t i = 0; copy != NULL && i < n; i++)
	{
		size_t len = strlen(g.gl_pathv[i]) + 1;

		copy[i] = palloc_extended(len, MCXT_ALLOC_NO_OOM);
		if (copy[i] == NULL)
			copy = NULL;
		else
			memcpy(copy[i], g.gl_pathv[i], len);
	}
	if (rc == 0)
		globfree(&g);
	if (n > 0 && copy == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	for (size_t i = 0; i < n; i++)
		paths = lappend(paths, copy[i]);
	list_sort(paths, compare_paths);
	return paths;
}

static BfPathKind
path_kind(const char *path)
{
	BfPathInfo info;
	BfError err;

	bf_error_clear(&err);
	BIFANG_CHECK(bifang_host()->stat(bifang_host(), path, &info, &err), &err);
	return info.kind;
}

/* A name that exists as it stands is no pattern, whatever characters it has. */
List *
bifang_expand_location(const char *location, BifangFormat format)
{
	BfPathKind kind = path_kind(location);
	List *paths;

	if (kind == BF_PATH_DIR && format == BIFANG_PARQUET)
	{
		DirFiles d = {location, NIL};
		BfError err;

		bf_error_clear(&err);
		BIFANG_CHECK(bifang_host()->list(bifang_host(), location, add_parquet, &d, &err), &err);
		paths = d.paths;
	}
	else if (kind != BF_PATH_MISSING)
		paths = list_make1(pstrdup(location));
	else
		paths = expand_glob(location);
	if (paths == NIL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FILE),
						errmsg(kind == BF_PATH_DIR ? "directory \"%s\" has no *.parquet files"
												   : "no file matches location \"%s\"",
							   location)));
	return paths;
}

const char *
bifang_metadata_path(const BifangOptions *o, Snapshot snap)
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

/* ---- units ---- */

static BifangUnit *
add_unit(BifangWorklist *w, int32 *room, BifangTier tier, const char *path)
{
	BifangUnit *u;

	if (w->n_units == *room)
	{
		*room = Max(*room * 2, 16);
		w->units = w->units == NULL ? palloc_extended((Size) *room * sizeof *u, MCXT_ALLOC_HUGE)
									: repalloc_huge(w->units, (Size) *room * sizeof *u);
	}
	u = &w->units[w->n_units++];
	memset(u, 0, sizeof *u);
	u->tier = tier;
	u->path = path;
	u->ledger_id = -1;
	u->offset_end = -1;
	return u;
}

static void
sum_units(BifangWorklist *w)
{
	for (int32 i = 0; i < w->n_units; i++)
	{
		const BifangUnit *u = &w->units[i];

		w->n_of_tier[u->tier]++;
		w->rows_of_tier[u->tier] += u->rows;
		w->rows += u->rows;
		w->bytes += u->bytes;
	}
}

/* ---- lake tables ---- */

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

static void
add_ledger(BifangWorklist *w, int32 *room, BfArena *a, const BfIcePlan *plan,
		   const BifangLedger *ledger)
{
	const BfRangeSet *covered = bf_coverage_of(&plan->covered, ledger->id);
	BfRange whole = {0, ledger->end_entry - 1};
	BfRangeSet entries = {0, NULL};
	BfRangeSet lake;
	BfRangeSet live;
	BfRangeSet all;
	BifangUnit *u;
	BfError err;

	bf_error_clear(&err);
	lake_ranges(a, plan, ledger->id, &lake, &err);
	if (ledger->end_entry > 0)
		BIFANG_CHECK(bf_rangeset_make(a, &whole, 1, &entries, &err), &err);
	BIFANG_CHECK(bf_rangeset_subtract(a, &entries, covered, &live, &err), &err);
	BIFANG_CHECK(bf_rangeset_union(a, &lake, &live, &all, &err), &err);
	if (all.n == 0)
		return;
	if (ledger->state == BIFANG_LEDGER_TRIMMED)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("ledger " INT64_FORMAT " is trimmed but Parquet files do not cover it",
						ledger->id)));
	if (ledger->state == BIFANG_LEDGER_OFFLOADED)
		u = add_unit(w, room, BIFANG_TIER_OFFLOAD, ledger->offload_path);
	else
		u = add_unit(w, room, BIFANG_TIER_LIVE, ledger->live_dir);
	u->ledger_id = ledger->id;
	u->ranges = all;
	u->rows = bf_rangeset_count(&all);
	w->live_rows += bf_rangeset_count(&live);
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
check_logical_files(const BifangWorklist *w, const BfIcePlan *plan, List *ledgers)
{
	int64 last = -1;

	for (int32 i = 0; i < plan->n_files; i++)
	{
		const BfIceDataFile *f = &plan->files[i];

		if (!f->logical || f->log.ledger_id == last)
			continue;
		last = f->log.ledger_id;
		if (!has_ledger(ledgers, last))
			ereport(ERROR, (errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
							errmsg("\"%s\" names rows of ledger " INT64_FORMAT
								   ", which this database does not have",
								   w->metadata_path, last),
							errhint("The table is written through another database.")));
	}
}

static void
add_lake(BifangWorklist *w, const BifangOptions *o, Snapshot snap)
{
	const BifangLake *lake;
	BfArena *a;
	List *ledgers = NIL;
	ListCell *lc;
	int32 room = 0;

	w->exact = true;
	w->metadata_path = bifang_metadata_path(o, snap);
	if (w->metadata_path == NULL && o->location != NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
						errmsg("there is no Iceberg table at \"%s\"", o->location)));
	if (w->metadata_path == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
						errmsg("lake table \"%s.%s\" does not exist in catalog \"%s\"",
							   o->ns == NULL ? "" : o->ns, o->table == NULL ? "" : o->table,
							   o->catalog_name)));
	lake = bifang_lake_open(CurrentMemoryContext, w->metadata_path);
	w->schema = lake->table->schema;
	w->snapshot_id = lake->plan->snapshot_id;
	w->bifang_snapshot_id = lake->plan->bifang_snapshot_id;
	for (int32 i = 0; i < lake->plan->n_files; i++)
	{
		const BfIceDataFile *f = &lake->plan->files[i];
		BifangUnit *u;

		if (f->logical)
			continue;
		u = add_unit(w, &room, BIFANG_TIER_PARQUET, f->path);
		u->constants = (BfConstants){f->n_constants, f->constant_ids, f->constants};
		u->rows = f->record_count;
		u->bytes = f->file_size;
	}
	if (lake->table->metadata->uuid[0] != '\0')
		ledgers = bifang_catalog_ledgers(lake->table->metadata->uuid, snap);
	check_logical_files(w, lake->plan, ledgers);
	a = bifang_arena(CurrentMemoryContext, "ranges", BIFANG_ARENA_MAX_METADATA);
	foreach (lc, ledgers)
		add_ledger(w, &room, a, lake->plan, lfirst(lc));
}

/* ---- plain files ---- */

static void
add_parquet_files(BifangWorklist *w, const BifangOptions *o)
{
	ListCell *lc;
	int32 room = 0;

	foreach (lc, bifang_expand_location(o->location, BIFANG_PARQUET))
	{
		BifangUnit *u = add_unit(w, &room, BIFANG_TIER_PARQUET, lfirst(lc));
		struct stat st;

		if (stat(u->path, &st) != 0)
			ereport(ERROR,
					(errcode_for_file_access(), errmsg("could not stat \"%s\": %m", u->path)));
		u->bytes = st.st_size;
		if (!remembered_rows(u->path, u->bytes, &u->rows))
			u->rows = u->bytes / PARQUET_ROW_BYTES + 1;
	}
}

/* A partition's segments by name and size: what can be said without opening one. */
typedef struct Segments
{
	const char *dir;
	int64 first; /* base offset of the first segment; -1 = none */
	int64 last;	 /* of the last one */
	int64 bytes; /* of all */
	int64 last_bytes;
} Segments;

static BfStatus
add_segment(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	Segments *s = arg;
	struct stat st;
	char path[MAXPGPATH * 2];

	(void) err;
	if (kind != BF_PATH_FILE || strlen(name) != 24 || strspn(name, "0123456789") != 20 ||
		strcmp(name + 20, ".log") != 0)
		return BF_OK;
	snprintf(path, sizeof path, "%s/%s", s->dir, name);
	if (stat(path, &st) != 0)
		return BF_OK; /* retention was faster */
	s->last = strtoll(name, NULL, 10);
	if (s->first < 0)
		s->first = s->last;
	s->last_bytes =
		st.st_blocks * INT64CONST(512) < st.st_size ? st.st_blocks * INT64CONST(512) : st.st_size;
	s->bytes += s->last_bytes;
	return BF_OK;
}

bool
bifang_kafka_partition(const char *path, char **topic, int32 *partition)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;
	const char *end;

	if (path_kind(path) != BF_PATH_DIR || !bf_kafka_dir_name(name, &end, partition))
		return false;
	*topic = pnstrdup(name, (Size) (end - name));
	return true;
}

static void
add_kafka_partitions(BifangWorklist *w, const BifangOptions *o)
{
	const char *topic = o->topic;
	ListCell *lc;
	int32 room = 0;

	foreach (lc, bifang_expand_location(o->location, BIFANG_KAFKA_LOG))
	{
		const char *path = lfirst(lc);
		char *found;
		int32 partition;
		Segments s = {path, -1, -1, 0, 0};
		BifangUnit *u;
		BfError err;

		if (!bifang_kafka_partition(path, &found, &partition) ||
			(o->topic != NULL && strcmp(found, o->topic) != 0))
			continue;
		if (topic == NULL)
			topic = found;
		if (strcmp(found, topic) != 0)
			ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
							errmsg("location \"%s\" names partitions of topics \"%s\" and \"%s\"",
								   o->location, topic, found),
							errhint("Choose one with option \"topic\".")));
		u = add_unit(w, &room, BIFANG_TIER_KAFKA, path);
		u->partition = partition;
		bf_error_clear(&err);
		BIFANG_CHECK(bifang_host()->list(bifang_host(), path, add_segment, &s, &err), &err);
		u->bytes = s.bytes;
		u->rows = s.first < 0 ? 0 : s.last - s.first + s.last_bytes / KAFKA_RECORD_BYTES + 1;
	}
	if (w->n_units == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg(o->topic == NULL ? "location \"%s\" names no partition directory"
										 : "location \"%s\" names no partition of topic \"%s\"",
						o->location, o->topic),
				 errhint("Directories of a Kafka broker are called <topic>-<partition>.")));
}

BifangWorklist *
bifang_worklist(MemoryContext cxt, const BifangOptions *o, Snapshot snap)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);
	BifangWorklist *w = palloc0(sizeof *w);

	w->format = o->format;
	w->snapshot_id = -1;
	w->bifang_snapshot_id = -1;
	switch (o->format)
	{
		case BIFANG_ICEBERG: add_lake(w, o, snap); break;
		case BIFANG_PARQUET: add_parquet_files(w, o); break;
		case BIFANG_KAFKA_LOG: add_kafka_partitions(w, o); break;
	}
	sum_units(w);
	MemoryContextSwitchTo(old);
	return w;
}
