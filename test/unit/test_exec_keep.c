/*
 * What is kept of a scan's units: however often and with whatever predicate a file is read through
 * it, and however little memory there is, the rows are those of a reader that keeps nothing.
 */
#include "exec/keep/internal.h"

#include "exec/read/parquet_reader.h"
#include "unit/lib/faults.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"

#define DIR "test/data/"
#define ROUNDS 40

/* ---- what is read ---- */

/* Of all rows that come out: their numbers and values, as a sum that their order is part of. */
typedef struct Seen
{
	int64_t rows;
	uint64_t sum;
} Seen;

static void
mix(Seen *s, const void *p, size_t n)
{
	s->sum = bf_hash(s->sum, p, n);
}

static void
mix_value(Seen *s, const BfValue *v)
{
	mix(s, &v->is_null, sizeof v->is_null);
	if (v->is_null)
		return;
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_U8: mix(s, &v->v.u8, 1); break;
		case BF_STORE_I32: mix(s, &v->v.i32, 4); break;
		case BF_STORE_I64: mix(s, &v->v.i64, 8); break;
		case BF_STORE_F32: mix(s, &v->v.f32, 4); break;
		case BF_STORE_F64: mix(s, &v->v.f64, 8); break;
		case BF_STORE_I128: mix(s, &v->v.i128, 16); break;
		case BF_STORE_VIEW: mix(s, v->v.view.ptr, v->v.view.len); break;
		case BF_STORE_NESTED:
			for (uint32_t i = 0; i < v->v.view.len; i++)
				mix_value(s, &bf_value_children(v)[i]);
			break;
		case BF_STORE_NONE:
		case BF_STORE_COUNT: break;
	}
}

/* What is kept gives its bytes back when its arena goes, so a budget lives as long. */
static BfKeepBudget *
new_budget(BfArena *a, size_t bytes_max)
{
	BfKeepBudget *budget = bf_arena_alloc(a, sizeof *budget);

	BF_ASSERT(budget != NULL);
	*budget = (BfKeepBudget){.bytes_max = bytes_max};
	return budget;
}

static BfStatus
read_all(BfArena *a, BfReader *r, Seen *out)
{
	const BfBatch *b;

	memset(out, 0, sizeof *out);
	for (;;)
	{
		BF_TRY(r->next(r, &b, &test_err));
		if (b == NULL)
			return BF_OK;
		for (int32_t row = bf_batch_next(b, 0); row >= 0; row = bf_batch_next(b, row + 1))
		{
			int64_t number = b->first_row + row;

			out->rows++;
			mix(out, &number, sizeof number);
			for (int32_t i = 0; i < b->n_cols; i++)
			{
				BfValue v;

				BF_TRY(bf_vector_value(a, &b->cols[i], row, &v, &test_err));
				mix_value(out, &v);
			}
		}
	}
}

/* ---- a file, kept ---- */

typedef struct Case
{
	BfParquetFile *file;
	BfProjection projection;
	int32_t fields[64];
} Case;

static BfStatus
open_case(BfArena *a, const char *name, Case *c)
{
	char path[256];

	memset(c, 0, sizeof *c);
	snprintf(path, sizeof path, DIR "%s.parquet", name);
	BF_TRY(bf_exec_parquet_open(a, path, NULL, &c->file, &test_err));
	c->projection.schema = bf_parquet_schema(c->file);
	c->projection.fields = c->fields;
	c->projection.n_fields = c->projection.schema->n_fields;
	for (int32_t i = 0; i < c->projection.n_fields; i++)
		c->fields[i] = i;
	return BF_OK;
}

/* Some rows by a column of integers. */
static const BfPred *
some_rows(BfArena *a, const BfSchema *s)
{
	BfPred *p = bf_arena_alloc(a, sizeof *p);
	BfValue *v = bf_arena_alloc(a, sizeof *v);
	int32_t field;

	if (p == NULL || v == NULL)
		return NULL;
	do
		field = (int32_t) test_random_below((uint64_t) s->n_fields);
	while (s->fields[field].type.kind != BF_KIND_INT32 &&
		   s->fields[field].type.kind != BF_KIND_INT64);
	*v = (BfValue){.type = s->fields[field].type};
	if (v->type.kind == BF_KIND_INT32)
		v->v.i32 = (int32_t) test_random_below(3000) - 1500;
	else
		v->v.i64 = (int64_t) test_random_below(4000) - 1500;
	*p = (BfPred){.kind = (BfPredKind) (BF_PRED_EQ + test_random_below(6)),
				  .field = field,
				  .n_values = 1,
				  .values = v};
	return p;
}

