/*
 * exec/read/parquet_reader: resolution of columns, promotion, constants, work units.
 */
#include "exec/read/parquet_reader.h"
#include "unit/lib/runner.h"

#define ORDERS_FIELDS 8

/* The demo table of the corpus: shop.orders, 30 files. */
static BfField orders_fields[ORDERS_FIELDS] = {
	{.id = 1, .name = "order_id", .type = {.kind = BF_KIND_INT64}, .required = true},
	{.id = 2, .name = "ordered_at", .type = {.kind = BF_KIND_TIMESTAMPTZ}},
	{.id = 3, .name = "customer_id", .type = {.kind = BF_KIND_INT64}},
	{.id = 4, .name = "country", .type = {.kind = BF_KIND_STRING}},
	{.id = 5, .name = "status", .type = {.kind = BF_KIND_STRING}},
	{.id = 6, .name = "amount", .type = {.kind = BF_KIND_DECIMAL, .precision = 12, .scale = 2}},
	{.id = 7, .name = "items", .type = {.kind = BF_KIND_INT32}},
	{.id = 8, .name = "note", .type = {.kind = BF_KIND_STRING}},
};
static const BfSchema orders_schema = {.n_fields = ORDERS_FIELDS, .fields = orders_fields};

typedef struct Totals
{
	int64_t rows;
	int64_t non_null[ORDERS_FIELDS];
	int64_t sum[ORDERS_FIELDS];
	int64_t files;
	const BfProjection *projection;
	BfStatus status;
} Totals;

static void
add_batch(Totals *t, const BfBatch *b)
{
	t->rows += b->n_rows;
	for (int32_t c = 0; c < b->n_cols; c++)
		for (int32_t i = 0; i < b->n_rows; i++)
		{
			BfValue v;

			if (!bf_vector_get(&b->cols[c], i, &v))
				continue;
			t->non_null[c]++;
			if (b->cols[c].storage == BF_STORE_I64)
				t->sum[c] = (int64_t) ((uint64_t) t->sum[c] + (uint64_t) v.v.i64);
			else if (b->cols[c].storage == BF_STORE_I32)
				t->sum[c] += v.v.i32;
			else if (b->cols[c].storage == BF_STORE_VIEW)
				t->sum[c] += v.v.view.len;
		}
}

static BfStatus
read_all(BfReader *r, Totals *t)
{
	for (;;)
	{
		const BfBatch *b;

		BF_TRY(r->next(r, &b, &test_err));
		if (b == NULL)
			return BF_OK;
		add_batch(t, b);
	}
}

static BfStatus
read_file(Totals *t, const char *path)
{
	BfArena *a = bf_arena_new(test_host(), "test", (size_t) 256 << 20);
	BfReader *r;
	BfStatus status =
		bf_exec_parquet_reader(a, path, t->projection, NULL, 0, -1, NULL, NULL, &r, &test_err);

	if (status == BF_OK)
		status = read_all(r, t);
	t->files++;
	bf_arena_free(a);
	return status;
}

typedef struct Walk
{
	Totals *totals;
	const char *dir;
} Walk;

static BfStatus
walk_entry(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	Walk *w = arg;
	char path[1024];
	size_t len = strlen(name);

	snprintf(path, sizeof path, "%s/%s", w->dir, name);
	if (kind == BF_PATH_DIR)
	{
		Walk below = {w->totals, path};

		return test_host()->list(test_host(), path, walk_entry, &below, err);
	}
	if (len > 8 && strcmp(name + len - 8, ".parquet") == 0)
		return read_file(w->totals, path);
	return BF_OK;
}

static bool
read_orders(Totals *t, const BfProjection *p)
{
	char dir[1024];
	Walk w = {t, dir};

	if (test_corpus() == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return false;
	}
	snprintf(dir, sizeof dir, "%s/spark/shop/orders/data", test_corpus());
	t->projection = p;
	t->status = test_host()->list(test_host(), dir, walk_entry, &w, &test_err);
	return true;
}

TEST(exec_parquet_orders)
{
	static const int32_t all[ORDERS_FIELDS] = {0, 1, 2, 3, 4, 5, 6, 7};
	BfProjection p = {.schema = &orders_schema, .fields = all, .n_fields = ORDERS_FIELDS};
	Totals t = {0};

	if (!read_orders(&t, &p))
		return;
	REQUIRE_OK(t.status);
	EXPECT_EQ(t.files, 30);
	EXPECT_EQ(t.rows, 120000);
	EXPECT_EQ(t.sum[0], 7199940000);
	EXPECT_EQ(t.sum[2], 300416359);
	EXPECT_EQ(t.sum[5], 5979707727);
	EXPECT_EQ(t.sum[6], 599855);
	for (int i = 0; i < 7; i++)
		EXPECT_EQ(t.non_null[i], 120000);
	EXPECT_EQ(t.non_null[7], 102657);
}

