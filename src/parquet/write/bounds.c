/*
 * What the values of a page, a chunk and a file lie between.
 *
 * Bounds are gathered from storage values, in the order of the type, and become the PLAIN bytes of
 * the physical type when they are written. Of bytes no more than the first BFI_BOUND_BYTES are
 * kept: the prefix of the least value is the least prefix. NaN lies nowhere and is counted; a zero
 * below is written as -0, one above as +0, since readers may take them for different numbers.
 */
#include "parquet/write/internal.h"

#include <math.h>

#include "vec/bounds.h"

/* ---- bytes ---- */

/* Below, at or above 0 as the value's beginning is below, equal to or above the prefix. */
static int
compare_prefix(BfView v, uint64_t key, const BfiPrefix *p)
{
	uint32_t n = v.len < BFI_BOUND_BYTES ? v.len : BFI_BOUND_BYTES;
	uint32_t most = n < p->len ? n : p->len;
	int c;

	BF_ASSERT(p->len <= BFI_BOUND_BYTES);
	if (key != p->key)
		return key < p->key ? -1 : 1;
	c = most > 8 ? memcmp(v.ptr + 8, p->bytes + 8, most - 8) : 0;
	if (c != 0)
		return c;
	return n < p->len ? -1 : n > p->len;
}

static void
set_prefix(BfiPrefix *p, BfView v, uint64_t key)
{
	p->key = key;
	p->cut = v.len > BFI_BOUND_BYTES;
	p->len = p->cut ? BFI_BOUND_BYTES : v.len;
	BF_ASSERT(p->len <= v.len);
	if (p->len > 0)
		memcpy(p->bytes, v.ptr, p->len);
}

static void
add_bytes(BfiRange *r, const BfView *v, int32_t n)
{
	BF_ASSERT(n > 0);
	if (!r->has)
	{
		set_prefix(&r->first, v[0], bfi_view_key(v[0]));
		r->last = r->first;
		r->has = true;
	}
	for (int32_t i = 0; i < n; i++)
	{
		uint64_t key = bfi_view_key(v[i]);

		if (key <= r->first.key && compare_prefix(v[i], key, &r->first) < 0)
			set_prefix(&r->first, v[i], key);
		if (key >= r->last.key)
		{
			int c = compare_prefix(v[i], key, &r->last);

			if (c > 0)
				set_prefix(&r->last, v[i], key);
			else if (c == 0)
				r->last.cut |= v[i].len > BFI_BOUND_BYTES;
		}
	}
}

static BfView
prefix_view(const BfiPrefix *p)
{
	return (BfView){p->bytes, p->len};
}

/* ---- numbers ---- */

#define ADD_NUMBERS(type, member)           \
	do                                      \
	{                                       \
		const type *v = values;             \
		type min = v[0], max = v[0];        \
                                            \
		for (int32_t i = 1; i < n; i++)     \
		{                                   \
			min = v[i] < min ? v[i] : min;  \
			max = v[i] > max ? v[i] : max;  \
		}                                   \
		if (!r->has || min < r->min.member) \
			r->min.member = min;            \
		if (!r->has || max > r->max.member) \
			r->max.member = max;            \
		r->has = true;                      \
	} while (0)

/* Comparisons with NaN are false, so that it changes nothing. */
#define ADD_FLOATS(type)                                    \
	do                                                      \
	{                                                       \
		const type *v = values;                             \
		type min = (type) INFINITY, max = (type) -INFINITY; \
		int32_t nans = 0;                                   \
                                                            \
		for (int32_t i = 0; i < n; i++)                     \
		{                                                   \
			min = v[i] < min ? v[i] : min;                  \
			max = v[i] > max ? v[i] : max;                  \
			nans += v[i] != v[i];                           \
		}                                                   \
		r->nans += nans;                                    \
		if (nans == n)                                      \
			return;                                         \
		if (!r->has || (double) min < r->min.f64)           \
			r->min.f64 = (double) min;                      \
		if (!r->has || (double) max > r->max.f64)           \
			r->max.f64 = (double) max;                      \
		r->has = true;                                      \
	} while (0)

