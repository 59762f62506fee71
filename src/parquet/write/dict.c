/*
 * The dictionary of a chunk while it is written: from values to codes.
 *
 * A table with open addressing from hashes to codes, at most half full; the entries in the order in
 * which they came, as the dictionary page will have them. Dates, quantities and the like lie near
 * each other: those that do are found by an array over their range, without a hash. Numbers are
 * told apart by their bits, so that -0 and every NaN come back as they were.
 */
#include "base/map.h"
#include "parquet/write/internal.h"

#define FIRST_SLOTS 256
#define NEAR_MAX (UINT32_C(1) << 16)
/* Odd numbers with about as many ones as zeroes. */
#define MIX UINT64_C(0x9e3779b97f4a7c15)
#define MIX_LAST UINT64_C(0xc2b2ae3d27d4eb4f)

/* Codes are int32 in a page header, and entries no more than the bytes that a page can have. */
#define DICT_BYTES_MAX ((size_t) 1 << 30)

static bool
is_bytes(const BfiDictOut *d)
{
	return d->physical == BFI_BYTE_ARRAY || d->physical == BFI_FLBA || d->physical == BFI_INT96;
}

BfStatus
bfi_dict_new(BfArena *a, BfiDictOut *d, BfiPhysical physical, uint32_t width, BfError *err)
{
	*d = (BfiDictOut){.physical = physical, .width = width};
	BF_ASSERT(physical != BFI_BOOLEAN && (is_bytes(d) || width == 4 || width == 8));
	BF_TRY(bf_buffer_new(a, DICT_BYTES_MAX * 8, &d->slots, err));
	BF_TRY(bf_buffer_new(a, NEAR_MAX * sizeof(uint32_t), &d->near, err));
	BF_TRY(bf_buffer_new(a, DICT_BYTES_MAX, &d->plain, err));
	return bf_buffer_new(a, DICT_BYTES_MAX * 8, &d->entries, err);
}

static uint32_t *
slots_of(const BfiDictOut *d)
{
	return (uint32_t *) (void *) d->slots->data;
}

static const BfiEntry *
entries_of(const BfiDictOut *d)
{
	return (const BfiEntry *) (const void *) d->entries->data;
}

void
bfi_dict_clear(BfiDictOut *d)
{
	d->n = d->n_far = 0;
	d->plain->len = 0;
	d->entries->len = 0;
	/* A large table would have to be cleared as a whole for a few entries. */
	d->n_slots = 0;
	d->n_near = 0;
}

size_t
bfi_dict_bytes(const BfiDictOut *d)
{
	return d->plain->len + d->entries->len + (d->n_slots + d->n_near) * sizeof(uint32_t);
}

static inline uint32_t
slot_of(uint64_t hash, uint32_t n_slots)
{
	return (uint32_t) (hash >> 32) & (n_slots - 1);
}

static inline uint64_t
hash_number(uint64_t v)
{
	v *= MIX;
	return v ^ v << 29;
}

static inline uint64_t
hash_entry(const BfiEntry *e, const uint8_t *bytes)
{
	uint64_t h;

	if (BF_UNLIKELY(e->len > 16))
		return bf_hash(0, bytes, e->len);
	h = (e->first + e->len) * MIX + e->last * MIX_LAST;
	return h ^ h << 29;
}

static inline uint64_t
number_at(const BfiDictOut *d, uint32_t code)
{
	if (d->width == 4)
		return (uint64_t) (int64_t) (int32_t) bf_load32le(d->plain->data + (size_t) code * 4);
	return bf_load64le(d->plain->data + (size_t) code * 8);
}

static uint64_t
hash_of(const BfiDictOut *d, uint32_t code)
{
	if (is_bytes(d))
		return hash_entry(&entries_of(d)[code], d->plain->data + entries_of(d)[code].at);
	return hash_number(d->width == 4 ? (uint32_t) number_at(d, code) : number_at(d, code));
}

/* Twice as many slots. */
static BfStatus
grow(BfiDictOut *d, BfError *err)
{
	uint32_t n = d->n_slots == 0 ? FIRST_SLOTS : d->n_slots * 2;
	uint32_t *slots;

	BF_ASSERT(n > d->n_far * 2 && (n & (n - 1)) == 0);
	d->slots->len = 0;
	BF_TRY(bf_buffer_reserve(d->slots, n * sizeof *slots, err));
	d->n_slots = n;
	slots = slots_of(d);
	memset(slots, 0, n * sizeof *slots);
	for (uint32_t code = 0; code < d->n; code++)
	{
		uint32_t s;

		if (!is_bytes(d) && number_at(d, code) - d->base < d->n_near)
			continue;
		s = slot_of(hash_of(d, code), n);

		while (slots[s] != 0)
			s = (s + 1) & (n - 1);
		slots[s] = code + 1;
	}
	return BF_OK;
}

static BfStatus
add_number(BfiDictOut *d, uint64_t v, BfError *err)
{
	return bf_buffer_append(d->plain, &v, d->width, err);
}

