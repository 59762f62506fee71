/* Record batches v2: their header, their checksum, their records, and building one. */
#include "log/batch.h"

#include "log/rangeset.h"

/* length, attributes, timestamp, offset, key, value and header count of the smallest record */
#define RECORD_BYTES_MIN 7

enum
{
	AT_BASE_OFFSET = 0,
	AT_LENGTH = 8,
	AT_LEADER_EPOCH = 12,
	AT_MAGIC = 16,
	AT_CRC = 17,
	AT_ATTRIBUTES = 21,
	AT_LAST_DELTA = 23,
	AT_BASE_TIMESTAMP = 27,
	AT_MAX_TIMESTAMP = 35,
	AT_PRODUCER_ID = 43,
	AT_PRODUCER_EPOCH = 51,
	AT_BASE_SEQUENCE = 53,
	AT_COUNT = 57
};

_Static_assert(AT_COUNT + 4 == BF_BATCH_HEADER_BYTES, "the header ends with the count of records");

#define ATTRIBUTE_CODEC 0x07
#define ATTRIBUTE_LOG_APPEND_TIME 0x08
#define ATTRIBUTE_TRANSACTIONAL 0x10
#define ATTRIBUTE_CONTROL 0x20

/* By Kafka's number. */
static const BfCodec kafka_codecs[] = {
	BF_CODEC_NONE, BF_CODEC_GZIP, BF_CODEC_SNAPPY_XERIAL, BF_CODEC_LZ4_FRAME, BF_CODEC_ZSTD,
};

#define KAFKA_CODECS (sizeof kafka_codecs / sizeof *kafka_codecs)

_Static_assert(KAFKA_CODECS <= ATTRIBUTE_CODEC + 1, "the codec's bits hold each number");

static BfStatus
check_magic(int magic, int64_t position, BfError *err)
{
	if (magic == 2)
		return BF_OK;
	if (magic == 0 || magic == 1)
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, position,
				   "message format v%d (written by Kafka before 0.11) is not supported, only v2 is",
				   magic);
	BF_FAIL_AT(err, BF_ERR_CORRUPT, position + AT_MAGIC,
			   "magic byte %d is not that of a record batch", magic);
}

BfStatus
bf_batch_header(const uint8_t *bytes, size_t n, int64_t position, BfBatchHeader *out, BfError *err)
{
	int32_t length;
	int32_t last_delta;
	unsigned codec;

	if (n > AT_MAGIC)
		BF_TRY(check_magic((int8_t) bytes[AT_MAGIC], position, err));
	BF_DATA(err, n >= BF_BATCH_HEADER_BYTES, position, "the header of a record batch is cut off");
	length = (int32_t) bf_load32be(bytes + AT_LENGTH);
	BF_DATA(err, length >= BF_BATCH_HEADER_BYTES - 12 && length <= INT32_MAX - 12,
			position + AT_LENGTH, "%d is not the length of a record batch", length);
	out->total_bytes = length + 12;
	out->base_offset = (int64_t) bf_load64be(bytes + AT_BASE_OFFSET);
	last_delta = (int32_t) bf_load32be(bytes + AT_LAST_DELTA);
	BF_DATA(err,
			out->base_offset >= 0 && last_delta >= 0 &&
				out->base_offset <= BF_ENTRY_MAX - last_delta,
			position, "offsets %lld + %d of a record batch are out of range",
			(long long) out->base_offset, last_delta);
	out->last_offset = out->base_offset + last_delta;
	out->leader_epoch = (int32_t) bf_load32be(bytes + AT_LEADER_EPOCH);
	out->crc = bf_load32be(bytes + AT_CRC);
	out->attributes = bf_load16be(bytes + AT_ATTRIBUTES);
	out->base_timestamp = (int64_t) bf_load64be(bytes + AT_BASE_TIMESTAMP);
	out->max_timestamp = (int64_t) bf_load64be(bytes + AT_MAX_TIMESTAMP);
	out->producer_id = (int64_t) bf_load64be(bytes + AT_PRODUCER_ID);
	out->producer_epoch = (int16_t) bf_load16be(bytes + AT_PRODUCER_EPOCH);
	out->base_sequence = (int32_t) bf_load32be(bytes + AT_BASE_SEQUENCE);
	out->n_records = (int32_t) bf_load32be(bytes + AT_COUNT);
	BF_DATA(err, out->n_records >= 0 && out->n_records - 1 <= last_delta, position + AT_COUNT,
			"%d records do not fit into %lld offsets", out->n_records, (long long) last_delta + 1);
	codec = out->attributes & ATTRIBUTE_CODEC;
	BF_DATA(err, codec < KAFKA_CODECS, position + AT_ATTRIBUTES, "codec %u is not known", codec);
	out->codec = kafka_codecs[codec];
	out->log_append_time = (out->attributes & ATTRIBUTE_LOG_APPEND_TIME) != 0;
	out->transactional = (out->attributes & ATTRIBUTE_TRANSACTIONAL) != 0;
	out->control = (out->attributes & ATTRIBUTE_CONTROL) != 0;
	return BF_OK;
}

