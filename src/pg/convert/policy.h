/*
 * pg/convert/policy.h: what becomes of values that PostgreSQL cannot hold; chosen by options.
 */
#ifndef BIFANG_PG_CONVERT_POLICY_H
#define BIFANG_PG_CONVERT_POLICY_H

/* What becomes of a text that the database cannot hold: bytes that are no UTF-8, NUL. */
typedef enum BifangTextPolicy
{
	BIFANG_TEXT_ERROR,
	BIFANG_TEXT_REPLACE, /* what is wrong becomes U+FFFD */
	BIFANG_TEXT_NULL
} BifangTextPolicy;

/* What becomes of a number, date or time that the declared type cannot hold. */
typedef enum BifangRangePolicy
{
	BIFANG_RANGE_ERROR,
	BIFANG_RANGE_NULL
} BifangRangePolicy;

#endif