TEST(exec_parquet_count)
{
	BfProjection p = {.schema = &orders_schema};
	Totals t = {0};

	if (!read_orders(&t, &p))
		return;
	REQUIRE_OK(t.status);
	EXPECT_EQ(t.rows, 120000);
}

/* ---- resolution, on a small file with field ids and one without ---- */

#define WITH_IDS "test/data/parquet_encodings/field_ids.parquet"
#define WITHOUT_IDS "test/data/parquet_encodings/required_v2_snappy.parquet"

/* Reads `n` fields of which all are projected, into `first` the values of the first row. */
static BfStatus
first_row(const char *path, const BfField *fields, int32_t n, const BfConstants *constants,
		  BfValue *first, int64_t *rows)
{
	BfField copy[8];
	BfSchema schema = {.n_fields = n, .fields = copy};
	static const int32_t all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
	BfProjection p = {.schema = &schema, .fields = all, .n_fields = n};
	BfReader *r;
	const BfBatch *b;

	memcpy(copy, fields, (size_t) n * sizeof *fields);
	*rows = 0;
	BF_TRY(bf_exec_parquet_reader(test_arena(), path, &p, constants, 0, -1, NULL, NULL, &r,
								  &test_err));
	EXPECT_STR(r->name(r), path);
	for (;;)
	{
		BF_TRY(r->next(r, &b, &test_err));
		if (b == NULL)
			return BF_OK;
		EXPECT_EQ(b->n_cols, n);
		EXPECT_EQ(b->first_row, *rows);
		for (int32_t c = 0; c < n; c++)
		{
			EXPECT_EQ(b->cols[c].n, b->n_rows);
			EXPECT(bf_type_equal(b->cols[c].type, fields[c].type));
			if (*rows == 0)
				bf_vector_get(&b->cols[c], 0, &first[c]);
		}
		*rows += b->n_rows;
	}
}

TEST(exec_parquet_by_id)
{
	/* Other names than in the file; promoted types; a column that the file lacks. */
	static const BfField fields[] = {
		{.id = 3, .name = "x", .type = {.kind = BF_KIND_DECIMAL, .precision = 30, .scale = 2}},
		{.id = 1, .name = "y", .type = {.kind = BF_KIND_INT64}, .required = true},
		{.id = 4, .name = "z", .type = {.kind = BF_KIND_TIMESTAMPTZ}},
		{.id = 5, .name = "a", .type = {.kind = BF_KIND_TIMESTAMP}},
		{.id = 6, .name = "b", .type = {.kind = BF_KIND_FLOAT64}},
		{.id = 9, .name = "c", .type = {.kind = BF_KIND_STRING}},
		{.id = 4, .name = "n", .type = {.kind = BF_KIND_TIMESTAMPTZ_NS}},
		{.id = 2, .name = "s", .type = {.kind = BF_KIND_STRING}},
	};
	BfValue v[8];
	int64_t rows;

	REQUIRE_OK(first_row(WITH_IDS, fields, 8, NULL, v, &rows));
	EXPECT_EQ(rows, 30);
	EXPECT(!v[0].is_null && v[0].v.i128 == 0);
	EXPECT(!v[1].is_null && v[1].v.i64 == 0);
	EXPECT_EQ(v[2].v.i64, INT64_C(-864000000000000));
	EXPECT_EQ(v[3].v.i64, INT64_C(-86400000000000));
	EXPECT(!v[4].is_null && v[4].v.f64 == 0);
	EXPECT(v[5].is_null);
	EXPECT_EQ(v[6].v.i64, INT64_C(-864000000000000000));
	EXPECT(v[7].is_null);
}

TEST(exec_parquet_by_name)
{
	static const BfField fields[] = {
		{.name = "i32_plain", .type = {.kind = BF_KIND_INT32}},
		{.name = "I64_Delta_Binary_PACKED", .type = {.kind = BF_KIND_INT64}},
		{.name = "not there", .type = {.kind = BF_KIND_INT64}},
	};
	static const BfField odd_case = {.name = "c", .type = {.kind = BF_KIND_INT64}};
	static const BfField required = {
		.name = "nope", .type = {.kind = BF_KIND_INT64}, .required = true};
	BfValue v[3];
	int64_t rows;

	REQUIRE_OK(first_row(WITHOUT_IDS, fields, 3, NULL, v, &rows));
	EXPECT_EQ(rows, 700);
	EXPECT_EQ(v[0].v.i32, -50000);
	EXPECT_EQ(v[1].v.i64, -(INT64_C(1) << 40));
	EXPECT(v[2].is_null);
	EXPECT_FAIL(first_row(WITHOUT_IDS, &required, 1, NULL, v, &rows), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.column, "nope");
	EXPECT_STR(test_err.object, WITHOUT_IDS);
	/* decimal(9,2) is not a bigint. */
	EXPECT_FAIL(first_row(WITH_IDS, &odd_case, 1, NULL, v, &rows), BF_ERR_UNSUPPORTED, -1);
	EXPECT_STR(test_err.column, "c");
}

