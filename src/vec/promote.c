/*
 * Reading a column of one type as another: the promotions of Iceberg and the synonyms that
 * Parquet writers use.
 *
 * Where both types have the same storage and the value means the same, the result shares the
 * source's memory whatever its form. Else the values are converted into the result's own buffers:
 * the common widenings in tight loops, the rest through one 128-bit integer per value.
 */
#include "vec/batch.h"

#define NANOS_PER_DAY INT64_C(86400000000000)
#define UNIX_EPOCH_JULIAN INT64_C(2440588) /* Julian day of 1970-01-01 */

/* Decimal digits that every value of an integer kind fits in; 0 = not an integer. */
static int32_t
integer_digits(BfKind k)
{
	switch (k)
	{
		case BF_KIND_INT8:
		case BF_KIND_UINT8: return 3;
		case BF_KIND_INT16:
		case BF_KIND_UINT16: return 5;
		case BF_KIND_INT32:
		case BF_KIND_UINT32: return 10;
		case BF_KIND_INT64: return 19;
		case BF_KIND_UINT64: return 20;
		default: return 0;
	}
}

/* Bits without the sign, and whether there is one. */
static int
integer_bits(BfKind k, bool *is_signed)
{
	*is_signed =
		k == BF_KIND_INT8 || k == BF_KIND_INT16 || k == BF_KIND_INT32 || k == BF_KIND_INT64;
	switch (k)
	{
		case BF_KIND_INT8: return 7;
		case BF_KIND_UINT8: return 8;
		case BF_KIND_INT16: return 15;
		case BF_KIND_UINT16: return 16;
		case BF_KIND_INT32: return 31;
		case BF_KIND_UINT32: return 32;
		case BF_KIND_INT64: return 63;
		default: BF_ASSERT(k == BF_KIND_UINT64); return 64;
	}
}

static bool
integer_promotable(BfType from, BfType to)
{
	bool from_signed, to_signed;
	int bits = integer_bits(from.kind, &from_signed);

	switch (to.kind)
	{
		case BF_KIND_DECIMAL:
			return to.precision <= 38 && to.precision - to.scale >= integer_digits(from.kind) &&
				   to.scale >= 0;
		case BF_KIND_FLOAT32: return bits <= 24;
		case BF_KIND_FLOAT64: return bits <= 53;
		default:
			if (integer_digits(to.kind) == 0)
				return false;
			return bits <= integer_bits(to.kind, &to_signed) && (to_signed || !from_signed);
	}
}

static bool
is_timestamp(BfKind k)
{
	return k == BF_KIND_TIMESTAMP || k == BF_KIND_TIMESTAMPTZ || k == BF_KIND_TIMESTAMP_NS ||
		   k == BF_KIND_TIMESTAMPTZ_NS;
}

bool
bf_type_promotable(BfType from, BfType to)
{
	if (bf_type_equal(from, to) || from.kind == BF_KIND_NULL)
		return true;
	if (integer_digits(from.kind) > 0)
		return integer_promotable(from, to);
	switch (from.kind)
	{
		case BF_KIND_FLOAT16: return to.kind == BF_KIND_FLOAT32 || to.kind == BF_KIND_FLOAT64;
		case BF_KIND_FLOAT32: return to.kind == BF_KIND_FLOAT64;
		case BF_KIND_DECIMAL:
			return to.kind == BF_KIND_DECIMAL && to.scale == from.scale &&
				   to.precision >= from.precision;
		case BF_KIND_DATE: return to.kind == BF_KIND_TIMESTAMP || to.kind == BF_KIND_TIMESTAMP_NS;
		case BF_KIND_STRING:
		case BF_KIND_JSON:
		case BF_KIND_ENUM:
		case BF_KIND_BINARY: /* un-annotated text of old writers; whoever shows it validates it */
			return to.kind == BF_KIND_STRING || to.kind == BF_KIND_JSON ||
				   to.kind == BF_KIND_BINARY ||
				   (to.kind == BF_KIND_GEOMETRY && from.kind == BF_KIND_BINARY);
		case BF_KIND_GEOMETRY: return to.kind == BF_KIND_BINARY;
		case BF_KIND_UUID:
			return to.kind == BF_KIND_BINARY || (to.kind == BF_KIND_FIXED && to.length == 16);
		case BF_KIND_FIXED:
			return to.kind == BF_KIND_BINARY || (to.kind == BF_KIND_UUID && from.length == 16);
		case BF_KIND_BSON: return to.kind == BF_KIND_BINARY;
		case BF_KIND_INT96: return is_timestamp(to.kind);
		default: return false;
	}
}

