/*
 * exec/read/offload_prune.c: see offload_prune.h; what a block's bounds look like is in
 * exec/write/offload_rows.h.
 *
 * Bounds are hints under a checksum: what contradicts itself or can't be understood says nothing.
 */
#include "exec/read/offload_prune.h"

/* What a block says of a column. */
typedef struct ColumnBounds
{
	int32_t id;
	bool has_lower;
	bool has_upper;
	BfView lower;
	BfView upper;
	int64_t values;
	int64_t nulls;
	int64_t nans;
} ColumnBounds;

typedef struct Prune
{
	BfArena *arena; /* of one block; reset for each */
	BfOffloadFile *file;
	const BfSchema *ledger;
	const BfSchema *table;
	const BfLedgerWhere *where;
	int64_t entries; /* of the block at hand */
	int32_t n_columns;
	ColumnBounds *columns;
	BfRange *out; /* what is left out */
	int32_t n_out;
	int32_t out_max;
} Prune;

/* ---- bytes ---- */

static BfStatus
get_bound(BfCursor *c, bool has, BfView *out, BfError *err)
{
	uint64_t n;

	*out = (BfView){NULL, 0};
	if (!has)
		return BF_OK;
	BF_TRY(bf_cursor_uvarint(c, &n, err));
	BF_DATA(err, n <= bf_cursor_left(c), -1, "a bound of %llu bytes", (unsigned long long) n);
	*out = (BfView){c->pos, (uint32_t) n};
	return bf_cursor_skip(c, (size_t) n, err);
}

static BfStatus
get_column(BfCursor *c, ColumnBounds *out, BfError *err)
{
	uint64_t id, values, nulls, nans;
	uint8_t flags;

	BF_TRY(bf_cursor_uvarint(c, &id, err));
	BF_TRY(bf_cursor_u8(c, &flags, err));
	BF_TRY(bf_cursor_uvarint(c, &values, err));
	BF_TRY(bf_cursor_uvarint(c, &nulls, err));
	BF_TRY(bf_cursor_uvarint(c, &nans, err));
	BF_DATA(err,
			id > 0 && id <= INT32_MAX && values <= INT64_MAX && nulls <= values &&
				nans <= values - nulls,
			-1, "counts of a column");
	*out = (ColumnBounds){.id = (int32_t) id,
						  .has_lower = (flags & 1) != 0,
						  .has_upper = (flags & 2) != 0,
						  .values = (int64_t) values,
						  .nulls = (int64_t) nulls,
						  .nans = (int64_t) nans};
	BF_TRY(get_bound(c, out->has_lower, &out->lower, err));
	return get_bound(c, out->has_upper, &out->upper, err);
}

static BfStatus
get_columns(Prune *p, BfView bytes, BfError *err)
{
	BfCursor c = bf_cursor(bytes.ptr, bytes.len, 0);
	uint64_t n;

	p->n_columns = 0;
	if (bytes.len == 0)
		return BF_OK;
	BF_TRY(bf_cursor_uvarint(&c, &n, err));
	BF_DATA(err, n <= bytes.len, -1, "%llu columns", (unsigned long long) n);
	BF_NEW(p->arena, p->columns, (int64_t) n, err);
	for (uint64_t i = 0; i < n; i++)
		BF_TRY(get_column(&c, &p->columns[i], err));
	BF_DATA(err, bf_cursor_left(&c) == 0, -1, "bytes behind the last column");
	p->n_columns = (int32_t) n;
	return BF_OK;
}

/* ---- a column ---- */

/* The bound as a value of the ledger's column, then of the table's. */
static bool
get_value(BfView bytes, BfType from, BfType to, BfValue *out)
{
	size_t size = bf_storage_size(bf_type_storage(from));
	BfValue v = {.type = from};
	BfError ignored;

	if (bf_type_storage(from) == BF_STORE_VIEW)
		v.v.view = bytes;
	else if (bytes.len != size)
		return false;
	else
		memcpy(&v.v, bytes.ptr, size);
	*out = v;
	if (bf_type_equal(from, to))
		return true;
	return bf_type_promotable(from, to) && bf_value_promote(&v, to, out, &ignored) == BF_OK;
}

static const ColumnBounds *
find_column(const Prune *p, int32_t id)
{
	for (int32_t i = 0; i < p->n_columns; i++)
		if (p->columns[i].id == id)
			return &p->columns[i];
	return NULL;
}

