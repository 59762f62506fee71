#include "log/internal.h"

#define ELEMENT_BYTES_MAX 32

static void
swap(uint8_t *x, uint8_t *y, size_t size)
{
	uint8_t t[ELEMENT_BYTES_MAX];

	memcpy(t, x, size);
	memcpy(x, y, size);
	memcpy(y, t, size);
}

static void
sift_down(uint8_t *base, size_t root, size_t n, size_t size, BfiCompare compare)
{
	for (size_t child; (child = 2 * root + 1) < n; root = child)
	{
		if (child + 1 < n && compare(base + (child + 1) * size, base + child * size) > 0)
			child++;
		if (compare(base + root * size, base + child * size) >= 0)
			return;
		swap(base + root * size, base + child * size, size);
	}
}

void
bfi_sort(void *base, size_t n, size_t size, BfiCompare compare)
{
	BF_ASSERT(size > 0 && size <= ELEMENT_BYTES_MAX);
	for (size_t i = n / 2; i-- > 0;)
		sift_down(base, i, n, size, compare);
	for (size_t i = n; i-- > 1;)
	{
		swap(base, (uint8_t *) base + i * size, size);
		sift_down(base, 0, i, size, compare);
	}
}
