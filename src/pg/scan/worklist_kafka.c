/*
 * pg/scan/worklist_kafka.c: partition directories of a Kafka broker, by what their listing tells.
 */
#include "pg/scan/worklist_internal.h"

#include <sys/stat.h>

#include "exec/read/kafka_reader.h"
#include "pg/push/pushdown.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

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
	int64 base;
	struct stat st;
	char path[MAXPGPATH * 2];

	(void) err;
	if (kind != BF_PATH_FILE || strspn(name, "0123456789") != 20 ||
		(strcmp(name + 20, ".log") != 0 && strcmp(name + 20, ".log.swap") != 0))
		return BF_OK;
	snprintf(path, sizeof path, "%s/%s", s->dir, name);
	if (stat(path, &st) != 0)
		return BF_OK; /* retention was faster */
	base = strtoll(name, NULL, 10);
	s->last = Max(s->last, base);
	s->first = s->first < 0 ? base : Min(s->first, base);
	/* A merged segment that counts stands for those that are gone already. */
	if (strlen(name) != 24)
		return BF_OK;
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

	if (bifang_path_kind(path) != BF_PATH_DIR || !bf_kafka_dir_name(name, &end, partition))
		return false;
	*topic = pnstrdup(name, (Size) (end - name));
	return true;
}

void
bifang_worklist_open_kafka(BifangWorklist *w, const BifangOptions *o)
{
	List *paths = bifang_pinned_location(o->location, BIFANG_KAFKA_LOG, w->snap);
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
		f->offset_start = s.first;
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

/* Pieces of the last unit. That no transaction is open before them is looked after by the one that
 * has the start of the last range: what is before the others is read by their neighbours. */
static void
cut_partition(BifangUnits *us)
{
	BifangWorklist *w = us->w;
	int32 first = w->n_units - 1;
	const BfRangeSet *all = &w->units[first].ranges;
	int64 start = all->ranges[all->n - 1].first;

	bifang_unit_cut_ranges(us);
	for (int32 i = first; i < w->n_units; i++)
		w->units[i].none_open_before = !bf_rangeset_contains(&w->units[i].ranges, start);
}

void
bifang_worklist_plan_kafka(BifangUnits *us)
{
	static BfRange all = {0, BF_ENTRY_MAX};
	BifangWorklist *w = us->w;

	for (int32 i = 0; i < w->n_files; i++)
	{
		BifangFile *f = &w->files[i];
		BifangUnit *u = bifang_unit_add(us, BIFANG_TIER_KAFKA, f->path);
		BfRange there = {Max(f->offset_start, 0), f->offset_end - 1};
		BfRangeSet known = {there.first <= there.last, &there};
		int64 low;
		int64 high;
		BfError err;

		u->plain = f;
		u->rows = f->rows;
		u->bytes = f->bytes;
		u->ranges = (BfRangeSet){1, &all};
		if (us->pred != NULL)
			bifang_unit_ranges(w, u, us->arena, us->pred, BF_KAFKA_OFFSET, &u->ranges);
		if (us->pred != NULL && !bifang_unit_hull(w, u, us->pred, BF_KAFKA_TIMESTAMP, &low, &high))
			u->ranges.n = 0;
		/* Once the end is fixed; before, nothing is cut. */
		bf_error_clear(&err);
		if (f->offset_end >= 0)
			BIFANG_CHECK(bf_rangeset_intersect(us->arena, &u->ranges, &known, &u->ranges, &err),
						 &err);
		if (u->ranges.n == 0)
			bifang_unit_drop(us);
		else if (bifang_unit_keep(us) && f->offset_end >= 0)
			cut_partition(us);
	}
}
