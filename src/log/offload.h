/*
 * log/offload.h: the offload file (.bfo), a closed ledger in one file.
 *
 *   header   magic "BFOFFLD1" (8), version u32, flags u32, schema block length u32, CRC-32C u32,
 *            schema block (Avro schema JSON with field ids; Iceberg schema id in its properties)
 *   data     per batch: int32 length, then the batch's bytes unchanged (Kafka record batch v2)
 *   index    blocks of at most 1024 fixed-size records: first entry, last entry, position, length,
 *            row count, min and max timestamp; each block ends with its CRC-32C
 *   root     per index block: first entry, last entry, position, record count; number of entries; batches; CRC-32C
 *   tail     fixed size: root position u64, root length u32, CRC-32C u32, magic "BFOFTAIL" (8)
 *
 * Opening is one read of the tail region; a range read loads only the index blocks it touches and
 * merges neighbouring batches into one read when the hole is at most 64 KiB. Big-endian throughout.
 */
#ifndef BF_LOG_OFFLOAD_H
#define BF_LOG_OFFLOAD_H

#include "log/segment.h"

/* Copies entries [0, end.entry) of the ledger directory to `path`, atomically (io/publish.h). */
extern BfStatus bf_offload_write(BfArena *a, const char *ledger_dir, int64_t n_entries,
								 const char *schema_json, const char *path, int64_t *bytes,
								 BfError *err) BF_MUST_CHECK;

typedef struct BfOffloadFile BfOffloadFile;

typedef struct BfOffloadInfo
{
	const char *schema_json;
	int64_t n_entries;
	int64_t n_batches;
	int64_t n_index_blocks;
	int64_t file_bytes;
	int64_t min_timestamp;
	int64_t max_timestamp;
} BfOffloadInfo;

extern BfStatus bf_offload_open(BfArena *a, const char *path, BfLogCounters *counters,
								BfOffloadFile **out, BfError *err) BF_MUST_CHECK;
extern const BfOffloadInfo *bf_offload_info(const BfOffloadFile *f);

typedef struct BfOffloadWalk BfOffloadWalk;

/* Batches that intersect the ranges; a range beyond the file's entries is CORRUPT. Same contract
 * as bf_log_walk_next. */
extern BfStatus bf_offload_walk_new(BfArena *a, BfOffloadFile *f, const BfRangeSet *ranges,
									BfOffloadWalk **out, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_offload_walk_next(BfOffloadWalk *w, BfBatchHeader *h, const uint8_t **batch,
									 int64_t *position, const char **path, BfError *err)
	BF_MUST_CHECK;

#endif
