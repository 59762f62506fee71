/*
 * What the Parquet reader costs, column by column. Built by hand, not part of the tests:
 *
 *     gcc -std=c11 -D_GNU_SOURCE -O2 -Isrc -Itest -o parquet_scan test/bench/parquet_scan.c \
 *         $(find src/base src/vec src/io src/codec src/parquet -name '*.c') \
 *         test/unit/lib/host_posix.c -lzstd -llz4 -lsnappy -lz -lbrotlidec -lxxhash -lm
 *     parquet_scan FILE [column ...]
 *
 * Prints for each column the best of several scans: ns per value, pages, and a checksum (sum
 * of numbers, of lengths for bytes) whose loop is part of the time; of nested columns that of their
 * leaves. The line "(count)" scans no column; "(all)" scans all at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "parquet/parquet.h"
#include "unit/lib/host_posix.h"

#define ROUNDS 5

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static uint64_t
sum_vector(const BfVector *v)
{
	uint64_t s = 0;

	if (v->form == BF_VEC_DICT)
	{
		for (int32_t i = 0; i < v->n; i++)
			s += v->codes[i];
		return s;
	}
	switch (v->storage)
	{
		case BF_STORE_I32:
		case BF_STORE_F32:
			for (int32_t i = 0; i < v->n; i++)
				s += (uint64_t) (int64_t) v->data.i32[i];
			break;
		case BF_STORE_I64:
		case BF_STORE_F64:
			for (int32_t i = 0; i < v->n; i++)
				s += (uint64_t) v->data.i64[i];
			break;
		case BF_STORE_VIEW:
			for (int32_t i = 0; i < v->n; i++)
				s += v->data.view[i].len;
			break;
		case BF_STORE_NESTED:
			for (int32_t i = 0; i < v->n_children; i++)
				s += sum_vector(&v->children[i]);
			break;
		default: break;
	}
	return s;
}

static BfStatus
scan(const BfHost *host, const char *path, const int32_t *columns, int32_t n, BfError *err)
{
	BfArena *a = bf_arena_new(host, "bench", SIZE_MAX / 2);
	BfSource *source;
	BfParquetFile *f;
	BfParquetScan *s;
	BfParquetCounters counters = {0};
	double best = 1e9;
	uint64_t sum = 0;

	BF_TRY(bf_source_open(a, path, NULL, &source, err));
	BF_TRY(bf_parquet_open(a, source, NULL, &f, err));
	BF_TRY(bf_parquet_scan_new(a, f, columns, n, &counters, &s, err));
	for (int round = 0; round < ROUNDS; round++)
	{
		double t = now();

		sum = 0;
		memset(&counters, 0, sizeof counters);
		for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f); rg++)
		{
			const BfBatch *b;

			BF_TRY(bf_parquet_scan_row_group(s, rg, err));
			for (;;)
			{
				BF_TRY(bf_parquet_scan_next(s, &b, err));
				if (b == NULL)
					break;
				for (int32_t c = 0; c < n; c++)
					sum += sum_vector(&b->cols[c]);
			}
		}
		t = now() - t;
		best = t < best ? t : best;
	}
	printf("%-20s %9.2f ms %8.3f ns/row %6lld pages  %llu\n",
		   n == 0	? "(count)"
		   : n == 1 ? bf_parquet_schema(f)->fields[columns[0]].name
					: "(all)",
		   best * 1e3, best * 1e9 / (double) bf_parquet_n_rows(f), (long long) counters.pages_read,
		   (unsigned long long) sum);
	bf_arena_free(a);
	return BF_OK;
}

static BfStatus
bench(const BfHost *host, const char *path, int n_names, char **names, BfError *err)
{
	BfArena *a = bf_arena_new(host, "bench", SIZE_MAX / 2);
	BfSource *source;
	BfParquetFile *f;
	const BfSchema *schema;
	int32_t columns[1024];
	int32_t n = 0;

	BF_TRY(bf_source_open(a, path, NULL, &source, err));
	BF_TRY(bf_parquet_open(a, source, NULL, &f, err));
	schema = bf_parquet_schema(f);
	for (int32_t i = 0; i < schema->n_fields && n < 1024; i++)
	{
		bool wanted = n_names == 0;

		for (int k = 0; k < n_names; k++)
			wanted |= strcmp(names[k], schema->fields[i].name) == 0;
		if (wanted)
			columns[n++] = i;
	}
	BF_TRY(scan(host, path, columns, 0, err));
	for (int32_t i = 0; i < n; i++)
		BF_TRY(scan(host, path, &columns[i], 1, err));
	if (n > 1)
		BF_TRY(scan(host, path, columns, n, err));
	bf_arena_free(a);
	return BF_OK;
}

int
main(int argc, char **argv)
{
	TestHost h;
	BfError err;

	if (argc < 2)
		return 2;
	test_host_init(&h);
	bf_error_clear(&err);
	if (bench(&h.host, argv[1], argc - 2, argv + 2, &err) != BF_OK)
	{
		fprintf(stderr, "%s: %s at %lld: %s\n", bf_status_name(err.code), err.object,
				(long long) err.offset, err.text);
		return 1;
	}
	return 0;
}
