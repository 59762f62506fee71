/*
 * The outside world for tests: plain POSIX, counted, and able to fail on request.
 *
 * Every allocation and open file is counted, so that a test sees leaks; a size given back on free
 * that is not the one asked for is a failure. One fault can be armed: the N-th call of its kind
 * fails (or, with `sticky`, that call and all later ones, as after a full disk or a dead process).
 *
 *     TestHost h;
 *
 *     test_host_init(&h);
 *     for (int64_t n = 1;; n++)
 *     {
 *         test_fault_arm(&h, TEST_FAULT_ALLOC, n, false);
 *         s = scenario(&h.host, &err);
 *         if (!test_fault_fired(&h))
 *             break;                  // ran to its end without meeting the fault
 *         EXPECT_EQ(s, BF_ERR_NOMEM); // and the state is "before" or "after"
 *         EXPECT_EQ(h.live_allocs, 0);
 *     }
 *
 * Random bytes come from a generator with a fixed seed; the clock is the real one unless
 * `clock_us` is set.
 */
#ifndef TEST_UNIT_LIB_HOST_POSIX_H
#define TEST_UNIT_LIB_HOST_POSIX_H

#include "base/host.h"

typedef enum TestFault
{
	TEST_FAULT_NONE,
	TEST_FAULT_ALLOC,  /* mem_alloc gives NULL */
	TEST_FAULT_READ,   /* open for reading, file_size, read_at, stat, list: BF_ERR_IO */
	TEST_FAULT_WRITE,  /* everything that changes files or names: BF_ERR_IO */
	TEST_FAULT_CANCEL, /* cancelled() says true */
	TEST_FAULT_COUNT
} TestFault;

typedef struct TestHost
{
	BfHost host; /* host.ctx is this struct */
	int64_t live_allocs;
	int64_t live_bytes;
	int64_t peak_bytes;
	int64_t open_files;
	int64_t bad_frees; /* wrong size given back, or a file closed that isn't open */
	int64_t calls[TEST_FAULT_COUNT];
	TestFault fault;
	int64_t fail_at; /* call number from 1, counted from arming */
	bool sticky;
	bool fired;
	int64_t clock_us; /* 0 = the real time */
	uint64_t random_state;
	int64_t log_lines;
	bool log_print;
} TestHost;

extern void test_host_init(TestHost *h);
extern void test_fault_arm(TestHost *h, TestFault kind, int64_t n, bool sticky);
/* Did the armed fault happen? Disarms it. */
extern bool test_fault_fired(TestHost *h);
/* Removes a directory with all that is in it; for test directories. */
extern void test_remove_tree(const char *dir);

#endif
