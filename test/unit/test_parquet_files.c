/*
 * Whole files: every encoding of the same values, and what a file gets when its bytes are damaged,
 * cut, or read under faults.
 */
#include <stdlib.h>

#include "parquet/parquet.h"
#include "unit/lib/faults.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"

#define ROWS 700

static const char *const files[] = {
	"test/data/parquet_encodings/optional_v1_zstd.parquet",
	"test/data/parquet_encodings/required_v2_snappy.parquet",
};
#define N_FILES 2

/* ---- what is in them: see the README beside them ---- */

static void
check_bytes(const BfValue *v, const char *want, size_t len)
{
	EXPECT(v->v.view.len == len && memcmp(v->v.view.ptr, want, len) == 0);
}

static void
check_value(const char *column, int64_t i, const BfValue *v)
{
	char text[64];

	if (strncmp(column, "i32", 3) == 0)
		EXPECT_EQ(v->v.i32, i * i * 7919 % 100003 - 50000);
	else if (strncmp(column, "i64", 3) == 0)
		EXPECT_EQ(v->v.i64, i * i * i * 1000003 - ((int64_t) 1 << 40));
	else if (strncmp(column, "f32", 3) == 0)
		EXPECT(v->v.f32 == (float) i / 4 - 100);
	else if (strncmp(column, "f64", 3) == 0)
		EXPECT(v->v.f64 == (double) i / 4 - 100);
	else if (column[0] == 's')
	{
		int n = snprintf(text, sizeof text, "key-%d/%.*s", (int) (i % 50), (int) (i % 11),
						 "zzzzzzzzzzz");

		check_bytes(v, text, (size_t) n);
	}
	else if (column[0] == 'x')
	{
		const char want[4] = {(char) i, (char) (i * 3), 0, (char) 255};

		check_bytes(v, want, 4);
	}
	else
		EXPECT_EQ(v->v.u8, i * i % 3 == 1);
}

static BfStatus
open_memory(BfArena *a, BfView bytes, const BfParquetLimits *limits, BfParquetFile **f)
{
	BfSource *source;

	BF_TRY(bf_source_memory(a, bytes.ptr, bytes.len, "file", &source, &test_err));
	return bf_parquet_open(a, source, limits, f, &test_err);
}

static BfStatus
read_bytes(BfArena *a, const char *path, BfView *out)
{
	return bf_source_read_all(a, path, (size_t) 1 << 20, NULL, out, &test_err);
}

/* Scans all columns; checks the values when asked to. */
static BfStatus
scan_all(BfArena *a, BfView bytes, const BfParquetLimits *limits, bool checking, int64_t *rows)
{
	BfParquetFile *f;
	BfParquetScan *s;
	const BfSchema *schema;
	int32_t columns[64];
	int32_t n = 0;

	*rows = 0;
	BF_TRY(open_memory(a, bytes, limits, &f));
	schema = bf_parquet_schema(f);
	for (int32_t i = 0; i < schema->n_fields && i < 64; i++)
		if (bf_type_storage(schema->fields[i].type) != BF_STORE_NESTED)
			columns[n++] = i;
	BF_TRY(bf_parquet_scan_new(a, f, columns, n, NULL, &s, &test_err));
	for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f); rg++)
	{
		BF_TRY(bf_parquet_scan_row_group(s, rg, &test_err));
		for (;;)
		{
			const BfBatch *b;

			BF_TRY(bf_parquet_scan_next(s, &b, &test_err));
			if (b == NULL)
				break;
			if (checking)
				EXPECT_EQ(b->first_row, *rows);
			for (int32_t c = 0; c < n && checking; c++)
				for (int32_t i = 0; i < b->n_rows; i++)
				{
					const BfField *field = &schema->fields[columns[c]];
					int64_t row = *rows + i;
					BfValue v;
					bool valid = bf_vector_get(&b->cols[c], i, &v);

					EXPECT(valid == (field->required || row % 7 != 3));
					if (valid)
						check_value(field->name, row, &v);
				}
			*rows += b->n_rows;
		}
	}
	return BF_OK;
}

TEST(parquet_files_encodings)
{
	for (int i = 0; i < N_FILES; i++)
	{
		BfView bytes;
		int64_t rows;
		BfParquetLimits tiny = bf_parquet_default_limits;

		tiny.window_bytes = 1;
		REQUIRE_OK(read_bytes(test_arena(), files[i], &bytes));
		REQUIRE_OK(scan_all(test_arena(), bytes, NULL, true, &rows));
		EXPECT_EQ(rows, ROWS);
		REQUIRE_OK(scan_all(test_arena(), bytes, &tiny, true, &rows));
		EXPECT_EQ(rows, ROWS);
	}
}

TEST(parquet_files_metadata)
{
	BfView bytes;
	BfParquetFile *f;
	BfParquetChunkInfo info;

	REQUIRE_OK(read_bytes(test_arena(), files[0], &bytes));
	REQUIRE_OK(open_memory(test_arena(), bytes, NULL, &f));
	EXPECT_EQ(bf_parquet_n_rows(f), ROWS);
	EXPECT_EQ(bf_parquet_n_row_groups(f), 2);
	EXPECT_EQ(bf_parquet_row_group_rows(f, 0), 500);
	EXPECT_EQ(bf_parquet_row_group_first_row(f, 1), 500);
	EXPECT(strncmp(bf_parquet_created_by(f), "parquet-cpp-arrow version ", 26) == 0);
	EXPECT(bf_parquet_key_value(f, "no such key") == NULL);
	EXPECT_EQ(bf_parquet_n_leaves(f), bf_parquet_schema(f)->n_fields);
	REQUIRE_OK(bf_parquet_chunk_info(f, test_arena(), 1, 0, &info, &test_err));
	EXPECT_STR(info.path, bf_parquet_schema(f)->fields[0].name);
	EXPECT_STR(info.physical_type, "INT32");
	EXPECT_STR(info.codec, "ZSTD");
	EXPECT(strstr(info.encodings, "PLAIN") != NULL);
	EXPECT_EQ(info.n_values, 200);
	EXPECT(!info.has_min && !info.has_max);
}

