/*
 * MD5 (RFC 1321), for comparing with digests that other programs made. Not for anything secret.
 */
#ifndef TEST_UNIT_LIB_MD5_H
#define TEST_UNIT_LIB_MD5_H

#include <stddef.h>
#include <stdint.h>

typedef struct TestMd5
{
	uint32_t state[4];
	uint64_t bytes;
	uint8_t block[64];
} TestMd5;

extern void test_md5_init(TestMd5 *m);
extern void test_md5_add(TestMd5 *m, const void *p, size_t n);
/* 32 lower-case hexadecimal digits and a NUL. */
extern void test_md5_hex(TestMd5 *m, char out[33]);

#endif
