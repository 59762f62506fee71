/*
 * Tables with deletes that other programs wrote: planned, read and filtered by hand, as a scan does
 * it, and compared with what an independent reader found.
 */
#include <jansson.h>
#include <stdlib.h>

#include "exec/delete/load.h"
#include "exec/read/parquet_reader.h"
#include "iceberg/columns.h"
#include "unit/lib/runner.h"
#include "unit/test_parquet_expected.h"

#define COLUMNS_MAX 16
#define SCOPES_MAX 64

typedef struct Column
{
	int64_t non_null;
	double sum;
	BfValue min;
	BfValue max;
} Column;

typedef struct Result
{
	int64_t rows;
	int32_t n_columns;
	Column columns[COLUMNS_MAX];
} Result;

typedef struct Table
{
	BfArena *arena;
	BfIceTable *ice;
	BfIcePoint point;
	bool scopes; /* share tables of keys between delete files */
	int32_t n_scopes;
	const BfIceDeleteFile *scope_of[SCOPES_MAX];
} Table;

static BfStatus
resolve(void *arg, BfArena *a, const char *path, const char **out, BfError *err)
{
	const Table *t = arg;

	return bf_location_resolve(a, &t->ice->location, path, out, err);
}

static BfStatus
column_of(void *arg, BfArena *a, int32_t id, const BfField **out, BfError *err)
{
	return bf_ice_key_column(a, ((const Table *) arg)->ice->metadata, id, out, err);
}

static bool
same_partition(const BfIceDeleteFile *a, const BfIceDeleteFile *b)
{
	if (a->n_partition == 0 || b->n_partition == 0)
		return a->n_partition == b->n_partition;
	if (a->spec_id != b->spec_id || a->n_partition != b->n_partition)
		return false;
	for (int32_t i = 0; i < a->n_partition; i++)
	{
		const BfValue *x = &a->partition[i], *y = &b->partition[i];

		if (x->is_null != y->is_null || (!x->is_null && bf_value_compare(x, y) != 0))
			return false;
	}
	return true;
}

static int32_t
scope_of(Table *t, const BfIceDeleteFile *f)
{
	if (!t->scopes)
		return BF_DELETE_SCOPE_OWN;
	for (int32_t i = 0; i < t->n_scopes; i++)
		if (same_partition(t->scope_of[i], f))
			return i;
	if (t->n_scopes == SCOPES_MAX)
		abort();
	t->scope_of[t->n_scopes] = f;
	return t->n_scopes++;
}

static BfStatus
deletes_of(BfArena *a, Table *t, BfDeleteCache *c, const BfIceDataFile *f, BfDeletes **out,
		   BfError *err)
{
	int32_t n = bf_ice_n_deletes(f);
	BfDeleteSource *sources;

	BF_NEW(a, sources, n, err);
	for (int32_t i = 0; i < n; i++)
	{
		const BfIceDeleteFile *d = bf_ice_delete(f, i);

		sources[i].path = d->path;
		sources[i].avro = d->avro;
		sources[i].record_count = d->record_count;
		switch (d->kind)
		{
			case BF_ICE_DELETE_POSITION: sources[i].kind = BF_DELETE_POSITION; break;
			case BF_ICE_DELETE_EQUALITY:
				sources[i].kind = BF_DELETE_EQUALITY;
				sources[i].sequence = d->sequence_number;
				sources[i].scope = scope_of(t, d);
				sources[i].ids = d->equality_ids;
				sources[i].n_ids = d->n_equality_ids;
				break;
			case BF_ICE_DELETE_VECTOR:
				sources[i].kind = BF_DELETE_VECTOR;
				sources[i].offset = d->vector_offset;
				sources[i].length = d->vector_length;
				break;
		}
	}
	return bf_deletes_load(a, c, f->path, f->sequence_number, sources, n, out, err);
}

