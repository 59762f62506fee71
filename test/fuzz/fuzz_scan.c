/* The work list. The front of the input is taken for pins: when they can be read they pack to what
 * was read, and a plan over them neither fails nor reads an offset twice. The end makes a lake
 * table and a predicate on facts, whose list must have what can match, once. */
#include "fuzz/fuzz.h"

#include "unit/test_scan_model.h"

static uint64_t
take_below(ScanModel *m, uint64_t n)
{
	return fuzz_take_below(m->arg, n);
}

static const int32_t fact_fields[] = {
	1,
	MODEL_FIELDS + BF_FACT_LEDGER,
	MODEL_FIELDS + BF_FACT_ENTRY,
	MODEL_FIELDS + BF_FACT_ENTRY,
	MODEL_FIELDS + BF_FACT_TIER,
	MODEL_FIELDS + BF_FACT_FILE,
	MODEL_FIELDS + BF_FACT_POS,
	MODEL_FIELDS + BF_FACT_TIMESTAMP,
};

#define N_FIELDS ((int32_t) (sizeof fact_fields / sizeof *fact_fields))

static void
check_partitions(BfArena *a, const BfScanPins *pins)
{
	BfScanList l = {.tiers = bf_scan_kafka_tiers,
					.n_fields = BF_KAFKA_COLUMNS,
					.field_stats = bf_scan_partition_stats,
					.how = BF_SCAN_CUT,
					.arena = a};
	BfError err;

	if (pins->n_sources > 200)
		return;
	FUZZ_CHECK(bf_scan_plan_partitions(&l, pins, &err) == BF_OK);
	FUZZ_CHECK(l.totals.rows >= 0 && l.totals.bytes >= 0);
	for (int32_t i = 1; i < l.n_units; i++)
		FUZZ_CHECK(l.units[i].source != l.units[i - 1].source ||
				   !bf_rangeset_overlaps(&l.units[i].ranges, &l.units[i - 1].ranges));
	FUZZ_CHECK(bf_scan_list_fingerprint(&l) != 0);
}

static void
check_pins(BfArena *a, const uint8_t *data, size_t size)
{
	BfScanPins *pins, *again;
	BfView first, second;
	BfError err;

	if (bf_scan_pins_unpack(a, (BfView){data, (uint32_t) size}, &pins, &err) != BF_OK)
	{
		FUZZ_CHECK(err.code == BF_ERR_CORRUPT && err.offset >= 0 && err.offset <= (int64_t) size);
		return;
	}
	FUZZ_CHECK(bf_scan_pins_pack(a, pins, &first, &err) == BF_OK);
	FUZZ_CHECK(bf_scan_pins_unpack(a, first, &again, &err) == BF_OK);
	FUZZ_CHECK(bf_scan_pins_pack(a, again, &second, &err) == BF_OK);
	FUZZ_CHECK(first.len == second.len && memcmp(first.ptr, second.ptr, first.len) == 0);
	for (int32_t i = 0; i < pins->n_ledgers; i++)
		FUZZ_CHECK(bf_scan_pins_ledger(pins, pins->ledgers[i].id) == &pins->ledgers[i]);
	check_partitions(a, pins);
}

int
bf_fuzz_scan(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	FuzzInput in = {data, size};
	ScanModel m = {.below = take_below, .arg = &in, .a = a};
	BfScanList l = {
		.tiers = bf_scan_lake_tiers, .n_fields = MODEL_FIELDS, .how = BF_SCAN_CUT, .arena = a};
	const char *wrong;
	int64_t unknown;
	BfError err;

	check_pins(a, data, size);
	l.pred = model_pred(&m, fact_fields, N_FIELDS, 4);
	model_lake(&m);
	FUZZ_CHECK(bf_scan_plan_lake(&l, &m.pins, &m.plan, &unknown, &err) == BF_OK);
	FUZZ_CHECK(unknown == -1);
	wrong = model_check_lake(&m, &l);
	if (wrong != NULL)
		fprintf(stderr, "%s\n", wrong);
	FUZZ_CHECK(wrong == NULL);
	bf_arena_free(a);
	return 0;
}
