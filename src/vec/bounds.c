/*
 * vec/bounds.c: see bounds.h.
 */
#include "vec/bounds.h"

#include <math.h>

#include "base/text.h"

#define CODE_POINT_LAST 0x10ffffU
#define SURROGATE_FIRST 0xd800U
#define SURROGATE_LAST 0xdfffU

static bool
is_text(BfType t)
{
	return t.kind == BF_KIND_STRING || t.kind == BF_KIND_JSON || t.kind == BF_KIND_ENUM;
}

/* By bf_value_compare with a meaning, and as the loops below do it. */
static bool
has_order(BfType t)
{
	switch (t.kind)
	{
		case BF_KIND_UINT64:
		case BF_KIND_INTERVAL:
		case BF_KIND_INT96:
		case BF_KIND_GEOMETRY:
		case BF_KIND_BSON: return false;
		case BF_KIND_DECIMAL: return bf_type_storage(t) != BF_STORE_VIEW;
		default:
			return bf_type_storage(t) != BF_STORE_NONE && bf_type_storage(t) != BF_STORE_NESTED;
	}
}

void
bf_bounds_init(BfBounds *b, BfType type, uint32_t bytes_max)
{
	*b = (BfBounds){.type = type, .bytes_max = bytes_max, .min.type = type, .max.type = type};
}

/* ---- bytes ---- */

static int
compare_bytes(const uint8_t *x, uint32_t n, BfView y)
{
	uint32_t common = n < y.len ? n : y.len;
	int order = common == 0 ? 0 : memcmp(x, y.ptr, common);

	return order != 0 ? order : (n > y.len) - (n < y.len);
}

static BfStatus
keep_bytes(BfArena *a, BfView *to, uint32_t *room, const uint8_t *from, uint32_t n, BfError *err)
{
	if (n > *room)
	{
		uint32_t more = n < 32 ? 32 : n > UINT32_MAX / 2 ? n : n * 2;
		uint8_t *bytes;

		BF_NEW_RAW(a, bytes, more, err);
		*to = (BfView){bytes, 0};
		*room = more;
	}
	BF_ASSERT(to->ptr != NULL || n == 0);
	/* Its own buffer, of `room` bytes. */
	if (n > 0)
		memcpy((uint8_t *) (uintptr_t) to->ptr, from, n);
	to->len = n;
	return BF_OK;
}

static BfStatus
add_view(BfArena *a, BfBounds *b, BfView v, BfError *err)
{
	uint32_t n = v.len < b->bytes_max ? v.len : b->bytes_max;
	int order;

	if (!b->has || compare_bytes(v.ptr, n, b->min.v.view) < 0)
		BF_TRY(keep_bytes(a, &b->min.v.view, &b->room[0], v.ptr, n, err));
	order = b->has ? compare_bytes(v.ptr, n, b->max.v.view) : 1;
	if (order > 0)
	{
		BF_TRY(keep_bytes(a, &b->max.v.view, &b->room[1], v.ptr, n, err));
		b->max_cut = n < v.len;
	}
	else if (order == 0)
		b->max_cut |= n < v.len;
	b->has = true;
	return BF_OK;
}

/* ---- values ---- */

/* The loop over one type of numbers; what is NULL or no number is passed over. */
#define ADD_NUMBERS(member, is_nan)                                \
	for (int32_t i = first; i < end; i++)                          \
	{                                                              \
		if (!bf_valid(v->validity, i))                             \
			continue;                                              \
		if (is_nan)                                                \
			b->nans++;                                             \
		else if (!b->has)                                          \
		{                                                          \
			b->min.v.member = b->max.v.member = v->data.member[i]; \
			b->has = true;                                         \
		}                                                          \
		else if (v->data.member[i] < b->min.v.member)              \
			b->min.v.member = v->data.member[i];                   \
		else if (v->data.member[i] > b->max.v.member)              \
			b->max.v.member = v->data.member[i];                   \
	}

static BfStatus
add_flat(BfArena *a, BfBounds *b, const BfVector *v, int32_t first, int32_t end, BfError *err)
{
	BF_ASSERT(v->form == BF_VEC_FLAT && first >= 0 && end <= v->n);
	switch (v->storage)
	{
		case BF_STORE_U8: ADD_NUMBERS(u8, false) break;
		case BF_STORE_I32: ADD_NUMBERS(i32, false) break;
		case BF_STORE_I64: ADD_NUMBERS(i64, false) break;
		case BF_STORE_I128: ADD_NUMBERS(i128, false) break;
		case BF_STORE_F32: ADD_NUMBERS(f32, isnan(v->data.f32[i])) break;
		case BF_STORE_F64: ADD_NUMBERS(f64, isnan(v->data.f64[i])) break;
		default:
			for (int32_t i = first; i < end; i++)
				if (bf_valid(v->validity, i))
					BF_TRY(add_view(a, b, v->data.view[i], err));
	}
	return BF_OK;
}

static bool
is_null(const BfVector *v, int32_t row)
{
	return v->storage == BF_STORE_NONE || !bf_valid(v->validity, v->form == BF_VEC_CONST ? 0 : row);
}

/* Through a vector of one row, whatever the form. */
static BfStatus
add_row(BfArena *a, BfBounds *b, const BfVector *v, int32_t row, BfError *err)
{
	BfValue value;
	BfVector one = {.type = v->type, .storage = v->storage, .form = BF_VEC_FLAT, .n = 1};

	if (!bf_vector_get(v, row, &value))
		return BF_OK;
	one.data.raw = &value.v;
	return add_flat(a, b, &one, 0, 1, err);
}

