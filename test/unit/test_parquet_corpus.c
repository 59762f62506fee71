/*
 * Every Parquet file of the corpus against what other readers said of it: see the corpus's README.
 * Memory is counted and bounded per file, so that a damaged one can't make us allocate what it
 * claims.
 */
#include <jansson.h>

#include "parquet/parquet.h"
#include "unit/test_parquet_expected.h"
#include "unit/lib/md5.h"
#include "unit/lib/runner.h"

#define MEMORY_MAX ((size_t) 256 << 20)
#define TEXT_MAX 65536
#define CUT_AT 80

/* ---- a host that counts ---- */

static size_t memory_used;
static size_t memory_peak;

static void *
counting_alloc(const BfHost *h, size_t size)
{
	(void) h;
	if (memory_used + size > MEMORY_MAX)
	{
		memory_peak = memory_used + size;
		return NULL;
	}
	memory_used += size;
	memory_peak = memory_used > memory_peak ? memory_used : memory_peak;
	return test_host()->mem_alloc(test_host(), size);
}

static void
counting_free(const BfHost *h, void *ptr, size_t size)
{
	(void) h;
	memory_used -= size;
	test_host()->mem_free(test_host(), ptr, size);
}

static BfHost
counting_host(void)
{
	BfHost h = *test_host();

	h.mem_alloc = counting_alloc;
	h.mem_free = counting_free;
	memory_used = memory_peak = 0;
	return h;
}

typedef enum Outcome
{
	READ,	 /* all columns */
	REFUSED, /* at open or in a column */
	N_OUTCOMES
} Outcome;

typedef struct FileResult
{
	Outcome outcome;
	int32_t n_flat;
	int32_t n_nested;
	int32_t n_bounds; /* chunks with a trusted minimum */
	int32_t wrong;
} FileResult;

/* The runner prints the first few failures of a test only; here each file counts. */
static void complain(FileResult *r, const char *file, const char *fmt, ...) BF_PRINTF(3, 4);

