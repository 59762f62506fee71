/*
 * Single values as JSON (the specification's appendix C): the initial defaults of version 3.
 *
 *   boolean int long float double   as JSON has them; "NaN", "Infinity" and "-Infinity" too
 *   decimal(P,S)   text, "14.20" or with an exponent; exactly of scale S
 *   date           "2017-11-16"
 *   time           "22:31:08.123456", seconds and fraction may be missing
 *   timestamp      "2017-11-16T22:31:08.123456"; with a zone it ends with "+00:00" or "Z"
 *   string         text;   uuid  its text form;   fixed, binary   hexadecimal text
 *   struct         {"<field id>": value, ...}; a member that is missing has its own default
 *   list           [value, ...];   map   {"keys": [...], "values": [...]}
 *   unknown variant geometry geography   null only
 */
#include <math.h>

#include "base/ascii.h"
#include "base/civil.h"
#include "iceberg/internal.h"

#define DAY_US INT64_C(86400000000)
/* A number of 38 digits has no room for another one. */
#define I128_MAX ((bf_i128) (~(bf_u128) 0 >> 1))

static BfStatus
wrong(const BfField *f, const json_t *json, BfError *err)
{
	char name[64];

	bf_type_name(f->type, name, sizeof name);
	if (json_is_string(json))
		return bf_error(err, BF_ERR_CORRUPT,
						"column \"%.100s\": the default \"%.100s\" is not of type %s", f->name,
						json_string_value(json), name);
	return bf_error(err, BF_ERR_CORRUPT, "column \"%.100s\": the default is not of type %s",
					f->name, name);
}

/* --- Texts ---------------------------------------------------------------------------------- */

/* Exactly n digits. */
static bool
take_digits(const char **s, int n, int64_t *out)
{
	size_t digits = bf_ascii_number(*s, (size_t) n, INT64_MAX, out);

	BF_ASSERT(n > 0 && n <= 18);
	*s += digits;
	return digits == (size_t) n;
}

static bool
take_char(const char **s, char c)
{
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

/* Years of four digits, or with a sign and up to nine. */
static bool
take_date(const char **s, int64_t *days)
{
	int64_t year = 0, month, day;
	bool negative = **s == '-';
	int digits = 0;

	if (negative || **s == '+')
	{
		(*s)++;
		for (; **s >= '0' && **s <= '9' && digits < 9; (*s)++, digits++)
			year = year * 10 + (**s - '0');
		if (digits < 4)
			return false;
		year = negative ? -year : year;
	}
	else if (!take_digits(s, 4, &year))
		return false;
	if (!take_char(s, '-') || !take_digits(s, 2, &month) || !take_char(s, '-') ||
		!take_digits(s, 2, &day) || month < 1 || month > 12 || day < 1)
		return false;
	*days = bf_days_from_civil(year, (int) month, day);
	/* The day exists in that month. */
	return bf_civil_from_days(*days).day == day;
}

/* Units of 10^-places seconds since midnight; digits beyond them must be 0. */
static bool
take_time(const char **s, int places, int64_t *out)
{
	int64_t hour, minute, second = 0, fraction = 0;
	int taken = 0;

	BF_ASSERT(places == 6 || places == 9);
	if (!take_digits(s, 2, &hour) || !take_char(s, ':') || !take_digits(s, 2, &minute))
		return false;
	if (**s == ':')
	{
		(*s)++;
		if (!take_digits(s, 2, &second))
			return false;
		if (**s == '.')
			for ((*s)++; **s >= '0' && **s <= '9'; (*s)++)
			{
				if (taken < places)
					fraction = fraction * 10 + (**s - '0');
				else if (**s != '0')
					return false;
				taken += taken < places;
			}
	}
	if (hour > 23 || minute > 59 || second > 59)
		return false;
	*out = (hour * 60 + minute) * 60 + second;
	for (int i = 0; i < places; i++)
		*out *= 10;
	for (; taken < places; taken++)
		fraction *= 10;
	*out += fraction;
	return true;
}

static bool
parse_timestamp(const char *s, BfKind kind, int64_t *out)
{
	bool nanos = kind == BF_KIND_TIMESTAMP_NS || kind == BF_KIND_TIMESTAMPTZ_NS;
	bool zone = kind == BF_KIND_TIMESTAMPTZ || kind == BF_KIND_TIMESTAMPTZ_NS;
	int64_t days, time = 0, day = nanos ? DAY_US * 1000 : DAY_US;

	BF_ASSERT(nanos || kind == BF_KIND_TIMESTAMP || kind == BF_KIND_TIMESTAMPTZ);
	if (!take_date(&s, &days))
		return false;
	if (take_char(&s, 'T') && !take_time(&s, nanos ? 9 : 6, &time))
		return false;
	if (zone && *s != '\0' && strcmp(s, "Z") != 0 && strcmp(s, "+00:00") != 0)
		return false;
	if (!zone && *s != '\0')
		return false;
	return !__builtin_mul_overflow(days, day, out) && !__builtin_add_overflow(*out, time, out);
}

/* A decimal number of up to 38 digits at the scale, which it must fit exactly. */
static bool
parse_decimal(const char *s, BfType type, BfValue *out)
{
	bool negative = *s == '-', point = false;
	bf_i128 v = 0, max = 1;
	int digits = 0;
	long places = 0;

	BF_ASSERT(type.precision >= 1 && type.precision <= 38 && type.scale <= type.precision);
	for (int i = 0; i < type.precision; i++)
		max *= 10;
	for (s += *s == '-' || *s == '+'; (*s >= '0' && *s <= '9') || (*s == '.' && !point); s++)
	{
		if (*s == '.')
		{
			point = true;
			continue;
		}
		if (v >= max || v > I128_MAX / 10 - 1)
			return false;
		v = v * 10 + (*s - '0');
		places += point;
		digits++;
	}
	if (digits > 0 && (*s == 'E' || *s == 'e'))
	{
		bool below = s[1] == '-';
		const char *from = s + 1 + (s[1] == '-' || s[1] == '+');
		int64_t exponent;
		size_t n = bf_ascii_number(from, strlen(from), 1000, &exponent);

		if (n == 0 || exponent < 0)
			return false;
		places -= (long) (below ? -exponent : exponent);
		s = from + n;
	}
	if (digits == 0 || *s != '\0')
		return false;
	for (; places < type.scale && v < max; places++)
	{
		if (v > I128_MAX / 10)
			return false;
		v *= 10;
	}
	for (; places > type.scale && v % 10 == 0 && v != 0; places--)
		v /= 10;
	if (v >= max || (places != type.scale && v != 0))
		return false;
	v = negative ? -v : v;
	BF_ASSERT(v > -max && v < max);
	if (bf_type_storage(type) == BF_STORE_I64)
		out->v.i64 = (int64_t) v;
	else
		out->v.i128 = v;
	return true;
}

bool
bfi_uuid_from_text(BfView text, uint8_t out[16])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < text.len; i++)
	{
		int d = bf_ascii_hex(text.ptr[i]);

		if (text.ptr[i] == '-')
			continue;
		if (d < 0 || n == 32)
			return false;
		out[n / 2] = (uint8_t) (n % 2 == 0 ? d << 4 : out[n / 2] | d);
		n++;
	}
	return n == 32;
}

