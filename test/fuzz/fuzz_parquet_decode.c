/*
 * The encodings on any bytes, each of the table's and the decoders below them: in one go, value by
 * value and with values passed over must be the same, and nothing behind the input may matter.
 */
#include "fuzz/fuzz.h"

#include "parquet/encoding/delta.h"
#include "parquet/encoding/encoding.h"

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

static const int32_t dict_values[] = {7, -7, 0, 1 << 30, 5};

static void
init_values(BfArena *a, BfiValues *v, BfiPhysical physical)
{
	static uint32_t scratch[2 * BF_BATCH_ROWS];
	static BfView spare[BF_BATCH_ROWS];
	uint32_t width = bfi_physical_bytes(physical);
	BfError err;

	*v = (BfiValues){
		.physical = physical,
		.width = physical == BFI_FLBA ? 5 : width,
		.bytes_max = VALUES_MAX * 64,
		.batch = a,
		.scratch = scratch,
		.spare = spare,
	};
	FUZZ_CHECK(bfi_values_init(a, v, &err) == BF_OK);
	v->dict = (BfiDictionary){.n = 5, .value_bytes = 4, .values = dict_values};
}

/* How many values the section says it has; n where it doesn't. */
static uint32_t
count_of(int32_t encoding, BfView section, uint32_t n)
{
	BfiDelta d;
	BfError err;

	if (encoding == BFI_ALP)
		return section.len >= 7 ? bf_load32le(section.ptr + 3) : n;
	if (encoding < BFI_DELTA_BINARY_PACKED || encoding > BFI_DELTA_BYTE_ARRAY)
		return n;
	return bfi_delta_init(&d, section.ptr, section.len, 64, 0, &err) == BF_OK ? (uint32_t) d.count
																			  : n;
}

static bool
same_value(const BfiValues *v, const void *a, const void *b, size_t size)
{
	BfView x, y;

	if (v->methods->codes ||
		(v->physical != BFI_BYTE_ARRAY && v->physical != BFI_FLBA && v->physical != BFI_INT96))
		return memcmp(a, b, size) == 0;
	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return x.len == y.len && (x.len == 0 || memcmp(x.ptr, y.ptr, x.len) == 0);
}

/* Every row of the table: in one go, value by value, and with values passed over. */
static void
check_values(BfView a, BfView b, int32_t encoding, BfiPhysical physical, uint32_t n)
{
	static BfView whole[VALUES_MAX];
	BfArena *arena = fuzz_arena((size_t) 16 << 20);
	BfiValues v, w;
	size_t size = 4;
	uint32_t done = 0;
	BfError err;
	BfStatus st;

	n = count_of(encoding, a, n);
	init_values(arena, &v, physical);
	init_values(arena, &w, physical);
	if (n > VALUES_MAX || bfi_values_begin(&v, encoding, a, (int32_t) n, 0, &err) != BF_OK)
		goto out;
	FUZZ_CHECK(bfi_values_begin(&w, encoding, b, (int32_t) n, 0, &err) == BF_OK);
	if (!v.methods->codes)
		size = physical == BFI_BOOLEAN ? 1 : v.width == 4 || v.width == 8 ? v.width : 16;
	st = bfi_values_decode(&v, (int32_t) n, whole, &err);
	if (st == BF_ERR_LIMIT)
		goto out;
	while (done < n)
	{
		BfView one;

		if (bfi_values_decode(&w, 1, &one, &err) != BF_OK)
			break;
		if (st == BF_OK)
			FUZZ_CHECK(same_value(&v, (uint8_t *) whole + done * size, &one, size));
		done++;
	}
	FUZZ_CHECK((st == BF_OK) == (done == n));
	if (st != BF_OK)
		goto out;
	FUZZ_CHECK(bfi_values_begin(&w, encoding, b, (int32_t) n, 0, &err) == BF_OK);
	for (uint32_t at = 0, skip = 0; at + skip < n; at += skip + 1, skip = skip * 2 + 1)
	{
		BfView one;

		FUZZ_CHECK(bfi_values_skip(&w, (int32_t) skip, &err) == BF_OK);
		FUZZ_CHECK(bfi_values_decode(&w, 1, &one, &err) == BF_OK);
		FUZZ_CHECK(same_value(&v, (uint8_t *) whole + (at + skip) * size, &one, size));
	}
out:
	bf_arena_free(arena);
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
		check_values((BfView){a, (uint32_t) in.size}, (BfView){b, (uint32_t) in.size},
					 (int32_t) width % 11, (BfiPhysical) (n % BFI_PHYSICAL_COUNT), n >> 3);
	else
		check_thrift(in.data, in.size);
	free(a);
	free(b);
	return 0;
}
