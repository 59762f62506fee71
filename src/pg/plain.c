/*
 * pg/plain.c: plain Parquet files; see plain.h.
 */
#include "pg/plain.h"

#include <strings.h>

typedef struct PlainReader
{
	BfReader reader;
	BfSource *source;
	BfParquetFile *file;
	BfParquetScan *scan;
	int32_t row_group; /* being read; -1 = before the first */
} PlainReader;

static BfStatus
plain_next(BfReader *r, const BfBatch **out, BfError *err)
{
	PlainReader *p = (PlainReader *) r;

	for (;;)
	{
		*out = NULL;
		if (p->row_group >= 0)
			BF_TRY(bf_parquet_scan_next(p->scan, out, err));
		if (*out != NULL)
			return BF_OK;
		if (p->row_group + 1 >= bf_parquet_n_row_groups(p->file))
			return BF_OK;
		BF_TRY(bf_parquet_scan_row_group(p->scan, ++p->row_group, err));
	}
}

static const char *
plain_name(const BfReader *r)
{
	return bf_source_name(((const PlainReader *) r)->source);
}

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

static BfStatus
open_columns(BfArena *a, PlainReader *p, const char *const *names, int32_t n,
			 BfParquetCounters *counters, BfType *types, BfError *err)
{
	const BfSchema *schema = bf_parquet_schema(p->file);
	int32_t *columns;

	BF_NEW(a, columns, n + 1, err);
	for (int32_t i = 0; i < n; i++)
	{
		columns[i] = find_column(schema, names[i]);
		if (columns[i] < 0)
			BF_FAIL(err, BF_ERR_NOTFOUND, "the file has no column \"%s\"", names[i]);
		types[i] = schema->fields[columns[i]].type;
	}
	return bf_parquet_scan_new(a, p->file, columns, n, counters, &p->scan, err);
}

BfStatus
bifang_plain_open(BfArena *a, const char *path, const char *const *names, int32_t n,
				  BfIoCounters *io, BfParquetCounters *counters, BfReader **out, BfType *types,
				  int64_t *file_rows, BfError *err)
{
	PlainReader *p;
	BfStatus status;

	BF_NEW(a, p, 1, err);
	p->reader.next = plain_next;
	p->reader.name = plain_name;
	p->row_group = -1;
	BF_TRY(bf_source_open(a, path, io, &p->source, err));
	status = bf_parquet_open(a, p->source, &bf_parquet_default_limits, &p->file, err);
	if (status == BF_OK)
		status = open_columns(a, p, names, n, counters, types, err);
	if (status != BF_OK)
		return bf_error_object(err, path);
	*file_rows = bf_parquet_n_rows(p->file);
	*out = &p->reader;
	return BF_OK;
}