static void
complain(FileResult *r, const char *file, const char *fmt, ...)
{
	va_list args;

	r->wrong++;
	fprintf(stderr, "corpus: %s: ", file);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

/* ---- aggregates of a column ---- */

typedef struct Aggregate
{
	int64_t rows;
	int64_t non_null;
	int64_t total_bytes;
	bf_i128 sum;
	bool has_value;
	BfValue min;
	BfValue max;
	BfArena *arena; /* for the bytes of min and max */
	/* Nested columns: digest of the rows' texts, with line ends between them. */
	const BfField *field;
	const char *type;
	TestMd5 md5;
	BfBuffer text;
} Aggregate;

static bool
is_whole_number(BfKind k)
{
	return (k >= BF_KIND_INT8 && k <= BF_KIND_UINT64) || k == BF_KIND_DECIMAL;
}

static bf_i128
whole_number(const BfValue *v)
{
	switch (bf_type_storage(v->type))
	{
		case BF_STORE_I32: return v->v.i32;
		case BF_STORE_I64:
			return v->type.kind == BF_KIND_UINT64 ? (bf_i128) (uint64_t) v->v.i64 : v->v.i64;
		case BF_STORE_I128: return v->v.i128;
		default: return 0;
	}
}

/* A view may be gone with the next batch. */
static void
keep(Aggregate *a, BfValue *to, const BfValue *v)
{
	*to = *v;
	if (bf_type_storage(v->type) == BF_STORE_VIEW && v->v.view.len > 0)
		to->v.view.ptr = bf_arena_memdup(a->arena, v->v.view.ptr, v->v.view.len);
}

static int
compare(const BfValue *a, const BfValue *b)
{
	if (a->type.kind == BF_KIND_INT96)
	{
		int64_t x = expected_int96_us(a->v.view.ptr);
		int64_t y = expected_int96_us(b->v.view.ptr);

		return x < y ? -1 : x > y;
	}
	if (bf_type_storage(a->type) == BF_STORE_NESTED)
		return 0;
	return bf_value_compare(a, b);
}

static bool
has_nan(const BfValue *v)
{
	return (v->type.kind == BF_KIND_FLOAT64 && v->v.f64 != v->v.f64) ||
		   ((v->type.kind == BF_KIND_FLOAT32 || v->type.kind == BF_KIND_FLOAT16) &&
			v->v.f32 != v->v.f32);
}

static bool
is_null_variant(const BfVector *v, int32_t i)
{
	return v->type.kind == BF_KIND_JSON && v->data.view[i].len == 4 &&
		   memcmp(v->data.view[i].ptr, "null", 4) == 0;
}

static void
aggregate_nested(Aggregate *a, const BfVector *v)
{
	for (int32_t i = 0; i < v->n; i++)
	{
		bool valid = bf_valid(v->validity, v->form == BF_VEC_CONST ? 0 : i);
		BfStatus status;

		a->text.len = 0;
		if (a->rows++ > 0)
			test_md5_add(&a->md5, "\n", 1);
		/* DuckDB does not tell a variant that is null from no variant. */
		a->non_null += valid && !is_null_variant(v, i);
		status = valid ? expected_nested_text(a->field, v, i, a->type, &a->text, &test_err)
					   : bf_buffer_append(&a->text, "<null>", 6, &test_err);
		EXPECT_EQ(status, BF_OK);
		test_md5_add(&a->md5, a->text.data, a->text.len);
		if (getenv("SHOW_NESTED") != NULL)
			printf("%.*s\n", (int) a->text.len, (const char *) a->text.data);
	}
}

static void
aggregate(Aggregate *a, const BfVector *v)
{
	if (a->field != NULL)
	{
		aggregate_nested(a, v);
		return;
	}
	a->rows += v->n;
	for (int32_t i = 0; i < v->n; i++)
	{
		BfValue value;

		if (!bf_vector_get(v, i, &value))
			continue;
		a->non_null++;
		if (is_whole_number(value.type.kind))
			a->sum += whole_number(&value);
		if (v->storage == BF_STORE_VIEW)
			a->total_bytes += value.v.view.len;
		if (!a->has_value || compare(&value, &a->min) < 0)
			keep(a, &a->min, &value);
		if (!a->has_value || compare(&value, &a->max) > 0)
			keep(a, &a->max, &value);
		a->has_value = true;
	}
}

static int32_t
count_leaves(const BfField *field)
{
	int32_t n = 0;

	if (bf_type_storage(field->type) != BF_STORE_NESTED)
		return 1;
	for (int32_t i = 0; i < field->n_children; i++)
		n += count_leaves(&field->children[i]);
	return n;
}

/* The recorded bounds and NULL count of a chunk, against its values. */
static void
check_bounds(const char *file, const char *column, const BfParquetChunkInfo *info,
			 const Aggregate *a, FileResult *r)
{
	if (strcmp(info->path, column) != 0)
		complain(r, file, "leaf %s where %s is expected", info->path, column);
	r->n_bounds += info->has_min;
	if (info->null_count >= 0 && info->null_count != a->rows - a->non_null)
		complain(r, file, "column %s: %lld NULLs recorded, %lld found", info->path,
				 (long long) info->null_count, (long long) (a->rows - a->non_null));
	if (!a->has_value)
		return;
	/* NaN is above all, and never a bound. */
	if (info->has_min && compare(&info->min, &a->min) > 0)
		complain(r, file, "column %s has a value below its minimum", info->path);
	if (info->has_max && compare(&info->max, &a->max) < 0 && !has_nan(&a->max))
		complain(r, file, "column %s has a value above its maximum", info->path);
	if (info->min_exact && compare(&info->min, &a->min) != 0 && !has_nan(&a->max))
		complain(r, file, "column %s: an exact minimum that no value has", info->path);
	if (info->max_exact && compare(&info->max, &a->max) != 0 && !has_nan(&a->max))
		complain(r, file, "column %s: an exact maximum that no value has", info->path);
}

/* All row groups of one column. */
static BfStatus
scan_column(BfArena *a, BfParquetFile *f, int32_t column, const char *file, FileResult *r,
			Aggregate *out)
{
	const BfSchema *schema = bf_parquet_schema(f);
	int32_t leaf = 0;
	BfParquetScan *s;

	for (int32_t i = 0; i < column; i++)
		leaf += count_leaves(&schema->fields[i]);
	BF_TRY(bf_parquet_scan_new(a, f, &column, 1, NULL, &s, &test_err));
	for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f); rg++)
	{
		const BfBatch *b;
		Aggregate chunk = {.arena = a};
		BfParquetChunkInfo info;

		BF_TRY(bf_parquet_scan_row_group(s, rg, &test_err));
		for (;;)
		{
			BF_TRY(bf_parquet_scan_next(s, &b, &test_err));
			if (b == NULL)
				break;
			aggregate(out, &b->cols[0]);
			aggregate(&chunk, &b->cols[0]);
		}
		if (file != NULL && out->field == NULL &&
			bf_parquet_chunk_info(f, a, rg, leaf, &info, &test_err) == BF_OK)
			check_bounds(file, schema->fields[column].name, &info, &chunk, r);
	}
	return BF_OK;
}

