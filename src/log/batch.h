/*
 * log/batch.h: Kafka record batch v2 (https://kafka.apache.org/documentation/#recordbatch).
 *
 *   OFFSET SIZE DESCRIPTION                          (big-endian)
 *   0      8    baseOffset
 *   8      4    batchLength: bytes after this field
 *   12     4    partitionLeaderEpoch
 *   16     1    magic = 2
 *   17     4    CRC-32C over byte 21 to the end
 *   21     2    attributes: 0-2 codec, 3 LogAppendTime, 4 transactional, 5 control, 6 delete horizon
 *   23     4    lastOffsetDelta
 *   27     8    baseTimestamp (ms)
 *   35     8    maxTimestamp (ms)
 *   43     8    producerId
 *   51     2    producerEpoch
 *   53     4    baseSequence
 *   57     4    recordsCount
 *   61     ..   records, compressed as one piece when a codec is set
 */
#ifndef BF_LOG_BATCH_H
#define BF_LOG_BATCH_H

#include "codec/codec.h"

#define BF_BATCH_HEADER_BYTES 61

typedef struct BfBatchHeader
{
	int64_t base_offset;
	int64_t last_offset;
	int32_t total_bytes; /* 12 + batchLength */
	int32_t leader_epoch;
	uint32_t crc;
	uint16_t attributes;
	int64_t base_timestamp;
	int64_t max_timestamp;
	int64_t producer_id;
	int16_t producer_epoch;
	int32_t base_sequence;
	int32_t n_records;
	BfCodec codec;
	bool log_append_time;
	bool transactional;
	bool control;
} BfBatchHeader;

typedef struct BfRecord
{
	int64_t offset;
	int64_t timestamp; /* ms; -1 = none */
	bool key_null;
	bool value_null;
	BfView key;
	BfView value;
	int32_t n_headers;
	BfView headers; /* the undecoded bytes of all headers: walk with bf_record_header */
} BfRecord;

/* Header only: `bytes` holds at least BF_BATCH_HEADER_BYTES (fewer = CORRUPT); magic 0 and 1 are
 * UNSUPPORTED by name. `position` is the file position, for messages. */
extern BfStatus bf_batch_header(const uint8_t *bytes, size_t n, int64_t position,
								BfBatchHeader *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_batch_check_crc(const BfBatchHeader *h, const uint8_t *batch, int64_t position,
								   BfError *err) BF_MUST_CHECK;

/* Walks the records of one whole batch. The decompressed bytes live in `scratch` (cleared first)
 * until the next batch. */
typedef struct BfRecordIter
{
	BfCursor cursor;
	BfBatchHeader header;
	int32_t n_left;
	int64_t next_offset_min;
} BfRecordIter;

extern BfStatus bf_records_begin(BfCodecContext *ctx, const BfBatchHeader *h, const uint8_t *batch,
								 int64_t position, BfBuffer *scratch, BfRecordIter *it, BfError *err)
	BF_MUST_CHECK;
/* *more = false at the end, when all bytes must be consumed. */
extern BfStatus bf_records_next(BfRecordIter *it, BfRecord *out, bool *more, BfError *err)
	BF_MUST_CHECK;
/* Next header of a record; advances *rest. */
extern BfStatus bf_record_header(BfView *rest, BfView *key, BfView *value, bool *value_null,
								 BfError *err) BF_MUST_CHECK;

/* Builds one batch with key null, no headers, offsets base_offset + i; appends it to out. */
extern BfStatus bf_batch_build(BfCodecContext *ctx, BfCodec codec, int level, int64_t base_offset,
							   const BfView *values, int32_t n, int64_t timestamp_ms,
							   BfBuffer *scratch, BfBuffer *out, BfError *err) BF_MUST_CHECK;

#endif
