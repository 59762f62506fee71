/* Decompressing anything with any codec, both ways; compressing anything and getting it back. */
#include "fuzz/fuzz.h"

#include "codec/codec.h"

#define OUT_MAX ((size_t) 1 << 20)

/* Known size and unknown size must agree. One exception: how a block of LZ4 has to end depends on
 * the room it is decoded into, so a malformed one may pass with more room than it fills. */
static void
both_ways(BfArena *a, BfCodec c, const uint8_t *data, size_t size)
{
	BfCodecContext *ctx;
	BfBuffer *out;
	BfError err;
	uint8_t *exact;
	bool lz4_block = c == BF_CODEC_LZ4_RAW || c == BF_CODEC_LZ4_HADOOP;
	BfStatus s;

	FUZZ_CHECK(bf_codec_context_new(a, &ctx, &err) == BF_OK);
	FUZZ_CHECK(bf_buffer_new(a, OUT_MAX, &out, &err) == BF_OK);
	if (bf_decompress_append(ctx, c, data, size, out, &err) != BF_OK)
	{
		FUZZ_CHECK(out->len == 0 && err.text[0] != '\0');
		return;
	}
	FUZZ_CHECK(out->len <= OUT_MAX);
	exact = malloc(out->len > 0 ? out->len : 1);
	s = bf_decompress_exact(ctx, c, data, size, exact, out->len, &err);
	FUZZ_CHECK(s == BF_OK || lz4_block);
	FUZZ_CHECK(s != BF_OK || out->len == 0 || memcmp(exact, out->data, out->len) == 0);
	free(exact);
}

static void
round_trip(BfArena *a, BfCodec c, int level, const uint8_t *data, size_t size)
{
	BfCodecContext *ctx;
	BfBuffer *packed, *out;
	BfError err;
	BfStatus s;

	FUZZ_CHECK(bf_codec_context_new(a, &ctx, &err) == BF_OK);
	FUZZ_CHECK(bf_buffer_new(a, OUT_MAX, &packed, &err) == BF_OK);
	FUZZ_CHECK(bf_buffer_new(a, OUT_MAX, &out, &err) == BF_OK);
	s = bf_compress_append(ctx, c, level, data, size, packed, &err);
	if (s != BF_OK)
	{
		FUZZ_CHECK(s == BF_ERR_UNSUPPORTED || s == BF_ERR_LIMIT);
		return;
	}
	FUZZ_CHECK(bf_decompress_append(ctx, c, packed->data, packed->len, out, &err) == BF_OK);
	FUZZ_CHECK(out->len == size && (size == 0 || memcmp(out->data, data, size) == 0));
}

int
bf_fuzz_codec(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	BfCodec c = (BfCodec) fuzz_take_below(&in, BF_CODEC_COUNT);
	int level = (int) fuzz_take_below(&in, 12);
	BfArena *a = fuzz_arena((size_t) 16 << 20);

	both_ways(a, c, in.data, in.size);
	round_trip(a, c, level, in.data, in.size);
	FUZZ_CHECK(bf_crc32c_extend(bf_crc32c(in.data, in.size / 3), in.data + in.size / 3,
								in.size - in.size / 3) == bf_crc32c(in.data, in.size));
	bf_arena_free(a);
	return 0;
}
