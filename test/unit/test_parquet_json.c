/*
 * hyparquet's files against the rows that it gives as JSON, nested columns and variants above all:
 * a judge that is independent of the corpus's other records.
 */
#include <dirent.h>
#include <jansson.h>
#include <math.h>

#include "parquet/parquet.h"
#include "unit/lib/runner.h"

static bool same(const BfVector *v, const BfField *f, int32_t row, const json_t *want);

static bool
same_number(const BfValue *v, const json_t *want)
{
	double x;

	switch (v->type.kind)
	{
		case BF_KIND_FLOAT16:
		case BF_KIND_FLOAT32: x = (double) v->v.f32; break;
		case BF_KIND_FLOAT64: x = v->v.f64; break;
		case BF_KIND_INT64:
		case BF_KIND_UINT32: x = (double) v->v.i64; break;
		case BF_KIND_INT8:
		case BF_KIND_INT16:
		case BF_KIND_INT32:
		case BF_KIND_UINT8:
		case BF_KIND_UINT16: x = v->v.i32; break;
		default: return true;
	}
	return !json_is_number(want) || fabs(x - json_number_value(want)) <= fabs(x) * 1e-6;
}

static bool
same_text(BfView v, const json_t *want)
{
	return !json_is_string(want) || (json_string_length(want) == v.len &&
									 memcmp(json_string_value(want), v.ptr, v.len) == 0);
}

/* Objects member by member. hyparquet shows timestamps as JavaScript does. */
static bool
same_variant(json_t *ours, const json_t *want)
{
	const char *key;
	json_t *value;

	if (json_is_string(ours) && json_is_string(want) && json_string_length(ours) >= 19 &&
		json_string_length(want) >= 19 && json_string_value(want)[10] == 'T')
		return strncmp(json_string_value(ours), json_string_value(want), 19) == 0;
	if (!json_is_object(ours) || json_object_size(ours) != json_object_size(want))
		return json_equal(ours, want);
	json_object_foreach(ours, key,
						value) if (!same_variant(value, json_object_get(want, key))) return false;
	return true;
}

static bool
same_items(const BfVector *v, const BfField *f, int32_t row, const json_t *want)
{
	int32_t first;
	int32_t end;

	bf_vector_items(v, row, &first, &end);
	if (!json_is_array(want))
		return f->type.kind == BF_KIND_MAP;
	if ((size_t) (end - first) != json_array_size(want))
		return false;
	for (int32_t i = first; i < end; i++)
	{
		const json_t *item = json_array_get(want, (size_t) (i - first));

		if (f->type.kind == BF_KIND_LIST)
		{
			if (!same(&v->children[0], &f->children[0], i, item))
				return false;
		}
		else if (!same(&v->children[0], &f->children[0], i, json_object_get(item, "key")) ||
				 !same(&v->children[1], &f->children[1], i, json_object_get(item, "value")))
			return false;
	}
	return true;
}

static bool
same(const BfVector *v, const BfField *f, int32_t row, const json_t *want)
{
	BfValue value;

	if (want == NULL || json_is_null(want))
		return !bf_vector_get(v, row, &value) ||
			   (v->type.kind == BF_KIND_JSON && value.v.view.len == 4);
	if (!bf_vector_get(v, row, &value))
		return false;
	switch (f->type.kind)
	{
		case BF_KIND_STRUCT:
			for (int32_t i = 0; i < f->n_children; i++)
				if (!same(&v->children[i], &f->children[i], row,
						  json_object_get(want, f->children[i].name)))
					return false;
			return true;
		case BF_KIND_LIST:
		case BF_KIND_MAP: return same_items(v, f, row, want);
		case BF_KIND_VARIANT:
		{
			json_t *ours = json_loadb((const char *) value.v.view.ptr, value.v.view.len,
									  JSON_DECODE_ANY, NULL);
			bool equal = ours != NULL && same_variant(ours, want);

			json_decref(ours);
			return equal;
		}
		case BF_KIND_BOOL: return !json_is_boolean(want) || value.v.u8 == json_is_true(want);
		case BF_KIND_STRING:
		case BF_KIND_ENUM: return same_text(value.v.view, want);
		default: return same_number(&value, want);
	}
}

static BfStatus
check_file(BfArena *a, const char *path, const json_t *rows, int *n_nested, bool *equal)
{
	const BfSchema *schema;
	BfSource *source;
	BfParquetFile *f;
	size_t at = 0;

	*equal = true;
	BF_TRY(bf_source_open(a, path, NULL, &source, &test_err));
	BF_TRY(bf_parquet_open(a, source, NULL, &f, &test_err));
	schema = bf_parquet_schema(f);
	for (int32_t c = 0; c < schema->n_fields && *equal; c++)
	{
		BfParquetScan *s;

		*n_nested += bf_type_storage(schema->fields[c].type) == BF_STORE_NESTED;
		BF_TRY(bf_parquet_scan_new(a, f, &c, 1, NULL, &s, &test_err));
		at = 0;
		for (int32_t rg = 0; rg < bf_parquet_n_row_groups(f); rg++)
		{
			BF_TRY(bf_parquet_scan_row_group(s, rg, &test_err));
			for (;;)
			{
				const BfBatch *b;

				BF_TRY(bf_parquet_scan_next(s, &b, &test_err));
				if (b == NULL)
					break;
				for (int32_t row = 0; row < b->n_rows && *equal; row++, at++)
				{
					const json_t *r = json_array_get(rows, at);
					const json_t *cell = json_is_array(r)
											 ? json_array_get(r, (size_t) c)
											 : json_object_get(r, schema->fields[c].name);

					*equal = same(&b->cols[0], &schema->fields[c], row, cell);
					if (!*equal)
						fprintf(stderr, "%s: column %s, row %zu\n", path, schema->fields[c].name,
								at);
				}
			}
		}
	}
	if (*equal && at != json_array_size(rows))
	{
		fprintf(stderr, "%s: %zu rows, expected %zu\n", path, at, json_array_size(rows));
		*equal = false;
	}
	return BF_OK;
}

TEST(parquet_json_hyparquet)
{
	char dir[1024];
	struct dirent *d;
	DIR *open_dir;
	int n_files = 0;
	int n_nested = 0;

	if (test_corpus() == NULL)
	{
		test_skip("BIFANG_CORPUS is not set");
		return;
	}
	snprintf(dir, sizeof dir, "%s/hyparquet", test_corpus());
	open_dir = opendir(dir);
	REQUIRE(open_dir != NULL);
	while ((d = readdir(open_dir)) != NULL)
	{
		size_t len = strlen(d->d_name);
		char path[1400];
		BfArena *a;
		json_t *rows;
		bool equal;
		BfStatus status;

		if (len < 9 || strcmp(d->d_name + len - 8, ".parquet") != 0)
			continue;
		snprintf(path, sizeof path, "%s/%.*s.json", dir, (int) (len - 8), d->d_name);
		rows = json_load_file(path, JSON_DECODE_ANY, NULL);
		if (rows == NULL)
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, d->d_name);
		a = bf_arena_new(test_host(), "file", (size_t) 256 << 20);
		status = check_file(a, path, rows, &n_nested, &equal);
		if (status != BF_OK)
			fprintf(stderr, "%s: %s %s\n", path, bf_status_name(status), test_err.text);
		EXPECT(status == BF_OK && equal);
		bf_arena_free(a);
		json_decref(rows);
		n_files++;
	}
	closedir(open_dir);
	EXPECT(n_files >= 25 && n_nested >= 8);
}
