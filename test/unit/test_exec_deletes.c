/* Deletes of every kind over test/data/deletes, against a comparison of all rows with all keys. */
#include <math.h>
#include <string.h>

#include "exec/delete/internal.h"
#include "exec/read/parquet_reader.h"
#include "unit/lib/host_posix.h"
#include "unit/lib/runner.h"
#include "unit/test_exec_deletes_avro.h"

#define DATA "test/data/deletes/"
#define ROWS 1000
#define WORDS ((ROWS + 63) / 64)
#define FIELDS 12
#define DATA_PATH "/lake/t/data/a.parquet"

/* The table's columns in their newest types, one that was dropped (11) and one that came after the
 * data file (12). */
static const BfField history[FIELDS] = {
	{.id = 1, .name = "id", .type = {.kind = BF_KIND_INT64}, .required = true},
	{.id = 2, .name = "name", .type = {.kind = BF_KIND_STRING}},
	{.id = 3, .name = "f", .type = {.kind = BF_KIND_FLOAT64}},
	{.id = 4, .name = "dec", .type = {.kind = BF_KIND_DECIMAL, .precision = 14, .scale = 2}},
	{.id = 5, .name = "big", .type = {.kind = BF_KIND_DECIMAL, .precision = 38, .scale = 3}},
	{.id = 6, .name = "day", .type = {.kind = BF_KIND_DATE}},
	{.id = 7, .name = "ts", .type = {.kind = BF_KIND_TIMESTAMP}},
	{.id = 8, .name = "flag", .type = {.kind = BF_KIND_BOOL}},
	{.id = 9, .name = "bin", .type = {.kind = BF_KIND_FIXED, .length = 4}},
	{.id = 10, .name = "r", .type = {.kind = BF_KIND_FLOAT64}},
	{.id = 11, .name = "gone", .type = {.kind = BF_KIND_INT64}},
	{.id = 12, .name = "extra", .type = {.kind = BF_KIND_STRING}},
};

static BfStatus
column_of(void *arg, BfArena *a, int32_t id, const BfField **out, BfError *err)
{
	(void) arg;
	(void) a;
	(void) err;
	*out = NULL;
	for (int i = 0; i < FIELDS; i++)
		if (history[i].id == id)
			*out = &history[i];
	return BF_OK;
}

/* Three spellings of a local path; another store is no file of the table. */
static BfStatus
resolve(void *arg, BfArena *a, const char *path, const char **out, BfError *err)
{
	static const char *const prefixes[] = {"hdfs://nn:8020", "file:"};
	char *s;
	size_t n = 0;

	(void) arg;
	*out = NULL;
	if (strncmp(path, "s3:", 3) == 0)
		return BF_OK;
	for (size_t i = 0; i < 2; i++)
		if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
			path += strlen(prefixes[i]);
	BF_TRY_PTR(a, s, bf_arena_strdup(a, path), err);
	for (const char *p = path; *p != '\0'; p++)
		if (p[0] != '/' || p[1] != '/')
			s[n++] = *p;
	s[n] = '\0';
	*out = s;
	return BF_OK;
}