/* ---- damage ---- */

/* Every byte of the file flipped, one at a time: an error, or, where the byte does not matter, the
 * same rows. Checksums make sure that no damaged page is read; without them nothing may crash. */
TEST(parquet_files_flipped_bytes)
{
	BfView original;
	int refused = 0;
	int tried = 0;

	REQUIRE_OK(read_bytes(test_arena(), files[0], &original));
	for (uint32_t at = (uint32_t) test_random_below(307); at < original.len; at += 307)
	{
		BfArena *a = bf_arena_new(test_host(), "flipped", (size_t) 256 << 20);
		uint8_t *copy = bf_arena_memdup(a, original.ptr, original.len);
		BfParquetLimits unchecked = bf_parquet_default_limits;
		int64_t rows;
		BfStatus st;

		copy[at] ^= (uint8_t) (1 + test_random_below(255));
		st = scan_all(a, (BfView){copy, original.len}, NULL, false, &rows);
		tried++;
		refused += st != BF_OK;
		if (st == BF_OK)
			EXPECT(rows <= ROWS);
		else
			EXPECT(test_err.text[0] != '\0' && strcmp(test_err.object, "file") == 0);
		unchecked.verify_crc = false;
		st = scan_all(a, (BfView){copy, original.len}, &unchecked, false, &rows);
		EXPECT(st == BF_OK || test_err.code == st);
		bf_arena_free(a);
		bf_error_clear(&test_err);
	}
	/* The pages are most of the file, and all of them have checksums. */
	EXPECT(refused * 10 > tried * 7);
}

/* A file that ends early is never a shorter table. */
TEST(parquet_files_cut)
{
	BfView original;

	REQUIRE_OK(read_bytes(test_arena(), files[1], &original));
	for (uint32_t len = 0; len < original.len; len += len < 64 ? 1 : 997)
	{
		BfArena *a = bf_arena_new(test_host(), "cut", (size_t) 64 << 20);
		int64_t rows;

		EXPECT(scan_all(a, (BfView){original.ptr, len}, NULL, false, &rows) == BF_ERR_CORRUPT);
		bf_arena_free(a);
	}
}

TEST(parquet_files_magic)
{
	char bytes[] = "PAR1....\x04\0\0\0PARE";
	BfParquetFile *f;

	EXPECT_FAIL(open_memory(test_arena(), (BfView){(const uint8_t *) bytes, 16}, NULL, &f),
				BF_ERR_UNSUPPORTED, 12);
	memcpy(bytes + 12, "PAR2", 4);
	EXPECT_FAIL(open_memory(test_arena(), (BfView){(const uint8_t *) bytes, 16}, NULL, &f),
				BF_ERR_CORRUPT, 12);
	memcpy(bytes + 8, "\x09\0\0\0PAR1", 8);
	EXPECT_FAIL(open_memory(test_arena(), (BfView){(const uint8_t *) bytes, 16}, NULL, &f),
				BF_ERR_CORRUPT, 8);
	memcpy(bytes + 8, "\0\0\0\0PAR1", 8);
	EXPECT_FAIL(open_memory(test_arena(), (BfView){(const uint8_t *) bytes, 16}, NULL, &f),
				BF_ERR_CORRUPT, 8);
	EXPECT_FAIL(open_memory(test_arena(), (BfView){(const uint8_t *) "PAR1PAR1", 8}, NULL, &f),
				BF_ERR_CORRUPT, 0);
}

TEST(parquet_files_limits)
{
	BfView bytes;
	BfParquetLimits small = bf_parquet_default_limits;
	BfParquetFile *f;
	int64_t rows;

	REQUIRE_OK(read_bytes(test_arena(), files[0], &bytes));
	small.footer_bytes_max = 100;
	EXPECT_FAIL(open_memory(test_arena(), bytes, &small, &f), BF_ERR_LIMIT, -1);
	small = bf_parquet_default_limits;
	small.page_bytes_max = 500;
	EXPECT_FAIL(scan_all(test_arena(), bytes, &small, false, &rows), BF_ERR_LIMIT, -1);
}

/* ---- faults ---- */

static BfStatus
scan_path(const BfHost *host, const char *path)
{
	BfArena *a = bf_arena_new(host, "faults", (size_t) 256 << 20);
	BfSource *source;
	BfParquetFile *f;
	BfParquetScan *s;
	BfStatus st;
	static const int32_t columns[] = {0, 1, 14, 16, 17, 21};

	if (a == NULL)
		return BF_ERR_NOMEM;
	st = bf_source_open(a, path, NULL, &source, &test_err);
	if (st == BF_OK)
		st = bf_parquet_open(a, source, NULL, &f, &test_err);
	if (st == BF_OK)
		st = bf_parquet_scan_new(a, f, columns, 6, NULL, &s, &test_err);
	for (int32_t rg = 0; st == BF_OK && rg < bf_parquet_n_row_groups(f); rg++)
	{
		const BfBatch *b = NULL;

		st = bf_parquet_scan_row_group(s, rg, &test_err);
		while (st == BF_OK && (st = bf_parquet_scan_next(s, &b, &test_err)) == BF_OK && b != NULL)
			;
	}
	bf_arena_free(a);
	return st;
}

static BfStatus
scan_one(const BfHost *host)
{
	return scan_path(host, files[0]);
}

TEST(parquet_files_faults)
{
	test_every_fault(scan_one, false);
}
