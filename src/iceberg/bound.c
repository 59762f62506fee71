/*
 * Bounds from bytes: the single values of the specification's appendix D, as files have them that
 * were written before a column got its type of today.
 */
#include "iceberg/metrics.h"

#define DAY_US INT64_C(86400000000)

/* As long as the number fits. */
static bool
decimal_bound(BfView b, BfType type, BfValue *out)
{
	bf_i128 v;

	if (!bf_view_i128(b, &v))
		return false;
	if (bf_type_storage(type) == BF_STORE_I128)
		out->v.i128 = v;
	else if (bf_type_storage(type) == BF_STORE_I64 && v >= INT64_MIN && v <= INT64_MAX)
		out->v.i64 = (int64_t) v;
	else
		return false;
	return true;
}

static bool
floating_bound(BfView b, BfType type, BfValue *out)
{
	float narrow;

	BF_ASSERT(type.kind == BF_KIND_FLOAT32 || type.kind == BF_KIND_FLOAT64);
	if (type.kind == BF_KIND_FLOAT64 && b.len == 8)
	{
		memcpy(&out->v.f64, b.ptr, 8);
		return true;
	}
	if (b.len != 4)
		return false;
	memcpy(&narrow, b.ptr, 4);
	if (type.kind == BF_KIND_FLOAT64)
		out->v.f64 = (double) narrow;
	else
		out->v.f32 = narrow;
	return true;
}

/* Eight bytes, or four of an int or a date of before. */
static bool
long_bound(BfView b, BfType type, BfValue *out)
{
	int64_t narrow;

	BF_ASSERT(bf_type_storage(type) == BF_STORE_I64);
	if (b.len == 8)
	{
		out->v.i64 = (int64_t) bf_load64le(b.ptr);
		return true;
	}
	if (b.len != 4)
		return false;
	narrow = (int32_t) bf_load32le(b.ptr);
	switch (type.kind)
	{
		case BF_KIND_INT64: out->v.i64 = narrow; return true;
		case BF_KIND_TIMESTAMP: out->v.i64 = narrow * DAY_US; return true;
		case BF_KIND_TIMESTAMP_NS:
			return !__builtin_mul_overflow(narrow, DAY_US * 1000, &out->v.i64);
		default: return false;
	}
}

bool
bf_ice_bound_value(BfView b, BfType type, BfValue *out)
{
	*out = (BfValue){.type = type};
	if (type.kind == BF_KIND_STRING || type.kind == BF_KIND_BINARY)
	{
		out->v.view = b;
		return true;
	}
	if (b.len == 0)
		return false;
	switch (type.kind)
	{
		case BF_KIND_BOOL: out->v.u8 = b.ptr[0] != 0; return b.len == 1;
		case BF_KIND_INT32:
		case BF_KIND_DATE:
			if (b.len != 4)
				return false;
			out->v.i32 = (int32_t) bf_load32le(b.ptr);
			return true;
		case BF_KIND_INT64:
		case BF_KIND_TIME:
		case BF_KIND_TIMESTAMP:
		case BF_KIND_TIMESTAMPTZ:
		case BF_KIND_TIMESTAMP_NS:
		case BF_KIND_TIMESTAMPTZ_NS: return long_bound(b, type, out);
		case BF_KIND_FLOAT32:
		case BF_KIND_FLOAT64: return floating_bound(b, type, out);
		case BF_KIND_DECIMAL: return decimal_bound(b, type, out);
		case BF_KIND_UUID: out->v.view = b; return b.len == 16;
		case BF_KIND_FIXED: out->v.view = b; return true;
		default: return false;
	}
}
