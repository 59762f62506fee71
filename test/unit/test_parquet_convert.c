/*
 * Dense values between NULLs, and physical values as storage.
 */
#include <math.h>

#include "parquet/internal.h"
#include "unit/lib/runner.h"

TEST(parquet_spread)
{
	static const size_t sizes[] = {1, 4, 8, 16};
	uint64_t validity[6];
	uint8_t dense[300 * 16];
	uint8_t got[300 * 16];

	for (size_t s = 0; s < 4; s++)
		for (int32_t start = 0; start < 70; start += 3)
			for (int32_t mode = 0; mode < 3; mode++)
			{
				size_t size = sizes[s];
				int32_t n = 200;
				size_t from = 0;

				for (int i = 0; i < 6; i++)
					validity[i] = mode == 0 ? 0 : mode == 1 ? UINT64_MAX : test_random();
				for (size_t i = 0; i < sizeof dense; i++)
					dense[i] = (uint8_t) test_random();
				memset(got, 0xcc, sizeof got);
				bfi_spread(validity, start, n, dense, got, size);
				for (int32_t i = 0; i < n; i++)
				{
					static const uint8_t zero[16];
					bool valid = bf_valid(validity, start + i);

					EXPECT(memcmp(got + (size_t) i * size, valid ? dense + from : zero, size) == 0);
					from += valid ? size : 0;
				}
				EXPECT_EQ(got[(size_t) n * size], 0xcc);
			}
}

static BfStatus
convert_bytes(BfiConvert convert, const char *bytes, uint32_t len, void *out)
{
	BfiLeaf leaf = {.convert = convert};
	BfView view = {(const uint8_t *) bytes, len};

	return bfi_convert(&leaf, &view, 1, out, 11, &test_err);
}

TEST(parquet_convert_decimal)
{
	int64_t v;
	bf_i128 w;

	REQUIRE_OK(convert_bytes(BFI_CONVERT_BYTES_I64, "\x01\x00", 2, &v));
	EXPECT_EQ(v, 256);
	REQUIRE_OK(convert_bytes(BFI_CONVERT_BYTES_I64, "\xff", 1, &v));
	EXPECT_EQ(v, -1);
	REQUIRE_OK(convert_bytes(BFI_CONVERT_BYTES_I64, "\x80\0\0\0\0\0\0\0", 8, &v));
	EXPECT(v == INT64_MIN);
	/* Padding repeats the sign. */
	REQUIRE_OK(
		convert_bytes(BFI_CONVERT_BYTES_I64, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07", 18, &v));
	EXPECT_EQ(v, 7);
	REQUIRE_OK(convert_bytes(BFI_CONVERT_BYTES_I64, "\xff\xff\xff\xff\xff\xff\xff\xff\xfe", 9, &v));
	EXPECT_EQ(v, -2);
	EXPECT_FAIL(convert_bytes(BFI_CONVERT_BYTES_I64, "\x01\0\0\0\0\0\0\0\0", 9, &v), BF_ERR_VALUE,
				11);
	EXPECT_FAIL(convert_bytes(BFI_CONVERT_BYTES_I64, "", 0, &v), BF_ERR_CORRUPT, 11);
	REQUIRE_OK(convert_bytes(BFI_CONVERT_BYTES_I128, "\xff\xfe", 2, &w));
	EXPECT(w == -2);
	EXPECT_FAIL(
		convert_bytes(BFI_CONVERT_BYTES_I128, "\0\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17, &w),
		BF_ERR_VALUE, 11);
	EXPECT_FAIL(convert_bytes(BFI_CONVERT_BYTES_I128, "", 0, &w), BF_ERR_CORRUPT, 11);
}

TEST(parquet_convert_numbers)
{
	BfiLeaf leaf = {.convert = BFI_CONVERT_I64_1000};
	int64_t in[2] = {INT64_MAX / 1000, INT64_MIN / 1000};
	int64_t out[2];
	int32_t small[2] = {-129, 0};

	REQUIRE_OK(bfi_convert(&leaf, in, 2, out, 11, &test_err));
	EXPECT(out[0] == INT64_MAX / 1000 * 1000 && out[1] == INT64_MIN / 1000 * 1000);
	in[1]--;
	EXPECT_FAIL(bfi_convert(&leaf, in, 2, out, 11, &test_err), BF_ERR_VALUE, 11);
	leaf = (BfiLeaf){.convert = BFI_CONVERT_RANGE_I32, .lo = -128, .hi = 127};
	EXPECT_FAIL(bfi_convert(&leaf, small, 2, out, 11, &test_err), BF_ERR_VALUE, 11);
	small[0] = -128;
	small[1] = 127;
	REQUIRE_OK(bfi_convert(&leaf, small, 2, out, 11, &test_err));
}

TEST(parquet_convert_half)
{
	static const struct
	{
		uint16_t half;
		float value;
	} table[] = {
		{0x0000, 0.0f},			 {0x3c00, 1.0f},	 {0xc000, -2.0f},
		{0x7bff, 65504.0f},		 {0x0400, 0x1p-14f}, {0x0001, 0x1p-24f},
		{0x83ff, -0x1.ff8p-15f}, {0x7c00, INFINITY}, {0xfc00, -INFINITY},
	};
	BfiLeaf leaf = {.convert = BFI_CONVERT_F16_F32};
	float got;

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
	{
		BfView view = {(const uint8_t *) &table[i].half, 2};

		REQUIRE_OK(bfi_convert(&leaf, &view, 1, &got, 0, &test_err));
		EXPECT(got == table[i].value);
	}
	{
		BfView nan = {(const uint8_t *) "\x01\x7e", 2};

		REQUIRE_OK(bfi_convert(&leaf, &nan, 1, &got, 0, &test_err));
		EXPECT(isnan(got));
		nan.ptr = (const uint8_t *) "\x00\x80";
		REQUIRE_OK(bfi_convert(&leaf, &nan, 1, &got, 0, &test_err));
		EXPECT(got == 0.0f && signbit(got));
	}
}
