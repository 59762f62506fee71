/*
 * Fuzz targets. Each is one file fuzz_<name>.c with one function,
 *
 *     int bf_fuzz_<name>(const uint8_t *data, size_t size);
 *
 * and one line in the list below. The same function is run by three drivers:
 *
 *     make fuzz-replay               seeds and seeded mutations of them, on every test run;
 *                                    with TARGET=<name> for one of them
 *     make fuzz TARGET=<name>        libFuzzer, for $(SECONDS) seconds
 *     build/fuzz/replay <name> file  one input, for looking at a failure
 *
 * A target is a property test: beyond "no crash" it checks what must hold (decode of encode, one
 * way against the other) with FUZZ_CHECK. It takes memory and files from fuzz_host(); the driver
 * ends the run when something was not given back, when a run takes more than FUZZ_SECONDS_MAX
 * seconds of a processor or more than FUZZ_BYTES_MAX bytes. It returns 0, or -1 for input that is
 * not worth keeping.
 *
 * Seeds stand in test/fuzz/seeds/<name>/; a target without any is a failure, since mutations of
 * nothing don't get past the first check of a magic. A file FROM_DATA there has patterns, one a
 * line, relative to test/data, FROM_CORPUS has some relative to $BIFANG_CORPUS: files that match
 * and have at most FUZZ_INPUT_MAX bytes are seeds too.
 */
#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"

/* Keep the list sorted, one target a line. */
#define FUZZ_TARGETS(X)      \
	X(avro_container)        \
	X(avro_reader)           \
	X(avro_rows)             \
	X(avro_schema)           \
	X(batch)                 \
	X(codec)                 \
	X(iceberg_manifest)      \
	X(iceberg_manifest_list) \
	X(iceberg_metadata)      \
	X(index)                 \
	X(logical)               \
	X(offload)               \
	X(parquet)               \
	X(parquet_decode)        \
	X(parquet_prune)         \
	X(parquet_write)         \
	X(position_deletes)      \
	X(pred)                  \
	X(puffin_dv)             \
	X(rangeset)              \
	X(scan)                  \
	X(segment)               \
	X(source)                \
	X(vec_key)

/* Weak, so that a program can be linked with some of them only (`make fuzz-replay TARGET=<name>`).
 */
#define FUZZ_DECLARE(name) \
	extern int bf_fuzz_##name(const uint8_t *data, size_t size) __attribute__((weak));
FUZZ_TARGETS(FUZZ_DECLARE)
#undef FUZZ_DECLARE

/* Mutations that a target gets in fuzz-replay: as many on every machine, however busy it is. Those
 * listed take longer for one; each target should take about a second. */
#define FUZZ_RUNS 100000
#define FUZZ_SLOW(X)                \
	X(avro_container, 15000)        \
	X(avro_reader, 12000)           \
	X(avro_rows, 8000)              \
	X(avro_schema, 30000)           \
	X(batch, 10000)                 \
	X(codec, 12000)                 \
	X(iceberg_manifest, 3000)       \
	X(iceberg_manifest_list, 15000) \
	X(iceberg_metadata, 10000)      \
	X(offload, 40000)               \
	X(parquet, 1000)                \
	X(parquet_prune, 400)           \
	X(parquet_write, 150)           \
	X(position_deletes, 4000)       \
	X(pred, 10000)                  \
	X(segment, 1000)                \
	X(source, 2000)

#define FUZZ_SECONDS_MAX 10
#define FUZZ_INPUT_MAX ((size_t) 256 * 1024)
#define FUZZ_BYTES_MAX ((size_t) 512 << 20)

#define FUZZ_CHECK(cond)                                                              \
	do                                                                                \
	{                                                                                 \
		if (!(cond))                                                                  \
		{                                                                             \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                                  \
		}                                                                             \
	} while (0)

/* The host of the running input: in memory up to FUZZ_BYTES_MAX, counted. */
extern const BfHost *fuzz_host(void);
/* An arena on it; the target frees it. */
extern BfArena *fuzz_arena(size_t bytes_max);
/* What a driver calls: runs the input, then looks for what was not given back. */
extern int fuzz_run(int (*target)(const uint8_t *, size_t), const uint8_t *data, size_t size);

/* Takes the input apart: numbers come from the end, so that the front stays the file under test. */
typedef struct FuzzInput
{
	const uint8_t *data;
	size_t size;
} FuzzInput;

/* 0 when nothing is left. */
extern uint64_t fuzz_take(FuzzInput *in, unsigned bytes);
extern uint64_t fuzz_take_below(FuzzInput *in, uint64_t n);

#endif
