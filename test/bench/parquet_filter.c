/*
 * What a predicate saves. Built by hand like parquet_scan.c, with src/log, src/avro and src/exec
 * too:
 *
 *     gcc -std=c11 -D_GNU_SOURCE -O2 -Isrc -Itest -o parquet_filter test/bench/parquet_filter.c \
 *         $(find src/base src/vec src/io src/codec src/parquet src/exec src/log src/avro -name
 * '*.c') \
 *         test/unit/lib/host_posix.c -lzstd -llz4 -lsnappy -lz -lbrotlidec -lxxhash -lroaring \
 *         -ljansson -lm
 *     parquet_filter FILE COLUMN OPERATOR VALUE [projected column ...]
 *
 * OPERATOR is one of = < <= > >=; VALUE is a number or a text. Prints the best of several scans per
 * set of levels that are switched on, and what they left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "exec/read/parquet_reader.h"
#include "unit/lib/host_posix.h"

#define ROUNDS 7

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static BfValue
parse(BfType type, const char *text)
{
	BfValue v = {.type = type};

	switch (bf_type_storage(type))
	{
		case BF_STORE_U8: v.v.u8 = text[0] == 't'; break;
		case BF_STORE_I32: v.v.i32 = (int32_t) strtol(text, NULL, 10); break;
		case BF_STORE_I64: v.v.i64 = strtoll(text, NULL, 10); break;
		case BF_STORE_F32: v.v.f32 = strtof(text, NULL); break;
		case BF_STORE_F64: v.v.f64 = strtod(text, NULL); break;
		default: v.v.view = (BfView){(const uint8_t *) text, (uint32_t) strlen(text)}; break;
	}
	return v;
}

static BfPredKind
operator_kind(const char *text)
{
	static const char *const names[] = {"=", "<>", "<", "<=", ">", ">="};

	for (int i = 0; i < 6; i++)
		if (strcmp(text, names[i]) == 0)
			return BF_PRED_EQ + (BfPredKind) i;
	return BF_PRED_UNKNOWN;
}

static BfStatus
scan(BfArena *a, BfParquetFile *f, const BfProjection *p, const BfRowFilter *filter,
	 BfParquetCounters *counters, int64_t *rows, BfError *err)
{
	BfReader *r;

	*rows = 0;
	memset(counters, 0, sizeof *counters);
	BF_TRY(bf_exec_parquet_reader_filtered(a, f, p, NULL, 0, -1, filter, counters, &r, err));
	for (;;)
	{
		const BfBatch *b;

		BF_TRY(r->next(r, &b, err));
		if (b == NULL)
			return BF_OK;
		*rows += bf_batch_n(b);
	}
}

static BfStatus
bench(const BfHost *host, char **args, int n_names, BfError *err)
{
	static const struct
	{
		const char *name;
		uint32_t prune;
	} sets[] = {
		{"nothing", 0},
		{"late", BF_PRUNE_LATE},
		{"statistics", BF_PRUNE_ROW_GROUP},
		{"bloom", BF_PRUNE_BLOOM},
		{"dictionary", BF_PRUNE_DICTIONARY},
		{"page index", BF_PRUNE_PAGE},
		{"index and late", BF_PRUNE_PAGE | BF_PRUNE_LATE},
		{"all", BF_PRUNE_ALL},
	};
	BfArena *a = bf_arena_new(host, "bench", SIZE_MAX / 2);
	BfPred pred = {.kind = operator_kind(args[1]), .n_values = 1};
	BfFilterCounters filtered;
	BfRowFilter filter = {.pred = &pred, .counters = &filtered};
	BfSchema schema;
	BfParquetFile *f;
	BfValue value;
	int32_t columns[64];
	BfProjection p = {.schema = &schema, .fields = columns};

	BF_TRY(bf_exec_parquet_open(a, args[-1], NULL, &f, err));
	schema = *bf_parquet_schema(f);
	pred.field = bf_schema_find_name(&schema, args[0]);
	for (int i = 0; i < n_names && i < 64; i++)
		columns[p.n_fields++] = bf_schema_find_name(&schema, args[3 + i]);
	for (int32_t i = 0; i < p.n_fields; i++)
		if (columns[i] < 0 || pred.field < 0)
			return bf_error(err, BF_ERR_NOTFOUND, "no such column");
	value = parse(schema.fields[pred.field].type, args[2]);
	pred.values = &value;
	for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
	{
		BfParquetCounters c;
		double best = 1e9;
		int64_t rows = 0;

		filter.prune = sets[i].prune;
		memset(&filtered, 0, sizeof filtered);
		for (int round = 0; round < ROUNDS; round++)
		{
			double t = now();

			BF_TRY(scan(a, f, &p, &filter, &c, &rows, err));
			t = now() - t;
			best = t < best ? t : best;
		}
		printf("%-16s %9.3f ms %9lld rows; left out: row groups %lld+%lld+%lld, rows by index "
			   "%lld, by "
			   "filter %lld, pages %lld\n",
			   sets[i].name, best * 1e3, (long long) rows, (long long) c.row_groups_by_statistics,
			   (long long) c.row_groups_by_bloom, (long long) c.row_groups_by_dictionary,
			   (long long) c.rows_by_index, (long long) filtered.rows_filtered / ROUNDS,
			   (long long) c.pages_skipped);
	}
	bf_arena_free(a);
	return BF_OK;
}

int
main(int argc, char **argv)
{
	TestHost h;
	BfError err;

	if (argc < 6)
	{
		fprintf(stderr, "usage: parquet_filter FILE COLUMN OPERATOR VALUE projected...\n");
		return 2;
	}
	test_host_init(&h);
	bf_error_clear(&err);
	if (bench(&h.host, argv + 2, argc - 5, &err) != BF_OK)
	{
		fprintf(stderr, "%s: %s\n", bf_status_name(err.code), err.text);
		return 1;
	}
	return 0;
}
