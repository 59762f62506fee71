/*
 * pg/scan/scan_kafka.c: which part of a Kafka partition a scan reads, and its reader.
 */
#include "pg/scan/internal.h"

#include "exec/read/kafka_reader.h"
#include "pg/server/error.h"
#include "pg/server/host.h"
#include "pg/server/pins.h"

/* A number that the first scan of the snapshot found. */
static bool
pinned(const BifangScan *s, const char *what, const BifangFile *f, int64 *out)
{
	char *key = psprintf("%s %s", what, f->path);
	Size n;
	const char *pin = bifang_pin_get(s->work->snap, key, &n);

	if (pin != NULL)
		memcpy(out, pin, sizeof *out);
	pfree(key);
	return pin != NULL;
}

static void
pin(const BifangScan *s, const char *what, const BifangFile *f, int64 n)
{
	char *key = psprintf("%s %s", what, f->path);

	bifang_pin_put(s->work->snap, key, (const char *) &n, sizeof n);
	pfree(key);
}

/* Of two tables over one log, one with and one without what is not committed, neither sees past the
 * end that the other has found. */
void
bifang_scan_fix_end(BifangScan *s, BifangFile *f)
{
	bool committed = s->options.isolation == BIFANG_READ_COMMITTED;
	BfArena *a;
	BfLogDir *dir;
	int64 start;
	int64 end;
	int64 stable;
	BfError err;

	if (pinned(s, committed ? "stable" : "end", f, &f->offset_end))
		return;
	a = bifang_arena(s->cxt, "log end", BIFANG_ARENA_MAX_SCAN);
	bf_error_clear(&err);
	BIFANG_CHECK(bf_log_dir_open(a, f->path, NULL, &dir, &err), &err);
	if (!pinned(s, "end", f, &end))
	{
		BIFANG_CHECK(bf_log_dir_bounds(dir, &start, &end, &err), &err);
		pin(s, "end", f, end);
	}
	if (committed)
	{
		BIFANG_CHECK(bf_log_dir_stable_offset(dir, &stable, &err), &err);
		end = Min(end, stable);
		pin(s, "stable", f, end);
	}
	f->offset_end = end;
	bifang_arena_free(a);
}

/* The part of the log that the predicate leaves. */
static BfKafkaRange
kafka_range(BifangScan *s, BifangUnit *u)
{
	BfKafkaRange r = {.offset_end = u->plain->offset_end,
					  .time_first_ms = PG_INT64_MIN,
					  .time_last_ms = PG_INT64_MAX,
					  .offsets = &u->ranges,
					  .none_open_before = u->none_open_before,
					  .time_or_null = s->options.out_of_range == BIFANG_RANGE_NULL};
	int64 low;
	int64 high;

	if (s->pred == NULL)
		return r;
	/* Planning has left out units without any time. */
	(void) bifang_unit_hull(s->work, u, s->pred, BF_KAFKA_TIMESTAMP, &low, &high);
	if (low > PG_INT64_MIN)
		r.time_first_ms = low / 1000 + (low % 1000 > 0);
	if (high < PG_INT64_MAX)
		r.time_last_ms = high / 1000 - (high % 1000 < 0);
	return r;
}

void
bifang_scan_open_kafka(BifangScan *s, BfArena *a, BifangUnit *u)
{
	static const BfSchema schema = {.n_fields = BF_KAFKA_COLUMNS,
									.fields = (BfField *) bifang_kafka_fields};
	BfProjection wanted = {
		.schema = &schema, .fields = s->vector_numbers, .n_fields = s->n_vectors};
	BfFilter *f;
	const BfProjection *p;
	BfKafkaColumn *columns;
	BfKafkaRange range;
	BfReader *log;
	BfError err;

	if (u->plain->offset_end < 0)
		bifang_scan_fix_end(s, u->plain);
	range = kafka_range(s, u);
	f = bifang_scan_filter(s, a, &wanted, BF_KAFKA_COLUMNS, NULL);
	p = bf_filter_projection(f);
	columns = palloc0((Size) (p->n_fields + 1) * sizeof *columns);
	for (int32 i = 0; i < p->n_fields; i++)
		columns[i] = (BfKafkaColumn) p->fields[i];
	bf_error_clear(&err);
	BIFANG_CHECK(bf_exec_kafka_reader(a, u->path, u->plain->partition,
									  s->options.isolation == BIFANG_READ_COMMITTED, &range,
									  columns, p->n_fields, &s->count.log, &log, &err),
				 &err);
	bifang_scan_read_through(s, a, f, log);
	for (int32 i = 0; i < s->n_columns; i++)
		if (s->columns[i].vector >= 0)
			bifang_scan_set_conversion(s, &s->columns[i],
									   &bifang_kafka_fields[s->columns[i].number]);
}
