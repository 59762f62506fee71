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

/* Numbers of `size` bytes, each `stride` bytes behind the one before. */
typedef struct Numbers
{
	const uint8_t *at;
	uint32_t size;
	size_t stride;
} Numbers;

static inline uint64_t
number(const Numbers *in, uint32_t i)
{
	const uint8_t *p = in->at + i * in->stride;

	return in->size == 4 ? bf_load32le(p) : bf_load64le(p);
}

/* Differences of k numbers from `from` on, the first to the one before, sign-extended: those of 32
 * bits wrap at 32. Returns the smallest. */
static int64_t
differences(const Numbers *in, uint32_t from, uint32_t k, uint64_t *out)
{
	uint64_t last = number(in, from - 1);
	int64_t min = INT64_MAX;

	if (in->size == 4)
		for (uint32_t i = 0; i < k; i++)
		{
			uint32_t v = bf_load32le(in->at + (from + i) * in->stride);
			int64_t d = (int32_t) (v - (uint32_t) last);

			last = v;
			out[i] = (uint64_t) d;
			min = d < min ? d : min;
		}
	else
		for (uint32_t i = 0; i < k; i++)
		{
			uint64_t v = bf_load64le(in->at + (from + i) * in->stride);
			int64_t d = (int64_t) (v - last);

			last = v;
			out[i] = (uint64_t) d;
			min = d < min ? d : min;
		}
	return min;
}

/* A miniblock of numbers above the smallest difference. */
static void
pack_mini(const uint64_t *above, uint32_t width, uint8_t *out)
{
	uint32_t narrow[OUT_MINI];

	BF_ASSERT(width <= 64);
	if (width > 32)
	{
		memset(out, 0, (size_t) OUT_MINI / 8 * width);
		for (uint32_t i = 0; i < OUT_MINI; i++)
			bfi_pack_bits_at(out, (uint64_t) i * width, width, above[i]);
		return;
	}
	for (uint32_t i = 0; i < OUT_MINI; i++)
		narrow[i] = (uint32_t) above[i];
	bfi_pack32(narrow, OUT_MINI, width, out);
}

static BfStatus
put_block(const Numbers *in, uint32_t from, uint32_t k, BfBuffer *out, BfError *err)
{
	uint64_t above[OUT_BLOCK];
	/* The last number may be put in with 9 bytes. */
	uint8_t block[10 + OUT_BLOCK / OUT_MINI + OUT_BLOCK * 8 + 9];
	int64_t min = differences(in, from, k, above);
	size_t n = bf_put_uvarint(block, bf_zigzag(min));
	uint8_t *widths = block + n;

	n += OUT_BLOCK / OUT_MINI;
	for (uint32_t i = k; i < OUT_BLOCK; i++)
		above[i] = (uint64_t) min; /* to become 0 */
	for (uint32_t m = 0; m < OUT_BLOCK / OUT_MINI; m++)
	{
		uint64_t *mini = above + (size_t) m * OUT_MINI;
		uint64_t any = 0;

		for (uint32_t i = 0; i < OUT_MINI; i++)
		{
			mini[i] -= (uint64_t) min;
			any |= mini[i];
		}
		widths[m] = any == 0 ? 0 : (uint8_t) (64 - __builtin_clzll(any));
		BF_ASSERT(widths[m] <= in->size * 8);
		if (m * OUT_MINI >= k)
			continue; /* a width without a body */
		pack_mini(mini, widths[m], block + n);
		n += (size_t) OUT_MINI / 8 * widths[m];
	}
	return bf_buffer_append(out, block, n, err);
}

static BfStatus
put_stream(const Numbers *in, uint32_t n, BfBuffer *out, BfError *err)
{
	int64_t first = in->size == 4 ? (int32_t) number(in, 0) : (int64_t) number(in, 0);

	BF_TRY(bf_buffer_uvarint(out, OUT_BLOCK, err));
	BF_TRY(bf_buffer_uvarint(out, OUT_BLOCK / OUT_MINI, err));
	BF_TRY(bf_buffer_uvarint(out, n, err));
	BF_TRY(bf_buffer_varint(out, first, err));
	for (uint32_t i = 1; i < n; i += OUT_BLOCK)
		BF_TRY(put_block(in, i, n - i < OUT_BLOCK ? n - i : OUT_BLOCK, out, err));
	return BF_OK;
}

BfStatus
bfi_delta_encode(const void *values, uint32_t size, size_t stride, uint32_t n, BfBuffer *out,
				 BfError *err)
{
	Numbers in = {values, size, stride};
	size_t before = out->len;
	BfStatus status;

	BF_ASSERT(n > 0 && n <= INT32_MAX && (size == 4 || size == 8) && stride >= size);
	status = put_stream(&in, n, out, err);
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
encode(const BfiNative *in, BfBuffer *out, BfSeams *seams, BfError *err)
{
	(void) seams;
	return bfi_delta_encode(in->values, in->width, in->width, (uint32_t) in->n, out, err);
}

const BfiMethods bfi_encoding_delta_binary_packed = {
	.state_bytes = sizeof(BfiDelta),
	.begin = begin,
	.decode = decode,
	.encode = encode,
};
