/*
 * What the levels of a leaf say of a field above it: which of its slots are NULL, and where the
 * items of its lists begin (see BfiShape for which level pairs are slots and items).
 *
 * Levels are classified sixteen at once, into one byte each; what is left for every level is to
 * write at the current slot and to move on by 0 or 1, without a branch.
 */
#include "parquet/internal.h"
#include "parquet/levels.h"

/* Room for a bit per slot, and what bits are loaded and stored with. All 0. */
static BfStatus
reserve_bits(BfBuffer *b, int32_t n, uint64_t **out, BfError *err)
{
	size_t words = (size_t) n / 64 + 1;

	BF_ASSERT(n >= 0);
	words = (words < BF_VALIDITY_WORDS ? BF_VALIDITY_WORDS : words) + 2;
	b->len = 0;
	BF_TRY(bf_buffer_reserve(b, words * sizeof **out, err));
	memset(b->data, 0, words * sizeof **out);
	*out = (uint64_t *) (void *) b->data;
	return BF_OK;
}

static BfStatus
check_count(const BfiColumn *c, int32_t found, int32_t n, BfError *err)
{
	BF_DATA(err, found == n, c->page.at, "the column has %d items where its neighbours have %d",
			found, n);
	return BF_OK;
}

static const uint8_t *
rep_levels(const BfiColumn *c)
{
	return c->leaf->max_rep > 0 ? c->levels->rep->data : NULL;
}

/* What a level pair is for a node. */
enum
{
	IS_SLOT = 1,
	IS_VALID = 2,
	IS_ITEM = 4
};

/* Levels that are classified at once. */
#define CHUNK 512

/* rep NULL: no leaf below is repeated. */
static inline void
classify(const BfiShape *s, const uint8_t *rep, const uint8_t *def, int32_t n, uint8_t *out)
{
	const BfiBytes16 slot_def = bfi_all16((uint8_t) s->slot_def);
	const BfiBytes16 slot_rep = bfi_all16((uint8_t) s->slot_rep);
	const BfiBytes16 valid_def = bfi_all16((uint8_t) s->def);
	const BfiBytes16 item_def = bfi_all16((uint8_t) s->item_def);
	const BfiBytes16 item_rep = bfi_all16((uint8_t) s->item_rep);

	BF_ASSERT(n > 0 && n <= CHUNK);
	for (int32_t i = 0; i < n; i += 16)
	{
		BfiBytes16 d = bfi_load16(def + i);
		BfiBytes16 r = rep != NULL ? bfi_load16(rep + i) : bfi_all16(0);
		BfiBytes16 slot = (BfiBytes16) (d >= slot_def) & (BfiBytes16) (r <= slot_rep);
		BfiBytes16 valid = slot & (BfiBytes16) (d >= valid_def);
		BfiBytes16 item = (BfiBytes16) (d >= item_def) & (BfiBytes16) (r <= item_rep);
		BfiBytes16 all = (slot & IS_SLOT) | (valid & IS_VALID) | (item & IS_ITEM);

		memcpy(out + i, &all, sizeof all);
	}
}

static BfStatus
reserve_marks(BfBuffer *marks, int32_t n, uint8_t **out, BfError *err)
{
	marks->len = 0;
	BF_TRY(bf_buffer_reserve(marks, (size_t) n + BFI_SLACK, err));
	*out = marks->data;
	return BF_OK;
}

/* Bits of the n marks; NULL when all are set. */
static BfStatus
pack(BfBuffer *validity, const uint8_t *marks, int32_t n, uint64_t **out, BfError *err)
{
	uint64_t *bits;

	BF_TRY(reserve_bits(validity, n, &bits, err));
	*out = bfi_pack_bits(marks, (uint32_t) n, bits) == (uint32_t) n ? NULL : bits;
	return BF_OK;
}

