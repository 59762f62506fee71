/*
 * Codecs: what we compress comes back, what other programs compressed is read, and damaged or cut
 * input ends in an error. Checksums: published values, and the fast path against the tables.
 */
#include "unit/lib/runner.h"

#include <stdlib.h>

#include "codec/internal.h"
#include "unit/lib/host_posix.h"

#define PHRASE "bifang lake stream "
#define PHRASE_BYTES 19

/* PHRASE three times, by the lz4, zstd and gzip commands; 3000 bytes of it by brotli's library. */
static const uint8_t lz4_sample[] = {
	0x04, 0x22, 0x4d, 0x18, 0x6c, 0x40, 0x39, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x67,
	0x1e, 0x00, 0x00, 0x00, 0xff, 0x04, 0x62, 0x69, 0x66, 0x61, 0x6e, 0x67, 0x20, 0x6c, 0x61,
	0x6b, 0x65, 0x20, 0x73, 0x74, 0x72, 0x65, 0x61, 0x6d, 0x20, 0x13, 0x00, 0x0e, 0x50, 0x72,
	0x65, 0x61, 0x6d, 0x20, 0x00, 0x00, 0x00, 0x00, 0x1c, 0x5b, 0x65, 0x89};
static const uint8_t zstd_sample[] = {0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x39, 0xcd, 0x00, 0x00, 0x98,
									  0x62, 0x69, 0x66, 0x61, 0x6e, 0x67, 0x20, 0x6c, 0x61, 0x6b,
									  0x65, 0x20, 0x73, 0x74, 0x72, 0x65, 0x61, 0x6d, 0x20, 0x01,
									  0x00, 0xdb, 0x33, 0xc3, 0x82, 0xf8, 0x65, 0xfa};
static const uint8_t gzip_sample[] = {
	0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x4b, 0xca, 0x4c, 0x4b,
	0xcc, 0x4b, 0x57, 0xc8, 0x49, 0xcc, 0x4e, 0x55, 0x28, 0x2e, 0x29, 0x4a, 0x4d, 0xcc,
	0x55, 0x48, 0x22, 0x4a, 0x08, 0x00, 0x96, 0xe4, 0xb4, 0xac, 0x39, 0x00, 0x00, 0x00};
static const uint8_t brotli_sample[] = {0x13, 0xb7, 0x0b, 0x00, 0x04, 0x3c, 0x64, 0xa9, 0x3e, 0x57,
										0x02, 0x53, 0x24, 0x23, 0xb2, 0x3c, 0x96, 0x94, 0xc6, 0xd5,
										0x8b, 0x5e, 0xd6, 0xa1, 0xe4, 0xaf, 0x01, 0x00, 0x18};

static const BfCodec written[] = {BF_CODEC_NONE,	BF_CODEC_SNAPPY,  BF_CODEC_GZIP,
								  BF_CODEC_DEFLATE, BF_CODEC_LZ4_RAW, BF_CODEC_LZ4_FRAME,
								  BF_CODEC_ZSTD};
#define N_WRITTEN (sizeof written / sizeof written[0])

static BfCodecContext *
context(BfArena *a)
{
	BfCodecContext *ctx = NULL;

	if (bf_codec_context_new(a, &ctx, &test_err) != BF_OK)
		abort();
	return ctx;
}

static BfBuffer *
buffer(BfArena *a, size_t bytes_max)
{
	BfBuffer *b = NULL;

	if (bf_buffer_new(a, bytes_max, &b, &test_err) != BF_OK)
		abort();
	return b;
}

/* Compressible, not constant. */
static uint8_t *
text(BfArena *a, size_t n)
{
	uint8_t *p = bf_arena_alloc(a, n);

	for (size_t i = 0; i < n; i++)
		p[i] = i % 64 == 0 ? (uint8_t) test_random() : (uint8_t) PHRASE[i % PHRASE_BYTES];
	return p;
}

