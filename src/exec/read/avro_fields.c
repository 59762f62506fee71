/*
 * Avro's types as those of tables.
 *
 *   int, long with date, time-*, timestamp-*, local-timestamp-*     DATE, TIME(_NS), TIMESTAMP*
 *   bytes, fixed with decimal    DECIMAL        fixed[16] with uuid    UUID
 *   array with map               MAP            map                    MAP with text keys
 */
#include "exec/read/avro_internal.h"

#include <string.h>

const BfAvroSchema *
bfi_avro_not_null(const BfAvroSchema *s)
{
	if (s->type != BF_AVRO_UNION)
		return s;
	for (int32_t i = 0; i < s->n_children; i++)
		if (s->children[i]->type != BF_AVRO_NULL)
			return s->children[i];
	return s->children[0];
}

bool
bfi_avro_is_pairs(const BfAvroSchema *s)
{
	const BfAvroSchema *item;

	if (s->type != BF_AVRO_ARRAY || s->logical_type == NULL || strcmp(s->logical_type, "map") != 0)
		return false;
	BF_ASSERT(s->n_children == 1);
	item = bfi_avro_not_null(s->children[0]);
	return item->type == BF_AVRO_RECORD && item->n_children == 2;
}

static bool
logical_is(const BfAvroSchema *s, const char *name)
{
	return s->logical_type != NULL && strcmp(s->logical_type, name) == 0;
}

static BfKind
long_kind(const BfAvroSchema *s)
{
	if (logical_is(s, "time-micros"))
		return BF_KIND_TIME;
	if (logical_is(s, "timestamp-millis") || logical_is(s, "timestamp-micros"))
		return s->adjust_to_utc ? BF_KIND_TIMESTAMPTZ : BF_KIND_TIMESTAMP;
	if (logical_is(s, "timestamp-nanos"))
		return s->adjust_to_utc ? BF_KIND_TIMESTAMPTZ_NS : BF_KIND_TIMESTAMP_NS;
	if (logical_is(s, "local-timestamp-millis") || logical_is(s, "local-timestamp-micros"))
		return BF_KIND_TIMESTAMP;
	if (logical_is(s, "local-timestamp-nanos"))
		return BF_KIND_TIMESTAMP_NS;
	return BF_KIND_INT64;
}

/* Types without children. */
static BfType
leaf_type(const BfAvroSchema *s)
{
	BfType t = {.kind = BF_KIND_NULL};

	switch (s->type)
	{
		case BF_AVRO_BOOLEAN: t.kind = BF_KIND_BOOL; break;
		case BF_AVRO_INT:
			t.kind = logical_is(s, "date")			? BF_KIND_DATE
					 : logical_is(s, "time-millis") ? BF_KIND_TIME
													: BF_KIND_INT32;
			break;
		case BF_AVRO_LONG: t.kind = long_kind(s); break;
		case BF_AVRO_FLOAT: t.kind = BF_KIND_FLOAT32; break;
		case BF_AVRO_DOUBLE: t.kind = BF_KIND_FLOAT64; break;
		case BF_AVRO_STRING:
		case BF_AVRO_ENUM: t.kind = BF_KIND_STRING; break;
		case BF_AVRO_BYTES: t.kind = BF_KIND_BINARY; break;
		case BF_AVRO_FIXED:
			t.kind = logical_is(s, "uuid") && s->fixed_size == 16 ? BF_KIND_UUID : BF_KIND_FIXED;
			t.length = s->fixed_size;
			break;
		default: break;
	}
	if ((s->type == BF_AVRO_BYTES || s->type == BF_AVRO_FIXED) && logical_is(s, "decimal") &&
		s->precision > 0)
		t = (BfType){.kind = BF_KIND_DECIMAL, .precision = s->precision, .scale = s->scale};
	return t;
}

typedef struct Maker
{
	BfArena *arena;
	int32_t left; /* fields that may still be made: types can be named again and again */
} Maker;

static BfStatus make_field(Maker *m, const BfAvroSchema *s, const char *name, int32_t id, int depth,
						   BfField *f, BfError *err) BF_MUST_CHECK;

