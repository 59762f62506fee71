/*
 * pg/scan/cost.c: see cost.h.
 *
 * The constants are ratios of CPU time to that of a sequential scan of a heap table in memory, as
 * the server's own parameters have it (cpu_tuple_cost and a share of seq_page_cost per row).
 */
#include "pg/scan/cost.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "pg/scan/learned.h"
#include "pg/server/settings.h"

/* Opening a file whose footer is known; a log, with its schema, directory and index; and neither,
 * for a file whose footer says no. */
#define FILE_COST 8.0
#define LOG_COST 30.0
#define PRUNED_COST 4.0
/* Decompressing, in terms of sequential pages. */
#define PAGE_COST_FACTOR 0.5
/* A value decoded and filtered, in terms of cpu_operator_cost; of a log that is row by row. */
#define VALUE_COST_FACTOR 0.5
#define LOG_VALUE_COST_FACTOR 2.0
/* A row handed out, without its columns, in terms of cpu_tuple_cost; and one of them, again in
 * terms of cpu_operator_cost. */
#define ROW_COST_FACTOR 0.5
#define DATUM_COST_FACTOR 1.0

/* Of a scan that runs again out of memory: beginning, a unit, and a value that is filtered, in
 * terms of cpu_operator_cost. A value takes about so much room. They are three to five times what
 * was measured, beginning two hundred times: how often a scan runs is estimated too low more often
 * than too high, by much where joins are between, and a join that reads everything once does not
 * mind. Several thousand runs out of memory take as long as a scan of 300,000 rows; where so many
 * could be meant by what is called a hundred, that is the better bet. */
#define KEPT_COST 60.0
#define KEPT_UNIT_COST 1.5
#define KEPT_COST_FACTOR 0.5
#define KEPT_VALUE_BYTES 12.0
/* How often a correlated subquery runs; nobody says. */
#define SUBQUERY_RUNS 20.0

/* Rows whose other columns are decoded for one that is left: about a page. */
#define LATE_ROWS 1000.0

static List *
all_attrs(RelOptInfo *rel, Oid relid)
{
	List *attrs = NIL;

	for (AttrNumber att = 1; att <= rel->max_attr; att++)
		if (OidIsValid(get_atttype(relid, att)))
			attrs = lappend_int(attrs, att);
	return attrs;
}

List *
bifang_attrs_of(Node *node, RelOptInfo *rel, Oid relid)
{
	Bitmapset *set = NULL;
	List *attrs = NIL;
	int member = -FirstLowInvalidHeapAttributeNumber;

	pull_varattnos(node, rel->relid, &set);
	if (bms_is_member(member, set))
		return all_attrs(rel, relid);
	while ((member = bms_next_member(set, member)) >= 0)
		attrs = lappend_int(attrs, member + FirstLowInvalidHeapAttributeNumber);
	return attrs;
}

void
bifang_scan_size(const BfScanList *l, Oid relid, double rows, BifangScanSize *out)
{
	const BfScanTotals *t = &l->totals;
	double scale = t->rows > 0 ? rows / (double) t->rows : 1;
	double in_file;

	memset(out, 0, sizeof *out);
	for (int i = 0; l->tiers[i].name != NULL; i++)
	{
		BifangScanPart *part = l->tiers[i].log ? &out->logs : &out->files;

		part->units += t->n_of_tier[i];
		part->rows += (double) t->rows_of_tier[i] * scale;
		part->bytes += (double) t->bytes_of_tier[i];
	}
	in_file = out->files.rows / Max(out->files.units, 1);
	out->unit_rows = Max(Min(bifang_learned_unit_rows(relid), in_file), 1);
}

/* ---- what predicates leave ---- */

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
is_search(const BifangScanAsk *ask, RelOptInfo *rel, Node *clause)
{
	List *attrs = bifang_attrs_of(clause, rel, ask->relid);
	ListCell *lc;

	foreach (lc, attrs)
	{
		AttrNumber attnum = (AttrNumber) lfirst_int(lc);
		BifangColumnOptions o;

		bifang_column_options_get(ask->relid, attnum, &o);
		if (!ask->kind->searches(bifang_column_name(&o, get_attname(ask->relid, attnum, false))))
			return false;
	}
	return attrs != NIL;
}

/* Which part of the rows has to be read: where the rows that match stand together they are read in
 * proportion, but for the units in which they begin and end; else all of them. */
static double
part_read(PlannerInfo *root, RelOptInfo *rel, const BifangScanAsk *ask, double unit)
{
	double part = 1;
	ListCell *lc;

	Assert(unit > 0 && unit <= 1);
	foreach (lc, ask->pushed)
	{
		RestrictInfo *rinfo = lfirst(lc);
		double sel = clause_selectivity(root, (Node *) rinfo, (int) rel->relid, JOIN_INNER, NULL);
		double c = 0;
		List *attrs;

		if (ask->kind->searches != NULL)
		{
			if (is_search(ask, rel, (Node *) rinfo->clause))
				part *= sel;
			continue;
		}
		attrs = bifang_attrs_of((Node *) rinfo->clause, rel, ask->relid);
		if (list_length(attrs) == 1)
			c = correlation(ask->relid, (AttrNumber) linitial_int(attrs));
		part = Min(part, c * Min(sel + unit, 1) + (1 - c));
	}
	return part;
}

static bool
has_exec_param(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC;
	return expression_tree_walker(node, has_exec_param, arg);
}

