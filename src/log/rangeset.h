/*
 * log/rangeset.h: sets of entry numbers as sorted, disjoint, merged closed ranges.
 *
 * Text: ranges joined by `_`, a range is `first-last` in decimal without leading zeros, `0-5_7-7_9-20`; the
 * empty set is the empty text. Canonical = strictly ascending with a hole of at least one entry
 * between neighbours. Parsing refuses what is unsorted, overlapping, adjacent is merged when
 * `lenient`, a single number `7` means 7-7. Entries are 0 .. 2^63-2.
 */
#ifndef BF_LOG_RANGESET_H
#define BF_LOG_RANGESET_H

#include "base/bytes.h"

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

extern BfStatus bf_rangeset_parse(BfArena *a, const char *text, size_t n, bool lenient,
								  BfRangeSet *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_rangeset_format(const BfRangeSet *s, BfBuffer *out, BfError *err) BF_MUST_CHECK;
/* From any ranges: sorted and merged. */
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

/* A logical file's name: bifang://{db}/{table}/{ledgerId}_{rangeSet}.log. db and table are
 * percent-encoded (all but unreserved characters of RFC 3986). */
typedef struct BfLogicalFile
{
	const char *db;
	const char *table;
	int64_t ledger_id;
	BfRangeSet ranges;
} BfLogicalFile;

#define BF_LOGICAL_SCHEME "bifang://"

extern bool bf_is_logical_path(const char *path);
extern BfStatus bf_logical_parse(BfArena *a, const char *path, BfLogicalFile *out, BfError *err)
	BF_MUST_CHECK;
extern BfStatus bf_logical_format(BfArena *a, const BfLogicalFile *f, const char **out, BfError *err)
	BF_MUST_CHECK;

/* Coverage of many ledgers as text, for `bifang.covered`: `12:0-99_150-199;13:0-5`, ascending ids. */
typedef struct BfCoverage
{
	int32_t n;
	struct BfCoverageItem
	{
		int64_t ledger_id;
		BfRangeSet ranges;
	} *items; /* ascending ledger_id */
} BfCoverage;

extern BfStatus bf_coverage_parse(BfArena *a, const char *text, size_t n, BfCoverage *out,
								  BfError *err) BF_MUST_CHECK;
extern BfStatus bf_coverage_format(const BfCoverage *c, BfBuffer *out, BfError *err) BF_MUST_CHECK;
/* The ledger's set, the empty set if absent. */
extern const BfRangeSet *bf_coverage_of(const BfCoverage *c, int64_t ledger_id);
extern BfStatus bf_coverage_add(BfArena *a, const BfCoverage *c, int64_t ledger_id,
								const BfRangeSet *more, BfCoverage *out, BfError *err) BF_MUST_CHECK;

#endif
