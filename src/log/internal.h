/*
 * log/internal.h: shared inside the folder.
 */
#ifndef BF_LOG_INTERNAL_H
#define BF_LOG_INTERNAL_H

#include "base/bytes.h"

/* rangeset.c: decimal numbers as range sets spell them: no sign, no leading zeros, at most max. */
extern BfStatus bfi_text_number(BfCursor *c, int64_t max, int64_t *out, BfError *err) BF_MUST_CHECK;
/* v >= 0; writes at most 19 bytes, returns how many. */
extern size_t bfi_put_decimal(uint8_t *p, int64_t v);

#endif
