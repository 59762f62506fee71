/*
 * A whole file. What must hold, beyond bounded time and memory:
 *
 *  - all columns at once and each column alone give the same values (a column's decoder does
 *    not depend on the others, nor on where batches end);
 *  - reading byte by byte, as it were, gives the same as reading in large pieces;
 *  - the second scan of a row group, with used buffers, gives the same as the first.
 */
#include "fuzz/fuzz.h"

#include "parquet/parquet.h"

/* A few bytes can describe billions of rows; rows beyond are not looked at. */
#define ROWS_MAX 300000
#define COLUMNS_MAX 64

typedef struct Run
{
	BfStatus status;
	bool complete; /* ROWS_MAX was not reached */
	int64_t rows;
	int64_t items; /* values in nested columns */
	uint64_t hash[COLUMNS_MAX];
} Run;

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static uint64_t
hash_value(uint64_t h, const BfValue *v)
{
	const uint8_t *p = (const uint8_t *) &v->v;
	size_t n = bf_storage_size(bf_type_storage(v->type));

	if (bf_type_storage(v->type) == BF_STORE_VIEW)
	{
		p = v->v.view.ptr;
		n = v->v.view.len;
		h = mix(h, n);
	}
	for (size_t i = 0; i < n; i++)
		h = mix(h, p[i]);
	return h;
}

/* A row of a vector; offsets must ascend within the children. */
static uint64_t
hash_row(Run *r, uint64_t h, const BfVector *v, int32_t row)
{
	int32_t first = row;
	int32_t end = row + 1;
	BfValue value;

	FUZZ_CHECK(row < v->n);
	if (!bf_vector_get(v, row, &value))
		return mix(h, 1);
	if (v->storage != BF_STORE_NESTED)
		return hash_value(h, &value);
	if (v->type.kind != BF_KIND_STRUCT)
	{
		bf_vector_items(v, row, &first, &end);
		FUZZ_CHECK(first >= 0 && first <= end && end <= v->children[0].n);
		h = mix(h, (uint64_t) (end - first));
	}
	r->items += (end - first) * v->n_children;
	for (int32_t c = 0; c < v->n_children; c++)
		for (int32_t i = first; i < end; i++)
			h = hash_row(r, h, &v->children[c], i);
	return h;
}

static void
add_batch(Run *r, const BfBatch *b)
{
	int64_t left = ROWS_MAX - r->rows;
	int32_t n = b->n_rows < left ? b->n_rows : (int32_t) left;

	FUZZ_CHECK(b->n_rows > 0 && b->n_rows <= BF_BATCH_ROWS);
	for (int32_t c = 0; c < b->n_cols; c++)
	{
		FUZZ_CHECK(b->cols[c].n == b->n_rows);
		for (int32_t i = 0; i < n; i++)
			r->hash[c] = hash_row(r, r->hash[c], &b->cols[c], i);
	}
	r->rows += n;
}

static BfStatus
scan_rows(BfParquetScan *s, BfParquetFile *f, Run *r, BfError *err)
{
	for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f); rg++)
	{
		BF_TRY(bf_parquet_scan_row_group(s, rg, err));
		for (;;)
		{
			const BfBatch *b;

			if (r->rows >= ROWS_MAX || r->items >= 4 * ROWS_MAX)
				return BF_OK;
			BF_TRY(bf_parquet_scan_next(s, &b, err));
			if (b == NULL)
				break;
			FUZZ_CHECK(b->first_row == r->rows);
			add_batch(r, b);
		}
	}
	r->complete = true;
	return BF_OK;
}

/* In an arena of its own, so that the buffers of many columns don't add up. */
static void
run_scan(const uint8_t *data, size_t size, size_t window, const int32_t *columns, int32_t n,
		 int times, Run *r)
{
	BfArena *a = fuzz_arena((size_t) 128 << 20);
	BfParquetLimits limits = bf_parquet_default_limits;
	BfSource *source;
	BfParquetFile *f;
	BfParquetScan *s;
	BfError err;

	limits.page_bytes_max = (size_t) 4 << 20;
	limits.window_bytes = window;
	limits.verify_crc = false;
	FUZZ_CHECK(bf_source_memory(a, data, size, "input", &source, &err) == BF_OK);
	r->status = bf_parquet_open(a, source, &limits, &f, &err);
	FUZZ_CHECK(r->status == BF_OK);
	r->status = bf_parquet_scan_new(a, f, columns, n, NULL, &s, &err);
	for (int i = 0; i < times && r->status == BF_OK; i++)
	{
		memset(r->hash, 0, sizeof r->hash);
		r->rows = r->items = 0;
		r->complete = false;
		r->status = scan_rows(s, f, r, &err);
	}
	if (r->status != BF_OK)
		FUZZ_CHECK(err.code == r->status && err.text[0] != '\0');
	bf_arena_free(a);
}

