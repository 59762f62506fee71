/* The table of kinds, and single values: comparing them as PostgreSQL does. */
#include "vec/type.h"

#include <stdio.h>

#include "base/ascii.h"
#include "vec/powers.h"
#include "vec/type_internal.h"

/* One row per kind: everything that depends on the kind alone. Decimals add their precision. */
static const struct
{
	const char *name;
	BfStorage storage;
} kinds[BF_KIND_COUNT] = {
	[BF_KIND_NULL] = {"unknown", BF_STORE_NONE},
	[BF_KIND_BOOL] = {"boolean", BF_STORE_U8},
	[BF_KIND_INT8] = {"int8", BF_STORE_I32},
	[BF_KIND_INT16] = {"int16", BF_STORE_I32},
	[BF_KIND_INT32] = {"int", BF_STORE_I32},
	[BF_KIND_INT64] = {"long", BF_STORE_I64},
	[BF_KIND_UINT8] = {"uint8", BF_STORE_I32},
	[BF_KIND_UINT16] = {"uint16", BF_STORE_I32},
	[BF_KIND_UINT32] = {"uint32", BF_STORE_I64},
	[BF_KIND_UINT64] = {"uint64", BF_STORE_I64},
	[BF_KIND_FLOAT16] = {"float16", BF_STORE_F32},
	[BF_KIND_FLOAT32] = {"float", BF_STORE_F32},
	[BF_KIND_FLOAT64] = {"double", BF_STORE_F64},
	[BF_KIND_DECIMAL] = {"decimal", BF_STORE_I64},
	[BF_KIND_DATE] = {"date", BF_STORE_I32},
	[BF_KIND_TIME] = {"time", BF_STORE_I64},
	[BF_KIND_TIME_NS] = {"time_ns", BF_STORE_I64},
	[BF_KIND_TIMESTAMP] = {"timestamp", BF_STORE_I64},
	[BF_KIND_TIMESTAMPTZ] = {"timestamptz", BF_STORE_I64},
	[BF_KIND_TIMESTAMP_NS] = {"timestamp_ns", BF_STORE_I64},
	[BF_KIND_TIMESTAMPTZ_NS] = {"timestamptz_ns", BF_STORE_I64},
	[BF_KIND_STRING] = {"string", BF_STORE_VIEW},
	[BF_KIND_JSON] = {"json", BF_STORE_VIEW},
	[BF_KIND_ENUM] = {"enum", BF_STORE_VIEW},
	[BF_KIND_BINARY] = {"binary", BF_STORE_VIEW},
	[BF_KIND_BSON] = {"bson", BF_STORE_VIEW},
	[BF_KIND_UUID] = {"uuid", BF_STORE_VIEW},
	[BF_KIND_FIXED] = {"fixed", BF_STORE_VIEW},
	[BF_KIND_INTERVAL] = {"interval", BF_STORE_VIEW},
	[BF_KIND_GEOMETRY] = {"geometry", BF_STORE_VIEW},
	[BF_KIND_INT96] = {"int96", BF_STORE_VIEW},
	[BF_KIND_STRUCT] = {"struct", BF_STORE_NESTED},
	[BF_KIND_LIST] = {"list", BF_STORE_NESTED},
	[BF_KIND_MAP] = {"map", BF_STORE_NESTED},
	[BF_KIND_VARIANT] = {"variant", BF_STORE_NESTED},
};

BfStorage
bf_type_storage(BfType t)
{
	BF_ASSERT((unsigned) t.kind < BF_KIND_COUNT);
	BF_ASSERT(kinds[t.kind].name != NULL);
	if (t.kind != BF_KIND_DECIMAL)
		return kinds[t.kind].storage;
	if (t.precision <= 18)
		return BF_STORE_I64;
	return t.precision <= 38 ? BF_STORE_I128 : BF_STORE_VIEW;
}

size_t
bf_storage_size(BfStorage s)
{
	static const uint8_t sizes[BF_STORE_COUNT] = {
		[BF_STORE_NONE] = 0,   [BF_STORE_U8] = 1,
		[BF_STORE_I32] = 4,	   [BF_STORE_I64] = 8,
		[BF_STORE_F32] = 4,	   [BF_STORE_F64] = 8,
		[BF_STORE_I128] = 16,  [BF_STORE_VIEW] = sizeof(BfView),
		[BF_STORE_NESTED] = 0,
	};

	BF_ASSERT((unsigned) s < BF_STORE_COUNT);
	return sizes[s];
}

/* Only what belongs to the kind counts: a UUID is a UUID whether or not its length is set. */
bool
bf_type_equal(BfType a, BfType b)
{
	if (a.kind != b.kind)
		return false;
	if (a.kind == BF_KIND_DECIMAL)
		return a.precision == b.precision && a.scale == b.scale;
	return a.kind != BF_KIND_FIXED || a.length == b.length;
}

void
bf_type_name(BfType t, char *buf, size_t size)
{
	const char *name = (unsigned) t.kind < BF_KIND_COUNT ? kinds[t.kind].name : "?";

	if (t.kind == BF_KIND_DECIMAL)
		snprintf(buf, size, "decimal(%d,%d)", t.precision, t.scale);
	else if (t.kind == BF_KIND_FIXED)
		snprintf(buf, size, "fixed[%d]", t.length);
	else
		snprintf(buf, size, "%s", name);
}

