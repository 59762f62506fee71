/*
 * Linear probing: a key is looked for from the slot that its hash says on, until a free one. So
 * keys are never taken out one by one.
 */
#include "base/map.h"

#include <xxhash.h>

#define SLOTS_MIN 16
#define SLOTS_MAX (UINT32_C(1) << 30)
#define LEN_NUMBER UINT32_MAX
#define TAG_TAKEN (UINT32_C(1) << 31)
#define BLOCK_BYTES_MIN 256
#define BLOCK_BYTES_MAX 65536

_Static_assert(sizeof(BfMapSlot) == 24, "five slots in two cache lines");
_Static_assert(BF_MAP_KEYS_MAX == SLOTS_MAX / 4 * 3, "three quarters are taken at most");

/* The only slot of a table that has none: always free, never written. */
static const BfMapSlot no_slots[1];

void
bf_map_init(BfMap *m, BfArena *a, uint64_t seed)
{
	*m = (BfMap){
		.arena = a, .seed = seed, .n_slots = 1, .slots = (BfMapSlot *) (uintptr_t) no_slots};
}

void
bf_map_clear(BfMap *m)
{
	if (m->n > 0)
		memset(m->slots, 0, m->n_slots * sizeof *m->slots);
	m->n = 0;
	m->block_left = 0;
}

uint64_t
bf_hash(uint64_t seed, const void *key, size_t n)
{
	return XXH3_64bits_withSeed(key, n, seed);
}

/* Two rounds of a multiplication that all bits go through: with one, numbers that differ in their
 * upper halves alone would meet. */