static BfStatus
hex_bytes(BfArena *a, const char *s, size_t n, bool *ok, BfView *out, BfError *err)
{
	uint8_t *p;

	*ok = n % 2 == 0 && n / 2 <= UINT32_MAX;
	if (!*ok)
		return BF_OK;
	BF_NEW(a, p, n / 2, err);
	for (size_t i = 0; i < n && *ok; i++)
	{
		int d = bf_ascii_hex(s[i]);

		*ok = d >= 0;
		p[i / 2] = (uint8_t) (p[i / 2] << 4 | d);
	}
	*out = (BfView){p, (uint32_t) (n / 2)};
	return BF_OK;
}

static BfStatus
text_value(BfArena *a, const json_t *json, const BfField *f, BfValue *out, BfError *err)
{
	const char *s = json_string_value(json);
	size_t n = json_string_length(json);
	int64_t x = 0;
	bool ok = s != NULL && (f->type.kind == BF_KIND_STRING || strlen(s) == n);
	uint8_t *uuid;

	if (!ok || n > UINT32_MAX)
		return wrong(f, json, err);
	switch (f->type.kind)
	{
		case BF_KIND_STRING:
			BF_TRY_PTR(a, out->v.view.ptr, (uint8_t *) bf_arena_strndup(a, s, n), err);
			out->v.view.len = (uint32_t) n;
			return BF_OK;
		case BF_KIND_UUID:
			BF_NEW_RAW(a, uuid, 16, err);
			ok = bfi_uuid_from_text((BfView){(const uint8_t *) s, (uint32_t) n}, uuid);
			out->v.view = (BfView){uuid, 16};
			break;
		case BF_KIND_FIXED:
		case BF_KIND_BINARY:
			BF_TRY(hex_bytes(a, s, n, &ok, &out->v.view, err));
			ok &= f->type.kind == BF_KIND_BINARY || out->v.view.len == (uint32_t) f->type.length;
			break;
		case BF_KIND_DATE:
			ok = take_date(&s, &x) && *s == '\0' && x >= INT32_MIN && x <= INT32_MAX;
			out->v.i32 = (int32_t) x;
			break;
		case BF_KIND_TIME: ok = take_time(&s, 6, &out->v.i64) && *s == '\0'; break;
		case BF_KIND_DECIMAL: ok = parse_decimal(s, f->type, out); break;
		default: ok = parse_timestamp(s, f->type.kind, &out->v.i64); break;
	}
	return ok ? BF_OK : wrong(f, json, err);
}

/* --- Numbers -------------------------------------------------------------------------------- */