static bool
stats_of(void *arg, int32_t field, BfColumnStats *s)
{
	const Prune *p = arg;
	const BfField *f = &p->table->fields[field];
	int32_t column = bf_schema_find_id(p->ledger, f->id);
	const ColumnBounds *b;
	BfType from;

	BF_ASSERT(field >= 0 && field < p->table->n_fields);
	b = column < 0 ? NULL : find_column(p, f->id);
	/* Counts of another number of rows are of something else. */
	if (b == NULL || b->values != p->entries)
		return false;
	from = p->ledger->fields[column].type;
	s->known = true;
	s->row_count = b->values;
	s->null_count = b->nulls;
	s->may_have_nan = b->nans > 0;
	s->has_min = b->has_lower && get_value(b->lower, from, f->type, &s->min);
	s->has_max = b->has_upper && get_value(b->upper, from, f->type, &s->max);
	return true;
}

/* ---- blocks ---- */

static BfStatus
leave_out(Prune *p, BfArena *keep, BfRange entries, BfError *err)
{
	BF_ASSERT(p->n_out == 0 || p->out[p->n_out - 1].last < entries.first);
	if (p->n_out > 0 && p->out[p->n_out - 1].last + 1 == entries.first)
	{
		p->out[p->n_out - 1].last = entries.last;
		return BF_OK;
	}
	if (p->n_out == p->out_max)
	{
		BfRange *more;

		p->out_max = p->out_max < 64 ? 64 : p->out_max * 2;
		BF_NEW_RAW(keep, more, p->out_max, err);
		if (p->n_out > 0)
			memcpy(more, p->out, (size_t) p->n_out * sizeof *more);
		p->out = more;
	}
	p->out[p->n_out++] = entries;
	return BF_OK;
}

/* Times before 1970, which no clock of a writer has, are told of as if there were none. */
static bool
in_time(const BfLedgerWhere *w, const BfOffloadRecord *r)
{
	if (w->time_first_ms >= 0 && r->max_timestamp < w->time_first_ms)
		return false;
	return r->min_timestamp < 0 || r->min_timestamp <= w->time_last_ms;
}

static BfStatus
prune_block(Prune *p, BfArena *keep, int32_t number, BfLogCounters *counters, BfError *err)
{
	BfRange entries = bf_offload_block_entries(p->file, number);
	const BfOffloadRecord *records;
	BfError ignored;
	BfView bounds;
	int32_t n;

	bf_arena_reset(p->arena);
	BF_TRY(bf_offload_block(p->arena, p->file, number, &records, &n, &bounds, err));
	p->entries = entries.last - entries.first + 1;
	if (n > 0 && p->where->pred != NULL && get_columns(p, bounds, &ignored) == BF_OK &&
		p->n_columns > 0 && !bf_pred_may_match(p->where->pred, stats_of, p))
	{
		counters->batches_skipped += n;
		return leave_out(p, keep, entries, err);
	}
	for (int32_t i = 0; i < n; i++)
		if (!in_time(p->where, &records[i]))
			BF_TRY(leave_out(p, keep, (BfRange){records[i].first, records[i].last}, err));
	return BF_OK;
}

static BfStatus
prune_blocks(Prune *p, BfArena *keep, const BfRangeSet *ranges, BfLogCounters *counters,
			 BfError *err)
{
	int64_t n = bf_offload_info(p->file)->n_index_blocks;
	bool timed = p->where->time_first_ms >= 0 || p->where->time_last_ms < INT64_MAX;

	for (int32_t i = 0; i < n; i++)
	{
		BfRange entries = bf_offload_block_entries(p->file, i);
		BfRangeSet one = {1, &entries};

		BF_TRY(bf_check_cancel(bf_arena_host(keep), err));
		if ((timed || bf_offload_block_has_bounds(p->file, i)) &&
			bf_rangeset_overlaps(ranges, &one))
			BF_TRY(prune_block(p, keep, i, counters, err));
	}
	return BF_OK;
}

BfStatus
bfi_offload_prune(BfArena *a, BfOffloadFile *f, const BfSchema *ledger, const BfSchema *table,
				  const BfLedgerWhere *where, BfRangeSet *ranges, BfLogCounters *counters,
				  BfError *err)
{
	Prune p = {.file = f, .ledger = ledger, .table = table, .where = where};
	BfRangeSet out;
	BfStatus status;

	if (where->pred == NULL && where->time_first_ms < 0 && where->time_last_ms == INT64_MAX)
		return BF_OK;
	p.arena = bf_arena_new(bf_arena_host(a), "bounds of blocks", (size_t) 64 << 20);
	if (p.arena == NULL)
		return bf_arena_fail(a, 0, err);
	status = prune_blocks(&p, a, ranges, counters, err);
	bf_arena_free(p.arena);
	if (status != BF_OK || p.n_out == 0)
		return status;
	out = (BfRangeSet){p.n_out, p.out};
	return bf_rangeset_subtract(a, ranges, &out, ranges, err);
}
