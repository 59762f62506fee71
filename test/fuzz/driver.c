/*
 * The seeded driver: every target over its seeds and over mutations of them.
 *
 *     replay [-s seed] [-x times] [-n runs] [target ...]
 *     replay target file ...                     these inputs only
 *
 * The same seed gives the same inputs, and a target always gets as many: what fuzz.h says, times
 * -x, or -n. Each target runs in a process of its own; when that dies, its last input is written
 * next to the program and named. Ends with `N passed, N failed, N skipped`, a target being one
 * test.
 */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <glob.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEED_DIR "test/fuzz/seeds"
#define DATA_DIR "test/data"
#define SEEDS_MAX 4096

typedef int (*Target)(const uint8_t *data, size_t size);

static const struct
{
	const char *name;
	Target run;
} targets[] = {
#define FUZZ_ENTRY(name) {#name, bf_fuzz_##name},
	FUZZ_TARGETS(FUZZ_ENTRY)
#undef FUZZ_ENTRY
};
static const struct
{
	const char *name;
	int64_t runs;
} slow[] = {
#define FUZZ_ENTRY(name, runs) {#name, runs},
	FUZZ_SLOW(FUZZ_ENTRY)
#undef FUZZ_ENTRY
};
#define N_SLOW ((int) (sizeof slow / sizeof slow[0]))
#define N_TARGETS ((int) (sizeof targets / sizeof targets[0]))

/* The input that is being run, seen by the parent too. */
typedef struct Shared
{
	size_t size;
	int64_t runs;
	uint8_t data[FUZZ_INPUT_MAX + 65536];
} Shared;

static Shared *shared;
static uint64_t random_state;
static uint64_t seed = 1;
static int64_t times = 1;
static int64_t runs_given = -1;

static BfView seeds[SEEDS_MAX]; /* owned */
static int n_seeds;
static const char *program;

/* splitmix64 */
static uint64_t
next_random(void)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static size_t
below(size_t n)
{
	return n == 0 ? 0 : (size_t) (next_random() % n);
}

/* Of a processor, in children that have ended. */
static double
seconds_used(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		   (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static int64_t
runs_of(const char *name)
{
	if (runs_given >= 0)
		return runs_given;
	for (int i = 0; i < N_SLOW; i++)
		if (strcmp(slow[i].name, name) == 0)
			return slow[i].runs * times;
	return FUZZ_RUNS * times;
}

static bool
add_seed_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *bytes;

	if (f == NULL || fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode) || n_seeds == SEEDS_MAX ||
		(size_t) st.st_size > FUZZ_INPUT_MAX)
	{
		if (f != NULL)
			fclose(f);
		return false;
	}
	bytes = malloc((size_t) st.st_size + 1);
	if (bytes == NULL || fread(bytes, 1, (size_t) st.st_size, f) != (size_t) st.st_size)
		abort();
	fclose(f);
	seeds[n_seeds++] = (BfView){bytes, (uint32_t) st.st_size};
	return true;
}

