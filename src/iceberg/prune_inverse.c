/*
 * From partition values back to the column: given that all of a set's values of a transform lie in
 * [lo, hi], in which range do the column's own values lie?
 *
 * Whatever can't be said (no such number in the column's type, an upper bound beyond the last
 * number) is left out: a missing bound only means less pruning.
 */
#include "base/civil.h"
#include "iceberg/internal.h"
#include "iceberg/prune_internal.h"

/* Texts of so many code points may have been cut by whoever wrote the bound. */
#define CUT_CODE_POINTS 16

#define MICROS_PER_HOUR INT64_C(3600000000)
#define NANOS_PER_HOUR INT64_C(3600000000000)
#define HOURS_MODULUS ((bf_i128) 1 << 32)

static bool
is_nanos(BfKind k)
{
	return k == BF_KIND_TIMESTAMP_NS || k == BF_KIND_TIMESTAMPTZ_NS;
}

bool
bfi_value_integer(const BfValue *v, bf_i128 *out)
{
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_U8: *out = v->v.u8; return true;
		case BF_STORE_I32: *out = v->v.i32; return true;
		case BF_STORE_I64: *out = v->v.i64; return true;
		case BF_STORE_I128: *out = v->v.i128; return true;
		default: return false;
	}
}

bool
bfi_integer_value(bf_i128 x, BfType type, BfValue *out)
{
	*out = (BfValue){.type = type};
	switch (bf_type_storage(type))
	{
		case BF_STORE_U8: out->v.u8 = (uint8_t) x; return x >= 0 && x <= 1;
		case BF_STORE_I32: out->v.i32 = (int32_t) x; return x >= INT32_MIN && x <= INT32_MAX;
		case BF_STORE_I64: out->v.i64 = (int64_t) x; return x >= INT64_MIN && x <= INT64_MAX;
		case BF_STORE_I128: out->v.i128 = x; return true;
		default: return false;
	}
}

/* The same value in another type of the column, if there it is exactly that. */
static bool
as_type(const BfValue *v, BfType type, BfValue *out)
{
	bf_i128 x;

	*out = *v;
	out->type = type;
	if (bf_type_equal(v->type, type))
		return true;
	if ((v->type.kind == BF_KIND_INT32 || v->type.kind == BF_KIND_INT64) &&
		(type.kind == BF_KIND_INT32 || type.kind == BF_KIND_INT64))
		return bfi_value_integer(v, &x) && bfi_integer_value(x, type, out);
	if (v->type.kind == BF_KIND_DECIMAL && type.kind == BF_KIND_DECIMAL &&
		v->type.scale == type.scale)
		return bfi_value_integer(v, &x) && bfi_integer_value(x, type, out);
	if (v->type.kind == BF_KIND_FLOAT32 && type.kind == BF_KIND_FLOAT64)
	{
		out->v.f64 = (double) v->v.f32;
		return true;
	}
	if (v->type.kind == BF_KIND_FLOAT64 && type.kind == BF_KIND_FLOAT32)
	{
		out->v.f32 = (float) v->v.f64;
		return (double) out->v.f32 == v->v.f64;
	}
	return false;
}

void
bfi_range_tighten(BfColumnStats *s, const BfValue *min, const BfValue *max)
{
	BF_ASSERT(min == NULL || !min->is_null);
	BF_ASSERT(max == NULL || !max->is_null);
	if (min != NULL && (!s->has_min || bf_value_compare(min, &s->min) > 0))
	{
		s->min = *min;
		s->has_min = true;
	}
	if (max != NULL && (!s->has_max || bf_value_compare(max, &s->max) < 0))
	{
		s->max = *max;
		s->has_max = true;
	}
}

static uint8_t *
take_buffer(BfiPruneBuffers *b)
{
	BF_ASSERT(b->n >= 0 && b->n <= BFI_PRUNE_BUFFERS);
	return b->n < BFI_PRUNE_BUFFERS ? b->bytes[b->n++] : NULL;
}

bool
bfi_text_after_prefix(BfView prefix, BfType type, BfiPruneBuffers *buffers, BfView *out)
{
	uint32_t n = prefix.len < BF_ICE_BOUND_BYTES ? prefix.len : BF_ICE_BOUND_BYTES;
	uint8_t *p;

	/* Which does not occur in UTF-8. Counted up the prefix would be a text itself. */
	bool text = type.kind == BF_KIND_STRING;

	while (!text && n > 0 && prefix.ptr[n - 1] == 0xff)
		n--;
	if (n == 0)
		return false;
	p = take_buffer(buffers);
	if (p == NULL)
		return false;
	_Static_assert(sizeof buffers->bytes[0] > BF_ICE_BOUND_BYTES, "a bound and a byte behind it");
	BF_ASSERT(text || prefix.ptr[n - 1] != 0xff);
	memcpy(p, prefix.ptr, n);
	if (text)
		p[n++] = 0xff;
	else
		p[n - 1]++;
	*out = (BfView){p, n};
	return true;
}

