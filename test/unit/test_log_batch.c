/* Record batches: what others write, what is damaged, what we build. */
#include "unit/lib/runner.h"

#include "log/batch.h"
#include "unit/test_log_build.h"

typedef struct Setup
{
	BfCodecContext *ctx;
	BfBuffer *scratch;
	BfBuffer *out;
} Setup;

static BfStatus
setup(Setup *s)
{
	BF_TRY(bf_codec_context_new(test_arena(), &s->ctx, &test_err));
	BF_TRY(bf_buffer_new(test_arena(), 1 << 26, &s->scratch, &test_err));
	return bf_buffer_new(test_arena(), 1 << 26, &s->out, &test_err);
}

/* Header, checksum and all records; *n = records read. */
static BfStatus
read_batch(Setup *s, int32_t *n)
{
	BfBatchHeader h;
	BfRecordIter it;
	BfRecord r;
	bool more;

	*n = 0;
	BF_TRY(bf_batch_header(s->out->data, s->out->len, 1000, &h, &test_err));
	BF_TRY(bf_batch_check_crc(&h, s->out->data, 1000, &test_err));
	BF_TRY(bf_records_begin(s->ctx, &h, s->out->data, 1000, s->scratch, &it, &test_err));
	for (;; ++*n)
	{
		BfView rest, key, value;
		bool null;

		BF_TRY(bf_records_next(&it, &r, &more, &test_err));
		if (!more)
			return BF_OK;
		rest = r.headers;
		for (int32_t i = 0; i < r.n_headers; i++)
			BF_TRY(bf_record_header(&rest, &key, &value, &null, &test_err));
		BF_DATA(&test_err, rest.len == 0, -1, "bytes after the headers");
	}
}

static bool
same_text(const char *want, BfView have, bool is_null)
{
	if (want == NULL)
		return is_null && have.len == 0;
	return !is_null && have.len == strlen(want) && memcmp(have.ptr, want, have.len) == 0;
}

