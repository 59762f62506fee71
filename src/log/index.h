/*
 * log/index.h: Kafka's offset and time index, and the warm/cold binary search.
 *
 *   .index      8 bytes: u32 last offset of a batch - base, u32 position of that batch
 *   .timeindex  12 bytes: i64 largest timestamp so far, u32 last offset of its batch - base
 *
 * Big-endian. Offsets, positions and timestamps ascend strictly, the time index's offsets do not
 * descend. Entries are sparse: one per more than 4096 bytes of log, so a search gives a place at or
 * before the wanted one and the log is walked from there. A broker preallocates the files of the
 * active segment and leaves zeroes after the used part; the number of valid entries is found first.
 *
 * The search, as Kafka does it (N = 8192 / entry size, the warm section: N + 1 entries):
 *
 *   hot = max(0, n - 1 - N)
 *   if entry[hot].key < target:      look in [hot, n - 1]     warm: its pages are in the cache
 *   else if entry[0].key > target:   none                     since all searches of the tail read
 *   else:                            look in [0, hot]         them, whatever the index's size
 *   upper middle (lo + hi + 1) / 2 with hi = mid - 1 and lo = mid
 *
 * The index has no checksum and may be wrong. Readers verify what it gives and fall back to a walk
 * from the segment's start.
 */
#ifndef BF_LOG_INDEX_H
#define BF_LOG_INDEX_H

#include "io/source.h"

#define BF_INDEX_WARM_BYTES 8192
#define BF_INDEX_INTERVAL_BYTES 4096
#define BF_OFFSET_INDEX_ENTRY_BYTES 8
#define BF_TIME_INDEX_ENTRY_BYTES 12

typedef struct BfIndexStats
{
	int64_t probes;	   /* entries looked at */
	int64_t warm_hits; /* searches that ended in the warm section */
	int64_t cold_hits;
} BfIndexStats;

typedef struct BfOffsetIndex
{
	BfView bytes; /* valid entries only */
	int64_t base_offset;
	int32_t n;
} BfOffsetIndex;

typedef struct BfTimeIndex
{
	BfView bytes;
	int64_t base_offset;
	int32_t n;
} BfTimeIndex;

/* Over the file's bytes (borrowed); cuts the zero tail and a torn last entry. */
extern void bf_offset_index_init(BfOffsetIndex *ix, BfView bytes, int64_t base_offset);
extern void bf_time_index_init(BfTimeIndex *ix, BfView bytes, int64_t base_offset);

/* Do all entries ascend as they must, and name offsets that can be? One that does not is of no use,
 * and its entries must not be asked for. */
extern bool bf_offset_index_sane(const BfOffsetIndex *ix);
extern bool bf_time_index_sane(const BfTimeIndex *ix);

/* Largest entry with offset <= target. false = none: start at position 0. `stats` may be NULL. */
extern bool bf_offset_index_floor(const BfOffsetIndex *ix, int64_t target, int64_t *offset,
								  int64_t *position, BfIndexStats *stats);
/* Largest entry with timestamp <= target. false = none: start at the base offset. */
extern bool bf_time_index_floor(const BfTimeIndex *ix, int64_t target, int64_t *timestamp,
								int64_t *offset, BfIndexStats *stats);
extern void
bf_offset_index_entry(const BfOffsetIndex *ix, int32_t i, int64_t *offset, int64_t *position);
extern void
bf_time_index_entry(const BfTimeIndex *ix, int32_t i, int64_t *timestamp, int64_t *offset);

#endif
