/*
 * log/segment.h: a directory of segments (a Kafka partition or a live ledger), read side.
 *
 *   <20 digits>.log        batches from this offset on, up to the next segment's
 *   <20 digits>.index      log/index.h; may be missing, preallocated, or wrong
 *   <20 digits>.timeindex  likewise
 *   <20 digits>.txnindex   aborted transactions whose marker is in this segment; no more than a
 *                          hint, since the markers are in the log, under its checksums
 *   <20 digits>.snapshot   open transactions at this offset; a hint too
 *   *.swap                 the result of a compaction, counts only while the plain file is missing
 *   *.deleted *.cleaned    leftovers, ignored; a segment that is renamed to .deleted after the
 *                          listing is still read
 *
 * A BfLogDir lists the directory once and fixes sizes at open, so a later append is not seen.
 * Walking yields whole batches in offset order, starting at the position that the index search
 * gives. The index is never trusted: what it points at must be a batch with the offsets that it
 * names, else the segment is read from its start.
 *
 * Tolerant mode is for directories that a broker may be writing: a torn or zero tail of the last
 * segment ends the walk. What cannot be a batch that is being written is corrupt even there: a cut
 * batch before a position that the index names, an end before the newest snapshot. Strict mode is
 * for ledgers up to their acknowledged end: every entry of the ranges must be there, and nothing
 * past the last one is looked at, since the next writer may be cutting it off.
 */
#ifndef BF_LOG_SEGMENT_H
#define BF_LOG_SEGMENT_H

#include "io/source.h"
#include "log/batch.h"
#include "log/index.h"
#include "log/rangeset.h"

typedef struct BfLogCounters
{
	BfIoCounters io;
	BfIndexStats index;
	int64_t segments_read;
	int64_t segments_skipped;
	int64_t batches_read;	 /* whole batches fetched */
	int64_t batches_skipped; /* passed over by their header */
	int64_t entries_decoded; /* counted by whoever decodes */
} BfLogCounters;

typedef struct BfSegmentInfo
{
	const char *path; /* of the .log */
	int64_t base_offset;
	int64_t size;
	bool swap;
	bool has_index;
	bool has_time_index;
	bool has_txn_index;
} BfSegmentInfo;

typedef struct BfLogDir BfLogDir;

/* Is it the name of one of a segment's files, 20 digits and a suffix? The digits are its first
 * offset. */
extern bool bf_segment_name(const char *name, int64_t *base_offset, const char **suffix);

/* `counters` may be NULL; it is added to. */
extern BfStatus bf_log_dir_open(BfArena *a, const char *dir, BfLogCounters *counters,
								BfLogDir **out, BfError *err) BF_MUST_CHECK;
extern int32_t bf_log_dir_n_segments(const BfLogDir *d);
extern const BfSegmentInfo *bf_log_dir_segment(const BfLogDir *d, int32_t i);
/* The offset that the newest snapshot of open transactions is named after; -1 = there is none. */
extern int64_t bf_log_dir_newest_snapshot(const BfLogDir *d);
/* First offset kept, and one past the last complete batch's last offset (tolerant walk of the
 * tail). Both 0 when there is no segment. */
extern BfStatus
bf_log_dir_bounds(BfLogDir *d, int64_t *start, int64_t *end, BfError *err) BF_MUST_CHECK;
/* Earliest offset whose record has timestamp >= t (Kafka's rule); *offset = end when none.
 * Timestamps may be out of order: records after it may have smaller ones. */
extern BfStatus
bf_log_dir_offset_for_time(BfLogDir *d, int64_t t_ms, int64_t *offset, BfError *err) BF_MUST_CHECK;
/* Takes entries of segments out of `wanted` that have no record with timestamp >= t: of those that
 * begin behind the first wanted entry and end before `before`; never of the last one. */
extern BfStatus bf_log_dir_leave_older(BfArena *a, BfLogDir *d, int64_t t_ms, int64_t before,
									   BfRangeSet *wanted, BfError *err) BF_MUST_CHECK;
/* Takes entries of a ledger out of `wanted` that came before t: those at the beginning of its part
 * of each segment of which the time index says so, and the batches' headers and times confirm. */
extern BfStatus bf_log_dir_leave_before(BfArena *a, BfLogDir *d, int64_t t_ms, BfRangeSet *wanted,
										BfError *err) BF_MUST_CHECK;

/* For read_committed: the first offset of the earliest transaction without an end in the log, else
 * the log's end. Reads headers, from where a snapshot or a .txnindex allows it to begin. */
extern BfStatus bf_log_dir_stable_offset(BfLogDir *d, int64_t *offset, BfError *err) BF_MUST_CHECK;
/* The same for transactions that began before `entry`: INT64_MAX = none. */
extern BfStatus
bf_log_dir_open_before(BfLogDir *d, int64_t entry, int64_t *first, BfError *err) BF_MUST_CHECK;
/* From now on they and bf_log_dir_bounds read whole batches and check them. */
extern void bf_log_dir_check_all(BfLogDir *d);

/* How transactions ended, told by the markers in the log (log/outcome.c). */
typedef enum BfOutcome
{
	BF_OUTCOME_COMMITTED,
	BF_OUTCOME_ABORTED,
	BF_OUTCOME_OPEN /* no marker: the log's last stable offset is at or before the batch */
} BfOutcome;

typedef struct BfOutcomes BfOutcomes;

extern BfStatus
bf_outcomes_new(BfArena *a, BfLogDir *d, BfOutcomes **out, BfError *err) BF_MUST_CHECK;
/* Of a batch with data of a transaction; batches are asked about in the order of the log. */
extern BfStatus
bf_outcomes_of(BfOutcomes *o, const BfBatchHeader *h, BfOutcome *out, BfError *err) BF_MUST_CHECK;

typedef struct BfLogWalk BfLogWalk;

/* Batches that intersect `ranges` (entries), ascending. The ranges are copied. */
extern BfStatus bf_log_walk_new(BfArena *a, BfLogDir *d, const BfRangeSet *ranges, bool strict,
								BfLogWalk **out, BfError *err) BF_MUST_CHECK;
/* Batches whose largest timestamp is smaller are passed over from now on, but for those with data
 * of a transaction. */
extern void bf_log_walk_min_timestamp(BfLogWalk *w, int64_t t_ms);
/* *batch = NULL at the end; bytes valid until the next call; the CRC has been checked. A batch may
 * begin before the last one's end where a compaction left segments that overlap: entries that were
 * seen already are the caller's to drop. */
extern BfStatus bf_log_walk_next(BfLogWalk *w, BfBatchHeader *h, const uint8_t **batch,
								 int64_t *position, const char **path, BfError *err) BF_MUST_CHECK;

#endif
