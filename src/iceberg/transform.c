/* Partition transforms: their names, what they may be of, and what they make of a value. */
#include "iceberg/transform.h"

#include "base/ascii.h"
#include "base/civil.h"

#define MICROS_PER_HOUR INT64_C(3600000000)
#define HOURS_PER_DAY 24
#define NANOS_PER_MICRO 1000

static const BfTransformRow rows[] = {
	[BF_TRANSFORM_IDENTITY] = {"identity", "", false, false},
	[BF_TRANSFORM_BUCKET] = {"bucket", "_bucket", true, false},
	[BF_TRANSFORM_TRUNCATE] = {"truncate", "_trunc", true, false},
	[BF_TRANSFORM_YEAR] = {"year", "_year", false, true},
	[BF_TRANSFORM_MONTH] = {"month", "_month", false, true},
	[BF_TRANSFORM_DAY] = {"day", "_day", false, true},
	[BF_TRANSFORM_HOUR] = {"hour", "_hour", false, true},
	[BF_TRANSFORM_VOID] = {"void", "_null", false, false},
};
#define N_ROWS (sizeof rows / sizeof rows[0])

_Static_assert(N_ROWS == BF_TRANSFORM_UNKNOWN, "each transform has a row");

const BfTransformRow *
bf_transform_row(BfTransformKind kind)
{
	return kind < BF_TRANSFORM_UNKNOWN ? &rows[kind] : NULL;
}

/* "name" or "name[digits]"; *param = -1 without brackets. */
static bool
split_text(const char *text, size_t *name_len, int64_t *param)
{
	const char *open = strchr(text, '[');
	size_t n;

	*param = -1;
	*name_len = strlen(text);
	if (open == NULL)
		return true;
	*name_len = (size_t) (open - text);
	n = bf_ascii_number(open + 1, strlen(open + 1), INT32_MAX, param);
	if (*param < 0)
		*param = INT64_MAX;
	return n > 0 && strcmp(open + 1 + n, "]") == 0;
}

BfStatus
bf_transform_parse(const char *text, BfTransform *out, BfError *err)
{
	size_t name_len;
	int64_t param;

	out->kind = BF_TRANSFORM_UNKNOWN;
	out->param = 0;
	if (!split_text(text, &name_len, &param))
		return BF_OK;
	for (size_t i = 0; i < N_ROWS; i++)
	{
		if (strlen(rows[i].name) != name_len ||
			!bf_ascii_same_bytes(rows[i].name, text, name_len) || rows[i].has_param != (param >= 0))
			continue;
		if (rows[i].has_param && (param < 1 || param > INT32_MAX))
			BF_FAIL(err, BF_ERR_CORRUPT,
					"partition transform \"%.64s\" needs a number from 1 to %d", text, INT32_MAX);
		out->kind = (BfTransformKind) i;
		out->param = rows[i].has_param ? (int32_t) param : 0;
	}
	return BF_OK;
}

static bool
is_timestamp(BfKind k)
{
	return k == BF_KIND_TIMESTAMP || k == BF_KIND_TIMESTAMPTZ || k == BF_KIND_TIMESTAMP_NS ||
		   k == BF_KIND_TIMESTAMPTZ_NS;
}

static bool
is_narrow_int(BfKind k)
{
	return k == BF_KIND_INT8 || k == BF_KIND_INT16 || k == BF_KIND_INT32;
}

static bool
is_text(BfKind k)
{
	return k == BF_KIND_STRING || k == BF_KIND_JSON || k == BF_KIND_ENUM;
}

static bool
is_binary(BfKind k)
{
	return k == BF_KIND_BINARY || k == BF_KIND_BSON;
}

/* What both bucket and truncate take. Iceberg's decimals end at precision 38. */
static bool
is_truncatable(BfType t)
{
	return is_narrow_int(t.kind) || t.kind == BF_KIND_INT64 || is_text(t.kind) ||
		   is_binary(t.kind) || (t.kind == BF_KIND_DECIMAL && t.precision <= 38);
}

