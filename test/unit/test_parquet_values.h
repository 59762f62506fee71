/*
 * A BfiValues of its own, for tests of encodings without a file around them.
 */
#ifndef TEST_UNIT_TEST_PARQUET_VALUES_H
#define TEST_UNIT_TEST_PARQUET_VALUES_H

#include "parquet/encoding/encoding.h"
#include "unit/lib/runner.h"

/* In the test's arena. width: as BfiValues has it. */
static inline BfiValues *
test_values(BfiPhysical physical, uint32_t width)
{
	BfArena *a = test_arena();
	BfiValues *v = bf_arena_alloc(a, sizeof *v);

	*v = (BfiValues){
		.physical = physical,
		.width = width,
		.bytes_max = (size_t) 1 << 20,
		.batch = a,
		.scratch = bf_arena_alloc(a, 2 * BF_BATCH_ROWS * sizeof *v->scratch),
		.spare = bf_arena_alloc(a, (size_t) BF_BATCH_ROWS * 16),
	};
	if (bfi_values_init(a, v, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	return v;
}

/* Bytes of exactly this length, slack behind, so that the sanitizer sees what is beyond. */
static inline uint8_t *
test_section(const void *p, size_t n)
{
	uint8_t *out = bf_arena_alloc(test_arena(), n + BFI_SLACK);

	if (n > 0)
		memcpy(out, p, n);
	memset(out + n, 0xa5, BFI_SLACK);
	return out;
}

static inline BfStatus
test_begin(BfiValues *v, int32_t encoding, const void *p, size_t len, int32_t n)
{
	BfView section = {test_section(p, len), (uint32_t) len};

	return bfi_values_begin(v, encoding, section, n, 3, &test_err);
}

#endif
