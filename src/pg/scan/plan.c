/*
 * pg/scan/plan.c: planning of scans.
 *
 * Rows and bytes come from the worklist: exact for lake tables (manifests and ledger ends), for
 * plain files what earlier scans of this backend saw, else what ANALYZE said scaled by size, else a
 * guess from the size. Files that predicates leave out are left out here too, as far as values are
 * known. No data file is opened.
 *
 * Predicates are evaluated by the executor, all of them. Those that pushdown.h understands are
 * handed to the scan as well. How much of the files they save is guessed from the column's
 * correlation: a sorted table is read in proportion, one in random order wholly.
 */
#include "pg/scan/plan.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_statistic.h"
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
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "pg/catalog/options.h"
#include "pg/push/pushdown.h"
#include "pg/scan/kind.h"
#include "pg/scan/scan.h"
#include "pg/server/version.h"

/* What reading costs beside cpu_tuple_cost: opening a unit, and decoding, in terms of sequential
 * pages. A row through this scan takes about half the time of a heap row. */
#define UNIT_COST 2.0
#define PAGE_COST_FACTOR 0.3
#define ROW_COST_FACTOR 0.5

/* Files are compressed: what a heap would have. */
#define PARALLEL_BYTES_FACTOR 3

typedef struct RelInfo
{
	BifangOptions options;
	double bytes; /* of files that the plan-time predicates leave */
	double part;  /* of the table's rows that are in them */
	int32 n_units;
	int64 pieces; /* that processes could share */
	List *pushed; /* RestrictInfo * of baserestrictinfo that the scan can use */
} RelInfo;

/* ---- size ---- */

/* ANALYZE knew better than a guess by size; files may have come and gone since. */
static double
analyzed_rows(RelOptInfo *rel, const BfScanTotals *t)
{
	if (rel->tuples > 0 && rel->pages > 0)
		return rel->tuples * ((double) t->bytes / ((double) rel->pages * BLCKSZ));
	return (double) t->rows;
}

static List *
attrs_of(Node *node, Index varno, Oid relid, AttrNumber max, bool *all)
{
	Bitmapset *set = NULL;
	List *attrs = NIL;

	pull_varattnos(node, varno, &set);
	*all = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, set);
	for (AttrNumber att = 1; att <= max; att++)
		if ((*all || bms_is_member(att - FirstLowInvalidHeapAttributeNumber, set)) &&
			OidIsValid(get_atttype(relid, att)))
			attrs = lappend_int(attrs, att);
	return attrs;
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
	double total;
	bool all;

	if (clauses != NIL)
		push = bifang_pushdown_new(clauses, rel->relid, NULL);
	scan = bifang_scan_new(
		cxt, relation, attrs_of((Node *) clauses, rel->relid, relid, rel->max_attr, &all), push);
	scan->options.userid = info->options.userid;
	scan->estimate = true;
	w = bifang_scan_work(scan, GetActiveSnapshot());
	t = &w->list.totals;
	info->bytes = (double) t->bytes;
	info->n_units = (int32) Min(w->list.n_units + t->counted, PG_INT32_MAX);
	info->pieces = bf_scan_list_pieces(&w->list);
	total = w->kind->table_rows != NULL ? w->kind->table_rows(w) : analyzed_rows(rel, t);
	info->part = total > 0 ? Min((double) t->rows / total, 1.0) : 1.0;
	Assert(info->part >= 0 && info->part <= 1 && info->pieces >= info->n_units);
	rel->tuples = total;
	rel->pages = (BlockNumber) Min(info->bytes / Max(info->part, 1e-6) / BLCKSZ + 1,
								   (double) MaxBlockNumber);
	table_close(relation, NoLock);
	MemoryContextSwitchTo(old);
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

/* ANALYZE's word on how well the order of a column is that of the rows: 0 .. 1. */
static double
correlation(Oid relid, AttrNumber attnum)
{
	HeapTuple tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(attnum),
									  BoolGetDatum(false));
	AttStatsSlot slot;
	double c = 0;

	if (!HeapTupleIsValid(tuple))
		return 0;
	if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_CORRELATION, InvalidOid,
						 ATTSTATSSLOT_NUMBERS))
	{
		if (slot.nnumbers > 0)
			c = slot.numbers[0] * slot.numbers[0];
		free_attstatsslot(&slot);
	}
	ReleaseSysCache(tuple);
	return c;
}

