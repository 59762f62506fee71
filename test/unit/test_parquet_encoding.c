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

/* A width that no difference of the column has, with all the bytes that it asks for. */
TEST(parquet_delta_over_wide)
{
	uint8_t bytes[10 + 4 * 8 * 255] = {0x80, 0x01, 0x04, 0x21, 0x00, 0x00};
	BfiDelta d;
	int64_t v[33];
	const uint8_t *end;

	for (uint32_t bits = 32; bits <= 64; bits += 32)
		for (uint32_t width = bits - 1; width <= 255; width++)
		{
			const uint8_t *in = test_section(bytes, 10 + 4 * (size_t) width);

			((uint8_t *) (uintptr_t) in)[6] = (uint8_t) width;
			REQUIRE_OK(bfi_delta_init(&d, in, 10 + 4 * (size_t) width, bits, 3, &test_err));
			if (width <= bits)
			{
				REQUIRE_OK(bfi_delta_end(d, &end, &test_err));
				REQUIRE_OK(bfi_delta_i64(&d, v, 33, &test_err));
				continue;
			}
			EXPECT_FAIL(bfi_delta_end(d, &end, &test_err), BF_ERR_CORRUPT, 3);
			EXPECT_FAIL(bfi_delta_i64(&d, v, 33, &test_err), BF_ERR_CORRUPT, 3);
		}
}

/* ---- sections of bytes ---- */

static size_t
put_delta(uint8_t *out, const uint64_t *v, uint32_t n)
{
	static uint8_t encoded[N * 20];
	size_t len = encode_delta(encoded, v, n, 32, false);

	memcpy(out, encoded, len);
	return len;
}

/* A stream that says another number of values than the page's levels. */
TEST(parquet_delta_count)
{
	static uint8_t section[N * 20];
	uint64_t lengths[5] = {0};
	BfiValues *number = test_values(BFI_INT32, 4);
	BfiValues *text = test_values(BFI_BYTE_ARRAY, 0);
	size_t len = put_delta(section, lengths, 5);
	size_t both;

	for (int32_t n = 1; n <= 7; n++)
	{
		BfStatus want = n == 5 ? BF_OK : BF_ERR_CORRUPT;

		EXPECT_EQ(test_begin(number, BFI_DELTA_BINARY_PACKED, section, len, n), want);
		EXPECT_EQ(test_begin(text, BFI_DELTA_LENGTH_BYTE_ARRAY, section, len, n), want);
	}
	/* Two streams, of which either may be wrong. */
	for (uint32_t n = 4; n <= 6; n++)
	{
		uint64_t more[6] = {0};

		both = len + put_delta(section + len, more, n);
		EXPECT_EQ(test_begin(text, BFI_DELTA_BYTE_ARRAY, section, both, 5),
				  n == 5 ? BF_OK : BF_ERR_CORRUPT);
	}
}

TEST(parquet_split_count)
{
	static const uint8_t bytes[64];
	BfiValues *v = test_values(BFI_DOUBLE, 8);

	for (size_t len = 0; len <= sizeof bytes; len++)
		EXPECT_EQ(test_begin(v, BFI_BYTE_STREAM_SPLIT, bytes, len, 5),
				  len == 40 ? BF_OK : BF_ERR_CORRUPT);
}

TEST(parquet_plain)
{
	static const uint8_t section[] = {2, 0, 0, 0, 'a', 'b', 0, 0, 0, 0, 3, 0, 0, 0, 'c', 'd', 'e'};
	static const struct
	{
		BfiPhysical physical;
		uint32_t width;
		size_t bytes; /* of five values, at least */
	} table[] = {
		{BFI_BOOLEAN, 0, 1}, {BFI_INT32, 4, 20},  {BFI_INT64, 8, 40},	   {BFI_INT96, 12, 60},
		{BFI_FLOAT, 4, 20},	 {BFI_DOUBLE, 8, 40}, {BFI_BYTE_ARRAY, 0, 20}, {BFI_FLBA, 3, 15},
	};
	static const uint8_t zeros[64];
	BfiValues *v = test_values(BFI_BYTE_ARRAY, 0);
	BfView views[3];

	for (size_t len = 0; len <= sizeof section; len++)
		for (int32_t skip = 0; skip <= 3; skip++)
		{
			BfStatus want = len == sizeof section ? BF_OK : BF_ERR_CORRUPT;
			BfStatus status = test_begin(v, BFI_PLAIN, section, len, 3);

			if (status == BF_OK)
				status = bfi_values_skip(v, skip, &test_err);
			if (status == BF_OK)
				status = bfi_values_decode(v, 3 - skip, views, &test_err);
			EXPECT_EQ(status, want);
			if (status == BF_OK && skip < 3)
				EXPECT(views[2 - skip].len == 3 && memcmp(views[2 - skip].ptr, "cde", 3) == 0);
		}
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		for (size_t len = 0; len <= sizeof zeros; len++)
		{
			v = len == 0 ? test_values(table[i].physical, table[i].width) : v;
			EXPECT_EQ(test_begin(v, BFI_PLAIN, zeros, len, 5),
					  len >= table[i].bytes ? BF_OK : BF_ERR_CORRUPT);
		}
}

