/*
 * DELTA_BINARY_PACKED: see delta.h for the format.
 *
 * All arithmetic is modulo 2^64; a 32-bit column keeps the low half, which is the same as wrapping
 * at 32 bits. Up to 32 bits the packed numbers are unpacked with the loops of unpack.c first; the
 * running sum is then the only dependency between values.
 */
#include "parquet/encoding/delta.h"
#include "parquet/encoding/encoding.h"

#define BLOCK_VALUES_MAX (1 << 20)

static BfStatus
get_uvarint(BfiDelta *d, uint64_t *v, BfError *err)
{
	uint64_t out = 0;

	for (uint32_t shift = 0;; shift += 7)
	{
		uint8_t b;

		BF_DATA(err, d->pos < d->end, d->at, "the delta header is cut short");
		b = *d->pos++;
		BF_DATA(err, shift < 63 || (shift == 63 && b <= 1), d->at,
				"a number in the delta header is longer than 64 bits");
		out |= (uint64_t) (b & 0x7f) << shift;
		if ((b & 0x80) == 0)
			break;
	}
	*v = out;
	return BF_OK;
}

BfStatus
bfi_delta_init(BfiDelta *d, const void *data, size_t len, uint32_t bits, int64_t at, BfError *err)
{
	uint64_t block_values;
	uint64_t n_mini;
	uint64_t first;

	BF_ASSERT(bits == 32 || bits == 64);
	memset(d, 0, sizeof *d);
	d->pos = data;
	d->end = d->pos + len;
	d->width_max = bits;
	d->at = at;
	BF_TRY(get_uvarint(d, &block_values, err));
	BF_TRY(get_uvarint(d, &n_mini, err));
	BF_TRY(get_uvarint(d, &d->count, err));
	BF_TRY(get_uvarint(d, &first, err));
	BF_DATA(err,
			block_values > 0 && block_values <= BLOCK_VALUES_MAX && block_values % 128 == 0 &&
				n_mini > 0 && n_mini <= block_values && block_values % n_mini == 0 &&
				block_values / n_mini % 32 == 0,
			at, "delta blocks of %llu values in %llu miniblocks", (unsigned long long) block_values,
			(unsigned long long) n_mini);
	BF_DATA(err, d->count <= INT32_MAX, at, "a delta stream of %llu values",
			(unsigned long long) d->count);
	d->block_values = (uint32_t) block_values;
	d->n_mini = (uint32_t) n_mini;
	d->mini_values = (uint32_t) (block_values / n_mini);
	BF_ASSERT(d->mini_values * d->n_mini == d->block_values && d->mini_values % 32 == 0);
	d->mini = d->n_mini;
	d->last = (uint64_t) bf_unzigzag(first);
	d->left = d->count;
	return BF_OK;
}

BfStatus
bfi_delta_begin(BfiDelta *d, const void *data, size_t len, uint32_t bits, int32_t n, int64_t at,
				BfError *err)
{
	BF_ASSERT(n > 0);
	BF_TRY(bfi_delta_init(d, data, len, bits, at, err));
	BF_DATA(err, d->count == (uint64_t) n, at, "a delta stream of %llu values for %d",
			(unsigned long long) d->count, n);
	return BF_OK;
}

/* `left` values are wanted from the next block on: reads its min delta and widths. */
static BfStatus
next_block(BfiDelta *d, uint64_t left, BfError *err)
{
	uint64_t min_delta;
	uint32_t needed;
	size_t n = d->n_mini;

	BF_TRY(get_uvarint(d, &min_delta, err));
	d->min_delta = (uint64_t) bf_unzigzag(min_delta);
	needed = left >= d->block_values ? d->n_mini
									 : (uint32_t) ((left + d->mini_values - 1) / d->mini_values);
	BF_ASSERT(left > 0 && needed <= d->n_mini);
	if (n > (size_t) (d->end - d->pos))
		n = (size_t) (d->end - d->pos);
	BF_DATA(err, n >= needed, d->at, "the bit widths of a delta block are cut short");
	for (uint32_t i = 0; i < needed; i++)
		BF_DATA(err, d->pos[i] <= d->width_max, d->at, "a delta miniblock of %u-bit numbers",
				d->pos[i]);
	d->widths = d->pos;
	d->pos += n;
	d->mini = 0;
	return BF_OK;
}

