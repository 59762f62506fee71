/*
 * DuckDB's spelling of values. Written without the code that is tested: dates, decimals and INT96
 * are calculated here a second time.
 */
#include "unit/test_parquet_expected.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define DAY_US INT64_C(86400000000)

void
expected_i128(bf_i128 v, int scale, char *out, size_t size)
{
	char digits[64];
	int n = 0;
	bool negative = v < 0;
	bf_u128 u = negative ? -(bf_u128) v : (bf_u128) v;
	size_t o = 0;

	do
	{
		digits[n++] = (char) ('0' + (int) (u % 10));
		u /= 10;
	} while (u != 0 || n <= scale);
	if (negative && o < size - 1)
		out[o++] = '-';
	while (n > 0 && o < size - 2)
	{
		if (n == scale && scale > 0)
			out[o++] = '.';
		out[o++] = digits[--n];
	}
	out[o] = '\0';
}

/* Proleptic Gregorian. */
static void
civil(int64_t days, int64_t *year, int *month, int *day)
{
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;

	*day = (int) (doy - (153 * mp + 2) / 5 + 1);
	*month = (int) (mp < 10 ? mp + 3 : mp - 9);
	*year = yoe + era * 400 + (*month <= 2);
}

static void
date_text(int64_t days, char *out, size_t size, bool *bc)
{
	int64_t year;
	int month;
	int day;

	civil(days, &year, &month, &day);
	*bc = year <= 0;
	if (*bc)
		year = 1 - year;
	snprintf(out, size, "%04lld-%02d-%02d", (long long) year, month, day);
}

/* ".5" for half a second, "" for none; unit = parts per second. */
static void
fraction_text(int64_t part, int digits, char *out)
{
	int n;

	out[0] = '\0';
	if (part == 0)
		return;
	n = sprintf(out, ".%0*lld", digits, (long long) part);
	while (n > 0 && out[n - 1] == '0')
		out[--n] = '\0';
}

static void
time_text(int64_t v, int64_t per_second, int digits, char *out, size_t size)
{
	int64_t s = v / per_second;
	char fraction[16];

	fraction_text(v % per_second, digits, fraction);
	snprintf(out, size, "%02lld:%02lld:%02lld%s", (long long) (s / 3600), (long long) (s / 60 % 60),
			 (long long) (s % 60), fraction);
}

static void
timestamp_text(int64_t v, int64_t per_second, int digits, bool tz, char *out, size_t size)
{
	int64_t per_day = per_second * 86400;
	int64_t days = v / per_day - (v % per_day < 0);
	char date[64];
	char time[64];
	bool bc;

	date_text(days, date, sizeof date, &bc);
	time_text(v % per_day + (v % per_day < 0 ? per_day : 0), per_second, digits, time, sizeof time);
	snprintf(out, size, "%s%s %s%s", date, bc ? " (BC)" : "", time, tz ? "+00" : "");
}

static void
hex_text(BfView v, char *out, size_t size)
{
	size_t o = 0;

	for (uint32_t i = 0; i < v.len && o + 2 < size; i++, o += 2)
		snprintf(out + o, 3, "%02X", v.ptr[i]);
	out[o] = '\0';
}

static void
uuid_text(BfView v, char *out, size_t size)
{
	char h[40];

	hex_text(v, h, sizeof h);
	for (char *p = h; *p != '\0'; p++)
		*p = (char) (*p >= 'A' && *p <= 'F' ? *p + 32 : *p);
	snprintf(out, size, "%.8s-%.4s-%.4s-%.4s-%.12s", h, h + 8, h + 12, h + 16, h + 20);
}

int64_t
expected_int96_us(const uint8_t *p)
{
	int64_t nanos = (int64_t) bf_load64le(p);
	int64_t days = (int64_t) (int32_t) bf_load32le(p + 8) - 2440588;

	return (int64_t) ((uint64_t) days * (uint64_t) DAY_US + (uint64_t) (nanos / 1000));
}

static void
view_text(const BfValue *v, const char *type, char *out, size_t size)
{
	if (v->type.kind == BF_KIND_INT96)
		timestamp_text(expected_int96_us(v->v.view.ptr), 1000000, 6, false, out, size);
	else if (v->type.kind == BF_KIND_UUID)
		uuid_text(v->v.view, out, size);
	else if (strcmp(type, "BLOB") == 0)
		hex_text(v->v.view, out, size);
	else if (strcmp(type, "VARCHAR") == 0 || strcmp(type, "JSON") == 0)
		snprintf(out, size, "%.*s", (int) v->v.view.len, (const char *) v->v.view.ptr);
	else
		snprintf(out, size, "?");
}

/* DuckDB writes no 0 before the point where the type has no digit there. */
static void
decimal_text(const BfValue *v, char *out, size_t size)
{
	char text[64];
	char *zero = text;

	expected_i128(v->type.precision <= 18 ? v->v.i64 : v->v.i128, v->type.scale, text, sizeof text);
	zero += text[0] == '-';
	if (v->type.precision == v->type.scale && zero[0] == '0' && zero[1] == '.')
		memmove(zero, zero + 1, strlen(zero));
	snprintf(out, size, "%s", text);
}

