/* Pins as bytes, and the unit that is read next. */
#include "unit/lib/runner.h"

#include <pthread.h>

#include "scan/next.h"
#include "scan/pins.h"
#include "unit/lib/host_posix.h"

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same(const BfScanPins *a, const BfScanPins *b)
{
	bool is = a->current == b->current && a->snapshot_id == b->snapshot_id &&
			  same_text(a->metadata_path, b->metadata_path) && a->n_ledgers == b->n_ledgers &&
			  a->n_sources == b->n_sources;

	for (int32_t i = 0; is && i < a->n_ledgers; i++)
	{
		const BfScanLedger *x = &a->ledgers[i], *y = &b->ledgers[i];

		is = x->id == y->id && x->place == y->place && same_text(x->path, y->path) &&
			 x->end == y->end && x->tail == y->tail && x->entry_bytes == y->entry_bytes &&
			 bf_rangeset_equal(&x->lost, &y->lost);
	}
	for (int32_t i = 0; is && i < a->n_sources; i++)
	{
		const BfScanSource *x = &a->sources[i], *y = &b->sources[i];

		is = same_text(x->path, y->path) && x->bytes == y->bytes && x->rows == y->rows &&
			 x->counted == y->counted && x->partition == y->partition &&
			 x->offset_start == y->offset_start && x->offset_end == y->offset_end;
	}
	return is;
}

static BfRange lost[] = {{5, 5}, {7, 9}, {INT64_MAX - 1, INT64_MAX - 1}};
static BfScanLedger ledgers[] = {
	{0, BF_SCAN_IN_DIRECTORY, "/live/0", 0, 0, 64, {0}},
	{1, BF_SCAN_IN_FILE, "/wh/d/t/offload/1.bfo", 1000, 0, 1, {2, lost}},
	{INT64_MAX - 1, BF_SCAN_GONE, NULL, INT64_MAX - 1, INT64_MAX - 1, INT64_MAX, {3, lost}},
};
static BfScanSource sources[] = {
	{"/data/a.parquet", 123, 5, true, 0, 0, 0},
	{"/data/\xc3\xa4-7", INT64_MAX, INT64_MAX, false, INT32_MAX, -1, -1},
	{"/t-0", 0, 0, false, INT32_MIN, INT64_MAX, INT64_MAX},
	{"", 0, 0, true, -1, 0, 0},
};
static const BfScanPins examples[] = {
	{.snapshot_id = -1},
	{.metadata_path = "/wh/d/t/metadata/00001-x.metadata.json", .snapshot_id = INT64_MIN},
	{.metadata_path = "",
	 .snapshot_id = INT64_MAX,
	 .current = true,
	 .n_ledgers = 3,
	 .ledgers = ledgers,
	 .n_sources = 4,
	 .sources = sources},
};

#define N_EXAMPLES (sizeof examples / sizeof *examples)

TEST(scan_pins_pack_and_unpack)
{
	BfArena *a = test_arena();

	for (size_t i = 0; i < N_EXAMPLES; i++)
	{
		BfScanPins *again;
		BfView bytes, more;

		REQUIRE_OK(bf_scan_pins_pack(a, &examples[i], &bytes, &test_err));
		REQUIRE_OK(bf_scan_pins_unpack(a, bytes, &again, &test_err));
		EXPECT(same(&examples[i], again));
		REQUIRE_OK(bf_scan_pins_pack(a, again, &more, &test_err));
		EXPECT(more.len == bytes.len && memcmp(more.ptr, bytes.ptr, bytes.len) == 0);
	}
}

/* The bytes may go: a worker's shared memory does. */
TEST(scan_pins_are_copied)
{
	BfArena *a = test_arena();
	BfScanPins *again;
	BfView bytes;

	REQUIRE_OK(bf_scan_pins_pack(a, &examples[2], &bytes, &test_err));
	REQUIRE_OK(bf_scan_pins_unpack(a, bytes, &again, &test_err));
	for (uint32_t i = 0; i < bytes.len; i++)
		((uint8_t *) (uintptr_t) bytes.ptr)[i] = 0xff;
	EXPECT(same(&examples[2], again));
}

TEST(scan_pins_cut_short)
{
	BfArena *a = test_arena();
	BfView bytes;

	REQUIRE_OK(bf_scan_pins_pack(a, &examples[2], &bytes, &test_err));
	for (uint32_t n = 0; n < bytes.len; n++)
	{
		BfScanPins *pins;
		uint8_t *copy = bf_arena_memdup(a, bytes.ptr, n); /* so that a read past it is seen */

		EXPECT_FAIL(bf_scan_pins_unpack(a, (BfView){copy, n}, &pins, &test_err), BF_ERR_CORRUPT,
					-1);
		EXPECT(test_err.offset >= 0 && test_err.offset <= n);
	}
}

