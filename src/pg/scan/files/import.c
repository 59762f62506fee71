/*
 * pg/scan/files/import.c: a table per Parquet file, named after it.
 */
#include "pg/scan/files/internal.h"

#include "miscadmin.h"

#include "parquet/parquet.h"
#include "pg/scan/location.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

static void
import_file(BifangImport *im, const char *path)
{
	const char *base = bifang_base_name(path);
	size_t n = strlen(base);
	size_t k = strlen(BIFANG_FILES_SUFFIX);
	const char *name;
	BfArena *a;
	BfSource *source;
	BfParquetFile *file;
	BfError err;
	BfStatus status;

	if (n > k && strcmp(base + n - k, BIFANG_FILES_SUFFIX) == 0)
		n -= k;
	name = bifang_import_name(pnstrdup(base, n));
	if (!bifang_import_wants(im, name))
		return;
	a = bifang_arena(CurrentMemoryContext, "import", BIFANG_ARENA_MAX_METADATA);
	bf_error_clear(&err);
	status = bf_source_open(a, path, NULL, &source, &err);
	if (status == BF_OK)
		status = bf_parquet_open(a, source, &bf_parquet_default_limits, &file, &err);
	if (status != BF_OK)
		bifang_import_unread(name, path, "its file cannot be read", &err);
	else if (bifang_import_begin(im, name, bf_parquet_schema(file)) &&
			 bifang_import_location(im, path))
		bifang_import_end(im);
	bifang_arena_free(a);
}

void
bifang_files_import(BifangImport *im)
{
	ListCell *lc;

	foreach (lc, bifang_expand_location(im->options.location, BIFANG_FILES_SUFFIX, WARNING))
	{
		CHECK_FOR_INTERRUPTS();
		import_file(im, lfirst(lc));
	}
}
