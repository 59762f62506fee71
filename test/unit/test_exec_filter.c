/*
 * exec/filter: the rows that count, over a reader of a table in memory.
 *
 * The table is the random batch of the predicates' model, cut into batches of any length; deletes
 * are random rows and keys of it. What comes out must be what the model says row by row.
 */
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"

#include "exec/filter/filter.h"
#include "unit/test_vec_pred_model.h"

/* Row 0 of the table is this row of its file. */
#define FIRST_ROW 70000
#define FILE_SEQUENCE 5
#define KEY_ROWS_MAX 40

/* ---- a reader of slices ---- */

typedef struct Slices
{
	BfReader base;
	BfArena *a;
	const BfVector *columns; /* of the whole table, by field */
	const BfProjection *projection;
	int32_t n_rows;
	int32_t batch_rows;		  /* the most that a batch has */
	const uint64_t *selected; /* of the whole table; NULL: all rows */
	int32_t fail_at;		  /* a row: its batch can't be read; -1: none */
	int32_t row;
	BfBatch batch;
} Slices;

static const uint64_t *
slice_bits(BfArena *a, const uint64_t *bits, int32_t from, int32_t n)
{
	uint64_t *out = bf_arena_alloc_array(a, BF_VALIDITY_WORDS, sizeof *out);

	if (out == NULL)
		return NULL;
	memset(out, 0, BF_VALIDITY_WORDS * sizeof *out);
	for (int32_t i = 0; i < n; i++)
		bf_validity_set(out, i, bf_valid(bits, from + i));
	return out;
}

static BfVector
slice(BfArena *a, const BfVector *v, int32_t from, int32_t n)
{
	BfVector out = *v;

	out.n = n;
	if (v->form == BF_VEC_CONST)
		return out;
	if (v->form == BF_VEC_DICT)
		out.codes += from;
	else
		out.data.u8 += (size_t) from * bf_storage_size(v->storage);
	if (v->validity != NULL)
		out.validity = (uint64_t *) (uintptr_t) slice_bits(a, v->validity, from, n);
	return out;
}

static BfStatus
slices_next(BfReader *base, const BfBatch **out, BfError *err)
{
	Slices *s = (Slices *) base;
	const BfProjection *p = s->projection;
	int32_t n = s->n_rows - s->row < s->batch_rows ? s->n_rows - s->row : s->batch_rows;

	*out = NULL;
	if (n == 0)
		return BF_OK;
	if (s->fail_at >= s->row && s->fail_at < s->row + n)
		return bf_error(err, BF_ERR_IO, "no more of it");
	BF_NEW(s->a, s->batch.cols, p->n_fields, err);
	for (int32_t i = 0; i < p->n_fields; i++)
	{
		int32_t id = p->schema->fields[p->fields[i]].id;

		s->batch.cols[i] = slice(s->a, &s->columns[id - 1], s->row, n);
	}
	s->batch.n_cols = p->n_fields;
	s->batch.n_rows = n;
	s->batch.first_row = FIRST_ROW + s->row;
	s->batch.selected = NULL;
	if (s->selected != NULL)
	{
		BF_TRY_PTR(s->a, s->batch.selected, slice_bits(s->a, s->selected, s->row, n), err);
		s->batch.n_selected = bf_validity_count(s->batch.selected, n);
	}
	s->row += n;
	*out = &s->batch;
	return BF_OK;
}

static const char *
slices_name(const BfReader *base)
{
	(void) base;
	return "slices";
}

/* ---- what is tried ---- */

typedef struct Case
{
	PredModel model;
	BfField fields[PRED_COLUMNS];
	BfSchema schema;
	BfProjection projection;
	int32_t numbers[PRED_COLUMNS];
	uint64_t selected[BF_VALIDITY_WORDS]; /* by the reader below */
	bool all_selected;
	int32_t batch_rows;
	int32_t fail_at;
	bool reading; /* on_host got as far as that */
	BfRowFilter what;
	BfFilterCounters counters;
	/* What is deleted, for the model. */
	bool row_deleted[BF_BATCH_ROWS];
	int32_t n_key_columns;
	int32_t key_columns[2];
	int32_t n_key_rows;
	int32_t key_rows[KEY_ROWS_MAX]; /* of the table */
	/* What comes out. */
	bool found[BF_BATCH_ROWS];
	int32_t n_found;
} Case;

static uint64_t
below(PredModel *m, uint64_t n)
{
	(void) m;
	return test_random_below(n);
}

