/*
 * log/segment.h: a directory of segments (a Kafka partition or a live ledger), read side.
 *
 * A BfLogDir lists `<20 digits>.log` once and fixes sizes at open, so a later append is not seen.
 * Walking yields whole batches in offset order between two offsets, starting at the position that
 * the index search gives. A torn or zero tail of the last segment ends the walk (tolerant mode: a
 * broker may be writing); in strict mode, used for ledgers up to their acknowledged end, it is corrupt.
 */
#ifndef BF_LOG_SEGMENT_H
#define BF_LOG_SEGMENT_H

#include "log/batch.h"
#include "log/index.h"
#include "log/rangeset.h"

typedef struct BfLogCounters
{
	BfIoCounters io;
	BfIndexStats index;
	int64_t segments_read;
	int64_t segments_skipped;
	int64_t batches_read;    /* whole batches fetched and decoded */
	int64_t batches_skipped; /* passed over by their header */
	int64_t entries_decoded;
} BfLogCounters;

typedef struct BfSegmentInfo
{
	const char *path; /* of the .log */
	int64_t base_offset;
	int64_t size;
	int64_t index_entries;
	int64_t time_index_entries;
	bool has_txn_index;
} BfSegmentInfo;

typedef struct BfLogDir BfLogDir;

extern BfStatus bf_log_dir_open(BfArena *a, const char *dir, BfLogCounters *counters, BfLogDir **out,
								BfError *err) BF_MUST_CHECK;
extern int32_t bf_log_dir_n_segments(const BfLogDir *d);
extern const BfSegmentInfo *bf_log_dir_segment(const BfLogDir *d, int32_t i);
/* First offset kept, and one past the last complete batch's last offset (tolerant walk of the tail). */
extern BfStatus bf_log_dir_bounds(BfLogDir *d, int64_t *start, int64_t *end, BfError *err)
	BF_MUST_CHECK;
/* Earliest offset whose record has timestamp >= t (Kafka's rule); *offset = end when none. */
extern BfStatus bf_log_dir_offset_for_time(BfLogDir *d, int64_t t_ms, int64_t *offset, BfError *err)
	BF_MUST_CHECK;

/* Aborted transactions and the last stable offset, for read_committed. */
typedef struct BfAbortedTxn
{
	int64_t producer_id;
	int64_t first_offset;
	int64_t last_offset;
} BfAbortedTxn;

extern BfStatus bf_log_dir_transactions(BfLogDir *d, BfArena *a, int64_t *last_stable_offset,
										BfAbortedTxn **aborted, int32_t *n_aborted, BfError *err)
	BF_MUST_CHECK;

typedef struct BfLogWalk BfLogWalk;

/* Batches that intersect `ranges` (entries), ascending. */
extern BfStatus bf_log_walk_new(BfArena *a, BfLogDir *d, const BfRangeSet *ranges, bool strict,
								BfLogWalk **out, BfError *err) BF_MUST_CHECK;
/* *batch = NULL at the end; bytes valid until the next call; the CRC has been checked. */
extern BfStatus bf_log_walk_next(BfLogWalk *w, BfBatchHeader *h, const uint8_t **batch,
								 int64_t *position, const char **path, BfError *err) BF_MUST_CHECK;

#endif