static uint64_t
hash_number(uint64_t seed, int64_t key)
{
	uint64_t h = ((uint64_t) key ^ seed) * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

/* The low bits of a hash choose the slot and are all that is kept of it. */
static uint32_t
tag_of(uint64_t hash)
{
	return (uint32_t) hash | TAG_TAKEN;
}

/* The slot of the key, or the free one where it would go: a quarter is always free. A key's parts
 * are passed one by one: put together in memory they would be read back wider than they were
 * written, which stalls. */
static inline BfMapSlot *
find_bytes(const BfMap *m, uint32_t tag, const void *key, uint32_t len)
{
	uint32_t mask = m->n_slots - 1;

	BF_ASSERT(m->n < m->n_slots && (m->n_slots & mask) == 0 && len != LEN_NUMBER);
	for (uint32_t i = tag & mask;; i = (i + 1) & mask)
	{
		BfMapSlot *slot = &m->slots[i];

		if (slot->tag == 0 || (slot->tag == tag && slot->len == len &&
							   (len == 0 || memcmp(slot->key.bytes, key, len) == 0)))
			return slot;
	}
}

static inline BfMapSlot *
find_number(const BfMap *m, uint32_t tag, int64_t key)
{
	uint32_t mask = m->n_slots - 1;

	BF_ASSERT(m->n < m->n_slots && (m->n_slots & mask) == 0);
	for (uint32_t i = tag & mask;; i = (i + 1) & mask)
	{
		BfMapSlot *slot = &m->slots[i];

		if (slot->tag == 0 ||
			(slot->tag == tag && slot->len == LEN_NUMBER && slot->key.number == key))
			return slot;
	}
}

static BfStatus
grow(BfMap *m, uint32_t n_slots, BfError *err)
{
	BfMapSlot *slots;

	BF_ASSERT(n_slots > m->n_slots && n_slots <= SLOTS_MAX);
	BF_TRY(bf_check_cancel(bf_arena_host(m->arena), err));
	BF_NEW(m->arena, slots, n_slots, err);
	for (uint32_t i = 0; i < m->n_slots; i++)
		if (m->slots[i].tag != 0)
		{
			uint32_t k = m->slots[i].tag & (n_slots - 1);

			while (slots[k].tag != 0)
				k = (k + 1) & (n_slots - 1);
			slots[k] = m->slots[i];
		}
	m->slots = slots;
	m->n_slots = n_slots;
	return BF_OK;
}

BfStatus
bf_map_reserve(BfMap *m, uint64_t more, BfError *err)
{
	uint64_t n_slots = m->n_slots < SLOTS_MIN ? SLOTS_MIN : m->n_slots;

	if (more > BF_MAP_KEYS_MAX - m->n)
		BF_FAIL(err, BF_ERR_LIMIT, "more than %u keys in one table", BF_MAP_KEYS_MAX);
	while (4 * (m->n + more) > 3 * n_slots)
		n_slots *= 2;
	BF_ASSERT(n_slots <= SLOTS_MAX);
	return more > 0 && n_slots > m->n_slots ? grow(m, (uint32_t) n_slots, err) : BF_OK;
}

/* Room for a key in the current block, or in a new one. */
static BfStatus
take_bytes(BfMap *m, size_t n, uint8_t **out, BfError *err)
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

/* Room for one key more; *moved = true: the slots are others now. */
static BfStatus
make_room(BfMap *m, bool *moved, BfError *err)
{
	BF_ASSERT(4 * (uint64_t) m->n <= 3 * (uint64_t) m->n_slots);
	*moved = 4 * ((uint64_t) m->n + 1) > 3 * (uint64_t) m->n_slots;
	return *moved ? bf_map_reserve(m, 1, err) : BF_OK;
}

int64_t *
bf_map_find(const BfMap *m, const void *key, size_t n, uint64_t hash)
{
	BfMapSlot *slot;

	if (BF_UNLIKELY(n >= LEN_NUMBER))
		return NULL;
	slot = find_bytes(m, tag_of(hash), key, (uint32_t) n);
	return slot->tag != 0 ? &slot->value : NULL;
}

/* After a failure nothing was put in. */
static inline BfStatus
put_bytes(BfMap *m, const void *key, size_t n, uint64_t hash, bool copy, int64_t fresh,
		  int64_t **value, BfError *err)
{
	uint32_t tag = tag_of(hash);
	BfMapSlot *slot;
	uint8_t *bytes;
	bool moved;

	if (BF_UNLIKELY(n >= LEN_NUMBER))
		BF_FAIL(err, BF_ERR_LIMIT, "a key of %zu bytes", n);
	slot = find_bytes(m, tag, key, (uint32_t) n);
	if (slot->tag == 0)
	{
		if (copy && n > 0)
		{
			BF_TRY(take_bytes(m, n, &bytes, err));
			memcpy(bytes, key, n);
			key = bytes;
		}
		BF_TRY(make_room(m, &moved, err));
		if (moved)
			slot = find_bytes(m, tag, key, (uint32_t) n);
		BF_ASSERT(slot->tag == 0 && m->slots != no_slots);
		*slot = (BfMapSlot){.tag = tag, .len = (uint32_t) n, .key.bytes = key, .value = fresh};
		m->n++;
	}
	*value = &slot->value;
	return BF_OK;
}

BfStatus
bf_map_put(BfMap *m, const void *key, size_t n, uint64_t hash, int64_t fresh, int64_t **value,
		   BfError *err)
{
	return put_bytes(m, key, n, hash, true, fresh, value, err);
}

BfStatus
bf_map_put_borrowed(BfMap *m, const void *key, size_t n, uint64_t hash, int64_t fresh,
					int64_t **value, BfError *err)
{
	return put_bytes(m, key, n, hash, false, fresh, value, err);
}

int64_t *
bf_map_find_number(const BfMap *m, int64_t key)
{
	BfMapSlot *slot = find_number(m, tag_of(hash_number(m->seed, key)), key);

	return slot->tag != 0 ? &slot->value : NULL;
}

BfStatus
bf_map_put_number(BfMap *m, int64_t key, int64_t fresh, int64_t **value, BfError *err)
{
	uint32_t tag = tag_of(hash_number(m->seed, key));
	BfMapSlot *slot = find_number(m, tag, key);
	bool moved;

	if (slot->tag == 0)
	{
		BF_TRY(make_room(m, &moved, err));
		if (moved)
			slot = find_number(m, tag, key);
		BF_ASSERT(slot->tag == 0 && m->slots != no_slots);
		*slot = (BfMapSlot){.tag = tag, .len = LEN_NUMBER, .key.number = key, .value = fresh};
		m->n++;
	}
	*value = &slot->value;
	return BF_OK;
}