/* Both ways of decompressing must give want. */
static void
expect_bytes(BfArena *a, BfCodec c, const void *src, size_t src_len, const void *want, size_t n)
{
	BfCodecContext *ctx = context(a);
	uint8_t *got = bf_arena_alloc(a, n);
	BfBuffer *out = buffer(a, n + 3);

	EXPECT_EQ(bf_buffer_append(out, "abc", 3, &test_err), BF_OK);
	REQUIRE_OK(bf_decompress_append(ctx, c, src, src_len, out, &test_err));
	EXPECT(out->len == n + 3 && memcmp(out->data, "abc", 3) == 0);
	EXPECT(out->len == n + 3 && (n == 0 || memcmp(out->data + 3, want, n) == 0));
	REQUIRE_OK(bf_decompress_exact(ctx, c, src, src_len, got, n, &test_err));
	EXPECT(n == 0 || memcmp(got, want, n) == 0);
	if (n > 0)
		EXPECT_FAIL(bf_decompress_exact(ctx, c, src, src_len, got, n - 1, &test_err),
					BF_ERR_CORRUPT, -1);
}

TEST(codec_round_trip)
{
	static const size_t sizes[] = {0, 1, 2, 19, 1000, 65535, 65536, 65537, 300000, 5000000};
	for (size_t i = 0; i < N_WRITTEN; i++)
		for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++)
		{
			BfArena *round = bf_arena_new(test_host(), "round", 1 << 26);
			BfCodecContext *ctx = context(round);
			BfBuffer *packed = buffer(round, 1 << 24);
			uint8_t *p = text(round, sizes[j]);

			EXPECT_EQ(bf_compress_append(ctx, written[i], 0, p, sizes[j], packed, &test_err),
					  BF_OK);
			if (sizes[j] >= 1000 && written[i] != BF_CODEC_NONE)
				EXPECT(packed->len < sizes[j] / 2);
			expect_bytes(round, written[i], packed->data, packed->len, p, sizes[j]);
			bf_arena_free(round);
			if (test_failed())
			{
				test_fail(__FILE__, __LINE__, "%s of %zu bytes", bf_codec_name(written[i]),
						  sizes[j]);
				return;
			}
		}
}

/* With seams the same comes out, also where they are at the ends or meet; and what is of two kinds
 * takes less. */
TEST(codec_seams)
{
	static const size_t places[][3] = {{0, 0, 0}, {1, 2, 3}, {0, 150000, 300000}, {9, 9, 299999}};
	static uint8_t mixed[300000];

	for (size_t i = 0; i < sizeof mixed; i++)
		mixed[i] = i < 40000 ? (uint8_t) test_random() : (uint8_t) "acgt"[test_random_below(4)];
	for (size_t i = 0; i < N_WRITTEN; i++)
		for (size_t j = 0; j < sizeof places / sizeof places[0]; j++)
		{
			BfArena *round = bf_arena_new(test_host(), "round", 1 << 26);
			BfBuffer *packed = buffer(round, 1 << 24);
			BfSeams seams = {.n = 3};

			memcpy(seams.at, places[j], sizeof places[j]);
			EXPECT_EQ(bf_compress_seamed(context(round), written[i], 0, mixed, sizeof mixed, &seams,
										 packed, &test_err),
					  BF_OK);
			expect_bytes(round, written[i], packed->data, packed->len, mixed, sizeof mixed);
			bf_arena_free(round);
		}
}

TEST(codec_seams_gain)
{
	static uint8_t mixed[100000];
	BfArena *a = test_arena();
	BfBuffer *plain = buffer(a, 1 << 24), *seamed = buffer(a, 1 << 24), *small = buffer(a, 1000);
	BfSeams seams = {.n = 1, .at = {40000}};

	for (size_t i = 0; i < sizeof mixed; i++)
		mixed[i] = i < 40000 ? (uint8_t) test_random() : (uint8_t) "acgt"[test_random_below(4)];
	REQUIRE_OK(
		bf_compress_append(context(a), BF_CODEC_ZSTD, 3, mixed, sizeof mixed, plain, &test_err));
	REQUIRE_OK(bf_compress_seamed(context(a), BF_CODEC_ZSTD, 3, mixed, sizeof mixed, &seams, seamed,
								  &test_err));
	EXPECT(seamed->len < plain->len);
	EXPECT_FAIL(bf_compress_seamed(context(a), BF_CODEC_ZSTD, 3, mixed, sizeof mixed, &seams, small,
								   &test_err),
				BF_ERR_LIMIT, -1);
	EXPECT_EQ(small->len, 0);
}

