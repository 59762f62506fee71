/*
 * The container, read side. The header's length is unknown, so it is parsed in a window that
 * doubles until it fits. Blocks are read one at a time; their records are handed out one by one.
 */
#include "avro/internal.h"

#include <stdio.h>

#define HEADER_WINDOW_FIRST ((size_t) 1 << 16)
#define SYNC_BYTES 16
/* Two longs of at most ten bytes. */
#define BLOCK_HEADER_BYTES_MAX 20

typedef struct Metadata
{
	BfView key;
	BfView value;
	int64_t value_offset;
} Metadata;

struct BfAvroReader
{
	BfSource *source; /* borrowed */
	BfArena *a;
	const BfAvroSchema *schema;
	int32_t n_nodes;
	BfCodec codec;
	BfCodecContext *ctx; /* NULL for codec null */
	BfBuffer *plain;	 /* decompressed block; NULL for codec null */
	int32_t n_metadata;
	Metadata *metadata;
	uint8_t sync[SYNC_BYTES];
	int64_t position;		/* of the next block */
	int64_t block_position; /* of the current one */
	int64_t n_left;			/* records of the current block */
	BfAvroDecode decode;
	bool failed;
};

static const struct
{
	const char *name;
	BfCodec codec;
} codecs[] = {
	{"null", BF_CODEC_NONE},
	{"deflate", BF_CODEC_DEFLATE},
	{"snappy", BF_CODEC_SNAPPY},
	{"zstandard", BF_CODEC_ZSTD},
};

/* Counts the pairs of the metadata map and, when `out` is given, keeps them. */
static BfStatus
walk_metadata(BfCursor *c, Metadata *out, int32_t *n_pairs, BfError *err)
{
	*n_pairs = 0;
	for (;;)
	{
		int64_t offset = bf_cursor_offset(c);
		int64_t n;

		BF_TRY(bf_cursor_varint(c, &n, err));
		if (n == 0)
			return BF_OK;
		if (n < 0)
		{
			int64_t ignored;

			BF_DATA(err, n > -INT32_MAX, offset, "Avro metadata count is out of range");
			n = -n;
			BF_TRY(bf_cursor_varint(c, &ignored, err));
		}
		BF_DATA(err, n <= INT32_MAX - *n_pairs, offset, "Avro metadata count is out of range");
		for (int64_t i = 0; i < n; i++)
		{
			BfView pair[2];
			int64_t at = 0;

			for (int k = 0; k < 2; k++)
			{
				int64_t len;

				offset = bf_cursor_offset(c);
				BF_TRY(bf_cursor_varint(c, &len, err));
				BF_DATA(err, len >= 0 && len < INT32_MAX, offset, "Avro metadata length is %lld",
						(long long) len);
				at = bf_cursor_offset(c);
				BF_TRY(bf_cursor_take(c, (size_t) len, &pair[k].ptr, err));
				pair[k].len = (uint32_t) len;
			}
			if (out != NULL)
				out[*n_pairs] = (Metadata){pair[0], pair[1], at};
			(*n_pairs)++;
		}
	}
}

static BfStatus
check_magic(const uint8_t *p, size_t n, BfError *err)
{
	if (n >= 4 && memcmp(p, "AGS1", 4) == 0)
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, 0, "Avro file is encrypted (AGS1)");
	BF_DATA(err, n >= 4 && memcmp(p, "Obj\x01", 4) == 0, 0,
			"not an Avro object container file: it does not begin with \"Obj\" and 1");
	return BF_OK;
}

