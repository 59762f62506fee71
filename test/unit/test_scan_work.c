/* The work list: what is read, once each, pruned and in pieces. */
#include "unit/lib/runner.h"

#include "unit/lib/host_posix.h"
#include "unit/test_scan_model.h"

#define ROUNDS 3000

static uint64_t
random_below(ScanModel *m, uint64_t n)
{
	(void) m;
	return test_random_below(n);
}

static const int32_t fact_fields[] = {
	0,
	MODEL_FIELDS + BF_FACT_LEDGER,
	MODEL_FIELDS + BF_FACT_LEDGER,
	MODEL_FIELDS + BF_FACT_ENTRY,
	MODEL_FIELDS + BF_FACT_ENTRY,
	MODEL_FIELDS + BF_FACT_TIER,
	MODEL_FIELDS + BF_FACT_FILE,
	MODEL_FIELDS + BF_FACT_POS,
	MODEL_FIELDS + BF_FACT_TIMESTAMP,
	MODEL_FIELDS + BF_FACT_ROW_ID,
};

#define N_FIELDS ((int32_t) (sizeof fact_fields / sizeof *fact_fields))

static BfScanList
lake_list(BfArena *a, const BfPred *pred, BfScanHow how)
{
	return (BfScanList){.tiers = bf_scan_lake_tiers,
						.n_fields = MODEL_FIELDS,
						.pred = pred,
						.how = how,
						.arena = a};
}

TEST(scan_lake_reads_each_row_once)
{
	int64_t pieces = 0, pruned = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		ScanModel m = {.below = random_below, .a = test_arena()};
		BfScanList whole, cut;
		int64_t unknown;
		const BfPred *pred;
		const char *wrong;

		model_lake(&m);
		pred = round % 3 == 0 ? NULL : model_pred(&m, fact_fields, N_FIELDS, 3);
		whole = lake_list(m.a, pred, BF_SCAN_UNITS);
		cut = lake_list(m.a, pred, BF_SCAN_CUT);
		REQUIRE_OK(bf_scan_plan_lake(&whole, &m.pins, &m.plan, &unknown, &test_err));
		REQUIRE_OK(bf_scan_plan_lake(&cut, &m.pins, &m.plan, &unknown, &test_err));
		wrong = model_check_lake(&m, &whole);
		if (wrong == NULL)
			wrong = model_check_lake(&m, &cut);
		if (wrong != NULL)
			test_fail(__FILE__, __LINE__, "round %d: %s", round, wrong);
		REQUIRE(wrong == NULL);
		EXPECT(cut.n_units >= whole.n_units && cut.n_units <= bf_scan_list_pieces(&whole));
		EXPECT_EQ(whole.totals.rows, cut.totals.rows);
		EXPECT_EQ(whole.totals.bytes, cut.totals.bytes);
		EXPECT_EQ(whole.totals.live_rows, m.live);
		EXPECT_EQ(whole.totals.n_of_tier[0] + whole.totals.n_of_tier[1] + whole.totals.n_of_tier[2],
				  whole.n_units);
		pieces += cut.n_units - whole.n_units;
		pruned += whole.totals.pruned;
		bf_arena_reset(m.a);
	}
	EXPECT(pieces > ROUNDS);
	EXPECT(pruned > ROUNDS / 4);
}

/* A search by ledger and entry reads that entry alone. */
TEST(scan_lake_search)
{
	BfArena *a = test_arena();
	BfRange named = {0, 99};
	BfScanLedger ledgers[] = {{3, BF_SCAN_IN_DIRECTORY, "/live/3", 200, 0, 10, {0}},
							  {5, BF_SCAN_IN_FILE, "/offload/5", 100, 0, 10, {0}}};
	BfIceDataFile file = {.logical = true, .log = {.ledger_id = 5, .ranges = {1, &named}}};
	struct BfCoverageItem covered = {5, {1, &named}};
	BfIcePlan plan = {.n_files = 1, .files = &file, .covered = {1, &covered}};
	BfScanPins pins = {.current = true, .n_ledgers = 2, .ledgers = ledgers};
	BfValue five = {.type = BF_TYPE(INT64), .v.i64 = 5};
	BfValue seven = {.type = BF_TYPE(INT64), .v.i64 = 7};
	BfPred ledger = {.kind = BF_PRED_EQ, .field = BF_FACT_LEDGER, .n_values = 1, .values = &five};
	BfPred entry = {.kind = BF_PRED_EQ, .field = BF_FACT_ENTRY, .n_values = 1, .values = &seven};
	BfPred *both[] = {&ledger, &entry};
	BfPred pred = {.kind = BF_PRED_AND, .field = -1, .n_children = 2, .children = both};
	BfScanList l = {.tiers = bf_scan_lake_tiers, .pred = &pred, .arena = a};
	int64_t unknown;

	REQUIRE_OK(bf_scan_plan_lake(&l, &pins, &plan, &unknown, &test_err));
	EXPECT_EQ(l.n_units, 1);
	EXPECT_EQ(l.totals.pruned, 1);
	EXPECT_EQ(l.units[0].tier, BF_SCAN_OFFLOAD);
	EXPECT_STR(l.units[0].path, "/offload/5");
	EXPECT_EQ(l.units[0].rows, 1);
	EXPECT_EQ(l.units[0].ranges.ranges[0].first, 7);
	EXPECT_EQ(l.totals.live_rows, 200);
	EXPECT_EQ(unknown, -1);
	pins.n_ledgers = 1;
	l.n_units = 0;
	REQUIRE_OK(bf_scan_plan_lake(&l, &pins, &plan, &unknown, &test_err));
	EXPECT_EQ(unknown, 5);
}

