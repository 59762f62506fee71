/*
 * exec/filter/rows.h: sets of row numbers.
 *
 * Row numbers from 0 to 2^64 - 1 in containers of 65536, as Roaring bitmaps have them
 * (https://github.com/RoaringBitmap/RoaringFormatSpec). A set is made by adding rows, or read from
 * the portable format; its containers then stay where they were read, so the bytes must live as
 * long as the set.
 *
 *     64-bit  = uint64 LE number of bitmaps, { uint32 LE high half, 32-bit }; high halves ascend
 *     32-bit  = cookie, then descriptions, offsets and containers, all little-endian
 *
 *     cookie 12346: uint32 number n of containers          cookie 12347: n - 1 in the upper half,
 *                                                          then n bits: is it a run container?
 *     n descriptions  { uint16 key, uint16 cardinality - 1 }; keys ascend
 *     n offsets       uint32 from the bitmap's start; with cookie 12347 only where n >= 4
 *     n containers    array: up to 4096 uint16, ascending
 *                     bitset: 8192 bytes, where the cardinality is above 4096
 *                     runs: uint16 number, { uint16 first, uint16 length - 1 }
 *
 * Reading checks all of it, also what says the same thing twice: cardinalities, offsets, order. A
 * bitmap that two readers could read differently is corrupt.
 *
 * The format is read here and not by libroaring: the versions around lack the safe functions and
 * the 64-bit format, and all take memory that no limit covers. Tests compare the two.
 */
#ifndef BF_EXEC_FILTER_ROWS_H
#define BF_EXEC_FILTER_ROWS_H

#include "base/bytes.h"

typedef enum BfRowsForm
{
	BF_ROWS_ARRAY,
	BF_ROWS_BITSET,
	BF_ROWS_RUNS
} BfRowsForm;

typedef struct BfRowsContainer
{
	uint64_t key; /* row number >> 16 */
	BfRowsForm form;
	int32_t n;		  /* array: values; runs: runs */
	int32_t capacity; /* array made by adding: values that fit; else 0 */
	int32_t cardinality;
	const uint8_t *bytes;
} BfRowsContainer;

typedef struct BfRows
{
	BfArena *arena;
	int32_t n;
	int32_t capacity;
	int32_t last;				 /* container that was used last */
	BfRowsContainer *containers; /* by key */
} BfRows;

extern void bf_rows_init(BfRows *s, BfArena *a);
/* Fastest in ascending order; only for sets that were made by adding. */
extern BfStatus bf_rows_add(BfRows *s, uint64_t row, BfError *err) BF_MUST_CHECK;
/* Reads a bitmap of 32 or 64 bits from the cursor, which then stands behind it. */
extern BfStatus
bf_rows_read(BfRows *s, BfArena *a, BfCursor *c, int bits, BfError *err) BF_MUST_CHECK;

extern uint64_t bf_rows_cardinality(const BfRows *s);
/* Those of its rows that are `first` or above. */
extern uint64_t bf_rows_from(BfRows *s, uint64_t first);
/* Clears bit i of `bits` where first + i is in the set, for i in [0, n). `bits` has whole words for
 * n. */
extern void bf_rows_clear(BfRows *s, uint64_t first, int32_t n, uint64_t *bits);

#endif