/* The patterns of a list; nothing when there is no such directory. */
static void
add_seeds_from(const char *dir, const char *list)
{
	FILE *f = dir != NULL ? fopen(list, "r") : NULL;
	char line[512], pattern[2048];

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
	{
		glob_t found = {0};

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		snprintf(pattern, sizeof pattern, "%s/%s", dir, line);
		if (glob(pattern, 0, NULL, &found) == 0)
			for (size_t i = 0; i < found.gl_pathc; i++)
				add_seed_file(found.gl_pathv[i]);
		globfree(&found);
	}
	if (f != NULL)
		fclose(f);
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void
load_seeds(const char *name)
{
	char path[512];
	struct dirent **entries;
	int n;

	snprintf(path, sizeof path, SEED_DIR "/%s", name);
	n = scandir(path, &entries, NULL, by_name);
	for (int i = 0; i < n; i++)
	{
		snprintf(path, sizeof path, SEED_DIR "/%s/%s", name, entries[i]->d_name);
		if (strcmp(entries[i]->d_name, "FROM_CORPUS") == 0)
			add_seeds_from(getenv("BIFANG_CORPUS"), path);
		else if (strcmp(entries[i]->d_name, "FROM_DATA") == 0)
			add_seeds_from(DATA_DIR, path);
		else
			add_seed_file(path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static void
remove_bytes(Shared *s, size_t at, size_t n)
{
	memmove(s->data + at, s->data + at + n, s->size - at - n);
	s->size -= n;
}

static void
insert_bytes(Shared *s, size_t at, const uint8_t *from, size_t n)
{
	if (s->size + n > FUZZ_INPUT_MAX)
		return;
	memmove(s->data + at + n, s->data + at, s->size - at);
	memcpy(s->data + at, from, n);
	s->size += n;
}

/* Numbers that break things, written over what is there in one of the usual forms. */
static void
overwrite_number(Shared *s, size_t at)
{
	static const uint64_t numbers[] = {0,
									   1,
									   0x7f,
									   0x80,
									   0xff,
									   0x7fff,
									   0x8000,
									   0xffff,
									   0x7fffffff,
									   0x80000000,
									   0xffffffff,
									   INT64_MAX,
									   (uint64_t) INT64_MIN,
									   UINT64_MAX};
	uint64_t v = numbers[below(sizeof numbers / sizeof numbers[0])] + below(5) - 2;
	uint8_t bytes[16];
	size_t n;

	switch (below(4))
	{
		case 0: n = bf_put_uvarint(bytes, v); break;
		case 1:
			bf_store64be(bytes, v << 32);
			n = 4;
			break;
		case 2:
			bf_store64be(bytes, v);
			n = 8;
			break;
		default:
			bf_store64le(bytes, v);
			n = (size_t) 1 << below(4);
			break;
	}
	memcpy(s->data + at, bytes, n < s->size - at ? n : s->size - at);
}

static void
mutate_once(Shared *s)
{
	size_t at = below(s->size), n = below(below(2) == 0 ? 8 : s->size) + 1;
	uint8_t noise[64];

	if (n > s->size - at)
		n = s->size - at;
	switch (s->size == 0 ? 5 : below(8))
	{
		case 0: s->data[at] ^= (uint8_t) (1 << below(8)); break;
		case 1: s->data[at] = (uint8_t) next_random(); break;
		case 2: overwrite_number(s, at); break;
		case 3: remove_bytes(s, at, n); break;
		case 4:
			if (n <= sizeof noise)
			{
				memcpy(noise, s->data + at, n);
				insert_bytes(s, below(s->size + 1), noise, n);
			}
			break;
		case 5:
			for (size_t i = 0; i < sizeof noise; i++)
				noise[i] = (uint8_t) next_random();
			insert_bytes(s, at, noise, below(sizeof noise) + 1);
			break;
		case 6: s->size = at; break;
		default:
			if (n_seeds > 0)
			{
				BfView other = seeds[below((size_t) n_seeds)];
				size_t from = below(other.len);
				size_t take = other.len - from < n ? other.len - from : n;

				if (take > 0)
					memcpy(s->data + at, other.ptr + from, take);
			}
			break;
	}
}

static void
run_input(Target run, const uint8_t *data, size_t size)
{
	if (data != shared->data)
		memcpy(shared->data, data, size);
	shared->size = size;
	shared->runs++;
	setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = FUZZ_SECONDS_MAX}, NULL);
	fuzz_run(run, shared->data, shared->size);
	setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
}

static void
run_target(Target run, int64_t runs)
{
	for (int i = 0; i < n_seeds; i++)
		run_input(run, seeds[i].ptr, seeds[i].len);
	for (runs += n_seeds; shared->runs < runs;)
	{
		shared->size = 0;
		if (n_seeds > 0)
		{
			BfView base = seeds[below((size_t) n_seeds)];

			memcpy(shared->data, base.ptr, base.len);
			shared->size = base.len;
		}
		for (size_t k = below(6) + 1; k > 0; k--)
			mutate_once(shared);
		run_input(run, shared->data, shared->size);
	}
}

static void
keep_input(const char *name)
{
	const char *slash = strrchr(program, '/');
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%.*s/failed-%s", slash != NULL ? (int) (slash - program) : 1,
			 slash != NULL ? program : ".", name);
	f = fopen(path, "wb");
	if (f != NULL)
	{
		fwrite(shared->data, 1, shared->size, f);
		fclose(f);
	}
	fprintf(stderr, "fuzz %s: the input that failed (%zu bytes) is in %s\n", name, shared->size,
			path);
}

/* In a process of its own; true when all went well. */
static bool
try_target(const char *name, Target run, int64_t runs)
{
	pid_t child;
	int status;
	double start = seconds_used();

	shared->runs = 0;
	random_state = seed;
	fflush(NULL);
	child = fork();
	if (child == 0)
	{
		run_target(run, runs);
		exit(0); /* through exit: leak detection */
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		abort();
	printf("fuzz %-20s %3d seeds %9lld runs %6.1f s\n", name, n_seeds, (long long) shared->runs,
		   seconds_used() - start);
	if (status == 0)
		return true;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
		fprintf(stderr, "fuzz %s: a run took more than %d seconds\n", name, FUZZ_SECONDS_MAX);
	keep_input(name);
	return false;
}

static int
index_of(const char *name)
{
	for (int i = 0; i < N_TARGETS; i++)
		if (strcmp(targets[i].name, name) == 0)
			return i;
	fprintf(stderr, "no fuzz target %s\n", name);
	exit(2);
}

int
main(int argc, char **argv)
{
	int passed = 0, failed = 0, opt;

	while ((opt = getopt(argc, argv, "s:x:n:")) != -1)
		switch (opt)
		{
			case 's': seed = strtoull(optarg, NULL, 10); break;
			case 'x': times = strtoll(optarg, NULL, 10); break;
			case 'n': runs_given = strtoll(optarg, NULL, 10); break;
			default: return 2;
		}
	program = argv[0];
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	if (optind + 1 < argc && access(argv[optind + 1], R_OK) == 0)
	{
		int t = index_of(argv[optind]);

		for (int i = optind + 1; i < argc; i++)
			if (!add_seed_file(argv[i]))
				fprintf(stderr, "%s: not a readable file, or too large\n", argv[i]);
		return try_target(targets[t].name, targets[t].run, 0) ? 0 : 1;
	}
	for (int i = optind; i < argc; i++)
		(void) index_of(argv[i]);
	for (int t = 0; t < N_TARGETS; t++)
	{
		bool wanted = optind == argc;

		for (int i = optind; i < argc; i++)
			wanted = wanted || strcmp(argv[i], targets[t].name) == 0;
		if (!wanted || targets[t].run == NULL)
			continue;
		load_seeds(targets[t].name);
		if (n_seeds == 0)
			fprintf(stderr, "fuzz %s: no seeds in " SEED_DIR "\n", targets[t].name);
		if (n_seeds > 0 && try_target(targets[t].name, targets[t].run, runs_of(targets[t].name)))
			passed++;
		else
			failed++;
		while (n_seeds > 0)
			free((void *) (uintptr_t) seeds[--n_seeds].ptr);
	}
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed > 0 || passed == 0;
}
