/*
 * What reading a log costs per record. Built by hand, not part of the tests:
 *
 *     gcc -std=c11 -D_GNU_SOURCE -O2 -Isrc -Itest -o log_scan test/bench/log_scan.c \
 *         $(ls src/{base,io,codec,log}/''*.c src/vec/{batch,promote,type}.c) \
 *         $(ls src/exec/read/kafka_''*.c) test/unit/lib/host_posix.c \
 *         -lzstd -llz4 -lsnappy -lz -lbrotlidec -lm
 *     log_scan DIR [codec [records per batch [bytes per record]]]
 *
 * DIR is made and filled with a ledger when it is missing (300 MB before compression). Prints the
 * best of several rounds, the page cache being warm:
 *
 *   decode   records of batches in memory, no checksum, no decompression: the innermost loop
 *   columns  the same into arrays, many records a call
 *   walk     file to whole batches, checksum verified
 *   records  the same, each record decoded
 *   rows     the same, as column batches of offset, timestamp, key and value
 *   point    look-ups of single entries at random, each with the directory opened anew
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "exec/read/kafka_reader.h"
#include "log/writer.h"
#include "unit/lib/host_posix.h"

#define ROUNDS 7
#define BYTES ((size_t) 300 << 20)

static TestHost host;
static BfError err;
static BfCodecContext *ctx;
static BfBuffer *scratch;
static const char *dir;
static int64_t n_records;
static uint64_t sum; /* keeps the work from being left out */

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static void
check(BfStatus s)
{
	if (s == BF_OK)
		return;
	fprintf(stderr, "%s at %lld: %s\n", err.object, (long long) err.offset, err.text);
	exit(1);
}

static void
fill(BfCodec codec, int32_t per_batch, uint32_t len)
{
	BfArena *a = bf_arena_new(&host.host, "fill", (size_t) 1 << 30);
	BfLedgerOptions options = {.codec = codec};
	BfLedgerWriter *w;
	uint8_t *bytes = malloc((size_t) per_batch * len + 8);
	BfView *values = malloc((size_t) per_batch * sizeof *values);
	size_t batches = BYTES / ((size_t) per_batch * len) + 1;
	uint64_t x = 1;

	check(bf_ledger_writer_open(a, dir, (BfLedgerEnd){0, 0, 0}, &options, &w, &err));
	for (size_t b = 0; b < batches; b++)
	{
		for (size_t i = 0; i < (size_t) per_batch * len; i += 8)
		{
			x = x * 6364136223846793005u + 1442695040888963407u;
			/* Half noise, half not: compresses to about a half. */
			bf_store64le(bytes + i, x >> 33);
		}
		for (int32_t i = 0; i < per_batch; i++)
			values[i] = (BfView){bytes + (size_t) i * len, len};
		check(bf_ledger_append(w, values, per_batch, 1700000000000 + (int64_t) b, &err));
	}
	check(bf_ledger_writer_close(w, &err));
	free(values);
	free(bytes);
	bf_arena_free(a);
}

/* Calls `each` for every batch. */
static void
walk(void (*each)(const BfBatchHeader *h, const uint8_t *batch, int64_t position))
{
	BfArena *a = bf_arena_new(&host.host, "walk", (size_t) 1 << 30);
	BfRange range = {0, BF_ENTRY_MAX};
	BfRangeSet set = {1, &range};
	BfLogDir *d;
	BfLogWalk *w;

	check(bf_log_dir_open(a, dir, NULL, &d, &err));
	check(bf_log_walk_new(a, d, &set, false, &w, &err));
	for (;;)
	{
		BfBatchHeader h;
		const uint8_t *batch;
		const char *path;
		int64_t position;

		check(bf_log_walk_next(w, &h, &batch, &position, &path, &err));
		if (batch == NULL)
			break;
		each(&h, batch, position);
	}
	bf_arena_free(a);
}

static void
count_batch(const BfBatchHeader *h, const uint8_t *batch, int64_t position)
{
	sum += (uint64_t) h->n_records + batch[position & 31];
}

static void
decode_batch(const BfBatchHeader *h, const uint8_t *batch, int64_t position)
{
	BfRecordIter it;
	BfRecord r;
	bool more;

	check(bf_records_begin(ctx, h, batch, position, scratch, &it, &err));
	for (;;)
	{
		check(bf_records_next(&it, &r, &more, &err));
		if (!more)
			break;
		sum += (uint64_t) r.offset + r.value.len;
	}
}

static uint8_t *kept;
static BfBatchHeader kept_header;

static void
keep_batch(const BfBatchHeader *h, const uint8_t *batch, int64_t position)
{
	(void) position;
	if (kept != NULL)
		return;
	kept = malloc((size_t) h->total_bytes);
	memcpy(kept, batch, (size_t) h->total_bytes);
	kept_header = *h;
}

static void
run_walk(void)
{
	walk(count_batch);
}

static void
run_records(void)
{
	walk(decode_batch);
}

