/*
 * codec/internal.h: what the codec files share.
 *
 * Every decompressor writes into a BfSink, which is either exactly the caller's memory or the free
 * end of a growing buffer; so each codec has one decompressing function for both public ones.
 */
#ifndef BF_CODEC_INTERNAL_H
#define BF_CODEC_INTERNAL_H

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include "codec/codec.h"

/* One step of a streaming codec writes at most this much between two looks at the cancel flag. */
#define BFI_STEP_BYTES ((size_t) 4 << 20)
/* The first room that a codec of unknown output size asks for. */
#define BFI_FIRST_BYTES ((size_t) 64 << 10)

/* Contexts are made when first needed and freed with the arena. */
struct BfCodecContext
{
	const BfHost *host; /* borrowed */
	ZSTD_DCtx *zstd_d;
	ZSTD_CCtx *zstd_c;
	LZ4F_dctx *lz4f_d;
	z_stream inflate_gzip; /* state == NULL: not made yet */
	z_stream inflate_raw;
};

typedef struct BfSink
{
	uint8_t *start;
	size_t len;
	size_t cap;
	BfBuffer *buffer; /* NULL: exactly cap bytes are expected */
	size_t base;	  /* buffer: its length at the beginning */
} BfSink;

static inline size_t
bfi_sink_left(const BfSink *s)
{
	return s->cap - s->len;
}

/* Where the next byte goes; a place with no room while nothing is allocated. */
static inline uint8_t *
bfi_sink_end(const BfSink *s, uint8_t *nowhere)
{
	return s->start != NULL ? s->start + s->len : nowhere;
}

/* The room to offer in one step. */
static inline size_t
bfi_sink_step(const BfSink *s)
{
	return bfi_sink_left(s) < BFI_STEP_BYTES ? bfi_sink_left(s) : BFI_STEP_BYTES;
}

/* Makes room for at least `more` bytes. A fixed sink that has no room gives BF_ERR_CORRUPT, a
 * buffer at its bytes_max BF_ERR_LIMIT. */
extern BfStatus bfi_sink_room(BfSink *s, size_t more, BfError *err) BF_MUST_CHECK;
/* Makes some room, `wanted` bytes if the limits allow, at least one. */
extern BfStatus bfi_sink_more(BfSink *s, size_t wanted, BfError *err) BF_MUST_CHECK;
/* No byte can be added, whatever is asked for. */
extern bool bfi_sink_full(const BfSink *s);
extern BfStatus bfi_codec_corrupt(BfError *err, BfCodec c, const char *why);

typedef BfStatus (*BfDecompress)(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink,
								 BfError *err);
extern BfStatus bfi_zstd_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink,
									BfError *err) BF_MUST_CHECK;
/* The context that decompressed is for the next one that needs one, or freed. NULL: nothing. */
extern void bfi_zstd_give_back(ZSTD_DCtx *d);
extern BfStatus bfi_gzip_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n, BfSink *sink,
									BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_deflate_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n,
									   BfSink *sink, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_snappy_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n,
									  BfSink *sink, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_xerial_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n,
									  BfSink *sink, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_lz4_raw_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n,
									   BfSink *sink, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_lz4_hadoop_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n,
										  BfSink *sink, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_lz4_frame_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n,
										 BfSink *sink, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_brotli_decompress(BfCodecContext *ctx, const uint8_t *src, size_t n,
									  BfSink *sink, BfError *err) BF_MUST_CHECK;

/* Compressors append to out and leave it as it was when they fail. */
typedef BfStatus (*BfCompress)(BfCodecContext *ctx, int level, const uint8_t *src, size_t n,
							   BfBuffer *out, BfError *err);
extern BfStatus bfi_zstd_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n,
								  BfBuffer *out, BfError *err) BF_MUST_CHECK;
extern BfStatus
bfi_zstd_compress_seamed(BfCodecContext *ctx, int level, const uint8_t *src, size_t n,
						 const BfSeams *seams, BfBuffer *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_gzip_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n,
								  BfBuffer *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_deflate_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n,
									 BfBuffer *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_snappy_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n,
									BfBuffer *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_lz4_frame_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n,
									   BfBuffer *out, BfError *err) BF_MUST_CHECK;
extern BfStatus bfi_lz4_raw_compress(BfCodecContext *ctx, int level, const uint8_t *src, size_t n,
									 BfBuffer *out, BfError *err) BF_MUST_CHECK;
/* Room for `bound` bytes, or for as many as bytes_max leaves. */
extern BfStatus
bfi_compress_room(BfBuffer *out, size_t bound, size_t *room, BfError *err) BF_MUST_CHECK;

/* The two ways to compute a CRC-32C, for the test that compares them; state is inverted. */
extern uint32_t bfi_crc32c_scalar(uint32_t state, const uint8_t *p, size_t n);
extern uint32_t bfi_crc32c_sse42(uint32_t state, const uint8_t *p, size_t n);
extern bool bfi_have_sse42(void);

#endif