TEST(batch_records_come_back)
{
	static const char *const texts[] = {NULL, "", "x", "some text", "a longer text, of no meaning"};
	char big[3000];
	Setup s;

	REQUIRE_OK(setup(&s));
	memset(big, 'b', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	for (int round = 0; round < 200 && !test_failed(); round++)
	{
		TestRecord records[50];
		TestBatch t = {.base_offset = (int64_t) (test_random() >> 2),
					   .kafka_codec = round % 5,
					   .base_timestamp = 1700000000000,
					   .max_timestamp = 1700000009999,
					   .producer_id = -1,
					   .records = records,
					   .n = (int) test_random_below(50)};
		int32_t delta = (int32_t) test_random_below(5);
		BfBatchHeader h;
		BfRecordIter it;
		BfRecord r;
		bool more;

		t.attributes = test_random_below(4) == 0 ? 8 : 0;
		for (int i = 0; i < t.n; i++)
		{
			records[i] = (TestRecord){delta, (int64_t) test_random_below(100000) - 50000,
									  texts[test_random_below(5)], texts[test_random_below(5)],
									  test_random_below(3) == 0 ? (int) test_random_below(9) : 0};
			if (test_random_below(20) == 0)
				records[i].value = big;
			delta += 1 + (int32_t) test_random_below(round % 3 == 0 ? 100000 : 2);
		}
		t.last_delta = delta;
		s.out->len = 0;
		build_batch(s.out, &t);
		REQUIRE_OK(bf_batch_header(s.out->data, s.out->len, 0, &h, &test_err));
		EXPECT_EQ(h.base_offset, t.base_offset);
		EXPECT_EQ(h.last_offset, t.base_offset + t.last_delta);
		EXPECT_EQ(h.total_bytes, s.out->len);
		EXPECT_EQ(h.leader_epoch, 3);
		EXPECT_EQ(h.producer_id, -1);
		REQUIRE_OK(bf_batch_check_crc(&h, s.out->data, 0, &test_err));
		REQUIRE_OK(bf_records_begin(s.ctx, &h, s.out->data, 0, s.scratch, &it, &test_err));
		for (int i = 0; i < t.n; i++)
		{
			REQUIRE_OK(bf_records_next(&it, &r, &more, &test_err));
			REQUIRE(more);
			EXPECT_EQ(r.offset, t.base_offset + records[i].offset_delta);
			EXPECT_EQ(r.timestamp, t.attributes == 8 ? t.max_timestamp
													 : t.base_timestamp + records[i].time_delta);
			EXPECT(same_text(records[i].key, r.key, r.key_null));
			EXPECT(same_text(records[i].value, r.value, r.value_null));
			EXPECT_EQ(r.n_headers, records[i].n_headers);
			for (int k = 0; k < r.n_headers; k++)
			{
				BfView key, value;
				char want[16];
				bool null;

				REQUIRE_OK(bf_record_header(&r.headers, &key, &value, &null, &test_err));
				snprintf(want, sizeof want, "h%d", k);
				EXPECT(same_text(want, key, false));
				want[0] = 'v';
				EXPECT(same_text(k % 2 == 0 ? want : NULL, value, null));
			}
			EXPECT_EQ(r.headers.len, 0);
		}
		REQUIRE_OK(bf_records_next(&it, &r, &more, &test_err));
		EXPECT(!more);
	}
}

/* One field of a good batch is changed; the status and where the error is said to be. */
TEST(batch_damaged_headers)
{
	static const struct
	{
		int at;
		int bytes;
		uint64_t value;
		BfStatus status;
		int offset; /* from the batch's start */
	} cases[] = {
		{16, 1, 0, BF_ERR_UNSUPPORTED, 0},
		{16, 1, 1, BF_ERR_UNSUPPORTED, 0},
		{16, 1, 3, BF_ERR_CORRUPT, 16},
		{16, 1, 0xff, BF_ERR_CORRUPT, 16},
		{8, 4, 48, BF_ERR_CORRUPT, 8},
		{8, 4, 0, BF_ERR_CORRUPT, 8},
		{8, 4, 0xffffffff, BF_ERR_CORRUPT, 8},
		{8, 4, 0x7fffffff, BF_ERR_CORRUPT, 8},
		{0, 8, UINT64_MAX, BF_ERR_CORRUPT, 0},
		{0, 8, INT64_MAX, BF_ERR_CORRUPT, 0},
		{0, 8, INT64_MAX - 2, BF_ERR_CORRUPT, 0},
		{23, 4, 0xffffffff, BF_ERR_CORRUPT, 0},
		{23, 4, 1, BF_ERR_CORRUPT, 57},
		{57, 4, 4, BF_ERR_CORRUPT, 57},
		{57, 4, 0xffffffff, BF_ERR_CORRUPT, 57},
		{57, 4, 0x7fffffff, BF_ERR_CORRUPT, 57},
		{21, 2, 5, BF_ERR_CORRUPT, 21},
		{21, 2, 7, BF_ERR_CORRUPT, 21},
	};
	static const TestRecord records[] = {
		{0, 0, "k", "v", 0}, {1, 0, "k", "v", 1}, {2, 0, NULL, "v", 0}};
	TestBatch t = {.last_delta = 2, .records = records, .n = 3, .producer_id = -1};
	Setup s;
	int32_t n;

	REQUIRE_OK(setup(&s));
	build_batch(s.out, &t);
	REQUIRE_OK(read_batch(&s, &n));
	EXPECT_EQ(n, 3);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		s.out->len = 0;
		build_batch(s.out, &t);
		for (int k = 0; k < cases[i].bytes; k++)
			s.out->data[cases[i].at + k] =
				(uint8_t) (cases[i].value >> (8 * (cases[i].bytes - 1 - k)));
		EXPECT_FAIL(read_batch(&s, &n), cases[i].status, 1000 + cases[i].offset);
	}
	for (size_t len = 0; len < BF_BATCH_HEADER_BYTES; len++)
	{
		BfBatchHeader h;

		s.out->len = 0;
		build_batch(s.out, &t);
		EXPECT_FAIL(bf_batch_header(s.out->data, len, 1000, &h, &test_err), BF_ERR_CORRUPT, 1000);
	}
	s.out->data[40] ^= 1;
	EXPECT_FAIL(read_batch(&s, &n), BF_ERR_CORRUPT, 1000);
	EXPECT(strstr(test_err.text, "checksum") != NULL);
}

