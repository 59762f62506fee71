/*
 * pg/scan/lake/import.c: lake tables of a catalog, of a warehouse's directories, or of a location.
 */
#include "pg/scan/lake/internal.h"

#include "miscadmin.h"

#include "pg/catalog/catalog.h"
#include "pg/catalog/remote.h"
#include "pg/catalog/walls.h"
#include "pg/scan/location.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

typedef struct LakeImport
{
	BifangImport *im;
	List *directories;	 /* of tables that the catalog has, whatever their namespace */
	const char *catalog; /* name of the server's; NULL: another database has it */
	bool found;			 /* it has a table of the namespace */
} LakeImport;

static bool
is_metadata_file(const char *path)
{
	return strstr(bifang_base_name(path), ".metadata.json") != NULL;
}

/* The directory of a metadata file's table, palloc'd. */
static char *
table_directory(const char *metadata_path)
{
	char *dir = pstrdup(metadata_path);

	for (int i = 0; i < 2; i++)
	{
		char *slash = strrchr(dir, '/');

		if (slash != NULL)
			*slash = '\0';
	}
	return dir;
}

/* The current schema of the table at a directory or metadata file, in the current context. NULL
 * when there is no table, or, with a WARNING, when it can't be read: one broken table must not keep
 * the others from being imported. */
static const BfSchema *
lake_schema(const char *place, const char *table)
{
	BfArena *a = bifang_arena(CurrentMemoryContext, "import", BIFANG_ARENA_MAX_METADATA);
	BfIceTable *t;
	const char *metadata;
	BfError err;
	BfStatus status;

	bf_error_clear(&err);
	status = bf_ice_find_metadata(a, place, &metadata, &err);
	if (status == BF_ERR_NOTFOUND && !is_metadata_file(place))
		return NULL;
	if (status == BF_OK)
		status = bf_ice_load(a, metadata, NULL, &t, &err);
	if (status == BF_OK)
		return t->schema;
	bifang_import_unread(table, place, "its metadata cannot be read", &err);
	return NULL;
}

static bool
import_row(void *arg, const BifangLakeTable *row)
{
	LakeImport *l = arg;
	BifangImport *im = l->im;
	const BfSchema *schema;

	l->directories = lappend(l->directories, table_directory(row->metadata_location));
	if ((l->catalog != NULL && strcmp(row->catalog, l->catalog) != 0) ||
		strcmp(row->ns, im->stmt->remote_schema) != 0)
		return true;
	l->found = true;
	if (!bifang_import_wants(im, row->name))
		return true;
	schema = lake_schema(row->metadata_location, row->name);
	if (schema == NULL || !bifang_import_begin(im, row->name, schema))
		return true;
	bifang_import_option(im, "namespace", row->ns);
	bifang_import_option(im, "table", row->name);
	bifang_import_end(im);
	return true;
}

typedef struct Names
{
	List *names;
} Names;

static BfStatus
add_directory(void *arg, const char *name, BfPathKind kind, BfError *err)
{
	Names *n = arg;

	(void) err;
	if (kind == BF_PATH_DIR && name[0] != '.')
		n->names = lappend(n->names, pstrdup(name));
	return BF_OK;
}

/* A table that only the directory tells of is read by its location. */
static void
import_directory(LakeImport *l, const char *dir, const char *name)
{
	const char *table = bifang_import_name(name);
	const BfSchema *schema;

	if (bifang_import_has_name(l->directories, dir) || !bifang_import_wants(l->im, table))
		return;
	schema = lake_schema(dir, table);
	if (schema != NULL && bifang_import_begin(l->im, table, schema) &&
		bifang_import_location(l->im, dir))
		bifang_import_end(l->im);
}

static void
import_catalog(LakeImport *l)
{
	const BifangImport *im = l->im;
	const char *dir;
	Names n = {NIL};
	BfPathInfo info;
	BfError err;
	ListCell *lc;

	bifang_options_check_read(&im->options);
	if (im->options.remote_catalog)
	{
		bifang_remote_visit_tables(&im->options, im->stmt->remote_schema, import_row, l);
		return;
	}
	l->catalog = bifang_catalog_name(&im->options);
	bifang_catalog_visit_tables(import_row, l);
	dir = psprintf("%s/%s", im->options.warehouse, bifang_to_utf8(im->stmt->remote_schema));
	bf_error_clear(&err);
	BIFANG_CHECK(bifang_host()->stat(bifang_host(), dir, &info, &err), &err);
	if (info.kind != BF_PATH_DIR || strchr(im->stmt->remote_schema, '/') != NULL ||
		im->stmt->remote_schema[0] == '.')
	{
		if (!l->found)
			ereport(
				ERROR,
				(errcode(ERRCODE_FDW_SCHEMA_NOT_FOUND),
				 errmsg("namespace \"%s\" exists neither in catalog \"%s\" nor in warehouse "
						"\"%s\"",
						im->stmt->remote_schema, l->catalog, bifang_shown(im->options.warehouse))));
		return;
	}
	if (!im->options.own_dirs) /* the embedded warehouse has nothing that the catalog has not */
		return;
	BIFANG_CHECK(bifang_host()->list(bifang_host(), dir, add_directory, &n, &err), &err);
	foreach (lc, n.names)
	{
		CHECK_FOR_INTERRUPTS();
		import_directory(l, psprintf("%s/%s", dir, (char *) lfirst(lc)), lfirst(lc));
	}
}

/* Iceberg tables by directory or metadata file, wherever they are; named after the directory. */
static void
import_directories(LakeImport *l)
{
	ListCell *lc;

	foreach (lc, bifang_expand_location(l->im->options.location, NULL, WARNING))
	{
		const char *place = lfirst(lc);
		const char *dir = is_metadata_file(place) ? table_directory(place) : place;

		CHECK_FOR_INTERRUPTS();
		import_directory(l, place, bifang_base_name(dir));
	}
}

void
bifang_lake_import(BifangImport *im)
{
	LakeImport l = {.im = im};

	if (im->options.location != NULL)
		import_directories(&l);
	else
		import_catalog(&l);
}
