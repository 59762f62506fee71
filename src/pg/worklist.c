/*
 * pg/worklist.c: what a scan has to read; see worklist.h.
 */
#include "pg/worklist.h"

#include <glob.h>
#include <sys/stat.h>

#include "common/hashfn.h"
#include "datatype/timestamp.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "exec/kafka_reader.h"
#include "pg/catalog.h"
#include "pg/columns.h"
#include "pg/error.h"
#include "pg/host.h"
#include "pg/lakecache.h"
#include "pg/module.h"
#include "pg/pushdown.h"

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

/* ---- facts about rows ---- */

BfType
bifang_meta_type(BifangMeta meta)
{
	switch (meta)
	{
		case BIFANG_META_TIMESTAMP: return BF_TYPE(TIMESTAMPTZ);
		case BIFANG_META_TIER:
		case BIFANG_META_FILE: return BF_TYPE(STRING);
		default: return BF_TYPE(INT64);
	}
}

static int32
n_fields(const BifangWorklist *w)
{
	switch (w->format)
	{
		case BIFANG_ICEBERG: return w->schema->n_fields;
		case BIFANG_KAFKA_LOG: return BF_KAFKA_COLUMNS;
		case BIFANG_PARQUET: break;
	}
	return 0;
}

typedef struct Facts
{
	const BifangWorklist *w;
	const BifangUnit *unit;
} Facts;

static void
set_number(BfColumnStats *stats, int64 min, int64 max)
{
	stats->has_min = stats->has_max = true;
	stats->min = (BfValue){.type = BF_TYPE(INT64), .v.i64 = min};
	stats->max = (BfValue){.type = BF_TYPE(INT64), .v.i64 = max};
	stats->null_count = 0;
}

static void
set_text(BfColumnStats *stats, const char *text)
{
	BfView view = {(const uint8 *) text, (uint32) strlen(text)};

	stats->has_min = stats->has_max = true;
	stats->min = stats->max = (BfValue){.type = BF_TYPE(STRING), .v.view = view};
	stats->null_count = 0;
}

/* What is known of a unit's rows before it is opened. */
static bool
facts_of(void *arg, int32 field, BfColumnStats *stats)
{
	const Facts *f = arg;
	const BifangUnit *u = f->unit;
	bool ledger = u->ledger_id >= 0;

	stats->known = true;
	stats->row_count = 1; /* of all rows alike */
	if (f->w->format == BIFANG_KAFKA_LOG && field == BF_KAFKA_PARTITION)
	{
		set_number(stats, u->plain->partition, u->plain->partition);
		stats->min.type = stats->max.type = BF_TYPE(INT32);
		stats->min.v.i32 = stats->max.v.i32 = u->plain->partition;
		return true;
	}
	switch ((BifangMeta) (field - n_fields(f->w)))
	{
		case BIFANG_META_TIER: set_text(stats, bifang_tier_name(u->tier)); return true;
		case BIFANG_META_FILE: set_text(stats, u->path); return true;
		case BIFANG_META_LEDGER:
			if (ledger)
				set_number(stats, u->ledger_id, u->ledger_id);
			else
				stats->null_count = 1;
			return true;
		case BIFANG_META_ENTRY:
			if (u->tier == BIFANG_TIER_PARQUET)
				stats->null_count = 1;
			else if (ledger)
				set_number(stats, u->ranges.ranges[0].first,
						   u->ranges.ranges[u->ranges.n - 1].last);
			else
				return false;
			return true;
		case BIFANG_META_TIMESTAMP:
			if (u->tier != BIFANG_TIER_PARQUET)
				return false;
			stats->null_count = 1;
			return true;
		case BIFANG_META_POS:
			if (ledger || u->tier == BIFANG_TIER_KAFKA)
				stats->null_count = 1;
			else if (u->file != NULL)
				set_number(stats, 0, u->file->record_count);
			else
				return false;
			return true;
		default: return false;
	}
}

static void
need_arena(const BfArena *a, const void *p)
{
	BfError err;

	if (p != NULL)
		return;
	bf_error_clear(&err);
	(void) bf_arena_fail(a, 0, &err);
	bifang_report(&err);
}