void
expected_text(const BfValue *v, const char *type, char *out, size_t size)
{
	char date[64];
	bool bc;

	switch (v->type.kind)
	{
		case BF_KIND_BOOL: snprintf(out, size, "%s", v->v.u8 ? "true" : "false"); break;
		case BF_KIND_INT8:
		case BF_KIND_INT16:
		case BF_KIND_INT32:
		case BF_KIND_UINT8:
		case BF_KIND_UINT16: snprintf(out, size, "%d", v->v.i32); break;
		case BF_KIND_INT64:
		case BF_KIND_UINT32: snprintf(out, size, "%lld", (long long) v->v.i64); break;
		case BF_KIND_UINT64: snprintf(out, size, "%llu", (unsigned long long) v->v.i64); break;
		case BF_KIND_FLOAT16:
		case BF_KIND_FLOAT32: snprintf(out, size, "%.9g", (double) v->v.f32); break;
		case BF_KIND_FLOAT64: snprintf(out, size, "%.17g", v->v.f64); break;
		case BF_KIND_DECIMAL:
			if (bf_type_storage(v->type) == BF_STORE_VIEW)
				snprintf(out, size, "?");
			else
				decimal_text(v, out, size);
			break;
		case BF_KIND_DATE:
			date_text(v->v.i32, date, sizeof date, &bc);
			snprintf(out, size, "%s%s", date, bc ? " (BC)" : "");
			break;
		case BF_KIND_TIME: time_text(v->v.i64, 1000000, 6, out, size); break;
		case BF_KIND_TIME_NS:
			if (strcmp(type, "TIME_NS") == 0)
				time_text(v->v.i64, 1000000000, 9, out, size);
			else
				time_text(v->v.i64 / 1000, 1000000, 6, out, size);
			break;
		case BF_KIND_TIMESTAMP:
		case BF_KIND_TIMESTAMPTZ:
			timestamp_text(v->v.i64, 1000000, 6, strstr(type, "ZONE") != NULL, out, size);
			break;
		case BF_KIND_TIMESTAMP_NS:
		case BF_KIND_TIMESTAMPTZ_NS:
			if (strstr(type, "_NS") != NULL)
				timestamp_text(v->v.i64, 1000000000, 9, false, out, size);
			else
				timestamp_text(v->v.i64 / 1000 - (v->v.i64 % 1000 < 0), 1000000, 6,
							   strstr(type, "ZONE") != NULL, out, size);
			break;
		default: view_text(v, type, out, size); break;
	}
}

/* ---- nested ---- */

static BfStatus
quoted(const char *text, size_t len, BfBuffer *out, BfError *err)
{
	BF_TRY(bf_buffer_u8(out, '\'', err));
	for (size_t i = 0; i < len; i++)
	{
		if (text[i] == '\'' || text[i] == '\\')
			BF_TRY(bf_buffer_u8(out, '\\', err));
		BF_TRY(bf_buffer_u8(out, (uint8_t) text[i], err));
	}
	return bf_buffer_u8(out, '\'', err);
}

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
needs_quotes(const char *text, size_t len)
{
	if (len == 0 || is_space(text[0]) || is_space(text[len - 1]))
		return true;
	if (len == 4 && strncasecmp(text, "null", 4) == 0)
		return true;
	for (size_t i = 0; i < len; i++)
		if (text[i] != '\0' && strchr("\"'(),:=[]{}", text[i]) != NULL)
			return true;
	return false;
}

