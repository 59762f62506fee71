/*
 * base/bytes.h: bounded reading and writing of bytes.
 *
 * A BfCursor walks over bytes that came from outside. It never passes its end; every function
 * checks what is left before it takes anything and reports BF_ERR_CORRUPT with the position in the
 * file (base_offset + distance from start). A BfBuffer grows by doubling up to its bytes_max.
 */
#ifndef BF_BASE_BYTES_H
#define BF_BASE_BYTES_H

#include <string.h>

#include "base/arena.h"

/* Bytes that someone else owns. ptr may be NULL when len is 0. */
typedef struct BfView
{
	const uint8_t *ptr;
	uint32_t len;
} BfView;

/* Aligned as the other numbers: the server's allocator gives no more than 8. */
__extension__ typedef __int128 bf_i128 __attribute__((aligned(8)));
__extension__ typedef unsigned __int128 bf_u128 __attribute__((aligned(8)));

_Static_assert(_Alignof(bf_i128) == 8 && _Alignof(bf_u128) == 8, "no more than palloc gives");

/* Big-endian two's complement of any length, whose leading bytes may only repeat the sign. false:
 * no bytes, or a number that 16 of them don't hold; *out is as it was then. */
static inline bool
bf_view_i128(BfView v, bf_i128 *out)
{
	uint32_t i = 0;
	uint8_t sign;
	bf_u128 bits;

	if (v.len == 0)
		return false;
	sign = (v.ptr[0] & 0x80) != 0 ? 0xff : 0;
	for (; v.len - i > 16; i++)
		if (v.ptr[i] != sign)
			return false;
	if (v.len - i == 16 && ((v.ptr[i] ^ sign) & 0x80) != 0)
		return false;
	bits = sign != 0 ? ~(bf_u128) 0 : 0;
	for (; i < v.len; i++)
		bits = bits << 8 | v.ptr[i];
	*out = (bf_i128) bits;
	return true;
}

typedef struct BfCursor
{
	const uint8_t *start; /* borrowed */
	const uint8_t *pos;
	const uint8_t *end;
	int64_t base_offset; /* file position of start, for messages */
} BfCursor;

static inline BfCursor
bf_cursor(const void *p, size_t n, int64_t base_offset)
{
	const uint8_t *b = p;
	/* A null pointer takes no offset in C, not even 0. */
	BfCursor c = {b, b, n > 0 ? b + n : b, base_offset};

	return c;
}

static inline size_t
bf_cursor_left(const BfCursor *c)
{
	return (size_t) (c->end - c->pos);
}

static inline int64_t
bf_cursor_offset(const BfCursor *c)
{
	return c->base_offset + (c->pos - c->start);
}

/* The common failure: the data ends inside `what`. */
extern BfStatus bf_cursor_short(const BfCursor *c, size_t wanted, BfError *err);

static inline uint16_t
bf_load16le(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof v);
	return v;
}
static inline uint32_t
bf_load32le(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}
static inline uint64_t
bf_load64le(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}
static inline uint16_t
bf_load16be(const void *p)
{
	return __builtin_bswap16(bf_load16le(p));
}
static inline uint32_t
bf_load32be(const void *p)
{
	return __builtin_bswap32(bf_load32le(p));
}
static inline uint64_t
bf_load64be(const void *p)
{
	return __builtin_bswap64(bf_load64le(p));
}
static inline void
bf_store32le(void *p, uint32_t v)
{
	memcpy(p, &v, sizeof v);
}
static inline void
bf_store64le(void *p, uint64_t v)
{
	memcpy(p, &v, sizeof v);
}
static inline void
bf_store16be(void *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, sizeof v);
}
static inline void
bf_store32be(void *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof v);
}
static inline void
bf_store64be(void *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof v);
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bifang_fdw supports little-endian machines only"
#endif

extern BfStatus bf_cursor_u8(BfCursor *c, uint8_t *v, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_cursor_u16be(BfCursor *c, uint16_t *v, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_cursor_u32le(BfCursor *c, uint32_t *v, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_cursor_u32be(BfCursor *c, uint32_t *v, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_cursor_u64le(BfCursor *c, uint64_t *v, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_cursor_u64be(BfCursor *c, uint64_t *v, BfError *err) BF_MUST_CHECK;
/* LEB128, at most 10 bytes; an 11th byte or bits past 64 are corrupt. */
extern BfStatus bf_cursor_uvarint(BfCursor *c, uint64_t *v, BfError *err) BF_MUST_CHECK;
/* Zigzag LEB128 of 64 and of 32 bits (a value out of range is corrupt). */
extern BfStatus bf_cursor_varint(BfCursor *c, int64_t *v, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_cursor_varint32(BfCursor *c, int32_t *v, BfError *err) BF_MUST_CHECK;
/* The next n bytes, not copied. */
extern BfStatus
bf_cursor_take(BfCursor *c, size_t n, const uint8_t **p, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_cursor_skip(BfCursor *c, size_t n, BfError *err) BF_MUST_CHECK;

/* Growing output. After a failure the content is unchanged. */
typedef struct BfBuffer
{
	const BfHost *host; /* borrowed */
	uint8_t *data;		/* owned */
	size_t len;
	size_t cap;
	size_t bytes_max;
} BfBuffer;

extern void bf_buffer_init(BfBuffer *b, const BfHost *host, size_t bytes_max);
extern void bf_buffer_free(BfBuffer *b);
/* A buffer that is freed with the arena. */
extern BfStatus
bf_buffer_new(BfArena *a, size_t bytes_max, BfBuffer **out, BfError *err) BF_MUST_CHECK;
/* Room for `more` bytes after len; doubling. */
extern BfStatus bf_buffer_reserve(BfBuffer *b, size_t more, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_buffer_append(BfBuffer *b, const void *p, size_t n, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_buffer_u8(BfBuffer *b, uint8_t v, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_buffer_u32be(BfBuffer *b, uint32_t v, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_buffer_u64be(BfBuffer *b, uint64_t v, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_buffer_uvarint(BfBuffer *b, uint64_t v, BfError *err) BF_MUST_CHECK;
extern BfStatus bf_buffer_varint(BfBuffer *b, int64_t v, BfError *err) BF_MUST_CHECK;
extern BfStatus
bf_buffer_printf(BfBuffer *b, BfError *err, const char *fmt, ...) BF_PRINTF(3, 4) BF_MUST_CHECK;

/* Writes at most 10 bytes, returns how many. */
static inline size_t
bf_put_uvarint(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	while (v >= 0x80)
	{
		p[n++] = (uint8_t) (v | 0x80);
		v >>= 7;
	}
	p[n++] = (uint8_t) v;
	BF_ASSERT(n <= 10);
	return n;
}

static inline uint64_t
bf_zigzag(int64_t v)
{
	return ((uint64_t) v << 1) ^ (uint64_t) (v >> 63);
}

static inline int64_t
bf_unzigzag(uint64_t v)
{
	return (int64_t) (v >> 1) ^ -(int64_t) (v & 1);
}

#endif
