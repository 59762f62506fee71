/*
 * Zstandard: any number of frames, skippable ones among them, with or without a content size.
 *
 * Making a context to decompress with costs more than decompressing a small page: it has 94 KB,
 * which the C library gives back to the system each time. So a thread keeps a few when their arenas
 * go, without what they were told, and takes them before it makes any. It has them to its end: no
 * thread of ours ends before the process.
 */
#include "codec/internal.h"

#include <zstd_errors.h>

/* What the format recommends every decoder to accept; a frame that wants more is refused. */
#define WINDOW_LOG_MAX 27

/* As many scans are open at once in most queries. One that has grown a window is not kept. */
#define SPARE_MAX 8
#define SPARE_BYTES_MAX ((size_t) 256 << 10)

static _Thread_local ZSTD_DCtx *spare[SPARE_MAX];
static _Thread_local int n_spare = 0;

/* NULL: out of memory. */
static ZSTD_DCtx *
take_context(void)
{
	BF_ASSERT(n_spare >= 0 && n_spare <= SPARE_MAX);
	return n_spare > 0 ? spare[--n_spare] : ZSTD_createDCtx();
}

void
bfi_zstd_give_back(ZSTD_DCtx *d)
{
	if (d == NULL)
		return;
	if (n_spare == SPARE_MAX || ZSTD_sizeof_DCtx(d) > SPARE_BYTES_MAX ||
		ZSTD_isError(ZSTD_DCtx_reset(d, ZSTD_reset_session_and_parameters)))
		ZSTD_freeDCtx(d);
	else
		spare[n_spare++] = d;
}

static BfStatus
zstd_failure(size_t code, BfError *err)
{
	switch (ZSTD_getErrorCode(code))
	{
		case ZSTD_error_memory_allocation:
			return bf_error(err, BF_ERR_NOMEM, "out of memory in zstd");
		case ZSTD_error_frameParameter_windowTooLarge:
			return bf_error(err, BF_ERR_LIMIT, "a zstd frame needs a window of more than %d MiB",
							1 << (WINDOW_LOG_MAX - 20));
		default: return bfi_codec_corrupt(err, BF_CODEC_ZSTD, ZSTD_getErrorName(code));
	}
}

static BfStatus
stream(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink, BfError *err)
{
	ZSTD_inBuffer in = {src, n, 0};
	size_t hint = 1;

	BF_ASSERT(ctx->zstd_d != NULL && sink->len == 0);
	while (true)
	{
		uint8_t nowhere;
		size_t before = in.pos;
		ZSTD_outBuffer to = {bfi_sink_end(sink, &nowhere), bfi_sink_step(sink), 0};

		BF_TRY(bf_check_cancel(ctx->host, err));
		hint = ZSTD_decompressStream(ctx->zstd_d, &to, &in);
		if (ZSTD_isError(hint))
			return zstd_failure(hint, err);
		BF_ASSERT(to.pos <= to.size && in.pos >= before && in.pos <= n);
		sink->len += to.pos;
		/* Done when all is read and nothing waits to be written. */
		if (in.pos == n && (hint == 0 || to.pos < to.size))
			break;
		/* A full sink can still take in what makes no output, so only a standstill asks for room.
		 */
		if (to.size == 0 && in.pos == before)
			BF_TRY(bfi_sink_more(sink, BFI_FIRST_BYTES, err));
	}
	if (hint != 0)
		return bfi_codec_corrupt(err, BF_CODEC_ZSTD, "a frame ends too early");
	return BF_OK;
}

BfStatus
bfi_zstd_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink, BfError *err)
{
	if (ctx->zstd_d == NULL)
	{
		ctx->zstd_d = take_context();
		if (ctx->zstd_d == NULL)
			return bf_error(err, BF_ERR_NOMEM, "out of memory for a zstd context");
		(void) ZSTD_DCtx_setParameter(ctx->zstd_d, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	}
	if (sink->buffer == NULL && sink->cap <= BFI_STEP_BYTES)
	{
		/* In one call, straight into place, without a window of its own. */
		size_t got = ZSTD_decompressDCtx(ctx->zstd_d, sink->start, sink->cap, src, n);

		if (ZSTD_isError(got))
			return zstd_failure(got, err);
		BF_ASSERT(sink->len == 0 && got <= sink->cap);
		sink->len = got;
		return BF_OK;
	}
	(void) ZSTD_DCtx_reset(ctx->zstd_d, ZSTD_reset_session_only);
	return stream(ctx, src, n, sink, err);
}

static BfStatus
compressor(BfCodecContext *ctx, BfError *err)
{
	if (ctx->zstd_c == NULL)
		ctx->zstd_c = ZSTD_createCCtx();
	if (ctx->zstd_c == NULL)
		return bf_error(err, BF_ERR_NOMEM, "out of memory for a zstd context");
	return BF_OK;
}

static BfStatus
too_long(const BfBuffer *out, BfError *err)
{
	return bf_error(err, BF_ERR_LIMIT, "compressed data would grow past %zu bytes", out->bytes_max);
}

BfStatus
bfi_zstd_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n, BfBuffer *out,
				  BfError *err)
{
	size_t room, got;

	BF_TRY(compressor(ctx, err));
	BF_TRY(bfi_compress_room(out, ZSTD_compressBound(n), &room, err));
	got = ZSTD_compressCCtx(ctx->zstd_c, out->data + out->len, room, src, n, level);
	if (ZSTD_isError(got))
	{
		if (ZSTD_getErrorCode(got) == ZSTD_error_dstSize_tooSmall)
			return too_long(out, err);
		return bf_error(err, BF_ERR_NOMEM, "zstd: %s", ZSTD_getErrorName(got));
	}
	BF_ASSERT(got <= room);
	out->len += got;
	return BF_OK;
}

/* One frame of a known size; a block ends at each seam. */
BfStatus
bfi_zstd_compress_seamed(BfCodecContext *ctx, int level, const uint8_t *src, size_t n,
						 const BfSeams *seams, BfBuffer *out, BfError *err)
{
	ZSTD_outBuffer to = {.pos = 0};
	ZSTD_inBuffer from = {src, 0, 0};

	BF_TRY(compressor(ctx, err));
	/* A block's header takes 3 bytes, and may come once more for each piece. */
	BF_TRY(bfi_compress_room(out, ZSTD_compressBound(n) + 64 * (size_t) (seams->n + 1), &to.size,
							 err));
	to.dst = out->data + out->len;
	(void) ZSTD_CCtx_reset(ctx->zstd_c, ZSTD_reset_session_and_parameters);
	(void) ZSTD_CCtx_setParameter(ctx->zstd_c, ZSTD_c_compressionLevel, level);
	(void) ZSTD_CCtx_setPledgedSrcSize(ctx->zstd_c, n);
	for (uint32_t i = 0; i <= seams->n; i++)
	{
		size_t left = 1;

		from.size = i < seams->n ? seams->at[i] : n;
		BF_ASSERT(from.size >= from.pos && from.size <= n);
		while (left > 0)
		{
			size_t before = to.pos + from.pos;

			left = ZSTD_compressStream2(ctx->zstd_c, &to, &from,
										i < seams->n ? ZSTD_e_flush : ZSTD_e_end);
			if (ZSTD_isError(left))
				return bf_error(err, BF_ERR_NOMEM, "zstd: %s", ZSTD_getErrorName(left));
			if (left > 0 && to.pos + from.pos == before)
				return too_long(out, err);
		}
	}
	BF_ASSERT(to.pos <= to.size && from.pos == n);
	out->len += to.pos;
	return BF_OK;
}
