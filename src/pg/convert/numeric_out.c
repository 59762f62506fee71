/*
 * pg/convert/numeric_out.c: numeric Datums made by hand; see numeric_out.h.
 */
#include "pg/convert/numeric_out.h"

#include "pg/server/version.h"
#include "vec/powers.h"

#define BASE 10000
#define SHORT_DSCALE_MAX 63
#define SHORT_WEIGHT_MIN (-64)
#define SHORT_WEIGHT_MAX 63

/* Digits [0, n) with the first of weight `weight`, none stripped yet. */
static size_t
numeric_store(void *to, bool negative, int weight, const int16 *digits, int n, int dscale)
{
	char *out = (char *) to + sizeof(uint32);
	size_t size;

	while (n > 0 && digits[0] == 0)
	{
		digits++;
		n--;
		weight--;
	}
	while (n > 0 && digits[n - 1] == 0)
		n--;
	if (n == 0)
	{
		negative = false;
		weight = 0;
	}
	if (dscale <= SHORT_DSCALE_MAX && weight >= SHORT_WEIGHT_MIN && weight <= SHORT_WEIGHT_MAX)
	{
		uint16 header =
			(uint16) (0x8000 | (negative ? 0x2000 : 0) | (dscale << 7) | (weight & 0x7f));

		memcpy(out, &header, sizeof header);
		out += sizeof header;
	}
	else
	{
		uint16 header = (uint16) ((negative ? 0x4000 : 0) | dscale);
		int16 w = (int16) weight;

		memcpy(out, &header, sizeof header);
		memcpy(out + sizeof header, &w, sizeof w);
		out += sizeof header + sizeof w;
	}
	Assert(n == 0 || (digits[0] > 0 && digits[n - 1] > 0));
	memcpy(out, digits, (size_t) n * sizeof *digits);
	size = (size_t) (out - (char *) to) + (size_t) n * sizeof *digits;
	SET_VARSIZE(to, size);
	return size;
}

static inline uint64
power(int exponent)
{
	Assert(exponent >= 0 && exponent <= BF_POWER_OF_TEN_MAX);
	return (uint64) bf_powers_of_ten[exponent];
}

/* Two digits before the point and one behind, as in most prices: put together in a register. */
static inline __attribute__((always_inline)) size_t
numeric_three(void *to, bool negative, uint32 whole, uint32 frac, int dscale)
{
	uint32 high = whole / BASE;
	uint32 low = whole % BASE;
	uint64 digits = (uint64) high | (uint64) low << 16 | (uint64) frac << 32;
	int n = 3;
	int weight = 1;
	uint16 header;
	size_t size;

	if (high == 0)
	{
		digits >>= 16;
		n--;
		weight--;
		if (low == 0)
		{
			digits >>= 16;
			n--;
			weight--;
		}
	}
	if (frac == 0)
	{
		n--;
		if (low == 0 && n > 0)
			n--;
	}
	if (whole == 0 && frac == 0)
	{
		n = 0;
		weight = 0;
		negative = false;
	}
	Assert(n >= 0 && n <= 3 && frac < BASE && dscale <= 4);
	header = (uint16) (0x8000 | (negative ? 0x2000 : 0) | (dscale << 7) | (weight & 0x7f));
	size = sizeof(uint32) + sizeof header + (size_t) n * sizeof(int16);
	SET_VARSIZE(to, size);
	memcpy((char *) to + sizeof(uint32), &header, sizeof header);
	memcpy((char *) to + sizeof(uint32) + sizeof header, &digits, sizeof digits);
	return size;
}

/* Integer and fractional part apart: each then fits 64 bits when padded to whole base-10000 digits.
 * Inlined with a constant scale where that turns the division into a multiplication. */
static inline __attribute__((always_inline)) size_t
numeric_small(void *to, int64 unscaled, int scale)
{
	bool negative = unscaled < 0;
	uint64 u = negative ? 0 - (uint64) unscaled : (uint64) unscaled;
	uint64 whole = u / power(scale);
	uint64 frac = u % power(scale);
	int n_frac = (scale + 3) / 4;
	int16 digits[5 + 4];
	int n = 5;
	int first = 5;

	frac *= power(n_frac * 4 - scale);
	if (scale <= 4 && likely(whole < (uint64) BASE * BASE))
		return numeric_three(to, negative, (uint32) whole, (uint32) frac, scale);
	for (int i = n_frac; i > 0; i--)
	{
		digits[5 + i - 1] = (int16) (frac % BASE);
		frac /= BASE;
	}
	n += n_frac;
	while (whole > 0)
	{
		Assert(first > 0);
		digits[--first] = (int16) (whole % BASE);
		whole /= BASE;
	}
	return numeric_store(to, negative, 4 - first, digits + first, n - first, scale);
}