const BfPred *
bifang_pred_of_fields(BfArena *a, const BfPred *pred, int32 n)
{
	BfPred *copy;

	if (pred == NULL || (pred->n_children == 0 && pred->field < n))
		return pred;
	copy = bf_arena_memdup(a, pred, sizeof *pred);
	need_arena(a, copy);
	if (pred->field >= n)
	{
		*copy = (BfPred){.kind = BF_PRED_UNKNOWN, .field = -1};
		return copy;
	}
	copy->children = bf_arena_alloc_array(a, (size_t) pred->n_children, sizeof *copy->children);
	need_arena(a, copy->children);
	for (int32 i = 0; i < pred->n_children; i++)
		copy->children[i] = unconstify(BfPred *, bifang_pred_of_fields(a, pred->children[i], n));
	return copy;
}

/* ---- units ---- */

typedef struct Units
{
	BifangWorklist *w;
	BfArena *arena;
	const BfPred *pred;
	bool cut;
	int32 room;
} Units;

/* Pieces that keep a process busy for some tenths of a second. */
#define PIECE_BYTES (32 * 1024 * 1024)
#define PIECE_ENTRIES 1000000
#define PIECES_MAX 1024

static BifangUnit *
add_unit(Units *us, BifangTier tier, const char *path)
{
	BifangWorklist *w = us->w;
	BifangUnit *u;

	if (w->n_units == us->room)
	{
		us->room = Max(us->room * 2, 16);
		w->units = w->units == NULL ? palloc_extended((Size) us->room * sizeof *u, MCXT_ALLOC_HUGE)
									: repalloc_huge(w->units, (Size) us->room * sizeof *u);
	}
	u = &w->units[w->n_units++];
	memset(u, 0, sizeof *u);
	u->tier = tier;
	u->path = path;
	u->ledger_id = -1;
	u->pieces = 1;
	return u;
}

/* The last unit, once it is complete: counted and kept, or taken back. */
static bool
keep_unit(Units *us)
{
	BifangWorklist *w = us->w;
	BifangUnit *u = &w->units[w->n_units - 1];
	Facts f = {w, u};

	if (us->pred != NULL && !bf_pred_may_match(us->pred, facts_of, &f))
	{
		w->units_pruned++;
		w->n_units--;
		return false;
	}
	w->n_of_tier[u->tier]++;
	w->rows_of_tier[u->tier] += u->rows;
	w->rows += u->rows;
	w->bytes += u->bytes;
	return true;
}

/* Copies of the last unit for all pieces of its file. */
static void
cut_file(Units *us)
{
	BifangUnit whole = us->w->units[us->w->n_units - 1];
	int64 n = us->cut ? Min(whole.bytes / PIECE_BYTES + 1, PIECES_MAX) : 1;

	us->w->units[us->w->n_units - 1].pieces = (int32) n;
	for (int32 i = 1; i < n; i++)
	{
		BifangUnit *u = add_unit(us, whole.tier, whole.path);

		*u = whole;
		u->piece = i;
		u->pieces = (int32) n;
	}
}

