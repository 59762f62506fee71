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

/* The struct with one of its members alone. A default of structs says nothing but that its members
 * have theirs. */
static BfStatus
struct_of_one(BfArena *a, const BfField *f, const BfField *member, const BfField **out,
			  BfError *err)
{
	BfField *copy;
	BfValue *value;

	BF_NEW(a, copy, 1, err);
	*copy = *f;
	BF_NEW(a, copy->children, 1, err);
	copy->children[0] = *member;
	copy->n_children = 1;
	if (f->has_default && !f->initial_default.is_null)
	{
		BF_NEW(a, value, 1, err);
		*value = (BfValue){.is_null = true, .type = member->type};
		if (member->has_default)
			*value = member->initial_default;
		copy->initial_default.v.view = (BfView){(const uint8_t *) value, 1};
	}
	*out = copy;
	return BF_OK;
}

/* The member of structs with that id, and the structs around it. *out = NULL: not in f. */
static BfStatus
narrow(BfArena *a, const BfField *f, int32_t id, const BfField **out, BfError *err)
{
	const BfField *inner;

	*out = f->id == id ? f : NULL;
	for (int32_t i = 0; *out == NULL && i < f->n_children; i++)
	{
		BF_TRY(narrow(a, &f->children[i], id, &inner, err));
		if (inner == NULL)
			continue;
		*out = f;
		if (f->type.kind == BF_KIND_STRUCT)
			return struct_of_one(a, f, inner, out, err);
	}
	return BF_OK;
}

BfStatus
bf_ice_key_column(BfArena *a, const BfIceMetadata *m, int32_t field_id, const BfField **out,
				  BfError *err)
{
	const BfSchema *s = bf_ice_current_schema(m);

	*out = NULL;
	for (int32_t i = m->n_schemas; *out == NULL && i >= 0; i--)
	{
		for (int32_t k = 0; *out == NULL && k < s->n_fields; k++)
			BF_TRY(narrow(a, &s->fields[k], field_id, out, err));
		if (i > 0)
			s = &m->schemas[i - 1];
	}
	return BF_OK;
}
