/*
 * Bits and runs. The loops work on whole runs: a repeated run is a fill, a packed run is unpacked
 * or copied with 64-bit loads at any bit position, so that no value costs a branch.
 */
#include "parquet/decode.h"

void
bfi_bits_to_bytes(const uint8_t *in, uint64_t bit, uint8_t *out, uint32_t n)
{
	uint32_t i = 0;

	for (; i + 8 <= n; i += 8)
	{
		/* Bit k of the byte to byte k: copies of the byte, one bit kept in each, then to 0 or 1. */
		uint64_t v = bfi_load_bits(in, bit + i, 8) * UINT64_C(0x0101010101010101);

		v &= UINT64_C(0x8040201008040201);
		v = ((v + UINT64_C(0x7f7f7f7f7f7f7f7f)) | v) >> 7 & UINT64_C(0x0101010101010101);
		bf_store64le(out + i, v);
	}
	for (; i < n; i++)
		out[i] = (uint8_t) bfi_load_bits(in, bit + i, 1);
}

void
bfi_put_bits(uint64_t *bits, uint32_t start, uint64_t v, uint32_t n)
{
	uint64_t mask = n >= 64 ? UINT64_MAX : ((uint64_t) 1 << n) - 1;
	uint32_t word = start >> 6;
	uint32_t shift = start & 63;

	v &= mask;
	bits[word] = (bits[word] & ~(mask << shift)) | v << shift;
	if (shift + n > 64)
		bits[word + 1] = (bits[word + 1] & ~(mask >> (64 - shift))) | v >> (64 - shift);
}

void
bfi_set_bits(uint64_t *bits, uint32_t start, uint32_t n)
{
	while (n > 0)
	{
		uint32_t k = 64 - (start & 63);

		k = k < n ? k : n;
		bfi_put_bits(bits, start, UINT64_MAX, k);
		start += k;
		n -= k;
	}
}

void
bfi_turn_bit_packed(const uint8_t *in, uint8_t *out, uint32_t n, uint32_t width)
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

void
bfi_rle_init(BfiRle *r, const void *data, size_t len, uint32_t width, int64_t at)
{
	BF_ASSERT(width <= 32);
	memset(r, 0, sizeof *r);
	r->pos = data;
	r->end = r->pos + len;
	r->width = width;
	r->at = at;
}

void
bfi_rle_init_packed(BfiRle *r, const void *data, uint32_t n, uint32_t width, int64_t at)
{
	bfi_rle_init(r, data, 0, width, at);
	r->packed = data;
	r->is_packed = true;
	r->run_left = n;
}

static BfStatus
next_packed_run(BfiRle *r, uint64_t groups, BfError *err)
{
	uint64_t bytes = groups * r->width;
	uint64_t n = groups * 8;
	uint64_t left = (uint64_t) (r->end - r->pos);

	if (bytes > left)
	{
		n = left * 8 / r->width;
		bytes = left;
		BF_DATA(err, n > 0, r->at,
				"a bit-packed run of %llu values lies behind the end of the data",
				(unsigned long long) groups * 8);
	}
	r->is_packed = true;
	r->packed = r->pos;
	r->bit = 0;
	r->run_left = n > INT32_MAX ? INT32_MAX : (uint32_t) n;
	r->pos += bytes;
	return BF_OK;
}

static BfStatus
run_header(BfiRle *r, uint64_t *header, BfError *err)
{
	*header = 0;
	for (uint32_t shift = 0;; shift += 7)
	{
		uint8_t b;

		BF_DATA(err, r->pos < r->end, r->at, "the runs end before all values are complete");
		BF_DATA(err, shift < 35, r->at, "a run's header is longer than 5 bytes");
		b = *r->pos++;
		*header |= (uint64_t) (b & 0x7f) << shift;
		if ((b & 0x80) == 0)
			return BF_OK;
	}
}

static BfStatus
next_run(BfiRle *r, BfError *err)
{
	uint64_t header = 0;
	uint32_t bytes = (r->width + 7) / 8;

	if (BF_LIKELY(r->pos < r->end && *r->pos < 0x80))
		header = *r->pos++;
	else
		BF_TRY(run_header(r, &header, err));
	BF_DATA(err, header >> 1 != 0, r->at, "a run of no values");
	if (header & 1)
		return next_packed_run(r, header >> 1, err);
	BF_DATA(err, (size_t) (r->end - r->pos) >= bytes, r->at, "a repeated value is cut short");
	r->value = 0;
	memcpy(&r->value, r->pos, bytes);
	r->pos += bytes;
	BF_DATA(err, r->width == 32 || r->value >> r->width == 0, r->at,
			"a repeated value of %u does not fit in %u bits", r->value, r->width);
	r->is_packed = false;
	r->run_left = header >> 1 > INT32_MAX ? INT32_MAX : (uint32_t) (header >> 1);
	return BF_OK;
}