BfStatus
bfi_slot_validity(const BfiShape *s, const BfiColumn *c, int32_t n, BfBuffer *scratch,
				  BfBuffer *validity, uint64_t **out, BfError *err)
{
	const uint8_t *rep = rep_levels(c);
	const uint8_t *def = c->levels->def->data;
	int32_t n_levels = c->levels->used;
	int32_t found = 0;
	uint8_t *marks;

	BF_ASSERT(n >= 0 && s->slot_def <= s->def && s->slot_rep <= c->leaf->max_rep);
	*out = NULL;
	BF_TRY(reserve_marks(scratch, n_levels, &marks, err));
	if (s->slot_def == 0 && c->leaf->max_rep <= s->slot_rep)
	{
		BF_TRY(check_count(c, n_levels, n, err));
		bfi_at_least(def, (uint32_t) n_levels, (uint8_t) s->def, marks);
		return pack(validity, marks, n, out, err);
	}
	for (int32_t i = 0; i < n_levels; i += CHUNK)
	{
		int32_t k = n_levels - i < CHUNK ? n_levels - i : CHUNK;
		uint8_t what[CHUNK];

		classify(s, rep != NULL ? rep + i : NULL, def + i, k, what);
		for (int32_t j = 0; j < k; j++)
		{
			marks[found] = what[j] >> 1 & 1;
			found += what[j] & IS_SLOT;
		}
	}
	BF_TRY(check_count(c, found, n, err));
	return pack(validity, marks, n, out, err);
}

BfStatus
bfi_list_offsets(const BfiShape *s, const BfiColumn *c, int32_t n, BfBuffer *scratch,
				 BfBuffer *validity, int32_t *offsets, uint64_t **out, BfError *err)
{
	const uint8_t *rep = c->levels->rep->data;
	const uint8_t *def = c->levels->def->data;
	int32_t n_levels = c->levels->used;
	int32_t found = 0;
	int32_t items = 0;
	uint8_t *marks;

	BF_ASSERT(n >= 0 && s->slot_rep < s->item_rep && s->item_rep <= c->leaf->max_rep);
	BF_ASSERT(s->def < s->item_def && s->item_def <= c->leaf->max_def);
	BF_TRY(reserve_marks(scratch, n_levels, &marks, err));
	for (int32_t i = 0; i < n_levels; i += CHUNK)
	{
		int32_t k = n_levels - i < CHUNK ? n_levels - i : CHUNK;
		uint8_t what[CHUNK];

		classify(s, rep + i, def + i, k, what);
		for (int32_t j = 0; j < k; j++)
		{
			offsets[found] = items;
			marks[found] = what[j] >> 1 & 1;
			found += what[j] & IS_SLOT;
			items += what[j] >> 2;
		}
	}
	offsets[found] = items;
	BF_TRY(check_count(c, found, n, err));
	return pack(validity, marks, n, out, err);
}

BfStatus
bfi_check_offsets(const BfiShape *s, const BfiColumn *c, int32_t n, const int32_t *offsets,
				  BfError *err)
{
	const uint8_t *rep = c->levels->rep->data;
	const uint8_t *def = c->levels->def->data;
	int32_t n_levels = c->levels->used;
	int32_t found = 0;
	int32_t items = 0;
	int32_t differ = 0;

	BF_ASSERT(n >= 0 && offsets[0] == 0 && s->item_rep <= c->leaf->max_rep);
	for (int32_t i = 0; i < n_levels; i += CHUNK)
	{
		int32_t k = n_levels - i < CHUNK ? n_levels - i : CHUNK;
		uint8_t what[CHUNK];

		classify(s, rep + i, def + i, k, what);
		for (int32_t j = 0; j < k; j++)
		{
			differ |= (offsets[found < n ? found : n] ^ items) & -(what[j] & IS_SLOT);
			found += what[j] & IS_SLOT;
			items += what[j] >> 2;
		}
	}
	BF_TRY(check_count(c, found, n, err));
	BF_DATA(err, differ == 0 && offsets[n] == items, c->page.at,
			"the column's lists differ from its neighbours'");
	return BF_OK;
}
