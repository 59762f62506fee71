/*
 * ALP: floats and doubles that were short decimal numbers, as integers (Encodings.md, "ALP").
 *
 *     page   = u8 mode 0, u8 integer encoding 0, u8 log2 of the vector size, i32 count,
 *              u32 offset of each vector (from the first offset on), the vectors
 *     vector = u8 e, u8 f, u16 n exceptions, i32 / i64 base, u8 width,
 *              packed differences from the base, n * u16 index, n * value
 *     value  = (base + difference) * 10^f * 10^-e, but for the exceptions
 *
 * The two multiplications are done one after the other in the column's own precision, with
 * constants that are rounded once: a power of ten that were calculated could differ in the last
 * bit. Nothing is remembered from one call to the next, so passing over values is free.
 */
#include "parquet/encoding/encoding.h"

#define HEAD_BYTES 7
#define SIZE_LOG_MIN 3
#define SIZE_LOG_MAX 15
/* Differences that are unpacked at once. */
#define CHUNK 256

static const double powers64[] = {1e0,	1e1,  1e2,	1e3,  1e4,	1e5,  1e6,	1e7,  1e8, 1e9,
								  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
static const double inverses64[] = {1e0,   1e-1,  1e-2,	 1e-3,	1e-4,  1e-5,  1e-6,
									1e-7,  1e-8,  1e-9,	 1e-10, 1e-11, 1e-12, 1e-13,
									1e-14, 1e-15, 1e-16, 1e-17, 1e-18};
static const float powers32[] = {1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F, 1e8F, 1e9F, 1e10F};
static const float inverses32[] = {1e0F,  1e-1F, 1e-2F, 1e-3F, 1e-4F, 1e-5F,
								   1e-6F, 1e-7F, 1e-8F, 1e-9F, 1e-10F};

_Static_assert(sizeof powers64 / sizeof *powers64 == 19 &&
				   sizeof inverses64 / sizeof *inverses64 == 19,
			   "exponents 0 to 18");
_Static_assert(sizeof powers32 / sizeof *powers32 == 11 &&
				   sizeof inverses32 / sizeof *inverses32 == 11,
			   "exponents 0 to 10");

typedef struct State
{
	const uint8_t *offsets;
	size_t len; /* from the offsets on */
	uint32_t width;
	uint32_t size_log;
	uint32_t count;
	uint32_t n_vectors;
	int64_t at;
} State;

static BfStatus
begin(BfiValues *v, const uint8_t *p, size_t len, BfError *err)
{
	State *d = v->state;
	int64_t at = v->at;

	BF_ASSERT(v->width == 4 || v->width == 8);
	d->at = at;
	d->width = v->width;
	BF_DATA(err, len >= HEAD_BYTES, at, "an ALP page of %zu bytes", len);
	if (p[0] != 0 || p[1] != 0)
		BF_FAIL_AT(err, BF_ERR_UNSUPPORTED, at, "ALP of mode %u with integer encoding %u", p[0],
				   p[1]);
	BF_DATA(err, p[2] >= SIZE_LOG_MIN && p[2] <= SIZE_LOG_MAX, at, "ALP vectors of 2^%u values",
			p[2]);
	d->size_log = p[2];
	d->count = bf_load32le(p + 3);
	d->offsets = p + HEAD_BYTES;
	d->len = len - HEAD_BYTES;
	d->n_vectors =
		(uint32_t) (((uint64_t) d->count + ((uint32_t) 1 << d->size_log) - 1) >> d->size_log);
	BF_DATA(err, (uint64_t) d->n_vectors * 4 <= d->len, at, "%u ALP vectors in a page of %zu bytes",
			d->n_vectors, len);
	BF_DATA(err, d->count == (uint32_t) v->n, at, "an ALP page of %u values for %d", d->count,
			v->n);
	return BF_OK;
}

typedef struct Vector
{
	uint32_t e;
	uint32_t f;
	uint32_t n_exceptions;
	uint32_t bits; /* of a difference */
	uint64_t base;
	const uint8_t *packed;
	const uint8_t *positions;
	const uint8_t *exceptions;
} Vector;

/* Finds the parts of vector k, which has n values, and checks that they lie in the page. */
static BfStatus
open_vector(const State *d, uint32_t k, uint32_t n, Vector *v, BfError *err)
{
	uint32_t offset = bf_load32le(d->offsets + (size_t) k * 4);
	uint32_t head = 5 + d->width;
	uint32_t e_max = d->width == 4 ? 10 : 18;
	const uint8_t *p = d->offsets + offset;
	uint64_t packed;

	BF_ASSERT(k < d->n_vectors && n > 0);
	BF_DATA(err, offset >= d->n_vectors * 4 && offset <= d->len && d->len - offset >= head, d->at,
			"an ALP vector at byte %u of %zu", offset, d->len);
	v->e = p[0];
	v->f = p[1];
	v->n_exceptions = bf_load16le(p + 2);
	v->base =
		d->width == 4 ? (uint64_t) (int64_t) (int32_t) bf_load32le(p + 4) : bf_load64le(p + 4);
	v->bits = p[head - 1];
	BF_DATA(err, v->e <= e_max && v->f <= v->e, d->at, "an ALP vector with exponents %u and %u",
			v->e, v->f);
	BF_DATA(err, v->bits <= d->width * 8, d->at, "an ALP vector of %u bits", v->bits);
	BF_DATA(err, v->n_exceptions <= n, d->at, "%u exceptions in an ALP vector of %u values",
			v->n_exceptions, n);
	packed = ((uint64_t) n * v->bits + 7) / 8;
	BF_DATA(err, packed + (uint64_t) v->n_exceptions * (2 + d->width) <= d->len - offset - head,
			d->at, "an ALP vector is cut short");
	v->packed = p + head;
	v->positions = v->packed + packed;
	v->exceptions = v->positions + (size_t) v->n_exceptions * 2;
	return BF_OK;
}

/* n values of the vector from number `from` on. */
static void
decode_vector(const State *d, const Vector *v, uint32_t from, uint32_t n, uint8_t *out)
{
	float *f32 = (float *) (void *) out;
	double *f64 = (double *) (void *) out;

	BF_ASSERT(n > 0 && v->e < sizeof powers64 / sizeof powers64[0] && v->f <= v->e);
	if (d->width == 4)
	{
		uint32_t delta[CHUNK];

		for (uint32_t i = 0; i < n;)
		{
			uint32_t m = n - i < CHUNK ? n - i : CHUNK;

			bfi_unpack32(v->packed, (uint64_t) (from + i) * v->bits, v->bits, delta, m);
			for (uint32_t j = 0; j < m; j++, i++)
				f32[i] = (float) (int32_t) ((uint32_t) v->base + delta[j]) * powers32[v->f] *
						 inverses32[v->e];
		}
		return;
	}
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t delta = bfi_load_bits(v->packed, (uint64_t) (from + i) * v->bits, v->bits);

		f64[i] = (double) (int64_t) (v->base + delta) * powers64[v->f] * inverses64[v->e];
	}
}

