/*
 * What a footer says of a chunk, and how much of it counts.
 */
#include "parquet/internal.h"
#include "unit/lib/parquet_make.h"
#include "unit/lib/runner.h"

#define BYTES(s) ((BfView){(const uint8_t *) (s), sizeof(s) - 1})
#define ROWS 2
#define COLUMNS 5

/* Bytes whose type has no order, or none that writers agree on, have no bounds. */
TEST(parquet_stats_without_order)
{
	static const MadeStatistics statistics = {.min_value = BYTES("\1\0\0\0\1\0\0\0\1\0\0\0"),
											  .max_value = BYTES("\2\0\0\0\2\0\0\0\2\0\0\0"),
											  .null_count = 0};
	static const MadeStatistics of_four = {
		.min_value = BYTES("\1\0\0\0"), .max_value = BYTES("\2\0\0\0"), .null_count = 0};
	static const uint8_t values[ROWS * 12];
	const BfView twelve = {values, ROWS * 12};
	const BfView four = {values, ROWS * 4};
	const MadeColumn columns[COLUMNS] = {
		{.name = "fixed",
		 .values = twelve,
		 .physical = MADE_FLBA,
		 .length = 12,
		 .statistics = &statistics},
		{.name = "interval",
		 .values = twelve,
		 .physical = MADE_FLBA,
		 .length = 12,
		 .has_converted = true,
		 .converted = BFI_CONV_INTERVAL,
		 .statistics = &statistics},
		{.name = "int96", .values = twelve, .physical = MADE_INT96, .statistics = &statistics},
		{.name = "number", .values = four, .physical = MADE_INT32, .statistics = &of_four},
		{.name = "nothing",
		 .values = four,
		 .physical = MADE_INT32,
		 .logical = 11, /* UNKNOWN */
		 .statistics = &of_four}};
	static const bool ordered[COLUMNS] = {true, false, false, true, false};
	const MadeFile file = {
		.columns = columns, .n_columns = COLUMNS, .n_rows = ROWS, .typed_order = true};
	BfArena *a = test_arena();
	BfBuffer *bytes;
	BfSource *source;
	BfParquetFile *f;

	REQUIRE_OK(bf_buffer_new(a, (size_t) 1 << 20, &bytes, &test_err));
	REQUIRE_OK(made_parquet(bytes, &file, &test_err));
	REQUIRE_OK(bf_source_memory(a, bytes->data, bytes->len, "made", &source, &test_err));
	REQUIRE_OK(bf_parquet_open(a, source, NULL, &f, &test_err));
	for (int32_t i = 0; i < COLUMNS; i++)
	{
		const BfiPageBounds page = {columns[i].statistics->min_value,
									columns[i].statistics->max_value};
		BfColumnStats s;
		BfColumnStats of_page = {.known = true};

		EXPECT(bf_parquet_row_group_stats(f, 0, i, &s));
		if (s.has_min != ordered[i] || s.has_max != ordered[i])
			test_fail(__FILE__, __LINE__, "%s has%s bounds", columns[i].name,
					  ordered[i] ? " no" : "");
		bfi_page_bounds(f, i, &page, &of_page);
		if (of_page.has_min != ordered[i] || of_page.has_max != ordered[i])
			test_fail(__FILE__, __LINE__, "%s has%s bounds of pages", columns[i].name,
					  ordered[i] ? " no" : "");
	}
}

/* Pages of a chunk: their type, encoding, and how many there are. */
typedef struct PageCount
{
	uint8_t type, encoding, n;
} PageCount;

static bool
all_dictionary(const PageCount *counts, uint32_t n, uint32_t claimed)
{
	uint8_t bytes[64];
	BfiColumnMetaData m = {.seen = BFI_CM_ENCODING_STATS};
	size_t len = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		const uint8_t numbers[3] = {counts[i].type, counts[i].encoding, counts[i].n};

		for (int k = 0; k < 3; k++)
		{
			bytes[len++] = 0x15;
			bytes[len++] = (uint8_t) (numbers[k] * 2);
		}
		bytes[len++] = 0;
	}
	m.encoding_stats = (BfiThriftList){bf_cursor(bytes, len, 0), claimed, BFI_T_STRUCT};
	return bfi_chunk_is_dictionary(&m);
}

