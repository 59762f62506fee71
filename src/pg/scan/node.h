/*
 * pg/scan/node.h: a scan as a plan node's state.
 */
#ifndef BIFANG_PG_SCAN_NODE_H
#define BIFANG_PG_SCAN_NODE_H

#include "postgres.h"

#include "storage/dsm.h"

#include "pg/scan/scan.h"

typedef struct BifangScanNode
{
	BifangScan *scan;
	bool started;			  /* false: at the first row, values of predicates not taken yet */
	BfView pins;			  /* parallel, the leader: what goes into shared memory */
	dsm_segment *shared_plan; /* parallel: the leader's plan; NULL = none */
} BifangScanNode;

#endif
