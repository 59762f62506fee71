/*
 * pg/server/host_memory.c: memory for the core.
 *
 * Blocks of a certain size are mapped, so that they go back to the system when freed, and some are
 * kept for reuse: the page faults of a fresh mapping cost more than decoding into it. Sizes are
 * rounded up, so that scans of one table find theirs again.
 */
#include "pg/server/host_internal.h"

#include <sys/mman.h>

#define MAP_BYTES_MIN ((size_t) 128 * 1024)
#define KEEP_BYTES_MAX ((size_t) 16 * 1024 * 1024)
#define KEEP_SLOTS 24

static struct
{
	void *ptr;
	size_t size;
} kept[KEEP_SLOTS];
static int n_kept = 0;
static size_t kept_bytes = 0;

/* To a quarter of the power of two below. */
static size_t
map_size(size_t size)
{
	size_t step = (size_t) 1 << (61 - __builtin_clzll(size));

	Assert(size >= MAP_BYTES_MIN);
	return (size + step - 1) & ~(step - 1);
}

void *
bifang_host_alloc(const BfHost *h, size_t size)
{
	void *ptr;

	(void) h;
	if (size < MAP_BYTES_MIN)
		return malloc(size);
	if (size > SIZE_MAX / 4)
		return NULL;
	size = map_size(size);
	for (int i = n_kept - 1; i >= 0; i--)
		if (kept[i].size == size)
		{
			ptr = kept[i].ptr;
			kept[i] = kept[--n_kept];
			Assert(kept_bytes >= size);
			kept_bytes -= size;
			return ptr;
		}
	ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return ptr == MAP_FAILED ? NULL : ptr;
}

void
bifang_host_free(const BfHost *h, void *ptr, size_t size)
{
	(void) h;
	if (ptr == NULL)
		return;
	if (size < MAP_BYTES_MIN)
	{
		free(ptr);
		return;
	}
	size = map_size(size);
	if (n_kept < KEEP_SLOTS && kept_bytes + size <= KEEP_BYTES_MAX)
	{
		kept[n_kept].ptr = ptr;
		kept[n_kept++].size = size;
		kept_bytes += size;
		Assert(kept_bytes <= KEEP_BYTES_MAX);
		return;
	}
	munmap(ptr, size);
}