/* dst shows src's memory under its own type. */
static void
share(const BfVector *src, BfVector *dst)
{
	BfVector own = *dst;

	BF_ASSERT(src->storage == own.storage);
	*dst = *src;
	dst->type = own.type;
	dst->storage = own.storage;
	dst->capacity = own.capacity;
	dst->own_data = own.own_data;
	dst->own_validity = own.own_validity;
}

static void
all_null(BfVector *dst, int32_t n)
{
	BfValue null = {.is_null = true, .type = dst->type};

	bf_vector_set_const(dst, &null, n);
}

/* What each integer is multiplied with: units of the target per unit of the source. */
static bf_i128
multiplier(BfType from, BfType to)
{
	if (from.kind == BF_KIND_DATE && to.kind != BF_KIND_DATE)
		return to.kind == BF_KIND_TIMESTAMP ? INT64_C(86400000000) : INT64_C(86400000000000);
	if (to.kind == BF_KIND_DECIMAL && from.kind != BF_KIND_DECIMAL)
		return bf_power_of_ten(to.scale);
	return 1;
}

static bf_i128
load_integer(const BfVector *flat, size_t i)
{
	switch (flat->storage)
	{
		case BF_STORE_I32: return flat->data.i32[i];
		case BF_STORE_I64:
			if (flat->type.kind == BF_KIND_UINT64)
				return (bf_i128) (uint64_t) flat->data.i64[i];
			return flat->data.i64[i];
		default: BF_ASSERT(flat->storage == BF_STORE_I128); return flat->data.i128[i];
	}
}

/* Decimals of more than 38 digits: 16 bytes each, behind the views in the vector's own block. */
static void
store_big_decimal(BfVector *dst, int32_t i, bf_i128 value)
{
	uint8_t *bytes =
		(uint8_t *) dst->own_data + sizeof(BfView) * (size_t) dst->capacity + (size_t) i * 16;

	BF_ASSERT(dst->type.kind == BF_KIND_DECIMAL && dst->storage == BF_STORE_VIEW);
	BF_ASSERT(i < dst->capacity && dst->data.raw == dst->own_data);
	bf_store64be(bytes, (uint64_t) ((bf_u128) value >> 64));
	bf_store64be(bytes + 8, (uint64_t) value);
	dst->data.view[i] = (BfView){bytes, 16};
}

/* The general loop; only dates can be out of range. */
static BfStatus
convert_integers(const BfVector *flat, const uint32_t *codes, const uint64_t *validity,
				 BfVector *dst, int32_t n, BfError *err)
{
	bf_i128 factor = multiplier(flat->type, dst->type);

	BF_ASSERT(n <= dst->capacity && flat->storage != BF_STORE_VIEW);
	for (int32_t i = 0; i < n; i++)
	{
		bf_i128 value = 0;

		if (bf_valid(validity, i))
			value = load_integer(flat, codes != NULL ? codes[i] : (size_t) i) * factor;
		switch (dst->storage)
		{
			case BF_STORE_I64:
				if (value > INT64_MAX || value < INT64_MIN)
					if (dst->type.kind != BF_KIND_UINT64)
						return bf_error(err, BF_ERR_VALUE,
										"a date is out of the range of timestamps");
				dst->data.i64[i] = (int64_t) value;
				break;
			case BF_STORE_I32: dst->data.i32[i] = (int32_t) value; break;
			case BF_STORE_I128: dst->data.i128[i] = value; break;
			case BF_STORE_F32: dst->data.f32[i] = (float) value; break;
			case BF_STORE_F64: dst->data.f64[i] = (double) value; break;
			default: store_big_decimal(dst, i, value); break;
		}
	}
	return BF_OK;
}

/* 12 bytes: nanoseconds of the day, Julian day; both signed, since writers exist that go astray.
 * Nanoseconds are cut off where the target has microseconds, towards the past. */