static bool
same_value(const BfValue *a, const BfValue *b)
{
	BfStorage s = bf_type_storage(a->type);

	if (a->is_null || b->is_null)
		return a->is_null && b->is_null;
	if (s == BF_STORE_F32 || s == BF_STORE_F64)
	{
		bool nan_a = s == BF_STORE_F32 ? isnan(a->v.f32) : isnan(a->v.f64);
		bool nan_b = s == BF_STORE_F32 ? isnan(b->v.f32) : isnan(b->v.f64);

		if (nan_a || nan_b)
			return nan_a && nan_b;
		/* 0 and -0 are two keys. */
		return memcmp(&a->v, &b->v, bf_storage_size(s)) == 0;
	}
	return bf_value_compare(a, b) == 0;
}

static bool
key_deleted(const Case *c, int32_t row)
{
	for (int32_t k = 0; k < c->n_key_rows; k++)
	{
		bool same = true;

		for (int32_t i = 0; i < c->n_key_columns; i++)
		{
			const BfVector *v = &c->model.columns[c->key_columns[i]];
			BfValue x, key;

			(void) bf_vector_get(v, row, &x);
			(void) bf_vector_get(v, c->key_rows[k], &key);
			same = same && same_value(&x, &key);
		}
		if (same)
			return true;
	}
	return false;
}

static void
make_table(BfArena *a, Case *c, int32_t n_rows)
{
	memset(c, 0, sizeof *c);
	c->model = (PredModel){.below = below, .a = a};
	pred_batch(&c->model, n_rows);
	for (int32_t i = 0; i < PRED_COLUMNS; i++)
	{
		c->model.absent[i] = false;
		c->fields[i] = (BfField){.id = i + 1, .name = "c", .type = c->model.columns[i].type};
	}
	c->schema = (BfSchema){.n_fields = PRED_COLUMNS, .fields = c->fields};
	c->projection = (BfProjection){.schema = &c->schema, .fields = c->numbers};
	c->batch_rows = n_rows > 0 ? n_rows : 1;
	c->fail_at = -1;
	c->all_selected = true;
	c->what.prune = BF_PRUNE_LATE;
	c->what.counters = &c->counters;
}

/* Some of the table's own rows, and rows that it does not have. */
static BfStatus
delete_rows(BfArena *a, Case *c, BfDeletes *d)
{
	BfRows *rows;

	BF_NEW(a, rows, 1, &test_err);
	bf_rows_init(rows, a);
	for (int32_t i = 0; i < c->model.n_rows; i++)
		if (test_random_below(4) == 0)
		{
			c->row_deleted[i] = true;
			BF_TRY(bf_rows_add(rows, (uint64_t) (FIRST_ROW + i), &test_err));
		}
	BF_TRY(bf_rows_add(rows, FIRST_ROW - 1, &test_err));
	BF_TRY(bf_rows_add(rows, (uint64_t) (FIRST_ROW + c->model.n_rows), &test_err));
	return bf_deletes_add_rows(a, d, rows, &test_err);
}

/* Keys of one or two columns, taken from some rows. Half of them are no newer than the file. */
static BfStatus
delete_keys(BfArena *a, Case *c, BfDeletes *d)
{
	int32_t first = (int32_t) test_random_below(PRED_COLUMNS);
	BfVector cols[2];
	BfField *fields;
	BfKeySet *keys;

	c->key_columns[c->n_key_columns++] = first;
	if (first + 1 < PRED_COLUMNS && test_random_below(2) == 0)
		c->key_columns[c->n_key_columns++] = first + 1;
	BF_NEW(a, fields, c->n_key_columns, &test_err);
	for (int32_t i = 0; i < c->n_key_columns; i++)
		fields[i] = c->fields[c->key_columns[i]];
	BF_TRY(bf_key_set_new(a, fields, c->n_key_columns, 17, 1 << 20, &keys, &test_err));
	for (int32_t k = (int32_t) test_random_below(KEY_ROWS_MAX); k > 0; k--)
	{
		int32_t row = (int32_t) test_random_below((uint64_t) c->model.n_rows);
		bool newer = test_random_below(2) == 0;
		BfBatch b = {.n_rows = 1, .n_cols = c->n_key_columns, .cols = cols};

		for (int32_t i = 0; i < c->n_key_columns; i++)
			cols[i] = slice(a, &c->model.columns[c->key_columns[i]], row, 1);
		if (newer)
			c->key_rows[c->n_key_rows++] = row;
		BF_TRY(bf_key_set_add(keys, &b, newer ? FILE_SEQUENCE + 1 : FILE_SEQUENCE, &test_err));
	}
	return bf_deletes_add_keys(a, d, keys, &test_err);
}