static void
add_signed(const BfiLeafOut *leaf, BfiRange *r, const void *values, int32_t n)
{
	switch (leaf->storage)
	{
		case BF_STORE_U8: ADD_NUMBERS(uint8_t, i64); break;
		case BF_STORE_I32: ADD_NUMBERS(int32_t, i64); break;
		default:
			BF_ASSERT(leaf->storage == BF_STORE_I64);
			ADD_NUMBERS(int64_t, i64);
			break;
	}
}

void
bfi_range_add(const BfiLeafOut *leaf, BfiRange *r, const void *values, int32_t n)
{
	BF_ASSERT(n >= 0);
	if (n == 0)
		return;
	switch (leaf->order)
	{
		case BFI_BOUNDS_NONE: break;
		case BFI_BOUNDS_SIGNED: add_signed(leaf, r, values, n); break;
		case BFI_BOUNDS_UNSIGNED: ADD_NUMBERS(uint64_t, u64); break;
		case BFI_BOUNDS_FLOAT:
			if (leaf->storage == BF_STORE_F32)
				ADD_FLOATS(float);
			else
				ADD_FLOATS(double);
			break;
		case BFI_BOUNDS_I128: ADD_NUMBERS(bf_i128, i128); break;
		case BFI_BOUNDS_BYTES: add_bytes(r, values, n); break;
	}
}

bool
bfi_number_less(const BfiLeafOut *leaf, BfiNumber a, BfiNumber b)
{
	switch (leaf->order)
	{
		case BFI_BOUNDS_UNSIGNED: return a.u64 < b.u64;
		case BFI_BOUNDS_FLOAT: return a.f64 < b.f64;
		case BFI_BOUNDS_I128: return a.i128 < b.i128;
		default: return a.i64 < b.i64;
	}
}

void
bfi_range_merge(const BfiLeafOut *leaf, BfiRange *r, const BfiRange *other)
{
	int64_t nans = r->nans + other->nans;
	int c;

	if (!r->has && other->has)
		*r = *other;
	else if (other->has && leaf->order == BFI_BOUNDS_BYTES)
	{
		if (compare_prefix(prefix_view(&other->first), other->first.key, &r->first) < 0)
			r->first = other->first;
		c = compare_prefix(prefix_view(&other->last), other->last.key, &r->last);
		if (c > 0)
			r->last = other->last;
		else if (c == 0)
			r->last.cut |= other->last.cut;
	}
	else if (other->has)
	{
		if (bfi_number_less(leaf, other->min, r->min))
			r->min = other->min;
		if (bfi_number_less(leaf, r->max, other->max))
			r->max = other->max;
	}
	r->nans = nans;
}

/* ---- as the file has them ---- */

static void
float_bound(const BfiLeafOut *leaf, double v, bool is_min, BfiBoundOut *out)
{
	float narrow = (float) v;
	uint16_t half;

	if (v == 0)
		v = narrow = is_min ? -0.0F : 0.0F;
	if (leaf->physical == BFI_DOUBLE)
		memcpy(out->bytes, &v, out->len = 8);
	else if (leaf->physical == BFI_FLOAT)
		memcpy(out->bytes, &narrow, out->len = 4);
	else
	{
		(void) bfi_half(narrow, &half);
		memcpy(out->bytes, &half, out->len = 2);
	}
}

static void
number_bound(const BfiLeafOut *leaf, BfiNumber v, bool is_min, BfiBoundOut *out)
{
	*out = (BfiBoundOut){.has = true, .exact = true};
	if (leaf->order == BFI_BOUNDS_FLOAT)
		float_bound(leaf, v.f64, is_min, out);
	else if (leaf->order == BFI_BOUNDS_I128)
	{
		out->len = leaf->width;
		bfi_i128_bytes(v.i128, out->bytes, leaf->width);
	}
	else
	{
		out->len = leaf->physical == BFI_BOOLEAN ? 1 : leaf->width;
		memcpy(out->bytes, &v.u64, out->len);
	}
	BF_ASSERT(out->len > 0 && out->len <= sizeof out->bytes);
}