static BfStatus
int96_to_timestamp(const uint8_t *p, bool in_nanos, int64_t *out, BfError *err)
{
	int64_t part = (int64_t) bf_load64le(p);
	int64_t days = (int64_t) (int32_t) bf_load32le(p + 8) - UNIX_EPOCH_JULIAN;
	int64_t per_day = in_nanos ? NANOS_PER_DAY : NANOS_PER_DAY / 1000;
	bf_i128 wide;

	if (!in_nanos)
		part = part / 1000 - (part % 1000 < 0);
	if (!__builtin_mul_overflow(days, per_day, out) && !__builtin_add_overflow(*out, part, out))
		return BF_OK;
	/* Spark counts microseconds from the Julian epoch in 64 bits, and wraps around for the last
	 * 6000 years before 294247: then what stands here is 2^64 too small. */
	wide = (bf_i128) days * per_day + part;
	if (in_nanos || wide > INT64_MAX || wide < (bf_i128) INT64_MIN - UNIX_EPOCH_JULIAN * per_day)
		BF_FAIL(err, BF_ERR_VALUE, "an INT96 timestamp is out of range");
	*out = (int64_t) (uint64_t) (bf_u128) wide;
	return BF_OK;
}

static BfStatus
convert_int96(const BfVector *flat, const uint32_t *codes, const uint64_t *validity, BfVector *dst,
			  int32_t n, BfError *err)
{
	bool in_nanos =
		dst->type.kind == BF_KIND_TIMESTAMP_NS || dst->type.kind == BF_KIND_TIMESTAMPTZ_NS;

	for (int32_t i = 0; i < n; i++)
	{
		const BfView *v = &flat->data.view[codes != NULL ? codes[i] : (uint32_t) i];

		dst->data.i64[i] = 0;
		if (!bf_valid(validity, i))
			continue;
		BF_NEVER(err, v->len != 12);
		BF_TRY(int96_to_timestamp(v->ptr, in_nanos, &dst->data.i64[i], err));
	}
	return BF_OK;
}

#define WIDEN(from, to)                                      \
	do                                                       \
	{                                                        \
		if (codes != NULL)                                   \
			for (int32_t i = 0; i < n; i++)                  \
				dst->data.to[i] = flat->data.from[codes[i]]; \
		else                                                 \
			for (int32_t i = 0; i < n; i++)                  \
				dst->data.to[i] = flat->data.from[i];        \
		return BF_OK;                                        \
	} while (0)

/* n values of a flat vector, through codes if given, into dst's own buffers. */
static BfStatus
convert(const BfVector *flat, const uint32_t *codes, const uint64_t *validity, BfVector *dst,
		int32_t n, BfError *err)
{
	if (flat->storage == BF_STORE_F32)
		WIDEN(f32, f64);
	if (flat->type.kind == BF_KIND_INT96)
		return convert_int96(flat, codes, validity, dst, n, err);
	if (multiplier(flat->type, dst->type) == 1)
	{
		if (flat->storage == BF_STORE_I32 && dst->storage == BF_STORE_I64)
			WIDEN(i32, i64);
		if (flat->storage == BF_STORE_I64 && dst->storage == BF_STORE_I128 &&
			flat->type.kind != BF_KIND_UINT64)
			WIDEN(i64, i128);
	}
	return convert_integers(flat, codes, validity, dst, n, err);
}

/* Same bytes, same meaning: integers multiplied with one, text, fixed bytes, small decimals. */
static bool
shareable(const BfVector *src, BfType to)
{
	if (src->storage != bf_type_storage(to))
		return false;
	return src->storage == BF_STORE_VIEW || multiplier(src->type, to) == 1;
}

BfStatus
bf_vector_promote(const BfVector *src, BfVector *dst, BfError *err)
{
	bool is_const = src->form == BF_VEC_CONST;
	const BfVector *flat = src->form == BF_VEC_DICT ? src->dict : src;

	BF_ASSERT(src != dst);
	BF_ASSERT(src->n >= 0 && (is_const || src->n <= dst->capacity));
	BF_NEVER(err, dst->own_validity == NULL);
	if (!bf_type_promotable(src->type, dst->type))
	{
		char from[64], to[64];

		bf_type_name(src->type, from, sizeof from);
		bf_type_name(dst->type, to, sizeof to);
		return bf_error(err, BF_ERR_UNSUPPORTED, "a column of type %s cannot be read as %s", from,
						to);
	}
	if (src->type.kind == BF_KIND_NULL)
	{
		all_null(dst, src->n);
		return BF_OK;
	}
	if (shareable(src, dst->type))
	{
		share(src, dst);
		return BF_OK;
	}
	/* An all-NULL column may come with an empty dictionary, and constants with no value. */
	if ((src->form == BF_VEC_DICT && flat->n == 0) || (is_const && !bf_valid(src->validity, 0)))
	{
		all_null(dst, src->n);
		return BF_OK;
	}
	bf_vector_restore(dst);
	dst->form = is_const ? BF_VEC_CONST : BF_VEC_FLAT;
	dst->n = src->n;
	dst->validity = src->validity;
	BF_ASSERT(flat->type.kind == src->type.kind);
	return convert(flat, src->form == BF_VEC_DICT ? src->codes : NULL, src->validity, dst,
				   is_const ? 1 : src->n, err);
}