static void
choose(BfArena *a, Case *c)
{
	BfDeletes *d;

	c->batch_rows = 1 + (int32_t) test_random_below((uint64_t) c->model.n_rows);
	for (int32_t i = 0; i < PRED_COLUMNS; i++)
		if (test_random_below(2) == 0)
			c->numbers[c->projection.n_fields++] = i;
	if (test_random_below(4) == 0)
	{
		c->all_selected = false;
		for (int32_t i = 0; i < c->model.n_rows; i++)
			bf_validity_set(c->selected, i, test_random_below(3) != 0);
	}
	if (test_random_below(6) != 0)
		c->what.pred = pred_tree(&c->model, 3);
	if (test_random_below(6) == 0)
		c->what.prune = 0;
	REQUIRE_OK(bf_deletes_new(a, FILE_SEQUENCE, &d, &test_err));
	if (test_random_below(2) == 0)
		REQUIRE_OK(delete_rows(a, c, d));
	if (c->model.n_rows > 0 && test_random_below(2) == 0)
		REQUIRE_OK(delete_keys(a, c, d));
	if (bf_deletes_any(d))
		c->what.deletes = d;
}

/* ---- reading ---- */

static void
take_batch(Case *c, const BfBatch *b)
{
	int32_t n = 0;

	EXPECT_EQ(b->n_cols, c->projection.n_fields);
	EXPECT(bf_batch_n(b) > 0 && bf_batch_n(b) <= b->n_rows);
	EXPECT(b->selected == NULL || bf_batch_n(b) < b->n_rows);
	if (b->selected != NULL)
		EXPECT_EQ(bf_validity_count(b->selected, BF_BATCH_ROWS), b->n_selected);
	for (int32_t row = bf_batch_next(b, 0); row >= 0; row = bf_batch_next(b, row + 1), n++)
	{
		int64_t at = b->first_row + row - FIRST_ROW;

		EXPECT(at >= 0 && at < c->model.n_rows && !c->found[at]);
		c->found[at] = true;
		for (int32_t i = 0; i < b->n_cols; i++)
		{
			BfValue got, want;

			(void) bf_vector_get(&b->cols[i], row, &got);
			(void) bf_vector_get(&c->model.columns[c->numbers[i]], (int32_t) at, &want);
			EXPECT(same_value(&got, &want));
		}
	}
	EXPECT_EQ(n, bf_batch_n(b));
	c->n_found += n;
}

static BfStatus
read_all(BfArena *a, Case *c, BfError *err)
{
	Slices s = {.base = {slices_next, slices_name},
				.a = a,
				.columns = c->model.columns,
				.n_rows = c->model.n_rows,
				.batch_rows = c->batch_rows,
				.selected = c->all_selected ? NULL : c->selected,
				.fail_at = c->fail_at};
	BfFilter *f;
	BfReader *r;

	BF_TRY(bf_filter_new(a, &c->projection, &c->what, &f, err));
	s.projection = bf_filter_projection(f);
	BF_TRY(bf_filter_reader(a, f, &s.base, &r, err));
	EXPECT_STR(r->name(r), "slices");
	for (;;)
	{
		const BfBatch *b;

		BF_TRY(r->next(r, &b, err));
		if (b == NULL)
			return BF_OK;
		if (bf_filter_any(f) || c->all_selected)
			take_batch(c, b);
	}
}

static void
check(const Case *c)
{
	bool late = (c->what.prune & BF_PRUNE_LATE) != 0;
	BfFilterCounters want = {0};

	for (int32_t i = 0; i < c->model.n_rows; i++)
	{
		bool counts = c->all_selected || bf_valid(c->selected, i);

		if (counts && late && c->what.pred != NULL &&
			!pred_matches(&c->model, c->what.pred, i, false))
		{
			counts = false;
			want.rows_filtered++;
		}
		if (counts && (c->row_deleted[i] || key_deleted(c, i)))
		{
			counts = false;
			want.rows_deleted++;
		}
		EXPECT_EQ(c->found[i], counts);
	}
	EXPECT_EQ(c->counters.rows_filtered, want.rows_filtered);
	EXPECT_EQ(c->counters.rows_deleted, want.rows_deleted);
}

TEST(exec_filter_is_the_full_stream_filtered)
{
	static const int32_t lengths[] = {1, 2, 63, 64, 65, 127, 128, 129, 500};

	for (int round = 0; round < 600 && !test_failed(); round++)
	{
		BfArena *a = bf_arena_new(test_host(), "one filter", (size_t) 256 << 20);
		static Case c;

		make_table(a, &c, lengths[round % 9]);
		choose(a, &c);
		if (!c.all_selected && c.what.deletes == NULL &&
			(c.what.pred == NULL || (c.what.prune & BF_PRUNE_LATE) == 0))
			c.all_selected = true; /* nothing to filter: the reader below is what one reads */
		EXPECT_EQ(read_all(a, &c, &test_err), BF_OK);
		check(&c);
		bf_arena_free(a);
	}
}