static bool
takes(BfTransformKind kind, BfType source)
{
	switch (kind)
	{
		case BF_TRANSFORM_VOID: return true;
		case BF_TRANSFORM_IDENTITY: return bf_type_storage(source) != BF_STORE_NESTED;
		case BF_TRANSFORM_TRUNCATE: return is_truncatable(source);
		case BF_TRANSFORM_BUCKET:
			return is_truncatable(source) || is_timestamp(source.kind) ||
				   source.kind == BF_KIND_DATE || source.kind == BF_KIND_TIME ||
				   source.kind == BF_KIND_UUID || source.kind == BF_KIND_FIXED;
		case BF_TRANSFORM_YEAR:
		case BF_TRANSFORM_MONTH:
		case BF_TRANSFORM_DAY: return source.kind == BF_KIND_DATE || is_timestamp(source.kind);
		case BF_TRANSFORM_HOUR: return is_timestamp(source.kind);
		case BF_TRANSFORM_UNKNOWN: return false;
	}
	return false;
}

static const char *
kind_name(BfTransformKind kind)
{
	const BfTransformRow *row = bf_transform_row(kind);

	return row != NULL ? row->name : "unknown";
}

BfStatus
bf_transform_result_type(BfTransform t, BfType source, BfType *out, BfError *err)
{
	if (t.kind == BF_TRANSFORM_UNKNOWN)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "unknown partition transform");
	if (!takes(t.kind, source))
	{
		char type[64];

		bf_type_name(source, type, sizeof type);
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "partition transform %s does not take a %s",
				kind_name(t.kind), type);
	}
	switch (t.kind)
	{
		case BF_TRANSFORM_BUCKET:
		case BF_TRANSFORM_YEAR:
		case BF_TRANSFORM_MONTH:
		case BF_TRANSFORM_HOUR: *out = BF_TYPE(INT32); break;
		case BF_TRANSFORM_DAY: *out = BF_TYPE(DATE); break;
		default: *out = source; break;
	}
	return BF_OK;
}

/* murmur3_x86_32 with seed 0. */
static int32_t
murmur3(const uint8_t *p, size_t n)
{
	uint32_t h = 0;
	uint32_t k = 0;
	size_t body = n & ~(size_t) 3;

	for (size_t i = 0; i < body; i += 4)
	{
		k = bf_load32le(p + i) * 0xcc9e2d51u;
		h ^= ((k << 15) | (k >> 17)) * 0x1b873593u;
		h = ((h << 13) | (h >> 19)) * 5 + 0xe6546b64u;
	}
	k = 0;
	for (size_t i = n; i > body; i--)
		k = (k << 8) | p[i - 1];
	k *= 0xcc9e2d51u;
	h ^= ((k << 15) | (k >> 17)) * 0x1b873593u;
	h ^= (uint32_t) n;
	h = (h ^ (h >> 16)) * 0x85ebca6bu;
	h = (h ^ (h >> 13)) * 0xc2b2ae35u;
	return (int32_t) (h ^ (h >> 16));
}

static int32_t
hash_int64(int64_t v)
{
	uint8_t le[8];

	bf_store64le(le, (uint64_t) v);
	return murmur3(le, sizeof le);
}

/* Over the shortest big-endian two's complement. */
static int32_t
hash_unscaled(bf_i128 v)
{
	uint8_t be[16];
	size_t first = 0;

	for (size_t i = 0; i < sizeof be; i++)
		be[sizeof be - 1 - i] = (uint8_t) ((bf_u128) v >> (8 * i));
	/* A byte can go when it only repeats the sign of the next one. */
	while (first < 15 && be[first] == ((be[first + 1] & 0x80) != 0 ? 0xff : 0))
		first++;
	return murmur3(be + first, sizeof be - first);
}

static int64_t
to_micros(const BfValue *v)
{
	if (v->type.kind == BF_KIND_TIMESTAMP_NS || v->type.kind == BF_KIND_TIMESTAMPTZ_NS)
		return bf_floor_div(v->v.i64, NANOS_PER_MICRO);
	return v->v.i64;
}

BfStatus
bf_transform_hash(const BfValue *source, int32_t *out, BfError *err)
{
	BF_NEVER(err, source->is_null || !takes(BF_TRANSFORM_BUCKET, source->type));
	switch (bf_type_storage(source->type))
	{
		case BF_STORE_I32: *out = hash_int64(source->v.i32); return BF_OK;
		case BF_STORE_I128: *out = hash_unscaled(source->v.i128); return BF_OK;
		case BF_STORE_VIEW: *out = murmur3(source->v.view.ptr, source->v.view.len); return BF_OK;
		default: break;
	}
	BF_NEVER(err, bf_type_storage(source->type) != BF_STORE_I64);
	*out = source->type.kind == BF_KIND_DECIMAL ? hash_unscaled(source->v.i64)
												: hash_int64(to_micros(source));
	return BF_OK;
}

