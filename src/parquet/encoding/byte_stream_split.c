/*
 * BYTE_STREAM_SPLIT: the bytes of the values are taken apart by significance, and put together
 * again.
 *
 *     section = the first bytes of all values, their second bytes, ...
 *
 * For 4 and 8 streams sixteen values are merged at once by interleaving registers pairwise, first
 * streams that are half the width apart: (0,4)(1,5)(2,6)(3,7), then (04,26)(15,37), then all.
 */
#include "parquet/encoding/encoding.h"

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

/* n values of `width` bytes; byte k of value i is at in[k * stride + i]. */
static void
merge_streams(const uint8_t *in, size_t stride, size_t width, uint8_t *out, size_t n)
{
	size_t done = 0;

	BF_ASSERT(n <= stride);
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

typedef struct State
{
	const uint8_t *streams;
} State;

static BfStatus
begin(BfiValues *v, const uint8_t *p, size_t len, BfError *err)
{
	State *s = v->state;

	BF_ASSERT(v->width > 0);
	BF_DATA(err, len == (uint64_t) v->n * v->width, v->at,
			"%d values of %u split bytes need %llu, the page has %zu", v->n, v->width,
			(unsigned long long) v->n * v->width, len);
	s->streams = p;
	return BF_OK;
}

static BfStatus
decode(BfiValues *v, int32_t n, void *out, BfError *err)
{
	const State *s = v->state;
	size_t width = v->width;
	uint8_t *bytes = out;

	BF_ASSERT(v->width > 0);
	if (v->physical == BFI_FLBA)
	{
		BfView *views = out;

		BF_TRY(bfi_values_alloc(v, (size_t) n * width, &bytes, err));
		for (int32_t i = 0; i < n; i++)
			views[i] = (BfView){bytes + (size_t) i * width, (uint32_t) width};
	}
	merge_streams(s->streams + (v->n - v->left), (size_t) v->n, width, bytes, (size_t) n);
	return BF_OK;
}

/* n values of `width` bytes; byte k of value i goes to out[k * n + i]. */
static void
split_streams(const uint8_t *in, size_t width, uint8_t *out, size_t n)
{
	for (size_t k = 0; k < width; k++, out += n)
		for (size_t i = 0; i < n; i++)
			out[i] = in[i * width + k];
}

static BfStatus
encode(const BfiNative *in, BfBuffer *out, BfSeams *seams, BfError *err)
{
	size_t n = (size_t) in->n;
	size_t bytes = n * in->width;
	const BfView *views = in->values;
	uint8_t *to;

	BF_ASSERT(in->n > 0 && in->width > 0);
	BF_TRY(bf_buffer_reserve(out, bytes, err));
	to = out->data + out->len;
	if (in->physical == BFI_FLBA)
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < in->width; k++)
				to[k * n + i] = views[i].ptr[k];
	else
		split_streams(in->values, in->width, to, n);
	for (size_t k = 1; k < in->width; k++)
		bfi_add_seam(seams, out->len + k * n);
	out->len += bytes;
	return BF_OK;
}

const BfiMethods bfi_encoding_byte_stream_split = {
	.state_bytes = sizeof(State),
	.begin = begin,
	.decode = decode,
	.skip = bfi_skip_by_number,
	.encode = encode,
};
