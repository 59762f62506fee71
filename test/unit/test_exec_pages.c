/* Pages that scans leave for the next one: the same rows, of no other file, within the limit. */
#include "exec/read/footer_cache.h"
#include "unit/lib/host_posix.h"
#include "unit/test_parquet_write.h"

#define ROWS 5000
#define CACHE ((size_t) 64 << 20)

typedef struct Caches
{
	BfFooterCache *footers;
	BfPageCache *pages;
} Caches;

/* The clock stands later than any file's change, so that footers are kept. */
static Caches
caches(size_t bytes_max)
{
	TestHost *host = test_host()->ctx;
	Caches c = {NULL, NULL};

	host->clock_us = 0;
	host->clock_us = test_host()->now_us(test_host()) + 10000000;
	if (bf_footer_cache_new(test_host(), 16 << 20, &c.footers, &test_err) == BF_OK &&
		bf_page_cache_new(test_host(), bytes_max, &c.pages, &test_err) == BF_OK)
		bf_footer_cache_keep_pages(c.footers, c.pages);
	return c;
}

static void
no_caches(Caches *c)
{
	bf_footer_cache_free(c->footers);
	bf_page_cache_free(c->pages);
}

static void
put_file(const char *path, const MadeRows *made, const BfParquetWriteOptions *o)
{
	BfArena *a = bf_arena_new(test_host(), "file", (size_t) 1 << 30);
	BfSchema s = all_types(a, false);
	const int32_t size = ROWS / 5;
	BfBatch *batches[5];
	BfParquetWritten file;
	BfBuffer out;
	FILE *f;

	for (int i = 0; i < 5; i++)
		REQUIRE_OK(made_batch(a, made, s.fields, s.n_fields, size, &batches[i], &test_err));
	bf_buffer_init(&out, test_host(), (size_t) 1 << 30);
	REQUIRE_OK(write_file(a, &s, batches, 5, o, &out, &file));
	f = fopen(path, "w");
	REQUIRE(f != NULL);
	EXPECT_EQ(fwrite(out.data, 1, out.len, f), out.len);
	fclose(f);
	bf_buffer_free(&out);
	bf_arena_free(a);
}

/* Writes what is there once more. */
static void
copy_file(const char *path)
{
	BfView bytes;
	FILE *f;

	REQUIRE_OK(bf_source_read_all(test_arena(), path, 1 << 26, NULL, &bytes, &test_err));
	remove(path);
	f = fopen(path, "w");
	REQUIRE(f != NULL);
	EXPECT_EQ(fwrite(bytes.ptr, 1, bytes.len, f), bytes.len);
	fclose(f);
}

typedef struct Asked
{
	const char *path;
	bool unverified; /* checksums are not looked at */
	int64_t stop;	 /* after so many rows of the row group; 0: not */
	int64_t seek;	 /* what is before is passed over */
} Asked;

static void
same_rows(const BfBatch *x, const BfBatch *y, int64_t at)
{
	REQUIRE(y != NULL && x->n_rows == y->n_rows);
	for (int32_t k = 0; k < N_TYPES; k++)
		for (int32_t row = 0; row < x->n_rows; row++)
			if (!made_same(&x->cols[k], row, &y->cols[k], row))
			{
				test_fail(__FILE__, __LINE__, "row %lld column %d", (long long) (at + row),
						  (int) k);
				break;
			}
}

/* All columns of the file's first row group, against a scan without caches; what that scan counts
 * is counted in *n. */
static BfStatus
scan(const Caches *c, const Asked *q, BfParquetCounters *n)
{
	BfArena *a = bf_arena_new(test_host(), "scan", (size_t) 1 << 30);
	int32_t columns[COLUMNS_MAX];
	BfParquetFile *f[2];
	BfParquetScan *s[2];
	BfStatus status = a == NULL ? BF_ERR_NOMEM : BF_OK;

	for (int32_t i = 0; i < COLUMNS_MAX; i++)
		columns[i] = i;
	memset(n, 0, sizeof *n);
	for (int i = 0; i < 2 && status == BF_OK; i++)
	{
		status = bf_footer_open(i == 0 ? c->footers : NULL, a, q->path, NULL, &f[i], &test_err);
		if (status != BF_OK)
			break;
		bf_parquet_verify_checksums(f[i], !q->unverified);
		status =
			bf_parquet_scan_new(a, f[i], columns, N_TYPES, i == 0 ? n : NULL, &s[i], &test_err);
		if (status == BF_OK)
			status = bf_parquet_scan_row_group(s[i], 0, &test_err);
		if (status == BF_OK)
			bf_parquet_scan_seek(s[i], q->seek);
	}
	for (int64_t at = q->seek; status == BF_OK && (q->stop == 0 || at < q->stop);)
	{
		const BfBatch *b[2] = {NULL, NULL};
		int64_t end = q->stop == 0 ? INT64_MAX : q->stop;

		for (int i = 0; i < 2 && status == BF_OK; i++)
			status = bf_parquet_scan_next_early(s[i], end, &b[i], &test_err);
		if (status != BF_OK || b[0] == NULL)
		{
			EXPECT(status != BF_OK || b[1] == NULL);
			break;
		}
		same_rows(b[0], b[1], at);
		at += b[0]->n_rows;
	}
	bf_arena_free(a);
	return status;
}