BfStatus
bf_batch_check_crc(const BfBatchHeader *h, const uint8_t *batch, int64_t position, BfError *err)
{
	uint32_t crc;

	BF_ASSERT(h->total_bytes >= BF_BATCH_HEADER_BYTES);
	crc = bf_crc32c(batch + AT_ATTRIBUTES, (size_t) h->total_bytes - AT_ATTRIBUTES);
	BF_DATA(err, crc == h->crc, position,
			"the record batch of entries %lld-%lld has checksum %08x, expected %08x",
			(long long) h->base_offset, (long long) h->last_offset, crc, h->crc);
	return BF_OK;
}

BfStatus
bf_records_begin(BfCodecContext *ctx, const BfBatchHeader *h, const uint8_t *batch,
				 int64_t position, BfBuffer *scratch, BfRecordIter *it, BfError *err)
{
	const uint8_t *section = batch + BF_BATCH_HEADER_BYTES;
	size_t n = (size_t) h->total_bytes - BF_BATCH_HEADER_BYTES;

	BF_ASSERT(h->total_bytes >= BF_BATCH_HEADER_BYTES && h->n_records >= 0);
	scratch->len = 0;
	it->header = *h;
	it->position = position;
	it->n_left = h->n_records;
	it->delta_min = 0;
	/* Compaction leaves batches of a bare header, codec bits and all: nothing to decompress. */
	if (h->codec == BF_CODEC_NONE || n == 0)
		it->cursor = bf_cursor(section, n, position + BF_BATCH_HEADER_BYTES);
	else
	{
		BfStatus status = bf_decompress_append(ctx, h->codec, section, n, scratch, err);

		if (status != BF_OK)
		{
			err->offset = position;
			return status;
		}
		it->cursor = bf_cursor(scratch->len > 0 ? scratch->data : section, scratch->len, 0);
	}
	BF_DATA(err, (size_t) h->n_records <= bf_cursor_left(&it->cursor) / RECORD_BYTES_MIN,
			position + AT_COUNT, "%d records do not fit into %zu bytes", h->n_records,
			bf_cursor_left(&it->cursor));
	return BF_OK;
}

/*
 * The record loop reads varints itself instead of through BfCursor: most take one byte, and the
 * rest is a call that must not spill what the caller keeps in registers.
 */
static __attribute__((noinline)) const uint8_t *
varint_slow(const uint8_t *p, const uint8_t *end, int bytes_max, int64_t *v)
{
	uint64_t u = 0;

	BF_ASSERT(p <= end && (bytes_max == 5 || bytes_max == 10));
	for (int i = 0; i < bytes_max; i++)
	{
		uint8_t b;

		if (p == end)
			return NULL;
		b = *p++;
		/* The last byte may only hold the bits that are left: 4 of 32, 1 of 64. */
		if (i == bytes_max - 1 && b > (bytes_max == 5 ? 0x0f : 0x01))
			return NULL;
		u |= (uint64_t) (b & 0x7f) << (7 * i);
		if (b < 0x80)
		{
			*v = bf_unzigzag(u);
			return p;
		}
	}
	return NULL;
}