/* ---- one file ---- */

static void
check_text(const char *file, const char *name, const char *what, const char *ours,
		   const json_t *theirs, const char *type, FileResult *r)
{
	const char *text = json_string_value(theirs);

	if (text == NULL || expected_same(ours, text, type))
		return;
	/* Long texts were cut when they were recorded. */
	if (strlen(text) >= CUT_AT && strncmp(ours, text, strlen(text)) == 0)
		return;
	complain(r, file, "column %s (%s): %s is %.200s, expected %.200s", name, type, what, ours,
			 text);
}

/* DuckDB's count, or that of the other readers where DuckDB could not read the file. */
static const json_t *
recorded_non_null(const json_t *expected, const json_t *column)
{
	const char *name = json_string_value(json_object_get(column, "name"));
	const json_t *own = json_object_get(column, "non_null");

	return own != NULL ? own : json_object_get(json_object_get(expected, "non_null"), name);
}

static void
check_column(const char *file, const json_t *non_null, const json_t *e, const Aggregate *a,
			 FileResult *r)
{
	const char *name = json_string_value(json_object_get(e, "name"));
	const char *type = json_string_value(json_object_get(e, "type"));
	static char text[TEXT_MAX];

	if (non_null == NULL)
		return;
	if (json_integer_value(non_null) != a->non_null)
	{
		complain(r, file, "column %s: %lld values are not NULL, expected %lld", name,
				 (long long) a->non_null, (long long) json_integer_value(non_null));
	}
	if (a->field != NULL)
	{
		TestMd5 md5 = a->md5;
		const char *theirs = json_string_value(json_object_get(e, "md5_of_text"));

		test_md5_hex(&md5, text);
		if (theirs != NULL && a->field->type.kind != BF_KIND_VARIANT && strcmp(text, theirs) != 0)
			complain(r, file, "column %s (%.100s): the digest is %s, expected %s", name, type, text,
					 theirs);
		return;
	}
	if (!a->has_value)
		return;
	expected_text(&a->min, type, text, sizeof text);
	check_text(file, name, "min", text, json_object_get(e, "min"), type, r);
	expected_text(&a->max, type, text, sizeof text);
	check_text(file, name, "max", text, json_object_get(e, "max"), type, r);
	if (is_whole_number(a->min.type.kind))
	{
		expected_i128(a->sum, a->min.type.scale, text, sizeof text);
		check_text(file, name, "sum", text, json_object_get(e, "sum"), type, r);
	}
	if (bf_type_storage(a->min.type) == BF_STORE_VIEW)
	{
		expected_i128(a->total_bytes, 0, text, sizeof text);
		check_text(file, name, "total_bytes", text, json_object_get(e, "total_bytes"), type, r);
	}
}

