/*
 * log/rangeset.h: sets of entries (base/rangeset.h) as text.
 *
 * Text form (ABNF; the empty set is the empty text):
 *
 *     rangeset = [ range *( "_" range ) ]
 *     range    = number "-" number              first and last, both inclusive
 *     number   = "0" / ( %x31-39 *DIGIT )       0 .. 2^63-2, no leading zeros
 *
 * Example: `0-5_7-7_9-20`. Canonical means: first <= last in each range, and between neighbours
 * a hole of at least one entry. Parsing refuses everything else with the byte position, except
 * that in lenient mode (names written by other implementations) neighbours that touch are merged
 * (`1-5_6-9` is `1-9`) and a single number `7` means `7-7`. Unsorted or overlapping ranges are
 * refused in both modes: they are a sign that entries were named twice.
 */
#ifndef BF_LOG_RANGESET_H
#define BF_LOG_RANGESET_H

#include "base/bytes.h"
#include "base/rangeset.h"

extern BfStatus bf_rangeset_parse(BfArena *a, const char *text, size_t n, bool lenient,
								  BfRangeSet *out, BfError *err) BF_MUST_CHECK;
/* Appends the canonical text, without a NUL. */
extern BfStatus bf_rangeset_format(const BfRangeSet *s, BfBuffer *out, BfError *err) BF_MUST_CHECK;
/*
 * A logical file's name: bifang://{db}/{table}/{ledgerId}_{rangeSet}.log. db and table are
 * percent-encoded (all but the unreserved characters of RFC 3986) and not empty; reading also
 * takes raw bytes that should have been encoded. The range set is read leniently, and may be
 * empty (`7_.log`).
 */
typedef struct BfLogicalFile
{
	const char *db;
	const char *table;
	int64_t ledger_id;
	BfRangeSet ranges;
} BfLogicalFile;

#define BF_LOGICAL_SCHEME "bifang://"

extern bool bf_is_logical_path(const char *path);
extern BfStatus
bf_logical_parse(BfArena *a, const char *path, BfLogicalFile *out, BfError *err) BF_MUST_CHECK;
extern BfStatus
bf_logical_format(BfArena *a, const BfLogicalFile *f, const char **out, BfError *err) BF_MUST_CHECK;

/* Coverage of many ledgers as text, for `bifang.covered`: `12:0-99_150-199;13:0-5`, ascending
 * ids, no ledger twice, no empty set. The empty coverage is the empty text. */
typedef struct BfCoverage
{
	int32_t n;
	struct BfCoverageItem
	{
		int64_t ledger_id;
		BfRangeSet ranges;
	} * items; /* ascending ledger_id */
} BfCoverage;

extern BfStatus bf_coverage_parse(BfArena *a, const char *text, size_t n, BfCoverage *out,
								  BfError *err) BF_MUST_CHECK;
/* Ledgers with an empty set are left out. */
extern BfStatus bf_coverage_format(const BfCoverage *c, BfBuffer *out, BfError *err) BF_MUST_CHECK;
/* The ledger's set, the empty set if absent. */
extern const BfRangeSet *bf_coverage_of(const BfCoverage *c, int64_t ledger_id);
/* *out may be c; what was not touched is shared with c. */
extern BfStatus
bf_coverage_add(BfArena *a, const BfCoverage *c, int64_t ledger_id, const BfRangeSet *more,
				BfCoverage *out, BfError *err) BF_MUST_CHECK;

#endif
