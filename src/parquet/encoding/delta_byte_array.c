/*
 * DELTA_BYTE_ARRAY: of each value how many bytes it shares with the one before, and the rest.
 *
 *     section = delta stream of the shared lengths, delta stream of the lengths of the rests,
 *               the rests one after the other; for the streams see delta.h
 *
 * Values are put together in the batch's memory. Their lengths are known before any byte is copied,
 * so that one allocation serves a call; its size is bounded, since a few bytes can describe very
 * long values.
 */
#include "parquet/encoding/delta.h"
#include "parquet/encoding/encoding.h"

typedef struct State
{
	BfiDelta prefix;
	BfiDelta suffix;
	const uint8_t *pos; /* the next rest */
	const uint8_t *end;
} State;

static BfStatus
begin(BfiValues *v, const uint8_t *p, size_t len, BfError *err)
{
	State *s = v->state;
	const uint8_t *next;

	BF_ASSERT(v->physical == BFI_BYTE_ARRAY || v->width > 0);
	s->end = p + len;
	BF_TRY(bfi_delta_begin(&s->prefix, p, len, 32, v->n, v->at, err));
	BF_TRY(bfi_delta_end(s->prefix, &next, err));
	BF_TRY(bfi_delta_begin(&s->suffix, next, (size_t) (s->end - next), 32, v->n, v->at, err));
	if (!v->carry_previous)
		v->previous = (BfView){NULL, 0};
	return bfi_delta_end(s->suffix, &s->pos, err);
}

/* Copies len bytes and perhaps some more: up to COPY_SLACK bytes behind both ends are touched, so
 * that short copies need no loop. */
#define COPY_SLACK 16

static inline void
copy_over(uint8_t *to, const uint8_t *from, size_t len)
{
	for (size_t i = 0; i < len; i += 16)
	{
		uint64_t a = bf_load64le(from + i);
		uint64_t b = bf_load64le(from + i + 8);

		bf_store64le(to + i, a);
		bf_store64le(to + i + 8, b);
	}
}

/* Decodes the lengths of the next n values; *total: bytes of all of them. */
static BfStatus
decode_lengths(BfiValues *v, int32_t n, int32_t *prefix, int32_t *suffix, uint64_t *total,
			   BfError *err)
{
	State *s = v->state;
	uint64_t sum = 0;
	uint64_t taken = 0;
	uint64_t previous_len = v->previous.len;

	BF_TRY(bfi_delta_i32(&s->prefix, prefix, (uint32_t) n, err));
	BF_TRY(bfi_delta_i32(&s->suffix, suffix, (uint32_t) n, err));
	for (int32_t i = 0; i < n; i++)
	{
		BF_DATA(err, prefix[i] >= 0 && (uint64_t) prefix[i] <= previous_len, v->at,
				"a prefix of %d bytes, but the value before has %llu", prefix[i],
				(unsigned long long) previous_len);
		BF_DATA(err, suffix[i] >= 0, v->at, "a suffix of %d bytes", suffix[i]);
		taken += (uint64_t) suffix[i];
		previous_len = (uint64_t) prefix[i] + (uint64_t) suffix[i];
		sum += previous_len;
		BF_DATA(err, v->physical != BFI_FLBA || previous_len == v->width, v->at,
				"a value of %llu bytes in a column of %u", (unsigned long long) previous_len,
				v->width);
	}
	BF_DATA(err, taken <= (uint64_t) (s->end - s->pos), v->at,
			"suffixes of %llu bytes, but only %lld are left", (unsigned long long) taken,
			(long long) (s->end - s->pos));
	if (sum > v->bytes_max)
		BF_FAIL_AT(err, BF_ERR_LIMIT, v->at, "values of %llu bytes in a batch, the limit is %zu",
				   (unsigned long long) sum, v->bytes_max);
	*total = sum;
	return BF_OK;
}

