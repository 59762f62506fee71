/*
 * parquet/bloom.h: a block of a split block Bloom filter, 8 words of 32 bits, as reader and writer
 * see it. https://parquet.apache.org/docs/file-format/bloomfilter/
 */
#ifndef BF_PARQUET_BLOOM_H
#define BF_PARQUET_BLOOM_H

#include <stdint.h>

#define BFI_BLOOM_WORDS 8
#define BFI_BLOOM_BLOCK_BYTES 32

/* Which bit a key, the lower half of a value's hash, has in a word of its block. */
static inline uint32_t
bfi_bloom_bit(uint32_t key, uint32_t word)
{
	static const uint32_t salt[BFI_BLOOM_WORDS] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
												   0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

	return (key * salt[word]) >> 27;
}

/* Which of so many blocks a value with that hash is in. */
static inline uint32_t
bfi_bloom_block(uint64_t hash, uint32_t n_blocks)
{
	return (uint32_t) (((hash >> 32) * n_blocks) >> 32);
}

#endif
