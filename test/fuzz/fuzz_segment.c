/*
 * Any bytes as the files of a partition directory. Numbers from the end of the input say how the
 * rest is cut into .index, .timeindex, .txnindex, .snapshot and .log, and whether the log's
 * checksums are put right. What an index search gives must be what a walk without index gives, and
 * open transactions found by headers those that reading all batches finds.
 */
#include "fuzz/fuzz.h"

#include <unistd.h>

#include "log/segment.h"

static char dir[64];

static void
file_path(char *out, size_t n, const char *suffix)
{
	snprintf(out, n, "%s/00000000000000000000.%s", dir, suffix);
}

static const char *const suffixes[] = {"index", "timeindex", "txnindex", "snapshot", "log"};

static void
remove_dir(void)
{
	char path[128];

	for (int i = 0; i < 5; i++)
	{
		file_path(path, sizeof path, suffixes[i]);
		unlink(path);
	}
	rmdir(dir);
}

static void
make_dir(void)
{
	if (dir[0] != '\0')
		return;
	snprintf(dir, sizeof dir, "%s/bifang-fuzz-XXXXXX", P_tmpdir);
	FUZZ_CHECK(mkdtemp(dir) != NULL);
	atexit(remove_dir);
}

static void
put_file(const char *suffix, const uint8_t *bytes, size_t n)
{
	char path[128];
	FILE *f;

	file_path(path, sizeof path, suffix);
	if (n == 0 && strcmp(suffix, "log") != 0)
	{
		unlink(path);
		return;
	}
	f = fopen(path, "wb");
	FUZZ_CHECK(f != NULL && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static void
mend(uint8_t *p, size_t n)
{
	for (size_t at = 0; n - at >= BF_BATCH_HEADER_BYTES;)
	{
		uint32_t len = bf_load32be(p + at + 8);

		if (len < 49 || len > n - at - 12)
			return;
		bf_store32be(p + at + 17, bf_crc32c(p + at + 21, len - 9));
		at += 12 + (size_t) len;
	}
}

typedef struct Batch
{
	int64_t base;
	int64_t last;
	int64_t position;
} Batch;

#define BATCHES_MAX 5000

/* -1 when the walk failed. */
static int
walk(int64_t first, int64_t last, bool strict, Batch *out)
{
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	BfRange range = {first, last};
	BfRangeSet set = {1, &range};
	BfLogDir *d;
	BfLogWalk *w;
	BfError err;
	int n = 0;

	FUZZ_CHECK(bf_log_dir_open(a, dir, NULL, &d, &err) == BF_OK);
	FUZZ_CHECK(bf_log_walk_new(a, d, &set, strict, &w, &err) == BF_OK);
	for (;;)
	{
		BfBatchHeader h;
		const uint8_t *batch;
		const char *path;
		int64_t position;

		if (bf_log_walk_next(w, &h, &batch, &position, &path, &err) != BF_OK)
		{
			FUZZ_CHECK(err.object[0] != '\0' && err.text[0] != '\0');
			n = -1;
			break;
		}
		if (batch == NULL || n == BATCHES_MAX)
			break;
		FUZZ_CHECK(h.base_offset <= last && h.last_offset >= first);
		FUZZ_CHECK(bf_batch_check_crc(&h, batch, position, &err) == BF_OK);
		FUZZ_CHECK(n == 0 || h.base_offset > out[n - 1].last);
		out[n++] = (Batch){h.base_offset, h.last_offset, position};
	}
	bf_arena_free(a);
	return n;
}

/* -1 = an error. */
static int64_t
stable_offset(bool check_all)
{
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	BfLogDir *d;
	BfError err;
	int64_t stable;

	FUZZ_CHECK(bf_log_dir_open(a, dir, NULL, &d, &err) == BF_OK);
	if (check_all)
		bf_log_dir_check_all(d);
	if (bf_log_dir_stable_offset(d, &stable, &err) != BF_OK)
		stable = -1;
	FUZZ_CHECK(stable >= -1);
	bf_arena_free(a);
	return stable;
}

/* Where all checksums are right headers alone say the same. */
static void
compare_stable_offsets(void)
{
	int64_t checked = stable_offset(true);

	if (checked >= 0)
		FUZZ_CHECK(stable_offset(false) == checked);
}

static void
look_up(int64_t t)
{
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	BfLogDir *d;
	BfError err;
	int64_t start, end, offset, lso;

	FUZZ_CHECK(bf_log_dir_open(a, dir, NULL, &d, &err) == BF_OK);
	if (bf_log_dir_bounds(d, &start, &end, &err) == BF_OK)
	{
		FUZZ_CHECK(start <= end);
		if (bf_log_dir_offset_for_time(d, t, &offset, &err) == BF_OK)
			FUZZ_CHECK(offset >= start && offset <= end);
		if (bf_log_dir_stable_offset(d, &lso, &err) == BF_OK)
			FUZZ_CHECK(lso <= end);
	}
	bf_arena_free(a);
}

int
bf_fuzz_segment(const uint8_t *data, size_t size)
{
	static Batch all[BATCHES_MAX], plain[BATCHES_MAX], one[BATCHES_MAX];
	FuzzInput in = {data, size};
	bool mending = fuzz_take_below(&in, 2) == 1;
	size_t at = 0;
	size_t lengths[4];
	int64_t t;
	uint64_t pick;
	uint8_t *log;
	int n, n_plain;

	make_dir();
	for (int i = 0; i < 4; i++)
		lengths[i] = (size_t) fuzz_take(&in, 2);
	t = (int64_t) fuzz_take(&in, 6);
	pick = fuzz_take(&in, 2);
	for (int i = 0; i < 4; i++)
	{
		if (lengths[i] > in.size - at)
			lengths[i] = 0;
		put_file(suffixes[i], in.data + at, lengths[i]);
		at += lengths[i];
	}
	log = malloc(in.size - at + 1);
	FUZZ_CHECK(log != NULL);
	memcpy(log, in.data + at, in.size - at);
	if (mending)
		mend(log, in.size - at);
	put_file("log", log, in.size - at);
	free(log);
	look_up(t);
	compare_stable_offsets();
	n = walk(0, BF_ENTRY_MAX, false, all);
	if (n > 0 && n < BATCHES_MAX)
	{
		int k = (int) (pick % (uint64_t) n);

		FUZZ_CHECK(walk(all[k].last, all[k].last, true, one) == 1);
		FUZZ_CHECK(one[0].position == all[k].position);
	}
	put_file("index", NULL, 0);
	n_plain = walk(0, BF_ENTRY_MAX, false, plain);
	if (n >= 0)
		FUZZ_CHECK(n_plain == n && memcmp(all, plain, (size_t) n * sizeof *all) == 0);
	return 0;
}