/* Reads a file as `expected` describes it; compare = false: only whether it can be read. */
static void
read_file(BfArena *a, const char *path, const json_t *expected, bool comparing, FileResult *r)
{
	const char *name = json_string_value(json_object_get(expected, "file"));
	const json_t *columns = json_object_get(expected, "columns");
	const json_t *rows_json = json_object_get(expected, "rows");
	int64_t rows = json_integer_value(rows_json);
	BfSource *source;
	BfParquetFile *f;
	const BfSchema *schema;

	/* Where the oracles disagree: DuckDB's, which counts by row groups. */
	if (json_is_array(rows_json))
		rows = json_integer_value(json_array_get(rows_json, 0));
	r->outcome = REFUSED;
	if (bf_source_open(a, path, NULL, &source, &test_err) != BF_OK ||
		bf_parquet_open(a, source, NULL, &f, &test_err) != BF_OK)
		return;
	schema = bf_parquet_schema(f);
	if (rows_json == NULL || json_is_null(rows_json))
		rows = bf_parquet_n_rows(f);
	if (comparing && bf_parquet_n_rows(f) != rows)
	{
		complain(r, name, "%lld rows, expected %lld", (long long) bf_parquet_n_rows(f),
				 (long long) rows);
	}
	for (int32_t i = 0; i < schema->n_fields; i++)
	{
		BfArenaMark mark;
		BfStatus status;
		Aggregate agg = {.arena = a};

		if (bf_type_storage(schema->fields[i].type) == BF_STORE_NESTED)
		{
			const char *type =
				json_string_value(json_object_get(json_array_get(columns, (size_t) i), "type"));

			agg.field = &schema->fields[i];
			agg.type = type != NULL ? type : "";
			test_md5_init(&agg.md5);
			bf_buffer_init(&agg.text, test_host(), 1 << 28);
			r->n_nested++;
		}
		else
			r->n_flat++;
		mark = bf_arena_mark(a);
		status = scan_column(a, f, i, comparing ? name : NULL, r, &agg);
		if (agg.field != NULL)
			bf_buffer_free(&agg.text);
		if (status != BF_OK)
			return;
		if (comparing && agg.rows != rows)
		{
			complain(r, name, "column %s has %lld rows, expected %lld", schema->fields[i].name,
					 (long long) agg.rows, (long long) rows);
		}
		if (comparing)
		{
			const json_t *c = json_array_get(columns, (size_t) i);

			check_column(name, recorded_non_null(expected, c), c, &agg, r);
		}
		bf_arena_rewind(a, mark);
	}
	r->outcome = READ;
}

/* ---- the verdicts that we pin ---- */

/* Files on which the three oracles disagree, or where we differ from all of them. */
typedef struct Pinned
{
	const char *file; /* the end of its path */
	Outcome outcome;
	bool comparing; /* with the values that are recorded */
	const char *why;
} Pinned;