static BfStatus
decode(BfiValues *v, int32_t n, void *out, BfError *err)
{
	State *s = v->state;
	BfView *views = out;
	int32_t *prefix = (int32_t *) (void *) v->scratch;
	int32_t *suffix = prefix + BF_BATCH_ROWS;
	BfView previous = v->previous;
	uint64_t total;
	uint8_t *to;

	BF_TRY(decode_lengths(v, n, prefix, suffix, &total, err));
	BF_ASSERT((uint64_t) (prefix[0] + suffix[0]) <= total);
	BF_TRY(bfi_values_alloc(v, (size_t) total + COPY_SLACK, &to, err));
	for (int32_t i = 0; i < n; i++)
	{
		copy_over(to, previous.ptr, (size_t) prefix[i]);
		copy_over(to + prefix[i], s->pos, (size_t) suffix[i]);
		previous = (BfView){to, (uint32_t) (prefix[i] + suffix[i])};
		views[i] = previous;
		to += previous.len;
		s->pos += suffix[i];
	}
	BF_ASSERT(s->pos <= s->end);
	v->previous = previous;
	return BF_OK;
}

BfStatus
bfi_values_keep(BfiValues *v, BfError *err)
{
	BfBuffer *kept = v->previous_kept;

	BF_ASSERT(v->previous.len <= v->bytes_max);
	if (v->previous.len == 0 || v->previous.ptr == kept->data)
		return BF_OK;
	kept->len = 0;
	BF_TRY(bf_buffer_reserve(kept, (size_t) v->previous.len + BFI_SLACK, err));
	memcpy(kept->data, v->previous.ptr, v->previous.len);
	v->previous.ptr = kept->data;
	return BF_OK;
}

/* ---- writing ---- */

static uint32_t
shared_bytes(BfView a, BfView b)
{
	uint32_t most = a.len < b.len ? a.len : b.len;
	uint32_t n = 0;

	while (n + 8 <= most)
	{
		uint64_t d = bf_load64le(a.ptr + n) ^ bf_load64le(b.ptr + n);

		if (d != 0)
			return n + (uint32_t) __builtin_ctzll(d) / 8;
		n += 8;
	}
	while (n < most && a.ptr[n] == b.ptr[n])
		n++;
	return n;
}

typedef struct Lengths
{
	uint32_t prefix;
	uint32_t suffix;
} Lengths;

/* Both lengths of each value. */
static BfStatus
all_lengths(const BfView *views, int32_t n, BfBuffer *lengths, BfError *err)
{
	BfView last = {NULL, 0};
	Lengths *l;

	BF_TRY(bf_buffer_reserve(lengths, (size_t) n * sizeof *l, err));
	l = (Lengths *) (void *) lengths->data;
	for (int32_t i = 0; i < n; i++)
	{
		l[i].prefix = shared_bytes(last, views[i]);
		l[i].suffix = views[i].len - l[i].prefix;
		last = views[i];
	}
	return BF_OK;
}

static BfStatus
put_values(const BfView *views, const Lengths *l, int32_t n, BfBuffer *out, BfSeams *seams,
		   BfError *err)
{
	BF_TRY(bfi_delta_encode(&l[0].prefix, 4, sizeof *l, (uint32_t) n, out, err));
	bfi_add_seam(seams, out->len);
	BF_TRY(bfi_delta_encode(&l[0].suffix, 4, sizeof *l, (uint32_t) n, out, err));
	bfi_add_seam(seams, out->len);
	for (int32_t i = 0; i < n; i++)
		if (l[i].suffix > 0)
			BF_TRY(bf_buffer_append(out, views[i].ptr + l[i].prefix, l[i].suffix, err));
	return BF_OK;
}

static BfStatus
encode(const BfiNative *in, BfBuffer *out, BfSeams *seams, BfError *err)
{
	size_t before = out->len;
	BfBuffer lengths;
	BfStatus status;

	BF_ASSERT(in->n > 0 && (in->physical == BFI_BYTE_ARRAY || in->physical == BFI_FLBA));
	bf_buffer_init(&lengths, out->host, SIZE_MAX);
	status = all_lengths(in->values, in->n, &lengths, err);
	if (status == BF_OK)
		status = put_values(in->values, (const Lengths *) (const void *) lengths.data, in->n, out,
							seams, err);
	bf_buffer_free(&lengths);
	if (status != BF_OK)
		out->len = before;
	return status;
}

const BfiMethods bfi_encoding_delta_byte_array = {
	.state_bytes = sizeof(State),
	.begin = begin,
	.decode = decode,
	.encode = encode,
};