static BfStatus
read_kept(BfArena *a, BfKept *u, Case *c, const BfRowFilter *what, BfParquetCounters *counters,
		  Seen *out)
{
	BfFilter *f;
	BfReader *r;

	BF_TRY(bf_filter_new(a, &c->projection, what, &f, &test_err));
	if (bf_kept_whole(u, f))
		BF_TRY(bf_keep_again(a, u, f, "kept", &r, &test_err));
	else
		BF_TRY(bf_keep_row_groups(a, u, c->file, &c->projection, NULL, 0,
								  bf_parquet_n_row_groups(c->file), what, counters, &r, &test_err));
	return read_all(a, r, out);
}

static BfStatus
read_plain(BfArena *a, Case *c, const BfRowFilter *what, Seen *out)
{
	BfReader *r;

	BF_TRY(bf_exec_parquet_reader_filtered(a, c->file, &c->projection, NULL, 0, -1, what, NULL, &r,
										   &test_err));
	return read_all(a, r, out);
}

/* Predicates at random on one column, so that what is kept stays of use; now and then on another,
 * or none. */
static BfStatus
many_reads(Case *c, BfKept *u, BfParquetCounters *counters, int rounds)
{
	for (int i = 0; i < rounds; i++)
	{
		BfArena *a = bf_arena_new(test_host(), "round", (size_t) 1 << 28);
		BfRowFilter what = {.prune = BF_PRUNE_LATE | (uint32_t) test_random_below(128)};
		Seen kept;
		Seen plain;
		BfStatus st;

		if (test_random_below(6) != 0)
			what.pred = some_rows(a, c->projection.schema);
		st = read_kept(a, u, c, &what, counters, &kept);
		if (st == BF_OK)
			st = read_plain(a, c, &what, &plain);
		bf_arena_free(a);
		BF_TRY(st);
		EXPECT_EQ(kept.rows, plain.rows);
		EXPECT(kept.sum == plain.sum);
	}
	return BF_OK;
}

static const char *const files[] = {"parquet_prune/dictionary", "parquet_prune/plain_v2",
									"parquet_prune/delta",		"parquet_prune/no_index",
									"boundaries/sorted",		"boundaries/random"};

static BfStatus
keep_file(const char *name, size_t bytes_max, BfKeepCounters *count)
{
	BfArena *a = bf_arena_new(test_host(), "keep", (size_t) 1 << 28);
	BfKeepBudget budget = {.bytes_max = bytes_max};
	BfParquetCounters counters = {0};
	BfKeep *k;
	BfKept *u;
	Case c;
	BfStatus st = open_case(a, name, &c);

	/* Of few columns those of the predicate are read besides, now this one, now that. */
	if (test_random_below(2) == 0)
		c.projection.n_fields = 3;
	if (st == BF_OK)
		st = bf_keep_new(a, &budget, count, &k, &test_err);
	if (st == BF_OK)
		st = bf_keep_unit(k, name, strlen(name), &u, &test_err);
	if (st == BF_OK)
		st = many_reads(&c, u, &counters, ROUNDS);
	EXPECT(budget.bytes <= bytes_max);
	bf_arena_free(a);
	EXPECT_EQ(budget.bytes, 0);
	return st;
}

/* ---- tests ---- */

TEST(exec_keep_same_rows)
{
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
	{
		BfKeepCounters count = {0};

		REQUIRE_OK(keep_file(files[i], (size_t) 64 << 20, &count));
		EXPECT(count.rows_kept > 0);
		EXPECT(count.rows_read > 0);
	}
}

/* Enough for some row groups, for a part of one, for nothing. */
TEST(exec_keep_little_memory)
{
	static const size_t limits[] = {0, 1, 9000, 70000, 150000, 400000};

	for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++)
		for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		{
			BfKeepCounters count = {0};

			REQUIRE_OK(keep_file(files[i], limits[k], &count));
		}
}