/* NULL when the number is damaged or passes `end`. */
static inline const uint8_t *
varint(const uint8_t *p, const uint8_t *end, int bytes_max, int64_t *v)
{
	if (BF_LIKELY(p < end && *p < 0x80))
	{
		*v = bf_unzigzag(*p);
		return p + 1;
	}
	if (BF_LIKELY(end - p > 1 && p[1] < 0x80))
	{
		*v = bf_unzigzag((uint64_t) (p[0] & 0x7f) | (uint64_t) p[1] << 7);
		return p + 2;
	}
	return varint_slow(p, end, bytes_max, v);
}

/* Length and bytes; -1 gives *is_null. */
static inline const uint8_t *
nullable_bytes(const uint8_t *p, const uint8_t *end, BfView *out, bool *is_null)
{
	int64_t len;

	p = varint(p, end, 5, &len);
	if (BF_UNLIKELY(p == NULL || len < -1 || len > end - p))
		return NULL;
	*is_null = len < 0;
	if (len < 0)
	{
		*out = (BfView){NULL, 0};
		return p;
	}
	*out = (BfView){p, (uint32_t) len};
	return p + len;
}

/* The cold path: a message for a record that does not parse. Positions in decompressed bytes mean
 * nothing to anybody, so the batch's own is given then. */
static __attribute__((noinline)) BfStatus
damaged(const BfRecordIter *it, const char *what, BfError *err)
{
	bool plain = it->header.codec == BF_CODEC_NONE;

	return bf_error_at(err, BF_ERR_CORRUPT, plain ? bf_cursor_offset(&it->cursor) : it->position,
					   "record %d of the batch of entries %lld-%lld is damaged: %s",
					   it->header.n_records - it->n_left, (long long) it->header.base_offset,
					   (long long) it->header.last_offset, what);
}

/* Any record, with a message for one that is damaged. */
static __attribute__((noinline)) BfStatus
careful_record(BfRecordIter *it, BfRecord *out, BfError *err)
{
	const uint8_t *p = it->cursor.pos;
	const uint8_t *end = it->cursor.end;
	int64_t length, time_delta, delta, n_headers;

	BF_ASSERT(it->n_left > 0 && it->n_left <= it->header.n_records);
	p = varint(p, end, 5, &length);
	if (p == NULL || length < RECORD_BYTES_MIN - 1 || length > end - p)
		return damaged(it, "its length is out of range", err);
	end = p + length;
	p++; /* attributes: unused so far */
	p = varint(p, end, 10, &time_delta);
	if (p == NULL || (p = varint(p, end, 5, &delta)) == NULL)
		return damaged(it, "its timestamp or offset passes its end", err);
	if (delta < it->delta_min || delta > it->header.last_offset - it->header.base_offset)
		return damaged(it, "its offset does not ascend or is past the batch's last", err);
	p = nullable_bytes(p, end, &out->key, &out->key_null);
	if (p == NULL || (p = nullable_bytes(p, end, &out->value, &out->value_null)) == NULL)
		return damaged(it, "its key or value passes its end", err);
	p = varint(p, end, 5, &n_headers);
	/* A header takes two bytes at least; without headers nothing may follow. */
	if (p == NULL || n_headers < 0 || n_headers > (end - p) / 2 || (n_headers == 0 && p != end))
		return damaged(it, "its headers do not end where it does", err);
	if (it->header.log_append_time)
		out->timestamp = it->header.max_timestamp;
	else if (__builtin_add_overflow(it->header.base_timestamp, time_delta, &out->timestamp))
		return damaged(it, "its timestamp is out of range", err);
	out->offset = it->header.base_offset + delta;
	out->n_headers = (int32_t) n_headers;
	BF_ASSERT(delta >= it->delta_min && out->offset <= it->header.last_offset);
	out->headers = (BfView){p, (uint32_t) (end - p)};
	it->delta_min = delta + 1;
	it->n_left--;
	it->cursor.pos = end;
	return BF_OK;
}

/* One or two bytes, which must be there; false for longer ones. */
static inline bool
short_varint(const uint8_t **p, int64_t *v)
{
	uint64_t first = (*p)[0];
	uint64_t second = (*p)[1];

	if (BF_LIKELY(first < 0x80))
	{
		*v = bf_unzigzag(first);
		*p += 1;
		return true;
	}
	*v = bf_unzigzag((first & 0x7f) | second << 7);
	*p += 2;
	return second < 0x80;
}