/* Any changed byte is an error with a position, or other pins that pack to what was read. */
TEST(scan_pins_hostile_bytes)
{
	BfArena *a = test_arena();
	BfView bytes;
	int errors = 0;

	REQUIRE_OK(bf_scan_pins_pack(a, &examples[2], &bytes, &test_err));
	for (uint32_t i = 0; i < bytes.len; i++)
		for (int bit = 0; bit < 8; bit++)
		{
			BfScanPins *pins, *again;
			BfView packed;
			uint8_t *copy = bf_arena_memdup(a, bytes.ptr, bytes.len);

			copy[i] ^= (uint8_t) (1 << bit);
			if (bf_scan_pins_unpack(a, (BfView){copy, bytes.len}, &pins, &test_err) != BF_OK)
			{
				EXPECT_EQ(test_err.code, BF_ERR_CORRUPT);
				EXPECT(test_err.offset >= 0 && test_err.offset <= (int64_t) bytes.len);
				errors++;
				continue;
			}
			REQUIRE_OK(bf_scan_pins_pack(a, pins, &packed, &test_err));
			REQUIRE_OK(bf_scan_pins_unpack(a, packed, &again, &test_err));
			EXPECT(same(pins, again));
		}
	EXPECT(errors > 50);
}

static BfStatus
unpack_bytes(const char *bytes, size_t n)
{
	BfArena *a = test_arena();
	BfScanPins *pins;
	BfBuffer *b;

	if (bf_buffer_new(a, 1 << 20, &b, &test_err) != BF_OK ||
		bf_buffer_append(b, "BFP2", 4, &test_err) != BF_OK ||
		bf_buffer_append(b, bytes, n, &test_err) != BF_OK)
		return BF_ERR_NOMEM;
	return bf_scan_pins_unpack(a, (BfView){b->data, (uint32_t) b->len}, &pins, &test_err);
}

