/* Rows as Parquet files: how they are cut, what they say of themselves, what a failure leaves. */
#include "exec/write/data_files.h"
#include "parquet/parquet.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"

static BfField fields[] = {
	{.id = 1, .name = "id", .type = {.kind = BF_KIND_INT64}, .required = true},
	{.id = 2, .name = "s", .type = {.kind = BF_KIND_STRING}},
};
static const BfSchema schema = {.n_fields = 2, .fields = fields};

typedef struct Names
{
	int n;
	bool same; /* the same name again and again */
} Names;

static BfStatus
next_name(void *arg, const char **path, BfError *err)
{
	Names *n = arg;
	char name[32];

	snprintf(name, sizeof name, "data/%d.parquet", n->same ? 0 : n->n);
	n->n++;
	*path = test_path(name);
	(void) err;
	return BF_OK;
}

/* n rows from `first` on; each text is its number, NULL where that is a multiple of 7. */
static BfBatch *
batch_of(BfArena *a, int64_t first, int32_t n)
{
	BfBatch *b;

	b = bf_arena_alloc_array(a, 1, sizeof *b);
	*b = (BfBatch){.n_rows = n, .n_cols = 2, .cols = bf_arena_alloc_array(a, 2, sizeof *b->cols)};
	if (bf_vector_init(a, &b->cols[0], fields[0].type, &test_err) != BF_OK ||
		bf_vector_init(a, &b->cols[1], fields[1].type, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
	b->cols[0].n = b->cols[1].n = n;
	b->cols[1].validity = b->cols[1].own_validity;
	memset(b->cols[1].validity, 0, BF_VALIDITY_WORDS * sizeof *b->cols[1].validity);
	for (int32_t i = 0; i < n; i++)
	{
		char *text = bf_arena_printf(a, "%lld", (long long) (first + i));

		b->cols[0].data.i64[i] = first + i;
		b->cols[1].data.view[i] = (BfView){(const uint8_t *) text, (uint32_t) strlen(text)};
		if ((first + i) % 7 != 0)
			b->cols[1].validity[i / 64] |= UINT64_C(1) << (i % 64);
	}
	return b;
}

static int64_t
rows_in(const char *path)
{
	BfArena *a = test_arena();
	BfSource *source;
	BfParquetFile *f;

	if (bf_source_open(a, path, NULL, &source, &test_err) != BF_OK ||
		bf_parquet_open(a, source, NULL, &f, &test_err) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "%s: %s", path, test_err.text);
		return -1;
	}
	return bf_parquet_n_rows(f);
}

TEST(exec_data_files)
{
	BfArena *a = test_arena();
	Names names = {0, false};
	BfParquetWriteOptions options = bf_parquet_write_defaults;
	BfDataFilesWhat what = {.schema = &schema,
							.parquet = &options,
							.target_bytes = 8000,
							.name = next_name,
							.arg = &names};
	const BfDataFile *files;
	BfDataFiles *d;
	int64_t rows = 0;
	int32_t n;

	options.page_rows = 500;
	REQUIRE_OK(bf_data_files_new(a, &what, &d, &test_err));
	for (int64_t i = 0; i < 40; i++)
		REQUIRE_OK(bf_data_files_write(d, batch_of(a, i * 1000, 1000), &test_err));
	REQUIRE_OK(bf_data_files_write(d, &(BfBatch){.n_cols = 2}, &test_err));
	REQUIRE_OK(bf_data_files_end(d, &test_err));
	REQUIRE_OK(bf_data_files_end(d, &test_err));
	files = bf_data_files_all(d, &n);
	EXPECT(n > 3 && n < 20);
	EXPECT_EQ(names.n, n);
	for (int32_t i = 0; i < n; i++)
	{
		const BfParquetColumnMetrics *id = &files[i].is.columns[0];
		const BfParquetColumnMetrics *s = &files[i].is.columns[1];

		REQUIRE(files[i].is.n_columns == 2 && files[i].is.n_row_groups > 0);
		EXPECT(i == n - 1 || files[i].is.bytes > 6000);
		EXPECT(files[i].is.bytes < 24000);
		EXPECT_EQ(files[i].is.splits[0], 4);
		EXPECT_EQ(id->field_id, 1);
		EXPECT_EQ(id->lower.v.i64, rows);
		EXPECT_EQ(id->upper.v.i64, rows + files[i].is.rows - 1);
		EXPECT_EQ(s->values, files[i].is.rows);
		EXPECT(s->nulls >= files[i].is.rows / 7 && s->nulls <= files[i].is.rows / 7 + 1);
		EXPECT(s->has_lower && s->lower.v.view.ptr[0] >= '0' && s->lower.v.view.ptr[0] <= '9');
		EXPECT_EQ(rows_in(files[i].path), files[i].is.rows);
		rows += files[i].is.rows;
	}
	EXPECT_EQ(rows, 40000);
}

static BfStatus
count_name(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	(void) name;
	(void) kind;
	(void) err;
	++*(int *) arg;
	return BF_OK;
}

/* What is there is not replaced, and what is not finished does not stay. */
TEST(exec_data_files_fail)
{
	BfArena *a = bf_arena_new(test_host(), "files", SIZE_MAX / 2);
	Names names = {0, true};
	BfDataFilesWhat what = {
		.schema = &schema, .target_bytes = 1 << 20, .name = next_name, .arg = &names};
	BfPathInfo info;
	BfDataFiles *d;
	BfBatch *bad = batch_of(test_arena(), 1, 10);
	const BfHost *host = test_host();
	int n_files = 0;

	REQUIRE_OK(bf_data_files_new(a, &what, &d, &test_err));
	REQUIRE_OK(bf_data_files_write(d, batch_of(test_arena(), 0, 10), &test_err));
	REQUIRE_OK(bf_data_files_end(d, &test_err));
	REQUIRE_OK(bf_data_files_write(d, batch_of(test_arena(), 0, 20), &test_err));
	EXPECT_FAIL(bf_data_files_end(d, &test_err), BF_ERR_CONFLICT, -1);
	bf_arena_free(a);
	EXPECT_EQ(rows_in(test_path("data/0.parquet")), 10);

	a = bf_arena_new(host, "files", SIZE_MAX / 2);
	names = (Names){1, false};
	REQUIRE_OK(bf_data_files_new(a, &what, &d, &test_err));
	REQUIRE_OK(bf_data_files_write(d, batch_of(test_arena(), 0, 10), &test_err));
	bad->cols[0].validity = bad->cols[0].own_validity;
	memset(bad->cols[0].validity, 0, BF_VALIDITY_WORDS * sizeof *bad->cols[0].validity);
	EXPECT_FAIL(bf_data_files_write(d, bad, &test_err), BF_ERR_VALUE, -1);
	bf_arena_free(a);
	REQUIRE_OK(host->stat(host, test_path("data/1.parquet"), &info, &test_err));
	EXPECT_EQ(info.kind, BF_PATH_MISSING);
	REQUIRE_OK(host->list(host, test_path("data"), count_name, &n_files, &test_err));
	EXPECT_EQ(n_files, 1);
}
