#include "exec/read/kafka_json.h"

static BfStatus
put_base64(BfView v, BfBuffer *out, BfError *err)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *o;

	BF_TRY(bf_buffer_reserve(out, ((size_t) v.len + 2) / 3 * 4, err));
	o = out->data + out->len;
	for (uint32_t i = 0; i < v.len; i += 3)
	{
		uint32_t left = v.len - i;
		uint32_t bits = (uint32_t) v.ptr[i] << 16;

		if (left > 1)
			bits |= (uint32_t) v.ptr[i + 1] << 8;
		if (left > 2)
			bits |= v.ptr[i + 2];
		*o++ = (uint8_t) digits[bits >> 18];
		*o++ = (uint8_t) digits[bits >> 12 & 63];
		*o++ = left > 1 ? (uint8_t) digits[bits >> 6 & 63] : '=';
		*o++ = left > 2 ? (uint8_t) digits[bits & 63] : '=';
	}
	out->len = (size_t) (o - out->data);
	return BF_OK;
}

/* Bytes of the well-formed UTF-8 character at p (RFC 3629), 0 = none. */
static uint32_t
utf8_length(const uint8_t *p, uint32_t left)
{
	uint8_t lo = 0x80;
	uint8_t hi = 0xbf;
	uint32_t n;

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
	/* No longer forms than needed, no surrogates, nothing past U+10FFFF. */
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
put_text(BfView v, BfBuffer *out, BfError *err)
{
	static const char hex[] = "0123456789abcdef";

	for (uint32_t i = 0; i < v.len;)
	{
		uint8_t c = v.ptr[i];
		uint32_t n = utf8_length(v.ptr + i, v.len - i);

		if (n == 0)
			BF_TRY(bf_buffer_append(out, "\xef\xbf\xbd", 3, err));
		else if (c < 0x20)
		{
			const char escaped[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

			BF_TRY(bf_buffer_append(out, escaped, sizeof escaped, err));
		}
		else
		{
			if (c == '"' || c == '\\')
				BF_TRY(bf_buffer_u8(out, '\\', err));
			BF_TRY(bf_buffer_append(out, v.ptr + i, n, err));
		}
		i += n > 0 ? n : 1;
	}
	return BF_OK;
}

#define PUT(text) BF_TRY(bf_buffer_append(out, text, sizeof(text) - 1, err))

BfStatus
bfi_kafka_headers_json(const BfRecord *r, BfBuffer *out, BfError *err)
{
	BfView rest = r->headers;

	PUT("[");
	for (int32_t i = 0; i < r->n_headers; i++)
	{
		BfView key, value;
		bool value_null;

		BF_TRY(bf_record_header(&rest, &key, &value, &value_null, err));
		if (i > 0)
			PUT(",");
		PUT("{\"key\":\"");
		BF_TRY(put_text(key, out, err));
		PUT("\",\"value\":");
		if (value_null)
			PUT("null");
		else
		{
			PUT("\"");
			BF_TRY(put_base64(value, out, err));
			PUT("\"");
		}
		PUT("}");
	}
	PUT("]");
	BF_DATA(err, rest.len == 0, -1,
			"there are bytes after the headers of the record at offset %lld",
			(long long) r->offset);
	return BF_OK;
}
