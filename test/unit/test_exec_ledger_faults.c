/* Appending to and reading a ledger with the N-th allocation, read, write or look at the clock of
 * cancellation failing: the status says so, nothing leaks, and no read is shorter than it should.
 */
#include "unit/lib/runner.h"

#include "exec/write/ledger_append.h"
#include "exec/read/ledger_reader.h"
#include "unit/lib/host_posix.h"

#define N_ROWS 300

static BfField fields[] = {
	{.id = 1, .name = "id", .type = {.kind = BF_KIND_INT64}, .required = true},
	{.id = 2, .name = "s", .type = {.kind = BF_KIND_STRING}},
};
static const BfSchema schema = {.n_fields = 2, .fields = fields};
static const int32_t both[] = {0, 1};

static BfStatus
append(BfArena *a, const char *dir, BfError *err)
{
	BfLedgerOptions options = {.codec = BF_CODEC_ZSTD};
	BfLedgerWriter *w;
	BfBatch *b;

	BF_TRY(bf_ledger_writer_open(a, dir, (BfLedgerEnd){0, 0, 0}, &options, &w, err));
	BF_TRY(bf_exec_ledger_create(a, dir, &schema, err));
	BF_TRY(bf_batch_new(a, fields, 2, &b, err));
	b->n_rows = b->cols[0].n = b->cols[1].n = N_ROWS / 3;
	for (int32_t k = 0; k < 3; k++)
	{
		BfEncodedRows encoded;

		for (int32_t i = 0; i < b->n_rows; i++)
		{
			b->cols[0].data.i64[i] = k * b->n_rows + i;
			b->cols[1].data.view[i] = (BfView){(const uint8_t *) "some text", (uint32_t) i % 10};
		}
		BF_TRY(bf_exec_ledger_encode(a, &schema, b, NULL, b->n_rows, &encoded, err));
		BF_TRY(bf_exec_ledger_append(w, &encoded, 1, err));
	}
	BF_TRY(bf_ledger_writer_sync(w, err));
	return bf_ledger_writer_close(w, err);
}

static BfStatus
read_back(BfArena *a, const char *dir, int64_t *n, int64_t *sum, BfError *err)
{
	BfRange range = {0, N_ROWS - 1};
	BfRangeSet ranges = {1, &range};
	BfProjection p = {&schema, both, 2, false};
	BfReader *r;
	const BfBatch *b;

	BF_TRY(bf_exec_ledger_reader(a, BF_LEDGER_LIVE, dir, NULL, &ranges, &p, NULL, &r, err));
	for (;;)
	{
		BF_TRY(r->next(r, &b, err));
		if (b == NULL)
			return BF_OK;
		*n += b->n_rows;
		for (int32_t i = 0; i < b->n_rows; i++)
			*sum += b->cols[0].data.i64[i] + (int64_t) b->cols[1].data.view[i].len;
	}
}

static BfStatus
expected_status(TestFault fault)
{
	switch (fault)
	{
		case TEST_FAULT_ALLOC: return BF_ERR_NOMEM;
		case TEST_FAULT_CANCEL: return BF_ERR_CANCEL;
		default: return BF_ERR_IO;
	}
}

static const TestFault faults[] = {TEST_FAULT_ALLOC, TEST_FAULT_READ, TEST_FAULT_WRITE,
								   TEST_FAULT_CANCEL};

TEST(exec_ledger_read_faults)
{
	const char *dir = test_dir();
	BfArena *keep = test_arena();
	int64_t all = 0;
	int64_t n = 0;

	dir = bf_arena_printf(keep, "%s/l", dir);
	REQUIRE_OK(append(keep, dir, &test_err));
	REQUIRE_OK(read_back(keep, dir, &n, &all, &test_err));
	EXPECT_EQ(n, N_ROWS);
	for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
	{
		bool fired = true;

		for (int64_t k = 1; fired; k++)
		{
			TestHost host;
			BfArena *a;
			BfStatus s = BF_ERR_NOMEM;
			int64_t sum = 0;

			n = 0;
			test_host_init(&host);
			test_fault_arm(&host, faults[f], k, false);
			a = bf_arena_new(&host.host, "faulty", (size_t) 1 << 30);
			if (a != NULL)
				s = read_back(a, dir, &n, &sum, &test_err);
			bf_arena_free(a);
			fired = test_fault_fired(&host);
			if (fired && s != expected_status(faults[f]))
				test_fail(__FILE__, __LINE__, "fault %zu, call %lld: %s %s", f, (long long) k,
						  bf_status_name(s), test_err.text);
			if (!fired)
				EXPECT(s == BF_OK && n == N_ROWS && sum == all);
			EXPECT_EQ(host.live_allocs, 0);
			EXPECT_EQ(host.open_files, 0);
			EXPECT_EQ(host.bad_frees, 0);
			REQUIRE(!test_failed() && k < 10000);
		}
	}
}

TEST(exec_ledger_append_faults)
{
	BfArena *keep = test_arena();

	for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
	{
		bool fired = true;

		for (int64_t k = 1; fired; k++)
		{
			const char *dir = bf_arena_printf(keep, "%s/%zu-%lld", test_dir(), f, (long long) k);
			TestHost host;
			BfArena *a;
			BfStatus s = BF_ERR_NOMEM;

			test_host_init(&host);
			test_fault_arm(&host, faults[f], k, false);
			a = bf_arena_new(&host.host, "faulty", (size_t) 1 << 30);
			if (a != NULL)
				s = append(a, dir, &test_err);
			bf_arena_free(a);
			fired = test_fault_fired(&host);
			if (fired && s != expected_status(faults[f]))
				test_fail(__FILE__, __LINE__, "fault %zu, call %lld: %s %s", f, (long long) k,
						  bf_status_name(s), test_err.text);
			if (!fired)
				EXPECT_EQ(s, BF_OK);
			EXPECT_EQ(host.live_allocs, 0);
			EXPECT_EQ(host.open_files, 0);
			EXPECT_EQ(host.bad_frees, 0);
			REQUIRE(!test_failed() && k < 10000);
		}
	}
}