/* How many of n values the current run gives; starts the next run when it is used up. */
static inline BfStatus
take(BfiRle *r, uint32_t n, uint32_t *k, BfError *err)
{
	if (r->run_left == 0)
		BF_TRY(next_run(r, err));
	*k = r->run_left < n ? r->run_left : n;
	r->run_left -= *k;
	return BF_OK;
}

BfStatus
bfi_rle_u32(BfiRle *r, uint32_t *out, uint32_t n, BfError *err)
{
	while (n > 0)
	{
		uint32_t k;

		BF_TRY(take(r, n, &k, err));
		if (r->is_packed)
		{
			bfi_unpack32(r->packed, r->bit, r->width, out, k);
			r->bit += (uint64_t) k * r->width;
		}
		else
			for (uint32_t i = 0; i < k; i++)
				out[i] = r->value;
		out += k;
		n -= k;
	}
	return BF_OK;
}

BfStatus
bfi_rle_bits(BfiRle *r, uint64_t *bits, uint32_t start, uint32_t n, uint32_t *ones, BfError *err)
{
	uint32_t count = 0;

	BF_ASSERT(r->width == 1);
	while (n > 0)
	{
		uint32_t k;

		BF_TRY(take(r, n, &k, err));
		n -= k;
		if (!r->is_packed)
			count += r->value != 0 ? k : 0;
		while (k > 0)
		{
			uint32_t m = k < 64 ? k : 64;
			uint64_t v = r->value != 0 ? UINT64_MAX : 0;

			if (r->is_packed)
			{
				v = bfi_load_bits(r->packed, r->bit, m);
				r->bit += m;
				count += (uint32_t) __builtin_popcountll(v);
			}
			bfi_put_bits(bits, start, v, m);
			start += m;
			k -= m;
		}
	}
	*ones = count;
	return BF_OK;
}

BfStatus
bfi_rle_bytes(BfiRle *r, uint8_t *out, uint32_t n, BfError *err)
{
	BF_ASSERT(r->width == 1);
	while (n > 0)
	{
		uint32_t k;

		BF_TRY(take(r, n, &k, err));
		if (r->is_packed)
		{
			bfi_bits_to_bytes(r->packed, r->bit, out, k);
			r->bit += k;
		}
		else
			memset(out, r->value != 0, k);
		out += k;
		n -= k;
	}
	return BF_OK;
}

static uint32_t
count_packed_ones(const BfiRle *r, uint32_t k)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < k; i += 64)
		count += (uint32_t) __builtin_popcountll(
			bfi_load_bits(r->packed, r->bit + i, k - i < 64 ? k - i : 64));
	return count;
}

BfStatus
bfi_rle_count_and_skip(BfiRle *r, uint32_t n, uint32_t max, uint32_t *count, BfError *err)
{
	uint32_t found = 0;
	uint32_t tmp[256];

	while (n > 0)
	{
		uint32_t k;

		BF_TRY(take(r, n, &k, err));
		n -= k;
		if (!r->is_packed)
		{
			BF_DATA(err, r->value <= max, r->at, "level %u is above the maximum %u", r->value, max);
			found += r->value == max ? k : 0;
			continue;
		}
		if (r->width == 1)
		{
			found += count_packed_ones(r, k);
			r->bit += k;
			continue;
		}
		while (k > 0)
		{
			uint32_t m = k < 256 ? k : 256;

			bfi_unpack32(r->packed, r->bit, r->width, tmp, m);
			for (uint32_t i = 0; i < m; i++)
			{
				BF_DATA(err, tmp[i] <= max, r->at, "level %u is above the maximum %u", tmp[i], max);
				found += tmp[i] == max;
			}
			r->bit += (uint64_t) m * r->width;
			k -= m;
		}
	}
	*count = found;
	return BF_OK;
}

BfStatus
bfi_rle_count(BfiRle r, uint32_t n, uint32_t max, uint32_t *count, BfError *err)
{
	return bfi_rle_count_and_skip(&r, n, max, count, err);
}

BfStatus
bfi_rle_skip(BfiRle *r, uint32_t n, BfError *err)
{
	while (n > 0)
	{
		uint32_t k;

		BF_TRY(take(r, n, &k, err));
		if (r->is_packed)
			r->bit += (uint64_t) k * r->width;
		n -= k;
	}
	return BF_OK;
}