static BfStatus
next_mini(BfiDelta *d, uint64_t left, BfError *err)
{
	size_t bytes;

	if (d->mini == d->n_mini)
		BF_TRY(next_block(d, left, err));
	d->width = d->widths[d->mini++];
	BF_ASSERT(d->width <= d->width_max);
	bytes = (size_t) d->mini_values / 8 * d->width;
	BF_DATA(err, bytes <= (size_t) (d->end - d->pos), d->at, "a delta miniblock is cut short");
	d->packed = d->pos;
	d->pos += bytes;
	d->bit = 0;
	d->mini_left = d->mini_values;
	return BF_OK;
}

BfStatus
bfi_delta_end(BfiDelta d, const uint8_t **end, BfError *err)
{
	uint64_t left = d.count > 0 ? d.count - 1 : 0;

	BF_ASSERT(d.left == d.count);
	while (left > 0)
	{
		BF_TRY(next_mini(&d, left, err));
		left -= left < d.mini_values ? left : d.mini_values;
	}
	*end = d.pos;
	return BF_OK;
}

/* Numbers that are unpacked at once. */
#define CHUNK 256

_Static_assert(CHUNK % 8 == 0, "groups of eight begin at a byte");

/* k values of the current miniblock; `v` runs through them. */
#define DECODE_RUN(out, type)                                                                     \
	do                                                                                            \
	{                                                                                             \
		uint64_t v = d->last;                                                                     \
		uint64_t min_delta = d->min_delta;                                                        \
		uint32_t width = d->width;                                                                \
		uint32_t packed[CHUNK];                                                                   \
                                                                                                  \
		if (width == 0)                                                                           \
			for (uint32_t i = 0; i < k; i++)                                                      \
				(out)[i] = (type) (v += min_delta);                                               \
		else if (width <= 32)                                                                     \
		{                                                                                         \
			k = k < CHUNK ? k : CHUNK;                                                            \
			bfi_unpack32(d->packed, d->bit, width, packed, k);                                    \
			for (uint32_t i = 0; i < k; i++)                                                      \
				(out)[i] = (type) (v += min_delta + packed[i]);                                   \
		}                                                                                         \
		else                                                                                      \
			for (uint32_t i = 0; i < k; i++)                                                      \
				(out)[i] =                                                                        \
					(type) (v += min_delta +                                                      \
								 bfi_load_bits(d->packed, d->bit + (uint64_t) i * width, width)); \
		d->last = v;                                                                              \
		d->bit += (uint64_t) k * width;                                                           \
	} while (0)

#define DECODE(out, type)                                                                      \
	do                                                                                         \
	{                                                                                          \
		BF_DATA(err, n <= d->left, d->at, "the delta stream has %llu values, more are needed", \
				(unsigned long long) d->count);                                                \
		if (n > 0 && !d->first_done)                                                           \
		{                                                                                      \
			d->first_done = true;                                                              \
			*(out)++ = (type) d->last;                                                         \
			d->left--;                                                                         \
			n--;                                                                               \
		}                                                                                      \
		while (n > 0)                                                                          \
		{                                                                                      \
			uint32_t k;                                                                        \
                                                                                               \
			if (d->mini_left == 0)                                                             \
				BF_TRY(next_mini(d, d->left, err));                                            \
			k = d->mini_left < n ? d->mini_left : n;                                           \
			DECODE_RUN(out, type);                                                             \
			d->mini_left -= k;                                                                 \
			d->left -= k;                                                                      \
			(out) += k;                                                                        \
			n -= k;                                                                            \
		}                                                                                      \
		return BF_OK;                                                                          \
	} while (0)

BfStatus
bfi_delta_i64(BfiDelta *d, int64_t *out, uint32_t n, BfError *err)
{
	DECODE(out, int64_t);
}

BfStatus
bfi_delta_i32(BfiDelta *d, int32_t *out, uint32_t n, BfError *err)
{
	DECODE(out, int32_t);
}

/* ---- writing ---- */

#define OUT_BLOCK 128
#define OUT_MINI 32

/* Differences of k numbers, the first to `last`, sign-extended: those of 32 bits wrap at 32.
 * Returns the smallest. */