TEST(batch_damaged_records)
{
	static const struct
	{
		const char *bytes;
		int len;
		int n;		/* recordsCount */
		int offset; /* of the error, from the section's start; -99 = at the count */
	} cases[] = {
		{"\x0c\x00\x00\x00\x01\x01\x00", 7, 1, -1}, /* good: null key, null value */
		{"\x0c\x00\x00\x00\x01\x01\x00", 7, 2, -99},
		{"\x0c\x00\x00\x00\x01\x01\x00", 7, 0, 0},	   /* bytes but no record */
		{"\x0c\x00\x00\x00\x01\x01\x00z", 8, 1, 7},	   /* bytes after it */
		{"\x0e\x00\x00\x00\x01\x01\x00", 7, 1, 0},	   /* longer than what is left */
		{"\x0a\x00\x00\x00\x01\x01\x00", 7, 1, 0},	   /* shorter than a record */
		{"\x0b\x00\x00\x00\x01\x01\x00", 7, 1, 0},	   /* negative length */
		{"\x0c\x00\x00\x08\x01\x01\x00", 7, 1, 0},	   /* offset past lastOffsetDelta */
		{"\x0c\x00\x00\x01\x01\x01\x00", 7, 1, 0},	   /* negative offset */
		{"\x0c\x00\x00\x00\x02\x01\x00", 7, 1, 0},	   /* key eats the value's length */
		{"\x0c\x00\x00\x00\x03\x01\x00", 7, 1, 0},	   /* key of length -2 */
		{"\x0c\x00\x00\x00\x01\x06\x00", 7, 1, 0},	   /* value passes the record */
		{"\x0c\x00\x00\x00\x01\x01\x02", 7, 1, 0},	   /* a header, but no bytes for it */
		{"\x0c\x00\x00\x00\x01\x01\x01", 7, 1, 0},	   /* -1 headers */
		{"\x0e\x00\x00\x00\x01\x01\x00\x00", 8, 1, 0}, /* a byte after the last header */
		{"\x0c\x00\x00\x00\x01\x01\x00\x0c\x00\x00\x00\x01\x01\x00", 14, 2,
		 7},															/* the same offset */
		{"\x16\x00\x00\xff\xff\xff\xff\x7f\x01\x01\x00\x00", 12, 1, 0}, /* offset of 35 bits */
		{"\x1c\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00\x01\x01", 15, 1, 0}, /* 65 bits */
	};
	Setup s;

	REQUIRE_OK(setup(&s));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		TestBatch t = {.last_delta = 3, .producer_id = -1, .n = cases[i].n};
		int32_t n;

		s.out->len = 0;
		build_raw_batch(s.out, &t, cases[i].bytes, (size_t) cases[i].len);
		if (cases[i].offset == -1)
			REQUIRE_OK(read_batch(&s, &n));
		else
			EXPECT_FAIL(read_batch(&s, &n), BF_ERR_CORRUPT,
						1000 + (cases[i].offset == -99 ? 57 : 61 + cases[i].offset));
		if (test_failed())
		{
			printf("case %zu: %s\n", i, test_err.text);
			return;
		}
	}
}

TEST(batch_timestamp_past_64_bits)
{
	static const TestRecord records[] = {{0, INT64_MAX, NULL, "v", 0}};
	TestBatch t = {.base_timestamp = 1, .records = records, .n = 1, .producer_id = -1};
	Setup s;
	int32_t n;

	REQUIRE_OK(setup(&s));
	build_batch(s.out, &t);
	EXPECT_FAIL(read_batch(&s, &n), BF_ERR_CORRUPT, 1061);
}

