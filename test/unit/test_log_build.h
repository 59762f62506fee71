/*
 * Record batches as producers and brokers write them, with all fields free: keys, headers, gaps,
 * transactions, control records. Written apart from src/log/batch.c, from the format's description.
 */
#ifndef TEST_UNIT_TEST_LOG_BUILD_H
#define TEST_UNIT_TEST_LOG_BUILD_H

#include "codec/codec.h"
#include "unit/lib/runner.h"

typedef struct TestRecord
{
	int32_t offset_delta;
	int64_t time_delta;
	const char *key; /* NULL = null */
	const char *value;
	int n_headers; /* each "h<i>" with value "v<i>", null for odd i */
} TestRecord;

typedef struct TestBatch
{
	int64_t base_offset;
	int32_t last_delta;
	int kafka_codec; /* 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd */
	uint16_t attributes;
	int64_t base_timestamp;
	int64_t max_timestamp;
	int64_t producer_id;
	const TestRecord *records;
	int n;
} TestBatch;

static inline void
build_u8(BfBuffer *b, int v)
{
	EXPECT_EQ(bf_buffer_u8(b, (uint8_t) v, &test_err), BF_OK);
}

static inline void
build_bytes(BfBuffer *b, const void *p, size_t n)
{
	EXPECT_EQ(bf_buffer_append(b, p, n, &test_err), BF_OK);
}

static inline void
build_varint(BfBuffer *b, int64_t v)
{
	uint64_t u = ((uint64_t) v << 1) ^ (uint64_t) (v >> 63);

	for (; u > 0x7f; u >>= 7)
		build_u8(b, (int) (u & 0x7f) | 0x80);
	build_u8(b, (int) u);
}

static inline void
build_text(BfBuffer *b, const char *s)
{
	build_varint(b, s != NULL ? (int64_t) strlen(s) : -1);
	if (s != NULL)
		build_bytes(b, s, strlen(s));
}

static inline void
build_record(BfBuffer *out, const TestRecord *r)
{
	BfBuffer body;

	bf_buffer_init(&body, test_host(), 1 << 24);
	build_u8(&body, 0);
	build_varint(&body, r->time_delta);
	build_varint(&body, r->offset_delta);
	build_text(&body, r->key);
	build_text(&body, r->value);
	build_varint(&body, r->n_headers);
	for (int i = 0; i < r->n_headers; i++)
	{
		char text[16];

		snprintf(text, sizeof text, "h%d", i);
		build_text(&body, text);
		text[0] = 'v';
		build_text(&body, i % 2 == 0 ? text : NULL);
	}
	build_varint(out, (int64_t) body.len);
	build_bytes(out, body.data, body.len);
	bf_buffer_free(&body);
}

static inline void
build_be(BfBuffer *b, uint64_t v, int bytes)
{
	while (bytes-- > 0)
		build_u8(b, (int) (v >> (8 * bytes) & 0xff));
}

/* Appends the batch with a section of any bytes. */
static inline void
build_raw_batch(BfBuffer *out, const TestBatch *t, const void *section, size_t n)
{
	size_t start = out->len;
	uint32_t crc;

	build_be(out, (uint64_t) t->base_offset, 8);
	build_be(out, 49 + n, 4);
	build_be(out, 3, 4);
	build_u8(out, 2);
	build_be(out, 0, 4);
	build_be(out, (uint64_t) (t->attributes | t->kafka_codec), 2);
	build_be(out, (uint64_t) t->last_delta, 4);
	build_be(out, (uint64_t) t->base_timestamp, 8);
	build_be(out, (uint64_t) t->max_timestamp, 8);
	build_be(out, (uint64_t) t->producer_id, 8);
	build_be(out, 0, 2);
	build_be(out, UINT32_MAX, 4);
	build_be(out, (uint64_t) t->n, 4);
	build_bytes(out, section, n);
	crc = bf_crc32c(out->data + start + 21, out->len - start - 21);
	bf_store32be(out->data + start + 17, crc);
}

static inline void
build_batch(BfBuffer *out, const TestBatch *t)
{
	static const BfCodec codecs[] = {BF_CODEC_NONE, BF_CODEC_GZIP, BF_CODEC_SNAPPY,
									 BF_CODEC_LZ4_FRAME, BF_CODEC_ZSTD};
	BfArena *a = bf_arena_new(test_host(), "build", 1 << 26);
	BfCodecContext *ctx;
	BfBuffer *plain, *packed;

	REQUIRE_OK(bf_codec_context_new(a, &ctx, &test_err));
	REQUIRE_OK(bf_buffer_new(a, 1 << 24, &plain, &test_err));
	REQUIRE_OK(bf_buffer_new(a, 1 << 24, &packed, &test_err));
	for (int i = 0; i < t->n; i++)
		build_record(plain, &t->records[i]);
	if (t->kafka_codec > 0 && t->n > 0)
	{
		REQUIRE_OK(bf_compress_append(ctx, codecs[t->kafka_codec], 0, plain->data, plain->len,
									  packed, &test_err));
		plain = packed;
	}
	build_raw_batch(out, t, plain->len > 0 ? plain->data : (const uint8_t *) "", plain->len);
	bf_arena_free(a);
}

/* A control batch of one producer: type 0 aborts, 1 commits. */
static inline void
build_marker(BfBuffer *out, int64_t offset, int64_t producer_id, int type, int64_t timestamp)
{
	uint8_t section[] = {32, 0, 0, 0, 8, 0, 0, 0, (uint8_t) type, 12, 0, 0, 0, 0, 0, 9, 0};
	TestBatch t = {.base_offset = offset,
				   .attributes = 0x30,
				   .base_timestamp = timestamp,
				   .max_timestamp = timestamp,
				   .producer_id = producer_id,
				   .n = 1};

	build_raw_batch(out, &t, section, sizeof section);
}

static inline void
build_file(const char *dir, int64_t base, const char *suffix, const void *bytes, size_t n)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/%020lld.%s", dir, (long long) base, suffix);
	f = fopen(path, "wb");
	REQUIRE(f != NULL);
	EXPECT(n == 0 || fwrite(bytes, 1, n, f) == n);
	fclose(f);
}

#endif
