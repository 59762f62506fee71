/*
 * Split block bloom filters (https://parquet.apache.org/docs/file-format/bloomfilter/).
 *
 *     header = { 1: i32 bytes, 2: algorithm {1: BLOCK}, 3: hash {1: XXHASH}, 4: {1: UNCOMPRESSED} }
 *     then bytes / 32 blocks of 8 words of 32 bits
 *
 * The upper half of a value's 64-bit hash chooses the block, the lower half a bit in each word.
 * What is hashed is the value as PLAIN has it, without a length.
 */
#include "parquet/bloom.h"
#include "parquet/internal.h"
#include "parquet/prune.h"

#include <xxhash.h>

#define BLOCK_BYTES BFI_BLOOM_BLOCK_BYTES
#define HEADER_BYTES_MAX 128

struct BfParquetBloom
{
	const BfParquetFile *file;
	const BfiLeaf *leaf;
	int64_t at; /* of the first block */
	uint32_t n_blocks;
};

/* How a physical value can be had of a logical one. */
typedef enum Physical
{
	PHYSICAL_NONE, /* no physical value means this */
	PHYSICAL_ONE,
	PHYSICAL_UNKNOWN
} Physical;

static Physical
number(int64_t v, uint32_t width, uint8_t *buf, BfView *out)
{
	uint64_t bits = (uint64_t) v;

	BF_ASSERT(width == 4 || width == 8);
	if (width == 4 && (v < INT32_MIN || v > INT32_MAX))
		return PHYSICAL_NONE;
	memcpy(buf, &bits, sizeof bits);
	*out = (BfView){buf, width};
	return PHYSICAL_ONE;
}

static Physical
wide_number(bf_i128 v, uint32_t width, uint8_t *buf, BfView *out)
{
	if (v < INT64_MIN || v > INT64_MAX)
		return PHYSICAL_NONE;
	return number((int64_t) v, width, buf, out);
}

/* Big-endian two's complement of the column's width. Writers differ in the length of decimals in
 * byte arrays. */
static Physical
decimal_bytes(const BfiLeaf *leaf, bf_i128 v, uint8_t *buf, BfView *out)
{
	uint32_t width = leaf->width;

	if (leaf->physical != BFI_FLBA || width > 16)
		return PHYSICAL_UNKNOWN;
	BF_ASSERT(width > 0);
	for (uint32_t i = width; i-- > 0; v >>= 8)
		buf[i] = (uint8_t) v;
	if (v != ((buf[0] & 0x80) != 0 ? -1 : 0))
		return PHYSICAL_NONE;
	*out = (BfView){buf, width};
	return PHYSICAL_ONE;
}

static Physical
plain_value(const BfiLeaf *leaf, const BfValue *v, uint8_t *buf, BfView *out)
{
	*out = (BfView){buf, bfi_physical_bytes(leaf->physical)};
	switch (leaf->storage)
	{
		case BF_STORE_I32: memcpy(buf, &v->v.i32, 4); break;
		case BF_STORE_I64: memcpy(buf, &v->v.i64, 8); break;
		case BF_STORE_F32: memcpy(buf, &v->v.f32, 4); break;
		case BF_STORE_F64: memcpy(buf, &v->v.f64, 8); break;
		case BF_STORE_VIEW:
			*out = v->v.view;
			if (leaf->type.kind == BF_KIND_DECIMAL)
				return PHYSICAL_UNKNOWN;
			return leaf->physical == BFI_BYTE_ARRAY || out->len == leaf->width ? PHYSICAL_ONE
																			   : PHYSICAL_NONE;
		default: return PHYSICAL_UNKNOWN;
	}
	return PHYSICAL_ONE;
}

static Physical
physical_value(const BfiLeaf *leaf, const BfValue *v, uint8_t *buf, BfView *out)
{
	switch (leaf->convert)
	{
		case BFI_CONVERT_NONE:
		case BFI_CONVERT_RANGE_I32: return plain_value(leaf, v, buf, out);
		case BFI_CONVERT_U32_I64:
			if (v->v.i64 < 0 || v->v.i64 > UINT32_MAX)
				return PHYSICAL_NONE;
			return number((int32_t) (uint32_t) v->v.i64, 4, buf, out);
		case BFI_CONVERT_I32_I64: return number(v->v.i64, 4, buf, out);
		case BFI_CONVERT_I32_I64_1000:
		case BFI_CONVERT_I64_1000:
			if (v->v.i64 % 1000 != 0)
				return PHYSICAL_NONE;
			return number(v->v.i64 / 1000, bfi_physical_bytes(leaf->physical), buf, out);
		case BFI_CONVERT_I32_I128: return wide_number(v->v.i128, 4, buf, out);
		case BFI_CONVERT_I64_I128: return wide_number(v->v.i128, 8, buf, out);
		case BFI_CONVERT_BYTES_I64: return decimal_bytes(leaf, v->v.i64, buf, out);
		case BFI_CONVERT_BYTES_I128: return decimal_bytes(leaf, v->v.i128, buf, out);
		case BFI_CONVERT_F16_F32: break;
	}
	return PHYSICAL_UNKNOWN;
}