/* ---- one column, every number of rows around words ---- */

/* Rows 0, 1, 2 ... of one column, and a predicate over it. */
static void
make_numbers(BfArena *a, Case *c, int32_t n, BfPred *pred)
{
	BfVector *v;

	make_table(a, c, n);
	v = &c->model.columns[0];
	memset(v, 0, sizeof *v);
	v->type = c->fields[0].type = BF_TYPE(INT32);
	v->storage = BF_STORE_I32;
	v->n = n;
	v->data.raw = pred_alloc(&c->model, (size_t) n * sizeof *v->data.i32);
	for (int32_t i = 0; i < n; i++)
		v->data.i32[i] = i;
	c->projection.n_fields = 1;
	c->what.pred = pred;
}

TEST(exec_filter_at_the_edges_of_words)
{
	static const int32_t lengths[] = {1, 63, 64, 65, 127, 128, 129, 4032, 4095, 4096};

	for (size_t k = 0; k < sizeof lengths / sizeof *lengths && !test_failed(); k++)
		for (int32_t cut = 0; cut <= lengths[k]; cut += lengths[k] > 200 ? 31 : 1)
			for (int kind = 0; kind < 3; kind++)
			{
				BfArena *a = bf_arena_new(test_host(), "one filter", (size_t) 64 << 20);
				BfValue v = {.type = BF_TYPE(INT32), .v.i32 = cut};
				BfPred pred = {.kind = kind == 0   ? BF_PRED_LT
									   : kind == 1 ? BF_PRED_GE
												   : BF_PRED_EQ,
							   .n_values = 1,
							   .values = &v};
				static Case c;

				make_numbers(a, &c, lengths[k], &pred);
				EXPECT_EQ(read_all(a, &c, &test_err), BF_OK);
				check(&c);
				bf_arena_free(a);
			}
}

/* ---- columns ---- */

TEST(exec_filter_reads_what_decides_behind_what_is_asked_for)
{
	BfArena *a = test_arena();
	BfValue one = {.type = BF_TYPE(INT32), .v.i32 = 1};
	BfPred leaf = {.kind = BF_PRED_EQ, .field = 1, .n_values = 1, .values = &one};
	BfField fields[] = {{.id = 11, .name = "a", .type = BF_TYPE(STRING)},
						{.id = 12, .name = "b", .type = BF_TYPE(INT32)},
						{.id = 13, .name = "c", .type = BF_TYPE(INT64)}};
	BfSchema schema = {.schema_id = 3, .n_fields = 3, .fields = fields};
	int32_t asked[] = {2, 0};
	BfProjection p = {.schema = &schema, .fields = asked, .n_fields = 2, .want_entry = true};
	/* The key: a column that is asked for, one as it was earlier, and one that was dropped. */
	BfField keys[] = {{.id = 9, .name = "gone", .type = BF_TYPE(DATE)},
					  {.id = 11, .name = "a", .type = BF_TYPE(STRING)},
					  {.id = 13, .name = "c", .type = BF_TYPE(INT32)}};
	BfVector nulls[3];
	BfBatch no_keys = {.n_rows = 1, .n_cols = 3, .cols = nulls};
	BfRowFilter what = {.pred = &leaf, .prune = BF_PRUNE_ALL};
	const BfProjection *read;
	BfKeySet *set;
	BfFilter *f;

	for (int i = 0; i < 3; i++)
		bf_vector_set_null(&nulls[i], keys[i].type, 1);
	REQUIRE_OK(bf_key_set_new(a, keys, 3, 1, 1 << 20, &set, &test_err));
	REQUIRE_OK(bf_deletes_new(a, 1, &what.deletes, &test_err));
	REQUIRE_OK(bf_deletes_add_keys(a, what.deletes, set, &test_err));
	EXPECT(!bf_deletes_any(what.deletes)); /* without a key it deletes nothing */
	REQUIRE_OK(bf_key_set_add(set, &no_keys, 2, &test_err));
	REQUIRE_OK(bf_deletes_add_keys(a, what.deletes, set, &test_err));
	REQUIRE_OK(bf_deletes_add_keys(a, what.deletes, set, &test_err));
	REQUIRE_OK(bf_filter_new(a, &p, &what, &f, &test_err));
	read = bf_filter_projection(f);
	EXPECT(read->want_entry && read->schema->schema_id == 3);
	REQUIRE(read->n_fields == 5);
	EXPECT(read->fields[0] == 2 && read->fields[1] == 0 && read->fields[2] == 1);
	EXPECT_EQ(read->schema->fields[read->fields[3]].id, 9);
	EXPECT_EQ(read->schema->fields[read->fields[4]].type.kind, BF_KIND_INT32);
	EXPECT(!bf_filter_decides(f, 0) && bf_filter_decides(f, 1) && bf_filter_decides(f, 2));
	EXPECT(bf_filter_decides(f, 3) && bf_filter_decides(f, 4));

	/* Without asking rows, the predicate needs no column; without anything, nothing does. */
	what.prune &= ~(uint32_t) BF_PRUNE_LATE;
	what.deletes = NULL;
	REQUIRE_OK(bf_filter_new(a, &p, &what, &f, &test_err));
	EXPECT(!bf_filter_any(f) && bf_filter_projection(f)->n_fields == 2);
	REQUIRE_OK(bf_filter_new(a, &p, NULL, &f, &test_err));
	EXPECT(!bf_filter_any(f) && bf_filter_projection(f)->n_fields == 2);
}