/* Values [first, first + n) of the page. */
static BfStatus
decode_range(const State *d, uint32_t first, uint32_t n, uint8_t *to, BfError *err)
{
	uint32_t size = (uint32_t) 1 << d->size_log;

	BF_ASSERT((uint64_t) first + n <= d->count);
	while (n > 0)
	{
		uint32_t k = first >> d->size_log;
		uint32_t from = first & (size - 1);
		uint32_t in_vector = d->count - (k << d->size_log);
		uint32_t m;
		Vector v;

		in_vector = in_vector < size ? in_vector : size;
		m = in_vector - from < n ? in_vector - from : n;
		BF_TRY(open_vector(d, k, in_vector, &v, err));
		decode_vector(d, &v, from, m, to);
		for (uint32_t i = 0; i < v.n_exceptions; i++)
		{
			uint32_t at = bf_load16le(v.positions + (size_t) i * 2);

			BF_DATA(err, at < in_vector, d->at, "exception %u in an ALP vector of %u values", at,
					in_vector);
			if (at >= from && at - from < m)
				memcpy(to + (size_t) (at - from) * d->width, v.exceptions + (size_t) i * d->width,
					   d->width);
		}
		to += (size_t) m * d->width;
		first += m;
		n -= m;
	}
	return BF_OK;
}

static BfStatus
decode(BfiValues *v, int32_t n, void *out, BfError *err)
{
	return decode_range(v->state, (uint32_t) (v->n - v->left), (uint32_t) n, out, err);
}

const BfiMethods bfi_encoding_alp = {
	.state_bytes = sizeof(State),
	.begin = begin,
	.decode = decode,
	.skip = bfi_skip_by_number,
};