/* All groups share the budget. */
TEST(exec_keep_budget)
{
	BfArena *a = test_arena();
	BfKeepBudget *budget = new_budget(a, (size_t) 64 << 20);

	for (int round = 0; round < 2; round++)
	{
		BfKeepCounters count = {0};
		BfParquetCounters counters = {0};
		BfRowFilter what = {.prune = BF_PRUNE_ALL};
		BfKeep *k;
		BfKept *u;
		Seen seen;
		Case c;

		budget->bytes = 0;
		REQUIRE_OK(open_case(a, "parquet_prune/no_index", &c));
		REQUIRE_OK(bf_keep_new(a, budget, &count, &k, &test_err));
		REQUIRE_OK(bf_keep_unit(k, "u", 1, &u, &test_err));
		for (int i = 0; i < 3; i++)
			REQUIRE_OK(read_kept(a, u, &c, &what, &counters, &seen));
		if (round == 0)
			EXPECT_EQ(count.rows_kept, bf_parquet_n_rows(c.file));
		else
			EXPECT(count.rows_kept > 0 && budget->bytes <= budget->bytes_max);
		for (int32_t i = 0, kept = 0; i < u->n_groups; i++)
		{
			kept += u->groups[i].kept;
			EXPECT(round == 0 || kept < u->n_groups);
		}
		budget->bytes_max = budget->bytes / 2;
		for (int32_t i = 0; i < u->n_groups; i++)
			bfi_kept_drop(u, &u->groups[i]);
	}
}

/* The first time nothing is kept, and a reader that stops early pays for what it read only. */
TEST(exec_keep_not_at_once)
{
	BfArena *a = test_arena();
	BfKeepBudget *budget = new_budget(a, (size_t) 64 << 20);
	BfKeepCounters count = {0};
	BfParquetCounters counters = {0};
	BfRowFilter what = {.prune = BF_PRUNE_ALL};
	const BfBatch *b;
	BfReader *r;
	BfKeep *k;
	BfKept *u;
	Seen seen;
	Case c;

	REQUIRE_OK(open_case(a, "parquet_prune/no_index", &c));
	REQUIRE_OK(bf_keep_new(a, budget, &count, &k, &test_err));
	REQUIRE_OK(bf_keep_unit(k, "u", 1, &u, &test_err));
	REQUIRE_OK(read_kept(a, u, &c, &what, &counters, &seen));
	EXPECT_EQ(count.rows_kept, 0);
	REQUIRE_OK(bf_keep_row_groups(a, u, c.file, &c.projection, NULL, 0,
								  bf_parquet_n_row_groups(c.file), &what, &counters, &r,
								  &test_err));
	REQUIRE_OK(r->next(r, &b, &test_err));
	EXPECT_EQ(count.rows_kept, bf_parquet_row_group_rows(c.file, 0));
	REQUIRE_OK(read_kept(a, u, &c, &what, &counters, &seen));
	EXPECT_EQ(count.rows_kept, seen.rows);
	/* All of it is there now: the file is not read any more. */
	counters = (BfParquetCounters){0};
	REQUIRE_OK(read_kept(a, u, &c, &what, &counters, &seen));
	EXPECT_EQ(counters.row_groups_read, 0);
	EXPECT_EQ(seen.rows, bf_parquet_n_rows(c.file));
}

/* Batches are passed over by their bounds. */
TEST(exec_keep_bounds)
{
	BfArena *a = test_arena();
	BfKeepBudget *budget = new_budget(a, (size_t) 64 << 20);
	BfKeepCounters count = {0};
	BfParquetCounters counters = {0};
	BfValue v = {.type = BF_TYPE(INT64), .v.i64 = 2000};
	BfPred pred = {.kind = BF_PRED_EQ, .field = 0, .n_values = 1, .values = &v};
	BfRowFilter what = {.pred = &pred, .prune = BF_PRUNE_LATE | BF_PRUNE_PAGE};
	BfKeep *k;
	BfKept *u;
	Seen seen;
	Case c;

	REQUIRE_OK(open_case(a, "parquet_prune/no_index", &c));
	REQUIRE_OK(bf_keep_new(a, budget, &count, &k, &test_err));
	REQUIRE_OK(bf_keep_unit(k, "u", 1, &u, &test_err));
	for (int i = 0; i < 40 && count.rows_kept < bf_parquet_n_rows(c.file); i++)
		REQUIRE_OK(read_kept(a, u, &c, &what, &counters, &seen));
	count = (BfKeepCounters){0};
	REQUIRE_OK(read_kept(a, u, &c, &what, &counters, &seen));
	EXPECT_EQ(count.rows_read, 300);
	EXPECT_EQ(count.rows_skipped, bf_parquet_n_rows(c.file) - 300);
	what.prune = BF_PRUNE_LATE;
	count = (BfKeepCounters){0};
	REQUIRE_OK(read_kept(a, u, &c, &what, &counters, &seen));
	EXPECT_EQ(count.rows_skipped, 0);
}