/* Parses the header in `bytes`; a failure at its end may mean that more is needed. */
static BfStatus
parse_header(BfAvroReader *r, const uint8_t *bytes, size_t n, BfError *err)
{
	BfCursor c = bf_cursor(bytes, n, 0);
	const uint8_t *copy;
	const uint8_t *sync;
	int32_t n_pairs;

	BF_TRY(bf_cursor_skip(&c, 4, err));
	BF_TRY(walk_metadata(&c, NULL, &n_pairs, err));
	BF_TRY(bf_cursor_take(&c, SYNC_BYTES, &sync, err));
	memcpy(r->sync, sync, SYNC_BYTES);
	r->position = bf_cursor_offset(&c);

	n = (size_t) (c.pos - c.start);
	BF_TRY_PTR(r->a, copy, bf_arena_memdup(r->a, bytes, n), err);
	BF_NEW(r->a, r->metadata, n_pairs, err);
	c = bf_cursor(copy, n, 0);
	BF_TRY(bf_cursor_skip(&c, 4, err));
	BF_TRY(walk_metadata(&c, r->metadata, &r->n_metadata, err));
	BF_ASSERT(r->n_metadata == n_pairs && bf_cursor_left(&c) == SYNC_BYTES);
	return BF_OK;
}

static BfStatus
read_header(BfAvroReader *r, BfError *err)
{
	int64_t size = bf_source_size(r->source);
	size_t limit =
		size > (int64_t) BF_AVRO_HEADER_BYTES_MAX ? BF_AVRO_HEADER_BYTES_MAX : (size_t) size;
	size_t window = HEADER_WINDOW_FIRST < limit ? HEADER_WINDOW_FIRST : limit;

	for (;;)
	{
		const uint8_t *p;
		BfStatus status;

		BF_ASSERT(window <= limit);
		BF_TRY(bf_source_window(r->source, 0, window, &p, err));
		BF_TRY(check_magic(p, window, err));
		status = parse_header(r, p, window, err);
		if (status != BF_ERR_CORRUPT || window == limit)
			return status;
		window = window > limit / 2 ? limit : window * 2;
	}
}

static BfStatus
choose_codec(BfAvroReader *r, BfError *err)
{
	BfView name;

	if (!bf_avro_metadata(r, "avro.codec", &name) || name.len == 0)
		return BF_OK;
	for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++)
		if (strlen(codecs[i].name) == name.len && memcmp(codecs[i].name, name.ptr, name.len) == 0)
		{
			r->codec = codecs[i].codec;
			if (r->codec == BF_CODEC_NONE)
				return BF_OK;
			BF_TRY(bf_codec_context_new(r->a, &r->ctx, err));
			return bf_buffer_new(r->a, BF_AVRO_BLOCK_BYTES_MAX, &r->plain, err);
		}
	BF_FAIL(err, BF_ERR_UNSUPPORTED, "Avro codec \"%.*s\" is not supported",
			name.len > 64 ? 64 : (int) name.len, (const char *) name.ptr);
}

static BfStatus
parse_schema(BfAvroReader *r, BfError *err)
{
	BfAvroSchema *schema;
	const Metadata *m = NULL;
	BfStatus status;

	for (int32_t i = 0; i < r->n_metadata; i++)
		if (r->metadata[i].key.len == 11 && memcmp(r->metadata[i].key.ptr, "avro.schema", 11) == 0)
			m = &r->metadata[i];
	BF_DATA(err, m != NULL, 4, "Avro file has no avro.schema");
	status = bfi_avro_schema_parse(r->a, (const char *) m->value.ptr, m->value.len, &schema,
								   &r->n_nodes, err);
	if (status != BF_OK)
	{
		err->offset = m->value_offset + (err->offset < 0 ? 0 : err->offset);
		return status;
	}
	r->schema = schema;
	return BF_OK;
}

static BfStatus
open_reader(BfAvroReader *r, BfError *err)
{
	BF_TRY(read_header(r, err));
	BF_TRY(choose_codec(r, err));
	return parse_schema(r, err);
}

BfStatus
bf_avro_open(BfArena *a, BfSource *source, BfAvroReader **out, BfError *err)
{
	BfAvroReader *r;

	BF_NEW(a, r, 1, err);
	r->source = source;
	r->a = a;
	r->decode.host = bf_arena_host(a);
	if (open_reader(r, err) != BF_OK)
		return bf_error_object(err, bf_source_name(source));
	*out = r;
	return BF_OK;
}

