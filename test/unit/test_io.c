/* Byte sources and published files, against a plain memory copy and with every call failing once.
 */
#include "unit/lib/runner.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/publish.h"
#include "io/source.h"
#include "unit/lib/crash.h"
#include "unit/lib/host_posix.h"

#define BIG ((size_t) 3 * 1024 * 1024 + 17)

/* Bytes that differ everywhere, written by other means than ours. */
static uint8_t *
make_file(BfArena *a, const char *path, size_t n)
{
	uint8_t *bytes = bf_arena_alloc(a, n);
	FILE *f = fopen(path, "wb");

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t) (i * 131 + i / 251);
	if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		abort();
	return bytes;
}

/* 0 for a missing directory too. */
static int
files_in(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n > 2 ? n - 2 : 0;
}

static void
check_reads(BfSource *s, const uint8_t *bytes, size_t n)
{
	uint8_t *buf = malloc(n);
	const uint8_t *p;

	for (int i = 0; i < 300; i++)
	{
		size_t pos = test_random_below(n + 1);
		size_t most = i % 10 == 0 ? n - pos : (n - pos < 9000 ? n - pos : 9000);
		size_t len = test_random_below(most + 1);

		if (i % 3 < 2)
		{
			EXPECT_EQ(i % 3 == 0 ? bf_source_window(s, (int64_t) pos, len, &p, &test_err)
								 : bf_source_peek(s, (int64_t) pos, len, &p, &test_err),
					  BF_OK);
			EXPECT(memcmp(p, bytes + pos, len) == 0);
		}
		else
		{
			EXPECT_EQ(bf_source_read(s, (int64_t) pos, buf, len, &test_err), BF_OK);
			EXPECT(memcmp(buf, bytes + pos, len) == 0);
		}
	}
	for (size_t pos = 0; pos < n; pos += 777) /* in order */
	{
		size_t len = n - pos < 777 ? n - pos : 777;

		EXPECT_EQ(bf_source_window(s, (int64_t) pos, len, &p, &test_err), BF_OK);
		EXPECT(memcmp(p, bytes + pos, len) == 0);
	}
	free(buf);
}

TEST(io_source_equals_memory)
{
	static const size_t sizes[] = {1, 100, 262143, 262144, 262145, 700000, BIG};
	BfArena *a = test_arena();
	const char *path = test_path("f");

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
	{
		uint8_t *bytes = make_file(a, path, sizes[i]);
		BfIoCounters counters = {0};
		BfSource *file, *memory;

		REQUIRE_OK(bf_source_open(a, path, &counters, &file, &test_err));
		REQUIRE_OK(bf_source_memory(a, bytes, sizes[i], "m", &memory, &test_err));
		EXPECT_EQ(bf_source_size(file), sizes[i]);
		EXPECT_STR(bf_source_name(file), path);
		check_reads(file, bytes, sizes[i]);
		check_reads(memory, bytes, sizes[i]);
		EXPECT_EQ(counters.files_opened, 1);
		EXPECT(counters.reads > 0 && counters.bytes_read >= (int64_t) sizes[i]);
		bf_source_close(file);
		bf_source_close(file);
	}
}

/* Looks from place to place read what they ask for; looks that follow each other soon read more. */
TEST(io_source_peeks_read_what_is_asked_for)
{
	const char *path = test_path("f");
	uint8_t *bytes = make_file(test_arena(), path, BIG);
	BfIoCounters far = {0}, near = {0};
	const uint8_t *p;
	BfSource *s;

	REQUIRE_OK(bf_source_open(test_arena(), path, &far, &s, &test_err));
	for (size_t pos = 0; pos + 61 <= BIG; pos += 5000)
	{
		REQUIRE_OK(bf_source_peek(s, (int64_t) pos, 61, &p, &test_err));
		EXPECT(memcmp(p, bytes + pos, 61) == 0);
	}
	EXPECT_EQ(far.bytes_read, far.reads * 61);
	REQUIRE_OK(bf_source_open(test_arena(), path, &near, &s, &test_err));
	for (size_t pos = 0; pos + 61 <= BIG; pos += 61)
	{
		REQUIRE_OK(bf_source_peek(s, (int64_t) pos, 61, &p, &test_err));
		EXPECT(memcmp(p, bytes + pos, 61) == 0);
	}
	EXPECT(near.reads < 40);
	EXPECT(near.bytes_read < (int64_t) BIG + 100 * 61);
}

