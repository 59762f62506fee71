/*
 * BYTE_STREAM_SPLIT: the bytes of the values, taken apart by significance, are put together again.
 *
 * For 4 and 8 streams sixteen values are merged at once by interleaving registers pairwise, first
 * streams that are half the width apart: (0,4)(1,5)(2,6)(3,7), then (04,26)(15,37), then all.
 */
#include "parquet/decode.h"

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define HAVE_SHUFFLE
#endif
#endif

#ifdef HAVE_SHUFFLE
typedef uint8_t Bytes16 __attribute__((vector_size(16)));

static inline Bytes16
load16(const uint8_t *p)
{
	Bytes16 v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline Bytes16
low(Bytes16 a, Bytes16 b)
{
	return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

static inline Bytes16
high(Bytes16 a, Bytes16 b)
{
	return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
								   31);
}

static inline void
merge4(const uint8_t *in, size_t stride, uint8_t *out)
{
	Bytes16 s0 = load16(in), s1 = load16(in + stride);
	Bytes16 s2 = load16(in + 2 * stride), s3 = load16(in + 3 * stride);
	Bytes16 even[2] = {low(s0, s2), high(s0, s2)};
	Bytes16 odd[2] = {low(s1, s3), high(s1, s3)};

	for (int i = 0; i < 2; i++)
	{
		Bytes16 all[2] = {low(even[i], odd[i]), high(even[i], odd[i])};

		memcpy(out + i * 32, all, sizeof all);
	}
}

static inline void
merge8(const uint8_t *in, size_t stride, uint8_t *out)
{
	Bytes16 s[8];

	for (size_t k = 0; k < 8; k++)
		s[k] = load16(in + k * stride);
	for (int half = 0; half < 2; half++)
	{
		Bytes16 p[4];

		for (int k = 0; k < 4; k++)
			p[k] = half == 0 ? low(s[k], s[k + 4]) : high(s[k], s[k + 4]);
		for (int quarter = 0; quarter < 2; quarter++)
		{
			Bytes16 even = quarter == 0 ? low(p[0], p[2]) : high(p[0], p[2]);
			Bytes16 odd = quarter == 0 ? low(p[1], p[3]) : high(p[1], p[3]);
			Bytes16 all[2] = {low(even, odd), high(even, odd)};

			memcpy(out + (half * 2 + quarter) * 32, all, sizeof all);
		}
	}
}
#endif

void
bfi_merge_streams(const uint8_t *in, size_t stride, size_t width, uint8_t *out, size_t n)
{
	size_t done = 0;

#ifdef HAVE_SHUFFLE
	if (width == 4)
		for (; done + 16 <= n; done += 16)
			merge4(in + done, stride, out + done * 4);
	else if (width == 8)
		for (; done + 16 <= n; done += 16)
			merge8(in + done, stride, out + done * 8);
#endif
	in += done;
	out += done * width;
	for (size_t k = 0; k < width; k++, in += stride)
		for (size_t i = 0; i < n - done; i++)
			out[i * width + k] = in[i];
}
