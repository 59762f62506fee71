/*
 * parquet/write/thrift_out.h: the Thrift compact protocol (thrift.h has its grammar), written.
 *
 * Fields come in ascending order of their ids. Failures stick: what is put after one is not
 * written, and bfi_thrift_end tells of it.
 *
 *     bfi_thrift_begin(&t, buffer, err);
 *     bfi_put_i32(&t, 1, version);
 *     bfi_put_list(&t, 4, BFI_T_STRUCT, n);
 *     for (...)
 *     {
 *         bfi_put_element_struct(&t);
 *         ...
 *         bfi_put_struct_end(&t);
 *     }
 *     BF_TRY(bfi_thrift_end(&t));
 */
#ifndef BF_PARQUET_WRITE_THRIFT_OUT_H
#define BF_PARQUET_WRITE_THRIFT_OUT_H

#include "parquet/thrift.h"

#define BFI_THRIFT_OUT_DEPTH 16

typedef struct BfiThriftOut
{
	BfBuffer *out; /* borrowed */
	BfError *err;  /* borrowed */
	BfStatus status;
	int depth; /* of open structs below the outermost */
	int16_t last[BFI_THRIFT_OUT_DEPTH];
} BfiThriftOut;

/* The outermost struct. */
extern void bfi_thrift_begin(BfiThriftOut *t, BfBuffer *out, BfError *err);
extern BfStatus bfi_thrift_end(BfiThriftOut *t) BF_MUST_CHECK;

extern void bfi_put_bool(BfiThriftOut *t, int16_t id, bool v);
extern void bfi_put_i8(BfiThriftOut *t, int16_t id, int8_t v);
extern void bfi_put_i16(BfiThriftOut *t, int16_t id, int16_t v);
extern void bfi_put_i32(BfiThriftOut *t, int16_t id, int32_t v);
extern void bfi_put_i64(BfiThriftOut *t, int16_t id, int64_t v);
extern void bfi_put_binary(BfiThriftOut *t, int16_t id, const void *bytes, size_t n);
extern void bfi_put_text(BfiThriftOut *t, int16_t id, const char *s);
extern void bfi_put_list(BfiThriftOut *t, int16_t id, BfiThriftType element, size_t n);
extern void bfi_put_struct(BfiThriftOut *t, int16_t id);
extern void bfi_put_struct_end(BfiThriftOut *t);
/* A struct without fields, as unions have them. */
extern void bfi_put_empty(BfiThriftOut *t, int16_t id);

/* Elements of a list that was put before. */
extern void bfi_put_element_struct(BfiThriftOut *t);
extern void bfi_put_element_bool(BfiThriftOut *t, bool v);
extern void bfi_put_element_i64(BfiThriftOut *t, int64_t v);
extern void bfi_put_element_binary(BfiThriftOut *t, const void *bytes, size_t n);
/* A struct that was written elsewhere, its end included. */
extern void bfi_put_embedded(BfiThriftOut *t, int16_t id, const void *bytes, size_t n);

#endif