static const Pinned pinned[] = {
	{"BYTE_STREAM_SPLIT/int32.parquet", READ, true, "DuckDB lacks it for integers"},
	{"BYTE_STREAM_SPLIT/int32_with_nulls.parquet", READ, true, "the same"},
	{"BYTE_STREAM_SPLIT/int64.parquet", READ, true, "the same"},
	{"BYTE_STREAM_SPLIT/int64_with_nulls.parquet", READ, true, "the same"},
	{"BYTE_STREAM_SPLIT/uuid.parquet", READ, true, "the same, fixed length"},
	{"BYTE_STREAM_SPLIT/uuid_with_nulls.parquet", READ, true, "the same"},
	{"byte_stream_split_extended.gzip.parquet", READ, true, "the same"},
	{"crash-649c71a618ae2fd80cec177a9676eb3e280fc1fa", READ, true, "damaged path names"},
	{"dir_metadata/empty.parquet", READ, true, "no rows"},
	{"gzip-nation.impala.parquet", READ, true, "missing optional fields"},
	{"fastparquet/nation.impala.parquet", READ, true, ""},
	{"snappy-nation.impala.parquet", READ, true, ""},
	{"no_columns.parquet", READ, false, "no columns at all"},
	{"no_columns_new.parquet", READ, false, "no columns at all"},
	{"non-std-kvm.fp-0.8.2.parquet", READ, true, "odd key-value metadata is skipped"},
	{"alltypes_empty_pages.parquet", READ, true, "pages without values are legal"},
	{"dateless_timestamps.parq", READ, false, "INT96 that DuckDB wraps around"},
	{"int96_from_spark.parquet", READ, false, "INT96 that DuckDB wraps around"},
	{"int64_timestamps_nano.parquet", READ, true, ""},
	{"repeated_root_schema.parquet", READ, true, "the root's repetition is ignored"},
	{"ARROW-GH-45185.parquet", REFUSED, false, "it begins within a row"},
	{"ARROW-RS-GH-6229-LEVELS.parquet", REFUSED, false, "a page of more levels than the chunk"},
	{"datapage_v1-corrupt-checksum.parquet", REFUSED, false, "we verify checksums"},
	{"rle-dict-uncompressed-corrupt-checksum.parquet", REFUSED, false, "we verify checksums"},
	{"dict-page-offset-zero.parquet", READ, true, "0 means that there is none"},
	{"hadoop_lz4_compressed.parquet", READ, true, ""},
	{"hadoop_lz4_compressed_larger.parquet", READ, true, ""},
	{"non_hadoop_lz4_compressed.parquet", READ, true, ""},
	{"hyparquet/strings.parquet", READ, true, "columns without a repetition are required"},
	{"map_no_value.parquet", READ, true, "the values are NULL"},
	{"nation.dict-malformed.parquet", READ, true, "PARQUET-816"},
	{"shredded_variant/case-029.parquet", READ, true, ""},
	{"shredded_variant/case-030.parquet", READ, true, ""},
	{"shredded_variant/case-041.parquet", READ, true, ""},
	{"shredded_variant/case-040.parquet", REFUSED, false, "value and typed value"},
	{"shredded_variant/case-042.parquet", REFUSED, false, "the same"},
	{"shredded_variant/case-137.parquet", REFUSED, false, "no type of variants"},
	{"shredded_variant/case-087.parquet", REFUSED, false, "members of what is no object"},
	{"shredded_variant/case-088.parquet", READ, true, ""},
	{"shredded_variant/case-127.parquet", REFUSED, false, "no type of variants"},
	{"shredded_variant/case-128.parquet", REFUSED, false, "members of what is no object"},
	{"shredded_variant/case-131.parquet", READ, true, ""},
	{"shredded_variant/case-132.parquet", READ, true, ""},
	{"shredded_variant/case-138.parquet", READ, true, ""},
};

static const Pinned *
find_pinned(const char *file)
{
	size_t len = strlen(file);

	for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++)
	{
		size_t n = strlen(pinned[i].file);

		if (n <= len && strcmp(file + len - n, pinned[i].file) == 0)
			return &pinned[i];
	}
	return NULL;
}

/* ---- all files ---- */

#define SOURCES_MAX 64

typedef struct SourceCount
{
	char name[64];
	int files;
	int passed;
	int flat;
	int nested;
	int bounds;
} SourceCount;

static SourceCount sources[SOURCES_MAX];
static int n_sources;

static SourceCount *
source_of(const char *file)
{
	size_t len = strcspn(file, "/");

	for (int i = 0; i < n_sources; i++)
		if (strlen(sources[i].name) == len && memcmp(sources[i].name, file, len) == 0)
			return &sources[i];
	if (n_sources == SOURCES_MAX)
		return &sources[0];
	snprintf(sources[n_sources].name, sizeof sources[0].name, "%.*s", (int) len, file);
	return &sources[n_sources++];
}