/* The columns; -1: the file does not open. */
static int32_t
all_columns(const uint8_t *data, size_t size, int32_t *columns)
{
	BfArena *a = fuzz_arena((size_t) 128 << 20);
	BfSource *source;
	BfParquetFile *f;
	BfError err;
	int32_t n = -1;

	FUZZ_CHECK(bf_source_memory(a, data, size, "input", &source, &err) == BF_OK);
	if (bf_parquet_open(a, source, NULL, &f, &err) == BF_OK)
	{
		const BfSchema *schema = bf_parquet_schema(f);

		n = 0;
		for (int32_t i = 0; i < schema->n_fields && n < COLUMNS_MAX; i++)
			columns[n++] = i;
		for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f) && rg < 100; rg++)
			for (int32_t leaf = 0; leaf < bf_parquet_n_leaves(f) && leaf < 100; leaf++)
			{
				BfParquetChunkInfo info;

				if (bf_parquet_chunk_info(f, a, rg, leaf, &info, &err) == BF_OK && info.has_min &&
					info.has_max)
					FUZZ_CHECK(bf_value_compare(&info.min, &info.max) <= 0);
			}
	}
	bf_arena_free(a);
	return n;
}

/* Structs of a variant's parts, as the variants that a table may have them for. */
static void
run_variants(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 128 << 20);
	BfParquetLimits limits = bf_parquet_default_limits;
	const BfSchema *schema;
	BfSource *source;
	BfParquetFile *f;
	BfError err;

	limits.page_bytes_max = (size_t) 4 << 20;
	limits.verify_crc = false;
	FUZZ_CHECK(bf_source_memory(a, data, size, "input", &source, &err) == BF_OK);
	FUZZ_CHECK(bf_parquet_open(a, source, &limits, &f, &err) == BF_OK);
	schema = bf_parquet_schema(f);
	for (int32_t i = 0; i < schema->n_fields && i < COLUMNS_MAX; i++)
	{
		const BfField *field = &schema->fields[i];
		BfField want = {.name = field->name, .type = BF_TYPE(VARIANT)};
		BfMapping *m;
		BfParquetScan *s;
		Run r = {0};

		if (field->type.kind != BF_KIND_STRUCT ||
			bf_mapping_new(a, field, &want, false, &m, &err) != BF_OK)
			continue;
		FUZZ_CHECK(bf_mapping_is_variant(m));
		if (bf_parquet_scan_new_mapped(a, f, &i, (const BfMapping *const *) &m, 1, NULL, &s,
									   &err) == BF_OK)
			(void) scan_rows(s, f, &r, &err);
	}
	bf_arena_free(a);
}

int
bf_fuzz_parquet(const uint8_t *data, size_t size)
{
	int32_t columns[COLUMNS_MAX];
	int32_t n = all_columns(data, size, columns);
	Run all = {0};
	bool one_failed = false;

	if (n < 0)
		return -1;
	run_scan(data, size, (size_t) 256 << 10, columns, n, 1, &all);
	for (int32_t i = 0; i < n; i++)
	{
		Run one = {0};

		run_scan(data, size, 1, &columns[i], 1, 2, &one);
		one_failed |= one.status != BF_OK;
		if (all.status != BF_OK || !all.complete)
			continue;
		/* Limits are per batch, and where batches end depends on the other columns. */
		if (one.status == BF_ERR_LIMIT || one.status == BF_ERR_NOMEM || !one.complete)
			continue;
		FUZZ_CHECK(one.status == BF_OK);
		FUZZ_CHECK(one.rows == all.rows && one.hash[0] == all.hash[i]);
	}
	if (all.status != BF_OK && all.status != BF_ERR_LIMIT && all.status != BF_ERR_NOMEM && n > 0)
		FUZZ_CHECK(one_failed);
	run_variants(data, size);
	return 0;
}
