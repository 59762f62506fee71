/*
 * base/sort.h: sorting, searching in what is sorted.
 *
 * The C library's qsort may allocate, and takes n^2 comparisons for some inputs where it does not.
 * bf_sort takes no memory and at most a multiple of n log n comparisons, whatever the input: it
 * divides around the median of a few elements, and where that goes wrong too often goes on as a
 * heap sort. An input that is in order already costs n - 1 comparisons.
 *
 * Elements that compare equal come out in any order, though always in the same one; where it
 * matters the comparison must tell all elements apart. One that contradicts itself gives some
 * order, and never an access outside of the array.
 */
#ifndef BF_BASE_SORT_H
#define BF_BASE_SORT_H

#include "base/status.h"

/* Below, at or above 0 as *x comes before, with or after *y. */
typedef int (*BfCompare)(const void *x, const void *y);

#define BF_SORT_ELEMENT_BYTES_MAX 128

/* n elements of `size` bytes, at most BF_SORT_ELEMENT_BYTES_MAX each. */
extern void bf_sort(void *base, size_t n, size_t size, BfCompare compare);

/* Sets `out` to the first i in [0, n) for which `before(i)`, an expression of `i`, does not hold;
 * to n when it holds for all. It must not hold behind an i for which it does not.
 *
 *     BF_SEARCH(int32_t, at, s->n, i, s->ranges[i].last < entry);
 */
#define BF_SEARCH(type, out, n, i, before)                                    \
	do                                                                        \
	{                                                                         \
		type bf_search_low_ = 0, bf_search_high_ = (n);                       \
		while (bf_search_low_ < bf_search_high_)                              \
		{                                                                     \
			type i = bf_search_low_ + (bf_search_high_ - bf_search_low_) / 2; \
			if (before)                                                       \
				bf_search_low_ = i + 1;                                       \
			else                                                              \
				bf_search_high_ = i;                                          \
		}                                                                     \
		(out) = bf_search_low_;                                               \
	} while (0)

#endif
