/*
 * A Parquet or Avro file as a position delete file and as an equality delete file. Read twice it
 * says the same; windows of any length agree with single rows; and keys applied to the file that
 * they are from delete every row of it, since NULL equals NULL and NaN equals NaN.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "exec/read/avro_internal.h"
#include "exec/read/avro_reader.h"
#include "exec/delete/internal.h"
#include "exec/read/parquet_reader.h"
#include "fuzz/fuzz.h"

/* A few bytes can describe billions of rows. */
#define ROWS_MAX 100000
#define KEYS_MAX 3
#define DATA_PATH "/t/a"

/* The input. */
typedef struct File
{
	const char *path;
	bool avro;
	BfParquetFile *parquet; /* NULL: Avro */
	const BfSchema *schema;
} File;

/* Two data files, and none. */
static BfStatus
resolve(void *arg, BfArena *a, const char *path, const char **out, BfError *err)
{
	size_t n = strlen(path);

	(void) arg;
	(void) a;
	(void) err;
	FUZZ_CHECK(n > 0);
	*out = path[n - 1] % 3 == 0 ? NULL : path[n - 1] % 3 == 1 ? DATA_PATH : "/t/b";
	return BF_OK;
}

static BfStatus
column_of(void *arg, BfArena *a, int32_t id, const BfField **out, BfError *err)
{
	const File *f = arg;
	int32_t i = bf_schema_find_id(f->schema, id);

	(void) a;
	(void) err;
	*out = i < 0 ? NULL : &f->schema->fields[i];
	return BF_OK;
}

static const BfVector *
column(void *arg, int32_t k)
{
	return &((const BfBatch *) arg)->cols[k];
}

static void
check_windows(BfDeletes *d, FuzzInput *in)
{
	BfError err;

	for (int round = 0; round < 4; round++)
	{
		int64_t first = (int64_t) fuzz_take_below(in, 2000) - 100;
		int32_t n = (int32_t) fuzz_take_below(in, 300);
		uint64_t bits[BF_VALIDITY_WORDS];

		if (first < 0)
			first = (int64_t) (fuzz_take(in, 8) >> 2);
		memset(bits, 0xff, sizeof bits);
		FUZZ_CHECK(bf_deletes_apply(d, first, n, NULL, NULL, bits, &err) == BF_OK);
		for (int32_t i = 0; i < n; i++)
		{
			uint64_t one[BF_VALIDITY_WORDS] = {1};

			FUZZ_CHECK(bf_deletes_apply(d, first + i, 1, NULL, NULL, one, &err) == BF_OK);
			FUZZ_CHECK(bf_valid(bits, i) == (one[0] == 1));
		}
	}
}

static bool
expected(BfStatus s)
{
	return s == BF_OK || s == BF_ERR_CORRUPT || s == BF_ERR_UNSUPPORTED || s == BF_ERR_LIMIT ||
		   s == BF_ERR_VALUE;
}

static void
run_positions(const BfDeleteOptions *options, const File *f, FuzzInput *in)
{
	BfDeleteSource source = {
		.kind = BF_DELETE_POSITION, .path = f->path, .avro = f->avro, .record_count = -1};
	BfArena *a = fuzz_arena((size_t) 256 << 20);
	BfDeletes *d[2];
	BfStatus status[2];
	BfError err;

	for (int i = 0; i < 2; i++)
	{
		BfDeleteCache *c;

		FUZZ_CHECK(bf_delete_cache_new(a, options, &c, &err) == BF_OK);
		status[i] = bf_deletes_load(a, c, DATA_PATH, 1, &source, 1, &d[i], &err);
		FUZZ_CHECK(expected(status[i]));
		FUZZ_CHECK(status[i] == BF_OK || err.object[0] != '\0');
	}
	FUZZ_CHECK(status[0] == status[1]);
	if (status[0] == BF_OK)
	{
		FUZZ_CHECK((d[0] == NULL) == (d[1] == NULL));
		if (d[0] != NULL)
			check_windows(d[0], in);
	}
	bf_arena_free(a);
}