static BfDeleteCache *
new_cache(BfArena *a)
{
	BfDeleteOptions options = {
		.resolve = resolve, .column_of = column_of, .bytes_max = (size_t) 64 << 20};
	BfDeleteCache *c = NULL;

	if (bf_delete_cache_new(a, &options, &c, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "no cache: %s", test_err.text);
	return c;
}

/* --- Reading whole files ------------------------------------------------------------------------
 */

typedef struct Rows
{
	int32_t n;
	int32_t n_cols;
	BfValue *values; /* row by row */
} Rows;

static BfStatus
copy_batch(BfArena *a, const BfBatch *b, Rows *r, BfError *err)
{
	for (int32_t i = 0; i < b->n_rows; i++, r->n++)
		for (int32_t k = 0; k < r->n_cols; k++)
		{
			BfValue *v = &r->values[r->n * r->n_cols + k];

			bf_vector_get(&b->cols[k], i, v);
			if (!v->is_null && bf_type_storage(v->type) == BF_STORE_VIEW)
				BF_TRY_PTR(a, v->v.view.ptr, bf_arena_memdup(a, v->v.view.ptr, v->v.view.len), err);
		}
	return BF_OK;
}

static BfStatus
read_rows(BfArena *a, const char *path, const int32_t *ids, int32_t n, Rows *r, BfError *err)
{
	BfSchema schema = {.n_fields = FIELDS};
	BfProjection projection = {.schema = &schema, .n_fields = n};
	int32_t fields[FIELDS];
	BfReader *reader;

	BF_TRY_PTR(a, schema.fields, bf_arena_memdup(a, history, sizeof history), err);
	for (int32_t i = 0; i < n; i++)
		fields[i] = ids[i] - 1;
	projection.fields = fields;
	r->n = 0;
	r->n_cols = n;
	BF_NEW(a, r->values, ROWS * n, err);
	BF_TRY(bf_exec_parquet_reader(a, path, &projection, NULL, 0, -1, NULL, NULL, &reader, err));
	for (;;)
	{
		const BfBatch *b;

		BF_TRY(reader->next(reader, &b, err));
		if (b == NULL)
			return BF_OK;
		BF_TRY(copy_batch(a, b, r, err));
	}
}

static bool
same_value(const BfValue *a, const BfValue *b)
{
	/* -0 and 0 are not the same key. */
	if (!a->is_null && !b->is_null && a->type.kind == BF_KIND_FLOAT64 &&
		signbit(a->v.f64) != signbit(b->v.f64) && a->v.f64 == b->v.f64)
		return false;
	return a->is_null || b->is_null ? a->is_null == b->is_null : bf_value_compare(a, b) == 0;
}

/* Clears the rows that a delete file's rows name. */
static void
expect_keys(BfArena *a, const BfDeleteSource *s, uint64_t *rows)
{
	Rows data, keys;

	REQUIRE_OK(read_rows(a, DATA "data.parquet", s->ids, s->n_ids, &data, &test_err));
	REQUIRE_OK(read_rows(a, s->path, s->ids, s->n_ids, &keys, &test_err));
	REQUIRE(data.n == ROWS);
	for (int32_t i = 0; i < data.n; i++)
		for (int32_t k = 0; k < keys.n; k++)
		{
			bool all = true;

			for (int32_t c = 0; c < s->n_ids && all; c++)
				all = same_value(&data.values[i * s->n_ids + c], &keys.values[k * s->n_ids + c]);
			if (all)
				bf_validity_set(rows, i, false);
		}
}

/* --- Applying -----------------------------------------------------------------------------------
 */

static const BfVector *
batch_column(void *arg, int32_t k)
{
	const BfBatch *b = arg;

	return &b->cols[k];
}

/* Reads the data file from a row group on, with the columns that the deletes ask for. */
static BfStatus
apply(BfArena *a, BfDeletes *d, int32_t rg_first, uint64_t *rows, BfError *err)
{
	BfSchema schema = {0};
	BfProjection projection = {.schema = &schema};
	int32_t indexes[FIELDS];
	BfReader *reader;
	int32_t n;

	schema.fields = (BfField *) (uintptr_t) bf_deletes_fields(d, &n);
	schema.n_fields = projection.n_fields = n;
	for (int32_t i = 0; i < n; i++)
	{
		EXPECT(!schema.fields[i].required);
		indexes[i] = i;
	}
	projection.fields = indexes;
	BF_TRY(bf_exec_parquet_reader(a, DATA "data.parquet", &projection, NULL, rg_first, -1, NULL,
								  NULL, &reader, err));
	for (;;)
	{
		const BfBatch *b;
		uint64_t bits[BF_VALIDITY_WORDS];

		BF_TRY(reader->next(reader, &b, err));
		if (b == NULL)
			return BF_OK;
		memset(bits, 0xff, sizeof bits);
		BF_TRY(bf_deletes_apply(d, b->first_row, b->n_rows, batch_column, (void *) (uintptr_t) b,
								bits, err));
		for (int32_t i = 0; i < b->n_rows; i++)
			if (!bf_valid(bits, i))
				bf_validity_set(rows, (int32_t) b->first_row + i, false);
	}
}

static int32_t
count(const uint64_t *rows)
{
	int32_t n = 0;

	for (int32_t i = 0; i < ROWS; i++)
		n += bf_valid(rows, i);
	return n;
}

static void
check_same(const uint64_t *got, const uint64_t *want, const char *what)
{
	for (int32_t i = 0; i < ROWS; i++)
		if (bf_valid(got, i) != bf_valid(want, i))
		{
			test_fail(__FILE__, __LINE__, "%s: row %d %s", what, i,
					  bf_valid(want, i) ? "is deleted" : "is not deleted");
			return;
		}
}

/* --- Equality -----------------------------------------------------------------------------------
 */

static const int32_t id_ids[] = {1};
static const int32_t name_f_ids[] = {2, 3};
static const int32_t f_name_ids[] = {3, 2, 3};
static const int32_t all_ids[] = {10, 9, 8, 7, 6, 5, 4, 3, 2};
static const int32_t some_ids[] = {8, 6};
static const int32_t name_ids[] = {2};
static const int32_t gone_ids[] = {11};
static const int32_t extra_ids[] = {12};

#define EQUALITY(file, list)                                                              \
	{                                                                                     \
		.kind = BF_DELETE_EQUALITY, .path = DATA file, .sequence = 5, .ids = (list),      \
		.n_ids = (int32_t) (sizeof(list) / sizeof *(list)), .scope = BF_DELETE_SCOPE_OWN, \
		.record_count = -1                                                                \
	}

static const BfDeleteSource equality[] = {
	EQUALITY("eq_id.parquet", id_ids),
	EQUALITY("eq_name_f.parquet", name_f_ids),
	EQUALITY("eq_all.parquet", all_ids),
	EQUALITY("eq_all.parquet", some_ids),
	EQUALITY("eq_all.parquet", name_ids),
	EQUALITY("eq_each.parquet", all_ids),
	EQUALITY("eq_each.parquet", some_ids),
	EQUALITY("eq_gone.parquet", gone_ids),
	EQUALITY("eq_extra_null.parquet", extra_ids),
	EQUALITY("eq_extra.parquet", extra_ids),
	EQUALITY("eq_empty.parquet", id_ids),
	EQUALITY("eq_renamed.parquet", name_ids),
};
#define N_EQUALITY ((int32_t) (sizeof equality / sizeof *equality))

/* The same as an Avro file. */
static BfDeleteSource
as_avro(BfDeleteSource s)
{
	s.path = test_avro_copy(test_arena(), s.path);
	s.avro = true;
	return s;
}

TEST(deletes_equality_each)
{
	/* As PyArrow and a dictionary of Python count them. */
	static const int32_t left[N_EQUALITY] = {880, 713, 800, 129,  0,	997,
											 965, 855, 0,	ROWS, ROWS, 950};

	for (int32_t n = 0; n < 2 * N_EQUALITY; n++)
	{
		BfArena *a = bf_arena_new(test_host(), "test", (size_t) 256 << 20);
		int32_t i = n / 2;
		BfDeleteSource s = n % 2 == 0 ? equality[i] : as_avro(equality[i]);
		uint64_t want[WORDS], got[WORDS];
		BfDeletes *d;

		memset(want, 0xff, sizeof want);
		memset(got, 0xff, sizeof got);
		expect_keys(a, &equality[i], want);
		REQUIRE_OK(bf_deletes_load(a, new_cache(a), DATA_PATH, 4, &s, 1, &d, &test_err));
		if (d != NULL)
			REQUIRE_OK(apply(a, d, 0, got, &test_err));
		check_same(got, want, s.path);
		EXPECT_EQ(count(got), left[i]);
		bf_arena_free(a);
	}
}

/* Ids in another order and twice are the same key. */
TEST(deletes_equality_order)
{
	BfDeleteSource s = EQUALITY("eq_name_f.parquet", f_name_ids);
	BfArena *a = test_arena();
	uint64_t want[WORDS], got[WORDS];
	BfDeletes *d;
	int32_t n;

	memset(want, 0xff, sizeof want);
	memset(got, 0xff, sizeof got);
	expect_keys(a, &equality[1], want);
	REQUIRE_OK(bf_deletes_load(a, new_cache(a), DATA_PATH, 4, &s, 1, &d, &test_err));
	REQUIRE(d != NULL);
	REQUIRE(bf_deletes_fields(d, &n) != NULL && n == 2);
	REQUIRE_OK(apply(a, d, 0, got, &test_err));
	check_same(got, want, s.path);
}

/* Any sources together, in any scopes, over any row groups: one cache for many data files. */
TEST(deletes_random)
{
	BfArena *all = bf_arena_new(test_host(), "test", (size_t) 256 << 20);
	BfDeleteCache *c = new_cache(all);
	static uint64_t each[N_EQUALITY][WORDS];
	BfDeleteSource avro[N_EQUALITY];

	memset(each, 0xff, sizeof each);
	for (int32_t i = 0; i < N_EQUALITY; i++)
	{
		BfArena *a = bf_arena_new(test_host(), "test", (size_t) 256 << 20);

		avro[i] = as_avro(equality[i]);
		expect_keys(a, &equality[i], each[i]);
		bf_arena_free(a);
	}
	for (int round = 0; round < 60 && !test_failed(); round++)
	{
		BfArena *a = bf_arena_new(test_host(), "test", (size_t) 256 << 20);
		BfDeleteSource sources[N_EQUALITY];
		uint64_t want[WORDS], got[WORDS];
		int32_t rg = (int32_t) test_random_below(4);
		int32_t n = 0;
		BfDeletes *d;

		memset(want, 0xff, sizeof want);
		for (int32_t i = 0; i < N_EQUALITY; i++)
			if (count(each[i]) > 0 && test_random_below(3) == 0)
			{
				sources[n] = test_random_below(2) == 0 ? equality[i] : avro[i];
				sources[n++].scope = (int32_t) test_random_below(3) - 1;
				for (int w = 0; w < WORDS; w++)
					want[w] &= each[i][w];
			}
		/* Rows of row groups that were passed over are not asked for. Files of a scope that an
		 * earlier round read count now too, so each round has its own. */
		for (int32_t i = 0; i < n; i++)
			if (sources[i].scope >= 0)
				sources[i].scope += 2 * round;
		for (int32_t i = 0; i < rg * 300; i++)
			bf_validity_set(want, i, true);
		memset(got, 0xff, sizeof got);
		REQUIRE_OK(bf_deletes_load(a, c, DATA_PATH, 4, sources, n, &d, &test_err));
		if (d != NULL)
			REQUIRE_OK(apply(a, d, rg, got, &test_err));
		check_same(got, want, "several");
		bf_arena_free(a);
	}
	bf_arena_free(all);
}

/* One table of keys for delete files of different ages. */
TEST(deletes_sequence)
{
	BfArena *a = test_arena();
	BfDeleteSource s[2] = {EQUALITY("eq_all.parquet", name_ids),
						   EQUALITY("eq_renamed.parquet", name_ids)};
	uint64_t renamed[WORDS], both[WORDS], got[WORDS];
	BfDeleteCache *c = new_cache(a);
	BfDeletes *d;

	s[0].sequence = 3;
	s[1].sequence = 5;
	s[0].scope = s[1].scope = 7;
	memset(renamed, 0xff, sizeof renamed);
	expect_keys(a, &s[1], renamed);
	memcpy(both, renamed, sizeof both);
	expect_keys(a, &s[0], both);
	s[1] = as_avro(s[1]); /* files of both formats in one table of keys */
	EXPECT(count(both) < count(renamed));

	for (int round = 0; round < 2; round++)
	{
		/* An old data file: both are newer. */
		memset(got, 0xff, sizeof got);
		REQUIRE_OK(bf_deletes_load(a, c, DATA_PATH, 2, s, 2, &d, &test_err));
		REQUIRE_OK(apply(a, d, 0, got, &test_err));
		check_same(got, both, "old file");
		/* As old as the first delete file, whose keys are there and don't count. */
		memset(got, 0xff, sizeof got);
		REQUIRE_OK(bf_deletes_load(a, c, DATA_PATH, 3, &s[1], 1, &d, &test_err));
		REQUIRE_OK(apply(a, d, 0, got, &test_err));
		check_same(got, renamed, "new file");
	}
	EXPECT_EQ(bf_delete_counters(c)->files_read, 2);
}

TEST(deletes_equality_refused)
{
	static const int32_t unknown_ids[] = {1, 99};
	static const int32_t lacking_ids[] = {1, 2};
	BfDeleteSource s = EQUALITY("eq_id.parquet", unknown_ids);
	BfArena *a = test_arena();
	BfDeleteCache *c = new_cache(a);
	BfDeletes *d;

	EXPECT_FAIL(bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.object, s.path);
	EXPECT(strstr(test_err.text, "field 99") != NULL);
	/* A key column that the delete file lacks. */
	s.ids = lacking_ids;
	EXPECT_FAIL(bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.object, s.path);
	s.n_ids = 0;
	EXPECT_FAIL(bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err), BF_ERR_CORRUPT, -1);
	s.n_ids = 1;
	s.path = DATA "missing.parquet";
	EXPECT_FAIL(bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err), BF_ERR_NOTFOUND, -1);
	s.path = DATA "vectors.puffin";
	EXPECT_FAIL(bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err), BF_ERR_CORRUPT, -1);
	s = as_avro(equality[0]);
	s.n_ids = 2;
	s.ids = lacking_ids;
	EXPECT_FAIL(bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err), BF_ERR_CORRUPT, -1);
	EXPECT_STR(test_err.object, s.path);
	s.path = DATA "eq_id.parquet";
	EXPECT_FAIL(bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err), BF_ERR_CORRUPT, 0);
	EXPECT_STR(test_err.object, s.path);
	/* None of it has spoilt the cache. */
	s = equality[0];
	REQUIRE_OK(bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err));
	EXPECT(d != NULL);
}

