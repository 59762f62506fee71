#include "iceberg/columns.h"

#include <strings.h>

/* Ids of columns that a snapshot's schema lacks: none that a file can have. */
static int32_t
absent_id(int32_t id)
{
	return -id;
}

/* The i-th schema to ask besides the point's: the current one, then the others from the newest. */
static const BfSchema *
other_schema(const BfIceTable *t, int32_t i)
{
	return i == 0 ? t->schema : &t->metadata->schemas[t->metadata->n_schemas - i];
}

static bool
has_column(const BfSchema *s, int32_t id)
{
	return bf_schema_find_id(s, id) >= 0 || bf_schema_find_id(s, absent_id(id)) >= 0;
}

static void
add_absent(BfSchema *s, const BfField *f)
{
	BfField *out = &s->fields[s->n_fields];

	if (f->id <= 0 || has_column(s, f->id))
		return;
	*out = *f;
	out->id = absent_id(f->id);
	out->required = false;
	out->has_default = false;
	out->aliases = NULL;
	out->n_aliases = 0;
	out->mapped = true; /* a file without ids lacks it like any other */
	s->n_fields++;
}

BfStatus
bf_ice_point_columns(BfArena *a, const BfIceTable *t, const BfIcePoint *p, const BfSchema **out,
					 BfError *err)
{
	int64_t most = p->schema->n_fields;
	BfSchema *s;

	*out = p->schema;
	if (!p->past)
		return BF_OK;
	for (int32_t i = 0; i <= t->metadata->n_schemas; i++)
		most += other_schema(t, i)->n_fields;
	BF_NEW(a, s, 1, err);
	*s = *p->schema;
	BF_NEW(a, s->fields, most, err);
	if (s->n_fields > 0)
		memcpy(s->fields, p->schema->fields, (size_t) s->n_fields * sizeof *s->fields);
	for (int32_t i = 0; i <= t->metadata->n_schemas; i++)
		for (int32_t k = 0; k < other_schema(t, i)->n_fields; k++)
			add_absent(s, &other_schema(t, i)->fields[k]);
	*out = s;
	return BF_OK;
}

static int32_t
find_name(const BfSchema *s, const char *name)
{
	int32_t found = bf_schema_find_name(s, name);
	int32_t n = 0;

	if (found >= 0)
		return found;
	for (int32_t i = 0; i < s->n_fields; i++)
		if (strcasecmp(s->fields[i].name, name) == 0)
		{
			found = i;
			n++;
		}
	return n == 1 ? found : -1;
}

static int32_t
find_id(const BfSchema *columns, int32_t id)
{
	int32_t found = bf_schema_find_id(columns, id);

	return found >= 0 ? found : bf_schema_find_id(columns, absent_id(id));
}

int32_t
bf_ice_column_find(const BfIceTable *t, const BfIcePoint *p, const BfSchema *columns, int32_t id,
				   const char *name)
{
	int32_t found;

	if (id > 0)
		return find_id(columns, id);
	found = find_name(p->schema, name);
	for (int32_t i = 0; found < 0 && p->past && i <= t->metadata->n_schemas; i++)
	{
		const BfSchema *s = other_schema(t, i);
		int32_t at = find_name(s, name);

		if (at >= 0 && s->fields[at].id > 0)
			found = find_id(columns, s->fields[at].id);
	}
	return found;
}
