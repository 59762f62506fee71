/*
 * Arenas: blocks that grow by doubling, handed out by bumping a pointer. Under BF_ARENA_MALLOC
 * each allocation is a block of its own, so that AddressSanitizer sees its bounds. Clean-up hooks
 * are kept in the blocks and run backwards.
 */
#include "base/arena.h"

#include <stdio.h>
#include <string.h>

#define BLOCK_MIN ((size_t) 8192)
#define BLOCK_MAX ((size_t) 1 << 20)
#define ALIGNMENT ((size_t) 16)

typedef struct Block
{
	struct Block *prev;
	size_t size; /* of the payload */
	size_t used;
	size_t pad; /* keeps the payload aligned */
} Block;

typedef struct Hook
{
	struct Hook *prev;
	BfCleanup fn;
	void *arg;
} Hook;

struct BfArena
{
	const BfHost *host; /* borrowed: outlives the arena */
	const char *name;	/* borrowed: literal */
	size_t bytes_max;
	size_t total; /* payload bytes of all blocks */
	size_t next_block;
	bool over_limit; /* the last failure was bytes_max, not the host */
	bool dense;
	Block *top;	 /* owned */
	Hook *hooks; /* lives in the blocks */
};

_Static_assert(sizeof(Block) % 16 == 0, "payload must stay aligned");

static uint8_t *
payload(Block *b)
{
	return (uint8_t *) (b + 1);
}

BfArena *
bf_arena_new(const BfHost *host, const char *name, size_t bytes_max)
{
	BfArena *a = host->mem_alloc(host, sizeof *a);

	if (a == NULL)
		return NULL;
	memset(a, 0, sizeof *a);
	a->host = host;
	a->name = name;
	a->bytes_max = bytes_max;
	a->next_block = BLOCK_MIN;
	return a;
}

void
bf_arena_dense(BfArena *a)
{
	a->dense = true;
}

static void
run_hooks(BfArena *a, Hook *until)
{
	while (a->hooks != until)
	{
		Hook *h = a->hooks;

		BF_ASSERT(h != NULL); /* else the mark was of another arena, or of a later time */
		a->hooks = h->prev;
		h->fn(h->arg);
	}
}

static void
free_blocks(BfArena *a, Block *until)
{
	while (a->top != until)
	{
		Block *b = a->top;

		BF_ASSERT(b != NULL && b->size <= a->total);
		a->top = b->prev;
		a->total -= b->size;
		a->host->mem_free(a->host, b, sizeof *b + b->size);
	}
}

void
bf_arena_free(BfArena *a)
{
	if (a == NULL)
		return;
	run_hooks(a, NULL);
	free_blocks(a, NULL);
	BF_ASSERT(a->total == 0 && a->hooks == NULL);
	a->host->mem_free(a->host, a, sizeof *a);
}

void
bf_arena_reset(BfArena *a)
{
	run_hooks(a, NULL);
#ifdef BF_ARENA_MALLOC
	free_blocks(a, NULL);
#else
	Block *keep = NULL;

	for (Block *b = a->top; b != NULL; b = b->prev)
		if (keep == NULL || b->size > keep->size)
			keep = b;
	while (a->top != NULL)
	{
		Block *b = a->top;

		a->top = b->prev;
		if (b != keep)
		{
			a->total -= b->size;
			a->host->mem_free(a->host, b, sizeof *b + b->size);
		}
	}
	if (keep != NULL)
	{
		keep->prev = NULL;
		keep->used = 0;
		a->top = keep;
	}
	BF_ASSERT(a->total == (keep != NULL ? keep->size : 0));
#endif
}

static Block *
add_block(BfArena *a, size_t payload_size)
{
	Block *b;

	BF_ASSERT(a->total <= a->bytes_max);
	a->over_limit = payload_size > a->bytes_max - a->total;
	if (a->over_limit)
		return NULL;
	b = a->host->mem_alloc(a->host, sizeof *b + payload_size);
	if (b == NULL)
		return NULL;
	b->prev = a->top;
	b->size = payload_size;
	b->used = 0;
	b->pad = 0;
	a->top = b;
	a->total += payload_size;
	return b;
}