/* Only when each data page is known to be of codes does the dictionary have all values. */
TEST(parquet_chunk_is_dictionary)
{
	enum
	{
		PLAIN = 0,
		PLAIN_DICTIONARY = 2,
		RLE = 3,
		RLE_DICTIONARY = 8,
		NOBODY = 60
	};
	const struct
	{
		PageCount counts[3];
		uint32_t n, claimed;
		bool all;
	} cases[] = {
		{{{0, 0, 0}}, 0, 0, false},
		{{{BFI_PAGE_DATA, RLE_DICTIONARY, 3}}, 1, 1, true},
		{{{BFI_PAGE_DATA, PLAIN_DICTIONARY, 3}}, 1, 1, true},
		{{{BFI_PAGE_DATA_V2, RLE_DICTIONARY, 1}}, 1, 1, true},
		/* The dictionary's own page is PLAIN, and says nothing of the others. */
		{{{BFI_PAGE_DICTIONARY, PLAIN, 1}, {BFI_PAGE_DATA, RLE_DICTIONARY, 1}}, 2, 2, true},
		{{{BFI_PAGE_DICTIONARY, PLAIN, 1}}, 1, 1, false},
		/* The dictionary became too large, and the rest was written without it. */
		{{{BFI_PAGE_DATA, RLE_DICTIONARY, 3}, {BFI_PAGE_DATA, PLAIN, 1}}, 2, 2, false},
		{{{BFI_PAGE_DATA_V2, RLE_DICTIONARY, 3}, {BFI_PAGE_DATA_V2, PLAIN, 1}}, 2, 2, false},
		{{{BFI_PAGE_DATA, PLAIN, 1}, {BFI_PAGE_DATA, RLE_DICTIONARY, 3}}, 2, 2, false},
		{{{BFI_PAGE_DATA, RLE_DICTIONARY, 3}, {BFI_PAGE_DATA, PLAIN, 0}}, 2, 2, true},
		{{{BFI_PAGE_DATA, RLE_DICTIONARY, 0}}, 1, 1, false},
		{{{BFI_PAGE_DATA, RLE, 1}}, 1, 1, false},
		{{{BFI_PAGE_DATA, RLE_DICTIONARY, 1}, {BFI_PAGE_DATA, NOBODY, 1}}, 2, 2, false},
		/* Damaged: more are claimed than there are. */
		{{{BFI_PAGE_DATA, RLE_DICTIONARY, 1}}, 1, 2, false},
	};
	BfiColumnMetaData silent = {.seen = 0};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		EXPECT(all_dictionary(cases[i].counts, cases[i].n, cases[i].claimed) == cases[i].all);
	EXPECT(!bfi_chunk_is_dictionary(&silent));
}

static BfParquetFile *
open_made(const MadeColumn *columns, int32_t n_columns, int32_t n_rows)
{
	const MadeFile file = {
		.columns = columns, .n_columns = n_columns, .n_rows = n_rows, .typed_order = true};
	BfArena *a = test_arena();
	BfParquetFile *f = NULL;
	BfBuffer *bytes;
	BfSource *source;

	if (bf_buffer_new(a, (size_t) 1 << 20, &bytes, &test_err) == BF_OK &&
		made_parquet(bytes, &file, &test_err) == BF_OK &&
		bf_source_memory(a, bytes->data, bytes->len, "made", &source, &test_err) == BF_OK)
		EXPECT(bf_parquet_open(a, source, NULL, &f, &test_err) == BF_OK);
	return f;
}

/* A writer's count of different values, where it can be. */
TEST(parquet_distinct_count)
{
	static const int64_t longs[4] = {1, 2, 3, 4};
	static const struct
	{
		int64_t nulls, told, expected;
	} cases[] = {
		{0, 0, -1}, {0, 1, 1},	{0, 4, 4}, {0, 5, -1},		   {0, -1, -1},		   {1, 4, -1},
		{1, 3, 3},	{-1, 4, 4}, {9, 4, 4}, {0, INT64_MAX, -1}, {0, INT64_MIN, -1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		const MadeStatistics statistics = {.null_count = cases[i].nulls,
										   .distinct_count = cases[i].told};
		const MadeColumn column = {.name = "a", .longs = longs, .statistics = &statistics};
		BfParquetFile *f = open_made(&column, 1, 4);
		BfParquetValues v;

		REQUIRE(f != NULL);
		EXPECT(bf_parquet_row_group_values(f, 0, 0, &v));
		EXPECT_EQ(v.distinct, cases[i].expected);
		EXPECT(!v.has_dictionary && v.bytes >= 32);
	}
}

/* Whoever reads a dictionary that all of a chunk is in knows how many values there are, and so do
 * all who have the file open by the same footer. */
TEST(parquet_dictionary_counts)
{
	static const MadeStatistics statistics = {.null_count = 0, .distinct_count = 3};
	static const uint8_t entries[16] = {1, 0, 0, 0, 0, 0, 0, 0, 2};
	static const uint8_t codes[3] = {1, 3, 2}; /* a bit each, one group of eight: 0 1 0 0 */
	const MadeColumn column = {.name = "a",
							   .values = {codes, sizeof codes},
							   .encoding = 8,
							   .physical = 2,
							   .dictionary = {entries, sizeof entries},
							   .n_dictionary = 2,
							   .statistics = &statistics};
	BfParquetFile *f = open_made(&column, 1, 4);
	const int32_t columns[1] = {0};
	BfParquetFile *again;
	BfParquetScan *scan;
	BfParquetValues v;
	const BfBatch *batch;

	REQUIRE(f != NULL);
	REQUIRE_OK(bf_parquet_open_known(test_arena(), f, f->source, &again, &test_err));
	EXPECT(bf_parquet_row_group_values(f, 0, 0, &v));
	EXPECT(v.has_dictionary);
	EXPECT_EQ(v.distinct, 3);
	EXPECT_EQ(bf_parquet_n_dictionaries_known(f), 0);
	REQUIRE_OK(bf_parquet_scan_new(test_arena(), again, columns, 1, NULL, &scan, &test_err));
	REQUIRE_OK(bf_parquet_scan_row_group(scan, 0, &test_err));
	REQUIRE_OK(bf_parquet_scan_next(scan, &batch, &test_err));
	EXPECT(bf_parquet_row_group_values(f, 0, 0, &v));
	EXPECT_EQ(v.distinct, 2);
	EXPECT_EQ(bf_parquet_n_dictionaries_known(f), 1);
	/* Read again it is no news. */
	REQUIRE_OK(bf_parquet_scan_row_group(scan, 0, &test_err));
	REQUIRE_OK(bf_parquet_scan_next(scan, &batch, &test_err));
	EXPECT_EQ(bf_parquet_n_dictionaries_known(f), 1);
}
