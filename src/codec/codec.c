/*
 * The table of codecs, and what all of them share: contexts that are kept from call to call, and
 * sinks, which bound what decompression may write.
 */
#include "codec/codec.h"

#include <string.h>

#include "codec/internal.h"

static BfStatus
none_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink, BfError *err)
{
	(void) ctx;
	BF_TRY(bfi_sink_room(sink, n, err));
	if (n > 0)
		memcpy(sink->start + sink->len, src, n);
	sink->len += n;
	return BF_OK;
}

static BfStatus
none_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n, BfBuffer *out,
			  BfError *err)
{
	(void) ctx;
	(void) level;
	return bf_buffer_append(out, src, n, err);
}

static const struct
{
	const char *name;
	BfDecompress decompress;
	BfCompress compress; /* NULL: not written by us */
} codecs[BF_CODEC_COUNT] = {
	[BF_CODEC_NONE] = {"none", none_decompress, none_compress},
	[BF_CODEC_SNAPPY] = {"snappy", bfi_snappy_decompress, bfi_snappy_compress},
	[BF_CODEC_SNAPPY_XERIAL] = {"snappy (xerial)", bfi_xerial_decompress, NULL},
	[BF_CODEC_GZIP] = {"gzip", bfi_gzip_decompress, bfi_gzip_compress},
	[BF_CODEC_DEFLATE] = {"deflate", bfi_deflate_decompress, bfi_deflate_compress},
	[BF_CODEC_LZ4_RAW] = {"lz4 (raw)", bfi_lz4_raw_decompress, bfi_lz4_raw_compress},
	[BF_CODEC_LZ4_HADOOP] = {"lz4 (hadoop)", bfi_lz4_hadoop_decompress, NULL},
	[BF_CODEC_LZ4_FRAME] = {"lz4 (frame)", bfi_lz4_frame_decompress, bfi_lz4_frame_compress},
	[BF_CODEC_ZSTD] = {"zstd", bfi_zstd_decompress, bfi_zstd_compress},
	[BF_CODEC_BROTLI] = {"brotli", bfi_brotli_decompress, NULL},
};

const char *
bf_codec_name(BfCodec c)
{
	return (unsigned) c < BF_CODEC_COUNT ? codecs[c].name : "?";
}

static void
free_context(void *arg)
{
	BfCodecContext *ctx = arg;

	bfi_zstd_give_back(ctx->zstd_d);
	ZSTD_freeCCtx(ctx->zstd_c);
	LZ4F_freeDecompressionContext(ctx->lz4f_d);
	if (ctx->inflate_gzip.state != NULL)
		inflateEnd(&ctx->inflate_gzip);
	if (ctx->inflate_raw.state != NULL)
		inflateEnd(&ctx->inflate_raw);
}

BfStatus
bf_codec_context_new(BfArena *a, BfCodecContext **out, BfError *err)
{
	BfCodecContext *ctx;

	BF_NEW(a, ctx, 1, err);
	ctx->host = bf_arena_host(a);
	if (!bf_arena_on_cleanup(a, free_context, ctx))
		return bf_arena_fail(a, 0, err);
	*out = ctx;
	return BF_OK;
}

BfStatus
bfi_codec_corrupt(BfError *err, BfCodec c, const char *why)
{
	return bf_error(err, BF_ERR_CORRUPT, "damaged %s data: %s", bf_codec_name(c), why);
}

BfStatus
bfi_sink_room(BfSink *s, size_t more, BfError *err)
{
	if (BF_LIKELY(more <= bfi_sink_left(s)))
		return BF_OK;
	if (s->buffer == NULL)
		return bf_error(err, BF_ERR_CORRUPT,
						"compressed data gives more than the expected %zu bytes", s->cap);
	BF_ASSERT(s->len <= s->cap && s->base + s->len <= s->buffer->bytes_max);
	s->buffer->len = s->base + s->len; /* so that growing keeps what is there */
	BF_TRY(bf_buffer_reserve(s->buffer, more, err));
	s->start = s->buffer->data + s->base;
	s->cap = s->buffer->cap - s->base;
	BF_ASSERT(more <= bfi_sink_left(s));
	return BF_OK;
}

