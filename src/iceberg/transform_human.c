/*
 * Partition values as people and partition paths read them. The spelling is Java's, so that the
 * directory names of other writers equal ours:
 *
 *   year month day hour   %04d, -%02d each
 *   timestamp             2017-12-01T10:12:55.038194, with zone Z at the end; seconds are left out
 *                         when they and the fraction are zero; the fraction has 3, 6 or 9 digits
 *   time                  likewise
 *   decimal               plain, or d.dddE-n when the first digit is past the sixth place
 *   float, double         the fewest digits that read back; d.dddE+n outside [1e-3, 1e7)
 *   binary, fixed         base64
 */
#include "iceberg/transform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/civil.h"
#include "base/text.h"

#define NANOS_PER_SECOND INT64_C(1000000000)

static BfStatus
put_ordinal(BfTransformKind kind, int32_t v, BfBuffer *out, BfError *err)
{
	int64_t hours = v;
	int64_t days;
	BfCivil c;

	BF_ASSERT(kind >= BF_TRANSFORM_YEAR && kind <= BF_TRANSFORM_HOUR);
	if (kind == BF_TRANSFORM_YEAR)
		return bf_buffer_printf(out, err, "%04lld", (long long) v + 1970);
	if (kind == BF_TRANSFORM_MONTH)
		return bf_buffer_printf(out, err, "%04lld-%02d", (long long) bf_floor_div(v, 12) + 1970,
								(int) (v - bf_floor_div(v, 12) * 12 + 1));
	days = kind == BF_TRANSFORM_DAY ? v : bf_floor_div(hours, 24);
	c = bf_civil_from_days(days);
	BF_TRY(bf_buffer_printf(out, err, "%04lld-%02d-%02d", (long long) c.year, c.month, c.day));
	if (kind == BF_TRANSFORM_HOUR)
		return bf_buffer_printf(out, err, "-%02d", (int) (hours - days * 24));
	return BF_OK;
}

static BfStatus
put_time(int64_t second_of_day, int64_t nanos, BfBuffer *out, BfError *err)
{
	BF_TRY(bf_buffer_printf(out, err, "%02d:%02d", (int) (second_of_day / 3600),
							(int) (second_of_day / 60 % 60)));
	if (second_of_day % 60 == 0 && nanos == 0)
		return BF_OK;
	BF_TRY(bf_buffer_printf(out, err, ":%02d", (int) (second_of_day % 60)));
	if (nanos == 0)
		return BF_OK;
	if (nanos % 1000000 == 0)
		return bf_buffer_printf(out, err, ".%03d", (int) (nanos / 1000000));
	if (nanos % 1000 == 0)
		return bf_buffer_printf(out, err, ".%06d", (int) (nanos / 1000));
	return bf_buffer_printf(out, err, ".%09d", (int) nanos);
}

/* `per_second` is the unit of v. */
static BfStatus
put_timestamp(int64_t v, int64_t per_second, bool zone, BfBuffer *out, BfError *err)
{
	int64_t seconds = bf_floor_div(v, per_second);
	int64_t nanos = bf_floor_mod(v, per_second) * (NANOS_PER_SECOND / per_second);
	int64_t days = bf_floor_div(seconds, BF_SECONDS_PER_DAY);
	BfCivil c = bf_civil_from_days(days);

	if (c.year > 9999)
		BF_TRY(bf_buffer_u8(out, '+', err));
	/* A minus takes one of printf's places, not one of Java's. */
	BF_TRY(bf_buffer_printf(out, err, "%0*lld", c.year < 0 ? 5 : 4, (long long) c.year));
	BF_TRY(bf_buffer_printf(out, err, "-%02d-%02dT", c.month, c.day));
	BF_ASSERT(nanos >= 0 && nanos < NANOS_PER_SECOND && c.month >= 1 && c.month <= 12);
	BF_TRY(put_time(seconds - days * BF_SECONDS_PER_DAY, nanos, out, err));
	return zone ? bf_buffer_u8(out, 'Z', err) : BF_OK;
}

static BfStatus
put_decimal(bf_i128 v, int32_t scale, BfBuffer *out, BfError *err)
{
	char text[BF_DECIMAL_TEXT_BYTES];
	const char *digits = text + (v < 0 ? 1 : 0);
	int adjusted = (int) (bf_decimal_text(text, v, 0) - (size_t) (digits - text)) - 1 - scale;

	if (adjusted >= -6)
		return bf_text_decimal(out, v, scale, err);
	if (v < 0)
		BF_TRY(bf_buffer_u8(out, '-', err));
	BF_TRY(bf_buffer_u8(out, (uint8_t) digits[0], err));
	if (digits[1] != '\0')
		BF_TRY(bf_buffer_printf(out, err, ".%s", digits + 1));
	return bf_buffer_printf(out, err, "E%d", adjusted);
}