void *
bf_arena_alloc(BfArena *a, size_t size)
{
	Block *b = a->top;
	void *p;

	if (size > SIZE_MAX / 2)
	{
		a->over_limit = true;
		return NULL;
	}
#ifdef BF_ARENA_MALLOC
	/* No rounding: one byte past the end must be outside the block. */
	b = add_block(a, size);
	if (b == NULL)
		return NULL;
	b->used = size;
	p = payload(b);
#else
	size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	if (b == NULL || size > b->size - b->used)
	{
		size_t want = size > a->next_block ? size : a->next_block;
		size_t left = a->bytes_max - a->total;

		if (want > left && size <= left)
			want = size; /* near the limit: exactly what is asked for */
		b = add_block(a, want);
		if (b == NULL)
			return NULL;
		if (a->dense)
			a->next_block = a->total / 8 < BLOCK_MIN   ? BLOCK_MIN
							: a->total / 8 > BLOCK_MAX ? BLOCK_MAX
													   : a->total / 8;
		else if (a->next_block < BLOCK_MAX)
			a->next_block *= 2;
	}
	p = payload(b) + b->used;
	b->used += size;
#endif
	BF_ASSERT(b->used <= b->size && (uintptr_t) p % ALIGNMENT == 0);
	return p;
}

void *
bf_arena_alloc_array(BfArena *a, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
	{
		a->over_limit = true;
		return NULL;
	}
	return bf_arena_alloc(a, bytes);
}

BfArenaMark
bf_arena_mark(const BfArena *a)
{
	BfArenaMark m;

	m.block = a->top;
	m.used = a->top != NULL ? a->top->used : 0;
	m.hook = a->hooks;
	m.total = a->total;
	return m;
}

void
bf_arena_rewind(BfArena *a, BfArenaMark mark)
{
	run_hooks(a, mark.hook);
	free_blocks(a, mark.block);
	BF_ASSERT(a->top == NULL || mark.used <= a->top->used);
	if (a->top != NULL)
		a->top->used = mark.used;
	BF_ASSERT(a->total == mark.total);
}

bool
bf_arena_on_cleanup(BfArena *a, BfCleanup fn, void *arg)
{
	Hook *h = bf_arena_alloc(a, sizeof *h);

	if (h == NULL)
		return false;
	h->prev = a->hooks;
	h->fn = fn;
	h->arg = arg;
	a->hooks = h;
	return true;
}

const BfHost *
bf_arena_host(const BfArena *a)
{
	return a->host;
}

size_t
bf_arena_bytes(const BfArena *a)
{
	return a->total;
}

void *
bf_arena_memdup(BfArena *a, const void *p, size_t n)
{
	void *copy = bf_arena_alloc(a, n);

	if (copy != NULL && n > 0)
		memcpy(copy, p, n);
	return copy;
}

char *
bf_arena_strndup(BfArena *a, const char *s, size_t n)
{
	char *copy = bf_arena_alloc(a, n + 1);

	if (copy != NULL)
	{
		if (n > 0)
			memcpy(copy, s, n);
		copy[n] = '\0';
	}
	return copy;
}

char *
bf_arena_strdup(BfArena *a, const char *s)
{
	return bf_arena_strndup(a, s, strlen(s));
}

char *
bf_arena_printf(BfArena *a, const char *fmt, ...)
{
	va_list args;
	int n;
	char *s;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n < 0)
		return NULL;
	s = bf_arena_alloc(a, (size_t) n + 1);
	if (s == NULL)
		return NULL;
	va_start(args, fmt);
	vsnprintf(s, (size_t) n + 1, fmt, args);
	va_end(args);
	return s;
}

BfStatus
bf_arena_fail(const BfArena *a, size_t wanted, BfError *err)
{
	if (a->over_limit)
		return bf_error(err, BF_ERR_LIMIT, "%s needs more than %zu bytes of memory", a->name,
						a->bytes_max);
	return bf_error(err, BF_ERR_NOMEM, "out of memory in %s (%zu wanted, %zu in use)", a->name,
					wanted, a->total);
}