static BfStatus
make_record(Maker *m, const BfAvroSchema *s, int depth, BfField *f, BfError *err)
{
	BF_ASSERT(s->type == BF_AVRO_RECORD);
	f->type.kind = BF_KIND_STRUCT;
	f->n_children = s->n_children;
	BF_NEW(m->arena, f->children, s->n_children, err);
	for (int32_t i = 0; i < s->n_children; i++)
		BF_TRY(make_field(m, s->children[i], s->field_names[i], s->field_ids[i], depth,
						  &f->children[i], err));
	return BF_OK;
}

static BfStatus
make_map(Maker *m, const BfAvroSchema *s, int depth, BfField *f, BfError *err)
{
	BF_ASSERT(s->type == BF_AVRO_MAP || bfi_avro_is_pairs(s));
	f->type.kind = BF_KIND_MAP;
	f->n_children = 2;
	BF_NEW(m->arena, f->children, 2, err);
	if (s->type == BF_AVRO_MAP)
	{
		f->children[0] = (BfField){
			.id = s->key_id, .name = "key", .type = {.kind = BF_KIND_STRING}, .required = true};
		return make_field(m, s->children[0], "value", s->value_id, depth, &f->children[1], err);
	}
	s = bfi_avro_not_null(s->children[0]);
	for (int32_t i = 0; i < 2; i++)
		BF_TRY(make_field(m, s->children[i], i == 0 ? "key" : "value", s->field_ids[i], depth,
						  &f->children[i], err));
	return BF_OK;
}

static BfStatus
make_field(Maker *m, const BfAvroSchema *s, const char *name, int32_t id, int depth, BfField *f,
		   BfError *err)
{
	const BfAvroSchema *t = bfi_avro_not_null(s);

	BF_ASSERT(t->type != BF_AVRO_UNION);
	*f = (BfField){.id = id, .name = name, .required = t == s};
	if (depth > BF_AVRO_DEPTH_MAX || m->left-- <= 0)
		BF_FAIL(err, BF_ERR_LIMIT, "column \"%.100s\": its type has too many parts", name);
	if (s->type == BF_AVRO_UNION &&
		(s->n_children > 2 || (s->n_children == 2 && s->children[0]->type != BF_AVRO_NULL &&
							   s->children[1]->type != BF_AVRO_NULL)))
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "column \"%.100s\" is a union of several types", name);
	if (t->type == BF_AVRO_RECORD)
		return make_record(m, t, depth + 1, f, err);
	if (t->type == BF_AVRO_MAP || bfi_avro_is_pairs(t))
		return make_map(m, t, depth + 1, f, err);
	if (t->type == BF_AVRO_ARRAY)
	{
		f->type.kind = BF_KIND_LIST;
		f->n_children = 1;
		BF_NEW(m->arena, f->children, 1, err);
		return make_field(m, t->children[0], "element", t->element_id, depth + 1, f->children, err);
	}
	f->type = leaf_type(t);
	return BF_OK;
}

BfStatus
bfi_avro_schema(BfArena *a, const BfAvroSchema *record, BfSchema **out, BfError *err)
{
	Maker m = {a, BF_AVRO_NODES_MAX};
	BfField f;
	BfSchema *schema;

	if (record->type != BF_AVRO_RECORD)
		BF_FAIL(err, BF_ERR_UNSUPPORTED, "the file's values are not records");
	BF_TRY(make_field(&m, record, "row", 0, 0, &f, err));
	BF_NEW(a, schema, 1, err);
	BF_ASSERT(f.type.kind == BF_KIND_STRUCT);
	schema->n_fields = f.n_children;
	schema->fields = f.children;
	*out = schema;
	return BF_OK;
}

static bool
any_id(const BfField *fields, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		if (fields[i].id != 0 || any_id(fields[i].children, fields[i].n_children))
			return true;
	return false;
}

bool
bfi_avro_has_ids(const BfSchema *schema)
{
	return any_id(schema->fields, schema->n_fields);
}
