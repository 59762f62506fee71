/*
 * pg/scan/files/unit.c: a Parquet file that belongs to no lake table, as rows.
 *
 * Columns are found by name: exactly, else without regard to case when only one matches; of several
 * of one name the first, or the one that the option occurrence says. They come
 * in the file's own types, which may differ from file to file; the scan converts from those.
 */
#include "pg/scan/files/internal.h"

#include "exec/read/parquet_reader.h"
#include "pg/catalog/cache.h"
#include "pg/scan/learned.h"
#include "pg/scan/unit.h"
#include "pg/server/error.h"

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

/* -1: there are not as many of exactly that name. */
static int32_t
find_occurrence(const BfSchema *s, const char *name, int32_t occurrence)
{
	for (int32_t i = 0; i < s->n_fields; i++)
		if (strcmp(s->fields[i].name, name) == 0 && --occurrence == 0)
			return i;
	return -1;
}

/* One that its name doesn't find: by its id, or by its place where the file has no ids at all. */
static BfStatus
by_place(BfArena *a, BfParquetFile *file, int32_t column, BfField *f, BfError *err)
{
	if (bf_parquet_has_field_ids(file))
		return BF_OK;
	BF_TRY(without_ids(a, f, err));
	f->id = column + 1;
	return BF_OK;
}

static BfStatus
choose_columns(BfArena *a, BfParquetFile *file, const BifangScanColumns *cols, BfSchema **out,
			   BfError *err)
{
	int32_t n = cols->n_vectors;
	const BfSchema *from = bf_parquet_schema(file);
	BfSchema *schema;

	BF_NEW(a, schema, 1, err);
	BF_NEW(a, schema->fields, n, err);
	schema->n_fields = n;
	for (int32_t i = 0; i < n; i++)
	{
		bool first = cols->occurrences[i] == 1;
		int32_t column = first ? bf_fields_find(from->fields, from->n_fields, cols->names[i])
							   : find_occurrence(from, cols->names[i], cols->occurrences[i]);

		if (column < 0 && !first)
			BF_FAIL(err, BF_ERR_NOTFOUND, "the file has no %d columns \"%s\"", cols->occurrences[i],
					cols->names[i]);
		if (column < 0)
			BF_FAIL(err, BF_ERR_NOTFOUND, "the file has no column \"%s\"", cols->names[i]);
		schema->fields[i] = from->fields[column];
		if (first)
			BF_TRY(without_ids(a, &schema->fields[i], err));
		else
			BF_TRY(by_place(a, file, column, &schema->fields[i], err));
	}
	*out = schema;
	return BF_OK;
}

/* *schema has one field per name, as the file describes it. */
static BfStatus
open_file(BfArena *a, const char *path, const BifangScanColumns *cols, BfIoCounters *io,
		  BfParquetFile **file, BfSchema **schema, BfError *err)
{
	BF_TRY(bf_footer_open(bifang_footer_cache(), a, path, io, file, err));
	if (choose_columns(a, *file, cols, schema, err) != BF_OK)
		return bf_error_object(err, path);
	return BF_OK;
}

/* ---- files that are read again ---- */

static BfField
copy_field(const BfField *f)
{
	BfField copy = {.name = pstrdup(f->name), .type = f->type, .required = f->required};

	copy.n_children = f->n_children;
	copy.children = palloc((Size) (f->n_children + 1) * sizeof *copy.children);
	for (int32 i = 0; i < f->n_children; i++)
		copy.children[i] = copy_field(&f->children[i]);
	return copy;
}

static bool
same_types(const BfField *a, const BfField *b, int32 n)
{
	for (int32 i = 0; i < n; i++)
		if (!bf_type_equal(a[i].type, b[i].type) || a[i].n_children != b[i].n_children ||
			!same_types(a[i].children, b[i].children, a[i].n_children))
			return false;
	return true;
}

/* What is kept of a file has the types that it had then. If it is another file by now, nothing of
 * that counts. */
static void
note_schema(BifangScan *s, const BfSchema *schema)
{
	const BfSchema *before = s->open.kept == NULL ? NULL : bf_kept_note(s->open.kept);
	BfField all = {.name = "", .children = schema->fields, .n_children = schema->n_fields};
	MemoryContext old;
	BfSchema *note;

	if (s->open.kept == NULL)
		return;
	if (before != NULL)
	{
		if (!same_types(before->fields, schema->fields, schema->n_fields))
			s->open.kept = NULL;
		return;
	}
	old = MemoryContextSwitchTo(s->cxt);
	note = palloc0(sizeof *note);
	note->fields = copy_field(&all).children;
	note->n_fields = schema->n_fields;
	bf_kept_set_note(s->open.kept, note);
	MemoryContextSwitchTo(old);
}

/* ---- units ---- */

/* What is asked for of a file with that schema. */
static void
ask(BifangScan *s, BfArena *a, const BfSchema *schema, BfProjection *projection,
	BfRowFilter *filter)
{
	BfType *types = palloc0((Size) (s->cols.n_vectors + 1) * sizeof *types);
	int32 *fields = palloc0((Size) (s->cols.n_vectors + 1) * sizeof *fields);
	const BfPred *pred = NULL;

	for (int32 i = 0; i < s->cols.n_vectors; i++)
	{
		types[i] = schema->fields[i].type;
		fields[i] = i;
	}
	*projection = (BfProjection){.schema = schema, .fields = fields, .n_fields = s->cols.n_vectors};
	s->open.types = types;
	if (s->pred.push != NULL)
		pred = bifang_pushdown_pred(s->pred.push, a, bifang_scan_push_column, s);
	*filter = bifang_scan_row_filter(s, a, pred, s->cols.n_vectors, NULL);
}

void
bifang_files_open_unit(BifangScan *s, BfArena *a, BfScanUnit *u)
{
	BfProjection *projection = palloc(sizeof *projection);
	const BfSchema *kept;
	BfRowFilter filter;
	BfParquetFile *file;
	BfSchema *schema;
	BfError err;

	bifang_scan_keep(s, u, NULL, 0);
	kept = s->open.kept == NULL ? NULL : bf_kept_note(s->open.kept);
	if (kept != NULL)
	{
		ask(s, a, kept, projection, &filter);
		if (bifang_scan_read_row_groups_again(s, a, projection, &filter))
		{
			bifang_scan_set_conversions(s, kept);
			return;
		}
	}
	bf_error_clear(&err);
	BIFANG_CHECK(open_file(a, u->path, &s->cols, &s->count.io, &file, &schema, &err), &err);
	bf_parquet_verify_checksums(file, s->options.verify_checksums);
	bifang_files_remember(u->path, u->bytes, bf_parquet_n_rows(file));
	bifang_learned_file(s->relid, file);
	note_schema(s, schema);
	ask(s, a, schema, projection, &filter);
	bifang_scan_open_row_groups(s, a, u, file, projection, NULL, &filter);
	bifang_scan_set_conversions(s, schema);
}