BfStatus
bf_parquet_bloom(BfParquetFile *f, BfArena *a, int32_t rg, int32_t field, BfParquetBloom **out,
				 BfError *err)
{
	int32_t leaf = f->tree.shapes[field].leaf;
	BfiColumnChunk chunk;
	BfiBloomHeader h;
	BfParquetBloom *b;
	BfCursor c;
	const uint8_t *p;
	int64_t at;
	size_t len = HEADER_BYTES_MAX;
	BfError ignored;

	BF_ASSERT(rg >= 0 && rg < f->n_row_groups && field >= 0 && field < f->tree.schema.n_fields);
	*out = NULL;
	bf_error_clear(&ignored);
	if (leaf < 0 || f->tree.leaves[leaf].problem != NULL ||
		bfi_chunk_meta(f, rg, leaf, &chunk, &ignored) != BF_OK)
		return BF_OK;
	at = chunk.meta.bloom_offset;
	if (at < 4 || at >= f->footer.pos)
		return BF_OK;
	if ((int64_t) len > f->footer.pos - at)
		len = (size_t) (f->footer.pos - at);
	BF_TRY(bf_source_window(f->source, at, len, &p, err));
	c = bf_cursor(p, len, at);
	if (bfi_thrift_struct(&c, &bfi_bloom_header_table, &h, sizeof h, &ignored) != BF_OK)
		return BF_OK;
	len = (size_t) (c.pos - c.start);
	at += (int64_t) len;
	/* Two lengths that don't agree: whoever wrote the filter chose blocks by another one. */
	if ((chunk.meta.seen & BFI_CM_BLOOM_BYTES) != 0 &&
		chunk.meta.bloom_bytes != (int64_t) len + h.bytes)
		return BF_OK;
	/* Another algorithm, hash or compression than the first of each is one that we don't know. */
	if (h.algorithm.seen != 1 || h.hash.seen != 1 || h.compression.seen != 1 || h.bytes <= 0 ||
		h.bytes % BLOCK_BYTES != 0 || h.bytes > f->footer.pos - at)
		return BF_OK;
	BF_NEW(a, b, 1, err);
	b->file = f;
	b->leaf = &f->tree.leaves[leaf];
	b->at = at;
	b->n_blocks = (uint32_t) h.bytes / BLOCK_BYTES;
	*out = b;
	return BF_OK;
}

static bool
block_has(const uint8_t *block, uint32_t key)
{
	for (uint32_t i = 0; i < BFI_BLOOM_WORDS; i++)
		if ((bf_load32le(block + 4 * (size_t) i) >> bfi_bloom_bit(key, i) & 1) == 0)
			return false;
	return true;
}

BfStatus
bf_parquet_bloom_may_have(const BfParquetBloom *b, const BfValue *value, bool *may, BfError *err)
{
	uint8_t buf[16] = {0};
	BfView bytes;
	uint64_t hash;
	uint32_t block;
	const uint8_t *p;

	BF_ASSERT(!value->is_null && bf_type_storage(value->type) == b->leaf->storage);
	*may = true;
	switch (physical_value(b->leaf, value, buf, &bytes))
	{
		case PHYSICAL_NONE: *may = false; return BF_OK;
		case PHYSICAL_UNKNOWN: return BF_OK;
		case PHYSICAL_ONE: break;
	}
	hash = XXH64(bytes.len > 0 ? bytes.ptr : buf, bytes.len, 0);
	block = bfi_bloom_block(hash, b->n_blocks);
	BF_ASSERT(block < b->n_blocks);
	BF_TRY(bf_source_window(b->file->source, b->at + (int64_t) block * BLOCK_BYTES, BLOCK_BYTES, &p,
							err));
	*may = block_has(p, (uint32_t) hash);
	return BF_OK;
}
