/* Writing of the Thrift compact protocol; see thrift_out.h. */
#include "parquet/write/thrift_out.h"

void
bfi_thrift_begin(BfiThriftOut *t, BfBuffer *out, BfError *err)
{
	BF_ASSERT(out != NULL && err != NULL);
	*t = (BfiThriftOut){.out = out, .err = err, .status = BF_OK};
}

static void
put(BfiThriftOut *t, const void *bytes, size_t n)
{
	if (t->status == BF_OK)
		t->status = bf_buffer_append(t->out, bytes, n, t->err);
}

static void
put_u8(BfiThriftOut *t, uint8_t v)
{
	put(t, &v, 1);
}

static void
put_uvarint(BfiThriftOut *t, uint64_t v)
{
	uint8_t bytes[10];

	put(t, bytes, bf_put_uvarint(bytes, v));
}

static void
put_header(BfiThriftOut *t, int16_t id, BfiThriftType type)
{
	int16_t delta = (int16_t) (id - t->last[t->depth]);

	BF_ASSERT(id > t->last[t->depth]);
	t->last[t->depth] = id;
	if (delta <= 15)
		put_u8(t, (uint8_t) (delta << 4 | (int) type));
	else
	{
		put_u8(t, (uint8_t) type);
		put_uvarint(t, bf_zigzag(id));
	}
}

BfStatus
bfi_thrift_end(BfiThriftOut *t)
{
	BF_ASSERT(t->depth == 0);
	put_u8(t, BFI_T_STOP);
	return t->status;
}

void
bfi_put_bool(BfiThriftOut *t, int16_t id, bool v)
{
	put_header(t, id, v ? BFI_T_TRUE : BFI_T_FALSE);
}

void
bfi_put_i8(BfiThriftOut *t, int16_t id, int8_t v)
{
	put_header(t, id, BFI_T_I8);
	put_u8(t, (uint8_t) v);
}

void
bfi_put_i16(BfiThriftOut *t, int16_t id, int16_t v)
{
	put_header(t, id, BFI_T_I16);
	put_uvarint(t, bf_zigzag(v));
}

void
bfi_put_i32(BfiThriftOut *t, int16_t id, int32_t v)
{
	put_header(t, id, BFI_T_I32);
	put_uvarint(t, bf_zigzag(v));
}

void
bfi_put_i64(BfiThriftOut *t, int16_t id, int64_t v)
{
	put_header(t, id, BFI_T_I64);
	put_uvarint(t, bf_zigzag(v));
}

void
bfi_put_binary(BfiThriftOut *t, int16_t id, const void *bytes, size_t n)
{
	put_header(t, id, BFI_T_BINARY);
	bfi_put_element_binary(t, bytes, n);
}

void
bfi_put_text(BfiThriftOut *t, int16_t id, const char *s)
{
	bfi_put_binary(t, id, s, strlen(s));
}

void
bfi_put_list(BfiThriftOut *t, int16_t id, BfiThriftType element, size_t n)
{
	put_header(t, id, BFI_T_LIST);
	if (n < 15)
		put_u8(t, (uint8_t) (n << 4 | (size_t) element));
	else
	{
		put_u8(t, (uint8_t) (0xf0 | (int) element));
		put_uvarint(t, n);
	}
}

void
bfi_put_struct(BfiThriftOut *t, int16_t id)
{
	put_header(t, id, BFI_T_STRUCT);
	bfi_put_element_struct(t);
}

void
bfi_put_struct_end(BfiThriftOut *t)
{
	BF_ASSERT(t->depth > 0);
	put_u8(t, BFI_T_STOP);
	t->depth--;
}

void
bfi_put_empty(BfiThriftOut *t, int16_t id)
{
	bfi_put_struct(t, id);
	bfi_put_struct_end(t);
}

void
bfi_put_element_struct(BfiThriftOut *t)
{
	BF_ASSERT(t->depth + 1 < BFI_THRIFT_OUT_DEPTH);
	t->last[++t->depth] = 0;
}

void
bfi_put_element_bool(BfiThriftOut *t, bool v)
{
	put_u8(t, v ? BFI_T_TRUE : BFI_T_FALSE);
}

void
bfi_put_element_i64(BfiThriftOut *t, int64_t v)
{
	put_uvarint(t, bf_zigzag(v));
}

void
bfi_put_element_binary(BfiThriftOut *t, const void *bytes, size_t n)
{
	put_uvarint(t, n);
	put(t, bytes, n);
}

void
bfi_put_embedded(BfiThriftOut *t, int16_t id, const void *bytes, size_t n)
{
	BF_ASSERT(n > 0);
	put_header(t, id, BFI_T_STRUCT);
	put(t, bytes, n);
}
