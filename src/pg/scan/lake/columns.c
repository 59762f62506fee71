/*
 * pg/scan/lake/columns.c: columns of a foreign table and those of the lake at the point that is
 * read.
 */
#include "pg/scan/lake/internal.h"

#include "utils/varlena.h"

#include "iceberg/columns.h"
#include "pg/server/encoding.h"
#include "pg/server/error.h"
#include "pg/server/host.h"

/* Letters that may differ for a name to be suggested. */
#define TYPO_MAX 3

const BfSchema *
bifang_lake_columns(BifangWorklist *w)
{
	const BifangPoint *p = &bifang_lake_work(w)->point;
	const BfSchema *out;
	BfError err;

	if (!p->at.past)
		return p->at.schema;
	bf_error_clear(&err);
	BIFANG_CHECK(bf_ice_point_columns(bifang_arena(w->cxt, "columns", BIFANG_ARENA_MAX_METADATA),
									  p->table, &p->at, &out, &err),
				 &err);
	return out;
}

/* The column whose name is nearest, NULL = none is near. */
static const char *
nearest_name(const BfSchema *s, const char *name)
{
	int len = (int) strlen(name);
	int best = Min(TYPO_MAX, len / 2) + 1;
	const char *found = NULL;

	for (int32 i = 0; i < s->n_fields; i++)
	{
		const char *other = s->fields[i].name;
		int other_len = (int) strlen(other);
		int distance;

		if (other_len >= NAMEDATALEN)
			continue;
		distance = varstr_levenshtein_less_equal(name, len, other, other_len, 1, 1, 1, best, true);
		if (distance < best)
		{
			best = distance;
			found = other;
		}
	}
	return found;
}

/* The column that had that id or name in the newest schema that has one; NULL = none had. */
static const BfField *
former_column(const BfIceMetadata *m, int32 field_id, const char *name)
{
	for (int32 i = m->schemas.n - 1; i >= 0; i--)
	{
		const BfSchema *s = &m->schemas.all[i];
		int32 at = field_id > 0 ? bf_schema_find_id(s, field_id) : bf_schema_find_name(s, name);

		if (at >= 0)
			return &s->fields[at];
	}
	return NULL;
}

/* Why a table of the present lacks a column that it had. */
static int
hint_former(const BifangWorklist *w, const BfField *former)
{
	int32 now = bf_schema_find_id(w->schema, former->id);

	if (now >= 0)
		return errhint("It is called \"%s\" now.", bifang_shown(w->schema->fields[now].name));
	return errhint("It was dropped from the lake table; older snapshots can be read with "
				   "as_of_snapshot or as_of_timestamp.");
}

static void
unknown_column(const BifangWorklist *w, const char *relname, int32 field_id, const char *name)
{
	const BifangPoint *p = &bifang_lake_work(w)->point;
	const char *near = field_id > 0 ? NULL : nearest_name(w->schema, bifang_to_utf8(name));
	const BfField *former =
		p->at.past ? NULL : former_column(p->table->metadata, field_id, bifang_to_utf8(name));

	ereport(
		ERROR,
		(errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
		 errmsg("column \"%s\" of foreign table \"%s\" is not in the lake table", name, relname),
		 field_id > 0 ? errdetail("No column of schema %d has its field id %d.",
								  p->at.schema->schema_id, field_id)
		 : p->at.past && p->at.main != NULL
			 ? errdetail("Snapshot " INT64_FORMAT " has schema %d; no other schema of the "
						 "table has such a column either.",
						 p->at.main->id, p->at.schema->schema_id)
			 : 0,
		 former != NULL ? hint_former(w, former)
		 : near != NULL ? errhint("Perhaps you meant the column \"%s\".", bifang_shown(near))
						: errhint("Use IMPORT FOREIGN SCHEMA to see the columns that it has.")));
}

int32
bifang_lake_column(const BifangWorklist *w, const char *relname, int32 field_id, const char *name)
{
	const BifangPoint *p = &bifang_lake_work(w)->point;
	int32 found = bf_ice_column_find(p->table, &p->at, w->schema, field_id, bifang_to_utf8(name));

	if (found < 0)
		unknown_column(w, relname, field_id, name);
	return found;
}
