/*
 * Cursors over bytes from outside, and buffers. The slow ends are here: what a cursor says when
 * bytes are missing, and how a buffer grows.
 */
#include "base/bytes.h"

#include <stdio.h>

BfStatus
bf_cursor_short(const BfCursor *c, size_t wanted, BfError *err)
{
	BF_ASSERT(wanted > bf_cursor_left(c));
	return bf_error_at(err, BF_ERR_CORRUPT, bf_cursor_offset(c),
					   "data ends too early: %zu bytes wanted, %zu left", wanted,
					   bf_cursor_left(c));
}

#define CURSOR_FIXED(name, type, load)                     \
	BfStatus name(BfCursor *c, type *v, BfError *err)      \
	{                                                      \
		if (BF_UNLIKELY(bf_cursor_left(c) < sizeof(type))) \
			return bf_cursor_short(c, sizeof(type), err);  \
		*v = load(c->pos);                                 \
		c->pos += sizeof(type);                            \
		return BF_OK;                                      \
	}

static inline uint8_t
load8(const uint8_t *p)
{
	return *p;
}

CURSOR_FIXED(bf_cursor_u8, uint8_t, load8)
CURSOR_FIXED(bf_cursor_u16be, uint16_t, bf_load16be)
CURSOR_FIXED(bf_cursor_u32le, uint32_t, bf_load32le)
CURSOR_FIXED(bf_cursor_u32be, uint32_t, bf_load32be)
CURSOR_FIXED(bf_cursor_u64le, uint64_t, bf_load64le)
CURSOR_FIXED(bf_cursor_u64be, uint64_t, bf_load64be)

BfStatus
bf_cursor_uvarint(BfCursor *c, uint64_t *v, BfError *err)
{
	const uint8_t *p = c->pos;
	uint64_t result = 0;

	for (unsigned shift = 0; shift < 70; shift += 7)
	{
		uint8_t b;

		if (BF_UNLIKELY(p == c->end))
			return bf_cursor_short(c, bf_cursor_left(c) + 1, err);
		b = *p++;
		if (BF_UNLIKELY(shift == 63 && b > 1))
			break;
		result |= (uint64_t) (b & 0x7f) << shift;
		if ((b & 0x80) == 0)
		{
			c->pos = p;
			*v = result;
			return BF_OK;
		}
	}
	return bf_error_at(err, BF_ERR_CORRUPT, bf_cursor_offset(c),
					   "variable-length integer is too long");
}

BfStatus
bf_cursor_varint(BfCursor *c, int64_t *v, BfError *err)
{
	uint64_t u;

	BF_TRY(bf_cursor_uvarint(c, &u, err));
	*v = bf_unzigzag(u);
	return BF_OK;
}

BfStatus
bf_cursor_varint32(BfCursor *c, int32_t *v, BfError *err)
{
	int64_t offset = bf_cursor_offset(c);
	uint64_t u;

	BF_TRY(bf_cursor_uvarint(c, &u, err));
	BF_DATA(err, u <= UINT32_MAX, offset, "32-bit variable-length integer is out of range");
	*v = (int32_t) bf_unzigzag(u);
	return BF_OK;
}

BfStatus
bf_cursor_take(BfCursor *c, size_t n, const uint8_t **p, BfError *err)
{
	BF_ASSERT(c->start <= c->pos && c->pos <= c->end);
	if (BF_UNLIKELY(n > bf_cursor_left(c)))
		return bf_cursor_short(c, n, err);
	*p = c->pos;
	c->pos += n;
	return BF_OK;
}

BfStatus
bf_cursor_skip(BfCursor *c, size_t n, BfError *err)
{
	const uint8_t *ignored;

	return bf_cursor_take(c, n, &ignored, err);
}

void
bf_buffer_init(BfBuffer *b, const BfHost *host, size_t bytes_max)
{
	memset(b, 0, sizeof *b);
	b->host = host;
	b->bytes_max = bytes_max;
}

