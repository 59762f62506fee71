/* Sets of row numbers: against a model, against libroaring, and on every published bitmap. */
#include <jansson.h>
#include <roaring/roaring.h>
#include <stdlib.h>

#include "codec/codec.h"
#include "exec/delete/internal.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"

#define WORDS BF_VALIDITY_WORDS

/* Is the row in the set? */
static bool
has_row(BfRows *s, uint64_t row)
{
	uint64_t bit = 1;

	bf_rows_clear(s, row, 1, &bit);
	return bit == 0;
}

/* The rows that are in the set from `first` on, as ranges; returns how many rows there are. */
typedef struct Ranges
{
	int64_t n;
	uint64_t rows;
	uint64_t (*ranges)[2]; /* NULL = only counted */
	uint64_t next;		   /* a row that would make the last range longer */
} Ranges;

static void
add_range_row(Ranges *r, uint64_t row, int64_t max)
{
	if (r->n == 0 || row != r->next)
	{
		if (r->n < max)
			r->ranges[r->n][0] = row;
		r->n++;
	}
	if (r->n <= max)
		r->ranges[r->n - 1][1] = row;
	r->next = row + 1;
	r->rows++;
}

static void
ranges_of(BfRows *s, Ranges *r, int64_t max)
{
	r->n = 0;
	r->rows = 0;
	for (int32_t k = 0; k < s->n; k++)
		for (int32_t at = 0; at < 65536; at += BF_BATCH_ROWS)
		{
			uint64_t first = (s->containers[k].key << 16) + (uint64_t) at;
			uint64_t bits[WORDS];

			memset(bits, 0xff, sizeof bits);
			bf_rows_clear(s, first, BF_BATCH_ROWS, bits);
			for (int32_t w = 0; w < WORDS; w++)
				for (uint64_t left = ~bits[w]; left != 0; left &= left - 1)
					add_range_row(r, first + 64 * (uint64_t) w + (uint64_t) __builtin_ctzll(left),
								  max);
		}
}

