/*
 * The bit-level decoders against slow references, in pieces of every size.
 */
#include "parquet/encoding/delta.h"
#include "unit/test_parquet_values.h"

#define N 1000

static void
pack(uint8_t *out, uint64_t bit, uint32_t width, uint64_t v)
{
	for (uint32_t b = 0; b < width; b++, bit++)
		if (v >> b & 1)
			out[bit >> 3] = (uint8_t) (out[bit >> 3] | 1 << (bit & 7));
}

static uint64_t
random_bits(uint32_t width)
{
	return width == 64 ? test_random() : test_random() & (((uint64_t) 1 << width) - 1);
}

TEST(parquet_unpack)
{
	uint8_t *in = bf_arena_alloc(test_arena(), N * 4 + BFI_SLACK);
	uint32_t want[N];
	uint32_t got[N + 1];

	for (uint32_t width = 0; width <= 32; width++)
	{
		memset(in, 0, N * 4 + BFI_SLACK);
		for (uint32_t i = 0; i < N; i++)
		{
			want[i] = (uint32_t) random_bits(width);
			pack(in, (uint64_t) i * width, width, want[i]);
		}
		for (uint32_t start = 0; start < 20; start++)
			for (uint32_t n = 0; n < 40; n++)
			{
				got[n] = 0xdeadbeef;
				bfi_unpack32(in, (uint64_t) start * width, width, got, n);
				EXPECT(memcmp(got, want + start, n * sizeof *got) == 0);
				EXPECT_EQ(got[n], 0xdeadbeef);
			}
		bfi_unpack32(in, 0, width, got, N);
		EXPECT(memcmp(got, want, sizeof want) == 0);
	}
}

TEST(parquet_bits)
{
	uint64_t bits[4];
	uint8_t bytes[200];

	for (uint32_t start = 0; start < 130; start++)
		for (uint32_t n = 1; n <= 64; n++)
		{
			uint64_t v = test_random();

			memset(bits, start & 1 ? 0xff : 0, sizeof bits);
			bfi_put_bits(bits, start, v, n);
			for (uint32_t i = 0; i < 256; i++)
			{
				bool got = bits[i / 64] >> (i % 64) & 1;
				bool want = i >= start && i < start + n ? v >> (i - start) & 1 : start & 1;

				EXPECT(got == want);
			}
			EXPECT_EQ(bfi_load_bits((const uint8_t *) bits, start, n),
					  n == 64 ? v : v & (((uint64_t) 1 << n) - 1));
		}
	memset(bits, 0, sizeof bits);
	bfi_set_bits(bits, 3, 150);
	bfi_bits_to_bytes((const uint8_t *) bits, 1, bytes, 180);
	for (uint32_t i = 0; i < 180; i++)
		EXPECT_EQ(bytes[i], i + 1 >= 3 && i + 1 < 153);
}

/* The example of the specification: 0..7 in 3 bits; and, for BIT_PACKED, MSB first. */
TEST(parquet_rle_example)
{
	static const uint8_t hybrid[] = {0x03, 0x88, 0xc6, 0xfa};
	static const uint8_t msb_first[] = {0x05, 0x39, 0x77};
	BfCursor cur = bf_cursor(test_section(msb_first, sizeof msb_first), sizeof msb_first, 40);
	BfBuffer *turned;
	uint32_t got[8];
	BfiRle r;

	bfi_rle_init(&r, test_section(hybrid, sizeof hybrid), sizeof hybrid, 3, 0);
	REQUIRE_OK(bfi_rle_u32(&r, got, 8, &test_err));
	for (uint32_t i = 0; i < 8; i++)
		EXPECT_EQ(got[i], i);
	REQUIRE_OK(bf_buffer_new(test_arena(), 1000, &turned, &test_err));
	REQUIRE_OK(bfi_encoding_bit_packed.levels(&cur, 8, 3, turned, &r, &test_err));
	EXPECT_EQ(bf_cursor_left(&cur), 0);
	REQUIRE_OK(bfi_rle_u32(&r, got, 8, &test_err));
	for (uint32_t i = 0; i < 8; i++)
		EXPECT_EQ(got[i], i);
	EXPECT_FAIL(bfi_rle_u32(&r, got, 1, &test_err), BF_ERR_CORRUPT, 40);
}