/* Does an index of the kind answer it? */
static bool
is_search(const BifangKind *kind, RelOptInfo *rel, Oid relid, Node *clause)
{
	Bitmapset *set = NULL;
	int att = -1;

	pull_varattnos(clause, rel->relid, &set);
	while ((att = bms_next_member(set, att)) >= 0)
	{
		AttrNumber n = (AttrNumber) (att + FirstLowInvalidHeapAttributeNumber);

		if (n <= 0 || !kind->searches(get_attname(relid, n, false)))
			return false;
	}
	return set != NULL;
}

/* Which part of the table the clauses leave to be read. */
static double
read_part(PlannerInfo *root, RelOptInfo *rel, Oid relid, List *pushed)
{
	RelInfo *info = rel->fdw_private;
	const BifangKind *kind = bifang_kind_of(&info->options);
	double part = 1;
	ListCell *lc;

	foreach (lc, pushed)
	{
		RestrictInfo *rinfo = lfirst(lc);
		double sel = clause_selectivity(root, (Node *) rinfo, (int) rel->relid, JOIN_INNER, NULL);
		double c = 0;
		List *attrs;
		bool all;

		if (kind->searches != NULL)
		{
			if (is_search(kind, rel, relid, (Node *) rinfo->clause))
				part *= sel;
			continue;
		}
		attrs = attrs_of((Node *) rinfo->clause, rel->relid, relid, rel->max_attr, &all);
		if (list_length(attrs) == 1)
			c = correlation(relid, (AttrNumber) linitial_int(attrs));
		part = Min(part, c * sel + (1 - c));
	}
	return part;
}

static ForeignPath *
scan_path(PlannerInfo *root, RelOptInfo *rel, Oid relid, Relids required_outer, double rows,
		  List *pushed, List *quals, double processes)
{
	RelInfo *info = rel->fdw_private;
	double part = Min(read_part(root, rel, relid, pushed), info->part);
	double left = part / Max(info->part, 1e-9); /* of what planning left */
	QualCost qual_cost;
	Cost startup;
	Cost run;

	cost_qual_eval(&qual_cost, quals, root);
	startup = UNIT_COST + qual_cost.startup + rel->reltarget->cost.startup;
	run = info->n_units * (pushed == NIL ? UNIT_COST : 1.0 + left * (UNIT_COST - 1.0));
	run += info->bytes / BLCKSZ * left * seq_page_cost * PAGE_COST_FACTOR;
	run += clamp_row_est(rel->tuples * part) *
		   (cpu_tuple_cost * ROW_COST_FACTOR + qual_cost.per_tuple);
	run += rows * rel->reltarget->cost.per_tuple;
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
	double pages = info->bytes * PARALLEL_BYTES_FACTOR / BLCKSZ;
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

/* Columns that the query reads: what the relation's parents want, and what its own clauses test. */
static List *
needed_attrs(PlannerInfo *root, RelOptInfo *rel, List *clauses)
{
	Oid relid = planner_rt_fetch(rel->relid, root)->relid;
	bool all;

	return attrs_of((Node *) list_make2(rel->reltarget->exprs, clauses), rel->relid, relid,
					rel->max_attr, &all);
}

ForeignScan *
bifangGetForeignPlan(PlannerInfo *root, RelOptInfo *rel, Oid foreigntableid, ForeignPath *best_path,
					 List *tlist, List *scan_clauses, Plan *outer_plan)
{
	List *clauses = extract_actual_clauses(scan_clauses, false);
	List *pushed = NIL;
	ListCell *lc;

	(void) foreigntableid;
	(void) best_path;
	foreach (lc, scan_clauses)
		if (bifang_push_clause(root, rel, lfirst(lc)))
			pushed = lappend(pushed, copyObject(lfirst_node(RestrictInfo, lc)->clause));
	return make_foreignscan(tlist, clauses, rel->relid, pushed,
							list_make1(needed_attrs(root, rel, clauses)), NIL, NIL, outer_plan);
}