int32_t
bf_schema_find_id(const BfSchema *s, int32_t id)
{
	for (int32_t i = 0; i < s->n_fields; i++)
		if (s->fields[i].id == id)
			return i;
	return -1;
}

int32_t
bf_schema_find_name(const BfSchema *s, const char *name)
{
	for (int32_t i = 0; i < s->n_fields; i++)
		if (strcmp(s->fields[i].name, name) == 0)
			return i;
	return -1;
}

int32_t
bf_fields_find(const BfField *fields, int32_t n, const char *name)
{
	int32_t found = -1;
	int32_t alike = 0;

	BF_ASSERT(n >= 0);
	for (int32_t i = 0; i < n; i++)
	{
		if (strcmp(fields[i].name, name) == 0)
			return i;
		if (bf_ascii_same(fields[i].name, name))
		{
			found = i;
			alike++;
		}
	}
	return alike == 1 ? found : -1;
}

#define THREE_WAY(a, b) (((a) > (b)) - ((a) < (b)))

/* NaN is above everything and equal to itself; -0 = 0 comes from the comparison itself. */
static int
compare_doubles(double a, double b)
{
	bool a_nan = a != a, b_nan = b != b;

	if (a_nan || b_nan)
		return (int) a_nan - (int) b_nan;
	return THREE_WAY(a, b);
}

static int
compare_bytes(BfView a, BfView b)
{
	uint32_t n = a.len < b.len ? a.len : b.len;
	int c = n > 0 ? memcmp(a.ptr, b.ptr, n) : 0;

	return c != 0 ? (c > 0) - (c < 0) : THREE_WAY(a.len, b.len);
}

/* Byte i from the right of a big-endian two's complement number, sign-extended. */
static uint8_t
signed_byte(BfView v, uint32_t i)
{
	if (i < v.len)
		return v.ptr[v.len - 1 - i];
	return v.len > 0 && (v.ptr[0] & 0x80) != 0 ? 0xff : 0;
}

static int
compare_big_decimals(BfView a, BfView b)
{
	uint32_t n = a.len > b.len ? a.len : b.len;

	/* One byte more than the longer one, so that the first compared is all sign. */
	for (uint32_t i = n + 1; i-- > 0;)
	{
		uint8_t x = signed_byte(a, i), y = signed_byte(b, i);

		if (i == n)
		{
			x ^= 0x80;
			y ^= 0x80;
		}
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static bf_i128
interval_ms(const uint8_t *p)
{
	bf_i128 days = (bf_i128) bf_load32le(p) * 30 + bf_load32le(p + 4);

	return days * 86400000 + bf_load32le(p + 8);
}

static bf_i128
int96_ns(const uint8_t *p)
{
	return (bf_i128) (int32_t) bf_load32le(p + 8) * INT64_C(86400000000000) +
		   (bf_i128) (int64_t) bf_load64le(p);
}

bool
bfi_view_number(BfKind kind, BfView v, bf_i128 *out)
{
	if (v.len != 12 || (kind != BF_KIND_INTERVAL && kind != BF_KIND_INT96))
		return false;
	*out = kind == BF_KIND_INT96 ? int96_ns(v.ptr) : interval_ms(v.ptr);
	return true;
}

static int
compare_views(BfKind kind, BfView a, BfView b)
{
	bf_i128 x, y;

	if (kind == BF_KIND_DECIMAL)
		return compare_big_decimals(a, b);
	if (bfi_view_number(kind, a, &x) && bfi_view_number(kind, b, &y))
		return THREE_WAY(x, y);
	return compare_bytes(a, b);
}

int
bf_value_compare(const BfValue *a, const BfValue *b)
{
	BfStorage storage = bf_type_storage(a->type);

	BF_ASSERT(!a->is_null && !b->is_null);
	BF_ASSERT(storage == bf_type_storage(b->type));
	BF_ASSERT(storage != BF_STORE_NESTED);
	/* Unscaled numbers of two scales have no order. */
	BF_ASSERT(a->type.kind != b->type.kind || a->type.scale == b->type.scale);
	switch (storage)
	{
		case BF_STORE_U8: return THREE_WAY(a->v.u8, b->v.u8);
		case BF_STORE_I32: return THREE_WAY(a->v.i32, b->v.i32);
		case BF_STORE_I64:
			if (a->type.kind == BF_KIND_UINT64)
				return THREE_WAY((uint64_t) a->v.i64, (uint64_t) b->v.i64);
			return THREE_WAY(a->v.i64, b->v.i64);
		case BF_STORE_F32: return compare_doubles((double) a->v.f32, (double) b->v.f32);
		case BF_STORE_F64: return compare_doubles(a->v.f64, b->v.f64);
		case BF_STORE_I128: return THREE_WAY(a->v.i128, b->v.i128);
		case BF_STORE_VIEW: return compare_views(a->type.kind, a->v.view, b->v.view);
		case BF_STORE_NONE:
		case BF_STORE_NESTED:
		case BF_STORE_COUNT: break;
	}
	return 0;
}

bf_i128
bf_power_of_ten(int32_t exponent)
{
	BF_ASSERT(exponent >= 0 && exponent <= 38);
	if (exponent <= BF_POWER_OF_TEN_MAX)
		return bf_powers_of_ten[exponent];
	return bf_power_of_ten(BF_POWER_OF_TEN_MAX) * bf_power_of_ten(exponent - BF_POWER_OF_TEN_MAX);
}
