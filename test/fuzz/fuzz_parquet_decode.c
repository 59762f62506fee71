/*
 * The bit-level decoders on any bytes: in one go, value by value, and by the slow reference must
 * be the same, and nothing behind the input may matter.
 */
#include "fuzz/fuzz.h"

#include "parquet/decode.h"
#include "parquet/format.h"

#define VALUES_MAX 4096

/* The input with slack of the given byte behind it. */
static uint8_t *
with_slack(const uint8_t *data, size_t size, uint8_t fill)
{
	uint8_t *p = malloc(size + BFI_SLACK);

	FUZZ_CHECK(p != NULL);
	memcpy(p, data, size);
	memset(p + size, fill, BFI_SLACK);
	return p;
}

static void
check_rle(const uint8_t *a, const uint8_t *b, size_t size, uint32_t width, uint32_t n)
{
	static uint32_t whole[VALUES_MAX], single[VALUES_MAX];
	uint64_t bits[VALUES_MAX / 64 + 1] = {0};
	static uint8_t bytes[VALUES_MAX];
	BfiRle r;
	BfError err;
	BfStatus st;
	uint32_t done = 0;
	uint32_t ones;
	uint32_t count;
	uint32_t max = width >= 32 ? UINT32_MAX : ((uint32_t) 1 << width) - 1;

	bfi_rle_init(&r, a, size, width, 0);
	st = bfi_rle_u32(&r, whole, n, &err);
	bfi_rle_init(&r, b, size, width, 0);
	while (done < n && bfi_rle_u32(&r, &single[done], 1, &err) == BF_OK)
		done++;
	FUZZ_CHECK((st == BF_OK) == (done == n));
	if (st != BF_OK)
		return;
	FUZZ_CHECK(n == 0 || memcmp(whole, single, n * sizeof *whole) == 0);
	bfi_rle_init(&r, b, size, width, 0);
	FUZZ_CHECK(bfi_rle_count(r, n, max, &count, &err) == BF_OK);
	for (uint32_t i = 0; i < n; i++)
	{
		FUZZ_CHECK(whole[i] <= max);
		count -= whole[i] == max;
	}
	FUZZ_CHECK(count == 0);
	if (width != 1)
		return;
	FUZZ_CHECK(bfi_rle_bits(&r, bits, 0, n, &ones, &err) == BF_OK);
	bfi_rle_init(&r, b, size, width, 0);
	FUZZ_CHECK(bfi_rle_bytes(&r, bytes, n, &err) == BF_OK);
	for (uint32_t i = 0; i < n; i++)
	{
		FUZZ_CHECK(bytes[i] == whole[i] && (bits[i / 64] >> (i % 64) & 1) == whole[i]);
		ones -= whole[i];
	}
	FUZZ_CHECK(ones == 0);
}

static void
check_delta(const uint8_t *a, const uint8_t *b, size_t size, uint32_t n)
{
	static int64_t whole[VALUES_MAX];
	static int32_t narrow[VALUES_MAX];
	BfiDelta d, e;
	BfError err;
	const uint8_t *end;
	BfStatus st;
	uint32_t done = 0;

	if (bfi_delta_init(&d, a, size, 64, 0, &err) != BF_OK)
		return;
	n = d.count < n ? (uint32_t) d.count : n;
	FUZZ_CHECK(bfi_delta_init(&e, b, size, 64, 0, &err) == BF_OK);
	if (bfi_delta_end(d, &end, &err) == BF_OK)
		FUZZ_CHECK(end >= a && end <= a + size);
	st = bfi_delta_i64(&d, whole, n, &err);
	while (done < n)
	{
		int64_t v;

		if (bfi_delta_i64(&e, &v, 1, &err) != BF_OK)
			break;
		FUZZ_CHECK(st != BF_OK || v == whole[done]);
		done++;
	}
	FUZZ_CHECK((st == BF_OK) == (done == n));
	if (st != BF_OK || bfi_delta_init(&e, b, size, 32, 0, &err) != BF_OK ||
		bfi_delta_i32(&e, narrow, n, &err) != BF_OK)
		return;
	for (uint32_t i = 0; i < n; i++)
		FUZZ_CHECK(narrow[i] == (int32_t) (uint32_t) (uint64_t) whole[i]);
}

static void
check_alp(const uint8_t *a, const uint8_t *b, size_t size, uint32_t width, uint32_t n)
{
	static uint8_t whole[VALUES_MAX * 8], single[VALUES_MAX * 8];
	BfiAlp d, e;
	BfError err;
	BfStatus st;
	uint32_t done = 0;

	if (bfi_alp_init(&d, a, size, width, 0, &err) != BF_OK)
		return;
	FUZZ_CHECK(bfi_alp_init(&e, b, size, width, 0, &err) == BF_OK);
	n = d.count < n ? d.count : n;
	st = bfi_alp_decode(&d, 0, n, whole, &err);
	while (done < n && bfi_alp_decode(&e, done, 1, single + (size_t) done * width, &err) == BF_OK)
		done++;
	FUZZ_CHECK((st == BF_OK) == (done == n));
	FUZZ_CHECK(st != BF_OK || memcmp(whole, single, (size_t) n * width) == 0);
}

/* A struct by its table ends where skipping it ends. */
static void
check_thrift(const uint8_t *data, size_t size)
{
	BfCursor c = bf_cursor(data, size, 0);
	BfCursor s = c;
	BfiPageHeader h;
	BfiSchemaElement e;
	BfiColumnChunk k;
	BfError err;
	BfStatus skipped = bfi_thrift_skip(&s, BFI_T_STRUCT, 0, &err);

	if (bfi_thrift_struct(&c, &bfi_page_header_table, &h, sizeof h, &err) == BF_OK)
		FUZZ_CHECK(skipped == BF_OK && c.pos == s.pos);
	c = bf_cursor(data, size, 0);
	if (bfi_thrift_struct(&c, &bfi_schema_element_table, &e, sizeof e, &err) == BF_OK)
		FUZZ_CHECK(skipped == BF_OK && c.pos == s.pos);
	c = bf_cursor(data, size, 0);
	if (bfi_thrift_struct(&c, &bfi_column_chunk_table, &k, sizeof k, &err) == BF_OK)
		FUZZ_CHECK(skipped == BF_OK && c.pos == s.pos);
}

int
bf_fuzz_parquet_decode(const uint8_t *data, size_t size)
{
	FuzzInput in = {data, size};
	uint32_t what = (uint32_t) fuzz_take_below(&in, 4);
	uint32_t width = (uint32_t) fuzz_take_below(&in, 33);
	uint32_t n = (uint32_t) fuzz_take_below(&in, VALUES_MAX + 1);
	uint8_t *a = with_slack(in.data, in.size, 0);
	uint8_t *b = with_slack(in.data, in.size, 0xff);

	if (what == 0)
		check_rle(a, b, in.size, width, n);
	else if (what == 1)
		check_delta(a, b, in.size, n);
	else if (what == 2)
		check_alp(a, b, in.size, width & 1 ? 8 : 4, n > 256 ? 256 : n);
	else
		check_thrift(in.data, in.size);
	free(a);
	free(b);
	return 0;
}
