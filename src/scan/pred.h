/*
 * scan/pred.h: what a predicate says of one field that holds whole numbers.
 *
 * Facts about rows that say where they are (entry, offset, time) are searched for and not tested
 * row by row, so a scan asks a predicate which of them can match at all. Both answers contain every
 * number that a matching row can have; they may contain more.
 *
 *   offset >= 10 AND offset < 20 OR offset IN (3, 5)      ranges 3-3 5-5 10-19      hull 3..19
 *   offset > 7 OR other = 'x'                             ranges 0-(2^63-2)         hull none
 *
 * A condition on another field counts where `stats_of` (may be NULL) says that it fails for all
 * rows in question, and as true else. What lies deeper than BF_PRED_DEPTH_MAX counts as true.
 */
#ifndef BF_SCAN_PRED_H
#define BF_SCAN_PRED_H

#include "log/rangeset.h"
#include "vec/pred.h"

/* Numbers from 0 to BF_ENTRY_MAX that the field must have for a row to match. More ranges than a
 * set may have are one, from the first to the last. In `a`. */
extern BfStatus bf_scan_pred_ranges(BfArena *a, const BfPred *p, int32_t field, BfStatsOf stats_of,
									void *arg, BfRangeSet *out, BfError *err) BF_MUST_CHECK;
/* Those that it must lie between, both included; the limits of int64 where there is no bound.
 * false: no row can match. */
extern bool bf_scan_pred_hull(const BfPred *p, int32_t field, BfStatsOf stats_of, void *arg,
							  int64_t *low, int64_t *high);
/* The predicate without what it says of fields from n_fields on, which then may be anything. Shares
 * with `p` what it can; p may be NULL. */
extern BfStatus bf_scan_pred_below(BfArena *a, const BfPred *p, int32_t n_fields,
								   const BfPred **out, BfError *err) BF_MUST_CHECK;

#endif
