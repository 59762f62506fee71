/*
 * Partition values that other writers recorded, against our transforms of the rows in their files,
 * and the human form against their directory names.
 */
#include "unit/lib/runner.h"

#include "exec/read/parquet_reader.h"
#include "iceberg/table.h"

typedef struct Checked
{
	int64_t n_values;
	int64_t n_names;
} Checked;

/* name=value percent-decoded somewhere in the path? Java writes a space as '+'. */
static bool
path_has(const char *path, const char *name, const BfBuffer *value)
{
	size_t name_len = strlen(name);

	for (const char *p = strchr(path, '/'); p != NULL; p = strchr(p + 1, '/'))
	{
		const char *q = p + 1 + name_len + 1;
		size_t i;

		if (strncmp(p + 1, name, name_len) != 0 || p[1 + name_len] != '=')
			continue;
		for (i = 0; i < value->len && *q != '/'; i++)
		{
			unsigned c = (uint8_t) *q;
			int used = 1;

			if (*q == '%')
				sscanf(q + 1, "%2x%n", &c, &used), used++;
			else if (*q == '+')
				c = ' ';
			if (c != value->data[i])
				break;
			q += used;
		}
		return i == value->len && *q == '/';
	}
	return false;
}

static void
check_row(const BfIcePartitionField *pf, const BfVector *v, int32_t row, const BfValue *recorded,
		  const char *path, Checked *checked)
{
	BfValue in;
	BfValue out;

	(void) bf_vector_get(v, row, &in);
	if (bf_transform_apply(pf->transform, &in, &out, &test_err) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "%s %s: %s", path, pf->name, test_err.text);
		return;
	}
	checked->n_values++;
	if (out.is_null != recorded->is_null ||
		(!out.is_null && (bf_type_storage(out.type) != bf_type_storage(recorded->type) ||
						  bf_value_compare(&out, recorded) != 0)))
		test_fail(__FILE__, __LINE__, "%s: %s of row %d is another partition's", path, pf->name,
				  row);
}

static void
check_name(BfArena *a, const BfIcePartitionField *pf, const BfValue *recorded, const char *path,
		   Checked *checked)
{
	BfBuffer *human;

	REQUIRE_OK(bf_buffer_new(a, 1 << 16, &human, &test_err));
	REQUIRE_OK(bf_transform_human(pf->transform, recorded, human, &test_err));
	if (strstr(path, "=") == NULL)
		return;
	checked->n_names++;
	if (!path_has(path, pf->name, human))
		test_fail(__FILE__, __LINE__, "%s: %s is not \"%.*s\"", path, pf->name, (int) human->len,
				  (const char *) human->data);
}

/* `spark`: the writer whose directory names are Java's. */
static void
check_file(const BfIceTable *t, const BfIceDataFile *f, bool spark, Checked *checked)
{
	BfArena *a = test_arena();
	const BfIceSpec *spec = bf_ice_spec(t->metadata, f->spec_id);

	REQUIRE(spec != NULL && f->n_partition == spec->n_fields);
	for (int32_t i = 0; i < spec->n_fields; i++)
	{
		const BfIcePartitionField *pf = &spec->fields[i];
		int32_t column = bf_schema_find_id(t->schema, pf->source_id);
		BfProjection p = {t->schema, &column, 1, false};
		BfConstants constants = {f->n_constants, f->constant_ids, f->constants};
		BfReader *r;
		const BfBatch *b;

		if (spark)
			check_name(a, pf, &f->partition[i], f->path, checked);
		if (column < 0 || pf->transform.kind == BF_TRANSFORM_VOID)
			continue;
		REQUIRE_OK(
			bf_exec_parquet_reader(a, f->path, &p, &constants, 0, -1, NULL, NULL, &r, &test_err));
		for (;;)
		{
			REQUIRE_OK(r->next(r, &b, &test_err));
			if (b == NULL)
				break;
			for (int32_t row = 0; row < b->n_rows; row++)
				check_row(pf, &b->cols[0], row, &f->partition[i], f->path, checked);
		}
	}
}

static void
check_table(const char *dir, bool spark, Checked *checked)
{
	BfArena *a = test_arena();
	const char *path = bf_arena_printf(a, "%s/%s", test_corpus(), dir);
	const char *metadata;
	BfIceTable *t;
	BfIcePlan *plan;

	REQUIRE_OK(bf_ice_find_metadata(a, path, &metadata, &test_err));
	REQUIRE_OK(bf_ice_load(a, metadata, NULL, &t, &test_err));
	REQUIRE_OK(bf_ice_plan(a, t, NULL, &plan, &test_err));
	EXPECT(plan->n_files > 0);
	for (int32_t i = 0; i < plan->n_files; i++)
		check_file(t, &plan->files[i], spark, checked);
}

TEST(exec_partition_spark)
{
	static const char *const tables[] = {
		"spark/t/bucket_int",
		"spark/t/bucket_bigint",
		"spark/t/bucket_decimal",
		"spark/t/bucket_date",
		"spark/t/bucket_string",
		"spark/t/part_days_ts",
		"spark/t/part_days_d",
		"spark/t/part_years_ts",
		"spark/t/part_years_d",
		"spark/t/parts",
		"spark/t/v1",
	};
	Checked checked = {0, 0};

	if (test_corpus() == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		check_table(tables[i], true, &checked);
	EXPECT(checked.n_values > 500);
	EXPECT(checked.n_names > 100);
}

TEST(exec_partition_others)
{
	static const char *const tables[] = {
		"duckdb-iceberg/partition_bigint",
		"duckdb-iceberg/partition_binary",
		"duckdb-iceberg/partition_decimal_hugeint",
		"duckdb-iceberg/partition_decimal_integer",
		"duckdb-iceberg/partition_decimal_smallint",
		"duckdb-iceberg/partition_double",
		"duckdb-iceberg/partition_integer",
		"duckdb-iceberg/partition_timestamp/default.db/partition_timestamp",
		"duckdb-iceberg/map_stats/default.db/map_stats",
		"impala/data/iceberg_test/iceberg_partitioned",
		"impala/data/iceberg_test/hadoop_catalog/ice/iceberg_timestamptz_part",
		"impala/data/iceberg_test/hadoop_catalog/hadoop_catalog_test/functional_parquet/"
		"hadoop_catalog_test",
	};
	Checked checked = {0, 0};

	if (test_corpus() == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		check_table(tables[i], false, &checked);
	EXPECT(checked.n_values > 50);
}