/* --- Positions ----------------------------------------------------------------------------------
 */

/* The rows from 0 to n that are left, by the deletes alone. */
static void
apply_rows(BfDeletes *d, int64_t first, int32_t n, uint64_t *rows)
{
	memset(rows, 0xff, BF_VALIDITY_WORDS * sizeof *rows);
	REQUIRE_OK(bf_deletes_apply(d, first, n, NULL, NULL, rows, &test_err));
}

/* What the file says, read in the plainest way. */
static int32_t
expect_positions(BfArena *a, const char *path, const char *data, uint64_t *rows)
{
	static const BfField fields[] = {
		{.id = 2147483546, .name = "p", .type = {.kind = BF_KIND_STRING}},
		{.id = 2147483545, .name = "r", .type = {.kind = BF_KIND_INT64}}};
	static const int32_t indexes[] = {0, 1};
	BfSchema schema = {.n_fields = 2, .fields = (BfField *) (uintptr_t) fields};
	BfProjection p = {.schema = &schema, .fields = indexes, .n_fields = 2};
	BfReader *reader;
	int32_t n = 0;

	memset(rows, 0xff, BF_VALIDITY_WORDS * sizeof *rows);
	if (bf_exec_parquet_reader(a, path, &p, NULL, 0, -1, NULL, NULL, &reader, &test_err) != BF_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", path, test_err.text);
	for (;;)
	{
		const BfBatch *b = NULL;

		if (reader->next(reader, &b, &test_err) != BF_OK || b == NULL)
			return n;
		for (int32_t i = 0; i < b->n_rows; i++)
		{
			const char *local = NULL;
			BfValue name, pos;

			if (!bf_vector_get(&b->cols[0], i, &name) || !bf_vector_get(&b->cols[1], i, &pos))
				continue;
			if (resolve(NULL, a,
						bf_arena_strndup(a, (const char *) name.v.view.ptr, name.v.view.len),
						&local, &test_err) != BF_OK)
				return -1;
			if (local != NULL && strcmp(local, data) == 0 && pos.v.i64 < BF_BATCH_ROWS)
			{
				n += bf_valid(rows, (int32_t) pos.v.i64);
				bf_validity_set(rows, (int32_t) pos.v.i64, false);
			}
		}
	}
}

TEST(deletes_position)
{
	static const char *const files[] = {DATA "pos.parquet", DATA "pos_unsorted.parquet",
										DATA "pos_null_path.parquet"};
	static const char *const data[] = {DATA_PATH, "/lake/t/data/b.parquet",
									   "/lake/t/data/c.parquet", "/lake/t/data/d.parquet"};
	static const int32_t deleted[3][4] = {{300, 586, 0, 0}, {300, 586, 0, 0}, {2, 0, 0, 0}};
	BfArena *a = test_arena();
	BfDeleteCache *c = new_cache(a);
	BfDeleteSource avro = {0};

	for (size_t n = 0; n < 6; n++)
		for (size_t k = 0; k < 4; k++)
		{
			size_t f = n / 2;
			BfDeleteSource s = {.kind = BF_DELETE_POSITION, .path = files[f], .record_count = -1};
			uint64_t want[BF_VALIDITY_WORDS], got[BF_VALIDITY_WORDS];
			BfDeletes *d;

			if (n % 2 == 1 && k == 0)
				avro = as_avro(s);
			if (n % 2 == 1)
				s = avro;
			EXPECT_EQ(expect_positions(a, files[f], data[k], want), deleted[f][k]);
			REQUIRE_OK(bf_deletes_load(a, c, data[k], 4, &s, 1, &d, &test_err));
			EXPECT_EQ(d != NULL, deleted[f][k] > 0 || (k == 2 && f < 2));
			if (d == NULL)
				continue;
			apply_rows(d, 0, BF_BATCH_ROWS, got);
			EXPECT(memcmp(got, want, sizeof got) == 0);
			if (k == 2)
			{
				apply_rows(d, (INT64_C(1) << 62) - 3, 7, got);
				EXPECT_EQ(got[0], UINT64_MAX - 8);
			}
		}
	EXPECT_EQ(bf_delete_counters(c)->files_read, 6);
}

TEST(deletes_position_refused)
{
	static const struct
	{
		const char *file;
		const char *what;
	} cases[] = {{DATA "pos_null_pos.parquet", "row 1 has no position"},
				 {DATA "pos_negative.parquet", "row 1 has position -1"},
				 {DATA "pos_zero_byte.parquet", "zero byte"},
				 {DATA "eq_id.parquet", "file_path"},
				 {DATA "vectors.puffin", ""}};
	BfArena *a = test_arena();
	BfDeleteSource s = {
		.kind = BF_DELETE_POSITION, .path = DATA "pos_no_ids.parquet", .record_count = -1};
	uint64_t got[BF_VALIDITY_WORDS];
	BfDeletes *d;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfDeleteSource bad = {
			.kind = BF_DELETE_POSITION, .path = cases[i].file, .record_count = -1};

		EXPECT_FAIL(bf_deletes_load(a, new_cache(a), DATA_PATH, 4, &bad, 1, &d, &test_err),
					BF_ERR_CORRUPT, -1);
		EXPECT_STR(test_err.object, cases[i].file);
		if (strstr(test_err.text, cases[i].what) == NULL)
			test_fail(__FILE__, __LINE__, "%s: %s", cases[i].file, test_err.text);
		if (strstr(bad.path, ".puffin") != NULL)
			bad.avro = true;
		else
			bad = as_avro(bad);
		EXPECT_FAIL(bf_deletes_load(a, new_cache(a), DATA_PATH, 4, &bad, 1, &d, &test_err),
					BF_ERR_CORRUPT, -1);
		EXPECT_STR(test_err.object, bad.path);
		if (strstr(test_err.text, cases[i].what) == NULL)
			test_fail(__FILE__, __LINE__, "%s: %s", bad.path, test_err.text);
	}
	/* By their names where the file has no ids. */
	REQUIRE_OK(bf_deletes_load(a, new_cache(a), DATA_PATH, 4, &s, 1, &d, &test_err));
	REQUIRE(d != NULL);
	apply_rows(d, 0, 64, got);
	EXPECT_EQ(got[0], ~(uint64_t) 0xffc00);
	s = as_avro(s);
	REQUIRE_OK(bf_deletes_load(a, new_cache(a), DATA_PATH, 4, &s, 1, &d, &test_err));
	REQUIRE(d != NULL);
	apply_rows(d, 0, 64, got);
	EXPECT_EQ(got[0], ~(uint64_t) 0xffc00);
}

