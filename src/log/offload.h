/*
 * log/offload.h: the offload file (.bfo), a closed ledger in one file.
 *
 * All numbers are big-endian. S = length of the schema block, N = batches in a block, B = blocks.
 *
 *   header   OFFSET SIZE DESCRIPTION
 *            0      8    magic "BFOFFLD1"
 *            8      4    version: 2; 1 is read, too
 *            12     4    flags = 0; unknown ones are refused
 *            16     4    S
 *            20     4    CRC-32C over bytes 0..19 and the schema block
 *            24     S    schema block: Avro schema (JSON) with field ids; Iceberg schema id in its
 *                        properties
 *   data     per batch, without holes, from 24 + S on:
 *            0      4    length L
 *            4      L    the batch's bytes unchanged (Kafka record batch v2, log/batch.h)
 *   index    blocks, each N <= 1024 records of 48 bytes, then M bytes of bounds and 4 bytes CRC-32C
 *            over both. A record:
 *            0      8    first entry
 *            8      8    last entry
 *            16     8    position of the batch (after its length)
 *            24     4    L
 *            28     4    row count
 *            32     8    smallest timestamp in ms, -1 = none
 *            40     8    largest timestamp
 *   root     0      8    number of entries
 *            8      8    number of batches
 *            16     8    smallest timestamp of the file
 *            24     8    largest timestamp
 *            32     4    S
 *            36     4    B
 *            40     S    the schema block again, so that opening needs no look at the header
 *            40+S   32*B per block: first entry 8, last entry 8, position 8, N 4, M 4 (version 1:
 * 0) end    4    CRC-32C over all of the above tail     0      8    position of the root 8      4
 * length of the root 12     4    CRC-32C over bytes 0..11 16     8    magic "BFOFTAIL"
 *
 * Entries are dense: the first batch begins with entry 0 and each next one where the last one
 * ended. Opening is one read of the file's end (a second one for a root above 64 KiB); a range read
 * loads only the index blocks that it touches and merges neighbouring batches into one read when
 * the hole is at most 64 KiB. Every byte that is used is under a checksum that is checked.
 *
 * A block ends with the batch that brings it to 65536 entries. What its columns lie between is told
 * by its bounds, in the words of whoever knows the rows (exec/write/offload_bounds.h): bytes to
 * this folder. A block without any, as all of version 1, may have everything.
 */
#ifndef BF_LOG_OFFLOAD_H
#define BF_LOG_OFFLOAD_H

#include "log/live.h"

/* Sees the rows of a ledger while they are copied, in their order, and says what a block of them
 * has for bounds. What it can't say is no bytes, and no failure. */
typedef struct BfOffloadRows
{
	void *arg;
	BfStatus (*see)(void *arg, const BfView *rows, int32_t n, BfError *err);
	/* The block is complete; appends to `out`. */
	BfStatus (*finish_block)(void *arg, BfBuffer *out, BfError *err);
} BfOffloadRows;

#define BF_OFFLOAD_BOUNDS_BYTES_MAX (1 << 20)

/*
 * Copies entries [0, n_entries) of the ledger directory, and of `tail` (log/live.h; NULL = none),
 * to `path`, atomically (io/publish.h). Every
 * batch is decoded once, so what is written is known to be readable. n_entries must be the end of a
 * batch. BF_ERR_CONFLICT when `path` exists. *bytes (may be NULL) is the file's size. Blocks have
 * no bounds.
 */
extern BfStatus bf_offload_write(BfArena *a, const char *ledger_dir, const BfLogTail *tail,
								 int64_t n_entries, const char *schema_json, const char *path,
								 int64_t *bytes, BfError *err) BF_MUST_CHECK;
/* The same with bounds; `rows` NULL = without. */
extern BfStatus
bf_offload_write_shown(BfArena *a, const char *ledger_dir, const BfLogTail *tail, int64_t n_entries,
					   const char *schema_json, const BfOffloadRows *rows, const char *path,
					   int64_t *bytes, BfError *err) BF_MUST_CHECK;

typedef struct BfOffloadFile BfOffloadFile;

typedef struct BfOffloadInfo
{
	const char *schema_json;
	int64_t n_entries;
	int64_t n_batches;
	int64_t n_index_blocks;
	int64_t file_bytes;
	int64_t min_timestamp; /* ms; -1 = none */
	int64_t max_timestamp;
} BfOffloadInfo;

/* `counters` may be NULL; it is added to. */
extern BfStatus bf_offload_open(BfArena *a, const char *path, BfLogCounters *counters,
								BfOffloadFile **out, BfError *err) BF_MUST_CHECK;
extern const BfOffloadInfo *bf_offload_info(const BfOffloadFile *f);

/* What the index says of a batch. */
typedef struct BfOffloadRecord
{
	int64_t first; /* entry */
	int64_t last;
	int64_t position;
	int32_t length;
	int32_t n_records;
	int64_t min_timestamp; /* ms, of those that have one; -1 = none has */
	int64_t max_timestamp;
} BfOffloadRecord;

/* A block of the index, for whoever leaves entries out before walking: *n records and the bytes of
 * bounds, valid until the file is read again. A block that is damaged says nothing, *n = 0: the
 * walk tells of it. */
extern BfStatus
bf_offload_block(BfArena *a, BfOffloadFile *f, int32_t number, const BfOffloadRecord **records,
				 int32_t *n, BfView *bounds, BfError *err) BF_MUST_CHECK;
/* The entries of a block. */
extern BfRange bf_offload_block_entries(const BfOffloadFile *f, int32_t number);
extern bool bf_offload_block_has_bounds(const BfOffloadFile *f, int32_t number);

typedef struct BfOffloadWalk BfOffloadWalk;

/* Batches that intersect the ranges; a range beyond the file's entries is CORRUPT. Same contract
 * as bf_log_walk_next. The ranges are copied; several walks of one file may be interleaved. */
extern BfStatus bf_offload_walk_new(BfArena *a, BfOffloadFile *f, const BfRangeSet *ranges,
									BfOffloadWalk **out, BfError *err) BF_MUST_CHECK;
extern BfStatus
bf_offload_walk_next(BfOffloadWalk *w, BfBatchHeader *h, const uint8_t **batch, int64_t *position,
					 const char **path, BfError *err) BF_MUST_CHECK;

#endif
