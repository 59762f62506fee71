/* Brotli, reading only: one stream and nothing behind it. */
#include "codec/internal.h"

#include <brotli/decode.h>

static BfStatus
decode(BfCodecContext *ctx, BrotliDecoderState *state, const uint8_t *src, size_t n, BfSink *sink,
	   BfError *err)
{
	size_t in_left = n;

	while (true)
	{
		uint8_t nowhere;
		size_t room = bfi_sink_step(sink), out_left = room;
		uint8_t *to = bfi_sink_end(sink, &nowhere);
		BrotliDecoderResult rc;

		BF_TRY(bf_check_cancel(ctx->host, err));
		rc = BrotliDecoderDecompressStream(state, &in_left, &src, &out_left, &to, NULL);
		BF_ASSERT(out_left <= room && in_left <= n);
		sink->len += room - out_left;
		switch (rc)
		{
			case BROTLI_DECODER_RESULT_SUCCESS:
				if (in_left > 0)
					return bfi_codec_corrupt(err, BF_CODEC_BROTLI,
											 "bytes behind the end of the stream");
				return BF_OK;
			case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
				if (bfi_sink_left(sink) == 0)
					BF_TRY(bfi_sink_more(sink, BFI_FIRST_BYTES, err));
				break;
			case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
				return bfi_codec_corrupt(err, BF_CODEC_BROTLI, "it ends too early");
			case BROTLI_DECODER_RESULT_ERROR:
			default:
			{
				BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(state);

				if (code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
					code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES)
					return bf_error(err, BF_ERR_NOMEM, "out of memory in brotli");
				return bfi_codec_corrupt(err, BF_CODEC_BROTLI, BrotliDecoderErrorString(code));
			}
		}
	}
}

BfStatus
bfi_brotli_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink, BfError *err)
{
	BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	BfStatus status;

	if (state == NULL)
		return bf_error(err, BF_ERR_NOMEM, "out of memory for a brotli context");
	status = decode(ctx, state, src, n, sink, err);
	BrotliDecoderDestroyInstance(state);
	return status;
}
