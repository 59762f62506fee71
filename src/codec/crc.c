/*
 * CRC-32C and CRC-32.
 *
 * CRC-32C is on the path of every log batch, so it has two implementations: tables, eight bytes a
 * step, and the SSE4.2 instruction. That instruction takes three cycles and can start every cycle,
 * so long runs are cut into three lanes that are computed side by side and then joined:
 *
 *     crc(A B C) = shift(shift(crc(A), |B|) ^ crc(B), |C|) ^ crc(C)
 *
 * where shift(x, n) is what n zero bytes make of the register x. It is linear in x, so four tables
 * of 256 words (one for each byte of x) apply it for one fixed n.
 */
#include "codec/codec.h"

#include "codec/internal.h"

#define POLYNOMIAL UINT32_C(0x82f63b78) /* reflected */
#define LANE_LONG 4096
#define LANE_SHORT 256

_Static_assert(LANE_LONG % 8 == 0 && LANE_SHORT % 8 == 0, "a lane is read in words of 8 bytes");

static uint32_t slice[8][256];
static uint32_t shift_long[4][256];
static uint32_t shift_short[4][256];

/* The register after n zero bytes. */
static uint32_t
feed_zeros(uint32_t x, size_t n)
{
	while (n-- > 0)
		x = slice[0][x & 0xff] ^ (x >> 8);
	return x;
}

static void
make_shift(uint32_t table[4][256], size_t n)
{
	for (uint32_t byte = 0; byte < 4; byte++)
	{
		table[byte][0] = 0;
		/* Single bits by feeding, the rest by linearity. */
		for (uint32_t bit = 1; bit < 256; bit *= 2)
		{
			table[byte][bit] = feed_zeros(bit << (8 * byte), n);
			for (uint32_t rest = 1; rest < bit; rest++)
				table[byte][bit + rest] = table[byte][bit] ^ table[byte][rest];
		}
	}
}

/* At load time, before there can be a second thread. */
__attribute__((constructor)) static void
make_tables(void)
{
	for (uint32_t i = 0; i < 256; i++)
	{
		uint32_t x = i;

		for (int bit = 0; bit < 8; bit++)
			x = (x >> 1) ^ (POLYNOMIAL & (0 - (x & 1)));
		slice[0][i] = x;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int k = 1; k < 8; k++)
			slice[k][i] = slice[0][slice[k - 1][i] & 0xff] ^ (slice[k - 1][i] >> 8);
	make_shift(shift_long, LANE_LONG);
	make_shift(shift_short, LANE_SHORT);
	BF_ASSERT(slice[0][128] == POLYNOMIAL);
}

uint32_t
bfi_crc32c_scalar(uint32_t state, const uint8_t *p, size_t n)
{
	for (; n >= 8; n -= 8, p += 8)
	{
		uint64_t x = bf_load64le(p) ^ state;

		state = slice[7][x & 0xff] ^ slice[6][(x >> 8) & 0xff] ^ slice[5][(x >> 16) & 0xff] ^
				slice[4][(x >> 24) & 0xff] ^ slice[3][(x >> 32) & 0xff] ^
				slice[2][(x >> 40) & 0xff] ^ slice[1][(x >> 48) & 0xff] ^ slice[0][x >> 56];
	}
	for (; n > 0; n--)
		state = slice[0][(state ^ *p++) & 0xff] ^ (state >> 8);
	return state;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

static inline uint32_t
shifted(uint32_t table[4][256], uint32_t x)
{
	return table[0][x & 0xff] ^ table[1][(x >> 8) & 0xff] ^ table[2][(x >> 16) & 0xff] ^
		   table[3][x >> 24];
}

/* As long as three whole lanes are left. */
__attribute__((target("sse4.2"))) static inline uint32_t
three_lanes(uint32_t state, const uint8_t **p, size_t *n, size_t lane, uint32_t shift[4][256])
{
	BF_ASSERT(lane == LANE_LONG || lane == LANE_SHORT);
	while (*n >= 3 * lane)
	{
		const uint8_t *q = *p;
		uint64_t a = state, b = 0, c = 0;

		for (size_t i = 0; i < lane; i += 8)
		{
			a = _mm_crc32_u64(a, bf_load64le(q + i));
			b = _mm_crc32_u64(b, bf_load64le(q + i + lane));
			c = _mm_crc32_u64(c, bf_load64le(q + i + 2 * lane));
		}
		state = shifted(shift, (uint32_t) a) ^ (uint32_t) b;
		state = shifted(shift, state) ^ (uint32_t) c;
		*p += 3 * lane;
		*n -= 3 * lane;
	}
	return state;
}

__attribute__((target("sse4.2"))) uint32_t
bfi_crc32c_sse42(uint32_t state, const uint8_t *p, size_t n)
{
	state = three_lanes(state, &p, &n, LANE_LONG, shift_long);
	state = three_lanes(state, &p, &n, LANE_SHORT, shift_short);
	BF_ASSERT(n < 3 * LANE_SHORT);
	for (; n >= 8; n -= 8, p += 8)
		state = (uint32_t) _mm_crc32_u64(state, bf_load64le(p));
	for (; n > 0; n--)
		state = _mm_crc32_u8(state, *p++);
	return state;
}

bool
bfi_have_sse42(void)
{
	return __builtin_cpu_supports("sse4.2") != 0;
}

#else

uint32_t
bfi_crc32c_sse42(uint32_t state, const uint8_t *p, size_t n)
{
	return bfi_crc32c_scalar(state, p, n);
}

bool
bfi_have_sse42(void)
{
	return false;
}

#endif

uint32_t
bf_crc32c_extend(uint32_t crc, const void *p, size_t n)
{
	return ~(bfi_have_sse42() ? bfi_crc32c_sse42(~crc, p, n) : bfi_crc32c_scalar(~crc, p, n));
}

uint32_t
bf_crc32c(const void *p, size_t n)
{
	return bf_crc32c_extend(0, p, n);
}

uint32_t
bf_crc32_extend(uint32_t crc, const void *p, size_t n)
{
	/* A null pointer would mean another thing. */
	return (uint32_t) crc32_z(crc, n > 0 ? p : (const void *) "", n);
}

uint32_t
bf_crc32(const void *p, size_t n)
{
	return bf_crc32_extend(0, p, n);
}
