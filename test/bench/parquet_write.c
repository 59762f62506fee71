/*
 * Rewrites a Parquet file by our writer, and says what that costs and how large it is. For `make
 * bench` (parquet_write.py beside this), for other programs that judge our files, and for
 * profilers.
 *
 *     parquet_write [-r RUNS] [-l LEVEL] [-v 1|2] [-b] [-g ROW_GROUP_MIB] [-p PAGE_ROWS] [-n ROWS]
 *                   [-m] [-s] FROM [TO]
 *
 *     -b   encodings that every reader knows     -d   those that not all know, too
 *     -m   bytes of each column, too
 *     -s   batches as they are read, once: the only way for nested columns
 *
 * But for -s, all rows are in memory, in flat vectors, before the first run begins. Prints rows,
 * bytes, and the least CPU seconds of the runs. Files go to memory, but for TO the last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "parquet/parquet.h"
#include "parquet/write/writer.h"
#include "unit/lib/host_posix.h"

typedef struct Rows
{
	int32_t n_batches;
	BfBatch *batches;
	int64_t n;
} Rows;

typedef struct Settings
{
	int runs;
	bool columns;
	bool stream;
	int64_t rows_max;
	BfParquetWriteOptions options;
} Settings;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* A flat copy with its bytes in one piece. */
static BfStatus
copy_flat(BfArena *a, const BfVector *v, BfVector *out, BfError *err)
{
	size_t bytes = 0;
	uint8_t *to;

	BF_TRY(bf_vector_init(a, out, v->type, err));
	out->n = v->n;
	if (v->storage == BF_STORE_VIEW)
	{
		for (int32_t i = 0; i < v->n; i++)
		{
			BfValue x;

			if (bf_vector_get(v, i, &x))
				bytes += x.v.view.len;
		}
		BF_NEW_RAW(a, to, bytes + 1, err);
		for (int32_t i = 0; i < v->n; i++)
		{
			BfValue x;

			out->data.view[i] = (BfView){to, 0};
			if (!bf_vector_get(v, i, &x))
				continue;
			memcpy(to, x.v.view.ptr, x.v.view.len);
			out->data.view[i].len = x.v.view.len;
			to += x.v.view.len;
		}
	}
	else if (v->form == BF_VEC_FLAT)
		memcpy(out->data.raw, v->data.raw, (size_t) v->n * bf_storage_size(v->storage));
	else
		return bf_error(err, BF_ERR_UNSUPPORTED, "a vector of form %d", (int) v->form);
	out->validity = NULL;
	for (int32_t i = 0; i < v->n && v->validity != NULL; i++)
		if (!bf_valid(v->validity, i))
		{
			out->validity = out->own_validity;
			memcpy(out->validity, v->validity, BF_VALIDITY_WORDS * sizeof *v->validity);
			break;
		}
	return BF_OK;
}

static BfStatus
open_columns(BfArena *a, const char *path, BfParquetFile **f, BfParquetScan **s, BfError *err)
{
	BfSource *source;
	int32_t *columns;
	int32_t n;

	BF_TRY(bf_source_open(a, path, NULL, &source, err));
	BF_TRY(bf_parquet_open(a, source, NULL, f, err));
	n = bf_parquet_schema(*f)->n_fields;
	BF_NEW(a, columns, n, err);
	for (int32_t i = 0; i < n; i++)
		columns[i] = i;
	return bf_parquet_scan_new(a, *f, columns, n, NULL, s, err);
}

static BfStatus
load(BfArena *a, const char *path, int64_t rows_max, const BfSchema **schema, Rows *out,
	 BfError *err)
{
	BfParquetFile *f;
	BfParquetScan *s;

	BF_TRY(open_columns(a, path, &f, &s, err));
	*schema = bf_parquet_schema(f);
	BF_NEW(a, out->batches, bf_parquet_n_rows(f) / 256 + 1024, err);
	for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f) && out->n < rows_max; rg++)
	{
		const BfBatch *b;

		BF_TRY(bf_parquet_scan_row_group(s, rg, err));
		for (;;)
		{
			BfBatch *copy = &out->batches[out->n_batches];

			BF_TRY(bf_parquet_scan_next(s, &b, err));
			if (b == NULL || out->n >= rows_max)
				break;
			*copy = (BfBatch){.n_rows = b->n_rows, .n_cols = b->n_cols};
			BF_NEW(a, copy->cols, b->n_cols, err);
			for (int32_t c = 0; c < b->n_cols; c++)
				BF_TRY(copy_flat(a, &b->cols[c], &copy->cols[c], err));
			out->n += b->n_rows;
			out->n_batches++;
		}
	}
	return BF_OK;
}

