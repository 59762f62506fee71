/*
 * Quicksort, heap sort where it divides badly, insertion sort for the small.
 *
 * A range is divided around a pivot that is moved to its front: the median of three elements, of
 * three such medians where the range is large. The smaller side is sorted at once, the larger one
 * by the next turn of the loop, so the depth is at most log2(n). Of 2 * log2(n) divisions on the
 * way to a range most have halved it if the pivots were any good; when they are used up, the range
 * becomes a heap.
 */
#include "base/sort.h"

#include <string.h>

#define INSERTION_MAX 12
#define MEDIAN_OF_NINE_MIN 128

typedef struct Sort
{
	size_t size;
	BfCompare compare;
} Sort;

static inline uint8_t *
at(const Sort *s, uint8_t *base, size_t i)
{
	return base + i * s->size;
}

static void
swap(const Sort *s, uint8_t *x, uint8_t *y)
{
	uint8_t t[BF_SORT_ELEMENT_BYTES_MAX];

	BF_ASSERT(s->size <= sizeof t);
	/* Of known sizes a swap is a few instructions. */
	switch (s->size)
	{
		case 4:
			memcpy(t, x, 4);
			memcpy(x, y, 4);
			memcpy(y, t, 4);
			break;
		case 8:
			memcpy(t, x, 8);
			memcpy(x, y, 8);
			memcpy(y, t, 8);
			break;
		default:
			memcpy(t, x, s->size);
			memmove(x, y, s->size);
			memcpy(y, t, s->size);
			break;
	}
}

static bool
is_sorted(const Sort *s, uint8_t *base, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (s->compare(at(s, base, i - 1), at(s, base, i)) > 0)
			return false;
	return true;
}

static void
insertion_sort(const Sort *s, uint8_t *base, size_t n)
{
	uint8_t t[BF_SORT_ELEMENT_BYTES_MAX];

	for (size_t i = 1; i < n; i++)
	{
		size_t k = i;

		while (k > 0 && s->compare(at(s, base, k - 1), at(s, base, i)) > 0)
			k--;
		if (k == i)
			continue;
		memcpy(t, at(s, base, i), s->size);
		memmove(at(s, base, k + 1), at(s, base, k), (i - k) * s->size);
		memcpy(at(s, base, k), t, s->size);
	}
}

static void
sift_down(const Sort *s, uint8_t *base, size_t root, size_t n)
{
	for (size_t child; (child = 2 * root + 1) < n; root = child)
	{
		if (child + 1 < n && s->compare(at(s, base, child + 1), at(s, base, child)) > 0)
			child++;
		if (s->compare(at(s, base, root), at(s, base, child)) >= 0)
			return;
		swap(s, at(s, base, root), at(s, base, child));
	}
}

static void
heap_sort(const Sort *s, uint8_t *base, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift_down(s, base, i, n);
	for (size_t i = n; i-- > 1;)
	{
		swap(s, base, at(s, base, i));
		sift_down(s, base, 0, i);
	}
}

static uint8_t *
median(const Sort *s, uint8_t *x, uint8_t *y, uint8_t *z)
{
	if (s->compare(x, y) > 0)
	{
		uint8_t *t = x;

		x = y;
		y = t;
	}
	if (s->compare(y, z) <= 0)
		return y;
	return s->compare(x, z) > 0 ? x : z;
}

static uint8_t *
choose_pivot(const Sort *s, uint8_t *base, size_t n)
{
	uint8_t *first = base, *mid = at(s, base, n / 2), *last = at(s, base, n - 1);
	size_t step = n / 8 * s->size;

	BF_ASSERT(n > INSERTION_MAX);
	if (n >= MEDIAN_OF_NINE_MIN)
	{
		first = median(s, first, first + step, first + 2 * step);
		mid = median(s, mid - step, mid, mid + step);
		last = median(s, last - 2 * step, last - step, last);
	}
	return median(s, first, mid, last);
}

/* Where the pivot comes to stand: nothing before it is greater, nothing behind it less. Elements
 * that equal it go to both sides, so many of them divide well. */
static size_t
divide(const Sort *s, uint8_t *base, size_t n)
{
	size_t low = 1, high = n - 1;

	BF_ASSERT(n > 2);
	swap(s, base, choose_pivot(s, base, n));
	for (;;)
	{
		while (low <= high && s->compare(at(s, base, low), base) < 0)
			low++;
		while (low <= high && s->compare(at(s, base, high), base) > 0)
			high--;
		if (low >= high)
			break;
		swap(s, at(s, base, low++), at(s, base, high--));
	}
	/* What stands at `high`, or the pivot itself, is not greater. */
	swap(s, base, at(s, base, high));
	return high;
}

static void
sort_range(const Sort *s, uint8_t *base, size_t n, int divisions)
{
	while (n > INSERTION_MAX)
	{
		size_t pivot, behind;

		if (divisions-- == 0)
		{
			heap_sort(s, base, n);
			return;
		}
		pivot = divide(s, base, n);
		BF_ASSERT(pivot < n);
		behind = n - pivot - 1;
		if (pivot < behind)
		{
			sort_range(s, base, pivot, divisions);
			base = at(s, base, pivot + 1);
			n = behind;
		}
		else
		{
			sort_range(s, at(s, base, pivot + 1), behind, divisions);
			n = pivot;
		}
	}
	insertion_sort(s, base, n);
}

void
bf_sort(void *base, size_t n, size_t size, BfCompare compare)
{
	Sort s = {size, compare};

	BF_ASSERT(size > 0 && size <= BF_SORT_ELEMENT_BYTES_MAX);
	if (n > 1 && !is_sorted(&s, base, n))
		sort_range(&s, base, n, 2 * (64 - __builtin_clzll(n)));
}
