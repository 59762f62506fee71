/*
 * scan/plan_lake.c: units of a lake table, Parquet files and what ledgers have besides.
 *
 *   Parquet (and Avro) files of `main`
 *   + logical ranges of `bifang` that `main` does not cover    ranges of ledgers, from the offload
 *   + live ranges: [0, end) of every ledger minus the lake     file or the live directory
 *   - what of these is known to be lost
 *
 * which are disjoint and complete. All ranges of one ledger become one unit. A table may have very
 * many files, logical files and ledgers: all files are gone over once, and the logical ones twice
 * more, to count what each ledger has and to lay its ranges side by side.
 */
#include "scan/work.h"

const BfScanTier bf_scan_lake_tiers[BF_SCAN_LAKE_TIERS + 1] = {
	[BF_SCAN_PARQUET] = {"parquet", "Parquet Files", "Parquet Rows", false},
	[BF_SCAN_OFFLOAD] = {"offload", "Offloaded Ledgers", "Offloaded Rows", true},
	[BF_SCAN_LIVE] = {"live", "Live Ledgers", "Live Rows", true},
};

/* ---- what the lake names of each ledger ---- */

/* The plan's logical files. */
typedef struct Logical
{
	int32_t n;
	const BfIceDataFile **files;
} Logical;

/* Ranges of ledger i are ranges[first[i]] up to ranges[first[i + 1]]. */
typedef struct Named
{
	int64_t *first;
	BfRange *ranges;
} Named;

/* The number of the file's ledger, -1 for one that the pins don't know; files of one ledger mostly
 * come together, so `last` is tried first. */
static int32_t
number_of(const BfScanPins *pins, const BfIceDataFile *f, int32_t last)
{
	const BfScanLedger *found;

	if (last >= 0 && pins->ledgers[last].id == f->log.ledger_id)
		return last;
	found = bf_scan_pins_ledger(pins, f->log.ledger_id);
	return found == NULL ? -1 : (int32_t) (found - pins->ledgers);
}

/* *unknown: a ledger of one of the files that the pins don't know; -1 = none is. */
static BfStatus
gather(BfArena *a, const BfScanPins *pins, const Logical *logical, Named *named, int64_t *unknown,
	   BfError *err)
{
	int32_t last = -1;
	int64_t *at;

	BF_NEW(a, named->first, (int64_t) pins->n_ledgers + 1, err);
	BF_NEW(a, at, pins->n_ledgers, err);
	for (int32_t i = 0; i < logical->n; i++)
	{
		last = number_of(pins, logical->files[i], last);
		if (last < 0)
		{
			*unknown = logical->files[i]->log.ledger_id;
			return BF_OK;
		}
		named->first[last + 1] += logical->files[i]->log.ranges.n;
	}
	for (int32_t i = 0; i < pins->n_ledgers; i++)
	{
		at[i] = named->first[i];
		named->first[i + 1] += named->first[i];
	}
	BF_NEW_RAW(a, named->ranges, named->first[pins->n_ledgers], err);
	for (int32_t i = 0; i < logical->n; i++)
	{
		const BfRangeSet *set = &logical->files[i]->log.ranges;

		last = number_of(pins, logical->files[i], last);
		BF_ASSERT(last >= 0);
		if (set->n > 0)
			memcpy(named->ranges + at[last], set->ranges, (size_t) set->n * sizeof *set->ranges);
		at[last] += set->n;
		BF_ASSERT(at[last] <= named->first[last + 1]);
	}
	return BF_OK;
}

/* Of ledger number i, minus what Parquet covers. */
static BfStatus
in_lake(BfScanList *l, const BfScanPins *pins, const BfIcePlan *plan, const Named *named, int32_t i,
		BfRangeSet *out, BfError *err)
{
	int64_t n = named->first[i + 1] - named->first[i];
	BfRangeSet all;

	*out = (BfRangeSet){0, NULL};
	if (n == 0)
		return BF_OK;
	if (n > INT32_MAX)
		return bf_error(err, BF_ERR_LIMIT, "ledger %lld has %lld ranges in the lake",
						(long long) pins->ledgers[i].id, (long long) n);
	BF_TRY(bf_rangeset_make(l->arena, named->ranges + named->first[i], (int32_t) n, &all, err));
	return bf_rangeset_subtract(
		l->arena, &all, bf_coverage_of(&plan->covered_parquet, pins->ledgers[i].id), out, err);
}

/* ---- units ---- */

/* Of the ledger's entries those that the lake does not name. */
static BfStatus
not_in_lake(BfScanList *l, const BfScanPins *pins, const BfIcePlan *plan,
			const BfScanLedger *ledger, BfRangeSet *out, BfError *err)
{
	BfRange whole = {0, ledger->end - 1};
	BfRangeSet entries = {1, &whole};

	*out = (BfRangeSet){0, NULL};
	if (ledger->end == 0 || !pins->current)
		return BF_OK;
	return bf_rangeset_subtract(l->arena, &entries, bf_coverage_of(&plan->covered, ledger->id), out,
								err);
}

