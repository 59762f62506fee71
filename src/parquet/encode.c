/* What the writer of files needs of the encodings; see encode.h. */
#include "parquet/encode.h"

BfStatus
bfi_encode_values(int32_t encoding, const BfiNative *in, BfBuffer *out, BfSeams *seams,
				  BfError *err)
{
	const BfiEncoding *e = bfi_encoding_find(encoding);

	BF_ASSERT(e != NULL && e->methods->encode != NULL);
	BF_ASSERT(e->methods->codes || (e->fits >> in->physical & 1) != 0);
	seams->n = 0;
	if (in->n == 0)
		return BF_OK;
	return e->methods->encode(in, out, seams, err);
}

static uint32_t
level_width(uint8_t max)
{
	BF_ASSERT(max > 0);
	return 32 - (uint32_t) __builtin_clz(max);
}

BfStatus
bfi_encode_levels(const uint8_t *levels, int32_t n, uint8_t max, BfBuffer *out, BfError *err)
{
	BF_ASSERT(n > 0);
	return bfi_rle_encode(levels, 1, (uint32_t) n, level_width(max), out, err);
}

BfStatus
bfi_encode_level(uint8_t level, int32_t n, BfBuffer *out, BfError *err)
{
	BF_ASSERT(n > 0);
	BF_TRY(bf_buffer_uvarint(out, (uint64_t) n << 1, err));
	return bf_buffer_u8(out, level, err);
}
