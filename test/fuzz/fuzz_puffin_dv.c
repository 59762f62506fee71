/*
 * Deletion vectors from any bytes. What is accepted holds what libroaring finds in the same bitmaps
 * and what the containers say of themselves; windows of any length agree with single rows.
 */
#include <roaring/roaring.h>

#include "exec/delete/internal.h"
#include "fuzz/fuzz.h"

static bool
has_row(BfRows *s, uint64_t row)
{
	uint64_t bit = 1;

	bf_rows_clear(s, row, 1, &bit);
	return bit == 0;
}

/* A window that begins a little before a container's edge or a row of it. */
static void
check_window(BfRows *s, FuzzInput *in)
{
	const BfRowsContainer *c = &s->containers[fuzz_take_below(in, (uint64_t) s->n)];
	uint64_t first = (c->key << 16) + fuzz_take_below(in, 65536);
	int32_t n = (int32_t) fuzz_take_below(in, 300);
	uint64_t bits[BF_VALIDITY_WORDS];

	first -= first < 100 ? 0 : 100;
	memset(bits, 0xff, sizeof bits);
	bf_rows_clear(s, first, n, bits);
	for (int32_t i = 0; i < 320; i++)
		FUZZ_CHECK(bf_valid(bits, i) == (i >= n || !has_row(s, first + (uint64_t) i)));
}

typedef struct Seen
{
	BfRows *rows;
	uint64_t high;
	int left; /* to be looked at */
} Seen;

static bool
check_seen(uint32_t low, void *arg)
{
	Seen *seen = arg;

	FUZZ_CHECK(has_row(seen->rows, seen->high | low));
	return --seen->left > 0;
}

/* The other reader gets bitmaps that ours has found to be whole; old versions trust their input. */
static void
check_roaring(BfRows *s, const uint8_t *p, size_t n)
{
	uint64_t count = bf_load64le(p);
	uint64_t rows = 0;

	p += 8;
	n -= 8;
	for (uint64_t k = 0; k < count; k++)
	{
		Seen seen = {s, (uint64_t) bf_load32le(p) << 32, 5000};
		roaring_bitmap_t *r = roaring_bitmap_portable_deserialize_safe((const char *) p + 4, n - 4);
		size_t size = roaring_bitmap_portable_deserialize_size((const char *) p + 4, n - 4);

		FUZZ_CHECK(r != NULL && size > 0);
		rows += roaring_bitmap_get_cardinality(r);
		(void) roaring_iterate(r, check_seen, &seen);
		roaring_bitmap_free(r);
		p += 4 + size;
		n -= 4 + size;
	}
	FUZZ_CHECK(rows == bf_rows_cardinality(s));
}

int
bf_fuzz_puffin_dv(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	FuzzInput in = {data, size};
	BfRows s = {0};
	BfError err;
	BfStatus status = bfi_vector_decode(a, data, size, 1000, &s, &err);

	FUZZ_CHECK(status == BF_OK || status == BF_ERR_CORRUPT);
	FUZZ_CHECK(status == BF_OK || (err.offset >= 1000 && err.offset <= 1000 + (int64_t) size));
	if (status == BF_OK)
	{
		bool framed = size >= 12 && bf_load32le(data + 4) != 0;

		for (int round = 0; round < 4 && s.n > 0; round++)
			check_window(&s, &in);
		check_roaring(&s, data + (framed ? 8 : 0), size - (framed ? 12 : 0));
	}
	bf_arena_free(a);
	return status == BF_OK ? 0 : -1;
}
