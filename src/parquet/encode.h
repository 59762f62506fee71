/*
 * parquet/encode.h: values and levels to bytes, for the writer of files: what encoding/ has, behind
 * one door.
 */
#ifndef BF_PARQUET_ENCODE_H
#define BF_PARQUET_ENCODE_H

#include "parquet/encoding/encoding.h"

/* Appends the values section of n >= 0 values; the encoding is one that has `encode`. `seams` is
 * filled. */
extern BfStatus bfi_encode_values(int32_t encoding, const BfiNative *in, BfBuffer *out,
								  BfSeams *seams, BfError *err) BF_MUST_CHECK;
/* n > 0 levels, a byte each, as runs. */
extern BfStatus bfi_encode_levels(const uint8_t *levels, int32_t n, uint8_t max, BfBuffer *out,
								  BfError *err) BF_MUST_CHECK;
/* n > 0 levels that are all `level`, of a leaf of which a level takes a byte at most. */
extern BfStatus
bfi_encode_level(uint8_t level, int32_t n, BfBuffer *out, BfError *err) BF_MUST_CHECK;

#endif