/* Positions that a data file does not have. */
TEST(deletes_dangling)
{
	BfArena *a = test_arena();
	BfDeleteSource s[] = {
		{.kind = BF_DELETE_POSITION, .path = DATA "pos.parquet", .record_count = -1},
		{.kind = BF_DELETE_POSITION, .path = DATA "pos_unsorted.parquet", .record_count = -1}};
	uint64_t named[BF_VALIDITY_WORDS];
	BfDeleteCache *c = new_cache(a);
	BfDeletes *d;
	int64_t behind = 0;

	EXPECT_EQ(expect_positions(a, s[0].path, DATA_PATH, named), 300);
	for (int32_t i = 500; i < BF_BATCH_ROWS; i++)
		behind += !bf_valid(named, i);
	EXPECT(behind > 0 && behind < 300);
	REQUIRE_OK(bf_deletes_load(a, c, DATA_PATH, 4, s, 1, &d, &test_err));
	bf_delete_count_dangling(c, d, ROWS);
	EXPECT_EQ(bf_delete_counters(c)->dangling, 0);
	bf_delete_count_dangling(c, d, 500);
	EXPECT_EQ(bf_delete_counters(c)->dangling, behind);
	bf_delete_count_dangling(c, d, -1); /* nobody knows how many rows there are */
	EXPECT_EQ(bf_delete_counters(c)->dangling, behind);
	/* One far away, in both files. */
	REQUIRE_OK(bf_deletes_load(a, c, "/lake/t/data/c.parquet", 4, s, 2, &d, &test_err));
	bf_delete_count_dangling(c, d, ROWS);
	EXPECT_EQ(bf_delete_counters(c)->dangling, behind + 2);
}

