/*
 * Bloom filters of a chunk. How many different values it will have is not known when the first one
 * comes, so a filter begins with room for as many as a row group can have rows; at the end it is
 * halved as long as it says "perhaps" no more often than asked. Halving puts the blocks 2i and
 * 2i + 1 into one, in which every value is where it would have been in a filter of that size.
 */
#include "parquet/write/internal.h"

#include <xxhash.h>

#include "parquet/bloom.h"

#define BLOCKS_MAX (UINT32_C(1) << 22)

struct BfiBloomOut
{
	uint32_t n_blocks; /* a power of two */
	uint32_t *words;
};

BfStatus
bfi_bloom_new(BfParquetWriter *w, BfiBloomOut **out, BfError *err)
{
	BfiBloomOut *b;

	BF_NEW(w->arena, b, 1, err);
	/* 16 bits a value: one in a thousand. */
	b->n_blocks = 1;
	while (b->n_blocks < BLOCKS_MAX && (int64_t) b->n_blocks * 16 < w->options.row_group_rows)
		b->n_blocks *= 2;
	BF_ASSERT((b->n_blocks & (b->n_blocks - 1)) == 0);
	BF_NEW(w->arena, b->words, (size_t) b->n_blocks * BFI_BLOOM_WORDS, err);
	*out = b;
	return BF_OK;
}

size_t
bfi_bloom_room(const BfiBloomOut *b)
{
	return (size_t) b->n_blocks * BFI_BLOOM_BLOCK_BYTES;
}

void
bfi_bloom_clear(BfiBloomOut *b)
{
	memset(b->words, 0, bfi_bloom_room(b));
}

static void
add(BfiBloomOut *b, const void *bytes, size_t n)
{
	uint64_t hash = XXH64(n > 0 ? bytes : (const void *) "", n, 0);
	uint32_t *block = b->words + (size_t) bfi_bloom_block(hash, b->n_blocks) * BFI_BLOOM_WORDS;

	for (uint32_t i = 0; i < BFI_BLOOM_WORDS; i++)
		block[i] |= UINT32_C(1) << bfi_bloom_bit((uint32_t) hash, i);
}

void
bfi_bloom_add(BfiBloomOut *b, BfiPhysical physical, uint32_t width, const void *values, int32_t n)
{
	const BfView *views = values;

	if (physical == BFI_BYTE_ARRAY || physical == BFI_FLBA || physical == BFI_INT96)
		for (int32_t i = 0; i < n; i++)
			add(b, views[i].ptr, views[i].len);
	else
		for (int32_t i = 0; i < n; i++)
			add(b, (const uint8_t *) values + (size_t) i * width, width);
}

/* Word i of a block of a filter that was halved so many times: of 2^times blocks of ours. */
static uint32_t
halved_word(const BfiBloomOut *b, uint32_t block, uint32_t i, uint32_t times)
{
	uint32_t word = 0;

	for (uint32_t k = block << times; k < (block + 1) << times; k++)
		word |= b->words[(size_t) k * BFI_BLOOM_WORDS + i];
	return word;
}

/* How often a value that is not there is told to be, perhaps. */
static double
false_rate(const BfiBloomOut *b, uint32_t times)
{
	uint32_t n = b->n_blocks >> times;
	double sum = 0;

	BF_ASSERT(n > 0);
	for (uint32_t block = 0; block < n; block++)
	{
		double all = 1;

		for (uint32_t i = 0; i < BFI_BLOOM_WORDS; i++)
			all *= (double) __builtin_popcount(halved_word(b, block, i, times)) / 32;
		sum += all;
	}
	return sum / n;
}

BfStatus
bfi_bloom_bytes(const BfParquetWriter *w, const BfiBloomOut *b, BfBuffer *out, BfError *err)
{
	uint32_t times = 0;
	uint32_t n;
	BfiThriftOut t;

	while (b->n_blocks >> times > 1 && false_rate(b, times + 1) <= w->options.bloom_false)
		times++;
	n = b->n_blocks >> times;
	bfi_thrift_begin(&t, out, err);
	bfi_put_i32(&t, 1, (int32_t) (n * BFI_BLOOM_BLOCK_BYTES));
	for (int16_t id = 2; id <= 4; id++)
	{
		bfi_put_struct(&t, id);
		bfi_put_empty(&t, 1);
		bfi_put_struct_end(&t);
	}
	BF_TRY(bfi_thrift_end(&t));
	for (uint32_t block = 0; block < n; block++)
		for (uint32_t i = 0; i < BFI_BLOOM_WORDS; i++)
		{
			uint32_t word = halved_word(b, block, i, times);

			BF_TRY(bf_buffer_append(out, &word, sizeof word, err));
		}
	return BF_OK;
}