/*
 * The usual record, without headers and with no number above two bytes: then one look at the
 * bytes that are left serves all of its numbers. NULL when it is another, good or not.
 */
static inline __attribute__((always_inline)) const uint8_t *
usual_record(const BfRecordIter *it, const uint8_t *p, int64_t delta_min, BfRecord *out,
			 int64_t *delta)
{
	const uint8_t *end;
	int64_t length, time_delta, key_len, value_len;

	if (it->cursor.end - p < 16 || !short_varint(&p, &length) || length < RECORD_BYTES_MIN - 1 ||
		length > it->cursor.end - p)
		return NULL;
	end = p + length;
	p++;
	if (!short_varint(&p, &time_delta) || !short_varint(&p, delta) || *delta < delta_min ||
		*delta > it->header.last_offset - it->header.base_offset)
		return NULL;
	/* After the key two bytes must be left: the value's length and the header count. */
	if (!short_varint(&p, &key_len) || key_len < -1 || key_len + 2 > end - p)
		return NULL;
	out->key_null = key_len < 0;
	out->key = (BfView){key_len < 0 ? NULL : p, key_len < 0 ? 0 : (uint32_t) key_len};
	p += out->key.len;
	if (!short_varint(&p, &value_len) || value_len < -1 ||
		p + (value_len < 0 ? 0 : value_len) + 1 != end || end[-1] != 0)
		return NULL;
	out->value_null = value_len < 0;
	out->value = (BfView){value_len < 0 ? NULL : p, value_len < 0 ? 0 : (uint32_t) value_len};
	if (BF_UNLIKELY(it->header.log_append_time))
		out->timestamp = it->header.max_timestamp;
	else if (BF_UNLIKELY(
				 __builtin_add_overflow(it->header.base_timestamp, time_delta, &out->timestamp)))
		return NULL;
	return end;
}

static inline BfStatus
at_end(const BfRecordIter *it, BfError *err)
{
	if (BF_UNLIKELY(it->cursor.pos != it->cursor.end))
		return damaged(it, "there are bytes after the last record", err);
	return BF_OK;
}

BfStatus
bf_records_next(BfRecordIter *it, BfRecord *out, bool *more, BfError *err)
{
	const uint8_t *end;
	int64_t delta;

	*more = it->n_left > 0;
	if (it->n_left == 0)
		return at_end(it, err);
	end = usual_record(it, it->cursor.pos, it->delta_min, out, &delta);
	if (end == NULL)
		return careful_record(it, out, err);
	BF_ASSERT(end > it->cursor.pos && end <= it->cursor.end);
	out->offset = it->header.base_offset + delta;
	out->n_headers = 0;
	out->headers = (BfView){end, 0};
	it->delta_min = delta + 1;
	it->n_left--;
	it->cursor.pos = end;
	return BF_OK;
}

BfStatus
bf_records_columns(BfRecordIter *it, BfRecordColumns *c, int32_t n_max, int32_t *n_out,
				   BfError *err)
{
	const uint8_t *p = it->cursor.pos;
	int64_t base = it->header.base_offset;
	int64_t delta_min = it->delta_min;
	int32_t left = it->n_left;
	int32_t n = n_max < left ? n_max : left;

	BF_ASSERT(n_max >= 0 && left >= 0);
	/* The iterator's fields are kept in registers; the careful way gets and gives them back. */
	for (int32_t i = 0; i < n; i++)
	{
		BfRecord r;
		int64_t delta;
		const uint8_t *end = usual_record(it, p, delta_min, &r, &delta);

		if (BF_UNLIKELY(end == NULL))
		{
			BfRecord other;

			it->cursor.pos = p;
			it->delta_min = delta_min;
			it->n_left = left - i;
			BF_TRY(careful_record(it, &other, err));
			r = other;
			delta = r.offset - base;
			end = it->cursor.pos;
		}
		c->offsets[i] = base + delta;
		c->timestamps[i] = r.timestamp;
		c->keys[i] = r.key;
		c->values[i] = r.value;
		c->key_nulls += r.key_null;
		c->value_nulls += r.value_null;
		delta_min = delta + 1;
		p = end;
	}
	BF_ASSERT(p <= it->cursor.end);
	BF_ASSERT(delta_min - 1 <= it->header.last_offset - base);
	it->cursor.pos = p;
	it->delta_min = delta_min;
	it->n_left = left - n;
	*n_out = n;
	return it->n_left == 0 ? at_end(it, err) : BF_OK;
}

