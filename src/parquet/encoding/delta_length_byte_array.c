/*
 * DELTA_LENGTH_BYTE_ARRAY: the lengths of all values as a delta stream (delta.h), then their bytes,
 * one value after the other. Views point into the page.
 */
#include "parquet/encoding/delta.h"
#include "parquet/encoding/encoding.h"

typedef struct State
{
	BfiDelta lengths;
	const uint8_t *pos; /* bytes of the next value */
	const uint8_t *end;
} State;

static BfStatus
begin(BfiValues *v, const uint8_t *p, size_t len, BfError *err)
{
	State *s = v->state;

	BF_ASSERT(v->physical == BFI_BYTE_ARRAY);
	s->end = p + len;
	BF_TRY(bfi_delta_begin(&s->lengths, p, len, 32, v->n, v->at, err));
	return bfi_delta_end(s->lengths, &s->pos, err);
}

static BfStatus
decode(BfiValues *v, int32_t n, void *out, BfError *err)
{
	State *s = v->state;
	BfView *views = out;
	int32_t *lengths = (int32_t *) (void *) v->scratch;
	const uint8_t *p = s->pos;

	BF_ASSERT(p <= s->end);
	BF_TRY(bfi_delta_i32(&s->lengths, lengths, (uint32_t) n, err));
	for (int32_t i = 0; i < n; i++)
	{
		BF_DATA(err, lengths[i] >= 0 && lengths[i] <= s->end - p, v->at,
				"a value of %d bytes, but only %lld are left", lengths[i],
				(long long) (s->end - p));
		views[i] = (BfView){p, (uint32_t) lengths[i]};
		p += lengths[i];
	}
	s->pos = p;
	return BF_OK;
}

static bool
follow_each_other(const BfView *views, int32_t n)
{
	for (int32_t i = 1; i < n; i++)
		if (views[i].ptr != views[i - 1].ptr + views[i - 1].len)
			return false;
	return true;
}

static BfStatus
encode(const BfiNative *in, BfBuffer *out, BfSeams *seams, BfError *err)
{
	const BfView *views = in->values;
	size_t before = out->len;
	uint64_t bytes = 0;
	uint8_t *to;
	BfStatus status;

	BF_ASSERT(in->physical == BFI_BYTE_ARRAY && in->n > 0);
	status = bfi_delta_encode(&views[0].len, 4, sizeof *views, (uint32_t) in->n, out, err);
	for (int32_t i = 0; i < in->n; i++)
		bytes += views[i].len;
	if (status == BF_OK)
		status = bf_buffer_reserve(out, (size_t) bytes, err);
	if (status != BF_OK)
	{
		out->len = before;
		return status;
	}
	bfi_add_seam(seams, out->len);
	to = out->data + out->len;
	if (bytes > 0 && views[0].ptr + bytes == views[in->n - 1].ptr + views[in->n - 1].len &&
		follow_each_other(views, in->n))
	{
		/* They lie as they will. */
		memcpy(to, views[0].ptr, (size_t) bytes);
		out->len += (size_t) bytes;
		return BF_OK;
	}
	for (int32_t i = 0; i < in->n; i++)
	{
		if (views[i].len > 0)
			memcpy(to, views[i].ptr, views[i].len);
		to += views[i].len;
	}
	out->len += (size_t) bytes;
	BF_ASSERT(to == out->data + out->len);
	return BF_OK;
}

const BfiMethods bfi_encoding_delta_length_byte_array = {
	.state_bytes = sizeof(State),
	.views_in_page = true,
	.begin = begin,
	.decode = decode,
	.encode = encode,
};
