/*
 * vec/powers.h: the powers of ten that 64 bits hold, where the compiler can see them: a division by
 * one of them is a multiplication once the exponent is known.
 */
#ifndef BF_VEC_POWERS_H
#define BF_VEC_POWERS_H

#include <stdint.h>

#define BF_POWER_OF_TEN_MAX 18

static const int64_t bf_powers_of_ten[] = {
	1,
	10,
	100,
	1000,
	10000,
	100000,
	1000000,
	10000000,
	100000000,
	1000000000,
	INT64_C(10000000000),
	INT64_C(100000000000),
	INT64_C(1000000000000),
	INT64_C(10000000000000),
	INT64_C(100000000000000),
	INT64_C(1000000000000000),
	INT64_C(10000000000000000),
	INT64_C(100000000000000000),
	INT64_C(1000000000000000000),
};

_Static_assert(sizeof bf_powers_of_ten / sizeof *bf_powers_of_ten == BF_POWER_OF_TEN_MAX + 1,
			   "one for each exponent from 0 on");

#endif
