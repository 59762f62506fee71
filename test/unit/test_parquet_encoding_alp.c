/*
 * ALP pages: a file made elsewhere, and vectors of every width in pieces of every size.
 */
#include <math.h>
#include <string.h>

#include "parquet/parquet.h"
#include "unit/test_parquet_values.h"

#define FILE_ROWS 100

/* As test/data/parquet_encodings/README.md says. */
static double
value_of(int i)
{
	if (i % 23 == 5)
		return (double) NAN;
	if (i % 29 == 7)
		return (double) INFINITY;
	if (i % 31 == 3)
		return -0.0;
	switch (i / 10 % 4)
	{
		case 0: return i * 0.01;
		case 1: return -i * 1.5;
		case 2: return i * 1000.0;
		default: return i / 3.0;
	}
}

static bool
same(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

TEST(parquet_alp_file)
{
	BfArena *a = test_arena();
	static const int32_t columns[] = {0, 1};
	BfSource *source;
	BfParquetFile *f;
	BfParquetScan *s;
	const BfBatch *b;
	int rows = 0;

	REQUIRE_OK(
		bf_source_open(a, "test/data/parquet_encodings/alp.parquet", NULL, &source, &test_err));
	REQUIRE_OK(bf_parquet_open(a, source, NULL, &f, &test_err));
	REQUIRE_OK(bf_parquet_scan_new(a, f, columns, 2, NULL, &s, &test_err));
	REQUIRE_OK(bf_parquet_scan_row_group(s, 0, &test_err));
	for (;;)
	{
		REQUIRE_OK(bf_parquet_scan_next(s, &b, &test_err));
		if (b == NULL)
			break;
		for (int32_t i = 0; i < b->n_rows; i++, rows++)
		{
			BfValue v;

			EXPECT(bf_vector_get(&b->cols[0], i, &v));
			EXPECT(same(v.v.f64, value_of(rows)));
			EXPECT_EQ(bf_vector_get(&b->cols[1], i, &v), rows % 7 != 3);
			if (rows % 7 != 3)
				EXPECT(same((double) v.v.f32, (double) (float) value_of(rows)));
		}
	}
	EXPECT_EQ(rows, FILE_ROWS);
}

#define SIZE_LOG 6
#define SIZE (1 << SIZE_LOG)
#define N (3 * SIZE + 5)

typedef struct Page
{
	uint8_t bytes[N * 16 + 4096];
	size_t len;
} Page;

static void
put(Page *p, const void *bytes, size_t n)
{
	memcpy(p->bytes + p->len, bytes, n);
	p->len += n;
}

/* Random integers of `bits` bits above a base, exponents 2 and 1, some exceptions. */
static void
make_page(Page *p, uint32_t width, uint32_t bits, double *want)
{
	uint32_t n_vectors = (N + SIZE - 1) / SIZE;
	int32_t count = N;
	size_t offsets = 7;

	memset(p, 0, sizeof *p);
	put(p, (uint8_t[]){0, 0, SIZE_LOG}, 3);
	put(p, &count, 4);
	p->len += (size_t) n_vectors * 4;
	for (uint32_t k = 0; k < n_vectors; k++)
	{
		uint32_t n = k == n_vectors - 1 ? N - k * SIZE : SIZE;
		uint32_t offset = (uint32_t) (p->len - offsets);
		uint64_t base = test_random();
		uint16_t n_exceptions = (uint16_t) (k == 1 ? 0 : 2);
		uint8_t e = 2;
		uint8_t f = 1;
		size_t packed;

		memcpy(p->bytes + offsets + (size_t) k * 4, &offset, 4);
		put(p, &e, 1);
		put(p, &f, 1);
		put(p, &n_exceptions, 2);
		put(p, &base, width);
		put(p, &(uint8_t){(uint8_t) bits}, 1);
		packed = p->len;
		p->len += ((size_t) n * bits + 7) / 8;
		for (uint32_t i = 0; i < n; i++)
		{
			uint64_t d = bits == 64 ? test_random() : test_random() & (((uint64_t) 1 << bits) - 1);

			for (uint32_t bit = 0; bit < bits; bit++)
				if (d >> bit & 1)
					p->bytes[packed + (i * bits + bit) / 8] |=
						(uint8_t) (1 << (i * bits + bit) % 8);
			if (width == 8)
				want[k * SIZE + i] = (double) (int64_t) (base + d) * 10.0 * 0.01;
			else
				want[k * SIZE + i] =
					(double) ((float) (int32_t) (uint32_t) (base + d) * 10.0F * 0.01F);
		}
		for (uint16_t x = 0; x < n_exceptions; x++)
			put(p, &(uint16_t){(uint16_t) (x * 3)}, 2);
		for (uint16_t x = 0; x < n_exceptions; x++)
		{
			double d = 0.1 + x;
			float s = (float) d;

			put(p, width == 8 ? (void *) &d : (void *) &s, width);
			want[k * SIZE + x * 3] = width == 8 ? d : (double) s;
		}
	}
}

/* A scan's worth of values in pieces. */
static BfStatus
decode_pieces(BfiValues *v, const Page *p, size_t len, int32_t piece, uint8_t *out)
{
	BF_TRY(test_begin(v, BFI_ALP, p->bytes, len, N));
	for (int32_t at = 0; at < N; at += piece)
		BF_TRY(bfi_values_decode(v, N - at < piece ? N - at : piece, out + (size_t) at * v->width,
								 &test_err));
	return BF_OK;
}

TEST(parquet_alp_pieces)
{
	static Page p;
	static double want[N];
	union
	{
		float f32[N];
		double f64[N];
	} got;

	for (uint32_t width = 4; width <= 8; width += 4)
		for (uint32_t bits = 0; bits <= width * 8; bits++)
		{
			BfiValues *v = test_values(width == 4 ? BFI_FLOAT : BFI_DOUBLE, width);

			make_page(&p, width, bits, want);
			for (int32_t piece = 1; piece <= N; piece = piece * 3 + 1)
			{
				memset(&got, 0, sizeof got);
				REQUIRE_OK(decode_pieces(v, &p, p.len, piece, (uint8_t *) &got));
				for (int32_t i = 0; i < N; i++)
					EXPECT((width == 8 ? got.f64[i] : (double) got.f32[i]) == want[i]);
			}
			for (int32_t skip = 1; skip < N; skip += 7)
			{
				REQUIRE_OK(test_begin(v, BFI_ALP, p.bytes, p.len, N));
				REQUIRE_OK(bfi_values_skip(v, skip, &test_err));
				REQUIRE_OK(bfi_values_decode(v, 1, &got, &test_err));
				EXPECT((width == 8 ? got.f64[0] : (double) got.f32[0]) == want[skip]);
			}
		}
}

/* Another number of values than the page's levels have. */
TEST(parquet_alp_count)
{
	static Page p;
	static double want[N];
	BfiValues *v = test_values(BFI_DOUBLE, 8);

	make_page(&p, 8, 20, want);
	for (int32_t n = N - 2; n <= N + 2; n++)
		EXPECT_EQ(test_begin(v, BFI_ALP, p.bytes, p.len, n), n == N ? BF_OK : BF_ERR_CORRUPT);
}

/* Cut short anywhere, and every byte of the heads replaced. */
TEST(parquet_alp_damaged)
{
	static Page p;
	static double want[N];
	uint8_t got[N * 8];
	BfiValues *v = test_values(BFI_DOUBLE, 8);
	int refused = 0;

	make_page(&p, 8, 20, want);
	for (size_t len = 0; len < p.len; len++)
		EXPECT_FAIL(decode_pieces(v, &p, len, N, got), BF_ERR_CORRUPT, 3);
	for (size_t at = 0; at < p.len; at++)
		for (int b = 0; b < 256; b += 51)
		{
			uint8_t old = p.bytes[at];

			p.bytes[at] = (uint8_t) b;
			refused += decode_pieces(v, &p, p.len, N, got) != BF_OK;
			p.bytes[at] = old;
		}
	EXPECT(refused > 100);
	p.bytes[0] = 1;
	EXPECT_FAIL(test_begin(v, BFI_ALP, p.bytes, p.len, N), BF_ERR_UNSUPPORTED, 3);
}
