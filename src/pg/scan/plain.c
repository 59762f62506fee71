/*
 * pg/scan/plain.c: plain Parquet files; see plain.h.
 */
#include "pg/scan/plain.h"

#include <strings.h>

#include "exec/read/footer_cache.h"
#include "pg/catalog/cache.h"

static int32_t
find_column(const BfSchema *schema, const char *name)
{
	int32_t found = bf_schema_find_name(schema, name);
	int32_t n = 0;

	if (found >= 0)
		return found;
	for (int32_t i = 0; i < schema->n_fields; i++)
		if (strcasecmp(schema->fields[i].name, name) == 0)
		{
			found = i;
			n++;
		}
	return n == 1 ? found : -1;
}

/* Nested fields too: in files of tables their ids would be looked for, and some files have none. */
static BfStatus
without_ids(BfArena *a, BfField *f, BfError *err)
{
	BfField *children;

	f->id = 0;
	if (f->n_children == 0)
		return BF_OK;
	BF_NEW(a, children, f->n_children, err);
	memcpy(children, f->children, (size_t) f->n_children * sizeof *children);
	f->children = children;
	for (int32_t i = 0; i < f->n_children; i++)
		BF_TRY(without_ids(a, &children[i], err));
	return BF_OK;
}

static BfStatus
choose_columns(BfArena *a, BfParquetFile *file, const char *const *names, int32_t n, BfSchema **out,
			   BfError *err)
{
	const BfSchema *from = bf_parquet_schema(file);
	BfSchema *schema;

	BF_NEW(a, schema, 1, err);
	BF_NEW(a, schema->fields, n, err);
	schema->n_fields = n;
	for (int32_t i = 0; i < n; i++)
	{
		int32_t column = find_column(from, names[i]);

		if (column < 0)
			BF_FAIL(err, BF_ERR_NOTFOUND, "the file has no column \"%s\"", names[i]);
		schema->fields[i] = from->fields[column];
		BF_TRY(without_ids(a, &schema->fields[i], err));
	}
	*out = schema;
	return BF_OK;
}

BfStatus
bifang_plain_open(BfArena *a, const char *path, const char *const *names, int32_t n,
				  BfIoCounters *io, BfParquetFile **file, BfSchema **schema, BfError *err)
{
	BF_TRY(bf_footer_open(bifang_footer_cache(), a, path, io, file, err));
	if (choose_columns(a, *file, names, n, schema, err) != BF_OK)
		return bf_error_object(err, path);
	return BF_OK;
}