/* `wide`: a double, else a float. */
static BfStatus
put_floating(double v, bool wide, BfBuffer *out, BfError *err)
{
	char text[64];
	char *e;
	int64_t exponent;
	int n;
	int precision = 0;
	size_t len;

	if (isnan(v))
		return bf_buffer_printf(out, err, "NaN");
	if (isinf(v))
		return bf_buffer_printf(out, err, v < 0 ? "-Infinity" : "Infinity");
	if (v == 0)
		return bf_buffer_printf(out, err, signbit(v) ? "-0.0" : "0.0");
	do
		snprintf(text, sizeof text, "%.*e", precision, v);
	while ((wide ? strtod(text, NULL) != v : strtof(text, NULL) != (float) v) && ++precision < 17);
	e = strchr(text, 'e');
	BF_ASSERT(e != NULL && precision <= 17);
	len = bf_ascii_integer(e + 1 + (e[1] == '+'), strlen(e), &exponent);
	BF_ASSERT(len > 0);
	if (exponent >= -3 && exponent < 7)
	{
		n = precision - (int) exponent;
		return bf_buffer_printf(out, err, "%.*f", n < 1 ? 1 : n, v);
	}
	len = (size_t) (e - text);
	BF_TRY(bf_buffer_append(out, text, len, err));
	return bf_buffer_printf(out, err, precision == 0 ? ".0E%d" : "E%d", (int) exponent);
}

static BfStatus
put_view(const BfValue *v, BfBuffer *out, BfError *err)
{
	switch (v->type.kind)
	{
		case BF_KIND_STRING:
		case BF_KIND_JSON:
		case BF_KIND_ENUM: return bf_buffer_append(out, v->v.view.ptr, v->v.view.len, err);
		case BF_KIND_UUID:
			BF_NEVER(err, v->v.view.len != 16);
			return bf_text_uuid(out, v->v.view.ptr, err);
		default: return bf_text_base64(out, v->v.view, err);
	}
}

static BfStatus
put_value(const BfValue *v, BfBuffer *out, BfError *err)
{
	switch (v->type.kind)
	{
		case BF_KIND_BOOL: return bf_buffer_printf(out, err, v->v.u8 != 0 ? "true" : "false");
		case BF_KIND_DATE: return put_ordinal(BF_TRANSFORM_DAY, v->v.i32, out, err);
		case BF_KIND_TIME: return put_time(v->v.i64 / 1000000, v->v.i64 % 1000000 * 1000, out, err);
		case BF_KIND_TIME_NS:
			return put_time(v->v.i64 / NANOS_PER_SECOND, v->v.i64 % NANOS_PER_SECOND, out, err);
		case BF_KIND_TIMESTAMP: return put_timestamp(v->v.i64, 1000000, false, out, err);
		case BF_KIND_TIMESTAMPTZ: return put_timestamp(v->v.i64, 1000000, true, out, err);
		case BF_KIND_TIMESTAMP_NS:
			return put_timestamp(v->v.i64, NANOS_PER_SECOND, false, out, err);
		case BF_KIND_TIMESTAMPTZ_NS:
			return put_timestamp(v->v.i64, NANOS_PER_SECOND, true, out, err);
		case BF_KIND_UINT64:
			return bf_buffer_printf(out, err, "%llu", (unsigned long long) v->v.i64);
		default: break;
	}
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_I32: return bf_buffer_printf(out, err, "%d", v->v.i32);
		case BF_STORE_I64:
			if (v->type.kind == BF_KIND_DECIMAL)
				return put_decimal(v->v.i64, v->type.scale, out, err);
			return bf_buffer_printf(out, err, "%lld", (long long) v->v.i64);
		case BF_STORE_I128: return put_decimal(v->v.i128, v->type.scale, out, err);
		case BF_STORE_F32: return put_floating((double) v->v.f32, false, out, err);
		case BF_STORE_F64: return put_floating(v->v.f64, true, out, err);
		case BF_STORE_VIEW: return put_view(v, out, err);
		default: break;
	}
	BF_FAIL(err, BF_ERR_UNSUPPORTED, "a partition value of a nested type");
}

BfStatus
bf_transform_human(BfTransform t, const BfValue *result, BfBuffer *out, BfError *err)
{
	if (result->is_null)
		return bf_buffer_printf(out, err, "null");
	switch (t.kind)
	{
		case BF_TRANSFORM_YEAR:
		case BF_TRANSFORM_MONTH:
		case BF_TRANSFORM_DAY:
		case BF_TRANSFORM_HOUR:
			BF_NEVER(err, bf_type_storage(result->type) != BF_STORE_I32);
			return put_ordinal(t.kind, result->v.i32, out, err);
		default: return put_value(result, out, err);
	}
}