static BfStatus
write_once(const BfHost *host, const BfSchema *schema, const Rows *rows, const Settings *s,
		   BfOutput output, BfParquetWritten *file, BfError *err)
{
	BfArena *a = bf_arena_new(host, "writer", SIZE_MAX / 2);
	BfParquetWriter *w;

	BF_TRY(bf_parquet_writer_new(a, output, schema, &s->options, &w, err));
	for (int32_t i = 0; i < rows->n_batches; i++)
		BF_TRY(bf_parquet_writer_write(w, &rows->batches[i], err));
	BF_TRY(bf_parquet_writer_close(w, file, err));
	for (int32_t i = 0; s->columns && i < file->n_columns; i++)
		printf("column %-2d %12lld bytes\n", i, (long long) file->columns[i].bytes);
	bf_arena_free(a);
	return BF_OK;
}

/* Straight from one file to the other. */
static BfStatus
stream(BfArena *a, const char *from, const Settings *s, BfBuffer *out, BfParquetWritten *file,
	   BfError *err)
{
	BfParquetFile *f;
	BfParquetScan *scan;
	BfParquetWriter *w;
	const BfBatch *b;

	BF_TRY(open_columns(a, from, &f, &scan, err));
	BF_TRY(bf_parquet_writer_new(a, bf_output_buffer(out), bf_parquet_schema(f), &s->options, &w,
								 err));
	for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f); rg++)
	{
		BF_TRY(bf_parquet_scan_row_group(scan, rg, err));
		for (;;)
		{
			BF_TRY(bf_parquet_scan_next(scan, &b, err));
			if (b == NULL)
				break;
			BF_TRY(bf_parquet_writer_write(w, b, err));
		}
	}
	return bf_parquet_writer_close(w, file, err);
}

static BfStatus
run(const BfHost *host, const char *from, const char *to, Settings *s, BfError *err)
{
	BfArena *a = bf_arena_new(host, "rows", SIZE_MAX / 2);
	const BfSchema *schema;
	Rows rows = {0};
	BfParquetWritten file = {0};
	BfPublish *p;
	BfBuffer out;
	double best = 1e9;

	bf_buffer_init(&out, host, (size_t) 1 << 36);
	if (s->stream)
	{
		BF_TRY(stream(a, from, s, &out, &file, err));
		rows.n = file.rows;
	}
	else
		BF_TRY(load(a, from, s->rows_max, &schema, &rows, err));
	BF_TRY(bf_buffer_reserve(&out, (size_t) 1 << 28, err));
	if (!s->stream)
		memset(out.data, 1, out.cap); /* so that it is no run's business */
	for (int i = 0; i < s->runs && !s->stream; i++)
	{
		double t = now();

		out.len = 0;
		BF_TRY(write_once(host, schema, &rows, s, bf_output_buffer(&out), &file, err));
		t = now() - t;
		best = t < best ? t : best;
		s->columns = false;
	}
	printf("%lld rows %lld bytes %d row groups %.3f s %.2f Mrows/s\n", (long long) rows.n,
		   (long long) file.bytes, file.n_row_groups, best, (double) rows.n / best / 1e6);
	if (to != NULL)
	{
		BF_TRY(bf_publish_begin(a, to, &p, err));
		BF_TRY(bf_publish_write(p, out.data, out.len, err));
		BF_TRY(bf_publish_finish(p, err));
	}
	bf_buffer_free(&out);
	bf_arena_free(a);
	return BF_OK;
}

int
main(int argc, char **argv)
{
	Settings s = {.runs = 1, .rows_max = INT64_MAX, .options = bf_parquet_write_defaults};
	TestHost h;
	BfError err;
	int c;

	while ((c = getopt(argc, argv, "r:l:v:bdg:p:n:ms")) != -1)
		switch (c)
		{
			case 'r': s.runs = atoi(optarg); break;
			case 'l': s.options.level = atoi(optarg); break;
			case 'v': s.options.page_version = atoi(optarg); break;
			case 'd': s.options.delta_lengths = true; break;
			case 'b': s.options.basic_encodings = true; break;
			case 'g': s.options.row_group_bytes = (size_t) atol(optarg) << 20; break;
			case 'p': s.options.page_rows = atoi(optarg); break;
			case 's': s.stream = true; break;
			case 'n': s.rows_max = atoll(optarg); break;
			case 'm': s.columns = true; break;
			default: return 2;
		}
	if (optind >= argc)
		return 2;
	test_host_init(&h);
	bf_error_clear(&err);
	if (run(&h.host, argv[optind], optind + 1 < argc ? argv[optind + 1] : NULL, &s, &err) != BF_OK)
	{
		fprintf(stderr, "%s: %s %s at %lld: %s\n", bf_status_name(err.code), err.object, err.column,
				(long long) err.offset, err.text);
		return 1;
	}
	return 0;
}
