/*
 * pg/scan/plan.h: planning of scans, and what the plan carries to the executor.
 */
#ifndef BIFANG_PG_SCAN_PLAN_H
#define BIFANG_PG_SCAN_PLAN_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* ForeignScan.fdw_private is a List with these members, copyable and printable as plans must be.
 * ForeignScan.fdw_exprs holds the clauses that the scan uses, see pushdown.h. */
typedef enum BifangPlanPrivate
{
	BIFANG_PLAN_ATTRS, /* IntList: attribute numbers that the query needs, ascending */
	BIFANG_PLAN_MEMBERS
} BifangPlanPrivate;

extern void bifangGetForeignRelSize(PlannerInfo *root, RelOptInfo *rel, Oid foreigntableid);
extern void bifangGetForeignPaths(PlannerInfo *root, RelOptInfo *rel, Oid foreigntableid);
extern ForeignScan *
bifangGetForeignPlan(PlannerInfo *root, RelOptInfo *rel, Oid foreigntableid, ForeignPath *best_path,
					 List *tlist, List *scan_clauses, Plan *outer_plan);

#endif
