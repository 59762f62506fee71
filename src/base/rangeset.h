/*
 * base/rangeset.h: sets of numbers from 0 on, as sorted, disjoint, merged closed ranges: entries of
 * a ledger, offsets of a log, rows of a file.
 *
 * Canonical: first <= last in each range, and between neighbours a hole of at least one number, so
 * that sets are equal where their ranges are. What is made here is canonical, and what is given
 * must be; bf_rangeset_make makes it so. The empty set has no ranges.
 *
 * All operations are linear in the number of ranges and allocate exactly the result. A set has at
 * most BF_RANGESET_RANGES_MAX ranges; more is BF_ERR_LIMIT.
 */
#ifndef BF_BASE_RANGESET_H
#define BF_BASE_RANGESET_H

#include "base/arena.h"

typedef struct BfRange
{
	int64_t first;
	int64_t last; /* inclusive */
} BfRange;

typedef struct BfRangeSet
{
	int32_t n;
	BfRange *ranges; /* owned by the arena given at creation */
} BfRangeSet;

#define BF_RANGESET_RANGES_MAX 1000000
#define BF_ENTRY_MAX (INT64_MAX - 1)

/* From any ranges: sorted and merged. A range outside 0 .. 2^63-2 or with first > last is CORRUPT.
 */
extern BfStatus bf_rangeset_make(BfArena *a, const BfRange *ranges, int32_t n, BfRangeSet *out,
								 BfError *err) BF_MUST_CHECK;
extern BfStatus bf_rangeset_union(BfArena *a, const BfRangeSet *x, const BfRangeSet *y,
								  BfRangeSet *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_rangeset_intersect(BfArena *a, const BfRangeSet *x, const BfRangeSet *y,
									  BfRangeSet *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_rangeset_subtract(BfArena *a, const BfRangeSet *x, const BfRangeSet *y,
									 BfRangeSet *out, BfError *err) BF_MUST_CHECK;
extern int64_t bf_rangeset_count(const BfRangeSet *s);
extern bool bf_rangeset_contains(const BfRangeSet *s, int64_t entry);
extern bool bf_rangeset_equal(const BfRangeSet *x, const BfRangeSet *y);
/* Do they share an entry? */
extern bool bf_rangeset_overlaps(const BfRangeSet *x, const BfRangeSet *y);
/* Index of the first range whose last >= entry; s->n when there is none. */
extern int32_t bf_rangeset_seek(const BfRangeSet *s, int64_t entry);

#endif
