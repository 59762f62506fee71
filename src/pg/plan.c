/*
 * pg/plan.c: planning of scans.
 *
 * Rows and bytes come from the worklist: exact for lake tables (manifests and ledger ends), for
 * plain files what earlier scans of this backend saw, else what ANALYZE said scaled by size, else a
 * guess from the size. No data file is opened here.
 *
 * Predicates are evaluated by the executor, all of them. Those that a log's index can answer are
 * handed to the scan as well, as expressions that it evaluates when it starts and at every rescan.
 */
#include "pg/plan.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/sysattr.h"
#include "catalog/pg_type.h"
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
#include "utils/typcache.h"

#include "pg/options.h"
#include "pg/version.h"
#include "pg/worklist.h"

/* What reading costs beside cpu_tuple_cost: opening a unit, and decoding, in terms of sequential
 * pages. A row through this scan takes about half the time of a heap row. */
#define UNIT_COST 2.0
#define PAGE_COST_FACTOR 0.3
#define ROW_COST_FACTOR 0.5

typedef struct RelInfo
{
	BifangOptions options;
	int64 bytes;
	int32 n_units;
	List *searches; /* RestrictInfo * of baserestrictinfo that the log's index can answer */
} RelInfo;

static const struct
{
	const char *name;
	BfKafkaColumn column;
} kafka_columns[] = {
	{"partition", BF_KAFKA_PARTITION}, {"offset", BF_KAFKA_OFFSET},
	{"timestamp", BF_KAFKA_TIMESTAMP}, {"key", BF_KAFKA_KEY},
	{"value", BF_KAFKA_VALUE},		   {"headers", BF_KAFKA_HEADERS},
};

bool
bifang_kafka_column(const char *name, BfKafkaColumn *out)
{
	for (int i = 0; i < (int) lengthof(kafka_columns); i++)
		if (strcmp(kafka_columns[i].name, name) == 0)
		{
			*out = kafka_columns[i].column;
			return true;
		}
	return false;
}

const char *
bifang_kafka_column_name(BfKafkaColumn c)
{
	for (int i = 0; i < (int) lengthof(kafka_columns); i++)
		if (kafka_columns[i].column == c)
			return kafka_columns[i].name;
	return "?";
}

/* ---- predicates for the log's index ---- */

/* Is it a column of this relation that the index knows, declared with the expected type? */
static bool
search_column(PlannerInfo *root, RelOptInfo *rel, Node *node, BfKafkaColumn *column)
{
	Var *var = (Var *) node;
	Oid relid = planner_rt_fetch(rel->relid, root)->relid;

	if (!IsA(node, Var) || var->varno != (int) rel->relid || var->varlevelsup != 0 ||
		var->varattno <= 0 ||
		!bifang_kafka_column(get_attname(relid, var->varattno, false), column))
		return false;
	switch (*column)
	{
		case BF_KAFKA_PARTITION: return var->vartype == INT4OID || var->vartype == INT8OID;
		case BF_KAFKA_OFFSET: return var->vartype == INT8OID;
		case BF_KAFKA_TIMESTAMP: return var->vartype == TIMESTAMPTZOID;
		default: return false;
	}
}

