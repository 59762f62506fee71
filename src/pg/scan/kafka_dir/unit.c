/*
 * pg/scan/kafka_dir/unit.c: which part of a partition a scan reads, and its reader.
 */
#include "pg/scan/kafka_dir/internal.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "exec/read/kafka_reader.h"
#include "pg/scan/unit.h"
#include "pg/server/error.h"

/* The part of the log that the predicate leaves. With read_committed its end is the last stable
 * offset. */
static BfKafkaRange
kafka_range(const BifangScan *s, const BfScanUnit *u)
{
	BfKafkaRange r = {.offset_end = u->source->offset_end,
					  .time_first_ms = PG_INT64_MIN,
					  .time_last_ms = PG_INT64_MAX,
					  .offsets = &u->ranges,
					  .none_open = s->options.isolation == BIFANG_READ_COMMITTED,
					  .time_or_null = s->options.out_of_range == BIFANG_RANGE_NULL};
	int64 low;
	int64 high;

	if (s->pred.tree == NULL)
		return r;
	/* Planning has left out units without any time. */
	(void) bf_scan_unit_hull(&s->work->list, u, BF_KAFKA_TIMESTAMP, &low, &high);
	if (low > PG_INT64_MIN)
		r.time_first_ms = low / 1000 + (low % 1000 > 0);
	if (high < PG_INT64_MAX)
		r.time_last_ms = high / 1000 - (high % 1000 < 0);
	return r;
}

/* Offsets are the unit's ranges. */
static void
keep(BifangScan *s, const BfScanUnit *u, const BfKafkaRange *r)
{
	const int64 more[] = {r->offset_end, r->time_first_ms, r->time_last_ms};

	bifang_scan_keep(s, u, more, sizeof more);
}

/* What conversions see: a time that is declared as bigint is its microseconds since 1970. */
static const BfSchema *
seen_as(const BifangScan *s)
{
	static BfField fields[BF_KAFKA_COLUMNS];
	static const BfSchema numbers = {.n_fields = BF_KAFKA_COLUMNS, .fields = fields};

	for (int32 i = 0; i < s->cols.n; i++)
		if (s->cols.list[i].kind == BIFANG_FROM_FIELD &&
			s->cols.list[i].number == BF_KAFKA_TIMESTAMP &&
			getBaseType(s->cols.list[i].typid) == INT8OID)
		{
			memcpy(fields, bf_kafka_schema.fields, sizeof fields);
			fields[BF_KAFKA_TIMESTAMP].type = BF_TYPE(INT64);
			return &numbers;
		}
	return s->work->schema;
}

void
bifang_kafka_dir_open_unit(BifangScan *s, BfArena *a, BfScanUnit *u)
{
	BfProjection wanted = {
		.schema = &bf_kafka_schema, .fields = s->cols.numbers, .n_fields = s->cols.n_vectors};
	BfScanPins *pins = s->work->pins;
	BfFilter *f;
	const BfProjection *p;
	BfKafkaColumn *columns;
	BfKafkaRange range;
	BfReader *log;
	BfError err;

	Assert(u->source >= pins->sources && u->source < pins->sources + pins->n_sources);
	if (u->source->offset_end < 0)
		bifang_kafka_dir_fix_end(s->work, &s->options, &pins->sources[u->source - pins->sources],
								 &s->count.log.io);
	Assert(u->source->offset_end >= 0);
	range = kafka_range(s, u);
	f = bifang_scan_filter(s, a, &wanted, BF_KAFKA_COLUMNS, NULL);
	keep(s, u, &range);
	if (bifang_scan_read_again(s, a, f))
	{
		bifang_scan_set_conversions(s, seen_as(s));
		return;
	}
	p = bf_filter_projection(f);
	columns = palloc0((Size) (p->n_fields + 1) * sizeof *columns);
	for (int32 i = 0; i < p->n_fields; i++)
		columns[i] = (BfKafkaColumn) p->fields[i];
	bf_error_clear(&err);
	BIFANG_CHECK(bf_exec_kafka_reader(a, u->path, u->source->partition,
									  s->options.isolation == BIFANG_READ_COMMITTED, &range,
									  columns, p->n_fields, &s->count.log, &log, &err),
				 &err);
	bifang_scan_read_through(s, a, f, log);
	bifang_scan_set_conversions(s, seen_as(s));
}
