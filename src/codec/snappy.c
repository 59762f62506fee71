/*
 * Snappy: the raw block, and the stream that snappy-java (xerial) writes.
 *
 *     OFFSET  SIZE  xerial stream
 *     0       8     82 'S' 'N' 'A' 'P' 'P' 'Y' 00
 *     8       4     version, big-endian
 *     12      4     oldest compatible version, big-endian
 *     16      4     length of a block, big-endian; then the block, raw; and so on
 *
 * A further header may stand between blocks, where two streams were put together.
 */
#include "codec/internal.h"

#include <snappy-c.h>
#include <string.h>

#define XERIAL_HEADER 16
static const uint8_t xerial_magic[8] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
static const uint8_t framing_magic[10] = {0xff, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'};

_Static_assert(sizeof xerial_magic + 4 + 4 == XERIAL_HEADER, "magic and two versions");

/* Three bytes make at most 64, so a claim beyond that is refused before it sizes anything. */
#define EXPANSION_MAX 22

BfStatus
bfi_snappy_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink, BfError *err)
{
	uint8_t nowhere;
	size_t len;

	(void) ctx;
	if (snappy_uncompressed_length((const char *) src, n, &len) != SNAPPY_OK)
		return bfi_codec_corrupt(err, BF_CODEC_SNAPPY, "no valid length");
	if (len / EXPANSION_MAX > n)
		return bfi_codec_corrupt(err, BF_CODEC_SNAPPY, "the stated length is impossible");
	BF_TRY(bfi_sink_room(sink, len, err));
	if (snappy_uncompress((const char *) src, n, (char *) bfi_sink_end(sink, &nowhere), &len) !=
		SNAPPY_OK)
		return bfi_codec_corrupt(err, BF_CODEC_SNAPPY, "the block does not decode");
	BF_ASSERT(len <= bfi_sink_left(sink));
	sink->len += len;
	return BF_OK;
}

static bool
is_xerial(const uint8_t *p, size_t n)
{
	return n >= XERIAL_HEADER && memcmp(p, xerial_magic, sizeof xerial_magic) == 0;
}

BfStatus
bfi_xerial_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink, BfError *err)
{
	BfCursor c = bf_cursor(src, n, 0);

	if (n >= sizeof framing_magic && memcmp(src, framing_magic, sizeof framing_magic) == 0)
		return bf_error(err, BF_ERR_UNSUPPORTED, "snappy's framing format");
	if (!is_xerial(src, n))
		return bfi_snappy_decompress(ctx, src, n, sink, err);
	while (bf_cursor_left(&c) > 0)
	{
		uint32_t len;
		const uint8_t *block;

		if (is_xerial(c.pos, bf_cursor_left(&c)))
		{
			BF_TRY(bf_cursor_skip(&c, XERIAL_HEADER, err));
			continue;
		}
		BF_TRY(bf_cursor_u32be(&c, &len, err));
		BF_TRY(bf_cursor_take(&c, len, &block, err));
		BF_TRY(bf_check_cancel(ctx->host, err));
		BF_TRY(bfi_snappy_decompress(ctx, block, len, sink, err));
	}
	return BF_OK;
}

BfStatus
bfi_snappy_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n, BfBuffer *out,
					BfError *err)
{
	size_t len = snappy_max_compressed_length(n);

	(void) ctx;
	(void) level;
	/* The library wants its bound whatever comes out. */
	BF_TRY(bf_buffer_reserve(out, len, err));
	BF_NEVER(err, snappy_compress((const char *) src, n, (char *) out->data + out->len, &len) !=
					  SNAPPY_OK);
	out->len += len;
	return BF_OK;
}