static bool
is_text(const BfiLeafOut *leaf)
{
	return leaf->field->type.kind == BF_KIND_STRING || leaf->field->type.kind == BF_KIND_JSON ||
		   leaf->field->type.kind == BF_KIND_ENUM;
}

/* At most so many bytes of it, between characters where it is a text. */
static uint32_t
cut_bytes(const BfiPrefix *p, bool text, uint32_t bytes_max)
{
	uint32_t n = p->len < bytes_max ? p->len : bytes_max;

	BF_ASSERT(bytes_max > 0 && bytes_max <= BFI_BOUND_BYTES);
	/* A character is not cut: its first byte, if it is near enough, takes the rest with it. */
	if (text && (p->cut || n < p->len))
		for (uint32_t k = 1; k <= 4 && k <= n; k++)
		{
			uint8_t b = p->bytes[n - k];
			uint32_t whole = b < 0xc0 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;

			if ((b & 0xc0) == 0x80)
				continue;
			return whole > k ? n - k : n;
		}
	return n;
}

static void
bytes_bounds(const BfiLeafOut *leaf, const BfiRange *r, uint32_t bytes_max, BfiBoundOut *min,
			 BfiBoundOut *max)
{
	bool text = is_text(leaf);

	*min = (BfiBoundOut){.has = true, .len = cut_bytes(&r->first, text, bytes_max)};
	memcpy(min->bytes, r->first.bytes, min->len);
	min->exact = !r->first.cut && min->len == r->first.len;
	*max = (BfiBoundOut){.has = true, .len = cut_bytes(&r->last, text, bytes_max)};
	max->exact = !r->last.cut && max->len == r->last.len;
	if (max->exact)
		memcpy(max->bytes, r->last.bytes, max->len);
	else
		max->has = bf_bounds_after((BfView){r->last.bytes, max->len}, text, max->bytes, &max->len);
}

void
bfi_range_bounds(const BfiLeafOut *leaf, const BfiRange *r, uint32_t bytes_max, BfiBoundOut *min,
				 BfiBoundOut *max)
{
	*min = *max = (BfiBoundOut){0};
	if (!r->has)
		return;
	if (leaf->order == BFI_BOUNDS_BYTES)
	{
		/* Of a fixed length; half of a UUID is none. */
		if (leaf->physical == BFI_FLBA && leaf->width > bytes_max)
			return;
		bytes_bounds(leaf, r, bytes_max, min, max);
		return;
	}
	number_bound(leaf, r->min, true, min);
	number_bound(leaf, r->max, false, max);
}

void
bfi_range_values(const BfiLeafOut *leaf, const BfiRange *r, BfValue *min, BfValue *max)
{
	*min = *max = (BfValue){.type = leaf->field->type};
	BF_ASSERT(r->has && leaf->order != BFI_BOUNDS_BYTES);
	switch (leaf->storage)
	{
		case BF_STORE_U8:
			min->v.u8 = (uint8_t) r->min.i64;
			max->v.u8 = (uint8_t) r->max.i64;
			break;
		case BF_STORE_I32:
			min->v.i32 = (int32_t) r->min.i64;
			max->v.i32 = (int32_t) r->max.i64;
			break;
		case BF_STORE_F32:
			min->v.f32 = r->min.f64 == 0 ? -0.0F : (float) r->min.f64;
			max->v.f32 = r->max.f64 == 0 ? 0.0F : (float) r->max.f64;
			break;
		case BF_STORE_F64:
			min->v.f64 = r->min.f64 == 0 ? -0.0 : r->min.f64;
			max->v.f64 = r->max.f64 == 0 ? 0.0 : r->max.f64;
			break;
		case BF_STORE_I128:
			min->v.i128 = r->min.i128;
			max->v.i128 = r->max.i128;
			break;
		default:
			min->v.i64 = r->min.i64;
			max->v.i64 = r->max.i64;
			break;
	}
}