BfStatus
bf_record_header(BfView *rest, BfView *key, BfView *value, bool *value_null, BfError *err)
{
	const uint8_t *p = rest->ptr;
	const uint8_t *end = p + rest->len;
	bool key_null;

	p = nullable_bytes(p, end, key, &key_null);
	if (BF_UNLIKELY(p == NULL || key_null ||
					(p = nullable_bytes(p, end, value, value_null)) == NULL))
		BF_FAIL(err, BF_ERR_CORRUPT, "a header of a record is damaged");
	*rest = (BfView){p, (uint32_t) (end - p)};
	return BF_OK;
}

BfStatus
bf_batch_control_type(BfCodecContext *ctx, const BfBatchHeader *h, const uint8_t *batch,
					  int64_t position, BfBuffer *scratch, BfControlType *out, BfError *err)
{
	BfRecordIter it;
	BfRecord r;
	bool more;
	unsigned type;

	BF_ASSERT(h->control);
	*out = BF_CONTROL_OTHER;
	BF_TRY(bf_records_begin(ctx, h, batch, position, scratch, &it, err));
	BF_TRY(bf_records_next(&it, &r, &more, err));
	/* Key: int16 version, int16 type. A marker is alone in its batch; compaction may empty it. */
	if (!more)
		return BF_OK;
	BF_DATA(err, r.key.len >= 4, position, "a control record has no type");
	type = bf_load16be(r.key.ptr + 2);
	if (type == BF_CONTROL_ABORT || type == BF_CONTROL_COMMIT)
		*out = (BfControlType) type;
	return BF_OK;
}

/* Times of a batch's records. */
typedef struct Times
{
	int64_t first;
	int64_t largest;
	const int64_t *each; /* NULL = all are the first */
} Times;

/* Appends the records section, uncompressed. */
static BfStatus
put_records(const BfView *values, int32_t n, const Times *times, BfBuffer *out, BfError *err)
{
	for (int32_t i = 0; i < n; i++)
	{
		uint8_t head[24];
		uint8_t length[10];
		size_t head_len = 0;
		size_t length_len;
		size_t body;

		if (values[i].len > BF_BATCH_BYTES_MAX)
			BF_FAIL(err, BF_ERR_LIMIT, "a row of %u bytes is too large", values[i].len);
		head[head_len++] = 0; /* attributes */
		if (times->each == NULL)
			head[head_len++] = 0; /* timestamp delta */
		else
			head_len += bf_put_uvarint(head + head_len, bf_zigzag(times->each[i] - times->first));
		head_len += bf_put_uvarint(head + head_len, bf_zigzag(i));
		head[head_len++] = 1; /* key: -1, null */
		head_len += bf_put_uvarint(head + head_len, bf_zigzag(values[i].len));
		BF_ASSERT(head_len <= sizeof head);
		body = head_len + values[i].len + 1;
		length_len = bf_put_uvarint(length, bf_zigzag((int64_t) body));
		BF_TRY(bf_buffer_reserve(out, length_len + body, err));
		memcpy(out->data + out->len, length, length_len);
		memcpy(out->data + out->len + length_len, head, head_len);
		if (values[i].len > 0)
			memcpy(out->data + out->len + length_len + head_len, values[i].ptr, values[i].len);
		out->len += length_len + body;
		out->data[out->len - 1] = 0; /* header count */
	}
	return BF_OK;
}

/* A raw snappy block is what librdkafka writes; every client reads it. */
static unsigned
kafka_codec_number(BfCodec codec)
{
	if (codec == BF_CODEC_SNAPPY)
		codec = BF_CODEC_SNAPPY_XERIAL;
	for (unsigned i = 0; i < KAFKA_CODECS; i++)
		if (kafka_codecs[i] == codec)
			return i;
	BF_ASSERT(false);
	return 0;
}

