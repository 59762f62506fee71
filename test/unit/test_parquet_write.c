/*
 * What is written is read: every type, with values and NULLs of every pattern, in pages of both
 * versions, with all encodings and the basic ones; the same bytes however rows are cut into
 * batches.
 */
#include "unit/test_parquet_write.h"

TEST(parquet_write_types)
{
	static const int32_t sizes[] = {1, 999, 4096, 7};

	for (int required = 0; required < 2; required++)
	{
		BfSchema s = all_types(test_arena(), required);

		for (int nulls = 0; nulls < MADE_NULLS_COUNT; nulls++)
			for (int values = 0; values < MADE_VALUES_COUNT; values++)
				for (int kind = 0; kind < 4; kind++)
				{
					BfParquetWriteOptions o = kind == 3 ? bf_parquet_write_defaults : small_pages();
					MadeRows made = {.nulls = (MadeNulls) nulls,
									 .values = (MadeValues) values,
									 .bytes_max = 30,
									 .random = from_test};

					o.page_version = kind == 1 ? 2 : 1;
					o.basic_encodings = kind == 2;
					round_trip(&s, &made, sizes, 4, &o);
				}
	}
}

/* The same rows are the same bytes, in whatever batches and vectors they come. */
TEST(parquet_write_deterministic)
{
	static const int32_t one[] = {4096, 4096, 4096}, many[] = {1, 1023, 1024, 1025, 700, 3};
	BfArena *a = test_arena();
	BfSchema s = all_types(a, false);
	MadeRows made = {
		.nulls = MADE_SOME_NULLS, .values = MADE_FEW, .bytes_max = 9, .random = from_test};
	BfParquetWriteOptions o = small_pages();
	BfBatch **whole = made_batches(a, &s, &made, one, 3);
	BfBatch *parts[64];
	int32_t n = 0;
	BfParquetWritten file;
	BfBuffer x, y;

	o.row_group_rows = 1 << 20;
	o.row_group_bytes = 100000;
	o.page_rows = 5000;
	for (int32_t i = 0, k = 0; i < 3; i++)
		for (int32_t first = 0; first < 4096; k++)
		{
			int32_t rows = many[k % 6] < 4096 - first ? many[k % 6] : 4096 - first;
			uint64_t *bits = bf_arena_alloc_array(a, BF_VALIDITY_WORDS, sizeof *bits);

			memset(bits, 0, BF_VALIDITY_WORDS * sizeof *bits);
			for (int32_t row = first; row < first + rows; row++)
				bf_validity_set(bits, row, true);
			REQUIRE(n < 64);
			parts[n] = bf_arena_memdup(a, whole[i], sizeof *whole[i]);
			parts[n]->selected = bits;
			parts[n++]->n_selected = rows;
			first += rows;
		}
	bf_buffer_init(&x, test_host(), (size_t) 1 << 26);
	bf_buffer_init(&y, test_host(), (size_t) 1 << 26);
	REQUIRE_OK(write_file(a, &s, whole, 3, &o, &x, &file));
	EXPECT(file.n_row_groups > 2);
	REQUIRE_OK(write_file(a, &s, parts, n, &o, &y, &file));
	EXPECT(x.len == y.len && memcmp(x.data, y.data, x.len) == 0);
	bf_buffer_free(&x);
	bf_buffer_free(&y);
}

/* Constants, and texts as codes of a dictionary: what readers make of them. */
TEST(parquet_write_forms)
{
	BfArena *a = test_arena();
	BfField fields[] = {{.id = 1, .name = "text", .type = {.kind = BF_KIND_STRING}},
						{.id = 2, .name = "same", .type = {.kind = BF_KIND_INT64}},
						{.id = 3, .name = "nothing", .type = {.kind = BF_KIND_STRING}}};
	BfSchema s = {.n_fields = 3, .fields = fields};
	BfValue seven = {.type = BF_TYPE(INT64), .v.i64 = 7};
	BfVector cols[3], dict;
	BfBatch batch = {.n_rows = 3000, .n_cols = 3, .cols = cols};
	BfBatch *b[] = {&batch, &batch};
	BfParquetWritten file;
	BfBuffer out;

	REQUIRE_OK(bf_vector_init(a, &dict, BF_TYPE(STRING), &test_err));
	dict.n = 3;
	dict.validity = NULL;
	dict.data.view[0] = (BfView){(const uint8_t *) "", 0};
	dict.data.view[1] = (BfView){(const uint8_t *) "abc", 3};
	dict.data.view[2] = (BfView){(const uint8_t *) "a text of many bytes", 20};
	REQUIRE_OK(bf_vector_init(a, &cols[0], BF_TYPE(STRING), &test_err));
	cols[0].form = BF_VEC_DICT;
	cols[0].dict = &dict;
	cols[0].n = 3000;
	cols[0].codes = bf_arena_alloc_array(a, BF_BATCH_ROWS, sizeof *cols[0].codes);
	for (int32_t i = 0; i < 3000; i++)
	{
		cols[0].codes[i] = (uint32_t) test_random_below(3);
		bf_validity_set(cols[0].validity, i, test_random_below(5) != 0);
	}
	REQUIRE_OK(bf_vector_init(a, &cols[1], BF_TYPE(INT64), &test_err));
	bf_vector_set_const(&cols[1], &seven, 3000);
	bf_vector_set_null(&cols[2], BF_TYPE(STRING), 3000);
	bf_buffer_init(&out, test_host(), (size_t) 1 << 26);
	REQUIRE_OK(write_file(a, &s, b, 2, NULL, &out, &file));
	check_rows(a, &s, b, 2, &out);
	EXPECT(file.columns[1].has_lower && file.columns[1].lower.v.i64 == 7);
	EXPECT(file.columns[1].has_upper && file.columns[1].upper.v.i64 == 7);
	EXPECT(!file.columns[2].has_lower && file.columns[2].nulls == 6000);
	bf_buffer_free(&out);
}

/* A file of no rows is a file. */
TEST(parquet_write_empty)
{
	BfArena *a = test_arena();
	BfSchema s = all_types(a, false);
	BfParquetWritten file;
	BfBuffer out;

	bf_buffer_init(&out, test_host(), (size_t) 1 << 26);
	REQUIRE_OK(write_file(a, &s, NULL, 0, NULL, &out, &file));
	EXPECT_EQ(file.rows, 0);
	EXPECT_EQ(file.n_row_groups, 0);
	check_rows(a, &s, NULL, 0, &out);
	bf_buffer_free(&out);
}
