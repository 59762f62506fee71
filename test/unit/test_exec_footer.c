/* Footers kept between scans: found again, never those of another file. */
#include "exec/read/footer_cache.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"

static const char *const sources[] = {"test/data/parquet/alpha.parquet",
									  "test/data/parquet/rowgroups.parquet"};

/* Puts a copy of a file at the path, by a name of its own or in place. */
static void
place(int which, const char *path, bool in_place)
{
	const char *other = bf_arena_printf(test_arena(), "%s.new", path);
	BfView bytes;
	FILE *f;

	REQUIRE_OK(bf_source_read_all(test_arena(), sources[which], 1 << 20, NULL, &bytes, &test_err));
	f = fopen(in_place ? path : other, "w");
	REQUIRE(f != NULL);
	EXPECT_EQ(fwrite(bytes.ptr, 1, bytes.len, f), bytes.len);
	fclose(f);
	if (!in_place)
		EXPECT(rename(other, path) == 0);
}

/* Rows of the file; *found: was its footer in the cache? */
static int64_t
rows_of(BfFooterCache *c, const char *path, bool *found)
{
	BfArena *a = bf_arena_new(test_host(), "scan", (size_t) 1 << 26);
	BfIoCounters io = {.files_opened = 0};
	BfParquetFile *file;
	int64_t n = -1;

	if (bf_footer_open(c, a, path, &io, &file, &test_err) == BF_OK)
		n = bf_parquet_n_rows(file) * 1000 + bf_parquet_schema(file)->n_fields;
	*found = io.footers_cached > 0;
	bf_arena_free(a);
	return n;
}

TEST(exec_footer_cache)
{
	TestHost *host = test_host()->ctx;
	const char *path = test_path("a.parquet");
	BfFooterCache *c;
	int64_t rows[2];
	bool found;

	REQUIRE_OK(bf_footer_cache_new(test_host(), 1 << 20, &c, &test_err));
	for (int i = 0; i < 2; i++)
	{
		place(i, path, false);
		rows[i] = rows_of(NULL, path, &found);
		EXPECT(rows[i] > 0 && !found);
	}
	EXPECT(rows[0] != rows[1]);
	/* It has changed just now: who knows what happens within the same tick of the clock. */
	EXPECT_EQ(rows_of(c, path, &found), rows[1]);
	EXPECT_EQ(rows_of(c, path, &found), rows[1]);
	EXPECT(!found);
	host->clock_us = test_host()->now_us(test_host()) + 10000000;
	for (int i = 0; i < 2; i++)
	{
		EXPECT_EQ(rows_of(c, path, &found), rows[1]);
		EXPECT(found == (i > 0));
	}
	/* Another file of that name, by renaming, then in place. */
	for (int k = 0; k < 4; k++)
	{
		place(k % 2, path, k > 1);
		for (int i = 0; i < 2; i++)
		{
			EXPECT_EQ(rows_of(c, path, &found), rows[k % 2]);
			EXPECT(found == (i > 0));
		}
	}
	EXPECT(bf_footer_cache_bytes(c) > 0);
	remove(path);
	EXPECT_EQ(rows_of(c, path, &found), -1);
	bf_footer_cache_free(c);
}

/* Many files in little room; files stay open when their footers and the cache go. */
TEST(exec_footer_cache_bounded)
{
	TestHost *host = test_host()->ctx;
	size_t bytes_max = (size_t) 128 << 10;
	BfParquetFile *open[2];
	BfFooterCache *c;
	bool found;

	REQUIRE_OK(bf_footer_cache_new(test_host(), bytes_max, &c, &test_err));
	host->clock_us = test_host()->now_us(test_host()) + 10000000;
	for (int i = 0; i < 2; i++)
		REQUIRE_OK(bf_footer_open(c, test_arena(), sources[i], NULL, &open[i], &test_err));
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 60; i++)
		{
			const char *path = test_path(bf_arena_printf(test_arena(), "f%d.parquet", i));

			if (round == 0)
				place(i % 2, path, true);
			EXPECT(rows_of(c, path, &found) > 0);
			EXPECT(!found);
			EXPECT(bf_footer_cache_bytes(c) <= bytes_max);
			EXPECT(rows_of(c, path, &found) > 0);
			EXPECT(found);
		}
	bf_footer_cache_free(c);
	for (int i = 0; i < 2; i++)
		EXPECT(bf_parquet_schema(open[i])->fields[0].name[0] != '\0');
}

/* Whatever fails, nothing is lost or left. */
TEST(exec_footer_cache_faults)
{
	TestHost *host = test_host()->ctx;

	host->clock_us = test_host()->now_us(test_host()) + 10000000;
	for (int kind = TEST_FAULT_ALLOC; kind <= TEST_FAULT_READ; kind++)
		for (int64_t n = 1;; n++)
		{
			BfFooterCache *c = NULL;
			bool found;

			test_fault_arm(host, (TestFault) kind, n, false);
			if (bf_footer_cache_new(test_host(), 1 << 20, &c, &test_err) == BF_OK)
				for (int i = 0; i < 4; i++)
				{
					BfArena *a = bf_arena_new(test_host(), "scan", (size_t) 1 << 26);
					BfParquetFile *file;

					if (a != NULL &&
						bf_footer_open(c, a, sources[i % 2], NULL, &file, &test_err) == BF_OK)
						EXPECT(bf_parquet_n_rows(file) > 0);
					bf_arena_free(a);
				}
			found = test_fault_fired(host);
			bf_footer_cache_free(c);
			if (!found)
				break;
			REQUIRE(n < 1000);
		}
}

/* What is in the cache can be looked at without the file, by its path and size. */
TEST(exec_footer_peek)
{
	TestHost *host = test_host()->ctx;
	const char *path = test_path("peek.parquet");
	const BfParquetFile *file;
	BfFooterCache *c;
	BfPathInfo info;
	int64_t rows;
	bool found;

	REQUIRE_OK(bf_footer_cache_new(test_host(), 1 << 20, &c, &test_err));
	place(0, path, false);
	REQUIRE_OK(test_host()->stat(test_host(), path, &info, &test_err));
	host->clock_us = test_host()->now_us(test_host()) + 10000000;
	EXPECT(bf_footer_peek(NULL, path, info.size) == NULL);
	EXPECT(bf_footer_peek(c, path, info.size) == NULL);
	rows = rows_of(c, path, &found);
	file = bf_footer_peek(c, path, info.size);
	REQUIRE(file != NULL);
	EXPECT_EQ(bf_parquet_n_rows(file), rows / 1000);
	EXPECT(bf_footer_peek(c, path, info.size + 1) == NULL);
	EXPECT(bf_footer_peek(c, sources[0], info.size) == NULL);
	bf_footer_cache_free(c);
}
