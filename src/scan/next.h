/*
 * scan/next.h: which unit of a list is read next, and by whom.
 *
 * Readers of one list take numbers from a BfScanNext until there are none left. One that reads
 * alone counts for itself; those that share a list, threads or processes, count in memory that all
 * of them have, and every unit goes to exactly one of them.
 *
 *   bf_scan_next_alone(&c, step)          0, step, 2 * step ... : every unit, or a sample
 *   bf_scan_next_shared(&c, &shared->at)  whatever nobody else has taken
 */
#ifndef BF_SCAN_NEXT_H
#define BF_SCAN_NEXT_H

#include <stdatomic.h>

#include "base/status.h"

typedef struct BfScanNext BfScanNext;

struct BfScanNext
{
	/* The next number below n; -1 when there is none, now and ever after. */
	int32_t (*take)(BfScanNext *next, int32_t n);
};

typedef struct BfScanAlone
{
	BfScanNext next; /* first, so that it can be taken for the whole */
	int64_t at;
	int32_t step;
} BfScanAlone;

/* Where those who share a list count; in memory that all can write. */
typedef _Atomic uint32_t BfScanCounter;

typedef struct BfScanShared
{
	BfScanNext next;
	BfScanCounter *at; /* borrowed */
} BfScanShared;

/* From the first unit on; step >= 1. */
extern void bf_scan_next_alone(BfScanAlone *c, int32_t step);
/* From where the counter stands. */
extern void bf_scan_next_shared(BfScanShared *c, BfScanCounter *at);

#endif