TEST(exec_parquet_mapping)
{
	static const char *const aliases[] = {"first", "i32_plain"};
	BfField field = {.id = 4, .name = "q", .type = {.kind = BF_KIND_INT32}};
	BfValue v;
	int64_t rows;

	EXPECT_FAIL(first_row(WITHOUT_IDS, &field, 1, NULL, &v, &rows), BF_ERR_UNSUPPORTED, -1);
	field.mapped = true;
	REQUIRE_OK(first_row(WITHOUT_IDS, &field, 1, NULL, &v, &rows));
	EXPECT(v.is_null);
	field.aliases = aliases;
	field.n_aliases = 2;
	REQUIRE_OK(first_row(WITHOUT_IDS, &field, 1, NULL, &v, &rows));
	EXPECT(!v.is_null && v.v.i32 == -50000);
	/* In a file with ids, ids decide. */
	REQUIRE_OK(first_row(WITH_IDS,
						 &(BfField){.id = 99,
									.name = "a",
									.type = {.kind = BF_KIND_INT32},
									.aliases = aliases,
									.n_aliases = 2,
									.mapped = true},
						 1, NULL, &v, &rows));
	EXPECT(v.is_null);
}

/* A table that took over files without ids: by the column's place, counted from 1. */
TEST(exec_parquet_by_position)
{
	BfField field = {.name = "another", .type = {.kind = BF_KIND_INT32}};
	BfField member = {.id = 900, .name = "m", .type = {.kind = BF_KIND_INT32}};
	BfField nested = {.id = 0,
					  .name = "s",
					  .type = {.kind = BF_KIND_STRUCT},
					  .children = &member,
					  .n_children = 1};
	BfParquetCounters counters = {0};
	BfMapping *mapping;
	BfParquetFile *f;
	const BfSchema *file;
	int64_t rows;
	BfReader *r;
	BfValue v;

	REQUIRE_OK(bf_exec_parquet_open(test_arena(), WITHOUT_IDS, NULL, &f, &test_err));
	file = bf_parquet_schema(f);
	field.id = bf_schema_find_name(file, "i32_plain") + 1;
	REQUIRE_OK(first_row(WITHOUT_IDS, &field, 1, NULL, &v, &rows));
	EXPECT(!v.is_null && v.v.i32 == -50000);
	REQUIRE_OK(bf_exec_parquet_reader_over(
		test_arena(), f,
		&(BfProjection){.schema = &(BfSchema){.n_fields = 1, .fields = &field},
						.fields = (const int32_t[]){0},
						.n_fields = 1},
		NULL, 0, 0, &counters, &r, &test_err));
	EXPECT_EQ(counters.files_by_position, 1);
	field.id = file->n_fields + 1;
	REQUIRE_OK(first_row(WITHOUT_IDS, &field, 1, NULL, &v, &rows));
	EXPECT(v.is_null);
	field.required = true;
	EXPECT_FAIL(first_row(WITHOUT_IDS, &field, 1, NULL, &v, &rows), BF_ERR_CORRUPT, -1);
	/* Members have no number. */
	EXPECT_FAIL(bf_mapping_new(test_arena(), &nested, &nested, false, &mapping, &test_err),
				BF_ERR_UNSUPPORTED, -1);
	REQUIRE_OK(bf_mapping_new(test_arena(), &nested, &nested, true, &mapping, &test_err));
}