/* ---- readers of whole batches ---- */

#define RAMP_BATCHES 100
#define RAMP_ROWS 10

/* Ascending numbers, in batches of a few. */
typedef struct Ramp
{
	BfReader base;
	BfBatch *batch;
	int32_t at;
} Ramp;

static BfStatus
ramp_next(BfReader *base, const BfBatch **out, BfError *err)
{
	Ramp *r = (Ramp *) base;

	(void) err;
	*out = NULL;
	if (r->at == RAMP_BATCHES)
		return BF_OK;
	for (int32_t i = 0; i < RAMP_ROWS; i++)
		r->batch->cols[0].data.i64[i] = r->at * RAMP_ROWS + i;
	r->batch->cols[0].n = r->batch->n_rows = RAMP_ROWS;
	r->batch->first_row = r->at++ * RAMP_ROWS;
	*out = r->batch;
	return BF_OK;
}

static const char *
ramp_name(const BfReader *base)
{
	(void) base;
	return "ramp";
}

static BfStatus
read_ramp(BfArena *a, BfKept *u, const BfProjection *p, const BfRowFilter *what, Seen *out)
{
	Ramp ramp = {.base = {.next = ramp_next, .name = ramp_name}};
	BfFilter *f;
	BfReader *r;

	BF_TRY(bf_batch_new(a, p->schema->fields, 1, &ramp.batch, &test_err));
	BF_TRY(bf_filter_new(a, p, what, &f, &test_err));
	if (bf_kept_whole(u, f))
		BF_TRY(bf_keep_again(a, u, f, "ramp", &r, &test_err));
	else
		BF_TRY(bf_keep_reader(a, u, f, RAMP_BATCHES * RAMP_ROWS, &ramp.base, &r, &test_err));
	return read_all(a, r, out);
}

/* Of many batches only the one that has the number is looked at. */
TEST(exec_keep_spans)
{
	static BfField field = {.name = "n", .type = {.kind = BF_KIND_INT64}};
	static const BfSchema schema = {.n_fields = 1, .fields = &field};
	static const int32_t fields[] = {0};
	const BfProjection p = {.schema = &schema, .fields = fields, .n_fields = 1};
	BfArena *a = test_arena();
	BfKeepBudget *budget = new_budget(a, (size_t) 64 << 20);
	BfKeepCounters count = {0};
	BfValue v = {.type = BF_TYPE(INT64)};
	BfPred pred = {.kind = BF_PRED_IN, .field = 0, .n_values = 1, .values = &v};
	BfRowFilter what = {.prune = BF_PRUNE_ALL};
	BfKeep *k;
	BfKept *u;
	Seen seen;

	REQUIRE_OK(bf_keep_new(a, budget, &count, &k, &test_err));
	REQUIRE_OK(bf_keep_unit(k, "u", 1, &u, &test_err));
	for (int i = 0; i < 2; i++)
		REQUIRE_OK(read_ramp(a, u, &p, &what, &seen));
	EXPECT_EQ(count.rows_kept, RAMP_BATCHES * RAMP_ROWS);
	what.pred = &pred;
	for (v.v.i64 = -1; v.v.i64 <= RAMP_BATCHES * RAMP_ROWS; v.v.i64++)
	{
		int64_t in = v.v.i64 >= 0 && v.v.i64 < RAMP_BATCHES * RAMP_ROWS;

		count = (BfKeepCounters){0};
		REQUIRE_OK(read_ramp(a, u, &p, &what, &seen));
		EXPECT_EQ(seen.rows, in);
		EXPECT_EQ(count.rows_read, in * RAMP_ROWS);
		EXPECT_EQ(count.rows_skipped, (RAMP_BATCHES - in) * RAMP_ROWS);
	}
}

