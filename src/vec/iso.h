/*
 * vec/iso.h: dates and times as text, ISO 8601.
 */
#ifndef BF_VEC_ISO_H
#define BF_VEC_ISO_H

#include "vec/type.h"

#define BF_ISO_BYTES 64

/* "2024-02-29", "23:59:59.5", "2024-02-29T23:59:59.5"; +00:00 behind TIMESTAMPTZ, " BC" behind
 * years before 1. Of a fraction all digits are shown but for zeros at its end. Kinds: DATE (days),
 * TIME, TIMESTAMP, TIMESTAMPTZ and their _NS. False: a time that no day has. */
extern bool bf_iso_text(BfKind kind, int64_t v, char *out, size_t size);

#endif