/* --- Vectors ------------------------------------------------------------------------------------
 */

TEST(deletes_vector)
{
	BfDeleteSource s = {.kind = BF_DELETE_VECTOR,
						.path = DATA "vectors.puffin",
						.offset = 4,
						.length = 54,
						.record_count = 7};
	BfArena *a = test_arena();
	BfDeleteCache *c = new_cache(a);
	uint64_t got[BF_VALIDITY_WORDS];
	BfDeletes *d;

	REQUIRE_OK(bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err));
	REQUIRE(d != NULL);
	apply_rows(d, 0, 64, got);
	EXPECT_EQ(got[0], UINT64_MAX - 7);
	apply_rows(d, 290, 20, got);
	EXPECT_EQ(got[0], UINT64_MAX - (7 << 9));
	/* From the second row group on. */
	memset(got, 0xff, sizeof got);
	REQUIRE_OK(apply(a, d, 1, got, &test_err));
	EXPECT_EQ(count(got), ROWS - 3);
	EXPECT(!bf_valid(got, 300) && !bf_valid(got, 301) && !bf_valid(got, 999));

	s.offset = 58;
	s.length = 61;
	s.record_count = -1;
	REQUIRE_OK(bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err));
	memset(got, 0xff, sizeof got);
	REQUIRE_OK(apply(a, d, 0, got, &test_err));
	EXPECT_EQ(count(got), 200);
	apply_rows(d, INT64_C(1) << 40, 1, got);
	EXPECT_EQ(got[0], UINT64_MAX - 1);

	s.offset = 119;
	s.length = 20;
	s.record_count = 0;
	REQUIRE_OK(bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err));
	EXPECT(d == NULL);
}