TEST(scan_lake_trimmed_but_not_covered)
{
	BfScanLedger ledger = {7, BF_SCAN_GONE, NULL, 10, 0, 1, {0}};
	BfScanPins pins = {.current = true, .n_ledgers = 1, .ledgers = &ledger};
	BfRange most = {0, 8};
	struct BfCoverageItem covered = {7, {1, &most}};
	BfIcePlan plan = {.covered = {1, &covered}, .covered_parquet = {1, &covered}};
	BfScanList l = lake_list(test_arena(), NULL, BF_SCAN_UNITS);
	int64_t unknown;

	EXPECT_FAIL(bf_scan_plan_lake(&l, &pins, &plan, &unknown, &test_err), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.text, "ledger 7 is trimmed but Parquet files do not cover it");
	most.last = 9;
	l = lake_list(test_arena(), NULL, BF_SCAN_UNITS);
	REQUIRE_OK(bf_scan_plan_lake(&l, &pins, &plan, &unknown, &test_err));
	EXPECT_EQ(l.n_units, 0);
}

/* What an estimate only counts is in the totals all the same. */
TEST(scan_lake_counted)
{
	BfScanPins pins = {0};
	BfIcePlan plan = {.n_counted = 3, .rows_counted = 70, .bytes_counted = INT64_C(200) << 20};
	BfScanList l = lake_list(test_arena(), NULL, BF_SCAN_ESTIMATE);
	int64_t unknown;

	REQUIRE_OK(bf_scan_plan_lake(&l, &pins, &plan, &unknown, &test_err));
	EXPECT_EQ(l.n_units, 0);
	EXPECT_EQ(l.totals.n_of_tier[BF_SCAN_PARQUET], 3);
	EXPECT_EQ(l.totals.rows, 70);
	EXPECT_EQ(l.totals.rows_of_tier[BF_SCAN_PARQUET], 70);
	EXPECT_EQ(l.totals.bytes_of_tier[BF_SCAN_PARQUET], INT64_C(200) << 20);
	EXPECT_EQ(bf_scan_list_pieces(&l), 3 + 200 / 32);
}

/* Very many ledgers with very many logical files: not each with each. */
TEST(scan_lake_many_ledgers)
{
	enum
	{
		N = 20000
	};
	BfArena *a = test_arena();
	BfScanLedger *ledgers = bf_arena_alloc_array(a, N, sizeof *ledgers);
	BfIceDataFile *files = bf_arena_alloc_array(a, 2 * N, sizeof *files);
	struct BfCoverageItem *covered = bf_arena_alloc_array(a, N, sizeof *covered);
	static BfRange first = {0, 4}, second = {6, 8}, both[2] = {{0, 4}, {6, 8}};
	BfScanPins pins = {.current = true, .n_ledgers = N, .ledgers = ledgers};
	BfIcePlan plan = {.n_files = 2 * N, .files = files, .covered = {N, covered}};
	BfScanList l = lake_list(a, NULL, BF_SCAN_UNITS);
	int64_t unknown;

	REQUIRE(ledgers != NULL && files != NULL && covered != NULL);
	for (int32_t i = 0; i < N; i++)
	{
		ledgers[i] = (BfScanLedger){i, BF_SCAN_IN_DIRECTORY, "/live", 10, 0, 1, {0}};
		files[i] = (BfIceDataFile){.logical = true, .log = {.ledger_id = i, .ranges = {1, &first}}};
		files[2 * N - 1 - i] =
			(BfIceDataFile){.logical = true, .log = {.ledger_id = i, .ranges = {1, &second}}};
		covered[i] = (struct BfCoverageItem){i, {2, both}};
	}
	REQUIRE_OK(bf_scan_plan_lake(&l, &pins, &plan, &unknown, &test_err));
	EXPECT_EQ(l.n_units, N);
	EXPECT_EQ(l.totals.rows, INT64_C(10) * N);
	EXPECT_EQ(l.totals.live_rows, INT64_C(2) * N);
}