TEST(exec_parquet_constants)
{
	static const BfField fields[] = {
		{.id = 9, .name = "p", .type = {.kind = BF_KIND_INT64}, .required = true},
		{.id = 1, .name = "a", .type = {.kind = BF_KIND_INT32}},
		{.id = 10, .name = "none", .type = {.kind = BF_KIND_STRING}},
	};
	static const int32_t ids[] = {1, 9, 10};
	/* The partition value is an int: it was written before the column became a long. */
	const BfValue values[] = {
		{.type = BF_TYPE(INT32), .v.i32 = 77},
		{.type = BF_TYPE(INT32), .v.i32 = -5},
		{.type = BF_TYPE(NULL), .is_null = true},
	};
	BfConstants constants = {.n = 3, .ids = ids, .values = values};
	BfValue v[3];
	int64_t rows;

	REQUIRE_OK(first_row(WITH_IDS, fields, 3, &constants, v, &rows));
	EXPECT_EQ(rows, 30);
	EXPECT(!v[0].is_null && v[0].v.i64 == -5);
	EXPECT(!v[1].is_null && v[1].v.i32 == 0); /* the file has it */
	EXPECT(v[2].is_null);
}

TEST(exec_parquet_work_units)
{
	BfField field = {.id = 1, .name = "a", .type = {.kind = BF_KIND_INT32}};
	BfSchema schema = {.n_fields = 1, .fields = &field};
	static const int32_t zero = 0;
	BfProjection p = {.schema = &schema, .fields = &zero, .n_fields = 1};
	BfParquetFile *f;
	BfReader *r;
	BfParquetCounters counters = {0};
	BfIoCounters io = {0};
	int64_t sum = 0;
	int64_t rows = 0;

	REQUIRE_OK(bf_exec_parquet_open(test_arena(), WITH_IDS, &io, &f, &test_err));
	REQUIRE_OK(
		bf_exec_parquet_reader_over(test_arena(), f, &p, NULL, 0, 0, &counters, &r, &test_err));
	/* Any order, one at a time. */
	for (int32_t unit = 2; unit >= 0; unit--)
	{
		const BfBatch *b;

		bf_exec_parquet_reader_reset(r, unit, unit + 1);
		for (;;)
		{
			REQUIRE_OK(r->next(r, &b, &test_err));
			if (b == NULL)
				break;
			EXPECT_EQ(b->first_row, unit * 10);
			for (int32_t i = 0; i < b->n_rows; i++)
				sum += b->cols[0].data.i32[i];
			rows += b->n_rows;
		}
	}
	EXPECT_EQ(rows, 30);
	EXPECT_EQ(sum, 435);
	EXPECT_EQ(counters.row_groups_read, 3);
	EXPECT_EQ(counters.rows_decoded, 30);
	EXPECT_EQ(io.files_opened, 1);
	/* Without columns no page is read. */
	p.n_fields = 0;
	memset(&counters, 0, sizeof counters);
	REQUIRE_OK(
		bf_exec_parquet_reader_over(test_arena(), f, &p, NULL, 0, -1, &counters, &r, &test_err));
	for (rows = 0;;)
	{
		const BfBatch *b;

		REQUIRE_OK(r->next(r, &b, &test_err));
		if (b == NULL)
			break;
		rows += b->n_rows;
	}
	EXPECT_EQ(rows, 30);
	EXPECT_EQ(counters.pages_read, 0);
}

/* Beyond what 64-bit nanoseconds can hold: Spark writes such. */
TEST(exec_parquet_int96_range)
{
	static const int64_t want[6] = {INT64_C(1704141296123456),
									INT64_C(1704070800000000),
									INT64_C(253402225200000000),
									INT64_C(1735599600000000),
									0,
									INT64_C(9089380393200000000)};
	BfField field = {.name = "a", .type = {.kind = BF_KIND_TIMESTAMP}};
	BfSchema schema = {.n_fields = 1, .fields = &field};
	static const int32_t zero = 0;
	BfProjection p = {.schema = &schema, .fields = &zero, .n_fields = 1};
	char path[1024];
	BfReader *r;
	const BfBatch *b;

	if (test_corpus() == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	snprintf(path, sizeof path, "%s/parquet-testing/data/int96_from_spark.parquet", test_corpus());
	REQUIRE_OK(
		bf_exec_parquet_reader(test_arena(), path, &p, NULL, 0, -1, NULL, NULL, &r, &test_err));
	REQUIRE_OK(r->next(r, &b, &test_err));
	EXPECT_EQ(b->n_rows, 6);
	for (int32_t i = 0; i < 6; i++)
	{
		EXPECT(bf_valid(b->cols[0].validity, i) == (i != 4));
		EXPECT_EQ(b->cols[0].data.i64[i], want[i]);
	}
	/* As nanoseconds the last one is out of range. */
	field.type = BF_TYPE(TIMESTAMP_NS);
	REQUIRE_OK(
		bf_exec_parquet_reader(test_arena(), path, &p, NULL, 0, -1, NULL, NULL, &r, &test_err));
	EXPECT_FAIL(r->next(r, &b, &test_err), BF_ERR_VALUE, -1);
	EXPECT_STR(test_err.column, "a");
}
