/*
 * Primitive values as JSON text, in the words of PostgreSQL's to_jsonb where it has the type.
 */
#include "parquet/variant.h"
#include "vec/iso.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

BfStatus
bfi_json_string(BfBuffer *out, BfView text, BfError *err)
{
	uint32_t from = 0;

	BF_TRY(bf_buffer_u8(out, '"', err));
	for (uint32_t i = 0; i < text.len; i++)
	{
		uint8_t ch = text.ptr[i];

		if (BF_LIKELY(ch >= 0x20 && ch != '"' && ch != '\\'))
			continue;
		BF_TRY(bf_buffer_append(out, text.ptr + from, i - from, err));
		from = i + 1;
		if (ch < 0x20)
			BF_TRY(bf_buffer_printf(out, err, "\\u%04x", ch));
		else
		{
			BF_TRY(bf_buffer_u8(out, '\\', err));
			BF_TRY(bf_buffer_u8(out, ch, err));
		}
	}
	if (text.len > from)
		BF_TRY(bf_buffer_append(out, text.ptr + from, text.len - from, err));
	return bf_buffer_u8(out, '"', err);
}

static BfStatus
base64(BfBuffer *out, BfView v, BfError *err)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	BF_TRY(bf_buffer_u8(out, '"', err));
	for (uint32_t i = 0; i < v.len; i += 3)
	{
		uint32_t left = v.len - i;
		uint32_t bits = (uint32_t) v.ptr[i] << 16;
		char four[4];

		if (left > 1)
			bits |= (uint32_t) v.ptr[i + 1] << 8;
		if (left > 2)
			bits |= v.ptr[i + 2];
		four[0] = digits[bits >> 18];
		four[1] = digits[bits >> 12 & 63];
		four[2] = left > 1 ? digits[bits >> 6 & 63] : '=';
		four[3] = left > 2 ? digits[bits & 63] : '=';
		BF_TRY(bf_buffer_append(out, four, 4, err));
	}
	return bf_buffer_u8(out, '"', err);
}

/* The fewest digits that read back as the same number. */
static BfStatus
number(BfBuffer *out, double v, bool is_float, BfError *err)
{
	char text[40];

	if (isnan(v))
		return bf_buffer_append(out, "\"NaN\"", 5, err);
	if (isinf(v))
		return bf_buffer_printf(out, err, "\"%sInfinity\"", v < 0 ? "-" : "");
	for (int digits = is_float ? 6 : 15;; digits++)
	{
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (digits >= (is_float ? 9 : 17) ||
			(is_float ? strtof(text, NULL) == (float) v : strtod(text, NULL) == v))
			break;
	}
	return bf_buffer_append(out, text, strlen(text), err);
}

static BfStatus
decimal(BfBuffer *out, bf_i128 v, int32_t scale, BfError *err)
{
	char digits[64];
	char text[128];
	int n = 0;
	size_t o = 0;
	bf_u128 u = v < 0 ? -(bf_u128) v : (bf_u128) v;

	BF_ASSERT(scale >= 0 && scale <= 38);
	do
	{
		digits[n++] = (char) ('0' + (int) (u % 10));
		u /= 10;
	} while (u != 0 || n <= scale);
	if (v < 0)
		text[o++] = '-';
	while (n > 0)
	{
		if (n == scale)
			text[o++] = '.';
		text[o++] = digits[--n];
	}
	return bf_buffer_append(out, text, o, err);
}

static BfStatus
uuid(BfBuffer *out, BfView v, BfError *err)
{
	BF_TRY(bf_buffer_u8(out, '"', err));
	for (uint32_t i = 0; i < v.len; i++)
		BF_TRY(bf_buffer_printf(out, err, "%s%02x",
								i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", v.ptr[i]));
	return bf_buffer_u8(out, '"', err);
}

static BfStatus
date_or_time(BfBuffer *out, const BfValue *v, BfError *err)
{
	int64_t n = v->type.kind == BF_KIND_DATE ? v->v.i32 : v->v.i64;
	char text[BF_ISO_BYTES];

	if (!bf_iso_text(v->type.kind, n, text, sizeof text))
		BF_FAIL(err, BF_ERR_VALUE, "a time of day of %lld is out of range", (long long) n);
	return bf_buffer_printf(out, err, "\"%s\"", text);
}

BfStatus
bfi_json_value(BfBuffer *out, const BfValue *v, BfError *err)
{
	switch (v->type.kind)
	{
		case BF_KIND_BOOL: return bf_buffer_printf(out, err, "%s", v->v.u8 ? "true" : "false");
		case BF_KIND_INT8:
		case BF_KIND_INT16:
		case BF_KIND_INT32: return bf_buffer_printf(out, err, "%d", v->v.i32);
		case BF_KIND_INT64: return bf_buffer_printf(out, err, "%lld", (long long) v->v.i64);
		case BF_KIND_FLOAT32: return number(out, (double) v->v.f32, true, err);
		case BF_KIND_FLOAT64: return number(out, v->v.f64, false, err);
		case BF_KIND_DECIMAL:
			return decimal(out, v->type.precision <= 18 ? v->v.i64 : v->v.i128, v->type.scale, err);
		case BF_KIND_STRING: return bfi_json_string(out, v->v.view, err);
		case BF_KIND_BINARY: return base64(out, v->v.view, err);
		case BF_KIND_UUID: return uuid(out, v->v.view, err);
		case BF_KIND_DATE:
		case BF_KIND_TIME:
		case BF_KIND_TIME_NS:
		case BF_KIND_TIMESTAMP:
		case BF_KIND_TIMESTAMPTZ:
		case BF_KIND_TIMESTAMP_NS:
		case BF_KIND_TIMESTAMPTZ_NS: return date_or_time(out, v, err);
		default: BF_NEVER(err, true); return BF_OK;
	}
}
