/*
 * exec/keep/keep.c: what is kept of a scan's units, and the reader over it; see keep.h.
 *
 * The reader goes from group to group. In each, rows come from memory (`rows`), then from a reader
 * of whole batches (`rest`: what did not fit any more, or a log that is read as always), or from
 * one that filters itself (`narrowed`: row groups that are read as always).
 */
#include "exec/keep/internal.h"

#include "exec/read/parquet_reader.h"

#define UNITS_MAX 100000

/* What opening a file costs, in rows that are read. */
#define OPEN_ROWS 8192

/* Where row groups come from. */
typedef struct FromParquet
{
	BfParquetFile *file; /* NULL: it is not a Parquet file, or all of it is kept */
	const BfConstants *constants;
	BfParquetCounters *counters;
	int32_t first;		/* row group of group 0 */
	BfReader *narrowed; /* filters */
	BfReader *whole;	/* does not; NULL: not made yet */
} FromParquet;

typedef struct KeepReader
{
	BfReader base;
	BfArena *arena;
	BfKept *unit;
	BfFilter *filter;
	const char *name; /* borrowed */
	FromParquet parquet;
	BfReader *below; /* of what is no Parquet file */
	int64_t n_rows;	 /* of it */
	/* The group that is being read. */
	int32_t group;
	bool begun;
	const BfiKeptRows *rows; /* NULL: not out of memory */
	int32_t at;
	const BfBatch *pending; /* the first batch of the rest, where it did not fit */
	BfReader *rest;			/* NULL: nothing behind it */
	BfReader *narrowed;
	BfiEqual equal;
	bool by_index; /* the group's rows are looked up ... */
	uint32_t hit;  /* ... and this is the next */
	BfBatch found;
	uint64_t *found_bits;
	int64_t decoded;			 /* rows, when the narrowed group began */
	const BfColumnStats *bounds; /* of what is asked about: a group, or a batch of it */
	BfBatch out;
	uint64_t *bits;
} KeepReader;

/* ---- what is kept ---- */

static void
drop_all(void *arg)
{
	BfKept *u = arg;

	for (int32_t i = 0; i < u->n_groups; i++)
		bfi_kept_drop(u, &u->groups[i]);
}

BfStatus
bf_keep_new(BfArena *a, BfKeepBudget *budget, BfKeepCounters *counters, BfKeep **out, BfError *err)
{
	const BfHost *host = bf_arena_host(a);
	uint64_t seed;
	BfKeep *k;

	BF_NEW(a, k, 1, err);
	BF_TRY(host->random(host, &seed, sizeof seed, err));
	bf_map_init(&k->units, a, seed);
	k->arena = a;
	k->budget = budget;
	k->counters = counters;
	k->dicts = UINT64_C(1) << 62;
	*out = k;
	return BF_OK;
}

BfStatus
bf_keep_unit(BfKeep *k, const void *key, size_t n, BfKept **out, BfError *err)
{
	uint64_t hash = bf_map_hash(&k->units, key, n);
	int64_t *address = bf_map_find(&k->units, key, n, hash);
	BfKept *u;

	*out = address == NULL ? NULL : (BfKept *) (intptr_t) *address;
	if (*out != NULL || k->units.n >= UNITS_MAX)
		return BF_OK;
	BF_NEW(k->arena, u, 1, err);
	u->keep = k;
	u->n_fields = -1;
	if (!bf_arena_on_cleanup(k->arena, drop_all, u))
		return bf_arena_fail(k->arena, 0, err);
	BF_TRY(bf_map_put(&k->units, key, n, hash, (int64_t) (intptr_t) u, &address, err));
	*out = u;
	return BF_OK;
}

void
bf_kept_set_note(BfKept *u, const void *note)
{
	u->note = note;
}

const void *
bf_kept_note(const BfKept *u)
{
	return u->note;
}

/* Are the columns that are kept those of the filter? */
static bool
same_columns(const BfKept *u, const BfFilter *f)
{
	const BfProjection *p = bf_filter_projection(f);

	return u->n_fields == p->n_fields && u->want_entry == p->want_entry &&
		   (p->n_fields == 0 ||
			memcmp(u->fields, p->fields, (size_t) p->n_fields * sizeof *p->fields) == 0);
}

static BfStatus
set_columns(BfKept *u, const BfFilter *f, BfError *err)
{
	const BfProjection *p = bf_filter_projection(f);

	if (u->n_fields >= 0)
		return BF_OK;
	BF_NEW(u->keep->arena, u->fields, p->n_fields, err);
	if (p->n_fields > 0)
		memcpy(u->fields, p->fields, (size_t) p->n_fields * sizeof *p->fields);
	u->n_fields = p->n_fields;
	u->want_entry = p->want_entry;
	return BF_OK;
}