bool
bfi_sink_full(const BfSink *s)
{
	if (bfi_sink_left(s) > 0)
		return false;
	return s->buffer == NULL || s->base + s->len >= s->buffer->bytes_max;
}

BfStatus
bfi_sink_more(BfSink *s, size_t wanted, BfError *err)
{
	if (s->buffer != NULL && wanted > s->buffer->bytes_max - (s->base + s->len))
		wanted = s->buffer->bytes_max - (s->base + s->len);
	return bfi_sink_room(s, wanted > 0 ? wanted : 1, err);
}

BfStatus
bf_decompress_exact(BfCodecContext *ctx, BfCodec c, const void *src, size_t src_len, void *dst,
					size_t dst_len, BfError *err)
{
	BfSink sink = {.start = dst, .cap = dst_len};

	BF_NEVER(err, (unsigned) c >= BF_CODEC_COUNT);
	BF_ASSERT(codecs[c].decompress != NULL && codecs[c].name != NULL);
	BF_TRY(bf_check_cancel(ctx->host, err));
	if (src_len > 0)
		BF_TRY(codecs[c].decompress(ctx, src, src_len, &sink, err));
	BF_ASSERT(sink.start == dst && sink.len <= dst_len);
	if (sink.len != dst_len)
		return bf_error(err, BF_ERR_CORRUPT, "%s data gives %zu bytes instead of %zu",
						bf_codec_name(c), sink.len, dst_len);
	return BF_OK;
}

BfStatus
bf_decompress_append(BfCodecContext *ctx, BfCodec c, const void *src, size_t src_len, BfBuffer *out,
					 BfError *err)
{
	BfSink sink = {.buffer = out, .base = out->len};
	BfStatus status = BF_OK;

	BF_NEVER(err, (unsigned) c >= BF_CODEC_COUNT);
	BF_TRY(bf_check_cancel(ctx->host, err));
	if (out->data != NULL)
	{
		sink.start = out->data + out->len;
		sink.cap = out->cap - out->len;
	}
	if (src_len > 0)
		status = codecs[c].decompress(ctx, src, src_len, &sink, err);
	out->len = status == BF_OK ? sink.base + sink.len : sink.base;
	BF_ASSERT(out->len <= out->cap);
	return status;
}

BfStatus
bfi_compress_room(BfBuffer *out, size_t bound, size_t *room, BfError *err)
{
	size_t left = out->bytes_max - out->len;

	BF_ASSERT(out->len <= out->bytes_max);
	*room = bound < left ? bound : left;
	return bf_buffer_reserve(out, *room, err);
}

BfStatus
bf_compress_append(BfCodecContext *ctx, BfCodec c, int level, const void *src, size_t src_len,
				   BfBuffer *out, BfError *err)
{
	BF_NEVER(err, (unsigned) c >= BF_CODEC_COUNT);
	BF_TRY(bf_check_cancel(ctx->host, err));
	if (codecs[c].compress == NULL)
		return bf_error(err, BF_ERR_UNSUPPORTED, "compressing with %s", bf_codec_name(c));
	return codecs[c].compress(ctx, level, src, src_len, out, err);
}

BfStatus
bf_compress_seamed(BfCodecContext *ctx, BfCodec c, int level, const void *src, size_t src_len,
				   const BfSeams *seams, BfBuffer *out, BfError *err)
{
	BF_ASSERT(seams->n <= BF_SEAMS_MAX);
	if (c != BF_CODEC_ZSTD || seams->n == 0)
		return bf_compress_append(ctx, c, level, src, src_len, out, err);
	BF_TRY(bf_check_cancel(ctx->host, err));
	return bfi_zstd_compress_seamed(ctx, level, src, src_len, seams, out, err);
}
