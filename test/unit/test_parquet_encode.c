/*
 * The way back: what an encoding writes, it reads, for every row of the table that can, every type
 * that fits and values of every kind; and what does not fit into its buffer leaves that as it was.
 */
#include "parquet/encoding/delta.h"
#include "unit/test_parquet_values.h"

#define N BF_BATCH_ROWS

static const int32_t counts[] = {1,	  2,   3,	7,	 8,	   9,	 15,   16,	 17,	31,	 32,
								 33,  63,  64,	65,	 127,  128,	 129,  130,	 255,	256, 257,
								 511, 513, 769, 999, 1000, 1001, 2048, 4001, N - 1, N};
#define N_COUNTS ((int32_t) (sizeof counts / sizeof counts[0]))

/* Numbers with repetitions, all the same, rising, small, of any size, and at both ends. */
static uint64_t
some_number(int kind, uint64_t last, int32_t i)
{
	switch (kind)
	{
		case 0: return test_random_below(4) != 0 ? last : test_random();
		case 1: return UINT64_C(0x8000000080000001);
		case 2: return last + test_random_below(100);
		case 3: return test_random_below(3);
		case 4: return test_random() >> test_random_below(64);
		default: return i & 1 ? (uint64_t) INT64_MAX : (uint64_t) INT64_MIN;
	}
}
#define KINDS 6

typedef struct Values
{
	uint64_t numbers[N];
	BfView views[N];
	uint8_t bytes[N * 40];
	uint8_t packed[N * 8]; /* numbers of the type's width, one behind the other */
} Values;

static bool
is_views(BfiPhysical t)
{
	return t == BFI_BYTE_ARRAY || t == BFI_FLBA || t == BFI_INT96;
}

static const void *
some_values(Values *x, BfiPhysical t, uint32_t width, int kind)
{
	uint8_t *to = x->bytes;
	uint64_t last = 7;

	for (int32_t i = 0; i < N; i++)
	{
		last = some_number(kind, last, i);
		if (t == BFI_BOOLEAN)
			x->packed[i] = last & 1;
		else if (!is_views(t))
			memcpy(x->packed + (size_t) i * width, &last, width);
		else
		{
			uint32_t len = t == BFI_BYTE_ARRAY ? (uint32_t) (last % 40) : width;

			for (uint32_t k = 0; k < len; k++)
				to[k] = (uint8_t) (last >> (k % 8 * 8));
			x->views[i] = (BfView){to, len};
			to += len;
		}
	}
	return is_views(t) ? (const void *) x->views : x->packed;
}

static bool
same_values(const BfiNative *in, const void *got)
{
	const BfView *a = in->values;
	const BfView *b = got;

	if (!is_views(in->physical))
		return memcmp(in->values, got,
					  (size_t) in->n * (in->physical == BFI_BOOLEAN ? 1 : in->width)) == 0;
	for (int32_t i = 0; i < in->n; i++)
		if (a[i].len != b[i].len || (a[i].len > 0 && memcmp(a[i].ptr, b[i].ptr, a[i].len) != 0))
			return false;
	return true;
}

/* In a buffer that has something already, and again in one that is a byte too small. */
static void
check(const BfiEncoding *e, const BfiNative *in, BfiValues *v)
{
	static BfView got[N];
	BfBuffer out, small;
	BfSeams seams = {.n = 0};

	bf_buffer_init(&out, test_host(), (size_t) 1 << 20);
	REQUIRE_OK(bf_buffer_append(&out, "abc", 3, &test_err));
	REQUIRE_OK(e->methods->encode(in, &out, &seams, &test_err));
	EXPECT(memcmp(out.data, "abc", 3) == 0);
	REQUIRE_OK(test_begin(v, e->number, out.data + 3, out.len - 3, in->n));
	REQUIRE_OK(bfi_values_decode(v, in->n, got, &test_err));
	EXPECT(same_values(in, got));
	for (uint32_t i = 0; i < seams.n; i++)
		EXPECT(seams.at[i] >= 3 && seams.at[i] <= out.len);
	seams.n = 0;
	bf_buffer_init(&small, test_host(), out.len - 1);
	REQUIRE_OK(bf_buffer_append(&small, "abc", 3, &test_err));
	EXPECT_FAIL(e->methods->encode(in, &small, &seams, &test_err), BF_ERR_LIMIT, -1);
	EXPECT_EQ(small.len, 3);
	bf_buffer_free(&small);
	bf_buffer_free(&out);
}