static int
compare_rows(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* Rows that cluster, in several containers, ascending or not. */
static int32_t
random_rows(uint64_t *rows, int32_t max)
{
	int32_t n = (int32_t) test_random_below((uint64_t) max);
	uint64_t spread = (uint64_t) 1 << (4 + test_random_below(30));
	uint64_t row = test_random_below(3) * 65536 * 7;

	for (int32_t i = 0; i < n; i++)
	{
		row = test_random_below(3) != 0 ? row + 1 : test_random_below(spread);
		rows[i] = row;
	}
	if (test_random_below(2) == 0)
		qsort(rows, (size_t) n, sizeof *rows, compare_rows);
	return n;
}

static bool
in_sorted(const uint64_t *rows, int32_t n, uint64_t row)
{
	return n > 0 && bsearch(&row, rows, (size_t) n, sizeof *rows, compare_rows) != NULL;
}

/* Windows around the rows: bits are cleared where the sorted rows are, and nowhere else. */
static void
check_windows(BfRows *s, const uint64_t *sorted, int32_t n)
{
	for (int round = 0; round < 12 && !test_failed(); round++)
	{
		uint64_t from = n > 0 ? sorted[test_random_below((uint64_t) n)] : 5;
		int32_t len = round < 6 ? (int32_t) test_random_below(200)
								: (int32_t) test_random_below(BF_BATCH_ROWS + 1);
		uint64_t bits[WORDS], before[WORDS];

		from -= from < 150 ? 0 : test_random_below(150);
		for (int w = 0; w < WORDS; w++)
			before[w] = bits[w] = round % 2 == 0 ? UINT64_MAX : test_random();
		bf_rows_clear(s, from, len, bits);
		for (int32_t i = 0; i < BF_BATCH_ROWS; i++)
		{
			bool deleted = i < len && in_sorted(sorted, n, from + (uint64_t) i);

			if (bf_valid(bits, i) != (bf_valid(before, i) && !deleted))
			{
				test_fail(__FILE__, __LINE__, "row %llu + %d of %d", (unsigned long long) from, i,
						  len);
				return;
			}
		}
	}
}

/* How many are left from some row on: one of them, one behind it, any. */
static void
check_from(BfRows *s, const uint64_t *sorted, int32_t n)
{
	for (int round = 0; round < 12 && !test_failed(); round++)
	{
		uint64_t from =
			n > 0 ? sorted[test_random_below((uint64_t) n)] + (uint64_t) (round % 3) : 5;
		uint64_t want = 0;

		if (round == 0)
			from = 0;
		for (int32_t i = 0; i < n; i++)
			want += sorted[i] >= from;
		EXPECT_EQ(bf_rows_from(s, from), want);
	}
}

static int32_t
unique(uint64_t *rows, int32_t n)
{
	int32_t m = 0;

	qsort(rows, (size_t) n, sizeof *rows, compare_rows);
	for (int32_t i = 0; i < n; i++)
		if (m == 0 || rows[m - 1] != rows[i])
			rows[m++] = rows[i];
	return m;
}

TEST(delete_rows_random)
{
	static uint64_t rows[20000];

	for (int round = 0; round < 300 && !test_failed(); round++)
	{
		BfArena *a = bf_arena_new(test_host(), "rows", 1 << 26);
		int32_t n = random_rows(rows, round % 10 == 0 ? 20000 : 300);
		BfRows s;

		bf_rows_init(&s, a);
		for (int32_t i = 0; i < n; i++)
			REQUIRE_OK(bf_rows_add(&s, rows[i], &test_err));
		n = unique(rows, n);
		EXPECT_EQ(bf_rows_cardinality(&s), (uint64_t) n);
		check_windows(&s, rows, n);
		check_from(&s, rows, n);
		bf_arena_free(a);
	}
}

/* libroaring writes, we read: 32-bit bitmaps with and without runs, and 64-bit ones of several. */
TEST(delete_rows_libroaring)
{
	static uint64_t rows[20000];

	for (int round = 0; round < 200 && !test_failed(); round++)
	{
		BfArena *a = bf_arena_new(test_host(), "rows", 1 << 26);
		int32_t n = random_rows(rows, round % 5 == 0 ? 20000 : 300);
		roaring_bitmap_t *bitmaps[3];
		uint32_t highs[3] = {0, 1 + (uint32_t) test_random_below(1000), 0x7fffffff};
		bool wide = test_random_below(2) == 0;
		BfBuffer *b;
		BfCursor c;
		BfRows s;

		n = unique(rows, n);
		REQUIRE_OK(bf_buffer_new(a, 1 << 26, &b, &test_err));
		for (int k = 0; k < 3; k++)
		{
			bitmaps[k] = roaring_bitmap_create();
			for (int32_t i = 0; i < n; i++)
				if (!wide || i * 3 / (n + 1) == k)
					roaring_bitmap_add(bitmaps[k], (uint32_t) rows[i]);
			if (test_random_below(2) == 0)
				roaring_bitmap_run_optimize(bitmaps[k]);
		}
		for (int32_t i = 0; i < n && wide; i++)
			rows[i] = (uint64_t) highs[i * 3 / (n + 1)] << 32 | (uint32_t) rows[i];
		for (int32_t i = 0; i < n && !wide; i++)
			rows[i] = (uint32_t) rows[i];
		n = unique(rows, n);
		if (wide)
		{
			uint8_t count[8] = {3};

			REQUIRE_OK(bf_buffer_append(b, count, 8, &test_err));
		}
		for (int k = 0; k < (wide ? 3 : 1); k++)
		{
			size_t size = roaring_bitmap_portable_size_in_bytes(bitmaps[k]);

			if (wide)
				REQUIRE_OK(bf_buffer_append(b, &highs[k], 4, &test_err));
			REQUIRE_OK(bf_buffer_reserve(b, size, &test_err));
			b->len += roaring_bitmap_portable_serialize(bitmaps[k], (char *) b->data + b->len);
		}
		c = bf_cursor(b->data, b->len, 0);
		REQUIRE_OK(bf_rows_read(&s, a, &c, wide ? 64 : 32, &test_err));
		EXPECT_EQ(bf_cursor_left(&c), 0);
		EXPECT_EQ(bf_rows_cardinality(&s), (uint64_t) n);
		check_windows(&s, rows, n);
		check_from(&s, rows, n);
		for (int k = 0; k < 3; k++)
			roaring_bitmap_free(bitmaps[k]);
		bf_arena_free(a);
	}
}

/* --- Damage -------------------------------------------------------------------------------------
 */

TEST(delete_rows_damage)
{
	static const struct
	{
		const char *what;
		size_t n;
		uint8_t bytes[40];
		int64_t at;
	} cases[] = {
		{"begins with", 8, {0x3b, 0x31, 0, 0}, 0},
		{"containers", 8, {0x3a, 0x30, 0, 0, 1, 0, 1, 0}, 4},
		/* One array of two: not ascending, twice the same. */
		{"array is not ascending",
		 20,
		 {0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 5, 0, 4, 0},
		 18},
		{"array is not ascending",
		 20,
		 {0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 5, 0, 5, 0},
		 18},
		{"offset", 18, {0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 17, 0, 0, 0, 5, 0}, 16},
		/* Two containers with one key. */
		{"containers are not ascending",
		 28,
		 {0x3a, 0x30, 0,  0, 2, 0, 0,  0, 1, 0, 0, 0, 1, 0,
		  0,	0,	  24, 0, 0, 0, 26, 0, 0, 0, 5, 0, 6, 0},
		 26},
		/* A bitset with no bits. */
		{"ends", 20, {0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x20, 16, 0, 0, 0}, 16},
		/* Runs: past the end, overlapping, wrong sum, none. */
		{"run ends at", 15, {0x3b, 0x30, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0xff, 0xff, 1, 0}, 11},
		{"runs are not ascending",
		 19,
		 {0x3b, 0x30, 0, 0, 1, 0, 0, 3, 0, 2, 0, 5, 0, 1, 0, 6, 0, 1, 0},
		 15},
		{"runs have 2 values", 15, {0x3b, 0x30, 0, 0, 1, 0, 0, 3, 0, 1, 0, 5, 0, 1, 0}, 9},
		{"runs have 0 values", 11, {0x3b, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0}, 9},
	};
	BfArena *a = test_arena();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfCursor c = bf_cursor(cases[i].bytes, cases[i].n, 0);
		BfRows s;

		EXPECT_FAIL(bf_rows_read(&s, a, &c, 32, &test_err), BF_ERR_CORRUPT, cases[i].at);
		if (strstr(test_err.text, cases[i].what) == NULL)
			test_fail(__FILE__, __LINE__, "case %zu: %s", i, test_err.text);
	}
}

