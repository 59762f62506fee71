/*
 * The rows of other engines' tables: per flat column the number of values, sum, minimum and maximum
 * must be those that the corpus records (from DuckDB and Spark), after deletes. Plans are ours,
 * files are read by exec/read/parquet_reader; without that layer in the build the tests are
 * skipped.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "exec/delete/load.h"
#include "exec/read/parquet_reader.h"
#include "iceberg/columns.h"
#include "unit/lib/runner.h"

#pragma weak bf_exec_parquet_open
#pragma weak bf_exec_parquet_reader_filtered
#pragma weak bf_delete_cache_new
#pragma weak bf_deletes_load

typedef struct ColumnSum
{
	int64_t non_null;
	bf_i128 sum;
	bool has_range;
	BfValue min, max;
} ColumnSum;

static bool
skip(void)
{
	if (test_corpus() == NULL)
		test_skip("BIFANG_CORPUS is not set");
	else if (bf_exec_parquet_open == NULL)
		test_skip("the exec layer is not in this build");
	else
		return false;
	return true;
}

/* --- Expected texts ------------------------------------------------------------------------- */

static int64_t
days_of(int64_t y, int64_t m, int64_t d)
{
	int64_t era, year_of_era, day_of_year;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	year_of_era = y - era * 400;
	day_of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
		   719468;
}

/* A decimal number, with or without an exponent, at the given scale. */
static bool
parse_decimal(const char *s, int32_t scale, bf_i128 *out)
{
	bool negative = *s == '-', point = false;
	int32_t places = 0;
	bf_i128 v = 0;

	for (s += negative; (*s >= '0' && *s <= '9') || *s == '.'; s++)
	{
		if (*s == '.')
			point = true;
		else
		{
			v = v * 10 + (*s - '0');
			places += point;
		}
	}
	if (*s == 'E' || *s == 'e')
		places -= (int32_t) strtol(s + 1, (char **) &s, 10);
	for (; places < scale; places++)
		v *= 10;
	for (; places > scale; places--)
	{
		if (v % 10 != 0)
			return false;
		v /= 10;
	}
	*out = negative ? -v : v;
	return *s == '\0';
}

static bool
parse_moment(const char *s, BfType type, int64_t *out)
{
	int y = 1970, m = 1, d = 1, hour = 0, minute = 0, second = 0, n = 0;
	int64_t micros = 0, unit = 100000;

	if (type.kind != BF_KIND_TIME)
	{
		if (sscanf(s, "%d-%d-%d%n", &y, &m, &d, &n) != 3)
			return false;
		s += n + (s[n] == ' ' || s[n] == 'T');
	}
	if (*s != '\0' && sscanf(s, "%d:%d:%d%n", &hour, &minute, &second, &n) == 3)
		s += n;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++, unit /= 10)
			micros += (*s - '0') * unit;
	*out = ((days_of(y, m, d) * 24 + hour) * 60 + minute) * 60 + second;
	*out = *out * 1000000 + micros;
	return *s == '\0' || strcmp(s, "+00") == 0;
}

/* The value that a text stands for; false = not checked. */
static bool
parse_expected(const char *s, BfType type, BfValue *out)
{
	bf_i128 wide = 0;
	int64_t moment;

	*out = (BfValue){.type = type};
	switch (type.kind)
	{
		case BF_KIND_BOOL: out->v.u8 = strcmp(s, "true") == 0; return true;
		case BF_KIND_FLOAT32: out->v.f32 = strtof(s, NULL); return true;
		case BF_KIND_FLOAT64: out->v.f64 = strtod(s, NULL); return true;
		case BF_KIND_STRING:
			out->v.view = (BfView){(const uint8_t *) s, (uint32_t) strlen(s)};
			return true;
		case BF_KIND_DATE:
			if (!parse_moment(s, type, &moment))
				return false;
			out->v.i32 = (int32_t) (moment / 86400000000 - (moment % 86400000000 < 0));
			return true;
		case BF_KIND_TIME:
		case BF_KIND_TIMESTAMP:
		case BF_KIND_TIMESTAMPTZ: return parse_moment(s, type, &out->v.i64);
		case BF_KIND_INT32:
		case BF_KIND_INT64:
		case BF_KIND_DECIMAL:
			if (!parse_decimal(s, type.scale, &wide))
				return false;
			if (bf_type_storage(type) == BF_STORE_I32)
				out->v.i32 = (int32_t) wide;
			else if (bf_type_storage(type) == BF_STORE_I64)
				out->v.i64 = (int64_t) wide;
			else
				out->v.i128 = wide;
			return true;
		default: return false;
	}
}