static int64_t
code_points(BfView v)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < v.len; i++)
		n += (v.ptr[i] & 0xc0) != 0x80;
	return n;
}

/* In characters of a text, in bytes of anything else. */
static int64_t
length_of(const BfValue *v)
{
	return v->type.kind == BF_KIND_STRING ? code_points(v->v.view) : (int64_t) v->v.view.len;
}

bool
bfi_text_may_be_cut(const BfValue *v)
{
	return length_of(v) >= CUT_CODE_POINTS;
}

/* The high half of a UUID alone: some writers compare the halves as signed numbers, and as long as
 * two high halves are in order the same way by both rules, this much is right by both. */
void
bfi_uuid_widen(BfValue *v, bool upper, BfiPruneBuffers *buffers, bool *has)
{
	uint8_t *p = take_buffer(buffers);

	*has = p != NULL && v->v.view.len == 16;
	if (!*has)
		return;
	memcpy(p, v->v.view.ptr, 8);
	memset(p + 8, upper ? 0xff : 0, 8);
	v->v.view.ptr = p;
}

static void
identity_range(const BfiSpecField *f, const BfValue *lo, const BfValue *hi,
			   BfiPruneBuffers *buffers, BfColumnStats *s)
{
	BfValue min, max;
	bool has_min = lo != NULL && as_type(lo, f->source, &min);
	bool has_max = hi != NULL && as_type(hi, f->source, &max);

	if (lo == hi)
	{
		/* One value, as it is. */
		bfi_range_tighten(s, has_min ? &min : NULL, has_max ? &max : NULL);
		return;
	}
	if (f->source.kind == BF_KIND_UUID)
	{
		if (has_min && has_max && bf_value_compare(&min, &max) <= 0)
		{
			bfi_uuid_widen(&min, false, buffers, &has_min);
			bfi_uuid_widen(&max, true, buffers, &has_max);
		}
		else
			has_min = has_max = false;
	}
	else if (has_max && bf_type_storage(f->source) == BF_STORE_VIEW && bfi_text_may_be_cut(&max))
		has_max = bfi_text_after_prefix(max.v.view, max.type, buffers, &max.v.view);
	bfi_range_tighten(s, has_min ? &min : NULL, has_max ? &max : NULL);
}

/* Can a truncated value in [lo, hi] have wrapped around below the smallest integer of 32 or 64
 * bits? Such results are within w of the greatest one. When two widths exceed 32 bits, what Java
 * takes off may be negative, so that the value lies below the result. A long may have been an int.
 */
static bool
may_have_wrapped(BfType source, bf_i128 lo, bf_i128 hi, int32_t w)
{
	BF_ASSERT(w > 0);
	if (source.kind != BF_KIND_INT32 && source.kind != BF_KIND_INT64)
		return false;
	if (lo <= INT32_MAX && hi > (bf_i128) INT32_MAX - w)
		return true;
	if (lo <= INT32_MAX && hi >= INT32_MIN && w > INT32_MAX / 2)
		return true;
	return source.kind == BF_KIND_INT64 && hi > (bf_i128) INT64_MAX - w;
}

static void
truncate_range(const BfiSpecField *f, const BfValue *lo, const BfValue *hi,
			   BfiPruneBuffers *buffers, BfColumnStats *s)
{
	BfValue min, max;
	bf_i128 x, y;
	bool has_max = hi != NULL;

	BF_ASSERT(f->transform.param > 0);
	if (bf_type_storage(f->source) == BF_STORE_VIEW)
	{
		if (lo != NULL)
		{
			min = *lo;
			min.type = f->source;
		}
		if (hi != NULL)
		{
			max = *hi;
			max.type = f->source;
			/* Shorter than the width: nothing was cut off. */
			if (length_of(&max) >= f->transform.param || (lo != hi && bfi_text_may_be_cut(&max)))
				has_max = bfi_text_after_prefix(max.v.view, max.type, buffers, &max.v.view);
		}
		bfi_range_tighten(s, lo != NULL ? &min : NULL, has_max ? &max : NULL);
		return;
	}
	if (lo == NULL || hi == NULL || !bfi_value_integer(lo, &x) || !bfi_value_integer(hi, &y) ||
		may_have_wrapped(f->source, x, y, f->transform.param))
		return;
	bfi_range_tighten(s, bfi_integer_value(x, f->source, &min) ? &min : NULL, NULL);
	if (!__builtin_add_overflow(y, f->transform.param - 1, &y))
		bfi_range_tighten(s, NULL, bfi_integer_value(y, f->source, &max) ? &max : NULL);
}

