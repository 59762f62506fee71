/* Offload files: the same batches as the ledger, or an error. */
#include "unit/lib/runner.h"

#include <stdlib.h>

#include "log/offload_format.h"
#include "unit/lib/host_posix.h"
#include "unit/test_log_model.h"

#define SCHEMA "{\"type\":\"record\",\"name\":\"r\",\"fields\":[]}"

static BfArena *
new_arena(void)
{
	return bf_arena_new(test_host(), "offload test", (size_t) 1 << 30);
}

typedef struct Bytes
{
	uint8_t *data;
	size_t n;
} Bytes;

/* All batches of the walk one after the other. */
static BfStatus
walk_bytes(BfArena *a, BfOffloadWalk *ow, BfLogWalk *lw, Bytes *out, int *batches)
{
	BfBuffer *b;

	BF_TRY(bf_buffer_new(a, (size_t) 1 << 28, &b, &test_err));
	*batches = 0;
	for (;;)
	{
		BfBatchHeader h;
		const uint8_t *batch;
		const char *path;
		int64_t position;

		if (ow != NULL)
			BF_TRY(bf_offload_walk_next(ow, &h, &batch, &position, &path, &test_err));
		else
			BF_TRY(bf_log_walk_next(lw, &h, &batch, &position, &path, &test_err));
		if (batch == NULL)
			break;
		BF_TRY(bf_buffer_append(b, batch, (size_t) h.total_bytes, &test_err));
		++*batches;
	}
	*out = (Bytes){b->data, b->len};
	return BF_OK;
}

static BfStatus
read_offload(BfArena *a, const char *path, const BfRangeSet *set, BfLogCounters *c, Bytes *out,
			 int *batches)
{
	BfOffloadFile *f;
	BfOffloadWalk *w;
	BfRange whole = {0, 0};
	BfRangeSet all = {1, &whole};

	BF_TRY(bf_offload_open(a, path, c, &f, &test_err));
	whole.last = bf_offload_info(f)->n_entries - 1;
	if (set == NULL && whole.last < 0)
		all.n = 0;
	BF_TRY(bf_offload_walk_new(a, f, set != NULL ? set : &all, &w, &test_err));
	return walk_bytes(a, w, NULL, out, batches);
}

static BfStatus
read_memory(BfArena *a, const uint8_t *bytes, size_t n, Bytes *out)
{
	BfSource *source;
	BfOffloadFile *f;
	BfOffloadWalk *w;
	BfRange whole = {0, 0};
	BfRangeSet all = {1, &whole};
	int batches;

	BF_TRY(bf_source_memory(a, bytes, n, "memory", &source, &test_err));
	BF_TRY(bfi_offload_open(a, source, NULL, &f, &test_err));
	whole.last = bf_offload_info(f)->n_entries - 1;
	BF_TRY(bf_offload_walk_new(a, f, &all, &w, &test_err));
	return walk_bytes(a, w, NULL, out, &batches);
}

static BfStatus
read_ledger(BfArena *a, const char *dir, const BfRangeSet *set, Bytes *out, int *batches)
{
	BfLogDir *d;
	BfLogWalk *w;

	BF_TRY(bf_log_dir_open(a, dir, NULL, &d, &test_err));
	BF_TRY(bf_log_walk_new(a, d, set, true, &w, &test_err));
	return walk_bytes(a, NULL, w, out, batches);
}

TEST(offload_ranges_give_the_ledgers_batches)
{
	Model m;
	const char *path = bf_arena_printf(test_arena(), "%s/l.bfo", test_dir());
	int64_t bytes, n;
	BfOffloadFile *f;
	BfLogCounters c;

	/* Enough batches for two index blocks. */
	make_ledger(&m, "ledger", 1300, 100);
	n = model_end(&m).entry;
	REQUIRE_OK(bf_offload_write(test_arena(), m.dir, NULL, n, SCHEMA, path, &bytes, &test_err));
	memset(&c, 0, sizeof c);
	REQUIRE_OK(bf_offload_open(test_arena(), path, &c, &f, &test_err));
	EXPECT_EQ(c.io.reads, 1);
	EXPECT_STR(bf_offload_info(f)->schema_json, SCHEMA);
	EXPECT_EQ(bf_offload_info(f)->n_entries, n);
	EXPECT_EQ(bf_offload_info(f)->n_batches, 1300);
	EXPECT_EQ(bf_offload_info(f)->n_index_blocks, 2);
	EXPECT_EQ(bf_offload_info(f)->file_bytes, bytes);
	EXPECT(bf_offload_info(f)->min_timestamp >= 1700000000000 - 500);
	EXPECT(bf_offload_info(f)->max_timestamp >= 1700000000000 + 500);
	for (int round = 0; round < 150 && !test_failed(); round++)
	{
		BfArena *a = new_arena();
		BfRange ranges[30];
		BfRangeSet set;
		Bytes want, have;
		int n_want, n_have;
		int32_t k = (int32_t) test_random_below(30);

		for (int32_t i = 0; i < k; i++)
		{
			ranges[i].first = (int64_t) test_random_below((uint64_t) n);
			ranges[i].last =
				ranges[i].first + (int64_t) test_random_below(round % 3 == 0 ? 2 : 300);
			if (ranges[i].last >= n)
				ranges[i].last = n - 1;
		}
		REQUIRE_OK(bf_rangeset_make(a, ranges, k, &set, &test_err));
		REQUIRE_OK(read_ledger(a, m.dir, &set, &want, &n_want));
		memset(&c, 0, sizeof c);
		REQUIRE_OK(read_offload(a, path, &set, &c, &have, &n_have));
		EXPECT_EQ(n_have, n_want);
		EXPECT_EQ(c.batches_read, n_want);
		EXPECT(want.n == have.n && (want.n == 0 || memcmp(want.data, have.data, want.n) == 0));
		bf_arena_free(a);
	}
}