TEST(io_source_range_checks)
{
	static const struct
	{
		int64_t pos;
		size_t len;
	} bad[] = {{-1, 1},		   {0, 101},	   {100, 1},	  {101, 0},
			   {INT64_MAX, 1}, {INT64_MIN, 1}, {50, SIZE_MAX}};
	BfArena *a = test_arena();
	const char *path = test_path("f");
	BfSource *s[2];
	uint8_t *bytes = make_file(a, path, 100), buf[8];
	const uint8_t *p;

	REQUIRE_OK(bf_source_open(a, path, NULL, &s[0], &test_err));
	REQUIRE_OK(bf_source_memory(a, bytes, 100, path, &s[1], &test_err));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		for (int j = 0; j < 2; j++)
		{
			EXPECT_FAIL(bf_source_read(s[j], bad[i].pos, buf, bad[i].len, &test_err),
						BF_ERR_CORRUPT, 100);
			EXPECT_STR(test_err.object, path);
			EXPECT_FAIL(bf_source_window(s[j], bad[i].pos, bad[i].len, &p, &test_err),
						BF_ERR_CORRUPT, 100);
		}
	REQUIRE_OK(bf_source_read(s[0], 100, buf, 0, &test_err));
	REQUIRE_OK(bf_source_memory(a, NULL, 0, "empty", &s[1], &test_err));
	REQUIRE_OK(bf_source_window(s[1], 0, 0, &p, &test_err));
}

/* The tail first, then what lies before it: one read of the file serves both. */
TEST(io_source_tail_window)
{
	BfArena *a = test_arena();
	const char *path = test_path("f");
	BfIoCounters counters = {0};
	uint8_t *bytes = make_file(a, path, BIG);
	const uint8_t *p;
	BfSource *s;

	REQUIRE_OK(bf_source_open(a, path, &counters, &s, &test_err));
	REQUIRE_OK(bf_source_window(s, (int64_t) BIG - 8, 8, &p, &test_err));
	EXPECT(memcmp(p, bytes + BIG - 8, 8) == 0);
	REQUIRE_OK(bf_source_window(s, (int64_t) BIG - 200000, 199992, &p, &test_err));
	EXPECT(memcmp(p, bytes + BIG - 200000, 199992) == 0);
	EXPECT_EQ(counters.reads, 1);
}

TEST(io_source_growth)
{
	BfArena *a = test_arena();
	const char *path = test_path("f");
	uint8_t buf[8];
	BfSource *s, *m;
	FILE *f;

	make_file(a, path, 100);
	REQUIRE_OK(bf_source_open(a, path, NULL, &s, &test_err));
	REQUIRE_OK(bf_source_read(s, 90, buf, 8, &test_err));
	f = fopen(path, "r+b");
	REQUIRE(f != NULL);
	fseek(f, 96, SEEK_SET);
	fwrite("new bytes", 1, 9, f);
	fclose(f);
	EXPECT_FAIL(bf_source_read(s, 97, buf, 8, &test_err), BF_ERR_CORRUPT, 100);
	REQUIRE_OK(bf_source_refresh_size(s, &test_err));
	EXPECT_EQ(bf_source_size(s), 105);
	REQUIRE_OK(bf_source_read(s, 97, buf, 8, &test_err));
	EXPECT(memcmp(buf, "ew bytes", 8) == 0);
	/* Cut behind our back: what is left is still read, what is gone is missed. */
	REQUIRE_OK(bf_source_refresh_size(s, &test_err));
	REQUIRE(truncate(path, 50) == 0);
	REQUIRE_OK(bf_source_read(s, 40, buf, 8, &test_err));
	EXPECT_FAIL(bf_source_read(s, 60, buf, 8, &test_err), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.object, path);
	REQUIRE_OK(bf_source_memory(a, buf, 8, "m", &m, &test_err));
	REQUIRE_OK(bf_source_refresh_size(m, &test_err));
	EXPECT_EQ(bf_source_size(m), 8);
}