static void
run_rows(void)
{
	static const BfKafkaColumn columns[] = {BF_KAFKA_OFFSET, BF_KAFKA_TIMESTAMP, BF_KAFKA_KEY,
											BF_KAFKA_VALUE};
	BfArena *a = bf_arena_new(&host.host, "rows", (size_t) 1 << 30);
	BfKafkaRange range = {0, INT64_MAX, INT64_MIN, INT64_MAX, NULL, false};
	BfReader *r;

	check(bf_exec_kafka_reader(a, dir, 0, false, &range, columns, 4, NULL, &r, &err));
	for (;;)
	{
		const BfBatch *b;

		check(r->next(r, &b, &err));
		if (b == NULL)
			break;
		sum += (uint64_t) b->n_rows;
	}
	bf_arena_free(a);
}

/* The kept batch from its start, again. */
static void
restart(BfRecordIter *it)
{
	bool plain = kept_header.codec == BF_CODEC_NONE;

	it->header = kept_header;
	it->position = 0;
	it->n_left = kept_header.n_records;
	it->delta_min = 0;
	it->cursor = bf_cursor(
		plain ? kept + BF_BATCH_HEADER_BYTES : scratch->data,
		plain ? (size_t) kept_header.total_bytes - BF_BATCH_HEADER_BYTES : scratch->len, 0);
}

static void
run_decode(void)
{
	for (int64_t n = 0; n < n_records; n += kept_header.n_records)
	{
		BfRecordIter it;
		BfRecord r;
		bool more;

		restart(&it);
		for (;;)
		{
			check(bf_records_next(&it, &r, &more, &err));
			if (!more)
				break;
			sum += (uint64_t) r.offset + r.value.len;
		}
	}
}

static void
run_columns(void)
{
	static int64_t offsets[4096], timestamps[4096];
	static BfView keys[4096], values[4096];

	for (int64_t n = 0; n < n_records; n += kept_header.n_records)
	{
		BfRecordIter it;
		int32_t taken = 4096;

		restart(&it);
		while (taken == 4096)
		{
			BfRecordColumns c = {offsets, timestamps, keys, values, 0, 0};

			check(bf_records_columns(&it, &c, 4096, &taken, &err));
			sum += (uint64_t) offsets[0] + values[0].len;
		}
	}
}

#define POINTS 2000

static void
run_points(void)
{
	uint64_t x = 99;

	for (int i = 0; i < POINTS; i++)
	{
		BfArena *a = bf_arena_new(&host.host, "point", (size_t) 1 << 30);
		BfRange range;
		BfRangeSet set = {1, &range};
		BfLogDir *d;
		BfLogWalk *w;
		BfBatchHeader h;
		const uint8_t *batch;
		const char *path;
		int64_t position;

		x = x * 6364136223846793005u + 1442695040888963407u;
		range.first = range.last = (int64_t) ((x >> 20) % (uint64_t) n_records);
		check(bf_log_dir_open(a, dir, NULL, &d, &err));
		check(bf_log_walk_new(a, d, &set, true, &w, &err));
		check(bf_log_walk_next(w, &h, &batch, &position, &path, &err));
		sum += batch[30];
		bf_arena_free(a);
	}
}

static void
measure(const char *name, void (*run)(void), int64_t units, const char *unit)
{
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++)
	{
		double start = now();

		run();
		if (now() - start < best)
			best = now() - start;
	}
	printf("%-8s %9.2f ms %9.2f ns per %s\n", name, best * 1e3, best * 1e9 / (double) units, unit);
}

int
main(int argc, char **argv)
{
	static const struct
	{
		const char *name;
		BfCodec codec;
	} codecs[] = {{"none", BF_CODEC_NONE},
				  {"gzip", BF_CODEC_GZIP},
				  {"snappy", BF_CODEC_SNAPPY},
				  {"lz4", BF_CODEC_LZ4_FRAME},
				  {"zstd", BF_CODEC_ZSTD}};
	BfCodec codec = BF_CODEC_NONE;
	BfArena *a;
	BfLogDir *d;
	BfPathInfo info;
	int64_t start;

	if (argc < 2)
		return 2;
	test_host_init(&host);
	a = bf_arena_new(&host.host, "bench", (size_t) 1 << 30);
	dir = argv[1];
	for (size_t i = 0; argc > 2 && i < sizeof codecs / sizeof *codecs; i++)
		if (strcmp(argv[2], codecs[i].name) == 0)
			codec = codecs[i].codec;
	check(bf_codec_context_new(a, &ctx, &err));
	check(bf_buffer_new(a, BF_BATCH_BYTES_MAX, &scratch, &err));
	check(host.host.stat(&host.host, dir, &info, &err));
	if (info.kind == BF_PATH_MISSING)
		fill(codec, argc > 3 ? atoi(argv[3]) : 1000, argc > 4 ? (uint32_t) atoi(argv[4]) : 96);
	check(bf_log_dir_open(a, dir, NULL, &d, &err));
	check(bf_log_dir_bounds(d, &start, &n_records, &err));
	walk(keep_batch);
	decode_batch(&kept_header, kept, 0);
	printf("%lld records\n", (long long) n_records);
	measure("decode", run_decode, n_records, "record");
	measure("columns", run_columns, n_records, "record");
	measure("walk", run_walk, n_records, "record");
	measure("records", run_records, n_records, "record");
	measure("rows", run_rows, n_records, "record");
	measure("point", run_points, POINTS, "look-up");
	printf("(%llx)\n", (unsigned long long) sum);
	bf_arena_free(a);
	return 0;
}