/* ---- what goes wrong ---- */

TEST(exec_filter_passes_on_what_the_reader_says)
{
	BfArena *a = test_arena();
	BfValue v = {.type = BF_TYPE(INT32), .v.i32 = 90};
	BfPred none = {.kind = BF_PRED_GT, .n_values = 1, .values = &v};
	static Case c;

	/* Batches without a row that counts are passed over, an error behind them is not. */
	make_numbers(a, &c, 100, &none);
	c.batch_rows = 10;
	c.fail_at = 95;
	EXPECT_FAIL(read_all(a, &c, &test_err), BF_ERR_IO, -1);
	EXPECT_EQ(c.n_found, 0);
	EXPECT_EQ(c.counters.rows_filtered, 90);
	v.v.i32 = 20;
	make_numbers(a, &c, 100, &none);
	c.batch_rows = 10;
	c.fail_at = 50;
	EXPECT_FAIL(read_all(a, &c, &test_err), BF_ERR_IO, -1);
	EXPECT_EQ(c.n_found, 29);
}

/* The table stays; filter and reader are made anew on the host. */
static BfStatus
on_host(const BfHost *host, Case *c)
{
	BfArena *a = bf_arena_new(host, "faults", (size_t) 64 << 20);
	BfRowFilter what = c->what;
	BfStatus status;

	memset(c->found, 0, sizeof c->found);
	c->n_found = 0;
	c->reading = false;
	c->n_key_columns = c->n_key_rows = 0;
	memset(c->row_deleted, 0, sizeof c->row_deleted);
	if (a == NULL)
		return BF_ERR_NOMEM;
	status = bf_deletes_new(a, FILE_SEQUENCE, &c->what.deletes, &test_err);
	if (status == BF_OK)
		status = delete_rows(a, c, c->what.deletes);
	if (status == BF_OK)
		status = delete_keys(a, c, c->what.deletes);
	c->reading = status == BF_OK;
	if (c->reading)
		status = read_all(a, c, &test_err);
	c->what = what;
	bf_arena_free(a);
	return status;
}

TEST(exec_filter_faults)
{
	static const struct
	{
		TestFault fault;
		BfStatus want;
	} faults[] = {{TEST_FAULT_ALLOC, BF_ERR_NOMEM}, {TEST_FAULT_CANCEL, BF_ERR_CANCEL}};
	static Case c;
	BfValue v = {.type = BF_TYPE(INT32), .v.i32 = 100};
	BfPred pred = {.kind = BF_PRED_GE, .n_values = 1, .values = &v};

	make_numbers(test_arena(), &c, 300, &pred);
	c.batch_rows = 100;
	for (size_t k = 0; k < sizeof faults / sizeof *faults; k++)
		for (int64_t n = 1;; n++)
		{
			TestHost h;
			BfStatus status;
			bool fired;

			test_host_init(&h);
			test_fault_arm(&h, faults[k].fault, n, false);
			status = on_host(&h.host, &c);
			fired = test_fault_fired(&h);
			EXPECT_EQ(h.live_allocs, 0);
			EXPECT_EQ(status, fired ? faults[k].want : BF_OK);
			if (fired && faults[k].fault == TEST_FAULT_CANCEL && c.reading)
				EXPECT_STR(test_err.object, "slices");
			if (!fired || test_failed())
				break;
			bf_error_clear(&test_err);
		}
}
