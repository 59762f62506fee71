/*
 * gzip and raw deflate.
 *
 * A gzip stream may have several members, each with its own header and checksum; a zlib header is
 * taken too, since some writers put it there. When exactly the expected bytes have come out and the
 * member's checksum is right, bytes behind it are not looked at. Behind a raw stream up to four
 * bytes may stand: PyIceberg cuts the header off a zlib stream and leaves most of its checksum.
 */
#include "codec/internal.h"

#define WINDOW_GZIP_OR_ZLIB (15 + 32)
#define WINDOW_GZIP (15 + 16)
#define WINDOW_RAW (-15)
#define ZLIB_TRAILER_BYTES 4

_Static_assert(BFI_STEP_BYTES <= UINT32_MAX, "zlib counts room in 32 bits");

static BfStatus
begin_inflate(z_stream *z, int window_bits, BfError *err)
{
	int rc = z->state == NULL ? inflateInit2(z, window_bits) : inflateReset2(z, window_bits);

	if (rc == Z_MEM_ERROR)
		return bf_error(err, BF_ERR_NOMEM, "out of memory for an inflate context");
	BF_NEVER(err, rc != Z_OK);
	return BF_OK;
}

/* One call of inflate into the sink's free room. */
static int
inflate_step(z_stream *z, BfSink *sink)
{
	uint8_t nowhere;
	size_t step = bfi_sink_step(sink);
	int rc;

	z->next_out = bfi_sink_end(sink, &nowhere);
	z->avail_out = (uInt) step;
	rc = inflate(z, Z_NO_FLUSH);
	BF_ASSERT(z->avail_out <= step);
	sink->len += step - z->avail_out;
	return rc;
}

static BfStatus
inflate_all(BfCodecContext *ctx, BfCodec c, const uint8_t *src, size_t n, BfSink *sink,
			BfError *err)
{
	bool gzip = c == BF_CODEC_GZIP;
	z_stream *z = gzip ? &ctx->inflate_gzip : &ctx->inflate_raw;
	int bits = gzip ? WINDOW_GZIP_OR_ZLIB : WINDOW_RAW;

	BF_ASSERT(gzip || c == BF_CODEC_DEFLATE);
	if (n > UINT32_MAX)
		return bf_error(err, BF_ERR_LIMIT, "more than 4 GiB of compressed data in one piece");
	BF_TRY(begin_inflate(z, bits, err));
	z->next_in = (Bytef *) (uintptr_t) src;
	z->avail_in = (uInt) n;
	while (true)
	{
		int rc;

		BF_TRY(bf_check_cancel(ctx->host, err));
		rc = inflate_step(z, sink);
		if (rc == Z_STREAM_END)
		{
			if (z->avail_in == 0 || (gzip && sink->buffer == NULL && bfi_sink_left(sink) == 0))
				return BF_OK;
			if (!gzip && z->avail_in <= ZLIB_TRAILER_BYTES)
				return BF_OK;
			if (!gzip)
				return bfi_codec_corrupt(err, c, "bytes behind the end of the stream");
			BF_TRY(begin_inflate(z, bits, err));
			continue;
		}
		if (rc == Z_MEM_ERROR)
			return bf_error(err, BF_ERR_NOMEM, "out of memory in inflate");
		if (rc != Z_OK && rc != Z_BUF_ERROR)
			return bfi_codec_corrupt(err, c,
									 rc == Z_NEED_DICT ? "it needs a preset dictionary"
									 : z->msg != NULL  ? z->msg
													   : "not a compressed stream");
		if (z->avail_out > 0 && z->avail_in == 0)
			return bfi_codec_corrupt(err, c, "it ends too early");
		/* No room left: with input at hand inflate may need none (checksum), so it is asked once
		 * more before room is made. */
		if (bfi_sink_left(sink) == 0 && (rc == Z_BUF_ERROR || z->avail_in == 0))
			BF_TRY(bfi_sink_more(sink, BFI_FIRST_BYTES, err));
	}
}

BfStatus
bfi_gzip_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink, BfError *err)
{
	return inflate_all(ctx, BF_CODEC_GZIP, src, n, sink, err);
}

BfStatus
bfi_deflate_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink,
					   BfError *err)
{
	return inflate_all(ctx, BF_CODEC_DEFLATE, src, n, sink, err);
}

static BfStatus
deflate_all(int window_bits, int level, const uint8_t *src, size_t n, BfBuffer *out, BfError *err)
{
	z_stream z = {0};
	size_t room;
	BfStatus status;
	int rc;

	if (n > UINT32_MAX / 2)
		return bf_error(err, BF_ERR_LIMIT, "more than 2 GiB of data to compress in one piece");
	if (level <= 0 || level > 9)
		level = Z_DEFAULT_COMPRESSION;
	if (deflateInit2(&z, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return bf_error(err, BF_ERR_NOMEM, "out of memory for a deflate context");
	status = bfi_compress_room(out, deflateBound(&z, (uLong) n), &room, err);
	if (status == BF_OK)
	{
		z.next_in = (Bytef *) (uintptr_t) src;
		z.avail_in = (uInt) n;
		z.next_out = out->data + out->len;
		z.avail_out = (uInt) room;
		rc = deflate(&z, Z_FINISH);
		BF_ASSERT(z.avail_out <= room);
		if (rc == Z_STREAM_END)
			out->len += room - z.avail_out;
		else
			status = bf_error(err, BF_ERR_LIMIT, "compressed data would grow past %zu bytes",
							  out->bytes_max);
	}
	deflateEnd(&z);
	return status;
}

BfStatus
bfi_gzip_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n, BfBuffer *out,
				  BfError *err)
{
	(void) ctx;
	return deflate_all(WINDOW_GZIP, level, src, n, out, err);
}

BfStatus
bfi_deflate_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n, BfBuffer *out,
					 BfError *err)
{
	(void) ctx;
	return deflate_all(WINDOW_RAW, level, src, n, out, err);
}