static BfStatus
add_value(BfArena *a, Column *c, const BfVector *v, int32_t row, BfError *err)
{
	BfValue x;

	if (!bf_vector_get(v, row, &x))
		return BF_OK;
	if (v->storage == BF_STORE_VIEW)
		BF_TRY_PTR(a, x.v.view.ptr, bf_arena_memdup(a, x.v.view.ptr, x.v.view.len), err);
	if (v->storage == BF_STORE_I32)
		c->sum += x.v.i32;
	if (v->storage == BF_STORE_I64)
		c->sum += (double) x.v.i64;
	if (c->non_null == 0 || bf_value_compare(&x, &c->min) < 0)
		c->min = x;
	if (c->non_null == 0 || bf_value_compare(&x, &c->max) > 0)
		c->max = x;
	c->non_null++;
	return BF_OK;
}

/* The query's columns, then those that the deletes need. */
typedef struct Keys
{
	const BfBatch *batch;
	int32_t first;
} Keys;

static const BfVector *
key_of(void *arg, int32_t k)
{
	const Keys *keys = arg;

	return &keys->batch->cols[keys->first + k];
}

static BfStatus
read_batches(Table *t, BfReader *reader, BfDeletes *d, Result *r, BfError *err)
{
	for (;;)
	{
		uint64_t rows[BF_VALIDITY_WORDS];
		Keys keys = {.first = r->n_columns};

		BF_TRY(reader->next(reader, &keys.batch, err));
		if (keys.batch == NULL)
			return BF_OK;
		memset(rows, 0xff, sizeof rows);
		if (d != NULL)
			BF_TRY(bf_deletes_apply(d, keys.batch->first_row, keys.batch->n_rows, key_of, &keys,
									rows, err));
		for (int32_t i = 0; i < keys.batch->n_rows; i++)
			if (bf_valid(rows, i))
			{
				r->rows++;
				for (int32_t k = 0; k < r->n_columns; k++)
					BF_TRY(add_value(t->arena, &r->columns[k], &keys.batch->cols[k], i, err));
			}
	}
}

static BfStatus
read_file(Table *t, BfDeleteCache *c, const BfIceDataFile *f, Result *r, BfError *err)
{
	BfArena *a = t->arena;
	BfConstants constants = {f->n_constants, f->constant_ids, f->constants};
	BfSchema schema = {0};
	BfProjection projection = {.schema = &schema};
	const BfField *more = NULL;
	int32_t n_more = 0;
	int32_t *indexes;
	BfDeletes *d;
	BfReader *reader;

	BF_TRY(deletes_of(a, t, c, f, &d, err));
	if (d != NULL)
		more = bf_deletes_fields(d, &n_more);
	schema.n_fields = projection.n_fields = r->n_columns + n_more;
	BF_NEW(a, schema.fields, schema.n_fields, err);
	BF_NEW(a, indexes, schema.n_fields, err);
	memcpy(schema.fields, t->point.schema->fields, (size_t) r->n_columns * sizeof(BfField));
	if (n_more > 0)
		memcpy(schema.fields + r->n_columns, more, (size_t) n_more * sizeof(BfField));
	for (int32_t i = 0; i < schema.n_fields; i++)
		indexes[i] = i;
	projection.fields = indexes;
	BF_TRY(bf_exec_parquet_reader(a, f->path, &projection, &constants, 0, -1, NULL, NULL, &reader,
								  err));
	return read_batches(t, reader, d, r, err);
}

static BfStatus
read_table(BfArena *a, const char *metadata, bool scopes, Result *r, BfDeleteCounters *counters,
		   BfError *err)
{
	BfIceAt at = {.kind = BF_ICE_AT_CURRENT};
	Table t = {.arena = a, .scopes = scopes};
	BfDeleteOptions options = {
		.resolve = resolve, .column_of = column_of, .arg = &t, .bytes_max = (size_t) 64 << 20};
	BfDeleteCache *c;
	BfIcePlan *plan;
	BfIceScan scan = {0};

	memset(r, 0, sizeof *r);
	BF_TRY(bf_ice_load(a, metadata, NULL, &t.ice, err));
	BF_TRY(bf_ice_at_resolve(t.ice, &at, &t.point, err));
	scan.point = t.point;
	BF_TRY(bf_ice_plan_scan(a, t.ice, &scan, &plan, err));
	BF_TRY(bf_delete_cache_new(a, &options, &c, err));
	r->n_columns = t.point.schema->n_fields;
	if (r->n_columns > COLUMNS_MAX)
		abort();
	EXPECT(plan->has_deletes);
	for (int32_t i = 0; i < plan->n_files; i++)
		BF_TRY(read_file(&t, c, &plan->files[i], r, err));
	*counters = *bf_delete_counters(c);
	return BF_OK;
}

