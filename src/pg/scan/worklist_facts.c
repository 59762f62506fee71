/*
 * pg/scan/worklist_facts.c: facts about rows that are no columns, as fields of a predicate.
 */
#include "pg/scan/worklist_internal.h"

#include "exec/read/kafka_reader.h"
#include "pg/push/pushdown.h"
#include "pg/server/error.h"

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

int32
bifang_worklist_fields(const BifangWorklist *w)
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
	switch ((BifangMeta) (field - bifang_worklist_fields(f->w)))
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
				set_number(stats, 0, PG_INT64_MAX); /* how many rows, the file itself tells */
			else
				return false;
			return true;
		default: return false;
	}
}

bool
bifang_unit_may_match(const BifangWorklist *w, const BifangUnit *u, const BfPred *pred)
{
	Facts f = {w, u};

	return bf_pred_may_match(pred, facts_of, &f);
}

void
bifang_unit_ranges(const BifangWorklist *w, const BifangUnit *u, BfArena *a, const BfPred *pred,
				   int32 field, BfRangeSet *out)
{
	Facts f = {w, u};

	bifang_pred_ranges(a, pred, field, facts_of, &f, out);
}

bool
bifang_unit_hull(const BifangWorklist *w, const BifangUnit *u, const BfPred *pred, int32 field,
				 int64 *low, int64 *high)
{
	Facts f = {w, u};

	return bifang_pred_hull(pred, field, facts_of, &f, low, high);
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
