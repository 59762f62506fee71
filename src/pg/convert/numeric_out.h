/*
 * pg/convert/numeric_out.h: numeric Datums made by hand.
 *
 * PostgreSQL's own constructors cost a division loop, a copy and an allocation per value. These
 * write the stored form straight into a caller's buffer, byte for byte what numeric_in makes of the
 * same decimal text:
 *
 *   uint32 length word   uint16 header   int16 digits[], base 10000, most significant first
 *   short header: 0x8000 | sign 0x2000 | dscale << 7 | weight (7 bits, two's complement)
 *   long header:  sign 0x4000 | dscale, then int16 weight; only where the short one cannot say it
 *
 * Leading and trailing zero digits are not stored; zero has no digits, weight 0 and no sign.
 */
#ifndef BIFANG_PG_CONVERT_NUMERIC_OUT_H
#define BIFANG_PG_CONVERT_NUMERIC_OUT_H

#include "postgres.h"

#include "base/bytes.h"

/* Room that any result of the 64-bit and 128-bit forms takes, a multiple of 8. scale <= 38. */
#define BIFANG_NUMERIC_BYTES 40

/* Both return the bytes used. `to` is 4-byte aligned. */
extern size_t bifang_numeric_i64(void *to, int64 unscaled, int scale);
extern size_t bifang_numeric_i128(void *to, bf_i128 unscaled, int scale);
/* Big-endian two's complement of any length, palloc'd; scale 0 .. 16383. */
extern Datum bifang_numeric_bytes(const uint8 *bytes, uint32 n, int scale);

#endif
