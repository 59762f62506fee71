/*
 * LZ4 in its three dresses: one block, blocks in Hadoop's framing, frames.
 *
 * Parquet's codec 5 is "LZ4", and files in the wild mean any of the three. Hadoop's framing is
 *
 *     SIZE  repeated until the input ends
 *     4     length of the uncompressed piece, big-endian
 *     4     length of the block, big-endian  \  repeated until the
 *     n     the block                        /  piece is complete
 *
 * It is tried first, since its lengths must all agree; then one raw block; then a frame. No valid
 * input of one kind passes as another: a frame's magic read as a length gives a piece of 69 MB,
 * read as a block a match before the first byte.
 */
#include "codec/internal.h"

#include <lz4.h>
#include <string.h>

#define BLOCK_EXPANSION_MAX 255
#define FRAME_MAGIC UINT32_C(0x184d2204)
/* What LZ4F_decompress asks for when it waits for the next block's header. */
#define BLOCK_HEADER_BYTES 4

_Static_assert(LZ4_MAX_INPUT_SIZE <= INT32_MAX, "a block's length is an int");

/* One block into at most `most` bytes; false when it does not decode or fit. */
static bool
decode_block(const uint8_t *src, size_t n, const BfSink *sink, size_t most, size_t *got)
{
	uint8_t nowhere;
	int rc;

	BF_ASSERT(most <= bfi_sink_left(sink));
	if (n > INT32_MAX)
		return false;
	if (most > INT32_MAX)
		most = INT32_MAX;
	rc = LZ4_decompress_safe((const char *) src, (char *) bfi_sink_end(sink, &nowhere), (int) n,
							 (int) most);
	if (rc < 0)
		return false;
	BF_ASSERT((size_t) rc <= most);
	*got = (size_t) rc;
	return true;
}

BfStatus
bfi_lz4_raw_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink,
					   BfError *err)
{
	size_t got, want;

	if (sink->buffer == NULL)
	{
		if (!decode_block(src, n, sink, bfi_sink_left(sink), &got))
			return bfi_codec_corrupt(err, BF_CODEC_LZ4_RAW, "the block does not decode");
		sink->len += got;
		return BF_OK;
	}
	/* A block doesn't tell its size, nor whether it failed for want of room. */
	for (want = n < BFI_FIRST_BYTES ? BFI_FIRST_BYTES : n * 2;; want *= 2)
	{
		BF_TRY(bf_check_cancel(ctx->host, err));
		/* A block of nothing needs no room. */
		if (!bfi_sink_full(sink))
			BF_TRY(bfi_sink_more(sink, want, err));
		if (decode_block(src, n, sink, bfi_sink_left(sink), &got))
			break;
		if (want > bfi_sink_left(sink))
			return bfi_sink_room(sink, want, err);
		if (want / BLOCK_EXPANSION_MAX > n)
			return bfi_codec_corrupt(err, BF_CODEC_LZ4_RAW, "the block does not decode");
	}
	sink->len += got;
	return BF_OK;
}

BfStatus
bfi_lz4_raw_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n, BfBuffer *out,
					 BfError *err)
{
	size_t room;
	int got;

	(void) ctx;
	(void) level;
	if (n > LZ4_MAX_INPUT_SIZE)
		return bf_error(err, BF_ERR_LIMIT, "more than %d bytes in one LZ4 block",
						LZ4_MAX_INPUT_SIZE);
	BF_TRY(bfi_compress_room(out, (size_t) LZ4_compressBound((int) n), &room, err));
	got = LZ4_compress_default((const char *) (src != NULL ? src : (const uint8_t *) ""),
							   (char *) out->data + out->len, (int) n, (int) room);
	if (got <= 0)
		return bf_error(err, BF_ERR_LIMIT, "compressed data would grow past %zu bytes",
						out->bytes_max);
	out->len += (size_t) got;
	return BF_OK;
}

/* One piece of Hadoop's framing: its length is taken, its blocks follow. */
static BfStatus
hadoop_piece(BfCursor *c, BfSink *sink, BfError *err)
{
	uint32_t piece, block_len;
	const uint8_t *block;
	size_t done = 0;

	BF_TRY(bf_cursor_u32be(c, &piece, err));
	if (piece / BLOCK_EXPANSION_MAX > bf_cursor_left(c))
		return bfi_codec_corrupt(err, BF_CODEC_LZ4_HADOOP, "the stated length is impossible");
	BF_TRY(bfi_sink_room(sink, piece, err));
	/* An empty piece still has a block when the writer made one. */
	do
	{
		size_t got;

		BF_TRY(bf_cursor_u32be(c, &block_len, err));
		BF_TRY(bf_cursor_take(c, block_len, &block, err));
		if (block_len == 0)
			return bfi_codec_corrupt(err, BF_CODEC_LZ4_HADOOP, "an empty block");
		if (!decode_block(block, block_len, sink, piece - done, &got) || (got == 0 && piece > 0))
			return bfi_codec_corrupt(err, BF_CODEC_LZ4_HADOOP, "a block does not decode");
		done += got;
		sink->len += got;
		BF_ASSERT(done <= piece);
	} while (done < piece);
	return BF_OK;
}

