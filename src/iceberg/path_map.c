/*
 * A hash table from paths to numbers.
 */
#include "iceberg/internal.h"
#include "iceberg/plan_internal.h"

#define SLOTS_FIRST 64

/* The slot of the text, or the empty one where it belongs. */
static uint32_t
find_slot(const BfiPathMap *m, const char *text, uint64_t hash)
{
	uint32_t i = (uint32_t) hash & (m->n_slots - 1);

	while (m->slots[i].text != NULL &&
		   (m->slots[i].hash != hash || strcmp(m->slots[i].text, text) != 0))
		i = (i + 1) & (m->n_slots - 1);
	return i;
}

/* Twice the slots; the old ones stay in the arena. */
static BfStatus
grow(BfArena *a, BfiPathMap *m, BfError *err)
{
	BfiPathMap more = {.n = m->n, .n_slots = m->n_slots > 0 ? m->n_slots * 2 : SLOTS_FIRST};

	while (m->n_slots == 0 && more.n_slots < (uint32_t) m->expected * 2)
		more.n_slots *= 2;
	BF_TRY(bf_check_cancel(bf_arena_host(a), err));
	if (more.n_slots == 0)
		BF_FAIL(err, BF_ERR_LIMIT, "more than %d paths", m->n);
	BF_NEW(a, more.slots, more.n_slots, err);
	for (uint32_t i = 0; i < m->n_slots; i++)
		if (m->slots[i].text != NULL)
			more.slots[find_slot(&more, m->slots[i].text, m->slots[i].hash)] = m->slots[i];
	*m = more;
	return BF_OK;
}

BfStatus
bfi_path_map_put(BfArena *a, BfiPathMap *m, const char *text, uint64_t hash, int32_t value,
				 int32_t *found, BfError *err)
{
	uint32_t i;

	if ((uint64_t) m->n * 2 >= m->n_slots)
		BF_TRY(grow(a, m, err));
	i = find_slot(m, text, hash);
	*found = -1;
	if (m->slots[i].text != NULL)
	{
		*found = m->slots[i].value;
		return BF_OK;
	}
	m->slots[i].hash = hash;
	m->slots[i].text = text;
	m->slots[i].value = value;
	m->n++;
	return BF_OK;
}

int32_t
bfi_path_map_get(const BfiPathMap *m, const char *text, uint64_t hash)
{
	uint32_t i;

	if (m->n_slots == 0)
		return -1;
	i = find_slot(m, text, hash);
	return m->slots[i].text != NULL ? m->slots[i].value : -1;
}
