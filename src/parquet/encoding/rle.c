/*
 * RLE: runs (rle.h) of levels, whose section begins with its length in bytes, and of booleans,
 * alike.
 *
 * The loops work on whole runs: a repeated run is a fill, a packed run is unpacked or copied with
 * 64-bit loads at any bit position, so that no value costs a branch.
 */
#include "parquet/encoding/encoding.h"

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

	BF_ASSERT(groups > 0);
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

	BF_ASSERT(r->run_left == 0 && r->width <= 32);
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
	BF_ASSERT(n > 0);
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

	BF_ASSERT(max > 0 || r->width == 0);
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

/* ---- writing ---- */

/* Equal numbers from which on a run of them is shorter than packed ones, and a group of these. */
#define GROUP 8
/* Numbers that are packed on the stack before they are appended. */
#define PACKED_AT_ONCE 512

static inline uint32_t
value_at(const void *values, uint32_t size, uint32_t i)
{
	return size == 1 ? ((const uint8_t *) values)[i] : ((const uint32_t *) values)[i];
}

static uint32_t
equal_from(const void *values, uint32_t size, uint32_t from, uint32_t n)
{
	uint32_t first = value_at(values, size, from);
	uint32_t i = from + 1;

	while (i < n && value_at(values, size, i) == first)
		i++;
	return i - from;
}

static BfStatus
put_repeated(uint32_t value, uint32_t n, uint32_t width, BfBuffer *out, BfError *err)
{
	BF_ASSERT(n >= GROUP && (width == 32 || value >> width == 0));
	BF_TRY(bf_buffer_uvarint(out, (uint64_t) n << 1, err));
	return bf_buffer_append(out, &value, (width + 7) / 8, err);
}

/* Whole groups; numbers that the last one lacks are 0. */
static BfStatus
put_packed(const void *values, uint32_t size, uint32_t n, uint32_t width, BfBuffer *out,
		   BfError *err)
{
	uint32_t groups = (n + GROUP - 1) / GROUP;
	uint32_t staged[PACKED_AT_ONCE];
	uint8_t packed[PACKED_AT_ONCE * 4 + BFI_PACK_SLACK];

	BF_TRY(bf_buffer_uvarint(out, (uint64_t) groups << 1 | 1, err));
	BF_TRY(bf_buffer_reserve(out, (size_t) groups * width, err));
	for (uint32_t i = 0; i < n; i += PACKED_AT_ONCE)
	{
		uint32_t k = n - i < PACKED_AT_ONCE ? n - i : PACKED_AT_ONCE;
		uint32_t whole = (k + GROUP - 1) / GROUP * GROUP;
		const uint32_t *in = staged;

		if (size == 4 && whole == k)
			in = (const uint32_t *) values + i;
		else
		{
			for (uint32_t j = 0; j < k; j++)
				staged[j] = value_at(values, size, i + j);
			for (uint32_t j = k; j < whole; j++)
				staged[j] = 0;
		}
		bfi_pack32(in, whole, width, packed);
		BF_TRY(bf_buffer_append(out, packed, (size_t) whole / GROUP * width, err));
	}
	return BF_OK;
}

/* How many numbers from `from` on are packed: whole groups, until one begins with enough equal
 * numbers, or all that is left. */
static uint32_t
packed_from(const void *values, uint32_t size, uint32_t from, uint32_t n)
{
	uint32_t end = from;

	while (end < n && equal_from(values, size, end, n < end + GROUP ? n : end + GROUP) < GROUP)
		end = n - end < GROUP ? n : end + GROUP;
	return end - from;
}

static BfStatus
encode_runs(const void *values, uint32_t size, uint32_t n, uint32_t width, BfBuffer *out,
			BfError *err)
{
	for (uint32_t i = 0; i < n;)
	{
		uint32_t equal = equal_from(values, size, i, n);
		uint32_t packed;

		if (equal >= GROUP)
		{
			BF_TRY(put_repeated(value_at(values, size, i), equal, width, out, err));
			i += equal;
			continue;
		}
		packed = packed_from(values, size, i, n);
		BF_ASSERT(packed % GROUP == 0 || i + packed == n);
		BF_TRY(put_packed((const uint8_t *) values + (size_t) i * size, size, packed, width, out,
						  err));
		i += packed;
	}
	return BF_OK;
}

BfStatus
bfi_rle_encode(const void *values, uint32_t size, uint32_t n, uint32_t width, BfBuffer *out,
			   BfError *err)
{
	size_t before = out->len;
	BfStatus status;

	BF_ASSERT(n > 0 && n <= INT32_MAX && width <= 32 && (size == 1 || size == 4));
	status = encode_runs(values, size, n, width, out, err);
	if (status != BF_OK)
		out->len = before;
	return status;
}

/* ---- as an encoding of values and levels ---- */

static BfStatus
begin(BfiValues *v, const uint8_t *p, size_t len, BfError *err)
{
	uint32_t runs;

	BF_DATA(err, len >= 4, v->at, "booleans in runs without a length");
	runs = bf_load32le(p);
	BF_DATA(err, runs <= len - 4, v->at, "runs of %u bytes in a page of %zu", runs, len);
	bfi_rle_init(v->state, p + 4, runs, 1, v->at);
	return BF_OK;
}

static BfStatus
decode(BfiValues *v, int32_t n, void *out, BfError *err)
{
	return bfi_rle_bytes(v->state, out, (uint32_t) n, err);
}

static BfStatus
skip(BfiValues *v, int32_t n, BfError *err)
{
	return bfi_rle_skip(v->state, (uint32_t) n, err);
}

static BfStatus
encode(const BfiNative *in, BfBuffer *out, BfSeams *seams, BfError *err)
{
	static const uint8_t length[4];
	size_t before = out->len;
	BfStatus status = bf_buffer_append(out, length, sizeof length, err);

	(void) seams;
	if (status == BF_OK)
		status = bfi_rle_encode(in->values, 1, (uint32_t) in->n, 1, out, err);
	if (status != BF_OK)
		out->len = before;
	else
		bf_store32le(out->data + before, (uint32_t) (out->len - before - sizeof length));
	return status;
}

static BfStatus
levels(BfCursor *cur, uint32_t n, uint32_t width, BfBuffer *turned, BfiRle *out, BfError *err)
{
	int64_t at = cur->base_offset;
	const uint8_t *p;
	uint32_t len;

	(void) n;
	(void) turned;
	BF_TRY(bf_cursor_u32le(cur, &len, err));
	BF_DATA(err, len <= bf_cursor_left(cur), at, "the levels have %u bytes, the page only %zu", len,
			bf_cursor_left(cur));
	BF_TRY(bf_cursor_take(cur, len, &p, err));
	bfi_rle_init(out, p, len, width, at);
	return BF_OK;
}

const BfiMethods bfi_encoding_rle = {
	.state_bytes = sizeof(BfiRle),
	.begin = begin,
	.decode = decode,
	.skip = skip,
	.encode = encode,
	.levels = levels,
};
