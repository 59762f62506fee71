/*
 * exec/parquet_reader: resolution of columns, promotion, constants, work units.
 */
#include "exec/parquet_reader.h"
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
