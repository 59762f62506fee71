/*
 * pg/scan/plan.c: planning of scans.
 *
 * Rows and bytes come from the worklist: exact for lake tables (manifests and ledger ends), for
 * plain files what this backend has read in their footers before, else what ANALYZE said of as many
 * bytes, else a guess from the size. Files that predicates leave out are left out here too, as far
 * as values are known. No data file is opened, but for the footers of a few plain files.
 *
 * Predicates are evaluated by the executor, all of them. Those that pushdown.h understands are
 * handed to the scan as well. What they save is guessed in cost.h.
 */
#include "pg/scan/plan.h"

#include "access/table.h"
#include "foreign/fdwapi.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "pg/catalog/options.h"
#include "pg/push/pushdown.h"
#include "pg/scan/cost.h"
#include "pg/scan/kind.h"
#include "pg/scan/scan.h"
#include "pg/scan/statistics.h"
#include "pg/server/version.h"

/* Files are compressed: what a heap would have. */
#define PARALLEL_BYTES_FACTOR 3

typedef struct RelInfo
{
	BifangOptions options;
	BifangScanSize size;
	double part;  /* of the table's rows that are in what planning leaves */
	int64 pieces; /* that processes could share */
	List *pushed; /* RestrictInfo * of baserestrictinfo that the scan can use */
} RelInfo;

/* ---- size ---- */

/* Rows of the whole table: t->rows, and those that planning has left out. */
static double
table_rows(const BifangWorklist *w)
{
	double rows = 0;

	if (w->kind->table_rows != NULL)
		return w->kind->table_rows(w);
	for (int64 i = 0; i < w->pins->n_sources; i++)
		rows += (double) w->pins->sources[i].rows;
	return rows;
}

/* Clauses with the values that are known now, others as they are. */
static List *
known_clauses(PlannerInfo *root, List *rinfos)
{
	List *clauses = NIL;
	ListCell *lc;

	foreach (lc, rinfos)
		clauses = lappend(clauses, estimate_expression_value(
									   root, (Node *) lfirst_node(RestrictInfo, lc)->clause));
	return clauses;
}

/* Those that the query has anything to do with. */
static List *
needed_attrs(RelOptInfo *rel, Oid relid)
{
	List *clauses = extract_actual_clauses(rel->baserestrictinfo, false);

	return bifang_attrs_of((Node *) list_make2(rel->reltarget->exprs, clauses), rel, relid);
}