static BfParquetWriteOptions
options(BfCodec codec, int32_t version, bool checksums)
{
	BfParquetWriteOptions o = bf_parquet_write_defaults;

	o.codec = codec;
	o.page_version = version;
	o.checksums = checksums;
	o.page_rows = 1200;
	return o;
}

/* Whatever a scan leaves, the next one finds the same rows. */
TEST(exec_pages_same_rows)
{
	static const BfCodec codecs[] = {BF_CODEC_ZSTD, BF_CODEC_SNAPPY, BF_CODEC_NONE};
	const char *path = test_path("same.parquet");

	for (int i = 0; i < 3; i++)
		for (int32_t version = 1; version <= 2; version++)
			for (int nulls = 0; nulls < MADE_NULLS_COUNT; nulls++)
			{
				BfParquetWriteOptions o = options(codecs[i], version, nulls % 2 == 0);
				MadeRows made = {.nulls = (MadeNulls) nulls,
								 .values = (MadeValues) (nulls % MADE_VALUES_COUNT),
								 .bytes_max = 30,
								 .random = from_test};
				Caches c = caches(CACHE);
				Asked q = {.path = path};
				BfParquetCounters n;
				size_t bytes;

				put_file(path, &made, &o);
				for (q.stop = 1; q.stop < ROWS; q.stop += 1111)
					REQUIRE_OK(scan(&c, &q, &n));
				bytes = bf_page_cache_bytes(c.pages);
				EXPECT_EQ(n.pages_kept > 0, bytes > 0);
				EXPECT(codecs[i] != BF_CODEC_NONE || bytes == 0);
				/* Few values in runs may be better off without a codec. */
				EXPECT(codecs[i] == BF_CODEC_NONE || bytes > 0 || nulls != MADE_NO_NULLS);
				for (q.seek = 0, q.stop = 0; q.seek < ROWS; q.seek += 777)
					REQUIRE_OK(scan(&c, &q, &n));
				/* Scans that came to the end have left nothing. */
				EXPECT_EQ(bf_page_cache_bytes(c.pages), bytes);
				no_caches(&c);
			}
}

static const MadeRows any = {.nulls = MADE_SOME_NULLS, .bytes_max = 30, .random = from_test};

/* A second scan of what the first has begun decompresses nothing and reads nothing. */
TEST(exec_pages_found)
{
	const char *path = test_path("found.parquet");
	BfParquetWriteOptions o = options(BF_CODEC_ZSTD, 1, false);
	Caches c = caches(CACHE);
	Asked q = {.path = path, .stop = 10};
	BfParquetCounters first, again;

	put_file(path, &any, &o);
	REQUIRE_OK(scan(&c, &q, &first));
	EXPECT(first.pages_kept == 0 && first.pages_decompressed > 0);
	REQUIRE_OK(scan(&c, &q, &again));
	EXPECT_EQ(again.pages_kept, first.pages_decompressed);
	EXPECT_EQ(again.pages_decompressed, 0);
	/* Another file of that name, all of it in the same places. */
	copy_file(path);
	((TestHost *) test_host()->ctx)->clock_us += 10000000;
	REQUIRE_OK(scan(&c, &q, &again));
	EXPECT_EQ(again.pages_kept, 0);
	no_caches(&c);
}

/* What was not checked when it was kept is no answer to who wants checksums looked at. */
TEST(exec_pages_checksums)
{
	const char *path = test_path("sums.parquet");
	BfParquetWriteOptions o = options(BF_CODEC_ZSTD, 1, true);
	Caches c = caches(CACHE);
	Asked q = {.path = path, .stop = 10, .unverified = true};
	BfParquetCounters n;

	put_file(path, &any, &o);
	REQUIRE_OK(scan(&c, &q, &n));
	REQUIRE_OK(scan(&c, &q, &n));
	EXPECT(n.pages_kept > 0);
	q.unverified = false;
	REQUIRE_OK(scan(&c, &q, &n));
	EXPECT_EQ(n.pages_kept, 0);
	/* It has looked at them, for the next one. */
	REQUIRE_OK(scan(&c, &q, &n));
	EXPECT(n.pages_kept > 0);
	no_caches(&c);
}

