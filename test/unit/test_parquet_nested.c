/*
 * Nested columns of generated files (see test/data/README.md): the same rows in pages of every
 * kind, against digests of their text; members left out; columns alone and side by side.
 */
#include "parquet/parquet.h"
#include "unit/test_parquet_expected.h"
#include "unit/lib/md5.h"
#include "unit/lib/runner.h"

#define DIR "test/data/parquet_nested/"
#define ROWS 1200
#define COLUMNS 8

static const char *const files[] = {DIR "v1_plain.parquet", DIR "v1_dict.parquet",
									DIR "v2_delta.parquet"};
#define N_FILES 3

typedef struct Digest
{
	char name[32];
	char md5[33];
} Digest;

static Digest wanted[COLUMNS];

static void
read_digests(void)
{
	FILE *in = fopen(DIR "digests.txt", "r");
	int n = 0;

	REQUIRE(in != NULL);
	while (n < COLUMNS && fscanf(in, "%31s %32s", wanted[n].name, wanted[n].md5) == 2)
		n++;
	fclose(in);
	EXPECT_EQ(n, COLUMNS);
}

static BfStatus
open_file(BfArena *a, const char *path, const BfParquetLimits *limits, BfParquetFile **f)
{
	BfSource *source;

	BF_TRY(bf_source_open(a, path, NULL, &source, &test_err));
	return bf_parquet_open(a, source, limits, f, &test_err);
}

/* Digests of n columns side by side. */
static BfStatus
digest(BfArena *a, BfParquetFile *f, const int32_t *columns, const BfMapping *const *mappings,
	   const BfField *const *fields, int32_t n, char (*out)[33], int64_t *rows)
{
	TestMd5 md5[COLUMNS];
	BfParquetScan *s;
	BfBuffer text;

	bf_buffer_init(&text, test_host(), 1 << 24);
	*rows = 0;
	for (int32_t i = 0; i < n; i++)
		test_md5_init(&md5[i]);
	BF_TRY(bf_parquet_scan_new_mapped(a, f, columns, mappings, n, NULL, &s, &test_err));
	for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f); rg++)
	{
		BF_TRY(bf_parquet_scan_row_group(s, rg, &test_err));
		for (;;)
		{
			const BfBatch *b;

			BF_TRY(bf_parquet_scan_next(s, &b, &test_err));
			if (b == NULL)
				break;
			EXPECT_EQ(b->first_row, *rows);
			for (int32_t i = 0; i < n; i++)
				for (int32_t row = 0; row < b->n_rows; row++)
				{
					text.len = 0;
					EXPECT_EQ(b->cols[i].n, b->n_rows);
					if (*rows + row > 0)
						BF_TRY(bf_buffer_u8(&text, '\n', &test_err));
					if (!bf_valid(b->cols[i].validity, b->cols[i].form == BF_VEC_CONST ? 0 : row))
						BF_TRY(bf_buffer_append(&text, "<null>", 6, &test_err));
					else
						BF_TRY(expected_nested_text(fields[i], &b->cols[i], row, "", &text,
													&test_err));
					test_md5_add(&md5[i], text.data, text.len);
				}
			*rows += b->n_rows;
		}
	}
	for (int32_t i = 0; i < n; i++)
		test_md5_hex(&md5[i], out[i]);
	bf_buffer_free(&text);
	return BF_OK;
}

/* All but the last column, which is flat text. */
static int32_t
nested_columns(const BfParquetFile *f, int32_t *columns, const BfField **fields)
{
	const BfSchema *schema = bf_parquet_schema(f);

	for (int32_t i = 0; i < COLUMNS - 1; i++)
	{
		columns[i] = bf_schema_find_name(schema, wanted[i].name);
		fields[i] = &schema->fields[columns[i]];
	}
	return COLUMNS - 1;
}

TEST(parquet_nested_files)
{
	static const size_t windows[] = {1, 4096, 1 << 18};

	read_digests();
	for (int i = 0; i < N_FILES * 3; i++)
	{
		BfArena *a = test_arena();
		BfParquetLimits limits = bf_parquet_default_limits;
		int32_t columns[COLUMNS];
		const BfField *fields[COLUMNS];
		char got[COLUMNS][33];
		BfParquetFile *f;
		int64_t rows;
		int32_t n;

		limits.window_bytes = windows[i % 3];
		REQUIRE_OK(open_file(a, files[i / 3], &limits, &f));
		n = nested_columns(f, columns, fields);
		REQUIRE_OK(digest(a, f, columns, NULL, fields, n, got, &rows));
		EXPECT_EQ(rows, ROWS);
		for (int32_t c = 0; c < n; c++)
			EXPECT_STR(got[c], wanted[c].md5);
		for (int32_t c = 0; c < n; c++)
		{
			REQUIRE_OK(digest(a, f, &columns[c], NULL, &fields[c], 1, got, &rows));
			EXPECT_STR(got[0], wanted[c].md5);
		}
	}
}

/* V1 pages that end within rows, each of few levels: views move with every page. */
TEST(parquet_nested_rows_across_pages)
{
	static const char *const md5[] = {"bfb2f11fe4874180509e4a9b8d57b0d3",
									  "4a35abb7c82c94e7c02157d75cf54e6e"};
	BfParquetLimits limits = bf_parquet_default_limits;

	for (int window = 0; window < 2; window++)
	{
		BfArena *a = test_arena();
		int32_t columns[2] = {0, 1};
		const BfField *fields[2];
		char got[2][33];
		BfParquetFile *f;
		int64_t rows;

		limits.window_bytes = window == 0 ? 1 : 4096;
		REQUIRE_OK(open_file(a, DIR "rows_across_pages.parquet", &limits, &f));
		fields[0] = &bf_parquet_schema(f)->fields[0];
		fields[1] = &bf_parquet_schema(f)->fields[1];
		REQUIRE_OK(digest(a, f, columns, NULL, fields, 2, got, &rows));
		EXPECT_EQ(rows, 400);
		EXPECT_STR(got[0], md5[0]);
		EXPECT_STR(got[1], md5[1]);
	}
}