TEST(offload_point_lookup_reads_one_batch)
{
	Model m;
	const char *path = bf_arena_printf(test_arena(), "%s/l.bfo", test_dir());
	int64_t bytes;

	make_ledger(&m, "ledger", 300, 600);
	REQUIRE_OK(bf_offload_write(test_arena(), m.dir, NULL, model_end(&m).entry, SCHEMA, path,
								&bytes, &test_err));
	for (int64_t e = 0; e < model_end(&m).entry; e += 37)
	{
		BfArena *a = new_arena();
		BfRange r = {e, e};
		BfRangeSet set = {1, &r};
		BfLogCounters c;
		Bytes have;
		int n;

		memset(&c, 0, sizeof c);
		REQUIRE_OK(read_offload(a, path, &set, &c, &have, &n));
		EXPECT_EQ(n, 1);
		EXPECT_EQ(c.batches_read, 1);
		EXPECT(c.io.reads <= 3);
		bf_arena_free(a);
	}
}

TEST(offload_of_an_empty_ledger)
{
	BfArena *a = test_arena();
	const char *dir = bf_arena_printf(a, "%s/empty", test_dir());
	const char *path = bf_arena_printf(a, "%s/empty.bfo", test_dir());
	BfLedgerWriter *w;
	BfOffloadFile *f;
	Bytes have;
	int n;

	REQUIRE_OK(bf_ledger_writer_open(a, dir, (BfLedgerEnd){0, 0, 0}, NULL, &w, &test_err));
	REQUIRE_OK(bf_ledger_writer_close(w, &test_err));
	REQUIRE_OK(bf_offload_write(a, dir, NULL, 0, SCHEMA, path, NULL, &test_err));
	REQUIRE_OK(bf_offload_open(a, path, NULL, &f, &test_err));
	EXPECT_EQ(bf_offload_info(f)->n_entries, 0);
	EXPECT_EQ(bf_offload_info(f)->min_timestamp, -1);
	REQUIRE_OK(read_offload(a, path, NULL, NULL, &have, &n));
	EXPECT_EQ(n, 0);
}

TEST(offload_refuses_what_does_not_fit)
{
	Model m;
	BfArena *a = test_arena();
	const char *path = bf_arena_printf(a, "%s/l.bfo", test_dir());
	const BfHost *host = test_host();
	BfPathInfo info;
	BfRange past;
	BfRangeSet set = {1, &past};
	Bytes have;
	int64_t n;
	int batches;

	make_ledger(&m, "ledger", 40, 100);
	n = model_end(&m).entry;
	if (m.ends[m.n_ends - 2].entry < n - 1)
		EXPECT_FAIL(bf_offload_write(a, m.dir, NULL, n - 1, SCHEMA, path, NULL, &test_err),
					BF_ERR_CORRUPT, -1);
	EXPECT_FAIL(bf_offload_write(a, m.dir, NULL, n + 1, SCHEMA, path, NULL, &test_err),
				BF_ERR_CORRUPT, -1);
	REQUIRE_OK(host->stat(host, path, &info, &test_err));
	EXPECT_EQ(info.kind, BF_PATH_MISSING);
	REQUIRE_OK(bf_offload_write(a, m.dir, NULL, n, SCHEMA, path, NULL, &test_err));
	EXPECT_FAIL(bf_offload_write(a, m.dir, NULL, n, SCHEMA, path, NULL, &test_err), BF_ERR_CONFLICT,
				-1);
	past = (BfRange){n - 1, n};
	EXPECT_FAIL(read_offload(a, path, &set, NULL, &have, &batches), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.object, path);
}

static bool
only_epochs_differ(const Bytes *x, const Bytes *y)
{
	size_t at = 0;

	if (x->n != y->n)
		return false;
	while (at < x->n)
	{
		BfBatchHeader h;

		if (bf_batch_header(x->data + at, x->n - at, 0, &h, &test_err) != BF_OK)
			return false;
		for (size_t i = 0; i < (size_t) h.total_bytes; i++)
			if (x->data[at + i] != y->data[at + i] && (i < 12 || i > 15))
				return false;
		at += (size_t) h.total_bytes;
	}
	return true;
}