TEST(codec_samples_of_others)
{
	static const struct
	{
		BfCodec codec;
		const uint8_t *bytes;
		size_t n, want;
	} samples[] = {
		{BF_CODEC_LZ4_FRAME, lz4_sample, sizeof lz4_sample, 57},
		{BF_CODEC_LZ4_HADOOP, lz4_sample, sizeof lz4_sample, 57},
		{BF_CODEC_ZSTD, zstd_sample, sizeof zstd_sample, 57},
		{BF_CODEC_GZIP, gzip_sample, sizeof gzip_sample, 57},
		{BF_CODEC_BROTLI, brotli_sample, sizeof brotli_sample, 3000},
	};
	BfArena *a = test_arena();
	uint8_t want[3000];

	for (size_t i = 0; i < sizeof want; i++)
		want[i] = (uint8_t) PHRASE[i % PHRASE_BYTES];
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
		expect_bytes(a, samples[i].codec, samples[i].bytes, samples[i].n, want, samples[i].want);
}

/* The zstd context of an arena that has decompressed `src` to n bytes and is gone; *size: what that
 * context then has. */
static const ZSTD_DCtx *
left_behind(const void *src, size_t src_len, size_t n, size_t *size)
{
	BfArena *a = bf_arena_new(test_host(), "gone", SIZE_MAX);
	BfCodecContext *ctx = context(a);
	const ZSTD_DCtx *d;

	EXPECT_EQ(bf_decompress_append(ctx, BF_CODEC_ZSTD, src, src_len, buffer(a, n + 1), &test_err),
			  BF_OK);
	d = ctx->zstd_d;
	*size = ZSTD_sizeof_DCtx(d);
	bf_arena_free(a);
	return d;
}

TEST(codec_zstd_context_is_kept)
{
	BfArena *a = test_arena();
	BfBuffer *large = buffer(a, SIZE_MAX);
	uint8_t *much = text(a, 1 << 20);
	size_t size, grown;
	const ZSTD_DCtx *first = left_behind(zstd_sample, sizeof zstd_sample, 57, &size);

	EXPECT(left_behind(zstd_sample, sizeof zstd_sample, 57, &size) == first);
	REQUIRE_OK(bf_compress_append(context(a), BF_CODEC_ZSTD, 19, much, 1 << 20, large, &test_err));
	/* Its window makes it larger; the next arena has a small one again. */
	for (int i = 0; i < 10; i++)
	{
		left_behind(large->data, large->len, 1 << 20, &grown);
		EXPECT(grown > size + (1 << 19));
	}
	for (int i = 0; i < 10; i++)
	{
		left_behind(zstd_sample, sizeof zstd_sample, 57, &grown);
		EXPECT(grown <= size);
	}
	/* What a context was told is forgotten: the window's limit is set anew, and so is a frame. */
	for (size_t cut = 1; cut < sizeof zstd_sample; cut += 7)
		EXPECT(bf_decompress_append(context(a), BF_CODEC_ZSTD, zstd_sample, cut, buffer(a, 100),
									&test_err) != BF_OK);
	left_behind(zstd_sample, sizeof zstd_sample, 57, &size);
}

TEST(codec_several_frames)
{
	static const uint8_t skippable[] = {0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 'x', 'y'};
	BfArena *a = test_arena();
	BfBuffer *b = buffer(a, 1000);
	char want[114];

	for (size_t i = 0; i < sizeof want; i++)
		want[i] = PHRASE[i % PHRASE_BYTES];
	REQUIRE_OK(bf_buffer_append(b, zstd_sample, sizeof zstd_sample, &test_err));
	REQUIRE_OK(bf_buffer_append(b, skippable, sizeof skippable, &test_err));
	REQUIRE_OK(bf_buffer_append(b, zstd_sample, sizeof zstd_sample, &test_err));
	expect_bytes(a, BF_CODEC_ZSTD, b->data, b->len, want, sizeof want);
	b->len = 0;
	for (int i = 0; i < 2; i++)
		REQUIRE_OK(bf_buffer_append(b, gzip_sample, sizeof gzip_sample, &test_err));
	expect_bytes(a, BF_CODEC_GZIP, b->data, b->len, want, sizeof want);
	b->len = 0;
	for (int i = 0; i < 2; i++)
		REQUIRE_OK(bf_buffer_append(b, lz4_sample, sizeof lz4_sample, &test_err));
	expect_bytes(a, BF_CODEC_LZ4_FRAME, b->data, b->len, want, sizeof want);
}

