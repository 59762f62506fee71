/*
 * pg/explain.c: what EXPLAIN says of a scan; see explain.h.
 */
#include "pg/explain.h"

#include "access/stratnum.h"
#include "utils/builtins.h"
#include "utils/ruleutils.h"

#include "pg/fdw.h"
#include "pg/plan.h"

static const char *const strategy_text[] = {
	[BTLessStrategyNumber] = "<",	 [BTLessEqualStrategyNumber] = "<=",
	[BTEqualStrategyNumber] = "=",	 [BTGreaterEqualStrategyNumber] = ">=",
	[BTGreaterStrategyNumber] = ">",
};

/* The predicates that the log's index answers: column, operator, expression. */
static void
explain_searches(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List *numbers = list_nth(plan->fdw_private, BIFANG_PLAN_SEARCHES);
	List *context;
	StringInfoData text;
	ListCell *lc;
	int i = 0;

	if (plan->fdw_exprs == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, NIL);
	initStringInfo(&text);
	foreach (lc, plan->fdw_exprs)
	{
		BfKafkaColumn column = (BfKafkaColumn) list_nth_int(numbers, i);
		int strategy = list_nth_int(numbers, i + 1);
		bool is_array = list_nth_int(numbers, i + 2) != 0;
		char *value = deparse_expression(lfirst(lc), context, true, false);

		appendStringInfo(&text, is_array ? "%s(\"%s\" %s ANY (%s))" : "%s(\"%s\" %s %s)",
						 i == 0 ? "" : " AND ", bifang_kafka_column_name(column),
						 strategy_text[strategy], value);
		i += BIFANG_SEARCH_INTS;
	}
	ExplainPropertyText("Index Search", text.data, es);
}

/* "Parquet Files: 20 (rows 123)": a number and a second one that only text output puts beside it.
 */
static void
explain_tier(const char *label, const char *rows_label, int64 n, int64 rows, bool exact,
			 ExplainState *es)
{
	if (n == 0)
		return;
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyText(
			label,
			psprintf(INT64_FORMAT " (%s" INT64_FORMAT " rows)", n, exact ? "" : "about ", rows),
			es);
		return;
	}
	ExplainPropertyInteger(label, NULL, n, es);
	ExplainPropertyInteger(rows_label, NULL, rows, es);
}

static void
explain_work(const BifangWorklist *w, ExplainState *es)
{
	if (w->format == BIFANG_ICEBERG)
	{
		if (w->snapshot_id >= 0)
			ExplainPropertyInteger("Lake Snapshot", NULL, w->snapshot_id, es);
		if (w->bifang_snapshot_id >= 0 && w->bifang_snapshot_id != w->snapshot_id)
			ExplainPropertyInteger("Bifang Snapshot", NULL, w->bifang_snapshot_id, es);
		if (w->n_units == 0)
			ExplainPropertyText("Tiers", "none: the table is empty", es);
	}
	explain_tier("Parquet Files", "Parquet Rows", w->n_of_tier[BIFANG_TIER_PARQUET],
				 w->rows_of_tier[BIFANG_TIER_PARQUET], w->exact, es);
	explain_tier("Offloaded Ledgers", "Offloaded Rows", w->n_of_tier[BIFANG_TIER_OFFLOAD],
				 w->rows_of_tier[BIFANG_TIER_OFFLOAD], w->exact, es);
	explain_tier("Live Ledgers", "Live Rows", w->n_of_tier[BIFANG_TIER_LIVE],
				 w->rows_of_tier[BIFANG_TIER_LIVE], w->exact, es);
	explain_tier("Kafka Partitions", "Kafka Rows", w->n_of_tier[BIFANG_TIER_KAFKA],
				 w->rows_of_tier[BIFANG_TIER_KAFKA], w->exact, es);
	if (w->live_rows > 0)
		ExplainPropertyInteger("Rows Not In Lake", NULL, w->live_rows, es);
}

typedef struct Counter
{
	const char *label;
	int64 value;
} Counter;

/* Text: one line `Parquet Read: row groups=5 pages=10`; other formats: one property each. */
static void
explain_counters(const char *group, const Counter *counters, int n, ExplainState *es)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < n; i++)
	{
		if (es->format != EXPLAIN_FORMAT_TEXT)
			ExplainPropertyInteger(psprintf("%s %s", group, counters[i].label), NULL,
								   counters[i].value, es);
		else if (counters[i].value != 0)
			appendStringInfo(&text, "%s%s=" INT64_FORMAT, text.len == 0 ? "" : " ",
							 counters[i].label, counters[i].value);
	}
	if (es->format == EXPLAIN_FORMAT_TEXT && text.len > 0)
		ExplainPropertyText(group, text.data, es);
}

static void
explain_read(const BifangScan *s, ExplainState *es)
{
	const BifangWorklist *w = s->work;
	const Counter parquet[] = {
		{"row groups", s->parquet.row_groups_read},
		{"pages", s->parquet.pages_read},
		{"pages decompressed", s->parquet.pages_decompressed},
		{"rows decoded", s->parquet.rows_decoded},
	};
	const Counter log[] = {
		{"segments", s->log.segments_read},
		{"segments skipped", s->log.segments_skipped},
		{"batches", s->log.batches_read},
		{"batches skipped", s->log.batches_skipped},
		{"entries decoded", s->log.entries_decoded},
		{"index probes", s->log.index.probes},
		{"warm", s->log.index.warm_hits},
		{"cold", s->log.index.cold_hits},
	};
	const Counter io[] = {
		{"files", s->io.files_opened + s->log.io.files_opened},
		{"reads", s->io.reads + s->log.io.reads},
		{"coalesced", s->io.coalesced + s->log.io.coalesced},
		{"bytes", s->io.bytes_read + s->log.io.bytes_read},
	};

	if (w->n_of_tier[BIFANG_TIER_PARQUET] > 0)
		explain_counters("Parquet Read", parquet, lengthof(parquet), es);
	if (w->n_units > w->n_of_tier[BIFANG_TIER_PARQUET])
		explain_counters("Log Read", log, lengthof(log), es);
	explain_counters("I/O", io, lengthof(io), es);
}

void
bifangExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	BifangScanNode *n = node->fdw_state;

	explain_work(bifang_scan_work(n->scan, node->ss.ps.state->es_snapshot), es);
	explain_searches(node, es);
	if (es->analyze)
		explain_read(n->scan, es);
}