static BfStatus
set_groups(BfKept *u, int32_t n, BfError *err)
{
	BF_ASSERT(u->n_groups == 0 || u->n_groups == n);
	if (u->n_groups == 0)
		BF_NEW(u->keep->arena, u->groups, n, err);
	u->n_groups = n;
	return BF_OK;
}

/* The file had to be opened for the groups that are not kept: they have cost that, too. */
static void
pay_for_opening(BfKept *u)
{
	int32_t n = 0;

	if (!u->opened)
	{
		u->opened = true;
		return;
	}
	for (int32_t i = 0; i < u->n_groups; i++)
		n += !u->groups[i].kept;
	for (int32_t i = 0; i < u->n_groups; i++)
		u->groups[i].paid += OPEN_ROWS / (n > 0 ? n : 1);
}

bool
bf_kept_whole(const BfKept *u, const BfFilter *f)
{
	if (u->n_groups == 0 || !same_columns(u, f))
		return false;
	for (int32_t i = 0; i < u->n_groups; i++)
		if (!u->groups[i].kept)
			return false;
	return true;
}

/* ---- keeping ---- */

static int64_t
group_rows(const KeepReader *r)
{
	return r->parquet.file == NULL
			   ? r->n_rows
			   : bf_parquet_row_group_rows(r->parquet.file, r->parquet.first + r->group);
}

/* What decoding the whole group costs, in rows that are read as always: of files those have only
 * the columns that decide. */
static int64_t
price(const KeepReader *r)
{
	int32_t n = bf_filter_projection(r->filter)->n_fields;
	int32_t early = 0;

	for (int32_t i = 0; i < n; i++)
		early += bf_filter_decides(r->filter, i);
	if (r->parquet.file == NULL || early == 0)
		return group_rows(r);
	return group_rows(r) * n / early;
}

/* The reader of the group's whole batches. */
static BfStatus
whole_group(KeepReader *r, BfReader **out, BfError *err)
{
	FromParquet *p = &r->parquet;
	int32_t rg = p->first + r->group;

	*out = r->below;
	if (p->file == NULL)
		return BF_OK;
	if (p->whole == NULL)
		BF_TRY(bf_exec_parquet_reader_over(r->arena, p->file, bf_filter_projection(r->filter),
										   p->constants, rg, rg + 1, p->counters, &p->whole, err));
	bf_exec_parquet_reader_reset(p->whole, rg, rg + 1);
	*out = p->whole;
	return BF_OK;
}

/* All of the group that fits goes into memory; its rows are then read from there, and the others
 * from where they stand. */
static BfStatus
keep_group(KeepReader *r, BfiKeptGroup *g, BfError *err)
{
	const BfBatch *b;
	bool fits = true;

	BF_TRY(set_columns(r->unit, r->filter, err));
	BF_TRY(whole_group(r, &r->rest, err));
	BF_ASSERT(g->rows.n == 0 && !g->kept);
	while (fits)
	{
		BF_TRY(r->rest->next(r->rest, &b, err));
		if (b == NULL)
		{
			r->rest = NULL;
			bfi_kept_end(r->unit, g);
			return BF_OK;
		}
		BF_TRY(bfi_kept_add(r->unit, g, b, &fits, err));
		if (!fits)
			r->pending = b;
	}
	g->refused = true;
	return BF_OK;
}

/* ---- reading ---- */

static bool
bounds_of(void *arg, int32_t field, BfColumnStats *stats)
{
	const KeepReader *r = arg;
	const BfProjection *p = bf_filter_projection(r->filter);

	for (int32_t i = 0; i < p->n_fields; i++)
		if (p->fields[i] == field && r->bounds[i].known)
		{
			*stats = r->bounds[i];
			return true;
		}
	return false;
}

/* False only when no row can match that is between these bounds. */
static bool
may_match(KeepReader *r, const BfColumnStats *bounds)
{
	const BfPred *pred = bf_filter_bounds(r->filter);

	r->bounds = bounds;
	return pred == NULL || bounds == NULL || bf_pred_may_match(pred, bounds_of, r);
}

/* The batch's rows that count become r->out; *some = false: there are none. */
static BfStatus
narrow(KeepReader *r, const BfBatch *b, bool *some, BfError *err)
{
	int32_t n = bf_batch_n(b);

	r->out = *b;
	r->out.n_cols = bf_filter_n_outputs(r->filter);
	if (bf_filter_any(r->filter))
	{
		if (bf_filter_narrow(r->filter, b, r->bits, &n, err) != BF_OK)
			return bf_error_object(err, r->name);
		r->out.selected = n < b->n_rows ? r->bits : NULL;
		r->out.n_selected = n;
	}
	*some = n > 0;
	return BF_OK;
}