static bool
search_value(RelOptInfo *rel, Node *value, BfKafkaColumn column, bool is_array)
{
	Oid type = exprType(value);

	if (is_array)
		type = get_element_type(type);
	if (bms_is_member((int) rel->relid, pull_varnos(NULL, value)) ||
		contain_volatile_functions(value) || contain_subplans(value))
		return false;
	if (column == BF_KAFKA_TIMESTAMP)
		return type == TIMESTAMPTZOID || type == TIMESTAMPOID || type == DATEOID;
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* `column op value` or the reverse, or `column = ANY (array)`. */
static bool
match_search(PlannerInfo *root, RelOptInfo *rel, Expr *clause, BifangSearch *search, Expr **value)
{
	Node *left;
	Node *right;
	Oid op;
	Oid family;

	search->is_array = false;
	if (IsA(clause, OpExpr) && list_length(((OpExpr *) clause)->args) == 2)
	{
		OpExpr *e = (OpExpr *) clause;

		left = linitial(e->args);
		right = lsecond(e->args);
		op = e->opno;
		if (!IsA(left, Var) || ((Var *) left)->varno != (int) rel->relid)
		{
			Node *swap = left;

			left = right;
			right = swap;
			op = get_commutator(op);
		}
	}
	else if (IsA(clause, ScalarArrayOpExpr) && ((ScalarArrayOpExpr *) clause)->useOr)
	{
		ScalarArrayOpExpr *e = (ScalarArrayOpExpr *) clause;

		left = linitial(e->args);
		right = lsecond(e->args);
		op = e->opno;
		search->is_array = true;
	}
	else
		return false;
	if (!OidIsValid(op) || !search_column(root, rel, left, &search->column) ||
		!search_value(rel, right, search->column, search->is_array))
		return false;
	family = lookup_type_cache(search->column == BF_KAFKA_TIMESTAMP ? TIMESTAMPTZOID : INT8OID,
							   TYPECACHE_BTREE_OPFAMILY)
				 ->btree_opf;
	search->strategy = get_op_opfamily_strategy(op, family);
	*value = (Expr *) right;
	return search->strategy != 0 &&
		   (!search->is_array || search->strategy == BTEqualStrategyNumber);
}

static bool
is_search(PlannerInfo *root, RelOptInfo *rel, RestrictInfo *rinfo)
{
	BifangSearch search;
	Expr *value;

	return !rinfo->pseudoconstant && match_search(root, rel, rinfo->clause, &search, &value);
}

/* ---- size ---- */

/* ANALYZE knew better than a guess by size; files may have come and gone since. */
static double
analyzed_rows(RelOptInfo *rel, const BifangWorklist *w)
{
	if (rel->tuples > 0 && rel->pages > 0)
		return rel->tuples * ((double) w->bytes / ((double) rel->pages * BLCKSZ));
	return (double) w->rows;
}

void
bifangGetForeignRelSize(PlannerInfo *root, RelOptInfo *rel, Oid foreigntableid)
{
	RelInfo *info = palloc0(sizeof *info);
	BifangWorklist *w;
	ListCell *lc;

	bifang_options_get(foreigntableid, &info->options);
	bifang_options_check_read(&info->options);
	w = bifang_worklist(CurrentMemoryContext, &info->options, GetActiveSnapshot());
	info->bytes = w->bytes + w->live_rows * 64;
	info->n_units = w->n_units;
	rel->tuples = w->exact ? (double) w->rows : analyzed_rows(rel, w);
	rel->pages = (BlockNumber) Min(info->bytes / BLCKSZ + 1, MaxBlockNumber);
	if (info->options.format == BIFANG_KAFKA_LOG)
		foreach (lc, rel->baserestrictinfo)
			if (is_search(root, rel, lfirst(lc)))
				info->searches = lappend(info->searches, lfirst(lc));
	rel->fdw_private = info;
	set_baserel_size_estimates(root, rel);
}

/* ---- paths ---- */

static void
add_scan_path(PlannerInfo *root, RelOptInfo *rel, Relids required_outer, double rows,
			  List *searches, List *quals)
{
	RelInfo *info = rel->fdw_private;
	double part = clauselist_selectivity(root, searches, (int) rel->relid, JOIN_INNER, NULL);
	double read_rows = clamp_row_est(rel->tuples * part);
	QualCost qual_cost;
	Cost startup;
	Cost total;

	cost_qual_eval(&qual_cost, quals, root);
	startup = UNIT_COST + qual_cost.startup + rel->reltarget->cost.startup;
	total = startup + info->n_units * (searches == NIL ? UNIT_COST : 1.0);
	total += (double) info->bytes / BLCKSZ * part * seq_page_cost * PAGE_COST_FACTOR;
	total += read_rows * (cpu_tuple_cost * ROW_COST_FACTOR + qual_cost.per_tuple);
	total += rows * rel->reltarget->cost.per_tuple;
	add_path(rel,
			 (Path *) bifang_scan_path(root, rel, rows, startup, total, NIL, required_outer, NIL));
}

/* Join clauses on the log's index, their own and those that equivalence classes imply. */
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
join_searches(PlannerInfo *root, RelOptInfo *rel)
{
	List *result = NIL;
	ListCell *lc;

	foreach (lc, rel->joininfo)
	{
		RestrictInfo *rinfo = lfirst(lc);

		if (join_clause_is_movable_to(rinfo, rel) && is_search(root, rel, rinfo))
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

			if (join_clause_is_movable_to(rinfo, rel) && is_search(root, rel, rinfo))
				result = lappend(result, rinfo);
		}
	}
	return result;
}