/* --- Reading -------------------------------------------------------------------------------- */

static bool
is_nan(const BfValue *v)
{
	return (v->type.kind == BF_KIND_FLOAT32 && isnan(v->v.f32)) ||
		   (v->type.kind == BF_KIND_FLOAT64 && isnan(v->v.f64));
}

static BfValue
keep(BfArena *a, BfValue v)
{
	if (bf_type_storage(v.type) == BF_STORE_VIEW)
		v.v.view.ptr = bf_arena_memdup(a, v.v.view.ptr, v.v.view.len);
	return v;
}

static void
add_value(BfArena *a, ColumnSum *c, const BfValue *v)
{
	c->non_null++;
	if (bf_type_storage(v->type) == BF_STORE_I32)
		c->sum += v->v.i32;
	else if (bf_type_storage(v->type) == BF_STORE_I64)
		c->sum += v->v.i64;
	else if (bf_type_storage(v->type) == BF_STORE_I128)
		c->sum += v->v.i128;
	if (is_nan(v))
		return;
	if (!c->has_range || bf_value_compare(v, &c->min) < 0)
		c->min = keep(a, *v);
	if (!c->has_range || bf_value_compare(v, &c->max) > 0)
		c->max = keep(a, *v);
	c->has_range = true;
}

static BfStatus
resolve_path(void *arg, BfArena *a, const char *path, const char **out, BfError *err)
{
	return bf_location_resolve(a, &((const BfIceTable *) arg)->location, path, out, err);
}

static BfStatus
column_of(void *arg, BfArena *a, int32_t id, const BfField **out, BfError *err)
{
	return bf_ice_key_column(a, ((const BfIceTable *) arg)->metadata, id, out, err);
}

static BfStatus
deletes_of(BfArena *a, BfDeleteCache *cache, const BfIceDataFile *f, BfDeletes **out)
{
	static const BfDeleteKind kinds[] = {[BF_ICE_DELETE_POSITION] = BF_DELETE_POSITION,
										 [BF_ICE_DELETE_EQUALITY] = BF_DELETE_EQUALITY,
										 [BF_ICE_DELETE_VECTOR] = BF_DELETE_VECTOR};
	int32_t n = bf_ice_n_deletes(f);
	BfDeleteSource *sources;

	BF_NEW(a, sources, n, &test_err);
	for (int32_t i = 0; i < n; i++)
	{
		const BfIceDeleteFile *d = bf_ice_delete(f, i);

		sources[i] = (BfDeleteSource){.kind = kinds[d->kind],
									  .path = d->path,
									  .avro = d->avro,
									  .sequence = d->sequence_number,
									  .scope = d->scope,
									  .n_ids = d->n_equality_ids,
									  .ids = d->equality_ids,
									  .offset = d->vector_offset,
									  .length = d->vector_length,
									  .record_count = d->record_count};
	}
	return bf_deletes_load(a, cache, f->path, f->sequence_number, sources, n, out, &test_err);
}

