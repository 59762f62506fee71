/*
 * pg/scan/lake/known.c: what manifests, statistics files and footers that were read before tell of
 * columns.
 *
 * Planning has read the manifests. Footers know more than they do, where the columns are still what
 * they were when the file was written.
 */
#include "pg/scan/lake/internal.h"

#include "base/map.h"
#include "iceberg/columns.h"
#include "iceberg/known.h"
#include "pg/catalog/cache.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

typedef struct Adding
{
	BifangKnown *known;
	BifangKnownColumn **columns; /* those that the table has */
	int n;
	int32 step; /* of row groups */
	uint64 news;
	int64 groups;
} Adding;

/* Calls visit for files that cached manifests name, with what these say of the columns. */
static void
each_file(const BifangWorklist *w, const int32 *columns, int n, BfIceKnownVisit visit, Adding *arg)
{
	const BifangPoint *p = &bifang_lake_work(w)->point;
	BfError err;

	if (p->at.main == NULL)
		return;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_ice_known_files(w->list.arena, p->table, p->at.main, w->schema,
									bifang_manifest_cache(), columns, n, BIFANG_KNOWN_FILES_MAX,
									visit, arg, &err),
				 &err);
}

static BfStatus
look(void *arg, const BfIceKnownFile *f, BfError *err)
{
	Adding *a = arg;
	const BfParquetFile *file = bifang_known_footer(f->path, f->size);
	int64 known = file == NULL ? -1 : bf_parquet_n_dictionaries_known(file);

	(void) err;
	a->news = bf_hash(a->news, &known, sizeof known);
	a->groups += file == NULL ? 1 : bf_parquet_n_row_groups(file);
	return BF_OK;
}

uint64
bifang_lake_news(const BifangWorklist *w)
{
	Adding a = {.news = (uint64) w->pins->snapshot_id};

	a.news = bf_hash(a.news, w->pins->metadata_path, strlen(w->pins->metadata_path));
	each_file(w, NULL, 0, look, &a);
	return a.news;
}

static BfStatus
add_file(void *arg, const BfIceKnownFile *f, BfError *err)
{
	Adding *a = arg;
	const BfParquetFile *file = bifang_known_footer(f->path, f->size);
	const BfSchema *schema = file == NULL ? NULL : bf_parquet_schema(file);

	for (int i = 0; i < a->n; i++)
	{
		BifangKnownColumn *c = a->columns[i];
		int32 field = schema == NULL ? -1 : bf_schema_find_id(schema, c->field->id);
		BfColumnPart part = {.stats = f->stats[i], .distinct = -1, .bytes = -1};

		if (field >= 0 && bf_type_equal(schema->fields[field].type, c->field->type))
			BF_TRY(bf_summary_add_parquet(c->summary, file, field, a->step, err));
		else
			BF_TRY(bf_summary_add(c->summary, &part, err));
	}
	return BF_OK;
}

void
bifang_lake_known(const BifangWorklist *w, BifangKnown *k)
{
	const BifangPoint *p = &bifang_lake_work(w)->point;
	int32 *fields = palloc((Size) (k->n + 1) * sizeof *fields);
	Adding a = {.known = k, .columns = palloc((Size) (k->n + 1) * sizeof *a.columns)};

	for (int i = 0; i < k->n; i++)
	{
		BifangKnownColumn *c = &k->columns[i];
		int32 field = bf_ice_column_find(p->table, &p->at, w->schema, c->field_id, c->name);

		if (field < 0 || p->at.main == NULL)
			continue;
		bifang_known_field(k, c, &w->schema->fields[field]);
		if (c->field == NULL)
			continue;
		if (!bf_ice_known_distinct(p->table->metadata, p->at.main, c->field->id, &c->distinct,
								   &c->distinct_rows))
			c->distinct = -1;
		fields[a.n] = field;
		a.columns[a.n++] = c;
	}
	each_file(w, NULL, 0, look, &a);
	a.step = (int32) (a.groups * a.n / BIFANG_KNOWN_PARTS_MAX + 1);
	each_file(w, fields, a.n, add_file, &a);
}