const BfAvroSchema *
bf_avro_reader_schema(const BfAvroReader *r)
{
	return r->schema;
}

void
bf_avro_mark_opaque(BfAvroReader *r, int32_t field_id)
{
	BF_ASSERT(field_id > 0 && r->n_left == 0);
	for (int32_t i = 0; i < r->schema->n_children; i++)
	{
		BfAvroSchema *s = r->schema->children[i];

		if (r->schema->type != BF_AVRO_RECORD || r->schema->field_ids[i] != field_id)
			continue;
		s->opaque = s->type == BF_AVRO_LONG;
		for (int32_t k = 0; s->type == BF_AVRO_UNION && k < s->n_children; k++)
			s->children[k]->opaque = s->children[k]->type == BF_AVRO_LONG;
	}
}

bool
bf_avro_metadata(const BfAvroReader *r, const char *key, BfView *out)
{
	size_t n = strlen(key);

	for (int32_t i = r->n_metadata - 1; i >= 0; i--)
		if (r->metadata[i].key.len == n && memcmp(r->metadata[i].key.ptr, key, n) == 0)
		{
			*out = r->metadata[i].value;
			return true;
		}
	return false;
}

/* The plain bytes of a block whose stored bytes are p[0..n). */
static BfStatus
decompress_block(BfAvroReader *r, const uint8_t *p, size_t n, BfView *out, BfError *err)
{
	uint32_t crc = 0;
	size_t stored = n;

	if (r->codec == BF_CODEC_NONE)
	{
		*out = (BfView){p, (uint32_t) n};
		return BF_OK;
	}
	BF_ASSERT(r->ctx != NULL && n <= BF_AVRO_BLOCK_BYTES_MAX);
	r->plain->len = 0;
	if (r->codec == BF_CODEC_SNAPPY)
	{
		if (n < 4)
			BF_FAIL(err, BF_ERR_CORRUPT, "Avro snappy block of %zu bytes", n);
		stored = n - 4;
		crc = bf_load32be(p + stored);
	}
	BF_TRY(bf_decompress_append(r->ctx, r->codec, p, stored, r->plain, err));
	if (r->codec == BF_CODEC_SNAPPY && bf_crc32(r->plain->data, r->plain->len) != crc)
		BF_FAIL(err, BF_ERR_CORRUPT, "Avro snappy block has a wrong CRC-32");
	*out = (BfView){r->plain->data, (uint32_t) r->plain->len};
	return BF_OK;
}

/* Does the block hold enough bytes for its records? */
static BfStatus
check_record_count(const BfAvroReader *r, size_t plain_bytes, BfError *err)
{
	int32_t least = r->schema->min_bytes;
	int64_t most = least > 0 ? (int64_t) plain_bytes / least : BF_AVRO_EMPTY_VALUES_MAX;

	BF_DATA(err, r->n_left <= most, r->block_position,
			"Avro block claims %lld records in %zu bytes", (long long) r->n_left, plain_bytes);
	return BF_OK;
}