TEST(codec_gzip_trailing_bytes)
{
	BfArena *a = test_arena();
	BfCodecContext *ctx = context(a);
	BfBuffer *b = buffer(a, 1000), *out = buffer(a, 1000);
	char got[57];

	REQUIRE_OK(bf_buffer_append(b, gzip_sample, sizeof gzip_sample, &test_err));
	REQUIRE_OK(bf_buffer_append(b, "rubbish", 7, &test_err));
	REQUIRE_OK(bf_decompress_exact(ctx, BF_CODEC_GZIP, b->data, b->len, got, 57, &test_err));
	EXPECT(memcmp(got, PHRASE PHRASE PHRASE, 57) == 0);
	EXPECT_FAIL(bf_decompress_append(ctx, BF_CODEC_GZIP, b->data, b->len, out, &test_err),
				BF_ERR_CORRUPT, -1);
	/* A wrong checksum at the end of the right bytes. */
	b->data[sizeof gzip_sample - 8] ^= 1;
	EXPECT_FAIL(
		bf_decompress_exact(ctx, BF_CODEC_GZIP, b->data, sizeof gzip_sample, got, 57, &test_err),
		BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(bf_decompress_append(ctx, BF_CODEC_DEFLATE, "\x03\0xxxxx", 7, out, &test_err),
				BF_ERR_CORRUPT, -1);
	EXPECT_EQ(out->len, 0);
	REQUIRE_OK(bf_decompress_append(ctx, BF_CODEC_DEFLATE, "\x03\0xxx", 5, out, &test_err));
}

/* An lz4 frame whose end mark an old client left out. */
TEST(codec_lz4_without_end_mark)
{
	BfArena *a = test_arena();
	BfCodecContext *ctx = context(a);
	BfBuffer *b = buffer(a, 1 << 20);
	uint8_t *p = text(a, 100000);

	REQUIRE_OK(bf_compress_append(ctx, BF_CODEC_LZ4_FRAME, 0, p, 100000, b, &test_err));
	expect_bytes(a, BF_CODEC_LZ4_FRAME, b->data, b->len - 4, p, 100000);
	for (size_t cut = 5; cut < 20; cut++)
		EXPECT_FAIL(bf_decompress_append(ctx, BF_CODEC_LZ4_FRAME, b->data, b->len - cut,
										 buffer(a, 1 << 20), &test_err),
					BF_ERR_CORRUPT, -1);
}

TEST(codec_xerial)
{
	static const uint8_t header[16] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0,
									   0,	 0,	  0,   1,	0,	 0,	  0,   1};
	BfArena *a = test_arena();
	BfCodecContext *ctx = context(a);
	BfBuffer *b = buffer(a, 1 << 20), *raw = buffer(a, 1 << 20), *out = buffer(a, 1 << 20);
	uint8_t *p = text(a, 70000);

	for (size_t pos = 0; pos < 70000; pos += 35000)
	{
		BfBuffer *block = buffer(a, 1 << 20);

		REQUIRE_OK(bf_buffer_append(b, header, 16, &test_err)); /* in the middle too */
		REQUIRE_OK(bf_compress_append(ctx, BF_CODEC_SNAPPY, 0, p + pos, 35000, block, &test_err));
		REQUIRE_OK(bf_buffer_u32be(b, (uint32_t) block->len, &test_err));
		REQUIRE_OK(bf_buffer_append(b, block->data, block->len, &test_err));
	}
	expect_bytes(a, BF_CODEC_SNAPPY_XERIAL, b->data, b->len, p, 70000);
	REQUIRE_OK(bf_compress_append(ctx, BF_CODEC_SNAPPY, 0, p, 70000, raw, &test_err));
	expect_bytes(a, BF_CODEC_SNAPPY_XERIAL, raw->data, raw->len, p, 70000);
	for (size_t cut = 1; cut < 30; cut++)
		EXPECT_FAIL(bf_decompress_append(ctx, BF_CODEC_SNAPPY_XERIAL, b->data, b->len - cut, out,
										 &test_err),
					BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(
		bf_decompress_append(ctx, BF_CODEC_SNAPPY_XERIAL, "\xff\x06\0\0sNaPpY", 10, out, &test_err),
		BF_ERR_UNSUPPORTED, -1);
	/* Twelve bytes that say they hold 256 MiB. */
	EXPECT_FAIL(bf_decompress_append(ctx, BF_CODEC_SNAPPY, "\x80\x80\x80\x80\x01zzzzzzz", 12, out,
									 &test_err),
				BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(
		bf_decompress_append(ctx, BF_CODEC_SNAPPY, "\xff\xff\xff\xff\xff\xff", 6, out, &test_err),
		BF_ERR_CORRUPT, -1);
}

/* The pieces of p as Hadoop frames them; with `split` two blocks make a piece. */
static BfStatus
hadoop_frame(BfCodecContext *ctx, BfArena *a, const uint8_t *p, size_t n, bool split, BfBuffer *out)
{
	const size_t piece = 20000;

	for (size_t pos = 0; pos < n; pos += piece)
	{
		size_t len = n - pos < piece ? n - pos : piece;
		size_t half = split ? len / 2 : len;

		BF_TRY(bf_buffer_u32be(out, (uint32_t) len, &test_err));
		for (size_t from = 0; from < len; from += half)
		{
			BfBuffer *block = buffer(a, 1 << 20);
			size_t m = len - from < half ? len - from : half;

			BF_TRY(
				bf_compress_append(ctx, BF_CODEC_LZ4_RAW, 0, p + pos + from, m, block, &test_err));
			BF_TRY(bf_buffer_u32be(out, (uint32_t) block->len, &test_err));
			BF_TRY(bf_buffer_append(out, block->data, block->len, &test_err));
		}
	}
	return BF_OK;
}

TEST(codec_lz4_hadoop)
{
	BfArena *a = test_arena();
	BfCodecContext *ctx = context(a);
	uint8_t *p = text(a, 70000);
	BfBuffer *raw = buffer(a, 1 << 20);

	for (int split = 0; split < 2; split++)
	{
		BfBuffer *b = buffer(a, 1 << 20);

		REQUIRE_OK(hadoop_frame(ctx, a, p, 70000, split, b));
		expect_bytes(a, BF_CODEC_LZ4_HADOOP, b->data, b->len, p, 70000);
		for (size_t cut = 1; cut < 100; cut++)
			EXPECT_FAIL(bf_decompress_exact(ctx, BF_CODEC_LZ4_HADOOP, b->data, b->len - cut,
											bf_arena_alloc(a, 70000), 70000, &test_err),
						BF_ERR_CORRUPT, -1);
	}
	REQUIRE_OK(bf_compress_append(ctx, BF_CODEC_LZ4_RAW, 0, p, 70000, raw, &test_err));
	expect_bytes(a, BF_CODEC_LZ4_HADOOP, raw->data, raw->len, p, 70000);
	EXPECT_FAIL(bf_decompress_append(ctx, BF_CODEC_LZ4_HADOOP, "\0\0\0\0\0\0\0\0", 8,
									 buffer(a, 1000000), &test_err),
				BF_ERR_CORRUPT, -1);
}

/* A block of zeros that expands as far as LZ4 can, without the size being known. */
TEST(codec_lz4_raw_expansion)
{
	BfArena *a = test_arena();
	BfCodecContext *ctx = context(a);
	BfBuffer *b = buffer(a, 1 << 20), *small = buffer(a, 1 << 18);
	uint8_t *zeros;

	zeros = bf_arena_alloc(a, 3000000);
	memset(zeros, 0, 3000000);
	REQUIRE_OK(bf_compress_append(ctx, BF_CODEC_LZ4_RAW, 0, zeros, 3000000, b, &test_err));
	expect_bytes(a, BF_CODEC_LZ4_RAW, b->data, b->len, zeros, 3000000);
	EXPECT_FAIL(bf_decompress_append(ctx, BF_CODEC_LZ4_RAW, b->data, b->len, small, &test_err),
				BF_ERR_LIMIT, -1);
}

TEST(codec_limits)
{
	BfArena *a = test_arena();
	BfCodecContext *ctx = context(a);
	uint8_t *p = bf_arena_alloc(a, 200000), *noise = bf_arena_alloc(a, 2000);
	size_t n = 200000;

	memset(p, 'x', n);
	for (size_t i = 0; i < 2000; i++)
		noise[i] = (uint8_t) test_random();
	for (size_t i = 0; i < N_WRITTEN; i++)
	{
		BfBuffer *b = buffer(a, 1 << 20), *out = buffer(a, 100000), *tiny = buffer(a, 1000);

		REQUIRE_OK(bf_compress_append(ctx, written[i], 1, p, n, b, &test_err));
		EXPECT_FAIL(bf_decompress_append(ctx, written[i], b->data, b->len, out, &test_err),
					BF_ERR_LIMIT, -1);
		EXPECT_EQ(out->len, 0);
		EXPECT_FAIL(bf_compress_append(ctx, written[i], 0, noise, 2000, tiny, &test_err),
					BF_ERR_LIMIT, -1);
		EXPECT_EQ(tiny->len, 0);
	}
	EXPECT_FAIL(bf_compress_append(ctx, BF_CODEC_BROTLI, 0, p, n, buffer(a, 10), &test_err),
				BF_ERR_UNSUPPORTED, -1);
	EXPECT_FAIL(bf_decompress_exact(ctx, BF_CODEC_ZSTD, "", 0, p, 1, &test_err), BF_ERR_CORRUPT,
				-1);
	REQUIRE_OK(bf_decompress_exact(ctx, BF_CODEC_ZSTD, "", 0, p, 0, &test_err));
	EXPECT_STR(bf_codec_name(BF_CODEC_ZSTD), "zstd");
	EXPECT_STR(bf_codec_name(BF_CODEC_COUNT), "?");
}

/* Cut at every byte: never the whole again, never a crash. Codecs without an end mark may give a
 * shorter result when the size is unknown, so the exact form is asked. */
TEST(codec_cut_at_every_byte)
{
	BfArena *a = test_arena();
	BfCodecContext *ctx = context(a);
	uint8_t *p = text(a, 3000), got[3000];

	for (size_t i = 0; i < N_WRITTEN; i++)
	{
		BfBuffer *b = buffer(a, 1 << 16);

		REQUIRE_OK(bf_compress_append(ctx, written[i], 0, p, 3000, b, &test_err));
		for (size_t n = 0; n < b->len; n++)
		{
			uint8_t *cut = bf_arena_memdup(a, b->data, n); /* so that reading on is seen */
			BfStatus s = bf_decompress_exact(ctx, written[i], cut, n, got, 3000, &test_err);

			if (s == BF_OK && memcmp(got, p, 3000) == 0 && written[i] == BF_CODEC_LZ4_FRAME)
				EXPECT_EQ(n, b->len - 4);
			else
				EXPECT_EQ(s, BF_ERR_CORRUPT);
		}
	}
	for (size_t n = 0; n < sizeof brotli_sample; n++)
		EXPECT_FAIL(
			bf_decompress_exact(ctx, BF_CODEC_BROTLI, brotli_sample, n, got, 3000, &test_err),
			BF_ERR_CORRUPT, -1);
}

TEST(codec_damaged_bytes)
{
	BfArena *a = test_arena();
	uint8_t *p = text(a, 3000), got[3000];

	for (size_t i = 0; i < N_WRITTEN + 3; i++)
	{
		BfCodec c = i < N_WRITTEN		 ? written[i]
					: i == N_WRITTEN	 ? BF_CODEC_BROTLI
					: i == N_WRITTEN + 1 ? BF_CODEC_SNAPPY_XERIAL
										 : BF_CODEC_LZ4_HADOOP;
		BfCodecContext *ctx = context(a);
		BfBuffer *b = buffer(a, 1 << 16);

		if (i < N_WRITTEN)
			REQUIRE_OK(bf_compress_append(ctx, c, 0, p, 3000, b, &test_err));
		else
			REQUIRE_OK(bf_buffer_append(b, brotli_sample, sizeof brotli_sample, &test_err));
		for (int round = 0; round < 400; round++)
		{
			uint8_t *bad = malloc(b->len);
			BfArena *each = bf_arena_new(test_host(), "each", 1 << 22);
			BfBuffer *out = buffer(each, 1 << 20);

			memcpy(bad, b->data, b->len);
			for (uint64_t k = test_random_below(4) + 1; k > 0; k--)
				bad[test_random_below(b->len)] = (uint8_t) test_random();
			(void) !bf_decompress_exact(ctx, c, bad, b->len, got, 3000, &test_err);
			(void) !bf_decompress_append(ctx, c, bad, b->len, out, &test_err);
			EXPECT(out->len <= out->bytes_max);
			bf_arena_free(each);
			free(bad);
		}
	}
}

TEST(codec_faults)
{
	static const TestFault kinds[] = {TEST_FAULT_ALLOC, TEST_FAULT_CANCEL};

	for (size_t k = 0; k < 2; k++)
		for (int64_t call = 1;; call++)
		{
			TestHost h;
			BfArena *a;
			BfCodecContext *ctx;
			BfBuffer *b = NULL, *out = NULL;
			BfStatus s = BF_OK;
			bool fired;

			test_host_init(&h);
			test_fault_arm(&h, kinds[k], call, false);
			a = bf_arena_new(&h.host, "codec", 1 << 22);
			if (a != NULL)
			{
				s = bf_codec_context_new(a, &ctx, &test_err);
				if (s == BF_OK)
					s = bf_buffer_new(a, 1 << 20, &b, &test_err);
				if (s == BF_OK)
					s = bf_buffer_new(a, 1 << 20, &out, &test_err);
				for (size_t i = 0; s == BF_OK && i < N_WRITTEN; i++)
				{
					b->len = out->len = 0;
					s = bf_compress_append(ctx, written[i], 0, PHRASE, PHRASE_BYTES, b, &test_err);
					if (s == BF_OK)
						s = bf_decompress_append(ctx, written[i], b->data, b->len, out, &test_err);
				}
				bf_arena_free(a);
			}
			fired = test_fault_fired(&h);
			EXPECT_EQ(h.live_allocs, 0);
			if (!fired)
			{
				EXPECT_EQ(s, BF_OK);
				break;
			}
			EXPECT_EQ(s, a == NULL ? BF_OK : k == 0 ? BF_ERR_NOMEM : BF_ERR_CANCEL);
			REQUIRE(call < 1000);
		}
}

TEST(codec_crc_published)
{
	uint8_t ramp[32], zeros[32] = {0}, ones[32];

	for (int i = 0; i < 32; i++)
	{
		ramp[i] = (uint8_t) i;
		ones[i] = 0xff;
	}
	EXPECT_EQ(bf_crc32c("123456789", 9), UINT32_C(0xe3069283));
	EXPECT_EQ(bf_crc32c(zeros, 32), UINT32_C(0x8a9136aa));
	EXPECT_EQ(bf_crc32c(ones, 32), UINT32_C(0x62a8ab43));
	EXPECT_EQ(bf_crc32c(ramp, 32), UINT32_C(0x46dd794e));
	EXPECT_EQ(bf_crc32c("", 0), 0);
	EXPECT_EQ(bf_crc32("123456789", 9), UINT32_C(0xcbf43926));
	EXPECT_EQ(bf_crc32(NULL, 0), 0);
}

TEST(codec_crc_paths_agree)
{
	BfArena *a = test_arena();
	size_t n = 3 * 4096 * 2 + 3 * 256 * 2 + 100;
	uint8_t *p = bf_arena_alloc(a, n + 8);

	if (!bfi_have_sse42())
	{
		test_skip("the CPU has no SSE4.2");
		return;
	}
	for (size_t i = 0; i < n + 8; i++)
		p[i] = (uint8_t) test_random();
	for (size_t len = 0; len < 2000; len++)
		EXPECT_EQ(bfi_crc32c_sse42(~0U, p + len % 8, len),
				  bfi_crc32c_scalar(~0U, p + len % 8, len));
	for (int i = 0; i < 200; i++)
	{
		size_t len = test_random_below(n + 1), cut = test_random_below(len + 1);
		uint32_t whole = bf_crc32c(p, len);

		EXPECT_EQ(whole, ~bfi_crc32c_scalar(~0U, p, len));
		EXPECT_EQ(whole, bf_crc32c_extend(bf_crc32c(p, cut), p + cut, len - cut));
	}
}
