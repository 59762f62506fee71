/*
 * codec/codec.h: compression, one table for all formats.
 *
 * Parquet, Kafka and Avro number their codecs differently; their modules map to BfCodec. Contexts
 * are made once per arena and reused.
 */
#ifndef BF_CODEC_CODEC_H
#define BF_CODEC_CODEC_H

#include "base/bytes.h"

typedef enum BfCodec
{
	BF_CODEC_NONE,
	BF_CODEC_SNAPPY,		/* raw snappy block */
	BF_CODEC_SNAPPY_XERIAL, /* Java's framing, falls back to raw (Kafka) */
	BF_CODEC_GZIP,			/* gzip or zlib header, several members */
	BF_CODEC_DEFLATE,		/* raw deflate (Avro) */
	BF_CODEC_LZ4_RAW,		/* one block */
	BF_CODEC_LZ4_HADOOP, /* Parquet's deprecated LZ4: Hadoop framing, else one block, else frames */
	BF_CODEC_LZ4_FRAME,	 /* Kafka, magic 1 and later */
	BF_CODEC_ZSTD,
	BF_CODEC_BROTLI,
	BF_CODEC_COUNT
} BfCodec;

typedef struct BfCodecContext BfCodecContext;

extern BfStatus bf_codec_context_new(BfArena *a, BfCodecContext **out, BfError *err) BF_MUST_CHECK;
extern const char *bf_codec_name(BfCodec c);

/* Exactly dst_len bytes must come out (Parquet knows the size); anything else is corrupt. Errors
 * have no offset (-1): the caller knows where the compressed bytes stand in the file. */
extern BfStatus bf_decompress_exact(BfCodecContext *ctx, BfCodec c, const void *src, size_t src_len,
									void *dst, size_t dst_len, BfError *err) BF_MUST_CHECK;
/* Size unknown: appends to out, whose bytes_max bounds the result (BF_ERR_LIMIT beyond it). After a
 * failure out has its old length. */
extern BfStatus bf_decompress_append(BfCodecContext *ctx, BfCodec c, const void *src,
									 size_t src_len, BfBuffer *out, BfError *err) BF_MUST_CHECK;
/* Appends to out; level 0 = the codec's default. Supported: NONE, SNAPPY, GZIP, DEFLATE, LZ4_RAW,
 * LZ4_FRAME, ZSTD; others are BF_ERR_UNSUPPORTED. */
extern BfStatus bf_compress_append(BfCodecContext *ctx, BfCodec c, int level, const void *src,
								   size_t src_len, BfBuffer *out, BfError *err) BF_MUST_CHECK;

/* Places in the source where its bytes change their kind, ascending: numbers before, text behind.
 */
#define BF_SEAMS_MAX 8
typedef struct BfSeams
{
	uint32_t n;
	size_t at[BF_SEAMS_MAX];
} BfSeams;

/* As bf_compress_append; what is on both sides of a seam is modelled apart where the codec can
 * (ZSTD: a block ends there). It is decompressed as ever. */
extern BfStatus
bf_compress_seamed(BfCodecContext *ctx, BfCodec c, int level, const void *src, size_t src_len,
				   const BfSeams *seams, BfBuffer *out, BfError *err) BF_MUST_CHECK;

/* CRC-32C (Castagnoli) and CRC-32 (zlib), both of one run: init and xorout included. The SSE4.2
 * instruction is used where the CPU has it. _extend goes on from the CRC of what came before. */
extern uint32_t bf_crc32c(const void *p, size_t n);
extern uint32_t bf_crc32c_extend(uint32_t crc, const void *p, size_t n);
extern uint32_t bf_crc32(const void *p, size_t n);
extern uint32_t bf_crc32_extend(uint32_t crc, const void *p, size_t n);

#endif