/* The last unit's ranges, so many entries to a unit. */
static void
cut_ranges(Units *us)
{
	BifangUnit whole = us->w->units[us->w->n_units - 1];
	BfRange *piece;
	int32 n = 0;
	int64 count = 0;

	if (!us->cut || whole.rows <= PIECE_ENTRIES)
		return;
	us->w->n_units--;
	piece = palloc((Size) whole.ranges.n * sizeof *piece);
	for (int32 i = 0; i < whole.ranges.n; i++)
	{
		int64 first = whole.ranges.ranges[i].first;
		int64 last = whole.ranges.ranges[i].last;

		while (first <= last)
		{
			int64 end = Min(last, first + (PIECE_ENTRIES - count) - 1);

			piece[n++] = (BfRange){first, end};
			count += end - first + 1;
			first = end + 1;
			if (count == PIECE_ENTRIES || (i == whole.ranges.n - 1 && first > last))
			{
				BifangUnit *u = add_unit(us, whole.tier, whole.path);

				*u = whole;
				u->ranges.n = n;
				u->ranges.ranges = palloc((Size) n * sizeof *piece);
				memcpy(u->ranges.ranges, piece, (size_t) n * sizeof *piece);
				u->rows = count;
				n = 0;
				count = 0;
			}
		}
	}
	pfree(piece);
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

/* Entries that a predicate on the fact `entry` lets through. */
static void
cut_entries(Units *us, BfRangeSet *set, BfError *err)
{
	BfRange wanted = {0, PG_INT64_MAX - 1};
	BfRangeSet all;

	if (us->pred == NULL)
		return;
	if (!bifang_pred_hull(us->pred, BIFANG_META_FIELD(n_fields(us->w), BIFANG_META_ENTRY),
						  &wanted.first, &wanted.last))
	{
		set->n = 0;
		return;
	}
	wanted.first = Max(wanted.first, 0);
	wanted.last = Min(wanted.last, PG_INT64_MAX - 1);
	if (wanted.first > wanted.last)
	{
		set->n = 0;
		return;
	}
	if (wanted.first == 0 && wanted.last == PG_INT64_MAX - 1)
		return;
	BIFANG_CHECK(bf_rangeset_make(us->arena, &wanted, 1, &all, err), err);
	BIFANG_CHECK(bf_rangeset_intersect(us->arena, set, &all, set, err), err);
}

static void
add_ledger(Units *us, const BifangLedger *ledger)
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
	cut_entries(us, &all, &err);
	if (all.n == 0)
	{
		w->units_pruned++;
		return;
	}
	if (ledger->state == BIFANG_LEDGER_OFFLOADED)
		u = add_unit(us, BIFANG_TIER_OFFLOAD, ledger->offload_path);
	else
		u = add_unit(us, BIFANG_TIER_LIVE, ledger->live_dir);
	u->ledger_id = ledger->id;
	u->ranges = all;
	u->rows = bf_rangeset_count(&all);
	if (keep_unit(us))
		cut_ranges(us);
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

/* The point in the table's history that options or settings name. */
static BfIceAt
wanted_point(const BifangOptions *o)
{
	const char *snapshot = o->as_of_snapshot;
	const char *timestamp = o->as_of_timestamp;
	BfIceAt at = {.kind = BF_ICE_AT_CURRENT};

	if (snapshot == NULL && timestamp == NULL && o->ref == NULL)
	{
		snapshot = bifang_as_of_snapshot[0] == '\0' ? NULL : bifang_as_of_snapshot;
		timestamp = bifang_as_of_timestamp[0] == '\0' ? NULL : bifang_as_of_timestamp;
		if (snapshot != NULL && timestamp != NULL)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("both bifang.as_of_snapshot and bifang.as_of_timestamp are "
								   "set")));
	}
	if (o->ref != NULL)
	{
		at.kind = BF_ICE_AT_REF;
		at.ref = o->ref;
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

		if (!TIMESTAMP_NOT_FINITE(t))
		{
			at.kind = BF_ICE_AT_TIME;
			at.time_ms = t / 1000 - (t % 1000 < 0) +
						 (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000;
		}
	}
	return at;
}

static void
open_lake(BifangWorklist *w, const BifangOptions *o, Snapshot snap)
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

static void
plan_lake(Units *us, uint32 prune)
{
	BifangWorklist *w = us->w;
	BfIceScan scan = {.point = w->point,
					  .prune = prune,
					  .cache = bifang_manifest_cache(),
					  .coverage = w->current && w->ledgers != NIL};
	BfIcePlan *plan;
	BfError err;
	ListCell *lc;

	scan.pred = bifang_pred_of_fields(us->arena, us->pred, w->point.schema->n_fields);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_ice_plan_scan(us->arena, w->table, &scan, &plan, &err), &err);
	w->plan = plan;
	w->exact = !plan->has_deletes;
	for (int32 i = 0; i < plan->n_files; i++)
	{
		const BfIceDataFile *f = &plan->files[i];
		BifangUnit *u;

		if (f->logical)
			continue;
		u = add_unit(us, BIFANG_TIER_PARQUET, f->path);
		u->file = f;
		u->rows = f->record_count;
		u->bytes = f->file_size;
		if (keep_unit(us) && f->format == BF_ICE_FORMAT_PARQUET)
			cut_file(us);
	}
	check_logical_files(w);
	foreach (lc, w->ledgers)
		add_ledger(us, lfirst(lc));
}

/* ---- plain files ---- */

