/*
 * Digits are made from the last one on, in an array, and appended at once.
 */
#include "base/text.h"

#define NUMBER_BYTES 20

_Static_assert(BF_DECIMAL_TEXT_BYTES >= 1 + BF_DECIMAL_SCALE_MAX + 1 + 1 + 1,
			   "sign, a zero, the point, the scale's digits, NUL");

static const char hex_digits[] = "0123456789abcdef";

BfStatus
bf_text_put(BfBuffer *b, const char *s, BfError *err)
{
	return bf_buffer_append(b, s, strlen(s), err);
}

BfStatus
bf_text_number(BfBuffer *b, int64_t v, BfError *err)
{
	char digits[NUMBER_BYTES];
	uint64_t rest = v < 0 ? -(uint64_t) v : (uint64_t) v;
	size_t at = sizeof digits;

	do
		digits[--at] = (char) ('0' + rest % 10);
	while ((rest /= 10) != 0);
	if (v < 0)
		digits[--at] = '-';
	BF_ASSERT(at < sizeof digits);
	return bf_buffer_append(b, digits + at, sizeof digits - at, err);
}

void
bf_uuid_text(char out[BF_UUID_TEXT_BYTES], const uint8_t *uuid)
{
	size_t n = 0;

	for (int i = 0; i < 16; i++)
	{
		if (i == 4 || i == 6 || i == 8 || i == 10)
			out[n++] = '-';
		out[n++] = hex_digits[uuid[i] >> 4];
		out[n++] = hex_digits[uuid[i] & 15];
	}
	BF_ASSERT(n + 1 == BF_UUID_TEXT_BYTES);
	out[n] = '\0';
}

BfStatus
bf_text_uuid(BfBuffer *b, const uint8_t *uuid, BfError *err)
{
	char text[BF_UUID_TEXT_BYTES];

	bf_uuid_text(text, uuid);
	return bf_buffer_append(b, text, sizeof text - 1, err);
}

BfStatus
bf_text_base64(BfBuffer *b, BfView bytes, BfError *err)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *to;

	BF_TRY(bf_buffer_reserve(b, ((size_t) bytes.len + 2) / 3 * 4, err));
	to = b->data + b->len;
	for (uint32_t i = 0; i < bytes.len; i += 3)
	{
		uint32_t left = bytes.len - i;
		uint32_t bits = (uint32_t) bytes.ptr[i] << 16;

		if (left > 1)
			bits |= (uint32_t) bytes.ptr[i + 1] << 8;
		if (left > 2)
			bits |= bytes.ptr[i + 2];
		*to++ = (uint8_t) digits[bits >> 18];
		*to++ = (uint8_t) digits[bits >> 12 & 63];
		*to++ = left > 1 ? (uint8_t) digits[bits >> 6 & 63] : '=';
		*to++ = left > 2 ? (uint8_t) digits[bits & 63] : '=';
	}
	if (bytes.len > 0)
		b->len = (size_t) (to - b->data);
	BF_ASSERT(b->len <= b->cap);
	return BF_OK;
}

uint32_t
bf_utf8_length(const uint8_t *p, size_t left)
{
	uint8_t lo = 0x80;
	uint8_t hi = 0xbf;
	uint32_t n;

	BF_ASSERT(left > 0);
	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	/* What would have been shorter, surrogates, and what is past the end show in the second byte.
	 */
	if (p[0] == 0xe0)
		lo = 0xa0;
	else if (p[0] == 0xed)
		hi = 0x9f;
	else if (p[0] == 0xf0)
		lo = 0x90;
	else if (p[0] == 0xf4)
		hi = 0x8f;
	if (left < n || p[1] < lo || p[1] > hi)
		return 0;
	for (uint32_t i = 2; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static BfStatus
json_escape(BfBuffer *b, uint8_t c, BfError *err)
{
	const char unit[6] = {'\\', 'u', '0', '0', hex_digits[c >> 4], hex_digits[c & 15]};
	const char plain[2] = {'\\', (char) c};

	return c < 0x20 ? bf_buffer_append(b, unit, sizeof unit, err)
					: bf_buffer_append(b, plain, sizeof plain, err);
}

BfStatus
bf_text_json(BfBuffer *b, BfView text, BfJsonText how, BfError *err)
{
	uint32_t from = 0; /* what is before it has been put */

	BF_TRY(bf_buffer_u8(b, '"', err));
	for (uint32_t i = 0; i < text.len;)
	{
		uint8_t c = text.ptr[i];
		uint32_t n = 1;

		if (how == BF_JSON_REPAIR && c >= 0x80)
			n = bf_utf8_length(text.ptr + i, text.len - i);
		if (BF_LIKELY(n > 0 && c >= 0x20 && c != '"' && c != '\\'))
		{
			i += n;
			continue;
		}
		BF_TRY(bf_buffer_append(b, text.ptr + from, i - from, err));
		if (n == 0)
			BF_TRY(bf_buffer_append(b, "\xef\xbf\xbd", 3, err));
		else
			BF_TRY(json_escape(b, c, err));
		from = ++i;
	}
	if (text.len > from)
		BF_TRY(bf_buffer_append(b, text.ptr + from, text.len - from, err));
	return bf_buffer_u8(b, '"', err);
}

BfStatus
bf_text_end(BfBuffer *b, const char **out, BfError *err)
{
	BF_TRY(bf_buffer_reserve(b, 1, err));
	b->data[b->len] = '\0';
	*out = (const char *) b->data;
	return BF_OK;
}

size_t
bf_decimal_text(char out[BF_DECIMAL_TEXT_BYTES], bf_i128 v, int32_t scale)
{
	char digits[BF_DECIMAL_TEXT_BYTES]; /* from the last one on */
	bf_u128 rest = v < 0 ? -(bf_u128) v : (bf_u128) v;
	int32_t n = 0;
	size_t len = 0;

	BF_ASSERT(scale >= 0 && scale <= BF_DECIMAL_SCALE_MAX);
	do
	{
		digits[n++] = (char) ('0' + (int) (rest % 10));
		rest /= 10;
	} while (rest != 0 || n <= scale);
	if (v < 0)
		out[len++] = '-';
	while (n > 0)
	{
		if (n == scale)
			out[len++] = '.';
		out[len++] = digits[--n];
	}
	BF_ASSERT(len < BF_DECIMAL_TEXT_BYTES);
	out[len] = '\0';
	return len;
}

BfStatus
bf_text_decimal(BfBuffer *b, bf_i128 v, int32_t scale, BfError *err)
{
	char text[BF_DECIMAL_TEXT_BYTES];

	return bf_buffer_append(b, text, bf_decimal_text(text, v, scale), err);
}