TEST(parquet_encode_table)
{
	static const struct
	{
		BfiPhysical physical;
		uint32_t width;
	} types[] = {{BFI_BOOLEAN, 0}, {BFI_INT32, 4},	{BFI_INT64, 8},		 {BFI_INT96, 12},
				 {BFI_FLOAT, 4},   {BFI_DOUBLE, 8}, {BFI_BYTE_ARRAY, 0}, {BFI_FLBA, 5}};
	static Values x;
	int n_encoders = 0;

	for (int32_t number = 0; number < 32; number++)
	{
		const BfiEncoding *e = bfi_encoding_find(number);

		/* Codes are numbers of whatever type, of a dictionary that is not here. */
		if (e == NULL || e->methods->encode == NULL || e->methods->codes)
			continue;
		n_encoders++;
		for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
		{
			BfiValues *v;

			if ((e->fits >> types[t].physical & 1) == 0)
				continue;
			v = test_values(types[t].physical, types[t].width);
			for (int kind = 0; kind < KINDS; kind++)
			{
				BfiNative in = {.physical = types[t].physical, .width = types[t].width};

				in.values = some_values(&x, in.physical, in.width, kind);
				for (int32_t k = 0; k < N_COUNTS; k++)
				{
					in.n = counts[k];
					check(e, &in, v);
				}
			}
		}
	}
	EXPECT_EQ(n_encoders, 6);
}

/* Levels and codes of every width, from bytes and from numbers. */
TEST(parquet_encode_runs)
{
	static uint32_t numbers[N], got[N];
	static uint8_t bytes[N];

	for (uint32_t width = 0; width <= 32; width++)
		for (int kind = 0; kind < KINDS; kind++)
			for (int32_t k = 0; k < N_COUNTS; k++)
			{
				uint32_t n = (uint32_t) counts[k];
				uint64_t last = 1;

				for (uint32_t i = 0; i < n; i++)
				{
					last = some_number(kind, last, (int32_t) i);
					numbers[i] = (uint32_t) (last & (((uint64_t) 1 << width) - 1));
					bytes[i] = (uint8_t) numbers[i];
				}
				for (uint32_t size = width <= 8 ? 1 : 4; size <= 4; size += 3)
				{
					BfBuffer out;
					BfiRle r;

					bf_buffer_init(&out, test_host(), (size_t) 1 << 20);
					REQUIRE_OK(bfi_rle_encode(size == 1 ? (void *) bytes : numbers, size, n, width,
											  &out, &test_err));
					bfi_rle_init(&r, test_section(out.data, out.len), out.len, width, 0);
					REQUIRE_OK(bfi_rle_u32(&r, got, n, &test_err));
					EXPECT(memcmp(got, numbers, n * sizeof *got) == 0);
					EXPECT(r.pos == r.end);
					bf_buffer_free(&out);
				}
			}
}

/* What is the same or regular takes next to nothing. */
TEST(parquet_encode_is_short)
{
	static uint32_t same[N];
	static int64_t rising[N];
	BfBuffer out;

	for (int32_t i = 0; i < N; i++)
	{
		same[i] = 3;
		rising[i] = INT64_MAX - N * 1000 + i * 1000;
	}
	bf_buffer_init(&out, test_host(), (size_t) 1 << 20);
	REQUIRE_OK(bfi_rle_encode(same, 4, N, 2, &out, &test_err));
	EXPECT_EQ(out.len, 3);
	out.len = 0;
	REQUIRE_OK(bfi_delta_encode(rising, 8, 8, N, &out, &test_err));
	/* Per block a difference in two bytes and four widths. */
	EXPECT(out.len < 20 + N / 128 * 6);
	bf_buffer_free(&out);
}