static void
check_file(const json_t *e, FileResult *r)
{
	static const char *const names[N_OUTCOMES] = {"read", "refused"};
	const char *file = json_string_value(json_object_get(e, "file"));
	const char *verdict = json_string_value(json_object_get(e, "verdict"));
	bool readable = strcmp(verdict, "readable") == 0;
	const Pinned *pin = find_pinned(file);
	Outcome want = pin != NULL ? pin->outcome : readable ? READ : REFUSED;
	BfHost host = counting_host();
	BfArena *a = bf_arena_new(&host, "corpus file", MEMORY_MAX);
	char path[2048];

	bf_error_clear(&test_err);
	snprintf(path, sizeof path, "%s/%s", test_corpus(), file);
	read_file(a, path, e, pin != NULL ? pin->comparing : readable, r);
	bf_arena_free(a);
	if (memory_peak > MEMORY_MAX)
	{
		complain(r, file, "more than %zu bytes of memory", MEMORY_MAX);
	}
	if (r->outcome != want)
	{
		complain(r, file, "(%s): %s, expected %s: %s at %lld: %s: %s", verdict, names[r->outcome],
				 names[want], bf_status_name(test_err.code), (long long) test_err.offset,
				 test_err.column, test_err.text);
	}
}

TEST(parquet_corpus)
{
	char path[1024];
	FILE *in;
	int n_wrong = 0;
	static char line[1 << 20];

	if (test_corpus() == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	snprintf(path, sizeof path, "%s/expected/parquet_expected.jsonl", test_corpus());
	in = fopen(path, "r");
	REQUIRE(in != NULL);
	n_sources = 0;
	while (fgets(line, sizeof line, in) != NULL)
	{
		json_t *e = json_loads(line, JSON_ALLOW_NUL, NULL);
		FileResult r = {0};
		SourceCount *s;

		REQUIRE(e != NULL);
		s = source_of(json_string_value(json_object_get(e, "file")));
		s->files++;
		check_file(e, &r);
		s->passed += r.wrong == 0;
		n_wrong += r.wrong != 0;
		s->flat += r.n_flat;
		s->nested += r.n_nested;
		s->bounds += r.n_bounds;
		json_decref(e);
	}
	fclose(in);
	EXPECT_EQ(n_wrong, 0);
	for (int i = 0; i < n_sources; i++)
		printf("corpus: %-20s %3d of %3d files, %4d flat, %3d nested, "
			   "%4d chunks with bounds\n",
			   sources[i].name, sources[i].passed, sources[i].files, sources[i].flat,
			   sources[i].nested, sources[i].bounds);
}

/* With verification off, the files with damaged checksums hold what the other readers see. */
TEST(parquet_corpus_checksum)
{
	static const struct
	{
		const char *file;
		int64_t rows;
	} table[] = {
		{"parquet-testing/data/datapage_v1-corrupt-checksum.parquet", 5120},
		{"parquet-testing/data/rle-dict-uncompressed-corrupt-checksum.parquet", 1000},
	};
	BfParquetLimits limits = bf_parquet_default_limits;

	if (test_corpus() == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	limits.verify_crc = false;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
	{
		BfArena *a = test_arena();
		char path[1024];
		BfSource *source;
		BfParquetFile *f;
		FileResult ignored = {0};
		Aggregate agg = {.arena = a};

		snprintf(path, sizeof path, "%s/%s", test_corpus(), table[i].file);
		REQUIRE_OK(bf_source_open(a, path, NULL, &source, &test_err));
		REQUIRE_OK(bf_parquet_open(a, source, NULL, &f, &test_err));
		EXPECT_FAIL(scan_column(a, f, 0, NULL, &ignored, &agg), BF_ERR_CORRUPT, 4);
		EXPECT_STR(test_err.object, path);
		EXPECT(test_err.column[0] != '\0');
		REQUIRE_OK(bf_parquet_open(a, source, &limits, &f, &test_err));
		agg = (Aggregate){.arena = a};
		REQUIRE_OK(scan_column(a, f, 0, NULL, &ignored, &agg));
		EXPECT_EQ(agg.rows, table[i].rows);
	}
}
