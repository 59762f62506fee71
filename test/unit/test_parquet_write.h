/*
 * Helpers of the writer's tests: batches are written to memory, read by our reader and compared row
 * by row.
 */
#ifndef TEST_UNIT_TEST_PARQUET_WRITE_H
#define TEST_UNIT_TEST_PARQUET_WRITE_H

#include "parquet/parquet.h"
#include "parquet/prune.h"
#include "parquet/write/writer.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"
#include "unit/test_parquet_rows.h"

#define COLUMNS_MAX 64
#define UNUSED __attribute__((unused))

UNUSED static const BfType types[] = {
	{.kind = BF_KIND_BOOL},
	{.kind = BF_KIND_INT8},
	{.kind = BF_KIND_INT16},
	{.kind = BF_KIND_INT32},
	{.kind = BF_KIND_INT64},
	{.kind = BF_KIND_UINT8},
	{.kind = BF_KIND_UINT16},
	{.kind = BF_KIND_UINT32},
	{.kind = BF_KIND_UINT64},
	{.kind = BF_KIND_FLOAT16},
	{.kind = BF_KIND_FLOAT32},
	{.kind = BF_KIND_FLOAT64},
	{.kind = BF_KIND_DECIMAL, .precision = 1, .scale = 1},
	{.kind = BF_KIND_DECIMAL, .precision = 9, .scale = 2},
	{.kind = BF_KIND_DECIMAL, .precision = 10, .scale = 0},
	{.kind = BF_KIND_DECIMAL, .precision = 18, .scale = 18},
	{.kind = BF_KIND_DECIMAL, .precision = 19, .scale = 2},
	{.kind = BF_KIND_DECIMAL, .precision = 38, .scale = 10},
	{.kind = BF_KIND_DECIMAL, .precision = 39, .scale = 3},
	{.kind = BF_KIND_DECIMAL, .precision = 60, .scale = 0},
	{.kind = BF_KIND_DATE},
	{.kind = BF_KIND_TIME},
	{.kind = BF_KIND_TIME_NS},
	{.kind = BF_KIND_TIMESTAMP},
	{.kind = BF_KIND_TIMESTAMPTZ},
	{.kind = BF_KIND_TIMESTAMP_NS},
	{.kind = BF_KIND_TIMESTAMPTZ_NS},
	{.kind = BF_KIND_STRING},
	{.kind = BF_KIND_JSON},
	{.kind = BF_KIND_ENUM},
	{.kind = BF_KIND_BINARY},
	{.kind = BF_KIND_BSON},
	{.kind = BF_KIND_UUID, .length = 16},
	{.kind = BF_KIND_FIXED, .length = 5},
	{.kind = BF_KIND_INTERVAL},
	{.kind = BF_KIND_INT96},
	{.kind = BF_KIND_GEOMETRY},
	{.kind = BF_KIND_NULL},
};
#define N_TYPES ((int32_t) (sizeof types / sizeof types[0]))

UNUSED static BfSchema
all_types(BfArena *a, bool required)
{
	BfSchema s = {.n_fields = N_TYPES};

	s.fields = bf_arena_alloc_array(a, (size_t) N_TYPES, sizeof *s.fields);
	memset(s.fields, 0, (size_t) N_TYPES * sizeof *s.fields);
	for (int32_t i = 0; i < N_TYPES; i++)
		s.fields[i] = (BfField){.id = i + 1,
								.name = bf_arena_printf(a, "c%d", i),
								.type = types[i],
								.required = required && types[i].kind != BF_KIND_NULL};
	return s;
}

UNUSED static uint64_t
from_test(void *arg)
{
	(void) arg;
	return test_random();
}

/* Batches of such rows, written as `out`. */
UNUSED static BfStatus
write_file(BfArena *a, const BfSchema *s, BfBatch *const *batches, int32_t n,
		   const BfParquetWriteOptions *o, BfBuffer *out, BfParquetWritten *file)
{
	BfParquetWriter *w;

	BF_TRY(bf_parquet_writer_new(a, bf_output_buffer(out), s, o, &w, &test_err));
	for (int32_t i = 0; i < n; i++)
		BF_TRY(bf_parquet_writer_write(w, batches[i], &test_err));
	return bf_parquet_writer_close(w, file, &test_err);
}

