/*
 * The container, write side. Records are encoded into a buffer by the caller; a block is closed
 * when it has about 64 KiB. The whole file is built in memory: manifests are small.
 */
#include "avro/internal.h"

#define SYNC_BYTES 16
#define BLOCK_BYTES ((size_t) 1 << 16)
#define FILE_BYTES_MAX ((size_t) 1 << 30)

struct BfAvroWriter
{
	BfArena *a;
	BfCodec codec;
	BfCodecContext *ctx;
	BfBuffer *metadata; /* encoded pairs */
	int64_t n_metadata;
	BfBuffer *block;
	BfBuffer *stored; /* the block, compressed */
	BfBuffer *file;
	size_t record_start; /* in block */
	int64_t n_records;	 /* in block */
	bool started;		 /* the header is out */
	bool finished;
	uint8_t sync[SYNC_BYTES];
};

static BfStatus
put_bytes(BfBuffer *b, const void *p, size_t n, BfError *err)
{
	BF_TRY(bf_buffer_varint(b, (int64_t) n, err));
	return bf_buffer_append(b, p, n, err);
}

static BfStatus
put_metadata(BfAvroWriter *w, const char *key, const char *value, BfError *err)
{
	BF_TRY(put_bytes(w->metadata, key, strlen(key), err));
	BF_TRY(put_bytes(w->metadata, value, strlen(value), err));
	w->n_metadata++;
	return BF_OK;
}

BfStatus
bf_avro_writer_new(BfArena *a, const char *schema_json, BfAvroWriter **out, BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	BfAvroSchema *schema;
	BfAvroWriter *w;

	BF_TRY(bf_avro_schema_parse(a, schema_json, strlen(schema_json), &schema, err));
	BF_NEW(a, w, 1, err);
	w->a = a;
	w->codec = BF_CODEC_DEFLATE;
	BF_TRY(bf_codec_context_new(a, &w->ctx, err));
	BF_TRY(bf_buffer_new(a, BF_AVRO_HEADER_BYTES_MAX / 2, &w->metadata, err));
	BF_TRY(bf_buffer_new(a, BF_AVRO_BLOCK_BYTES_MAX, &w->block, err));
	BF_TRY(bf_buffer_new(a, BF_AVRO_BLOCK_BYTES_MAX, &w->stored, err));
	BF_TRY(bf_buffer_new(a, FILE_BYTES_MAX, &w->file, err));
	BF_TRY(host->random(host, w->sync, SYNC_BYTES, err));
	BF_TRY(put_metadata(w, "avro.schema", schema_json, err));
	*out = w;
	return BF_OK;
}

BfStatus
bf_avro_writer_codec(BfAvroWriter *w, BfCodec codec, BfError *err)
{
	BF_NEVER(err, w->started || w->n_records > 0);
	BF_NEVER(err, codec != BF_CODEC_NONE && codec != BF_CODEC_DEFLATE && codec != BF_CODEC_SNAPPY &&
					  codec != BF_CODEC_ZSTD);
	w->codec = codec;
	return BF_OK;
}

BfStatus
bf_avro_writer_metadata(BfAvroWriter *w, const char *key, const char *value, BfError *err)
{
	BF_NEVER(err, w->started || w->n_records > 0);
	return put_metadata(w, key, value, err);
}

BfBuffer *
bf_avro_writer_buffer(BfAvroWriter *w)
{
	return w->block;
}

static BfStatus
put_header(BfAvroWriter *w, BfError *err)
{
	static const uint8_t magic[4] = {'O', 'b', 'j', 1};
	const char *codec = "null";

	BF_ASSERT(!w->started && w->file->len == 0);
	if (w->codec == BF_CODEC_DEFLATE)
		codec = "deflate";
	else if (w->codec == BF_CODEC_SNAPPY)
		codec = "snappy";
	else if (w->codec == BF_CODEC_ZSTD)
		codec = "zstandard";
	BF_TRY(put_metadata(w, "avro.codec", codec, err));
	BF_TRY(bf_buffer_append(w->file, magic, sizeof magic, err));
	BF_TRY(bf_buffer_varint(w->file, w->n_metadata, err));
	BF_TRY(bf_buffer_append(w->file, w->metadata->data, w->metadata->len, err));
	BF_TRY(bf_buffer_varint(w->file, 0, err));
	BF_TRY(bf_buffer_append(w->file, w->sync, SYNC_BYTES, err));
	w->started = true;
	return BF_OK;
}

static BfStatus
put_block(BfAvroWriter *w, BfError *err)
{
	if (!w->started)
		BF_TRY(put_header(w, err));
	BF_ASSERT(w->n_records > 0 || w->block->len == 0);
	if (w->n_records == 0)
		return BF_OK;
	w->stored->len = 0;
	BF_TRY(bf_compress_append(w->ctx, w->codec, 0, w->block->data, w->block->len, w->stored, err));
	if (w->codec == BF_CODEC_SNAPPY)
		BF_TRY(bf_buffer_u32be(w->stored, bf_crc32(w->block->data, w->block->len), err));
	BF_TRY(bf_buffer_varint(w->file, w->n_records, err));
	BF_TRY(put_bytes(w->file, w->stored->data, w->stored->len, err));
	BF_TRY(bf_buffer_append(w->file, w->sync, SYNC_BYTES, err));
	w->block->len = 0;
	w->n_records = 0;
	return BF_OK;
}

BfStatus
bf_avro_writer_end_record(BfAvroWriter *w, BfError *err)
{
	BF_NEVER(err, w->finished);
	BF_ASSERT(w->block->len >= w->record_start);
	w->n_records++;
	if (w->block->len >= BLOCK_BYTES)
		BF_TRY(put_block(w, err));
	w->record_start = w->block->len;
	return BF_OK;
}

BfStatus
bf_avro_writer_finish(BfAvroWriter *w, BfView *out, BfError *err)
{
	BF_NEVER(err, w->finished);
	BF_ASSERT(w->block->len == w->record_start);
	BF_TRY(put_block(w, err));
	w->finished = true;
	BF_NEVER(err, w->file->len > UINT32_MAX);
	*out = (BfView){w->file->data, (uint32_t) w->file->len};
	return BF_OK;
}