/* How often a path is run in a query, as far as one can say now. */
static double
runs(PlannerInfo *root, const BifangScanAsk *ask)
{
	double least = 0;
	int outer = -1;
	ListCell *lc;

	while ((outer = bms_next_member(ask->outer, outer)) >= 0)
	{
		RelOptInfo *rel =
			outer < root->simple_rel_array_size ? root->simple_rel_array[outer] : NULL;

		if (rel != NULL && rel->rows > 0 && (least == 0 || rel->rows < least))
			least = rel->rows;
	}
	if (least > 0)
		return Max(least, 1);
	foreach (lc, ask->pushed)
		if (has_exec_param((Node *) lfirst_node(RestrictInfo, lc)->clause, NULL))
			return SUBQUERY_RUNS;
	return 1;
}

/* ---- columns ---- */

/* What reading a row takes: values that are decoded for all rows, for those that are left, and
 * which part of the bytes that is. */
typedef struct Columns
{
	int early;
	int late;
	double early_bytes;
	double late_bytes;
} Columns;

void
bifang_scan_widths(TupleDesc desc, BifangScanSize *size)
{
	size->widths = palloc0(((Size) desc->natts + 1) * sizeof *size->widths);
	size->width = 0;
	for (int i = 0; i < desc->natts; i++)
	{
		const FormData_pg_attribute *att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		size->widths[att->attnum] = get_typavgwidth(att->atttypid, att->atttypmod);
		size->width += size->widths[att->attnum];
	}
}

static double
width_of(const BifangScanSize *size, List *attrs)
{
	double width = 0;
	ListCell *lc;

	foreach (lc, attrs)
		width += size->widths[lfirst_int(lc)];
	return width;
}

static Columns
columns_of(RelOptInfo *rel, const BifangScanAsk *ask)
{
	List *needed = bifang_attrs_of(
		(Node *) list_make2(rel->reltarget->exprs, extract_actual_clauses(ask->quals, false)), rel,
		ask->relid);
	List *early =
		bifang_attrs_of((Node *) extract_actual_clauses(ask->pushed, false), rel, ask->relid);
	double width = Max(ask->size->width, 1);
	double of_early = width_of(ask->size, early);

	return (Columns){.early = list_length(early),
					 .late = Max(list_length(needed) - list_length(early), 0),
					 .early_bytes = of_early / width,
					 .late_bytes = Max(width_of(ask->size, needed) - of_early, 0) / width};
}

/* ---- costs ---- */

/* Of files: `part` of them is read, of whose rows `left` pass what is pushed. */
static Cost
file_cost(const BifangScanPart *files, const Columns *c, double part, double left)
{
	double late = 1 - pow(1 - left, LATE_ROWS);
	Cost pages = files->bytes / BLCKSZ * seq_page_cost * PAGE_COST_FACTOR;
	Cost values = files->rows * cpu_operator_cost * VALUE_COST_FACTOR;

	Assert(late >= 0 && late <= 1);
	return files->units * (part * FILE_COST + (1 - part) * PRUNED_COST) +
		   part * (pages * (c->early_bytes + late * c->late_bytes) +
				   values * (c->early + late * c->late));
}

/* Of logs: whole entries are decompressed and decoded. */
static Cost
log_cost(const BifangScanPart *logs, const Columns *c, double part)
{
	return logs->units * LOG_COST +
		   part * (logs->bytes / BLCKSZ * seq_page_cost +
				   logs->rows * (cpu_tuple_cost +
								 (c->early + c->late) * cpu_operator_cost * LOG_VALUE_COST_FACTOR));
}

/* Of what is kept, where the memory is enough for it. */
static bool
kept_cost(const BifangScanSize *size, const Columns *c, double part, Cost *cost)
{
	double rows = size->files.rows + size->logs.rows;

	*cost = KEPT_COST + (size->files.units + size->logs.units) * KEPT_UNIT_COST +
			rows * part * c->early * cpu_operator_cost * KEPT_COST_FACTOR;
	return rows * (c->early + c->late + 1) * KEPT_VALUE_BYTES < bifang_rescan_kb * 1024.0;
}

void
bifang_scan_cost(PlannerInfo *root, RelOptInfo *rel, const BifangScanAsk *ask, Cost *startup,
				 Cost *run)
{
	const BifangScanSize *size = ask->size;
	double rows = Max(size->files.rows + size->logs.rows, 1);
	double matches =
		rel->tuples * clauselist_selectivity(root, ask->pushed, (int) rel->relid, JOIN_INNER, NULL);
	double part =
		part_read(root, rel, ask, Min(size->unit_rows / Max(size->files.rows, size->unit_rows), 1));
	Columns c = columns_of(rel, ask);
	double read = Max(size->files.rows * part, 1);
	double n = runs(root, ask);
	Cost kept;
	QualCost qual;

	matches = Min(matches, rows);
	cost_qual_eval(&qual, ask->quals, root);
	*startup = FILE_COST;
	*run = file_cost(&size->files, &c, part,
					 ask->pushed == NIL ? 1 : Min(matches * size->files.rows / rows / read, 1)) +
		   log_cost(&size->logs, &c, ask->kind->searches == NULL ? 1 : part);
	/* The first two runs read as always, and so do all of a table that is read for less. The first
	 * row comes as early either way. */
	if (n > 2 &&
		kept_cost(size, &c, part_read(root, rel, ask, Min(BF_BATCH_ROWS / rows, 1)), &kept) &&
		kept < *startup + *run)
		*run = kept + (*startup + *run - kept) * 2 / n - *startup;
	*startup += qual.startup + rel->reltarget->cost.startup;
	*run += matches * (cpu_tuple_cost * ROW_COST_FACTOR +
					   (c.early + c.late) * cpu_operator_cost * DATUM_COST_FACTOR + qual.per_tuple);
	*run += ask->rows * rel->reltarget->cost.per_tuple;
	Assert(*run >= 0);
}