/* Reads the file again, as a data file. */
static void
check_all_deleted(BfArena *a, const File *f, BfDeletes *d)
{
	int32_t indexes[KEYS_MAX] = {0, 1, 2};
	BfSchema schema = {0};
	BfProjection p = {.schema = &schema, .fields = indexes};
	BfReader *reader;
	BfError err;

	schema.fields = (BfField *) (uintptr_t) bf_deletes_fields(d, &schema.n_fields);
	p.n_fields = schema.n_fields;
	if (f->avro)
		FUZZ_CHECK(bf_exec_avro_reader(a, f->path, &p, NULL, NULL, &reader, &err) == BF_OK);
	else
		FUZZ_CHECK(bf_exec_parquet_reader_over(a, f->parquet, &p, NULL, 0, -1, NULL, &reader,
											   &err) == BF_OK);
	for (;;)
	{
		uint64_t bits[BF_VALIDITY_WORDS];
		const BfBatch *b;

		FUZZ_CHECK(reader->next(reader, &b, &err) == BF_OK);
		if (b == NULL)
			return;
		memset(bits, 0xff, sizeof bits);
		FUZZ_CHECK(bf_deletes_apply(d, b->first_row, b->n_rows, column, (void *) (uintptr_t) b,
									bits, &err) == BF_OK);
		for (int32_t i = 0; i < b->n_rows; i++)
			FUZZ_CHECK(!bf_valid(bits, i));
		FUZZ_CHECK(b->n_rows == BF_BATCH_ROWS || bf_valid(bits, b->n_rows));
	}
}

static void
run_keys(const BfDeleteOptions *options, const File *f, FuzzInput *in)
{
	const BfSchema *schema = f->schema;
	int32_t ids[KEYS_MAX];
	BfDeleteSource source = {.kind = BF_DELETE_EQUALITY,
							 .path = f->path,
							 .avro = f->avro,
							 .sequence = 2,
							 .scope = -1,
							 .ids = ids,
							 .record_count = -1};
	BfArena *a = fuzz_arena((size_t) 256 << 20);
	BfDeleteCache *c;
	BfDeletes *d;
	BfStatus status;
	BfError err;

	for (int k = 0; k < KEYS_MAX && schema->n_fields > 0; k++)
		ids[source.n_ids++] = schema->fields[fuzz_take_below(in, (uint64_t) schema->n_fields)].id;
	FUZZ_CHECK(bf_delete_cache_new(a, options, &c, &err) == BF_OK);
	status = bf_deletes_load(a, c, DATA_PATH, 1, &source, 1, &d, &err);
	FUZZ_CHECK(expected(status));
	FUZZ_CHECK(status == BF_OK || err.object[0] != '\0');
	if (status == BF_OK && d != NULL)
		check_all_deleted(a, f, d);
	bf_arena_free(a);
}

/* Opens the input, to know its schema. */
static bool
open_file(BfArena *a, File *f)
{
	BfAvroReader *records;
	BfSource *source;
	BfSchema *schema;
	BfError err;

	if (!f->avro)
	{
		if (bf_exec_parquet_open(a, f->path, NULL, &f->parquet, &err) != BF_OK ||
			bf_parquet_n_rows(f->parquet) > ROWS_MAX)
			return false;
		f->schema = bf_parquet_schema(f->parquet);
		return true;
	}
	if (bf_source_open(a, f->path, NULL, &source, &err) != BF_OK ||
		bf_avro_open(a, source, &records, &err) != BF_OK ||
		bfi_avro_schema(a, bf_avro_reader_schema(records), &schema, &err) != BF_OK)
		return false;
	f->schema = schema;
	return true;
}

int
bf_fuzz_position_deletes(const uint8_t *data, size_t size)
{
	BfArena *a = fuzz_arena((size_t) 64 << 20);
	FuzzInput in = {data, size};
	int fd = memfd_create("deletes", 0);
	char path[64];
	File f = {.path = path, .avro = size > 3 && memcmp(data, "Obj", 3) == 0};
	BfDeleteOptions options = {
		.resolve = resolve, .column_of = column_of, .arg = &f, .bytes_max = (size_t) 64 << 20};
	int result = -1;

	FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t) size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (open_file(a, &f))
	{
		run_positions(&options, &f, &in);
		run_keys(&options, &f, &in);
		result = 0;
	}
	bf_arena_free(a);
	close(fd);
	return result;
}