static int64_t
differences(const void *values, uint32_t size, uint32_t from, uint32_t k, uint64_t *out)
{
	const uint32_t *narrow = (const uint32_t *) values + from;
	const uint64_t *wide = (const uint64_t *) values + from;
	int64_t min = INT64_MAX;

	for (uint32_t i = 0; i < k; i++)
	{
		int64_t d = size == 4 ? (int64_t) (int32_t) (narrow[i] - narrow[(int64_t) i - 1])
							  : (int64_t) (wide[i] - wide[(int64_t) i - 1]);

		out[i] = (uint64_t) d;
		min = d < min ? d : min;
	}
	return min;
}

/* A miniblock of k numbers above the smallest difference; those that it lacks are 0. */
static BfStatus
put_mini(const uint64_t *above, uint32_t k, uint32_t width, BfBuffer *out, BfError *err)
{
	uint8_t packed[OUT_MINI * 8 + 9] = {0};

	for (uint32_t i = 0; i < k; i++)
		bfi_pack_bits_at(packed, (uint64_t) i * width, width, above[i]);
	return bf_buffer_append(out, packed, (size_t) OUT_MINI / 8 * width, err);
}

static BfStatus
put_block(const void *values, uint32_t size, uint32_t from, uint32_t k, BfBuffer *out, BfError *err)
{
	uint64_t above[OUT_BLOCK] = {0};
	uint8_t widths[OUT_BLOCK / OUT_MINI] = {0};
	int64_t min = differences(values, size, from, k, above);

	for (uint32_t i = 0; i < k; i++)
	{
		uint8_t width;

		above[i] -= (uint64_t) min;
		width = above[i] == 0 ? 0 : (uint8_t) (64 - __builtin_clzll(above[i]));
		if (width > widths[i / OUT_MINI])
			widths[i / OUT_MINI] = width;
	}
	BF_TRY(bf_buffer_varint(out, min, err));
	BF_TRY(bf_buffer_append(out, widths, sizeof widths, err));
	for (uint32_t i = 0; i < k; i += OUT_MINI)
	{
		BF_ASSERT(widths[i / OUT_MINI] <= size * 8);
		BF_TRY(put_mini(above + i, k - i < OUT_MINI ? k - i : OUT_MINI, widths[i / OUT_MINI], out,
						err));
	}
	return BF_OK;
}

static BfStatus
put_stream(const void *values, uint32_t size, uint32_t n, BfBuffer *out, BfError *err)
{
	int64_t first = size == 4 ? *(const int32_t *) values : *(const int64_t *) values;

	BF_TRY(bf_buffer_uvarint(out, OUT_BLOCK, err));
	BF_TRY(bf_buffer_uvarint(out, OUT_BLOCK / OUT_MINI, err));
	BF_TRY(bf_buffer_uvarint(out, n, err));
	BF_TRY(bf_buffer_varint(out, first, err));
	for (uint32_t i = 1; i < n; i += OUT_BLOCK)
		BF_TRY(put_block(values, size, i, n - i < OUT_BLOCK ? n - i : OUT_BLOCK, out, err));
	return BF_OK;
}

BfStatus
bfi_delta_encode(const void *values, uint32_t size, uint32_t n, BfBuffer *out, BfError *err)
{
	size_t before = out->len;
	BfStatus status;

	BF_ASSERT(n > 0 && n <= INT32_MAX && (size == 4 || size == 8));
	status = put_stream(values, size, n, out, err);
	if (status != BF_OK)
		out->len = before;
	return status;
}

/* ---- as an encoding of values ---- */

static BfStatus
begin(BfiValues *v, const uint8_t *p, size_t len, BfError *err)
{
	BF_ASSERT(v->width == 4 || v->width == 8);
	return bfi_delta_begin(v->state, p, len, v->width * 8, v->n, v->at, err);
}

static BfStatus
decode(BfiValues *v, int32_t n, void *out, BfError *err)
{
	if (v->width == 4)
		return bfi_delta_i32(v->state, out, (uint32_t) n, err);
	return bfi_delta_i64(v->state, out, (uint32_t) n, err);
}

static BfStatus
encode(const BfiNative *in, BfBuffer *out, BfError *err)
{
	return bfi_delta_encode(in->values, in->width, (uint32_t) in->n, out, err);
}

const BfiMethods bfi_encoding_delta_binary_packed = {
	.state_bytes = sizeof(BfiDelta),
	.begin = begin,
	.decode = decode,
	.encode = encode,
};
