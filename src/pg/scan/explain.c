/*
 * pg/scan/explain.c: what EXPLAIN says of a scan; see explain.h.
 */
#include "pg/scan/explain.h"

#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/ruleutils.h"

#include "pg/scan/kind.h"
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

void
bifang_explain_counters(const char *group, const BifangExplainCounter *counters, int n,
						ExplainState *es)
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
explain_kind(const BifangWorklist *w, BifangExplainPart part, ExplainState *es)
{
	if (w->kind->explain != NULL)
		w->kind->explain(w, part, es);
}

static void
explain_work(const BifangWorklist *w, ExplainState *es)
{
	const BfScanTotals *t = &w->list.totals;

	explain_kind(w, BIFANG_EXPLAIN_TABLE, es);
	for (int i = 0; w->list.tiers[i].name != NULL; i++)
		explain_tier(w->list.tiers[i].units, w->list.tiers[i].rows, t->n_of_tier[i],
					 t->rows_of_tier[i], t->exact, es);
	if (t->live_rows > 0)
		ExplainPropertyInteger("Rows Not In Lake", NULL, t->live_rows, es);
	explain_kind(w, BIFANG_EXPLAIN_PRUNED, es);
	if (t->pruned > 0)
		ExplainPropertyInteger("Units Pruned", NULL, t->pruned, es);
	explain_kind(w, BIFANG_EXPLAIN_REST, es);
}

/* Are there units in tiers that are logs, or in others? */
static bool
reads(const BifangWorklist *w, bool log)
{
	for (int i = 0; w->list.tiers[i].name != NULL; i++)
		if (w->list.tiers[i].log == log && w->list.totals.n_of_tier[i] > 0)
			return true;
	return false;
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
	const BifangExplainCounter parquet[] = {
		{"row groups", n->parquet.row_groups_read},
		{"pages", n->parquet.pages_read},
		{"pages decompressed", n->parquet.pages_decompressed},
		{"pages kept", n->parquet.pages_kept},
		{"rows decoded", n->parquet.rows_decoded},
	};
	const BifangExplainCounter pruned[] = {
		{"by statistics", n->parquet.row_groups_by_statistics},
		{"by bloom filter", n->parquet.row_groups_by_bloom},
		{"by dictionary", n->parquet.row_groups_by_dictionary},
	};
	const BifangExplainCounter pages[] = {
		{"pages", n->parquet.pages_skipped},
		{"rows by page index", n->parquet.rows_by_index},
	};
	const BifangExplainCounter log[] = {
		{"segments", n->log.segments_read},
		{"segments skipped", n->log.segments_skipped},
		{"batches", n->log.batches_read},
		{"batches skipped", n->log.batches_skipped},
		{"entries decoded", n->log.entries_decoded},
		{"index probes", n->log.index.probes},
		{"index pages", n->log.index.pages},
		{"warm", n->log.index.warm_hits},
		{"cold", n->log.index.cold_hits},
	};
	const BifangExplainCounter deletes[] = {
		{"files", n->deletes.files_read},  {"positions", n->deletes.positions},
		{"keys", n->deletes.keys},		   {"rows deleted", n->filter.rows_deleted},
		{"dangling", n->deletes.dangling},
	};
	const BifangExplainCounter kept[] = {
		{"rows", n->keep.rows_kept},
		{"rows read", n->keep.rows_read},
		{"rows skipped", n->keep.rows_skipped},
	};
	const BifangExplainCounter io[] = {
		{"files", n->io.files_opened + n->log.io.files_opened},
		{"reads", n->io.reads + n->log.io.reads},
		{"coalesced", n->io.coalesced + n->log.io.coalesced},
		{"bytes", n->io.bytes_read + n->log.io.bytes_read},
		{"footers cached", n->io.footers_cached},
	};

	if (reads(w, false))
	{
		bifang_explain_counters("Parquet Read", parquet, lengthof(parquet), es);
		bifang_explain_counters("Row Groups Pruned", pruned, lengthof(pruned), es);
		bifang_explain_counters("Parquet Skipped", pages, lengthof(pages), es);
		if (n->parquet.files_by_position > 0)
			ExplainPropertyInteger("Files with Columns by Position", NULL,
								   n->parquet.files_by_position, es);
	}
	if (reads(w, true))
		bifang_explain_counters("Log Read", log, lengthof(log), es);
	if (n->deletes.files_read > 0)
		bifang_explain_counters("Deletes", deletes, lengthof(deletes), es);
	if (n->filter.rows_filtered > 0)
		ExplainPropertyInteger("Rows Removed by Pushed Filter", NULL, n->filter.rows_filtered, es);
	if (n->keep.rows_kept > 0)
		bifang_explain_counters("Kept for Rescans", kept, lengthof(kept), es);
	bifang_explain_counters("I/O", io, lengthof(io), es);
}

void
bifangExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	BifangScanNode *n = node->fdw_state;

	BifangWorklist *w;

	n->scan->explain = true; /* what has not run by now will not */
	w = bifang_scan_work(n->scan, node->ss.ps.state->es_snapshot);
	explain_filter(node, es);
	explain_work(w, es);
	if (es->analyze)
	{
		explain_pieces(node, n->scan, es);
		explain_read(n->scan, es);
	}
}