static BfStatus
read_block(BfAvroReader *r, BfError *err)
{
	int64_t left = bf_source_size(r->source) - r->position;
	size_t head = left < BLOCK_HEADER_BYTES_MAX ? (size_t) left : BLOCK_HEADER_BYTES_MAX;
	const uint8_t *p;
	int64_t n_bytes;
	int64_t start;
	BfView plain = {NULL, 0};
	BfCursor c;

	BF_ASSERT(r->n_left == 0 && left > 0);
	r->block_position = r->position;
	BF_TRY(bf_source_window(r->source, r->position, head, &p, err));
	c = bf_cursor(p, head, r->position);
	BF_TRY(bf_cursor_varint(&c, &r->n_left, err));
	BF_TRY(bf_cursor_varint(&c, &n_bytes, err));
	start = bf_cursor_offset(&c);
	left -= start - r->position;
	BF_DATA(err, r->n_left >= 0 && n_bytes >= 0, r->position,
			"Avro block claims %lld records in %lld bytes", (long long) r->n_left,
			(long long) n_bytes);
	BF_DATA(err, left >= SYNC_BYTES && n_bytes <= left - SYNC_BYTES, r->position,
			"Avro block claims %lld bytes, but the file ends %lld bytes later", (long long) n_bytes,
			(long long) left);
	if (n_bytes > (int64_t) BF_AVRO_BLOCK_BYTES_MAX)
		BF_FAIL_AT(err, BF_ERR_LIMIT, r->position, "Avro block of %lld bytes, at most %zu are read",
				   (long long) n_bytes, BF_AVRO_BLOCK_BYTES_MAX);
	BF_TRY(bf_source_window(r->source, start, (size_t) n_bytes + SYNC_BYTES, &p, err));
	BF_DATA(err, memcmp(p + n_bytes, r->sync, SYNC_BYTES) == 0, start + n_bytes,
			"Avro block does not end with the file's sync marker");
	if (decompress_block(r, p, (size_t) n_bytes, &plain, err) != BF_OK)
	{
		err->offset = start;
		return err->code;
	}
	BF_TRY(check_record_count(r, plain.len, err));
	r->decode.cursor = bf_cursor(plain.ptr, plain.len, r->codec == BF_CODEC_NONE ? start : 0);
	r->decode.credit = BF_AVRO_EMPTY_VALUES_MAX;
	r->decode.n_nodes = r->n_nodes;
	BF_ASSERT(start + n_bytes + SYNC_BYTES <= bf_source_size(r->source));
	r->position = start + n_bytes + SYNC_BYTES;
	return BF_OK;
}

/* Positions inside a compressed block mean nothing in the file: the block's is told, and the
 * other goes into the text. */
static BfStatus
block_error(const BfAvroReader *r, BfError *err)
{
	if (r->codec != BF_CODEC_NONE && err->offset >= 0)
	{
		size_t used = strlen(err->text);

		snprintf(err->text + used, sizeof err->text - used,
				 " (byte %lld of the decompressed block)", (long long) err->offset);
		err->offset = r->block_position;
	}
	return err->code;
}

static BfStatus
next_value(BfAvroReader *r, BfArena *row, const BfAvroValue **out, BfError *err)
{
	BfAvroValue *v;

	while (r->n_left == 0)
	{
		if (r->position == bf_source_size(r->source))
		{
			*out = NULL;
			return BF_OK;
		}
		BF_TRY(bf_check_cancel(r->decode.host, err));
		BF_TRY(read_block(r, err));
		if (r->n_left == 0 && bf_cursor_left(&r->decode.cursor) != 0)
			BF_FAIL_AT(err, BF_ERR_CORRUPT, r->block_position,
					   "Avro block of no records has %zu bytes", bf_cursor_left(&r->decode.cursor));
	}
	BF_NEW(row, v, 1, err);
	r->decode.row = row;
	r->decode.credit += r->n_nodes;
	if (bfi_avro_read_value(&r->decode, r->schema, 0, v, err) != BF_OK)
		return block_error(r, err);
	if (--r->n_left == 0 && bf_cursor_left(&r->decode.cursor) != 0)
		BF_FAIL_AT(err, BF_ERR_CORRUPT, r->block_position,
				   "Avro block has %zu bytes after its last record",
				   bf_cursor_left(&r->decode.cursor));
	*out = v;
	return BF_OK;
}

BfStatus
bf_avro_next(BfAvroReader *r, BfArena *row, const BfAvroValue **out, BfError *err)
{
	if (r->failed)
		BF_FAIL(err, BF_ERR_CORRUPT, "Avro reader has failed before");
	if (next_value(r, row, out, err) == BF_OK)
		return BF_OK;
	r->failed = true;
	return bf_error_object(err, bf_source_name(r->source));
}
