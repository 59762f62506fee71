/*
 * log/index.h: Kafka's offset and time index, and the warm/cold binary search.
 *
 * .index: 8-byte entries (uint32 last offset of a batch - base, uint32 position of that batch), .timeindex: 12-byte
 * entries (int64 largest timestamp so far, uint32 offset - base). Strictly ascending. A broker
 * preallocates the active segment's index with zeroes; the valid count is found first.
 *
 * The last 8192 bytes are the warm section: looked at first, since a tail reader keeps it in cache.
 */
#ifndef BF_LOG_INDEX_H
#define BF_LOG_INDEX_H

#include "io/source.h"

#define BF_INDEX_WARM_BYTES 8192
#define BF_INDEX_INTERVAL_BYTES 4096

typedef struct BfIndexStats
{
	int64_t probes;
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

/* Largest entry with offset <= target. false = none: start at position 0. */
extern bool bf_offset_index_floor(const BfOffsetIndex *ix, int64_t target, int64_t *offset,
								  int64_t *position, BfIndexStats *stats);
/* Largest entry with timestamp <= target. false = none: start at the base offset. */
extern bool bf_time_index_floor(const BfTimeIndex *ix, int64_t target, int64_t *timestamp,
								int64_t *offset, BfIndexStats *stats);
extern void bf_offset_index_entry(const BfOffsetIndex *ix, int32_t i, int64_t *offset,
								  int64_t *position);
extern void bf_time_index_entry(const BfTimeIndex *ix, int32_t i, int64_t *timestamp,
								int64_t *offset);

#endif