/* ---- tables without metadata ---- */

TEST(scan_files_in_pieces)
{
	BfScanSource sources[] = {{.path = "/a", .bytes = 1, .rows = 5},
							  {.path = "/b", .bytes = INT64_C(100) << 20, .rows = 7}};
	BfScanPins pins = {.n_sources = 2, .sources = sources};
	BfScanList l = {.tiers = bf_scan_file_tiers, .how = BF_SCAN_CUT, .arena = test_arena()};

	REQUIRE_OK(bf_scan_plan_files(&l, &pins, true, &test_err));
	EXPECT_EQ(l.n_units, 1 + 4);
	EXPECT_EQ(l.totals.n_of_tier[0], 2);
	EXPECT_EQ(model_reads_file(&l, sources[1].path, 10), 1);
	l.n_units = 0;
	REQUIRE_OK(bf_scan_plan_files(&l, &pins, false, &test_err));
	EXPECT_EQ(l.n_units, 2);
}

/* The model's values are 64 bits wide, a partition's number has 32. */
static BfPred *
partition_as_int32(BfPred *p)
{
	for (int32_t i = 0; i < p->n_children; i++)
		(void) partition_as_int32(p->children[i]);
	for (int32_t i = 0; i < p->n_values && p->field == BF_KAFKA_PARTITION; i++)
		p->values[i] = (BfValue){.type = BF_TYPE(INT32), .v.i32 = (int32_t) (i + 1)};
	return p;
}

/* Of a row: partition, offset, timestamp. */
static bool
kafka_field(const void *row, int32_t field, BfValue *out)
{
	out->v.i64 = ((const int64_t *) row)[field];
	if (field == BF_KAFKA_PARTITION)
		*out = (BfValue){.type = BF_TYPE(INT32), .v.i32 = (int32_t) ((const int64_t *) row)[0]};
	return true;
}

TEST(scan_partitions_read_each_offset_once)
{
	static const int32_t fields[] = {BF_KAFKA_PARTITION, BF_KAFKA_OFFSET, BF_KAFKA_OFFSET,
									 BF_KAFKA_TIMESTAMP};
	ScanModel m = {.below = random_below, .a = test_arena()};

	for (int round = 0; round < ROUNDS; round++)
	{
		BfScanSource sources[3];
		BfScanPins pins = {.n_sources = 3, .sources = sources};
		BfScanList l = {.tiers = bf_scan_kafka_tiers,
						.n_fields = BF_KAFKA_COLUMNS,
						.field_stats = bf_scan_partition_stats,
						.how = BF_SCAN_CUT,
						.arena = m.a};

		for (int32_t i = 0; i < 3; i++)
		{
			int64_t start = (int64_t) test_random_below(30);

			sources[i] = (BfScanSource){.path = model_path(&m, "topic", i),
										.bytes = (int64_t) test_random_below(64) << 20,
										.rows = 1,
										.partition = i,
										.offset_start = start,
										.offset_end = start + (int64_t) test_random_below(20)};
		}
		if (round % 3 > 0)
			l.pred = partition_as_int32(model_pred(&m, fields, 4, 3));
		REQUIRE_OK(bf_scan_plan_partitions(&l, &pins, &test_err));
		for (int32_t i = 0; i < 3; i++)
		{
			for (int64_t offset = 0; offset < 60; offset++)
			{
				int64_t row[3] = {i, offset, offset * 7 % 40};
				bool there = offset >= sources[i].offset_start && offset < sources[i].offset_end;
				int32_t reads = 0;

				for (int32_t u = 0; u < l.n_units; u++)
					reads += l.units[u].source == &sources[i] &&
							 bf_rangeset_contains(&l.units[u].ranges, offset);
				REQUIRE(reads <= 1 && (reads == 0 || there));
				REQUIRE(reads == 1 || !there || !model_possible(l.pred, kafka_field, row));
			}
		}
		bf_arena_reset(m.a);
	}
}

