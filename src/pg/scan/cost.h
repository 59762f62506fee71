/*
 * pg/scan/cost.h: what a scan costs, in the planner's units.
 *
 * What is decoded is what costs. A predicate leaves out whole units of reading only: row groups, or
 * pages where files have page indexes; of a log nothing but what its index finds. Of a unit that is
 * read, columns of pushed predicates are decoded for all rows, the others where rows are left.
 *
 *     rows that may match     by selectivity, as far as the order of a column is that of the rows
 *       -> rows decoded       those, rounded up to units of reading
 *       -> values decoded     by columns
 *       -> rows given         by selectivity
 *
 * A scan that runs again finds in memory what it decoded before, as far as that is enough: then
 * only columns of pushed predicates are looked at, in batches that their bounds don't rule out.
 *
 * How large row groups are and whether pages have an index is what this backend has seen of the
 * table's files (learned.h), else a guess.
 */
#ifndef BIFANG_PG_SCAN_COST_H
#define BIFANG_PG_SCAN_COST_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "pg/scan/kind.h"

/* What there is to read in one form, once planning has left out what it can. */
typedef struct BifangScanPart
{
	double units;
	double rows;
	double bytes;
} BifangScanPart;

typedef struct BifangScanSize
{
	BifangScanPart files;
	BifangScanPart logs;
	double unit_rows; /* of files: in what is read or left out as a whole */
	double width;	  /* of a row's values, by their types */
	int32 *widths;	  /* of each, by attribute number */
} BifangScanSize;

/* A path that is to be costed. */
typedef struct BifangScanAsk
{
	const BifangKind *kind;
	Oid relid;
	const BifangScanSize *size;
	List *pushed; /* RestrictInfo *: what the scan uses */
	List *quals;  /* RestrictInfo *: what the executor tests */
	Relids outer; /* that give values to what is pushed; NULL = none do */
	double rows;  /* that come out in the end */
} BifangScanAsk;

/* Attribute numbers of the relation that the expression has, ascending. */
extern List *bifang_attrs_of(Node *node, RelOptInfo *rel, Oid relid);
/* `rows`: of the list, as the planner believes them. */
extern void bifang_scan_size(const BfScanList *l, Oid relid, double rows, BifangScanSize *out);
/* The rest of it, which is the same whatever there is to read; in the current context. */
extern void bifang_scan_widths(TupleDesc desc, BifangScanSize *size);
extern void bifang_scan_cost(PlannerInfo *root, RelOptInfo *rel, const BifangScanAsk *ask,
							 Cost *startup, Cost *run);

#endif