static BfStatus
read_file(BfDeleteCache *cache, const BfIceDataFile *f, const BfProjection *projection,
		  ColumnSum *sums, int64_t *rows)
{
	BfConstants constants = {f->n_constants, f->constant_ids, f->constants};
	BfArena *a = test_arena();
	BfRowFilter filter = {.pred = NULL};
	BfParquetFile *file;
	BfReader *reader;
	const BfBatch *batch;
	BfValue v;

	BF_TRY(deletes_of(a, cache, f, &filter.deletes));
	BF_TRY(bf_exec_parquet_open(a, f->path, NULL, &file, &test_err));
	BF_TRY(bf_exec_parquet_reader_filtered(a, file, projection, &constants, 0, -1, &filter, NULL,
										   &reader, &test_err));
	for (;;)
	{
		BF_TRY(reader->next(reader, &batch, &test_err));
		if (batch == NULL)
			return BF_OK;
		*rows += bf_batch_n(batch);
		for (int32_t c = 0; c < batch->n_cols; c++)
			for (int32_t r = bf_batch_next(batch, 0); r >= 0; r = bf_batch_next(batch, r + 1))
				if (bf_vector_get(&batch->cols[c], r, &v))
					add_value(a, &sums[c], &v);
	}
}

static void
check_column(const char *table, const json_t *expected, BfType type, const ColumnSum *got)
{
	const char *name = json_string_value(json_object_get(expected, "name"));
	const json_t *sum = json_object_get(expected, "sum"), *min = json_object_get(expected, "min"),
				 *max = json_object_get(expected, "max");
	BfValue v;
	bf_i128 wide;

	if (got->non_null != json_integer_value(json_object_get(expected, "non_null")))
		test_fail(__FILE__, __LINE__, "%s.%s: %lld values", table, name, (long long) got->non_null);
	if (json_is_string(sum) && type.kind != BF_KIND_FLOAT32 && type.kind != BF_KIND_FLOAT64 &&
		(!parse_decimal(json_string_value(sum), type.scale, &wide) || wide != got->sum))
		test_fail(__FILE__, __LINE__, "%s.%s: sum is not %s", table, name, json_string_value(sum));
	if (json_is_string(min) && parse_expected(json_string_value(min), type, &v) &&
		(!got->has_range || bf_value_compare(&v, &got->min) != 0))
		test_fail(__FILE__, __LINE__, "%s.%s: min is not %s", table, name, json_string_value(min));
	if (json_is_string(max) && parse_expected(json_string_value(max), type, &v) &&
		(!got->has_range || bf_value_compare(&v, &got->max) != 0))
		test_fail(__FILE__, __LINE__, "%s.%s: max is not %s", table, name, json_string_value(max));
}

/* How many columns were compared. */
static int32_t
check_table(const char *table, const BfIceTable *t, const BfIcePlan *plan, const json_t *entry)
{
	BfArena *a = test_arena();
	int32_t *fields = bf_arena_alloc(a, sizeof *fields * (size_t) (t->schema->n_fields + 1));
	ColumnSum *sums = bf_arena_alloc(a, sizeof *sums * (size_t) (t->schema->n_fields + 1));
	BfProjection projection = {.schema = t->schema, .fields = fields};
	const json_t *columns = json_object_get(entry, "columns"), *column;
	BfDeleteOptions options = {.resolve = resolve_path,
							   .column_of = column_of,
							   .arg = (void *) t,
							   .bytes_max = (size_t) 64 << 20};
	BfDeleteCache *cache;
	int64_t rows = 0;
	int32_t compared = 0;
	size_t i;

	if (bf_delete_cache_new(a, &options, &cache, &test_err) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
		return 0;
	}

	for (int32_t k = 0; k < t->schema->n_fields; k++)
	{
		BfStorage storage = bf_type_storage(t->schema->fields[k].type);

		if (storage != BF_STORE_NESTED && storage != BF_STORE_NONE)
			fields[projection.n_fields++] = k;
	}
	memset(sums, 0, sizeof *sums * (size_t) (t->schema->n_fields + 1));
	for (int32_t k = 0; k < plan->n_files; k++)
		if (read_file(cache, &plan->files[k], &projection, sums, &rows) != BF_OK)
		{
			test_fail(__FILE__, __LINE__, "%s: %s: %s", table, test_err.object, test_err.text);
			return 0;
		}
	if (rows != json_integer_value(json_object_get(entry, "rows")))
		test_fail(__FILE__, __LINE__, "%s: %lld rows", table, (long long) rows);
	json_array_foreach(columns, i, column) for (int32_t k = 0; k < projection.n_fields; k++)
	{
		const BfField *f = &t->schema->fields[fields[k]];

		if (strcmp(f->name, json_string_value(json_object_get(column, "name"))) != 0)
			continue;
		check_column(table, column, f->type, &sums[k]);
		compared++;
	}
	return compared;
}