/* Bytes of the first w code points; what is not UTF-8 counts by its non-continuation bytes. */
static uint32_t
code_points_length(BfView text, int32_t w)
{
	int64_t seen = 0;

	BF_ASSERT(w > 0);
	for (uint32_t i = 0; i < text.len; i++)
		if ((text.ptr[i] & 0xc0) != 0x80 && seen++ == w)
			return i;
	return text.len;
}

/* v - (((v % w) + w) % w), every step wrapped to 32 bits as in Java. */
static int32_t
truncate_i32(int32_t v, int32_t w)
{
	int32_t shifted = (int32_t) ((uint32_t) (v % w) + (uint32_t) w);

	BF_ASSERT(w > 0);
	return (int32_t) ((uint32_t) v - (uint32_t) (shifted % w));
}

static int64_t
truncate_i64(int64_t v, int32_t w)
{
	int64_t shifted = v % w + w;

	BF_ASSERT(w > 0 && shifted > 0);
	return (int64_t) ((uint64_t) v - (uint64_t) (shifted % w));
}

static BfStatus
truncate_value(int32_t w, const BfValue *source, BfValue *out, BfError *err)
{
	bool fits = true;

	if (is_text(source->type.kind))
		out->v.view.len = code_points_length(source->v.view, w);
	else if (is_binary(source->type.kind))
		out->v.view.len = source->v.view.len < (uint32_t) w ? source->v.view.len : (uint32_t) w;
	else if (bf_type_storage(source->type) == BF_STORE_I32)
		out->v.i32 = truncate_i32(source->v.i32, w);
	else if (source->type.kind == BF_KIND_INT64)
		out->v.i64 = truncate_i64(source->v.i64, w);
	else if (bf_type_storage(source->type) == BF_STORE_I64)
		fits = !__builtin_sub_overflow(source->v.i64, (source->v.i64 % w + w) % w, &out->v.i64);
	else
		fits = !__builtin_sub_overflow(source->v.i128, (source->v.i128 % w + w) % w, &out->v.i128);
	if (!fits)
		BF_FAIL(err, BF_ERR_VALUE, "decimal is too small to be truncated to multiples of %d", w);
	return BF_OK;
}

static BfStatus
time_part(BfTransformKind kind, const BfValue *source, int32_t *out, BfError *err)
{
	int64_t hours = source->type.kind == BF_KIND_DATE
						? (int64_t) source->v.i32 * HOURS_PER_DAY
						: bf_floor_div(to_micros(source), MICROS_PER_HOUR);
	int64_t days = bf_floor_div(hours, HOURS_PER_DAY);
	int64_t result;
	BfCivil c;

	BF_ASSERT(kind >= BF_TRANSFORM_YEAR && kind <= BF_TRANSFORM_HOUR);
	switch (kind)
	{
		case BF_TRANSFORM_HOUR: result = hours; break;
		case BF_TRANSFORM_DAY: result = days; break;
		default:
			c = bf_civil_from_days(days);
			result = c.year - 1970;
			if (kind == BF_TRANSFORM_MONTH)
				result = result * 12 + c.month - 1;
			break;
	}
	if (result < INT32_MIN || result > INT32_MAX)
		BF_FAIL(err, BF_ERR_VALUE, "timestamp is out of range for partition transform %s",
				kind_name(kind));
	*out = (int32_t) result;
	return BF_OK;
}

BfStatus
bf_transform_apply(BfTransform t, const BfValue *source, BfValue *out, BfError *err)
{
	BfValue in = *source; /* out may be the source */
	int32_t hash;

	BF_TRY(bf_transform_result_type(t, in.type, &out->type, err));
	out->is_null = in.is_null || t.kind == BF_TRANSFORM_VOID;
	out->v = in.v;
	if (out->is_null)
		return BF_OK;
	switch (t.kind)
	{
		case BF_TRANSFORM_IDENTITY: return BF_OK;
		case BF_TRANSFORM_BUCKET:
			BF_NEVER(err, t.param < 1);
			BF_TRY(bf_transform_hash(&in, &hash, err));
			out->v.i32 = (hash & INT32_MAX) % t.param;
			return BF_OK;
		case BF_TRANSFORM_TRUNCATE:
			BF_NEVER(err, t.param < 1);
			return truncate_value(t.param, &in, out, err);
		default: return time_part(t.kind, &in, &out->v.i32, err);
	}
}