TEST(deletes_vector_refused)
{
	static const struct
	{
		int64_t offset;
		int64_t length;
		int64_t records;
	} cases[] = {{4, 54, 8},		{4, 54, 6},		{4, 53, 7},			{4, 55, 7},
				 {5, 54, 7},		{3, 54, 7},		{-1, 54, 7},		{4, -1, 7},
				 {4, INT64_MAX, 7}, {4, 100000, 7}, {INT64_MAX, 54, 7}, {0, 4, -1}};
	BfArena *a = test_arena();
	BfDeletes *d;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		BfDeleteSource s = {.kind = BF_DELETE_VECTOR,
							.path = DATA "vectors.puffin",
							.offset = cases[i].offset,
							.length = cases[i].length,
							.record_count = cases[i].records};

		EXPECT_FAIL(bf_deletes_load(a, new_cache(a), DATA_PATH, 4, &s, 1, &d, &test_err),
					BF_ERR_CORRUPT, -1);
		EXPECT_STR(test_err.object, s.path);
	}
}

/* --- Counts that a manifest tells ---------------------------------------------------------------
 */

static BfStatus
load_counted(const BfDeleteSource *s, bool unverified, BfDeletes **d)
{
	BfDeleteOptions options = {.resolve = resolve,
							   .column_of = column_of,
							   .bytes_max = (size_t) 64 << 20,
							   .unverified = unverified};
	BfDeleteCache *c;

	bf_error_clear(&test_err);
	BF_TRY(bf_delete_cache_new(test_arena(), &options, &c, &test_err));
	return bf_deletes_load(test_arena(), c, DATA_PATH, 4, s, 1, d, &test_err);
}