size_t
bifang_numeric_i64(void *to, int64 unscaled, int scale)
{
	switch (scale)
	{
		case 0: return numeric_small(to, unscaled, 0);
		case 2: return numeric_small(to, unscaled, 2);
		case 4: return numeric_small(to, unscaled, 4);
		default:
			if (scale <= 16)
				return numeric_small(to, unscaled, scale);
			return bifang_numeric_i128(to, unscaled, scale);
	}
}

/* Divides by 10^16 first: three 64-bit pieces, each with its own base-10000 digits. */
static int
digits_of_u128(bf_u128 u, int16 *digits)
{
	int at = 40 / 4 + 1;

	while (u > UINT64_MAX)
	{
		uint64 low = (uint64) (u % power(16));

		u /= power(16);
		for (int i = 0; i < 4; i++)
		{
			digits[--at] = (int16) (low % BASE);
			low /= BASE;
		}
	}
	for (uint64 rest = (uint64) u; rest > 0; rest /= BASE)
		digits[--at] = (int16) (rest % BASE);
	return at;
}

/* 10^(4n - scale) for the last digit's padding is at most 1000; up to 38 digits times 1000 would
 * pass 128 bits, so the padding multiplies the fractional part only. */
size_t
bifang_numeric_i128(void *to, bf_i128 unscaled, int scale)
{
	bool negative = unscaled < 0;
	bf_u128 u = negative ? 0 - (bf_u128) unscaled : (bf_u128) unscaled;
	bf_u128 unit = 1;
	int n_frac = (scale + 3) / 4;
	int16 whole[11];
	int16 frac[11] = {0};
	int16 digits[24];
	int at;
	int n;

	Assert(scale >= 0 && scale <= 38);
	for (int s = scale; s > 0; s -= 16)
		unit *= power(Min(s, 16));
	at = digits_of_u128(u / unit, whole);
	n = 11 - at;
	memcpy(digits, whole + at, (size_t) n * sizeof *digits);
	if (n_frac > 0)
	{
		bf_u128 rest = u % unit;
		int pad = n_frac * 4 - scale;
		int last_digits = 4 - pad; /* decimal digits in the last base-10000 digit */

		frac[n_frac - 1] = (int16) ((uint64) (rest % power(last_digits)) * power(pad));
		rest /= power(last_digits);
		for (int i = n_frac - 2; i >= 0; i--)
		{
			frac[i] = (int16) (rest % BASE);
			rest /= BASE;
		}
		memcpy(digits + n, frac, (size_t) n_frac * sizeof *digits);
	}
	return numeric_store(to, negative, n - 1, digits, n + n_frac, scale);
}

/* digits = digits * 256 + byte, least significant digit first. */
static int
digits_push_byte(uint16 *digits, int n, uint32 byte)
{
	uint32 carry = byte;

	for (int i = 0; i < n; i++)
	{
		carry += (uint32) digits[i] * 256;
		digits[i] = (uint16) (carry % BASE);
		carry /= BASE;
	}
	if (carry > 0)
		digits[n++] = (uint16) carry;
	return n;
}

Datum
bifang_numeric_bytes(const uint8 *bytes, uint32 n, int scale)
{
	bool negative = n > 0 && (bytes[0] & 0x80) != 0;
	int pad = (4 - scale % 4) % 4; /* decimal zeros behind the last digit */
	int n_frac = (scale + 3) / 4;
	int room = (int) n + 8 + n_frac; /* a byte is less than one base-10000 digit */
	uint16 *low = palloc0((size_t) room * sizeof *low);
	int16 *digits = palloc0((size_t) room * 2 * sizeof *digits);
	uint32 carry = 0;
	int used = 0;
	void *result;
	int total;

	/* The magnitude of a negative number is its complement plus one. */
	for (uint32 i = 0; i < n; i++)
		used = digits_push_byte(low, used, negative ? (uint8) ~bytes[i] : bytes[i]);
	carry = negative ? 1 : 0;
	for (int i = 0; carry > 0; i++)
	{
		carry += low[i];
		low[i] = (uint16) (carry % BASE);
		carry /= BASE;
		used = Max(used, i + 1);
	}
	for (int p = 0; p < pad; p++) /* times ten, so that the point falls between digits */
	{
		carry = 0;
		for (int i = 0; i < used; i++)
		{
			carry += (uint32) low[i] * 10;
			low[i] = (uint16) (carry % BASE);
			carry /= BASE;
		}
		if (carry > 0)
			low[used++] = (uint16) carry;
	}
	total = Max(used, n_frac);
	for (int i = 0; i < total; i++)
		digits[i] = i < total - used ? 0 : (int16) low[total - 1 - i];
	result = palloc((size_t) total * sizeof *digits + 16);
	numeric_store(result, negative, total - n_frac - 1, digits, total, scale);
	pfree(low);
	pfree(digits);
	return PointerGetDatum(result);
}