TEST(delete_vector_frame)
{
	/* { 1, 3 } */
	static const uint8_t good[] = {0, 0, 0,	 36, 0xd1, 0xd3, 0x39, 0x64, 1, 0, 0, 0, 0, 0, 0,
								   0, 0, 0,	 0,	 0,	   0x3a, 0x30, 0,	 0, 1, 0, 0, 0, 0, 0,
								   1, 0, 16, 0,	 0,	   0,	 1,	   0,	 3, 0, 0, 0, 0, 0};
	uint8_t bytes[sizeof good];
	BfArena *a = test_arena();
	BfRows s;

	memcpy(bytes, good, sizeof good);
	bf_store32be(bytes + 40, bf_crc32(bytes + 4, 36));
	REQUIRE_OK(bfi_vector_decode(a, bytes, sizeof bytes, 100, &s, &test_err));
	EXPECT_EQ(bf_rows_cardinality(&s), 2);
	EXPECT(has_row(&s, 1) && has_row(&s, 3) && !has_row(&s, 2) && !has_row(&s, 0));
	/* The same without a frame. */
	REQUIRE_OK(bfi_vector_decode(a, bytes + 8, 32, 100, &s, &test_err));
	EXPECT(bf_rows_cardinality(&s) == 2 && has_row(&s, 3));

	/* Every byte counts, and every length. */
	for (size_t i = 0; i < sizeof bytes; i++)
	{
		bytes[i] ^= 0x10;
		EXPECT_EQ(bfi_vector_decode(a, bytes, sizeof bytes, 100, &s, &test_err), BF_ERR_CORRUPT);
		bytes[i] ^= 0x10;
	}
	for (size_t n = 0; n < sizeof bytes; n++)
	{
		EXPECT_EQ(bfi_vector_decode(a, bytes, n, 100, &s, &test_err), BF_ERR_CORRUPT);
		EXPECT(test_err.offset >= 100 && test_err.offset <= 100 + (int64_t) n);
	}
	bytes[40] ^= 1;
	EXPECT_FAIL(bfi_vector_decode(a, bytes, sizeof bytes, 100, &s, &test_err), BF_ERR_CORRUPT, 140);
	/* A row number with the top bit. */
	bytes[8 + 11] = 0x80;
	EXPECT_FAIL(bfi_vector_decode(a, bytes + 8, 32, 100, &s, &test_err), BF_ERR_CORRUPT, 100);
	EXPECT(strstr(test_err.text, "2^63") != NULL);
	/* Something behind it. */
	bytes[8 + 11] = 0;
	EXPECT_FAIL(bfi_vector_decode(a, bytes + 8, 34, 100, &s, &test_err), BF_ERR_CORRUPT, 132);
}