UNUSED static bool
same_field(const BfField *x, const BfField *y, bool top)
{
	if (!bf_type_equal(x->type, y->type) || x->id != y->id || x->required != y->required ||
		x->n_children != y->n_children || (top && strcmp(x->name, y->name) != 0))
		return false;
	for (int32_t i = 0; i < x->n_children; i++)
		if (!same_field(&x->children[i], &y->children[i], x->type.kind == BF_KIND_STRUCT))
			return false;
	return true;
}

/* Reads the file, row by row against the selected rows of the batches. */
UNUSED static void
check_rows(BfArena *a, const BfSchema *s, BfBatch *const *batches, int32_t n, const BfBuffer *file)
{
	int32_t columns[COLUMNS_MAX];
	BfSource *source;
	BfParquetFile *f;
	BfParquetScan *scan;
	const BfBatch *got = NULL;
	int32_t rg = -1, at = 0;

	REQUIRE_OK(bf_source_memory(a, file->data, file->len, "made", &source, &test_err));
	REQUIRE_OK(bf_parquet_open(a, source, NULL, &f, &test_err));
	REQUIRE(bf_parquet_schema(f)->n_fields == s->n_fields && s->n_fields <= COLUMNS_MAX);
	for (int32_t i = 0; i < s->n_fields; i++)
	{
		columns[i] = i;
		EXPECT(same_field(&s->fields[i], &bf_parquet_schema(f)->fields[i], true));
	}
	REQUIRE_OK(bf_parquet_scan_new(a, f, columns, s->n_fields, NULL, &scan, &test_err));
	for (int32_t k = 0; k < n; k++)
		for (int32_t row = bf_batch_next(batches[k], 0); row >= 0;
			 row = bf_batch_next(batches[k], row + 1))
		{
			while (got == NULL || at == got->n_rows)
			{
				at = 0;
				if (got == NULL)
				{
					REQUIRE(++rg < bf_parquet_n_row_groups(f));
					REQUIRE_OK(bf_parquet_scan_row_group(scan, rg, &test_err));
				}
				REQUIRE_OK(bf_parquet_scan_next(scan, &got, &test_err));
			}
			for (int32_t c = 0; c < s->n_fields; c++)
				if (!made_same(&batches[k]->cols[c], row, &got->cols[c], at))
				{
					test_fail(__FILE__, __LINE__, "batch %d row %d column %s", k, row,
							  s->fields[c].name);
					return;
				}
			at++;
		}
	EXPECT(got == NULL || at == got->n_rows);
	while (got != NULL)
	{
		REQUIRE_OK(bf_parquet_scan_next(scan, &got, &test_err));
		EXPECT(got == NULL || got->n_rows == 0);
	}
	EXPECT_EQ(rg + 1, bf_parquet_n_row_groups(f));
}

UNUSED static BfBatch **
made_batches(BfArena *a, const BfSchema *s, const MadeRows *made, const int32_t *sizes, int32_t n)
{
	BfBatch **b = bf_arena_alloc_array(a, (size_t) n, sizeof *b);

	for (int32_t i = 0; i < n; i++)
		if (made_batch(a, made, s->fields, s->n_fields, sizes[i], &b[i], &test_err) != BF_OK)
			test_fail(__FILE__, __LINE__, "no batch");
	return b;
}

UNUSED static void
round_trip(const BfSchema *s, const MadeRows *made, const int32_t *sizes, int32_t n,
		   const BfParquetWriteOptions *o)
{
	BfArena *a = bf_arena_new(test_host(), "round trip", (size_t) 1 << 30);
	BfBatch **batches = made_batches(a, s, made, sizes, n);
	BfParquetWritten file;
	BfBuffer out;

	bf_buffer_init(&out, test_host(), (size_t) 1 << 30);
	if (write_file(a, s, batches, n, o, &out, &file) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", test_err.column, test_err.text);
	else
	{
		EXPECT_EQ(file.bytes, out.len);
		check_rows(a, s, batches, n, &out);
	}
	bf_buffer_free(&out);
	bf_arena_free(a);
}

/* Small pages and row groups, so that few rows make many of them. */
UNUSED static BfParquetWriteOptions
small_pages(void)
{
	BfParquetWriteOptions o = bf_parquet_write_defaults;

	o.page_rows = 700;
	o.page_bytes = 6000;
	o.row_group_rows = 3000;
	return o;
}

#endif
