/*
 * RLE_DICTIONARY, of old PLAIN_DICTIONARY: numbers of the entries of the chunk's dictionary.
 *
 *     section = u8 width, runs of codes of that many bits (rle.h)
 *
 * Codes are checked four at once when they are handed out, so that whoever looks them up, here or
 * above, needs no check.
 */
#include "parquet/encoding/encoding.h"

/* Four codes at once, in whatever registers the compiler has for that. */
typedef uint32_t Codes4 __attribute__((vector_size(16)));

static BfStatus
begin(BfiValues *v, const uint8_t *p, size_t len, BfError *err)
{
	BF_DATA(err, v->dict.n >= 0, v->at,
			"a dictionary-encoded page, but the chunk has no dictionary");
	BF_DATA(err, len > 0 && p[0] <= 32, v->at, "dictionary codes of %d bits",
			len > 0 ? (int) p[0] : -1);
	bfi_rle_init(v->state, p + 1, len - 1, p[0], v->at);
	return BF_OK;
}

/* All codes < dict.n: last - code borrows, and sets the top bit, where that is not so. */
static BfStatus
check_codes(const BfiValues *v, const uint32_t *codes, int32_t n, BfError *err)
{
	uint32_t last = (uint32_t) v->dict.n - 1;
	Codes4 last4 = {last, last, last, last};
	Codes4 bad4 = {0, 0, 0, 0};
	uint32_t bad;
	int32_t i = 0;

	BF_DATA(err, v->dict.n > 0, v->at, "a code in an empty dictionary");
	for (; i + 4 <= n; i += 4)
	{
		Codes4 four;

		memcpy(&four, codes + i, sizeof four);
		bad4 |= four | (last4 - four);
	}
	bad = bad4[0] | bad4[1] | bad4[2] | bad4[3];
	for (; i < n; i++)
		bad |= codes[i] | (last - codes[i]);
	if (BF_LIKELY(bad >> 31 == 0))
		return BF_OK;
	for (i = 0; i < n && codes[i] <= last; i++)
		;
	BF_FAIL_AT(err, BF_ERR_CORRUPT, v->at, "code %u in a dictionary of %d values",
			   i < n ? codes[i] : 0, v->dict.n);
}

static BfStatus
decode_codes(BfiValues *v, int32_t n, uint32_t *out, BfError *err)
{
	BfiRle *r = v->state;

	BF_TRY(bfi_rle_u32(r, out, (uint32_t) n, err));
	/* A width that can't express a code behind the end needs no look at the codes. */
	if (r->width < 32 && (uint64_t) 1 << r->width <= (uint64_t) v->dict.n)
		return BF_OK;
	return check_codes(v, out, n, err);
}

BfStatus
bfi_dictionary_codes(BfiValues *v, int32_t n, uint32_t *out, BfError *err)
{
	BF_ASSERT(v->methods->codes && n >= 0 && n <= v->left);
	if (n == 0)
		return BF_OK;
	BF_TRY(decode_codes(v, n, out, err));
	v->left -= n;
	return BF_OK;
}

#define GATHER(type)                       \
	do                                     \
	{                                      \
		const type *dict = v->dict.values; \
		type *to = out;                    \
                                           \
		for (int32_t i = 0; i < n; i++)    \
			to[i] = dict[codes[i]];        \
	} while (0)

static BfStatus
decode(BfiValues *v, int32_t n, void *out, BfError *err)
{
	uint32_t *codes = v->scratch;

	BF_ASSERT(v->dict.value_bytes == 1 || v->dict.value_bytes % 4 == 0);
	BF_TRY(decode_codes(v, n, codes, err));
	switch (v->dict.value_bytes)
	{
		case 1: GATHER(uint8_t); break;
		case 4: GATHER(uint32_t); break;
		case 8: GATHER(uint64_t); break;
		default:
			BF_ASSERT(v->dict.value_bytes == 16);
			GATHER(bf_u128);
			break;
	}
	return BF_OK;
}

static BfStatus
skip(BfiValues *v, int32_t n, BfError *err)
{
	return bfi_rle_skip(v->state, (uint32_t) n, err);
}

static BfStatus
encode(const BfiNative *in, BfBuffer *out, BfSeams *seams, BfError *err)
{
	const uint32_t *codes = in->values;
	size_t before = out->len;
	uint32_t any = 0;
	uint32_t width;
	BfStatus status;

	(void) seams;
	BF_ASSERT(in->n > 0);
	for (int32_t i = 0; i < in->n; i++)
		any |= codes[i];
	/* At least 1: not every reader knows codes of no bits. */
	width = 32 - (uint32_t) __builtin_clz(any | 1);
	status = bf_buffer_u8(out, (uint8_t) width, err);
	if (status == BF_OK)
		status = bfi_rle_encode(codes, 4, (uint32_t) in->n, width, out, err);
	if (status != BF_OK)
		out->len = before;
	return status;
}

const BfiMethods bfi_encoding_dictionary = {
	.state_bytes = sizeof(BfiRle),
	.codes = true,
	.begin = begin,
	.decode = decode,
	.skip = skip,
	.encode = encode,
};