static void
add_param_paths(PlannerInfo *root, RelOptInfo *rel)
{
	RelInfo *info = rel->fdw_private;
	List *seen = NIL;
	ListCell *lc;

	foreach (lc, join_searches(root, rel))
	{
		RestrictInfo *join = lfirst(lc);
		Relids outer = bms_union(join->clause_relids, rel->lateral_relids);
		ParamPathInfo *param;
		List *searches = list_copy(info->searches);
		ListCell *other;

		outer = bms_del_member(outer, (int) rel->relid);
		if (bms_is_empty(outer))
			continue;
		param = get_baserel_parampathinfo(root, rel, outer);
		if (list_member_ptr(seen, param))
			continue;
		seen = lappend(seen, param);
		foreach (other, param->ppi_clauses)
			if (is_search(root, rel, lfirst(other)))
				searches = lappend(searches, lfirst(other));
		add_scan_path(root, rel, outer, param->ppi_rows, searches,
					  list_concat_copy(param->ppi_clauses, rel->baserestrictinfo));
	}
}

void
bifangGetForeignPaths(PlannerInfo *root, RelOptInfo *rel, Oid foreigntableid)
{
	RelInfo *info = rel->fdw_private;

	(void) foreigntableid;
	add_scan_path(root, rel, rel->lateral_relids, rel->rows, info->searches, rel->baserestrictinfo);
	if (info->options.format == BIFANG_KAFKA_LOG)
		add_param_paths(root, rel);
}

/* ---- plan ---- */

/* Columns that the query reads: what the relation's parents want, and what its own clauses test. */
static List *
needed_attrs(PlannerInfo *root, RelOptInfo *rel, List *clauses)
{
	Oid relid = planner_rt_fetch(rel->relid, root)->relid;
	Bitmapset *set = NULL;
	List *attrs = NIL;
	bool all;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &set);
	pull_varattnos((Node *) clauses, rel->relid, &set);
	all = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, set);
	for (AttrNumber att = 1; att <= rel->max_attr; att++)
		if ((all || bms_is_member(att - FirstLowInvalidHeapAttributeNumber, set)) &&
			OidIsValid(get_atttype(relid, att)))
			attrs = lappend_int(attrs, att);
	return attrs;
}

ForeignScan *
bifangGetForeignPlan(PlannerInfo *root, RelOptInfo *rel, Oid foreigntableid, ForeignPath *best_path,
					 List *tlist, List *scan_clauses, Plan *outer_plan)
{
	RelInfo *info = rel->fdw_private;
	List *clauses = extract_actual_clauses(scan_clauses, false);
	List *searches = NIL;
	List *values = NIL;
	ListCell *lc;

	(void) foreigntableid;
	(void) best_path;
	if (info->options.format == BIFANG_KAFKA_LOG)
		foreach (lc, clauses)
		{
			BifangSearch s;
			Expr *value;

			if (!match_search(root, rel, lfirst(lc), &s, &value))
				continue;
			searches = lappend_int(searches, (int) s.column);
			searches = lappend_int(searches, s.strategy);
			searches = lappend_int(searches, s.is_array);
			values = lappend(values, copyObject(value));
		}
	return make_foreignscan(tlist, clauses, rel->relid, values,
							list_make2(needed_attrs(root, rel, clauses), searches), NIL, NIL,
							outer_plan);
}
