/*
 * vec/key.h: values as bytes that are equal exactly where the values are.
 *
 * For whoever looks rows up by values in a hash table (base/map.h): keys of equality deletes,
 * partitions, groups. Values are equal as bf_value_compare has it, NULL and NULL are, and -0 and 0
 * are or are not, as the caller says. The bytes of a value say where it ends, so those of several
 * columns one after the other are the key of a row. They have no order, and are never stored: a
 * later version may write others.
 *
 *     first byte                what follows it
 *      0          NULL          nothing
 *      1 .. 16    integer       so many bytes, the fewest there can be: two's complement,
 *                               little-endian
 *     17          wide integer  uint32 LE length, two's complement, big-endian
 *     18          float         8 bytes: a double, little-endian; of all NaNs the same one
 *     19          text, bytes   uint32 LE length, the bytes
 *     20          struct        uint32 LE number of members, each of them
 *     21          list          uint32 LE number of elements, each of them
 *     32 .. 255   text, bytes   of 0 to 223 bytes: these
 *
 * Integers are all numbers without a fraction, dates, times and booleans; of decimals the unscaled
 * value, wide when it takes more than 16 bytes; of intervals and INT96 the milliseconds and
 * nanoseconds that they are compared by.
 *
 *     7, a date       01 07             1.5       12 00 00 00 00 00 00 f8 3f
 *     -129            02 7f ff          'abc'     23 61 62 63
 *     NULL, 'a'       00 21 61          [1, NULL] 15 02 00 00 00 01 01 00
 *
 * What is promoted has the same bytes as before: an int as a long, a decimal of 9 digits as one of
 * 60, a float as a double. A date as a timestamp has not, and 1 is not 1.0.
 *
 * Text is equal where its bytes are; under other rules the caller changes it first. Maps and
 * variants are refused (BF_ERR_UNSUPPORTED): pairs of a map have no order that counts.
 */
#ifndef BF_VEC_KEY_H
#define BF_VEC_KEY_H

#include "vec/batch.h"

typedef enum BfKeyZero
{
	BF_KEY_ZERO_ONE,	/* -0 is 0, as PostgreSQL has it */
	BF_KEY_ZERO_SIGNED, /* -0 and 0 are two values, as in Iceberg's equality deletes */
} BfKeyZero;

/* All of these append; after a failure the buffer may hold a part of the key. Its bytes_max is what
 * a key, or all of those in it, may have. */
extern BfStatus
bf_key_value(BfBuffer *key, const BfValue *v, BfKeyZero zero, BfError *err) BF_MUST_CHECK;
/* The value of a vector of any form in a row. */
extern BfStatus bf_key_row(BfBuffer *key, const BfVector *v, int32_t row, BfKeyZero zero,
						   BfError *err) BF_MUST_CHECK;
/* The keys of n rows, each of all columns: that of rows[i] is [starts[i], starts[i + 1]) in the
 * buffer. */
extern BfStatus
bf_key_rows(BfBuffer *key, const BfVector *const *columns, int32_t n_columns, const int32_t *rows,
			int32_t n, BfKeyZero zero, size_t *starts, BfError *err) BF_MUST_CHECK;

#endif
