/*
 * exec/filter/map.h: a hash table from bytes to a number, inside of exec/.
 */
#ifndef BF_EXEC_FILTER_MAP_H
#define BF_EXEC_FILTER_MAP_H

#include "base/bytes.h"

typedef struct BfiMapSlot
{
	uint64_t hash;
	const uint8_t *key; /* uint32 length and bytes; NULL = the slot is free */
	int64_t value;
} BfiMapSlot;

typedef struct BfiMap
{
	BfArena *arena;
	uint64_t seed; /* of hashes */
	uint64_t n;
	uint64_t n_slots; /* a power of two */
	BfiMapSlot *slots;
	uint8_t *block; /* where the next key goes */
	size_t block_left;
} BfiMap;

extern BfStatus bfi_map_init(BfArena *a, uint64_t seed, BfiMap *m, BfError *err) BF_MUST_CHECK;
extern uint64_t bfi_map_hash(const BfiMap *m, const void *key, size_t n);
/* Brings the memory near that a key with that hash will be looked for in. */
static inline void
bfi_map_prefetch(const BfiMap *m, uint64_t hash)
{
	__builtin_prefetch(&m->slots[hash & (m->n_slots - 1)]);
}
/* Room for so many keys more, so that it does not grow meanwhile. */
extern BfStatus bfi_map_reserve(BfiMap *m, uint64_t more, BfError *err) BF_MUST_CHECK;
/* NULL = absent. */
extern const int64_t *bfi_map_find(const BfiMap *m, const void *key, size_t n, uint64_t hash);
/* The value of a key, to be read or changed before the next call; a new key has the value `fresh`.
 */
extern BfStatus bfi_map_put(BfiMap *m, const void *key, size_t n, uint64_t hash, int64_t fresh,
							int64_t **value, BfError *err) BF_MUST_CHECK;

#endif