TEST(io_read_all)
{
	BfArena *a = test_arena();
	const char *path = test_path("f");
	uint8_t *bytes = make_file(a, path, 100000);
	BfView v;

	REQUIRE_OK(bf_source_read_all(a, path, 100000, NULL, &v, &test_err));
	EXPECT(v.len == 100000 && memcmp(v.ptr, bytes, v.len) == 0);
	EXPECT_FAIL(bf_source_read_all(a, path, 99999, NULL, &v, &test_err), BF_ERR_LIMIT, -1);
	EXPECT_STR(test_err.object, path);
	make_file(a, path, 0);
	REQUIRE_OK(bf_source_read_all(a, path, 0, NULL, &v, &test_err));
	EXPECT_EQ(v.len, 0);
}

TEST(io_open_failures)
{
	BfArena *a = test_arena();
	BfSource *s;

	EXPECT_FAIL(bf_source_open(a, test_path("none"), NULL, &s, &test_err), BF_ERR_NOTFOUND, -1);
	EXPECT(strstr(test_err.object, "none") != NULL);
	EXPECT_FAIL(bf_source_open(a, test_dir(), NULL, &s, &test_err), BF_ERR_IO, -1);
}

TEST(io_publish_appears_whole)
{
	BfArena *a = test_arena();
	const char *dir = test_path("x/y");
	const char *from = test_path("from"), *path = test_path("x/y/f");
	uint8_t *bytes = make_file(a, from, BIG);
	const BfHost *h = test_host();
	BfPublish *p;
	BfView v;
	int file;

	REQUIRE_OK(bf_publish_begin(a, path, &p, &test_err));
	for (size_t i = 0; i < 300000; i += 1000)
		REQUIRE_OK(bf_publish_write(p, bytes + i, 1000, &test_err));
	EXPECT_EQ(bf_publish_position(p), 300000);
	REQUIRE_OK(bf_publish_write(p, bytes + 300000, 400000, &test_err));
	REQUIRE_OK(bf_publish_write(p, bytes, 0, &test_err));
	REQUIRE_OK(h->open(h, from, BF_OPEN_READ, &file, &test_err));
	EXPECT_EQ(bf_publish_copy(p, file, 700000, (int64_t) BIG - 700000, &test_err), BF_OK);
	h->close(h, file);
	EXPECT_EQ(bf_publish_position(p), BIG);
	EXPECT(access(path, F_OK) != 0);
	REQUIRE_OK(bf_publish_finish(p, &test_err));
	EXPECT_EQ(files_in(dir), 1);
	REQUIRE_OK(bf_source_read_all(a, path, BIG, NULL, &v, &test_err));
	EXPECT(v.len == BIG && memcmp(v.ptr, bytes, BIG) == 0);

	EXPECT_FAIL(bf_publish_bytes(a, path, "other", 5, &test_err), BF_ERR_CONFLICT, -1);
	EXPECT_STR(test_err.object, path);
	EXPECT_EQ(files_in(dir), 1);
	REQUIRE_OK(bf_publish_bytes(a, test_path("x/y/g"), "other", 5, &test_err));
	REQUIRE_OK(bf_publish_bytes(a, test_path("x/y/empty"), NULL, 0, &test_err));
	EXPECT_EQ(files_in(dir), 3);
}

TEST(io_publish_given_up_leaves_nothing)
{
	BfArena *a = bf_arena_new(test_host(), "publish", 1 << 20);
	BfPublish *p;

	REQUIRE(a != NULL);
	EXPECT_EQ(bf_publish_begin(a, test_path("f"), &p, &test_err), BF_OK);
	EXPECT_EQ(bf_publish_write(p, "abc", 3, &test_err), BF_OK);
	EXPECT_EQ(files_in(test_dir()), 1);
	bf_arena_free(a);
	EXPECT_EQ(files_in(test_dir()), 0);
}

