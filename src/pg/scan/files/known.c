/*
 * pg/scan/files/known.c: what footers tell of rows and columns before a scan.
 */
#include "pg/scan/files/internal.h"

#include "base/map.h"
#include "pg/catalog/cache.h"
#include "pg/scan/learned.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

/* Of a table of more files planning reads no footers: a scan that leaves most of them out would
 * have to wait for all. */
#define LOOK_FILES_MAX 8

/* ---- footers that nobody has read yet ---- */

/* Its footer then is in the cache. */
static void
look_at(BfArena *a, BfScanSource *s, Oid relid)
{
	BfParquetFile *file;
	BfError ignored;

	bf_error_clear(&ignored);
	if (bf_footer_open(bifang_footer_cache(), a, s->path, NULL, &file, &ignored) != BF_OK)
		return;
	s->rows = bf_parquet_n_rows(file);
	s->counted = true;
	bifang_files_remember(s->path, s->bytes, s->rows);
	bifang_learned_file(relid, file);
}

void
bifang_files_look(BifangWorklist *w, Oid relid)
{
	BfScanPins *pins = w->pins;
	BfArena *a;

	if (pins->n_sources > LOOK_FILES_MAX)
		return;
	a = bifang_arena(CurrentMemoryContext, "footers of a plan", BIFANG_ARENA_MAX_METADATA);
	for (int64 i = 0; i < pins->n_sources; i++)
		if (!pins->sources[i].counted)
			look_at(a, &pins->sources[i], relid);
	bifang_arena_free(a);
}

/* ---- footers that are in the cache ---- */

static int64
files_step(const BfScanPins *pins)
{
	return Max(pins->n_sources - 1, 0) / BIFANG_KNOWN_FILES_MAX + 1;
}

uint64
bifang_files_news(const BifangWorklist *w)
{
	const BfScanPins *pins = w->pins;
	uint64 h = (uint64) pins->n_sources;

	for (int64 i = 0; i < pins->n_sources; i += files_step(pins))
	{
		const BfScanSource *s = &pins->sources[i];
		const BfParquetFile *file = bifang_known_footer(s->path, s->bytes);
		int64 known[2] = {s->bytes, file == NULL ? -1 : bf_parquet_n_dictionaries_known(file)};

		h = bf_hash(bf_hash(h, known, sizeof known), s->path, strlen(s->path));
	}
	return h;
}

/* As units find their columns, but for one that its occurrence says. */
static void
add_column(BifangKnown *k, BifangKnownColumn *c, const BfParquetFile *file, int32 step)
{
	const BfSchema *schema = bf_parquet_schema(file);
	int32 field =
		c->occurrence == 1 ? bf_fields_find(schema->fields, schema->n_fields, c->name) : -1;
	BfError err;

	if (field < 0)
		return;
	bifang_known_field(k, c, &schema->fields[field]);
	bf_error_clear(&err);
	if (c->field != NULL && bf_type_equal(c->field->type, schema->fields[field].type))
		BIFANG_CHECK(bf_summary_add_parquet(c->summary, file, field, step, &err), &err);
}

void
bifang_files_known(const BifangWorklist *w, BifangKnown *k)
{
	const BfScanPins *pins = w->pins;
	int64 groups = 0;
	int32 step;

	for (int64 i = 0; i < pins->n_sources; i += files_step(pins))
	{
		const BfParquetFile *file =
			bifang_known_footer(pins->sources[i].path, pins->sources[i].bytes);

		groups += file == NULL ? 0 : bf_parquet_n_row_groups(file);
	}
	step = (int32) (groups * k->n / BIFANG_KNOWN_PARTS_MAX + 1);
	Assert(step > 0);
	for (int64 i = 0; i < pins->n_sources; i += files_step(pins))
	{
		const BfParquetFile *file =
			bifang_known_footer(pins->sources[i].path, pins->sources[i].bytes);

		for (int c = 0; file != NULL && c < k->n; c++)
			add_column(k, &k->columns[c], file, step);
	}
}