void
bf_buffer_free(BfBuffer *b)
{
	BF_ASSERT((b->data == NULL) == (b->cap == 0));
	if (b->data != NULL)
		b->host->mem_free(b->host, b->data, b->cap);
	b->data = NULL;
	b->len = b->cap = 0;
}

static void
free_buffer_hook(void *arg)
{
	bf_buffer_free(arg);
}

BfStatus
bf_buffer_new(BfArena *a, size_t bytes_max, BfBuffer **out, BfError *err)
{
	BfBuffer *b;

	BF_NEW(a, b, 1, err);
	bf_buffer_init(b, bf_arena_host(a), bytes_max);
	if (!bf_arena_on_cleanup(a, free_buffer_hook, b))
		return bf_arena_fail(a, 0, err);
	*out = b;
	return BF_OK;
}

BfStatus
bf_buffer_reserve(BfBuffer *b, size_t more, BfError *err)
{
	size_t want;
	size_t cap;
	uint8_t *data;

	BF_ASSERT(b->len <= b->cap && b->cap <= b->bytes_max);
	if (BF_LIKELY(more <= b->cap - b->len))
		return BF_OK;
	if (__builtin_add_overflow(b->len, more, &want) || want > b->bytes_max)
		return bf_error(err, BF_ERR_LIMIT, "a buffer would grow past %zu bytes", b->bytes_max);
	cap = b->cap < 256 ? 256 : b->cap;
	cap = cap < b->bytes_max ? cap : b->bytes_max;
	while (cap < want)
		cap = cap > b->bytes_max / 2 ? b->bytes_max : cap * 2;
	data = b->host->mem_alloc(b->host, cap);
	if (data == NULL)
		return bf_error(err, BF_ERR_NOMEM, "out of memory for a buffer of %zu bytes", cap);
	if (b->len > 0)
		memcpy(data, b->data, b->len);
	if (b->data != NULL)
		b->host->mem_free(b->host, b->data, b->cap);
	b->data = data;
	b->cap = cap;
	BF_ASSERT(more <= b->cap - b->len && b->cap <= b->bytes_max);
	return BF_OK;
}

BfStatus
bf_buffer_append(BfBuffer *b, const void *p, size_t n, BfError *err)
{
	BF_TRY(bf_buffer_reserve(b, n, err));
	if (n > 0)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	return BF_OK;
}

BfStatus
bf_buffer_u8(BfBuffer *b, uint8_t v, BfError *err)
{
	return bf_buffer_append(b, &v, 1, err);
}

BfStatus
bf_buffer_u32be(BfBuffer *b, uint32_t v, BfError *err)
{
	uint8_t be[4];

	bf_store32be(be, v);
	return bf_buffer_append(b, be, sizeof be, err);
}

BfStatus
bf_buffer_u64be(BfBuffer *b, uint64_t v, BfError *err)
{
	uint8_t be[8];

	bf_store64be(be, v);
	return bf_buffer_append(b, be, sizeof be, err);
}

BfStatus
bf_buffer_uvarint(BfBuffer *b, uint64_t v, BfError *err)
{
	BF_TRY(bf_buffer_reserve(b, 10, err));
	b->len += bf_put_uvarint(b->data + b->len, v);
	return BF_OK;
}

BfStatus
bf_buffer_varint(BfBuffer *b, int64_t v, BfError *err)
{
	return bf_buffer_uvarint(b, bf_zigzag(v), err);
}

BfStatus
bf_buffer_printf(BfBuffer *b, BfError *err, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	BF_NEVER(err, n < 0);
	BF_TRY(bf_buffer_reserve(b, (size_t) n + 1, err));
	va_start(args, fmt);
	vsnprintf((char *) b->data + b->len, (size_t) n + 1, fmt, args);
	va_end(args);
	b->len += (size_t) n;
	return BF_OK;
}
