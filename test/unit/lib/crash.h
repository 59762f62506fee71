/*
 * A disk that forgets what was not synced.
 *
 * Over a TestHost: files behave as usual until test_crash, which puts the disk into a state that a
 * power failure could have left. The model is the strict one of POSIX:
 *
 *   - a file's bytes are durable as of its last sync;
 *   - a name (made, renamed, removed) is durable as of the last sync_dir of its directory;
 *   - files that were there before are durable as they were found;
 *   - mkdirs is durable, as its contract says.
 *
 * How a test uses it, for n = 1, 2, 3 ...:
 *
 *     test_crash_init(&c, &h);                        wraps h's callbacks
 *     test_fault_arm(&h, TEST_FAULT_WRITE, n, true);  from write n on the process is dead
 *     scenario(&h.host);                              frees its arena: hooks fail as they should
 *     fired = test_fault_fired(&h);
 *     test_crash(&c, mode);
 *     ... what was acknowledged must be there, the rest whole or absent ...
 */
#ifndef TEST_UNIT_LIB_CRASH_H
#define TEST_UNIT_LIB_CRASH_H

#include "unit/lib/host_posix.h"

typedef enum TestCrashMode
{
	TEST_CRASH_LOSE,  /* all that was not synced is gone */
	TEST_CRASH_KEEP,  /* everything got through by luck */
	TEST_CRASH_MIXED, /* each file and name by chance; of bytes a part */
	TEST_CRASH_MODES
} TestCrashMode;

typedef struct TestCrashFile TestCrashFile;

typedef struct TestCrash
{
	TestHost *host;
	BfHost plain;		  /* the callbacks behind ours */
	TestCrashFile *files; /* owned */
	uint64_t random_state;
} TestCrash;

/* One at a time: the callbacks find it through a static pointer. */
extern void test_crash_init(TestCrash *c, TestHost *h);
/* The failure; afterwards the host is plain again and all open files are closed by their owners. */
extern void test_crash(TestCrash *c, TestCrashMode mode);

#endif