/* Random runs of both kinds; returns the bytes. */
static size_t
encode_runs(uint8_t *out, uint32_t width, uint32_t *values, uint32_t n)
{
	size_t o = 0;

	memset(out, 0, N * 8);
	for (uint32_t i = 0; i < n;)
	{
		uint32_t left = n - i;

		if (test_random() & 1)
		{
			uint32_t k = 1 + (uint32_t) test_random_below(left < 70 ? left : 70);
			uint32_t v = (uint32_t) random_bits(width);

			o += bf_put_uvarint(out + o, (uint64_t) k << 1);
			for (uint32_t b = 0; b < (width + 7) / 8; b++)
				out[o++] = (uint8_t) (v >> (8 * b));
			while (k-- > 0)
				values[i++] = v;
		}
		else
		{
			uint32_t groups = 1 + (uint32_t) test_random_below(9);

			o += bf_put_uvarint(out + o, (uint64_t) groups << 1 | 1);
			for (uint32_t k = 0; k < groups * 8; k++)
			{
				uint32_t v = (uint32_t) random_bits(width);

				pack(out + o, (uint64_t) k * width, width, v);
				if (i < n)
					values[i++] = v;
			}
			o += (size_t) groups * width;
		}
	}
	return o;
}

TEST(parquet_rle_random)
{
	static const uint32_t pieces[] = {1, 2, 7, 8, 31, 64, 65, N};
	static uint8_t encoded[N * 8];
	uint32_t want[N];
	uint32_t got[N];
	uint64_t bits[N / 64 + 1];

	for (uint32_t width = 0; width <= 32; width++)
		for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++)
		{
			size_t len = encode_runs(encoded, width, want, N);
			uint8_t *in = test_section(encoded, len);
			uint32_t ones = 0;
			BfiRle r;

			bfi_rle_init(&r, in, len, width, 0);
			for (uint32_t i = 0; i < N; i += pieces[p])
			{
				uint32_t k = N - i < pieces[p] ? N - i : pieces[p];

				REQUIRE_OK(bfi_rle_u32(&r, got + i, k, &test_err));
			}
			EXPECT(memcmp(got, want, sizeof want) == 0);
			if (width != 1)
				continue;
			bfi_rle_init(&r, in, len, 1, 0);
			REQUIRE_OK(bfi_rle_count(r, N, 1, &ones, &test_err));
			for (uint32_t i = 0; i < N; i += pieces[p])
			{
				uint32_t k = N - i < pieces[p] ? N - i : pieces[p];
				uint32_t part;

				REQUIRE_OK(bfi_rle_bits(&r, bits, i, k, &part, &test_err));
				ones -= part;
			}
			EXPECT_EQ(ones, 0);
			for (uint32_t i = 0; i < N; i++)
				EXPECT_EQ(bits[i / 64] >> (i % 64) & 1, want[i]);
		}
}

TEST(parquet_rle_damaged)
{
	static const struct
	{
		const char *what;
		uint8_t bytes[8];
		size_t len;
		uint32_t width;
		uint32_t n;
	} table[] = {
		{"nothing", {0}, 0, 3, 1},
		{"a repeated run of no values", {0x00, 0x01}, 2, 3, 1},
		{"a packed run of no values", {0x01, 0xff}, 2, 3, 1},
		{"a repeated value cut short", {0x04, 0x01}, 2, 9, 1},
		{"a repeated value too wide", {0x04, 0x08}, 2, 3, 1},
		{"a header without end", {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x01}, 8, 3, 1},
		{"a packed run cut short, values incomplete", {0x05, 0x88, 0xc6}, 3, 3, 6},
		{"fewer values than asked for", {0x06, 0x01}, 2, 3, 4},
	};
	uint32_t got[16];

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
	{
		BfiRle r;

		bfi_rle_init(&r, test_section(table[i].bytes, table[i].len), table[i].len, table[i].width,
					 77);
		EXPECT_FAIL(bfi_rle_u32(&r, got, table[i].n, &test_err), BF_ERR_CORRUPT, 77);
	}
	{
		/* The same packed run is fine as long as the values that are wanted are there. */
		BfiRle r;

		bfi_rle_init(&r, test_section(table[6].bytes, 3), 3, 3, 77);
		REQUIRE_OK(bfi_rle_u32(&r, got, 5, &test_err));
		EXPECT_EQ(got[4], 4);
	}
	{
		static const uint8_t three_of_two[] = {0x04, 0x03};
		BfiRle r;
		uint32_t count;

		bfi_rle_init(&r, test_section(three_of_two, 2), 2, 2, 5);
		EXPECT_FAIL(bfi_rle_count(r, 2, 2, &count, &test_err), BF_ERR_CORRUPT, 5);
	}
}

