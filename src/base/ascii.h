/*
 * base/ascii.h: characters of ASCII, and what is read from them.
 *
 * Names, keys and numbers of formats are compared and taken apart by these functions alone: what
 * <ctype.h> and strcasecmp say depends on the process's locale, where a Turkish I has no dot and
 * bytes above 0x7f may be letters. Those bytes are nothing here.
 */
#ifndef BF_BASE_ASCII_H
#define BF_BASE_ASCII_H

#include "base/bytes.h"

static inline bool
bf_ascii_digit(int c)
{
	return c >= '0' && c <= '9';
}

static inline bool
bf_ascii_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Blanks and what ends lines. */
static inline bool
bf_ascii_space(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The value of a hexadecimal digit, -1 if it is none. */
static inline int
bf_ascii_hex(int c)
{
	if (bf_ascii_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* How many of n bytes are digits, from the first on; *out is their number, -1 if it is greater than
 * max. What follows the first other byte is not looked at. */
static inline size_t
bf_ascii_number(const void *p, size_t n, int64_t max, int64_t *out)
{
	const uint8_t *c = p;
	size_t i = 0;

	BF_ASSERT(max >= 9);
	*out = 0;
	for (; i < n && bf_ascii_digit(c[i]); i++)
		if (*out >= 0)
			*out = *out > (max - (c[i] - '0')) / 10 ? -1 : *out * 10 + (c[i] - '0');
	return i;
}

/* The same of numbers to 2^64: how many digits, 0 when there are none or it is greater. */
static inline size_t
bf_ascii_unsigned(const void *p, size_t n, uint64_t *out)
{
	const uint8_t *c = p;
	size_t i = 0;

	*out = 0;
	for (; i < n && bf_ascii_digit(c[i]); i++)
		if (__builtin_mul_overflow(*out, (uint64_t) 10, out) ||
			__builtin_add_overflow(*out, (uint64_t) (c[i] - '0'), out))
			return 0;
	return i;
}

/* Digits with or without a minus before them: how many bytes, 0 when it is no number or not of 64
 * bits. */
static inline size_t
bf_ascii_integer(const void *p, size_t n, int64_t *out)
{
	const uint8_t *c = p;
	size_t sign = n > 0 && c[0] == '-';
	uint64_t v;
	size_t digits = bf_ascii_unsigned(c + sign, n - sign, &v);

	*out = 0;
	if (digits == 0 || v > (uint64_t) INT64_MAX + sign)
		return 0;
	*out = (int64_t) (sign ? 0 - v : v);
	return sign + digits;
}

static inline int
bf_ascii_lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static inline int
bf_ascii_upper(int c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

/* Are n bytes of each the same but for the case of letters? */
static inline bool
bf_ascii_same_bytes(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bf_ascii_lower(a[i]) != bf_ascii_lower(b[i]))
			return false;
	return true;
}

static inline bool
bf_ascii_same(const char *a, const char *b)
{
	size_t n = strlen(a);

	return strlen(b) == n && bf_ascii_same_bytes(a, b, n);
}

#endif