/* Publishes, reads back; whatever fails, the file is whole or absent and nothing leaks. */
static BfStatus
publish_and_read(TestHost *h, const char *path, const uint8_t *bytes, size_t n, BfError *err)
{
	BfArena *a = bf_arena_new(&h->host, "scenario", 4 << 20);
	BfIoCounters counters = {0};
	BfPublish *p;
	BfSource *s;
	BfView v = {0};
	BfStatus st;
	uint8_t tail[8];

	if (a == NULL)
		return bf_error(err, BF_ERR_NOMEM, "no arena");
	st = bf_publish_begin(a, path, &p, err);
	if (st == BF_OK)
		st = bf_publish_write(p, bytes, 1000, err);
	if (st == BF_OK)
		st = bf_publish_write(p, bytes + 1000, n - 1000, err);
	if (st == BF_OK)
		st = bf_publish_finish(p, err);
	if (st == BF_OK)
		st = bf_source_read_all(a, path, n, &counters, &v, err);
	if (st == BF_OK)
		st = bf_source_open(a, path, &counters, &s, err);
	if (st == BF_OK)
		st = bf_source_refresh_size(s, err);
	if (st == BF_OK)
		st = bf_source_read(s, (int64_t) n - 8, tail, 8, err);
	if (st == BF_OK)
		EXPECT(v.len == n && memcmp(v.ptr, bytes, n) == 0 && memcmp(tail, bytes + n - 8, 8) == 0);
	bf_arena_free(a);
	return st;
}

TEST(io_fault_at_every_call)
{
	static const BfStatus codes[TEST_FAULT_COUNT] = {BF_OK, BF_ERR_NOMEM, BF_ERR_IO, BF_ERR_IO,
													 BF_ERR_CANCEL};
	const char *dir = test_path("out");
	const char *path = test_path("out/f");
	const size_t n = 600000;
	uint8_t *bytes = make_file(test_arena(), test_path("from"), n);

	for (int kind = TEST_FAULT_ALLOC; kind < TEST_FAULT_COUNT; kind++)
		for (int sticky = 0; sticky < 2; sticky++)
			for (int64_t call = 1;; call++)
			{
				TestHost h;
				struct stat st;
				BfStatus s;
				bool fired, exists;

				test_host_init(&h);
				h.random_state = (uint64_t) call;
				unlink(path);
				test_fault_arm(&h, (TestFault) kind, call, sticky);
				s = publish_and_read(&h, path, bytes, n, &test_err);
				fired = test_fault_fired(&h);
				EXPECT_EQ(s, fired ? codes[kind] : BF_OK);
				exists = stat(path, &st) == 0;
				EXPECT(!exists || st.st_size == (off_t) n);
				if (!sticky && call > 1)
					EXPECT_EQ(files_in(dir), exists ? 1 : 0);
				EXPECT_EQ(h.live_allocs, 0);
				EXPECT_EQ(h.live_bytes, 0);
				EXPECT_EQ(h.open_files, 0);
				EXPECT_EQ(h.bad_frees, 0);
				test_remove_tree(dir);
				if (!fired)
				{
					EXPECT(call > 1);
					break;
				}
				REQUIRE(call < 200);
			}
}

/* Power fails at every write, with every kind of luck: a published file is whole for ever, one that
 * was not finished is whole or absent. */
TEST(io_publish_survives_power_failure)
{
	const size_t n = 300000;
	const char *path = test_path("out/f");
	uint8_t *bytes = make_file(test_arena(), test_path("from"), n);

	for (int mode = 0; mode < TEST_CRASH_MODES; mode++)
		for (int64_t call = 1;; call++)
		{
			TestHost h;
			TestCrash c;
			BfArena *a;
			BfStatus s;
			BfView v;
			bool fired;

			test_host_init(&h);
			test_crash_init(&c, &h);
			c.random_state = (uint64_t) call;
			test_fault_arm(&h, TEST_FAULT_WRITE, call, true);
			a = bf_arena_new(&h.host, "publish", 1 << 20);
			s = bf_publish_bytes(a, path, bytes, n, &test_err);
			bf_arena_free(a);
			fired = test_fault_fired(&h);
			EXPECT_EQ(s, fired ? BF_ERR_IO : BF_OK);
			test_crash(&c, (TestCrashMode) mode);
			a = bf_arena_new(&h.host, "look", 1 << 20);
			s = bf_source_read_all(a, path, 1 << 20, NULL, &v, &test_err);
			EXPECT(s == BF_OK || (fired && s == BF_ERR_NOTFOUND));
			EXPECT(s != BF_OK || (v.len == n && memcmp(v.ptr, bytes, n) == 0));
			bf_arena_free(a);
			test_remove_tree(test_path("out"));
			if (!fired)
				break;
		}
}