/* ---- delta ---- */

static size_t
put_zigzag(uint8_t *p, uint64_t v)
{
	return bf_put_uvarint(p, bf_zigzag((int64_t) v));
}

/* Blocks of 128 in 4 miniblocks. cut: the widths of miniblocks without values, which nothing may
 * follow then, are left out. */
static size_t
encode_delta(uint8_t *out, const uint64_t *v, uint32_t n, uint32_t bits, bool cut)
{
	size_t o = 0;

	memset(out, 0, N * 20);
	o += bf_put_uvarint(out + o, 128);
	o += bf_put_uvarint(out + o, 4);
	o += bf_put_uvarint(out + o, n);
	o += put_zigzag(out + o, n > 0 ? v[0] : 0);
	for (uint32_t i = 1; i < n; i += 128)
	{
		uint32_t k = n - i < 128 ? n - i : 128;
		uint64_t delta[128];
		int64_t min = INT64_MAX;
		uint8_t *widths;

		for (uint32_t j = 0; j < k; j++)
		{
			delta[j] = v[i + j] - v[i + j - 1];
			if (bits == 32)
				delta[j] = (uint64_t) (int64_t) (int32_t) (uint32_t) delta[j];
			min = (int64_t) delta[j] < min ? (int64_t) delta[j] : min;
		}
		o += put_zigzag(out + o, (uint64_t) min);
		widths = out + o;
		o += cut && k < 128 ? (k + 31) / 32 : 4;
		for (uint32_t m = 0; m * 32 < k; m++)
		{
			uint64_t all = 0;
			uint32_t w;

			for (uint32_t j = m * 32; j < m * 32 + 32 && j < k; j++)
				all |= delta[j] - (uint64_t) min;
			w = all == 0 ? 0 : 64 - (uint32_t) __builtin_clzll(all);
			w = w > bits ? bits : w;
			widths[m] = (uint8_t) w;
			for (uint32_t j = m * 32; j < m * 32 + 32 && j < k; j++)
				pack(out + o, (uint64_t) (j - m * 32) * w, w, delta[j] - (uint64_t) min);
			o += 4 * (size_t) w;
		}
	}
	return o;
}

static void
check_delta(const uint64_t *v, uint32_t n, uint32_t bits, uint32_t piece, bool cut)
{
	static uint8_t encoded[N * 20];
	size_t len = encode_delta(encoded, v, n, bits, cut);
	uint8_t *in = test_section(encoded, len);
	int64_t wide[N];
	int32_t narrow[N];
	BfiDelta d;
	const uint8_t *end;

	REQUIRE_OK(bfi_delta_init(&d, in, len, bits, 9, &test_err));
	EXPECT_EQ(d.count, n);
	REQUIRE_OK(bfi_delta_end(d, &end, &test_err));
	EXPECT_EQ(end - in, len);
	for (uint32_t i = 0; i < n; i += piece)
	{
		uint32_t k = n - i < piece ? n - i : piece;

		if (bits == 64)
			REQUIRE_OK(bfi_delta_i64(&d, wide + i, k, &test_err));
		else
			REQUIRE_OK(bfi_delta_i32(&d, narrow + i, k, &test_err));
	}
	for (uint32_t i = 0; i < n; i++)
		EXPECT(bits == 64 ? (uint64_t) wide[i] == v[i] : (uint32_t) narrow[i] == (uint32_t) v[i]);
	EXPECT_FAIL(bfi_delta_i64(&d, wide, 1, &test_err), BF_ERR_CORRUPT, 9);
}