typedef struct Shared
{
	uint64_t prefix[N];
	uint64_t suffix[N];
	uint8_t rests[N * 8];
	size_t n_rests;
	uint8_t section[N * 50];
	size_t len;
} Shared;

static void
put_shared(Shared *s, uint32_t n)
{
	s->len = put_delta(s->section, s->prefix, n);
	s->len += put_delta(s->section + s->len, s->suffix, n);
	memcpy(s->section + s->len, s->rests, s->n_rests);
	s->len += s->n_rests;
}

/* Random values that share random prefixes, in batches whose memory goes away between them. */
TEST(parquet_delta_byte_array)
{
	static Shared s;
	static uint8_t want[N][64];
	BfiValues *v = test_values(BFI_BYTE_ARRAY, 0);
	size_t len = 0;

	memset(&s, 0, sizeof s);
	v->batch = bf_arena_new(test_host(), "batch", (size_t) 16 << 20);
	for (uint32_t i = 0; i < N; i++)
	{
		s.prefix[i] = i == 0 ? 0 : test_random_below((len < 40 ? len : 40) + 1);
		s.suffix[i] = test_random_below(8);
		if (i > 0)
			memcpy(want[i], want[i - 1], s.prefix[i]);
		len = s.prefix[i] + s.suffix[i];
		for (size_t k = s.prefix[i]; k < len; k++)
			want[i][k] = s.rests[s.n_rests++] = (uint8_t) test_random();
	}
	put_shared(&s, N);
	for (uint32_t piece = 1; piece <= N; piece = piece * 3 + 1)
	{
		BfView got[N];

		REQUIRE_OK(test_begin(v, BFI_DELTA_BYTE_ARRAY, s.section, s.len, N));
		for (uint32_t i = 0; i < N; i += piece)
		{
			uint32_t k = N - i < piece ? N - i : piece;

			REQUIRE_OK(bfi_values_keep(v, &test_err));
			bf_arena_reset(v->batch);
			if (piece > 1 && i / piece % 3 == 2)
			{
				REQUIRE_OK(bfi_values_skip(v, (int32_t) k, &test_err));
				continue;
			}
			REQUIRE_OK(bfi_values_decode(v, (int32_t) k, got, &test_err));
			for (uint32_t j = 0; j < k; j++)
				EXPECT(got[j].len == s.prefix[i + j] + s.suffix[i + j] &&
					   memcmp(got[j].ptr, want[i + j], got[j].len) == 0);
		}
	}
	bf_arena_free(v->batch);
}

TEST(parquet_delta_byte_array_damaged)
{
	static Shared s;
	static const struct
	{
		const char *what;
		uint64_t prefix[2], suffix[2];
		size_t n_rests;
		uint32_t width; /* 0: BYTE_ARRAY */
		BfStatus want;
	} table[] = {
		{"right", {0, 3}, {3, 1}, 4, 0, BF_OK},
		{"a prefix without a value before", {1, 0}, {3, 1}, 4, 0, BF_ERR_CORRUPT},
		{"a prefix one too long", {0, 4}, {3, 1}, 4, 0, BF_ERR_CORRUPT},
		{"a negative prefix", {0, (uint64_t) -1}, {3, 1}, 4, 0, BF_ERR_CORRUPT},
		{"a negative suffix", {0, 3}, {4, (uint64_t) -1}, 4, 0, BF_ERR_CORRUPT},
		{"a byte too few", {0, 3}, {3, 1}, 3, 0, BF_ERR_CORRUPT},
		{"of one length", {0, 2}, {3, 1}, 4, 3, BF_OK},
		{"one shorter", {0, 1}, {3, 1}, 4, 3, BF_ERR_CORRUPT},
		{"one longer", {0, 3}, {3, 1}, 4, 3, BF_ERR_CORRUPT},
	};
	BfView got[N];
	BfiValues *v;

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
	{
		memset(&s, 0, sizeof s);
		memcpy(s.prefix, table[i].prefix, sizeof table[i].prefix);
		memcpy(s.suffix, table[i].suffix, sizeof table[i].suffix);
		s.n_rests = table[i].n_rests;
		put_shared(&s, 2);
		v = test_values(table[i].width > 0 ? BFI_FLBA : BFI_BYTE_ARRAY, table[i].width);
		REQUIRE_OK(test_begin(v, BFI_DELTA_BYTE_ARRAY, s.section, s.len, 2));
		if (bfi_values_decode(v, 2, got, &test_err) != table[i].want)
			test_fail(__FILE__, __LINE__, "%s", table[i].what);
	}
	/* A thousand times the same value: few bytes, many values. */
	memset(&s, 0, sizeof s);
	s.suffix[0] = s.n_rests = 4096;
	for (uint32_t i = 1; i < N; i++)
		s.prefix[i] = 4096;
	put_shared(&s, N);
	v = test_values(BFI_BYTE_ARRAY, 0);
	REQUIRE_OK(test_begin(v, BFI_DELTA_BYTE_ARRAY, s.section, s.len, N));
	EXPECT_FAIL(bfi_values_decode(v, N, got, &test_err), BF_ERR_LIMIT, 3);
}