TEST(scan_pins_values_that_cannot_be)
{
#define BYTES(s) s, sizeof s - 1
	/* flags, path, snapshot, ledgers, sources; numbers are zigzag: \2 is 1, \1 is -1 */
	static const struct
	{
		const char *bytes;
		size_t n;
		int offset;
		const char *text;
	} cases[] = {
		{BYTES("\4\0\0\0\0"), 4, "flags is 2"},
		{BYTES("\0\0\0\0\0x"), 9, "1 bytes follow the last source"},
		{BYTES("\0\0\0\1\0"), 7, "number of ledgers is -1"},
		{BYTES("\0\0\0\20\0\0"), 7, "number of ledgers is 8, but 2 bytes follow"},
		{BYTES("\0\3a\0\0\0\0"), 5, "metadata path has a zero byte"},
		{BYTES("\0\0\0\2\0\0\2a\0\0\2\0"), 8, "distance of a ledger's id is 0"},
		{BYTES("\0\0\0\2\2\6\2a\0\0\2\0"), 9, "place of a ledger is 3"},
		{BYTES("\0\0\0\2\2\0\0\0\0\2\0"), 10, "ledger 0 has no path"},
		{BYTES("\0\0\0\2\2\0\2a\1\0\2\0"), 12, "end of a ledger is -1"},
		{BYTES("\0\0\0\2\2\0\2a\2\4\2\0"), 13, "number of entries in the tail is 2"},
		{BYTES("\0\0\0\2\2\0\2a\0\0\0\0"), 14, "size of an entry is 0"},
		{BYTES("\0\0\0\0\2\0\0\0\0\0\0"), 9, "a source has no path"},
		{BYTES("\0\0\0\0\2\2a\1\0\0\0\0"), 11, "size of a source is -1"},
		{BYTES("\0\0\0\0\2\2a\0\0\4\0\0\0"), 13, "whether rows are counted is 2"},
		{BYTES("\0\0\0\0\2\2a\0\0\0\0\3\0"), 15, "start of a partition is -2"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		EXPECT_FAIL(unpack_bytes(cases[i].bytes, cases[i].n), BF_ERR_CORRUPT, cases[i].offset);
		EXPECT_STR(test_err.text, cases[i].text);
	}
}

TEST(scan_pins_find_a_ledger)
{
	EXPECT(bf_scan_pins_ledger(&examples[0], 0) == NULL);
	for (int i = 0; i < 3; i++)
		EXPECT(bf_scan_pins_ledger(&examples[2], ledgers[i].id) == &ledgers[i]);
	EXPECT(bf_scan_pins_ledger(&examples[2], 2) == NULL);
	EXPECT(bf_scan_pins_ledger(&examples[2], INT64_MAX) == NULL);
	EXPECT(bf_scan_pins_ledger(&examples[2], -1) == NULL);
}

TEST(scan_pins_faults)
{
	BfView bytes;
	TestHost h;

	REQUIRE_OK(bf_scan_pins_pack(test_arena(), &examples[2], &bytes, &test_err));
	for (int64_t n = 1;; n++)
	{
		BfStatus status = BF_ERR_NOMEM;
		BfScanPins *pins;
		BfView more;
		BfArena *a;

		test_host_init(&h);
		test_fault_arm(&h, TEST_FAULT_ALLOC, n, false);
		a = bf_arena_new(&h.host, "fault", (size_t) 1 << 30);
		if (a != NULL)
			status = bf_scan_pins_unpack(a, bytes, &pins, &test_err);
		if (status == BF_OK)
			status = bf_scan_pins_pack(a, pins, &more, &test_err);
		bf_arena_free(a);
		EXPECT_EQ(h.live_allocs, 0);
		if (!test_fault_fired(&h))
		{
			EXPECT_EQ(status, BF_OK);
			break;
		}
		EXPECT_EQ(status, BF_ERR_NOMEM);
	}
}

/* ---- which unit is next ---- */

TEST(scan_next_alone)
{
	BfScanAlone c;

	bf_scan_next_alone(&c, 1);
	for (int32_t i = 0; i < 5; i++)
		EXPECT_EQ(c.next.take(&c.next, 5), i);
	EXPECT_EQ(c.next.take(&c.next, 5), -1);
	EXPECT_EQ(c.next.take(&c.next, 5), -1);
	bf_scan_next_alone(&c, INT32_MAX);
	EXPECT_EQ(c.next.take(&c.next, INT32_MAX), 0);
	EXPECT_EQ(c.next.take(&c.next, INT32_MAX), -1);
	bf_scan_next_alone(&c, 2);
	EXPECT_EQ(c.next.take(&c.next, 3), 0);
	EXPECT_EQ(c.next.take(&c.next, 3), 2);
	EXPECT_EQ(c.next.take(&c.next, 3), -1);
	EXPECT_EQ(c.next.take(&c.next, 0), -1);
}

#define SHARED_UNITS 200000
#define SHARED_THREADS 4

typedef struct Taker
{
	pthread_barrier_t *start;
	BfScanCounter *at;
	uint8_t *taken; /* by unit */
	int64_t twice;
} Taker;

static void *
take_all(void *arg)
{
	Taker *t = arg;
	BfScanShared c;
	int32_t before = -1;
	int32_t unit;

	bf_scan_next_shared(&c, t->at);
	pthread_barrier_wait(t->start);
	while ((unit = c.next.take(&c.next, SHARED_UNITS)) >= 0)
	{
		t->twice += unit <= before;
		before = unit;
		t->taken[unit]++;
	}
	return NULL;
}

TEST(scan_next_shared_gives_each_unit_to_one)
{
	static uint8_t taken[SHARED_THREADS][SHARED_UNITS];
	BfScanCounter at = 0;
	Taker takers[SHARED_THREADS];
	pthread_t threads[SHARED_THREADS];
	pthread_barrier_t start;
	BfScanShared late;

	REQUIRE(pthread_barrier_init(&start, NULL, SHARED_THREADS) == 0);
	for (int i = 0; i < SHARED_THREADS; i++)
	{
		memset(taken[i], 0, sizeof taken[i]);
		takers[i] = (Taker){&start, &at, taken[i], 0};
		REQUIRE(pthread_create(&threads[i], NULL, take_all, &takers[i]) == 0);
	}
	for (int i = 0; i < SHARED_THREADS; i++)
	{
		pthread_join(threads[i], NULL);
		EXPECT_EQ(takers[i].twice, 0);
	}
	pthread_barrier_destroy(&start);
	for (int32_t u = 0; u < SHARED_UNITS; u++)
	{
		int n = 0;

		for (int i = 0; i < SHARED_THREADS; i++)
			n += taken[i][u];
		REQUIRE(n == 1);
	}
	/* The counter stays at the end for whoever comes late. */
	EXPECT_EQ(at, SHARED_UNITS);
	bf_scan_next_shared(&late, &at);
	EXPECT_EQ(late.next.take(&late.next, SHARED_UNITS), -1);
	EXPECT_EQ(late.next.take(&late.next, 0), -1);
	EXPECT_EQ(at, SHARED_UNITS);
}
