/*
 * exec/filter/map.c: see map.h.
 */
#include <xxhash.h>

#include "exec/filter/map.h"

#define SLOTS_MIN 16
#define BLOCK_BYTES_MIN 256
#define BLOCK_BYTES_MAX 65536

BfStatus
bfi_map_init(BfArena *a, uint64_t seed, BfiMap *m, BfError *err)
{
	memset(m, 0, sizeof *m);
	m->arena = a;
	m->seed = seed;
	m->n_slots = SLOTS_MIN;
	BF_NEW(a, m->slots, SLOTS_MIN, err);
	return BF_OK;
}

uint64_t
bfi_map_hash(const BfiMap *m, const void *key, size_t n)
{
	return XXH3_64bits_withSeed(key, n, m->seed);
}

/* The slot of the key, or the free one where it would go. */
static BfiMapSlot *
find_slot(const BfiMap *m, const void *key, size_t n, uint64_t hash)
{
	uint64_t mask = m->n_slots - 1;

	for (uint64_t i = hash & mask;; i = (i + 1) & mask)
	{
		BfiMapSlot *slot = &m->slots[i];

		if (slot->key == NULL || (slot->hash == hash && bf_load32le(slot->key) == n &&
								  (n == 0 || memcmp(slot->key + 4, key, n) == 0)))
			return slot;
	}
}

const int64_t *
bfi_map_find(const BfiMap *m, const void *key, size_t n, uint64_t hash)
{
	const BfiMapSlot *slot = find_slot(m, key, n, hash);

	return slot->key != NULL ? &slot->value : NULL;
}

/* The old slots stay in the arena: all of them together are no more than the new ones. */
static BfStatus
grow(BfiMap *m, uint64_t n, BfError *err)
{
	BfiMapSlot *slots;

	BF_NEW(m->arena, slots, n, err);
	for (uint64_t i = 0; i < m->n_slots; i++)
		if (m->slots[i].key != NULL)
		{
			uint64_t k = m->slots[i].hash & (n - 1);

			while (slots[k].key != NULL)
				k = (k + 1) & (n - 1);
			slots[k] = m->slots[i];
		}
	m->slots = slots;
	m->n_slots = n;
	return BF_OK;
}

BfStatus
bfi_map_reserve(BfiMap *m, uint64_t more, BfError *err)
{
	uint64_t n = m->n_slots;

	if (more > UINT64_MAX / 8 - m->n)
		BF_FAIL(err, BF_ERR_LIMIT, "too many keys");
	while (4 * (m->n + more) > 3 * n)
		n *= 2;
	return n > m->n_slots ? grow(m, n, err) : BF_OK;
}

/* Room for a key in the current block, or in a new one. */
static BfStatus
take_bytes(BfiMap *m, size_t n, uint8_t **out, BfError *err)
{
	if (n > m->block_left)
	{
		/* Blocks grow with the table: many tables have few keys. */
		size_t want = m->n < BLOCK_BYTES_MAX / 16 ? 16 * (size_t) m->n : BLOCK_BYTES_MAX;
		size_t size;

		want = want < BLOCK_BYTES_MIN ? BLOCK_BYTES_MIN : want;
		size = n > want / 4 ? n : want;
		BF_NEW_RAW(m->arena, *out, size, err);
		if (size == n)
			return BF_OK;
		m->block = *out;
		m->block_left = size;
	}
	*out = m->block;
	m->block += n;
	m->block_left -= n;
	return BF_OK;
}

BfStatus
bfi_map_put(BfiMap *m, const void *key, size_t n, uint64_t hash, int64_t fresh, int64_t **value,
			BfError *err)
{
	BfiMapSlot *slot = find_slot(m, key, n, hash);
	uint8_t *bytes;

	*value = &slot->value;
	if (slot->key != NULL)
		return BF_OK;
	if (n > UINT32_MAX)
		BF_FAIL(err, BF_ERR_LIMIT, "a key of %zu bytes", n);
	/* At most three quarters are taken. */
	if (4 * (m->n + 1) > 3 * m->n_slots)
	{
		BF_TRY(grow(m, 2 * m->n_slots, err));
		slot = find_slot(m, key, n, hash);
	}
	BF_TRY(take_bytes(m, n + 4, &bytes, err));
	bf_store32le(bytes, (uint32_t) n);
	if (n > 0)
		memcpy(bytes + 4, key, n);
	*slot = (BfiMapSlot){hash, bytes, fresh};
	*value = &slot->value;
	m->n++;
	return BF_OK;
}