/* ---- dictionaries ---- */

/* Every code at every place among others, in a dictionary of every size: those behind the end are
 * damage, whether the values are wanted or the codes. */
TEST(parquet_dictionary_codes)
{
	enum
	{
		CODES = 11
	};
	static const int64_t entries[20] = {7, 6, 5, 4, 3, 2, 1};
	BfiValues *v = test_values(BFI_INT64, 8);
	uint32_t codes[CODES];
	int64_t values[CODES];

	for (int32_t n = 1; n <= 17; n++)
		for (uint32_t code = 0; code < 32; code++)
			for (uint32_t at = 0; at < CODES; at++)
			{
				uint8_t section[2 + 2 * 5] = {5, 2 << 1 | 1};
				bool good = code < (uint32_t) n;

				v->dict = (BfiDictionary){.n = n, .value_bytes = 8, .values = entries};
				pack(section + 2, (uint64_t) at * 5, 5, code);
				REQUIRE_OK(test_begin(v, BFI_RLE_DICTIONARY, section, sizeof section, CODES));
				if (good)
				{
					REQUIRE_OK(bfi_dictionary_codes(v, CODES, codes, &test_err));
					EXPECT_EQ(codes[at], code);
				}
				else
					EXPECT_FAIL(bfi_dictionary_codes(v, CODES, codes, &test_err), BF_ERR_CORRUPT,
								3);
				REQUIRE_OK(test_begin(v, BFI_PLAIN_DICTIONARY, section, sizeof section, CODES));
				if (good)
				{
					REQUIRE_OK(bfi_values_decode(v, CODES, values, &test_err));
					EXPECT_EQ(values[at], entries[code]);
				}
				else
					EXPECT_FAIL(bfi_values_decode(v, CODES, values, &test_err), BF_ERR_CORRUPT, 3);
			}
}

/* The widest code that a width can express is the last entry, or one too many. */
TEST(parquet_dictionary_full_width)
{
	static const uint8_t fours[] = {2, 4 << 1, 3};
	BfiValues *v = test_values(BFI_INT64, 8);
	int64_t entries[4] = {1, 2, 3, 4};
	uint32_t codes[4];

	for (int32_t n = 1; n <= 4; n++)
	{
		v->dict = (BfiDictionary){.n = n, .value_bytes = 8, .values = entries};
		REQUIRE_OK(test_begin(v, BFI_RLE_DICTIONARY, fours, sizeof fours, 4));
		if (n == 4)
			REQUIRE_OK(bfi_dictionary_codes(v, 4, codes, &test_err));
		else
			EXPECT_FAIL(bfi_dictionary_codes(v, 4, codes, &test_err), BF_ERR_CORRUPT, 3);
	}
	/* No entry, no code; no dictionary, no page of codes; but a page of no values needs neither. */
	v->dict.n = 0;
	REQUIRE_OK(test_begin(v, BFI_RLE_DICTIONARY, fours, sizeof fours, 4));
	EXPECT_FAIL(bfi_dictionary_codes(v, 4, codes, &test_err), BF_ERR_CORRUPT, 3);
	v->dict.n = -1;
	EXPECT_FAIL(test_begin(v, BFI_RLE_DICTIONARY, fours, sizeof fours, 4), BF_ERR_CORRUPT, 3);
	REQUIRE_OK(test_begin(v, BFI_RLE_DICTIONARY, fours, 0, 0));
	EXPECT(v->methods->codes);
}

/* ---- the table ---- */

/* Values that a type can't have, and numbers that no encoding has. */
TEST(parquet_encoding_fits)
{
	static const struct
	{
		BfiPhysical physical;
		uint32_t width;
		const char *encodings; /* a letter per number: whether it fits */
	} table[] = {
		{BFI_BOOLEAN, 0, "y.yy....y.."},	{BFI_INT32, 4, "y.y..y..yy."},
		{BFI_INT64, 8, "y.y..y..yy."},		{BFI_INT96, 12, "y.y.....y.."},
		{BFI_FLOAT, 4, "y.y.....yyy"},		{BFI_DOUBLE, 8, "y.y.....yyy"},
		{BFI_BYTE_ARRAY, 0, "y.y...yyy.."}, {BFI_FLBA, 5, "y.y....yyy."},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		for (int32_t e = -1; e <= 10; e++)
		{
			BfiValues *v = test_values(table[i].physical, table[i].width);
			bool fits = e >= 0 && table[i].encodings[e] == 'y';

			/* Without values nothing of the section is looked at. */
			if (fits)
				REQUIRE_OK(test_begin(v, e, "", 0, 0));
			else
				EXPECT_FAIL(test_begin(v, e, "", 0, 0), BF_ERR_UNSUPPORTED, 3);
		}
	EXPECT_STR(bfi_encoding_name(BFI_DELTA_LENGTH_BYTE_ARRAY), "DELTA_LENGTH_BYTE_ARRAY");
	EXPECT_STR(bfi_encoding_name(1), "unknown");
	EXPECT_STR(bfi_encoding_name(-1), "unknown");
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
