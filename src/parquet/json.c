/*
 * Primitive values as JSON text, in the words of PostgreSQL's to_jsonb where it has the type.
 */
#include "base/text.h"
#include "parquet/variant.h"
#include "vec/iso.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
uuid(BfBuffer *out, BfView v, BfError *err)
{
	BF_NEVER(err, v.len != 16);
	BF_TRY(bf_buffer_u8(out, '"', err));
	BF_TRY(bf_text_uuid(out, v.ptr, err));
	return bf_buffer_u8(out, '"', err);
}

static BfStatus
base64(BfBuffer *out, BfView v, BfError *err)
{
	BF_TRY(bf_buffer_u8(out, '"', err));
	BF_TRY(bf_text_base64(out, v, err));
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
			return bf_text_decimal(out, v->type.precision <= 18 ? v->v.i64 : v->v.i128,
								   v->type.scale, err);
		case BF_KIND_STRING: return bf_text_json(out, v->v.view, BF_JSON_KEEP, err);
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