/* Passes over batches that together have no row that matches. */
static void
skip_spans(KeepReader *r)
{
	const BfiKeptGroup *g = &r->unit->groups[r->group];

	if (g->spans == NULL || g->rows.n <= BFI_SPAN)
		return;
	while (r->at < g->rows.n && r->at % BFI_SPAN == 0 &&
		   !may_match(r, g->spans + (size_t) (r->at / BFI_SPAN) * (size_t) r->unit->n_fields))
		for (int32_t i = 0; i < BFI_SPAN && r->at < g->rows.n; i++)
			r->unit->keep->counters->rows_skipped += g->rows.batches[r->at++]->batch.n_rows;
}

/* The next batch that has rows with the values, selected; NULL: no more. */
static const BfBatch *
next_found(KeepReader *r)
{
	const BfiKeptGroup *g = &r->unit->groups[r->group];
	BfKeepCounters *count = r->unit->keep->counters;
	const BfBatch *b;
	int32_t n;

	while ((b = bfi_kept_found(g, &r->equal, &r->hit, r->found_bits, &n)) != NULL)
	{
		if (n == 0)
			continue;
		count->rows_read += n;
		count->rows_skipped -= n;
		r->found = *b;
		r->found.selected = r->found_bits;
		r->found.n_selected = n;
		return &r->found;
	}
	r->rows = NULL;
	return NULL;
}

/* The next batch out of memory that may have a row; NULL: no more. */
static const BfBatch *
next_kept(KeepReader *r)
{
	BfKeepCounters *count = r->unit->keep->counters;

	if (r->rows != NULL && r->by_index)
		return next_found(r);
	while (r->rows != NULL)
	{
		const BfiKeptBatch *b;

		skip_spans(r);
		if (r->at >= r->rows->n)
			break;
		b = r->rows->batches[r->at++];
		if (may_match(r, b->bounds))
		{
			count->rows_read += b->batch.n_rows;
			r->unit->groups[r->group].looked += b->batch.n_rows;
			return &b->batch;
		}
		count->rows_skipped += b->batch.n_rows;
	}
	r->rows = NULL;
	return NULL;
}

/* The next whole batch of the group; NULL: no more. */
static BfStatus
next_whole(KeepReader *r, const BfBatch **b, BfError *err)
{
	BfiKeptGroup *g = &r->unit->groups[r->group];

	*b = next_kept(r);
	if (*b != NULL || r->rest == NULL)
		return BF_OK;
	*b = r->pending;
	r->pending = NULL;
	if (*b == NULL)
		BF_TRY(r->rest->next(r->rest, b, err));
	if (*b != NULL)
		g->paid += (*b)->n_rows;
	else
		r->rest = NULL;
	return BF_OK;
}

/* Of a row group that is read as always. */
static BfStatus
next_narrowed(KeepReader *r, const BfBatch **out, BfError *err)
{
	BfiKeptGroup *g = &r->unit->groups[r->group];
	int64_t before = r->decoded;

	BF_TRY(r->narrowed->next(r->narrowed, out, err));
	r->decoded = r->parquet.counters->rows_decoded;
	BF_ASSERT(r->decoded >= before);
	g->paid += r->decoded - before;
	if (*out == NULL)
		r->narrowed = NULL;
	return BF_OK;
}

/* Rows of the group come out of memory: all of them, or where it is kept whole those that have the
 * values which the predicate asks for. */
static void
begin_kept(KeepReader *r, BfiKeptGroup *g)
{
	const BfiKeptIndex *x = bfi_kept_index(r->unit, g, &r->equal);

	r->rows = &g->rows;
	r->by_index = x != NULL;
	if (x == NULL)
		return;
	r->hit = bfi_kept_look(r->unit, x, &r->equal);
	r->unit->keep->counters->rows_skipped += g->n_rows;
}

