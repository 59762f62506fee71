/*
 * scan/plan_sources.c: units of tables without metadata, files and partitions of a log.
 */
#include "exec/read/kafka_columns.h"
#include "scan/work.h"

const BfScanTier bf_scan_file_tiers[2] = {{"parquet", "Parquet Files", "Parquet Rows", false}};
const BfScanTier bf_scan_kafka_tiers[2] = {{"kafka", "Kafka Partitions", "Kafka Rows", true}};

BfStatus
bf_scan_plan_files(BfScanList *l, const BfScanPins *pins, bool row_groups, BfError *err)
{
	BF_ASSERT(l->n_units == 0);
	l->totals.exact = true;
	BF_TRY(bf_scan_list_reserve(l, pins->n_sources, err));
	for (int32_t i = 0; i < pins->n_sources; i++)
	{
		const BfScanSource *s = &pins->sources[i];
		BfScanUnit *u;

		BF_TRY(bf_scan_unit_add(l, 0, s->path, &u, err));
		u->source = s;
		u->rows = s->rows;
		u->bytes = s->bytes;
		if (!bf_scan_unit_keep(l))
			continue;
		l->totals.exact &= s->counted;
		if (row_groups)
			BF_TRY(bf_scan_unit_cut_file(l, err));
	}
	return BF_OK;
}

bool
bf_scan_partition_stats(const BfScanUnit *u, int32_t field, BfColumnStats *stats)
{
	if (field != BF_KAFKA_PARTITION)
		return false;
	stats->has_min = stats->has_max = true;
	stats->min = stats->max = (BfValue){.type = BF_TYPE(INT32), .v.i32 = u->source->partition};
	stats->null_count = 0;
	return true;
}

/* Offsets of the partition that the predicate leaves; none when it leaves no time. */
static BfStatus
wanted_offsets(BfScanList *l, const BfScanUnit *u, BfRangeSet *out, BfError *err)
{
	const BfScanSource *s = u->source;
	BfRange there = {s->offset_start > 0 ? s->offset_start : 0, s->offset_end - 1};
	BfRangeSet known = {there.first <= there.last, &there};
	int64_t low;
	int64_t high;

	BF_TRY(bf_scan_unit_ranges(l, u, BF_KAFKA_OFFSET, out, err));
	if (!bf_scan_unit_hull(l, u, BF_KAFKA_TIMESTAMP, &low, &high))
		out->n = 0;
	/* Once the end is fixed. */
	if (s->offset_end >= 0)
		BF_TRY(bf_rangeset_intersect(l->arena, out, &known, out, err));
	return BF_OK;
}

BfStatus
bf_scan_plan_partitions(BfScanList *l, const BfScanPins *pins, BfError *err)
{
	BF_ASSERT(l->n_units == 0);
	BF_TRY(bf_scan_list_reserve(l, pins->n_sources, err));
	for (int32_t i = 0; i < pins->n_sources; i++)
	{
		const BfScanSource *s = &pins->sources[i];
		BfScanUnit *u;

		BF_TRY(bf_scan_unit_add(l, 0, s->path, &u, err));
		u->source = s;
		u->rows = s->rows;
		u->bytes = s->bytes;
		BF_TRY(wanted_offsets(l, u, &u->ranges, err));
		if (u->ranges.n == 0)
			bf_scan_unit_drop(l);
		else if (bf_scan_unit_keep(l) && s->offset_end >= 0)
			BF_TRY(bf_scan_unit_cut_ranges(l, err));
	}
	return BF_OK;
}