/* The first instant of period n, in what the column counts. */
static bf_i128
period_start(BfTransformKind kind, int64_t n, BfType source)
{
	bf_i128 micros;
	int64_t days;

	switch (kind)
	{
		case BF_TRANSFORM_YEAR: days = bf_days_from_civil(1970 + n, 1, 1); break;
		case BF_TRANSFORM_MONTH:
		{
			int64_t years = bf_floor_div(n, 12);

			BF_ASSERT(n - years * 12 >= 0 && n - years * 12 < 12);
			days = bf_days_from_civil(1970 + years, (int) (n - years * 12) + 1, 1);
			break;
		}
		case BF_TRANSFORM_DAY: days = n; break;
		default:
			BF_ASSERT(kind == BF_TRANSFORM_HOUR);
			micros = (bf_i128) n * MICROS_PER_HOUR;
			return is_nanos(source.kind) ? micros * 1000 : micros;
	}
	if (source.kind == BF_KIND_DATE)
		return days;
	micros = (bf_i128) days * INT64_C(86400000000);
	return is_nanos(source.kind) ? micros * 1000 : micros;
}

/* Hours are counted in 32 bits, also by writers that don't look whether they fit: the hours of 64
 * bits of microseconds don't, from the year 246953 on. One that is so far out may be another one,
 * 2^32 away, as far as the column has it. */
static bool
may_be_later_hour(const BfiSpecField *f, const BfValue *lo)
{
	bf_i128 last = INT64_MAX / (is_nanos(f->source.kind) ? NANOS_PER_HOUR : MICROS_PER_HOUR);
	bf_i128 n;

	return f->transform.kind == BF_TRANSFORM_HOUR &&
		   (lo == NULL || !bfi_value_integer(lo, &n) || n <= last - HOURS_MODULUS + 1);
}

static bool
may_be_earlier_hour(const BfiSpecField *f, const BfValue *hi)
{
	bf_i128 first = INT64_MIN / (is_nanos(f->source.kind) ? NANOS_PER_HOUR : MICROS_PER_HOUR) - 1;
	bf_i128 n;

	return f->transform.kind == BF_TRANSFORM_HOUR &&
		   (hi == NULL || !bfi_value_integer(hi, &n) || n >= first + HOURS_MODULUS);
}

static void
period_range(const BfiSpecField *f, const BfValue *lo, const BfValue *hi, BfColumnStats *s)
{
	bool is_date = f->source.kind == BF_KIND_DATE;
	BfValue min, max;
	bf_i128 n;

	BF_ASSERT(f->transform.kind >= BF_TRANSFORM_YEAR && f->transform.kind <= BF_TRANSFORM_HOUR);
	if (!is_date && f->source.kind != BF_KIND_TIMESTAMP && f->source.kind != BF_KIND_TIMESTAMPTZ &&
		!is_nanos(f->source.kind))
		return;
	if (lo != NULL && bfi_value_integer(lo, &n) && !may_be_earlier_hour(f, hi))
	{
		/* What is rounded towards 1970 is one period too late. The day of a date is not rounded. */
		if (n <= 0 && !(is_date && f->transform.kind == BF_TRANSFORM_DAY))
			n--;
		if (bfi_integer_value(period_start(f->transform.kind, (int64_t) n, f->source), f->source,
							  &min))
			bfi_range_tighten(s, &min, NULL);
	}
	if (hi != NULL && bfi_value_integer(hi, &n) && !may_be_later_hour(f, lo) &&
		bfi_integer_value(period_start(f->transform.kind, (int64_t) n + 1, f->source) - 1,
						  f->source, &max))
		bfi_range_tighten(s, NULL, &max);
}

void
bfi_inverse_range(const BfiSpecField *f, const BfValue *lo, const BfValue *hi,
				  BfiPruneBuffers *buffers, BfColumnStats *s)
{
	BF_ASSERT(lo != NULL || hi != NULL);
	switch (f->transform.kind)
	{
		case BF_TRANSFORM_IDENTITY: identity_range(f, lo, hi, buffers, s); break;
		case BF_TRANSFORM_TRUNCATE: truncate_range(f, lo, hi, buffers, s); break;
		case BF_TRANSFORM_YEAR:
		case BF_TRANSFORM_MONTH:
		case BF_TRANSFORM_DAY:
		case BF_TRANSFORM_HOUR: period_range(f, lo, hi, s); break;
		case BF_TRANSFORM_BUCKET:
		case BF_TRANSFORM_VOID:
		case BF_TRANSFORM_UNKNOWN: break;
	}
}
