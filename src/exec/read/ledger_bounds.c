/*
 * exec/read/ledger_bounds.c: see ledger_bounds.h.
 */
#include "exec/read/ledger_bounds.h"

#include "exec/read/ledger_reader.h"

/* The columns that are read, and which of the caller's they are. */
typedef struct Gather
{
	BfArena *arena;
	const BfLedgerColumns *columns;
	BfProjection projection;
	int32_t *numbers;
	const BfLedgerShare *shares;
	int32_t n_shares;
	int32_t at; /* the share that the next entry is in, or behind */
	BfBounds *bounds;
} Gather;

static BfStatus
choose_columns(Gather *g, BfLedgerPlace place, const char *path, BfError *err)
{
	const BfLedgerColumns *c = g->columns;
	int32_t *fields;
	BfSchema *ledger;

	BF_TRY(bf_exec_ledger_schema(g->arena, place, path, &ledger, err));
	BF_NEW(g->arena, fields, c->n_fields, err);
	BF_NEW(g->arena, g->numbers, c->n_fields, err);
	g->projection = (BfProjection){.schema = c->schema, .fields = fields, .want_entry = true};
	for (int32_t i = 0; i < c->n_fields; i++)
	{
		const BfField *f = &c->schema->fields[c->fields[i]];

		BF_ASSERT(bf_type_storage(f->type) != BF_STORE_NESTED);
		if (bf_schema_find_id(ledger, f->id) < 0)
			continue;
		g->numbers[g->projection.n_fields] = i;
		fields[g->projection.n_fields++] = c->fields[i];
	}
	return BF_OK;
}

static BfStatus
share_ranges(Gather *g, BfRangeSet *out, BfError *err)
{
	BfRange *ranges;

	BF_NEW_RAW(g->arena, ranges, g->n_shares, err);
	for (int32_t i = 0; i < g->n_shares; i++)
	{
		BF_ASSERT(i == 0 || g->shares[i - 1].range.last < g->shares[i].range.first);
		ranges[i] = g->shares[i].range;
	}
	return bf_rangeset_make(g->arena, ranges, g->n_shares, out, err);
}

static BfStatus
add_rows(Gather *g, const BfBatch *batch, int32_t first, int32_t n, int32_t owner, BfError *err)
{
	BfBounds *bounds = &g->bounds[(size_t) owner * (size_t) g->columns->n_fields];

	BF_ASSERT(owner >= 0 && n > 0 && first + n <= batch->n_rows);
	for (int32_t i = 0; i < batch->n_cols; i++)
		BF_TRY(bf_bounds_add(g->arena, &bounds[g->numbers[i]], &batch->cols[i], first, n, err));
	return BF_OK;
}

/* Rows whose entries are in one share, then those of the next. */
static BfStatus
add_batch(Gather *g, const BfBatch *batch, BfError *err)
{
	int32_t row = 0;

	while (row < batch->n_rows)
	{
		const BfLedgerShare *s;
		int32_t end = row + 1;

		while (g->at < g->n_shares && g->shares[g->at].range.last < batch->entry[row])
			g->at++;
		BF_NEVER(err, g->at == g->n_shares);
		s = &g->shares[g->at];
		BF_ASSERT(batch->entry[row] >= s->range.first);
		while (end < batch->n_rows && batch->entry[end] <= s->range.last)
			end++;
		BF_TRY(add_rows(g, batch, row, end - row, s->owner, err));
		row = end;
	}
	return BF_OK;
}

BfStatus
bf_exec_ledger_bounds(BfArena *a, BfLedgerPlace place, const char *path, const BfLogTail *tail,
					  const BfLedgerColumns *columns, const BfLedgerShare *shares, int32_t n_shares,
					  BfBounds *bounds, BfError *err)
{
	Gather g = {
		.arena = a, .columns = columns, .shares = shares, .n_shares = n_shares, .bounds = bounds};
	BfRangeSet ranges;
	BfReader *reader;
	const BfBatch *batch;

	BF_TRY(choose_columns(&g, place, path, err));
	if (n_shares == 0)
		return BF_OK;
	BF_TRY(share_ranges(&g, &ranges, err));
	BF_TRY(bf_exec_ledger_reader(a, place, path, tail, &ranges, &g.projection, NULL, &reader, err));
	for (;;)
	{
		BF_TRY(bf_check_cancel(bf_arena_host(a), err));
		BF_TRY(reader->next(reader, &batch, err));
		if (batch == NULL)
			return BF_OK;
		BF_ASSERT(batch->entry != NULL && batch->selected == NULL);
		BF_TRY(add_batch(&g, batch, err));
	}
}