/* Before its end is known a partition is one unit, to wherever it goes. */
TEST(scan_partition_without_end)
{
	BfScanSource source = {
		.path = "/t-0", .bytes = INT64_C(1) << 40, .offset_start = 5, .offset_end = -1};
	BfScanPins pins = {.n_sources = 1, .sources = &source};
	BfScanList l = {.tiers = bf_scan_kafka_tiers,
					.n_fields = BF_KAFKA_COLUMNS,
					.how = BF_SCAN_CUT,
					.arena = test_arena()};

	REQUIRE_OK(bf_scan_plan_partitions(&l, &pins, &test_err));
	EXPECT_EQ(l.n_units, 1);
	EXPECT_EQ(l.units[0].ranges.ranges[0].last, BF_ENTRY_MAX);
	source.offset_end = 5;
	l.n_units = 0;
	REQUIRE_OK(bf_scan_plan_partitions(&l, &pins, &test_err));
	EXPECT_EQ(l.n_units, 0);
	EXPECT_EQ(l.totals.pruned, 1);
}

/* ---- lists ---- */

TEST(scan_fingerprint_tells_lists_apart)
{
	BfScanSource source = {.path = "/t-0", .bytes = 10, .offset_end = 100, .rows = 4};
	BfScanPins pins = {.n_sources = 1, .sources = &source};
	BfScanList l = {
		.tiers = bf_scan_kafka_tiers, .n_fields = BF_KAFKA_COLUMNS, .arena = test_arena()};
	uint64_t first, again;

	REQUIRE_OK(bf_scan_plan_partitions(&l, &pins, &test_err));
	first = bf_scan_list_fingerprint(&l);
	EXPECT(first != 0);
	l.units[0].ranges.ranges[0].last--;
	again = bf_scan_list_fingerprint(&l);
	EXPECT(again != first && again != 0);
	l.units[0].ranges.ranges[0].last++;
	EXPECT(bf_scan_list_fingerprint(&l) == first);
	l.n_units = 0;
	EXPECT(bf_scan_list_fingerprint(&l) != first);
}

TEST(scan_sums_stay_at_the_limit)
{
	BfScanSource sources[] = {{.path = "/a", .bytes = INT64_MAX, .rows = INT64_MAX},
							  {.path = "/b", .bytes = INT64_MAX, .rows = 1}};
	BfScanPins pins = {.n_sources = 2, .sources = sources};
	BfScanList l = {.tiers = bf_scan_file_tiers, .arena = test_arena()};

	REQUIRE_OK(bf_scan_plan_files(&l, &pins, true, &test_err));
	EXPECT_EQ(l.totals.rows, INT64_MAX);
	EXPECT_EQ(l.totals.bytes, INT64_MAX);
	EXPECT_EQ(bf_scan_list_pieces(&l), 2048);
}

TEST(scan_asks_for_facts)
{
	BfPred p = {.kind = BF_PRED_IS_NULL, .field = 1};
	BfScanList l = lake_list(test_arena(), NULL, BF_SCAN_UNITS);
	bool asks;

	REQUIRE_OK(bf_scan_asks_for_facts(&l, &asks, &test_err));
	EXPECT(!asks);
	l.pred = &p;
	REQUIRE_OK(bf_scan_asks_for_facts(&l, &asks, &test_err));
	EXPECT(!asks);
	p.field = MODEL_FIELDS + BF_FACT_POS;
	REQUIRE_OK(bf_scan_asks_for_facts(&l, &asks, &test_err));
	EXPECT(asks);
}

TEST(scan_work_faults)
{
	ScanModel m = {.below = random_below, .a = test_arena()};
	const BfPred *pred;
	TestHost h;

	model_lake(&m);
	pred = model_pred(&m, fact_fields, N_FIELDS, 3);
	for (TestFault fault = TEST_FAULT_ALLOC; fault < TEST_FAULT_COUNT; fault++)
		for (int64_t n = 1;; n++)
		{
			BfStatus status = BF_ERR_NOMEM;
			BfArena *a;

			test_host_init(&h);
			test_fault_arm(&h, fault, n, false);
			a = bf_arena_new(&h.host, "fault", (size_t) 1 << 30);
			if (a != NULL)
			{
				BfScanList l = lake_list(a, pred, BF_SCAN_CUT);
				int64_t unknown;

				status = bf_scan_plan_lake(&l, &m.pins, &m.plan, &unknown, &test_err);
			}
			bf_arena_free(a);
			EXPECT_EQ(h.live_allocs, 0);
			if (!test_fault_fired(&h))
			{
				EXPECT_EQ(status, BF_OK);
				break;
			}
			EXPECT_EQ(status, fault == TEST_FAULT_CANCEL ? BF_ERR_CANCEL : BF_ERR_NOMEM);
		}
}
