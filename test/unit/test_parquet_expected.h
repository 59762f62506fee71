/*
 * Comparing what the reader gave with what DuckDB printed (the corpus's expected/): one value as
 * text, in DuckDB's spelling.
 */
#ifndef TEST_UNIT_TEST_PARQUET_EXPECTED_H
#define TEST_UNIT_TEST_PARQUET_EXPECTED_H

#include "vec/batch.h"

/* DuckDB's text for the value when its column has the DuckDB type `type`; "?" where we have no
 * rule for the type. Floats are written with enough digits to be read back. */
extern void expected_text(const BfValue *v, const char *type, char *out, size_t size);
/* DuckDB's text of a row of a nested column, appended. `type` is the whole column's DuckDB type. */
extern BfStatus expected_nested_text(const BfField *f, const BfVector *v, int32_t row,
									 const char *type, BfBuffer *out, BfError *err);
/* Are the two texts the same value of that DuckDB type? Floats compare as numbers. */
extern bool expected_same(const char *ours, const char *theirs, const char *type);
/* INT96: microseconds since 1970. */
extern int64_t expected_int96_us(const uint8_t *p);
/* Decimal text of a 128-bit number with `scale` digits behind the point. */
extern void expected_i128(bf_i128 v, int scale, char *out, size_t size);

#endif