/* The shortest number that reads back, with a point or exponent. */
static void
float_text(double v, bool is_float, char *out, size_t size)
{
	char e[64];
	char *exponent;
	int digits = 1;

	if (isnan(v) || isinf(v))
	{
		snprintf(out, size, "%s", isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
		return;
	}
	do
		snprintf(e, sizeof e, "%.*e", digits - 1, v);
	while (digits++ < 17 && (is_float ? strtof(e, NULL) != (float) v : strtod(e, NULL) != v));
	exponent = strchr(e, 'e');
	if (atoi(exponent + 1) >= -4 && atoi(exponent + 1) < 16)
	{
		int decimals = (int) (exponent - e) - (v < 0 || e[0] == '-') - 2 - atoi(exponent + 1);

		if (strchr(e, '.') == NULL)
			decimals = -atoi(exponent + 1);
		snprintf(out, size, "%.*f", decimals > 1 ? decimals : 1, v);
		return;
	}
	snprintf(out, size, "%s", e);
}

static BfStatus
blob_text(BfView v, BfBuffer *out, BfError *err)
{
	for (uint32_t i = 0; i < v.len; i++)
		if (v.ptr[i] >= 0x20 && v.ptr[i] < 0x7f && strchr("\\'\"", v.ptr[i]) == NULL)
			BF_TRY(bf_buffer_u8(out, v.ptr[i], err));
		else
			BF_TRY(bf_buffer_printf(out, err, "\\x%02X", v.ptr[i]));
	return BF_OK;
}

static const char *
leaf_type(BfKind k)
{
	switch (k)
	{
		case BF_KIND_TIMESTAMPTZ:
		case BF_KIND_TIMESTAMPTZ_NS: return "TIMESTAMP WITH TIME ZONE";
		case BF_KIND_TIMESTAMP_NS: return "TIMESTAMP_NS";
		case BF_KIND_TIME_NS: return "TIME_NS";
		case BF_KIND_STRING:
		case BF_KIND_JSON:
		case BF_KIND_ENUM: return "VARCHAR";
		case BF_KIND_BINARY:
		case BF_KIND_FIXED:
		case BF_KIND_BSON: return "BLOB";
		default: return "";
	}
}

static BfStatus
leaf_text(const BfValue *v, const char *type, BfBuffer *out, BfError *err)
{
	static char text[1 << 16];
	static BfBuffer blob;
	const char *p = text;
	size_t len;

	switch (v->type.kind)
	{
		case BF_KIND_FLOAT16:
		case BF_KIND_FLOAT32: float_text((double) v->v.f32, true, text, sizeof text); break;
		case BF_KIND_FLOAT64: float_text(v->v.f64, false, text, sizeof text); break;
		case BF_KIND_TIME:
			expected_text(v, "", text, sizeof text);
			if (strstr(type, " TIME WITH TIME ZONE") != NULL)
				strcat(text, "+00");
			break;
		case BF_KIND_TIMESTAMPTZ: /* not everything that is adjusted to UTC is so in DuckDB */
			expected_text(v, strstr(type, "TIMESTAMP WITH") != NULL ? "ZONE" : "", text,
						  sizeof text);
			break;
		default: expected_text(v, leaf_type(v->type.kind), text, sizeof text); break;
	}
	len = strlen(text);
	if (strcmp(leaf_type(v->type.kind), "VARCHAR") == 0)
	{
		p = (const char *) v->v.view.ptr;
		len = v->v.view.len;
	}
	if (strcmp(leaf_type(v->type.kind), "BLOB") == 0)
	{
		bf_buffer_init(&blob, out->host, 1 << 24);
		BF_TRY(blob_text(v->v.view, &blob, err));
		p = (const char *) blob.data;
		len = blob.len;
	}
	if (needs_quotes(p, len))
		BF_TRY(quoted(p, len, out, err));
	else
		BF_TRY(bf_buffer_append(out, p, len, err));
	bf_buffer_free(&blob);
	memset(&blob, 0, sizeof blob);
	return BF_OK;
}

static BfStatus
items_text(const BfField *f, const BfVector *v, int32_t row, const char *type, BfBuffer *out,
		   BfError *err)
{
	bool is_map = f->type.kind == BF_KIND_MAP;
	int32_t first;
	int32_t end;

	bf_vector_items(v, row, &first, &end);
	BF_TRY(bf_buffer_u8(out, is_map ? '{' : '[', err));
	for (int32_t i = first; i < end; i++)
	{
		if (i > first)
			BF_TRY(bf_buffer_append(out, ", ", 2, err));
		BF_TRY(expected_nested_text(&f->children[0], &v->children[0], i, type, out, err));
		if (!is_map)
			continue;
		BF_TRY(bf_buffer_u8(out, '=', err));
		BF_TRY(expected_nested_text(&f->children[1], &v->children[1], i, type, out, err));
	}
	return bf_buffer_u8(out, is_map ? '}' : ']', err);
}

BfStatus
expected_nested_text(const BfField *f, const BfVector *v, int32_t row, const char *type,
					 BfBuffer *out, BfError *err)
{
	BfValue value;

	if (!bf_vector_get(v, row, &value))
		return bf_buffer_append(out, "NULL", 4, err);
	if (v->storage != BF_STORE_NESTED)
		return leaf_text(&value, type, out, err);
	if (f->type.kind != BF_KIND_STRUCT)
		return items_text(f, v, row, type, out, err);
	BF_TRY(bf_buffer_u8(out, '{', err));
	for (int32_t i = 0; i < f->n_children; i++)
	{
		if (i > 0)
			BF_TRY(bf_buffer_append(out, ", ", 2, err));
		BF_TRY(quoted(f->children[i].name, strlen(f->children[i].name), out, err));
		BF_TRY(bf_buffer_append(out, ": ", 2, err));
		BF_TRY(expected_nested_text(&f->children[i], &v->children[i], row, type, out, err));
	}
	return bf_buffer_u8(out, '}', err);
}

bool
expected_same(const char *ours, const char *theirs, const char *type)
{
	if (strcmp(ours, "?") == 0)
		return true;
	if (strcmp(type, "FLOAT") == 0 || strcmp(type, "DOUBLE") == 0)
	{
		double a = strtod(ours, NULL);
		double b = strtod(theirs, NULL);

		if (isnan(a) || isnan(b))
			return isnan(a) && isnan(b);
		return strcmp(type, "FLOAT") == 0 ? (float) a == (float) b : a == b;
	}
	return strcmp(ours, theirs) == 0;
}