/* ---- looking rows up ---- */

/* What the predicate asks for of a random row, in one column or two; sometimes nothing has it. */
static const BfPred *
values_of_some_row(BfArena *a, const Case *c, const int32_t *fields, int32_t n)
{
	int64_t row = (int64_t) test_random_below((uint64_t) bf_parquet_n_rows(c->file));
	BfPred *all = bf_arena_alloc(a, sizeof *all);
	BfReader *r;
	const BfBatch *b;

	*all = (BfPred){.kind = BF_PRED_AND, .field = -1, .n_children = n};
	all->children = bf_arena_alloc(a, (size_t) n * sizeof *all->children);
	if (bf_exec_parquet_reader_over(a, c->file, &c->projection, NULL, 0, -1, NULL, &r, &test_err) !=
		BF_OK)
		return NULL;
	do
		if (r->next(r, &b, &test_err) != BF_OK || b == NULL)
			return NULL;
	while (row >= b->first_row + b->n_rows);
	for (int32_t i = 0; i < n; i++)
	{
		BfPred *p = bf_arena_alloc(a, sizeof *p);
		BfValue *v = bf_arena_alloc(a, sizeof *v);

		*p = (BfPred){.kind = BF_PRED_EQ, .field = fields[i], .n_values = 1, .values = v};
		if (!bf_vector_get(&b->cols[fields[i]], (int32_t) (row - b->first_row), v))
			*v = (BfValue){.type = c->projection.schema->fields[fields[i]].type, .is_null = true};
		else if (bf_type_storage(v->type) == BF_STORE_VIEW && v->v.view.len > 0)
		{
			void *copy = bf_arena_alloc(a, v->v.view.len);

			memcpy(copy, v->v.view.ptr, v->v.view.len);
			v->v.view.ptr = copy;
		}
		if (i > 0 && test_random_below(4) == 0)
			p->kind = BF_PRED_NOT_NULL;
		all->children[i] = p;
	}
	return all;
}

/* Have all groups an index for such a predicate? */
static bool
all_indexed(const BfKept *u, const BfPred *p)
{
	for (int32_t i = 0; i < u->n_groups; i++)
		if (u->groups[i].index == NULL || u->groups[i].index->n != p->n_children)
			return false;
	for (int32_t i = 0; i < p->n_children; i++)
		if (p->children[i]->kind != BF_PRED_EQ || p->children[i]->values[0].is_null)
			return false;
	return u->n_groups > 0;
}

/* Reads of one or two columns' values; *looked: rows without them that were looked at although
 * there was an index. */
static BfStatus
look_up(Case *c, BfKept *u, const int32_t *fields, int32_t n, BfKeepCounters *count,
		int64_t *looked)
{
	BfParquetCounters counters = {0};

	*looked = 0;
	for (int i = 0; i < 25; i++)
	{
		BfArena *a = bf_arena_new(test_host(), "round", (size_t) 1 << 28);
		BfRowFilter what = {.prune = BF_PRUNE_LATE | BF_PRUNE_PAGE};
		int64_t before = count->rows_read;
		BfStatus st = BF_ERR_HOST;
		bool indexed = false;
		Seen kept;
		Seen plain;

		what.pred = values_of_some_row(a, c, fields, n);
		if (what.pred != NULL)
			st = read_kept(a, u, c, &what, &counters, &kept);
		if (st == BF_OK)
			st = read_plain(a, c, &what, &plain);
		if (st == BF_OK)
			indexed = all_indexed(u, what.pred);
		bf_arena_free(a);
		BF_TRY(st);
		EXPECT_EQ(kept.rows, plain.rows);
		EXPECT(kept.sum == plain.sum);
		if (indexed)
			*looked += count->rows_read - before - kept.rows;
	}
	return BF_OK;
}

/* Rows are found by numbers, text, in dictionaries, by two columns, whatever else is asked of
 * them; no more of them are looked at than have the values. */