static void
open_parquet_files(BifangWorklist *w, const BifangOptions *o)
{
	List *paths = bifang_expand_location(o->location, BIFANG_PARQUET);
	ListCell *lc;

	w->files = palloc_extended((Size) list_length(paths) * sizeof *w->files,
							   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	foreach (lc, paths)
	{
		BifangFile *f = &w->files[w->n_files++];
		struct stat st;

		f->path = lfirst(lc);
		if (stat(f->path, &st) != 0)
			ereport(ERROR,
					(errcode_for_file_access(), errmsg("could not stat \"%s\": %m", f->path)));
		f->bytes = st.st_size;
		if (!remembered_rows(f->path, f->bytes, &f->rows))
			f->rows = f->bytes / PARQUET_ROW_BYTES + 1;
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
open_kafka_partitions(BifangWorklist *w, const BifangOptions *o)
{
	List *paths = bifang_expand_location(o->location, BIFANG_KAFKA_LOG);
	const char *topic = o->topic;
	ListCell *lc;

	w->files = palloc_extended((Size) list_length(paths) * sizeof *w->files,
							   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	foreach (lc, paths)
	{
		const char *path = lfirst(lc);
		char *found;
		int32 partition;
		Segments s = {path, -1, -1, 0, 0};
		BifangFile *f;
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
		f = &w->files[w->n_files++];
		f->path = path;
		f->partition = partition;
		f->offset_end = -1;
		bf_error_clear(&err);
		BIFANG_CHECK(bifang_host()->list(bifang_host(), path, add_segment, &s, &err), &err);
		f->bytes = s.bytes;
		f->rows = s.first < 0 ? 0 : s.last - s.first + s.last_bytes / KAFKA_RECORD_BYTES + 1;
	}
	if (w->n_files == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg(o->topic == NULL ? "location \"%s\" names no partition directory"
										 : "location \"%s\" names no partition of topic \"%s\"",
						o->location, o->topic),
				 errhint("Directories of a Kafka broker are called <topic>-<partition>.")));
}

/* A predicate that no offset of a log satisfies, or no time. */
static bool
kafka_hopeless(const BfPred *pred)
{
	int64 low;
	int64 high;

	return pred != NULL &&
		   (!bifang_pred_hull(pred, BF_KAFKA_OFFSET, &low, &high) || high < 0 || low > high ||
			!bifang_pred_hull(pred, BF_KAFKA_TIMESTAMP, &low, &high) || low > high);
}

static void
plan_files(Units *us)
{
	BifangWorklist *w = us->w;
	bool kafka = w->format == BIFANG_KAFKA_LOG;

	if (kafka && kafka_hopeless(us->pred))
	{
		w->units_pruned = w->n_files;
		return;
	}
	for (int32 i = 0; i < w->n_files; i++)
	{
		BifangFile *f = &w->files[i];
		BifangUnit *u = add_unit(us, kafka ? BIFANG_TIER_KAFKA : BIFANG_TIER_PARQUET, f->path);

		u->plain = f;
		u->rows = f->rows;
		u->bytes = f->bytes;
		if (keep_unit(us) && !kafka)
			cut_file(us);
	}
}

/* ---- all ---- */

BifangWorklist *
bifang_worklist_open(MemoryContext cxt, const BifangOptions *o, Snapshot snap)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);
	BifangWorklist *w = palloc0(sizeof *w);

	w->format = o->format;
	w->cxt = cxt;
	switch (o->format)
	{
		case BIFANG_ICEBERG: open_lake(w, o, snap); break;
		case BIFANG_PARQUET: open_parquet_files(w, o); break;
		case BIFANG_KAFKA_LOG: open_kafka_partitions(w, o); break;
	}
	MemoryContextSwitchTo(old);
	return w;
}

void
bifang_worklist_plan(BifangWorklist *w, const BfPred *pred, uint32 prune, bool cut)
{
	Units us = {.w = w, .pred = pred, .cut = cut};
	MemoryContext old;

	if (w->plan_cxt != NULL)
		MemoryContextDelete(w->plan_cxt);
	w->plan_cxt = AllocSetContextCreate(w->cxt, "bifang plan", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(w->plan_cxt);
	us.arena = bifang_arena(w->plan_cxt, "plan", BIFANG_ARENA_MAX_METADATA);
	w->plan = NULL;
	w->units = NULL;
	w->n_units = 0;
	w->units_pruned = 0;
	w->rows = w->bytes = w->live_rows = 0;
	memset(w->n_of_tier, 0, sizeof w->n_of_tier);
	memset(w->rows_of_tier, 0, sizeof w->rows_of_tier);
	if (w->format == BIFANG_ICEBERG)
		plan_lake(&us, prune);
	else
		plan_files(&us);
	MemoryContextSwitchTo(old);
}

BifangWorklist *
bifang_worklist(MemoryContext cxt, const BifangOptions *o, Snapshot snap)
{
	BifangWorklist *w = bifang_worklist_open(cxt, o, snap);

	bifang_worklist_plan(w, NULL, 0, false);
	return w;
}
