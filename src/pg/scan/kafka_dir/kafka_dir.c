/*
 * pg/scan/kafka_dir/kafka_dir.c: partition directories of a Kafka broker as a kind; see
 * kafka_dir.h.
 */
#include "pg/scan/kafka_dir/kafka_dir.h"

#include <sys/stat.h>

#include "exec/read/kafka_dir.h"
#include "exec/read/kafka_reader.h"
#include "log/segment.h"
#include "pg/scan/kafka_dir/internal.h"
#include "pg/scan/location.h"
#include "pg/scan/unit.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/pins.h"
#include "pg/server/settings.h"

/* A guess. */
#define KAFKA_RECORD_BYTES 100

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
	const char *suffix;
	int64_t base;
	struct stat st;
	char path[MAXPGPATH * 2];

	(void) err;
	if (kind != BF_PATH_FILE || !bf_segment_name(name, &base, &suffix) ||
		(strcmp(suffix, ".log") != 0 && strcmp(suffix, ".log.swap") != 0))
		return BF_OK;
	snprintf(path, sizeof path, "%s/%s", s->dir, name);
	if (stat(path, &st) != 0)
		return BF_OK; /* retention was faster */
	s->last = Max(s->last, base);
	s->first = s->first < 0 ? base : Min(s->first, base);
	/* A merged segment that counts stands for those that are gone already. */
	if (strcmp(suffix, ".log") != 0)
		return BF_OK;
	s->last_bytes =
		st.st_blocks * INT64CONST(512) < st.st_size ? st.st_blocks * INT64CONST(512) : st.st_size;
	s->bytes += s->last_bytes;
	return BF_OK;
}

bool
bifang_kafka_dir_partition(const char *path, char **topic, int32 *partition)
{
	const char *name = bifang_base_name(path);
	const char *end;

	if (bifang_path_kind(path) != BF_PATH_DIR || !bf_kafka_dir_name(name, &end, partition))
		return false;
	*topic = pnstrdup(name, (Size) (end - name));
	return true;
}

static void
open_kafka_dir(BifangWorklist *w, const BifangOptions *o)
{
	List *paths = bifang_pinned_location(o->location, NULL, o->format->name, w->snap);
	BfScanPins *pins = w->pins;
	const char *topic = o->topic;
	ListCell *lc;

	pins->sources =
		palloc_extended((Size) list_length(paths) * sizeof *pins->sources, MCXT_ALLOC_HUGE);
	foreach (lc, paths)
	{
		const char *path = lfirst(lc);
		char *found;
		int32 partition;
		Segments s = {path, -1, -1, 0, 0};
		BfScanSource *f;
		BfError err;

		if (!bifang_kafka_dir_partition(path, &found, &partition) ||
			(o->topic != NULL && strcmp(found, o->topic) != 0))
			continue;
		if (topic == NULL)
			topic = found;
		if (strcmp(found, topic) != 0)
			ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
							errmsg("location \"%s\" names partitions of topics \"%s\" and \"%s\"",
								   o->location, topic, found),
							errhint("Choose one with option \"topic\".")));
		f = &pins->sources[pins->n_sources++];
		*f = (BfScanSource){.path = path, .partition = partition, .offset_end = -1};
		bf_error_clear(&err);
		BIFANG_CHECK(bifang_host()->list(bifang_host(), path, add_segment, &s, &err), &err);
		f->offset_start = s.first;
		f->bytes = s.bytes;
		f->rows = s.first < 0 ? 0
							  : Min(s.last - s.first, PG_INT64_MAX / 2) +
									s.last_bytes / KAFKA_RECORD_BYTES + 1;
	}
	if (pins->n_sources == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg(o->topic == NULL ? "location \"%s\" names no partition directory"
										 : "location \"%s\" names no partition of topic \"%s\"",
						o->location, o->topic),
				 errhint("Directories of a Kafka broker are called <topic>-<partition>.")));
}

/* ---- ends ---- */

/* A number that the first scan of the snapshot found. */
static bool
pinned(const BifangWorklist *w, const char *what, const BfScanSource *f, int64 *out)
{
	char *key = psprintf("%s %s", what, f->path);
	Size n;
	const char *pin = bifang_pin_get(w->snap, key, &n);

	if (pin != NULL)
		memcpy(out, pin, sizeof *out);
	pfree(key);
	return pin != NULL;
}

static void
pin(const BifangWorklist *w, const char *what, const BfScanSource *f, int64 n)
{
	char *key = psprintf("%s %s", what, f->path);

	bifang_pin_put(w->snap, key, (const char *) &n, sizeof n);
	pfree(key);
}

/* Of two tables over one log, one with and one without what is not committed, neither sees past the
 * end that the other has found. */
void
bifang_kafka_dir_fix_end(const BifangWorklist *w, const BifangOptions *o, BfScanSource *f,
						 BfIoCounters *io)
{
	bool committed = o->isolation == BIFANG_READ_COMMITTED;
	BfArena *a;
	BfLogDir *dir;
	BfLogCounters counters = {0};
	int64 start;
	int64 end;
	int64 stable;
	BfError err;

	if (pinned(w, committed ? "stable" : "end", f, &f->offset_end))
		return;
	a = bifang_arena(w->cxt, "log end", BIFANG_ARENA_MAX_SCAN);
	if (io != NULL)
		counters.io = *io;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_log_dir_open(a, f->path, &counters, &dir, &err), &err);
	if (!bifang_enable_header_walk)
		bf_log_dir_check_all(dir);
	if (!pinned(w, "end", f, &end))
	{
		BIFANG_CHECK(bf_log_dir_bounds(dir, &start, &end, &err), &err);
		pin(w, "end", f, end);
	}
	if (committed)
	{
		BIFANG_CHECK(bf_log_dir_stable_offset(dir, &stable, &err), &err);
		end = Min(end, stable);
		pin(w, "stable", f, end);
	}
	Assert(end >= 0);
	f->offset_end = end;
	bifang_arena_free(a);
	if (io != NULL)
		*io = counters.io;
}

static void
fix_ends(BifangWorklist *w, const BifangOptions *o)
{
	for (int32 i = 0; i < w->pins->n_sources; i++)
		if (w->pins->sources[i].offset_end < 0)
			bifang_kafka_dir_fix_end(w, o, &w->pins->sources[i], NULL);
}

/* ---- the kind ---- */

static void
plan_partitions(BifangWorklist *w, uint32 prune)
{
	BfError err;

	(void) prune;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_scan_plan_partitions(&w->list, w->pins, &err), &err);
}

static int32
column(const BifangWorklist *w, const char *relname, int32 field_id, const char *name)
{
	(void) relname;
	(void) field_id;
	return bifang_scan_fixed_column(w->schema, "a Kafka log", name);
}

static bool
searches(const char *name)
{
	int32 found = bf_schema_find_name(&bf_kafka_schema, name);

	return found >= 0 && bf_kafka_searchable((BfKafkaColumn) found);
}

const BifangKind bifang_kind_kafka_dir = {
	.format = {.name = "kafka_log",
			   .is = "partition directories of a Kafka broker",
			   .location = "partition directory or glob",
			   .log = true,
			   .needs_location = true},
	.tiers = bf_scan_kafka_tiers,
	.schema = &bf_kafka_schema,
	.open = open_kafka_dir,
	.fix = fix_ends,
	.plan = plan_partitions,
	.field_stats = bf_scan_partition_stats,
	.column = column,
	.open_unit = bifang_kafka_dir_open_unit,
	.searches = searches,
	.import = bifang_kafka_dir_import,
};
