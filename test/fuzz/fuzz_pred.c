/*
 * Predicates over columns that the input describes: what filter leaves is what the model says of
 * every row, and no level says "cannot match" of rows that do.
 */
#include "fuzz/fuzz.h"
#include "unit/test_vec_pred_model.h"

static uint64_t
take_below(PredModel *m, uint64_t n)
{
	return fuzz_take_below(m->arg, n);
}

int
bf_fuzz_pred(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	BfArena *scratch = fuzz_arena((size_t) 64 << 20);
	PredModel m = {.below = take_below, .arg = &in, .a = fuzz_arena((size_t) 64 << 20)};
	uint64_t rows[BF_VALIDITY_WORDS];
	uint64_t again[BF_VALIDITY_WORDS];
	BfPredState *state;
	PredStats stats;
	bool any = false;
	BfError err;
	BfPred *p;

	pred_batch(&m, (int32_t) fuzz_take_below(&in, 150));
	p = pred_tree(&m, 4);
	pred_stats(&m, &stats);
	memset(rows, 0xff, sizeof rows);
	memset(again, 0xff, sizeof again);
	FUZZ_CHECK(bf_pred_filter(p, m.n_rows, pred_column_of, &m, scratch, rows, &err) == BF_OK);
	FUZZ_CHECK(bf_pred_state_new(scratch, p, &state, &err) == BF_OK);
	for (int i = 0; i < 2; i++)
		FUZZ_CHECK(bf_pred_state_filter(state, m.n_rows, pred_column_of, &m, again, &err) == BF_OK);
	FUZZ_CHECK(memcmp(rows, again, sizeof rows) == 0);
	for (int32_t i = 0; i < BF_BATCH_ROWS; i++)
	{
		FUZZ_CHECK(bf_valid(rows, i) == (i < m.n_rows && pred_matches(&m, p, i, true)));
		any = any || (i < m.n_rows && pred_matches(&m, p, i, false));
	}
	FUZZ_CHECK(!any || bf_pred_may_match(p, pred_stats_of, &stats));
	FUZZ_CHECK(!any || bf_pred_may_contain(p, pred_has, &m));
	bf_arena_free(scratch);
	bf_arena_free(m.a);
	return 0;
}
