/*
 * base/text.h: text, built in a bounded buffer.
 *
 * Everything here appends to a BfBuffer: its bytes_max is what the text may have at most, and a
 * failure leaves what was there. Numbers don't go through printf, which looks at the locale;
 * bf_buffer_printf is for what has a format. What is one formatted text and no more is
 * bf_arena_printf.
 *
 *     BF_TRY(bf_buffer_new(a, TEXT_MAX, &b, err));
 *     BF_TRY(bf_text_put(b, "{\"name\":", err));
 *     BF_TRY(bf_text_json(b, name, BF_JSON_KEEP, err));
 *     BF_TRY(bf_text_put(b, "}", err));
 *     BF_TRY(bf_text_end(b, &text, err));
 *
 * What the functions write:
 *
 *   number    [ "-" ] digits, no leading zeros
 *   decimal   [ "-" ] digits [ "." digits ]: the unscaled value v at a scale s has s digits behind
 *             the point, and one before it at least: 5 at scale 2 is 0.05
 *   base64    RFC 4648, section 4, with padding
 *   uuid      8-4-4-4-12 lower-case hexadecimal digits
 *   json      a string of RFC 8259 with its quotes; the quote, the backslash and the characters
 *             below 0x20 are escaped, the latter as \u00xx, and nothing else is
 */
#ifndef BF_BASE_TEXT_H
#define BF_BASE_TEXT_H

#include "base/bytes.h"

extern BfStatus bf_text_put(BfBuffer *b, const char *s, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_text_number(BfBuffer *b, int64_t v, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_text_base64(BfBuffer *b, BfView bytes, BfError *err) BF_MUST_CHECK;

typedef enum BfJsonText
{
	BF_JSON_KEEP,  /* the bytes are UTF-8, or whoever reads the text looks after it */
	BF_JSON_REPAIR /* what is no UTF-8 becomes U+FFFD, a byte at a time */
} BfJsonText;

extern BfStatus bf_text_json(BfBuffer *b, BfView text, BfJsonText how, BfError *err) BF_MUST_CHECK;

/* The text so far, with a NUL behind it that is not counted; lives as long as the buffer stays as
 * it is. */
extern BfStatus bf_text_end(BfBuffer *b, const char **out, BfError *err) BF_MUST_CHECK;

/* Room for any number at any scale up to BF_DECIMAL_SCALE_MAX: sign, point, NUL. */
#define BF_DECIMAL_TEXT_BYTES 48
#define BF_DECIMAL_SCALE_MAX 40

/* As above, with a NUL; returns its length. */
extern size_t bf_decimal_text(char out[BF_DECIMAL_TEXT_BYTES], bf_i128 v, int32_t scale);
extern BfStatus bf_text_decimal(BfBuffer *b, bf_i128 v, int32_t scale, BfError *err) BF_MUST_CHECK;

#define BF_UUID_TEXT_BYTES 37

/* Of 16 bytes, with a NUL. */
extern void bf_uuid_text(char out[BF_UUID_TEXT_BYTES], const uint8_t *uuid);
extern BfStatus bf_text_uuid(BfBuffer *b, const uint8_t *uuid, BfError *err) BF_MUST_CHECK;

/* Bytes of the well-formed UTF-8 character at p, where left > 0 can be read; 0 = there is none
 * (RFC 3629: no longer forms than needed, no surrogates, nothing past U+10FFFF). */
extern uint32_t bf_utf8_length(const uint8_t *p, size_t left);

#endif