TEST(exec_keep_index)
{
	for (size_t k = 0; k < 2; k++)
	{
		int made = 0;
		Case c;

		REQUIRE_OK(open_case(test_arena(), files[k], &c));
		for (int32_t i = 0; i < c.projection.n_fields; i++)
			for (int32_t n = 1; n <= (i % 4 == 0 ? 2 : 1); n++)
			{
				BfArena *a = bf_arena_new(test_host(), "keep", (size_t) 1 << 28);
				BfKeepBudget budget = {.bytes_max = (size_t) 64 << 20};
				BfKeepCounters count = {0};
				int32_t fields[] = {i, (i + 1) % c.projection.n_fields};
				int64_t looked;
				BfKeep *k2;
				BfKept *u;

				REQUIRE_OK(bf_keep_new(a, &budget, &count, &k2, &test_err));
				REQUIRE_OK(bf_keep_unit(k2, "u", 1, &u, &test_err));
				REQUIRE_OK(look_up(&c, u, fields, n, &count, &looked));
				made += u->n_groups > 0 && u->groups[0].index != NULL;
				EXPECT_EQ(looked, 0);
				bf_arena_free(a);
				EXPECT_EQ(budget.bytes, 0);
			}
		EXPECT(made > 0);
	}
}

/* Nested values, dictionaries and constants as they are. */
TEST(exec_keep_nested)
{
	static const char *const nested[] = {"parquet_nested/v1_dict", "parquet_nested/v2_delta",
										 "parquet_nested/v1_plain"};

	for (size_t i = 0; i < sizeof nested / sizeof nested[0]; i++)
	{
		BfArena *a = bf_arena_new(test_host(), "keep", (size_t) 1 << 28);
		BfKeepBudget *budget = new_budget(a, (size_t) 64 << 20);
		BfKeepCounters count = {0};
		BfParquetCounters counters = {0};
		BfRowFilter what = {.prune = BF_PRUNE_ALL};
		BfKeep *k;
		BfKept *u;
		Seen first;
		Seen again;
		Case c;

		REQUIRE_OK(open_case(a, nested[i], &c));
		REQUIRE_OK(bf_keep_new(a, budget, &count, &k, &test_err));
		REQUIRE_OK(bf_keep_unit(k, "u", 1, &u, &test_err));
		REQUIRE_OK(read_kept(a, u, &c, &what, &counters, &first));
		for (int round = 0; round < 3; round++)
		{
			REQUIRE_OK(read_kept(a, u, &c, &what, &counters, &again));
			EXPECT_EQ(again.rows, first.rows);
			EXPECT(again.sum == first.sum);
		}
		EXPECT_EQ(count.rows_kept, first.rows);
		/* Their row groups are several batches. */
		REQUIRE_OK(many_reads(&c, u, &counters, 8));
		EXPECT(count.rows_skipped > 0);
		bf_arena_free(a);
	}
}

/* Whatever fails, nothing leaks; memory that ends while rows are kept is no failure. */
static BfStatus
fallible_reads(const BfHost *host)
{
	BfArena *a = bf_arena_new(host, "keep", (size_t) 1 << 28);
	BfKeepBudget budget = {.bytes_max = (size_t) 64 << 20};
	BfKeepCounters count = {0};
	BfParquetCounters counters = {0};
	BfRowFilter what = {.prune = BF_PRUNE_ALL};
	BfKeep *k;
	BfKept *u;
	Seen seen;
	Case c;
	BfStatus st;

	if (a == NULL)
		return BF_ERR_NOMEM;
	st = open_case(a, "parquet_prune/no_index", &c);
	if (st == BF_OK)
		st = bf_keep_new(a, &budget, &count, &k, &test_err);
	if (st == BF_OK)
		st = bf_keep_unit(k, "u", 1, &u, &test_err);
	for (int i = 0; i < 3 && st == BF_OK; i++)
	{
		what.pred = some_rows(a, c.projection.schema);
		if (what.pred == NULL)
			st = BF_ERR_NOMEM;
		else
			st = read_kept(a, u, &c, &what, &counters, &seen);
	}
	bf_arena_free(a);
	EXPECT_EQ(budget.bytes, 0);
	return st;
}

TEST(exec_keep_faults)
{
	test_every_fault(fallible_reads, true);
}