static BfStatus
put_section(BfCodecContext *ctx, BfCodec *codec, int level, BfBuffer *raw, BfBuffer *out,
			BfError *err)
{
	size_t start = out->len;

	BF_ASSERT(raw != out && raw->len > 0);
	if (*codec != BF_CODEC_NONE)
	{
		BF_TRY(bf_compress_append(ctx, *codec, level, raw->data, raw->len, out, err));
		if (out->len - start < raw->len)
			return BF_OK;
		out->len = start;
		*codec = BF_CODEC_NONE;
	}
	return bf_buffer_append(out, raw->data, raw->len, err);
}

static BfStatus
build(BfCodecContext *ctx, BfCodec codec, int level, int64_t base_offset, const BfView *values,
	  int32_t n, const Times *times, BfBuffer *scratch, BfBuffer *out, BfError *err)
{
	size_t start = out->len;
	uint8_t *h;

	BF_ASSERT(scratch != out);
	scratch->len = 0;
	BF_TRY(put_records(values, n, times, scratch, err));
	BF_TRY(bf_buffer_reserve(out, BF_BATCH_HEADER_BYTES, err));
	out->len += BF_BATCH_HEADER_BYTES;
	BF_TRY(put_section(ctx, &codec, level, scratch, out, err));
	if (out->len - start > BF_BATCH_BYTES_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "a record batch would have %zu bytes, %d are allowed",
				out->len - start, BF_BATCH_BYTES_MAX);
	BF_ASSERT(out->len - start > BF_BATCH_HEADER_BYTES);
	h = out->data + start;
	bf_store64be(h + AT_BASE_OFFSET, (uint64_t) base_offset);
	bf_store32be(h + AT_LENGTH, (uint32_t) (out->len - start - 12));
	bf_store32be(h + AT_LEADER_EPOCH, 0);
	h[AT_MAGIC] = 2;
	bf_store16be(h + AT_ATTRIBUTES, (uint16_t) kafka_codec_number(codec));
	bf_store32be(h + AT_LAST_DELTA, (uint32_t) (n - 1));
	bf_store64be(h + AT_BASE_TIMESTAMP, (uint64_t) times->first);
	bf_store64be(h + AT_MAX_TIMESTAMP, (uint64_t) times->largest);
	bf_store64be(h + AT_PRODUCER_ID, UINT64_MAX);
	bf_store16be(h + AT_PRODUCER_EPOCH, UINT16_MAX);
	bf_store32be(h + AT_BASE_SEQUENCE, UINT32_MAX);
	bf_store32be(h + AT_COUNT, (uint32_t) n);
	bf_store32be(h + AT_CRC, bf_crc32c(h + AT_ATTRIBUTES, out->len - start - AT_ATTRIBUTES));
	return BF_OK;
}

static BfStatus
build_or_nothing(BfCodecContext *ctx, BfCodec codec, int level, int64_t base_offset,
				 const BfView *values, int32_t n, const Times *times, BfBuffer *scratch,
				 BfBuffer *out, BfError *err)
{
	size_t start = out->len;
	BfStatus status;

	BF_ASSERT(n > 0 && base_offset >= 0 && base_offset <= BF_ENTRY_MAX - n);
	status = build(ctx, codec, level, base_offset, values, n, times, scratch, out, err);
	if (status != BF_OK)
		out->len = start;
	return status;
}

BfStatus
bf_batch_build(BfCodecContext *ctx, BfCodec codec, int level, int64_t base_offset,
			   const BfView *values, int32_t n, int64_t timestamp_ms, BfBuffer *scratch,
			   BfBuffer *out, BfError *err)
{
	const Times times = {timestamp_ms, timestamp_ms, NULL};

	return build_or_nothing(ctx, codec, level, base_offset, values, n, &times, scratch, out, err);
}

BfStatus
bf_batch_build_timed(BfCodecContext *ctx, BfCodec codec, int level, int64_t base_offset,
					 const BfView *values, const int64_t *timestamps_ms, int32_t n,
					 BfBuffer *scratch, BfBuffer *out, BfError *err)
{
	Times times = {timestamps_ms[0], timestamps_ms[0], timestamps_ms};

	for (int32_t i = 1; i < n; i++)
		if (timestamps_ms[i] > times.largest)
			times.largest = timestamps_ms[i];
	BF_ASSERT(times.largest >= times.first);
	return build_or_nothing(ctx, codec, level, base_offset, values, n, &times, scratch, out, err);
}
