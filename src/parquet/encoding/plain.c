/*
 * PLAIN: the values one after the other.
 *
 *     BOOLEAN      a bit each, LSB first
 *     BYTE_ARRAY   u32 length, the bytes
 *     others       their bytes, little-endian numbers
 *
 * That values of fixed width are all there is checked once; after that they are taken without a
 * check. Views point into the page.
 */
#include "parquet/encoding/encoding.h"

typedef struct State
{
	const uint8_t *pos;
	const uint8_t *end;
	uint32_t bit; /* booleans: bits taken from *pos, < 8 */
} State;

static BfStatus
begin(BfiValues *v, const uint8_t *p, size_t len, BfError *err)
{
	State *s = v->state;
	uint64_t need;

	if (v->physical == BFI_BYTE_ARRAY)
		need = (uint64_t) v->n * 4;
	else if (v->physical == BFI_BOOLEAN)
		need = ((uint64_t) v->n + 7) / 8;
	else
		need = (uint64_t) v->n * v->width;
	BF_DATA(err, need <= len, v->at, "%d values need %llu bytes, the page has %zu", v->n,
			(unsigned long long) need, len);
	*s = (State){.pos = p, .end = p + len};
	return BF_OK;
}

static BfStatus
byte_arrays(BfiValues *v, int32_t n, BfView *out, BfError *err)
{
	State *s = v->state;
	const uint8_t *p = s->pos;
	const uint8_t *end = s->end;

	for (int32_t i = 0; i < n; i++)
	{
		size_t left = (size_t) (end - p);
		uint32_t len;

		BF_DATA(err, left >= 4, v->at, "a value's length is cut short");
		len = bf_load32le(p);
		BF_DATA(err, len <= left - 4, v->at, "a value of %u bytes, but only %zu are left", len,
				left - 4);
		out[i].ptr = p + 4;
		out[i].len = len;
		p += 4 + (size_t) len;
	}
	s->pos = p;
	return BF_OK;
}

static void
pass_bits(State *s, int32_t n)
{
	s->bit += (uint32_t) n;
	s->pos += s->bit >> 3;
	s->bit &= 7;
	BF_ASSERT(s->pos + (s->bit > 0) <= s->end);
}

static BfStatus
decode(BfiValues *v, int32_t n, void *out, BfError *err)
{
	State *s = v->state;
	size_t width = v->width;

	switch (v->physical)
	{
		case BFI_BYTE_ARRAY: return byte_arrays(v, n, out, err);
		case BFI_BOOLEAN:
			bfi_bits_to_bytes(s->pos, s->bit, out, (uint32_t) n);
			pass_bits(s, n);
			return BF_OK;
		case BFI_INT96:
		case BFI_FLBA:
		{
			BfView *views = out;

			for (int32_t i = 0; i < n; i++)
				views[i] = (BfView){s->pos + (size_t) i * width, (uint32_t) width};
			break;
		}
		default: memcpy(out, s->pos, (size_t) n * width); break;
	}
	s->pos += (size_t) n * width;
	BF_ASSERT(s->pos <= s->end);
	return BF_OK;
}

static BfStatus
skip(BfiValues *v, int32_t n, BfError *err)
{
	State *s = v->state;

	if (v->physical == BFI_BOOLEAN)
		pass_bits(s, n);
	else if (v->physical != BFI_BYTE_ARRAY)
		s->pos += (size_t) n * v->width;
	else
		for (int32_t i = 0; i < n; i++)
		{
			size_t left = (size_t) (s->end - s->pos);

			BF_DATA(err, left >= 4 && bf_load32le(s->pos) <= left - 4, v->at,
					"a value is cut short");
			s->pos += 4 + (size_t) bf_load32le(s->pos);
		}
	BF_ASSERT(s->pos <= s->end);
	return BF_OK;
}

static uint64_t
encoded_bytes(const BfiNative *in)
{
	const BfView *views = in->values;
	uint64_t bytes = 4 * (uint64_t) in->n;

	if (in->physical == BFI_BOOLEAN)
		return ((uint64_t) in->n + 7) / 8;
	if (in->physical != BFI_BYTE_ARRAY)
		return (uint64_t) in->n * in->width;
	for (int32_t i = 0; i < in->n; i++)
		bytes += views[i].len;
	return bytes;
}

static uint8_t *
put_views(const BfiNative *in, uint8_t *to)
{
	const BfView *views = in->values;

	for (int32_t i = 0; i < in->n; i++)
	{
		BF_ASSERT(in->physical == BFI_BYTE_ARRAY || views[i].len == in->width);
		if (in->physical == BFI_BYTE_ARRAY)
		{
			bf_store32le(to, views[i].len);
			to += 4;
		}
		if (views[i].len > 0)
			memcpy(to, views[i].ptr, views[i].len);
		to += views[i].len;
	}
	return to;
}

static BfStatus
encode(const BfiNative *in, BfBuffer *out, BfSeams *seams, BfError *err)
{
	uint64_t bytes = encoded_bytes(in);
	const uint8_t *booleans = in->values;
	uint8_t *to;

	(void) seams;
	BF_ASSERT(in->n > 0 && in->values != NULL);
	BF_TRY(bf_buffer_reserve(out, (size_t) bytes, err));
	to = out->data + out->len;
	switch (in->physical)
	{
		case BFI_BOOLEAN:
			memset(to, 0, (size_t) bytes);
			for (int32_t i = 0; i < in->n; i++)
				to[i >> 3] = (uint8_t) (to[i >> 3] | booleans[i] << (i & 7));
			break;
		case BFI_BYTE_ARRAY:
		case BFI_FLBA:
		case BFI_INT96:
			to = put_views(in, to);
			BF_ASSERT(to == out->data + out->len + bytes);
			break;
		default: memcpy(to, in->values, (size_t) bytes); break;
	}
	out->len += (size_t) bytes;
	return BF_OK;
}

const BfiMethods bfi_encoding_plain = {
	.state_bytes = sizeof(State),
	.views_in_page = true,
	.begin = begin,
	.decode = decode,
	.skip = skip,
	.encode = encode,
};
