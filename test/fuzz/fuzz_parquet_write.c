/*
 * Batches made of any bytes, written with options made of them, are read as they were.
 */
#include "fuzz/fuzz.h"

#include "parquet/parquet.h"
#include "parquet/write/writer.h"
#include "unit/test_parquet_rows.h"

#define FIELDS_MAX 6
#define ROWS_MAX 600

/* Numbers from the input; when that is used up they go on by themselves. */
typedef struct Source
{
	FuzzInput in;
	uint64_t state;
} Source;

static uint64_t
next_number(void *arg)
{
	Source *s = arg;

	s->state = (s->state ^ fuzz_take(&s->in, 4)) * UINT64_C(0x9e3779b97f4a7c15) + 1;
	return s->state ^ s->state >> 29;
}

static uint64_t
below(Source *s, uint64_t n)
{
	return next_number(s) % n;
}

static BfType
some_type(Source *s)
{
	BfType t = {.kind = (BfKind) below(s, BF_KIND_STRUCT)};

	if (t.kind == BF_KIND_DECIMAL)
	{
		t.precision = 1 + (int32_t) below(s, 45);
		t.scale = (int32_t) below(s, (uint64_t) t.precision + 1);
	}
	if (t.kind == BF_KIND_UUID)
		t.length = 16;
	if (t.kind == BF_KIND_FIXED)
		t.length = 1 + (int32_t) below(s, 20);
	return t;
}

static void
some_field(BfArena *a, Source *s, int depth, BfField *f)
{
	uint64_t what = depth > 4 ? 9 : below(s, 10);

	*f = (BfField){.id = (int32_t) below(s, 100), .name = "f", .required = below(s, 3) == 0};
	f->type = what == 0 ? BF_TYPE(LIST) : what == 1 ? BF_TYPE(MAP) : BF_TYPE(STRUCT);
	if (what > 2)
	{
		f->type = some_type(s);
		f->required &= f->type.kind != BF_KIND_NULL;
		return;
	}
	f->n_children = what == 2 ? 1 + (int32_t) below(s, 3) : 1 + (int32_t) what;
	f->children = bf_arena_alloc_array(a, (size_t) f->n_children, sizeof *f);
	FUZZ_CHECK(f->children != NULL);
	for (int32_t i = 0; i < f->n_children; i++)
		some_field(a, s, depth + 1, &f->children[i]);
	if (what == 1)
	{
		f->children[0] = (BfField){.id = 1, .name = "k", .type = BF_TYPE(INT64), .required = true};
	}
}

static BfParquetWriteOptions
some_options(Source *s)
{
	static const BfCodec codecs[] = {BF_CODEC_ZSTD, BF_CODEC_NONE, BF_CODEC_SNAPPY, BF_CODEC_GZIP,
									 BF_CODEC_LZ4_RAW};
	BfParquetWriteOptions o = bf_parquet_write_defaults;

	o.codec = codecs[below(s, 5)];
	o.level = 1;
	o.page_rows = 1 + (int32_t) below(s, 500);
	o.page_bytes = (size_t) 1 + below(s, 4000);
	o.row_group_rows = 1 + (int64_t) below(s, 1000);
	o.row_group_bytes = (size_t) 1 << below(s, 20);
	o.dictionary_bytes = below(s, 4) == 0 ? 0 : (size_t) 1 << below(s, 16);
	o.basic_encodings = below(s, 4) == 0;
	o.page_version = 1 + (int32_t) below(s, 2);
	o.page_index = below(s, 4) != 0;
	o.checksums = below(s, 4) != 0;
	o.bound_bytes = 8 + (uint32_t) below(s, 57);
	return o;
}

static void
read_again(BfArena *a, const BfSchema *schema, BfBatch *const *batches, int32_t n,
		   const BfBuffer *file)
{
	int32_t columns[FIELDS_MAX];
	BfSource *source;
	BfParquetFile *f;
	BfParquetScan *scan;
	const BfBatch *got = NULL;
	int32_t rg = -1, at = 0;
	BfError err;

	for (int32_t i = 0; i < schema->n_fields; i++)
		columns[i] = i;
	FUZZ_CHECK(bf_source_memory(a, file->data, file->len, "made", &source, &err) == BF_OK);
	FUZZ_CHECK(bf_parquet_open(a, source, NULL, &f, &err) == BF_OK);
	FUZZ_CHECK(bf_parquet_scan_new(a, f, columns, schema->n_fields, NULL, &scan, &err) == BF_OK);
	for (int32_t k = 0; k < n; k++)
		for (int32_t row = 0; row < batches[k]->n_rows; row++, at++)
		{
			while (got == NULL || at == got->n_rows)
			{
				at = 0;
				if (got == NULL)
					FUZZ_CHECK(++rg < bf_parquet_n_row_groups(f) &&
							   bf_parquet_scan_row_group(scan, rg, &err) == BF_OK);
				FUZZ_CHECK(bf_parquet_scan_next(scan, &got, &err) == BF_OK);
			}
			for (int32_t c = 0; c < schema->n_fields; c++)
				FUZZ_CHECK(made_same(&batches[k]->cols[c], row, &got->cols[c], at));
		}
	FUZZ_CHECK(got == NULL || at == got->n_rows);
}

int
bf_fuzz_parquet_write(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 256 << 20);
	Source s = {.in = {data, size}};
	BfField fields[FIELDS_MAX];
	BfSchema schema = {.n_fields = 1 + (int32_t) below(&s, FIELDS_MAX), .fields = fields};
	BfParquetWriteOptions o = some_options(&s);
	MadeRows made = {.random = next_number, .arg = &s};
	BfBatch *batches[3];
	BfParquetWriter *w;
	BfParquetWritten written;
	BfBuffer out;
	BfError err;

	for (int32_t i = 0; i < schema.n_fields; i++)
		some_field(a, &s, 0, &fields[i]);
	bf_buffer_init(&out, fuzz_host(), (size_t) 64 << 20);
	FUZZ_CHECK(bf_parquet_writer_new(a, bf_output_buffer(&out), &schema, &o, &w, &err) == BF_OK);
	for (int32_t i = 0; i < 3; i++)
	{
		made.nulls = (MadeNulls) below(&s, MADE_NULLS_COUNT);
		made.values = (MadeValues) below(&s, MADE_VALUES_COUNT);
		made.bytes_max = (uint32_t) below(&s, 80);
		FUZZ_CHECK(made_batch(a, &made, fields, schema.n_fields, (int32_t) below(&s, ROWS_MAX),
							  &batches[i], &err) == BF_OK);
		FUZZ_CHECK(bf_parquet_writer_write(w, batches[i], &err) == BF_OK);
	}
	FUZZ_CHECK(bf_parquet_writer_close(w, &written, &err) == BF_OK);
	FUZZ_CHECK(written.bytes == (int64_t) out.len);
	read_again(a, &schema, batches, 3, &out);
	bf_buffer_free(&out);
	bf_arena_free(a);
	return 0;
}