static BfStatus
add_bytes(BfiDictOut *d, BfView v, BfiEntry *e, BfError *err)
{
	if (d->physical == BFI_BYTE_ARRAY)
		BF_TRY(bf_buffer_append(d->plain, &v.len, sizeof v.len, err));
	BF_ASSERT(d->physical == BFI_BYTE_ARRAY || v.len == d->width);
	e->at = (uint32_t) d->plain->len;
	BF_TRY(bf_buffer_append(d->plain, v.ptr, v.len, err));
	return bf_buffer_append(d->entries, e, sizeof *e, err);
}

/* Looks `wanted` up among the slots, `is_it` compares it with entry number `code`; a new one is
 * added by `add`. */
#define LOOK_UP(hash, is_it, add)                 \
	do                                            \
	{                                             \
		uint32_t s = slot_of((hash), d->n_slots); \
                                                  \
		for (;; s = (s + 1) & (d->n_slots - 1))   \
		{                                         \
			uint32_t code = slots[s] - 1;         \
                                                  \
			if (slots[s] == 0)                    \
			{                                     \
				BF_TRY(add);                      \
				codes[i] = d->n++;                \
				slots[s] = d->n;                  \
				if (++d->n_far * 2 > d->n_slots)  \
				{                                 \
					BF_TRY(grow(d, err));         \
					slots = slots_of(d);          \
				}                                 \
				break;                            \
			}                                     \
			if (is_it)                            \
			{                                     \
				codes[i] = code;                  \
				break;                            \
			}                                     \
		}                                         \
	} while (0)

/* The range of the first numbers, with as much room again on both sides, if it is small. */
static BfStatus
begin_near(BfiDictOut *d, const void *values, int32_t n, BfError *err)
{
	const int32_t *i32 = values;
	const int64_t *i64 = values;
	int64_t min = INT64_MAX, max = INT64_MIN;
	uint64_t range;

	for (int32_t i = 0; i < n; i++)
	{
		int64_t v = d->width == 4 ? i32[i] : i64[i];

		min = v < min ? v : min;
		max = v > max ? v : max;
	}
	range = (uint64_t) max - (uint64_t) min;
	if (n == 0 || range >= NEAR_MAX / 4)
		return BF_OK;
	BF_TRY(bf_buffer_reserve(d->near, (range + 1) * 3 * sizeof(uint32_t), err));
	d->n_near = (uint32_t) (range + 1) * 3;
	d->base = (uint64_t) min - (range + 1);
	memset(d->near->data, 0, d->n_near * sizeof(uint32_t));
	return BF_OK;
}

/* `number` is the signed type: numbers of 4 bytes are as far from the base as those of 8. */
#define NUMBERS(type, number)                                                          \
	do                                                                                 \
	{                                                                                  \
		const type *in = values;                                                       \
		uint32_t *near = (uint32_t *) (void *) d->near->data;                          \
                                                                                       \
		for (int32_t i = 0; i < n; i++)                                                \
		{                                                                              \
			uint64_t at = (uint64_t) (int64_t) (number) in[i] - d->base;               \
                                                                                       \
			if (at < d->n_near && near[at] != 0)                                       \
				codes[i] = near[at] - 1;                                               \
			else if (at < d->n_near)                                                   \
			{                                                                          \
				BF_TRY(add_number(d, in[i], err));                                     \
				codes[i] = d->n++;                                                     \
				near[at] = d->n;                                                       \
			}                                                                          \
			else                                                                       \
				LOOK_UP(hash_number(in[i]),                                            \
						in[i] == ((const type *) (const void *) d->plain->data)[code], \
						add_number(d, in[i], err));                                    \
		}                                                                              \
	} while (0)

static inline bool
is_entry(const BfiDictOut *d, const BfiEntry *e, uint32_t code, const uint8_t *bytes)
{
	const BfiEntry *at = &entries_of(d)[code];

	if (at->first != e->first || at->last != e->last || at->len != e->len)
		return false;
	return e->len <= 16 || memcmp(d->plain->data + at->at, bytes, e->len) == 0;
}

BfStatus
bfi_dict_codes(BfiDictOut *d, const void *values, int32_t n, uint32_t *codes, BfError *err)
{
	uint32_t *slots;

	if (d->n_slots == 0)
	{
		if (!is_bytes(d))
			BF_TRY(begin_near(d, values, n, err));
		BF_TRY(grow(d, err));
	}
	slots = slots_of(d);
	if (is_bytes(d))
	{
		const BfView *in = values;

		for (int32_t i = 0; i < n; i++)
		{
			BfiEntry e = {.first = bfi_view_key(in[i]), .len = in[i].len};

			if (e.len > 8)
				e.last = bf_load64be(in[i].ptr + e.len - 8);
			LOOK_UP(hash_entry(&e, in[i].ptr), is_entry(d, &e, code, in[i].ptr),
					add_bytes(d, in[i], &e, err));
		}
	}
	else if (d->width == 4)
		NUMBERS(uint32_t, int32_t);
	else
		NUMBERS(uint64_t, int64_t);
	BF_ASSERT(d->n_far * 2 <= d->n_slots && d->n_far <= d->n);
	return BF_OK;
}