/* Compaction leaves the header of a batch whose records are all gone, codec bits included. */
TEST(batch_without_records)
{
	Setup s;
	int32_t n;

	REQUIRE_OK(setup(&s));
	for (int codec = 0; codec < 5; codec++)
	{
		TestBatch t = {.last_delta = 99, .kafka_codec = codec, .producer_id = 7};

		s.out->len = 0;
		build_batch(s.out, &t);
		EXPECT_EQ(s.out->len, 61);
		REQUIRE_OK(read_batch(&s, &n));
		EXPECT_EQ(n, 0);
	}
}

TEST(batch_damaged_compression_names_the_batch)
{
	static const TestRecord records[] = {{0, 0, "key", "value", 0}};
	Setup s;
	int32_t n;

	REQUIRE_OK(setup(&s));
	for (int codec = 1; codec < 5; codec++)
	{
		TestBatch t = {.kafka_codec = codec, .records = records, .n = 1, .producer_id = -1};

		s.out->len = 0;
		build_raw_batch(s.out, &t, "no such thing as compressed data", 32);
		EXPECT_FAIL(read_batch(&s, &n), BF_ERR_CORRUPT, 1000);
	}
}

TEST(batch_that_grows_past_the_bound_is_refused)
{
	Setup s;
	TestRecord r = {0, 0, NULL, NULL, 0};
	TestBatch t = {.kafka_codec = 4, .records = &r, .n = 1, .producer_id = -1};
	char *value = bf_arena_alloc(test_arena(), 5000000);
	int32_t n;

	memset(value, 'z', 4999999);
	value[4999999] = '\0';
	r.value = value;
	REQUIRE_OK(setup(&s));
	build_batch(s.out, &t);
	REQUIRE_OK(read_batch(&s, &n));
	s.scratch->bytes_max = 1000000;
	s.scratch->len = 0;
	bf_buffer_free(s.scratch);
	EXPECT_FAIL(read_batch(&s, &n), BF_ERR_LIMIT, 1000);
}

TEST(batch_control_types)
{
	static const struct
	{
		int type;
		BfControlType want;
	} cases[] = {{0, BF_CONTROL_ABORT},
				 {1, BF_CONTROL_COMMIT},
				 {2, BF_CONTROL_OTHER},
				 {99, BF_CONTROL_OTHER}};
	Setup s;

	REQUIRE_OK(setup(&s));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfBatchHeader h;
		BfControlType type;

		s.out->len = 0;
		build_marker(s.out, 5, 77, cases[i].type, 1000);
		REQUIRE_OK(bf_batch_header(s.out->data, s.out->len, 0, &h, &test_err));
		EXPECT(h.control && h.transactional);
		REQUIRE_OK(bf_batch_control_type(s.ctx, &h, s.out->data, 0, s.scratch, &type, &test_err));
		EXPECT_EQ(type, cases[i].want);
	}
}

TEST(batch_build_stores_what_does_not_shrink)
{
	uint8_t noise[2000];
	uint8_t calm[2000] = {0};
	BfView values[2] = {{noise, sizeof noise}, {calm, sizeof calm}};
	Setup s;
	BfBatchHeader h;
	int32_t n;

	REQUIRE_OK(setup(&s));
	for (size_t i = 0; i < sizeof noise; i++)
		noise[i] = (uint8_t) test_random();
	REQUIRE_OK(
		bf_batch_build(s.ctx, BF_CODEC_ZSTD, 0, 10, values, 1, 5, s.scratch, s.out, &test_err));
	REQUIRE_OK(bf_batch_header(s.out->data, s.out->len, 0, &h, &test_err));
	EXPECT_EQ(h.codec, BF_CODEC_NONE);
	REQUIRE_OK(read_batch(&s, &n));
	s.out->len = 0;
	REQUIRE_OK(
		bf_batch_build(s.ctx, BF_CODEC_ZSTD, 0, 10, values, 2, 5, s.scratch, s.out, &test_err));
	REQUIRE_OK(bf_batch_header(s.out->data, s.out->len, 0, &h, &test_err));
	EXPECT_EQ(h.codec, BF_CODEC_ZSTD);
	EXPECT(h.total_bytes < 2400);
	REQUIRE_OK(read_batch(&s, &n));
	EXPECT_EQ(n, 2);
}
