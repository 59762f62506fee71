#include "test_parquet_expected.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
