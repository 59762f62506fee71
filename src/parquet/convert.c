/*
 * Physical values to storage, a batch at a time, and dense values to rows with NULLs between.
 */
#include "parquet/internal.h"

static BfStatus
check_range(const BfiLeaf *leaf, const int32_t *in, int32_t n, int64_t at, BfError *err)
{
	int32_t lo = leaf->lo;
	int32_t hi = leaf->hi;

	BF_ASSERT(leaf->lo <= leaf->hi);
	for (int32_t i = 0; i < n; i++)
	{
		lo = in[i] < lo ? in[i] : lo;
		hi = in[i] > hi ? in[i] : hi;
	}
	if (lo < leaf->lo || hi > leaf->hi)
		BF_FAIL_AT(err, BF_ERR_VALUE, at, "value %d is outside of its type's range %d to %d",
				   lo < leaf->lo ? lo : hi, leaf->lo, leaf->hi);
	return BF_OK;
}

static BfStatus
millis_to_micros(const int64_t *in, int32_t n, int64_t *out, int64_t at, BfError *err)
{
	bool overflow = false;

	for (int32_t i = 0; i < n; i++)
		overflow |= __builtin_mul_overflow(in[i], 1000, &out[i]);
	if (overflow)
		BF_FAIL_AT(err, BF_ERR_VALUE, at, "a timestamp in milliseconds is out of range");
	return BF_OK;
}

static BfStatus
decimals_to_i64(const BfView *in, int32_t n, int64_t *out, int64_t at, BfError *err)
{
	for (int32_t i = 0; i < n; i++)
	{
		BfView b = in[i];
		bf_i128 wide;

		if (BF_LIKELY(b.len >= 1 && b.len <= 8))
		{
			uint64_t v = b.ptr[0] & 0x80 ? UINT64_MAX : 0;

			for (uint32_t k = 0; k < b.len; k++)
				v = v << 8 | b.ptr[k];
			out[i] = (int64_t) v;
			continue;
		}
		BF_DATA(err, b.len > 0, at, "a decimal of no bytes");
		if (!bf_view_i128(b, &wide) || wide < INT64_MIN || wide > INT64_MAX)
			BF_FAIL_AT(err, BF_ERR_VALUE, at, "a decimal of %u bytes exceeds its precision", b.len);
		out[i] = (int64_t) wide;
	}
	return BF_OK;
}

static BfStatus
decimals_to_i128(const BfView *in, int32_t n, bf_i128 *out, int64_t at, BfError *err)
{
	for (int32_t i = 0; i < n; i++)
	{
		BF_DATA(err, in[i].len > 0, at, "a decimal of no bytes");
		if (!bf_view_i128(in[i], &out[i]))
			BF_FAIL_AT(err, BF_ERR_VALUE, at, "a decimal of %u bytes exceeds its precision",
					   in[i].len);
	}
	return BF_OK;
}

static float
half_to_float(uint16_t h)
{
	uint32_t sign = (uint32_t) (h & 0x8000) << 16;
	uint32_t exponent = h >> 10 & 0x1f;
	uint32_t fraction = h & 0x3ff;
	uint32_t bits;
	float f;

	if (exponent == 0x1f)
		bits = sign | 0x7f800000 | fraction << 13;
	else if (exponent != 0)
		bits = sign | (exponent + 112) << 23 | fraction << 13;
	else
	{
		/* Subnormal: fraction * 2^-24, exact in a float. */
		f = (float) fraction * 0x1p-24f;
		memcpy(&bits, &f, sizeof bits);
		bits |= sign;
	}
	memcpy(&f, &bits, sizeof f);
	return f;
}