TEST(parquet_delta)
{
	static const uint32_t pieces[] = {1, 2, 31, 32, 33, 127, 128, 129, N};
	static const uint32_t counts[] = {0, 1, 2, 32, 33, 128, 129, 130, 257, N};
	uint64_t v[N];

	for (uint32_t bits = 32; bits <= 64; bits += 32)
		for (uint32_t width = 0; width <= bits; width += width < 8 ? 1 : 7)
			for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++)
				for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
				{
					uint64_t last = test_random();

					for (uint32_t i = 0; i < counts[c]; i++)
					{
						last += random_bits(width);
						v[i] = bits == 32 ? (uint64_t) (int64_t) (int32_t) (uint32_t) last : last;
					}
					check_delta(v, counts[c], bits, pieces[p], width == 0);
				}
}

TEST(parquet_delta_damaged)
{
	static const struct
	{
		const char *what;
		uint8_t bytes[8];
		size_t len;
	} table[] = {
		{"nothing", {0}, 0},
		{"cut short", {0x80, 0x01, 0x04, 0x05}, 4},
		{"blocks of 0", {0x00, 0x04, 0x05, 0x00}, 4},
		{"blocks of 100", {0x64, 0x04, 0x05, 0x00}, 4},
		{"no miniblocks", {0x80, 0x01, 0x00, 0x05, 0x00}, 5},
		{"miniblocks of 16", {0x80, 0x01, 0x08, 0x05, 0x00}, 5},
		{"3 miniblocks", {0x80, 0x01, 0x03, 0x05, 0x00}, 5},
	};
	static const uint8_t width_33[] = {0x80, 0x01, 0x04, 0x02, 0x00, 0x00, 33, 0, 0, 0};
	static const uint8_t no_body[] = {0x80, 0x01, 0x04, 0x02, 0x00, 0x00, 32, 0, 0, 0, 1, 2};
	BfiDelta d;
	int64_t v[4];

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		EXPECT_FAIL(bfi_delta_init(&d, test_section(table[i].bytes, table[i].len), table[i].len, 64,
								   3, &test_err),
					BF_ERR_CORRUPT, 3);
	REQUIRE_OK(bfi_delta_init(&d, test_section(width_33, sizeof width_33), sizeof width_33, 32, 3,
							  &test_err));
	EXPECT_FAIL(bfi_delta_i64(&d, v, 2, &test_err), BF_ERR_CORRUPT, 3);
	REQUIRE_OK(bfi_delta_init(&d, test_section(no_body, sizeof no_body), sizeof no_body, 64, 3,
							  &test_err));
	EXPECT_FAIL(bfi_delta_i64(&d, v, 2, &test_err), BF_ERR_CORRUPT, 3);
}

/* ---- streams ---- */

TEST(parquet_merge_streams)
{
	uint8_t want[100 * 20];
	uint8_t split[100 * 20];
	BfView got[100];

	BfiValues *v = test_values(BFI_FLBA, 1);

	for (size_t width = 1; width <= 20; width++)
		for (size_t n = 1; n <= 100; n += n < 40 ? 1 : 11)
		{
			v->width = (uint32_t) width;
			for (size_t i = 0; i < n; i++)
				for (size_t k = 0; k < width; k++)
				{
					want[i * width + k] = (uint8_t) test_random();
					split[k * n + i] = want[i * width + k];
				}
			REQUIRE_OK(test_begin(v, BFI_BYTE_STREAM_SPLIT, split, n * width, (int32_t) n));
			REQUIRE_OK(bfi_values_decode(v, (int32_t) n, got, &test_err));
			/* Views one behind the other: the whole is where the first is. */
			EXPECT(memcmp(got[0].ptr, want, n * width) == 0);
			EXPECT(got[n - 1].ptr == got[0].ptr + (n - 1) * width && got[n - 1].len == width);
			if (n < 20)
				continue;
			REQUIRE_OK(test_begin(v, BFI_BYTE_STREAM_SPLIT, split, n * width, (int32_t) n));
			REQUIRE_OK(bfi_values_skip(v, 3, &test_err));
			REQUIRE_OK(bfi_values_decode(v, 17, got, &test_err));
			EXPECT(memcmp(got[0].ptr, want + 3 * width, 17 * width) == 0);
		}
}