/* --- Published bitmaps --------------------------------------------------------------------------
 */

static void
check_values(BfRows *s, const json_t *values, const char *name)
{
	const json_t *first = json_is_object(values) ? json_object_get(values, "first") : values;
	const json_t *last = json_is_object(values) ? json_object_get(values, "last") : NULL;
	int64_t n = json_is_object(values)
					? (int64_t) json_number_value(json_object_get(values, "ranges"))
					: (int64_t) json_array_size(values);
	static uint64_t ranges[200000][2];
	Ranges r = {.ranges = ranges};

	ranges_of(s, &r, 200000);
	if (r.n != n)
		test_fail(__FILE__, __LINE__, "%s: %lld ranges, not %lld", name, (long long) r.n,
				  (long long) n);
	EXPECT_EQ(r.rows, bf_rows_cardinality(s));
	for (size_t i = 0; i < json_array_size(first) + json_array_size(last); i++)
	{
		bool early = i < json_array_size(first);
		const json_t *want =
			early ? json_array_get(first, i) : json_array_get(last, i - json_array_size(first));
		size_t at = early ? i : (size_t) n - json_array_size(last) + (i - json_array_size(first));

		for (size_t k = 0; k < 2 && at < (size_t) r.n; k++)
		{
			const json_t *x = json_array_get(want, k);

			if (json_number_value(x) != (double) ranges[at][k])
				test_fail(__FILE__, __LINE__, "%s: range %zu", name, at);
		}
	}
}

TEST(delete_rows_corpus)
{
	const char *corpus = test_corpus();
	int decoded = 0, refused = 0;
	char path[1024];
	json_error_t error;
	json_t *list;

	if (corpus == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	snprintf(path, sizeof path, "%s/expected/roaring_expected.json", corpus);
	/* Values near 2^64 are no integers of 64 bits with a sign. */
	list = json_load_file(path, JSON_DECODE_INT_AS_REAL, &error);
	REQUIRE(list != NULL);
	for (size_t i = 0; i < json_array_size(list); i++)
	{
		const json_t *e = json_array_get(list, i);
		const char *name = json_string_value(json_object_get(e, "file"));
		const char *kind = json_string_value(json_object_get(e, "kind"));
		const json_t *want = json_object_get(e, "cardinality");
		BfArena *a = bf_arena_new(test_host(), "rows", 1 << 26);
		BfView bytes;
		BfStatus status;
		BfCursor c;
		BfRows s;

		snprintf(path, sizeof path, "%s/%s", corpus, name);
		REQUIRE_OK(bf_source_read_all(a, path, 1 << 26, NULL, &bytes, &test_err));
		c = bf_cursor(bytes.ptr, bytes.len, 0);
		if (kind != NULL && strncmp(kind, "deletion-vector", 15) == 0)
			status = bfi_vector_decode(a, bytes.ptr, bytes.len, 0, &s, &test_err);
		else
			status = bf_rows_read(&s, a, &c, kind != NULL && kind[0] == '3' ? 32 : 64, &test_err);
		if (want == NULL)
		{
			if (status != BF_ERR_CORRUPT)
				test_fail(__FILE__, __LINE__, "%s: %s", name, bf_status_name(status));
			refused++;
		}
		else if (status != BF_OK)
			test_fail(__FILE__, __LINE__, "%s: %s", name, test_err.text);
		else
		{
			EXPECT_EQ((double) bf_rows_cardinality(&s), json_real_value(want));
			check_values(&s, json_object_get(e, "values"), name);
			decoded++;
		}
		bf_arena_free(a);
	}
	json_decref(list);
	printf("  roaring: %d decoded, %d refused\n", decoded, refused);
	EXPECT_EQ(decoded + refused, 24);
}