/* Rows that are missing in a file of deletes would come back. */
TEST(deletes_counted)
{
	BfDeleteSource sources[] = {EQUALITY("eq_id.parquet", id_ids),
								{.kind = BF_DELETE_POSITION, .path = DATA "pos.parquet"},
								{.kind = BF_DELETE_VECTOR,
								 .path = DATA "vectors.puffin",
								 .offset = 4,
								 .length = 54,
								 .record_count = 7}};

	for (int i = 0; i < 5; i++)
	{
		BfDeleteSource s = i < 3 ? sources[i] : as_avro(sources[i - 3]);
		BfDeletes *d;
		int64_t n = s.record_count;

		if (s.kind != BF_DELETE_VECTOR)
		{
			BfParquetFile *f;

			REQUIRE_OK(
				bf_exec_parquet_open(test_arena(), sources[i % 3].path, NULL, &f, &test_err));
			n = bf_parquet_n_rows(f);
		}
		for (int64_t says = -1; says <= n + 1; says++)
		{
			s.record_count = says;
			if (says < 0 || says == n || (says < n && s.kind != BF_DELETE_VECTOR))
				REQUIRE_OK(load_counted(&s, false, &d));
			else
			{
				EXPECT_FAIL(load_counted(&s, false, &d), BF_ERR_CORRUPT, -1);
				EXPECT_STR(test_err.object, s.path);
				EXPECT_STR(test_err.unverified,
						   s.kind == BF_DELETE_VECTOR ? "deletion vector" : "file");
			}
			REQUIRE_OK(load_counted(&s, true, &d));
		}
	}
}