BfStatus
bf_value_promote(const BfValue *from, BfType to, BfValue *out, BfError *err)
{
	bf_u128 data[2] = {0};
	uint64_t validity[BF_VALIDITY_WORDS];
	BfValue value = *from;
	BfVector src = {.type = from->type,
					.storage = bf_type_storage(from->type),
					.n = 1,
					.capacity = 1,
					.data.raw = &value.v};
	BfVector dst = {.type = to,
					.storage = bf_type_storage(to),
					.capacity = 1,
					.own_data = data,
					.own_validity = validity};

	BF_ASSERT(!from->is_null);
	if (dst.storage == BF_STORE_NESTED || dst.storage == BF_STORE_NONE ||
		(to.kind == BF_KIND_DECIMAL && dst.storage != src.storage && to.precision > 38))
		return bf_error(err, BF_ERR_UNSUPPORTED, "a value that can't be promoted by itself");
	BF_TRY(bf_vector_promote(&src, &dst, err));
	bf_vector_get(&dst, 0, out);
	return BF_OK;
}

/* An integer as a value of an integer storage, if it fits. */
static BfDemoted
narrow(bf_i128 v, BfType to, BfValue *out)
{
	*out = (BfValue){.type = to};
	switch (bf_type_storage(to))
	{
		case BF_STORE_I32:
			out->v.i32 = (int32_t) v;
			return v >= INT32_MIN && v <= INT32_MAX ? BF_DEMOTED_ONE : BF_DEMOTED_NONE;
		case BF_STORE_I64:
			out->v.i64 = (int64_t) (uint64_t) (bf_u128) v;
			if (to.kind == BF_KIND_UINT64)
				return v >= 0 && v <= (bf_i128) UINT64_MAX ? BF_DEMOTED_ONE : BF_DEMOTED_NONE;
			return v >= INT64_MIN && v <= INT64_MAX ? BF_DEMOTED_ONE : BF_DEMOTED_NONE;
		case BF_STORE_I128: out->v.i128 = v; return BF_DEMOTED_ONE;
		default: return BF_DEMOTED_UNKNOWN;
	}
}

/* Floats that were floats of less precision, or integers. */
static BfDemoted
demote_float(double v, BfType to, BfValue *out)
{
	if (to.kind == BF_KIND_FLOAT32 || to.kind == BF_KIND_FLOAT16)
	{
		*out = (BfValue){.type = to, .v.f32 = (float) v};
		return (double) out->v.f32 == v || v != v ? BF_DEMOTED_ONE : BF_DEMOTED_NONE;
	}
	if (integer_digits(to.kind) == 0)
		return BF_DEMOTED_UNKNOWN;
	/* Only integers of at most 53 bits are promoted to floats. */
	if (!(v >= -0x1p53 && v <= 0x1p53) || (double) (int64_t) v != v)
		return BF_DEMOTED_NONE;
	return narrow((int64_t) v, to, out);
}

BfDemoted
bf_value_demote(const BfValue *from, BfType to, BfValue *out)
{
	BfVector src = {.type = from->type,
					.storage = bf_type_storage(from->type),
					.n = 1,
					.data.raw = (void *) (uintptr_t) &from->v};
	bf_i128 factor;
	bf_i128 v;

	BF_ASSERT(!from->is_null);
	if (!bf_type_promotable(to, from->type) || to.kind == BF_KIND_NULL)
		return BF_DEMOTED_UNKNOWN;
	if (src.storage == bf_type_storage(to) &&
		(src.storage == BF_STORE_VIEW || multiplier(to, from->type) == 1))
	{
		*out = *from;
		out->type = to;
		return BF_DEMOTED_ONE;
	}
	switch (src.storage)
	{
		case BF_STORE_F32: return demote_float((double) from->v.f32, to, out);
		case BF_STORE_F64: return demote_float(from->v.f64, to, out);
		case BF_STORE_I32:
		case BF_STORE_I64:
		case BF_STORE_I128: break;
		default: return BF_DEMOTED_UNKNOWN;
	}
	if (to.kind == BF_KIND_INT96)
		return BF_DEMOTED_UNKNOWN;
	v = load_integer(&src, 0);
	factor = multiplier(to, from->type);
	BF_ASSERT(factor > 0);
	return v % factor != 0 ? BF_DEMOTED_NONE : narrow(v / factor, to, out);
}
