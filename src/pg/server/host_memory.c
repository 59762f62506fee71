/*
 * pg/server/host_memory.c: memory for the core.
 *
 * Blocks beyond a certain size are kept for reuse when they are freed, up to a limit: the page
 * faults of fresh memory cost more than decoding into it, and a scan of a few rows takes no longer
 * than malloc() takes to give the top of the heap back to the system and to ask for it again. Sizes
 * are rounded up, so that scans of one table find theirs again. Large blocks are mapped, so that
 * they go back to the system when they are not kept.
 */
#include "pg/server/host_internal.h"

#include <sys/mman.h>

#define KEEP_BYTES_MIN ((size_t) 4 * 1024)
#define MAP_BYTES_MIN ((size_t) 128 * 1024)
#define SIZES 64

/* A block that is kept. */
typedef struct Kept
{
	struct Kept *next;
} Kept;

/* Of small and of large blocks: those must not take the room of these. */
static struct
{
	const size_t bytes_max;
	size_t bytes;
} room[] = {{(size_t) 1024 * 1024, 0}, {(size_t) 16 * 1024 * 1024, 0}};

/* By size, four to a power of two. */
static Kept *kept[SIZES];

/* To a quarter of the power of two below; *list is where such blocks are kept, or -1. */
static size_t
block_size(size_t size, int *list)
{
	int power = 63 - __builtin_clzll(size);
	size_t step = (size_t) 1 << (power - 2);

	Assert(size >= KEEP_BYTES_MIN);
	size = (size + step - 1) & ~(step - 1);
	power = 63 - __builtin_clzll(size);
	*list = (power - 12) * 4 + (int) (size >> (power - 2) & 3);
	if (*list >= SIZES)
		*list = -1;
	return size;
}

void *
bifang_host_alloc(const BfHost *h, size_t size)
{
	void *ptr;
	int list;

	(void) h;
	if (size < KEEP_BYTES_MIN)
		return malloc(size);
	if (size > SIZE_MAX / 4)
		return NULL;
	size = block_size(size, &list);
	if (list >= 0 && kept[list] != NULL)
	{
		Kept *k = kept[list];

		kept[list] = k->next;
		Assert(room[size >= MAP_BYTES_MIN].bytes >= size);
		room[size >= MAP_BYTES_MIN].bytes -= size;
		return k;
	}
	if (size < MAP_BYTES_MIN)
		return malloc(size);
	ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return ptr == MAP_FAILED ? NULL : ptr;
}

void
bifang_host_free(const BfHost *h, void *ptr, size_t size)
{
	bool large;
	int list;

	(void) h;
	if (ptr == NULL)
		return;
	if (size < KEEP_BYTES_MIN)
	{
		free(ptr);
		return;
	}
	size = block_size(size, &list);
	large = size >= MAP_BYTES_MIN;
	if (list >= 0 && room[large].bytes + size <= room[large].bytes_max)
	{
		Kept *k = ptr;

		k->next = kept[list];
		kept[list] = k;
		room[large].bytes += size;
		return;
	}
	if (large)
		munmap(ptr, size);
	else
		free(ptr);
}