/* --- Limits and faults --------------------------------------------------------------------------
 */

TEST(deletes_limit)
{
	BfArena *a = test_arena();
	BfDeleteOptions options = {.resolve = resolve, .column_of = column_of};
	int refused = 0;

	/* With ever more memory the file is refused for its size until it is read. */
	for (size_t max = 4096;; max += max / 4)
	{
		BfDeleteSource s = equality[2];
		BfDeleteCache *c = NULL;
		BfDeletes *d = NULL;
		BfStatus status;

		REQUIRE(max < (size_t) 1 << 30);
		options.bytes_max = max;
		status = bf_delete_cache_new(a, &options, &c, &test_err);
		if (status == BF_OK)
			status = bf_deletes_load(a, c, DATA_PATH, 4, &s, 1, &d, &test_err);
		if (status == BF_OK)
			break;
		EXPECT_EQ(status, BF_ERR_LIMIT);
		refused++;
	}
	EXPECT(refused > 3);
}

/* name_f: a source like equality[1]. */
static BfStatus
scenario(const BfHost *host, BfDeleteSource name_f, BfError *err)
{
	BfArena *a = bf_arena_new(host, "test", (size_t) 256 << 20);
	BfDeleteSource sources[] = {
		equality[0],
		name_f,
		{.kind = BF_DELETE_POSITION, .path = DATA "pos_unsorted.parquet", .record_count = -1},
		{.kind = BF_DELETE_VECTOR,
		 .path = DATA "vectors.puffin",
		 .offset = 4,
		 .length = 54,
		 .record_count = 7}};
	BfDeleteOptions options = {
		.resolve = resolve, .column_of = column_of, .bytes_max = (size_t) 64 << 20};
	BfDeleteCache *c;
	BfDeletes *d = NULL;
	uint64_t got[WORDS];
	BfStatus status;

	if (a == NULL)
		return bf_error(err, BF_ERR_NOMEM, "no arena");
	memset(got, 0xff, sizeof got);
	status = bf_delete_cache_new(a, &options, &c, err);
	if (status == BF_OK)
		status = bf_deletes_load(a, c, DATA_PATH, 4, sources, 4, &d, err);
	if (status == BF_OK)
		status = apply(a, d, 0, got, err);
	/* Never fewer deletes than there are. */
	if (status == BF_OK)
		EXPECT_EQ(count(got), 428);
	bf_arena_free(a);
	return status;
}

TEST(deletes_faults)
{
	static const struct
	{
		TestFault fault;
		BfStatus status;
	} kinds[] = {{TEST_FAULT_ALLOC, BF_ERR_NOMEM},
				 {TEST_FAULT_READ, BF_ERR_IO},
				 {TEST_FAULT_CANCEL, BF_ERR_CANCEL}};
	BfDeleteSource avro = as_avro(equality[1]);
	TestHost h;

	test_host_init(&h);
	for (size_t k = 0; k < 6; k++)
		for (int64_t n = 1; !test_failed(); n++)
		{
			BfStatus status;

			test_fault_arm(&h, kinds[k / 2].fault, n, false);
			status = scenario(&h.host, k % 2 == 0 ? equality[1] : avro, &test_err);
			EXPECT_EQ(h.live_allocs, 0);
			EXPECT_EQ(h.open_files, 0);
			EXPECT_EQ(h.bad_frees, 0);
			if (!test_fault_fired(&h))
			{
				EXPECT_EQ(status, BF_OK);
				EXPECT(n > 3);
				break;
			}
			EXPECT_EQ(status, kinds[k / 2].status);
		}
}