/* The current files, deletes included. */
static BfStatus
plan_now(const BfIceTable *t, BfIcePlan **plan)
{
	BfIceScan scan = {.io = NULL};

	BF_TRY(bf_ice_at_resolve(t, &(BfIceAt){.kind = BF_ICE_AT_CURRENT}, &scan.point, &test_err));
	return bf_ice_plan_scan(test_arena(), t, &scan, plan, &test_err);
}

static bool
has_avro(const BfIcePlan *plan)
{
	for (int32_t i = 0; i < plan->n_files; i++)
		if (plan->files[i].format != BF_ICE_FORMAT_PARQUET)
			return true;
	return false;
}

static int32_t
check_path(const char *name, const char *path, const json_t *entry, int32_t *skipped)
{
	BfArena *a = test_arena();
	const char *metadata;
	BfIceTable *t;
	BfIcePlan *plan;

	if (bf_ice_find_metadata(a, path, &metadata, &test_err) != BF_OK ||
		bf_ice_load(a, metadata, NULL, &t, &test_err) != BF_OK || plan_now(t, &plan) != BF_OK ||
		plan->n_files == 0 || has_avro(plan))
	{
		/* Refused tables are test_iceberg_corpus.c's business. */
		(*skipped)++;
		return 0;
	}
	return check_table(name, t, plan, entry);
}

TEST(iceberg_values_expected)
{
	int32_t columns = 0, skipped = 0, tables = 0;
	char path[1024];
	json_t *expected, *entry;
	size_t i;

	if (skip())
		return;
	snprintf(path, sizeof path, "%s/expected/iceberg_expected.json", test_corpus());
	expected = json_load_file(path, 0, NULL);
	REQUIRE(expected != NULL);
	json_array_foreach(expected, i, entry)
	{
		const char *name = json_string_value(json_object_get(entry, "table"));
		int32_t n;

		/* Found by directory where that leads to the metadata that was recorded. */
		snprintf(path, sizeof path, "%s/%s/metadata/%s", test_corpus(), name,
				 json_string_value(json_object_get(entry, "metadata")));
		n = check_path(name, path, entry, &skipped);
		tables += n > 0;
		columns += n;
	}
	printf("  %d tables, %d columns compared, %d tables without rows that are read\n", tables,
		   columns, skipped);
	EXPECT(tables > 36);
	json_decref(expected);
}

TEST(iceberg_values_spark)
{
	int32_t columns = 0, skipped = 0, tables = 0;
	char path[1024];
	const char *name;
	json_t *expected, *entry;

	if (skip())
		return;
	snprintf(path, sizeof path, "%s/spark/expected.json", test_corpus());
	expected = json_load_file(path, 0, NULL);
	REQUIRE(expected != NULL);
	json_object_foreach(expected, name, entry)
	{
		const char *dot = strchr(name, '.');
		int32_t n;

		snprintf(path, sizeof path, "%s/spark/%.*s/%s", test_corpus(), (int) (dot - name), name,
				 dot + 1);
		n = check_path(name, path, entry, &skipped);
		tables += n > 0;
		columns += n;
	}
	printf("  %d tables, %d columns compared, %d refused\n", tables, columns, skipped);
	EXPECT_EQ(tables, 21);
	json_decref(expected);
}