static void
check_text(const char *table, const char *what, const BfValue *v, const json_t *want)
{
	char text[200];

	expected_text(v, "VARCHAR", text, sizeof text);
	if (want == NULL || strcmp(text, json_string_value(want)) != 0)
		test_fail(__FILE__, __LINE__, "%s: %s is %s, not %s", table, what, text,
				  want == NULL ? "(none)" : json_string_value(want));
}

static void
check_result(const char *table, const Result *r, const json_t *expected)
{
	const json_t *columns = json_object_get(expected, "columns");
	int64_t rows = json_integer_value(json_object_get(expected, "rows"));

	if (r->rows != rows)
		test_fail(__FILE__, __LINE__, "%s: %lld rows, not %lld", table, (long long) r->rows,
				  (long long) rows);
	EXPECT_EQ(r->n_columns, json_array_size(columns));
	for (int32_t i = 0; i < r->n_columns && !test_failed(); i++)
	{
		const json_t *want = json_array_get(columns, (size_t) i);
		const json_t *sum = json_object_get(want, "sum");
		const Column *c = &r->columns[i];

		EXPECT_EQ(c->non_null, json_integer_value(json_object_get(want, "non_null")));
		if (sum != NULL && strtod(json_string_value(sum), NULL) != c->sum)
			test_fail(__FILE__, __LINE__, "%s: column %d has sum %.0f", table, i, c->sum);
		if (c->non_null == 0)
			continue;
		check_text(table, "minimum", &c->min, json_object_get(want, "min"));
		check_text(table, "maximum", &c->max, json_object_get(want, "max"));
	}
}

/* Both ways of sharing keys give the same. */
static void
check_table(const char *table, const char *metadata, const json_t *expected, BfDeleteCounters *sum)
{
	for (int scopes = 0; scopes < 2; scopes++)
	{
		BfArena *a = bf_arena_new(test_host(), "table", (size_t) 1 << 30);
		BfDeleteCounters counters = {0};
		Result r;

		if (read_table(a, metadata, scopes == 1, &r, &counters, &test_err) != BF_OK)
			test_fail(__FILE__, __LINE__, "%s: %s: %s", table, test_err.object, test_err.text);
		else
			check_result(table, &r, expected);
		bf_arena_free(a);
		if (scopes == 1)
		{
			sum->files_read += counters.files_read;
			sum->positions += counters.positions;
			sum->keys += counters.keys;
		}
	}
}

static json_t *
load(const char *corpus, const char *name)
{
	char path[1024];
	json_error_t error;

	snprintf(path, sizeof path, "%s/%s", corpus, name);
	return json_load_file(path, 0, &error);
}

TEST(deletes_corpus)
{
	const char *corpus = test_corpus();
	BfDeleteCounters sum = {0};
	json_t *list, *spark;
	const char *metadata;
	char path[1024];
	int tables = 0;

	if (corpus == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	list = load(corpus, "expected/iceberg_expected.json");
	spark = load(corpus, "spark/expected.json");
	REQUIRE(list != NULL && spark != NULL);
	for (size_t i = 0; i < json_array_size(list); i++)
	{
		const json_t *e = json_array_get(list, i);
		const char *table = json_string_value(json_object_get(e, "table"));

		if (json_integer_value(json_object_get(e, "delete_files")) == 0)
			continue;
		snprintf(path, sizeof path, "%s/%s/metadata/%s", corpus, table,
				 json_string_value(json_object_get(e, "metadata")));
		check_table(table, path, e, &sum);
		tables++;
	}
	snprintf(path, sizeof path, "%s/spark/t/mor2", corpus);
	REQUIRE_OK(bf_ice_find_metadata(test_arena(), path, &metadata, &test_err));
	check_table("t.mor2", metadata, json_object_get(spark, "t.mor2"), &sum);
	printf("  %d tables with deletes: %lld files, %lld positions, %lld keys\n", tables + 1,
		   (long long) sum.files_read, (long long) sum.positions, (long long) sum.keys);
	json_decref(list);
	json_decref(spark);
}
