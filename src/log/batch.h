/*
 * log/batch.h: Kafka record batch v2 (https://kafka.apache.org/documentation/#recordbatch).
 *
 *   OFFSET SIZE DESCRIPTION                          (big-endian)
 *   0      8    baseOffset
 *   8      4    batchLength: bytes after this field, at least 49
 *   12     4    partitionLeaderEpoch
 *   16     1    magic = 2
 *   17     4    CRC-32C over byte 21 to the end
 *   21     2    attributes: 0-2 codec, 3 LogAppendTime, 4 transactional, 5 control,
 *               6 delete horizon
 *   23     4    lastOffsetDelta
 *   27     8    baseTimestamp (ms)
 *   35     8    maxTimestamp (ms)
 *   43     8    producerId
 *   51     2    producerEpoch
 *   53     4    baseSequence
 *   57     4    recordsCount
 *   61     ..   records, compressed as one piece when a codec is set
 *
 * A record is: length varint of what follows, attributes i8, timestampDelta varlong, offsetDelta
 * varint, key (varint length, -1 = null), value (likewise), header count varint, headers (key:
 * varint length and UTF-8; value: varint length, -1 = null). Varints are zigzag LEB128.
 *
 * Compaction may remove records: offset deltas ascend but may have gaps, a batch may be empty, and
 * lastOffsetDelta stays. So positions in a log move by batches, never by records seen.
 *
 * The magic byte is at the same place in all versions of the format; 0 and 1 (before Kafka 0.11)
 * are refused by name.
 */
#ifndef BF_LOG_BATCH_H
#define BF_LOG_BATCH_H

#include "codec/codec.h"

#define BF_BATCH_HEADER_BYTES 61
/* A batch that claims more is refused before memory is taken for it; the same bound holds for its
 * records after decompression, through the scratch buffer's bytes_max. */
#define BF_BATCH_BYTES_MAX (256 << 20)

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
/* `batch` holds h->total_bytes bytes. */
extern BfStatus bf_batch_check_crc(const BfBatchHeader *h, const uint8_t *batch, int64_t position,
								   BfError *err) BF_MUST_CHECK;

/* Walks the records of one whole batch. The decompressed bytes live in `scratch` (cleared first)
 * until the next batch; those of an uncompressed batch stay where they are. */
typedef struct BfRecordIter
{
	BfCursor cursor; /* over the records section; may be moved to a copy before the first next */
	BfBatchHeader header;
	int64_t position; /* of the batch in its file, for messages */
	int32_t n_left;
	int64_t delta_min; /* the smallest offset delta that the next record may have */
} BfRecordIter;

extern BfStatus
bf_records_begin(BfCodecContext *ctx, const BfBatchHeader *h, const uint8_t *batch,
				 int64_t position, BfBuffer *scratch, BfRecordIter *it, BfError *err) BF_MUST_CHECK;
/* *more = false at the end, when all bytes must be consumed. The headers of a record are checked
 * by bf_record_header only. */
extern BfStatus
bf_records_next(BfRecordIter *it, BfRecord *out, bool *more, BfError *err) BF_MUST_CHECK;
/* The same for many records at once, into arrays, without headers. Nulls are views with ptr = NULL
 * and are counted (added to key_nulls and value_nulls). *n < n_max only at the end of the batch,
 * where all bytes must be consumed. */
typedef struct BfRecordColumns
{
	int64_t *offsets; /* borrowed, n_max elements each */
	int64_t *timestamps;
	BfView *keys;
	BfView *values;
	int32_t key_nulls;
	int32_t value_nulls;
} BfRecordColumns;

extern BfStatus bf_records_columns(BfRecordIter *it, BfRecordColumns *c, int32_t n_max, int32_t *n,
								   BfError *err) BF_MUST_CHECK;
/* Next header of a record; advances *rest, which is empty after the last one. */
extern BfStatus bf_record_header(BfView *rest, BfView *key, BfView *value, bool *value_null,
								 BfError *err) BF_MUST_CHECK;

/* The records that steer a log instead of holding data. */
typedef enum BfControlType
{
	BF_CONTROL_ABORT = 0,
	BF_CONTROL_COMMIT = 1,
	BF_CONTROL_OTHER = -1 /* of KRaft or of the future: to be ignored */
} BfControlType;

/* Of one whole control batch. */
extern BfStatus bf_batch_control_type(BfCodecContext *ctx, const BfBatchHeader *h,
									  const uint8_t *batch, int64_t position, BfBuffer *scratch,
									  BfControlType *out, BfError *err) BF_MUST_CHECK;

/*
 * Builds one batch with key null, no headers, offsets base_offset + i; appends it to out. n > 0.
 * Records that the codec does not make smaller are stored without it. After a failure out is
 * unchanged.
 */
extern BfStatus bf_batch_build(BfCodecContext *ctx, BfCodec codec, int level, int64_t base_offset,
							   const BfView *values, int32_t n, int64_t timestamp_ms,
							   BfBuffer *scratch, BfBuffer *out, BfError *err) BF_MUST_CHECK;
/* The same with a time for each; the header has the first and the largest. */
extern BfStatus
bf_batch_build_timed(BfCodecContext *ctx, BfCodec codec, int level, int64_t base_offset,
					 const BfView *values, const int64_t *timestamps_ms, int32_t n,
					 BfBuffer *scratch, BfBuffer *out, BfError *err) BF_MUST_CHECK;

#endif