static BfStatus
number_value(const json_t *json, const BfField *f, BfValue *out, BfError *err)
{
	const char *s = json_string_value(json);
	int64_t x = json_integer_value(json);
	double d = json_number_value(json);

	switch (f->type.kind)
	{
		case BF_KIND_BOOL:
			out->v.u8 = json_is_true(json);
			return json_is_boolean(json) ? BF_OK : wrong(f, json, err);
		case BF_KIND_INT32:
			out->v.i32 = (int32_t) x;
			return json_is_integer(json) && x >= INT32_MIN && x <= INT32_MAX ? BF_OK
																			 : wrong(f, json, err);
		case BF_KIND_INT64:
			out->v.i64 = x;
			return json_is_integer(json) ? BF_OK : wrong(f, json, err);
		default: break;
	}
	if (s != NULL &&
		(strcmp(s, "NaN") == 0 || strcmp(s, "Infinity") == 0 || strcmp(s, "-Infinity") == 0))
		d = s[0] == 'N' ? (double) NAN : (double) (s[0] == '-' ? -INFINITY : INFINITY);
	else if (!json_is_number(json))
		return wrong(f, json, err);
	if (f->type.kind == BF_KIND_FLOAT32)
		out->v.f32 = (float) d;
	else
		out->v.f64 = d;
	return BF_OK;
}

/* --- Nested values --------------------------------------------------------------------------- */

static BfStatus
set_children(BfValue *out, const BfValue *values, size_t n, BfError *err)
{
	BF_DATA(err, n <= UINT32_MAX, -1, "a default of %zu values", n);
	out->v.view = (BfView){(const uint8_t *) (const void *) values, (uint32_t) n};
	return BF_OK;
}

static BfStatus
struct_value(BfArena *a, const json_t *json, const BfField *f, BfValue *out, BfError *err)
{
	BfValue *values;
	char key[16];

	if (!json_is_object(json))
		return wrong(f, json, err);
	BF_NEW(a, values, f->n_children, err);
	for (int32_t i = 0; i < f->n_children; i++)
	{
		const BfField *child = &f->children[i];
		const json_t *member;

		snprintf(key, sizeof key, "%d", child->id);
		member = json_object_get(json, key);
		if (member != NULL)
			BF_TRY(bfi_default_value(a, member, child, &values[i], err));
		else if (child->has_default)
			values[i] = child->initial_default;
		else
			values[i] = (BfValue){.is_null = true, .type = child->type};
	}
	return set_children(out, values, (size_t) f->n_children, err);
}

static BfStatus
list_value(BfArena *a, const json_t *json, const BfField *f, BfValue *out, BfError *err)
{
	size_t n = json_array_size(json);
	BfValue *values;

	BF_ASSERT(f->n_children == 1);
	if (!json_is_array(json))
		return wrong(f, json, err);
	BF_NEW(a, values, n, err);
	for (size_t i = 0; i < n; i++)
		BF_TRY(bfi_default_value(a, json_array_get(json, i), &f->children[0], &values[i], err));
	return set_children(out, values, n, err);
}

static BfStatus
map_value(BfArena *a, const json_t *json, const BfField *f, BfValue *out, BfError *err)
{
	const json_t *keys = json_object_get(json, "keys"), *items = json_object_get(json, "values");
	size_t n = json_array_size(keys);
	BfValue *values;

	BF_ASSERT(f->n_children == 2);
	if (!json_is_array(keys) || !json_is_array(items) || json_array_size(items) != n)
		return wrong(f, json, err);
	BF_NEW(a, values, n * 2, err);
	for (size_t i = 0; i < n; i++)
	{
		const json_t *key = json_array_get(keys, i);

		if (json_is_null(key))
			return wrong(f, json, err);
		BF_TRY(bfi_default_value(a, key, &f->children[0], &values[2 * i], err));
		BF_TRY(bfi_default_value(a, json_array_get(items, i), &f->children[1], &values[2 * i + 1],
								 err));
	}
	return set_children(out, values, n * 2, err);
}

BfStatus
bfi_default_value(BfArena *a, const json_t *json, const BfField *f, BfValue *out, BfError *err)
{
	*out = (BfValue){.type = f->type};
	if (json_is_null(json))
	{
		out->is_null = true;
		return BF_OK;
	}
	switch (f->type.kind)
	{
		case BF_KIND_STRUCT: return struct_value(a, json, f, out, err);
		case BF_KIND_LIST: return list_value(a, json, f, out, err);
		case BF_KIND_MAP: return map_value(a, json, f, out, err);
		case BF_KIND_BOOL:
		case BF_KIND_INT32:
		case BF_KIND_INT64:
		case BF_KIND_FLOAT32:
		case BF_KIND_FLOAT64: return number_value(json, f, out, err);
		case BF_KIND_NULL:
		case BF_KIND_GEOMETRY:
		case BF_KIND_VARIANT: return wrong(f, json, err);
		default: return text_value(a, json, f, out, err);
	}
}