BfStatus
bfi_convert(const BfiLeaf *leaf, const void *in, int32_t n, void *out, int64_t at, BfError *err)
{
	const int32_t *i32 = in;
	const int64_t *i64 = in;
	const BfView *view = in;

	BF_ASSERT(n >= 0 && n <= BF_BATCH_ROWS);
	switch (leaf->convert)
	{
		case BFI_CONVERT_NONE: BF_NEVER(err, true); break;
		case BFI_CONVERT_RANGE_I32:
			memcpy(out, in, (size_t) n * sizeof *i32);
			return check_range(leaf, i32, n, at, err);
		case BFI_CONVERT_U32_I64:
			for (int32_t i = 0; i < n; i++)
				((int64_t *) out)[i] = (uint32_t) i32[i];
			break;
		case BFI_CONVERT_I32_I64:
			for (int32_t i = 0; i < n; i++)
				((int64_t *) out)[i] = i32[i];
			break;
		case BFI_CONVERT_I32_I64_1000:
			for (int32_t i = 0; i < n; i++)
				((int64_t *) out)[i] = (int64_t) i32[i] * 1000;
			break;
		case BFI_CONVERT_I64_1000: return millis_to_micros(i64, n, out, at, err);
		case BFI_CONVERT_I32_I128:
			for (int32_t i = 0; i < n; i++)
				((bf_i128 *) out)[i] = i32[i];
			break;
		case BFI_CONVERT_I64_I128:
			for (int32_t i = 0; i < n; i++)
				((bf_i128 *) out)[i] = i64[i];
			break;
		case BFI_CONVERT_BYTES_I64: return decimals_to_i64(view, n, out, at, err);
		case BFI_CONVERT_BYTES_I128: return decimals_to_i128(view, n, out, at, err);
		case BFI_CONVERT_F16_F32:
			for (int32_t i = 0; i < n; i++)
				((float *) out)[i] = half_to_float(bf_load16le(view[i].ptr));
			break;
	}
	return BF_OK;
}

/* One row: no branch on the bit; src moves only past values that were taken. */
#define SPREAD_ROW(type, j)                                \
	do                                                     \
	{                                                      \
		dst[i + (j)] = *from & (type) - (type) (bits & 1); \
		from += bits & 1;                                  \
		bits >>= 1;                                        \
	} while (0)

/* Per word of validity: all, none, or mixed. */
#define SPREAD(type)                                                                             \
	do                                                                                           \
	{                                                                                            \
		const type *src = dense;                                                                 \
		type *dst = out;                                                                         \
                                                                                                 \
		for (int32_t i = 0; i < n;)                                                              \
		{                                                                                        \
			int32_t k = n - i < 64 ? n - i : 64;                                                 \
			uint64_t bits =                                                                      \
				bfi_load_bits((const uint8_t *) validity, (uint64_t) (start + i), (uint32_t) k); \
			int32_t ones = __builtin_popcountll(bits);                                           \
			const type *from = src;                                                              \
			int32_t j = 0;                                                                       \
                                                                                                 \
			if (ones == k)                                                                       \
				memcpy(dst + i, src, (size_t) k * sizeof *dst);                                  \
			else if (ones == 0)                                                                  \
				memset(dst + i, 0, (size_t) k * sizeof *dst);                                    \
			else                                                                                 \
			{                                                                                    \
				for (; j + 4 <= k; j += 4)                                                       \
				{                                                                                \
					SPREAD_ROW(type, j);                                                         \
					SPREAD_ROW(type, j + 1);                                                     \
					SPREAD_ROW(type, j + 2);                                                     \
					SPREAD_ROW(type, j + 3);                                                     \
				}                                                                                \
				for (; j < k; j++)                                                               \
					SPREAD_ROW(type, j);                                                         \
			}                                                                                    \
			src += ones;                                                                         \
			i += k;                                                                              \
		}                                                                                        \
	} while (0)

void
bfi_spread(const uint64_t *validity, int32_t start, int32_t n, const void *dense, void *out,
		   size_t size)
{
	BF_ASSERT(start >= 0 && n >= 0 && dense != out);
	switch (size)
	{
		case 1: SPREAD(uint8_t); break;
		case 4: SPREAD(uint32_t); break;
		case 8: SPREAD(uint64_t); break;
		default:
			BF_ASSERT(size == 16);
			SPREAD(bf_u128);
			break;
	}
}
