/*
 * The unit runner: tests register themselves, failures are counted, the run ends with
 * `N passed, N failed`. A test fails by any failed EXPECT; REQUIRE also leaves it.
 *
 *     TEST(rangeset_parse)
 *     {
 *         BfArena *a = test_arena();            // freed after the test; leaks are failures
 *         REQUIRE_OK(bf_rangeset_parse(a, "1-5", 3, false, &s, &test_err));
 *         EXPECT_EQ(s.n, 1);
 *         EXPECT_FAIL(bf_rangeset_parse(a, "5-1", 3, false, &s, &test_err), BF_ERR_CORRUPT, 0);
 *     }
 */
#ifndef TEST_UNIT_LIB_RUNNER_H
#define TEST_UNIT_LIB_RUNNER_H

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

typedef void (*TestFunction)(void);

extern void test_register(const char *name, TestFunction fn);
extern void test_fail(const char *file, int line, const char *fmt, ...) BF_PRINTF(3, 4);
extern bool test_failed(void);
/* Counted apart and printed: for tests whose input is absent. */
extern void test_skip(const char *why);
extern BfArena *test_arena(void);
extern const BfHost *test_host(void);
/* A fresh empty directory of the test, removed afterwards. */
extern const char *test_dir(void);
/* That directory's path with name behind it; valid until the test ends. */
extern const char *test_path(const char *name);
/* $BIFANG_CORPUS or NULL: then the test calls test_skip and returns. */
extern const char *test_corpus(void);
/* Reproducible random numbers: seeded per test from $BIFANG_SEED (default 1). */
extern uint64_t test_random(void);
extern uint64_t test_random_below(uint64_t n);
extern BfError test_err;

#define TEST(name)                                                      \
	static void test_##name(void);                                      \
	__attribute__((constructor)) static void test_register_##name(void) \
	{                                                                   \
		test_register(#name, test_##name);                              \
	}                                                                   \
	static void test_##name(void)

#define EXPECT(cond)                                    \
	do                                                  \
	{                                                   \
		if (!(cond))                                    \
			test_fail(__FILE__, __LINE__, "%s", #cond); \
	} while (0)
#define REQUIRE(cond)                                   \
	do                                                  \
	{                                                   \
		if (!(cond))                                    \
		{                                               \
			test_fail(__FILE__, __LINE__, "%s", #cond); \
			return;                                     \
		}                                               \
	} while (0)
#define EXPECT_EQ(a, b)                                                                   \
	do                                                                                    \
	{                                                                                     \
		long long ee_a_ = (long long) (a), ee_b_ = (long long) (b);                       \
		if (ee_a_ != ee_b_)                                                               \
			test_fail(__FILE__, __LINE__, "%s is %lld, expected %lld", #a, ee_a_, ee_b_); \
	} while (0)
#define EXPECT_STR(a, b)                                                       \
	do                                                                         \
	{                                                                          \
		const char *es_a_ = (a), *es_b_ = (b);                                 \
		if (es_a_ == NULL || strcmp(es_a_, es_b_) != 0)                        \
			test_fail(__FILE__, __LINE__, "%s is \"%s\", expected \"%s\"", #a, \
					  es_a_ ? es_a_ : "(null)", es_b_);                        \
	} while (0)
#define REQUIRE_OK(expr)                                                                         \
	do                                                                                           \
	{                                                                                            \
		BfStatus ro_s_ = (expr);                                                                 \
		if (ro_s_ != BF_OK)                                                                      \
		{                                                                                        \
			test_fail(__FILE__, __LINE__, "%s: %s %s at %lld: %s", #expr, bf_status_name(ro_s_), \
					  test_err.object, (long long) test_err.offset, test_err.text);              \
			return;                                                                              \
		}                                                                                        \
	} while (0)
/* The status and, when off >= 0, the byte offset in the error. */
#define EXPECT_FAIL(expr, code_, off)                                                          \
	do                                                                                         \
	{                                                                                          \
		BfStatus ef_s_ = (expr);                                                               \
		if (ef_s_ != (code_))                                                                  \
			test_fail(__FILE__, __LINE__, "%s: %s, expected %s", #expr, bf_status_name(ef_s_), \
					  bf_status_name(code_));                                                  \
		else if ((off) >= 0 && test_err.offset != (off))                                       \
			test_fail(__FILE__, __LINE__, "%s: offset %lld, expected %lld (%s)", #expr,        \
					  (long long) test_err.offset, (long long) (off), test_err.text);          \
	} while (0)

/* The sanitizer's runtime asks; what newer compilers look for by themselves, older ones shall see.
 */
extern const char *__asan_default_options(void);

#endif
