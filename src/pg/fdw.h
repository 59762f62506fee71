/*
 * pg/fdw.h: a scan as a plan node's state.
 */
#ifndef BIFANG_PG_FDW_H
#define BIFANG_PG_FDW_H

#include "pg/scan.h"

typedef struct BifangScanNode
{
	BifangScan *scan;
	BifangSearchSet *searches; /* NULL = none */
	bool started;			   /* false: at the first row, values of searches not taken yet */
} BifangScanNode;

#endif
