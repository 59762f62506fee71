/*
 * base/map.h: a hash table from bytes, or from 64-bit numbers, to 64-bit numbers.
 *
 * Linear probing over slots of 24 bytes, at most three quarters of them taken, doubled when full.
 * Keys are copied into the arena (bf_map_put) or stay with the caller (bf_map_put_borrowed); all
 * else is the arena's too, so the arena's limit is the table's, and freeing the arena is freeing
 * the table. Old slots stay there when it grows: all of them together are no more than the new
 * ones. A table has at most BF_MAP_KEYS_MAX keys; more is BF_ERR_LIMIT.
 *
 * Keys mostly come from outside. With a seed that nobody else knows (host->random) nobody can
 * choose keys that fall into one place; a fixed seed is for keys of our own and for tests.
 *
 * The hash is a parameter, so that a key that is looked for and then put, or looked for in two
 * tables of one seed, is hashed once, and so that hashing many keys can run ahead of looking for
 * them:
 *
 *     for (i = 0; i < n; i++)
 *     {
 *         hash[i] = bf_map_hash(&m, key[i], len[i]);
 *         bf_map_prefetch(&m, hash[i]);
 *     }
 *     for (i = 0; i < n; i++)
 *         found = bf_map_find(&m, key[i], len[i], hash[i]);
 *
 * There is no walk over a table, since its order would be the seed's. Whoever needs the keys again
 * numbers them in the order in which they came, and keeps them by that number:
 *
 *     BF_TRY(bf_map_put(&m, key, n, hash, m.n, &number, err));
 *     if (*number == n_groups)
 *         groups[n_groups++] = ...;
 */
#ifndef BF_BASE_MAP_H
#define BF_BASE_MAP_H

#include "base/bytes.h"

#define BF_MAP_KEYS_MAX (UINT32_C(3) << 28)

typedef struct BfMapSlot
{
	uint32_t tag; /* of the hash; 0 = the slot is free */
	uint32_t len; /* of the key; UINT32_MAX: it is a number */
	union
	{
		const uint8_t *bytes;
		int64_t number;
	} key;
	int64_t value;
} BfMapSlot;

typedef struct BfMap
{
	BfArena *arena; /* borrowed */
	uint64_t seed;
	uint32_t n;		  /* keys */
	uint32_t n_slots; /* a power of two */
	BfMapSlot *slots;
	uint8_t *block; /* where the next copied key goes */
	size_t block_left;
} BfMap;

/* An empty table; takes no memory yet. */
extern void bf_map_init(BfMap *m, BfArena *a, uint64_t seed);
/* Forgets all keys, keeps the slots. Copied keys stay in the arena until it is freed. */
extern void bf_map_clear(BfMap *m);
/* Room for so many keys more, so that it does not grow meanwhile. */
extern BfStatus bf_map_reserve(BfMap *m, uint64_t more, BfError *err) BF_MUST_CHECK;

/* The hash that all tables of this seed have for the key. */
extern uint64_t bf_hash(uint64_t seed, const void *key, size_t n);

static inline uint64_t
bf_map_hash(const BfMap *m, const void *key, size_t n)
{
	return bf_hash(m->seed, key, n);
}

/* Brings the memory near in which a key with that hash will be looked for. */
static inline void
bf_map_prefetch(const BfMap *m, uint64_t hash)
{
	__builtin_prefetch(&m->slots[hash & (m->n_slots - 1)]);
}

/* The value of a key, to be read or changed until the next put; NULL = absent. */
extern int64_t *bf_map_find(const BfMap *m, const void *key, size_t n, uint64_t hash);
/* The same; a key that is absent is put in, with the value `fresh`. n is less than UINT32_MAX. */
extern BfStatus bf_map_put(BfMap *m, const void *key, size_t n, uint64_t hash, int64_t fresh,
						   int64_t **value, BfError *err) BF_MUST_CHECK;
/* The same, for a key that lives as long as the table. */
extern BfStatus bf_map_put_borrowed(BfMap *m, const void *key, size_t n, uint64_t hash,
									int64_t fresh, int64_t **value, BfError *err) BF_MUST_CHECK;

/* The same for numbers. No number equals any bytes. */
extern int64_t *bf_map_find_number(const BfMap *m, int64_t key);
extern BfStatus bf_map_put_number(BfMap *m, int64_t key, int64_t fresh, int64_t **value,
								  BfError *err) BF_MUST_CHECK;

#endif