/* The model itself: what is not synced is lost, what is synced stays. */
TEST(io_crash_model)
{
	TestHost h;
	TestCrash c;
	BfArena *a = test_arena();
	const char *old = test_path("old"), *new = test_path("new");
	BfView v;
	int file[2];

	make_file(a, old, 10);
	test_host_init(&h);
	test_crash_init(&c, &h);
	REQUIRE_OK(h.host.open(&h.host, old, BF_OPEN_WRITE, &file[0], &test_err));
	REQUIRE_OK(h.host.open(&h.host, new, BF_OPEN_CREATE_NEW, &file[1], &test_err));
	REQUIRE_OK(h.host.write_at(&h.host, file[0], 10, "synced", 6, &test_err));
	REQUIRE_OK(h.host.sync(&h.host, file[0], &test_err));
	REQUIRE_OK(h.host.write_at(&h.host, file[0], 16, "lost", 4, &test_err));
	REQUIRE_OK(h.host.write_at(&h.host, file[1], 0, "synced, but without a name", 26, &test_err));
	REQUIRE_OK(h.host.sync(&h.host, file[1], &test_err));
	h.host.close(&h.host, file[0]);
	h.host.close(&h.host, file[1]);
	test_crash(&c, TEST_CRASH_LOSE);
	REQUIRE_OK(bf_source_read_all(a, old, 100, NULL, &v, &test_err));
	EXPECT(v.len == 16 && memcmp(v.ptr + 10, "synced", 6) == 0);
	EXPECT_FAIL(bf_source_read_all(a, new, 100, NULL, &v, &test_err), BF_ERR_NOTFOUND, -1);

	test_crash_init(&c, &h);
	REQUIRE_OK(h.host.rename(&h.host, old, new, &test_err));
	test_crash(&c, TEST_CRASH_LOSE);
	REQUIRE_OK(bf_source_read_all(a, old, 100, NULL, &v, &test_err));
	test_crash_init(&c, &h);
	REQUIRE_OK(h.host.rename(&h.host, old, new, &test_err));
	REQUIRE_OK(h.host.sync_dir(&h.host, test_dir(), &test_err));
	REQUIRE_OK(h.host.unlink(&h.host, new, &test_err));
	test_crash(&c, TEST_CRASH_LOSE);
	REQUIRE_OK(bf_source_read_all(a, new, 100, NULL, &v, &test_err));
	EXPECT_FAIL(bf_source_read_all(a, old, 100, NULL, &v, &test_err), BF_ERR_NOTFOUND, -1);
	test_crash_init(&c, &h);
	REQUIRE_OK(h.host.unlink(&h.host, new, &test_err));
	test_crash(&c, TEST_CRASH_KEEP);
	EXPECT_FAIL(bf_source_read_all(a, new, 100, NULL, &v, &test_err), BF_ERR_NOTFOUND, -1);
}

static BfStatus
broken_sync_dir(const BfHost *h, const char *dir, BfError *err)
{
	(void) h;
	return bf_error_errno(err, EIO, dir, "sync directory");
}

/* The caller was told "failed", so the name must not be there: it would meet its own file. */
TEST(io_publish_takes_its_name_back)
{
	TestHost h;
	BfArena *a;
	BfPathInfo info;
	const char *path = test_path("out/f");

	test_host_init(&h);
	a = bf_arena_new(&h.host, "publish", 1 << 20);
	h.host.sync_dir = broken_sync_dir;
	EXPECT_EQ(bf_publish_bytes(a, path, "one", 3, &test_err), BF_ERR_IO);
	h.host.sync_dir = test_host()->sync_dir;
	REQUIRE_OK(h.host.stat(&h.host, path, &info, &test_err));
	EXPECT_EQ(info.kind, BF_PATH_MISSING);
	EXPECT_EQ(bf_publish_bytes(a, path, "two", 3, &test_err), BF_OK);
	EXPECT_EQ(bf_publish_bytes(a, path, "three", 5, &test_err), BF_ERR_CONFLICT);
	bf_arena_free(a);
}