/* Every byte counts: cut anywhere or with any byte changed, the file is refused. */
TEST(offload_damage_is_found)
{
	static uint8_t bytes[1 << 16];
	Model m;
	BfArena *a = test_arena();
	const char *path = bf_arena_printf(a, "%s/l.bfo", test_dir());
	size_t size;
	Bytes good;
	int epochs = 0, n_good;

	make_ledger(&m, "ledger", 12, 30);
	REQUIRE_OK(
		bf_offload_write(a, m.dir, NULL, model_end(&m).entry, SCHEMA, path, NULL, &test_err));
	size = read_file(path, bytes, sizeof bytes);
	REQUIRE(size < sizeof bytes);
	REQUIRE_OK(read_offload(a, path, NULL, NULL, &good, &n_good));
	for (size_t i = 0; i < 2 * size && !test_failed(); i++)
	{
		BfArena *b = new_arena();
		size_t at = i % size;
		uint8_t flip = (uint8_t) (i < size ? 1u << test_random_below(8) : 0);
		Bytes have;
		BfStatus status;

		bytes[at] = (uint8_t) (bytes[at] ^ flip);
		status = read_memory(b, bytes, i < size ? size : at, &have);
		bytes[at] = (uint8_t) (bytes[at] ^ flip);
		/* The leader epoch, byte 12 of a batch, is a broker's and under no checksum. */
		if (status == BF_OK && i < size && only_epochs_differ(&good, &have))
			epochs++;
		else if (status != BF_ERR_CORRUPT && status != BF_ERR_UNSUPPORTED)
			test_fail(__FILE__, __LINE__, "%s at byte %zu: %s", i < size ? "flip" : "cut", at,
					  bf_status_name(status));
		bf_arena_free(b);
	}
	EXPECT_EQ(epochs, 4 * n_good);
}

/* Files of before there were bounds, and of what may come. */
TEST(offload_versions)
{
	static const BfStatus expected[] = {BF_ERR_UNSUPPORTED, BF_OK, BF_OK, BF_ERR_UNSUPPORTED};
	static uint8_t bytes[1 << 16];
	Model m;
	BfArena *a = test_arena();
	const char *path = test_path("l.bfo");
	size_t size;

	make_ledger(&m, "ledger", 12, 30);
	REQUIRE_OK(
		bf_offload_write(a, m.dir, NULL, model_end(&m).entry, SCHEMA, path, NULL, &test_err));
	size = read_file(path, bytes, sizeof bytes);
	REQUIRE(size < sizeof bytes);
	EXPECT_EQ(bf_load32be(bytes + 8), BFI_OFFLOAD_VERSION);
	for (uint32_t version = 0; version < 4; version++)
	{
		Bytes have;

		bf_store32be(bytes + 8, version);
		bf_store32be(bytes + 20,
					 bf_crc32c_extend(bf_crc32c(bytes, 20), bytes + 24, strlen(SCHEMA)));
		EXPECT_EQ(read_memory(a, bytes, size, &have), expected[version]);
	}
}

TEST(offload_faults_leave_all_or_nothing)
{
	static const TestFault kinds[] = {TEST_FAULT_WRITE, TEST_FAULT_READ, TEST_FAULT_ALLOC,
									  TEST_FAULT_CANCEL};
	Model m;
	int64_t n;

	make_ledger(&m, "ledger", 100, 1500);
	n = model_end(&m).entry;
	for (int k = 0; k < 4; k++)
		for (int64_t call = 1; !test_failed(); call += 1 + call / 50)
		{
			const char *path =
				bf_arena_printf(test_arena(), "%s/f%d-%lld.bfo", test_dir(), k, (long long) call);
			TestHost h;
			BfArena *a;
			BfStatus status;
			BfPathInfo info;
			bool fired;

			test_host_init(&h);
			a = bf_arena_new(&h.host, "offload", (size_t) 1 << 30);
			test_fault_arm(&h, kinds[k], call, false);
			status = bf_offload_write(a, m.dir, NULL, n, SCHEMA, path, NULL, &test_err);
			fired = test_fault_fired(&h);
			bf_arena_free(a);
			EXPECT_EQ(h.live_allocs, 0);
			EXPECT_EQ(h.open_files, 0);
			REQUIRE_OK(test_host()->stat(test_host(), path, &info, &test_err));
			EXPECT_EQ(info.kind, status == BF_OK ? BF_PATH_FILE : BF_PATH_MISSING);
			if (status == BF_OK)
			{
				Bytes have;
				int batches;

				a = new_arena();
				REQUIRE_OK(read_offload(a, path, NULL, NULL, &have, &batches));
				EXPECT_EQ(batches, 100);
				bf_arena_free(a);
			}
			if (!fired)
				break;
		}
}
