/*
 * scan/prune.c: what a predicate on facts leaves of units; see work.h.
 */
#include "scan/pred.h"
#include "scan/work.h"

typedef struct Facts
{
	const BfScanList *list;
	const BfScanUnit *unit;
} Facts;

static bool
set_number(BfColumnStats *stats, int64_t min, int64_t max)
{
	BF_ASSERT(min <= max);
	stats->has_min = stats->has_max = true;
	stats->min = (BfValue){.type = BF_TYPE(INT64), .v.i64 = min};
	stats->max = (BfValue){.type = BF_TYPE(INT64), .v.i64 = max};
	stats->null_count = 0;
	return true;
}

static bool
set_text(BfColumnStats *stats, const char *text)
{
	BfView view = {(const uint8_t *) text, (uint32_t) strlen(text)};

	stats->has_min = stats->has_max = true;
	stats->min = stats->max = (BfValue){.type = BF_TYPE(STRING), .v.view = view};
	stats->null_count = 0;
	return true;
}

static bool
set_null(BfColumnStats *stats)
{
	stats->null_count = 1;
	return true;
}

/* What is known of a unit's rows before it is opened. */
static bool
facts_of(void *arg, int32_t field, BfColumnStats *stats)
{
	const BfScanList *l = ((const Facts *) arg)->list;
	const BfScanUnit *u = ((const Facts *) arg)->unit;
	const BfScanTier *tier = &l->tiers[u->tier];

	stats->known = true;
	stats->row_count = 1; /* of all rows alike */
	if (field < l->n_fields)
		return l->field_stats != NULL && l->field_stats(u, field, stats);
	switch ((BfFact) (field - l->n_fields))
	{
		case BF_FACT_TIER: return set_text(stats, tier->name);
		case BF_FACT_FILE: return set_text(stats, u->path);
		case BF_FACT_LEDGER:
			return u->ledger_id >= 0 ? set_number(stats, u->ledger_id, u->ledger_id)
									 : set_null(stats);
		case BF_FACT_ENTRY:
			if (!tier->log)
				return set_null(stats);
			return u->ledger_id >= 0 && u->ranges.n > 0 &&
				   set_number(stats, u->ranges.ranges[0].first,
							  u->ranges.ranges[u->ranges.n - 1].last);
		case BF_FACT_TIMESTAMP: return !tier->log && set_null(stats);
		case BF_FACT_POS:
			if (tier->log)
				return set_null(stats);
			/* How many rows a file has it tells itself, whatever its manifest says. */
			return u->file != NULL && set_number(stats, 0, INT64_MAX);
		default: return false;
	}
}

bool
bf_scan_unit_may_match(const BfScanList *l, const BfScanUnit *u)
{
	Facts f = {l, u};

	return l->pred == NULL || bf_pred_may_match(l->pred, facts_of, &f);
}

BfStatus
bf_scan_unit_ranges(const BfScanList *l, const BfScanUnit *u, int32_t field, BfRangeSet *out,
					BfError *err)
{
	static const BfPred all = {.kind = BF_PRED_TRUE, .field = -1};
	Facts f = {l, u};

	return bf_scan_pred_ranges(l->arena, l->pred == NULL ? &all : l->pred, field, facts_of, &f, out,
							   err);
}

bool
bf_scan_unit_hull(const BfScanList *l, const BfScanUnit *u, int32_t field, int64_t *low,
				  int64_t *high)
{
	Facts f = {l, u};

	*low = INT64_MIN;
	*high = INT64_MAX;
	return l->pred == NULL || bf_scan_pred_hull(l->pred, field, facts_of, &f, low, high);
}