static BfStatus
without_lost(BfScanList *l, const BfScanLedger *ledger, BfRangeSet *ranges, BfError *err)
{
	if (ledger->lost.n == 0 || ranges->n == 0)
		return BF_OK;
	return bf_rangeset_subtract(l->arena, ranges, &ledger->lost, ranges, err);
}

static BfStatus
add_unit(BfScanList *l, const BfScanLedger *ledger, const BfRangeSet *ranges, BfError *err)
{
	BfRangeSet wanted;
	BfScanUnit *u;

	BF_TRY(bf_scan_unit_add(l, ledger->place == BF_SCAN_IN_FILE ? BF_SCAN_OFFLOAD : BF_SCAN_LIVE,
							ledger->path, &u, err));
	u->ledger_id = ledger->id;
	u->ranges = *ranges;
	if (l->pred != NULL)
	{
		BF_TRY(bf_scan_unit_ranges(l, u, bf_scan_fact_field(l, BF_FACT_ENTRY), &wanted, err));
		BF_TRY(bf_rangeset_intersect(l->arena, &u->ranges, &wanted, &u->ranges, err));
	}
	if (u->ranges.n == 0)
	{
		bf_scan_unit_drop(l);
		return BF_OK;
	}
	u->rows = bf_rangeset_count(&u->ranges);
	u->bytes =
		u->rows < INT64_MAX / ledger->entry_bytes ? u->rows * ledger->entry_bytes : INT64_MAX;
	return bf_scan_unit_keep(l) ? bf_scan_unit_cut_ranges(l, err) : BF_OK;
}

static BfStatus
add_ledgers(BfScanList *l, const BfScanPins *pins, const BfIcePlan *plan, const Logical *logical,
			int64_t *unknown, BfError *err)
{
	Named named;

	BF_TRY(gather(l->arena, pins, logical, &named, unknown, err));
	for (int32_t i = 0; i < pins->n_ledgers && *unknown < 0; i++)
	{
		const BfScanLedger *ledger = &pins->ledgers[i];
		BfRangeSet lake;
		BfRangeSet live;
		BfRangeSet all;

		BF_ASSERT(i == 0 || ledger->id > ledger[-1].id);
		BF_TRY(in_lake(l, pins, plan, &named, i, &lake, err));
		BF_TRY(not_in_lake(l, pins, plan, ledger, &live, err));
		BF_TRY(without_lost(l, ledger, &lake, err));
		BF_TRY(without_lost(l, ledger, &live, err));
		BF_ASSERT(!bf_rangeset_overlaps(&lake, &live));
		BF_TRY(bf_rangeset_union(l->arena, &lake, &live, &all, err));
		if (all.n == 0)
			continue;
		if (ledger->place == BF_SCAN_GONE)
			return bf_error(err, BF_ERR_CORRUPT,
							"ledger %lld is trimmed but Parquet files do not cover it",
							(long long) ledger->id);
		if (__builtin_add_overflow(l->totals.live_rows, bf_rangeset_count(&live),
								   &l->totals.live_rows))
			l->totals.live_rows = INT64_MAX;
		BF_TRY(add_unit(l, ledger, &all, err));
	}
	return BF_OK;
}

static BfStatus
add_files(BfScanList *l, const BfIcePlan *plan, Logical *logical, BfError *err)
{
	for (int32_t i = 0; i < plan->n_files; i++)
	{
		const BfIceDataFile *f = &plan->files[i];
		BfScanUnit *u;

		if (f->logical)
		{
			if (logical->n == 0)
				BF_NEW_RAW(l->arena, logical->files, plan->n_files - i, err);
			logical->files[logical->n++] = f;
			continue;
		}
		BF_TRY(bf_scan_unit_add(l, BF_SCAN_PARQUET, f->path, &u, err));
		u->file = f;
		u->rows = bf_ice_rows(f->record_count, f->file_size);
		u->bytes = f->file_size;
		if (bf_scan_unit_keep(l) && f->format == BF_ICE_FORMAT_PARQUET)
			BF_TRY(bf_scan_unit_cut_file(l, err));
	}
	l->totals.counted = plan->n_counted;
	l->totals.counted_bytes = plan->bytes_counted;
	bf_scan_list_count(l, BF_SCAN_PARQUET, plan->n_counted, plan->rows_counted,
					   plan->bytes_counted);
	return BF_OK;
}

BfStatus
bf_scan_plan_lake(BfScanList *l, const BfScanPins *pins, const BfIcePlan *plan, int64_t *unknown,
				  BfError *err)
{
	Logical logical = {0, NULL};

	BF_ASSERT(l->n_units == 0);
	*unknown = -1;
	l->totals.exact = !plan->has_deletes && !plan->rows_guessed;
	BF_TRY(bf_scan_list_reserve(l, (int64_t) plan->n_files + pins->n_ledgers, err));
	BF_TRY(add_files(l, plan, &logical, err));
	return add_ledgers(l, pins, plan, &logical, unknown, err);
}
