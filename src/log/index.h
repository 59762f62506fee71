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
 * Mostly they are a hole that the file system knows of, and where the hole begins the entries end.
 * In a copy they were written: then the positions of entries that were looked at tell how many
 * there should be for all of the log, which is a page or two off; and else bisecting ends it.
 *
 * The search, as Kafka does it (N = 8192 / entry size, the warm section: N + 1 entries):
 *
 *   hot = max(0, n - 1 - N)
 *   if entry[hot].key < target:      look in [hot, n - 1]     warm: its pages are in the cache
 *   else if entry[0].key > target:   none                     since all searches of the tail read
 *   else:                            look in [0, hot]         them, whatever the index's size
 *   upper middle (lo + hi + 1) / 2 with hi = mid - 1 and lo = mid
 *
 * An index is read in pages of 4096 bytes, and only those that a search looks at: the last 8192
 * bytes at once, then one for each probe of the cold part, some 12 of an index of 10 MB. What was
 * read stays.
 *
 * The index has no checksum and may be wrong. Entries that were looked at must ascend, or the index
 * is of no use from then on; nothing is known about the others. Readers verify what it gives and
 * fall back to a walk from the segment's start. Who must know that all of it is right
 * (log/cut.c) has it read as a whole.
 */
#ifndef BF_LOG_INDEX_H
#define BF_LOG_INDEX_H

#include "base/bytes.h"

#define BF_INDEX_WARM_BYTES 8192
#define BF_INDEX_PAGE_BYTES 4096
#define BF_INDEX_INTERVAL_BYTES 4096
#define BF_OFFSET_INDEX_ENTRY_BYTES 8
#define BF_TIME_INDEX_ENTRY_BYTES 12
/* A segment has at most 2^31 bytes, so an index has at most 2^19 entries of 4096 bytes each; more
 * is possible with a smaller interval. Past this the file is not an index. */
#define BF_INDEX_BYTES_MAX ((int64_t) 64 << 20)

typedef struct BfIndexStats
{
	int64_t probes;	   /* entries looked at */
	int64_t pages;	   /* read */
	int64_t warm_hits; /* searches that ended in the warm section */
	int64_t cold_hits;
} BfIndexStats;

typedef enum BfIndexKind
{
	BF_INDEX_OFFSETS,
	BF_INDEX_TIMES
} BfIndexKind;

typedef struct BfIndexEntry
{
	int64_t offset;	   /* the last of a batch */
	int64_t position;  /* BF_INDEX_OFFSETS: of that batch, else 0 */
	int64_t timestamp; /* BF_INDEX_TIMES: the largest up to that offset, else 0 */
} BfIndexEntry;

/* Exactly n bytes of the file. */
typedef BfStatus (*BfIndexRead)(void *arg, int64_t pos, uint8_t *buf, size_t n, BfError *err);

typedef struct BfIndex
{
	BfIndexKind kind;
	int64_t base_offset;
	int32_t n; /* entries; 0 = none, or the index is of no use */
	int64_t size;
	BfArena *arena; /* borrowed: the pages */
	BfIndexRead read;
	void *arg;
	BfIndexStats *stats;   /* borrowed; added to */
	const uint8_t **pages; /* by number; NULL = not read yet */
} BfIndex;

/* Over a file of `size` bytes; finds where its entries end and the zero tail begins. `log_bytes` of
 * the segment, 0 = not known, tell about where that is; any number does. */
extern BfStatus bf_index_open(BfArena *a, BfIndexKind kind, int64_t base_offset, int64_t size,
							  int64_t log_bytes, BfIndexRead read, void *arg, BfIndexStats *stats,
							  BfIndex *ix, BfError *err) BF_MUST_CHECK;
/* The largest entry with an offset (a timestamp) <= target. *found = false: none, so one starts at
 * the segment's beginning. */
extern BfStatus bf_index_floor(BfIndex *ix, int64_t target, BfIndexEntry *e, bool *found,
							   BfError *err) BF_MUST_CHECK;
/* Of offsets: the last entry with a position < size. */
extern BfStatus bf_index_last_inside(BfIndex *ix, int64_t size, BfIndexEntry *e, bool *found,
									 BfError *err) BF_MUST_CHECK;
/* Reads all of it; n = 0 when not every entry ascends or an offset can't be. */
extern BfStatus bf_index_load(BfIndex *ix, BfError *err) BF_MUST_CHECK;
/* Of an index that was loaded. */
extern void bf_index_entry(const BfIndex *ix, int32_t i, BfIndexEntry *e);

#endif
