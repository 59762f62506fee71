/*
 * The runner behind runner.h.
 *
 *     run [-v] [-l] [filter ...]
 *
 * A test runs when no filter is given or its name contains one of them. -v prints each test with
 * its time, -l lists the names. The exit code is 0 only when nothing failed and something ran.
 */
#include "unit/lib/runner.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "unit/lib/host_posix.h"

#define TESTS_MAX 4096
#define TEST_SECONDS_MAX 120
#define TEST_ARENA_BYTES_MAX ((size_t) 2 << 30)

const char *
__asan_default_options(void)
{
	return "detect_stack_use_after_return=1";
}

typedef struct Test
{
	const char *name;
	TestFunction fn;
} Test;

BfError test_err;

static Test tests[TESTS_MAX];
static int n_tests;
static bool verbose;

/* The running test. */
static const char *current;
static int current_failures;
static const char *skip_reason;
static TestHost current_host;
static BfArena **arenas; /* owned */
static int n_arenas;
static char dir[256];
static uint64_t random_state;

void
test_register(const char *name, TestFunction fn)
{
	if (n_tests == TESTS_MAX)
		abort();
	tests[n_tests++] = (Test){name, fn};
}

void
test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list args;

	/* A broken loop would bury the first, telling lines. */
	if (current_failures++ >= 20)
		return;
	fprintf(stderr, "FAIL %s: %s:%d: ", current, file, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

bool
test_failed(void)
{
	return current_failures > 0;
}

void
test_skip(const char *why)
{
	skip_reason = why;
}

const BfHost *
test_host(void)
{
	return &current_host.host;
}

BfArena *
test_arena(void)
{
	BfArena *a = bf_arena_new(test_host(), "test", TEST_ARENA_BYTES_MAX);

	arenas = realloc(arenas, (size_t) (n_arenas + 1) * sizeof(BfArena *));
	if (a == NULL || arenas == NULL)
		abort();
	arenas[n_arenas++] = a;
	return a;
}

const char *
test_dir(void)
{
	const char *parent = getenv("TMPDIR");

	if (dir[0] != '\0')
		return dir;
	snprintf(dir, sizeof dir, "%s/bifang-test-XXXXXX", parent != NULL ? parent : P_tmpdir);
	if (mkdtemp(dir) == NULL)
	{
		perror(dir);
		abort();
	}
	return dir;
}

const char *
test_path(const char *name)
{
	const char *path = bf_arena_printf(test_arena(), "%s/%s", test_dir(), name);

	if (path == NULL)
		abort();
	return path;
}

const char *
test_corpus(void)
{
	const char *corpus = getenv("BIFANG_CORPUS");

	return corpus != NULL && corpus[0] != '\0' ? corpus : NULL;
}

/* splitmix64 */
uint64_t
test_random(void)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t
test_random_below(uint64_t n)
{
	return n == 0 ? 0 : test_random() % n;
}

/* FNV-1a of the name and $BIFANG_SEED: adding a test doesn't change the numbers of another. */
static void
seed_random(const char *name)
{
	const char *seed = getenv("BIFANG_SEED");

	random_state = UINT64_C(0xcbf29ce484222325);
	for (; *name != '\0'; name++)
		random_state = (random_state ^ (uint8_t) *name) * UINT64_C(0x100000001b3);
	random_state += strtoull(seed != NULL ? seed : "1", NULL, 10);
}

static void
on_alarm(int sig)
{
	static const char text[] = ": still running, given up\n";

	(void) sig;
	(void) !write(2, current, strlen(current));
	(void) !write(2, text, sizeof text - 1);
	_exit(3);
}

static double
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec * 1e3 + (double) ts.tv_nsec / 1e6;
}

/* Frees what the test has, and counts what is left as leaks. */
static void
finish_test(void)
{
	test_fault_fired(&current_host);
	while (n_arenas > 0)
		bf_arena_free(arenas[--n_arenas]);
	if (current_host.live_allocs != 0 || current_host.live_bytes != 0)
		test_fail(__FILE__, __LINE__, "%lld allocations (%lld bytes) were not given back",
				  (long long) current_host.live_allocs, (long long) current_host.live_bytes);
	if (current_host.open_files != 0)
		test_fail(__FILE__, __LINE__, "%lld files are still open",
				  (long long) current_host.open_files);
	if (current_host.bad_frees != 0)
		test_fail(__FILE__, __LINE__, "%lld frees with a wrong size or closes of a closed file",
				  (long long) current_host.bad_frees);
	if (dir[0] != '\0' && getenv("BIFANG_KEEP") == NULL)
		test_remove_tree(dir);
	dir[0] = '\0';
}

static bool
wanted(const char *name, int n_filters, char **filters)
{
	for (int i = 0; i < n_filters; i++)
		if (strstr(name, filters[i]) != NULL)
			return true;
	return n_filters == 0;
}

static void
run_one(const Test *t)
{
	double start = now_ms();

	current = t->name;
	current_failures = 0;
	skip_reason = NULL;
	test_host_init(&current_host);
	current_host.log_print = verbose;
	bf_error_clear(&test_err);
	seed_random(t->name);
	alarm(TEST_SECONDS_MAX);
	t->fn();
	alarm(0);
	finish_test();
	if (skip_reason != NULL && current_failures == 0)
		printf("skip %s: %s\n", t->name, skip_reason);
	else if (verbose)
		printf("%s %s (%.1f ms)\n", current_failures > 0 ? "FAIL" : "ok  ", t->name,
			   now_ms() - start);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	int passed = 0, failed = 0, skipped = 0;
	int first = 1;

	for (; first < argc && argv[first][0] == '-'; first++)
	{
		verbose = verbose || strcmp(argv[first], "-v") == 0;
		if (strcmp(argv[first], "-l") == 0)
		{
			for (int i = 0; i < n_tests; i++)
				puts(tests[i].name);
			return 0;
		}
	}
	signal(SIGALRM, on_alarm);
	for (int i = 0; i < n_tests; i++)
	{
		if (!wanted(tests[i].name, argc - first, argv + first))
			continue;
		run_one(&tests[i]);
		if (current_failures > 0)
			failed++;
		else if (skip_reason != NULL)
			skipped++;
		else
			passed++;
	}
	free(arenas);
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed == 0 && passed + skipped > 0 ? 0 : 1;
}