/* A batch is cut where a row has very many items, and that row is whole. */
TEST(parquet_nested_long_row)
{
	BfArena *a = test_arena();
	BfParquetFile *f;
	BfParquetScan *s;
	int32_t column;
	int64_t row = 0;

	REQUIRE_OK(open_file(a, files[0], NULL, &f));
	column = bf_schema_find_name(bf_parquet_schema(f), "ints");
	REQUIRE_OK(bf_parquet_scan_new(a, f, &column, 1, NULL, &s, &test_err));
	REQUIRE_OK(bf_parquet_scan_row_group(s, 0, &test_err));
	for (bool seen = false;;)
	{
		const BfBatch *b;
		const BfVector *v;
		int32_t first;
		int32_t end;

		REQUIRE_OK(bf_parquet_scan_next(s, &b, &test_err));
		if (b == NULL)
		{
			EXPECT(seen);
			break;
		}
		v = &b->cols[0];
		if (row <= 700 && row + b->n_rows > 700)
		{
			bf_vector_items(v, (int32_t) (700 - row), &first, &end);
			EXPECT_EQ(end - first, 40000);
			EXPECT(!bf_valid(v->children[0].validity, first + 7));
			EXPECT_EQ(v->children[0].data.i32[end - 1], 39999 % 5);
			seen = true;
		}
		else
			EXPECT(v->children[0].n < 65536);
		row += b->n_rows;
	}
}

/* Members that nobody wants are NULL, and what is around them stays as it is. */
TEST(parquet_nested_members)
{
	static BfField e = {.name = "element", .type = {.kind = BF_KIND_INT64}};
	static BfField c_members[] = {
		{.name = "e", .type = {.kind = BF_KIND_LIST}, .children = &e, .n_children = 1}};
	static BfField members[] = {
		{.name = "c", .type = {.kind = BF_KIND_STRUCT}, .children = c_members, .n_children = 1},
		{.name = "a", .type = {.kind = BF_KIND_INT64}},
	};
	static BfField nothing = {.name = "new", .type = {.kind = BF_KIND_STRING}};
	const BfField some = {
		.name = "st", .type = {.kind = BF_KIND_STRUCT}, .children = members, .n_children = 2};
	const BfField none = {
		.name = "st", .type = {.kind = BF_KIND_STRUCT}, .children = &nothing, .n_children = 1};

	for (int i = 0; i < N_FILES; i++)
	{
		BfArena *a = test_arena();
		BfParquetFile *f;
		BfParquetScan *whole;
		BfParquetScan *part;
		BfMapping *m[2];
		int32_t columns[2];
		const BfField *st;

		REQUIRE_OK(open_file(a, files[i], NULL, &f));
		columns[0] = columns[1] = bf_schema_find_name(bf_parquet_schema(f), "st");
		st = &bf_parquet_schema(f)->fields[columns[0]];
		REQUIRE_OK(bf_mapping_new(a, st, &some, false, &m[0], &test_err));
		REQUIRE_OK(bf_mapping_new(a, st, &none, false, &m[1], &test_err));
		REQUIRE_OK(bf_parquet_scan_new(a, f, columns, 1, NULL, &whole, &test_err));
		REQUIRE_OK(bf_parquet_scan_new_mapped(a, f, columns, (const BfMapping *const *) m, 2, NULL,
											  &part, &test_err));
		for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f); rg++)
		{
			const BfBatch *x = NULL;
			const BfBatch *y = NULL;
			int32_t at_x = 0;

			REQUIRE_OK(bf_parquet_scan_row_group(whole, rg, &test_err));
			REQUIRE_OK(bf_parquet_scan_row_group(part, rg, &test_err));
			for (;;)
			{
				BfVector got[2];

				REQUIRE_OK(bf_parquet_scan_next(part, &y, &test_err));
				if (y == NULL)
					break;
				for (int k = 0; k < 2; k++)
					REQUIRE_OK(bf_mapping_apply(m[k], &y->cols[k], &got[k], &test_err));
				for (int32_t row = 0; row < y->n_rows; row++, at_x++)
				{
					const BfVector *v;
					BfValue p, q;

					if (x == NULL || at_x == x->n_rows)
					{
						REQUIRE_OK(bf_parquet_scan_next(whole, &x, &test_err));
						at_x = 0;
					}
					v = &x->cols[0];
					EXPECT_EQ(bf_valid(got[0].validity, row), bf_valid(v->validity, at_x));
					EXPECT_EQ(bf_valid(got[1].validity, row), bf_valid(v->validity, at_x));
					EXPECT(!bf_vector_get(&got[1].children[0], row, &p));
					if (!bf_valid(v->validity, at_x))
						continue;
					EXPECT_EQ(bf_vector_get(&got[0].children[1], row, &p),
							  bf_vector_get(&v->children[0], at_x, &q));
					EXPECT_EQ(p.v.i64, q.v.i32);
					EXPECT_EQ(bf_vector_get(&got[0].children[0], row, &p),
							  bf_vector_get(&v->children[2], at_x, &q));
				}
			}
		}
	}
}
