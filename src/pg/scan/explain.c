/*
 * pg/scan/explain.c: what EXPLAIN says of a scan; see explain.h.
 */
#include "pg/scan/explain.h"

#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/ruleutils.h"

#include "pg/scan/node.h"
#include "pg/scan/plan.h"

/* The predicates that the scan itself uses to leave out files and rows. */
static void
explain_filter(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List *context;

	if (plan->fdw_exprs == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, NIL);
	ExplainPropertyText("Pushed Filter",
						deparse_expression((Node *) make_ands_explicit(plan->fdw_exprs), context,
										   es->verbose, false),
						es);
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
explain_pruning(const BifangWorklist *w, ExplainState *es)
{
	const BfIcePlanCounters *c = w->plan == NULL ? NULL : &w->plan->counters;

	if (c != NULL && c->files_by_partition + c->files_by_bounds + c->manifests_skipped > 0)
	{
		const Counter pruned[] = {
			{"manifests", c->manifests_skipped},
			{"by partition", c->files_by_partition},
			{"by bounds", c->files_by_bounds},
		};

		explain_counters("Files Pruned", pruned, lengthof(pruned), es);
	}
	if (w->units_pruned > 0)
		ExplainPropertyInteger("Units Pruned", NULL, w->units_pruned, es);
	if (c != NULL && c->delete_files > 0)
		ExplainPropertyInteger("Delete Files", NULL, c->delete_files, es);
	if (c != NULL && c->delete_files_unused > 0)
		ExplainPropertyInteger("Delete Files Unused", NULL, c->delete_files_unused, es);
}

static void
explain_work(const BifangWorklist *w, ExplainState *es)
{
	if (w->format == BIFANG_ICEBERG)
	{
		if (w->point.main != NULL)
			ExplainPropertyInteger("Lake Snapshot", NULL, w->point.main->id, es);
		if (w->point.bifang != NULL && w->point.bifang != w->point.main)
			ExplainPropertyInteger("Bifang Snapshot", NULL, w->point.bifang->id, es);
		if (w->n_units == 0 && w->point.main == NULL && w->live_rows == 0)
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

/* Of files and logs that several processes shared. */
static void
explain_pieces(const ForeignScanState *node, const BifangScan *s, ExplainState *es)
{
	if (node->ss.ps.plan->parallel_aware)
		ExplainPropertyInteger("Pieces Read", NULL, s->count.units_read, es);
}

static void
explain_read(const BifangScan *s, ExplainState *es)
{
	const BifangWorklist *w = s->work;
	const BifangCounters *n = &s->count;
	const Counter parquet[] = {
		{"row groups", n->parquet.row_groups_read},
		{"pages", n->parquet.pages_read},
		{"pages decompressed", n->parquet.pages_decompressed},
		{"rows decoded", n->parquet.rows_decoded},
	};
	const Counter pruned[] = {
		{"by statistics", n->parquet.row_groups_by_statistics},
		{"by bloom filter", n->parquet.row_groups_by_bloom},
		{"by dictionary", n->parquet.row_groups_by_dictionary},
	};
	const Counter pages[] = {
		{"pages", n->parquet.pages_skipped},
		{"rows by page index", n->parquet.rows_by_index},
	};
	const Counter log[] = {
		{"segments", n->log.segments_read},
		{"segments skipped", n->log.segments_skipped},
		{"batches", n->log.batches_read},
		{"batches skipped", n->log.batches_skipped},
		{"entries decoded", n->log.entries_decoded},
		{"index probes", n->log.index.probes},
		{"warm", n->log.index.warm_hits},
		{"cold", n->log.index.cold_hits},
	};
	const Counter deletes[] = {
		{"files", n->deletes.files_read},  {"positions", n->deletes.positions},
		{"keys", n->deletes.keys},		   {"rows deleted", n->filter.rows_deleted},
		{"dangling", n->deletes.dangling},
	};
	const Counter io[] = {
		{"files", n->io.files_opened + n->log.io.files_opened},
		{"reads", n->io.reads + n->log.io.reads},
		{"coalesced", n->io.coalesced + n->log.io.coalesced},
		{"bytes", n->io.bytes_read + n->log.io.bytes_read},
		{"footers cached", n->io.footers_cached},
	};

	if (w->n_of_tier[BIFANG_TIER_PARQUET] > 0)
	{
		explain_counters("Parquet Read", parquet, lengthof(parquet), es);
		explain_counters("Row Groups Pruned", pruned, lengthof(pruned), es);
		explain_counters("Parquet Skipped", pages, lengthof(pages), es);
	}
	if (w->n_units > w->n_of_tier[BIFANG_TIER_PARQUET])
		explain_counters("Log Read", log, lengthof(log), es);
	if (n->deletes.files_read > 0)
		explain_counters("Deletes", deletes, lengthof(deletes), es);
	if (n->filter.rows_filtered > 0)
		ExplainPropertyInteger("Rows Removed by Pushed Filter", NULL, n->filter.rows_filtered, es);
	explain_counters("I/O", io, lengthof(io), es);
}

void
bifangExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	BifangScanNode *n = node->fdw_state;

	BifangWorklist *w;

	n->scan->explain = true; /* what has not run by now will not */
	w = bifang_scan_work(n->scan, node->ss.ps.state->es_snapshot);
	bifang_scan_count_deletes(n->scan);
	explain_filter(node, es);
	explain_work(w, es);
	explain_pruning(w, es);
	if (es->analyze)
	{
		explain_pieces(node, n->scan, es);
		explain_read(n->scan, es);
	}
}
