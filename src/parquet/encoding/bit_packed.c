/*
 * BIT_PACKED, which only levels of old V1 pages have: numbers of a fixed width, the most
 * significant bit first, as many as the page has levels. They are turned into what runs hold, which
 * is read with one loop for both.
 */
#include "parquet/encoding/encoding.h"

/* The same n values LSB first; out has the same size. */
static void
turn(const uint8_t *in, uint8_t *out, uint32_t n, uint32_t width)
{
	uint64_t n_bits = (uint64_t) n * width;

	memset(out, 0, (size_t) ((n_bits + 7) / 8));
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t b = 0; b < width; b++)
		{
			uint64_t from = (uint64_t) i * width + b;
			uint64_t to = (uint64_t) i * width + (width - 1 - b);

			if (in[from >> 3] >> (7 - (from & 7)) & 1)
				out[to >> 3] = (uint8_t) (out[to >> 3] | 1 << (to & 7));
		}
}

static BfStatus
levels(BfCursor *cur, uint32_t n, uint32_t width, BfBuffer *turned, BfiRle *out, BfError *err)
{
	int64_t at = cur->base_offset;
	uint32_t len = (uint32_t) (((uint64_t) n * width + 7) / 8);
	const uint8_t *p;
	uint8_t *to;

	BF_DATA(err, len <= bf_cursor_left(cur), at, "the levels have %u bytes, the page only %zu", len,
			bf_cursor_left(cur));
	BF_TRY(bf_cursor_take(cur, len, &p, err));
	/* All sections of the page fit at once: a second reserve must not move the first. */
	if (turned->len == 0)
		BF_TRY(bf_buffer_reserve(turned, (size_t) len + bf_cursor_left(cur) + 2 * BFI_SLACK, err));
	to = turned->data + turned->len;
	turned->len += (size_t) len + BFI_SLACK;
	BF_ASSERT(turned->len <= turned->cap);
	turn(p, to, n, width);
	bfi_rle_init_packed(out, to, n, width, at);
	return BF_OK;
}

const BfiMethods bfi_encoding_bit_packed = {.levels = levels};
