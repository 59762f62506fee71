/*
 * exec/delete/vector.c: deletion vectors in Puffin files.
 */
#include "codec/codec.h"
#include "exec/delete/internal.h"
#include "exec/read/counted.h"

/* D1 D3 39 64 in the file. */
#define VECTOR_MAGIC 0x6439D3D1u
#define FRAME_BYTES 8 /* length before, checksum behind; the magic is counted in the length */
#define MAGIC_BYTES 4

/* What stands in the frame, checked. */
static BfStatus
open_frame(const uint8_t *blob, size_t n, int64_t at, BfCursor *out, BfError *err)
{
	size_t length = bf_load32be(blob);
	uint32_t crc;
	uint32_t stored;

	BF_ASSERT(n >= FRAME_BYTES + MAGIC_BYTES);

	BF_DATA(err, length == n - FRAME_BYTES, at,
			"deletion vector of %zu bytes has length %zu in front, not %zu", n, length,
			n - FRAME_BYTES);
	crc = bf_crc32(blob + 4, length);
	stored = bf_load32be(blob + 4 + length);
	BF_DATA(err, crc == stored, at + 4 + (int64_t) length,
			"deletion vector has CRC-32 %08x, its bytes give %08x", stored, crc);
	*out = bf_cursor(blob + 4 + MAGIC_BYTES, length - MAGIC_BYTES, at + 4 + MAGIC_BYTES);
	return BF_OK;
}

BfStatus
bfi_vector_decode(BfArena *a, const uint8_t *blob, size_t n, int64_t at, BfRows *out, BfError *err)
{
	/* Without a frame there is a number of bitmaps here, whose upper half is 0. */
	bool framed = n >= FRAME_BYTES + MAGIC_BYTES && bf_load32le(blob + 4) == VECTOR_MAGIC;
	BfCursor c = bf_cursor(blob, n, at);

	if (framed)
		BF_TRY(open_frame(blob, n, at, &c, err));
	else
		BF_DATA(err, n >= 8 && bf_load32le(blob + 4) == 0, at,
				"no deletion vector stands here: its magic number is missing");
	BF_TRY(bf_rows_read(out, a, &c, 64, err));
	BF_DATA(err, bf_cursor_left(&c) == 0, bf_cursor_offset(&c),
			"deletion vector has %zu bytes behind its end", bf_cursor_left(&c));
	BF_DATA(err, out->n == 0 || out->containers[out->n - 1].key >> 47 == 0, at,
			"deletion vector has row numbers above 2^63");
	return BF_OK;
}

static BfStatus
read_blob(BfArena *a, BfDeleteCache *c, const BfDeleteSource *s, BfArena *scratch,
		  const uint8_t **out, BfError *err)
{
	BfSource *source;
	uint8_t *bytes;

	BF_TRY(bf_source_open(scratch, s->path, c->options.io, &source, err));
	BF_DATA(err,
			s->offset >= 0 && s->length >= 0 && s->length <= bf_source_size(source) - s->offset,
			s->offset, "deletion vector at %lld of %lld bytes in a file of %lld",
			(long long) s->offset, (long long) s->length, (long long) bf_source_size(source));
	BF_NEW_RAW(a, bytes, s->length, err);
	BF_TRY(bf_source_read(source, s->offset, bytes, (size_t) s->length, err));
	*out = bytes;
	return BF_OK;
}

static BfStatus
read_vector(BfArena *a, BfDeleteCache *c, const BfDeleteSource *s, BfRows *out, BfError *err)
{
	BfArena *scratch = bf_arena_new(bf_arena_host(a), "deletion vector", c->options.bytes_max);
	const uint8_t *blob = NULL;
	BfStatus status;
	uint64_t n;

	BF_ASSERT(s->kind == BF_DELETE_VECTOR);
	if (scratch == NULL)
		return bf_arena_fail(a, 0, err);
	status = read_blob(a, c, s, scratch, &blob, err);
	bf_arena_free(scratch);
	BF_TRY(status);
	BF_TRY(bfi_vector_decode(a, blob, (size_t) s->length, s->offset, out, err));
	n = bf_rows_cardinality(out);
	BF_TRY(bf_counted_check("deletion vector", s->path, (int64_t) n,
							(BfRowClaim){.n = c->options.unverified ? -1 : s->record_count}, err));
	c->counters.files_read++;
	c->counters.positions += (int64_t) n;
	return BF_OK;
}

BfStatus
bfi_vector_read(BfArena *a, BfDeleteCache *c, const BfDeleteSource *s, BfRows *out, BfError *err)
{
	if (read_vector(a, c, s, out, err) != BF_OK)
		return bf_error_object(err, s->path);
	return BF_OK;
}