/* Gives what it has whatever is asked for. */
typedef struct Liar
{
	BfParquetKeeper base;
	const uint8_t *bytes;
} Liar;

static const uint8_t *
liar_find(BfParquetKeeper *base, BfArena *a, int64_t at)
{
	(void) a;
	(void) at;
	return ((Liar *) base)->bytes;
}

static void
liar_keep(BfParquetKeeper *base, int64_t at, const BfView *parts, int32_t n_parts)
{
	Liar *l = (Liar *) base;
	uint8_t *bytes = bf_arena_alloc(test_arena(), (size_t) 1 << 20);
	size_t n = 0;

	(void) at;
	for (int32_t i = 0; i < n_parts; n += parts[i++].len)
		if (parts[i].len > 0)
			memcpy(bytes + n, parts[i].ptr, parts[i].len);
	if (l->bytes == NULL)
		l->bytes = bytes;
}

/* In a damaged file two columns may be in one place: what is kept of one is not the other's. */
TEST(exec_pages_of_a_column)
{
	const char *path = test_path("two.parquet");
	BfParquetWriteOptions o = options(BF_CODEC_ZSTD, 1, false);
	const MadeRows rising = {.values = MADE_RISING, .random = from_test};
	Liar liar = {.base = {liar_find, liar_keep}};

	put_file(path, &rising, &o);
	for (int32_t column = 4; column >= 3; column--)
	{
		BfArena *a = bf_arena_new(test_host(), "scan", (size_t) 1 << 30);
		const BfBatch *b[2];

		for (int i = 0; i < 2; i++)
		{
			BfSource *source;
			BfParquetFile *f;
			BfParquetScan *s;

			REQUIRE_OK(bf_source_open(a, path, NULL, &source, &test_err));
			REQUIRE_OK(bf_parquet_open(a, source, NULL, &f, &test_err));
			if (i == 0)
				bf_parquet_keep_pages(f, &liar.base);
			REQUIRE_OK(bf_parquet_scan_new(a, f, &column, 1, NULL, &s, &test_err));
			REQUIRE_OK(bf_parquet_scan_row_group(s, 0, &test_err));
			REQUIRE_OK(bf_parquet_scan_next_early(s, 10, &b[i], &test_err));
		}
		for (int32_t row = 0; row < 10; row++)
			EXPECT(made_same(&b[0]->cols[0], row, &b[1]->cols[0], row));
		bf_arena_free(a);
		EXPECT(liar.bytes != NULL);
	}
}

TEST(exec_pages_bounded)
{
	BfParquetWriteOptions o = options(BF_CODEC_ZSTD, 1, false);
	Caches c = caches((size_t) 256 << 10);
	BfParquetCounters n;

	for (int i = 0; i < 6; i++)
	{
		Asked q = {.path = test_path(bf_arena_printf(test_arena(), "b%d.parquet", i)), .stop = 10};

		put_file(q.path, &any, &o);
		for (int k = 0; k < 2; k++)
			REQUIRE_OK(scan(&c, &q, &n));
		EXPECT(n.pages_kept > 0);
		EXPECT(bf_page_cache_bytes(c.pages) > 0);
		EXPECT(bf_page_cache_bytes(c.pages) <= (size_t) 256 << 10);
	}
	bf_page_cache_limit(c.pages, 1000);
	EXPECT(bf_page_cache_bytes(c.pages) <= 1000);
	no_caches(&c);
}

/* Whatever fails, nothing is lost or left. */
TEST(exec_pages_faults)
{
	TestHost *host = test_host()->ctx;
	const char *path = test_path("faults.parquet");
	BfParquetWriteOptions o = options(BF_CODEC_ZSTD, 2, true);

	put_file(path, &any, &o);
	for (int kind = TEST_FAULT_ALLOC; kind <= TEST_FAULT_READ; kind++)
		for (int64_t k = 1;; k += 1 + k / 8)
		{
			Asked q = {.path = path, .stop = 10};
			BfParquetCounters n;
			bool fired;
			Caches c;

			test_fault_arm(host, (TestFault) kind, k, false);
			c = caches(CACHE);
			for (int i = 0; i < 3 && c.pages != NULL; i++)
				if (scan(&c, &q, &n) != BF_OK)
					bf_error_clear(&test_err);
			fired = test_fault_fired(host);
			no_caches(&c);
			if (!fired)
				break;
			REQUIRE(k < 1000000);
		}
}
