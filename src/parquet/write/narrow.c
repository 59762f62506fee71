/* Storage values as the values of the physical type, the reverse of parquet/convert.c. */
#include "parquet/write/internal.h"

static BfStatus
out_of_range(const BfiLeafOut *leaf, int64_t v, BfError *err)
{
	char name[64];

	bf_type_name(leaf->field->type, name, sizeof name);
	return bf_error(err, BF_ERR_VALUE, "value %lld does not fit type %s", (long long) v, name);
}

static BfStatus
check_range(const BfiLeafOut *leaf, const int32_t *in, int32_t n, BfError *err)
{
	bool outside = false;

	BF_ASSERT(leaf->lo < leaf->hi);
	for (int32_t i = 0; i < n; i++)
		outside |= in[i] < leaf->lo || in[i] > leaf->hi;
	for (int32_t i = 0; outside && i < n; i++)
		if (in[i] < leaf->lo || in[i] > leaf->hi)
			return out_of_range(leaf, in[i], err);
	return BF_OK;
}

static BfStatus
to_i32(const BfiLeafOut *leaf, const int64_t *in, int32_t n, int32_t *out, BfError *err)
{
	bool outside = false;

	for (int32_t i = 0; i < n; i++)
	{
		outside |= in[i] < leaf->lo || in[i] > leaf->hi;
		out[i] = (int32_t) (uint32_t) (uint64_t) in[i];
	}
	for (int32_t i = 0; outside && i < n; i++)
		if (in[i] < leaf->lo || in[i] > leaf->hi)
			return out_of_range(leaf, in[i], err);
	return BF_OK;
}

/* Exponents from -14 to 15, below that multiples of 2^-24. */
bool
bfi_half(float v, uint16_t *out)
{
	uint32_t bits;
	uint16_t sign;
	uint32_t magnitude;

	memcpy(&bits, &v, sizeof bits);
	sign = (uint16_t) (bits >> 16 & 0x8000);
	magnitude = bits & 0x7fffffff;
	if (magnitude >= 0x7f800000)
	{
		/* What a NaN holds is cut, but stays a NaN. */
		uint32_t fraction = magnitude >> 13 & 0x3ff;

		if (magnitude > 0x7f800000 && fraction == 0)
			fraction = 1;
		*out = (uint16_t) (sign | 0x7c00 | fraction);
		return magnitude == 0x7f800000 || (magnitude & 0x1fff) == 0;
	}
	if (magnitude >= (uint32_t) (127 - 14) << 23)
	{
		*out = (uint16_t) (sign | (magnitude - ((uint32_t) (127 - 15) << 23)) >> 13);
		return (magnitude & 0x1fff) == 0 && magnitude < (uint32_t) (127 + 16) << 23;
	}
	v = (v < 0 ? -v : v) * 0x1p24F;
	*out = (uint16_t) (sign | (uint16_t) v);
	return v == (float) (uint16_t) v;
}

static BfStatus
to_halves(const float *in, int32_t n, BfView *out, uint8_t *bytes, BfError *err)
{
	for (int32_t i = 0; i < n; i++, bytes += 2)
	{
		uint16_t half;

		if (!bfi_half(in[i], &half))
			return bf_error(err, BF_ERR_VALUE, "value %g does not fit type float16",
							(double) in[i]);
		memcpy(bytes, &half, 2);
		out[i] = (BfView){bytes, 2};
	}
	return BF_OK;
}

/* false: more bytes are needed. */
bool
bfi_i128_bytes(bf_i128 v, uint8_t *out, uint32_t width)
{
	BF_ASSERT(width > 0 && width <= 16);
	for (uint32_t k = width; k-- > 0; v >>= 8)
		out[k] = (uint8_t) v;
	return v == ((out[0] & 0x80) != 0 ? -1 : 0);
}

static BfStatus
to_bytes(const BfiLeafOut *leaf, const bf_i128 *in, int32_t n, BfView *out, uint8_t *bytes,
		 BfError *err)
{
	for (int32_t i = 0; i < n; i++, bytes += leaf->width)
	{
		if (!bfi_i128_bytes(in[i], bytes, leaf->width))
			return bf_error(err, BF_ERR_VALUE, "a decimal exceeds its precision of %d digits",
							leaf->field->type.precision);
		out[i] = (BfView){bytes, leaf->width};
	}
	return BF_OK;
}

/* Decimals of any length with the sign in front, or without what repeats it. */
static BfStatus
widen(const BfiLeafOut *leaf, const BfView *in, int32_t n, BfView *out, BfArena *a, BfError *err)
{
	uint8_t *bytes;

	BF_NEW_RAW(a, bytes, (size_t) n * leaf->width, err);
	for (int32_t i = 0; i < n; i++, bytes += leaf->width)
	{
		BfView v = in[i];
		uint8_t sign = v.len > 0 && (v.ptr[0] & 0x80) != 0 ? 0xff : 0;

		while (v.len > leaf->width && v.ptr[0] == sign)
			v = (BfView){v.ptr + 1, v.len - 1};
		if (v.len == 0 || v.len > leaf->width || ((v.ptr[0] ^ sign) & 0x80) != 0)
			return bf_error(err, BF_ERR_VALUE, "a decimal of %u bytes in a column of %u", in[i].len,
							leaf->width);
		BF_ASSERT(v.len <= leaf->width);
		memset(bytes, sign, leaf->width - v.len);
		memcpy(bytes + leaf->width - v.len, v.ptr, v.len);
		out[i] = (BfView){bytes, leaf->width};
	}
	return BF_OK;
}

static BfStatus
check_lengths(const BfiLeafOut *leaf, const BfView *in, int32_t n, BfError *err)
{
	for (int32_t i = 0; i < n; i++)
		if (in[i].len != leaf->width)
			return bf_error(err, BF_ERR_VALUE, "a value of %u bytes in a column of %u", in[i].len,
							leaf->width);
	return BF_OK;
}

BfStatus
bfi_write_narrow(BfiScratch *s, const BfiLeafOut *leaf, const void *values, int32_t n,
				 const void **out, BfError *err)
{
	BF_ASSERT(n >= 0 && n <= BFI_PIECE_ROWS);
	*out = values;
	switch (leaf->narrow)
	{
		case BFI_NARROW_NONE: return BF_OK;
		case BFI_NARROW_RANGE: return check_range(leaf, values, n, err);
		case BFI_NARROW_FIXED: return check_lengths(leaf, values, n, err);
		default: break;
	}
	*out = s->native;
	switch (leaf->narrow)
	{
		case BFI_NARROW_I64_I32: return to_i32(leaf, values, n, s->native, err);
		case BFI_NARROW_F32_F16: return to_halves(values, n, s->native, s->bytes, err);
		case BFI_NARROW_I128_FLBA: return to_bytes(leaf, values, n, s->native, s->bytes, err);
		default:
			BF_ASSERT(leaf->narrow == BFI_NARROW_WIDEN);
			bf_arena_reset(s->arena);
			return widen(leaf, values, n, s->native, s->arena, err);
	}
}
