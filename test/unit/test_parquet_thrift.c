/*
 * The compact protocol, and the text in which a writer names itself.
 */
#include "parquet/internal.h"
#include "unit/lib/runner.h"

TEST(parquet_thrift_page_header)
{
	/* type = 0, sizes 12 and 10, crc, an unknown binary (id 20), data page {5, PLAIN, RLE, RLE,
	 * statistics}, and nothing else. */
	static const uint8_t bytes[] = {0x15, 0x00, 0x15, 0x18, 0x15, 0x14, 0x15, 0x02, 0x1c, 0x15,
									0x0a, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x1c, 0x36, 0x00,
									0x00, 0x00, 0x08, 0x28, 0x03, 'a',	'b',  'c',	0x00};
	BfCursor c = bf_cursor(bytes, sizeof bytes, 100);
	BfiPageHeader h;

	REQUIRE_OK(bfi_thrift_struct(&c, &bfi_page_header_table, &h, sizeof h, &test_err));
	EXPECT_EQ(bf_cursor_left(&c), 0);
	EXPECT_EQ(h.uncompressed_bytes, 12);
	EXPECT_EQ(h.compressed_bytes, 10);
	EXPECT_EQ(h.seen, 1 | 2 | 4 | BFI_PH_CRC | BFI_PH_DATA);
	EXPECT_EQ(h.data.n_values, 5);
	EXPECT_EQ(h.data.def_encoding, BFI_RLE);
	for (size_t n = 0; n < sizeof bytes; n++)
	{
		c = bf_cursor(bytes, n, 100);
		EXPECT(bfi_thrift_struct(&c, &bfi_page_header_table, &h, sizeof h, &test_err) ==
			   BF_ERR_CORRUPT);
		EXPECT(test_err.offset >= 100 && test_err.offset <= 100 + (int64_t) n);
	}
}

TEST(parquet_thrift_damaged)
{
	static const struct
	{
		const char *what;
		uint8_t bytes[16];
		size_t len;
	} table[] = {
		{"a required field is missing", {0x15, 0x00, 0x00}, 3},
		{"a required field of another type", {0x18, 0x00, 0x25, 0x00, 0x15, 0x00, 0x00}, 7},
		{"a list longer than the bytes", {0xf9, 0x00, 0xff, 0xff, 0x03}, 5},
		{"a string longer than the bytes", {0xf8, 0x00, 0x7f}, 3},
		{"a map longer than the bytes", {0xfb, 0x00, 0x7f, 0x55, 0x00}, 5},
		{"an unknown type", {0x1e, 0x00}, 2},
		{"an id out of range", {0x05, 0xff, 0xff, 0xff, 0x0f, 0x00}, 6},
	};
	uint8_t deep[200];
	BfiPageHeader h;
	BfCursor c;

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
	{
		c = bf_cursor(table[i].bytes, table[i].len, 0);
		EXPECT_FAIL(bfi_thrift_struct(&c, &bfi_page_header_table, &h, sizeof h, &test_err),
					BF_ERR_CORRUPT, -1);
	}
	/* Structs in structs in structs. */
	memset(deep, 0xfc, sizeof deep);
	c = bf_cursor(deep, sizeof deep, 0);
	EXPECT_FAIL(bfi_thrift_skip(&c, BFI_T_STRUCT, 0, &test_err), BF_ERR_CORRUPT, -1);
}

/* ---- who wrote it ---- */

TEST(parquet_writer_version)
{
	static const struct
	{
		const char *text;
		BfiApp app;
		int major, minor, patch, cdh_major, cdh_minor;
	} table[] = {
		{"", BFI_APP_OTHER, -1, 0, 0, 0, 0},
		{"parquet-mr version 1.8.0 (build 0fda28)", BFI_APP_PARQUET_MR, 1, 8, 0, 0, 0},
		{"parquet-mr version 1.5.0-cdh5.5.1 (build ${buildNumber})", BFI_APP_PARQUET_MR, 1, 5, 0, 5,
		 5},
		{"parquet-mr", BFI_APP_OTHER, -1, 0, 0, 0, 0},
		{"parquet-cpp version 1.5.1-SNAPSHOT", BFI_APP_PARQUET_CPP, 1, 5, 1, 0, 0},
		{"parquet-cpp-arrow version 22.0.0", BFI_APP_PARQUET_CPP_ARROW, 22, 0, 0, 0, 0},
		{"impala version 2.10.0-SNAPSHOT (build 679)", BFI_APP_IMPALA, 2, 10, 0, 0, 0},
		{"parquet-mr version x.y", BFI_APP_PARQUET_MR, -1, 0, 0, 0, 0},
		{"parquet-mr version 99999999999999999999.1", BFI_APP_PARQUET_MR, 100000, 1, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
	{
		BfiWriter w;

		bfi_writer_parse(table[i].text, &w);
		EXPECT_EQ(w.app, table[i].app);
		if (table[i].major < 100000)
			EXPECT_EQ(w.major, table[i].major);
		else
			EXPECT(w.major >= 10000);
		EXPECT_EQ(w.minor, table[i].minor);
		EXPECT_EQ(w.patch, table[i].patch);
		EXPECT_EQ(w.cdh_major, table[i].cdh_major);
		EXPECT_EQ(w.cdh_minor, table[i].cdh_minor);
	}
	{
		BfiWriter w;

		bfi_writer_parse("parquet-mr version 1.8.0", &w);
		EXPECT(!bfi_writer_before(&w, BFI_APP_PARQUET_MR, 1, 8, 0));
		EXPECT(bfi_writer_before(&w, BFI_APP_PARQUET_MR, 1, 8, 1));
		EXPECT(bfi_writer_before(&w, BFI_APP_PARQUET_MR, 2, 0, 0));
		EXPECT(!bfi_writer_before(&w, BFI_APP_PARQUET_CPP, 2, 0, 0));
	}
}