static BfStatus
begin_group(KeepReader *r, BfError *err)
{
	BfiKeptGroup *g = &r->unit->groups[r->group];
	bool same = r->unit->n_fields < 0 || same_columns(r->unit, r->filter);

	BF_TRY(bf_check_cancel(bf_arena_host(r->arena), err));
	r->at = 0;
	r->rows = NULL;
	r->rest = NULL;
	r->narrowed = NULL;
	if (g->refused && g->rows.n > 0)
		bfi_kept_drop(r->unit, g);
	if (same && !g->kept && !g->refused && g->paid >= price(r))
		BF_TRY(keep_group(r, g, err));
	if (same && g->kept && !may_match(r, g->bounds))
		r->unit->keep->counters->rows_skipped += g->n_rows;
	else if (same && g->rows.n > 0)
		begin_kept(r, g);
	if (same && g->kept)
		return BF_OK;
	if (r->rest != NULL || r->pending != NULL)
		return BF_OK;
	if (r->parquet.file == NULL)
	{
		r->rest = r->below;
		return BF_OK;
	}
	r->narrowed = r->parquet.narrowed;
	r->decoded = r->parquet.counters->rows_decoded;
	bf_exec_parquet_reader_reset(r->narrowed, r->parquet.first + r->group,
								 r->parquet.first + r->group + 1);
	return BF_OK;
}

static void
end_group(KeepReader *r)
{
	BfiKeptGroup *g = &r->unit->groups[r->group];

	if (g->refused)
		bfi_kept_drop(r->unit, g);
	r->group++;
}

static BfStatus
keep_next(BfReader *base, const BfBatch **out, BfError *err)
{
	KeepReader *r = (KeepReader *) base;
	bool some = false;

	*out = NULL;
	for (; r->group < r->unit->n_groups; end_group(r))
	{
		const BfBatch *b;

		if (!r->begun)
			BF_TRY(begin_group(r, err));
		r->begun = true;
		if (r->narrowed != NULL)
			BF_TRY(next_narrowed(r, out, err));
		if (*out != NULL)
			return BF_OK;
		do
		{
			BF_TRY(next_whole(r, &b, err));
			if (b != NULL)
				BF_TRY(narrow(r, b, &some, err));
		} while (b != NULL && !some);
		if (b != NULL)
		{
			*out = &r->out;
			return BF_OK;
		}
		r->begun = false;
	}
	return BF_OK;
}

static const char *
keep_name(const BfReader *base)
{
	return ((const KeepReader *) base)->name;
}

static BfStatus
new_reader(BfArena *a, BfKept *u, BfFilter *f, const char *name, KeepReader **out, BfError *err)
{
	KeepReader *r;

	BF_NEW(a, r, 1, err);
	r->base.next = keep_next;
	r->base.name = keep_name;
	r->arena = a;
	r->unit = u;
	r->filter = f;
	r->name = name;
	BF_NEW(a, r->bits, BF_VALIDITY_WORDS, err);
	BF_NEW(a, r->found_bits, BF_VALIDITY_WORDS, err);
	bfi_kept_equal(f, &r->equal);
	*out = r;
	return BF_OK;
}

BfStatus
bf_keep_again(BfArena *a, BfKept *u, BfFilter *f, const char *name, BfReader **out, BfError *err)
{
	KeepReader *r;

	BF_ASSERT(bf_kept_whole(u, f));
	BF_TRY(new_reader(a, u, f, name, &r, err));
	*out = &r->base;
	return BF_OK;
}

BfStatus
bf_keep_reader(BfArena *a, BfKept *u, BfFilter *f, int64_t n_rows, BfReader *below, BfReader **out,
			   BfError *err)
{
	KeepReader *r;

	BF_ASSERT(n_rows >= 0);
	BF_TRY(set_groups(u, 1, err));
	BF_TRY(new_reader(a, u, f, below->name(below), &r, err));
	r->below = below;
	r->n_rows = n_rows;
	*out = &r->base;
	return BF_OK;
}

BfStatus
bf_keep_row_groups(BfArena *a, BfKept *u, BfParquetFile *file, const BfProjection *projection,
				   const BfConstants *constants, int32_t rg_first, int32_t rg_end,
				   const BfRowFilter *what, BfParquetCounters *counters, BfReader **out,
				   BfError *err)
{
	KeepReader *r;
	BfFilter *f;

	BF_ASSERT(rg_first >= 0 && rg_first <= rg_end && counters != NULL);
	if (u->n_groups != 0 && u->n_groups != rg_end - rg_first)
		return bf_exec_parquet_reader_filtered(a, file, projection, constants, rg_first, rg_end,
											   what, counters, out, err);
	BF_TRY(set_groups(u, rg_end - rg_first, err));
	pay_for_opening(u);
	BF_TRY(bf_filter_new(a, projection, what, &f, err));
	BF_TRY(new_reader(a, u, f, bf_parquet_name(file), &r, err));
	r->parquet.file = file;
	r->parquet.constants = constants;
	r->parquet.counters = counters;
	r->parquet.first = rg_first;
	BF_TRY(bf_exec_parquet_reader_filtered(a, file, projection, constants, rg_first, rg_first, what,
										   counters, &r->parquet.narrowed, err));
	*out = &r->base;
	return BF_OK;
}
