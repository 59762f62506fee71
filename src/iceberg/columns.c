/*
 * The columns of a snapshot: its schema's, and behind them those that only other schemas of the
 * table have and old files may hold.
 */
#include "iceberg/columns.h"

/* Ids of columns that a snapshot's schema lacks: none that a file can have. */
static int32_t
absent_id(int32_t id)
{
	BF_ASSERT(id > 0);
	return -id;
}

/* The i-th schema to ask besides the point's: the current one, then the others from the newest. */
static const BfSchema *
other_schema(const BfIceTable *t, int32_t i)
{
	BF_ASSERT(i >= 0 && i <= t->metadata->schemas.n);
	return i == 0 ? t->schema : &t->metadata->schemas.all[t->metadata->schemas.n - i];
}

/* Field ids that were met; a table can have had thousands of schemas. */
typedef struct Ids
{
	uint32_t n;
	uint32_t n_slots; /* a power of two */
	int32_t *slots;	  /* 0 = free */
} Ids;

static uint32_t
find_slot(const Ids *ids, int32_t id)
{
	uint32_t i = (uint32_t) id * 2654435761u & (ids->n_slots - 1);

	BF_ASSERT(id != 0 && ids->n < ids->n_slots && (ids->n_slots & (ids->n_slots - 1)) == 0);
	while (ids->slots[i] != 0 && ids->slots[i] != id)
		i = (i + 1) & (ids->n_slots - 1);
	return i;
}

static BfStatus
add_id(BfArena *a, Ids *ids, int32_t id, bool *fresh, BfError *err)
{
	uint32_t at;

	if (2 * ids->n >= ids->n_slots)
	{
		Ids old = *ids;

		ids->n_slots = old.n_slots == 0 ? 64 : 2 * old.n_slots;
		BF_NEW(a, ids->slots, ids->n_slots, err);
		for (uint32_t i = 0; i < old.n_slots; i++)
			if (old.slots[i] != 0)
				ids->slots[find_slot(ids, old.slots[i])] = old.slots[i];
	}
	at = find_slot(ids, id);
	*fresh = ids->slots[at] == 0;
	ids->n += *fresh;
	ids->slots[at] = id;
	BF_ASSERT(ids->n > 0 && 2 * ids->n <= ids->n_slots);
	return BF_OK;
}

typedef struct Absent
{
	const BfField *field;
	struct Absent *next;
} Absent;

/* The columns of a schema that were not met before, behind *last. */
static BfStatus
collect(BfArena *a, Ids *ids, const BfSchema *s, Absent ***last, int32_t *n, BfError *err)
{
	BF_TRY(bf_check_cancel(bf_arena_host(a), err));
	for (int32_t i = 0; i < s->n_fields; i++)
	{
		bool fresh = false;

		if (s->fields[i].id > 0)
			BF_TRY(add_id(a, ids, s->fields[i].id, &fresh, err));
		if (!fresh || last == NULL)
			continue;
		BF_NEW(a, **last, 1, err);
		(**last)->field = &s->fields[i];
		*last = &(**last)->next;
		++*n;
	}
	return BF_OK;
}

static BfField
absent_field(const BfField *f)
{
	BfField out = *f;

	out.id = absent_id(f->id);
	out.required = false;
	out.has_default = false;
	out.aliases = NULL;
	out.n_aliases = 0;
	out.mapped = true; /* a file without ids lacks it like any other */
	return out;
}

BfStatus
bf_ice_point_columns(BfArena *a, const BfIceTable *t, const BfIcePoint *p, const BfSchema **out,
					 BfError *err)
{
	Ids ids = {0, 0, NULL};
	Absent *first = NULL;
	Absent **last = &first;
	int32_t n = 0;
	BfSchema *s;

	*out = p->schema;
	if (!p->past)
		return BF_OK;
	BF_TRY(collect(a, &ids, p->schema, NULL, &n, err));
	for (int32_t i = 0; i <= t->metadata->schemas.n; i++)
		BF_TRY(collect(a, &ids, other_schema(t, i), &last, &n, err));
	BF_NEW(a, s, 1, err);
	*s = *p->schema;
	BF_NEW(a, s->fields, (int64_t) s->n_fields + n, err);
	if (s->n_fields > 0)
		memcpy(s->fields, p->schema->fields, (size_t) s->n_fields * sizeof *s->fields);
	for (; first != NULL; first = first->next)
		s->fields[s->n_fields++] = absent_field(first->field);
	BF_ASSERT(s->n_fields == p->schema->n_fields + n);
	*out = s;
	return BF_OK;
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
	found = bf_fields_find(p->schema->fields, p->schema->n_fields, name);
	for (int32_t i = 0; found < 0 && p->past && i <= t->metadata->schemas.n; i++)
	{
		const BfSchema *s = other_schema(t, i);
		int32_t at = bf_fields_find(s->fields, s->n_fields, name);

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

	BF_ASSERT(f->type.kind == BF_KIND_STRUCT && f->n_children > 0);
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
	for (int32_t i = m->schemas.n; *out == NULL && i >= 0; i--)
	{
		for (int32_t k = 0; *out == NULL && k < s->n_fields; k++)
			BF_TRY(narrow(a, &s->fields[k], field_id, out, err));
		if (i > 0)
			s = &m->schemas.all[i - 1];
	}
	return BF_OK;
}