static void
plan_size(PlannerInfo *root, RelOptInfo *rel, RelInfo *info, Oid relid)
{
	MemoryContext cxt =
		AllocSetContextCreate(CurrentMemoryContext, "bifang planning", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	List *clauses = known_clauses(root, info->pushed);
	Relation relation = table_open(relid, NoLock);
	BifangPushdown *push = NULL;
	BifangScan *scan;
	const BifangWorklist *w;
	const BfScanTotals *t;
	List *attrs;
	ListCell *lc;
	double total;

	if (clauses != NIL)
		push = bifang_pushdown_new(clauses, rel->relid, NULL);
	scan = bifang_scan_new(cxt, relation, bifang_attrs_of((Node *) clauses, rel, relid), push,
						   &info->options);
	scan->estimate = true;
	w = bifang_scan_work(scan, GetActiveSnapshot());
	t = &w->list.totals;
	info->pieces = bf_scan_list_pieces(&w->list);
	total = table_rows(w);
	info->part = total > 0 ? Min((double) t->rows / total, 1.0) : 1.0;
	Assert(info->part >= 0 && info->part <= 1);
	bifang_scan_size(&w->list, relid, total * info->part, &info->size);
	rel->tuples = total;
	rel->pages = (BlockNumber) Min((double) t->bytes / Max(info->part, 1e-6) / BLCKSZ + 1,
								   (double) MaxBlockNumber);
	attrs = needed_attrs(rel, relid);
	bifang_statistics_renew(relation, w, attrs, total);
	/* The server has asked for widths before it asked for the size. */
	foreach (lc, attrs)
		rel->attr_widths[lfirst_int(lc) - rel->min_attr] = 0;
	MemoryContextSwitchTo(old);
	bifang_scan_widths(RelationGetDescr(relation), &info->size);
	table_close(relation, NoLock);
	MemoryContextDelete(cxt);
}

void
bifangGetForeignRelSize(PlannerInfo *root, RelOptInfo *rel, Oid foreigntableid)
{
	RelInfo *info = palloc0(sizeof *info);
	ListCell *lc;

	bifang_options_get(foreigntableid, &info->options);
	if (OidIsValid(bifang_rel_user(root, rel)))
		info->options.userid = bifang_rel_user(root, rel);
	foreach (lc, rel->baserestrictinfo)
		if (bifang_push_clause(root, rel, lfirst(lc)))
			info->pushed = lappend(info->pushed, lfirst(lc));
	rel->fdw_private = info;
	plan_size(root, rel, info, foreigntableid);
	set_baserel_size_estimates(root, rel);
	rel->rows = clamp_row_est(Min(rel->rows, rel->tuples * info->part));
}

/* ---- paths ---- */

static ForeignPath *
scan_path(PlannerInfo *root, RelOptInfo *rel, Oid relid, Relids required_outer, double rows,
		  List *pushed, List *quals, double processes)
{
	RelInfo *info = rel->fdw_private;
	BifangScanAsk ask = {.kind = bifang_kind_of(&info->options),
						 .relid = relid,
						 .size = &info->size,
						 .pushed = pushed,
						 .quals = quals,
						 .outer = required_outer,
						 .rows = rows};
	Cost startup;
	Cost run;

	Assert(processes >= 1);
	bifang_scan_cost(root, rel, &ask, &startup, &run);
	return bifang_scan_path(root, rel, rows / processes, startup, startup + run / processes, NIL,
							required_outer, NIL);
}

/* A scan that each of several processes would do on its own. They see the same only where their
 * snapshot decides all of it: what is outside of this database could have changed in between. */
static Path *
whole_path(RelOptInfo *rel, ForeignPath *path)
{
	if (!bifang_options_own(&((RelInfo *) rel->fdw_private)->options))
		path->path.parallel_safe = false;
	return &path->path;
}

/* Join clauses that the scan can use, their own and those that equivalence classes imply. */
typedef struct EcArgs
{
	AttrNumber attno;
} EcArgs;

static bool
ec_member_matches(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec, EquivalenceMember *em,
				  void *arg)
{
	Var *var = (Var *) em->em_expr;

	(void) root;
	(void) ec;
	return IsA(em->em_expr, Var) && var->varno == (int) rel->relid &&
		   var->varattno == ((EcArgs *) arg)->attno;
}

static List *
join_clauses(PlannerInfo *root, RelOptInfo *rel)
{
	List *result = NIL;
	ListCell *lc;

	foreach (lc, rel->joininfo)
	{
		RestrictInfo *rinfo = lfirst(lc);

		if (join_clause_is_movable_to(rinfo, rel) && bifang_push_clause(root, rel, rinfo))
			result = lappend(result, rinfo);
	}
	if (!rel->has_eclass_joins)
		return result;
	for (AttrNumber att = 1; att <= rel->max_attr; att++)
	{
		EcArgs args = {att};

		foreach (lc, generate_implied_equalities_for_column(root, rel, ec_member_matches, &args,
															rel->lateral_referencers))
		{
			RestrictInfo *rinfo = lfirst(lc);

			if (join_clause_is_movable_to(rinfo, rel) && bifang_push_clause(root, rel, rinfo))
				result = lappend(result, rinfo);
		}
	}
	return result;
}

static void
add_param_paths(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
	RelInfo *info = rel->fdw_private;
	List *seen = NIL;
	ListCell *lc;

	foreach (lc, join_clauses(root, rel))
	{
		RestrictInfo *join = lfirst(lc);
		Relids outer = bms_union(join->clause_relids, rel->lateral_relids);
		ParamPathInfo *param;
		List *pushed = list_copy(info->pushed);
		ListCell *other;

		outer = bms_del_member(outer, (int) rel->relid);
		if (bms_is_empty(outer))
			continue;
		param = get_baserel_parampathinfo(root, rel, outer);
		if (list_member_ptr(seen, param))
			continue;
		seen = lappend(seen, param);
		foreach (other, param->ppi_clauses)
			if (bifang_push_clause(root, rel, lfirst(other)))
				pushed = lappend(pushed, lfirst(other));
		add_path(rel, whole_path(rel, scan_path(root, rel, relid, outer, param->ppi_rows, pushed,
												list_concat_copy(param->ppi_clauses,
																 rel->baserestrictinfo),
												1.0)));
	}
}

/* How many processes' worth of work so many workers do: the leader helps, but has the others' rows
 * to collect too. As the server's own scans have it. */
static double
processes_of(int workers)
{
	double leader = parallel_leader_participation ? 1.0 - 0.3 * workers : 0;

	return workers + Max(leader, 0);
}

static void
add_partial(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
	RelInfo *info = rel->fdw_private;
	double pages =
		(info->size.files.bytes + info->size.logs.bytes) * PARALLEL_BYTES_FACTOR / BLCKSZ;
	int workers = compute_parallel_worker(rel, pages, -1, max_parallel_workers_per_gather);
	ForeignPath *path;

	workers = Min(workers, (int) Min(info->pieces, 1000) - 1);
	if (workers <= 0)
		return;
	path = scan_path(root, rel, relid, NULL, rel->rows, info->pushed, rel->baserestrictinfo,
					 processes_of(workers));
	path->path.parallel_aware = true;
	path->path.parallel_workers = workers;
	add_partial_path(rel, (Path *) path);
}

void
bifangGetForeignPaths(PlannerInfo *root, RelOptInfo *rel, Oid foreigntableid)
{
	RelInfo *info = rel->fdw_private;

	add_path(rel, whole_path(rel, scan_path(root, rel, foreigntableid, rel->lateral_relids,
											rel->rows, info->pushed, rel->baserestrictinfo, 1.0)));
	add_param_paths(root, rel, foreigntableid);
	if (rel->consider_parallel && rel->lateral_relids == NULL)
		add_partial(root, rel, foreigntableid);
}

/* ---- plan ---- */

ForeignScan *
bifangGetForeignPlan(PlannerInfo *root, RelOptInfo *rel, Oid foreigntableid, ForeignPath *best_path,
					 List *tlist, List *scan_clauses, Plan *outer_plan)
{
	List *clauses = extract_actual_clauses(scan_clauses, false);
	List *pushed = NIL;
	List *attrs;
	ListCell *lc;

	(void) best_path;
	foreach (lc, scan_clauses)
		if (bifang_push_clause(root, rel, lfirst(lc)))
			pushed = lappend(pushed, copyObject(lfirst_node(RestrictInfo, lc)->clause));
	/* What the relation's parents want, and what its own clauses test. */
	attrs =
		bifang_attrs_of((Node *) list_make2(rel->reltarget->exprs, clauses), rel, foreigntableid);
	return make_foreignscan(tlist, clauses, rel->relid, pushed, list_make1(attrs), NIL, NIL,
							outer_plan);
}