BfStatus
bf_bounds_add(BfArena *a, BfBounds *b, const BfVector *v, int32_t first, int32_t n, BfError *err)
{
	BF_ASSERT(first >= 0 && n >= 0 && first + n <= v->n && bf_type_equal(v->type, b->type));
	b->values += n;
	if (v->validity != NULL || v->storage == BF_STORE_NONE)
		for (int32_t i = first; i < first + n; i++)
			b->nulls += is_null(v, i);
	BF_ASSERT(b->nulls <= b->values);
	if (!has_order(b->type))
		return BF_OK;
	if (v->form == BF_VEC_FLAT)
		return add_flat(a, b, v, first, first + n, err);
	for (int32_t i = first; i < first + n; i++)
		BF_TRY(add_row(a, b, v, i, err));
	return BF_OK;
}

/* ---- cutting ---- */

static bool
continues(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

uint32_t
bf_bounds_prefix(BfView bytes, bool text, int32_t length)
{
	int32_t n = 0;

	BF_ASSERT(length > 0);
	if (!text)
		return bytes.len < (uint32_t) length ? bytes.len : (uint32_t) length;
	for (uint32_t i = 0; i < bytes.len; i++)
		if (!continues(bytes.ptr[i]) && n++ == length)
			return i;
	return bytes.len;
}

/* The last character of n bytes of a text: its bytes, 0 when they are none. */
static uint32_t
last_code_point(const uint8_t *p, uint32_t n, uint32_t *out)
{
	uint32_t len = 1;

	while (len < 4 && len < n && continues(p[n - len]))
		len++;
	p += n - len;
	if (bf_utf8_length(p, len) != len)
		return 0;
	*out = len == 1 ? p[0] : p[0] & (0x7fU >> len);
	for (uint32_t i = 1; i < len; i++)
		*out = *out << 6 | (p[i] & 0x3fU);
	return len;
}

static uint32_t
put_code_point(uint8_t *p, uint32_t c)
{
	uint32_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	BF_ASSERT(c <= CODE_POINT_LAST && (c < SURROGATE_FIRST || c > SURROGATE_LAST));
	if (n == 1)
	{
		p[0] = (uint8_t) c;
		return 1;
	}
	for (uint32_t i = n - 1; i > 0; i--, c >>= 6)
		p[i] = (uint8_t) (0x80 | (c & 0x3f));
	p[0] = (uint8_t) ((0xf00U >> n & 0xff) | c);
	return n;
}

static bool
text_after(BfView prefix, uint8_t *out, uint32_t *len)
{
	uint32_t n = prefix.len;

	while (n > 0)
	{
		uint32_t c = CODE_POINT_LAST;
		uint32_t size = last_code_point(prefix.ptr, n, &c);

		/* What is no character, or cut in its middle, is left out: what stands before it is the
		 * beginning of the same texts. */
		n -= size > 0 ? size : 1;
		if (c == CODE_POINT_LAST)
			continue;
		c = c + 1 == SURROGATE_FIRST ? SURROGATE_LAST + 1 : c + 1;
		if (n > 0)
			memcpy(out, prefix.ptr, n);
		*len = n + put_code_point(out + n, c);
		BF_ASSERT(*len <= prefix.len + 1);
		return true;
	}
	return false;
}

bool
bf_bounds_after(BfView prefix, bool text, uint8_t *out, uint32_t *len)
{
	uint32_t n = prefix.len;

	if (text)
		return text_after(prefix, out, len);
	while (n > 0 && prefix.ptr[n - 1] == 0xff)
		n--;
	if (n == 0)
		return false;
	memcpy(out, prefix.ptr, n);
	out[n - 1]++;
	*len = n;
	return true;
}

/* ---- bounds ---- */

/* -0 when negative, else +0. */
static void
set_zero_sign(BfValue *v, bool negative)
{
	if (v->type.kind == BF_KIND_FLOAT64 && v->v.f64 == 0)
		v->v.f64 = negative ? -0.0 : 0.0;
	else if (bf_type_storage(v->type) == BF_STORE_F32 && v->v.f32 == 0)
		v->v.f32 = negative ? -0.0F : 0.0F;
}

/* How much of the kept bytes a bound has. */
static uint32_t
cut_length(const BfBounds *b, BfView bytes, int32_t length)
{
	return length == 0 ? bytes.len : bf_bounds_prefix(bytes, is_text(b->type), length);
}

void
bf_bounds_lower(const BfBounds *b, int32_t length, BfValue *out, bool *has)
{
	BF_ASSERT(length >= 0);
	*has = b->has;
	*out = b->min;
	if (b->has && bf_type_storage(b->type) == BF_STORE_VIEW)
		out->v.view.len = cut_length(b, b->min.v.view, length);
	else if (b->has)
		set_zero_sign(out, true);
}

BfStatus
bf_bounds_upper(BfArena *a, const BfBounds *b, int32_t length, BfValue *out, bool *has,
				BfError *err)
{
	BfView *view = &out->v.view;
	uint8_t *bytes;
	uint32_t n;

	BF_ASSERT(length >= 0);
	*has = b->has;
	*out = b->max;
	if (!b->has)
		return BF_OK;
	if (bf_type_storage(b->type) != BF_STORE_VIEW)
	{
		set_zero_sign(out, false);
		return BF_OK;
	}
	n = cut_length(b, *view, length);
	if (n == view->len && !b->max_cut)
		return BF_OK;
	view->len = n;
	BF_NEW_RAW(a, bytes, (size_t) n + 1, err);
	*has = bf_bounds_after(*view, is_text(b->type), bytes, &n);
	*view = (BfView){bytes, n};
	return BF_OK;
}