static BfStatus
hadoop(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink, BfError *err)
{
	BfCursor c = bf_cursor(src, n, 0);

	while (bf_cursor_left(&c) > 0)
	{
		BF_TRY(bf_check_cancel(ctx->host, err));
		BF_TRY(hadoop_piece(&c, sink, err));
	}
	if (sink->buffer == NULL && bfi_sink_left(sink) > 0)
		return bfi_codec_corrupt(err, BF_CODEC_LZ4_HADOOP, "it ends too early");
	return BF_OK;
}

BfStatus
bfi_lz4_hadoop_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink,
						  BfError *err)
{
	size_t len = sink->len;
	BfStatus status = hadoop(ctx, src, n, sink, err);

	/* Only "these bytes are not of that kind" leads to the next try. */
	if (status != BF_ERR_CORRUPT)
		return status;
	sink->len = len;
	if (n >= 4 && bf_load32le(src) == FRAME_MAGIC)
		return bfi_lz4_frame_decompress(ctx, src, n, sink, err);
	status = bfi_lz4_raw_decompress(ctx, src, n, sink, err);
	if (status != BF_ERR_CORRUPT)
		return status;
	return bfi_codec_corrupt(err, BF_CODEC_LZ4_HADOOP,
							 "neither Hadoop's framing nor a block nor a frame");
}

static BfStatus
frame_failure(size_t code, BfError *err)
{
	const char *name = LZ4F_getErrorName(code);

	if (strstr(name, "alloc") != NULL)
		return bf_error(err, BF_ERR_NOMEM, "out of memory in lz4");
	return bfi_codec_corrupt(err, BF_CODEC_LZ4_FRAME, name);
}

BfStatus
bfi_lz4_frame_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink,
						 BfError *err)
{
	size_t pos = 0, hint = 1;

	if (ctx->lz4f_d == NULL &&
		LZ4F_isError(LZ4F_createDecompressionContext(&ctx->lz4f_d, LZ4F_VERSION)))
	{
		ctx->lz4f_d = NULL;
		return bf_error(err, BF_ERR_NOMEM, "out of memory for an LZ4 context");
	}
	LZ4F_resetDecompressionContext(ctx->lz4f_d);
	while (true)
	{
		/* A full sink offers one byte elsewhere: that it stays unused tells that all came out. */
		uint8_t nowhere;
		bool full = bfi_sink_full(sink);
		size_t room = full ? 1 : bfi_sink_step(sink);
		size_t wrote = room, took = n - pos;

		BF_ASSERT(pos <= n && sink->len <= sink->cap);
		BF_TRY(bf_check_cancel(ctx->host, err));
		hint = LZ4F_decompress(ctx->lz4f_d, full ? &nowhere : bfi_sink_end(sink, &nowhere), &wrote,
							   src + pos, &took, NULL);
		if (LZ4F_isError(hint))
			return frame_failure(hint, err);
		pos += took;
		if (full && wrote > 0)
			return bfi_sink_room(sink, wrote, err);
		sink->len += wrote;
		if (pos == n && (hint == 0 || wrote < room))
			break;
		if (room == 0 && took == 0)
			BF_TRY(bfi_sink_more(sink, BFI_FIRST_BYTES, err));
	}
	/* Some old clients leave out the end mark: then all that is missing is the next block's header.
	 */
	if (hint != 0 && (hint != BLOCK_HEADER_BYTES || n <= LZ4F_HEADER_SIZE_MIN))
		return bfi_codec_corrupt(err, BF_CODEC_LZ4_FRAME, "it ends too early");
	return BF_OK;
}

BfStatus
bfi_lz4_frame_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n, BfBuffer *out,
					   BfError *err)
{
	/* As Java's Kafka client writes it, the one reader that refuses linked blocks. */
	LZ4F_preferences_t prefs = {
		.frameInfo = {.blockSizeID = LZ4F_max64KB, .blockMode = LZ4F_blockIndependent},
		.compressionLevel = level,
	};
	size_t got;

	(void) ctx;
	BF_TRY(bf_buffer_reserve(out, LZ4F_compressFrameBound(n, &prefs), err));
	got = LZ4F_compressFrame(out->data + out->len, out->cap - out->len, src, n, &prefs);
	if (LZ4F_isError(got))
		return bf_error(err, BF_ERR_NOMEM, "lz4: %s", LZ4F_getErrorName(got));
	BF_ASSERT(got > 0 && got <= out->cap - out->len);
	out->len += got;
	return BF_OK;
}
